//! How a hybrid sort is divided, by the number of keys: one row for each key width.

use sweepsort_core::{Digit, Width};

use crate::figure::row;

/// The most bits that a cell is told by; `kernels/hybrid/task.cuh` has the same.
pub const MOST_CELL_BITS: u32 = 16;

/// Bits of the two digits that keys are partitioned by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellBits {
    /// Of the first.
    pub a: u32,
    /// Of the second; 0 for one partition.
    pub b: u32,
}

impl CellBits {
    /// How many cells there are.
    pub fn cells(self) -> usize {
        1 << (self.a + self.b)
    }

    /// How many partitions.
    pub fn partitions(self) -> u32 {
        if self.b == 0 { 1 } else { 2 }
    }

    /// The digits, the upper one first, where all bits of keys vary.
    pub fn digits(self, width: Width) -> Vec<Digit> {
        let shift = width.bits() - self.a;
        let digits = [(shift, self.a), (shift - self.b, self.b)];
        let digits = digits.map(|(shift, bits)| Digit { shift, bits });
        digits[..self.partitions() as usize].to_vec()
    }
}

/// What is decided by numbers of keys.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub width: Width,
    /// One block's threads compare up to so many keys, one each.
    pub tiny: usize,
    /// One block sorts up to so many keys.
    pub alone: usize,
    /// Up to so many find their places among all, if the result goes elsewhere.
    pub out_of_place: usize,
    /// Up to so many find their places among all; without a kernel for that, one block sorts what it has room for.
    pub ranked: usize,
    /// Up to so many keys are sorted in one launch of blocks that wait for each other, if these have room
    /// for them; one block is for so many keys at least, and so is a cell where they are evenly spread.
    pub together: usize,
    pub together_block: usize,
    pub together_cell: usize,
    /// Per cent of what a cell can have that its even share of keys comes to, at most, if bits suffice: there is room
    /// for what is uneven.
    pub together_full: usize,
    /// Up to so many keys are partitioned once, more of them twice.
    pub once: usize,
    /// Keys of a cell, at most, where they are evenly spread and bits suffice: partitioned once, twice.
    pub once_cell: usize,
    pub twice_cell: usize,
    /// The most bits of a digit that is the only one.
    pub most_bits: u32,
    /// Up to so many keys that are partitioned twice go by smaller tiles, if the width has a kernel for that.
    pub middle: usize,
    /// From so many keys on a sample gives buckets their rooms, instead of counting all keys.
    pub rooms: usize,
    /// From so many keys on, those that go by smaller tiles are not counted anew where a sample has misled: they are
    /// onesweep's then.
    pub counted_once: usize,
    /// From so many records on, or keys by some of their bits, and up to so many, each finds its place among all, if
    /// blocks have room for their codes: of 64 bits 25,000, of 128 bits 12,000. Fewer are compared by one block; more
    /// are onesweep's.
    pub few_from: usize,
    pub few: usize,
    /// Where keys find their places, up to so many are one run, of which each is compared with all: that takes no
    /// longer than waiting once more.
    pub one_run: usize,
    /// From so many keys on, these blocks have all their threads, fewer by half of them: there is more to read.
    pub full_blocks: usize,
}

row!(Tuning, "hybrid": tiny, alone, out_of_place, ranked, together, together_block, together_cell, together_full, once,
    once_cell, twice_cell, middle, rooms, counted_once, few_from, few, one_run, full_blocks);

/// Measured on an H200 (docs/algorithms/thresholds.md).
const NARROWEST: Tuning = Tuning {
    width: Width::W32,
    tiny: 128,
    // Of 3500 skewed ones take as long as CUB's, 14.5 µs.
    alone: 2816,
    out_of_place: 3400,
    ranked: 26_000,
    together: 1 << 21,
    together_block: 512,
    together_cell: 900,
    // A cell with twice its share has room: two of a float's exponents are often twice as common as others.
    together_full: 50,
    once: 1 << 23,
    once_cell: 4096,
    twice_cell: 4096,
    most_bits: 10,
    middle: 1 << 26,
    rooms: 1 << 23,
    counted_once: 10_000_000,
    few_from: 257,
    few: 32_768,
    one_run: 1200,
    full_blocks: 12_000,
};

const TABLE: [Tuning; 3] = [
    NARROWEST,
    Tuning {
        width: Width::W64,
        alone: 4096,
        out_of_place: 3072,
        ranked: 20_480,
        together_full: 70,
        most_bits: 11,
        rooms: 3 << 22,
        ..NARROWEST
    },
    Tuning {
        width: Width::W128,
        alone: 4096,
        out_of_place: 3072,
        ranked: 8192,
        together_full: 70,
        once: 1 << 21,
        once_cell: 2048,
        most_bits: 9,
        ..NARROWEST
    },
];

/// Bits that tell a record's place in its cell. So many at least are the window's, and a code's other
/// bits and the place fit a code; `kernels/hybrid/local_values.cuh` has the same.
const POSITION_BITS: u32 = 13;

/// From so many records on, values included, two passes and a local sort are ahead of a pass for each
/// byte.
pub const LEAST_RECORDS: usize = 1 << 23;

/// More records than this are for onesweep: so many would make cells that are too large for a block.
pub const MOST_RECORDS: usize = 1 << 28;

/// The digits for so many records, where cells are told by so many bits at most.
pub fn record_bits(n: usize, most: u32) -> CellBits {
    let both = bits(n, MOST_RECORDS >> MOST_CELL_BITS).clamp(POSITION_BITS.min(most), most);
    let a = both.div_ceil(2);
    CellBits { a, b: both - a }
}

