//! `sweepsort bench`: how fast, beside what else there is.
//!
//! ```text
//! flags or preset → suites → inputs ─┬─ contenders ─ measure ─→ rows ─→ record ─→ table, JSON, chart
//!                                    └─ verified, outside the timing
//! ```
//! A later engine joins by its name in [`sweepsort::Choice`]; a peer by a line in `peers.rs`. Keys
//! that lie on a GPU have measuring and peers of their own, in `device/` by CUDA and in `wgpu/`; those
//! of both take turns (`party.rs`).

mod args;
mod array;
mod chart;
#[cfg(any(feature = "cuda", feature = "wgpu"))]
mod clocks;
mod contender;
#[cfg(feature = "cuda")]
mod device;
mod input;
pub mod machine;
mod measure;
#[cfg(any(feature = "cuda", feature = "wgpu"))]
mod party;
mod peak;
mod peers;
pub mod record;
mod table;
mod thresholds;
#[cfg(feature = "wgpu")]
mod wgpu;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use sweepsort::Choice;

use crate::exit::{Failure, Result, shown};
use crate::output::{self, Output};
use crate::types::Type;

pub use args::Args;
use args::{Combination, Payload, Residence, Suite};
use array::Place;
use contender::{About, Contender, Ours, SUFFIXES, Task};
use input::Input;
use measure::{Outcome, Teams};
#[cfg(any(feature = "cuda", feature = "wgpu"))]
use party::Party;
use peers::{Carried, Contested, Facts};
use record::{Machine, Record, Row};

/// Runs `bench`.
///
/// # Errors
/// Flags that make no sense together, an engine or peers that are absent, files that cannot be
/// written; [`Failure::System`] if one of ours sorted wrongly.
pub fn run(args: &Args) -> Result<()> {
    // Opened before anything is measured: what cannot be written shows at once.
    let open = |file: &Option<PathBuf>| {
        let open = |file: &PathBuf| Output::create(Some(file), args.force);
        file.as_ref().map(open).transpose()
    };
    let (to_json, to_chart) = (open(&args.json)?, open(&args.chart)?);
    let record = match &args.from {
        Some(file) => chosen(read(file)?, args),
        None => measured(args)?,
    };
    if record.rows.is_empty() {
        return Err(Failure::input(
            "no contender or row is left by these flags; choose others",
        ));
    }
    let on_stdout = |file: &Option<PathBuf>| file.as_deref() == Some(Path::new("-"));
    if !on_stdout(&args.json) && !on_stdout(&args.chart) {
        print(&table::render(&record, args.markdown))?;
    }
    let mut outputs = Vec::new();
    if let Some(output) = to_json {
        outputs.push(written(output, &json(&record)?)?);
    }
    if let Some(output) = to_chart {
        outputs.push(written(
            output,
            &chart::draw(&record).map_err(Failure::system)?,
        )?);
    }
    output::commit(&mut outputs)?;
    judge(&record)
}

/// Says loudly which outputs were wrong; an error if one of ours was.
fn judge(record: &Record) -> Result<()> {
    let wrong = |ours: bool| -> BTreeSet<String> {
        record
            .rows
            .iter()
            .filter(|row| !row.verified && row.ours() == ours)
            .map(|row| format!("{} on {} {}", row.contender, row.task(), row.distribution))
            .collect()
    };
    for peer in wrong(false) {
        // Nowhere is left to complain to if stderr is closed.
        let _ = writeln!(io::stderr(), "sweepsort: WRONG OUTPUT of a peer: {peer}");
    }
    let ours: Vec<_> = wrong(true).into_iter().collect();
    match ours.as_slice() {
        [] => Ok(()),
        _ => Err(Failure::system(format!(
            "WRONG OUTPUT of ours, please report it: {}",
            ours.join("; ")
        ))),
    }
}

/// Measures what the flags ask for.
fn measured(args: &Args) -> Result<Record> {
    let suites = args.suites()?;
    check(args, &suites)?;
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads.push(std::thread::available_parallelism().map_or(1, |cores| cores.get()));
    }
    let counts = threads.iter().copied().chain([1]).collect::<BTreeSet<_>>();
    let teams = measure::teams(counts.into_iter())
        .map_err(|error| Failure::system(format!("cannot start threads: {error}")))?;
    let mut session = Session {
        args,
        threads: BTreeSet::from_iter(threads),
        teams,
        rows: Vec::new(),
        progress: progress(),
        #[cfg(feature = "cuda")]
        card: None,
        #[cfg(feature = "wgpu")]
        stage: None,
    };
    for suite in &suites {
        for combination in suite.combinations() {
            session.input(suite, combination)?;
        }
    }
    session.progress.finish_and_clear();
    Ok(Record {
        machine: session.machine(),
        rows: session.rows,
    })
}

