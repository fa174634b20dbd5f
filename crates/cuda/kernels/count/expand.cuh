// The result, written from where its cells end.
//
//     for each share of the block, and each group that has keys in it:
//         fetch   where its cells end
//         write   for each vector of the result: the cell of its first key, then the next ones
//
// Grid: up to BLOCKS a multiprocessor, no more than shares. Neighbouring shares are written at a time.
#pragma once

#include "task.cuh"
#include "vectors.cuh"

template <class Key, u32 THREADS_ = 256>
struct Expand {
    static constexpr u32 THREADS = THREADS_, BLOCKS = MOST_THREADS * 3 / 4 / THREADS, WARPS = THREADS / WARP;
    static constexpr u32 GROUP = Task<Key>::GROUP, GROUPS = Task<Key>::GROUPS;
    static constexpr u32 KEYS = Vectors<Key>::KEYS;
    static_assert(THREADS >= GROUP, "a thread has a cell");
    // What fetching a group costs, in keys.
    static constexpr u32 FETCH = 4096;

    union Vector {
        uint4 words;
        Key key[KEYS];
    };

    struct Shared {
        // Where each group begins in the result.
        u64 begins[GROUPS];
        u64 warps[GROUP / WARP];
        // Of the share: its begin and end, and the groups of its first and last key.
        u64 places[2];
        u32 groups[2];
        // Of the cells that have keys: where they end in the piece, and their words.
        u32 ends[GROUP];
        Key words[GROUP];
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 thread = threadIdx.x, lane = thread % WARP, warp = thread / WARP;

    __device__ Expand(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    // The sum of what the threads before gave, of the first GROUP.
    __device__ u64 exclusive(u64 own) {
        u64 sum = own;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u64 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1 && thread < GROUP) shared.warps[warp] = sum;
        __syncthreads();
        u64 before = sum - own;
#pragma unroll
        for (u32 w = 0; w < GROUP / WARP; w++)
            if (w < warp) before += shared.warps[w];
        return before;
    }

    // The last group that begins at or before x, where each takes `extra` more room.
    __device__ u32 group_at(u64 x, u32 extra) const {
        u32 group = 0;
#pragma unroll
        for (u32 step = GROUPS / 2; step > 0; step /= 2)
            if (shared.begins[group + step] + u64(group + step) * extra <= x) group += step;
        return group;
    }

    __device__ u64 end_of(u32 group) const { return group + 1 < GROUPS ? shared.begins[group + 1] : task.n; }

    // Where a share begins. They are equal parts of groups, or else equal in keys and groups together.
    __device__ u64 begin_of(u32 number) const {
        if (number == task.shares) return task.n;
        if (task.parts) {
            u32 group = number / task.parts;
            u64 begin = shared.begins[group], keys = end_of(group) - begin;
            return begin + keys * (number % task.parts) / task.parts;
        }
        u64 x = (task.n + u64(GROUPS) * FETCH) * number / task.shares;
        u32 group = group_at(x, FETCH);
        u64 begin = shared.begins[group], keys = end_of(group) - begin;
        double part = double(x - begin - u64(group) * FETCH) / double(keys + FETCH);
        return begin + min(u64(part * double(keys)), keys);
    }

    // The share's begin and end, and the groups of its first and last key.
    __device__ void locate(u32 share) {
        if (warp > 0) return;
        u64 at = begin_of(share + lane % 2), from = __shfl_sync(ALL_LANES, at, 0);
        bool empty = __shfl_sync(ALL_LANES, at, 1) == from;
        u32 group = task.parts ? share / task.parts : empty ? 0 : group_at(at - lane % 2, 0);
        if (lane < 2) {
            shared.places[lane] = at;
            shared.groups[lane] = group;
        }
    }

    // The cells of a group, for the piece of the result between two places.
    __device__ void fetch(u32 group, u64 from, u64 to) {
        if (thread < GROUP) {
            u64 begin = shared.begins[group], end = task.ends[group * GROUP + thread];
            shared.ends[thread] = end == ~0ull ? ~0u : u32(max(min(begin + end, to), from) - from);
            shared.words[thread] = task.words[group * GROUP + thread];
        }
        __syncthreads();
    }

