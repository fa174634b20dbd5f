// Few 8-bit keys: counted and written in one launch of one block.
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
        Writer::Shared& cells = shared.writer;
        u32 code = threadIdx.x;
        u64 keys = code < GROUP ? tally.sum(code) : 0;
        if (code < GROUP) cells.ends[code] = ~0u;
        u64 sum = cells.scan.exclusive(cell_of(keys));
        if (keys) {
            cells.ends[cells_in(sum)] = u32(keys_in(sum) + keys);
            cells.words[cells_in(sum)] = task.codec.decode(Key(code));
        }
        __syncthreads();
        Writer(task, cells).write(task.result, u32(task.n));
    }
};
