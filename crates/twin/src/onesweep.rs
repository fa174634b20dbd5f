//! `onesweep`: one sweep over memory a pass (Adinets and Merrill, arXiv 2206.01784).
//!
//! ```text
//! histograms   of all digits at once, in one read; scanned, they say where each digit's bucket begins
//! for each digit, in one kernel, for each tile in the order of its ticket:
//!     counts   the tile's histogram, published as its partial state
//!     states   look-back: add the partial sums of the tiles before, nearest first, up to one whose
//!              inclusive sum is published; then publish the own inclusive sum
//!     bases    bucket begin + what stands before the tile
//!     d        bases[tile][digit] + rank within the tile
//!     out      out[d[i]] = in[i]
//! ```
//! The classics read all keys once for the counts, scan, and read them again to scatter. Look-back
//! makes the scan part of the scatter, so each pass reads and writes a key once.
//!
//! A tile waits only for tiles with earlier tickets, and those have begun; so somebody can always
//! go on. Here turns are given at random by `options.seed` to the tiles in flight; the result is
//! the same for every seed.
//!
//! Shapes, with `p` tiles and `m` digits: `histograms` `m × 2^R`; `counts` and `bases` `p × 2^R`;
//! `states` `events × p`, a row for each time some tile's state changed: 0 empty, 1 partial,
//! 2 inclusive; the rest `n`.

use sweepsort_core::{Digit, Word};

use crate::block_histogram::histograms;
use crate::scan::block_scan;
use crate::{Detail, Options, Payload, Record, Trace, break_stability, digits, scatter};

/// As many tiles are under way at a time.
const IN_FLIGHT: usize = 6;

/// What a tile has published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing yet.
    Empty = 0,
    /// Its own counts.
    Partial = 1,
    /// The counts of all tiles up to and with itself.
    Inclusive = 2,
}

/// Sorts records digit by digit.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    let cover = Digit::cover(options.bits.clone(), options.radix_bits);
    trace.pass(None);
    let all = all_histograms(records, &cover);
    trace.numbers("histograms", &all.concat());
    for (&digit, histogram) in cover.iter().zip(all) {
        trace.pass(Some(digit));
        let radix = digit.radix();
        let digits = digits(records, digit);
        let counts = histograms(&digits, options.block, radix);
        trace.numbers("counts", &counts);
        let mut events = Vec::new();
        let before = look_back(&counts, radix, options.seed, |tile, does, states| {
            if trace.recording() {
                let states = states.to_vec();
                events.push(Event { tile, does, states });
            }
        });
        trace.numbers("states", &history(&events));
        trace.detail(|| Detail::LookBack(events));
        let bases = bases(histogram, &before);
        trace.numbers("bases", &bases);
        let mut d = places(&digits, &bases, options.block, radix);
        if options.break_stability {
            break_stability(&mut d, &digits);
        }
        trace.numbers("d", &d);
        *records = scatter(records, &d);
        trace.records("out", records);
    }
}

/// The histograms of all digits, in one read of the records.
pub fn all_histograms<W: Word, P: Copy>(
    records: &[Record<W, P>],
    cover: &[Digit],
) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = cover.iter().map(|digit| vec![0; digit.radix()]).collect();
    for record in records {
        for (histogram, digit) in all.iter_mut().zip(cover) {
            histogram[digit.of(record.code)] += 1;
        }
    }
    all
}

/// What a tile does at its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Publishes its own counts.
    Partial,
    /// Finds that a tile has published nothing yet.
    Waits(usize),
    /// Adds what a tile has published.
    Reads(usize),
    /// Publishes the counts of all tiles up to and with itself.
    Inclusive,
}

/// One turn of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose turn it is.
    pub tile: usize,
    /// What it does.
    pub does: Does,
    /// The states of all tiles afterwards.
    pub states: Vec<State>,
}

/// The states of all tiles, a row for each time that one changed.
fn history(events: &[Event]) -> Vec<usize> {
    let changes = events
        .iter()
        .filter(|event| matches!(event.does, Does::Partial | Does::Inclusive));
    changes
        .flat_map(|event| event.states.iter().map(|&state| state as usize))
        .collect()
}

