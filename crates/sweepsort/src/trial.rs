//! What sorts take on the GPU that is here, found out by a few of them once its engine is open.
//!
//! The keys are uniform, of 32 bits, and made so that everybody knows their order: an engine that
//! does not sort them is none that `auto` takes.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use sweepsort_core::{Codec, DataState, Engine, Error, Result, Spec, Stage, Task};

use crate::choice::{Costs, Timed};

/// Binary logarithms of the numbers of keys: so few that hardly anything but the fixed time shows, and
/// so many that it hardly shows.
const FEW: u32 = 12;
const MANY: u32 = 21;

/// How often each is sorted; the middle one counts.
const TURNS: usize = 3;

/// Measures an engine.
///
/// # Errors
/// The engine's, and [`Error::Device`] if it does not sort.
pub(crate) fn measure(engine: &dyn Engine) -> Result<Costs> {
    // The first sort of each size builds what the others use.
    sort(engine, FEW)?;
    sort(engine, MANY)?;
    Ok(Costs::measured(&timed(engine, FEW)?, &timed(engine, MANY)?))
}

/// The middle one of some sorts, by the time that they took.
fn timed(engine: &dyn Engine, log: u32) -> Result<Timed> {
    let turns: Result<Vec<Timed>> = (0..TURNS).map(|_| sort(engine, log)).collect();
    let mut turns = turns?;
    turns.sort_by(|a, b| a.all_s.total_cmp(&b.all_s));
    Ok(turns[TURNS / 2])
}

/// Sorts 2^log keys.
fn sort(engine: &dyn Engine, log: u32) -> Result<Timed> {
    let keys = 1 << log;
    let mut sorted: Vec<u32> = (0..keys).map(|i| key(place(i, log), log)).collect();
    let spec = Spec {
        codec: Codec::UNSIGNED,
        bits: 0..32,
        stable: true,
        algorithm: Cow::Borrowed("auto"),
    };
    let start = Instant::now();
    let report = engine.run(Task::Keys(sorted.as_mut_slice().into()), &spec)?;
    let all_s = start.elapsed().as_secs_f64();
    if sorted.iter().zip(0..).any(|(&it, j)| it != key(j, log)) {
        return Err(Error::Device {
            engine: engine.name(),
            what: "keys that it sorted are not in order".to_owned(),
            data: DataState::Untouched,
        });
    }
    let seconds = |of_the_link: bool| {
        let stages = report.stages.iter();
        let times = stages
            .filter(|(stage, _)| (*stage == Stage::Transfer) == of_the_link)
            .map(|(_, time)| *time);
        times.sum::<Duration>().as_secs_f64()
    };
    Ok(Timed {
        keys: keys as usize,
        all_s,
        link_s: seconds(true),
        memory_s: seconds(false),
    })
}

/// Where the `i`-th of 2^log keys belongs: any order, in which each place comes once.
fn place(i: u32, log: u32) -> u32 {
    let mask = (1 << log) - 1;
    let mixed = i.wrapping_mul(0x9e37_79b1) & mask;
    (mixed ^ (mixed >> (log / 2))).wrapping_mul(0x85eb_ca6b) & mask
}

/// The `j`-th of 2^log keys in order: `j` in the upper bits, any bits below.
fn key(j: u32, log: u32) -> u32 {
    (j << (32 - log)) | (j.wrapping_mul(0xc2b2_ae35) >> log)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use sweepsort_core::{Plan, Report, Shape, WordsMut};
    use sweepsort_cpu::CpuEngine;

    use super::*;

    /// Each place comes once, and the digits of the keys are spread evenly.
    #[test]
    fn keys_are_uniform() {
        for log in [FEW, MANY] {
            let mut places: Vec<u32> = (0..1 << log).map(|i| place(i, log)).collect();
            for shift in [0, 8, 16, 24] {
                let mut counts = [0usize; 256];
                for &j in &places {
                    counts[(key(j, log) >> shift) as usize & 255] += 1;
                }
                let mean = places.len() / 256;
                assert!(
                    counts.iter().all(|&it| it > mean / 2 && it < mean * 2),
                    "2^{log} keys, bits from {shift} on: {counts:?}"
                );
            }
            places.sort_unstable();
            assert!(places.iter().zip(0..).all(|(&it, j)| it == j), "2^{log}");
        }
    }

    /// Sorts on the CPU; from some sort on, it fails or leaves a key out of place.
    #[derive(Debug)]
    struct Faulty {
        sorts: CpuEngine,
        done: AtomicUsize,
        from: usize,
        fails: bool,
    }

    impl Engine for Faulty {
        fn name(&self) -> &'static str {
            "wgpu"
        }

        fn algorithms(&self) -> &'static [&'static str] {
            self.sorts.algorithms()
        }

        fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
            self.sorts.plan(shape, spec)
        }

        fn run(&self, mut task: Task<'_>, spec: &Spec) -> Result<Report> {
            let done = self.done.fetch_add(1, Ordering::Relaxed);
            if done >= self.from && self.fails {
                return Err(Error::OutOfMemory { bytes: 77 });
            }
            let report = self.sorts.run(task.reborrow(), spec)?;
            if let (Task::Keys(WordsMut::W32(keys)), true) = (task, done >= self.from) {
                keys[1000] ^= 1;
            }
            Ok(report)
        }
    }

    #[test]
    fn an_engine_is_measured_or_why_not() {
        const SORTS: usize = 2 + 2 * TURNS;
        // From which sort on it fails or is wrong, how many it is asked for, the error.
        let cases = [
            (SORTS, false, SORTS, None),
            (0, true, 1, Some("77 bytes of scratch memory")),
            (SORTS - 1, true, SORTS, Some("77 bytes of scratch memory")),
            (0, false, 1, Some("engine wgpu failed: keys that it sorted")),
            (SORTS - 1, false, SORTS, Some("are not in order")),
        ];
        for (from, fails, asked, error) in cases {
            let engine = Faulty {
                sorts: CpuEngine::new(Some(1)),
                done: AtomicUsize::new(0),
                from,
                fails,
            };
            let measured = measure(&engine);
            let right = match (&measured, error) {
                (Ok(costs), None) => {
                    costs.fixed_s > 0.0
                        && costs.link_bytes_per_s > 0.0
                        && costs.memory_bytes_per_s > 0.0
                }
                (Err(error), Some(part)) => error.to_string().contains(part),
                _ => false,
            };
            let what = format!("from sort {from} on, fails: {fails}: {measured:?}");
            assert!(right, "{what}");
            assert_eq!(engine.done.into_inner(), asked, "{what}");
        }
    }

    /// The wgpu engine passes, and its stages tell the link from the device.
    #[cfg(feature = "wgpu")]
    #[test]
    fn the_software_adapter_is_measured() {
        use sweepsort_wgpu::{Adapter, Options, WgpuEngine};

        let adapter =
            Adapter::software().expect("a software adapter; `cargo xtask test` installs one");
        let engine = WgpuEngine::on(&adapter, Options::default()).unwrap();
        let costs = measure(&engine).unwrap();
        let rates = [costs.link_bytes_per_s, costs.memory_bytes_per_s];
        assert!(
            costs.fixed_s > 0.0 && rates.iter().all(|it| it.is_finite() && *it > 0.0),
            "{costs:?}"
        );
    }
}
