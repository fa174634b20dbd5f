//! Keys alone most of which have one of few values: these are counted, and only the others are moved.

use sweepsort_core::Word;

use crate::histogram::{BUCKETS, Counters};
use crate::instructions::Instructions;
use crate::lanes::{LANES_MAX, Lanes, Vectored, by_vectors};

/// Some of the buckets.
#[derive(Clone, Debug, Default)]
pub(crate) struct BucketSet([u64; BUCKETS / 64]);

impl BucketSet {
    /// The buckets for which this is so.
    pub(crate) fn new(is: impl Fn(usize) -> bool) -> Self {
        let mut set = Self::default();
        for bucket in (0..BUCKETS).filter(|&bucket| is(bucket)) {
            set.0[bucket / 64] |= 1 << (bucket % 64);
        }
        set
    }

    /// Whether a bucket is among them.
    #[inline(always)]
    pub(crate) fn has(&self, bucket: usize) -> bool {
        self.0[bucket / 64 % self.0.len()] >> (bucket % 64) & 1 == 1
    }
}

/// Slots of [`Common`].
const SLOTS: usize = 32;

/// The slot of a code: the five highest of 32 bits of a product, of a code whose halves have been folded.
#[inline(always)]
pub(crate) fn slot<W: Word>(code: W, factor: u32) -> usize {
    let folded = match W::BITS {
        64.. => code ^ (code >> 32),
        _ => code,
    };
    ((folded.low_usize() as u32).wrapping_mul(factor) >> 27) as usize
}

/// Some frequent values of keys, in slots of their own: whether a code is one of them is known by
/// one look, before any bucket is searched for.
#[derive(Clone, Debug)]
pub(crate) struct Common<W> {
    /// A value each. Where no value belongs there is one that belongs to another slot, so that no
    /// code is found.
    values: [W; SLOTS],
    /// The bucket of each.
    buckets: [u16; SLOTS],
    factor: u32,
}

impl<W: Word> Common<W> {
    /// Of values and their buckets. Nothing if there are none, or they find no slots of their own.
    pub(crate) fn new(values: &[(W, u16)]) -> Option<Self> {
        /// Factors to be tried. Of 16 values every eightieth serves.
        const TRIES: u32 = 500;
        let apart = |&factor: &u32| {
            let slots = values.iter().map(|&(value, _)| 1u32 << slot(value, factor));
            slots.fold(0, |all, slot| all | slot).count_ones() as usize == values.len()
        };
        let &(first, bucket) = values.first()?;
        let factor = (1..=TRIES)
            .map(|i| i.wrapping_mul(0x9e37_79b9) | 1)
            .find(apart)?;
        let mut common = Common {
            values: [first; SLOTS],
            buckets: [bucket; SLOTS],
            factor,
        };
        for &(value, bucket) in values {
            common.values[slot(value, factor)] = value;
            common.buckets[slot(value, factor)] = bucket;
        }
        Some(common)
    }

    /// Buckets, and how many codes of each were found, by the counters of slots.
    pub(crate) fn counts(&self, found: &Counters) -> impl Iterator<Item = (u16, usize)> {
        self.buckets.into_iter().zip(found.sums())
    }

    /// Counts those of `n` codes that are common, by their slots, and brings the others to the
    /// front. Returns how many they are.
    ///
    /// # Safety
    /// The machine has the lanes' instructions, for words as wide. There is room for `STRIP` codes,
    /// and `n` of them are there.
    #[inline(always)]
    pub(crate) unsafe fn take<L: Lanes, const STRIP: usize>(
        &self,
        codes: *mut L::Word,
        n: usize,
        found: &mut Counters,
    ) -> usize {
        const { assert!(STRIP.is_multiple_of(LANES_MAX)) };
        let mut slots = [0u16; STRIP];
        let (mut all, mut left) = (0, 0);
        // SAFETY: the caller's promise; what is overwritten has been read.
        unsafe {
            for at in (0..n).step_by(L::LANES) {
                let there = u32::MAX >> (32 - (n - at).min(L::LANES));
                let code = L::load(codes.add(at));
                let slot = L::slots(code, self.factor);
                let same = L::same(code, L::look_up(self.values.as_ptr().cast(), slot)) & there;
                let others = there & !same;
                L::store_16(slots.as_mut_ptr().add(all), L::compress(slot, same));
                L::store(codes.add(left), L::compress(code, others));
                all += same.count_ones() as usize;
                left += others.count_ones() as usize;
            }
        }
        found.count(&slots[..all]);
        left
    }
}

/// Keys of a strip, and the buckets that they go to.
pub(crate) struct Sift<'a, W, const STRIP: usize> {
    /// The buckets whose keys are to be moved.
    pub(crate) moved: &'a BucketSet,
    pub(crate) codes: &'a mut [W; STRIP],
    pub(crate) buckets: &'a mut [u16; STRIP],
    /// How many there are.
    pub(crate) n: usize,
}

impl<W: Word, const STRIP: usize> Sift<'_, W, STRIP> {
    /// Brings those to be moved to the front. Returns how many they are.
    ///
    /// # Safety
    /// The machine has the instructions.
    pub(crate) unsafe fn sift(self, instructions: Instructions) -> usize {
        // SAFETY: the caller's promise.
        unsafe { by_vectors::<W, _>(instructions, self) }.unwrap_or_else(|sift| sift.by_scalars())
    }

    fn by_scalars(self) -> usize {
        let mut left = 0;
        for i in 0..self.n {
            let bucket = self.buckets[i];
            self.codes[left] = self.codes[i];
            self.buckets[left] = bucket;
            left += usize::from(self.moved.has(bucket.into()));
        }
        left
    }
}

