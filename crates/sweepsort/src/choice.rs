//! What `auto` takes: the engine that is expected to be the faster, by what was measured.
//!
//! A task comes as its shape, the number of bits that count and the number of threads; out goes an
//! engine with a reason. Nothing is asked of a device or of the data here: see [`crate::rental`]
//! for when a GPU's engine is opened, and which. In doubt the CPU keeps the task, which is never worse
//! than having no GPU.

use std::borrow::Cow;
use std::fmt;

use sweepsort_core::{Choice, Shape, Width};

/// What is done with the keys.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    Keys,
    Pairs,
    Argsort,
}

/// A sort that was measured on the CPU.
struct Cpu {
    width: Width,
    work: Work,
    threads: u32,
    ns_per_key: f64,
}

impl Cpu {
    const fn new(width: Width, work: Work, threads: u32, ns_per_key: f64) -> Self {
        Cpu {
            width,
            work,
            threads,
            ns_per_key,
        }
    }
}

/// Medians for ten million uniform keys, scratch kept; pairs have values as wide as their keys.
/// Each group names the record in `results/` that it comes from.
///
/// Widths that are not here stay with the CPU.
const CPU: &[(&str, &[Cpu])] = &[
    (
        "2026-11-21-zen5-2c.json",
        &[
            Cpu::new(Width::W32, Work::Keys, 2, 2.615),
            Cpu::new(Width::W32, Work::Pairs, 2, 4.574),
            Cpu::new(Width::W32, Work::Argsort, 2, 4.930),
            Cpu::new(Width::W64, Work::Keys, 2, 3.215),
            Cpu::new(Width::W64, Work::Pairs, 2, 5.110),
            Cpu::new(Width::W64, Work::Argsort, 2, 4.885),
        ],
    ),
    (
        "2026-11-21-h200-host.json",
        &[
            Cpu::new(Width::W32, Work::Keys, 16, 0.932),
            Cpu::new(Width::W64, Work::Keys, 16, 1.503),
        ],
    ),
    (
        "2026-11-21-h200-host-pairs.json",
        &[
            Cpu::new(Width::W32, Work::Argsort, 16, 1.717),
            Cpu::new(Width::W64, Work::Pairs, 16, 1.763),
            Cpu::new(Width::W64, Work::Argsort, 16, 1.777),
        ],
    ),
];

/// What a sort takes that goes from host memory to a GPU and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Launches, allocations and waiting, whatever the number of keys.
    pub fixed_s: f64,
    /// Keys and values of the host, not page-locked, one way after the other.
    pub link_bytes_per_s: f64,
    /// What the passes read and write in the device's memory.
    pub memory_bytes_per_s: f64,
}

/// A GPU's engine, as it is expected to be before anybody has opened it.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub engine: Choice,
    /// What its device is called where there is none.
    pub device: &'static str,
    pub costs: Costs,
    /// Opening the device, and what the first sort takes longer than others.
    pub opening_s: f64,
}

/// An NVIDIA H200, on the slow side. The fixed time and the link's rate are such that no sort of 10^5
/// or of 10^7 keys in `results/2026-11-21-h200-host.json` took longer than they say; those of more keys
/// took less. The rate of the passes is the lowest of the best ones at 2^28 of a onesweep in
/// `results/2026-11-21-h200-onesweep-lab.json`; opening is context and first sort in
/// `results/2026-11-21-h200-first-sort.json`.
pub(crate) const CUDA: Gpu = Gpu {
    engine: Choice::Cuda,
    device: "CUDA device",
    costs: Costs {
        fixed_s: 360e-6,
        link_bytes_per_s: 28e9,
        memory_bytes_per_s: 2.5e12,
    },
    opening_s: 0.12,
};

