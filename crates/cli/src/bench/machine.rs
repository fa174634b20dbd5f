//! The machine of a record, and how fast it copies.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Instant, SystemTime};

use rayon::prelude::*;

use super::record::Machine;

/// Asks the system who it is.
pub fn describe() -> Machine {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let plural = if cores == 1 { "core" } else { "cores" };
    Machine {
        cpu: format!("{}, {cores} {plural}", processor()),
        gpu: None,
        driver: None,
        gpu_copy_bytes_per_s: None,
        link_up_bytes_per_s: None,
        link_down_bytes_per_s: None,
        gpu_peers: None,
        gpu_by_wgpu: None,
        os: system(),
        commit: commit(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
    }
}

fn processor() -> String {
    let linux = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    linux
        .or_else(|| answer("sysctl", &["-n", "machdep.cpu.brand_string"]))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn system() -> String {
    let name = fs::read_to_string("/etc/os-release").ok().and_then(|text| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(line.trim_matches('"').to_owned())
    });
    let name = name.unwrap_or_else(|| std::env::consts::OS.to_owned());
    match answer("uname", &["-sr"]) {
        Some(kernel) => format!("{name}, {kernel}"),
        None => name,
    }
}

/// Where a program runs far from its checkout, this names the commit.
const COMMIT: &str = "SWEEPSORT_COMMIT";

/// What the environment says; else the commit of the checkout that the command runs in, if that is
/// one of Sweepsort; else the version.
fn commit() -> String {
    if let Ok(commit) = std::env::var(COMMIT) {
        return commit;
    }
    let version = concat!("v", env!("CARGO_PKG_VERSION")).to_owned();
    match answer("git", &["rev-parse", "--show-toplevel"]) {
        Some(root)
            if Path::new(&root)
                .join("crates/sweepsort/Cargo.toml")
                .exists() =>
        {
            let commit = [
                "describe",
                "--always",
                "--dirty",
                "--exclude=*",
                "--abbrev=12",
            ];
            answer("git", &commit).unwrap_or(version)
        }
        _ => version,
    }
}

/// What a command prints, if it runs and succeeds.
fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Bytes that are copied in one measurement of the bandwidth: far more than caches hold.
const COPIED_BYTES: usize = 128 << 20;

/// Bytes read plus bytes written a second when the calling pool's threads copy: the best of five
/// copies of 128 MiB.
pub fn copy_bandwidth() -> f64 {
    let share = COPIED_BYTES / rayon::current_num_threads();
    let source = vec![1u8; COPIED_BYTES];
    let mut target = vec![2u8; COPIED_BYTES];
    let seconds = (0..5).map(|_| {
        let start = Instant::now();
        target
            .par_chunks_mut(share)
            .zip(source.par_chunks(share))
            .for_each(|(to, from)| to.copy_from_slice(from));
        std::hint::black_box(&mut target);
        start.elapsed().as_secs_f64()
    });
    2.0 * COPIED_BYTES as f64 / seconds.fold(f64::INFINITY, f64::min)
}
