//! The algorithm: partitions until a bucket fits the cache, then a local sort of each.

use std::borrow::Cow;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::ptr;
use std::slice;
use std::time::{Duration, Instant};

use sweepsort_core::{Codec, Coder, Kind, Presorted, Report, Result, Stage, Word};

use crate::classify::Classifier;
use crate::columns::{Columns, columns_at};
use crate::count::{self, Span};
use crate::instructions::{Instructions, second_cache_bytes};
use crate::job::{Job, Workers};
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::local::{Local, few};
use crate::payload::Payload;
use crate::pieces::Pieces;
use crate::plan::{Measure, Record};
use crate::pool::{Crew, Pool};
use crate::reading::{Encoding, Plain, Tying};
use crate::room::Room;
use crate::sample::sample;
use crate::scratch::Scratch;
use crate::sink::{Codes, Decoded, Sink};
use crate::source::{Source, Stored};
use crate::tuning::{PARALLEL_FROM, STACK_BYTES, TIMED_FROM};

/// What a sort works with.
#[derive(Debug)]
pub(crate) struct Means {
    pub(crate) pool: Pool,
    pub(crate) scratch: Scratch,
    /// Other instructions than the best that there are.
    pub(crate) instructions: Option<Instructions>,
}

impl Means {
    /// The instructions for a sort, `whole` if all bits of a word tell records apart: by these
    /// vectors sort.
    #[inline]
    pub(crate) fn instructions(&self, whole: bool) -> Instructions {
        match whole {
            true => self.instructions.unwrap_or_else(Instructions::detect),
            false => Instructions::Portable,
        }
    }
}

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
    /// Whether keys alone of few codes may be counted, and not moved.
    pub(crate) counts: bool,
    /// Why this engine sorts them.
    pub(crate) reason: Cow<'static, str>,
}

/// A sort: `n` records from a source to a sink.
pub(crate) struct Sorting<W, P, S, T> {
    pub(crate) source: S,
    pub(crate) sink: T,
    pub(crate) n: usize,
    /// The bits by which records are partitioned.
    pub(crate) bits: Range<u32>,
    /// Whether records that tie in these bits may be put in the order of all of a word's.
    pub(crate) whole: bool,
    /// See [`Records::strict`].
    pub(crate) strict: bool,
    /// What decodes keys that may be counted and not moved: whole ones alone.
    pub(crate) counts: Option<Coder<W>>,
    /// Where the records lie; nowhere yet, if only the source makes them.
    pub(crate) data: Option<Columns<W, P>>,
    pub(crate) payload: P,
    /// See [`Records::reason`].
    pub(crate) reason: Cow<'static, str>,
}

/// What was done to records at once.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) presorted: Option<Presorted>,
    pub(crate) passes: u32,
    pub(crate) bytes_moved: u64,
}

impl Done {
    /// Notes it in a report.
    pub(crate) fn note(self, report: &mut Report) {
        report.presorted = self.presorted;
        report.passes_run = self.passes;
        report.bytes_moved = self.bytes_moved;
    }
}

/// The making of records, where these are to lie.
struct Encode<'a, W, P, S, T>(&'a Sorting<W, P, S, T>, Columns<W, P>);

impl<W: Word, P: Payload, S: Source<W, P>, T: Sink<W, P>> Vectored for Encode<'_, W, P, S, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let Encode(sorting, data) = self;
        // SAFETY: the caller's promise.
        unsafe { sorting.encode(data) }
    }
}

/// What is known of a sort beforehand, and what was done at once. (Written where it is wanted: to
/// move a report takes as long as to sort a few keys.)
#[inline(always)]
pub(crate) fn report(n: usize, bits: u32, reason: Cow<'static, str>, done: Done) -> Report {
    Report {
        engine: "cpu",
        algorithm: "hybrid",
        reason,
        keys: n,
        threads: 1,
        passes_possible: bits.div_ceil(8),
        passes_run: done.passes,
        presorted: done.presorted,
        bytes_moved: done.bytes_moved,
        ..Report::default()
    }
}

/// Notes the stage that ends now, of a sort that began at `start`.
pub(crate) fn note_stage(report: &mut Report, stage: Stage, start: Instant) {
    let before: Duration = report.stages.iter().map(|(_, time)| *time).sum();
    let time = start.elapsed().saturating_sub(before);
    report.stages.push((stage, time));
}

