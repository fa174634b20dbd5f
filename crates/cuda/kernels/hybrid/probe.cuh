// The least and the greatest code, and whether the hybrid sort is the right one; zeros where later
// kernels need them.
//
//     zeros
//     one of
//         all     ranges: of the keys of each block
//         sample  ranges: of a sample; choice->path, by the predicted times
//
// All keys are read where onesweep is not enqueued behind: the window that count makes of the ranges
// holds every key then. A sample of a large input is quicker, and shows where so many keys share so few
// cells that moving them cell by cell is slower than onesweep.
//
// The prediction (times.cuh):
//     onesweep    its histograms, about a count, and a pass for each byte that varies
//     hybrid      a count, the partitions, local, or local_large where most cells are large; and by
//                 level, each RADIX_BITS below the one before, the first just below the window: for keys
//                 of a crowded cell, too many for one local sort, to be refined; if they are all equal, a
//                 count alone, the last thing to be done to them
// Where many keys of the sample share their cells, a larger one may show that sifting the common ones is
// faster than either (census.cuh). What is predicted only decides about speed.
//
// Grid: probe_blocks; for a sample one, and others that only write zeros.
#pragma once

#include "census.cuh"
#include "quantile.cuh"
#include "read.cuh"
#include "times.cuh"
#include "window.cuh"

template <class Key>
struct Probe {
    static constexpr u32 THREADS = 1024, WARPS = THREADS / WARP, LANES = 2, MOST_BLOCKS = 1024;
    // Keys that a block reads at a time, where all are read.
    static constexpr u32 TILE = THREADS * LANES * Reader<Key, LANES>::KEYS;
    // Keys of the sample: so many a thread.
    static constexpr u32 ITEMS = 4, SAMPLE = THREADS * ITEMS;
    // Neighbouring cells that are also looked at together: the window's upper bits.
    static constexpr u32 COARSE_BITS = 9;
    // By which refine tells apart what is in a cell.
    static constexpr u32 RADIX_BITS = PART_BITS;
    // So often on average until equal keys are told apart by what they carry.
    static constexpr u32 PAYLOAD_LEVELS = 2;
    static constexpr u32 SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS;
    // Of a slot: not all of its keys are equal.
    static constexpr u32 MIXED = 1u << 31;

    // Threads that have a key with a slot of its own: more, and keys are not common.
    static constexpr u32 MOST_ALONE = THREADS / 2;

    using Q = Quantiles<Key>;
    using Common = Census<Key, THREADS>;
    static_assert(Common::ITEMS == ITEMS, "it is shown the sample");
    static constexpr u32 WORDS = sizeof(Key) / sizeof(u32);

    struct OfSample {
        // How many keys of the sample are in a slot.
        u32 slots[SLOTS];
        // Bits that are set in a code of each warp, and bits that are not.
        u32 ones[WORDS][WARPS], zeros[WORDS][WARPS];
    };

    struct Shared {
        BlockRange<Key, THREADS> range;
        u32 crowd, neighbours, alone;
        // Of each digit of a quantile: pairs of keys that agree in it.
        u32 pairs[Q::DIGITS];
        union {
            OfSample sample;
            typename Common::Shared common;
        };
        // Of each slot, some bits of the hash of one of its keys: of many that write there at once it does not matter
        // which.
        u8 names[SLOTS];
        u32 coarse[1 << COARSE_BITS];
    };

    // Keys of the sample in crowded cells; whether the others are in large ones on average.
    struct Crowd {
        u32 equal, mixed;
        bool large;
    };

    const Task<Key>& task;
    Shared& shared;
    Key code[ITEMS];
    // What the faster of the two sorts takes, and what onesweep does, as predicted.
    u32 predicted, onesweep;
    // Whether many keys have a slot of their own.
    bool distinct = false;

