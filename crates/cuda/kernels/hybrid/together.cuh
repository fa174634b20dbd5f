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
template <class Key_, u32 THREADS_, u32 ITEMS_, u32 BLOCKS_, u32 GROUP_, u32 LOCAL_ITEMS_, bool ORDERED_>
struct TogetherShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, BLOCKS = BLOCKS_, TILE = THREADS * ITEMS;
    static constexpr u32 GROUP = GROUP_, GROUPS = THREADS / GROUP, WARPS = THREADS / WARP;
    static constexpr u32 LOCAL_ITEMS = LOCAL_ITEMS_, CAPACITY = GROUP * LOCAL_ITEMS;
    static constexpr u32 CELLS = 1024;
    // Cells that a thread scans.
    static constexpr u32 EACH = (CELLS + THREADS - 1) / THREADS;
    static constexpr u32 BINS = 8 * GROUP;
    static constexpr bool ORDERED = ORDERED_;
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
    GroupShared<S>& shared;
    const u32 group = threadIdx.x / THREADS, thread = threadIdx.x % THREADS, lane = threadIdx.x % WARP, warp = thread / WARP;
    __device__ GroupSort(GroupShared<S>& shared) : shared(shared) {}

    __device__ void sync() const {
        if constexpr (S::GROUPS == 1)
            __syncthreads();
        else if constexpr (THREADS == WARP)
            __syncwarp();
        else
            asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(THREADS) : "memory");
    }

    __device__ void sort(const Key* from, Key* to, u32 count, u32 bits, const Codec<Key>& codec) {
        u32 bin_bits = min(bits, min(31 - __clz(S::BINS), max(5u, 33 - __clz(count))));
        Digit bin = {bits - bin_bits, (1u << bin_bits) - 1};
        Key key[ITEMS];
        u32 rank[ITEMS];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++)
            if (j * THREADS + thread < count) key[j] = from[j * THREADS + thread];
        for (u32 i = thread * 4; i <= bin.mask; i += THREADS * 4)
            *reinterpret_cast<uint4*>(&shared.bins[i]) = uint4{0, 0, 0, 0};
        sync();
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++)
            if (j * THREADS + thread < count) rank[j] = atomicAdd(&shared.bins[bin.of(key[j])], 1);
        sync();
        u32 own[EACH], sum = 0;
        bool any = thread * EACH <= bin.mask;
        if (any) {
            uint4 a = *reinterpret_cast<uint4*>(&shared.bins[thread * EACH]);
            uint4 b = *reinterpret_cast<uint4*>(&shared.bins[thread * EACH + 4]);
            own[0] = a.x, own[1] = a.y, own[2] = a.z, own[3] = a.w, own[4] = b.x, own[5] = b.y, own[6] = b.z, own[7] = b.w;
#pragma unroll
            for (u32 i = 0; i < EACH; i++) sum += own[i];
        }
        u32 inclusive = sum;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left = __shfl_up_sync(ALL_LANES, inclusive, step);
            if (lane >= step) inclusive += left;
        }
        if (lane == WARP - 1) shared.sums[warp] = inclusive;
        sync();
        u32 before = inclusive - sum;
