// How many 8-bit keys a block has of each code.
//
//     for each key: counters[its word][lane] += 1
//     sum the lanes' counters, in the order of the codes
//
// Each lane has counters in a bank of its own, so no two lanes of a warp ever meet in one.
#pragma once

#include "task.cuh"
#include "vectors.cuh"

struct Tally8 {
    using Key = u8;
    static constexpr u32 THREADS = MOST_THREADS / 2, BLOCKS = 2, PARTS = 1;
    static constexpr u32 CELLS = Task<Key>::CELLS;
    // Vectors that a thread reads at a time.
    static constexpr u32 LOADS = 2;

    struct Shared {
        u32 counters[CELLS * WARP];
    };

    const Task<Key>& task;
    u32* counters;
    const u32 lane = threadIdx.x % WARP;

    __device__ Tally8(const Task<Key>& task, Shared& shared) : task(task), counters(shared.counters) {}

    __device__ void clear() {
        for (u32 i = threadIdx.x; i < CELLS * WARP; i += blockDim.x) counters[i] = 0;
        __syncthreads();
    }

    __device__ void count(u32 word) { atomicAdd(&counters[word * WARP + lane], 1); }

    __device__ void count(uint4 vector) {
        u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
        for (u32 i = 0; i < 4; i++)
#pragma unroll
            for (u32 k = 0; k < 4; k++) count(words[i] >> (8 * k) & 0xff);
    }

    __device__ void count_all() {
        Vectors<Key> vectors(task.source, task.n);
        if (blockIdx.x == 0) {
            if (threadIdx.x < vectors.head) count(task.source[threadIdx.x]);
            if (threadIdx.x < task.n - vectors.tail()) count(task.source[vectors.tail() + threadIdx.x]);
        }
        const uint4* from = reinterpret_cast<const uint4*>(task.source + vectors.head);
        u64 step = u64(gridDim.x) * blockDim.x, i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
        for (; i + (LOADS - 1) * step < vectors.count; i += LOADS * step) {
            uint4 vector[LOADS];
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) vector[j] = from[i + j * step];
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) count(vector[j]);
        }
#pragma unroll 1
        for (; i < vectors.count; i += step) count(from[i]);
        __syncthreads();
    }

    // A cell's keys. Each thread begins with another lane's counter, so they meet in no bank.
    __device__ u32 sum(u32 cell) const {
        const u32* copies = counters + task.codec.decode(Key(cell)) * WARP;
        u32 sum = 0;
#pragma unroll 8
        for (u32 c = 0; c < WARP; c++) sum += copies[(c + threadIdx.x) % WARP];
        return sum;
    }

    __device__ void run() {
        clear();
        wait_for_earlier_kernels();
        count_all();
        if (threadIdx.x < CELLS)
            static_cast<u32*>(task.tallies)[blockIdx.x * CELLS + threadIdx.x] = sum(threadIdx.x);
    }

    // Keys of a code, as a reader counted them.
    __device__ static u32 keys(const Task<Key>& task, u32 reader, u32 code) {
        return static_cast<const u32*>(task.tallies)[reader * CELLS + code];
    }
};
