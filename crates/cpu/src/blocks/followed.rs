//! Where the records of each bucket went: notes of which block followed which, brought together.

use std::iter;
use std::ops::Range;

use crossbeam_utils::CachePadded;
use sweepsort_core::Word;

use super::Open;
use crate::fetch::prefetch;
use crate::pool::Crew;

/// So many runs before pieces of one are asked for, they are fetched: another worker has written them.
const RUNS_LATER: usize = 8;

/// Records of a stretch of the input, moved by one worker in order.
pub(super) struct Run<W> {
    pub(super) range: Range<usize>,
    /// Bits in which some code differs from the reference.
    pub(super) varying: W,
    /// Where those of each bucket begin and end, from block to block.
    pub(super) starts: Vec<usize>,
    pub(super) ends: Vec<usize>,
    /// The blocks between, as they were taken, and then bucket by bucket.
    pub(super) followers: Vec<Follower>,
    /// The first follower of each bucket, then.
    firsts: Vec<u32>,
}

/// A block that followed a full one, both of a bucket.
#[derive(Clone, Copy, Default)]
pub(super) struct Follower {
    pub(super) bucket: u16,
    /// Which block it is, and which one lies behind the full one.
    pub(super) block: u32,
    pub(super) full_end: u32,
}

/// Where all runs went, in the order of the input.
pub(crate) struct Runs<W> {
    block_records: usize,
    runs: Vec<Run<W>>,
    /// What each worker counted.
    counts: Vec<Vec<usize>>,
}

impl<W: Word> Run<W> {
    /// One that begins with a stretch.
    pub(super) fn begin(range: Range<usize>) -> Self {
        Run {
            range,
            varying: W::ZERO,
            starts: Vec::new(),
            ends: Vec::new(),
            followers: Vec::new(),
            firsts: Vec::new(),
        }
    }

    /// Brings the followers of each bucket together.
    fn group(&mut self) {
        let mut firsts = vec![0; self.starts.len() + 1];
        for follower in &self.followers {
            firsts[usize::from(follower.bucket) + 1] += 1;
        }
        let mut next = 0;
        for first in &mut firsts {
            next += *first;
            *first = next;
        }
        let mut places = firsts.clone();
        let mut grouped = vec![Follower::default(); self.followers.len()];
        for &follower in &self.followers {
            let place = &mut places[usize::from(follower.bucket)];
            grouped[*place as usize] = follower;
            *place += 1;
        }
        (self.followers, self.firsts) = (grouped, firsts);
    }

    /// The followers of a bucket.
    fn followers(&self, bucket: usize) -> &[Follower] {
        &self.followers[self.firsts[bucket] as usize..self.firsts[bucket + 1] as usize]
    }

    /// Says that it will be asked where a bucket begins and ends.
    fn fetch_ends(&self, bucket: usize) {
        prefetch((&raw const self.starts[bucket]).cast());
        prefetch((&raw const self.ends[bucket]).cast());
        prefetch((&raw const self.firsts[bucket]).cast());
    }

    /// The same of what lies between.
    fn fetch_followers(&self, bucket: usize) {
        prefetch(self.followers(bucket).as_ptr().cast());
    }
}

impl<W: Word> Runs<W> {
    /// What workers have moved to blocks of so many records.
    pub(crate) fn new(
        workers: Vec<CachePadded<Open<W>>>,
        block_records: usize,
        crew: Crew<'_>,
    ) -> Self {
        let (mut runs, mut counts) = (Vec::new(), Vec::new());
        for worker in workers {
            let mut worker = worker.into_inner();
            worker.cut();
            runs.append(&mut worker.runs);
            counts.push(worker.counts);
        }
        runs.sort_unstable_by_key(|run| run.range.start);
        crew.for_each(&mut runs, Run::group);
        Runs {
            block_records,
            runs,
            counts,
        }
    }

    /// Bits in which some code differs from the reference.
    pub(crate) fn varying(&self) -> W {
        let varying = |varying, run: &Run<W>| varying | run.varying;
        self.runs.iter().fold(W::ZERO, varying)
    }

    /// How many records of a bucket were counted, and not moved.
    pub(crate) fn counted(&self, bucket: usize) -> usize {
        self.counts.iter().map(|counts| counts[bucket]).sum()
    }

    /// The pieces of a bucket.
    pub(crate) fn pieces(&self, bucket: usize) -> impl Iterator<Item = Range<usize>> {
        self.runs.iter().enumerate().flat_map(move |(i, run)| {
            if let Some(later) = self.runs.get(i + 2 * RUNS_LATER) {
                later.fetch_ends(bucket);
            }
            if let Some(later) = self.runs.get(i + RUNS_LATER) {
                later.fetch_followers(bucket);
            }
            let followers = run.followers(bucket).iter();
            let start = |block: u32| block as usize * self.block_records;
            let next = followers.clone().map(move |follower| start(follower.block));
            let full = followers.map(move |follower| start(follower.full_end));
            let starts = iter::once(run.starts[bucket]).chain(next);
            let ends = full.chain(iter::once(run.ends[bucket]));
            let pieces = starts.zip(ends).map(|(start, end)| start..end);
            pieces.filter(|piece| !piece.is_empty())
        })
    }
}
