//! Bins of whole keys, and of records.
//!
//! A word in the network is a key, or its distance from a base that is below all keys of its bin,
//! where there is no instruction for the lesser of two keys ([`Alone`](Keys::Alone)). Where records
//! are to stay in order, it is that [distance](Keys::Distances) and, below it, the record's row;
//! rows were given in order, so no two words are equal, and each leads to its payload.

use std::mem::MaybeUninit;

use sweepsort_core::Word;

use super::bases::{self, Bases};
use super::bins::{Collect, twelve_rows};
use super::network::{self, by_rows};
use super::slots::{ROW_BITS, ROWS, Slots};
use crate::columns::Columns;
use crate::lanes::{Keys, LANES_MAX, Sorted};
use crate::payload::Payload;
use crate::placing::Placing;

/// Slots for whole keys, and where bins begin.
pub(super) struct Whole<'a, L: Keys, P> {
    slots: &'a Slots<L, P>,
    bases: Bases<L::Word>,
}

impl<'a, L: Keys, P: Payload> Whole<'a, L, P> {
    /// Of slots to be filled by a placing.
    #[inline(always)]
    pub(super) fn new(slots: &'a Slots<L, P>, placing: Placing<L::Word>) -> Self {
        // See `collect`.
        let room = L::Distances::GREATEST.wrapping_sub(L::Distances::LEAST);
        debug_assert!(bases::width(placing) << (ROW_BITS - 1) < room.widen());
        Whole {
            slots,
            bases: Bases::new(placing),
        }
    }

    /// The bases of the bins from `bin` on, lowered so that distances are no less than the
    /// network's least word.
    #[inline(always)]
    unsafe fn bases<N: Sorted<Word = L::Word>>(&self, bin: usize, shift: u32) -> L::Vector {
        let first = self.bases.of(bin).wrapping_sub(N::LEAST >> shift);
        // SAFETY: there are offsets for all lanes.
        unsafe { L::add(L::splat(first), L::load(self.bases.offsets.as_ptr())) }
    }

    /// Sorts and writes bins of keys alone, of which none has more than `R`.
    #[inline(always)]
    unsafe fn collect_keys<N, const R: usize>(
        &self,
        bin: usize,
        to: *mut L::Word,
        sum: usize,
        room: usize,
    ) where
        N: Sorted<Word = L::Word, Vector = L::Vector>,
    {
        // SAFETY: the rows are there, and only lanes that have a key are read. Whole vectors are
        // written, and what is beyond a bin's keys is overwritten by the next bin's; where that
        // would pass the end, they go to a place that has room, and only the keys to where they
        // belong.
        unsafe {
            let mut ends = MaybeUninit::<[L::Word; (LANES_MAX + 1) * ROWS]>::uninit();
            let fits = sum + R.next_multiple_of(L::LANES) <= room;
            let out = if fits { to } else { ends.as_mut_ptr().cast() };
            let counts = self.slots.counts(bin);
            let own = L::widen(counts.as_ptr());
            let mut others = L::splat(N::GREATEST);
            let mut rows = [others; R];
            let mut bases = [L::Word::ZERO; LANES_MAX];
            if const { N::ALL } {
                for (r, row) in rows.iter_mut().enumerate() {
                    *row = L::load_row(self.slots.row(r, bin), own, r as u8, others);
                }
            } else {
                let base = self.bases::<N>(bin, 0);
                L::store(bases.as_mut_ptr(), base);
                others = L::add(others, base);
                for (r, row) in rows.iter_mut().enumerate() {
                    let keys = L::load_row(self.slots.row(r, bin), own, r as u8, others);
                    *row = L::sub(keys, base);
                }
            }
            let columns = sorted::<L, N, R>(rows);
            let mut at = 0;
            for (lane, &count) in counts.iter().enumerate() {
                for block in 0..R.div_ceil(L::LANES) {
                    let mut keys = columns[block * L::LANES + lane];
                    if const { !N::ALL } {
                        keys = L::add(keys, L::splat(bases[lane]));
                    }
                    L::store(out.add(at + block * L::LANES), keys);
                }
                at += usize::from(count);
            }
            if !fits {
                to.copy_from_nonoverlapping(out, sum);
            }
        }
    }

