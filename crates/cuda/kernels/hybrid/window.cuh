// The window: which bits of the codes tell the cells, found from the bits that vary.
#pragma once

#include "task.cuh"
#include "warp.cuh"

// The bits that any thread's range has, in shared memory.
template <class Key>
struct BlockRange {
    static constexpr u32 WORDS = sizeof(Key) / sizeof(u32);
    u32 set[WORDS], clear[WORDS];

    // Before the first `add` there is a barrier.
    __device__ void zero() {
        if (threadIdx.x < WORDS) set[threadIdx.x] = clear[threadIdx.x] = 0;
    }

    // All lanes of a warp come here.
    __device__ void add(Range<Key> own) {
#pragma unroll
        for (u32 i = 0; i < WORDS; i++) {
            u32 is_set = or_of_warp(u32(own.set >> (32 * i))), is_clear = or_of_warp(u32(own.clear >> (32 * i)));
            if (threadIdx.x % WARP == 0) {
                atomicOr(&set[i], is_set);
                atomicOr(&clear[i], is_clear);
            }
        }
    }

    // After the last `add` there is a barrier.
    __device__ Range<Key> range() const {
        Range<Key> all = {};
#pragma unroll
        for (u32 i = 0; i < WORDS; i++) {
            all.set |= Key(set[i]) << (32 * i);
            all.clear |= Key(clear[i]) << (32 * i);
        }
        return all;
    }
};

// Its upper end is the highest bit that varies. Bits above are as in `prefix`.
template <class Key>
struct Window {
    Key prefix, above;
    u32 low;

    __device__ Window(Range<Key> range, u32 cell_bits) {
        Key varying = range.set & range.clear;
        u32 top = 0;
#pragma unroll
        for (u32 i = 0; i < sizeof(Key) / sizeof(u32); i++) {
            u32 word = u32(varying >> (32 * i));
            if (word) top = 32 * i + 32 - __clz(word);
        }
        low = top > cell_bits ? top - cell_bits : 0;
        u32 end = low + cell_bits;
        above = 0;
#pragma unroll
        for (u32 i = 0; i < sizeof(Key) / sizeof(u32); i++) {
            u32 word = end <= 32 * i ? ~0u : end >= 32 * i + 32 ? 0 : ~0u << end % 32;
            above |= Key(word) << (32 * i);
        }
        prefix = range.set & above;
    }
};
