//! An input on the card, and the rounds in which contenders sort it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use bytemuck::Pod;
use sweepsort::{Nan, Order, RadixKey};
use sweepsort_cuda::classic::Key;
use sweepsort_cuda::{Buffer, Checks, Clock, Codec, CudaEngine, Error, Spec};

use super::cub::Cub;
use super::python::Python;
use super::{Card, Contender, Sort, failed, words_of};
use crate::bench::Sorted;
use crate::bench::args::Payload;
use crate::bench::contender::Task;
use crate::bench::measure::{self, Outcome};
use crate::exit::Result;

/// Sorts of ours that are timed stage by stage, apart from the others.
const CLOCKED: usize = 3;

/// An input on the card.
pub struct Bench<'a, W: Key> {
    pub(super) card: &'a Card,
    pub(super) checks: Checks,
    what: Sorted,
    pub(super) codec: Codec,
    pub(super) words: Buffer<W>,
    pub(super) fingerprint: u64,
    /// The values that travel: each its position.
    pub(super) values: Buffer<u8>,
    pub(super) value_bytes: usize,
    /// The words as a file, for other processes.
    file: Option<File>,
}

/// What a sort leaves on the card.
pub enum Output<W: Key> {
    Keys(Buffer<W>),
    Pairs(Buffer<W>, Buffer<u8>),
    Index(Buffer<u32>),
}

/// Seconds, and where the output lies; nowhere yet if another process has it.
type Timed<W> = Result<(f64, Option<Output<W>>), String>;

impl<'a, W: Key> Bench<'a, W> {
    /// Puts the input on the card.
    ///
    /// # Errors
    /// [`crate::exit::Failure::System`] for what the device fails at.
    pub fn of<K: RadixKey>(card: &'a Card, words: &[W], what: Sorted) -> Result<Self> {
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

    /// Runs all contenders; those that refuse the input have no outcome.
    ///
    /// # Errors
    /// [`crate::exit::Failure::System`] for what the device fails at.
    pub fn rounds(
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
            Task::Keys => Some(stream.copied(&self.words)?),
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
            let keys = stream.copied(&self.words)?;
            let values = stream.copied(&self.values)?;
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
