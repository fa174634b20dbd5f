//! Which engines are here, and for each absent one, why.

#[cfg(any(feature = "cuda", feature = "wgpu"))]
use std::sync::{Arc, Mutex, PoisonError};

use sweepsort_core::Error;

use crate::rental::Open;

/// An engine's device, or the reason why the engine is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Device {
    /// `cpu`, `cuda` or `wgpu`.
    pub engine: &'static str,
    /// What the device is called, and what is known of it; empty where no device was found.
    pub name: String,
    /// Why the engine is absent, and what would work.
    pub absent: Option<String>,
    /// Whether [`Choice::Auto`](crate::Choice::Auto) may take it, where it expects that to be faster.
    /// No device of the wgpu engine is among those: from how many keys on one is the faster, nobody has
    /// measured yet.
    pub auto: bool,
}

/// Every device of the engines that there are, and for those that are absent the reason. Of an engine
/// with several devices, the first is the one that sorts.
///
/// ```
/// let devices = sweepsort::devices();
/// assert!(devices.iter().any(|device| device.engine == "cpu" && device.absent.is_none()));
/// ```
pub fn devices() -> Vec<Device> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let cpu = Device {
        engine: "cpu",
        name: format!("{} cores, {}", cores, std::env::consts::ARCH),
        absent: None,
        auto: true,
    };
    [cpu].into_iter().chain(cuda()).chain(wgpu()).collect()
}

/// The devices of the CUDA engine, or why there is none.
#[cfg(feature = "cuda")]
fn cuda() -> Vec<Device> {
    let device = |name, absent: Option<String>, auto| Device {
        engine: "cuda",
        name,
        absent,
        auto,
    };
    match sweepsort_cuda::Device::all() {
        Err(error) => vec![device(
            String::new(),
            Some(or_cpu(&error.to_string())),
            false,
        )],
        Ok(all) => {
            let driver = sweepsort_cuda::Device::driver_release().unwrap_or("unknown");
            let name = |facts: sweepsort_cuda::Facts| {
                let (major, minor) = facts.capability;
                let gib = facts.memory_bytes as f64 / f64::from(1 << 30);
                format!(
                    "{}, {gib:.1} GiB of memory, {} multiprocessors, compute capability \
                     {major}.{minor}, driver {driver}",
                    facts.name, facts.multiprocessors
                )
            };
            all.into_iter()
                .map(|facts| {
                    // The first device is the one that is opened.
                    let first = facts.ordinal == 0;
                    device(name(facts), None, first)
                })
                .collect()
        }
    }
}

/// Why there is no device, and that the CPU does.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
fn or_cpu(why: &str) -> String {
    format!("{why}, or use cpu")
}

/// The first device, opened when first asked for and kept: whoever sorts there shares its memory
/// and its kernels.
#[cfg(feature = "cuda")]
fn first_device() -> Result<Arc<sweepsort_cuda::Device>, Error> {
    static DEVICE: Mutex<Option<Arc<sweepsort_cuda::Device>>> = Mutex::new(None);
    let mut kept = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = &*kept {
        return Ok(device.clone());
    }
    let device = sweepsort_cuda::Device::open(0)
        .map_err(|error| error.into_core(sweepsort_core::DataState::Untouched))?;
    *kept = Some(device.clone());
    Ok(device)
}

/// A CUDA engine on the first device.
#[cfg(feature = "cuda")]
pub(crate) fn open_cuda() -> Result<sweepsort_cuda::CudaEngine, Error> {
    let engine = first_device().and_then(sweepsort_cuda::CudaEngine::on);
    engine.map_err(absent_or_cpu)
}

/// An error, which says that the CPU does where there is no device.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
fn absent_or_cpu(error: Error) -> Error {
    match error {
        Error::EngineAbsent { engine, why } => Error::EngineAbsent {
            engine,
            why: or_cpu(&why),
        },
        other => other,
    }
}

/// What opens the CUDA engine for `auto`, if this build has it.
#[cfg(feature = "cuda")]
pub(crate) const OPEN_CUDA: Option<Open> = Some(|| {
    let engine = first_device().and_then(sweepsort_cuda::CudaEngine::on)?;
    Ok(Box::new(engine))
});

#[cfg(not(feature = "cuda"))]
pub(crate) const OPEN_CUDA: Option<Open> = None;

#[cfg(not(feature = "cuda"))]
const NO_CUDA: &str = "this build has no CUDA engine; build it with the feature cuda, or use cpu";

#[cfg(not(feature = "cuda"))]
fn cuda() -> Vec<Device> {
    not_built("cuda", NO_CUDA)
}

/// A CUDA engine, which this build does not have.
#[cfg(not(feature = "cuda"))]
pub(crate) fn no_cuda() -> Error {
    Error::EngineAbsent {
        engine: "cuda",
        why: NO_CUDA.to_owned(),
    }
}

/// The adapters of the wgpu engine, the one that it takes first, or why there is none. Where it takes
/// none of them, each says why.
#[cfg(feature = "wgpu")]
fn wgpu() -> Vec<Device> {
    let (preferred, absent) = match sweepsort_wgpu::Adapter::preferred() {
        Ok(adapter) => (Some(adapter), None),
        Err(Error::EngineAbsent { why, .. }) => (None, Some(or_cpu(&why))),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut adapters = sweepsort_wgpu::Adapter::all();
    if let Some(preferred) = preferred {
        adapters.sort_by_key(|adapter| adapter.facts() != preferred.facts());
    }
    let device = |name: String| Device {
        engine: "wgpu",
        name,
        absent: absent.clone(),
        auto: false,
    };
    match &adapters[..] {
        [] => vec![device(String::new())],
        all => all
            .iter()
            .map(|adapter| device(adapter.facts().to_string()))
            .collect(),
    }
}

/// The wgpu engine of the process, on the adapter that is preferred: opened when first asked for and
/// kept, for a device and its pipelines take long to make.
#[cfg(feature = "wgpu")]
pub(crate) fn open_wgpu() -> Result<Arc<sweepsort_wgpu::WgpuEngine>, Error> {
    static ENGINE: Mutex<Option<Arc<sweepsort_wgpu::WgpuEngine>>> = Mutex::new(None);
    let mut kept = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = &*kept {
        return Ok(engine.clone());
    }
    let engine = sweepsort_wgpu::WgpuEngine::open().map_err(absent_or_cpu)?;
    Ok(kept.insert(Arc::new(engine)).clone())
}

#[cfg(not(feature = "wgpu"))]
const NO_WGPU: &str = "this build has no wgpu engine; build it with the feature wgpu, or use cpu";

#[cfg(not(feature = "wgpu"))]
fn wgpu() -> Vec<Device> {
    not_built("wgpu", NO_WGPU)
}

/// A wgpu engine, which this build does not have.
#[cfg(not(feature = "wgpu"))]
pub(crate) fn no_wgpu() -> Error {
    Error::EngineAbsent {
        engine: "wgpu",
        why: NO_WGPU.to_owned(),
    }
}

/// The devices of an engine that this build does not have.
#[cfg(not(all(feature = "cuda", feature = "wgpu")))]
fn not_built(engine: &'static str, why: &str) -> Vec<Device> {
    vec![Device {
        engine,
        name: String::new(),
        absent: Some(why.to_owned()),
        auto: false,
    }]
}
