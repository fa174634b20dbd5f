// Items fetched by positions: out[i] = items[index[i]].
//
// Shapes: index n, items of `bytes` bytes each, as many as the positions reach, out n of them. A
// module is compiled for positions of SWEEPSORT_KEY_BITS, 32 or 64.
#include "key.cuh"

using Position = Key;

// An item is `words` words.
template <class Word>
__device__ inline void gather_words(
    const u8* items, const Position* __restrict__ index, u8* out, u64 n, u32 words) {
    const Word* from = reinterpret_cast<const Word*>(items);
    Word* to = reinterpret_cast<Word*>(out);
    u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        u64 place = index[i];
        for (u32 word = 0; word < words; word++) to[i * words + word] = from[place * words + word];
    }
}

// Items of any number of bytes, moved by the largest words that divide them and their addresses. out
// must not be items. Grid: any. Shared: none.
extern "C" __global__ void __launch_bounds__(1024)
gather(const u8* items, const Position* index, u8* out, u64 n, u32 bytes) {
    u64 together = u64(items) | u64(out) | bytes;
    if (together % 16 == 0)
        gather_words<uint4>(items, index, out, n, bytes / 16);
    else if (together % 8 == 0)
        gather_words<u64>(items, index, out, n, bytes / 8);
    else if (together % 4 == 0)
        gather_words<u32>(items, index, out, n, bytes / 4);
    else if (together % 2 == 0)
        gather_words<u16>(items, index, out, n, bytes / 2);
    else
        gather_words<u8>(items, index, out, n, bytes);
}
