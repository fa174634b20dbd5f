// What those kernels are told by which each key finds its place among all: ranked and ranked_out_of_place.
#pragma once

#include "../codec.cuh"

template <class Key>
struct RankedTask {
    const Key* keys_from;
    // Null: values are the keys' positions.
    const u32* values_from;
    // No keys are written to null. They may be the same memory as what is read.
    Key* keys_to;
    u32* values_to;
    Key* codes;
    // Words of a value or a position: 1, 2 or 4; 0 for none.
    u32 value_words;
    u32 n;
    // Keys that a block has for its own; keys that are compared with each other.
    u32 chunk, run;
    // The bits of a code that decide, when it is shifted.
    u32 shift;
    Key mask;
    // It may tie: keys are written as they were read.
    Codec<Key> codec;

    __device__ bool carries_index() const { return values_from == nullptr; }

    // Whether words are codes, and all bits decide.
    __device__ bool takes_words() const { return codec.identity && mask == Key(~Key(0)); }

    __device__ Key code(Key key) const { return shifted(codec.identity ? key : codec.encode(key), shift) & mask; }
};

// A key and what travels with it, in registers.
template <class Key>
struct RankedItem {
    static constexpr u32 MOST_VALUE_WORDS = 4;

    Key key;
    u32 value[MOST_VALUE_WORDS];

    __device__ void load(const RankedTask<Key>& task, u32 from) {
        key = task.keys_from[from];
        if (task.carries_index()) return;
#pragma unroll
        for (u32 w = 0; w < MOST_VALUE_WORDS; w++)
            if (w < task.value_words) value[w] = task.values_from[from * task.value_words + w];
    }

    // `from`: where it was.
    __device__ void store(const RankedTask<Key>& task, u32 from, u32 to) const {
        if (task.keys_to) task.keys_to[to] = key;
#pragma unroll
        for (u32 w = 0; w < MOST_VALUE_WORDS; w++) {
            u32 position = w == 0 ? from : 0;
            if (w < task.value_words)
                task.values_to[to * task.value_words + w] = task.carries_index() ? position : value[w];
        }
    }
};
