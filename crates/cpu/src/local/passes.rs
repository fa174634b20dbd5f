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

use std::array;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

use sweepsort_core::{Digit, Word};

use crate::columns::{Columns, Payload, Pieces};
use crate::reading::Reading;
use crate::scan;
use crate::tuning::{
    FETCHED_LATER, IN_CACHE_BYTES, INSERTION_MAX, LOCAL_DIGIT_BITS, LOCAL_ONE_PASS_BITS,
    LOCAL_SPARE_BITS, TOGETHER,
};

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
        let (n, reading) = (from.len(), self.reading);
        let pass = match self.fetches && n * from.record_bytes() > IN_CACHE_BYTES {
            true => Self::pass::<true, P>,
            false => Self::pass::<false, P>,
        };
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
            let [low, high] = digits(n, bits);
            let rest = low.shift;
            let [low_counts, high_counts] = tables.zeroed([low, high]);
            let passes = if low.bits == 0 {
                for (piece, n) in from.each() {
                    for &key in piece.keys(n) {
                        *high_counts.get_unchecked_mut(high.of(reading.code(key))) += 1;
                    }
                }
                scan::exclusive(high_counts);
                if from.is_at(to) {
                    pass(self, from, room, high, high_counts);
                    room.copy_to(to, n);
                } else {
                    pass(self, from, to, high, high_counts);
                }
                1
            } else {
                for (piece, n) in from.each() {
                    for &key in piece.keys(n) {
                        let code = reading.code(key);
                        *low_counts.get_unchecked_mut(low.of(code)) += 1;
                        *high_counts.get_unchecked_mut(high.of(code)) += 1;
                    }
                }
                scan::exclusive(low_counts);
                scan::exclusive(high_counts);
                pass(self, from, room, low, low_counts);
                let all = 0..n;
                let half = Pieces::new(room, slice::from_ref(&all));
                pass(self, half, to, high, high_counts);
                2
            };
            // Bits below the digits, if any of them vary.
            if varying & W::mask(&(0..rest)) == W::ZERO {
                return passes;
            }
            passes + self.fix_up(to, room, n, rest, tables)
        }
    }

    /// One stable pass: each record to the next free place of its digit. `FETCHES` if these are fetched before.
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
                        to.fetch(place..place + 1);
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

    /// Sorts each group of records that agree in all masked bits from `rest` up by the bits below. Groups stand in
    /// order: so it is in one that two neighbours do not.
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
    use crate::columns::Fixed;
    use crate::reading::Plain;

    /// The key of a place, and of a random number that is the place's.
    type Key = fn(u32, u32) -> u32;

    /// Spread keys, and such as leave groups to the fix-up: of two keys, of more than insertion takes, of keys
    /// in order but for the last ones.
    #[test]
    fn passes_sort_stably() {
        let spread = |i: u32| i.wrapping_mul(0x9e37_79b9);
        let cases: [(&str, Key); 5] = [
            ("spread", |_, random| random),
            ("in pairs", |i, random| (random & !0xff) | (i % 2)),
            ("in 7 groups", |_, random| {
                ((random % 7) << 29) | ((random >> 8) & 0xff)
            }),
            ("in order but for some", |i, random| match i % 100 {
                ..90 => (random & (3 << 30)) | i,
                _ => (random & (3 << 30)) | 7,
            }),
            ("of two values", |_, random| random >> 31),
        ];
        for (name, key) in cases {
            for n in [2, 20, 21, 100, 4096, 50_000] {
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
                    unsafe { passes.sort(from, data, room, tables) };
                    let mut expected: Vec<u32> = (0..n).collect();
                    expected.sort_by_key(|&i| keys[i as usize]);
                    assert!(places == expected, "{n} keys, {name}");
                    assert!(to.is_sorted(), "{n} keys, {name}");
                }
            }
        }
    }
}
