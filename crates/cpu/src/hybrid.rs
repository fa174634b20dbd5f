//! The algorithm: partitions until a bucket fits the cache, then a local sort of each.

use std::borrow::Cow;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::ptr;
use std::slice;
use std::time::{Duration, Instant};

use sweepsort_core::{Codec, Coder, Digit, Kind, Presorted, Report, Result, Stage, Word};

use crate::blocks::Layout;
use crate::classify::{BucketBits, Classifier};
use crate::columns::{Columns, LINE, Payload, Pieces};
use crate::count::{self, Span};
use crate::instructions::{Instructions, second_cache_bytes};
use crate::job::{self, Job, Workers};
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::local::{Local, Shape, few, passes};
use crate::pool::{Crew, Pool};
use crate::reading::{Encoding, Plain, Tying};
use crate::room::Room;
use crate::sample::sample;
use crate::scratch::Scratch;
use crate::sink::{Codes, Decoded, Sink};
use crate::source::{Source, Stored};
use crate::tuning::{
    INSERTION_MAX, LATE_PS_A_KEY, LOCAL_BYTES, MADE_BYTES, PARALLEL_FROM, SAMPLE_PER_BUCKET,
    STACK_BYTES, Sharing, TIMED_FROM, WAITED_PS_A_KEY,
};

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

/// What decides about a sort's memory.
#[derive(Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) n: usize,
    pub(crate) shape: Shape,
    /// Whether the records themselves need a place, too.
    pub(crate) made: bool,
    /// Bytes of a core's second level cache.
    pub(crate) cache: usize,
}

impl Measure {
    /// Bytes of scratch with `threads` workers, at most.
    pub(crate) fn workspace(&self, threads: usize) -> usize {
        let data = if self.made { self.column_bytes() } else { 0 };
        let one = match self.shape.fits_one(self.n) {
            true => self.one_bytes(),
            false => 0,
        };
        let many = match self.is_one(threads) {
            true => 0,
            false if self.is_cut(threads) => self.cut_bytes(threads),
            false => self.many_bytes(threads),
        };
        data + one.max(many)
    }

    /// Bytes of scratch for an input of many buckets, but for the records' own place.
    fn many_bytes(&self, threads: usize) -> usize {
        let room = job::column_bytes(self.room(threads), self.shape.record);
        room + threads * (self.local_bytes(threads) + self.sorted_bytes(threads))
    }

    /// How the workers share memory.
    fn sharing(&self, threads: usize) -> Sharing {
        self.shape.sharing(self.n, threads, self.cache)
    }

    /// Bytes of a worker's memory for a local sort itself: slots, or room for a bucket.
    fn local_bytes(&self, threads: usize) -> usize {
        // Words that are made lie in two columns at most.
        let left = match self.made {
            true => (self.n * MADE_BYTES).saturating_sub(2 * self.column_bytes()),
            false => 0,
        };
        let share = (self.sharing(threads).local_bytes + left) / threads;
        let bytes = match self.made {
            // Slots take three times as much as what they sort, passes as much.
            true => match share / 4 * 3 {
                slots if slots + self.sorted_bytes_beside(slots) <= share => slots,
                _ => share / 5 * 2,
            },
            false => share,
        };
        LOCAL_BYTES.min(bytes).next_multiple_of(LINE)
    }

    /// And for what it has sorted, if that has no place.
    fn sorted_bytes(&self, threads: usize) -> usize {
        match self.made {
            true => self.sorted_bytes_beside(self.local_bytes(threads)),
            false => 0,
        }
    }

    /// Bytes for the records that are sorted with so many bytes of memory.
    fn sorted_bytes_beside(&self, bytes: usize) -> usize {
        let most = self.shape.most_records(bytes);
        job::column_bytes(most, self.shape.record).next_multiple_of(LINE)
    }

    fn column_bytes(&self) -> usize {
        job::column_bytes(self.n, self.shape.record)
    }

    /// Bits that number the buckets of the first partition.
    fn first_bits(&self, threads: usize) -> BucketBits {
        let (bytes, sharing) = (self.local_bytes(threads), self.sharing(threads));
        self.shape
            .first_bits(self.n, threads, bytes, sharing, self.cache)
    }

    /// Records that the first partition's room has places for.
    fn room(&self, threads: usize) -> usize {
        let BucketBits { even, sampled } = self.first_bits(threads);
        // Where keys are skewed, there are fewer buckets, and larger blocks.
        [even, sampled]
            .map(|bits| self.layout(threads, bits).room())
            .into_iter()
            .fold(0, usize::max)
    }

