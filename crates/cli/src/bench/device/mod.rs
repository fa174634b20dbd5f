//! Measuring on a GPU: the keys lie in its memory before and after a sort, its own events tell the
//! time, and its own kernels check what came out.
//!
//! ```text
//! input ─ upload once ─→ words ─┬─ ours ────────────────┬─→ output ─ checked where it lies
//!                               ├─ CUB, Thrust (cub.rs) ┤
//!                               └─ a file ─ torch, CuPy, each in a process of its own (python.rs)
//! ```
//! Contenders take turns as on the host. The copy that a sort in place destroys is made before the
//! clock starts.

mod cub;
mod python;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use bytemuck::Pod;
use sweepsort::{Choice, Nan, Order, RadixKey};
use sweepsort_cuda::classic::{Key, Variant};
use sweepsort_cuda::{
    Buffer, Checks, Clock, Codec, CudaEngine, Device, Error, Slice, Spec, Stream, Words,
};

use super::Sorted;
use super::args::{Method, Payload};
use super::contender::{Ours, Task};
use super::measure::{self, Outcome};
use super::peers::{self, Facts};
use crate::exit::{Failure, Result};
use cub::Cub;
use python::Python;

/// Bytes that are copied to measure the bandwidth.
const COPIED_BYTES: usize = 1 << 30;
/// How often.
const COPIES: usize = 7;
/// An idle card has lowered its clocks: it copies for so long before each input.
const WARM_UP_S: f64 = 0.3;
/// Sorts of ours that are timed stage by stage, apart from the others.
const CLOCKED: usize = 3;

/// CUB and Thrust for one key type and payload, shared by the two.
type Library = Rc<RefCell<Cub>>;

/// A GPU to measure on.
pub struct Card {
    device: Arc<Device>,
    stream: Stream,
    /// For what is not measured.
    engine: CudaEngine,
    /// Bytes read and written a second by a large copy.
    pub bandwidth: f64,
    /// By key type and payload, those that are absent with the reason.
    libraries: BTreeMap<(&'static str, Option<&'static str>), Result<Library, String>>,
    /// The peers' versions, as far as they have been started.
    pub versions: BTreeMap<String, String>,
    /// Why peers are absent, as far as that has been told.
    told: Vec<String>,
}

/// Who sorts on the card.
pub struct Contender {
    /// The name.
    pub name: String,
    /// What is asked of our engine, if it is ours.
    pub ours: Option<Ours>,
    facts: Facts,
    sort: Sort,
}

enum Sort {
    Ours(Box<CudaEngine>, String),
    Cub(Library),
    Thrust(Library),
    Python(Python),
}

impl Card {
    /// Opens the first device, and measures how fast it copies.
    ///
    /// # Errors
    /// [`Failure::Input`] where there is no device.
    pub fn open() -> Result<Card> {
        let engine = CudaEngine::open(0)?;
        let (device, stream) = (Arc::clone(engine.device()), engine.stream().clone());
        let mut card = Card {
            device,
            stream,
            engine,
            bandwidth: 0.0,
            libraries: BTreeMap::new(),
            versions: BTreeMap::new(),
            told: Vec::new(),
        };
        card.bandwidth = card.copy_bandwidth().map_err(failed)?;
        Ok(card)
    }

    /// Its name, and the driver's release.
    pub fn names(&self) -> (String, Option<String>) {
        let driver = Device::driver_release().map(str::to_owned);
        (self.device.facts().name.clone(), driver)
    }

    /// The median of some large copies, after others that wake the card.
    fn copy_bandwidth(&self) -> Result<f64, Error> {
        let bytes = COPIED_BYTES.min(self.device.memory()?.free / 4);
        let from = self.stream.zeros::<u8>(bytes)?;
        let mut to = self.stream.alloc::<u8>(bytes)?;
        let mut seconds = Vec::new();
        let mut woken = 0.0;
        while seconds.len() < COPIES {
            let begin = self.stream.event()?;
            self.stream.copy(&from, &mut to)?;
            let took = self.stream.event()?.seconds_since(&begin)?;
            woken += took;
            if woken > WARM_UP_S {
                seconds.push(took);
            }
        }
        seconds.sort_by(f64::total_cmp);
        Ok(2.0 * bytes as f64 / seconds[COPIES / 2])
    }

