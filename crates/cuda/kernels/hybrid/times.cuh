// What the stages take, in tenths of the time of `count`: of uniform keys, 2^28 of them, on an H200; of
// local_large, in cells of 6800; of refine, if it has all keys, where each of their bits is set with a
// chance of a quarter. `pass` is one of onesweep's.
#pragma once

#include "../words.cuh"

struct StageTimes {
    u32 count, partition, local, local_large, refine, pass;
};

template <class Key>
constexpr StageTimes STAGE_TIMES =
    sizeof(Key) == 4 ? StageTimes{10, 26, 29, 44, 230, 29}
                     : StageTimes{10, 24, 25, 36, 250, 26};
