//! The kernels of this checkout have run on a GPU, all of their cases.

use std::path::Path;

use sweepsort_gpu_verify::{Verified, cuda_cases};

#[test]
fn these_kernels_have_run_on_a_gpu() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let verified = Verified::read(&root.join("verified.json")).unwrap();
    let run = verified
        .cuda
        .expect("verified.json has no run of the CUDA engine");
    assert_eq!(
        run.sources,
        sweepsort_cuda::SOURCES,
        "the kernels have changed since they ran on {}, {}; run gpu-verify on a GPU",
        run.device,
        run.date
    );
    let passed: Vec<&str> = run
        .passed
        .iter()
        .map(|passed| passed.case.as_str())
        .collect();
    let cases = cuda_cases();
    let all: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(passed, all, "not every case has passed on {}", run.device);
    assert!(run.passed.iter().all(|passed| passed.compared > 0));
}
