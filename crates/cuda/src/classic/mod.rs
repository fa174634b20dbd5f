//! The classics on a device: a file each, with the stages of the twin of that name.
//!
//! Codes and payloads lie in two buffers each; a pass reads the one and writes the other. A payload
//! is a `u32`, the key's position in the input. What belongs to a key is fetched by it at the end.
//!
//! A [`Watch`] sees the device's own arrays, stage by stage, and may put others in their place, which
//! costs copies and waiting. A [`Clock`](crate::Clock) takes the time of the stages. Without a watch,
//! stages are only enqueued.

mod block_histogram;
mod coalesced;
mod four_way;
mod scan;
mod split;
mod stages;
mod tile_merge;

use std::ops::Range;

use sweepsort_core::{Digit, Word};

use crate::error::{Error, Result};
use crate::launch::Grid;
use crate::memory::{Buffer, Pointer};
use crate::stream::{Sides, Stream};

pub use scan::prefix_sum;
use stages::Stages;
pub use stages::{Observer, Watch};

/// Threads of a block where each key is treated by itself.
const THREADS: u32 = 256;

/// Keys a thread there; the same in `keys.cuh`.
const LANES: u32 = 4;

/// Bytes of keys a thread where a block keeps a tile; `ITEMS` in `keys.cuh`.
const ITEMS_BYTES: u32 = 64;

/// So many keys can be sorted: an index one block beyond the end must not wrap.
pub const MAX_KEYS: usize = (1 << 32) - (1 << 20);

macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident $name:literal $radix_bits:literal $block:literal,)*) => {
        /// The classics that run on a device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Algorithm {
            $($(#[$doc])* $variant,)*
        }

        impl Algorithm {
            /// All of them.
            pub const ALL: &[Algorithm] = &[$(Algorithm::$variant),*];

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

            /// Bits of a digit, and keys of a block or tile, unless the caller says otherwise.
            pub const fn defaults(self) -> (u32, usize) {
                match self {
                    $(Algorithm::$variant => ($radix_bits, $block)),*
                }
            }

            /// The bits that its digits can have.
            pub const fn radix_bits(self) -> &'static [u32] {
                match self {
                    Algorithm::Split | Algorithm::TileMerge => &[1],
                    Algorithm::FourWay => &[1, 2],
                    Algorithm::BlockHistogram | Algorithm::Coalesced => &[1, 2, 4, 8],
                }
            }
        }
    };
}
algorithms! {
    /// One bit a pass, by a scan over the whole array.
    Split "split" 1 1024,
    /// Two bits a pass (or one), by a flag array and a scan for each digit.
    FourWay "four-way" 2 1024,
    /// A histogram for each block, scans of their transpose.
    BlockHistogram "block-histogram" 4 4096,
    /// Tiles sorted by themselves, then merged bitonically.
    TileMerge "tile-merge" 1 4096,
    /// Block-local buckets, so that writes are coalesced.
    Coalesced "coalesced" 8 8192,
}

/// An algorithm as its text has it, or without one thing, so that the gain of that can be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Complete.
    #[default]
    Text,
    /// `coalesced`: each key straight to its place, without local buckets.
    PlainScatter,
    /// `block-histogram`: local and global offsets one after the other, on one stream.
    OneStream,
    /// `split`: a pass for every bit, without asking for the largest key first.
    AllPasses,
}

impl Variant {
    /// All of them.
    pub const ALL: &[Variant] = &[
        Variant::Text,
        Variant::PlainScatter,
        Variant::OneStream,
        Variant::AllPasses,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Text => "text",
            Variant::PlainScatter => "plain-scatter",
            Variant::OneStream => "one-stream",
            Variant::AllPasses => "all-passes",
        }
    }

    /// The variant of a name.
    pub fn named(name: &str) -> Option<Variant> {
        Self::ALL
            .iter()
            .copied()
            .find(|variant| variant.name() == name)
    }

    /// Whether an algorithm has it.
    pub fn is_of(self, algorithm: Algorithm) -> bool {
        match self {
            Variant::Text => true,
            Variant::PlainScatter => algorithm == Algorithm::Coalesced,
            Variant::OneStream => algorithm == Algorithm::BlockHistogram,
            Variant::AllPasses => algorithm == Algorithm::Split,
        }
    }
}

/// The parameters of a classic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which bits of the codes to sort by.
    pub bits: Range<u32>,
    /// Bits of a digit.
    pub radix_bits: u32,
    /// Keys of a block or tile.
    pub block: usize,
    /// Whether complete.
    pub variant: Variant,
}

