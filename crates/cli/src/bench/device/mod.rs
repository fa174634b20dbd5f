//! Measuring on a GPU: the keys lie in its memory before and after a sort, its own events tell the
//! time, and its own kernels check what came out.
//!
//! ```text
//! input ─ upload once ─→ words ─┬─ ours by a plan (planned.rs), the classics ┬─→ output ─ checked
//!                               ├─ CUB, Thrust (cub.rs) ─────────────────────┤     where it lies
//!                               └─ a file ─ torch, CuPy, each in a process of its own (python.rs)
//! ```
//! `rounds.rs` times them, `verify.rs` checks, `link.rs` is the way between host and card, `tuned.rs`
//! has ours sort by other kernels or figures than the engine's.
//! Contenders take turns as on the host. The copy that a sort in place destroys is made before the
//! clock starts.

mod cub;
mod link;
mod planned;
mod python;
mod rounds;
mod tuned;
mod verify;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use sweepsort::{Choice, Nan, Order, RadixKey};
use sweepsort_cuda::classic::Variant;
use sweepsort_cuda::{Codec, CudaEngine, Device, Error, Stream, Words};

use super::Sorted;
use super::args::Method;
use super::clocks::{self, Clocks, More};
use super::contender::{Ours, Task};
use super::party::{Absent, Party};
use super::peers::{self, Facts};
use crate::exit::{Failure, Result};
use cub::Cub;
pub use link::{Links, Locked};
use planned::Planned;
use python::Python;
use rounds::{Bench, Entered};
use verify::Oracle;

/// Bytes that are copied to measure the bandwidth.
const COPIED_BYTES: usize = 1 << 30;

/// CUB and Thrust for one key type and payload, shared by the two.
type Library = Rc<RefCell<Cub>>;

/// A package's Python, for all inputs.
type Package = Rc<RefCell<Python>>;

