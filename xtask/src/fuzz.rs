//! `cargo xtask fuzz SECONDS`: every fuzz target for a while, on the stable toolchain.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{cargo, output, run as run_command};
use crate::tools::CARGO_FUZZ;

/// Runs each target whose name contains `only` for `seconds`.
pub fn run(seconds: u32, only: Option<&str>) -> Result<()> {
    CARGO_FUZZ.need(false)?;
    let listed = output(&mut fuzz("list"))?;
    let targets: Vec<&str> = listed
        .lines()
        .filter(|name| only.is_none_or(|part| name.contains(part)))
        .collect();
    if targets.is_empty() {
        bail!("no such target; there are:\n{listed}");
    }
    for target in targets {
        run_command(
            fuzz("run")
                .args(["--sanitizer", "none", target, "--"])
                .arg(format!("-max_total_time={seconds}")),
        )?;
    }
    Ok(())
}

fn fuzz(what: &str) -> Command {
    let mut command = cargo();
    command.args(["fuzz", what]);
    command
}