impl Options {
    /// An algorithm's own choices, for codes of type `K`.
    pub fn of<K: Key>(algorithm: Algorithm) -> Options {
        let (radix_bits, block) = algorithm.defaults();
        Options {
            bits: 0..K::BITS,
            radix_bits,
            block,
            variant: Variant::Text,
        }
    }

    /// Whether the algorithm takes these parameters: what would work, if it does not.
    pub fn check<K: Key>(&self, algorithm: Algorithm) -> Result<(), String> {
        let radix_bits = algorithm.radix_bits();
        if !radix_bits.contains(&self.radix_bits) {
            let known: Vec<_> = radix_bits.iter().map(u32::to_string).collect();
            return Err(format!("digits of {} bits", known.join(", ")));
        }
        let most = 1024 * items::<K>() as usize;
        if !self.block.is_power_of_two() || self.block > most {
            return Err(format!("blocks of a power of two, up to {most} keys"));
        }
        if !self.variant.is_of(algorithm) {
            let of = |variant: &&Variant| variant.is_of(algorithm);
            let known: Vec<_> = Variant::ALL.iter().filter(of).map(|v| v.name()).collect();
            return Err(format!("variant {}", known.join(" or ")));
        }
        Ok(())
    }

    /// The digits, one a pass.
    fn digits(&self) -> Vec<Digit> {
        Digit::cover(self.bits.clone(), self.radix_bits)
    }
}

/// An array that a pass makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The name that the text gives it.
    pub name: String,
    /// Whether it lies in memory between two kernels, so that a [`Watch`] can replace it. Otherwise
    /// it is an inner one, which a kernel writes out only to be seen.
    pub kept: bool,
}

impl Array {
    fn kept(name: impl Into<String>) -> Array {
        Array {
            name: name.into(),
            kept: true,
        }
    }

    fn inner(name: &str) -> Array {
        Array {
            name: name.to_owned(),
            kept: false,
        }
    }
}

/// The arrays of a sort's passes, in the order of the text. A last digit that is narrower than the
/// others may have fewer, and keep fewer.
pub fn arrays(algorithm: Algorithm, options: &Options, n: usize) -> Vec<Array> {
    match algorithm {
        Algorithm::Split => split::arrays(),
        Algorithm::FourWay => four_way::arrays(options),
        Algorithm::BlockHistogram => block_histogram::arrays(),
        Algorithm::TileMerge => tile_merge::arrays(options, n),
        Algorithm::Coalesced => coalesced::arrays(),
    }
}

/// A code that kernels exist for: `u32` or `u64`.
pub trait Key: Word {}

impl Key for u32 {}
impl Key for u64 {}

/// Keys a thread where a block keeps a tile.
fn items<K: Key>() -> u32 {
    ITEMS_BYTES / (K::BITS / 8)
}

/// Codes, and a payload for each or none.
#[derive(Debug)]
pub struct Records<K: Key> {
    /// The codes.
    pub keys: Buffer<K>,
    /// What travels with them: their positions in the input.
    pub payload: Option<Buffer<u32>>,
    spare_keys: Buffer<K>,
    spare_payload: Option<Buffer<u32>>,
    n: u32,
}

impl<K: Key> Records<K> {
    /// Codes on the device, whose positions travel along if asked.
    ///
    /// # Errors
    /// [`Error::Range`] above [`MAX_KEYS`]; [`Error::OutOfMemory`].
    pub fn new(stream: &Stream, keys: Buffer<K>, payload: Option<Buffer<u32>>) -> Result<Self> {
        let len = keys.len();
        if len > MAX_KEYS {
            return Err(Error::Range {
                what: "keys of a classic",
                got: len,
                have: MAX_KEYS,
            });
        }
        let spare_payload = match &payload {
            Some(payload) => Some(stream.alloc(payload.len())?),
            None => None,
        };
        Ok(Records {
            spare_keys: stream.alloc(len)?,
            spare_payload,
            keys,
            payload,
            n: len as u32,
        })
    }

    /// What was written becomes what is read.
    fn swap(&mut self) {
        std::mem::swap(&mut self.keys, &mut self.spare_keys);
        std::mem::swap(&mut self.payload, &mut self.spare_payload);
    }

    /// Bytes that so many of them take in shared memory.
    fn shared_bytes(&self, m: u32) -> u32 {
        let payload = self.payload.as_ref().map_or(0, |_| shared::<u32>(m));
        shared::<K>(m) + payload
    }

