//! The algorithm: most significant digits first until a bucket fits the cache, then locally.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sweepsort_core::{Coder, Digit, Presorted, Report, Result, Stage, Word};

use crate::columns::{Columns, Payload};
use crate::histogram::{self, Chunk};
use crate::local::{self, Tables};
use crate::pool::{Crew, Pool};
use crate::reading::{Encoding, Plain, Reading, Tying};
use crate::scan;
use crate::scatter::scatter;
use crate::scratch::Scratch;
use crate::tuning::{
    ALL_LOCAL_BYTES, CHUNK_MIN, CHUNKS_PER_WORKER, LOCAL_BYTES, PARALLEL_FROM, PARTITION_BITS,
    RECOUNT_BITS, STACK_BYTES, TIMED_FROM,
};

/// What to sort: `n` records, by the codes of their keys within `bits`.
pub(crate) struct Records<W, P> {
    /// The records, in the caller's memory.
    pub(crate) data: Columns<W, P>,
    /// How many.
    pub(crate) n: usize,
    /// From words to codes.
    pub(crate) coder: Coder<W>,
    /// Which bits of the codes count.
    pub(crate) bits: Range<u32>,
    /// Whether something tells records with equal codes apart, so that the sort must be stable.
    pub(crate) strict: bool,
}

/// Bytes of scratch for `n` records of `record` bytes, with `threads` workers.
pub(crate) fn workspace(n: usize, record: usize, threads: usize) -> usize {
    if n * record <= STACK_BYTES {
        0
    } else if fits_one(n, record) && (threads == 1 || n < PARALLEL_FROM) {
        n * record
    } else {
        // 64 bytes an array, so that each starts on a line of its own.
        n * record + threads * worker_bytes(threads) + 64 * (2 + 2 * threads)
    }
}

/// Bytes of one worker's memory for local sorts.
fn worker_bytes(threads: usize) -> usize {
    LOCAL_BYTES.min(ALL_LOCAL_BYTES / threads)
}

/// Whether an input is a single bucket.
fn fits_one(n: usize, record: usize) -> bool {
    n * record <= LOCAL_BYTES
}

/// The digit of up to [`PARTITION_BITS`] bits just below bit `top`, not reaching below bit `low`.
pub(crate) fn digit_below(top: u32, low: u32) -> Digit {
    let bits = PARTITION_BITS.min(top - low);
    Digit {
        shift: top - bits,
        bits,
    }
}

/// The digits of the passes of a sort whose keys are evenly spread: partitions from the top until a
/// bucket fits the cache, then one or two local passes.
pub(crate) fn digits(n: usize, record: usize, bits: Range<u32>, threads: usize) -> Vec<Digit> {
    let mut digits = Vec::new();
    let (mut bucket, mut top) = (n, bits.end);
    if n < 2 || bits.is_empty() {
        return digits;
    }
    if !fits_one(n, record) || (threads > 1 && n >= PARALLEL_FROM) {
        let room = worker_bytes(threads) / record;
        loop {
            let digit = digit_below(top, bits.start);
            digits.push(digit);
            (bucket, top) = (bucket.div_ceil(digit.radix()), digit.shift);
            if bucket <= room || top == bits.start {
                break;
            }
        }
    }
    digits.extend(
        local::digits(bucket, bits.start..top)
            .into_iter()
            .filter(|d| d.bits > 0),
    );
    digits
}

/// Sorts records in place.
///
/// # Errors
/// [`OutOfMemory`](sweepsort_core::Error::OutOfMemory), [`Threads`](sweepsort_core::Error::Threads);
/// the records are untouched then.
///
/// # Safety
/// The records are there, and nobody else uses them now.
pub(crate) unsafe fn sort<W: Word, P: Payload>(
    records: Records<W, P>,
    pool: &Pool,
    scratch: &Scratch,
) -> Result<Report> {
    let coder = records.coder;
    // SAFETY: the caller's promise.
    unsafe {
        if coder.ties() {
            sort_reading(records, Tying(coder), None, pool, scratch)
        } else if coder.is_identity() {
            sort_reading(records, Plain, None, pool, scratch)
        } else {
            sort_reading(records, Encoding(coder), Some(coder), pool, scratch)
        }
    }
}

