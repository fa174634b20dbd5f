//! The first read of a partition: how many keys have each digit, which bits vary, and whether the
//! keys are in order already.

use std::ops::Range;

use sweepsort_core::{Digit, Presorted, Word};

use crate::reading::Reading;
use crate::tuning::PARTITION_BITS;

/// Counters of one partition digit.
pub(crate) type Counts = [usize; 1 << PARTITION_BITS];

/// A stretch of keys that one worker reads, and what it saw.
pub(crate) struct Chunk<W> {
    /// Which keys.
    pub(crate) range: Range<usize>,
    /// Their order, where they have one.
    pub(crate) run: Option<Presorted>,
    /// Whether the next two are known.
    pub(crate) counted: bool,
    /// Bits in which some key differs from the reference.
    pub(crate) varying: W,
    /// Number of keys by digit; after the scan, where the chunk's keys of each digit go.
    pub(crate) counts: Counts,
}

impl<W: Word> Chunk<W> {
    /// A chunk not read yet.
    pub(crate) fn new(range: Range<usize>) -> Self {
        Chunk {
            range,
            run: None,
            counted: false,
            varying: W::ZERO,
            counts: [0; _],
        }
    }

    /// Counts the keys' digits, and finds the bits in which they differ from `reference`.
    pub(crate) fn count<R: Reading<W>>(
        &mut self,
        keys: &[W],
        reading: R,
        digit: Digit,
        reference: W,
    ) {
        // Neighbours often have the same digit; four tables keep them from waiting for each other.
        let mut tables = [[0u32; 1 << PARTITION_BITS]; 4];
        let mut varying = W::ZERO;
        self.counts = [0; _];
        // A table's counter is 32 bits wide.
        for block in keys.chunks(1 << 30) {
            let mut quads = block.chunks_exact(4);
            for quad in &mut quads {
                for (table, &key) in tables.iter_mut().zip(quad) {
                    let code = reading.code(key);
                    varying = varying | (code ^ reference);
                    table[digit.of(code)] += 1;
                }
            }
            for &key in quads.remainder() {
                let code = reading.code(key);
                varying = varying | (code ^ reference);
                tables[0][digit.of(code)] += 1;
            }
            for table in &mut tables {
                for (count, part) in self.counts.iter_mut().zip(table) {
                    *count += *part as usize;
                    *part = 0;
                }
            }
        }
        self.varying = varying;
        self.counted = true;
    }
}

/// The order of keys, if they have one, looking at no more of them than it takes to tell.
///
/// `strict`: whether equal keys forbid turning the input round, because something tells them apart.
pub(crate) fn run_of<W: Word, R: Reading<W>>(
    keys: &[W],
    reading: R,
    mask: W,
    strict: bool,
) -> Option<Presorted> {
    let code = |key: W| reading.code(key) & mask;
    let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else {
        return Some(Presorted::Equal);
    };
    let (first, last) = (code(first), code(last));
    if first <= last {
        let sorted = every_neighbour(keys, |a, b| code(a) <= code(b));
        return sorted.then_some(if first == last {
            Presorted::Equal
        } else {
            Presorted::Sorted
        });
    }
    let reversed = if strict {
        every_neighbour(keys, |a, b| code(a) > code(b))
    } else {
        every_neighbour(keys, |a, b| code(a) >= code(b))
    };
    reversed.then_some(Presorted::Reversed)
}

/// Whether all neighbours pass a test; tested in blocks, without a branch for each.
#[inline(always)]
fn every_neighbour<W: Copy>(keys: &[W], test: impl Fn(W, W) -> bool) -> bool {
    const BLOCK: usize = 128;
    let passes = |from: usize, to: usize| {
        let (left, right) = (&keys[from..to], &keys[from + 1..=to]);
        left.iter()
            .zip(right)
            .fold(true, |all, (&a, &b)| all & test(a, b))
    };
    let pairs = keys.len() - 1;
    // Most input shows within a few keys that it has no order.
    let head = pairs.min(4);
    passes(0, head)
        && (head..pairs)
            .step_by(BLOCK)
            .all(|from| passes(from, (from + BLOCK).min(pairs)))
}

/// The order of the whole input from the order of its chunks, all of which have one.
pub(crate) fn join_runs<W: Word, R: Reading<W>>(
    chunks: &[Chunk<W>],
    keys: &[W],
    reading: R,
    mask: W,
    strict: bool,
) -> Option<Presorted> {
    let code = |i: usize| reading.code(keys[i]) & mask;
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
        let equal = code(0) == code(keys.len() - 1);
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
    use crate::reading::Plain;

    #[test]
    fn runs() {
        use Presorted::{Equal, Reversed, Sorted};
        for (keys, strict, run) in [
            (&[][..], true, Some(Equal)),
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
                run_of::<u32, _>(keys, Plain, u32::MAX, strict),
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
                            let mut chunk = Chunk::new(start..end);
                            chunk.run = run_of(&keys[start..end], Plain, u32::MAX, strict);
                            chunks.push(chunk);
                            start = end;
                        }
                    }
                    assert_eq!(
                        join_runs(&chunks, keys, Plain, u32::MAX, strict),
                        run_of(keys, Plain, u32::MAX, strict),
                        "{keys:?} cut by {cuts:b}, strict: {strict}"
                    );
                }
            }
        }
    }
}
