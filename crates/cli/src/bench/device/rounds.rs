//! An input on the card, and the rounds in which contenders sort it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytemuck::Pod;
use sweepsort_cuda::cudarc::driver::CudaEvent;
use sweepsort_cuda::cudarc::driver::sys::CUevent_flags;
use sweepsort_cuda::{
    Buffer, Checks, Clock, Codec, CudaEngine, Error, Slice, SliceMut, Spec, Stream, Word,
};

use super::cub::Cub;
use super::planned::with_value;
use super::python::Python;
use super::verify::{Answers, Oracle};
use super::{Card, Contender, Sort, failed, words_of};
use crate::bench::Sorted;
use crate::bench::args::Payload;
use crate::bench::clocks::median;
use crate::bench::contender::Task;
use crate::bench::measure::Outcome;
use crate::bench::party::{Party, Seat};
use crate::exit::Result;

/// Sorts of the classics that are timed stage by stage, apart from the others.
const CLOCKED: usize = 3;

/// The seed of the values, which are random.
const VALUES_SEED: u64 = 0x76616c756573;

/// A word that keys on the card are made of, and the classics' sort of it, where they have one.
pub trait CardWord: Word {
    /// Sorts the input, and takes the time, and that of each stage if there is a clock.
    const CLASSIC: Option<Classic<Self>>;
}

type Classic<W> =
    fn(&Bench<'_, W>, &CudaEngine, &Spec, Option<&mut Clock>) -> Result<(f64, Output), Error>;

macro_rules! card_words {
    ($($word:ty: $classic:expr),*) => {$(
        impl CardWord for $word {
            const CLASSIC: Option<Classic<Self>> = $classic;
        }
    )*};
}
card_words!(u8: None, u16: None, u32: Some(classic), u64: Some(classic), u128: None);

/// An input on the card.
pub struct Bench<'a, W: CardWord> {
    pub(super) card: &'a Card,
    pub(super) checks: Checks,
    pub(super) what: Sorted,
    codec: Codec,
    pub(super) words: Buffer<W>,
    /// The values that travel, random; for an argsort the index 0, 1, 2, ….
    pub(super) values: Buffer<u8>,
    pub(super) value_bytes: usize,
    /// What is right.
    pub(super) answers: Answers<'a>,
    timer: [CudaEvent; 2],
    /// The input as it lies on the host.
    host: &'a [W],
    /// The same as a file, for other processes.
    file: Option<File>,
}

/// What a sort leaves on the card: the bytes of keys, values and index.
pub enum Output {
    Keys(Buffer<u8>),
    Pairs(Buffer<u8>, Buffer<u8>),
    Index(Buffer<u8>),
}

/// Seconds, and where the output lies; nowhere yet if another process has it.
pub type Timed = Result<(f64, Option<Output>), String>;

impl<'a, W: CardWord> Bench<'a, W> {
    /// Puts the input on the card: keys, which are these words. It is compiled for each width of words, and
    /// not for each type of keys.
    ///
    /// # Errors
    /// [`crate::exit::Failure::System`] for what the device fails at.
    pub fn of(
        card: &'a Card,
        host: &'a [W],
        codec: Codec,
        oracle: Oracle<'a>,
        what: Sorted,
    ) -> Result<Self> {
        let stream = &card.stream;
        let (checks, n) = (Checks::new(stream), host.len());
        let value_bytes = what.payload.bytes();
        let make = || -> Result<_, Error> {
            let mut values = stream.alloc(n * value_bytes)?;
            let slice = SliceMut::from(&mut values);
            match what.payload {
                Payload::None => {}
                Payload::Index => checks.positions(slice.cast::<u32>()?)?,
                Payload::Value(_) => with_value!(value_bytes, |V| {
                    checks.random(slice.cast::<V>()?, VALUES_SEED, V::MAX)?;
                }),
            }
            Ok((
                stream.upload(host)?,
                values,
                [timer(stream)?, timer(stream)?],
            ))
        };
        let (words, values, timer) = make().map_err(failed)?;
        Ok(Bench {
            card,
            checks,
            what,
            codec,
            words,
            values,
            value_bytes,
            answers: Answers::of(oracle),
            timer,
            host,
            file: None,
        })
    }

    /// Hands the input to a contender that cannot see the card's memory as we do, and gives the
    /// others what memory they need besides.
    fn load(&mut self, contender: &mut Contender) -> Result<(), String> {
        let n = self.words.len();
        match &mut contender.sort {
            Sort::Planned(planned) => self.prepare(planned),
            Sort::Classic(..) if W::CLASSIC.is_none() => {
                Err("the classics take keys of 32 or 64 bits".into())
            }
            Sort::Classic(..) => Ok(()),
            Sort::Cub(library) | Sort::Thrust(library) => {
                library.borrow_mut().prepare(&self.card.stream, n)
            }
            Sort::Python(python) => {
                let file = match &mut self.file {
                    Some(file) => file,
                    none => none.insert(File::of(self.host)?),
                };
                python.borrow_mut().load(self.what.ty, n, &file.0)
            }
        }
    }

