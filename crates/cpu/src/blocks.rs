//! The first partition: each record to its bucket's block, without a count before.
//!
//! ```text
//! classify   a strip of records: their buckets                     source → a strip of numbers
//! scatter    each record to the next place of its bucket's block   source → room
//! ```
//!
//! The room is a row of blocks. A worker has one open for every bucket, and takes another when one
//! is full, and notes which one followed it. What the records of one bucket fill, block by
//! block, are its pieces. A worker moves stretches of the input; as long as one follows the other,
//! they are one run, and pieces go on. The pieces of all runs, one run after the other, are the
//! bucket, in the order of the input.
//!
//! Many workers with many buckets have so many blocks open that these are small. So at first some of
//! them that lie together are taken at once, as a lot. When these might run out, whatever buckets are
//! still to come, all workers give back the blocks of lots that they have not begun, and take them
//! one by one.
//!
//! Some machines have a line of the caches taken over by whoever reads it, and long for it to be
//! taken back. There the room has a region for every two workers, whose blocks the one fills with
//! what the other will sort, as a rule; and in the next sort the other fills them, who read them
//! last.

mod followed;
mod layout;

use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use sweepsort_core::Word;

use crate::classify::Classify;
use crate::fetch::prefetch;
use crate::histogram::Counters;
use crate::payload::Payload;
use crate::pool::Crew;
use crate::room::Room;
use crate::scatter::{NextLine, fetch_far, fetch_near, fetch_to_write};
use crate::sift::BucketSet;
use crate::source::Source;
use crate::tuning::{FETCHED_LATER, TOGETHER};

use followed::{Follower, Run};

pub(crate) use followed::Runs;
pub(crate) use layout::Layout;

/// Blocks, or lots, that a worker takes at a time. An atomic operation waits for all stores before it,
/// most of which miss the caches here.
const BATCH: usize = 8;

/// The blocks of a room.
pub(crate) struct Blocks {
    layout: Layout,
    /// Records of a block, a power of two.
    records: usize,
    /// How many a bucket takes at once, a power of two.
    lot: usize,
    /// Those that nobody has, region by region.
    regions: Vec<Stock>,
    /// Those of lots that were not begun, worker by worker.
    given_back: Vec<(Stock, Vec<u32>)>,
    next_line: NextLine,
}

/// Numbers that workers take, some at a time.
struct Stock {
    /// The first one that is left. Nobody else's line, for it is written often.
    next: CachePadded<AtomicUsize>,
    end: usize,
}

/// A worker's open blocks, and what it has moved.
pub(crate) struct Open<W> {
    /// Where the next record of each bucket goes, and where those of the last run began.
    places: Vec<usize>,
    starts: Arc<[usize]>,
    /// What followed full blocks in the last run.
    followers: Vec<Follower>,
    /// Where it takes blocks of buckets that the workers will sort, as a rule, one of them after the other.
    readers: Vec<Reader>,
    /// The last run, if it may go on, and those that have ended.
    run: Option<Run<W>>,
    ended: Vec<Run<W>>,
    /// How many records of each bucket were counted, and not moved.
    counts: Vec<usize>,
}

/// Blocks that were taken, and are not opened yet.
struct Reader {
    /// Those of a region.
    region: usize,
    free: Range<usize>,
    /// Those given back, by this worker or another.
    worker: usize,
    again: (usize, Range<usize>),
}

/// A block's number, in half a word.
fn number(block: usize) -> u32 {
    u32::try_from(block).expect("fewer blocks than 2^32")
}

/// Who sorts a bucket, as a rule: each worker begins with an even share of them.
fn reader_of(bucket: usize, buckets: usize, readers: usize) -> usize {
    bucket * readers / buckets
}

impl Stock {
    fn new(numbers: Range<usize>) -> Self {
        Stock {
            next: CachePadded::new(numbers.start.into()),
            end: numbers.end,
        }
    }

    /// So many, or fewer, if any are left.
    fn take(&self, wanted: usize) -> Option<Range<usize>> {
        let is_left = self.next.load(Ordering::Relaxed) < self.end;
        let first = is_left.then(|| self.next.fetch_add(wanted, Ordering::Relaxed))?;
        (first < self.end).then(|| first..self.end.min(first + wanted))
    }
}