    /// Ours for a method.
    ///
    /// # Errors
    /// What the engine does not take.
    pub fn ours(&self, method: &Method) -> Result<Contender> {
        let mut engine = CudaEngine::on(Arc::clone(&self.device))?;
        (engine.radix_bits, engine.block) = (method.radix_bits, method.block);
        if let Some(name) = &method.variant {
            engine.variant = Variant::named(name).ok_or_else(|| {
                let known: Vec<_> = Variant::ALL.iter().map(|variant| variant.name()).collect();
                Failure::input(format!(
                    "no variant '{name}'; there are {}",
                    known.join(", ")
                ))
            })?;
        }
        let algorithm = method
            .algorithm
            .clone()
            .unwrap_or_else(|| "auto".to_owned());
        engine.check(&algorithm)?;
        let ours = Ours {
            engine: Choice::Cuda,
            method: method.clone(),
            suffix: "",
        };
        let name = ours.name("cuda");
        Ok(Contender {
            facts: Facts {
                name: "sweepsort-cuda",
                parallel: false,
                stable: true,
                total: true,
                counted: false,
            },
            name,
            ours: Some(ours),
            sort: Sort::Ours(Box::new(engine), algorithm),
        })
    }

    /// The peers that take such keys and payloads. Those that are absent are told of on stderr, once;
    /// one that was asked for by name is an error.
    ///
    /// # Errors
    /// [`Failure::Input`] for an absent peer that was `named`.
    pub fn peers(
        &mut self,
        what: Sorted,
        named: &dyn Fn(&str) -> bool,
        all: bool,
    ) -> Result<Vec<Contender>> {
        let mut contenders = Vec::new();
        for &facts in peers::on_device() {
            if !all && !named(facts.name) {
                continue;
            }
            let of_library = |library: Library, sort: fn(Library) -> Sort| {
                let version = library.borrow().version().to_owned();
                (sort(library), version)
            };
            let sort = match facts.name {
                "cub" => self.library(what).map(|it| of_library(it, Sort::Cub)),
                "thrust" => self.library(what).map(|it| of_library(it, Sort::Thrust)),
                _ if what.task == Task::Pairs => continue,
                package => Python::start(package).map(|python| {
                    let version = python.version().to_owned();
                    (Sort::Python(python), version)
                }),
            };
            match sort {
                Ok((sort, version)) => {
                    self.versions.insert(facts.name.to_owned(), version);
                    contenders.push(Contender {
                        name: facts.name.to_owned(),
                        ours: None,
                        facts,
                        sort,
                    });
                }
                Err(why) if named(facts.name) => return Err(Failure::input(why)),
                Err(why) if self.told.contains(&why) => {}
                Err(why) => {
                    // Nowhere is left to complain to if stderr is closed.
                    let _ = writeln!(
                        std::io::stderr(),
                        "sweepsort: without {}: {why}",
                        facts.name
                    );
                    self.told.push(why);
                }
            }
        }
        Ok(contenders)
    }

    fn library(&mut self, what: Sorted) -> Result<Library, String> {
        let Sorted { ty, payload, .. } = what;
        let loaded = self.libraries.entry((ty.name(), payload.name()));
        let device = &self.device;
        loaded
            .or_insert_with(|| Cub::load(device, ty, payload).map(|cub| Rc::new(RefCell::new(cub))))
            .clone()
    }

    /// Runs all contenders on an input. `step` is told what comes next. A contender without outcome
    /// has refused the input, which is told on stderr.
    ///
    /// # Errors
    /// [`Failure::Input`] for keys that are no words of 32 or 64 bits; [`Failure::System`] for what
    /// the device fails at.
    pub fn measure<K: RadixKey>(
        &self,
        keys: &[K],
        what: Sorted,
        contenders: &mut [Contender],
        budget: f64,
        step: &mut dyn FnMut(&str),
    ) -> Result<Vec<Option<Outcome>>> {
        match K::words(keys) {
            Some(Words::W32(words)) => {
                Bench::<u32>::of::<K>(self, words, what)?.rounds(contenders, budget, step)
            }
            Some(Words::W64(words)) => {
                Bench::<u64>::of::<K>(self, words, what)?.rounds(contenders, budget, step)
            }
            _ => Err(Failure::input(
                "the engine cuda takes keys of 32 or 64 bits so far; choose another --type",
            )),
        }
    }
}

