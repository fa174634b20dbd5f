//! The last step of a sort: what is done to words that are in order.
//!
//! It knows no keys and no records, so that it is not compiled anew for each kind of these; and it
//! can [follow](Follow) words that come in order, while these are in the first level cache.

use std::cell::Cell;
use std::{array, ptr, slice};

use sweepsort_core::{Coder, Word};

use crate::fetch::{LINE, stream, streamed};
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};

/// See the [module](self).
#[derive(Clone, Copy)]
pub(crate) enum LastStep<W> {
    /// Nothing: codes are words.
    Nothing,
    /// Codes become words.
    Decode(Coder<W>),
    /// Positions are written to the index.
    Index(Index<W>),
}

impl<W: Word> LastStep<W> {
    /// Takes it with words in order, by the machine's vectors; or stops and returns false, for two
    /// neighbours tie, if bits are given that must tell them apart. What is written to an index is
    /// to be written anew then.
    ///
    /// # Safety
    /// Nobody else uses the words now, nor their places in an index, and there are these. The
    /// machine has the instructions.
    pub(crate) unsafe fn take(
        self,
        instructions: Instructions,
        words: &mut [W],
        shown: Option<W>,
    ) -> bool {
        let taken = Taken {
            step: self,
            words,
            shown,
        };
        // SAFETY: the caller's promise.
        unsafe { by_vectors::<W, _>(instructions, taken).unwrap_or_else(|taken| taken.by_any()) }
    }
}

/// Words whose neighbours may tie, that are followed by their last step as they come in order; if
/// they have been.
pub(crate) struct Follow<W> {
    index: Index<W>,
    shown: W,
    is_taken: Cell<Option<bool>>,
}

impl<W: Word> Follow<W> {
    /// Of a step that is worth it. (What goes past the caches goes there faster by itself, and what
    /// decodes does so, too.)
    pub(crate) fn new(step: LastStep<W>, shown: W) -> Option<Self> {
        match step {
            LastStep::Index(index) if !index.streams => Some(Follow {
                index,
                shown,
                is_taken: Cell::new(None),
            }),
            _ => None,
        }
    }

    /// What [`take`](LastStep::take) would say, if words have been followed.
    pub(crate) fn is_taken(&self) -> Option<bool> {
        self.is_taken.get()
    }

    /// The same, for a type of word that is this one by another name.
    pub(crate) fn cast<V: Word>(&self) -> &Follow<V> {
        assert_eq!(V::WIDTH, W::WIDTH);
        // SAFETY: words of one width are of one type.
        unsafe { &*ptr::from_ref(self).cast() }
    }

    /// Follows words that come in order from `words` on.
    #[inline(always)]
    pub(crate) fn behind(&self, words: *const W) -> Behind<'_, W> {
        Behind {
            is_taken: &self.is_taken,
            index: self.index,
            shown: self.shown,
            words,
            done: 0,
            ties: false,
        }
    }
}

/// How far words have been followed.
pub(crate) struct Behind<'a, W> {
    is_taken: &'a Cell<Option<bool>>,
    index: Index<W>,
    shown: W,
    words: *const W,
    done: usize,
    ties: bool,
}

impl<W: Word> Behind<'_, W> {
    /// The first `n` words are in order.
    ///
    /// # Safety
    /// As [`LastStep::take`].
    #[inline(always)]
    pub(crate) unsafe fn follow(&mut self, n: usize) {
        /// Words that are looked at together.
        const TOGETHER: usize = 64;
        // The next one tells whether the last one ties.
        while n > self.done + TOGETHER {
            // SAFETY: the caller's promise. As arrays: so the compiler knows how many there are.
            unsafe {
                let words = self.words.add(self.done);
                let next: &[W; TOGETHER] = &*words.add(1).cast();
                let words: &[W; TOGETHER] = &*words.cast();
                self.ties |= any_ties(words, next, self.shown);
                self.index.write_some(self.done, words);
            }
            self.done += TOGETHER;
        }
    }

    /// All `n` words are.
    ///
    /// # Safety
    /// As [`LastStep::take`].
    #[inline(always)]
    pub(crate) unsafe fn end(self, n: usize) {
        // SAFETY: the caller's promise.
        let rest = unsafe {
            let rest = slice::from_raw_parts(self.words.add(self.done), n - self.done);
            self.index.from(self.done).write(rest, Some(self.shown))
        };
        self.is_taken.set(Some(rest && !self.ties));
    }
}

