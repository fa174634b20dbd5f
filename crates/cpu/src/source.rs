//! Where the records of a sort come from.
//!
//! | source | reads | makes |
//! |---|---|---|
//! | [`Stored`] | the caller's keys and payloads | the same, as codes where codes can be turned back |
//! | [`Numbered`] | the caller's keys | words of a code and, below it, the key's position |

use std::ops::Range;
use std::slice::from_raw_parts;

use sweepsort_core::{Coder, Word};

use crate::columns::Columns;
use crate::payload::{Nothing, Payload};
use crate::pool::Shared;
use crate::reading::{Plain, Reading};

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
    /// The codes of some records, if these lie in memory.
    ///
    /// # Safety
    /// There are the records, and nobody writes them as long as the codes live.
    unsafe fn codes<'a>(self, range: Range<usize>) -> Option<&'a [W]> {
        let _ = range;
        None
    }
    /// What a move writes of record `i`, which has this code.
    ///
    /// # Safety
    /// As [`code`](Self::code).
    unsafe fn record(self, i: usize, code: W) -> (W, P::Held);
    /// Says that some records will soon be read.
    fn fetch(self, range: Range<usize>);
    /// See [`Self::After`].
    fn after(self) -> Self::After;
    /// What makes the codes of records that lie in memory, if a move leaves codes, and they are not
    /// what it found.
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
    unsafe fn codes<'a>(self, range: Range<usize>) -> Option<&'a [W]> {
        let first = self.columns.keys_start().wrapping_add(range.start);
        // SAFETY: the caller's promise; what a move leaves as it was, and what is a code then, is one now.
        const { R::STAYS && R::CODES }.then(|| unsafe { from_raw_parts(first, range.len()) })
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

/// Keys as words: the lowest bits are the key's position, those above show a window of its code.
#[derive(Clone, Copy)]
pub(crate) struct Numbered<K> {
    pub(crate) keys: Shared<K>,
    coder: Coder<K>,
    /// So many bits of a code above those that count, or are the same in all.
    above: u32,
    /// The bits of the code, from the top, once those above are gone.
    mask: K,
    /// How many bits there are in the mask.
    pub(crate) bits: u32,
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
    pub(crate) fn position<W: Word>(&self, word: W) -> usize {
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
    pub(crate) unsafe fn word<W: Word>(self, i: usize, window: u32) -> W {
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
