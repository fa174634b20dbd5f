//! Random keys, reproducible: key `i` is a function of distribution, type, `n`, seed and `i`.
//!
//! Three notions of a key serve the distributions:
//!
//! * its *bits in memory* (`uniform`, `and2` … `and5`, `few-distinct`, `equal`). Of floats, the
//!   NaNs and infinities are moved among the finite numbers by clearing the exponent's lowest bit;
//!   so `uniform` gives any finite number, of either sign, each bit pattern equally likely but for
//!   those with the greatest exponent, which are twice as likely.
//! * its *place* in the natural order (`sorted`, `reverse`, `nearly-sorted`, `organ-pipe`): the
//!   places from the first finite key to the last are cut into as many equal stretches as there
//!   are keys, and each key is drawn from its stretch. With more keys than the type has values,
//!   neighbours are equal.
//! * a *number* from 0 up (`normal`, `zipf`, `small`, `timestamps`), as the type has it: integers
//!   drop what is behind the point and stop at their maximum, floats round to nearest and stop at
//!   their largest finite number; `[u8; N]` takes the number big-endian, `bool` whether it is odd.
//!
//! Where a type is too narrow for a distribution's parameter, the parameter shrinks: `normal`'s `n`
//! to a quarter of the largest number, `zipf`'s 24 to the bits of the largest number.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use half::{bf16, f16};

use crate::order::Ordered;
use crate::parallel;
use crate::random::Random;

macro_rules! distributions {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal),* $(,)?) => {
        /// How keys are spread. `u` is uniform in [0, 1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Distribution {
            $($(#[doc = $doc])+ $variant),*
        }

        impl Distribution {
            /// Every distribution, in the order in which the tool lists them.
            pub const ALL: &[Distribution] = &[$(Distribution::$variant),*];

            /// The distribution's name, as the tool spells it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Distribution::$variant => $name),*
                }
            }

            /// What the distribution is, in a line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Distribution::$variant => concat!($($doc),+).trim_ascii()),*
                }
            }
        }
    };
}
distributions! {
    /// every key equally likely
    Uniform "uniform",
    /// bitwise AND of 2 uniform keys
    And2 "and2",
    /// bitwise AND of 3 uniform keys
    And3 "and3",
    /// bitwise AND of 4 uniform keys
    And4 "and4",
    /// bitwise AND of 5 uniform keys
    And5 "and5",
    /// |n·N(0,1)|: normal numbers, as many apart as there are keys, without their sign
    Normal "normal",
    /// ascending, spread over the whole type
    Sorted "sorted",
    /// descending, spread over the whole type
    Reverse "reverse",
    /// one key, n times
    Equal "equal",
    /// ⌊2^(24u)⌋: small numbers often, large ones seldom
    Zipf "zipf",
    /// uniform with the top half of the bits zero
    Small "small",
    /// 1.7e18 plus 40 random bits: nanoseconds of some eighteen minutes; 64-bit keys only
    Timestamps "timestamps",
    /// sorted, but 1 key in 1000 swapped with one far away
    NearlySorted "nearly-sorted",
    /// ascending to the middle, then descending
    OrganPipe "organ-pipe",
    /// 16 different keys, at random
    FewDistinct "few-distinct",
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|distribution| distribution.name() == name)
            .ok_or_else(|| {
                let names: Vec<_> = Self::ALL.iter().map(|d| d.name()).collect();
                format!("'{name}' is none of {}", names.join(", "))
            })
    }
}

/// A distribution asked for with a type that it does not suit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsuited {
    /// The distribution.
    pub distribution: Distribution,
    /// How many bits the type has.
    pub bits: u32,
}

impl fmt::Display for Unsuited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "distribution {} is for 64-bit keys, and these have {}; take u64, i64 or f64, or \
             another distribution",
            self.distribution, self.bits
        )
    }
}

impl std::error::Error for Unsuited {}