/// Something that starts on a line of the cache.
#[repr(align(64))]
struct Line<T>(T);

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
    means: &Means,
) -> Result<Report> {
    let (columns, coder) = (records.data, records.coder);
    // SAFETY: the caller's promise.
    unsafe {
        if coder.ties() {
            let reading = Tying(coder);
            let source = Stored { columns, reading };
            records.sorting(source, Codes(columns)).run(means)
        } else if const { W::BITS >= 32 } && coder.is_identity() {
            let reading = Plain;
            let source = Stored { columns, reading };
            records.sorting(source, Codes(columns)).run(means)
        } else {
            // Codes of 8 and 16 bits, too, by a coder that changes nothing: most are counted, and
            // this compiles anyway.
            let reading = Encoding(coder);
            let source = Stored { columns, reading };
            let sink = Decoded(columns, coder);
            records.sorting(source, sink).run(means)
        }
    }
}

impl<W: Word, P: Payload> Records<W, P> {
    fn sorting<S: Source<W, P>, T>(self, source: S, sink: T) -> Sorting<W, P, S, T> {
        let whole = S::CODES && self.bits == (0..W::BITS);
        let counts = P::NONE && self.counts && whole;
        Sorting {
            source,
            sink,
            n: self.n,
            whole,
            counts: counts.then_some(self.coder),
            bits: self.bits,
            strict: self.strict,
            data: Some(self.data),
            payload: self.data.payload(),
            reason: self.reason,
        }
    }
}

impl<W: Word, P: Payload, S: Source<W, P>, T: Sink<W, P>> Sorting<W, P, S, T> {
    /// Sorts.
    ///
    /// # Errors
    /// As [`sort`].
    ///
    /// # Safety
    /// Source, sink and data have `n` records, and nobody else uses them now.
    pub(crate) unsafe fn run(mut self, means: &Means) -> Result<Report> {
        let (bits, reason) = (self.bits.len() as u32, mem::take(&mut self.reason));
        // SAFETY: the caller's promise.
        if let Some(done) = unsafe { self.at_once(means) } {
            return Ok(report(self.n, bits, reason, done));
        }
        let report = report(self.n, bits, reason, Done::default());
        let several = self.n >= PARALLEL_FROM;
        means.pool.enter(several, move |crew| {
            // SAFETY: the caller's promise.
            unsafe {
                let measure = self.measure(means, crew.threads());
                if measure.is_cut() {
                    self.run_cut(report, crew, means)
                } else if measure.is_for_caller(crew) {
                    crew.dismiss();
                    let alone = measure.alone();
                    if alone.is_cut() {
                        self.run_cut(report, Crew::alone(), means)
                    } else if alone.is_one() {
                        self.run_one(report, means)
                    } else {
                        self.run_many(report, Crew::alone(), means)
                    }
                } else {
                    self.run_many(report, crew, means)
                }
            }
        })?
    }

    /// Sorts what needs no memory; or returns nothing, and nothing is written but for index entries
    /// that are written again.
    unsafe fn at_once(&self, means: &Means) -> Option<Done> {
        if self.n < 2 || self.bits.is_empty() {
            let run = Presorted::Equal;
            // SAFETY: the caller's promise.
            unsafe { self.sink.presorted(self.n, run, Crew::alone()) };
            return Some(Done {
                presorted: Some(run),
                ..Done::default()
            });
        }
        if const { P::NONE && S::CODES } && self.data.is_none() && self.whole {
            // SAFETY: the caller's promise.
            return unsafe { self.run_few(means) };
        }
        None
    }

    pub(crate) fn record_bytes(&self) -> usize {
        size_of::<W>() + self.payload.bytes()
    }

    fn record(&self, means: &Means) -> Record {
        let payload = self.payload.bytes();
        let instructions = means.instructions(self.whole);
        Record::new(instructions, self.whole, size_of::<W>(), payload)
    }

    /// Whether runs of such records can be merged where there are vectors: keys alone, as they lie in memory.
    pub(crate) const MERGES: bool = P::NONE && S::STAYS && S::CODES;

