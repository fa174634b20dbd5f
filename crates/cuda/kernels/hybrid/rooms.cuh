// Rooms: so much for each bucket of the first partition that nobody has to count all keys before.
//
//     count       a sample's first digits: of each stretch of the source one chunk, which looks like chance
//     give        by the last block: room for what the sample lets expect, and more
//
// A chunk is what a warp reads at once. All there is of ROOMS is shared out; if that is not enough for what chance
// adds, or a bucket may have more tiles than there are blocks, nobody gets a room, and all keys are counted. A bucket
// may turn out to be larger than its room, for there are inputs of which the sample misleads. The partition notices,
// and leaves the sort to the onesweep behind.
//
// Not where the window does not begin at the highest bit: nothing is known then of keys that are not in the
// sample, and some may lie outside.
//
// By all blocks of `count`.
#pragma once

#include "../last_block.cuh"
#include "read.cuh"
#include "task.cuh"
#include "warp.cuh"
#include "window.cuh"

template <class Key, u32 THREADS>
struct Rooms {
    using Vectors = Reader<Key, 1>;
    static constexpr u32 WARPS = THREADS / WARP, VECTOR = Vectors::KEYS, CHUNK = WARP * VECTOR;
    // Of wider keys nothing is gained.
    static constexpr bool WORTH = sizeof(Key) <= sizeof(u64);
    // Keys of the sample, at most; of so many chunks one is read, or of more.
    static constexpr u32 SAMPLE = 1 << 21, MOST_CHUNKS = SAMPLE / CHUNK, LEAST_STRETCH = 8;
    // Chunks of a warp that are on their way at once.
    static constexpr u32 BATCH = 4;
    static_assert(THREADS >= MOST_BUCKETS, "a thread for each bucket");

    // What the last block knows of each bucket: keys of the sample, what it weighs, and what those before it have
    // of both.
    struct Weights {
        u32 sampled[MOST_BUCKETS], weight[MOST_BUCKETS], sampled_before[MOST_BUCKETS + 1],
            weight_before[MOST_BUCKETS + 1];
    };

    // In dynamic shared memory.
    union Shared {
        // Each lane has one of its own.
        u32 counters[MOST_BUCKETS * WARP];
        Weights weights;
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 buckets, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    __device__ Rooms(const Task<Key>& task, void* memory)
        : task(task), shared(*static_cast<Shared*>(memory)), buckets(1u << task.a_bits) {}

    __device__ static bool possible(const Task<Key>& task, const Window<Key>& window) {
        return WORTH && task.room_blocks > 0 && window.base == 0 && window.low + task.cell_bits() == task.key_bits;
    }

    __device__ void run(const Window<Key>& window, bool& last) {
        for (u32 i = threadIdx.x; i < buckets * WARP; i += THREADS) shared.counters[i] = 0;
        __syncthreads();
        count(Digit{window.low + task.b_bits, buckets - 1});
        __syncthreads();
        for (u32 bucket = warp; bucket < buckets; bucket += WARPS) {
            u32 keys = sum_of_warp(shared.counters[bucket * WARP + lane]);
            if (lane == 0) atomicAdd(&task.counts[bucket], keys);
        }
        if (last_block(task.choice->done, last)) give();
    }

    __device__ void count(Digit digit) {
        // Keys before the first whole vector.
        u32 head = u32(0 - u64(task.source) / sizeof(Key)) % VECTOR;
        const uint4* first = reinterpret_cast<const uint4*>(task.source + head) + lane;
        u32 chunks = (task.n - head) / CHUNK, stretch = max((chunks - 1) / MOST_CHUNKS + 1, LEAST_STRETCH);
        u32 stretches = chunks / stretch, warps = gridDim.x * WARPS;
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
                for (u32 k = 0; k < VECTOR; k++) {
                    u32 bucket = digit.of(task.codec.encode(Vectors::key(vector[j], k)));
                    atomicAdd(&shared.counters[bucket * WARP + lane], 1);
                }
            }
        }
    }

    // A bucket's room is as many keys as it weighs: those of the sample, four and a half sigmas of them, and
    // a few.
    __device__ void give() {
        Weights& own = shared.weights;
        u32 bucket = threadIdx.x;
        if (bucket < buckets) {
            u32 sampled = __ldcg(&task.counts[bucket]);
            // From now on counts are those of cells.
            task.counts[bucket] = 0;
            own.sampled[bucket] = sampled;
            own.weight[bucket] = sampled + u32(4.5f * sqrtf(sampled)) + 16;
        }
        __syncthreads();
        if (warp < 2) {
            const u32* numbers = warp ? own.weight : own.sampled;
            u32* before = warp ? own.weight_before : own.sampled_before;
            scan_by_warp(buckets, before, [=](u32 i) { return numbers[i]; });
        }
        __syncthreads();
        u32 all = own.weight_before[buckets];
        u64 scale = (u64(task.room_keys) << 32) / all;
        auto keys_of = [=](u32 weight) { return u32(weight * scale >> 32); };
        // A weight of one is at least as many keys as one of the sample stands for.
        bool fits = u64(task.room_keys) * own.sampled_before[buckets] >= u64(task.n) * all;
        if (bucket < buckets) fits = fits && keys_of(own.weight[bucket]) / task.tile + 1 < task.room_blocks;
        fits = __syncthreads_and(fits);
        if (bucket == 0) (fits ? task.choice->roomy : task.choice->unroomy) = 1;
        if (!fits) return;
        if (bucket <= buckets) task.room_begins[bucket] = keys_of(own.weight_before[bucket]);
        if (bucket < buckets) task.bucket_cursors[bucket] = keys_of(own.weight_before[bucket]);
    }
};
