// Cells that are too large for a block of `local`, by larger blocks.
//
// Launched before `local`, which begins beside it: a few large cells take as long as many small ones,
// and nobody should wait for them.
//
// Grid: as many blocks as run at a time.
#pragma once

#include "local.cuh"

// Two shapes of one block, or one twice: for cells of up to about twice a small block's keys, and for
// larger ones. The slots that a lane orders take their time, whether there are keys in them or not.
template <class Double_, class Most_>
struct LargeShape {
    using Double = RepeatedShape<Double_>;
    using Most = RepeatedShape<Most_>;
    using Key = typename Most::Key;
    static constexpr u32 THREADS = Most::THREADS, BLOCKS = Most::BLOCKS, CAPACITY = Most::CAPACITY;
    static constexpr bool ONE = Double::CAPACITY == CAPACITY;
    static_assert(Double::THREADS == THREADS, "a block is either");
};

template <class S>
union LargeShared {
    LocalShared<typename S::Double> twice;
    LocalShared<typename S::Most> most;
};

template <class Cell>
__device__ inline Local<Cell> local_of(LocalShared<Cell>& shared) {
    return Local<Cell>(shared);
}

// Each of them by `sort(shared, cell, begin, count)`, in whichever shape it fits.
template <class S, class Sort>
__device__ inline void each_large_cell(
    const Task<typename S::Key>& task, LargeShared<S>& shared, Sort sort) {
    let_next_kernel_in();
    wait_for_earlier_kernels();
    u32 path = task.choice->path;
    if (blockIdx.x == 0 && threadIdx.x == 0) write_release(&task.choice->path_of_local, path + 1);
    if (path != HYBRID) return;
    auto sort_in = [&](auto& shared, u32 cell, u32 begin, u32 count) {
        if (threadIdx.x == 0) shared.base = task.choice->base;
        sort(shared, cell, begin, count);
        __syncthreads();
    };
    for (u32 i = blockIdx.x; i < task.choice->for_large_blocks; i += gridDim.x) {
        u32 cell = task.large[task.cells() - 1 - i];
        u32 begin = task.begins[cell], count = task.begins[cell + 1] - begin;
        if (S::ONE || count <= S::Double::CAPACITY)
            sort_in(shared.twice, cell, begin, count);
        else
            sort_in(shared.most, cell, begin, count);
    }
}

template <class S>
__device__ inline void sort_large_cells(const Task<typename S::Key>& task, LargeShared<S>& shared) {
    each_large_cell(task, shared, [&](auto& shared, u32 cell, u32 begin, u32 count) {
        CodeReader<typename S::Key> read(task, task.side_of(cell), begin);
        local_of(shared).sort_codes(read, task.result + begin, count, task.choice->low, task.codec);
    });
}
