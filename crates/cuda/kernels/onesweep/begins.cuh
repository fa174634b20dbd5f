// Where each digit's buckets begin, and what each pass has to do. One block.
//
//     begins     exclusive scan of each histogram
//     constant   a digit value with a count of n: all keys agree in this digit, or it has no bits
//     routes     passes over constant digits are skipped; the others move the keys from buffer to
//                buffer, the last one to RESULT
//
// The buffers are numbered from the last move backwards: RESULT, SCRATCH, RESULT, SCRATCH, ... (or
// RESULT, SCRATCH, OTHER, SCRATCH, ...). The first move reads SOURCE. If it would then write to what
// it reads, or if there is no move although the result lies elsewhere, one of the constant passes
// moves too: it copies.
#pragma once

#include "scan.cuh"

template <class Key>
struct Begins {
    static constexpr u32 THREADS = RADIX;

    struct Shared {
        DigitScan<u64> scan;
        u32 constant[sizeof(Key) + 1];
    };

    __device__ static void run(const Task<Key>& task, Shared& shared) {
        wait_for_earlier_kernels();
        let_next_kernel_in();
        if (!task.goes()) return;
        for (u32 pass = 0; pass < task.passes; pass++) {
            u64 count = task.histograms[pass * RADIX + threadIdx.x];
            bool constant = __syncthreads_or(count == task.n || task.digit(pass).mask == 0);
            task.begins_of(pass, 0)[threadIdx.x] = shared.scan.exclusive(count);
            if (threadIdx.x == 0) shared.constant[pass] = constant;
        }
        __syncthreads();
        if (threadIdx.x == 0) route(task, shared.constant);
    }

    __device__ static void route(const Task<Key>& task, const u32* constant) {
        bool apart = task.has(RECORDS) || task.has(APART);
        u32 moves = 0;
        for (u32 pass = 0; pass < task.passes; pass++) moves += !constant[pass];
        bool copy = !task.has(IN_PLACE) ? moves == 0 : apart ? moves == 1 : moves % 2 == 1;
        moves += copy;

        u32 done = 0, at = SOURCE;
        for (u32 pass = 0; pass < task.passes; pass++) {
            Route route = {Route::SKIP, at, at, false, false};
            if (!constant[pass] || copy) {
                route.does = constant[pass] ? Route::COPY : Route::SORT;
                if (constant[pass]) copy = false;
                u32 left = moves - done - 1;
                route.to = left == 0 ? RESULT : left % 2 == 1 ? SCRATCH : apart ? OTHER : RESULT;
                route.first = done == 0;
                route.last = left == 0;
                at = route.to;
                done++;
            }
            task.routes[pass] = route;
        }
    }
};
