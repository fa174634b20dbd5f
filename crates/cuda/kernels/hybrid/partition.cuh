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
// A digit has COPIES counters, and lane i of a warp uses copy i % COPIES. With 32 copies the lanes of a
// warp never meet in a counter nor in a bank, whatever their digits are: sorted and equal keys take no
// longer than random ones. Fewer copies are less to scan.
//
// The first partition has one bucket, the source; the second has one for each first digit. A bucket is
// cut into tiles of about equally many keys. Blocks stay for many tiles, which they draw by tickets.
//
// Of 32-bit keys in 2^16 cells the second partition writes the lower halves alone, where cells need no
// refining: a quarter less to be moved here and in the local sort.
//
// Shared memory: sizeof(PartitionShared<S>). Grid: as many blocks as run at a time, or fewer.
#pragma once

#include "task.cuh"

// Of the first of two partitions; where there is one, it has one.
constexpr u32 MOST_BUCKETS = 1 << MOST_CELL_BITS / 2;

// A partition's tuning: pure data. Digits have at most DIGIT_BITS bits, and 2^COPY_BITS counters each.
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

    static constexpr u32 WARPS = THREADS / WARP;
    static constexpr u32 DIGITS = 1 << DIGIT_BITS, COPIES = 1 << COPY_BITS, COUNTERS = DIGITS * COPIES;
    // Digits that a thread takes room for.
    static constexpr u32 OWN_DIGITS = (DIGITS + THREADS - 1) / THREADS;
    static_assert(THREADS % WARP == 0 && THREADS >= MOST_BUCKETS, "a thread for each bucket");
    static_assert(COPIES >= 4 && COPIES <= WARP, "four counters that a thread scans are one digit's");
    static_assert(COUNTERS <= 8 * THREADS && TILE <= 0xffff, "two halves are scanned as one word");
};

// A tile: where its keys begin, how many they are, and whose bucket they are of.
struct PartitionTile {
    // The count, if there is no tile.
    static constexpr u32 NONE = ~0u;
    u32 begin, count, bucket;

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
    // Where the tile's key 0 would go, if it were of this digit; it may be below zero, and wraps.
    u32 bases[S::DIGITS];
    u32 warps[S::WARPS];
    // The buckets: where they begin, how many tiles are before them, and how many keys a tile has.
    u32 bucket_begins[MOST_BUCKETS + 1], tiles[MOST_BUCKETS + 1], tile_keys[MOST_BUCKETS];
    u32 buckets, ticket;
    // This tile and the next.
    PartitionTile tile[2];
    // Read anew where they are used: else the compiler keeps what it makes of them, and spills.
    volatile u32 level, shift, mask;
    // Whether the source's words are not yet codes less base.
    volatile u32 encodes;
    // Whether lower halves are written alone.
    volatile u32 halves;
    Key base;
};

template <class S>
struct KeySource;

template <class S>
struct Partition {
    using Key = typename S::Key;
    using Shared = PartitionShared<S>;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, TILE = S::TILE, COPIES = S::COPIES;
    // Keys that a thread has under way at a time, to and from shared memory.
    static constexpr u32 BATCH = sizeof(Key) <= 4 ? 4 : 2;
    // Whether lower halves may be written alone: of the first digit there is more left than that.
    static constexpr bool HALVES = sizeof(Key) == sizeof(u32) && S::DIGITS <= MOST_BUCKETS;

    Shared& shared;
    const u32 thread = threadIdx.x;
    // The j-th is the tile's key j * THREADS + thread.
    Key key[ITEMS];

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

    // Rows of 2^ROW_BITS bytes, one for each digit: how many bytes lie before a code's.
    template <u32 ROW_BITS>
    struct Rows {
        // Of codes of 32 bits the digit is moved there by one rotation.
        static constexpr bool ROTATES = sizeof(Key) == 4;
        u32 shift, mask;

        __device__ Rows(const Shared& shared)
            : shift(ROTATES ? shared.shift - ROW_BITS & 31 : shared.shift),
              mask(ROTATES ? shared.mask << ROW_BITS : shared.mask) {}

