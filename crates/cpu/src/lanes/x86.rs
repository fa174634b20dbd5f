//! [`Lanes`] by the vectors of x86-64, AVX-512 and AVX2.

use std::arch::asm;
use std::arch::x86_64::*;
use std::convert::identity;

use sweepsort_core::{Width, Word};

use super::{AnyVectored, ByLanes, Keys, Lanes, Rests, Sorted, Vectored, VectoredOrNot};
use crate::instructions::Instructions;
use crate::placing::Placing;
use crate::splitters::Tree;
use floats::{HalfFloats, WideFloats};
use rests::{Half16, Wide16};

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

/// 16 lanes of 32 bits, by AVX-512.
#[derive(Clone, Copy)]
struct Wide32;
/// 8 lanes of 64 bits, by AVX-512.
#[derive(Clone, Copy)]
struct Wide64;
/// 8 lanes of 32 bits, by AVX2.
#[derive(Clone, Copy)]
struct Half32;
/// 4 lanes of 64 bits, by AVX2.
#[derive(Clone, Copy)]
struct Half64;

/// Ternary logic: whether an odd number of three bits are set. So two vectors and what is the lesser in each lane tell
/// the greater, for it is what is left when the lesser is taken from both. Intel's machines have one unit for the lesser
/// or greater of 512 bits, and two for logic.
const OTHER: i32 = 0x96;

/// The lesser of each lane, and with it the greater, whatever a lane has.
#[inline(always)]
unsafe fn with_greater(lesser: __m512i, a: __m512i, b: __m512i) -> [__m512i; 2] {
    // SAFETY: the caller vouches for the instructions.
    unsafe { [lesser, _mm512_ternarylogic_epi32::<OTHER>(lesser, a, b)] }
}

/// A bit for each of the first `count` lanes of so many.
#[inline(always)]
unsafe fn first<const LANES: usize>(count: usize) -> u32 {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _bzhi_u32(u32::MAX, count.min(LANES) as u32) }
}

/// All ones in the first `count` lanes of 8.
#[inline(always)]
unsafe fn first_of_8(count: usize) -> __m256i {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(count.min(8) as i32), numbers)
    }
}

/// All ones in the first `count` lanes of 4.
#[inline(always)]
unsafe fn first_of_4(count: usize) -> __m256i {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let numbers = _mm256_setr_epi64x(0, 1, 2, 3);
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(count.min(4) as i64), numbers)
    }
}

impl Sorted for Wide32 {
    type Word = u32;
    type Vector = __m512i;
    const LANES: usize = 16;

