// A tiny input: one key a thread, compared instead of counted, which takes the same time for keys of
// every width.
//
//     load     each thread a key
//     runs     each warp's keys in order: a key's place is how many others come before it
//     merge    pairs of runs, until one is left: a key's place is its place in its own run and, by
//              binary search, how many of the other run come before it
//     store
//
// The last run is filled up with the greatest code. Of equal keys the left run's come first, so they
// stay in the order of the input, and what fills up stays behind them. Values are fetched at the end,
// by the positions that travel with the keys.
//
// Workspace: none. Grid: 1. blockDim: a power of two, n or more, one warp to MOST.
#pragma once

#include "task.cuh"

template <class Key>
struct Tiny {
    static constexpr u32 MOST = 1024;

    struct Row {
        alignas(16) Key codes[MOST];
        u16 positions[MOST];
    };

    // A row to read from and one to write to; merges take turns.
    struct Shared {
        Row rows[2];
    };

    const Task<Key>& task;
    Shared& shared;
    // Of a value: 4, 8 or 16, or 0 without values.
    const u32 value_bytes;
    const u32 thread = threadIdx.x, n = u32(task.n);
    // What decides.
    Key mask;
    // The thread's key, where it comes from, and its place.
    Key code;
    u32 position = threadIdx.x, place = threadIdx.x;

    __device__ Tiny(const Task<Key>& task, Shared& shared, u32 value_bytes)
        : task(task), shared(shared), value_bytes(value_bytes) {
        u32 bits = task.end_bit - task.begin_bit;
        mask = bits == 8 * sizeof(Key) ? Key(~Key(0)) : Key((Key(1) << bits) - 1);
        mask = bits == 0 ? Key(0) : Key(mask << task.begin_bit);
    }

    __device__ void put(Row& row) {
        row.codes[place] = code;
        row.positions[place] = u16(position);
    }

    // The warp's keys in order. Where no two are equal, how many are below is the place.
    __device__ void runs(Row& from, Row& to) {
        put(from);
        __syncwarp();
        u32 begin = thread / WARP * WARP, lane = thread % WARP, below = 0;
        const Key* codes = from.codes + begin;
        Key own = code & mask;
#pragma unroll
        for (u32 i = 0; i < WARP; i++) below += (codes[i] & mask) < own;
        constexpr u32 ALL_PLACES = WARP * (WARP - 1) / 2;
        if (warp_sum(below) != ALL_PLACES) {
            for (u32 i = 0; i < lane; i++) below += (codes[i] & mask) == own;
        }
        place = begin + below;
        put(to);
        __syncthreads();
    }

    // The sum over the warp.
    __device__ static u32 warp_sum(u32 own) {
#pragma unroll
        for (u32 step = WARP / 2; step > 0; step /= 2) own += __shfl_xor_sync(ALL_LANES, own, step);
        return own;
    }

    // How many keys of a run come before the thread's own: those below it and, from the left, those
    // equal to it.
    template <u32 RUN, bool LEFT>
    __device__ u32 before(const Key* codes, Key own) const {
        u32 count = 0;
#pragma unroll
        for (u32 step = RUN / 2; step > 0; step /= 2) {
            Key other = codes[count + step - 1] & mask;
            if (LEFT ? !(own < other) : other < own) count += step;
        }
        Key last = codes[count] & mask;
        return count + (LEFT ? !(own < last) : last < own);
    }

    template <u32 RUN>
    __device__ void merge(const Row& from, Row& to) {
        code = from.codes[thread];
        position = from.positions[thread];
        Key own = code & mask;
        u32 begin = thread & ~(2 * RUN - 1);
        // A warp's keys are all of one run.
        if (thread & RUN)
            place = thread - RUN + before<RUN, true>(from.codes + begin, own);
        else
            place = thread + before<RUN, false>(from.codes + begin + RUN, own);
        put(to);
        __syncthreads();
    }

    template <class Value>
    __device__ void store_value(const Row& row) {
        Value value;
        u32 from = row.positions[thread];
        if (task.has(INDEX))
            value = ::position<Value>(from);
        else if (thread < n)
            value = static_cast<const Value*>(task.values[SOURCE])[from];
        // In place: all have read before one writes.
        __syncthreads();
        if (thread < n) static_cast<Value*>(task.values[RESULT])[thread] = value;
    }

    __device__ void store(const Row& row) {
        if (value_bytes == sizeof(u32)) store_value<u32>(row);
        if (value_bytes == sizeof(u64)) store_value<u64>(row);
        if (value_bytes == sizeof(uint4)) store_value<uint4>(row);
        if (thread < n && task.keys[RESULT])
            task.keys[RESULT][thread] = task.codec.decode(row.codes[thread]);
    }

    __device__ void run() {
        wait_for_earlier_kernels();
        code = thread < n ? task.codec.encode(task.keys[SOURCE][thread]) : Key(~Key(0));
        Row &a = shared.rows[0], &b = shared.rows[1];
        runs(a, b);
        if (n <= 32) return store(b);
        merge<32>(b, a);
        if (n <= 64) return store(a);
        merge<64>(a, b);
        if (n <= 128) return store(b);
        merge<128>(b, a);
        if (n <= 256) return store(a);
        merge<256>(a, b);
        if (n <= 512) return store(b);
        merge<512>(b, a);
        store(a);
    }
};
