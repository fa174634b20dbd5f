// What a hybrid sort is told and what it keeps.
//
//     probe       the least and the greatest code; of a sample, also which path is faster (probe.cuh)
//     count       a histogram over the cells, in one read (count.cuh)
//     lay_out     its exclusive scan: where each cell begins, where each tile finds its keys (lay_out.cuh)
//     partition   keys to the bucket of their first digit, then to their cell (partition.cuh)
//     local_large, local
//                 each cell, in shared memory (local.cuh), large ones by larger blocks (local_large.cuh)
//     refine      cells that are too large, by their next digits, until all pieces fit (refine.cuh)
//     local       each of these pieces
//
// or, of many keys, instead of counting them
//
//     count       reads a larger sample, which gives each bucket room (rooms.cuh)
//     partition   into these rooms; then to cells, which the blocks of a bucket count together
//
// or, of skewed keys, the same by digits of quantiles instead of the keys' own (quantile.cuh)
//
//     count       reads a sample, which tells quantiles; then once more, to give buckets room
//     partition_quantiles, partition_quantile_rooms, local_quantiles
//
// or, where many keys are common, count and weave, with the onesweep between (dictionary.cuh).
//
// A cell is what `cell_bits` neighbouring bits of the code say, the window; above the window all keys
// agree. Codes that lie on both sides of a multiple of a power of two differ in more bits than they
// need: then a base is subtracted from all of them (window.cuh). The window's upper a_bits are the first
// digit, its lower b_bits the second; with b_bits 0 there is one partition, and a bucket is a cell. Keys
// alone that are equal cannot be told apart, so no step needs to be stable: a tile takes room in each
// bucket with one atomic on the bucket's cursor.
//
// One partition: SOURCE to SCRATCH; local: SCRATCH to RESULT. Two: SOURCE to SCRATCH, or to ROOMS, which are
// SCRATCH and what lies before it, to RESULT; local: in place. Where a cell says the upper half of its keys, the
// second partition writes lower halves alone (halves). SOURCE and RESULT may be the same memory. The first read
// of SOURCE that moves keys encodes them; local's write to RESULT decodes them; count and probe encode for
// themselves.
#pragma once

#include "../codec.cuh"

// The most bits that a cell is told by.
constexpr u32 MOST_CELL_BITS = 16;
// Of the first of two partitions; where there is one, it has one.
constexpr u32 MOST_BUCKETS = 1 << MOST_CELL_BITS / 2;

// What is to be done; decided on the device.
enum Path : u32 {
    // The steps above.
    HYBRID = 0,
    // The steps above do nothing: the passes of onesweep, enqueued behind them, sort.
    ONESWEEP = 1,
    // Common keys are counted, the rest is sorted by the onesweep behind, and both are woven: count, that
    // onesweep and weave do it, the others nothing (dictionary.cuh).
    SIFT = 2,
    // The steps above, where quantiles tell the cells (quantile.cuh): partitions and local of their own, then refine.
    QUANTILES = 3,
};

// What goes with the keys.
enum Carried : u32 {
    KEYS_ALONE = 0,
    // Values, stably: a cell with more than local_keys keys makes onesweep the path.
    RECORDS = 1,
    // 32 bits each, in one word with the code (composite.cuh).
    COMPOSITES = 2,
};

// Where keys lie. From IN_HALVES on: the lower halves of a cell's codes, in RESULT; its number is added.
enum Side : u32 { IN_SCRATCH, IN_RESULT, IN_HALVES };

// A stretch of keys that is too large for a block, while it is being partitioned (refine.cuh).
constexpr u32 PART_BITS = 8;
constexpr u32 PART_RADIX = 1 << PART_BITS;

struct Part {
    u32 begin, count;
    // All keys agree from this bit up.
    u32 below;
    // Where they lie.
    u32 side;
    // How many steps count it, and as many partition it; those that are not done.
    u32 steps, pending;
    // Bits in which not all keys are as the first one.
    u64 varying[2];
    // How many keys each bucket has; then where its next one goes; in the end, where it ends.
    u32 cursors[PART_RADIX];
};

// Something to do, for one block.
struct alignas(16) Step {
    enum Does : u32 { NOTHING, CELL, COUNT, PARTITION, EMIT };
    u32 does;
    u32 side;
    // CELL: its number. COUNT and PARTITION: where the part begins, and which of its steps. EMIT: where
    // the keys begin, and how many.
    u32 at, of;
};

// Keys that fit a block: where they lie, and bits that are left to sort by.
struct alignas(16) Piece {
    u32 begin, count, side, bits;
};

// Steps are taken by tickets, first the cells that are too large, then what has been put in.
struct Queue {
    // How many have been put in; in the upper half, how many are done, cells included.
    u64 progress;
    u32 head;
};

