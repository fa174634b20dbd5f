//! What sorted means, told without codecs.
//!
//! An engine sorts by codes; a mistake in the codes would go unseen by a check that used them too.
//! Here a key's order is the standard library's: `Ord`, `total_cmp`, `is_nan`. Only a sub-range of
//! bits needs a number for a key, its [`position`](Ordered::position); that is written as a count
//! of the keys before it, one case after the other.

use std::cmp::Ordering;
use std::ops::Range;

use half::{bf16, f16};
use sweepsort_core::{Nan, Order, RadixKey};

/// A key whose order is known here apart from [`RadixKey`].
pub trait Ordered: RadixKey + std::fmt::Debug + 'static {
    /// How many NaNs of one sign the type has; 0 for all but floats.
    const NANS: u128 = 0;

    /// The NaN policies that are not alike for the type.
    const POLICIES: &'static [Nan] = if Self::NANS > 0 {
        Nan::ALL
    } else {
        &[Nan::Total]
    };

    /// The natural order, different keys never equal: `Ord`, for floats `total_cmp`.
    fn natural(&self, other: &Self) -> Ordering;

    /// The key's bits in memory as a number; of keys wider than 128 bits, a hash of them.
    fn raw(&self) -> u128;

    /// How many keys of the type stand before this one in the natural order. For keys of up to 128
    /// bits.
    fn position(&self) -> u128;

    /// The key at a position: undoes [`position`](Self::position), which must be that of a key.
    fn at_position(position: u128) -> Self;

    /// Whether the key is a NaN.
    fn is_nan(&self) -> bool {
        false
    }

    /// Whether the key is a negative NaN.
    fn is_negative_nan(&self) -> bool {
        false
    }

    /// The key that stands for all that tie with it where NaNs tie and zeros tie: +0.0 for both
    /// zeros, the last NaN of the natural order for all NaNs.
    fn representative(&self) -> Self {
        *self
    }

    /// The order of two keys by a range of their bits alone, in the natural order.
    fn natural_bits(&self, other: &Self, bits: &Range<u32>) -> Ordering {
        field(self.position(), bits).cmp(&field(other.position(), bits))
    }
}

/// The bits `bits` of a number.
fn field(number: u128, bits: &Range<u32>) -> u128 {
    match bits.end - bits.start {
        0 => 0,
        128 => number,
        width => (number >> bits.start) & ((1 << width) - 1),
    }
}

