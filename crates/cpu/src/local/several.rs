//! Keys of several blocks: each is sorted in registers, and then they are joined by twos, fours, ….
//!
//! Of two halves in order, the upper one is met from behind: the lesser of two keys stays in the
//! lower half, the greater in the upper one, and each half is bitonic. So its own halves are met,
//! and theirs, down to blocks, which are sorted in registers. The last block lies apart until all
//! are joined, with the greatest keys behind its own, and is full as the others are.

use std::mem::MaybeUninit;

use sweepsort_core::Word;

use super::block;
use super::coding::Codes;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};

/// Sorts codes, at least one; or returns false and has written nothing, for there are no vectors for them.
///
/// # Safety
/// The machine has the instructions.
pub(super) unsafe fn sort<W: Word>(instructions: Instructions, codes: &mut [W]) -> bool {
    let mut last = MaybeUninit::<[W; block::MOST]>::uninit();
    let blocks = Blocks {
        first: codes.as_mut_ptr(),
        n: codes.len(),
        last: last.as_mut_ptr().cast(),
    };
    // SAFETY: the caller's promise; the codes are there, and are ours, and the last ones have a place.
    unsafe {
        by_vectors::<W, _>(instructions, Sort(blocks)).is_ok()
            && by_vectors::<W, _>(instructions, Join(blocks)).is_ok()
    }
}

/// Codes in blocks.
#[derive(Clone, Copy)]
struct Blocks<W> {
    /// Where they lie.
    first: *mut W,
    n: usize,
    /// Where the last block is sorted.
    last: *mut W,
}

impl<W: Word> Blocks<W> {
    /// The same blocks by lanes, and how many there are.
    #[inline(always)]
    fn by<L: Lanes>(self) -> (Blocks<L::Word>, usize) {
        assert_eq!(L::Word::WIDTH, W::WIDTH);
        let blocks = Blocks {
            first: self.first.cast(),
            n: self.n,
            last: self.last.cast(),
        };
        (blocks, self.n.div_ceil(block::most::<L>()))
    }
}

/// Blocks to be sorted. That and joining them are compiled apart: a function of both is so long
/// that loops of rows are left as loops.
struct Sort<W>(Blocks<W>);

impl<W: Word> Vectored for Sort<W> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let (Blocks { first, n, last }, _) = self.0.by::<L>();
        let one = block::most::<L>();
        // SAFETY: the caller's promise.
        unsafe {
            for at in (0..one).step_by(L::LANES) {
                L::store(last.add(at), L::splat(L::Word::MAX));
            }
            for at in (0..n).step_by(one) {
                let (from, left) = (first.add(at), n - at);
                let to = if left > one { from } else { last };
                block::sort::<L, _>(from, left.min(one), to, one, Codes);
            }
        }
    }
}

/// Blocks in order, to be joined.
struct Join<W>(Blocks<W>);

impl<W: Word> Vectored for Join<W> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let (Blocks { first, n, last }, blocks) = self.0.by::<L>();
        let one = block::most::<L>();
        // SAFETY: the caller's promise; all blocks are full.
        unsafe {
            let block = |i| {
                if i + 1 < blocks {
                    first.add(i * one)
                } else {
                    last
                }
            };
            let mut half = 1;
            while half < blocks {
                for start in (0..blocks - half).step_by(2 * half) {
                    let end = blocks.min(start + 2 * half);
                    for i in start + half..end {
                        meet_from_behind::<L>(block(2 * (start + half) - 1 - i), block(i));
                    }
                    let mut distance = half / 2;
                    while distance > 0 {
                        for i in start..end - distance {
                            if (i - start) & distance == 0 {
                                meet::<L>(block(i), block(i + distance));
                            }
                        }
                        distance /= 2;
                    }
                    for i in start..end {
                        block::sort_bitonic::<L>(block(i));
                    }
                }
                half *= 2;
            }
            let before = (blocks - 1) * one;
            first.add(before).copy_from_nonoverlapping(last, n - before);
        }
    }
}

/// Compares a block with another from its end: the lesser keys stay in the first.
#[inline(always)]
unsafe fn meet_from_behind<L: Lanes>(lower: *mut L::Word, upper: *mut L::Word) {
    let end = block::most::<L>() - L::LANES;
    for at in (0..=end).step_by(L::LANES) {
        // SAFETY: the caller's promise.
        unsafe {
            let (lower, upper) = (lower.add(at), upper.add(end - at));
            let (a, b) = (L::load(lower), L::turned(L::load(upper)));
            L::store(lower, L::min(a, b));
            L::store(upper, L::turned(L::max(a, b)));
        }
    }
}

/// Compares a block with another: the lesser keys stay in the first.
#[inline(always)]
unsafe fn meet<L: Lanes>(lower: *mut L::Word, upper: *mut L::Word) {
    for at in (0..block::most::<L>()).step_by(L::LANES) {
        // SAFETY: the caller's promise.
        unsafe {
            let (lower, upper) = (lower.add(at), upper.add(at));
            let (a, b) = (L::load(lower), L::load(upper));
            L::store(lower, L::min(a, b));
            L::store(upper, L::max(a, b));
        }
    }
}
