//! [`Lanes`] by the vectors of x86-64, AVX-512 and AVX2.

use std::arch::x86_64::*;
use std::convert::identity;

use sweepsort_core::{Width, Word};

use super::{Lanes, Vectored, VectoredOrNot};
use crate::instructions::Instructions;
use bits_256::{Half32, Half64};
use bits_512::{Wide32, Wide64};

mod bits_256;
mod bits_512;
mod floats;
mod rests;
mod search;

/// See [`by_vectors`](super::by_vectors).
///
/// # Safety
/// As there.
pub(super) unsafe fn by_vectors<W: Word, T: Vectored>(
    instructions: Instructions,
    work: T,
) -> Result<T::Output, T> {
    // SAFETY: the caller's promise.
    unsafe { by_width::<W, T, _>(instructions, work, Ok, Err) }
}

/// See [`by_vectors_or_not`](super::by_vectors_or_not).
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn by_vectors_or_not<W: Word, T: VectoredOrNot>(
    instructions: Instructions,
    work: T,
) -> T::Output {
    // SAFETY: the caller's promise.
    unsafe { by_width::<W, T, _>(instructions, work, identity, T::without) }
}

/// Does work by vectors of words as wide as `W`, or else what is to be done `otherwise`.
#[inline(always)]
unsafe fn by_width<W: Word, T: Vectored, R>(
    instructions: Instructions,
    work: T,
    done: impl FnOnce(T::Output) -> R,
    otherwise: impl FnOnce(T) -> R,
) -> R {
    // SAFETY: the caller's promise.
    unsafe {
        if const { matches!(W::WIDTH, Width::W32) } {
            return by_lanes::<Wide32, Half32, T, R>(instructions, work, done, otherwise);
        }
        if const { matches!(W::WIDTH, Width::W64) } {
            return by_lanes::<Wide64, Half64, T, R>(instructions, work, done, otherwise);
        }
    }
    otherwise(work)
}

/// The same, by vectors of AVX-512 or of AVX2.
#[inline(always)]
unsafe fn by_lanes<W: Lanes, H: Lanes, T: Vectored, R>(
    instructions: Instructions,
    work: T,
    done: impl FnOnce(T::Output) -> R,
    otherwise: impl FnOnce(T) -> R,
) -> R {
    // SAFETY: the caller's promise.
    unsafe {
        match instructions {
            Instructions::Avx512 => done(wide::<W, T>(work)),
            Instructions::Avx2 => done(half::<H, T>(work)),
            Instructions::Portable => otherwise(work),
        }
    }
}

/// Work compiled for AVX-512.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn wide<L: Lanes, T: Vectored>(work: T) -> T::Output {
    // SAFETY: the caller's promise.
    unsafe { work.run::<L>() }
}

/// Work compiled for AVX2.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn half<L: Lanes, T: Vectored>(work: T) -> T::Output {
    // SAFETY: the caller's promise.
    unsafe { work.run::<L>() }
}

/// A bit for each of the first `count` lanes of so many.
#[inline(always)]
unsafe fn first<const LANES: usize>(count: usize) -> u32 {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _bzhi_u32(u32::MAX, count.min(LANES) as u32) }
}

/// See [`Sorted::move_on`](super::Sorted::move_on).
#[inline(always)]
unsafe fn move_on_8(numbers: *mut u32, rows: u64, stride: u32) {
    // SAFETY: the caller vouches for the instructions, and for eight numbers.
    unsafe {
        let rows = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(rows as i64));
        let rows = _mm256_mullo_epi32(rows, _mm256_set1_epi32(stride as i32));
        let sum = _mm256_add_epi32(_mm256_loadu_si256(numbers.cast()), rows);
        _mm256_storeu_si256(numbers.cast(), sum);
    }
}

/// The numbers of words.
static NUMBERS: [u32; 32] = {
    let mut numbers = [0; 32];
    let mut i = 0;
    while i < 32 {
        numbers[i] = i as u32;
        i += 1;
    }
    numbers
};

/// See [`Keys::part`](super::Keys::part).
#[inline(always)]
unsafe fn part_64(pairs: [*const u64; 4], to: [*mut u64; 2]) {
    // SAFETY: the caller vouches for the instructions, and for what pointers reach.
    unsafe {
        let [a, b, c, d] = pairs.map(|pair| _mm_loadu_si128(pair.cast()));
        let (ac, bd) = (_mm256_set_m128i(c, a), _mm256_set_m128i(d, b));
        _mm256_storeu_si256(to[0].cast(), _mm256_unpacklo_epi64(ac, bd));
        _mm256_storeu_si256(to[1].cast(), _mm256_unpackhi_epi64(ac, bd));
    }
}

/// Ones where `a` is above `b`, as unsigned numbers.
#[inline(always)]
unsafe fn above(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let top = _mm256_set1_epi64x(i64::MIN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(a, top), _mm256_xor_si256(b, top))
    }
}

/// The numbers of lanes with the bits `x` turned.
const fn swapped<const N: usize>(x: usize) -> [u32; N] {
    let mut lanes = [0; N];
    let mut i = 0;
    while i < N {
        lanes[i] = (i ^ x) as u32;
        i += 1;
    }
    lanes
}

/// Ones in the lanes where the highest bit of `x` is set.
const fn upper(x: usize) -> u16 {
    let mut lanes = 0;
    let mut i = 0;
    while i < 16 {
        lanes |= ((i >> x.ilog2() & 1) as u16) << i;
        i += 1;
    }
    lanes
}
