// The window: which bits of the codes tell the cells, found from the least and the greatest code.
#pragma once

#include "task.cuh"
#include "warp.cuh"

template <class Key>
__device__ inline Key greatest_of_warp(Key own) {
    Key greatest = 0;
    bool among = true;
#pragma unroll
    for (u32 i = sizeof(Key) / sizeof(u32); i-- > 0;) {
        u32 word = u32(own >> (32 * i)), most = max_of_warp(among ? word : 0);
        among = among && word == most;
        greatest |= Key(most) << (32 * i);
    }
    return greatest;
}

template <class Key>
__device__ inline Range<Key> range_of_warp(Range<Key> own) {
    return {Key(~greatest_of_warp(Key(~own.least))), greatest_of_warp(own.greatest)};
}

// What the warps of a block of THREADS have, in shared memory.
template <class Key, u32 THREADS>
struct BlockRange {
    static constexpr u32 WARPS = THREADS / WARP;
    static_assert(WARPS <= WARP, "one warp has them all");
    Range<Key> warps[WARPS];

    // Every thread its own.
    __device__ void put(Range<Key> own) {
        own = range_of_warp(own);
        if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = own;
    }

    // Of all threads, after a barrier. All lanes of a warp come here.
    __device__ Range<Key> of_block() const {
        u32 lane = threadIdx.x % WARP;
        return range_of_warp(lane < WARPS ? warps[lane] : Range<Key>::none());
    }
};

// Its upper end is the highest bit that varies in codes less base. Bits above are as in `prefix`.
//
// Codes may vary in more bits than their distance has, where a multiple of a power of two lies between
// them. Then a base is subtracted that brings them into the middle of a window of so many bits: what is
// but a sample has room on both sides. As the multiple is one of the window's length, and in the window,
// this neither begins below 0 nor ends above the greatest code there is.
template <class Key>
struct Window {
    Key base, prefix, above;
    u32 low;

    __device__ Window(Range<Key> range, u32 cell_bits) : base(0) {
        Key span = range.greatest - range.least;
        u32 bits = max(bits_of(span), cell_bits), varying = bits_of(range.greatest ^ range.least);
        if (bits < varying)
            base = range.least - Key(Key(~from(bits)) - span) / 2;
        else
            bits = max(varying, cell_bits);
        low = bits - cell_bits;
        above = from(bits);
        prefix = Key(range.least - base) & above;
    }

    // Where nothing is subtracted.
    __device__ static Window without_base(Range<Key> range, u32 cell_bits) {
        Window window({0, Key(range.greatest ^ range.least)}, cell_bits);
        window.prefix = range.least & window.above;
        return window;
    }

    // Whether it begins at the codes' highest bit: then no code lies outside.
    __device__ bool is_highest(const Task<Key>& task) const {
        return base == 0 && low + task.cell_bits() == task.key_bits;
    }

    __device__ bool has(Key code) const { return ((Key(code - base) ^ prefix) & above) == 0; }

    // The highest bit that is set, and one more; 0 if none is.
    __device__ static u32 bits_of(Key code) {
        u32 bits = 0;
#pragma unroll
        for (u32 i = 0; i < sizeof(Key) / sizeof(u32); i++) {
            u32 word = u32(code >> (32 * i));
            if (word) bits = 32 * i + 32 - __clz(word);
        }
        return bits;
    }

    // All bits from this one up.
    __device__ static Key from(u32 bit) {
        Key all = 0;
#pragma unroll
        for (u32 i = 0; i < sizeof(Key) / sizeof(u32); i++) {
            u32 word = bit <= 32 * i ? ~0u : bit >= 32 * i + 32 ? 0 : ~0u << bit % 32;
            all |= Key(word) << (32 * i);
        }
        return all;
    }
};
