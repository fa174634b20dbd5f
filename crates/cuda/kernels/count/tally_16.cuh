// How many 16-bit keys a block has of each word.
//
//     for each key: the counter of its word += 1
//     write the counters
//
// Two counters of 16 bits lie in a word of shared memory. A counter that has reached FULL spills so
// many keys: whoever sees it so when adding empties it after its vector. So it never grows by more than
// all threads' vectors, which is less than FULL again.
//
// Lanes of a warp that add to one counter wait for each other. So where a word has many of a warp's
// keys, it and one other word are counted in registers.
//
// Where shared memory is too small for the counters of all words, a block has those of a part of them,
// and PARTS neighbouring blocks read the same keys.
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

struct Tally16 {
    using Key = u16;
    static constexpr u32 THREADS = 1024, BLOCKS = 1, WARPS = THREADS / WARP;
#if __CUDA_ARCH__ == 750
    static constexpr u32 PARTS = 4;
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
    static constexpr u32 PARTS = 2;
#else
    static constexpr u32 PARTS = 1;
#endif
    static constexpr u32 CELLS = Task<Key>::CELLS, COUNTERS = CELLS / 2 / PARTS;
    static constexpr u32 FULL = 0x8000, EITHER_FULL = FULL << 16 | FULL;
    static constexpr u32 KEYS = Vectors<Key>::KEYS;
    static_assert(THREADS * KEYS < FULL / 2, "a counter could run over");
    // Vectors that a thread reads at a time.
    static constexpr u32 LOADS = 4, CHUNK = WARP * LOADS;
    // Of a warp's 32 first keys, so many with one word make it worth while to count this word apart.
    static constexpr u32 MANY = 4;

    struct Shared {
        // Of a slot and, in the upper half, of the slot COUNTERS further.
        u32 counters[COUNTERS];
        u32 spilled;
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    // The part's first word.
    const u32 part = blockIdx.x % PARTS * (2 * COUNTERS);
    // A word that many of the warp's keys had.
    u32 often = 0;

    __device__ Tally16(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {}

    __device__ void clear() {
        uint4* vectors = reinterpret_cast<uint4*>(shared.counters);
        for (u32 i = threadIdx.x; i < COUNTERS / 4; i += THREADS) vectors[i] = uint4{0, 0, 0, 0};
        if (threadIdx.x == 0) shared.spilled = 0;
        __syncthreads();
    }

    // The slot of a word, and the word of a slot. Words that agree in their low bits would else meet in
    // one bank. Takes two words at a time, too.
    __device__ static u32 slot(u32 words) { return words ^ (words >> 8 & 0x00ff00ff); }

    __device__ bool counts_here(u32 word) const { return PARTS == 1 || (word & ~(2 * COUNTERS - 1)) == part; }

    // What was there before has bits of EITHER_FULL where there is something to be emptied.
    __device__ u32 add(u32 slot, u32 keys) {
        if (!counts_here(slot)) return 0;
        return atomicAdd(&shared.counters[slot % COUNTERS], slot & COUNTERS ? keys << 16 : keys);
    }

    __device__ void spill(u32 slot) {
        task.spills[u64(blockIdx.x) * task.spill_room + atomicAdd(&shared.spilled, 1)] = u16(slot);
    }

    // Both counters beside each other.
    __device__ void empty(u32 slot) {
        if (!counts_here(slot)) return;
        u32 index = slot % COUNTERS;
        u32 full = atomicAnd(&shared.counters[index], ~EITHER_FULL) & EITHER_FULL;
        if (full & FULL) spill(part | index);
        if (full >> 16) spill(part | COUNTERS | index);
    }

    __device__ void count(u32 word) {
        u32 at = slot(word);
        if (add(at, 1) & EITHER_FULL) empty(at);
    }

    // A vector of each lane; `from` is where the own one was read.
    __device__ void count(uint4 vector, const uint4* from) {
        const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
        u32 own = words[0] & 0xffff;
        u32 with_often = __ballot_sync(ALL_LANES, own == often);
        if (__popc(with_often) < MANY) {
            often = __shfl_sync(ALL_LANES, own, 0);
            with_often = __ballot_sync(ALL_LANES, own == often);
        }
        u32 seen = 0;
        if (__popc(with_often) < MANY) {
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                u32 slots = slot(words[i]);
                seen |= add(slots & 0xffff, 1);
                seen |= add(slots >> 16, 1);
            }
        } else {
            u32 other = __shfl_sync(ALL_LANES, own, with_often == ALL_LANES ? 0 : __ffs(~with_often) - 1);
            // How many there are of the two, in a half each.
            u32 twice = often << 16 | often, both = KEYS;
            bool all = words[0] == twice && words[1] == twice && words[2] == twice && words[3] == twice;
            if (!__all_sync(ALL_LANES, all)) {
                both = 0;
#pragma unroll
                for (u32 k = 0; k < KEYS; k++) {
                    u32 word = words[k / 2] >> (16 * (k % 2)) & 0xffff;
                    u32 apart = word == often ? 1 : word == other ? 1 << 16 : 0;
                    both += apart;
                    if (!apart) seen |= add(slot(word), 1);
                }
            }
            both = warp_sum(both);
            u32 at = slot(lane == 0 ? often : other), keys = lane == 0 ? both & 0xffff : both >> 16;
            if (lane < 2 && keys)
                if (add(at, keys) & EITHER_FULL) empty(at);
        }
        if (seen & EITHER_FULL) {
            // Read again: an index that changes would put the keys into local memory.
            const Key* keys = reinterpret_cast<const Key*>(from);
#pragma unroll 1
            for (u32 k = 0; k < KEYS; k++) empty(slot(keys[k]));
        }
    }

