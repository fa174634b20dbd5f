//! The exclusive scan of whole arrays, through the sums of blocks: `scan.cu`.

use super::{Key, MAX_KEYS, Observer, Stages, shared};
use crate::args;
use crate::error::{Error, Result};
use crate::launch::{Extent, Grid};
use crate::memory::{Buffer, Pointer};
use crate::stream::Stream;

/// Threads of a block, unless the caller says otherwise.
const THREADS: u32 = 256;
/// Numbers a thread; the same in `scan.cu`.
pub const SCAN_ITEMS: u32 = 16;

/// Room for the blocks' sums, their sums, and so on: `Z` of each level, for some arrays side by side.
pub struct Sums {
    levels: Vec<Buffer<u32>>,
    arrays: u32,
    threads: u32,
}

impl Sums {
    /// Room to scan `arrays` arrays of `n` numbers.
    pub fn new(stream: &Stream, n: u32, arrays: u32) -> Result<Sums> {
        Sums::with_threads(stream, n, arrays, THREADS)
    }

    /// The same with blocks of so many threads.
    fn with_threads(stream: &Stream, n: u32, arrays: u32, threads: u32) -> Result<Sums> {
        let mut levels = Vec::new();
        let block = threads * SCAN_ITEMS;
        let mut blocks = n.div_ceil(block);
        while blocks > 1 {
            levels.push(stream.alloc(blocks as usize * arrays as usize)?);
            blocks = blocks.div_ceil(block);
        }
        Ok(Sums {
            levels,
            arrays,
            threads,
        })
    }
}

/// Makes of each number the sum of those before it, modulo 2^32, by the scan of the classics: each
/// block of `threads` threads scans 16 numbers a thread, the blocks' sums are scanned, and added.
/// Enqueues only.
///
/// # Errors
/// [`Error::Range`] above [`MAX_KEYS`]; [`Error::Launch`] for threads that no block can have;
/// [`Error::OutOfMemory`].
pub fn prefix_sum(stream: &Stream, numbers: &mut Buffer<u32>, threads: u32) -> Result<()> {
    let len = numbers.len();
    if len > MAX_KEYS {
        return Err(Error::Range {
            what: "numbers of a prefix sum",
            got: len,
            have: MAX_KEYS,
        });
    }
    if !(threads.is_power_of_two() && (32..=1024).contains(&threads)) {
        return Err(Error::Launch {
            kernel: "scan_blocks".to_owned(),
            why: format!("it takes a power of two of threads from 32 to 1024, and not {threads}"),
        });
    }
    let n = len as u32;
    let stages = Stages::<u32>::new(stream, Observer::Nobody)?;
    let sums = Sums::with_threads(stream, n, 1, threads)?;
    stages.scan(stream, numbers.pointer(), n, n, &sums)
}

impl<K: Key> Stages<'_, K> {
    /// Scans arrays of `n` numbers in place, `stride` numbers apart.
    pub fn scan(
        &self,
        stream: &Stream,
        array: Pointer<u32>,
        n: u32,
        stride: u32,
        sums: &Sums,
    ) -> Result<()> {
        self.scan_level(stream, (array, n, stride), &sums.levels, sums)
    }

    fn scan_level(
        &self,
        stream: &Stream,
        (array, n, stride): (Pointer<u32>, u32, u32),
        levels: &[Buffer<u32>],
        sums: &Sums,
    ) -> Result<()> {
        let (threads, block) = (sums.threads, sums.threads * SCAN_ITEMS);
        let blocks = n.div_ceil(block);
        let grid = Grid::new(Extent::from((blocks, sums.arrays)), threads);
        let bytes = shared::<u32>(block) + shared::<u32>(threads);
        let (z, z_stride) = match levels.first() {
            Some(z) => (z.pointer(), blocks),
            None => (Pointer::NULL, 0),
        };
        let arguments = args![array, array, n, stride, z, z_stride];
        self.launch_in(stream, "scan_blocks", grid.shared(bytes), arguments)?;
        let Some((_, above)) = levels.split_first() else {
            return Ok(());
        };
        self.scan_level(stream, (z, blocks, blocks), above, sums)?;
        let arguments = args![array, n, stride, z, z_stride];
        self.launch_in(stream, "add_sums", grid, arguments)
    }
}
