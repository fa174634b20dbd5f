// One pass of onesweep: the keys move once, stably, by one digit.
//
//     for each tile in the order of its ticket:
//         load        a warp's keys stand together, neighbours in neighbouring lanes
//         counts      each warp's histogram; their sum, the tile's, is published
//         places      exclusive scan over digits, then warps: where in the tile each warp's keys of
//                     each digit begin
//         rank        each key to its place in shared memory: the tile, ordered by the digit
//         load        the next tile, while this one is finished
//         bases       look-back: the digit's begin + what stands in the tiles before
//         scatter     runs of one digit at a time; the ranking is checked on the way
//
// Blocks stay for many tiles. A tile waits only for tiles with earlier tickets, and the block that
// has drawn the earliest unfinished ticket waits for nobody: what it works on is that tile, for any
// other that it holds has an earlier ticket.
//
// The fast ranker may hand out places in the wrong order among one step of a warp. Then the tile in
// shared memory is out of order, and it is ranked again, by a ranker that may not; the same places in
// the output are written again. Such a tile shows in one of two ways.
//     by bits   A whole key is sorted, and nothing else: the tile comes in the order of the key's
//               lower bits. If it leaves in the order of the digit and these, it is as if stable.
//     by tags   Each key carries its number in the tile.
//
// Shared memory: sizeof(PassShared<S>). Grid: as many blocks as run at a time, or fewer.
#pragma once

#include "../grid_barrier.cuh"
#include "look_back.cuh"
#include "rank.cuh"
#include "scan.cuh"

// How a tile is checked.
enum class Check { BITS, TAGS };

// A digit is heavy that more than 1/HEAVY of a tile's keys have: the others are ranked around it. (With 3 or 10
// skewed keys take as long.)
constexpr u32 HEAVY = 5;

// States that look-back reads at a time.
constexpr u32 AHEAD = 4;

// Where a digit stands in a row. Digits that are multiples of 8 or 16, as those of evenly spaced keys
// are, would meet in two or four banks; so the upper bits go into the lower.
__device__ inline u32 slot(u32 digit) { return digit ^ digit >> RADIX_BITS / 2; }

// A pass's tuning: pure data.
template <
    class Key_, class Value_, u32 THREADS_, u32 ITEMS_, u32 BLOCKS_, Check CHECK_,
    class Ranker_ = RankByAdd>
struct Shape {
    using Key = Key_;
    using Value = Value_;
    using Ranker = Ranker_;
    static constexpr Check CHECK = CHECK_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, TILE = THREADS * ITEMS;
    // Blocks that a multiprocessor has at a time.
    static constexpr u32 BLOCKS = BLOCKS_;

    static constexpr bool VALUES = !IS_NOTHING<Value>;
    // Whether keys and values can lie together as records.
    static constexpr bool RECORDS = VALUES && sizeof(Key) == sizeof(Value);
    static constexpr bool BITS = CHECK == Check::BITS, TAGS = CHECK == Check::TAGS;
    static constexpr u32 WARPS = THREADS / WARP;
    static_assert(THREADS >= RADIX && THREADS % WARP == 0 && TILE <= 0xffff, "a tile's places");
    static_assert(!(BITS && VALUES), "values tell equal keys apart");
};

// A key and its value between two passes.
template <class Key, class Value>
struct alignas(sizeof(Key) == sizeof(Value) && sizeof(Key) < 8 ? 2 * sizeof(Key) : 16) Record {
    Key key;
    Value value;
};

template <class S>
struct PassShared {
    using Key = typename S::Key;
    Key keys[S::TILE];
    Array<typename S::Value, S::VALUES ? S::TILE : 0> values;
    // Where the tile's key 0 would go, if it were of this digit; it may be below zero, and wraps.
    u64 bases[RADIX];
    // Counts, then places.
    u32 rows[S::WARPS * RADIX];
    Array<u16, S::TAGS ? S::TILE : 0> tags;
    DigitScan<u32> scan;
    u32 ticket;
    // The row's slot of a heavy digit: if the tile has several, of one of them; if none, of any digit.
    u32 heavy;
    // What is taken off every code by the first move.
    Key base;
    // Of all portions.
    u64 all_keys;
    // Read anew where digits are taken a second time: else the compiler keeps all of them, and
    // spills.
    volatile u32 shift;
};

