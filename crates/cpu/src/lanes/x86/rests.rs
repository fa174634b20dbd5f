//! [`Rests`] by the vectors of x86-64, AVX-512 and AVX2.

use std::arch::x86_64::*;

use super::bits_512::with_greater;
use super::{Half32, Wide32, move_on_8};
use crate::lanes::{Rests, Sorted};

/// 32 lanes of 16 bits, by AVX-512.
#[derive(Clone, Copy)]
pub(super) struct Wide16;
/// 16 lanes of 16 bits, by AVX2.
#[derive(Clone, Copy)]
pub(super) struct Half16;

/// Turns squares of four words, by what brings the lower or the upper words of two rows together,
/// then twos of words.
macro_rules! turn_4 {
    ($rows:ident, $low:ident $high:ident $low_2:ident $high_2:ident) => {{
        let rows: &mut [_; 4] = $rows.try_into().unwrap_unchecked();
        let [a, b, c, d] = *rows;
        let twos = [[$low(a, b), $low(c, d)], [$high(a, b), $high(c, d)]];
        for (half, [ab, cd]) in twos.into_iter().enumerate() {
            rows[2 * half] = $low_2(ab, cd);
            rows[2 * half + 1] = $high_2(ab, cd);
        }
    }};
}

/// Turns squares of eight words, by what brings words, twos of them, and fours together.
macro_rules! turn_8 {
    ($rows:ident, $low:ident $high:ident $low_2:ident $high_2:ident $low_4:ident $high_4:ident) => {{
        let rows: &mut [_; 8] = $rows.try_into().unwrap_unchecked();
        let [a, b, c, d, e, f, g, h] = *rows;
        let twos = [
            [$low(a, b), $low(c, d), $low(e, f), $low(g, h)],
            [$high(a, b), $high(c, d), $high(e, f), $high(g, h)],
        ];
        for (half, [ab, cd, ef, gh]) in twos.into_iter().enumerate() {
            let fours = [
                [$low_2(ab, cd), $low_2(ef, gh)],
                [$high_2(ab, cd), $high_2(ef, gh)],
            ];
            for (quarter, [abcd, efgh]) in fours.into_iter().enumerate() {
                rows[4 * half + 2 * quarter] = $low_4(abcd, efgh);
                rows[4 * half + 2 * quarter + 1] = $high_4(abcd, efgh);
            }
        }
    }};
}

impl Sorted for Wide16 {
    type Word = u16;
    type Vector = __m512i;
    const LANES: usize = 32;

