//! [`Keys`] by the vectors of 128 bits that nearly all machines have. Where one has none, they are arrays.
//!
//! All are compared as floats, for which every machine has instructions: of integers, the oldest of x86-64 have none that tell
//! the lesser of 32 or 64 bits.

use bytemuck::cast;
use wide::{f32x4, f64x2, i16x8, i32x4, u8x16, u16x8, u32x4, u64x2};

use super::{AnyVectored, Keys, Rests, Sorted};
use crate::placing::Placing;

/// 4 lanes of 32 bits.
#[derive(Clone, Copy)]
pub(super) struct Any32;
/// 2 lanes of 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Any64;
/// 8 lanes of 16 bits.
#[derive(Clone, Copy)]
pub(super) struct Any16;
/// 4 lanes of 32 bits, compared as floats.
#[derive(Clone, Copy)]
pub(super) struct AnyFloats32;
/// 2 lanes of 64 bits, compared as floats.
#[derive(Clone, Copy)]
pub(super) struct AnyFloats64;

/// See [`Sorted::move_on`]. Products below 2^24, which floats have exactly.
#[inline(always)]
unsafe fn move_on_8(numbers: *mut u32, rows: u64, stride: u32) {
    let stride = f32x4::splat(stride as f32);
    // Each byte before another that is zero, and then before two.
    let rows = u8x16::unpack_low(cast([rows.to_le(), 0]), u8x16::ZERO);
    let rows = [
        u8x16::unpack_low(rows, u8x16::ZERO),
        u8x16::unpack_high(rows, u8x16::ZERO),
    ];
    for (i, rows) in rows.into_iter().enumerate() {
        let rows = i32x4::new(cast::<_, [i32; 4]>(rows).map(i32::from_le));
        let product = f32x4::from_i32x4(rows) * stride;
        // SAFETY: the caller vouches for eight numbers.
        unsafe {
            let numbers = numbers.add(4 * i);
            let sum = Any32::load(numbers) + cast::<_, u32x4>(product.fast_trunc_int());
            Any32::store(numbers, sum);
        }
    }
}

/// Counters of a byte each, from memory.
#[inline(always)]
unsafe fn counters<const N: usize>(counts: *const u8) -> [u8; N] {
    // SAFETY: the caller vouches for as many counters.
    unsafe { counts.cast::<[u8; N]>().read() }
}

impl Sorted for Any32 {
    type Word = u32;
    type Vector = u32x4;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn store(to: *mut u32, vector: u32x4) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u32; 4]>().write_unaligned(vector.to_array()) }
    }
    #[inline(always)]
    unsafe fn min(a: u32x4, b: u32x4) -> u32x4 {
        a.min(b)
    }
    #[inline(always)]
    unsafe fn max(a: u32x4, b: u32x4) -> u32x4 {
        a.max(b)
    }
    #[inline(always)]
    unsafe fn widen(counts: *const u8) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { u32x4::new(counters(counts).map(u32::from)) }
    }
    #[inline(always)]
    unsafe fn move_on(numbers: *mut u32, rows: u64, stride: u32) {
        // SAFETY: the caller's promise.
        unsafe { move_on_8(numbers, rows, stride) }
    }
}

/// All ones in the lanes whose count is above `row`.
#[inline(always)]
fn above_32(counts: u32x4, row: u8) -> u32x4 {
    cast(cast::<_, i32x4>(counts).simd_gt(i32x4::splat(i32::from(row))))
}

