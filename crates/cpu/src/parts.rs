//! Many keys alone, sorted where they lie by two workers. (One sorts them as a single bucket, which is cut in parts, too.)
//!
//! ```text
//! cut        all keys, then each part, about a pivot (`local/cut.rs`), until each worker has some parts      data → data
//! finish     each part: cut on until bins take it, and sorted there (`local.rs`)                             data → data
//! ```
//!
//! The caller cuts all keys alone, so it waits for nobody: a helper takes of the parts what is there when it comes. Nothing is moved
//! to another place, and there is no other memory than that for local sorts.

use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use sweepsort_core::{Report, Result, Stage, Word};

use crate::columns::{Payload, Pieces};
use crate::hybrid::{Means, Sorting};
use crate::local::{Cut, Local};
use crate::pool::{Crew, Shared};
use crate::reading::Reading;
use crate::source::{Sink, Source};
use crate::tuning::{BUCKETS_PER_WORKER, CUT_MIN};

/// Keys that lie together.
#[derive(Clone)]
struct Part {
    keys: Range<usize>,
    /// Whether they are all the same.
    same: bool,
}

impl Part {
    /// Some keys, of which nothing is known.
    fn some(keys: Range<usize>) -> Self {
        Part { keys, same: false }
    }
}

/// Cuts all `n` keys, and then their parts, until each worker has some of them.
///
/// # Safety
/// The keys are there and can be cut, and nobody else uses them now.
unsafe fn cut_for<W: Word, R: Reading<W, After = R>, T: Sync>(
    crew: Crew<'_>,
    local: &Local<W, R, T>,
    keys: Shared<W>,
    n: usize,
) -> Vec<Part> {
    let mut parts = vec![Part::some(0..n)];
    for _ in 0..(crew.threads() * BUCKETS_PER_WORKER).ilog2() {
        let mut cut: Vec<_> = parts.into_iter().map(|part| vec![part]).collect();
        crew.for_each(&mut cut, |cut| {
            let Part { keys: all, same } = cut[0].clone();
            if same || all.len() < CUT_MIN {
                return;
            }
            // SAFETY: the caller's promise; parts do not overlap.
            let Cut { less, same } = unsafe { local.cut(keys.at(all.start), all.len()) };
            let (less, greater) = (all.start + less, all.start + less + same);
            let same = Part {
                keys: less..greater,
                same: true,
            };
            *cut = vec![
                Part::some(all.start..less),
                same,
                Part::some(greater..all.end),
            ];
        });
        parts = cut.into_iter().flatten().collect();
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
    /// As [`run`](Self::run). The input [is cut](crate::local::Shape::is_cut_by_two), and lies in memory.
    pub(crate) unsafe fn run_cut(
        &self,
        mut report: Report,
        crew: Crew<'_>,
        means: &Means,
    ) -> Result<Report> {
        let (n, threads) = (self.n, crew.threads());
        let data = self.data.expect("keys that lie in memory");
        report.threads = threads;
        let start = Instant::now();
        // SAFETY: all keys are there, and are ours. Parts do not overlap, and a worker's memory is its own.
        unsafe {
            if self.in_order(&mut report, crew, means)? {
                return Ok(report);
            }
            let own = self.measure(means).one_bytes();
            let block = means.scratch.take(threads * own)?;
            let memory = Shared(block.start());
            let local = self.local(means, own);
            if !S::STAYS {
                crew.for_ranges(n, |range| self.code(means, data, range, false));
            }
            let mut parts = cut_for(crew, &local, Shared(data.keys_start()), n);
            let parted = start.elapsed();
            report.stages.push((Stage::Scatter, parted));
            let passes = AtomicU32::new(0);
            crew.for_each(&mut parts, |Part { keys, same }| {
                if !*same {
                    let (part, all) = (data.from(keys.start), 0..keys.len());
                    let records = Pieces::new(part, slice::from_ref(&all));
                    let own = memory.at(crew.worker() * own);
                    passes.fetch_max(local.sort(records, part, own, 0), Ordering::Relaxed);
                }
                self.code(means, data, keys.clone(), true);
            });
            report.stages.push((Stage::Local, start.elapsed() - parted));
            report.passes_run = passes.into_inner();
            report.bytes_moved =
                u64::from(report.passes_run) * 2 * (n * self.record_bytes()) as u64;
            report.workspace_bytes = threads * own;
            means.scratch.give(block);
        }
        Ok(report)
    }
}
