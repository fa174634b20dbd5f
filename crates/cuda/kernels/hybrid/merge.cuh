// A crowded cell of a block that has the device for itself: merged, in the same time for keys of every
// distribution.
//
//     load        OWN neighbouring keys a lane
//     order       each lane its keys, then each warp: it merges the keys of two lanes, of four, of all
//     merge       pairs of runs of the warps, in shared memory, until there is one: each thread finds
//                 the OWN keys that come to its places
//
// Where the block lacks keys, there are greatest ones. It is code that runs once, and much of its time is
// that of fetching instructions: loops stay loops.
#pragma once

#include "local.cuh"

// Between rows of all banks a key is left out, lest the threads' places lie in the same banks.
template <class S>
struct MergeShared {
    static constexpr u32 ROW = WARP * sizeof(u32) / sizeof(typename S::Key);
    typename S::Key keys[S::CAPACITY + S::CAPACITY / ROW + 1];

    __device__ typename S::Key& at(u32 i) { return keys[i + i / ROW]; }
};

template <class S>
struct Merge {
    using Key = typename S::Key;
    static constexpr u32 OWN = S::ITEMS - 2;
    static_assert((OWN & (OWN - 1)) == 0 && OWN * S::THREADS >= S::CAPACITY, "there are threads for all keys");

    MergeShared<S>& shared;
    const u32 count, lane = threadIdx.x % WARP;
    // Where the thread's keys are to be, and how many it has.
    const u32 at = min(count, threadIdx.x * OWN), own = min(count - at, OWN);
    Line<Key, OWN> line;

    __device__ Merge(MergeShared<S>& shared, u32 count) : shared(shared), count(count) {}

    // The keys lie in shared memory as they came, and in the same memory in order in the end. All threads
    // of the block come here.
    __device__ void sort(Key* keys) {
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < OWN; i++)
            if (i < own) line.at[i] = keys[at + i];
        order_warp();
        for (u32 run = WARP * OWN; run < count; run *= 2) {
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < OWN; i++)
                if (i < own) shared.at(at + i) = line.at[i];
            __syncthreads();
            u32 first = at / (2 * run) * (2 * run);
            u32 left = min(run, count - first), right = min(run, count - first - left);
            merge_runs(
                line.at, own, [&](u32 i) { return shared.at(first + i); }, left, right, at - first);
        }
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < OWN; i++)
            if (i < own) keys[at + i] = line.at[i];
        __syncthreads();
    }

    // Lanes merge their runs: the first key of one and the last of the other are exchanged, the second
    // and the last but one, and so on; then those half a run apart, a quarter, down to neighbours.
    __device__ void order_warp() {
        if (threadIdx.x / WARP * WARP * OWN >= count) return;
        line.order_own(own);
#pragma unroll 1
        for (u32 lanes = 1; lanes < WARP; lanes *= 2) {
            bool upper = lane & lanes;
#pragma unroll
            for (u32 i = 0; i < OWN / 2; i++) {
                Key &low = line.at[i], &high = line.at[OWN - 1 - i];
                Key to_low = from_lane(high, 2 * lanes - 1), to_high = from_lane(low, 2 * lanes - 1);
                low = one_of(low, to_low, upper);
                high = one_of(high, to_high, upper);
            }
#pragma unroll 1
            for (u32 apart = lanes / 2; apart > 0; apart /= 2) {
#pragma unroll
                for (u32 i = 0; i < OWN; i++)
                    line.at[i] = one_of(line.at[i], from_lane(line.at[i], apart), lane & apart);
            }
            line.order_halves();
        }
    }

    __device__ static Key one_of(Key a, Key b, bool greater) {
        if constexpr (sizeof(Key) == sizeof(u32))
            return greater ? max(a, b) : min(a, b);
        else
            return (a < b) == greater ? b : a;
    }

    // What the lane has whose number differs in these bits.
    __device__ static Key from_lane(Key value, u32 bits) {
        Key result = 0;
#pragma unroll
        for (u32 w = 0; w < sizeof(Key) / sizeof(u32); w++)
            result |= Key(__shfl_xor_sync(ALL_LANES, u32(value >> (32 * w)), bits)) << (32 * w);
        return result;
    }
};