impl Keys for Any32 {
    #[inline(never)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { work.run::<Self>() }
    }

    type Rests = Any16;
    type Numbers = Any32;
    type Distances = AnyFloats32;
    const PICKS: bool = false;

    unsafe fn pick_4<const R: usize>(_: *const u32, _: u32x4, _: *mut u32) {
        unreachable!("no instructions to pick payloads")
    }
    unsafe fn pick_8<const R: usize>(_: *const u64, _: u32x4, _: *mut u64) {
        unreachable!("no instructions to pick payloads")
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { u32x4::new(from.cast::<[u32; 4]>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn splat(word: u32) -> u32x4 {
        u32x4::splat(word)
    }
    #[inline(always)]
    unsafe fn add(a: u32x4, b: u32x4) -> u32x4 {
        a + b
    }
    #[inline(always)]
    unsafe fn sub(a: u32x4, b: u32x4) -> u32x4 {
        a - b
    }
    #[inline(always)]
    unsafe fn and(a: u32x4, b: u32x4) -> u32x4 {
        a & b
    }
    #[inline(always)]
    unsafe fn or(a: u32x4, b: u32x4) -> u32x4 {
        a | b
    }
    #[inline(always)]
    unsafe fn shl(a: u32x4, bits: u32) -> u32x4 {
        a << bits
    }
    #[inline(always)]
    unsafe fn shr(a: u32x4, bits: u32) -> u32x4 {
        a >> bits
    }
    #[inline(always)]
    unsafe fn load_row(from: *const u32, counts: u32x4, row: u8, others: u32x4) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { Self::pad(Self::load(from), counts, row, others) }
    }
    #[inline(always)]
    unsafe fn pad(a: u32x4, counts: u32x4, row: u8, others: u32x4) -> u32x4 {
        above_32(counts, row).bitselect(a, others)
    }
    #[inline(always)]
    unsafe fn places(keys: u32x4, placing: &Placing<u32>) -> u32x4 {
        let distance = (keys - u32x4::splat(placing.least)) << placing.zeros;
        distance.mul_keep_high(u32x4::splat(placing.scale as u32))
    }
    #[inline(always)]
    unsafe fn store_32(to: *mut u32, vector: u32x4) {
        // SAFETY: the caller's promise.
        unsafe { Self::store(to, vector) }
    }
    #[inline(always)]
    unsafe fn transpose(rows: &mut [u32x4]) {
        let square: &mut [u32x4; 4] = rows.try_into().expect("a square");
        *square = f32x4::transpose(square.map(cast)).map(cast);
    }
}

impl Sorted for AnyFloats32 {
    type Word = u32;
    type Vector = u32x4;
    const LANES: usize = Any32::LANES;
    const LEAST: u32 = f32::MIN_POSITIVE.to_bits();
    const GREATEST: u32 = f32::INFINITY.to_bits();
    const ALL: bool = false;

    #[inline(always)]
    unsafe fn store(to: *mut u32, vector: u32x4) {
        // SAFETY: the caller's promise.
        unsafe { Any32::store(to, vector) }
    }
    #[inline(always)]
    unsafe fn min(a: u32x4, b: u32x4) -> u32x4 {
        cast(cast::<_, f32x4>(a).fast_min(cast(b)))
    }
    #[inline(always)]
    unsafe fn max(a: u32x4, b: u32x4) -> u32x4 {
        cast(cast::<_, f32x4>(a).fast_max(cast(b)))
    }
    #[inline(always)]
    unsafe fn widen(counts: *const u8) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { Any32::widen(counts) }
    }
    #[inline(always)]
    unsafe fn move_on(numbers: *mut u32, rows: u64, stride: u32) {
        // SAFETY: the caller's promise.
        unsafe { move_on_8(numbers, rows, stride) }
    }
}

impl Sorted for Any64 {
    type Word = u64;
    type Vector = u64x2;
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn store(to: *mut u64, vector: u64x2) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u64; 2]>().write_unaligned(vector.to_array()) }
    }
    #[inline(always)]
    unsafe fn min(a: u64x2, b: u64x2) -> u64x2 {
        a.min(b)
    }
    #[inline(always)]
    unsafe fn max(a: u64x2, b: u64x2) -> u64x2 {
        a.max(b)
    }
    #[inline(always)]
    unsafe fn widen(counts: *const u8) -> u64x2 {
        // SAFETY: the caller's promise.
        unsafe { u64x2::new(counters(counts).map(u64::from)) }
    }
    #[inline(always)]
    unsafe fn move_on(numbers: *mut u32, rows: u64, stride: u32) {
        // SAFETY: the caller's promise.
        unsafe { move_on_8(numbers, rows, stride) }
    }
}

/// All ones in the lanes whose count, below 2^31, is above `row`.
#[inline(always)]
fn above_64(counts: u64x2, row: u8) -> u64x2 {
    // The lower half of each lane in both.
    const LOW: usize = if cfg!(target_endian = "big") { 1 } else { 0 };
    let counts: [i32; 4] = cast(counts);
    let [a, b] = [counts[LOW], counts[2 + LOW]];
    cast(i32x4::new([a, a, b, b]).simd_gt(i32x4::splat(i32::from(row))))
}