unsafe fn sort_reading<W: Word, P: Payload, R: Reading<W>>(
    records: Records<W, P>,
    reading: R,
    decode: Option<Coder<W>>,
    pool: &Pool,
    scratch: &Scratch,
) -> Result<Report> {
    let report = Report {
        engine: "cpu",
        algorithm: "hybrid",
        keys: records.n,
        threads: 1,
        passes_possible: records.bits.len().div_ceil(8) as u32,
        ..Report::default()
    };
    if records.n < 2 || records.bits.is_empty() {
        return Ok(Report {
            presorted: Some(Presorted::Equal),
            ..report
        });
    }
    let record = records.data.record_bytes();
    let several = records.n >= PARALLEL_FROM;
    pool.enter(several, move |crew| {
        // SAFETY: the caller's promise.
        unsafe {
            if crew.threads() == 1 && fits_one(records.n, record) {
                sort_one(&records, reading, decode, report, scratch)
            } else {
                sort_many(&records, reading, decode, report, crew, scratch)
            }
        }
    })?
}

/// Sorts an input that is a single bucket.
unsafe fn sort_one<W: Word, P: Payload, R: Reading<W>>(
    records: &Records<W, P>,
    reading: R,
    decode: Option<Coder<W>>,
    mut report: Report,
    scratch: &Scratch,
) -> Result<Report> {
    let &Records { data, n, .. } = records;
    let mask = W::mask(&records.bits);
    let record = data.record_bytes();
    let start = (n >= TIMED_FROM).then(Instant::now);
    // SAFETY: `data` has `n` records, which are ours; so has the room made for as many.
    unsafe {
        report.bytes_moved = (n * size_of::<W>()) as u64;
        report.presorted = histogram::run_of(data.keys(n), reading, mask, records.strict);
        if let Some(run) = report.presorted {
            if run == Presorted::Reversed {
                reverse(data, n, Crew::alone());
                report.bytes_moved += 2 * (n * record) as u64;
            }
            return Ok(report);
        }
        let mut stack = MaybeUninit::<[u128; STACK_BYTES / 16]>::uninit();
        let block = match n * record {
            ..=STACK_BYTES => None,
            bytes => Some(scratch.take(bytes)?),
        };
        let room = block
            .as_ref()
            .map_or(stack.as_mut_ptr().cast(), |block| block.start());
        let room = Columns::new(room.cast(), room.add(n * size_of::<W>()), data.payload());
        for key in data.keys_mut(n) {
            *key = reading.keep(*key, reading.code(*key));
        }
        let mut tables = Tables::new();
        report.passes_run = local::sort(data, data, room, n, reading.after(), mask, &mut tables);
        decode_keys(data.keys_mut(n), decode);
        report.bytes_moved += u64::from(report.passes_run) * 2 * (n * record) as u64;
        if let Some(block) = block {
            report.workspace_bytes = n * record;
            scratch.give(block);
        }
    }
    report
        .stages
        .extend(start.map(|start| (Stage::Local, start.elapsed())));
    Ok(report)
}

/// Sorts an input of many buckets, or with several workers.
unsafe fn sort_many<W: Word, P: Payload, R: Reading<W>>(
    records: &Records<W, P>,
    reading: R,
    decode: Option<Coder<W>>,
    mut report: Report,
    crew: Crew,
    scratch: &Scratch,
) -> Result<Report> {
    let &Records {
        data, n, strict, ..
    } = records;
    let record = data.record_bytes();
    report.threads = crew.threads();
    let clock = Instant::now();
    let read_until = |stage, stages: &mut Vec<(Stage, Duration)>| {
        let so_far: Duration = stages.iter().map(|(_, time)| *time).sum();
        stages.push((stage, clock.elapsed().saturating_sub(so_far)));
    };

    // SAFETY: `data` has `n` records, which are ours, and so has the room made for as many.
    unsafe {
        // The first look writes nothing, and so needs no room yet: presorted input never does.
        let keys = data.keys(n);
        let mask = W::mask(&records.bits);
        let digit = digit_below(records.bits.end, records.bits.start);
        let reference = reading.code(keys[0]);
        let mut chunks = chunks(0..n, crew);
        crew.for_each(&mut chunks, |chunk| {
            let keys = &keys[chunk.range.clone()];
            chunk.run = histogram::run_of(keys, reading, mask, strict);
            if chunk.run.is_none() {
                chunk.count(keys, reading, digit, reference);
            }
        });
        report.bytes_moved = (n * size_of::<W>()) as u64;
        report.presorted = histogram::join_runs(&chunks, keys, reading, mask, strict);
        if let Some(run) = report.presorted {
            read_until(Stage::Histogram, &mut report.stages);
            if run == Presorted::Reversed {
                reverse(data, n, crew);
                report.bytes_moved += 2 * (n * record) as u64;
                report.passes_run = 1;
                read_until(Stage::Scatter, &mut report.stages);
            }
            return Ok(report);
        }

        let bytes = workspace(n, record, crew.threads());
        let block = scratch.take(bytes)?;
        let mut rest = block.start();
        let worker_keys = worker_bytes(crew.threads()) / record;
        let room = carve(&mut rest, n, data.payload());
        let workers: Vec<_> = (0..crew.threads())
            .map(|_| carve(&mut rest, worker_keys, data.payload()))
            .collect();
        let job = Job {
            data,
            room,
            workers,
            worker_keys,
            mask,
            low: records.bits.start,
            decode,
            crew,
            passes: AtomicU32::new(0),
            moved: AtomicU64::new(report.bytes_moved),
        };
        let digit = job.count(&mut chunks, Side::Data, reading, digit);
        report.constant_bits =
            records.bits.len() as u32 - (join_varying(&chunks) & mask).widen().count_ones();
        read_until(Stage::Histogram, &mut report.stages);
        // Presorted input is gone, so some bit varies.
        if let Some(digit) = digit {
            let mut buckets = job.scatter(&mut chunks, 0..n, Side::Data, reading, digit);
            read_until(Stage::Scatter, &mut report.stages);
            job.finish(&mut buckets, Side::Room, reading.after(), digit.shift, 1);
            read_until(Stage::Local, &mut report.stages);
        }
        report.passes_run = job.passes.into_inner();
        report.bytes_moved = job.moved.into_inner();
        report.workspace_bytes = bytes;
        scratch.give(block);
    }
    Ok(report)
}