impl<W: Word, const STRIP: usize> Vectored for Sift<'_, W, STRIP> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> usize {
        const { assert!(STRIP.is_multiple_of(LANES_MAX)) };
        let codes: *mut L::Word = self.codes.as_mut_ptr().cast();
        let buckets = self.buckets.as_mut_ptr();
        let mut left = 0;
        for at in (0..self.n).step_by(L::LANES) {
            let there = u32::MAX >> (32 - (self.n - at).min(L::LANES));
            // SAFETY: a strip is whole vectors, and what is overwritten has been read.
            unsafe {
                let (code, bucket) = (L::load(codes.add(at)), L::load_16(buckets.add(at)));
                let lanes = L::among(&self.moved.0, bucket) & there;
                L::store(codes.add(left), L::compress(code, lanes));
                L::store_16(buckets.add(left), L::compress(bucket, lanes));
                left += lanes.count_ones() as usize;
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Take<'a, W>(&'a Common<W>, &'a mut [W; 256], usize, &'a mut Counters);

    impl<W: Word> Vectored for Take<'_, W> {
        type Output = usize;

        unsafe fn run<L: Lanes>(self) -> usize {
            // SAFETY: the caller's promise; there are 256 codes.
            unsafe {
                self.0
                    .take::<L, 256>(self.1.as_mut_ptr().cast(), self.2, self.3)
            }
        }
    }

    /// Those of common values are counted by bucket, and all others are left, in order.
    #[test]
    fn common_values_are_taken() {
        fn width<W: Word>() {
            let spread = |i: usize| W::truncate((i as u128 + 1) * 0x9e37_79b9_7f4a_7c15);
            for many in [1, 2, 15, 16] {
                let values: Vec<_> = (0..many).map(|i| (spread(i), 3 * i as u16)).collect();
                if W::BITS == 64 && many > 2 {
                    // Its halves the other way round: there are no two slots for both.
                    let turned = (values[0].0 << 32) | (values[0].0 >> 32);
                    let both = [values[0], (turned, 7)];
                    assert!(Common::new(&both).is_none());
                }
                let common = Common::new(&values).unwrap();
                for instructions in [Instructions::Avx2, Instructions::Avx512] {
                    for n in (0..40).chain([255, 256]) {
                        if instructions > Instructions::detect() {
                            continue;
                        }
                        let mut codes: [W; 256] = std::array::from_fn(|i| match i % 3 {
                            0 => spread(i + 100),
                            _ => values[i * 7 % many].0,
                        });
                        let all = codes[..n].to_vec();
                        let of = |code: &W| values.iter().find(|(value, _)| value == code);
                        let others: Vec<W> =
                            all.iter().copied().filter(|c| of(c).is_none()).collect();
                        let mut found = Counters::new();
                        let take = Take(&common, &mut codes, n, &mut found);
                        // SAFETY: the machine has the instructions.
                        let left = unsafe { by_vectors::<W, _>(instructions, take) }
                            .ok()
                            .unwrap();
                        assert_eq!(
                            codes[..left],
                            others,
                            "{many} values, {n}, {instructions:?}"
                        );
                        for &(value, bucket) in &values {
                            let expected = all.iter().filter(|&&code| code == value).count();
                            let counts = common.counts(&found).filter(|&(of, _)| of == bucket);
                            assert_eq!(counts.map(|(_, count)| count).sum::<usize>(), expected);
                        }
                    }
                }
            }
        }
        assert!(Common::<u32>::new(&[]).is_none());
        width::<u32>();
        width::<u64>();
    }

    /// Whatever the machine has, those of some buckets come to the front, in order.
    #[test]
    fn those_to_be_moved_are_left() {
        fn width<W: Word>() {
            let moved = [
                BucketSet::new(|_| false),
                BucketSet::new(|_| true),
                BucketSet::new(|bucket| bucket % 3 == 1),
                BucketSet::new(|bucket| (60..70).contains(&bucket) || bucket >= 255),
                BucketSet::new(|bucket| bucket & (bucket >> 5) & 1 == 0),
            ];
            let code = |i: usize| W::truncate(0x0123_4567_89ab_cdef_fedc * (i as u128 + 1));
            for (number, moved) in moved.iter().enumerate() {
                for n in (0..40).chain([255, 256]) {
                    for instructions in Instructions::all() {
                        let mut codes: [W; 256] = std::array::from_fn(code);
                        let mut buckets: [u16; 256] =
                            std::array::from_fn(|i| (i * 167 % 256) as u16);
                        let expected: Vec<_> = (0..n)
                            .filter(|&i| moved.has(buckets[i].into()))
                            .map(|i| (codes[i], buckets[i]))
                            .collect();
                        let sift = Sift {
                            moved,
                            codes: &mut codes,
                            buckets: &mut buckets,
                            n,
                        };
                        // SAFETY: the machine has the instructions.
                        let left = unsafe { sift.sift(instructions) };
                        let found: Vec<_> = codes.into_iter().zip(buckets).take(left).collect();
                        assert_eq!(found, expected, "set {number}, {n}, {instructions:?}");
                    }
                }
            }
        }
        width::<u32>();
        width::<u64>();
        width::<u16>();
    }
}