    __device__ Probe(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    __device__ void run() {
        wait_for_earlier_kernels();
        if (task.may_onesweep && blockIdx.x > 0) return clear();
        if (task.may_onesweep) read_sample();
        clear_seen();
        clear();
        shared.range.put(task.may_onesweep ? range_of_sample() : range_of_all());
        if (task.may_onesweep) put_varying();
        // Not before: its first loads would delay the sample.
        let_next_kernel_in();
        __syncthreads();
        Range<Key> range = shared.range.of_block();
        if (threadIdx.x == 0) task.ranges[blockIdx.x] = range;
        if (!task.may_onesweep) return;
        choose(range);
        if (task.dictionary == nullptr || distinct) return;
        __syncthreads();
        Common(task, shared.common).run(code, predicted, onesweep);
    }

    // What begins as zeros; the first of it, choice, by the first block.
    __device__ void clear() const {
        for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < task.zero_vectors; i += gridDim.x * THREADS)
            task.zeros[i] = uint4{};
    }

    __device__ Range<Key> range_of_all() {
        Reader<Key, LANES> reader(task.source, task.n);
        Range<Key> range = Range<Key>::none();
        Key word;
        if (reader.single(word)) range.include(task.codec.encode(word));
        for (u32 round = 0; round < reader.rounds; round++) {
            // Vectors that the thread has not are there twice, which changes nothing.
            uint4 vector[LANES];
            reader.load(vector, round);
#pragma unroll
            for (u32 j = 0; j < LANES; j++)
#pragma unroll
                for (u32 k = 0; k < reader.KEYS; k++)
                    range.include(task.codec.encode(reader.key(vector[j], k)));
        }
        return range;
    }