    /// One timed sort, and whether its output is right.
    fn round(&mut self, contender: &mut Contender, outcome: &mut Outcome) {
        let ran = self.run(contender);
        outcome.judge(ran, |outcome, (seconds, output)| {
            // What another process has sorted is fetched once: that takes longer than the sort.
            let first = outcome.seconds.is_empty();
            outcome.seconds.push(seconds);
            let output = match (output, &contender.sort) {
                (None, Sort::Python(python)) if first => {
                    Some(self.stored(&mut python.borrow_mut())?)
                }
                (output, _) => output,
            };
            match output {
                Some(output) => self.verify(&output, &contender.facts),
                None => Ok(()),
            }
        });
    }

    fn run(&mut self, contender: &mut Contender) -> Timed {
        match &mut contender.sort {
            Sort::Planned(planned) => self.planned(planned),
            Sort::Classic(engine, algorithm) => {
                let ran = self.classic(engine, algorithm, None).map_err(words_of)?;
                Ok((ran.0, Some(ran.1)))
            }
            Sort::Cub(library) => self.cub(&library.borrow()),
            Sort::Thrust(library) => self.thrust(&library.borrow()),
            Sort::Python(python) => {
                let mut python = python.borrow_mut();
                let seconds = match self.what.task {
                    Task::Argsort => python.argsort()?,
                    _ => python.sort()?,
                };
                Ok((seconds, None))
            }
        }
    }

    /// Seconds that some work takes the card, from one event to another. What was put into the
    /// stream before is done by then.
    pub(super) fn timed(
        &self,
        stream: &Stream,
        work: impl FnOnce() -> Result<(), String>,
    ) -> Result<f64, String> {
        let no_time = |error| format!("cannot take the time: {error:?}");
        let [begin, end] = &self.timer;
        self.wake().map_err(words_of)?;
        stream.synchronize().map_err(words_of)?;
        begin.record(stream.raw()).map_err(no_time)?;
        work()?;
        end.record(stream.raw()).map_err(no_time)?;
        let milliseconds = begin.elapsed_ms(end).map_err(no_time)?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    /// Has the card run something of this process: where the last contender was another process,
    /// changing over takes 140 µs, which no event shows before a kernel runs.
    fn wake(&self) -> Result<(), Error> {
        let stream = &self.card.stream;
        let mut keys = stream.alloc::<u32>(1)?;
        self.checks.random(&mut keys, 0, u32::MAX)?;
        stream.synchronize()
    }

    pub(super) fn spec(&self, algorithm: &str) -> Spec {
        Spec {
            codec: self.codec,
            bits: 0..W::BITS,
            stable: true,
            algorithm: algorithm.to_owned().into(),
        }
    }

    fn classic(
        &self,
        engine: &CudaEngine,
        algorithm: &str,
        clock: Option<&mut Clock>,
    ) -> Result<(f64, Output), Error> {
        match W::CLASSIC {
            Some(classic) => classic(self, engine, &self.spec(algorithm), clock),
            None => unreachable!("such words are refused before"),
        }
    }

    /// The median of each stage's time over some sorts.
    fn stages(&self, engine: &CudaEngine, algorithm: &str) -> Result<BTreeMap<String, f64>, Error> {
        let mut seconds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut clock = Clock::new();
        for _ in 0..CLOCKED {
            self.classic(engine, algorithm, Some(&mut clock))?;
            for (stage, time) in clock.stages()? {
                let times = seconds.entry(stage.name().to_owned()).or_default();
                times.push(time.as_secs_f64());
            }
        }
        Ok(seconds
            .into_iter()
            .map(|(stage, mut seconds)| (stage, median(&mut seconds)))
            .collect())
    }

    fn cub(&self, library: &Cub) -> Timed {
        let stream = &self.card.stream;
        let n = self.words.len();
        let work = || -> Result<_, Error> {
            let keys = stream.alloc::<u8>(size_of::<W>() * n)?;
            Ok((keys, stream.alloc::<u8>(self.values.len())?))
        };
        let (keys, values) = work().map_err(words_of)?;
        let seconds = self.timed(stream, || {
            // SAFETY: there are `n` keys and values in each of the four, which nobody else uses.
            unsafe {
                library.cub(
                    stream,
                    self.words.pointer().address(),
                    keys.pointer().address(),
                    self.values.pointer().address(),
                    values.pointer().address(),
                    n,
                )
            }
        })?;
        Ok((seconds, Some(self.output(keys, values))))
    }

    fn thrust(&self, library: &Cub) -> Timed {
        let stream = &self.card.stream;
        let work = || -> Result<_, Error> {
            Ok((bytes(stream, &self.words)?, stream.copied(&self.values)?))
        };
        let (keys, values) = work().map_err(words_of)?;
        let (n, of) = (self.words.len(), (keys.pointer(), values.pointer()));
        let seconds = self.timed(stream, || {
            // SAFETY: there are `n` keys and values, which nobody else uses.
            unsafe { library.thrust(stream, of.0.address(), of.1.address(), n) }
        })?;
        Ok((seconds, Some(self.output(keys, values))))
    }

    /// What a peer's keys and values are. For an argsort the values are positions.
    fn output(&self, keys: Buffer<u8>, values: Buffer<u8>) -> Output {
        match self.what.task {
            Task::Keys => Output::Keys(keys),
            Task::Pairs | Task::Argsort => Output::Pairs(keys, values),
        }
    }

    /// The last output of another process.
    fn stored(&self, python: &mut Python) -> Result<Output, String> {
        let file = File(File::path("output"));
        python.store(&file.0)?;
        let bytes = std::fs::read(&file.0).map_err(|error| error.to_string())?;
        let (each, of): (usize, fn(Buffer<u8>) -> Output) = match self.what.task {
            Task::Argsort => (size_of::<u32>(), Output::Index),
            _ => (size_of::<W>(), Output::Keys),
        };
        if bytes.len() != self.words.len() * each {
            return Err("its output has another length than its input".into());
        }
        self.card.stream.upload(&bytes).map(of).map_err(words_of)
    }
}

/// Contenders, and the input that they are to sort.
pub struct Entered<'a, W: CardWord> {
    pub bench: Bench<'a, W>,
    pub contenders: Vec<Contender>,
}

