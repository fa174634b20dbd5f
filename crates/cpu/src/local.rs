//! A bucket sorted in cache. By vectors: in [`bins`] if the keys are spread (some records that lie side by side as they are,
//! [`joined`] or as [`pairs`]), counted in a [`tally`] if their values are few; and where the machine has instructions that not
//! every one has, by [`quick`] if they crowd or are few; many keys alone are [`cut`] in parts before. In counting [`passes`]
//! otherwise.

mod bases;
mod beside;
pub(crate) mod bins;
mod block;
mod coding;
mod cut;
pub(crate) mod few;
mod halves;
mod joined;
mod network;
mod pairs;
pub(crate) mod passes;
mod quick;
mod several;
mod tally;
mod whole;

use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use sweepsort_core::{Coder, Word};

use crate::classify::BucketBits;
use crate::columns::{Columns, Limits, Payload, Pieces};
use crate::instructions::{Instructions, second_cache_bytes, stores_wait};
use crate::lanes::{Lanes, Vectored, by_any_vectors, by_vectors};
use crate::last_step::{Follow, any_ties, ties};
use crate::pool::{Crew, Shared};
use crate::reading::Reading;
use crate::room::Room;
use crate::sink::Sink;
use crate::tuning::{
    ANY_BINS_FROM_32, ANY_BINS_FROM_64, BINS_SKIPPED_MAX, BUCKET_BYTES, BUCKET_SLOTS_BYTES,
    BUCKETS_PER_WORKER, CUT_SHARED_BYTES, CUTS_32, CUTS_64, Cuts, FIRST_BITS, INSERTION_MAX,
    LOCAL_BYTES, LOCAL_CACHE_FOURTHS, LOCAL_CACHE_MIN, ONE_BYTES, ONE_KEYS_BYTES, PARTITION_BITS,
    PASSES_BYTES, QUICK_BYTES, QUICK_BYTES_32, QUICK_BYTES_64, SAMPLED_BITS, SHARING,
    SHARING_READ_AGAIN, Sharing,
};
use beside::Beside;
pub(crate) use cut::Cut;
use joined::Joined;
use pairs::Pairs;
use passes::{Passes, Tables};
pub(crate) use quick::depth;

/// Records, as a local sort sees them.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Bytes of a record.
    pub(crate) record: usize,
    /// Bytes of a slot for one that a partition has moved, maybe [side by side](Room::BESIDE).
    slot: usize,
    /// Whether they are keys alone.
    keys: bool,
    /// Whether they can be sorted in bins.
    bins: bool,
    /// Fewer of them are not.
    bins_from: usize,
    /// Whether they can be sorted by vectors that not every machine has.
    vectors: bool,
    /// Whether many are cut in parts for bins: keys alone, by vectors that compress.
    parts: bool,
    /// Whether buckets that a sample parts should be fewer. (By AVX2 keys of 64 bits lose as much in the local
    /// sorts.)
    fewer_sampled: bool,
}

impl Shape {
    /// Records of a key of `key` bytes and a payload of `payload`, `whole` if they are sorted by all bits of the key.
    pub(crate) fn new(instructions: Instructions, whole: bool, key: usize, payload: usize) -> Self {
        let vectors = whole && instructions > Instructions::Portable && (key == 4 || key == 8);
        let bins = vectors || whole && (key == 4 || key == 8 && payload == 0);
        Shape {
            record: key + payload,
            slot: match (key, payload) {
                (4, 8) | (8, 4 | 8) if bins => pairs::SLOT_BYTES,
                (4, 4) if bins && !vectors => pairs::SLOT_BYTES,
                _ => key + payload,
            },
            keys: payload == 0,
            bins,
            bins_from: match key {
                _ if vectors => 0,
                4 => ANY_BINS_FROM_32,
                _ => ANY_BINS_FROM_64,
            },
            vectors,
            parts: vectors && payload == 0 && instructions == Instructions::Avx512,
            fewer_sampled: vectors && (key == 4 || instructions == Instructions::Avx512),
        }
    }

    /// Whether `n` of them are worth a try in bins.
    fn takes_bins(self, n: usize) -> bool {
        self.bins && n >= self.bins_from
    }

    /// Whether they are keys alone that can be sorted by vectors that not every machine has.
    pub(crate) fn is_keys_for_vectors(self) -> bool {
        self.vectors && self.keys
    }

    /// Bytes of memory for a bucket of `n` records.
    pub(crate) fn bytes(self, n: usize) -> usize {
        let passes = n * self.record + 16;
        match self.takes_bins(n) {
            true if self.in_parts(n) => part_slots_bytes(),
            true => bins::bytes(n, self.record).max(passes),
            false => passes,
        }
    }

    /// Whether `n` records where they are to stay are cut in parts for bins.
    fn in_parts(self, n: usize) -> bool {
        self.parts && !bins::fits(n, part_slots_bytes(), self.record)
    }

    /// Whether so many workers cut an input of `n` records in parts where it lies, however its keys are spread.
    pub(crate) fn is_cut(self, n: usize, threads: usize) -> bool {
        self.cuts(n, threads, |cuts| cuts.any)
    }

