//! [`Keys`] by the vectors of 128 bits that nearly all machines have. Where one has none, they are arrays.
//!
//! Distances are compared as floats, for which every machine has instructions: of integers, the
//! oldest of x86-64 have none that tell the lesser of 32 or 64 bits. Denormal floats are left out,
//! since a program may have the machine take them for zero.

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

/// What is in memory, aligned or not.
#[inline(always)]
unsafe fn read<T: Copy>(from: *const impl Sized) -> T {
    // SAFETY: the caller vouches for the memory.
    unsafe { from.cast::<T>().read_unaligned() }
}

/// The same, written.
#[inline(always)]
unsafe fn write<T: Copy>(to: *mut impl Sized, value: T) {
    // SAFETY: the caller vouches for the memory.
    unsafe { to.cast::<T>().write_unaligned(value) }
}

/// Which of a word's two halves is the lower one.
const LOW: usize = if cfg!(target_endian = "big") { 1 } else { 0 };

/// The places of two vectors of keys. All that counts of a distance is its upper half.
#[inline(always)]
fn places_of_two([a, b]: [u64x2; 2], placing: &Placing<u64>) -> u32x4 {
    const HIGH: usize = 1 - LOW;
    let least = u64x2::splat(placing.least);
    let scale = u32x4::splat(placing.scale as u32);
    let places = |keys: u64x2| -> [u32; 4] {
        let distances = (keys - least) << placing.zeros;
        cast(cast::<_, u32x4>(distances).mul_keep_high(scale))
    };
    let (a, b) = (places(a), places(b));
    u32x4::new([a[HIGH], a[2 + HIGH], b[HIGH], b[2 + HIGH]])
}

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

impl Sorted for Any32 {
    type Word = u32;
    type Vector = u32x4;
    const LANES: usize = 4;

