// The bitonic merge of pairs of runs: compare-exchanges at halving distances.
//
// A pair of runs is 2 * run places long, of which the array has the first `len`. It is laid out as
//
//     first run, guards, second run turned round
//
// The guards stand for what is missing, at the peak between the two, and are greater than all. They
// are not kept in memory: what each step does to them depends on `len` alone, and so does the place
// of every key in the array without them.
//
// Before the step at distance h every stretch of 2 * h places holds no guards, or guards alone, but
// one stretch, which begins with its guards. (In the first step the guards begin at the peak.) The
// step carries them to where the upper half begins, or leaves them there and fills the upper half;
// again one stretch, of h places, begins with its guards.
#pragma once

#include "keys.cuh"

// A key in a merge: compared by its bits in the range, then by its position. Where keys alone are
// compared, by all of their bits, there are no positions, and 0 stands for them.
struct Ranked {
    Key key;
    u32 position;
};

// Of two compared, the smaller to the left.
template <bool POSITIONS>
__device__ inline void compare_exchange(Ranked& low, Ranked& high, Key mask) {
    if (!POSITIONS) {
        Key smaller = min(low.key, high.key);
        high.key = max(low.key, high.key);
        low.key = smaller;
        return;
    }
    Key x = low.key & mask, y = high.key & mask;
    if (x > y || (x == y && low.position > high.position)) {
        Ranked other = low;
        low = high;
        high = other;
    }
}

// COUNT steps on 2^COUNT elements in registers, which stand at the distance of the last step.
template <u32 COUNT, bool POSITIONS>
__device__ inline void bitonic_steps(Ranked (&element)[1 << COUNT], Key mask) {
#pragma unroll
    for (u32 distance = 1 << (COUNT - 1); distance >= 1; distance /= 2)
#pragma unroll
        for (u32 i = 0; i < 1 << COUNT; i++)
            if (!(i & distance)) compare_exchange<POSITIONS>(element[i], element[i + distance], mask);
}

// The first of the elements that group `group` compares in COUNT steps, the last at distance `last`;
// the others follow, `last` apart.
template <u32 COUNT>
__device__ inline u32 first_of_group(u32 group, u32 last) {
    return ((group & ~(last - 1)) << COUNT) | (group & (last - 1));
}

// A pair of runs: where it begins in the array, and how much of it there is. 2 * run may be 2^32,
// which in a u32 is 0.
struct Pair {
    u32 start, len;

    // The pair that place `i` of the array belongs to.
    __device__ static Pair around(u32 i, u32 run, u32 n) {
        u32 start = i & ~(2 * run - 1);
        return {start, min(n - start - 1, 2 * run - 1) + 1};
    }
};

// Where the guards of a pair stand between two steps: in the stretch that begins at `mixed` the
// first ones, and all that is behind that stretch. A WHOLE pair has none.
template <bool WHOLE>
struct Layout {
    u32 len, mixed, guards;

    // Before the step at distance `stretch / 2`. Before the first step the guards are at the peak; a
    // run without partner has them behind it.
    __device__ static Layout before_step(Pair pair, u32 run, u32 stretch) {
        u32 len = pair.len, mixed = stretch == 2 * run ? run : (len - 1) & ~(stretch - 1);
        if (len <= run) return {len, len, 0};
        return {len, mixed, stretch == 2 * run ? stretch - len : mixed + stretch - len};
    }

    __device__ bool is_guard(u32 v) const {
        return !WHOLE && v >= mixed && (v - mixed < guards || v - guards >= len);
    }

    // Where what stands at place v lies in the array.
    __device__ u32 in_memory(u32 v) const { return WHOLE || v < mixed ? v : v - guards; }
};

// What stands at place v of a pair. Where the second run is still to be turned round, it is read
// backward from its end on.
template <bool POSITIONS, bool WHOLE>
__device__ inline Ranked read(
    const Key* keys, const u32* positions, Pair pair, Layout<WHOLE> layout, u32 v, u32 turned_from) {
    if (layout.is_guard(v)) return {~Key(0), POSITIONS ? ~0u : 0};
    u32 i = layout.in_memory(v);
    if (i >= turned_from) i = turned_from + pair.len - 1 - i;
    return {keys[pair.start + i], POSITIONS ? positions[pair.start + i] : 0};
}

template <bool POSITIONS, bool WHOLE>
__device__ inline void write(
    Ranked element, Key* keys, u32* positions, Pair pair, Layout<WHOLE> layout, u32 v) {
    if (layout.is_guard(v)) return;
    u32 i = pair.start + layout.in_memory(v);
    keys[i] = element.key;
    if (POSITIONS) positions[i] = element.position;
}
