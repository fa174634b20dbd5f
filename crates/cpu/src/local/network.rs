//! Sorting networks: rows of vectors, compared and exchanged lane by lane, so that each lane comes
//! out as a sorted column.
//!
//! Batcher's odd-even mergesort. A line of a table is a layer, whose exchanges do not depend on
//! each other; `a b` leaves the lesser of rows `a` and `b` in `a`.

use sweepsort_core::Word;

use crate::lanes::Sorted;
use crate::tuning::{WAITING_ROWS, WAITING_ROWS_64};

/// Exchanges two rows where they are out of order.
macro_rules! exchange {
    ($rows:ident, $base:expr; $($a:literal $b:literal),* $(,)?) => {$(
        let (a, b) = ($rows[$base + $a], $rows[$base + $b]);
        // SAFETY: the caller's promise, that the machine has these instructions.
        unsafe {
            [$rows[$base + $a], $rows[$base + $b]] = exchange::<L, R, LOGIC>(a, b);
        }
    )*};
}

/// Evaluates what sorts bins, with a constant `$rows` as small as a network for the fullest of them
/// is, which has `$most` keys; not at all if none has any. 12 rows only `$twelve`.
macro_rules! by_rows {
    ($most:expr, $twelve:expr, $rows:ident => $sort:expr) => {{
        macro_rules! rows {
            ($n:literal) => {{
                const $rows: usize = $n;
                $sort
            }};
        }
        match $most {
            0 => {}
            1..=8 => rows!(8),
            9..=12 if $twelve => rows!(12),
            9..=16 => rows!(16),
            17..=24 => rows!(24),
            _ => rows!(32),
        }
    }};
}
pub(super) use by_rows;

/// The lesser of two of `R` rows, lane by lane, and the greater; of many rows by `LOGIC`, if there
/// is such a way ([`Sorted::exchange`]).
///
/// # Safety
/// The machine has the lanes' instructions.
#[inline(always)]
pub(super) unsafe fn exchange<L: Sorted, const R: usize, const LOGIC: bool>(
    a: L::Vector,
    b: L::Vector,
) -> [L::Vector; 2] {
    let waiting = match L::Word::BITS {
        64 => WAITING_ROWS_64,
        _ => WAITING_ROWS,
    };
    // SAFETY: the caller's promise.
    unsafe {
        if LOGIC && R > waiting {
            L::exchange(a, b)
        } else {
            [L::min(a, b), L::max(a, b)]
        }
    }
}

/// Sorts rows `base` and `base + 1`.
#[inline(always)]
unsafe fn sort_2<L: Sorted, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    base: usize,
) {
    exchange!(rows, base; 0 1);
}

/// Sorts rows `base..base + 4`.
#[inline(always)]
unsafe fn sort_4<L: Sorted, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    base: usize,
) {
    exchange!(rows, base;
        0 1, 2 3,
        0 2, 1 3,
        1 2,
    );
}

/// Sorts rows `base..base + 8`.
#[inline(always)]
unsafe fn sort_8<L: Sorted, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    base: usize,
) {
    exchange!(rows, base;
        0 1, 2 3, 4 5, 6 7,
        0 2, 1 3, 4 6, 5 7,
        0 4, 1 2, 3 7, 5 6,
        1 5, 2 6,
        2 4, 3 5,
        1 2, 3 4, 5 6,
    );
}

/// Sorts rows `base..base + 12`: as 16 of which the last four are greatest.
#[inline(always)]
unsafe fn sort_12<L: Sorted, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    base: usize,
) {
    exchange!(rows, base;
        0 1, 2 3, 4 5, 6 7, 8 9, 10 11,
        0 2, 1 3, 4 6, 5 7, 8 10, 9 11,
        0 4, 1 2, 3 7, 5 6, 9 10,
        0 8, 1 5, 2 6,
        2 4, 3 5,
        1 2, 3 4, 5 6,
        1 9, 2 10, 3 11,
        4 8, 5 9, 6 10, 7 11,
        2 4, 3 5, 6 8, 7 9,
        1 2, 3 4, 5 6, 7 8, 9 10,
    );
}

