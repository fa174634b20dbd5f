//! A sort under way: records partitioned into buckets, from array to array, until every bucket fits the
//! cache.

use std::borrow::Cow;
use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use sweepsort_core::Word;

use crate::blocks::{Layout, Runs, Scatter};
use crate::classify::{Classifier, Classify};
use crate::columns::{Columns, columns_at};
use crate::histogram::Chunk;
use crate::local::Local;
use crate::payload::Payload;
use crate::pieces::{Limits, Pieces};
use crate::pool::{Crew, Shared};
use crate::reading::Reading;
use crate::room::Room;
use crate::sample::sample;
use crate::scan;
use crate::scatter::{Places, scatter};
use crate::sink::Sink;
use crate::source::{Source, Stored};
use crate::tuning::{
    BLOCKS_SHARED_FROM, CHUNK_MIN, CHUNKS_PER_WORKER, FORESEEN, SAMPLED_PASSES, STRETCH,
};

/// The workers' own memory, for local sorts.
#[derive(Clone, Copy)]
pub(crate) struct Workers {
    start: Shared<u8>,
    /// Bytes of each worker's for a sort itself.
    bytes: usize,
    /// And behind these for what it sorts, if there is no other place.
    sorted_bytes: usize,
}

impl Workers {
    /// So much memory for each, one after the other.
    pub(crate) fn new(start: *mut u8, bytes: usize, sorted_bytes: usize) -> Self {
        Workers {
            start: Shared(start),
            bytes,
            sorted_bytes,
        }
    }

    /// A worker's own, for a sort itself.
    fn of(self, worker: usize) -> *mut u8 {
        self.start.at(worker * (self.bytes + self.sorted_bytes))
    }
}

/// Which of the two arrays a bucket is in.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// Where the records were, if they lay anywhere.
    Data,
    /// The scratch.
    Room,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Side::Data => Side::Room,
            Side::Room => Side::Data,
        }
    }
}

/// Records that come together in the order.
#[derive(Clone)]
pub(crate) struct Bucket<'p, W> {
    /// Where they are on their side, piece by piece.
    pieces: Cow<'p, [Range<usize>]>,
    /// As many places on the other side that nobody uses, if these are not those in the order.
    free: Option<Cow<'p, [Range<usize>]>>,
    /// The place of the first of them in the order.
    start: usize,
    n: usize,
    /// What their words show, if it is the same in all.
    tied: Option<W>,
    /// The window of their codes that their words show.
    window: u32,
    /// Partitions that they took part in.
    passes: u32,
    /// What no code is beyond.
    limits: Option<Limits<W>>,
}

impl<W: Word> Bucket<'_, W> {
    /// Their places in the order.
    fn places(&self) -> Range<usize> {
        self.start..self.start + self.n
    }
}

/// See the [module](self).
pub(crate) struct Job<'a, W, P, R, T> {
    /// Where the records were, or none have been yet.
    data: Columns<W, P>,
    /// Whether sorted records need no place, for the sink takes from them what it wants.
    passing: bool,
    room: Room<W, P>,
    workers: Workers,
    local: Local<W, R, T>,
    /// The bits by which records are partitioned.
    bits: Range<u32>,
    /// How many records there are.
    n: usize,
    crew: Crew<'a>,
    /// The most passes of any key, and bytes read and written, so far.
    passes: AtomicU32,
    moved: AtomicU64,
}

impl<'a, W: Word, P: Payload, R: Reading<W, After = R>, T: Sink<W, P>> Job<'a, W, P, R, T> {
    #[expect(clippy::too_many_arguments, reason = "each is a matter of its own")]
    pub(crate) fn new(
        data: Columns<W, P>,
        passing: bool,
        room: Room<W, P>,
        workers: Workers,
        local: Local<W, R, T>,
        bits: Range<u32>,
        n: usize,
        crew: Crew<'a>,
    ) -> Self {
        Job {
            data,
            passing,
            room,
            workers,
            local,
            bits,
            n,
            crew,
            passes: AtomicU32::new(0),
            moved: AtomicU64::new(0),
        }
    }

    /// The most passes that a key took part in.
    pub(crate) fn passes(&self) -> u32 {
        self.passes.load(Ordering::Relaxed)
    }

