//! The first reads of a further partition: between which codes all lie, and how many records each bucket
//! gets.

use std::marker::PhantomData;
use std::ops::Range;

use sweepsort_core::{Presorted, Word};

use crate::classify::{Classifier, STRIP, Strip};
use crate::columns::Payload;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::source::Source;
use crate::tuning::PARTITION_BITS;

/// Counters of a partition's buckets.
pub(crate) type Counts = [usize; 1 << PARTITION_BITS];

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
            by_vectors::<W, _>(instructions, extremes).unwrap_or_else(|work| work.find())
        };
    }

    /// Counts the records of each bucket.
    ///
    /// # Safety
    /// As [`look`](Self::look).
    pub(crate) unsafe fn count<P: Payload, S: Source<W, P>>(
        &mut self,
        source: S,
        mask: W,
        classifier: &Classifier<W>,
        instructions: Instructions,
    ) {
        // Neighbours often have the same bucket; four tables keep them from waiting for each other.
        let mut tables = [[0usize; 1 << PARTITION_BITS]; 4];
        let mut buckets = [0u8; STRIP];
        for piece in &self.pieces {
            for start in piece.clone().step_by(STRIP) {
                let range = start..piece.end.min(start + STRIP);
                let strip = Strip {
                    source,
                    range: range.clone(),
                    mask,
                    classifier,
                    reference: W::ZERO,
                    buckets: &mut buckets,
                    payload: PhantomData,
                };
                // SAFETY: the caller's promise.
                unsafe { strip.classify(instructions) };
                let (fours, rest) = buckets[..range.len()].as_chunks::<4>();
                for four in fours {
                    for (table, &bucket) in tables.iter_mut().zip(four) {
                        table[usize::from(bucket)] += 1;
                    }
                }
                for &bucket in rest {
                    tables[0][usize::from(bucket)] += 1;
                }
            }
        }
        self.counts = std::array::from_fn(|bucket| tables.iter().map(|table| table[bucket]).sum());
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

/// The order of a range of records, if they have one.
pub(crate) struct Look {
    pub(crate) range: Range<usize>,
    pub(crate) run: Option<Presorted>,
}

/// The order of the records of a range, if they have one, looking at no more of them than it takes
/// to tell. `code` gives what counts.
///
/// `strict`: whether equal keys forbid turning the input round, because something tells them apart.
pub(crate) fn run_of<C: Copy + Ord>(
    range: Range<usize>,
    code: impl Fn(usize) -> C,
    strict: bool,
) -> Option<Presorted> {
    if range.is_empty() {
        return Some(Presorted::Equal);
    }
    let (first, last) = (code(range.start), code(range.end - 1));
    let neighbours = range.start..range.end - 1;
    if first <= last {
        let sorted = all_in(neighbours, |i| code(i) <= code(i + 1));
        return sorted.then_some(if first == last {
            Presorted::Equal
        } else {
            Presorted::Sorted
        });
    }
    let reversed = if strict {
        all_in(neighbours, |i| code(i) > code(i + 1))
    } else {
        all_in(neighbours, |i| code(i) >= code(i + 1))
    };
    reversed.then_some(Presorted::Reversed)
}

/// Whether all of a range pass a test; tested in blocks, without a branch for each.
#[inline(always)]
fn all_in(range: Range<usize>, test: impl Fn(usize) -> bool) -> bool {
    const BLOCK: usize = 128;
    let passes = |range: Range<usize>| range.fold(true, |all, i| all & test(i));
    // Most input shows within a few keys that it has no order.
    let head = range.end.min(range.start + 4);
    passes(range.start..head)
        && (head..range.end)
            .step_by(BLOCK)
            .all(|from| passes(from..(from + BLOCK).min(range.end)))
}

/// The order of the whole input from the order of its chunks, all of which have one.
pub(crate) fn join_runs<C: Copy + Ord>(
    chunks: &[Look],
    code: impl Fn(usize) -> C,
    strict: bool,
) -> Option<Presorted> {
    let seams = || {
        chunks
            .iter()
            .skip(1)
            .map(|chunk| (code(chunk.range.start - 1), code(chunk.range.start)))
    };
    let all = |wanted: Presorted| {
        chunks
            .iter()
            .all(|chunk| chunk.run == Some(wanted) || chunk.run == Some(Presorted::Equal))
    };
    if all(Presorted::Sorted) && seams().all(|(a, b)| a <= b) {
        let last = chunks.last().map_or(0, |chunk| chunk.range.end - 1);
        let equal = code(0) == code(last);
        Some(if equal {
            Presorted::Equal
        } else {
            Presorted::Sorted
        })
    } else if all(Presorted::Reversed)
        && seams().all(|(a, b)| if strict { a > b } else { a >= b })
        // An equal chunk of more than one key is no strict descent.
        && (!strict
            || chunks.iter().all(|c| c.run != Some(Presorted::Equal) || c.range.len() == 1))
    {
        Some(Presorted::Reversed)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs() {
        use Presorted::{Equal, Reversed, Sorted};
        for (keys, strict, run) in [
            (&[0u32; 0][..], true, Some(Equal)),
            (&[7], true, Some(Equal)),
            (&[7, 7, 7], true, Some(Equal)),
            (&[1, 2, 2, 9], true, Some(Sorted)),
            (&[9, 2, 1], true, Some(Reversed)),
            (&[9, 2, 2, 1], true, None),
            (&[9, 2, 2, 1], false, Some(Reversed)),
            (&[1, 5, 4], false, None),
            (&[3, 5, 3], false, None),
        ] {
            assert_eq!(
                run_of(0..keys.len(), |i| keys[i], strict),
                run,
                "{keys:?} {strict}"
            );
        }
    }

    /// Wherever the input is cut, the joined order is the order of the whole.
    #[test]
    fn joined_runs_are_the_whole_run() {
        let inputs: &[&[u32]] = &[
            &[1, 2, 3, 4, 5],
            &[5, 4, 3, 2, 1],
            &[5, 4, 4, 2, 1],
            &[3, 3, 3, 3, 3],
            &[3, 3, 3, 3, 4],
            &[4, 3, 3, 3, 3],
            &[1, 2, 9, 1, 2],
            &[1, 2, 3, 2, 1],
        ];
        for keys in inputs {
            for strict in [false, true] {
                for cuts in 0..1u32 << (keys.len() - 1) {
                    let mut chunks = Vec::new();
                    let mut start = 0;
                    for end in 1..=keys.len() {
                        if end == keys.len() || cuts >> (end - 1) & 1 == 1 {
                            let run = run_of(start..end, |i| keys[i], strict);
                            chunks.push(Look {
                                range: start..end,
                                run,
                            });
                            start = end;
                        }
                    }
                    assert_eq!(
                        join_runs(&chunks, |i| keys[i], strict),
                        run_of(0..keys.len(), |i| keys[i], strict),
                        "{keys:?} cut by {cuts:b}, strict: {strict}"
                    );
                }
            }
        }
    }
}
