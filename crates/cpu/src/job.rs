//! A sort under way: records partitioned by their top digits, from array to array, until every bucket
//! fits the cache.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use sweepsort_core::{Digit, Word};

use crate::columns::{Columns, Payload};
use crate::histogram::Chunk;
use crate::local::Local;
use crate::pool::{Crew, Shared};
use crate::reading::Reading;
use crate::scan;
use crate::scatter::scatter;
use crate::source::{Sink, Source, Stored};
use crate::tuning::{CHUNK_MIN, CHUNKS_PER_WORKER, RECOUNT_BITS};

/// The digit of up to `bits` bits just below bit `top`, not reaching below bit `low`.
pub(crate) fn digit_below(top: u32, low: u32, bits: u32) -> Digit {
    let bits = bits.min(top - low);
    Digit {
        shift: top - bits,
        bits,
    }
}

/// Bytes of memory for `n` records in columns, each of which starts on a line of its own.
pub(crate) fn column_bytes(n: usize, record: usize) -> usize {
    n * record + 2 * 64
}

/// Columns for `n` records in memory of [`column_bytes`].
///
/// # Safety
/// The memory is there, and starts on a line.
pub(crate) unsafe fn columns_at<W: Word, P: Payload>(
    start: *mut u8,
    n: usize,
    payload: P,
) -> Columns<W, P> {
    // SAFETY: keys and a line are within the memory.
    let payloads = unsafe { start.add((n * size_of::<W>()).next_multiple_of(64)) };
    Columns::new(start.cast(), payloads, payload)
}

/// The workers' own memory, for local sorts.
#[derive(Clone, Copy)]
pub(crate) struct Workers {
    start: Shared<u8>,
    /// Bytes of each worker's.
    bytes: usize,
}

impl Workers {
    /// Memory of `bytes` bytes for each, one after the other.
    pub(crate) fn new(start: *mut u8, bytes: usize) -> Self {
        Workers {
            start: Shared(start),
            bytes,
        }
    }

