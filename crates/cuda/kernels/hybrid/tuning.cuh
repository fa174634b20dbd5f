// The tuning table of the hybrid sort: for each key width, what its kernels are shaped like.
//
// A row's figures were measured on an H200 (docs/algorithms/hybrid.md, or the record in results/ that
// the row names). `cargo xtask tune` finds and rewrites them: a row a line, its fields as in its struct.
// Where a multiprocessor has less shared memory, a row keeps its threads and loses keys until it fits;
// such rows are not measured.
#pragma once

#include "../limits.cuh"
#include "alone.cuh"
#include "composite.cuh"
#include "count.cuh"
#include "lay_out.cuh"
#include "local.cuh"
#include "local_large.cuh"
#include "local_quantiles.cuh"
#include "local_tally.cuh"
#include "local_values.cuh"
#include "partition.cuh"
#include "places.cuh"
#include "probe.cuh"
#include "ranked_out_of_place.cuh"
#include "refine.cuh"
#include "rooms.cuh"
#include "weave.cuh"
#ifndef __CUDACC_RTC__
#include "ranked.cuh"
#include "together.cuh"
#endif

// By bytes of a key. Threads of a block, keys a thread, blocks a multiprocessor; bits of a digit, and of
// its counters' number.
struct PartitionRow {
    u32 key, threads, items, blocks, digit_bits, copy_bits;
};

// Inputs that are partitioned twice, with digits of 8 bits at most.
constexpr PartitionRow TWICE_ROWS[] = {
    {4, 1024, 36, 1, 8, 5},
    {8, 1024, 19, 1, 8, 4},  // results/2026-11-22-h200-tune-hybrid-wide-64.json
    {16, 768, 11, 1, 8, 4},
};

// Those of them that are not large: while one block of a multiprocessor waits for its first or its last tile, the other
// goes on.
constexpr PartitionRow MIDDLE_ROWS[] = {
    {4, 512, 25, 2, 7, 4},
};

// The second time, from rooms. Of 2^24 keys each of the 264 blocks of an H200 has five tiles, and none a sixth.
constexpr PartitionRow MIDDLE_ROOMS_ROWS[] = {
    {4, 512, 26, 2, 7, 4},
};

// Those that are partitioned once, with more bits.
constexpr PartitionRow ONCE_ROWS[] = {
    {4, 1024, 36, 1, 10, 2},
    {8, 1024, 19, 1, 11, 2},
    {16, 512, 9, 1, 9, 2},
};

// Of keys whose cells quantiles tell.
constexpr PartitionRow QUANTILE_ROWS[] = {
    {8, 1024, 17, 1, 8, 4},
};

// Of composites: the first partition.
constexpr PartitionRow COMPOSITE_ROWS[] = {
    {8, 1024, 19, 1, 8, 4},
};

// Of refine.
constexpr PartitionRow REFINE_ROWS[] = {
    {4, 512, 27, 2, 8, 3},
    {8, 512, 15, 2, 8, 3},
    {16, 512, 9, 1, 8, 3},
};

// Threads of a block, slots that a lane orders, keys, bits of a bin, blocks a multiprocessor.
struct LocalRow {
    u32 key, threads, items, keys, bin_bits, blocks;
};

constexpr LocalRow CELL_ROWS[] = {
    {4, 128, 38, 4480, 11, 7},  // results/2026-11-22-h200-tune-hybrid-cell.json
    {8, 256, 18, 4480, 11, 4},  // results/2026-11-22-h200-tune-hybrid-cell-64.json
    {16, 256, 18, 4480, 11, 2},
};

// Cells that quantiles tell. They are less even than others.
constexpr LocalRow QUANTILE_CELL_ROWS[] = {
    {8, 512, 10, 4912, 11, 3},
};

constexpr LocalRow COMPOSITE_CELL_ROWS[] = {
    {8, 256, 18, 4480, 11, 4},
};

