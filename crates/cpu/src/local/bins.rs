//! A bucket sorted in bins, by vectors.
//!
//! ```text
//! bin        each key to the next free row of its bin                           source → slots
//! sort       a vector's width of bins at a time, as columns of a network        slots → registers
//! collect    the columns as rows, one bin after the other                       registers → data
//! ```
//!
//! A key's bin is its place between the least and the greatest key, or limits that a partition
//! tells, so evenly spread keys fill the bins evenly, whatever the range. Nothing is counted
//! before: a bin has 32 rows for 8 keys or 9. Where keys crowd, one is full before all keys have a
//! row, and nothing has been written yet.
//!
//! [Slots](super::slots) are a matrix. They are sorted and collected as [`Whole`] keys, or as [`Halves`].

use std::array;

use sweepsort_core::Word;

use super::halves::Halves;
use super::slots::{ROWS, Slots};
use super::tally;
use super::whole::Whole;
use crate::columns::Columns;
use crate::instructions::Instructions;
use crate::lanes::{AnyVectored, Keys, Sorted, by_any_vectors};
use crate::last_step::Follow;
use crate::payload::Payload;
use crate::pieces::{Ahead, Limits, Pieces, READ_TOGETHER, within};
use crate::placing::Placing;
use crate::tuning::{IN_CACHE_BYTES, ROWS_12_LANES};

/// How far ahead of the records that are written the machine is told of others that it will soon write.
pub(super) const AHEAD: usize = 512;

/// A bucket to be sorted in bins.
pub(super) struct Bucket<'a, W, P> {
    pub(super) from: Pieces<'a, W, P>,
    pub(super) to: Columns<W, P>,
    pub(super) memory: *mut u8,
    /// Bytes of memory.
    pub(super) bytes: usize,
    /// Whether slots are fetched before they are written, where they are not all in a first level cache.
    pub(super) fetches: bool,
    /// What follows words that come in order, if they are alone.
    pub(super) follow: Option<&'a Follow<W>>,
}

impl<W: Word, P: Payload> AnyVectored for Bucket<'_, W, P> {
    type Output = bool;
    // Of records of 64-bit keys two at a time are no faster than passes.
    const ANY: bool = W::BITS == 32 || P::NONE;

    /// Sorts the records of `from` by their whole keys, stably, into `to`; or returns false, for
    /// keys crowd, and has written nothing.
    ///
    /// # Safety
    /// The machine has the lanes' instructions. `to` has room for the records of `from`, and is the one
    /// piece where they are, or overlaps none; the memory has so many bytes and starts on a line; nobody
    /// else uses them now.
    #[inline(always)]
    unsafe fn run<L: Keys>(self) -> bool {
        let (from, to) = (self.from.cast::<L::Word>(), self.to.cast::<L::Word>());
        let (memory, bytes) = (self.memory, self.bytes);
        let (n, payload) = (from.len(), from.payload());
        // SAFETY: no key is beyond the limits, so a place is below the number of bins, a row is
        // below that of rows, and slots and counters are within the memory.
        unsafe {
            let moves = !self.from.is_at(self.to);
            // What stays is in the caches.
            let mut ahead = match moves {
                true => from.ahead(),
                false => Ahead::nothing(),
            };
            let [least, greatest] = match from.limits() {
                Some(limits) => {
                    debug_assert!(
                        from.each()
                            .all(|(piece, n)| piece.keys(n).iter().all(within(limits)))
                    );
                    limits
                }
                None => ends::<L, P>(from, &mut ahead),
            };
            let range = greatest.wrapping_sub(least);
            if range == L::Word::ZERO {
                from.gather(to);
                return true;
            }
            if const { P::NONE } && tally::pays(n, range, bytes) {
                tally::sort(from, to, memory, [least, range], ahead);
                return true;
            }
            // Where records have fewer keys than that, bins overflow.
            if range.widen() < (n / (ROWS / 2)) as u128 {
                return false;
            }
            let fetches = self.fetches && n * from.record_bytes() > IN_CACHE_BYTES;
            let bucket = Spread {
                from,
                to,
                n,
                fetches,
                moves,
                follow: self.follow.map(Follow::cast),
            };
            if const { P::NONE }
                && let Some(slots) = Slots::<L::Rests, P>::new(n, memory, bytes, payload)
                && let placing = Placing::new(least, range, slots.bins)
                && let Some(halves) = Halves::<L, P>::new(&slots, placing)
            {
                return bucket.sort::<L, _>(&slots, placing, &halves, ahead);
            }
            let Some(slots) = Slots::<L, P>::new(n, memory, bytes, payload) else {
                return false;
            };
            let placing = Placing::new(least, range, slots.bins);
            let whole = Whole::<L, P>::new(&slots, placing);
            bucket.sort::<L, _>(&slots, placing, &whole, ahead)
        }
    }
}

