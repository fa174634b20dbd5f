//! A few keys sorted in registers.
//!
//! ```text
//! load       4, 8 or 16 rows, the greatest code where there is no key           memory → registers
//! columns    each lane becomes a sorted column, by a network of rows
//! merge      columns by twos, fours, … all: always two rows are compared
//! turn       rows are zipped two by two, and are in order
//! store                                                                         registers → memory
//! ```
//!
//! Merges are bitonic: of two groups of columns, the upper one is met from behind. Of a key's place
//! in the order, some bits number the row and some the lane. Were lanes of one row compared, all
//! would be done twice; so where places differ in a bit of the lane, it and the row's lowest bit
//! change places before, and are not changed back. The next comparisons are of the row's other
//! bits, and then the second lowest is the lowest. Where a merge begins, no change is needed: each
//! key meets one of another lane in another row, and the lesser ones stay in the one row, the
//! greater ones in the other.
//!
//! Fewer keys than fill four vectors lie in a half or a quarter of the lanes, since rows are
//! exchanged in less time than lanes.

use sweepsort_core::Word;

use super::coding::{Codes, Coding};
use super::network;
use crate::instructions::logic_pays;
use crate::lanes::{LANES_MAX, Lanes};

/// The most rows.
const ROWS: usize = 16;

/// The most keys of a block, by any lanes.
pub(super) const MOST: usize = ROWS * LANES_MAX;

/// The most keys of a block.
pub(super) const fn most<L: Lanes>() -> usize {
    let rows = if L::LANES > 4 { ROWS } else { 8 };
    rows * L::LANES
}

/// Sorts `n` keys by their codes, to a place that has room for `room`: at least `n`. What lies
/// there behind the `n` is overwritten.
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
            1..=4 => sort_rows::<L, C, 4, 4, true>(from, n, to, room, coding),
            5..=8 => sort_rows::<L, C, 4, 2, true>(from, n, to, room, coding),
            9..=16 => sort_rows::<L, C, 4, 1, true>(from, n, to, room, coding),
            17..=32 if depends::<L>(8) && !logic_pays() => {
                sort_rows::<L, C, 8, 1, false>(from, n, to, room, coding)
            }
            17..=32 => sort_rows::<L, C, 8, 1, true>(from, n, to, room, coding),
            _ if depends::<L>(ROWS) && !logic_pays() => {
                sort_rows::<L, C, ROWS, 1, false>(from, n, to, room, coding)
            }
            _ => sort_rows::<L, C, ROWS, 1, true>(from, n, to, room, coding),
        }
    }
}

/// Whether it depends on the machine how rows are compared ([`logic_pays`]): those of a square in
/// vectors of 512 bits. Fewer rows wait for each other, and of more the greater words are had
/// sooner by logic on all machines.
const fn depends<L: Lanes>(rows: usize) -> bool {
    rows == L::LANES && L::LANES * size_of::<L::Word>() == 64
}

/// Sorts in `R` rows of the first lanes, one in `PARTS` of all. Half as many rows would not be enough.
#[inline(always)]
unsafe fn sort_rows<
    L: Lanes,
    C: Coding<L>,
    const R: usize,
    const PARTS: usize,
    const LOGIC: bool,
>(
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
        // So half of the rows are full. Four or sixteen took no less time for that.
        let full = if R == 8 { R / 2 } else { 0 };
        debug_assert!(full * L::LANES <= n);
        let mut rows = [coding.none(); R];
        for (i, parts) in rows.chunks_exact_mut(PARTS).enumerate() {
            let at = i * L::LANES;
            let keys = if i < full {
                L::load(from.add(at))
            } else {
                let at = at.min(n);
                L::load_some(from.add(at), n - at, coding.none())
            };
            let codes = coding.encode(keys);
            for (part, row) in parts.iter_mut().enumerate() {
                // The part comes first; what is behind it does not matter.
                *row = swapped::<L>(codes, part * columns);
            }
        }
        network::sort::<L, R, LOGIC>(&mut rows);
        merge::<L, R, LOGIC>(&mut rows, columns);
        turn::<L, R>(&mut rows, PARTS);
        let (mut last, mut last_at) = (rows[0], n);
        for (i, &row) in rows[..R / PARTS].iter().enumerate() {
            let (at, row) = (i * L::LANES, coding.decode(row));
            if i < full || at + L::LANES <= room {
                L::store(to.add(at), row);
            } else if at < n {
                (last, last_at) = (row, at);
            }
        }
        L::store_some(to.add(last_at), last, n - last_at);
    }
}

