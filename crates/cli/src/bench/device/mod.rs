//! Measuring on a GPU: the keys lie in its memory before and after a sort, its own events tell the
//! time, and its own kernels check what came out.
//!
//! ```text
//! input ─ upload once ─→ words ─┬─ ours ────────────────┬─→ output ─ checked where it lies
//!                               ├─ CUB, Thrust (cub.rs) ┤
//!                               └─ a file ─ torch, CuPy, each in a process of its own (python.rs)
//! ```
//! `rounds.rs` times them, `verify.rs` checks.
//! Contenders take turns as on the host. The copy that a sort in place destroys is made before the
//! clock starts.

mod cub;
mod python;
mod rounds;
mod verify;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;

use sweepsort::{Choice, RadixKey};
use sweepsort_cuda::classic::Variant;
use sweepsort_cuda::{CudaEngine, Device, Error, Stream, Words};

use super::Sorted;
use super::args::Method;
use super::contender::{Ours, Task};
use super::measure::Outcome;
use super::peers::{self, Facts};
use crate::exit::{Failure, Result};
use cub::Cub;
use python::Python;
use rounds::Bench;

/// Bytes that are copied to measure the bandwidth.
const COPIED_BYTES: usize = 1 << 30;
/// How often.
const COPIES: usize = 7;
/// An idle card has lowered its clocks: it copies for so long before each input.
const WARM_UP_S: f64 = 0.3;

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

impl Contender {
    /// The name, with the method where it is ours.
    fn method(&self) -> String {
        match &self.ours {
            Some(ours) => format!("{} ({})", self.name, ours.method),
            None => self.name.clone(),
        }
    }
}

fn words_of(error: Error) -> String {
    error.to_string()
}

/// A failure of the device in the middle of a benchmark.
fn failed(error: Error) -> Failure {
    Failure::system(error.to_string())
}
