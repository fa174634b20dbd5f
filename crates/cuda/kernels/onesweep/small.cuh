// A small input: all passes in one launch of one block, in shared memory.
//
//     load        a warp's keys stand together, neighbours in neighbouring lanes
//     for each digit in which not all keys agree:
//         counts, places, rank    as in a tile of a pass (pass.cuh), with a documented ranker
//         load                    the ordered keys again, from shared memory
//     store
//
// Workspace: none. Grid: 1. blockDim: RADIX to THREADS, a multiple of RADIX; ITEMS * blockDim keys
// at most.
#pragma once

#include "rank.cuh"
#include "scan.cuh"

template <class Key_, class Value_, u32 THREADS_, u32 ITEMS_>
struct Small {
    using Key = Key_;
    using Value = Value_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, TILE = THREADS * ITEMS;
    static constexpr u32 WARPS = THREADS / WARP;
    static constexpr bool VALUES = !IS_NOTHING<Value>;

    struct Shared {
        Key keys[TILE];
        Array<Value, VALUES ? TILE : 0> values;
        u32 rows[WARPS * RADIX];
        u32 masks[WARPS * RADIX];
        DigitScan<u32> scan;
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 thread = threadIdx.x, warp = thread / WARP, warps = blockDim.x / WARP;
    const u32 n = u32(task.n);
    // Keys that a thread has.
    const u32 items = (n + blockDim.x - 1) / blockDim.x;
    Key key[ITEMS];
    Value value[VALUES ? ITEMS : 1];

    __device__ Small(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    __device__ u32 index(u32 j) const { return (warp * items + j) * WARP + thread % WARP; }

    __device__ void load() {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            bool own = index(j) < n;
            key[j] = own ? task.codec.encode(task.keys[SOURCE][index(j)]) : Key(~Key(0));
            if constexpr (VALUES) {
                if (task.has(INDEX))
                    value[j] = position<Value>(index(j));
                else if (own)
                    value[j] = static_cast<const Value*>(task.values[SOURCE])[index(j)];
            }
        }
    }

    __device__ void store() {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items || index(j) >= n) break;
            if (task.keys[RESULT]) task.keys[RESULT][index(j)] = task.codec.decode(key[j]);
            if constexpr (VALUES) static_cast<Value*>(task.values[RESULT])[index(j)] = value[j];
        }
    }

    __device__ void clear_rows() {
        for (u32 i = thread; i < warps * RADIX; i += blockDim.x) shared.rows[i] = 0;
    }

    // Whether the pass has anything to do; then each warp's counts have become places.
    __device__ bool places(Digit digit) {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            atomicAdd(&shared.rows[warp * RADIX + digit.of(key[j])], 1);
        }
        __syncthreads();
        u32 total = 0;
        if (thread < RADIX)
            for (u32 w = 0; w < warps; w++) total += shared.rows[w * RADIX + thread];
        // What fills up the last row is no key.
        u32 filling = thread == digit.mask ? items * blockDim.x - n : 0;
        if (__syncthreads_or(total - filling == n)) return false;
        u32 place = shared.scan.exclusive(total);
        if (thread < RADIX)
            for (u32 w = 0; w < warps; w++) {
                u32 count = shared.rows[w * RADIX + thread];
                shared.rows[w * RADIX + thread] = place;
                place += count;
            }
        __syncthreads();
        return true;
    }

    __device__ void rank(Digit digit) {
        u32* row = shared.rows + warp * RADIX;
        u32* masks = shared.masks + warp * RADIX;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            u32 place = RankByMasks::place(row, masks, digit.of(key[j]));
            shared.keys[place] = key[j];
            if constexpr (VALUES) shared.values.at[place] = value[j];
        }
    }

    __device__ void run() {
        clear_rows();
        for (u32 i = thread; i < warps * RADIX; i += blockDim.x) shared.masks[i] = 0;
        wait_for_earlier_kernels();
        if (!task.goes()) return;
        load();
        __syncthreads();
        for (u32 pass = 0; pass < task.passes; pass++) {
            Digit digit = task.digit(pass);
            bool moves = places(digit);
            if (moves) {
                rank(digit);
                __syncthreads();
#pragma unroll
                for (u32 j = 0; j < ITEMS; j++) {
                    if (j >= items) break;
                    key[j] = shared.keys[index(j)];
                    if constexpr (VALUES) value[j] = shared.values.at[index(j)];
                }
            }
            clear_rows();
            __syncthreads();
        }
        let_next_kernel_in();
        store();
    }
};