// Cells that are too large for these: up to about twice as large, and larger. Blocks of local run beside
// them, so a multiprocessor's share of shared memory should be the same for both: with 200 KB for 128 bits
// little was left of the L1 cache, and the whole sort took 5% longer where there were no large cells.
constexpr LocalRow DOUBLE_ROWS[] = {
    {4, 512, 18, 9024, 12, 2},
    {8, 512, 18, 9024, 12, 2},
    {16, 512, 18, 9024, 12, 1},
};

constexpr LocalRow LARGE_ROWS[] = {
    {4, 512, 34, 17216, 12, 2},
    {8, 512, 18, 9024, 12, 2},
    {16, 512, 18, 9024, 12, 1},
};

// Cells of which 16 bits are left. Threads of a block, keys, blocks a multiprocessor.
struct TallyRow {
    u32 key, threads, keys, blocks;
};

constexpr TallyRow TALLY_ROWS[] = {
    {4, 128, 4480, 8},
};

// Pieces that refine leaves; with less code.
constexpr LocalRow PIECE_ROWS[] = {
    {4, 256, 18, 4480, 11, 4},
    {8, 256, 18, 4480, 11, 4},
    {16, 256, 18, 4480, 11, 2},
};

// Small inputs.
constexpr LocalRow ALONE_ROWS[] = {
    {4, 512, 6, 2048, 11, 1},
    {8, 512, 6, 2048, 11, 1},
    {16, 512, 10, 4096, 11, 1},
};

// Those that are up to about twice as large. One kernel for all would run more code for the smallest.
constexpr LocalRow ALONE_DOUBLE_ROWS[] = {
    {4, 448, 10, 3584, 11, 1},
    {8, 512, 10, 4096, 11, 1},
};

// Threads of a block, at most, that finds where each of its keys belongs among all.
struct RankedRow {
    u32 key, threads;
};

constexpr RankedRow RANKED_ROWS[] = {
    {4, 1024},
    {8, 1024},
    {16, 1024},
};

// The same where the result goes elsewhere. Threads of a block, keys whose places it finds, others that a thread
// has at a time.
struct RankedOutOfPlaceRow {
    u32 key, threads, own, loads;
};

constexpr RankedOutOfPlaceRow RANKED_OUT_OF_PLACE_ROWS[] = {
    {4, 256, 4, 4},
    {8, 256, 8, 4},
    {16, 128, 8, 4},
};

// Threads of a block, keys a thread; threads that sort a cell, keys that each of them has, and orders
// at a time.
struct TogetherRow {
    u32 key, threads, items, group, group_items, lanes;
};

constexpr TogetherRow TOGETHER_ROWS[] = {
    {4, 1024, 16, 256, 17, 2},
    {8, 1024, 12, 256, 12, 1},
    {16, 1024, 6, 256, 6, 1},
};

// Cells of keys with values; by bytes of a key and of its value.
struct ValuesRow {
    u32 key, value, threads, items, keys, bin_bits, blocks;
};

constexpr ValuesRow VALUES_ROWS[] = {
    {4, 4, 256, 18, 4480, 11, 5},
    {4, 8, 256, 18, 4480, 11, 4},
    {4, 16, 512, 10, 4480, 11, 2},
    {8, 4, 256, 18, 4480, 11, 4},
    {8, 8, 384, 14, 4480, 11, 3},
    {8, 16, 512, 10, 4480, 11, 2},
    {16, 4, 256, 18, 4480, 11, 2},
    {16, 8, 256, 18, 4480, 11, 2},
    {16, 16, 512, 10, 4480, 11, 2},
};

template <u32 ROWS>
constexpr LocalRow row_of(const ValuesRow (&rows)[ROWS], u32 key, u32 value) {
    u32 i = 0;
    while (rows[i].key != key || rows[i].value != value) i++;
    return {key, rows[i].threads, rows[i].items, rows[i].keys, rows[i].bin_bits, rows[i].blocks};
}

