//! Many keys alone, sorted where they lie by one worker or two.
//!
//! ```text
//! cut        all keys, then each part, about a pivot (`local/cut.rs`), until each worker has some parts      data → data
//! finish     each part: cut on until bins take it, and sorted there (`local.rs`)                             data → data
//! ```
//!
//! A worker alone finishes all keys at once. Of two, each cuts half of all keys, if these are many, and then a part or two. Few keys the
//! caller cuts, and if nobody has come by then it finishes the parts. Nothing is moved to another place, and no other memory is used than
//! that for local sorts.

use std::ops::Range;
use std::time::Instant;

use sweepsort_core::{Coder, Report, Result, Stage, Word};

use crate::columns::Payload;
use crate::hybrid::{Means, Sorting, note_stage};
use crate::local::{Cut, Local};
use crate::pool::{Crew, Shared};
use crate::reading::Reading;
use crate::sink::Sink;
use crate::source::Source;
use crate::tuning::{BUCKETS_PER_WORKER, CUT_MIN, CUT_SHARED_BYTES};

/// Keys that lie together, or places for them.
struct Part<W> {
    keys: Range<usize>,
    /// What all of them are; not yet written then.
    same: Option<W>,
}

/// Cuts all `n` keys, and leaves the codes that a coder makes of them; and then their parts, until each worker has some of them. One whom
/// nobody has joined cuts each part of few keys when it is its turn.
///
/// # Safety
/// The keys are there and can be cut, and nobody else uses them now.
unsafe fn cut_for<W: Word, R: Reading<W, After = R>, T: Sync>(
    crew: Crew<'_>,
    local: &Local<W, R, T>,
    keys: Shared<W>,
    n: usize,
    coder: Option<&Coder<W>>,
) -> Vec<Part<W>> {
    let some = |keys| Part { keys, same: None };
    let cut = |part: Range<usize>, coder, crew| {
        // SAFETY: the caller's promise; parts do not overlap.
        let Cut { same, pivot } =
            unsafe { local.cut(keys.at(part.start), part.len(), coder, crew) };
        let (less, greater) = (part.start + same.start, part.start + same.end);
        let same = Part {
            keys: less..greater,
            same: Some(pivot),
        };
        vec![some(part.start..less), same, some(greater..part.end)]
    };
    let mut parts = cut(0..n, coder, crew);
    for _ in 1..(crew.threads() * BUCKETS_PER_WORKER).ilog2() {
        // Who comes later has half of few; of many, it would hold too much if the system took its core away.
        if !crew.is_joined() && n * size_of::<W>() < CUT_SHARED_BYTES {
            break;
        }
        let mut parted: Vec<_> = parts.into_iter().map(|part| vec![part]).collect();
        crew.for_each(&mut parted, |parts| {
            if let [part] = &parts[..]
                && part.same.is_none()
                && part.keys.len() >= CUT_MIN
            {
                *parts = cut(part.keys.clone(), None, Crew::alone());
            }
        });
        parts = parted.into_iter().flatten().collect();
        parts.retain(|part| !part.keys.is_empty());
    }
    parts
}

impl<W: Word, P: Payload, S: Source<W, P>, T: Sink<W, P>> Sorting<W, P, S, T> {
    /// Sorts keys alone where they lie.
    ///
    /// # Errors
    /// [`OutOfMemory`](sweepsort_core::Error::OutOfMemory); the keys are untouched then.
    ///
    /// # Safety
    /// As [`run`](Self::run). The input lies in memory, and [is cut](crate::local::Shape::is_cut) by so many workers.
    pub(crate) unsafe fn run_cut(
        &self,
        mut report: Report,
        crew: Crew<'_>,
        means: &Means,
    ) -> Result<Report> {
        report.threads = crew.threads();
        let start = Instant::now();
        // SAFETY: the caller's promise, and there is the memory.
        unsafe {
            if self.in_order(&mut report, crew, means)? {
                return Ok(report);
            }
            report.workspace_bytes = self.measure(means).cut_bytes(crew.threads());
            let block = means.scratch.take(report.workspace_bytes)?;
            self.cut(&mut report, crew, means, block.start(), start);
            means.scratch.give(block);
        }
        Ok(report)
    }

    /// The same of keys that are in no order, of a sort that began at `start`.
    ///
    /// # Safety
    /// As [`run`](Self::run). The input lies in memory, and can be cut by one worker or two; the memory has
    /// [so many bytes](crate::hybrid::Measure::cut_bytes), and starts on a line.
    pub(crate) unsafe fn cut(
        &self,
        report: &mut Report,
        crew: Crew<'_>,
        means: &Means,
        memory: *mut u8,
        start: Instant,
    ) {
        let n = self.n;
        let data = self.data.expect("keys that lie in memory");
        let own = self.measure(means).cut_bytes(1);
        let (local, memory) = (self.local(means, own), Shared(memory));
        let coder = self.source.coder();
        // SAFETY: all keys are there, and are ours. Parts do not overlap, and a worker's memory is its own.
        unsafe {
            let done = |part: Range<usize>| {
                local.take_last_step(part.start, data.from(part.start), part.len());
            };
            if crew.threads() == 1 {
                local.sort_parts(data, 0..n, memory.at(0), coder.as_ref(), &done);
            } else {
                let keys = Shared(data.keys_start());
                let mut parts = cut_for(crew, &local, keys, n, coder.as_ref());
                note_stage(report, Stage::Scatter, start);
                crew.for_each(&mut parts, |Part { keys, same }| match *same {
                    Some(key) => data.fill_keys(keys.clone(), key, done),
                    None => {
                        let own = memory.at(crew.worker() * own);
                        local.sort_parts(data, keys.clone(), own, None, &done);
                    }
                });
            }
        }
        note_stage(report, Stage::Local, start);
        report.passes_run = 1;
        report.bytes_moved = 2 * (n * self.record_bytes()) as u64;
    }
}
