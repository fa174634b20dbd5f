//! The scatter of a partition: each key to the next free place of its bucket.
//!
//! A sequential worker has no ranks to compute: the place that the scan gave its chunk, and a step
//! further for each key, is base and rank in one.

use std::ops::Range;

use sweepsort_core::{Digit, Word};

use crate::columns::{Columns, Payload};
use crate::histogram::Counts;
use crate::source::Source;
use crate::tuning::PARTITION_BITS;

/// Moves the records of `range` to `places[digit]`, which move on.
///
/// # Safety
/// `from` has the records of `range`. `to` has room at every place that `places`, stepping once
/// for each record of its digit, arrives at, and nobody else uses those places or writes the range.
pub(crate) unsafe fn scatter<W: Word, P: Payload, S: Source<W, P>>(
    from: S,
    to: Columns<W, P>,
    range: Range<usize>,
    places: &mut Counts,
    digit: Digit,
) {
    for i in range {
        // SAFETY: the caller's promise.
        unsafe {
            let (code, record) = from.load(i);
            let place = &mut places[digit.of(code) % (1 << PARTITION_BITS)];
            to.store(*place, record);
            to.prefetch(*place);
            *place += 1;
        }
    }
}