    // A warp has CHUNK vectors at a time; what is left over comes one by one.
    __device__ void count_all() {
        Vectors<Key> vectors(task.source, task.n);
        const uint4* from = reinterpret_cast<const uint4*>(task.source + vectors.head);
        u64 chunks = vectors.count / CHUNK;
        u32 reader = blockIdx.x / PARTS;
        for (u64 i = u64(reader) * WARPS + warp; i < chunks; i += u64(task.readers) * WARPS) {
            uint4 vector[LOADS];
            const uint4* own = from + i * CHUNK + lane;
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) vector[j] = own[j * WARP];
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) count(vector[j], own + j * WARP);
        }
        if (reader < task.readers - 1) return;
        if (threadIdx.x < vectors.head) count(task.source[threadIdx.x]);
        u64 rest = vectors.head + chunks * CHUNK * KEYS;
        for (u64 i = rest + threadIdx.x; i < task.n; i += THREADS) count(task.source[i]);
    }

    // The lower halves, then the upper ones: in the order of the slots.
    __device__ void write() {
        __syncthreads();
        uint2* to = static_cast<uint2*>(task.tallies) + u64(blockIdx.x) * (COUNTERS / 2);
        const uint4* from = reinterpret_cast<const uint4*>(shared.counters);
        for (u32 i = threadIdx.x; i < COUNTERS / 4; i += THREADS) {
            uint4 both = from[i];
            to[i] = uint2{__byte_perm(both.x, both.y, 0x5410), __byte_perm(both.z, both.w, 0x5410)};
            to[i + COUNTERS / 4] = uint2{__byte_perm(both.x, both.y, 0x7632), __byte_perm(both.z, both.w, 0x7632)};
        }
        if (threadIdx.x == 0) task.spilled[blockIdx.x] = shared.spilled;
    }

    __device__ void run() {
        clear();
        wait_for_earlier_kernels();
        count_all();
        write();
    }

    // Keys of a code, as a reader counted them, without what it spilled.
    __device__ static u32 keys(const Task<Key>& task, u32 reader, u32 code) {
        return static_cast<const u16*>(task.tallies)[u64(reader) * CELLS + slot(task.codec.decode(Key(code)))];
    }
};
