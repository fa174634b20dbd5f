// Decoupled look-back: how many keys of a digit stand in the tiles before.
//
// A tile's state for a digit is one word: what is published in the high two bits, the count in the
// other 30. One access reads or writes both, so they always belong together, and nothing else is
// handed over; relaxed accesses are enough.
#pragma once

#include "task.cuh"

constexpr u32 COUNT_BITS = 30;

enum State : u32 {
    EMPTY = 0,
    // The tile's own count.
    PARTIAL = 1u << COUNT_BITS,
    // The count of all tiles up to and with it.
    INCLUSIVE = 2u << COUNT_BITS,
};

constexpr u32 COUNT = PARTIAL - 1;

__device__ inline void publish(u32* state, State what, u32 count) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(state), "r"(what | count) : "memory");
}

__device__ inline u32 read_state(const u32* state) {
    u32 word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(state) : "memory");
    return word;
}

// The sum of a digit's counts over the `before` tiles before this one, nearest first, AHEAD of them
// read at a time. `state` is this tile's own; rows are RADIX apart.
template <u32 AHEAD>
__device__ inline u32 look_back(const u32* state, u32 before) {
    u32 sum = 0;
    while (before > 0) {
        u32 word[AHEAD];
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++)
            word[i] = i < before ? read_state(state - (i + 1) * RADIX) : u32(INCLUSIVE);
        bool go_on = true;
        u32 read = 0;
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) {
            go_on = go_on && word[i] >= PARTIAL;
            if (go_on) {
                sum += word[i] & COUNT;
                read++;
                if (word[i] >= INCLUSIVE) {
                    go_on = false;
                    before = read;
                }
            }
        }
        before -= read;
        state -= read * RADIX;
    }
    return sum;
}
