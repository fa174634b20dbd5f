// The kernels of a sort that counts, for keys of 8 or 16 bits, SWEEPSORT_KEY_BITS.
//
//     tally, expand      one after the other
//     tally_few, expand  the same, 16-bit keys, where there are few
//     alone              instead of both, 8-bit keys, where there are few
//     count_shapes       what the host must know of them
#include "../key.cuh"
#if SWEEPSORT_KEY_BITS == 8
#include "alone_8.cuh"
#else
#include "expand.cuh"
#include "tally_16.cuh"
#endif

extern __shared__ __align__(16) u8 shared_memory[];

// Grid: a multiple of PARTS, up to BLOCKS a multiprocessor. Shared: all of it.
#define TALLY(name, T)                                                            \
    extern "C" __global__ void __launch_bounds__(T::THREADS, T::BLOCKS) name(     \
        const __grid_constant__ Task<Key> task) {                                 \
        T(task, *reinterpret_cast<typename T::Shared*>(shared_memory)).run();     \
    }

#if SWEEPSORT_KEY_BITS == 8
TALLY(tally, Tally8)

// Grid: 1. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(Alone8::THREADS, Alone8::BLOCKS)
alone(const __grid_constant__ Task<Key> task) {
    __shared__ typename Alone8::Shared shared;
    Alone8::run(task, shared);
}
#else
TALLY(tally, Tally16<false>)
TALLY(tally_few, Tally16<true>)
#endif

// Grid: any. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(Expand<Key>::THREADS, Expand<Key>::BLOCKS)
expand(const __grid_constant__ Task<Key> task) {
    __shared__ typename Expand<Key>::Shared shared;
    Expand<Key>(task, shared).run();
}

// What the host must know of a kernel: a grid is a multiple of `parts`.
struct KernelShape {
    u32 threads, blocks, shared_bytes, parts;
};

// expand, tally, then alone or tally_few.
extern "C" __device__ KernelShape count_shapes[] = {
    {Expand<Key>::THREADS, Expand<Key>::BLOCKS, 0, 1},
#if SWEEPSORT_KEY_BITS == 8
    {Tally8::THREADS, Tally8::BLOCKS, sizeof(Tally8::Shared), 1},
    {Alone8::THREADS, Alone8::BLOCKS, 0, 1},
#else
    {Tally16<false>::THREADS, Tally16<false>::BLOCKS, sizeof(Tally16<false>::Shared), Tally16<false>::PARTS},
    {Tally16<true>::THREADS, Tally16<true>::BLOCKS, sizeof(Tally16<true>::Shared), Tally16<true>::PARTS},
#endif
};
