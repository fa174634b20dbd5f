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
use crate::{Detail, Network, Options, Payload, Record, Trace, split};

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
    *records = split::sort_tiles(records, options, "tiles", trace);
    let mut run = options.block;
    while run < records.len() {
        trace.pass(None);
        *records = merge_pairs(records, run, options, trace);
        run *= 2;
    }
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
        let mut before = Vec::new();
        let out = bitonic::merge(first, second, |run| {
            if trace.recording() {
                let distance = run.len() >> steps.len();
                let network = match steps.len() {
                    0 => Network::default(),
                    _ => compared(&before, distance, merged.len()),
                };
                let array = run.iter().flatten().map(|ranked| ranked.record);
                steps.push((array.collect::<Vec<_>>(), network));
                before = run.to_vec();
            }
        });
        merged.extend(out.iter().map(|ranked| ranked.record));
        pairs_steps.push(steps);
    }
    record_steps(&pairs_steps, trace);
    merged
}

/// Which elements of a run a step compares, by their index in the whole array, where the run begins
/// at `start` and guards take no place.
fn compared<T: Copy + Ord>(run: &[Option<T>], distance: usize, start: usize) -> Network {
    let place = |i: usize| start + run[..i].iter().flatten().count();
    let pairs = bitonic::pairs(run.len(), distance)
        .filter(|&(i, j)| run[i].is_some() && run[j].is_some())
        .map(|(i, j)| (place(i), place(j), bitonic::greater(run[i], run[j])))
        .collect();
    Network { distance, pairs }
}

/// An array after a step, and what the step compared.
type Step<W, P> = (Vec<Record<W, P>>, Network);

/// Records the steps of all pairs of runs side by side. A shorter pair is done after fewer steps.
fn record_steps<W: Word, P: Payload>(pairs_steps: &[Vec<Step<W, P>>], trace: &mut Trace) {
    for step in 0..pairs_steps.iter().map(Vec::len).max().unwrap_or(0) {
        let last = |steps: &Vec<Step<W, P>>| step.min(steps.len() - 1);
        let side_by_side: Vec<_> = pairs_steps
            .iter()
            .flat_map(|steps| &steps[last(steps)].0)
            .copied()
            .collect();
        let Some(number) = step.checked_sub(1) else {
            trace.records("reversed", &side_by_side);
            continue;
        };
        trace.records(format!("step_{number}"), &side_by_side);
        trace.detail(|| {
            let networks = || pairs_steps.iter().filter_map(|steps| steps.get(step));
            Detail::Network(Network {
                distance: networks().map(|(_, n)| n.distance).max().unwrap_or(0),
                pairs: networks().flat_map(|(_, n)| n.pairs.clone()).collect(),
            })
        });
    }
}
