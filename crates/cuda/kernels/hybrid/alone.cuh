// A small input, sorted by one block: a cell of its own, in which the highest bit that varies comes
// first.
//
// Workspace: none. Grid: 1. n: CAPACITY at most.
#pragma once

#include "merge.cuh"

template <class S>
union AloneShared {
    LocalShared<S> local;
    MergeShared<S> merge;
};

template <class S>
__device__ inline void sort_alone(const Task<typename S::Key>& task, AloneShared<S>& shared) {
    wait_for_earlier_kernels();
    let_next_kernel_in();
    if (threadIdx.x == 0) shared.local.base = 0;
    if (task.n == 0) return;
    Local<S> own(shared.local);
    own.sparse = true;
    own.sort_words(task.source, task.result, task.n, task.codec, [&] {
        Merge<S>(shared.merge, task.n).sort(shared.local.keys);
    });
}
