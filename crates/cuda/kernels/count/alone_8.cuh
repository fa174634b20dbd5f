// Few 8-bit keys: all in one launch of one block.
//
// Workspace: none. Grid: 1.
#pragma once

#include "expand.cuh"
#include "tally_8.cuh"

struct Alone8 {
    using Key = u8;
    static constexpr u32 THREADS = 1024, BLOCKS = 1;
    using Writer = Expand<Key, THREADS>;

    struct Shared {
        Tally8::Shared tally;
        Writer::Shared writer;
    };

    __device__ static void run(const Task<Key>& task, Shared& shared) {
        Tally8 tally(task, shared.tally);
        tally.clear();
        wait_for_earlier_kernels();
        tally.count_all();
        let_next_kernel_in();
        Writer writer(task, shared.writer);
        u32 code = threadIdx.x;
        writer.lay_out(code, code < Tally8::CELLS ? tally.sum(code) : 0, 0, 0, task.n);
        writer.write(task.result, u32(task.n));
    }
};
