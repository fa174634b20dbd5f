//! A strip of records: its codes are read, unless they lie in memory, and their buckets are found.
//!
//! ```text
//! read       codes of records                       source → codes
//! take       common values, which are only counted  codes → fewer codes
//! question   which bucket a code goes to            codes → buckets
//! ```

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use sweepsort_core::Word;

use super::Classifier;
use crate::histogram::Counters;
use crate::lanes::{LANES_MAX, Lanes, Vectored, VectoredOrNot, load_up_to, splat};
use crate::payload::Payload;
use crate::sift::Common;
use crate::source::Source;

/// Records whose buckets are found together.
pub(super) const STRIP: usize = 256;

/// A range in strips.
pub(super) fn each_strip(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range
        .step_by(STRIP)
        .map(move |start| start..end.min(start + STRIP))
}

/// A strip of codes, to be classified.
pub(super) struct Strip<'a, W> {
    pub(super) codes: &'a [W],
    pub(super) question: &'a Question<'a, W>,
    pub(super) buckets: &'a mut [u16; STRIP],
}

/// What is asked of all strips. It is stored once: if it were for each strip, by several stores, a
/// vector of some of it would wait until all stores before these are done.
pub(super) struct Question<'a, W> {
    pub(super) classifier: &'a Classifier<W>,
    /// The bits of the codes that count.
    pub(super) mask: W,
    /// Any code.
    pub(super) reference: W,
}

impl<W: Word> Question<'_, W> {
    /// The buckets of some codes, by vectors for words as wide. Returns the bits in which some code
    /// differs from the reference.
    ///
    /// # Safety
    /// The machine has the lanes' instructions.
    #[inline(always)]
    unsafe fn by_lanes<L: Lanes>(&self, codes: &[W], buckets: &mut [u16; STRIP]) -> W {
        const { assert!(STRIP.is_multiple_of(2 * LANES_MAX)) };
        let n = codes.len();
        assert!(n <= STRIP);
        let mut lanes = [L::Word::ZERO; LANES_MAX];
        // SAFETY: there are as many codes, and buckets for whole vectors.
        unsafe {
            let codes: *const L::Word = codes.as_ptr().cast();
            let (mask, reference) = (splat::<L, W>(self.mask), splat::<L, W>(self.reference));
            let mut varying = L::splat(L::Word::ZERO);
            match self.classifier {
                Classifier::Even { range, placing, .. } => {
                    let placing = placing.cast::<L::Word>();
                    let [least, greatest] = [splat::<L, W>(range[0]), splat::<L, W>(range[1])];
                    for at in (0..n).step_by(2 * L::LANES) {
                        let mut two = [least; 2];
                        for (i, two) in two.iter_mut().enumerate() {
                            let at = at + i * L::LANES;
                            let left = n.saturating_sub(at);
                            let codes = load_up_to::<L>(codes.wrapping_add(at), left, reference);
                            varying = L::or(varying, L::xor(codes, reference));
                            *two = L::min(L::max(L::and(codes, mask), least), greatest);
                        }
                        L::store_places_16(buckets.as_mut_ptr().add(at), two, &placing);
                    }
                }
                Classifier::Sampled(splitters) => {
                    let mut masked = [MaybeUninit::<L::Word>::uninit(); STRIP];
                    for at in (0..n).step_by(L::LANES) {
                        let codes = load_up_to::<L>(codes.add(at), n - at, reference);
                        varying = L::or(varying, L::xor(codes, reference));
                        L::store(masked.as_mut_ptr().add(at).cast(), L::and(codes, mask));
                    }
                    let splitters = splitters.cast::<L::Word>();
                    let mut below = [0u8; STRIP];
                    let n = n.next_multiple_of(L::LANES);
                    splitters.strip::<L>(masked.as_ptr().cast(), n, below.as_mut_ptr());
                    *buckets = below.map(u16::from);
                }
            }
            L::store(lanes.as_mut_ptr(), L::and(varying, mask));
        }
        let varying = lanes
            .into_iter()
            .fold(L::Word::ZERO, |all, lane| all | lane);
        W::truncate(varying.widen())
    }

    /// The same, by any machine.
    fn by_scalars(&self, codes: &[W], buckets: &mut [u16; STRIP]) -> W {
        let mask = self.mask;
        match self.classifier {
            Classifier::Even { range, placing, .. } => {
                let [least, greatest] = *range;
                let most = greatest.wrapping_sub(least);
                let mut beyond = W::ZERO;
                for (bucket, &code) in buckets.iter_mut().zip(codes) {
                    // What lies below is far above then.
                    let distance = (code & mask).wrapping_sub(least);
                    beyond = beyond | borrow(most, distance);
                    *bucket = placing.of_distance(distance) as u16;
                }
                if beyond & W::TOP != W::ZERO {
                    for (bucket, &code) in buckets.iter_mut().zip(codes) {
                        *bucket = placing.of((code & mask).max(least).min(greatest)) as u16;
                    }
                }
            }
            Classifier::Sampled(splitters) => {
                let (mut masked, mut below) = ([W::ZERO; STRIP], [0u8; STRIP]);
                let masked = &mut masked[..codes.len()];
                for (masked, &code) in masked.iter_mut().zip(codes) {
                    *masked = code & mask;
                }
                splitters.strip_portable(masked, &mut below[..codes.len()]);
                *buckets = below.map(u16::from);
            }
        }
        varying(codes, self.reference) & mask
    }
}

