// Keys of one digit and nothing else: what comes out is known from the histogram, so no key moves.
//
//     for each word of the result: the digit in whose bucket it lies
//
// It stands in the place of the only pass. Grid: up to BLOCKS a multiprocessor.
#pragma once

#include "task.cuh"

template <class Key>
struct Fill {
    static constexpr u32 THREADS = 256, BLOCKS = 4;
    // Keys are written in vectors of 16 bytes.
    static constexpr u32 KEYS = 16 / sizeof(Key);
    union Vector {
        uint4 words;
        Key key[KEYS];
    };

    struct Shared {
        // Where each digit's bucket ends.
        u64 ends[RADIX];
    };

    const Task<Key>& task;
    Shared& shared;

    __device__ Fill(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    // The digit in whose bucket a place lies: how many buckets end at or before it.
    __device__ u32 digit_at(u64 place) const {
        u32 digit = 0;
#pragma unroll
        for (u32 step = RADIX / 2; step > 0; step /= 2)
            if (shared.ends[digit + step - 1] <= place) digit += step;
        return digit;
    }

    __device__ Key word(u32 digit) const { return task.codec.decode(Key(digit)); }

    __device__ void run() {
        wait_for_earlier_kernels();
        if (threadIdx.x < RADIX)
            shared.ends[threadIdx.x] =
                threadIdx.x + 1 < RADIX ? task.begins_of(0, 0)[threadIdx.x + 1] : task.n;
        __syncthreads();
        Key* to = task.keys[RESULT];

        // Keys before the first whole vector, and after the last.
        u64 head = (16 - u64(to) % 16) % 16 / sizeof(Key);
        if (head > task.n) head = task.n;
        u64 vectors = (task.n - head) / KEYS, tail = head + vectors * KEYS;
        if (blockIdx.x == 0) {
            u64 last = tail + threadIdx.x;
            if (threadIdx.x < head) to[threadIdx.x] = word(digit_at(threadIdx.x));
            if (last < task.n) to[last] = word(digit_at(last));
        }
        uint4* vectors_to = reinterpret_cast<uint4*>(to + head);
        u64 step = u64(gridDim.x) * THREADS;
        for (u64 i = u64(blockIdx.x) * THREADS + threadIdx.x; i < vectors; i += step) {
            u64 place = head + i * KEYS;
            u32 digit = digit_at(place);
            Vector vector;
#pragma unroll
            for (u32 k = 0; k < KEYS; k++) {
                while (shared.ends[digit] <= place + k) digit++;
                vector.key[k] = word(digit);
            }
            vectors_to[i] = vector.words;
        }
        let_next_kernel_in();
    }
};
