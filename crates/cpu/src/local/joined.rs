//! Records of a key and a payload of 32 bits each, in bins, as words of 64 bits.
//!
//! ```text
//!            63            37 36  32 31          0
//! a word     key less least   row    payload
//! ```
//!
//! The row is what keeps records with equal keys in order. It has room where keys are within 27
//! bits of each other, as those of 32 even buckets are, and their limits; and where they are within
//! less than 26, words may be compared as [distances](crate::lanes::Keys::Distances). An empty slot
//! has the greatest key and the number of its row, which is above those of all records: so it comes
//! last, also where some have that key.
//!
//! Payloads may be padding, in part or as a whole. No comparison depends on them, for no two words
//! of a bin agree in key and row.

use std::mem::MaybeUninit;

use sweepsort_core::Word;

use super::beside::Beside;
use super::bins::{AHEAD, twelve_rows};
use super::network::by_rows;
use super::slots::{ROW_BITS, ROWS, Slots};
use super::whole::sorted_to;
use crate::fetch::LINE;
use crate::lanes::{LANES_MAX, Lanes, Sorted, Vectored, load_up_to};
use crate::payload::{Nothing, Payload};
use crate::pieces::Ahead;
use crate::placing::{Placing, STRIP};
use crate::tuning::WRITTEN_TOGETHER;

/// Bits of a payload, and of a key.
const HALF: u32 = u64::BITS / 2;
/// Below these are the row and the payload.
const KEY_SHIFT: u32 = HALF + ROW_BITS;
/// Records of which a line of either column is fetched together, before they are written.
const PER_LINE: usize = LINE / size_of::<u32>();
/// Words that the bins of a vector's lanes may have, and what is written beyond.
const SORTED: usize = (LANES_MAX / 2 + 1) * ROWS;

/// The least key of a word in the network.
fn start<N: Sorted>() -> N::Word {
    N::LEAST >> KEY_SHIFT
}

/// The greatest, with whatever row and payload.
fn end<N: Sorted>() -> N::Word {
    (N::GREATEST >> KEY_SHIFT).wrapping_sub(N::Word::truncate(u128::from(!N::ALL)))
}

/// A bucket of such records.
pub(super) struct Joined<'a, W, P>(pub(super) Beside<'a, W, P>);

