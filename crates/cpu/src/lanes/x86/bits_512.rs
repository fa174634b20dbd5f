//! Vectors of 512 bits, by AVX-512.

use std::arch::asm;
use std::arch::x86_64::*;

use super::bits_256::store_words_256;
use super::floats::WideFloats;
use super::rests::Wide16;
use super::{NUMBERS, first, move_on_8, part_64, search, swapped, upper, wide};
use crate::lanes::{AnyVectored, ByLanes, Keys, Lanes, Rests, Sorted};
use crate::placing::Placing;
use crate::splitters::Tree;

/// 16 lanes of 32 bits, by AVX-512.
#[derive(Clone, Copy)]
pub(super) struct Wide32;
/// 8 lanes of 64 bits, by AVX-512.
#[derive(Clone, Copy)]
pub(super) struct Wide64;

/// Ternary logic: whether an odd number of three bits are set. So two vectors and what is the
/// lesser in each lane tell the greater, for it is what is left when the lesser is taken from both.
/// Intel's machines have one unit for the lesser or greater of 512 bits, and two for logic.
const OTHER: i32 = 0x96;

/// The lesser of each lane, and with it the greater, whatever a lane has.
#[inline(always)]
pub(super) unsafe fn with_greater(lesser: __m512i, a: __m512i, b: __m512i) -> [__m512i; 2] {
    // SAFETY: the caller vouches for the instructions.
    unsafe { [lesser, _mm512_ternarylogic_epi32::<OTHER>(lesser, a, b)] }
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
    type Alone = Wide32;
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
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_xor_si512(a, b) }
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
        store_16(to: *mut u16, vector: __m512i) {
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(vector))
        }
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
    type Alone = Wide64;
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
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm512_xor_si512(a, b) }
        splat(word: u64) -> __m512i { _mm512_set1_epi64(word as i64) }
        load(from: *const u64) -> __m512i { _mm512_loadu_si512(from.cast()) }
        places(keys: __m512i, placing: &Placing<u64>) -> __m512i {
            _mm512_srli_epi64::<32>(scaled(keys, placing))
        }
        store_32(to: *mut u32, vector: __m512i) {
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi64_epi32(vector))
        }
        store_places(to: *mut u32, keys: [__m512i; 2], placing: &Placing<u64>) {
            let [a, b] = [scaled(keys[0], placing), scaled(keys[1], placing)];
            let upper = _mm512_loadu_si512(UPPER.as_ptr().cast());
            _mm512_storeu_si512(to.cast(), _mm512_permutex2var_epi32(a, upper, b))
        }
        store_16(to: *mut u16, vector: __m512i) {
            _mm_storeu_si128(to.cast(), _mm512_cvtepi64_epi16(vector))
        }
        store_places_16(to: *mut u16, keys: [__m512i; 2], placing: &Placing<u64>) {
            let [a, b] = [scaled(keys[0], placing), scaled(keys[1], placing)];
            let upper = _mm512_castsi256_si512(_mm256_loadu_si256(UPPER_16.as_ptr().cast()));
            let places = _mm512_permutex2var_epi16(a, upper, b);
            _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(places))
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
        transpose_half(rows: &mut [__m512i]) {
            let r: &mut [__m512i; 8] = rows.try_into().unwrap_unchecked();
            let [a, b, c, d] = [r[0], r[1], r[2], r[3]];
            // Words of two rows, lane by lane; then of all four, the columns of four lanes below
            // those of the others.
            let (ab, cd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
            let (ab_odd, cd_odd) = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
            let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            r[0] = _mm512_permutex2var_epi64(ab, low, cd);
            r[1] = _mm512_permutex2var_epi64(ab_odd, low, cd_odd);
            r[2] = _mm512_permutex2var_epi64(ab, high, cd);
            r[3] = _mm512_permutex2var_epi64(ab_odd, high, cd_odd);
            for i in 0..4 {
                r[4 + i] = _mm512_castsi256_si512(_mm512_extracti64x4_epi64::<1>(r[i]));
            }
        }
        part(pairs: [*const u64; 4], to: [*mut u64; 2]) { part_64(pairs, to) }
        part_lines(pairs: [*const u64; 8], to: [*mut u64; 2]) {
            let [a, b, c, d, e, f, g, h] = pairs.map(|pair| _mm_loadu_si128(pair.cast()));
            let (ac, eg) = (_mm256_set_m128i(c, a), _mm256_set_m128i(g, e));
            let (bd, fh) = (_mm256_set_m128i(d, b), _mm256_set_m128i(h, f));
            let aceg = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(ac), eg);
            let bdfh = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(bd), fh);
            _mm512_stream_si512(to[0].cast(), _mm512_unpacklo_epi64(aceg, bdfh));
            _mm512_stream_si512(to[1].cast(), _mm512_unpackhi_epi64(aceg, bdfh));
        }
    }

    const STREAMS: bool = true;
}

impl Lanes for Wide64 {
    instructions! {
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

/// The upper halves of 64 bits, of two vectors: first those of one, then those of the other,
static UPPER: [u32; 16] = {
    let mut upper = [0; 16];
    let mut i = 0;
    while i < 16 {
        upper[i] = 2 * i as u32 + 1;
        i += 1;
    }
    upper
};
/// and the lower 16 bits of these.
static UPPER_16: [u16; 16] = {
    let mut upper = [0; 16];
    let mut i = 0;
    while i < 16 {
        upper[i] = 2 * UPPER[i] as u16;
        i += 1;
    }
    upper
};

/// The places of keys in the upper half of each lane. In its distance a key's upper 32 bits behind
/// the zeros become the lower half by going round.
#[inline(always)]
unsafe fn scaled(keys: __m512i, placing: &Placing<u64>) -> __m512i {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let distance = Wide64::sub(keys, Wide64::splat(placing.least));
        let round = Wide64::splat(u64::from(placing.zeros) + 32);
        let scale = Wide64::splat(placing.scale);
        products_512(_mm512_rolv_epi64(distance, round), scale)
    }
}

/// The products of the lower halves of words of 64 bits. In a loop the compiler takes the lower
/// halves of what stays the same out of it, does not know them as such any more, and multiplies
/// whole words, which takes several instructions.
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

/// Stores the first `count` words of a vector, or all of it. Not by a mask: what is loaded soon
/// from behind such a store would wait for it, and by AVX2 it takes some machines as long as twelve
/// whole ones.
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

/// The numbers of the lanes of two vectors of 512 bits, by turns from either, for words of 32 bits,
/// of which a lane has `words`.
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
