//! The scatter of a counted partition: each key to the next free place of its bucket.
//!
//! A sequential worker has no ranks to compute: the place that the scan gave its chunk, and a step
//! further for each key, is base and rank in one. Where a bucket goes need not be one stretch: a step
//! from the end of a piece leads to the start of the next.

use std::ops::Range;

use sweepsort_core::Word;

use crate::classify::Classify;
use crate::histogram::{BUCKETS, Chunk};
use crate::instructions::stores_wait;
use crate::payload::Payload;
use crate::room::{Room, fetch_far, fetch_near};
use crate::source::Source;

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

    /// The place with a number, which is in a piece.
    fn place(&self, piece: usize, number: usize) -> usize {
        self.pieces[piece].start + (number - self.firsts[piece])
    }

    /// The place with a number.
    pub(crate) fn at(&self, number: usize) -> usize {
        self.place(self.piece_of(number), number)
    }

    /// The places of a range of numbers, which is not empty.
    pub(crate) fn slice(&self, numbers: Range<usize>) -> Vec<Range<usize>> {
        let (first, last) = (self.piece_of(numbers.start), self.piece_of(numbers.end - 1));
        let mut pieces = self.pieces[first..=last].to_vec();
        pieces[last - first].end = self.place(last, numbers.end);
        pieces[0].start = self.place(first, numbers.start);
        pieces
    }
}

/// Moves the records of a chunk to a room, those of a bucket to the places from the number `counts[bucket]` on.
///
/// # Safety
/// The source has the records, and nobody writes them now; the machine has the instructions. `to` has
/// the places, as many from each number on as the bucket has records, and nobody else uses those.
pub(crate) unsafe fn scatter<W: Word, P: Payload, S: Source<W, P>>(
    classify: Classify<'_, W, S>,
    chunk: &Chunk<W>,
    to: Room<W, P>,
    places: &Places,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match stores_wait() {
            true => scatter_by(classify, chunk, to, places, fetch_near),
            false => scatter_by(classify, chunk, to, places, fetch_far),
        }
    }
}

/// The same; `fetch_next` as [`put_all`](Room::put_all) has it.
unsafe fn scatter_by<W: Word, P: Payload, S: Source<W, P>>(
    classify: Classify<'_, W, S>,
    chunk: &Chunk<W>,
    to: Room<W, P>,
    places: &Places,
    fetch_next: impl Fn(*const u8),
) {
    let mut at = [0; BUCKETS];
    let mut next = [0; BUCKETS];
    let mut end = [0; BUCKETS];
    for (bucket, &number) in chunk.counts.iter().enumerate() {
        let piece = places.piece_of(number);
        at[bucket] = places.place(piece, number);
        end[bucket] = places.pieces[piece].end;
        next[bucket] = piece + 1;
    }
    let source = classify.source;
    for piece in &chunk.pieces {
        let mut take = |bucket: u16| {
            let bucket = usize::from(bucket) & (BUCKETS - 1);
            let place = at[bucket];
            at[bucket] = place + 1;
            if place + 1 == end[bucket]
                && let Some(piece) = places.pieces.get(next[bucket])
            {
                at[bucket] = piece.start;
                end[bucket] = piece.end;
                next[bucket] += 1;
                to.prefetch_start(piece.start);
            }
            place
        };
        let put = |first: usize, codes: &[W], buckets: &[u16]| {
            let store = |i: usize, code: W, place: usize| {
                // SAFETY: the caller's promise.
                unsafe { to.store(place, source.record(first + i, code)) };
            };
            let fetch = |i| classify.fetch(first + i);
            to.put_all(buckets, codes, &mut take, store, fetch, &fetch_next);
        };
        // SAFETY: the caller's promise.
        unsafe { classify.strips(piece.clone(), W::ZERO, put) };
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
