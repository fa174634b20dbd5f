// Partition: each key goes where the next key of its digit goes, in no order among one digit's.
//
//     for each tile:
//         count       the tile's keys of each digit, each lane its own
//         scan        where in the tile each lane's keys of each digit begin
//         order       room behind each digit's cursor: one atomic for all the tile's keys of a digit;
//                     each key to its place in shared memory
//         load        the next tile, while this one is finished
//         scatter     runs of one digit at a time
//
// A digit has several counters, and lane i of a warp uses copy i modulo their number. With 32 copies the lanes of a
// warp never meet in a counter nor in a bank, whatever their digits are: sorted and equal keys take no
// longer than random ones. There are so many counters; where there are fewer digits, each has more of them.
//
// The first partition has one bucket, the source; the second has one for each first digit. A bucket is
// cut into tiles of about equally many keys. Blocks stay for many tiles, which they draw by tickets.
//
// If buckets lie in rooms (rooms.cuh), nobody has counted the cells. The tiles of a bucket count them together:
// each adds its counts to the bucket's, which tells where in a cell its keys go, and orders its keys. When all
// of the bucket's keys have been counted, it is known where the cells begin. Meanwhile a block waits for others,
// so all run at the same time, and a bucket has no more tiles than there are blocks. Nor does a block draw its
// next tile before that: it might wait for itself.
//
// Where quantiles tell the cells, a digit takes several looks into a table (quantile.cuh). So it is found once, to be
// counted, and kept; when the tile is ordered, its place tells it.
//
// Of 32-bit keys in 2^16 cells the second partition writes the lower halves alone, in buckets of which no cell
// is refined: a quarter less to be moved here and in the local sort.
//
// Shared memory: sizeof(PartitionShared<S>). Grid: as many blocks as run at a time, or fewer.
#pragma once

#include "quantile.cuh"
#include "task.cuh"
#include "warp.cuh"

// A partition's tuning: pure data. Digits have at most DIGIT_BITS bits, and 2^COPY_BITS counters each then.
//
// Shared memory leaves the L1 cache what is left, and loads under way need it: on an H200, 2^28 keys of 8
// bytes took 1.23 ms with tiles of 18k keys and 60 KB left, 1.36 ms with 20k and 28 KB. Two blocks a
// multiprocessor with half the tile lose by their shorter runs: 0.73 instead of 0.67 ms for keys of 4.
template <class Key_, u32 THREADS_, u32 ITEMS_, u32 BLOCKS_, u32 DIGIT_BITS_, u32 COPY_BITS_>
struct PartitionShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, TILE = THREADS * ITEMS;
    // Blocks that a multiprocessor has at a time.
    static constexpr u32 BLOCKS = BLOCKS_;
    static constexpr u32 DIGIT_BITS = DIGIT_BITS_, COPY_BITS = COPY_BITS_;
    // Whether digits are those of quantiles (quantile.cuh).
    static constexpr bool QUANTILES = false;

    static constexpr u32 WARPS = THREADS / WARP;
    static constexpr u32 DIGITS = 1 << DIGIT_BITS, COPIES = 1 << COPY_BITS, COUNTERS = DIGITS * COPIES;
    // Digits that a thread takes room for.
    static constexpr u32 OWN_DIGITS = (DIGITS + THREADS - 1) / THREADS;
    static_assert(THREADS % WARP == 0 && THREADS >= MOST_BUCKETS, "a thread for each bucket");
    static_assert(COPIES >= 4 && COPIES <= WARP, "four counters that a thread scans are one digit's");
    static_assert(COUNTERS <= 8 * THREADS && TILE <= 0xffff, "two halves are scanned as one word");
};

// CELL_KEYS: of the largest cell that is not refined.
template <class S, u32 CELL_KEYS_>
struct QuantilePartitionShape : S {
    static constexpr bool QUANTILES = true;
    static constexpr u32 CELL_KEYS = CELL_KEYS_;
};

