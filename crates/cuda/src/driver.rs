//! The driver: whether it is there, and which version of CUDA it serves.
//!
//! `cudarc` panics at the first call where the driver's library is missing, so it is called only
//! after [`version`] has found one.

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUfunction, CUresult};
use libloading::Library;

use crate::error::{Error, Result, words};

/// The oldest CUDA that is served: that of R525, which the `cudarc` feature names too.
const OLDEST: CudaVersion = CudaVersion(12000);

/// The driver's library, under names that `cudarc` looks for as well.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else {
    &["libcuda.so.1", "libcuda.so"]
};

/// NVIDIA's management library, which comes with the driver.
const MANAGEMENT: &str = if cfg!(windows) {
    "nvml.dll"
} else {
    "libnvidia-ml.so.1"
};

/// A version of CUDA, as the driver counts them: 1000 for each major and 10 for each minor one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CudaVersion(pub i32);

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

/// The version of CUDA that the driver serves; starts the driver. The first answer stays.
pub(crate) fn version() -> Result<CudaVersion> {
    static VERSION: OnceLock<Result<CudaVersion>> = OnceLock::new();
    VERSION.get_or_init(start).clone()
}

fn start() -> Result<CudaVersion> {
    let mut why = String::new();
    let found = LIBRARIES.iter().find_map(|&name| {
        // SAFETY: the driver's library may be loaded by any program.
        let opened = unsafe { Library::new(name) };
        opened.map_err(|error| why = reason(&error)).ok()
    });
    let Some(library) = found else {
        return Err(Error::NoDriver { why });
    };
    // For good: cudarc opens it again, and must find it.
    std::mem::forget(library);

    let mut version = 0;
    // SAFETY: the library is there, and the call may precede cuInit.
    let answer = unsafe { sys::cuDriverGetVersion(&mut version) };
    answer.result().map_err(refusal)?;
    let has = CudaVersion(version);
    if has < OLDEST {
        return Err(Error::DriverTooOld {
            has,
            needs: OLDEST,
            what: "this program".into(),
        });
    }
    // SAFETY: the library is there.
    unsafe { sys::cuInit(0) }.result().map_err(refusal)?;
    Ok(has)
}

/// The loader's words, which lie below the error.
fn reason(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |source| source.to_string())
}

fn refusal(error: cudarc::driver::DriverError) -> Error {
    let why = match error.0 {
        CUresult::CUDA_ERROR_NO_DEVICE => return Error::NoDevice,
        CUresult::CUDA_ERROR_STUB_LIBRARY => {
            "it is the toolkit's stub; put the driver's own library first in the loader's path"
                .into()
        }
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            "its library and its kernel module differ in version; restart the machine".into()
        }
        _ => words(error),
    };
    Error::DriverFailed { why }
}

/// The release of the driver, such as `580.159.04`, where its management library says it.
pub(crate) fn release() -> Option<String> {
    type Init = unsafe extern "C" fn() -> c_int;
    type Version = unsafe extern "C" fn(*mut c_char, u32) -> c_int;
    let mut text = [0u8; 81];
    // SAFETY: these functions have these types in every version of the library, which is
    // initialised before it is asked, shut down after, and writes within the length it is given.
    let answer = unsafe {
        let library = Library::new(MANAGEMENT).ok()?;
        let init = library.get::<Init>(b"nvmlInit_v2\0").ok()?;
        let shutdown = library.get::<Init>(b"nvmlShutdown\0").ok()?;
        let version = library
            .get::<Version>(b"nvmlSystemGetDriverVersion\0")
            .ok()?;
        if init() != 0 {
            return None;
        }
        let answer = version(text.as_mut_ptr().cast(), text.len() as u32 - 1);
        shutdown();
        answer
    };
    let text = std::ffi::CStr::from_bytes_until_nul(&text).ok()?;
    (answer == 0).then(|| text.to_string_lossy().into_owned())
}

/// The sizes of a kernel's parameters in bytes, where the driver tells (from CUDA 12.4 on).
pub(crate) fn parameter_sizes(function: CUfunction) -> Option<Vec<usize>> {
    type Ask = unsafe extern "C" fn(CUfunction, usize, *mut usize, *mut usize) -> CUresult;
    static ASK: OnceLock<Option<Ask>> = OnceLock::new();
    let ask = (*ASK.get_or_init(|| {
        let mut found: *mut c_void = std::ptr::null_mut();
        // SAFETY: the name ends with a zero, and the driver writes a pointer.
        let answer = unsafe {
            sys::cuGetProcAddress_v2(
                c"cuFuncGetParamInfo".as_ptr(),
                &mut found,
                12040,
                0,
                std::ptr::null_mut(),
            )
        };
        let known = answer.result().is_ok() && !found.is_null();
        // SAFETY: it is the function of that name, whose type this is.
        known.then(|| unsafe { std::mem::transmute::<*mut c_void, Ask>(found) })
    }))?;
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is loaded; one parameter beyond the last is an error of its own.
        match unsafe { ask(function, sizes.len(), &mut offset, &mut size) } {
            CUresult::CUDA_SUCCESS => sizes.push(size),
            CUresult::CUDA_ERROR_INVALID_VALUE => return Some(sizes),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_shown_as_people_write_them() {
        assert_eq!(CudaVersion(12040).to_string(), "12.4");
        assert_eq!(CudaVersion(13000).to_string(), "13.0");
    }

    #[test]
    fn a_missing_driver_is_an_error_with_its_reason() {
        // On a machine that has one, there is nothing to see.
        if let Err(error) = version() {
            assert!(error.is_absence(), "{error}");
            assert_eq!(version(), Err(error), "the first answer stays");
        }
    }
}
