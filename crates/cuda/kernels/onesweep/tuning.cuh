// The tuning table: for each width of keys and values a wide tile for large inputs, a narrow one for
// middle sizes, where more blocks matter more than long runs, and what one block sorts alone.
//
// A row's figures were measured on an H200 (docs/algorithms/onesweep.md): the best of those tried that
// lie in an odd number of keys for each digit value, threads * items / 256. Then the places of evenly
// spread digits, such as those of 0, 1, 2, ..., lie in different banks; with 8192 keys a tile such
// pairs were sorted at half the speed.
//
// Tiles are bounded by shared memory: at most 227 KB a multiprocessor on Hopper and the large
// Blackwells, 163 on A100, 99 on the other Amperes, Ada and the small Blackwells, 64 on Turing. Those
// rows are Hopper's cut down, and not measured.
#pragma once

#include "../limits.cuh"
#include "pass.cuh"
#include "small.cuh"
#include "tiny.cuh"

// Threads of a block, keys a thread, blocks a multiprocessor.
struct Row {
    u32 threads, items, blocks;
};

// By bytes of a key and of its value, 0 for none.
constexpr Row wide_row(u32 key, u32 value) {
    u32 bytes = key + value;
    if (value == 0)
        return key == 1    ? Row{384, 41, 3}
               : key == 2  ? Row{384, 41, 2}
               : key == 4  ? Row{384, 33, 2}
               : key == 8  ? Row{384, 22, 2}
                           : Row{256, 19, 2};
    return bytes <= 8    ? Row{256, 33, 2}
           : bytes <= 12 ? Row{384, 26, 1}
           : bytes <= 16 ? Row{256, 17, 2}
           : bytes <= 20 ? Row{256, 15, 2}
           : bytes <= 24 ? Row{256, 11, 2}
                         : Row{256, 7, 2};
}

constexpr Row narrow_row(u32 key, u32 value) {
    u32 bytes = key + value;
    return bytes <= 12 ? Row{256, 9, 4} : bytes <= 16 ? Row{256, 7, 3} : Row{256, 5, 2};
}

// As many blocks as shared memory holds, and then as many keys: each with its value and a tag, beside
// the rows of the warps and 4 KB for all else.
constexpr Row fitted(Row row, u32 bytes) {
    u32 fixed = row.threads / WARP * RADIX * 4 + 4096, each = row.threads * (bytes + 2);
    // The hardware keeps 1 KB of each block for itself.
    while (row.blocks > 1 && row.blocks * (fixed + row.items * each + 1024) > (SHARED_KB + 1) * 1024)
        row.blocks--;
    while (fixed + row.items * each > SHARED_KB * 1024) row.items -= 2;
    return row;
}

// What one block sorts alone: beside the rows and masks of its warps.
constexpr Row fitted_alone(u32 bytes) {
    Row row = {SHARED_KB >= 163 ? 1024u : 512u, bytes <= 4 ? 16u : bytes <= 8 ? 8u : 4u, 1};
    u32 fixed = row.threads / WARP * RADIX * 8 + 1024, each = row.threads * bytes;
    while (fixed + row.items * each > SHARED_KB * 1024) row.items--;
    return row;
}

template <class Key, class Value, Check CHECK>
struct Tuning {
    static constexpr u32 KEY = sizeof(Key), VALUE = IS_NOTHING<Value> ? 0 : sizeof(Value);
    // Short keys alone that carry tags are as long as short pairs.
    static constexpr bool TAGGED = CHECK == Check::TAGS && VALUE == 0 && KEY <= 2;
    static constexpr Row WIDE = fitted(TAGGED ? wide_row(KEY, 4) : wide_row(KEY, VALUE), KEY + VALUE);
    static constexpr Row NARROW = fitted(narrow_row(KEY, VALUE), KEY + VALUE);
    using Wide = Shape<Key, Value, WIDE.threads, WIDE.items, WIDE.blocks, CHECK>;
    // Narrow tiles are checked by tags, so that keys alone have one kernel for whole keys and ranges.
    using Narrow = Shape<Key, Value, NARROW.threads, NARROW.items, NARROW.blocks, Check::TAGS>;
    using Disordered =
        Shape<Key, Value, NARROW.threads, NARROW.items, NARROW.blocks, CHECK, RankDisordered>;
    static constexpr Row ALONE = fitted_alone(KEY + VALUE);
    using Alone = Small<Key, Value, ALONE.threads, ALONE.items>;
};
