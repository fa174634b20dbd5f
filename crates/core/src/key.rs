//! The bits of every key type. A new key type is an `impl` in this file, and nothing elsewhere.
//!
//! A key's *bits* are an unsigned number such that `a < b` exactly when `bits(a) < bits(b)`, and
//! different keys have different bits. A type gives them in one of two ways:
//!
//! * Integers and floats are one machine word with a [`Kind`]. Engines sort those words where they
//!   lie ([`RadixKey::words_mut`]).
//! * Everything else ([`bool`], byte arrays, tuples, structs with `#[derive(RadixKey)]`) writes
//!   its bits field by field with a [`BitWriter`], most significant first, and reads them back
//!   with a [`BitReader`].

use std::cmp::Reverse;

use half::{bf16, f16};

use crate::word::{Width, Word, Words, WordsMut};

/// What a raw word means, and so how it becomes a code. See [`crate::codec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The word is its own code.
    Unsigned,
    /// Two's complement.
    Signed,
    /// An IEEE 754 float: sign, exponent, then `mantissa` bits.
    Float {
        /// How many bits the mantissa has: 10 for `f16`, 7 for `bf16`, 23 for `f32`, 52 for `f64`.
        mantissa: u32,
    },
}

/// A key that radix sort can order: a fixed number of bits, and a bijection between the key's
/// values and those bits that keeps the order.
///
/// Implemented for all integers, floats (`f16` and `bf16` of the crate `half` among them), `bool`,
/// `[u8; N]` (lexicographic), tuples up to eight fields (lexicographic), [`Reverse`], and by
/// `#[derive(RadixKey)]` for structs (lexicographic, field by field).
///
/// Keys of up to 128 bits are sorted as words of the next width; wider ones word by word.
///
/// To implement it by hand, write exactly [`BITS`](Self::BITS) bits and read them back:
///
/// ```
/// use sweepsort_core::{BitReader, BitWriter, RadixKey};
///
/// /// A playing card: suit first, then rank.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Card { rank: u8, suit: u8 }
///
/// impl RadixKey for Card {
///     const BITS: u32 = 6;
///     fn write(&self, out: &mut BitWriter) {
///         out.push(u128::from(self.suit), 2);
///         out.push(u128::from(self.rank), 4);
///     }
///     fn read(from: &mut BitReader) -> Self {
///         let suit = from.take(2) as u8;
///         Card { suit, rank: from.take(4) as u8 }
///     }
/// }
/// ```
pub trait RadixKey: Copy + Send + Sync {
    /// How many bits the key has.
    const BITS: u32;

    /// What the words are that [`words`](Self::words) gives.
    const KIND: Kind = Kind::Unsigned;

    /// Writes the key's [`BITS`](Self::BITS) bits, most significant first. Floats write their
    /// bits under [`Nan::Total`](crate::Nan::Total).
    fn write(&self, out: &mut BitWriter);

    /// Reads a key back from the bits that [`write`](Self::write) wrote.
    fn read(from: &mut BitReader) -> Self;

    /// The keys as raw words of [`KIND`](Self::KIND), where they are such words in memory.
    fn words(keys: &[Self]) -> Option<Words<'_>> {
        let _ = keys;
        None
    }

    /// The keys as raw words of [`KIND`](Self::KIND), where they are such words in memory and any
    /// word is a key.
    fn words_mut(keys: &mut [Self]) -> Option<WordsMut<'_>> {
        let _ = keys;
        None
    }

    /// The key's bits, as one number. Only for keys of up to 128 bits; of wider ones, the low 128.
    fn bits(&self) -> u128 {
        let mut out = BitWriter::new(Self::BITS, 0);
        self.write(&mut out);
        out.window()
    }

    /// The key with these bits. Only for keys of up to 128 bits.
    fn from_bits(bits: u128) -> Self {
        Self::read(&mut BitReader::new(Self::BITS, bits))
    }
}

/// Takes a key's bits, most significant first, and keeps a window of 128 of them.
#[derive(Clone, Debug)]
pub struct BitWriter {
    /// How many bits are still to come; so also the index just past the next bit.
    remaining: u32,
    /// Index of the window's lowest bit.
    low: u32,
    window: u128,
    inverted: bool,
}

impl BitWriter {
    /// A writer of `total` bits that keeps bits `low..low + 128`.
    #[inline(always)]
    pub fn new(total: u32, low: u32) -> Self {
        BitWriter {
            remaining: total,
            low,
            window: 0,
            inverted: false,
        }
    }

