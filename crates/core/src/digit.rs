//! Digits: neighbouring bits of a code.

use std::ops::Range;

use crate::word::Word;

/// `bits` neighbouring bits of a code, the lowest at `shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Digit {
    /// Index of the digit's lowest bit.
    pub shift: u32,
    /// How many bits the digit has; at most 16.
    pub bits: u32,
}

impl Digit {
    /// How many different values the digit can have: `2^bits`.
    pub const fn radix(self) -> usize {
        1 << self.bits
    }

    /// The bits of the code that it has.
    pub const fn range(self) -> Range<u32> {
        self.shift..self.shift + self.bits
    }

    /// The digit of a code.
    #[inline(always)]
    pub fn of<W: Word>(self, code: W) -> usize {
        (code >> self.shift).low_usize() & (self.radix() - 1)
    }

    /// The digits that cover `bits` from the lowest bit up, each of `radix_bits` bits but the
    /// last, which may be narrower.
    pub fn cover(bits: Range<u32>, radix_bits: u32) -> Vec<Digit> {
        let width = radix_bits.max(1);
        bits.clone()
            .step_by(width as usize)
            .map(|shift| Digit {
                shift,
                bits: width.min(bits.end - shift),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cover_is_exact() {
        let digits = |bits, radix_bits| -> Vec<(u32, u32)> {
            Digit::cover(bits, radix_bits)
                .iter()
                .map(|d| (d.shift, d.bits))
                .collect()
        };
        assert_eq!(digits(0..16, 8), [(0, 8), (8, 8)]);
        assert_eq!(digits(3..12, 4), [(3, 4), (7, 4), (11, 1)]);
        assert_eq!(digits(5..5, 8), []);
    }
}