template <class S>
struct Pass {
    using Key = typename S::Key;
    using Value = typename S::Value;
    using Ranker = typename S::Ranker;
    using Pair = Record<Key, Value>;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, TILE = S::TILE;
    // Keys that a thread has under way at a time, to and from shared memory.
    static constexpr u32 BATCH = 4;

    const Task<Key>& task;
    PassShared<S>& shared;
    const u32 thread = threadIdx.x;
    Route route;
    Digit digit;
    // The portion's first key, and how many keys it has.
    u64 start;
    u32 count;
    // One digit's, in each of the first RADIX threads: where the digit begins in all, and in the
    // tile.
    u64 begin;
    u32 tile_begin;
    // Where the next portion's begins go.
    u64* next_begins;

    Key key[ITEMS];
    Value value[S::VALUES ? ITEMS : 1];

    __device__ Pass(const Task<Key>& task, PassShared<S>& shared) : task(task), shared(shared) {}

    // Where in its tile a thread's j-th key stands.
    __device__ u32 index(u32 j) const {
        return thread / WARP * (WARP * ITEMS) + j * WARP + thread % WARP;
    }

    __device__ bool reads_records() const { return S::RECORDS && task.has(RECORDS) && !route.first; }

    __device__ bool writes_records() const {
        return S::RECORDS && task.has(RECORDS) && !route.last && !route.parts;
    }

    __device__ u32 tiles() const { return (count + TILE - 1) / TILE; }

    __device__ u32 tile_count(u32 tile) const { return min(count - tile * TILE, TILE); }

