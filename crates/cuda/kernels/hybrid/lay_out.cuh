// Where everything begins, from the counts of the cells.
//
//     begins, cell_cursors    exclusive scan of counts
//     bucket_cursors          the begin of each bucket's first cell
//     tiles                   exclusive scan of the tiles that each bucket fills
//     large, crowd            cells for more than one local sort, and their keys
//     for_large_blocks        cells for local_large
//     path                    whether these are too many
//
// Many cells: a block has THREADS of them, and sums by itself all that lie before; the last block to be
// done scans the tiles. Grid: 2^cell_bits / THREADS. Few cells, ALONE at most: the last block of `count`
// does it all, and this is not launched.
#pragma once

#include "../last_block.cuh"
#include "task.cuh"
#include "times.cuh"
#include "warp.cuh"

template <class Key>
struct LayOut {
    static constexpr u32 THREADS = 1024, WARPS = THREADS / WARP;
    // So few cells are laid out by one block; of two partitions, half of their bits tell the bucket.
    static constexpr u32 ALONE = 4096, BUCKETS = 64;
    static_assert(BUCKETS * BUCKETS == ALONE, "there is an entry for each");

    struct Shared {
        u32 warps[WARPS];
        // Where buckets begin, and the end; of few cells.
        u32 buckets[BUCKETS + 1];
        bool last;
    };

    const Task<Key>& task;
    Shared& shared;

    __device__ LayOut(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    __device__ void run() {
        wait_for_earlier_kernels();
        if (task.choice->path != HYBRID || task.choice->roomy) return;
        let_next_kernel_in();
        u32 first = blockIdx.x * THREADS, before = 0;
        const uint4* counts = reinterpret_cast<const uint4*>(task.counts);
#pragma unroll 8
        for (u32 i = threadIdx.x; i < first / 4; i += THREADS) {
            uint4 four = counts[i];
            before += four.x + four.y + four.z + four.w;
        }
        exclusive(before);
        place(first, total());
        if (!last_block(task.choice->done, shared.last)) return;
        scan_tiles([&](u32 bucket) { return __ldcg(&task.begins[bucket << task.b_bits]); });
        choose(__ldcg(&task.choice->missed));
    }

    // Of the thread's four neighbouring cells. Arrays end with whole vectors.
    __device__ uint4 counts() const {
        u32 first = threadIdx.x * 4;
        return first < task.cells() ? __ldcg(reinterpret_cast<const uint4*>(&task.counts[first])) : uint4{};
    }

    // With the counts of each thread's cells. Buckets of several cells have four or more.
    __device__ void run_alone(uint4 keys, bool missed) {
        u32 first = threadIdx.x * 4;
        bool has_cells = first < task.cells();
        u32 x = exclusive(keys.x + keys.y + keys.z + keys.w), y = x + keys.x, z = y + keys.y;
        uint4 begins = {x, y, z, z + keys.z};
        if (has_cells) {
            u32* cursors = task.b_bits > 0 ? task.cell_cursors : task.bucket_cursors;
            *reinterpret_cast<uint4*>(&task.begins[first]) = begins;
            *reinterpret_cast<uint4*>(&cursors[first]) = begins;
            if (task.b_bits > 0 && first % (1 << task.b_bits) == 0)
                task.bucket_cursors[first >> task.b_bits] = shared.buckets[first >> task.b_bits] = x;
            if (max(max(keys.x, keys.y), max(keys.z, keys.w)) > task.local_keys)
#pragma unroll 1
                for (u32 cell = first; cell < first + 4; cell++)
                    task.tell_large(cell, __ldcg(&task.counts[cell]));
        }
        if (threadIdx.x == 0) {
            task.begins[task.cells()] = task.n;
            if (task.b_bits > 0) shared.buckets[1 << task.a_bits] = task.n;
        }
        __syncthreads();
        scan_tiles([&](u32 bucket) { return shared.buckets[bucket]; });
        choose(missed);
    }

    // Onesweep, where the cells turn out to be too large: with values any of them, and of keys of which
    // the sample has shown too little, so many that refining them takes longer. By one thread.
    __device__ void choose(bool missed) const {
        if (threadIdx.x > 0) return;
        if (task.may_onesweep && (missed || task.carries == RECORDS) && onesweep_is_better())
            task.choose(ONESWEEP);
        if constexpr (sizeof(Key) == sizeof(u32))
            if (task.carries == COMPOSITES) tell_words();
    }

    __device__ bool onesweep_is_better() const {
        StageTimes times = stage_times<Key>(task.carries == COMPOSITES);
        const Choice<Key>& choice = *task.choice;
        u32 crowd = __ldcg(&choice.crowd);
        float refined = float(times.refine) * crowd / task.n;
        u32 cells = (task.b_bits ? 2 : 1) * times.partition + times.local;
        bool slower = refined + cells > sizeof(Key) * times.pass + times.count;
        return task.carries == RECORDS ? crowd > 0 : slower;
    }

    // A word has a code of 32 bits above 32 others.
    __device__ void tell_words() const {
        const Choice<Key>& codes = *task.choice;
        Choice<u64>& words = *task.words;
        words.base = u64(__ldcg(&codes.base)) << 32;
        words.low = __ldcg(&codes.low) + 32;
        words.large = __ldcg(&codes.large);
        words.for_large_blocks = __ldcg(&codes.for_large_blocks);
        words.crowd = __ldcg(&codes.crowd);
    }

    // The cells from `first` on, one for each thread.
    __device__ void place(u32 first, u32 before) {
        u32 cell = first + threadIdx.x;
        bool is_cell = cell < task.cells();
        u32 keys = is_cell ? __ldcg(&task.counts[cell]) : 0;
        u32 begin = before + exclusive(keys);
        if (is_cell) {
            task.begins[cell] = begin;
            if (task.b_bits > 0) task.cell_cursors[cell] = begin;
            if (cell % (1 << task.b_bits) == 0) task.bucket_cursors[cell >> task.b_bits] = begin;
            if (cell == task.cells() - 1) task.begins[task.cells()] = task.n;
            task.tell_large(cell, keys);
        }
    }

    template <class Begin>
    __device__ void scan_tiles(Begin begin_of) {
        if (task.b_bits == 0) return;
        u32 bucket = threadIdx.x, buckets = 1 << task.a_bits, tiles = 0;
        if (bucket < buckets) {
            u32 keys = begin_of(bucket + 1) - begin_of(bucket);
            tiles = keys / task.tile + (keys % task.tile > 0);
        }
        u32 before = exclusive(tiles), all = total();
        if (bucket < buckets) task.tiles[bucket] = before;
        if (bucket == 0) task.tiles[buckets] = all;
    }

    // The sum of what the threads before gave.
    __device__ u32 exclusive(u32 own) {
        // Nobody reads those of the last time any more.
        __syncthreads();
        return sum_before(own, shared.warps);
    }

    // Of all threads, after that. By whole warps.
    __device__ u32 total() const { return sum_of_warp(shared.warps[threadIdx.x % WARP]); }
};
