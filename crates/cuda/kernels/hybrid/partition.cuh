// Partition: each key goes where the next key of its digit goes, in no order among one digit's.
//
//     for each tile:
//         load        neighbouring keys in neighbouring lanes
//         count       the tile's keys of each digit, each lane its own
//         scan        where in the tile each lane's keys of each digit begin
//         claim       room behind each digit's cursor: one atomic for the tile's keys of a digit
//         place       each key in shared memory: the tile, ordered by the digit
//         load        the next tile, while this one is finished
//         scatter     runs of one digit at a time
//
// A digit has COPIES counters, and lane i of a warp uses copy i % COPIES. With 32 copies the lanes of a
// warp never meet in a counter nor in a bank, whatever their digits are: random, sorted and equal keys
// take the same time.
//
// Shared memory: sizeof(PartitionShared<S>). Grid: as many blocks as run at a time, or fewer.
#pragma once

#include "task.cuh"

// A partition's tuning: pure data. Digits have at most DIGIT_BITS bits.
template <class Key_, u32 THREADS_, u32 ITEMS_, u32 BLOCKS_, u32 DIGIT_BITS, u32 COPY_BITS, u32 FLAGS_ = 0>
struct PartitionShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, ITEMS = ITEMS_, TILE = THREADS * ITEMS;
    // Blocks that a multiprocessor has at a time.
    static constexpr u32 BLOCKS = BLOCKS_;
    static constexpr u32 DIGITS = 1 << DIGIT_BITS;
    // Of a digit; a counter's bytes are told by COUNTER_BITS.
    static constexpr u32 COPIES = 1 << COPY_BITS, COUNTER_BITS = COPY_BITS + 2;
    static constexpr u32 WARPS = THREADS / WARP;
    static constexpr bool NO_ALLOCATE = FLAGS_ & 1, EVICT_FIRST = FLAGS_ & 2;
    static_assert(THREADS >= DIGITS && THREADS % WARP == 0 && COPIES <= WARP, "");
};

// Which tile a block has: where its keys begin, how many they are, and in which bucket.
struct PartitionTile {
    u32 begin, count, bucket;
};
// The count, if there is none.
constexpr u32 NONE = ~0u;

template <class S>
struct PartitionShared {
    using Key = typename S::Key;
    // Places that are a multiple of 32 apart lie in different banks.
    Key keys[S::TILE + S::TILE / WARP];
    // Counts, then places. Zeros between two tiles.
    u32 __align__(16) counters[S::DIGITS * S::COPIES];
    // Counters of keys that are none.
    u32 beside[WARP];
    // Where in the tile each digit begins, the last the number of its keys.
    u32 begins[S::DIGITS + 1];
    // Where the tile's key 0 would go, if it were of this digit; it may be below zero, and wraps.
    u32 bases[S::DIGITS];
    u32 warps[WARP];
    // Of the second partition: where buckets begin, and their tiles.
    u32 bucket_begins[S::DIGITS + 1], tiles[S::DIGITS + 1];
    u32 buckets, ticket;
    PartitionTile tile[2];
    // Read anew where they are used: else the compiler keeps what it makes of them for each key, and spills.
    volatile u32 shift, mask, level;
};

template <class S>
struct Partition {
    using Key = typename S::Key;
    using Shared = PartitionShared<S>;
    static constexpr u32 THREADS = S::THREADS, ITEMS = S::ITEMS, TILE = S::TILE, COPIES = S::COPIES;
    // Keys that a thread has under way at a time, to and from shared memory.
    static constexpr u32 BATCH = sizeof(Key) <= 4 ? 4 : 2;

    Shared& shared;
    const u32 thread = threadIdx.x;
    Key key[ITEMS];

    __device__ Partition(Shared& shared) : shared(shared) {}

    // Where the key of a place lies.
    __device__ static constexpr u32 slot(u32 place) { return place + place / WARP; }

    __device__ u32 digits() const { return shared.mask + 1; }

    // The bytes that lie before a digit's row of 2^ROW bytes.
    template <u32 ROW>
    struct Rows {
        u32 shift, mask;

        __device__ Rows(const Shared& shared)
            : shift(sizeof(Key) <= 4 ? shared.shift - ROW & 31 : shared.shift),
              mask(sizeof(Key) <= 4 ? shared.mask << ROW : shared.mask) {}

        __device__ u32 of(Key code) const {
            if constexpr (sizeof(Key) <= 4)
                return __funnelshift_r(code, code, shift) & mask;
            else
                return Digit{shift, mask}.of(code) << ROW;
        }
    };
    using CounterRows = Rows<S::COUNTER_BITS>;
    using BaseRows = Rows<2>;

    __device__ static u32* at(u32* words, u32 bytes) {
        return reinterpret_cast<u32*>(reinterpret_cast<u8*>(words) + bytes);
    }