    instructions! {
        store(to: *mut u32, vector: u32x4) { write(to, vector.to_array()) }
        min(a: u32x4, b: u32x4) -> u32x4 { a.min(b) }
        max(a: u32x4, b: u32x4) -> u32x4 { a.max(b) }
        widen(counts: *const u8) -> u32x4 { u32x4::new(read::<[u8; 4]>(counts).map(u32::from)) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Keys for Any32 {
    type Rests = Any16;
    type Numbers = Any32;
    type Distances = AnyFloats32;
    type Alone = AnyFloats32;

    #[inline(never)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { work.run::<Self>() }
    }

    instructions! {
        load(from: *const u32) -> u32x4 { u32x4::new(read(from)) }
        splat(word: u32) -> u32x4 { u32x4::splat(word) }
        add(a: u32x4, b: u32x4) -> u32x4 { a + b }
        sub(a: u32x4, b: u32x4) -> u32x4 { a - b }
        and(a: u32x4, b: u32x4) -> u32x4 { a & b }
        or(a: u32x4, b: u32x4) -> u32x4 { a | b }
        xor(a: u32x4, b: u32x4) -> u32x4 { a ^ b }
        shl(a: u32x4, bits: u32) -> u32x4 { a << bits }
        shr(a: u32x4, bits: u32) -> u32x4 { a >> bits }
        load_row(from: *const u32, counts: u32x4, row: u8, others: u32x4) -> u32x4 {
            Self::pad(Self::load(from), counts, row, others)
        }
        pad(a: u32x4, counts: u32x4, row: u8, others: u32x4) -> u32x4 {
            let full = cast::<_, i32x4>(counts).simd_gt(i32x4::splat(i32::from(row)));
            cast::<_, u32x4>(full).bitselect(a, others)
        }
        places(keys: u32x4, placing: &Placing<u32>) -> u32x4 {
            let distance = (keys - u32x4::splat(placing.least)) << placing.zeros;
            distance.mul_keep_high(u32x4::splat(placing.scale as u32))
        }
        store_32(to: *mut u32, vector: u32x4) { Self::store(to, vector) }
        store_16(to: *mut u16, vector: u32x4) {
            let twice = i16x8::from_i32x8_truncate(cast([vector; 2]));
            write(to, cast::<_, [u64; 2]>(twice)[0])
        }
        transpose(rows: &mut [u32x4]) {
            let square: &mut [u32x4; 4] = rows.try_into().expect("a square");
            *square = f32x4::transpose(square.map(cast)).map(cast);
        }
    }
}

impl Sorted for AnyFloats32 {
    type Word = u32;
    type Vector = u32x4;
    const LANES: usize = Any32::LANES;
    const LEAST: u32 = f32::MIN_POSITIVE.to_bits();
    const GREATEST: u32 = f32::INFINITY.to_bits();
    const ALL: bool = false;

    instructions! {
        store(to: *mut u32, vector: u32x4) { Any32::store(to, vector) }
        min(a: u32x4, b: u32x4) -> u32x4 { cast(cast::<_, f32x4>(a).fast_min(cast(b))) }
        max(a: u32x4, b: u32x4) -> u32x4 { cast(cast::<_, f32x4>(a).fast_max(cast(b))) }
        widen(counts: *const u8) -> u32x4 { Any32::widen(counts) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Rests for AnyFloats32 {
    type Key = u64;
    const END: u128 = (Self::GREATEST - Self::LEAST) as u128;

    instructions! {
        bases(first: u32, offsets: *const u32) -> u32x4 { u32x4::splat(first) + Any32::load(offsets) }
        rests(from: *const u32, counts: u32x4, row: u8, bases: u32x4) -> u32x4 {
            let rests = Any32::load(from) - bases;
            Any32::pad(rests, counts, row, u32x4::splat(Self::GREATEST))
        }
        turn_squares(rows: &mut [u32x4]) { Any32::transpose(rows) }
        keys(rests: *const u32, base: u64, to: *mut u64) {
            let rests: [u32; 4] = read(rests);
            write(to, rests.map(|rest| base.wrapping_add(u64::from(rest))));
        }
    }
}

impl Sorted for Any64 {
    type Word = u64;
    type Vector = u64x2;
    const LANES: usize = 2;

    instructions! {
        store(to: *mut u64, vector: u64x2) { write(to, vector.to_array()) }
        min(a: u64x2, b: u64x2) -> u64x2 { a.min(b) }
        max(a: u64x2, b: u64x2) -> u64x2 { a.max(b) }
        widen(counts: *const u8) -> u64x2 { u64x2::new(read::<[u8; 2]>(counts).map(u64::from)) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Keys for Any64 {
    type Rests = AnyFloats32;
    type Numbers = Any32;
    type Distances = AnyFloats64;
    type Alone = AnyFloats64;

    #[inline(never)]
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { work.run::<Self>() }
    }

    instructions! {
        load(from: *const u64) -> u64x2 { u64x2::new(read(from)) }
        splat(word: u64) -> u64x2 { u64x2::splat(word) }
        add(a: u64x2, b: u64x2) -> u64x2 { a + b }
        sub(a: u64x2, b: u64x2) -> u64x2 { a - b }
        and(a: u64x2, b: u64x2) -> u64x2 { a & b }
        or(a: u64x2, b: u64x2) -> u64x2 { a | b }
        xor(a: u64x2, b: u64x2) -> u64x2 { a ^ b }
        shl(a: u64x2, bits: u32) -> u64x2 { a << bits }
        shr(a: u64x2, bits: u32) -> u64x2 { a >> bits }
        load_row(from: *const u64, counts: u64x2, row: u8, others: u64x2) -> u64x2 {
            Self::pad(Self::load(from), counts, row, others)
        }
        pad(a: u64x2, counts: u64x2, row: u8, others: u64x2) -> u64x2 {
            // Counts are small: the lower half of each lane in both is compared, since not every
            // machine compares 64 bits.
            let counts: [i32; 4] = cast(counts);
            let [low, high] = [counts[LOW], counts[2 + LOW]];
            let full = i32x4::new([low, low, high, high]).simd_gt(i32x4::splat(i32::from(row)));
            cast::<_, u64x2>(full).bitselect(a, others)
        }
        places(keys: u64x2, placing: &Placing<u64>) -> u64x2 {
            u64x2::new(keys.to_array().map(|key| placing.of(key) as u64))
        }
        store_32(to: *mut u32, vector: u64x2) { write(to, vector.to_array().map(|word| word as u32)) }
        store_places(to: *mut u32, keys: [u64x2; 2], placing: &Placing<u64>) {
            Any32::store(to, places_of_two(keys, placing))
        }
        store_16(to: *mut u16, vector: u64x2) { write(to, vector.to_array().map(|word| word as u16)) }
        store_places_16(to: *mut u16, keys: [u64x2; 2], placing: &Placing<u64>) {
            Any32::store_16(to, places_of_two(keys, placing))
        }
        transpose(rows: &mut [u64x2]) {
            let square: &mut [u64x2; 2] = rows.try_into().expect("a square");
            *square = f64x2::transpose(square.map(cast)).map(cast);
        }
    }
}

impl Sorted for AnyFloats64 {
    type Word = u64;
    type Vector = u64x2;
    const LANES: usize = Any64::LANES;
    const LEAST: u64 = f64::MIN_POSITIVE.to_bits();
    const GREATEST: u64 = f64::INFINITY.to_bits();
    const ALL: bool = false;

    instructions! {
        store(to: *mut u64, vector: u64x2) { Any64::store(to, vector) }
        min(a: u64x2, b: u64x2) -> u64x2 { cast(cast::<_, f64x2>(a).fast_min(cast(b))) }
        max(a: u64x2, b: u64x2) -> u64x2 { cast(cast::<_, f64x2>(a).fast_max(cast(b))) }
        widen(counts: *const u8) -> u64x2 { Any64::widen(counts) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Sorted for Any16 {
    type Word = u16;
    type Vector = u16x8;
    const LANES: usize = 8;

    instructions! {
        store(to: *mut u16, vector: u16x8) { write(to, vector.to_array()) }
        // The oldest instructions tell the lesser of signed words alone, but subtract down to zero.
        min(a: u16x8, b: u16x8) -> u16x8 { a - a.saturating_sub(b) }
        max(a: u16x8, b: u16x8) -> u16x8 { b + a.saturating_sub(b) }
        widen(counts: *const u8) -> u16x8 { u16x8::new(read::<[u8; 8]>(counts).map(u16::from)) }
        move_on(numbers: *mut u32, rows: u64, stride: u32) { move_on_8(numbers, rows, stride) }
    }
}

impl Rests for Any16 {
    type Key = u32;

    instructions! {
        bases(first: u16, offsets: *const u16) -> u16x8 { u16x8::splat(first) + u16x8::new(read(offsets)) }
        rests(from: *const u16, counts: u16x8, row: u8, bases: u16x8) -> u16x8 {
            let none = i16x8::splat(i16::from(row) + 1).simd_gt(cast::<_, i16x8>(counts));
            (u16x8::new(read(from)) - bases) | cast::<_, u16x8>(none)
        }
        turn_squares(rows: &mut [u16x8]) {
            let square: &mut [u16x8; 8] = rows.try_into().expect("a square");
            *square = i16x8::transpose(square.map(cast)).map(cast);
        }
        keys(rests: *const u16, base: u32, to: *mut u32) {
            let rests: [u16; 8] = read(rests);
            write(to, rests.map(|rest| base.wrapping_add(u32::from(rest))));
        }
    }
}
