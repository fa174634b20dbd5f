// Middle sizes: all steps of a hybrid sort in one launch, by blocks that wait for each other.
//
//     clear       the counts, by the first block
//     load        each block its stretch of the keys, into registers
//     sample      which bits vary in some of the keys: every block the same guess of the window
//     count       the block's keys of each cell; each key learns its rank among them
//     flush       the counts into those of all blocks, which say where in its cell a block has room
//        ---- wait for all blocks ----
//     count       again, if keys differ above the window
//     scan        where each cell begins: every block for itself
//     scatter     each key to its cell in SCRATCH
//        ---- wait for all blocks ----
//     local       each cell, by a group of threads, to RESULT
//
// Cells of keys that agree in all bits are scattered to RESULT, and nothing is left to do. Those that
// are too large for a group are left to refine (refine.cuh).
//
// Shapes: n at most gridDim * TILE, 2^a_bits cells at most CELLS, b_bits 0. Workspace: bucket_cursors
// and counts, of any content. Launched cooperatively: at most BLOCKS blocks a multiprocessor.
#pragma once

#include <cooperative_groups.h>

#include "task.cuh"
#ifndef MARK
#define MARK(i)
#endif

// GROUP threads sort a cell.
template <class Key_, u32 THREADS_, u32 ITEMS_, u32 BLOCKS_, u32 GROUP_, u32 LOCAL_ITEMS_, u32 FLAGS_ = 0>
struct TogetherShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, BLOCKS = BLOCKS_, TILE = THREADS * ITEMS;
    static constexpr u32 GROUP = GROUP_, GROUPS = THREADS / GROUP, WARPS = THREADS / WARP;
    static constexpr u32 LOCAL_ITEMS = LOCAL_ITEMS_, CAPACITY = GROUP * LOCAL_ITEMS;
    static constexpr u32 CELLS = 1024;
    // Cells that a thread scans.
    static constexpr u32 EACH = (CELLS + THREADS - 1) / THREADS;
    static constexpr u32 BINS = 8 * GROUP;
    static constexpr bool LOAD_FIRST = FLAGS_ & 1, CLAIM = FLAGS_ & 2;
};

// Of keys that a thread has: how many of the same digit are before each. Less than 2^16.
template <u32 ITEMS>
struct Ranks {
    u32 pairs[(ITEMS + 1) / 2];

    __device__ void set(u32 j, u32 rank) {
        pairs[j / 2] = j % 2 ? __byte_perm(pairs[j / 2], rank, 0x5410) : rank;
    }

    __device__ u32 operator[](u32 j) const { return j % 2 ? pairs[j / 2] >> 16 : pairs[j / 2] & 0xffff; }
};

template <class S>
struct GroupShared {
    typename S::Key keys[S::CAPACITY];
    alignas(16) u32 bins[S::BINS + 4];
    u32 sums[S::GROUP / WARP];
};

template <class S>
struct GroupSort {
    using Key = typename S::Key;
    static constexpr u32 THREADS = S::GROUP, ITEMS = S::LOCAL_ITEMS, EACH = 8;
    // Keys of a bin that are compared one by one.
    static constexpr u32 CROWD = 32;
    GroupShared<S>& shared;
    const u32 group = threadIdx.x / THREADS, thread = threadIdx.x % THREADS, lane = threadIdx.x % WARP, warp = thread / WARP;
    __device__ GroupSort(GroupShared<S>& shared) : shared(shared) {}

    __device__ void sync() const {
        if constexpr (S::GROUPS == 1)
            __syncthreads();
        else if constexpr (THREADS == WARP)
            __syncwarp();
        else
            asm volatile("bar.sync %0, %1;" ::"r"(group), "r"(THREADS) : "memory");
    }

