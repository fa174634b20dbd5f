//! `counting-lsd`: LSD radix sort on one thread, by counting sort (CUDA LSD radix sort, the CPU half).
//!
//! ```text
//! for each digit, least significant first:
//!     histogram   how many records have each digit
//!     offsets     its exclusive prefix sum: where each digit's records begin
//!     scatter     in input order, each record to offsets[digit]++
//! ```
//! The scatter in input order makes each pass stable, and so the whole a sort. It is also why one
//! thread must do it: each place depends on all records before.
//!
//! Shapes: histogram and offsets `2^R` (or the base), out `n`.

use sweepsort_core::{Digit, Word};

use crate::{Options, Payload, Record, Trace};

/// A digit: `R` bits of the code, or a place of the code written in some base.
#[derive(Clone, Copy)]
enum Place {
    Bits(Digit),
    Base { base: u128, power: u128 },
}

impl Place {
    fn radix(self) -> usize {
        match self {
            Place::Bits(digit) => digit.radix(),
            Place::Base { base, .. } => base as usize,
        }
    }

    fn of<W: Word>(self, code: W) -> usize {
        match self {
            Place::Bits(digit) => digit.of(code),
            Place::Base { base, power } => (code.widen() / power % base) as usize,
        }
    }
}

/// Sorts records by the digits of `options`.
pub fn sort<W: Word, P: Payload>(
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) {
    let mut out = vec![Record::default(); records.len()];
    for place in places(records, options) {
        trace.pass(match place {
            Place::Bits(digit) => Some(digit),
            Place::Base { .. } => None,
        });
        let histogram = histogram(records, place);
        let mut offsets = offsets(&histogram);
        trace.numbers("histogram", &histogram);
        trace.numbers("offsets", &offsets);
        scatter(
            records,
            place,
            &mut offsets,
            &mut out,
            options.break_stability,
        );
        trace.records("out", &out);
        trace.numbers("offsets_after", &offsets);
        std::mem::swap(records, &mut out);
    }
}

/// The digits to sort by: those of the bit range, or as many places as the largest code has in the
/// base.
fn places<W: Word, P>(records: &[Record<W, P>], options: &Options) -> Vec<Place> {
    let Some(base) = options.base.map(u128::from) else {
        let digits = Digit::cover(options.bits.clone(), options.radix_bits);
        return digits.into_iter().map(Place::Bits).collect();
    };
    let largest = records
        .iter()
        .map(|record| record.code.widen())
        .max()
        .unwrap_or(0);
    let powers = std::iter::successors(Some(1u128), |power| power.checked_mul(base));
    powers
        .take_while(|&power| power == 1 || power <= largest)
        .map(|power| Place::Base { base, power })
        .collect()
}

/// How many records have each digit.
fn histogram<W: Word, P: Copy>(records: &[Record<W, P>], place: Place) -> Vec<usize> {
    let mut histogram = vec![0; place.radix()];
    for record in records {
        histogram[place.of(record.code)] += 1;
    }
    histogram
}

/// Where each digit's records begin.
fn offsets(histogram: &[usize]) -> Vec<usize> {
    let mut sum = 0;
    let mut offsets = Vec::with_capacity(histogram.len());
    for count in histogram {
        offsets.push(sum);
        sum += count;
    }
    offsets
}

/// Each record to the next place of its digit. `backwards` takes them from the end, which turns
/// equal digits round.
fn scatter<W: Word, P: Copy>(
    records: &[Record<W, P>],
    place: Place,
    offsets: &mut [usize],
    out: &mut [Record<W, P>],
    backwards: bool,
) {
    let mut put = |record: &Record<W, P>| {
        let next = &mut offsets[place.of(record.code)];
        out[*next] = *record;
        *next += 1;
    };
    if backwards {
        records.iter().rev().for_each(&mut put);
    } else {
        records.iter().for_each(&mut put);
    }
}
