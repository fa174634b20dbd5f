//! Radix sort as fast as it gets, for arrays too large to wait for.
//!
//! ```
//! let mut keys = vec![3.5f32, -1.0, 2.25];
//! sweepsort::sort(&mut keys)?;
//! assert_eq!(keys, [-1.0, 2.25, 3.5]);
//! # Ok::<(), sweepsort::Error>(())
//! ```
//!
//! * [`sort`], [`sort_pairs`], [`argsort`] and [`partition_by`] take the natural order, and the engine
//!   that is expected to be the fastest here ([`Choice::Auto`], see [`Builder::engine`]).
//! * A [`Sorter`] fixes options once (descending, a range of bits, where NaNs go, the engine, the
//!   number of threads), keeps its scratch memory between calls, and answers each call with a
//!   [`Report`].
//! * [`RadixKey`] lists the key types; `#[derive(RadixKey)]` makes more.
//! * [`devices`] tells which engines are here and why others are not.
//! * [`mod@explain`] shows what an algorithm does with a few keys, array by array.
//!
//! Sorts are stable unless their name says otherwise, and any number of keys will do.

mod choice;
mod devices;
pub mod explain;
mod partition;
mod permutation;
mod rental;
mod sorter;
mod trial;

pub use devices::{Device, devices};
pub use sorter::{Builder, Sorter};
pub use sweepsort_core::{
    BitReader, BitWriter, Choice, DataState, Digit, Error, Nan, Order, Plan, Presorted, RadixKey,
    Report, Result, Stage,
};
pub use sweepsort_cpu::Instructions;

/// Makes a struct a key that sorts lexicographically, field by field in the order of declaration.
///
/// Every field must be a `RadixKey` itself; a field of type `std::cmp::Reverse<T>` sorts
/// descending. The struct must be `Copy`.
///
/// ```
/// use sweepsort::RadixKey;
///
/// #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
/// struct Event {
///     day: u16,
///     urgency: std::cmp::Reverse<u8>,
/// }
///
/// let event = |day, urgency| Event { day, urgency: std::cmp::Reverse(urgency) };
/// let mut events = [event(2, 1), event(1, 3), event(1, 9)];
/// sweepsort::sort(&mut events)?;
/// assert_eq!(events, [event(1, 9), event(1, 3), event(2, 1)]);
/// # Ok::<(), sweepsort::Error>(())
/// ```
pub use sweepsort_derive::RadixKey;

/// Sorts keys in place, in ascending order.
///
/// Equal keys are indistinguishable, so the sort is stable for all anyone can tell. Floats sort in
/// IEEE 754 total order ([`Nan::Total`]).
///
/// Time: `O(n)` for keys of a fixed width. Memory: as much again as the keys, and 64 MiB at most on
/// top; keys that are no machine word (`bool`, tuples, byte arrays, structs) are sorted as a copy
/// of the next word width. Where a GPU sorts, that memory is its own, and the keys lie there, too.
///
/// # Errors
/// [`Error::OutOfMemory`], the keys untouched; [`Error::Device`] where a GPU fails while it writes
/// the keys back.
///
/// ```
/// let mut keys = [5u64, 1, 4];
/// let report = sweepsort::sort(&mut keys)?;
/// assert_eq!(keys, [1, 4, 5]);
/// assert_eq!(report.engine, "cpu");
/// # Ok::<(), sweepsort::Error>(())
/// ```
pub fn sort<K: RadixKey>(keys: &mut [K]) -> Result<Report> {
    sorter::NATURAL.sort(keys)
}

/// Sorts keys in place, in ascending order, and moves each value with its key. Stable: values
/// under equal keys keep their order.
///
/// Memory: as much again as keys and values, and 64 MiB at most on top. Values of more than 16
/// bytes are moved once, at the end, through an index.
///
/// # Errors
/// [`Error::LengthMismatch`] and [`Error::OutOfMemory`], keys and values untouched.
///
/// ```
/// let mut keys = [2u32, 1, 2, 1];
/// let mut values = ['a', 'b', 'c', 'd'];
/// sweepsort::sort_pairs(&mut keys, &mut values)?;
/// assert_eq!((keys, values), ([1, 1, 2, 2], ['b', 'd', 'a', 'c']));
/// # Ok::<(), sweepsort::Error>(())
/// ```
pub fn sort_pairs<K: RadixKey, V: Copy + Send + Sync>(
    keys: &mut [K],
    values: &mut [V],
) -> Result<Report> {
    sorter::NATURAL.sort_pairs(keys, values)
}

/// As [`sort_pairs`], but the values under equal keys may come in any order, where that is faster.
///
/// # Errors
/// As [`sort_pairs`].
///
/// ```
/// let mut keys = [2u8, 1];
/// let mut values = [20u64, 10];
/// sweepsort::sort_pairs_unstable(&mut keys, &mut values)?;
/// assert_eq!(values, [10, 20]);
/// # Ok::<(), sweepsort::Error>(())
/// ```
pub fn sort_pairs_unstable<K: RadixKey, V: Copy + Send + Sync>(
    keys: &mut [K],
    values: &mut [V],
) -> Result<Report> {
    sorter::NATURAL.sort_pairs_unstable(keys, values)
}

/// The positions of the keys in ascending order: `keys[order[0]]` is the smallest. Stable: equal
/// keys come in input order.
///
/// Memory: at most 32 bytes a key, the result not counted.
///
/// # Errors
/// [`Error::TooManyKeys`] above 2^32 keys, where [`argsort_u64`] serves; [`Error::OutOfMemory`].
///
/// ```
/// let order = sweepsort::argsort(&[30i16, -10, 20])?;
/// assert_eq!(order, [1, 2, 0]);
/// # Ok::<(), sweepsort::Error>(())
/// ```
pub fn argsort<K: RadixKey>(keys: &[K]) -> Result<Vec<u32>> {
    sorter::NATURAL.argsort(keys)
}

/// As [`argsort`], for any number of keys.
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// ```
/// assert_eq!(sweepsort::argsort_u64(&[true, false])?, [1, 0]);
/// # Ok::<(), sweepsort::Error>(())
/// ```
pub fn argsort_u64<K: RadixKey>(keys: &[K]) -> Result<Vec<u64>> {
    sorter::NATURAL.argsort_u64(keys)
}

/// Brings keys of one category together: category 0 first, then 1, up to `groups - 1`. Stable, in
/// place. Returns where each group starts, and as a last entry the number of keys.
///
/// This is the split primitive of the teaching texts, with any number of groups: GROUP BY for a
/// small number of groups. `category` is called exactly once for each key, from several threads.
///
/// Memory: as much again as the keys and twice the categories, each of the smallest of 1, 2, 4 or
/// 8 bytes that holds `groups`.
///
/// # Errors
/// [`Error::Category`] if a category is not below `groups`; [`Error::OutOfMemory`]. The keys are
/// untouched then, as they are if `category` panics.
///
/// ```
/// let mut words = ["pear", "fig", "plum", "nut"];
/// let offsets = sweepsort::partition_by(&mut words, 5, |word| word.len())?;
/// assert_eq!(words, ["fig", "nut", "pear", "plum"]);
/// assert_eq!(offsets, [0, 0, 0, 0, 2, 4]);
/// # Ok::<(), sweepsort::Error>(())
/// ```
pub fn partition_by<K: Copy + Send + Sync>(
    keys: &mut [K],
    groups: usize,
    category: impl Fn(&K) -> usize + Sync,
) -> Result<Vec<usize>> {
    sorter::NATURAL.partition_by(keys, groups, category)
}

/// The README's examples are tests too.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
