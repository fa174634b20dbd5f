// A cell of keys with values, sorted stably in shared memory.
//
//     load          each thread's codes to registers; below what is left of a code, its place in the cell
//     arrange       by both together, which are distinct, as keys alone are (local.cuh)
//     store keys    each warp its own; it keeps their places
//     load values   as they came, to where the keys were
//     store values  each from its place
//
// All codes of a cell agree in their upper PLACE_BITS bits, which are of the window or above it: so there
// is room for the place. (Values loaded with the keys, beside them in shared memory, leave room for half
// as many blocks: pairs of 64-bit words took 9% longer. A prefetch of the values took 11% longer.)
#pragma once

#include "crowded.cuh"

// KEYS: the shape that arranges the codes.
template <class Keys_, class Value_>
struct ValuesShape {
    using Keys = Keys_;
    using Key = typename Keys::Key;
    using Value = Value_;
    static constexpr u32 CAPACITY = Keys::CAPACITY;
    static_assert(CAPACITY <= 1 << PLACE_BITS, "there is room for a place");
};

template <class Key>
struct ValuesTask {
    Task<Key> cells;
    // Codes and values, in the order of the cells, and as they came within each.
    const Key* keys_from;
    const void* values_from;
    // Where the sorted ones go; may be where they come from. No keys are written to null.
    Key* keys_to;
    void* values_to;
};

template <class S>
struct ValuesShared {
    union {
        LocalShared<typename S::Keys> keys;
        typename S::Value values[S::CAPACITY];
    };
    // Where the cell begins, how many keys it has, and what the upper bits of all its codes are: read
    // again, lest they be kept in registers.
    volatile u32 begin, count;
    typename S::Key upper;
    // What was subtracted from every code.
    typename S::Key base;
};

template <class S>
struct LocalValues {
    using Key = typename S::Key;
    using Value = typename S::Value;
    using Keys = Local<typename S::Keys>;
    static constexpr u32 THREADS = Keys::THREADS, ITEMS = Keys::ITEMS, LOADS = Keys::LOADS;
    static constexpr u32 BATCH = Keys::BATCH;
    static constexpr Key UPPER = ~(Key(~Key(0)) >> PLACE_BITS);

    const ValuesTask<Key>& task;
    ValuesShared<S>& shared;
    Keys keys;

    __device__ LocalValues(const ValuesTask<Key>& task, ValuesShared<S>& shared)
        : task(task), shared(shared), keys(shared.keys) {}

    // One key at least. All threads of the block come here.
    __device__ void sort(u32 begin, u32 count) {
        keys.count = count;
        Key key[LOADS];
        load_keys(key, begin);
        bool fetched = keys.arrange(key, task.cells.choice->low + PLACE_BITS, [&] {
            Crowded<typename S::Keys>::sort(shared.keys, shared.count);
            keys.count = shared.count;
            keys.take_share();
        });
        keys.count = shared.count;
        // Two in a word.
        u32 places[ITEMS / 2] = {};
        store_keys(places, fetched);
        load_values();
        store_values(places);
    }

    __device__ void load_keys(Key (&key)[LOADS], u32 begin) {
        const Key* from = task.keys_from + begin;
        if (keys.thread == 0) {
            shared.begin = begin;
            shared.count = keys.count;
            shared.upper = from[0] & UPPER;
            shared.base = task.cells.choice->base;
        }
        keys.batches([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) {
                    u32 place = j * THREADS + keys.thread;
                    key[j] = from[place] << PLACE_BITS | place;
                }
        });
    }

    __device__ void store_keys(u32 (&places)[ITEMS / 2], bool fetched) {
        Key* to = task.keys_to + shared.begin + keys.begin + keys.lane;
        bool stores = task.keys_to != nullptr;
        Coder<Key> coder(task.cells.codec, shared.base);
        Key upper = shared.upper;
        keys.in_order(fetched, [&](auto at) {
            keys.each(at, [&](u32 i, Key composite) {
                u32 place = u32(composite) & ((1u << PLACE_BITS) - 1), j = i / WARP;
                places[j / 2] |= place << 16 * (j % 2);
                Key code = upper | composite >> PLACE_BITS;
                if (stores) to[i] = coder.identity ? code : coder.decode(code);
            });
        });
    }

    // All of them are on their way before the first warps have stored their keys.
    __device__ void load_values() {
        const Value* from = static_cast<const Value*>(task.values_from) + shared.begin + keys.thread;
        Value value[LOADS];
        keys.batches([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) value[j] = from[j * THREADS];
        });
        // All keys have been read.
        __syncthreads();
        keys.batches([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) shared.values[j * THREADS + keys.thread] = value[j];
        });
    }

    __device__ void store_values(const u32 (&places)[ITEMS / 2]) {
        Value* to = static_cast<Value*>(task.values_to) + shared.begin + keys.begin + keys.lane;
        __syncthreads();
        auto at = [&](u32 i) {
            u32 j = i / WARP;
            return shared.values[places[j / 2] >> 16 * (j % 2) & 0xffff];
        };
        keys.each(at, [&](u32 i, Value value) { to[i] = value; });
    }
};

// Block i sorts cell i.
template <class S>
__device__ inline void sort_cell_values(
    const ValuesTask<typename S::Key>& task, ValuesShared<S>& shared) {
    wait_for_earlier_kernels();
    if (task.cells.choice->path != HYBRID) return;
    u32 begin = task.cells.begins[blockIdx.x], count = task.cells.begins[blockIdx.x + 1] - begin;
    let_next_kernel_in();
    if (count > 0) LocalValues<S>(task, shared).sort(begin, count);
}
