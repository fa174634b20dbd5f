//! Where the records of a sort come from, and where they go when they are in order.
//!
//! | source | reads | makes |
//! |---|---|---|
//! | [`Stored`] | the caller's keys and payloads | the same, as codes where codes can be turned back |
//! | [`Numbered`] | the caller's keys | words of a code and, below it, the key's position |
//!
//! | sink | what it does to sorted records |
//! |---|---|
//! | [`Codes`] | nothing: codes are words |
//! | [`Decoded`] | turns codes into words |
//! | [`Positions`] | writes the positions out of words to the index |

use std::array;
use std::ops::Range;

use sweepsort_core::{Coder, Presorted, Word};

use crate::columns::{Columns, LINE, Nothing, Payload, prefetch, stream, streamed};
use crate::pool::{Crew, Shared};
use crate::reading::{Plain, Reading};
use crate::tuning::STREAMED_BYTES;

/// Records as the first stages read them.
pub(crate) trait Source<W: Word, P: Payload>: Copy + Send + Sync {
    /// Whether records that are not moved can be read as if they had been.
    const STAYS: bool;
    /// Whether moves leave codes. All bits of what lies in memory tell the order then, by which vectors sort.
    const CODES: bool = <Self::After as Reading<W>>::CODES;
    /// How memory is to be read once the records have been moved.
    type After: Reading<W, After = Self::After>;

    /// See [`ranks`](Self::ranks).
    type Ranks: Ranks;

    /// What records are in order by, if the bits `mask` of words count.
    fn ranks(self, mask: W) -> Self::Ranks;
    /// The code of record `i`.
    ///
    /// # Safety
    /// There are more than `i` records, and nobody writes them now.
    unsafe fn code(self, i: usize) -> W;
    /// What a move writes of record `i`, which has this code.
    ///
    /// # Safety
    /// As [`code`](Self::code).
    unsafe fn record(self, i: usize, code: W) -> (W, P::Held);
    /// Says that some records will soon be read.
    fn fetch(self, range: Range<usize>);
    /// See [`Self::After`].
    fn after(self) -> Self::After;
    /// What makes the codes of records that lie in memory, if a move leaves codes, and they are not what it found.
    fn coder(self) -> Option<Coder<W>> {
        None
    }
}

/// What records are in order by. It knows no payload, so that what reads ranks alone is compiled once
/// for all.
pub(crate) trait Ranks: Copy + Send + Sync {
    type Rank: Word;

    /// What record `i` is in order by.
    ///
    /// # Safety
    /// There are more than `i` records, and nobody writes them now.
    unsafe fn rank(self, i: usize) -> Self::Rank;
}

/// The bits of a mask, of codes.
#[derive(Clone, Copy)]
pub(crate) struct Masked<W, R> {
    keys: Shared<W>,
    reading: R,
    mask: W,
}

impl<W: Word, R: Reading<W>> Ranks for Masked<W, R> {
    type Rank = W;

    #[inline(always)]
    unsafe fn rank(self, i: usize) -> W {
        // SAFETY: the caller's promise.
        self.reading.code(unsafe { self.keys.at(i).read() }) & self.mask
    }
}

/// Records in columns.
#[derive(Clone, Copy)]
pub(crate) struct Stored<W, P, R> {
    pub(crate) columns: Columns<W, P>,
    pub(crate) reading: R,
}

impl<W: Word, P: Payload, R: Reading<W>> Source<W, P> for Stored<W, P, R> {
    const STAYS: bool = R::STAYS;
    type After = R::After;
    type Ranks = Masked<W, R>;

