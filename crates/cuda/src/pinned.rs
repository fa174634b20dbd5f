//! Page-locked host memory, which a device reads and writes at the link's full speed.
//!
//! Locking pages takes the system longer than copying them once, so this is for memory that is used
//! again and again. It is taken from what all programs share, and is never swapped out.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;
use cudarc::driver::result;
use cudarc::driver::sys::{self, CUmemorytype, CUpointer_attribute, CUresult};

use crate::device::Device;
use crate::error::{Error, Result, words};

/// An array in page-locked host memory, given back when dropped. Every device sees it as such.
///
/// It is used as a slice. Copies between it and a device are direct:
///
/// ```no_run
/// # fn main() -> sweepsort_cuda::Result<()> {
/// use sweepsort_cuda::{Device, Staging};
///
/// let device = Device::open(0)?;
/// let (stream, staging) = (device.stream()?, Staging::new(&device));
/// let mut keys = device.pinned::<u32>(1 << 20)?;
/// keys[7] = 42;
/// let mut buffer = stream.alloc(keys.len())?;
/// staging.upload(&stream, &keys, &mut buffer)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pinned<T: Pod> {
    memory: Locked,
    len: usize,
    of: PhantomData<T>,
}

impl Device {
    /// Zeros in page-locked host memory.
    ///
    /// # Errors
    /// [`Error::HostMemory`] where there is not as much, or [`Error::Driver`].
    pub fn pinned<T: Pod>(self: &Arc<Self>, len: usize) -> Result<Pinned<T>> {
        let bytes = len.saturating_mul(size_of::<T>());
        if bytes > isize::MAX as usize || align_of::<T>() > PAGE {
            return Err(Error::HostMemory { bytes });
        }
        let memory = Locked::new(self, bytes)?;
        // SAFETY: so many bytes are there, and nobody else has them yet.
        unsafe { memory.start().write_bytes(0, bytes) };
        Ok(Pinned {
            memory,
            len,
            of: PhantomData,
        })
    }
}

impl<T: Pod> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many elements are there, from the start of a page on, initialised, and borrowed
        // as long as this is.
        unsafe { std::slice::from_raw_parts(self.memory.start().cast(), self.len) }
    }
}

impl<T: Pod> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start().cast(), self.len) }
    }
}

/// What page-locked memory starts at a multiple of, in bytes: the smallest page that there is.
pub(crate) const PAGE: usize = 4096;

/// Page-locked bytes, which nobody has written to yet.
#[derive(Debug)]
pub(crate) struct Locked {
    start: NonNull<u8>,
    device: Arc<Device>,
}

// SAFETY: it is memory that no thread owns; who may follow the pointer, its owner decides.
unsafe impl Send for Locked {}
// SAFETY: as above.
unsafe impl Sync for Locked {}

impl Locked {
    /// So many bytes, or one where none are asked for.
    ///
    /// # Errors
    /// [`Error::HostMemory`] or [`Error::Driver`].
    pub(crate) fn new(device: &Arc<Device>, bytes: usize) -> Result<Locked> {
        device.bind()?;
        // SAFETY: a context is the thread's.
        let start = unsafe { result::malloc_host(bytes.max(1), sys::CU_MEMHOSTALLOC_PORTABLE) };
        let start = start.map_err(|error| match error.0 {
            // A size beyond all memory is called invalid.
            CUresult::CUDA_ERROR_OUT_OF_MEMORY | CUresult::CUDA_ERROR_INVALID_VALUE => {
                Error::HostMemory { bytes }
            }
            _ => Error::Driver {
                doing: "allocating page-locked memory",
                why: words(error),
            },
        })?;
        Ok(Locked {
            start: NonNull::new(start.cast()).ok_or(Error::HostMemory { bytes })?,
            device: device.clone(),
        })
    }

    /// The address of the first byte, at the start of a page.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: allocated in this way, and used by nobody any more.
            let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
        }
    }
}

/// Whether the first and the last of so many bytes at `start` are page-locked, whoever locked them;
/// there is at least one. A context is the thread's.
pub(crate) fn is_locked(start: *const u8, bytes: usize) -> bool {
    let locked = |at: usize| {
        let mut kind = 0u32;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        // SAFETY: the attribute is such a number, and the driver looks the address up among those
        // that it knows, without following it.
        let answer =
            unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), attribute, at as u64) };
        // Memory that the driver does not know is an error.
        answer == CUresult::CUDA_SUCCESS && kind == CUmemorytype::CU_MEMORYTYPE_HOST as u32
    };
    locked(start.addr()) && locked(start.addr() + (bytes - 1))
}
