// What partitions and local sorts have left: cells that are too large for a block.
//
// A part is a stretch of keys that agree in all bits from `below` up. One that is too large is counted
// by its next digit, then partitioned into the other buffer; what comes out are smaller parts:
//
//     COUNT      the digits of some of the part's tiles go into its histogram; whoever is last lays out
//                the buckets, or, if all keys agree in the digit, goes on below the highest bit that varies
//     PARTITION  the keys of these tiles go to their buckets; whoever is last divides the part: large
//                buckets are counted, small ones, neighbours together, are pieces for local
//     EMIT       keys that are equal, to where they belong
//
// Blocks take such steps from a queue on the device until all are done. A step never waits for another:
// the last to finish puts what follows into the queue, but for the first of it, with which it goes on. So
// it does not matter how many blocks run.
//
// A part is cut into steps of so many keys that all blocks have enough of them. One that makes a single
// step is one block's from its first count to its pieces; it is partitioned backwards, for the last keys
// that were counted are still at hand.
//
// Parts that are partitioned lie apart and have more than CAPACITY keys each, so no two have the same
// begin / CAPACITY: that is their number. A part's number goes over to its first bucket.
//
// Shapes: parts n / CAPACITY + 1; steps and pieces as many as there ever are (crates/cuda/src/hybrid).
#pragma once

#include "partition.cuh"

// CAPACITY: keys of a piece, at most.
template <class Tiles_, u32 CAPACITY_>
struct RefineShape {
    using Tiles = Tiles_;
    using Key = typename Tiles::Key;
    static constexpr u32 THREADS = Tiles::THREADS, BLOCKS = Tiles::BLOCKS;
    static constexpr u32 TILE = Tiles::TILE, CAPACITY = CAPACITY_;
    // A part of no more keys is one step.
    static constexpr u32 WHOLE = 2 * TILE;
    // Steps that each block has of the others, about, and the most tiles of a step.
    static constexpr u32 SHARES = 2, MOST_TILES = 8;
    static_assert(Tiles::DIGITS == PART_RADIX && THREADS >= PART_RADIX, "a thread for each bucket");
};

// Of a part that is divided.
struct Buckets {
    u32 ends[PART_RADIX];
    // Steps that follow from the buckets before; the last of all.
    u32 steps[PART_RADIX + 1];
    // The first bucket behind a piece that begins with this one; the same for those that do, 0 for others.
    u32 beyond[PART_RADIX], groups[PART_RADIX];
    // Bits: large ones.
    u32 large[PART_RADIX / WARP];
};

// A step's keys, in tiles of `length`, the last perhaps shorter; and what is known of their part.
template <class Key>
struct Stretch {
    const Key* from;
    Key* to;
    u32* cursors;
    u32 count, length, last;
    u32 begin, all, below, side, steps;

    __device__ const Key* tile(u32 turn) const { return from + turn * length; }

    __device__ u32 keys(u32 turn) const { return min(length, count - turn * length); }
};

template <class S>
struct RefineShared {
    union {
        // Its counters are zeros between two steps. Its buckets are those of a part that is one step.
        PartitionShared<typename S::Tiles> tile;
        // While there are no keys of a tile.
        Buckets parts;
    };
    Stretch<typename S::Key> stretch;
    // Of the keys of a step that are counted, bits in which they are not all as the part's first.
    u64 varying[2];
    u32 sums[PART_RADIX / WARP];
    Step step;
    // Steps of a part that were not done; where steps, and pieces, are put.
    u32 pending, slot, piece;
    // Cells that are too large: the first steps.
    u32 large;
    // Keys of a step, at most.
    u32 share;
    static_assert(sizeof(Buckets) <= sizeof(PartitionShared<typename S::Tiles>::keys), "too long");
};

template <class S>
struct Refine {
    using Key = typename S::Key;
    using Tiles = Partition<typename S::Tiles>;
    static constexpr u32 THREADS = S::THREADS, TILE = S::TILE, CAPACITY = S::CAPACITY;
    static constexpr u32 EMITTED = 16 * THREADS;
    // Who waits for the queue while others work.
    static constexpr u32 LAST = THREADS - 1;
    // A piece, where steps are fewer: there are less than 2^23 of them, and PART_RADIX pieces.
    static constexpr u32 ONE_PIECE = 1 << 23;
    // In the queue's progress.
    static constexpr u64 ONE_DONE = u64(1) << 32;

