//! Where the records of each bucket went: notes of which block followed which, brought together.

use std::iter;
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use sweepsort_core::Word;

use super::{Layout, Open};
use crate::fetch::prefetch;
use crate::pool::Shared;

/// Records of a stretch of the input, moved by one worker in order.
pub(super) struct Run<W> {
    pub(super) range: Range<usize>,
    /// Bits in which some code differs from the reference.
    pub(super) varying: W,
    /// How many records lie together, those of a block or a lot: a power of two.
    together: usize,
    /// Where those of each bucket begin and end, from block to block.
    starts: Arc<[usize]>,
    ends: Arc<[usize]>,
    /// Where it goes on in between, bucket by bucket, and the first of these of each bucket.
    followers: Vec<u32>,
    firsts: Vec<u32>,
}

/// A block that followed a full one of its bucket.
#[derive(Clone, Copy)]
pub(super) struct Follower {
    pub(super) bucket: u16,
    pub(super) block: u32,
}

/// Where all runs went, in the order of the input.
pub(crate) struct Runs<W> {
    layout: Layout,
    runs: Vec<Run<W>>,
    /// What each worker counted.
    counts: Vec<Vec<usize>>,
    /// Room for the pieces of all buckets, and how much of it is taken. (As many lists as there are
    /// buckets, each freed by another worker than has made it, would take long to free.)
    pieces: Vec<Range<usize>>,
    start: Shared<Range<usize>>,
    taken: AtomicUsize,
}

impl<W: Word> Run<W> {
    /// One that begins with a stretch.
    pub(super) fn begin(range: Range<usize>, together: usize) -> Self {
        Run {
            range,
            varying: W::ZERO,
            together,
            starts: Arc::default(),
            ends: Arc::default(),
            followers: Vec::new(),
            firsts: Vec::new(),
        }
    }

    /// Whether it goes on with a stretch that begins there.
    pub(super) fn goes_on(&self, start: usize, together: usize) -> bool {
        self.range.end == start && self.together == together
    }

    /// Notes how it ends. Brings the followers of each bucket together, which are in the order of time.
    pub(super) fn end(&mut self, starts: Arc<[usize]>, ends: Arc<[usize]>, followers: &[Follower]) {
        // Counted two behind their bucket; then one behind it is where its next one goes.
        let mut firsts = vec![0; starts.len() + 2];
        for follower in followers {
            firsts[usize::from(follower.bucket) + 2] += 1;
        }
        let mut before = 0;
        for first in &mut firsts {
            before += *first;
            *first = before;
        }
        self.followers = vec![0; followers.len()];
        for follower in followers {
            let next = &mut firsts[usize::from(follower.bucket) + 1];
            self.followers[*next as usize] = follower.block;
            *next += 1;
        }
        (self.starts, self.ends, self.firsts) = (starts, ends, firsts);
    }

    /// The followers of a bucket.
    fn followers(&self, bucket: usize) -> &[u32] {
        &self.followers[self.firsts[bucket] as usize..self.firsts[bucket + 1] as usize]
    }

    /// Says that the pieces of a bucket will be asked for, and returns how many there are at most.
    fn fetch(&self, bucket: usize) -> usize {
        let followers = self.followers(bucket);
        prefetch((&raw const self.starts[bucket]).cast());
        prefetch((&raw const self.ends[bucket]).cast());
        prefetch(followers.as_ptr().cast());
        followers.len() + 1
    }

    /// The pieces of a bucket, some of which may be empty. Each but the last is full up to the end of
    /// those that lie together.
    fn pieces(&self, bucket: usize, block_records: usize) -> impl Iterator<Item = Range<usize>> {
        let next = move |&block: &u32| block as usize * block_records;
        let mut followers = self.followers(bucket).iter().map(next);
        let (mut start, end) = (Some(self.starts[bucket]), self.ends[bucket]);
        iter::from_fn(move || {
            let own = start?;
            start = followers.next();
            Some(match start {
                Some(_) => own..(own | (self.together - 1)) + 1,
                None => own..end,
            })
        })
    }
}

impl<W: Word> Runs<W> {
    /// What workers have moved.
    pub(crate) fn new(workers: Vec<CachePadded<Option<Open<W>>>>, layout: Layout) -> Self {
        let (mut runs, mut counts) = (Vec::new(), Vec::new());
        for mut open in workers.into_iter().filter_map(CachePadded::into_inner) {
            open.end_run();
            runs.append(&mut open.ended);
            counts.push(open.counts);
        }
        runs.sort_unstable_by_key(|run| run.range.start);
        let most = |run: &Run<W>| run.starts.len() + run.followers.len();
        let mut pieces = Vec::with_capacity(runs.iter().map(most).sum());
        Runs {
            layout,
            runs,
            counts,
            start: Shared(pieces.as_mut_ptr()),
            pieces,
            taken: AtomicUsize::new(0),
        }
    }

    /// What the blocks are.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
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

    /// How many there are of a bucket that was written to one block again and again. Its records were
    /// counted each time the block was full, and the bucket went back to the block's start.
    pub(crate) fn overwritten(&self, bucket: usize) -> usize {
        let moved = |run: &Run<W>| run.ends[bucket].wrapping_sub(run.starts[bucket]);
        let counted = self.counted(bucket);
        self.runs
            .iter()
            .map(moved)
            .fold(counted, usize::wrapping_add)
    }

    /// The pieces of a bucket, which are asked for once.
    pub(crate) fn pieces(&self, bucket: usize) -> &[Range<usize>] {
        // Others have written most of this: all misses of the caches are waited for at once.
        let most = self.runs.iter().map(|run| run.fetch(bucket)).sum();
        let first = self.taken.fetch_add(most, Ordering::Relaxed);
        assert!(first + most <= self.pieces.capacity(), "asked for once");
        let block_records = self.layout.records();
        let all = self.runs.iter();
        let all = all.flat_map(|run| run.pieces(bucket, block_records));
        let mut n = 0;
        // SAFETY: there is room for the pieces, which nobody else has.
        unsafe {
            for piece in all.filter(|piece| !piece.is_empty()) {
                self.start.at(first + n).write(piece);
                n += 1;
            }
            slice::from_raw_parts(self.start.at(first), n)
        }
    }
}
