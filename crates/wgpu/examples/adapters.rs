//! Prints the adapters that the engine can sort on, and which of them it takes, or why none.
//!
//! The exit code is 1 where there is no adapter; with the argument `software`, where there is no software
//! adapter.

use std::process::ExitCode;

use sweepsort_wgpu::Adapter;

fn main() -> ExitCode {
    let all = Adapter::all();
    for adapter in &all {
        println!("{}", adapter.facts());
    }
    match Adapter::preferred() {
        Ok(adapter) => println!("WgpuEngine::open takes {}", adapter.facts().name),
        Err(error) => println!("{error}"),
    }
    let software_only = std::env::args()
        .nth(1)
        .is_some_and(|word| word == "software");
    let counts = |adapter: &Adapter| adapter.facts().software || !software_only;
    match all.iter().any(counts) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
