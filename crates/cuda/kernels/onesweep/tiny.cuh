// A tiny input: one key a thread, compared instead of counted, which takes the same time for keys of
// every width.
//
//     load     each thread a key
//     runs     each warp's keys in order: a key's place is how many others come before it
//     merge    pairs of runs, until one is left: a key's place is its place in its own run and, by
//              binary search, how many of the other run come before it
//     store
//
// Equal keys stay in order: of two runs the left one's come first. Values are fetched at the end, by
// the positions that travel with the keys.
//
// Workspace: none. Grid: 1. blockDim: n, rounded up to whole warps; MOST at most.
#pragma once

#include "task.cuh"

template <class Key, class Value>
struct Tiny {
    static constexpr u32 MOST = 1024;
    static constexpr bool VALUES = !IS_NOTHING<Value>;

    // A row for each of two merges that follow one another.
    struct Shared {
        Key codes[2][MOST];
        Array<u16, VALUES ? MOST : 0> positions[2];
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 thread = threadIdx.x;
    const u32 n = u32(task.n);
    // What decides, and what was merged last.
    Key mask;
    u32 row = 0;

    __device__ Tiny(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {
        u32 bits = task.end_bit - task.begin_bit;
        mask = bits == 8 * sizeof(Key) ? Key(~Key(0)) : Key((Key(1) << bits) - 1);
        mask = bits == 0 ? Key(0) : Key(mask << task.begin_bit);
    }

    __device__ void put(u32 place, Key code, u32 position) {
        shared.codes[row][place] = code;
        if constexpr (VALUES) shared.positions[row].at[place] = u16(position);
    }

    // How many of some keys in order come before a key: those below it, and those equal to it if they
    // stand on its left.
    __device__ u32 before(const Key* codes, u32 count, Key code, bool left) const {
        u32 low = 0, high = count;
        while (low < high) {
            u32 middle = (low + high) / 2;
            Key other = codes[middle] & mask;
            if (other < code || (left && other == code))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    __device__ void runs(Key code) {
        put(thread, code, thread);
        __syncwarp();
        u32 begin = thread / WARP * WARP, count = min(n - min(begin, n), WARP), place = begin;
        const Key* codes = shared.codes[row] + begin;
        Key own = code & mask;
#pragma unroll 8
        for (u32 i = 0; i < count; i++) {
            Key other = codes[i] & mask;
            place += other < own || (other == own && begin + i < thread);
        }
        row ^= 1;
        if (thread < n) put(place, code, thread);
        __syncthreads();
    }

    // Runs of so many keys.
    __device__ void merge(u32 run) {
        u32 begin = thread / (2 * run) * (2 * run), middle = begin + run;
        Key code = 0;
        u32 position = 0, place = thread;
        if (thread < n) {
            const Key* codes = shared.codes[row];
            code = codes[thread];
            if constexpr (VALUES) position = shared.positions[row].at[thread];
            if (thread >= middle)
                place = thread - run + before(codes + begin, run, code & mask, true);
            else if (middle < n)
                place = thread + before(codes + middle, min(run, n - middle), code & mask, false);
        }
        row ^= 1;
        if (thread < n) put(place, code, position);
        __syncthreads();
    }

    __device__ void store() {
        Value value;
        bool own = thread < n;
        if constexpr (VALUES) {
            u32 from = own ? shared.positions[row].at[thread] : 0;
            if (task.has(INDEX))
                value = position<Value>(from);
            else if (own)
                value = static_cast<const Value*>(task.values[SOURCE])[from];
            // In place: all have read before one writes.
            __syncthreads();
            if (own) static_cast<Value*>(task.values[RESULT])[thread] = value;
        }
        if (own && task.keys[RESULT])
            task.keys[RESULT][thread] = task.codec.decode(shared.codes[row][thread]);
    }

    __device__ void run() {
        Key code = thread < n ? task.codec.encode(task.keys[SOURCE][thread]) : Key(0);
        runs(code);
        for (u32 run = WARP; run < n; run *= 2) merge(run);
        store();
    }
};