    // A key's counter; if it is none, one beside.
    __device__ u32* counter(u32 bytes, bool is_key) {
        return at(shared.counters, is_key ? bytes : S::DIGITS * COPIES * 4 + thread % WARP * 4);
    }

    __device__ static u32 own_copy() {
        u32 lane;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        return lane % COPIES * 4;
    }

    // How many of the tile's keys stand from this thread's first on: its j-th is one of them if
    // j * THREADS is less.
    __device__ u32 left(u32 count) const { return count > thread ? count - thread : 0; }

    __device__ void zero_counters() {
        zero_counters(digits());
    }

    __device__ void zero_counters(u32 digits) {
        u32 counters = digits * COPIES;
        if constexpr (COPIES >= 4) {
            for (u32 i = thread; i < counters / 4; i += THREADS)
                reinterpret_cast<uint4*>(shared.counters)[i] = uint4{0, 0, 0, 0};
        } else {
            for (u32 i = thread; i < counters; i += THREADS) shared.counters[i] = 0;
        }
    }

    // Tiles that follow are partitioned by this digit. A barrier follows.
    __device__ void set_digit(Digit digit) {
        if (thread == 0) {
            shared.shift = digit.shift;
            shared.mask = digit.mask;
        }
    }

    __device__ static Key read(const Key* from) {
        if constexpr (S::NO_ALLOCATE && sizeof(Key) == 4) {
            u32 k;
            asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(k) : "l"(from));
            return k;
        } else if constexpr (S::NO_ALLOCATE && sizeof(Key) == 8) {
            u64 k;
            asm volatile("ld.global.L1::no_allocate.u64 %0, [%1];" : "=l"(k) : "l"(from));
            return k;
        } else if constexpr (S::EVICT_FIRST && sizeof(Key) <= 8) {
            return __ldcs(from);
        } else {
            return *from;
        }
    }

    __device__ void load(const Key* from, u32 count) {
        from += thread;
        if (count == TILE) {
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++) key[j] = read(from + j * THREADS);
        } else {
            u32 left = this->left(count);
#pragma unroll
            for (u32 j = 0; j < ITEMS; j++)
                if (j * THREADS < left) key[j] = read(from + j * THREADS);
        }
    }

    __device__ void encode(const Codec<Key>& codec) {
        if (codec.identity) return;
#pragma unroll
        for (u32 j = 0; j < ITEMS; j++) key[j] = codec.encode(key[j]);
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

    // The tile's keys by digit. A barrier follows.
    __device__ void count_digits(u32 count) {
        if (count == TILE)
            count_as<true>(count);
        else
            count_as<false>(count);
    }

    // Counts become places, their exclusive scan.
    __device__ void scan(u32 count) {
        // Counters that a thread scans: neighbours, of one digit.
        constexpr u32 COUNTERS = S::DIGITS * COPIES, N = COUNTERS <= THREADS       ? 1
                                                         : COUNTERS <= 2 * THREADS ? 2
                                                         : COUNTERS <= 4 * THREADS ? 4
                                                         : COUNTERS <= 8 * THREADS ? 8
                                                         : COUNTERS <= 16 * THREADS ? 16 : 32;
        static_assert(N <= COPIES, "a thread's counters are of one digit");
        constexpr u32 VECTOR = N < 4 ? N : 4;
        struct __align__(4 * VECTOR) Vector {
            u32 at[VECTOR];
        };
        u32 digits = this->digits();
        u32 first = thread * N;
        bool takes_part = first < digits * COPIES;
        Vector* own = reinterpret_cast<Vector*>(shared.counters + first);
        u32 total = 0;
        if (takes_part)
#pragma unroll
            for (u32 i = 0; i < N / VECTOR; i++) {
                Vector counts = own[i];
#pragma unroll
                for (u32 k = 0; k < VECTOR; k++) total += counts.at[k];
            }
        u32 lane = thread % WARP, warp = thread / WARP, sum = total;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1) shared.warps[warp] = sum;
        __syncthreads();
        u32 before = lane < warp ? shared.warps[lane] : 0;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) before += __shfl_xor_sync(ALL_LANES, before, step);
        u32 place = before + sum - total;
        if (takes_part) {
            if (first % COPIES == 0) shared.begins[first / COPIES] = place;
#pragma unroll
            for (u32 i = 0; i < N / VECTOR; i++) {
                Vector counts = own[i];
#pragma unroll
                for (u32 k = 0; k < VECTOR; k++) {
                    u32 count = counts.at[k];
                    counts.at[k] = place;
                    place += count;
                }
                own[i] = counts;
            }
        }
        if (thread == 0) shared.begins[digits] = count;
        __syncthreads();
    }

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

    // What is loaded soon comes near.
    __device__ void prefetch(const Key* from, u32 count) {
        constexpr u32 LINE = 128 / sizeof(Key);
        for (u32 i = thread * LINE; i < count; i += THREADS * LINE)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(from + i));
    }

    // From places to the tile in shared memory, ordered by the digit, with room for it in the output.
    __device__ void order(u32 count, u32* cursors) {
        u32 base = 0;
        bool has_digit = thread < digits();
        if (has_digit) {
            u32 begin = shared.begins[thread], own = shared.begins[thread + 1] - begin;
            if (own) base = atomicAdd(&cursors[thread], own) - begin;
        }
        if (count == TILE)
            place_as<true>(count);
        else
            place_as<false>(count);
        if (has_digit) shared.bases[thread] = base;
        __syncthreads();
    }

    template <bool FULL>
    __device__ void scatter_as(Key* to, u32 count) {
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
                if (FULL || j * THREADS < left) to[base[i] + j * THREADS + thread] = code[i];
        }
    }

    // The ordered tile goes where it has room. Counters are zeros again, and shared memory is free.
    __device__ void scatter(Key* to, u32 count) {
        zero_counters();
        if (count == TILE)
            scatter_as<true>(to, count);
        else
            scatter_as<false>(to, count);
        __syncthreads();
    }

    // The thread whose bucket the tile is in tells the others. A bucket's tiles have about equally many
    // keys, in an odd number of rows: then places of equal keys lie in different banks.
    __device__ void find(u32 number, PartitionTile& found) {
        u32 buckets = shared.buckets;
        if (thread < buckets && shared.tiles[thread] <= number && number < shared.tiles[thread + 1]) {
            u32 begin = shared.bucket_begins[thread], keys = shared.bucket_begins[thread + 1] - begin;
            u32 tiles = shared.tiles[thread + 1] - shared.tiles[thread];
            u32 rows = min((keys - 1) / (tiles * THREADS) + 1 | 1, ITEMS);
            u64 before = u64(number - shared.tiles[thread]) * (rows * THREADS);
            u32 skip = u32(min(before, u64(keys)));
            found = {begin + skip, min(rows * THREADS, keys - skip), thread};
        }
        if (thread == 0 && number >= shared.tiles[buckets]) found.count = NONE;
    }
    __device__ const Key* from(const Task<Key>& task) { return shared.level == 0 ? task.source : task.scratch; }
    __device__ Key* to(const Task<Key>& task) { return shared.level == 0 ? task.scratch : task.result; }
    __device__ u32* cursors(const Task<Key>& task, u32 bucket) {
        return shared.level == 0 ? task.bucket_cursors : task.cell_cursors + (bucket << task.b_bits);
    }

    __device__ void run(const Task<Key>& task, u32 level) {
        zero_counters(S::DIGITS);
        wait_for_earlier_kernels();
        if (task.choice->path != HYBRID) return;
        if (level == 0) {
            if (thread == 0) {
                u32 rounds = (task.n - 1) / (gridDim.x * TILE) + 1;
                shared.tiles[0] = shared.bucket_begins[0] = 0;
                shared.tiles[1] = min(rounds * gridDim.x, (task.n - 1) / THREADS + 1);
                shared.bucket_begins[1] = task.n;
                shared.buckets = 1;
            }
        } else {
            u32 buckets = 1u << task.a_bits;
            if (thread == 0) shared.buckets = buckets;
            for (u32 i = thread; i <= buckets; i += THREADS) {
                shared.tiles[i] = task.tiles[i];
                shared.bucket_begins[i] = task.begins[i << task.b_bits];
            }
        }
        if (thread == 0) shared.level = level;
        set_digit(level == 0 ? task.first_digit() : task.second_digit());
        __syncthreads();
        find(blockIdx.x, shared.tile[0]);
        __syncthreads();
        if (shared.tile[0].count != NONE) load(from(task) + shared.tile[0].begin, shared.tile[0].count);
        for (u32 turn = 0;; turn ^= 1) {
            PartitionTile &tile = shared.tile[turn], &next = shared.tile[turn ^ 1];
            if (tile.count == NONE) break;
            if (shared.level == 0) encode(task.codec);
            u32 ticket = 0;
            if (thread == 0) ticket = gridDim.x + atomicAdd(&task.choice->tickets[shared.level], 1);
            count_digits(tile.count);
            if (thread == 0) shared.ticket = ticket;
            __syncthreads();
            find(shared.ticket, next);
            scan(tile.count);
            if (next.count != NONE) prefetch(from(task) + next.begin, next.count);
            order(tile.count, cursors(task, tile.bucket));
            if (next.count != NONE)
                load(from(task) + next.begin, next.count);
            else
                let_next_kernel_in();
            scatter(to(task), tile.count);
        }
    }
};