// A tile: where its keys begin, how many they are, and whose bucket they are of.
struct PartitionTile {
    // The count, if there is no tile.
    static constexpr u32 NONE = ~0u;
    u32 begin, count, bucket;
    // Whether lower halves are written alone.
    bool halves;

    __device__ bool exists() const { return count != NONE; }
};

template <class S>
struct PartitionShared {
    using Key = typename S::Key;
    // Places that are a multiple of 32 apart lie in different banks.
    Key keys[S::TILE + S::TILE / WARP];
    // Counts, then places; zeros between two tiles.
    alignas(16) u32 counters[S::COUNTERS];
    // A lane's counter of what is no key. Never read.
    u32 beside[WARP];
    // Where in the tile each digit begins, the last the number of its keys.
    u32 begins[S::DIGITS + 1];
    // Where the tile's key 0 would go, if it were of this digit; it may be below zero, and wraps. A sum, of
    // what is found out one by one.
    u32 bases[S::DIGITS];
    u32 warps[S::WARPS];
    // The buckets: where they lie, where they begin among all keys, how many tiles are before them, and how many
    // keys a tile has.
    u32 places[MOST_BUCKETS], bucket_begins[MOST_BUCKETS + 1];
    u32 tiles[MOST_BUCKETS + 1], tile_keys[MOST_BUCKETS];
    u32 buckets, ticket;
    // This tile and the next.
    PartitionTile tile[2];
    // Read anew where they are used: else the compiler keeps what it makes of them, and spills.
    volatile u32 level, rooms, shift, mask, copy_bits;
    // Whether the source's words are not yet codes less base.
    volatile u32 encodes;
    Key base;
    u32 quantiles[S::QUANTILES ? Quantiles<Key>::WORDS : 1];
    // Of each row of the ordered tile: its first digit.
    u8 first_digits[S::QUANTILES ? S::TILE / WARP : 1];
};

template <class S, bool ROOMS>
struct KeySource;

template <class S>
struct Partition {
    using Key = typename S::Key;
    using Shared = PartitionShared<S>;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, TILE = S::TILE;
    // A counter for each lane.
    static constexpr u32 MOST_COPY_BITS = 5;
    // Whether digits may have more counters than COPY_BITS say. Those that are the only ones are hardly ever fewer.
    static constexpr bool ADAPTS = S::COPY_BITS < MOST_COPY_BITS && S::DIGITS <= MOST_BUCKETS;
    // Keys that a thread has under way at a time, to and from shared memory.
    static constexpr u32 BATCH = sizeof(Key) <= 4 ? 4 : 2;
    // Whether lower halves may be written alone: by the second of two digits that tell the others.
    static constexpr bool HALVES = sizeof(Key) == sizeof(u32) && 2 * S::DIGIT_BITS == MOST_CELL_BITS;
    // Whether buckets may have rooms.
    static constexpr bool ROOMY = S::DIGITS <= MOST_BUCKETS && sizeof(Key) <= sizeof(u64);

    Shared& shared;
    const u32 thread = threadIdx.x;
    // The j-th is the tile's key j * THREADS + thread.
    Key key[ITEMS];
    // Of quantiles: their digits, which are found once, in bytes.
    u32 digits_of_four[S::QUANTILES ? (ITEMS + 3) / 4 : 1];

    __device__ Partition(Shared& shared) : shared(shared) {}

    // Where the key of a place lies.
    __device__ static constexpr u32 slot(u32 place) { return place + place / WARP; }

    __device__ static u32* at(u32* words, u32 bytes) {
        return reinterpret_cast<u32*>(reinterpret_cast<u8*>(words) + bytes);
    }

    __device__ u32 digits() const { return shared.mask + 1; }

    // How many of the tile's keys stand from this thread's first on: its j-th is one of them if
    // j * THREADS is less.
    __device__ u32 left(u32 count) const { return count > thread ? count - thread : 0; }

