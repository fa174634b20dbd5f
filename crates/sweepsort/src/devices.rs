//! Which engines are here, and for each absent one, why.

#[cfg(feature = "cuda")]
use std::sync::{Arc, Mutex, PoisonError};

use sweepsort_core::{Choice, Error};

use crate::rental::Open;

/// An engine's device, or the reason why the engine is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Device {
    /// `cpu`, `cuda` or `wgpu`.
    pub engine: &'static str,
    /// What the device is called, where the engine is here.
    pub name: String,
    /// Why the engine is absent, and what would work.
    pub absent: Option<String>,
    /// Whether [`Choice::Auto`] may take it, where it expects that to be faster.
    pub auto: bool,
}

/// Every engine that this build knows, those that are absent with the reason.
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
    let wgpu = Device {
        engine: "wgpu",
        name: String::new(),
        absent: Some(NO_WGPU.to_owned()),
        auto: false,
    };
    [cpu].into_iter().chain(cuda()).chain([wgpu]).collect()
}

const NO_WGPU: &str = "this version has no wgpu engine yet; use cpu";

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
#[cfg(feature = "cuda")]
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
    engine.map_err(|error| match error {
        Error::EngineAbsent { engine, why } => Error::EngineAbsent {
            engine,
            why: or_cpu(&why),
        },
        other => other,
    })
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
    vec![Device {
        engine: "cuda",
        name: String::new(),
        absent: Some(NO_CUDA.to_owned()),
        auto: false,
    }]
}

/// The error for an engine that this build does not have.
pub(crate) fn absent(choice: Choice) -> Error {
    let why = match choice {
        #[cfg(not(feature = "cuda"))]
        Choice::Cuda => NO_CUDA,
        _ => NO_WGPU,
    };
    Error::EngineAbsent {
        engine: choice.name(),
        why: why.to_owned(),
    }
}
