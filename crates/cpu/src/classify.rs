//! The first partition's question: which bucket does a code go to?
//!
//! | classifier | buckets | for codes that are |
//! |---|---|---|
//! | [`Even`](Classifier::Even) | equal stretches between two codes | evenly spread |
//! | [`Sampled`](Classifier::Sampled) | as a sample tells, or of one value | skewed |
//!
//! What the classifier knows is a sample. It is right for all codes, and its buckets are alike in size
//! for those that are like the sample.

use std::marker::PhantomData;
use std::ops::Range;

use sweepsort_core::Word;

use crate::histogram::Counters;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::payload::Payload;
use crate::pieces::Limits;
use crate::placing::Placing;
use crate::sample::is_even;
use crate::sift::{BucketSet, Common, Sift};
use crate::source::Source;
use crate::splitters::Splitters;

/// Records whose buckets are found together.
const STRIP: usize = 256;
/// Records that are put to their buckets before the machine is told of others that it will soon read.
const FEW: usize = 16;
/// How far ahead those are. Machines foresee a read along the input, but not beyond the end of a page.
const AHEAD: usize = 512;

/// Bits that number buckets, at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BucketBits {
    /// Where even stretches part the codes.
    pub(crate) even: u32,
    /// Where a sample does: no more than [`PARTITION_BITS`](crate::tuning::PARTITION_BITS).
    pub(crate) sampled: u32,
}

/// See the [module](self).
pub(crate) enum Classifier<W> {
    /// Equal stretches; what lies beyond the range goes to the first and the last.
    Even {
        /// The least and the greatest code of the range.
        range: [W; 2],
        placing: Placing<W>,
        buckets: usize,
    },
    /// See [`Splitters`].
    Sampled(Box<Splitters<W>>),
}

impl<W: Word> Classifier<W> {
    /// Buckets for codes such as those of a sample, which is in order.
    pub(crate) fn new(sample: &[W], bits: BucketBits) -> Self {
        let (first, last) = (sample[0], sample[sample.len() - 1]);
        // What lies beyond the sample is likely no further away than a few of its steps.
        let bits_of_steps = sample.len().ilog2().min(W::BITS - 1);
        let beyond = last.wrapping_sub(first) >> bits_of_steps << 1;
        let least = first.wrapping_sub(beyond.min(first));
        let greatest = last.wrapping_add(beyond.min(W::MAX.wrapping_sub(last)));
        Self::within([least, greatest], sample, bits)
    }

    /// The same, for codes in a range.
    pub(crate) fn within(range: [W; 2], sample: &[W], bits: BucketBits) -> Self {
        match Self::even(range, bits.even) {
            Classifier::Even {
                placing, buckets, ..
            } if !is_even(sample, &placing, buckets) => {
                Classifier::Sampled(Box::new(Splitters::new(sample, bits.sampled)))
            }
            even => even,
        }
    }

    /// `1 << bits` even stretches of a range.
    pub(crate) fn even(range: [W; 2], bits: u32) -> Self {
        let buckets = 1 << bits;
        let distance = range[1].wrapping_sub(range[0]).max(W::truncate(1));
        Classifier::Even {
            range,
            placing: Placing::new(range[0], distance, buckets),
            buckets,
        }
    }

    /// Whether buckets are even stretches.
    pub(crate) fn is_even(&self) -> bool {
        matches!(self, Classifier::Even { .. })
    }

    /// Which of the bits it has been made with.
    pub(crate) fn of_bits(&self, bits: BucketBits) -> u32 {
        match self {
            Classifier::Even { .. } => bits.even,
            Classifier::Sampled(_) => bits.sampled,
        }
    }

    /// What no code of a bucket is beyond, whose bits in `mask` tell the bucket. Not of the buckets
    /// at the ends, which have all codes beyond the range, nor of those that a sample parts, whose
    /// keys may crowd.
    pub(crate) fn limits(&self, bucket: usize, mask: W) -> Option<Limits<W>> {
        match self {
            Classifier::Even { range, placing, .. }
                if const { W::BITS >= 32 }
                    && mask & W::TOP != W::ZERO
                    && (1..placing.of(range[1])).contains(&bucket) =>
            {
                let least = placing.last(bucket - 1).wrapping_add(W::truncate(1));
                Some([least, placing.last(bucket) | !mask])
            }
            _ => None,
        }
    }

