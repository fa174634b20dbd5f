//! Sorting through the permutation: an index is sorted, then followed once by keys and values.
//!
//! Keys wider than 128 bits are indexed by their 64-bit words, last word first, each round stable:
//! an LSD radix sort whose digits are words. Values too large to travel with their keys follow the
//! finished index.

use std::time::Instant;

use sweepsort_core::{
    BitWriter, Error, IndexMut, RadixKey, Report, Result, Spec, Stage, Task, ValuesMut, Words,
    WordsMut,
};

use crate::sorter::Sorter;

/// Values of more bytes than this are moved once, through an index, and do not travel with keys.
pub(crate) const MAX_TRAVELLING_BYTES: usize = 16;

/// An index entry: `u32` or `u64`.
pub(crate) trait Index: Copy + Default + Send + Sync {
    /// An index entry for position `at`.
    fn new(at: usize) -> Self;
    /// The position.
    fn at(self) -> usize;
    /// The index as an engine takes it.
    fn as_index(index: &mut [Self]) -> IndexMut<'_>;
}

impl Index for u32 {
    fn new(at: usize) -> Self {
        at as u32
    }
    fn at(self) -> usize {
        self as usize
    }
    fn as_index(index: &mut [Self]) -> IndexMut<'_> {
        IndexMut::U32(index)
    }
}

impl Index for u64 {
    fn new(at: usize) -> Self {
        at as u64
    }
    fn at(self) -> usize {
        self as usize
    }
    fn as_index(index: &mut [Self]) -> IndexMut<'_> {
        IndexMut::U64(index)
    }
}

/// Sorts keys and values (equally many, or none) by an index that is then followed.
pub(crate) fn sort_through<I: Index, K: RadixKey, V: Copy + Send + Sync>(
    sorter: &Sorter,
    keys: &mut [K],
    values: &mut [V],
) -> Result<Report> {
    let mut index = zeros::<I>(keys.len())?;
    let mut report = sorter.index(keys, &mut index)?;
    let start = Instant::now();
    let engine = sorter.engine();
    // Whatever can fail comes before either slice is touched.
    let sorted_keys = engine.collect(keys.len(), |i| keys[index[i].at()])?;
    let sorted_values = engine.collect(values.len(), |i| values[index[i].at()])?;
    engine.fill(keys, |i| sorted_keys[i])?;
    engine.fill(values, |i| sorted_values[i])?;
    report.stages.push((Stage::Gather, start.elapsed()));
    report.bytes_moved += 4 * (size_of_val(keys) + size_of_val(values)) as u64;
    Ok(report)
}

/// Fills `index` with the order of keys wider than 128 bits.
pub(crate) fn index_wide<K: RadixKey, I: Index>(
    sorter: &Sorter,
    keys: &[K],
    index: &mut [I],
    spec: &Spec,
) -> Result<Report> {
    sorter.engine().fill(index, I::new)?;
    let mut words = zeros::<u64>(keys.len())?;
    let mut total = Report::default();
    let first = spec.bits.start / 64 * 64;
    // One round at least, so that an empty range of bits, where all keys tie, needs no other path.
    for low in (first..spec.bits.end.max(first + 1)).step_by(64) {
        let start = Instant::now();
        sorter.engine().fill(&mut words, |i| {
            let mut out = BitWriter::new(K::BITS, low);
            keys[index[i].at()].write(&mut out);
            out.window() as u64
        })?;
        total.stages.push((Stage::Gather, start.elapsed()));
        let round = Spec {
            bits: spec.bits.start.max(low) - low..spec.bits.end.min(low + 64) - low,
            ..spec.clone()
        };
        total.absorb(sorter.run(
            Task::Pairs(words.as_mut_slice().into(), ValuesMut::new(index)),
            &round,
        )?);
    }
    Ok(total)
}

/// Sorts words, and moves each element of `data`, of whatever size, with its word.
pub(crate) fn sort_with<W, T: Copy + Send + Sync>(
    sorter: &Sorter,
    words: &mut [W],
    data: &mut [T],
    spec: &Spec,
) -> Result<()>
where
    for<'a> &'a [W]: Into<Words<'a>>,
    for<'a> &'a mut [W]: Into<WordsMut<'a>>,
{
    match size_of::<T>() {
        0 => Ok(()),
        1..=MAX_TRAVELLING_BYTES => sorter
            .run(Task::Pairs(words.into(), ValuesMut::new(data)), spec)
            .map(drop),
        _ => {
            let mut index = zeros::<u64>(words.len())?;
            sorter.run(
                Task::Argsort((&*words).into(), IndexMut::U64(&mut index)),
                spec,
            )?;
            sorter.engine().permute(data, |i| index[i].at())
        }
    }
}

/// `n` zeros.
pub(crate) fn zeros<T: Copy + Default>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(n)
        .map_err(|_| Error::OutOfMemory {
            bytes: n.saturating_mul(size_of::<T>()),
        })?;
    values.resize(n, T::default());
    Ok(values)
}
