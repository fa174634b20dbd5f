// The exclusive scan of a whole array of u32, through the sums of blocks.
//
//     scan_blocks   each block scans its part; its sum goes to Z
//     scan of Z     the same again, until one block is enough
//     add_sums      each block's numbers += the scanned Z of the block
//
// Shapes: array n; Z one number a block, ceil(n / B), with B = SCAN_ITEMS * blockDim.x. blockIdx.y
// picks one of several arrays that are scanned side by side, `stride` numbers apart, their Z
// `z_stride` apart; gridDim.y is 1 for one array.
//
// In a block, each thread adds up SCAN_ITEMS neighbours by itself: those are the lowest levels of
// the tree. The sweeps go over the threads' sums.
#include "block_scan.cuh"

constexpr u32 SCAN_ITEMS = 16;

// Each block's exclusive scan; out may be in. z may be null where one block is enough.
// Grid: (ceil(n / B), arrays). Shared: S(u32, B) + S(u32, blockDim.x).
extern "C" __global__ void __launch_bounds__(1024) scan_blocks(
    const u32* in, u32* out, u32 n, u32 stride, u32* z, u32 z_stride) {
    Shared shared;
    u32* part = shared.take<u32>(SCAN_ITEMS * blockDim.x);
    u32* tree = shared.take<u32>(blockDim.x);
    u32 start = blockIdx.x * SCAN_ITEMS * blockDim.x;
    in += u64(blockIdx.y) * stride;
    out += u64(blockIdx.y) * stride;

    // Where this thread's numbers lie in shared memory while neighbouring threads have neighbours.
    u32 lane = bank<u32>(threadIdx.x), row = bank<u32>(blockDim.x);

    // Load the block's part.
    u32 value[SCAN_ITEMS];
#pragma unroll
    for (u32 j = 0; j < SCAN_ITEMS; j++) {
        u32 i = start + j * blockDim.x + threadIdx.x;
        value[j] = i < n ? in[i] : 0;
    }
#pragma unroll
    for (u32 j = 0; j < SCAN_ITEMS; j++) part[lane + j * row] = value[j];
    __syncthreads();

    // Each thread's sum, and the scan of these.
    u32 first = threadIdx.x * SCAN_ITEMS, sum = 0;
#pragma unroll
    for (u32 j = 0; j < SCAN_ITEMS; j++) sum += value[j] = part[bank<u32>(first + j)];
    tree[bank<u32>(threadIdx.x)] = sum;
    u32 total = block_scan(tree, blockDim.x);

    // On from what stands before the thread.
    u32 before = tree[bank<u32>(threadIdx.x)];
#pragma unroll
    for (u32 j = 0; j < SCAN_ITEMS; j++) {
        part[bank<u32>(first + j)] = before;
        before += value[j];
    }
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < SCAN_ITEMS; j++) {
        u32 i = start + j * blockDim.x + threadIdx.x;
        if (i < n) out[i] = part[lane + j * row];
    }
    if (z && threadIdx.x == 0) z[u64(blockIdx.y) * z_stride + blockIdx.x] = total;
}

// To each number of block b the scanned Z[b] is added: the sum of the blocks before it.
// Grid and blockDim: as scan_blocks. Shared: none.
extern "C" __global__ void __launch_bounds__(1024) add_sums(
    u32* array, u32 n, u32 stride, const u32* z, u32 z_stride) {
    u32 before = z[u64(blockIdx.y) * z_stride + blockIdx.x];
    u32 start = blockIdx.x * SCAN_ITEMS * blockDim.x;
    array += u64(blockIdx.y) * stride;

    // A few numbers at a time: more are in the way of more threads.
    constexpr u32 BATCH = 4;
#pragma unroll 1
    for (u32 first = start + threadIdx.x; first < start + SCAN_ITEMS * blockDim.x;
         first += BATCH * blockDim.x) {
        u32 value[BATCH];
#pragma unroll
        for (u32 j = 0; j < BATCH; j++) {
            u32 i = first + j * blockDim.x;
            value[j] = i < n ? array[i] : 0;
        }
#pragma unroll
        for (u32 j = 0; j < BATCH; j++) {
            u32 i = first + j * blockDim.x;
            if (i < n) array[i] = value[j] + before;
        }
    }
}
