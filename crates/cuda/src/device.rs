//! A device: its facts, its context and its modules.
//!
//! Opening one keeps the device's primary context alive, which other CUDA libraries of the process
//! share. Modules are loaded when a kernel of theirs is first asked for, and stay. Memory that
//! buffers gave back stays too, for the next ones, until the device is closed.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, CudaStream, result};

use crate::canary::Canaries;
use crate::driver::{self, CudaVersion};
use crate::error::{Error, Result, while_doing};
use crate::figure::{Figure, Row};
use crate::image::{self, Image};
use crate::launch::Module;
use crate::pool::Pool;
use crate::stream::Stream;

/// The compute capability that the kernels need.
const NEEDED: (u32, u32) = (7, 5);

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// Its number, from 0 on; `CUDA_VISIBLE_DEVICES` decides.
    pub ordinal: usize,
    /// Its name, such as `NVIDIA H200`.
    pub name: String,
    /// Its compute capability, major and minor.
    pub capability: (u32, u32),
    /// All its memory, in bytes.
    pub memory_bytes: usize,
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// Threads that a multiprocessor can hold.
    pub threads_per_multiprocessor: u32,
    /// Shared memory that a block can have, in bytes, where a kernel opts in; a launch does so.
    pub shared_per_block: u32,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_per_multiprocessor: u32,
    /// Its second-level cache, in bytes.
    pub l2_bytes: usize,
    /// Whether it allocates in stream order.
    pub pools: bool,
    /// The version of CUDA that the driver serves.
    pub cuda: CudaVersion,
}

impl Facts {
    /// Asks the driver, without a context.
    fn ask(ordinal: usize, cuda: CudaVersion) -> Result<Self> {
        let failed = while_doing("asking for a device's facts");
        let device = result::device::get(ordinal as c_int).map_err(&failed)?;
        let get = |attribute| {
            // SAFETY: the device is one that the driver has just named.
            let value = unsafe { result::device::get_attribute(device, attribute) };
            value.map(|value| value.max(0) as u32).map_err(&failed)
        };
        Ok(Facts {
            ordinal,
            name: result::device::get_name(device).map_err(&failed)?,
            capability: (
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            // SAFETY: as above.
            memory_bytes: unsafe { result::device::total_mem(device) }.map_err(&failed)?,
            multiprocessors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            threads_per_multiprocessor: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            )?,
            shared_per_block: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            shared_per_multiprocessor: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )?,
            l2_bytes: get(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
            pools: get(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? > 0,
            cuda,
        })
    }
}

impl Facts {
    /// Whether kernels wait for the one in front by themselves, so that they can be launched before
    /// it has ended: those that an image has as machine code for Hopper and later do. PTX is that of
    /// the oldest architecture, and has no such instruction; what a driver makes of it must not start
    /// early.
    pub(crate) fn kernels_wait(&self) -> bool {
        let architecture = image::architecture(self.capability, self.cuda);
        architecture.is_some_and(|architecture| architecture >= 90)
    }
}

/// A device's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What is free now, what the device keeps for its next buffers included.
    pub free: usize,
    /// What there is.
    pub total: usize,
}

/// An open device.
#[derive(Debug)]
pub struct Device {
    facts: Facts,
    context: Arc<CudaContext>,
    modules: Mutex<BTreeMap<Image, Arc<Module>>>,
    /// Of the tables, those that are to be others.
    figures: Mutex<Vec<Figure>>,
    /// Where buffers come from, if the device has pools. Each buffer keeps the device, so that it
    /// goes before the pool.
    pool: Option<Pool>,
    canaries: Option<Canaries>,
}

impl Device {
    /// Every device that the driver shows, unopened.
    ///
    /// # Errors
    /// Why there is none; see [`Error::is_absence`].
    pub fn all() -> Result<Vec<Facts>> {
        let cuda = driver::version()?;
        (0..count()?)
            .map(|ordinal| Facts::ask(ordinal, cuda))
            .collect()
    }

