//! The first partition's question: which bucket does a code go to?
//!
//! | classifier | buckets | for codes that are |
//! |---|---|---|
//! | [`Even`](Classifier::Even) | equal stretches between two codes | evenly spread |
//! | [`Sampled`](Classifier::Sampled) | as a sample tells, or of one value | skewed |
//!
//! What the classifier knows is a sample. It is right for all codes, and its buckets are alike in size
//! for those that are like the sample.

mod strip;

use std::marker::PhantomData;
use std::ops::Range;

use sweepsort_core::Word;

use crate::histogram::Counters;
use crate::instructions::Instructions;
use crate::lanes::{VectoredOrNot, by_vectors, by_vectors_or_not};
use crate::payload::Payload;
use crate::pieces::Limits;
use crate::placing::Placing;
use crate::sample::{is_even, range};
use crate::sift::{BucketSet, Common, Sift};
use crate::source::Source;
use crate::splitters::Splitters;
use crate::tuning::SAMPLE_PER_BUCKET;
use strip::{Question, Read, STRIP, Strip, Take, each_strip};

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

impl BucketBits {
    /// How many codes a sample has, which tells which way they are parted, and where.
    pub(crate) fn sample(self) -> usize {
        SAMPLE_PER_BUCKET << self.even.max(self.sampled)
    }
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
    /// Buckets for codes such as those of a sample, which has some, and is put in order if they are
    /// not spread evenly.
    pub(crate) fn new(sample: &mut [W], bits: BucketBits) -> Self {
        let [first, last] = range(sample).expect("a sort has records");
        // What lies beyond the sample is likely no further away than a few of its steps.
        let bits_of_steps = sample.len().ilog2().min(W::BITS - 1);
        let beyond = last.wrapping_sub(first) >> bits_of_steps << 1;
        let least = first.wrapping_sub(beyond.min(first));
        let greatest = last.wrapping_add(beyond.min(W::MAX.wrapping_sub(last)));
        Self::within([least, greatest], sample, bits)
    }

    /// The same, for codes in a range.
    pub(crate) fn within(range: [W; 2], sample: &mut [W], bits: BucketBits) -> Self {
        match Self::even(range, bits.even) {
            Classifier::Even {
                placing, buckets, ..
            } if !is_even(sample, &placing, buckets) => {
                sample.sort_unstable();
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
        let mut varying = W::ZERO;
        let (mut room, mut buckets) = ([W::ZERO; STRIP], [0; STRIP]);
        let question = self.question(reference);
        for strip in each_strip(range) {
            // SAFETY: the caller's promise.
            unsafe {
                let codes = match self.source.codes(strip.clone()) {
                    Some(codes) => codes,
                    None => self.read(strip.clone(), &mut room),
                };
                varying = varying | self.classify(codes, &question, &mut buckets);
                put(strip.start, codes, &buckets[..codes.len()]);
            }
        }
        varying
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
        let mut varying = W::ZERO;
        let (mut codes, mut buckets) = ([W::ZERO; STRIP], [0; STRIP]);
        let question = self.question(reference);
        for strip in each_strip(range) {
            // SAFETY: the caller's promise.
            unsafe {
                let mut n = self.read(strip.clone(), &mut codes).len();
                if let Some(common) = self.classifier.common() {
                    let take = Take {
                        common,
                        codes: &mut codes,
                        n,
                        reference,
                        found,
                    };
                    if let Ok((vary, left)) = by_vectors::<W, _>(self.instructions, take) {
                        varying = varying | vary;
                        n = left;
                    }
                }
                varying = varying | self.classify(&codes[..n], &question, &mut buckets);
                self.count(strip, &buckets[..n], counters);
                let sift = Sift {
                    moved,
                    codes: &mut codes,
                    buckets: &mut buckets,
                    n,
                };
                let left = sift.sift(self.instructions);
                put(&codes[..left], &buckets[..left]);
            }
        }
        varying
    }

    fn question(&self, reference: W) -> Question<'_, W> {
        Question {
            classifier: self.classifier,
            mask: self.mask,
            reference,
        }
    }

    /// Reads the codes of some records.
    ///
    /// # Safety
    /// As [`strips`](Self::strips).
    #[inline(always)]
    unsafe fn read<'r, P: Payload>(&self, strip: Range<usize>, room: &'r mut [W; STRIP]) -> &'r [W]
    where
        S: Source<W, P>,
    {
        let codes = &mut room[..strip.len()];
        let read = Read {
            source: self.source,
            first: strip.start,
            codes,
            payload: PhantomData,
        };
        // SAFETY: the caller's promise.
        unsafe {
            match const { S::CODES } {
                true => by_vectors_or_not::<W, _>(self.instructions, read),
                false => read.without(),
            }
        }
        codes
    }

    /// Finds the buckets of codes, and the bits in which some differ from the reference.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn classify(
        &self,
        codes: &[W],
        question: &Question<'_, W>,
        buckets: &mut [u16; STRIP],
    ) -> W {
        let strip = Strip {
            codes,
            question,
            buckets,
        };
        // SAFETY: the caller's promise.
        unsafe { by_vectors_or_not::<W, _>(self.instructions, strip) }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::*;

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
