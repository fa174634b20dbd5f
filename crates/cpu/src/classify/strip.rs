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
use crate::lanes::{
    AnyVectored, Keys, LANES_MAX, Lanes, Sorted, Vectored, VectoredOrNot, by_vectors_of_any,
    load_up_to, splat,
};
use crate::payload::Payload;
use crate::placing::Placing;
use crate::sift::Common;
use crate::source::Source;
use crate::splitters::Splitters;

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
    /// The buckets of some codes, which are even stretches of a range. Returns the bits in which
    /// some code differs from the reference.
    ///
    /// # Safety
    /// The machine has the lanes' instructions, of words as wide.
    #[inline(always)]
    unsafe fn even<L: Keys>(
        &self,
        [least, greatest]: [W; 2],
        placing: &Placing<W>,
        codes: &[W],
        buckets: &mut [u16; STRIP],
    ) -> W {
        // Whether an instruction tells the lesser of two words. If not, codes beyond the range are
        // only noticed: they are rare.
        let clamps = const { <L::Alone as Sorted>::ALL };
        let n = codes.len();
        assert!(n <= STRIP);
        let whole = n - n % (2 * L::LANES);
        let most = greatest.wrapping_sub(least);
        let is_half = most & W::TOP != W::ZERO;
        let mut lanes = [[L::Word::ZERO; LANES_MAX]; 2];
        // SAFETY: there are as many codes, and buckets for them.
        unsafe {
            let from: *const L::Word = codes.as_ptr().cast();
            let placing = placing.cast::<L::Word>();
            let [mask, reference] = [self.mask, self.reference].map(|word| splat::<L, W>(word));
            let [first, last, most] = [least, greatest, most].map(|word| splat::<L, W>(word));
            let none = L::splat(L::Word::ZERO);
            let (mut varying, mut beyond) = (none, none);
            for at in (0..whole).step_by(2 * L::LANES) {
                let mut two = [first; 2];
                for (i, two) in two.iter_mut().enumerate() {
                    let codes = L::load(from.add(at + i * L::LANES));
                    varying = L::or(varying, L::xor(codes, reference));
                    *two = L::and(codes, mask);
                    if clamps {
                        *two = L::min(L::max(*two, first), last);
                    } else {
                        beyond = L::or(beyond, exceeds::<L>(L::sub(*two, first), most, is_half));
                    }
                }
                L::store_places_16(buckets.as_mut_ptr().add(at), two, &placing);
            }
            L::store(lanes[0].as_mut_ptr(), varying);
            L::store(lanes[1].as_mut_ptr(), beyond);
        }
        let [varying, beyond]: [W; 2] = lanes.map(|lanes| any_of(lanes));
        let done = if beyond & W::TOP == W::ZERO { whole } else { 0 };
        let (codes, buckets) = (&codes[done..], &mut buckets[done..]);
        (varying & self.mask) | self.even_by_scalars([least, greatest], placing, codes, buckets)
    }

    /// The same without vectors.
    fn even_by_scalars(
        &self,
        [least, greatest]: [W; 2],
        placing: &Placing<W>,
        codes: &[W],
        buckets: &mut [u16],
    ) -> W {
        for (bucket, &code) in buckets.iter_mut().zip(codes) {
            *bucket = placing.of((code & self.mask).max(least).min(greatest)) as u16;
        }
        varying(codes, self.reference) & self.mask
    }

    /// The same of buckets that a sample parts, by vectors.
    ///
    /// # Safety
    /// As [`even`](Self::even).
    #[inline(always)]
    unsafe fn sampled<L: Lanes>(
        &self,
        splitters: &Splitters<W>,
        codes: &[W],
        buckets: &mut [u16; STRIP],
    ) -> W {
        const { assert!(STRIP.is_multiple_of(LANES_MAX)) };
        let n = codes.len();
        assert!(n <= STRIP);
        let mut lanes = [L::Word::ZERO; LANES_MAX];
        let mut masked = [MaybeUninit::<L::Word>::uninit(); STRIP];
        let mut below = [0u8; STRIP];
        // SAFETY: there are as many codes, and room for whole vectors.
        unsafe {
            let codes: *const L::Word = codes.as_ptr().cast();
            let [mask, reference] = [self.mask, self.reference].map(|word| splat::<L, W>(word));
            let mut varying = L::splat(L::Word::ZERO);
            for at in (0..n).step_by(L::LANES) {
                let codes = load_up_to::<L>(codes.add(at), n - at, reference);
                varying = L::or(varying, L::xor(codes, reference));
                L::store(masked.as_mut_ptr().add(at).cast(), L::and(codes, mask));
            }
            let n = n.next_multiple_of(L::LANES);
            let splitters = splitters.cast::<L::Word>();
            splitters.strip::<L>(masked.as_ptr().cast(), n, below.as_mut_ptr());
            L::store(lanes.as_mut_ptr(), L::and(varying, mask));
        }
        *buckets = below.map(u16::from);
        any_of(lanes)
    }

    /// The same without vectors.
    fn sampled_by_scalars(
        &self,
        splitters: &Splitters<W>,
        codes: &[W],
        buckets: &mut [u16; STRIP],
    ) -> W {
        let (mut masked, mut below) = ([W::ZERO; STRIP], [0u8; STRIP]);
        let masked = &mut masked[..codes.len()];
        for (masked, &code) in masked.iter_mut().zip(codes) {
            *masked = code & self.mask;
        }
        splitters.strip_portable(masked, &mut below[..codes.len()]);
        *buckets = below.map(u16::from);
        varying(codes, self.reference) & self.mask
    }
}