/// A GPU to measure on.
pub struct Card {
    device: Arc<Device>,
    stream: Stream,
    /// Bytes read and written a second by a large copy.
    pub bandwidth: f64,
    /// How fast the host's memory is reached, where enough of it can be page-locked to see.
    pub links: Option<Links>,
    clocks: Clocks,
    /// By key type and payload, those that are absent with the reason.
    libraries: BTreeMap<(&'static str, Option<&'static str>), Result<Library, String>>,
    /// By name, likewise.
    packages: BTreeMap<&'static str, Result<Package, String>>,
    /// The peers' versions, as far as they have been started.
    pub versions: BTreeMap<String, String>,
    absent: Absent,
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
    Planned(Box<Planned>),
    Classic(Box<CudaEngine>, String),
    Cub(Library),
    Thrust(Library),
    Python(Package),
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
            bandwidth: 0.0,
            links: None,
            clocks: Clocks::default(),
            libraries: BTreeMap::new(),
            packages: BTreeMap::new(),
            versions: BTreeMap::new(),
            absent: Absent::default(),
        };
        card.bandwidth = clocks::bandwidth(|more| card.copies(more)).map_err(failed)?;
        card.links = Links::measure(&card.stream).ok();
        Ok(card)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Its name, and the driver's release.
    pub fn names(&self) -> (String, Option<String>) {
        let driver = Device::driver_release().map(str::to_owned);
        (self.device.facts().name.clone(), driver)
    }

    /// Has it copy until its clocks are up, unless it was at work just now.
    fn wake(&self) -> Result<(), Error> {
        self.clocks.raise(|more| self.copies(more))
    }

    /// Large copies, one by one, as long as `more` are wanted. Returns how many bytes each had.
    fn copies(&self, more: &mut More) -> Result<u64, Error> {
        let bytes = COPIED_BYTES.min(self.device.memory()?.free / 4);
        let from = self.stream.zeros::<u8>(bytes)?;
        let mut to = self.stream.alloc::<u8>(bytes)?;
        let mut all = 0.0;
        loop {
            let begin = self.stream.event()?;
            self.stream.copy(&from, &mut to)?;
            let took = self.stream.event()?.seconds_since(&begin)?;
            all += took;
            if !more(all, took) {
                self.clocks.worked();
                return Ok(bytes as u64);
            }
        }
    }

    /// Ours for a method, whose variant is a file of `images` if that is given: the stable sort, and for
    /// pairs by a plan the one that need not be.
    ///
    /// # Errors
    /// What the engine does not take.
    pub fn ours(
        &self,
        method: &Method,
        images: Option<&Path>,
        task: Task,
    ) -> Result<Vec<Contender>> {
        let planned = planned::ALGORITHMS.contains(&algorithm_of(method));
        let both = planned && task == Task::Pairs;
        let suffixes: &[&str] = if both { &["", "-unstable"] } else { &[""] };
        let each = suffixes.iter();
        each.map(|suffix| self.our(method, images, suffix))
            .collect()
    }

    fn our(
        &self,
        method: &Method,
        images: Option<&Path>,
        suffix: &'static str,
    ) -> Result<Contender> {
        let (name, stable) = (algorithm_of(method), suffix.is_empty());
        let sort = match planned::ALGORITHMS.contains(&name) {
            true => Sort::Planned(Box::new(Planned::of(name, method, images, stable)?)),
            false => self.classic(name, method)?,
        };
        let ours = Ours {
            engine: Choice::Cuda,
            method: Method {
                algorithm: Some(name.to_owned()),
                ..method.clone()
            },
            suffix,
        };
        Ok(Contender {
            facts: Facts {
                name: "sweepsort-cuda",
                parallel: false,
                stable,
                total: true,
                counted: false,
            },
            name: ours.name("cuda"),
            ours: Some(ours),
            sort,
        })
    }

    fn classic(&self, name: &str, method: &Method) -> Result<Sort> {
        let mut engine = CudaEngine::on(Arc::clone(&self.device))?;
        (engine.radix_bits, engine.block) = (method.radix_bits, method.block);
        if let Some(name) = &method.variant {
            engine.variant = Variant::named(name).ok_or_else(|| {
                let known: Vec<_> = Variant::ALL.iter().map(|variant| variant.name()).collect();
                Failure::input(format!(
                    "no variant '{name}' of a classic; there are {}",
                    known.join(", ")
                ))
            })?;
        }
        engine.check(name)?;
        Ok(Sort::Classic(Box::new(engine), name.to_owned()))
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
        for &facts in peers::on_cuda() {
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
                name => self.package(name).map(|python| {
                    let version = python.borrow().version().to_owned();
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
                Err(why) => self.absent.tell(facts.name, named(facts.name), why)?,
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

    fn package(&mut self, name: &'static str) -> Result<Package, String> {
        let started = self.packages.entry(name).or_insert_with(|| {
            let python = Python::start(name);
            python.map(|python| Rc::new(RefCell::new(python)))
        });
        started.clone()
    }

    /// The contenders with an input on the card.
    ///
    /// # Errors
    /// [`Failure::Input`] for keys that are no machine words; [`Failure::System`] for what the device
    /// fails at.
    pub fn party<'a, K: RadixKey>(
        &'a self,
        keys: &'a [K],
        what: Sorted,
        contenders: Vec<Contender>,
    ) -> Result<Box<dyn Party + 'a>> {
        let codec = Codec::for_keys(K::KIND, Order::Ascending, Nan::Total);
        let oracle = Oracle::of(keys, &self.stream, what);
        macro_rules! by_width {
            ($($width:ident $word:ty),*) => {
                match K::words(keys) {
                    $(Some(Words::$width(words)) => {
                        let bench = Bench::<$word>::of(self, words, codec, oracle, what)?;
                        Ok(Box::new(Entered { bench, contenders }))
                    })*
                    None => Err(Failure::input(format!(
                        "keys of type {} are no machine words; choose another --type",
                        what.ty
                    ))),
                }
            };
        }
        by_width!(W8 u8, W16 u16, W32 u32, W64 u64, W128 u128)
    }
}

impl Contender {
    /// The algorithm that it has chosen for the last input, where the choice was its own.
    pub fn algorithm(&self) -> Option<&'static str> {
        match &self.sort {
            Sort::Planned(planned) => planned.algorithm(),
            _ => None,
        }
    }

    /// The bytes of memory that it was given for a sort, where we know them.
    pub fn workspace_bytes(&self) -> Option<u64> {
        match &self.sort {
            Sort::Planned(planned) => planned.workspace_bytes(),
            _ => None,
        }
    }
}

fn algorithm_of(method: &Method) -> &str {
    method.algorithm.as_deref().unwrap_or("auto")
}

fn words_of(error: Error) -> String {
    error.to_string()
}

/// A failure of the device in the middle of a benchmark.
fn failed(error: Error) -> Failure {
    Failure::system(error.to_string())
}
