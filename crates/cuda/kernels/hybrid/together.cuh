// Middle sizes: all steps of a hybrid sort but refine in one launch, by blocks that wait for each other.
//
//     clear       the counts, by the first block
//     load        each block its stretch of the keys, into registers
//     sample      some keys of the whole input, for every block the same: which bits vary, the window
//     count       the block's keys of each cell; each key learns its rank among them
//        ---- the counts are cleared ----
//     flush       the counts into those of all blocks, which say where in its cell a block has room
//        ---- all blocks have counted ----
//     count       and flush again, if keys differ above the window
//     scan        where each cell begins: every block for itself
//     scatter     the block's keys, ordered by their cells in shared memory, to SCRATCH
//        ---- all blocks have scattered ----
//     sort        each cell, by a group of threads, to RESULT (group.cuh)
//
// Cells that do not fit into a group, or crowd there, are left to refine (refine.cuh). If the window
// reaches down to the lowest bit, the keys of a cell are equal: they are scattered to RESULT, and that
// is all.
//
// Shapes: n at most gridDim * TILE; 2 to CELLS cells, told by a_bits bits; b_bits 0. Workspace: choice,
// bucket_cursors, counts, begins and large, of any content. Launched cooperatively. Shared memory:
// sizeof(TogetherShared<S>).
#pragma once

#include <cooperative_groups.h>

#include "group.cuh"
#include "window.cuh"

template <class Key_, u32 THREADS_, u32 ITEMS_, class Group_>
struct TogetherShape {
    using Key = Key_;
    using Group = Group_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, BLOCKS = 1, TILE = THREADS * ITEMS;
    static constexpr u32 WARPS = THREADS / WARP, GROUPS = THREADS / Group::THREADS;
    static constexpr u32 CELLS = 1024;
    // Cells that a thread scans.
    static constexpr u32 EACH = (CELLS + THREADS - 1) / THREADS;
    static_assert(GROUPS <= 16, "each group has a barrier");
    static_assert(TILE <= 1 << 16, "ranks");
};

template <class S>
struct TogetherShared {
    // Where each cell begins, the last n.
    u32 begins[S::CELLS + 1];
    union {
        BlockRange<typename S::Key, S::THREADS> sample;
        struct {
            // The block's keys of each cell; then its first key's slot.
            u32 counts[S::CELLS];
            // Where a cell's keys go, less their slots.
            u32 bases[S::CELLS];
            // Sums of the warps: of all blocks' keys, of this one's.
            u32 totals[S::WARPS], sums[S::WARPS];
            // By slots: ordered by their cells.
            typename S::Key keys[S::TILE];
        };
        GroupShared<typename S::Group> groups[S::GROUPS];
    };
};

template <class S>
struct Together {
    using Key = typename S::Key;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, EACH = S::EACH, WARPS = S::WARPS;

    const Task<Key>& task;
    TogetherShared<S>& shared;
    const u32 thread = threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    // The block's stretch.
    u32 begin, count;
    // Neighbours in neighbouring lanes.
    Key key[ITEMS];
    // The thread's key of the sample.
    Key sampled;
    RankPairs<ITEMS> rank;
    // Of the cells that the thread scans: how many keys all blocks have, and where in the cell this
    // block's begin.
    u32 total[EACH], room[EACH];

    __device__ Together(const Task<Key>& task, TogetherShared<S>& shared) : task(task), shared(shared) {
        u32 share = (task.n + gridDim.x - 1) / gridDim.x;
        begin = min(blockIdx.x * share, task.n);
        count = min(share, task.n - begin);
    }

