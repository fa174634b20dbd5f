// Which keys are common, by a sample; by the probe's block.
//
//     look        at the keys that the probe has read: whether many of them are equal to others
//     see         a larger sample: how often each of its keys is there
//     choose      the keys that are there most often; whether sifting them takes less time
//     name        which keys they are
//     settle      each to a slot of the dictionary, the most frequent ones first: a set may be full
//     sort        the codes, with their slots
//     write       the dictionary
//
// The sample is told by names, some bits of a hash: keys of one name count as one. So they may be taken for
// more common than they are, which costs time alone.
#pragma once

#include "dictionary.cuh"
#include "task.cuh"
#include "times.cuh"
#include "warp.cuh"

template <class Key, u32 THREADS>
struct Census {
    using D = Dictionary<Key>;
    static constexpr u32 SLOT_BITS = SHARED_KB >= 163 ? 15 : SHARED_KB >= 99 ? 14 : 13, SLOTS = 1 << SLOT_BITS;
    // A slot: in its upper half the name, in its lower how often that was seen; later the key's number and
    // one more. A slot that is 0 is free.
    static constexpr u32 NAME_BITS = 16, LOWER = (1 << NAME_BITS) - 1, MOST_SEEN = 0x3fff;
    // Of a slot's lower half while numbers are given.
    static constexpr u32 NUMBERED = 1 << (NAME_BITS - 1);
    // Slots in which a name is looked for. Whoever finds both taken is not counted; a common key comes before
    // there are so many.
    static constexpr u32 MOST_STEPS = 2;
    // Keys that a thread has of the probe's sample; of the larger one, and those that are on their way at
    // once.
    static constexpr u32 ITEMS = 4, KEYS = 16, AT_ONCE = sizeof(Key) <= 8 ? 16 : 8;
    // It is as many times as large as the input has so many keys, but no more than that, and once if nearly
    // all are common.
    static constexpr u32 LARGE_BITS = 26, MOST_TIMES = SLOT_BITS >= 15 ? 4 : 1;
    static constexpr float NEARLY_ALL = 0.95;
    // Above that all keys are as frequent.
    static constexpr u32 FREQUENT = 64;
    // Keys that were seen so often settle before the others.
    static constexpr u32 EARLY = 8;
    // Keys of the probe's sample in one slot that may be common.
    static constexpr u32 LOOK_BITS = 13, SOME = 4;
    static constexpr u32 NOBODY = ~0u, OWN = (D::MOST + THREADS - 1) / THREADS;
    static_assert(LOOK_BITS <= SLOT_BITS && D::MOST < NUMBERED, "there is room");
    static_assert(MOST_SEEN + THREADS < NUMBERED, "all threads may add at once");

    struct Shared {
        union {
            u32 slots[SLOTS];
            // Whose a slot of the dictionary is.
            u32 owners[D::MOST_SLOTS];
        };
        // In any order; then their codes, in order.
        Key keys[D::MOST];
        // How often each was seen; then which slot has it.
        u32 of_key[D::MOST];
        // How many names were seen so often.
        u32 names_seen[FREQUENT + 1];
        u32 distinct, found;
    };

    const Task<Key>& task;
    Shared& shared;
    D& dictionary;
    const u32 thread = threadIdx.x;
    // Keys of the sample that the thread has.
    u32 own = KEYS;

    __device__ Census(const Task<Key>& task, Shared& shared)
        : task(task), shared(shared), dictionary(*task.dictionary) {}

    // Makes the dictionary if that is faster than what takes so long, in tenths of a count, as a onesweep
    // does. The codes are the probe's.
    __device__ void run(const Key (&code)[ITEMS], u32 otherwise, u32 onesweep) {
        float common = look(code);
        // What is seen seldom may be common, too.
        if (!is_better(common + (1 - common) / 4, otherwise, onesweep)) return;
        if (common < NEARLY_ALL) own *= min(max(task.n >> LARGE_BITS, 1u), MOST_TIMES);
        clear();
        // What has been read is kept where nobody else needs room yet.
        u32 stretch = task.n / (own * THREADS);
        each([=](u32 i) { return task.source[i * stretch + __umulhi((i ^ i >> 9) * 0x85ebca6b, stretch)]; },
             [&](u32 i, Key key) {
                 task.scratch[i] = key;
                 see(key);
             });
        __syncthreads();
        choose();
        u32 found = 0;
        each([=](u32 i) { return task.scratch[i]; }, [&](u32, Key key) { found += name(key); });
        add_found(found);
        __syncthreads();
        // A key that was seen once more than the others need not be more common.
        common = float(shared.found - shared.distinct) / (own * THREADS);
        if (shared.distinct == 0 || !is_better(common, otherwise, onesweep)) return;
        write();
    }