        __device__ u32 of(Key code) const {
            if constexpr (ROTATES)
                return __funnelshift_r(code, code, shift) & mask;
            else
                return Digit{shift, mask}.of(code) << ROW_BITS;
        }
    };
    using CounterRows = Rows<2 + S::COPY_BITS>;
    using BaseRows = Rows<2>;

    // Which of a row's counters is this lane's, in bytes. Each warp begins with another one: else what was
    // a power of two apart in sorted keys becomes neighbours, whose bins in local are in one bank. (Of 2^28
    // sorted keys of 8 bytes that took 1.54 ms instead of 1.21.)
    __device__ static u32 own_copy() {
        u32 lane;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        return (lane + threadIdx.x / WARP) % COPIES * 4;
    }

    __device__ u32* counter(u32 bytes, bool is_key) {
        return is_key ? at(shared.counters, bytes) : &shared.beside[thread % WARP];
    }

    __device__ void zero_counters(u32 digits) {
        for (u32 i = thread; i < digits * (COPIES / 4); i += THREADS)
            reinterpret_cast<uint4*>(shared.counters)[i] = uint4{0, 0, 0, 0};
    }

    // By which the tiles that follow are partitioned. A barrier follows.
    __device__ void set_digit(Digit digit) {
        if (thread == 0) {
            shared.shift = digit.shift;
            shared.mask = digit.mask;
        }
    }

    // `read(i)`: the key that comes i behind the thread's first.
    template <class Read>
    __device__ void load(u32 count, Read read) {
        if (count == TILE) {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++) key[j] = read(j * THREADS);
        } else {
            u32 left = this->left(count);
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
        CounterRows rows(shared);
        u32 own = own_copy(), left = this->left(count);
#pragma unroll
        for (u32 batch = 0; batch < ITEMS; batch += BATCH) {
            if (!FULL && batch * THREADS >= count) break;
#pragma unroll
            for (u32 j = batch; j < batch + BATCH && j < ITEMS; j++)
                atomicAdd(counter(rows.of(key[j]) | own, FULL || j * THREADS < left), 1);
        }
    }

    // The tile's keys by digit and copy; adds to what is there.
    __device__ void count_digits(u32 count) {
        if (count == TILE)
            count_as<true>(count);
        else
            count_as<false>(count);
    }

