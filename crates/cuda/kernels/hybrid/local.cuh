// A cell, sorted in shared memory: keys that agree in all bits from `bits` up.
//
//     load        each key to a register
//     count       how many keys each bin has: what the next bits of the key say
//     scan        where each bin begins
//     claim       each key to a slot of its bin
//     order       each warp its own bins, in registers: neighbours are exchanged until all stand in
//                 order, which takes as many rounds as the largest bin has keys
//     store       each warp its own keys
//
// Keys wider than a word are ordered by words: their next WORD_KEY_BITS bits and their slot, from which
// the key is fetched in the end. Where these bits tie, the keys themselves are ordered.
//
// A cell with a bin too large for that is crowded: lanes whose keys have one bin claim their slots
// together; if the keys do not stand in order then, as equal ones do, the block merges sorted runs.
#pragma once

#include "task.cuh"

// Of a word, from above: a bit that no key has, the key's bits, the slot's lowest.
constexpr u32 WORD_SLOT_BITS = 6, WORD_KEY_BITS = 31 - WORD_SLOT_BITS;
// Keys of a bin that neighbours' exchange orders: no key moves as far as that.
constexpr u32 MOST_OF_A_BIN = 1 << (WORD_SLOT_BITS - 1);

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

    // From the n-th on.
    __device__ void fill(u32 n, T value) {
#pragma unroll
        for (u32 i = 0; i < N; i++)
            if (i >= n) at[i] = value;
    }

    __device__ void even_round() {
#pragma unroll
        for (u32 i = 0; i < N; i += 2) exchange(at[i], at[i + 1]);
    }

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
};

// Two neighbours, read and written at once where they are no more than 16 bytes.
template <class T>
struct alignas(sizeof(T) <= 8 ? 2 * sizeof(T) : sizeof(T)) Two {
    T first, second;
};

template <bool FIRST, class A, class B>
struct Choose {
    using Type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
    using Type = B;
};

// Brings keys into the L2 cache.
template <class Key>
__device__ inline void prefetch(const Key* begin, const Key* end, u32 threads) {
    constexpr u32 LINE = 128 / sizeof(Key);
#pragma unroll 1
    for (const Key* line = begin + threadIdx.x * LINE; line < end; line += threads * LINE)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
}

// CAPACITY: keys of the largest cell.
template <class Key_, u32 THREADS_, u32 ITEMS_, u32 CAPACITY_, u32 BIN_BITS_, u32 BLOCKS_, bool RANKS_ = false, u32 BATCH_ = 6, bool PREFETCH_ = false, bool WORDS_ = true>
struct LocalShape {
    using Key = Key_;
    // ITEMS: slots that a lane orders.
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, CAPACITY = CAPACITY_;
    static constexpr u32 BIN_BITS = BIN_BITS_, BLOCKS = BLOCKS_;
    static constexpr bool WORDS = WORDS_ && sizeof(Key) > sizeof(u32);
    static constexpr bool RANKS = RANKS_;
    static constexpr u32 BATCH = BATCH_;
    static constexpr bool PREFETCH = PREFETCH_;
    static constexpr u32 WARPS = THREADS / WARP, BINS = 1 << BIN_BITS, LINE = WARP * ITEMS;
    static constexpr u32 LOADS = (CAPACITY + THREADS - 1) / THREADS;
    // A warp's share of the slots; its line is longer, since a bin may go beyond.
    static constexpr u32 SHARE = (CAPACITY + WARPS - 1) / WARPS;
    // The last warp reads a whole line.
    static constexpr u32 SLOTS_READ = (WARPS - 1) * SHARE + LINE;
    // Two keys at a time: then all lanes' are in different banks.
    static_assert(ITEMS % 4 == 2, "no conflicts");
    static_assert(SHARE + 12 <= LINE, "the bins of evenly spread keys fit");
};

template <class S>
struct LocalShared {
    alignas(16) typename S::Key keys[S::SLOTS_READ];
    union {
        // Keys of each bin; then where its next key goes.
        alignas(16) u32 bins[S::BINS];
        // From which slot each place's key is fetched.
        u16 fetch[S::WORDS ? S::SLOTS_READ : 1];
    };
    // Of the scan.
    u64 sums[S::WARPS];
    u32 largest[S::WARPS];
    u32 varying[sizeof(typename S::Key) / sizeof(u32)];
    u32 bin_shift;
};

