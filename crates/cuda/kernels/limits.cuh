// What a multiprocessor has: shared memory that a block can be given, in KB, and threads.
#pragma once

#include "words.cuh"

#if __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || !defined(__CUDA_ARCH__)
constexpr u32 SHARED_KB = 227, MOST_THREADS = 2048;
#elif __CUDA_ARCH__ == 800
constexpr u32 SHARED_KB = 163, MOST_THREADS = 2048;
#elif __CUDA_ARCH__ == 750
constexpr u32 SHARED_KB = 64, MOST_THREADS = 1024;
#else
constexpr u32 SHARED_KB = 99, MOST_THREADS = 1536;
#endif
