// Common keys: those that a dictionary has are counted, the others sorted, and both woven into the result.
//
//     probe      a larger sample; the keys that it has again and again are the dictionary (census.cuh)
//     count      how many of each there are; all other keys, the rest, to where the onesweep behind sorts
//                them (sift.cuh)
//     weave      the result: each common key as often as it was counted, between the others (weave.cuh)
//
// Few distinct keys are all common, and the rest is empty. Whatever the dictionary has, the result is right;
// only how long it takes depends on it.
//
// The dictionary holds keys as they are in SOURCE. It is a hash table of sets of two slots: a key stands in
// its set, or it is not in the dictionary.
#pragma once

#include "../limits.cuh"
#include "read.cuh"

template <class Key>
struct Dictionary {
    static constexpr u32 MOST_SLOT_BITS = SHARED_KB >= 227 ? 13 : SHARED_KB >= 163 ? 12 : SHARED_KB >= 99 ? 11 : 10;
    static constexpr u32 MOST_SLOTS = 1 << MOST_SLOT_BITS;
    // One more than there are keys, at most: beyond the last is one that no place comes after (weave.cuh).
    static constexpr u32 MOST = MOST_SLOTS / 4;
    static constexpr u32 LEAST_SLOT_BITS = 10;
    // Counters of all slots; the fewer slots, the more counters each has.
    static constexpr u32 COUNTER_BITS = SHARED_KB >= 227 && sizeof(Key) < 16 ? 15 : SHARED_KB >= 99 ? 14 : 13;

    // By slot. One that is free repeats the first key in order.
    Key keys[MOST_SLOTS];
    // Which one it is, in order.
    u16 numbers[MOST_SLOTS];
    // By number.
    Key in_order[MOST];
    u32 counts[MOST];
    u32 distinct, slot_bits;

    // As long as the longest, for the host.
    static constexpr u32 most_bytes() { return (1 << 13) * (sizeof(Key) + 2) + (1 << 11) * (sizeof(Key) + 4) + 16; }

    // Where a key stands; quick, for it is asked of every key.
    __device__ static u32 set_of(Key key, u32 slot_bits) {
        u32 mixed = u32(key) * 0x9e3779b1;
#pragma unroll
        for (u32 i = 1; i < sizeof(Key) / sizeof(u32); i++)
            mixed = (mixed ^ mixed >> 15 ^ u32(key >> (32 * i))) * 0x9e3779b1;
        return mixed >> (33 - slot_bits);
    }

    // All bits of a key decide about all bits.
    __device__ static u32 hash(Key key) {
        u32 mixed = u32(key);
#pragma unroll
        for (u32 i = 1; i < sizeof(Key) / sizeof(u32); i++)
            mixed = (mixed ^ mixed >> 15) * 0x9e3779b1 ^ u32(key >> (32 * i));
        mixed = (mixed ^ mixed >> 16) * 0x85ebca6b;
        mixed = (mixed ^ mixed >> 13) * 0xc2b2ae35;
        return mixed ^ mixed >> 16;
    }
};