impl<W: Word, P: Payload> Joined<'_, W, P> {
    /// Puts each record to the next free row of its bin, its word above `base`; or returns false,
    /// for a bin has no more.
    #[inline(always)]
    unsafe fn fill<L: Lanes, const FETCHES: bool>(
        &self,
        slots: &Slots<L, Nothing>,
        placing: Placing<L::Word>,
        base: L::Word,
        mut ahead: Ahead<'_>,
    ) -> bool {
        let mut joined = [MaybeUninit::<L::Word>::uninit(); STRIP];
        let mut places = [0u32; STRIP];
        // SAFETY: the pieces are there, and a place is below the number of bins.
        unsafe {
            let low = L::splat(L::Word::mask(&(0..HALF)));
            let base = L::splat(base);
            // No closure, which would not be compiled for the lanes.
            for (records, n) in self.0.each() {
                let words: *const L::Word = records.cast();
                for start in (0..n).step_by(STRIP) {
                    let own = STRIP.min(n - start);
                    let now = records.wrapping_add(start * size_of::<L::Word>());
                    let meanwhile = self.0.meanwhile(&mut ahead, own, now);
                    for first in (0..own).step_by(2 * L::LANES) {
                        let mut keys = [base; 2];
                        for (i, key) in keys.iter_mut().enumerate() {
                            let at = first + i * L::LANES;
                            let (words, left) =
                                (words.wrapping_add(start + at), own.saturating_sub(at));
                            let words = load_up_to::<L>(words, left, base);
                            *key = L::and(words, low);
                            let above = L::shl(L::sub(*key, base), KEY_SHIFT);
                            let words = L::or(above, L::shr(words, HALF));
                            L::store(joined.as_mut_ptr().add(at).cast(), words);
                        }
                        L::store_places(places.as_mut_ptr().add(first), keys, &placing);
                    }
                    let joined = joined.as_ptr();
                    let word = |i| (*joined.add(i), ());
                    if !slots.put_all::<FETCHES>(&mut places[..own], meanwhile, word) {
                        return false;
                    }
                }
            }
            true
        }
    }

    /// Sorts bins of which none has more than `R` records, and writes their words to the start of `to`.
    #[inline(always)]
    unsafe fn collect_rows<L, N, const R: usize>(
        slots: &Slots<L, Nothing>,
        bin: usize,
        to: *mut L::Word,
    ) where
        L: Lanes,
        N: Sorted<Word = L::Word, Vector = L::Vector>,
    {
        // SAFETY: the rows are there, and only lanes that have a word are read. Whole vectors are
        // written, and what is beyond a bin's words is overwritten by the next bin's; there is room
        // for what is beyond the last.
        unsafe {
            let counts = slots.counts(bin);
            let own = L::widen(counts.as_ptr());
            let others = L::splat(end::<N>() << KEY_SHIFT);
            let mut rows = [others; R];
            for (r, row) in rows.iter_mut().enumerate() {
                let number = L::splat(L::Word::truncate((r as u128) << HALF));
                let words = L::load_row(slots.row(r, bin), own, r as u8, others);
                *row = L::or(words, number);
            }
            sorted_to::<L, N, R>(rows, counts, to);
        }
    }

    /// Writes sorted words, whose keys are above `base`, to the places from `done` on.
    #[inline(always)]
    unsafe fn part<L: Lanes>(&self, sorted: &[MaybeUninit<L::Word>], base: L::Word, done: usize) {
        // SAFETY: whole vectors are written where there is room, and what is beyond the last word
        // is overwritten by the words that follow; at the end, no more than there are.
        unsafe {
            let (to, base) = (self.0.to, L::splat(base));
            let keys = to.keys_start().cast::<u32>().add(done);
            let payloads = to.payload_at(done).cast::<u32>();
            let (room, soon) = (self.0.n - done, to.from(done));
            for at in (0..sorted.len()).step_by(L::LANES) {
                if at.is_multiple_of(PER_LINE) {
                    soon.fetch(at + AHEAD..at + AHEAD + PER_LINE);
                }
                let left = sorted.len() - at;
                let words = L::load_some(sorted.as_ptr().add(at).cast(), left, base);
                let own = L::add(L::shr(words, KEY_SHIFT), base);
                if at + L::LANES <= room {
                    L::store_32(keys.add(at), own);
                    L::store_32(payloads.add(at), words);
                } else {
                    let mut last = [[0u32; LANES_MAX]; 2];
                    L::store_32(last[0].as_mut_ptr(), own);
                    L::store_32(last[1].as_mut_ptr(), words);
                    keys.add(at)
                        .copy_from_nonoverlapping(last[0].as_ptr(), left);
                    let to: *mut u8 = payloads.add(at).cast();
                    to.copy_from_nonoverlapping(last[1].as_ptr().cast(), left * size_of::<u32>());
                }
            }
        }
    }
}

impl<W: Word, P: Payload> Vectored for Joined<'_, W, P> {
    type Output = bool;

    /// Sorts the records by their keys, stably, into `to`; or returns false, for keys crowd or
    /// differ in too many bits, and has written nothing.
    ///
    /// # Safety
    /// The machine has the lanes' instructions, of 64 bits. The bucket is [there](Beside), and its columns
    /// have 32 bits each.
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> bool {
        let n = self.0.n;
        // SAFETY: the caller's promise.
        unsafe {
            let mut ahead = self.0.ahead();
            let ends = self.0.ends(&mut ahead);
            let [least, greatest] = ends.map(|key| L::Word::truncate(key.widen()));
            let range = greatest.wrapping_sub(least);
            if range < L::Word::truncate((n / (ROWS / 2)).max(1) as u128) {
                return false;
            }
            if range <= end::<L::Distances>().wrapping_sub(start::<L::Distances>()) {
                return self.sort::<L, L::Distances>(least, range, ahead);
            }
            range <= end::<L>().wrapping_sub(start::<L>()) && self.sort::<L, L>(least, range, ahead)
        }
    }
}

