// Digits of keys, and how threads share keys out.
//
// What travels with a key, its payload, is one u32 (a position, an index, a value), or nothing: then
// the payload pointers are null.
//
// Lengths are below 2^32 - 2^20, so that an index one block beyond the end does not wrap.
#pragma once

#include "../key.cuh"

// Keys a thread, at most, where a block keeps a tile of keys: 64 bytes. (Half of it, for more threads
// at a time: block-histogram took 1.3 to 1.4 times as long, coalesced 1.2 times.)
constexpr u32 ITEMS = 64 / sizeof(Key);

// Keys a thread where each key is treated by itself: so many loads are on their way at a time.
constexpr u32 LANES = 4;

// The digit: `bits` neighbouring bits from `shift` on, 8 at most.
__device__ inline u32 digit_of(Key code, u32 shift, u32 bits) {
    return u32(code >> shift) & ((1u << bits) - 1);
}

// Where the j-th of a thread's LANES keys stands; neighbours in the array are neighbouring threads.
// Grid: ceil(n / (LANES * blockDim.x)).
__device__ inline u32 lane_index(u32 j) { return (blockIdx.x * LANES + j) * blockDim.x + threadIdx.x; }

// A thread's LANES items of an array of n.
template <class T>
__device__ inline void load(const T* array, u32 n, T (&item)[LANES]) {
#pragma unroll
    for (u32 j = 0; j < LANES; j++) {
        u32 i = lane_index(j);
        item[j] = i < n ? array[i] : T(0);
    }
}

// item j goes to array[place[j]].
template <class T>
__device__ inline void scatter(const T (&item)[LANES], const u32 (&place)[LANES], u32 n, T* array) {
#pragma unroll
    for (u32 j = 0; j < LANES; j++)
        if (lane_index(j) < n) array[place[j]] = item[j];
}

// item j goes to array[lane_index(j)], if there is an array.
template <class T>
__device__ inline void store(const T (&item)[LANES], u32 n, T* array) {
    if (!array) return;
#pragma unroll
    for (u32 j = 0; j < LANES; j++)
        if (lane_index(j) < n) array[lane_index(j)] = item[j];
}
