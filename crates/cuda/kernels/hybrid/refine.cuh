// What partitions and local sorts have left: cells that are too large for a block.
//
// A part is a stretch of keys that agree in all bits from `below` up. One that is too large is counted
// by its next digit, tile by tile, then partitioned into the other buffer, tile by tile; what comes
// out are smaller parts:
//
//     COUNT      a tile's digits go into the part's histogram; whoever is last lays out the buckets,
//                or, if all keys agree in the digit, goes on below the highest bit that varies
//     PARTITION  a tile's keys go to their buckets; whoever is last divides the part: large buckets
//                are counted, small ones, neighbours together, are pieces for local
//     EMIT       keys that are equal, to where they belong
//
// Blocks take such steps from a queue on the device until all are done. A step never waits for another:
// the last to finish puts what follows into the queue. So it does not matter how many blocks run.
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
    static_assert(THREADS >= PART_RADIX, "a thread for each bucket");
};

// Of a part that is divided.
struct Buckets {
    u32 ends[PART_RADIX];
    // Steps that follow from the buckets before; the last of all.
    u32 steps[PART_RADIX + 1];
    // Bits: buckets that begin a group, with one behind the last; large ones.
    u32 groups[PART_RADIX / WARP + 1], large[PART_RADIX / WARP];
    u32 sums[PART_RADIX / WARP];
};

// Of a tile that is counted.
struct TileCounts {
    u32 digits[PART_RADIX];
    u32 sums[PART_RADIX / WARP];
    u64 varying[2];
};

template <class S>
struct RefineShared {
    union {
        PartitionShared<typename S::Tiles> tile;
        Buckets parts;
        TileCounts count;
    };
    Step step;
    // Of steps, and of pieces.
    u32 slot, piece;
};

template <class S>
struct Refine {
    using Key = typename S::Key;
    static constexpr u32 THREADS = S::THREADS, TILE = S::TILE, CAPACITY = S::CAPACITY;
    static constexpr u32 EMITTED = 16 * THREADS;

    const Task<Key>& task;
    RefineShared<S>& shared;
    Queue& queue;
    const u32 thread = threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    // Cells that are too large: the first steps.
    u32 large;

    __device__ Refine(const Task<Key>& task, RefineShared<S>& shared)
        : task(task), shared(shared), queue(task.choice->queue) {}

    __device__ Part& part(u32 begin) const { return task.parts[begin / CAPACITY]; }

    __device__ static Digit next_digit(u32 below) {
        u32 bits = min(PART_BITS, below);
        return Digit{below - bits, (1u << bits) - 1};
    }

    // The next step; none if all are done.
    __device__ bool take(Step& step) {
        __syncthreads();
        if (thread == 0) {
            u32 ticket = atomicAdd(&queue.head, 1);
            shared.step.does = Step::NOTHING;
            if (ticket < large) {
                shared.step = Step{Step::CELL, 0, task.large[ticket], 0};
            } else {
                const Step* step = &task.steps[ticket - large];
                while (read_acquire(&step->does) == Step::NOTHING) {
                    // In this order: what is done can only have been put there before.
                    u32 done = read_acquire(&queue.done), tail = read_acquire(&queue.tail);
                    if (done == large + tail) break;
                    __nanosleep(100);
                }
                shared.step = *step;
            }
        }
        __syncthreads();
        step = shared.step;
        return step.does != Step::NOTHING;
    }

    // What the block's threads have written is seen by who takes a step that is put there from now on,
    // or is the last of a part.
    __device__ void done() {
        __syncthreads();
        if (thread == 0) {
            __threadfence();
            atomicAdd(&queue.done, 1);
        }
    }

    // Whether this was the last of a part's tiles. Then what the others have written is seen.
    __device__ bool last_of(Part& part) {
        __syncthreads();
        if (thread == 0) {
            __threadfence();
            shared.slot = atomicSub(&part.pending, 1);
            __threadfence();
        }
        __syncthreads();
        return shared.slot == 1;
    }

    // Puts steps into the queue; `make(i)` says what the i-th is.
    template <class Make>
    __device__ void put(u32 count, Make make) {
        if (count == 0) return;
        if (thread == 0) shared.slot = atomicAdd(&queue.tail, count);
        __syncthreads();
        u32 slot = shared.slot;
        __threadfence();
        for (u32 i = thread; i < count; i += THREADS) {
            Step made = make(i), *step = &task.steps[slot + i];
            step->side = made.side;
            step->at = made.at;
            step->of = made.of;
            write_release(&step->does, made.does);
        }
        __syncthreads();
    }

