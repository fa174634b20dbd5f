//! Memory on a device: buffers, slices of them, pointers into them, and the copies in and out.
//!
//! A buffer is allocated and given back in the order of its stream: work that was put into that
//! stream before the buffer is dropped still has it. Whoever uses it on another stream joins that
//! stream first. Copies between device and host wait for their end; all else only enqueues.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;
use cudarc::driver::sys::{CUdeviceptr, CUresult};
use cudarc::driver::{DriverError, result};

use crate::canary::GUARD_BYTES;
use crate::error::{Error, Result, while_doing, words};
use crate::stream::Stream;

/// Where an array of a [`Layout`] starts: at a multiple of this, in bytes. Buffers do too.
pub(crate) const ALIGNMENT: usize = 256;

/// An address on a device, for kernels: no borrow, no length.
#[derive(Debug)]
pub struct Pointer<T> {
    address: CUdeviceptr,
    to: PhantomData<*const T>,
}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<T> {}

impl<T> PartialEq for Pointer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<T> Eq for Pointer<T> {}

// SAFETY: it is a number; the host never follows it.
unsafe impl<T> Send for Pointer<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Pointer<T> {}

impl<T> Pointer<T> {
    /// The pointer to nothing, where a kernel takes that.
    pub const NULL: Self = Self::at(0);

    /// A pointer to this address.
    pub const fn at(address: u64) -> Self {
        Pointer {
            address,
            to: PhantomData,
        }
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.address
    }

    /// The same address, with other elements.
    pub fn cast<U>(self) -> Pointer<U> {
        Pointer::at(self.address)
    }

    /// The address so many elements on.
    #[must_use]
    pub fn offset(self, elements: usize) -> Self {
        Self::at(self.address + (elements * size_of::<T>()) as u64)
    }
}

/// Some memory on a device, given back when dropped.
#[derive(Debug)]
pub struct Buffer<T: Pod> {
    start: Pointer<T>,
    len: usize,
    stream: Stream,
}

impl<T: Pod> Buffer<T> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first.
    pub fn pointer(&self) -> Pointer<T> {
        self.start
    }

    /// Some of the elements.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_, T>> {
        Slice::from(self).slice(range)
    }

    /// Some of the elements, to be written.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<SliceMut<'_, T>> {
        SliceMut::from(self).slice_mut(range)
    }

    /// The stream in whose order it is given back.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        let device = self.stream.device();
        if device.bind().is_err() {
            return;
        }
        let mut base = self.start.address;
        if let Some(canaries) = device.canaries() {
            let _ = self.stream.synchronize();
            canaries.remove(base);
            base -= GUARD_BYTES as u64;
        }
        // A failure here is one of earlier work, which the next call to the driver tells.
        if device.pool().is_some() {
            // SAFETY: allocated in this way, and used by nobody any more but work in this stream.
            let _ = unsafe { result::free_async(base, self.stream.raw().cu_stream()) };
        } else {
            let _ = self.stream.synchronize();
            // SAFETY: as above.
            let _ = unsafe { result::free_sync(base) };
        }
    }
}

/// Some elements of a buffer, or of memory that somebody else owns.
#[derive(Debug)]
pub struct Slice<'a, T> {
    start: Pointer<T>,
    len: usize,
    borrow: PhantomData<&'a [T]>,
}

impl<T> Clone for Slice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice<'_, T> {}

/// Some elements of a buffer, or of memory that somebody else owns, to be written.
#[derive(Debug)]
pub struct SliceMut<'a, T> {
    start: Pointer<T>,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