    // The sum over a warp.
    __device__ static u32 sum_of_warp(u32 own) {
#if __CUDA_ARCH__ >= 800
        return __reduce_add_sync(ALL_LANES, own);
#else
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) own += __shfl_xor_sync(ALL_LANES, own, step);
        return own;
#endif
    }

    // Counts become places, their exclusive scan. A thread has four neighbours of the lower half of the
    // counters, and four of the upper if there are more than the block has at a time; the halves' sums
    // are scanned in one word.
    __device__ void scan(u32 count) {
        constexpr u32 HALF = 4 * THREADS, HALVES = S::COUNTERS > HALF ? 2 : 1;
        u32 lane = thread % WARP, warp = thread / WARP, counters = digits() * COPIES;
        uint4* quads = reinterpret_cast<uint4*>(shared.counters) + thread;
        u32 own = 0;
#pragma unroll
        for (u32 half = 0; half < HALVES; half++)
            if (half * HALF + thread * 4 < counters) {
                uint4 counts = quads[half * THREADS];
                own += counts.x + counts.y + counts.z + counts.w << 16 * half;
            }
        u32 sum = own;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1) shared.warps[warp] = sum;
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
            if (first % COPIES == 0) shared.begins[first / COPIES] = x;
        }
        if (thread == 0) shared.begins[digits()] = count;
        __syncthreads();
    }

    // The places of a batch are taken before the first of it is filled, so that the atomics do not wait
    // for one another.
    template <bool FULL>
    __device__ void place_as(u32 count) {
        CounterRows rows(shared);
        u32 own = own_copy(), left = this->left(count);
#pragma unroll
        for (u32 batch = 0; batch < ITEMS; batch += BATCH) {
            if (!FULL && batch * THREADS >= count) break;
            u32 place[BATCH];
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                place[i] = atomicAdd(counter(rows.of(key[j]) | own, FULL || j * THREADS < left), 1);
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                if (FULL || j * THREADS < left) shared.keys[slot(place[i])] = key[j];
        }
    }

    // The tile, ordered by the digit, in shared memory, with room for it in the output. A digit's room is
    // `ahead` of its cursor, if there is one.
    __device__ void order(u32 count, u32* cursors, const u32* ahead = nullptr) {
        u32 base[S::OWN_DIGITS] = {};
        each_own_digit([&](u32 i, u32 digit) {
            u32 begin = shared.begins[digit], own = shared.begins[digit + 1] - begin;
            if (own) base[i] = atomicAdd(&cursors[digit], own) - begin;
            if (HALVES && ahead) base[i] += ahead[digit];
        });
        if (count == TILE)
            place_as<true>(count);
        else
            place_as<false>(count);
        each_own_digit([&](u32 i, u32 digit) { shared.bases[digit] = base[i]; });
        __syncthreads();
    }

    template <class Do>
    __device__ void each_own_digit(Do act) const {
#pragma unroll
        for (u32 i = 0; i < S::OWN_DIGITS; i++)
            if (i * THREADS + thread < digits()) act(i, i * THREADS + thread);
    }

    template <bool FULL>
    __device__ void scatter_as(Key* to, u32 count, bool halves) {
        BaseRows rows(shared);
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
                if (FULL || j * THREADS < left) base[i] = *at(shared.bases, rows.of(code[i]));
#pragma unroll
            for (u32 i = 0, j = batch; i < BATCH && j < ITEMS; i++, j++)
                if (FULL || j * THREADS < left) {
                    u32 place = base[i] + j * THREADS + thread;
                    if (halves)
                        reinterpret_cast<u16*>(to)[place] = u16(code[i]);
                    else
                        to[place] = code[i];
                }
        }
    }

    // The ordered tile goes where it has room, whole codes or lower halves. Then shared memory is free, and
    // the counters are zeros.
    __device__ void scatter(Key* to, u32 count, bool halves = false) {
        zero_counters(digits());
        if (count == TILE)
            scatter_as<true>(to, count, halves);
        else
            scatter_as<false>(to, count, halves);
        __syncthreads();
    }

    // The buckets of a partition of the whole task; `encodes(base)`: whether what is first read is not yet
    // codes less base. A barrier follows.
    template <class Source>
    __device__ void set_buckets(const Task<Key>& task, u32 level, const Source& source) {
        u32 buckets = level == 0 ? 1 : 1u << task.a_bits;
        if (thread == 0) {
            Key base = task.choice->base;
            shared.level = level;
            shared.halves = HALVES && level == 1 && task.in_halves();
            shared.buckets = buckets;
            shared.base = base;
            shared.encodes = level == 0 && source.encodes(base);
        }
        if (level == 0 && thread == 0) {
            // Every block has equally many tiles, if there are keys enough.
            u32 rounds = (task.n - 1) / (gridDim.x * TILE) + 1;
            shared.bucket_begins[0] = shared.tiles[0] = 0;
            shared.bucket_begins[1] = task.n;
            shared.tiles[1] = min(rounds * gridDim.x, (task.n - 1) / THREADS + 1);
        }
        if (level == 1)
            for (u32 i = thread; i <= buckets; i += THREADS) {
                shared.bucket_begins[i] = task.begins[i << task.b_bits];
                shared.tiles[i] = task.tiles[i];
            }
        __syncthreads();
        if (thread < buckets) {
            u32 keys = shared.bucket_begins[thread + 1] - shared.bucket_begins[thread];
            u32 tiles = shared.tiles[thread + 1] - shared.tiles[thread];
            // With an odd number of rows the copies of a tile of equal keys begin in different banks.
            u32 rows = tiles ? (keys - 1) / (tiles * THREADS) + 1 | 1 : 0;
            shared.tile_keys[thread] = min(rows, ITEMS) * THREADS;
        }
    }

    // The thread whose bucket the tile is in tells the others, who see it after a barrier. A bucket's
    // last tiles may be empty. The last tile comes first: what was read or written last is still in the
    // L2 cache (2^24 keys of 4 bytes take 202 us instead of 211 in all).
    __device__ void find(u32 number, PartitionTile& tile) {
        number = shared.tiles[shared.buckets] - 1 - number;
        if (thread < shared.buckets && shared.tiles[thread] <= number &&
            number < shared.tiles[thread + 1]) {
            u32 begin = shared.bucket_begins[thread], keys = shared.bucket_begins[thread + 1] - begin;
            u32 most = shared.tile_keys[thread];
            u64 before = min(u64(number - shared.tiles[thread]) * most, u64(keys));
            tile = {begin + u32(before), min(most, keys - u32(before)), thread};
        }
        if (thread == 0 && number >= shared.tiles[shared.buckets]) tile.count = PartitionTile::NONE;
    }

    __device__ Key* to(const Task<Key>& task) const {
        return shared.level == 0 ? task.scratch : task.result;
    }

    __device__ u32* cursors(const Task<Key>& task, u32 bucket) const {
        return shared.level == 0 ? task.bucket_cursors : task.cell_cursors + (bucket << task.b_bits);
    }

    // Level 0 is the first partition, level 1 the second. task.tile is TILE or less; n is not zero.
    __device__ void run(const Task<Key>& task, u32 level) { run(task, level, KeySource<S>{task, *this}); }

    template <class Source>
    __device__ void run(const Task<Key>& task, u32 level, const Source& source) {
        zero_counters(S::DIGITS);
        wait_for_earlier_kernels();
        if (task.choice->path != HYBRID) return;
        set_buckets(task, level, source);
        find(blockIdx.x, shared.tile[0]);
        __syncthreads();
        if (shared.tile[0].exists()) source.load(shared.tile[0]);
        set_digit(level == 0 ? task.first_digit() : task.second_digit());
        // The first two tiles of each block need no ticket.
        if (thread == 0) shared.ticket = gridDim.x + blockIdx.x;
        __syncthreads();

        for (u32 turn = 0; shared.tile[turn].exists(); turn ^= 1) {
            PartitionTile &tile = shared.tile[turn], &next = shared.tile[turn ^ 1];
            if (shared.encodes) source.encode();
            find(shared.ticket, next);
            u32 ticket = 0;
            if (thread == 0) ticket = 2 * gridDim.x + atomicAdd(&task.choice->tickets[shared.level], 1);
            count_digits(tile.count);
            __syncthreads();
            if (thread == 0) shared.ticket = ticket;
            if (next.exists()) source.prefetch(next);
            scan(tile.count);
            // The cell's begin once more: words are halves of keys.
            const u32* begins = HALVES && shared.halves ? task.begins + (tile.bucket << task.b_bits) : nullptr;
            order(tile.count, cursors(task, tile.bucket), begins);
            if (next.exists())
                source.load(next);
            else
                let_next_kernel_in();
            scatter(to(task), tile.count, HALVES && shared.halves);
        }
    }
};

// Where the tiles of keys alone come from: the source, or what the first partition has left.
template <class S>
struct KeySource {
    using Key = typename S::Key;
    const Task<Key>& task;
    Partition<S>& tiles;

    __device__ const Key* from() const { return tiles.shared.level == 0 ? task.source : task.scratch; }

    __device__ void load(const PartitionTile& tile) const { tiles.load(from() + tile.begin, tile.count); }

    __device__ void prefetch(const PartitionTile& tile) const {
        tiles.prefetch(from() + tile.begin, tile.count);
    }

    __device__ bool encodes(Key base) const { return !Coder<Key>(task.codec, base).identity; }

    __device__ void encode() const { Coder<Key>(task.codec, tiles.shared.base).encode(tiles.key); }
};
