//! Memory that is short, on a software adapter: its memory is that of this process, which is limited.

#![cfg(target_os = "linux")]

use sweepsort_gpu_verify::{Place, wgpu_cases};

/// Bytes of addresses that this process may have: some of them are the driver's and the tests' own.
const LIMIT: u64 = 6 << 30;

#[test]
fn memory_that_is_short_is_an_error_and_then_sorting_goes_on() {
    let limit = libc::rlimit {
        rlim_cur: LIMIT,
        rlim_max: LIMIT,
    };
    // SAFETY: the limit is there while it is read.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    assert_eq!(
        set,
        0,
        "the limit is not set: {}",
        std::io::Error::last_os_error()
    );
    let cases = wgpu_cases(Place::Software);
    let case = cases.iter().find(|case| case.name == "wgpu/lost").unwrap();
    assert_eq!(case.run(), Ok(3));
}
