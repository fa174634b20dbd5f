//! Device memory that outlives the buffers in it: what one sort gives back, the next one takes.
//!
//! The driver's own pool hands freed memory back to the system whenever a stream or the device is
//! waited for, and mapping it anew takes milliseconds a gigabyte. A device's own pool keeps it, as
//! long as the device is open, or until it is [trimmed](Pool::trim).

use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::result::mem_pool;
use cudarc::driver::sys::{
    CUdeviceptr, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType,
    CUmemPool_attribute as Attribute, CUmemPoolProps, CUmemoryPool, CUstream,
};
use cudarc::driver::{CudaContext, DriverError};

use crate::error::{Result, while_doing};

/// A pool of a device's memory. Buffers that are left when it is dropped keep theirs.
#[derive(Debug)]
pub(crate) struct Pool {
    raw: CUmemoryPool,
    /// The pool is destroyed before this may be.
    context: Arc<CudaContext>,
}

// SAFETY: the driver lets any thread use a pool.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// A pool of the device of this number, which has such; the context is the device's.
    pub fn new(context: &Arc<CudaContext>, ordinal: usize) -> Result<Pool> {
        let failed = while_doing("making a pool of device memory");
        let properties = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: ordinal as c_int,
            },
            win32SecurityAttributes: std::ptr::null_mut(),
            reserved: [0; 64],
        };
        // SAFETY: the properties live through the call.
        let raw = unsafe { mem_pool::create(&properties) }.map_err(&failed)?;
        let pool = Pool {
            raw,
            context: context.clone(),
        };
        let mut all = u64::MAX;
        let threshold = Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the attribute is such a number.
        unsafe { mem_pool::set_attribute(pool.raw, threshold, (&raw mut all).cast()) }
            .map_err(failed)?;
        Ok(pool)
    }

    /// Memory in the order of a stream of the device, to be given back by `free_async`.
    pub fn alloc(&self, bytes: usize, stream: CUstream) -> Result<CUdeviceptr, DriverError> {
        // SAFETY: the pool is there, and the stream is the caller's.
        unsafe { mem_pool::alloc_async(self.raw, bytes, stream) }
    }

    /// Gives back what no buffer has and no work on the device still uses.
    pub fn trim(&self) -> Result<()> {
        // SAFETY: the pool is there.
        unsafe { mem_pool::trim_to(self.raw, 0) }.map_err(while_doing("trimming a pool"))
    }

    /// How many bytes are kept though no buffer has them.
    pub fn idle_bytes(&self) -> Result<usize> {
        let get = |attribute| {
            let mut bytes = 0u64;
            // SAFETY: these attributes are such numbers.
            unsafe { mem_pool::get_attribute(self.raw, attribute, (&raw mut bytes).cast()) }
                .map_err(while_doing("asking for a pool's memory"))?;
            Ok(bytes as usize)
        };
        let reserved = get(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        let used = get(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
        Ok(reserved.saturating_sub(used))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: nobody else has it. The driver keeps what is still in use.
            let _ = unsafe { mem_pool::destroy(self.raw) };
        }
    }
}
