// One read of all keys: common ones are counted, the others are the rest. By all blocks of count.
//
//     for each round of vectors, for each of their keys:
//         in the dictionary    counters[slot, copy] += 1
//         otherwise            appended to REST
//     counts += counters
//
// Lanes that add to one counter wait for each other. So a slot has as many copies of its counter as there
// is room for, and lane i of a warp uses copy i modulo their number.
//
// A warp takes room in REST a chunk at a time. Its last chunk is filled up with the dictionary's first key;
// these fillers stand side by side when the rest is sorted, and weave leaves them out. If REST has not
// enough room, for the sample has shown another input than there is, the onesweep sorts all keys instead.
#pragma once

#include "dictionary.cuh"
#include "lay_out.cuh"

template <class Key, u32 THREADS, u32 LANES>
struct Sift {
    using D = Dictionary<Key>;
    static constexpr u32 KEYS = Reader<Key, LANES>::KEYS;
    // A chunk has one of 2^CHUNK_BITS parts of the keys, or so many, if that is more.
    static constexpr u32 CHUNK_BITS = 19, LEAST_CHUNK = 64;

    // In dynamic shared memory.
    struct Table {
        alignas(16) Key keys[D::MOST_SLOTS];
        u32 counters[1 << D::COUNTER_BITS];
    };

    const Task<Key>& task;
    Table& table;
    D& dictionary;
    const u32 lane = threadIdx.x % WARP, slot_bits, copy_bits, chunk;
    // Of the warp's chunk: where its next key goes, and where it ends.
    u32 at = 0, end = 0;

    __device__ Sift(const Task<Key>& task, void* memory)
        : task(task), table(*static_cast<Table*>(memory)), dictionary(*task.dictionary),
          slot_bits(dictionary.slot_bits), copy_bits(D::COUNTER_BITS - slot_bits),
          chunk(max(1u << (31 - __clz(task.n >> CHUNK_BITS | 1)), LEAST_CHUNK)) {}

    __device__ void run(bool& last) {
        for (u32 i = threadIdx.x; i < 1 << slot_bits; i += THREADS) table.keys[i] = dictionary.keys[i];
        for (u32 i = threadIdx.x; i < 1 << D::COUNTER_BITS; i += THREADS) table.counters[i] = 0;
        __syncthreads();
        sift();
        fill_up();
        __syncthreads();
        let_next_kernel_in();
        add_to_counts();
        if (last_block(task.choice->done, last) && threadIdx.x == 0 && __ldcg(&task.choice->rest) > task.n)
            task.choice->path = ONESWEEP;
    }

    __device__ void sift() {
        Reader<Key, LANES> reader(task.source, task.n);
        Key key[KEYS];
        bool single = reader.single(key[0]);
        append(key, single && !count(key[0]));
        uint4 vector[LANES];
        if (reader.rounds > 0) reader.load(vector, 0);
        for (u32 round = 0; round < reader.rounds; round++) {
#pragma unroll
            for (u32 j = 0; j < LANES; j++) {
                u32 strays = 0;
#pragma unroll
                for (u32 k = 0; k < KEYS; k++) key[k] = reader.key(vector[j], k);
                // Of the next round, while this one goes on.
                vector[j] = reader.load(round + 1, j);
                if (reader.has(round, j))
#pragma unroll
                    for (u32 k = 0; k < KEYS; k++)
                        if (!count(key[k])) strays |= 1 << k;
                append(key, strays);
            }
        }
    }

    // If the dictionary has it.
    __device__ bool count(Key key) {
        u32 set = D::set_of(key, slot_bits);
        Two<Key> two = reinterpret_cast<const Two<Key>*>(table.keys)[set];
        bool first = two.first == key, has = first || two.second == key;
        u32 slot = 2 * set + !first;
        if (has) atomicAdd(&table.counters[slot << copy_bits | lane & ((1 << copy_bits) - 1)], 1);
        return has;
    }

    // The keys whose bits are set in `strays`. All lanes come here.
    __device__ void append(const Key (&key)[KEYS], u32 strays) {
        if (!__any_sync(ALL_LANES, strays)) return;
        u32 place[KEYS], total = 0;
#pragma unroll
        for (u32 k = 0; k < KEYS; k++) {
            u32 lanes = __ballot_sync(ALL_LANES, strays >> k & 1);
            place[k] = total + __popc(lanes & ((1u << lane) - 1));
            total += __popc(lanes);
        }
        u32 left = end - at, base = 0;
        if (total > left) {
            u32 more = (total - left + chunk - 1) & ~(chunk - 1);
            if (lane == 0) base = atomicAdd(&task.choice->rest, more);
            base = __shfl_sync(ALL_LANES, base, 0);
            end = base + more;
        }
#pragma unroll
        for (u32 k = 0; k < KEYS; k++)
            if (strays >> k & 1) put(place[k] < left ? at + place[k] : base + place[k] - left, key[k]);
        at = total > left ? base + total - left : at + total;
    }

    __device__ void put(u32 place, Key key) {
        if (place < task.n) task.rest[place] = key;
    }

    __device__ void fill_up() {
        for (at += lane; at < end; at += WARP) put(at, dictionary.in_order[0]);
    }

    __device__ void add_to_counts() {
        for (u32 slot = threadIdx.x; slot < 1 << slot_bits; slot += THREADS) {
            const u32* copies = &table.counters[slot << copy_bits];
            u32 keys = 0, last = (1 << copy_bits) - 1;
            for (u32 i = 0; i <= last; i++) keys += copies[i + threadIdx.x & last];
            if (keys) atomicAdd(&dictionary.counts[dictionary.numbers[slot]], keys);
        }
    }
};

// In registers of its own.
template <class Sift, class Key>
__device__ __noinline__ void sift_common(const Task<Key>& task, void* memory, bool& last) {
    Sift(task, memory).run(last);
}
