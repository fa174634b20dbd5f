//! A bucket sorted in counting passes, by any machine.
//!
//! ```text
//! few keys    insertion
//! otherwise   find the bits that vary; take the highest of them, a few more than number the keys
//!             order by those in one or two stable passes       source → worker's memory → data
//!             or by more of them in up to six, where two digits would leave many alike
//!             fix up: the few keys that still agree, group by group
//! ```
//!
//! Keys in `m` cells taken from the top of evenly spread bits rarely share one of `8 m`, so the
//! fix-up finds little to do; where keys are not evenly spread, they are ordered by more bits, and a
//! large group is a bucket again, with fewer bits left to vary.

use std::array;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

use sweepsort_core::{Digit, Word};

use crate::columns::Columns;
use crate::fetch::prefetch;
use crate::payload::Payload;
use crate::pieces::Pieces;
use crate::reading::Reading;
use crate::scan;
use crate::tuning::{
    FETCHED_LATER, IN_CACHE_BYTES, INSERTION_MAX, LOCAL_DIGIT_BITS, LOCAL_GROUP_MAX,
    LOCAL_LOOKED_AT, LOCAL_MORE_FROM, LOCAL_ONE_PASS_BITS, LOCAL_SPARE_BITS, TOGETHER,
};

/// The most passes of a local sort: digits of as many bits as most keys have.
const PASSES: usize = 6;

/// Counters of a pass.
type Table = MaybeUninit<[u32; 1 << LOCAL_DIGIT_BITS]>;

/// Counters for the two passes that most local sorts have.
pub(crate) struct Tables([Table; 2]);

impl Tables {
    /// Tables to be cleared as far as each sort needs.
    pub(crate) fn new() -> Self {
        Tables([MaybeUninit::uninit(); 2])
    }
}

