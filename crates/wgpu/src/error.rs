//! What wgpu reports, as errors of a sort.

use sweepsort_core::{DataState, Error, Result};

/// A device that failed before any result was written.
pub(crate) fn failed(what: impl ToString) -> Error {
    Error::Device {
        engine: "wgpu",
        what: what.to_string(),
        data: DataState::Untouched,
    }
}

/// Does something with a device, and returns its first complaint, if there is one.
///
/// # Errors
/// [`Error::Device`] with wgpu's own words.
pub(crate) fn scoped<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> Result<T> {
    let filters = [
        wgpu::ErrorFilter::Internal,
        wgpu::ErrorFilter::OutOfMemory,
        wgpu::ErrorFilter::Validation,
    ];
    let scopes = filters.map(|filter| device.push_error_scope(filter));
    let made = make();
    let mut complaint = None;
    // The scopes end in the opposite order.
    for scope in scopes.into_iter().rev() {
        complaint = complaint.or(pollster::block_on(scope.pop()));
    }
    match complaint {
        None => Ok(made),
        Some(error) => Err(failed(error)),
    }
}

/// As [`scoped`], for something that takes so many bytes of memory.
///
/// # Errors
/// [`Error::OutOfMemory`], and as there.
pub(crate) fn scoped_memory<T>(
    device: &wgpu::Device,
    bytes: u64,
    make: impl FnOnce() -> T,
) -> Result<T> {
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let made = scoped_validation(device, make);
    match pollster::block_on(memory.pop()) {
        None => made,
        Some(_) => Err(Error::OutOfMemory {
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        }),
    }
}

fn scoped_validation<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> Result<T> {
    let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let made = make();
    match pollster::block_on(scope.pop()) {
        None => Ok(made),
        Some(error) => Err(failed(error)),
    }
}