    /// How many buckets there are.
    pub(crate) fn buckets(&self) -> usize {
        match self {
            Classifier::Even { buckets, .. } => *buckets,
            Classifier::Sampled(splitters) => splitters.buckets(),
        }
    }

    /// The code that all of a bucket have, if there is only one.
    pub(crate) fn one_value(&self, bucket: usize) -> Option<W> {
        match self {
            Classifier::Even { .. } => None,
            Classifier::Sampled(splitters) => splitters.one_value(bucket),
        }
    }

    /// The buckets of more than one value, if most of the sample is in others.
    pub(crate) fn moved(&self) -> Option<&BucketSet> {
        match self {
            Classifier::Even { .. } => None,
            Classifier::Sampled(splitters) => splitters.moved(),
        }
    }

    /// The most frequent values, if they [have been found](Self::find_common).
    pub(crate) fn common(&self) -> Option<&Common<W>> {
        match self {
            Classifier::Even { .. } => None,
            Classifier::Sampled(splitters) => splitters.common(),
        }
    }

    /// Finds the most frequent values of the sample that this is made of, if those of most of it are counted.
    pub(crate) fn find_common(&mut self, sample: &[W]) {
        if let Classifier::Sampled(splitters) = self {
            splitters.find_common(sample);
        }
    }

    /// The buckets of `n` codes, or more, of whose bits those of a mask count, by vectors for words as wide.
    ///
    /// # Safety
    /// The machine has the lanes' instructions.
    #[inline(always)]
    unsafe fn by_lanes<L: Lanes>(
        &self,
        codes: &[W; STRIP],
        n: usize,
        mask: W,
        buckets: &mut [u16; STRIP],
    ) {
        match self {
            Classifier::Even { range, placing, .. } => {
                let placing = placing.cast::<L::Word>();
                let [least, greatest, mask] =
                    [range[0], range[1], mask].map(|code| L::Word::truncate(code.widen()));
                for at in (0..STRIP).step_by(L::LANES) {
                    // SAFETY: there are as many codes and buckets.
                    unsafe {
                        let codes = L::load(codes.as_ptr().add(at).cast());
                        let codes = L::and(codes, L::splat(mask));
                        let codes = L::min(L::max(codes, L::splat(least)), L::splat(greatest));
                        L::store_16(buckets.as_mut_ptr().add(at), L::places(codes, &placing));
                    }
                }
            }
            Classifier::Sampled(splitters) => {
                let splitters = splitters.cast::<L::Word>();
                let codes = codes.map(|code| code & mask);
                let codes = codes.as_ptr().cast();
                let mut below = [0u8; STRIP];
                // SAFETY: there are as many codes and buckets.
                unsafe {
                    splitters.strip::<L>(codes, n.next_multiple_of(L::LANES), below.as_mut_ptr())
                }
                *buckets = below.map(u16::from);
            }
        }
    }

    /// The same, by any machine.
    fn by_scalars(&self, codes: &[W], mask: W, buckets: &mut [u16; STRIP]) {
        match self {
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
    }
}

/// The top bit tells whether `b` is above `a`. (By vectors that have no comparison of words so wide
/// it takes fewer instructions than what they make of one.)
#[inline(always)]
fn borrow<W: Word>(a: W, b: W) -> W {
    (!a & b) | ((!a | b) & a.wrapping_sub(b))
}

/// Records to be classified, by the bits of their codes that count.
#[derive(Clone, Copy)]
pub(crate) struct Classify<'a, W, S> {
    pub(crate) source: S,
    pub(crate) mask: W,
    pub(crate) classifier: &'a Classifier<W>,
    pub(crate) instructions: Instructions,
}