    template <class T>
    __device__ void load_items(const T* from, u32 in_tile, T (&item)[ITEMS]) {
        from += index(0);
        if (in_tile == TILE) {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++) item[j] = from[j * WARP];
        } else {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++)
                if (index(j) < in_tile) item[j] = from[j * WARP];
        }
    }

    // A tile's keys and values, as they lie in memory.
    __device__ void load(u32 tile) {
        u64 first = start + u64(tile) * TILE;
        u32 in_tile = tile_count(tile);
        if constexpr (S::RECORDS) {
            if (reads_records()) {
                const Pair* from = reinterpret_cast<const Pair*>(task.keys[route.from]) + first;
#pragma unroll
                for (u32 j = 0; j < ITEMS; j++)
                    if (index(j) < in_tile) {
                        Pair pair = from[index(j)];
                        key[j] = pair.key;
                        value[j] = pair.value;
                    }
                return;
            }
        }
        if constexpr (S::VALUES) {
            if (task.has(INDEX) && route.first) {
#pragma unroll
                for (u32 j = 0; j < ITEMS; j++) value[j] = position<Value>(first + index(j));
            } else {
                load_items(static_cast<const Value*>(task.values[route.from]) + first, in_tile, value);
            }
        }
        load_items(task.keys[route.from] + first, in_tile, key);
    }

    // Raw words become codes. A last tile is filled up with the greatest, which a ranker in which
    // all lanes take part puts behind the tile's own; they are not counted.
    __device__ void prepare(u32 in_tile) {
        if (route.first && !(task.codec.identity && shared.base == 0)) {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++) key[j] = task.codec.encode(key[j]) - shared.base;
        }
        if (in_tile < TILE) {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++)
                if (index(j) >= in_tile) key[j] = Key(~Key(0));
        }
    }

    // Each warp's histogram.
    __device__ void count_digits(u32 in_tile) {
        u32* row = shared.rows + thread / WARP * RADIX;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++)
            if (index(j) < in_tile) atomicAdd(&row[slot(digit.of(key[j]))], 1);
        __syncthreads();
    }

    // Whether a digit of so many of a tile's keys is.
    __device__ static bool is_heavy(u32 keys) { return keys * HEAVY > TILE; }

    // The tile's histogram is published; the warps' become places. Whether there is a heavy digit.
    __device__ bool counts_to_places(u32 tile, u32* states) {
        u32* rows = shared.rows + slot(thread);
        u32 total = 0;
        if (thread < RADIX) {
#pragma unroll
            for (u32 warp = 0; warp < S::WARPS; warp++) total += rows[warp * RADIX];
            if (is_heavy(total)) atomicExch(&shared.heavy, slot(thread));
            publish(&states[u64(tile) * RADIX + thread], tile == 0 ? INCLUSIVE : PARTIAL, total);
        }
        tile_begin = shared.scan.exclusive(total);
        if (thread < RADIX) {
            u32 place = tile_begin;
#pragma unroll
            for (u32 warp = 0; warp < S::WARPS; warp++) {
                u32 count = rows[warp * RADIX];
                rows[warp * RADIX] = place;
                place += count;
            }
        }
        return __syncthreads_or(is_heavy(total));
    }

    __device__ u32* own_row() { return shared.rows + thread / WARP * RADIX; }

    // The tile, ordered, in shared memory. The places of a batch are taken before the first of it is
    // filled, so that the atomics do not wait for one another.
    template <bool ALL_LANES_TAKE_PART, class By>
    __device__ void rank(u32 in_tile, By& by) {
        u32* row = own_row();
        Digit again = {shared.shift, digit.mask};
#pragma unroll
        for (u32 batch = 0; batch < ITEMS; batch += BATCH) {
            u32 place[BATCH];
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                if (ALL_LANES_TAKE_PART || index(j) < in_tile)
                    place[i] = by.place(row, slot(again.of(key[j])));
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++) {
                if (!ALL_LANES_TAKE_PART && index(j) >= in_tile) continue;
                shared.keys[place[i]] = key[j];
                if constexpr (S::VALUES) shared.values.at[place[i]] = value[j];
                if constexpr (S::TAGS) shared.tags.at[place[i]] = u16(index(j));
            }
        }
    }

    __device__ void rank(u32 in_tile) {
        Ranker by;
        rank<false>(in_tile, by);
    }

    // Around a heavy digit, or all by matching.
    __device__ void rank_around(u32 in_tile, bool matches) {
        u32* place = own_row() + shared.heavy;
        RankAround<Ranker> by{shared.heavy, *place, matches};
        __syncwarp();
        rank<true>(in_tile, by);
        __syncwarp();
        if (!matches && thread % WARP == 0) *place = by.next;
    }

    // Where the tile's keys of each digit go. The inclusive sum is published.
    __device__ void bases(u32 tile, u32* states, u32 total) {
        u32* state = &states[u64(tile) * RADIX + thread];
        u32 before = look_back<AHEAD>(state, tile);
        if (tile > 0) publish(state, INCLUSIVE, before + total);
        // The last tile's sum is what the next portion goes on from.
        if (tile + 1 == tiles() && start + count < shared.all_keys) next_begins[thread] = begin + before + total;

        shared.bases[thread] = begin + before - tile_begin;
    }

    // Whether the key at a place comes out of order after the one before it.
    __device__ bool out_of_order(u32 place, Key code, Key below) const {
        Key before = shared.keys[place - 1];
        if constexpr (S::BITS) {
            return (before & below) > (code & below);
        } else {
            u32 here = digit.of(code) << 16 | shared.tags.at[place];
            return (digit.of(before) << 16 | shared.tags.at[place - 1]) >= here;
        }
    }

    // Runs of one digit at a time. Whether the tile was out of order. All reads of a batch come before
    // its writes.
    template <bool RECORDS_OUT, bool DECODES>
    __device__ bool scatter(u32 in_tile, Key below) {
        bool bad = false;
        bool keys_out = !S::VALUES || task.keys[route.to] != nullptr;
        int left = int(in_tile) - int(thread);
        Key* keys_to = task.keys[route.to] + thread;
        Value* values_to = static_cast<Value*>(task.values[route.to]) + thread;
        Pair* pairs_to = reinterpret_cast<Pair*>(task.keys[route.to]) + thread;
#pragma unroll
        for (u32 batch = 0; batch < ITEMS; batch += BATCH) {
            // A short tile ends here; and with values, batches that are apart are the faster where two blocks share a
            // multiprocessor.
            if (S::VALUES && S::BLOCKS > 1 && batch * THREADS >= in_tile) break;
            Key code[BATCH];
            Value item[S::VALUES ? BATCH : 1];
            u64 base[BATCH];
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++) {
                u32 place = j * THREADS + thread;
                code[i] = shared.keys[place];
                base[i] = shared.bases[digit.of(code[i])];
                if constexpr (S::VALUES) item[i] = shared.values.at[place];
                if (int(j * THREADS) < left && (j > 0 || place > 0))
                    bad |= out_of_order(place, code[i], below);
            }
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++) {
                bool own = int(j * THREADS) < left;
                u64 to = base[i] + j * THREADS;
                if constexpr (RECORDS_OUT) {
                    if (own) pairs_to[to] = {code[i], item[i]};
                } else {
                    Key word = DECODES ? task.codec.decode(code[i]) : code[i];
                    if (own && keys_out) keys_to[to] = word;
                    if constexpr (S::VALUES)
                        if (own) values_to[to] = item[i];
                }
            }
        }
        return bad;
    }

    __device__ bool scatter(u32 in_tile, Key below) {
        if constexpr (S::RECORDS)
            if (writes_records()) return scatter<true, false>(in_tile, below);
        return route.last && !task.codec.identity ? scatter<false, true>(in_tile, below)
                                                  : scatter<false, false>(in_tile, below);
    }

    template <class Wait>
    __device__ void sort(u32 pass, u32 portion, u32* ticket, u32* states, Wait wait_for_keys) {
        Key below = task.sorted_bits(pass);
        if (thread < RADIX) begin = task.begins_of(pass, portion)[thread];
        next_begins = task.begins_of(pass, portion + 1);
        for (u32 i = thread; i < S::WARPS * RADIX; i += THREADS) shared.rows[i] = 0;
        if (thread == 0) {
            shared.ticket = atomicAdd(ticket, 1);
            shared.heavy = 0;
            shared.shift = digit.shift;
            shared.all_keys = task.count();
            shared.base = task.has_cells() && !task.goes() ? *task.cells.base : Key(0);
        }
        __syncthreads();
        wait_for_keys();

        u32 tile = shared.ticket;
        bool again = false;
        if (tile < tiles()) load(tile);
        while (tile < tiles()) {
            u32 in_tile = tile_count(tile);
            if (again) load(tile);
            prepare(in_tile);
            count_digits(in_tile);
            bool heavy = counts_to_places(tile, states);
            if (thread == 0 && !again) shared.ticket = atomicAdd(ticket, 1);
            if (heavy || again)
                rank_around(in_tile, again);
            else
                rank(in_tile);
            __syncthreads();

            u32 next_tile = shared.ticket;
            if (next_tile < tiles()) load(next_tile);
            if (thread < RADIX) {
                // The last warp has left its places where the digits end.
                bases(tile, states, shared.rows[(S::WARPS - 1) * RADIX + slot(thread)] - tile_begin);
            }
            __syncthreads();

            for (u32 i = thread; i < S::WARPS * RADIX; i += THREADS) shared.rows[i] = 0;
            bool bad = scatter(in_tile, below);
            again = __syncthreads_or(bad);
            if (!again) tile = next_tile;
        }
    }

    // A constant digit: all keys as they stand.
    __device__ void copy() {
        bool encodes = route.first && !task.codec.identity, decodes = route.last && !task.codec.identity;
        const Pair* pairs = reinterpret_cast<const Pair*>(task.keys[route.from]);
        Pair* pairs_to = reinterpret_cast<Pair*>(task.keys[route.to]);
        const Value* values = static_cast<const Value*>(task.values[route.from]);
        Value* values_to = static_cast<Value*>(task.values[route.to]);
        // Where one launch takes several passes, more would spill.
        constexpr u32 COPIED = S::BITS ? 32 / sizeof(Key) : ITEMS < 16 ? ITEMS : 16;
        Key code[COPIED];
        Value item[S::VALUES ? COPIED : 1];
        u64 end = start + count, step = u64(gridDim.x) * THREADS * COPIED;
        for (u64 i = start + u64(blockIdx.x) * THREADS * COPIED + thread; i < end; i += step) {
#pragma unroll
            for (u32 j = 0; j < COPIED; j++) {
                u64 at = i + j * THREADS;
                if (at >= end) continue;
                if (reads_records()) {
                    Pair pair = pairs[at];
                    code[j] = pair.key;
                    if constexpr (S::VALUES) item[j] = pair.value;
                } else {
                    code[j] = task.keys[route.from][at];
                    if constexpr (S::VALUES)
                        item[j] = task.has(INDEX) && route.first ? position<Value>(at) : values[at];
                }
            }
#pragma unroll
            for (u32 j = 0; j < COPIED; j++) {
                u64 at = i + j * THREADS;
                if (at >= end) continue;
                if (encodes) code[j] = task.codec.encode(code[j]);
                if (decodes) code[j] = task.codec.decode(code[j]);
                if constexpr (S::RECORDS) {
                    if (writes_records()) {
                        pairs_to[at] = {code[j], item[j]};
                        continue;
                    }
                }
                if (task.keys[route.to]) task.keys[route.to][at] = code[j];
                if constexpr (S::VALUES) values_to[at] = item[j];
            }
        }
    }

    // All blocks come here. What the pass before has moved is not touched before `wait_for_keys`.
    template <class Wait>
    __device__ void move(u32 pass, u32 portion, Wait wait_for_keys) {
        route = task.routes[pass];
        u64 n = task.count(), portion_keys = u64(task.portion_tiles) * TILE;
        start = min(n, portion * portion_keys);
        count = u32(min(n - start, portion_keys));
        if (route.does == Route::COPY) {
            wait_for_keys();
            copy();
        } else if (route.does == Route::SORT) {
            digit = route.digit;
            u32 first_tile = portion * task.portion_tiles;
            sort(
                pass, portion, task.tickets + pass * task.portions + portion,
                task.states + (u64(pass) * task.tiles + first_tile) * RADIX, wait_for_keys);
        }
    }
};

template <class S>
__device__ inline void run_pass(const Task<typename S::Key>& task, PassShared<S>& shared, u32 pass, u32 portion) {
    wait_for_earlier_kernels();
    if (task.called_off()) return;
    Pass<S>(task, shared).move(pass, portion, [] {});
    let_next_kernel_in();
}

// All passes over one portion, by blocks that wait for each other: where that is called off behind another sort,
// one launch costs less than four or eight.
template <class S>
__device__ inline void run_all_passes(const Task<typename S::Key>& task, PassShared<S>& shared) {
    wait_for_earlier_kernels();
    if (task.called_off()) return;
    GridBarrier grid(&task.agreed->arrived);
#pragma unroll 1
    for (u32 pass = 0; pass < task.passes; pass++) {
        if (task.routes[pass].does == Route::SKIP) continue;
        // Each time anew, lest keys of the pass before be kept in registers.
        Pass<S>(task, shared).move(pass, 0, [&] { grid.wait_for_all(); });
        grid.arrive();
    }
    let_next_kernel_in();
}