    // False if the keys crowd in some bin: then nothing is written.
    __device__ bool sort(const Key* from, Key* to, u32 count, u32 bits, const Codec<Key>& codec) {
        u32 bin_bits = min(bits, min(31 - __clz(S::BINS), max(5u, 33 - __clz(count))));
        Digit bin = {bits - bin_bits, (1u << bin_bits) - 1};
        bool exact = bits == bin_bits;
        Key key[ITEMS];
        Ranks<ITEMS> rank;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) key[j] = from[j * THREADS + thread];
        }
        for (u32 i = thread * 4; i <= bin.mask; i += THREADS * 4)
            *reinterpret_cast<uint4*>(&shared.bins[i]) = uint4{0, 0, 0, 0};
        sync();
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) rank.set(j, atomicAdd(&shared.bins[bin.of(key[j])], 1));
        }
        sync();
        if (!scan(bin.mask, exact)) return false;
        if (thread == 0) shared.bins[bin.mask + 1] = count;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) shared.keys[shared.bins[bin.of(key[j])] + rank[j]] = key[j];
        }
        sync();
#pragma unroll 2
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            u32 slot = j * THREADS + thread;
            if (slot < count) {
                Key own = shared.keys[slot];
                u32 place = slot;
                if (!exact) {
                    u32 digit = bin.of(own), end = shared.bins[digit + 1];
                    place = shared.bins[digit];
                    for (u32 i = place; i < end; i++) {
                        Key other = shared.keys[i];
                        place += other < own || (other == own && i < slot);
                    }
                }
                to[place] = codec.decode(own);
            }
        }
        sync();
        return true;
    }

    // Turns counts into begins; false if one is too large.
    __device__ bool scan(u32 last, bool exact) {
        u32 own[EACH], sum = 0;
        bool any = thread * EACH <= last, crowd = false;
        uint4* vectors = reinterpret_cast<uint4*>(&shared.bins[thread * EACH]);
        if (any) {
            uint4 a = vectors[0], b = vectors[1];
            own[0] = a.x, own[1] = a.y, own[2] = a.z, own[3] = a.w;
            own[4] = b.x, own[5] = b.y, own[6] = b.z, own[7] = b.w;
#pragma unroll
            for (u32 i = 0; i < EACH; i++) {
                sum += own[i];
                crowd |= own[i] > CROWD;
            }
        }
        u32 through = sum;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left = __shfl_up_sync(ALL_LANES, through, step);
            if (lane >= step) through += left;
        }
        crowd = __any_sync(ALL_LANES, crowd);
        if (lane == WARP - 1) shared.sums[warp] = through << 1 | crowd;
        sync();
        u32 before = through - sum, crowds = 0;
#pragma unroll
        for (u32 w = 0; w < THREADS / WARP; w++) {
            u32 both = shared.sums[w];
            if (w < warp) before += both >> 1;
            crowds |= both & 1;
        }
        if (crowds && !exact) return false;
        if (any) {
#pragma unroll
            for (u32 i = 0; i < EACH; i++) {
                u32 next = before + own[i];
                own[i] = before;
                before = next;
            }
            vectors[0] = uint4{own[0], own[1], own[2], own[3]};
            vectors[1] = uint4{own[4], own[5], own[6], own[7]};
        }
        sync();
        return true;
    }
};

template <class S>
struct TogetherShared {
    using Key = typename S::Key;
    // Where each cell begins, the last n.
    u32 begins[S::CELLS + 1];
    u32 sums[2][WARP];
    u64 varying[2][WARP];
    union {
        struct {
            // The block's keys of each cell; then where the next one goes.
            u32 counts[S::CELLS];
            // Where a cell's keys go, less their slot.
            u32 bases[S::CELLS];
            Key keys[S::TILE];
        };
        GroupShared<S> groups[S::GROUPS];
    };
};

template <class Key, class S>
struct Together {
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, EACH = S::EACH, WARPS = S::WARPS;

    const Task<Key>& task;
    TogetherShared<S>& shared;
    const u32 thread = threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    // The block's stretch.
    u32 begin, count;
    // All codes are as this one, but for bits that vary.
    Key first;
    Key key[ITEMS];
    Ranks<ITEMS> rank;
    u32 room[EACH];
    // All blocks' keys of the cells that the thread scans.
    u32 totals[EACH];

