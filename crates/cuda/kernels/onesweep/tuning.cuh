// The tuning table: for each width of keys and values a wide tile for large inputs, one of blocks that
// wait for each other for middle sizes, and what one block sorts alone.
//
// A row's figures were measured on an H200 (docs/algorithms/onesweep.md, or the record in results/ that
// the row names): the best of those tried that lie in an odd number of keys for each digit value,
// threads * items / 256. Then the places of evenly spread digits, such as those of 0, 1, 2, ..., lie in
// different banks; with 8192 keys a tile such pairs were sorted at half the speed. `cargo xtask tune`
// finds and rewrites them: a row a line, its fields as in its struct.
//
// Tiles are bounded by shared memory: at most 227 KB a multiprocessor on Hopper and the large
// Blackwells, 163 on A100, 99 on the other Amperes, Ada and the small Blackwells, 64 on Turing. Those
// rows are Hopper's cut down, and not measured.
#pragma once

#include "../limits.cuh"
#include "pass.cuh"
#include "small.cuh"
#include "tiny.cuh"
#include "together.cuh"

// By bytes of a key and of its value, 0 for none. Threads of a block, keys a thread, blocks a
// multiprocessor.
struct Row {
    u32 key, value, threads, items, blocks;
};

constexpr Row WIDE_ROWS[] = {
    {1, 0, 384, 41, 3},
    {2, 0, 384, 41, 2},
    {4, 0, 384, 33, 2},
    {8, 0, 384, 22, 2},
    {16, 0, 256, 19, 2},
    {1, 4, 256, 33, 2},
    {2, 4, 256, 33, 2},
    {4, 4, 256, 33, 2},
    {8, 4, 384, 26, 1},
    {16, 4, 256, 15, 2},
    {1, 8, 384, 26, 1},
    {2, 8, 384, 26, 1},
    {4, 8, 384, 26, 1},
    {8, 8, 256, 17, 2},
    {16, 8, 256, 11, 2},
    {1, 16, 256, 15, 2},
    {2, 16, 256, 15, 2},
    {4, 16, 256, 15, 2},
    {8, 16, 256, 11, 2},
    {16, 16, 256, 7, 2},
};

// Of blocks that wait for each other. 1024 threads, which have half the registers, take 5 us more for 1e5
// keys; two blocks of 256, which have twice the words to read, as much.
constexpr Row TOGETHER_ROWS[] = {
    {1, 0, 512, 16, 1},
    {2, 0, 512, 16, 1},
    {4, 0, 512, 16, 1},
    {8, 0, 512, 16, 1},
    {16, 0, 512, 8, 1},
    {1, 4, 512, 16, 1},
    {2, 4, 512, 16, 1},
    {4, 4, 512, 16, 1},
    {8, 4, 512, 8, 1},
    {16, 4, 512, 4, 1},
    {1, 8, 512, 8, 1},
    {2, 8, 512, 8, 1},
    {4, 8, 512, 8, 1},
    {8, 8, 512, 8, 1},
    {16, 8, 512, 4, 1},
    {1, 16, 512, 4, 1},
    {2, 16, 512, 4, 1},
    {4, 16, 512, 4, 1},
    {8, 16, 512, 4, 1},
    {16, 16, 512, 4, 1},
};

// What one block sorts; of wider keys so few find their places among all (hybrid/ranked.cuh).
constexpr Row ALONE_ROWS[] = {
    {1, 0, 1024, 16, 1},
    {2, 0, 1024, 16, 1},
    {1, 4, 1024, 8, 1},
    {2, 4, 1024, 8, 1},
    {1, 8, 1024, 4, 1},
    {2, 8, 1024, 4, 1},
    {1, 16, 1024, 4, 1},
    {2, 16, 1024, 4, 1},
};

template <u32 ROWS>
constexpr Row row_of(const Row (&rows)[ROWS], u32 key, u32 value) {
    u32 i = 0;
    while (rows[i].key != key || rows[i].value != value) i++;
    return rows[i];
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

// With less shared memory one block has half the threads.
constexpr Row halved(Row row) {
    if (SHARED_KB < 163) row.threads /= 2;
    return row;
}

// One block beside the rows and masks of its warps, and so many words for each thread.
constexpr Row fitted_block(Row row, u32 bytes, u32 words) {
    u32 fixed = row.threads / WARP * RADIX * 8 + row.threads * words * 4 + 1024, each = row.threads * bytes;
    while (fixed + row.items * each > SHARED_KB * 1024) row.items--;
    return row;
}

constexpr Row alone_row(u32 bytes) {
    return {SHARED_KB >= 163 ? 1024u : 512u, bytes <= 4 ? 16u : bytes <= 8 ? 8u : 4u, 1};
}

template <class Key, class Value, Check CHECK>
struct Tuning {
    static constexpr u32 KEY = sizeof(Key), VALUE = IS_NOTHING<Value> ? 0 : sizeof(Value);
    // Short keys alone that carry tags are as long as short pairs.
    static constexpr bool TAGGED = CHECK == Check::TAGS && VALUE == 0 && KEY <= 2;
    static constexpr Row WIDE = fitted(row_of(WIDE_ROWS, KEY, TAGGED ? 4 : VALUE), KEY + VALUE);
    using Wide = Shape<Key, Value, WIDE.threads, WIDE.items, WIDE.blocks, CHECK>;
    using Disordered = Shape<Key, Value, RADIX, 9, 4, CHECK, RankDisordered>;
    static constexpr Row TOGETHER = fitted_block(row_of(TOGETHER_ROWS, KEY, VALUE), KEY + VALUE, 3);
    using Together = ::Together<Key, Value, TOGETHER.threads, TOGETHER.items>;
    static constexpr bool HAS_ALONE = KEY <= 2;
    struct OneBlock {
        static constexpr Row ALONE = fitted_block(halved(row_of(ALONE_ROWS, KEY, VALUE)), KEY + VALUE, 0);
        using Alone = Small<Key, Value, ALONE.threads, ALONE.items>;
    };
};
