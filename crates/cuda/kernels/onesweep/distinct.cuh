// Which codes there are, if they are few. Then passes by the lowest digits may not be needed: if no two
// codes agree in all digits above, keys that do are equal, and a stable sort by those digits is one by all.
//
//     sample     a key of each lane; where most differ, there are too many
//     note       each code, in a table of the block, as long as there is room
//     merge      the block's table into that of all blocks
//     implied    the digits below the highest in which some two codes, alike above it, differ
//
// A table has one more than each code, and zeros. The greatest code of all finds no room, and counts as too
// many.
#pragma once

#include "task.cuh"

template <class Key>
struct FewCodes {
    using Table = Codes<Key>;
    static constexpr u32 SLOTS = Table::SLOTS;
    // Different codes of a warp's sample, and slots in which a code may be.
    static constexpr u32 MOST_OF_A_WARP = 24, MOST_STEPS = 8;

    Table& table;

    __device__ FewCodes(Table& table) : table(table) {}

    // By SLOTS threads or more, before a barrier.
    __device__ void clear(bool sought) {
        if (threadIdx.x < SLOTS) table.codes[threadIdx.x] = 0;
        if (threadIdx.x == 0) table.many = !sought;
    }

    // Seen by each thread at some time.
    __device__ bool many() const { return *const_cast<volatile u32*>(&table.many); }

    // By the lanes of a warp.
    __device__ void sample(Key code) {
        u32 lane = threadIdx.x % WARP, first = __ffs(__match_any_sync(ALL_LANES, slot_of(code))) - 1;
        if (__popc(__ballot_sync(ALL_LANES, first == lane)) > MOST_OF_A_WARP) table.many = true;
    }

    // Where a code is looked for first.
    __device__ static u32 slot_of(Key code) {
        u32 lower = u32(code), upper = u32(u64(code) >> 32);
        return (lower * 0x9e3779b1 + upper * 0x85ebca6b) / (~0u / SLOTS + 1);
    }

    // Mostly it is there.
    __device__ void note(Key code) {
        Key entry = code + 1;
        if (entry == 0 || *const_cast<volatile Key*>(&table.codes[slot_of(code)]) != entry) enter(table, code);
    }

    __device__ __noinline__ static void enter(Table& table, Key code) {
        Key entry = code + 1;
        u32 slot = slot_of(code);
#pragma unroll 1
        for (u32 step = 0; step < MOST_STEPS && entry != 0; step++, slot = (slot + 1) % SLOTS) {
            Key there = *const_cast<volatile Key*>(&table.codes[slot]);
            if (there == 0) there = atomicCAS(&table.codes[slot], Key(0), entry);
            if (there == 0 || there == entry) return;
        }
        table.many = true;
    }

    // A block's codes to those of all, by SLOTS threads or more.
    __device__ void merge(const Table& block) {
        if (block.many)
            table.many = true;
        else if (threadIdx.x < SLOTS && block.codes[threadIdx.x] != 0)
            enter(table, block.codes[threadIdx.x] - 1);
    }

    // How many digits need no pass, by SLOTS threads or more. The table of the block is that of all then.
    __device__ u32 implied(Table& block, u32& lowest) const {
        if (__ldcg(&table.many)) return 0;
        Key own = threadIdx.x < SLOTS ? __ldcg(&table.codes[threadIdx.x]) : 0;
        if (threadIdx.x < SLOTS) block.codes[threadIdx.x] = own;
        if (threadIdx.x == 0) lowest = 8 * sizeof(Key);
        __syncthreads();
        u32 unlike_from = 8 * sizeof(Key);
        if (own != 0)
#pragma unroll 1
            for (u32 i = 0; i < SLOTS; i++) {
                Key other = block.codes[i], unlike = Key(own - 1) ^ Key(other - 1);
                if (other != 0 && unlike != 0) unlike_from = min(unlike_from, 63 - __clzll(u64(unlike)));
            }
        atomicMin(&lowest, unlike_from);
        __syncthreads();
        // Of one code every digit is constant; of none nothing is known.
        return lowest < 8 * sizeof(Key) ? lowest / RADIX_BITS : 0;
    }
};
