// CUB's radix sort and Thrust's stable sort, for one type of key and one of value.
//
//     nvcc -DPEER_KEY=u32 -DPEER_VALUE=u64 ...    keys with values; without PEER_VALUE, keys alone
//
// Compiled by cub.rs into a shared library, which lives in the process that measures: its copy of
// the runtime enters the context that is current, so pointers and streams are those of the caller.
// Every call but the version is answered with a cudaError_t; sorting is enqueued and not waited for.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

// The types by the names that the tool gives them; bool is C++'s own.
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using u128 = unsigned __int128;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using i128 = __int128;
using f16 = __half;
using bf16 = __nv_bfloat16;
using f32 = float;
using f64 = double;

using Key = PEER_KEY;
#ifdef PEER_VALUE
using Value = PEER_VALUE;
constexpr std::size_t VALUE_BYTES = sizeof(Value);
#else
using Value = cub::NullType;
constexpr std::size_t VALUE_BYTES = 0;
#endif

// CUB's sort; without a workspace it says in bytes how much it needs.
template <typename Count>
cudaError_t radix_sort(
    void* workspace, std::size_t& bytes, const Key* keys_in, Key* keys_out, const Value* values_in,
    Value* values_out, Count n, cudaStream_t stream) {
    constexpr int bits = 8 * sizeof(Key);
    if constexpr (VALUE_BYTES > 0) {
        return cub::DeviceRadixSort::SortPairs(
            workspace, bytes, keys_in, keys_out, values_in, values_out, n, 0, bits, stream);
    } else {
        return cub::DeviceRadixSort::SortKeys(
            workspace, bytes, keys_in, keys_out, n, 0, bits, stream);
    }
}

// The same, counting with as few bits as n takes, which is what CUB asks its callers to do.
cudaError_t radix_sort_any(
    void* workspace, std::size_t& bytes, const Key* keys_in, Key* keys_out, const Value* values_in,
    Value* values_out, u64 n, cudaStream_t stream) {
    if (n <= std::numeric_limits<u32>::max()) {
        return radix_sort(
            workspace, bytes, keys_in, keys_out, values_in, values_out, u32(n), stream);
    }
    return radix_sort(workspace, bytes, keys_in, keys_out, values_in, values_out, n, stream);
}

// What Thrust takes its memory from: a workspace that is there before the time is taken. Each sort
// starts at its beginning; sorts of one stream follow each other, so nothing is freed.
struct Arena {
    using value_type = char;
    static constexpr std::size_t ALIGNMENT = 256;

    char* next;
    std::size_t left;

    char* allocate(std::ptrdiff_t bytes) {
        std::size_t taken = (std::size_t(bytes) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (taken > left) throw std::bad_alloc();
        char* start = next;
        next += taken;
        left -= taken;
        return start;
    }
    void deallocate(char*, std::size_t) {}
};

// What of the arena a sort of n takes: a second copy of the records, and what CUB needs besides to
// sort between two copies. Keys that Thrust merges need as much, and a word for each tile.
cudaError_t arena_bytes(u64 n, std::size_t& bytes) {
    cub::DoubleBuffer<Key> keys(nullptr, nullptr);
    cub::DoubleBuffer<Value> values(nullptr, nullptr);
    std::size_t besides = 0;
    cudaError_t error;
    if constexpr (VALUE_BYTES > 0) {
        error = cub::DeviceRadixSort::SortPairs(nullptr, besides, keys, values, n);
    } else {
        error = cub::DeviceRadixSort::SortKeys(nullptr, besides, keys, n);
    }
    bytes = besides + n * (sizeof(Key) + VALUE_BYTES) + n / 8 + (64 << 10);
    return error;
}

}  // namespace

// CUB's version as it counts it: 100000 for each major and 100 for each minor one.
EXPORTED int peer_version() { return CUB_VERSION; }

// How many bytes either sort of n records needs; n is 1 or more.
EXPORTED int peer_workspace(u64 n, u64* bytes) {
    std::size_t cub = 0, thrust = 0;
    cudaError_t error = radix_sort_any(nullptr, cub, nullptr, nullptr, nullptr, nullptr, n, nullptr);
    if (error == cudaSuccess) error = arena_bytes(n, thrust);
    *bytes = cub > thrust ? cub : thrust;
    return error;
}

EXPORTED int peer_cub(
    void* workspace, u64 workspace_bytes, const void* keys_in, void* keys_out, const void* values_in,
    void* values_out, u64 n, cudaStream_t stream) {
    std::size_t bytes = workspace_bytes;
    return radix_sort_any(
        workspace, bytes, static_cast<const Key*>(keys_in), static_cast<Key*>(keys_out),
        static_cast<const Value*>(values_in), static_cast<Value*>(values_out), n, stream);
}

EXPORTED int peer_thrust(
    void* workspace, u64 workspace_bytes, void* keys_in_place, void* values_in_place, u64 n,
    cudaStream_t stream) try {
    Arena arena{static_cast<char*>(workspace), workspace_bytes};
    auto policy = thrust::cuda::par_nosync(arena).on(stream);
    Key* keys = static_cast<Key*>(keys_in_place);
    if constexpr (VALUE_BYTES > 0) {
        thrust::stable_sort_by_key(policy, keys, keys + n, static_cast<Value*>(values_in_place));
    } else {
        thrust::stable_sort(policy, keys, keys + n);
    }
    return cudaSuccess;
} catch (const thrust::system_error& error) {
    return error.code().value();
} catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
} catch (...) {
    return cudaErrorUnknown;
}

// The runtime's words for an error.
EXPORTED const char* peer_words(int error) { return cudaGetErrorString(cudaError_t(error)); }
