// What hardware might do that serves lanes in another order: for the proof that such a tile is found
// and ranked again.
#pragma once

#include "rank.cuh"

struct RankDisordered {
    // The upper half of the lanes is served first.
    __device__ static u32 place(u32* row, u32 digit) {
        u32 lane = threadIdx.x % WARP, place = 0;
        if (lane >= WARP / 2) place = atomicAdd(&row[digit], 1);
        asm volatile("" ::: "memory");
        if (lane < WARP / 2) place = atomicAdd(&row[digit], 1);
        return place;
    }
};
