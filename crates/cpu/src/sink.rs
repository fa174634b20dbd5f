//! Where the records of a sort go when they are in order.
//!
//! | sink | its last step |
//! |---|---|
//! | [`Codes`] | nothing: codes are words |
//! | [`Decoded`] | turns codes into words |
//! | [`Positions`] | writes the positions out of words to the index |

use sweepsort_core::{Coder, Presorted, Word};

use crate::columns::Columns;
use crate::fetch::prefetch;
use crate::last_step::{Entry, Index, LastStep};
use crate::payload::Payload;
use crate::pool::{Crew, Shared};
use crate::source::Numbered;
use crate::tuning::STREAMED_BYTES;

/// What happens to records that lie in order.
pub(crate) trait Sink<W: Word, P: Payload>: Copy + Send + Sync {
    /// What is done to the words of records in order, of which the first has place `start`.
    fn last_step(self, start: usize) -> LastStep<W>;
    /// The input was in order before anything was moved.
    ///
    /// # Safety
    /// Nobody else uses the records now.
    unsafe fn presorted(self, n: usize, run: Presorted, crew: Crew<'_>);
    /// The record that is at `from` in the input belongs at `to`. Asked only where the source makes the
    /// records; elsewhere they are moved themselves.
    ///
    /// # Safety
    /// Both are below the number of records, and nobody else uses what is at `to` now.
    unsafe fn place(self, to: usize, from: usize);
    /// Whether there may be more windows than one.
    const REWORDS: bool = false;
    /// How many windows of their codes the words show, one after the other.
    fn windows(self) -> u32 {
        1
    }
    /// Says that words will soon be asked to show another window of their codes: these are read
    /// where no machine foresees it.
    fn foresee(self, words: &[W]) {
        let _ = words;
    }
    /// The word that shows another window of its code.
    ///
    /// # Safety
    /// `word` came from the source.
    unsafe fn reword(self, word: W, window: u32) -> W {
        debug_assert_eq!(window, 0);
        word
    }
}

/// Leaves records as they are.
#[derive(Clone, Copy)]
pub(crate) struct Codes<W, P>(pub(crate) Columns<W, P>);

/// Turns codes into words.
#[derive(Clone, Copy)]
pub(crate) struct Decoded<W, P>(pub(crate) Columns<W, P>, pub(crate) Coder<W>);

impl<W: Word, P: Payload> Sink<W, P> for Codes<W, P> {
    fn last_step(self, _: usize) -> LastStep<W> {
        LastStep::Nothing
    }
    unsafe fn place(self, _: usize, _: usize) {
        unreachable!("records that lie in memory are moved, not placed")
    }
    unsafe fn presorted(self, n: usize, run: Presorted, crew: Crew<'_>) {
        if run == Presorted::Reversed {
            // SAFETY: the caller's promise.
            unsafe { reverse(self.0, n, crew) }
        }
    }
}

impl<W: Word, P: Payload> Sink<W, P> for Decoded<W, P> {
    fn last_step(self, _: usize) -> LastStep<W> {
        LastStep::Decode(self.1)
    }
    unsafe fn place(self, _: usize, _: usize) {
        unreachable!("records that lie in memory are moved, not placed")
    }
    unsafe fn presorted(self, n: usize, run: Presorted, crew: Crew<'_>) {
        // SAFETY: the caller's promise. Nothing was coded yet.
        unsafe { Codes(self.0).presorted(n, run, crew) }
    }
}

/// Turns the first `n` records round.
///
/// # Safety
/// There are `n` records, and nobody else uses them now.
pub(crate) unsafe fn reverse<W: Word, P: Payload>(data: Columns<W, P>, n: usize, crew: Crew<'_>) {
    crew.for_ranges(n / 2, |range| {
        for i in range {
            // SAFETY: each `i` below the middle is in one range, and so is its mirror image.
            unsafe { data.swap(i, n - 1 - i) }
        }
    });
}

/// Writes positions to the index.
#[derive(Clone, Copy)]
pub(crate) struct Positions<K, E> {
    keys: Numbered<K>,
    index: Shared<E>,
    /// Whether the index is written past the caches.
    streams: bool,
}

impl<K: Word, E: Entry> Positions<K, E> {
    /// The positions of `keys`, to `index`, of the same length.
    pub(crate) fn new(keys: Numbered<K>, index: &mut [E]) -> Self {
        Positions {
            keys,
            index: Shared(index.as_mut_ptr()),
            streams: size_of_val(index) >= STREAMED_BYTES,
        }
    }
}

impl<K: Word, W: Word, P: Payload, E: Entry> Sink<W, P> for Positions<K, E> {
    const REWORDS: bool = K::BITS > W::BITS / 2;

    fn last_step(self, start: usize) -> LastStep<W> {
        let positions = W::mask(&self.keys.positions());
        LastStep::Index(Index::new(self.index.at(start), positions, self.streams))
    }
    unsafe fn presorted(self, n: usize, run: Presorted, crew: Crew<'_>) {
        crew.for_ranges(n, |range| {
            for i in range {
                let position = if run == Presorted::Reversed {
                    n - 1 - i
                } else {
                    i
                };
                // SAFETY: each place is in one range.
                unsafe { self.index.at(i).write(E::new(position)) };
            }
        });
    }
    #[inline(always)]
    unsafe fn place(self, to: usize, from: usize) {
        // SAFETY: the index is as long as the keys, and this place is the caller's.
        unsafe { self.index.at(to).write(E::new(from)) };
    }
    fn windows(self) -> u32 {
        let shown = W::BITS - self.keys.positions().end;
        self.keys.bits.div_ceil(shown).max(1)
    }
    #[inline(always)]
    fn foresee(self, words: &[W]) {
        for &word in words {
            prefetch(self.keys.keys.at(self.keys.position(word)).cast());
        }
    }
    unsafe fn reword(self, word: W, window: u32) -> W {
        // SAFETY: positions are below the number of keys.
        unsafe { self.keys.word(self.keys.position(word), window) }
    }
}