    instructions! {
        store(to: *mut u32, vector: __m512i) { _mm512_storeu_si512(to.cast(), vector) }
        min(a: __m512i, b: __m512i) -> __m512i { _mm512_min_epu32(a, b) }
        max(a: __m512i, b: __m512i) -> __m512i { _mm512_max_epu32(a, b) }
        exchange(a: __m512i, b: __m512i) -> [__m512i; 2] {
            with_greater(_mm512_min_epu32(a, b), a, b)
        }
        widen(counts: *const u8) -> __m512i { _mm512_cvtepu8_epi32(_mm_loadu_si128(counts.cast())) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Keys for Wide32 {
    #[inline(always)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { wide::<Self, _>(ByLanes(work)) }
    }

    type Rests = Wide16;
    type Numbers = Wide32;
    type Distances = Wide32;
    const PICKS: bool = true;

    #[inline(always)]
    unsafe fn pick_4<const R: usize>(slots: *const u32, rows: __m512i, to: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let low = Self::load(slots);
            let picked = match R {
                ..=16 => _mm512_permutexvar_epi32(rows, low),
                _ => _mm512_permutex2var_epi32(low, rows, Self::load(slots.add(16))),
            };
            Self::store(to, picked);
        }
    }
    #[inline(always)]
    unsafe fn pick_8<const R: usize>(slots: *const u64, rows: __m512i, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(rows));
            let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(rows));
            Wide64::pick_8::<R>(slots, low, to);
            Wide64::pick_8::<R>(slots, high, to.add(8));
        }
    }

    instructions! {
        add(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_add_epi32(a, b) }
        sub(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_sub_epi32(a, b) }
        and(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_and_si512(a, b) }
        or(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_or_si512(a, b) }
        splat(word: u32) -> __m512i { _mm512_set1_epi32(word as i32) }
        load(from: *const u32) -> __m512i { _mm512_loadu_si512(from.cast()) }
        places(keys: __m512i, placing: &Placing<u32>) -> __m512i {
            let distance = Self::sub(keys, Self::splat(placing.least));
            let distance = _mm512_sll_epi32(distance, _mm_cvtsi32_si128(placing.zeros as i32));
            let scale = _mm512_set1_epi64(placing.scale as i64);
            let even = _mm512_srli_epi64::<32>(products_512(distance, scale));
            let odd = products_512(_mm512_srli_epi64::<32>(distance), scale);
            _mm512_mask_blend_epi32(0xaaaa, even, odd)
        }
        store_32(to: *mut u32, vector: __m512i) { Self::store(to, vector) }
        shl(a: __m512i, bits: u32) -> __m512i { _mm512_sll_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        shr(a: __m512i, bits: u32) -> __m512i { _mm512_srl_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        load_row(from: *const u32, counts: __m512i, row: u8, others: __m512i) -> __m512i {
            let row = _mm512_set1_epi32(i32::from(row));
            let full = _mm512_cmpgt_epu32_mask(counts, row);
            _mm512_mask_loadu_epi32(others, full, from.cast())
        }
        pad(a: __m512i, counts: __m512i, row: u8, others: __m512i) -> __m512i {
            let row = _mm512_set1_epi32(i32::from(row));
            let full = _mm512_cmpgt_epu32_mask(counts, row);
            _mm512_mask_mov_epi32(others, full, a)
        }
        transpose(rows: &mut [__m512i]) {
            let r: &mut [__m512i; 16] = rows.try_into().unwrap_unchecked();
            // Within quarters, then the quarters themselves.
            for four in r.as_chunks_mut::<4>().0 {
                Self::turn_squares(four);
            }
            for i in 0..4 {
                let [a, b, c, d] = [r[i], r[4 + i], r[8 + i], r[12 + i]];
                let (ab, cd) = (
                    _mm512_shuffle_i32x4::<0x88>(a, b),
                    _mm512_shuffle_i32x4::<0x88>(c, d),
                );
                let (ab_odd, cd_odd) = (
                    _mm512_shuffle_i32x4::<0xdd>(a, b),
                    _mm512_shuffle_i32x4::<0xdd>(c, d),
                );
                r[i] = _mm512_shuffle_i32x4::<0x88>(ab, cd);
                r[4 + i] = _mm512_shuffle_i32x4::<0x88>(ab_odd, cd_odd);
                r[8 + i] = _mm512_shuffle_i32x4::<0xdd>(ab, cd);
                r[12 + i] = _mm512_shuffle_i32x4::<0xdd>(ab_odd, cd_odd);
            }
        }
    }
}

impl Lanes for Wide32 {
    instructions! {
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_xor_si512(a, b) }
        store_16(to: *mut u16, vector: __m512i) {
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(vector))
        }
        load_16(from: *const u16) -> __m512i {
            _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()))
        }
        among(set: &[u64; 4], numbers: __m512i) -> u32 {
            let set = _mm512_castsi256_si512(_mm256_loadu_si256(set.as_ptr().cast()));
            let words = _mm512_permutexvar_epi32(_mm512_srli_epi32::<5>(numbers), set);
            let bits = _mm512_and_si512(numbers, _mm512_set1_epi32(31));
            let bits = _mm512_srlv_epi32(words, bits);
            u32::from(_mm512_test_epi32_mask(bits, _mm512_set1_epi32(1)))
        }
        swap<const X: usize>(a: __m512i) -> __m512i {
            match X {
                1 => _mm512_shuffle_epi32::<0b10_11_00_01>(a),
                2 => _mm512_shuffle_epi32::<0b01_00_11_10>(a),
                3 => _mm512_shuffle_epi32::<0b00_01_10_11>(a),
                4 => _mm512_shuffle_i32x4::<0b10_11_00_01>(a, a),
                8 => _mm512_shuffle_i32x4::<0b01_00_11_10>(a, a),
                12 => _mm512_shuffle_i32x4::<0b00_01_10_11>(a, a),
                _ => {
                    let lanes = _mm512_loadu_si512(const { swapped::<16>(X) }.as_ptr().cast());
                    _mm512_permutexvar_epi32(lanes, a)
                }
            }
        }
        trade<const X: usize>(a: __m512i, b: __m512i) -> [__m512i; 2] {
            let with = const { upper(X) };
            [
                _mm512_mask_mov_epi32(a, with, Self::swap::<X>(b)),
                _mm512_mask_mov_epi32(b, !with, Self::swap::<X>(a)),
            ]
        }
        turned(a: __m512i) -> __m512i { Self::swap::<15>(a) }
        zip(a: __m512i, b: __m512i) -> [__m512i; 2] {
            let [low, high] = const { &zipped(1) };
            [
                _mm512_permutex2var_epi32(a, Self::load(low.as_ptr()), b),
                _mm512_permutex2var_epi32(a, Self::load(high.as_ptr()), b),
            ]
        }
        search(tree: &Tree<u32>, codes: *const u32, n: usize, below: *mut u8) -> usize {
            search::wide32(tree, codes, n - n % Self::LANES, below)
        }
        load_some(from: *const u32, count: usize, others: __m512i) -> __m512i {
            let some = first::<16>(count) as u16;
            _mm512_mask_loadu_epi32(others, some, from.cast())
        }
        store_some(to: *mut u32, a: __m512i, count: usize) {
            store_words_512(to, a, count)
        }
        store_last(end: *mut u32, a: __m512i, count: usize) {
            let some = u32::from(u16::MAX) >> (Self::LANES - count);
            _mm512_mask_storeu_epi32(end.sub(count).cast(), some as u16, a)
        }
        same(a: __m512i, b: __m512i) -> u32 { u32::from(_mm512_cmpeq_epi32_mask(a, b)) }
        slots(codes: __m512i, factor: u32) -> __m512i {
            _mm512_srli_epi32::<27>(_mm512_mullo_epi32(codes, _mm512_set1_epi32(factor as i32)))
        }
        look_up(table: *const u32, slots: __m512i) -> __m512i {
            _mm512_permutex2var_epi32(Self::load(table), slots, Self::load(table.add(16)))
        }
        below(a: __m512i, b: __m512i) -> u32 { u32::from(_mm512_cmplt_epu32_mask(a, b)) }
        compress(a: __m512i, lanes: u32) -> __m512i {
            _mm512_maskz_compress_epi32(lanes as u16, a)
        }
        cross<const X: usize>(a: __m512i) -> __m512i {
            let b = Self::swap::<X>(a);
            _mm512_mask_ternarylogic_epi32::<OTHER>(_mm512_min_epu32(a, b), const { upper(X) }, a, b)
        }
    }
}

