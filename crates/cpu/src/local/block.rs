//! A few keys sorted in registers.
//!
//! ```text
//! load       1, 2, 4, 8 or 16 vectors, all ones where there is no key   memory → registers
//! columns    each lane becomes a sorted column, by a network of rows
//! merge      columns by twos, fours, … all: crosswise between lanes, then rows again
//! store      the columns as rows, one after the other                   registers → memory
//! ```
//!
//! Merges are bitonic: of two groups of columns, the upper one is met from behind.

use sweepsort_core::Word;

use super::network;
use crate::lanes::Lanes;

/// The most rows.
const ROWS: usize = 16;
/// The most lanes of a vector.
const LANES_MAX: usize = 16;

/// The most keys of a block, by any lanes.
pub(super) const MOST: usize = ROWS * LANES_MAX;

/// The most keys of a block.
pub(super) const fn most<L: Lanes>() -> usize {
    let rows = if L::LANES > 4 { ROWS } else { 8 };
    rows * L::LANES
}

/// Sorts `n` keys, to a place that has room for `room`: at least `n`. What lies there behind the `n`
/// is overwritten.
///
/// # Safety
/// The machine has the lanes' instructions. There are `n` keys, at most the [`most`]; nobody else
/// uses them or their new place, which may be the same.
#[inline(always)]
pub(super) unsafe fn sort<L: Lanes>(from: *const L::Word, n: usize, to: *mut L::Word, room: usize) {
    // SAFETY: the caller's promise; the rows are enough for all keys.
    unsafe {
        match n.div_ceil(L::LANES) {
            0 => {}
            1 => sort_rows::<L, 1>(from, n, to, room),
            2 => sort_rows::<L, 2>(from, n, to, room),
            3..=4 => sort_rows::<L, 4>(from, n, to, room),
            5..=8 => sort_rows::<L, 8>(from, n, to, room),
            _ => sort_rows::<L, ROWS>(from, n, to, room),
        }
    }
}

#[inline(always)]
unsafe fn sort_rows<L: Lanes, const R: usize>(
    from: *const L::Word,
    n: usize,
    to: *mut L::Word,
    room: usize,
) {
    // SAFETY: only keys that are there are read, and all of them before any is written. Whole vectors
    // are written where there is room, and of others the keys alone.
    unsafe {
        let mut rows = [L::splat(L::Word::MAX); R];
        for (r, row) in rows.iter_mut().enumerate() {
            let at = (r * L::LANES).min(n);
            *row = L::load_some(from.add(at), n - at);
        }
        network::sort::<L, R>(&mut rows);
        merge::<L, R>(&mut rows);

        if R == 1 {
            return L::store_some(to, rows[0], n);
        }
        let mut columns = [rows[0]; ROWS];
        columns[..R].copy_from_slice(&rows);
        let blocks = R.div_ceil(L::LANES);
        for block in columns[..blocks * L::LANES].chunks_exact_mut(L::LANES) {
            L::transpose(block);
        }
        // Where a column has fewer keys than a vector, the next one overwrites the rest.
        for lane in 0..L::LANES {
            for block in 0..blocks {
                let at = lane * R + block * L::LANES;
                let sorted = columns[block * L::LANES + lane];
                // By AVX2, a store of some lanes takes some machines as long as twelve whole ones.
                if at + L::LANES <= room {
                    L::store(to.add(at), sorted);
                } else if at < n {
                    L::store_some(to.add(at), sorted, n - at);
                }
            }
        }
    }
}

/// The middle of a sample of `n` keys: of 8 from each lane, and then of all lanes.
///
/// # Safety
/// The machine has the lanes' instructions. There are `n` keys, at least a vector.
#[inline(always)]
pub(super) unsafe fn middle<L: Lanes>(keys: *const L::Word, n: usize) -> L::Word {
    // SAFETY: the caller's promise.
    unsafe {
        match L::LANES {
            4 => middle_of::<L, 4>(keys, n),
            _ => middle_of::<L, 8>(keys, n),
        }
    }
}

#[inline(always)]
unsafe fn middle_of<L: Lanes, const R: usize>(keys: *const L::Word, n: usize) -> L::Word {
    // SAFETY: the last vector ends with the last key; a vector fits where the most lanes do.
    unsafe {
        let step = (n - L::LANES) / (R - 1);
        let mut rows = [L::splat(L::Word::MAX); R];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = L::load(keys.add(r * step));
        }
        network::sort::<L, R>(&mut rows);
        let mut row = [rows[R / 2]];
        merge::<L, 1>(&mut row);
        let mut sorted = [L::Word::ZERO; LANES_MAX];
        L::store(sorted.as_mut_ptr(), row[0]);
        // An even number of rows has none in the middle but one above it, of which a lesser key is
        // taken.
        sorted[L::LANES * 5 / 16]
    }
}

/// Merges sorted columns; then the order is that of the lanes, and within a lane of the rows.
#[inline(always)]
unsafe fn merge<L: Lanes, const R: usize>(rows: &mut [L::Vector; R]) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        cross_back::<L, R, 1>(rows);
        merge_rows::<L, R>(rows);

        cross_back::<L, R, 3>(rows);
        cross::<L, R, 1>(rows);
        merge_rows::<L, R>(rows);

        if L::LANES >= 8 {
            cross_back::<L, R, 7>(rows);
            cross::<L, R, 2>(rows);
            cross::<L, R, 1>(rows);
            merge_rows::<L, R>(rows);
        }
        if L::LANES >= 16 {
            cross_back::<L, R, 15>(rows);
            cross::<L, R, 4>(rows);
            cross::<L, R, 2>(rows);
            cross::<L, R, 1>(rows);
            merge_rows::<L, R>(rows);
        }
    }
}

/// Sorts columns that are bitonic.
#[inline(always)]
unsafe fn merge_rows<L: Lanes, const R: usize>(rows: &mut [L::Vector; R]) {
    for distance in [8, 4, 2, 1] {
        for i in 0..R {
            if i & distance == 0 && distance < R {
                let (a, b) = (rows[i], rows[i + distance]);
                // SAFETY: the caller vouches for the instructions.
                unsafe {
                    [rows[i], rows[i + distance]] = network::exchange::<L, R>(a, b);
                }
            }
        }
    }
}

/// Compares lanes that differ in the bits `X`, row by row.
#[inline(always)]
unsafe fn cross<L: Lanes, const R: usize, const X: usize>(rows: &mut [L::Vector; R]) {
    for row in rows {
        // SAFETY: the caller vouches for the instructions.
        *row = unsafe { L::cross::<X>(*row, *row) };
    }
}

/// The same, the rows of one lane from the last on.
#[inline(always)]
unsafe fn cross_back<L: Lanes, const R: usize, const X: usize>(rows: &mut [L::Vector; R]) {
    for i in 0..R.div_ceil(2) {
        let (a, b) = (rows[i], rows[R - 1 - i]);
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            rows[i] = L::cross::<X>(a, b);
            rows[R - 1 - i] = L::cross::<X>(b, a);
        }
    }
}