    fn from(&self) -> (Pointer<K>, Pointer<u32>) {
        (self.keys.pointer(), or_null(&self.payload))
    }

    fn to(&self) -> (Pointer<K>, Pointer<u32>) {
        (self.spare_keys.pointer(), or_null(&self.spare_payload))
    }
}

/// A buffer's address, or null.
fn or_null<T: bytemuck::Pod>(buffer: &Option<Buffer<T>>) -> Pointer<T> {
    buffer.as_ref().map_or(Pointer::NULL, Buffer::pointer)
}

/// Bytes that `m` elements take in shared memory, padded against bank conflicts: `S(T, m)` of
/// `shared.cuh`.
fn shared<T>(m: u32) -> u32 {
    let size = size_of::<T>() as u32;
    (size * (m + m / (128 / size) + 1)).next_multiple_of(16)
}

/// A grid for `n` items of which each thread takes [`LANES`].
fn over(n: u32) -> Grid {
    Grid::new(n.div_ceil(LANES * THREADS), THREADS)
}

/// Threads of a block that keeps a tile, and the keys that it has room for.
fn tile_threads<K: Key>(tile: u32) -> (u32, u32) {
    if tile <= 1024 {
        // A small tile leaves threads without a key.
        (tile.max(32), tile.max(32))
    } else {
        (tile / items::<K>(), tile)
    }
}

/// Sorts records by one of the classics. Enqueues only, but for `split`, which waits once to learn
/// how many passes it takes. Returns the number of passes.
///
/// # Errors
/// [`Error::Launch`] for parameters that [`Options::check`] refuses; what the device fails at.
pub fn sort<'a, K: Key>(
    stream: &'a Stream,
    sides: &mut Sides,
    algorithm: Algorithm,
    records: &mut Records<K>,
    options: &Options,
    observer: Observer<'a, K>,
) -> Result<u32> {
    options.check::<K>(algorithm).map_err(|why| Error::Launch {
        kernel: algorithm.name().to_owned(),
        why: format!("it takes {why}"),
    })?;
    let mut stages = Stages::new(stream, observer)?;
    if records.n == 0 {
        return Ok(0);
    }
    match algorithm {
        Algorithm::Split => split::sort(&mut stages, records, options),
        Algorithm::FourWay => four_way::sort(&mut stages, records, options),
        Algorithm::BlockHistogram => block_histogram::sort(&mut stages, sides, records, options),
        Algorithm::TileMerge => tile_merge::sort(&mut stages, records, options),
        Algorithm::Coalesced => coalesced::sort(&mut stages, records, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What kernels and launches must agree in stands in both.
    #[test]
    fn constants_are_those_of_the_kernels() {
        let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/classic/");
        for (file, line) in [
            ("keys.cuh", format!("constexpr u32 LANES = {LANES};")),
            (
                "keys.cuh",
                format!("constexpr u32 ITEMS = {ITEMS_BYTES} / sizeof(Key);"),
            ),
            (
                "scan.cu",
                format!("constexpr u32 SCAN_ITEMS = {};", scan::SCAN_ITEMS),
            ),
            (
                "matrix.cu",
                format!("constexpr u32 SIDE = {};", block_histogram::SIDE),
            ),
            (
                "tile_merge.cu",
                format!("constexpr u32 PLACES = {};", tile_merge::PLACES),
            ),
        ] {
            let text = std::fs::read_to_string(format!("{kernels}{file}")).unwrap();
            assert!(text.contains(&line), "{file} has no `{line}`");
        }
    }

    #[test]
    fn variants_belong_to_their_algorithms() {
        for &algorithm in Algorithm::ALL {
            for &variant in Variant::ALL {
                assert_eq!(Variant::named(variant.name()), Some(variant));
                let options = Options {
                    variant,
                    ..Options::of::<u32>(algorithm)
                };
                let checked = options.check::<u32>(algorithm);
                assert_eq!(checked.is_ok(), variant.is_of(algorithm), "{checked:?}");
            }
        }
        let plain = Options {
            variant: Variant::PlainScatter,
            ..Options::of::<u32>(Algorithm::Split)
        };
        let instead = plain.check::<u32>(Algorithm::Split).unwrap_err();
        assert_eq!(instead, "variant text or all-passes");
        assert_eq!(Variant::named("fast"), None);
    }

    #[test]
    fn shared_memory_is_padded() {
        assert_eq!(shared::<u32>(32), 4 * 34 + 8);
        assert_eq!(shared::<u64>(16), 8 * 18);
    }
}
