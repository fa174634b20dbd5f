// Few distinct keys: each is looked up in a dictionary and counted, and the result written from that.
//
//     probe   a larger sample; if it is few keys again and again, none of them seen once alone, these are
//             the dictionary
//     count   how many keys of each there are; the last block to be done: where they end in the result
//     local   the result: each key as often as it was counted
//
// A key that is not in the dictionary undoes it all: the blocks say what the least and the greatest code
// are, and the second turn of count goes on as if there had been no dictionary.
//
// The dictionary holds keys as they are in SOURCE. It is a hash table with linear probing, and lies where
// SCRATCH begins: nobody else needs that before the keys are counted, nor afterwards.
#pragma once

#include "../limits.cuh"
#include "lay_out.cuh"
#include "read.cuh"
#include "window.cuh"

template <class Key>
struct Dictionary {
    static constexpr u32 SLOT_BITS = SHARED_KB >= 227 ? 12 : SHARED_KB >= 99 ? 11 : 10, SLOTS = 1 << SLOT_BITS;
    // Keys, at most.
    static constexpr u32 MOST = SLOTS / 4;
    // Any odd number is a multiplier; this one is the first that is tried.
    static constexpr u32 MULTIPLIER = 0x9e3779b1;

    // By slot. One that is free repeats a key that stands in another.
    Key keys[SLOTS];
    // Which one it is, in order.
    u16 numbers[SLOTS];
    // By number.
    Key in_order[MOST];
    u32 counts[MOST];
    // Where they end in the result; beyond the last, all ones.
    u32 ends[MOST];
    u32 distinct, multiplier;
    // Each key stands in one of so many slots, from slot_of on.
    u32 reach;
    // What the probe has chosen, should a key be missing.
    u32 path;

    __device__ static Dictionary& of(const Task<Key>& task) {
        return *reinterpret_cast<Dictionary*>(task.scratch);
    }

    __device__ static u32 slot_of(Key key, u32 multiplier) {
        u32 mixed = u32(key) * multiplier;
#pragma unroll
        for (u32 i = 1; i < sizeof(Key) / sizeof(u32); i++)
            mixed = (mixed ^ mixed >> 15 ^ u32(key >> (32 * i))) * multiplier;
        return mixed >> (32 - SLOT_BITS);
    }

    __device__ static u32 next(u32 slot) { return (slot + 1) % SLOTS; }
};

// By the probe's block.
template <class Key, u32 THREADS>
struct MakeDictionary {
    using D = Dictionary<Key>;
    static constexpr u32 WARPS = THREADS / WARP;
    static constexpr u32 NOBODY = ~0u, MOST_REACH = 32;
    // Keys a thread, at a time; how often; of how many keys there is a dictionary at least.
    static constexpr u32 ITEMS = 4, ROUNDS = 4, SAMPLE = THREADS * ITEMS * ROUNDS, LEAST = 16 * SAMPLE;
    // Threads that see a key only once among those that are given.
    static constexpr u32 MOST_ALONE = THREADS / 16;
    static_assert(D::MOST <= THREADS, "a thread for each key");
    static_assert(WARPS <= WARP, "a multiplier's number has five bits");
    static_assert(sizeof(D) <= LEAST * sizeof(Key), "SCRATCH has room for it");

    struct Shared {
        union {
            // Whose a slot is: a place in the source, later one of the keys.
            u32 owners[D::SLOTS];
            // A bit for each slot that is taken; each warp has its own.
            u32 taken[WARPS][D::SLOTS / WARP];
        };
        union {
            // How often a slot's key was seen, up to two.
            u32 seen[D::SLOTS];
            // In any order; in the end their codes, in order.
            Key keys[D::MOST];
        };
        union {
            // Where each is in the source.
            u32 places[D::MOST];
            // Which slot has it.
            u32 slots[D::MOST];
        };
        u32 distinct, once, reach, best;
    };

    const Task<Key>& task;
    Shared& shared;
    D& dictionary;
    u32 reach = 0;

    __device__ MakeDictionary(const Task<Key>& task, Shared& shared)
        : task(task), shared(shared), dictionary(D::of(task)) {}

    // If a dictionary may be worth while by some codes that are given, and is by a larger sample.
    __device__ void run(const Key (&code)[ITEMS]) {
        if (task.n < LEAST || many_distinct(code)) return;
        clear();
        read_sample();
        if (__syncthreads_or(reach > MOST_REACH)) return;
        collect();
        if (shared.distinct <= D::MOST && shared.once == 0) write();
    }