impl Sorted for Wide64 {
    type Word = u64;
    type Vector = __m512i;
    const LANES: usize = 8;

    instructions! {
        store(to: *mut u64, vector: __m512i) { _mm512_storeu_si512(to.cast(), vector) }
        min(a: __m512i, b: __m512i) -> __m512i { _mm512_min_epu64(a, b) }
        max(a: __m512i, b: __m512i) -> __m512i { _mm512_max_epu64(a, b) }
        exchange(a: __m512i, b: __m512i) -> [__m512i; 2] {
            with_greater(_mm512_min_epu64(a, b), a, b)
        }
        widen(counts: *const u8) -> __m512i { _mm512_cvtepu8_epi64(_mm_loadl_epi64(counts.cast())) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Keys for Wide64 {
    #[inline(always)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { wide::<Self, _>(ByLanes(work)) }
    }

    type Rests = Wide32;
    type Numbers = Wide32;
    type Distances = WideFloats;
    const PICKS: bool = true;

    #[inline(always)]
    unsafe fn pick_4<const R: usize>(slots: *const u32, rows: __m512i, to: *mut u32) {
        // SAFETY: the caller's promise. The upper half of the rows is not asked for.
        unsafe {
            let rows = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(rows));
            let low = Wide32::load(slots);
            let picked = match R {
                ..=16 => _mm512_permutexvar_epi32(rows, low),
                _ => _mm512_permutex2var_epi32(low, rows, Wide32::load(slots.add(16))),
            };
            _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(picked));
        }
    }
    #[inline(always)]
    unsafe fn pick_8<const R: usize>(slots: *const u64, rows: __m512i, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let slot = |i: usize| Self::load(slots.add(i));
            let picked = match R {
                ..=8 => _mm512_permutexvar_epi64(rows, slot(0)),
                9..=16 => _mm512_permutex2var_epi64(slot(0), rows, slot(8)),
                _ => {
                    let low = _mm512_permutex2var_epi64(slot(0), rows, slot(8));
                    let high = _mm512_permutex2var_epi64(slot(16), rows, slot(24));
                    let upper = _mm512_test_epi64_mask(rows, _mm512_set1_epi64(16));
                    _mm512_mask_mov_epi64(low, upper, high)
                }
            };
            Self::store(to, picked);
        }
    }

    instructions! {
        add(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_add_epi64(a, b) }
        sub(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_sub_epi64(a, b) }
        and(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_and_si512(a, b) }
        or(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_or_si512(a, b) }
        splat(word: u64) -> __m512i { _mm512_set1_epi64(word as i64) }
        load(from: *const u64) -> __m512i { _mm512_loadu_si512(from.cast()) }
        places(keys: __m512i, placing: &Placing<u64>) -> __m512i {
            let distance = Self::sub(keys, Self::splat(placing.least));
            let distance = _mm512_sll_epi64(distance, _mm_cvtsi32_si128(placing.zeros as i32));
            let distance = _mm512_srli_epi64::<32>(distance);
            let scale = _mm512_set1_epi64(placing.scale as i64);
            _mm512_srli_epi64::<32>(products_512(distance, scale))
        }
        store_32(to: *mut u32, vector: __m512i) {
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi64_epi32(vector))
        }
        shl(a: __m512i, bits: u32) -> __m512i { _mm512_sll_epi64(a, _mm_cvtsi32_si128(bits as i32)) }
        shr(a: __m512i, bits: u32) -> __m512i { _mm512_srl_epi64(a, _mm_cvtsi32_si128(bits as i32)) }
        load_row(from: *const u64, counts: __m512i, row: u8, others: __m512i) -> __m512i {
            let row = _mm512_set1_epi64(i64::from(row));
            let full = _mm512_cmpgt_epu64_mask(counts, row);
            _mm512_mask_loadu_epi64(others, full, from.cast())
        }
        pad(a: __m512i, counts: __m512i, row: u8, others: __m512i) -> __m512i {
            let row = _mm512_set1_epi64(i64::from(row));
            let full = _mm512_cmpgt_epu64_mask(counts, row);
            _mm512_mask_mov_epi64(others, full, a)
        }
        transpose(rows: &mut [__m512i]) {
            let r: &mut [__m512i; 8] = rows.try_into().unwrap_unchecked();
            for i in 0..4 {
                let (a, b) = (r[2 * i], r[2 * i + 1]);
                r[2 * i] = _mm512_unpacklo_epi64(a, b);
                r[2 * i + 1] = _mm512_unpackhi_epi64(a, b);
            }
            for i in 0..2 {
                let [a, b, c, d] = [r[i], r[2 + i], r[4 + i], r[6 + i]];
                let (ab, cd) = (
                    _mm512_shuffle_i64x2::<0x88>(a, b),
                    _mm512_shuffle_i64x2::<0x88>(c, d),
                );
                let (ab_odd, cd_odd) = (
                    _mm512_shuffle_i64x2::<0xdd>(a, b),
                    _mm512_shuffle_i64x2::<0xdd>(c, d),
                );
                r[i] = _mm512_shuffle_i64x2::<0x88>(ab, cd);
                r[2 + i] = _mm512_shuffle_i64x2::<0x88>(ab_odd, cd_odd);
                r[4 + i] = _mm512_shuffle_i64x2::<0xdd>(ab, cd);
                r[6 + i] = _mm512_shuffle_i64x2::<0xdd>(ab_odd, cd_odd);
            }
        }
        part(pairs: [*const u64; 4], to: [*mut u64; 2]) { part_64(pairs, to) }
    }
}

