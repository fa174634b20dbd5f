// The exclusive scan over a group's cells, by the first GROUP threads of a block.
#pragma once

#include "../words.cuh"

constexpr u32 GROUP = 256;

// Shared memory of a scan.
struct GroupScan {
    u64 warps[GROUP / WARP];

    // The sum of what the threads before gave. All threads of the block come here; those from GROUP on
    // have no part in it. Has one barrier; a second scan needs one in between.
    __device__ u64 exclusive(u64 own) {
        u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        u64 sum = own;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u64 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1 && warp < GROUP / WARP) warps[warp] = sum;
        __syncthreads();
        u64 before = sum - own;
#pragma unroll
        for (u32 w = 0; w < GROUP / WARP; w++)
            if (w < warp) before += warps[w];
        return before;
    }
};

// What a cell is in such a scan: its keys and, below, whether it has any.
__device__ inline u64 cell_of(u64 keys) { return keys << 16 | (keys != 0); }

// Of a scan of cells: keys, and cells that have any.
__device__ inline u64 keys_in(u64 sum) { return sum >> 16; }
__device__ inline u32 cells_in(u64 sum) { return u32(sum & 0xffff); }
