// What a sort of narrow keys is told and what it keeps: keys of 8 or 16 bits are counted, not moved.
//
//     tally    how many keys there are of each code, in one read (tally_8.cuh, tally_16.cuh)
//     expand   the result, written from these counts (expand.cuh)
//     alone    both, in one launch of one block: few 8-bit keys (alone_8.cuh)
//
// Keys alone that are equal cannot be told apart, so the counts say everything. A cell is a code; a
// group is GROUP neighbouring cells.
//
// Shapes: counts CELLS; groups and taken GROUPS; done one word. They begin as zeros, and expand leaves
// them as zeros.
#pragma once

#include "../codec.cuh"

// Threads of a multiprocessor.
#if __CUDA_ARCH__ == 750
constexpr u32 MOST_THREADS = 1024;
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
constexpr u32 MOST_THREADS = 1536;
#else
constexpr u32 MOST_THREADS = 2048;
#endif

template <class Key>
struct Task {
    static constexpr u32 CELLS = 1u << (8 * sizeof(Key));
    static constexpr u32 GROUP = 256, GROUPS = CELLS / GROUP;

    // They may be the same memory; both are aligned as a key is.
    const Key* source;
    Key* result;
    // Less than 2^40.
    u64 n;
    // Keys of each cell, and of each group; of a single group nobody asks.
    u64* counts;
    u64* groups;
    // Keys of each group whose writers have read its counts.
    u64* taken;
    // Blocks of expand that have read groups.
    u32* done;
    // Without ties.
    Codec<Key> codec;
};