    /// Sorts and writes bins of records, of which none has more than `R`.
    #[inline(always)]
    unsafe fn collect_records<N, const R: usize>(
        &self,
        bin: usize,
        to: Columns<L::Word, P>,
        sum: usize,
        room: usize,
    ) where
        N: Sorted<Word = L::Word, Vector = L::Vector>,
    {
        let row_bits = const { R.next_power_of_two().ilog2() };
        // SAFETY: as in `collect_keys`.
        unsafe {
            let mut ends = MaybeUninit::<[L::Word; (LANES_MAX + 1) * ROWS]>::uninit();
            let fits = sum + R.next_multiple_of(L::LANES) <= room;
            let out = match fits {
                true => to.keys_start(),
                false => ends.as_mut_ptr().cast(),
            };
            let payload = self.slots.payload();
            let counts = self.slots.counts(bin);
            let own = L::widen(counts.as_ptr());
            let others = L::splat(N::GREATEST);
            let base = self.bases::<N>(bin, row_bits);
            let mut bases = [L::Word::ZERO; LANES_MAX];
            L::store(bases.as_mut_ptr(), base);
            let mut rows = [others; R];
            for (r, row) in rows.iter_mut().enumerate() {
                let keys = L::load_row(self.slots.row(r, bin), own, r as u8, others);
                let number = L::splat(L::Word::truncate(r as u128));
                let word = L::or(L::shl(L::sub(keys, base), row_bits), number);
                *row = L::pad(word, own, r as u8, others);
            }
            let columns = sorted::<L, N, R>(rows);
            let number = L::splat(L::Word::mask(&(0..row_bits)));
            // Slots of payloads, in order.
            let mut found = MaybeUninit::<[L::Word; (LANES_MAX + 1) * ROWS]>::uninit();
            let found: *mut L::Word = found.as_mut_ptr().cast();
            let picks = L::PICKS && fits && matches!(payload.bytes(), 4 | 8);
            let mut at = 0;
            for (lane, &count) in counts.iter().enumerate() {
                let base = L::splat(bases[lane]);
                let slots = self.slots.payloads(bin + lane);
                let first = L::splat(L::Word::truncate((lane << ROW_BITS) as u128));
                for block in 0..R.div_ceil(L::LANES) {
                    let sorted = columns[block * L::LANES + lane];
                    let at = at + block * L::LANES;
                    L::store(out.add(at), L::add(L::shr(sorted, row_bits), base));
                    let numbers = L::and(sorted, number);
                    match payload.bytes() {
                        4 if picks => {
                            L::pick_4::<R>(slots.cast(), numbers, to.payload_at(at).cast())
                        }
                        8 if picks => {
                            L::pick_8::<R>(slots.cast(), numbers, to.payload_at(at).cast())
                        }
                        _ => L::store(found.add(at), L::or(numbers, first)),
                    }
                }
                at += usize::from(count);
            }
            // What no instructions pick: by one loop for all bins, whose end is foreseen more often
            // than theirs.
            if !picks {
                let slots = self.slots.payloads(bin);
                for i in 0..sum {
                    to.store_payload(i, payload.load(slots, (*found.add(i)).low_usize()));
                }
            }
            if !fits {
                to.keys_start().copy_from_nonoverlapping(out, sum);
            }
        }
    }
}

/// Sorts rows, lane by lane. The sorted words of lane `i` are the vectors `i`, `LANES + i` and so
/// on; anything behind row `R`.
#[inline(always)]
unsafe fn sorted<L, N, const R: usize>(mut rows: [L::Vector; R]) -> [L::Vector; ROWS]
where
    L: Keys,
    N: Sorted<Word = L::Word, Vector = L::Vector>,
{
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        network::sort::<N, R, true>(&mut rows);
        let mut columns = [rows[0]; ROWS];
        columns[..R].copy_from_slice(&rows);
        let whole = R - R % L::LANES;
        for block in columns[..whole].chunks_exact_mut(L::LANES) {
            L::transpose(block);
        }
        // What is left is half of a block.
        if whole < R {
            L::transpose_half(&mut columns[whole..whole + L::LANES]);
        }
        columns
    }
}

/// Sorts rows, lane by lane, of which each has so many words first, and writes these, one lane
/// after the other.
///
/// # Safety
/// The machine has the instructions. Whole vectors are written, and what is beyond a lane's words
/// is overwritten by the next one's; there is room for what is beyond the last.
#[inline(always)]
pub(super) unsafe fn sorted_to<L, N, const R: usize>(
    rows: [L::Vector; R],
    counts: &[u8],
    to: *mut L::Word,
) where
    L: Keys,
    N: Sorted<Word = L::Word, Vector = L::Vector>,
{
    // SAFETY: the caller's promise.
    unsafe {
        let columns = sorted::<L, N, R>(rows);
        let mut at = 0;
        for (lane, &count) in counts.iter().enumerate() {
            for block in 0..R.div_ceil(L::LANES) {
                L::store(
                    to.add(at + block * L::LANES),
                    columns[block * L::LANES + lane],
                );
            }
            at += usize::from(count);
        }
    }
}

impl<L: Keys, P: Payload> Collect<L::Word, P> for Whole<'_, L, P> {
    /// Distances are those of bins that are no wider than a 64th of all words, and a little. With
    /// up to four bits for a row they are words that may be floats, but not with five.
    #[inline(always)]
    unsafe fn collect(&self, bin: usize, to: Columns<L::Word, P>, sum: usize, room: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let most = self.slots.most(bin);
            let twelve = const { twelve_rows::<L>() };
            if const { P::NONE } {
                let to = to.keys_start();
                by_rows!(most, twelve, R => self.collect_keys::<L::Alone, R>(bin, to, sum, room));
            } else {
                match most {
                    0 => {}
                    1..=8 => self.collect_records::<L::Distances, 8>(bin, to, sum, room),
                    9..=12 if twelve => {
                        self.collect_records::<L::Distances, 12>(bin, to, sum, room)
                    }
                    9..=16 => self.collect_records::<L::Distances, 16>(bin, to, sum, room),
                    17..=24 => self.collect_records::<L, 24>(bin, to, sum, room),
                    _ => self.collect_records::<L, 32>(bin, to, sum, room),
                }
            }
        }
    }
}
