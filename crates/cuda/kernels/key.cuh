// Codes of keys: unsigned words of one width.
//
// A module is compiled for one key width, SWEEPSORT_KEY_BITS.
#pragma once

#include "words.cuh"

#if SWEEPSORT_KEY_BITS == 8
using Key = u8;
#elif SWEEPSORT_KEY_BITS == 16
using Key = u16;
#elif SWEEPSORT_KEY_BITS == 32
using Key = u32;
#elif SWEEPSORT_KEY_BITS == 64
using Key = u64;
#elif SWEEPSORT_KEY_BITS == 128
using Key = unsigned __int128;
#else
#error "compile with -DSWEEPSORT_KEY_BITS=8, 16, 32, 64 or 128"
#endif