    // Whether more than a few were seen once alone.
    __device__ bool many_distinct(const Key (&code)[ITEMS]) {
        for (u32 slot = threadIdx.x; slot < D::SLOTS; slot += THREADS) shared.seen[slot] = 0;
        __syncthreads();
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++)
            atomicAdd(&shared.seen[D::slot_of(code[item], D::MULTIPLIER)], 1);
        __syncthreads();
        bool once = false;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++)
            once |= shared.seen[D::slot_of(code[item], D::MULTIPLIER)] == 1;
        return __syncthreads_count(once) > MOST_ALONE;
    }

    __device__ void clear() {
        for (u32 slot = threadIdx.x; slot < D::SLOTS; slot += THREADS) {
            shared.owners[slot] = NOBODY;
            shared.seen[slot] = 0;
        }
        if (threadIdx.x == 0) {
            shared.distinct = shared.once = shared.reach = 0;
            shared.best = ~0u;
        }
        __syncthreads();
    }

    // One key of each SAMPLE-th of the source, from a place in it that looks like chance.
    __device__ void read_sample() {
        u32 stretch = task.n / SAMPLE;
#pragma unroll 1
        for (u32 round = 0; round < ROUNDS; round++) {
            u32 place[ITEMS];
            Key key[ITEMS];
#pragma unroll
            for (u32 item = 0; item < ITEMS; item++) {
                u32 i = (round * ITEMS + item) * THREADS + threadIdx.x, chance = (i ^ i >> 9) * 0x85ebca6b;
                place[item] = i * stretch + __umulhi(chance, stretch);
                key[item] = task.source[place[item]];
            }
#pragma unroll
            for (u32 item = 0; item < ITEMS; item++) see(key[item], place[item]);
        }
    }

    __device__ void see(Key key, u32 place) {
        volatile u32* owners = shared.owners;
        u32 slot = D::slot_of(key, D::MULTIPLIER);
        for (u32 steps = 0; steps < MOST_REACH; steps++, slot = D::next(slot)) {
            u32 owner = owners[slot];
            if (owner == NOBODY) owner = atomicCAS(&shared.owners[slot], NOBODY, place);
            if (owner != NOBODY && task.source[owner] != key) continue;
            if (shared.seen[slot] < 2) atomicAdd(&shared.seen[slot], 1);
            return;
        }
        reach = MOST_REACH + 1;
    }

    // Where the keys of the slots are that are taken.
    __device__ void collect() {
        for (u32 slot = threadIdx.x; slot < D::SLOTS; slot += THREADS) {
            if (shared.owners[slot] == NOBODY) continue;
            if (shared.seen[slot] == 1) shared.once = 1;
            u32 i = atomicAdd(&shared.distinct, 1);
            if (i < D::MOST) shared.places[i] = shared.owners[slot];
        }
        __syncthreads();
    }

    __device__ void write() {
        u32 i = threadIdx.x, distinct = shared.distinct;
        Key key = task.source[shared.places[min(i, distinct - 1)]];
        if (i < distinct) shared.keys[i] = key;
        for (u32 slot = i; slot < D::SLOTS; slot += THREADS) shared.owners[slot] = 0;
        __syncthreads();
        u32 multiplier = best_multiplier(distinct);
        for (u32 slot = i; slot < D::SLOTS; slot += THREADS) shared.owners[slot] = NOBODY;
        Key any = shared.keys[0];
        __syncthreads();
        // What is no key comes last: its slot is none.
        u32 slot = i < distinct ? insert(key, i, multiplier) : D::SLOTS + i;
        u32 furthest = max_of_warp(reach);
        if (i % WARP == 0) atomicMax(&shared.reach, furthest);
        if (i < D::MOST) {
            shared.keys[i] = i < distinct ? task.codec.encode(key) : Key(~Key(0));
            shared.slots[i] = slot;
            dictionary.counts[i] = 0;
        }
        sort(distinct);

        for (u32 free = i; free < D::SLOTS; free += THREADS)
            if (shared.owners[free] == NOBODY) dictionary.keys[free] = any;
        if (i < distinct) {
            key = task.codec.decode(shared.keys[i]);
            slot = shared.slots[i];
            dictionary.keys[slot] = key;
            dictionary.numbers[slot] = u16(i);
            dictionary.in_order[i] = key;
        }
        if (i == 0) {
            dictionary.distinct = distinct;
            dictionary.multiplier = multiplier;
            dictionary.reach = shared.reach;
            dictionary.path = task.choice->path;
            task.choice->path = FEW;
        }
    }

    __device__ static u32 multiplier_of(u32 number) { return D::MULTIPLIER + number * 0x6b43a9b2; }

    // That with which the fewest keys meet another in their slots: each warp tries one.
    __device__ u32 best_multiplier(u32 distinct) {
        u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, met = 0;
        for (u32 i = lane; i < distinct; i += WARP) {
            u32 slot = D::slot_of(shared.keys[i], multiplier_of(warp)), bit = 1u << slot % WARP;
            met += (atomicOr(&shared.taken[warp][slot / WARP], bit) & bit) > 0;
        }
        met = sum_of_warp(met);
        if (lane == 0) atomicMin(&shared.best, met * WARP + warp);
        __syncthreads();
        return multiplier_of(shared.best % WARP);
    }

    // To its slot or the next one that is free.
    __device__ u32 insert(Key key, u32 i, u32 multiplier) {
        u32 slot = D::slot_of(key, multiplier);
        reach = 1;
        while (atomicCAS(&shared.owners[slot], NOBODY, i) != NOBODY) {
            slot = D::next(slot);
            reach++;
        }
        return slot;
    }

    // The codes, with their slots: a bitonic sort, of as many as the next power of two at least.
    __device__ void sort(u32 distinct) {
        u32 i = threadIdx.x;
        for (u32 run = 2; run < 2 * distinct; run *= 2)
            for (u32 step = run / 2; step > 0; step /= 2) {
                // Now or before, warps exchange with each other.
                if (step >= WARP / 2)
                    __syncthreads();
                else
                    __syncwarp();
                u32 other = i ^ step;
                if (i < other && i < D::MOST) exchange(i, other, (i & run) > 0);
            }
        __syncthreads();
    }

    __device__ void exchange(u32 i, u32 other, bool falls) {
        Key left = shared.keys[i], right = shared.keys[other];
        u32 left_slot = shared.slots[i], right_slot = shared.slots[other];
        if ((right < left || (right == left && right_slot < left_slot)) == falls) return;
        shared.keys[i] = right;
        shared.keys[other] = left;
        shared.slots[i] = right_slot;
        shared.slots[other] = left_slot;
    }
};

