//! Places for keys, evenly over a range.

use sweepsort_core::Word;

use crate::lanes::Keys;

/// Keys whose places are computed together, at most.
pub(crate) const STRIP: usize = 256;

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
        let distances = upper_32(range << zeros) + 1;
        Placing {
            least,
            zeros,
            scale: ((places as u64) << 32) / distances,
        }
    }

    /// The same, for a type of word that is this one by another name.
    #[inline(always)]
    pub(crate) fn cast<V: Word>(&self) -> Placing<V> {
        Placing {
            least: V::truncate(self.least.widen()),
            zeros: self.zeros,
            scale: self.scale,
        }
    }

    /// The place of a key that is in the range.
    #[inline(always)]
    pub(crate) fn of(&self, key: W) -> usize {
        self.of_distance(key.wrapping_sub(self.least))
    }

    /// The place of a key so far from the least one.
    #[inline(always)]
    pub(crate) fn of_distance(&self, distance: W) -> usize {
        let distance = upper_32(distance << self.zeros);
        ((distance * u64::from(self.scale as u32)) >> 32) as usize
    }

    /// The greatest key of a place, or of those before if it has none; greater ones must follow. (Of 32 bits and more.)
    pub(crate) fn last(&self, place: usize) -> W {
        let next = ((place as u64 + 1) << 32).div_ceil(self.scale);
        debug_assert!(u32::try_from(next).is_ok(), "no key follows {place}");
        let upper = W::truncate(u128::from(next - 1)) << (W::BITS - 32);
        let distance = (upper | W::mask(&(0..W::BITS - 32))) >> self.zeros;
        self.least.wrapping_add(distance)
    }

    /// Calls `put` with each stretch of `n` keys and their places, until it returns false: the number of
    /// the stretch's first key, and as many places as it has keys.
    ///
    /// # Safety
    /// There are `n` keys, and the machine has the lanes' instructions.
    #[inline(always)]
    pub(crate) unsafe fn each<L: Keys<Word = W>>(
        &self,
        keys: *const W,
        n: usize,
        mut put: impl FnMut(usize, &mut [u32]) -> bool,
    ) -> bool {
        let mut places = [0u32; STRIP];
        for start in (0..n).step_by(STRIP) {
            let places = &mut places[..STRIP.min(n - start)];
            let whole = places.len() - places.len() % L::LANES;
            // SAFETY: there are `n` keys, and as many places as keys in a strip.
            unsafe {
                let keys = keys.add(start);
                for at in (0..whole).step_by(L::LANES) {
                    let keys = L::load(keys.add(at));
                    L::store_32(places.as_mut_ptr().add(at), L::places(keys, self));
                }
                for (at, place) in places.iter_mut().enumerate().skip(whole) {
                    *place = self.of(keys.add(at).read()) as u32;
                }
            }
            if !put(start, places) {
                return false;
            }
        }
        true
    }
}

/// The upper 32 bits of a word; narrower ones are shifted up.
#[inline(always)]
fn upper_32<W: Word>(word: W) -> u64 {
    match W::BITS {
        32.. => (word >> (W::BITS - 32)).low_usize() as u64,
        _ => (word.low_usize() as u64) << (32 - W::BITS),
    }
}
