//! The scatter of a counted partition: each key to the next free place of its bucket.
//!
//! A sequential worker has no ranks to compute: the place that the scan gave its chunk, and a step
//! further for each key, is base and rank in one. Where a bucket goes need not be one stretch: a step
//! from the end of a piece leads to the start of the next.

use std::ops::Range;

use sweepsort_core::{Digit, Word};

use crate::columns::{Columns, Payload};
use crate::histogram::Counts;
use crate::source::Source;
use crate::tuning::PARTITION_BITS;

/// Free places, piece by piece, numbered from 0.
pub(crate) struct Places {
    pieces: Vec<Range<usize>>,
    /// The number of each piece's first place.
    firsts: Vec<usize>,
}

impl Places {
    pub(crate) fn new(pieces: Vec<Range<usize>>) -> Self {
        let mut next = 0;
        let firsts = pieces
            .iter()
            .map(|piece| {
                next += piece.len();
                next - piece.len()
            })
            .collect();
        Places { pieces, firsts }
    }

    /// The piece that has a place, if any has.
    fn piece_of(&self, number: usize) -> usize {
        self.firsts.partition_point(|&first| first <= number) - 1
    }

    /// The places of a range of numbers, which is not empty.
    pub(crate) fn slice(&self, numbers: Range<usize>) -> Vec<Range<usize>> {
        let (first, last) = (self.piece_of(numbers.start), self.piece_of(numbers.end - 1));
        let mut pieces = self.pieces[first..=last].to_vec();
        let end = self.pieces[last].start + (numbers.end - self.firsts[last]);
        pieces[last - first].end = end;
        pieces[0].start += numbers.start - self.firsts[first];
        pieces
    }
}

/// Moves the records of some pieces, those of a digit to the places from the number `firsts[digit]` on.
///
/// # Safety
/// `from` has the pieces' records. `to` has the places, as many for each digit as it has records, and
/// nobody else uses those or writes the pieces.
pub(crate) unsafe fn scatter<W: Word, P: Payload, S: Source<W, P>>(
    from: S,
    to: Columns<W, P>,
    places: &Places,
    pieces: &[Range<usize>],
    firsts: &Counts,
    digit: Digit,
) {
    let mut at = [0; 1 << PARTITION_BITS];
    let mut next = [0; 1 << PARTITION_BITS];
    let mut end = [0; 1 << PARTITION_BITS];
    for (digit, &number) in firsts.iter().enumerate() {
        let piece = places.piece_of(number);
        at[digit] = places.pieces[piece].start + (number - places.firsts[piece]);
        end[digit] = places.pieces[piece].end;
        next[digit] = piece + 1;
    }
    for piece in pieces {
        for i in piece.clone() {
            // SAFETY: the caller's promise.
            unsafe {
                let (code, record) = from.load(i);
                let digit = digit.of(code) % (1 << PARTITION_BITS);
                let place = &mut at[digit];
                to.store(*place, record);
                to.prefetch(*place);
                *place += 1;
                if *place == end[digit]
                    && let Some(piece) = places.pieces.get(next[digit])
                {
                    *place = piece.start;
                    end[digit] = piece.end;
                    next[digit] += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any range of numbers is the places that it would be if all were written out.
    #[test]
    fn slices_of_places() {
        let pieces = vec![10..13, 40..41, 20..25];
        let all: Vec<usize> = pieces.iter().cloned().flatten().collect();
        let places = Places::new(pieces);
        for start in 0..all.len() {
            for end in start + 1..=all.len() {
                let slice: Vec<usize> = places.slice(start..end).into_iter().flatten().collect();
                assert_eq!(slice, all[start..end], "{start}..{end}");
            }
        }
    }
}