    const Task<Key>& task;
    RefineShared<S>& shared;
    const u32 thread = threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    __device__ Refine(const Task<Key>& task, RefineShared<S>& shared) : task(task), shared(shared) {}

    __device__ static Step nothing() { return Step{Step::NOTHING, 0, 0, 0}; }

    __device__ Queue& queue() const { return task.choice->queue; }

    __device__ Part& part(u32 begin) const { return task.parts[begin / CAPACITY]; }

    __device__ static Digit next_digit(u32 below) {
        u32 bits = min(PART_BITS, below);
        return Digit{below - bits, (1u << bits) - 1};
    }

    // How many steps count or partition a part.
    __device__ u32 steps_of(u32 count) const {
        return count <= S::WHOLE ? 1 : (count - 1) / shared.share + 1;
    }

    // The next step; none if all are done. `did` is ONE_DONE if this block has done one, and what it has
    // gone on with.
    __device__ Step take(u64 did) {
        __syncthreads();
        if (thread == 0) {
            u32 ticket = atomicAdd(&queue().head, 1);
            u64 progress = atomicAdd(&queue().progress, did) + did;
            shared.step = ticket < shared.large
                              ? Step{Step::CELL, 0, task.large[ticket], 0}
                              : wait_for(task.steps[ticket - shared.large], progress);
        }
        __syncthreads();
        return shared.step;
    }

    // A step that is put into the queue, or none, if all others are done. By one thread.
    __device__ Step wait_for(const Step& step, u64 progress) const {
        const volatile u64& now = queue().progress;
        const volatile u32& does = step.does;
        for (; does == Step::NOTHING; progress = now) {
            // What is done and what is put in are one word: nothing is put in any more.
            if (u32(progress >> 32) == shared.large + u32(progress)) return nothing();
            __nanosleep(20);
        }
        __threadfence();
        return step;
    }

    // Whether this was the last of a part's steps. Then what the others have written is seen.
    __device__ bool last_of(Part& part) {
        __syncthreads();
        if (shared.stretch.steps == 1) return true;
        if (thread == 0) {
            __threadfence();
            shared.pending = atomicSub(&part.pending, 1);
            __threadfence();
        }
        __syncthreads();
        return shared.pending == 1;
    }

    // Room in the queue for so many steps, but for the first, with which this block goes on. By one thread.
    __device__ void reserve(u32 steps) {
        if (steps > 1) shared.slot = u32(atomicAdd(&queue().progress, u64(steps - 1)));
    }

    // Steps for which there is room; `make(i)` says what the i-th is. Gives the first.
    template <class Make>
    __device__ Step put(u32 count, Make make) {
        __syncthreads();
        if (count == 0) return nothing();
        for (u32 i = thread + 1; i < count; i += THREADS) {
            Step made = make(i), *step = &task.steps[shared.slot + i - 1];
            step->side = made.side;
            step->at = made.at;
            step->of = made.of;
            write_release(&step->does, made.does);
        }
        return make(0);
    }

    __device__ Step put_tiles(Step::Does does, u32 begin, u32 steps) {
        return put(steps, [=](u32 i) { return Step{does, 0, begin, i}; });
    }

    // A part's record, by one warp; it is counted next.
    __device__ void begin_part(u32 begin, u32 count, u32 below, u32 side) {
        Part& made = part(begin);
        for (u32 i = lane; i < PART_RADIX; i += WARP) made.cursors[i] = 0;
        if (lane == 0) {
            made.count = count;
            made.begin = begin;
            made.below = below;
            made.side = side;
            made.steps = made.pending = steps_of(count);
            made.varying[0] = made.varying[1] = 0;
        }
    }

    __device__ Step emit_all(u32 begin, u32 count, u32 side) {
        u32 steps = (count + EMITTED - 1) / EMITTED;
        if (thread == LAST) reserve(steps);
        return put(steps, [=](u32 i) {
            u32 from = i * EMITTED;
            return Step{Step::EMIT, side, begin + from, min(count - from, EMITTED)};
        });
    }

