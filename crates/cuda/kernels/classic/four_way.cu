// four-way: one or two bits a pass, with a flag array and a scan for each digit (2-way and 4-way
// radix sort).
//
//     for each digit of one or two bits:
//         compact_k   1 where the digit is k
//         scan_k      its exclusive scan (scan.cu), with the total as entry n;
//                     with one bit, scan_1[i] = i - scan_0[i] saves the second scan
//         d           scan_k[i] + the totals of all digits below k
//         out         out[d[i]] = in[i]
//
// Shapes: compact_k and scan_k n + 1, for k in 0..2 or 0..4, `stride` numbers apart in one array;
// compact_k[n] is 0, so that the scan of n + 1 numbers has the total as its last. The scans may
// overwrite the flags. The rest n.
#include "keys.cuh"

// The flags of each digit.
// Grid: ceil((n + 1) / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) four_way_compact(
    const Key* __restrict__ keys, u32 n, u32 shift, u32 bits, u32* compact, u32 stride) {
    Key key[LANES];
    load(keys, n, key);

    for (u32 k = 0; k < 1u << bits; k++) {
        u32 flag[LANES];
#pragma unroll
        for (u32 j = 0; j < LANES; j++)
            flag[j] = lane_index(j) < n && digit_of(key[j], shift, bits) == k;
        store(flag, n + 1, compact + u64(k) * stride);
    }
}

// d, and the scatter. With one bit `scan` holds scan_0 alone, and scan_1, where it is not null, gets
// its n + 1 numbers; with two bits it is not used. payload and payload_out may be null; so may d.
// Grid: ceil((n + 1) / (LANES * blockDim.x)). Shared: none.
extern "C" __global__ void __launch_bounds__(1024) four_way_scatter(
    const Key* __restrict__ keys, const u32* __restrict__ payload, u32 n, u32 shift, u32 bits,
    const u32* __restrict__ scan, u32 stride, Key* __restrict__ out, u32* __restrict__ payload_out,
    u32* scan_1, u32* d) {
    Key key[LANES];
    load(keys, n, key);
    u32 place[LANES];

    if (bits == 1) {
        u32 zeros[LANES], ones[LANES];
        load(scan, n + 1, zeros);
        u32 all_zeros = scan[n];
#pragma unroll
        for (u32 j = 0; j < LANES; j++) {
            ones[j] = lane_index(j) - zeros[j];
            place[j] = digit_of(key[j], shift, 1) ? all_zeros + ones[j] : zeros[j];
        }
        store(ones, n + 1, scan_1);
    } else {
        // Where each digit's keys begin.
        u32 begin[4] = {0};
#pragma unroll
        for (u32 k = 1; k < 4; k++) begin[k] = begin[k - 1] + scan[u64(k - 1) * stride + n];
#pragma unroll
        for (u32 j = 0; j < LANES; j++) {
            u32 i = lane_index(j), k = digit_of(key[j], shift, 2);
            u32 below = k < 2 ? (k == 0 ? begin[0] : begin[1]) : (k == 2 ? begin[2] : begin[3]);
            place[j] = i < n ? below + scan[u64(k) * stride + i] : 0;
        }
    }

    scatter(key, place, n, out);
    if (payload) {
        u32 carried[LANES];
        load(payload, n, carried);
        scatter(carried, place, n, payload_out);
    }
    store(place, n, d);
}