    /// Bytes read and written.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Whether the room's records lie side by side, and not in columns.
    const BESIDE: bool = Room::<W, P>::BESIDE;

    /// The columns of a side. Not of a room whose records lie side by side.
    fn columns(&self, side: Side) -> Columns<W, P> {
        if const { Self::BESIDE } || side == Side::Data {
            debug_assert!(side == Side::Data);
            return self.data;
        }
        self.room.columns()
    }

    /// Who shares a bucket of `n` records: all, if it is a large part of the whole; whoever has it
    /// alone, if there are others for the others.
    fn crew_for(&self, n: usize) -> Crew<'a> {
        match n * self.crew.threads() * 2 > self.n {
            true => self.crew,
            false => Crew::alone(),
        }
    }

    fn note_moved(&self, bytes: usize) {
        self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Moves all records from their source to the room, in blocks.
    ///
    /// # Safety
    /// The source has the records, and nobody else uses them now. The room is one for them in the
    /// blocks of the layout.
    pub(crate) unsafe fn scatter_first<S: Source<W, P>>(
        &self,
        source: S,
        classifier: &Classifier<W>,
        layout: Layout,
    ) -> Runs<W> {
        let mask = W::mask(&self.bits);
        let classify = Classify {
            source,
            mask,
            classifier,
            instructions: self.local.instructions(),
        };
        let mut blocks = layout.blocks();
        let mut open: Vec<_> = (0..self.crew.threads())
            .map(|_| CachePadded::new(None))
            .collect();
        let parts = match self.crew.threads() {
            1 => 1,
            _ => part_count(self.n, self.crew).max(self.n.div_ceil(STRETCH)),
        };
        let in_lots = layout.in_lots();
        for records in [0..in_lots, in_lots..self.n] {
            if records.is_empty() {
                continue;
            }
            if records.start > 0 {
                blocks.end_lots(&mut open, self.crew);
            }
            let scatter = Scatter {
                classify,
                room: self.room,
                blocks: &blocks,
                // SAFETY: the caller's promise.
                reference: unsafe { source.code(0) } & mask,
                alike: self.local.alike::<P>(),
            };
            let workers = Shared(open.as_mut_ptr());
            let parts = (parts * records.len()).div_ceil(self.n);
            let mut stretches = even(records, parts);
            let (all, begun) = (stretches.len(), AtomicUsize::new(0));
            self.crew.for_each(&mut stretches, |stretch| {
                let worker = self.crew.worker();
                begun.fetch_add(1, Ordering::Relaxed);
                // SAFETY: a worker moves one stretch at a time.
                unsafe {
                    let open = &mut *workers.at(worker);
                    let open = open.get_or_insert_with(|| layout.open(worker));
                    scatter.run(stretch.clone(), open);
                    // None is left for this worker.
                    if begun.load(Ordering::Relaxed) == all {
                        open.end_run();
                    }
                }
            });
        }
        self.note_moved(2 * self.n * self.data.record_bytes());
        Runs::new(open, layout)
    }

    /// The buckets that have records of those that the first scatter has moved.
    pub(crate) fn buckets<'p>(
        &self,
        runs: &'p Runs<W>,
        classifier: &Classifier<W>,
    ) -> Vec<Bucket<'p, W>> {
        let (alike, mask) = (self.local.alike::<P>(), W::mask(&self.bits));
        let crew = match runs.layout().count() {
            ..BLOCKS_SHARED_FROM => Crew::alone(),
            _ => self.crew,
        };
        let mut buckets = crew.map(classifier.buckets(), |number| {
            let tied = classifier.one_value(number);
            let (pieces, n) = match alike && tied.is_some() {
                true => (&[][..], runs.overwritten(number)),
                false => {
                    let pieces = runs.pieces(number);
                    let moved: usize = pieces.iter().map(Range::len).sum();
                    (pieces, runs.counted(number) + moved)
                }
            };
            Bucket {
                pieces: pieces.into(),
                free: None,
                start: 0,
                n,
                tied,
                window: 0,
                passes: 1,
                limits: classifier.limits(number, mask),
            }
        });
        let mut next = 0;
        buckets.retain_mut(|bucket| {
            bucket.start = next;
            next += bucket.n;
            bucket.n > 0
        });
        buckets
    }

    /// Whether some of these buckets have to be partitioned again, from one array to the other.
    pub(crate) fn goes_on(&self, buckets: &[Bucket<'_, W>]) -> bool {
        let ends = |bucket: &Bucket<'_, W>| bucket.tied.is_some() && self.local.sink.windows() == 1;
        let mut rest = buckets.iter().filter(|bucket| !ends(bucket));
        rest.any(|bucket| !self.local.takes(bucket.n))
    }

    /// The array where the records would have been.
    pub(crate) fn set_data(&mut self, data: Columns<W, P>) {
        self.data = data;
    }

    /// Sorts what the first scatter has moved.
    ///
    /// # Safety
    /// Nobody else uses the records now. The data are there, if a bucket [goes on](Self::goes_on).
    pub(crate) unsafe fn finish_first(&self, buckets: &mut [Bucket<'_, W>]) {
        // SAFETY: the caller's promise.
        unsafe { self.finish(self.crew, buckets, Side::Room) }
    }

    /// Sorts each bucket, to where the sink wants it.
    unsafe fn finish(&self, crew: Crew<'_>, buckets: &mut [Bucket<'_, W>], side: Side) {
        crew.for_each(buckets, |bucket| {
            // SAFETY: buckets do not overlap, and all records of a bucket in the room left the data's side, so
            // its places there are free.
            unsafe { self.finish_one(bucket, side) };
        });
    }

    /// Sorts a bucket.
    ///
    /// # Safety
    /// The bucket is this call's alone, and its places in the order are free, if it does not lie there.
    unsafe fn finish_one(&self, bucket: &Bucket<'_, W>, side: Side) {
        // SAFETY: the caller's promise; a worker's memory is its own.
        unsafe {
            let in_room = side == Side::Room;
            if bucket.tied.is_some() || !self.local.takes(bucket.n) {
                if const { Self::BESIDE } && in_room {
                    return self.go_on(&self.bring(bucket), self.data, Side::Data);
                }
                return self.go_on(bucket, self.columns(side), side);
            }
            let own = self.workers.of(self.crew.worker());
            let to = match self.passing {
                true => columns_at(own.add(self.workers.bytes), bucket.n, self.data.payload()),
                false => self.data.from(bucket.start),
            };
            let all = 0..bucket.n;
            let from = if const { Self::BESIDE } && in_room {
                let (records, pieces) = (self.room.records(), &bucket.pieces);
                let (n, limits) = (bucket.n, bucket.limits);
                let sorted = self.local.sort_beside(records, pieces, n, to, own, limits);
                self.note_moved(2 * bucket.n * self.data.record_bytes());
                if sorted {
                    return self.done(bucket.start, to, bucket.n, bucket.passes + 1);
                }
                self.room.gather(&bucket.pieces, to);
                Pieces::new(to, slice::from_ref(&all))
            } else {
                Pieces::new(self.columns(side), &bucket.pieces).within(bucket.limits)
            };
            let passes = self.local.sort(from, to, own, bucket.window, bucket.start);
            self.note_moved(2 * passes as usize * bucket.n * self.data.record_bytes());
            self.note_passes(bucket.passes + passes);
        }
    }

    /// Finishes a bucket in the columns of a side that is no matter of one local sort.
    ///
    /// # Safety
    /// The bucket is this call's alone.
    unsafe fn go_on(&self, bucket: &Bucket<'_, W>, columns: Columns<W, P>, side: Side) {
        // SAFETY: the caller's promise.
        unsafe {
            match bucket.tied {
                Some(shown) => self.finish_tied(bucket, shown, columns, side),
                None => self.partition(bucket, columns, side),
            }
        }
    }

    /// Brings a bucket of the room to its places in the order.
    ///
    /// # Safety
    /// The bucket is this call's alone.
    unsafe fn bring<'p>(&self, bucket: &Bucket<'p, W>) -> Bucket<'p, W> {
        let crew = self.crew_for(bucket.n);
        crew.for_each(&mut parts(bucket, crew), |(start, pieces)| {
            // SAFETY: the caller's promise; parts do not overlap.
            unsafe { self.room.gather(pieces, self.data.from(*start)) }
        });
        self.note_moved(2 * bucket.n * self.data.record_bytes());
        Bucket {
            pieces: vec![bucket.places()].into(),
            free: Some(bucket.pieces.clone()),
            ..bucket.clone()
        }
    }

    /// Finishes a bucket of records that tie in what their words show: by what else there is to be shown,
    /// or as they are.
    unsafe fn finish_tied(
        &self,
        bucket: &Bucket<'_, W>,
        shown: W,
        columns: Columns<W, P>,
        side: Side,
    ) {
        let crew = self.crew_for(bucket.n);
        if const { P::NONE && R::CODES } && self.local.alike::<P>() {
            // SAFETY: the bucket is this call's alone.
            return unsafe { self.fill(bucket, shown) };
        }
        let mut parts = parts(bucket, crew);
        let window = bucket.window + 1;
        // SAFETY: the bucket is this call's alone.
        unsafe {
            if const { T::REWORDS } && window < self.local.sink.windows() {
                crew.for_each(&mut parts, |(_, pieces)| {
                    let sink = self.local.sink;
                    for piece in pieces {
                        let words = columns.from(piece.start).keys_mut(piece.len());
                        sink.foresee(&words[..words.len().min(FORESEEN)]);
                        for i in 0..words.len() {
                            if let Some(later) = words.get(i + FORESEEN) {
                                sink.foresee(slice::from_ref(later));
                            }
                            words[i] = sink.reword(words[i], window);
                        }
                    }
                });
                let bucket = Bucket {
                    tied: None,
                    window,
                    limits: None,
                    ..bucket.clone()
                };
                return self.finish(crew, &mut [bucket], side);
            }
            crew.for_each(&mut parts, |(start, pieces)| {
                if self.passing {
                    for piece in pieces {
                        let from = columns.from(piece.start);
                        self.done(*start, from, piece.len(), bucket.passes);
                        *start += piece.len();
                    }
                    return;
                }
                let from = Pieces::new(columns, pieces);
                let to = self.data.from(*start);
                from.gather(to);
                self.done(*start, to, from.len(), bucket.passes);
            });
        }
    }

    /// Finishes a bucket of keys alone that are all the same.
    ///
    /// # Safety
    /// Nobody else uses its records, nor their places in the order.
    unsafe fn fill(&self, bucket: &Bucket<'_, W>, key: W) {
        let all = bucket.places();
        let crew = self.crew_for(bucket.n);
        let mut stretches = split_pieces(slice::from_ref(&all), part_count(bucket.n, crew));
        crew.for_each(&mut stretches, |stretch| {
            for places in stretch {
                // SAFETY: the caller's promise; stretches do not overlap.
                unsafe {
                    self.data.fill_keys(places.clone(), key, |some| {
                        let to = self.data.from(some.start);
                        self.done(some.start, to, some.len(), bucket.passes);
                    });
                }
            }
        });
    }

    /// Sorts a bucket too large for the cache: partitions it again, to its free places on the other side.
    unsafe fn partition(&self, bucket: &Bucket<'_, W>, columns: Columns<W, P>, side: Side) {
        let source = Stored {
            columns,
            reading: self.local.reading,
        };
        let (crew, mask) = (self.crew_for(bucket.n), W::mask(&self.bits));
        let instructions = self.local.instructions();
        let mut chunks: Vec<_> = split_pieces(&bucket.pieces, part_count(bucket.n, crew))
            .into_iter()
            .map(Chunk::new)
            .collect();
        let free = bucket.free.clone();
        let free = free.map_or_else(|| vec![bucket.places()], Cow::into_owned);
        let (free, own) = (Places::new(free), Places::new(bucket.pieces.to_vec()));
        // SAFETY: the bucket is this call's alone, and the scan gives every chunk places of its own among
        // the free ones.
        unsafe {
            crew.for_each(&mut chunks, |chunk| {
                chunk.look(source, mask, instructions);
            });
            let range = chunks
                .iter()
                .fold([W::MAX, W::ZERO], |[least, greatest], chunk| {
                    [least.min(chunk.range[0]), greatest.max(chunk.range[1])]
                });
            if range[0] == range[1] {
                let bucket = Bucket {
                    tied: Some(range[0]),
                    ..bucket.clone()
                };
                return self.finish_tied(&bucket, range[0], columns, side);
            }
            let bits = self.local.partition_bits(bucket.n, crew);
            // A sample may mislead again and again, if somebody means it to. An even cut leaves keys that
            // crowd a range that is narrower each time.
            let classifier = match bucket.passes {
                ..SAMPLED_PASSES => {
                    let code = |i| source.code(own.at(i)) & mask;
                    let mut sample = sample(bucket.n, bits.sample(), crew, code);
                    Classifier::within(range, &mut sample, bits)
                }
                _ => Classifier::even(range, bits.even),
            };
            let classify = Classify {
                source,
                mask,
                classifier: &classifier,
                instructions,
            };
            crew.for_each(&mut chunks, |chunk| chunk.count(classify));
            let numbers = scan::places(&mut chunks);
            crew.for_each(&mut chunks, |chunk| match side {
                Side::Data => scatter(classify, chunk, self.room, &free),
                // The room's records lie in columns, and so do those of the data.
                Side::Room => scatter(classify, chunk, Room::new(self.data), &free),
            });
            let read = 2 * bucket.n * size_of::<W>();
            self.note_moved(read + 2 * bucket.n * self.data.record_bytes());
            let mut buckets: Vec<_> = numbers
                .into_iter()
                .enumerate()
                .filter(|(_, numbers)| !numbers.is_empty())
                .map(|(number, numbers)| Bucket {
                    start: bucket.start + numbers.start,
                    n: numbers.len(),
                    pieces: free.slice(numbers.clone()).into(),
                    free: Some(own.slice(numbers).into()),
                    tied: classifier.one_value(number),
                    passes: bucket.passes + 1,
                    window: bucket.window,
                    limits: classifier.limits(number, mask),
                })
                .collect();
            self.finish(crew, &mut buckets, side.other());
        }
    }

    /// The `n` records from `start` on are in order, at the start of `to`, after so many passes.
    unsafe fn done(&self, start: usize, to: Columns<W, P>, n: usize, passes: u32) {
        // SAFETY: the records are the calling worker's.
        unsafe { self.local.take_last_step(start, to, n) }
        self.note_passes(passes);
    }

    fn note_passes(&self, passes: u32) {
        self.passes.fetch_max(passes, Ordering::Relaxed);
    }
}

