//! Modules, kernels, their arguments, and launches.
//!
//! ```ignore
//! let module = device.module(image)?;
//! let scatter = module.kernel("split_scatter")?;
//! let grid = Grid::new(blocks, 256).shared(bytes);
//! // SAFETY: keys, f and out have n elements each, and no other stream uses them.
//! unsafe { stream.launch(&scatter, grid, args![&keys, n as u32, bit, &f, &mut out]) }?;
//! ```

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytemuck::Pod;
use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute as Attribute, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchAttributeValue, CUmodule,
};
use cudarc::driver::{CudaContext, result};

use crate::device::{Device, Facts};
use crate::driver;
use crate::error::{Error, Result, while_doing, words};
use crate::image::{Code, Image};
use crate::memory::{Buffer, Pointer, Slice, SliceMut};
use crate::stream::Stream;

/// An image on a device. Kernels are looked up by name, once each.
#[derive(Debug)]
pub struct Module {
    image: Image,
    loaded: Arc<Loaded>,
    kernels: Mutex<BTreeMap<String, Arc<Kernel>>>,
    tables: Mutex<BTreeMap<String, Arc<[u32]>>>,
    facts: Facts,
    load_time: Duration,
}

/// The driver's module, unloaded when dropped.
#[derive(Debug)]
struct Loaded {
    module: CUmodule,
    context: Arc<CudaContext>,
}

// SAFETY: the driver lets any thread use a module whose context it has entered.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: no kernel of it is left, for each keeps it. A failure is one of earlier work.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

impl Module {
    pub(crate) fn load(device: &Device, image: Image) -> Result<Self> {
        Self::load_code(device, image, image.for_device(device.facts()))
    }

    /// Loads this code of an image, whether it is the one that suits the driver or not.
    pub(crate) fn load_code(device: &Device, image: Image, code: Code) -> Result<Self> {
        let start = Instant::now();
        let code = code.decompressed().map_err(|_| Error::Driver {
            doing: "loading kernels",
            why: format!("the image {image} is damaged"),
        })?;
        // SAFETY: images are whole.
        let module = unsafe { Self::load_decompressed(device, image, &code)? };
        Ok(Module {
            load_time: start.elapsed(),
            ..module
        })
    }

    /// Loads this instead of an image's own code.
    ///
    /// # Safety
    /// It is machine code or PTX, whole, the latter with a zero behind it.
    pub(crate) unsafe fn load_decompressed(
        device: &Device,
        image: Image,
        code: &[u128],
    ) -> Result<Self> {
        device.bind()?;
        let start = Instant::now();
        // SAFETY: the driver finds the length in the machine code, and a zero behind PTX.
        let module = unsafe { result::module::load_data(code.as_ptr().cast()) };
        let module = module.map_err(while_doing("loading kernels"))?;
        Ok(Module {
            image,
            loaded: Arc::new(Loaded {
                module,
                context: device.context().clone(),
            }),
            kernels: Mutex::default(),
            tables: Mutex::default(),
            facts: device.facts().clone(),
            load_time: start.elapsed(),
        })
    }

    /// The image.
    pub fn image(&self) -> Image {
        self.image
    }

    /// How long it took to decompress and load it. The driver may load a kernel's code at its first
    /// launch only.
    pub fn load_time(&self) -> Duration {
        self.load_time
    }

