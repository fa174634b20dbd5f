//! `hybrid`: most significant digits first, then local sorts.
//!
//! ```text
//! while some bucket is larger than a block, for each such bucket, by its next digit from the top:
//!     histogram   how many of its records have each digit
//!     offsets     where each digit's records go, within the bucket
//!     d, out      each record to the next place of its digit
//! local: each bucket in shared memory
//!     bins by its next digit; a bin of more than 32 records by the digit after that
//!     odd-even transposition within a bin
//! ```
//! LSD radix sort moves every record once for each digit. Here a bucket that is small enough is
//! finished where it lies, whatever digits are left.
//!
//! Keys alone need no stable partition: on a GPU a record takes the next free place of its bucket
//! with an atomic. This twin takes records in order, so that it sorts pairs as well.
//!
//! Shapes: `histogram` and `offsets` `2^R` for each bucket partitioned in the level; the rest `n`.

use std::ops::Range;

use sweepsort_core::{Digit, Word};

use crate::block_histogram::histogram;
use crate::scan::block_scan;
use crate::{Options, Payload, Record, Trace, digits, scatter};

/// A bin of at most so many records is sorted by transposition.
const BIN: usize = 32;

/// Records that agree in all bits from `below` up.
#[derive(Clone)]
struct Bucket {
    range: Range<usize>,
    below: u32,
}

/// Sorts records by levels of partitions, then locally.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    let low = options.bits.start;
    let mut buckets = vec![Bucket {
        range: 0..records.len(),
        below: options.bits.end,
    }];
    let too_large = |bucket: &Bucket| bucket.range.len() > options.block && bucket.below > low;
    // Buckets that are still too large have been through every level, so they agree in `below`.
    while let Some(below) = buckets
        .iter()
        .find(|bucket| too_large(bucket))
        .map(|b| b.below)
    {
        let digit = top_digit(low..below, options.radix_bits);
        trace.pass(Some(digit));
        let (mut histograms, mut all_offsets) = (Vec::new(), Vec::new());
        let mut d: Vec<usize> = (0..records.len()).collect();
        let mut finer = Vec::new();
        for bucket in buckets {
            if !too_large(&bucket) {
                finer.push(bucket);
                continue;
            }
            let digits = digits(&records[bucket.range.clone()], digit);
            let histogram = histogram(&digits, digit.radix());
            let mut offsets = histogram.clone();
            block_scan(&mut offsets);
            places(
                &digits,
                &offsets,
                bucket.range.start,
                &mut d[bucket.range.clone()],
            );
            for (&count, &offset) in histogram
                .iter()
                .zip(&offsets)
                .filter(|(count, _)| **count > 0)
            {
                let start = bucket.range.start + offset;
                finer.push(Bucket {
                    range: start..start + count,
                    below: digit.shift,
                });
            }
            histograms.extend(histogram);
            all_offsets.extend(offsets);
        }
        buckets = finer;
        trace.numbers("histogram", &histograms);
        trace.numbers("offsets", &all_offsets);
        trace.numbers("d", &d);
        *records = scatter(records, &d);
        trace.records("out", records);
    }
    trace.pass(None);
    for bucket in buckets {
        local(
            &mut records[bucket.range],
            low..bucket.below,
            options.radix_bits,
        );
    }
    trace.records("local", records);
}

/// The highest digit of a range of bits.
fn top_digit(bits: Range<u32>, radix_bits: u32) -> Digit {
    let width = radix_bits.min(bits.end - bits.start);
    Digit {
        shift: bits.end - width,
        bits: width,
    }
}

/// Where each record of a bucket that begins at `start` goes.
pub fn places(digits: &[usize], offsets: &[usize], start: usize, d: &mut [usize]) {
    let mut next = offsets.to_vec();
    for (place, &digit) in d.iter_mut().zip(digits) {
        *place = start + next[digit];
        next[digit] += 1;
    }
}

/// A bucket sorted by some bits: into bins by their top digit, and within a bin by transposition.
pub fn local<W: Word, P: Payload>(bucket: &mut [Record<W, P>], bits: Range<u32>, radix_bits: u32) {
    if bits.is_empty() || bucket.len() < 2 {
        return;
    }
    if bucket.len() <= BIN {
        return transpose_neighbours(bucket, W::mask(&bits));
    }
    let digit = top_digit(bits.clone(), radix_bits);
    let digits = digits(bucket, digit);
    let histogram = histogram(&digits, digit.radix());
    let mut offsets = histogram.clone();
    block_scan(&mut offsets);
    let mut d = vec![0; bucket.len()];
    places(&digits, &offsets, 0, &mut d);
    bucket.copy_from_slice(&scatter(bucket, &d));
    for (offset, count) in offsets.into_iter().zip(histogram) {
        local(
            &mut bucket[offset..offset + count],
            bits.start..digit.shift,
            radix_bits,
        );
    }
}

/// Odd-even transposition: neighbours change places where they are out of order, in even pairs, then
/// in odd pairs, as often as there are records. Ties never change places.
fn transpose_neighbours<W: Word, P: Copy>(bin: &mut [Record<W, P>], mask: W) {
    for round in 0..bin.len() {
        for pair in bin[round % 2..].chunks_exact_mut(2) {
            if pair[0].code & mask > pair[1].code & mask {
                pair.swap(0, 1);
            }
        }
    }
}
