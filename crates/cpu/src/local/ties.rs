//! Words of an argsort that tie in the window of their codes that they show: each run of them is
//! sorted by the next one.

use std::slice;

use sweepsort_core::Word;

use super::Local;
use crate::columns::Columns;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::last_step::{any_ties, ties};
use crate::payload::Payload;
use crate::pieces::Pieces;
use crate::reading::Reading;
use crate::sink::Sink;

impl<W: Word, R: Reading<W, After = R>, T> Local<W, R, T> {
    /// Sorts each run of records that tie in what their words show by another window of their codes.
    pub(super) unsafe fn settle<P: Payload>(
        &self,
        data: Columns<W, P>,
        n: usize,
        own: *mut u8,
        window: u32,
    ) -> u32
    where
        T: Sink<W, P>,
    {
        let mut passes = 0;
        // SAFETY: runs lie within the `n` records.
        unsafe {
            // What the runs' codes take is on its way from all over memory before the first is waited for.
            self.each_tie(data, n, |run, n| self.sink.foresee(run.keys(n)));
            self.each_tie(data, n, |run, n| {
                for word in run.keys_mut(n) {
                    *word = self.sink.reword(*word, window);
                }
                let all = 0..n;
                let records = Pieces::new(run, slice::from_ref(&all));
                passes = passes.max(self.order(records, run, own, None));
                if window + 1 < self.sink.windows() {
                    passes = passes.max(self.settle(run, n, own, window + 1));
                }
            });
        }
        passes
    }

    /// Calls `act` with each run of records that tie in what their words show, and how many it has.
    ///
    /// # Safety
    /// There are `n` records, and nobody else uses them now.
    unsafe fn each_tie<P: Payload>(
        &self,
        data: Columns<W, P>,
        n: usize,
        mut act: impl FnMut(Columns<W, P>, usize),
    ) {
        let mut start = 0;
        // SAFETY: the caller's promise.
        unsafe {
            loop {
                let tie = Tie {
                    keys: data.from(start).keys(n - start),
                    mask: self.mask,
                };
                start +=
                    by_vectors::<W, _>(self.instructions, tie).unwrap_or_else(|tie| tie.find());
                if start + 1 >= n {
                    return;
                }
                let shown = data.key(start) & self.mask;
                let mut end = start + 2;
                while end < n && data.key(end) & self.mask == shown {
                    end += 1;
                }
                act(data.from(start), end - start);
                start = end;
            }
        }
    }
}

/// The search for the first key that ties with the next one.
struct Tie<'a, W> {
    keys: &'a [W],
    /// The bits that count.
    mask: W,
}

impl<W: Word> Tie<'_, W> {
    /// The number of that key; of the last one, if none ties.
    #[inline(always)]
    fn find(self) -> usize {
        /// Keys that are looked at together.
        const STRIP: usize = 64;
        let last = self.keys.len().saturating_sub(1);
        let (keys, next) = (&self.keys[..last], &self.keys[last.min(1)..]);
        let mut pairs = keys.chunks(STRIP).zip(next.chunks(STRIP));
        let strip = pairs.position(|(keys, next)| any_ties(keys, next, self.mask));
        let start = strip.map_or(last, |strip| strip * STRIP);
        let rest = keys[start..].iter().zip(&next[start..]);
        start + rest.take_while(|&(a, b)| !ties(a, b, self.mask)).count()
    }
}

impl<W: Word> Vectored for Tie<'_, W> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> usize {
        self.find()
    }
}
