// Cells that quantiles tell, in shared memory: as any cell (local.cuh), but that bins are told by quantiles, too.
//
// Keys of such a cell agree in nothing that is known. A crowded one, of equal keys or where digits depend on each
// other, becomes a piece, of the bits in which its keys differ.
//
// Grid: as many blocks as run at a time.
#pragma once

#include "local.cuh"

// CELL: the shape of a block. PIECE: keys of a piece, at most.
template <class Cell, u32 PIECE_>
struct QuantileCellShape : Cell {
    static constexpr u32 PIECE = PIECE_;
    static constexpr bool REPEATED = true, QUANTILES = true;
    // Words do not have the quantiles' bits, and nothing is sorted by places.
    static constexpr bool WORDS = false;
    static constexpr u32 TABLES = 1;
};

template <class S>
struct LocalQuantiles {
    using Key = typename S::Key;

    const Task<Key>& task;
    LocalShared<S>& shared;

    __device__ void run() {
        wait_for_earlier_kernels();
        let_next_kernel_in();
        if (task.choice->path != QUANTILES) return;
        Quantiles<Key>::load(shared.quantiles, task.quantiles);
        if (threadIdx.x == 0) shared.base = 0;
        // Refine comes next.
        task.clear_steps();
        for (u32 cell = blockIdx.x; cell < task.cells(); cell += gridDim.x) {
            u32 begin = task.begins[cell], count = task.begins[cell + 1] - begin;
            __syncthreads();
            if (count > 0 && count <= S::CAPACITY) sort(cell, begin, count);
        }
    }

    __device__ void sort(u32 cell, u32 begin, u32 count) {
        Local<S> own(shared);
        own.count = count;
        Key key[S::LOADS];
        own.forget(key);
        const Key* from = task.result + begin + threadIdx.x;
        own.load(key, [=](u32 i) { return from[i]; });
        u32 largest = own.lay_out_bins(key, Quantiles<Key>::QUANTILE_BITS - task.cell_bits());
        if (own.crowded(largest)) return leave(own, key, cell, begin);
        own.claim(key);
        __syncthreads();
        own.order(largest);
        __syncwarp();
        own.store(task.result + begin, task.codec, false);
    }

    // As it lies there.
    __device__ void leave(Local<S>& own, const Key (&key)[S::LOADS], u32 cell, u32 begin) {
        if (own.count > S::PIECE) {
            if (threadIdx.x == 0) task.leave_to_refine(cell, own.count);
            return;
        }
        u32 bits = own.varying_bits(key, task.result[begin]);
        if (threadIdx.x == 0)
            task.pieces[atomicAdd(&task.choice->pieces, 1)] = {begin, own.count, IN_RESULT, bits};
    }
};
