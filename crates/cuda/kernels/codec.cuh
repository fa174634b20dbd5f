// Codes of keys, and their digits.
#pragma once

#include "words.cuh"

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
        return encode_canonical(word);
    }

    __device__ Key encode_canonical(Key word) const {
        return Key((word ^ (spread_top(word) & float_mask) ^ exclusive) - rotate);
    }

    __device__ Key decode(Key code) const {
        Key word = Key(code + rotate) ^ exclusive;
        return word ^ (spread_top(word) & float_mask);
    }
};

// A code without its lowest bits. What the compiler makes of a 128-bit shift goes through local memory.
template <class Key>
__device__ inline Key shifted(Key code, u32 shift) {
    if constexpr (sizeof(Key) <= sizeof(u64)) {
        return Key(code >> shift);
    } else {
        u64 low = u64(code), high = u64(code >> 64);
        bool far = shift >= 64;
        u32 rest = shift % 64;
        u64 shifted_low = far ? high >> rest : low >> rest | (high << 1) << (63 - rest);
        u64 shifted_high = far ? 0 : high >> rest;
        return Key(shifted_high) << 64 | shifted_low;
    }
}

// The digit: `bits` neighbouring bits from `shift` on; none at all is a digit that all keys agree in.
struct Digit {
    u32 shift, mask;

    template <class Key>
    __device__ u32 of(Key code) const {
        return u32(shifted(code, shift)) & mask;
    }
};