impl Lanes for Wide64 {
    instructions! {
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_xor_si512(a, b) }
        store_16(to: *mut u16, vector: __m512i) {
            _mm_storeu_si128(to.cast(), _mm512_cvtepi64_epi16(vector))
        }
        load_16(from: *const u16) -> __m512i {
            _mm512_cvtepu16_epi64(_mm_loadu_si128(from.cast()))
        }
        among(set: &[u64; 4], numbers: __m512i) -> u32 {
            let set = _mm512_castsi256_si512(_mm256_loadu_si256(set.as_ptr().cast()));
            let words = _mm512_permutexvar_epi64(_mm512_srli_epi64::<6>(numbers), set);
            let bits = _mm512_and_si512(numbers, _mm512_set1_epi64(63));
            let bits = _mm512_srlv_epi64(words, bits);
            u32::from(_mm512_test_epi64_mask(bits, _mm512_set1_epi64(1)))
        }
        swap<const X: usize>(a: __m512i) -> __m512i {
            // A lane is two of 32 bits.
            match X {
                1 => Wide32::swap::<2>(a),
                2 => Wide32::swap::<4>(a),
                3 => Wide32::swap::<6>(a),
                4 => Wide32::swap::<8>(a),
                5 => Wide32::swap::<10>(a),
                6 => Wide32::swap::<12>(a),
                7 => Wide32::swap::<14>(a),
                _ => unreachable!("eight lanes"),
            }
        }
        trade<const X: usize>(a: __m512i, b: __m512i) -> [__m512i; 2] {
            match X {
                1 => Wide32::trade::<2>(a, b),
                2 => Wide32::trade::<4>(a, b),
                _ => Wide32::trade::<8>(a, b),
            }
        }
        turned(a: __m512i) -> __m512i { Self::swap::<7>(a) }
        zip(a: __m512i, b: __m512i) -> [__m512i; 2] {
            let [low, high] = const { &zipped(2) };
            [
                _mm512_permutex2var_epi32(a, Wide32::load(low.as_ptr()), b),
                _mm512_permutex2var_epi32(a, Wide32::load(high.as_ptr()), b),
            ]
        }
        search(tree: &Tree<u64>, codes: *const u64, n: usize, below: *mut u8) -> usize {
            search::wide64(tree, codes, n - n % Self::LANES, below)
        }
        load_some(from: *const u64, count: usize, others: __m512i) -> __m512i {
            let some = first::<8>(count) as u8;
            _mm512_mask_loadu_epi64(others, some, from.cast())
        }
        store_some(to: *mut u64, a: __m512i, count: usize) {
            store_words_512(to.cast(), a, 2 * count)
        }
        store_last(end: *mut u64, a: __m512i, count: usize) {
            let some = u32::from(u8::MAX) >> (Self::LANES - count);
            _mm512_mask_storeu_epi64(end.sub(count).cast(), some as u8, a)
        }
        same(a: __m512i, b: __m512i) -> u32 { u32::from(_mm512_cmpeq_epi64_mask(a, b)) }
        slots(codes: __m512i, factor: u32) -> __m512i {
            let folded = _mm512_xor_si512(codes, _mm512_srli_epi64::<32>(codes));
            let product = _mm512_mul_epu32(folded, _mm512_set1_epi64(i64::from(factor)));
            _mm512_and_si512(_mm512_srli_epi64::<27>(product), _mm512_set1_epi64(31))
        }
        look_up(table: *const u64, slots: __m512i) -> __m512i {
            let eight = |i: usize| Self::load(table.add(8 * i));
            let low = _mm512_permutex2var_epi64(eight(0), slots, eight(1));
            let high = _mm512_permutex2var_epi64(eight(2), slots, eight(3));
            let upper = _mm512_test_epi64_mask(slots, _mm512_set1_epi64(16));
            _mm512_mask_mov_epi64(low, upper, high)
        }
        below(a: __m512i, b: __m512i) -> u32 { u32::from(_mm512_cmplt_epu64_mask(a, b)) }
        compress(a: __m512i, lanes: u32) -> __m512i {
            _mm512_maskz_compress_epi64(lanes as u8, a)
        }
        cross<const X: usize>(a: __m512i) -> __m512i {
            let b = Self::swap::<X>(a);
            _mm512_mask_ternarylogic_epi64::<OTHER>(_mm512_min_epu64(a, b), const { upper(X) as u8 }, a, b)
        }
    }
}

