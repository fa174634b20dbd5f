//! Memory that cannot be had is an error, and the data is as it was.
//!
//! Each case runs in a process of its own, this test again, whose address space is limited once
//! its input is made.
#![cfg(target_os = "linux")]

use std::process::Command;

use sweepsort::{Error, Sorter};

/// Tells the child which case to run.
const CASE: &str = "SWEEPSORT_TEST_MEMORY_CASE";

/// Lets the process have `bytes` more of address space than it has.
fn limit(bytes: u64) {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').next().unwrap().parse().unwrap();
    let limit = libc::rlimit64 {
        rlim_cur: pages * 4096 + bytes,
        rlim_max: libc::RLIM64_INFINITY,
    };
    // SAFETY: a plain system call on a struct that lives through it.
    assert_eq!(unsafe { libc::setrlimit64(libc::RLIMIT_AS, &limit) }, 0);
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) {
    match result {
        Err(Error::OutOfMemory { bytes }) => assert!(bytes > 1 << 20, "{bytes}"),
        other => panic!("not refused for want of memory: {other:?}"),
    }
}

/// Enough that every call wants more scratch than the limit leaves, and more than the 64 MiB of
/// address space that the C library sets aside for each thread.
const N: usize = 32 << 20;

fn keys() -> Vec<u32> {
    (0..N as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect()
}

/// Starts the threads, and keeps no memory of any size.
fn warm_up() {
    sweepsort::sort(&mut keys()[..200_000]).unwrap();
}

/// Runs a case, in a child.
fn child(case: &str) {
    let (mut got, before) = (keys(), keys());
    let mut values: Vec<u64> = (0..N as u64).collect();
    if case != "threads" {
        warm_up();
        limit(16 << 20);
    }
    match case {
        "sort" => refused(sweepsort::sort(&mut got)),
        "sort_pairs" => refused(sweepsort::sort_pairs(&mut got, &mut values)),
        "argsort" => refused(sweepsort::argsort(&got)),
        "argsort_u64" => refused(sweepsort::argsort_u64(&got)),
        "argsort_into" => {
            let sorter = Sorter::builder().build().unwrap();
            refused(sorter.argsort_u64_into(&got, &mut values));
            assert!(
                values
                    .iter()
                    .take(1000)
                    .eq((0..1000).collect::<Vec<_>>().iter())
            );
        }
        "partition_by" => refused(sweepsort::partition_by(&mut got, 1000, |key| {
            *key as usize % 1000
        })),
        "groups" => refused(sweepsort::partition_by(&mut got[..10], 1 << 40, |_| 0)),
        "large values" => {
            let (large, _) = values.as_chunks_mut::<3>();
            refused(sweepsort::sort_pairs(&mut got[..large.len()], large));
            assert_eq!(large[5], [15, 16, 17]);
        }
        "copied keys" => {
            let bytes = bytes_of(&mut got);
            let (keys, _) = bytes.as_chunks_mut::<6>();
            refused(sweepsort::sort(keys));
        }
        "wide keys" => {
            let bytes = bytes_of(&mut got);
            let (keys, _) = bytes.as_chunks_mut::<24>();
            refused(sweepsort::sort(keys));
        }
        "threads" => {
            // Not even the threads can be started: an error too, of either kind.
            limit(1 << 20);
            let error = sweepsort::sort(&mut got).unwrap_err();
            assert!(
                matches!(error, Error::Threads { .. } | Error::OutOfMemory { .. }),
                "{error:?}"
            );
        }
        _ => panic!("no case {case}"),
    }
    assert!(got == before, "the keys are not untouched");
    // What fits is still sorted.
    if case != "threads" {
        let few = &mut got[..100_000];
        sweepsort::sort(few).unwrap();
        assert!(few.is_sorted());
    }
}

/// The keys' bytes.
fn bytes_of(keys: &mut [u32]) -> &mut [u8] {
    // SAFETY: any bytes are keys and the other way round, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts_mut(keys.as_mut_ptr().cast(), size_of_val(keys)) }
}

macro_rules! cases {
    ($($name:ident $case:literal;)*) => {$(
        #[test]
        fn $name() {
            if let Ok(case) = std::env::var(CASE) {
                return child(&case);
            }
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", stringify!($name), "--test-threads=1", "--nocapture"])
                .env(CASE, $case)
                .env("RUST_BACKTRACE", "0")
                .output()
                .unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(
                output.status.success(),
                "{}: {}\n{}{}",
                $case,
                output.status,
                text(&output.stdout),
                text(&output.stderr)
            );
            assert!(text(&output.stdout).contains("1 passed"), "the child ran no test");
        }
    )*};
}
cases! {
    sort "sort";
    sort_pairs "sort_pairs";
    argsort "argsort";
    argsort_u64 "argsort_u64";
    argsort_into "argsort_into";
    partition_by "partition_by";
    absurd_number_of_groups "groups";
    large_values "large values";
    copied_keys "copied keys";
    wide_keys "wide keys";
    threads "threads";
}