/// An input on the card.
struct Bench<'a, W: Key> {
    card: &'a Card,
    checks: Checks,
    what: Sorted,
    codec: Codec,
    words: Buffer<W>,
    fingerprint: u64,
    /// The values that travel: each its position.
    values: Buffer<u8>,
    value_bytes: usize,
    /// The words as a file, for other processes.
    file: Option<File>,
}

/// What a sort leaves on the card.
enum Output<W: Key> {
    Keys(Buffer<W>),
    Pairs(Buffer<W>, Buffer<u8>),
    Index(Buffer<u32>),
}

/// Seconds, and where the output lies; nowhere yet if another process has it.
type Timed<W> = Result<(f64, Option<Output<W>>), String>;

impl<'a, W: Key> Bench<'a, W> {
    fn of<K: RadixKey>(card: &'a Card, words: &[W], what: Sorted) -> Result<Self> {
        let stream = &card.stream;
        let make = || {
            let words = stream.upload(words)?;
            let checks = Checks::new(stream);
            let fingerprint = checks.fingerprint(&words)?;
            let value_bytes = match what.payload {
                Payload::Value(value) => value.bytes(),
                Payload::Index => 4,
                Payload::None => 0,
            };
            let values = match value_bytes {
                0 => stream.alloc(0)?,
                bytes => stream.upload(&positions(words.len(), bytes))?,
            };
            Ok(Bench {
                card,
                checks,
                what,
                codec: Codec::for_keys(K::KIND, Order::Ascending, Nan::Total),
                words,
                fingerprint,
                values,
                value_bytes,
                file: None,
            })
        };
        make().map_err(failed)
    }

    fn rounds(
        mut self,
        contenders: &mut [Contender],
        budget: f64,
        step: &mut dyn FnMut(&str),
    ) -> Result<Vec<Option<Outcome>>> {
        self.card.copy_bandwidth().map_err(failed)?;
        let mut outcomes: Vec<Outcome> = Vec::new();
        for contender in &mut *contenders {
            step(&contender.name);
            let mut outcome = Outcome::default();
            match self.load(contender) {
                Ok(()) => self.round(contender, &mut outcome),
                Err(why) => {
                    outcome.broken = true;
                    outcome.failure = Some(why);
                }
            }
            // The first run warms up.
            outcome.seconds.clear();
            outcomes.push(outcome);
        }
        let refused: Vec<bool> = outcomes.iter().map(|outcome| outcome.broken).collect();
        measure::rounds(&mut outcomes, 1, budget, |i, outcome| {
            step(&contenders[i].name);
            self.round(&mut contenders[i], outcome);
        });
        for (contender, outcome) in contenders.iter().zip(&mut outcomes) {
            if let (Sort::Ours(engine, algorithm), false) = (&contender.sort, outcome.broken) {
                outcome.stages = Some(self.stages(engine, algorithm).map_err(failed)?);
            }
        }
        let outcomes = outcomes.into_iter().zip(refused).zip(contenders);
        let outcomes = outcomes.map(|((outcome, refused), contender)| match outcome.failure {
            Some(why) if refused => {
                let name = contender.method();
                // Nowhere is left to complain to if stderr is closed.
                let _ = writeln!(std::io::stderr(), "sweepsort: without {name}: {why}");
                None
            }
            _ => Some(outcome),
        });
        Ok(outcomes.collect())
    }

    /// Hands the input to a contender that cannot see the card's memory as we do, and gives one of
    /// CUB its scratch memory.
    fn load(&mut self, contender: &mut Contender) -> Result<(), String> {
        let n = self.words.len();
        match &mut contender.sort {
            Sort::Ours(..) => Ok(()),
            Sort::Cub(library) | Sort::Thrust(library) => {
                library.borrow_mut().prepare(&self.card.stream, n)
            }
            Sort::Python(python) => {
                let file = match &mut self.file {
                    Some(file) => file,
                    none => {
                        let words = self.card.stream.download(&self.words);
                        none.insert(File::of(&words.map_err(words_of)?)?)
                    }
                };
                python.load(self.what.ty, n, &file.0)
            }
        }
    }

