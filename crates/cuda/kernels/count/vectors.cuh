// An array as vectors of 16 bytes, with keys before the first whole vector and after the last.
#pragma once

#include "../words.cuh"

template <class Key>
struct Vectors {
    static constexpr u32 KEYS = 16 / sizeof(Key);

    // Keys before the first vector; vectors.
    u64 head, count;

    __device__ Vectors(const Key* keys, u64 n) {
        head = min(u64((16 - u64(keys) % 16) % 16 / sizeof(Key)), n);
        count = (n - head) / KEYS;
    }

    // Where the keys after the vectors begin.
    __device__ u64 tail() const { return head + count * KEYS; }
};
