//! The first reads of a further partition: between which codes all lie, and how many records each bucket
//! gets.

use std::marker::PhantomData;
use std::ops::Range;

use sweepsort_core::Word;

use crate::classify::Classify;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::payload::Payload;
use crate::source::Source;
use crate::tuning::PARTITION_BITS;

/// The most buckets of a further partition.
pub(crate) const BUCKETS: usize = 1 << PARTITION_BITS;

/// Counters of a partition's buckets.
pub(crate) type Counts = [usize; BUCKETS];

/// Records that one worker reads, and what it saw.
pub(crate) struct Chunk<W> {
    /// Which records, piece by piece.
    pub(crate) pieces: Vec<Range<usize>>,
    /// The least and the greatest code.
    pub(crate) range: [W; 2],
    /// Number of records by bucket; after the scan, the numbers of the places where the chunk's
    /// records of each bucket go.
    pub(crate) counts: Counts,
}

impl<W: Word> Chunk<W> {
    /// A chunk not read yet.
    pub(crate) fn new(pieces: Vec<Range<usize>>) -> Self {
        Chunk {
            pieces,
            range: [W::MAX, W::ZERO],
            counts: [0; _],
        }
    }

    /// Finds the least and the greatest of the masked codes.
    ///
    /// # Safety
    /// The source has the records, and nobody writes them now. The machine has the instructions.
    pub(crate) unsafe fn look<P: Payload, S: Source<W, P>>(
        &mut self,
        source: S,
        mask: W,
        instructions: Instructions,
    ) {
        let extremes = Extremes {
            source,
            pieces: &self.pieces,
            mask,
            payload: PhantomData,
        };
        // SAFETY: the caller's promise.
        self.range = unsafe {
            match const { S::CODES } {
                true => by_vectors::<W, _>(instructions, extremes).unwrap_or_else(|it| it.find()),
                false => extremes.find(),
            }
        };
    }

    /// Counts the records of each bucket.
    ///
    /// # Safety
    /// As [`look`](Self::look).
    pub(crate) unsafe fn count<P: Payload, S: Source<W, P>>(
        &mut self,
        classify: Classify<'_, W, S>,
    ) {
        let mut counters = Counters::new();
        for piece in &self.pieces {
            let count = |first: usize, _: &[W], buckets: &[u16]| {
                classify.count(first..first + buckets.len(), buckets, &mut counters);
            };
            // SAFETY: the caller's promise.
            unsafe { classify.strips(piece.clone(), W::ZERO, count) };
        }
        self.counts = counters.sums();
    }
}

/// How often each bucket came. Neighbours often have the same one; four tables keep them from waiting for
/// each other.
pub(crate) struct Counters([Counts; 4]);

impl Counters {
    pub(crate) fn new() -> Self {
        Counters([[0; _]; _])
    }

    /// Counts some buckets.
    #[inline(always)]
    pub(crate) fn count(&mut self, buckets: &[u16]) {
        let (fours, rest) = buckets.as_chunks::<4>();
        for four in fours {
            for (table, &bucket) in self.0.iter_mut().zip(four) {
                table[usize::from(bucket) & (BUCKETS - 1)] += 1;
            }
        }
        for &bucket in rest {
            self.0[0][usize::from(bucket) & (BUCKETS - 1)] += 1;
        }
    }

    /// All that were counted.
    pub(crate) fn sums(&self) -> Counts {
        std::array::from_fn(|bucket| self.0.iter().map(|table| table[bucket]).sum())
    }
}

/// The search for the least and the greatest of some codes.
struct Extremes<'a, W, P, S> {
    source: S,
    pieces: &'a [Range<usize>],
    mask: W,
    payload: PhantomData<P>,
}

impl<W: Word, P: Payload, S: Source<W, P>> Extremes<'_, W, P, S> {
    /// # Safety
    /// The source has the records, and nobody writes them now.
    #[inline(always)]
    unsafe fn find(self) -> [W; 2] {
        let mut range = [W::MAX, W::ZERO];
        for piece in self.pieces {
            for i in piece.clone() {
                // SAFETY: the caller's promise.
                let code = unsafe { self.source.code(i) } & self.mask;
                range = [range[0].min(code), range[1].max(code)];
            }
        }
        range
    }
}

impl<W: Word, P: Payload, S: Source<W, P>> Vectored for Extremes<'_, W, P, S> {
    type Output = [W; 2];

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> [W; 2] {
        // SAFETY: the caller's promise.
        unsafe { self.find() }
    }
}
