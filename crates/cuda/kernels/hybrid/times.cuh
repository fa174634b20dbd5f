// What the stages take, in tenths of the time of `count`: of uniform keys, 2^28 of them, on an H200; of
// local_large, in cells of 6800; of refine, if it has all keys, where each of their bits is set with a
// chance of a quarter. `pass` is one of onesweep's; `sift` and `weave` are of common keys and others
// (dictionary.cuh); `quantiles` is all that is done where quantiles tell the cells, but for refine.
#pragma once

#include "../words.cuh"

struct StageTimes {
    u32 count, partition, local, local_large, refine, pass, sift, weave, quantiles;
};

template <class Key>
constexpr StageTimes STAGE_TIMES =
    sizeof(Key) == 4 ? StageTimes{10, 26, 29, 44, 110, 29, 16, 14, 0}
                     : StageTimes{10, 24, 25, 36, 120, 26, 16, 14, 120};

// Of 32-bit keys that carry 32 bits each (composite.cuh), in tenths of the time of their `count`; on
// average of an index and of values.
constexpr StageTimes COMPOSITE_TIMES = {10, 43, 44, 75, 180, 57, 0, 0, 0};

// What is the same whatever there is to do, if a tenth of a count took a second for so many bytes: refining at
// all; and, of common keys, a onesweep of few others and the search for where the common ones belong.
constexpr float REFINE_BYTES = 1e9, REST_BYTES = 2.5e9;

template <class Key>
__device__ inline float fixed_time(float bytes, u32 n) {
    return bytes / (float(n) * sizeof(Key));
}

template <class Key>
__device__ inline StageTimes stage_times(bool composites) {
    constexpr StageTimes OF_KEYS = STAGE_TIMES<Key>, OF_COMPOSITES = COMPOSITE_TIMES;
    return composites ? OF_COMPOSITES : OF_KEYS;
}
