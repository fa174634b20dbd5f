//! A bucket sorted in cache: by vectors where the machine has such as serve its records.
//!
//! | file | what it sorts, or has for those that do |
//! |---|---|
//! | `bins` | spread keys: each to its bin, bins as columns of a `network`, columns written in order |
//! | `slots` | the matrix that bins are filled into |
//! | `whole`, `halves` | its columns sorted and written: whole keys and what follows them; what tells a bin's keys apart |
//! | `bases` | where bins begin |
//! | `beside` | records of a key and a payload that lie side by side: |
//! | `joined` | of 32 bits each, as words of both |
//! | `pairs` | wider ones, as numbers that lead to them |
//! | `crowding` | whether the next bucket is worth a try in bins |
//! | `quick` | crowded keys: cut by compressed vectors, down to a `block` in registers |
//! | `several` | a few blocks, joined |
//! | `few` | few keys alone, before anything is set up; `coding` has their codes |
//! | `cut` | many keys alone, cut in parts where they lie |
//! | `tally` | keys alone of few values, counted |
//! | `passes` | anything else: counting passes |
//! | `ties` | words of an argsort that tie, by another window of their codes |

mod bases;
mod beside;
mod bins;
mod block;
mod coding;
mod crowding;
mod cut;
pub(crate) mod few;
mod halves;
mod joined;
mod network;
pub(crate) mod pairs;
pub(crate) mod passes;
mod quick;
mod several;
pub(crate) mod slots;
mod tally;
#[cfg(test)]
mod testing;
mod ties;
mod whole;

use std::ops::Range;
use std::slice;

use sweepsort_core::{Coder, Word};

use crate::classify::BucketBits;
use crate::columns::Columns;
use crate::instructions::{Instructions, stores_wait};
use crate::lanes::{by_any_vectors, by_vectors};
use crate::last_step::Follow;
use crate::payload::Payload;
use crate::pieces::{Limits, Pieces};
use crate::plan::Record;
use crate::pool::{Crew, Shared};
use crate::reading::Reading;
use crate::room::Room;
use crate::sink::Sink;
use crate::tuning::{CUT_SHARED_BYTES, INSERTION_MAX, QUICK_RECORDS_BYTES, by_width};
use beside::Beside;
use crowding::Crowding;
pub(crate) use cut::Cut;
use joined::Joined;
use pairs::Pairs;
use passes::{Passes, Tables};
pub(crate) use quick::depth;

/// The local sort of one task.
pub(crate) struct Local<W, R, T> {
    instructions: Instructions,
    /// Bytes of memory.
    bytes: usize,
    /// Buckets of up to so many records are small enough.
    most: usize,
    record: Record,
    /// How memory is read.
    pub(crate) reading: R,
    /// The bits that count.
    mask: W,
    pub(crate) sink: T,
    crowding: Crowding,
    /// Whether what is written does not stay in the caches.
    streams: bool,
}

impl<W: Word, R: Reading<W, After = R>, T> Local<W, R, T> {
    /// The sort of some records, with `bytes` of memory. Vectors sort by all bits of what
    /// lies in memory.
    pub(crate) fn new(
        instructions: Instructions,
        record: Record,
        bytes: usize,
        reading: R,
        mask: W,
        sink: T,
    ) -> Self {
        Local {
            instructions,
            bytes,
            most: record.most_records(bytes),
            record,
            reading,
            mask,
            sink,
            crowding: Crowding::default(),
            streams: false,
        }
    }

    /// The same, `streams` if what it writes does not stay in the caches.
    pub(crate) fn streaming(self, streams: bool) -> Self {
        Local { streams, ..self }
    }

    /// Which instructions there are.
    pub(crate) fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Whether such records that tie are the same, bit by bit.
    pub(crate) fn alike<P: Payload>(&self) -> bool {
        P::NONE && R::CODES && self.mask == W::MAX
    }

    /// Bits that number the buckets into which `n` records are best partitioned.
    pub(crate) fn partition_bits(&self, n: usize, crew: Crew<'_>) -> BucketBits {
        self.record.partition_bits(n, crew.threads(), self.bytes)
    }

    /// Whether `n` keys where they are to stay are cut in parts for bins.
    pub(crate) fn in_parts(&self, n: usize) -> bool {
        self.record.in_parts(n)
    }

