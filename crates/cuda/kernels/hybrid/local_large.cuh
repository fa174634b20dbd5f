// Cells that are too large for a block of `local`, by larger blocks.
//
// Launched before `local`, which begins beside it: a few large cells take as long as many small ones,
// and nobody should wait for them.
//
// Grid: as many blocks as run at a time.
#pragma once

#include "local.cuh"

template <class S>
__device__ inline void sort_large_cells(const Task<typename S::Key>& task, LocalShared<S>& shared) {
    wait_for_earlier_kernels();
    // Not before: `local` relies on what has been waited for.
    let_next_kernel_in();
    if (task.choice->path != HYBRID) return;
    if (threadIdx.x == 0) shared.base = task.choice->base;
    for (u32 i = blockIdx.x; i < task.choice->for_large_blocks; i += gridDim.x) {
        u32 cell = task.large[task.cells() - 1 - i];
        u32 begin = task.begins[cell], count = task.begins[cell + 1] - begin;
        Local<S>(shared).sort(
            task.buffer(task.partitioned()) + begin, task.result + begin, count, task.choice->low,
            task.codec);
        __syncthreads();
    }
}
