// Where the cells of each group end.
//
//     keys    of each cell: the sum over the readers, and over what they spilled
//     scan    of the keys and of the cells that have any, together
//
// Grid: GROUPS.
#pragma once

#include "task.cuh"

template <class Tally>
struct LayOut {
    using Key = typename Tally::Key;
    static constexpr u32 THREADS = 1024, BLOCKS = MOST_THREADS / THREADS;
    static constexpr u32 GROUPS = Task<Key>::GROUPS;
    // Threads that a cell has, and loads that each has under way.
    static constexpr u32 SHARE = THREADS / GROUP, LOADS = 6;

    struct Shared {
        u64 keys[THREADS];
        // Counters of each cell that were full.
        u32 spilled[GROUP];
        GroupScan scan;
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 thread = threadIdx.x, cell = thread % GROUP, code = blockIdx.x * GROUP + cell;

    __device__ LayOut(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    // The thread's part of the cell's keys, without what was spilled.
    __device__ u64 keys_of_readers() const {
        u64 keys = 0;
        for (u32 r = thread / GROUP; r < task.readers; r += LOADS * SHARE)
#pragma unroll
            for (u32 j = 0; j < LOADS; j++)
                if (r + j * SHARE < task.readers) keys += Tally::keys(task, r + j * SHARE, code);
        return keys;
    }

    // A warp goes through what a block spilled.
    __device__ void count_spilled() {
        for (u32 block = thread / WARP; block < task.readers * Tally::PARTS; block += THREADS / WARP) {
            const u16* slots = task.spills + u64(block) * task.spill_room;
            u32 count = task.spilled[block];
            for (u32 i = thread % WARP; i < count; i += WARP) {
                u32 code = task.codec.encode(Key(Tally::slot(slots[i])));
                if (code / GROUP == blockIdx.x) atomicAdd(&shared.spilled[code % GROUP], 1);
            }
        }
    }

    __device__ u64 keys_of_cell() {
        if constexpr (GROUPS > 1) {
            bool any = false;
            for (u32 i = thread; i < task.readers * Tally::PARTS; i += THREADS) any |= task.spilled[i] != 0;
            if (thread < GROUP) shared.spilled[thread] = 0;
            if (__syncthreads_or(any)) count_spilled();
        }
        shared.keys[thread] = keys_of_readers();
        __syncthreads();
        u64 keys = 0;
        if (thread < GROUP) {
#pragma unroll
            for (u32 i = 0; i < SHARE; i++) keys += shared.keys[i * GROUP + cell];
            if constexpr (GROUPS > 1) keys += u64(shared.spilled[cell]) * Tally::FULL;
        }
        return keys;
    }

    __device__ void run() {
        wait_for_earlier_kernels();
        u64 keys = keys_of_cell();
        u64* ends = task.ends + blockIdx.x * GROUP;
        if (thread < GROUP) ends[thread] = ~0ull;
        u64 sum = shared.scan.exclusive(cell_of(keys)), end = keys_in(sum) + keys;
        if (keys) {
            ends[cells_in(sum)] = end;
            task.words[blockIdx.x * GROUP + cells_in(sum)] = task.codec.decode(Key(code));
        }
        if (thread == GROUP - 1) task.groups[blockIdx.x] = end;
    }
};
