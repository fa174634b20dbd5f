//! The exclusive scan of a partition: from counts to places.

use std::ops::Range;

use sweepsort_core::Word;

use crate::histogram::{BUCKETS, Chunk};

/// Turns the chunks' counts into the numbers of places: records go bucket by bucket, and within a bucket
/// chunk by chunk, which keeps the partition stable. Returns the numbers of each bucket's places.
pub(crate) fn places<W: Word>(chunks: &mut [Chunk<W>]) -> Vec<Range<usize>> {
    let mut next = 0;
    (0..BUCKETS)
        .map(|bucket| {
            let first = next;
            for chunk in chunks.iter_mut() {
                let count = std::mem::replace(&mut chunk.counts[bucket], next);
                next += count;
            }
            first..next
        })
        .collect()
}

/// Turns counts into an exclusive scan of them, in place.
#[inline(always)]
pub(crate) fn exclusive(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += std::mem::replace(count, sum);
    }
}
