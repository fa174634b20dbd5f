//! The first partition: each record to its bucket's block, without a count before.
//!
//! ```text
//! classify   a strip of records: their buckets                     source → a strip of bytes
//! scatter    each record to the next place of its bucket's block   source → room
//! ```
//!
//! The room is a row of blocks. A worker has one open for every bucket, and takes another when one is
//! full. What the records of one bucket fill, block by block, are its pieces. A worker moves stretches of
//! the input; as long as one follows the other, they are one run, and pieces go on. The pieces of all
//! runs, one run after the other, are the bucket, in the order of the input.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use sweepsort_core::Word;

use crate::classify::{Classifier, STRIP, Strip};
use crate::columns::{Columns, Payload};
use crate::instructions::Instructions;
use crate::source::Source;
use crate::tuning::{ALL_BLOCKS_BYTES, BLOCK_BYTES, PARTITION_BITS};

/// The most buckets of a partition.
const BUCKETS: usize = 1 << PARTITION_BITS;

/// The blocks of a room.
pub(crate) struct Blocks {
    /// Records of a block, a power of two.
    records: usize,
    /// The first block that nobody has.
    next: AtomicUsize,
}

/// A worker's open blocks, and what it has moved.
pub(crate) struct Open<W> {
    /// Where the next record of each bucket goes, and where its next piece begins.
    places: [usize; BUCKETS],
    starts: [usize; BUCKETS],
    runs: Vec<Run<W>>,
}

/// Records of a stretch of the input, moved by one worker in order.
pub(crate) struct Run<W> {
    pub(crate) range: Range<usize>,
    /// Bits in which some code differs from the reference.
    pub(crate) varying: W,
    /// Where they went: buckets and pieces of them, those of each bucket in order.
    pub(crate) pieces: Vec<(u8, Range<usize>)>,
}

impl<W: Word> Open<W> {
    /// The runs of all workers, in the order of the input.
    pub(crate) fn runs(workers: Vec<Self>) -> Vec<Run<W>> {
        let mut runs: Vec<_> = workers
            .into_iter()
            .flat_map(|mut worker| {
                worker.cut();
                worker.runs
            })
            .collect();
        runs.sort_unstable_by_key(|run| run.range.start);
        runs
    }

    /// The run that goes on with a stretch, or begins with it.
    fn run(&mut self, range: &Range<usize>) {
        match self.runs.last_mut() {
            Some(run) if run.range.end == range.start => run.range.end = range.end,
            _ => {
                self.cut();
                self.runs.push(Run {
                    range: range.clone(),
                    varying: W::ZERO,
                    pieces: Vec::new(),
                });
            }
        }
    }

    /// Ends the last run: what lies in the open blocks is its last pieces.
    fn cut(&mut self) {
        let Some(run) = self.runs.last_mut() else {
            return;
        };
        for (bucket, (start, &place)) in self.starts.iter_mut().zip(&self.places).enumerate() {
            if *start < place {
                run.pieces.push((bucket as u8, *start..place));
                *start = place;
            }
        }
    }
}

impl Blocks {
    /// Records of a block.
    fn size(record: usize, workers: usize, buckets: usize) -> usize {
        let most = ALL_BLOCKS_BYTES / Self::spare(workers, buckets);
        1 << (BLOCK_BYTES.min(most) / record).max(1).ilog2()
    }

    /// Blocks that are not full: each worker has one open for every bucket, and the first ones begin, on
    /// average, in their middle.
    fn spare(workers: usize, buckets: usize) -> usize {
        workers * (buckets + buckets / 2)
    }

    /// How many records a room for `n` needs.
    pub(crate) fn room(n: usize, record: usize, workers: usize, buckets: usize) -> usize {
        let size = Self::size(record, workers, buckets);
        (n / size + Self::spare(workers, buckets)) * size
    }

    /// The blocks of such a room, and the open ones of each worker.
    pub(crate) fn new<W>(record: usize, workers: usize, buckets: usize) -> (Self, Vec<Open<W>>) {
        let records = Self::size(record, workers, buckets);
        let open = |worker: usize| {
            let places = std::array::from_fn(|bucket| match bucket {
                // If all began at the start of a block, they would share one set of a cache.
                bucket if bucket < buckets => {
                    (worker * buckets + bucket) * records + bucket * records / buckets
                }
                _ => 0,
            });
            Open {
                places,
                starts: places,
                runs: Vec::new(),
            }
        };
        let blocks = Blocks {
            records,
            next: AtomicUsize::new(workers * buckets),
        };
        (blocks, (0..workers).map(open).collect())
    }

    /// The start of another block.
    fn take(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed) * self.records
    }
}

/// How the first partition goes.
pub(crate) struct Scatter<'a, W, P, S> {
    pub(crate) source: S,
    pub(crate) room: Columns<W, P>,
    pub(crate) blocks: &'a Blocks,
    pub(crate) classifier: &'a Classifier<W>,
    /// The bits of the codes that count.
    pub(crate) mask: W,
    /// Any code.
    pub(crate) reference: W,
    /// Whether records that tie are the same, bit by bit.
    pub(crate) alike: bool,
    pub(crate) instructions: Instructions,
}

impl<W: Word, P: Payload, S: Source<W, P>> Scatter<'_, W, P, S> {
    /// Moves the records of a stretch.
    ///
    /// # Safety
    /// The source has the records, and nobody writes them now. The machine has the instructions. The room
    /// is one for all records and all workers, of whom nobody else has these open blocks.
    pub(crate) unsafe fn run(&self, stretch: Range<usize>, open: &mut Open<W>) {
        open.run(&stretch);
        let Open {
            places,
            starts,
            runs,
        } = open;
        let Some(run) = runs.last_mut() else {
            return;
        };
        let mut buckets = [0u8; STRIP];
        let (source, room) = (self.source, self.room);
        let full = self.blocks.records - 1;
        for start in stretch.clone().step_by(STRIP) {
            let range = start..stretch.end.min(start + STRIP);
            let strip = Strip {
                source,
                range: range.clone(),
                mask: self.mask,
                classifier: self.classifier,
                reference: self.reference,
                buckets: &mut buckets,
                payload: PhantomData,
            };
            // SAFETY: the caller's promise. A place is within an open block, and a full block is
            // followed by another before the next record.
            unsafe {
                let varying = strip.classify(self.instructions);
                run.varying = run.varying | varying;
                for (i, &bucket) in range.zip(&buckets) {
                    let (_, record) = source.load(i);
                    let place = &mut places[usize::from(bucket)];
                    let at = *place;
                    room.store(at, record);
                    room.prefetch(at);
                    *place = at + 1;
                    if (at + 1) & full == 0 {
                        let start = &mut starts[usize::from(bucket)];
                        run.pieces.push((bucket, *start..at + 1));
                        // Where all records are the same, one block of them is all there is to be read.
                        *start = match self.alike && self.classifier.is_one_value(bucket.into()) {
                            true => at & !full,
                            false => self.blocks.take(),
                        };
                        *place = *start;
                    }
                }
            }
        }
    }
}
