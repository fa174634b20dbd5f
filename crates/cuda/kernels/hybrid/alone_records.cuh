// Few keys of 32 or 64 bits with what travels with them, sorted stably by one block, as words of 64 bits.
//
//     fetch     keys and values to shared memory, as they came; values are on their way while words are sorted
//     arrange   a word for each key: its code above, below it the key's place; as keys alone are (alone.cuh)
//     store     keys and values, from the places that the words have
//
//     word      bits of the code | place, as many bits as n - 1 has
//
// No two words are equal, so sorting them in any way is stable. All has been read before anything is
// written, so the caller's arrays may be the same.
//
// Codes that vary in more bits than a word has room for go by the upper ones, which are mostly enough. If
// not, a rank takes the place of the upper bits: how many other upper bits come before. It is short, so the
// lower bits have room beside it.
//
// Workspace: none. Grid: 1. n: CAPACITY at most. Shared: RecordsShared, and behind it `key_words` and, of
// values, `value_words` words a key.
#pragma once

#include "alone.cuh"

struct RecordsTask {
    const u32* keys_from;
    // Null: values are the keys' positions.
    const u32* values_from;
    // No keys are written to null. They may be the same memory as what is read.
    u32* keys_to;
    u32* values_to;
    // Words of 32 bits: of a key, 1 or 2; of a value or a position, 1, 2 or 4.
    u32 key_words, value_words;
    u32 n;
    // The bits of a code that decide, when it is shifted. 32-bit keys are the upper halves of 64 bits.
    u32 shift;
    u64 mask;
    // It may tie: keys are written as they were read.
    Codec<u64> codec;

    __device__ bool carries_index() const { return values_from == nullptr; }
};

// A word from global memory to shared memory; it is there after wait_for_copies. Where the hardware does not do
// it by itself, several loads are to be on their way at once.
#if __CUDA_ARCH__ >= 800
constexpr u32 COPIES_AT_ONCE = 1;
#else
constexpr u32 COPIES_AT_ONCE = 4;
#endif

