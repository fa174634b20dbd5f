// tile-merge: tiles sorted by themselves, then merged two by two (Parallel radix sort lecture, after
// GPU Gems 3, chapter 39).
//
//     tiles      each tile that fits shared memory, sorted by split, bit by bit
//     until one run is left, for each pair of neighbouring runs (run = tile, 2 * tile, ...):
//         reversed   the second turned round behind the first
//         step_s     compare-exchange at distance run, run / 2, ... 1
//
// Shapes: all arrays n, keys and, beside them, positions. tile and run are powers of two. A run
// without partner waits.
//
// Merging compares (bits, position), so it is stable and no two are equal. A position is where the
// key stood in the input. What belongs to a key is fetched by it when all is sorted (`gather` in
// codec.cu), so positions alone travel. Keys alone, compared by all of their bits, need none: then
// the positions are null.
#include "bitonic.cuh"
#include "split_tile.cuh"

// tiles: each tile sorted by the bits from `bit` to `end`; positions null or made here, 0 .. n.
// Grid: ceil(n / tile). tile: ITEMS * blockDim.x at most. Shared, with m = blockDim.x if tile is no
// more than that, else ITEMS * blockDim.x: S(Key, m), and S(u32, m) with positions.
template <u32 ITEMS_>
__device__ inline void sort_one_tile(
    const Key* __restrict__ keys, u32 n, u32 tile, u32 bit, u32 end, Key* __restrict__ out,
    u32* __restrict__ positions) {
    Shared shared;
    Key* sorted = shared.take<Key>(ITEMS_ * blockDim.x);
    u32* position = positions ? shared.take<u32>(ITEMS_ * blockDim.x) : nullptr;
    u32 start = blockIdx.x * tile, count = min(tile, n - start);

    load_tile<ITEMS_>(keys + start, count, sorted);
    if (position)
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) position[bank<u32>(i)] = start + i;

    split_tile<ITEMS_>(sorted, position, bit, end);

#pragma unroll
    for (u32 j = 0; j < ITEMS_; j++) {
        u32 i = j * blockDim.x + threadIdx.x;
        if (i < count) {
            out[start + i] = sorted[bank<Key>(i)];
            if (position) positions[start + i] = position[bank<u32>(i)];
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024) tile_merge_tiles(
    const Key* keys, u32 n, u32 tile, u32 bit, u32 end, Key* out, u32* positions) {
    if (tile <= blockDim.x)
        sort_one_tile<1>(keys, n, tile, bit, end, out, positions);
    else
        sort_one_tile<ITEMS>(keys, n, tile, bit, end, out, positions);
}

// reversed: the second run of each pair turned round behind the first. Only to be shown: a merge
// reads its runs so in its first step.
// Grid: ceil(n / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) tile_merge_reverse(
    const Key* __restrict__ keys, const u32* __restrict__ positions, u32 n, u32 run,
    Key* __restrict__ out, u32* __restrict__ positions_out) {
#pragma unroll
    for (u32 j = 0; j < LANES; j++) {
        u32 i = lane_index(j);
        if (i >= n) return;
        Pair pair = Pair::around(i, run, n);
        u32 v = i - pair.start, from = pair.start + (v < run ? v : run + pair.len - 1 - v);
        out[i] = keys[from];
        if (positions) positions_out[i] = positions[from];
    }
}

struct Merge {
    const Key* __restrict__ keys;
    const u32* __restrict__ positions;
    u32 n, run, distance;
    Key mask;
    u32 turned;
    Key* __restrict__ out;
    u32* __restrict__ positions_out;

    // From where on a pair is read backward in the first step.
    __device__ u32 turned_from() const { return distance == run && !turned ? run : ~0u; }
};

// Places a thread in a step.
constexpr u32 PLACES = 8;