/// Refuses what no contender could answer, before anything is measured.
fn check(args: &Args, suites: &[Suite]) -> Result<()> {
    if args.threads.contains(&0) {
        return Err(Failure::input(
            "0 threads sort nothing; use --threads 1 or more",
        ));
    }
    if !(args.budget >= 0.0 && args.budget < 1e6) {
        return Err(Failure::input("--budget takes seconds from 0 up"));
    }
    let on_host = args.residence.contains(&Residence::Host);
    if args.residence != [Residence::Device] {
        let methods = suites.iter().flat_map(|suite| &suite.methods);
        if methods.clone().any(|method| method.variant.is_some()) {
            return Err(Failure::input(
                "variants are measured in a GPU's memory alone; add --residence device",
            ));
        }
        let payloads = suites.iter().flat_map(|suite| &suite.payloads);
        if let Some(narrow) = payloads
            .copied()
            .find(|payload| (1..4).contains(&payload.bytes()))
        {
            return Err(Failure::input(format!(
                "values of type {} are measured in a GPU's memory alone; use u32, or --residence \
                 device",
                narrow.name().unwrap_or_default()
            )));
        }
    }
    if args.residence.contains(&Residence::Pinned) {
        let engines = args.engines(Residence::Pinned);
        let other = engines.iter().find(|&&engine| engine != Choice::Cuda);
        if let Some(other) = other {
            return Err(Failure::input(format!(
                "the engine {} has no use for page-locked memory; use --engine cuda",
                other.name()
            )));
        }
    }
    let mut peers = on_host && args.with_peers();
    for name in &args.contenders {
        let peer = peers::all().find(|peer| peer.name == name);
        let on_device = peers::on_device().any(|peer| peer.name == name);
        let ours = ["cpu", "cuda", "wgpu"].iter().any(|engine| {
            SUFFIXES
                .iter()
                .any(|suffix| *name == format!("sweepsort-{engine}{suffix}"))
        });
        if peer.is_none() && !ours && !on_device {
            let names: Vec<_> = peers::everywhere().map(|peer| peer.name).collect();
            return Err(Failure::input(format!(
                "no contender '{name}'; there are {}, {}",
                SUFFIXES
                    .map(|suffix| format!("sweepsort-cpu{suffix}"))
                    .join(", "),
                names.join(", ")
            )));
        }
        if on_device && !args.residence.contains(&Residence::Device) {
            return Err(Failure::input(format!(
                "{name} sorts in a GPU's memory; add --residence device"
            )));
        }
        if let Some(why) = peer.filter(|_| on_host).and_then(peers::absent) {
            return Err(Failure::input(why));
        }
        peers |= on_host && peer.is_some();
    }
    if let (true, Some(why)) = (peers, peers::all().next().and_then(peers::absent)) {
        return Err(Failure::input(why));
    }
    // The largest input: as it was drawn, as keys and values, as records, the scratch that ours
    // keeps, and that of a peer.
    let largest = suites.iter().flat_map(|suite| {
        let bytes = |ty: &Type, payload: &Payload| match payload {
            Payload::None => 4 * ty.bytes(),
            Payload::Index => 2 * ty.bytes() + 4 * ty.bytes().max(4) + 36,
            Payload::Value(value) => {
                // In a GPU's memory they are checked by an argsort.
                let checked = 2 * ty.bytes() + 40;
                checked.max(2 * ty.bytes() + 9 * ty.bytes().max(value.bytes()))
            }
        };
        let largest = suite.sizes.iter().max().copied().unwrap_or(0);
        suite.types.iter().flat_map(move |ty| {
            let payloads = suite.payloads.iter();
            payloads.map(move |payload| largest.saturating_mul(bytes(ty, payload)))
        })
    });
    crate::memory::require(largest.max().unwrap_or(0) as u64, "this benchmark")
}

