//! From a raw word to its sort code and back.
//!
//! An engine never knows a key's type. It knows raw words of one width and a [`Codec`]: how a word
//! becomes a code such that codes, compared as unsigned numbers, stand in the wanted output order.
//! For a word `x` of `W` bits:
//!
//! | kind | code, ascending |
//! |---|---|
//! | unsigned | `x` |
//! | signed | `x ^ 2^(W-1)` |
//! | float | `x ^ 2^(W-1)` if the sign bit is clear, else `!x` |
//!
//! Descending inverts the code. [`Nan::Last`] and [`Nan::First`] then rotate it by the number of
//! NaNs of one sign, modulo `2^W`, which carries the NaNs from one end of the order to the other;
//! so the code stays a bijection. With `ties`, which only argsort and pairs ask for, all NaNs and
//! both zeros are first made equal, and the code can no longer be turned back.

use crate::key::Kind;
use crate::options::{Nan, Order};
use crate::word::Word;

/// How raw words become codes. Independent of the word's width; [`Codec::coder`] fixes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Codec {
    /// What the raw words are.
    pub kind: Kind,
    /// The output's direction.
    pub order: Order,
    /// Where NaNs go; only floats have any.
    pub nan: Nan,
    /// Whether NaNs tie and zeros tie; only floats under [`Nan::Last`] and [`Nan::First`] do.
    pub ties: bool,
}

impl Codec {
    /// The codec of unsigned words in ascending order: it changes nothing.
    pub const UNSIGNED: Codec = Codec {
        kind: Kind::Unsigned,
        order: Order::Ascending,
        nan: Nan::Total,
        ties: false,
    };

    /// The codec for keys alone, where equal keys must be indistinguishable.
    #[inline]
    pub fn for_keys(kind: Kind, order: Order, nan: Nan) -> Codec {
        let nan = if matches!(kind, Kind::Float { .. }) {
            nan
        } else {
            Nan::Total
        };
        Codec {
            kind,
            order,
            nan,
            ties: false,
        }
    }

    /// The codec for keys that something follows (values, an index), where NaNs tie and zeros tie
    /// unless the policy is [`Nan::Total`].
    pub fn for_records(kind: Kind, order: Order, nan: Nan) -> Codec {
        let codec = Codec::for_keys(kind, order, nan);
        Codec {
            ties: codec.nan != Nan::Total,
            ..codec
        }
    }

    /// This codec for words of type `W`, ready for inner loops.
    #[inline]
    pub fn coder<W: Word>(&self) -> Coder<W> {
        let (mut xor, float_mask, exponent) = match self.kind {
            Kind::Unsigned => (W::ZERO, W::ZERO, W::ZERO),
            Kind::Signed => (W::TOP, W::ZERO, W::ZERO),
            Kind::Float { mantissa } => (
                W::TOP,
                !W::TOP,
                W::mask(&(mantissa.min(W::BITS - 1)..W::BITS - 1)),
            ),
        };
        if self.order == Order::Descending {
            xor = !xor;
        }
        // As many NaNs of one sign as mantissas other than zero.
        let nans = match self.kind {
            Kind::Float { mantissa } => W::mask(&(0..mantissa.min(W::BITS))),
            _ => W::ZERO,
        };
        let rotate = match self.nan {
            Nan::Total => W::ZERO,
            Nan::Last => nans,
            Nan::First => W::ZERO.wrapping_sub(nans),
        };
        Coder {
            xor,
            float_mask,
            rotate,
            infinity: exponent,
            ties: self.ties,
        }
    }
}

/// A [`Codec`] for one width. Encoding is branch-free but for `ties`, the same five operations for
/// every kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coder<W> {
    xor: W,
    float_mask: W,
    rotate: W,
    /// The bits of +∞, for `ties`.
    infinity: W,
    ties: bool,
}

/// The numbers of a [`Coder`], for kernels that code as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants<W> {
    /// Every word is exclusive-ored with it.
    pub xor: W,
    /// And with these of its bits, where its sign bit is set.
    pub float_mask: W,
    /// Then this is subtracted.
    pub rotate: W,
    /// The bits of +∞, above which a magnitude is a NaN.
    pub infinity: W,
}

impl<W: Word> Coder<W> {
    /// Its numbers.
    pub fn constants(&self) -> Constants<W> {
        Constants {
            xor: self.xor,
            float_mask: self.float_mask,
            rotate: self.rotate,
            infinity: self.infinity,
        }
    }

    /// Whether a word is its own code.
    #[inline]
    pub fn is_identity(&self) -> bool {
        self.xor == W::ZERO && self.float_mask == W::ZERO && self.rotate == W::ZERO && !self.ties
    }

    /// Whether different words can have one code, so that [`decode`](Self::decode) is not to be
    /// used.
    #[inline]
    pub fn ties(&self) -> bool {
        self.ties
    }

    /// The code of a raw word.
    #[inline(always)]
    pub fn encode(&self, word: W) -> W {
        self.encode_bijective(if self.ties {
            self.canonical(word)
        } else {
            word
        })
    }

    /// The code of a raw word, `ties` left out of account.
    #[inline(always)]
    pub fn encode_bijective(&self, word: W) -> W {
        (word ^ (word.spread_top() & self.float_mask) ^ self.xor).wrapping_sub(self.rotate)
    }

    /// The raw word of a code. Only where the codec does not tie.
    #[inline(always)]
    pub fn decode(&self, code: W) -> W {
        let word = code.wrapping_add(self.rotate) ^ self.xor;
        // A float's sign bit is not in the mask, so it is already right here.
        word ^ (word.spread_top() & self.float_mask)
    }

    /// One representative for all NaNs, one for both zeros.
    #[inline(always)]
    fn canonical(&self, word: W) -> W {
        let magnitude = word & self.float_mask;
        if magnitude > self.infinity {
            self.float_mask
        } else if magnitude == W::ZERO {
            W::ZERO
        } else {
            word
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS_16: [Kind; 4] = [
        Kind::Unsigned,
        Kind::Signed,
        Kind::Float { mantissa: 10 },
        Kind::Float { mantissa: 7 },
    ];

    /// Every codec of 16-bit words is a bijection that `decode` undoes.
    #[test]
    fn codes_are_bijections() {
        for kind in KINDS_16 {
            for &order in Order::ALL {
                for &nan in Nan::ALL {
                    let coder = Codec::for_keys(kind, order, nan).coder::<u16>();
                    let mut seen = vec![false; 1 << 16];
                    for word in 0..=u16::MAX {
                        let code = coder.encode(word);
                        assert_eq!(coder.decode(code), word, "{kind:?} {order} {nan} {word:#x}");
                        assert!(!std::mem::replace(&mut seen[usize::from(code)], true));
                    }
                }
            }
        }
    }
}