/// Whether bins of which none has more than 12 keys are sorted as 12 rows, instead of 16: if one
/// mostly has no more.
pub(super) const fn twelve_rows<L: Sorted>() -> bool {
    L::LANES <= ROWS_12_LANES
}

/// What collects bins that have their records.
pub(super) trait Collect<W, P> {
    /// Sorts as many bins from `bin` on as a vector of the slots has lanes, and writes their `sum`
    /// records to the start of `to`, which has room for `room`.
    ///
    /// # Safety
    /// The machine has the instructions. There are as many bins, with so many records, and `to` has the room.
    unsafe fn collect(&self, bin: usize, to: Columns<W, P>, sum: usize, room: usize);
}

/// Records that are spread over a range.
struct Spread<'a, W, P> {
    from: Pieces<'a, W, P>,
    to: Columns<W, P>,
    n: usize,
    fetches: bool,
    /// Whether they do not stay where they are.
    moves: bool,
    follow: Option<&'a Follow<W>>,
}

impl<W: Word, P: Payload> Spread<'_, W, P> {
    /// Fills slots and collects them; or returns false, for a bin is full.
    ///
    /// # Safety
    /// As [`Bucket::run`].
    #[inline(always)]
    unsafe fn sort<L: Keys<Word = W>, S: Sorted>(
        &self,
        slots: &Slots<S, P>,
        placing: Placing<W>,
        filled: &impl Collect<W, P>,
        ahead: Ahead<'_>,
    ) -> bool {
        let (records, from, slots) = (self, self.from, *slots);
        // SAFETY: the caller's promise.
        unsafe {
            let all = match self.fetches {
                true => L::apart(Fill::<_, _, _, true> {
                    slots,
                    from,
                    placing,
                    ahead,
                }),
                false => L::apart(Fill::<_, _, _, false> {
                    slots,
                    from,
                    placing,
                    ahead,
                }),
            };
            if !all {
                return false;
            }
            if const { P::NONE && W::BITS == 64 } && self.follow.is_some() {
                L::apart(CollectAll::<_, _, _, _, true> {
                    records,
                    slots,
                    filled,
                });
            } else {
                L::apart(CollectAll::<_, _, _, _, false> {
                    records,
                    slots,
                    filled,
                });
            }
            true
        }
    }
}

/// The first half of that.
struct Fill<'a, W, S: Sorted, P, const FETCHES: bool> {
    slots: Slots<S, P>,
    from: Pieces<'a, W, P>,
    placing: Placing<W>,
    ahead: Ahead<'a>,
}

impl<W: Word, S: Sorted, P: Payload, const FETCHES: bool> AnyVectored
    for Fill<'_, W, S, P, FETCHES>
{
    type Output = bool;

    #[inline(always)]
    unsafe fn run<L: Keys>(self) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let (from, placing) = (self.from.cast(), self.placing.cast());
            self.slots.fill::<L, FETCHES>(from, placing, self.ahead)
        }
    }
}

/// The second half. `FOLLOWS` if something follows what comes in order.
struct CollectAll<'a, W, S: Sorted, P, C, const FOLLOWS: bool> {
    records: &'a Spread<'a, W, P>,
    slots: Slots<S, P>,
    filled: &'a C,
}

