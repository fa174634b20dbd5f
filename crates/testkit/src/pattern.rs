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
    /// Stretches of one key each, of 2 to 4096 keys.
    Runs "runs",
    /// One stretch of random keys again and again, as long as a tile or group may be
    /// ([`GROUPS`](Self::GROUPS)), or a key more or less.
    Periodic "periodic",
    /// From key to key the top eight bits count on by 32.
    Strided "strided",
    /// Five different keys.
    FewDistinct "few-distinct",
    /// One half one key, the others any.
    HeavyKey "heavy-key",
    /// 96 keys in 100 agree in the top eight bits.
    Skewed "skewed",
    /// 96 keys in 100 agree in the low eight bits.
    SkewedLow "skewed-low",
    /// 96 keys in 100 have the top eight bits of a few buckets: 2 to the power of the seed modulo 9.
    HeavyBuckets "heavy-buckets",
    /// Groups that differ in the topmost bits, as many of them as it takes to tell the groups apart;
    /// as large as tiles and cells may be ([`GROUPS`](Self::GROUPS)), or a key more or less.
    Cells "cells",
    /// Groups that agree in the upper three quarters of their bits, as large as bins may be
    /// ([`BINS`](Self::BINS)), or a key more or less.
    Bins "bins",
    /// The top half of the bits constant.
    ConstantHigh "constant-high",
    /// The bits between the topmost and the lowest quarter constant.
    ConstantMiddle "constant-middle",
    /// The low half of the bits constant.
    ConstantLow "constant-low",
    /// Half of the keys agree in the first four bits, half of those in the next four as well, and
    /// so on: at every level of a sort from the top digit down, one bucket holds half.
    Nested "nested",
    /// Groups of keys that agree in the upper three quarters of their bits, as many groups as each
    /// has keys.
    Prefixes "prefixes",
    /// All keys agree but in the low eight bits, save that at each bit above these one key leaves the
    /// others: at every level of a sort from the top digit down, one bucket has nearly all.
    Funnel "funnel",
    /// All keys agree but in the top and the lowest bit.
    Ends "ends",
    /// All keys agree but in the lowest bit.
    LowestBit "lowest-bit",
    /// Numbers of any length, each length equally likely.
    Lengths "lengths",
    /// Numbers of any length, each length half as likely as the one before.
    Geometric "geometric",
    /// Numbers of up to some length less than all bits, but for one somewhere that has the top bit
    /// as well.
    Outlier "outlier",
    /// The same but for three: the first, the one in the middle, and the last.
    Outliers "outliers",
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Pattern {
    /// How many keys a tile, a cell or a block's shared memory may hold, and a counter of 15 or of 16
    /// bits may count.
    pub const GROUPS: [usize; 12] = [
        32, 1024, 2048, 4096, 4608, 8192, 9216, 16_384, 18_432, 32_768, 36_864, 65_536,
    ];

    /// How many keys of a bin may be compared with each other.
    pub const BINS: [usize; 6] = [2, 16, 32, 64, 128, 256];

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
        // Bits `number` at the top, or its highest bits where a key has fewer.
        let at_top = |number: u128, count: u32| match bits.checked_sub(count) {
            Some(below) => number << below,
            None => number >> (count - bits),
        };
        let top_bit = |is: bool| at_top(u128::from(is), 1);
        let below_top = low(bits.saturating_sub(8));
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
            Pattern::Runs => make(&|i| {
                let length = 2 << pick(i >> 12, 1, 12);
                any(i - i % length)
            }),
            Pattern::Periodic => {
                let period = Self::GROUPS[pick(0, 3, Self::GROUPS.len())] + pick(1, 3, 3) - 1;
                make(&|i| any(i % period))
            }
            Pattern::Strided => make(&|i| at_top(i as u128 % 8 * 32, 8) | any(i) & below_top),
            Pattern::FewDistinct => make(&|i| any(pick(i, 1, 5))),
            Pattern::HeavyKey => make(&|i| match pick(i, 1, 2) {
                0 => one,
                _ => any(i),
            }),
            Pattern::Skewed => make(&|i| match pick(i, 1, 100) {
                0..96 => one & !below_top | any(i) & below_top,
                _ => any(i),
            }),
            Pattern::HeavyBuckets => {
                let power = (seed % 9) as u32;
                make(&|i| match pick(i, 1, 100) {
                    0..96 => {
                        let bucket = (pick(i, 2, 1 << power) as u128) << (8 - power);
                        (one & !below_top ^ at_top(bucket, 8)) | any(i) & below_top
                    }
                    _ => any(i),
                })
            }
            Pattern::Cells => {
                let (group, at) = (groups(&Self::GROUPS), shuffle(n));
                make(&|i| {
                    let cell = (group(at(i)) as u16).reverse_bits();
                    at_top(cell.into(), 16) | any(i) & low(bits.saturating_sub(16))
                })
            }
            Pattern::Bins => {
                let (group, at) = (groups(&Self::BINS), shuffle(n));
                make(&|i| any(group(at(i))) & !low(bits / 4) | any(i) & low(bits / 4))
            }
            Pattern::SkewedLow => make(&|i| match pick(i, 1, 100) {
                0..96 => one & low(8) | any(i) & !low(8),
                _ => any(i),
            }),
            Pattern::ConstantHigh => make(&|i| one & !low(bits / 2) | any(i) & low(bits / 2)),
            Pattern::ConstantLow => make(&|i| one & low(bits / 2) | any(i) & !low(bits / 2)),
            Pattern::ConstantMiddle => {
                let middle = low(bits - bits / 4) & !low(bits / 4);
                make(&|i| one & middle | any(i) & !middle)
            }
            Pattern::Nested => make(&|i| {
                let level = random.draw(i as u64, 1).trailing_zeros();
                let free = low(bits.saturating_sub(4 * level));
                one & !free | any(i) & free
            }),
            Pattern::Prefixes => {
                let groups = n.isqrt().max(1);
                make(&|i| any(pick(i, 1, groups)) & !low(bits / 4) | any(i) & low(bits / 4))
            }
            Pattern::Funnel => {
                let at = shuffle(n);
                make(&|i| {
                    let leaves = 1u128.checked_shl(8 + at(i).min(128) as u32).unwrap_or(0);
                    (one ^ leaves) & !low(8) | any(i) & low(8)
                })
            }
            Pattern::Ends => {
                let ends = 1 | 1u128.checked_shl(bits.saturating_sub(1)).unwrap_or(0);
                make(&|i| one & !ends | any(i) & ends)
            }
            Pattern::LowestBit => make(&|i| one ^ pick(i, 1, 2) as u128),
            Pattern::Lengths => make(&|i| any(i) & low(pick(i, 1, bits as usize + 1) as u32)),
            Pattern::Geometric => {
                make(&|i| any(i) & low(1 + random.draw(i as u64, 1).trailing_zeros()))
            }
            Pattern::Outlier | Pattern::Outliers => {
                let most = low(pick(0, 3, bits as usize) as u32);
                let three = [0, n / 2, n.saturating_sub(1)];
                let apart = match self {
                    Pattern::Outlier => [pick(1, 3, n); 3],
                    _ => three,
                };
                make(&|i| any(i) & most | top_bit(apart.contains(&i)))
            }
        }
    }
}