template <class Row, u32 ROWS>
constexpr Row row_of(const Row (&rows)[ROWS], u32 key) {
    u32 i = 0;
    while (rows[i].key != key) i++;
    return rows[i];
}

// Shared memory that each of a multiprocessor's blocks can have; the hardware keeps 1 KB of each.
constexpr u32 room(u32 blocks) { return (SHARED_KB + 1) * 1024 / blocks - 1024; }

// Keys of a tile that go to a digit on average, at least.
constexpr u32 LEAST_RUN = 8;

// `more`: bytes that a block has besides.
constexpr PartitionRow fitted(PartitionRow row, u32 more = 0) {
    while (row.blocks > 1 && row.copy_bits > 2 && 4u << (row.digit_bits + row.copy_bits) > room(row.blocks) / 3)
        row.copy_bits--;
    for (u32 items = row.items;; row.digit_bits--) {
        u32 digits = 1u << row.digit_bits;
        u32 rest = 4 * ((digits << row.copy_bits) + 2 * digits + 4 * MOST_BUCKETS) + 1024 + more;
        row.items = items;
        while (rest + row.threads * row.items * row.key / 32 * 33 > room(row.blocks)) row.items--;
        if (row.threads * row.items >= LEAST_RUN * digits) return row;
    }
}

// A block's values lie where its keys were.
constexpr u32 local_bytes(LocalRow row, u32 value) {
    u32 slots = row.keys + WARP * row.items;
    u32 bins = 4u << row.bin_bits, fetched = row.key > 4 ? 2 * slots : 0;
    u32 keys = slots * row.key + (bins > fetched ? bins : fetched), values = row.keys * value;
    return (keys > values ? keys : values) + 1024;
}

constexpr LocalRow fitted(LocalRow row, u32 value = 0, u32 more = 0) {
    while (local_bytes(row, value) + more > room(1)) {
        row.items -= 4;
        u32 most = row.threads / WARP * (WARP * row.items - 12);
        if (row.keys > most) row.keys = most;
    }
    while (value > 0 && row.blocks > 1 && local_bytes(row, value) > room(row.blocks)) row.blocks--;
    while (row.threads * row.blocks > MOST_THREADS) row.blocks--;
    return row;
}

// Half as many of a thread's keys at a time: merges take powers of two.
constexpr LocalRow fitted_alone(LocalRow row) {
    while (local_bytes(row, 0) > room(1)) {
        row.items = row.items / 2 + 1;
        row.keys = row.threads * (row.items - 2);
    }
    return row;
}

constexpr TogetherRow fitted(TogetherRow row) {
    u32 begins = 4 * 1024 + 1024, counts = 2 * 4 * 1024 + 512;
    u32 groups = row.threads / row.group, bins = row.group * 8 * 4 + 128;
    while (begins + counts + row.threads * row.items * row.key > room(1)) row.items--;
    while (begins + groups * (bins + row.group * row.group_items * row.key) > room(1)) row.group_items--;
    return row;
}

template <class Key>
struct Tuning {
    static constexpr u32 KEY = sizeof(Key);
    static constexpr PartitionRow TWICE = fitted(row_of(TWICE_ROWS, KEY));
    static constexpr PartitionRow ONCE = fitted(row_of(ONCE_ROWS, KEY));
    static constexpr PartitionRow TILES = fitted(row_of(REFINE_ROWS, KEY));
    static constexpr LocalRow CELL = fitted(row_of(CELL_ROWS, KEY));
    static constexpr LocalRow DOUBLE = fitted(row_of(DOUBLE_ROWS, KEY));
    static constexpr LocalRow LARGE = fitted(row_of(LARGE_ROWS, KEY));
    static constexpr LocalRow PIECE = fitted(row_of(PIECE_ROWS, KEY));
    static constexpr LocalRow ALONE = fitted_alone(row_of(ALONE_ROWS, KEY));
    static constexpr TogetherRow WHOLE = fitted(row_of(TOGETHER_ROWS, KEY));