    // A cell that is too large.
    __device__ Step refine(u32 begin, u32 count, u32 below, u32 side) {
        if (below == 0) return emit_all(begin, count, side);
        if (thread == LAST) reserve(steps_of(count));
        if (warp == 0) begin_part(begin, count, below, side);
        return put_tiles(Step::COUNT, begin, steps_of(count));
    }

    __device__ Step cell(u32 number) {
        u32 begin = task.begins[number], count = task.begins[number + 1] - begin;
        u32 below = task.choice->low, side = task.partitioned();
        if (count > CAPACITY) return refine(begin, count, below, side);
        if (thread == 0) task.pieces[atomicAdd(&task.choice->pieces, 1)] = {begin, count, side, below};
        return nothing();
    }

    __device__ void emit(u32 begin, u32 count, u32 side) {
        if constexpr (sizeof(Key) == sizeof(u64))
            if (task.carries == COMPOSITES) return leave(begin, count, side);
        Coder<Key> coder(task.codec, task.choice->base);
        if (side == IN_RESULT && coder.identity) return;
        const Key* from = task.buffer(side) + begin;
        for (u32 i = thread; i < count; i += THREADS) task.result[begin + i] = coder.decode(from[i]);
    }

    // Equal words of composites are pieces, too: only the local sort takes words apart.
    __device__ void leave(u32 begin, u32 count, u32 side) {
        u32 pieces = (count + CAPACITY - 1) / CAPACITY;
        if (thread == 0) shared.piece = atomicAdd(&task.choice->pieces, pieces);
        __syncthreads();
        if (thread >= pieces) return;
        u32 from = thread * CAPACITY;
        task.pieces[shared.piece + thread] = {begin + from, min(count - from, CAPACITY), side, 0};
    }

    // Where a step's keys are. One barrier.
    __device__ void begin_step(Part& part, u32 nth) {
        if (thread == 0) {
            u32 steps = part.steps, begin = steps == 1 ? 0 : nth * shared.share;
            u32 count = steps == 1 ? part.count : min(part.count - begin, shared.share);
            // Tiles of about equal length, each of an odd number of rows (partition.cuh).
            u32 rows = (count - 1) / (((count - 1) / TILE + 1) * THREADS) + 1 | 1;
            u32 length = min(rows * THREADS, TILE);
            const Key* from = task.buffer(part.side) + part.begin + begin;
            shared.stretch = {from, task.buffer(part.side ^ 1), part.cursors,
                              count, length, (count - 1) / length,
                              part.begin, part.count, part.below, part.side, steps};
            shared.varying[0] = shared.varying[1] = 0;
            Tiles(shared.tile).set_digit(next_digit(part.below));
        }
        __syncthreads();
    }

    // Warps go on by themselves; a barrier follows.
    __device__ void count_tiles(Tiles& tiles) {
        const auto& own = shared.stretch;
        tiles.load(own.tile(0), own.keys(0));
        Key first = task.buffer(own.side)[own.begin], varying = 0;
        for (u32 turn = 0;;) {
            u32 left = tiles.left(own.keys(turn));
#pragma unroll
            for (u32 j = 0; j < Tiles::ITEMS; j++)
                if (j * THREADS < left) varying |= tiles.key[j] ^ first;
            tiles.count_digits(own.keys(turn));
            if (turn++ == own.last) break;
            tiles.load(own.tile(turn), own.keys(turn));
        }
        tell_varying(varying);
    }

    // From the last tile to the first; the last is there if `at_hand`.
    __device__ void partition_tiles(Tiles& tiles, bool at_hand) {
        const auto& own = shared.stretch;
        if (!at_hand) tiles.load(own.tile(own.last), own.keys(own.last));
        for (u32 turn = own.last;; turn--) {
            tiles.count_digits(own.keys(turn));
            __syncthreads();
            tiles.scan(own.keys(turn));
            tiles.order(own.keys(turn), own.cursors);
            if (turn > 0) tiles.load(own.tile(turn - 1), own.keys(turn - 1));
            tiles.scatter(own.to, own.keys(turn));
            if (turn == 0) return;
        }
    }

    __device__ static u64 or_of_lanes(u64 own) {
#pragma unroll
        for (u32 step = WARP / 2; step > 0; step /= 2) own |= __shfl_xor_sync(ALL_LANES, own, step);
        return own;
    }

