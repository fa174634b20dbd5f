//! Places for keys, evenly over a range.

use sweepsort_core::Word;

use crate::lanes::Lanes;

/// Keys whose places are computed together.
const STRIP: usize = 256;

/// Which of some places a key goes to, greater keys to later ones.
#[derive(Clone, Copy)]
pub(crate) struct Placing<W> {
    /// The least key.
    pub(crate) least: W,
    /// Leading zeros of the greatest distance from it. Without them, its upper 32 bits are taken.
    pub(crate) zeros: u32,
    /// Places for each such distance, times 2^32; below 2^32.
    pub(crate) scale: u64,
}

impl<W: Word> Placing<W> {
    /// Places for keys from the least one on, over a range.
    #[inline(always)]
    pub(crate) fn new(least: W, range: W, places: usize) -> Self {
        let zeros = range.leading_zeros();
        let distances = ((range << zeros) >> (W::BITS - 32)).low_usize() as u64 + 1;
        Placing {
            least,
            zeros,
            scale: ((places as u64) << 32) / distances,
        }
    }

    /// The place of a key.
    #[inline(always)]
    pub(crate) fn of(&self, key: W) -> usize {
        let distance = (key.wrapping_sub(self.least) << self.zeros) >> (W::BITS - 32);
        ((distance.low_usize() as u64 * self.scale) >> 32) as usize
    }

    /// Calls `put` with each of `n` keys' number and place, until it returns false.
    #[inline(always)]
    pub(crate) unsafe fn each<L: Lanes<Word = W>>(
        &self,
        keys: *const W,
        n: usize,
        mut put: impl FnMut(usize, usize) -> bool,
    ) -> bool {
        let mut strip = [0u32; STRIP];
        let whole = n - n % STRIP;
        // SAFETY: there are `n` keys, and as many places as keys in a strip.
        unsafe {
            for start in (0..whole).step_by(STRIP) {
                for at in (0..STRIP).step_by(L::LANES) {
                    L::places(keys.add(start + at), self, strip.as_mut_ptr().add(at));
                }
                for (i, &place) in strip.iter().enumerate() {
                    if !put(start + i, place as usize) {
                        return false;
                    }
                }
            }
            (whole..n).all(|i| put(i, self.of(keys.add(i).read())))
        }
    }
}
