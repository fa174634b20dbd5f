// What the lanes of a warp have together.
#pragma once

#include "../words.cuh"

template <class Combine>
__device__ inline u32 over_warp(u32 own, Combine combine) {
#pragma unroll
    for (u32 step = 1; step < WARP; step *= 2) own = combine(own, __shfl_xor_sync(ALL_LANES, own, step));
    return own;
}

// What that lane has.
template <class T>
__device__ inline T of_lane(T own, u32 lane) {
    T result = 0;
#pragma unroll
    for (u32 w = 0; w < sizeof(T) / sizeof(u32); w++)
        result |= T(__shfl_sync(ALL_LANES, u32(own >> (32 * w)), lane)) << (32 * w);
    return result;
}

// The sum of what the lanes up to this one have.
__device__ inline u32 scan_of_warp(u32 own) {
    // Whether there is such a lane, the shuffle itself tells: nothing is to be kept of the lane's number.
#pragma unroll
    for (u32 step = 1; step < WARP; step *= 2)
        asm volatile("{ .reg .u32 left; .reg .pred has; shfl.sync.up.b32 left|has, %0, %1, 0, -1; "
                     "@has add.u32 %0, %0, left; }"
                     : "+r"(own)
                     : "r"(step));
    return own;
}

// By one warp: what comes before each of some numbers, eight a lane at most; behind the last, all.
template <class NumberOf>
__device__ inline void scan_by_warp(u32 numbers, u32* before, NumberOf number_of) {
    constexpr u32 EACH = 8;
    u32 first = threadIdx.x % WARP * EACH, own[EACH], sum = 0;
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        own[i] = first + i < numbers ? number_of(first + i) : 0;
        sum += own[i];
    }
    u32 begin = scan_of_warp(sum) - sum;
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        if (first + i <= numbers) before[first + i] = begin;
        begin += own[i];
    }
    if (numbers == first + EACH) before[numbers] = begin;
}

__device__ inline u32 sum_of_warp(u32 own) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, own);
#else
    return over_warp(own, [](u32 a, u32 b) { return a + b; });
#endif
}

// By a block whose first WARPS warps have something: the sum of what the threads before gave. `sums` is theirs, to be
// read by all until the next barrier. One barrier.
template <u32 WARPS>
__device__ inline u32 sum_before(u32 own, u32 (&sums)[WARPS]) {
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, sum = scan_of_warp(own);
    if (lane == WARP - 1 && warp < WARPS) sums[warp] = sum;
    __syncthreads();
    return sum_of_warp(lane < min(warp, WARPS) ? sums[lane] : 0) + sum - own;
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
