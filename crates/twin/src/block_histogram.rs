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
use crate::scan::{self, array_scan, block_scan};
use crate::{Detail, Options, Payload, Record, Trace, break_stability, digits, scatter, split};

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
        let mut scan = ct.clone();
        array_scan(&mut scan, block);
        trace.numbers("scan", &scan);
        trace.detail(|| Detail::Scan(scan::steps(&ct, block)));
        let g = transpose(&scan, scan.len() / radix);
        trace.numbers("G", &g);
        // In each block a binary LSD sort in shared memory, one split for each of the digit's bits.
        let by_digit = Options {
            bits: digit.range(),
            ..options.clone()
        };
        let sorted = split::sort_tiles(records, &by_digit, "sorted", trace);
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

/// `H`: each block's histogram.
pub fn histograms(digits: &[usize], block: usize, radix: usize) -> Vec<usize> {
    digits
        .chunks(block)
        .flat_map(|block| histogram(block, radix))
        .collect()
}

/// How many records of a block have each digit. On a GPU the block counts in shared memory, zeroed
/// first, with atomics, and then copies its histogram out as a whole.
pub fn histogram(digits: &[usize], radix: usize) -> Vec<usize> {
    let mut shared = vec![0; radix];
    for &digit in digits {
        shared[digit] += 1;
    }
    shared
}

/// `L`: each block's histogram, scanned.
pub fn local_offsets(h: &[usize], radix: usize) -> Vec<usize> {
    let mut l = h.to_vec();
    for histogram in l.chunks_mut(radix) {
        block_scan(histogram);
    }
    l
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
