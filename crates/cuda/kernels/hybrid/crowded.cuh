// A crowded cell of distinct keys: what is left of codes, and below it their places, in PLACE_BITS bits.
//
//     in order?   then that is all: so are equal codes
//     pass        stably by a digit, the lower first: the highest bits in which codes differ
//     merge       in the few cells that are not in order then
//
// In a pass each warp has a bin of its own for each value of the digit. They are scanned value by value,
// so keys of one value go where the warps before have left off.
#pragma once

#include "local.cuh"

constexpr u32 PLACE_BITS = 13;

template <class S>
struct Crowded {
    using Key = typename S::Key;
    using Keys = Local<S>;
    static constexpr u32 LOADS = S::LOADS, WARPS = S::WARPS;
    static constexpr u32 DIGIT_BITS =
        S::BIN_BITS - (WARPS <= 4 ? 2 : WARPS <= 8 ? 3 : WARPS <= 16 ? 4 : 5);
    static constexpr u32 MOST_PASSES = 3;

    LocalShared<S>& shared;
    Keys keys;
    // Keys of a thread, and where the first is. A warp's keys stand together, neighbours in neighbouring
    // lanes.
    u32 each, first;

    __device__ Crowded(LocalShared<S>& shared, u32 count) : shared(shared), keys(shared) {
        keys.count = count;
        keys.bin = Digit{0, S::BINS - 1};
        each = (count + S::THREADS - 1) / S::THREADS;
        first = keys.warp * each * WARP + keys.lane;
    }

    // The keys stand in shared memory as they came. A function of its own, lest it take registers of all
    // else.
    __device__ __noinline__ static void sort(LocalShared<S>& shared, u32 count) {
        Crowded own(shared, count);
        __syncthreads();
        if (own.in_order()) return;
        u32 end = own.varying_end(), begin = own.varying_begin();
        if (end > begin + MOST_PASSES * DIGIT_BITS) begin = end - MOST_PASSES * DIGIT_BITS;
        for (; begin < end; begin += DIGIT_BITS) own.pass(Digit{begin, (1u << DIGIT_BITS) - 1});
        own.keys.merge();
    }

    __device__ bool in_order() const {
        bool holds = true;
        for (u32 at = keys.thread + 1; at < keys.count; at += S::THREADS)
            holds &= !(shared.keys[at] < shared.keys[at - 1]);
        return __syncthreads_and(holds);
    }

    // One more than the highest bit in which not all keys are as the first one.
    __device__ u32 varying_end() {
        Key key[LOADS];
        const Key* own = shared.keys + keys.thread;
        keys.load(key, [=](u32 i) { return own[i]; });
        return keys.varying_bits(key, shared.keys[0]);
    }

    // After varying_end: the lowest such bit above the places.
    __device__ u32 varying_begin() const {
        u32 begin = 0;
#pragma unroll
        for (u32 w = sizeof(Key) / sizeof(u32); w-- > 0;) {
            u32 word = shared.varying[w] & (w == 0 ? ~0u << PLACE_BITS : ~0u);
            if (word) begin = 32 * w + __ffs(word) - 1;
        }
        return begin;
    }

    __device__ void pass(Digit digit) {
        Key key[LOADS];
        keys.each_group([](uint4& bins, u32) { bins = uint4{0, 0, 0, 0}; });
        for_each([&](u32 j, bool own) {
            if (own) key[j] = shared.keys[first + j * WARP];
        });
        __syncthreads();
        for_each([&](u32 j, bool own) {
            if (own) atomicAdd(&shared.bins[digit.of(key[j]) * WARPS + keys.warp], 1);
        });
        __syncthreads();
        keys.scan();
        for_each([&](u32 j, bool own) {
            u32 bin = own ? digit.of(key[j]) * WARPS + keys.warp : ~0u;
            u32 same = __match_any_sync(ALL_LANES, bin), leader = __ffs(same) - 1, slot = 0;
            if (own && keys.lane == leader) slot = atomicAdd(&shared.bins[bin], __popc(same));
            slot = __shfl_sync(ALL_LANES, slot, leader) + __popc(same & ((1u << keys.lane) - 1));
            if (own) shared.keys[slot] = key[j];
        });
        __syncthreads();
    }

    template <class Act>
    __device__ void for_each(Act act) const {
#pragma unroll
        for (u32 j = 0; j < LOADS; j++)
            if (j < each) act(j, first + j * WARP < keys.count);
    }
};