impl Keys for Any64 {
    #[inline(never)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { work.run::<Self>() }
    }

    type Rests = AnyRests32;
    type Numbers = Any32;
    type Distances = AnyFloats64;
    const PICKS: bool = false;

    unsafe fn pick_4<const R: usize>(_: *const u32, _: u64x2, _: *mut u32) {
        unreachable!("no instructions to pick payloads")
    }
    unsafe fn pick_8<const R: usize>(_: *const u64, _: u64x2, _: *mut u64) {
        unreachable!("no instructions to pick payloads")
    }

    #[inline(always)]
    unsafe fn load(from: *const u64) -> u64x2 {
        // SAFETY: the caller's promise.
        unsafe { u64x2::new(from.cast::<[u64; 2]>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn splat(word: u64) -> u64x2 {
        u64x2::splat(word)
    }
    #[inline(always)]
    unsafe fn add(a: u64x2, b: u64x2) -> u64x2 {
        a + b
    }
    #[inline(always)]
    unsafe fn sub(a: u64x2, b: u64x2) -> u64x2 {
        a - b
    }
    #[inline(always)]
    unsafe fn and(a: u64x2, b: u64x2) -> u64x2 {
        a & b
    }
    #[inline(always)]
    unsafe fn or(a: u64x2, b: u64x2) -> u64x2 {
        a | b
    }
    #[inline(always)]
    unsafe fn shl(a: u64x2, bits: u32) -> u64x2 {
        a << bits
    }
    #[inline(always)]
    unsafe fn shr(a: u64x2, bits: u32) -> u64x2 {
        a >> bits
    }
    #[inline(always)]
    unsafe fn load_row(from: *const u64, counts: u64x2, row: u8, others: u64x2) -> u64x2 {
        // SAFETY: the caller's promise.
        unsafe { Self::pad(Self::load(from), counts, row, others) }
    }
    #[inline(always)]
    unsafe fn pad(a: u64x2, counts: u64x2, row: u8, others: u64x2) -> u64x2 {
        above_64(counts, row).bitselect(a, others)
    }
    #[inline(always)]
    unsafe fn places(keys: u64x2, placing: &Placing<u64>) -> u64x2 {
        // By the processor's own multiplication: some vectors have none of 64 bits.
        u64x2::new(keys.to_array().map(|key| placing.of(key) as u64))
    }
    #[inline(always)]
    unsafe fn store_32(to: *mut u32, vector: u64x2) {
        let words = vector.to_array().map(|word| word as u32);
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u32; 2]>().write_unaligned(words) }
    }
    #[inline(always)]
    unsafe fn transpose(rows: &mut [u64x2]) {
        let square: &mut [u64x2; 2] = rows.try_into().expect("a square");
        *square = f64x2::transpose(square.map(cast)).map(cast);
    }
}

impl Sorted for AnyFloats64 {
    type Word = u64;
    type Vector = u64x2;
    const LANES: usize = Any64::LANES;
    const LEAST: u64 = f64::MIN_POSITIVE.to_bits();
    const GREATEST: u64 = f64::INFINITY.to_bits();
    const ALL: bool = false;

    #[inline(always)]
    unsafe fn store(to: *mut u64, vector: u64x2) {
        // SAFETY: the caller's promise.
        unsafe { Any64::store(to, vector) }
    }
    #[inline(always)]
    unsafe fn min(a: u64x2, b: u64x2) -> u64x2 {
        cast(cast::<_, f64x2>(a).fast_min(cast(b)))
    }
    #[inline(always)]
    unsafe fn max(a: u64x2, b: u64x2) -> u64x2 {
        cast(cast::<_, f64x2>(a).fast_max(cast(b)))
    }
    #[inline(always)]
    unsafe fn widen(counts: *const u8) -> u64x2 {
        // SAFETY: the caller's promise.
        unsafe { Any64::widen(counts) }
    }
    #[inline(always)]
    unsafe fn move_on(numbers: *mut u32, rows: u64, stride: u32) {
        // SAFETY: the caller's promise.
        unsafe { move_on_8(numbers, rows, stride) }
    }
}

