// Dynamic shared memory: arrays side by side, padded against bank conflicts.
//
// Shared memory has 32 banks of 4 bytes, and threads of a warp that go to different words of one
// bank take turns. An array laid out by `bank` leaves one element free after each 128 bytes, so
// that threads which stand a power of two apart do not meet in one bank.
//
// The bytes that the host must ask for: the sum over a kernel's arrays of
//     S(T, m) = 16 * ceil(sizeof(T) * (m + m / (128 / sizeof(T)) + 1) / 16)
#pragma once

#include "keys.cuh"

extern __shared__ __align__(16) u8 shared_memory[];

// Where element i of a padded array lies.
template <class T>
__device__ inline u32 bank(u32 i) {
    constexpr u32 row = 128 / sizeof(T);
    return i + i / row;
}

// Hands out shared memory, array after array.
struct Shared {
    u8* free = shared_memory;

    // Room for m elements at bank(0) .. bank(m - 1), and for one more at bank(m).
    template <class T>
    __device__ T* take(u32 m) {
        T* array = reinterpret_cast<T*>(free);
        free += (sizeof(T) * (bank<T>(m) + 1) + 15) / 16 * 16;
        return array;
    }
};
