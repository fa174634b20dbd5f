//! Places for keys, evenly over a range.

use sweepsort_core::Word;

use crate::lanes::{Keys, LANES_MAX};

/// Keys whose places are computed together, at most: by whole vectors, two at a time.
pub(crate) const STRIP: usize = 256;
const _: () = assert!(STRIP.is_multiple_of(2 * LANES_MAX));

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

    /// The greatest key of a place, or of those before if it has none; greater ones must follow.
    /// (Of 32 bits and more.)
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
            let (mut at, own) = (0, places.len());
            // SAFETY: there are `n` keys, and as many places as keys in a strip.
            unsafe {
                let keys = keys.add(start);
                let to = places.as_mut_ptr();
                while at + 2 * L::LANES <= own {
                    let two = [L::load(keys.add(at)), L::load(keys.add(at + L::LANES))];
                    L::store_places(to.add(at), two, self);
                    at += 2 * L::LANES;
                }
                while at + L::LANES <= own {
                    L::store_32(to.add(at), L::places(L::load(keys.add(at)), self));
                    at += L::LANES;
                }
                while at < own {
                    to.add(at).write(self.of(keys.add(at).read()) as u32);
                    at += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Places are in order and about even, up to two less than they would be if nothing were
    /// rounded; and a place's last key is told.
    fn check<W: Word>(least: u128, range: u128, places: usize) {
        let what = format!("{places} from {least} over {range}, {} bits", W::BITS);
        let [first, over] = [least, range].map(W::truncate);
        let placing = Placing::new(first, over, places);
        let steps = range.min(1000);
        let mut before = 0;
        for i in 0..=steps {
            // By whole steps and what they leave, since the product would be too large for a word.
            let distance = range / steps * i + range % steps * i / steps;
            let place = placing.of(W::truncate(least + distance));
            let even = distance as f64 / range as f64 * places as f64;
            assert!(
                before <= place && place < places && (even - 2.0..=even).contains(&(place as f64)),
                "{what}: {place} for {distance}"
            );
            before = place;
        }
        // Of some places that are followed by others.
        for place in (0..before).step_by(7).filter(|_| W::BITS >= 32) {
            let last = placing.last(place);
            let next = placing.of(last.wrapping_add(W::truncate(1)));
            assert!(
                placing.of(last) <= place && place < next,
                "{what}: {last:?} is the last of {place}"
            );
        }
    }

    #[test]
    fn keys_have_places_in_order() {
        fn width<W: Word>() {
            let most = W::MAX.widen();
            // From two keys to all that there are, at either end and between.
            for range in [
                1,
                2,
                3,
                100,
                most / 3,
                most / 2,
                most / 2 + 1,
                most - 1,
                most,
            ] {
                for least in [0, (most - range) / 2, most - range] {
                    for places in [1, 2, 64, 100, 1 << 12] {
                        check::<W>(least, range, places);
                    }
                }
            }
        }
        width::<u8>();
        width::<u16>();
        width::<u32>();
        width::<u64>();
        width::<u128>();
    }
}
