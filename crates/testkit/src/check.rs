//! Is an output in order, and is it made of the input's keys? In parallel, reading memory once.

use std::fmt;
use std::ops::{Add, AddAssign};

use sweepsort_core::{Nan, Order};

use crate::order::{Ordered, Wanted};
use crate::parallel;
use crate::random::mix;

/// How many keys one task looks at.
const CHUNK: usize = 1 << 16;

/// The index of the first key that does not belong after the one before it, or `None` if the keys
/// are in order. Keys that tie may come in any order. `O(n)`, no memory.
///
/// ```
/// use sweepsort_testkit::{Wanted, first_disorder};
/// assert_eq!(first_disorder(&[1, 2, 2, 5, 4, 3], &Wanted::default()), Some(4));
/// ```
pub fn first_disorder<K: Ordered>(keys: &[K], wanted: &Wanted) -> Option<usize> {
    if wanted.bits.is_some() || K::NANS > 0 && wanted.nan != Nan::Total {
        return first_pair(keys, |a, b| wanted.compare(a, b).is_gt());
    }
    // The common cases without the choices inside the loop.
    match wanted.order {
        Order::Ascending => first_pair(keys, |a, b| a.natural(b).is_gt()),
        Order::Descending => first_pair(keys, |a, b| a.natural(b).is_lt()),
    }
}

/// The index of the second of the first two neighbours for which `wrong` holds.
fn first_pair<K: Sync>(keys: &[K], wrong: impl Fn(&K, &K) -> bool + Sync) -> Option<usize> {
    let scan = |start: usize| {
        let end = (start + CHUNK + 1).min(keys.len());
        keys[start..end]
            .windows(2)
            .position(|pair| wrong(&pair[0], &pair[1]))
            .map(|i| start + i + 1)
    };
    if keys.len() <= CHUNK {
        return scan(0);
    }
    parallel::find(keys.len().div_ceil(CHUNK), &|i| scan(i * CHUNK))
}

/// A number that stands for a multiset of keys: equal multisets have equal fingerprints, different
/// ones different fingerprints but for one chance in about 2^64. Two keys are the same here if
/// their bits in memory are, so −0.0 is not +0.0.
///
/// Fingerprints of parts of a file add up to that of the whole, in any order.
///
/// ```
/// use sweepsort_testkit::fingerprint;
/// assert_eq!(fingerprint(&[1u8, 2, 1]), fingerprint(&[1u8, 1]) + fingerprint(&[2u8]));
/// assert_ne!(fingerprint(&[1u8, 2, 1]), fingerprint(&[1u8, 2, 2]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    keys: u64,
    sum: u128,
}

impl Fingerprint {
    /// How many keys there are.
    pub fn keys(&self) -> u64 {
        self.keys
    }
}

impl Add for Fingerprint {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Fingerprint {
            keys: self.keys + other.keys,
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

impl AddAssign for Fingerprint {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Fingerprint {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Fingerprint::default(), Add::add)
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.sum)
    }
}

/// The fingerprint of the multiset of these keys. `O(n)`, no memory.
pub fn fingerprint<K: Ordered>(keys: &[K]) -> Fingerprint {
    let sum = |keys: &[K]| {
        keys.iter()
            .fold(0u128, |sum, key| sum.wrapping_add(term(hash(key.raw()))))
    };
    Fingerprint {
        keys: keys.len() as u64,
        sum: if keys.len() <= CHUNK {
            sum(keys)
        } else {
            parallel::sum(keys.len().div_ceil(CHUNK), &|i| {
                sum(&keys[i * CHUNK..keys.len().min((i + 1) * CHUNK)])
            })
        },
    }
}

/// What something with this hash adds to a fingerprint.
#[inline(always)]
fn term(hash: u64) -> u128 {
    // A hash times itself, twisted: different hashes add different 128-bit terms.
    u128::from(hash) * u128::from(hash ^ 0x9e37_79b9_7f4a_7c15)
}

#[inline(always)]
fn hash(raw: u128) -> u64 {
    let (low, high) = (raw as u64, (raw >> 64) as u64);
    let low = mix(low.wrapping_add(0x9e37_79b9_7f4a_7c15));
    if high == 0 {
        low
    } else {
        mix(low ^ high).wrapping_add(high)
    }
}

/// Whether two slices hold the same keys, equally often; by [`fingerprint`].
pub fn same_multiset<K: Ordered>(a: &[K], b: &[K]) -> bool {
    a.len() == b.len() && fingerprint(a) == fingerprint(b)
}

/// The same of pairs of keys and values, as many in one as in the other.
pub(crate) fn same_pairs(
    a: impl Iterator<Item = (u128, u128)>,
    b: impl Iterator<Item = (u128, u128)>,
) -> bool {
    fn sum(pairs: impl Iterator<Item = (u128, u128)>) -> u128 {
        pairs.fold(0, |sum, (key, value)| {
            sum.wrapping_add(term(mix(hash(key).rotate_left(32) ^ hash(value))))
        })
    }
    sum(a) == sum(b)
}

/// An index entry: `u32` or `u64`.
pub trait Entry: Copy + Send + Sync {
    /// The position that the entry names.
    fn at(self) -> usize;
}

impl Entry for u32 {
    fn at(self) -> usize {
        self as usize
    }
}