    // The cell in which a place of the piece lies: how many end at or before it.
    __device__ u32 cell_at(u32 place) const {
        u32 cell = 0;
#pragma unroll
        for (u32 step = GROUP / 2; step > 0; step /= 2)
            if (shared.ends[cell + step - 1] <= place) cell += step;
        return cell;
    }

    // The same where it is known to be between two cells.
    __device__ u32 cell_at(u32 place, u32 cell, u32 last) const {
        while (cell < last) {
            u32 middle = (cell + last) / 2;
            if (shared.ends[middle] <= place)
                cell = middle + 1;
            else
                last = middle;
        }
        return cell;
    }

    __device__ static uint4 splat(Key word) {
        u32 words = word * (~0u / Key(~0u));
        return uint4{words, words, words, words};
    }

    // The vector that begins at a place of a cell.
    __device__ uint4 vector_at(u32 place, u32 cell) const {
        Vector vector;
        u32 end = shared.ends[cell];
        Key word = shared.words[cell];
        if (end - place >= KEYS) return splat(word);
#pragma unroll
        for (u32 k = 0; k < KEYS; k++) {
            if (place + k == end) {
                cell++;
                end = shared.ends[cell];
                word = shared.words[cell];
            }
            vector.key[k] = word;
        }
        return vector.words;
    }

    __device__ void write(Key* to, u32 n) {
        Vectors<Key> vectors(to, n);
        u32 head = u32(vectors.head), count = u32(vectors.count), tail = u32(vectors.tail()) + thread;
        if (thread < head) to[thread] = shared.words[cell_at(thread)];
        if (tail < n) to[tail] = shared.words[cell_at(tail)];
        uint4* vectors_to = reinterpret_cast<uint4*>(to + head);
        // A warp has a row at a time, a vector a lane, where memory's lines begin. Mostly it lies in one
        // cell, and in that of the row before.
        u32 ahead = u64(vectors_to) / sizeof(uint4) % WARP;
        u32 cell = 0, end = 0;
        uint4 same;
        for (u32 row = warp * WARP; row < ahead + count; row += THREADS) {
            u32 begin = max(row, ahead) - ahead, behind = min(row + WARP - ahead, count), i = row + lane - ahead;
            bool own = row + lane >= ahead && i < count;
            u32 first_place = head + begin * KEYS, last_place = head + behind * KEYS - 1;
            if (first_place >= end) {
                cell = cell_at(first_place);
                end = shared.ends[cell];
                same = splat(shared.words[cell]);
            }
            if (last_place < end) {
                if (own) vectors_to[i] = same;
                continue;
            }
            u32 last = cell + 1;
            if (shared.ends[last] <= last_place) last = cell_at(last_place);
            u32 place = head + i * KEYS;
            if (own) vectors_to[i] = vector_at(place, cell_at(place, cell, last));
            cell = last;
            end = shared.ends[cell];
            same = splat(shared.words[cell]);
        }
    }

    __device__ void write_share() {
        u64 from = shared.places[0], to = shared.places[1];
        if (from == to) return;
        u32 last = shared.groups[1];
        for (u32 group = shared.groups[0]; group <= last; group++) {
            u64 begin = max(from, shared.begins[group]), end = min(to, end_of(group));
            if (begin == end) continue;
            fetch(group, begin, end);
            write(task.result + begin, u32(end - begin));
            __syncthreads();
        }
    }

    __device__ void run() {
        wait_for_earlier_kernels();
        u64 before = exclusive(thread < GROUPS ? task.groups[thread] : 0);
        if (thread < GROUPS) shared.begins[thread] = before;
        for (u32 share = blockIdx.x; share < task.shares; share += gridDim.x) {
            __syncthreads();
            locate(share);
            __syncthreads();
            write_share();
        }
    }
};