/// What a GPU through wgpu is taken to cost before one has been tried. It only decides whether to open one:
/// from then on its own costs do, which are measured, see [`crate::trial`]; GPUs differ too much for one to
/// stand for all. These are an NVIDIA H200's through Vulkan: no median in
/// `results/2026-11-22-h200-wgpu-host.json` is longer than the fixed time and the link's rate say; the rate of
/// the passes is that of 2^28 keys in `results/2026-11-22-h200-wgpu-keys.json`. Opening is more than the 0.4 s that
/// adapter, device and the longest of the first sorts add up to in
/// `results/2026-11-22-h200-first-sort-wgpu.json`, for the trial comes on top.
pub(crate) const WGPU: Gpu = Gpu {
    engine: Choice::Wgpu,
    device: "GPU for wgpu",
    costs: Costs {
        fixed_s: 330e-6,
        link_bytes_per_s: 5e9,
        memory_bytes_per_s: 1.28e12,
    },
    opening_s: 0.6,
};

/// Fewer keys than this are in order on one thread, by the slowest row, before a GPU of those above has
/// begun. Whatever it takes beyond the fixed time is not counted, so their crossovers lie above.
pub(crate) const SMALLEST: usize = {
    let (mut slowest_ns, mut group) = (0.0, 0);
    while group < CPU.len() {
        let (rows, mut row) = (CPU[group].1, 0);
        while row < rows.len() {
            let alone_ns = rows[row].ns_per_key * rows[row].threads as f64;
            if alone_ns > slowest_ns {
                slowest_ns = alone_ns;
            }
            row += 1;
        }
        group += 1;
    }
    let fixed_s = CUDA.costs.fixed_s.min(WGPU.costs.fixed_s);
    (fixed_s * 1e9 / slowest_ns) as usize
};

/// Expected times, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Expected {
    pub cpu_s: f64,
    pub gpu_s: f64,
}

/// Which engine, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    /// [`Choice::Cpu`], or the GPU's.
    pub engine: Choice,
    /// Where the times were weighed.
    pub expected: Option<Expected>,
    /// For [`Report::reason`](sweepsort_core::Report::reason).
    pub reason: Cow<'static, str>,
}

impl Decision {
    /// The CPU, without weighing any times.
    pub fn cpu(reason: impl Into<Cow<'static, str>>) -> Self {
        Decision {
            engine: Choice::Cpu,
            expected: None,
            reason: reason.into(),
        }
    }

    /// Seconds that the GPU, once open, is expected to save; 0 if none.
    pub fn saving_s(&self) -> f64 {
        match self.expected {
            Some(Expected { cpu_s, gpu_s }) => (cpu_s - gpu_s).max(0.0),
            None => 0.0,
        }
    }
}

/// The reason below [`SMALLEST`].
pub(crate) const TOO_FEW: &str = "auto: cpu, as no GPU pays for so few keys";
const NOT_MEASURED: &str = "auto: cpu, as no crossover to a GPU is measured for such keys";

/// The engine for a task of this shape, `bits` bits of whose keys count: the CPU with so many threads, or
/// this GPU, if it is open and has these costs.
pub(crate) fn decide(
    shape: &Shape,
    bits: u32,
    threads: usize,
    gpu: &Gpu,
    open: Option<Costs>,
) -> Decision {
    if shape.keys < SMALLEST {
        return Decision::cpu(TOO_FEW);
    }
    let Some(cpu_s) = cpu_s(shape, bits, threads) else {
        return Decision::cpu(NOT_MEASURED);
    };
    let gpu_s = open.unwrap_or(gpu.costs).sort_s(shape, bits);
    let on_cpu = Seconds(cpu_s);
    let on_gpu = Seconds(gpu_s);
    let (engine, reason) = match open {
        Some(_) if gpu_s < cpu_s => {
            let threads = match threads {
                0 | 1 => "1 thread".to_owned(),
                _ => format!("{threads} threads"),
            };
            (
                gpu.engine,
                format!(
                    "auto: {}, {on_gpu} expected against {on_cpu} on {threads}",
                    gpu.engine
                ),
            )
        }
        None if gpu_s < cpu_s => (
            Choice::Cpu,
            format!(
                "auto: cpu, {on_cpu} expected against {on_gpu} on a GPU, which no sort has paid for \
                 opening yet ({})",
                Seconds(gpu.opening_s)
            ),
        ),
        _ => (
            Choice::Cpu,
            format!("auto: cpu, {on_cpu} expected against {on_gpu} on a GPU"),
        ),
    };
    Decision {
        engine,
        expected: Some(Expected { cpu_s, gpu_s }),
        reason: Cow::Owned(reason),
    }
}