/// Sorts a block that is full and bitonic.
///
/// # Safety
/// The machine has the lanes' instructions. The [`most`] keys are there; nobody else uses them.
#[inline(always)]
pub(super) unsafe fn sort_bitonic<L: Lanes>(keys: *mut L::Word) {
    // SAFETY: the caller's promise.
    unsafe {
        match L::LANES {
            4 => sort_bitonic_rows::<L, 8, true>(keys),
            _ if depends::<L>(ROWS) && !logic_pays() => sort_bitonic_rows::<L, ROWS, false>(keys),
            _ => sort_bitonic_rows::<L, ROWS, true>(keys),
        }
    }
}

/// Sorts a bitonic block of `R` rows.
#[inline(always)]
unsafe fn sort_bitonic_rows<L: Lanes, const R: usize, const LOGIC: bool>(keys: *mut L::Word) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [L::splat(L::Word::MAX); R];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = L::load(keys.add(i * L::LANES));
        }
        merge_rows::<L, R, LOGIC>(&mut rows);
        for i in (0..R).step_by(2) {
            [rows[i], rows[i + 1]] = network::exchange::<L, R, LOGIC>(rows[i], rows[i + 1]);
        }
        meet_all::<L, R, LOGIC>(&mut rows, L::LANES, L::LANES.ilog2());
        turn::<L, R>(&mut rows, 1);
        for (i, &row) in rows.iter().enumerate() {
            L::store(keys.add(i * L::LANES), row);
        }
    }
}

/// The code in the middle of a sample of `n` keys: of 8 from each lane, and then of all lanes.
///
/// # Safety
/// The machine has the lanes' instructions. There are `n` keys, at least a vector.
#[inline(always)]
pub(super) unsafe fn middle<L: Lanes>(
    keys: *const L::Word,
    n: usize,
    coding: impl Coding<L>,
) -> L::Word {
    // SAFETY: the caller's promise.
    unsafe {
        match L::LANES {
            4 => middle_of::<L, 4>(keys, n, coding),
            _ => middle_of::<L, 8>(keys, n, coding),
        }
    }
}

#[inline(always)]
unsafe fn middle_of<L: Lanes, const R: usize>(
    keys: *const L::Word,
    n: usize,
    coding: impl Coding<L>,
) -> L::Word {
    // SAFETY: the last vector ends with the last key; a vector fits where the most lanes do.
    unsafe {
        let step = (n - L::LANES) / (R - 1);
        let mut rows = [L::splat(L::Word::MAX); R];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = coding.encode(L::load(keys.add(r * step)));
        }
        network::sort::<L, R, true>(&mut rows);
        let mut sorted = [L::Word::ZERO; LANES_MAX];
        let row = sorted.as_mut_ptr();
        L::store(row, rows[R / 2]);
        sort_rows::<L, _, 4, 4, true>(row, L::LANES, row, L::LANES, Codes);
        // An even number of rows has none in the middle but one above it, of which a lesser key is
        // taken.
        sorted[L::LANES * 5 / 16]
    }
}

/// Merges the first `columns`, each sorted. Then the lowest bit of a place in the order is the
/// row's lowest, the next ones are the lane's without its highest, which comes next, and the last
/// ones are the row's others.
#[inline(always)]
unsafe fn merge<L: Lanes, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    columns: usize,
) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        if columns >= 2 {
            merge_by::<L, R, LOGIC>(rows, columns, 1);
        }
        if columns >= 4 {
            merge_by::<L, R, LOGIC>(rows, columns, 2);
        }
        if columns >= 8 {
            merge_by::<L, R, LOGIC>(rows, columns, 3);
        }
        if columns >= 16 {
            merge_by::<L, R, LOGIC>(rows, columns, 4);
        }
    }
}