// COUNT steps at once. A group is 2^COUNT places that are compared with none but each other; a thread
// has as many as make PLACES. WHOLE: there are no guards in the pairs that they are in.
template <u32 COUNT, bool POSITIONS, bool WHOLE>
__device__ inline void merge_groups(const Merge& m) {
    constexpr u32 GROUPS = PLACES >> COUNT;
    u32 last = m.distance >> (COUNT - 1), groups_a_pair = m.run >> (COUNT - 1);
    u32 first = blockIdx.x * GROUPS * blockDim.x + threadIdx.x;
    u32 turned_from = m.turned_from();

    Ranked element[GROUPS][1 << COUNT];
#pragma unroll
    for (u32 j = 0; j < GROUPS; j++) {
        u32 group = first + j * blockDim.x;
        u64 start = u64(group & ~(groups_a_pair - 1)) << COUNT;
        if (!WHOLE && start >= m.n) break;
        Pair pair = Pair::around(start, m.run, m.n);
        auto before = Layout<WHOLE>::before_step(pair, m.run, 2 * m.distance);
        u32 v = first_of_group<COUNT>(group & (groups_a_pair - 1), last);
#pragma unroll
        for (u32 k = 0; k < 1 << COUNT; k++)
            element[j][k] =
                read<POSITIONS>(m.keys, m.positions, pair, before, v + k * last, turned_from);
    }
#pragma unroll
    for (u32 j = 0; j < GROUPS; j++) {
        u32 group = first + j * blockDim.x;
        u64 start = u64(group & ~(groups_a_pair - 1)) << COUNT;
        if (!WHOLE && start >= m.n) break;
        Pair pair = Pair::around(start, m.run, m.n);
        auto after = Layout<WHOLE>::before_step(pair, m.run, last);
        u32 v = first_of_group<COUNT>(group & (groups_a_pair - 1), last);
        bitonic_steps<COUNT, POSITIONS>(element[j], m.mask);
#pragma unroll
        for (u32 k = 0; k < 1 << COUNT; k++)
            write<POSITIONS>(element[j][k], m.out, m.positions_out, pair, after, v + k * last);
    }
}

template <u32 COUNT, bool POSITIONS>
__device__ inline void merge_steps(const Merge& m) {
    u64 end = (u64(blockIdx.x) + 1) * PLACES * blockDim.x;
    if (end <= (m.n & ~(2 * m.run - 1)))
        merge_groups<COUNT, POSITIONS, true>(m);
    else
        merge_groups<COUNT, POSITIONS, false>(m);
}

template <bool POSITIONS>
__device__ inline void merge_steps(const Merge& m, u32 count) {
    if (count == 1)
        merge_steps<1, POSITIONS>(m);
    else if (count == 2)
        merge_steps<2, POSITIONS>(m);
    else
        merge_steps<3, POSITIONS>(m);
}

// step_s, or `count` steps in one: at distance, distance / 2, ..., count of them, 1 to 3 (and no
// more than there are). If distance is run, the second runs are read backward; not so if `turned`
// is 1, when tile_merge_reverse has turned them. mask: the bits that are compared; all of them where
// the positions are null.
// Grid: ceil(ceil(n / (2 * run)) * 2 * run / (PLACES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) tile_merge_steps(
    const Key* keys, const u32* positions, u32 n, u32 run, u32 distance, u32 count, Key mask, u32 turned,
    Key* out, u32* positions_out) {
    Merge merge{keys, positions, n, run, distance, mask, turned, out, positions_out};
    if (positions)
        merge_steps<true>(merge, count);
    else
        merge_steps<false>(merge, count);
}