    template <u32 T, u32 I, u32 B, u32 D, u32 C>
    using Tiles = PartitionShape<Key, T, I, B, D, C>;
    template <u32 T, u32 I, u32 K, u32 D, u32 B>
    using Cells = LocalShape<Key, T, I, K, D, B>;
#define TILES_OF(R) Tiles<R.threads, R.items, R.blocks, R.digit_bits, R.copy_bits>
#define CELLS_OF(R) Cells<R.threads, R.items, R.keys, R.bin_bits, R.blocks>
    using Twice = TILES_OF(TWICE);
    using Once = TILES_OF(ONCE);
    using Cell = CELLS_OF(CELL);
    using LargeCell = LargeShape<CELLS_OF(DOUBLE), CELLS_OF(LARGE)>;
    using RefinedCell = RepeatedShape<CELLS_OF(PIECE)>;
    struct Tallied {
        static constexpr TallyRow CELL = row_of(TALLY_ROWS, KEY);
        using Shape = TallyShape<Key, CELL.threads, CELL.keys, CELL.blocks>;
        static_assert(CELL.keys <= PIECE.keys, "what is not tallied is a piece");
    };
    using Alone = CELLS_OF(ALONE);
    struct Middle {
        static constexpr PartitionRow TILES = fitted(row_of(MIDDLE_ROWS, KEY));
        static constexpr PartitionRow ROOMS = fitted(row_of(MIDDLE_ROOMS_ROWS, KEY));
        using Tile = TILES_OF(TILES);
        using TileOfRooms = TILES_OF(ROOMS);
    };
    // Of words of 32 and 64 bits.
    struct AloneDouble {
        static constexpr LocalRow DOUBLE = fitted_alone(row_of(ALONE_DOUBLE_ROWS, KEY));
        using Shape = CELLS_OF(DOUBLE);
    };
    template <class Value>
    struct OfValues {
        static constexpr LocalRow CELL = fitted(row_of(VALUES_ROWS, KEY, sizeof(Value)), sizeof(Value));
        using Cell = ValuesShape<CELLS_OF(CELL), Value>;
    };
    struct Quantile {
        static constexpr u32 TABLE = 4 * Quantiles<Key>::WORDS;
        static constexpr PartitionRow TILES = fitted(row_of(QUANTILE_ROWS, KEY), TABLE);
        static constexpr LocalRow CELL = fitted(row_of(QUANTILE_CELL_ROWS, KEY), 0, TABLE);
        using Cell = QuantileCellShape<CELLS_OF(CELL), PIECE.keys>;
        using Tile = QuantilePartitionShape<TILES_OF(TILES), CELL.keys>;
    };
    // Of words of 64 bits alone.
    struct Composite {
        static constexpr PartitionRow FIRST = fitted(row_of(COMPOSITE_ROWS, KEY));
        static constexpr LocalRow CELL = fitted(row_of(COMPOSITE_CELL_ROWS, KEY));
        using First = TILES_OF(FIRST);
        using Cell = CELLS_OF(CELL);
    };
    using Refined = RefineShape<TILES_OF(TILES), PIECE.keys>;
#undef TILES_OF
#undef CELLS_OF
    static constexpr RankedOutOfPlaceRow OUT_OF_PLACE = row_of(RANKED_OUT_OF_PLACE_ROWS, KEY);
    using FewOutOfPlace = RankedOutOfPlaceShape<Key, OUT_OF_PLACE.threads, OUT_OF_PLACE.own, OUT_OF_PLACE.loads>;
#ifndef __CUDACC_RTC__
    using Few = RankedShape<Key, row_of(RANKED_ROWS, KEY).threads>;
    using Whole = TogetherShape<Key, WHOLE.threads, WHOLE.items,
                                GroupShape<Key, WHOLE.group, WHOLE.group_items, WHOLE.lanes>>;
#endif
};
