// Which bits vary, and whether the hybrid sort is the right one; zeros where later kernels need them.
//
//     zero        counts, choice
//     one of
//         all     ranges: of the keys of each block
//         sample  ranges: of a sample; choice->path, by the predicted times
//
// All keys are read where nobody else could sort: the window that `count` makes of the ranges holds every
// key then. A sample of a large input is enough where onesweep waits behind: it sorts if a key lies outside
// of the window, and where so many keys share so few cells that moving them cell by cell is slower.
//
// The prediction, in tenths of the time that `count` takes:
//     onesweep    its histograms, about a count, and a pass for each byte that varies
//     hybrid      a count, the partitions, local; for the keys in crowded cells, cells too large for one
//                 local sort, another count and another partition, and so again for each RADIX_BITS
//                 below the window, as long as they are crowded
// The times of the stages are those of uniform keys, 2^28 of them, on an H200. What is predicted only
// decides about speed.
//
// Grid: probe_blocks.
#pragma once

#include "read.cuh"
#include "window.cuh"

// Tenths of the time of a count.
struct StageTimes {
    u32 partition, local, pass;
};

template <class Key>
constexpr StageTimes STAGE_TIMES = sizeof(Key) == 4 ? StageTimes{26, 31, 29} : StageTimes{24, 28, 26};

template <class Key>
struct Probe {
    static constexpr u32 THREADS = 1024, LANES = 4;
    // Keys of the sample: so many a thread.
    static constexpr u32 ITEMS = 8, SAMPLE = THREADS * ITEMS;
    // Neighbouring cells that are looked at together: the window's upper bits.
    static constexpr u32 COARSE_BITS = 10;
    // By which refine tells apart what is in a cell.
    static constexpr u32 RADIX_BITS = 8;
    static constexpr u32 SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS;

    struct Shared {
        BlockRange<Key> range;
        u32 crowded;
        u32 slots[SLOTS];
    };

    const Task<Key>& task;
    Shared& shared;
    Key code[ITEMS];

    __device__ Probe(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    __device__ void run() {
        wait_for_earlier_kernels();
        let_next_kernel_in();
        shared.range.zero();
        __syncthreads();
        if (task.may_onesweep) take_sample();
        Range<Key> own = task.may_onesweep ? range_of_sample() : range_of_all();
        for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < task.cells(); i += gridDim.x * THREADS)
            task.counts[i] = 0;
        shared.range.add(own);
        __syncthreads();
        Range<Key> range = shared.range.range();
        u32 path = task.may_onesweep ? faster(range) : u32(HYBRID);
        if (threadIdx.x > 0) return;
        task.ranges[blockIdx.x] = range;
        if (blockIdx.x == 0) {
            Choice<Key> choice = {};
            choice.path = path;
            *task.choice = choice;
        }
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
            typename Reader<Key, LANES>::Vector vector[LANES];
            reader.load(vector, round);
#pragma unroll
            for (u32 lane = 0; lane < LANES; lane++)
#pragma unroll
                for (u32 k = 0; k < reader.KEYS; k++) include(range, task.codec.encode(vector[lane].key[k]));
        }
        return range;
    }

    // One key of each SAMPLE-th of the source, from a place in it that looks like chance.
    __device__ void take_sample() {
        u32 stretch = task.n / SAMPLE;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            u32 i = item * THREADS + threadIdx.x, chance = (i ^ i >> 7) * 0x9e3779b1;
            code[item] = task.source[min(i * stretch + __umulhi(chance, stretch), task.n - 1)];
        }
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) code[item] = task.codec.encode(code[item]);
    }

    __device__ Range<Key> range_of_sample() const {
        Range<Key> range = {};
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) include(range, code[item]);
        return range;
    }

    __device__ Path faster(Range<Key> range) {
        constexpr StageTimes TIMES = STAGE_TIMES<Key>;
        u32 bits = task.cell_bits(), low = Window<Key>(range, bits).low;
        u32 onesweep = 10 + varying_bytes(range) * TIMES.pass;
        u32 hybrid = 10 + (task.b_bits ? 2 : 1) * TIMES.partition + TIMES.local;
        for (u32 shift = low; hybrid < onesweep && shift > 0; shift -= min(shift, RADIX_BITS)) {
            u32 keys = crowded(shift, 1);
            if (shift == low && bits > COARSE_BITS)
                keys = max(keys, crowded(low + bits - COARSE_BITS, 1 << (bits - COARSE_BITS)));
            if (keys < SAMPLE / 32) break;
            hybrid += (10 + TIMES.partition) * keys / SAMPLE;
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

    // Keys of the sample that share their bits from `shift` on with more of its keys than `cells` cells may
    // bring into it that are just small enough for a local sort, three sigmas added. The bits tell a
    // slot, and in a slot there may be others by chance.
    __device__ u32 crowded(u32 shift, u32 cells) {
        __syncthreads();
        for (u32 i = threadIdx.x; i < SLOTS; i += THREADS) shared.slots[i] = 0;
        if (threadIdx.x == 0) shared.crowded = 0;
        __syncthreads();
        u32 slot[ITEMS];
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            slot[item] = slot_of(code[item] >> shift);
            atomicAdd(&shared.slots[slot[item]], 1);
        }
        __syncthreads();
        float few = float(task.local_keys) * cells * SAMPLE / task.n + float(SAMPLE) / SLOTS;
        u32 most = u32(few + 3 * sqrtf(few)) + 1, keys = 0;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) keys += shared.slots[slot[item]] > most;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) keys += __shfl_xor_sync(ALL_LANES, keys, step);
        if (threadIdx.x % WARP == 0) atomicAdd(&shared.crowded, keys);
        __syncthreads();
        return shared.crowded;
    }

    __device__ static u32 slot_of(Key bits) {
        u32 mixed = 0;
#pragma unroll
        for (u32 i = 0; i < sizeof(Key) / sizeof(u32); i++) {
            mixed = (mixed ^ u32(bits >> (32 * i))) * 0x9e3779b1;
            mixed ^= mixed >> 15;
        }
        return mixed * 0x9e3779b1 >> (32 - SLOT_BITS);
    }
};