impl<W: Word, P: Payload> Joined<'_, W, P> {
    /// Sorts records whose keys are from the least on, over a range, by words of what the network sorts.
    ///
    /// # Safety
    /// As [`run`](Vectored::run).
    #[inline(always)]
    unsafe fn sort<L, N>(&self, least: L::Word, range: L::Word, ahead: Ahead<'_>) -> bool
    where
        L: Lanes,
        N: Sorted<Word = L::Word, Vector = L::Vector>,
    {
        let bucket = &self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let slots = Slots::<L, _>::new(bucket.n, bucket.memory, bucket.bytes, Nothing);
            let Some(slots) = slots else {
                return false;
            };
            let placing = Placing::new(least, range, slots.bins);
            let base = least.wrapping_sub(start::<N>());
            let filled = match bucket.fetches() {
                true => self.fill::<L, true>(&slots, placing, base, ahead),
                false => self.fill::<L, false>(&slots, placing, base, ahead),
            };
            if !filled {
                return false;
            }
            let mut sorted = [MaybeUninit::<L::Word>::uninit(); WRITTEN_TOGETHER + SORTED];
            let twelve = const { twelve_rows::<L>() };
            let (mut done, mut held) = (0, 0);
            for bin in (0..slots.bins).step_by(L::LANES) {
                let sum = slots.sum(bin);
                let to = sorted.as_mut_ptr().add(held).cast();
                by_rows!(slots.most(bin), twelve, R => Self::collect_rows::<L, N, R>(&slots, bin, to));
                held += sum;
                if held >= WRITTEN_TOGETHER || bin + L::LANES == slots.bins {
                    self.part::<L>(&sorted[..held], base, done);
                    done += held;
                    held = 0;
                }
            }
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Case, spread, with_limits_and_without};
    use super::*;
    use crate::instructions::Instructions;
    use crate::lanes::by_vectors;
    use crate::payload::Fixed;

    /// Sorts a bucket in two pieces, between limits and without, and tells which of these was done;
    /// if not, nothing must have been written.
    fn check(instructions: Instructions, keys: &[u32], fetches: bool) -> [bool; 2] {
        with_limits_and_without(keys).map(|limits| {
            let what = format!("{instructions:?}");
            Case::new(keys, Fixed::<4>).check_beside(&what, 2, limits, [fetches, false], |bucket| {
                // SAFETY: the bucket is there.
                unsafe { by_vectors::<u64, _>(instructions, Joined(bucket)) }.unwrap_or(false)
            })
        })
    }

    /// The most values from the least key to the greatest for words that are compared as integers,
    /// and as floats.
    const AS_INTEGERS: usize = 1 << 27;
    const AS_FLOATS: usize = 0x3ff_0000;

    /// Keys of a narrow range, many of them equal, stably; of others it is told.
    #[test]
    fn words_are_sorted_stably_or_refused() {
        for instructions in [Instructions::Avx2, Instructions::Avx512] {
            if instructions > Instructions::detect() {
                continue;
            }
            for n in [2, 33, 64, 255, 256, 257, 1000, 10_000, 40_000] {
                // Limits are further apart than keys, and so may be too far for words.
                for (range, done) in [
                    (AS_INTEGERS, [false, true]),
                    (AS_INTEGERS + 1, [false; 2]),
                    (AS_INTEGERS / 5 * 4, [true; 2]),
                    (AS_FLOATS, [true; 2]),
                    (AS_FLOATS + 1, [true; 2]),
                    (AS_FLOATS / 5 * 4, [true; 2]),
                    (n / 4 + 2, [true; 2]),
                    (1, [false; 2]),
                ] {
                    let mut keys: Vec<u32> = spread(n, 1 << 30..(1 << 30) + range as u128);
                    (keys[0], keys[n - 1]) = (1 << 30, (1 << 30) + range as u32 - 1);
                    for fetches in [false, true] {
                        let sorted = check(instructions, &keys, fetches);
                        assert_eq!(sorted, done, "{n} keys of {range} values");
                    }
                }
                // As many of the greatest as a bin has rows, or fewer, so that empty slots come
                // next to them, whose key is that; next to the greatest number there is.
                for ((range, done), many) in [(AS_FLOATS, [true; 2]), (AS_INTEGERS, [false, true])]
                    .into_iter()
                    .flat_map(|range| [ROWS, 20, 9, 3].map(|many| (range, many)))
                {
                    if n <= 64 {
                        continue;
                    }
                    let least = (1 << 32) - range as u128;
                    let mut keys: Vec<u32> = spread(n, least..least + range as u128 / 4 * 3);
                    keys[0] = least as u32;
                    keys[n - many..].fill(u32::MAX);
                    let sorted = check(instructions, &keys, false);
                    assert_eq!(sorted, done, "{n} keys, {many} of the greatest");
                }
                // One far from all others, which crowd.
                let mut keys: Vec<u32> = (0..n as u32).collect();
                keys[n / 2] = 1 << 26;
                let done = check(instructions, &keys, false);
                assert_eq!(done, [n <= 33; 2], "a crowd of {n}");
            }
        }
    }
}