    /// The first partition's blocks, by so many bits.
    fn layout(&self, threads: usize, bits: u32) -> Layout {
        let sharing = self.sharing(threads);
        Layout::new(self.n, self.shape.record, threads, 1 << bits, sharing)
    }

    /// Bytes of memory for a local sort of an input that is a single bucket, or of a part of it.
    pub(crate) fn one_bytes(&self) -> usize {
        match self.n {
            ..=INSERTION_MAX => 0,
            n => self.shape.bytes(n).next_multiple_of(LINE),
        }
    }

    /// Bytes of scratch for an input that workers cut in parts.
    pub(crate) fn cut_bytes(&self, threads: usize) -> usize {
        threads * self.one_bytes()
    }

    /// Whether an input is planned as a single bucket, which one thread sorts: some others are, too.
    fn is_one(&self, threads: usize) -> bool {
        self.shape.fits_one(self.n) && (threads == 1 || self.n < PARALLEL_FROM)
    }

    /// Whether an input is a single bucket for a caller: one who is alone, or whom nobody joins, for it sorts such an input sooner
    /// so than as one of several.
    fn is_one_for(&self, crew: Crew<'_>) -> bool {
        let keys = |picoseconds| Duration::from_nanos(self.n as u64 * picoseconds / 1000);
        self.shape.fits_one(self.n) && !crew.has_help(keys(LATE_PS_A_KEY), keys(WAITED_PS_A_KEY))
    }

    /// Whether an input is cut in parts by so many workers. None that is made: of its words some may tie, and have to come
    /// together.
    fn is_cut(&self, threads: usize) -> bool {
        let several = threads == 1 || self.n >= PARALLEL_FROM;
        several && !self.made && self.shape.is_cut(self.n, threads)
    }

    /// The same of one that a sample parts.
    fn is_cut_by<W: Word>(&self, threads: usize, classifier: &Classifier<W>) -> bool {
        let few = classifier.common().is_some();
        !self.made && !classifier.is_even() && self.shape.is_cut_if_skewed(self.n, threads, few)
    }

    /// The digits that stand for the passes of a sort of evenly spread keys: partitions from the top until a
    /// bucket fits the cache, then one or two local passes.
    pub(crate) fn digits(&self, bits: Range<u32>, threads: usize) -> Vec<Digit> {
        let mut digits = Vec::new();
        let (mut bucket, mut top) = (self.n, bits.end);
        if self.n < 2 || bits.is_empty() {
            return digits;
        }
        if !self.is_one(threads) && !self.is_cut(threads) {
            let most = self.shape.most_records(self.local_bytes(threads));
            let mut wanted = self.first_bits(threads).even;
            loop {
                let digit = digit_below(top, bits.start, wanted);
                digits.push(digit);
                (bucket, top) = (bucket.div_ceil(digit.radix()), digit.shift);
                wanted = self.shape.even_bits(bucket, threads);
                if bucket <= most || top == bits.start {
                    break;
                }
            }
        }
        digits.extend(
            passes::digits(bucket, bits.start..top)
                .into_iter()
                .filter(|d| d.bits > 0),
        );
        digits
    }
}

