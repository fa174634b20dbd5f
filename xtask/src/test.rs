//! `cargo xtask test`: what must pass before a change lands, step by step.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::counts::Counts;
use crate::process::{cargo, run as run_command, watch};
use crate::tools::{CHROMIUM, CLIPPY, RUSTFMT, SOFTWARE_VULKAN, Tool};
use crate::{figures, kernels, readme, repository};

/// Whether programs may be installed, and the tests' counts so far.
struct State {
    install: bool,
    counts: Counts,
}

/// A step's outcome, where it did not fail.
pub enum Outcome {
    /// It passed.
    Passed,
    /// It could not be run here.
    NotRun(String),
}

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&mut State) -> Result<Outcome>,
}

/// In this order, so that what is quick to fail comes first.
const STEPS: &[Step] = &[
    Step {
        name: "format",
        what: "the code is formatted",
        run: format,
    },
    Step {
        name: "repository",
        what: "links, records and tables hold; no machine's paths or hosts",
        run: |_| repository::check(),
    },
    Step {
        name: "lints",
        what: "clippy has nothing to say",
        run: lints,
    },
    Step {
        name: "tests",
        what: "unit, integration and documentation tests",
        run: tests,
    },
    Step {
        name: "kernels",
        what: "the CUDA kernels compile, and to what their images hold",
        run: |state| kernels::step(state.install),
    },
    Step {
        name: "figures",
        what: "the figures of docs/algorithms/ are what explain makes",
        // By the tool that the tests have built.
        run: |_| figures::check().map(|()| Outcome::Passed),
    },
    Step {
        name: "page",
        what: "the page of explain, stepped through in Chromium",
        run: page,
    },
    Step {
        name: "documentation",
        what: "rustdoc has nothing to say",
        run: documentation,
    },
    Step {
        name: "readme",
        what: "the README's commands run, in release mode",
        run: |_| readme::run_commands(),
    },
];

/// Runs every step; stops at the first that fails.
pub fn run(install: bool) -> Result<()> {
    println!("{} steps:", STEPS.len());
    for step in STEPS {
        println!("  {:<14} {}", step.name, step.what);
    }
    let mut state = State {
        install,
        counts: Counts::default(),
    };
    let mut times: Vec<(&str, Duration, &str)> = Vec::new();
    let mut failure = None;
    for (number, step) in STEPS.iter().enumerate() {
        println!("\n[{}/{}] {}", number + 1, STEPS.len(), step.name);
        let start = Instant::now();
        let outcome = (step.run)(&mut state);
        let word = match outcome {
            Ok(Outcome::Passed) => "passed",
            // A missing tool is a person's choice, but not a test machine's.
            Ok(Outcome::NotRun(why)) if std::env::var_os("CI").is_none() => {
                state.counts.skip(format!("step {}: {why}", step.name));
                "not run"
            }
            Ok(Outcome::NotRun(why)) => {
                failure = Some((step.name, anyhow::anyhow!(why)));
                "FAILED"
            }
            Err(error) => {
                failure = Some((step.name, error));
                "FAILED"
            }
        };
        times.push((step.name, start.elapsed(), word));
        if failure.is_some() {
            break;
        }
    }
    println!();
    for (name, time, word) in &times {
        println!("  {name:<14} {:>7.1} s  {word}", time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time, _)| *time).sum();
    println!("  {:<14} {:>7.1} s", "all", total.as_secs_f64());
    for name in &state.counts.failed_names {
        println!("failed: {name}");
    }
    for name in &state.counts.skipped_names {
        println!("skipped: {name}");
    }
    if failure.is_some() && state.counts.failed == 0 {
        state.counts.failed = 1;
    }
    println!("{}", state.counts);
    match failure {
        None => Ok(()),
        Some((name, error)) => Err(error.context(format!("step {name} failed"))),
    }
}

/// Does a step if its tool is there or can be had.
fn with(
    state: &mut State,
    tool: &Tool,
    step: impl FnOnce(&mut State) -> Result<()>,
) -> Result<Outcome> {
    if let Err(error) = tool.need(state.install) {
        return Ok(Outcome::NotRun(format!("{error:#}")));
    }
    step(state).map(|()| Outcome::Passed)
}

fn format(state: &mut State) -> Result<Outcome> {
    with(state, &RUSTFMT, |_| {
        run_command(cargo().args(["fmt", "--all", "--check"]))
    })
}

fn lints(state: &mut State) -> Result<Outcome> {
    with(state, &CLIPPY, |_| {
        run_command(
            cargo()
                .args([
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--keep-going",
                    "--",
                ])
                .args(["--deny", "warnings"]),
        )
    })
}

fn tests(state: &mut State) -> Result<Outcome> {
    for instructions in absent_instructions() {
        let name =
            format!("the CPU engine's {instructions} code: this machine has no such instructions");
        state.counts.skip(name);
    }
    // With the programs that are to be run comes the one that looks for an adapter.
    run_command(cargo().args(["test", "--workspace", "--no-run"]))?;
    let mut arguments = vec!["test", "--workspace", "--no-fail-fast"];
    match SOFTWARE_VULKAN.need(state.install) {
        Ok(()) => {}
        // A missing tool is a person's choice, but not a test machine's.
        Err(error) if std::env::var_os("CI").is_some() => return Err(error),
        Err(error) => {
            let skipped = format!("{ADAPTER_CRATE} and all tests named {ADAPTER_TESTS}: {error:#}");
            state.counts.skip(skipped);
            arguments.extend(["--exclude", ADAPTER_CRATE, "--", "--skip", ADAPTER_TESTS]);
        }
    }
    run_tests(state, &arguments).map(|()| Outcome::Passed)
}

/// What a software adapter is needed for: a crate, and in the others whatever has this in its name.
const ADAPTER_CRATE: &str = "sweepsort-wgpu";
const ADAPTER_TESTS: &str = "software_adapter";

/// Vector instructions that the CPU engine has code for and this machine lacks.
fn absent_instructions() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let present = [
        ("AVX2", is_x86_feature_detected!("avx2")),
        ("AVX-512", is_x86_feature_detected!("avx512dq")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let present = [("AVX2", false), ("AVX-512", false)];
    present
        .into_iter()
        .filter_map(|(name, there)| (!there).then_some(name))
        .collect()
}

/// Runs cargo with arguments that run tests, and counts them.
fn run_tests(state: &mut State, arguments: &[&str]) -> Result<()> {
    let before = state.counts.passed;
    let passed = watch(cargo().args(arguments), |line| state.counts.see(line))?;
    let counts = &state.counts;
    if counts.failed > 0 {
        bail!("{} tests failed", counts.failed);
    }
    if !passed {
        bail!("a test program did not build or did not end well; see above");
    }
    if counts.passed == before {
        bail!("no test ran");
    }
    Ok(())
}

fn page(state: &mut State) -> Result<Outcome> {
    with(state, &CHROMIUM, |state| {
        // No part of `cargo test --workspace`, which is to pass without a browser; built as by that,
        // so that little is built again.
        run_tests(state, &["test", "--workspace", "--test", "page"])
    })
}

fn documentation(_: &mut State) -> Result<Outcome> {
    run_command(
        cargo()
            .args(["doc", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    Ok(Outcome::Passed)
}
