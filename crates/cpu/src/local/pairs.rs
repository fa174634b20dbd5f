//! Records of a key and a payload of 32 or 64 bits each, in bins, as numbers of 32 bits. Both of 32
//! only where there are no vectors for [`joined`](super::joined).
//!
//! ```text
//!             31                      18 17        0
//! a number    how far into a bin a key is | a record
//! ```
//!
//! A bin has eight keys or so, which the next few bits mostly tell apart. So the network sorts
//! numbers: how far a key is into its bin and, below that, where in the bucket its record lies,
//! which keeps those that tie in order. The records stay where they are until it is known in what
//! order they are written. Where two keys of a bin agree in what a number has of them, the keys
//! themselves tell. Where numbers are compared as floats, they have two bits fewer, and the least
//! float is added.
//!
//! Pieces of a bucket lie all over the room. So a record is told by its page, one of those that the
//! pieces touch, in their order, and its place in it.

use std::array;
use std::mem::MaybeUninit;
use std::ops::Range;

use sweepsort_core::Word;

use super::beside::Beside;
use super::bins::{AHEAD, twelve_rows};
use super::network::by_rows;
use super::slots::{ROWS, Slots};
use super::whole::sorted_to;
use crate::columns::Columns;
use crate::fetch::{LINE, streamed};
use crate::lanes::{AnyVectored, Keys, LANES_MAX, Sorted};
use crate::payload::{Nothing, Payload};
use crate::pieces::Ahead;
use crate::placing::{Placing, STRIP};
use crate::room::Room;
use crate::tuning::WRITTEN_TOGETHER;

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = size_of::<u32>();
/// Records of a page.
const PAGE: usize = STRIP;
/// A number has at least so many bits of a key.
const KEY_BITS_MIN: u32 = 8;
/// Numbers that the bins of a vector's lanes may have, and what is written beyond.
const SORTED: usize = (LANES_MAX + 1) * ROWS;
/// Records that are written at a time.
const FOUR: usize = 4;
/// Records of which a line of a column of 64 bits is fetched together, before they are written.
const PER_LINE: usize = LINE / size_of::<u64>();

/// How numbers are compared.
type Compared<L> = <<L as Keys>::Numbers as Keys>::Distances;

/// A bucket of such records.
pub(super) struct Pairs<'a, W, P>(pub(super) Beside<'a, W, P>);

/// What a number tells.
#[derive(Clone, Copy)]
struct Numbering<W> {
    /// Places for keys, in order, of which each bin has `1 << fine`.
    placing: Placing<W>,
    fine: u32,
    /// How many bits tell a record, and these. In those above are the lowest ones of a place.
    record_bits: u32,
    record_mask: u32,
    /// The latter.
    key_mask: u32,
    /// What is added to both.
    least: u32,
    /// Whether different keys have different places.
    exact: bool,
}

impl<W: Word> Numbering<W> {
    /// Of keys from the least one on, over a range, and of records on so many pages; or none, for
    /// these are too many. The network sorts numbers from the first of `ends` to the second.
    #[inline(always)]
    fn new(least: W, range: W, bins: usize, pages: usize, ends: [u32; 2]) -> Option<Self> {
        let record_bits = (pages * PAGE).next_power_of_two().ilog2();
        let bits = (u64::from(ends[1] - ends[0]) + 1).ilog2();
        let key_bits = bits
            .checked_sub(record_bits)
            .filter(|&bits| bits >= KEY_BITS_MIN)?;
        // Places have 31 bits at most.
        let fine = key_bits.min(u32::BITS - 1 - bins.next_power_of_two().ilog2());
        let placing = Placing::new(least, range, bins << fine);
        // Nothing is left out of a distance, and from one to the next is a place or more.
        let shifted = (placing.zeros + 32).checked_sub(W::BITS);
        let exact = shifted.is_some_and(|bits| u128::from(placing.scale) << bits >= 1 << 32);
        Some(Numbering {
            placing,
            fine,
            record_bits,
            record_mask: u32::mask(&(0..record_bits)),
            key_mask: u32::mask(&(record_bits..bits)),
            least: ends[0],
            exact,
        })
    }

    /// Which of the records a number tells. What is added to all does not reach down to these bits.
    #[inline(always)]
    fn record(&self, number: u32) -> usize {
        (number & self.record_mask) as usize
    }

    /// Whether two numbers have the same of their keys.
    #[inline(always)]
    fn ties(&self, a: u32, b: u32) -> bool {
        (a ^ b) >> self.record_bits == 0
    }

