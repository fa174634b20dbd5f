// Which bits vary, and whether the hybrid sort is the right one; zeros where later kernels need them.
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
// The prediction, in tenths of the time that `count` takes:
//     onesweep    its histograms, about a count, and a pass for each byte that varies
//     hybrid      a count, the partitions, local; and by level, each RADIX_BITS below the one before,
//                 the first just below the window: for keys of a crowded cell, too many for one local
//                 sort, to be refined; if they are all equal, a count alone, the last thing to be done
//                 to them
// The times of the stages are those of uniform keys, 2^28 of them, on an H200; that of refine is of keys
// of which each bit is set with a chance of a quarter. What is predicted only decides about speed.
//
// Grid: probe_blocks; one for a sample.
#pragma once

#include "read.cuh"
#include "window.cuh"

// See above.
struct StageTimes {
    u32 count, partition, local, refine, pass;
};

template <class Key>
constexpr StageTimes STAGE_TIMES =
    sizeof(Key) == 4 ? StageTimes{10, 26, 29, 230, 29} : StageTimes{10, 24, 25, 250, 26};

template <class Key>
struct Probe {
    static constexpr u32 THREADS = 1024, LANES = 2, MOST_BLOCKS = 1024;
    // Keys that a block reads at a time, where all are read.
    static constexpr u32 TILE = THREADS * LANES * Reader<Key, LANES>::KEYS;
    // Keys of the sample: so many a thread.
    static constexpr u32 ITEMS = 4, SAMPLE = THREADS * ITEMS;
    // Neighbouring cells that are also looked at together: the window's upper bits.
    static constexpr u32 COARSE_BITS = 9;
    // By which refine tells apart what is in a cell.
    static constexpr u32 RADIX_BITS = PART_BITS;
    static constexpr u32 SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS;
    // Of a slot: not all of its keys are equal.
    static constexpr u32 MIXED = 1u << 31;

    struct Shared {
        BlockRange<Key> range;
        u32 crowd;
        // How many keys of the sample are in a slot, and some bits of the hash of one of them.
        u32 slots[SLOTS];
        u8 names[SLOTS];
        u32 coarse[1 << COARSE_BITS];
    };

    // Keys of the sample in crowded cells.
    struct Crowd {
        u32 equal, mixed;
    };

    const Task<Key>& task;
    Shared& shared;
    Key code[ITEMS];

    __device__ Probe(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    __device__ void run() {
        wait_for_earlier_kernels();
        let_next_kernel_in();
        shared.range.zero();
        for (u32 i = threadIdx.x; i < SLOTS; i += THREADS) shared.slots[i] = 0;
        if (threadIdx.x < 1 << COARSE_BITS) shared.coarse[threadIdx.x] = 0;
        if (threadIdx.x == 0) shared.crowd = 0;
        __syncthreads();
        if (task.may_onesweep) read_sample();
        for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < task.zero_vectors; i += gridDim.x * THREADS)
            task.zeros[i] = uint4{};
        Range<Key> own = task.may_onesweep ? range_of_sample() : range_of_all();
        shared.range.add(own);
        __syncthreads();
        Range<Key> range = shared.range.range();
        if (threadIdx.x == 0) task.ranges[blockIdx.x] = range;
        // Zero is HYBRID.
        if (task.may_onesweep && faster(range) == ONESWEEP)
            if (threadIdx.x == 0) task.choice->path = ONESWEEP;
    }

    __device__ static void include(Range<Key>& range, Key code) {
        range.set |= code;
        range.clear |= Key(~code);
    }

    __device__ Range<Key> range_of_all() {
        Reader<Key, LANES> reader(task.source, task.n);
        Range<Key> range = {};
        Key word;
        if (reader.single(word)) include(range, task.codec.encode(word));
        for (u32 round = 0; round < reader.rounds; round++) {
            // Vectors that the thread has not are there twice, which changes nothing.
            uint4 vector[LANES];
            reader.load(vector, round);
#pragma unroll
            for (u32 j = 0; j < LANES; j++)
#pragma unroll
                for (u32 k = 0; k < reader.KEYS; k++)
                    include(range, task.codec.encode(reader.key(vector[j], k)));
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
        Range<Key> range = {};
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            code[item] = task.codec.encode(code[item]);
            include(range, code[item]);
        }
        return range;
    }