impl Sorted for Any16 {
    type Word = u16;
    type Vector = u16x8;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn store(to: *mut u16, vector: u16x8) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u16; 8]>().write_unaligned(vector.to_array()) }
    }
    #[inline(always)]
    unsafe fn min(a: u16x8, b: u16x8) -> u16x8 {
        a - a.saturating_sub(b)
    }
    #[inline(always)]
    unsafe fn max(a: u16x8, b: u16x8) -> u16x8 {
        b + a.saturating_sub(b)
    }
    #[inline(always)]
    unsafe fn widen(counts: *const u8) -> u16x8 {
        // SAFETY: the caller's promise.
        unsafe { u16x8::new(counters(counts).map(u16::from)) }
    }
    #[inline(always)]
    unsafe fn move_on(numbers: *mut u32, rows: u64, stride: u32) {
        // SAFETY: the caller's promise.
        unsafe { move_on_8(numbers, rows, stride) }
    }
}

impl Rests for Any16 {
    type Key = u32;

    #[inline(always)]
    unsafe fn bases(first: u16, offsets: *const u16) -> u16x8 {
        // SAFETY: the caller's promise.
        let offsets = unsafe { offsets.cast::<[u16; 8]>().read_unaligned() };
        u16x8::splat(first) + u16x8::new(offsets)
    }
    #[inline(always)]
    unsafe fn rests(from: *const u16, counts: u16x8, row: u8, bases: u16x8) -> u16x8 {
        // SAFETY: the caller's promise.
        let words = unsafe { from.cast::<[u16; 8]>().read_unaligned() };
        // Ones from where a row has none, by a comparison of signed numbers.
        let none =
            cast::<_, i16x8>(u16x8::splat(u16::from(row) + 1)).simd_gt(cast::<_, i16x8>(counts));
        (u16x8::new(words) - bases) | cast::<_, u16x8>(none)
    }
    #[inline(always)]
    unsafe fn turn_squares(rows: &mut [u16x8]) {
        let square: &mut [u16x8; 8] = rows.try_into().expect("a square");
        *square = i16x8::transpose(square.map(cast)).map(cast);
    }
    #[inline(always)]
    unsafe fn keys(rests: *const u16, base: u32, to: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let rests = rests.cast::<[u16; 8]>().read_unaligned();
            let keys = rests.map(|rest| base.wrapping_add(u32::from(rest)));
            to.cast::<[u32; 8]>().write_unaligned(keys);
        }
    }
}

/// 4 lanes of 32 bits, compared as floats, of keys of 64.
#[derive(Clone, Copy)]
pub(super) struct AnyRests32;

impl Sorted for AnyRests32 {
    type Word = u32;
    type Vector = u32x4;
    const LANES: usize = Any32::LANES;
    const LEAST: u32 = AnyFloats32::LEAST;
    const GREATEST: u32 = AnyFloats32::GREATEST;
    const ALL: bool = false;

    #[inline(always)]
    unsafe fn store(to: *mut u32, vector: u32x4) {
        // SAFETY: the caller's promise.
        unsafe { Any32::store(to, vector) }
    }
    #[inline(always)]
    unsafe fn min(a: u32x4, b: u32x4) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { AnyFloats32::min(a, b) }
    }
    #[inline(always)]
    unsafe fn max(a: u32x4, b: u32x4) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { AnyFloats32::max(a, b) }
    }
    #[inline(always)]
    unsafe fn widen(counts: *const u8) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { Any32::widen(counts) }
    }
    #[inline(always)]
    unsafe fn move_on(numbers: *mut u32, rows: u64, stride: u32) {
        // SAFETY: the caller's promise.
        unsafe { move_on_8(numbers, rows, stride) }
    }
}

impl Rests for AnyRests32 {
    type Key = u64;
    const END: u128 = (Self::GREATEST - Self::LEAST) as u128;

    #[inline(always)]
    unsafe fn bases(first: u32, offsets: *const u32) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe { Any32::splat(first) + Any32::load(offsets) }
    }
    #[inline(always)]
    unsafe fn rests(from: *const u32, counts: u32x4, row: u8, bases: u32x4) -> u32x4 {
        // SAFETY: the caller's promise.
        unsafe {
            Any32::pad(
                Any32::load(from) - bases,
                counts,
                row,
                u32x4::splat(Self::GREATEST),
            )
        }
    }
    #[inline(always)]
    unsafe fn turn_squares(rows: &mut [u32x4]) {
        // SAFETY: the caller's promise.
        unsafe { Any32::transpose(rows) }
    }
    #[inline(always)]
    unsafe fn keys(rests: *const u32, base: u64, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let rests = rests.cast::<[u32; 4]>().read_unaligned();
            let keys = rests.map(|rest| base.wrapping_add(u64::from(rest)));
            to.cast::<[u64; 4]>().write_unaligned(keys);
        }
    }
}
