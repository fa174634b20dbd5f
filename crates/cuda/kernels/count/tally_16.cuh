// How many 16-bit keys there are of each code.
//
//     for each key: the counter of its word += 1
//     add the counters to counts and groups, in the order of the codes
//
// Where the counters are: Packed, or Direct.
//
// Lanes of a warp that add to one counter wait for each other. So where two words have many of a
// warp's keys, these are counted in registers.
#pragma once

#include "task.cuh"
#include "vectors.cuh"

// The sum over the warp.
__device__ inline u32 warp_sum(u32 own) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, own);
#else
#pragma unroll
    for (u32 step = WARP / 2; step > 0; step /= 2) own += __shfl_xor_sync(ALL_LANES, own, step);
    return own;
#endif
}

// Two counters of 16 bits in a word of shared memory.
//
// A counter that has reached FULL gives up so many keys to counts. Whoever sees it so when adding
// empties it after its batch, so it never grows by more than all threads' batches, which is less than
// FULL again.
//
// Where shared memory is too small for the counters of all words, a block has those of a part of them,
// and PARTS neighbouring blocks read the same keys.
struct Packed {
    using Key = u16;
    static constexpr u32 THREADS = 1024, BLOCKS = 1;
#if __CUDA_ARCH__ == 750 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || \
    __CUDA_ARCH__ >= 1200
    static constexpr u32 PARTS = 2;
#else
    static constexpr u32 PARTS = 1;
#endif
    static constexpr u32 WORDS = Task<Key>::CELLS / 2 / PARTS;
    static constexpr u32 FULL = 0x8000, EITHER_FULL = FULL << 16 | FULL;
    // Vectors that a thread reads at a time, and those after which full counters are emptied.
    static constexpr u32 LOADS = 4;
    static_assert(THREADS * Vectors<Key>::KEYS < FULL / 2, "a counter could run over");

    struct Shared {
        u32 counters[WORDS];
    };

    const Task<Key>& task;
    u32* counters;
    // The part is the word's highest bit, where there are two.
    const u32 part = blockIdx.x % PARTS * FULL;

    __device__ Packed(const Task<Key>& task, Shared& shared) : task(task), counters(shared.counters) {}

    __device__ void clear() {
        uint4* vectors = reinterpret_cast<uint4*>(counters);
        for (u32 i = threadIdx.x; i < WORDS / 4; i += THREADS) vectors[i] = uint4{0, 0, 0, 0};
    }

    // The slot of a word, and the word of a slot: its counter's index and, above, which half. Words
    // that agree in their low bits would else meet in one bank. Takes two words at a time, too.
    __device__ static u32 slot(u32 words) { return words ^ (words >> 8 & 0x00ff00ff); }

    __device__ bool counts_here(u32 word) const { return PARTS == 1 || (word & FULL) == part; }

    // What was there before has the bits of EITHER_FULL where there is something to be emptied.
    __device__ u32 add(u32 slot, u32 keys) {
        if (!counts_here(slot)) return 0;
        return atomicAdd(&counters[slot % WORDS], slot & WORDS ? keys << 16 : keys);
    }

    __device__ void give_up(u32 slot_, u32 keys) {
        u32 code = task.codec.encode(Key(slot(slot_)));
        atomicAdd(&task.counts[code], u64(keys));
        atomicAdd(&task.groups[code / Task<Key>::GROUP], u64(keys));
    }

    __device__ void empty(u32 slot) {
        if (!counts_here(slot)) return;
        u32 index = slot % WORDS;
        u32 full = atomicAnd(&counters[index], ~EITHER_FULL) & EITHER_FULL;
        if (full & FULL) give_up(part | index, FULL);
        if (full >> 16) give_up(part | WORDS | index, FULL);
    }

    // A warp has a group at a time.
    __device__ void add_to_counts() {
        constexpr u32 GROUP = Task<Key>::GROUP, GROUPS = Task<Key>::GROUPS;
        u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        for (u32 i = warp; i < GROUPS; i += THREADS / WARP) {
            // Each block begins elsewhere.
            u32 group = (i + blockIdx.x * (THREADS / WARP)) % GROUPS, sum = 0;
#pragma unroll
            for (u32 j = 0; j < GROUP; j += WARP) {
                u32 code = group * GROUP + j + lane, at = slot(task.codec.decode(Key(code)));
                if (!counts_here(at)) continue;
                u32 both = counters[at % WORDS], keys = at & WORDS ? both >> 16 : both & 0xffff;
                if (keys) atomicAdd(&task.counts[code], u64(keys));
                sum += keys;
            }
            sum = warp_sum(sum);
            if (lane == 0 && sum) atomicAdd(&task.groups[group], u64(sum));
        }
    }
};

// The counters are counts itself, in global memory: for few keys.
struct Direct {
    using Key = u16;
    static constexpr u32 THREADS = 256, BLOCKS = 8, PARTS = 1, LOADS = 1;
    static constexpr u32 EITHER_FULL = 0, GROUP = Task<Key>::GROUP, GROUPS = Task<Key>::GROUPS;

