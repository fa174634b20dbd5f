//! A few keys sorted in registers.
//!
//! ```text
//! load       4, 8 or 16 rows, the greatest code where there is no key           memory → registers
//! columns    each lane becomes a sorted column, by a network of rows
//! merge      columns by twos, fours, … all: crosswise between lanes, then rows again
//! turn       the columns become rows, one after the other
//! store                                                                         registers → memory
//! ```
//!
//! Merges are bitonic: of two groups of columns, the upper one is met from behind. Fewer keys than fill four vectors lie in
//! a half or a quarter of the lanes, since rows are exchanged in less time than lanes.

use sweepsort_core::Word;

use super::coding::Coding;
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

/// Sorts `n` keys by their codes, to a place that has room for `room`: at least `n`. What lies there behind the `n`
/// is overwritten.
///
/// # Safety
/// The machine has the lanes' instructions. There are `n` keys, at most the [`most`]; nobody else
/// uses them or their new place, which may be the same.
#[inline(always)]
pub(super) unsafe fn sort<L: Lanes, C: Coding<L>>(
    from: *const L::Word,
    n: usize,
    to: *mut L::Word,
    room: usize,
    coding: C,
) {
    // SAFETY: the caller's promise; the rows are enough for all keys.
    unsafe {
        match n.div_ceil(L::LANES / 4) {
            0 => {}
            1..=4 => sort_rows::<L, C, 4, 4>(from, n, to, room, coding),
            5..=8 => sort_rows::<L, C, 4, 2>(from, n, to, room, coding),
            9..=16 => sort_rows::<L, C, 4, 1>(from, n, to, room, coding),
            17..=32 => sort_rows::<L, C, 8, 1>(from, n, to, room, coding),
            _ => sort_rows::<L, C, ROWS, 1>(from, n, to, room, coding),
        }
    }
}

/// Sorts in `R` rows of the first lanes, one in `PARTS` of all.
#[inline(always)]
unsafe fn sort_rows<L: Lanes, C: Coding<L>, const R: usize, const PARTS: usize>(
    from: *const L::Word,
    n: usize,
    to: *mut L::Word,
    room: usize,
    coding: C,
) {
    // SAFETY: only keys that are there are read, and all of them before any is written. Whole vectors
    // are written where there is room, and of others the keys alone.
    unsafe {
        let columns = L::LANES / PARTS;
        let mut rows = [coding.none(); R];
        for (r, row) in rows.iter_mut().enumerate() {
            let at = (r * columns).min(n);
            let own = (n - at).min(columns);
            *row = coding.encode(L::load_some(from.add(at), own, coding.none()));
        }
        network::sort::<L, R>(&mut rows);
        merge::<L, R>(&mut rows, columns);
        turn::<L, R>(&mut rows);
        // A column longer than a row has been turned row by row.
        let rows_each = R.div_ceil(L::LANES);
        let (mut last, mut last_at) = (rows[0], n);
        for column in 0..R / PARTS / rows_each {
            for part in 0..rows_each {
                let at = (column * rows_each + part) * L::LANES;
                let row = coding.decode(rows[part * L::LANES + column]);
                if at + L::LANES <= room {
                    L::store(to.add(at), row);
                } else if at < n {
                    (last, last_at) = (row, at);
                }
            }
        }
        L::store_some(to.add(last_at), last, n - last_at);
    }
}

/// Columns become rows, as many one after the other as fit a row; or several rows each.
#[inline(always)]
unsafe fn turn<L: Lanes, const R: usize>(rows: &mut [L::Vector; R]) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        if R >= L::LANES {
            for block in rows.chunks_exact_mut(L::LANES) {
                L::transpose(block);
            }
            return;
        }
        // Each time the upper half of the rows goes between the lower ones.
        for _ in 0..R.ilog2() {
            let halves = *rows;
            for (i, two) in rows.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                *two = L::zip(halves[i], halves[R / 2 + i]);
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
        merge::<L, 1>(&mut row, L::LANES);
        let mut sorted = [L::Word::ZERO; LANES_MAX];
        L::store(sorted.as_mut_ptr(), row[0]);
        // An even number of rows has none in the middle but one above it, of which a lesser key is
        // taken.
        sorted[L::LANES * 5 / 16]
    }
}

/// Merges the first `columns`, each sorted; then the order is that of the lanes, and within a lane of the rows.
#[inline(always)]
unsafe fn merge<L: Lanes, const R: usize>(rows: &mut [L::Vector; R], columns: usize) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        if columns >= 2 {
            cross_back::<L, R, 1>(rows);
            merge_rows::<L, R>(rows);
        }
        if columns >= 4 {
            cross_back::<L, R, 3>(rows);
            cross::<L, R, 1>(rows);
            merge_rows::<L, R>(rows);
        }
        if columns >= 8 {
            cross_back::<L, R, 7>(rows);
            cross::<L, R, 2>(rows);
            cross::<L, R, 1>(rows);
            merge_rows::<L, R>(rows);
        }
        if columns >= 16 {
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
