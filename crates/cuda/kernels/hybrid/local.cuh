// A cell, sorted in shared memory: keys that agree in all bits from `bits` up.
//
//     load        each thread's keys to registers
//     count       how many keys each bin has: what the next bits of the key say
//     scan        where each bin begins
//     claim       each key to a slot of its bin
//     order       each warp its own bins, in registers (line.cuh): bins of two keys on average are in
//                 order after as many rounds as the largest has keys
//     store       each warp its own keys
//
// Keys wider than a word are ordered by words: their next WORD_KEY_BITS bits and their slot, from which
// the key is fetched in the end. Where these bits tie, the warp orders the keys themselves.
//
// A cell with a bin that is too large for that is crowded. It is sorted by the places where its keys are
// expected (places.cuh).
#pragma once

#include "line.cuh"
#include "quantile.cuh"
#include "read.cuh"
#include "task.cuh"
#include "warp.cuh"

// Of a word, from above: a bit that no key has, the key's bits, the slot's lowest.
constexpr u32 WORD_SLOT_BITS = 6, WORD_KEY_BITS = 31 - WORD_SLOT_BITS;
// Keys of the largest bin that warps order: no key moves as far as half of what the slot's bits tell.
constexpr u32 MOST_OF_A_BIN = 1 << (WORD_SLOT_BITS - 1);

// ITEMS: slots that a lane orders. CAPACITY: keys of the largest cell.
template <class Key_, u32 THREADS_, u32 ITEMS_, u32 CAPACITY_, u32 BIN_BITS_, u32 BLOCKS_>
struct LocalShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, CAPACITY = CAPACITY_;
    static constexpr u32 BIN_BITS = BIN_BITS_, BLOCKS = BLOCKS_;
    static constexpr bool WORDS = sizeof(Key) > sizeof(u32);
    static constexpr u32 WARPS = THREADS / WARP, LINE = WARP * ITEMS, BINS = 1 << BIN_BITS;
    // Keys that a thread loads.
    static constexpr u32 LOADS = (CAPACITY + THREADS - 1) / THREADS;
    // A warp's share of the slots; its line is longer, since a bin may go beyond.
    static constexpr u32 SHARE = (CAPACITY + WARPS - 1) / WARPS;
    static_assert(SHARE + 12 <= LINE, "the bins of evenly spread keys fit");
    static_assert(ITEMS % 4 == 2, "lanes read pairs in different banks");
    // The last warp reads a whole line.
    static constexpr u32 SLOTS = (WARPS - 1) * SHARE + LINE;
    // Tables of a word for each key, where keys are otherwise.
    static constexpr u32 TABLES = WORDS ? 2 : 1;
    static_assert(WARPS <= WARP && SLOTS < 1 << 16, "a scan's sums fit, and what is to be fetched");
    // Whether a block sorts one cell after the other.
    static constexpr bool REPEATED = false;
    // Whether bins are told by quantiles (local_quantiles.cuh).
    static constexpr bool QUANTILES = false;
};

template <class S>
struct RepeatedShape : S {
    static constexpr bool REPEATED = true;
};

template <class S>
struct LocalShared {
    union {
        alignas(16) typename S::Key keys[S::SLOTS];
        // Of a crowded cell (places.cuh).
        u32 tables[S::TABLES * S::CAPACITY];
    };
    union {
        // Keys of each bin; where its next key goes; where it ends.
        alignas(16) u32 bins[S::BINS];
        // From which slot each place's key is fetched.
        u16 fetch[S::WORDS ? S::SLOTS : 1];
    };
    // Of the scan.
    u64 sums[S::WARPS];
    u32 largest[S::WARPS];
    // Bits in which not all keys are as the first one.
    u32 varying[sizeof(typename S::Key) / sizeof(u32)];
    u32 bin_shift;
    // What has been subtracted from every code.
    typename S::Key base;
    u32 quantiles[S::QUANTILES ? Quantiles<typename S::Key>::WORDS : 1];
};

template <bool FIRST, class A, class B>
struct Either {
    using Type = A;
};
template <class A, class B>
struct Either<false, A, B> {
    using Type = B;
};

template <class S>
struct Places;