    /// Whether runs of the records can be merged.
    pub(crate) fn merges(&self, means: &Means) -> bool {
        Self::MERGES && self.record(means).is_keys_for_vectors()
    }

    pub(crate) fn measure(&self, means: &Means, threads: usize) -> Measure {
        Measure {
            n: self.n,
            record: self.record(means),
            made: self.data.is_none(),
            cache: second_cache_bytes(),
            threads,
        }
    }

    /// The local sort, with so much memory.
    pub(crate) fn local(&self, means: &Means, bytes: usize) -> Local<W, S::After, T> {
        Local::new(
            means.instructions(self.whole),
            self.record(means),
            bytes,
            self.source.after(),
            W::mask(&self.bits),
            self.sink,
        )
    }

    /// Sorts words that are made of keys; or returns nothing, for they are not [few], or do not
    /// show enough of their codes.
    unsafe fn run_few(&self, means: &Means) -> Option<Done> {
        let instructions = means.instructions(true);
        if self.n > few::most(instructions, Kind::Unsigned, W::BITS) {
            return None;
        }
        let mut made = few::Memory::uninit();
        let data = Columns::new(made.as_mut_ptr().cast(), ptr::dangling_mut(), self.payload);
        // SAFETY: all keys are there, and there is room for so many words.
        unsafe {
            if let Some(run) = self.single_run() {
                return Some(self.keep(run, Crew::alone()));
            }
            self.encode(data);
            let words = data.keys_mut(self.n);
            let coder = Codec::UNSIGNED.coder();
            let done = few::sort(instructions, words, &coder, few::alone);
            // Of a code in several windows they show the first.
            let shown = (self.sink.windows() > 1).then(|| W::mask(&self.bits));
            let is_taken = self.sink.last_step(0).take(instructions, words, shown);
            is_taken.then_some(done)
        }
    }

    /// What the source makes of all keys to where the records lie.
    #[inline(always)]
    unsafe fn encode(&self, data: Columns<W, P>) {
        if S::STAYS {
            return;
        }
        /// Keys that are read before any of them is written: so vectors can do it.
        const TOGETHER: usize = 16;
        let (source, to) = (self.source, data.keys_start());
        // SAFETY: all records are there, and are ours. Payloads lie there already, if there are any.
        unsafe {
            let key = |i| source.record(i, source.code(i)).0;
            let whole = self.n - self.n % TOGETHER;
            for first in (0..whole).step_by(TOGETHER) {
                let keys: [W; TOGETHER] = std::array::from_fn(|i| key(first + i));
                to.add(first).cast::<[W; TOGETHER]>().write(keys);
            }
            for i in whole..self.n {
                to.add(i).write(key(i));
            }
        }
    }

    /// Sorts an input that is a single bucket.
    unsafe fn run_one(&self, mut report: Report, means: &Means) -> Result<Report> {
        let (n, record) = (self.n, self.record_bytes());
        let start = (n >= TIMED_FROM).then(Instant::now);
        // SAFETY: all records are there, and are ours; so are those that room is made for.
        unsafe {
            if self.in_order(&mut report, Crew::alone(), means)? {
                return Ok(report);
            }
            let measure = self.measure(means, 1);
            let own = measure.one_bytes();
            let bytes = own + self.data.map_or(measure.column_bytes(), |_| 0);
            let mut stack = Line(MaybeUninit::<[u8; STACK_BYTES]>::uninit());
            let block = match bytes {
                ..=STACK_BYTES => None,
                _ => Some(means.scratch.take(bytes)?),
            };
            let memory: *mut u8 = block
                .as_ref()
                .map_or(stack.0.as_mut_ptr().cast(), |block| block.start());
            let data = self
                .data
                .unwrap_or_else(|| columns_at(memory.add(own), n, self.payload));
            let local = self.local(means, own);
            by_vectors::<W, _>(local.instructions(), Encode(self, data))
                .unwrap_or_else(|Encode(sorting, data)| sorting.encode(data));
            let all = 0..n;
            let records = Pieces::new(data, slice::from_ref(&all));
            report.passes_run = local.sort(records, data, memory, 0, 0);
            report.bytes_moved = u64::from(report.passes_run) * 2 * (n * record) as u64;
            if let Some(block) = block {
                report.workspace_bytes = bytes;
                means.scratch.give(block);
            }
        }
        report
            .stages
            .extend(start.map(|start| (Stage::Local, start.elapsed())));
        Ok(report)
    }