    /// One timed sort, and whether its output is right.
    fn round(&mut self, contender: &mut Contender, outcome: &mut Outcome) {
        let verdict = match self.run(contender) {
            Ok((seconds, output)) => {
                // What another process has sorted is fetched once: that takes longer than the sort.
                let first = outcome.seconds.is_empty();
                outcome.seconds.push(seconds);
                let output = match (output, &mut contender.sort) {
                    (None, Sort::Python(python)) if first => self.stored(python).map(Some),
                    (output, _) => Ok(output),
                };
                output.and_then(|output| match output {
                    Some(output) => self.verify(&output, &contender.facts),
                    None => Ok(()),
                })
            }
            Err(failure) => {
                outcome.broken = true;
                Err(failure)
            }
        };
        if let Err(failure) = verdict {
            outcome.failure.get_or_insert(failure);
        }
    }

    fn run(&mut self, contender: &mut Contender) -> Timed<W> {
        match &mut contender.sort {
            Sort::Ours(engine, algorithm) => {
                let spec = self.spec(algorithm);
                let ran = self.ours(engine, &spec, None).map_err(words_of)?;
                Ok((ran.0, Some(ran.1)))
            }
            Sort::Cub(library) => self.cub(&library.borrow()),
            Sort::Thrust(library) => self.thrust(&library.borrow()),
            Sort::Python(python) => {
                let seconds = match self.what.task {
                    Task::Argsort => python.argsort()?,
                    _ => python.sort()?,
                };
                Ok((seconds, None))
            }
        }
    }

    fn spec(&self, algorithm: &str) -> Spec {
        Spec {
            codec: self.codec,
            bits: 0..W::BITS,
            stable: true,
            algorithm: algorithm.to_owned().into(),
        }
    }

    fn ours(
        &self,
        engine: &CudaEngine,
        spec: &Spec,
        mut clock: Option<&mut Clock>,
    ) -> Result<(f64, Output<W>), Error> {
        let stream = engine.stream();
        // What is still under way in another stream must not be timed.
        self.card.stream.synchronize()?;
        let words = match self.what.task {
            Task::Keys => Some(copied(stream, &self.words)?),
            _ => None,
        };
        stream.synchronize()?;
        if let Some(clock) = &mut clock {
            clock.start(stream)?;
        }
        let begin = stream.event()?;
        let output = match words {
            Some(words) => Output::Keys(engine.sort_resident(words, spec, clock)?.0),
            None if self.what.task == Task::Argsort => {
                Output::Index(engine.argsort_resident(&self.words, spec, clock)?.0)
            }
            None => {
                let (bytes, values) = (self.value_bytes, &self.values);
                let ran = engine.sort_pairs_resident(&self.words, values, bytes, spec, clock)?;
                Output::Pairs(ran.0, ran.1)
            }
        };
        let seconds = stream.event()?.seconds_since(&begin)?;
        Ok((seconds, output))
    }

    /// The median of each stage's time over some sorts.
    fn stages(&self, engine: &CudaEngine, algorithm: &str) -> Result<BTreeMap<String, f64>, Error> {
        let spec = self.spec(algorithm);
        let mut seconds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut clock = Clock::new();
        for _ in 0..CLOCKED {
            self.ours(engine, &spec, Some(&mut clock))?;
            for (stage, time) in clock.stages()? {
                let times = seconds.entry(stage.name().to_owned()).or_default();
                times.push(time.as_secs_f64());
            }
        }
        Ok(seconds
            .into_iter()
            .map(|(stage, mut seconds)| {
                seconds.sort_by(f64::total_cmp);
                (stage, seconds[seconds.len() / 2])
            })
            .collect())
    }

    fn cub(&self, library: &Cub) -> Timed<W> {
        let stream = &self.card.stream;
        let n = self.words.len();
        let work = || {
            let keys = stream.alloc::<W>(n)?;
            let values = stream.alloc::<u8>(self.values.len())?;
            stream.synchronize()?;
            Ok((keys, values, stream.event()?))
        };
        let (keys, values, begin) = work().map_err(words_of)?;
        // SAFETY: there are `n` keys and values in each of the four, which nobody else uses.
        unsafe {
            library.cub(
                stream,
                self.words.pointer().address(),
                keys.pointer().address(),
                self.values.pointer().address(),
                values.pointer().address(),
                n,
            )?;
        }
        let seconds = stream.event().and_then(|end| end.seconds_since(&begin));
        Ok((seconds.map_err(words_of)?, Some(self.output(keys, values))))
    }