    /// Whether some neighbours do.
    #[inline(always)]
    unsafe fn has_ties<N: Keys<Word = u32>>(&self, numbers: &[u32]) -> bool {
        let (first, pairs) = (numbers.as_ptr(), numbers.len().saturating_sub(1));
        let whole = pairs - pairs % N::LANES;
        let mut apart = [u32::MAX; LANES_MAX];
        // SAFETY: the caller's promise; there are the numbers.
        unsafe {
            let mut least = N::splat(u32::MAX);
            for i in (0..whole).step_by(N::LANES) {
                let [a, b] = [i, i + 1].map(|i| N::shr(N::load(first.add(i)), self.record_bits));
                least = N::min(least, N::sub(b, a));
            }
            N::store(apart.as_mut_ptr(), least);
        }
        let mut rest = numbers[whole..].windows(2);
        apart.contains(&0) || rest.any(|pair| self.ties(pair[0], pair[1]))
    }
}

impl<W: Word, P: Payload> Pairs<'_, W, P> {
    /// How many pages the pieces touch.
    fn pages(&self) -> usize {
        let pages = |piece: &Range<usize>| piece.end.div_ceil(PAGE) - piece.start / PAGE;
        self.0.pieces.iter().map(pages).sum()
    }

    /// Puts the number of each record to the next free row of its bin; or returns false, for a bin
    /// has no more. Adds to each page's entry how far its first record is from the one of that
    /// number.
    #[inline(always)]
    unsafe fn fill<L: Keys, const FETCHES: bool>(
        &self,
        slots: &Slots<L::Numbers, Nothing>,
        numbering: Numbering<L::Word>,
        pages: &mut Vec<usize>,
        mut ahead: Ahead<'_>,
    ) -> bool {
        let lanes = <L::Numbers as Sorted>::LANES;
        let counting: [u32; LANES_MAX] = std::array::from_fn(|i| i as u32);
        let mut keys = [L::Word::ZERO; PAGE];
        let (mut bins, mut numbers) = ([0u32; PAGE], [0u32; PAGE]);
        // SAFETY: the pieces are there, and a place is below the number of bins.
        unsafe {
            let counting = L::Numbers::load(counting.as_ptr());
            let key_mask = L::Numbers::splat(numbering.key_mask);
            // No closure, which would not be compiled for the lanes.
            for ((records, _), piece) in self.0.each().zip(self.0.pieces) {
                let mut at = piece.start;
                while at < piece.end {
                    let first = pages.len() * PAGE + at % PAGE;
                    let own = (PAGE - at % PAGE).min(piece.end - at);
                    pages.push(at.wrapping_sub(first));
                    let records = records.add((at - piece.start) * Room::<W, P>::BYTES);
                    let meanwhile = self.0.meanwhile(&mut ahead, own, records);
                    for (i, key) in keys[..own].iter_mut().enumerate() {
                        let record = records.add(i * Room::<W, P>::BYTES);
                        *key = Room::<L::Word, P>::key(record);
                    }
                    for i in (0..own).step_by(2 * L::LANES) {
                        let keys = keys.as_ptr().add(i);
                        let keys = [L::load(keys), L::load(keys.add(L::LANES))];
                        let to = numbers.as_mut_ptr().add(i);
                        L::store_places(to, keys, &numbering.placing);
                    }
                    for i in (0..own).step_by(lanes) {
                        let places = L::Numbers::load(numbers.as_ptr().add(i));
                        let key = L::Numbers::shl(places, numbering.record_bits);
                        let record = L::Numbers::splat(numbering.least + (first + i) as u32);
                        let number = L::Numbers::add(
                            L::Numbers::and(key, key_mask),
                            L::Numbers::add(record, counting),
                        );
                        let places = L::Numbers::shr(places, numbering.fine);
                        L::Numbers::store(bins.as_mut_ptr().add(i), places);
                        L::Numbers::store(numbers.as_mut_ptr().add(i), number);
                    }
                    let numbers = numbers.as_ptr();
                    let number = |i| (MaybeUninit::new(*numbers.add(i)), ());
                    if !slots.put_all::<FETCHES>(&mut bins[..own], meanwhile, number) {
                        return false;
                    }
                    at += own;
                }
            }
            true
        }
    }
}

/// Sorts bins of which none has more than `R` records, and writes their numbers to the start of `to`.
#[inline(always)]
unsafe fn collect_rows<L: Keys<Word = u32>, const R: usize>(
    slots: &Slots<L, Nothing>,
    bin: usize,
    to: *mut u32,
) {
    // SAFETY: the rows are there, and only lanes that have a number are read; there is room for
    // what is written beyond.
    unsafe {
        let counts = slots.counts(bin);
        let own = L::widen(counts.as_ptr());
        let others = L::splat(L::Distances::GREATEST);
        let mut rows = [others; R];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = L::load_row(slots.row(r, bin), own, r as u8, others);
        }
        sorted_to::<L, L::Distances, R>(rows, counts, to);
    }
}

