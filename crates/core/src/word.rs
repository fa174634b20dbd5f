//! What engines see of keys: slices of unsigned words of 8, 16, 32, 64 or 128 bits.

use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// The width of a word: the only widths that an engine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 8 bits.
    W8 = 8,
    /// 16 bits.
    W16 = 16,
    /// 32 bits.
    W32 = 32,
    /// 64 bits.
    W64 = 64,
    /// 128 bits.
    W128 = 128,
}

impl Width {
    /// Every width, narrowest first.
    pub const ALL: [Width; 5] = [Width::W8, Width::W16, Width::W32, Width::W64, Width::W128];

    /// The narrowest width that holds `bits` bits, if one does.
    pub const fn holding(bits: u32) -> Option<Width> {
        match bits {
            0..=8 => Some(Width::W8),
            9..=16 => Some(Width::W16),
            17..=32 => Some(Width::W32),
            33..=64 => Some(Width::W64),
            65..=128 => Some(Width::W128),
            _ => None,
        }
    }

    /// The width in bits.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// The width in bytes.
    pub const fn bytes(self) -> usize {
        self as usize / 8
    }
}

mod sealed {
    pub trait Sealed {}
}

/// An unsigned word: `u8`, `u16`, `u32`, `u64` or `u128`.
pub trait Word:
    sealed::Sealed
    + bytemuck::Pod
    + Copy
    + Debug
    + Default
    + Ord
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + 'static
{
    /// This word's width.
    const WIDTH: Width;
    /// The width in bits.
    const BITS: u32 = Self::WIDTH.bits();
    /// All bits zero.
    const ZERO: Self;
    /// All bits one.
    const MAX: Self;
    /// Only the highest bit one.
    const TOP: Self;

    /// The low bits of `value`.
    fn truncate(value: u128) -> Self;
    /// The word as a number.
    fn widen(self) -> u128;
    /// The low `usize::BITS` bits: a digit, once shifted and masked.
    fn low_usize(self) -> usize;
    /// All ones if the highest bit is set, else zero.
    fn spread_top(self) -> Self;
    /// Addition modulo `2^BITS`.
    fn wrapping_add(self, other: Self) -> Self;
    /// Subtraction modulo `2^BITS`.
    fn wrapping_sub(self, other: Self) -> Self;
    /// How many high bits are zero.
    fn leading_zeros(self) -> u32;
    /// How many low bits are zero.
    fn trailing_zeros(self) -> u32;

    /// The word with ones exactly at `bits`.
    fn mask(bits: &std::ops::Range<u32>) -> Self {
        if bits.is_empty() {
            Self::ZERO
        } else {
            (Self::MAX >> (Self::BITS - (bits.end - bits.start))) << bits.start
        }
    }
}

macro_rules! word {
    ($($word:ident $signed:ident $width:ident),*) => {$(
        impl sealed::Sealed for $word {}
        impl Word for $word {
            const WIDTH: Width = Width::$width;
            const ZERO: Self = 0;
            const MAX: Self = $word::MAX;
            const TOP: Self = 1 << ($word::BITS - 1);
            #[inline(always)]
            fn truncate(value: u128) -> Self {
                value as $word
            }
            #[inline(always)]
            fn widen(self) -> u128 {
                u128::from(self)
            }
            #[inline(always)]
            fn low_usize(self) -> usize {
                self as usize
            }
            #[inline(always)]
            fn spread_top(self) -> Self {
                ((self as $signed) >> ($word::BITS - 1)) as $word
            }
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                self.leading_zeros()
            }
            #[inline(always)]
            fn trailing_zeros(self) -> u32 {
                self.trailing_zeros()
            }
        }
        impl<'a> From<&'a [$word]> for Words<'a> {
            #[inline]
            fn from(words: &'a [$word]) -> Self {
                Words::$width(words)
            }
        }
        impl<'a> From<&'a mut [$word]> for WordsMut<'a> {
            #[inline]
            fn from(words: &'a mut [$word]) -> Self {
                WordsMut::$width(words)
            }
        }
    )*};
}
word!(u8 i8 W8, u16 i16 W16, u32 i32 W32, u64 i64 W64, u128 i128 W128);

/// Keys to read, as words.
#[derive(Clone, Copy, Debug)]
pub enum Words<'a> {
    /// Words of 8 bits.
    W8(&'a [u8]),
    /// Words of 16 bits.
    W16(&'a [u16]),
    /// Words of 32 bits.
    W32(&'a [u32]),
    /// Words of 64 bits.
    W64(&'a [u64]),
    /// Words of 128 bits.
    W128(&'a [u128]),
}

/// Keys to sort in place, as words.
#[derive(Debug)]
pub enum WordsMut<'a> {
    /// Words of 8 bits.
    W8(&'a mut [u8]),
    /// Words of 16 bits.
    W16(&'a mut [u16]),
    /// Words of 32 bits.
    W32(&'a mut [u32]),
    /// Words of 64 bits.
    W64(&'a mut [u64]),
    /// Words of 128 bits.
    W128(&'a mut [u128]),
}

/// Runs one generic expression for whichever width a [`Words`] or [`WordsMut`] holds.
///
/// ```
/// use sweepsort_core::{Words, with_words};
/// let words = Words::from(&[1u16, 2, 3][..]);
/// assert_eq!(with_words!(Words, words, |slice| std::mem::size_of_val(slice)), 6);
/// ```
#[macro_export]
macro_rules! with_words {
    ($enum:ident, $words:expr, |$slice:ident| $body:expr) => {
        match $words {
            $crate::$enum::W8($slice) => $body,
            $crate::$enum::W16($slice) => $body,
            $crate::$enum::W32($slice) => $body,
            $crate::$enum::W64($slice) => $body,
            $crate::$enum::W128($slice) => $body,
        }
    };
}

/// Runs one generic expression with a name standing for the word type of a [`Width`].
///
/// ```
/// use sweepsort_core::{Width, with_width};
/// assert_eq!(with_width!(Width::W64, |W| size_of::<W>()), 8);
/// ```
#[macro_export]
macro_rules! with_width {
    ($width:expr, |$word:ident| $body:expr) => {
        match $width {
            $crate::Width::W8 => {
                type $word = u8;
                $body
            }
            $crate::Width::W16 => {
                type $word = u16;
                $body
            }
            $crate::Width::W32 => {
                type $word = u32;
                $body
            }
            $crate::Width::W64 => {
                type $word = u64;
                $body
            }
            $crate::Width::W128 => {
                type $word = u128;
                $body
            }
        }
    };
}

macro_rules! shape {
    ($($enum:ident),*) => {$(
        impl $enum<'_> {
            /// How many keys there are.
            pub fn len(&self) -> usize {
                with_words!($enum, self, |slice| slice.len())
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The words' width.
            pub fn width(&self) -> Width {
                match self {
                    $enum::W8(_) => Width::W8,
                    $enum::W16(_) => Width::W16,
                    $enum::W32(_) => Width::W32,
                    $enum::W64(_) => Width::W64,
                    $enum::W128(_) => Width::W128,
                }
            }
        }
    )*};
}
shape!(Words, WordsMut);

impl WordsMut<'_> {
    /// The same words, for as long as these are borrowed.
    pub fn reborrow(&mut self) -> WordsMut<'_> {
        with_words!(WordsMut, self, |slice| (&mut **slice).into())
    }
}