/// Merges what two groups of columns have become, of lanes whose numbers differ in the highest `bits`.
#[inline(always)]
unsafe fn merge_by<L: Lanes, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    columns: usize,
    bits: u32,
) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        // The one group from its start, the other from its end.
        let lanes = columns - (columns >> bits);
        for i in (0..R).step_by(2) {
            let (a, b) = (rows[i], swapped::<L>(rows[R - 1 - i], lanes));
            [rows[i], rows[R - 1 - i]] = network::exchange::<L, R, LOGIC>(a, b);
        }
        merge_rows::<L, R, LOGIC>(rows);
        // The row's second lowest bit becomes the lowest, and that the highest.
        let ordered = *rows;
        for i in 0..R / 2 {
            rows[i] = ordered[2 * i];
            rows[R / 2 + i] = ordered[2 * i + 1];
        }
        meet_all::<L, R, LOGIC>(rows, columns, bits);
    }
}

/// Compares rows whose numbers differ in a bit, from the highest to the second lowest.
#[inline(always)]
unsafe fn merge_rows<L: Lanes, const R: usize, const LOGIC: bool>(rows: &mut [L::Vector; R]) {
    for distance in [8, 4, 2] {
        for i in 0..R {
            if i & distance == 0 && distance < R {
                let (a, b) = (rows[i], rows[i + distance]);
                // SAFETY: the caller vouches for the instructions.
                unsafe {
                    [rows[i], rows[i + distance]] = network::exchange::<L, R, LOGIC>(a, b);
                }
            }
        }
    }
}

/// Compares lanes whose numbers differ in a bit, so many of the highest, one after the other.
#[inline(always)]
unsafe fn meet_all<L: Lanes, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    columns: usize,
    bits: u32,
) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        if bits >= 1 {
            meet::<L, R, LOGIC>(rows, columns / 2);
        }
        if bits >= 2 {
            meet::<L, R, LOGIC>(rows, columns / 4);
        }
        if bits >= 3 {
            meet::<L, R, LOGIC>(rows, columns / 8);
        }
        if bits >= 4 {
            meet::<L, R, LOGIC>(rows, columns / 16);
        }
    }
}

/// Compares lanes whose numbers differ in a bit, which changes places with the row's lowest.
#[inline(always)]
unsafe fn meet<L: Lanes, const R: usize, const LOGIC: bool>(rows: &mut [L::Vector; R], bit: usize) {
    for two in rows.as_chunks_mut::<2>().0 {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let [a, b] = *two;
            let [a, b] = match bit {
                1 => L::trade::<1>(a, b),
                2 => L::trade::<2>(a, b),
                4 => L::trade::<4>(a, b),
                _ => L::trade::<8>(a, b),
            };
            *two = network::exchange::<L, R, LOGIC>(a, b);
        }
    }
}

/// Lane `i ^ lanes` where lane `i` is.
#[inline(always)]
unsafe fn swapped<L: Lanes>(a: L::Vector, lanes: usize) -> L::Vector {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        match lanes {
            0 => a,
            1 => L::swap::<1>(a),
            2 => L::swap::<2>(a),
            3 => L::swap::<3>(a),
            4 => L::swap::<4>(a),
            6 => L::swap::<6>(a),
            7 => L::swap::<7>(a),
            8 => L::swap::<8>(a),
            12 => L::swap::<12>(a),
            14 => L::swap::<14>(a),
            _ => L::swap::<15>(a),
        }
    }
}

/// What [`merge`] leaves becomes rows in order: the first of `R / parts`.
#[inline(always)]
unsafe fn turn<L: Lanes, const R: usize>(rows: &mut [L::Vector; R], parts: usize) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        for two in rows.as_chunks_mut::<2>().0 {
            *two = L::zip(two[0], two[1]);
        }
        if parts >= 2 {
            // There is nothing in the second half.
            for i in 1..R / 2 {
                rows[i] = rows[2 * i];
            }
        }
        if parts >= 4 {
            for i in 0..R / 4 {
                [rows[i], _] = match L::LANES {
                    4 => L::trade::<2>(rows[2 * i], rows[2 * i + 1]),
                    8 => L::trade::<4>(rows[2 * i], rows[2 * i + 1]),
                    _ => L::trade::<8>(rows[2 * i], rows[2 * i + 1]),
                };
            }
        }
    }
}