// By all blocks of count. Lanes that add to one counter wait for each other; so each slot has COPIES
// counters, and lane i of a warp uses copy i % COPIES.
template <class Key, u32 THREADS, u32 LANES>
struct CountByDictionary {
    using D = Dictionary<Key>;
    static constexpr u32 KEYS = Reader<Key, LANES>::KEYS;
    static constexpr u32 COPIES = 8;

    // In dynamic shared memory.
    struct Table {
        Key keys[D::SLOTS];
        u32 counters[D::SLOTS * COPIES];
    };

    const Task<Key>& task;
    Table& table;
    D& dictionary;
    const u32 copy = threadIdx.x % COPIES, reach, multiplier;
    // Of keys that are not in the dictionary.
    Range<Key> strays = Range<Key>::none();

    __device__ CountByDictionary(const Task<Key>& task, void* memory)
        : task(task), table(*static_cast<Table*>(memory)), dictionary(D::of(task)),
          reach(dictionary.reach), multiplier(dictionary.multiplier) {}

    __device__ void run(BlockRange<Key, THREADS>& range, typename LayOut<Key>::Shared& shared) {
        for (u32 i = threadIdx.x; i < D::SLOTS; i += THREADS) table.keys[i] = dictionary.keys[i];
        for (u32 i = threadIdx.x; i < D::SLOTS * COPIES; i += THREADS) table.counters[i] = 0;
        __syncthreads();
        count();
        range.put(strays);
        __syncthreads();
        let_next_kernel_in();
        if (threadIdx.x < WARP) tell_range(range.of_block());
        add_to_counts();
        if (!last_block(task.choice->done, shared.last)) return;
        if (!__ldcg(&task.choice->missed))
            lay_out(shared);
        else if (threadIdx.x == 0)
            task.choice->path = dictionary.path;
    }

    __device__ void count() {
        Reader<Key, LANES> reader(task.source, task.n);
        Key single;
        if (reader.single(single)) find(single);
        uint4 vector[LANES];
        if (reader.rounds > 0) reader.load(vector, 0);
        for (u32 round = 0; round < reader.rounds; round++) {
            // Keys, by their number in the round, that do not stand in their first slot.
            u32 elsewhere = 0;
#pragma unroll
            for (u32 j = 0; j < LANES; j++) {
                u32 slot[KEYS], found = 0;
#pragma unroll
                for (u32 k = 0; k < KEYS; k++) {
                    Key key = reader.key(vector[j], k);
                    slot[k] = D::slot_of(key, multiplier);
                    found |= u32(table.keys[slot[k]] == key) << k;
                }
                // Of the next round, while this one goes on.
                vector[j] = reader.load(round + 1, j);
                if (!reader.has(round, j)) continue;
#pragma unroll
                for (u32 k = 0; k < KEYS; k++)
                    if (found >> k & 1) add(slot[k]);
                elsewhere |= (~found & ((1u << KEYS) - 1)) << (j * KEYS);
            }
            while (elsewhere) {
                find(reader.key(round, __ffs(elsewhere) - 1));
                elsewhere &= elsewhere - 1;
            }
        }
    }

