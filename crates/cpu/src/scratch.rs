//! Scratch memory: one block, kept from sort to sort where the engine is kept.

use std::alloc::{Layout, alloc, dealloc};
use std::mem;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use sweepsort_core::{Error, Result};

use crate::pool::lock;

/// Blocks from this size up are aligned to it, so that the system can back them by huge pages.
const HUGE_PAGE: usize = 2 << 20;

/// Uninitialised memory, aligned to a cache line at least.
#[derive(Debug)]
pub(crate) struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block owns its memory, as a `Box` does.
unsafe impl Send for Block {}
// SAFETY: a shared block gives out nothing but its address.
unsafe impl Sync for Block {}

impl Block {
    /// `bytes` of memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn new(bytes: usize) -> Result<Self> {
        let failed = Error::OutOfMemory { bytes };
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { 64 };
        let layout = Layout::from_size_align(bytes.max(1), align).map_err(|_| failed.clone())?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) }).ok_or(failed)?;
        #[cfg(target_os = "linux")]
        if bytes >= HUGE_PAGE {
            // SAFETY: the range is ours. It is advice: a refusal changes nothing.
            unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        Ok(Block { start, layout })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// As many blocks as one sort has in use at a time are kept.
const KEPT: usize = 2;

/// The blocks that an engine keeps, if it keeps any.
#[derive(Debug)]
pub(crate) struct Scratch {
    keep: bool,
    kept: Mutex<Vec<Block>>,
    turned: AtomicBool,
}

impl Scratch {
    pub(crate) const fn new(keep: bool) -> Self {
        Scratch {
            keep,
            kept: Mutex::new(Vec::new()),
            turned: AtomicBool::new(false),
        }
    }

    /// Whether it is the other way round than at the last call.
    pub(crate) fn turns(&self) -> bool {
        self.turned.fetch_not(Ordering::Relaxed)
    }

    /// A block of at least `bytes` bytes: the smallest kept one that is large enough. If none is,
    /// the kept ones are let go before a larger one is asked for.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn take(&self, bytes: usize) -> Result<Block> {
        if self.keep {
            let mut kept = lock(&self.kept);
            // They are in order of size.
            if let Some(fitting) = kept.iter().position(|block| block.bytes() >= bytes) {
                return Ok(kept.remove(fitting));
            }
            // Others need not wait meanwhile: to unmap memory, and to map it, takes a while.
            let small = mem::take(&mut *kept);
            drop(kept);
            drop(small);
        }
        Block::new(bytes)
    }

    /// Gives a block back, for the next sort.
    pub(crate) fn give(&self, block: Block) {
        if self.keep {
            let mut kept = lock(&self.kept);
            let place = kept.partition_point(|other| other.bytes() < block.bytes());
            kept.insert(place, block);
            if kept.len() > KEPT {
                kept.remove(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_kept_and_reused() {
        let scratch = Scratch::new(true);
        let (small, large) = (scratch.take(1000).unwrap(), scratch.take(5 << 20).unwrap());
        let starts = [small.start(), large.start()];
        scratch.give(large);
        scratch.give(small);
        let (small, large) = (scratch.take(900).unwrap(), scratch.take(4 << 20).unwrap());
        assert_eq!([small.start(), large.start()], starts);
        assert_eq!(large.start() as usize % HUGE_PAGE, 0);
    }

    #[test]
    fn absurd_sizes_are_errors() {
        let scratch = Scratch::new(false);
        for bytes in [usize::MAX, isize::MAX as usize, 1 << 60] {
            assert_eq!(
                scratch.take(bytes).unwrap_err(),
                Error::OutOfMemory { bytes }
            );
        }
    }
}
