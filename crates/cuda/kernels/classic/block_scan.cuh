// The exclusive scan of numbers in a block's shared memory, as a tree (Blelloch).
//
//     up-sweep     for half = 1, 2, 4, ...:   each right child += its left neighbour, half before it
//     root         its sum is kept, then zero replaces it
//     down-sweep   for half = ..., 4, 2, 1:   left, right = right, right + left
//
// tree: `size` numbers at tree[bank(i)], a power of two. With `segment` below `size` it is a row of
// trees of `segment` leaves each, scanned side by side.
//
// A level of the tree is one addition for each of its nodes. All threads share them out and wait for
// each other; where a warp is enough for a level, the first warp goes on alone and the others wait
// at the next barrier of the block.
#pragma once

#include "shared.cuh"

// The additions of one level of the up-sweep, `nodes` of them.
template <class T, class Op>
__device__ inline void up_level(T* tree, u32 half, u32 nodes, Op op) {
    for (u32 node = threadIdx.x; node < nodes; node += blockDim.x) {
        u32 right = (node + 1) * 2 * half - 1;
        T* parent = &tree[bank<T>(right)];
        *parent = op(tree[bank<T>(right - half)], *parent);
    }
}

// Partial results climb to the root of each tree. Begins with a barrier; ends without one: what
// it leaves is known to the first warp.
template <class T, class Op>
__device__ inline void up_sweep(T* tree, u32 size, u32 segment, Op op) {
    __syncthreads();
    u32 half = 1, nodes = size / 2;
    for (; half < segment && nodes > WARP; half *= 2, nodes /= 2) {
        up_level(tree, half, nodes, op);
        __syncthreads();
    }
    if (threadIdx.x < WARP)
        for (; half < segment; half *= 2, nodes /= 2) {
            up_level(tree, half, nodes, op);
            __syncwarp();
        }
}

// The additions of one level of the down-sweep, `nodes` of them.
__device__ inline void down_level(u32* tree, u32 half, u32 nodes) {
    for (u32 node = threadIdx.x; node < nodes; node += blockDim.x) {
        u32 right = (node + 1) * 2 * half - 1, left = right - half;
        u32 own = tree[bank<u32>(right)], left_child = tree[bank<u32>(left)];
        tree[bank<u32>(left)] = own;
        tree[bank<u32>(right)] = own + left_child;
    }
}

// From zeros at the roots, which the threads of the same numbers laid there, down to the scan. Ends
// with a barrier.
__device__ inline void down_sweep(u32* tree, u32 size, u32 segment) {
    u32 half = segment / 2, nodes = size / segment;
    for (; half >= 1 && nodes <= WARP; half /= 2, nodes *= 2) {
        if (threadIdx.x < WARP) {
            __syncwarp();
            down_level(tree, half, nodes);
        }
    }
    for (; half >= 1; half /= 2, nodes *= 2) {
        __syncthreads();
        down_level(tree, half, nodes);
    }
    __syncthreads();
}

// Scans each segment of the tree. Barriers before and after.
__device__ inline void scan_segments(u32* tree, u32 size, u32 segment) {
    up_sweep(tree, size, segment, [](u32 a, u32 b) { return a + b; });
    for (u32 root = threadIdx.x; root < size / segment; root += blockDim.x)
        tree[bank<u32>((root + 1) * segment - 1)] = 0;
    down_sweep(tree, size, segment);
}

// Scans the tree, and returns the sum of all to every thread. Barriers before and after; the tree
// has room for one number more, which is where the sum is kept.
__device__ inline u32 block_scan(u32* tree, u32 size) {
    up_sweep(tree, size, size, [](u32 a, u32 b) { return a + b; });
    if (threadIdx.x == 0) {
        u32* root = &tree[bank<u32>(size - 1)];
        tree[bank<u32>(size)] = *root;
        *root = 0;
    }
    down_sweep(tree, size, size);
    return tree[bank<u32>(size)];
}
