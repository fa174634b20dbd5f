// The tuning table of the hybrid sort: for each key width, what its kernels are shaped like.
//
// A row's figures were measured on an H200 (docs/algorithms/hybrid.md). Where a multiprocessor has less
// shared memory, a row keeps its threads and loses keys until it fits; such rows are not measured.
#pragma once

#include "../limits.cuh"
#include "alone.cuh"
#include "count.cuh"
#include "lay_out.cuh"
#include "local.cuh"
#include "partition.cuh"
#include "probe.cuh"
#include "refine.cuh"
#ifndef __CUDACC_RTC__
#include "together.cuh"
#endif

// Threads of a block, keys a thread, blocks a multiprocessor; bits of a digit, and of its counters' number.
struct PartitionRow {
    u32 threads, items, blocks, digit_bits, copy_bits;
};

// By bytes of a key. Large inputs, with digits of 8 bits at most; and smaller ones.
constexpr PartitionRow wide_row(u32 key) {
    return key == 4   ? PartitionRow{1024, 36, 1, 8, 5}
           : key == 8 ? PartitionRow{1024, 19, 1, 8, 4}
                      : PartitionRow{768, 11, 1, 8, 4};
}

constexpr PartitionRow narrow_row(u32 key) {
    return key <= 8 ? PartitionRow{512, 9, 2, 9, 2} : PartitionRow{512, 9, 1, 9, 2};
}

// Of refine.
constexpr PartitionRow refine_row(u32 key) {
    return key == 4   ? PartitionRow{512, 27, 2, 8, 3}
           : key == 8 ? PartitionRow{512, 15, 2, 8, 3}
                      : PartitionRow{512, 9, 1, 8, 3};
}

// Threads of a block, slots that a lane orders, keys, bits of a bin, blocks a multiprocessor.
struct LocalRow {
    u32 threads, items, keys, bin_bits, blocks;
};

constexpr LocalRow cell_row(u32 key) {
    return key == 4   ? LocalRow{128, 38, 4480, 11, 7}
           : key == 8 ? LocalRow{256, 18, 4480, 11, 4}
                      : LocalRow{256, 18, 4480, 11, 2};
}

// Pieces that refine leaves; with less code.
constexpr LocalRow piece_row(u32 key) {
    return key == 4 ? LocalRow{256, 18, 4480, 11, 5} : cell_row(key);
}

constexpr LocalRow alone_row(u32 key) {
    return key == 4   ? LocalRow{512, 10, 4480, 11, 1}
           : key == 8 ? LocalRow{512, 10, 4480, 11, 1}
                      : LocalRow{512, 10, 4480, 11, 1};
}

// Threads of a block, keys a thread; threads that sort a cell, keys that each of them has, and orders
// at a time.
struct TogetherRow {
    u32 threads, items, group, group_items, lanes;
};

constexpr TogetherRow together_row(u32 key) {
    return key == 4   ? TogetherRow{1024, 16, 256, 12, 2}
           : key == 8 ? TogetherRow{1024, 12, 256, 12, 1}
                      : TogetherRow{1024, 6, 256, 6, 1};
}

// Shared memory that each of a multiprocessor's blocks can have; the hardware keeps 1 KB of each.
constexpr u32 room(u32 blocks) { return (SHARED_KB + 1) * 1024 / blocks - 1024; }

constexpr PartitionRow fitted(PartitionRow row, u32 key) {
    u32 digits = 1u << row.digit_bits, fixed = 4 * ((digits << row.copy_bits) + 6 * digits) + 1024;
    while (fixed + row.threads * row.items * key / 32 * 33 > room(row.blocks)) row.items--;
    return row;
}

constexpr LocalRow fitted(LocalRow row, u32 key) {
    u32 warps = row.threads / WARP;
    while (true) {
        u32 slots = row.keys + WARP * row.items;
        u32 bins = 4u << row.bin_bits, fetched = key > 4 ? 2 * slots : 0;
        if (slots * key + (bins > fetched ? bins : fetched) + 1024 <= room(1)) return row;
        row.items -= 4;
        u32 most = warps * (WARP * row.items - 12);
        if (row.keys > most) row.keys = most;
    }
}

constexpr TogetherRow fitted(TogetherRow row, u32 key) {
    u32 begins = 4 * 1024 + 1024, counts = 2 * 4 * 1024 + 512;
    u32 groups = row.threads / row.group, bins = row.group * 8 * 4 + 128;
    while (begins + counts + row.threads * row.items * key > room(1)) row.items--;
    while (begins + groups * (bins + row.group * row.group_items * key) > room(1)) row.group_items--;
    return row;
}

template <class Key>
struct Tuning {
    static constexpr u32 KEY = sizeof(Key);
    static constexpr PartitionRow WIDE = fitted(wide_row(KEY), KEY), NARROW = fitted(narrow_row(KEY), KEY);
    static constexpr PartitionRow TILES = fitted(refine_row(KEY), KEY);
    static constexpr LocalRow CELL = fitted(cell_row(KEY), KEY), PIECE = fitted(piece_row(KEY), KEY);
    static constexpr LocalRow ALONE = fitted(alone_row(KEY), KEY);
    static constexpr TogetherRow WHOLE = fitted(together_row(KEY), KEY);

    template <u32 T, u32 I, u32 B, u32 D, u32 C>
    using Tiles = PartitionShape<Key, T, I, B, D, C>;
    template <u32 T, u32 I, u32 K, u32 D, u32 B>
    using Cells = LocalShape<Key, T, I, K, D, B>;
#define TILES_OF(R) Tiles<R.threads, R.items, R.blocks, R.digit_bits, R.copy_bits>
#define CELLS_OF(R) Cells<R.threads, R.items, R.keys, R.bin_bits, R.blocks>
    using Wide = TILES_OF(WIDE);
    using Narrow = TILES_OF(NARROW);
    using Cell = CELLS_OF(CELL);
    using RefinedCell = CELLS_OF(PIECE);
    using Alone = CELLS_OF(ALONE);
    using Refined = RefineShape<TILES_OF(TILES), PIECE.keys>;
#undef TILES_OF
#undef CELLS_OF
#ifndef __CUDACC_RTC__
    using Whole = TogetherShape<Key, WHOLE.threads, WHOLE.items,
                                GroupShape<Key, WHOLE.group, WHOLE.group_items, WHOLE.lanes>>;
#endif
};
