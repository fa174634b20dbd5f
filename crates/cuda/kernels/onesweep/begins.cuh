// Where each digit's buckets begin, and what each pass has to do. By the last block of `histograms`, or
// where there are cells its first.
//
//     begins     exclusive scan of each histogram
//     constant   a digit value with a count of n: all keys agree in this digit, or it has no bits; or it
//                follows from those above (distinct.cuh)
//     routes     passes over constant digits are skipped; the others move the keys from buffer to
//                buffer, the last one to RESULT
//
// The buffers are numbered from the last move backwards: RESULT, SCRATCH, RESULT, SCRATCH, ... (or
// RESULT, SCRATCH, OTHER, SCRATCH, ...). The first move reads SOURCE. If it would then write to what
// it reads, or if there is no move although the result lies elsewhere, one of the constant passes
// moves too: it copies. The rest of a hybrid sort's keys is sorted in place, where it lies: SCRATCH and
// RESULT change their parts.
//
// Before a hybrid sort's local one two passes move, by the digits of its cells.
#pragma once

#include "scan.cuh"

template <class Key>
struct Begins {
    struct Shared {
        DigitScan<u64> scan;
        u32 constant[sizeof(Key) + 1];
    };

    // By RADIX threads; others of the block come along. So many of the lowest digits need no pass.
    __device__ static void run(const Task<Key>& task, Shared& shared, u32 implied) {
        bool has_value = threadIdx.x < RADIX;
        u64 n = task.count();
        for (u32 pass = 0; pass < task.passes; pass++) {
            u64 count = has_value ? __ldcg(&task.histograms[pass * RADIX + threadIdx.x]) : 0;
            bool constant = __syncthreads_or((has_value && count == n) || task.digit(pass).mask == 0);
            u64 begin = shared.scan.exclusive(count);
            if (has_value) task.begins_of(pass, 0)[threadIdx.x] = begin;
            if (threadIdx.x == 0) shared.constant[pass] = constant || pass < implied;
        }
        __syncthreads();
        if (threadIdx.x == 0) route(task, shared.constant, task.routes);
    }

    // Of the digits of the cells: SOURCE to SCRATCH, then to OTHER or RESULT. No other pass has to do
    // anything. The lower digit's histogram is a sum of the cells' counts, one column a thread.
    __device__ static void run_cells(const Task<Key>& task, Shared& shared) {
        const Cells<Key>& cells = task.cells;
        u32 low = *cells.low, uppers = 1u << cells.a_bits, lowers = 1u << cells.b_bits;
        u64 count = 0;
        if (threadIdx.x < lowers)
#pragma unroll 16
            for (u32 upper = 0; upper < uppers; upper++)
                count += cells.counts[upper * lowers + threadIdx.x];
        u64 begin = shared.scan.exclusive(count);
        u32 upper = min(threadIdx.x, uppers);
        if (threadIdx.x < RADIX) {
            task.begins_of(0, 0)[threadIdx.x] = begin;
            task.begins_of(1, 0)[threadIdx.x] = cells.begins[upper * lowers];
        }
        if (threadIdx.x > 0) return;
        u32 last = task.has(RECORDS) || task.has(APART) ? OTHER : RESULT;
        task.routes[0] = {Route::SORT, SOURCE, SCRATCH, true, false, Digit{low, lowers - 1}, false};
        Digit upper_digit = {low + cells.b_bits, uppers - 1};
        task.routes[1] = {Route::SORT, SCRATCH, last, false, false, upper_digit, true};
        for (u32 pass = 2; pass < task.passes; pass++) task.routes[pass] = {Route::SKIP, last, last};
    }

    __device__ static void route(const Task<Key>& task, const u32* constant, Route* routes) {
        bool apart = task.has(RECORDS) || task.has(APART), rest = task.sorts_rest();
        u32 result = rest ? SCRATCH : RESULT, scratch = rest ? RESULT : SCRATCH;
        u32 moves = 0;
        for (u32 pass = 0; pass < task.passes; pass++) moves += !constant[pass];
        bool copy = !task.has(IN_PLACE) && !rest ? moves == 0 : apart ? moves == 1 : moves % 2 == 1;
        moves += copy;

        u32 done = 0, at = rest ? SCRATCH : SOURCE;
        for (u32 pass = 0; pass < task.passes; pass++) {
            Route route = {Route::SKIP, at, at, false, false, task.digit(pass), false};
            if (!constant[pass] || copy) {
                route.does = constant[pass] ? Route::COPY : Route::SORT;
                if (constant[pass]) copy = false;
                u32 left = moves - done - 1;
                route.to = left == 0 ? result : left % 2 == 1 ? scratch : apart ? OTHER : result;
                route.first = done == 0;
                route.last = left == 0;
                at = route.to;
                done++;
            }
            routes[pass] = route;
        }
    }
};