    /// A worker's own.
    fn of(self, worker: usize) -> *mut u8 {
        self.start.at(worker * self.bytes)
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

/// Records that lie together and agree in some upper bits.
#[derive(Clone)]
pub(crate) struct Bucket {
    range: Range<usize>,
    /// The lowest of the bits in which they are known to agree.
    below: u32,
    /// The window of their codes that their words show.
    window: u32,
    /// Partitions that they took part in.
    passes: u32,
}

/// See the [module](self).
pub(crate) struct Job<W, P, R, T> {
    data: Columns<W, P>,
    room: Columns<W, P>,
    workers: Workers,
    local: Local<W, R, T>,
    /// The bits by which records are partitioned.
    bits: Range<u32>,
    /// How many records there are.
    n: usize,
    crew: Crew,
    /// The most passes of any key, and bytes read and written, so far.
    passes: AtomicU32,
    moved: AtomicU64,
}

impl<W: Word, P: Payload, R: Reading<W, After = R>, T: Sink<W, P>> Job<W, P, R, T> {
    pub(crate) fn new(
        data: Columns<W, P>,
        room: Columns<W, P>,
        workers: Workers,
        local: Local<W, R, T>,
        bits: Range<u32>,
        n: usize,
        crew: Crew,
    ) -> Self {
        Job {
            data,
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

    fn side(&self, side: Side) -> Columns<W, P> {
        match side {
            Side::Data => self.data,
            Side::Room => self.room,
        }
    }

    /// Who shares a bucket of `n` records: all, if it is a large part of the whole; whoever has it
    /// alone, if there are others for the others.
    fn crew_for(&self, n: usize) -> Crew {
        match n * self.crew.threads() * 2 > self.n {
            true => self.crew,
            false => Crew::alone(),
        }
    }

    fn note_moved(&self, bytes: usize) {
        self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts the digits of all chunks not counted yet. Where the digit's highest bits are the same
    /// in all keys, counts again by the top varying digit, of `wanted` bits. Returns the digit counted,
    /// or `None` if all keys tie.
    ///
    /// # Safety
    /// The source has the chunks' records, and nobody writes them now.
    pub(crate) unsafe fn count<S: Source<W, P>>(
        &self,
        crew: Crew,
        chunks: &mut [Chunk<W>],
        source: S,
        mut digit: Digit,
        wanted: u32,
    ) -> Option<Digit> {
        // SAFETY: the caller's promise.
        let code = |i| unsafe { source.code(i) };
        let reference = code(chunks[0].range.start);
        loop {
            crew.for_each(chunks, |chunk| {
                if !chunk.counted {
                    chunk.count(code, digit, reference);
                    self.note_moved(chunk.range.len() * size_of::<W>());
                }
            });
            let varying = join_varying(chunks) & W::mask(&self.bits);
            if varying == W::ZERO {
                return None;
            }
            let top = W::BITS - varying.leading_zeros();
            let better = digit_below(top, self.bits.start, wanted);
            if digit.shift + digit.bits < top + RECOUNT_BITS || better.shift >= digit.shift {
                return Some(digit);
            }
            digit = better;
            chunks.iter_mut().for_each(|chunk| chunk.counted = false);
        }
    }

    /// Moves the counted records of `from` to a side, and returns the buckets that lie there then.
    unsafe fn scatter<S: Source<W, P>>(
        &self,
        crew: Crew,
        chunks: &mut [Chunk<W>],
        source: S,
        digit: Digit,
        from: &Bucket,
        to: Side,
    ) -> Vec<Bucket> {
        let buckets = scan::places(chunks, from.range.start);
        let to = self.side(to);
        crew.for_each(chunks, |chunk| {
            let range = chunk.range.clone();
            // SAFETY: the scan gave every chunk places of its own within the range.
            unsafe { scatter(source, to, range, &mut chunk.counts, digit) }
        });
        self.note_moved(2 * from.range.len() * self.data.record_bytes());
        buckets
            .into_iter()
            .filter(|range| !range.is_empty())
            .map(|range| Bucket {
                range,
                below: digit.shift,
                passes: from.passes + 1,
                ..*from
            })
            .collect()
    }

    /// Moves all records, counted, from their source to their first buckets.
    ///
    /// # Safety
    /// The source has them, and nobody else uses them now.
    pub(crate) unsafe fn scatter_first<S: Source<W, P>>(
        &self,
        chunks: &mut [Chunk<W>],
        source: S,
        digit: Digit,
    ) -> Vec<Bucket> {
        let all = Bucket {
            range: 0..self.n,
            below: self.bits.end,
            window: 0,
            passes: 0,
        };
        // SAFETY: the caller's promise.
        unsafe { self.scatter(self.crew, chunks, source, digit, &all, Side::Room) }
    }

    /// Sorts what the first scatter has moved.
    ///
    /// # Safety
    /// Nobody else uses the records now.
    pub(crate) unsafe fn finish_first(&self, buckets: &mut [Bucket]) {
        // SAFETY: the caller's promise.
        unsafe { self.finish(self.crew, buckets, Side::Room) }
    }

    /// Sorts each bucket, to where the sink wants it.
    unsafe fn finish(&self, crew: Crew, buckets: &mut [Bucket], side: Side) {
        crew.for_each(buckets, |bucket| {
            // SAFETY: buckets do not overlap, and a worker's memory is its own.
            unsafe {
                if !self.local.takes(bucket.range.len()) {
                    return self.partition(bucket, side);
                }
                let (start, n) = (bucket.range.start, bucket.range.len());
                let from = self.side(side).from(start);
                let to = if T::ANYWHERE {
                    from
                } else {
                    self.data.from(start)
                };
                let own = self.workers.of(self.crew.worker());
                let passes = self.local.sort(from, to, n, own, bucket.window);
                self.note_moved(2 * passes as usize * n * self.data.record_bytes());
                self.done(bucket, to, passes);
            }
        });
    }

    /// Sorts a bucket too large for the cache: partitions it again, by the digit below.
    unsafe fn partition(&self, bucket: &Bucket, side: Side) {
        let columns = self.side(side);
        let source = Stored {
            columns,
            reading: self.local.reading,
        };
        let crew = self.crew_for(bucket.range.len());
        let mut chunks = chunks(bucket.range.clone(), crew);
        // SAFETY: the bucket is this call's alone.
        unsafe {
            let wanted = self.local.partition_bits(bucket.range.len(), crew);
            let next = digit_below(bucket.below, self.bits.start, wanted);
            let digit = (bucket.below > self.bits.start)
                .then(|| self.count(crew, &mut chunks, source, next, wanted))
                .flatten();
            if let Some(digit) = digit {
                let mut buckets =
                    self.scatter(crew, &mut chunks, source, digit, bucket, side.other());
                return self.finish(crew, &mut buckets, side.other());
            }
            // All tie in what their words show.
            let window = bucket.window + 1;
            if window < self.local.sink.windows() {
                crew.for_each(&mut chunks, |chunk| {
                    let (start, n) = (chunk.range.start, chunk.range.len());
                    for word in columns.from(start).keys_mut(n) {
                        *word = self.local.sink.reword(*word, window);
                    }
                });
                let bucket = Bucket {
                    below: self.bits.end,
                    window,
                    ..bucket.clone()
                };
                return self.partition(&bucket, side);
            }
            let to = if T::ANYWHERE { columns } else { self.data };
            crew.for_each(&mut chunks, |chunk| {
                let (start, n) = (chunk.range.start, chunk.range.len());
                let (from, to) = (columns.from(start), to.from(start));
                if !from.same(to) {
                    from.copy_to(to, n);
                }
                let range = chunk.range.clone();
                self.done(&Bucket { range, ..*bucket }, to, 0);
            });
        }
    }

    /// The records of a bucket are in order, at the start of `to`.
    unsafe fn done(&self, bucket: &Bucket, to: Columns<W, P>, passes: u32) {
        // SAFETY: the records are the calling worker's.
        unsafe {
            let keys = to.keys_mut(bucket.range.len());
            self.local.sink.done(bucket.range.start, keys);
        }
        self.passes
            .fetch_max(bucket.passes + passes, Ordering::Relaxed);
    }
}

/// The bits that vary over all chunks; they were counted against one reference.
pub(crate) fn join_varying<W: Word>(chunks: &[Chunk<W>]) -> W {
    chunks
        .iter()
        .fold(W::ZERO, |bits, chunk| bits | chunk.varying)
}

/// Cuts a range into chunks for the workers.
pub(crate) fn chunks<W: Word>(range: Range<usize>, crew: Crew) -> Vec<Chunk<W>> {
    let n = range.len();
    let wanted = match crew.threads() {
        1 => 1,
        threads => (threads * CHUNKS_PER_WORKER).min(n / CHUNK_MIN).max(1),
    };
    let size = n.div_ceil(wanted);
    range
        .clone()
        .step_by(size)
        .map(|from| Chunk::new(from..(from + size).min(range.end)))
        .collect()
}