    /// Sorts an input of many buckets, or with several workers.
    unsafe fn run_many(&self, mut report: Report, crew: Crew<'_>, means: &Means) -> Result<Report> {
        report.threads = crew.threads();
        let start = Instant::now();
        // SAFETY: the caller's promise. Until order has been looked for, no room is needed.
        unsafe {
            match self.in_order(&mut report, crew, means)? {
                true => Ok(report),
                false => self.partition(report, crew, means, start),
            }
        }
    }

    /// The same, of which there is no order to be used. `start`: when the sort began to look for it.
    unsafe fn partition(
        &self,
        mut report: Report,
        crew: Crew<'_>,
        means: &Means,
        start: Instant,
    ) -> Result<Report> {
        let n = self.n;
        let mask = W::mask(&self.bits);
        // SAFETY: all records are there, and are ours; so are those that room is made for.
        unsafe {
            let threads = crew.threads();
            let measure = self.measure(means, threads);
            let mut bytes = measure.many_bytes();
            let block = means.scratch.take(bytes)?;
            let bits = measure.first_bits();
            let code = |i| self.source.code(i) & mask;
            let mut sample = sample(n, bits.sample(), crew, code);
            if let (Some(coder), Some(data)) = (self.counts, self.data)
                && let Some(span) = Span::of_sample(&sample, n)
                && span.table_bytes(n, crew) <= bytes
                && let Some(counted) =
                    count::within(data.keys_mut(n), coder, span, block.start(), crew)
            {
                means.scratch.give(block);
                return Ok(Report {
                    workspace_bytes: bytes,
                    reason: report.reason,
                    ..counted
                });
            }
            let mut classifier = Classifier::new(&mut sample, bits);
            if measure.record.is_keys_for_vectors() {
                classifier.find_common(&sample);
            }
            if measure.is_cut_by(&classifier) {
                assert!(measure.cut_bytes() <= bytes);
                note_stage(&mut report, Stage::Histogram, start);
                self.cut(&mut report, crew, means, block.start(), start);
                report.workspace_bytes = bytes;
                means.scratch.give(block);
                return Ok(report);
            }
            let (local_bytes, sorted_bytes) = (measure.local_bytes(), measure.sorted_bytes());
            let local = self.local(means, local_bytes).streaming(measure.streams());
            let room_records = measure.room();
            let room = block.start().add(threads * (local_bytes + sorted_bytes));
            let nowhere = || Columns::new(ptr::dangling_mut(), ptr::dangling_mut(), self.payload);
            let mut job = Job::new(
                self.data.unwrap_or_else(nowhere),
                self.data.is_none(),
                Room::new(columns_at(room, room_records, self.payload)),
                Workers::new(block.start(), local_bytes, sorted_bytes),
                local,
                self.bits.clone(),
                n,
                crew,
            );
            let bits = classifier.of_bits(bits);
            let layout = measure.layout(bits).turned(means.scratch.turns());
            note_stage(&mut report, Stage::Histogram, start);
            let runs = job.scatter_first(self.source, &classifier, layout);
            let mut buckets = job.buckets(&runs, &classifier);
            let varying = runs.varying().widen().count_ones();
            report.constant_bits = self.bits.len() as u32 - varying;
            note_stage(&mut report, Stage::Scatter, start);
            // If there is none, nothing has been written but scratch.
            let made = match self.data.is_none() && job.goes_on(&buckets) {
                true => Some(means.scratch.take(measure.column_bytes())?),
                false => None,
            };
            if let Some(made) = &made {
                job.set_data(columns_at(made.start(), n, self.payload));
                bytes += measure.column_bytes();
            }
            job.finish_first(&mut buckets);
            note_stage(&mut report, Stage::Local, start);
            report.passes_run = job.passes();
            report.bytes_moved = job.bytes_moved();
            report.workspace_bytes = bytes;
            means.scratch.give(block);
            made.into_iter().for_each(|made| means.scratch.give(made));
        }
        Ok(report)
    }
}