    __device__ Together(const Task<Key>& task, TogetherShared<S>& shared) : task(task), shared(shared) {
        u32 share = (task.n + gridDim.x - 1) / gridDim.x;
        begin = min(blockIdx.x * share, task.n);
        count = min(share, task.n - begin);
    }

    __device__ void clear() {
        for (u32 i = thread; i < task.cells(); i += THREADS) task.bucket_cursors[i] = task.counts[i] = 0;
        if (thread == 0) {
            Choice<Key>& choice = *task.choice;
            choice.varying = 0;
            choice.path = HYBRID;
            choice.large = 0;
            choice.queue = Queue{};
        }
    }

    __device__ void load() {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) key[j] = task.source[begin + j * THREADS + thread];
        }
    }

    __device__ static u64 or_of_lanes(u64 own) {
#if __CUDA_ARCH__ >= 800
        u64 high = __reduce_or_sync(ALL_LANES, u32(own >> 32));
        return high << 32 | __reduce_or_sync(ALL_LANES, u32(own));
#else
#pragma unroll
        for (u32 step = WARP / 2; step > 0; step /= 2) own |= __shfl_xor_sync(ALL_LANES, own, step);
        return own;
#endif
    }

    static constexpr u32 HALVES = sizeof(Key) > 8 ? 2 : 1;

    // The highest bit that varies, and one more.
    __device__ static u32 bits_of(Key varying) {
        u64 low = u64(varying), high = 0;
        if constexpr (HALVES == 2) high = u64(varying >> 64);
        return high ? 128 - __clzll(high) : 64 - __clzll(low);
    }

    __device__ Digit window(Key varying) const {
        u32 bits = bits_of(varying);
        return Digit{bits - min(bits, task.a_bits), task.cells() - 1};
    }

    // Bits that vary in a sample.
    __device__ Key sample() {
        Key own = task.codec.encode(task.source[u64(thread) * task.n / THREADS]) ^ first;
#pragma unroll
        for (u32 half = 0; half < HALVES; half++) {
            u64 varying = or_of_lanes(u64(own >> (64 * half)));
            if (lane == 0) shared.varying[half][warp] = varying;
        }
        __syncthreads();
        Key all = 0;
#pragma unroll
        for (u32 half = 0; half < HALVES; half++)
            all |= Key(or_of_lanes(lane < WARPS ? shared.varying[half][lane] : 0)) << (64 * half);
        return all;
    }

    // Counts the block's keys, and takes room for them.
    __device__ void count_cells(Digit cell) {
        for (u32 i = thread; i < task.cells(); i += THREADS) shared.counts[i] = 0;
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS + warp * WARP >= count) break;
            bool own = j * THREADS + thread < count;
            u32 digit = cell.of(key[j]), digit_of_first = __shfl_sync(ALL_LANES, digit, 0);
            // Keys in order have one digit for long.
            if (__all_sync(ALL_LANES, own && digit == digit_of_first)) {
                u32 before = 0;
                if (lane == 0) before = atomicAdd(&shared.counts[digit], WARP);
                rank.set(j, __shfl_sync(ALL_LANES, before, 0) + lane);
            } else if (own) {
                rank.set(j, atomicAdd(&shared.counts[digit], 1));
            }
        }
        __syncthreads();
    }

    __device__ void flush(u32* all) {
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i, own = cell < task.cells() ? shared.counts[cell] : 0;
            if (own) room[i] = atomicAdd(&all[cell], own);
        }
    }

    // Tells the others if keys differ above the window.
    __device__ void tell_outliers(Digit cell) {
        u32 above = cell.shift + task.a_bits;
        if (above >= task.key_bits) return;
        Key varying = 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) varying |= key[j] ^ first;
        }
        varying = varying >> above << above;
        if (varying == 0) return;
        if constexpr (sizeof(Key) == 4) {
            atomicOr(&task.choice->varying, varying);
        } else {
            u64* words = reinterpret_cast<u64*>(&task.choice->varying);
            for (u32 half = 0; half < HALVES; half++) atomicOr(&words[half], u64(varying >> (64 * half)));
        }
    }

    // Where each cell begins, and each of the block's keys goes.
    __device__ void scan() {
        u32 counts[EACH], total = 0, count = 0;
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i;
            counts[i] = cell < task.cells() ? shared.counts[cell] : 0;
            total += totals[i];
            count += counts[i];
        }
        u32 totals_through = total, counts_through = count;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left_total = __shfl_up_sync(ALL_LANES, totals_through, step);
            u32 left_count = __shfl_up_sync(ALL_LANES, counts_through, step);
            if (lane >= step) totals_through += left_total, counts_through += left_count;
        }
        if (lane == WARP - 1) {
            shared.sums[0][warp] = totals_through;
            shared.sums[1][warp] = counts_through;
        }
        __syncthreads();
        u32 begin = totals_through - total, slot = counts_through - count;
