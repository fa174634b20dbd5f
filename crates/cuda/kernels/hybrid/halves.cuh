// Codes where the partitions have left them: whole, or of 32 bits the lower halves alone, if a cell tells
// the rest (Task::in_halves).
#pragma once

#include "task.cuh"

template <class Key>
struct CodeReader {
    // From the thread's first on.
    const Key* whole;
    // Null: there are whole codes.
    const u16* halves = nullptr;
    u32 above = 0;

    // Of a side, from `begin` on.
    __device__ CodeReader(const Task<Key>& task, u32 side, u32 begin)
        : whole(task.buffer(side) + begin + threadIdx.x) {
        if (sizeof(Key) != sizeof(u32) || side < IN_HALVES) return;
        halves = task.halves(begin) + threadIdx.x;
        above = task.upper_bits(side - IN_HALVES) << task.choice->low;
    }

    // The code that comes i behind the thread's first.
    __device__ Key operator()(u32 i) const {
        if constexpr (sizeof(Key) == sizeof(u32))
            if (halves) return above | halves[i];
        return whole[i];
    }
};