/// From so many 32-bit keys on that make words with what travels with them, sorting these words is ahead
/// of a pass for each byte.
pub const LEAST_COMPOSITES: usize = 1 << 20;

/// The digits for so many words, where cells are told by so many bits at most; always two.
pub fn composite_bits(n: usize, most: u32) -> CellBits {
    // Each bucket has whole vectors of cells.
    let both = bits(n, MOST_RECORDS >> MOST_CELL_BITS).clamp(4, most);
    let a = both.div_ceil(2);
    CellBits { a, b: both - a }
}

/// Whether blocks that sort so many records have room for these cells, and for what chance adds to
/// evenly spread ones.
pub fn records_fit(n: usize, bits: CellBits, local_keys: usize) -> bool {
    bits.a + bits.b >= POSITION_BITS && cells_fit(n, bits, local_keys)
}

/// Whether blocks that sort so many keys of a cell have room for evenly spread ones, and for what chance adds.
pub fn cells_fit(n: usize, bits: CellBits, local_keys: usize) -> bool {
    12 * n.div_ceil(bits.cells()) <= 11 * local_keys
}

/// More keys than this are for onesweep: so many would make cells that are all too large for a block.
pub const MOST_KEYS: usize = (1 << 30) + (1 << 30) / 10;

impl Tuning {
    /// The row of a width: for narrower ones than there are, the narrowest.
    pub fn of(width: Width) -> Tuning {
        let row = TABLE.iter().find(|row| row.width == width);
        *row.unwrap_or(&NARROWEST)
    }

    /// For a device whose digit, if it is the only one, has so many values, and whose largest cells have so
    /// many keys: a cell fits that has twice its share.
    pub fn fitted(self, digits: usize, large: usize) -> Tuning {
        let most_bits = self.most_bits.min(digits.ilog2());
        Tuning {
            most_bits,
            once: self.once.min((large / 2) << most_bits),
            ..self
        }
    }

    /// The digit where blocks wait for each other, of so many bits at most.
    ///
    /// No more cells than need be: few long runs are scattered faster than many short ones.
    pub fn together_bits(&self, n: usize, most: u32, capacity: usize) -> CellBits {
        let few = bits(n, self.together_cell).clamp(1, most - 1);
        let fits = 100 * (n >> few) <= self.together_full * capacity;
        let a = if fits { few } else { few + 1 };
        CellBits { a, b: 0 }
    }

    /// The digits for so many keys, where cells are told by so many bits at most.
    pub fn cell_bits(&self, n: usize, most: u32) -> CellBits {
        if n <= self.once {
            let a = bits(n, self.once_cell).clamp(1, self.most_bits.min(most));
            return CellBits { a, b: 0 };
        }
        let both = bits(n, self.twice_cell).clamp(2, most);
        let a = both.div_ceil(2);
        CellBits { a, b: both - a }
    }
}

/// Bits that make cells of so many keys, or fewer.
fn bits(n: usize, cell: usize) -> u32 {
    n.div_ceil(cell).next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_keys_has_its_cells() {
        let mut numbers: Vec<usize> = (0..=33).map(|bits| 1usize << bits).collect();
        numbers.extend([0, 3, 1025, 16385, 5 << 19, MOST_KEYS, MOST_KEYS + 1]);
        for row in TABLE {
            for n in numbers
                .iter()
                .flat_map(|&n| [n.saturating_sub(1), n, n + 1])
            {
                let bits = row.cell_bits(n, MOST_CELL_BITS);
                let cells = bits.cells();
                assert!((2..=1 << MOST_CELL_BITS).contains(&cells), "{n}: {bits:?}");
                assert!(
                    (1..=row.most_bits).contains(&bits.a) && bits.b <= bits.a.min(8),
                    "{n}: {bits:?}"
                );
                assert_eq!(bits.partitions() == 1, n <= row.once, "{n}");
                let most = match bits.partitions() {
                    1 => row.once_cell,
                    _ => row.twice_cell,
                };
                let all_bits = bits.a == row.most_bits || bits.a + bits.b == MOST_CELL_BITS;
                assert!(n.div_ceil(cells) <= most || all_bits, "{n}: {bits:?}");
            }
        }
    }

    #[test]
    fn cells_are_as_in_the_text() {
        let row = Tuning::of(Width::W32);
        let of = |n| {
            let bits = row.cell_bits(n, MOST_CELL_BITS);
            (bits.a, bits.b)
        };
        assert_eq!(of(1 << 28), (8, 8));
        assert_eq!(of(1 << 24), (6, 6));
        assert_eq!(of((1 << 24) + 1), (7, 6));
        assert_eq!(of(1 << 20), (8, 0));
        assert_eq!(of(1 << 23), (10, 0));
        assert_eq!(of((1 << 23) + 1), (6, 6));
        assert_eq!(of(4096), (1, 0));
        assert_eq!(of(MOST_KEYS), (8, 8));
        let fits = |digits, large| {
            let row = row.fitted(digits, large);
            (row.most_bits, row.once)
        };
        // Of the H200, and of a device with less shared memory.
        assert_eq!(fits(1 << 10, 17_216), (10, 1 << 23));
        assert_eq!(fits(1 << 9, 9000), (9, 4500 << 9));
        let few = row.cell_bits(1 << 28, 13);
        assert_eq!((few.a, few.b), (7, 6));
        let together = |n| row.together_bits(n, 10, 4352).a;
        assert_eq!(
            [1025, 100_000, 1 << 20, 1_115_000, 1 << 21].map(together),
            [1, 7, 9, 10, 10]
        );
    }
}
