//! The kernels of this checkout have run on a GPU, all of their cases.

use std::path::Path;

use sweepsort_gpu_verify::{
    Case, EngineRecord, Place, Verified, cuda_cases, wgpu_cases, wgpu_sources,
};

fn verified() -> Verified {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Verified::read(&root.join("verified.json")).unwrap()
}

/// Whether these sources have passed every case.
fn check(run: Option<EngineRecord>, engine: &str, sources: &str, cases: &[Case]) {
    let run = run.unwrap_or_else(|| panic!("verified.json has no run of engine {engine}"));
    assert_eq!(
        run.sources, sources,
        "the kernels of engine {engine} have changed since they ran on {}, {}; run gpu-verify on a GPU",
        run.device, run.date
    );
    let passed: Vec<&str> = run
        .passed
        .iter()
        .map(|passed| passed.case.as_str())
        .collect();
    let all: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(passed, all, "not every case has passed on {}", run.device);
    assert!(run.passed.iter().all(|passed| passed.compared > 0));
}

#[test]
fn these_kernels_have_run_on_a_gpu() {
    check(
        verified().cuda,
        "cuda",
        sweepsort_cuda::SOURCES,
        &cuda_cases(),
    );
}

#[test]
fn these_shaders_have_run_on_a_gpu() {
    check(
        verified().wgpu,
        "wgpu",
        &wgpu_sources(),
        &wgpu_cases(Place::Gpu),
    );
}