/// What is sorted.
#[derive(Clone, Copy)]
struct Sorted {
    /// The keys' type.
    ty: Type,
    /// What travels along.
    payload: Payload,
    /// The same, as the task.
    task: Task,
}

impl Sorted {
    /// Bytes read and written for a key by a radix sort of 8-bit digits: one read of the keys for
    /// the histogram, and a read and a write of keys and payload for each pass.
    fn floor_bytes_per_key(self) -> f64 {
        let (key, payload) = (self.ty.bytes(), self.payload.bytes());
        let passes = key;
        (key + passes * 2 * (key + payload)) as f64
    }
}

/// What is measured, of one combination in one place.
struct Case {
    /// For the reader of progress.
    title: String,
    sorted: Sorted,
    /// What all its rows have.
    what: Row,
}

impl Case {
    fn new(combination: Combination, residence: Residence) -> Self {
        let Combination {
            ty,
            payload,
            n,
            distribution,
        } = combination;
        let task = match payload {
            Payload::None => Task::Keys,
            Payload::Index => Task::Argsort,
            Payload::Value(_) => Task::Pairs,
        };
        let what = Row {
            contender: String::new(),
            engine: None,
            algorithm: None,
            key_type: ty.name().to_owned(),
            value_type: payload.name().map(str::to_owned),
            n,
            distribution: distribution.name().to_owned(),
            threads: 0,
            residence: residence.name().to_owned(),
            stage: None,
            radix_bits: None,
            block: None,
            variant: None,
            median_s: None,
            min_s: None,
            max_s: None,
            keys_per_s: None,
            stages_s: None,
            floor_fraction: None,
            peak_bytes: None,
            clock: None,
            verified: false,
        };
        Case {
            title: format!("{}, {n} keys, {distribution}", what.task()),
            sorted: Sorted { ty, payload, task },
            what,
        }
    }
}

/// How many small sorts a timing covers at most where a GPU does them, at some 50 µs each.
const COPIES_ON_GPU: usize = 64;

/// A run of measurements.
struct Session<'a> {
    args: &'a Args,
    threads: BTreeSet<usize>,
    teams: Teams,
    rows: Vec<Row>,
    progress: ProgressBar,
    /// The GPU, once keys have been measured on it.
    #[cfg(feature = "cuda")]
    card: Option<device::Card>,
    /// The same by wgpu.
    #[cfg(feature = "wgpu")]
    stage: Option<wgpu::Stage>,
}