template <class S>
struct Local {
    using Key = typename S::Key;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, WARPS = S::WARPS, LOADS = S::LOADS;
    // Keys of a thread that are on their way at once.
    static constexpr u32 BATCH = 6;

    LocalShared<S>& shared;
    const u32 thread = threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    u32 count, bits;
    Digit bin;
    // How many slots a warp has if bins are not kept whole; and those that are the warp's.
    u32 share, begin, end;
    // Whether most cells are not full: then as few warps as can have the keys.
    bool sparse = false;
    // Of quantiles: the bins of the thread's keys, which are found once, in halves.
    u32 two_bins[S::QUANTILES ? (LOADS + 1) / 2 : 1];

    __device__ Local(LocalShared<S>& shared) : shared(shared) {}

    // Sorts codes by their lowest `bits` bits, in which alone they differ, and decodes them; `read(i)`: the code
    // that comes i behind the thread's first. They may be read from where `to` is. All threads of the block
    // come here; again after a barrier.
    template <class Read>
    __device__ void sort_codes(Read read, Key* to, u32 count, u32 bits, const Codec<Key>& codec) {
        this->count = count;
        Key key[LOADS];
        forget(key);
        load(key, read);
        sort(key, to, bits, codec, [&] { Places<S>::sort(shared, this->count, bin); });
    }

    // The same for words that are to be encoded and may differ in all bits; one at least.
    template <class SortCrowded>
    __device__ void sort_words(
        const Key* from, Key* to, u32 count, const Codec<Key>& codec, SortCrowded sort_crowded) {
        this->count = count;
        Key key[LOADS];
        auto encode = [&](Key word) { return codec.identity ? word : codec.encode(word); };
        const Key* own = from + thread;
        load(key, [&](u32 i) { return encode(own[i]); });
        sort(key, to, varying_bits(key, encode(from[0])), codec, sort_crowded);
    }

    template <class SortCrowded>
    __device__ void sort(
        const Key (&key)[LOADS], Key* to, u32 bits, const Codec<Key>& codec, SortCrowded sort_crowded) {
        store(to, codec, arrange(key, bits, sort_crowded));
    }

    // What each warp has, decoded.
    __device__ void store(Key* to, const Codec<Key>& codec, bool fetched) const {
        Key* own = to + begin + lane;
        Coder<Key> coder(codec, shared.base);
        in_order(fetched, [&](auto at) {
            coder.decoding([&](auto decode) { each(at, [&](u32 i, Key code) { own[i] = decode(code); }); });
        });
    }

    // The cell, in order in shared memory; each warp has its own keys then. If it is crowded, it lies
    // there as it came for `sort_crowded`, and the begins of bins are known. Whether keys are to be fetched.
    template <class SortCrowded>
    __device__ bool arrange(const Key (&key)[LOADS], u32 bits, SortCrowded sort_crowded) {
        u32 largest = lay_out_bins(key, bits);
        bool fetched = false;
        if (crowded(largest)) {
            put(key);
            sort_crowded();
        } else {
            claim(key);
            __syncthreads();
            if (bin.shift > 0) fetched = order(largest);
        }
        __syncwarp();
        return fetched;
    }

    // The same, but what follows from it is computed again, lest it be kept in registers.
    __device__ static u32 again(u32 value) {
        asm volatile("" : "+r"(value));
        return value;
    }

    // Before values are read under a condition. In a loop over cells the compiler would keep what they were
    // in the cell before, in a register each, all the time.
    template <class T, u32 N>
    __device__ static void forget(T (&values)[N]) {
        if constexpr (S::REPEATED)
#pragma unroll
            for (u32 i = 0; i < N; i++) values[i] = T(0);
    }

    // A thread's keys in batches: `work(first, has)` for those from `first` on; `has(j)` tells whether
    // the thread has the j-th. An atomic under a condition is a branch, so where all lanes have all
    // keys of a batch, there is none.
    template <class Work>
    __device__ void batches(Work work) const {
        u32 own = again(thread);
        int left = int(count - own), left_of_last_lane = int(count - (own | (WARP - 1)));
#pragma unroll
        for (u32 first = 0; first < LOADS; first += BATCH) {
            if (sparse && first * THREADS >= count) break;
            if (first + BATCH <= LOADS && int((first + BATCH - 1) * THREADS) < left_of_last_lane)
                work(first, [](u32) { return true; });
            else
                work(first, [=](u32 j) { return j < LOADS && int(j * THREADS) < left; });
        }
    }

