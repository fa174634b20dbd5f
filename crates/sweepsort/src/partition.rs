//! The split primitive with any number of groups.
//!
//! The categories are read once, into the narrowest words that hold them, and then sorted as keys
//! that the caller's keys follow; so a category function that answers differently a second time
//! can do no harm.

use std::borrow::Cow;

use sweepsort_core::{Codec, Error, Result, Spec, Width, Word, Words, WordsMut, with_width};

use crate::permutation;
use crate::sorter::Sorter;

/// See [`crate::partition_by`].
pub(crate) fn partition_by<K: Copy + Send + Sync>(
    sorter: &Sorter,
    keys: &mut [K],
    groups: usize,
    category: impl Fn(&K) -> usize + Sync,
) -> Result<Vec<usize>> {
    let bits = usize::BITS - groups.saturating_sub(1).leading_zeros();
    with_width!(Width::holding(bits).unwrap_or(Width::W64), |W| {
        partition_as::<W, K>(sorter, keys, groups, bits, category)
    })
}

fn partition_as<W, K>(
    sorter: &Sorter,
    keys: &mut [K],
    groups: usize,
    bits: u32,
    category: impl Fn(&K) -> usize + Sync,
) -> Result<Vec<usize>>
where
    W: Word,
    for<'a> &'a [W]: Into<Words<'a>>,
    for<'a> &'a mut [W]: Into<WordsMut<'a>>,
    K: Copy + Send + Sync,
{
    // A category out of range is kept as found, for the message; none in range has its number.
    let first_bad = std::sync::Mutex::new(None::<(usize, usize)>);
    let mut categories = sorter.engine().collect(keys.len(), |index| {
        let found = category(&keys[index]);
        if found >= groups {
            let mut first = first_bad
                .lock()
                .unwrap_or_else(|poison| poison.into_inner());
            if first.is_none_or(|(earlier, _)| index < earlier) {
                *first = Some((index, found));
            }
        }
        W::truncate(found as u128)
    })?;
    if let Some((index, category)) = first_bad.into_inner().unwrap_or_default() {
        return Err(Error::Category {
            index,
            category,
            groups,
        });
    }
    let mut offsets = permutation::zeros::<usize>(groups + 1)?;
    for category in &categories {
        offsets[category.low_usize() + 1] += 1;
    }
    for group in 0..groups {
        offsets[group + 1] += offsets[group];
    }
    let spec = Spec {
        codec: Codec::UNSIGNED,
        bits: 0..bits,
        stable: true,
        algorithm: Cow::Borrowed("auto"),
    };
    permutation::sort_with(sorter, &mut categories, keys, &spec)?;
    Ok(offsets)
}