// The least and the greatest of some codes.
template <class Key>
struct Range {
    Key least, greatest;

    __device__ static Range none() { return {Key(~Key(0)), Key(0)}; }

    __device__ void include(Key code) {
        least = code < least ? code : least;
        greatest = greatest < code ? code : greatest;
    }
};

// Words to codes less `base`, and back.
template <class Key>
struct Coder : Codec<Key> {
    // Whether a word is its code and a number more: unsigned and signed ones, for to turn the highest bit round is to
    // add it.
    bool adds;
    Key more;

    __device__ Coder(const Codec<Key>& codec, Key base) : Codec<Key>(codec) {
        this->rotate += base;
        this->identity = codec.identity && base == 0;
        Key highest = Key(1) << (8 * sizeof(Key) - 1);
        adds = !codec.ties && codec.float_mask == 0 && (codec.exclusive & ~highest) == 0;
        more = this->rotate + codec.exclusive;
    }

    using Codec<Key>::encode;

    // Many words: what their codec does not ask for is not done to each of them.
    template <u32 N>
    __device__ void encode(Key (&words)[N]) const {
        if (this->identity) return;
        if (adds) {
#pragma unroll
            for (u32 i = 0; i < N; i++) words[i] -= more;
            return;
        }
        if (this->ties)
#pragma unroll
            for (u32 i = 0; i < N; i++) words[i] = this->canonical(words[i]);
        if (this->float_mask == 0) {
#pragma unroll
            for (u32 i = 0; i < N; i++) words[i] = Key(words[i] ^ this->exclusive) - this->rotate;
        } else {
#pragma unroll
            for (u32 i = 0; i < N; i++) words[i] = this->encode_canonical(words[i]);
        }
    }

    // Many codes: `act(decode)`, where `decode(code)` does no more than it must.
    template <class Act>
    __device__ void decoding(Act act) const {
        if (adds)
            act([&](Key code) { return Key(code + more); });
        else
            act([&](Key code) { return this->decode(code); });
    }
};

template <class Key>
struct Dictionary;

// Which partition.
enum Level : u32 {
    // By the first digit.
    FIRST = 0,
    // By the second.
    SECOND = 1,
    LEVELS
};

// What the device finds out and decides. It begins as zeros.
template <class Key>
struct Choice {
    // What is subtracted from every code.
    Key base;
    // Above the window every code less base is as this one.
    Key prefix;
    // Bits above the window in which keys differ (together.cuh).
    Key varying;
    u32 path;
    // Where common keys are sifted: how many others there are, fillers included. The onesweep behind reads
    // it beside the path (onesweep/task.cuh).
    u32 rest;
    // The window's lowest bit.
    u32 low;
    // Whether keys lie outside of the window that the probe's sample shows (count.cuh).
    u32 missed;
    // Whether a sample has given buckets their rooms; or has shown that all keys are to be counted (rooms.cuh).
    u32 roomy, unroomy;
    // Blocks of a kernel that are done, where the last one goes on.
    u32 done;
    // Tickets of the partitions' tiles.
    u32 tickets[LEVELS];
    // Cells that are left to refine; and the keys of those that have more than large_keys.
    u32 large, crowd;
    // A bit for each bucket that has such a cell.
    u32 refined[MOST_BUCKETS / WARP];
    // Cells that local_large sorts.
    u32 for_large_blocks;
    // The path and one more, as soon as the kernels before local_large are done; it tells local.
    u32 path_of_local;
    // Pieces that refine leaves.
    u32 pieces;
    Queue queue;
};

