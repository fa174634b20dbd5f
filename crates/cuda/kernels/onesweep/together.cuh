// Middle sizes: all passes in one launch, by blocks that wait for each other.
//
//     clear       the blocks' counts, of all passes
//     vary        the bits in which keys differ, of each block's stretch of the keys
//        ---- all bits are known, all counts are zeros ----
//     routes      every block for itself (begins.cuh)
//     for each pass that has something to do:
//         count       the block's keys of each digit, but for those of its first tile
//         for each tile:
//             load        a warp's keys stand together, neighbours in neighbouring lanes
//             rank        each key among its warp's keys of its digit
//             publish     with the first tile: how many keys of each digit the block has
//             place       the tile, ordered by the digit, in shared memory
//             sums        with the first tile: where the block's keys of each digit go
//             scatter     runs of one digit at a time
//        ---- all blocks have scattered ----
//
// A count is added to a word of the block's own and to one of its group of blocks. In the word's upper
// bits is how many blocks have added theirs, so whoever reads it knows if it is complete, and waits
// until it is. So a block reads the words of the blocks before it in its group, and of all groups,
// and has both what stands before its keys and how many there are in all.
//
// Shapes: states passes x (gridDim + groups) x RADIX, of any content; agreed begins as zeros. n less than
// 2^ADDED_SHIFT. Launched cooperatively, with any number of blocks. Shared memory: sizeof(Shared).
#pragma once

#include "../grid_barrier.cuh"
#include "begins.cuh"
#include "look_back.cuh"
#include "rank.cuh"

// A count in a word; above it how many blocks have added theirs.
constexpr u32 ADDED_SHIFT = 24;
constexpr u32 ADDED = 1u << ADDED_SHIFT;

// Blocks of a group: about the root of how many there are, so that fewest words are read.
constexpr u32 GROUP = 12;

template <class Key_, class Value_, u32 THREADS_, u32 ITEMS_>
struct Together {
    using Key = Key_;
    using Value = Value_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, TILE = THREADS * ITEMS;
    static constexpr u32 WARPS = THREADS / WARP;
    // Threads that read the same digit's words.
    static constexpr u32 PARTS = THREADS / RADIX;
    // Keys and words that a thread reads at a time, where it does not keep them.
    static constexpr u32 BATCH = 4, READS = 8;
    static constexpr bool VALUES = !IS_NOTHING<Value>;
    static constexpr u32 KEY_WORDS = Agreed<Key>::WORDS;
    static_assert(THREADS % RADIX == 0, "parts are whole");

    struct Shared {
        Key keys[TILE];
        Array<Value, VALUES ? TILE : 0> values;
        // Counts, then places.
        u32 rows[WARPS * RADIX];
        u32 masks[WARPS * RADIX];
        // Of each digit, keys of the blocks before, and of all; by the part of the words.
        u32 before[PARTS * RADIX], total[PARTS * RADIX];
        // Where the tile's key 0 would go, if it were of this digit; it may be below zero.
        int bases[RADIX];
        DigitScan<u32> scan;
        u32 varying[KEY_WORDS];
        u32 constant[sizeof(Key) + 1];
        Route routes[sizeof(Key) + 1];
    };

    const Task<Key>& task;
    Shared& shared;
    const u32 thread = threadIdx.x, warp = thread / WARP;
    const u32 groups = (gridDim.x + GROUP - 1) / GROUP;
    // The block's stretch.
    u32 begin, count;
    Route route;
    Digit digit;
    // Of the tile: its keys, and of these a thread's.
    u32 in_tile, items;
    Key key[ITEMS];
    Value value[VALUES ? ITEMS : 1];
    // Among the warp's keys of the same digit.
    u32 rank[ITEMS];

    __device__ Together(const Task<Key>& task, Shared& shared) : task(task), shared(shared) {
        u32 n = u32(task.n), share = ((n + gridDim.x - 1) / gridDim.x + WARP - 1) / WARP * WARP;
        begin = min(blockIdx.x * share, n);
        count = min(share, n - begin);
    }

    // Where in its tile a thread's j-th key stands.
    __device__ u32 index(u32 j) const { return (warp * items + j) * WARP + thread % WARP; }

    __device__ void clear_states() {
        u64 words = u64(task.passes) * (gridDim.x + groups) * RADIX;
        for (u64 i = (u64(blockIdx.x) * THREADS + thread) * 4; i < words; i += u64(gridDim.x) * THREADS * 4)
            *reinterpret_cast<uint4*>(task.states + i) = uint4{};
    }