// N numbers below 256.
template <u32 N>
struct PackedRanks {
    u32 words[(N + 3) / 4];
    __device__ void put(u32 i, u32 rank) {
        u32 shifted = rank << (i % 4 * 8);
        words[i / 4] = i % 4 == 0 ? shifted : words[i / 4] + shifted;
    }
    __device__ u32 get(u32 i) const { return words[i / 4] >> (i % 4 * 8) & 255; }
};

#ifdef PHASES
__device__ u64 phases[16];
#define PHASE(i) do { if (threadIdx.x == 0) { u64 now_; asm volatile("mov.u64 %0, %%clock64;" : "=l"(now_) :: "memory"); atomicAdd(&phases[i], now_ - clock_before); clock_before = now_; } } while (0)
#else
#define PHASE(i)
#endif

template <class S>
struct Local {
#ifdef PHASES
    u64 clock_before = 0;
#endif
    using Ranks = PackedRanks<S::LOADS>;
    using Key = typename S::Key;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, WARPS = S::WARPS;
    static constexpr u32 LOADS = S::LOADS;
    // Bins that are read at once.
    static constexpr u32 GROUP = 4;
    // Groups of a thread.
    static constexpr u32 STRETCHES = (S::BINS / GROUP + THREADS - 1) / THREADS;
    // Keys of a thread that are on their way at once.
    static constexpr u32 BATCH = S::BATCH;

    LocalShared<S>& shared;
    const u32 thread = threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    u32 count, bits;
    Digit bin;
    // The slots that are the warp's; before that, how many a warp has if bins are not kept whole.
    u32 begin, end, share;

    __device__ Local(LocalShared<S>& shared) : shared(shared) {}

    // Sorts codes by their lowest `bits` bits, in which alone they differ, and decodes them. `from` and
    // `to` may be the same memory. All threads of the block come here; again after a barrier.
    __device__ void sort(const Key* from, Key* to, u32 count, u32 bits, const Codec<Key>& codec) {
        PHASE(0);
        this->count = count;
        Key key[LOADS];
        load(key, from, [](Key code) { return code; });
        sort(key, to, bits, codec);
    }

    // Sorts a whole input.
    __device__ void sort_words(const Key* from, Key* to, u32 count, const Codec<Key>& codec) {
        this->count = count;
        Key key[LOADS];
        auto encode = [&](Key word) { return codec.identity ? word : codec.encode(word); };
        load(key, from, encode);
        sort(key, to, varying_bits(key, encode(from[0])), codec);
    }

    __device__ void sort(const Key (&key)[LOADS], Key* to, u32 bits, const Codec<Key>& codec) {
        PHASE(1);
        Ranks ranks;
        u32 largest = lay_out_bins(key, bits, ranks);
        PHASE(4);
        bool fetched = false;
        if (crowded(largest)) {
            put(key);
            sort_crowded(shared, count);
        } else {
            claim(key, ranks);
            __syncthreads();
            PHASE(5);
            if (bin.shift > 0) fetched = order(largest);
        }
        __syncwarp();
        PHASE(6);
        if (codec.identity)
            store(to, fetched, [](Key code) { return code; });
        else
            store(to, fetched, [&](Key code) { return codec.decode(code); });
        PHASE(7);
    }

    // As they came.
    __device__ void put(const Key (&key)[LOADS]) {
        u32 own = again(thread);
#pragma unroll
        for (u32 j = 0; j < LOADS; j++)
            if (int(j * THREADS) < int(count - own)) shared.keys[j * THREADS + own] = key[j];
    }

    // Bins by what varies; then merging, if need be. From shared memory to there, and apart from all
    // else, whose registers it would take.
    __device__ __noinline__ static void sort_crowded(LocalShared<S>& shared, u32 count) {
        Local own(shared);
        own.count = count;
        __syncthreads();
        Key key[LOADS];
        own.load(key, shared.keys, [](Key code) { return code; });
        u32 bits = own.varying_bits(key, shared.keys[0]);
        if (bits == 0) return;
        Ranks ranks;
        own.lay_out_bins(key, bits, ranks);
        own.claim_together(key);
        __syncthreads();
        if (own.bin.shift > 0) own.merge();
    }

    // Too full for warps to order bins by themselves.
    __device__ bool crowded(u32 largest) const {
        return largest > MOST_OF_A_BIN || (bin.shift > 0 && share + largest + 2 > S::LINE);
    }