macro_rules! slices {
    ($Slice:ident, $doc:literal) => {
        impl<'a, T: Pod> $Slice<'a, T> {
            #[doc = $doc]
            ///
            /// # Safety
            /// They are on the device that the slice is used with, and stay there as long as the
            /// slice, or work that was given it, is in use.
            pub unsafe fn from_raw(start: Pointer<T>, len: usize) -> Self {
                $Slice {
                    start,
                    len,
                    borrow: PhantomData,
                }
            }

            /// How many elements there are.
            pub fn len(&self) -> usize {
                self.len
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }

            /// The address of the first.
            pub fn pointer(&self) -> Pointer<T> {
                self.start
            }

            /// The same bytes as elements of another type; those that fill no element are left out.
            ///
            /// # Errors
            /// [`Error::Range`] if they do not start at a multiple of the new element's alignment.
            pub fn cast<U: Pod>(self) -> Result<$Slice<'a, U>> {
                let misplaced = (self.start.address % align_of::<U>() as u64) as usize;
                if misplaced > 0 {
                    return Err(Error::Range {
                        what: "the alignment of a slice",
                        got: misplaced,
                        have: 0,
                    });
                }
                Ok($Slice {
                    start: self.start.cast(),
                    len: self.len * size_of::<T>() / size_of::<U>().max(1),
                    borrow: PhantomData,
                })
            }

            fn within(&self, range: impl RangeBounds<usize>) -> Result<(Pointer<T>, usize)> {
                let from = match range.start_bound() {
                    Bound::Included(&at) => at,
                    Bound::Excluded(&before) => before.saturating_add(1),
                    Bound::Unbounded => 0,
                };
                let to = match range.end_bound() {
                    Bound::Included(&last) => last.saturating_add(1),
                    Bound::Excluded(&end) => end,
                    Bound::Unbounded => self.len,
                };
                if from > to || to > self.len {
                    return Err(Error::Range {
                        what: "a slice of a buffer",
                        got: from.max(to),
                        have: self.len,
                    });
                }
                Ok((self.start.offset(from), to - from))
            }
        }
    };
}
slices!(Slice, "Elements that somebody else owns.");
slices!(SliceMut, "Elements that somebody else owns, to be written.");

impl<'a, T: Pod> Slice<'a, T> {
    /// Some of the elements.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'a, T>> {
        let (start, len) = self.within(range)?;
        Ok(Slice {
            start,
            len,
            borrow: PhantomData,
        })
    }
}

impl<'a, T: Pod> SliceMut<'a, T> {
    /// Some of the elements.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn slice_mut(self, range: impl RangeBounds<usize>) -> Result<SliceMut<'a, T>> {
        let (start, len) = self.within(range)?;
        Ok(SliceMut {
            start,
            len,
            borrow: PhantomData,
        })
    }

    /// The elements before `at`, and the others.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn split_at(self, at: usize) -> Result<(SliceMut<'a, T>, SliceMut<'a, T>)> {
        let (before, len) = self.within(..at)?;
        let (after, rest) = self.within(at..)?;
        let of = |start, len| SliceMut {
            start,
            len,
            borrow: PhantomData,
        };
        Ok((of(before, len), of(after, rest)))
    }

    /// The same elements, for a shorter while.
    pub fn reborrow(&mut self) -> SliceMut<'_, T> {
        SliceMut {
            start: self.start,
            len: self.len,
            borrow: PhantomData,
        }
    }

    /// The same elements, to be read only.
    pub fn as_slice(&self) -> Slice<'_, T> {
        Slice {
            start: self.start,
            len: self.len,
            borrow: PhantomData,
        }
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Slice<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Slice {
            start: buffer.start,
            len: buffer.len,
            borrow: PhantomData,
        }
    }
}

impl<'a, T: Pod> From<&'a mut Buffer<T>> for SliceMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        SliceMut {
            start: buffer.start,
            len: buffer.len,
            borrow: PhantomData,
        }
    }
}

/// Arrays side by side in one stretch of memory, such as a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    bytes: usize,
}

impl Layout {
    /// No array yet.
    pub const fn new() -> Self {
        Layout { bytes: 0 }
    }

    /// One array more, of `len` elements; it starts at a multiple of 256 bytes.
    pub fn array<T>(&mut self, len: usize) -> Span<T> {
        let offset = self.bytes;
        let bytes = len.saturating_mul(size_of::<T>());
        // Too much saturates, and then cannot be allocated.
        self.bytes = match bytes.checked_next_multiple_of(ALIGNMENT) {
            Some(bytes) => offset.saturating_add(bytes),
            None => usize::MAX,
        };
        Span {
            offset,
            len,
            of: PhantomData,
        }
    }

    /// How many bytes all arrays take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// All arrays so far, as bytes.
    pub(crate) fn all(&self) -> Span<u8> {
        self.since(0)
    }

    /// All arrays from where there were so many bytes.
    pub(crate) fn since(&self, bytes: usize) -> Span<u8> {
        Span {
            offset: bytes,
            len: self.bytes - bytes,
            of: PhantomData,
        }
    }
}

