// block-histogram: R bits a pass, a histogram for each block (CUDA LSD radix sort, after Harada and
// Howes).
//
//     for each digit of R bits:
//         H        each block's histogram, block after block
//         CT       H transposed (matrix.cu): all blocks' counts of digit 0, then of digit 1, ...
//         scan     exclusive prefix sum of CT (scan.cu)
//         G        scan, transposed back: where block b's keys of digit k go
//         L        exclusive prefix sum of each block's histogram: where its digits begin in it
//         sorted   each block sorted by the digit: R splits in shared memory (split_tile.cuh)
//         d        i - L[b][k] + G[b][k], with i counted within the sorted block
//         B        B[d] = sorted key
//
// L and G depend on H alone, so they can be made at the same time, on two streams; the scatter waits
// for both.
//
// Shapes, with p = ceil(n / tile) blocks of `tile` keys: H, G, L are p rows of 2^R; CT and scan 2^R
// rows of p; the rest n. tile is the text's block; one thread has one key of it, or up to ITEMS.
#include "histogram.cuh"
#include "split_tile.cuh"

// H. The histogram is built in shared memory, zeroed first, with atomics, and copied out whole.
// Grid: p. blockDim: any. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(1024) block_histogram_count(
    const Key* __restrict__ keys, u32 n, u32 tile, u32 shift, u32 bits, u32* __restrict__ h) {
    u32 start = blockIdx.x * tile;
    u32* row = h + (u64(blockIdx.x) << bits);
    tile_histogram(
        keys + start, min(tile, n - start), shift, bits, [=](u32 k, u32 count) { row[k] = count; });
}

// L: each row of H scanned; l may be h. A block scans as many rows at a time as it has threads for.
// Grid: ceil(p / rows), with rows = max(1, blockDim.x / 2^R). Shared: S(u32, rows * 2^R).
extern "C" __global__ void __launch_bounds__(1024) block_histogram_local_offsets(
    const u32* h, u32* l, u32 p, u32 bits) {
    u32 radix = 1u << bits, rows = max(1u, blockDim.x / radix), size = rows * radix;
    Shared shared;
    u32* tree = shared.take<u32>(size);
    u64 start = u64(blockIdx.x) * size, end = u64(p) * radix;

    for (u32 i = threadIdx.x; i < size; i += blockDim.x)
        tree[bank<u32>(i)] = start + i < end ? h[start + i] : 0;
    scan_segments(tree, size, radix);
    for (u32 i = threadIdx.x; i < size; i += blockDim.x)
        if (start + i < end) l[start + i] = tree[bank<u32>(i)];
}

// What a block of the scatter reads and writes. Payloads may be null, and so may the arrays to be
// shown: sorted, sorted_payload, d.
struct BlockScatter {
    const Key* __restrict__ keys;
    const u32* __restrict__ payload;
    u32 n, tile, shift, bits;
    const u32* __restrict__ l, * __restrict__ g;
    Key* __restrict__ out;
    u32* __restrict__ payload_out;
    Key* sorted;
    u32 *sorted_payload, *d;
};

template <u32 ITEMS_>
__device__ inline void scatter_block(const BlockScatter& a) {
    u32 radix = 1u << a.bits, size = ITEMS_ * blockDim.x;
    Shared shared;
    Key* keys = shared.take<Key>(size);
    u32* l = shared.take<u32>(radix);
    u32* g = shared.take<u32>(radix);
    u32* payload = a.payload ? shared.take<u32>(size) : nullptr;
    u32 start = blockIdx.x * a.tile, count = min(a.tile, a.n - start);

    // Load the keys, and the block's rows of L and G.
    load_tile<ITEMS_>(a.keys + start, count, keys);
    if (payload)
        for (u32 i = threadIdx.x; i < count; i += blockDim.x)
            payload[bank<u32>(i)] = a.payload[start + i];
    for (u32 k = threadIdx.x; k < radix; k += blockDim.x) {
        l[k] = a.l[u64(blockIdx.x) * radix + k];
        g[k] = a.g[u64(blockIdx.x) * radix + k];
    }

    // Sort the block by the digit.
    split_tile<ITEMS_>(keys, payload, a.shift, a.shift + a.bits);

    // Each key to its place.
    auto place = [=](u32 i) {
        u32 k = digit_of(keys[bank<Key>(i)], a.shift, a.bits);
        return i - l[k] + g[k];
    };
#pragma unroll
    for (u32 j = 0; j < ITEMS_; j++) {
        u32 i = j * blockDim.x + threadIdx.x;
        if (i < count) a.out[place(i)] = keys[bank<Key>(i)];
    }
    if (payload)
        for (u32 i = threadIdx.x; i < count; i += blockDim.x)
            a.payload_out[place(i)] = payload[bank<u32>(i)];

    // The arrays to be shown.
    for (u32 i = threadIdx.x; i < count && (a.sorted || a.d); i += blockDim.x) {
        if (a.sorted) a.sorted[start + i] = keys[bank<Key>(i)];
        if (payload && a.sorted_payload) a.sorted_payload[start + i] = payload[bank<u32>(i)];
        if (a.d) a.d[start + i] = place(i);
    }
}

// sorted, d, and the scatter to B.
// Grid: p. tile: ITEMS * blockDim.x at most. Shared, with m = blockDim.x if tile is no more than
// that, else ITEMS * blockDim.x: S(Key, m) + 2 S(u32, 2^R), and S(u32, m) with payload.
extern "C" __global__ void __launch_bounds__(1024) block_histogram_scatter(
    const Key* keys, const u32* payload, u32 n, u32 tile, u32 shift, u32 bits, const u32* l,
    const u32* g, Key* out, u32* payload_out, Key* sorted, u32* sorted_payload, u32* d) {
    BlockScatter block{keys, payload, n,           tile,   shift,          bits, l,
                       g,    out,     payload_out, sorted, sorted_payload, d};
    if (tile <= blockDim.x)
        scatter_block<1>(block);
    else
        scatter_block<ITEMS>(block);
}