    /// The low `count` bits of `value` come next.
    #[inline(always)]
    pub fn push(&mut self, value: u128, count: u32) {
        if count == 0 {
            return;
        }
        let value = if self.inverted { !value } else { value } & u128::mask(&(0..count));
        self.remaining -= count;
        if self.remaining >= self.low {
            self.window |= value.checked_shl(self.remaining - self.low).unwrap_or(0);
        } else {
            self.window |= value.checked_shr(self.low - self.remaining).unwrap_or(0);
        }
    }

    /// What `write` pushes is inverted, and so its order reversed.
    #[inline(always)]
    pub fn inverted(&mut self, write: impl FnOnce(&mut Self)) {
        self.inverted = !self.inverted;
        write(self);
        self.inverted = !self.inverted;
    }

    /// The window of bits, once all are written.
    #[inline(always)]
    pub fn window(&self) -> u128 {
        self.window
    }
}

/// Gives a key's bits back, most significant first. For keys of up to 128 bits.
#[derive(Clone, Debug)]
pub struct BitReader {
    remaining: u32,
    bits: u128,
    inverted: bool,
}

impl BitReader {
    /// A reader of the low `total` bits of `bits`.
    #[inline(always)]
    pub fn new(total: u32, bits: u128) -> Self {
        BitReader {
            remaining: total,
            bits,
            inverted: false,
        }
    }

    /// The next `count` bits.
    #[inline(always)]
    pub fn take(&mut self, count: u32) -> u128 {
        if count == 0 {
            return 0;
        }
        self.remaining -= count;
        let value = self.bits >> self.remaining;
        (if self.inverted { !value } else { value }) & u128::mask(&(0..count))
    }

    /// What `read` takes is inverted.
    #[inline(always)]
    pub fn inverted<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.inverted = !self.inverted;
        let value = read(self);
        self.inverted = !self.inverted;
        value
    }
}

/// A key type that is one machine word: its word, its kind, and the word's bits from its kind.
macro_rules! word_keys {
    ($($key:ty, $word:ident, $kind:expr;)*) => {$(
        impl RadixKey for $key {
            const BITS: u32 = $word::BITS;
            const KIND: Kind = $kind;

            #[inline(always)]
            fn write(&self, out: &mut BitWriter) {
                let word: $word = bytemuck::cast(*self);
                out.push(u128::from(word_bits($kind, word)), $word::BITS);
            }

            #[inline(always)]
            fn read(from: &mut BitReader) -> Self {
                let bits = from.take($word::BITS) as $word;
                bytemuck::cast(bits_word($kind, bits))
            }

            #[inline]
            fn words(keys: &[Self]) -> Option<Words<'_>> {
                Some(bytemuck::cast_slice::<$key, $word>(keys).into())
            }

            #[inline]
            fn words_mut(keys: &mut [Self]) -> Option<WordsMut<'_>> {
                Some(bytemuck::cast_slice_mut::<$key, $word>(keys).into())
            }
        }
    )*};
}

/// A word's bits, ascending and under `Nan::Total`.
#[inline(always)]
fn word_bits<W: Word>(kind: Kind, word: W) -> W {
    crate::Codec {
        kind,
        ..crate::Codec::UNSIGNED
    }
    .coder()
    .encode_bijective(word)
}

/// Undoes [`word_bits`].
#[inline(always)]
fn bits_word<W: Word>(kind: Kind, bits: W) -> W {
    crate::Codec {
        kind,
        ..crate::Codec::UNSIGNED
    }
    .coder()
    .decode(bits)
}

word_keys! {
    u8, u8, Kind::Unsigned;
    u16, u16, Kind::Unsigned;
    u32, u32, Kind::Unsigned;
    u64, u64, Kind::Unsigned;
    u128, u128, Kind::Unsigned;
    i8, u8, Kind::Signed;
    i16, u16, Kind::Signed;
    i32, u32, Kind::Signed;
    i64, u64, Kind::Signed;
    i128, u128, Kind::Signed;
    f16, u16, Kind::Float { mantissa: 10 };
    bf16, u16, Kind::Float { mantissa: 7 };
    f32, u32, Kind::Float { mantissa: 23 };
    f64, u64, Kind::Float { mantissa: 52 };
}

#[cfg(target_pointer_width = "64")]
type Size = u64;
#[cfg(target_pointer_width = "32")]
type Size = u32;

word_keys! {
    usize, Size, Kind::Unsigned;
    isize, Size, Kind::Signed;
}

impl RadixKey for bool {
    const BITS: u32 = 1;

    #[inline(always)]
    fn write(&self, out: &mut BitWriter) {
        out.push(u128::from(*self), 1);
    }

    #[inline(always)]
    fn read(from: &mut BitReader) -> Self {
        from.take(1) == 1
    }
}

