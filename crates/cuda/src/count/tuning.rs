//! How narrow keys are counted, by the number of keys: one row for each key width.

use sweepsort_core::Width;

/// What is decided by numbers of keys.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub width: Width,
    /// Up to so many keys are sorted by the one block of a onesweep, if it takes them.
    pub sorted: usize,
    /// Up to so many keys are few: with 8 bits one block counts and writes them, with 16 only the
    /// counters that they have are added up.
    pub few: usize,
    /// Keys that a block of `expand` writes, between the fewest and the most blocks a multiprocessor.
    pub written: usize,
    pub blocks: (usize, usize),
}

/// Figures of a prototype on an H200.
const TABLE: [Tuning; 2] = [
    Tuning {
        width: Width::W8,
        sorted: 1024,
        few: 1 << 15,
        written: 1 << 16,
        blocks: (2, 32),
    },
    Tuning {
        width: Width::W16,
        sorted: 8192,
        few: 1 << 21,
        written: 1 << 16,
        blocks: (2, 32),
    },
];

impl Tuning {
    /// The row of a width: for wider ones than there are, the widest.
    pub fn of(width: Width) -> Tuning {
        let row = TABLE.iter().find(|row| row.width == width);
        *row.unwrap_or(&TABLE[1])
    }

    /// Blocks of `expand`.
    pub fn expanders(&self, n: usize, multiprocessors: usize) -> u32 {
        let (least, most) = (
            self.blocks.0 * multiprocessors,
            self.blocks.1 * multiprocessors,
        );
        n.div_ceil(self.written).clamp(least, most) as u32
    }
}