/// Takes room for `n` records off the front of the rest of a block.
unsafe fn carve<W: Word, P: Payload>(rest: &mut *mut u8, n: usize, payload: P) -> Columns<W, P> {
    let mut take = |bytes: usize| {
        let start = *rest;
        // SAFETY: `workspace` counted these bytes, each array rounded up to a line.
        *rest = unsafe { start.add(bytes.next_multiple_of(64)) };
        start
    };
    Columns::new(
        take(n * size_of::<W>()).cast(),
        take(n * payload.bytes()),
        payload,
    )
}

/// Which of the two arrays a bucket is in.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// The caller's.
    Data,
    /// The scratch.
    Room,
}

/// A sort under way.
struct Job<W, P> {
    data: Columns<W, P>,
    room: Columns<W, P>,
    /// Each worker's own memory, for local sorts of up to `worker_keys` records.
    workers: Vec<Columns<W, P>>,
    worker_keys: usize,
    /// The bits that count, as ones; the lowest of them is bit `low`.
    mask: W,
    low: u32,
    /// How finished codes become words again, where words became codes.
    decode: Option<Coder<W>>,
    crew: Crew,
    /// The most passes of any key, and bytes read and written, so far.
    passes: AtomicU32,
    moved: AtomicU64,
}

impl<W: Word, P: Payload> Job<W, P> {
    /// The array on a side, and the other.
    fn sides(&self, side: Side) -> (Columns<W, P>, Columns<W, P>) {
        match side {
            Side::Data => (self.data, self.room),
            Side::Room => (self.room, self.data),
        }
    }

