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
    static constexpr u32 THREADS = 1024, BLOCKS = 1;
    static constexpr u32 GROUP = Task<Key>::GROUP, GROUPS = Task<Key>::GROUPS;
    // Threads that a cell has.
    static constexpr u32 SHARE = THREADS / GROUP;
    // Loads that are under way at a time.
    static constexpr u32 LOADS = 24;

    struct Shared {
        u64 keys[THREADS];
        // Of a cell.
        u32 spilled[GROUP];
        u64 warps[GROUP / WARP];
    };

    // The sum of what the threads before gave, of the first GROUP.
    __device__ static u64 exclusive(u64 own, u64* warps) {
        u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        u64 sum = own;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u64 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1 && warp < GROUP / WARP) warps[warp] = sum;
        __syncthreads();
        u64 before = sum - own;
#pragma unroll
        for (u32 w = 0; w < GROUP / WARP; w++)
            if (w < warp) before += warps[w];
        return before;
    }

    // A warp goes through a block's spills.
    __device__ static void count_spills(const Task<Key>& task, Shared& shared) {
        if (threadIdx.x < GROUP) shared.spilled[threadIdx.x] = 0;
        __syncthreads();
        for (u32 block = threadIdx.x / WARP; block < task.readers * Tally::PARTS; block += THREADS / WARP) {
            const u16* slots = task.spills + u64(block) * task.spill_room;
            for (u32 i = threadIdx.x % WARP; i < task.spilled[block]; i += WARP) {
                u32 code = task.codec.encode(Key(Tally::slot(slots[i])));
                if (code / GROUP == blockIdx.x) atomicAdd(&shared.spilled[code % GROUP], 1);
            }
        }
    }

    __device__ static void run(const Task<Key>& task, Shared& shared) {
        wait_for_earlier_kernels();
        u32 cell = threadIdx.x % GROUP, code = blockIdx.x * GROUP + cell;
        u64 keys = 0;
        for (u32 r = threadIdx.x / GROUP; r < task.readers; r += LOADS * SHARE)
#pragma unroll
            for (u32 j = 0; j < LOADS; j++)
                if (r + j * SHARE < task.readers) keys += Tally::keys(task, r + j * SHARE, code);
        if constexpr (GROUPS > 1) count_spills(task, shared);
        shared.keys[threadIdx.x] = keys;
        __syncthreads();
        keys = 0;
        if (threadIdx.x < GROUP) {
            for (u32 i = 0; i < SHARE; i++) keys += shared.keys[i * GROUP + cell];
            if constexpr (GROUPS > 1) keys += u64(shared.spilled[cell]) * Tally::FULL;
        }

        u64* ends = task.ends + blockIdx.x * GROUP;
        if (threadIdx.x < GROUP) ends[threadIdx.x] = ~0ull;
        u64 sum = exclusive(keys << 16 | (keys != 0), shared.warps);
        u64 end = (sum >> 16) + keys;
        if (keys) {
            u32 at = sum & 0xffff;
            ends[at] = end;
            task.words[blockIdx.x * GROUP + at] = task.codec.decode(Key(code));
        }
        if (threadIdx.x == GROUP - 1) task.groups[blockIdx.x] = end;
    }
};
