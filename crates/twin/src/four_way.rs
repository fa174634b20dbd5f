//! `four-way`: one or two bits a pass, with a flag array and a scan for each digit (2-way and 4-way
//! radix sort).
//!
//! ```text
//! for each digit of one or two bits:
//!     compact_k   1 where the digit is k
//!     scan_k      its exclusive Blelloch scan, with the total as entry n;
//!                 with one bit, scan_1[i] = i - scan_0[i] saves the second scan
//!     d           scan_k[i] + the totals of all digits below k
//!     out         out[d[i]] = in[i]
//! ```
//! Shapes: `compact_k` `n`, `scan_k` `n + 1`, for `k` in `0..2` or `0..4`.

use sweepsort_core::{Digit, Word};

use crate::scan::{self, block_scan, with_total};
use crate::{Detail, Options, Payload, Record, Trace, break_stability, digits, scatter};

/// Sorts records digit by digit.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    for digit in Digit::cover(options.bits.clone(), options.radix_bits) {
        trace.pass(Some(digit));
        let digits = digits(records, digit);
        let compacts = compact(&digits, digit.radix());
        for (k, compact) in compacts.iter().enumerate() {
            trace.numbers(format!("compact_{k}"), compact);
        }
        let scans = scans(&compacts, options.block);
        for (k, scan) in scans.iter().enumerate() {
            trace.numbers(format!("scan_{k}"), scan);
            if k == 0 || scans.len() > 2 {
                trace.detail(|| Detail::Scan(scan::steps(&compacts[k], options.block)));
            }
        }
        let mut d = places(&digits, &scans);
        if options.break_stability {
            break_stability(&mut d, &digits);
        }
        trace.numbers("d", &d);
        *records = scatter(records, &d);
        trace.records("out", records);
    }
}

/// For each digit `k`, where it stands.
pub fn compact(digits: &[usize], radix: usize) -> Vec<Vec<usize>> {
    (0..radix)
        .map(|k| {
            digits
                .iter()
                .map(|&digit| usize::from(digit == k))
                .collect()
        })
        .collect()
}

/// For each digit `k`, how often it stands before each position, and in all.
pub fn scans(compacts: &[Vec<usize>], block: usize) -> Vec<Vec<usize>> {
    match compacts {
        [zeros, _] => {
            let scan_0 = with_total(zeros, block);
            let scan_1 = scan_0
                .iter()
                .enumerate()
                .map(|(i, scan)| i - scan)
                .collect();
            vec![scan_0, scan_1]
        }
        _ => compacts
            .iter()
            .map(|compact| with_total(compact, block))
            .collect(),
    }
}

/// Where each record goes: behind all smaller digits, and behind its own kind before it.
pub fn places(digits: &[usize], scans: &[Vec<usize>]) -> Vec<usize> {
    let n = digits.len();
    let mut starts: Vec<usize> = scans.iter().map(|scan| scan[n]).collect();
    block_scan(&mut starts);
    digits
        .iter()
        .enumerate()
        .map(|(i, &k)| starts[k] + scans[k][i])
        .collect()
}
