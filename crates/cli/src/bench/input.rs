//! Inputs, and whether an output is right.
//!
//! An input is one array of `copies` stretches of `n` keys each, every stretch drawn with a seed of
//! its own: a small sort is timed over about a million keys, so that neither the clock's resolution
//! nor a branch predictor that has learnt the one input by heart flatters anyone. The values of
//! a stretch are the positions 0, 1, 2 … in it, so they tell whether ties kept their order.

use rayon::prelude::*;
use sweepsort::{Nan, RadixKey};
use sweepsort_testkit::distribution::Unsuited;
use sweepsort_testkit::{
    Distribution, Fingerprint, Ordered, Sample, Wanted, check_index, fingerprint, first_disorder,
    generate,
};

/// How many keys one timing covers at least.
const KEYS_PER_TIMING: usize = 1 << 20;

/// How many keys one task of a check looks at.
const CHUNK: usize = 1 << 16;

/// A value type: what travels with a key.
pub trait Value: Copy + Default + Send + Sync + 'static {
    /// A position; there are no more than 2^32.
    fn of(position: usize) -> Self;
    /// The value as a number.
    fn number(self) -> u64;
}

macro_rules! values {
    ($($value:ty),*) => {$(
        impl Value for $value {
            fn of(position: usize) -> Self {
                position as $value
            }
            fn number(self) -> u64 {
                self as u64
            }
        }
    )*};
}
values!(u32, u64, u128);

/// A key with its value, as a peer sorts them.
#[derive(Clone, Copy, Debug)]
pub struct Pair<K, V> {
    /// What is compared.
    pub key: K,
    /// What travels along.
    pub value: V,
}

/// The keys of one timing, never written to again.
#[derive(Debug)]
pub struct Input<K> {
    /// All stretches, one after the other.
    pub keys: Vec<K>,
    /// How many keys a stretch has; at least 1.
    pub n: usize,
    /// Of each stretch.
    fingerprints: Vec<Fingerprint>,
}

impl<K: Sample> Input<K> {
    /// Draws the keys: as many stretches as make a million keys, but no more than `most`.
    ///
    /// # Errors
    /// A distribution that the type does not suit.
    pub fn new(
        distribution: Distribution,
        n: usize,
        seed: u64,
        most: usize,
    ) -> Result<Self, Unsuited> {
        let copies = (KEYS_PER_TIMING / n).clamp(1, most.max(1));
        let mut keys = generate::<K>(distribution, n, seed)?;
        keys.reserve_exact((copies - 1) * n);
        for copy in 1..copies {
            keys.extend(generate::<K>(distribution, n, seed + copy as u64)?);
        }
        Ok(Input {
            fingerprints: keys.chunks(n).map(fingerprint).collect(),
            keys,
            n,
        })
    }
}

impl<K: Ordered> Input<K> {
    /// How many sorts one timing covers.
    pub fn copies(&self) -> usize {
        self.fingerprints.len()
    }

    /// Every stretch of an output is in order and made of its input's keys.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check_keys(&self, output: &[K], wanted: &Wanted) -> Result<(), String> {
        for (stretch, expected) in output.chunks(self.n).zip(&self.fingerprints) {
            if let Some(i) = first_disorder(stretch, wanted) {
                return Err(disorder(i, stretch[i - 1], stretch[i]));
            }
            if fingerprint(stretch) != *expected {
                return Err("the keys are not those of the input".into());
            }
        }
        Ok(())
    }

    /// Every stretch of an output is in order and made of its input's pairs; ties are in input
    /// order if `stable`. `pair` gives the output's pairs, the values as numbers.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check_pairs(
        &self,
        pair: &(dyn Fn(usize) -> (K, u64) + Sync),
        stable: bool,
        wanted: &Wanted,
    ) -> Result<(), String> {
        for (copy, input) in self.keys.chunks(self.n).enumerate() {
            let start = copy * self.n;
            let wrong = (start + 1..start + self.n)
                .into_par_iter()
                .with_min_len(CHUNK)
                .find_first(|&i| {
                    let ((a, left), (b, right)) = (pair(i - 1), pair(i));
                    let order = wanted.compare(&a, &b);
                    order.is_gt() || stable && order.is_eq() && left >= right
                });
            if let Some(i) = wrong {
                return Err(disorder(i - start, pair(i - 1).0, pair(i).0));
            }
            let output = sum_of_pairs(self.n, &|i| pair(start + i));
            if output != sum_of_pairs(self.n, &|i| (input[i], i as u64)) {
                return Err("the pairs are not those of the input".into());
            }
        }
        Ok(())
    }

    /// Every stretch of an index is the stable order of its input's keys.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check_index(&self, output: &[u32]) -> Result<(), String> {
        self.keys
            .chunks(self.n)
            .zip(output.chunks(self.n))
            .try_for_each(|(keys, index)| check_index(keys, index, &Wanted::default()))
    }
}