impl<W: Word, S: Sorted, P: Payload, C: Collect<W, P>, const FOLLOWS: bool> AnyVectored
    for CollectAll<'_, W, S, P, C, FOLLOWS>
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Keys>(self) {
        let (records, slots) = (self.records, self.slots);
        let follow = records.follow.filter(|_| FOLLOWS);
        let mut behind = follow.map(|follow| follow.behind(records.to.keys_start()));
        let mut done = 0;
        for bin in (0..slots.bins).step_by(S::LANES) {
            // SAFETY: the caller's promise.
            unsafe {
                let sum = slots.sum(bin);
                let to = records.to.from(done);
                // What is followed is in the caches.
                if records.moves && behind.is_none() {
                    to.fetch(AHEAD..AHEAD + sum);
                }
                self.filled.collect(bin, to, sum, records.n - done);
                done += sum;
                if let Some(behind) = &mut behind {
                    behind.follow(done);
                }
            }
        }
        if let Some(behind) = behind {
            // SAFETY: the caller's promise.
            unsafe { behind.end(done) }
        }
    }
}

/// The least and the greatest key of a bucket.
///
/// # Safety
/// The keys are there, and the machine has the lanes' instructions.
#[inline(always)]
unsafe fn ends<L: Keys, P: Payload>(
    from: Pieces<'_, L::Word, P>,
    ahead: &mut Ahead<'_>,
) -> Limits<L::Word> {
    let (mut least, mut greatest) = (L::Word::MAX, L::Word::ZERO);
    // SAFETY: the caller's promise.
    for (piece, n) in unsafe { from.each() } {
        // SAFETY: the caller's promise.
        for keys in unsafe { piece.keys(n) }.chunks(READ_TOGETHER) {
            ahead.read(keys.len());
            let ends = match const { L::LANES > 2 } {
                true => extremes(keys),
                false => extremes_by_fours(keys),
            };
            (least, greatest) = (least.min(ends.0), greatest.max(ends.1));
        }
    }
    [least, greatest]
}

/// The least and the greatest key.
#[inline(always)]
pub(super) fn extremes<W: Word>(keys: &[W]) -> (W, W) {
    keys.iter()
        .fold((W::MAX, W::ZERO), |(least, greatest), &key| {
            (least.min(key), greatest.max(key))
        })
}

/// The same without vectors: four by four, since each would wait for the one before.
fn extremes_by_fours<W: Word>(keys: &[W]) -> (W, W) {
    let (fours, rest) = keys.as_chunks::<4>();
    let (mut least, mut greatest) = ([W::MAX; 4], [W::ZERO; 4]);
    for four in fours {
        least = array::from_fn(|i| least[i].min(four[i]));
        greatest = array::from_fn(|i| greatest[i].max(four[i]));
    }
    let ends = extremes(rest);
    (
        least.into_iter().fold(ends.0, W::min),
        greatest.into_iter().fold(ends.1, W::max),
    )
}