    instructions! {
        store(to: *mut u16, vector: __m512i) { _mm512_storeu_si512(to.cast(), vector) }
        min(a: __m512i, b: __m512i) -> __m512i { _mm512_min_epu16(a, b) }
        max(a: __m512i, b: __m512i) -> __m512i { _mm512_max_epu16(a, b) }
        exchange(a: __m512i, b: __m512i) -> [__m512i; 2] {
            with_greater(_mm512_min_epu16(a, b), a, b)
        }
        widen(counts: *const u8) -> __m512i {
            _mm512_cvtepu8_epi16(_mm256_loadu_si256(counts.cast()))
        }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Sorted for Half16 {
    type Word = u16;
    type Vector = __m256i;
    const LANES: usize = 16;

    instructions! {
        store(to: *mut u16, vector: __m256i) { _mm256_storeu_si256(to.cast(), vector) }
        min(a: __m256i, b: __m256i) -> __m256i { _mm256_min_epu16(a, b) }
        max(a: __m256i, b: __m256i) -> __m256i { _mm256_max_epu16(a, b) }
        widen(counts: *const u8) -> __m256i {
            _mm256_cvtepu8_epi16(_mm_loadu_si128(counts.cast()))
        }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Rests for Wide16 {
    type Key = u32;

    instructions! {
        bases(first: u16, offsets: *const u16) -> __m512i {
            let offsets = _mm512_loadu_si512(offsets.cast());
            _mm512_add_epi16(_mm512_set1_epi16(first as i16), offsets)
        }
        rests(from: *const u16, counts: __m512i, row: u8, bases: __m512i) -> __m512i {
            let full = _mm512_cmpgt_epu16_mask(counts, _mm512_set1_epi16(i16::from(row)));
            let words = _mm512_maskz_loadu_epi16(full, from.cast());
            _mm512_mask_sub_epi16(_mm512_set1_epi32(-1), full, words, bases)
        }
        turn_squares(rows: &mut [__m512i]) {
            turn_8!(rows,
                _mm512_unpacklo_epi16 _mm512_unpackhi_epi16
                _mm512_unpacklo_epi32 _mm512_unpackhi_epi32
                _mm512_unpacklo_epi64 _mm512_unpackhi_epi64
            )
        }
        keys(rests: *const u16, base: u32, to: *mut u32) { keys_32(rests, base, to) }
    }
}

impl Rests for Half16 {
    type Key = u32;

    instructions! {
        bases(first: u16, offsets: *const u16) -> __m256i {
            let offsets = _mm256_loadu_si256(offsets.cast());
            _mm256_add_epi16(_mm256_set1_epi16(first as i16), offsets)
        }
        rests(from: *const u16, counts: __m256i, row: u8, bases: __m256i) -> __m256i {
            let full = _mm256_cmpgt_epi16(counts, _mm256_set1_epi16(i16::from(row)));
            let words = _mm256_loadu_si256(from.cast());
            let others = _mm256_xor_si256(full, _mm256_set1_epi32(-1));
            _mm256_or_si256(_mm256_sub_epi16(words, bases), others)
        }
        turn_squares(rows: &mut [__m256i]) {
            turn_8!(rows,
                _mm256_unpacklo_epi16 _mm256_unpackhi_epi16
                _mm256_unpacklo_epi32 _mm256_unpackhi_epi32
                _mm256_unpacklo_epi64 _mm256_unpackhi_epi64
            )
        }
        keys(rests: *const u16, base: u32, to: *mut u32) { keys_32(rests, base, to) }
    }
}

impl Rests for Wide32 {
    type Key = u64;

    instructions! {
        bases(first: u32, offsets: *const u32) -> __m512i {
            let offsets = _mm512_loadu_si512(offsets.cast());
            _mm512_add_epi32(_mm512_set1_epi32(first as i32), offsets)
        }
        rests(from: *const u32, counts: __m512i, row: u8, bases: __m512i) -> __m512i {
            let full = _mm512_cmpgt_epu32_mask(counts, _mm512_set1_epi32(i32::from(row)));
            let words = _mm512_maskz_loadu_epi32(full, from.cast());
            _mm512_mask_sub_epi32(_mm512_set1_epi32(-1), full, words, bases)
        }
        turn_squares(rows: &mut [__m512i]) {
            turn_4!(rows,
                _mm512_unpacklo_epi32 _mm512_unpackhi_epi32
                _mm512_unpacklo_epi64 _mm512_unpackhi_epi64
            )
        }
        keys(rests: *const u32, base: u64, to: *mut u64) { keys_64(rests, base, to) }
    }
}

impl Rests for Half32 {
    type Key = u64;

    instructions! {
        bases(first: u32, offsets: *const u32) -> __m256i {
            let offsets = _mm256_loadu_si256(offsets.cast());
            _mm256_add_epi32(_mm256_set1_epi32(first as i32), offsets)
        }
        rests(from: *const u32, counts: __m256i, row: u8, bases: __m256i) -> __m256i {
            let full = _mm256_cmpgt_epi32(counts, _mm256_set1_epi32(i32::from(row)));
            let words = _mm256_maskload_epi32(from.cast(), full);
            let others = _mm256_xor_si256(full, _mm256_set1_epi32(-1));
            _mm256_or_si256(_mm256_sub_epi32(words, bases), others)
        }
        turn_squares(rows: &mut [__m256i]) {
            turn_4!(rows,
                _mm256_unpacklo_epi32 _mm256_unpackhi_epi32
                _mm256_unpacklo_epi64 _mm256_unpackhi_epi64
            )
        }
        keys(rests: *const u32, base: u64, to: *mut u64) { keys_64(rests, base, to) }
    }
}

/// See [`Rests::keys`].
#[inline(always)]
unsafe fn keys_32(rests: *const u16, base: u32, to: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let rests = _mm256_cvtepu16_epi32(_mm_loadu_si128(rests.cast()));
        let keys = _mm256_add_epi32(rests, _mm256_set1_epi32(base as i32));
        _mm256_storeu_si256(to.cast(), keys);
    }
}

/// See [`Rests::keys`].
#[inline(always)]
unsafe fn keys_64(rests: *const u32, base: u64, to: *mut u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let rests = _mm256_cvtepu32_epi64(_mm_loadu_si128(rests.cast()));
        let keys = _mm256_add_epi64(rests, _mm256_set1_epi64x(base as i64));
        _mm256_storeu_si256(to.cast(), keys);
    }
}