/// A key type that random keys can be made of.
pub trait Sample: Ordered {
    /// How many bits the largest number has that the type takes.
    const NUMBER_BITS: u32;

    /// The finite key with these bits in memory: the low ones of `bits`.
    fn from_bits_in_memory(bits: u128) -> Self;

    /// The key for a whole number.
    fn from_number(number: u128) -> Self;

    /// The key for a number from 0 up.
    fn from_real(number: f64) -> Self {
        Self::from_number(number as u128)
    }

    /// The positions of the first and the last finite key.
    fn finite_positions() -> (u128, u128) {
        let all = u128::MAX >> 128u32.saturating_sub(Self::BITS).min(127);
        // The negative and positive NaNs and infinities.
        let outside = if Self::NANS == 0 { 0 } else { Self::NANS + 1 };
        (outside, all - outside)
    }
}

macro_rules! integers {
    ($($key:ty, $bits:expr;)*) => {$(
        impl Sample for $key {
            const NUMBER_BITS: u32 = $bits;

            #[inline(always)]
            fn from_bits_in_memory(bits: u128) -> Self {
                bits as $key
            }
            #[inline(always)]
            fn from_number(number: u128) -> Self {
                <$key>::try_from(number).unwrap_or(<$key>::MAX)
            }
        }
    )*};
}
integers! {
    u8, 8;
    u16, 16;
    u32, 32;
    u64, 64;
    u128, 128;
    usize, usize::BITS;
    i8, 7;
    i16, 15;
    i32, 31;
    i64, 63;
    i128, 127;
    isize, usize::BITS - 1;
}

macro_rules! floats {
    ($($key:ty, $word:ty, $infinity:expr, $number_bits:expr, $from:expr;)*) => {$(
        impl Sample for $key {
            const NUMBER_BITS: u32 = $number_bits;

            #[inline(always)]
            fn from_bits_in_memory(bits: u128) -> Self {
                const INFINITY: $word = $infinity.to_bits();
                let bits = bits as $word;
                let lowest_of_exponent = INFINITY & INFINITY.wrapping_neg();
                let outside = bits & INFINITY == INFINITY;
                Self::from_bits(if outside { bits & !lowest_of_exponent } else { bits })
            }
            #[inline(always)]
            fn from_number(number: u128) -> Self {
                // Numbers of more than 53 bits round once more here, which no one can tell.
                Self::from_real(number as f64)
            }
            #[inline(always)]
            fn from_real(number: f64) -> Self {
                let key: Self = $from(number);
                if key == $infinity { <$key>::MAX } else { key }
            }
        }
    )*};
}
floats! {
    f16, u16, f16::INFINITY, 15, f16::from_f64;
    bf16, u16, bf16::INFINITY, 127, bf16::from_f64;
    f32, u32, f32::INFINITY, 127, |number| number as f32;
    f64, u64, f64::INFINITY, 128, |number| number;
}

impl Sample for bool {
    const NUMBER_BITS: u32 = 1;

    fn from_bits_in_memory(bits: u128) -> Self {
        bits & 1 != 0
    }
    fn from_number(number: u128) -> Self {
        number & 1 != 0
    }
}

/// Of more than 16 bytes, the last 16 are random and the others a few different ones.
impl<const N: usize> Sample for [u8; N] {
    const NUMBER_BITS: u32 = if N < 16 { 8 * N as u32 } else { 128 };

    fn from_bits_in_memory(bits: u128) -> Self {
        std::array::from_fn(|i| match N - 1 - i {
            from_end @ 0..16 => (bits >> (8 * from_end)) as u8,
            _ => (bits >> (i % 16)) as u8 & 1,
        })
    }
    fn from_number(number: u128) -> Self {
        if Self::NUMBER_BITS < 128 && number >> Self::NUMBER_BITS != 0 {
            return [u8::MAX; N];
        }
        Self::at_position(number)
    }
}