/// The bits that some lane has.
#[inline(always)]
fn any_of<L: Word, W: Word>(lanes: [L; LANES_MAX]) -> W {
    let all = lanes.into_iter().fold(L::ZERO, |all, lane| all | lane);
    W::truncate(all.widen())
}

/// The top bit of each lane tells whether a distance is above the greatest, `is_half` if that has
/// its own top bit set. (Without instructions that compare words so wide, that takes fewer.)
#[inline(always)]
unsafe fn exceeds<L: Keys>(distance: L::Vector, most: L::Vector, is_half: bool) -> L::Vector {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let left = L::sub(most, distance);
        match is_half {
            true => L::and(distance, left),
            false => L::or(distance, left),
        }
    }
}

impl<W: Word> Vectored for Strip<'_, W> {
    type Output = W;

    /// The bits in which some code differs from the reference.
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> W {
        let (question, codes, buckets) = (self.question, self.codes, self.buckets);
        // SAFETY: the caller's promise.
        unsafe {
            match question.classifier {
                Classifier::Even { range, placing, .. } => {
                    question.even::<L>(*range, placing, codes, buckets)
                }
                Classifier::Sampled(splitters) => question.sampled::<L>(splitters, codes, buckets),
            }
        }
    }
}

impl<W: Word> AnyVectored for Strip<'_, W> {
    type Output = W;

    #[inline(always)]
    unsafe fn run<L: Keys>(self) -> W {
        match self.question.classifier {
            // SAFETY: the caller's promise.
            Classifier::Even { range, placing, .. } => unsafe {
                let (codes, buckets) = (self.codes, self.buckets);
                self.question.even::<L>(*range, placing, codes, buckets)
            },
            Classifier::Sampled(_) => self.by_scalars(),
        }
    }
}

impl<W: Word> Strip<'_, W> {
    fn by_scalars(self) -> W {
        let (question, codes, buckets) = (self.question, self.codes, self.buckets);
        match question.classifier {
            Classifier::Even { range, placing, .. } => {
                question.even_by_scalars(*range, placing, codes, buckets)
            }
            Classifier::Sampled(splitters) => {
                question.sampled_by_scalars(splitters, codes, buckets)
            }
        }
    }
}

impl<W: Word> VectoredOrNot for Strip<'_, W> {
    fn without(self) -> W {
        // SAFETY: every machine has the instructions.
        unsafe { by_vectors_of_any::<W, _>(self) }.unwrap_or_else(Strip::by_scalars)
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
                    // Alone, for one that lies beyond may have all of a strip looked at again; and together.
                    let codes = near.as_flattened();
                    let alone = codes.iter().map(|&code| vec![code; 2 * LANES_MAX + 1]);
                    let together = codes.repeat(STRIP / codes.len());
                    for codes in alone.chain([together]) {
                        for (instructions, mask) in
                            Instructions::all().flat_map(|it| [(it, W::MAX), (it, W::MAX << 2)])
                        {
                            let mut buckets = [0; STRIP];
                            let strip = Strip {
                                codes: &codes,
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
