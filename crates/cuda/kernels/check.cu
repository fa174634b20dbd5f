// What a sort has made, checked where it lies; and random keys to be sorted.
//
//     disorder      the lowest i with keys[i] & mask > keys[i + 1] & mask
//     unstable      the lowest i with keys[i] & mask = keys[i + 1] & mask and index[i] >= index[i + 1]
//     misled        the lowest i with index[i] >= n or input[index[i]] != sorted[i]
//     fingerprint   the sum of a hash of each key, or of each key and its value
//     random        keys[i] = hash(seed, i) & mask
//     positions     index[i] = i
//
// Shapes: every array n, and n up to 2^64: positions are u64. An entry of an index has `entry_bytes`
// bytes, 4 or 8. `found` is one u64, all ones before, and still so where there is no such i; `sum` is
// one u64, 0 before.
// Grid: any; blockDim: any multiple of 32. Each thread takes every (gridDim.x * blockDim.x)-th i.
// Shared: none but their own.
#include "key.cuh"

__device__ inline u64 first_index() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

__device__ inline u64 index_stride() { return u64(gridDim.x) * blockDim.x; }

// The lowest i below n for which wrong(i) holds. A thread's own are in order, so its first is enough.
template <class Wrong>
__device__ inline void find_lowest(u64 n, u64* found, Wrong wrong) {
    for (u64 i = first_index(); i < n; i += index_stride()) {
        if (wrong(i)) {
            atomicMin(found, i);
            return;
        }
    }
}

// What all threads have, added to `sum`: one atomic a block.
__device__ inline void add_up(u64 own, u64* sum) {
    __shared__ u64 sums[1024 / WARP];
    for (u32 step = WARP / 2; step > 0; step /= 2) own += __shfl_down_sync(~0u, own, step);
    if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        u64 all = 0;
        for (u32 warp = 0; warp < blockDim.x / WARP; warp++) all += sums[warp];
        atomicAdd(sum, all);
    }
}

// The step of SplitMix64 (Steele, Lea and Flood, 2014), and its output function: a bijection in which
// every bit in turns over every bit out with a chance of about a half.
constexpr u64 STEP = 0x9e3779b97f4a7c15;

__device__ inline u64 mix(u64 x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

// A key's hash, of all its bits.
template <class Word>
__device__ inline u64 hash_of(Word key) {
    u64 hash = mix(u64(key) + STEP);
    if constexpr (sizeof(Word) > sizeof(u64)) hash = mix(hash + u64(key >> 64));
    return hash;
}

// Random bits, as many as a key has, of a number.
template <class Word>
__device__ inline Word random_bits(u64 x) {
    Word word = Word(mix(x));
    if constexpr (sizeof(Word) > sizeof(u64)) word |= Word(mix(~x)) << 64;
    return word;
}

__device__ inline u64 entry(const void* index, u32 entry_bytes, u64 i) {
    return entry_bytes == 4 ? static_cast<const u32*>(index)[i] : static_cast<const u64*>(index)[i];
}

// n is 1 at least.
extern "C" __global__ void __launch_bounds__(1024) check_disorder(
    const Key* __restrict__ keys, u64 n, Key mask, u64* found) {
    find_lowest(n - 1, found, [=](u64 i) { return (keys[i] & mask) > (keys[i + 1] & mask); });
}

// n is 1 at least.
extern "C" __global__ void __launch_bounds__(1024) check_unstable(
    const Key* __restrict__ keys, const void* __restrict__ index, u32 entry_bytes, u64 n, Key mask,
    u64* found) {
    find_lowest(n - 1, found, [=](u64 i) {
        return ((keys[i] ^ keys[i + 1]) & mask) == 0 &&
               entry(index, entry_bytes, i) >= entry(index, entry_bytes, i + 1);
    });
}

extern "C" __global__ void __launch_bounds__(1024) check_misled(
    const Key* __restrict__ input, const void* __restrict__ index, u32 entry_bytes,
    const Key* __restrict__ sorted, u64 n, u64* found) {
    find_lowest(n, found, [=](u64 i) {
        u64 from = entry(index, entry_bytes, i);
        return from >= n || input[from] != sorted[i];
    });
}

// A value is `words` words; values may be null for none. Without keys, they are 0, 1, 2, ...
extern "C" __global__ void __launch_bounds__(1024) check_fingerprint(
    const Key* __restrict__ keys, const u32* __restrict__ values, u32 words, u64 n, u64* sum) {
    u64 own = 0;
    for (u64 i = first_index(); i < n; i += index_stride()) {
        u64 hash = hash_of(keys ? keys[i] : Key(i));
        for (u32 word = 0; word < words; word++) hash = mix(hash + values[i * words + word]);
        own += hash;
    }
    add_up(own, sum);
}

extern "C" __global__ void __launch_bounds__(1024) check_random(Key* keys, u64 n, u64 seed, Key mask) {
    for (u64 i = first_index(); i < n; i += index_stride())
        keys[i] = random_bits<Key>(seed + (i + 1) * STEP) & mask;
}

// n is 2^32 at most.
extern "C" __global__ void __launch_bounds__(1024) check_positions(u32* index, u64 n) {
    for (u64 i = first_index(); i < n; i += index_stride()) index[i] = u32(i);
}
