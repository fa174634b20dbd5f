// coalesced: block-local buckets first, so that neighbours are written together (Parallel sorting
// notes).
//
//     for each digit of R bits:
//         digit     each key's digit
//         before    how many keys of its digit stand before it in its block; for R = 1, as the text
//                   has it, how many ones do
//         sizes     how many keys of each digit each block has: its local buckets
//         offsets   exclusive scan of the sizes (scan.cu), digit by digit over the blocks
//         d         offsets[k][b] + rank, which is before; for R = 1 and a 0, i in the block - before
//         out       each block, bucket by bucket in shared memory, to out[d]
//
// Shapes, with p = ceil(n / tile) blocks of `tile` keys: sizes and offsets 2^R rows of p; the rest
// n. digit and before are not kept in memory: the first kernel counts, the second ranks.
#include "block_scan.cuh"
#include "histogram.cuh"

// sizes: a histogram in shared memory, written as a column.
// Grid: p. blockDim: any. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(1024) coalesced_sizes(
    const Key* __restrict__ keys, u32 n, u32 tile, u32 shift, u32 bits, u32* __restrict__ sizes) {
    u32 start = blockIdx.x * tile, p = gridDim.x;
    u32* column = sizes + blockIdx.x;
    tile_histogram(keys + start, min(tile, n - start), shift, bits, [=](u32 k, u32 count) {
        column[u64(k) * p] = count;
    });
}

// Payloads may be null, and so may the arrays to be shown: digit, before, d.
struct Bucketing {
    const Key* __restrict__ keys;
    const u32* __restrict__ payload;
    u32 n, tile, shift, bits;
    const u32* __restrict__ offsets;
    Key* __restrict__ out;
    u32* __restrict__ payload_out;
    u32 *digit, *before, *d;
};

// A block's keys in registers, each warp with its own stretch of the tile, each of its rows of 32
// neighbours read together; and the rank of each, which is how many of its digit are before it.
template <u32 ITEMS_>
struct Ranks {
    Key key[ITEMS_];
    u32 rank[ITEMS_];

    // Where in the tile the j-th key of this thread stands.
    __device__ static u32 index(u32 j) {
        return (threadIdx.x / WARP * ITEMS_ + j) * WARP + threadIdx.x % WARP;
    }

    // Which threads of the warp have this digit: those that agree in every bit.
    __device__ static u32 peers(u32 digit, u32 bits) {
        u32 same = ~0u;
#pragma unroll
        for (u32 bit = 0; bit < bits; bit++) {
            bool set = digit & (1u << bit);
            u32 ones = __ballot_sync(~0u, set);
            same &= set ? ones : ~ones;
        }
        return same;
    }

    // Each warp ranks its own keys, row by row. own: counts its digits. BITS is R, or 0 for any R.
    template <u32 BITS>
    __device__ void rank_rows(u32 shift, u32 bits, u32* own) {
        u32 lanes_before = (1u << threadIdx.x % WARP) - 1;
#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++) {
            u32 k = digit_of(key[j], shift, BITS ? BITS : bits), same = peers(k, BITS ? BITS : bits);
            u32 peers_before = __popc(same & lanes_before);
            rank[j] = own[k] + peers_before;
            __syncwarp();
            if (peers_before == 0) own[k] += __popc(same);
            __syncwarp();
        }
    }

    // counts: a row of 2^R for each warp, in shared memory. First each warp ranks its own keys; then,
    // digit by digit, the warps before it are added. begin: gets where the block's buckets begin.
    // Behind the last key of a short tile stand guards of the last digit: they come after all that
    // count.
    __device__ void find(const Bucketing& a, u32 start, u32 count, u32* counts, u32* begin) {
        u32 radix = 1u << a.bits, warps = blockDim.x / WARP;
        u32* own = counts + threadIdx.x / WARP * radix;

#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++) key[j] = index(j) < count ? a.keys[start + index(j)] : ~Key(0);
        for (u32 i = threadIdx.x; i < warps * radix; i += blockDim.x) counts[i] = 0;
        __syncthreads();

        if (a.bits == 4)
            rank_rows<4>(a.shift, 4, own);
        else if (a.bits == 8)
            rank_rows<8>(a.shift, 8, own);
        else
            rank_rows<0>(a.shift, a.bits, own);
        __syncthreads();

        for (u32 k = threadIdx.x; k < radix; k += blockDim.x) {
            u32 sum = 0;
            for (u32 warp = 0; warp < warps; warp++) {
                u32 of_warp = counts[warp * radix + k];
                counts[warp * radix + k] = sum;
                sum += of_warp;
            }
            begin[bank<u32>(k)] = sum;
        }
        block_scan(begin, radix);
#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++) rank[j] += own[digit_of(key[j], a.shift, a.bits)];
    }

    // The arrays to be shown.
    __device__ void show(const Bucketing& a, u32 start, u32 count) const {
        if (!a.digit && !a.before) return;
        for (u32 j = 0; j < ITEMS_; j++) {
            u32 i = index(j), k = digit_of(key[j], a.shift, a.bits);
            if (i < count && a.digit) a.digit[start + i] = k;
            if (i < count && a.before)
                a.before[start + i] = a.bits == 1 && k == 0 ? i - rank[j] : rank[j];
        }
    }
};