impl<W: Word> Vectored for Strip<'_, W> {
    type Output = W;

    /// The bits in which some code differs from the reference.
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> W {
        // SAFETY: the caller's promise.
        unsafe { self.question.by_lanes::<L>(self.codes, self.buckets) }
    }
}

impl<W: Word> VectoredOrNot for Strip<'_, W> {
    fn without(self) -> W {
        self.question.by_scalars(self.codes, self.buckets)
    }
}

/// The codes of records, to be read.
pub(super) struct Read<'a, W, P, S> {
    pub(super) source: S,
    /// The first record's number.
    pub(super) first: usize,
    /// Room for the codes of as many as are read.
    pub(super) codes: &'a mut [W],
    pub(super) payload: PhantomData<P>,
}

impl<W: Word, P: Payload, S: Source<W, P>> Read<'_, W, P, S> {
    #[inline(always)]
    fn read(self) {
        for (i, code) in self.codes.iter_mut().enumerate() {
            // SAFETY: whoever has made this vouches for the records.
            *code = unsafe { self.source.code(self.first + i) };
        }
    }
}

impl<W: Word, P: Payload, S: Source<W, P>> Vectored for Read<'_, W, P, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        self.read();
    }
}

impl<W: Word, P: Payload, S: Source<W, P>> VectoredOrNot for Read<'_, W, P, S> {
    fn without(self) {
        self.read();
    }
}

/// Common values, to be counted and taken out of a strip.
pub(super) struct Take<'a, W> {
    pub(super) common: &'a Common<W>,
    pub(super) codes: &'a mut [W; STRIP],
    pub(super) n: usize,
    /// Any code.
    pub(super) reference: W,
    pub(super) found: &'a mut Counters,
}

impl<W: Word> Vectored for Take<'_, W> {
    type Output = (W, usize);

    /// The bits in which some code differs from the reference, and how many codes are left.
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> (W, usize) {
        let varying = varying(&self.codes[..self.n], self.reference);
        let codes = self.codes.as_mut_ptr().cast();
        // SAFETY: the caller's promise; there are as many codes.
        let left = unsafe { self.common.take::<L, STRIP>(codes, self.n, self.found) };
        (varying, left)
    }
}

/// The bits in which some code differs from a reference.
#[inline(always)]
fn varying<W: Word>(codes: &[W], reference: W) -> W {
    let vary = |all, &code| all | (code ^ reference);
    codes.iter().fold(W::ZERO, vary)
}

/// The top bit tells whether `b` is above `a`. (By vectors that have no comparison of words so wide
/// it takes fewer instructions than what they make of one.)
#[inline(always)]
fn borrow<W: Word>(a: W, b: W) -> W {
    (!a & b) | ((!a | b) & a.wrapping_sub(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::Instructions;
    use crate::lanes::by_vectors_or_not;

    /// Codes beyond the range go to the buckets at its ends, the others where they belong.
    #[test]
    fn codes_beyond_the_range_go_to_its_ends() {
        fn width<W: Word>() {
            let (one, half, eighth) = (W::truncate(1), W::MAX >> 1, W::MAX >> 3);
            let ranges = [
                [W::ZERO, W::MAX],
                [W::ZERO, one],
                [eighth, half],
                [eighth, W::MAX],
                [one, W::MAX.wrapping_sub(one)],
                [W::TOP.wrapping_sub(one), W::TOP],
            ];
            for [least, greatest] in ranges {
                for bits in [1, 5] {
                    let classifier = Classifier::even([least, greatest], bits);
                    let Classifier::Even { placing, .. } = &classifier else {
                        unreachable!("made to be even")
                    };
                    let near = [least, greatest, W::ZERO, W::MAX, W::TOP, W::MAX >> 2];
                    let near =
                        near.map(|code| [code.wrapping_sub(one), code, code.wrapping_add(one)]);
                    // Alone, for one that lies beyond has all of a strip looked at again; and together.
                    let codes = near.as_flattened();
                    for codes in codes.chunks(1).chain([codes]) {
                        for (instructions, mask) in
                            Instructions::all().flat_map(|it| [(it, W::MAX), (it, W::MAX << 2)])
                        {
                            let mut buckets = [0; STRIP];
                            let strip = Strip {
                                codes,
                                question: &Question {
                                    classifier: &classifier,
                                    mask,
                                    reference: eighth,
                                },
                                buckets: &mut buckets,
                            };
                            // SAFETY: the machine has the instructions.
                            let varying = unsafe { by_vectors_or_not::<W, _>(instructions, strip) };
                            let of = |&code: &W| placing.of((code & mask).max(least).min(greatest));
                            let found = (varying, buckets[..codes.len()].to_vec());
                            let expected = (
                                codes
                                    .iter()
                                    .fold(W::ZERO, |all, &code| all | (code ^ eighth))
                                    & mask,
                                codes.iter().map(|code| of(code) as u16).collect(),
                            );
                            let what =
                                format!("{codes:?} in {least:?}..={greatest:?}, {bits} bits");
                            assert_eq!(found, expected, "{what}, {instructions:?}");
                        }
                    }
                }
            }
        }
        width::<u8>();
        width::<u16>();
        width::<u32>();
        width::<u64>();
        width::<u128>();
    }
}
