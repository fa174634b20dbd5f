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
#include "together.cuh"

// Threads of a block, keys a thread, blocks a multiprocessor; bits of a digit, and of its copies' number.
struct PartitionRow {
    u32 threads, items, blocks, digit_bits, copy_bits;
};

// By bytes of a key: large inputs, with digits of 8 bits at most; and smaller ones.
constexpr PartitionRow wide_row(u32 key) {
    return key == 4   ? PartitionRow{1024, 36, 1, 8, 5}
           : key == 8 ? PartitionRow{1024, 19, 1, 8, 4}
                      : PartitionRow{512, 17, 1, 8, 4};
}

constexpr PartitionRow narrow_row(u32 key) {
    return key == 4   ? PartitionRow{512, 9, 2, 9, 2}
           : key == 8 ? PartitionRow{512, 9, 2, 9, 2}
                      : PartitionRow{512, 9, 1, 9, 2};
}

// A block of refine partitions and sorts.
constexpr PartitionRow refine_row(u32 key) {
    return key == 4   ? PartitionRow{512, 27, 2, 8, 3}
           : key == 8 ? PartitionRow{512, 15, 2, 8, 3}
                      : PartitionRow{512, 9, 1, 8, 3};
}

// Threads of a block, slots that a lane orders, keys, bits of a bin, blocks a multiprocessor.
struct LocalRow {
    u32 threads, items, keys, bin_bits, blocks;
};

constexpr LocalRow local_row(u32 key) {
    return key == 4   ? LocalRow{256, 18, 4480, 11, 6}
           : key == 8 ? LocalRow{256, 18, 4480, 11, 4}
                      : LocalRow{512, 10, 4480, 11, 2};
}

constexpr LocalRow large_local_row(u32 key) {
    return key == 4   ? LocalRow{1024, 18, 17408, 13, 1}
           : key == 8 ? LocalRow{1024, 14, 12288, 13, 1}
                      : LocalRow{512, 14, 6656, 12, 1};
}

constexpr LocalRow refine_local_row(u32 key) {
    return key == 4   ? LocalRow{512, 18, 8704, 12, 2}
           : key == 8 ? LocalRow{512, 14, 6144, 12, 2}
                      : LocalRow{512, 10, 4480, 11, 1};
}