    // Whether it takes a tenth less, if so many of all keys are common.
    __device__ bool is_better(float common, u32 otherwise, u32 onesweep) const {
        constexpr StageTimes TIMES = STAGE_TIMES<Key>;
        float rest = 1 - common, besides = rest > 0.02 ? fixed_time<Key>(REST_BYTES, task.n) : 0;
        return TIMES.sift + TIMES.weave + rest * onesweep + besides < 0.9 * otherwise;
    }

    // How many of the keys are many times in the sample.
    __device__ float look(const Key (&code)[ITEMS]) {
        for (u32 i = thread; i < 1 << LOOK_BITS; i += THREADS) shared.slots[i] = 0;
        if (thread == 0) shared.found = 0;
        __syncthreads();
        u32 slot[ITEMS];
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            slot[item] = D::hash(code[item]) >> (32 - LOOK_BITS);
            atomicAdd(&shared.slots[slot[item]], 1);
        }
        __syncthreads();
        u32 found = 0;
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) found += shared.slots[slot[item]] >= SOME;
        add_found(found);
        __syncthreads();
        return float(shared.found) / (ITEMS * THREADS);
    }

    __device__ void add_found(u32 found) {
        found = sum_of_warp(found);
        if (thread % WARP == 0 && found > 0) atomicAdd(&shared.found, found);
    }

    __device__ void clear() {
        // All have read what was found.
        __syncthreads();
        for (u32 i = thread; i < SLOTS; i += THREADS) shared.slots[i] = 0;
        for (u32 i = thread; i <= FREQUENT; i += THREADS) shared.names_seen[i] = 0;
        if (thread == 0) shared.distinct = shared.found = 0;
        __syncthreads();
    }

    // The sample's keys, by number: one of each part of the source, from a place in it that looks like
    // chance.
    template <class Read, class Do>
    __device__ void each(Read read, Do act) {
#pragma unroll 1
        for (u32 first = 0; first < own; first += AT_ONCE) {
            Key key[AT_ONCE];
#pragma unroll
            for (u32 j = 0; j < AT_ONCE; j++) key[j] = read((first + j) * THREADS + thread);
#pragma unroll 1
            for (u32 j = 0; j < AT_ONCE; j++) act((first + j) * THREADS + thread, key[j]);
        }
    }

    // The slots in which a key may be; `act(slot, name)` says whether it goes on.
    template <class Do>
    __device__ static void each_slot(Key key, Do act) {
        u32 hash = D::hash(key), name = max(hash & LOWER, 1u) << NAME_BITS;
        for (u32 i = 0; i < MOST_STEPS; i++)
            if (!act((hash >> (32 - SLOT_BITS)) + i & (SLOTS - 1), name)) return;
    }

    __device__ void see(Key key) {
        volatile u32* slots = shared.slots;
        each_slot(key, [&](u32 slot, u32 name) {
            u32 there = slots[slot];
            if (there == 0) there = atomicCAS(&shared.slots[slot], 0, name | 1);
            if (there == 0) return false;
            if ((there ^ name) >> NAME_BITS) return true;
            // It may become a little more, for others add meanwhile.
            if ((there & LOWER) < MOST_SEEN) atomicAdd(&shared.slots[slot], 1);
            return false;
        });
    }

    // The names that were seen most often get numbers.
    __device__ void choose() {
        for (u32 i = thread; i < SLOTS; i += THREADS) {
            u32 seen = shared.slots[i] & LOWER;
            if (seen > 1) atomicAdd(&shared.names_seen[min(seen, FREQUENT)], 1);
        }
        __syncthreads();
        // All that were seen so often have room, and some of those that were seen once less.
        u32 least = FREQUENT + 1, names = 0;
        while (least > 2 && names + shared.names_seen[least - 1] < D::MOST) names += shared.names_seen[--least];
        for (u32 i = thread; i < SLOTS; i += THREADS) number(i, [=](u32 seen) { return seen >= least; });
        __syncthreads();
        for (u32 i = thread; i < SLOTS; i += THREADS)
            number(i, [=](u32 seen) { return seen > 1 && seen == least - 1; });
        __syncthreads();
        for (u32 i = thread; i < SLOTS; i += THREADS)
            if (shared.slots[i] & NUMBERED)
                shared.slots[i] ^= NUMBERED;
            else
                shared.slots[i] &= ~LOWER;
        if (thread == 0) shared.distinct = min(shared.distinct, D::MOST - 1);
        __syncthreads();
    }

    template <class Takes>
    __device__ void number(u32 i, Takes takes) {
        u32 slot = shared.slots[i], seen = slot & LOWER;
        if (slot & NUMBERED || !takes(seen)) return;
        u32 number = atomicAdd(&shared.distinct, 1);
        if (number >= D::MOST - 1) return;
        shared.of_key[number] = min(seen, FREQUENT);
        shared.slots[i] = (slot & ~LOWER) | NUMBERED | (number + 1);
    }

    // Whether the key's name has a number: then it is that key. (Where several keys have the name, it may
    // become any, or none that there is.)
    __device__ bool name(Key key) {
        u32 number = 0;
        each_slot(key, [&](u32 slot, u32 name) {
            u32 there = shared.slots[slot];
            if ((there ^ name) >> NAME_BITS) return there != 0;
            number = there & LOWER;
            return false;
        });
        if (number > 0) shared.keys[number - 1] = key;
        return number > 0;
    }

    // Bits of a slot's number, for a quarter of the slots is taken.
    __device__ static u32 slot_bits(u32 distinct) {
        return min(max(34 - __clz(distinct), D::LEAST_SLOT_BITS), D::MOST_SLOT_BITS);
    }

    __device__ void write() {
        u32 distinct = shared.distinct, bits = slot_bits(distinct), slot[OWN];
        for (u32 i = thread; i < 1 << bits; i += THREADS) shared.owners[i] = NOBODY;
        __syncthreads();
        // What has no slot comes last.
#pragma unroll
        for (u32 j = 0; j < OWN; j++) slot[j] = D::MOST_SLOTS + j * THREADS + thread;
        for (u32 seen : {FREQUENT, EARLY, 0u}) {
#pragma unroll
            for (u32 j = 0; j < OWN; j++) {
                u32 i = j * THREADS + thread;
                if (i < distinct && slot[j] >= D::MOST_SLOTS && shared.of_key[i] >= seen)
                    settle(slot[j], i, D::set_of(shared.keys[i], bits));
            }
            __syncthreads();
        }
        u32 settled = 0;
#pragma unroll
        for (u32 j = 0; j < OWN; j++) {
            u32 i = j * THREADS + thread;
            bool has = slot[j] < D::MOST_SLOTS;
            settled += __syncthreads_count(has);
            if (i >= D::MOST) continue;
            shared.keys[i] = has ? task.codec.encode(shared.keys[i]) : Key(~Key(0));
            shared.of_key[i] = slot[j];
            dictionary.counts[i] = 0;
        }
        sort(distinct);

        Key first = task.codec.decode(shared.keys[0]);
        for (u32 i = thread; i < 1 << bits; i += THREADS)
            if (shared.owners[i] == NOBODY) {
                dictionary.keys[i] = first;
                dictionary.numbers[i] = 0;
            }
        for (u32 i = thread; i < settled; i += THREADS) {
            Key key = task.codec.decode(shared.keys[i]);
            u32 own = shared.of_key[i];
            dictionary.keys[own] = key;
            dictionary.numbers[own] = u16(i);
            dictionary.in_order[i] = key;
        }
        if (thread == 0) {
            dictionary.distinct = settled;
            dictionary.slot_bits = bits;
            task.choice->path = SIFT;
        }
    }

    // One of the two slots of a set, if one is free.
    __device__ void settle(u32& slot, u32 i, u32 set) {
#pragma unroll
        for (u32 way = 0; way < 2; way++) {
            if (slot < D::MOST_SLOTS || atomicCAS(&shared.owners[2 * set + way], NOBODY, i) != NOBODY) continue;
            slot = 2 * set + way;
        }
    }

    // A bitonic sort, of as many as the next power of two at least.
    __device__ void sort(u32 distinct) {
        for (u32 run = 2; run < 2 * distinct; run *= 2)
            for (u32 step = run / 2; step > 0; step /= 2) {
                __syncthreads();
                for (u32 pair = thread; pair < D::MOST / 2; pair += THREADS) {
                    u32 i = 2 * pair - pair % step;
                    exchange(i, i + step, (i & run) > 0);
                }
            }
        __syncthreads();
    }

    __device__ void exchange(u32 i, u32 other, bool falls) {
        Key left = shared.keys[i], right = shared.keys[other];
        u32 left_slot = shared.of_key[i], right_slot = shared.of_key[other];
        if ((right < left || (right == left && right_slot < left_slot)) == falls) return;
        shared.keys[i] = right;
        shared.keys[other] = left;
        shared.of_key[i] = right_slot;
        shared.of_key[other] = left_slot;
    }
};
