// The tuning table: for each width of values, a wide tile for large inputs and a narrow one for
// middle sizes, where more blocks matter more than long runs; and what one block sorts alone.
//
// Tiles are bounded by shared memory: at most 227 KB a block on Hopper and the large Blackwells, 163
// on A100, 99 on the other Amperes, Ada and the small Blackwells, 64 on Turing. Rows other than
// Hopper's are its own cut down to these, and not measured.
#pragma once

#include "pass.cuh"
#include "small.cuh"

#if __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
constexpr u32 SHARED_KB = 227;
#elif __CUDA_ARCH__ == 800
constexpr u32 SHARED_KB = 163;
#elif __CUDA_ARCH__ == 750
constexpr u32 SHARED_KB = 64;
#else
constexpr u32 SHARED_KB = 99;
#endif

// Keys a thread, of 512 in a wide tile, where keys and values come to so many bytes together.
constexpr u32 wide_items(u32 bytes) {
    u32 most = bytes <= 2    ? 48
               : bytes <= 4  ? 36
               : bytes <= 8  ? 20
               : bytes <= 12 ? 16
               : bytes <= 16 ? 12
                             : 8;
    // 24 KB for the rest; keys, values and tags; 512 of each.
    u32 fit = (SHARED_KB - 24) * 1024 / (512 * (bytes + 2));
    return most < fit ? most : fit;
}

template <class Key, class Value, Check CHECK>
struct Tuning {
    static constexpr u32 BYTES = sizeof(Key) + (IS_NOTHING<Value> ? 0 : sizeof(Value));
    using Wide = Shape<Key, Value, 512, wide_items(BYTES), 1, RankByAdd, CHECK>;
    using Narrow = Shape<Key, Value, 256, BYTES <= 16 ? 8 : 4, 2, RankByAdd, CHECK>;
    static constexpr u32 SMALL_THREADS = SHARED_KB >= 163 ? 1024 : 512;
    using Alone = Small<
        Key, Value, SMALL_THREADS,
        BYTES <= 4   ? 16
        : BYTES <= 8 ? 8
                     : 4,
        RankByMatch<MatchMasks>>;
};