    /// Cuts some keys alone about one of them, where they lie, and leaves their codes, if these are
    /// what a coder makes of them; by one worker, or two if they are many.
    ///
    /// # Safety
    /// Such keys can be cut in parts. They are there, at least [`CUT_MIN`](crate::tuning::CUT_MIN),
    /// and nobody else uses them now.
    pub(crate) unsafe fn cut<P: Payload>(
        &self,
        keys: Columns<W, P>,
        range: Range<usize>,
        coder: Option<&Coder<W>>,
        crew: Crew<'_>,
    ) -> Cut<W> {
        let n = range.len();
        // SAFETY: the caller's promise.
        let start = Shared(unsafe { keys.from(range.start) }.keys_start());
        let keys = cut::Keys { start, n, coder };
        // SAFETY: the caller's promise.
        let cut = unsafe {
            match crew.threads() == 2 && n * size_of::<W>() >= CUT_SHARED_BYTES {
                true => keys.cut_by_two(self.instructions, crew),
                false => keys.cut(self.instructions),
            }
        };
        let Cut { same, pivot } = cut.expect("vectors for keys that are cut");
        Cut {
            same: range.start + same.start..range.start + same.end,
            pivot,
        }
    }

    /// Whether a bucket is small enough.
    pub(crate) fn takes(&self, n: usize) -> bool {
        n <= self.most
    }

    /// Sorts the records of `from`, stably, into `to`, whose words show a window of their codes,
    /// and takes their last step: the first one has place `start` in the order. Returns the most
    /// passes that a key took part in; an insertion among a few neighbours is none.
    ///
    /// # Safety
    /// `to` has room for the records, and is the one piece where they are, or overlaps none; `own` has
    /// this sort's bytes, and starts on a line; nobody else uses them now, nor these records' places.
    pub(crate) unsafe fn sort<P: Payload>(
        &self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        own: *mut u8,
        window: u32,
        start: usize,
    ) -> u32
    where
        T: Sink<W, P>,
    {
        let (n, window, step) = (from.len(), window + 1, self.sink.last_step(start));
        // SAFETY: the caller's promise.
        unsafe {
            let shown = (T::REWORDS && window < self.sink.windows()).then_some(self.mask);
            let follow = shown.and_then(|shown| Follow::new(step, shown));
            let mut passes = self.order(from, to, own, follow.as_ref());
            let is_taken = follow.as_ref().and_then(Follow::is_taken);
            let take = || step.take(self.instructions, to.keys_mut(n), shown);
            if !is_taken.unwrap_or_else(take) && const { T::REWORDS } {
                passes = passes.max(self.settle(to, n, own, window));
                step.take(self.instructions, to.keys_mut(n), None);
            }
            passes
        }
    }

    /// Sorts the records by what their words show, as [`sort`](Self::sort) does, and has words
    /// followed, if it can.
    ///
    /// # Safety
    /// As there.
    unsafe fn order<P: Payload>(
        &self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        own: *mut u8,
        follow: Option<&Follow<W>>,
    ) -> u32 {
        let n = from.len();
        // SAFETY: the caller's promise.
        unsafe {
            if const { R::CODES } && n > INSERTION_MAX && self.by_vectors(from, to, own, follow) {
                return 1;
            }
            let payloads = own.add((n * size_of::<W>()).next_multiple_of(16));
            let room = Columns::new(own.cast(), payloads, from.payload());
            let mut tables = Tables::new();
            let passes = Passes {
                reading: self.reading,
                mask: self.mask,
                fetches: stores_wait(),
            };
            passes.sort(from, to, room, &mut tables)
        }
    }

    /// The same for records of a room that lie [side by side](Room::BESIDE), in bins; or returns false,
    /// for these do not serve, and has written nothing.
    ///
    /// # Safety
    /// As [`sort`](Self::sort). There are the pieces, of `n` records in all, of which no code is
    /// beyond the limits.
    pub(crate) unsafe fn sort_beside<P: Payload>(
        &self,
        records: *const u8,
        pieces: &[Range<usize>],
        n: usize,
        to: Columns<W, P>,
        own: *mut u8,
        limits: Option<Limits<W>>,
    ) -> bool {
        if !self.record.takes_bins(n) || self.crowding.waits() {
            return false;
        }
        let bucket = |limits| Beside {
            records,
            pieces,
            n,
            limits,
            to,
            memory: own,
            bytes: self.bytes,
            fetches: stores_wait(),
            streams: self.streams,
        };
        // The oldest vectors have too few lanes of 64 bits.
        let joined = const { Room::<W, P>::BYTES == 8 } && self.record.vectors;
        // SAFETY: the caller's promise, also where there are no limits.
        let sort = |limits| unsafe {
            if joined {
                let joined = Joined(bucket(limits));
                by_vectors::<u64, _>(self.instructions, joined).unwrap_or(false)
            } else {
                let pairs = Pairs(bucket(limits));
                by_any_vectors::<W, _>(self.instructions, pairs).unwrap_or(false)
            }
        };
        let done = self.crowding.limited(limits, sort);
        // What is refused as words need not be crowded: columns tell.
        if done || !joined {
            self.crowding.note(done);
        }
        done
    }

