// Blocks of one launch that wait for each other.
#pragma once

#include "words.cuh"

// What a block has written before it waits, all blocks see afterwards. The launch is cooperative: all
// blocks run at the same time. `arrived` is a word that begins as zero.
struct GridBarrier {
    u32* arrived;
    u32 expected = 0;

    __device__ explicit GridBarrier(u32* arrived) : arrived(arrived) {}

    __device__ void wait() {
        arrive();
        wait_for_all();
    }

    // Between the two a block does what needs nothing of the others'.
    __device__ void arrive() {
        expected += gridDim.x;
        __syncthreads();
        if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
    }

    __device__ void wait_for_all() const {
        if (threadIdx.x == 0)
            while (read_acquire(arrived) < expected) {}
        __syncthreads();
    }
};
