// The lab: variants of the pass, the enqueueing of a whole sort, shared by all units.
#pragma once
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include "pass.cuh"
#include "histograms.cuh"
#include "begins.cuh"
#include "small.cuh"

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("FATAL %s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); fflush(stdout); exit(3); } } while (0)

template <class S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
pass_kernel(const __grid_constant__ Task<typename S::Key> task, u32 pass, u32 portion) {
    extern __shared__ __align__(16) u8 memory[];
    Pass<S>(task, *reinterpret_cast<PassShared<S>*>(memory)).run(pass, portion);
}
template <class Key>
__global__ void __launch_bounds__(Histograms<Key>::THREADS, Histograms<Key>::BLOCKS)
histograms_kernel(const __grid_constant__ Task<Key> task) {
    extern __shared__ __align__(16) u8 memory[];
    Histograms<Key>(task, reinterpret_cast<u32*>(memory)).run();
}
template <class Key>
__global__ void __launch_bounds__(RADIX) begins_kernel(const __grid_constant__ Task<Key> task) {
    __shared__ typename Begins<Key>::Shared shared;
    Begins<Key>::run(task, shared);
}
template <class Key, class Value, u32 T, u32 I, class R>
__global__ void __launch_bounds__(T, 1) small_kernel(const __grid_constant__ Task<Key> task) {
    extern __shared__ __align__(16) u8 memory[];
    using S = Small<Key, Value, T, I, R>;
    S(task, *reinterpret_cast<typename S::Shared*>(memory)).run();
}

// Rankers that are for the lab alone.
struct AddUnchecked : RankByAdd { static constexpr bool CHECKED = false; };
// What an unkind hardware might do: the upper half of the lanes is served first.
struct AddDisordered : RankByAdd {
    __device__ static u32 place(u32* row, u32*, u32 digit) {
        u32 lane = threadIdx.x % WARP, place = 0;
        if (lane >= 16) place = atomicAdd(&row[digit], 1);
        asm volatile("" ::: "memory");
        if (lane < 16) place = atomicAdd(&row[digit], 1);
        return place;
    }
};
struct AddDisorderedUnchecked : AddDisordered { static constexpr bool CHECKED = false; };

struct Variant {
    std::string name;
    u32 key_bytes, value_bytes;
    const void* kernel;
    u32 threads, items, tile;
    size_t shared;
    bool bits;           // checks by bits: whole keys alone
    bool must_fail;      // a deliberately wrong one
    bool bench;
    u32 grid = 0;
    int regs = 0; size_t local = 0;
    bool small = false;
};
inline std::vector<Variant>& variants() { static std::vector<Variant> v; return v; }

template <class S>
void add(const char* name, bool bench = true, bool must_fail = false) {
    Variant v;
    v.name = name; v.key_bytes = sizeof(typename S::Key);
    v.value_bytes = S::VALUES ? sizeof(typename S::Value) : 0;
    v.kernel = (const void*)pass_kernel<S>;
    v.threads = S::THREADS; v.items = S::ITEMS; v.tile = S::TILE;
    v.shared = sizeof(PassShared<S>);
    v.bits = S::BITS; v.must_fail = must_fail; v.bench = bench;
    variants().push_back(v);
}
template <class Key, class Value, u32 T, u32 I, class R>
void add_small(const char* name) {
    using S = Small<Key, Value, T, I, R>;
    Variant v;
    v.name = name; v.key_bytes = sizeof(Key); v.value_bytes = S::VALUES ? sizeof(Value) : 0;
    v.kernel = (const void*)small_kernel<Key, Value, T, I, R>;
    v.threads = T; v.items = I; v.tile = S::TILE; v.shared = sizeof(typename S::Shared);
    v.bits = false; v.must_fail = false; v.bench = true; v.small = true;
    variants().push_back(v);
}

template <class Key> struct Fixed { const void* hist; size_t hist_shared; u32 hist_threads, hist_grid, hist_per_block; const void* begins; };
template <class Key> Fixed<Key>& fixed();
template <class Key> void prepare_fixed(int sms);

struct Timing { bool on = false; std::vector<cudaEvent_t> events; };

inline void launch(const void* kernel, u32 grid, u32 threads, size_t shared, void** args, cudaStream_t stream, bool pdl) {
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(grid); c.blockDim = dim3(threads); c.dynamicSmemBytes = shared; c.stream = stream;
    cudaLaunchAttribute a;
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization; a.val.programmaticStreamSerializationAllowed = 1;
    c.attrs = &a; c.numAttrs = pdl ? 1 : 0;
    CHECK(cudaLaunchKernelExC(&c, kernel, args));
}

struct Options {
    u32 begin_bit = 0, end_bit = 0;   // end 0: all
    bool records = false, index = false, keys_out = true, pdl = false, in_place = true;
    u64 portion = 0;                  // tiles a portion; 0: as many as may be
    u32 exclusive = 0;                // codec: 0 none, 1 float ascending, 2 unsigned descending
};

template <class Key> Codec<Key> codec_of(u32 kind) {
    Codec<Key> c{}; c.identity = 1;
    Key top = Key(Key(1) << (8 * sizeof(Key) - 1));
    if (kind == 1) { c.exclusive = top; c.float_mask = Key(~top); c.identity = 0; }
    if (kind == 2) { c.exclusive = Key(~Key(0)); c.identity = 0; }
    return c;
}

struct Buffers { void* keys[4]; void* values[4]; u8* workspace; size_t workspace_bytes; };

inline size_t up(size_t n) { return (n + 255) / 256 * 256; }

// Enqueues a sort. Returns how many passes.
template <class Key>
u32 enqueue(const Variant& v, const Buffers& b, u64 n, const Options& o, cudaStream_t stream, Timing* timing = nullptr) {
    u32 end = o.end_bit ? o.end_bit : 8 * sizeof(Key);
    Task<Key> t = {};
    for (int i = 0; i < 4; i++) { t.keys[i] = (Key*)b.keys[i]; t.values[i] = b.values[i]; }
    t.n = n; t.begin_bit = o.begin_bit; t.end_bit = end; t.codec = codec_of<Key>(o.exclusive);
    t.flags = (o.in_place ? IN_PLACE : 0) | (o.index ? INDEX | APART : 0) | (o.records ? RECORDS : 0);
    if (!o.keys_out) t.keys[RESULT] = nullptr;
    u32 passes = (end - o.begin_bit + 7) / 8;
    if (v.small) {
        t.passes = passes;
        if (n == 0) return 0;
        u32 threads = n <= 256 * 4 ? 256 : n <= 512 * 4 ? 512 : 1024;
        threads = std::min(threads, v.threads);
        while ((u64)threads * v.items < n) threads *= 2;
        void* args[] = {&t};
        launch(v.kernel, 1, threads, v.shared, args, stream, o.pdl);
        return 1;
    }
    bool apart = o.records || o.index;
    if (o.in_place) { if (!apart && passes % 2) passes++; if (apart && passes == 1) passes++; }
    t.passes = passes;
    t.tiles = u32((n + v.tile - 1) / v.tile);
    t.portion_tiles = o.portion ? o.portion : ((1u << 30) - 1) / v.tile;
    t.portions = std::max(1u, (t.tiles + t.portion_tiles - 1) / t.portion_tiles);
    u8* p = b.workspace;
    t.histograms = (u64*)p; p += up(passes * RADIX * 8);
    t.tickets = (u32*)p; p += up(passes * t.portions * 4);
    t.states = (u32*)p; p += up((size_t)passes * t.tiles * RADIX * 4);
    size_t zeros = p - b.workspace;
    t.begins = (u64*)p; p += up((size_t)passes * t.portions * RADIX * 8);
    t.routes = (Route*)p; p += up(passes * sizeof(Route));
    if ((size_t)(p - b.workspace) > b.workspace_bytes) { printf("FATAL workspace\n"); exit(3); }
    if (n == 0 || passes == 0) return 0;
    auto mark = [&] { if (timing) { cudaEvent_t e; CHECK(cudaEventCreate(&e)); CHECK(cudaEventRecord(e, stream)); timing->events.push_back(e); } };
    mark();
    CHECK(cudaMemsetAsync(b.workspace, 0, zeros, stream));
    mark();
    Fixed<Key>& f = fixed<Key>();
    void* args[] = {&t};
    u64 blocks = (n + f.hist_per_block - 1) / f.hist_per_block;
    launch(f.hist, (u32)std::min<u64>(blocks, f.hist_grid), f.hist_threads, f.hist_shared, args, stream, false);
    mark();
    launch(f.begins, 1, RADIX, 0, args, stream, o.pdl);
    mark();
    for (u32 pass = 0; pass < passes; pass++)
        for (u32 portion = 0; portion < t.portions; portion++) {
            u32 tiles = std::min(t.portion_tiles, t.tiles - portion * t.portion_tiles);
            void* args[] = {&t, &pass, &portion};
            launch(v.kernel, std::min(tiles, v.grid), v.threads, v.shared, args, stream, o.pdl);
            mark();
        }
    return passes;
}

// Defined by the units.
void cub_sort(u32 key_bytes, u32 value_bytes, void* temp, size_t& temp_bytes, const void* k, void* ko, const void* v, void* vo, u64 n, u32 begin, u32 end, cudaStream_t s);
u32 enqueue_any(const Variant& v, const Buffers& b, u64 n, const Options& o, cudaStream_t s, Timing* t = nullptr);
void register_u32(); void register_u64(); void register_pairs(); void register_other();