impl Sorted for Half32 {
    type Word = u32;
    type Vector = __m256i;
    const LANES: usize = 8;

    instructions! {
        store(to: *mut u32, vector: __m256i) { _mm256_storeu_si256(to.cast(), vector) }
        min(a: __m256i, b: __m256i) -> __m256i { _mm256_min_epu32(a, b) }
        max(a: __m256i, b: __m256i) -> __m256i { _mm256_max_epu32(a, b) }
        widen(counts: *const u8) -> __m256i { _mm256_cvtepu8_epi32(_mm_loadl_epi64(counts.cast())) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Keys for Half32 {
    #[inline(always)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { half::<Self, _>(ByLanes(work)) }
    }

    type Rests = Half16;
    type Numbers = Half32;
    type Distances = Half32;
    const PICKS: bool = false;

    unsafe fn pick_4<const R: usize>(_: *const u32, _: __m256i, _: *mut u32) {
        unreachable!("no instructions to pick payloads")
    }
    unsafe fn pick_8<const R: usize>(_: *const u64, _: __m256i, _: *mut u64) {
        unreachable!("no instructions to pick payloads")
    }

    instructions! {
        add(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_add_epi32(a, b) }
        sub(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_sub_epi32(a, b) }
        and(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_and_si256(a, b) }
        or(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_or_si256(a, b) }
        splat(word: u32) -> __m256i { _mm256_set1_epi32(word as i32) }
        load(from: *const u32) -> __m256i { _mm256_loadu_si256(from.cast()) }
        places(keys: __m256i, placing: &Placing<u32>) -> __m256i {
            let distance = Self::sub(keys, Self::splat(placing.least));
            let distance = _mm256_sll_epi32(distance, _mm_cvtsi32_si128(placing.zeros as i32));
            let scale = _mm256_set1_epi64x(placing.scale as i64);
            let even = _mm256_srli_epi64::<32>(products_256(distance, scale));
            let odd = products_256(_mm256_srli_epi64::<32>(distance), scale);
            _mm256_blend_epi32::<0xaa>(even, odd)
        }
        store_32(to: *mut u32, vector: __m256i) { Self::store(to, vector) }
        shl(a: __m256i, bits: u32) -> __m256i { _mm256_sll_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        shr(a: __m256i, bits: u32) -> __m256i { _mm256_srl_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        load_row(from: *const u32, counts: __m256i, row: u8, others: __m256i) -> __m256i {
            let full = _mm256_cmpgt_epi32(counts, _mm256_set1_epi32(i32::from(row)));
            let words = _mm256_maskload_epi32(from.cast(), full);
            _mm256_blendv_epi8(others, words, full)
        }
        pad(a: __m256i, counts: __m256i, row: u8, others: __m256i) -> __m256i {
            let full = _mm256_cmpgt_epi32(counts, _mm256_set1_epi32(i32::from(row)));
            _mm256_blendv_epi8(others, a, full)
        }
        transpose(rows: &mut [__m256i]) {
            let r: &mut [__m256i; 8] = rows.try_into().unwrap_unchecked();
            for four in r.as_chunks_mut::<4>().0 {
                Self::turn_squares(four);
            }
            for i in 0..4 {
                let (a, b) = (r[i], r[4 + i]);
                r[i] = _mm256_permute2x128_si256::<0x20>(a, b);
                r[4 + i] = _mm256_permute2x128_si256::<0x31>(a, b);
            }
        }
    }
}

impl Lanes for Half32 {
    instructions! {
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_xor_si256(a, b) }
        store_16(to: *mut u16, vector: __m256i) {
            // The lower half of each lane within both halves of the vector, and those together.
            let lower = _mm256_set1_epi64x(0x0d0c_0908_0504_0100);
            let lower = _mm256_shuffle_epi8(vector, lower);
            let halves = _mm256_permute4x64_epi64::<0b1000>(lower);
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(halves))
        }
        load_16(from: *const u16) -> __m256i {
            _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()))
        }
        among(set: &[u64; 4], numbers: __m256i) -> u32 {
            let set = _mm256_loadu_si256(set.as_ptr().cast());
            let words = _mm256_permutevar8x32_epi32(set, _mm256_srli_epi32::<5>(numbers));
            // The number's bit becomes the lane's highest.
            let bits = _mm256_andnot_si256(numbers, _mm256_set1_epi32(31));
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sllv_epi32(words, bits))) as u32
        }
        swap<const X: usize>(a: __m256i) -> __m256i {
            match X {
                1 => _mm256_shuffle_epi32::<0b10_11_00_01>(a),
                2 => _mm256_shuffle_epi32::<0b01_00_11_10>(a),
                3 => _mm256_shuffle_epi32::<0b00_01_10_11>(a),
                4 => _mm256_permute4x64_epi64::<0b01_00_11_10>(a),
                _ => {
                    let lanes = _mm256_loadu_si256(const { swapped::<8>(X) }.as_ptr().cast());
                    _mm256_permutevar8x32_epi32(a, lanes)
                }
            }
        }
        trade<const X: usize>(a: __m256i, b: __m256i) -> [__m256i; 2] {
            let (a_swapped, b_swapped) = (Self::swap::<X>(a), Self::swap::<X>(b));
            match X {
                4 => [
                    _mm256_blend_epi32::<0xf0>(a, b_swapped),
                    _mm256_blend_epi32::<0xf0>(a_swapped, b),
                ],
                2 => [
                    _mm256_blend_epi32::<0xcc>(a, b_swapped),
                    _mm256_blend_epi32::<0xcc>(a_swapped, b),
                ],
                _ => [
                    _mm256_blend_epi32::<0xaa>(a, b_swapped),
                    _mm256_blend_epi32::<0xaa>(a_swapped, b),
                ],
            }
        }
        turned(a: __m256i) -> __m256i { Self::swap::<7>(a) }
        zip(a: __m256i, b: __m256i) -> [__m256i; 2] {
            let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            [
                _mm256_permute2x128_si256::<0x20>(low, high),
                _mm256_permute2x128_si256::<0x31>(low, high),
            ]
        }
        search(tree: &Tree<u32>, codes: *const u32, n: usize, below: *mut u8) -> usize {
            search::half32(tree, codes, n - n % Self::LANES, below)
        }
        load_some(from: *const u32, count: usize, others: __m256i) -> __m256i {
            let some = first_of_8(count);
            _mm256_blendv_epi8(others, _mm256_maskload_epi32(from.cast(), some), some)
        }
        store_some(to: *mut u32, a: __m256i, count: usize) {
            store_words_256(to, a, count)
        }
        store_last(end: *mut u32, a: __m256i, count: usize) {
            store_last_words_256(end, a, count)
        }
        same(a: __m256i, b: __m256i) -> u32 {
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))) as u32
        }
        slots(codes: __m256i, factor: u32) -> __m256i {
            _mm256_srli_epi32::<27>(_mm256_mullo_epi32(codes, _mm256_set1_epi32(factor as i32)))
        }
        look_up(table: *const u32, slots: __m256i) -> __m256i {
            _mm256_i32gather_epi32::<4>(table.cast(), slots)
        }
        below(a: __m256i, b: __m256i) -> u32 {
            let top = _mm256_set1_epi32(i32::MIN);
            let below = _mm256_cmpgt_epi32(_mm256_xor_si256(b, top), _mm256_xor_si256(a, top));
            _mm256_movemask_ps(_mm256_castsi256_ps(below)) as u32
        }
        compress(a: __m256i, lanes: u32) -> __m256i {
            const TABLE: [[u32; 8]; 256] = compressed(1);
            let words = TABLE[(lanes & 0xff) as usize].as_ptr();
            _mm256_permutevar8x32_epi32(a, _mm256_loadu_si256(words.cast()))
        }
        cross<const X: usize>(a: __m256i) -> __m256i {
            let b = Self::swap::<X>(a);
            let (min, max) = (_mm256_min_epu32(a, b), _mm256_max_epu32(a, b));
            match X {
                4.. => _mm256_blend_epi32::<0xf0>(min, max),
                2.. => _mm256_blend_epi32::<0xcc>(min, max),
                _ => _mm256_blend_epi32::<0xaa>(min, max),
            }
        }
    }
}