/// The order by which the output of a sort is judged: total, or with −0.0 and +0.0 tied, as those
/// have it that compare floats as numbers. (Inputs have no NaNs.)
pub fn wanted(total: bool) -> Wanted {
    Wanted {
        nan: if total { Nan::Total } else { Nan::Last },
        ties: !total,
        ..Wanted::default()
    }
}

fn disorder<K: RadixKey + std::fmt::Debug>(i: usize, a: K, b: K) -> String {
    format!("{a:?} and {b:?} at {} and {i} are out of order", i - 1)
}

/// A number that stands for a multiset of pairs, as [`fingerprint`] does for keys.
fn sum_of_pairs<K: Ordered>(n: usize, pair: &(dyn Fn(usize) -> (K, u64) + Sync)) -> u64 {
    (0..n)
        .into_par_iter()
        .with_min_len(CHUNK)
        .map(|i| {
            let (key, value) = pair(i);
            let raw = key.raw();
            let high = mix(value ^ mix((raw >> 64) as u64));
            mix(high.wrapping_add(raw as u64))
        })
        .reduce(|| 0, u64::wrapping_add)
}

/// A bijection of 64 bits that spreads every bit over all of them (SplitMix64's).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_pairs_are_found() -> Result<(), Unsuited> {
        let n = 1000;
        let input = Input::<u16>::new(Distribution::FewDistinct, n, 7, usize::MAX)?;
        let mut pairs: Vec<(u16, u64)> = Vec::new();
        for stretch in input.keys.chunks(n) {
            let mut sorted: Vec<usize> = (0..n).collect();
            sorted.sort_by_key(|&i| stretch[i]);
            pairs.extend(sorted.iter().map(|&i| (stretch[i], i as u64)));
        }
        let check = |pairs: &[(u16, u64)], stable| {
            input
                .check_pairs(&|i| pairs[i], stable, &wanted(true))
                .is_ok()
        };
        assert!(check(&pairs, true) && check(&pairs, false));
        let with = |change: fn(&mut [(u16, u64)])| {
            let mut other = pairs.clone();
            change(&mut other);
            other
        };
        let swapped = with(|pairs| pairs.swap(1003, 1004));
        assert!(!check(&swapped, true) && check(&swapped, false));
        let foreign = with(|pairs| pairs[1000].1 ^= 1);
        assert!(!check(&foreign, true) && !check(&foreign, false));
        let disordered = with(|pairs| pairs.swap(0, 999));
        assert!(!check(&disordered, true) && !check(&disordered, false));
        Ok(())
    }

    #[test]
    fn wrong_keys_are_found() -> Result<(), Unsuited> {
        let input = Input::<f32>::new(Distribution::Uniform, 3, 1, usize::MAX)?;
        assert!(input.copies() > 1000);
        let mut output = input.keys.clone();
        output
            .chunks_mut(3)
            .for_each(|keys| keys.sort_by(f32::total_cmp));
        assert_eq!(input.check_keys(&output, &wanted(true)), Ok(()));
        output[5] = output[4];
        assert!(input.check_keys(&output, &wanted(true)).is_err());
        Ok(())
    }
}
