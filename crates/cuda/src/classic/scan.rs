//! The exclusive scan of whole arrays, through the sums of blocks: `scan.cu`.

use super::{Key, Stages, shared};
use crate::args;
use crate::error::Result;
use crate::launch::{Extent, Grid};
use crate::memory::{Buffer, Pointer};
use crate::stream::Stream;

/// Threads of a block.
const THREADS: u32 = 256;
/// Numbers a thread; the same in `scan.cu`.
pub const SCAN_ITEMS: u32 = 16;
const BLOCK: u32 = THREADS * SCAN_ITEMS;

/// Room for the blocks' sums, their sums, and so on: `Z` of each level, for some arrays side by side.
pub struct Sums {
    levels: Vec<Buffer<u32>>,
    arrays: u32,
}

impl Sums {
    /// Room to scan `arrays` arrays of `n` numbers.
    pub fn new(stream: &Stream, n: u32, arrays: u32) -> Result<Sums> {
        let mut levels = Vec::new();
        let mut blocks = n.div_ceil(BLOCK);
        while blocks > 1 {
            levels.push(stream.alloc(blocks as usize * arrays as usize)?);
            blocks = blocks.div_ceil(BLOCK);
        }
        Ok(Sums { levels, arrays })
    }
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
        self.scan_level(stream, (array, n, stride), &sums.levels, sums.arrays)
    }

    fn scan_level(
        &self,
        stream: &Stream,
        (array, n, stride): (Pointer<u32>, u32, u32),
        levels: &[Buffer<u32>],
        arrays: u32,
    ) -> Result<()> {
        let blocks = n.div_ceil(BLOCK);
        let grid = Grid::new(Extent::from((blocks, arrays)), THREADS);
        let bytes = shared::<u32>(BLOCK) + shared::<u32>(THREADS);
        let (z, z_stride) = match levels.first() {
            Some(z) => (z.pointer(), blocks),
            None => (Pointer::NULL, 0),
        };
        let arguments = args![array, array, n, stride, z, z_stride];
        self.launch_in(stream, "scan_blocks", grid.shared(bytes), arguments)?;
        let Some((_, above)) = levels.split_first() else {
            return Ok(());
        };
        self.scan_level(stream, (z, blocks, blocks), above, arrays)?;
        let arguments = args![array, n, stride, z, z_stride];
        self.launch_in(stream, "add_sums", grid, arguments)
    }
}
