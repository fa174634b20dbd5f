//! Vectors of 256 bits, by AVX2.

use std::arch::asm;
use std::arch::x86_64::*;

use super::floats::HalfFloats;
use super::rests::Half16;
use super::{NUMBERS, above, half, move_on_8, part_64, search, swapped};
use crate::lanes::{AnyVectored, ByLanes, Keys, Lanes, Rests, Sorted};
use crate::placing::Placing;
use crate::splitters::Tree;

/// 8 lanes of 32 bits, by AVX2.
#[derive(Clone, Copy)]
pub(super) struct Half32;
/// 4 lanes of 64 bits, by AVX2.
#[derive(Clone, Copy)]
pub(super) struct Half64;

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
    type Alone = Half32;

    instructions! {
        add(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_add_epi32(a, b) }
        sub(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_sub_epi32(a, b) }
        and(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_and_si256(a, b) }
        or(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_or_si256(a, b) }
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_xor_si256(a, b) }
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
        store_16(to: *mut u16, vector: __m256i) {
            // The lower half of each lane within both halves of the vector, and those together.
            let lower = _mm256_set1_epi64x(0x0d0c_0908_0504_0100);
            let lower = _mm256_shuffle_epi8(vector, lower);
            let halves = _mm256_permute4x64_epi64::<0b1000>(lower);
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(halves))
        }
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
    type Alone = HalfFloats;

    instructions! {
        add(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_add_epi64(a, b) }
        sub(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_sub_epi64(a, b) }
        and(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_and_si256(a, b) }
        or(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_or_si256(a, b) }
        xor(a: Self::Vector, b: Self::Vector) -> Self::Vector { _mm256_xor_si256(a, b) }
        splat(word: u64) -> __m256i { _mm256_set1_epi64x(word as i64) }
        load(from: *const u64) -> __m256i { _mm256_loadu_si256(from.cast()) }
        places(keys: __m256i, placing: &Placing<u64>) -> __m256i {
            _mm256_srli_epi64::<32>(scaled(keys, placing))
        }
        store_32(to: *mut u32, vector: __m256i) {
            let even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
            let words = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(vector, even));
            _mm_storeu_si128(to.cast(), words)
        }
        store_places(to: *mut u32, keys: [__m256i; 2], placing: &Placing<u64>) {
            Half32::store(to, places_of_two(keys, placing))
        }
        store_16(to: *mut u16, vector: __m256i) {
            // The lowest quarter of each lane within both halves of the vector, and those together.
            let lowest = _mm256_shuffle_epi8(vector, _mm256_set1_epi32(0x0908_0100));
            let halves = _mm_unpacklo_epi32(
                _mm256_castsi256_si128(lowest),
                _mm256_extracti128_si256::<1>(lowest),
            );
            _mm_storel_epi64(to.cast(), halves)
        }
        store_places_16(to: *mut u16, keys: [__m256i; 2], placing: &Placing<u64>) {
            Half32::store_16(to, places_of_two(keys, placing))
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
        part_lines(pairs: [*const u64; 8], to: [*mut u64; 2]) {
            let [a, b, c, d, e, f, g, h] = pairs.map(|pair| _mm_loadu_si128(pair.cast()));
            let (ac, bd) = (_mm256_set_m128i(c, a), _mm256_set_m128i(d, b));
            let (eg, fh) = (_mm256_set_m128i(g, e), _mm256_set_m128i(h, f));
            // Both halves of a line come one after the other.
            let [keys, payloads] = to;
            _mm256_stream_si256(keys.cast(), _mm256_unpacklo_epi64(ac, bd));
            _mm256_stream_si256(keys.add(4).cast(), _mm256_unpacklo_epi64(eg, fh));
            _mm256_stream_si256(payloads.cast(), _mm256_unpackhi_epi64(ac, bd));
            _mm256_stream_si256(payloads.add(4).cast(), _mm256_unpackhi_epi64(eg, fh));
        }
    }

    const STREAMS: bool = true;
}

impl Lanes for Half64 {
    instructions! {
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

/// The places of keys in the upper half of each lane.
#[inline(always)]
unsafe fn scaled(keys: __m256i, placing: &Placing<u64>) -> __m256i {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let distance = Half64::sub(keys, Half64::splat(placing.least));
        let distance = _mm256_sll_epi64(distance, _mm_cvtsi32_si128(placing.zeros as i32));
        let distance = _mm256_srli_epi64::<32>(distance);
        products_256(distance, Half64::splat(placing.scale))
    }
}

/// The places of two vectors of keys, in lanes of 32 bits.
#[inline(always)]
unsafe fn places_of_two(keys: [__m256i; 2], placing: &Placing<u64>) -> __m256i {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let a = _mm256_castsi256_ps(scaled(keys[0], placing));
        let b = _mm256_castsi256_ps(scaled(keys[1], placing));
        // Within both halves of the vectors those of one before those of the other; then the halves.
        let upper = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(upper)
    }
}

/// See [`products_512`](super::bits_512).
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

/// The same of a shorter vector.
#[inline(always)]
pub(super) unsafe fn store_words_256(to: *mut u32, a: __m256i, count: usize) {
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

/// Stores the first `count` words of a vector, the last of them in front of `end`, and again what
/// is in front of them.
#[inline(always)]
unsafe fn store_last_words_256(end: *mut u32, a: __m256i, count: usize) {
    // SAFETY: the caller vouches for the instructions, and for the place of all words; of a number
    // the instruction takes the lowest three bits.
    unsafe {
        let place = end.sub(8).cast();
        let numbers = _mm256_loadu_si256(NUMBERS.as_ptr().add(count).cast());
        let turned = _mm256_permutevar8x32_epi32(a, numbers);
        let last = _mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(7));
        let words = _mm256_blendv_epi8(_mm256_loadu_si256(place), turned, last);
        _mm256_storeu_si256(place, words);
    }
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
