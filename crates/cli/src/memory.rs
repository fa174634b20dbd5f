//! Memory for whole files, and how much of it there is.

use std::alloc::{Layout, alloc_zeroed};

use crate::exit::{Failure, Result};
use crate::types::{Key, Type};

/// Room for a file's bytes: zeroed, aligned for every key type, on huge pages where the system has
/// them. Fresh pages are zero anyway, so the zeros of a large buffer cost nothing.
#[derive(Debug, Default)]
pub struct Buffer {
    words: Vec<u128>,
    /// Which word the bytes start at: that of a page's start, in a large buffer, since so aligned
    /// bytes can go to disk without a copy.
    start: usize,
    len: usize,
}

const WORD: usize = size_of::<u128>();

/// From here on, memory starts at a huge page, and is asked for in huge pages.
const HUGE_FROM: usize = 4 << 20;

/// A huge page's size; where it is another, less is gained.
const HUGE_PAGE: usize = 2 << 20;

impl Buffer {
    /// `len` zero bytes.
    ///
    /// # Errors
    /// [`Failure::System`] where the memory cannot be had.
    pub fn zeroed(len: usize) -> Result<Buffer> {
        if len == 0 {
            return Ok(Buffer::default());
        }
        let slack = if len < HUGE_FROM { 0 } else { HUGE_PAGE };
        let count = len.div_ceil(WORD) + slack / WORD;
        let refused = || {
            Failure::system(format!(
                "cannot allocate {}; sort a smaller file or free some memory",
                human(len as u64)
            ))
        };
        let layout = Layout::array::<u128>(count).map_err(|_| refused())?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return Err(refused());
        }
        // SAFETY: allocated just now by the global allocator with the layout of `count` words, all
        // of them zero, which is a `u128`.
        let words = unsafe { Vec::from_raw_parts(start.cast::<u128>(), count, count) };
        let start = match slack {
            0 => 0,
            _ => (start as usize).next_multiple_of(HUGE_PAGE) - start as usize,
        } / WORD;
        let mut buffer = Buffer { words, start, len };
        #[cfg(target_os = "linux")]
        if slack > 0 {
            let bytes = buffer.bytes_mut();
            let pages = bytes.len() / 4096 * 4096;
            // SAFETY: only advice, on whole pages of the allocation; it never changes what they
            // hold.
            unsafe { libc::madvise(bytes.as_mut_ptr().cast(), pages, libc::MADV_HUGEPAGE) };
        }
        Ok(buffer)
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words[self.start..])[..self.len]
    }

    /// The bytes, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words[self.start..])[..self.len]
    }

    /// Only the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Grows to `len` bytes, the new ones zero. Doubles the room, so that growing often is cheap.
    ///
    /// # Errors
    /// [`Failure::System`] where the memory cannot be had; the buffer is as it was then.
    pub fn grow(&mut self, len: usize) -> Result<()> {
        let count = self.start + len.div_ceil(WORD);
        if count > self.words.len() {
            self.words
                .try_reserve(count - self.words.len())
                .map_err(|_| {
                    Failure::system(format!(
                        "cannot allocate {}; sort less at a time or free some memory",
                        human(len as u64)
                    ))
                })?;
            self.words.resize(count, 0);
        }
        self.len = self.len.max(len);
        Ok(())
    }
}

/// Keys (or values) of a type known at run time.
#[derive(Debug)]
pub struct Keys {
    ty: Type,
    buffer: Buffer,
}

impl Keys {
    /// The keys that a buffer's bytes are, in this machine's byte order; bytes after the last whole
    /// key are left out.
    pub fn new(ty: Type, mut buffer: Buffer) -> Keys {
        buffer.truncate(buffer.len() / ty.bytes() * ty.bytes());
        Keys { ty, buffer }
    }

    /// `n` keys of type `ty`, all zero.
    ///
    /// # Errors
    /// [`Failure::System`] where the memory cannot be had.
    pub fn zeroed(ty: Type, n: usize) -> Result<Keys> {
        Ok(Keys {
            ty,
            buffer: Buffer::zeroed(n.saturating_mul(ty.bytes()))?,
        })
    }

    /// The keys' type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// How many keys.
    pub fn len(&self) -> usize {
        self.buffer.len() / self.ty.bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The keys, of this type or another of its size.
    pub fn slice<K: Key>(&self) -> &[K] {
        bytemuck::cast_slice(self.buffer.bytes())
    }

    /// The keys, to change.
    pub fn slice_mut<K: Key>(&mut self) -> &mut [K] {
        bytemuck::cast_slice_mut(self.buffer.bytes_mut())
    }

    /// The keys as the library sorts them.
    pub fn radix<K: Key>(&self) -> &[K::Radix] {
        bytemuck::cast_slice(self.buffer.bytes())
    }

    /// The keys as the library sorts them, to change.
    pub fn radix_mut<K: Key>(&mut self) -> &mut [K::Radix] {
        bytemuck::cast_slice_mut(self.buffer.bytes_mut())
    }

    /// The keys' bytes in memory.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }

    /// The keys' bytes in memory, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.bytes_mut()
    }

    /// Only the first `n` keys.
    pub fn truncate(&mut self, n: usize) {
        self.buffer.truncate(n * self.ty.bytes());
    }
}

/// How many bytes of memory can still be had, limits of a container included; `None` where the
/// system does not say.
pub fn available() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory_specifics(sysinfo::MemoryRefreshKind::nothing().with_ram());
    let machine = system.available_memory();
    let memory = match system.cgroup_limits() {
        Some(limits) if limits.total_memory > 0 => machine.min(limits.free_memory),
        _ => machine,
    };
    (memory > 0).then_some(memory)
}

/// So little is there, or its allocation says that it is not; asking the system takes longer.
const SMALL: u64 = 64 << 20;

/// Refuses work that needs more memory than there is, before any of it is done.
///
/// # Errors
/// [`Failure::System`] with both sizes.
pub fn require(needed: u64, what: &str) -> Result<()> {
    if needed < SMALL {
        return Ok(());
    }
    match available() {
        Some(available) if needed > available => Err(Failure::system(format!(
            "{what} needs {} of memory, scratch included, and {} are available; \
             sort it in parts or on a larger machine",
            human(needed),
            human(available)
        ))),
        _ => Ok(()),
    }
}

/// A number of bytes for a person: `1.5 GiB`.
pub fn human(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_grow_and_shrink() -> Result<()> {
        let mut buffer = Buffer::zeroed(5)?;
        buffer.bytes_mut().copy_from_slice(b"hello");
        buffer.grow(70)?;
        assert_eq!(&buffer.bytes()[..6], b"hello\0");
        assert_eq!(buffer.len(), 70);
        buffer.truncate(2);
        assert_eq!(buffer.bytes(), b"he");
        assert!(Buffer::zeroed(usize::MAX / 2).is_err());
        let mut large = Buffer::zeroed(9 << 20)?;
        assert_eq!(large.bytes().as_ptr() as usize % HUGE_PAGE, 0);
        large.bytes_mut()[(9 << 20) - 1] = 7;
        large.grow(20 << 20)?;
        assert_eq!(large.len(), 20 << 20);
        assert_eq!(
            large
                .bytes()
                .iter()
                .map(|&byte| u32::from(byte))
                .sum::<u32>(),
            7
        );
        Ok(())
    }

    #[test]
    fn too_much_is_refused_with_both_sizes() {
        let Err(Failure::System(line)) = require(u64::MAX, "the file") else {
            panic!("accepted");
        };
        assert!(
            line.contains("16.00 EiB") && line.contains("available"),
            "{line}"
        );
    }
}