/// Makes the keys of one distribution, any stretch of them at a time, so that a file larger than
/// memory can be made too.
///
/// ```
/// use sweepsort_testkit::{Distribution, Generator};
///
/// let generator = Generator::<u32>::new(Distribution::Zipf, 1000, 7)?;
/// let mut all = vec![0; 1000];
/// generator.fill(0, &mut all);
/// let mut part = vec![0; 10];
/// generator.fill(500, &mut part);
/// assert_eq!(part, all[500..510]);
/// # Ok::<(), sweepsort_testkit::distribution::Unsuited>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Generator<K> {
    distribution: Distribution,
    n: u64,
    random: Random,
    key: PhantomData<K>,
}

/// `n` keys. Takes about a second for 10^8 `u32` keys on two cores, longer for `normal`.
///
/// # Errors
/// [`Distribution::Timestamps`] with keys of other than 64 bits.
///
/// # Panics
/// If there is no memory for the keys; where that must not happen, allocate and use
/// [`Generator::fill`].
///
/// ```
/// use sweepsort_testkit::{Distribution, generate};
/// let keys: Vec<f32> = generate(Distribution::Normal, 100, 42)?;
/// assert!(keys.iter().all(|&key| key >= 0.0));
/// # Ok::<(), sweepsort_testkit::distribution::Unsuited>(())
/// ```
pub fn generate<K: Sample>(
    distribution: Distribution,
    n: usize,
    seed: u64,
) -> Result<Vec<K>, Unsuited> {
    let generator = Generator::new(distribution, n, seed)?;
    let mut keys = vec![K::at_position(0); n];
    generator.fill(0, &mut keys);
    Ok(keys)
}

impl<K: Sample> Generator<K> {
    /// A generator of `n` keys.
    ///
    /// # Errors
    /// [`Distribution::Timestamps`] with keys of other than 64 bits.
    pub fn new(distribution: Distribution, n: usize, seed: u64) -> Result<Self, Unsuited> {
        if distribution == Distribution::Timestamps && K::BITS != 64 {
            return Err(Unsuited {
                distribution,
                bits: K::BITS,
            });
        }
        Ok(Generator {
            distribution,
            n: n as u64,
            random: Random::new(seed),
            key: PhantomData,
        })
    }

    /// Fills `keys` with the keys from `start` on, in parallel.
    pub fn fill(&self, start: usize, keys: &mut [K]) {
        let random = self.random;
        let start = start as u64;
        match self.distribution {
            Distribution::Uniform => each(start, keys, |i| {
                K::from_bits_in_memory(if K::BITS <= 64 {
                    u128::from(random.draw(i, 0))
                } else {
                    random.wide(i, 0)
                })
            }),
            Distribution::And2 => self.and::<2>(start, keys),
            Distribution::And3 => self.and::<3>(start, keys),
            Distribution::And4 => self.and::<4>(start, keys),
            Distribution::And5 => self.and::<5>(start, keys),
            Distribution::Normal => {
                let quarter = f64::from(K::NUMBER_BITS as i32 - 2).exp2();
                let scale = quarter.min(self.n as f64);
                each(start, keys, |i| {
                    // Box and Muller's transform; 1 - u, since the logarithm of 0 is none.
                    let radius = (-2.0 * (1.0 - random.unit(i, 0)).ln()).sqrt();
                    let angle = std::f64::consts::TAU * random.unit(i, 1);
                    K::from_real((scale * radius * angle.cos()).abs())
                });
            }
            Distribution::Sorted => {
                let ramp = self.ramp(self.n);
                each(start, keys, |i| ramp.key(i));
            }
            Distribution::Reverse => {
                let ramp = self.ramp(self.n);
                each(start, keys, |i| ramp.key(self.n - 1 - i));
            }
            Distribution::Equal => {
                let key = K::from_bits_in_memory(random.wide(0, 0));
                each(start, keys, |_| key);
            }
            Distribution::Zipf => {
                let exponent = f64::from(K::NUMBER_BITS.min(24));
                each(start, keys, |i| {
                    K::from_real((exponent * random.unit(i, 0)).exp2().floor())
                });
            }
            Distribution::Small => {
                // At least one bit, for the sake of `bool`.
                let bits = K::BITS.clamp(1, 128).div_ceil(2);
                each(start, keys, |i| {
                    K::from_number(u128::from(random.draw(i, 0) >> (64 - bits)))
                });
            }
            Distribution::Timestamps => each(start, keys, |i| {
                K::from_number(1_700_000_000_000_000_000 + u128::from(random.draw(i, 0) >> 24))
            }),
            Distribution::NearlySorted => {
                let ramp = self.ramp(self.n);
                each(start, keys, |i| ramp.key(self.swapped(i)));
            }
            Distribution::OrganPipe => {
                let ramp = self.ramp(self.n.div_ceil(2));
                each(start, keys, |i| ramp.key(i.min(self.n - 1 - i)));
            }
            Distribution::FewDistinct => {
                let few: [K; 16] =
                    std::array::from_fn(|i| K::from_bits_in_memory(random.wide(i as u64, 1)));
                each(start, keys, |i| few[(random.draw(i, 0) >> 60) as usize]);
            }
        }
    }

