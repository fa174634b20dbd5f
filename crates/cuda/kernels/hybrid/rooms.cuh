// Rooms: so much for each bucket of the first partition that nobody has to count all keys before.
//
//     count       a sample's first digits (sample.cuh)
//     give        by the last block: room for what the sample lets expect, and more
//
// All there is of ROOMS is shared out; if that is not enough for what chance adds, or a bucket may have more tiles than
// there are blocks, nobody gets a room, and all keys are counted, or onesweep sorts them (Task::counts_once). A bucket
// may turn out to be larger than its room, for there are inputs of which the sample misleads. The partition notices,
// and leaves the sort to the onesweep behind.
//
// Not where the window does not begin at the highest bit: nothing is known then of keys that are not in the
// sample, and some may lie outside.
//
// By all blocks of `count`.
#pragma once

#include "../last_block.cuh"
#include "sample.cuh"
#include "task.cuh"
#include "warp.cuh"
#include "window.cuh"

template <class Key, u32 THREADS>
struct Rooms {
    static constexpr u32 WARPS = THREADS / WARP;
    // Of wider keys nothing is gained.
    static constexpr bool WORTH = sizeof(Key) <= sizeof(u64);
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

    // Whether buckets may have rooms, by what is known before any key is read; and whether they may in this window.
    __device__ static bool may(const Task<Key>& task) { return WORTH && task.room_blocks > 0; }

    __device__ static bool possible(const Task<Key>& task, const Window<Key>& window) {
        return may(task) && window.is_highest(task);
    }

    // Keys of this block's share of the sample, by bucket, as `bucket_of(code)` tells.
    template <class BucketOf>
    __device__ void count(BucketOf bucket_of) {
        for (u32 i = threadIdx.x; i < buckets * WARP; i += THREADS) shared.counters[i] = 0;
        __syncthreads();
        Sample<Key, THREADS>(task).each(
            task, [&](Key code) { atomicAdd(&shared.counters[bucket_of(code) * WARP + lane], 1); });
        __syncthreads();
    }

    // Rooms, by what all blocks have counted.
    __device__ void give_by_counts(bool& last) {
        for (u32 bucket = warp; bucket < buckets; bucket += WARPS) {
            u32 keys = sum_of_warp(shared.counters[bucket * WARP + lane]);
            if (lane == 0) shared.counters[bucket * WARP] = keys;
        }
        __syncthreads();
        // By neighbouring lanes: one by one they took 4.5 us of 2^24 keys, for they are all in a few lines.
        if (threadIdx.x < buckets) atomicAdd(&task.counts[threadIdx.x], shared.counters[threadIdx.x * WARP]);
        if (last_block(task.choice->done, last)) give();
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
        bool of_quantiles = task.choice->path == QUANTILES;
        u32 tile = of_quantiles ? task.quantile_tile : task.room_tile;
        if (bucket < buckets) fits = fits && keys_of(own.weight[bucket]) / tile + 1 < task.room_blocks;
        fits = __syncthreads_and(fits);
        if (bucket == 0) {
            if (fits)
                task.choice->roomy = 1;
            else if (of_quantiles || task.counts_once)
                task.choose(ONESWEEP);
            else
                task.choice->unroomy = 1;
        }
        if (!fits) return;
        if (bucket <= buckets) task.room_begins[bucket] = keys_of(own.weight_before[bucket]);
        if (bucket < buckets) task.bucket_cursors[bucket] = keys_of(own.weight_before[bucket]);
    }
};
