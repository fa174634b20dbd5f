//! The inputs that sorts are known to stumble over.
//!
//! A pattern is made of places in the natural order ([`Ordered::position`]), which are the bits
//! that a radix sort takes its digits from; so every pattern exists for every key type, NaNs, both
//! zeros and infinities among the floats included.

use std::fmt;

use sweepsort_core::Word;

use crate::order::{Ordered, Wanted};
use crate::random::Random;

macro_rules! patterns {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal),* $(,)?) => {
        /// An arrangement of keys.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Pattern {
            $($(#[doc = $doc])+ $variant),*
        }

        impl Pattern {
            /// Every pattern.
            pub const ALL: &[Pattern] = &[$(Pattern::$variant),*];

            /// The pattern's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Pattern::$variant => $name),*
                }
            }
        }
    };
}
patterns! {
    /// Any key, each equally likely.
    Random "random",
    /// One half special keys: the smallest and largest, those around zero; of floats both zeros,
    /// subnormals, infinities, NaNs of both signs, quiet and signalling, with several payloads.
    Special "special",
    /// One key, n times.
    Equal "equal",
    /// Keys that differ in one bit alone.
    OneBit "one-bit",
    /// One key, n times, but for one bit of one key somewhere.
    OneKey "one-key",
    /// In the wanted order.
    Sorted "sorted",
    /// In the wanted order, but for the last key, which belongs first.
    SortedButLast "sorted-but-last",
    /// In the wanted order, but for two keys swapped in the middle.
    SortedButTwo "sorted-but-two",
    /// Against the wanted order.
    Reversed "reversed",
    /// Against the wanted order, each key three times: reversing such an array is not stable.
    ReversedTies "reversed-ties",
    /// Against the wanted order, but for the last key.
    ReversedButLast "reversed-but-last",
    /// Ascending, then descending.
    OrganPipe "organ-pipe",
    /// Ascending stretches of 1000 keys.
    SawTooth "saw-tooth",
    /// Five different keys.
    FewDistinct "few-distinct",
    /// 96 keys in 100 agree in the top eight bits.
    Skewed "skewed",
    /// 96 keys in 100 agree in the low eight bits.
    SkewedLow "skewed-low",
    /// The top half of the bits constant.
    ConstantHigh "constant-high",
    /// The low half of the bits constant.
    ConstantLow "constant-low",
    /// Half of the keys agree in the first four bits, half of those in the next four as well, and
    /// so on: at every level of a sort from the top digit down, one bucket holds half.
    Nested "nested",
    /// Groups of keys that agree in the upper three quarters of their bits, as many groups as each
    /// has keys.
    Prefixes "prefixes",
    /// All keys agree but in the top and the lowest bit.
    Ends "ends",
    /// Numbers of any length, each length equally likely.
    Lengths "lengths",
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Pattern {
    /// `n` keys of up to 128 bits in this pattern.
    pub fn keys<K: Ordered>(self, n: usize, seed: u64, wanted: &Wanted) -> Vec<K> {
        let random = Random::new(seed);
        let bits = K::BITS.min(128);
        let all = u128::mask(&(0..bits));
        let low = |count: u32| u128::mask(&(0..count.min(bits)));
        let pick = |i: usize, draw: u64, below: usize| {
            (random.draw(i as u64, draw) % below.max(1) as u64) as usize
        };
        let any = |i: usize| random.wide(i as u64, 0) & all;
        let one = any(usize::MAX);
        let make = |place: &dyn Fn(usize) -> u128| -> Vec<K> {
            (0..n).map(|i| K::at_position(place(i) & all)).collect()
        };
        let in_order = |mut keys: Vec<K>| {
            keys.sort_by_cached_key(|key| wanted.rank_of(key));
            keys
        };
        let against = |keys: Vec<K>| {
            let mut keys = in_order(keys);
            keys.reverse();
            keys
        };
        match self {
            Pattern::Random => make(&any),
            Pattern::Special => {
                let special = special_places::<K>();
                make(&|i| match pick(i, 1, 2) {
                    0 => any(i),
                    _ => special[pick(i, 2, special.len())],
                })
            }
            Pattern::Equal => make(&|_| one),
            Pattern::OneBit => {
                let bit = pick(0, 3, bits as usize);
                make(&|i| one ^ (pick(i, 1, 2) as u128) << bit)
            }
            Pattern::OneKey => {
                let (at, bit) = (pick(0, 3, n), pick(1, 3, bits as usize));
                make(&|i| one ^ u128::from(i == at) << bit)
            }
            Pattern::Sorted => in_order(make(&any)),
            Pattern::SortedButLast => {
                let mut keys = in_order(make(&any));
                keys.rotate_left(n.min(1));
                keys
            }
            Pattern::SortedButTwo => {
                let mut keys = in_order(make(&any));
                if n >= 2 {
                    keys.swap(n / 2 - 1, n / 2);
                }
                keys
            }
            Pattern::Reversed => against(make(&any)),
            Pattern::ReversedTies => against(make(&|i| any(i / 3))),
            Pattern::ReversedButLast => {
                let mut keys = against(make(&any));
                keys.rotate_right(n.min(1));
                keys
            }
            Pattern::OrganPipe => {
                let mut keys = in_order(make(&any));
                keys[n / 2..].reverse();
                keys
            }
            Pattern::SawTooth => make(&|i| (i % 1000) as u128 * (all / 1000).max(1)),
            Pattern::FewDistinct => make(&|i| any(pick(i, 1, 5))),
            Pattern::Skewed => make(&|i| match pick(i, 1, 100) {
                0..96 => one & !low(bits.saturating_sub(8)) | any(i) & low(bits.saturating_sub(8)),
                _ => any(i),
            }),
            Pattern::SkewedLow => make(&|i| match pick(i, 1, 100) {
                0..96 => one & low(8) | any(i) & !low(8),
                _ => any(i),
            }),
            Pattern::ConstantHigh => make(&|i| one & !low(bits / 2) | any(i) & low(bits / 2)),
            Pattern::ConstantLow => make(&|i| one & low(bits / 2) | any(i) & !low(bits / 2)),
            Pattern::Nested => make(&|i| {
                let level = random.draw(i as u64, 1).trailing_zeros();
                let free = low(bits.saturating_sub(4 * level));
                one & !free | any(i) & free
            }),
            Pattern::Prefixes => {
                let groups = n.isqrt().max(1);
                make(&|i| any(pick(i, 1, groups)) & !low(bits / 4) | any(i) & low(bits / 4))
            }
            Pattern::Ends => {
                let ends = 1 | 1u128.checked_shl(bits.saturating_sub(1)).unwrap_or(0);
                make(&|i| one & !ends | any(i) & ends)
            }
            Pattern::Lengths => make(&|i| any(i) & low(pick(i, 1, bits as usize + 1) as u32)),
        }
    }
}

/// The places of keys that stand at an edge.
fn special_places<K: Ordered>() -> Vec<u128> {
    let bits = K::BITS.min(128);
    let last = u128::mask(&(0..bits));
    let zero = last / 2 + 1;
    let mut places = vec![
        0,
        1,
        zero.max(2) - 2,
        zero - 1,
        zero,
        zero + 1,
        last - 1,
        last,
    ];
    if K::NANS > 0 {
        let nans = K::NANS;
        // From the top end: −NaN…, −∞; from zero: subnormals, the smallest normal number; to the
        // bottom end: ∞, NaN….
        places.extend([nans / 2, nans / 2 + 1, nans - 1, nans, nans + 1]);
        places.extend([
            zero - 2 - nans,
            zero - 1 - nans,
            zero + nans,
            zero + nans + 1,
        ]);
        places.extend([nans / 2, nans / 2 + 1, nans - 1, nans, nans + 1].map(|place| last - place));
    }
    places.iter().map(|place| place & last).collect()
}

/// The sizes at which sorts are known to stumble, ascending: 0, 1, 2, 3, each 2^k−1, 2^k and 2^k+1
/// up to `k = largest_power`, odd primes between them, and each of `tiles` with its neighbours.
///
/// ```
/// assert_eq!(sweepsort_testkit::sizes(3, &[20]), [0, 1, 2, 3, 4, 5, 7, 8, 9, 19, 20, 21]);
/// ```
pub fn sizes(largest_power: u32, tiles: &[usize]) -> Vec<usize> {
    const PRIMES: [usize; 12] = [
        11, 101, 499, 997, 1511, 3001, 6151, 12_289, 49_157, 196_613, 786_433, 3_145_739,
    ];
    let largest = (1 << largest_power) + 1;
    let mut sizes = vec![0, 1, 2, 3];
    sizes.extend((2..=largest_power).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]));
    sizes.extend(
        tiles
            .iter()
            .flat_map(|&tile| [tile.max(1) - 1, tile, tile + 1]),
    );
    sizes.extend(PRIMES.into_iter().filter(|&prime| prime <= largest));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{first_disorder, same_multiset};
    use crate::oracle;

    #[test]
    fn patterns_are_what_they_say() {
        let (n, wanted) = (1 << 14, Wanted::default());
        let keys = |pattern: Pattern| -> Vec<u32> { pattern.keys(n, 9, &wanted) };
        let varying = |keys: &[u32]| keys.iter().fold(0, |bits, key| bits | key ^ keys[0]);
        let distinct = |keys: &[u32]| {
            let mut keys = keys.to_vec();
            keys.sort_unstable();
            keys.dedup();
            keys.len()
        };
        assert_eq!(distinct(&keys(Pattern::Equal)), 1);
        assert_eq!(varying(&keys(Pattern::OneBit)).count_ones(), 1);
        let one_key = keys(Pattern::OneKey);
        assert_eq!((distinct(&one_key), varying(&one_key).count_ones()), (2, 1));
        assert_eq!(first_disorder(&keys(Pattern::Sorted), &wanted), None);
        assert_eq!(
            first_disorder(&keys(Pattern::SortedButLast), &wanted),
            Some(n - 1)
        );
        assert_eq!(
            first_disorder(&keys(Pattern::SortedButTwo), &wanted),
            Some(n / 2)
        );
        let reversed = keys(Pattern::Reversed);
        assert!(reversed.windows(2).all(|pair| pair[0] >= pair[1]));
        assert_eq!(distinct(&keys(Pattern::ReversedTies)), n.div_ceil(3));
        let but_last = keys(Pattern::ReversedButLast);
        assert!(but_last[1..].windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(but_last[0] < but_last[1]);
        assert_eq!(distinct(&keys(Pattern::FewDistinct)), 5);
        for (pattern, shift) in [(Pattern::Skewed, 24), (Pattern::SkewedLow, 0)] {
            let mut buckets = [0; 256];
            for key in keys(pattern) {
                buckets[(key >> shift) as usize & 255] += 1;
            }
            let share = f64::from(*buckets.iter().max().unwrap()) / n as f64;
            assert!((0.95..0.97).contains(&share), "{pattern} {share}");
        }
        assert_eq!(varying(&keys(Pattern::ConstantHigh)), 0xffff);
        assert_eq!(varying(&keys(Pattern::ConstantLow)), 0xffff_0000);
        assert_eq!(varying(&keys(Pattern::Ends)), 0x8000_0001);
        let nested = keys(Pattern::Nested);
        let one = nested.iter().filter(|&key| {
            nested
                .iter()
                .take(200)
                .filter(|other| *other >> 24 == key >> 24)
                .count()
                > 20
        });
        assert!(
            one.count() > n / 6,
            "a quarter agrees in the top eight bits"
        );
    }

    /// Every special float is in the pattern: both zeros, infinities, NaNs of both signs.
    #[test]
    fn special_floats_are_there() {
        let keys: Vec<f64> = Pattern::Special.keys(2000, 1, &Wanted::default());
        for bits in [
            0.0f64.to_bits(),
            (-0.0f64).to_bits(),
            f64::INFINITY.to_bits(),
            f64::NEG_INFINITY.to_bits(),
            f64::MAX.to_bits(),
            f64::MIN.to_bits(),
            f64::MIN_POSITIVE.to_bits(),
            1,
            1 << 63 | 1,
            0x000f_ffff_ffff_ffff,
            0x7ff0_0000_0000_0001,
            0x7ff8_0000_0000_0000,
            0xfff0_0000_0000_0001,
            0xfff8_0000_0000_0000,
            u64::MAX,
            u64::MAX >> 1,
        ] {
            assert!(keys.iter().any(|key| key.to_bits() == bits), "{bits:#x}");
        }
    }

    /// Patterns exist at every size, and of every type narrow or wide.
    #[test]
    fn patterns_have_any_size() {
        for &pattern in Pattern::ALL {
            for n in [0, 1, 2, 3, 5, 1001] {
                let wanted = Wanted::default();
                assert_eq!(pattern.keys::<bool>(n, 1, &wanted).len(), n, "{pattern}");
                let keys = pattern.keys::<i128>(n, 1, &wanted);
                assert!(
                    same_multiset(&keys, &oracle::sorted(&keys, &wanted)),
                    "{pattern}"
                );
            }
        }
    }
}
