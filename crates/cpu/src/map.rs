//! Work on each element by itself, shared by the workers: fill, collect, permute.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

use sweepsort_core::{Error, Result};

use crate::engine::CpuEngine;
use crate::pool::{Pool, Shared};

/// Sets `values[i]` to `value(i)` for all `i`.
///
/// # Errors
/// [`Error::Threads`].
pub(crate) fn fill<T: Send>(
    pool: &Pool,
    values: &mut [T],
    value: impl Fn(usize) -> T + Send + Sync,
) -> Result<()> {
    let start = Shared(values.as_mut_ptr());
    pool.for_ranges(values.len(), &|range: Range<usize>| {
        // SAFETY: ranges lie within the values, and do not overlap.
        let part = unsafe { slice::from_raw_parts_mut(start.at(range.start), range.len()) };
        for (slot, i) in part.iter_mut().zip(range) {
            *slot = value(i);
        }
    })
}

/// An empty vector with room for `n` values.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn with_room<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(n) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::OutOfMemory {
            bytes: n.saturating_mul(size_of::<T>()),
        }),
    }
}

/// What a library does to keys and values around a sort, by the engine's workers.
impl CpuEngine {
    /// Sets `values[i]` to `value(i)` for all `i`.
    ///
    /// # Errors
    /// [`Error::Threads`], the values untouched.
    pub fn fill<T: Send>(
        &self,
        values: &mut [T],
        value: impl Fn(usize) -> T + Send + Sync,
    ) -> Result<()> {
        fill(self.pool(), values, value)
    }

    /// The values of `value(i)` for `i` from 0 to `n - 1`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Threads`].
    pub fn collect<T: Copy + Send>(
        &self,
        n: usize,
        value: impl Fn(usize) -> T + Send + Sync,
    ) -> Result<Vec<T>> {
        let mut values = with_room(n)?;
        fill(self.pool(), &mut values.spare_capacity_mut()[..n], |i| {
            MaybeUninit::new(value(i))
        })?;
        // SAFETY: the first `n` elements were just written.
        unsafe { values.set_len(n) };
        Ok(values)
    }

    /// Moves `data[index(i)]` to `data[i]` for all `i`, through a copy of the data.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Threads`]; the data is untouched then.
    ///
    /// # Panics
    /// Where an index is not below the number of elements; the data is untouched then.
    pub fn permute<T: Copy + Send + Sync>(
        &self,
        data: &mut [T],
        index: impl Fn(usize) -> usize + Send + Sync,
    ) -> Result<()> {
        let source = &*data;
        let moved = self.collect(data.len(), |i| source[index(i)])?;
        self.fill(data, |i| moved[i])
    }
}