/// An array of a [`Layout`].
#[derive(Debug)]
pub struct Span<T> {
    offset: usize,
    len: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Span<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Span<T> {}

impl Span<u8> {
    /// An array without elements, at the workspace's start.
    pub(crate) const EMPTY: Span<u8> = Span {
        offset: 0,
        len: 0,
        of: PhantomData,
    };
}

impl<T: Pod> Span<T> {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of its first element in a workspace of this layout.
    ///
    /// # Errors
    /// [`Error::Range`] if the workspace is too small or does not start at a multiple of 256.
    pub fn within(&self, workspace: &SliceMut<'_, u8>) -> Result<Pointer<T>> {
        let misplaced = (workspace.start.address % ALIGNMENT as u64) as usize;
        if misplaced > 0 {
            return Err(Error::Range {
                what: "the alignment of the workspace",
                got: misplaced,
                have: 0,
            });
        }
        let end = (self.len.checked_mul(size_of::<T>()))
            .and_then(|bytes| bytes.checked_add(self.offset))
            .unwrap_or(usize::MAX);
        if end > workspace.len {
            return Err(Error::Range {
                what: "an array in the workspace",
                got: end,
                have: workspace.len,
            });
        }
        Ok(workspace.start.offset(self.offset).cast())
    }
}

/// Memory and copies.
impl Stream {
    /// A new buffer; what is in it is not said. Waits only where memory is short: for what other
    /// work still holds.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Driver`].
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let device = self.device();
        device.bind()?;
        let guards = if device.canaries().is_some() {
            2 * GUARD_BYTES
        } else {
            0
        };
        let bytes = len.saturating_mul(size_of::<T>());
        let whole = bytes.saturating_add(guards).max(1);
        let base = match device.pool() {
            Some(pool) => {
                let base = pool.alloc(whole, self.raw().cu_stream());
                // What it keeps may be in pieces, or still in use when the host asks.
                let tight = base == Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
                match tight && device.trim().is_ok() {
                    true => pool.alloc(whole, self.raw().cu_stream()),
                    false => base,
                }
            }
            // SAFETY: a context is the thread's.
            None => unsafe { result::malloc_sync(whole) },
        };
        let base = base.map_err(|error| match error.0 {
            // A size beyond all memory is called invalid.
            CUresult::CUDA_ERROR_OUT_OF_MEMORY | CUresult::CUDA_ERROR_INVALID_VALUE => {
                Error::OutOfMemory {
                    bytes,
                    free: device.memory().map_or(0, |memory| memory.free),
                }
            }
            _ => Error::Driver {
                doing: "allocating device memory",
                why: words(error),
            },
        })?;
        let start = base + (guards / 2) as u64;
        // From here on, dropping it gives the memory back.
        let buffer = Buffer {
            start: Pointer::at(start),
            len,
            stream: self.clone(),
        };
        if let Some(canaries) = device.canaries() {
            canaries.add(self, start, bytes)?;
        }
        Ok(buffer)
    }

    /// A new buffer of zeros.
    ///
    /// # Errors
    /// As [`alloc`](Self::alloc).
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let mut buffer = self.alloc(len)?;
        self.fill(&mut buffer, 0)?;
        Ok(buffer)
    }

    /// A new buffer with these elements.
    ///
    /// # Errors
    /// As [`alloc`](Self::alloc).
    pub fn upload<T: Pod>(&self, elements: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.alloc(elements.len())?;
        self.write(elements, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies from the host to the device, and waits for the end.
    ///
    /// # Errors
    /// [`Error::Range`] if the lengths differ, or [`Error::Driver`].
    pub fn write<'a, T: Pod>(&self, from: &[T], to: impl Into<SliceMut<'a, T>>) -> Result<()> {
        let to = to.into();
        same("the source of a copy", from.len(), to.len)?;
        if from.is_empty() {
            return Ok(());
        }
        self.device().bind()?;
        let (address, stream) = (to.start.address, self.raw().cu_stream());
        // SAFETY: both are this long, and the host's is borrowed until the stream is through.
        let copied = unsafe { result::memcpy_htod_async(address, from, stream) };
        self.synchronize()?;
        copied.map_err(while_doing("copying to the device"))
    }

    /// Copies from the device to the host, and waits for the end.
    ///
    /// # Errors
    /// [`Error::Range`] if the lengths differ, or [`Error::Driver`], also where work that was put
    /// in before has failed; `to` is then partly overwritten.
    pub fn read<'a, T: Pod>(&self, from: impl Into<Slice<'a, T>>, to: &mut [T]) -> Result<()> {
        let from = from.into();
        same("the source of a copy", from.len, to.len())?;
        if to.is_empty() {
            return self.synchronize();
        }
        self.device().bind()?;
        let (address, stream) = (from.start.address, self.raw().cu_stream());
        // SAFETY: both are this long, and the host's is borrowed until the stream is through.
        let copied = unsafe { result::memcpy_dtoh_async(to, address, stream) };
        self.synchronize()?;
        copied.map_err(while_doing("copying from the device"))
    }

    /// The elements of a slice.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn download<'a, T: Pod>(&self, from: impl Into<Slice<'a, T>>) -> Result<Vec<T>> {
        let from = from.into();
        let mut elements = vec![T::zeroed(); from.len];
        self.read(from, &mut elements)?;
        Ok(elements)
    }

    /// A new buffer with what another has. Enqueues only.
    ///
    /// # Errors
    /// As [`alloc`](Self::alloc) and [`copy`](Self::copy).
    pub fn copied<T: Pod>(&self, from: &Buffer<T>) -> Result<Buffer<T>> {
        let mut to = self.alloc(from.len())?;
        self.copy(from, &mut to)?;
        Ok(to)
    }

    /// Copies on the device, in the stream's order.
    ///
    /// # Errors
    /// [`Error::Range`] if the lengths differ, or [`Error::Driver`].
    pub fn copy<'a, 'b, T: Pod>(
        &self,
        from: impl Into<Slice<'a, T>>,
        to: impl Into<SliceMut<'b, T>>,
    ) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        same("the source of a copy", from.len, to.len)?;
        if from.is_empty() {
            return Ok(());
        }
        self.device().bind()?;
        let (source, target) = (from.start.address, to.start.address);
        let bytes = from.len * size_of::<T>();
        // SAFETY: both are this long, and do not overlap, one being borrowed to be written.
        let copied =
            unsafe { result::memcpy_dtod_async(target, source, bytes, self.raw().cu_stream()) };
        copied.map_err(while_doing("copying on the device"))
    }

    /// Sets every byte of a slice, in the stream's order.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn fill<'a, T: Pod>(&self, slice: impl Into<SliceMut<'a, T>>, byte: u8) -> Result<()> {
        let slice = slice.into();
        if slice.is_empty() {
            return Ok(());
        }
        self.device().bind()?;
        let bytes = slice.len * size_of::<T>();
        let (address, stream) = (slice.start.address, self.raw().cu_stream());
        // SAFETY: the slice is this long.
        let filled = unsafe { result::memset_d8_async(address, byte, bytes, stream) };
        filled.map_err(while_doing("filling device memory"))
    }
}