    // A tile's codes, and their values. The last row is filled up with the greatest code.
    __device__ void load(u32 tile) {
        in_tile = min(count - tile * TILE, TILE);
        items = (in_tile + THREADS - 1) / THREADS;
        u32 first = begin + tile * TILE;
        const Key* keys = task.keys[route.from] + first;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            if (index(j) < in_tile) key[j] = keys[index(j)];
        }
        if constexpr (VALUES) {
            const Value* values = static_cast<const Value*>(task.values[route.from]) + first;
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++) {
                if (j >= items) break;
                if (task.has(INDEX) && route.first)
                    value[j] = position<Value>(first + index(j));
                else if (index(j) < in_tile)
                    value[j] = values[index(j)];
            }
        }
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            if (route.first && !task.codec.identity) key[j] = task.codec.encode(key[j]);
            if (index(j) >= in_tile) key[j] = Key(~Key(0));
        }
    }

    // With the codes of the block's keys from one on, BATCH of a thread under way at a time.
    template <class Does>
    __device__ void for_codes(u32 from, Does does) const {
        const Key* keys = task.keys[route.from] + begin;
        for (u32 first = from + thread; first < count; first += THREADS * BATCH) {
            Key code[BATCH];
#pragma unroll
            for (u32 i = 0; i < BATCH; i++)
                if (first + i * THREADS < count) code[i] = keys[first + i * THREADS];
#pragma unroll
            for (u32 i = 0; i < BATCH; i++) {
                if (first + i * THREADS >= count) break;
                does(route.first && !task.codec.identity ? task.codec.encode(code[i]) : code[i]);
            }
        }
    }

    // In which bits the block's keys are not as the first of all.
    __device__ void vary() {
        route = {Route::SORT, SOURCE, SOURCE, true, false};
        Key first = task.codec.encode(task.keys[SOURCE][0]), varying = 0;
        if (thread < KEY_WORDS) shared.varying[thread] = 0;
        __syncthreads();
        for_codes(0, [&](Key code) { varying |= code ^ first; });
#pragma unroll
        for (u32 i = 0; i < KEY_WORDS; i++) {
            u32 word = u32(varying >> (32 * i));
#pragma unroll
            for (u32 step = WARP / 2; step > 0; step /= 2) word |= __shfl_xor_sync(ALL_LANES, word, step);
            if (thread % WARP == 0 && word) atomicOr(&shared.varying[i], word);
        }
        __syncthreads();
        if (thread < KEY_WORDS && shared.varying[thread])
            atomicOr(&task.agreed->varying[thread], shared.varying[thread]);
    }

    // What each pass does.
    __device__ void routes() {
        if (thread < task.passes) {
            Digit own = task.digit(thread);
            Key varying = 0;
#pragma unroll
            for (u32 i = 0; i < KEY_WORDS; i++) varying |= Key(Key(task.agreed->varying[i]) << (32 * i));
            shared.constant[thread] = own.of(varying) == 0;
        }
        __syncthreads();
        if (thread == 0) Begins<Key>::route(task, shared.constant, shared.routes);
        __syncthreads();
        if (blockIdx.x == 0 && thread < task.passes) task.routes[thread] = shared.routes[thread];
    }

    __device__ void clear_rows() {
        for (u32 i = thread; i < WARPS * RADIX; i += THREADS) shared.rows[i] = 0;
    }

    // The thread's digit's keys in all rows.
    __device__ u32 sum_of_rows() const {
        u32 sum = 0;
        if (thread < RADIX) {
#pragma unroll 8
            for (u32 w = 0; w < WARPS; w++) sum += shared.rows[w * RADIX + thread];
        }
        return sum;
    }

    // How many keys of the thread's digit there are in all tiles but the first.
    __device__ u32 count_later() {
        if (count <= TILE) return 0;
        u32* row = shared.rows + warp * RADIX;
        for_codes(TILE, [&](Key code) { atomicAdd(&row[digit.of(code)], 1); });
        __syncthreads();
        u32 later = sum_of_rows();
        __syncthreads();
        clear_rows();
        __syncthreads();
        return later;
    }

    __device__ void rank_keys() {
        u32* row = shared.rows + warp * RADIX;
        u32* masks = shared.masks + warp * RADIX;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            rank[j] = RankByMasks::place(row, masks, digit.of(key[j]));
        }
        __syncthreads();
    }

    // How many keys of the thread's digit the block has.
    __device__ void publish(u32* counts, u32 own) {
        if (thread >= RADIX) return;
        atomicAdd(counts + blockIdx.x * RADIX + thread, ADDED | own);
        atomicAdd(counts + (gridDim.x + blockIdx.x / GROUP) * RADIX + thread, ADDED | own);
    }

    // Each warp's counts become places. Where in the tile the thread's digit begins.
    __device__ u32 counts_to_places(u32 total) {
        u32 tile_begin = shared.scan.exclusive(total);
        if (thread < RADIX) {
            u32 place = tile_begin;
#pragma unroll 8
            for (u32 w = 0; w < WARPS; w++) {
                u32 own = shared.rows[w * RADIX + thread];
                shared.rows[w * RADIX + thread] = place;
                place += own;
            }
        }
        __syncthreads();
        return tile_begin;
    }

    __device__ void place() {
        const u32* row = shared.rows + warp * RADIX;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            u32 to = row[digit.of(key[j])] + rank[j];
            shared.keys[to] = key[j];
            if constexpr (VALUES) shared.values.at[to] = value[j];
        }
    }

    // Where the block's keys of the thread's digit go.
    __device__ u32 sums(const u32* counts) {
        u32 group = blockIdx.x / GROUP, first = group * GROUP, mates = blockIdx.x - first;
        u32 words = mates + groups, before = 0, total = 0;
        auto at = [&](u32 which) {
            u32 row = which < mates ? first + which : gridDim.x + which - mates;
            return counts + row * RADIX + thread % RADIX;
        };
        for (u32 from = thread / RADIX; from < words; from += PARTS * READS) {
            u32 word[READS];
#pragma unroll
            for (u32 i = 0; i < READS; i++) {
                u32 which = from + i * PARTS;
                if (which < words) word[i] = read_state(at(which));
            }
#pragma unroll
            for (u32 i = 0; i < READS; i++) {
                u32 which = from + i * PARTS;
                if (which >= words) break;
                u32 blocks = which < mates ? 1 : min(GROUP, gridDim.x - (which - mates) * GROUP);
                while (word[i] >> ADDED_SHIFT < blocks) word[i] = read_state(at(which));
                u32 keys = word[i] & (ADDED - 1);
                if (which < mates + group) before += keys;
                if (which >= mates) total += keys;
            }
        }
        shared.before[thread] = before;
        shared.total[thread] = total;
        __syncthreads();
        before = total = 0;
        if (thread < RADIX) {
#pragma unroll
            for (u32 part = 0; part < PARTS; part++) {
                before += shared.before[part * RADIX + thread];
                total += shared.total[part * RADIX + thread];
            }
        }
        return before + shared.scan.exclusive(total);
    }

    __device__ void scatter() {
        int to[ITEMS];
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j >= items) break;
            key[j] = shared.keys[j * THREADS + thread];
            to[j] = shared.bases[digit.of(key[j])] + int(j * THREADS);
            if constexpr (VALUES) value[j] = shared.values.at[j * THREADS + thread];
        }
        Key* keys = task.keys[route.to] + thread;
        Value* values = static_cast<Value*>(task.values[route.to]) + thread;
        bool keys_out = !VALUES || task.keys[route.to] != nullptr;
        bool decodes = route.last && !task.codec.identity;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) {
            if (j * THREADS + thread >= in_tile) break;
            if (keys_out) keys[to[j]] = decodes ? task.codec.decode(key[j]) : key[j];
            if constexpr (VALUES) values[to[j]] = value[j];
        }
    }

    __device__ void sort(u32 pass) {
        u32* counts = task.states + u64(pass) * (gridDim.x + groups) * RADIX;
        u32 later = count_later(), base = 0;
        // A block without keys publishes, too.
        for (u32 tile = 0; tile == 0 || tile * TILE < count; tile++) {
            load(tile);
            rank_keys();
            u32 total = sum_of_rows();
            // What fills up the last row is no key.
            if (thread == digit.mask) total -= items * THREADS - in_tile;
            if (tile == 0) publish(counts, total + later);
            u32 tile_begin = counts_to_places(total);
            place();
            if (tile == 0) base = sums(counts);
            if (thread < RADIX) shared.bases[thread] = int(base - tile_begin);
            base += total;
            __syncthreads();
            clear_rows();
            scatter();
            __syncthreads();
        }
    }

    __device__ void run() {
        clear_rows();
        for (u32 i = thread; i < WARPS * RADIX; i += THREADS) shared.masks[i] = 0;
        wait_for_earlier_kernels();
        if (!task.goes()) return;
        GridBarrier grid(&task.agreed->arrived);
        clear_states();
        vary();
        grid.wait();
        routes();
        for (u32 pass = 0; pass < task.passes; pass++) {
            route = shared.routes[pass];
            if (route.does == Route::SKIP) continue;
            digit = task.digit(pass);
            sort(pass);
            if (!route.last) grid.wait();
        }
        let_next_kernel_in();
    }
};
