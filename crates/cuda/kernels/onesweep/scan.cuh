// The exclusive scan over the digits, by the first RADIX threads of a block.
#pragma once

#include "task.cuh"

// Shared memory of a scan.
template <class T>
struct DigitScan {
    T warps[RADIX / WARP];

    // The sum of what the threads before gave. All threads of the block come here; those from RADIX
    // on have no part in it. Has one barrier; a second scan needs one in between.
    __device__ T exclusive(T own) {
        u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        T sum = own;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            T left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1 && warp < RADIX / WARP) warps[warp] = sum;
        __syncthreads();
        T before = sum - own;
#pragma unroll
        for (u32 w = 0; w < RADIX / WARP; w++)
            if (w < warp) before += warps[w];
        return before;
    }
};
