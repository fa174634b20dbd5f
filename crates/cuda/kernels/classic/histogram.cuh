// A tile's histogram in a block's shared memory.
//
//     counters zeroed; for each key, its digit's counter += 1, atomically; then the counters read
//
// Threads of a warp that add to one counter take turns. So a digit has as many counters as there is
// room for, up to one for each thread of a warp, side by side; their sum is the digit's count. (With
// one counter a digit: 0.45 ms, so 0.30 ms, for 2^28 u32 keys in tiles of 4096 on an H200; 0.25 ms is
// reading them. A tile of 256 pays for it: 1.76 ms against 0.86.)
#pragma once

#include "keys.cuh"

constexpr u32 COUNTERS = 1024;

// use(k, count) for each digit k of keys[0 .. n], by one thread each, neighbours for neighbours.
template <class Use>
__device__ inline void tile_histogram(
    const Key* __restrict__ keys, u32 n, u32 shift, u32 bits, Use use) {
    __shared__ u32 counters[COUNTERS];
    u32 radix = 1u << bits, copies = min(WARP, COUNTERS >> bits), own = threadIdx.x % copies;

    for (u32 i = threadIdx.x; i < radix * copies; i += blockDim.x) counters[i] = 0;
    __syncthreads();

    // Several loads on their way at a time.
    constexpr u32 BATCH = 8;
    for (u32 first = threadIdx.x; first < n; first += BATCH * blockDim.x) {
        Key key[BATCH];
#pragma unroll
        for (u32 j = 0; j < BATCH; j++) {
            u32 i = first + j * blockDim.x;
            key[j] = i < n ? keys[i] : Key(0);
        }
#pragma unroll
        for (u32 j = 0; j < BATCH; j++)
            if (first + j * blockDim.x < n)
                atomicAdd(&counters[digit_of(key[j], shift, bits) * copies + own], 1);
    }
    __syncthreads();

    for (u32 k = threadIdx.x; k < radix; k += blockDim.x) {
        u32 count = 0;
        // Each thread begins with another copy, so that they do not meet in one bank.
        for (u32 copy = 0; copy < copies; copy++) count += counters[k * copies + (copy + k) % copies];
        use(k, count);
    }
}
