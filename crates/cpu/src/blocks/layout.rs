//! How many blocks a room has, how large they are, and who begins with which.

use std::sync::atomic::AtomicUsize;

use crossbeam_utils::CachePadded;

use super::{BATCH, Blocks, Open, Reader, Region, number, reader_of};
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
    fn records(&self) -> usize {
        let most = self.bits_within(self.spare_bytes / self.spare());
        1 << self.wanted_bits().min(most)
    }

    /// Blocks that are not full: each worker has one open for every bucket, the first ones begin, on
    /// average, in their middle, and some are taken and never opened.
    fn spare(&self) -> usize {
        self.workers * (self.buckets + self.buckets / 2 + self.readers * BATCH)
    }

    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
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

    /// The blocks, and the open ones of each worker. `turned` in every second sort.
    pub(crate) fn blocks<W>(self, turned: bool) -> (Blocks, Vec<CachePadded<Open<W>>>) {
        let Layout {
            workers,
            buckets,
            readers,
            ..
        } = self;
        let (all, records) = (self.count(), self.records());
        let (lot, _) = self.lots();
        let count = self.regions();
        let bound = |region| all * region / count / lot * lot;
        let mut regions: Vec<Region> = (0..count)
            .map(|region| Region {
                next: bound(region).into(),
                end: bound(region + 1),
            })
            .collect();
        let mut given_back: Vec<u32> = (bound(count)..all).map(number).collect();
        let mut open = |worker: usize| {
            let writer = worker % readers;
            let region = |reader| match turned {
                true => reader * readers + writer,
                false => writer * readers + reader,
            };
            let mut place = |bucket: usize| {
                let next = &mut regions[region(reader_of(bucket, buckets, readers))].next;
                let next = next.get_mut();
                let block = *next;
                *next += lot;
                // If all began at the start of a block, they would share one set of a cache.
                let place = block * records + bucket * lot * records / buckets;
                given_back.extend((block..place / records).map(number));
                place
            };
            let places: Vec<usize> = (0..buckets).map(&mut place).collect();
            let reader = |reader| Reader {
                region: region(reader),
                free: 0..0,
                again: 0..0,
            };
            CachePadded::new(Open {
                starts: places.clone(),
                places,
                followers: Vec::new(),
                readers: (0..readers).map(reader).collect(),
                runs: Vec::new(),
                counts: vec![0; buckets],
            })
        };
        let open = (0..workers).map(&mut open).collect();
        let blocks = Blocks {
            records,
            lot,
            regions: regions.into_iter().map(CachePadded::new).collect(),
            given_back,
            taken_again: AtomicUsize::new(0),
            all,
            next_line: self.next_line(),
        };
        (blocks, open)
    }
}