/// Records that numbers tell.
struct Numbered<'a, W, P> {
    records: *const u8,
    /// For each page, how far its records are from those of the same numbers.
    pages: &'a [usize],
    numbering: Numbering<W>,
    /// Where they go.
    to: Columns<W, P>,
}

impl<W: Word, P: Payload> Numbered<'_, W, P> {
    /// Where a number's record lies.
    ///
    /// # Safety
    /// There is such a record, as for all that follow.
    #[inline(always)]
    unsafe fn at(&self, number: u32) -> *const u8 {
        let record = self.numbering.record(number);
        // SAFETY: the caller's promise.
        unsafe {
            let page = *self.pages.get_unchecked(record / PAGE);
            self.records
                .add(page.wrapping_add(record) * Room::<W, P>::BYTES)
        }
    }

    /// The key of a number's record.
    #[inline(always)]
    unsafe fn key(&self, number: u32) -> W {
        // SAFETY: the caller's promise.
        unsafe { Room::<W, P>::key(self.at(number)) }
    }

    /// Puts sorted numbers of some bins in the order of their keys.
    #[inline(always)]
    unsafe fn settle<N: Keys<Word = u32>>(&self, numbers: &mut [u32]) {
        // SAFETY: the caller's promise.
        unsafe {
            if !self.numbering.exact && self.numbering.has_ties::<N>(numbers) {
                self.settle_ties(numbers);
            }
        }
    }

    /// The same, of numbers some of which tie. None moves but within its bin, for those of others
    /// have other keys.
    #[cold]
    #[inline(never)]
    unsafe fn settle_ties(&self, numbers: &mut [u32]) {
        for i in 1..numbers.len() {
            let number = numbers[i];
            let mut at = i;
            // SAFETY: the caller's promise.
            unsafe {
                while at > 0
                    && self.numbering.ties(numbers[at - 1], number)
                    && self.key(numbers[at - 1]) > self.key(number)
                {
                    numbers[at] = numbers[at - 1];
                    at -= 1;
                }
            }
            numbers[at] = number;
        }
    }

    /// Writes the records of some numbers to the places from `done` on, past the caches, and returns how
    /// many: what does not fill a line waits for others, if it is not the `last`.
    ///
    /// # Safety
    /// And there are the places. Lines of both columns begin with the same records.
    #[inline(always)]
    unsafe fn stream<L: Keys<Word = W>>(&self, numbers: &[u32], done: usize, last: bool) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            let to = self.to.from(done);
            let (keys, payloads) = (to.keys_start(), to.payload_at(0).cast::<W>());
            let first = keys.align_offset(LINE).min(numbers.len());
            self.write::<L>(&numbers[..first], done);
            let (lines, rest) = numbers[first..].as_chunks::<PER_LINE>();
            for (i, some) in lines.iter().enumerate() {
                // One by one: pages of all at once would be gathered by a slow instruction.
                let number = |i| some.as_ptr().add(i).read_volatile();
                let pairs = array::from_fn(|i| self.at(number(i)).cast());
                let at = first + i * PER_LINE;
                L::part_lines(pairs, [keys.add(at), payloads.add(at)]);
            }
            let whole = numbers.len() - rest.len();
            if !last {
                return whole;
            }
            self.write::<L>(rest, done + whole);
            streamed();
            numbers.len()
        }
    }

    /// Writes the records of some numbers to the places from `done` on.
    ///
    /// # Safety
    /// And there are the places.
    #[inline(always)]
    unsafe fn write<L: Keys<Word = W>>(&self, numbers: &[u32], done: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let to = self.to.from(done);
            let (keys, payloads) = (to.keys_start(), to.payload_at(0).cast::<W>());
            let write_one = |i, number| {
                let record = Room::<W, P>::load(self.at(number), to.payload());
                to.store(i, record);
            };
            let (whole, rest) = numbers.as_chunks::<PER_LINE>();
            for (i, some) in whole.iter().enumerate() {
                let start = i * PER_LINE;
                to.fetch(start + AHEAD..start + AHEAD + PER_LINE);
                if const { size_of::<W>() == 8 && P::BYTES == 8 } {
                    for (i, &[a, b, c, d]) in some.as_chunks::<FOUR>().0.iter().enumerate() {
                        let pairs = [self.at(a), self.at(b), self.at(c), self.at(d)];
                        let pairs = pairs.map(|pair| pair.cast());
                        let at = start + i * FOUR;
                        L::part(pairs, [keys.add(at), payloads.add(at)]);
                    }
                } else {
                    for (i, &number) in some.iter().enumerate() {
                        write_one(start + i, number);
                    }
                }
            }
            for (i, &number) in rest.iter().enumerate() {
                write_one(numbers.len() - rest.len() + i, number);
            }
        }
    }
}