impl Sorted for Half64 {
    type Word = u64;
    type Vector = __m256i;
    const LANES: usize = 4;

    instructions! {
        store(to: *mut u64, vector: __m256i) { _mm256_storeu_si256(to.cast(), vector) }
        min(a: __m256i, b: __m256i) -> __m256i { _mm256_blendv_epi8(a, b, above(a, b)) }
        max(a: __m256i, b: __m256i) -> __m256i { _mm256_blendv_epi8(b, a, above(a, b)) }
        widen(counts: *const u8) -> __m256i { _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(counts.cast::<i32>().read_unaligned())) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Keys for Half64 {
    #[inline(always)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { half::<Self, _>(ByLanes(work)) }
    }

    type Rests = Half32;
    type Numbers = Half32;
    type Distances = HalfFloats;
    const PICKS: bool = false;

    unsafe fn pick_4<const R: usize>(_: *const u32, _: __m256i, _: *mut u32) {
        unreachable!("no instructions to pick payloads")
    }
    unsafe fn pick_8<const R: usize>(_: *const u64, _: __m256i, _: *mut u64) {
        unreachable!("no instructions to pick payloads")
    }

    instructions! {
        add(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_add_epi64(a, b) }
        sub(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_sub_epi64(a, b) }
        and(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_and_si256(a, b) }
        or(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_or_si256(a, b) }
        splat(word: u64) -> __m256i { _mm256_set1_epi64x(word as i64) }
        load(from: *const u64) -> __m256i { _mm256_loadu_si256(from.cast()) }
        places(keys: __m256i, placing: &Placing<u64>) -> __m256i {
            let distance = Self::sub(keys, Self::splat(placing.least));
            let distance = _mm256_sll_epi64(distance, _mm_cvtsi32_si128(placing.zeros as i32));
            let distance = _mm256_srli_epi64::<32>(distance);
            let scale = _mm256_set1_epi64x(placing.scale as i64);
            _mm256_srli_epi64::<32>(products_256(distance, scale))
        }
        store_32(to: *mut u32, vector: __m256i) {
            let even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
            let words = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(vector, even));
            _mm_storeu_si128(to.cast(), words)
        }
        shl(a: __m256i, bits: u32) -> __m256i { _mm256_sll_epi64(a, _mm_cvtsi32_si128(bits as i32)) }
        shr(a: __m256i, bits: u32) -> __m256i { _mm256_srl_epi64(a, _mm_cvtsi32_si128(bits as i32)) }
        load_row(from: *const u64, counts: __m256i, row: u8, others: __m256i) -> __m256i {
            let full = _mm256_cmpgt_epi64(counts, _mm256_set1_epi64x(i64::from(row)));
            let words = _mm256_maskload_epi64(from.cast(), full);
            _mm256_blendv_epi8(others, words, full)
        }
        pad(a: __m256i, counts: __m256i, row: u8, others: __m256i) -> __m256i {
            let full = _mm256_cmpgt_epi64(counts, _mm256_set1_epi64x(i64::from(row)));
            _mm256_blendv_epi8(others, a, full)
        }
        transpose(rows: &mut [__m256i]) {
            let r: &mut [__m256i; 4] = rows.try_into().unwrap_unchecked();
            let (a, b) = (
                _mm256_unpacklo_epi64(r[0], r[1]),
                _mm256_unpackhi_epi64(r[0], r[1]),
            );
            let (c, d) = (
                _mm256_unpacklo_epi64(r[2], r[3]),
                _mm256_unpackhi_epi64(r[2], r[3]),
            );
            r[0] = _mm256_permute2x128_si256::<0x20>(a, c);
            r[1] = _mm256_permute2x128_si256::<0x20>(b, d);
            r[2] = _mm256_permute2x128_si256::<0x31>(a, c);
            r[3] = _mm256_permute2x128_si256::<0x31>(b, d);
        }
        part(pairs: [*const u64; 4], to: [*mut u64; 2]) { part_64(pairs, to) }
    }
}

