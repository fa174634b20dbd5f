//! Keys alone most of which have one of few values: these are counted, and only the others are moved.

use sweepsort_core::Word;

use crate::histogram::BUCKETS;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};

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
        const { assert!(STRIP.is_multiple_of(16)) };
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
                    for instructions in [
                        Instructions::Portable,
                        Instructions::Avx2,
                        Instructions::Avx512,
                    ] {
                        if instructions > Instructions::detect() {
                            continue;
                        }
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