__device__ inline void copy_word(u32* to, const u32* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(u32(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
#else
    *to = *from;
#endif
}

// What the thread has copied up to here is a group.
__device__ inline void end_of_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Of the thread's groups all but the last LEFT are there.
template <u32 LEFT>
__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}

template <class S>
struct RecordsShared {
    AloneShared<S> words;
    // Which key comes to each place.
    u16 order[S::CAPACITY];
};

template <class S>
struct AloneRecords {
    static constexpr u32 THREADS = S::THREADS;
    static_assert(sizeof(typename S::Key) == sizeof(u64) && S::CAPACITY <= 1 << 16, "places fit an order");

    const RecordsTask& task;
    RecordsShared<S>& shared;
    Local<S> words;
    const u32 n = task.n, thread = threadIdx.x;
    const u32 place_bits = 32 - __clz((n - 1) | 1);
    // As they came.
    u32* const keys = reinterpret_cast<u32*>(&shared + 1);
    u32* const values = keys + n * task.key_words;

    __device__ AloneRecords(const RecordsTask& task, RecordsShared<S>& shared)
        : task(task), shared(shared), words(shared.words.local) {}

    __device__ void run() {
        wait_for_earlier_kernels();
        let_next_kernel_in();
        if (n == 0) return;
        fetch(keys, task.keys_from, n * task.key_words);
        end_of_copies();
        if (!task.carries_index()) fetch(values, task.values_from, n * task.value_words);
        end_of_copies();
        wait_for_copies<1>();
        __syncthreads();
        sort();
        wait_for_copies<0>();
        __syncthreads();
        if (task.keys_to) store(task.keys_to, task.key_words, keys);
        store(task.values_to, task.value_words, task.carries_index() ? nullptr : values);
    }

    __device__ void fetch(u32* to, const u32* from, u32 count) const {
#pragma unroll COPIES_AT_ONCE
        for (u32 i = thread; i < count; i += THREADS) copy_word(to + i, from + i);
    }

    // Of the i-th key.
    __device__ u64 code(u32 i) const {
        u64 key = task.key_words == 1 ? u64(keys[i]) << 32 : reinterpret_cast<const u64*>(keys)[i];
        if (!task.codec.identity) key = task.codec.encode(key);
        return key >> task.shift & task.mask;
    }

    // By the upper bits; if they are not enough, by their ranks and the lower bits.
    __device__ void sort() {
        words.count = n;
        words.sparse = true;
        u32 varying = words.highest_bit(put_codes());
        u32 room = 64 - place_bits, lower = max(varying, room) - room, bits = varying - lower, shift = lower;
#pragma unroll 1
        for (;;) {
            arrange(shift, bits);
            if (shift == 0 || !__syncthreads_or(disordered())) return;
            bits = lower + put_ranks(lower);
            shift = 0;
        }
    }

    // Codes to where words will be. Tells the bits in which those of the thread are not as the first one.
    __device__ u64 put_codes() {
        u64 varying = 0, first = code(0);
#pragma unroll 2
        for (u32 i = thread; i < n; i += THREADS) {
            u64 own = code(i);
            varying |= own ^ first;
            words.shared.keys[i] = own;
        }
        return varying;
    }

    // By so many bits of the codes from `shift` on. The order tells which of them comes to each place.
    __device__ void arrange(u32 shift, u32 bits) {
        u64 mask = (u64(1) << bits) - 1;
        u64 word[S::LOADS];
#pragma unroll
        for (u32 j = 0; j < S::LOADS; j++) {
            u32 place = j * THREADS + thread;
            u64 own = place < n ? words.shared.keys[place] : 0;
            word[j] = (own >> shift & mask) << place_bits | place;
        }
        bool fetched = words.arrange(word, bits + place_bits, [&] {
            Merge<S>(shared.words.merge, n).sort(words.shared.keys);
        });
        // Each warp its own.
#pragma unroll 2
        for (u32 i = words.begin + words.lane; i < words.end; i += WARP) {
            u32 slot = fetched ? words.shared.fetch[i] : i;
            shared.order[i] = u16(u32(words.shared.keys[slot]) & ((1u << place_bits) - 1));
        }
        __syncthreads();
    }

    // The code that comes to a place.
    __device__ u64 code_at(u32 i) const { return code(shared.order[i]); }

    // Whether bits decide that words do not have.
    __device__ bool disordered() const {
        bool found = false;
#pragma unroll 1
        for (u32 i = thread; i + 1 < n; i += THREADS) found |= code_at(i + 1) < code_at(i);
        return found;
    }

    // Ranks of the codes' upper bits, and their lower ones, to where words will be; each thread those of
    // neighbouring places. Tells how many bits ranks have.
    __device__ u32 put_ranks(u32 lower) {
        constexpr u32 WARPS = THREADS / WARP;
        u32 each = (n + THREADS - 1) / THREADS, first = min(n, thread * each), last = min(n, first + each);
        auto differs = [&](u32 i) { return i > 0 && (code_at(i) ^ code_at(i - 1)) >> lower > 0; };
        u32 own = 0;
#pragma unroll 1
        for (u32 i = first; i < last; i++) own += differs(i);
        u32 rank = words.template inclusive<WARP>(own);
        u64* sums = words.shared.sums;
        if (words.lane == WARP - 1) sums[words.warp] = rank;
        __syncthreads();
        u32 of_warps = words.template inclusive<WARPS>(words.lane < WARPS ? u32(sums[words.lane]) : 0);
        u32 all = __shfl_sync(ALL_LANES, of_warps, WARPS - 1);
        u32 of_warps_before = __shfl_sync(ALL_LANES, of_warps, words.warp == 0 ? 0 : words.warp - 1);
        rank += (words.warp == 0 ? 0 : of_warps_before) - own;
#pragma unroll 1
        for (u32 i = first; i < last; i++) {
            rank += differs(i);
            words.shared.keys[shared.order[i]] = u64(rank) << lower | (code_at(i) & ((u64(1) << lower) - 1));
        }
        __syncthreads();
        return 32 - __clz(all);
    }

    // What comes to each place, of so many words; from null, its position.
    __device__ void store(u32* to, u32 each, const u32* from) const {
        u32 log = __ffs(each) - 1;
#pragma unroll 4
        for (u32 i = thread; i < n * each; i += THREADS) {
            u32 at = shared.order[i >> log], part = i & (each - 1);
            to[i] = from ? from[(at << log) + part] : part == 0 ? at : 0;
        }
    }
};