    template <class Read>
    __device__ void load(Key (&key)[LOADS], Read read) const {
        batches([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) key[j] = read(j * THREADS);
        });
    }

    // Where each bin begins; tells how many keys the largest has.
    __device__ u32 lay_out_bins(const Key (&key)[LOADS], u32 bits) {
        this->bits = bits;
        u32 bin_bits = min(bits, min(S::BIN_BITS, 32 - __clz(count)));
        bin = Digit{bits - bin_bits, (1u << bin_bits) - 1};
        take_share();
        if (thread == 0) shared.bin_shift = bin.shift;
        each_group([](uint4& bins, u32) { bins = uint4{0, 0, 0, 0}; });
        __syncthreads();
        count_bins(key);
        __syncthreads();
        return scan();
    }

    // A key's bin.
    __device__ u32 number(Digit bin, Key key) const {
        if constexpr (S::QUANTILES)
            return Quantiles<Key>::of(shared.quantiles, key, 0) >> bin.shift & bin.mask;
        else
            return bin.of(key);
    }

    __device__ u32 keep_bin(u32 j, u32 number) {
        if constexpr (S::QUANTILES)
            two_bins[j / 2] = j % 2 ? two_bins[j / 2] & 0xffff | number << 16 : number;
        return number;
    }

    __device__ u32 kept_bin(u32 j, Digit bin, Key key) const {
        if constexpr (S::QUANTILES)
            return two_bins[j / 2] >> j % 2 * 16 & 0xffff;
        else
            return number(bin, key);
    }

    __device__ void take_share() {
        share = (count + WARPS - 1) / WARPS;
        if (sparse) share = max(share, S::LINE - MOST_OF_A_BIN - 2);
        begin = min(count, warp * share);
        end = min(count, begin + share);
    }

    // A thread has a group of neighbouring bins in each stretch of the bins.
    static constexpr u32 GROUP = 4, STRETCHES = (S::BINS / GROUP + THREADS - 1) / THREADS;

    template <class Do>
    __device__ void each_group(Do act) {
        uint4* groups = reinterpret_cast<uint4*>(shared.bins);
#pragma unroll
        for (u32 s = 0; s < STRETCHES; s++) {
            u32 group = s * THREADS + thread;
            if (group <= bin.mask / GROUP) act(groups[group], s);
        }
    }

    __device__ void count_bins(const Key (&key)[LOADS]) {
        batches([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) atomicAdd(&shared.bins[keep_bin(j, number(bin, key[j]))], 1);
        });
    }

    // Counts become begins; tells the largest count. The sums of a thread's groups are scanned at once,
    // 16 bits each.
    __device__ u32 scan() {
        static_assert(STRETCHES <= 4, "their sums fit");
        uint4 own[STRETCHES] = {};
        using Sums = typename Either<STRETCHES <= 2, u32, u64>::Type;
        Sums sums = 0;
        u32 largest = 0;
        each_group([&](uint4& bins, u32 s) {
            own[s] = bins;
            sums |= Sums(own[s].x + own[s].y + own[s].z + own[s].w) << (16 * s);
            largest = max(largest, max(max(own[s].x, own[s].y), max(own[s].z, own[s].w)));
        });
        Sums before = inclusive<WARP>(sums) - sums;
        largest = max_of_warp(largest);
        if (lane == WARP - 1) {
            shared.sums[warp] = before + sums;
            shared.largest[warp] = largest;
        }
        __syncthreads();
        // Each warp scans the sums of all.
        Sums of_warps = inclusive<WARPS>(lane < WARPS ? Sums(shared.sums[lane]) : Sums(0));
        Sums all = __shfl_sync(ALL_LANES, of_warps, WARPS - 1);
        Sums of_warps_before = __shfl_sync(ALL_LANES, of_warps, warp == 0 ? 0 : warp - 1);
        if (warp > 0) before += of_warps_before;
        largest = max_of_warp(lane < WARPS ? shared.largest[lane] : 0);
        each_group([&](uint4& bins, u32 s) {
            // Of the stretches before, all lie before.
            u32 x = u32(before >> (16 * s)) % (1 << 16);
            for (u32 t = 0; t < s; t++) x += u32(all >> (16 * t)) % (1 << 16);
            u32 y = x + own[s].x, z = y + own[s].y;
            bins = uint4{x, y, z, z + own[s].z};
        });
        __syncthreads();
        return largest;
    }

    // The sum up to the lane, for the first LANES.
    template <u32 LANES, class Sums>
    __device__ Sums inclusive(Sums sum) const {
#pragma unroll
        for (u32 step = 1; step < LANES; step *= 2) {
            Sums left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        return sum;
    }

    // Too full for warps to order bins by themselves.
    __device__ bool crowded(u32 largest) const {
        return largest > MOST_OF_A_BIN || (bin.shift > 0 && share + largest + 2 > S::LINE);
    }

    __device__ void claim(const Key (&key)[LOADS]) {
        // Read again, lest the digits of all keys be kept.
        Digit bin = {*static_cast<volatile u32*>(&shared.bin_shift), this->bin.mask};
        batches([&](u32 first, auto has) {
            u32 slot[BATCH];
            forget(slot);
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) slot[j - first] = atomicAdd(&shared.bins[kept_bin(j, bin, key[j])], 1);
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) shared.keys[slot[j - first]] = key[j];
        });
    }

    // Each warp the bins that begin in its share. Its line has keys of other warps, too, but neighbours
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
            // All have read; now each writes its own.
            __syncthreads();
            bound(line.at, at, [](u32) { return ~Key(0); });
            if (!sparse || begin < end) line.order(largest);
            write(shared.keys, line.at, at);
        }
        return false;
    }

    // Where the bin of the key in this slot begins.
    __device__ u32 begin_of_bin(u32 slot) const {
        u32 digit = number(bin, shared.keys[min(slot, count - 1)]);
        u32 begin = digit == 0 ? 0 : shared.bins[digit - 1];
        return slot < count ? begin : count;
    }

    // Orders words instead of keys. False if bits decide that words do not have.
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
        // Such that they do not tie.
        bound(line.at, at, [](u32 i) { return ~KEY | i << WORD_SLOT_BITS; });
        if (!sparse || begin < end) line.order(largest);
        if (bits > WORD_KEY_BITS && tied(line)) return false;
        u16 fetch[ITEMS];
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            u32 moved = (line.at[i] - (at + i) + MOST_OF_A_BIN) % (2 * MOST_OF_A_BIN);
            fetch[i] = u16(at + i + moved - MOST_OF_A_BIN);
        }
        write(shared.fetch, fetch, at);
        return true;
    }

    __device__ static bool tied(const Line<u32, ITEMS>& line) {
        u32 least = line.at[0] ^ from_lane_below(line.at[ITEMS - 1]);
#pragma unroll
        for (u32 i = 0; i + 1 < ITEMS; i++) least = min(least, line.at[i] ^ line.at[i + 1]);
        return __any_sync(ALL_LANES, least >> WORD_SLOT_BITS == 0);
    }

    // The warp's own keys, and no others: these may be being written.
    __device__ void order_tied(u32 at, u32 largest) {
        Line<Key, ITEMS> line;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            line.at[i] = at + i < begin ? Key(0) : ~Key(0);
            if (at + i >= begin && at + i < end) line.at[i] = shared.keys[at + i];
        }
        line.order(largest);
        __syncwarp();
        write(shared.keys, line.at, at);
    }

    __device__ void read(Key (&key)[ITEMS], u32 at) const {
#pragma unroll
        for (u32 i = 0; i < ITEMS; i += 2) {
            Two<Key> two = *reinterpret_cast<const Two<Key>*>(&shared.keys[at + i]);
            key[i] = two.first;
            key[i + 1] = two.second;
        }
    }

    // What lies behind all keys becomes greater than all.
    template <class T, class Greater>
    __device__ void bound(T (&values)[ITEMS], u32 at, Greater greater) const {
        if (at - lane * ITEMS + S::LINE <= count) return;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++)
            if (int(i) >= int(count - at)) values[i] = greater(i);
    }

    // Writes what is the warp's. `at` is even and at most one before the warp's begin. All stores are
    // predicated: branches take longer.
    template <class T>
    __device__ void write(T* to, const T (&values)[ITEMS], u32 at) const {
        to += at;
        int behind = int(end - at);
        bool without_first = at < begin;
        if (without_first && 1 < behind) to[1] = values[1];
#pragma unroll
        for (u32 i = 0; i < ITEMS; i += 2)
            if (int(i + 1) < behind && (i > 0 || !without_first))
                *reinterpret_cast<Two<T>*>(&to[i]) = Two<T>{values[i], values[i + 1]};
#pragma unroll
        for (u32 i = 0; i < ITEMS; i += 2)
            if (int(i + 1) == behind && (i > 0 || !without_first)) to[i] = values[i];
    }

    // `act(at)`, where `at(i)` is the key that comes i behind the lane's first.
    template <class Act>
    __device__ void in_order(bool fetched, Act act) const {
        const Key* keys = shared.keys + begin + lane;
        const u16* fetch = shared.fetch + begin + lane;
        if (S::WORDS && fetched)
            act([&](u32 i) { return shared.keys[fetch[i]]; });
        else
            act([&](u32 i) { return keys[i]; });
    }

    // `put(i, at(i))` for the warp's keys; all reads of a batch come before its writes.
    template <class At, class Put>
    __device__ void each(At at, Put put) const {
        int left = int(end - begin - lane);
#pragma unroll
        for (u32 first = 0; first < ITEMS; first += BATCH) {
            if (sparse && begin + first * WARP >= end) break;
            decltype(at(0)) item[BATCH];
            forget(item);
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, ITEMS); j++)
                if (int(j * WARP) < left) item[j - first] = at(j * WARP);
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, ITEMS); j++)
                if (int(j * WARP) < left) put(j * WARP, item[j - first]);
        }
    }

    // As they came.
    __device__ void put(const Key (&key)[LOADS]) {
        u32 own = again(thread);
#pragma unroll
        for (u32 j = 0; j < LOADS; j++)
            if (int(j * THREADS) < int(count - own)) shared.keys[j * THREADS + own] = key[j];
    }

    // The highest bit in which not all keys are as the first one, and one more. Two barriers.
    __device__ u32 varying_bits(const Key (&key)[LOADS], Key first) {
        Key varying = 0;
#pragma unroll
        for (u32 j = 0; j < LOADS; j++)
            if (j * THREADS + thread < count) varying |= key[j] ^ first;
        return highest_bit(varying);
    }

    // The highest bit that any thread has, and one more. Two barriers.
    __device__ u32 highest_bit(Key own) {
        constexpr u32 WORDS = sizeof(Key) / sizeof(u32);
        if (thread < WORDS) shared.varying[thread] = 0;
        __syncthreads();
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) {
            u32 word = or_of_warp(u32(own >> (32 * w)));
            if (lane == 0 && word) atomicOr(&shared.varying[w], word);
        }
        __syncthreads();
        u32 bits = 0;