    // Rows of 2^row_bits bytes, one for each digit: how many bytes lie before a code's.
    struct Rows {
        // Of words of 32 bits the digit is moved there by one rotation.
        static constexpr bool ROTATES = sizeof(Key) == 4 || S::QUANTILES;
        const Shared& shared;
        u32 row_bits, shift, mask;

        __device__ Rows(const Shared& shared, u32 row_bits)
            : shared(shared), row_bits(row_bits), shift(ROTATES ? shared.shift - row_bits & 31 : shared.shift),
              mask(ROTATES ? shared.mask << row_bits : shared.mask) {}

        __device__ u32 of(Key code) const {
            u32 word = u32(code);
            if constexpr (S::QUANTILES) word = Quantiles<Key>::of(shared.quantiles, code, shift + row_bits);
            if constexpr (ROTATES)
                return __funnelshift_r(word, word, shift) & mask;
            else
                return Digit{shift, mask}.of(code) << row_bits;
        }
    };

    __device__ u32 copy_bits() const {
        if constexpr (ADAPTS)
            return shared.copy_bits;
        else
            return S::COPY_BITS;
    }

    __device__ Rows counter_rows() const { return Rows(shared, 2 + copy_bits()); }

    __device__ Rows base_rows() const { return Rows(shared, 2); }

    __device__ u32 copies() const { return 1u << copy_bits(); }

    // Which of a row's counters is this lane's, in bytes. Each warp begins with another one: else what was
    // a power of two apart in sorted keys becomes neighbours, whose bins in local are in one bank. (Of 2^28
    // sorted keys of 8 bytes that took 1.54 ms instead of 1.21.)
    __device__ u32 own_copy() const {
        u32 lane;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        return (lane + threadIdx.x / WARP & copies() - 1) * 4;
    }

    __device__ u32* counter(u32 bytes, bool is_key) {
        return is_key ? at(shared.counters, bytes) : &shared.beside[thread % WARP];
    }

    // Of all digits that there may be, or that there are.
    __device__ void zero_counters(u32 counters = S::COUNTERS) {
        for (u32 i = thread; i < counters / 4; i += THREADS)
            reinterpret_cast<uint4*>(shared.counters)[i] = uint4{0, 0, 0, 0};
    }

    // Of the whole task.
    __device__ static Digit digit(const Task<Key>& task, u32 level) {
        if constexpr (S::QUANTILES) {
            u32 rest = Quantiles<Key>::QUANTILE_BITS - task.a_bits;
            if (level == SECOND) return Digit{rest - task.b_bits, (1u << task.b_bits) - 1};
            return Digit{rest, (1u << task.a_bits) - 1};
        }
        return level == SECOND ? task.second_digit() : task.first_digit();
    }

    // By which the tiles that follow are partitioned, with so many counters each. A barrier follows.
    __device__ void set_digit(Digit digit, u32 copy_bits = S::COPY_BITS) {
        if (thread == 0) {
            shared.shift = digit.shift;
            shared.mask = digit.mask;
            shared.copy_bits = copy_bits;
        }
    }

    // That of the whole task, with as many counters as there are for it.
    __device__ void set_digit(const Task<Key>& task, u32 level) {
        Digit digit = this->digit(task, level);
        set_digit(digit, min(S::DIGIT_BITS + S::COPY_BITS - u32(__popc(digit.mask)), MOST_COPY_BITS));
    }

    // No key is at hand: else the compiler keeps those of the last tile where there is none in this one.
    __device__ void forget() {
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = 0;
    }

