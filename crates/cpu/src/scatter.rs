//! The scatter: each record to the next free place of its bucket. [`put_all`](Room::put_all) is
//! that of any partition; below it, that of a counted one ([`blocks`](crate::blocks) has the first
//! one's).
//!
//! A sequential worker has no ranks to compute: the place that the scan gave its chunk, and a step
//! further for each key, is base and rank in one. Where a bucket goes need not be one stretch: a step
//! from the end of a piece leads to the start of the next.

use std::array;
use std::ops::Range;

use sweepsort_core::Word;

use crate::classify::Classify;
use crate::fetch::{LINE, prefetch, prefetch_second, prefetch_to_write};
use crate::histogram::{BUCKETS, Chunk};
use crate::instructions::stores_wait;
use crate::payload::Payload;
use crate::room::Room;
use crate::source::Source;
use crate::tuning::TOGETHER;

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

/// How a bucket's next line is fetched when a record is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NextLine {
    /// See [`fetch_near`].
    Near,
    /// See [`fetch_far`]; for some records.
    Far,
    /// The same for all records; and a record's own line to the first level cache, some records before it is written.
    FarThenNear,
    /// See [`fetch_to_write`].
    ToWrite,
}

/// To the first level cache, since stores that miss it wait, when half of a line is written: if it
/// were a whole one, half of all lines that are held would wait, and fill that cache.
#[inline(always)]
pub(crate) fn fetch_near(_: usize, record: *const u8) {
    prefetch(record.wrapping_add(LINE / 2));
}

/// To the second level cache, a line ahead. The first one keeps what is written now.
#[inline(always)]
pub(crate) fn fetch_far(_: usize, record: *const u8) {
    prefetch_second(record.wrapping_add(LINE));
}

/// As near, from other cores' caches.
#[inline(always)]
pub(crate) fn fetch_to_write(_: usize, record: *const u8) {
    prefetch_to_write(record.wrapping_add(LINE / 2));
}

impl<W: Word, P: Payload> Room<W, P> {
    /// One record in so many fetches its bucket's next line. A line has four times as many, or more,
    /// unless all do: one line of a hundred is not fetched, and is waited for.
    const FETCHES_ONE_IN: usize = match Self::BYTES {
        ..=4 if P::NONE => 4,
        ..=8 if P::NONE || Self::BESIDE => 2,
        _ => 1,
    };

    /// As [`fetch_far`], for one record in [some](Self::FETCHES_ONE_IN).
    #[inline(always)]
    pub(crate) fn fetch_some_far(at: usize, record: *const u8) {
        if at.is_multiple_of(Self::FETCHES_ONE_IN) {
            fetch_far(at, record);
        }
    }

    /// Puts records, of which there are buckets and codes, to the next places of their buckets:
    /// `take(bucket)` gives that place, `store(i, code, place)` puts the `i`-th record there.
    /// Before each [`TOGETHER`] from `i` on, `before(i)`; and after each of these, `fetch_next` with
    /// its number among them and where it lies.
    #[inline(always)]
    pub(crate) fn put_all(
        self,
        buckets: &[u16],
        codes: &[W],
        mut take: impl FnMut(u16) -> usize,
        store: impl Fn(usize, W, usize),
        before: impl Fn(usize),
        fetch_next: impl Fn(usize, *const u8),
    ) {
        let (groups, rest) = buckets.as_chunks::<TOGETHER>();
        let (codes, codes_rest) = codes.as_chunks::<TOGETHER>();
        let mut i = 0;
        for (buckets, codes) in groups.iter().zip(codes) {
            before(i);
            // One by one: out of an array as one word, each would be shifted.
            let places: [usize; TOGETHER] = array::from_fn(|i| take(buckets[i]));
            for (at, (place, &code)) in places.into_iter().zip(codes).enumerate() {
                store(i, code, place);
                self.prefetch_bytes(place, 0, |record| fetch_next(at, record));
                i += 1;
            }
        }
        for (&bucket, &code) in rest.iter().zip(codes_rest) {
            store(i, code, take(bucket));
            i += 1;
        }
    }
}

/// Moves the records of a chunk to a room, those of a bucket to the places from the number
/// `counts[bucket]` on.
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
            false => scatter_by(classify, chunk, to, places, Room::<W, P>::fetch_some_far),
        }
    }
}

/// The same; `fetch_next` as [`put_all`](Room::put_all) has it.
unsafe fn scatter_by<W: Word, P: Payload, S: Source<W, P>>(
    classify: Classify<'_, W, S>,
    chunk: &Chunk<W>,
    to: Room<W, P>,
    places: &Places,
    fetch_next: impl Fn(usize, *const u8),
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
            let before = |i| classify.fetch(first, i);
            to.put_all(buckets, codes, &mut take, store, before, &fetch_next);
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
