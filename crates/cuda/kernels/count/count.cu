// The kernels of a sort that counts, for keys of 8 or 16 bits, SWEEPSORT_KEY_BITS.
//
//     tally, lay_out, expand  one after the other
//     alone                   all in one, 8-bit keys, where there are few
//     count_shapes            what the host must know of them
#include "../key.cuh"
#include "expand.cuh"
#include "lay_out.cuh"
#include "tally_16.cuh"
#include "tally_8.cuh"

#if SWEEPSORT_KEY_BITS == 8
using Tally = Tally8;
#else
using Tally = Tally16;
#endif

extern __shared__ __align__(16) u8 shared_memory[];

// Grid: readers x PARTS; readers up to BLOCKS a multiprocessor / PARTS. Shared: all of it.
extern "C" __global__ void __launch_bounds__(Tally::THREADS, Tally::BLOCKS)
tally(const __grid_constant__ Task<Key> task) {
    let_next_kernel_in();
    Tally(task, *reinterpret_cast<Tally::Shared*>(shared_memory)).run();
}

// Grid: GROUPS. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(LayOut<Tally>::THREADS, LayOut<Tally>::BLOCKS)
lay_out(const __grid_constant__ Task<Key> task) {
    __shared__ LayOut<Tally>::Shared shared;
    let_next_kernel_in();
    LayOut<Tally>::run(task, shared);
}

// Grid: up to BLOCKS a multiprocessor. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(Expand<Key>::THREADS, Expand<Key>::BLOCKS)
expand(const __grid_constant__ Task<Key> task) {
    __shared__ Expand<Key>::Shared shared;
    let_next_kernel_in();
    Expand<Key>(task, shared).run();
}

#if SWEEPSORT_KEY_BITS == 8
// Grid: 1, and so are readers and shares. Shared: none but its own.
extern "C" __global__ void __launch_bounds__(LayOut<Tally>::THREADS, 1)
alone(const __grid_constant__ Task<Key> task) {
    __shared__ union {
        Tally::Shared tally;
        LayOut<Tally>::Shared lay_out;
        Expand<Key, LayOut<Tally>::THREADS>::Shared expand;
    } shared;
    Tally(task, shared.tally).run();
    __syncthreads();
    LayOut<Tally>::run(task, shared.lay_out);
    __syncthreads();
    Expand<Key, LayOut<Tally>::THREADS>(task, shared.expand).run();
}
#endif

// What the host must know of a kernel.
struct KernelShape {
    u32 threads, blocks, shared_bytes, parts;
};

// tally, lay_out, expand.
extern "C" __device__ KernelShape count_shapes[] = {
    {Tally::THREADS, Tally::BLOCKS, sizeof(Tally::Shared), Tally::PARTS},
    {LayOut<Tally>::THREADS, LayOut<Tally>::BLOCKS, 0, 1},
    {Expand<Key>::THREADS, Expand<Key>::BLOCKS, 0, 1},
};