#pragma unroll
        for (u32 w = 0; w < WORDS; w++)
            if (shared.varying[w]) bits = 32 * (w + 1) - __clz(shared.varying[w]);
        return bits;
    }

    // All keys of the block: sorted runs, of a thread's keys first, are merged until there is one.
    __device__ void merge() {
        // An odd number each, if may be: then the threads' keys lie in different banks.
        u32 each = min(ITEMS, (count + THREADS - 1) / THREADS | 1), at = min(count, thread * each);
        u32 own = min(count - at, each);
        Line<Key, ITEMS> line;
        bool ordered = true;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            if (i >= own) break;
            line.at[i] = shared.keys[at + i];
            if (i > 0) ordered &= !(line.at[i] < line.at[i - 1]);
        }
        if (own && at) ordered &= !(line.at[0] < shared.keys[at - 1]);
        if (__syncthreads_and(ordered)) return;
        line.order_own(own);
        for (u32 run = each;; run *= 2) {
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < ITEMS; i++)
                if (i < own) shared.keys[at + i] = line.at[i];
            __syncthreads();
            if (run >= count) return;
            u32 first = at / (2 * run) * (2 * run);
            u32 left = min(run, count - first), right = min(run, count - first - left);
            const Key* runs = shared.keys + first;
            merge_runs(line.at, own, [=](u32 i) { return runs[i]; }, left, right, at - first);
        }
    }
};