impl<W: Word, P: Payload> AnyVectored for Pairs<'_, W, P> {
    type Output = bool;

    /// Sorts the records by their keys, stably, into `to`; or returns false, for keys crowd or
    /// pieces are too many, and has written nothing.
    ///
    /// # Safety
    /// The machine has the lanes' instructions, of words as wide as keys. The bucket is [there](Beside).
    #[inline(always)]
    unsafe fn run<L: Keys>(self) -> bool {
        let bucket = &self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let mut ahead = bucket.ahead();
            let ends = bucket.ends(&mut ahead);
            let [least, greatest] = ends.map(|key| L::Word::truncate(key.widen()));
            let range = greatest.wrapping_sub(least);
            // Where records have fewer keys than that, bins overflow.
            if range.widen() < (bucket.n / (ROWS / 2)).max(1) as u128 {
                return false;
            }
            let slots = Slots::<L::Numbers, _>::new(bucket.n, bucket.memory, bucket.bytes, Nothing);
            let Some(slots) = slots else {
                return false;
            };
            let pages = self.pages();
            let ends = [Compared::<L>::LEAST, Compared::<L>::GREATEST];
            let Some(numbering) = Numbering::new(least, range, slots.bins, pages, ends) else {
                return false;
            };
            let mut pages = Vec::with_capacity(pages);
            let filled = match bucket.fetches() {
                true => self.fill::<L, true>(&slots, numbering, &mut pages, ahead),
                false => self.fill::<L, false>(&slots, numbering, &mut pages, ahead),
            };
            if !filled {
                return false;
            }
            let numbered = Numbered {
                records: bucket.records,
                pages: &pages,
                numbering,
                to: bucket.to.cast::<L::Word>(),
            };
            let mut numbers = [0; WRITTEN_TOGETHER + SORTED];
            let twelve = const { twelve_rows::<L::Numbers>() };
            let (mut done, mut held) = (0, 0);
            let lanes = <L::Numbers as Sorted>::LANES;
            let lines = [numbered.to.keys_start().cast(), numbered.to.payload_at(0)];
            let [keys, payloads] = lines.map(|column: *mut u8| column.addr() % LINE);
            let streams = const { L::STREAMS && size_of::<W>() == 8 && P::BYTES == 8 }
                && bucket.streams
                && keys == payloads;
            for bin in (0..slots.bins).step_by(lanes) {
                let sum = slots.sum(bin);
                let to = numbers.as_mut_ptr().add(held);
                by_rows!(slots.most(bin), twelve, R => collect_rows::<L::Numbers, R>(&slots, bin, to));
                held += sum;
                let last = bin + lanes == slots.bins;
                if held >= WRITTEN_TOGETHER || last {
                    let some = &mut numbers[..held];
                    numbered.settle::<L::Numbers>(some);
                    let written = match streams {
                        true => numbered.stream::<L>(some, done, last),
                        false => {
                            numbered.write::<L>(some, done);
                            held
                        }
                    };
                    numbers.copy_within(written..held, 0);
                    done += written;
                    held -= written;
                }
            }
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Case, with_limits_and_without};
    use super::*;
    use crate::instructions::Instructions;
    use crate::lanes::by_any_vectors;
    use crate::payload::Fixed;

    /// Whether some numbers have ties, by vectors.
    struct Ties<'a>(Numbering<u64>, &'a [u32]);

    impl AnyVectored for Ties<'_> {
        type Output = bool;

        #[inline(always)]
        unsafe fn run<L: Keys>(self) -> bool {
            // SAFETY: the caller's promise.
            unsafe { self.0.has_ties::<L::Numbers>(self.1) }
        }
    }

    /// Wherever a tie is among so many numbers.
    #[test]
    fn all_ties_are_found() {
        let numbering = Numbering::new(0, u64::MAX, 8, 1, [0, u32::MAX]).unwrap();
        for instructions in Instructions::all() {
            for n in 0..70 {
                for tie in 1..n + 1 {
                    // The one at `tie` has the key of the one before, unless there is none.
                    let key = |i: u32| i - u32::from(i >= tie);
                    let numbers: Vec<u32> = (0..n)
                        .map(|i| key(i) << numbering.record_bits | (n - i))
                        .collect();
                    // SAFETY: the machine has the instructions.
                    let found = unsafe {
                        by_any_vectors::<u64, _>(instructions, Ties(numbering, &numbers))
                    };
                    let what = format!("{instructions:?}, {n} numbers, tie at {tie}");
                    assert_eq!(found.ok(), Some(tie < n), "{what}");
                }
            }
        }
    }

    /// Sorts records in so many pieces, each of which but the first lies before the one that it
    /// follows, between limits and without, and tells which of these was done; if not, nothing must
    /// have been written.
    fn check<W: Word, P: Payload>(
        payload: P,
        instructions: Instructions,
        keys: &[W],
        pieces: usize,
        ways: [bool; 2],
    ) -> [bool; 2] {
        with_limits_and_without(keys).map(|limits| {
            let what = format!("{instructions:?}, fetches and streams {ways:?}");
            Case::new(keys, payload).check_beside(&what, pieces, limits, ways, |bucket| {
                // SAFETY: the bucket is there.
                unsafe { by_any_vectors::<W, _>(instructions, Pairs(bucket)) }.unwrap_or(false)
            })
        })
    }

    /// Stably, keys that numbers tell apart, and others; in pieces of any number.
    #[test]
    fn records_are_sorted_stably_or_refused() {
        sorted_or_refused::<u64, _>(Fixed::<8>);
        sorted_or_refused::<u64, _>(Fixed::<4>);
        sorted_or_refused::<u32, _>(Fixed::<8>);
        sorted_or_refused::<u32, _>(Fixed::<4>);
    }

    fn sorted_or_refused<W: Word, P: Payload>(payload: P) {
        let random = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let all = [
            (Instructions::Portable, 8_750),
            (Instructions::Avx2, 35_000),
            (Instructions::Avx512, 35_000),
        ];
        for (instructions, most_pages) in all {
            if instructions > Instructions::detect() {
                continue;
            }
            for n in [2, 33, 64, 255, 256, 257, 1000, 10_000, 40_000] {
                type Key<'a> = (&'a str, &'a dyn Fn(usize) -> u64, bool);
                // Of narrower keys these are the lower bits.
                let keys: &[Key<'_>] = &[
                    ("all bits", &random, true),
                    ("the greatest", &|i| u64::MAX - random(i) / 3, true),
                    (
                        "few of 32 bits",
                        &|i| (1 << 40) + random(i) % (n as u64 / 4 + 2),
                        true,
                    ),
                    // Each one's neighbours differ from it by less than a number tells.
                    (
                        "near ones",
                        &|i| random(i / 4) / 2 * 2 + random(i) % 2,
                        true,
                    ),
                    (
                        "nearer ones, downwards",
                        &|i| random(i / 4) - (i % 4) as u64,
                        true,
                    ),
                    ("equal", &|_| 7, false),
                    (
                        "all but one",
                        &|i| if i == n / 2 { u64::MAX } else { i as u64 },
                        n <= 33,
                    ),
                ];
                for (name, key, done) in keys {
                    let keys: Vec<W> = (0..n).map(|i| W::truncate(key(i).into())).collect();
                    for (pieces, ways) in [
                        (1, [true, false]),
                        (2, [false, true]),
                        (n.div_ceil(100), [false, false]),
                        (1, [true, true]),
                    ] {
                        let sorted = check(payload, instructions, &keys, pieces, ways);
                        assert_eq!(sorted, [*done; 2], "{n} keys of {} bits: {name}", W::BITS);
                    }
                }
            }
            // Twice as many pages leave no bits for a key.
            let keys: Vec<W> = (0..70_000).map(|i| W::truncate(random(i).into())).collect();
            for (pages, done) in [(most_pages, true), (2 * most_pages, false)] {
                let sorted = check(payload, instructions, &keys, pages, [false, true]);
                assert_eq!(sorted, [done; 2], "{pages} pages");
            }
        }
    }

    /// Places tell all keys of a range that has no more of them than places.
    #[test]
    fn numbers_are_exact_where_places_are_enough() {
        for (range, exact) in [
            (1u64 << 20, true),
            ((1 << 28) - 1, true),
            (1 << 28, false),
            (1 << 40, false),
        ] {
            let found = Numbering::new(5, range, 1 << 10, 60, [0, u32::MAX]).expect("few pages");
            // 60 pages are 2^14 records, which leaves 18 bits.
            assert_eq!((found.record_bits, found.fine), (14, 18), "{range}");
            assert_eq!(found.exact, exact, "{range}");
        }
    }
}