/// A last step to be taken.
struct Taken<'a, W> {
    step: LastStep<W>,
    words: &'a mut [W],
    shown: Option<W>,
}

impl<W: Word> Taken<'_, W> {
    /// By whatever vectors the code around has.
    ///
    /// # Safety
    /// As [`LastStep::take`].
    #[inline(always)]
    unsafe fn by_any(self) -> bool {
        let Taken { step, words, shown } = self;
        match step {
            LastStep::Nothing => true,
            LastStep::Decode(coder) => {
                words
                    .iter_mut()
                    .for_each(|word| *word = coder.decode(*word));
                true
            }
            // SAFETY: the caller's promise.
            LastStep::Index(index) => unsafe { index.write(words, shown) },
        }
    }
}

impl<W: Word> Vectored for Taken<'_, W> {
    type Output = bool;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.by_any() }
    }
}

/// An index entry.
pub(crate) trait Entry: Copy + Send + Sync {
    /// The entry for a position.
    fn new(position: usize) -> Self;
}

impl Entry for u32 {
    #[inline(always)]
    fn new(position: usize) -> Self {
        position as u32
    }
}

impl Entry for u64 {
    #[inline(always)]
    fn new(position: usize) -> Self {
        position as u64
    }
}

/// Places in an index.
#[derive(Clone, Copy)]
pub(crate) struct Index<W> {
    /// The first of them.
    start: *mut u8,
    /// Bytes of an entry.
    entry: usize,
    /// The bits of a word that are a position.
    positions: W,
    /// Whether they are written past the caches.
    streams: bool,
}

impl<W: Word> Index<W> {
    pub(crate) fn new<E: Entry>(start: *mut E, positions: W, streams: bool) -> Self {
        Index {
            start: start.cast(),
            entry: size_of::<E>(),
            positions,
            streams,
        }
    }

    /// The places from `first` on.
    #[inline(always)]
    fn from(self, first: usize) -> Self {
        let start = self.start.wrapping_add(first * self.entry);
        Index { start, ..self }
    }

    /// Writes the positions of words; or stops and returns false, for two neighbours tie in what they show.
    ///
    /// # Safety
    /// As [`LastStep::take`].
    #[inline(always)]
    unsafe fn write(&self, words: &[W], shown: Option<W>) -> bool {
        // SAFETY: the caller's promise.
        let all = unsafe {
            match shown {
                None => {
                    self.write_some(0, words);
                    true
                }
                Some(shown) => self.write_untied(words, shown),
            }
        };
        if self.streams {
            streamed();
        }
        all
    }

    #[inline(always)]
    unsafe fn write_untied(&self, words: &[W], shown: W) -> bool {
        /// Words that are in the first level cache when their positions are written.
        const TOGETHER: usize = 256;
        // The first time fewer, so that then a line begins.
        let mut end = TOGETHER - self.start.addr() % LINE / self.entry;
        let mut done = 0;
        while done < words.len() {
            let next = words.len().min(end + 1);
            if any_ties(&words[done..next], &words[done + 1..next], shown) {
                return false;
            }
            end = end.min(words.len());
            // SAFETY: the caller's promise.
            unsafe { self.write_some(done, &words[done..end]) }
            (done, end) = (end, end + TOGETHER);
        }
        true
    }

    /// Writes the positions of some words, of which the first is number `first`.
    ///
    /// # Safety
    /// As [`LastStep::take`].
    #[inline(always)]
    unsafe fn write_some(&self, first: usize, words: &[W]) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.entry {
                4 => self.write_as::<u32>(first, words),
                _ => self.write_as::<u64>(first, words),
            }
        }
    }

    #[inline(always)]
    unsafe fn write_as<E: Entry>(&self, first: usize, words: &[W]) {
        /// Positions that are a line or two.
        const TOGETHER: usize = LINE / size_of::<u32>();
        let entry = |&word: &W| E::new((word & self.positions).low_usize());
        // SAFETY: the caller's promise.
        unsafe {
            let start = self.start.cast::<E>().add(first);
            let write = |from: usize, words: &[W]| {
                for (i, word) in words.iter().enumerate() {
                    start.add(from + i).write(entry(word));
                }
            };
            if !self.streams {
                return write(0, words);
            }
            let head = start.align_offset(LINE).min(words.len());
            let (lines, tail) = words[head..].as_chunks::<TOGETHER>();
            write(0, &words[..head]);
            for (i, line) in lines.iter().enumerate() {
                let entries: [E; TOGETHER] = array::from_fn(|i| entry(&line[i]));
                stream(start.add(head + i * TOGETHER), entries);
            }
            write(words.len() - tail.len(), tail);
        }
    }
}

