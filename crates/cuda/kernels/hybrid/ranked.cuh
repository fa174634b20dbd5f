// Few keys with what travels with them, or keys alone, stably and in the same time for every distribution: by
// blocks that wait for each other, each of which finds where its own keys belong.
//
//     load       a run of the input into shared memory, as codes; of its own keys a block keeps keys and values
//     compare    each of its own keys with all of the run: its rank there
//     publish    its own codes by their ranks: sorted runs
//        ---- all blocks have published ----
//     search     where each of its own keys would stand in every other run
//     store      own keys and values; its place is the sum of a key's ranks
//
// Equal codes keep their order: what came before counts if it is not greater, what comes later if it is less.
// So few keys that comparing takes no longer than searching are one run, and nothing is published. All is read
// before anything is written, so the caller's arrays may be the same.
//
// Shapes: run a multiple of chunk, chunk of 4 and at most blockDim; grid: n / chunk, launched cooperatively.
// Workspace: codes, n of them, of any content, if there is more than one run. Shared: RankedShared, and behind it
// a code for each key of a run, or of all runs, in whole vectors.
#pragma once

#include <cooperative_groups.h>

#include "ranked_task.cuh"

// THREADS: of a block, at most; it has no more keys for its own.
template <class Key_, u32 THREADS_>
struct RankedShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_;
};

template <class S>
struct RankedShared {
    // Of the block's own keys: how many come before, of those that have been looked at.
    alignas(16) u32 places[S::THREADS];
};

template <class S>
struct Ranked {
    using Key = typename S::Key;
    static constexpr u32 VECTOR = 16 / sizeof(Key);

    struct alignas(16) Vector {
        Key code[VECTOR];
    };

    const RankedTask<Key>& task;
    RankedShared<S>& shared;
    Key* const codes = reinterpret_cast<Key*>(&shared + 1);
    const u32 n = task.n, chunk = task.chunk, run = task.run, thread = threadIdx.x;
    const u32 threads = blockDim.x, warps = threads / WARP;
    const u32 first = blockIdx.x * chunk, own_run = first / run, run_begin = own_run * run;
    // Keys of the run, and with what fills up the last vector.
    const u32 in_run = min(run, n - run_begin), whole = (in_run + 3) / 4 * 4;

    // The block's own keys are rows of a warp's width; several warps share a row, each a part of what is looked at.
    const u32 rows = (chunk + WARP - 1) / WARP, parts = warps / rows;
    const u32 row = threadIdx.x / WARP % rows, part = threadIdx.x / WARP / rows;
    // In the run: the row's first key, and the lane's.
    const u32 row_begin = first - run_begin + row * WARP, at = row_begin + threadIdx.x % WARP;
    const bool looks = part < parts && row_begin < in_run;

    // The thread's own key and value, if it has one.
    const bool has = thread < chunk && first + thread < n;
    RankedItem<Key> own_item;

    __device__ Ranked(const RankedTask<Key>& task, RankedShared<S>& shared) : task(task), shared(shared) {}

    __device__ void run_block() {
        cooperative_groups::grid_group grid = cooperative_groups::this_grid();
        wait_for_earlier_kernels();
        let_next_kernel_in();
        bool one_run = run >= n;
        shared.places[thread] = 0;
        load();
        cooperative_groups::grid_group::arrival_token all_have_read;
        if (one_run)
            all_have_read = grid.barrier_arrive();
        else
            __syncthreads();
        Key own = looks ? codes[min(at, in_run - 1)] : Key(0);
        if (looks) tell(compare(own));
        __syncthreads();
        if (one_run) {
            grid.barrier_wait(static_cast<decltype(all_have_read)&&>(all_have_read));
        } else {
            if (has) task.codes[run_begin + shared.places[thread]] = codes[first - run_begin + thread];
            grid.sync();
            load_runs();
            __syncthreads();
            if (looks) tell(search(own));
            __syncthreads();
        }
        if (has) own_item.store(task, first + thread, shared.places[thread]);
    }

    // What is behind the last code is the greatest, in whole vectors.
    __device__ void load() {
        const Key* from = task.keys_from + run_begin;
        if (has) own_item.load(task, first + thread);
#pragma unroll 4
        for (u32 i = thread; i < whole; i += threads) codes[i] = i < in_run ? task.code(from[i]) : Key(~Key(0));
    }

    // Of the row's keys, a lane each.
    __device__ void tell(u32 before) const {
        u32 own = row * WARP + threadIdx.x % WARP;
        if (before > 0 && own < chunk) atomicAdd(&shared.places[own], before);
    }

    // How many of the part come before the lane's key: it ends where the row does, or begins there, or is the row.
    __device__ u32 compare(Key own) const {
        u32 each = (whole / 4 + parts - 1) / parts * 4;
        u32 from = min(whole, part * each), to = min(whole, from + each);
        u32 row_end = min(row_begin + WARP, whole);
        u32 begin = min(max(row_begin, from), to), end = min(max(row_end, from), to);
        u32 before = count<true>(from, begin, own) + count<false>(end, to, own);
#pragma unroll 4
        for (u32 i = begin; i < end; i++) before += i < at ? !(own < codes[i]) : codes[i] < own;
        return before;
    }

    // Of whole vectors.
    template <bool CAME_BEFORE>
    __device__ u32 count(u32 from, u32 to, Key own) const {
        u32 before = 0;
#pragma unroll 4
        for (u32 i = from; i < to; i += VECTOR) {
            Vector vector = *reinterpret_cast<const Vector*>(codes + i);
#pragma unroll
            for (u32 v = 0; v < VECTOR; v++)
                before += CAME_BEFORE ? !(own < vector.code[v]) : vector.code[v] < own;
        }
        return before;
    }

    // All runs, sorted; the last one is filled up with greatest codes.
    __device__ void load_runs() const {
        u32 whole = n / VECTOR;
        const uint4* from = reinterpret_cast<const uint4*>(task.codes);
#pragma unroll 4
        for (u32 i = thread; i < whole; i += threads) reinterpret_cast<uint4*>(codes)[i] = __ldcg(from + i);
        for (u32 i = whole * VECTOR + thread; i < (n + run - 1) / run * run; i += threads)
            codes[i] = i < n ? task.codes[i] : Key(~Key(0));
    }

    // How many keys of the part's runs come before the lane's.
    __device__ u32 search(Key own) const {
        u32 before = 0;
        for (u32 other = part; other * run < n; other += parts) {
            const Key* codes = this->codes + other * run;
            if (other < own_run)
                before += search_run(codes, [=](Key code) { return !(own < code); });
            else if (other > own_run)
                before += search_run(codes, [=](Key code) { return code < own; });
        }
        return before;
    }

    // How many of a run do, all of which stand before those that do not.
    template <class ComesBefore>
    __device__ u32 search_run(const Key* codes, ComesBefore comes_before) const {
        u32 found = 0;
        for (u32 left = run; left > 1;) {
            u32 half = left / 2;
            if (comes_before(codes[found + half - 1])) found += half;
            left -= half;
        }
        return found + comes_before(codes[found]);
    }
};