// The path. The kernel before, local_large, goes on meanwhile, so what is waited for is its word that those
// before it are done. One block waits for all of it: who waits for this kernel, waits for that one, too.
template <class Key>
__device__ inline u32 wait_for_partitions(const Task<Key>& task) {
    __shared__ u32 path;
    if (blockIdx.x == gridDim.x - 1) wait_for_earlier_kernels();
    if (threadIdx.x == 0) {
        u32 told;
        do
            told = read_acquire(&task.choice->path_of_local);
        while (told == 0);
        path = told - 1;
    }
    __syncthreads();
    return path;
}

// What a block sorts: its cell, or neighbouring cells as if they were one, all 2^j whose numbers agree but for their
// j lowest bits. The block of the first of them does it.
struct JoinedCells {
    // Where their keys begin, and how many they are; none for a block that sorts nothing.
    u32 begin, count;
    // All keys agree from this bit up.
    u32 bits;
};

// As many as fit, if they are a quarter of what fits or each half of them has some of the keys: bins are shared out
// among both. No keys if there are none, if the cell is too large, or if it is another block's. By whole warps.
template <class Key>
__device__ inline JoinedCells joined_cells(const Task<Key>& task) {
    // With keys of 32 bits `local` has no registers left for it.
    constexpr u32 MOST_BITS = sizeof(Key) > sizeof(u32) ? 6 : 0;
    // A lane for each number of bits.
    u32 lane = threadIdx.x % WARP, most = min(MOST_BITS, task.cell_bits()), bits = min(lane, most);
    u32 first = blockIdx.x >> bits << bits;
    u32 begin = task.begins[first], count = task.begins[first + (1 << bits)] - begin;
    if constexpr (MOST_BITS > 0) {
        u32 half = __shfl_up_sync(ALL_LANES, count, 1);
        bool even = lane == 0 || count <= task.local_keys / 4 || min(half, count - half) >= count / 16;
        u32 joined = __ballot_sync(ALL_LANES, lane <= most && even && count <= task.local_keys);
        bits = joined ? 31 - __clz(joined) : 0;
        begin = __shfl_sync(ALL_LANES, begin, bits);
        count = __shfl_sync(ALL_LANES, count, bits);
    }
    bool own = (blockIdx.x & ((1u << bits) - 1)) == 0;
    return {begin, own && count <= task.local_keys ? count : 0, task.choice->low + bits};
}