impl Session<'_> {
    /// Measures all contenders on one input.
    fn input(&mut self, suite: &Suite, combination: Combination) -> Result<()> {
        // `bool` lies in a byte, as in a file, but is a key of one bit.
        macro_rules! with_types {
            ($($name:ident $key:ty),*) => {
                match (combination.ty, combination.payload) {
                    $(
                        (Type::$name, Payload::None) => Session::one::<$key, u32>,
                        (Type::$name, Payload::Index) => Session::one::<$key, u32>,
                        (Type::$name, Payload::Value(value)) => match value.bytes() {
                            // Narrower ones have no use for it: their residence is a device.
                            ..=4 => Session::one::<$key, u32>,
                            8 => Session::one::<$key, u64>,
                            _ => Session::one::<$key, u128>,
                        },
                    )*
                }
            };
        }
        let one = with_types!(
            U8 u8, U16 u16, U32 u32, U64 u64, U128 u128,
            I8 i8, I16 i16, I32 i32, I64 i64, I128 i128,
            F16 half::f16, Bf16 half::bf16, F32 f32, F64 f64, Bool bool
        );
        one(self, suite, combination)
    }

    /// The same, for a type of keys and of what travels along. What depends on neither is elsewhere, for this is
    /// compiled for each two of them.
    fn one<K: Contested, V: Carried>(
        &mut self,
        suite: &Suite,
        combination: Combination,
    ) -> Result<()> {
        let args = self.args;
        for &residence in &args.residence {
            let case = Case::new(combination, residence);
            let making = format!("{}: making the keys", case.title);
            self.progress.set_message(making);
            if residence == Residence::Device {
                let input = self.keys::<K>(combination, residence)?;
                self.on_device(&input, suite, &case)?;
                continue;
            }
            let (task, place) = (case.sorted.task, self.place(residence)?);
            let mut contenders: Vec<Contender<K, V>> = Vec::new();
            for (ours, threads) in self.ours(suite, task, residence) {
                contenders.push(ours.contender(task, threads)?);
            }
            if residence == Residence::Host {
                for &threads in &self.threads {
                    let chosen = |peer: &Facts| self.has(suite, peer, threads);
                    contenders.extend(contender::peers(task, threads, chosen));
                }
            }
            let input = self.keys(combination, residence)?;
            self.on_host(&input, &place, &contenders, &case)?;
        }
        Ok(())
    }

    /// The keys of a combination, as often as they are sorted in a row.
    fn keys<K: Contested>(
        &self,
        combination: Combination,
        residence: Residence,
    ) -> Result<Input<K>> {
        let gpu = |engine| self.args.engine.contains(&engine);
        let gpu = residence == Residence::Pinned || gpu(Choice::Cuda) || gpu(Choice::Wgpu);
        let copies = match residence {
            Residence::Device => 1,
            _ if self.args.budget == 0.0 => 1,
            _ if gpu => COPIES_ON_GPU,
            _ => usize::MAX,
        };
        let (distribution, n) = (combination.distribution, combination.n);
        Input::new(distribution, n, self.args.seed, copies)
            .map_err(|unsuited| Failure::input(unsuited.to_string()))
    }

    /// Where the arrays lie that the host's contenders sort.
    fn place(&mut self, residence: Residence) -> Result<Place> {
        match residence {
            #[cfg(feature = "cuda")]
            Residence::Pinned => Ok(Place::PageLocked(self.card()?.device().clone())),
            #[cfg(not(feature = "cuda"))]
            Residence::Pinned => Err(no_gpu()),
            Residence::Host | Residence::Device => Ok(Place::Pageable),
        }
    }

    /// The GPU, opened if it is not yet.
    #[cfg(feature = "cuda")]
    fn card(&mut self) -> Result<&mut device::Card> {
        opened(&mut self.card, device::Card::open)
    }

    /// Seconds that the keys and what travels with them take to the GPU and back, where a row's sort
    /// went there.
    #[cfg(feature = "cuda")]
    fn seconds_of_link(&mut self, n: usize, sorted: Sorted) -> Result<Option<f64>> {
        let links = self.card()?.links;
        let (key, value) = (sorted.ty.bytes(), sorted.payload.bytes());
        let (up, down) = match sorted.task {
            Task::Argsort => (key, value),
            Task::Keys | Task::Pairs => (key + value, key + value),
        };
        Ok(links.map(|links| links.least_seconds(n * up, n * down)))
    }

    #[cfg(not(feature = "cuda"))]
    fn seconds_of_link(&mut self, _: usize, _: Sorted) -> Result<Option<f64>> {
        Err(no_gpu())
    }

    /// Measures on the host.
    fn on_host<K: Contested, V: Carried>(
        &mut self,
        input: &Input<K>,
        place: &Place,
        contenders: &[Contender<K, V>],
        case: &Case,
    ) -> Result<()> {
        let (progress, budget) = (&self.progress, self.args.budget);
        let outcomes = measure::measure(input, place, contenders, &self.teams, budget, &|name| {
            progress.set_message(format!("{}: {name}", case.title));
        });
        for (contender, outcome) in contenders.iter().zip(outcomes) {
            self.host_row(case, &contender.about, outcome)?;
        }
        Ok(())
    }

    /// Notes what came out for a contender on the host.
    fn host_row(&mut self, case: &Case, about: &About, outcome: Outcome) -> Result<()> {
        let n = case.what.n;
        let report = outcome.report.as_ref();
        let by = |engine: Choice| report.is_some_and(|report| report.engine == engine.name());
        let on_gpu = by(Choice::Cuda) || by(Choice::Wgpu);
        let floor_s = match on_gpu {
            true if by(Choice::Cuda) => self.seconds_of_link(n, case.sorted)?,
            // wgpu has no page-locked memory that copies could be measured with.
            true => None,
            false => {
                let bytes = n as f64 * case.sorted.floor_bytes_per_key();
                Some(bytes / self.teams[&about.threads].bandwidth)
            }
        };
        let what = Row {
            contender: about.name.clone(),
            threads: about.threads,
            // A GPU's memory is not counted.
            peak_bytes: (about.counted && !on_gpu).then_some(outcome.peak),
            ..case.what.clone()
        };
        self.rows
            .push(row(what, about.ours.as_ref(), outcome, floor_s));
        Ok(())
    }

    /// Measures in a GPU's memory.
    #[cfg(any(feature = "cuda", feature = "wgpu"))]
    fn on_device<K: Contested>(
        &mut self,
        input: &Input<K>,
        suite: &Suite,
        case: &Case,
    ) -> Result<()> {
        let (title, sorted, what) = (&case.title, case.sorted, &case.what);
        let all = suite.contenders.is_empty();
        let named = |name: &str| suite.names(name);
        let engines = self.args.engines(Residence::Device);
        if let Some(other) = engines.iter().find(|&&engine| !on_gpus(engine)) {
            return Err(Failure::input(format!(
                "the engine {} has no keys in a GPU's memory; use --engine {}",
                other.name(),
                ON_GPUS.map(Choice::name).join(" or ")
            )));
        }
        let peers = all && self.args.with_peers();
        let due = |engine: Choice, its: &[peers::Facts]| {
            engines.contains(&engine) || its.iter().any(|peer| named(peer.name))
        };
        let mut parties: Vec<Box<dyn Party + '_>> = Vec::new();
        // Of ours in the memory of one GPU, the floor is one.
        let mut floor: Option<(String, f64)> = None;
        if due(Choice::Cuda, peers::on_cuda()) {
            #[cfg(not(feature = "cuda"))]
            return Err(absent(Choice::Cuda));
            #[cfg(feature = "cuda")]
            {
                let card = opened(&mut self.card, device::Card::open)?;
                let mut contenders = Vec::new();
                if engines.contains(&Choice::Cuda) {
                    for method in &suite.methods {
                        let ours = card.ours(method, self.args.images.as_deref(), sorted.task)?;
                        let chosen = |ours: &device::Contender| all || named(&ours.name);
                        contenders.extend(ours.into_iter().filter(chosen));
                    }
                }
                let peers = peers && engines.contains(&Choice::Cuda);
                contenders.extend(card.peers(sorted, &named, peers)?);
                floor = Some((card.names().0, card.bandwidth));
                parties.push(card.party(&input.keys, sorted, contenders)?);
            }
        }
        if due(Choice::Wgpu, peers::on_wgpu()) {
            #[cfg(not(feature = "wgpu"))]
            return Err(absent(Choice::Wgpu));
            #[cfg(feature = "wgpu")]
            {
                let stage = opened(&mut self.stage, wgpu::Stage::open)?;
                let mut contenders = Vec::new();
                if engines.contains(&Choice::Wgpu) {
                    for method in &suite.methods {
                        let ours = stage.ours(method)?;
                        contenders.extend((all || named(ours.name())).then_some(ours));
                    }
                }
                let peers = peers && engines.contains(&Choice::Wgpu);
                contenders.extend(stage.peers(sorted, &named, peers)?);
                let own = (stage.names().0, stage.gpu.bandwidth);
                let (_, bandwidth) = floor.filter(|floor| floor.0 == own.0).unwrap_or(own);
                parties.extend(stage.parties(&input.keys, sorted, contenders, bandwidth)?);
            }
        }
        let progress = &self.progress;
        let mut step = |name: &str| progress.set_message(format!("{title}: {name}"));
        for (seat, outcome) in party::rounds(&mut parties, self.args.budget, &mut step)? {
            let what = Row {
                contender: seat.name,
                threads: 1,
                algorithm: seat.algorithm.map(str::to_owned),
                peak_bytes: seat.workspace_bytes,
                clock: seat.host_clock.then(|| "host".to_owned()),
                ..what.clone()
            };
            let floor_s = what.n as f64 * sorted.floor_bytes_per_key() / seat.bandwidth;
            self.rows
                .push(row(what, seat.ours.as_ref(), outcome, Some(floor_s)));
        }
        Ok(())
    }

    #[cfg(not(any(feature = "cuda", feature = "wgpu")))]
    fn on_device<K: Contested>(&mut self, _: &Input<K>, _: &Suite, _: &Case) -> Result<()> {
        Err(no_gpu())
    }

    /// The machine, with its GPU where that was measured on.
    fn machine(&self) -> Machine {
        #[allow(unused_mut, reason = "the CPU has no more to say")]
        let mut machine = machine::describe();
        #[cfg(feature = "cuda")]
        if let Some(card) = &self.card {
            let (gpu, driver) = card.names();
            machine = Machine {
                gpu: Some(gpu),
                driver,
                gpu_copy_bytes_per_s: Some(card.bandwidth),
                link_up_bytes_per_s: card.links.map(|links| links.up),
                link_down_bytes_per_s: card.links.map(|links| links.down),
                gpu_peers: (!card.versions.is_empty()).then(|| card.versions.clone()),
                ..machine
            };
        }
        #[cfg(feature = "wgpu")]
        {
            let by_wgpu = |row: &Row| row.engine.as_deref() == Some(Choice::Wgpu.name());
            let names = match &self.stage {
                Some(stage) => Some(stage.names()),
                None if self.rows.iter().any(by_wgpu) => wgpu::names(),
                None => None,
            };
            let bandwidth = self.stage.as_ref().map(|stage| stage.gpu.bandwidth);
            match (names, &machine.gpu) {
                (None, _) => {}
                (Some((gpu, driver)), Some(_)) => {
                    machine.gpu_by_wgpu = Some(format!("{gpu}, {driver}"));
                }
                (Some((gpu, driver)), None) => {
                    machine.gpu = Some(gpu);
                    machine.driver = Some(driver);
                    machine.gpu_copy_bytes_per_s = bandwidth;
                }
            }
            let versions = self.stage.as_ref().map(|stage| stage.versions.clone());
            if let Some(versions) = versions.filter(|versions| !versions.is_empty()) {
                machine.gpu_peers.get_or_insert_default().extend(versions);
            }
        }
        machine
    }

    /// Those of ours that sort an input, and with how many threads.
    fn ours(&self, suite: &Suite, task: Task, residence: Residence) -> Vec<(Ours, usize)> {
        let all = suite.contenders.is_empty();
        let mut contenders = Vec::new();
        let pinned = residence == Residence::Pinned;
        for engine in self.args.engines(residence) {
            for suffix in SUFFIXES {
                if suffix == "-unstable" && (task != Task::Pairs || pinned) {
                    continue;
                }
                let name = format!("sweepsort-{}{suffix}", engine.name());
                let usual = match suffix {
                    "-fresh" => self.args.fresh,
                    "-avx2" | "-portable" => false,
                    _ => true,
                };
                if !(suite.names(&name) || all && usual) {
                    continue;
                }
                for method in &suite.methods {
                    let ours = Ours {
                        engine,
                        method: method.clone(),
                        suffix,
                    };
                    contenders.extend(self.threads.iter().map(|&threads| (ours.clone(), threads)));
                }
            }
        }
        contenders
    }

    /// Whether a peer takes part with so many threads; one that uses a single one does once.
    fn has(&self, suite: &Suite, peer: &Facts, threads: usize) -> bool {
        let due = self.threads.first() == Some(&threads) || peer.parallel;
        let all = suite.contenders.is_empty() && self.args.with_peers();
        due && (all || suite.names(peer.name))
    }
}

