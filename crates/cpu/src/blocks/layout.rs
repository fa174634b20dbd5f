//! How many blocks a room has, how large they are, and who begins with which.

use std::ops::Range;

use super::{BATCH, Blocks, Open, Reader, Stock};
use crate::instructions::{fetches_to_write, reads_take_over, second_cache_bytes, stores_wait};
use crate::scatter::NextLine;
use crate::tuning::{
    BLOCK_BYTES, BLOCKS_PER_BUCKET, LOTS_EIGHTHS, NEAR_BUCKETS, REGION_WORKERS, SHARED_BYTES,
    Sharing,
};

/// What blocks are made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(super) n: usize,
    /// Bytes of a record.
    pub(super) record: usize,
    pub(super) workers: usize,
    pub(super) buckets: usize,
    /// Bytes for blocks that are not full.
    pub(super) spare_bytes: usize,
    /// How many workers are told apart by what they will sort.
    pub(super) readers: usize,
    /// See [`turned`](Self::turned).
    pub(super) turned: bool,
}

impl Layout {
    /// For `n` records of so many bytes.
    pub(crate) fn new(
        n: usize,
        record: usize,
        workers: usize,
        buckets: usize,
        sharing: Sharing,
    ) -> Self {
        Layout {
            n,
            record,
            workers,
            buckets,
            spare_bytes: SHARED_BYTES - sharing.local_bytes,
            readers: match reads_take_over() {
                true if workers <= REGION_WORKERS => workers,
                _ => 1,
            },
            turned: false,
        }
    }

    /// Bits that number the records of what is taken at once: a block, if there is room enough.
    fn wanted_bits(&self) -> u32 {
        let share = self.n.saturating_mul(self.record) / (self.buckets * BLOCKS_PER_BUCKET);
        self.bits_within(BLOCK_BYTES.min(share))
    }

    /// Bits that number the records within so many bytes.
    fn bits_within(&self, bytes: usize) -> u32 {
        (bytes / self.record).max(1).ilog2()
    }

    /// Records of a block.
    pub(super) fn records(&self) -> usize {
        let most = self.bits_within(self.spare_bytes / self.spare());
        1 << self.wanted_bits().min(most)
    }

    /// Blocks that are not full: each worker has one open for every bucket, the first ones begin, on
    /// average, in their middle, and some are taken and never opened.
    fn spare(&self) -> usize {
        self.workers * (self.buckets + self.buckets / 2 + self.readers * BATCH)
    }

    /// How many blocks there are.
    pub(crate) fn count(&self) -> usize {
        self.n / self.records() + self.spare()
    }

    /// How many regions they lie in.
    fn regions(&self) -> usize {
        self.readers * self.readers
    }

    /// How many blocks are a lot, and how many records can be moved to lots, whatever their buckets
    /// are. If that is most of them: in between all workers wait for the last one.
    pub(super) fn lots(&self) -> (usize, usize) {
        let most = self.wanted_bits() - self.records().ilog2();
        let mut lots = (1..=most).rev().map(|bits| {
            let lot = 1 << bits;
            let full = (self.count() / lot).saturating_sub(self.spare() + self.regions());
            (lot, full * lot * self.records())
        });
        lots.find(|&(_, moved)| moved >= self.n / 8 * LOTS_EIGHTHS)
            .unwrap_or((1, self.n))
    }

    /// How many records are moved before blocks are taken one by one.
    pub(crate) fn in_lots(&self) -> usize {
        self.lots().1
    }

    /// How many records a room needs.
    pub(crate) fn room(&self) -> usize {
        self.count().saturating_mul(self.records())
    }

    /// How lines are fetched: to be written, if the records lie in the workers' caches, as a rule
    /// in another's than who writes them.
    fn next_line(&self) -> NextLine {
        let in_caches = self.n * self.record <= self.workers * second_cache_bytes();
        match stores_wait() {
            false => NextLine::Far,
            true if self.buckets > NEAR_BUCKETS => NextLine::FarThenNear,
            true if self.workers > 1 && in_caches && fetches_to_write() => NextLine::ToWrite,
            true => NextLine::Near,
        }
    }

    /// The same for every second sort, in which regions [change hands](super).
    pub(crate) fn turned(self, turned: bool) -> Self {
        Layout { turned, ..self }
    }

    /// The region of blocks that some workers fill and another will sort.
    fn region(&self, worker: usize, reader: usize) -> usize {
        let writer = worker % self.readers;
        match self.turned {
            true => reader * self.readers + writer,
            false => writer * self.readers + reader,
        }
    }

    /// Where a region begins, and the one before it ends.
    fn bound(&self, region: usize) -> usize {
        let lot = self.lots().0;
        self.count() * region / self.regions() / lot * lot
    }

    /// The blocks behind all regions: fewer than a lot.
    pub(super) fn behind(&self) -> Range<usize> {
        self.bound(self.regions())..self.count()
    }

    /// Buckets that a worker sorts, as a rule.
    fn buckets_of(&self, reader: usize) -> Range<usize> {
        let bound = |reader: usize| (reader * self.buckets).div_ceil(self.readers);
        bound(reader)..bound(reader + 1)
    }

    /// What a worker begins with for each bucket, a block or a lot: its first block, and the place of
    /// the first record. If all began at the start of a block, they would share one set of a cache.
    pub(super) fn beginnings(&self, worker: usize) -> impl Iterator<Item = (usize, usize)> {
        let (lot, records) = (self.lots().0, self.records());
        let firsts = (0..self.readers).flat_map(move |reader| {
            // Behind those of others who begin in the same region.
            let buckets = self.buckets_of(reader).len();
            let before = worker / self.readers * buckets;
            let first = self.bound(self.region(worker, reader)) + before * lot;
            (first..first + buckets * lot).step_by(lot)
        });
        firsts.enumerate().map(move |(bucket, first)| {
            let into = bucket * lot * records / self.buckets;
            (first, first * records + into)
        })
    }

    /// The blocks.
    pub(crate) fn blocks(self) -> Blocks {
        let lot = self.lots().0;
        let mut regions: Vec<_> = (0..self.regions())
            .map(|region| Stock::new(self.bound(region)..self.bound(region + 1)))
            .collect();
        for worker in 0..self.workers {
            for reader in 0..self.readers {
                let begun = self.buckets_of(reader).len() * lot;
                *regions[self.region(worker, reader)].next.get_mut() += begun;
            }
        }
        Blocks {
            layout: self,
            records: self.records(),
            lot,
            regions,
            given_back: Vec::new(),
            next_line: self.next_line(),
        }
    }

    /// The blocks that a worker begins with.
    pub(crate) fn open<W>(&self, worker: usize) -> Open<W> {
        let places: Vec<_> = self.beginnings(worker).map(|(_, place)| place).collect();
        let readers = (0..self.readers).map(|reader| Reader {
            region: self.region(worker, reader),
            worker,
            free: 0..0,
            again: Default::default(),
        });
        Open {
            starts: places.as_slice().into(),
            places,
            followers: Vec::new(),
            readers: readers.collect(),
            run: None,
            ended: Vec::new(),
            counts: vec![0; self.buckets],
        }
    }
}