    // Where each bin begins; tells the largest bin's keys.
    __device__ u32 lay_out_bins(const Key (&key)[LOADS], u32 bits, Ranks& ranks) {
        this->bits = bits;
        u32 bin_bits = min(bits, min(S::BIN_BITS, 32 - __clz(count)));
        bin = Digit{bits - bin_bits, (1u << bin_bits) - 1};
        share = (count + WARPS - 1) / WARPS;
        begin = min(count, warp * share);
        end = min(count, begin + share);
        if (thread == 0) shared.bin_shift = bin.shift;
        uint4* groups = reinterpret_cast<uint4*>(shared.bins);
#pragma unroll
        for (u32 s = 0; s < STRETCHES; s++)
            if (s * THREADS + thread <= bin.mask / GROUP) groups[s * THREADS + thread] = uint4{0, 0, 0, 0};
        __syncthreads();
        PHASE(2);
        count_bins(key, ranks);
        __syncthreads();
        PHASE(3);
        return scan();
    }

    // The highest bit in which not all keys are as the first one, and one more. Two barriers.
    __device__ u32 varying_bits(const Key (&key)[LOADS], Key first) {
        constexpr u32 WORDS_OF_KEY = sizeof(Key) / sizeof(u32);
        if (thread < WORDS_OF_KEY) shared.varying[thread] = 0;
        Key varying = 0;
#pragma unroll
        for (u32 j = 0; j < LOADS; j++)
            if (mine(j)) varying |= key[j] ^ first;
        __syncthreads();
#pragma unroll
        for (u32 w = 0; w < WORDS_OF_KEY; w++) {
            u32 word = or_of_lanes(u32(varying >> (32 * w)));
            if (lane == 0 && word) atomicOr(&shared.varying[w], word);
        }
        __syncthreads();
        u32 bits = 0;
#pragma unroll
        for (u32 w = 0; w < WORDS_OF_KEY; w++)
            if (shared.varying[w]) bits = 32 * (w + 1) - __clz(shared.varying[w]);
        return bits;
    }

    __device__ static u32 or_of_lanes(u32 own) {
#if __CUDA_ARCH__ >= 800
        return __reduce_or_sync(ALL_LANES, own);
#else
#pragma unroll
        for (u32 step = WARP / 2; step > 0; step /= 2) own |= __shfl_xor_sync(ALL_LANES, own, step);
        return own;
#endif
    }

    // Whether the thread has a j-th key.
    __device__ bool mine(u32 j) const { return int(j * THREADS) < int(count - thread); }

    // The same, but what was computed from it is computed again, lest it be kept.
    __device__ static u32 again(u32 value) {
        asm volatile("" : "+r"(value));
        return value;
    }

    // Keys in batches: `work(first, has)` for those from `first` on; `has(j)` tells whether the thread
    // has the j-th. An atomic under a condition is a branch, so where all lanes have all keys of the
    // batch, there is none.
    template <class Work>
    __device__ void batches(Work work) const {
        u32 own = again(thread);
        int left = int(count - own), left_of_last = int(count - (own | (WARP - 1)));
#pragma unroll
        for (u32 first = 0; first < LOADS; first += BATCH) {
            if (first + BATCH <= LOADS && int((first + BATCH - 1) * THREADS) < left_of_last)
                work(first, [](u32) { return true; });
            else
                work(first, [=](u32 j) { return int(j * THREADS) < left; });
        }
    }

    template <class Encode>
    __device__ void load(Key (&key)[LOADS], const Key* from, Encode encode) {
        const Key* own = from + thread;
        batches([&](u32 first, auto has) {
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u32 j = first + k;
                if (j < LOADS && has(j)) key[j] = encode(own[j * THREADS]);
            }
        });
    }

    __device__ void count_bins(const Key (&key)[LOADS], Ranks& ranks) {
        batches([&](u32 first, auto has) {
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u32 j = first + k;
                if (j < LOADS && has(j)) {
                    u32 rank = atomicAdd(&shared.bins[bin.of(key[j])], 1);
                    if constexpr (S::RANKS) ranks.put(j, rank);
                }
            }
        });
    }

    // Counts become begins; tells the largest count. A thread scans a group of bins in each stretch of
    // the bins; the sums of its groups are scanned at once, 16 bits each.
    __device__ u32 scan() {
        static_assert(STRETCHES <= 4 && S::CAPACITY < 1 << 16, "sums fit");
        using Sums = typename Choose<STRETCHES <= 2, u32, u64>::Type;
        uint4* groups = reinterpret_cast<uint4*>(shared.bins);
        uint4 own[STRETCHES];
        Sums sums = 0;
        u32 largest = 0;
#pragma unroll
        for (u32 s = 0; s < STRETCHES; s++) {
            u32 group = s * THREADS + thread;
            own[s] = group <= bin.mask / GROUP ? groups[group] : uint4{0, 0, 0, 0};
            sums |= Sums(own[s].x + own[s].y + own[s].z + own[s].w) << (16 * s);
            largest = max(largest, max(max(own[s].x, own[s].y), max(own[s].z, own[s].w)));
        }
        Sums before = sums;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            Sums left = __shfl_up_sync(ALL_LANES, before, step);
            if (lane >= step) before += left;
        }
        largest = max_of_lanes(largest);
        if (lane == WARP - 1) {
            shared.sums[warp] = before;
            shared.largest[warp] = largest;
        }
        __syncthreads();
        // Each warp scans the warps' sums.
        static_assert(WARPS <= WARP, "a lane for each warp");
        Sums upto = lane < WARPS ? Sums(shared.sums[lane]) : 0;