/// Cuts `0..n` into about even parts for the workers.
pub(crate) fn stretches(n: usize, crew: Crew<'_>) -> Vec<Range<usize>> {
    even(0..n, part_count(n, crew))
}

/// Cuts a range into so many about even parts.
fn even(all: Range<usize>, parts: usize) -> Vec<Range<usize>> {
    split_pieces(slice::from_ref(&all), parts)
        .into_iter()
        .flatten()
        .collect()
}

/// How many parts the workers make of `n` records.
fn part_count(n: usize, crew: Crew<'_>) -> usize {
    match crew.threads() {
        1 => 1,
        threads => (threads * CHUNKS_PER_WORKER).min(n / CHUNK_MIN).max(1),
    }
}

/// Cuts a bucket into about even parts for the workers, each with the place of its first record in the order.
fn parts<W>(bucket: &Bucket<'_, W>, crew: Crew<'_>) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut next = bucket.start;
    split_pieces(&bucket.pieces, part_count(bucket.n, crew))
        .into_iter()
        .map(|pieces| {
            let start = next;
            next += pieces.iter().map(Range::len).sum::<usize>();
            (start, pieces)
        })
        .collect()
}

/// Cuts pieces into so many about even parts, each a list of pieces.
fn split_pieces(pieces: &[Range<usize>], wanted: usize) -> Vec<Vec<Range<usize>>> {
    let n: usize = pieces.iter().map(Range::len).sum();
    let size = n.div_ceil(wanted).max(1);
    let (mut parts, mut part, mut left) = (Vec::new(), Vec::new(), size);
    for piece in pieces {
        let mut piece = piece.clone();
        while !piece.is_empty() {
            let end = piece.end.min(piece.start + left);
            left -= end - piece.start;
            part.push(piece.start..end);
            piece.start = end;
            if left == 0 {
                parts.push(std::mem::take(&mut part));
                left = size;
            }
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a piece is a range")]
mod tests {
    use sweepsort_core::{Codec, Engine, Spec, Task, ValuesMut};

    use super::*;
    use crate::engine::CpuEngine;
    use crate::instructions::{Instructions, second_cache_bytes};
    use crate::plan::{Measure, Record};
    use crate::pool::Pool;

    /// Parts are about even, as many as wanted or fewer, and none is empty.
    #[test]
    fn pieces_are_split() {
        type Case<'a> = (&'a [Range<usize>], usize, &'a [&'a [Range<usize>]]);
        let cases: &[Case<'_>] = &[
            (&[], 3, &[]),
            (&[5..5, 0..0], 2, &[]),
            (&[3..13], 1, &[&[3..13]]),
            (&[3..13], 3, &[&[3..7], &[7..11], &[11..13]]),
            (&[3..8], 4, &[&[3..5], &[5..7], &[7..8]]),
            // Where a part ends within a piece, at its end, and at that of an empty one.
            (&[0..3, 7..7, 20..25], 2, &[&[0..3, 20..21], &[21..25]]),
            (&[20..22, 0..2], 2, &[&[20..22], &[0..2]]),
            (&[20..22, 9..9, 0..1], 2, &[&[20..22], &[0..1]]),
            // More parts than there are records.
            (&[4..6, 0..1], 8, &[&[4..5], &[5..6], &[0..1]]),
        ];
        for &(pieces, wanted, parts) in cases {
            assert_eq!(
                split_pieces(pieces, wanted),
                parts,
                "{pieces:?} in {wanted} parts"
            );
        }
    }

    /// One worker has all; several have parts of a size that is worth it.
    #[test]
    fn workers_share_what_is_worth_it() {
        const SHARED: usize = 2 * CHUNKS_PER_WORKER;
        let pool = Pool::new(Some(2));
        let counted = pool.enter(true, |crew| {
            let sizes = [0, 2 * CHUNK_MIN - 1, 2 * CHUNK_MIN, usize::MAX];
            sizes.map(|n| [part_count(n, Crew::alone()), part_count(n, crew)])
        });
        let expected = [[1, 1], [1, 1], [1, 2], [1, SHARED]];
        assert_eq!(counted.unwrap(), expected);
    }

    /// With so many workers blocks are taken in lots, and in the end one by one: records are in
    /// order, those that tie as they were.
    #[test]
    fn lots_end_amid_a_sort() {
        let (n, threads) = (7_000_000, 66);
        let measure = Measure {
            n,
            record: Record::new(Instructions::detect(), true, 8, 8),
            made: false,
            cache: second_cache_bytes(),
            threads,
        };
        let in_lots = measure.layout(measure.first_bits().even).in_lots();
        assert!(in_lots < n, "{in_lots} of {n}");
        let key = |i: u64| (i / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut keys: Vec<u64> = (0..n as u64).map(key).collect();
        let mut values: Vec<u64> = (0..n as u64).collect();
        let task = Task::Pairs((&mut keys[..]).into(), ValuesMut::new(&mut values));
        let spec = Spec {
            codec: Codec::UNSIGNED,
            bits: 0..64,
            stable: true,
            algorithm: "auto".into(),
        };
        CpuEngine::new(Some(threads)).run(task, &spec).unwrap();
        let pairs = || keys.iter().copied().zip(values.iter().copied());
        assert!(
            pairs().is_sorted_by(|a, b| a < b),
            "keys, or values of those that tie"
        );
        assert!(pairs().all(|(found, i)| found == key(i)), "keys of values");
    }

    /// Each part of a bucket is told where its records come in the order.
    #[test]
    fn parts_have_their_places() {
        const M: usize = CHUNK_MIN;
        let bucket = Bucket {
            pieces: vec![M..2 * M, 0..0, 9 * M..11 * M + 5].into(),
            free: None,
            start: 1000,
            n: 3 * M + 5,
            tied: Some(7u32),
            window: 0,
            passes: 1,
            limits: None,
        };
        let pool = Pool::new(Some(2));
        let shared = pool.enter(true, |crew| parts(&bucket, crew)).unwrap();
        let thirds = [
            (1000, vec![M..2 * M, 9 * M..9 * M + 2]),
            (1000 + M + 2, vec![9 * M + 2..10 * M + 4]),
            (1000 + 2 * (M + 2), vec![10 * M + 4..11 * M + 5]),
        ];
        assert_eq!(shared, thirds);
        let all = vec![M..2 * M, 9 * M..11 * M + 5];
        assert_eq!(parts(&bucket, Crew::alone()), [(1000, all)]);
    }
}
