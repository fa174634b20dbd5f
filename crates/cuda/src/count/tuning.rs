//! How narrow keys are counted, by the number of keys: one row for each key width.

use sweepsort_core::Width;

/// What is decided by numbers of keys.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub width: Width,
    /// Up to so many keys are sorted by the one block of a onesweep, if it takes them.
    pub sorted: usize,
    /// Up to so many keys are counted and written by one block, of 8 bits.
    pub alone: usize,
    /// Keys that make it worth while to have one more block read.
    pub read: usize,
    /// Keys of a share of the result, at least and at most, between which there are so many shares for
    /// each multiprocessor.
    pub share: (usize, usize),
    pub shares: usize,
}

/// Figures of prototypes on an H200.
const TABLE: [Tuning; 2] = [
    Tuning {
        width: Width::W8,
        sorted: 1024,
        alone: 1 << 14,
        read: 1 << 14,
        share: (1 << 12, 1 << 16),
        shares: 6,
    },
    Tuning {
        width: Width::W16,
        sorted: 1 << 12,
        alone: 0,
        read: 1 << 14,
        share: (1 << 12, 1 << 16),
        shares: 6,
    },
];

impl Tuning {
    /// The row of a width: for wider ones than there are, the widest.
    pub fn of(width: Width) -> Tuning {
        let row = TABLE.iter().find(|row| row.width == width);
        *row.unwrap_or(&TABLE[1])
    }

    /// Blocks that read, of so many at most.
    pub fn readers(&self, n: usize, most: usize) -> usize {
        n.div_ceil(self.read).clamp(1, most.max(1))
    }

    /// Shares of the result.
    pub fn shares(&self, n: usize, multiprocessors: usize) -> usize {
        let (least, most) = self.share;
        let few = n.div_ceil(least).min(self.shares * multiprocessors);
        few.max(n.div_ceil(most)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_keys_has_its_shares() {
        for row in TABLE {
            let mut before = (0, 0);
            for n in (0..=40).map(|bits| 1 << bits) {
                let now = (row.readers(n, 132), row.shares(n, 132));
                assert!(now >= before && now.0 <= 132 && now.1 >= 1, "{n}: {now:?}");
                assert!(n.div_ceil(now.1) <= row.share.1, "{n}: {now:?}");
                before = now;
            }
            assert_eq!((row.readers(0, 132), row.shares(0, 132)), (1, 1));
            assert_eq!(row.shares(1 << 24, 132), 792);
            assert_eq!(row.shares(1 << 28, 132), 4096);
        }
    }
}