/// Sorts in bins, by vectors; or returns false and has written nothing, for there are no vectors for
/// such keys, or they crowd. `fetches` if slots are fetched before they are written.
///
/// # Safety
/// The machine has the instructions. The [bucket](Bucket) is as it is to be when it is
/// [run](crate::lanes::AnyVectored::run).
pub(super) unsafe fn sort<W: Word, P: Payload>(
    instructions: Instructions,
    from: Pieces<'_, W, P>,
    to: Columns<W, P>,
    memory: *mut u8,
    bytes: usize,
    fetches: bool,
    follow: Option<&Follow<W>>,
) -> bool {
    let bucket = Bucket {
        from,
        to,
        memory,
        bytes,
        fetches,
        follow,
    };
    // SAFETY: the caller's promise.
    unsafe { by_any_vectors::<W, _>(instructions, bucket) }.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "x86_64")]
    use std::arch::asm;

    use super::super::bases;
    use super::super::testing::{Case, spread, with_limits_and_without};
    use super::*;
    use crate::payload::{Bytes, Fixed, Nothing};
    use crate::plan::Record;

    /// Sorts in bins, between limits and without, and tells which of these was done; if not,
    /// nothing must have been written.
    fn check<W: Word, P: Payload>(instructions: Instructions, keys: &[W], payload: P) -> [bool; 2] {
        with_limits_and_without(keys).map(|limits| {
            let one = |fetches| check_one(instructions, keys, payload, fetches, limits);
            let [sorted, fetching] = [false, true].map(one);
            assert_eq!(sorted, fetching);
            sorted
        })
    }

    fn check_one<W: Word, P: Payload>(
        instructions: Instructions,
        keys: &[W],
        payload: P,
        fetches: bool,
        limits: Option<Limits<W>>,
    ) -> bool {
        let case = Case::new(keys, payload);
        let pieces = [0..keys.len() / 3, keys.len() / 3..keys.len()];
        case.check(&format!("{instructions:?}"), |from, to, memory| {
            // SAFETY: all are there, and no key is beyond the limits.
            unsafe {
                let from = Pieces::new(from, &pieces).within(limits);
                sort(instructions, from, to, memory, case.bytes, fetches, None)
            }
        })
    }

    #[test]
    fn bins_sort_stably_or_refuse() {
        fn width<W: Word>(instructions: Instructions) {
            let most = 1u128 << W::BITS;
            // Whether records are sorted that have payloads.
            let moves = W::BITS == 32 || instructions > Instructions::Portable;
            for n in (2..70).chain([127, 128, 511, 512, 513, 1000, 4096, 10_000]) {
                // Spread over all values, over few bits, and over just more values than keys.
                for end in [most, most / 3, 1 << 20, n as u128 + 8] {
                    let keys: Vec<W> = spread(n, 7..end);
                    let done = check(instructions, &keys, Nothing);
                    assert_eq!(done, [true; 2], "{n} up to {end}");
                    let with_payloads = [
                        check(instructions, &keys, Fixed::<4>),
                        check(instructions, &keys, Fixed::<16>),
                        check(instructions, &keys, Bytes(5)),
                    ];
                    assert_eq!(with_payloads, [[moves; 2]; 3], "{n} up to {end}");
                }
                // Fewer values than keys, which are counted: few of them, many, and most of one.
                let values = [2, n as u128 / 5, n as u128 / 2, 2048, 2049];
                for values in values.into_iter().filter(|values| 2 * values <= n as u128) {
                    let mut keys: Vec<W> = spread(n, 7..7 + values);
                    let done = check(instructions, &keys, Nothing);
                    assert_eq!(done, [true; 2], "{n} of {values} values");
                    keys[..n / 2].fill(!W::truncate(7));
                    for key in &mut keys[n / 2..] {
                        *key = !*key;
                    }
                    let [limited, done] = check(instructions, &keys, Nothing);
                    assert!(done, "{n} of {values} values, most alike");
                    // Between limits there may be too many values to be counted, and in bins those
                    // alike crowd.
                    let counted = 5 * values < 2 * n as u128;
                    assert!(limited || !counted, "{n} of {values} values, most alike");
                    check(instructions, &keys, Fixed::<8>);
                }
                // Keys that end at the greatest word, which is also what empty slots hold.
                let high: Vec<W> = spread(n, most - n as u128..most);
                assert_eq!(
                    check(instructions, &high, Fixed::<8>),
                    [moves; 2],
                    "{n} high"
                );
                // One key far from all others, which crowd.
                let mut crowd: Vec<W> = spread(n, 7..n as u128 + 7);
                crowd[n / 2] = W::MAX;
                let done = check(instructions, &crowd, Nothing);
                assert_eq!(done, [n <= 33; 2], "{instructions:?}: a crowd of {n}");
            }
        }
        for instructions in Instructions::all() {
            width::<u32>(instructions);
            width::<u64>(instructions);
        }
    }

    /// Nothing is written where limits are so far beyond keys that these crowd.
    #[test]
    fn crowds_between_limits_are_refused() {
        for instructions in Instructions::all() {
            for (n, done) in [(ROWS, true), (ROWS + 1, false), (10_000, false)] {
                let keys: Vec<u64> = spread(n, 7..1 << 40);
                let limits = Some([0, u64::MAX]);
                let sorted = check_one(instructions, &keys, Nothing, false, limits);
                assert_eq!(sorted, done, "{instructions:?}: {n}");
            }
        }
    }

    /// Bins about as wide as half a word tells, with keys at both of their ends.
    #[test]
    fn halves_of_keys_are_enough() {
        const BINS: u128 = 1 << 12;
        /// How wide bins are taken to be.
        fn width<W: Word>(instructions: Instructions, range: u128, least: u128) -> u128 {
            let placing = Placing::new(W::ZERO, W::truncate(range), BINS as usize);
            let start =
                |bin: u128| (bin << (W::BITS - placing.zeros)).div_ceil(u128::from(placing.scale));
            let ends = |bin| {
                let (from, to) = (start(bin), start(bin + 1));
                [
                    from,
                    from + 1,
                    from + 2,
                    from + 3,
                    to - 4,
                    to - 3,
                    to - 2,
                    to - 1,
                ]
            };
            let distances = (0..BINS).flat_map(ends).map(|at: u128| at.min(range));
            let mut keys: Vec<W> = distances.map(|at| W::truncate(least + at)).collect();
            keys.reverse();
            let widest = start(1);
            let done = check(instructions, &keys, Nothing);
            assert_eq!(done, [true; 2], "{widest} from {least}");
            bases::width(placing)
        }
        for instructions in Instructions::all() {
            let narrow = (0..60).step_by(4).filter(|above| {
                let range = BINS * ((1 << 16) - 40 + above);
                width::<u32>(instructions, range, (1 << 32) - 1 - range);
                width::<u32>(instructions, range, 7) < 1 << 16
            });
            let narrow: Vec<u128> = narrow.collect();
            assert_eq!(narrow, [0, 4, 8, 12, 16, 20, 24]);
            // About 2^32, and what floats of 32 bits have.
            for end in [1 << 32, 0x7f00_0000] {
                let range = BINS * (end - (1 << 21));
                assert!(width::<u64>(instructions, range, (1 << 63) + 7) < end);
                assert!(width::<u64>(instructions, BINS * end, 7) >= end);
            }
        }
    }

    /// Words that are compared as floats are normal ones, for where a program has denormal ones
    /// taken for zero.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn floats_are_normal() {
        /// Runs `work` in such a program.
        fn without_denormals(work: impl FnOnce()) {
            /// The flags for operands and for results, in the register for such.
            const ZERO: u32 = 1 << 6 | 1 << 15;
            let mut before = 0u32;
            // SAFETY: no float is computed until it is as before, but for comparisons.
            unsafe {
                asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack));
                let during = before | ZERO;
                asm!("ldmxcsr [{}]", in(reg) &raw const during, options(nostack));
                work();
                asm!("ldmxcsr [{}]", in(reg) &raw const before, options(nostack));
            }
        }
        fn width<W: Word>(instructions: Instructions) {
            for (n, range) in [
                (300, 1 << 12),
                (10_000, 1 << 20),
                (10_000, 1 << 31),
                (10_000, 1 << 50),
            ] {
                let keys: Vec<W> = spread(n, 7..range);
                without_denormals(|| {
                    assert_eq!(check(instructions, &keys, Nothing), [true; 2]);
                    check(instructions, &keys, Fixed::<8>);
                });
            }
        }
        for instructions in Instructions::all() {
            width::<u32>(instructions);
            width::<u64>(instructions);
        }
    }

    /// Many threads share what memory there is for local sorts; too little for slots is refused.
    #[test]
    fn little_memory_is_not_for_bins() {
        let record = Record::new(Instructions::Avx512, true, 4, 4);
        for bytes in [100, 10_000, 18_495] {
            assert_eq!(record.most_records(bytes), (bytes - 16) / 8);
            let (mut keys, mut values) = ([2u32, 1], [0u32; 2]);
            let mut memory = vec![0u128; bytes.div_ceil(16)];
            let values = values.as_mut_ptr().cast();
            let columns = Columns::new(keys.as_mut_ptr(), values, Fixed::<4>);
            let start = memory.as_mut_ptr().cast();
            let records = Pieces::new(columns, &[0..1, 1..2]);
            let best = Instructions::detect();
            // SAFETY: the columns have two records, and the memory has its bytes.
            let done = unsafe { sort(best, records, columns, start, bytes, false, None) };
            assert!(!done, "{bytes} bytes");
        }
    }

    #[test]
    fn other_keys_are_not_for_bins() {
        let keys = [3u16, 1, 2];
        assert_eq!(check(Instructions::detect(), &keys, Nothing), [false; 2]);
        let keys = [3u64, 1, 2];
        let done = check(Instructions::Portable, &keys, Fixed::<8>);
        assert_eq!(done, [false; 2]);
    }
}
