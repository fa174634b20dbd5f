//! Which algorithm, and its parameters.

use std::ops::Range;

use sweepsort_core::{Error, Result, Word};

macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident $name:literal $radix_bits:literal $block:literal $idea:literal,)*) => {
        /// The algorithms that have a twin.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Algorithm {
            $($(#[$doc])* $variant,)*
        }

        impl Algorithm {
            /// All of them, in the order in which a learner should meet them.
            pub const ALL: &[Algorithm] = &[$(Algorithm::$variant),*];

            /// Their names, in the same order.
            pub const NAMES: &[&str] = &[$($name),*];

            /// The name, as the tool spells it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Algorithm::$variant => $name),*
                }
            }

            /// The algorithm of a name.
            pub fn named(name: &str) -> Option<Algorithm> {
                Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
            }

            /// The idea in one line.
            pub const fn idea(self) -> &'static str {
                match self {
                    $(Algorithm::$variant => $idea),*
                }
            }

            /// Bits of a digit, and records of a block or tile, unless the caller says otherwise.
            pub const fn defaults(self) -> (u32, usize) {
                match self {
                    $(Algorithm::$variant => ($radix_bits, $block)),*
                }
            }
        }
    };
}
algorithms! {
    /// Counting sort, digit by digit, on one thread.
    CountingLsd "counting-lsd" 8 1
        "counting sort, digit by digit from the least significant, on one thread",
    /// One bit a pass, by a scan over the whole array.
    Split "split" 1 256
        "one bit a pass: zeros before ones, by one scan over the whole array",
    /// Two bits a pass (or one), by a flag array and a scan for each digit.
    FourWay "four-way" 2 256
        "one or two bits a pass, with a flag array and a scan for each digit",
    /// A histogram for each block, scans of their transpose.
    BlockHistogram "block-histogram" 4 256
        "a histogram for each block, scanned digit by digit over the blocks",
    /// Tiles sorted by themselves, then merged bitonically.
    TileMerge "tile-merge" 1 256
        "tiles sorted by themselves, then merged two by two with a bitonic network",
    /// Block-local buckets, so that writes are coalesced.
    Coalesced "coalesced" 4 256
        "local buckets in each block first, so that neighbours are written together",
    /// One kernel a pass, by decoupled look-back.
    Onesweep "onesweep" 8 256
        "one sweep over memory a pass: each tile finds its place by looking back",
    /// Most significant digits first, then local sorts.
    Hybrid "hybrid" 8 4096
        "most significant digit first, then each small bucket sorted where it lies",
}

/// The parameters of a twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which bits of the codes to sort by.
    pub bits: Range<u32>,
    /// Bits of a digit.
    pub radix_bits: u32,
    /// Instead of digits of bits, digits of the code written in this base; `counting-lsd` alone.
    pub base: Option<u32>,
    /// Records of a block or tile: what one thread block holds. For `hybrid`, the size from which
    /// down a bucket is sorted locally.
    pub block: usize,
    /// Picks the order in which `onesweep`'s tiles get their turns.
    pub seed: u64,
    /// Turns equal digits round in each pass, to show why LSD radix sort must be stable.
    pub break_stability: bool,
}

impl Options {
    /// An algorithm's own choices, for codes of type `W`.
    pub fn of<W: Word>(algorithm: Algorithm) -> Options {
        let (radix_bits, block) = algorithm.defaults();
        Options {
            bits: 0..W::BITS,
            radix_bits,
            base: None,
            block,
            seed: 0,
            break_stability: false,
        }
    }

    /// Whether the algorithm takes these parameters.
    ///
    /// # Errors
    /// [`Error::Unsupported`] and [`Error::BitRange`], each naming what would work.
    pub fn check<W: Word>(&self, algorithm: Algorithm) -> Result<()> {
        let no = |what: String, instead: &str| {
            Err(Error::Unsupported {
                engine: "cpu",
                what: format!("{} with {what}", algorithm.name()),
                instead: instead.into(),
            })
        };
        let radix_bits: &[u32] = match algorithm {
            Algorithm::CountingLsd | Algorithm::BlockHistogram | Algorithm::Coalesced => {
                &[1, 2, 4, 8]
            }
            Algorithm::Split | Algorithm::TileMerge => &[1],
            Algorithm::FourWay => &[1, 2],
            Algorithm::Onesweep | Algorithm::Hybrid => &[1, 2, 3, 4, 5, 6, 7, 8],
        };
        if self.bits.start > self.bits.end || self.bits.end > W::BITS {
            return Err(Error::BitRange {
                start: self.bits.start,
                end: self.bits.end,
                bits: W::BITS,
            });
        }
        if !radix_bits.contains(&self.radix_bits) {
            let known: Vec<_> = radix_bits.iter().map(u32::to_string).collect();
            return no(
                format!("digits of {} bits", self.radix_bits),
                &known.join(", "),
            );
        }
        if self.base.is_some() && algorithm != Algorithm::CountingLsd {
            return no("digits of a base".into(), "counting-lsd");
        }
        if self.base.is_some_and(|base| !(2..=1 << 16).contains(&base)) {
            return no("that base".into(), "a base from 2 to 65536");
        }
        if self.base.is_some() && self.bits != (0..W::BITS) {
            return no("a base and a range of bits".into(), "one of the two");
        }
        // A block's scan and sort are trees, so a block is a power of two.
        let power = self.block.is_power_of_two();
        let whole_tree = matches!(
            algorithm,
            Algorithm::BlockHistogram | Algorithm::TileMerge | Algorithm::Coalesced
        );
        if self.block == 0 || whole_tree && !power {
            return no(format!("blocks of {}", self.block), "a power of two");
        }
        if self.break_stability && matches!(algorithm, Algorithm::TileMerge | Algorithm::Hybrid) {
            return no(
                "broken stability".into(),
                "an LSD algorithm: the others do not rest on it",
            );
        }
        Ok(())
    }
}
