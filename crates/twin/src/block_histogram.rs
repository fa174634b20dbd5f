//! `block-histogram`: `R` bits a pass, a histogram for each block (CUDA LSD radix sort, after Harada
//! and Howes).
//!
//! ```text
//! for each digit of R bits:
//!     H        each block's histogram, block after block
//!     CT       a copy of H, transposed: all blocks' counts of digit 0, then of digit 1, …
//!     scan     exclusive prefix sum of CT, by blocks and the sums of blocks
//!     G        scan, transposed back: where block b's records of digit k go
//!     sorted   each block sorted by the digit: R passes of split within the block
//!     L        exclusive prefix sum of each block's histogram: where its digits begin in it
//!     d        i - L[b][k] + G[b][k], with i counted within the sorted block
//!     B        B[d] = sorted record
//! ```
//! `L` and `G` depend on `H` alone, so a GPU makes them at the same time, on two streams.
//!
//! Shapes, with `p` blocks: `H`, `G`, `L` are `p × 2^R`; `CT` and `scan` `2^R × p`; the rest `n`.

use sweepsort_core::{Digit, Word};

use crate::matrix::transpose;
use crate::scan::{array_scan, block_scan};
use crate::{Options, Payload, Record, Trace, break_stability, digits, scatter, split};

/// Sorts records digit by digit.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    let block = options.block;
    for digit in Digit::cover(options.bits.clone(), options.radix_bits) {
        trace.pass(Some(digit));
        let radix = digit.radix();
        let h = histograms(&digits(records, digit), block, radix);
        trace.numbers("H", &h);
        let ct = transpose(&h, radix);
        trace.numbers("CT", &ct);
        let mut scan = ct;
        array_scan(&mut scan, block);
        trace.numbers("scan", &scan);
        let g = transpose(&scan, scan.len() / radix);
        trace.numbers("G", &g);
        let sorted = sort_blocks(records, digit, block);
        trace.records("sorted", &sorted);
        let l = local_offsets(&h, radix);
        trace.numbers("L", &l);
        let digits = digits(&sorted, digit);
        let mut d = places(&digits, &l, &g, block, radix);
        if options.break_stability {
            break_stability(&mut d, &digits);
        }
        trace.numbers("d", &d);
        *records = scatter(&sorted, &d);
        trace.records("B", records);
    }
}

/// `H`: each block's histogram. On a GPU a block counts in shared memory, zeroed first, with
/// atomics, and then copies its histogram out as a whole.
pub fn histograms(digits: &[usize], block: usize, radix: usize) -> Vec<usize> {
    digits
        .chunks(block)
        .flat_map(|block| {
            let mut shared = vec![0; radix];
            for &digit in block {
                shared[digit] += 1;
            }
            shared
        })
        .collect()
}

/// `L`: each block's histogram, scanned.
pub fn local_offsets(h: &[usize], radix: usize) -> Vec<usize> {
    let mut l = h.to_vec();
    for histogram in l.chunks_mut(radix) {
        block_scan(histogram);
    }
    l
}

/// Each block sorted by the digit, stably: a binary LSD sort in shared memory, one split for each
/// of the digit's bits.
pub fn sort_blocks<W: Word, P: Payload>(
    records: &[Record<W, P>],
    digit: Digit,
    block: usize,
) -> Vec<Record<W, P>> {
    records
        .chunks(block)
        .flat_map(|tile| split_tile(tile, digit.shift..digit.shift + digit.bits))
        .collect()
}

/// A tile sorted by some bits with the split primitive, as one block does it: key, `t` and `d` in
/// registers, the inverted bit and its scan in the tile's shared memory.
pub fn split_tile<W: Word, P: Payload>(
    tile: &[Record<W, P>],
    bits: std::ops::Range<u32>,
) -> Vec<Record<W, P>> {
    let mut tile = tile.to_vec();
    for bit in bits {
        let b = split::predicate(&tile, bit);
        let mut f = split::falses(&b);
        let total_falses = block_scan(&mut f);
        let t = split::true_places(&f, total_falses);
        tile = scatter(&tile, &split::places(&b, &f, &t));
    }
    tile
}

/// `d`: for record `i` of a sorted block, its rank within its digit and block, and on from where
/// the block's records of that digit go.
pub fn places(
    digits: &[usize],
    l: &[usize],
    g: &[usize],
    block: usize,
    radix: usize,
) -> Vec<usize> {
    digits
        .chunks(block)
        .enumerate()
        .flat_map(|(b, digits)| {
            let row = b * radix;
            digits
                .iter()
                .enumerate()
                .map(move |(i, &k)| i - l[row + k] + g[row + k])
        })
        .collect()
}