    __device__ void tell_varying(Key varying) {
        u64 low = or_of_lanes(u64(varying));
        if (lane == 0) atomicOr(&shared.varying[0], low);
        if constexpr (sizeof(Key) > 8) {
            u64 high = or_of_lanes(u64(varying >> 64));
            if (lane == 0) atomicOr(&shared.varying[1], high);
        }
    }

    // How many keys of this thread's digit the block has counted; its counters are zeros again.
    __device__ u32 take_counts() {
        constexpr u32 QUADS = S::Tiles::COPIES / 4;
        if (thread >= PART_RADIX) return 0;
        uint4* quads = reinterpret_cast<uint4*>(shared.tile.counters) + thread * QUADS;
        u32 sum = 0;
#pragma unroll
        for (u32 i = 0; i < QUADS; i++) {
            sum += quads[i].x + quads[i].y + quads[i].z + quads[i].w;
            quads[i] = uint4{0, 0, 0, 0};
        }
        return sum;
    }

    // What follows a step of COUNT.
    __device__ Step counted(Part& part) {
        __syncthreads();
        u32 own = take_counts();
        if (shared.stretch.steps == 1) return lay_out(part, own, below_varying(shared.varying));
        if (own) atomicAdd(&part.cursors[thread], own);
        if (thread < 2 && shared.varying[thread]) atomicOr(&part.varying[thread], shared.varying[thread]);
        if (!last_of(part)) return nothing();
        return lay_out(part, thread < PART_RADIX ? part.cursors[thread] : 0, below_varying(part.varying));
    }

    // The highest bit that varies, and one more; 0 if none does.
    __device__ static u32 below_varying(const u64 (&varying)[2]) {
        return varying[1] ? 128 - __clzll(varying[1]) : 64 - __clzll(varying[0]);
    }

    // Where the part's buckets begin; or, if its keys agree in the digit, what is left of them.
    __device__ Step lay_out(Part& part, u32 own, u32 varying) {
        u32 begin = shared.stretch.begin, all = shared.stretch.all, steps = shared.stretch.steps;
        if (varying == 0) return emit_all(begin, all, shared.stretch.side);
        if (thread == LAST) reserve(steps);
        if (__syncthreads_or(own == all)) {
            if (warp == 0) begin_part(begin, all, varying, shared.stretch.side);
            return put_tiles(Step::COUNT, begin, steps);
        }
        u32 bucket = begin + sum_before(own, shared.sums);
        if (thread < PART_RADIX) shared.tile.bucket_begins[thread] = part.cursors[thread] = bucket;
        if (thread == 0) {
            shared.tile.bucket_begins[PART_RADIX] = begin + all;
            part.pending = steps;
        }
        return put_tiles(Step::PARTITION, begin, steps);
    }

