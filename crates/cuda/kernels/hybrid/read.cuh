// Reading: of the source each key once, by all blocks of the grid, in vectors of 16 bytes; and of what partitions
// have left, in halves or whole.
//
// A thread's vectors lie as far apart as the grid has threads, so that any number of keys is spread over
// all of them; LANES of them are one round, read at once.
#pragma once

#include "task.cuh"

// Two neighbours, read and written at once where they are no more than 16 bytes.
template <class T>
struct alignas(sizeof(T) <= 8 ? 2 * sizeof(T) : sizeof(T)) Two {
    T first, second;
};

template <class Key, u32 LANES>
struct Reader {
    static constexpr u32 KEYS = 16 / sizeof(Key);

    const Key* keys;
    u32 n, head, tail;
    const uint4* first;
    u32 step;
    // This thread's vectors, and rounds until every thread of the grid has read its own.
    u32 mine, rounds;

    __device__ Reader(const Key* keys, u32 n) : keys(keys), n(n) {
        // Keys before the first whole vector, and the place of those after the last.
        head = min(n, u32((16 - u64(keys) % 16) % 16 / sizeof(Key)));
        u32 vectors = (n - head) / KEYS, thread = blockIdx.x * blockDim.x + threadIdx.x;
        tail = head + vectors * KEYS;
        first = reinterpret_cast<const uint4*>(keys + head);
        step = gridDim.x * blockDim.x;
        mine = thread < vectors ? (vectors - thread - 1) / step + 1 : 0;
        u32 most = vectors ? (vectors - 1) / step + 1 : 0;
        rounds = (most + LANES - 1) / LANES;
    }

    // The keys before and after the vectors: the first threads of the first block have one each.
    __device__ bool single(Key& word) const {
        u32 thread = threadIdx.x, after = n - tail;
        if (blockIdx.x > 0 || thread >= head + after) return false;
        word = keys[thread < head ? thread : tail + thread - head];
        return true;
    }

    __device__ bool has(u32 round, u32 j) const { return round * LANES + j < mine; }

    __device__ static Key key(uint4 vector, u32 k) {
        union {
            uint4 words;
            Key keys[KEYS];
        } both = {vector};
        return both.keys[k];
    }

    // One of the thread's keys of a round.
    __device__ Key key(u32 round, u32 number) const {
        u64 own = blockIdx.x * blockDim.x + threadIdx.x + u64(round * LANES + number / KEYS) * step;
        return reinterpret_cast<const Key*>(&first[own])[number % KEYS];
    }

    // Instead of a vector that the thread has not: the first, which any may read.
    __device__ uint4 load(u32 round, u32 j) const {
        u64 own = blockIdx.x * blockDim.x + threadIdx.x + u64(round * LANES + j) * step;
        return __ldg(&first[has(round, j) ? own : 0]);
    }

    __device__ void load(uint4 (&vector)[LANES], u32 round) const {
#pragma unroll
        for (u32 j = 0; j < LANES; j++) vector[j] = load(round, j);
    }
};

// Codes where the partitions have left them: whole, or of 32 bits the lower halves alone, if a cell tells
// the rest (Task::in_halves).
template <class Key>
struct CodeReader {
    // From the thread's first on.
    const Key* whole;
    // Null: there are whole codes.
    const u16* halves = nullptr;
    u32 above = 0;

    // Of a side, from `begin` on.
    __device__ CodeReader(const Task<Key>& task, u32 side, u32 begin)
        : whole(task.buffer(side) + begin + threadIdx.x) {
        if (sizeof(Key) != sizeof(u32) || side < IN_HALVES) return;
        halves = task.halves(begin) + threadIdx.x;
        above = task.upper_bits(side - IN_HALVES) << task.choice->low;
    }

    // The code that comes i behind the thread's first.
    __device__ Key operator()(u32 i) const {
        if constexpr (sizeof(Key) == sizeof(u32))
            if (halves) return above | halves[i];
        return whole[i];
    }
};