    fn thrust(&self, library: &Cub) -> Timed<W> {
        let stream = &self.card.stream;
        let work = || {
            let keys = copied(stream, &self.words)?;
            let values = copied(stream, &self.values)?;
            stream.synchronize()?;
            Ok((keys, values, stream.event()?))
        };
        let (keys, values, begin) = work().map_err(words_of)?;
        let (n, of) = (keys.len(), (keys.pointer(), values.pointer()));
        // SAFETY: there are `n` keys and values, which nobody else uses.
        unsafe { library.thrust(stream, of.0.address(), of.1.address(), n)? };
        let seconds = stream.event().and_then(|end| end.seconds_since(&begin));
        Ok((seconds.map_err(words_of)?, Some(self.output(keys, values))))
    }

    /// What a peer's keys and values are. For an argsort the values are positions.
    fn output(&self, keys: Buffer<W>, values: Buffer<u8>) -> Output<W> {
        match self.what.task {
            Task::Keys => Output::Keys(keys),
            Task::Pairs | Task::Argsort => Output::Pairs(keys, values),
        }
    }

    /// The last output of another process.
    fn stored(&self, python: &mut Python) -> Result<Output<W>, String> {
        let file = File(File::path("output"));
        python.store(&file.0)?;
        let bytes = std::fs::read(&file.0).map_err(|error| error.to_string())?;
        let wrong = "its output has another length than its input";
        let stream = &self.card.stream;
        match self.what.task {
            Task::Argsort => {
                let index: Vec<u32> = whole(&bytes, self.words.len()).ok_or(wrong)?;
                stream.upload(&index).map(Output::Index).map_err(words_of)
            }
            _ => {
                let words: Vec<W> = whole(&bytes, self.words.len()).ok_or(wrong)?;
                stream.upload(&words).map(Output::Keys).map_err(words_of)
            }
        }
    }

    /// Whether an output is in order and made of the input, and values show that ties kept theirs.
    fn verify(&self, output: &Output<W>, facts: &Facts) -> Result<(), String> {
        let verdict = match output {
            Output::Keys(keys) => self.verify_keys(keys, facts),
            Output::Pairs(keys, values) => self.verify_pairs(keys, values, facts),
            Output::Index(index) => self.verify_index(index, facts),
        };
        verdict.map_err(words_of)?
    }

    fn verify_keys(&self, keys: &Buffer<W>, facts: &Facts) -> Result<Result<(), String>, Error> {
        if self.checks.fingerprint(keys)? != self.fingerprint {
            return Ok(Err("the keys are not those of the input".into()));
        }
        let codes = self.codes(keys, facts)?;
        Ok(in_order(
            self.checks.disorder(&codes, W::mask(&(0..W::BITS)))?,
        ))
    }

    fn verify_pairs(
        &self,
        keys: &Buffer<W>,
        values: &Buffer<u8>,
        facts: &Facts,
    ) -> Result<Result<(), String>, Error> {
        let (input, output) = match self.value_bytes {
            4 => self.fingerprints::<u32>(keys, values)?,
            8 => self.fingerprints::<u64>(keys, values)?,
            _ => self.fingerprints::<u128>(keys, values)?,
        };
        if input != output {
            return Ok(Err("the pairs are not those of the input".into()));
        }
        let codes = self.codes(keys, facts)?;
        let all = W::mask(&(0..W::BITS));
        if let Some(at) = self.checks.disorder(&codes, all)? {
            return Ok(in_order(Some(at)));
        }
        let index = self.low_words(values)?;
        Ok(stable(self.checks.unstable(&codes, &index, all)?))
    }

    fn verify_index(
        &self,
        index: &Buffer<u32>,
        facts: &Facts,
    ) -> Result<Result<(), String>, Error> {
        if !self.checks.is_permutation(index)? {
            return Ok(Err("the index does not name every key once".into()));
        }
        // What the index leads to is in order, and equal keys come by ascending positions.
        let engine = &self.card.engine;
        // SAFETY: the index is a permutation of the words' positions.
        let sorted = unsafe { engine.gather(&self.words, index, size_of::<W>())? };
        let codes = self.codes(&sorted, facts)?;
        let all = W::mask(&(0..W::BITS));
        Ok(match self.checks.disorder(&codes, all)? {
            Some(at) => in_order(Some(at)),
            None => stable(self.checks.unstable(&codes, index, all)?),
        })
    }

