//! How long it is from the start of a process to the end of its first sort through wgpu, and what a
//! second plan costs.
//!
//! Adapter and device are made by wgpu and the driver; the plan is ours: shaders and pipelines. A driver
//! that keeps pipelines on disk makes all processes but the first quicker.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use sweepsort_cli::bench::machine;
use sweepsort_cli::bench::record::{Machine, Record, Row};
use sweepsort_core::{Engine, Shape, Spec, Task, Width};
use sweepsort_wgpu::{Adapter, Options, Plan, WgpuEngine};

use crate::first_sort::{KEYS, PROCESSES, keys, median, since_start, timed};
use crate::text::row;

/// The experiment's name.
pub const NAME: &str = "first-sort-wgpu";

/// When what was done, in seconds.
#[derive(Serialize, Deserialize)]
struct Times {
    gpu: String,
    driver: String,
    /// From the start of the process to its first line.
    start: f64,
    /// The adapter found: the drivers loaded.
    adapter: f64,
    /// The device opened, the kernels' layouts made.
    device: f64,
    /// The first plan: shaders and pipelines.
    plan: f64,
    /// The first sort, from host memory to host memory.
    sort: f64,
    /// A plan for another number of keys.
    second_plan: f64,
}

/// What a process does that was started to be timed.
pub fn child() -> Result<()> {
    let start = since_start()?;
    let mut keys = keys();
    let mut last = Instant::now();
    let mut lap = || {
        std::mem::replace(&mut last, Instant::now())
            .elapsed()
            .as_secs_f64()
    };
    let adapter = Adapter::preferred()?;
    let adapter_s = lap();
    let engine = WgpuEngine::on(&adapter, Options::default())?;
    let device_s = lap();
    let spec = Spec::natural::<u32>();
    let plan = |keys| Plan::new(engine.kernels(), &Shape::keys(keys, Width::W32), &spec);
    let first = plan(KEYS)?;
    let plan_s = lap();
    engine.run(Task::Keys(keys.as_mut_slice().into()), &spec)?;
    let sort_s = lap();
    let second = plan(2 * KEYS)?;
    let times = Times {
        gpu: adapter.facts().name.clone(),
        driver: format!("{} ({})", adapter.facts().driver, adapter.facts().backend),
        start,
        adapter: adapter_s,
        device: device_s,
        plan: plan_s,
        sort: sort_s,
        second_plan: lap(),
    };
    if !keys.is_sorted() || first.workspace_bytes() > second.workspace_bytes() {
        bail!("the first sort went wrong");
    }
    println!("{}", serde_json::to_string(&times)?);
    Ok(())
}

/// Starts processes, and makes a row of their times: in `stages_s` the parts, and as the time of a sort
/// all but adapter, device and second plan.
pub fn run() -> Result<Record> {
    let times: Result<Vec<Times>> = (0..PROCESSES).map(|_| timed("wgpu")).collect();
    let times = times?;
    let parts: [(&str, fn(&Times) -> f64); 6] = [
        ("start", |times| times.start),
        ("adapter", |times| times.adapter),
        ("device", |times| times.device),
        ("plan", |times| times.plan),
        ("sort", |times| times.sort),
        ("second-plan", |times| times.second_plan),
    ];
    let mut stages = BTreeMap::new();
    for (name, of) in parts {
        let seconds: Vec<String> = times
            .iter()
            .map(|it| format!("{:.2}", 1e3 * of(it)))
            .collect();
        println!("{name}: {} ms", seconds.join(" "));
        stages.insert(name.to_owned(), median(&times, of));
    }
    let seconds = times.iter().map(|it| it.start + it.plan + it.sort);
    let row = Row {
        stage: Some("first-sort".to_owned()),
        stages_s: Some(stages),
        ..row(
            "sweepsort-wgpu",
            "wgpu",
            "onesweep",
            KEYS,
            seconds.collect(),
        )
    };
    Ok(Record {
        machine: Machine {
            gpu: Some(times[0].gpu.clone()),
            driver: Some(times[0].driver.clone()),
            ..machine::describe()
        },
        rows: vec![row],
    })
}
