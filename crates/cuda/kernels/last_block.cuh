// The block of a launch that is done last, and goes on alone.
#pragma once

#include "words.cuh"

// Whether all other blocks of the grid are done; what they wrote is seen then, and `done` is zero again.
// All threads come here, when what they have written is complete.
__device__ inline bool last_block(u32& done, bool& last) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&done, 1) == gridDim.x - 1;
        if (last) done = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}