    // `read(i)`: the key that comes i behind the thread's first.
    template <class Read>
    __device__ void load(u32 count, Read read) {
        if (count == TILE) {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++) key[j] = read(j * THREADS);
        } else {
            u32 left = this->left(count);
            forget();
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++)
                if (j * THREADS < left) key[j] = read(j * THREADS);
        }
    }

    __device__ void load(const Key* from, u32 count) {
        from += thread;
        load(count, [&](u32 i) { return from[i]; });
    }

    // What is loaded soon comes as near as the L2 cache.
    template <class Word>
    __device__ void prefetch(const Word* from, u32 count) {
        constexpr u32 LINE = 128 / sizeof(Word);
        for (u32 i = thread * LINE; i < count; i += THREADS * LINE)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(from + i));
    }

    template <bool FULL>
    __device__ void count_as(u32 count) {
        Rows rows = counter_rows();
        u32 own = own_copy(), left = this->left(count);
#pragma unroll
        for (u32 batch = 0; batch < ITEMS; batch += BATCH) {
            if (!FULL && batch * THREADS >= count) break;
#pragma unroll
            for (u32 j = batch; j < batch + BATCH && j < ITEMS; j++) {
                u32 row = rows.of(key[j]);
                keep_digit(rows, j, row);
                atomicAdd(counter(row | own, FULL || j * THREADS < left), 1);
            }
        }
    }

    // The j-th key's, of its row of counters; and back.
    __device__ void keep_digit(const Rows& rows, u32 j, u32 row) {
        if constexpr (S::QUANTILES) {
            u32 byte = row >> rows.row_bits << j % 4 * 8;
            digits_of_four[j / 4] = j % 4 ? digits_of_four[j / 4] | byte : byte;
        }
    }

    __device__ u32 row_of(const Rows& rows, u32 j) const {
        if constexpr (S::QUANTILES)
            return (digits_of_four[j / 4] >> j % 4 * 8 & 0xff) << rows.row_bits;
        else
            return rows.of(key[j]);
    }

    // The tile's keys by digit and copy; adds to what is there.
    __device__ void count_digits(u32 count) {
        if (count == TILE)
            count_as<true>(count);
        else
            count_as<false>(count);
    }

    // Counts become places, their exclusive scan; no bases are known yet. A thread has four neighbours of the
    // lower half of the counters, and four of the upper if there are more than the block has at a time; the
    // halves' sums are scanned in one word.
    __device__ void scan(u32 count) {
        constexpr u32 HALF = 4 * THREADS, HALVES = S::COUNTERS > HALF ? 2 : 1;
        u32 lane = thread % WARP, warp = thread / WARP, counters = digits() * copies();
        uint4* quads = reinterpret_cast<uint4*>(shared.counters) + thread;
        u32 own = 0;
#pragma unroll
        for (u32 half = 0; half < HALVES; half++)
            if (half * HALF + thread * 4 < counters) {
                uint4 counts = quads[half * THREADS];
                own += counts.x + counts.y + counts.z + counts.w << 16 * half;
            }
        u32 sum = scan_of_warp(own);
        if (lane == WARP - 1) shared.warps[warp] = sum;
        each_own_digit([&](u32, u32 digit) { shared.bases[digit] = 0; });
        __syncthreads();
        u32 of_warp = lane < S::WARPS ? shared.warps[lane] : 0;
        u32 before = sum_of_warp(lane < warp ? of_warp : 0) + sum - own;
        u32 lower = HALVES == 2 ? sum_of_warp(of_warp) & 0xffff : 0;
#pragma unroll
        for (u32 half = 0; half < HALVES; half++) {
            u32 first = half * HALF + thread * 4;
            if (first >= counters) continue;
            uint4 counts = quads[half * THREADS];
            u32 x = half == 0 ? before & 0xffff : lower + (before >> 16);
            u32 y = x + counts.x, z = y + counts.y, w = z + counts.z;
            quads[half * THREADS] = {x, y, z, w};
            if (first % copies() == 0) shared.begins[first >> copy_bits()] = x;
        }
        if (thread == 0) shared.begins[digits()] = count;
        __syncthreads();
    }

    // The places of a batch are taken before the first of it is filled, so that the atomics do not wait
    // for one another.
    template <bool FULL>
    __device__ void place_as(u32 count) {
        Rows rows = counter_rows();
        u32 own = own_copy(), left = this->left(count);
#pragma unroll
        for (u32 batch = 0; batch < ITEMS; batch += BATCH) {
            if (!FULL && batch * THREADS >= count) break;
            u32 place[BATCH];
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                place[i] = atomicAdd(counter(row_of(rows, j) | own, FULL || j * THREADS < left), 1);
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                if (FULL || j * THREADS < left) shared.keys[slot(place[i])] = key[j];
        }
    }

    // The tile, ordered by the digit, in shared memory, with room for it in the output. For each digit's keys
    // `settle(digit, place, own)` makes of the cursor the place of the first of `own` keys; bases are complete
    // when `finish()` has been called.
    template <class Settle, class Finish>
    __device__ void order(u32 count, u32* cursors, Settle settle, Finish finish) {
        u32 base[S::OWN_DIGITS] = {};
        each_own_digit([&](u32 i, u32 digit) {
            u32 begin = shared.begins[digit], own = shared.begins[digit + 1] - begin;
            if constexpr (S::QUANTILES)
                for (u32 row = (begin + WARP - 1) / WARP; row * WARP < begin + own; row++)
                    shared.first_digits[row] = u8(digit);
            if (own) base[i] = settle(digit, atomicAdd(&cursors[digit], own), own) - begin;
        });
        if (count == TILE)
            place_as<true>(count);
        else
            place_as<false>(count);
        finish();
        each_own_digit([&](u32 i, u32 digit) { atomicAdd(&shared.bases[digit], base[i]); });
        __syncthreads();
    }

    __device__ void order(u32 count, u32* cursors) {
        order(count, cursors, [](u32, u32 place, u32) { return place; }, [] {});
    }

    template <class Do>
    __device__ void each_own_digit(Do act) const {
#pragma unroll
        for (u32 i = 0; i < S::OWN_DIGITS; i++)
            if (i * THREADS + thread < digits()) act(i, i * THREADS + thread);
    }

    // The base of the code that is the thread's j-th of the ordered tile.
    __device__ u32 base_of(const Rows& rows, Key code, u32 j) const {
        if constexpr (S::QUANTILES) {
            // Digits stand in order.
            u32 place = j * THREADS + thread, digit = shared.first_digits[place / WARP];
            while (shared.begins[digit + 1] <= place) digit++;
            return shared.bases[digit];
        } else {
            return *at(shared.bases, rows.of(code));
        }
    }

    template <bool FULL>
    __device__ void scatter_as(Key* to, u32 count, bool halves) {
        Rows rows = base_rows();
        const Key* own = shared.keys + slot(thread);
        u32 left = this->left(count);
#pragma unroll
        for (u32 batch = 0; batch < ITEMS; batch += BATCH) {
            if (!FULL && batch * THREADS >= count) break;
            Key code[BATCH];
            u32 base[BATCH];
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                if (FULL || j * THREADS < left) code[i] = own[j * slot(THREADS)];
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                if (FULL || j * THREADS < left) base[i] = base_of(rows, code[i], j);
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                if (FULL || j * THREADS < left) {
                    u32 place = base[i] + j * THREADS + thread;
                    if (HALVES && halves)
                        reinterpret_cast<u16*>(to)[place] = u16(code[i]);
                    else
                        to[place] = code[i];
                }
        }
    }

    // The ordered tile goes where it has room, whole codes or lower halves. Then shared memory is free, and
    // the counters are zeros.
    __device__ void scatter(Key* to, u32 count, bool halves = false) {
        zero_counters(digits() * copies());
        if (count == TILE)
            scatter_as<true>(to, count, halves);
        else
            scatter_as<false>(to, count, halves);
        __syncthreads();
    }

    // What the first partition has left in rooms.
    __device__ void set_rooms(const Task<Key>& task, u32 buckets) {
        if (thread < buckets) {
            u32 place = task.room_begins[thread], keys = task.bucket_cursors[thread] - place;
            u32 tile = S::QUANTILES ? task.quantile_tile : task.room_tile;
            shared.places[thread] = place;
            shared.bucket_begins[thread] = keys;
            // Also without keys a bucket has a tile, which tells where its cells begin.
            shared.tiles[thread] = max((keys + tile - 1) / tile, 1u);
        }
        __syncthreads();
        if (thread >= 2 * WARP) return;
        u32* numbers = thread < WARP ? shared.bucket_begins : shared.tiles;
        scan_by_warp(buckets, numbers, [=](u32 i) { return numbers[i]; });
    }

    __device__ u32 bucket_keys(u32 bucket) const {
        return shared.bucket_begins[bucket + 1] - shared.bucket_begins[bucket];
    }

    // The buckets of a partition of the whole task; `encodes(base)`: whether what is first read is not yet
    // codes less base. A barrier follows.
    template <class Source>
    __device__ void set_buckets(const Task<Key>& task, u32 level, const Source& source) {
        u32 buckets = level == SECOND ? 1u << task.a_bits : 1;
        if (thread == 0) {
            Key base = task.choice->base;
            shared.level = level;
            shared.rooms = task.choice->roomy;
            shared.buckets = buckets;
            shared.base = base;
            shared.encodes = level != SECOND && source.encodes(base);
        }
        if (Source::ROOMS) {
            set_rooms(task, buckets);
        } else if (level != SECOND) {
            if (thread == 0) {
                // Every block has equally many tiles, if there are keys enough.
                u32 rounds = (task.n - 1) / (gridDim.x * TILE) + 1;
                shared.places[0] = shared.bucket_begins[0] = shared.tiles[0] = 0;
                shared.bucket_begins[1] = task.n;
                shared.tiles[1] = min(rounds * gridDim.x, (task.n - 1) / THREADS + 1);
            }
        } else {
            for (u32 i = thread; i <= buckets; i += THREADS) {
                u32 begin = task.begins[i << task.b_bits];
                if (i < buckets) shared.places[i] = begin;
                shared.bucket_begins[i] = begin;
                shared.tiles[i] = task.tiles[i];
            }
        }
        if constexpr (S::QUANTILES) Quantiles<Key>::load(shared.quantiles, task.quantiles);
        __syncthreads();
        if (thread < buckets) {
            u32 keys = bucket_keys(thread), tiles = shared.tiles[thread + 1] - shared.tiles[thread];
            // With an odd number of rows the copies of a tile of equal keys begin in different banks.
            u32 rows = tiles ? (keys - 1) / (tiles * THREADS) + 1 | 1 : 0;
            shared.tile_keys[thread] = min(rows, ITEMS) * THREADS;
        }
    }

    // The thread whose bucket the tile is in tells the others, who see it after a barrier; that of the first
    // bucket, if there is none. A bucket's last tiles may be empty. The last tile comes first: what was read or
    // written last is still in the L2 cache (2^24 keys of 4 bytes take 202 us instead of 211 in all).
    __device__ bool find(const Task<Key>& task, u32 number, PartitionTile& tile, u32 bucket) {
        number = shared.tiles[shared.buckets] - 1 - number;
        if (bucket < shared.buckets && shared.tiles[bucket] <= number && number < shared.tiles[bucket + 1]) {
            u32 begin = shared.places[bucket], keys = bucket_keys(bucket);
            u32 most = shared.tile_keys[bucket];
            u64 before = min(u64(number - shared.tiles[bucket]) * most, u64(keys));
            bool halves = HALVES && shared.level == SECOND && task.in_halves(bucket);
            tile = {begin + u32(before), min(most, keys - u32(before)), bucket, halves};
            return true;
        }
        bool none = bucket == 0 && number >= shared.tiles[shared.buckets];
        if (none) tile.count = PartitionTile::NONE;
        return none;
    }

    __device__ Key* to(const Task<Key>& task) const {
        return shared.level == SECOND ? task.result : shared.rooms ? task.rooms : task.scratch;
    }

    // In rooms a bucket's counts are its cursors.
    template <bool ROOMS>
    __device__ u32* cursors(const Task<Key>& task, u32 bucket) const {
        if (!ROOMS && shared.level != SECOND) return task.bucket_cursors;
        return (ROOMS ? task.counts : task.cell_cursors) + (bucket << task.b_bits);
    }

    // The place of some keys of a digit, as its cursor has it.
    __device__ u32 settle(const Task<Key>& task, const PartitionTile& tile, u32 digit, u32 place, u32 own) const {
        if (ROOMY && shared.level == FIRST && shared.rooms && place + own > task.room_begins[digit + 1]) {
            // All of this is in vain; it goes where no harm is done.
            task.choose(ONESWEEP);
            return 0;
        }
        // The cell's begin once more: words are halves of keys.
        if (HALVES && tile.halves) place += task.begins[(tile.bucket << task.b_bits) + digit];
        return place;
    }

    // Of the largest cell that is sorted as most are.
    __device__ static u32 cell_keys(const Task<Key>& task) {
        if constexpr (S::QUANTILES) return S::CELL_KEYS;
        return task.local_keys;
    }

    __device__ static void tell_large(const Task<Key>& task, u32 cell, u32 keys) {
        if constexpr (!S::QUANTILES)
            task.tell_large(cell, keys);
        else if (keys > S::CELL_KEYS)
            task.leave_to_refine(cell, keys);
    }

    // Waits until all of the tile's bucket is counted, adds where its cells begin, and finds the next tile. By one
    // warp, whose lanes have four neighbouring cells of each half.
    __device__ void wait_for_bucket(const Task<Key>& task, PartitionTile& tile, PartitionTile& next) {
        constexpr u32 EACH = 4, HALF = EACH * WARP;
        static_assert(MOST_BUCKETS == 2 * HALF, "a bucket has two halves, or less");
        u32 own = thread % WARP * EACH, bucket = tile.bucket, first = bucket << task.b_bits;
        const u32* counts = task.counts + first;
        uint4 keys[2];
        u32 sums[2];
        do
#pragma unroll
            for (u32 half = 0; half < 2; half++) {
                bool has = half * HALF + own < digits();
                uint4 four = has ? read_anew(reinterpret_cast<const uint4*>(counts + half * HALF + own)) : uint4{};
                keys[half] = four;
                sums[half] = four.x + four.y + four.z + four.w;
            }
        while (sum_of_warp(sums[0] + sums[1]) != bucket_keys(bucket));
        u32 ticket = 0;
        if (own == 0) ticket = gridDim.x + atomicAdd(&task.choice->tickets[SECOND], 1);
        u32 most = 0, begin = shared.bucket_begins[bucket];
#pragma unroll
        for (u32 half = 0; half < 2; half++)
            most = max(most, max(max(keys[half].x, keys[half].y), max(keys[half].z, keys[half].w)));
        most = max_of_warp(most);
        bool halves = HALVES && task.has_halves() && most <= task.large_keys;
        // The bucket's first tile tells others.
        bool tells = tile.begin == shared.places[bucket];
#pragma unroll
        for (u32 half = 0; half < 2; half++) {
            u32 through = scan_of_warp(sums[half]), at = half * HALF + own;
            uint4 four = keys[half], begins;
            begins.x = begin + through - sums[half];
            begins.y = begins.x + four.x;
            begins.z = begins.y + four.y;
            begins.w = begins.z + four.z;
            begin += __shfl_sync(ALL_LANES, through, WARP - 1);
            if (at >= digits()) continue;
            atomicAdd(&shared.bases[at], begins.x << halves);
            atomicAdd(&shared.bases[at + 1], begins.y << halves);
            atomicAdd(&shared.bases[at + 2], begins.z << halves);
            atomicAdd(&shared.bases[at + 3], begins.w << halves);
            if (tells) *reinterpret_cast<uint4*>(&task.begins[first + at]) = begins;
        }
        if (tells && most > cell_keys(task))
#pragma unroll 1
            for (u32 cell = own / EACH; cell < digits(); cell += WARP) tell_large(task, first + cell, counts[cell]);
        // Later tiles are of this bucket, or of those before it.
        ticket = __shfl_sync(ALL_LANES, ticket, 0);
        u32 among = bucket - own / EACH;
        while (!__any_sync(ALL_LANES, find(task, ticket, next, among))) among -= WARP;
        if (own > 0) return;
        tile.halves = halves;
        if (bucket == 0) task.begins[task.cells()] = task.n;
    }

    // A function of its own, which takes no registers from those who do not wait.
    __device__ __noinline__ static void wait_apart(
        const Task<Key>& task, Shared& shared, PartitionTile& tile, PartitionTile& next) {
        Partition(shared).wait_for_bucket(task, tile, next);
    }

    // task.tile is TILE or less; n is not zero.
    __device__ void run(const Task<Key>& task, u32 level) { run(task, level, KeySource<S, false>{task, *this}); }

    __device__ void run_from_rooms(const Task<Key>& task) { run(task, SECOND, KeySource<S, true>{task, *this}); }

    template <class Source>
    __device__ void run(const Task<Key>& task, u32 level, const Source& source) {
        zero_counters();
        wait_for_earlier_kernels();
        if (task.choice->path != (S::QUANTILES ? QUANTILES : HYBRID)) return;
        if (level == SECOND && task.choice->roomy != Source::ROOMS) return;
        set_buckets(task, level, source);
        find(task, blockIdx.x, shared.tile[0], thread);
        __syncthreads();
        if (shared.tile[0].exists()) source.load(shared.tile[0]);
        set_digit(task, level);
        // The first two tiles of each block need no ticket.
        if (thread == 0) shared.ticket = gridDim.x + blockIdx.x;
        __syncthreads();

        for (u32 turn = 0; shared.tile[turn].exists(); turn ^= 1) {
            PartitionTile &tile = shared.tile[turn], &next = shared.tile[turn ^ 1];
            if (shared.encodes) source.encode();
            u32 ticket = 0;
            if constexpr (!Source::ROOMS) {
                find(task, shared.ticket, next, thread);
                if (thread == 0) ticket = 2 * gridDim.x + atomicAdd(&task.choice->tickets[shared.level], 1);
            }
            count_digits(tile.count);
            __syncthreads();
            if constexpr (!Source::ROOMS) {
                if (thread == 0) shared.ticket = ticket;
                if (next.exists()) source.prefetch(next);
            }
            scan(tile.count);
            order(
                tile.count, cursors<Source::ROOMS>(task, tile.bucket),
                [&](u32 digit, u32 place, u32 own) {
                    return Source::ROOMS ? place : settle(task, tile, digit, place, own);
                },
                [&] {
                    if constexpr (Source::ROOMS)
                        if (thread >= THREADS - WARP) wait_apart(task, shared, tile, next);
                });
            if (next.exists()) {
                source.load(next);
            } else {
                forget();
                let_next_kernel_in();
            }
            scatter(to(task), tile.count, HALVES && tile.halves);
        }
    }
};

// Where the tiles of keys alone come from: the source, or what the first partition has left, in rooms or not.
template <class S, bool ROOMS_>
struct KeySource {
    using Key = typename S::Key;
    static constexpr bool ROOMS = ROOMS_;
    const Task<Key>& task;
    Partition<S>& tiles;

    __device__ const Key* from() const {
        return ROOMS ? task.rooms : tiles.shared.level == SECOND ? task.scratch : task.source;
    }

    __device__ void load(const PartitionTile& tile) const { tiles.load(from() + tile.begin, tile.count); }

    __device__ void prefetch(const PartitionTile& tile) const {
        tiles.prefetch(from() + tile.begin, tile.count);
    }

    __device__ bool encodes(Key base) const { return !Coder<Key>(task.codec, base).identity; }

    __device__ void encode() const { Coder<Key>(task.codec, tiles.shared.base).encode(tiles.key); }
};
