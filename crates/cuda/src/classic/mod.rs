//! The classics on a device: a file each, with the stages of the twin of that name.
//!
//! Codes and payloads lie in two buffers each; a pass reads the one and writes the other. A payload
//! is a `u32`, the key's position in the input. What belongs to a key is fetched by it at the end.
//!
//! A [`Watch`] sees the device's own arrays, stage by stage, which costs copies and waiting; without
//! one, stages are only enqueued.

mod block_histogram;
mod coalesced;
mod four_way;
mod scan;
mod split;
mod tile_merge;

use std::ops::Range;
use std::sync::Arc;

use sweepsort_core::{Digit, Word};

use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid, Module};
use crate::memory::{Buffer, Pointer};
use crate::stream::{Sides, Stream};

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

/// The parameters of a classic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which bits of the codes to sort by.
    pub bits: Range<u32>,
    /// Bits of a digit.
    pub radix_bits: u32,
    /// Keys of a block or tile.
    pub block: usize,
    /// `coalesced`: each key straight to its place, without local buckets.
    pub plain: bool,
    /// `block-histogram`: local and global offsets one after the other, on one stream.
    pub one_stream: bool,
}

impl Options {
    /// An algorithm's own choices, for codes of type `K`.
    pub fn of<K: Key>(algorithm: Algorithm) -> Options {
        let (radix_bits, block) = algorithm.defaults();
        Options {
            bits: 0..K::BITS,
            radix_bits,
            block,
            plain: false,
            one_stream: false,
        }
    }

    /// Whether the algorithm takes these parameters: what would work, if it does not.
    pub fn check<K: Key>(&self, algorithm: Algorithm) -> Result<(), String> {
        let radix_bits: &[u32] = match algorithm {
            Algorithm::Split | Algorithm::TileMerge => &[1],
            Algorithm::FourWay => &[1, 2],
            Algorithm::BlockHistogram | Algorithm::Coalesced => &[1, 2, 4, 8],
        };
        if !radix_bits.contains(&self.radix_bits) {
            let known: Vec<_> = radix_bits.iter().map(u32::to_string).collect();
            return Err(format!("digits of {} bits", known.join(", ")));
        }
        let most = 1024 * items::<K>() as usize;
        if !self.block.is_power_of_two() || self.block > most {
            return Err(format!("blocks of a power of two, up to {most} keys"));
        }
        Ok(())
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

/// Sees the arrays of each stage, copied from the device.
pub trait Watch<K> {
    /// A pass begins.
    fn pass(&mut self, digit: Option<Digit>);
    /// An array of numbers was made.
    fn numbers(&mut self, name: &str, values: &[u32]);
    /// An array of codes was made, with their positions if they travel along.
    fn keys(&mut self, name: &str, keys: &[K], positions: &[u32]);
}

/// Where the stages of a sort run, and who watches.
struct Stages<'a, K: Key> {
    stream: &'a Stream,
    module: Arc<Module>,
    watch: Option<&'a mut dyn Watch<K>>,
}

impl<K: Key> Stages<'_, K> {
    /// Whether arrays are to be shown.
    fn watched(&self) -> bool {
        self.watch.is_some()
    }

    fn pass(&mut self, digit: Option<Digit>) {
        if let Some(watch) = &mut self.watch {
            watch.pass(digit);
        }
    }

    /// Shows the first `len` numbers of an array.
    fn show(&mut self, name: &str, values: &Buffer<u32>, len: usize) -> Result<()> {
        self.show_from(name, values, 0, len)
    }

    fn show_from(
        &mut self,
        name: &str,
        values: &Buffer<u32>,
        start: usize,
        len: usize,
    ) -> Result<()> {
        if let Some(watch) = &mut self.watch {
            let values = self.stream.download(values.slice(start..start + len)?)?;
            watch.numbers(name, &values);
        }
        Ok(())
    }

    fn show_keys(
        &mut self,
        name: &str,
        keys: &Buffer<K>,
        payload: &Option<Buffer<u32>>,
    ) -> Result<()> {
        if let Some(watch) = &mut self.watch {
            let keys = self.stream.download(keys)?;
            let positions = match payload {
                Some(payload) => self.stream.download(payload)?,
                None => Vec::new(),
            };
            watch.keys(name, &keys, &positions);
        }
        Ok(())
    }

    /// A buffer to be shown, if somebody watches.
    fn shown(&self, len: usize) -> Result<Option<Buffer<u32>>> {
        self.watched().then(|| self.stream.alloc(len)).transpose()
    }

    /// Launches a kernel in the main stream.
    fn launch<const N: usize>(
        &self,
        name: &str,
        grid: Grid,
        arguments: [Argument<'_>; N],
    ) -> Result<()> {
        self.launch_in(self.stream, name, grid, arguments)
    }

    fn launch_in<const N: usize>(
        &self,
        stream: &Stream,
        name: &str,
        grid: Grid,
        arguments: [Argument<'_>; N],
    ) -> Result<()> {
        let kernel = self.module.kernel(name)?;
        // SAFETY: the callers are the files of this folder. Each gives buffers of the shapes that
        // stand at the head of the kernel's file, allocated for this sort and used by it alone, in
        // streams that are forked and joined.
        unsafe { stream.launch(&kernel, grid, arguments) }
    }
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
    watch: Option<&'a mut dyn Watch<K>>,
) -> Result<u32> {
    options.check::<K>(algorithm).map_err(|why| Error::Launch {
        kernel: algorithm.name().to_owned(),
        why: format!("it takes {why}"),
    })?;
    let image = Image::of(Kind::Classic, K::BITS).ok_or_else(|| Error::NoKernel {
        image: format!("{} bits", K::BITS),
        kernel: algorithm.name().to_owned(),
    })?;
    let mut stages = Stages {
        stream,
        module: stream.device().module(image)?,
        watch,
    };
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
    fn shared_memory_is_padded() {
        assert_eq!(shared::<u32>(32), 4 * 34 + 8);
        assert_eq!(shared::<u64>(16), 8 * 18);
    }
}
