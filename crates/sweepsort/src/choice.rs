//! What `auto` takes: the engine that is expected to be the faster, by what was measured.
//!
//! A task comes as its shape, the number of bits that count and the number of threads; out goes an
//! engine with a reason. Nothing is asked of a device or of the data here: see [`crate::rental`]
//! for when the CUDA engine is opened. In doubt the CPU keeps the task, which is never worse than
//! having no GPU.
//!
//! The wgpu engine has no figures here, as no crossover to it has been measured yet: it sorts where it
//! is asked for, and not under `auto`.

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

/// What a sort takes that goes from host memory to the device and back.
struct Cuda {
    /// Launches, allocations and waiting, whatever the number of keys.
    fixed_s: f64,
    /// Keys and values of the host, not page-locked, one way after the other.
    link_bytes_per_s: f64,
    /// What the passes read and write in the device's memory.
    memory_bytes_per_s: f64,
    /// Opening the device, and what the first sort takes longer than others.
    opening_s: f64,
}

/// An NVIDIA H200, on the slow side. The fixed time and the link's rate are such that no sort of 10^5
/// or of 10^7 keys in `results/2026-11-21-h200-host.json` took longer than they say; those of more keys
/// took less. The rate of the passes is the lowest of the best ones at 2^28 of a onesweep in
/// `results/2026-11-21-h200-onesweep-lab.json`; opening is context and first sort in
/// `results/2026-11-21-h200-first-sort.json`.
const CUDA: Cuda = Cuda {
    fixed_s: 360e-6,
    link_bytes_per_s: 28e9,
    memory_bytes_per_s: 2.5e12,
    opening_s: 0.12,
};

/// Seconds that opening the CUDA engine takes.
pub(crate) const OPENING_S: f64 = CUDA.opening_s;

/// Fewer keys than this are in order on one thread, by the slowest row, before any GPU has begun.
/// Whatever a GPU takes beyond the fixed time is not counted, so the true crossovers lie above.
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
    (CUDA.fixed_s * 1e9 / slowest_ns) as usize
};

/// What is known of the CUDA engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// Nobody has looked for a device.
    Untried,
    /// It can run tasks.
    Open,
    /// It cannot, and this is the reason to report.
    Absent(&'static str),
}

/// Expected times, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Expected {
    pub cpu_s: f64,
    pub cuda_s: f64,
}

/// Which engine, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    /// [`Choice::Cpu`] or [`Choice::Cuda`].
    pub engine: Choice,
    /// Where the times were weighed.
    pub expected: Option<Expected>,
    /// For [`Report::reason`](sweepsort_core::Report::reason).
    pub reason: Cow<'static, str>,
}

impl Decision {
    /// The CPU, without weighing any times.
    fn cpu(reason: &'static str) -> Self {
        Decision {
            engine: Choice::Cpu,
            expected: None,
            reason: Cow::Borrowed(reason),
        }
    }

    /// Seconds that the CUDA engine, once open, is expected to save; 0 if none.
    pub fn saving_s(&self) -> f64 {
        match self.expected {
            Some(Expected { cpu_s, cuda_s }) => (cpu_s - cuda_s).max(0.0),
            None => 0.0,
        }
    }
}

/// The reason below [`SMALLEST`].
pub(crate) const TOO_FEW: &str = "auto: cpu, as no GPU pays for so few keys";
const NOT_MEASURED: &str = "auto: cpu, as no crossover to a GPU is measured for such keys";