impl<W: CardWord> Party for Entered<'_, W> {
    fn len(&self) -> usize {
        self.contenders.len()
    }

    fn seat(&self, at: usize) -> Seat {
        let contender = &self.contenders[at];
        Seat {
            name: contender.name.clone(),
            ours: contender.ours.clone(),
            algorithm: contender.algorithm(),
            workspace_bytes: contender.workspace_bytes(),
            bandwidth: self.bench.card.bandwidth,
            host_clock: false,
        }
    }

    fn load(&mut self, at: usize) -> Result<(), String> {
        self.bench.load(&mut self.contenders[at])
    }

    fn round(&mut self, at: usize, outcome: &mut Outcome) {
        self.bench.round(&mut self.contenders[at], outcome);
    }

    fn wake(&mut self) -> Result<()> {
        self.bench.card.wake().map_err(failed)
    }

    fn end(&mut self, at: usize, outcome: &mut Outcome) -> Result<()> {
        match &self.contenders[at].sort {
            Sort::Classic(engine, algorithm) if !outcome.broken => {
                let stages = self.bench.stages(engine, algorithm);
                outcome.stages = Some(stages.map_err(failed)?);
            }
            // What it holds of the card's memory goes to the next input.
            Sort::Python(python) => python.borrow_mut().unload(),
            _ => {}
        }
        self.bench.card.clocks.worked();
        Ok(())
    }
}

/// One sort by a classic. It restores its input before it is timed.
fn classic<W: sweepsort_cuda::classic::Key + CardWord>(
    bench: &Bench<'_, W>,
    engine: &CudaEngine,
    spec: &Spec,
    mut clock: Option<&mut Clock>,
) -> Result<(f64, Output), Error> {
    let stream = engine.stream();
    // What is still under way in another stream must not be timed.
    bench.card.stream.synchronize()?;
    let words = match bench.what.task {
        Task::Keys => Some(stream.copied(&bench.words)?),
        _ => None,
    };
    bench.wake()?;
    stream.synchronize()?;
    if let Some(clock) = &mut clock {
        clock.start(stream)?;
    }
    let begin = stream.event()?;
    let (output, end) = match words {
        Some(words) => {
            let sorted = engine.sort_resident(words, spec, clock)?.0;
            let end = stream.event()?;
            (Output::Keys(bytes(stream, &sorted)?), end)
        }
        None if bench.what.task == Task::Argsort => {
            let index = engine.argsort_resident(&bench.words, spec, clock)?.0;
            let end = stream.event()?;
            (Output::Index(bytes(stream, &index)?), end)
        }
        None => {
            let (each, values) = (bench.value_bytes, &bench.values);
            let ran = engine.sort_pairs_resident(&bench.words, values, each, spec, clock)?;
            let end = stream.event()?;
            (Output::Pairs(bytes(stream, &ran.0)?, ran.1), end)
        }
    };
    let seconds = end.seconds_since(&begin)?;
    // What checks the output does so in another stream.
    stream.synchronize()?;
    Ok((seconds, output))
}

/// A copy of a buffer's bytes.
fn bytes<T: Pod>(stream: &Stream, buffer: &Buffer<T>) -> Result<Buffer<u8>, Error> {
    let from = Slice::from(buffer).cast::<u8>()?;
    let mut to = stream.alloc::<u8>(from.len())?;
    stream.copy(from, &mut to)?;
    Ok(to)
}

/// An event that takes the time.
fn timer(stream: &Stream) -> Result<CudaEvent, Error> {
    let context = stream.device().context();
    let event = context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
    event.map_err(|error| Error::Driver {
        doing: "making an event",
        why: format!("{error:?}"),
    })
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