impl Lanes for Half64 {
    instructions! {
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_xor_si256(a, b) }
        store_16(to: *mut u16, vector: __m256i) {
            // The lowest quarter of each lane within both halves of the vector, and those together.
            let lowest = _mm256_shuffle_epi8(vector, _mm256_set1_epi32(0x0908_0100));
            let halves = _mm_unpacklo_epi32(
                _mm256_castsi256_si128(lowest),
                _mm256_extracti128_si256::<1>(lowest),
            );
            _mm_storel_epi64(to.cast(), halves)
        }
        load_16(from: *const u16) -> __m256i {
            _mm256_cvtepu16_epi64(_mm_loadl_epi64(from.cast()))
        }
        among(set: &[u64; 4], numbers: __m256i) -> u32 {
            let set = _mm256_loadu_si256(set.as_ptr().cast());
            // Of each lane's two words the lower is the number's.
            let words = _mm256_permutevar8x32_epi32(set, _mm256_srli_epi32::<5>(numbers));
            let bits = _mm256_andnot_si256(numbers, _mm256_set1_epi64x(31));
            let bits = _mm256_slli_epi64::<32>(_mm256_sllv_epi32(words, bits));
            _mm256_movemask_pd(_mm256_castsi256_pd(bits)) as u32
        }
        swap<const X: usize>(a: __m256i) -> __m256i {
            match X {
                1 => Half32::swap::<2>(a),
                2 => Half32::swap::<4>(a),
                _ => _mm256_permute4x64_epi64::<0b00_01_10_11>(a),
            }
        }
        trade<const X: usize>(a: __m256i, b: __m256i) -> [__m256i; 2] {
            match X {
                1 => Half32::trade::<2>(a, b),
                _ => Half32::trade::<4>(a, b),
            }
        }
        turned(a: __m256i) -> __m256i { Self::swap::<3>(a) }
        zip(a: __m256i, b: __m256i) -> [__m256i; 2] {
            let (low, high) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            [
                _mm256_permute2x128_si256::<0x20>(low, high),
                _mm256_permute2x128_si256::<0x31>(low, high),
            ]
        }
        load_some(from: *const u64, count: usize, others: __m256i) -> __m256i {
            let some = first_of_4(count);
            _mm256_blendv_epi8(others, _mm256_maskload_epi64(from.cast(), some), some)
        }
        store_some(to: *mut u64, a: __m256i, count: usize) {
            store_words_256(to.cast(), a, 2 * count)
        }
        store_last(end: *mut u64, a: __m256i, count: usize) {
            store_last_words_256(end.cast(), a, 2 * count)
        }
        same(a: __m256i, b: __m256i) -> u32 {
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b))) as u32
        }
        slots(codes: __m256i, factor: u32) -> __m256i {
            let folded = _mm256_xor_si256(codes, _mm256_srli_epi64::<32>(codes));
            let product = _mm256_mul_epu32(folded, _mm256_set1_epi64x(i64::from(factor)));
            _mm256_and_si256(_mm256_srli_epi64::<27>(product), _mm256_set1_epi64x(31))
        }
        look_up(table: *const u64, slots: __m256i) -> __m256i {
            _mm256_i64gather_epi64::<8>(table.cast(), slots)
        }
        below(a: __m256i, b: __m256i) -> u32 {
            _mm256_movemask_pd(_mm256_castsi256_pd(above(b, a))) as u32
        }
        compress(a: __m256i, lanes: u32) -> __m256i {
            const TABLE: [[u32; 8]; 16] = compressed(2);
            let words = TABLE[(lanes & 0xf) as usize].as_ptr();
            _mm256_permutevar8x32_epi32(a, _mm256_loadu_si256(words.cast()))
        }
        cross<const X: usize>(a: __m256i) -> __m256i {
            let b = Self::swap::<X>(a);
            // One comparison serves both: greater where that is wanted, else lesser.
            let greater = above(a, b);
            let upper = match X {
                2.. => _mm256_setr_epi64x(0, 0, -1, -1),
                _ => _mm256_setr_epi64x(0, -1, 0, -1),
            };
            _mm256_blendv_epi8(a, b, _mm256_xor_si256(greater, upper))
        }
    }

    // Four lanes are too few: to gather a level's bounds took twice as long.
    unsafe fn search(_: &Tree<u64>, _: *const u64, _: usize, _: *mut u8) -> usize {
        0
    }
}

