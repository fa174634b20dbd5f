//! Words to codes and back, by vectors.

use sweepsort_core::{Coder, Word};

use crate::lanes::{Lanes, splat};

/// What is compared of keys.
pub(super) trait Coding<L: Lanes>: Copy {
    /// Of a lane where there is no key: its code is the greatest.
    unsafe fn none(self) -> L::Vector;
    /// Codes of keys.
    unsafe fn encode(self, keys: L::Vector) -> L::Vector;
    /// Keys of codes.
    unsafe fn decode(self, codes: L::Vector) -> L::Vector;
}

/// Keys that are codes.
#[derive(Clone, Copy)]
pub(super) struct Codes;

impl<L: Lanes> Coding<L> for Codes {
    #[inline(always)]
    unsafe fn none(self) -> L::Vector {
        // SAFETY: the caller vouches for the instructions.
        unsafe { L::splat(L::Word::MAX) }
    }
    #[inline(always)]
    unsafe fn encode(self, keys: L::Vector) -> L::Vector {
        keys
    }
    #[inline(always)]
    unsafe fn decode(self, codes: L::Vector) -> L::Vector {
        codes
    }
}

/// Any keys whose codes do not tie: what a [`Coder`] does, by vectors.
#[derive(Clone, Copy)]
pub(super) struct Coded<L: Lanes> {
    none: L::Vector,
    xor: L::Vector,
    float_mask: L::Vector,
    rotate: L::Vector,
}

impl<L: Lanes> Coded<L> {
    #[inline(always)]
    pub(super) unsafe fn new<W: Word>(coder: &Coder<W>) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let numbers = coder.constants();
            Coded {
                none: splat::<L, W>(coder.decode(W::MAX)),
                xor: splat::<L, W>(numbers.xor),
                float_mask: splat::<L, W>(numbers.float_mask),
                rotate: splat::<L, W>(numbers.rotate),
            }
        }
    }

    /// Turns the bits of a float but the highest, if that is set.
    #[inline(always)]
    unsafe fn fold(self, words: L::Vector) -> L::Vector {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let negative = L::sub(L::splat(L::Word::ZERO), L::shr(words, L::Word::BITS - 1));
            L::xor(words, L::and(negative, self.float_mask))
        }
    }
}

impl<L: Lanes> Coding<L> for Coded<L> {
    #[inline(always)]
    unsafe fn none(self) -> L::Vector {
        self.none
    }
    #[inline(always)]
    unsafe fn encode(self, keys: L::Vector) -> L::Vector {
        // SAFETY: the caller vouches for the instructions.
        unsafe { L::sub(L::xor(self.fold(keys), self.xor), self.rotate) }
    }
    #[inline(always)]
    unsafe fn decode(self, codes: L::Vector) -> L::Vector {
        // SAFETY: the caller vouches for the instructions.
        unsafe { self.fold(L::xor(L::add(codes, self.rotate), self.xor)) }
    }
}
