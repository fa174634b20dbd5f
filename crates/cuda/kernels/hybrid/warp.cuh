// What the lanes of a warp have together.
#pragma once

#include "../words.cuh"

template <class Combine>
__device__ inline u32 over_warp(u32 own, Combine combine) {
#pragma unroll
    for (u32 step = 1; step < WARP; step *= 2) own = combine(own, __shfl_xor_sync(ALL_LANES, own, step));
    return own;
}

__device__ inline u32 sum_of_warp(u32 own) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, own);
#else
    return over_warp(own, [](u32 a, u32 b) { return a + b; });
#endif
}

__device__ inline u32 or_of_warp(u32 own) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL_LANES, own);
#else
    return over_warp(own, [](u32 a, u32 b) { return a | b; });
#endif
}

__device__ inline u32 max_of_warp(u32 own) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL_LANES, own);
#else
    return over_warp(own, [](u32 a, u32 b) { return max(a, b); });
#endif
}
