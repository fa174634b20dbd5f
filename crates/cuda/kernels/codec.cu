// From raw words to sort codes and back, and positions.
//
//     encode   x, with ties: one word for all NaNs, one for both zeros;
//              ((x ^ (all bits of x's sign & float_mask)) ^ xor) - rotate
//     decode   the way back; only where there are no ties
//     iota     0, 1, 2, ...
//
// The codec's numbers are those of crates/core/src/codec.rs. They are arguments, so one module
// serves all kinds of keys of a width.
#include "classic/keys.cuh"

struct Codec {
    Key exclusive, float_mask, rotate, infinity;
    u32 ties;

    // All bits as the word's highest.
    __device__ static Key spread_top(Key word) { return Key(0) - (word >> (8 * sizeof(Key) - 1)); }

    __device__ Key canonical(Key word) const {
        Key magnitude = word & float_mask;
        return magnitude > infinity ? float_mask : magnitude == 0 ? 0 : word;
    }

    __device__ Key encode(Key word) const {
        if (ties) word = canonical(word);
        return (word ^ (spread_top(word) & float_mask) ^ exclusive) - rotate;
    }

    __device__ Key decode(Key code) const {
        Key word = (code + rotate) ^ exclusive;
        return word ^ (spread_top(word) & float_mask);
    }
};

// In place. Grid: ceil(n / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) encode(
    Key* keys, u32 n, Key exclusive, Key float_mask, Key rotate, Key infinity, u32 ties) {
    Codec codec{exclusive, float_mask, rotate, infinity, ties};
    Key key[LANES];
    load(keys, n, key);
#pragma unroll
    for (u32 j = 0; j < LANES; j++) key[j] = codec.encode(key[j]);
    store(key, n, keys);
}

// In place. Grid: ceil(n / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) decode(
    Key* keys, u32 n, Key exclusive, Key float_mask, Key rotate, Key infinity, u32 ties) {
    Codec codec{exclusive, float_mask, rotate, infinity, ties};
    Key key[LANES];
    load(keys, n, key);
#pragma unroll
    for (u32 j = 0; j < LANES; j++) key[j] = codec.decode(key[j]);
    store(key, n, keys);
}

// Grid: ceil(n / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) iota(u32* out, u32 n) {
    u32 position[LANES];
#pragma unroll
    for (u32 j = 0; j < LANES; j++) position[j] = lane_index(j);
    store(position, n, out);
}