impl<const N: usize> RadixKey for [u8; N] {
    const BITS: u32 = 8 * N as u32;

    #[inline(always)]
    fn write(&self, out: &mut BitWriter) {
        for &byte in self {
            out.push(u128::from(byte), 8);
        }
    }

    #[inline(always)]
    fn read(from: &mut BitReader) -> Self {
        std::array::from_fn(|_| from.take(8) as u8)
    }
}

/// The same keys in reverse order: inside a tuple or struct, one field descending.
impl<K: RadixKey> RadixKey for Reverse<K> {
    const BITS: u32 = K::BITS;

    #[inline(always)]
    fn write(&self, out: &mut BitWriter) {
        out.inverted(|out| self.0.write(out));
    }

    #[inline(always)]
    fn read(from: &mut BitReader) -> Self {
        Reverse(from.inverted(K::read))
    }
}

macro_rules! tuple_keys {
    ($(($($field:ident $index:tt),*);)*) => {$(
        impl<$($field: RadixKey),*> RadixKey for ($($field,)*) {
            const BITS: u32 = 0 $(+ $field::BITS)*;

            #[inline(always)]
            fn write(&self, out: &mut BitWriter) {
                $(self.$index.write(out);)*
            }

            #[inline(always)]
            fn read(from: &mut BitReader) -> Self {
                ($($field::read(from),)*)
            }
        }
    )*};
}
tuple_keys! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

/// The width of the words that sort keys of type `K`, or `None` where they are sorted word by
/// word.
pub fn width<K: RadixKey>() -> Option<Width> {
    Width::holding(K::BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// `sorted` is in strictly ascending order; so must be its bits, and they must read back.
    fn ascending<K: RadixKey + Debug>(sorted: &[K], same: impl Fn(&K, &K) -> bool) {
        for pair in sorted.windows(2) {
            assert!(pair[0].bits() < pair[1].bits(), "{pair:?}");
        }
        for key in sorted {
            assert!(same(&K::from_bits(key.bits()), key), "{key:?}");
            assert!(K::BITS >= 128 || key.bits() < 1 << K::BITS, "{key:?}");
        }
    }

    #[test]
    fn bits_keep_the_order() {
        ascending(&[i8::MIN, -1, 0, 1, i8::MAX], |a, b| a == b);
        ascending(&[i128::MIN, -1, 0, 1, i128::MAX], |a, b| a == b);
        ascending(&[isize::MIN, -1, 0, 1, isize::MAX], |a, b| a == b);
        ascending(&[false, true], |a, b| a == b);
        ascending(&[[0u8, 0, 9], [0, 1, 0], [7, 0, 0]], |a, b| a == b);
        ascending(&[Reverse(3u16), Reverse(2), Reverse(0)], |a, b| a == b);
        ascending(
            &[
                (0u8, Reverse(9i32), true),
                (0, Reverse(-9), false),
                (1, Reverse(0), true),
            ],
            |a, b| a == b,
        );
        ascending(
            &[
                -f64::NAN,
                f64::NEG_INFINITY,
                -1.5,
                -f64::MIN_POSITIVE,
                -0.0,
                0.0,
                5e-324,
                1.0,
                f64::INFINITY,
                f64::NAN,
            ],
            |a, b| a.to_bits() == b.to_bits(),
        );
        ascending(
            &[
                f16::NEG_INFINITY,
                f16::NEG_ONE,
                f16::NEG_ZERO,
                f16::ZERO,
                f16::EPSILON,
                f16::MAX,
                f16::INFINITY,
            ],
            |a, b| a.to_bits() == b.to_bits(),
        );
    }

    /// A key wider than 128 bits, seen through windows of 64 bits.
    #[test]
    fn windows_of_wide_keys() {
        let key: [u8; 20] = std::array::from_fn(|i| i as u8 + 1);
        let window = |low| {
            let mut out = BitWriter::new(<[u8; 20]>::BITS, low);
            key.write(&mut out);
            out.window() as u64
        };
        assert_eq!(window(0), 0x0d0e_0f10_1112_1314);
        assert_eq!(window(64), 0x0506_0708_090a_0b0c);
        assert_eq!(window(128), 0x0102_0304);
    }

    #[test]
    fn reversed_fields_invert_only_themselves() {
        let (low, high) = (
            (1u8, Reverse((2u8, 3u8)), 4u8),
            (1u8, Reverse((2u8, 3u8)), 5u8),
        );
        assert_eq!(low.bits(), 0x01_fd_fc_04);
        assert!(low.bits() < high.bits());
        assert_eq!(<(u8, Reverse<(u8, u8)>, u8)>::from_bits(low.bits()), low);
    }
}