/// The number of the group that a key of a given number is in. Groups have as many keys as `sizes` say,
/// and one less and one more, again and again.
fn groups(sizes: &[usize]) -> impl Fn(usize) -> usize {
    let ends: Vec<usize> = sizes
        .iter()
        .flat_map(|&size| [size - 1, size, size + 1])
        .scan(0, |end, size| {
            *end += size;
            Some(*end)
        })
        .collect();
    let all = ends.last().copied().unwrap_or(1);
    move |key| {
        let within = ends.partition_point(|&end| end <= key % all);
        key / all * ends.len() + within
    }
}

/// A permutation of the numbers below `n` that leaves no two neighbours together.
fn shuffle(n: usize) -> impl Fn(usize) -> usize {
    // It divides no `n` below it.
    const PRIME: u128 = 2_654_435_761;
    move |i| (i as u128 * PRIME % n as u128) as usize
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

    /// How many keys there are of each kind.
    fn counts<T: Ord>(kinds: impl Iterator<Item = T>) -> std::collections::BTreeMap<T, usize> {
        let mut counts = std::collections::BTreeMap::new();
        kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
        counts
    }

    /// The sizes of groups, ascending.
    fn around(sizes: &[usize]) -> Vec<usize> {
        sizes.iter().flat_map(|&at| [at - 1, at, at + 1]).collect()
    }

    fn keys(pattern: Pattern, n: usize, seed: u64) -> Vec<u32> {
        pattern.keys(n, seed, &Wanted::default())
    }

    #[test]
    fn neighbours_are_alike_or_repeat() {
        let n = 1 << 17;
        let runs = keys(Pattern::Runs, 1 << 19, 1);
        let lengths = counts(runs.chunk_by(|a, b| a == b).map(<[u32]>::len));
        assert!(
            (1..=12).all(|power| lengths.contains_key(&(1 << power))),
            "{lengths:?}"
        );
        assert_eq!(lengths.len(), 12);

        for seed in 0..30 {
            let periodic = keys(Pattern::Periodic, n, seed);
            let repeats = |period: &usize| periodic[*period..] == periodic[..n - period];
            let period = around(&Pattern::GROUPS).into_iter().find(repeats);
            let period = period.expect("no period");
            assert!(counts(periodic.iter()).len() > period - period / 1000);
        }

        let strided = keys(Pattern::Strided, n, 1);
        for pair in strided.windows(2) {
            assert_eq!((pair[1] >> 24).wrapping_sub(pair[0] >> 24) & 0xff, 32);
        }
        assert!(counts(strided.iter()).len() > n - 100);
    }

    #[test]
    fn few_have_most() {
        let n = 1 << 17;
        let by_key = counts(keys(Pattern::HeavyKey, n, 1).into_iter());
        let most = by_key.values().max().unwrap();
        assert!((n / 2).abs_diff(*most) < n / 50);
        assert!(by_key.len() + most > n - 100, "the others differ");

        for power in 0..9 {
            let buckets = counts(
                keys(Pattern::HeavyBuckets, n, 9 + power)
                    .into_iter()
                    .map(|key| key >> 24),
            );
            let heavy = buckets.values().filter(|&&count| count > n / (2 << power));
            assert_eq!(heavy.count(), 1 << power);
        }

        let geometric = keys(Pattern::Geometric, n, 1);
        for below in [1, 3, 7] {
            let share = geometric.iter().filter(|&&key| key >> below == 0).count();
            assert!(share > n - (n >> below), "{share} keys of {below} bits");
        }
        assert!(geometric.iter().any(|key| key >> 10 != 0));
    }

    #[test]
    fn groups_have_the_sizes_of_limits() {
        let sizes = around(&Pattern::GROUPS);
        let n = sizes.iter().sum();
        // Few bits tell the groups apart, and as many as a sort may take at once.
        for bits in [6, 8, 10, 16] {
            let cells = counts(
                keys(Pattern::Cells, n, 1)
                    .into_iter()
                    .map(|key| key >> (32 - bits)),
            );
            let mut found: Vec<usize> = cells.into_values().collect();
            found.sort_unstable();
            assert_eq!(found, sizes, "{bits} bits");
        }

        let sizes = around(&Pattern::BINS);
        let n = 10 * sizes.iter().sum::<usize>();
        let bins = counts(keys(Pattern::Bins, n, 1).into_iter().map(|key| key >> 8));
        assert_eq!(bins.len(), 10 * sizes.len());
        assert!(bins.values().all(|count| sizes.contains(count)));
    }

    #[test]
    fn one_bucket_has_nearly_all() {
        let n = 1 << 14;
        let varying = |keys: &[u32]| keys.iter().fold(0, |bits, key| bits | key ^ keys[0]);
        assert_eq!(varying(&keys(Pattern::LowestBit, n, 1)), 1);
        assert_eq!(varying(&keys(Pattern::ConstantMiddle, n, 1)), 0xff00_00ff);

        let funnel = keys(Pattern::Funnel, n, 1);
        let prefixes = counts(funnel.iter().map(|key| key >> 8));
        let (most, count) = prefixes.iter().max_by_key(|(_, count)| *count).unwrap();
        assert_eq!(*count, n - 24);
        for bit in 0..24 {
            assert_eq!(prefixes.get(&(most ^ 1 << bit)), Some(&1), "bit {bit}");
        }

        for seed in 0..20 {
            let top = |key: &u32| key >> 31 == 1;
            let places = |pattern| -> Vec<usize> {
                let keys = keys(pattern, n, seed);
                let below = keys.iter().filter(|key| !top(key)).max().unwrap();
                let length = 32 - below.leading_zeros();
                assert!(keys.iter().all(|key| key << 1 >> 1 >> length == 0));
                (0..n).filter(|&i| top(&keys[i])).collect()
            };
            assert_eq!(places(Pattern::Outlier).len(), 1);
            assert_eq!(places(Pattern::Outliers), [0, n / 2, n - 1]);
        }
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
