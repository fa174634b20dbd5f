//! The cases of the wgpu engine on a software adapter.
//!
//! One test for each; that none is forgotten is a test too. The case of memory that is short needs a process of
//! its own, and is in `lost.rs`.

use std::sync::{Mutex, PoisonError};

use sweepsort_gpu_verify::{Place, wgpu_cases};

/// One case at a time: the adapter itself takes all cores, and two of them would wait for each other's.
static ADAPTER: Mutex<()> = Mutex::new(());

/// Runs the cases whose names begin so.
fn run(prefix: &str) {
    let _alone = ADAPTER.lock().unwrap_or_else(PoisonError::into_inner);
    let cases = wgpu_cases(Place::Software);
    let mut ran = 0;
    for case in cases.iter().filter(|case| case.name.starts_with(prefix)) {
        let compared = case
            .run()
            .unwrap_or_else(|what| panic!("{}: {what}", case.name));
        assert!(compared > 0, "{} has compared nothing", case.name);
        ran += 1;
    }
    assert!(ran > 0, "no case begins with {prefix}");
}

macro_rules! tests {
    ($($name:ident $prefix:literal;)*) => {
        const PREFIXES: &[&str] = &[$($prefix),*];

        $(#[test]
        fn $name() {
            run($prefix);
        })*
    };
}
tests! {
    suite_default "wgpu/suite/default";
    suite_steps "wgpu/suite/steps";
    suite_no_subgroups "wgpu/suite/no-subgroups";
    suite_storage_16384 "wgpu/suite/storage-16384";
    suite_tickets "wgpu/suite/tickets";
    suite_no_tickets "wgpu/suite/no-tickets";
    suite_barriers_leaps "wgpu/suite/barriers-leaps";
    suite_two_dimensional "wgpu/suite/two-dimensional";
    suite_silent_leaps "wgpu/suite/silent-leaps";
    suite_silent_steps "wgpu/suite/silent-steps";
    suite_runs_8 "wgpu/suite/runs-8";
    suite_runs_4 "wgpu/suite/runs-4";
    suite_least_runs_8 "wgpu/suite/least-runs-8";
    suite_least_runs_4 "wgpu/suite/least-runs-4";
    canaries "wgpu/canaries";
    large "wgpu/large/";
    count "wgpu/count";
    threads "wgpu/threads";
    limits "wgpu/limits";
}

#[test]
fn every_case_is_in_one_test() {
    for case in wgpu_cases(Place::Software) {
        let tests = PREFIXES
            .iter()
            .filter(|prefix| case.name.starts_with(*prefix));
        let expected = usize::from(case.name != "wgpu/lost");
        assert_eq!(tests.count(), expected, "{}", case.name);
    }
}
