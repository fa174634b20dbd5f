// What a sort of narrow keys is told and what it keeps: keys of 8 or 16 bits are counted, not moved.
//
//     tally    how many keys there are of each code, in one read (tally_8.cuh, tally_16.cuh)
//     expand   the result, written from these counts (expand.cuh)
//     alone    both, in one launch of one block (alone.cuh)
//
// Keys alone that are equal cannot be told apart, so the counts say everything. A cell is a code; a
// group is GROUP neighbouring cells.
//
// Shapes: counts CELLS; groups GROUPS, a group's number of keys; done one word. They begin as zeros,
// and expand leaves them as zeros.
#pragma once

#include "../codec.cuh"

template <class Key>
struct Task {
    static constexpr u32 CELLS = 1u << (8 * sizeof(Key));
    static constexpr u32 GROUP = 256, GROUPS = CELLS / GROUP;

    // They may be the same memory; both are aligned as a key is.
    const Key* source;
    Key* result;
    // Less than 2^40.
    u64 n;
    u64* counts;
    u64* groups;
    // Blocks of expand that have read what they need.
    u32* done;
    // Without ties.
    Codec<Key> codec;
};