impl<W: Word, S> Classify<'_, W, S> {
    /// Before the `i`-th record of a strip, which begins with the record `first`, is used: at every
    /// [`FEW`], says that as many some way behind will soon be read.
    #[inline(always)]
    pub(crate) fn fetch<P: Payload>(&self, first: usize, i: usize)
    where
        S: Source<W, P>,
    {
        if i.is_multiple_of(FEW) {
            let later = first + i + AHEAD;
            self.source.fetch(later..later + FEW);
        }
    }

    /// Counts the buckets of a strip's records, or of some of them, and fetches others as
    /// [`fetch`](Self::fetch).
    #[inline(always)]
    pub(crate) fn count<P: Payload>(
        &self,
        strip: Range<usize>,
        buckets: &[u16],
        counters: &mut Counters,
    ) where
        S: Source<W, P>,
    {
        let mut few = buckets.chunks(FEW);
        for i in (0..strip.len()).step_by(FEW) {
            self.fetch(strip.start, i);
            few.next().into_iter().for_each(|few| counters.count(few));
        }
    }

    /// Calls `put` with a strip of a range after the other: the first record's number, the records' codes and
    /// their buckets. Returns the bits in which some code differs from `reference`.
    ///
    /// # Safety
    /// The source has the records, and nobody writes them now. The machine has the instructions.
    #[inline(always)]
    pub(crate) unsafe fn strips<P: Payload>(
        &self,
        range: Range<usize>,
        reference: W,
        mut put: impl FnMut(usize, &[W], &[u16]),
    ) -> W
    where
        S: Source<W, P>,
    {
        let all =
            |strip: Range<usize>, n: usize, codes: &mut [W; STRIP], buckets: &mut [u16; STRIP]| {
                put(strip.start, &codes[..n], &buckets[..n]);
            };
        // SAFETY: the caller's promise.
        unsafe { self.each_strip(range, reference, None, all) }
    }

    /// The same where all bits of codes count: calls `put` with the codes of some buckets, and their buckets;
    /// counts common values, and of other codes those of each bucket.
    ///
    /// # Safety
    /// As [`strips`](Self::strips).
    #[inline(always)]
    pub(crate) unsafe fn sifted<P: Payload>(
        &self,
        range: Range<usize>,
        reference: W,
        moved: &BucketSet,
        found: &mut Counters,
        counters: &mut Counters,
        mut put: impl FnMut(&[W], &[u16]),
    ) -> W
    where
        S: Source<W, P>,
    {
        let sift =
            |strip: Range<usize>, n: usize, codes: &mut [W; STRIP], buckets: &mut [u16; STRIP]| {
                self.count(strip, &buckets[..n], counters);
                let sift = Sift {
                    moved,
                    codes,
                    buckets,
                    n,
                };
                // SAFETY: the caller's promise.
                let left = unsafe { sift.sift(self.instructions) };
                put(&codes[..left], &buckets[..left]);
            };
        // SAFETY: the caller's promise.
        unsafe { self.each_strip(range, reference, Some(found), sift) }
    }

    /// Calls `work` with a strip of records after the other: their numbers; of how many there are
    /// codes and buckets, which is all but those of common values; and these.
    ///
    /// # Safety
    /// As [`strips`](Self::strips).
    #[inline(always)]
    unsafe fn each_strip<P: Payload>(
        &self,
        range: Range<usize>,
        reference: W,
        mut found: Option<&mut Counters>,
        mut work: impl FnMut(Range<usize>, usize, &mut [W; STRIP], &mut [u16; STRIP]),
    ) -> W
    where
        S: Source<W, P>,
    {
        let mut varying = W::ZERO;
        let (mut codes, mut buckets) = ([W::ZERO; STRIP], [0u16; STRIP]);
        for start in range.clone().step_by(STRIP) {
            let strip = start..range.end.min(start + STRIP);
            let classify = Strip {
                source: self.source,
                range: strip.clone(),
                mask: self.mask,
                classifier: self.classifier,
                reference,
                found: found.as_deref_mut(),
                codes: &mut codes,
                buckets: &mut buckets,
                payload: PhantomData,
            };
            // SAFETY: the caller's promise.
            let (vary, left) = unsafe { classify.classify(self.instructions) };
            varying = varying | vary;
            work(strip, left, &mut codes, &mut buckets);
        }
        varying
    }
}

/// A strip of records, to be classified.
struct Strip<'a, W, P, S> {
    source: S,
    /// Which records; [`STRIP`] of them, or fewer.
    range: Range<usize>,
    /// The bits of the codes that count.
    mask: W,
    classifier: &'a Classifier<W>,
    /// Any code.
    reference: W,
    /// For how many codes are of common values; these are left out then.
    found: Option<&'a mut Counters>,
    /// Room for the codes.
    codes: &'a mut [W; STRIP],
    buckets: &'a mut [u16; STRIP],
    payload: PhantomData<P>,
}

