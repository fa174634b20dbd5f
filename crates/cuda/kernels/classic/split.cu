// split: one bit a pass, by one scan over the whole array (Split & sort; the lecture's split).
//
//     largest       the largest code, by its bits in the range: as many passes as it has bits
//     for each bit:
//         b            the bit
//         e            its inverse: 1 where the bit is false
//         f            exclusive scan of e (scan.cu): how many falses stand before
//         totalFalses  e[n-1] + f[n-1]
//         t            i - f[i] + totalFalses: where a true goes
//         d            b ? t : f
//         out          out[d[i]] = in[i]
//
// Shapes: all arrays n; largest and totalFalses one number. e and f may be one array: whoever needs
// an e again takes it from the key.
#include "block_scan.cuh"

// The largest `code & mask`: the up-sweep of a tree with max in the place of +, and one atomic a
// block. `largest` is zero before.
// Grid: any; ceil(n / (LANES * blockDim.x)) at most. Shared: S(Key, blockDim.x).
extern "C" __global__ void __launch_bounds__(1024) split_largest(
    const Key* __restrict__ keys, u32 n, Key mask, Key* largest) {
    Shared shared;
    Key* tree = shared.take<Key>(blockDim.x);
    auto max_of = [](Key a, Key b) { return a > b ? a : b; };

    Key own = 0;
    u32 parts = (n - 1) / (LANES * blockDim.x) + 1;
    for (u32 part = blockIdx.x; part < parts; part += gridDim.x) {
#pragma unroll
        for (u32 j = 0; j < LANES; j++) {
            u32 i = (part * LANES + j) * blockDim.x + threadIdx.x;
            own = max_of(own, i < n ? keys[i] & mask : 0);
        }
    }
    tree[bank<Key>(threadIdx.x)] = own;
    up_sweep(tree, blockDim.x, blockDim.x, max_of);
    if (threadIdx.x == 0) atomicMax(largest, tree[bank<Key>(blockDim.x - 1)]);
}

// e, and b where b is not null.
// Grid: ceil(n / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) split_falses(
    const Key* __restrict__ keys, u32 n, u32 bit, u32* e, u32* b) {
    Key key[LANES];
    load(keys, n, key);

    u32 is_true[LANES], is_false[LANES];
#pragma unroll
    for (u32 j = 0; j < LANES; j++) {
        is_true[j] = digit_of(key[j], bit, 1);
        is_false[j] = is_true[j] ^ 1;
    }
    store(is_false, n, e);
    store(is_true, n, b);
}

// totalFalses, t, d, and the scatter. payload and payload_out may be null; so may total_falses (one
// number), t and d, which show the arrays where they are not.
// Grid: ceil(n / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) split_scatter(
    const Key* __restrict__ keys, const u32* __restrict__ payload, u32 n, u32 bit,
    const u32* __restrict__ f, Key* __restrict__ out, u32* __restrict__ payload_out, u32* total_falses,
    u32* t, u32* d) {
    u32 last_false = digit_of(keys[n - 1], bit, 1) ^ 1;
    u32 falses = last_false + f[n - 1];
    Key key[LANES];
    load(keys, n, key);
    u32 before[LANES];
    load(f, n, before);

    u32 true_place[LANES], place[LANES];
#pragma unroll
    for (u32 j = 0; j < LANES; j++) {
        true_place[j] = lane_index(j) - before[j] + falses;
        place[j] = digit_of(key[j], bit, 1) ? true_place[j] : before[j];
    }

    scatter(key, place, n, out);
    if (payload) {
        u32 carried[LANES];
        load(payload, n, carried);
        scatter(carried, place, n, payload_out);
    }
    store(true_place, n, t);
    store(place, n, d);
    if (total_falses && lane_index(0) == 0) *total_falses = falses;
}