#pragma unroll
        for (u32 w = 0; w < THREADS / WARP; w++)
            if (w < warp) before += shared.sums[w];
        if (any) {
#pragma unroll
            for (u32 i = 0; i < EACH; i++) {
                u32 next = before + own[i];
                own[i] = before;
                before = next;
            }
            *reinterpret_cast<uint4*>(&shared.bins[thread * EACH]) = uint4{own[0], own[1], own[2], own[3]};
            *reinterpret_cast<uint4*>(&shared.bins[thread * EACH + 4]) = uint4{own[4], own[5], own[6], own[7]};
        }
        sync();
        if (thread == 0) shared.bins[bin.mask + 1] = count;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++)
            if (j * THREADS + thread < count) shared.keys[shared.bins[bin.of(key[j])] + rank[j]] = key[j];
        sync();
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            u32 slot = j * THREADS + thread;
            if (slot < count) {
                Key own = shared.keys[slot];
                u32 digit = bin.of(own), begin = shared.bins[digit], end = shared.bins[digit + 1], place = begin;
                if (bits > bin_bits) {
                    for (u32 i = begin; i < end; i++) {
                        Key other = shared.keys[i];
                        place += other < own || (other == own && i < slot);
                    }
                } else place = slot;
                to[place] = codec.decode(own);
            }
        }
        sync();
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
            Key keys[S::ORDERED ? S::TILE : 1];
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
    u32 rank[ITEMS];
    u32 room[EACH];

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
        for (u32 j = 0; j < ITEMS; j++)
            if (j * THREADS + thread < count) key[j] = task.source[begin + j * THREADS + thread];
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
    __device__ void count_cells(Digit cell, u32* all) {
        for (u32 i = thread; i < task.cells(); i += THREADS) shared.counts[i] = 0;
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS + warp * WARP >= count) break;
            bool own = j * THREADS + thread < count;
            u32 digit = cell.of(key[j]);
            // Keys in order have one digit for long.
            if (__all_sync(ALL_LANES, own && digit == __shfl_sync(ALL_LANES, digit, 0))) {
                u32 before = 0;
                if (lane == 0) before = atomicAdd(&shared.counts[digit], WARP);
                rank[j] = __shfl_sync(ALL_LANES, before, 0) + lane;
            } else if (own) {
                rank[j] = atomicAdd(&shared.counts[digit], 1);
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
        for (u32 j = 0; j < ITEMS; j++)
            if (j * THREADS + thread < count) varying |= key[j] ^ first;
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
    __device__ void scan(const u32* all) {
        u32 totals[EACH], counts[EACH], total = 0, count = 0;
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i;
            totals[i] = cell < task.cells() ? all[cell] : 0;
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
                if constexpr (S::ORDERED) {
                    shared.counts[cell] = slot;
                    shared.bases[cell] = begin + room[i] - slot;
                } else {
                    shared.bases[cell] = begin + room[i];
                }
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
        if constexpr (S::ORDERED) {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++)
                if (j * THREADS + thread < count) shared.keys[shared.counts[cell.of(key[j])] + rank[j]] = key[j];
            __syncthreads();
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++) {
                u32 slot = j * THREADS + thread;
                if (slot < count) {
                    Key own = shared.keys[slot];
                    to[shared.bases[cell.of(own)] + slot] = code(own);
                }
            }
        } else {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++)
                if (j * THREADS + thread < count) to[shared.bases[cell.of(key[j])] + rank[j]] = code(key[j]);
        }
    }

    __device__ void sort_cells(Digit cell) {
        u32 group = thread / S::GROUP;
        for (u32 c = blockIdx.x + gridDim.x * group; c < task.cells(); c += gridDim.x * S::GROUPS) {
            u32 begin = shared.begins[c], count = shared.begins[c + 1] - begin;
            if (count == 0) continue;
            if (count <= S::CAPACITY) {
                GroupSort<S>(shared.groups[group])
                    .sort(task.scratch + begin, task.result + begin, count, cell.shift, task.codec);
            } else if (thread % S::GROUP == 0) {
                task.large[atomicAdd(&task.choice->large, 1)] = c;
            }
        }
    }

    __device__ void run() {
        cooperative_groups::grid_group grid = cooperative_groups::this_grid();
        wait_for_earlier_kernels();
        MARK(0);
        if (blockIdx.x == 0) clear();
        auto cleared = grid.barrier_arrive();
        load();
        first = task.codec.encode(task.source[0]);
        Digit cell = window(sample());
        MARK(1);
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++)
            if (j * THREADS + thread < count) key[j] = task.codec.encode(key[j]);
        u32* all = task.bucket_cursors;
        count_cells(cell, all);
        MARK(2);
        grid.barrier_wait(static_cast<decltype(cleared)&&>(cleared));
        MARK(3);
        flush(all);
        tell_outliers(cell);
        MARK(4);
        grid.sync();
        MARK(5);
        Key varying = task.choice->varying;
        if (varying != 0) {
            cell = window(varying);
            all = task.counts;
            __syncthreads();
            count_cells(cell, all);
            flush(all);
            grid.sync();
        }
        if (blockIdx.x == 0 && thread == 0) task.choice->low = cell.shift;
        scan(all);
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
        let_next_kernel_in();
    }
};
