// Words, lanes, and launches that follow each other: what every kernel of the engine's own sorts needs.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr u32 WARP = 32;
constexpr u32 ALL_LANES = ~0u;

// No value travels with the keys.
struct Nothing {};

template <class T>
constexpr bool IS_NOTHING = false;
template <>
inline constexpr bool IS_NOTHING<Nothing> = true;

// A position as a value; what is wider than 8 bytes is never one.
template <class Value>
__device__ inline Value position(u64 i) {
    if constexpr (sizeof(Value) <= sizeof(u64))
        return Value(i);
    else
        return Value{};
}

// So many, if any.
template <class T, u32 N>
struct Array {
    T at[N];
};
template <class T>
struct Array<T, 0> {};

// With programmatic dependent launch: the kernels before this one are done, and what they wrote is
// seen. Nothing of theirs is touched before.
__device__ inline void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The next kernel may be brought in; it still waits for the whole of this one.
__device__ inline void let_next_kernel_in() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Words that blocks hand over to one another, with what was written before them.
__device__ inline u32 read_acquire(const u32* word) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

// Four words, each as it is at some time; not one of an earlier read.
__device__ inline uint4 read_anew(const uint4* words) {
    uint4 four;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                 : "l"(words)
                 : "memory");
    return four;
}

__device__ inline void write_release(u32* word, u32 value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}