    /// The same of keys that a sample shows to be skewed, `few` if it has hardly any values.
    pub(crate) fn is_cut_if_skewed(self, n: usize, threads: usize, few: bool) -> bool {
        self.cuts(n, threads, |cuts| if few { cuts.few } else { cuts.skewed })
    }

    /// Whether `n` is no more than the most of those that are cut by so many workers. One sorts in bins what these take.
    fn cuts(self, n: usize, threads: usize, most: impl Fn(&Cuts) -> [usize; 2]) -> bool {
        let most = most(if self.record == 4 { &CUTS_32 } else { &CUTS_64 });
        let most = most.get(threads - 1).copied().unwrap_or(0);
        self.parts && n <= most && (threads > 1 || self.in_parts(n))
    }

    /// Whether an input of `n` records is a single bucket, where one thread sorts it.
    pub(crate) fn fits_one(self, n: usize) -> bool {
        match self.bins {
            true if self.in_parts(n) => self.is_cut(n, 1),
            true if self.keys => bins::fits(n, ONE_KEYS_BYTES, self.record),
            true => bins::fits(n, ONE_BYTES, self.record),
            false => n <= self.most_records(LOCAL_BYTES),
        }
    }

    /// Bits that number the buckets into which `n` records are best partitioned.
    pub(crate) fn partition_bits(self, n: usize, threads: usize, bytes: usize) -> BucketBits {
        self.with_sampled(self.even_bits(n, threads), n, threads, bytes)
    }

    /// The same for the first partition, which may have more of them: so many that a local sort with `bytes`
    /// bytes of memory takes each bucket, with some to spare for one that is larger than others. Where none are
    /// enough, there is a second partition in any case. `cache`: bytes of a core's second level cache.
    pub(crate) fn first_bits(
        self,
        n: usize,
        threads: usize,
        bytes: usize,
        sharing: Sharing,
        cache: usize,
    ) -> BucketBits {
        let bits = self.even_bits(n, threads);
        let mut possible = bits..=first_bits_most(threads, sharing);
        let cached = self.most_cached(bytes, cache);
        let found = possible.clone().find(|&bits| fits_even(n, bits, cached));
        let most = self.most_records(bytes);
        let last = || {
            possible
                .next_back()
                .filter(|&bits| fits_even(n, bits, most))
        };
        self.with_sampled(found.or_else(last).unwrap_or(bits), n, threads, bytes)
    }

    /// How `threads` workers share memory: see [`SHARING_READ_AGAIN`].
    pub(crate) fn sharing(self, n: usize, threads: usize, cache: usize) -> Sharing {
        let fits = |sharing: Sharing| {
            let bytes = LOCAL_BYTES.min(sharing.local_bytes / threads);
            let bits = first_bits_most(threads, sharing);
            fits_even(n, bits, self.most_cached(bytes, cache))
        };
        match self.reads_again() && !fits(SHARING) && fits(SHARING_READ_AGAIN) {
            true => SHARING_READ_AGAIN,
            false => SHARING,
        }
    }

    /// Whether a local sort reads records again from where a partition left them.
    fn reads_again(self) -> bool {
        self.slot < self.record
    }

    /// The most records that are sorted locally with so many bytes of memory and, where that has been found to matter,
    /// within a second level cache.
    fn most_cached(self, bytes: usize, cache: usize) -> usize {
        let most = self.most_records(bytes);
        if self.bins && self.keys && self.record == 4 {
            return most.min(self.most_records(cached_slots_bytes(cache)));
        }
        match self.reads_again() {
            true => {
                most.min(cache.max(LOCAL_CACHE_MIN) / (self.record + bins::record_bytes(self.slot)))
            }
            false => most,
        }
    }

    /// As many as bring even buckets well into the cache and give every worker some.
    pub(crate) fn even_bits(self, n: usize, threads: usize) -> u32 {
        let bucket = match self.bins {
            true => bins::most_records(BUCKET_SLOTS_BYTES, self.slot),
            false => BUCKET_BYTES / self.record,
        };
        let buckets = (n / bucket.max(1)).max(threads * BUCKETS_PER_WORKER);
        (buckets.max(1).ilog2() + 1).min(PARTITION_BITS)
    }

    /// Where a sample parts the buckets there are fewer, if a local sort takes each, though some are a quarter
    /// larger than others, and every worker has some even so. Where keys crowd, it has no use for smaller slots.
    fn with_sampled(self, even: u32, n: usize, threads: usize, bytes: usize) -> BucketBits {
        let few_do = n >> SAMPLED_BITS <= bins::most_records(bytes, self.record) / 5 * 4
            && threads * BUCKETS_PER_WORKER <= 1 << SAMPLED_BITS;
        let most = match self.fewer_sampled && few_do {
            true => SAMPLED_BITS,
            false => PARTITION_BITS,
        };
        BucketBits {
            even,
            sampled: even.min(most),
        }
    }