/// Sorts rows `base..base + 16`.
#[inline(always)]
unsafe fn sort_16<L: Sorted, const R: usize, const LOGIC: bool>(
    rows: &mut [L::Vector; R],
    base: usize,
) {
    exchange!(rows, base;
        0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15,
        0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15,
        0 4, 1 2, 3 7, 5 6, 8 12, 9 10, 11 15, 13 14,
        0 8, 1 5, 2 6, 7 15, 9 13, 10 14,
        2 4, 3 5, 10 12, 11 13,
        1 2, 3 4, 5 6, 9 10, 11 12, 13 14,
        1 9, 2 10, 3 11, 4 12, 5 13, 6 14,
        4 8, 5 9, 6 10, 7 11,
        2 4, 3 5, 6 8, 7 9, 10 12, 11 13,
        1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14,
    );
}

/// Merges rows 0 to 15 with rows 16 to 23.
#[inline(always)]
unsafe fn merge_24<L: Sorted, const R: usize, const LOGIC: bool>(rows: &mut [L::Vector; R]) {
    exchange!(rows, 0;
        0 16, 1 17, 2 18, 3 19, 4 20, 5 21, 6 22, 7 23,
        8 16, 9 17, 10 18, 11 19, 12 20, 13 21, 14 22, 15 23,
        4 8, 5 9, 6 10, 7 11, 12 16, 13 17, 14 18, 15 19,
        2 4, 3 5, 6 8, 7 9, 10 12, 11 13, 14 16, 15 17, 18 20, 19 21,
        1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14, 15 16, 17 18, 19 20, 21 22,
    );
}

/// Merges rows 0 to 15 with rows 16 to 31.
#[inline(always)]
unsafe fn merge_32<L: Sorted, const R: usize, const LOGIC: bool>(rows: &mut [L::Vector; R]) {
    exchange!(rows, 0;
        0 16, 1 17, 2 18, 3 19, 4 20, 5 21, 6 22, 7 23, 8 24, 9 25, 10 26, 11 27, 12 28, 13 29, 14 30, 15 31,
        8 16, 9 17, 10 18, 11 19, 12 20, 13 21, 14 22, 15 23,
        4 8, 5 9, 6 10, 7 11, 12 16, 13 17, 14 18, 15 19, 20 24, 21 25, 22 26, 23 27,
        2 4, 3 5, 6 8, 7 9, 10 12, 11 13, 14 16, 15 17, 18 20, 19 21, 22 24, 23 25, 26 28, 27 29,
        1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14, 15 16, 17 18, 19 20, 21 22, 23 24, 25 26, 27 28, 29 30,
    );
}

