//! `cargo xtask sanitize`: the CPU engine's tests under valgrind, all but the large ones: the suite, of which
//! `tests/memory.rs` runs a small part, and those of input that is nearly in order, which the library's own
//! tests have at small sizes.
//!
//! Valgrind knows no AVX-512 and tells programs so, so what runs here is the code that a machine
//! without it would choose.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::process::{cargo, output, program, run as run_command};
use crate::tools::VALGRIND;

/// Runs the tests whose name contains one of `filters`, or all.
pub fn run(install: bool, filters: &[String]) -> Result<()> {
    VALGRIND.need(install)?;
    let programs = test_programs("sweepsort-cpu", &["suite", "order"])?;
    if programs.is_empty() {
        bail!("sweepsort-cpu has no tests");
    }
    for path in programs {
        run_command(
            program("valgrind")
                .args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
                .args([
                    "--errors-for-leak-kinds=definite",
                    "--show-leak-kinds=definite",
                ])
                .arg(path)
                .args(filters)
                // Valgrind runs one thread at a time anyway.
                .arg("--test-threads=1"),
        )?;
    }
    Ok(())
}

/// Builds a package's tests, all but some, and says where they are.
fn test_programs(package: &str, but: &[&str]) -> Result<Vec<PathBuf>> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
        target: Option<Target>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    let messages = output(
        cargo()
            .args(["test", "--package", package, "--no-run"])
            .args(["--message-format", "json-render-diagnostics"]),
    )?;
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message: Message = serde_json::from_str(line)?;
        if message
            .target
            .is_some_and(|target| !but.contains(&target.name.as_str()))
        {
            programs.extend(message.executable);
        }
    }
    Ok(programs)
}