template <class Key>
struct Task {
    const Key* source;
    Key* result;
    Key* scratch;
    // Less than 2^32.
    u32 n;
    // Of a code; all of them decide.
    u32 key_bits;
    u32 a_bits, b_bits;
    // Keys of a tile of the second partition, and of the largest cell that local sorts.
    u32 tile, local_keys;
    Choice<Key>* choice;
    // 2^cell_bits: how many keys each cell has. Begins as zeros.
    u32* counts;
    // 2^cell_bits + 1: where each cell begins, the last n.
    u32* begins;
    // 2^a_bits: where each bucket's next key goes. With b_bits 0: each cell's.
    u32* bucket_cursors;
    // 2^cell_bits: where each cell's next key goes.
    u32* cell_cursors;
    // 2^a_bits + 1: tiles of the second partition before each bucket, the last all of them.
    u32* tiles;
    // 2^cell_bits: numbers of the cells for refine; from the end backwards, of those for local_large.
    u32* large;
    // Of refine.
    Part* parts;
    // None is there to be taken as long as it does nothing.
    Step* steps;
    // What refine leaves: all fit a block.
    Piece* pieces;
    // What the probe fills with zeros: choice, counts, and what a onesweep behind counts in.
    uint4* zeros;
    u32 zero_vectors;
    // Whether onesweep is enqueued behind, so that `path` may say so. Then one block of the probe reads
    // a sample; otherwise the probe reads all keys.
    u32 may_onesweep;
    // Carried.
    u32 carries;
    // Blocks of the probe that read, Probe::MOST_BLOCKS at most. For each of them, and behind them for each block
    // of count, what it has read.
    u32 probe_blocks;
    // How many steps there is room for.
    u32 step_room;
    // Keys of the largest cell that local_large sorts, if that is more than local_keys.
    u32 large_keys;
    Range<Key>* ranges;
    // Where the probe may make a dictionary, and where the onesweep behind sorts what it has not: n keys.
    // Null: neither.
    Dictionary<Key>* dictionary;
    Key* rest;
    // Rooms of buckets: so many keys from here on; where each begins, 2^a_bits + 1.
    Key* rooms;
    u32* room_begins;
    u32 room_keys;
    // Blocks of the second partition, which run at the same time. 0: no bucket gets a room.
    u32 room_blocks;
    // What a quantile is made of, if quantiles may tell the cells (quantile.cuh).
    u32* quantiles;
    // Keys of a tile of the second partition then; and from rooms otherwise.
    u32 quantile_tile, room_tile;
    // Whether count is enqueued but once, though a sample may mislead: what would have to be counted anew is
    // onesweep's.
    u32 counts_once;
    // Of composites: what is found out of the codes is told here of the words. Begins as zeros.
    Choice<u64>* words;
    Codec<Key> codec;

    // By one thread.
    __device__ void choose(Path path) const {
        choice->path = path;
        if (words) words->path = path;
    }

    __device__ u32 cell_bits() const { return a_bits + b_bits; }

    __device__ u32 cells() const { return 1u << cell_bits(); }

    __device__ Digit cell_digit() const { return Digit{choice->low, cells() - 1}; }

    __device__ Digit first_digit() const { return Digit{choice->low + b_bits, (1u << a_bits) - 1}; }

    __device__ Digit second_digit() const { return Digit{choice->low, (1u << b_bits) - 1}; }

    // Whether there may be cells to be refined, and pieces.
    __device__ bool refines() const { return choice->path == HYBRID || choice->path == QUANTILES; }

    // A cell that is for larger blocks, or to be refined.
    __device__ void tell_large(u32 cell, u32 keys) const {
        if (keys <= local_keys) return;
        if (keys <= large_keys) {
            large[cells() - 1 - atomicAdd(&choice->for_large_blocks, 1)] = cell;
            return;
        }
        leave_to_refine(cell, keys);
        u32 bucket = cell >> b_bits;
        if (b_bits > 0) atomicOr(&choice->refined[bucket / WARP], 1u << bucket % WARP);
    }

    __device__ void leave_to_refine(u32 cell, u32 keys) const {
        large[atomicAdd(&choice->large, 1)] = cell;
        atomicAdd(&choice->crowd, keys);
    }

    // Before anybody refines. By all blocks of a kernel.
    __device__ void clear_steps() const {
        for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < step_room; i += gridDim.x * blockDim.x)
            steps[i].does = Step::NOTHING;
    }

    // Whether the second partition leaves but the lower halves of 32-bit codes: 16 bits tell the cell, so
    // what is above is known of all of its keys.
    __device__ bool has_halves() const {
        return sizeof(Key) == sizeof(u32) && cell_bits() == MOST_CELL_BITS;
    }

    // Not in a bucket of which a cell is refined, which reads whole codes. Known when its cells are counted.
    __device__ bool in_halves(u32 bucket) const {
        return has_halves() && !(choice->refined[bucket / WARP] >> bucket % WARP & 1);
    }

    // A cell's halves: they fill the first half of its place.
    __device__ u16* halves(u32 begin) const { return reinterpret_cast<u16*>(result + begin); }

    // What all of a cell's 32-bit codes have above the bits that are left.
    __device__ u32 upper_bits(u32 cell) const { return u32(u64(choice->prefix) >> choice->low) | cell; }

    // Where the partitions leave the keys, and those of a cell.
    __device__ u32 partitioned() const { return b_bits ? IN_RESULT : IN_SCRATCH; }

    __device__ u32 side_of(u32 cell) const {
        return in_halves(cell >> b_bits) ? IN_HALVES + cell : partitioned();
    }

    __device__ Key* buffer(u32 side) const { return side == IN_SCRATCH ? scratch : result; }
};
