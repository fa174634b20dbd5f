// A small cell, sorted by some of a block's threads, while others sort others.
//
//     load      each key to a register
//     count     how many keys each bin has: what the next bits of the key say; a key learns its rank
//     scan      where each bin begins
//     place     each key to its bin
//     order     a key's place is how many keys of its bin come before it: bins have few keys
//
// There are up to twice as many bins as keys. Where keys crowd in a bin, nothing is written.
//
// Shared memory: sizeof(GroupShared<S>) a group.
#pragma once

#include "task.cuh"

// Each thread orders LANES keys at a time.
template <class Key_, u32 THREADS_, u32 ITEMS_, u32 LANES_>
struct GroupShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, LANES = LANES_;
    static constexpr u32 WARPS = THREADS / WARP;
    static constexpr u32 CAPACITY = THREADS * ITEMS;
    // Bins that a thread scans.
    static constexpr u32 EACH = 8, BINS = THREADS * EACH;
    static_assert((BINS & (BINS - 1)) == 0, "as many as some bits tell");
    // Keys of a bin that are compared with each other at most.
    static constexpr u32 CROWD = 32;
};

template <class S>
struct GroupShared {
    typename S::Key keys[S::CAPACITY];
    // Of each bin: how many keys; then where it begins; behind the last the number of keys.
    alignas(16) u32 bins[S::BINS + 4];
    u32 sums[S::WARPS];
};

// Of a thread's keys: how many of the same digit come before each. Less than 2^16.
template <u32 ITEMS>
struct RankPairs {
    u32 pairs[(ITEMS + 1) / 2];

    __device__ void set(u32 j, u32 rank) {
        pairs[j / 2] = j % 2 ? __byte_perm(pairs[j / 2], rank, 0x5410) : rank;
    }

    __device__ u32 operator[](u32 j) const { return j % 2 ? pairs[j / 2] >> 16 : pairs[j / 2] & 0xffff; }
};

template <class S>
struct Group {
    using Key = typename S::Key;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, EACH = S::EACH;

    GroupShared<S>& shared;
    const u32 group = threadIdx.x / THREADS, thread = threadIdx.x % THREADS;
    const u32 lane = threadIdx.x % WARP, warp = thread / WARP;
    u32 count, bits;
    Digit bin;
    Key key[ITEMS];
    RankPairs<ITEMS> rank;

    __device__ Group(GroupShared<S>& shared) : shared(shared) {}

    // Sorts by the lowest `bits` bits, in which alone the codes differ; CAPACITY keys at most. `from`
    // and `to` lie apart. All threads of the group come here. False if the keys crowd: then nothing
    // has been written.
    __device__ bool sort(const Key* from, Key* to, u32 count, u32 bits, const Codec<Key>& codec) {
        this->count = count;
        this->bits = bits;
        constexpr u32 MOST_BITS = 31 - __builtin_clz(S::BINS);
        u32 bin_bits = min(bits, min(MOST_BITS, max(5u, 33 - __clz(count))));
        bin = Digit{bits - bin_bits, (1u << bin_bits) - 1};
        load(from);
        clear();
        wait();
        count_bins();
        wait();
        if (!scan()) return false;
        place();
        wait();
        order(to, codec);
        wait();
        return true;
    }

    // For the group's threads.
    __device__ void wait() const {
        asm volatile("bar.sync %0, %1;" ::"r"(group), "r"(THREADS) : "memory");
    }

    // Keys of a bin are equal.
    __device__ bool exact() const { return bin.shift == 0; }

    __device__ void load(const Key* from) {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) key[j] = from[j * THREADS + thread];
        }
    }

    __device__ uint4* vectors() const { return reinterpret_cast<uint4*>(shared.bins); }

    __device__ void clear() {
        for (u32 i = thread; i <= bin.mask / 4; i += THREADS) vectors()[i] = uint4{0, 0, 0, 0};
    }

    __device__ void count_bins() {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) rank.set(j, atomicAdd(&shared.bins[bin.of(key[j])], 1));
        }
    }

    // Turns counts into begins; false if keys crowd. Each warp tells its sum and, in the lowest bit,
    // whether keys crowd in one of its bins.
    __device__ bool scan() {
        static_assert(EACH == 8, "two vectors");
        u32 own[EACH], sum = 0;
        bool any = thread * EACH <= bin.mask, crowd = false;
        if (any) {
            uint4 a = vectors()[2 * thread], b = vectors()[2 * thread + 1];
            own[0] = a.x, own[1] = a.y, own[2] = a.z, own[3] = a.w;
            own[4] = b.x, own[5] = b.y, own[6] = b.z, own[7] = b.w;
#pragma unroll
            for (u32 i = 0; i < EACH; i++) {
                sum += own[i];
                crowd |= own[i] > S::CROWD;
            }
        }
        u32 through = sum;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left = __shfl_up_sync(ALL_LANES, through, step);
            if (lane >= step) through += left;
        }
        crowd = __any_sync(ALL_LANES, crowd && !exact());
        if (lane == WARP - 1) shared.sums[warp] = through << 1 | crowd;
        wait();
        u32 begin = through - sum, crowds = 0;
#pragma unroll
        for (u32 w = 0; w < S::WARPS; w++) {
            u32 both = shared.sums[w];
            if (w < warp) begin += both >> 1;
            crowds |= both & 1;
        }
        if (crowds) return false;
        if (any) {
#pragma unroll
            for (u32 i = 0; i < EACH; i++) {
                u32 next = begin + own[i];
                own[i] = begin;
                begin = next;
            }
            vectors()[2 * thread] = uint4{own[0], own[1], own[2], own[3]};
            vectors()[2 * thread + 1] = uint4{own[4], own[5], own[6], own[7]};
        }
        wait();
        return true;
    }

    __device__ void place() {
        if (thread == 0) shared.bins[bin.mask + 1] = count;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) shared.keys[shared.bins[bin.of(key[j])] + rank[j]] = key[j];
        }
    }

    __device__ void order(Key* to, const Codec<Key>& codec) {
#pragma unroll S::LANES
        for (u32 slot = thread; slot < count; slot += THREADS) {
            Key own = shared.keys[slot];
            to[exact() ? slot : place_of(own, slot)] = codec.decode(own);
        }
    }

    // Of equal keys the one in the lower slot comes first.
    __device__ u32 place_of(Key own, u32 slot) const {
        u32 digit = bin.of(own), begin = shared.bins[digit], end = shared.bins[digit + 1], place = begin;
        for (u32 i = begin; i < end; i++) {
            Key other = shared.keys[i];
            place += other < own || (other == own && i < slot);
        }
        return place;
    }
};