    __device__ void put_tiles(Step::Does does, u32 begin, u32 count) {
        put((count + TILE - 1) / TILE, [=](u32 i) { return Step{does, 0, begin, i}; });
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
            made.pending = (count + TILE - 1) / TILE;
            made.varying[0] = made.varying[1] = 0;
        }
    }

    __device__ void emit_all(u32 begin, u32 count, u32 side) {
        put((count + EMITTED - 1) / EMITTED, [=](u32 i) {
            u32 from = i * EMITTED;
            return Step{Step::EMIT, side, begin + from, min(count - from, EMITTED)};
        });
    }

    // A part that is too large.
    __device__ void refine(u32 begin, u32 count, u32 below, u32 side) {
        if (below == 0) return emit_all(begin, count, side);
        if (warp == 0) begin_part(begin, count, below, side);
        put_tiles(Step::COUNT, begin, count);
    }

    __device__ void cell(u32 number) {
        u32 begin = task.begins[number], count = task.begins[number + 1] - begin;
        u32 below = task.choice->low, side = task.partitioned();
        if (count > CAPACITY) return refine(begin, count, below, side);
        if (thread == 0) task.pieces[atomicAdd(&task.choice->pieces, 1)] = {begin, count, side, below};
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

    __device__ static u64 or_of_lanes(u64 own) {
#pragma unroll
        for (u32 step = WARP / 2; step > 0; step /= 2) own |= __shfl_xor_sync(ALL_LANES, own, step);
        return own;
    }

    __device__ void count(Part& part, u32 tile) {
        auto& own = shared.count;
        for (u32 i = thread; i < PART_RADIX; i += THREADS) own.digits[i] = 0;
        if (thread < 2) own.varying[thread] = 0;
        __syncthreads();

        Digit digit = next_digit(part.below);
        const Key* from = task.buffer(part.side) + part.begin;
        Key first = from[0], varying = 0;
        u32 begin = tile * TILE, in_tile = min(part.count - begin, TILE);
#pragma unroll 8
        for (u32 i = thread; i < in_tile; i += THREADS) {
            Key key = from[begin + i];
            varying |= key ^ first;
            u32 value = digit.of(key), lanes = __activemask();
            // Keys in order have one digit for long.
            if (__all_sync(lanes, value == __shfl_sync(lanes, value, __ffs(lanes) - 1))) {
                if (lane == __ffs(lanes) - 1) atomicAdd(&own.digits[value], __popc(lanes));
            } else {
                atomicAdd(&own.digits[value], 1);
            }
        }
        u64 low = or_of_lanes(u64(varying));
        if (lane == 0) atomicOr(&own.varying[0], low);
        if constexpr (sizeof(Key) > 8) {
            u64 high = or_of_lanes(u64(varying >> 64));
            if (lane == 0) atomicOr(&own.varying[1], high);
        }
        __syncthreads();
        if (thread < PART_RADIX && own.digits[thread]) atomicAdd(&part.cursors[thread], own.digits[thread]);
        if (thread < 2 && own.varying[thread]) atomicOr(&part.varying[thread], own.varying[thread]);
        if (last_of(part)) lay_out(part);
    }

    // The highest bit that varies, and one more; 0 if none does.
    __device__ static u32 varying_below(const Part& part) {
        return part.varying[1] ? 128 - __clzll(part.varying[1]) : 64 - __clzll(part.varying[0]);
    }

    // Where the part's buckets begin.
    __device__ void lay_out(Part& part) {
        u32 begin = part.begin, all = part.count, side = part.side;
        u32 own = thread < PART_RADIX ? part.cursors[thread] : 0, varying = varying_below(part);
        if (__syncthreads_or(own == all)) return refine(begin, all, varying, side);
        u32 before = sum_before(own, shared.count.sums);
        if (thread < PART_RADIX) part.cursors[thread] = begin + before;
        if (thread == 0) part.pending = (all + TILE - 1) / TILE;
        put_tiles(Step::PARTITION, begin, all);
    }

    // The sum of what the threads before gave, of the first PART_RADIX. One barrier.
    __device__ u32 sum_before(u32 own, u32* sums) const {
        u32 sum = own;
#pragma unroll
        for (u32 step = 1; step < WARP; step *= 2) {
            u32 left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        if (lane == WARP - 1 && warp < PART_RADIX / WARP) sums[warp] = sum;
        __syncthreads();
        u32 before = sum - own;
        for (u32 w = 0; w < warp && w < PART_RADIX / WARP; w++) before += sums[w];
        return before;
    }

    __device__ void partition(Part& part, u32 tile) {
        u32 begin = tile * TILE, in_tile = min(part.count - begin, TILE);
        const Key* from = task.buffer(part.side) + part.begin + begin;
        Key* to = task.buffer(part.side ^ 1);
        Partition<typename S::Tiles> tiles(shared.tile);
        tiles.zero_counters(S::Tiles::DIGITS);
        tiles.set_digit(next_digit(part.below));
        __syncthreads();
        tiles.partition_tile(from, in_tile, to, part.cursors);
        if (last_of(part)) divide(part);
    }

    // The buckets become parts and pieces. Neighbours that are small are sorted together: those that
    // begin in the same half capacity, with nothing longer in between.
    __device__ void divide(Part& part) {
        auto& own = shared.parts;
        u32 below = part.below, rest = next_digit(below).shift, side = part.side ^ 1, begin = part.begin;
        bool bucket = thread < PART_RADIX;
        // A cursor stands at its bucket's end.
        if (bucket) own.ends[thread] = part.cursors[thread];
        __syncthreads();
        u32 from = !bucket || thread == 0 ? begin : own.ends[thread - 1];
        u32 count = bucket ? own.ends[thread] - from : 0;
        bool is_large = count > CAPACITY;
        if (bucket) {
            constexpr u32 HALF = CAPACITY / 2;
            u32 left = thread < 2 ? begin : own.ends[thread - 2];
            bool after_long = thread == 0 || from - left > HALF;
            bool heads = count > HALF || after_long || from / HALF != left / HALF;
            u32 heading = __ballot_sync(ALL_LANES, heads), larger = __ballot_sync(ALL_LANES, is_large);
            if (lane == 0) {
                own.groups[warp] = heading;
                own.large[warp] = larger;
            }
            if (thread == 0) own.groups[PART_RADIX / WARP] = 1;
        }
        __syncthreads();

        // A large bucket's steps; or the group that begins here, up to the next that does.
        u32 steps = 0, group = 0, next = thread + 1;
        if (is_large) {
            steps = rest == 0 ? (count + EMITTED - 1) / EMITTED : (count + TILE - 1) / TILE;
        } else if (bucket && own.groups[warp] >> lane & 1) {
            u32 word = next / WARP, rest_of_word = own.groups[word] >> next % WARP;
            while (rest_of_word == 0) rest_of_word = own.groups[++word], next = word * WARP;
            next += __ffs(rest_of_word) - 1;
            group = own.ends[next - 1] - from;
        }
        u32 before = sum_before(steps, own.sums);
        if (bucket) own.steps[thread] = before;
        if (thread == PART_RADIX - 1) own.steps[PART_RADIX] = before + steps;
        __syncthreads();
        u32 pieces = sum_before(group > 0, own.sums);
        if (thread == PART_RADIX - 1) shared.piece = atomicAdd(&task.choice->pieces, pieces + (group > 0));
        // The part's record may now become that of its first bucket.
        for (u32 d = warp; d < PART_RADIX; d += THREADS / WARP)
            if (own.large[d / WARP] >> d % WARP & 1) {
                u32 at = d == 0 ? begin : own.ends[d - 1];
                begin_part(at, own.ends[d] - at, rest, side);
            }
        __syncthreads();
        // The keys of a bucket by itself agree in the digit, too.
        if (group) task.pieces[shared.piece + pieces] = {from, group, side, next == thread + 1 ? rest : below};

        put(own.steps[PART_RADIX], [=, &own](u32 i) {
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

    __device__ void run() {
        wait_for_earlier_kernels();
        large = task.choice->large;
        if (task.choice->path != HYBRID || large == 0) return;
        Step step;
        while (take(step)) {
            switch (step.does) {
            case Step::CELL: cell(step.at); break;
            case Step::COUNT: count(part(step.at), step.of); break;
            case Step::PARTITION: partition(part(step.at), step.of); break;
            case Step::EMIT: emit(step.at, step.of, step.side); break;
            }
            done();
        }
    }
};
