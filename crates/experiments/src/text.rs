//! The experiment of the text on CUDA LSD radix sort: histogram, prefix sum and whole sort of 4 GB
//! of `u32`, by the bits of a digit and the size of a block; on the GPU, and on one thread.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use sweepsort_cli::bench::machine as machine_of;
use sweepsort_cli::bench::record::{Machine, Record, Row};
use sweepsort_core::{Codec, Digit, Spec};
use sweepsort_cuda::classic;
use sweepsort_cuda::{Buffer, Checks, Clock, CudaEngine, Device, Error};
use sweepsort_twin::{self as twin, Algorithm, Trace};

/// 4 GB of `u32`.
const KEYS: usize = 1 << 30;
/// Bits of a digit.
const RADIX_BITS: [u32; 4] = [1, 2, 4, 8];
/// Keys of a block.
const BLOCKS: [usize; 7] = [64, 128, 256, 512, 1024, 4096, 16384];
/// Threads of a block of the scan.
const SCAN_THREADS: [u32; 5] = [64, 128, 256, 512, 1024];
/// Timed runs of each.
const ROUNDS: usize = 5;

/// Measures all of it. The CPU goes on while the GPU does: they share no memory.
pub fn run(small: bool) -> Result<Record> {
    let n = if small { KEYS / 1000 } else { KEYS };
    let keys = random(n);
    let (on_cpu, on_gpu) = std::thread::scope(|scope| {
        let cpu = scope.spawn(|| on_cpu(&keys));
        let gpu = on_gpu(&keys);
        let cpu = cpu.join().map_err(|_| anyhow!("the CPU's part panicked"));
        (cpu, gpu)
    });
    let (on_gpu, machine) = on_gpu?;
    let rows = on_gpu.into_iter().chain(on_cpu??).collect();
    Ok(Record { machine, rows })
}

/// Uniform keys.
fn random(n: usize) -> Vec<u32> {
    let mut state = 1u64;
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 32) as u32
        })
        .collect()
}

/// A row of a contender whose output was right.
pub fn row(contender: &str, engine: &str, algorithm: &str, n: usize, mut seconds: Vec<f64>) -> Row {
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    Row {
        contender: contender.to_owned(),
        engine: Some(engine.to_owned()),
        algorithm: Some(algorithm.to_owned()),
        key_type: "u32".to_owned(),
        value_type: None,
        n,
        distribution: "uniform".to_owned(),
        threads: 1,
        residence: "host".to_owned(),
        stage: None,
        radix_bits: None,
        block: None,
        variant: None,
        median_s: Some(median),
        min_s: seconds.first().copied(),
        max_s: seconds.last().copied(),
        keys_per_s: Some(n as f64 / median),
        stages_s: None,
        floor_fraction: None,
        peak_bytes: None,
        clock: None,
        verified: true,
    }
}

/// This machine, with its GPU, which copies so fast.
pub fn machine(gpu_copy_bytes_per_s: Option<f64>) -> Result<Machine> {
    let devices = Device::all().map_err(|error| anyhow!("{error}"))?;
    Ok(Machine {
        gpu: Some(devices[0].name.clone()),
        driver: Device::driver_release().map(str::to_owned),
        gpu_copy_bytes_per_s,
        ..machine_of::describe()
    })
}

/// The GPU: whole sorts by `block-histogram` for every `R` and block, timed by stages, and prefix
/// sums by the threads of a block. Blocks so small that there are more counts than a scan takes, or
/// than the memory holds, are left out, and named.
fn on_gpu(keys: &[u32]) -> Result<(Vec<Row>, Machine)> {
    let failed = |error: Error| anyhow!("{error}");
    let mut engine = CudaEngine::open(0)?;
    let stream = engine.stream().clone();
    let (n, words) = (keys.len(), stream.upload(keys).map_err(failed)?);
    let mut rows = Vec::new();
    let mut bandwidth = Vec::new();
    for _ in 0..=ROUNDS {
        let begin = stream.event().map_err(failed)?;
        stream.copied(&words).map_err(failed)?;
        let end = stream.event().map_err(failed)?;
        let seconds = end.seconds_since(&begin).map_err(failed)?;
        bandwidth.push(2.0 * size_of_val(keys) as f64 / seconds);
    }
    let checks = Checks::new(&stream);
    let before = scan(keys);
    for threads in SCAN_THREADS {
        let mut seconds = Vec::new();
        let mut first = None;
        for _ in 0..=ROUNDS {
            let mut numbers = stream.copied(&words).map_err(failed)?;
            let begin = stream.event().map_err(failed)?;
            classic::prefix_sum(&stream, &mut numbers, threads).map_err(failed)?;
            let end = stream.event().map_err(failed)?;
            seconds.push(end.seconds_since(&begin).map_err(failed)?);
            // The first is compared number by number, the others with the first.
            let fingerprint = checks.fingerprint(&numbers).map_err(failed)?;
            let right = match first {
                Some(first) => fingerprint == first,
                None => stream.download(&numbers).map_err(failed)? == before,
            };
            if !right {
                bail!("the prefix sum with {threads} threads is wrong");
            }
            first = Some(fingerprint);
        }
        rows.push(Row {
            stage: Some("scan".to_owned()),
            block: Some(threads as usize),
            residence: "device".to_owned(),
            ..row("sweepsort-cuda", "cuda", "scan", n, seconds.split_off(1))
        });
    }
    for radix_bits in RADIX_BITS {
        for block in BLOCKS {
            (engine.radix_bits, engine.block) = (Some(radix_bits), Some(block));
            match sorts(&engine, &words) {
                Ok((seconds, stages_s)) => rows.push(Row {
                    radix_bits: Some(radix_bits),
                    block: Some(block),
                    residence: "device".to_owned(),
                    stages_s: Some(stages_s),
                    ..row("sweepsort-cuda", "cuda", "block-histogram", n, seconds)
                }),
                Err(why) => println!("without R = {radix_bits}, blocks of {block}: {why}"),
            }
        }
        println!("R = {radix_bits}: done");
    }
    bandwidth.sort_by(f64::total_cmp);
    Ok((rows, machine(Some(bandwidth[ROUNDS / 2]))?))
}