/// Seconds on the CPU; `None` where nothing alike was measured.
///
/// Between two measured numbers of threads the time follows the power law through both. Beyond them
/// threads are taken to share the work perfectly, and bits to cost their share. Memory seldom lets
/// many threads do so, and few bits cost more than that: both make the CPU look better than it is.
fn cpu_s(shape: &Shape, bits: u32, threads: usize) -> Option<f64> {
    let work = match shape.payload_bytes {
        _ if shape.argsort => Work::Argsort,
        0 => Work::Keys,
        _ => Work::Pairs,
    };
    let threads = threads.max(1) as f64;
    let (mut below, mut above): (Option<&Cpu>, Option<&Cpu>) = (None, None);
    let rows = CPU.iter().flat_map(|(_, rows)| *rows);
    for row in rows.filter(|row| row.width == shape.width && row.work == work) {
        if f64::from(row.threads) <= threads {
            below = below
                .filter(|most| most.threads > row.threads)
                .or(Some(row));
        } else {
            above = above
                .filter(|least| least.threads < row.threads)
                .or(Some(row));
        }
    }
    let ns_per_key = match (below, above) {
        (Some(below), Some(above)) => {
            let few = f64::from(below.threads);
            let share = (threads / few).ln() / (f64::from(above.threads) / few).ln();
            below.ns_per_key * (above.ns_per_key / below.ns_per_key).powf(share)
        }
        (Some(row), None) | (None, Some(row)) => row.ns_per_key * f64::from(row.threads) / threads,
        (None, None) => return None,
    };
    let share_of_bits = f64::from(bits) / f64::from(shape.width.bits());
    Some(shape.keys as f64 * ns_per_key * share_of_bits / 1e9)
}

impl Costs {
    /// Seconds on the device, both ways over the link included.
    fn sort_s(&self, shape: &Shape, bits: u32) -> f64 {
        let [over_the_link, in_memory] = bytes(shape, bits);
        self.fixed_s + over_the_link / self.link_bytes_per_s + in_memory / self.memory_bytes_per_s
    }

    /// The costs of a device that sorted few keys and many, of 32 bits and nothing with them. The few
    /// take the fixed time, and what the many take longer is shared out as their stages are.
    pub fn measured(few: &Timed, many: &Timed) -> Costs {
        let more = Shape::keys(many.keys - few.keys, Width::W32);
        let [over_the_link, in_memory] = bytes(&more, 32);
        // A clock that stutters must not make a rate beyond all bounds.
        let more_s = (many.all_s - few.all_s).max(many.all_s / 4.0);
        let stages_s = many.link_s + many.memory_s;
        let on_the_link = match stages_s > 0.0 {
            true => many.link_s / stages_s,
            false => 1.0,
        };
        Costs {
            fixed_s: few.all_s,
            link_bytes_per_s: over_the_link / (more_s * on_the_link),
            memory_bytes_per_s: in_memory / (more_s * (1.0 - on_the_link)),
        }
    }
}

/// A sort that a device was timed at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timed {
    pub keys: usize,
    /// All of it, as the caller sees it.
    pub all_s: f64,
    /// The stages: over the link and back, and on the device.
    pub link_s: f64,
    pub memory_s: f64,
}