    // With j for each key that the thread has.
    template <class Does>
    __device__ void for_own(Does does) const {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS >= count) break;
            if (j * THREADS + thread < count) does(j);
        }
    }

    // What the blocks count in: the second time, if they have to, apart.
    __device__ void clear() {
        for (u32 i = thread; i < task.cells(); i += THREADS) task.bucket_cursors[i] = task.counts[i] = 0;
        for (u32 i = thread; i < task.zero_vectors; i += THREADS) task.zeros[i] = uint4{};
        __syncthreads();
        if (thread == 0) *task.choice = Choice<Key>{};
    }

    __device__ void load() {
        const Key* own = task.source + begin + thread;
        for_own([&](u32 j) { key[j] = own[j * THREADS]; });
    }

    // Keys evenly spread over the input, one a thread.
    __device__ Window<Key> sample() {
        sampled = task.codec.encode(task.source[u64(thread) * task.n / THREADS]);
        shared.sample.put({sampled, sampled});
        __syncthreads();
        Range<Key> range = shared.sample.of_block();
        __syncthreads();
        return Window<Key>::without_base(range, task.a_bits);
    }

    // Whether a tenth of the sample is in cells that have CROWD times their share and more bits to
    // be sorted by, and is not what the cell's last one is: equal keys go fast. Then a pass for each
    // byte is quicker. All blocks say the same.
    __device__ bool crowded(Digit cell) {
        constexpr u32 CROWD = 8;
        if (cell.shift == 0) return false;
        for (u32 i = thread; i < task.cells(); i += THREADS) shared.counts[i] = shared.bases[i] = 0;
        shared.keys[thread] = sampled;
        __syncthreads();
        u32 own = cell.of(sampled);
        atomicAdd(&shared.counts[own], 1);
        atomicMax(&shared.bases[own], thread);
        __syncthreads();
        u32 share = (THREADS >> task.a_bits) + 1;
        bool crowds = shared.counts[own] > CROWD * share && sampled != shared.keys[shared.bases[own]];
        return __syncthreads_count(crowds) > THREADS / 10;
    }

    __device__ Digit cell_of(const Window<Key>& window) const { return Digit{window.low, task.cells() - 1}; }

    __device__ void count_cells(Digit cell) {
        for (u32 i = thread; i < task.cells(); i += THREADS) shared.counts[i] = 0;
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS + warp * WARP >= count) break;
            bool own = j * THREADS + thread < count;
            u32 digit = cell.of(key[j]), of_first = __shfl_sync(ALL_LANES, digit, 0);
            // Keys in order are of one cell for long.
            if (__all_sync(ALL_LANES, own && digit == of_first)) {
                u32 before = 0;
                if (lane == 0) before = atomicAdd(&shared.counts[digit], WARP);
                rank.set(j, __shfl_sync(ALL_LANES, before, 0) + lane);
            } else if (own) {
                rank.set(j, atomicAdd(&shared.counts[digit], 1));
            }
        }
        __syncthreads();
    }

    // Takes room for the block's keys in each cell.
    __device__ void flush(u32* counts) {
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i, own = cell < task.cells() ? shared.counts[cell] : 0;
            if (own) room[i] = atomicAdd(&counts[cell], own);
        }
    }

    // In which bits keys differ above the window.
    __device__ void tell_varying(const Window<Key>& window) {
        Key varying = 0;
        for_own([&](u32 j) { varying |= (key[j] ^ window.prefix) & window.above; });
        if (varying == 0) return;
        u32* words = reinterpret_cast<u32*>(&task.choice->varying);
#pragma unroll
        for (u32 i = 0; i < sizeof(Key) / sizeof(u32); i++) atomicOr(&words[i], u32(varying >> (32 * i)));
    }

    __device__ void read_totals(const u32* counts) {
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i;
            total[i] = cell < task.cells() ? counts[cell] : 0;
        }
    }

    // The sum over this lane and those before.
    __device__ u32 through_lanes(u32 sum) const {
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        return sum;
    }

    // Where each cell begins, and where the block's keys go.
    __device__ void scan() {
        u32 own[EACH], totals = 0, sum = 0;
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 cell = thread * EACH + i;
            own[i] = cell < task.cells() ? shared.counts[cell] : 0;
            totals += total[i];
            sum += own[i];
        }
        u32 totals_through = through_lanes(totals), sum_through = through_lanes(sum);
        if (lane == WARP - 1) {
            shared.totals[warp] = totals_through;
            shared.sums[warp] = sum_through;
        }
        __syncthreads();
        if (warp * WARP * EACH < task.cells()) {
            u32 begin = sum_of_warp(lane < warp ? shared.totals[lane] : 0) + totals_through - totals;
            u32 slot = sum_of_warp(lane < warp ? shared.sums[lane] : 0) + sum_through - sum;
#pragma unroll
            for (u32 i = 0; i < EACH; i++) {
                u32 cell = thread * EACH + i;
                if (cell < task.cells()) {
                    put_begin(cell, begin);
                    shared.counts[cell] = slot;
                    shared.bases[cell] = begin + room[i] - slot;
                }
                begin += total[i];
                slot += own[i];
            }
        }
        if (thread == 0) put_begin(task.cells(), task.n);
        __syncthreads();
    }

    __device__ void put_begin(u32 cell, u32 begin) {
        shared.begins[cell] = begin;
        if (blockIdx.x == 0) task.begins[cell] = begin;
    }

    template <class Code>
    __device__ void scatter(Digit cell, Key* to, Code code) {
        for_own([&](u32 j) { shared.keys[shared.counts[cell.of(key[j])] + rank[j]] = key[j]; });
        __syncthreads();
        for_own([&](u32 j) {
            u32 slot = j * THREADS + thread;
            Key own = shared.keys[slot];
            to[shared.bases[cell.of(own)] + slot] = code(own);
        });
    }

    __device__ void sort_cells(u32 bits) {
        using Cell = Group<typename S::Group>;
        u32 group = thread / Cell::THREADS;
        for (u32 c = blockIdx.x + gridDim.x * group; c < task.cells(); c += gridDim.x * S::GROUPS) {
            u32 begin = shared.begins[c], in_cell = shared.begins[c + 1] - begin;
            if (in_cell == 0) continue;
            const Key* from = task.scratch + begin;
            bool sorted = in_cell <= S::Group::CAPACITY &&
                          Cell(shared.groups[group]).sort(from, task.result + begin, in_cell, bits, task.codec);
            if (!sorted && thread % Cell::THREADS == 0) task.large[atomicAdd(&task.choice->large, 1)] = c;
        }
    }

    __device__ void run() {
        cooperative_groups::grid_group grid = cooperative_groups::this_grid();
        wait_for_earlier_kernels();
        if (blockIdx.x == 0) clear();
        task.clear_steps();
        auto cleared = grid.barrier_arrive();
        load();
        Window<Key> window = sample();
        for_own([&](u32 j) { key[j] = task.codec.encode(key[j]); });
        Digit cell = cell_of(window);
        if (task.may_onesweep && crowded(cell)) {
            grid.barrier_wait(static_cast<decltype(cleared)&&>(cleared));
            if (blockIdx.x == 0 && thread == 0) task.choice->path = ONESWEEP;
            return;
        }
        count_cells(cell);
        grid.barrier_wait(static_cast<decltype(cleared)&&>(cleared));
        flush(task.bucket_cursors);
        tell_varying(window);
        grid.sync();

        Key varying = task.choice->varying;
        read_totals(task.bucket_cursors);
        if (varying != 0) {
            cell = cell_of(Window<Key>({0, varying}, task.a_bits));
            count_cells(cell);
            flush(task.counts);
            grid.sync();
            read_totals(task.counts);
        }
        if (blockIdx.x == 0 && thread == 0) task.choice->low = cell.shift;
        scan();
        if (cell.shift == 0)
            return scatter(cell, task.result, [&](Key code) { return task.codec.decode(code); });
        scatter(cell, task.scratch, [](Key code) { return code; });
        grid.sync();
        let_next_kernel_in();
        sort_cells(cell.shift);
    }
};