    fn note_moved(&self, bytes: usize) {
        self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts the digits of all chunks not counted yet. Where the digit's highest bits are the same
    /// in all keys, counts again by the top varying digit. Returns the digit counted, or `None` if
    /// all keys tie.
    unsafe fn count<R: Reading<W>>(
        &self,
        chunks: &mut [Chunk<W>],
        side: Side,
        reading: R,
        mut digit: Digit,
    ) -> Option<Digit> {
        let (from, _) = self.sides(side);
        let start = chunks[0].range.start;
        // SAFETY: chunks lie within the records, which nobody writes now.
        let reference = unsafe { reading.code(from.key(start)) };
        loop {
            self.crew.for_each(chunks, |chunk| {
                if !chunk.counted {
                    // SAFETY: as above.
                    let keys = unsafe { from.from(chunk.range.start).keys(chunk.range.len()) };
                    chunk.count(keys, reading, digit, reference);
                    self.note_moved(size_of_val(keys));
                }
            });
            let varying = join_varying(chunks) & self.mask;
            if varying == W::ZERO {
                return None;
            }
            let top = W::BITS - varying.leading_zeros();
            let better = digit_below(top, self.low);
            if digit.shift + digit.bits < top + RECOUNT_BITS || better.shift >= digit.shift {
                return Some(digit);
            }
            digit = better;
            chunks.iter_mut().for_each(|chunk| chunk.counted = false);
        }
    }

    /// Moves the records of `range`, counted by `digit`, to the other side, and returns where each
    /// bucket lies there.
    unsafe fn scatter<R: Reading<W>>(
        &self,
        chunks: &mut [Chunk<W>],
        range: Range<usize>,
        side: Side,
        reading: R,
        digit: Digit,
    ) -> Vec<Range<usize>> {
        let (from, to) = self.sides(side);
        let mut buckets = scan::places(chunks, range.start);
        self.crew.for_each(chunks, |chunk| {
            let range = chunk.range.clone();
            // SAFETY: the scan gave every chunk places of its own within the range.
            unsafe { scatter(from, to, range, &mut chunk.counts, reading, digit) }
        });
        self.note_moved(2 * range.len() * self.data.record_bytes());
        buckets.retain(|bucket| !bucket.is_empty());
        buckets
    }

    /// Sorts each bucket, all of whose keys agree in the bits from `below` up, into `data`.
    unsafe fn finish<R: Reading<W, After = R>>(
        &self,
        buckets: &mut [Range<usize>],
        side: Side,
        reading: R,
        below: u32,
        passes: u32,
    ) {
        self.crew.for_each(buckets, |bucket| {
            let (start, n) = (bucket.start, bucket.len());
            // SAFETY: buckets do not overlap, and a worker's memory is its own.
            unsafe {
                if n > self.worker_keys {
                    return self.partition(bucket.clone(), side, reading, below, passes);
                }
                let (from, to) = (self.sides(side).0.from(start), self.data.from(start));
                let room = self.workers[self.crew.worker()];
                let local = local::sort(from, to, room, n, reading, self.mask, &mut Tables::new());
                self.done(start, n, passes + local);
                self.note_moved(2 * local as usize * n * self.data.record_bytes());
            }
        });
    }

    /// Sorts a bucket too large for the cache: partitions it again, by the digit below.
    unsafe fn partition<R: Reading<W, After = R>>(
        &self,
        range: Range<usize>,
        side: Side,
        reading: R,
        below: u32,
        passes: u32,
    ) {
        let mut chunks = chunks(range.clone(), self.crew);
        // SAFETY: the range is this call's alone.
        unsafe {
            let digit = (below > self.low)
                .then(|| self.count(&mut chunks, side, reading, digit_below(below, self.low)));
            if let Some(digit) = digit.flatten() {
                let mut buckets = self.scatter(&mut chunks, range, side, reading, digit);
                let other = if side == Side::Data {
                    Side::Room
                } else {
                    Side::Data
                };
                self.finish(&mut buckets, other, reading, digit.shift, passes + 1);
                return;
            }
            // All keys tie.
            if side == Side::Room {
                for chunk in &chunks {
                    let (start, n) = (chunk.range.start, chunk.range.len());
                    self.room.from(start).copy_to(self.data.from(start), n);
                }
            }
            self.done(range.start, range.len(), passes);
        }
    }

    /// Records `start..start + n` of `data` are in order.
    unsafe fn done(&self, start: usize, n: usize, passes: u32) {
        // SAFETY: the records are the calling worker's.
        unsafe { decode_keys(self.data.from(start).keys_mut(n), self.decode) };
        self.passes.fetch_max(passes, Ordering::Relaxed);
    }
}

/// Turns codes into words again.
fn decode_keys<W: Word>(keys: &mut [W], decode: Option<Coder<W>>) {
    if let Some(coder) = decode {
        keys.iter_mut().for_each(|key| *key = coder.decode(*key));
    }
}

/// The bits that vary over all chunks; they were counted against one reference.
fn join_varying<W: Word>(chunks: &[Chunk<W>]) -> W {
    chunks
        .iter()
        .fold(W::ZERO, |bits, chunk| bits | chunk.varying)
}

/// Cuts a range into chunks for the workers.
fn chunks<W: Word>(range: Range<usize>, crew: Crew) -> Vec<Chunk<W>> {
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

/// Turns the first `n` records round.
///
/// # Safety
/// There are `n` records, and nobody else uses them now.
unsafe fn reverse<W: Word, P: Payload>(data: Columns<W, P>, n: usize, crew: Crew) {
    let mut chunks: Vec<Chunk<W>> = chunks(0..n / 2, crew);
    crew.for_each(&mut chunks, |chunk| {
        for i in chunk.range.clone() {
            // SAFETY: each `i` below the middle is one chunk's, and so is its mirror image.
            unsafe { data.swap(i, n - 1 - i) }
        }
    });
}