    // Than the other one, as predicted.
    __device__ Path faster(Range<Key> range) {
        constexpr StageTimes TIMES = STAGE_TIMES<Key>;
        u32 bits = task.cell_bits(), low = Window<Key>(range, bits).low, equal = 0;
        u32 onesweep = TIMES.count + varying_bytes(range) * TIMES.pass;
        u32 hybrid = TIMES.count + (task.b_bits ? 2 : 1) * TIMES.partition + TIMES.local;
        Digit coarse{low + bits - min(bits, COARSE_BITS), (1 << COARSE_BITS) - 1};
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) atomicAdd(&shared.coarse[coarse.of(code[item])], 1);
        for (u32 shift = low; hybrid < onesweep && shift > 0; shift -= min(shift, RADIX_BITS)) {
            Crowd crowd = crowded(shift, coarse);
            hybrid += TIMES.refine * crowd.mixed / SAMPLE;
            // The local sort that they do not need, but for the count.
            u32 more = max(equal, crowd.equal) - equal;
            hybrid -= (TIMES.local - TIMES.count) * more / SAMPLE;
            equal += more;
            if (crowd.mixed < SAMPLE / 32) break;
        }
        return hybrid < onesweep ? HYBRID : ONESWEEP;
    }

    __device__ static u32 varying_bytes(Range<Key> range) {
        Key varying = range.set & range.clear;
        u32 bytes = 0;
#pragma unroll
        for (u32 byte = 0; byte < sizeof(Key); byte++) bytes += u32(varying >> (8 * byte)) % 256 > 0;
        return bytes;
    }

    // The most keys of the sample that so many cells bring into it which are just small enough for a
    // local sort, and `others` that come in by chance; three sigmas added.
    __device__ u32 most_of(float cells, float others) const {
        float few = float(task.local_keys) * cells * SAMPLE / task.n + others;
        return u32(few + 3 * sqrtf(few)) + 1;
    }

    // Keys that share their bits from `shift` on, or their coarse digit, with too many others. The bits
    // tell a slot, and in a slot there may be others. The slots are zero before and after.
    __device__ Crowd crowded(u32 shift, Digit coarse) {
        u32 slot[ITEMS];
        u8 name[ITEMS];
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            slot[item] = hash(shifted(code[item], shift)) >> (32 - SLOT_BITS);
            name[item] = u8(hash(code[item]) >> 16);
            atomicAdd(&shared.slots[slot[item]], 1);
            shared.names[slot[item]] = name[item];
        }
        __syncthreads();
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++)
            if (shared.names[slot[item]] != name[item]) atomicOr(&shared.slots[slot[item]], MIXED);
        __syncthreads();
        u32 most = most_of(1, float(SAMPLE) / SLOTS);
        u32 most_coarse = most_of(exp2f(coarse.shift - shift), 0);
        // Equal ones in the lower half.
        u32 crowd = 0;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            u32 in_slot = shared.slots[slot[item]];
            bool many = (in_slot & ~MIXED) > most, all_equal = many && !(in_slot & MIXED);
            many = many || shared.coarse[coarse.of(code[item])] > most_coarse;
            if (many) crowd += all_equal ? 1 : 1 << 16;
        }
        crowd = sum_of_warp(crowd);
        if (threadIdx.x % WARP == 0) atomicAdd(&shared.crowd, crowd);
        __syncthreads();
        crowd = shared.crowd;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) shared.slots[slot[item]] = 0;
        __syncthreads();
        if (threadIdx.x == 0) shared.crowd = 0;
        return Crowd{crowd & 0xffff, crowd >> 16};
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