// COUNT steps on a tile in shared memory.
template <u32 COUNT, bool POSITIONS>
__device__ inline void tile_steps(Key* keys, u32* positions, u32 size, u32 distance, Key mask) {
    u32 last = distance >> (COUNT - 1);
    for (u32 group = threadIdx.x; group < size >> COUNT; group += blockDim.x) {
        // v and k * last have no bit in common, so bank(v + k * last) is a sum.
        u32 v = first_of_group<COUNT>(group, last);
        Key* key = keys + bank<Key>(v);
        u32* position = positions + bank<u32>(v);
        Ranked element[1 << COUNT];
#pragma unroll
        for (u32 k = 0; k < 1 << COUNT; k++)
            element[k] = {key[bank<Key>(k * last)], POSITIONS ? position[bank<u32>(k * last)] : 0};
        bitonic_steps<COUNT, POSITIONS>(element, mask);
#pragma unroll
        for (u32 k = 0; k < 1 << COUNT; k++) {
            key[bank<Key>(k * last)] = element[k].key;
            if (POSITIONS) position[bank<u32>(k * last)] = element[k].position;
        }
    }
    __syncthreads();
}

template <bool POSITIONS, bool WHOLE>
__device__ inline void merge_tile(const Merge& m, Pair pair, u32 start) {
    // As many steps in registers at a time as they have room for; first what does not divide evenly.
    constexpr u32 COUNT = POSITIONS || sizeof(Key) == 8 ? 3 : 4;
    constexpr u32 BATCH = 4;
    u32 size = 2 * m.distance, turned_from = m.turned_from();
    auto before = Layout<WHOLE>::before_step(pair, m.run, size),
         after = Layout<WHOLE>::before_step(pair, m.run, 1);
    Shared shared;
    Key* keys = shared.take<Key>(size);
    u32* positions = POSITIONS ? shared.take<u32>(size) : nullptr;

    // Load the tile.
    for (u32 first = threadIdx.x; first < size; first += BATCH * blockDim.x) {
        Ranked element[BATCH];
#pragma unroll
        for (u32 j = 0; j < BATCH; j++) {
            u32 i = first + j * blockDim.x;
            if (i < size)
                element[j] = read<POSITIONS>(m.keys, m.positions, pair, before, start + i, turned_from);
        }
#pragma unroll
        for (u32 j = 0; j < BATCH; j++) {
            u32 i = first + j * blockDim.x;
            if (i < size) keys[bank<Key>(i)] = element[j].key;
            if (i < size && POSITIONS) positions[bank<u32>(i)] = element[j].position;
        }
    }
    __syncthreads();

    // All steps.
    u32 steps = 32 - __clz(m.distance), distance = m.distance;
    for (; steps % COUNT != 0; steps--, distance /= 2)
        tile_steps<1, POSITIONS>(keys, positions, size, distance, m.mask);
    for (; steps != 0; steps -= COUNT, distance >>= COUNT)
        tile_steps<COUNT, POSITIONS>(keys, positions, size, distance, m.mask);

    // Store the tile.
#pragma unroll 4
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
        Ranked element{keys[bank<Key>(i)], POSITIONS ? positions[bank<u32>(i)] : 0};
        write<POSITIONS>(element, m.out, m.positions_out, pair, after, start + i);
    }
}

template <bool POSITIONS>
__device__ inline void merge_tile(const Merge& m) {
    u32 place = blockIdx.x * 2 * m.distance;
    Pair pair = Pair::around(place, m.run, m.n);
    u32 start = place - pair.start;
    if (pair.len == 2 * m.run)
        merge_tile<POSITIONS, true>(m, pair, start);
    else if (start < pair.len)
        merge_tile<POSITIONS, false>(m, pair, start);
}

// All steps from `distance` to 1 in one kernel, each block with 2 * distance places in shared memory.
// The rest as above.
// Grid: ceil(n / (2 * run)) * (run / distance). blockDim: any.
// Shared: S(Key, 2 * distance), and S(u32, 2 * distance) with positions.
extern "C" __global__ void __launch_bounds__(1024) tile_merge_tile_steps(
    const Key* keys, const u32* positions, u32 n, u32 run, u32 distance, Key mask, u32 turned, Key* out,
    u32* positions_out) {
    Merge merge{keys, positions, n, run, distance, mask, turned, out, positions_out};
    if (positions)
        merge_tile<true>(merge);
    else
        merge_tile<false>(merge);
}
