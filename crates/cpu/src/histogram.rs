//! The first read of a partition: how many keys have each digit, and which bits vary.

use std::ops::Range;

use sweepsort_core::{Digit, Word};

use crate::tuning::PARTITION_BITS;

/// Counters of one partition digit.
pub(crate) type Counts = [usize; 1 << PARTITION_BITS];

/// Records whose digits are found together, by vectors, before they are counted.
const STRIP: usize = 256;

/// A stretch of records that one worker reads, and what it saw.
pub(crate) struct Chunk<W> {
    /// Which records.
    pub(crate) range: Range<usize>,
    /// Whether the next two are known.
    pub(crate) counted: bool,
    /// Bits in which some code differs from the reference.
    pub(crate) varying: W,
    /// Number of records by digit; after the scan, where the chunk's records of each digit go.
    pub(crate) counts: Counts,
}

impl<W: Word> Chunk<W> {
    /// A chunk not read yet.
    pub(crate) fn new(range: Range<usize>) -> Self {
        Chunk {
            range,
            counted: false,
            varying: W::ZERO,
            counts: [0; _],
        }
    }

    /// Counts the digits of the codes, and finds the bits in which they differ from `reference`.
    pub(crate) fn count(&mut self, code: impl Fn(usize) -> W, digit: Digit, reference: W) {
        // Neighbours often have the same digit; four tables keep them from waiting for each other.
        let mut tables = [[0u32; 1 << PARTITION_BITS]; 4];
        let mut varying = W::ZERO;
        self.counts = [0; _];
        let mut digits = [0u8; STRIP];
        // A table's counter is 32 bits wide.
        for block in self.range.clone().step_by(1 << 30) {
            let end = self.range.end.min(block + (1 << 30));
            for start in (block..end).step_by(STRIP) {
                let digits = &mut digits[..STRIP.min(end - start)];
                for (at, slot) in digits.iter_mut().enumerate() {
                    let code = code(start + at);
                    varying = varying | (code ^ reference);
                    *slot = digit.of(code) as u8;
                }
                let mut quads = digits.chunks_exact(4);
                for quad in &mut quads {
                    for (table, &digit) in tables.iter_mut().zip(quad) {
                        table[usize::from(digit)] += 1;
                    }
                }
                for &digit in quads.remainder() {
                    tables[0][usize::from(digit)] += 1;
                }
            }
            for table in &mut tables {
                for (count, part) in self.counts.iter_mut().zip(table) {
                    *count += *part as usize;
                    *part = 0;
                }
            }
        }
        self.varying = varying;
        self.counted = true;
    }
}