/// A table of zeros, one for each value of a digit.
#[inline(always)]
fn zeroed(table: &mut Table, digit: Digit) -> &mut [u32] {
    // SAFETY: a digit has at most `LOCAL_DIGIT_BITS` bits, so its counters are within the table,
    // and all of them are written before the slice is made.
    unsafe {
        let counters = table.as_mut_ptr().cast::<u32>();
        counters.write_bytes(0, digit.radix());
        slice::from_raw_parts_mut(counters, digit.radix())
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

/// The digits of a local sort's passes, the lowest first.
struct Digits {
    all: [Digit; PASSES],
    passes: usize,
}

impl Digits {
    /// A low one, which may have no bits, and a high one.
    fn of([low, high]: [Digit; 2]) -> Self {
        let mut all = [Digit { shift: 0, bits: 0 }; PASSES];
        let passes = match low.bits {
            0 => 1,
            _ => 2,
        };
        [all[0], all[passes - 1]] = [low, high];
        Digits { all, passes }
    }

    /// So many of the highest of the bits, in as few digits as they take; or as many as passes have.
    fn highest(wanted: u32, bits: Range<u32>) -> Self {
        let passes = (wanted.div_ceil(LOCAL_DIGIT_BITS) as usize).min(PASSES);
        let wanted = wanted.min(passes as u32 * LOCAL_DIGIT_BITS);
        let [each, more] = [wanted / passes as u32, wanted % passes as u32];
        let mut all = [Digit { shift: 0, bits: 0 }; PASSES];
        let mut shift = bits.end - wanted;
        for (i, digit) in all[..passes].iter_mut().enumerate() {
            let bits = each + u32::from((i as u32) < more);
            *digit = Digit { shift, bits };
            shift += bits;
        }
        Digits { all, passes }
    }
}

/// How large a part of all pairs of `n` keys are those that have the same digit.
fn alike(counts: &[u32], n: usize) -> f64 {
    let squares: u64 = counts
        .iter()
        .map(|&count| u64::from(count) * u64::from(count))
        .sum();
    squares as f64 / (n as f64 * n as f64)
}

/// How records are sorted in passes.
#[derive(Clone, Copy)]
pub(crate) struct Passes<W, R> {
    pub(crate) reading: R,
    /// The bits of the codes that count.
    pub(crate) mask: W,
    /// Whether places that are not all in a first level cache are fetched before they are written.
    pub(crate) fetches: bool,
}

impl<W: Word, R: Reading<W>> Passes<W, R> {
    /// Sorts the records of `from` by the masked bits, stably, into `to`. Returns the most passes
    /// that a key took part in; an insertion among a few neighbours is none.
    ///
    /// # Safety
    /// `to` and `room` have room for the records, fewer than 2^32, and nobody else uses them now.
    /// `to` may be the one piece where the records are; otherwise the three do not overlap.
    pub(crate) unsafe fn sort<P: Payload>(
        self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        room: Columns<W, P>,
        tables: &mut Tables,
    ) -> u32 {
        let n = from.len();
        // SAFETY: all places below are within the first `n` records.
        unsafe {
            if n <= INSERTION_MAX {
                from.gather(to);
                self.insertion(to, n);
                return u32::from(n > 1);
            }
            let varying = self.varying(from);
            if varying == W::ZERO {
                from.gather(to);
                return 0;
            }
            let bits = varying.trailing_zeros()..W::BITS - varying.leading_zeros();
            let mut digits = Digits::of(digits(n, bits.clone()));
            self.count(from, &digits, &mut tables.0);
            if let Some(wanted) = self.more_bits(from, &digits, bits.clone(), &tables.0) {
                digits = Digits::highest(wanted, bits);
                self.pass_counting(from, to, room, &digits);
            } else {
                self.pass_all(from, to, room, &digits, &mut tables.0);
            }
            let (passes, rest) = (digits.passes as u32, digits.all[0].shift);
            // Bits below the digits, if any of them vary.
            if varying & W::mask(&(0..rest)) == W::ZERO {
                return passes;
            }
            passes + self.fix_up(to, room, n, rest, tables)
        }
    }

    /// All passes, which have been counted.
    ///
    /// # Safety
    /// As [`sort`](Self::sort).
    #[inline(always)]
    unsafe fn pass_all<P: Payload>(
        self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        room: Columns<W, P>,
        digits: &Digits,
        tables: &mut [Table],
    ) {
        let all = 0..from.len();
        let fetches = self.fetches && from.len() * from.record_bytes() > IN_CACHE_BYTES;
        let mut source = from;
        // By turns, so that the last pass writes where records are to be.
        let mut into_room = digits.passes.is_multiple_of(2);
        // SAFETY: the caller's promise; the counters have been written.
        unsafe {
            if !into_room && from.is_at(to) {
                from.gather(room);
                source = Pieces::new(room, slice::from_ref(&all));
            }
            for (&digit, table) in { digits.all[..digits.passes].iter() }.zip(tables) {
                let counts = slice::from_raw_parts_mut(table.as_mut_ptr().cast(), digit.radix());
                scan::exclusive(counts);
                let target = if into_room { room } else { to };
                match fetches {
                    true => self.pass::<true, P>(source, target, digit, counts),
                    false => self.pass::<false, P>(source, target, digit, counts),
                }
                source = Pieces::new(target, slice::from_ref(&all));
                into_room = !into_room;
            }
        }
    }

    /// The same of more than two digits, which are counted here. A function of its own, for small
    /// sorts would pay for so large a stack.
    ///
    /// # Safety
    /// As [`sort`](Self::sort).
    #[inline(never)]
    unsafe fn pass_counting<P: Payload>(
        self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        room: Columns<W, P>,
        digits: &Digits,
    ) {
        let mut tables = [MaybeUninit::uninit(); PASSES];
        // SAFETY: the caller's promise.
        unsafe {
            self.count(from, digits, &mut tables);
            self.pass_all(from, to, room, digits, &mut tables);
        }
    }

    /// Counts the records of each digit's values, two digits in one read.
    ///
    /// # Safety
    /// The columns have the pieces, and nobody writes them now.
    unsafe fn count<P: Payload>(
        self,
        from: Pieces<'_, W, P>,
        digits: &Digits,
        tables: &mut [Table],
    ) {
        let twos = digits.all[..digits.passes].chunks(2);
        for (digits, tables) in twos.zip(tables.chunks_mut(2)) {
            // SAFETY: a digit is below the radix, which is the table's length.
            unsafe {
                match (digits, tables) {
                    ([low, high], [low_table, high_table]) => {
                        let (lows, highs) = (zeroed(low_table, *low), zeroed(high_table, *high));
                        for (piece, n) in from.each() {
                            for &key in piece.keys(n) {
                                let code = self.reading.code(key);
                                *lows.get_unchecked_mut(low.of(code)) += 1;
                                *highs.get_unchecked_mut(high.of(code)) += 1;
                            }
                        }
                    }
                    (digits, tables) => {
                        let (digit, counts) = (digits[0], zeroed(&mut tables[0], digits[0]));
                        for (piece, n) in from.each() {
                            for &key in piece.keys(n) {
                                *counts.get_unchecked_mut(digit.of(self.reading.code(key))) += 1;
                            }
                        }
                    }
                }
            }
        }
    }

    /// How many of the highest bits tell keys apart, if two digits of them leave too many alike
    /// that are not the same; or none, if these are enough. All bits are taken to tell as much as
    /// those of the lower digit.
    ///
    /// # Safety
    /// There are the records, counted by the digits.
    unsafe fn more_bits<P: Payload>(
        self,
        from: Pieces<'_, W, P>,
        digits: &Digits,
        bits: Range<u32>,
        tables: &[Table; 2],
    ) -> Option<u32> {
        let n = from.len();
        let [low, high] = [digits.all[0], digits.all[1]];
        if n < LOCAL_MORE_FROM || digits.passes < 2 || low.shift == bits.start {
            return None;
        }
        // SAFETY: the counters have been written.
        let [lows, highs] = unsafe {
            [0, 1].map(|i| {
                let counts = tables[i].as_ptr().cast();
                alike(slice::from_raw_parts(counts, digits.all[i].radix()), n)
            })
        };
        let group = n as f64 * lows * highs;
        if group <= LOCAL_GROUP_MAX {
            return None;
        }
        // SAFETY: the caller's promise.
        let group = group * unsafe { self.different(from, low) };
        if group <= LOCAL_GROUP_MAX {
            return None;
        }
        // How many bits each of the lower digit is worth.
        let worth = -lows.log2() / f64::from(low.bits);
        let more = (group.log2() + f64::from(LOCAL_SPARE_BITS)) / worth.max(f64::EPSILON);
        let wanted = f64::from(low.bits + high.bits) + more.ceil();
        Some(wanted.min(f64::from(bits.end - bits.start)) as u32)
    }

    /// Of keys that are alike from the lowest bit of a digit up, which part are not the same: as
    /// some neighbours show.
    ///
    /// # Safety
    /// There are the records.
    unsafe fn different<P: Payload>(self, from: Pieces<'_, W, P>, low: Digit) -> f64 {
        const SEEN: usize = 1 << 8;
        let mut seen = [W::ZERO; SEEN];
        let (mut alike, mut different) = (0u32, 0u32);
        let mut left = LOCAL_LOOKED_AT;
        // SAFETY: the caller's promise.
        unsafe {
            for (piece, n) in from.each() {
                let some = n.min(left);
                left -= some;
                for &key in piece.keys(some) {
                    let code = self.reading.code(key) & self.mask;
                    let top = code >> low.shift;
                    let lowest = top.low_usize();
                    let place = (lowest ^ lowest >> 8 ^ lowest >> 16) % SEEN;
                    let before = std::mem::replace(&mut seen[place], code);
                    alike += u32::from(before >> low.shift == top);
                    different += u32::from(before >> low.shift == top && before != code);
                }
            }
        }
        f64::from(different) / f64::from(alike.max(1))
    }

    /// One stable pass: each record to the next free place of its digit. `FETCHES` if these are
    /// fetched before.
    unsafe fn pass<const FETCHES: bool, P: Payload>(
        self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        digit: Digit,
        places: &mut [u32],
    ) {
        // SAFETY: the places are the scan of the counts of these very digits, so they stay below the number
        // of records; a digit is below the radix, which is the table's length.
        unsafe {
            for (piece, n) in from.each() {
                let mut take = |i: usize| {
                    if FETCHES {
                        let later = self.reading.code(piece.key((i + FETCHED_LATER).min(n - 1)));
                        let place = *places.get_unchecked(digit.of(later)) as usize;
                        to.prefetch_bytes(place, 0, prefetch);
                    }
                    let record = piece.load(i);
                    let place = places.get_unchecked_mut(digit.of(self.reading.code(record.0)));
                    *place += 1;
                    (*place as usize - 1, record)
                };
                let together = n - n % TOGETHER;
                for first in (0..together).step_by(TOGETHER) {
                    let taken: [_; TOGETHER] = array::from_fn(|i| take(first + i));
                    for (place, record) in taken {
                        to.store(place, record);
                    }
                }
                for i in together..n {
                    let (place, record) = take(i);
                    to.store(place, record);
                }
            }
        }
    }

    /// Sorts each group of records that agree in all masked bits from `rest` up by the bits below.
    /// Groups stand in order: so it is in one that two neighbours do not.
    ///
    /// # Safety
    /// As [`sort`](Self::sort), in place.
    #[inline(never)]
    pub(super) unsafe fn fix_up<P: Payload>(
        self,
        data: Columns<W, P>,
        room: Columns<W, P>,
        n: usize,
        rest: u32,
        tables: &mut Tables,
    ) -> u32 {
        // SAFETY: groups lie within the first `n` records.
        unsafe {
            let code = |i: usize| self.reading.code(data.key(i)) & self.mask;
            let mut passes = 0;
            let (mut previous, mut i) = (code(0), 1);
            while i < n {
                let current = code(i);
                if previous <= current {
                    (previous, i) = (current, i + 1);
                    continue;
                }
                let in_group = |i: usize| code(i) >> rest == current >> rest;
                let (mut start, mut end) = (i - 1, i + 1);
                while start > 0 && in_group(start - 1) {
                    start -= 1;
                }
                while end < n && in_group(end) {
                    end += 1;
                }
                let (group, len) = (data.from(start), end - start);
                // Groups are small but for keys that are not evenly spread.
                if len <= INSERTION_MAX {
                    self.insertion(group, len);
                } else {
                    let all = 0..len;
                    let records = Pieces::new(group, slice::from_ref(&all));
                    passes = passes.max(self.sort(records, group, room, tables));
                }
                (previous, i) = (code(end - 1), end);
            }
            passes
        }
    }

    /// Sorts a few records in place, stably.
    ///
    /// # Safety
    /// There are `n` records, and nobody else uses them now.
    #[inline(always)]
    pub(super) unsafe fn insertion<P: Payload>(self, data: Columns<W, P>, n: usize) {
        for i in 1..n {
            // SAFETY: `place <= i < n`.
            unsafe {
                let record = data.load(i);
                let code = self.reading.code(record.0) & self.mask;
                let mut place = i;
                while place > 0 && self.reading.code(data.key(place - 1)) & self.mask > code {
                    data.store(place, data.load(place - 1));
                    place -= 1;
                }
                if place != i {
                    data.store(place, record);
                }
            }
        }
    }

    /// The bits that count in which some code differs from the first.
    ///
    /// # Safety
    /// The columns have the pieces, and nobody writes them now. There is a record.
    #[inline(always)]
    unsafe fn varying<P: Payload>(self, from: Pieces<'_, W, P>) -> W {
        let (mut varying, mut reference) = (W::ZERO, None);
        // SAFETY: the caller's promise.
        unsafe {
            for (piece, n) in from.each() {
                let first = *reference.get_or_insert_with(|| self.reading.code(piece.key(0)));
                for &key in piece.keys(n) {
                    varying = varying | (self.reading.code(key) ^ first);
                }
            }
        }
        varying & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Fixed;
    use crate::reading::Plain;

    /// The key of a place, and of a random number that is the place's.
    type Key = fn(u32, u32) -> u32;

    /// Spread keys, and such as leave groups to the fix-up: of two keys, of more than insertion
    /// takes, of keys in order but for the last ones; or that ask for more digits than two, where
    /// there are many of them.
    #[test]
    fn passes_sort_stably() {
        let spread = |i: u32| i.wrapping_mul(0x9e37_79b9);
        let cases: [(&str, Key, bool); 8] = [
            ("spread", |_, random| random, false),
            ("in pairs", |i, random| (random & !0xff) | (i % 2), false),
            (
                "in 7 groups",
                |_, random| ((random % 7) << 29) | ((random >> 8) & 0xff),
                true,
            ),
            (
                "in order but for some",
                |i, random| match i % 100 {
                    ..90 => (random & (3 << 30)) | i,
                    _ => (random & (3 << 30)) | 7,
                },
                true,
            ),
            ("of two values", |_, random| random >> 31, false),
            (
                "of 250 values",
                |_, random| (random % 250) * 0x0101_0101,
                false,
            ),
            ("skewed", |_, random| random & random.rotate_left(9), true),
            ("very skewed", |_, random| 1 << (random >> 27), true),
        ];
        for (name, key, more) in cases {
            for n in [2, 20, 21, 100, 1000, 4096, 50_000] {
                for fetches in [false, true] {
                    let keys: Vec<u32> = (0..n).map(|i| key(i, spread(i))).collect();
                    let (mut to, mut places) = (keys.clone(), (0..n).collect::<Vec<u32>>());
                    let (mut room, mut room_places) = (to.clone(), places.clone());
                    let columns = |keys: &mut Vec<u32>, places: &mut Vec<u32>| {
                        Columns::new(keys.as_mut_ptr(), places.as_mut_ptr().cast(), Fixed::<4>)
                    };
                    let data = columns(&mut to, &mut places);
                    let room = columns(&mut room, &mut room_places);
                    let all = 0..n as usize;
                    let from = Pieces::new(data, slice::from_ref(&all));
                    let passes = Passes {
                        reading: Plain,
                        mask: u32::MAX,
                        fetches,
                    };
                    let tables = &mut Tables::new();
                    // SAFETY: all have `n` records.
                    let passes = unsafe { passes.sort(from, data, room, tables) };
                    if n >= 4096 {
                        assert_eq!(passes > 2, more, "{n} keys, {name}: {passes} passes");
                    }
                    let mut expected: Vec<u32> = (0..n).collect();
                    expected.sort_by_key(|&i| keys[i as usize]);
                    assert!(places == expected, "{n} keys, {name}");
                    assert!(to.is_sorted(), "{n} keys, {name}");
                }
            }
        }
    }
}