    /// Sorts by vectors; or returns false, for they do not serve, and has written nothing or what
    /// [`together`](Pieces::together) writes.
    ///
    /// # Safety
    /// As [`sort`](Self::sort).
    unsafe fn by_vectors<P: Payload>(
        &self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        own: *mut u8,
        follow: Option<&Follow<W>>,
    ) -> bool {
        let n = from.len();
        if !self.record.takes_bins(n) {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let quick_bytes = match P::NONE {
                true => by_width(self.instructions, W::BITS).quick_bytes,
                false => QUICK_RECORDS_BYTES,
            };
            let few = n * quick::word_bytes::<W, P>() <= quick_bytes;
            let quick = || {
                self.record.vectors && {
                    let from = from.together(to);
                    quick::sort(self.instructions, from, to, n, own, self.bytes)
                }
            };
            if few && quick() {
                return true;
            }
            if const { P::NONE }
                && self.record.in_parts(n)
                && from.is_at(to)
                && self.record.local_bytes(n) <= self.bytes
            {
                self.sort_parts(to, 0..n, own, None, &|_| {});
                return true;
            }
            let crowding = &self.crowding;
            crowding.in_bins(self.instructions, from, to, own, self.bytes, follow)
                || (!few && quick())
        }
    }

    /// Sorts keys alone where they lie, or the codes that a coder makes of them: cuts them about a
    /// pivot, and what is less and greater again, until parts fit bins. Calls `done` with each part
    /// that is sorted.
    ///
    /// # Safety
    /// As [`sort`](Self::sort), of a range of one piece, with the memory for parts. Keys to be coded are
    /// [too many](Record::in_parts) for bins.
    pub(crate) unsafe fn sort_parts<P: Payload>(
        &self,
        keys: Columns<W, P>,
        range: Range<usize>,
        own: *mut u8,
        coder: Option<&Coder<W>>,
        done: &impl Fn(Range<usize>),
    ) {
        let depth = quick::depth(range.len());
        // SAFETY: the caller's promise.
        unsafe { self.sort_parts_within(keys, range, own, coder, done, depth) }
    }

    /// The same, by so many cuts of what was cut; what is too large then, for pivots have been bad,
    /// as the standard library does.
    unsafe fn sort_parts_within<P: Payload>(
        &self,
        keys: Columns<W, P>,
        range: Range<usize>,
        own: *mut u8,
        coder: Option<&Coder<W>>,
        done: &impl Fn(Range<usize>),
        depth: usize,
    ) {
        let (n, start) = (range.len(), range.start);
        // SAFETY: the caller's promise; parts lie within the keys.
        unsafe {
            let part = keys.from(start);
            let is_large = self.record.in_parts(n);
            if is_large && depth > 0 {
                let (end, depth) = (range.end, depth - 1);
                let Cut { same, pivot } = self.cut(keys, range, coder, Crew::alone());
                self.sort_parts_within(keys, start..same.start, own, None, done, depth);
                self.sort_parts_within(keys, same.end..end, own, None, done, depth);
                return keys.fill_keys(same, pivot, done);
            }
            debug_assert!(coder.is_none());
            let all = 0..n;
            let records = Pieces::new(part, slice::from_ref(&all));
            if is_large || !self.by_vectors(records, part, own, None) {
                part.keys_mut(n).sort_unstable();
            }
        }
        done(range);
    }

    /// Takes the last step of `n` records in order, of which the first has place `start`.
    ///
    /// # Safety
    /// They lie at `records`, and nobody else uses them now, nor their places.
    pub(crate) unsafe fn take_last_step<P: Payload>(
        &self,
        start: usize,
        records: Columns<W, P>,
        n: usize,
    ) where
        T: Sink<W, P>,
    {
        let step = self.sink.last_step(start);
        // SAFETY: the caller's promise.
        unsafe { step.take(self.instructions, records.keys_mut(n), None) };
    }
}