impl<W: Word> Open<W> {
    /// Goes on with a stretch, or begins with it, where so many records lie together.
    fn run(&mut self, range: &Range<usize>, together: usize) {
        match &mut self.run {
            Some(run) if run.goes_on(range.start, together) => run.range.end = range.end,
            _ => {
                self.end_run();
                self.run = Some(Run::begin(range.clone(), together));
            }
        }
    }

    /// Adds what was counted of those buckets that are not moved.
    fn count(&mut self, counters: &Counters, moved: &BucketSet) {
        for (bucket, (all, more)) in self.counts.iter_mut().zip(counters.sums()).enumerate() {
            if !moved.has(bucket) {
                *all += more;
            }
        }
    }

    /// Ends the last run.
    pub(crate) fn end_run(&mut self) {
        if let Some(mut run) = self.run.take() {
            let ends: Arc<[usize]> = self.places.as_slice().into();
            let starts = mem::replace(&mut self.starts, Arc::clone(&ends));
            run.end(starts, ends, &self.followers);
            self.followers.clear();
            self.ended.push(run);
        }
    }
}

impl Blocks {
    /// Has blocks taken one by one from now on. Of their lots all workers give back what they have
    /// not begun.
    pub(crate) fn end_lots<W: Word>(
        &mut self,
        workers: &mut [CachePadded<Option<Open<W>>>],
        crew: Crew<'_>,
    ) {
        let (layout, records, lot) = (self.layout, self.records, self.lot);
        // About half of the lots that a worker began with, and of those it has now. (Helpers would all
        // ask the system for memory at once, each time.)
        let about = layout.buckets * lot;
        let mut given_back: Vec<_> = workers
            .iter_mut()
            .enumerate()
            .map(|worker| (worker, Vec::with_capacity(about)))
            .collect();
        crew.for_each(&mut given_back, |((worker, open), blocks)| {
            let mut give = |some: Range<usize>| blocks.extend(some.map(number));
            for (first, place) in layout.beginnings(*worker) {
                give(first..place / records);
            }
            // Who has not come yet may still come.
            let open = open.get_or_insert_with(|| layout.open(*worker));
            for place in &open.places {
                let next = place / records + 1;
                give(next..next.next_multiple_of(lot));
            }
            for reader in &mut open.readers {
                give(mem::take(&mut reader.free));
            }
        });
        let behind = layout.behind().map(number).collect();
        let given_back = given_back.into_iter().map(|(_, blocks)| blocks);
        self.given_back = given_back
            .chain([behind])
            .map(|blocks| (Stock::new(0..blocks.len()), blocks))
            .collect();
        self.lot = 1;
    }

    /// A block that nobody has, or the first one of a lot: of those that a worker has taken, or takes
    /// now.
    fn take(&self, reader: &mut Reader) -> usize {
        if reader.free.is_empty() && reader.again.1.is_empty() {
            match self.batch(reader.region) {
                Some(blocks) => reader.free = blocks,
                None => reader.again = self.batch_again(reader.worker),
            }
        }
        let (giver, again) = &mut reader.again;
        if let Some(again) = again.next() {
            return self.given_back[*giver].1[again] as usize;
        }
        let block = reader.free.start;
        reader.free.start += self.lot;
        block
    }

    /// Blocks of a region, or of another one where it has no more.
    fn batch(&self, region: usize) -> Option<Range<usize>> {
        let (before, from) = self.regions.split_at(region);
        let mut stocks = from.iter().chain(before);
        stocks.find_map(|stock| stock.take(BATCH * self.lot))
    }

    /// Some that were given back, by whom, and which of its: a worker's own, or others'.
    fn batch_again(&self, worker: usize) -> (usize, Range<usize>) {
        assert_eq!(self.lot, 1, "a room has lots for all that are moved so");
        let mut givers = (worker..self.given_back.len()).chain(0..worker);
        let some = givers.find_map(|giver| Some((giver, self.given_back[giver].0.take(BATCH)?)));
        some.expect("a room has blocks for all records")
    }
}

