// How many keys each cell has, in one read.
//
//     for each round of vectors: counters[cell] += 1 for each of their keys
//     counts += counters
//     few cells: the last block to be done lays them out (lay_out.cuh)
//
// Or, where many keys are common, it sifts these (sift.cuh); or it reads no more than a sample, which gives buckets
// their rooms (rooms.cuh); or, where quantiles are to tell the cells, it makes their table of a sample, and gives rooms
// in its second turn (quantile.cuh).
//
// A counter is half a word: 2^16 of them are 128 KB. One that has reached FULL gives up so many keys to
// counts: whoever sees it so when adding empties it after its round. So it never grows by more than all
// threads' rounds, which is less than FULL again.
//
// Lanes of a warp that add to one counter wait for each other. So where a cell has many of a warp's
// keys, it and one other cell are counted in registers.
//
// The window holds all keys if the probe has read all of them. If it has read a sample, some keys may
// lie outside: tails are long. So each block says what the least and the greatest of its codes are, and
// a second turn counts anew if need be, or what a sample was not enough for; otherwise it does nothing. Where it is not
// enqueued (Task::counts_once), these are onesweep's.
//
// Grid: up to one block a multiprocessor. Shared, beside its own: counter_bytes, and at least Others.
#pragma once

#include "lay_out.cuh"
#include "read.cuh"
#include "rooms.cuh"
#include "sift.cuh"
#include "window.cuh"

template <class Key, u32 LANES = 4>
struct Count {
    static constexpr u32 THREADS = 1024;
    static constexpr u32 FULL = 0x8000, EITHER_FULL = FULL << 16 | FULL;
    static constexpr u32 KEYS = Reader<Key, LANES>::KEYS;
    // Keys that a block reads at a time.
    static constexpr u32 TILE = THREADS * LANES * KEYS;
    using Sifts = Sift<Key, THREADS, LANES>;
    using Room = Rooms<Key, THREADS>;
    using Q = Quantiles<Key>;
    // Rooms of quantiles: the table, and what gives rooms.
    struct RoomsOfQuantiles {
        u32 table[Q::WORDS];
        typename Room::Shared rooms;
    };
    // What else may lie where the counters are.
    union Others {
        typename Sifts::Table sift;
        typename Learn<Key, THREADS>::Shared learn;
        RoomsOfQuantiles rooms;
    };
    static_assert(THREADS * LANES * KEYS < FULL, "a counter could run over");
    // Of a warp's lanes, so many with one cell make it worth while to count this cell apart.
    static constexpr u32 MANY = 6;

    struct Shared {
        BlockRange<Key, THREADS> range;
        typename LayOut<Key>::Shared lay_out;
    };

    static constexpr u32 counter_bytes(u32 cell_bits) { return sizeof(u16) << cell_bits; }

    const Task<Key>& task;
    Shared& shared;
    // Word i has the counter of cell i in its lower half, that of cell i + words in its upper half.
    u32* counters;
    u32 words;
    Reader<Key, LANES> reader;
    // What is counted next.
    uint4 vector[LANES];
    // Of the thread's codes.
    Range<Key> range = Range<Key>::none();
    // A cell that many of the warp's keys had.
    u32 often = 0;

    __device__ Count(const Task<Key>& task, Shared& shared, u32* counters)
        : task(task), shared(shared), counters(counters), words(task.cells() / 2),
          reader(task.source, task.n) {}

    // turn: 0, or 1.
    __device__ void run(u32 turn) {
        // The probe, which let this kernel in, has waited for those that wrote the source.
        bool samples = turn == 0 && Room::may(task);
        if (samples)
            sample();
        else if (turn == 0)
            begin();
        else
            let_next_kernel_in();
        wait_for_earlier_kernels();
        u32 path = task.choice->path;
        if (turn == 0 && path == SIFT) return sift_common<Sifts>(task, counters, shared.lay_out.last);
        if constexpr (Q::WORTH)
            if (path == QUANTILES) return turn == 0 ? learn() : give_rooms_to_quantiles();
        if (path != HYBRID || (turn > 0 && !task.choice->missed && !task.choice->unroomy)) return;
        Range<Key> known = known_range(turn);
        Window<Key> window(known, task.cell_bits());
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            task.choice->base = window.base;
            task.choice->prefix = window.prefix;
            task.choice->low = window.low;
        }
        if (turn == 0 && Room::possible(task, window)) {
            if (threadIdx.x == 0) task.ranges[task.probe_blocks + blockIdx.x] = known;
            return Room(task, counters).give_by_counts(shared.lay_out.last);
        }

