//! Which engines are here, and for each absent one, why.

#[cfg(any(feature = "cuda", feature = "wgpu"))]
use std::sync::{Arc, Mutex, PoisonError};

use sweepsort_core::Error;
#[cfg(feature = "wgpu")]
use sweepsort_wgpu::{Adapter, Facts, WgpuEngine};

#[cfg(any(feature = "cuda", feature = "wgpu"))]
use crate::rental;
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
    /// Whether [`Choice::Auto`](crate::Choice::Auto) may take it, where it expects that to be faster. Of
    /// the wgpu engine it may do so where it can take no CUDA device; a software adapter never.
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
    let cuda = cuda();
    let wgpu = wgpu(cuda.iter().any(|device| device.auto));
    [cpu].into_iter().chain(cuda).chain(wgpu).collect()
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
                    device(name(facts), None, first && rental::CUDA.may_be_taken())
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
/// none of them, each says why. `auto` takes it where it does not take CUDA.
#[cfg(feature = "wgpu")]
fn wgpu(auto_takes_cuda: bool) -> Vec<Device> {
    let (preferred, absent) = match Adapter::preferred() {
        Ok(adapter) => (Some(adapter), None),
        Err(Error::EngineAbsent { why, .. }) => (None, Some(or_cpu(&why))),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut adapters = Adapter::all();
    if let Some(preferred) = preferred {
        adapters.sort_by_key(|adapter| adapter.facts() != preferred.facts());
    }
    let may_be_taken = !auto_takes_cuda && absent.is_none() && rental::WGPU.may_be_taken();
    let device = |name: String, auto| Device {
        engine: "wgpu",
        name,
        absent: absent.clone(),
        auto,
    };
    match &adapters[..] {
        [] => vec![device(String::new(), false)],
        all => all
            .iter()
            .enumerate()
            .map(|(i, adapter)| {
                // The first adapter is the one that is opened.
                let auto = i == 0 && may_be_taken && for_auto(adapter.facts()).is_ok();
                device(adapter.facts().to_string(), auto)
            })
            .collect(),
    }
}

/// The wgpu engine of the process, on the adapter that is preferred, if whoever asks has nothing against
/// it: opened when first asked for and kept, for a device and its pipelines take long to make.
#[cfg(feature = "wgpu")]
fn wgpu_if(accepts: fn(&Facts) -> Result<(), Error>) -> Result<Arc<WgpuEngine>, Error> {
    static ENGINE: Mutex<Option<Arc<WgpuEngine>>> = Mutex::new(None);
    let mut kept = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = &*kept {
        return accepts(engine.facts()).map(|()| engine.clone());
    }
    let adapter = Adapter::preferred()?;
    accepts(adapter.facts())?;
    let engine = WgpuEngine::on(&adapter, sweepsort_wgpu::Options::default())?;
    Ok(kept.insert(Arc::new(engine)).clone())
}

/// The wgpu engine, on any adapter.
#[cfg(feature = "wgpu")]
pub(crate) fn open_wgpu() -> Result<Arc<WgpuEngine>, Error> {
    wgpu_if(|_| Ok(())).map_err(absent_or_cpu)
}

/// Refuses a processor that plays a GPU: the CPU engine does better.
#[cfg(feature = "wgpu")]
fn for_auto(facts: &Facts) -> Result<(), Error> {
    match facts.software {
        false => Ok(()),
        true => Err(Error::EngineAbsent {
            engine: "wgpu",
            why: format!(
                "{}, which {} names, is a software adapter",
                facts.name,
                sweepsort_wgpu::ADAPTER_VARIABLE
            ),
        }),
    }
}

/// What opens the wgpu engine for `auto`, if this build has it.
#[cfg(feature = "wgpu")]
pub(crate) const OPEN_WGPU: Option<Open> = Some(|| {
    let engine = wgpu_if(for_auto)?;
    Ok(Box::new(engine))
});

#[cfg(not(feature = "wgpu"))]
pub(crate) const OPEN_WGPU: Option<Open> = None;

#[cfg(not(feature = "wgpu"))]
const NO_WGPU: &str = "this build has no wgpu engine; build it with the feature wgpu, or use cpu";

#[cfg(not(feature = "wgpu"))]
fn wgpu(_: bool) -> Vec<Device> {
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

#[cfg(all(test, feature = "wgpu"))]
mod tests {
    use super::*;

    #[test]
    fn auto_refuses_processors_that_play_a_gpu() {
        for software in [false, true] {
            let facts = Facts {
                name: "Radeon".to_owned(),
                backend: "vulkan".to_owned(),
                driver: String::new(),
                software,
                discrete: true,
                subgroups: None,
                workgroup_storage: 1 << 14,
                binding_bytes: 1 << 27,
            };
            let why = for_auto(&facts).err().map(|error| error.to_string());
            let expected = software.then_some(
                "engine wgpu is absent: Radeon, which SWEEPSORT_ADAPTER names, is a software adapter",
            );
            assert_eq!(why.as_deref(), expected, "{facts:?}");
        }
    }
}