    /// The most records that are sorted locally with so many bytes of memory.
    pub(crate) fn most_records(self, bytes: usize) -> usize {
        let passes = bytes.saturating_sub(16) / self.record;
        match bins::most_records(bytes, self.slot) {
            most if self.bins && most > 0 => most.min(passes),
            _ => passes.min(PASSES_BYTES / self.record),
        }
    }
}

/// Bytes of slots that a second level cache of so many bytes has well enough.
fn cached_slots_bytes(cache: usize) -> usize {
    cache.max(LOCAL_CACHE_MIN) / 4 * LOCAL_CACHE_FOURTHS
}

/// Bytes of slots for a part of many keys alone.
fn part_slots_bytes() -> usize {
    cached_slots_bytes(second_cache_bytes()).min(LOCAL_BYTES)
}

/// The most bits of a first partition.
fn first_bits_most(threads: usize, sharing: Sharing) -> u32 {
    let buckets = sharing.first_buckets / threads;
    buckets.max(1).ilog2().min(FIRST_BITS)
}

/// Whether each of so many even buckets has no more than `most` records, with some to spare.
fn fits_even(n: usize, bits: u32, most: usize) -> bool {
    n >> bits <= most / 64 * 63
}

/// Whether bins are worth a try. Keys that crowd in one bucket often do so in the next ones; each
/// vain try doubles how many buckets go without. Workers share it, and lose nothing if they race.
#[derive(Default)]
struct Crowding {
    tries: AtomicU32,
    /// Whether a bucket's limits did not serve, and its least and greatest key did.
    misled: AtomicBool,
}

impl Crowding {
    /// Bits of how many buckets are still to go without; above is how many did after the last try.
    const LEFT_BITS: u32 = 16;

    /// Whether the next bucket goes without.
    fn waits(&self) -> bool {
        self.tries.load(Ordering::Relaxed) & u32::mask(&(0..Self::LEFT_BITS)) > 0
    }

