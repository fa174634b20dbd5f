//! A bucket's records, where a partition has left them: pieces of columns, one after the other.

use std::ops::Range;
use std::ptr;

use sweepsort_core::Word;

use crate::columns::Columns;
use crate::fetch::{LINE, prefetch, prefetch_lines};
use crate::payload::Payload;
use crate::tuning::READ_AHEAD_BYTES;

/// Lines of a piece that are fetched ahead: then the machine has seen where it goes.
const FETCHED_LINES: usize = 8;

/// Records of a bucket: pieces of columns, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'a, W, P> {
    columns: Columns<W, P>,
    ranges: &'a [Range<usize>],
    n: usize,
    limits: Option<Limits<W>>,
}

/// Where records are only looked at, they are read in groups of so many. Before each, as many of
/// those that come later are fetched.
pub(crate) const READ_TOGETHER: usize = 2048;

/// Codes that none of a bucket is below or above, where a partition tells them.
pub(crate) type Limits<W> = [W; 2];

/// Whether codes are within limits.
pub(crate) fn within<W: Word>([least, greatest]: Limits<W>) -> impl Fn(&W) -> bool {
    move |&code| least <= code && code <= greatest
}

impl<'a, W: Word, P: Payload> Pieces<'a, W, P> {
    pub(crate) fn new(columns: Columns<W, P>, ranges: &'a [Range<usize>]) -> Self {
        Pieces {
            columns,
            ranges,
            n: ranges.iter().map(Range::len).sum(),
            limits: None,
        }
    }

    /// The same, of which it is known, or not, what no key is beyond.
    ///
    /// # Safety
    /// It is so.
    pub(crate) unsafe fn within(self, limits: Option<Limits<W>>) -> Self {
        Pieces { limits, ..self }
    }

    /// What no key is beyond.
    pub(crate) fn limits(&self) -> Option<Limits<W>> {
        self.limits
    }

    /// What is read of these when, to be fetched before.
    pub(crate) fn ahead(&self) -> Ahead<'a> {
        let keys = (
            self.columns.keys_start().cast_const().cast(),
            size_of::<W>(),
        );
        // SAFETY: where payloads begin.
        let payloads = unsafe { self.columns.payload_at(0) }.cast_const();
        Ahead::new([keys, (payloads, self.payload().bytes())], self.ranges)
    }

    /// The columns that they are pieces of.
    pub(crate) fn columns(&self) -> Columns<W, P> {
        self.columns
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Bytes of a key and its payload.
    pub(crate) fn record_bytes(&self) -> usize {
        self.columns.record_bytes()
    }

    /// How the payloads are moved.
    pub(crate) fn payload(&self) -> P {
        self.columns.payload()
    }

    /// Each piece: its records, and how many. The start of the next one is fetched meanwhile, since no
    /// machine guesses where that is.
    ///
    /// # Safety
    /// The columns have the ranges.
    #[inline(always)]
    pub(crate) unsafe fn each(self) -> impl Iterator<Item = (Columns<W, P>, usize)> {
        self.ranges.iter().enumerate().map(move |(i, range)| {
            if let Some(next) = self.ranges.get(i + 1) {
                fetch_start(self.columns.keys_start().wrapping_add(next.start).cast());
            }
            // SAFETY: the caller's promise.
            (unsafe { self.columns.from(range.start) }, range.len())
        })
    }

    /// The same pieces, for a type of word that is this one by another name.
    pub(crate) fn cast<V: Word>(self) -> Pieces<'a, V, P> {
        Pieces {
            columns: self.columns.cast(),
            ranges: self.ranges,
            n: self.n,
            limits: self
                .limits
                .map(|ends| ends.map(|end| V::truncate(end.widen()))),
        }
    }

    /// Copies the records to `to`, one piece after the other, unless they are there already.
    ///
    /// # Safety
    /// The columns have the ranges, `to` has room, and nobody else uses them now. One piece may be
    /// where `to` is; otherwise they do not overlap.
    pub(crate) unsafe fn gather(self, to: Columns<W, P>) {
        let mut done = 0;
        // SAFETY: the caller's promise.
        unsafe {
            for (piece, n) in self.each() {
                let to = to.from(done);
                if !piece.same(to) {
                    piece.copy_to(to, n);
                }
                done += n;
            }
        }
    }

    /// Whether they are one piece, at a place.
    pub(crate) fn is_at(self, place: Columns<W, P>) -> bool {
        match self.ranges {
            [range] => self.columns.keys_start().wrapping_add(range.start) == place.keys_start(),
            _ => false,
        }
    }

    /// The records in one place: where they are, if that is one piece, or else at `to`.
    ///
    /// # Safety
    /// As [`gather`](Self::gather).
    pub(crate) unsafe fn together(self, to: Columns<W, P>) -> Columns<W, P> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.ranges {
                [range] => self.columns.from(range.start),
                _ => {
                    self.gather(to);
                    to
                }
            }
        }
    }
}