template <u32 ITEMS_>
__device__ inline void scatter_buckets(const Bucketing& a) {
    u32 radix = 1u << a.bits, room = ITEMS_ * blockDim.x;
    Shared shared;
    u32* counts = shared.take<u32>(blockDim.x / WARP * radix);
    u32* begin = shared.take<u32>(radix);
    u32* base = shared.take<u32>(radix);
    Key* bucket = shared.take<Key>(room);
    u32* payload = a.payload ? shared.take<u32>(room) : nullptr;
    u32 start = blockIdx.x * a.tile, count = min(a.tile, a.n - start);

    // Load and rank.
    Ranks<ITEMS_> keys;
    keys.find(a, start, count, counts, begin);
    keys.show(a, start, count);

    // How far each bucket goes from where it begins in shared memory.
    for (u32 k = threadIdx.x; k < radix; k += blockDim.x)
        base[k] = a.offsets[u64(k) * gridDim.x + blockIdx.x] - begin[bank<u32>(k)];

    // Local buckets.
#pragma unroll
    for (u32 j = 0; j < ITEMS_; j++) {
        u32 i = keys.index(j), k = digit_of(keys.key[j], a.shift, a.bits);
        keys.rank[j] += begin[bank<u32>(k)];
        if (i < count) bucket[keys.rank[j]] = keys.key[j];
        if (i < count && a.d) {
            u32 local = keys.rank[j] - begin[bank<u32>(k)];
            a.d[start + i] = a.offsets[u64(k) * gridDim.x + blockIdx.x] + local;
        }
    }
    if (payload) {
        u32 carried[ITEMS_];
#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++)
            carried[j] = keys.index(j) < count ? a.payload[start + keys.index(j)] : 0;
#pragma unroll
        for (u32 j = 0; j < ITEMS_; j++)
            if (keys.index(j) < count) payload[keys.rank[j]] = carried[j];
    }
    __syncthreads();

    // Bucket by bucket, neighbours together.
#pragma unroll
    for (u32 j = 0; j < ITEMS_; j++) {
        u32 i = j * blockDim.x + threadIdx.x;
        if (i < count) {
            Key key = bucket[i];
            u32 d = base[digit_of(key, a.shift, a.bits)] + i;
            a.out[d] = key;
            if (payload) a.payload_out[d] = payload[i];
        }
    }
}

// Local buckets, d, and out.
// Grid: p (no more: the offsets' rows are as long). tile: ITEMS * blockDim.x at most. Shared, with m =
// blockDim.x if tile is no more than that, else ITEMS * blockDim.x:
// S(u32, blockDim.x / 32 * 2^R) + 2 S(u32, 2^R) + S(Key, m), and S(u32, m) with payload.
extern "C" __global__ void __launch_bounds__(1024) coalesced_scatter(
    const Key* keys, const u32* payload, u32 n, u32 tile, u32 shift, u32 bits, const u32* offsets,
    Key* out, u32* payload_out, u32* digit, u32* before, u32* d) {
    Bucketing bucketing{keys,    payload, n,           tile,  shift,  bits,
                        offsets, out,     payload_out, digit, before, d};
    if (tile <= blockDim.x)
        scatter_buckets<1>(bucketing);
    else
        scatter_buckets<ITEMS>(bucketing);
}

template <u32 ITEMS_>
__device__ inline void scatter_straight(const Bucketing& a) {
    u32 radix = 1u << a.bits;
    Shared shared;
    u32* counts = shared.take<u32>(blockDim.x / WARP * radix);
    u32* base = shared.take<u32>(radix);
    u32 start = blockIdx.x * a.tile, count = min(a.tile, a.n - start);

    // Load and rank.
    Ranks<ITEMS_> keys;
    keys.find(a, start, count, counts, base);
    keys.show(a, start, count);

    // Where each bucket goes.
    for (u32 k = threadIdx.x; k < radix; k += blockDim.x)
        base[k] = a.offsets[u64(k) * gridDim.x + blockIdx.x];
    __syncthreads();

    // Each key on its own.
#pragma unroll
    for (u32 j = 0; j < ITEMS_; j++) {
        u32 i = keys.index(j);
        if (i < count) {
            u32 d = base[digit_of(keys.key[j], a.shift, a.bits)] + keys.rank[j];
            a.out[d] = keys.key[j];
            if (a.payload) a.payload_out[d] = a.payload[start + i];
            if (a.d) a.d[start + i] = d;
        }
    }
}

// The same without local buckets: each key straight from its register to its place, so that the gain
// can be seen. Arguments, grid and tile as coalesced_scatter.
// Shared: S(u32, blockDim.x / 32 * 2^R) + S(u32, 2^R).
extern "C" __global__ void __launch_bounds__(1024) coalesced_plain_scatter(
    const Key* keys, const u32* payload, u32 n, u32 tile, u32 shift, u32 bits, const u32* offsets,
    Key* out, u32* payload_out, u32* digit, u32* before, u32* d) {
    Bucketing bucketing{keys,    payload, n,           tile,  shift,  bits,
                        offsets, out,     payload_out, digit, before, d};
    if (tile <= blockDim.x)
        scatter_straight<1>(bucketing);
    else
        scatter_straight<ITEMS>(bucketing);
}
