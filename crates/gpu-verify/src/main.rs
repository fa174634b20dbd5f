//! Runs the whole suite of the GPU engines on this machine's GPU, and keeps a record of it.
//!
//! It can be stopped and started again: cases that the record has for these sources, device and
//! driver are not run again.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Instant, SystemTime};

use anyhow::{Result, anyhow, bail};
use clap::{Parser, ValueEnum};
use sweepsort_cuda::{Device, SOURCES};
use sweepsort_gpu_verify::{
    Case, EngineRecord, Passed, Place, Verified, cuda_cases, wgpu_cases, wgpu_sources,
};
use sweepsort_wgpu::Adapter;

/// Runs the suite of the GPU engines on this machine's GPU
#[derive(Parser)]
struct Cli {
    /// The record, read and written
    #[arg(long, default_value = "verified.json")]
    record: PathBuf,
    /// Only this engine; otherwise each for which there is a device here
    #[arg(long)]
    engine: Option<Engine>,
    /// Only cases whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Cases at a time, each in a process of its own; those that take much of the device's memory come
    /// after the others, one by one
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    jobs: NonZeroUsize,
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

/// An engine that has cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    Cuda,
    Wgpu,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Engine::Cuda => "cuda",
            Engine::Wgpu => "wgpu",
        }
    }

    fn cases(self) -> Vec<Case> {
        match self {
            Engine::Cuda => cuda_cases(),
            Engine::Wgpu => wgpu_cases(Place::Gpu),
        }
    }

    /// Its place in the record.
    fn entry(self, verified: &mut Verified) -> &mut Option<EngineRecord> {
        match self {
            Engine::Cuda => &mut verified.cuda,
            Engine::Wgpu => &mut verified.wgpu,
        }
    }

    /// The record of a run on this machine, with no case yet.
    fn here(self) -> Result<EngineRecord> {
        let (sources, device, driver) = match self {
            Engine::Cuda => {
                let devices = Device::all().map_err(|error| anyhow!("{error}"))?;
                let driver = Device::driver_release().unwrap_or("unknown");
                (
                    SOURCES.to_owned(),
                    devices[0].name.clone(),
                    driver.to_owned(),
                )
            }
            Engine::Wgpu => {
                let adapter = Adapter::preferred()?;
                let facts = adapter.facts();
                if facts.software {
                    bail!("{} is a software adapter, and no GPU", facts.name);
                }
                let driver = format!("{} through {}", facts.driver, facts.backend);
                (wgpu_sources(), facts.name.clone(), driver)
            }
        };
        Ok(EngineRecord {
            sources,
            device,
            driver,
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            passed: Vec::new(),
        })
    }
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let engines = match cli.engine {
        Some(engine) => vec![engine],
        None => Engine::value_variants().to_vec(),
    };
    if cli.list {
        let cases = engines.iter().flat_map(|engine| engine.cases());
        cases.for_each(|case| println!("{}", case.name));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = &cli.case {
        let mut cases = engines.iter().flat_map(|engine| engine.cases());
        let case = cases.find(|case| case.name == *name);
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
    let (mut ran, mut failed) = (0, 0);
    for engine in engines {
        match engine.here() {
            Ok(here) => {
                ran += 1;
                failed += run(&cli, engine, here, start)?;
            }
            Err(why) if cli.engine.is_none() => println!("left out: {}: {why}", engine.name()),
            Err(why) => return Err(why),
        }
    }
    if ran == 0 {
        bail!("no engine has a device here");
    }
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Runs an engine's cases that are not in the record yet, and puts them there. Returns how many failed.
fn run(cli: &Cli, engine: Engine, here: EngineRecord, start: Instant) -> Result<usize> {
    println!("{}: {}, {}", engine.name(), here.device, here.driver);
    let mut verified = Verified::read(&cli.record)?;
    let same = |old: &EngineRecord| {
        (&old.sources, &old.device, &old.driver) == (&here.sources, &here.device, &here.driver)
    };
    let before = engine.entry(&mut verified).take().filter(same);
    let mut now = before.unwrap_or(here);
    let cases = engine.cases();
    let order: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let (mut beside, mut alone) = (Vec::new(), Vec::new());
    for case in cases.iter().filter(|case| case.name.contains(&cli.only)) {
        if now.passed.iter().any(|passed| passed.case == case.name) {
            println!("before  {}", case.name);
        } else if case.alone {
            alone.push(case.name.as_str());
        } else {
            beside.push(case.name.as_str());
        }
    }
    let mut failed = 0;
    for (names, jobs) in [(beside, cli.jobs.get()), (alone, 1)] {
        attempt_all(&names, jobs, cli, start, |name, outcome| {
            match outcome {
                Ok(passed) => now.passed.push(passed),
                Err(what) => {
                    failed += 1;
                    println!("FAILED  {name}: {what}");
                }
            }
            let place = |passed: &Passed| order.iter().position(|&name| name == passed.case);
            now.passed.sort_by_key(place);
            *engine.entry(&mut verified) = Some(now.clone());
            verified.write(&cli.record)
        })?;
    }
    println!(
        "{}: {} of {} cases passed, {failed} failed",
        engine.name(),
        now.passed.len(),
        cases.len()
    );
    Ok(failed)
}

/// What came of a case: its line of the record, or what did not hold.
type Outcome = Result<Passed, String>;

/// Runs cases, so many at a time. Each that was run is told of, one by one, in the order they end.
fn attempt_all(
    names: &[&str],
    jobs: usize,
    cli: &Cli,
    start: Instant,
    mut tell: impl FnMut(&str, Outcome) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (ended, outcomes) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.min(names.len()) {
            let (next, ended) = (&next, ended.clone());
            scope.spawn(move || {
                while let Some(&name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if start.elapsed().as_secs() >= cli.seconds {
                        println!("later   {name}");
                    } else if ended.send((name, attempt(name))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(ended);
        for (name, outcome) in outcomes {
            tell(name, outcome?)?;
        }
        Ok(())
    })
}

/// Runs a case.
fn attempt(name: &str) -> Result<Outcome> {
    let begin = Instant::now();
    Ok(apart(name)?.map(|compared| {
        let seconds = (begin.elapsed().as_secs_f64() * 1e3).round() / 1e3;
        println!("passed  {name} ({compared}, {seconds:.1} s)");
        Passed {
            case: name.to_owned(),
            compared,
            seconds,
        }
    }))
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