macro_rules! integers {
    ($($key:ty, $word:ty, $before_zero:expr;)*) => {$(
        impl Ordered for $key {
            fn natural(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
            fn raw(&self) -> u128 {
                *self as $word as u128
            }
            fn position(&self) -> u128 {
                (*self as $word).wrapping_add($before_zero) as u128
            }
            fn at_position(position: u128) -> Self {
                (position as $word).wrapping_sub($before_zero) as $key
            }
        }
    )*};
}
integers! {
    u8, u8, 0;
    u16, u16, 0;
    u32, u32, 0;
    u64, u64, 0;
    u128, u128, 0;
    usize, usize, 0;
    i8, u8, 1 << 7;
    i16, u16, 1 << 15;
    i32, u32, 1 << 31;
    i64, u64, 1 << 63;
    i128, u128, 1 << 127;
    isize, usize, 1 << (usize::BITS - 1);
}

macro_rules! floats {
    ($($key:ty, $word:ty, $mantissa:expr;)*) => {$(
        impl Ordered for $key {
            const NANS: u128 = (1 << $mantissa) - 1;

            fn natural(&self, other: &Self) -> Ordering {
                self.total_cmp(other)
            }
            fn raw(&self) -> u128 {
                self.to_bits() as u128
            }
            fn position(&self) -> u128 {
                // Before a float from +0.0 up stand all that have a sign, and all of less
                // magnitude; before one with a sign, all with a sign and more magnitude.
                const SIGNED: $word = 1 << (<$word>::BITS - 1);
                let magnitude = self.to_bits() & !SIGNED;
                if self.is_sign_positive() {
                    (SIGNED + magnitude) as u128
                } else {
                    (SIGNED - 1 - magnitude) as u128
                }
            }
            fn at_position(position: u128) -> Self {
                const SIGNED: $word = 1 << (<$word>::BITS - 1);
                let position = position as $word;
                Self::from_bits(match position.checked_sub(SIGNED) {
                    Some(magnitude) => magnitude,
                    None => SIGNED + (SIGNED - 1 - position),
                })
            }
            fn is_nan(&self) -> bool {
                <$key>::is_nan(*self)
            }
            fn is_negative_nan(&self) -> bool {
                <$key>::is_nan(*self) && self.is_sign_negative()
            }
            fn representative(&self) -> Self {
                if <$key>::is_nan(*self) {
                    Self::from_bits(<$word>::MAX >> 1)
                } else if *self == Self::from_bits(0) {
                    Self::from_bits(0)
                } else {
                    *self
                }
            }
        }
    )*};
}
floats! {
    f16, u16, 10;
    bf16, u16, 7;
    f32, u32, 23;
    f64, u64, 52;
}

impl Ordered for bool {
    fn natural(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
    fn raw(&self) -> u128 {
        u128::from(*self)
    }
    fn position(&self) -> u128 {
        u128::from(*self)
    }
    fn at_position(position: u128) -> Self {
        position != 0
    }
}

/// Byte strings, in lexicographic order.
impl<const N: usize> Ordered for [u8; N] {
    fn natural(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
    fn raw(&self) -> u128 {
        if N <= 16 {
            return self.position();
        }
        self.chunks(8).fold(N as u128, |hash, chunk| {
            let word = chunk
                .iter()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
            let low = crate::random::mix(hash as u64 ^ word);
            let high = crate::random::mix((hash >> 64) as u64 ^ low.rotate_left(32));
            u128::from(high) << 64 | u128::from(low)
        })
    }
    fn position(&self) -> u128 {
        self.iter()
            .fold(0, |number, &byte| number << 8 | u128::from(byte))
    }
    fn at_position(position: u128) -> Self {
        std::array::from_fn(|i| position.checked_shr(8 * (N - 1 - i) as u32).unwrap_or(0) as u8)
    }
    fn natural_bits(&self, other: &Self, bits: &Range<u32>) -> Ordering {
        // Byte `i` has bits `8 (N - 1 - i)` up; those of them outside the range are left out.
        let masked = |key: &Self| -> [u8; N] {
            std::array::from_fn(|i| {
                let low = 8 * (N - 1 - i) as u32;
                let [start, end] = [bits.start, bits.end].map(|bit| bit.saturating_sub(low).min(8));
                key[i] & ((1u16 << end) - (1 << start)) as u8
            })
        };
        masked(self).cmp(&masked(other))
    }
}

/// The order that is wanted of an output.
///
/// ```
/// use std::cmp::Ordering;
/// use sweepsort_testkit::Wanted;
/// use sweepsort_core::{Nan, Order};
///
/// let wanted = Wanted { order: Order::Descending, nan: Nan::Last, ..Wanted::default() };
/// assert_eq!(wanted.compare(&2.0f32, &1.0), Ordering::Less);
/// assert_eq!(wanted.compare(&f32::NAN, &1.0), Ordering::Greater);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Ascending or descending.
    pub order: Order,
    /// Where NaNs go.
    pub nan: Nan,
    /// The bits of the key that count; all of them unless given. They must lie within the key's.
    ///
    /// Bit 0 is the lowest of the key's place among all keys of its type, as
    /// [`Nan::Total`], [`Nan::Last`] or [`Nan::First`] arranges them.
    pub bits: Option<Range<u32>>,
    /// Whether, where the policy is not [`Nan::Total`], NaNs tie and zeros tie, as they do in the
    /// keys of pairs and of an argsort. Keys alone have no ties: −0.0 comes before +0.0, and
    /// positive NaNs before negative ones (descending: the mirror image). What is in order without
    /// ties is also in order with them.
    pub ties: bool,
}

impl Wanted {
    /// The order of keys alone, which never tie but by their bits outside `bits`.
    pub fn of_keys(order: Order, nan: Nan, bits: Option<Range<u32>>) -> Self {
        Wanted {
            order,
            nan,
            bits,
            ties: false,
        }
    }

    /// The order of pairs and of an argsort, where NaNs tie and zeros tie unless the policy is
    /// [`Nan::Total`].
    pub fn of_records(order: Order, nan: Nan, bits: Option<Range<u32>>) -> Self {
        Wanted {
            order,
            nan,
            bits,
            ties: true,
        }
    }

    /// A number for a key such that keys in the wanted order have ascending numbers, and keys that
    /// tie have the same. For keys of up to 128 bits. Says the same as
    /// [`compare`](Self::compare), and sorts faster.
    pub fn rank_of<K: Ordered>(&self, key: &K) -> u128 {
        let place = if K::NANS == 0 || self.nan == Nan::Total {
            key.position()
        } else if self.ties {
            self.place(&key.representative())
        } else {
            self.place(key)
        };
        let place = match &self.bits {
            None => place,
            Some(bits) => field(place, bits),
        };
        match self.order {
            Order::Ascending => place,
            Order::Descending => u128::MAX - place,
        }
    }

    /// Whether `a` belongs before `b` (`Less`), after it, or ties with it.
    pub fn compare<K: Ordered>(&self, a: &K, b: &K) -> Ordering {
        let ascending = if K::NANS == 0 || self.nan == Nan::Total {
            match &self.bits {
                None => a.natural(b),
                Some(bits) => a.natural_bits(b, bits),
            }
        } else {
            let (a, b) = if self.ties {
                (a.representative(), b.representative())
            } else {
                (*a, *b)
            };
            match &self.bits {
                None => self
                    .rank(&a)
                    .cmp(&self.rank(&b))
                    .then_with(|| a.natural(&b)),
                Some(bits) => {
                    let place = |key| field(self.place(key), bits);
                    place(&a).cmp(&place(&b))
                }
            }
        };
        match self.order {
            Order::Ascending => ascending,
            Order::Descending => ascending.reverse(),
        }
    }

    /// Whether NaNs are the largest keys, before a descending order turns all around.
    fn nans_are_largest(&self) -> bool {
        (self.nan == Nan::Last) == (self.order == Order::Ascending)
    }

    /// Numbers, positive NaNs and negative NaNs, in the order in which they come before a
    /// descending order turns all around.
    fn rank<K: Ordered>(&self, key: &K) -> u8 {
        match (key.is_nan(), key.is_negative_nan()) {
            (false, _) if self.nans_are_largest() => 0,
            (false, _) => 3,
            (true, false) => 1,
            (true, true) => 2,
        }
    }

    /// How many keys of a float type stand before this one, in the order of [`rank`](Self::rank).
    fn place<K: Ordered>(&self, key: &K) -> u128 {
        let position = key.position();
        let keys = 1u128 << K::BITS;
        match self.rank(key) {
            // By nature, negative NaNs come before the numbers.
            0 => position - K::NANS,
            3 => position + K::NANS,
            // By nature, positive NaNs come last.
            1 if self.nans_are_largest() => position - K::NANS,
            1 => position - (keys - K::NANS),
            // By nature, negative NaNs come first.
            _ if self.nans_are_largest() => position + (keys - K::NANS),
            _ => position + K::NANS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positions of all keys of a 16-bit type are the numbers that they have when sorted.
    fn positions_count<K: Ordered>() {
        let mut keys: Vec<K> = (0..1 << 16).map(K::at_position).collect();
        keys.reverse();
        keys.sort_by(Ordered::natural);
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(key.position(), i as u128, "{key:?}");
        }
        assert!(keys.windows(2).all(|pair| pair[0].raw() != pair[1].raw()));
    }

    #[test]
    fn positions_are_places_in_the_natural_order() {
        positions_count::<u16>();
        positions_count::<i16>();
        positions_count::<f16>();
        positions_count::<bf16>();
        positions_count::<[u8; 2]>();
    }

    /// By all bits is the same as by the whole key, for every policy.
    fn whole_range_is_whole_key<K: Ordered>() {
        for &order in Order::ALL {
            for &nan in Nan::ALL {
                for ties in [false, true] {
                    let whole = Wanted {
                        order,
                        nan,
                        bits: None,
                        ties,
                    };
                    let range = Wanted {
                        bits: Some(0..16),
                        ..whole.clone()
                    };
                    let mut keys: Vec<K> = (0..1 << 16).map(K::at_position).collect();
                    keys.sort_by(|a, b| whole.compare(a, b));
                    for pair in keys.windows(2) {
                        let expected = whole.compare(&pair[0], &pair[1]);
                        assert_eq!(
                            range.compare(&pair[0], &pair[1]),
                            expected,
                            "{whole:?} {pair:?}"
                        );
                        assert!(ties && nan != Nan::Total || expected.is_lt());
                        let ranks = (whole.rank_of(&pair[0]), whole.rank_of(&pair[1]));
                        assert_eq!(ranks.0.cmp(&ranks.1), expected, "{whole:?} {pair:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn places_agree_with_comparisons() {
        whole_range_is_whole_key::<f16>();
        whole_range_is_whole_key::<bf16>();
        whole_range_is_whole_key::<i16>();
    }

    #[test]
    fn nans_and_zeros_stand_where_the_policies_say() {
        let (nan, minus_nan) = (f32::NAN, -f32::NAN);
        let sorted = |order, nan, ties| {
            let mut keys = [0.0, minus_nan, 1.0, f32::NAN, -0.0, -1.0];
            let wanted = Wanted {
                order,
                nan,
                ties,
                bits: None,
            };
            keys.sort_by(|a, b| wanted.compare(a, b));
            keys.map(f32::to_bits)
        };
        use Nan::*;
        use Order::*;
        let bits = |keys: [f32; 6]| keys.map(f32::to_bits);
        for (order, policy, ties, expected) in [
            (
                Ascending,
                Total,
                false,
                [minus_nan, -1.0, -0.0, 0.0, 1.0, nan],
            ),
            (
                Ascending,
                Last,
                false,
                [-1.0, -0.0, 0.0, 1.0, nan, minus_nan],
            ),
            (
                Ascending,
                First,
                false,
                [nan, minus_nan, -1.0, -0.0, 0.0, 1.0],
            ),
            (
                Descending,
                Last,
                false,
                [1.0, 0.0, -0.0, -1.0, minus_nan, nan],
            ),
            (
                Descending,
                First,
                false,
                [minus_nan, nan, 1.0, 0.0, -0.0, -1.0],
            ),
            (
                Ascending,
                Last,
                true,
                [-1.0, 0.0, -0.0, 1.0, minus_nan, nan],
            ),
            (
                Descending,
                First,
                true,
                [minus_nan, nan, 1.0, 0.0, -0.0, -1.0],
            ),
            (
                Ascending,
                Total,
                true,
                [minus_nan, -1.0, -0.0, 0.0, 1.0, nan],
            ),
        ] {
            assert_eq!(
                sorted(order, policy, ties),
                bits(expected),
                "{order} {policy} {ties}"
            );
        }
    }

    #[test]
    fn ranges_of_bits() {
        let wanted = Wanted {
            bits: Some(4..8),
            ..Wanted::default()
        };
        assert_eq!(wanted.compare(&0x1fu32, &0x20), Ordering::Less);
        assert_eq!(wanted.compare(&0xf1fu32, &0x010), Ordering::Equal);
        let wide = Wanted {
            bits: Some(8..17),
            ..Wanted::default()
        };
        let key = |high: u8, middle: u8| {
            let mut key = [7u8; 20];
            (key[17], key[18]) = (high, middle);
            key
        };
        assert_eq!(wide.compare(&key(2, 5), &key(0, 5)), Ordering::Equal);
        assert_eq!(wide.compare(&key(1, 5), &key(2, 6)), Ordering::Greater);
        assert_eq!(wide.compare(&key(2, 5), &key(4, 6)), Ordering::Less);
    }
}
