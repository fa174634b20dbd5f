//! Sorting through the permutation: an index is sorted, then followed once by keys and values.
//!
//! Keys wider than 128 bits are indexed by their 64-bit words, last word first, each round stable:
//! an LSD radix sort whose digits are words. Values too large to travel with their keys follow the
//! finished index.

use std::time::Instant;

use rayon::prelude::*;
use sweepsort_core::{
    BitWriter, Error, IndexMut, RadixKey, Report, Result, Spec, Stage, Task, ValuesMut, Words,
    WordsMut,
};

use crate::sorter::Sorter;

/// Values of more bytes than this are moved once, through an index, and do not travel with keys.
pub(crate) const MAX_TRAVELLING_BYTES: usize = 16;

/// Fewer elements than this are not worth a second thread.
const PARALLEL_FROM: usize = 1 << 15;

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
    // Both allocations come before either slice is touched.
    let (mut key_room, mut value_room) = (room(keys.len())?, room(values.len())?);
    follow(keys, &index, &mut key_room);
    if !values.is_empty() {
        follow(values, &index, &mut value_room);
    }
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
    fill(index, I::new);
    let mut words = zeros::<u64>(keys.len())?;
    let mut total = Report::default();
    let first = spec.bits.start / 64 * 64;
    // One round at least, so that an empty range of bits, where all keys tie, needs no other path.
    for low in (first..spec.bits.end.max(first + 1)).step_by(64) {
        let start = Instant::now();
        fill(&mut words, |i| {
            let mut out = BitWriter::new(K::BITS, low);
            keys[index[i].at()].write(&mut out);
            out.window() as u64
        });
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
            let mut scratch = room(data.len())?;
            sorter.run(
                Task::Argsort((&*words).into(), IndexMut::U64(&mut index)),
                spec,
            )?;
            follow(data, &index, &mut scratch);
            Ok(())
        }
    }
}

/// Moves `data[index[i]]` to `data[i]` for all `i`. `scratch` is room for a copy.
fn follow<T: Copy + Send + Sync, I: Index>(data: &mut [T], index: &[I], scratch: &mut Vec<T>) {
    scratch.clear();
    if data.len() < PARALLEL_FROM {
        scratch.extend(index.iter().map(|i| data[i.at()]));
        data.copy_from_slice(scratch);
    } else {
        let source = &*data;
        index
            .par_iter()
            .map(|i| source[i.at()])
            .collect_into_vec(scratch);
        data.par_chunks_mut(PARALLEL_FROM)
            .zip(scratch.par_chunks(PARALLEL_FROM))
            .for_each(|(to, from)| to.copy_from_slice(from));
    }
}

/// Sets `data[i]` to `value(i)` for all `i`.
pub(crate) fn fill<T: Send>(data: &mut [T], value: impl Fn(usize) -> T + Sync) {
    if data.len() < PARALLEL_FROM {
        data.iter_mut()
            .enumerate()
            .for_each(|(i, slot)| *slot = value(i));
    } else {
        data.par_iter_mut()
            .with_min_len(PARALLEL_FROM / 4)
            .enumerate()
            .for_each(|(i, slot)| *slot = value(i));
    }
}

/// `value` of every element.
pub(crate) fn collect<S: Sync, T: Send>(
    from: &[S],
    value: impl Fn(&S) -> T + Sync + Send,
) -> Result<Vec<T>> {
    let mut to = room(from.len())?;
    if from.len() < PARALLEL_FROM {
        to.extend(from.iter().map(value));
    } else {
        from.par_iter()
            .with_min_len(PARALLEL_FROM / 4)
            .map(value)
            .collect_into_vec(&mut to);
    }
    Ok(to)
}

/// `n` zeros.
pub(crate) fn zeros<T: Copy + Default>(n: usize) -> Result<Vec<T>> {
    let mut values = room(n)?;
    values.resize(n, T::default());
    Ok(values)
}

/// An empty vector with room for `n` elements.
fn room<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(n)
        .map_err(|_| Error::OutOfMemory {
            bytes: n.saturating_mul(size_of::<T>()),
        })?;
    Ok(values)
}
