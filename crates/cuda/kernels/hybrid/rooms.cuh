// Rooms: so much for each bucket of the first partition that nobody has to count all keys before.
//
//     count       a sample's first digits: of each stretch of the source one chunk, which looks like chance
//     give        by the last block: room for what the sample lets expect, and more
//
// A chunk is what a warp reads at once. All there is of ROOMS is shared out; if that is not enough for what chance
// adds, or a bucket may have more tiles than there are blocks, nobody gets a room, and all keys are counted. A bucket
// may turn out to be larger than its room, for there are inputs of which the sample misleads. The partition notices,
// and all keys are counted, too.
//
// Not where the window does not begin at the highest bit: nothing is known then of keys that are not in the
// sample, and some may lie outside.
//
// Grid: as many blocks as run at a time, or fewer.
#pragma once

#include "../last_block.cuh"
#include "task.cuh"
#include "warp.cuh"
#include "window.cuh"

template <class Key>
struct Rooms {
    static constexpr u32 THREADS = 1024, WARPS = THREADS / WARP, VECTOR = 16 / sizeof(Key), CHUNK = WARP * VECTOR;
    // Blocks that a multiprocessor has at a time.
    static constexpr u32 BLOCKS = 2;
    // Keys of the sample, at most; of so many chunks one is read, or of more.
    static constexpr u32 SAMPLE = 1 << 21, MOST_CHUNKS = SAMPLE / CHUNK, LEAST_STRETCH = 8;
    static_assert(THREADS >= MOST_BUCKETS, "a thread for each bucket");

    struct Shared {
        union {
            // Each lane has one of its own.
            u32 counters[MOST_BUCKETS * WARP];
            // Keys of the sample; what a bucket weighs; and what those before it have of both.
            struct {
                u32 sampled[MOST_BUCKETS], weight[MOST_BUCKETS], sampled_before[MOST_BUCKETS + 1],
                    weight_before[MOST_BUCKETS + 1];
            };
        };
        bool last;
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 buckets, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    __device__ Rooms(const Task<Key>& task, Shared& shared)
        : task(task), shared(shared), buckets(1u << task.a_bits) {}

    __device__ void run() {
        for (u32 i = threadIdx.x; i < MOST_BUCKETS * WARP; i += THREADS) shared.counters[i] = 0;
        wait_for_earlier_kernels();
        Window<Key> window(task.ranges[0], task.cell_bits());
        if (task.choice->path != HYBRID || window.base != 0 || window.low + task.cell_bits() != task.key_bits)
            return;
        __syncthreads();
        count(Digit{window.low + task.b_bits, buckets - 1});
        __syncthreads();
        for (u32 bucket = warp; bucket < buckets; bucket += WARPS) {
            u32 keys = sum_of_warp(shared.counters[bucket * WARP + lane]);
            if (lane == 0) atomicAdd(&task.counts[bucket], keys);
        }
        if (last_block(task.choice->done, shared.last)) give(window.low);
    }

    __device__ void count(Digit digit) {
        // Keys before the first whole vector.
        u32 head = u32(0 - u64(task.source) / sizeof(Key)) % VECTOR;
        const uint4* first = reinterpret_cast<const uint4*>(task.source + head) + lane;
        u32 chunks = (task.n - head) / CHUNK, stretch = max((chunks - 1) / MOST_CHUNKS + 1, LEAST_STRETCH);
        u32 stretches = chunks / stretch, own = blockIdx.x * WARPS + warp;
        auto load = [&](u32 i) {
            i = min(i, stretches - 1);
            u32 chance = (i ^ i >> 7) * 0x9e3779b1;
            return __ldg(first + u64(i * stretch + __umulhi(chance, stretch)) * WARP);
        };
        uint4 vector = load(own);
#pragma unroll 1
        for (; own < stretches; own += gridDim.x * WARPS) {
            uint4 next = load(own + gridDim.x * WARPS);
#pragma unroll
            for (u32 k = 0; k < VECTOR; k++)
                atomicAdd(&shared.counters[digit.of(task.codec.encode(key_of(vector, k))) * WARP + lane], 1);
            vector = next;
        }
    }

    __device__ static Key key_of(uint4 vector, u32 k) {
        union {
            uint4 words;
            Key keys[VECTOR];
        } both = {vector};
        return both.keys[k];
    }

    // A bucket's room is as many keys as it weighs: those of the sample, four and a half sigmas of them, and
    // a few.
    __device__ void give(u32 low) {
        u32 bucket = threadIdx.x;
        if (bucket < buckets) {
            u32 sampled = __ldcg(&task.counts[bucket]);
            // The bucket's cells count from zero on.
            task.counts[bucket] = 0;
            shared.sampled[bucket] = sampled;
            shared.weight[bucket] = sampled + u32(4.5f * sqrtf(sampled)) + 16;
        }
        __syncthreads();
        if (warp < 2) {
            const u32* numbers = warp ? shared.weight : shared.sampled;
            u32* before = warp ? shared.weight_before : shared.sampled_before;
            scan_by_warp(buckets, before, [=](u32 i) { return numbers[i]; });
        }
        __syncthreads();
        u32 all = shared.weight_before[buckets];
        u64 scale = (u64(task.room_keys) << 32) / all;
        auto keys_of = [=](u32 weight) { return u32(weight * scale >> 32); };
        // A weight of one is at least as many keys as one of the sample stands for.
        bool fits = u64(task.room_keys) * shared.sampled_before[buckets] >= u64(task.n) * all;
        if (bucket < buckets) fits = fits && keys_of(shared.weight[bucket]) / task.tile + 1 < task.room_blocks;
        if (!__syncthreads_and(fits)) return;
        if (bucket <= buckets) task.room_begins[bucket] = keys_of(shared.weight_before[bucket]);
        if (bucket < buckets) task.bucket_cursors[bucket] = keys_of(shared.weight_before[bucket]);
        if (bucket > 0) return;
        task.choice->base = task.choice->prefix = 0;
        task.choice->low = low;
        task.choice->roomy = 1;
    }
};