    // One key of each SAMPLE-th of the source, from a place in it that looks like chance.
    __device__ void read_sample() {
        u32 stretch = task.n / SAMPLE;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            u32 i = item * THREADS + threadIdx.x, chance = (i ^ i >> 7) * 0x9e3779b1;
            code[item] = task.source[i * stretch + __umulhi(chance, stretch)];
        }
    }

    __device__ Range<Key> range_of_sample() {
        Range<Key> range = Range<Key>::none();
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            code[item] = task.codec.encode(code[item]);
            range.include(code[item]);
        }
        return range;
    }

    // What is faster, as predicted.
    __device__ void choose(Range<Key> range) {
        bool composites = task.carries == COMPOSITES;
        StageTimes times = stage_times<Key>(composites);
        u32 bits = task.cell_bits(), bytes = varying_bytes(), equal = 0;
        Window<Key> window(range, bits);
        u32 low = window.low;
        // It copies where nothing varies.
        onesweep = times.count + max(bytes, 1u) * times.pass;
        u32 hybrid = times.count + (task.b_bits ? 2 : 1) * times.partition + times.local;
        Digit coarse{low + bits - min(bits, COARSE_BITS), (1 << COARSE_BITS) - 1};
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            code[item] -= window.base;
            atomicAdd(&shared.coarse[coarse.of(code[item])], 1);
        }
        if (task.carries == RECORDS) {
            // No more than chance brings in, and more bytes than the window's.
            Crowd crowd = crowded(low, coarse);
            bool fits = crowd.equal + crowd.mixed < SAMPLE / 16 && bytes > 2;
            if (threadIdx.x == 0) task.choose(fits ? HYBRID : ONESWEEP);
            return;
        }
        for (u32 shift = low; hybrid < onesweep && (shift > 0 || composites);
             shift -= min(shift, RADIX_BITS)) {
            Crowd crowd = crowded(shift, coarse);
            if (shift == low && crowd.large) hybrid += times.local_large - times.local;
            hybrid += times.refine * crowd.mixed / SAMPLE;
            if (shift == low && !composites && crowd.mixed >= SAMPLE / 32)
                hybrid += u32(fixed_time<Key>(REFINE_BYTES, task.n));
            u32 more = max(equal, crowd.equal) - equal;
            // Composites of equal keys are refined by what these carry. Equal keys alone do not need the
            // local sort, but for the count.
            if (composites)
                hybrid += PAYLOAD_LEVELS * times.refine * more / SAMPLE;
            else
                hybrid -= (times.local - times.count) * more / SAMPLE;
            equal += more;
            if (shift == 0 || crowd.mixed < SAMPLE / 32) break;
            __syncthreads();
            clear_slots();
            __syncthreads();
        }
        predicted = min(hybrid, onesweep);
        Path path = hybrid < onesweep ? HYBRID : ONESWEEP;
        if constexpr (Q::WORTH) {
            if (task.quantiles && window.is_highest(task) && times.quantiles < predicted) {
                u32 by_quantiles = times.quantiles + times.refine * uneven_by_quantiles() / SAMPLE;
                if (by_quantiles < predicted) path = QUANTILES;
                predicted = min(by_quantiles, predicted);
            }
        }
        if (threadIdx.x == 0) task.choose(path);
    }

    // Keys of the sample in cells that are too large, if quantiles tell them; all, if too many have the same digits.
    __device__ u32 uneven_by_quantiles() {
        u32 *seen = shared.sample.slots, *table = seen + Q::WORDS;
        static_assert(2 * Q::WORDS <= SLOTS, "there is room for both");
        __syncthreads();
        clear_seen();
        if (threadIdx.x < Q::DIGITS) shared.pairs[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++)
#pragma unroll
            for (u32 nth = 0; nth < Q::DIGITS; nth++)
                atomicAdd(&seen[nth * Q::RADIX + Q::digit(code[item], nth)], 1);
        __syncthreads();
#pragma unroll 1
        for (u32 nth = 0; nth < Q::DIGITS; nth++) {
            u32 own = seen[nth * Q::RADIX + threadIdx.x], pairs = sum_of_warp(own * (own - 1));
            if (threadIdx.x % WARP == 0) atomicAdd(&shared.pairs[nth], pairs);
        }
        Q::make(table, shared.sample.ones[0], SAMPLE, [=](u32 i) { return seen[i]; });
        float alike = task.n;
#pragma unroll
        for (u32 nth = 0; nth < Q::DIGITS; nth++) alike *= shared.pairs[nth] * (1.0f / SAMPLE / SAMPLE);
        if (alike > Q::MOST_ALIKE) return SAMPLE;

        Digit coarse{task.key_bits - COARSE_BITS, (1 << COARSE_BITS) - 1};
        bool were_distinct = distinct;
        Key kept[ITEMS];
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            kept[item] = code[item];
            code[item] = Key(Q::of(table, code[item], 0)) << (task.key_bits - Q::QUANTILE_BITS);
            atomicAdd(&shared.coarse[coarse.of(code[item])], 1);
        }
        __syncthreads();
        clear_slots();
        __syncthreads();
        Crowd crowd = crowded(task.key_bits - task.cell_bits(), coarse);
        distinct = were_distinct;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) code[item] = kept[item];
        return crowd.equal + crowd.mixed;
    }

    // Each warp what its codes have.
    __device__ void put_varying() {
        Key some = 0, all = Key(~Key(0));
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            some |= code[item];
            all &= code[item];
        }
