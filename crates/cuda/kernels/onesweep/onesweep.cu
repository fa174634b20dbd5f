// The kernels of a onesweep sort, for one key width, SWEEPSORT_KEY_BITS.
//
//     histograms             once
//     pass_V                 once for each digit and portion; V: bytes of a value, 0 for none
//     pass_0_range           keys alone, where bits outside the range tell equal keys apart; of 8 and
//                            16 bits all keys alone
//     passes_0               or once for all digits of one portion: whole keys alone of 32 bits and more;
//                            not in PTX for older drivers
//     together_V             instead of all these, for middle sizes
//     small_V, tiny          instead of all these, for small ones; of more than 16 bits tiny alone
//     disordered_V           a pass_V with a ranker that is wrong on purpose, for the proof; 32-bit keys
//                            only
//     onesweep_shapes        what the host must know of them
#include "../key.cuh"
#include "disordered.cuh"
#include "histograms.cuh"
#include "tuning.cuh"

extern __shared__ __align__(16) u8 shared_memory[];

// Grid: up to BLOCKS a multiprocessor. Shared, beside its own: SHARED_BYTES.
extern "C" __global__ void __launch_bounds__(Histograms<Key>::THREADS, Histograms<Key>::BLOCKS)
histograms(const __grid_constant__ Task<Key> task) {
    __shared__ typename Histograms<Key>::Shared shared;
    Histograms<Key>(task, shared, reinterpret_cast<u32*>(shared_memory)).run();
}

// Grid: 1. blockDim: see there. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(Tiny<Key>::MOST)
tiny(const __grid_constant__ Task<Key> task, u32 value_bytes) {
    __shared__ typename Tiny<Key>::Shared shared;
    Tiny<Key>(task, shared, value_bytes).run();
}

// What the host must know of a kernel.
struct KernelShape {
    u32 threads, tile, blocks, shared_bytes;
};

template <class S>
constexpr KernelShape pass_shape() {
    return {S::THREADS, S::TILE, S::BLOCKS, sizeof(PassShared<S>)};
}

template <class S>
constexpr KernelShape block_shape() {
    return {S::THREADS, S::TILE, 1, sizeof(typename S::Shared)};
}

#define PASS(name, S)                                                                       \
    static_assert(sizeof(PassShared<S>) <= SHARED_KB * 1024, "it does not fit");            \
    extern "C" __global__ void __launch_bounds__(S::THREADS, S::BLOCKS) name(               \
        const __grid_constant__ Task<Key> task, u32 pass, u32 portion) {                    \
        PassShared<S>& shared = *reinterpret_cast<PassShared<S>*>(shared_memory);           \
        run_pass<S>(task, shared, pass, portion);                                           \
    }

// Together and Small.
#define BLOCK(name, S)                                                          \
    static_assert(sizeof(S::Shared) <= SHARED_KB * 1024, "it does not fit");    \
    extern "C" __global__ void __launch_bounds__(S::THREADS, 1) name(           \
        const __grid_constant__ Task<Key> task) {                               \
        S(task, *reinterpret_cast<typename S::Shared*>(shared_memory)).run();   \
    }

#define KERNELS(V, T)                \
    PASS(pass_##V, T::Wide)          \
    BLOCK(together_##V, T::Together)

using Keys = Tuning<Key, Nothing, Check::BITS>;
using Ranges = Tuning<Key, Nothing, Check::TAGS>;
using Values4 = Tuning<Key, u32, Check::TAGS>;
using Values8 = Tuning<Key, u64, Check::TAGS>;
using Values16 = Tuning<Key, uint4, Check::TAGS>;

#if SWEEPSORT_KEY_BITS > 16
PASS(pass_0, Keys::Wide)
#ifndef __CUDACC_RTC__
// Grid: as many blocks as run at a time, or fewer, launched cooperatively.
extern "C" __global__ void __launch_bounds__(Keys::Wide::THREADS, Keys::Wide::BLOCKS)
passes_0(const __grid_constant__ Task<Key> task) {
    run_all_passes<Keys::Wide>(task, *reinterpret_cast<PassShared<Keys::Wide>*>(shared_memory));
}
#endif
#endif
PASS(pass_0_range, Ranges::Wide)
BLOCK(together_0, Keys::Together)
KERNELS(4, Values4)
KERNELS(8, Values8)
KERNELS(16, Values16)
#if SWEEPSORT_KEY_BITS <= 16
BLOCK(small_0, Keys::OneBlock::Alone)
BLOCK(small_4, Values4::OneBlock::Alone)
BLOCK(small_8, Values8::OneBlock::Alone)
BLOCK(small_16, Values16::OneBlock::Alone)
#endif
#if SWEEPSORT_KEY_BITS == 32
PASS(disordered_0, Keys::Disordered)
PASS(disordered_4, Values4::Disordered)
#endif

// Of none where there is no such kernel.
template <class T>
constexpr KernelShape small_shape() {
    if constexpr (T::HAS_ALONE)
        return block_shape<typename T::OneBlock::Alone>();
    else
        return {0, 0, 0, 0};
}

#define SHAPES(T) pass_shape<T::Wide>(), block_shape<T::Together>(), small_shape<T>()

// histograms, then for each payload wide, together and small; in the end disordered.
extern "C" __device__ KernelShape onesweep_shapes[] = {
    {Histograms<Key>::THREADS, Histograms<Key>::THREADS* Histograms<Key>::LANES* Histograms<Key>::KEYS,
     Histograms<Key>::BLOCKS, Histograms<Key>::SHARED_BYTES},
    SHAPES(Keys),
    SHAPES(Ranges),
    SHAPES(Values4),
    SHAPES(Values8),
    SHAPES(Values16),
    pass_shape<Keys::Disordered>(),
    pass_shape<Values4::Disordered>(),
};