    __device__ void add(u32 slot) { atomicAdd(&table.counters[slot * COPIES + copy], 1); }

    __device__ void find(Key key) {
        u32 slot = D::slot_of(key, multiplier);
        for (u32 steps = reach; steps > 0; steps--, slot = D::next(slot))
            if (table.keys[slot] == key) return add(slot);
        strays.include(task.codec.encode(key));
    }

    // With that of the dictionary, as far as there are strays. By the first warp.
    __device__ void tell_range(Range<Key> all) {
        if (threadIdx.x > 0) return;
        if (all.least <= all.greatest) task.choice->missed = 1;
        all.include(task.codec.encode(dictionary.in_order[0]));
        all.include(task.codec.encode(dictionary.in_order[dictionary.distinct - 1]));
        task.ranges[task.probe_blocks + blockIdx.x] = all;
    }

    __device__ void add_to_counts() {
        for (u32 slot = threadIdx.x; slot < D::SLOTS; slot += THREADS) {
            u32 keys = 0;
#pragma unroll
            for (u32 i = 0; i < COPIES; i++) keys += table.counters[slot * COPIES + (i + threadIdx.x) % COPIES];
            if (keys) atomicAdd(&dictionary.counts[dictionary.numbers[slot]], keys);
        }
    }

    __device__ void lay_out(typename LayOut<Key>::Shared& shared) {
        u32 number = threadIdx.x;
        u32 keys = number < D::MOST ? __ldcg(&dictionary.counts[number]) : 0;
        u32 begin = LayOut<Key>(task, shared).exclusive(keys);
        if (number < D::MOST) dictionary.ends[number] = number < dictionary.distinct ? begin + keys : ~0u;
    }
};

// In registers of its own.
template <class ByDictionary, class Key, u32 THREADS>
__device__ __noinline__ void count_by_dictionary(
    const Task<Key>& task, void* memory, BlockRange<Key, THREADS>& range,
    typename LayOut<Key>::Shared& shared) {
    ByDictionary(task, memory).run(range, shared);
}

// By all blocks of local: each writes a stretch of the result.
template <class Key>
struct WriteByDictionary {
    using D = Dictionary<Key>;
    static constexpr u32 KEYS = 16 / sizeof(Key);

    union Vector {
        uint4 words;
        Key keys[KEYS];
    };

    const Task<Key>& task;
    const D& dictionary;

    __device__ WriteByDictionary(const Task<Key>& task) : task(task), dictionary(D::of(task)) {}

    __device__ void run() {
        // Keys before the first whole vector, and the place of those after the last.
        u32 head = min(task.n, u32((16 - u64(task.result) % 16) % 16 / sizeof(Key)));
        u32 vectors = (task.n - head) / KEYS, tail = head + vectors * KEYS;
        if (blockIdx.x == 0 && threadIdx.x < head + task.n - tail) {
            u32 place = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
            task.result[place] = dictionary.in_order[number_at(place)];
        }
        u32 first = u32(u64(vectors) * blockIdx.x / gridDim.x) + threadIdx.x;
        u32 last = u32(u64(vectors) * (blockIdx.x + 1) / gridDim.x);
        if (first < last) write(head, first, last);
    }

    // Which key has this place: how many keys end before it.
    __device__ u32 number_at(u32 place) const {
        u32 number = 0;
#pragma unroll
        for (u32 step = D::MOST / 2; step > 0; step /= 2)
            if (dictionary.ends[number + step - 1] <= place) number += step;
        return number;
    }

    // Each blockDim.x-th vector; the first of all is at `head`.
    __device__ void write(u32 head, u32 first, u32 last) {
        uint4* to = reinterpret_cast<uint4*>(task.result + head);
        u32 number = number_at(head + first * KEYS), end = dictionary.ends[number];
        Key key = dictionary.in_order[number];
        for (u32 i = first; i < last; i += blockDim.x) {
            u32 place = head + i * KEYS;
            Vector vector;
#pragma unroll
            for (u32 k = 0; k < KEYS; k++) {
                if (place + k >= end) {
                    do end = dictionary.ends[++number];
                    while (place + k >= end);
                    key = dictionary.in_order[number];
                }
                vector.keys[k] = key;
            }
            to[i] = vector.words;
        }
    }
};

// In registers of its own.
template <class Key>
__device__ __noinline__ void write_by_dictionary(const Task<Key>& task) {
    WriteByDictionary<Key>(task).run();
}