/// The products of the lower halves of words of 64 bits. In a loop the compiler takes the lower halves of what stays the same
/// out of it, does not know them as such any more, and multiplies whole words, which takes several instructions.
#[inline]
#[target_feature(enable = "avx512f")]
fn products_512(a: __m512i, b: __m512i) -> __m512i {
    let products;
    // SAFETY: this is all it does.
    unsafe {
        asm!(
            "vpmuludq {}, {}, {}",
            lateout(zmm_reg) products, in(zmm_reg) a, in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    products
}

/// See [`products_512`].
#[inline]
#[target_feature(enable = "avx2")]
fn products_256(a: __m256i, b: __m256i) -> __m256i {
    let products;
    // SAFETY: this is all it does.
    unsafe {
        asm!(
            "vpmuludq {}, {}, {}",
            lateout(ymm_reg) products, in(ymm_reg) a, in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    products
}

/// See [`Sorted::move_on`].
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

/// Stores the first `count` words of a vector, or all of it. Not by a mask: what is loaded soon from behind such a store
/// would wait for it, and by AVX2 it takes some machines as long as twelve whole ones.
#[inline(always)]
unsafe fn store_words_512(to: *mut u32, a: __m512i, count: usize) {
    // SAFETY: the caller vouches for the instructions, and for the place of the words.
    unsafe {
        if count >= 16 {
            _mm512_storeu_si512(to.cast(), a);
        } else if count >= 8 {
            let last = _mm512_loadu_si512(NUMBERS.as_ptr().add(count - 8).cast());
            let last = _mm512_castsi512_si256(_mm512_permutexvar_epi32(last, a));
            _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(a));
            _mm256_storeu_si256(to.add(count - 8).cast(), last);
        } else {
            store_words_256(to, _mm512_castsi512_si256(a), count);
        }
    }
}

/// The same of a shorter vector.
#[inline(always)]
unsafe fn store_words_256(to: *mut u32, a: __m256i, count: usize) {
    // SAFETY: the caller vouches for the instructions, and for the place of the words.
    unsafe {
        if count >= 8 {
            return _mm256_storeu_si256(to.cast(), a);
        }
        let first = _mm256_castsi256_si128(a);
        if count < 2 {
            if count == 1 {
                _mm_storeu_si32(to.cast(), first);
            }
            return;
        }
        let size = if count >= 4 { 4 } else { 2 };
        let last = _mm256_loadu_si256(NUMBERS.as_ptr().add(count - size).cast());
        let last = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(a, last));
        let place = to.add(count - size);
        if size == 4 {
            _mm_storeu_si128(to.cast(), first);
            _mm_storeu_si128(place.cast(), last);
        } else {
            _mm_storel_epi64(to.cast(), first);
            _mm_storel_epi64(place.cast(), last);
        }
    }
}

/// Stores the first `count` words of a vector, the last of them in front of `end`, and again what is in front of them.
#[inline(always)]
unsafe fn store_last_words_256(end: *mut u32, a: __m256i, count: usize) {
    // SAFETY: the caller vouches for the instructions, and for the place of all words; of a number the instruction takes
    // the lowest three bits.
    unsafe {
        let place = end.sub(8).cast();
        let numbers = _mm256_loadu_si256(NUMBERS.as_ptr().add(count).cast());
        let turned = _mm256_permutevar8x32_epi32(a, numbers);
        let last = _mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(7));
        let words = _mm256_blendv_epi8(_mm256_loadu_si256(place), turned, last);
        _mm256_storeu_si256(place, words);
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

/// See [`Keys::part`].
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

/// The numbers of the lanes of two vectors of 512 bits, by turns from either, for words of 32 bits, of which a lane has
/// `words`.
const fn zipped(words: usize) -> [[u32; 16]; 2] {
    let mut numbers = [[0; 16]; 2];
    let mut i = 0;
    while i < 32 {
        let (lane, word) = (i / words, i % words);
        numbers[i / 16][i % 16] = (lane % 2 * 16 + lane / 2 * words + word) as u32;
        i += 1;
    }
    numbers
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

/// For each set of lanes, the numbers of their words of 32 bits; a lane has `words`.
const fn compressed<const SETS: usize>(words: usize) -> [[u32; 8]; SETS] {
    let mut table = [[0; 8]; SETS];
    let mut set = 0;
    while set < SETS {
        let (mut word, mut place) = (0, 0);
        while word < 8 {
            if set >> (word / words) & 1 == 1 {
                table[set][place] = word as u32;
                place += 1;
            }
            word += 1;
        }
        set += 1;
    }
    table
}