/// A tile that has its ticket and not yet its inclusive sum.
struct Tile {
    number: usize,
    /// The tile that it reads next, if its own counts are published; nearest first.
    reads: usize,
    /// The sum of the counts it has read.
    sum: Vec<usize>,
}

/// Decoupled look-back over the tiles' counts. Returns, for each tile and digit, how many records of
/// the digit stand in the tiles before. `turn` sees each turn: whose, what it did, and all states
/// afterwards.
pub fn look_back(
    counts: &[usize],
    radix: usize,
    seed: u64,
    mut turn: impl FnMut(usize, Does, &[State]),
) -> Vec<usize> {
    let p = counts.len() / radix;
    let row = |tile: usize| tile * radix..(tile + 1) * radix;
    let mut state = vec![State::Empty; p];
    // What a tile publishes: first its counts, then their sum over all tiles so far.
    let mut published = counts.to_vec();
    let mut before = vec![0; counts.len()];
    let mut random = seed ^ 0x9e37_79b9_7f4a_7c15;
    let (mut tickets, mut tiles) = (0..p, Vec::<Tile>::new());
    loop {
        while tiles.len() < IN_FLIGHT {
            let Some(number) = tickets.next() else { break };
            tiles.push(Tile {
                number,
                reads: number,
                sum: vec![0; radix],
            });
        }
        if tiles.is_empty() {
            return before;
        }
        let whose = (xorshift(&mut random) % tiles.len() as u64) as usize;
        let Tile { number, reads, sum } = &mut tiles[whose];
        let own = *number;
        let does = if state[own] == State::Empty && own > 0 {
            state[own] = State::Partial;
            Does::Partial
        } else if *reads == 0 {
            // All tiles before are in the sum.
            before[row(own)].copy_from_slice(sum);
            for (inclusive, sum) in published[row(own)].iter_mut().zip(sum) {
                *inclusive += *sum;
            }
            state[own] = State::Inclusive;
            tiles.swap_remove(whose);
            Does::Inclusive
        } else if state[*reads - 1] == State::Empty {
            // And it tries again at its next turn.
            Does::Waits(*reads - 1)
        } else {
            let from = *reads - 1;
            for (sum, count) in sum.iter_mut().zip(&published[row(from)]) {
                *sum += count;
            }
            *reads = match state[from] {
                State::Inclusive => 0,
                _ => from,
            };
            Does::Reads(from)
        };
        turn(own, does, &state);
    }
}

/// Where each tile's records of each digit go.
pub fn bases(mut histogram: Vec<usize>, before: &[usize]) -> Vec<usize> {
    let radix = histogram.len();
    block_scan(&mut histogram);
    before
        .iter()
        .enumerate()
        .map(|(i, before)| histogram[i % radix] + before)
        .collect()
}

/// Where each record goes: its tile's base for its digit, and on by its rank within the tile.
pub fn places(digits: &[usize], bases: &[usize], tile: usize, radix: usize) -> Vec<usize> {
    digits
        .chunks(tile)
        .zip(bases.chunks(radix))
        .flat_map(|(digits, bases)| {
            let mut next = bases.to_vec();
            digits.iter().map(move |&digit| {
                next[digit] += 1;
                next[digit] - 1
            })
        })
        .collect()
}

/// The next number of Marsaglia's xorshift generator.
fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the schedule, look-back is an exclusive sum over tiles, and states only grow.
    #[test]
    fn every_schedule_gives_the_same_sums() {
        let (radix, p) = (4, 23);
        let counts: Vec<usize> = (0..p * radix).map(|i| i * 13 % 7).collect();
        let sums: Vec<usize> = (0..p * radix)
            .map(|i| (i % radix..i).step_by(radix).map(|j| counts[j]).sum())
            .collect();
        for seed in 0..50 {
            let mut events = Vec::new();
            let before = look_back(&counts, radix, seed, |tile, does, states| {
                let states = states.to_vec();
                events.push(Event { tile, does, states });
            });
            assert_eq!(before, sums, "seed {seed}");
            let states = history(&events);
            let rows: Vec<_> = states.chunks(p).collect();
            assert_eq!(rows.last().unwrap(), &vec![State::Inclusive as usize; p]);
            for pair in rows.windows(2) {
                assert!(
                    pair[0].iter().zip(pair[1]).all(|(a, b)| a <= b),
                    "seed {seed}: {pair:?}"
                );
            }
        }
    }
}
