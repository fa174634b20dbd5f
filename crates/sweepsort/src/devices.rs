//! Which engines are here, and for each absent one, why.

use sweepsort_core::{Choice, Error};

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
    /// Whether [`Choice::Auto`] may take it.
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
    let missing = [Choice::Cuda, Choice::Wgpu].map(|choice| Device {
        engine: choice.name(),
        name: String::new(),
        absent: Some(why_absent(choice).to_owned()),
        auto: false,
    });
    [cpu].into_iter().chain(missing).collect()
}

/// Why the engine of a choice cannot be had.
fn why_absent(choice: Choice) -> &'static str {
    match choice {
        Choice::Cuda => "this version has no CUDA engine yet; use cpu",
        Choice::Wgpu => "this version has no wgpu engine yet; use cpu",
        Choice::Auto | Choice::Cpu => unreachable!("the CPU engine is always here"),
    }
}

/// Whether a choice can be met.
pub(crate) fn present(choice: Choice) -> Result<(), Error> {
    match choice {
        Choice::Auto | Choice::Cpu => Ok(()),
        Choice::Cuda | Choice::Wgpu => Err(Error::EngineAbsent {
            engine: choice.name(),
            why: why_absent(choice).to_owned(),
        }),
    }
}
