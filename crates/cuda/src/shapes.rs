//! The shapes of kernels. They differ by architecture, so each image tells its own, in a table of rows
//! of four words.

use std::sync::Arc;

use crate::device::Facts;
use crate::error::{Error, Result};
use crate::launch::{Grid, Kernel, Module};

/// A kernel's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelShape {
    pub threads: u32,
    /// Keys that a block treats at a time.
    pub tile: u32,
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

impl KernelShape {
    /// Blocks of a kernel of this shape that run at the same time.
    ///
    /// # Errors
    /// [`Error::Launch`] if none can, or [`Error::Driver`].
    pub fn together(self, kernel: &Kernel, facts: &Facts) -> Result<u32> {
        let blocks = kernel.blocks_per_multiprocessor(self.threads, self.shared_bytes)?;
        Ok(blocks.max(1) * facts.multiprocessors)
    }

    /// So many blocks of it.
    pub fn grid(self, blocks: u32) -> Grid {
        Grid::new(blocks, self.threads).shared(self.shared_bytes)
    }
}

/// An image's table of shapes.
pub struct Shapes {
    name: &'static str,
    words: Arc<[u32]>,
}

impl Shapes {
    /// The table of this name.
    ///
    /// # Errors
    /// [`Error::NoKernel`] or [`Error::Driver`].
    pub fn of(module: &Module, name: &'static str) -> Result<Shapes> {
        let words = module.table(name)?;
        Ok(Shapes { name, words })
    }

    /// A row whose columns are threads, tile, blocks a multiprocessor, dynamic shared memory.
    ///
    /// # Errors
    /// [`Error::NoKernel`] where the table has fewer.
    pub fn get(&self, row: usize) -> Result<KernelShape> {
        let [threads, tile, _, shared_bytes] = self.row(row)?;
        Ok(KernelShape {
            threads,
            tile,
            shared_bytes,
        })
    }

    /// The words of a row.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn row(&self, row: usize) -> Result<[u32; 4]> {
        match self.words.get(4 * row..4 * row + 4) {
            Some(&[a, b, c, d]) => Ok([a, b, c, d]),
            _ => Err(Error::NoKernel {
                image: self.name.to_owned(),
                kernel: format!("shape {row}"),
            }),
        }
    }
}
