//! A bucket sorted in counting passes, by any machine.
//!
//! ```text
//! few keys    insertion
//! otherwise   find the bits that vary; take the highest of them, a few more than number the keys
//!             order by those in one or two stable passes       source → worker's memory → data
//!             fix up: the few keys that still agree, group by group
//! ```
//!
//! Keys in `m` cells taken from the top of evenly spread bits rarely share one of `8 m`, so the
//! fix-up finds little to do; where keys are not evenly spread, a large group is a bucket again,
//! with fewer bits left to vary.

use std::mem::MaybeUninit;
use std::ops::Range;

use sweepsort_core::{Digit, Word};

use crate::columns::{Columns, Payload};
use crate::reading::Reading;
use crate::scan;
use crate::tuning::{INSERTION_MAX, LOCAL_DIGIT_BITS, LOCAL_ONE_PASS_BITS, LOCAL_SPARE_BITS};

/// Counters for both passes of a local sort.
pub(crate) struct Tables([MaybeUninit<[u32; 1 << LOCAL_DIGIT_BITS]>; 2]);

impl Tables {
    /// Tables to be cleared as far as each sort needs.
    pub(crate) fn new() -> Self {
        Tables([MaybeUninit::uninit(); 2])
    }

    /// Two tables of zeros, one for each digit.
    #[inline(always)]
    fn zeroed(&mut self, digits: [Digit; 2]) -> [&mut [u32]; 2] {
        let [low, high] = &mut self.0;
        [(low, digits[0]), (high, digits[1])].map(|(table, digit)| {
            // SAFETY: a digit has at most `LOCAL_DIGIT_BITS` bits, so its counters are within the
            // table, and all of them are written before the slice is made.
            unsafe {
                let counters = table.as_mut_ptr().cast::<u32>();
                counters.write_bytes(0, digit.radix());
                std::slice::from_raw_parts_mut(counters, digit.radix())
            }
        })
    }
}

/// The digits, low and high, of a local sort of `n` keys that vary in `bits`: together the highest
/// of the bits. Where one pass is enough, the low digit has no bits.
#[inline(always)]
pub(crate) fn digits(n: usize, bits: Range<u32>) -> [Digit; 2] {
    let wanted = (n.max(1).ilog2() + 1 + LOCAL_SPARE_BITS)
        .min(2 * LOCAL_DIGIT_BITS)
        .min(bits.end - bits.start);
    let low = if wanted <= LOCAL_ONE_PASS_BITS {
        0
    } else {
        wanted / 2
    };
    let rest = bits.end - wanted;
    [
        Digit {
            shift: rest,
            bits: low,
        },
        Digit {
            shift: rest + low,
            bits: wanted - low,
        },
    ]
}

/// Sorts the `n` records of `from` by the masked bits, stably, into `to`. Returns the most passes
/// that a key took part in; an insertion among a few neighbours is none.
///
/// # Safety
/// `from`, `to` and `room` have `n` records each, `n` is below 2^32, and nobody else uses them now.
/// `from` and `to` may be the same place; otherwise the three do not overlap.
pub(crate) unsafe fn sort<W: Word, P: Payload, R: Reading<W>>(
    from: Columns<W, P>,
    to: Columns<W, P>,
    room: Columns<W, P>,
    n: usize,
    reading: R,
    mask: W,
    tables: &mut Tables,
) -> u32 {
    // SAFETY: all places below are within the first `n` records.
    unsafe {
        if n <= INSERTION_MAX {
            move_unless_same(from, to, n);
            insertion(to, n, reading, mask);
            return u32::from(n > 1);
        }
        let varying = varying(from.keys(n), reading) & mask;
        if varying == W::ZERO {
            move_unless_same(from, to, n);
            return 0;
        }
        let bits = varying.trailing_zeros()..W::BITS - varying.leading_zeros();
        let [low, high] = digits(n, bits);
        let rest = low.shift;
        let [low_counts, high_counts] = tables.zeroed([low, high]);
        let passes = if low.bits == 0 {
            for &key in from.keys(n) {
                *high_counts.get_unchecked_mut(high.of(reading.code(key))) += 1;
            }
            scan::exclusive(high_counts);
            if from.same(to) {
                pass(from, room, n, reading, high, high_counts);
                room.copy_to(to, n);
            } else {
                pass(from, to, n, reading, high, high_counts);
            }
            1
        } else {
            for &key in from.keys(n) {
                let code = reading.code(key);
                *low_counts.get_unchecked_mut(low.of(code)) += 1;
                *high_counts.get_unchecked_mut(high.of(code)) += 1;
            }
            scan::exclusive(low_counts);
            scan::exclusive(high_counts);
            pass(from, room, n, reading, low, low_counts);
            pass(room, to, n, reading, high, high_counts);
            2
        };
        // Bits below the digits, if any of them vary.
        if varying & W::mask(&(0..rest)) == W::ZERO {
            return passes;
        }
        passes + fix_up(to, room, n, reading, mask, rest, tables)
    }
}