    /// The release of the NVIDIA driver, such as `580.159.04`, where it can be had.
    pub fn driver_release() -> Option<&'static str> {
        static RELEASE: OnceLock<Option<String>> = OnceLock::new();
        RELEASE.get_or_init(driver::release).as_deref()
    }

    /// Opens a device. Takes up to a second where no other has its context open.
    ///
    /// # Errors
    /// Why it is absent; see [`Error::is_absence`].
    pub fn open(ordinal: usize) -> Result<Arc<Self>> {
        Self::open_with(ordinal, false)
    }

    /// Opens a device with guards around every buffer, for tests: they are checked when a buffer is
    /// dropped and by [`check_canaries`](Self::check_canaries), and what is in a new buffer is
    /// poison. Each buffer takes 2 KiB more, and dropping one waits for its stream.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_guarded(ordinal: usize) -> Result<Arc<Self>> {
        Self::open_with(ordinal, true)
    }

    fn open_with(ordinal: usize, guarded: bool) -> Result<Arc<Self>> {
        let cuda = driver::version()?;
        let count = count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let facts = Facts::ask(ordinal, cuda)?;
        if facts.capability < NEEDED {
            return Err(Error::DeviceTooOld {
                name: facts.name,
                has: facts.capability,
            });
        }
        let context = CudaContext::new(ordinal).map_err(while_doing("opening a device"))?;
        let pool = match facts.pools {
            true => Some(Pool::new(&context, ordinal)?),
            false => None,
        };
        Ok(Arc::new(Device {
            facts,
            context,
            modules: Mutex::default(),
            figures: Mutex::default(),
            pool,
            canaries: guarded.then(Canaries::default),
        }))
    }

    /// What it is.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Its memory, free and in all.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn memory(&self) -> Result<Memory> {
        let failed = while_doing("asking for free memory");
        self.bind()?;
        let (free, total) = result::mem_get_info().map_err(failed)?;
        let idle = self.pool.as_ref().map_or(Ok(0), Pool::idle_bytes)?;
        Ok(Memory {
            free: free + idle,
            total,
        })
    }

    /// Hands memory that is kept for the next buffers back to the system, so that others can have
    /// it. Waits for all work on the device.
    ///
    /// # Errors
    /// [`Error::Driver`], also where that work failed.
    pub fn trim(&self) -> Result<()> {
        let Some(pool) = &self.pool else {
            return Ok(());
        };
        let waited = self.context.synchronize();
        waited.map_err(while_doing("waiting for the device"))?;
        pool.trim()
    }

    /// A new stream, which waits for no other.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn stream(self: &Arc<Self>) -> Result<Stream> {
        let raw = self.context.new_stream();
        Ok(Stream::new(
            raw.map_err(while_doing("making a stream"))?,
            self.clone(),
        ))
    }

    /// A stream of the caller's.
    ///
    /// # Errors
    /// [`Error::Driver`] if it belongs to another context.
    pub fn adopt(self: &Arc<Self>, stream: Arc<CudaStream>) -> Result<Stream> {
        if stream.context().cu_ctx() != self.context.cu_ctx() {
            return Err(Error::Driver {
                doing: "using a stream",
                why: format!("it does not belong to device {}", self.facts.ordinal),
            });
        }
        Ok(Stream::new(stream, self.clone()))
    }

    /// The module of an image, loaded if it is not yet.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn module(&self, image: Image) -> Result<Arc<Module>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&image) {
            return Ok(module.clone());
        }
        let module = Arc::new(Module::load(self, image)?);
        modules.insert(image, module.clone());
        Ok(module)
    }

    /// Plans that are made from now on have their kernels from this machine code, and not from the image's
    /// own; with `None` from that again. Plans made before keep theirs. So kernels are measured before
    /// they are an image.
    ///
    /// # Errors
    /// [`Error::Driver`].
    ///
    /// # Safety
    /// The machine code is whole, for this device, and has the kernels of the image's module.
    #[doc(hidden)]
    pub unsafe fn replace(&self, image: Image, code: Option<&[u8]>) -> Result<()> {
        let load = |code| {
            let code = bytemuck::pod_collect_to_vec(code);
            // SAFETY: the caller's promise.
            unsafe { Module::load_decompressed(self, image, &code) }
        };
        let module = code.map(load).transpose()?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.remove(&image);
        modules.extend(module.map(|module| (image, Arc::new(module))));
        Ok(())
    }

    /// Plans that are made from now on are decided by these figures, and by the tables' where they have none; with
    /// no figures by the tables' again. Plans made before stay as they are. So both sides of a threshold are
    /// measured.
    #[doc(hidden)]
    pub fn set_figures(&self, figures: &[Figure]) {
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner) = figures.to_vec();
    }

    /// A row, with the figures that are set.
    pub(crate) fn tuned<R: Row>(&self, row: R) -> R {
        row.with(&self.figures.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for all work on the device, then looks at the guards around every buffer that there
    /// is, and at what was found when others were dropped. Returns how many buffers it looked at:
    /// none where the device was not opened by [`open_guarded`](Self::open_guarded).
    ///
    /// # Errors
    /// [`Error::Canary`] naming each guard that was written to since the last call, or
    /// [`Error::Driver`].
    pub fn check_canaries(&self) -> Result<usize> {
        let Some(canaries) = &self.canaries else {
            return Ok(0);
        };
        let waited = self.context.synchronize();
        waited.map_err(while_doing("waiting for the device"))?;
        canaries.check_all()
    }

    /// The context, for calls of `cudarc`.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub(crate) fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    pub(crate) fn canaries(&self) -> Option<&Canaries> {
        self.canaries.as_ref()
    }

    /// Makes the context the calling thread's.
    pub(crate) fn bind(&self) -> Result<()> {
        let bound = self.context.bind_to_thread();
        bound.map_err(while_doing("entering a device's context"))
    }
}

/// How many devices the driver shows; it has been started.
fn count() -> Result<usize> {
    let count = result::device::get_count().map_err(while_doing("counting devices"))?;
    match usize::try_from(count) {
        Ok(0) | Err(_) => Err(Error::NoDevice),
        Ok(count) => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_device_there_is_an_error_and_no_panic() {
        match (Device::all(), Device::open(0)) {
            (Ok(all), Ok(device)) => assert_eq!(&all[0], device.facts()),
            (Err(all), Err(open)) => {
                println!("{all}");
                assert!(all.is_absence() && all == open, "{all} / {open}");
                let core = all.into_core(sweepsort_core::DataState::Untouched);
                assert!(
                    matches!(core, sweepsort_core::Error::EngineAbsent { .. }),
                    "{core}"
                );
            }
            (all, open) => panic!("{all:?}, but {open:?}"),
        }
        assert!(Device::open(1_000_000).unwrap_err().is_absence());
    }
}
