// Keys of 32 bits that carry 32 bits each, an index or a value, sorted as words of 64 bits.
//
//     probe, count, lay_out         of the keys alone, 32 bits (hybrid_32); what they find is told of words
//     partition_composite           words are made, and go to the bucket of their first digit
//     partition                     words to their cells
//     local_large_composite, local_composite
//                                   each cell; keys and what they carry are written apart
//     refine                        cells that are too large
//     local_refined_composite       each of the pieces
//
//     word    code less base, 32 bits | payload, 32 bits
//
// An index tells equal keys apart: the words are distinct, and their order is that of a stable sort. Words
// with values may be equal, and then any order of them is the same; records whose keys alone are equal
// come in no order that the caller may rely on.
//
// The payload's highest bits should differ, for words are told apart from above: an index has its lowest
// bits empty, not its highest; a value is multiplied by an odd number, which can be undone.
#pragma once

#include "local_large.cuh"
#include "partition.cuh"

struct CompositeTask {
    // Of words. `source` and `codec` are not used; SCRATCH and RESULT, n words each, are nobody's input
    // or output. cells.choice is what the Task of the keys calls `words`; counts, begins, bucket_cursors,
    // cell_cursors, tiles and large are those of the keys.
    Task<u64> cells;
    // null values_from: each key carries its position. They may be the same memory as what is written.
    const u32* keys_from;
    const u32* values_from;
    // No keys are written to null.
    u32* keys_to;
    u32* values_to;
    // Of the keys. It may tie where these are not written.
    Codec<u32> codec;

    __device__ bool carries_index() const { return values_from == nullptr; }
};

// What a key carries, as a word has it.
struct PayloadCoder {
    static constexpr u32 ODD = 0x9e3779b1, INVERSE = 0x0e8b2f51;
    static_assert(ODD * INVERSE == 1, "values come back");
    u32 factor, shift, inverse;

    __device__ PayloadCoder(const CompositeTask& task)
        : factor(ODD), shift(0), inverse(INVERSE) {
        if (!task.carries_index()) return;
        shift = __clz(task.cells.n - 1 | 1);
        factor = 1u << shift;
        inverse = 1;
    }

    __device__ u32 encode(u32 carried) const { return carried * factor; }

    __device__ u32 decode(u32 payload) const { return (payload >> shift) * inverse; }
};

// Where the tiles of composites come from.
template <class S>
struct CompositeSource {
    static constexpr bool ROOMS = false;
    const CompositeTask& task;
    Partition<S>& tiles;

    // As they are: what is carried is made a payload when all have come.
    __device__ void load(const PartitionTile& tile) const {
        u32 first = tile.begin + tiles.thread;
        const u32 *keys = task.keys_from + first, *values = task.values_from + first;
        if (task.carries_index())
            tiles.load(tile.count, [&](u32 i) { return u64(keys[i]) << 32 | (first + i); });
        else
            tiles.load(tile.count, [&](u32 i) { return u64(keys[i]) << 32 | values[i]; });
    }

    __device__ void prefetch(const PartitionTile& tile) const {
        tiles.prefetch(task.keys_from + tile.begin, tile.count);
        if (!task.carries_index()) tiles.prefetch(task.values_from + tile.begin, tile.count);
    }

    __device__ bool encodes(u64) const { return true; }

    __device__ void encode() const {
        Coder<u32> coder(task.codec, u32(tiles.shared.base >> 32));
        PayloadCoder payload(task);
        u32 code[S::ITEMS];
#pragma unroll
        for (u32 j = 0; j < S::ITEMS; j++) code[j] = u32(tiles.key[j] >> 32);
        coder.encode(code);
#pragma unroll
        for (u32 j = 0; j < S::ITEMS; j++)
            tiles.key[j] = u64(code[j]) << 32 | payload.encode(u32(tiles.key[j]));
    }
};

// The first partition, which makes the words.
template <class S>
__device__ inline void partition_composites(const CompositeTask& task, PartitionShared<S>& shared) {
    Partition<S> tiles(shared);
    tiles.run(task.cells, FIRST, CompositeSource<S>{task, tiles});
}

// Sorts words by their lowest `bits` bits, in which alone they differ. Their keys and what these carry go
// behind the first `at`. All threads of the block come here; again after a barrier.
template <class S>
__device__ inline void sort_composites(
    const CompositeTask& task, LocalShared<S>& shared, const u64* from, u32 at, u32 count, u32 bits,
    bool sparse = false) {
    Local<S> words(shared);
    words.count = count;
    words.sparse = sparse;
    u64 word[S::LOADS];
    words.forget(word);
    from += words.thread;
    words.load(word, [=](u32 i) { return from[i]; });
    bool fetched = words.arrange(word, bits, [&] { Places<S>::sort(shared, count, words.bin); });
    u32 first = at + words.begin + words.lane;
    u32 *keys = task.keys_to + first, *values = task.values_to + first;
    bool writes_keys = task.keys_to != nullptr;
    Coder<u32> coder(task.codec, u32(shared.base >> 32));
    PayloadCoder payload(task);
    words.in_order(fetched, [&](auto at) {
        words.each(at, [&](u32 i, u64 word) {
            if (writes_keys) keys[i] = coder.decode(u32(word >> 32));
            values[i] = payload.decode(u32(word));
        });
    });
}

// Cells that are too large for these blocks.
template <class S>
__device__ inline void sort_large_composite_cells(const CompositeTask& task, LargeShared<S>& shared) {
    const Task<u64>& cells = task.cells;
    each_large_cell(cells, shared, [&](auto& shared, u32, u32 begin, u32 count) {
        const u64* from = cells.buffer(cells.partitioned()) + begin;
        sort_composites(task, shared, from, begin, count, cells.choice->low);
    });
}

// Block i sorts cell i; one that is too large is left alone.
template <class S>
__device__ inline void sort_composite_cell(const CompositeTask& task, LocalShared<S>& shared) {
    const Task<u64>& cells = task.cells;
    if (wait_for_partitions(cells) != HYBRID) return;
    JoinedCells own = joined_cells(cells);
    if (threadIdx.x == 0) shared.base = cells.choice->base;
    if (cells.choice->large) cells.clear_steps();
    let_next_kernel_in();
    if (own.count == 0) return;
    const u64* from = cells.buffer(cells.partitioned()) + own.begin;
    sort_composites(task, shared, from, own.begin, own.count, own.bits);
}

// What refine leaves.
template <class S>
__device__ inline void sort_composite_pieces(const CompositeTask& task, LocalShared<S>& shared) {
    wait_for_earlier_kernels();
    let_next_kernel_in();
    const Task<u64>& cells = task.cells;
    if (cells.choice->path != HYBRID) return;
    if (threadIdx.x == 0) shared.base = cells.choice->base;
    for (u32 i = blockIdx.x; i < cells.choice->pieces; i += gridDim.x) {
        Piece piece = cells.pieces[i];
        const u64* from = cells.buffer(piece.side) + piece.begin;
        sort_composites(task, shared, from, piece.begin, piece.count, piece.bits, true);
        __syncthreads();
    }
}