/// Pieces that are being read, and are brought to the second level cache some records before.
pub(crate) struct Ahead<'a> {
    /// Where a column starts, and how many bytes an element has; none, if there is no such column.
    columns: [(*const u8, usize); 2],
    ranges: &'a [Range<usize>],
    /// How much of the first range has been fetched.
    done: usize,
}

impl<'a> Ahead<'a> {
    /// Of columns, before the first record is read.
    pub(crate) fn new(columns: [(*const u8, usize); 2], ranges: &'a [Range<usize>]) -> Self {
        let mut ahead = Ahead {
            columns,
            ranges,
            done: 0,
        };
        ahead.read(READ_AHEAD_BYTES / (columns[0].1 + columns[1].1));
        ahead
    }

    /// Nothing, for what is read is in the caches.
    pub(crate) fn nothing() -> Self {
        Ahead {
            columns: [(ptr::null(), 0); 2],
            ranges: &[],
            done: 0,
        }
    }

    /// Says that the next `n` records are read, and returns the first of as many of those to come,
    /// for the caller to fetch meanwhile, line by line: a core waits for so many lines at a time,
    /// and for a place among these before it goes on. Or none, for these lie in two pieces and have
    /// been fetched at once, or there are no more.
    #[inline(always)]
    pub(crate) fn meanwhile(&mut self, n: usize) -> Option<usize> {
        match self.ranges.split_first() {
            Some((range, later)) if n <= range.len() - self.done => {
                let first = range.start + self.done;
                self.done += n;
                if self.done == range.len() {
                    (self.ranges, self.done) = (later, 0);
                }
                Some(first)
            }
            _ => {
                self.read(n);
                None
            }
        }
    }

    /// Says that the next `n` records are read: as many of those to come are fetched.
    #[inline(always)]
    pub(crate) fn read(&mut self, mut n: usize) {
        while n > 0
            && let Some((range, later)) = self.ranges.split_first()
        {
            let start = range.start + self.done;
            let taken = n.min(range.end - start);
            for (column, element) in self.columns {
                prefetch_lines(column.wrapping_add(start * element), taken * element);
            }
            n -= taken;
            self.done += taken;
            if self.done == range.len() {
                (self.ranges, self.done) = (later, 0);
            }
        }
    }
}

/// Says that a piece that begins at `at` will soon be read.
#[inline(always)]
pub(crate) fn fetch_start(at: *const u8) {
    for line in 0..FETCHED_LINES {
        prefetch(at.wrapping_add(LINE * line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What others fetch meanwhile lies in one piece.
    #[test]
    fn what_is_fetched_meanwhile_lies_together() {
        const FIRST: usize = READ_AHEAD_BYTES / 8;
        let column = [0u64; FIRST + 100];
        let ranges = [0..FIRST + 10, 20..30, 40..60];
        let mut ahead = Ahead::new([(column.as_ptr().cast(), 8), (ptr::null(), 0)], &ranges);
        let mut soon = |n: usize| (ahead.meanwhile(n), ahead.ranges.len(), ahead.done);
        let steps = [6, 4, 3, 8, 19, 1].map(&mut soon);
        let expected = [
            (Some(FIRST), 3, FIRST + 6),
            (Some(FIRST + 6), 2, 0),
            (Some(20), 2, 3),
            (None, 1, 1),
            (Some(41), 0, 0),
            (None, 0, 0),
        ];
        assert_eq!(steps, expected);
        assert_eq!(Ahead::nothing().meanwhile(8), None);
    }

    /// What lies ahead is gone through piece by piece, as far as there is something.
    #[test]
    fn pieces_ahead_are_fetched_once() {
        const FIRST: usize = READ_AHEAD_BYTES / 8;
        let column = [0u32; FIRST + 100];
        let ranges = [3..FIRST + 10, 20..20, 40..60];
        let mut ahead = Ahead::new([(column.as_ptr().cast(), 4); 2], &ranges);
        let mut left = |n: usize| {
            ahead.read(n);
            (ahead.ranges.len(), ahead.done)
        };
        let steps = [0, 6, 1, 12, 8, 1].map(&mut left);
        let expected = [(3, FIRST), (3, FIRST + 6), (2, 0), (1, 12), (0, 0), (0, 0)];
        assert_eq!(steps, expected);
    }
}
