// The histograms of all digits, in one read of the keys.
//
//     for each key, for each digit: counters[digit][its value][lane] += 1
//     sum the lanes' counters; add them to histograms
//     of few different codes, which there are (distinct.cuh)
//     the last block to be done finds where all begins (begins.cuh)
//
// No two lanes of a warp ever meet in one bank: each has counters in a bank of its own. Where that
// takes too much shared memory, the lanes form GROUPS; at a time the groups count different digits,
// and the counters of these lie in different banks.
#pragma once

#include "../last_block.cuh"
#include "begins.cuh"
#include "distinct.cuh"

template <class Key>
struct Histograms {
    static constexpr u32 DIGITS = sizeof(Key);
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || !defined(__CUDA_ARCH__)
    static constexpr u32 MOST_GROUPS = DIGITS <= 8 ? 2 : 4;
#else
    static constexpr u32 MOST_GROUPS = DIGITS <= 4 ? 2 : DIGITS / 2;
#endif
    static constexpr u32 GROUPS = DIGITS < MOST_GROUPS ? DIGITS : MOST_GROUPS;
    // Counters that a digit value has.
    static constexpr u32 COPIES = WARP / GROUPS;
    static constexpr u32 WORDS = DIGITS / GROUPS * RADIX * WARP;
    static constexpr u32 SHARED_BYTES = WORDS * sizeof(u32);
    static constexpr u32 THREADS = SHARED_BYTES > (64 << 10) ? 1024 : 512;
#if __CUDA_ARCH__ == 750
    static constexpr u32 BLOCKS = 1;
#else
    static constexpr u32 BLOCKS = THREADS == 1024 ? 1 : 3;
#endif

    // Keys are read in vectors of 16 bytes, so many a thread at a time.
    static constexpr u32 LANES = 4;
    static constexpr u32 KEYS = 16 / sizeof(Key);
    union Vector {
        uint4 words;
        Key key[KEYS];
    };

    struct Shared {
        typename Begins<Key>::Shared begins;
        Codes<Key> codes;
        u32 lowest;
        bool last;
    };

    const Task<Key>& task;
    Shared& shared;
    u32* counters;
    u32 group, offset[GROUPS];
    Key mask;

    __device__ Histograms(const Task<Key>& task, Shared& shared, u32* counters)
        : task(task), shared(shared), counters(counters) {
        u32 lane = threadIdx.x % WARP;
        group = lane / COPIES;
#pragma unroll
        for (u32 slot = 0; slot < GROUPS; slot++) offset[slot] = (slot ^ group) * COPIES + lane % COPIES;
        u32 bits = task.end_bit - task.begin_bit;
        mask = bits == 8 * sizeof(Key) ? Key(~Key(0)) : Key((Key(1) << bits) - 1);
    }

    // A key's code from begin_bit on: its bytes are the digits.
    __device__ Key code_of(Key word) const {
        Key code = task.codec.identity ? word : task.codec.encode(word);
        return Key(code >> task.begin_bit) & mask;
    }

    // In slot s the lane counts digit s ^ group.
    __device__ void count(Key word) {
        Key code = code_of(word);
        constexpr u32 BYTES = sizeof(Key) < 4 ? sizeof(Key) : 4;
#pragma unroll
        for (u32 first = 0; first < DIGITS; first += BYTES) {
            if (first - first % GROUPS >= task.passes) return;
            u32 part = first ^ (GROUPS > 4 ? group & ~3u : 0);
            u32 bytes = u32(code >> (8 * part));
            if constexpr (GROUPS > 1) bytes = __byte_perm(bytes, 0, 0x3210 ^ (0x1111 * (group & 3)));
#pragma unroll
            for (u32 i = 0; i < BYTES; i++) {
                u32 slot = first + i, value = bytes >> (8 * i) & (RADIX - 1);
                u32 table = slot / GROUPS * RADIX + value;
                atomicAdd(&counters[table * WARP + offset[slot % GROUPS]], 1);
            }
        }
    }

    // Where keys are alone, passes tell by all digits below whether a tile is in order.
    __device__ bool seeks_few() const { return task.values[RESULT] != nullptr; }

