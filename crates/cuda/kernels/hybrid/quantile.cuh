// Quantiles: where a key is expected among all. Of skewed keys their digits tell the cells, not those of the keys.
//
//     learn       of a sample, how often each digit has each value, of the four highest digits
//     quantile    of a key: the share of keys that are expected before it, of 2^32
//
// What a key's first digit is says where among all it stands, the next one where among those of its first digit,
// and so on, as an arithmetic coder has it:
//
//     before[first] + share[first] * (before[second] + share[second] * (...))
//
// The digits are taken to be independent of each other. If they are, whatever their values' shares, cells told by a
// quantile's bits have about equally many keys, and so have their bins. If not, cells are uneven, and those that
// are too large are refined. A greater key never has a lower quantile, so the result is right in either case.
//
// Not where the window does not begin at the highest bit (rooms.cuh).
#pragma once

#include "../last_block.cuh"
#include "../limits.cuh"
#include "sample.cuh"
#include "task.cuh"
#include "warp.cuh"

template <class Key>
struct Quantiles {
    // Not tried with others.
    static constexpr bool WORTH = sizeof(Key) == sizeof(u64);
    static constexpr u32 DIGITS = 4, DIGIT_BITS = 10, RADIX = 1 << DIGIT_BITS;
    // A table's words: a digit's values side by side. Each tells what is before it and its share, both of 2^16.
    static constexpr u32 WORDS = WORTH ? DIGITS * RADIX : 1;
    static constexpr u32 QUANTILE_BITS = 32;
    // Keys that may have all these digits as any key has. A bin has not so many of them that its cell is crowded.
    static constexpr float MOST_ALIKE = 8;

    __device__ static u32 digit(Key code, u32 nth) {
        return u32(code >> (8 * sizeof(Key) - DIGIT_BITS * (nth + 1))) % RADIX;
    }

    // Its bits from `shift` up; the others, too, with `shift` 0. What further digits would not change is not looked up.
    __device__ static u32 of(const u32* table, Key code, u32 shift) {
        // A key with these first digits has a quantile that begins here and is less than so much more.
        u32 begin = 0, share = 0;
#pragma unroll
        for (u32 nth = 0; nth < DIGITS; nth++) {
            u32 word = table[nth * RADIX + digit(code, nth)], before = word & 0xffff0000, own = word << 16;
            begin += nth == 0 ? before : __umulhi(share, before);
            share = nth == 0 ? own : __umulhi(share, own);
            if (nth > 0 && shift > 0 && (begin ^ begin + share) >> shift == 0) return begin;
        }
        // What is below the digits, as if it were spread evenly.
        constexpr u32 LEFT = 8 * sizeof(Key) - DIGIT_BITS * DIGITS;
        return begin + __umulhi(share, u32(code << (QUANTILE_BITS - LEFT)));
    }

    // A block's own table, of that of all. A barrier follows.
    __device__ static void load(u32* table, const u32* of_all) {
        for (u32 i = threadIdx.x; i < WORDS; i += blockDim.x) table[i] = of_all[i];
    }

    // From how often each value was seen, `all` together, to the table. By RADIX threads; barriers before and behind.
    template <class Seen>
    __device__ static void make(u32* table, u32 (&sums)[WARP], u32 all, Seen seen) {
        static_assert(RADIX == WARP * WARP, "a warp for each of the sums");
        // Of a sum: how many rare values are in it; below, how often the values were seen.
        constexpr u32 RARE_SHIFT = 22, SEEN = (1u << RARE_SHIFT) - 1;
        u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll 1
        for (u32 at = threadIdx.x; at < WORDS; at += RADIX) {
            u32 own = seen(at);
            // These get a share of their own. Without one, their keys and those of their like beside them would all
            // have one quantile.
            if (own > 0 && own < all >> 15) own += 1u << RARE_SHIFT;
            u32 sum = scan_of_warp(own);
            if (lane == WARP - 1) sums[warp] = sum;
            __syncthreads();
            u32 of_warp = sums[lane], end = sum_of_warp(lane < warp ? of_warp : 0) + sum;
            u32 rare = sum_of_warp(of_warp) >> RARE_SHIFT;
            float scale = (65536.0f - rare) / all;
            auto share = [=](u32 sum) { return min(u32((sum & SEEN) * scale) + (sum >> RARE_SHIFT), 0xffff); };
            u32 begin = share(end - own);
            table[at] = begin << 16 | (share(end) - begin);
            __syncthreads();
        }
    }
};

// The table of a task, made of a sample by all blocks of a launch.
template <class Key, u32 THREADS>
struct Learn {
    using Q = Quantiles<Key>;
    // Counters of each value, lest a warp's lanes meet in one.
    static constexpr u32 COPIES = SHARED_KB >= 99 ? 4 : 2;
    static_assert(THREADS == Q::RADIX, "a thread for each value");

    // In dynamic shared memory.
    struct Shared {
        u32 counters[Q::WORDS * COPIES];
        u32 sums[WARP];
    };

    __device__ static void run(const Task<Key>& task, void* memory, bool& last) {
        Shared& shared = *static_cast<Shared*>(memory);
        for (u32 i = threadIdx.x; i < Q::WORDS * COPIES; i += THREADS) shared.counters[i] = 0;
        __syncthreads();
        u32 copy = threadIdx.x % COPIES;
        Sample<Key, THREADS> sample(task);
        sample.each(task, [&](Key code) {
#pragma unroll
            for (u32 nth = 0; nth < Q::DIGITS; nth++)
                atomicAdd(&shared.counters[(nth * Q::RADIX + Q::digit(code, nth)) * COPIES + copy], 1);
        });
        __syncthreads();
        for (u32 i = threadIdx.x; i < Q::WORDS; i += THREADS) {
            u32 seen = 0;
#pragma unroll
            for (u32 j = 0; j < COPIES; j++) seen += shared.counters[i * COPIES + j];
            if (seen) atomicAdd(&task.counts[i], seen);
        }
        if (!last_block(task.choice->done, last)) return;
        Q::make(task.quantiles, shared.sums, sample.keys(), [&](u32 i) { return __ldcg(&task.counts[i]); });
        // From now on counts are those of cells.
        for (u32 i = threadIdx.x; i < Q::WORDS; i += THREADS) task.counts[i] = 0;
    }
};
