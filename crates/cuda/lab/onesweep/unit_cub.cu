#include <cub/device/device_radix_sort.cuh>
#include <cstdio>
#include <cstdlib>
using u32 = unsigned int; using u64 = unsigned long long;
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("FATAL cub %s\n", cudaGetErrorString(e_)); exit(3); } } while (0)
template <class K, class V>
static void go(void* temp, size_t& bytes, const void* k, void* ko, const void* v, void* vo, u64 n, u32 b, u32 e, cudaStream_t s) {
    CHECK((cub::DeviceRadixSort::SortPairs(temp, bytes, (const K*)k, (K*)ko, (const V*)v, (V*)vo, (long long)n, b, e, s)));
}
template <class K>
static void go0(void* temp, size_t& bytes, const void* k, void* ko, u64 n, u32 b, u32 e, cudaStream_t s) {
    CHECK((cub::DeviceRadixSort::SortKeys(temp, bytes, (const K*)k, (K*)ko, (long long)n, b, e, s)));
}
void cub_sort(u32 kb, u32 vb, void* temp, size_t& bytes, const void* k, void* ko, const void* v, void* vo, u64 n, u32 b, u32 e, cudaStream_t s) {
    if (kb == 4 && vb == 0) go0<u32>(temp, bytes, k, ko, n, b, e, s);
    if (kb == 8 && vb == 0) go0<u64>(temp, bytes, k, ko, n, b, e, s);
    if (kb == 4 && vb == 4) go<u32, u32>(temp, bytes, k, ko, v, vo, n, b, e, s);
    if (kb == 4 && vb == 8) go<u32, u64>(temp, bytes, k, ko, v, vo, n, b, e, s);
    if (kb == 8 && vb == 4) go<u64, u32>(temp, bytes, k, ko, v, vo, n, b, e, s);
    if (kb == 8 && vb == 8) go<u64, u64>(temp, bytes, k, ko, v, vo, n, b, e, s);
}
