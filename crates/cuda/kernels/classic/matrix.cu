// The transpose of a matrix that lies row by row: out[c * rows + r] = in[r * columns + c].
//
// A tile of 32 x 32 numbers goes through shared memory, so that both the reads and the writes are
// of neighbouring words. A row of the tile is one word longer than it need be: a column read from
// shared memory then meets all 32 banks.
#include "keys.cuh"

constexpr u32 SIDE = 32;

// Block: (32, 8), or any (32, m). Grid: ceil(rows / 32) * ceil(columns / 32). Shared: none but its
// own. out must not be in.
extern "C" __global__ void __launch_bounds__(1024) transpose(
    const u32* in, u32* out, u32 rows, u32 columns) {
    __shared__ u32 tile[SIDE][SIDE + 1];
    u32 tiles_across = (columns + SIDE - 1) / SIDE;
    u32 row = blockIdx.x / tiles_across * SIDE, column = blockIdx.x % tiles_across * SIDE;

    for (u32 y = threadIdx.y; y < SIDE; y += blockDim.y) {
        u32 r = row + y, c = column + threadIdx.x;
        if (r < rows && c < columns) tile[y][threadIdx.x] = in[u64(r) * columns + c];
    }
    __syncthreads();
    for (u32 y = threadIdx.y; y < SIDE; y += blockDim.y) {
        u32 c = column + y, r = row + threadIdx.x;
        if (r < rows && c < columns) out[u64(c) * rows + r] = tile[threadIdx.x][y];
    }
}