    /// The codes of some words; −0.0 and +0.0 have one where a contender takes them for equal.
    fn codes(&self, words: &Buffer<W>, facts: &Facts) -> Result<Buffer<W>, Error> {
        let mut codes = copied(&self.card.stream, words)?;
        let codec = match facts.total {
            true => self.codec,
            false => Codec::for_records(self.codec.kind, Order::Ascending, Nan::Last),
        };
        self.card.engine.encode(&mut codes, &codec.coder())?;
        Ok(codes)
    }

    /// The fingerprints of the input's pairs, and of these.
    fn fingerprints<V: Pod>(
        &self,
        keys: &Buffer<W>,
        values: &Buffer<u8>,
    ) -> Result<(u64, u64), Error> {
        let of = |keys: &Buffer<W>, values: &Buffer<u8>| {
            let values = Slice::from(values).cast::<V>()?;
            self.checks.fingerprint_pairs(keys, values)
        };
        Ok((of(&self.words, &self.values)?, of(keys, values)?))
    }

    /// The lowest 32 bits of each value, which are its position.
    fn low_words(&self, values: &Buffer<u8>) -> Result<Buffer<u32>, Error> {
        let (stream, n) = (&self.card.stream, self.words.len());
        let mut low = stream.alloc::<u32>(n)?;
        if self.value_bytes == 4 {
            stream.copy(Slice::from(values).cast::<u32>()?, &mut low)?;
            return Ok(low);
        }
        let stride = (self.value_bytes / 4) as u32;
        let every: Vec<u32> = (0..n as u32).map(|i| i * stride).collect();
        let (engine, every) = (&self.card.engine, stream.upload(&every)?);
        // SAFETY: so many words are the values of `n` keys.
        let words = unsafe { engine.gather(values, &every, 4)? };
        stream.copy(Slice::from(&words).cast::<u32>()?, &mut low)?;
        Ok(low)
    }
}

/// What an output is that is in order but for a place.
fn in_order(disorder: Option<u64>) -> Result<(), String> {
    match disorder {
        None => Ok(()),
        Some(at) => Err(format!("the keys at {at} and {} are out of order", at + 1)),
    }
}

/// What an output is whose ties kept their order but for a place.
fn stable(unstable: Option<u64>) -> Result<(), String> {
    match unstable {
        None => Ok(()),
        Some(at) => Err(format!(
            "the equal keys at {at} and {} changed places",
            at + 1
        )),
    }
}

/// A copy.
fn copied<T: Pod>(stream: &Stream, from: &Buffer<T>) -> Result<Buffer<T>, Error> {
    let mut to = stream.alloc(from.len())?;
    stream.copy(from, &mut to)?;
    Ok(to)
}

/// `0, 1, 2, …`, each in so many bytes.
fn positions(n: usize, bytes: usize) -> Vec<u8> {
    let mut positions = Vec::with_capacity(n * bytes);
    for i in 0..n as u128 {
        positions.extend_from_slice(&i.to_le_bytes()[..bytes]);
    }
    positions
}

/// The elements that some bytes are, if there are `n`.
fn whole<T: Pod>(bytes: &[u8], n: usize) -> Option<Vec<T>> {
    (bytes.len() == n * size_of::<T>()).then(|| bytemuck::pod_collect_to_vec(bytes))
}

fn words_of(error: Error) -> String {
    error.to_string()
}

/// A failure of the device in the middle of a benchmark.
fn failed(error: Error) -> Failure {
    Failure::system(error.to_string())
}

impl Contender {
    /// The name, with the method where it is ours.
    fn method(&self) -> String {
        match &self.ours {
            Some(ours) => format!("{} ({})", self.name, ours.method),
            None => self.name.clone(),
        }
    }
}

/// A file that is gone when dropped.
struct File(PathBuf);

impl File {
    /// A file of these words.
    fn of<W: Pod>(words: &[W]) -> Result<File, String> {
        let file = File(File::path("input"));
        let written = std::fs::write(&file.0, bytemuck::cast_slice(words));
        written.map_err(|error| format!("cannot write {}: {error}", file.0.display()))?;
        Ok(file)
    }

    /// A name that no other process takes.
    fn path(of: &str) -> PathBuf {
        std::env::temp_dir().join(format!("sweepsort-bench-{}-{of}", std::process::id()))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