/// Bytes that go over the link, and those read and written in the device's memory: one read of the keys
/// for the counts, then each pass of 8 bits reads and writes keys and values. That is what a onesweep
/// moves. CUDA moves keys alone less often, mostly, but it may take a onesweep for them, too, and the
/// link takes many times as long as either.
fn bytes(shape: &Shape, bits: u32) -> [f64; 2] {
    let (key, payload) = (shape.width.bytes(), shape.payload_bytes);
    let record = key + payload;
    let over_the_link = match shape.argsort {
        true => record,
        false => 2 * record,
    };
    let in_memory = key + 2 * record * bits.div_ceil(8) as usize;
    [over_the_link, in_memory].map(|per_key| shape.keys as f64 * per_key as f64)
}

/// A time as people write it: `85 µs`, `4.1 ms`, `2.50 s`.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 1e-3 => write!(f, "{:.0} µs", s * 1e6),
            s if s < 0.1 => write!(f, "{:.1} ms", s * 1e3),
            s if s < 1.0 => write!(f, "{:.0} ms", s * 1e3),
            s => write!(f, "{s:.2} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: [Width; 5] = [Width::W8, Width::W16, Width::W32, Width::W64, Width::W128];

    fn rows() -> impl Iterator<Item = (&'static str, &'static Cpu)> {
        CPU.iter()
            .flat_map(|(record, rows)| rows.iter().map(move |row| (*record, row)))
    }

    fn shape(keys: usize, width: Width, work: Work) -> Shape {
        match work {
            Work::Keys => Shape::keys(keys, width),
            Work::Pairs => Shape::pairs(keys, width, width.bytes()),
            Work::Argsort => Shape::argsort(keys, width, 4),
        }
    }

    /// Every figure is the median of a row in the record that it names.
    #[test]
    fn figures_are_those_of_the_records() {
        for (record, row) in rows() {
            let path = format!("{}/../../results/{record}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).expect("the record is there");
            let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
            let ty = format!("u{}", row.width.bits());
            let values = match row.work {
                Work::Keys => serde_json::Value::Null,
                Work::Pairs => ty.as_str().into(),
                Work::Argsort => "index".into(),
            };
            let n = 10_000_000;
            let found = json["rows"].as_array().expect("rows").iter().find(|found| {
                found["contender"] == "sweepsort-cpu"
                    && found["type"] == ty.as_str()
                    && found["value_type"] == values
                    && found["n"] == n
                    && found["threads"] == row.threads
                    && found["distribution"] == "uniform"
            });
            let what = format!("{record}, {ty}, {:?}, {} threads", row.work, row.threads);
            let found = found.unwrap_or_else(|| panic!("no row: {what}"));
            let ns_per_key = found["median_s"].as_f64().expect("seconds") * 1e9 / f64::from(n);
            assert!(
                (ns_per_key - row.ns_per_key).abs() < 6e-4,
                "{what}: {ns_per_key:.4} in the record, {} in the table",
                row.ns_per_key
            );
            let (width, work, threads) = (row.width, row.work, row.threads as usize);
            let expected = cpu_s(&shape(1_000_000, width, work), width.bits(), threads);
            let expected = expected.expect("a row") * 1e3;
            assert!(
                (expected - row.ns_per_key).abs() < 1e-9,
                "{what}: {expected} expected"
            );
        }
    }

    #[test]
    fn states_and_numbers_of_keys() {
        type Case<'a> = (usize, usize, Option<Costs>, bool, &'a [&'a str]);
        let (few, some, many) = (SMALLEST - 1, SMALLEST, 1 << 32);
        let wgpu = Gpu {
            costs: CUDA.costs,
            ..WGPU
        };
        for gpu in [CUDA, wgpu] {
            let (open, untried) = (Some(gpu.costs), None);
            let taken = format!("auto: {}, ", gpu.engine);
            let opening = format!(" opening yet ({})", Seconds(gpu.opening_s));
            // Keys, threads, the GPU, whether it is taken, parts of the reason.
            let cases: &[Case] = &[
                (0, 1, open, false, &[TOO_FEW]),
                (0, 1, untried, false, &[TOO_FEW]),
                (few, 1, open, false, &[TOO_FEW]),
                (
                    some,
                    64,
                    open,
                    false,
                    &["auto: cpu, ", " expected against ", " on a GPU"],
                ),
                (
                    some,
                    64,
                    untried,
                    false,
                    &["auto: cpu, ", " expected against "],
                ),
                (1 << 28, 1, open, true, &[&taken, " on 1 thread"]),
                (1 << 28, 2, open, true, &[&taken, " on 2 threads"]),
                (1 << 28, 2, untried, false, &["auto: cpu, ", &opening]),
                (many, 0, open, true, &[&taken, " on 1 thread"]),
                (many, 2, open, true, &[&taken, " s on 2 threads"]),
                (many, 2, untried, false, &["auto: cpu, "]),
            ];
            for &(keys, threads, open, is_taken, reason) in cases {
                let engine = if is_taken { gpu.engine } else { Choice::Cpu };
                for work in [Work::Keys, Work::Pairs, Work::Argsort] {
                    for width in [Width::W32, Width::W64] {
                        let shape = shape(keys, width, work);
                        let decision = decide(&shape, width.bits(), threads, &gpu, open);
                        let what = format!("{shape:?}, {threads} threads, {open:?}: {decision:?}");
                        assert_eq!(decision.engine, engine, "{what}");
                        for part in reason {
                            assert!(decision.reason.contains(part), "no '{part}' in {what}");
                        }
                    }
                }
            }
        }
    }

    /// What a device was measured to take decides, and not what was expected of it.
    #[test]
    fn measured_costs_decide() {
        let shape = Shape::keys(10_000_000, Width::W32);
        let with = |times: f64| Costs {
            fixed_s: times * WGPU.costs.fixed_s,
            link_bytes_per_s: WGPU.costs.link_bytes_per_s / times,
            memory_bytes_per_s: WGPU.costs.memory_bytes_per_s / times,
        };
        let cpu_s = cpu_s(&shape, 32, 2).expect("a row");
        let even = cpu_s / WGPU.costs.sort_s(&shape, 32);
        for (times, engine) in [(0.9, Choice::Wgpu), (1.1, Choice::Cpu)] {
            let decision = decide(&shape, 32, 2, &WGPU, Some(with(times * even)));
            let expected = Some(Expected {
                cpu_s,
                gpu_s: with(times * even).sort_s(&shape, 32),
            });
            assert_eq!((decision.engine, decision.expected), (engine, expected));
        }
        let quick = decide(&shape, 32, 2, &WGPU, Some(with(0.9 * even)));
        let reason = format!(
            "auto: wgpu, {} expected against {} on 2 threads",
            Seconds(0.9 * cpu_s),
            Seconds(cpu_s)
        );
        assert_eq!(quick.reason, reason);
    }

    /// Costs are those of the device that was timed, and its sorts are expected to take as long as they
    /// did; a stutter of the clock makes no rate beyond what the sort as a whole says.
    #[test]
    fn costs_from_sorts_that_were_timed() {
        let real = CUDA.costs;
        let timed = |keys| {
            let [link, memory] = bytes(&Shape::keys(keys, Width::W32), 32);
            let (link_s, memory_s) = (
                link / real.link_bytes_per_s,
                memory / real.memory_bytes_per_s,
            );
            Timed {
                keys,
                all_s: real.fixed_s + link_s + memory_s,
                link_s,
                memory_s,
            }
        };
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
        let (few, many) = (timed(1000), timed(1 << 24));
        let costs = Costs::measured(&few, &many);
        assert!(
            close(costs.fixed_s, real.fixed_s)
                && close(costs.link_bytes_per_s, real.link_bytes_per_s)
                && close(costs.memory_bytes_per_s, real.memory_bytes_per_s),
            "{costs:?} of {real:?}"
        );
        let unstaged = Timed {
            link_s: 0.0,
            memory_s: 0.0,
            ..many
        };
        let stuttered = Timed {
            all_s: many.all_s * 2.0,
            ..few
        };
        let cases = [
            (few, many, many.all_s),
            (few, unstaged, many.all_s),
            (stuttered, many, many.all_s * 2.25),
        ];
        for (few, many, expected) in cases {
            let shape = Shape::keys(many.keys, Width::W32);
            let seconds = Costs::measured(&few, &many).sort_s(&shape, 32);
            assert!(
                close(seconds, expected),
                "{few:?}, {many:?}: {seconds}, {expected} expected"
            );
        }
    }

    /// Over both GPUs, all widths, tasks, ranges of bits and threads: there is one crossover at most, and
    /// the engine taken is the one expected to be the faster.
    #[test]
    fn one_crossover_at_most() {
        for gpu in [CUDA, WGPU] {
            let mut crossovers = 0;
            for width in WIDTHS {
                for work in [Work::Keys, Work::Pairs, Work::Argsort] {
                    for bits in [0, 1, width.bits() / 2, width.bits()] {
                        for threads in [1, 2, 3, 8, 16, 17, 64] {
                            crossovers += crossings(&gpu, width, work, bits, threads);
                        }
                    }
                }
            }
            assert!(crossovers > 0, "{} is taken for nothing", gpu.engine);
        }
    }

    /// How often the engine changes as keys get more.
    fn crossings(gpu: &Gpu, width: Width, work: Work, bits: u32, threads: usize) -> usize {
        let measured = rows().any(|(_, row)| row.width == width && row.work == work);
        let (mut before, mut crossovers) = (Choice::Cpu, 0);
        for log in 0..=32 {
            let shape = shape(1 << log, width, work);
            let decision = decide(&shape, bits, threads, gpu, Some(gpu.costs));
            let what = format!("{shape:?}, {bits} bits, {threads} threads: {decision:?}");
            match decision.expected {
                Some(Expected { cpu_s, gpu_s }) => {
                    let taken = decision.engine == gpu.engine;
                    assert_eq!(taken, gpu_s < cpu_s, "{what}");
                    assert_eq!(taken, decision.saving_s() > 0.0, "{what}");
                    assert!(measured, "{what}");
                }
                None if (1 << log) < SMALLEST => {
                    assert_eq!(decision.reason, TOO_FEW, "{what}");
                }
                None => assert_eq!(decision.reason, NOT_MEASURED, "{what}"),
            }
            if decision.engine != before {
                assert_eq!(decision.engine, gpu.engine, "back again: {what}");
                crossovers += 1;
            }
            before = decision.engine;
        }
        crossovers
    }

    /// Below [`SMALLEST`], no number of threads, down to one, makes a GPU the faster.
    #[test]
    fn too_few_is_too_few() {
        for (_, row) in rows() {
            let shape = shape(SMALLEST, row.width, row.work);
            let bits = row.width.bits();
            let alone = row.ns_per_key * f64::from(row.threads) * SMALLEST as f64 / 1e9;
            for costs in [CUDA.costs, WGPU.costs] {
                assert!(
                    alone <= costs.fixed_s && costs.fixed_s < costs.sort_s(&shape, bits),
                    "{shape:?}: {} against {}",
                    Seconds(alone),
                    Seconds(costs.sort_s(&shape, bits))
                );
            }
        }
    }

    #[test]
    fn more_threads_are_never_slower() {
        for (_, row) in rows() {
            let shape = shape(1 << 20, row.width, row.work);
            let times: Vec<_> = (1..=64)
                .map(|threads| cpu_s(&shape, row.width.bits(), threads).expect("a row"))
                .collect();
            assert!(
                times.windows(2).all(|pair| pair[0] >= pair[1]),
                "{shape:?}: {times:?}"
            );
        }
    }

    #[test]
    fn times_are_written_as_people_write_them() {
        let cases = [
            (0.0, "0 µs"),
            (85.4e-6, "85 µs"),
            (1e-3, "1.0 ms"),
            (4.12e-3, "4.1 ms"),
            (0.38, "380 ms"),
            (2.5, "2.50 s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(Seconds(seconds).to_string(), text);
        }
    }
}
