// A sample of the source: of each stretch of it one chunk, which looks like chance. By all blocks of a launch.
//
// A chunk is what a warp reads at once.
#pragma once

#include "read.cuh"
#include "task.cuh"

template <class Key, u32 THREADS>
struct Sample {
    using Vectors = Reader<Key, 1>;
    static constexpr u32 WARPS = THREADS / WARP, VECTOR = Vectors::KEYS, CHUNK = WARP * VECTOR;
    // Its keys, at most; of so many chunks one is read, or of more.
    static constexpr u32 MOST = 1 << 21, MOST_CHUNKS = MOST / CHUNK, LEAST_STRETCH = 8;
    // Chunks of a warp that are on their way at once.
    static constexpr u32 BATCH = 4;

    // Keys before the first whole vector, chunks of a stretch, and stretches.
    u32 head, stretch, stretches;

    __device__ explicit Sample(const Task<Key>& task) {
        head = u32(0 - u64(task.source) / sizeof(Key)) % VECTOR;
        u32 chunks = (task.n - head) / CHUNK;
        stretch = max((chunks - 1) / MOST_CHUNKS + 1, LEAST_STRETCH);
        stretches = chunks / stretch;
    }

    // How many there are.
    __device__ u32 keys() const { return stretches * CHUNK; }

    // `act(code)` for each of them, by some thread.
    template <class Act>
    __device__ void each(const Task<Key>& task, Act act) const {
        u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = gridDim.x * WARPS;
        const uint4* first = reinterpret_cast<const uint4*>(task.source + head) + lane;
#pragma unroll 1
        for (u32 own = blockIdx.x * WARPS + warp; own < stretches; own += BATCH * warps) {
            uint4 vector[BATCH];
#pragma unroll
            for (u32 j = 0; j < BATCH; j++) {
                u32 i = min(own + j * warps, stretches - 1), chance = (i ^ i >> 7) * 0x9e3779b1;
                vector[j] = __ldg(first + u64(i * stretch + __umulhi(chance, stretch)) * WARP);
            }
#pragma unroll
            for (u32 j = 0; j < BATCH; j++) {
                if (own + j * warps >= stretches) break;
#pragma unroll
                for (u32 k = 0; k < VECTOR; k++) act(task.codec.encode(Vectors::key(vector[j], k)));
            }
        }
    }
};