    // The buckets become parts and pieces. Neighbours that are small are sorted together, as many as fit.
    __device__ Step divide(Part& part) {
        auto& own = shared.parts;
        const auto& divided = shared.stretch;
        u32 rest = next_digit(divided.below).shift, side = divided.side ^ 1, begin = divided.begin;
        bool bucket = thread < PART_RADIX;
        // In the end a cursor stands at its bucket's end.
        if (bucket) {
            own.ends[thread] =
                divided.steps == 1 ? shared.tile.bucket_begins[thread + 1] : part.cursors[thread];
            own.groups[thread] = 0;
        }
        __syncthreads();
        u32 from = !bucket || thread == 0 ? begin : own.ends[thread - 1];
        u32 count = bucket ? own.ends[thread] - from : 0;
        bool is_large = count > CAPACITY;
        if (bucket) {
            u32 of_warp = __ballot_sync(ALL_LANES, is_large);
            if (lane == 0) own.large[warp] = of_warp;
            own.beyond[thread] = end_of_piece(from);
        }
        __syncthreads();
        if (thread == 0)
            for (u32 d = 0, next; d < PART_RADIX; d = next) own.groups[d] = next = own.beyond[d];
        // The part's record may now become that of its first bucket. A warp begins some neighbours.
        constexpr u32 EACH = PART_RADIX / (THREADS / WARP);
        u32 first = warp * EACH, larger = own.large[first / WARP] >> first % WARP & ~0u >> WARP - EACH;
        for (u32 begins = rest > 0 ? larger : 0; begins; begins &= begins - 1) {
            u32 d = first + __ffs(begins) - 1, at = d == 0 ? begin : own.ends[d - 1];
            begin_part(at, own.ends[d] - at, rest, side);
        }
        __syncthreads();

        // A large bucket's steps; or the group that begins here. Both are summed in one word.
        u32 steps = 0;
        if (is_large) steps = rest == 0 ? (count + EMITTED - 1) / EMITTED : steps_of(count);
        u32 beyond = bucket && !is_large ? own.groups[thread] : 0;
        u32 group = beyond ? own.ends[beyond - 1] - from : 0;
        u32 both = steps + (group ? ONE_PIECE : 0), before = sum_before(both, shared.sums);
        if (bucket) own.steps[thread] = before % ONE_PIECE;
        if (thread == PART_RADIX - 1) {
            own.steps[PART_RADIX] = (before + both) % ONE_PIECE;
            u32 piece = atomicAdd(&task.choice->pieces, (before + both) / ONE_PIECE);
            reserve((before + both) % ONE_PIECE);
            shared.piece = piece;
        }
        __syncthreads();
        // The keys of a bucket by itself agree in the digit, others in what their buckets have in common.
        u32 unlike = group == count ? 0 : 32 - __clz(thread ^ (beyond - 1));
        if (group) task.pieces[shared.piece + before / ONE_PIECE] = {from, group, side, rest + unlike};

        return put(own.steps[PART_RADIX], [=, &own](u32 i) {
            // The bucket whose step it is: the last with no more than i steps before it.
            u32 d = 0;
#pragma unroll
            for (u32 step = PART_RADIX / 2; step > 0; step /= 2)
                if (own.steps[d + step] <= i) d += step;
            u32 at = d == 0 ? begin : own.ends[d - 1], nth = i - own.steps[d];
            if (rest > 0) return Step{Step::COUNT, 0, at, nth};
            u32 offset = nth * EMITTED, left = own.ends[d] - at - offset;
            return Step{Step::EMIT, side, at + offset, min(left, EMITTED)};
        });
    }

    // The first bucket behind a piece that begins with this thread's, at `from`: the first that does not
    // fit, or one before it with more zeros at its end, if three quarters of the room are filled. The fewer bits the
    // buckets of a piece differ in, the better its bins are filled.
    __device__ u32 end_of_piece(u32 from) const {
        const u32* ends = shared.parts.ends;
        u32 end = 0;
#pragma unroll
        for (u32 step = PART_RADIX / 2; step > 0; step /= 2)
            if (ends[end + step - 1] <= from + CAPACITY) end += step;
        end = max(thread + 1, end + (ends[end] <= from + CAPACITY));
#pragma unroll
        for (u32 bits = PART_BITS; bits > 0; bits--) {
            u32 shorter = end >> bits << bits;
            if (shorter > thread && ends[shorter - 1] - from > CAPACITY / 4 * 3) return shorter;
        }
        return end;
    }

    // Does a step; gives what this block does next, if anything.
    __device__ Step follow(const Step& step) {
        if (step.does == Step::CELL) return cell(step.at);
        if (step.does == Step::EMIT) {
            emit(step.at, step.of, step.side);
            return nothing();
        }
        Part& part = this->part(step.at);
        Tiles tiles(shared.tile);
        bool counts = step.does == Step::COUNT;
        tiles.forget();
        begin_step(part, step.of);
        if (counts) {
            count_tiles(tiles);
            Step next = counted(part);
            if (next.does != Step::PARTITION || shared.stretch.steps > 1) return next;
        }
        partition_tiles(tiles, counts);
        return last_of(part) ? divide(part) : nothing();
    }

    __device__ void run() {
        Tiles(shared.tile).zero_counters();
        wait_for_earlier_kernels();
        if (!task.refines() || task.choice->large == 0) return;
        if (thread == 0) {
            u32 tiles = task.choice->crowd / (S::SHARES * TILE * gridDim.x);
            shared.large = task.choice->large;
            shared.share = TILE * max(1u, min(tiles, S::MOST_TILES));
        }
        for (u64 did = 0;; did = ONE_DONE) {
            Step step = take(did);
            if (step.does == Step::NOTHING) return;
            do step = follow(step);
            while (step.does != Step::NOTHING);
        }
    }
};