impl Entry for u64 {
    fn at(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

/// Whether `index` is the stable sorted order of `keys`: each position once, the keys in the
/// wanted order along it, ties by position. Also verifies stable pairs, if their values were
/// 0, 1, 2 … before the sort. `O(n)`; no memory, since entries that strictly ascend by key and
/// position cannot repeat.
///
/// # Errors
/// A sentence that says what is wrong and where.
///
/// ```
/// use sweepsort_testkit::{Wanted, check_index};
/// assert!(check_index(&[5, 3, 5], &[1u32, 0, 2], &Wanted::default()).is_ok());
/// assert!(check_index(&[5, 3, 5], &[1u32, 2, 0], &Wanted::default()).is_err());
/// ```
pub fn check_index<K: Ordered, I: Entry>(
    keys: &[K],
    index: &[I],
    wanted: &Wanted,
) -> Result<(), String> {
    let n = keys.len();
    if index.len() != n {
        return Err(format!("{n} keys but {} index entries", index.len()));
    }
    let scan = |start: usize| {
        let entries = &index[start..n.min(start + CHUNK)];
        let at = entries.iter().position(|entry| entry.at() >= n);
        at.map(|i| start + i)
    };
    if let Some(i) = parallel::find(n.div_ceil(CHUNK), &|i| scan(i * CHUNK)) {
        return Err(format!(
            "index[{i}] is {}, but there are only {n} keys",
            index[i].at()
        ));
    }
    let wrong = |a: &I, b: &I| {
        wanted
            .compare(&keys[a.at()], &keys[b.at()])
            .then(a.at().cmp(&b.at()))
            .is_ge()
    };
    match first_pair(index, wrong) {
        None => Ok(()),
        Some(i) => {
            let (a, b) = (index[i - 1].at(), index[i].at());
            Err(format!(
                "index[{}] is {a} (key {:?}) and index[{i}] is {b} (key {:?}), which belong the \
                 other way round",
                i - 1,
                keys[a],
                keys[b],
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Disorder is found wherever it is, at the borders of tasks too.
    #[test]
    fn disorder_is_found_anywhere() {
        let n = 3 * CHUNK + 5;
        let wanted = Wanted::default();
        let mut keys: Vec<u32> = (10..10 + n as u32).collect();
        assert_eq!(first_disorder(&keys, &wanted), None);
        for at in [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, n - 1] {
            keys[at] -= 2;
            assert_eq!(first_disorder(&keys, &wanted), Some(at));
            keys[at] += 2;
        }
        keys[CHUNK] = 0;
        keys[2 * CHUNK] = 0;
        assert_eq!(first_disorder(&keys, &wanted), Some(CHUNK));
    }

    #[test]
    fn equal_keys_are_in_either_order() {
        for &order in Order::ALL {
            let wanted = Wanted {
                order,
                ..Wanted::default()
            };
            assert_eq!(first_disorder(&[7u64; 9], &wanted), None);
            assert_eq!(first_disorder::<u64>(&[], &wanted), None);
        }
        let descending = Wanted {
            order: Order::Descending,
            ..Wanted::default()
        };
        assert_eq!(first_disorder(&[3i8, 3, -1, 0], &descending), Some(3));
    }

    /// Which value is with which key tells pairs apart, and their order does not.
    #[test]
    fn pairs_stay_together() {
        let pairs: Vec<(u128, u128)> = (0..1000).map(|i| (i % 7, (i << 64) | (i % 3))).collect();
        let same = |other: Vec<(u128, u128)>| same_pairs(pairs.iter().copied(), other.into_iter());
        assert!(same(pairs.iter().rev().copied().collect()));
        assert!(!same(
            pairs.iter().map(|&(key, value)| (value, key)).collect()
        ));
        let mut other = pairs.clone();
        (other[5].1, other[998].1) = (pairs[998].1, pairs[5].1);
        assert!(!same(other));
    }

    #[test]
    fn fingerprints_tell_multisets_apart() {
        let n = 2 * CHUNK + 1;
        let mut keys: Vec<u64> = (0..n as u64).collect();
        let before = fingerprint(&keys);
        keys.reverse();
        assert_eq!(fingerprint(&keys), before);
        assert_eq!(before.keys(), n as u64);
        // One key for another, two keys whose sum stays, and a bit moved between two keys.
        for (i, j, a, b) in [(5, 6, 0, 1), (7, 8, 1, u64::MAX), (9, 10, 1 << 40, 0)] {
            let mut other = keys.clone();
            other[i] = other[i].wrapping_add(a);
            other[j] = other[j].wrapping_add(b);
            assert!(!same_multiset(&keys, &other));
        }
        assert!(!same_multiset(&[1u128 << 64], &[1u128]));
        assert!(!same_multiset(&[0u128, 1 << 64 | 1], &[1u128, 1 << 64]));
        assert!(!same_multiset(&[0.0f32], &[-0.0]));
        assert!(!same_multiset(
            &[[0u8; 20]],
            &[{
                let mut key = [0u8; 20];
                key[0] = 1;
                key
            }]
        ));
    }

    #[test]
    fn wrong_indices_are_refused() {
        let keys = [2u16, 1, 2, 0];
        let check = |index: &[u64]| check_index(&keys, index, &Wanted::default());
        assert_eq!(check(&[3, 1, 0, 2]), Ok(()));
        for (index, part) in [
            (&[3, 1, 2, 0][..], "the other way round"),
            (&[3, 1, 0], "3 index entries"),
            (&[3, 1, 0, 0], "the other way round"),
            (&[3, 1, 0, 4], "index[3] is 4"),
            (&[3, 1, 0, u64::MAX], "only 4 keys"),
        ] {
            let message = check(index).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