    /// Fills `keys` with the AND of so many uniform keys each.
    fn and<const DRAWS: u64>(&self, start: u64, keys: &mut [K]) {
        let random = self.random;
        each(start, keys, |i| {
            K::from_bits_in_memory((0..DRAWS).fold(u128::MAX, |bits, draw| {
                bits & if K::BITS <= 64 {
                    u128::from(random.draw(i, draw))
                } else {
                    random.wide(i, draw)
                }
            }))
        });
    }

    /// `steps` ascending keys.
    fn ramp(&self, steps: u64) -> Ramp<K> {
        let (first, last) = K::finite_positions();
        let (span, steps) = (last - first, u128::from(steps.max(1)));
        Ramp {
            first,
            step: if K::BITS <= 64 {
                (span << 64 | u128::from(u64::MAX)) / steps
            } else {
                span / steps
            },
            random: self.random,
            key: PhantomData,
        }
    }

    /// Where the key at `i` is taken from in a nearly sorted array. Of every 1000 keys one is
    /// swapped with its like half the array away.
    fn swapped(&self, i: u64) -> u64 {
        let block = (self.n / 2).min(1000);
        if block < 2 {
            return i;
        }
        let half = self.n / block / 2;
        let chosen = |b: u64| b * block + self.random.draw(b, 2) % block;
        let b = i / block;
        if b >= 2 * half || chosen(b) != i {
            i
        } else if b < half {
            chosen(b + half)
        } else {
            chosen(b - half)
        }
    }
}

/// Keys that ascend from the first finite one to the last.
struct Ramp<K> {
    first: u128,
    /// How many places a stretch has; for keys of up to 64 bits, with 64 bits behind the point.
    step: u128,
    random: Random,
    key: PhantomData<K>,
}

impl<K: Sample> Ramp<K> {
    /// A key from stretch `i` of `steps`.
    #[inline(always)]
    fn key(&self, i: u64) -> K {
        let draw = u128::from(self.random.draw(i, 0));
        let place = if K::BITS <= 64 {
            // As `i` is below the number of stretches, nothing here reaches 2^128.
            let from = (self.step * u128::from(i)) >> 64;
            let to = (self.step * u128::from(i) + (self.step - 1)) >> 64;
            from + ((draw * (to - from + 1)) >> 64)
        } else {
            self.step * u128::from(i) + draw * (self.step >> 64)
        };
        K::at_position(self.first + place)
    }
}