impl<W: Word, P: Payload, S: Source<W, P>> Strip<'_, W, P, S> {
    /// Finds the records' buckets, and the bits in which some code differs from the reference. Also tells
    /// how many codes and buckets there are.
    ///
    /// # Safety
    /// The source has the records, and nobody writes them now. The machine has the instructions.
    unsafe fn classify(self, instructions: Instructions) -> (W, usize) {
        let by_scalars = |mut strip: Self| {
            // SAFETY: the caller's promise.
            let varying = unsafe { strip.read() };
            let codes = &strip.codes[..strip.range.len()];
            strip
                .classifier
                .by_scalars(codes, strip.mask, strip.buckets);
            (varying, strip.range.len())
        };
        match const { S::CODES } {
            // SAFETY: the caller's promise.
            true => unsafe { by_vectors::<W, _>(instructions, self) }.unwrap_or_else(by_scalars),
            false => by_scalars(self),
        }
    }

    /// Reads the codes, and finds the bits in which some differ from the reference.
    #[inline(always)]
    unsafe fn read(&mut self) -> W {
        let mut varying = W::ZERO;
        for (code, i) in self.codes.iter_mut().zip(self.range.clone()) {
            // SAFETY: the caller's promise.
            *code = unsafe { self.source.code(i) };
            varying = varying | (*code ^ self.reference);
        }
        varying & self.mask
    }
}

impl<W: Word, P: Payload, S: Source<W, P>> Vectored for Strip<'_, W, P, S> {
    type Output = (W, usize);

    /// # Safety
    /// As [`Strip::classify`].
    #[inline(always)]
    unsafe fn run<L: Lanes>(mut self) -> (W, usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let varying = self.read();
            let mut left = self.range.len();
            if const { P::NONE }
                && let (Some(common), Some(found)) = (self.classifier.common(), self.found)
            {
                left = common.take::<L, STRIP>(self.codes.as_mut_ptr().cast(), left, found);
                self.classifier
                    .by_lanes::<L>(self.codes, left, self.mask, self.buckets);
            } else {
                self.classifier
                    .by_lanes::<L>(self.codes, STRIP, self.mask, self.buckets);
            }
            (varying, left)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::*;

    /// By any machine, codes beyond the range go to the buckets at its ends, the others where they belong.
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
                        let mut buckets = [0; STRIP];
                        classifier.by_scalars(codes, W::MAX, &mut buckets);
                        for (&code, bucket) in codes.iter().zip(buckets) {
                            let expected = placing.of(code.max(least).min(greatest));
                            let what = format!("{code:?} in {least:?}..={greatest:?}, {bits} bits");
                            assert_eq!(usize::from(bucket), expected, "{what}");
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

    /// The limits of a bucket hold all codes that go there, and no others; where more codes go
    /// there than that, there are none.
    #[test]
    fn limits_hold_what_goes_to_a_bucket() {
        fn width<W: Word>() {
            let (one, eighth) = (W::truncate(1), W::MAX >> 3);
            let ranges = [
                [W::ZERO, W::MAX],
                [W::ZERO, one],
                [eighth, W::MAX >> 1],
                [eighth, eighth.wrapping_add(W::truncate(40))],
                [one, W::MAX.wrapping_sub(W::truncate(77))],
                [W::TOP.wrapping_sub(W::truncate(100_000)), W::TOP],
            ];
            for [least, greatest] in ranges {
                for bits in [1, 5, 8] {
                    let classifier = Classifier::even([least, greatest], bits);
                    let Classifier::Even { placing, .. } = &classifier else {
                        unreachable!("made to be even")
                    };
                    let last = placing.of(greatest);
                    for bucket in 0..1 << bits {
                        let what = format!("{bucket} of {bits} bits in {least:?}..={greatest:?}");
                        let limits = classifier.limits(bucket, W::MAX);
                        let inner = bucket > 0 && bucket < last;
                        assert_eq!(limits.is_some(), inner, "{what}");
                        // Of a bucket without codes the first is greater.
                        if let Some([from, to]) = limits
                            && from <= to
                        {
                            let beside = [from.wrapping_sub(one), from, to, to.wrapping_add(one)];
                            let found = beside.map(|code| placing.of(code).cmp(&bucket));
                            assert_eq!(found, [Less, Equal, Equal, Greater], "{what}");
                        }
                    }
                }
            }
        }
        width::<u32>();
        width::<u64>();
        width::<u128>();
        // Bits below those that tell a bucket may be any; those above must be none.
        let classifier = Classifier::even([0u32, 0xffff_fff0], 4);
        let low = |bits: &Range<u32>| classifier.limits(3, u32::mask(bits)).map(|[_, last]| last);
        assert_eq!(low(&(4..32)), low(&(0..32)).map(|last| last | 0xf));
        assert_eq!(low(&(4..31)), None);
        assert_eq!(Classifier::even([0u16, 255], 4).limits(3, u16::MAX), None);
    }
}