/// Seconds of some sorts, and the medians of their stages.
fn sorts(
    engine: &CudaEngine,
    words: &Buffer<u32>,
) -> Result<(Vec<f64>, BTreeMap<String, f64>), Error> {
    let stream = engine.stream();
    let spec = Spec {
        codec: Codec::UNSIGNED,
        bits: 0..u32::BITS,
        stable: true,
        algorithm: "block-histogram".into(),
    };
    let checks = Checks::new(stream);
    let mut clock = Clock::new();
    let mut seconds = Vec::new();
    let mut stages: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    // The first warms up.
    for round in 0..=ROUNDS {
        let unsorted = stream.copied(words)?;
        stream.synchronize()?;
        clock.start(stream)?;
        let begin = stream.event()?;
        let (sorted, _) = engine.sort_resident(unsorted, &spec, Some(&mut clock))?;
        let took = stream.event()?.seconds_since(&begin)?;
        let right = checks.disorder(&sorted, u32::MAX)?.is_none()
            && checks.fingerprint(&sorted)? == checks.fingerprint(words)?;
        assert!(right, "a sort went wrong");
        if round == 0 {
            continue;
        }
        seconds.push(took);
        for (stage, time) in clock.stages()? {
            let times = stages.entry(stage.name().to_owned()).or_default();
            times.push(time.as_secs_f64());
        }
    }
    let median = |(stage, mut seconds): (String, Vec<f64>)| {
        seconds.sort_by(f64::total_cmp);
        (stage, seconds[seconds.len() / 2])
    };
    Ok((seconds, stages.into_iter().map(median).collect()))
}

/// One thread: a histogram of the lowest digit, an exclusive prefix sum, and a whole sort by
/// `counting-lsd`, for every `R`. Each runs once.
fn on_cpu(keys: &[u32]) -> Result<Vec<Row>> {
    let of = |stage: Option<&str>, radix_bits, seconds| Row {
        stage: stage.map(str::to_owned),
        radix_bits,
        ..row(
            "sweepsort-cpu",
            "cpu",
            "counting-lsd",
            keys.len(),
            vec![seconds],
        )
    };
    let mut rows = Vec::new();
    let start = Instant::now();
    black_box(scan(black_box(keys)));
    rows.push(of(Some("scan"), None, start.elapsed().as_secs_f64()));
    for radix_bits in RADIX_BITS {
        let start = Instant::now();
        let counts = black_box(histogram(black_box(keys), radix_bits));
        let seconds = start.elapsed().as_secs_f64();
        if counts.iter().sum::<usize>() != keys.len() {
            bail!("a histogram lost keys");
        }
        rows.push(of(Some("histogram"), Some(radix_bits), seconds));
    }
    for radix_bits in RADIX_BITS {
        let mut records: Vec<twin::Record<u32, ()>> = keys
            .iter()
            .map(|&code| twin::Record { code, payload: () })
            .collect();
        let options = twin::Options {
            radix_bits,
            ..twin::Options::of::<u32>(Algorithm::CountingLsd)
        };
        let start = Instant::now();
        twin::run(
            Algorithm::CountingLsd,
            &mut records,
            &options,
            &mut Trace::off(),
        )?;
        let seconds = start.elapsed().as_secs_f64();
        if !records.is_sorted_by_key(|record| record.code) {
            bail!("the CPU's sort went wrong");
        }
        println!("one thread, R = {radix_bits}: {seconds:.1} s");
        rows.push(of(None, Some(radix_bits), seconds));
    }
    Ok(rows)
}

/// How many keys have each of the lowest digits.
fn histogram(keys: &[u32], radix_bits: u32) -> Vec<usize> {
    let digit = Digit {
        shift: 0,
        bits: radix_bits,
    };
    let mut counts = vec![0; digit.radix()];
    for &key in keys {
        counts[digit.of(key)] += 1;
    }
    counts
}

/// The sum of all numbers before each.
fn scan(numbers: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    let before = |&number: &u32| {
        let before = sum;
        sum = sum.wrapping_add(number);
        before
    };
    numbers.iter().map(before).collect()
}