// Block i sorts cell i and those joined to it; one that is too large is left alone. (A prefetch of the cell
// whose turn comes next took 14% longer.)
template <class S>
__device__ inline void sort_cell(const Task<typename S::Key>& task, LocalShared<S>& shared) {
    u32 path = wait_for_partitions(task);
    if (path != HYBRID) return;
    JoinedCells cells = joined_cells(task);
    if (threadIdx.x == 0) shared.base = task.choice->base;
    if (task.choice->large) task.clear_steps();
    let_next_kernel_in();
    if (cells.count == 0) return;
    const auto* own = task.buffer(task.partitioned()) + cells.begin + threadIdx.x;
    Local<S>(shared).sort_codes(
        [=](u32 i) { return own[i]; }, task.result + cells.begin, cells.count, cells.bits, task.codec);
}

// What refine leaves.
template <class S>
__device__ inline void sort_pieces(const Task<typename S::Key>& task, LocalShared<S>& shared) {
    using Key = typename S::Key;
    wait_for_earlier_kernels();
    let_next_kernel_in();
    if (!task.refines()) return;
    if (threadIdx.x == 0) shared.base = task.choice->base;
    for (u32 i = blockIdx.x; i < task.choice->pieces; i += gridDim.x) {
        Piece piece = task.pieces[i];
        Local<S> own(shared);
        own.sparse = true;
        CodeReader<Key> read(task, piece.side, piece.begin);
        own.sort_codes(read, task.result + piece.begin, piece.count, piece.bits, task.codec);
        __syncthreads();
    }
}