    fn ranks(self, mask: W) -> Masked<W, R> {
        Masked {
            keys: Shared(self.columns.keys_start()),
            reading: self.reading,
            mask,
        }
    }
    #[inline(always)]
    unsafe fn code(self, i: usize) -> W {
        // SAFETY: the caller's promise.
        self.reading.code(unsafe { self.columns.key(i) })
    }
    #[inline(always)]
    unsafe fn record(self, i: usize, code: W) -> (W, P::Held) {
        // SAFETY: the caller's promise.
        let (stored, held) = unsafe { self.columns.load(i) };
        (self.reading.keep(stored, code), held)
    }
    #[inline(always)]
    fn fetch(self, range: Range<usize>) {
        self.columns.fetch(range);
    }
    fn after(self) -> R::After {
        self.reading.after()
    }
    fn coder(self) -> Option<Coder<W>> {
        self.reading.coder()
    }
}

/// What happens to records that lie in order.
pub(crate) trait Sink<W: Word, P: Payload>: Copy + Send + Sync {
    /// The records from `start` on are in order now; their keys are `keys`.
    ///
    /// # Safety
    /// Nobody else uses their places.
    unsafe fn done(self, start: usize, keys: &mut [W]);
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
    /// Says that words will soon be asked to show another window of their codes: these are read where no machine
    /// foresees it.
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
    unsafe fn done(self, _: usize, _: &mut [W]) {}
    unsafe fn place(self, _: usize, _: usize) {}
    unsafe fn presorted(self, n: usize, run: Presorted, crew: Crew<'_>) {
        if run == Presorted::Reversed {
            // SAFETY: the caller's promise.
            unsafe { reverse(self.0, n, crew) }
        }
    }
}

impl<W: Word, P: Payload> Sink<W, P> for Decoded<W, P> {
    unsafe fn done(self, _: usize, keys: &mut [W]) {
        keys.iter_mut().for_each(|key| *key = self.1.decode(*key));
    }
    unsafe fn place(self, _: usize, _: usize) {}
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

/// Keys as words: the lowest bits are the key's position, those above show a window of its code.
#[derive(Clone, Copy)]
pub(crate) struct Numbered<K> {
    keys: Shared<K>,
    coder: Coder<K>,
    /// So many bits of a code above those that count, or are the same in all.
    above: u32,
    /// The bits of the code, from the top, once those above are gone.
    mask: K,
    /// How many bits there are in the mask.
    bits: u32,
    /// Bits of a position.
    positions: u32,
}

impl<K: Word> Numbered<K> {
    /// The keys by the bits `bits` of their codes.
    pub(crate) fn new(keys: &[K], coder: Coder<K>, bits: Range<u32>) -> Self {
        let len = bits.end - bits.start;
        Numbered {
            keys: Shared(keys.as_ptr().cast_mut()),
            coder,
            above: (K::BITS - bits.end) % K::BITS,
            mask: K::mask(&(K::BITS - len..K::BITS)),
            bits: len,
            positions: keys.len().next_power_of_two().ilog2(),
        }
    }

    /// The bits of a word that are a position.
    pub(crate) fn positions(&self) -> Range<u32> {
        0..self.positions
    }

    /// The position that a word has.
    #[inline(always)]
    fn position<W: Word>(&self, word: W) -> usize {
        (word & W::mask(&self.positions())).low_usize()
    }

    /// The code of key `i`, its top bit the highest that counts, zeros below those that count.
    ///
    /// # Safety
    /// There are more than `i` keys.
    #[inline(always)]
    unsafe fn top(self, i: usize) -> K {
        // SAFETY: the caller's promise.
        let key = unsafe { self.keys.at(i).read() };
        (self.coder.encode(key) << self.above) & self.mask
    }

    /// The word for key `i`.
    ///
    /// # Safety
    /// There are more than `i` keys.
    #[inline(always)]
    unsafe fn word<W: Word>(self, i: usize, window: u32) -> W {
        // SAFETY: the caller's promise.
        let top = unsafe { self.top(i) };
        let shown = if const { K::BITS <= W::BITS / 2 } {
            W::truncate(top.widen()) << (W::BITS - K::BITS)
        } else {
            let bits = W::BITS - self.positions;
            let shown = (top << (window * bits)) >> (K::BITS - bits);
            W::truncate(shown.widen()) << self.positions
        };
        shown | W::truncate(i as u128)
    }
}

/// All of the code that counts, which may be more than a word shows.
impl<K: Word> Ranks for Numbered<K> {
    type Rank = K;