/// Refuses two lengths that differ.
pub(crate) fn same(what: &'static str, got: usize, have: usize) -> Result<()> {
    if got == have {
        Ok(())
    } else {
        Err(Error::Range { what, got, have })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_stay_within() {
        // SAFETY: nothing follows it.
        let slice = unsafe { Slice::<u32>::from_raw(Pointer::at(4096), 10) };
        let part = slice.slice(2..=4).unwrap();
        assert_eq!((part.pointer().address(), part.len()), (4104, 3));
        assert_eq!(slice.slice(10..).unwrap().len(), 0);
        let backwards = (Bound::Included(4), Bound::Excluded(3));
        for range in [(Bound::Included(3), Bound::Excluded(11)), backwards] {
            assert!(matches!(slice.slice(range), Err(Error::Range { .. })));
        }
        let bytes = slice.cast::<u8>().unwrap();
        assert_eq!(bytes.len(), 40);
        let wide = bytes.slice(8..).unwrap().cast::<u64>().unwrap();
        assert_eq!((wide.pointer().address(), wide.len()), (4104, 4));
        assert!(bytes.slice(4..).unwrap().cast::<u64>().is_err());
    }

    #[test]
    fn slices_are_split() {
        // SAFETY: nothing follows it.
        let slice = unsafe { SliceMut::<u64>::from_raw(Pointer::at(256), 5) };
        let (left, right) = slice.split_at(2).unwrap();
        assert_eq!((left.len(), right.len()), (2, 3));
        assert_eq!(right.pointer().address(), 272);
        assert!(right.split_at(4).is_err());
    }

    #[test]
    fn layouts_align_their_arrays() {
        let mut layout = Layout::new();
        let (a, b, c) = (
            layout.array::<u8>(3),
            layout.array::<u64>(0),
            layout.array::<u64>(33),
        );
        assert_eq!(layout.bytes(), 256 + 512);
        // SAFETY: nothing follows it.
        let workspace = |address, len| unsafe { SliceMut::from_raw(Pointer::at(address), len) };
        let of = workspace(1024, layout.bytes());
        assert_eq!(a.within(&of).unwrap().address(), 1024);
        assert_eq!(b.within(&of).unwrap().address(), 1280);
        assert_eq!(c.within(&of).unwrap().address(), 1280);
        assert!(c.within(&workspace(1024, 256 + 263)).is_err());
        assert!(c.within(&workspace(1024, 256 + 264)).is_ok());
        assert!(a.within(&workspace(1025, 4096)).is_err());

        layout.array::<u64>(usize::MAX / 4);
        assert_eq!(layout.bytes(), usize::MAX);
    }
}
