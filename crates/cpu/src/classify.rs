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

use crate::columns::Payload;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::placing::Placing;
use crate::sample::is_even;
use crate::source::Source;
use crate::splitters::Splitters;

/// Records whose buckets are found together.
const STRIP: usize = 256;

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
    /// Up to `1 << bits` buckets for codes such as those of a sample, which is in order.
    pub(crate) fn new(sample: &[W], bits: u32) -> Self {
        let (first, last) = (sample[0], sample[sample.len() - 1]);
        // What lies beyond the sample is likely no further away than a few of its steps.
        let bits_of_steps = sample.len().ilog2().min(W::BITS - 1);
        let beyond = last.wrapping_sub(first) >> bits_of_steps << 1;
        let least = first.wrapping_sub(beyond.min(first));
        let greatest = last.wrapping_add(beyond.min(W::MAX.wrapping_sub(last)));
        Self::within([least, greatest], sample, bits)
    }

    /// The same, for codes in a range.
    pub(crate) fn within(range: [W; 2], sample: &[W], bits: u32) -> Self {
        match Self::even(range, bits) {
            Classifier::Even {
                placing, buckets, ..
            } if !is_even(sample, &placing, buckets) => {
                Classifier::Sampled(Box::new(Splitters::new(sample, bits)))
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

    /// How many buckets there are.
    pub(crate) fn buckets(&self) -> usize {
        match self {
            Classifier::Even { buckets, .. } => *buckets,
            Classifier::Sampled(splitters) => splitters.buckets(),
        }
    }

    /// Whether all codes of a bucket are the same.
    pub(crate) fn is_one_value(&self, bucket: usize) -> bool {
        match self {
            Classifier::Even { .. } => false,
            Classifier::Sampled(splitters) => splitters.is_one_value(bucket),
        }
    }

    /// The buckets of some codes, by vectors for words as wide.
    ///
    /// # Safety
    /// The machine has the lanes' instructions.
    #[inline(always)]
    unsafe fn by_lanes<L: Lanes>(&self, codes: &mut [W; STRIP], buckets: &mut [u8; STRIP]) {
        match self {
            Classifier::Even { range, placing, .. } => {
                for code in codes.iter_mut() {
                    *code = (*code).max(range[0]).min(range[1]);
                }
                let placing = placing.cast::<L::Word>();
                let mut places = [0u32; STRIP];
                for at in (0..STRIP).step_by(L::LANES) {
                    // SAFETY: there are as many codes and places.
                    unsafe {
                        let codes = codes.as_ptr().add(at).cast();
                        L::places(codes, &placing, places.as_mut_ptr().add(at));
                    }
                }
                for (bucket, place) in buckets.iter_mut().zip(places) {
                    *bucket = place as u8;
                }
            }
            Classifier::Sampled(splitters) => {
                let splitters = splitters.cast::<L::Word>();
                let codes = codes.as_ptr().cast();
                // SAFETY: there are as many codes and buckets.
                unsafe { splitters.strip::<L>(codes, STRIP, buckets.as_mut_ptr()) }
            }
        }
    }

    /// The buckets of some codes, by any machine.
    fn by_scalars(&self, codes: &[W], buckets: &mut [u8; STRIP]) {
        match self {
            Classifier::Even { range, placing, .. } => {
                for (bucket, code) in buckets.iter_mut().zip(codes) {
                    *bucket = placing.of((*code).max(range[0]).min(range[1])) as u8;
                }
            }
            Classifier::Sampled(splitters) => {
                splitters.strip_portable(codes, &mut buckets[..codes.len()]);
            }
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
    /// Calls `put` with each strip of a range of records, and their buckets. Returns the bits in which some
    /// code differs from `reference`.
    ///
    /// # Safety
    /// The source has the records, and nobody writes them now. The machine has the instructions.
    #[inline(always)]
    pub(crate) unsafe fn strips<P: Payload>(
        &self,
        range: Range<usize>,
        reference: W,
        mut put: impl FnMut(Range<usize>, &[u8]),
    ) -> W
    where
        S: Source<W, P>,
    {
        let mut varying = W::ZERO;
        let mut buckets = [0u8; STRIP];
        for start in range.clone().step_by(STRIP) {
            let strip = start..range.end.min(start + STRIP);
            let work = Strip {
                source: self.source,
                range: strip.clone(),
                mask: self.mask,
                classifier: self.classifier,
                reference,
                buckets: &mut buckets,
                payload: PhantomData,
            };
            // SAFETY: the caller's promise.
            varying = varying | unsafe { work.classify(self.instructions) };
            let n = strip.len();
            put(strip, &buckets[..n]);
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
    buckets: &'a mut [u8; STRIP],
    payload: PhantomData<P>,
}

impl<W: Word, P: Payload, S: Source<W, P>> Strip<'_, W, P, S> {
    /// Finds the records' buckets, and the bits in which some code differs from the reference.
    ///
    /// # Safety
    /// The source has the records, and nobody writes them now. The machine has the instructions.
    unsafe fn classify(self, instructions: Instructions) -> W {
        // SAFETY: the caller's promise.
        unsafe {
            by_vectors::<W, _>(instructions, self).unwrap_or_else(|strip| {
                let (codes, varying) = strip.codes();
                let codes = &codes[..strip.range.len()];
                strip.classifier.by_scalars(codes, strip.buckets);
                varying
            })
        }
    }

    /// The codes, zeros behind them, and the bits in which some differ from the reference.
    #[inline(always)]
    unsafe fn codes(&self) -> ([W; STRIP], W) {
        let mut codes = [W::ZERO; STRIP];
        let mut varying = W::ZERO;
        for (code, i) in codes.iter_mut().zip(self.range.clone()) {
            // SAFETY: the caller's promise.
            *code = unsafe { self.source.code(i) } & self.mask;
            varying = varying | (*code ^ self.reference);
        }
        (codes, varying)
    }
}

impl<W: Word, P: Payload, S: Source<W, P>> Vectored for Strip<'_, W, P, S> {
    type Output = W;

    /// # Safety
    /// As [`Strip::classify`].
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> W {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut codes, varying) = self.codes();
            self.classifier.by_lanes::<L>(&mut codes, self.buckets);
            varying
        }
    }
}
