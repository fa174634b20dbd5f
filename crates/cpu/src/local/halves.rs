//! Bins of keys alone, sorted by what tells a bin's keys apart.
//!
//! ```text
//!                 63      32 31                     0
//! a key           what all of its bin share | a rest
//! its slot                                    a half
//! ```
//!
//! A bin of a large bucket spans so few values that half a word tells its keys apart. So a slot is
//! half as wide, and has the lower half of a key as it is; the network sorts distances from a base
//! that is below all keys of the bin, twice as many lanes at a time; and the base is added again in
//! the end.

use std::mem::MaybeUninit;

use sweepsort_core::Word;

use super::bases::{self, Bases};
use super::bins::{Collect, twelve_rows};
use super::network::{self, by_rows};
use super::slots::{BINS_TOGETHER, ROWS, Slots};
use crate::columns::Columns;
use crate::lanes::{Keys, Rests, Sorted};
use crate::payload::Payload;
use crate::placing::Placing;

type Half<L> = <<L as Keys>::Rests as Sorted>::Word;

/// Whether rests tell the keys of each bin apart.
pub(super) fn serve<R: Rests>(placing: Placing<R::Key>) -> bool {
    bases::width(placing) < R::END
}

/// Slots for lower halves of keys, and where bins begin: each key of a bin is at or above its base,
/// and by less than half a word tells.
pub(super) struct Halves<'a, L: Keys, P> {
    slots: &'a Slots<L::Rests, P>,
    bases: Bases<L::Word>,
    /// The lower halves of their offsets.
    low: [Half<L>; BINS_TOGETHER],
}

impl<'a, L: Keys, P: Payload> Halves<'a, L, P> {
    /// Of slots to be filled by a placing; or none, for bins are too wide.
    #[inline(always)]
    pub(super) fn new(slots: &'a Slots<L::Rests, P>, placing: Placing<L::Word>) -> Option<Self> {
        if !serve::<L::Rests>(placing) {
            return None;
        }
        let bases = Bases::new(placing);
        Some(Halves {
            slots,
            low: bases
                .offsets
                .map(|offset| Half::<L>::truncate(offset.widen())),
            bases,
        })
    }

    /// Sorts and writes bins of which none has more than `R` keys.
    #[inline(always)]
    unsafe fn collect_rows<const R: usize>(
        &self,
        bin: usize,
        to: *mut L::Word,
        sum: usize,
        room: usize,
    ) {
        let (slots, square, lanes) = (self.slots, L::Rests::SQUARE, L::Rests::LANES);
        // SAFETY: the rows are there, and only lanes that have a key are used. `R` keys are written
        // for each bin, and those beyond its own overwritten by the next bin's; where that would
        // pass the end, they go to a place that has room, and only the bins' own to where they
        // belong.
        unsafe {
            let mut ends = MaybeUninit::<[L::Word; (BINS_TOGETHER + 1) * ROWS]>::uninit();
            let fits = sum + R <= room;
            let out = if fits { to } else { ends.as_mut_ptr().cast() };
            let least = L::Word::truncate(L::Rests::LEAST.widen());
            let first = self.bases.of(bin).wrapping_sub(least);
            let counts = slots.counts(bin);
            let own = L::Rests::widen(counts.as_ptr());
            let bases = L::Rests::bases(Half::<L>::truncate(first.widen()), self.low.as_ptr());
            let mut rows = [bases; R];
            for (r, row) in rows.iter_mut().enumerate() {
                *row = L::Rests::rests(slots.row(r, bin), own, r as u8, bases);
            }
            network::sort::<L::Rests, R, true>(&mut rows);
            let mut sorted = MaybeUninit::<[Half<L>; BINS_TOGETHER * ROWS]>::uninit();
            let sorted: *mut Half<L> = sorted.as_mut_ptr().cast();
            for (i, rows) in rows.chunks_exact_mut(square).enumerate() {
                L::Rests::turn_squares(rows);
                for (j, &row) in rows.iter().enumerate() {
                    L::Rests::store(sorted.add((i * square + j) * lanes), row);
                }
            }
            let mut at = 0;
            for (lane, &count) in counts.iter().enumerate() {
                let base = first.wrapping_add(self.bases.offsets[lane]);
                // What was a square's column is its row now.
                let column = sorted.add(lane % square * lanes + lane / square * square);
                for r in (0..R).step_by(square) {
                    L::Rests::keys(column.add(r * lanes), base, out.add(at + r));
                }
                at += usize::from(count);
            }
            if !fits {
                to.copy_from_nonoverlapping(out, sum);
            }
        }
    }
}

impl<L: Keys, P: Payload> Collect<L::Word, P> for Halves<'_, L, P> {
    #[inline(always)]
    unsafe fn collect(&self, bin: usize, to: Columns<L::Word, P>, sum: usize, room: usize) {
        let to = to.keys_start();
        // SAFETY: the caller's promise.
        unsafe {
            let twelve = const { 12 % L::Rests::SQUARE == 0 && twelve_rows::<L::Rests>() };
            by_rows!(self.slots.most(bin), twelve, R => self.collect_rows::<R>(bin, to, sum, room));
        }
    }
}