/// One stable pass: each record to the next free place of its digit.
#[inline(always)]
unsafe fn pass<W: Word, P: Payload, R: Reading<W>>(
    from: Columns<W, P>,
    to: Columns<W, P>,
    n: usize,
    reading: R,
    digit: Digit,
    places: &mut [u32],
) {
    for i in 0..n {
        // SAFETY: the places are the scan of the counts of these very digits, so they stay below
        // `n`; a digit is below the radix, which is the table's length.
        unsafe {
            let record = from.load(i);
            let place = places.get_unchecked_mut(digit.of(reading.code(record.0)));
            to.store(*place as usize, record);
            *place += 1;
        }
    }
}

/// Sorts each group of records that agree in all masked bits from `rest` up by the bits below.
///
/// # Safety
/// As [`sort`], in place.
#[inline(never)]
pub(super) unsafe fn fix_up<W: Word, P: Payload, R: Reading<W>>(
    data: Columns<W, P>,
    room: Columns<W, P>,
    n: usize,
    reading: R,
    mask: W,
    rest: u32,
    tables: &mut Tables,
) -> u32 {
    // SAFETY: groups lie within the first `n` records.
    unsafe {
        let top = |i: usize| (reading.code(data.key(i)) & mask) >> rest;
        let mut passes = 0;
        let mut previous = top(0);
        let mut i = 1;
        while i < n {
            let current = top(i);
            if current != previous {
                previous = current;
                i += 1;
                continue;
            }
            let start = i - 1;
            while i < n && top(i) == previous {
                i += 1;
            }
            let (group, len) = (data.from(start), i - start);
            // Groups are small but for keys that are not evenly spread.
            if len <= INSERTION_MAX {
                insertion(group, len, reading, mask);
            } else {
                passes = passes.max(sort(group, group, room, len, reading, mask, tables));
            }
        }
        passes
    }
}

/// Sorts a few records in place, stably.
///
/// # Safety
/// There are `n` records, and nobody else uses them now.
#[inline(always)]
pub(crate) unsafe fn insertion<W: Word, P: Payload, R: Reading<W>>(
    data: Columns<W, P>,
    n: usize,
    reading: R,
    mask: W,
) {
    for i in 1..n {
        // SAFETY: `place <= i < n`.
        unsafe {
            let record = data.load(i);
            let code = reading.code(record.0) & mask;
            let mut place = i;
            while place > 0 && reading.code(data.key(place - 1)) & mask > code {
                data.store(place, data.load(place - 1));
                place -= 1;
            }
            if place != i {
                data.store(place, record);
            }
        }
    }
}

/// The bits in which some code differs from the first.
#[inline(always)]
fn varying<W: Word, R: Reading<W>>(keys: &[W], reading: R) -> W {
    let first = reading.code(keys[0]);
    keys.iter()
        .fold(W::ZERO, |bits, &key| bits | (reading.code(key) ^ first))
}

/// Copies `n` records, if they are not there already.
unsafe fn move_unless_same<W: Word, P: Payload>(from: Columns<W, P>, to: Columns<W, P>, n: usize) {
    if !from.same(to) {
        // SAFETY: the caller of `sort` vouches that different places do not overlap.
        unsafe { from.copy_to(to, n) }
    }
}