/// Whether two words agree in what they show.
#[inline(always)]
pub(crate) fn ties<W: Word>(&a: &W, &b: &W, shown: W) -> bool {
    (a ^ b) & shown == W::ZERO
}

/// Whether one of some words agrees with the next one in what it shows.
#[inline(always)]
pub(crate) fn any_ties<W: Word>(words: &[W], next: &[W], shown: W) -> bool {
    let pairs = words.iter().zip(next);
    pairs.fold(false, |any, (a, b)| any | ties(a, b, shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: usize = 600;
    const POSITION_BITS: u32 = 10;

    /// Positions are written from anywhere in the index, as many as there are, past the caches or
    /// not, at once or behind words that come in order; unless two neighbours tie, wherever they
    /// are. Nothing else is written.
    #[test]
    fn positions_are_written_where_they_belong() {
        fn check<E: Entry + PartialEq>() {
            let positions = u64::mask(&(0..POSITION_BITS));
            let position = |i: usize| i * 37 % (1 << POSITION_BITS);
            let ways = [
                (false, Way::Whole),
                (true, Way::Whole),
                (false, Way::Untied),
                (true, Way::Untied),
                (false, Way::Behind(1)),
                (false, Way::Behind(130)),
            ];
            for instructions in Instructions::all() {
                for (start, (streams, way)) in (0..20).flat_map(|i| ways.map(|way| (i, way))) {
                    for n in (0..=PLACES - start).step_by(29) {
                        // Word `tied` and the next one show the same, if there are these.
                        for tied in (0..=n).step_by(13) {
                            let word = |i: usize| {
                                let shown = i - usize::from(i > tied);
                                (shown << POSITION_BITS | position(i)) as u64
                            };
                            let mut words: Vec<u64> = (0..n).map(word).collect();
                            let mut index = [E::new(usize::MAX); PLACES];
                            let places = Index::new(&mut index[start], positions, streams);
                            // SAFETY: there are the words and the places.
                            let done =
                                unsafe { take(instructions, places, &mut words, !positions, way) };
                            let what = format!("{n} from {start} on, {streams} {way:?}, {tied}");
                            assert_eq!(done, way == Way::Whole || tied + 1 >= n, "{what}");
                            let is_right = |(i, &entry): (usize, &E)| match i.checked_sub(start) {
                                Some(i) if i < n => !done || entry == E::new(position(i)),
                                _ => entry == E::new(usize::MAX),
                            };
                            assert!(index.iter().enumerate().all(is_right), "{what}");
                        }
                    }
                }
            }
        }
        check::<u32>();
        check::<u64>();
    }

    /// How positions are written.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Way {
        /// All at once, whatever ties.
        Whole,
        /// All at once, unless neighbours tie.
        Untied,
        /// Behind words so many of which come in order at a time.
        Behind(usize),
    }

    /// Writes positions.
    unsafe fn take(
        instructions: Instructions,
        index: Index<u64>,
        words: &mut [u64],
        shown: u64,
        way: Way,
    ) -> bool {
        let step = LastStep::Index(index);
        // SAFETY: the caller's promise.
        unsafe {
            let together = match way {
                Way::Whole => return step.take(instructions, words, None),
                Way::Untied => return step.take(instructions, words, Some(shown)),
                Way::Behind(together) => together,
            };
            let follow = Follow::new(step, shown).expect("an index in the caches");
            let mut behind = follow.behind(words.as_ptr());
            for done in (0..words.len()).step_by(together) {
                behind.follow(done);
            }
            behind.end(words.len());
            follow.is_taken().expect("words that were followed")
        }
    }
}