    /// One of its kernels.
    ///
    /// # Errors
    /// [`Error::NoKernel`] or [`Error::Driver`].
    pub fn kernel(&self, name: &str) -> Result<Arc<Kernel>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(kernel.clone());
        }
        let kernel = Arc::new(self.find(name)?);
        kernels.insert(name.to_owned(), kernel.clone());
        Ok(kernel)
    }

    /// A table of words that the image has for the host, read once.
    ///
    /// # Errors
    /// [`Error::NoKernel`] or [`Error::Driver`].
    pub(crate) fn table(&self, name: &str) -> Result<Arc<[u32]>> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = tables.get(name) {
            return Ok(table.clone());
        }
        let failed = while_doing("reading a kernel's table");
        let symbol = CString::new(name).map_err(|_| self.missing(name))?;
        self.loaded.context.bind_to_thread().map_err(&failed)?;
        // SAFETY: the module is loaded.
        let found = unsafe { result::module::get_global(self.loaded.module, symbol) };
        let (address, bytes) = found.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NOT_FOUND => self.missing(name),
            _ => failed(error),
        })?;
        let mut words = vec![0u32; bytes / size_of::<u32>()];
        // SAFETY: the table has so many bytes, and nobody writes to it.
        unsafe { result::memcpy_dtoh_sync(&mut words, address) }.map_err(&failed)?;
        let table: Arc<[u32]> = words.into();
        tables.insert(name.to_owned(), table.clone());
        Ok(table)
    }

    fn missing(&self, name: &str) -> Error {
        Error::NoKernel {
            image: self.image.to_string(),
            kernel: name.to_owned(),
        }
    }

    fn find(&self, name: &str) -> Result<Kernel> {
        let missing = || self.missing(name);
        let failed = while_doing("asking for a kernel");
        let symbol = CString::new(name).map_err(|_| missing())?;
        self.loaded.context.bind_to_thread().map_err(&failed)?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.loaded.module, symbol) };
        let function = function.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NOT_FOUND => missing(),
            _ => failed(error),
        })?;
        let get = |attribute| {
            // SAFETY: the function is the driver's.
            let value = unsafe { result::function::get_function_attribute(function, attribute) };
            value.map(|value| value.max(0) as u32).map_err(&failed)
        };
        Ok(Kernel {
            name: name.to_owned(),
            function,
            parameters: driver::parameter_sizes(function),
            threads: get(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            registers: get(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            static_shared: get(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local: get(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            binary: get(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
            shared_limit: self.facts.shared_per_block,
            shared_now: AtomicU32::new(get(
                Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            )?),
            module: self.loaded.clone(),
        })
    }
}

/// A kernel on a device.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    function: CUfunction,
    /// The sizes of its parameters, where the driver tells.
    parameters: Option<Vec<usize>>,
    threads: u32,
    registers: u32,
    static_shared: u32,
    local: u32,
    binary: u32,
    /// What static and dynamic shared memory may come to.
    shared_limit: u32,
    /// The dynamic shared memory that it may have now, without being raised.
    shared_now: AtomicU32,
    module: Arc<Loaded>,
}

// SAFETY: the driver lets any thread use a function whose context it has entered.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Threads that a block of it can have, at most.
    pub fn max_threads(&self) -> u32 {
        self.threads
    }

    /// Registers that each thread takes.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Local memory that each thread takes, in bytes: what did not fit in registers.
    pub fn local_bytes(&self) -> u32 {
        self.local
    }

    /// Shared memory that each block takes by itself, in bytes.
    pub fn static_shared_bytes(&self) -> u32 {
        self.static_shared
    }

    /// Dynamic shared memory that a block can have, at most, in bytes.
    pub fn max_dynamic_shared_bytes(&self) -> u32 {
        self.shared_limit.saturating_sub(self.static_shared)
    }

    /// The architecture of its machine code, 90 for `sm_90`. Where that is older than the device,
    /// the code came out of PTX.
    pub fn binary_version(&self) -> u32 {
        self.binary
    }

    /// How many blocks of so many threads and bytes of dynamic shared memory a multiprocessor holds
    /// at a time.
    ///
    /// # Errors
    /// [`Error::Launch`] if no block can be launched so, or [`Error::Driver`].
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        self.fits(threads, shared_bytes)?;
        let failed = while_doing("asking for an occupancy");
        self.module.context.bind_to_thread().map_err(&failed)?;
        let (threads, shared_bytes) = (threads as i32, shared_bytes as usize);
        // SAFETY: the function is loaded.
        let blocks = unsafe {
            result::occupancy::max_active_block_per_multiprocessor(
                self.function,
                threads,
                shared_bytes,
            )
        };
        blocks.map(|blocks| blocks.max(0) as u32).map_err(failed)
    }

    /// Whether a block can be so large. Opts in to as much shared memory as it takes.
    fn fits(&self, threads: u32, shared_bytes: u32) -> Result<()> {
        if threads == 0 || threads > self.threads {
            return Err(self.refuse(format!(
                "a block of {threads} threads, where 1 to {} can be",
                self.threads
            )));
        }
        let most = self.max_dynamic_shared_bytes();
        if shared_bytes > most {
            return Err(self.refuse(format!(
                "{shared_bytes} bytes of dynamic shared memory, where up to {most} can be"
            )));
        }
        if shared_bytes > self.shared_now.load(Ordering::Relaxed) {
            let failed = while_doing("opting in to shared memory");
            self.module.context.bind_to_thread().map_err(&failed)?;
            // SAFETY: the function is loaded. Two threads may both raise it, to the same.
            let raised = unsafe {
                result::function::set_function_attribute(
                    self.function,
                    Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    most as i32,
                )
            };
            raised.map_err(failed)?;
            self.shared_now.store(most, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether arguments are as many and as large as the parameters.
    fn takes(&self, arguments: &[Argument<'_>]) -> Result<()> {
        let Some(parameters) = &self.parameters else {
            return Ok(());
        };
        if arguments.len() != parameters.len() {
            return Err(self.refuse(format!(
                "{} arguments, where it has {} parameters",
                arguments.len(),
                parameters.len()
            )));
        }
        let wrong = (arguments.iter().zip(parameters))
            .position(|(argument, &size)| argument.size as usize != size);
        match wrong {
            None => Ok(()),
            Some(i) => Err(self.refuse(format!(
                "argument {i} has {} bytes, and the parameter {}",
                arguments[i].size, parameters[i]
            ))),
        }
    }

    fn refuse(&self, why: String) -> Error {
        Error::Launch {
            kernel: self.name.clone(),
            why,
        }
    }
}

/// A number in each of up to three dimensions; made of one, two or three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first dimension, the one that neighbours are in.
    pub x: u32,
    /// The second.
    pub y: u32,
    /// The third.
    pub z: u32,
}

impl Extent {
    /// The product of all three.
    pub fn volume(self) -> u64 {
        u64::from(self.x) * u64::from(self.y) * u64::from(self.z)
    }
}

impl From<u32> for Extent {
    fn from(x: u32) -> Self {
        Extent { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Extent {
    fn from((x, y): (u32, u32)) -> Self {
        Extent { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Extent {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Extent { x, y, z }
    }
}

/// A kernel and how it is launched.
pub(crate) type Launch = (Arc<Kernel>, Grid);

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    blocks: Extent,
    threads: Extent,
    shared_bytes: u32,
    dependent: bool,
    cooperative: bool,
    cluster: u32,
}

impl Grid {
    /// So many blocks of so many threads. Without a block, nothing is launched.
    pub fn new(blocks: impl Into<Extent>, threads: impl Into<Extent>) -> Self {
        Grid {
            blocks: blocks.into(),
            threads: threads.into(),
            shared_bytes: 0,
            dependent: false,
            cooperative: false,
            cluster: 1,
        }
    }

    /// As many blocks of `threads` threads as it takes where each treats `per_block` of `n` items;
    /// `None` if they are more than a grid can have, 2^31 - 1.
    pub fn over(n: u64, per_block: u64, threads: u32) -> Option<Self> {
        let blocks = i32::try_from(n.div_ceil(per_block.max(1))).ok()?;
        Some(Grid::new(blocks as u32, threads))
    }

    /// With so many blocks instead.
    #[must_use]
    pub(crate) fn of(self, blocks: u32) -> Self {
        Grid {
            blocks: blocks.into(),
            ..self
        }
    }

    /// With dynamic shared memory for each block, in bytes.
    #[must_use]
    pub fn shared(self, bytes: u32) -> Self {
        Grid {
            shared_bytes: bytes,
            ..self
        }
    }

    /// It may start before the kernel in front of it has ended, and waits for that by itself
    /// (programmatic dependent launch). Only where the kernel does so; nothing before compute
    /// capability 9.0.
    #[must_use]
    pub fn dependent(self) -> Self {
        Grid {
            dependent: true,
            ..self
        }
    }

    /// As [`dependent`](Self::dependent), where kernels wait.
    #[must_use]
    pub(crate) fn dependent_if(self, kernels_wait: bool) -> Self {
        Grid {
            dependent: kernels_wait,
            ..self
        }
    }

    /// All blocks run at the same time, or it is refused.
    #[must_use]
    pub fn cooperative(self) -> Self {
        Grid {
            cooperative: true,
            ..self
        }
    }

    /// In clusters of so many neighbouring blocks; from compute capability 9.0 on.
    #[must_use]
    pub fn cluster(self, blocks: u32) -> Self {
        Grid {
            cluster: blocks,
            ..self
        }
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> Extent {
        self.blocks
    }

    /// How many threads a block has.
    pub fn threads(&self) -> Extent {
        self.threads
    }
}

/// How large an argument can be, in bytes: a sort's whole task, with the codec of 128-bit keys.
const ARGUMENT_BYTES: usize = 512;

/// A kernel's argument: a number, or the address of a buffer that stays borrowed.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Argument<'a> {
    bytes: [MaybeUninit<u8>; ARGUMENT_BYTES],
    size: u32,
    borrow: PhantomData<&'a ()>,
}

impl Argument<'_> {
    /// A structure, laid out as the kernel's; up to 512 bytes. What it points to is not borrowed.
    pub fn plain<T: Copy>(value: &T) -> Self {
        const {
            assert!(
                size_of::<T>() <= ARGUMENT_BYTES,
                "an argument of over 512 bytes"
            )
        };
        let mut bytes = [MaybeUninit::uninit(); ARGUMENT_BYTES];
        let from = std::ptr::from_ref(value).cast::<MaybeUninit<u8>>();
        // SAFETY: the value has so many bytes, padding among them, and the array has room for them.
        unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), size_of::<T>()) };
        Argument {
            bytes,
            size: size_of::<T>() as u32,
            borrow: PhantomData,
        }
    }
}

macro_rules! numbers {
    ($($Number:ty),*) => {$(
        impl From<$Number> for Argument<'_> {
            fn from(number: $Number) -> Self {
                Argument::plain(&number)
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, f32, f64);

impl<T> From<Pointer<T>> for Argument<'_> {
    fn from(pointer: Pointer<T>) -> Self {
        Argument::plain(&pointer.address())
    }
}

macro_rules! addresses {
    ($($From:ty),*) => {$(
        impl<'a, T: Pod> From<$From> for Argument<'a> {
            fn from(memory: $From) -> Self {
                Argument::from(memory.pointer())
            }
        }

        /// `None` is the null pointer.
        impl<'a, T: Pod> From<Option<$From>> for Argument<'a> {
            fn from(memory: Option<$From>) -> Self {
                Argument::from(memory.map_or(Pointer::NULL, |memory| memory.pointer()))
            }
        }
    )*};
}
addresses!(
    &'a Buffer<T>,
    &'a mut Buffer<T>,
    Slice<'a, T>,
    SliceMut<'a, T>
);

impl<'a, T: Pod> From<&'a mut SliceMut<'_, T>> for Argument<'a> {
    fn from(slice: &'a mut SliceMut<'_, T>) -> Self {
        Argument::from(slice.pointer())
    }
}

impl<'a, T: Pod> From<&'a SliceMut<'_, T>> for Argument<'a> {
    fn from(slice: &'a SliceMut<'_, T>) -> Self {
        Argument::from(slice.pointer())
    }
}

/// The arguments of a launch: numbers, [`Pointer`]s, buffers and slices (`&` where the kernel reads,
/// `&mut` where it writes), and options of those, whose `None` is null. A number's type must be the
/// parameter's: `n as u32`, not `n`.
#[macro_export]
macro_rules! args {
    ($($argument:expr),* $(,)?) => {
        [$($crate::Argument::from($argument)),*]
    };
}

/// Launches.
impl Stream {
    /// Puts a kernel in. Its arguments must be as many as its parameters, and each as large; drivers
    /// before CUDA 12.4 cannot be asked for that.
    ///
    /// # Safety
    /// Launched so, the kernel stays within the buffers that it is given; they are on this device;
    /// and what it writes no work in another stream uses at the same time.
    ///
    /// # Errors
    /// [`Error::Launch`] if it does not fit the kernel, or [`Error::Driver`], also where an earlier
    /// kernel has failed.
    pub unsafe fn launch<const N: usize>(
        &self,
        kernel: &Kernel,
        grid: Grid,
        arguments: [Argument<'_>; N],
    ) -> Result<()> {
        kernel.takes(&arguments)?;
        let Grid {
            blocks, threads, ..
        } = grid;
        if blocks.volume() == 0 {
            return Ok(());
        }
        let in_a_block = u32::try_from(threads.volume()).unwrap_or(u32::MAX);
        kernel.fits(in_a_block, grid.shared_bytes)?;
        self.device().bind()?;

        let (mut attributes, count) = attributes(&grid);
        let config = sys::CUlaunchConfig {
            gridDimX: blocks.x,
            gridDimY: blocks.y,
            gridDimZ: blocks.z,
            blockDimX: threads.x,
            blockDimY: threads.y,
            blockDimZ: threads.z,
            sharedMemBytes: grid.shared_bytes,
            hStream: self.raw().cu_stream(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: count,
        };
        let mut pointers = arguments
            .each_ref()
            .map(|argument| argument.bytes.as_ptr().cast_mut().cast::<c_void>());
        // SAFETY: each pointer leads to as many bytes as the parameter has, which the driver copies
        // before it returns; what the kernel does is the caller's promise.
        let launched = unsafe {
            sys::cuLaunchKernelEx(
                &config,
                kernel.function,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        launched.result().map_err(|error| {
            kernel.refuse(format!(
                "{} blocks of {in_a_block} threads and {} bytes of dynamic shared memory: {}",
                blocks.volume(),
                grid.shared_bytes,
                words(error)
            ))
        })
    }
}

/// What a grid asks for beyond its shape, and how many there are of that.
fn attributes(grid: &Grid) -> ([CUlaunchAttribute; 3], u32) {
    let none = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
        pad: [0; 4],
        value: CUlaunchAttributeValue { pad: [0; 64] },
    };
    let mut attributes = [none; 3];
    let mut count = 0;
    let mut add = |id, value| {
        attributes[count] = CUlaunchAttribute { id, value, ..none };
        count += 1;
    };
    if grid.cooperative {
        add(
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            CUlaunchAttributeValue { cooperative: 1 },
        );
    }
    if grid.dependent {
        add(
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: 1,
            },
        );
    }
    if grid.cluster > 1 {
        let mut value = CUlaunchAttributeValue { pad: [0; 64] };
        value.clusterDim.x = grid.cluster;
        value.clusterDim.y = 1;
        value.clusterDim.z = 1;
        add(
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            value,
        );
    }
    (attributes, count as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_packed_as_their_types_are() {
        // SAFETY: nothing follows it.
        let slice = unsafe { Slice::<u64>::from_raw(Pointer::at(0x1122_3344_5566), 3) };
        let nothing: Option<Slice<u32>> = None;
        let pointer = Pointer::<u8>::at(7);
        let packed = args![
            slice,
            nothing,
            5u32,
            1u64 << 40,
            -1i16,
            pointer,
            1u128 << 100
        ];
        let sizes: Vec<u32> = packed.iter().map(|argument| argument.size).collect();
        assert_eq!(sizes, [8, 8, 4, 8, 2, 8, 16]);
        let bytes = |i: usize| -> Vec<u8> {
            let argument: &Argument<'_> = &packed[i];
            let bytes = argument.bytes[..argument.size as usize].iter();
            // SAFETY: these numbers have no padding.
            bytes.map(|byte| unsafe { byte.assume_init() }).collect()
        };
        assert_eq!(bytes(0), 0x1122_3344_5566u64.to_ne_bytes());
        assert_eq!(bytes(1), [0; 8]);
        assert_eq!(bytes(2), 5u32.to_ne_bytes());
        assert_eq!(bytes(4), (-1i16).to_ne_bytes());
        assert_eq!(bytes(6), (1u128 << 100).to_ne_bytes());
        assert_eq!(packed[0].bytes.as_ptr() as usize % 16, 0);
        let none: [Argument<'_>; 0] = args![];
        assert!(none.is_empty() && Argument::plain(&[1u32; 8]).size == 32);
    }

    #[test]
    fn grids_cover_their_items() {
        let blocks = |n, per_block| Some(Grid::over(n, per_block, 128)?.blocks().volume());
        assert_eq!(blocks(0, 256), Some(0));
        assert_eq!(blocks(256, 256), Some(1));
        assert_eq!(blocks(257, 256), Some(2));
        assert_eq!(blocks((1 << 31) - 1, 1), Some((1 << 31) - 1));
        assert_eq!(blocks(1 << 31, 1), None);
        assert_eq!(Extent::from((2, 3, 4)).volume(), 24);
    }

    #[test]
    fn only_what_is_asked_for_is_an_attribute() {
        let plain = Grid::new(1, 32);
        assert_eq!(attributes(&plain).1, 0);
        assert_eq!(attributes(&plain.cooperative()).1, 1);
        let (all, count) = attributes(&plain.cooperative().dependent().cluster(2));
        assert_eq!(count, 3);
        // SAFETY: the value of a cluster is its dimensions.
        assert_eq!(unsafe { all[2].value.clusterDim.x }, 2);
    }
}

#[cfg(test)]
#[path = "on_device.rs"]
mod on_device;
