//! Distances of 64 bits, compared as floats.
//!
//! Floats that are positive are in the order of their bits. Of two vectors of them, one instruction
//! tells the lesser ones, or the greater; of integers of 64 bits AVX2 has none that does, and that
//! of AVX-512 takes an Intel machine four times as long. Denormal ones are left out, since a
//! program may have the machine take them for zero, and so is what is no number.

use std::arch::x86_64::*;

use super::{Half64, Wide64, move_on_8};
use crate::lanes::Sorted;

/// The least normal float, by its bits.
const LEAST: u64 = f64::MIN_POSITIVE.to_bits();
/// And the greatest of all, which is infinite.
const GREATEST: u64 = f64::INFINITY.to_bits();

/// 8 lanes, by AVX-512.
#[derive(Clone, Copy)]
pub(super) struct WideFloats;
/// 4 lanes, by AVX2.
#[derive(Clone, Copy)]
pub(super) struct HalfFloats;

impl Sorted for WideFloats {
    type Word = u64;
    type Vector = __m512i;
    const LANES: usize = Wide64::LANES;
    const LEAST: u64 = LEAST;
    const GREATEST: u64 = GREATEST;
    const ALL: bool = false;

    instructions! {
        store(to: *mut u64, vector: __m512i) { Wide64::store(to, vector) }
        min(a: __m512i, b: __m512i) -> __m512i {
            _mm512_castpd_si512(_mm512_min_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)))
        }
        max(a: __m512i, b: __m512i) -> __m512i {
            _mm512_castpd_si512(_mm512_max_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)))
        }
        widen(counts: *const u8) -> __m512i { Wide64::widen(counts) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Sorted for HalfFloats {
    type Word = u64;
    type Vector = __m256i;
    const LANES: usize = Half64::LANES;
    const LEAST: u64 = LEAST;
    const GREATEST: u64 = GREATEST;
    const ALL: bool = false;

    instructions! {
        store(to: *mut u64, vector: __m256i) { Half64::store(to, vector) }
        min(a: __m256i, b: __m256i) -> __m256i {
            _mm256_castpd_si256(_mm256_min_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)))
        }
        max(a: __m256i, b: __m256i) -> __m256i {
            _mm256_castpd_si256(_mm256_max_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)))
        }
        widen(counts: *const u8) -> __m256i { Half64::widen(counts) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}