#pragma unroll
        for (u32 step = 1; step < WARPS; step *= 2) {
            Sums left = __shfl_up_sync(ALL_LANES, upto, step);
            if (lane >= step) upto += left;
        }
        Sums all = __shfl_sync(ALL_LANES, upto, WARPS - 1);
        upto = __shfl_sync(ALL_LANES, upto, warp == 0 ? 0 : warp - 1);
        before += (warp == 0 ? 0 : upto) - sums;
        largest = max_of_lanes(lane < WARPS ? shared.largest[lane] : 0);
        u32 stretches_before = 0;
#pragma unroll
        for (u32 s = 0; s < STRETCHES; s++) {
            u32 group = s * THREADS + thread;
            u32 x = stretches_before + u32(before >> (16 * s)) % (1 << 16);
            u32 y = x + own[s].x, z = y + own[s].y, w = z + own[s].z;
            if (group <= bin.mask / GROUP) groups[group] = uint4{x, y, z, w};
            stretches_before += u32(all >> (16 * s)) % (1 << 16);
        }
        __syncthreads();
        return largest;
    }

    __device__ static u32 max_of_lanes(u32 own) {
#if __CUDA_ARCH__ >= 800
        return __reduce_max_sync(ALL_LANES, own);
#else
#pragma unroll
        for (u32 step = WARP / 2; step > 0; step /= 2) own = max(own, __shfl_xor_sync(ALL_LANES, own, step));
        return own;
#endif
    }

    __device__ void claim(const Key (&key)[LOADS], const Ranks& ranks) {
        // Read again, lest the digits of all keys be kept.
        Digit bin = {*static_cast<volatile u32*>(&shared.bin_shift), this->bin.mask};
        batches([&](u32 first, auto has) {
            u32 slot[BATCH];
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u32 j = first + k;
                if (j < LOADS && has(j)) {
                    u32* next = &shared.bins[bin.of(key[j])];
                    slot[k] = S::RANKS ? *next + ranks.get(j) : atomicAdd(next, 1);
                }
            }
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u32 j = first + k;
                if (j < LOADS && has(j)) shared.keys[slot[k]] = key[j];
            }
        });
    }

    // The lanes of one bin claim their slots at once.
    __device__ void claim_together(const Key (&key)[LOADS]) {
#pragma unroll
        for (u32 j = 0; j < LOADS; j++) {
            if (j * THREADS + warp * WARP >= count) break;
            bool own = mine(j);
            u32 digit = own ? bin.of(key[j]) : ~0u;
            u32 same = __match_any_sync(ALL_LANES, digit), first = __ffs(same) - 1, slot = 0;
            if (own && lane == first) slot = atomicAdd(&shared.bins[digit], __popc(same));
            slot = __shfl_sync(ALL_LANES, slot, first) + __popc(same & ((1u << lane) - 1));
            if (own) shared.keys[slot] = key[j];
        }
    }

    // Each warp the bins that begin in its share. A line has keys of other warps, too, but neighbours
    // of different bins are never exchanged. Whether keys are to be fetched.
    __device__ bool order(u32 largest) {
        // One lane finds the begin, another the end.
        u32 found = begin_of_bin((warp + lane % 2) * share);
        begin = __shfl_sync(ALL_LANES, found, 0);
        end = __shfl_sync(ALL_LANES, found, 1);
        u32 at = begin / 2 * 2 + lane * ITEMS;
        if constexpr (S::WORDS) {
            if (order_words(at, largest)) return true;
            order_tied(at, largest);
        } else {
            Line<Key, ITEMS> line;
            read(line.at, at);
            __syncthreads();
            bound(line.at, at);
            line.order(largest);
            write(shared.keys, line.at, at);
        }
        return false;
    }

    // Keys that words cannot tell apart.
    __device__ void order_tied(u32 at, u32 largest) {
        Line<Key, ITEMS> line;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            line.at[i] = at + i < begin ? Key(0) : Key(~Key(0));
            if (at + i >= begin && at + i < end) line.at[i] = shared.keys[at + i];
        }
        line.order(largest);
        __syncwarp();
        write(shared.keys, line.at, at);
    }

    // Where the bin of the key in this slot begins.
    __device__ u32 begin_of_bin(u32 slot) const {
        u32 digit = bin.of(shared.keys[min(slot, count - 1)]);
        u32 begin = S::RANKS ? shared.bins[digit] : digit == 0 ? 0 : shared.bins[digit - 1];
        return slot < count ? begin : count;
    }

    // Orders words instead of keys. False if bits that words do not have decide.
    __device__ bool order_words(u32 at, u32 largest) {
        constexpr u32 KEY = ((1u << WORD_KEY_BITS) - 1) << WORD_SLOT_BITS;
        u32 right = bits > 31 ? bits - 31 : 0, left = bits < 31 ? 31 - bits : 0;
        Line<u32, ITEMS> line;
        {
            Key key[ITEMS];
            read(key, at);
#pragma unroll
            for (u32 i = 0; i < ITEMS; i++)
                line.at[i] = (u32(key[i] >> right) << left & KEY) | ((at + i) & ~KEY);
        }
        // All have found their bins; what is to be fetched lies there.
        __syncthreads();
        bound(line.at, at);
        line.order(largest);
        if (bits > WORD_KEY_BITS && ties(line)) return false;
        u16 fetch[ITEMS];
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            // A key has moved less than half of what the slot's bits can tell.
            u32 moved = (line.at[i] - (at + i) + MOST_OF_A_BIN) % (2 * MOST_OF_A_BIN);
            fetch[i] = u16(at + i + moved - MOST_OF_A_BIN);
        }
        write(shared.fetch, fetch, at);
        return true;
    }

    __device__ static bool ties(const Line<u32, ITEMS>& line) {
        u32 least = line.at[0] ^ from_lane_below(line.at[ITEMS - 1]);
#pragma unroll
        for (u32 i = 0; i + 1 < ITEMS; i++) least = min(least, line.at[i] ^ line.at[i + 1]);
        return __any_sync(ALL_LANES, least >> WORD_SLOT_BITS == 0);
    }

    // A lane's ITEMS keys, wherever they belong.
    __device__ void read(Key (&key)[ITEMS], u32 at) const {
#pragma unroll
        for (u32 i = 0; i < ITEMS; i += 2) {
            Two<Key> two = *reinterpret_cast<const Two<Key>*>(&shared.keys[at + i]);
            key[i] = two.first;
            key[i + 1] = two.second;
        }
    }

    // What lies behind all keys becomes greater than all, and ties with nothing.
    template <class T>
    __device__ void bound(T (&values)[ITEMS], u32 at) const {
        if (at - lane * ITEMS + S::LINE <= count) return;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++)
            if (int(i) >= int(count - at)) values[i] = sizeof(T) < sizeof(Key) ? T(~0u << 31 | i << WORD_SLOT_BITS) : T(~T(0));
    }

    // Writes what is the warp's. `at` is even, and no more than one before the warp's begin. All stores
    // are predicated: branches take more time.
    template <class T>
    __device__ void write(T* to, const T (&values)[ITEMS], u32 at) const {
        to += at;
        int behind = int(end - at);
        bool without_first = at < begin;
        if (without_first && 1 < behind) to[1] = values[1];
#pragma unroll
        for (u32 i = 0; i < ITEMS; i += 2) {
            if (int(i + 1) < behind && (i > 0 || !without_first))
                *reinterpret_cast<Two<T>*>(&to[i]) = Two<T>{values[i], values[i + 1]};
        }
#pragma unroll
        for (u32 i = 0; i < ITEMS; i += 2)
            if (int(i + 1) == behind && (i > 0 || !without_first)) to[i] = values[i];
    }

    template <class Decode>
    __device__ void store(Key* to, bool fetched, Decode decode) const {
        const Key* keys = shared.keys + begin + lane;
        const u16* fetch = shared.fetch + begin + lane;
        if (S::WORDS && fetched)
            store_each(to, [&](u32 i) { return shared.keys[fetch[i]]; }, decode);
        else
            store_each(to, [&](u32 i) { return keys[i]; }, decode);
    }

    // The warp's keys; `at(i)`: the one that comes i behind the lane's first.
    template <class At, class Decode>
    __device__ void store_each(Key* to, At at, Decode decode) const {
        Key* own = to + begin + lane;
        int left = int(end - begin - lane);
#pragma unroll
        for (u32 first = 0; first < ITEMS; first += BATCH) {
            Key key[BATCH];
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, ITEMS); j++)
                if (int(j * WARP) < left) key[j - first] = at(j * WARP);
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, ITEMS); j++)
                if (int(j * WARP) < left) own[j * WARP] = decode(key[j - first]);
        }
    }

    // All keys of the block: sorted runs, of a thread's keys first, are merged until there is one.
    __device__ void merge() {
        // Odd, if may be: then the threads' keys lie in different banks.
        u32 each = min(ITEMS, (count + THREADS - 1) / THREADS | 1), at = min(count, thread * each);
        u32 own = min(count - at, each);
        Line<Key, ITEMS> line;
        bool ordered = true;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            if (i >= each) break;
            line.at[i] = i < own ? shared.keys[at + i] : Key(~Key(0));
            if (i > 0) ordered &= !(line.at[i] < line.at[i - 1]);
        }
        if (own && at) ordered &= !(line.at[0] < shared.keys[at - 1]);
        if (__syncthreads_and(ordered)) return;
        line.fill(each, Key(~Key(0)));
        for (u32 round = 0; round < each; round += 2) {
            line.even_round();
            line.inner_odd_round();
        }
        for (u32 run = each;; run *= 2) {
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < ITEMS; i++)
                if (i < own) shared.keys[at + i] = line.at[i];
            __syncthreads();
            if (run >= count) return;
            u32 first = at / (2 * run) * (2 * run);
            u32 left = min(run, count - first), right = min(run, count - first - left);
            merge_runs(line.at, own, shared.keys + first, left, right, at - first);
        }
    }

    // The `own` keys from place `at` on, when two runs, one behind the other, are merged.
    __device__ static void merge_runs(
        Key (&key)[ITEMS], u32 own, const Key* runs, u32 left, u32 right, u32 at) {
        if (right == 0 || !(runs[left] < runs[left - 1])) return;
        // How many of those before `at` are of the left run.
        u32 low = at > right ? at - right : 0, high = min(at, left);
        while (low < high) {
            u32 middle = (low + high) / 2;
            if (runs[left + at - middle - 1] < runs[middle])
                high = middle;
            else
                low = middle + 1;
        }
        u32 a = low, b = left + at - low, end = left + right;
        Key from_left = runs[a], from_right = runs[b];
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            if (i >= own) break;
            bool take_left = b >= end || (a < left && !(from_right < from_left));
            key[i] = take_left ? from_left : from_right;
            Key next = runs[take_left ? ++a : ++b];
            from_left = take_left ? next : from_left;
            from_right = take_left ? from_right : next;
        }
    }
};

// Block i sorts cell i; one that is too large is left alone.
template <class S>
__device__ inline void sort_cell(const Task<typename S::Key>& task, LocalShared<S>& shared) {
    wait_for_earlier_kernels();
    // The cell that comes where this one is when this one is done.
    u32 multiprocessors;
    asm("mov.u32 %0, %%nsmid;" : "=r"(multiprocessors));
    u32 later = min(blockIdx.x + multiprocessors * S::BLOCKS, gridDim.x - 1);
    // All at once, before any is looked at.
    u32 path = task.choice->path, bits = task.choice->low;
    u32 begin = task.begins[blockIdx.x], count = task.begins[blockIdx.x + 1] - begin;
    u32 later_begin = task.begins[later], later_end = task.begins[later + 1];
    if (path != HYBRID) return;
    const auto* keys = task.partitioned();
    if (S::PREFETCH) prefetch(keys + later_begin, keys + later_end, S::THREADS);
    if (count == 0 || count > task.local_keys) return;
    Local<S>(shared).sort(keys + begin, task.result + begin, count, bits, task.codec);
}