/// Sets each key to that of its index, counted from `start`.
fn each<K: Send>(start: u64, keys: &mut [K], key: impl Fn(u64) -> K + Sync) {
    const CHUNK: usize = 1 << 14;
    let fill = |start: u64, keys: &mut [K]| {
        for (i, slot) in (start..).zip(keys) {
            *slot = key(i);
        }
    };
    if keys.len() <= CHUNK {
        fill(start, keys);
    } else {
        parallel::for_each(keys, CHUNK, &|i, keys| {
            fill(start + (i * CHUNK) as u64, keys);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::first_disorder;
    use crate::order::Wanted;
    use sweepsort_core::Order;

    /// Runs a generic function for every key type.
    macro_rules! every_key {
        ($check:ident) => {
            $check::<u8>();
            $check::<u16>();
            $check::<u32>();
            $check::<u64>();
            $check::<u128>();
            $check::<usize>();
            $check::<i8>();
            $check::<i16>();
            $check::<i32>();
            $check::<i64>();
            $check::<i128>();
            $check::<isize>();
            $check::<f16>();
            $check::<bf16>();
            $check::<f32>();
            $check::<f64>();
            $check::<bool>();
            $check::<[u8; 1]>();
            $check::<[u8; 7]>();
            $check::<[u8; 16]>();
            $check::<[u8; 20]>();
        };
    }

    fn make<K: Sample>(distribution: Distribution, n: usize) -> Vec<K> {
        generate(distribution, n, 1).unwrap()
    }

    fn distinct<K: Sample>(keys: &[K]) -> usize {
        let mut raw: Vec<_> = keys.iter().map(Ordered::raw).collect();
        raw.sort_unstable();
        raw.dedup();
        raw.len()
    }

    fn shapes<K: Sample>() {
        let name = std::any::type_name::<K>();
        let descending = Wanted {
            order: Order::Descending,
            ..Wanted::default()
        };
        let values = 1usize.checked_shl(K::BITS).unwrap_or(usize::MAX);
        for n in [0, 1, 2, 3, 100, 1 << 16, 100_003] {
            let ascending = make::<K>(Distribution::Sorted, n);
            assert_eq!(
                first_disorder(&ascending, &Wanted::default()),
                None,
                "{name} {n}"
            );
            // Not all values of a type, since NaNs and infinities are left out, and neighbouring
            // stretches share a key where there are hardly more keys in the type than drawn.
            assert!(
                distinct(&ascending) >= n.min(values).div_ceil(2),
                "{name} {n}"
            );
            assert_eq!(
                first_disorder(&make::<K>(Distribution::Reverse, n), &descending),
                None
            );
            assert!(distinct(&make::<K>(Distribution::Equal, n)) <= 1);
            assert!(distinct(&make::<K>(Distribution::FewDistinct, n)) <= 16);
            let pipe = make::<K>(Distribution::OrganPipe, n);
            assert_eq!(
                first_disorder(&pipe[..n.div_ceil(2)], &Wanted::default()),
                None
            );
            assert_eq!(first_disorder(&pipe[n / 2..], &descending), None);
        }
        for &distribution in Distribution::ALL {
            if distribution == Distribution::Timestamps && K::BITS != 64 {
                continue;
            }
            let keys = make::<K>(distribution, 5000);
            assert!(
                !keys.iter().any(|key| key.is_nan()),
                "{name} {distribution}"
            );
            let finite = K::finite_positions();
            assert!(
                K::BITS > 128
                    || keys
                        .iter()
                        .all(|key| { (finite.0..=finite.1).contains(&key.position()) }),
                "{name} {distribution}"
            );
        }
        if K::BITS >= 16 {
            for distribution in [
                Distribution::Uniform,
                Distribution::And2,
                Distribution::Normal,
            ] {
                assert!(
                    distinct(&make::<K>(distribution, 5000)) > 300,
                    "{name} {distribution}"
                );
            }
            assert_eq!(
                distinct(&make::<K>(Distribution::FewDistinct, 5000)),
                16,
                "{name}"
            );
        }
    }

    #[test]
    fn every_type_has_every_shape() {
        every_key!(shapes);
    }

    #[test]
    fn parameters_are_those_of_the_design() {
        let n = 1 << 16;
        for (distribution, ones) in [
            (Distribution::Uniform, 0.5),
            (Distribution::And2, 0.25),
            (Distribution::And3, 0.125),
            (Distribution::And4, 0.0625),
            (Distribution::And5, 0.03125),
        ] {
            let keys = make::<u64>(distribution, n);
            for bit in 0..64 {
                let share =
                    keys.iter().filter(|key| *key >> bit & 1 == 1).count() as f64 / n as f64;
                assert!(
                    (share - ones).abs() < 0.01,
                    "{distribution} bit {bit}: {share}"
                );
            }
        }
        let zipf = make::<u32>(Distribution::Zipf, n);
        for power in 0..24u32 {
            let below = zipf.iter().filter(|&&key| key < 1 << power).count() as f64 / n as f64;
            assert!(
                (below - f64::from(power) / 24.0).abs() < 0.01,
                "2^{power}: {below}"
            );
        }
        assert!(zipf.iter().all(|&key| (1..1 << 24).contains(&key)));
        let normal = make::<f64>(Distribution::Normal, n);
        let mean = normal.iter().sum::<f64>() / n as f64 / n as f64;
        assert!(
            (mean - (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.01,
            "{mean}"
        );
        assert!(
            make::<u64>(Distribution::Small, n)
                .iter()
                .all(|&key| key < 1 << 32)
        );
        assert!(
            make::<u64>(Distribution::Small, n)
                .iter()
                .any(|&key| key >= 1 << 31)
        );
        let base = 1_700_000_000_000_000_000;
        let stamps = make::<i64>(Distribution::Timestamps, n);
        assert!(
            stamps
                .iter()
                .all(|&key| (base..base + (1 << 40)).contains(&key))
        );
        let refused = generate::<u32>(Distribution::Timestamps, 5, 1).unwrap_err();
        assert_eq!(refused.bits, 32);
    }

    #[test]
    fn one_key_in_a_thousand_is_swapped() {
        for (n, moved) in [(100_000, 100), (1999, 2), (5, 2), (1_000_999, 1000), (3, 0)] {
            let sorted = make::<u64>(Distribution::Sorted, n);
            let mut nearly = make::<u64>(Distribution::NearlySorted, n);
            let differ = nearly.iter().zip(&sorted).filter(|(a, b)| a != b).count();
            assert_eq!(differ, moved, "{n}");
            nearly.sort_unstable();
            assert_eq!(nearly, sorted, "{n}");
        }
    }

    #[test]
    fn keys_depend_on_seed_and_index_alone() {
        for &distribution in Distribution::ALL {
            let n = 50_000;
            let all = make::<i64>(distribution, n);
            let generator = Generator::<i64>::new(distribution, n, 1).unwrap();
            for start in [0, 1, 16_383, 49_999] {
                let mut part = vec![0; (n - start).min(20_000)];
                generator.fill(start, &mut part);
                assert_eq!(
                    part,
                    all[start..start + part.len()],
                    "{distribution} from {start}"
                );
            }
            assert_ne!(
                generate::<i64>(distribution, n, 2).unwrap(),
                all,
                "{distribution}"
            );
        }
    }

    /// Files made by one version can be made again by the next.
    #[test]
    fn keys_stay_the_same_between_versions() {
        assert_eq!(make::<u32>(Distribution::Uniform, 3), UNIFORM);
    }

    const UNIFORM: [u32; 3] = [3_420_972_872, 2_957_627_018, 3_442_560_930];

    #[test]
    fn names_are_read_back() {
        for &distribution in Distribution::ALL {
            assert_eq!(distribution.name().parse(), Ok(distribution));
            assert!(!distribution.summary().is_empty());
        }
        let message = "unifrom".parse::<Distribution>().unwrap_err();
        assert!(
            message.starts_with("'unifrom' is none of uniform, and2"),
            "{message}"
        );
    }
}
