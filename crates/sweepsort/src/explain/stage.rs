//! The arrays of a pass: what each is, in a table, and what went on inside.

use sweepsort_core::Digit;
use sweepsort_twin::{self as twin, Algorithm, Network};

use super::{Event, Pass, ScanSteps, Tracing};

/// An array of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name that the text gives the array.
    pub name: String,
    /// What the array is, in a few words.
    pub what: &'static str,
    /// How to read its values.
    pub role: Role,
    /// The values; for [`Role::Keys`], positions in the input.
    pub values: Vec<usize>,
    /// Where the array is a matrix: what a row stands for, and how many values it has.
    pub rows: Option<(Rows, usize)>,
    /// What went on inside the stage, where it has steps of its own.
    pub detail: Option<Detail>,
}

/// How to read the values of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A 0 or 1 for each key.
    Flags,
    /// The digit of each key.
    Digits,
    /// A number for each key that its place comes from: a rank, a scan.
    Ranks,
    /// How many keys there are of something.
    Counts,
    /// Where the keys of something begin.
    Offsets,
    /// An exclusive scan of an array that has an entry for each key; perhaps with the total at its
    /// end.
    Scan,
    /// One number.
    Number,
    /// Where each key goes.
    Places,
    /// The tiles' states over time: 0 empty, 1 partial, 2 inclusive.
    States,
    /// The keys themselves, by their positions in the input.
    Keys,
}

impl Role {
    /// The role's name, as the page of the tool knows it.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Flags => "flags",
            Role::Digits => "digits",
            Role::Ranks => "ranks",
            Role::Counts => "counts",
            Role::Offsets => "offsets",
            Role::Scan => "scan",
            Role::Number => "number",
            Role::Places => "places",
            Role::States => "states",
            Role::Keys => "keys",
        }
    }

    /// Whether there is one value for each key.
    pub const fn by_key(self) -> bool {
        matches!(
            self,
            Role::Flags | Role::Digits | Role::Ranks | Role::Scan | Role::Places | Role::Keys
        )
    }
}

/// What the rows of a matrix stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A block; a column is a digit.
    Block,
    /// A tile; a column is a digit.
    Tile,
    /// A digit; a column is a block.
    Digit,
    /// The digits of a pass; a column is a value of the digit.
    Pass,
    /// A bucket that was partitioned; a column is a digit.
    Bucket,
    /// A moment; a column is a tile.
    Moment,
}

impl Rows {
    /// The singular of what a row stands for.
    pub const fn name(self) -> &'static str {
        match self {
            Rows::Block => "block",
            Rows::Tile => "tile",
            Rows::Digit => "digit",
            Rows::Pass => "pass",
            Rows::Bucket => "bucket",
            Rows::Moment => "moment",
        }
    }
}

/// What went on inside a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A scan by trees, and the scan of their sums.
    Scan(ScanSteps),
    /// Tiles sorted by themselves.
    Tiles(Vec<Tile>),
    /// A step of a merging network.
    Network(Network),
    /// Look-back, turn by turn.
    LookBack(Vec<Event>),
}

/// A tile sorted by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its first index in the array.
    pub start: usize,
    /// One split for each bit.
    pub passes: Vec<Pass>,
}

/// How an array of so many digits and blocks lies.
#[derive(Clone, Copy)]
enum Lies {
    Flat,
    ByBlock,
    ByTile,
    ByDigit,
    ByPass,
    ByBucket,
    ByMoment,
}

