//! `split`: one bit a pass, by one scan over the whole array (Split & sort; the lecture's split).
//!
//! ```text
//! as many passes as the largest code has bits:
//!     b            the bit
//!     e            its inverse: 1 where the bit is false
//!     f            exclusive scan of e: how many falses stand before
//!     totalFalses  e[n-1] + f[n-1]
//!     t            i - f[i] + totalFalses: where a true goes
//!     d            b ? t : f
//!     out          out[d[i]] = in[i]
//! ```
//! Shapes: all arrays `n`, `totalFalses` one number.

use sweepsort_core::{Digit, Word};

use crate::scan::{self, array_scan};
use crate::{Detail, Options, Payload, Record, Trace, break_stability, scatter};

/// Sorts records bit by bit.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    for bit in options.bits.start..top_bit(records, options) {
        *records = split(records, bit, options, trace);
    }
}

/// A tile sorted by all of `options.bits`, as one block does it: key, `t` and `d` in registers, the
/// inverted bit and its scan in the tile's shared memory.
pub fn sort_tile<W: Word, P: Payload>(
    tile: &[Record<W, P>],
    options: &Options,
    trace: &mut Trace,
) -> Vec<Record<W, P>> {
    let in_one_block = Options {
        block: usize::MAX,
        break_stability: false,
        ..options.clone()
    };
    let mut tile = tile.to_vec();
    for bit in options.bits.clone() {
        tile = split(&tile, bit, &in_one_block, trace);
    }
    tile
}

/// Each tile of `options.block` records sorted by itself, by `options.bits`.
pub fn sort_tiles<W: Word, P: Payload>(
    records: &[Record<W, P>],
    options: &Options,
    name: &str,
    trace: &mut Trace,
) -> Vec<Record<W, P>> {
    let (mut sorted, mut passes) = (Vec::with_capacity(records.len()), Vec::new());
    for tile in records.chunks(options.block) {
        let mut within = trace.within();
        let start = sorted.len();
        sorted.extend(sort_tile(tile, options, &mut within));
        if trace.recording() {
            passes.push((start, within.into_passes()));
        }
    }
    trace.records(name, &sorted);
    trace.detail(|| Detail::Tiles(passes));
    sorted
}

/// One past the highest bit that any record has set within the range: a max-reduction, which saves
/// the passes above.
fn top_bit<W: Word, P>(records: &[Record<W, P>], options: &Options) -> u32 {
    let mask = W::mask(&options.bits);
    let largest = records
        .iter()
        .map(|record| record.code & mask)
        .max()
        .unwrap_or(W::ZERO);
    W::BITS - largest.leading_zeros()
}

/// One pass: the records whose bit is false, then those whose bit is true, each in input order.
pub fn split<W: Word, P: Payload>(
    records: &[Record<W, P>],
    bit: u32,
    options: &Options,
    trace: &mut Trace,
) -> Vec<Record<W, P>> {
    trace.pass(Some(Digit {
        shift: bit,
        bits: 1,
    }));
    let b = predicate(records, bit);
    trace.numbers("b", &b);
    let e = falses(&b);
    trace.numbers("e", &e);
    let mut f = e.clone();
    let total_falses = array_scan(&mut f, options.block);
    trace.numbers("f", &f);
    trace.detail(|| Detail::Scan(scan::steps(&e, options.block)));
    trace.numbers("totalFalses", &[total_falses]);
    let t = true_places(&f, total_falses);
    trace.numbers("t", &t);
    let mut d = places(&b, &f, &t);
    if options.break_stability {
        break_stability(&mut d, &b);
    }
    trace.numbers("d", &d);
    let out = scatter(records, &d);
    trace.records("out", &out);
    out
}

/// `b[i]`: the bit of record `i`.
pub fn predicate<W: Word, P>(records: &[Record<W, P>], bit: u32) -> Vec<usize> {
    crate::digits(
        records,
        Digit {
            shift: bit,
            bits: 1,
        },
    )
}

/// `e[i] = !b[i]`.
pub fn falses(b: &[usize]) -> Vec<usize> {
    b.iter().map(|b| b ^ 1).collect()
}

/// `t[i] = i - f[i] + totalFalses`.
pub fn true_places(f: &[usize], total_falses: usize) -> Vec<usize> {
    f.iter()
        .enumerate()
        .map(|(i, f)| i - f + total_falses)
        .collect()
}

/// `d[i] = b[i] ? t[i] : f[i]`.
pub fn places(b: &[usize], f: &[usize], t: &[usize]) -> Vec<usize> {
    b.iter()
        .zip(f.iter().zip(t))
        .map(|(&b, (&f, &t))| if b == 1 { t } else { f })
        .collect()
}
