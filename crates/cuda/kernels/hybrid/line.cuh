// A warp's keys in registers, ordered by exchanging neighbours.
#pragma once

#include "../words.cuh"

// What the lane below has; the lowest gets 0.
template <class T>
__device__ inline T from_lane_below(T value) {
    T result = 0;
#pragma unroll
    for (u32 w = 0; w < sizeof(T) / 4; w++)
        result |= T(__shfl_up_sync(ALL_LANES, u32(value >> (32 * w)), 1)) << (32 * w);
    return threadIdx.x % WARP == 0 ? T(0) : result;
}

// What the lane above has; the highest gets the greatest.
template <class T>
__device__ inline T from_lane_above(T value) {
    T result = 0;
#pragma unroll
    for (u32 w = 0; w < sizeof(T) / 4; w++)
        result |= T(__shfl_down_sync(ALL_LANES, u32(value >> (32 * w)), 1)) << (32 * w);
    return threadIdx.x % WARP == WARP - 1 ? T(~T(0)) : result;
}

template <class T>
__device__ inline void exchange(T& low, T& high) {
    if constexpr (sizeof(T) == 4) {
        T least = min(low, high);
        high = max(low, high);
        low = least;
    } else {
        bool swap = high < low;
        T least = swap ? high : low;
        high = swap ? low : high;
        low = least;
    }
}

// N neighbouring values a lane, those of a warp one after the other.
template <class T, u32 N>
struct Line {
    static_assert(N % 2 == 0, "rounds exchange pairs");
    T at[N];

    __device__ void even_round() {
#pragma unroll
        for (u32 i = 0; i < N; i += 2) exchange(at[i], at[i + 1]);
    }

    // Within the lane.
    __device__ void inner_odd_round() {
#pragma unroll
        for (u32 i = 1; i + 1 < N; i += 2) exchange(at[i], at[i + 1]);
    }

    __device__ void odd_round() {
        T below = from_lane_below(at[N - 1]), above = from_lane_above(at[0]);
        inner_odd_round();
        exchange(below, at[0]);
        exchange(at[N - 1], above);
    }

    __device__ bool ordered() const {
        bool holds = !(at[0] < from_lane_below(at[N - 1]));
#pragma unroll
        for (u32 i = 0; i + 1 < N; i++) holds &= !(at[i + 1] < at[i]);
        return __all_sync(ALL_LANES, holds);
    }

    // So many rounds are enough; often fewer are.
    __device__ void order(u32 rounds) {
        constexpr u32 BEFORE_A_LOOK = 6;
        for (u32 round = 0; round < rounds; round += 2) {
            if (round >= BEFORE_A_LOOK && ordered()) break;
            even_round();
            odd_round();
        }
    }

    // The lane's first `n` by themselves; those behind become the greatest.
    __device__ void order_own(u32 n) {
#pragma unroll
        for (u32 i = 0; i < N; i++)
            if (i >= n) at[i] = ~T(0);
#pragma unroll 1
        for (u32 round = 0; round < n; round += 2) {
            even_round();
            inner_odd_round();
        }
    }

    // The lane's by themselves, where they rise and fall once at most, wherever they begin to.
    __device__ void order_halves() {
#pragma unroll
        for (u32 apart = N / 2; apart > 0; apart /= 2)
#pragma unroll
            for (u32 i = 0; i < N; i++)
                if (!(i & apart)) exchange(at[i], at[i | apart]);
    }
};

// Of two runs, one behind the other, `at(i)` is the i-th: the `own` ones from place `first` on, when they
// are merged.
template <class T, u32 N, class At>
__device__ inline void merge_runs(T (&to)[N], u32 own, At at, u32 left, u32 right, u32 first) {
    if (right == 0 || !(at(left) < at(left - 1))) return;
    // How many of those before `first` are of the left run.
    u32 low = first > right ? first - right : 0, high = min(first, left);
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (at(left + first - middle - 1) < at(middle))
            high = middle;
        else
            low = middle + 1;
    }
    u32 a = low, b = left + first - low, end = left + right;
    T from_left = at(a), from_right = at(b);
#pragma unroll
    for (u32 i = 0; i < N; i++) {
        if (i >= own) break;
        bool take_left = b >= end || (a < left && !(from_right < from_left));
        to[i] = take_left ? from_left : from_right;
        T next = at(take_left ? ++a : ++b);
        from_left = take_left ? next : from_left;
        from_right = take_left ? from_right : next;
    }
}