/// How the first partition goes.
pub(crate) struct Scatter<'a, W, P, S> {
    pub(crate) classify: Classify<'a, W, S>,
    pub(crate) room: Room<W, P>,
    pub(crate) blocks: &'a Blocks,
    /// Any code.
    pub(crate) reference: W,
    /// Whether records that tie are the same, bit by bit.
    pub(crate) alike: bool,
}

impl<W: Word, P: Payload, S: Source<W, P>> Scatter<'_, W, P, S> {
    /// The buckets whose records are moved, if those of others are only counted.
    fn moved(&self) -> Option<&BucketSet> {
        self.classify.classifier.moved().filter(|_| self.alike)
    }

    /// Moves the records of a stretch.
    ///
    /// # Safety
    /// The source has the records, and nobody writes them now. The machine has the instructions. The room
    /// is one for all records and all workers, of whom nobody else has these open blocks.
    pub(crate) unsafe fn run(&self, stretch: Range<usize>, open: &mut Open<W>) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.blocks.next_line {
                NextLine::Near => self.run_by(stretch, open, |_| {}, fetch_near),
                NextLine::Far => self.run_by(stretch, open, |_| {}, Room::<W, P>::fetch_some_far),
                NextLine::FarThenNear => self.run_by(stretch, open, prefetch, fetch_far),
                NextLine::ToWrite => self.run_by(stretch, open, |_| {}, fetch_to_write),
            }
        }
    }

    /// The same; `fetch_next` as [`put_all`](Room::put_all) has it, and before that `fetch_own` with
    /// where a later record will lie.
    unsafe fn run_by(
        &self,
        stretch: Range<usize>,
        open: &mut Open<W>,
        fetch_own: impl Fn(*const u8) + Copy,
        fetch_next: impl Fn(usize, *const u8) + Copy,
    ) {
        open.run(&stretch, self.blocks.lot * self.blocks.records);
        let (source, room) = (self.classify.source, self.room);
        let places = open.places.as_mut_ptr();
        // For all, what is stored might change it.
        let last = self.blocks.lot * self.blocks.records - 1;
        // SAFETY: the caller's promise.
        let varying = unsafe {
            if const { P::NONE && S::CODES }
                && let Some(moved) = self.moved()
            {
                let mut counters = Counters::new();
                let mut found = Counters::new();
                let keys = room.columns().keys_start();
                let put = |codes: &[W], buckets: &[u16]| {
                    let store = |_, code, at| keys.add(at).write(code);
                    let take = |bucket| self.take(bucket, places, last, open);
                    room.put_all(buckets, codes, take, store, |_| {}, fetch_next);
                };
                let varying = self.classify.sifted(
                    stretch,
                    self.reference,
                    moved,
                    &mut found,
                    &mut counters,
                    put,
                );
                open.count(&counters, moved);
                if let Some(common) = self.classify.classifier.common() {
                    for (bucket, count) in common.counts(&found) {
                        open.counts[usize::from(bucket)] += count;
                    }
                }
                varying
            } else {
                let put = |first: usize, codes: &[W], buckets: &[u16]| {
                    let store = |i, code, at| room.store(at, source.record(first + i, code));
                    let take = |bucket| self.take(bucket, places, last, open);
                    let before = |i| {
                        self.classify.fetch(first, i);
                        let later = buckets.get(i + FETCHED_LATER..).unwrap_or_default();
                        if let Some(later) = later.first_chunk::<TOGETHER>() {
                            for place in later.map(|bucket| *places.add(bucket.into())) {
                                room.prefetch_bytes(place, 0, fetch_own);
                            }
                        }
                    };
                    room.put_all(buckets, codes, take, store, before, fetch_next);
                };
                self.classify.strips(stretch, self.reference, put)
            }
        };
        if let Some(run) = &mut open.run {
            run.varying = run.varying | varying;
        }
    }

    /// The next place of a bucket. `last`: the last one's number in a block, or in a lot.
    ///
    /// # Safety
    /// `places` are those of the open blocks, of which this bucket has one. Each place is within its block,
    /// or its lot.
    #[inline(always)]
    unsafe fn take(
        &self,
        bucket: u16,
        places: *mut usize,
        last: usize,
        open: &mut Open<W>,
    ) -> usize {
        // SAFETY: the caller's promise, which is kept: a full block is followed by another.
        unsafe {
            let place = places.add(usize::from(bucket));
            let at = *place;
            *place = at + 1;
            if (at + 1) & last == 0 {
                *place = self.follow(bucket, at + 1, open);
            }
            at
        }
    }

    /// Where the next record of a bucket goes, whose block, or lot, is full up to its end.
    #[cold]
    #[inline(never)]
    fn follow(&self, bucket: u16, end: usize, open: &mut Open<W>) -> usize {
        // Of a bucket of one value only the number of records is asked for. So they are written to
        // one block again and again. (Where most of an input has such values, they are not written
        // at all: `moved`.)
        if self.alike && self.classify.classifier.one_value(bucket.into()).is_some() {
            open.counts[usize::from(bucket)] += self.blocks.records;
            return end - self.blocks.records;
        }
        let reader = reader_of(bucket.into(), open.places.len(), open.readers.len());
        let block = self.blocks.take(&mut open.readers[reader]);
        open.followers.push(Follower {
            bucket,
            block: number(block),
        });
        let next = block * self.blocks.records;
        self.room.prefetch_start(next);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::NextLine::{Far, FarThenNear, Near, ToWrite};
    use super::*;
    use crate::classify::{BucketBits, Classifier};
    use crate::columns::Columns;
    use crate::columns::{column_bytes, columns_at};
    use crate::instructions::Instructions;
    use crate::payload::{Bytes, Fixed, Nothing};
    use crate::placing::Placing;
    use crate::pool::Crew;
    use crate::reading::Plain;
    use crate::source::Stored;
    use crate::tuning::{FIRST_BITS, SHARING};

    /// By any number of buckets, and whatever finds them: the pieces of a bucket are its records,
    /// in the order of the input.
    #[test]
    fn pieces_are_buckets_in_order() {
        // As words, and in columns.
        pieces_of(Fixed::<4>);
        pieces_of(Bytes(4));
    }

    fn pieces_of<P: Payload>(payload: P) {
        let n = 50_000;
        let mut keys: Vec<u32> = (1..=n as u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9))
            .collect();
        let mut values: Vec<u32> = (0..n as u32).collect();
        let columns = Columns::new(keys.as_mut_ptr(), values.as_mut_ptr().cast(), payload);
        for instructions in Instructions::all() {
            for (bits, next_line, spare_bytes) in [
                (1, Near, 1 << 20),
                (8, Near, 1 << 20),
                (8, Far, 1 << 20),
                (8, ToWrite, 1 << 20),
                (FIRST_BITS, Far, 1 << 20),
                (FIRST_BITS, FarThenNear, 1 << 20),
                // Blocks of eight records, which are taken in lots.
                (1, Near, 1 << 10),
                (8, Near, 1 << 15),
            ] {
                let range = [1 << 20, u32::MAX - (1 << 20)];
                let classifier = Classifier::even(range, bits);
                let layout = Layout {
                    n,
                    record: 8,
                    workers: 1,
                    buckets: 1 << bits,
                    spare_bytes,
                    readers: 1,
                    turned: false,
                };
                let in_lots = layout.in_lots();
                let what =
                    format!("{instructions:?}, {bits} bits, {next_line:?}, {in_lots} in lots");
                assert_eq!(in_lots < n, spare_bytes < 1 << 20, "{what}");
                let mut blocks = layout.blocks();
                blocks.next_line = next_line;
                let mut open = [CachePadded::new(Some(layout.open(0)))];
                let places = layout.room();
                let mut memory = vec![0u64; column_bytes(places, 8).div_ceil(8)];
                // SAFETY: there is memory for them.
                let room =
                    unsafe { Room::new(columns_at(memory.as_mut_ptr().cast(), places, payload)) };
                for stretch in [0..n / 3, n / 3..in_lots, in_lots..n] {
                    if stretch.start == in_lots {
                        blocks.end_lots(&mut open, Crew::alone());
                    }
                    let scatter = Scatter {
                        classify: Classify {
                            source: Stored {
                                columns,
                                reading: Plain,
                            },
                            mask: u32::MAX,
                            classifier: &classifier,
                            instructions,
                        },
                        room,
                        blocks: &blocks,
                        reference: 0,
                        alike: false,
                    };
                    // SAFETY: there are `n` records, and the room is one for them.
                    unsafe { scatter.run(stretch, open[0].as_mut().unwrap()) };
                }
                let runs = Runs::new(open.into(), layout);
                let pieces: Vec<_> = (0..1usize << bits)
                    .flat_map(|bucket| {
                        let pieces = runs.pieces(bucket);
                        pieces.iter().map(move |piece| (bucket, piece.clone()))
                    })
                    .collect();
                let (mut found, mut found_values) = (vec![0u32; n], vec![0u32; n]);
                let ranges: Vec<_> = pieces.iter().map(|(_, piece)| piece.clone()).collect();
                let to = Columns::new(
                    found.as_mut_ptr(),
                    found_values.as_mut_ptr().cast(),
                    payload,
                );
                // SAFETY: the ranges are those of the `n` records.
                unsafe { room.gather(&ranges, to) };
                let buckets = pieces
                    .iter()
                    .flat_map(|(bucket, piece)| piece.clone().map(|_| *bucket));
                let found: Vec<_> = buckets
                    .zip(found)
                    .zip(found_values)
                    .map(|((bucket, key), value)| (bucket, key, value))
                    .collect();
                let placing = Placing::new(range[0], range[1] - range[0], 1 << bits);
                let bucket = |&value: &u32| {
                    let key = keys[value as usize].clamp(range[0], range[1]);
                    (placing.of(key), keys[value as usize], value)
                };
                let mut expected: Vec<_> = values.iter().map(bucket).collect();
                expected.sort_by_key(|&(bucket, _, value)| (bucket, value));
                assert!(found == expected, "{what}");
            }
        }
    }

    /// Each block is one worker's, whoever takes how many, alone or in lots, and there are enough for
    /// all records; and in the next sort those that one fills are what it has read.
    #[test]
    fn regions_change_hands() {
        for (n, workers, readers, buckets, spare_bytes, lot) in [
            (10_000, 1, 1, 8, 1 << 20, 1),
            (10_000, 5, 1, 32, 1 << 20, 1),
            (10_000, 2, 2, 16, 1 << 20, 1),
            (10_000, 3, 3, 16, 1 << 20, 1),
            (1_000_000, 16, 1, 64, 1 << 18, 2),
            (300_000, 2, 2, 32, 1 << 14, 8),
        ] {
            let layout = Layout {
                n,
                record: 4,
                workers,
                buckets,
                spare_bytes,
                readers,
                turned: false,
            };
            let what = format!("{layout:?}");
            assert_eq!(layout.lots().0, lot, "{what}");
            // Who fills a block and who reads it, in two sorts.
            let mut hands = [false, true].map(|_| vec![None; layout.count()]);
            for (hands, turned) in hands.iter_mut().zip([false, true]) {
                let layout = layout.turned(turned);
                let mut blocks = layout.blocks();
                // One helper comes late, or never.
                let came = |worker| worker < workers - usize::from(workers > 2);
                let mut open: Vec<_> = (0..workers)
                    .map(|worker| came(worker).then(|| layout.open::<u32>(worker)))
                    .map(CachePadded::new)
                    .collect();
                let mut note = |block: usize, hand: [usize; 2]| {
                    assert_eq!(hands[block].replace(hand), None, "{what}: block {block}");
                };
                for (worker, open) in open.iter().flat_map(|open| &**open).enumerate() {
                    for (bucket, &place) in open.places.iter().enumerate() {
                        let reader = bucket * readers / buckets;
                        note(place / blocks.records, [worker, reader]);
                    }
                }
                // All take some, alone or in lots, of which others must not have them.
                for (worker, open) in open.iter_mut().flat_map(|open| &mut **open).enumerate() {
                    for (i, reader) in open.readers.iter_mut().enumerate() {
                        for _ in 0..BATCH {
                            let first = blocks.take(reader);
                            for block in first..first + lot {
                                note(block, [worker, i]);
                            }
                        }
                    }
                }
                // One takes what is left of the records that are moved in lots, and then, one by one, of
                // all, while the others have taken some in vain.
                let mut taken = (0..workers).filter(|&i| came(i)).count() * readers * BATCH * lot;
                for more in [layout.in_lots(), n] {
                    let lot = blocks.lot;
                    for open in open[1..].iter_mut().flat_map(|open| &mut **open) {
                        for reader in &mut open.readers {
                            let first = blocks.take(reader);
                            for block in first..first + lot {
                                note(block, [usize::MAX; 2]);
                            }
                        }
                    }
                    while taken + lot <= more / blocks.records {
                        let first = blocks.take(&mut open[0].as_mut().unwrap().readers[0]);
                        for block in first..first + lot {
                            note(block, [usize::MAX; 2]);
                        }
                        taken += lot;
                    }
                    if lot > 1 {
                        blocks.end_lots(&mut open, Crew::alone());
                        let late = (0..workers).filter(|&worker| !came(worker));
                        for place in late.flat_map(|i| &open[i].as_ref().unwrap().places) {
                            note(place / blocks.records, [usize::MAX; 2]);
                        }
                    }
                }
            }
            let of_two = |hand: &&[usize; 2]| readers > 1 && hand[0] < workers;
            let [first, second] = hands;
            for (first, second) in first.iter().zip(&second) {
                if let (Some(first), Some(second)) = (first, second)
                    && [first, second].iter().all(of_two)
                {
                    assert_eq!(first[1], second[0], "{what}: {first:?}, {second:?}");
                }
            }
        }
    }

    /// Of keys most of which have few values, those are counted, and the others moved; of others all are
    /// moved, or not even all places are taken. In any case a bucket has as many as there are.
    #[test]
    fn buckets_have_all_keys() {
        let n = 30_000;
        // Of ten keys so many have one of three values.
        for (frequent, counted) in [(10, true), (9, true), (6, true), (3, false), (0, false)] {
            let key = |i: u32| match i.wrapping_mul(0x9e37_79b9) {
                key if i % 10 < frequent => key % 3 * 1_000_000_007,
                key => key,
            };
            let mut keys: Vec<u32> = (1..=n as u32).map(key).collect();
            let columns = Columns::new(keys.as_mut_ptr(), std::ptr::dangling_mut(), Nothing);
            let mut sample = keys.clone();
            sample.sort();
            let bits = BucketBits {
                even: 8,
                sampled: 8,
            };
            let mut classifier = Classifier::within([0, u32::MAX], &mut sample, bits);
            classifier.find_common(&sample);
            assert_eq!(classifier.moved().is_some(), counted, "{frequent} of ten");
            let found = classifier.common().is_some();
            assert_eq!(found, frequent >= 9, "{frequent} of ten");
            for instructions in Instructions::all() {
                let layout = Layout::new(n, 4, 1, 256, SHARING);
                let blocks = layout.blocks();
                let mut open = layout.open(0);
                let mut room = vec![0u32; layout.room()];
                let scatter = Scatter {
                    classify: Classify {
                        source: Stored {
                            columns,
                            reading: Plain,
                        },
                        mask: u32::MAX,
                        classifier: &classifier,
                        instructions,
                    },
                    room: Room::new(Columns::new(
                        room.as_mut_ptr(),
                        std::ptr::dangling_mut(),
                        Nothing,
                    )),
                    blocks: &blocks,
                    reference: 0,
                    alike: true,
                };
                for stretch in [n / 3..n, 0..n / 3] {
                    // SAFETY: there are `n` keys, and the room is one for them.
                    unsafe { scatter.run(stretch, &mut open) };
                }
                let open = vec![CachePadded::new(Some(open))];
                let runs = Runs::new(open, layout);
                let mut found = Vec::new();
                for bucket in 0..classifier.buckets() {
                    match classifier.one_value(bucket) {
                        Some(key) => found.extend(vec![key; runs.overwritten(bucket)]),
                        None => {
                            let pieces = runs.pieces(bucket).iter();
                            found.extend(pieces.flat_map(|piece| &room[piece.clone()]));
                        }
                    }
                }
                found.sort();
                assert!(found == sample, "{frequent} of ten, {instructions:?}");
            }
        }
    }
}
