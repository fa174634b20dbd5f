//! `coalesced`: block-local buckets first, so that neighbours are written together (Parallel sorting
//! notes).
//!
//! ```text
//! for each digit of R bits:
//!     digit     each record's digit
//!     before    what its rank comes from: how many records of its digit stand before it in the
//!               block; for R = 1, as the text has it, how many ones do
//!     sizes     how many records of each digit each block has: its local buckets
//!     offsets   exclusive scan of the sizes, digit by digit over the blocks
//!     d         offsets[k][b] + rank, which is before; for R = 1 and a 0, i in the block - before
//!     out       each block, bucket by bucket in shared memory, to out[d]
//! ```
//! The text has one block and `R = 1`: `d = i - ones before` for a 0, and
//! `d = n - ones in all + ones before` for a 1. With one block, `offsets` are 0 and
//! `n - ones in all`.
//!
//! Shapes, with `p` blocks: `sizes` and `offsets` `2^R × p`; the rest `n`.

use sweepsort_core::{Digit, Word};

use crate::scan::{self, array_scan};
use crate::{Detail, Options, Payload, Record, Trace, break_stability, digits, scatter};

/// Sorts records digit by digit.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    let block = options.block;
    for digit in Digit::cover(options.bits.clone(), options.radix_bits) {
        trace.pass(Some(digit));
        let digits = digits(records, digit);
        trace.numbers("digit", &digits);
        let (before, sizes) = local_buckets(&digits, block, digit.radix());
        trace.numbers("before", &before);
        trace.numbers("sizes", &sizes);
        let mut offsets = sizes.clone();
        array_scan(&mut offsets, block);
        trace.numbers("offsets", &offsets);
        trace.detail(|| Detail::Scan(scan::steps(&sizes, block)));
        let mut d = places(&digits, &before, &offsets, block, digit.radix());
        if options.break_stability {
            break_stability(&mut d, &digits);
        }
        trace.numbers("d", &d);
        *records = scatter(records, &d);
        trace.records("out", records);
    }
}

/// What stands before each record in its block: ones, if digits have one bit, and otherwise records
/// of its own digit. And the sizes of the blocks' buckets, digit by digit.
pub fn local_buckets(digits: &[usize], block: usize, radix: usize) -> (Vec<usize>, Vec<usize>) {
    let blocks = digits.len().div_ceil(block);
    let mut sizes = vec![0; radix * blocks];
    let mut before = Vec::with_capacity(digits.len());
    for (b, part) in digits.chunks(block).enumerate() {
        for &digit in part {
            let counted = if radix == 2 { 1 } else { digit };
            before.push(sizes[counted * blocks + b]);
            sizes[digit * blocks + b] += 1;
        }
    }
    (before, sizes)
}

/// Where each record goes.
pub fn places(
    digits: &[usize],
    before: &[usize],
    offsets: &[usize],
    block: usize,
    radix: usize,
) -> Vec<usize> {
    let blocks = digits.len().div_ceil(block);
    let place = |i: usize| {
        let rank = match (radix, digits[i]) {
            (2, 0) => i % block - before[i],
            _ => before[i],
        };
        offsets[digits[i] * blocks + i / block] + rank
    };
    (0..digits.len()).map(place).collect()
}