    #[inline(always)]
    unsafe fn rank(self, i: usize) -> K {
        // SAFETY: the caller's promise.
        unsafe { self.top(i) }
    }
}

impl<K: Word, W: Word, P: Payload<Held = ()>> Source<W, P> for Numbered<K> {
    const STAYS: bool = false;
    type After = Plain;
    type Ranks = Self;

    fn ranks(self, _: W) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn code(self, i: usize) -> W {
        // SAFETY: the caller's promise.
        unsafe { self.word(i, 0) }
    }
    #[inline(always)]
    unsafe fn record(self, _: usize, code: W) -> (W, ()) {
        (code, ())
    }
    #[inline(always)]
    fn fetch(self, range: Range<usize>) {
        let payloads = std::ptr::dangling_mut();
        Columns::new(self.keys.at(0), payloads, Nothing).fetch(range);
    }
    fn after(self) -> Plain {
        Plain
    }
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

    /// Writes the positions of words to their places from `start` on.
    ///
    /// # Safety
    /// These places are the caller's.
    #[inline(always)]
    unsafe fn write<W: Word>(&self, start: usize, words: &[W]) {
        for (i, &word) in words.iter().enumerate() {
            let position = E::new(self.keys.position(word));
            // SAFETY: the caller's promise.
            unsafe { self.index.at(start + i).write(position) };
        }
    }
}

impl<K: Word, W: Word, P: Payload, E: Entry> Sink<W, P> for Positions<K, E> {
    const REWORDS: bool = K::BITS > W::BITS / 2;

    unsafe fn done(self, start: usize, words: &mut [W]) {
        /// Positions that are a line or two.
        const TOGETHER: usize = LINE / size_of::<u32>();
        // SAFETY: the index is as long as the keys, and these places are the caller's.
        unsafe {
            if !self.streams {
                return self.write(start, words);
            }
            let first = self.index.at(start).align_offset(LINE).min(words.len());
            let (head, rest) = words.split_at(first);
            let (lines, tail) = rest.as_chunks::<TOGETHER>();
            self.write(start, head);
            for (i, line) in lines.iter().enumerate() {
                let positions: [E; TOGETHER] =
                    array::from_fn(|i| E::new(self.keys.position(line[i])));
                stream(self.index.at(start + first + i * TOGETHER), positions);
            }
            self.write(start + words.len() - tail.len(), tail);
        }
        streamed();
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
        let shown = W::BITS - self.keys.positions;
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

#[cfg(test)]
mod tests {
    use sweepsort_core::Codec;

    use super::*;

    /// Positions are written from anywhere in the index, as many as there are, past the caches or not.
    #[test]
    fn positions_are_written_where_they_belong() {
        fn check<E: Entry + PartialEq>() {
            const PLACES: usize = 100;
            let keys = [0u32; 1 << 10];
            let numbered = Numbered::new(&keys, Codec::UNSIGNED.coder(), 0..u32::BITS);
            let position = |i: usize| i * 37 % keys.len();
            for (start, streams) in (0..PLACES).flat_map(|start| [(start, false), (start, true)]) {
                for n in (0..=PLACES - start).step_by(7) {
                    let mut words: Vec<u64> =
                        (0..n).map(|i| (i << 32 | position(i)) as u64).collect();
                    let mut index = vec![E::new(usize::MAX); PLACES];
                    let positions = Positions {
                        streams,
                        ..Positions::new(numbered, &mut index)
                    };
                    // SAFETY: there are the places.
                    unsafe { Sink::<u64, Nothing>::done(positions, start, &mut words) }
                    let mut expected = vec![E::new(usize::MAX); PLACES];
                    for i in 0..n {
                        expected[start + i] = E::new(position(i));
                    }
                    assert!(index == expected, "{n} from {start} on, streams: {streams}");
                }
            }
        }
        check::<u32>();
        check::<u64>();
    }
}
