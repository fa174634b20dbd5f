//! `tile-merge`: tiles sorted by themselves, then merged two by two (Parallel radix sort lecture,
//! after GPU Gems 3, chapter 39).
//!
//! ```text
//! tiles      each tile that fits shared memory, sorted by split, bit by bit
//! until one run is left, for each pair of neighbouring runs:
//!     reversed   the second turned round behind the first
//!     step_s     compare-exchange at distance 2^(levels-1-s)
//! ```
//! Merging compares (code, position), which makes the merge stable and no two elements equal.
//! Runs need not be full: guards greater than all stand where records are missing, and a run without
//! a partner waits for the next round.

use sweepsort_core::Word;

use crate::bitonic;
use crate::block_histogram::split_tile;
use crate::{Options, Payload, Record, Trace};

/// A record in a merge, compared by its code's bits and then by its position.
#[derive(Clone, Copy)]
struct Ranked<W, P> {
    bits: W,
    position: usize,
    record: Record<W, P>,
}

impl<W: Word, P> PartialEq for Ranked<W, P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<W: Word, P> Eq for Ranked<W, P> {}

impl<W: Word, P> PartialOrd for Ranked<W, P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<W: Word, P> Ord for Ranked<W, P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.bits, self.position).cmp(&(other.bits, other.position))
    }
}

/// Sorts records by tiles and merges.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    trace.pass(None);
    *records = sort_tiles(records, options);
    trace.records("tiles", records);
    let mut run = options.block;
    while run < records.len() {
        trace.pass(None);
        *records = merge_pairs(records, run, options, trace);
        run *= 2;
    }
}

/// Each tile sorted by itself.
pub fn sort_tiles<W: Word, P: Payload>(
    records: &[Record<W, P>],
    options: &Options,
) -> Vec<Record<W, P>> {
    records
        .chunks(options.block)
        .flat_map(|tile| split_tile(tile, options.bits.clone()))
        .collect()
}

/// Neighbouring runs of `run` records merged. The steps of all pairs happen at the same time on a
/// GPU, so they are recorded side by side.
pub fn merge_pairs<W: Word, P: Payload>(
    records: &[Record<W, P>],
    run: usize,
    options: &Options,
    trace: &mut Trace,
) -> Vec<Record<W, P>> {
    let mask = W::mask(&options.bits);
    let ranked = |(position, record): (usize, &Record<W, P>)| Ranked {
        bits: record.code & mask,
        position,
        record: *record,
    };
    let mut merged = Vec::with_capacity(records.len());
    let mut pairs_steps = Vec::new();
    for pair in records.chunks(2 * run) {
        let pair: Vec<_> = pair.iter().enumerate().map(ranked).collect();
        let (first, second) = pair.split_at(run.min(pair.len()));
        let mut steps = Vec::new();
        let out = bitonic::merge(first, second, |step| {
            if trace.recording() {
                steps.push(
                    step.iter()
                        .flatten()
                        .map(|ranked| ranked.record)
                        .collect::<Vec<_>>(),
                );
            }
        });
        merged.extend(out.iter().map(|ranked| ranked.record));
        pairs_steps.push(steps);
    }
    for step in 0..pairs_steps.iter().map(Vec::len).max().unwrap_or(0) {
        let name = match step.checked_sub(1) {
            None => "reversed".to_owned(),
            Some(number) => format!("step_{number}"),
        };
        // A shorter pair is done after fewer steps.
        let side_by_side: Vec<_> = pairs_steps
            .iter()
            .flat_map(|steps| &steps[step.min(steps.len() - 1)])
            .copied()
            .collect();
        trace.records(name, &side_by_side);
    }
    merged
}