/// Sorts all rows: 1, 2, 4, 8, 12, 16, 24 or 32 of them.
///
/// # Safety
/// The machine has the lanes' instructions.
#[inline(always)]
pub(super) unsafe fn sort<L: Sorted, const R: usize, const LOGIC: bool>(rows: &mut [L::Vector; R]) {
    // SAFETY: the caller's promise.
    unsafe {
        match R {
            1 => {}
            2 => sort_2::<L, R, LOGIC>(rows, 0),
            4 => sort_4::<L, R, LOGIC>(rows, 0),
            8 => sort_8::<L, R, LOGIC>(rows, 0),
            12 => sort_12::<L, R, LOGIC>(rows, 0),
            16 => sort_16::<L, R, LOGIC>(rows, 0),
            24 => {
                sort_16::<L, R, LOGIC>(rows, 0);
                sort_8::<L, R, LOGIC>(rows, 16);
                merge_24::<L, R, LOGIC>(rows);
            }
            32 => {
                sort_16::<L, R, LOGIC>(rows, 0);
                sort_16::<L, R, LOGIC>(rows, 16);
                merge_32::<L, R, LOGIC>(rows);
            }
            _ => unreachable!("no network of {R} rows"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::any::type_name;
    use std::array;

    use super::*;
    use crate::instructions::Instructions;
    use crate::lanes::{AnyVectored, Keys, by_any_vectors};

    /// Zeros and ones, a bit for each row. All that there are, of up to 16 rows. Of more rows the
    /// first 16 and the others are sorted, and then merged: so any number of ones in either are all
    /// that a merge meets. And some more.
    fn inputs(rows: u32) -> Vec<u32> {
        if rows <= 16 {
            return (0..1 << rows).collect();
        }
        let upper = rows - 16;
        // So many ones, scattered over so many rows.
        let ones =
            |many, rows, turn| (0..many).fold(0, |all, i| all | 1u32 << ((5 * i + turn) % rows));
        let turned = |turn| {
            let many = (0..=16).flat_map(|low| (0..=upper).map(move |high| (low, high)));
            many.map(move |(low, high)| ones(low, 16, turn) | ones(high, upper, 3 * turn) << 16)
        };
        let others = (0..1 << 12).map(|i: u32| i.wrapping_mul(0x9e37_79b9) >> (32 - rows));
        (0..8).flat_map(turned).chain(others).collect()
    }

    struct Networks;

    impl AnyVectored for Networks {
        type Output = ();

        unsafe fn run<L: Keys>(self) {
            // SAFETY: the caller's promise.
            unsafe {
                all_rows::<L>();
                all_rows::<L::Distances>();
                all_rows::<L::Rests>();
            }
        }
    }

    unsafe fn all_rows<L: Sorted>() {
        // SAFETY: the caller's promise.
        unsafe {
            check::<L, 1>();
            check::<L, 2>();
            check::<L, 4>();
            check::<L, 8>();
            check::<L, 12>();
            check::<L, 16>();
            check::<L, 24>();
            check::<L, 32>();
        }
    }

    /// Sorts as many inputs at a time as there are lanes.
    unsafe fn check<L: Sorted, const R: usize>() {
        for inputs in inputs(R as u32).chunks(L::LANES) {
            let row = |r: usize, inputs: &[u32]| {
                let mut lanes = [L::LEAST; 32];
                for (lane, input) in lanes.iter_mut().zip(inputs) {
                    if input >> r & 1 == 1 {
                        *lane = L::GREATEST;
                    }
                }
                lanes
            };
            // SAFETY: the caller's promise; no vector has more lanes.
            let rows: [_; R] = unsafe {
                let mut rows = array::from_fn(|r| {
                    let lanes = row(r, inputs);
                    lanes.as_ptr().cast::<L::Vector>().read_unaligned()
                });
                sort::<L, R, true>(&mut rows);
                rows.map(|row| {
                    let mut lanes = [L::LEAST; 32];
                    L::store(lanes.as_mut_ptr(), row);
                    lanes
                })
            };
            // As many ones, in the last rows.
            let sorted = |input: &u32| {
                let ones = input.count_ones();
                (((1u64 << ones) - 1) << (R as u32 - ones)) as u32
            };
            let sorted: Vec<u32> = inputs.iter().map(sorted).collect();
            for (r, found) in rows.iter().enumerate() {
                let name = type_name::<L>();
                assert_eq!(
                    *found,
                    row(r, &sorted),
                    "{name}, row {r} of {R}, {inputs:x?}"
                );
            }
        }
    }

    /// A network that sorts all zeros and ones sorts everything.
    #[test]
    fn zeros_and_ones_are_sorted() {
        for instructions in Instructions::all() {
            // SAFETY: the machine has the instructions.
            let done = unsafe {
                let words = by_any_vectors::<u32, _>(instructions, Networks);
                let wide = by_any_vectors::<u64, _>(instructions, Networks);
                [words.is_ok(), wide.is_ok()]
            };
            assert_eq!(done, [true; 2]);
        }
    }
}
