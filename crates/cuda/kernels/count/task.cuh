// What a sort of narrow keys is told and what it keeps: keys of 8 or 16 bits are counted, not moved.
//
//     tally     how many keys of each word a block has, in one read (tally_8.cuh, tally_16.cuh)
//     lay_out   these together: where the cells of each group end (lay_out.cuh)
//     expand    the result, written from that (expand.cuh)
//     alone     all in one launch of one block: few 8-bit keys (count.cu)
//
// Keys alone that are equal cannot be told apart, so the counts say everything. A cell is a code; a
// group is GROUP neighbouring cells. Nothing is expected of the workspace's memory, and no word of it
// is added to by two blocks.
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
    // Less than 2^40, and less than 2^32 for each block of tally.
    u64 n;
    // Blocks of tally that divide the keys among them, and shares of the result, less than 2^20.
    u32 readers, shares;
    // Shares that each group has, or 0: then they are equal in work wherever the keys are. Of a single
    // group all.
    u32 parts;
    // readers x CELLS, of 4 bytes for 8-bit keys (in the order of the codes), of 2 bytes for 16-bit keys
    // (in the order of the slots).
    void* tallies;
    // 16-bit keys: counters that were full, blocks of tally x spill_room slots, and how many there are
    // of each block. A block has room for n / readers / 2^15 + 3.
    u16* spills;
    u32* spilled;
    u32 spill_room;
    // GROUPS: keys of each group.
    u64* groups;
    // CELLS; of each group the cells that have keys: where they end in the group, and their words.
    // Behind the last one the ends are ~0.
    u64* ends;
    Key* words;
    // Without ties.
    Codec<Key> codec;
};