    /// Whether to try a bucket.
    fn try_bins(&self) -> bool {
        let state = self.tries.load(Ordering::Relaxed);
        let left = state & u32::mask(&(0..Self::LEFT_BITS));
        if left > 0 {
            self.tries.store(state - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// Sorts in bins, if that is worth a try; or returns false and has written nothing.
    ///
    /// # Safety
    /// As [`in_bins`], also without limits.
    unsafe fn in_bins<W: Word, P: Payload>(
        &self,
        instructions: Instructions,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        memory: *mut u8,
        bytes: usize,
        follow: Option<&Follow<W>>,
    ) -> bool {
        if !self.try_bins() {
            return false;
        }
        // SAFETY: the caller's promise, also where there are no limits.
        let sort = |limits| unsafe {
            let from = from.within(limits);
            in_bins(instructions, from, to, memory, bytes, stores_wait(), follow)
        };
        let done = self.limited(from.limits(), sort);
        self.note(done);
        done
    }

    /// Sorts between limits, if they have served so far, or else between the least and the greatest key.
    fn limited<W>(
        &self,
        limits: Option<Limits<W>>,
        sort: impl Fn(Option<Limits<W>>) -> bool,
    ) -> bool {
        let limits = limits.filter(|_| !self.misled.load(Ordering::Relaxed));
        let is_limited = limits.is_some();
        if sort(limits) {
            return true;
        }
        let done = is_limited && sort(None);
        if done {
            self.misled.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Notes how a try went.
    fn note(&self, in_bins: bool) {
        let last = self.tries.load(Ordering::Relaxed) >> Self::LEFT_BITS;
        let next = match in_bins {
            true => 0,
            false => (2 * last).clamp(1, BINS_SKIPPED_MAX),
        };
        if (last, next) != (0, 0) {
            let state = next << Self::LEFT_BITS | next;
            self.tries.store(state, Ordering::Relaxed);
        }
    }
}

/// The local sort of one task.
pub(crate) struct Local<W, R, T> {
    instructions: Instructions,
    /// Bytes of memory.
    bytes: usize,
    /// Buckets of up to so many records are small enough.
    most: usize,
    shape: Shape,
    /// How memory is read.
    pub(crate) reading: R,
    /// The bits that count.
    mask: W,
    pub(crate) sink: T,
    crowding: Crowding,
}

impl<W: Word, R: Reading<W, After = R>, T> Local<W, R, T> {
    /// The sort of some records, with `bytes` of memory. Vectors sort by all bits of what
    /// lies in memory.
    pub(crate) fn new(
        instructions: Instructions,
        shape: Shape,
        bytes: usize,
        reading: R,
        mask: W,
        sink: T,
    ) -> Self {
        Local {
            instructions,
            bytes,
            most: shape.most_records(bytes),
            shape,
            reading,
            mask,
            sink,
            crowding: Crowding::default(),
        }
    }

    /// Which instructions there are.
    pub(crate) fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Whether such records that tie are the same, bit by bit.
    pub(crate) fn alike<P: Payload>(&self) -> bool {
        P::NONE && R::CODES && self.mask == W::MAX
    }

    /// Bits that number the buckets into which `n` records are best partitioned.
    pub(crate) fn partition_bits(&self, n: usize, crew: Crew<'_>) -> BucketBits {
        self.shape.partition_bits(n, crew.threads(), self.bytes)
    }

    /// Whether `n` keys where they are to stay are cut in parts for bins.
    pub(crate) fn in_parts(&self, n: usize) -> bool {
        self.shape.in_parts(n)
    }

    /// Cuts some keys alone about one of them, where they lie, and leaves their codes, if these are what a coder makes of them; by
    /// one worker, or two if they are many.
    ///
    /// # Safety
    /// Such keys can be cut in parts. They are there, at least [`CUT_MIN`](crate::tuning::CUT_MIN), and nobody else uses them now.
    pub(crate) unsafe fn cut<P: Payload>(
        &self,
        keys: Columns<W, P>,
        range: Range<usize>,
        coder: Option<&Coder<W>>,
        crew: Crew<'_>,
    ) -> Cut<W> {
        let n = range.len();
        // SAFETY: the caller's promise.
        let start = Shared(unsafe { keys.from(range.start) }.keys_start());
        let keys = cut::Keys { start, n, coder };
        // SAFETY: the caller's promise.
        let cut = unsafe {
            match crew.threads() == 2 && n * size_of::<W>() >= CUT_SHARED_BYTES {
                true => keys.cut_by_two(self.instructions, crew),
                false => keys.cut(self.instructions),
            }
        };
        let Cut { same, pivot } = cut.expect("vectors for keys that are cut");
        Cut {
            same: range.start + same.start..range.start + same.end,
            pivot,
        }
    }

    /// Whether a bucket is small enough.
    pub(crate) fn takes(&self, n: usize) -> bool {
        n <= self.most
    }

    /// Sorts the records of `from`, stably, into `to`, whose words show a window of their codes, and takes their last step: the
    /// first one has place `start` in the order. Returns the most passes that a key took part in; an insertion among a few
    /// neighbours is none.
    ///
    /// # Safety
    /// `to` has room for the records, and is the one piece where they are, or overlaps none; `own` has
    /// this sort's bytes, and starts on a line; nobody else uses them now, nor these records' places.
    pub(crate) unsafe fn sort<P: Payload>(
        &self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        own: *mut u8,
        window: u32,
        start: usize,
    ) -> u32
    where
        T: Sink<W, P>,
    {
        let (n, window, step) = (from.len(), window + 1, self.sink.last_step(start));
        // SAFETY: the caller's promise.
        unsafe {
            let shown = (T::REWORDS && window < self.sink.windows()).then_some(self.mask);
            let follow = shown.and_then(|shown| Follow::new(step, shown));
            let mut passes = self.order(from, to, own, follow.as_ref());
            let is_taken = follow.as_ref().and_then(Follow::is_taken);
            let take = || step.take(self.instructions, to.keys_mut(n), shown);
            if !is_taken.unwrap_or_else(take) && const { T::REWORDS } {
                passes = passes.max(self.settle(to, n, own, window));
                step.take(self.instructions, to.keys_mut(n), None);
            }
            passes
        }
    }

    /// Sorts the records by what their words show, as [`sort`](Self::sort) does, and has words followed, if it can.
    ///
    /// # Safety
    /// As there.
    unsafe fn order<P: Payload>(
        &self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        own: *mut u8,
        follow: Option<&Follow<W>>,
    ) -> u32 {
        let n = from.len();
        // SAFETY: the caller's promise.
        unsafe {
            if const { R::CODES } && n > INSERTION_MAX && self.by_vectors(from, to, own, follow) {
                return 1;
            }
            let payloads = own.add((n * size_of::<W>()).next_multiple_of(16));
            let room = Columns::new(own.cast(), payloads, from.payload());
            let mut tables = Tables::new();
            let passes = Passes {
                reading: self.reading,
                mask: self.mask,
                fetches: stores_wait(),
            };
            passes.sort(from, to, room, &mut tables)
        }
    }

    /// The same for records of a room that lie [side by side](Room::BESIDE), in bins; or returns false,
    /// for these do not serve, and has written nothing.
    ///
    /// # Safety
    /// As [`sort`](Self::sort). There are the pieces, of `n` records in all, of which no code is beyond the limits.
    pub(crate) unsafe fn sort_beside<P: Payload>(
        &self,
        records: *const u8,
        pieces: &[Range<usize>],
        n: usize,
        to: Columns<W, P>,
        own: *mut u8,
        limits: Option<Limits<W>>,
    ) -> bool {
        if !self.shape.takes_bins(n) || self.crowding.waits() {
            return false;
        }
        let bucket = |limits| Beside {
            records,
            pieces,
            n,
            limits,
            to,
            memory: own,
            bytes: self.bytes,
            fetches: stores_wait(),
        };
        // The oldest vectors have too few lanes of 64 bits.
        let joined = const { Room::<W, P>::BYTES == 8 } && self.shape.vectors;
        // SAFETY: the caller's promise, also where there are no limits.
        let sort = |limits| unsafe {
            if joined {
                let joined = Joined(bucket(limits));
                by_vectors::<u64, _>(self.instructions, joined).unwrap_or(false)
            } else {
                let pairs = Pairs(bucket(limits));
                by_any_vectors::<W, _>(self.instructions, pairs).unwrap_or(false)
            }
        };
        let done = self.crowding.limited(limits, sort);
        // What is refused as words need not be crowded: columns tell.
        if done || !joined {
            self.crowding.note(done);
        }
        done
    }

    /// Sorts by vectors; or returns false, for they do not serve, and has written nothing or what
    /// [`together`](Pieces::together) writes.
    ///
    /// # Safety
    /// As [`sort`](Self::sort).
    unsafe fn by_vectors<P: Payload>(
        &self,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        own: *mut u8,
        follow: Option<&Follow<W>>,
    ) -> bool {
        let n = from.len();
        if !self.shape.takes_bins(n) {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let quick_bytes = match (self.instructions, W::BITS) {
                (Instructions::Avx512, 32) if P::NONE => QUICK_BYTES_32,
                (Instructions::Avx512, 64) if P::NONE => QUICK_BYTES_64,
                _ => QUICK_BYTES,
            };
            let few = n * quick::word_bytes::<W, P>() <= quick_bytes;
            let quick = || {
                self.shape.vectors && {
                    let from = from.together(to);
                    quick::sort(self.instructions, from, to, n, own, self.bytes)
                }
            };
            if few && quick() {
                return true;
            }
            if const { P::NONE }
                && self.shape.in_parts(n)
                && from.is_at(to)
                && self.shape.bytes(n) <= self.bytes
            {
                self.sort_parts(to, 0..n, own, None, &|_| {});
                return true;
            }
            let crowding = &self.crowding;
            crowding.in_bins(self.instructions, from, to, own, self.bytes, follow)
                || (!few && quick())
        }
    }

    /// Sorts keys alone where they lie, or the codes that a coder makes of them: cuts them about a pivot, and what is less and greater
    /// again, until parts fit bins. Calls `done` with each part that is sorted.
    ///
    /// # Safety
    /// As [`sort`](Self::sort), of a range of one piece, with the memory for parts. Keys to be coded are
    /// [too many](Shape::in_parts) for bins.
    pub(crate) unsafe fn sort_parts<P: Payload>(
        &self,
        keys: Columns<W, P>,
        range: Range<usize>,
        own: *mut u8,
        coder: Option<&Coder<W>>,
        done: &impl Fn(Range<usize>),
    ) {
        let depth = quick::depth(range.len());
        // SAFETY: the caller's promise.
        unsafe { self.sort_parts_within(keys, range, own, coder, done, depth) }
    }

    /// The same, by so many cuts of what was cut; what is too large then, for pivots have been bad, as the standard library does.
    unsafe fn sort_parts_within<P: Payload>(
        &self,
        keys: Columns<W, P>,
        range: Range<usize>,
        own: *mut u8,
        coder: Option<&Coder<W>>,
        done: &impl Fn(Range<usize>),
        depth: usize,
    ) {
        let (n, start) = (range.len(), range.start);
        // SAFETY: the caller's promise; parts lie within the keys.
        unsafe {
            let part = keys.from(start);
            let is_large = self.shape.in_parts(n);
            if is_large && depth > 0 {
                let (end, depth) = (range.end, depth - 1);
                let Cut { same, pivot } = self.cut(keys, range, coder, Crew::alone());
                self.sort_parts_within(keys, start..same.start, own, None, done, depth);
                self.sort_parts_within(keys, same.end..end, own, None, done, depth);
                return keys.fill_keys(same, pivot, done);
            }
            debug_assert!(coder.is_none());
            let all = 0..n;
            let records = Pieces::new(part, slice::from_ref(&all));
            if is_large || !self.by_vectors(records, part, own, None) {
                part.keys_mut(n).sort_unstable();
            }
        }
        done(range);
    }

    /// Takes the last step of `n` records in order, of which the first has place `start`.
    ///
    /// # Safety
    /// They lie at `records`, and nobody else uses them now, nor their places.
    pub(crate) unsafe fn take_last_step<P: Payload>(
        &self,
        start: usize,
        records: Columns<W, P>,
        n: usize,
    ) where
        T: Sink<W, P>,
    {
        let step = self.sink.last_step(start);
        // SAFETY: the caller's promise.
        unsafe { step.take(self.instructions, records.keys_mut(n), None) };
    }

    /// Sorts each run of records that tie in what their words show by another window of their codes.
    unsafe fn settle<P: Payload>(
        &self,
        data: Columns<W, P>,
        n: usize,
        own: *mut u8,
        window: u32,
    ) -> u32
    where
        T: Sink<W, P>,
    {
        let mut passes = 0;
        // SAFETY: runs lie within the `n` records.
        unsafe {
            // What the runs' codes take is on its way from all over memory before the first is waited for.
            self.runs(data, n, |run, n| self.sink.foresee(run.keys(n)));
            self.runs(data, n, |run, n| {
                for word in run.keys_mut(n) {
                    *word = self.sink.reword(*word, window);
                }
                let all = 0..n;
                let records = Pieces::new(run, slice::from_ref(&all));
                passes = passes.max(self.order(records, run, own, None));
                if window + 1 < self.sink.windows() {
                    passes = passes.max(self.settle(run, n, own, window + 1));
                }
            });
        }
        passes
    }

    /// Calls `act` with each run of records that tie in what their words show, and how many it has.
    ///
    /// # Safety
    /// There are `n` records, and nobody else uses them now.
    unsafe fn runs<P: Payload>(
        &self,
        data: Columns<W, P>,
        n: usize,
        mut act: impl FnMut(Columns<W, P>, usize),
    ) {
        let mut start = 0;
        // SAFETY: the caller's promise.
        unsafe {
            loop {
                let tie = Tie {
                    keys: data.from(start).keys(n - start),
                    mask: self.mask,
                };
                start +=
                    by_vectors::<W, _>(self.instructions, tie).unwrap_or_else(|tie| tie.find());
                if start + 1 >= n {
                    return;
                }
                let shown = data.key(start) & self.mask;
                let mut end = start + 2;
                while end < n && data.key(end) & self.mask == shown {
                    end += 1;
                }
                act(data.from(start), end - start);
                start = end;
            }
        }
    }
}

/// The search for the first key that ties with the next one.
struct Tie<'a, W> {
    keys: &'a [W],
    /// The bits that count.
    mask: W,
}

impl<W: Word> Tie<'_, W> {
    /// The number of that key; of the last one, if none ties.
    #[inline(always)]
    fn find(self) -> usize {
        /// Keys that are looked at together.
        const STRIP: usize = 64;
        let last = self.keys.len().saturating_sub(1);
        let (keys, next) = (&self.keys[..last], &self.keys[last.min(1)..]);
        let mut pairs = keys.chunks(STRIP).zip(next.chunks(STRIP));
        let strip = pairs.position(|(keys, next)| any_ties(keys, next, self.mask));
        let start = strip.map_or(last, |strip| strip * STRIP);
        let rest = keys[start..].iter().zip(&next[start..]);
        start + rest.take_while(|&(a, b)| !ties(a, b, self.mask)).count()
    }
}

impl<W: Word> Vectored for Tie<'_, W> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> usize {
        self.find()
    }
}

/// Sorts in bins, by vectors; or returns false and has written nothing, for there are no vectors for
/// such keys, or they crowd. `fetches` if slots are fetched before they are written.
///
/// # Safety
/// The machine has the instructions. The [bucket](bins::Bucket) is as it is to be when it is [run](crate::lanes::AnyVectored::run).
unsafe fn in_bins<W: Word, P: Payload>(
    instructions: Instructions,
    from: Pieces<'_, W, P>,
    to: Columns<W, P>,
    memory: *mut u8,
    bytes: usize,
    fetches: bool,
    follow: Option<&Follow<W>>,
) -> bool {
    let bucket = bins::Bucket {
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
    use std::sync::Mutex;

    use super::*;
    use crate::columns::{Bytes, Fixed, Nothing, loose_limits};
    use crate::placing::Placing;

    /// Keys of `n` records, by a multiplier that spreads them over `range`.
    fn spread<W: Word>(n: usize, range: u128) -> Vec<W> {
        let key = |i: usize| {
            let random = (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            W::truncate(7 + (random >> 64).wrapping_mul(range) / (1 << 64))
        };
        (0..n).map(key).collect()
    }

    /// Sorts in bins, and tells whether that was done; if not, nothing must have been written.
    fn check<W: Word, P: Payload>(instructions: Instructions, keys: &[W], payload: P) -> bool {
        let both = |limits| {
            let one = |fetches| check_one(instructions, keys, payload, fetches, limits);
            let [sorted, fetching] = [false, true].map(one);
            assert_eq!(sorted, fetching);
            sorted
        };
        // Where keys crowd between these, others are looked for.
        both(loose_limits(keys));
        both(None)
    }

    fn check_one<W: Word, P: Payload>(
        instructions: Instructions,
        keys: &[W],
        payload: P,
        fetches: bool,
        limits: Option<Limits<W>>,
    ) -> bool {
        let (n, bytes) = (keys.len(), payload.bytes());
        let held: Vec<u8> = (0..n * bytes).map(|i| (i * 37 + i / 251) as u8).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| keys[i]);
        let (mut from, mut from_held) = (keys.to_vec(), held.clone());
        // Others' places lie before and behind.
        const BESIDE: usize = 64;
        let (mut all, mut to_held) = (vec![W::ZERO; n + 2 * BESIDE], vec![0u8; n * bytes]);
        let room = Shape::new(Instructions::Avx512, true, size_of::<W>(), bytes).bytes(n);
        let mut memory = vec![0u128; room.div_ceil(16) + 4];
        let start = memory.as_mut_ptr().cast::<u8>();
        let pieces = [0..n / 3, n / 3..n];
        // SAFETY: all have room for `n` records, the memory for their slots and a line.
        let sorted = unsafe {
            let columns = Columns::new(from.as_mut_ptr(), from_held.as_mut_ptr(), payload);
            in_bins(
                instructions,
                Pieces::new(columns, &pieces).within(limits),
                Columns::new(all.as_mut_ptr().add(BESIDE), to_held.as_mut_ptr(), payload),
                start.add(start.align_offset(64)),
                room,
                fetches,
                None,
            )
        };
        assert_eq!((&from[..], &from_held), (keys, &held), "the source of {n}");
        let to = all.split_off(BESIDE);
        let (to, behind) = to.split_at(n);
        let beside = all.iter().chain(behind);
        assert!({ beside }.all(|&key| key == W::ZERO), "beside {n}");
        let (expected, expected_held) = match sorted {
            true => (
                order.iter().map(|&i| keys[i]).collect(),
                order
                    .iter()
                    .flat_map(|&i| held[i * bytes..][..bytes].to_vec())
                    .collect(),
            ),
            false => (vec![W::ZERO; n], vec![0; n * bytes]),
        };
        assert!(to == expected, "{instructions:?}: keys of {n}");
        assert!(
            to_held == expected_held,
            "{instructions:?}: payloads of {n}"
        );
        sorted
    }

    #[test]
    fn bins_sort_stably_or_refuse() {
        fn width<W: Word>(instructions: Instructions) {
            let most = 1u128 << W::BITS;
            for n in (2..70).chain([127, 128, 511, 512, 513, 1000, 4096, 10_000]) {
                // Spread over all values, over few bits, and over just more values than keys.
                for range in [most - 7, most / 3, 1 << 20, n as u128 + 1] {
                    let keys: Vec<W> = spread(n, range);
                    assert!(check(instructions, &keys, Nothing), "{n} over {range}");
                    check(instructions, &keys, Fixed::<4>);
                    check(instructions, &keys, Fixed::<16>);
                    check(instructions, &keys, Bytes(5));
                }
                // Fewer values than keys, which are counted: few of them, many, and most of one.
                let values = [2, n as u128 / 5, n as u128 / 2, 2048, 2049];
                for values in values.into_iter().filter(|values| 2 * values <= n as u128) {
                    let mut keys: Vec<W> = spread(n, values);
                    assert!(
                        check(instructions, &keys, Nothing),
                        "{n} of {values} values"
                    );
                    keys[..n / 2].fill(!W::truncate(7));
                    for key in &mut keys[n / 2..] {
                        *key = !*key;
                    }
                    assert!(check(instructions, &keys, Nothing), "{n}, most alike");
                    check(instructions, &keys, Fixed::<8>);
                }
                // Keys that end at the greatest word, which is also what empty slots hold.
                let high: Vec<W> = spread::<W>(n, n as u128).iter().map(|&key| !key).collect();
                check(instructions, &high, Fixed::<8>);
                // One key far from all others, which crowd.
                let mut crowd: Vec<W> = spread(n, n as u128);
                crowd[n / 2] = W::MAX;
                let sorted = check(instructions, &crowd, Nothing);
                assert_eq!(sorted, n <= 33, "{instructions:?}: a crowd of {n}");
            }
        }
        for instructions in Instructions::all() {
            width::<u32>(instructions);
            width::<u64>(instructions);
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
            assert!(check(instructions, &keys, Nothing), "{widest} from {least}");
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

    /// Words that are compared as floats are normal ones, for where a program has denormal ones taken for zero.
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
                let keys: Vec<W> = spread(n, range);
                without_denormals(|| {
                    check(instructions, &keys, Nothing);
                    check(instructions, &keys, Fixed::<8>);
                });
            }
        }
        for instructions in Instructions::all() {
            width::<u32>(instructions);
            width::<u64>(instructions);
        }
    }

    /// No more first buckets than bring each to a size that a local sort takes in cache, up to the last record that
    /// they do; then as many as there may be, while it takes each; then as many as of a further partition.
    #[test]
    fn first_buckets_are_as_many_as_need_be() {
        for (record, threads, cache, cached, most, bits_most) in [
            (4, 1, 4 << 20, 199_710, 199_710, 11),
            (4, 1, 2 << 20, 199_710, 199_710, 11),
            (4, 1, 1 << 20, 99_855, 199_710, 11),
            (4, 1, 1 << 19, 99_855, 199_710, 11),
            (8, 1, 1 << 20, 100_170, 100_170, 11),
            (8, 2, 2 << 20, 100_170, 100_170, 11),
            (16, 2, 1 << 20, 36_855, 161_217, 11),
            (16, 8, 2 << 20, 73_710, 161_217, 11),
            (8, 16, 1 << 20, 100_170, 100_170, 10),
            (8, 64, 1 << 20, 100_170, 100_170, 8),
        ] {
            let key = record.min(8);
            let shape = Shape::new(Instructions::Avx512, true, key, record - key);
            // The most records in so many bits, and the bits for one more.
            let ends = (8..bits_most).map(|bits| (cached, bits, bits + 1));
            let in_cache = match cached < most {
                true => bits_most,
                false => 8,
            };
            let last = [(cached, bits_most, in_cache), (most, bits_most, 8)];
            for (bucket, bits, next) in ends.chain(last) {
                let n = ((bucket + 1) << bits) - 1;
                let found = [n, n + 1].map(|n| {
                    shape
                        .first_bits(n, threads, LOCAL_BYTES, SHARING, cache)
                        .even
                });
                assert_eq!(found, [bits, next], "{n} records of {record}, {threads}");
            }
        }
    }

    /// Where workers are so many that their buckets of records that are read again do not fit the second level cache, they have twice as
    /// many, if these do.
    #[test]
    fn more_buckets_where_records_are_read_again() {
        for (record, n, threads, many, bits) in [
            (16, 70_000_000, 16, false, 10),
            (16, 80_000_000, 16, true, 11),
            (16, 120_000_000, 16, true, 11),
            (16, 200_000_000, 16, false, 8),
            (16, 80_000_000, 8, false, 11),
            (16, 40_000_000, 32, false, 9),
            (8, 100_000_000, 16, false, 10),
        ] {
            let shape = Shape::new(Instructions::Avx512, true, record / 2, record / 2);
            let sharing = shape.sharing(n, threads, 2 << 20);
            let expected = if many { SHARING_READ_AGAIN } else { SHARING };
            let what = format!("{n} records of {record}, {threads}");
            assert_eq!(sharing.first_buckets, expected.first_buckets, "{what}");
            let bytes = LOCAL_BYTES.min(sharing.local_bytes / threads);
            let found = shape.first_bits(n, threads, bytes, sharing, 2 << 20);
            assert_eq!(found.even, bits, "{what}");
        }
    }

    /// Buckets that a sample parts are fewer where vectors search for them, unless a local sort would not take them or
    /// workers have too few.
    #[test]
    fn sampled_buckets_are_fewer_where_that_is_faster() {
        use Instructions::{Avx2, Avx512, Portable};
        for (instructions, record, n, threads, expected) in [
            (Avx512, 4, 100_000, 1, (3, 3)),
            (Avx512, 4, 10_000_000, 2, (8, 7)),
            (Avx512, 8, 10_000_000, 2, (8, 7)),
            (Avx512, 8, 13_000_000, 2, (8, 8)),
            (Avx512, 8, 100_000_000, 2, (10, 8)),
            (Avx512, 4, 10_000_000, 33, (8, 8)),
            (Avx2, 4, 10_000_000, 2, (8, 7)),
            (Avx2, 8, 10_000_000, 2, (8, 8)),
            (Portable, 4, 10_000_000, 2, (8, 8)),
        ] {
            let shape = Shape::new(instructions, true, record, 0);
            let found = shape.first_bits(n, threads, LOCAL_BYTES, SHARING, 2 << 20);
            let found = (found.even, found.sampled);
            assert_eq!(found, expected, "{instructions:?} {record} {n} {threads}");
        }
    }

    /// Many threads share what memory there is for local sorts; too little for slots is refused.
    #[test]
    fn little_memory_is_not_for_bins() {
        let shape = Shape::new(Instructions::Avx512, true, 4, 4);
        for bytes in [100, 10_000, 18_495] {
            assert_eq!(shape.most_records(bytes), (bytes - 16) / 8);
            let (mut keys, mut values) = ([2u32, 1], [0u32; 2]);
            let mut memory = vec![0u128; bytes.div_ceil(16)];
            let values = values.as_mut_ptr().cast();
            let columns = Columns::new(keys.as_mut_ptr(), values, Fixed::<4>);
            let start = memory.as_mut_ptr().cast();
            let records = Pieces::new(columns, &[0..1, 1..2]);
            let best = Instructions::detect();
            // SAFETY: the columns have two records, and the memory has its bytes.
            let done = unsafe { in_bins(best, records, columns, start, bytes, false, None) };
            assert!(!done, "{bytes} bytes");
        }
    }

    /// Keys that crowd between the limits are tried once more without, and the next ones without from the start.
    #[test]
    fn limits_that_mislead_are_left() {
        let crowding = Crowding::default();
        let tries = |crowded: &dyn Fn(bool) -> bool, limits: Option<Limits<u32>>| {
            let tries = Mutex::new(Vec::new());
            let done = crowding.limited(limits, |limits| {
                tries.lock().unwrap().push(limits.is_some());
                !crowded(limits.is_some())
            });
            (done, tries.into_inner().unwrap())
        };
        let limits = Some([0, 9]);
        assert_eq!(tries(&|_| false, limits), (true, vec![true]));
        assert_eq!(tries(&|_| true, None), (false, vec![false]));
        assert_eq!(tries(&|_| true, limits), (false, vec![true, false]));
        assert_eq!(tries(&|_| false, limits), (true, vec![true]));
        assert_eq!(tries(&|limited| limited, limits), (true, vec![true, false]));
        assert_eq!(tries(&|limited| limited, limits), (true, vec![false]));
    }

    #[test]
    fn other_keys_are_not_for_bins() {
        let keys = [3u16, 1, 2];
        assert!(!check(Instructions::detect(), &keys, Nothing));
        let keys = [3u64, 1, 2];
        assert!(!check(Instructions::Portable, &keys, Fixed::<8>));
    }
}