/// A device, opened if it is not yet.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
fn opened<T>(device: &mut Option<T>, open: fn() -> Result<T>) -> Result<&mut T> {
    match device {
        Some(device) => Ok(device),
        none => Ok(none.insert(open()?)),
    }
}

/// The engines that sort in a GPU's memory.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
const ON_GPUS: [Choice; 2] = [Choice::Cuda, Choice::Wgpu];

#[cfg(any(feature = "cuda", feature = "wgpu"))]
fn on_gpus(engine: Choice) -> bool {
    ON_GPUS.contains(&engine)
}

/// An engine for a GPU that this build has not got.
#[cfg(any(
    all(feature = "wgpu", not(feature = "cuda")),
    all(feature = "cuda", not(feature = "wgpu"))
))]
fn absent(engine: Choice) -> Failure {
    let name = engine.name();
    Failure::input(format!(
        "this build does not measure the engine {name} in a GPU's memory; build it with the feature {name}"
    ))
}

#[cfg(not(feature = "cuda"))]
fn no_gpu() -> Failure {
    Failure::input(
        "this build has no engine that sorts in a GPU's memory; build it with the feature cuda, or wgpu \
         for --residence device",
    )
}

/// The row for an outcome; of ours, the name is that of the engine that ran.
fn row(what: Row, ours: Option<&Ours>, mut outcome: Outcome, floor_s: Option<f64>) -> Row {
    if let Some(failure) = &outcome.failure {
        // Nowhere is left to complain to if stderr is closed.
        let _ = writeln!(io::stderr(), "sweepsort: {}: {failure}", what.contender);
    }
    outcome.seconds.sort_by(f64::total_cmp);
    let seconds = &outcome.seconds;
    let median = match seconds.len() {
        0 => None,
        len => Some((seconds[(len - 1) / 2] + seconds[len / 2]) / 2.0),
    };
    let report = outcome.report.as_ref();
    let engine = ours.map(|ours| report.map_or(ours.engine.name(), |report| report.engine));
    let algorithm = ours.and_then(|ours| {
        let ran = report.map(|report| report.algorithm.to_owned());
        ran.or_else(|| what.algorithm.clone())
            .or_else(|| ours.method.algorithm.clone())
    });
    Row {
        contender: match (ours, engine) {
            (Some(ours), Some(engine)) => ours.name(engine),
            _ => what.contender.clone(),
        },
        engine: engine.map(str::to_owned),
        algorithm,
        radix_bits: ours.and_then(|ours| ours.method.radix_bits),
        block: ours.and_then(|ours| ours.method.block),
        variant: ours.and_then(|ours| ours.method.variant.clone()),
        median_s: median,
        min_s: seconds.first().copied(),
        max_s: seconds.last().copied(),
        keys_per_s: median.map(|median| what.n as f64 / median),
        stages_s: outcome.stages,
        floor_fraction: floor_s.zip(median).map(|(floor, median)| floor / median),
        verified: outcome.failure.is_none(),
        ..what
    }
}

