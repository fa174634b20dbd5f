// The kernels of a onesweep sort, for one key width, SWEEPSORT_KEY_BITS.
//
//     histograms, begins          once
//     pass_V_wide, pass_V_narrow  once for each digit and portion; V: bytes of a value, 0 for none
//     pass_0_range_...            keys alone, where bits outside the range tell equal keys apart
//     small_V                     instead of all these
//     onesweep_shapes             what the host must know of them, in the order of their names here
#include "begins.cuh"
#include "histograms.cuh"
#include "tuning.cuh"

#if SWEEPSORT_KEY_BITS == 8
using Key = u8;
#elif SWEEPSORT_KEY_BITS == 16
using Key = u16;
#elif SWEEPSORT_KEY_BITS == 32
using Key = u32;
#elif SWEEPSORT_KEY_BITS == 64
using Key = u64;
#elif SWEEPSORT_KEY_BITS == 128
using Key = unsigned __int128;
#else
#error "compile with -DSWEEPSORT_KEY_BITS=8, 16, 32, 64 or 128"
#endif

extern __shared__ __align__(16) u8 shared_memory[];

// Grid: up to BLOCKS a multiprocessor. Shared: SHARED_BYTES.
extern "C" __global__ void __launch_bounds__(Histograms<Key>::THREADS, Histograms<Key>::BLOCKS)
histograms(const __grid_constant__ Task<Key> task) {
    Histograms<Key>(task, reinterpret_cast<u32*>(shared_memory)).run();
}

// Grid: 1. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(RADIX) begins(const __grid_constant__ Task<Key> task) {
    __shared__ typename Begins<Key>::Shared shared;
    Begins<Key>::run(task, shared);
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
constexpr KernelShape small_shape() {
    return {S::THREADS, S::TILE, 1, sizeof(typename S::Shared)};
}

#define PASS(name, S)                                                                       \
    extern "C" __global__ void __launch_bounds__(S::THREADS, S::BLOCKS) name(               \
        const __grid_constant__ Task<Key> task, u32 pass, u32 portion) {                    \
        Pass<S>(task, *reinterpret_cast<PassShared<S>*>(shared_memory)).run(pass, portion); \
    }

#define SMALL(name, S)                                                \
    extern "C" __global__ void __launch_bounds__(S::THREADS, 1) name( \
        const __grid_constant__ Task<Key> task) {                     \
        S(task, *reinterpret_cast<S::Shared*>(shared_memory)).run();  \
    }

using Keys = Tuning<Key, Nothing, Check::BITS>;
using Ranges = Tuning<Key, Nothing, Check::TAGS>;
using Values4 = Tuning<Key, u32, Check::TAGS>;
using Values8 = Tuning<Key, u64, Check::TAGS>;
using Values16 = Tuning<Key, uint4, Check::TAGS>;

PASS(pass_0_wide, Keys::Wide)
PASS(pass_0_narrow, Keys::Narrow)
PASS(pass_0_range_wide, Ranges::Wide)
PASS(pass_0_range_narrow, Ranges::Narrow)
PASS(pass_4_wide, Values4::Wide)
PASS(pass_4_narrow, Values4::Narrow)
PASS(pass_8_wide, Values8::Wide)
PASS(pass_8_narrow, Values8::Narrow)
PASS(pass_16_wide, Values16::Wide)
PASS(pass_16_narrow, Values16::Narrow)
SMALL(small_0, Keys::Alone)
SMALL(small_4, Values4::Alone)
SMALL(small_8, Values8::Alone)
SMALL(small_16, Values16::Alone)

extern "C" __device__ KernelShape onesweep_shapes[] = {
    {Histograms<Key>::THREADS, Histograms<Key>::THREADS* Histograms<Key>::LANES* Histograms<Key>::KEYS,
     Histograms<Key>::BLOCKS, Histograms<Key>::SHARED_BYTES},
    {RADIX, 0, 1, 0},
    pass_shape<Keys::Wide>(),
    pass_shape<Keys::Narrow>(),
    pass_shape<Ranges::Wide>(),
    pass_shape<Ranges::Narrow>(),
    pass_shape<Values4::Wide>(),
    pass_shape<Values4::Narrow>(),
    pass_shape<Values8::Wide>(),
    pass_shape<Values8::Narrow>(),
    pass_shape<Values16::Wide>(),
    pass_shape<Values16::Narrow>(),
    small_shape<Keys::Alone>(),
    small_shape<Values4::Alone>(),
    small_shape<Values8::Alone>(),
    small_shape<Values16::Alone>(),
};