    struct Shared {
        u32 groups[GROUPS];
    };

    const Task<Key>& task;
    u32* groups;

    __device__ Direct(const Task<Key>& task, Shared& shared) : task(task), groups(shared.groups) {}

    __device__ void clear() {
        for (u32 i = threadIdx.x; i < GROUPS; i += THREADS) groups[i] = 0;
    }

    __device__ static u32 slot(u32 words) { return words; }

    __device__ u32 add(u32 word, u32 keys) {
        u32 code = task.codec.encode(Key(word));
        atomicAdd(&task.counts[code], u64(keys));
        atomicAdd(&groups[code / GROUP], keys);
        return 0;
    }

    __device__ void empty(u32) {}

    __device__ void add_to_counts() {
        for (u32 i = threadIdx.x; i < GROUPS; i += THREADS)
            if (groups[i]) atomicAdd(&task.groups[i], u64(groups[i]));
    }
};

template <class Counters>
struct Tally16 {
    using Key = u16;
    using Shared = typename Counters::Shared;
    static constexpr u32 THREADS = Counters::THREADS, BLOCKS = Counters::BLOCKS;
    static constexpr u32 LOADS = Counters::LOADS, PARTS = Counters::PARTS;
    static constexpr u32 KEYS = Vectors<Key>::KEYS;
    // Of a warp's 32 first keys, so many of the two words make it worth while to count these apart.
    static constexpr u32 MANY = 10;

    const Task<Key>& task;
    Counters counters;
    const u32 lane = threadIdx.x % WARP;

    __device__ Tally16(const Task<Key>& task, Shared& shared) : task(task), counters(task, shared) {}

    __device__ void count_one(Key word) {
        u32 slot = counters.slot(word);
        if (counters.add(slot, 1) & Counters::EITHER_FULL) counters.empty(slot);
    }

    // A vector of each lane; `from` is where the own one was read.
    __device__ void count(uint4 vector, const uint4* from) {
        const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
        u32 own = words[0] & 0xffff;
        u32 first = __shfl_sync(ALL_LANES, own, 0);
        u32 many = __ballot_sync(ALL_LANES, own == first);
        u32 second = __shfl_sync(ALL_LANES, own, many == ALL_LANES ? 0 : __ffs(~many) - 1);
        many |= __ballot_sync(ALL_LANES, own == second);
        u32 seen = 0;
        if (__popc(many) < MANY) {
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                u32 slots = counters.slot(words[i]);
                seen |= counters.add(slots & 0xffff, 1);
                seen |= counters.add(slots >> 16, 1);
            }
        } else {
            // How many of the two words there are, in a half each.
            u32 both = 0;
#pragma unroll
            for (u32 k = 0; k < KEYS; k++) {
                u32 word = words[k / 2] >> (16 * (k % 2)) & 0xffff;
                if (word == first)
                    both += 1;
                else if (word == second)
                    both += 1 << 16;
                else
                    seen |= counters.add(counters.slot(word), 1);
            }
            both = warp_sum(both);
            u32 slot = counters.slot(lane == 0 ? first : second);
            u32 keys = lane == 0 ? both & 0xffff : both >> 16;
            if (lane < 2 && keys)
                if (counters.add(slot, keys) & Counters::EITHER_FULL) counters.empty(slot);
        }
        if (seen & Counters::EITHER_FULL) {
            // Read again: an index that changes would put the keys into local memory.
            const Key* keys = reinterpret_cast<const Key*>(from);
#pragma unroll 1
            for (u32 k = 0; k < KEYS; k++) counters.empty(counters.slot(keys[k]));
        }
    }

    __device__ void run() {
        counters.clear();
        __syncthreads();
        wait_for_earlier_kernels();

        // A warp has `chunk` vectors at a time; what is left over is counted one by one.
        constexpr u32 CHUNK = WARP * LOADS;
        Vectors<Key> vectors(task.source, task.n);
        const uint4* from = reinterpret_cast<const uint4*>(task.source + vectors.head);
        u64 chunks = vectors.count / CHUNK;
        u32 reader = blockIdx.x / PARTS, readers = gridDim.x / PARTS;
        u64 step = u64(readers) * (THREADS / WARP);
        for (u64 i = u64(reader) * (THREADS / WARP) + threadIdx.x / WARP; i < chunks; i += step) {
            uint4 vector[LOADS];
            const uint4* own = from + i * CHUNK + lane;
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) vector[j] = own[j * WARP];
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) count(vector[j], own + j * WARP);
        }
        if (reader == readers - 1) {
            if (threadIdx.x < vectors.head) count_one(task.source[threadIdx.x]);
            u64 rest = vectors.head + chunks * CHUNK * KEYS;
            for (u64 i = rest + threadIdx.x; i < task.n; i += THREADS) count_one(task.source[i]);
        }
        __syncthreads();
        let_next_kernel_in();
        counters.add_to_counts();
    }
};