        if (turn > 0 || samples) begin();
        count(window);
        bool tells = turn == 0 && task.may_onesweep;
        if (tells) shared.range.put(range);
        __syncthreads();
        let_next_kernel_in();
        if (tells && threadIdx.x < WARP) tell_range(window);
        add_to_counts();
        if (!last_block(task.choice->done, shared.lay_out.last)) return;
        LayOut<Key> lay_out(task, shared.lay_out);
        bool alone = task.cells() <= LayOut<Key>::ALONE;
        uint4 counts = alone ? lay_out.counts() : uint4{};
        if (turn == 0 && __ldcg(&task.choice->missed)) {
            if (threadIdx.x == 0 && task.counts_once) task.choose(ONESWEEP);
#pragma unroll 1
            for (u32 cell = threadIdx.x; cell < task.cells(); cell += THREADS) task.counts[cell] = 0;
        } else if (alone) {
            lay_out.run_alone(counts, turn > 0 && task.choice->missed);
        }
    }

    // What quantiles are made of.
    __device__ void learn() {
        // Nothing is known of a cell's keys but where their quantiles lie.
        if (blockIdx.x == 0 && threadIdx.x == 0) task.choice->low = task.key_bits;
        Learn<Key, THREADS>::run(task, counters, shared.lay_out.last);
    }

    __device__ void give_rooms_to_quantiles() {
        auto& own = *reinterpret_cast<RoomsOfQuantiles*>(counters);
        Q::load(own.table, task.quantiles);
        u32 shift = Q::QUANTILE_BITS - task.a_bits;
        Room room(task, &own.rooms);
        room.count([&](Key code) { return Q::of(own.table, code, shift) >> shift; });
        room.give_by_counts(shared.lay_out.last);
    }

    // For rooms, while the probe goes on: where these are possible, a window begins at the highest bit.
    __device__ void sample() {
        Digit bucket{task.key_bits - task.a_bits, (1u << task.a_bits) - 1};
        Room(task, counters).count([=](Key code) { return bucket.of(code); });
    }

    // What the probe has read, or the blocks of the turn before.
    __device__ Range<Key> known_range(u32 turn) {
        if (turn == 0 && task.probe_blocks == 1) return task.ranges[0];
        u32 first = turn == 0 ? 0 : task.probe_blocks, blocks = turn == 0 ? task.probe_blocks : gridDim.x;
        shared.range.put(threadIdx.x < blocks ? task.ranges[first + threadIdx.x] : Range<Key>::none());
        __syncthreads();
        return shared.range.of_block();
    }

    // By the first warp.
    __device__ void tell_range(const Window<Key>& window) {
        Range<Key> all = shared.range.of_block();
        if (threadIdx.x > 0) return;
        task.ranges[task.probe_blocks + blockIdx.x] = all;
        if (!window.has(all.least) || !window.has(all.greatest)) task.choice->missed = 1;
    }

    __device__ void begin() {
#pragma unroll 4
        for (u32 i = threadIdx.x; i < words; i += THREADS) counters[i] = 0;
        __syncthreads();
        if (reader.rounds > 0) reader.load(vector, 0);
    }

    __device__ void count(const Window<Key>& window) {
        Digit digit{window.low, task.cells() - 1};
        // The window is told by codes as they are.
        Coder<Key> coder(task.codec, 0);
        auto cell_of = [&](Key code) {
            range.include(code);
            return digit.of(Key(code - window.base));
        };
        auto cells_of = [&](uint4 vector, u32 (&cells)[KEYS]) {
            Key code[KEYS];
#pragma unroll
            for (u32 k = 0; k < KEYS; k++) code[k] = reader.key(vector, k);
            coder.encode(code);
#pragma unroll
            for (u32 k = 0; k < KEYS; k++) cells[k] = cell_of(code[k]);
        };

        Key word;
        if (reader.single(word)) {
            u32 cell = cell_of(coder.encode(word));
            if (add(cell, 1) & EITHER_FULL) empty(cell);
        }
        for (u32 round = 0; round < reader.rounds; round++) {
            // Vectors, by their number, that are left for add_crowded.
            u32 cells[KEYS], seen = 0, left = 0;
            cells_of(vector[0], cells);
            bool crowded = is_crowded(cells[0]);
#pragma unroll
            for (u32 j = 0; j < LANES; j++) {
                if (j > 0) cells_of(vector[j], cells);
                // Of the next round, while this one goes on.
                vector[j] = reader.load(round + 1, j);
                bool has = reader.has(round, j);
                if (crowded) {
                    if (!all_in_one(cells, has))
                        left |= 1 << j;
                    else if (threadIdx.x % WARP == 0 && add(cells[0], WARP * KEYS) & EITHER_FULL)
                        empty(cells[0]);
                } else if (has) {
#pragma unroll
                    for (u32 k = 0; k < KEYS; k++) seen |= add(cells[k], 1);
                }
            }
            bool full = __any_sync(ALL_LANES, seen & EITHER_FULL);
            if (!full && left == 0) continue;
            // What is seldom done goes vector by vector, read again: where they stand in registers, each
            // would need code of its own.
#pragma unroll 1
            for (u32 j = 0; j < LANES; j++) {
                cells_of(reader.load(round, j), cells);
                u32 before = left >> j & 1 ? add_crowded(cells, reader.has(round, j)) : 0;
                if (full || before & EITHER_FULL)
#pragma unroll
                    for (u32 k = 0; k < KEYS; k++) empty(cells[k]);
            }
        }
    }

    // Whether all of a warp's vectors are of one cell.
    __device__ static bool all_in_one(const u32 (&cells)[KEYS], bool has) {
        u32 first = __shfl_sync(ALL_LANES, cells[0], 0);
        bool same = has;
#pragma unroll
        for (u32 k = 0; k < KEYS; k++) same = same && cells[k] == first;
        return __all_sync(ALL_LANES, same);
    }

    // Whether many of the lanes have one cell: the one of last time, or another, kept from now on.
    __device__ bool is_crowded(u32 cell) {
        if (__popc(__ballot_sync(ALL_LANES, cell == often)) >= MANY) return true;
        often = __shfl_sync(ALL_LANES, cell, 0);
        return __popc(__ballot_sync(ALL_LANES, cell == often)) >= MANY;
    }

    // All lanes come here, also those that have none. What was there before is returned as `add` does.
    __device__ u32 add_crowded(const u32 (&cells)[KEYS], bool has) {
        is_crowded(cells[0]);
        u32 others = __ballot_sync(ALL_LANES, cells[0] != often);
        u32 other = __shfl_sync(ALL_LANES, cells[0], others ? __ffs(others) - 1 : 0);
        // How many there are of the two, in a half each.
        u32 both = 0, seen = 0;
        if (has)
#pragma unroll
            for (u32 k = 0; k < KEYS; k++) {
                u32 apart = cells[k] == often ? 1 : cells[k] == other ? 1 << 16 : 0;
                both += apart;
                if (!apart) seen |= add(cells[k], 1);
            }
        both = sum_of_warp(both);
        u32 lane = threadIdx.x % WARP, cell = lane == 0 ? often : other;
        u32 keys = lane == 0 ? both & 0xffff : both >> 16;
        if (lane < 2 && keys > 0)
            if (add(cell, keys) & EITHER_FULL) empty(cell);
        return seen;
    }

    // What was there before has bits of EITHER_FULL where there is something to be emptied.
    __device__ u32 add(u32 cell, u32 keys) {
        return atomicAdd(&counters[cell & (words - 1)], cell & words ? keys << 16 : keys);
    }

    // The counter, and the one beside it.
    __device__ void empty(u32 cell) {
        u32 at = cell & (words - 1), full = atomicAnd(&counters[at], ~EITHER_FULL) & EITHER_FULL;
        if (full & FULL) atomicAdd(&task.counts[at], FULL);
        if (full >> 16) atomicAdd(&task.counts[at + words], FULL);
    }

    // Each block from another word on.
    __device__ void add_to_counts() {
        u32 start = blockIdx.x * (words / gridDim.x & ~(WARP - 1));
#pragma unroll 4
        for (u32 i = threadIdx.x; i < words; i += THREADS) {
            u32 at = (start + i) & (words - 1), both = counters[at];
            u32 lower = both % (1 << 16), upper = both >> 16;
            if (lower) atomicAdd(&task.counts[at], lower);
            if (upper) atomicAdd(&task.counts[at + words], upper);
        }
    }
};
