// What a onesweep sort is told and what it keeps: the task, the digits, the codec, and each pass's
// route.
//
//     histograms  of all digits at once, in one read (histograms.cuh)
//     begins      their exclusive scans, and the routes (begins.cuh)
//     pass        once for each digit (pass.cuh)
//
// A digit in which all keys agree moves nothing, so its pass does nothing. Which passes these are is
// known on the device alone, after the histograms; so the device also decides which buffer each pass
// reads and writes, such that the last one to move keys writes the result.
//
// Shapes: histograms passes x RADIX; begins passes x portions x RADIX; routes passes; tickets
// passes x portions; states passes x tiles x RADIX. Histograms, tickets and states begin as zeros.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr u32 WARP = 32;
constexpr u32 RADIX_BITS = 8;
constexpr u32 RADIX = 1 << RADIX_BITS;
constexpr u32 ALL_LANES = ~0u;

// No value travels with the keys.
struct Nothing {};

template <class T>
constexpr bool IS_NOTHING = false;
template <>
inline constexpr bool IS_NOTHING<Nothing> = true;

// A position as a value; what is wider than 8 bytes is never one.
template <class Value>
__device__ inline Value position(u64 i) {
    if constexpr (sizeof(Value) <= sizeof(u64))
        return Value(i);
    else
        return Value{};
}

// So many, if any.
template <class T, u32 N>
struct Array {
    T at[N];
};
template <class T>
struct Array<T, 0> {};

// From raw words to sort codes and back; the numbers are those of crates/core/src/codec.rs. A codec
// with ties cannot be turned back: it is for keys that are not written in the end.
template <class Key>
struct Codec {
    Key exclusive, float_mask, rotate, infinity;
    u32 ties, identity;

    // All bits as the word's highest.
    __device__ static Key spread_top(Key word) { return Key(0) - Key(word >> (8 * sizeof(Key) - 1)); }

    __device__ Key canonical(Key word) const {
        Key magnitude = word & float_mask;
        return magnitude > infinity ? float_mask : magnitude == 0 ? Key(0) : word;
    }

    __device__ Key encode(Key word) const {
        if (ties) word = canonical(word);
        return Key((word ^ (spread_top(word) & float_mask) ^ exclusive) - rotate);
    }

    __device__ Key decode(Key code) const {
        Key word = Key(code + rotate) ^ exclusive;
        return word ^ (spread_top(word) & float_mask);
    }
};

// The digit: `bits` neighbouring bits from `shift` on; none at all is a digit that all keys agree in.
struct Digit {
    u32 shift, mask;

    template <class Key>
    __device__ u32 of(Key code) const {
        return u32(code >> shift) & mask;
    }
};

// What a pass does, and from which buffer to which.
struct Route {
    enum Does : u32 { SKIP, COPY, SORT };
    u32 does, from, to;
    // The first move reads raw words and makes the index; the last writes raw words.
    u32 first, last;
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
    u32 begin_bit, end_bit, passes;
    // Counts in states have 30 bits, so a pass takes one launch for each portion of fewer keys.
    u32 tiles, portion_tiles, portions;
    u32 flags;
    Codec<Key> codec;

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

// With programmatic dependent launch: the kernels before this one are done, and what they wrote is
// seen. Nothing of theirs is touched before.
__device__ inline void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The next kernel may be brought in; it still waits for the whole of this one.
__device__ inline void let_next_kernel_in() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