#pragma unroll
        for (u32 i = 0; i < WORDS; i++) {
            u32 ones = or_of_warp(u32(some >> (32 * i))), zeros = or_of_warp(~u32(all >> (32 * i)));
            if (threadIdx.x % WARP > 0) continue;
            shared.sample.ones[i][threadIdx.x / WARP] = ones;
            shared.sample.zeros[i][threadIdx.x / WARP] = zeros;
        }
    }

    // In which codes of the sample differ; after a barrier.
    __device__ u32 varying_bytes() const {
        u32 lane = threadIdx.x % WARP, bytes = 0;
#pragma unroll
        for (u32 i = 0; i < WORDS; i++) {
            u32 varying = or_of_warp(shared.sample.ones[i][lane]) & or_of_warp(shared.sample.zeros[i][lane]);
#pragma unroll
            for (u32 byte = 0; byte < sizeof(u32); byte++) bytes += varying >> byte * 8 & 0xff ? 1 : 0;
        }
        return bytes;
    }

    // Slots and coarse digits.
    __device__ void clear_seen() {
        clear_slots();
        if (threadIdx.x < 1 << COARSE_BITS) shared.coarse[threadIdx.x] = 0;
    }

    __device__ void clear_slots() {
        for (u32 i = threadIdx.x; i < SLOTS; i += THREADS) shared.sample.slots[i] = 0;
        if (threadIdx.x == 0) shared.crowd = shared.neighbours = shared.alone = 0;
    }

    // How many keys so many cells bring into the sample which are just small enough for a local sort.
    __device__ float fill(float cells) const { return float(task.large_keys) * cells * SAMPLE / task.n; }

    // The most keys where so many are expected: three sigmas more.
    __device__ static u32 most(float expected) { return u32(expected + 3 * sqrtf(expected)) + 1; }

    // Keys that share their bits from `shift` on, or their coarse digit, with too many others. The bits
    // tell a slot, and in a slot there may be others. The slots are clear before. If the rest has too
    // many neighbours of the same coarse digit on average, it is crowded, too: so evenly spread keys are
    // known that fill each cell a little too much.
    __device__ Crowd crowded(u32 shift, Digit coarse) {
        float coarse_fill = fill(exp2f(coarse.shift - shift));
        u32 most_in_slot = most(fill(1) + float(SAMPLE) / SLOTS), most_coarse = most(coarse_fill);
        u32 slot[ITEMS];
        u8 name[ITEMS];
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            slot[item] = hash(shifted(code[item], shift)) >> (32 - SLOT_BITS);
            name[item] = u8(hash(code[item]) >> 16);
            atomicAdd(&shared.sample.slots[slot[item]], 1);
            shared.names[slot[item]] = name[item];
        }
        __syncthreads();
        // Of the crowd, equal ones in the lower half. Items whose slot has too many.
        u32 crowd = 0, neighbours = 0, full = 0;
        bool alone = false;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            u32 in_slot = shared.sample.slots[slot[item]] & ~MIXED;
            u32 in_coarse = shared.coarse[coarse.of(code[item])];
            alone |= in_slot == 1;
            if (in_slot > most_in_slot) {
                full |= 1 << item;
                if (shared.names[slot[item]] != name[item]) atomicOr(&shared.sample.slots[slot[item]], MIXED);
            } else if (in_coarse > most_coarse) {
                crowd += 1 << 16;
            } else {
                neighbours += in_coarse - 1;
            }
        }
        u32 lanes_alone = __popc(__ballot_sync(ALL_LANES, alone));
        neighbours = sum_of_warp(neighbours);
        add_crowd(crowd);
        if (threadIdx.x % WARP == 0) {
            atomicAdd(&shared.neighbours, neighbours);
            atomicAdd(&shared.alone, lanes_alone);
        }
        if (__syncthreads_or(full)) {
            crowd = 0;
#pragma unroll
            for (u32 item = 0; item < ITEMS; item++)
                if (full >> item & 1) crowd += shared.sample.slots[slot[item]] & MIXED ? 1 << 16 : 1;
            add_crowd(crowd);
            __syncthreads();
        }
        distinct = shared.alone > MOST_ALONE;
        crowd = shared.crowd;
        u32 equal = crowd & 0xffff, mixed = crowd >> 16, rest = SAMPLE - equal - mixed;
        if (shared.neighbours > rest * coarse_fill) mixed += rest;
        bool large = float(shared.neighbours) * task.large_keys > rest * coarse_fill * task.local_keys;
        return Crowd{equal, mixed, large};
    }

    __device__ void add_crowd(u32 crowd) {
        crowd = sum_of_warp(crowd);
        if (threadIdx.x % WARP == 0 && crowd > 0) atomicAdd(&shared.crowd, crowd);
    }

    __device__ static u32 hash(Key bits) {
        u32 mixed = 0;
#pragma unroll
        for (u32 i = 0; i < sizeof(Key) / sizeof(u32); i++) {
            mixed = (mixed ^ u32(bits >> (32 * i))) * 0x9e3779b1;
            mixed ^= mixed >> 15;
        }
        return mixed * 0x9e3779b1;
    }
};