/// A line on stderr that says what is being measured, on a terminal.
fn progress() -> ProgressBar {
    let bar = match io::stderr().is_terminal() {
        true => ProgressBar::new_spinner(),
        false => ProgressBar::hidden(),
    };
    // The template is a constant that parses; if it did not, the default would do. There is no
    // ticking thread: it would take time from the threads that are measured.
    let style = ProgressStyle::with_template("{elapsed} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.with_style(style)
}

/// The rows of a record that the flags choose; a flag not given chooses all.
fn chosen(record: Record, args: &Args) -> Record {
    fn one<T>(given: &[T], is: impl Fn(&T) -> bool) -> bool {
        given.is_empty() || given.iter().any(is)
    }
    let distributions = args.distributions();
    let rows = record.rows.into_iter().filter(|row| {
        one(&args.types, |ty| ty.name() == row.key_type)
            && one(&args.value_type, |payload| {
                payload.name() == row.value_type.as_deref()
            })
            && one(&args.sizes, |&n| n == row.n)
            && one(&distributions, |distribution| {
                distribution.name() == row.distribution
            })
            && one(&args.threads, |&threads| threads == row.threads)
            && one(&args.contenders, |name| *name == row.contender)
    });
    Record {
        rows: rows.collect(),
        machine: record.machine,
    }
}

/// The record as JSON: a line for each row, so that records can be compared line by line.
///
/// # Errors
/// [`Failure::System`] for numbers that JSON does not have.
pub fn json(record: &Record) -> Result<String> {
    let text = || -> serde_json::Result<String> {
        let machine = serde_json::to_string_pretty(&record.machine)?.replace('\n', "\n  ");
        let rows: serde_json::Result<Vec<_>> =
            record.rows.iter().map(serde_json::to_string).collect();
        let rows = rows?.join(",\n    ");
        Ok(format!(
            "{{\n  \"machine\": {machine},\n  \"rows\": [\n    {rows}\n  ]\n}}\n"
        ))
    };
    text().map_err(|error| Failure::system(format!("cannot write JSON: {error}")))
}

fn read(file: &Path) -> Result<Record> {
    let text =
        fs::read_to_string(file).map_err(|error| Failure::io("read", shown(file), &error))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::input(format!(
            "{} is no benchmark record: {error}; name a file that --json wrote",
            shown(file)
        ))
    })
}

fn written(mut output: Output, text: &str) -> Result<Output> {
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(output)
}

fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(Failure::io("write to", "stdout", &error)),
        Ok(()) => Ok(()),
    }
}
