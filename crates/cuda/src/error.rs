//! What can be wrong with a device, and what would work.

use cudarc::driver::DriverError;
use sweepsort_core::DataState;

use crate::driver::CudaVersion;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that the device layer can refuse or fail at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library is not there.
    #[error("there is no NVIDIA driver ({why}); install one, R525 or later")]
    NoDriver {
        /// The loader's words.
        why: String,
    },
    /// The driver's library is there but does not start.
    #[error("the NVIDIA driver does not start: {why}")]
    DriverFailed {
        /// The driver's words.
        why: String,
    },
    /// The driver serves a CUDA that is too old.
    #[error(
        "the NVIDIA driver serves CUDA {has}, and {what} needs {needs}; install a newer driver"
    )]
    DriverTooOld {
        /// What the driver serves.
        has: CudaVersion,
        /// What would do.
        needs: CudaVersion,
        /// Who needs it.
        what: String,
    },
    /// The driver is there, and no device.
    #[error("the NVIDIA driver finds no device; check CUDA_VISIBLE_DEVICES and nvidia-smi")]
    NoDevice,
    /// A device number that no device has.
    #[error("there is no CUDA device {ordinal}; there are {count}, the first being 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },
    /// A device that is older than the kernels.
    #[error("{name} has compute capability {}.{}, and the kernels need 7.5", has.0, has.1)]
    DeviceTooOld {
        /// The device's name.
        name: String,
        /// Its compute capability.
        has: (u32, u32),
    },
    /// Device memory that could not be had.
    #[error(
        "{bytes} bytes of device memory could not be allocated, {free} being free; sort fewer keys at a time"
    )]
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
        /// How many bytes the device had free.
        free: usize,
    },
    /// Page-locked host memory that could not be had.
    #[error(
        "{bytes} bytes of page-locked host memory could not be allocated; ask for less, or use ordinary memory"
    )]
    HostMemory {
        /// How many bytes were asked for.
        bytes: usize,
    },
    /// A kernel that the image does not have.
    #[error("the image {image} has no kernel {kernel}")]
    NoKernel {
        /// The image's name.
        image: String,
        /// The kernel asked for.
        kernel: String,
    },
    /// A launch that does not fit the kernel.
    #[error("kernel {kernel} cannot be launched so: {why}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// What does not fit.
        why: String,
    },
    /// A plan that is not for what it was asked to sort, or of what no kernel can sort.
    #[error("the plan does not fit: {why}")]
    Plan {
        /// What does not fit.
        why: String,
    },
    /// A range or a length that does not fit.
    #[error("{what}: {got} is not within {have}")]
    Range {
        /// What was asked for.
        what: &'static str,
        /// What it reaches up to.
        got: usize,
        /// What there is.
        have: usize,
    },
    /// Something wrote outside its buffer.
    #[error("written outside of a buffer: {}", found.join("; "))]
    Canary {
        /// Each guard that was written to.
        found: Vec<String>,
    },
    /// The driver refused something, or a kernel failed.
    #[error("{doing}: {why}")]
    Driver {
        /// What was being done.
        doing: &'static str,
        /// The driver's words.
        why: String,
    },
}

impl Error {
    /// Whether it means that there is no device to be used.
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            Error::NoDriver { .. }
                | Error::DriverFailed { .. }
                | Error::DriverTooOld { .. }
                | Error::NoDevice
                | Error::NoSuchDevice { .. }
                | Error::DeviceTooOld { .. }
        )
    }

    /// The same as an engine's error, given what has become of the caller's data.
    pub fn into_core(self, data: DataState) -> sweepsort_core::Error {
        let engine = "cuda";
        match self {
            absent if absent.is_absence() => sweepsort_core::Error::EngineAbsent {
                engine,
                why: absent.to_string(),
            },
            Error::OutOfMemory { bytes, .. } | Error::HostMemory { bytes }
                if data == DataState::Untouched =>
            {
                sweepsort_core::Error::OutOfMemory { bytes }
            }
            other => sweepsort_core::Error::Device {
                engine,
                what: other.to_string(),
                data,
            },
        }
    }
}

/// Says what was being done when the driver refused.
pub(crate) fn while_doing(doing: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Driver {
        doing,
        why: words(error),
    }
}

/// The driver's words for an error. Asks the driver, so one must be there.
pub(crate) fn words(error: DriverError) -> String {
    let text = |text: Result<&std::ffi::CStr, DriverError>| {
        text.map_or_else(
            |_| String::new(),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    format!("{} ({:?})", text(error.error_string()), error.0)
}
