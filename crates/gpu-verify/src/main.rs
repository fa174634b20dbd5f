//! Runs the whole suite of the GPU engines on this machine's GPU, and keeps a record of it.
//!
//! It can be stopped and started again: cases that the record has for these sources, device and
//! driver are not run again.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Instant, SystemTime};

use anyhow::{Result, anyhow};
use clap::Parser;
use sweepsort_cuda::{Device, SOURCES};
use sweepsort_gpu_verify::{EngineRecord, Passed, Verified, cuda_cases};

/// Runs the suite of the GPU engines on this machine's GPU
#[derive(Parser)]
struct Cli {
    /// The record, read and written
    #[arg(long, default_value = "verified.json")]
    record: PathBuf,
    /// Only cases whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Stop before a case when so many seconds have passed
    #[arg(long, default_value_t = u64::MAX)]
    seconds: u64,
    /// List the cases
    #[arg(long)]
    list: bool,
    /// Run this case in this process, and print how many things were compared
    #[arg(long, hide = true)]
    case: Option<String>,
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let cases = cuda_cases();
    if cli.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = &cli.case {
        let case = cases.iter().find(|case| case.name == *name);
        let case = case.ok_or_else(|| anyhow!("there is no case {name}"))?;
        match case.run() {
            Ok(compared) => println!("{compared}"),
            Err(what) => {
                eprintln!("{what}");
                return Ok(ExitCode::FAILURE);
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let start = Instant::now();
    let mut verified = Verified::read(&cli.record)?;
    let here = here()?;
    let same = |old: &EngineRecord| {
        (&old.sources, &old.device, &old.driver) == (&here.sources, &here.device, &here.driver)
    };
    let mut now = verified.cuda.take().filter(same).unwrap_or(here);
    let mut failed = 0;
    for case in cases.iter().filter(|case| case.name.contains(&cli.only)) {
        if now.passed.iter().any(|passed| passed.case == case.name) {
            println!("before  {}", case.name);
            continue;
        }
        if start.elapsed().as_secs() >= cli.seconds {
            println!("later   {}", case.name);
            continue;
        }
        let begin = Instant::now();
        match apart(&case.name)? {
            Ok(compared) => {
                let seconds = (begin.elapsed().as_secs_f64() * 1e3).round() / 1e3;
                println!("passed  {} ({compared}, {seconds:.1} s)", case.name);
                now.passed.push(Passed {
                    case: case.name.clone(),
                    compared,
                    seconds,
                });
            }
            Err(what) => {
                failed += 1;
                println!("FAILED  {}: {what}", case.name);
            }
        }
        let order = |passed: &Passed| cases.iter().position(|case| case.name == passed.case);
        now.passed.sort_by_key(order);
        verified.cuda = Some(now.clone());
        verified.write(&cli.record)?;
    }
    println!(
        "{} of {} cases passed, {failed} failed",
        now.passed.len(),
        cases.len()
    );
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Runs a case in a process of its own: a kernel that goes astray spoils the device for its process,
/// and no other case is to suffer from that.
fn apart(name: &str) -> Result<Result<usize, String>> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--case", name])
        .output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(match text(&output.stdout).parse() {
        Ok(compared) if output.status.success() => Ok(compared),
        _ => Err(format!("{} ({})", text(&output.stderr), output.status)),
    })
}

/// The record of a run on this machine, with no case yet.
fn here() -> Result<EngineRecord> {
    let devices = Device::all().map_err(|error| anyhow!("{error}"))?;
    Ok(EngineRecord {
        sources: SOURCES.to_owned(),
        device: devices[0].name.clone(),
        driver: Device::driver_release().unwrap_or("unknown").to_owned(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        passed: Vec::new(),
    })
}
