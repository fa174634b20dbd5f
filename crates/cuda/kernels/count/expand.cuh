// The result, written from the counts.
//
//     share     the stretch of the result that the block writes
//     for each group that has keys in it:
//         lay_out   its cells that have keys: where each ends, and its word
//         write     for each vector of the result: the cell of its first key, then the next ones
//     clean     the last block leaves counts, groups and done as zeros
//
// Grid: up to BLOCKS a multiprocessor.
#pragma once

#include "task.cuh"
#include "vectors.cuh"

template <class Key>
struct Expand {
    static constexpr u32 THREADS = 256, BLOCKS = 8, WARPS = THREADS / WARP;
    static constexpr u32 CELLS = Task<Key>::CELLS, GROUP = Task<Key>::GROUP, GROUPS = Task<Key>::GROUPS;
    static constexpr u32 KEYS = Vectors<Key>::KEYS;
    static_assert(THREADS == GROUP, "a thread has a cell");
    // What laying out a group costs, in keys.
    static constexpr u32 LAY_OUT = 4096;
    // Vectors that a thread writes at a time.
    static constexpr u32 STORES = 4;

    union Vector {
        uint4 words;
        Key key[KEYS];
    };

    struct Shared {
        // Where each group begins in the result.
        u64 begins[GROUPS];
        u64 warps[WARPS];
        // Of the cells that have keys: where they end in the piece, and their words. Behind them none
        // ends.
        u32 ends[GROUP];
        Key words[GROUP];
        u32 last;
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 thread = threadIdx.x, lane = thread % WARP, warp = thread / WARP;

    __device__ Expand(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    // The sum of what the threads before gave.
    __device__ u64 exclusive(u64 own) {
        u64 sum = own;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u64 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1) shared.warps[warp] = sum;
        __syncthreads();
        u64 before = sum - own;
#pragma unroll
        for (u32 w = 0; w < WARPS; w++)
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

    // Where the share of block b begins. Shares are equal in keys and groups together.
    __device__ u64 share(u32 b) const {
        u64 x = (task.n + u64(GROUPS) * LAY_OUT) * b / gridDim.x;
        u32 group = group_at(x, LAY_OUT);
        u64 begin = shared.begins[group], keys = end_of(group) - begin;
        double part = double(x - begin - u64(group) * LAY_OUT) / double(keys + LAY_OUT);
        return begin + min(u64(part * double(keys)), keys);
    }

    // The cells of a group in the piece of the result between two places.
    __device__ void lay_out(u32 group, u64 from, u64 to) {
        u32 code = group * GROUP + thread;
        u64 keys = task.counts[code];
        shared.ends[thread] = ~0u;
        u64 before = exclusive(keys << 16 | (keys != 0));
        if (keys) {
            u32 cell = before & 0xffff;
            u64 end = shared.begins[group] + (before >> 16) + keys;
            shared.ends[cell] = u32(max(min(end, to), from) - from);
            shared.words[cell] = task.codec.decode(Key(code));
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

    __device__ Vector vector_at(u32 place) const {
        Vector vector;
        u32 cell = cell_at(place), end = shared.ends[cell];
        Key word = shared.words[cell];
#pragma unroll
        for (u32 k = 0; k < KEYS; k++) {
            if (place + k == end) {
                cell++;
                end = shared.ends[cell];
                word = shared.words[cell];
            }
            vector.key[k] = word;
        }
        return vector;
    }

    __device__ void write(Key* to, u32 n) {
        Vectors<Key> vectors(to, n);
        u32 head = u32(vectors.head), count = u32(vectors.count), last = u32(vectors.tail()) + thread;
        if (thread < head) to[thread] = shared.words[cell_at(thread)];
        if (last < n) to[last] = shared.words[cell_at(last)];
        uint4* vectors_to = reinterpret_cast<uint4*>(to + head);
        // A warp has `CHUNK` vectors at a time. Mostly they lie in one cell.
        constexpr u32 CHUNK = WARP * STORES;
        for (u32 begin = warp * CHUNK; begin < count; begin += WARPS * CHUNK) {
            u32 end = min(begin + CHUNK, count), cell = cell_at(head + begin * KEYS);
            if (shared.ends[cell] >= head + end * KEYS) {
                u32 word = shared.words[cell] * (~0u / Key(~0u));
#pragma unroll
                for (u32 j = 0; j < STORES; j++) {
                    u32 i = begin + j * WARP + lane;
                    if (i < end) vectors_to[i] = uint4{word, word, word, word};
                }
            } else {
#pragma unroll 1
                for (u32 i = begin + lane; i < end; i += WARP)
                    vectors_to[i] = vector_at(head + i * KEYS).words;
            }
        }
    }

    // Says that the block has read all it needs.
    __device__ void arrive() {
        if (thread == 0) {
            __threadfence();
            shared.last = atomicAdd(task.done, 1) == gridDim.x - 1;
        }
    }

    __device__ void clean() {
        __syncthreads();
        if (!shared.last) return;
        uint4* counts = reinterpret_cast<uint4*>(task.counts);
        for (u32 i = thread; i < CELLS / 2; i += THREADS) counts[i] = uint4{0, 0, 0, 0};
        if (GROUPS > 1) task.groups[thread] = 0;
        if (thread == 0) *task.done = 0;
    }

    __device__ void run() {
        wait_for_earlier_kernels();
        u64 before = exclusive(GROUPS > 1 ? task.groups[thread] : 0);
        if (thread < GROUPS) shared.begins[thread] = before;
        __syncthreads();
        u64 from = share(blockIdx.x), to = blockIdx.x + 1 < gridDim.x ? share(blockIdx.x + 1) : task.n;
        if (from == to) {
            arrive();
        } else {
            u32 last = group_at(to - 1, 0);
            for (u32 group = group_at(from, 0); group <= last; group++) {
                u64 begin = max(from, shared.begins[group]), end = min(to, end_of(group));
                if (begin == end) continue;
                lay_out(group, begin, end);
                if (group == last) arrive();
                write(task.result + begin, u32(end - begin));
                __syncthreads();
            }
        }
        let_next_kernel_in();
        clean();
    }
};