/// The engine for a task of this shape, `bits` bits of whose keys count, with so many threads.
pub(crate) fn decide(shape: &Shape, bits: u32, threads: usize, state: State) -> Decision {
    if shape.keys < SMALLEST {
        return Decision::cpu(TOO_FEW);
    }
    if let State::Absent(reason) = state {
        return Decision::cpu(reason);
    }
    let Some(cpu_s) = cpu_s(shape, bits, threads) else {
        return Decision::cpu(NOT_MEASURED);
    };
    let cuda_s = cuda_s(shape, bits);
    let (cpu, cuda) = (Seconds(cpu_s), Seconds(cuda_s));
    let (engine, reason) = match state {
        State::Open if cuda_s < cpu_s => {
            let threads = match threads {
                0 | 1 => "1 thread".to_owned(),
                _ => format!("{threads} threads"),
            };
            (
                Choice::Cuda,
                format!("auto: cuda, {cuda} expected against {cpu} on {threads}"),
            )
        }
        _ if cuda_s < cpu_s => (
            Choice::Cpu,
            format!(
                "auto: cpu, {cpu} expected against {cuda} on a GPU, which no sort has paid for \
                 opening yet ({})",
                Seconds(OPENING_S)
            ),
        ),
        _ => (
            Choice::Cpu,
            format!("auto: cpu, {cpu} expected against {cuda} on a GPU"),
        ),
    };
    Decision {
        engine,
        expected: Some(Expected { cpu_s, cuda_s }),
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

/// Seconds on the device, both ways over the link included: one read of the keys for the counts,
/// then each pass of 8 bits reads and writes keys and values. That is what a onesweep moves. Keys
/// alone are mostly moved less often, but the device may take a onesweep for them, too, and the link
/// takes many times as long as either.
fn cuda_s(shape: &Shape, bits: u32) -> f64 {
    let (key, payload) = (shape.width.bytes(), shape.payload_bytes);
    let record = key + payload;
    let over_the_link = match shape.argsort {
        true => record,
        false => 2 * record,
    };
    let in_memory = key + 2 * record * bits.div_ceil(8) as usize;
    let per_key =
        over_the_link as f64 / CUDA.link_bytes_per_s + in_memory as f64 / CUDA.memory_bytes_per_s;
    CUDA.fixed_s + shape.keys as f64 * per_key
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
        use Choice::{Cpu, Cuda};
        use State::{Absent, Open, Untried};
        let (few, some, many) = (SMALLEST - 1, SMALLEST, 1 << 32);
        let opening = format!(" opening yet ({})", Seconds(OPENING_S));
        let cases: &[(usize, usize, State, Choice, &[&str])] = &[
            (0, 1, Open, Cpu, &[TOO_FEW]),
            (0, 1, Untried, Cpu, &[TOO_FEW]),
            (few, 1, Open, Cpu, &[TOO_FEW]),
            (few, 64, Absent("why"), Cpu, &[TOO_FEW]),
            (
                some,
                64,
                Open,
                Cpu,
                &["auto: cpu, ", " expected against ", " on a GPU"],
            ),
            (
                some,
                64,
                Untried,
                Cpu,
                &["auto: cpu, ", " expected against "],
            ),
            (some, 64, Absent("why"), Cpu, &["why"]),
            (1 << 28, 1, Open, Cuda, &["auto: cuda, ", " on 1 thread"]),
            (1 << 28, 2, Open, Cuda, &["auto: cuda, ", " on 2 threads"]),
            (1 << 28, 2, Untried, Cpu, &["auto: cpu, ", &opening]),
            (1 << 28, 2, Absent("why"), Cpu, &["why"]),
            (many, 0, Open, Cuda, &["auto: cuda, ", " on 1 thread"]),
            (many, 2, Open, Cuda, &["auto: cuda, ", " s on 2 threads"]),
            (many, 2, Untried, Cpu, &["auto: cpu, "]),
        ];
        for &(keys, threads, state, engine, reason) in cases {
            for work in [Work::Keys, Work::Pairs, Work::Argsort] {
                for width in [Width::W32, Width::W64] {
                    let shape = shape(keys, width, work);
                    let decision = decide(&shape, width.bits(), threads, state);
                    let what = format!("{shape:?}, {threads} threads, {state:?}: {decision:?}");
                    assert_eq!(decision.engine, engine, "{what}");
                    for part in reason {
                        assert!(decision.reason.contains(part), "no '{part}' in {what}");
                    }
                }
            }
        }
    }

    /// Over all widths, tasks, ranges of bits and threads: there is one crossover at most, and the
    /// engine taken is the one expected to be the faster.
    #[test]
    fn one_crossover_at_most() {
        let mut crossovers = 0;
        for width in WIDTHS {
            for work in [Work::Keys, Work::Pairs, Work::Argsort] {
                let measured = rows().any(|(_, row)| row.width == width && row.work == work);
                for bits in [0, 1, width.bits() / 2, width.bits()] {
                    for threads in [1, 2, 3, 8, 16, 17, 64] {
                        let mut before = Choice::Cpu;
                        for log in 0..=32 {
                            let shape = shape(1 << log, width, work);
                            let decision = decide(&shape, bits, threads, State::Open);
                            let what =
                                format!("{shape:?}, {bits} bits, {threads} threads: {decision:?}");
                            match decision.expected {
                                Some(Expected { cpu_s, cuda_s }) => {
                                    let cuda = decision.engine == Choice::Cuda;
                                    assert_eq!(cuda, cuda_s < cpu_s, "{what}");
                                    assert_eq!(cuda, decision.saving_s() > 0.0, "{what}");
                                    assert!(measured, "{what}");
                                }
                                None if (1 << log) < SMALLEST => {
                                    assert_eq!(decision.reason, TOO_FEW, "{what}");
                                }
                                None => assert_eq!(decision.reason, NOT_MEASURED, "{what}"),
                            }
                            if decision.engine != before {
                                assert_eq!(decision.engine, Choice::Cuda, "back again: {what}");
                                crossovers += 1;
                            }
                            before = decision.engine;
                        }
                    }
                }
            }
        }
        assert!(crossovers > 0, "CUDA is taken for nothing");
    }

    /// Below [`SMALLEST`], no number of threads, down to one, makes a GPU the faster.
    #[test]
    fn too_few_is_too_few() {
        for (_, row) in rows() {
            let shape = shape(SMALLEST, row.width, row.work);
            let bits = row.width.bits();
            let alone = row.ns_per_key * f64::from(row.threads) * SMALLEST as f64 / 1e9;
            assert!(
                alone <= CUDA.fixed_s && CUDA.fixed_s < cuda_s(&shape, bits),
                "{shape:?}: {} against {}",
                Seconds(alone),
                Seconds(cuda_s(&shape, bits))
            );
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