/// What the stages are: algorithm, name (a trailing number left out), role, how it lies, and words.
type Entry = (Role, Lies, &'static str);

fn entry(algorithm: Algorithm, name: &str) -> Entry {
    use Algorithm as A;
    use Lies::*;
    use Role::*;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match (algorithm, name) {
        (A::CountingLsd, "histogram") => (Counts, Flat, "how many keys have each digit"),
        (A::CountingLsd, "offsets") => (
            Offsets,
            Flat,
            "where the keys of each digit begin: the sum of the counts before",
        ),
        (A::CountingLsd, "out") => (
            Keys,
            Flat,
            "in input order, each key to the next place of its digit",
        ),
        (A::CountingLsd, "offsets_after") => (
            Offsets,
            Flat,
            "where the next key of each digit would go: where the digit after it began",
        ),
        (A::Split, "b") => (Flags, Flat, "the bit of each key"),
        (A::Split, "e") => (Flags, Flat, "the inverse of b: 1 where the bit is 0"),
        (A::Split, "f") => (
            Scan,
            Flat,
            "exclusive scan of e: how many zeros stand before each key",
        ),
        (A::Split, "totalFalses") => (
            Number,
            Flat,
            "how many zeros there are: the last of e and the last of f together",
        ),
        (A::Split, "t") => (Ranks, Flat, "where a one would go: i − f + totalFalses"),
        (A::Split, "d") => (Places, Flat, "where each key goes: a zero to f, a one to t"),
        (A::FourWay, "compact_") => (Flags, Flat, "1 where the digit is this one"),
        (A::FourWay, "scan_") => (
            Scan,
            Flat,
            "exclusive scan: how many keys of this digit stand before; at the end, how many in all",
        ),
        (A::FourWay, "d") => (
            Places,
            Flat,
            "the scan of the key's own digit, behind all keys of smaller digits",
        ),
        (A::BlockHistogram, "H") => (
            Counts,
            ByBlock,
            "each block's histogram: how many of its keys have each digit",
        ),
        (A::BlockHistogram, "CT") => (
            Counts,
            ByDigit,
            "H transposed: all blocks' counts of digit 0, then of digit 1, and so on",
        ),
        (A::BlockHistogram, "scan") => (
            Offsets,
            ByDigit,
            "exclusive scan of CT: how many keys go before those of this digit and block",
        ),
        (A::BlockHistogram, "G") => (
            Offsets,
            ByBlock,
            "the scan, transposed back: where each block's keys of each digit go",
        ),
        (A::BlockHistogram, "sorted") => (
            Keys,
            Flat,
            "each block sorted by the digit, by splits in shared memory",
        ),
        (A::BlockHistogram, "L") => (
            Offsets,
            ByBlock,
            "exclusive scan of each block's histogram: where its digits begin in the sorted block",
        ),
        (A::BlockHistogram, "d") => (
            Places,
            Flat,
            "rank within digit and block (i − L), on from where those keys go (G)",
        ),
        (A::TileMerge, "tiles") => (
            Keys,
            Flat,
            "each tile sorted by itself, by splits, bit by bit",
        ),
        (A::TileMerge, "reversed") => (
            Keys,
            Flat,
            "of each two neighbouring runs the second turned round: up, then down",
        ),
        (A::TileMerge, "step_") => (
            Keys,
            Flat,
            "keys at this distance compared, the smaller to the left",
        ),
        (A::Coalesced, "digit") => (Digits, Flat, "the digit of each key"),
        (A::Coalesced, "before") => (
            Ranks,
            Flat,
            "how many keys of its digit (with one bit: how many ones) stand before it in its block",
        ),
        (A::Coalesced, "sizes") => (
            Counts,
            ByDigit,
            "how many keys of each digit each block has: the sizes of its local buckets",
        ),
        (A::Coalesced, "offsets") => (
            Offsets,
            ByDigit,
            "exclusive scan of the sizes: where each block's bucket of each digit goes",
        ),
        (A::Coalesced, "d") => (
            Places,
            Flat,
            "the offset of the key's digit and block, and its rank there",
        ),
        (A::Onesweep, "histograms") => (
            Counts,
            ByPass,
            "the histograms of all digits, from one read of the keys",
        ),
        (A::Onesweep, "counts") => (
            Counts,
            ByTile,
            "each tile's histogram, which it publishes as its partial state",
        ),
        (A::Onesweep, "states") => (
            States,
            ByMoment,
            "what the tiles have published, over time: nothing, their counts, the sum up to them",
        ),
        (A::Onesweep, "bases") => (
            Offsets,
            ByTile,
            "where each tile's keys of each digit go: the digit's begin and what stands in the tiles \
             before",
        ),
        (A::Onesweep, "d") => (
            Places,
            Flat,
            "the base of the key's tile and digit, and its rank there",
        ),
        (A::Hybrid, "histogram") => (
            Counts,
            ByBucket,
            "for each bucket that is too large: how many of its keys have each digit",
        ),
        (A::Hybrid, "offsets") => (
            Offsets,
            ByBucket,
            "where each digit's keys begin, within the bucket",
        ),
        (A::Hybrid, "d") => (
            Places,
            Flat,
            "the next place of its digit in its bucket; keys of small buckets stay",
        ),
        (A::Hybrid, "local") => (
            Keys,
            Flat,
            "each bucket sorted where it lies, by the bits that are left",
        ),
        (A::BlockHistogram, "B") | (_, "out") => (Keys, Flat, "each key written to its place"),
        _ => unreachable!("{} has no stage {name}", algorithm.name()),
    }
}

impl Tracing<'_> {
    /// A traced stage of a pass that began with these keys.
    pub(super) fn stage(
        &self,
        traced: twin::Stage,
        digit: Option<Digit>,
        before: &[usize],
    ) -> Stage {
        let (role, lies, what) = entry(self.algorithm, &traced.name);
        let radix = digit.map_or(1 << self.options.radix_bits, Digit::radix);
        let blocks = before.len().div_ceil(self.options.block);
        let rows = match lies {
            Lies::Flat => None,
            Lies::ByBlock => Some((Rows::Block, radix)),
            Lies::ByTile => Some((Rows::Tile, radix)),
            Lies::ByDigit => Some((Rows::Digit, blocks)),
            Lies::ByPass => Some((Rows::Pass, radix)),
            Lies::ByBucket => Some((Rows::Bucket, radix)),
            Lies::ByMoment => Some((Rows::Moment, blocks)),
        };
        let detail = traced.detail.map(|detail| match detail {
            twin::Detail::Scan(steps) => Detail::Scan(steps),
            twin::Detail::Network(network) => Detail::Network(network),
            twin::Detail::LookBack(events) => Detail::LookBack(events),
            twin::Detail::Tiles(tiles) => Detail::Tiles(self.tiles(tiles, before)),
        });
        Stage {
            what,
            role,
            values: match traced.values {
                twin::Values::Numbers(numbers) => numbers,
                twin::Values::Keys(keys) => keys.into_iter().map(|(_, p)| p).collect(),
            },
            rows,
            detail,
            name: traced.name,
        }
    }

    /// The splits within tiles of these keys.
    fn tiles(&self, tiles: Vec<(usize, Vec<twin::Pass>)>, before: &[usize]) -> Vec<Tile> {
        let within = Tracing {
            algorithm: Algorithm::Split,
            ..*self
        };
        let tile = |(start, passes): (usize, _)| {
            let end = before.len().min(start + self.options.block);
            Tile {
                start,
                passes: within.passes(passes, before[start..end].to_vec()),
            }
        };
        tiles.into_iter().map(tile).collect()
    }
}
