// What a onesweep sort is told and what it keeps: the task, the digits, the codec, and each pass's
// route.
//
//     histograms  of all digits at once, in one read (histograms.cuh); their exclusive scans, and the
//                 routes (begins.cuh)
//     pass        once for each digit (pass.cuh)
//
// or, for middle sizes, `together`, all of it in one launch (together.cuh).
//
// A digit in which all keys agree moves nothing, so its pass does nothing. Which passes these are is
// known on the device alone, after the histograms; so the device also decides which buffer each pass
// reads and writes, such that the last one to move keys writes the result.
//
// Shapes: histograms passes x RADIX; begins passes x portions x RADIX; routes passes; tickets
// passes x portions; states passes x tiles x RADIX. Histograms and tickets begin as zeros. Of these
// together has routes and states alone.
#pragma once

#include "../codec.cuh"

constexpr u32 RADIX_BITS = 8;
constexpr u32 RADIX = 1 << RADIX_BITS;

// What a pass does, and from which buffer to which.
struct Route {
    enum Does : u32 { SKIP, COPY, SORT };
    u32 does, from, to;
    // The first move reads raw words and makes the index; the last writes raw words.
    u32 first, last;
    Digit digit;
    // Not the last, but keys and values are apart after it.
    u32 parts;
};

// The cells of a hybrid sort in front, where there is one (hybrid/task.cuh): its window's digits instead
// of the keys' own, the lower one first; what lies below the window is not for onesweep then.
template <class Key>
struct Cells {
    // How many keys each has, and where each begins. Null: there are none.
    const u32* counts;
    const u32* begins;
    // What is taken off every code, and then the window's lowest bit.
    const Key* base;
    const u32* low;
    // Bits of the upper digit and of the lower one.
    u32 a_bits, b_bits;
};

// The buffers' numbers.
enum Slot : u32 { SOURCE, RESULT, SCRATCH, OTHER, SLOTS };

enum Flags : u32 {
    // SOURCE and RESULT are the same memory.
    IN_PLACE = 1,
    // The values are positions, made by the first move.
    INDEX = 2,
    // Between the first and the last move keys and values lie together, as records.
    RECORDS = 4,
    // Between the first and the last move keys go to and fro between SCRATCH and OTHER, not SCRATCH
    // and RESULT.
    APART = 8,
};

// What tells an enqueued sort that it is wanted, or only for the rest of a hybrid sort's keys;
// hybrid/task.cuh has the same.
constexpr u32 GO = 1, SORT_REST = 2;

// Codes of which there are few (distinct.cuh), of 32 and 64 bits.
template <class Key>
struct Codes {
    // Narrower keys have hardly a pass to spare; wider ones have no atomic exchange.
    static constexpr bool SOUGHT = sizeof(Key) == 4 || sizeof(Key) == 8;
    static constexpr u32 SLOTS = 256;
    // Whether there are too many of them.
    u32 many;
    Key codes[SOUGHT ? SLOTS : 1];
};

// What blocks that wait for each other agree on; of others, which one is the last. It begins as zeros.
template <class Key>
struct Agreed {
    static constexpr u32 WORDS = sizeof(Key) < 4 ? 1 : sizeof(Key) / 4;
    // How often a block has arrived.
    u32 arrived;
    // Bits in which not all codes are as the first one.
    u32 varying[WORDS];
    // Codes from begin_bit on.
    Codes<Key> codes;
};

// Where a task is in place, the number of passes is even (RECORDS or APART: not one), if need be by
// a last one of no bits.
template <class Key>
struct Task {
    // keys[RESULT] may be null: then only values are wanted.
    Key* keys[SLOTS];
    void* values[SLOTS];
    u64 n;
    u64* histograms;
    u64* begins;
    Route* routes;
    u32* tickets;
    u32* states;
    Agreed<Key>* agreed;
    // Where it is decided whether this sort is to be done at all: GO; or SORT_REST, and of how many keys;
    // or else nothing is, or where there are cells, only the two passes over their digits. Null: it is.
    const u32* go;
    Cells<Key> cells;
    u32 begin_bit, end_bit, passes;
    // Counts in states have 30 bits, so a pass takes one launch for each portion of fewer keys.
    u32 tiles, portion_tiles, portions;
    u32 flags;
    Codec<Key> codec;

    __device__ bool goes() const { return go == nullptr || *go == GO; }

    // The rest lies in SCRATCH, and is sorted there; SOURCE is not needed any more, and all that is for n
    // keys has room. Only passes do that.
    __device__ bool sorts_rest() const { return go != nullptr && *go == SORT_REST; }

    __device__ bool called_off() const { return !goes() && !sorts_rest() && !has_cells(); }

    // Keys to be sorted.
    __device__ u64 count() const { return sorts_rest() ? go[1] : n; }

    __device__ bool has_cells() const { return cells.counts != nullptr; }

    __device__ bool has(Flags flag) const { return flags & flag; }

    __device__ u32 shift(u32 pass) const { return begin_bit + pass * RADIX_BITS; }

    __device__ Digit digit(u32 pass) const {
        u32 from = min(shift(pass), end_bit), bits = min(RADIX_BITS, end_bit - from);
        return Digit{bits == 0 ? 0 : from, (1u << bits) - 1};
    }

    // All bits below the end of a pass's digit.
    __device__ Key sorted_bits(u32 pass) const {
        u32 bits = min(shift(pass) + RADIX_BITS, end_bit);
        return bits >= 8 * sizeof(Key) ? Key(~Key(0)) : Key((Key(1) << bits) - 1);
    }

    __device__ u64* begins_of(u32 pass, u32 portion) const {
        return begins + (u64(pass) * portions + portion) * RADIX;
    }
};
