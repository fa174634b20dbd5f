//! How narrow keys are counted, by the number of keys: one row for each key width.

use sweepsort_core::Width;

use crate::figure::row;

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
    /// Keys of a share of the result, at least and at most, between which there are as many shares as
    /// blocks that write at the same time.
    pub least_share: usize,
    pub most_share: usize,
    /// For fewer keys than this each group of cells has so many shares, wherever the keys are.
    pub grouped: usize,
    pub parts: usize,
}

row!(Tuning, "count": sorted, alone, read, least_share, most_share, grouped, parts);

/// How the writing of the result is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// How many shares there are.
    pub all: usize,
    /// Those of each group of cells; 0 where shares have equal work, whatever the groups.
    pub parts: usize,
}

/// Measured on an H200 (docs/algorithms/thresholds.md).
const TABLE: [Tuning; 2] = [
    Tuning {
        width: Width::W8,
        sorted: 1024,
        alone: 50_000,
        read: 1 << 15,
        least_share: 1 << 12,
        most_share: 1 << 16,
        grouped: 0,
        parts: 0,
    },
    Tuning {
        width: Width::W16,
        sorted: 1 << 12,
        alone: 0,
        read: 1 << 15,
        least_share: 1 << 8,
        most_share: 1 << 15,
        grouped: 1 << 16,
        parts: 2,
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

    /// Shares of the result, where so many blocks write at the same time, of so many groups of cells.
    pub fn shares(&self, n: usize, writers: usize, groups: usize) -> Shares {
        if n < self.grouped {
            let (all, parts) = (self.parts * groups, self.parts);
            return Shares { all, parts };
        }
        let keys = n.div_ceil(writers.max(1));
        let keys = keys.max(self.least_share).min(self.most_share);
        let all = n.div_ceil(keys).max(1);
        // All shares are those of the only group.
        let parts = if groups == 1 { all } else { 0 };
        Shares { all, parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_keys_has_its_shares() {
        for (row, groups) in TABLE.into_iter().zip([1, 256]) {
            let mut readers = 0;
            for n in (0..=34).map(|bits| 1 << bits) {
                let now = row.readers(n, 132);
                assert!((readers.max(1)..=132).contains(&now), "{n}: {now}");
                readers = now;
                let shares = row.shares(n, 792, groups);
                assert!((1..1 << 20).contains(&shares.all), "{n}: {shares:?}");
                assert!(n.div_ceil(shares.all) <= row.most_share, "{n}: {shares:?}");
                let parts = [0, shares.all / groups];
                assert!(parts.contains(&shares.parts), "{n}: {shares:?}");
            }
            assert_eq!(row.readers(0, 132), 1);
        }
        let all = |n| TABLE.map(|row| row.shares(n, 792, 256).all);
        assert_eq!(all(1 << 24), [792, 792]);
        assert_eq!(all(1 << 28), [4096, 8192]);
        assert_eq!(
            TABLE[1].shares(10_000, 792, 256),
            Shares { all: 512, parts: 2 }
        );
    }
}