#pragma unroll
        for (u32 w = 0; w < WARPS; w++)
            if (w < warp) begin += shared.sums[0][w], slot += shared.sums[1][w];
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i;
            if (cell < task.cells()) {
                shared.begins[cell] = begin;
                if (blockIdx.x == 0) task.begins[cell] = begin;
                shared.counts[cell] = slot;
                shared.bases[cell] = begin + room[i] - slot;
            }
            begin += totals[i];
            slot += counts[i];
        }
        if (thread == 0) {
            shared.begins[task.cells()] = task.n;
            if (blockIdx.x == 0) task.begins[task.cells()] = task.n;
        }
        __syncthreads();
    }

    template <class Code>
    __device__ void scatter(Digit cell, Key* to, Code code) {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) shared.keys[shared.counts[cell.of(key[j])] + rank[j]] = key[j];
        }
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            u32 slot = j * THREADS + thread;
            if (slot < count) {
                Key own = shared.keys[slot];
                to[shared.bases[cell.of(own)] + slot] = code(own);
            }
        }
    }

    __device__ void read_totals(const u32* all) {
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i;
            totals[i] = cell < task.cells() ? all[cell] : 0;
        }
    }

    __device__ void sort_cells(Digit cell) {
        u32 group = thread / S::GROUP;
        for (u32 c = blockIdx.x + gridDim.x * group; c < task.cells(); c += gridDim.x * S::GROUPS) {
            u32 begin = shared.begins[c], count = shared.begins[c + 1] - begin;
            if (count == 0) continue;
            bool sorted = count <= S::CAPACITY &&
                          GroupSort<S>(shared.groups[group])
                              .sort(task.scratch + begin, task.result + begin, count, cell.shift, task.codec);
            if (!sorted && thread % S::GROUP == 0) task.large[atomicAdd(&task.choice->large, 1)] = c;
        }
    }

    __device__ void run() {
        cooperative_groups::grid_group grid = cooperative_groups::this_grid();
        wait_for_earlier_kernels();
        MARK(0);
        let_next_kernel_in();
        if (S::LOAD_FIRST) load();
        if (blockIdx.x == 0) clear();
        auto cleared = grid.barrier_arrive();
        if (!S::LOAD_FIRST) load();
        first = task.codec.encode(task.source[0]);
        Digit cell = window(sample());
        MARK(1);
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) key[j] = task.codec.encode(key[j]);
        }
        u32* all = task.bucket_cursors;
        count_cells(cell);
        MARK(2);
        grid.barrier_wait(static_cast<decltype(cleared)&&>(cleared));
        MARK(3);
        flush(all);
        tell_outliers(cell);
        MARK(4);
        grid.sync();
        MARK(5);
        Key varying = task.choice->varying;
        read_totals(all);
        if (varying != 0) {
            cell = window(varying);
            all = task.counts;
            __syncthreads();
            count_cells(cell);
            flush(all);
            grid.sync();
            read_totals(all);
        }
        if (blockIdx.x == 0 && thread == 0) task.choice->low = cell.shift;
        scan();
        MARK(6);
        if (cell.shift == 0) {
            scatter(cell, task.result, [&](Key code) { return task.codec.decode(code); });
            return;
        }
        scatter(cell, task.scratch, [](Key code) { return code; });
        MARK(7);
        grid.sync();
        MARK(8);
        sort_cells(cell);
        MARK(9);
    }
};