/// The digit of up to `bits` bits just below bit `top`, not reaching below bit `low`.
fn digit_below(top: u32, low: u32, bits: u32) -> Digit {
    let bits = bits.min(top - low);
    Digit {
        shift: top - bits,
        bits,
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

/// What is known of a sort beforehand, and what was done at once. (Written where it is wanted: to move a report takes
/// as long as to sort a few keys.)
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
            // Codes of 8 and 16 bits, too, by a coder that changes nothing: most are counted, and this compiles anyway.
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
                let measure = self.measure(means);
                if measure.is_cut(crew.threads()) {
                    self.run_cut(report, crew, means)
                } else if measure.is_one_for(crew) {
                    match measure.is_cut(1) {
                        true => self.run_cut(report, Crew::alone(), means),
                        false => self.run_one(report, means),
                    }
                } else {
                    self.run_many(report, crew, means)
                }
            }
        })?
    }

    /// Sorts what needs no memory; or returns nothing, and nothing is written.
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

    fn shape(&self, means: &Means) -> Shape {
        let payload = self.payload.bytes();
        let instructions = means.instructions(self.whole);
        Shape::new(instructions, self.whole, size_of::<W>(), payload)
    }

    /// Whether runs of such records can be merged where there are vectors: keys alone, as they lie in memory.
    pub(crate) const MERGES: bool = P::NONE && S::STAYS && S::CODES;

    /// Whether runs of the records can be merged.
    pub(crate) fn merges(&self, means: &Means) -> bool {
        Self::MERGES && self.whole && self.shape(means).is_keys_for_vectors()
    }

    pub(crate) fn measure(&self, means: &Means) -> Measure {
        Measure {
            n: self.n,
            shape: self.shape(means),
            made: self.data.is_none(),
            cache: second_cache_bytes(),
        }
    }

    /// The local sort, with so much memory.
    pub(crate) fn local(&self, means: &Means, bytes: usize) -> Local<W, S::After, T> {
        Local::new(
            means.instructions(self.whole),
            self.shape(means),
            bytes,
            self.source.after(),
            W::mask(&self.bits),
            self.sink,
        )
    }

    /// Sorts words that are made of keys; or returns nothing, for they are not [few], or do not show enough of their
    /// codes.
    unsafe fn run_few(&self, means: &Means) -> Option<Done> {
        let instructions = means.instructions(true);
        if self.n > few::most(instructions, Kind::Unsigned, W::BITS) {
            return None;
        }
        let mut made = few::Room::uninit();
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
            let measure = self.measure(means);
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
                .unwrap_or_else(|| job::columns_at(memory.add(own), n, self.payload));
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
            let measure = self.measure(means);
            let threads = crew.threads();
            let mut bytes = measure.many_bytes(threads);
            let block = means.scratch.take(bytes)?;
            let bits = measure.first_bits(threads);
            let sample = sample(n, SAMPLE_PER_BUCKET << bits.even, crew, |i| {
                self.source.code(i) & mask
            });
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
            let mut classifier = Classifier::new(&sample, bits);
            if measure.shape.is_keys_for_vectors() {
                classifier.find_common(&sample);
            }
            if measure.is_cut_by(threads, &classifier) {
                assert!(measure.cut_bytes(threads) <= bytes);
                note_stage(&mut report, Stage::Histogram, start);
                self.cut(&mut report, crew, means, block.start(), start);
                report.workspace_bytes = bytes;
                means.scratch.give(block);
                return Ok(report);
            }
            let (local_bytes, sorted_bytes) =
                (measure.local_bytes(threads), measure.sorted_bytes(threads));
            let local = self.local(means, local_bytes);
            let room_records = measure.room(threads);
            let room = block.start().add(threads * (local_bytes + sorted_bytes));
            let nowhere = || Columns::new(ptr::dangling_mut(), ptr::dangling_mut(), self.payload);
            let mut job = Job::new(
                self.data.unwrap_or_else(nowhere),
                self.data.is_none(),
                Room::new(job::columns_at(room, room_records, self.payload)),
                Workers::new(block.start(), local_bytes, sorted_bytes),
                local,
                self.bits.clone(),
                n,
                crew,
            );
            let bits = classifier.of_bits(bits);
            let turned = means.scratch.turns();
            let (blocks, open) = measure.layout(threads, bits).blocks(turned);
            note_stage(&mut report, Stage::Histogram, start);
            let (mut buckets, varying) = job.scatter_first(self.source, &classifier, &blocks, open);
            report.constant_bits = self.bits.len() as u32 - varying.widen().count_ones();
            note_stage(&mut report, Stage::Scatter, start);
            // If there is none, nothing has been written but scratch.
            let made = match self.data.is_none() && job.goes_on(&buckets) {
                true => Some(means.scratch.take(measure.column_bytes())?),
                false => None,
            };
            if let Some(made) = &made {
                job.set_data(job::columns_at(made.start(), n, self.payload));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::SHARED_BYTES;

    /// As much as the records and what all workers share, however many these are and whatever their caches.
    #[test]
    fn memory_is_bounded_with_any_cache() {
        use Instructions::{Avx512, Portable};
        for (instructions, key, payload) in [
            (Avx512, 4, 0),
            (Avx512, 8, 0),
            (Avx512, 4, 4),
            (Avx512, 8, 4),
            (Avx512, 8, 8),
            (Avx512, 8, 16),
            (Portable, 4, 4),
            (Portable, 8, 8),
        ] {
            let shape = Shape::new(instructions, true, key, payload);
            for cache in [1 << 19, 1 << 20, 2 << 20, 4 << 20] {
                for n in (20..28).flat_map(|bits| [4 << bits, 5 << bits, 6 << bits, 7 << bits]) {
                    for threads in 1..=64 {
                        let measure = Measure {
                            n,
                            shape,
                            made: false,
                            cache,
                        };
                        let more = measure.workspace(threads) as i64 - (n * shape.record) as i64;
                        let what = format!("{n} of {key} + {payload}, {threads} threads, {cache}");
                        assert!(more <= SHARED_BYTES as i64, "{what}: {more}");
                    }
                }
            }
        }
    }
}
