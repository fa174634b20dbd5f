// How many keys each cell has, in one read.
//
//     for each vector of 16 bytes: counters[cell] += 1 for each of its keys; if all keys of a warp's
//         vectors are of one cell, once for all of them
//     counts += counters
//     few cells: the last block to be done lays them out (lay_out.cuh)
//
// A counter is half a word: 2^16 of them are 128 KB. Whose add takes a counter to HALF_FULL takes that
// much away again and adds it to the cell's count. At a barrier no counter is so full, and until the
// next one HALF_FULL keys at most are added, so none ever overflows into its neighbour.
//
// The window holds all keys if the probe has read all of them. If it has read a sample, a key may lie
// outside; then the passes of onesweep, which are enqueued behind, sort.
//
// Grid: up to one block a multiprocessor. Shared, beside its own: counter_bytes.
#pragma once

#include "lay_out.cuh"
#include "read.cuh"
#include "window.cuh"

template <class Key, u32 LANES = 4>
struct Count {
    static constexpr u32 THREADS = 1024;
    // In both halves of a word.
    static constexpr u32 HALF_FULL = 0x8000, EITHER_HALF_FULL = 0x80008000;
    static constexpr u32 KEYS = Reader<Key, LANES>::KEYS;
    static constexpr u32 ROUNDS_A_BARRIER = HALF_FULL / (THREADS * LANES * KEYS);
    using Vector = typename Reader<Key, LANES>::Vector;

    struct Shared {
        BlockRange<Key> range;
        bool go_on;
        typename LayOut<Key>::Shared lay_out;
    };

    static constexpr u32 counter_bytes(u32 cell_bits) { return sizeof(u16) << cell_bits; }

    const Task<Key>& task;
    Shared& shared;
    // Word i has the counter of cell i in its lower half, that of cell i + words in its upper half.
    u32* counters;
    u32 words;

    __device__ Count(const Task<Key>& task, Shared& shared, u32* counters)
        : task(task), shared(shared), counters(counters), words(task.cells() / 2) {}

    __device__ void run() {
        for (u32 i = threadIdx.x; i < words; i += THREADS) counters[i] = 0;
        shared.range.zero();
        wait_for_earlier_kernels();
        if (threadIdx.x == 0) shared.go_on = task.choice->path == HYBRID;
        __syncthreads();
        if (!shared.go_on) return;
        bool has_range = threadIdx.x < task.probe_blocks;
        shared.range.add(has_range ? task.ranges[threadIdx.x] : Range<Key>{});
        __syncthreads();
        Window<Key> window(shared.range.range(), task.cell_bits());
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            task.choice->prefix = window.prefix;
            task.choice->low = window.low;
        }

        Key outside = task.codec.identity ? count<true>(window) : count<false>(window);
        if (outside & window.above) task.choice->path = ONESWEEP;
        __syncthreads();
        let_next_kernel_in();
        add_to_counts();
        if (task.cells() <= LayOut<Key>::ALONE && last_block(task.choice->done, shared.lay_out.last))
            LayOut<Key>(task, shared.lay_out).run_alone();
    }

    // Which bits of any code are not as in the prefix.
    template <bool IDENTITY>
    __device__ Key count(const Window<Key>& window) {
        Digit cell{window.low, task.cells() - 1};
        Key outside = 0;
        auto cell_of = [&](Key word) {
            Key code = IDENTITY ? word : task.codec.encode(word);
            outside |= code ^ window.prefix;
            return cell.of(code);
        };

        Reader<Key, LANES> reader(task.source, task.n);
        Key word;
        if (reader.single(word)) add(cell_of(word), 1);
        Vector now[LANES], next[LANES];
        if (reader.rounds > 0) reader.load(now, 0);
        for (u32 round = 0; round < reader.rounds; round++) {
            reader.load(next, round + 1);
#pragma unroll
            for (u32 lane = 0; lane < LANES; lane++) {
                u32 cells[KEYS];
#pragma unroll
                for (u32 k = 0; k < KEYS; k++) cells[k] = cell_of(now[lane].key[k]);
                add_vector(cells, reader.has(round, lane));
            }
            if (round % ROUNDS_A_BARRIER == ROUNDS_A_BARRIER - 1) __syncthreads();
#pragma unroll
            for (u32 lane = 0; lane < LANES; lane++) now[lane] = next[lane];
        }
        return outside;
    }

    // All lanes come here, also those that have none.
    __device__ void add_vector(const u32 (&cells)[KEYS], bool has) {
        u32 first = __shfl_sync(ALL_LANES, cells[0], 0);
        if (__all_sync(ALL_LANES, has && cells[0] == first)) {
            bool same = true;
#pragma unroll
            for (u32 k = 1; k < KEYS; k++) same = same && cells[k] == first;
            if (__all_sync(ALL_LANES, same)) {
                if (threadIdx.x % WARP == 0) add(first, WARP * KEYS);
                return;
            }
        }
        if (!has) return;
        u32 before[KEYS], filled = 0;
#pragma unroll
        for (u32 k = 0; k < KEYS; k++) {
            before[k] = atomicAdd(&counters[cells[k] & (words - 1)], in_half(cells[k], 1));
            filled |= before[k] ^ (before[k] + in_half(cells[k], 1));
        }
        if (filled & EITHER_HALF_FULL)
#pragma unroll
            for (u32 k = 0; k < KEYS; k++) take_from_full(cells[k], before[k], in_half(cells[k], 1));
    }

    // As a cell's counter has it.
    __device__ u32 in_half(u32 cell, u32 keys) const { return cell & words ? keys << 16 : keys; }

    __device__ void add(u32 cell, u32 keys) {
        u32 added = in_half(cell, keys);
        take_from_full(cell, atomicAdd(&counters[cell & (words - 1)], added), added);
    }

    __device__ void take_from_full(u32 cell, u32 before, u32 added) {
        if (((before ^ (before + added)) & EITHER_HALF_FULL) == 0) return;
        atomicSub(&counters[cell & (words - 1)], in_half(cell, HALF_FULL));
        atomicAdd(&task.counts[cell], HALF_FULL);
    }

    // Each block from another word on.
    __device__ void add_to_counts() {
        u32 start = blockIdx.x * (words / gridDim.x & ~(WARP - 1));
#pragma unroll 4
        for (u32 i = threadIdx.x; i < words; i += THREADS) {
            u32 at = (start + i) & (words - 1), both = counters[at];
            u32 lower = both % (1 << 16), upper = both >> 16;
            if (lower) atomicAdd(&task.counts[at], lower);
            if (upper) atomicAdd(&task.counts[at + words], upper);
        }
    }
};
