// Ranking: each key's place among the tile's keys of its digit, in the order of the tile.
//
// A group of lanes (a warp, or half of one) has a row of places, one for each digit: where its next
// key of that digit goes. In each step every lane has one key, and the group's keys stand in the
// order of its lanes; steps follow one another.
#pragma once

#include "task.cuh"

__device__ inline u32 lanes_before(u32 lane) { return (1u << lane) - 1; }

// Lanes of one digit find each other, take their places in the order of the lanes, and the last one
// moves the row on. `Match` tells which lanes have the same digit.
template <class Match>
struct RankByMatch {
    static constexpr u32 GROUP = WARP;
    static constexpr bool CHECKED = false, MASKS = Match::MASKS;

    __device__ static u32 place(u32* row, u32* masks, u32 digit) {
        u32 lane = threadIdx.x % WARP;
        u32 same = Match::same(masks, digit);
        u32 place = row[digit];
        __syncwarp();
        if (same >> lane == 1) {
            row[digit] = place + __popc(same);
            if (MASKS) masks[digit] = 0;
        }
        __syncwarp();
        return place + __popc(same & lanes_before(lane));
    }
};

// The hardware's own search; one turn for each digit value among the lanes.
struct MatchAny {
    static constexpr bool MASKS = false;
    __device__ static u32 same(u32*, u32 digit) { return __match_any_sync(ALL_LANES, digit); }
};

// One vote for each bit.
struct MatchBallots {
    static constexpr bool MASKS = false;
    __device__ static u32 same(u32*, u32 digit) {
        u32 same = ALL_LANES;
#pragma unroll
        for (u32 bit = 0; bit < RADIX_BITS; bit++) {
            bool set = digit >> bit & 1;
            u32 votes = __ballot_sync(ALL_LANES, set);
            same &= set ? votes : ~votes;
        }
        return same;
    }
};

// A mask of lanes in shared memory for each digit.
struct MatchMasks {
    static constexpr bool MASKS = true;
    __device__ static u32 same(u32* masks, u32 digit) {
        atomicOr(&masks[digit], 1u << (threadIdx.x % WARP));
        __syncwarp();
        return masks[digit];
    }
};

// Half warps, whose masks share a word with the row's place: the lanes above, the place below.
struct RankByHalves {
    static constexpr u32 GROUP = WARP / 2;
    static constexpr bool CHECKED = false, MASKS = false;

    __device__ static u32 place(u32* row, u32*, u32 digit) {
        u32 lane = threadIdx.x % GROUP;
        atomicAdd(&row[digit], 1u << (GROUP + lane));
        __syncwarp();
        u32 word = row[digit], place = word & 0xffff, same = word >> GROUP;
        __syncwarp();
        if (same >> lane == 1) row[digit] = place + __popc(same);
        __syncwarp();
        return place + __popc(same & lanes_before(lane));
    }
};

// Each lane takes a place by itself. Which of a digit's lanes is served first is documented nowhere,
// though it has always been the lower one. So the tile is checked afterwards, and should it ever be
// out of order, it is ranked anew by matching.
struct RankByAdd {
    static constexpr u32 GROUP = WARP;
    static constexpr bool CHECKED = true, MASKS = false;

    __device__ static u32 place(u32* row, u32*, u32 digit) { return atomicAdd(&row[digit], 1); }
};
