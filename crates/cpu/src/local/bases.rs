//! Where bins begin: what their keys are distances from.

use sweepsort_core::Word;

use super::slots::BINS_TOGETHER;
use crate::placing::Placing;

/// For each bin a base that is at or below all its keys, by less than [`width`].
pub(super) struct Bases<W> {
    least: W,
    /// From a base to the next: see [`step`].
    step: u128,
    /// How far the bases of bins that are sorted together are from the first of them, rounded down.
    pub(super) offsets: [W; BINS_TOGETHER],
}

impl<W: Word> Bases<W> {
    /// Of the bins of a placing.
    #[inline(always)]
    pub(super) fn new(placing: Placing<W>) -> Self {
        let step = step(placing);
        Bases {
            least: placing.least,
            step,
            offsets: std::array::from_fn(|bin| W::truncate((bin as u128 * step) >> 32)),
        }
    }

    /// The base of the first of some bins that are sorted together.
    #[inline(always)]
    pub(super) fn of(&self, bin: usize) -> W {
        let start = W::truncate((bin as u128 * self.step) >> 32);
        self.least.wrapping_add(start)
    }
}

/// How far a bin begins behind the one before, times 2^32, rounded down.
fn step<W: Word>(placing: Placing<W>) -> u128 {
    // Distances, shifted up by the placing's zeros, have a place for each 2^BITS / scale.
    (1u128 << (W::BITS - placing.zeros + 32)) / u128::from(placing.scale)
}

/// The keys of each bin are less than so far from its base.
pub(super) fn width<W: Word>(placing: Placing<W>) -> u128 {
    // Of long distances a placing leaves the lowest bits out, so a bin may end later by as much as
    // they tell. What is rounded, twice for a step and once for an offset, is less than four.
    let omitted = 1 << (W::BITS - placing.zeros).saturating_sub(32);
    (step(placing) >> 32) + omitted + 4
}
