// Ranking: each key's place among the tile's keys of its digit, in the order of the tile.
//
// A warp has a row of places, one for each digit: where its next key of that digit goes. In each step
// every lane has one key, and the warp's keys stand in the order of its lanes; steps follow one
// another.
#pragma once

#include "task.cuh"

__device__ inline u32 lanes_before(u32 lane) { return (1u << lane) - 1; }

// Each lane takes a place by itself. Which of a digit's lanes is served first is documented nowhere,
// though it has always been the lower one. So whoever ranks so checks the tile afterwards.
struct RankByAdd {
    __device__ static u32 place(u32* row, u32 digit) { return atomicAdd(&row[digit], 1); }
};

// Lanes that know which others have the same digit take their places in the order of the lanes; the
// last of them moves the row on, and does what else there is to do once.
template <class Once>
__device__ inline u32 place_among(u32 same, u32* row, u32 digit, Once once) {
    u32 lane = threadIdx.x % WARP;
    u32 place = row[digit];
    __syncwarp();
    if (same >> lane == 1) {
        row[digit] = place + __popc(same);
        once();
    }
    __syncwarp();
    return place + __popc(same & lanes_before(lane));
}

// The lanes of one digit are found by the hardware's own search: one turn for each digit value among
// the lanes. Slower than atomics, but documented.
struct RankByMatch {
    // All lanes take part.
    __device__ static u32 place(u32* row, u32 digit) {
        return place_among(__match_any_sync(ALL_LANES, digit), row, digit, [] {});
    }
};

// They are found by a mask of lanes in shared memory for each digit, zero before and after.
struct RankByMasks {
    __device__ static u32 place(u32* row, u32* masks, u32 digit) {
        atomicOr(&masks[digit], 1u << threadIdx.x % WARP);
        __syncwarp();
        return place_among(masks[digit], row, digit, [=] { masks[digit] = 0; });
    }
};

// Many lanes with one digit would wait for each other's atomics. So of one heavy digit a ballot tells the lanes that
// have it, and the warp itself keeps its next place. Or else all are matched: one ranker, for both would be much code.
template <class Ranker>
struct RankAround {
    const u32 heavy;
    u32 next;
    const bool matches;

    // All lanes take part.
    __device__ u32 place(u32* row, u32 digit) {
        if (matches) return RankByMatch::place(row, digit);
        bool is_heavy = digit == heavy;
        u32 lanes = __ballot_sync(ALL_LANES, is_heavy);
        u32 place = next + __popc(lanes & lanes_before(threadIdx.x % WARP));
        next += __popc(lanes);
        return is_heavy ? place : Ranker::place(row, digit);
    }
};
