//! How long it is from the start of a process to the end of its first sort on a GPU.
//!
//! A context is made by the driver and takes what it takes; all else is ours: starting the program,
//! loading a module, the first launches, a sort of 2^16 keys of the host. Each is a process of its
//! own, since the next sort is quicker.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sweepsort_cli::bench::record::{Record, Row};
use sweepsort_core::{Codec, Engine, Spec, Task};
use sweepsort_cuda::classic::Algorithm;
use sweepsort_cuda::{CudaEngine, Device};

use crate::text::row;

/// Keys of the first sort.
pub const KEYS: usize = 1 << 16;
/// Processes of each kind.
pub const PROCESSES: usize = 7;
/// How a process learns when it was started: seconds since 1970.
const STARTED: &str = "SWEEPSORT_STARTED";

/// When what was done, in seconds.
#[derive(Serialize, Deserialize)]
struct Times {
    /// From the start of the process to its first line.
    start: f64,
    /// The device opened: the driver loaded, the context made.
    context: f64,
    /// The first sort, from host memory to host memory.
    sort: f64,
}

/// The keys of the first sort.
pub fn keys() -> Vec<u32> {
    let keys = (0..KEYS as u32).map(|i| i.wrapping_mul(0x9e37_79b9));
    keys.collect()
}

/// Seconds from the start of this process until now.
pub fn since_start() -> Result<f64> {
    let started: f64 = std::env::var(STARTED)?.parse()?;
    Ok(since_1970() - started)
}

/// The median of one of several times.
pub fn median<T>(times: &[T], of: impl Fn(&T) -> f64) -> f64 {
    let mut seconds: Vec<f64> = times.iter().map(of).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn since_1970() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or(Duration::ZERO).as_secs_f64()
}

/// What a process does that was started to be timed.
pub fn child(algorithm: &str) -> Result<()> {
    let start = since_start()?;
    let mut keys = keys();
    let begin = Instant::now();
    let device = Device::open(0).map_err(|error| anyhow!("{error}"))?;
    let opened = Instant::now();
    let engine = CudaEngine::on(device)?;
    let spec = Spec {
        codec: Codec::UNSIGNED,
        bits: 0..u32::BITS,
        stable: true,
        algorithm: algorithm.to_owned().into(),
    };
    engine.run(Task::Keys(keys.as_mut_slice().into()), &spec)?;
    let times = Times {
        start,
        context: opened.duration_since(begin).as_secs_f64(),
        sort: opened.elapsed().as_secs_f64(),
    };
    if !keys.is_sorted() {
        bail!("the first sort went wrong");
    }
    println!("{}", serde_json::to_string(&times)?);
    Ok(())
}

/// Starts processes, and makes rows of their times: in `stages_s` the parts, and as the time of a
/// sort all but the context.
pub fn run() -> Result<Record> {
    let mut rows = Vec::new();
    for algorithm in Algorithm::ALL {
        let times: Result<Vec<Times>> = (0..PROCESSES).map(|_| timed(algorithm.name())).collect();
        let times = times?;
        let median = |of: fn(&Times) -> f64| median(&times, of);
        let seconds = times.iter().map(|times| times.start + times.sort).collect();
        let row = Row {
            stage: Some("first-sort".to_owned()),
            stages_s: Some(BTreeMap::from([
                ("start".to_owned(), median(|times| times.start)),
                ("context".to_owned(), median(|times| times.context)),
                ("sort".to_owned(), median(|times| times.sort)),
            ])),
            ..row("sweepsort-cuda", "cuda", algorithm.name(), KEYS, seconds)
        };
        println!(
            "{}: {:.1} ms, and {:.0} ms for the context",
            algorithm.name(),
            1e3 * row.median_s.unwrap_or(f64::NAN),
            1e3 * median(|times| times.context),
        );
        rows.push(row);
    }
    Ok(Record {
        machine: crate::text::machine(None)?,
        rows,
    })
}

/// Starts a process that sorts for the first time, and reads what it prints.
pub fn timed<T: DeserializeOwned>(algorithm: &str) -> Result<T> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--first-sort", algorithm]);
    let output = command.env(STARTED, since_1970().to_string()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.trim()).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("the first sort by {algorithm}: {}", errors.trim())
    })
}
