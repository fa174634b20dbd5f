// A tile sorted by splits, bit by bit, in a block's shared memory.
//
//     for each bit:
//         key          into a register
//         e            the inverted bit, into the same shared memory
//         f            its exclusive scan by the block (block_scan.cuh)
//         totalFalses  the sum at the root
//         t            i - f + totalFalses, in a register
//         d            b ? t : f, in a register
//         tile[d]      the key, back into shared memory
//
// Shapes: tile ITEMS * blockDim.x keys at tile[bank(i)], payload the same or null. Thread `x` has
// the keys x * ITEMS and on. With one key a thread the scan goes over the flags themselves; with
// more, a thread counts its own falses first.
//
// What limits it is the work for a key, and the turns that threads take at the banks when the keys go
// back: 0.35 ms a split of 2^28 u32 keys on an H200, where a copy of them takes 0.51. More threads at
// a time (40 registers each) changed nothing.
#pragma once

#include "block_scan.cuh"

// Keys from array[start ..], as far as `count`, to the tile; guards stand behind them. A guard has
// all bits set, so every split leaves it behind.
template <u32 ITEMS_>
__device__ inline void load_tile(const Key* array, u32 count, Key* tile) {
#pragma unroll
    for (u32 j = 0; j < ITEMS_; j++) {
        u32 i = j * blockDim.x + threadIdx.x;
        tile[bank<Key>(i)] = i < count ? array[i] : ~Key(0);
    }
}

// Sorts the tile, and its payload with it, by the bits from `bit` to `end`, stably. Barriers before
// and after.
template <u32 ITEMS_, bool PAYLOAD>
__device__ inline void split_tile(Key* tile, u32* payload, u32 bit, u32 end) {
    u32* tree = reinterpret_cast<u32*>(tile);
    u32 first = threadIdx.x * ITEMS_;
    Key key[ITEMS_];
    u32 carried[ITEMS_];

    __syncthreads();
    for (; bit < end; bit++) {
        Key mask = Key(1) << bit;
#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++) {
            key[j] = tile[bank<Key>(first + j)];
            if (PAYLOAD) carried[j] = payload[bank<u32>(first + j)];
        }
        __syncthreads();

        u32 e = 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++)
            if (!(key[j] & mask)) e++;
        tree[bank<u32>(threadIdx.x)] = e;
        u32 total_falses = block_scan(tree, blockDim.x);
        u32 f = tree[bank<u32>(threadIdx.x)];
        u32 t = first - f + total_falses;
        __syncthreads();

        // One key on, either f or t is one more.
#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++) {
            u32 d = key[j] & mask ? t++ : f++;
            tile[bank<Key>(d)] = key[j];
            if (PAYLOAD) payload[bank<u32>(d)] = carried[j];
        }
        __syncthreads();
    }
}

template <u32 ITEMS_>
__device__ inline void split_tile(Key* tile, u32* payload, u32 bit, u32 end) {
    if (payload)
        split_tile<ITEMS_, true>(tile, payload, bit, end);
    else
        split_tile<ITEMS_, false>(tile, payload, bit, end);
}