    // Notes all codes, unless there are too many: what was counted is read once more.
    __device__ void note_codes(const Key* keys, u64 n) {
        constexpr u32 AT_ONCE = 8;
        FewCodes<Key> few(shared.codes);
        u64 step = u64(gridDim.x) * THREADS, first = u64(blockIdx.x) * THREADS + threadIdx.x;
        few.sample(code_of(keys[min(first, n - 1)]));
        for (u64 i = first; i < n && !few.many(); i += AT_ONCE * step) {
            Key key[AT_ONCE];
#pragma unroll
            for (u32 j = 0; j < AT_ONCE; j++) key[j] = keys[min(i + j * step, n - 1)];
#pragma unroll
            for (u32 j = 0; j < AT_ONCE; j++) few.note(code_of(key[j]));
        }
    }

    __device__ void clear_counters() {
        for (u32 i = threadIdx.x; i < WORDS; i += THREADS) counters[i] = 0;
        if constexpr (Codes<Key>::SOUGHT) FewCodes<Key>(shared.codes).clear(seeks_few());
        __syncthreads();
    }

    // The passes' states begin as zeros.
    __device__ void clear_states(u32 passes) {
        u64 words = u64(passes) * task.tiles * RADIX, step = u64(gridDim.x) * THREADS * 4;
        for (u64 i = (u64(blockIdx.x) * THREADS + threadIdx.x) * 4; i < words; i += step)
            *reinterpret_cast<uint4*>(task.states + i) = uint4{};
    }

    __device__ void run() {
        // Where all this may be called off, not before that is known.
        if (task.go == nullptr) clear_counters();
        wait_for_earlier_kernels();
        bool rest = task.sorts_rest(), goes = rest || task.goes();
        if (goes || task.has_cells()) clear_states(goes ? task.passes : 2);
        if (!goes) {
            if (task.has_cells() && blockIdx.x == 0) Begins<Key>::run_cells(task, shared.begins);
            return;
        }
        if (task.go != nullptr) clear_counters();
        const Key* keys = task.keys[rest ? SCRATCH : SOURCE];
        u64 n = task.count();

        // Keys before the first whole vector, and after the last.
        u64 head = (16 - u64(keys) % 16) % 16 / sizeof(Key);
        if (head > n) head = n;
        u64 vectors = (n - head) / KEYS, tail = head + vectors * KEYS;
        if (blockIdx.x == 0) {
            if (threadIdx.x < head) count(keys[threadIdx.x]);
            if (threadIdx.x < n - tail) count(keys[tail + threadIdx.x]);
        }

        const uint4* from = reinterpret_cast<const uint4*>(keys + head);
        u64 step = u64(gridDim.x) * THREADS * LANES;
        for (u64 i = u64(blockIdx.x) * THREADS * LANES + threadIdx.x; i < vectors; i += step) {
            Vector vector[LANES];
#pragma unroll
            for (u32 j = 0; j < LANES; j++)
                if (i + j * THREADS < vectors) vector[j].words = __ldg(from + i + j * THREADS);
#pragma unroll
            for (u32 j = 0; j < LANES; j++)
                if (i + j * THREADS < vectors)
#pragma unroll
                    for (u32 k = 0; k < KEYS; k++) count(vector[j].key[k]);
        }
        if constexpr (Codes<Key>::SOUGHT)
            if (seeks_few()) note_codes(keys, n);
        __syncthreads();

        // One thread sums a digit value's copies, each thread from another one on.
        let_next_kernel_in();
        for (u32 i = threadIdx.x; i < min(task.passes, DIGITS) * RADIX; i += THREADS) {
            u32 digit = i / RADIX, value = i % RADIX, sum = 0;
            const u32* copies =
                counters + (digit / GROUPS * RADIX + value) * WARP + digit % GROUPS * COPIES;
#pragma unroll 8
            for (u32 c = 0; c < COPIES; c++) sum += copies[(c + threadIdx.x) % COPIES];
            if (sum) atomicAdd(&task.histograms[i], u64(sum));
        }
        FewCodes<Key> all(task.agreed->codes);
        if constexpr (Codes<Key>::SOUGHT) all.merge(shared.codes);
        if (!last_block(task.agreed->arrived, shared.last)) return;
        u32 implied = 0;
        if constexpr (Codes<Key>::SOUGHT) implied = all.implied(shared.codes, shared.lowest);
        Begins<Key>::run(task, shared.begins, implied);
    }
};
