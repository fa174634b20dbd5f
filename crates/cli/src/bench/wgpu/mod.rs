//! Measuring through wgpu: the keys lie in a GPU's memory before and after a sort, its timestamps tell
//! the time, and a shader checks what came out.
//!
//! ```text
//! input ─ upload once ─→ arrays ─ copied ─→ arrays ─┬─ ours by a plan (planned.rs) ┬─→ compared with
//!                                                   └─ lampshade (peers.rs) ───────┘   the CPU's answer
//! ```
//! The copy is a submission of its own, before the clock starts, and so is the comparison after it. A
//! peer whose wgpu is older than ours has a device and arrays of its own (older.rs).

mod gpu;
#[cfg(feature = "peers-wgpu")]
mod older;
#[cfg(feature = "peers-wgpu")]
mod peers;
mod planned;

use std::collections::BTreeMap;

use sweepsort::{Choice, Nan, RadixKey, Sorter};
use sweepsort_core::{Shape, Spec, Width, Words};
use sweepsort_wgpu::Adapter;

use super::Sorted;
use super::args::Method;
use super::contender::{Ours, Task};
use super::measure::Outcome;
use super::party::{Absent, Party, Seat};
use super::peers::{self as table, Facts};
use crate::exit::Result;
pub use gpu::Gpu;

/// A GPU to measure on through wgpu.
pub struct Stage {
    /// The engine's device.
    pub gpu: Gpu,
    /// The peers' versions, as far as they have taken part.
    pub versions: BTreeMap<String, String>,
    absent: Absent,
    /// The peer on a device of its own, opened or absent, and whether it is due for the next input.
    #[cfg(feature = "peers-wgpu")]
    older: Option<Result<older::Older, String>>,
    #[cfg(feature = "peers-wgpu")]
    older_due: bool,
}

/// Who sorts.
pub struct Contender {
    name: String,
    /// What is asked of our engine, if it is ours.
    ours: Option<Ours>,
    sort: Box<dyn Sort>,
}

/// A way to sort the arrays of an input.
trait Sort {
    /// Makes pipelines and scratch memory for an input.
    ///
    /// # Errors
    /// Why it refuses the input.
    fn prepare(&mut self, gpu: &Gpu, input: &Input) -> Result<(), String>;

    /// Puts a sort into an encoder.
    ///
    /// # Errors
    /// What the library says.
    fn record(&mut self, encoder: &mut wgpu::CommandEncoder, input: &Input) -> Result<(), String>;

    /// The algorithm that it has chosen, where the choice was its own.
    fn algorithm(&self) -> Option<&'static str> {
        None
    }

    /// The bytes of memory that it was given besides, where we know them.
    fn workspace_bytes(&self) -> Option<u64> {
        None
    }
}

/// The arrays of an input, in words of 32 bits as [`sweepsort_wgpu::Plan`] has them.
struct Input {
    shape: Shape,
    spec: Spec,
    /// As they are before a sort, never written to again. The values of an argsort are positions.
    keys: wgpu::Buffer,
    values: Option<wgpu::Buffer>,
    /// What is sorted.
    sorted_keys: wgpu::Buffer,
    sorted_values: Option<wgpu::Buffer>,
    /// What they are to be. The keys of an argsort are not looked at.
    expected_keys: Option<wgpu::Buffer>,
    expected_values: Option<wgpu::Buffer>,
}

/// What an input's sorted output is.
pub struct Answer<K> {
    /// The keys, where they are sorted alone.
    sorted: Option<Vec<K>>,
    /// The stable order, else.
    order: Vec<u32>,
}

impl<K: RadixKey> Answer<K> {
    /// By the CPU engine.
    ///
    /// # Errors
    /// What the library says.
    pub fn of(keys: &[K], task: Task) -> Result<Self> {
        let sorter = Sorter::builder()
            .engine(Choice::Cpu)
            .nan(Nan::Total)
            .build()?;
        Ok(match task {
            Task::Keys => {
                let mut sorted = keys.to_vec();
                sorter.sort(&mut sorted)?;
                Answer {
                    sorted: Some(sorted),
                    order: Vec::new(),
                }
            }
            Task::Pairs | Task::Argsort => Answer {
                sorted: None,
                order: sorter.argsort(keys)?,
            },
        })
    }
}

/// The words of an input and of its sorted output.
pub struct Source<'a> {
    what: Sorted,
    n: usize,
    keys: Words<'a>,
    /// Words of a key, and of what travels along.
    key_words: usize,
    value_words: usize,
    sorted: Option<Words<'a>>,
    order: &'a [u32],
}

impl<'a> Source<'a> {
    /// Keys with what travels along.
    ///
    /// # Errors
    /// Types that do not come in words of 32 bits.
    pub fn of<K: RadixKey>(
        keys: &'a [K],
        answer: &'a Answer<K>,
        what: Sorted,
    ) -> Result<Self, String> {
        let words = match K::words(keys) {
            None | Some(Words::W128(_)) => None,
            words => words,
        };
        let value_bytes = what.payload.bytes();
        match words {
            Some(keys) if value_bytes.is_multiple_of(4) => Ok(Source {
                what,
                n: keys.len(),
                keys,
                key_words: what.ty.bytes().div_ceil(4),
                value_words: value_bytes / 4,
                sorted: answer.sorted.as_deref().and_then(K::words),
                order: &answer.order,
            }),
            Some(_) => Err(format!(
                "values of {value_bytes} bytes do not fill words; use those of 4 bytes or more"
            )),
            None => Err(format!(
                "keys of type {} do not lie in words of up to 64 bits; use another type",
                what.ty
            )),
        }
    }

    /// A word of the keys.
    fn key(&self, at: usize) -> u32 {
        word(&self.keys, at)
    }

    /// A word of what travels along: random, or for an argsort a position.
    fn value(&self, at: usize) -> u32 {
        match self.what.task {
            Task::Argsort => at as u32,
            Task::Keys | Task::Pairs => scrambled(at as u64) as u32,
        }
    }

    /// What a word of the keys is to be.
    fn expected_key(&self, at: usize) -> u32 {
        match &self.sorted {
            Some(sorted) => word(sorted, at),
            None => self.key(self.source_of(at, self.key_words)),
        }
    }

    /// What a word of what travels along is to be.
    fn expected_value(&self, at: usize) -> u32 {
        self.value(self.source_of(at, self.value_words))
    }

    /// Where a word comes from, if an element has so many.
    fn source_of(&self, at: usize, words: usize) -> usize {
        self.order[at / words] as usize * words + at % words
    }
}

/// A word of 32 bits of some keys: narrower ones are its upper bits, wider ones have the lower half first.
fn word(keys: &Words<'_>, at: usize) -> u32 {
    match keys {
        Words::W8(keys) => u32::from(keys[at]) << 24,
        Words::W16(keys) => u32::from(keys[at]) << 16,
        Words::W32(keys) => keys[at],
        Words::W64(keys) => (keys[at / 2] >> (32 * (at % 2))) as u32,
        Words::W128(keys) => (keys[at / 4] >> (32 * (at % 4))) as u32,
    }
}

/// A number that looks random (the finalizer of SplitMix64).
fn scrambled(at: u64) -> u64 {
    let x = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Stage {
    /// Opens the adapter that the engine prefers.
    ///
    /// # Errors
    /// [`crate::exit::Failure::Input`] where there is none.
    pub fn open() -> Result<Stage> {
        Ok(Stage {
            gpu: Gpu::open()?,
            versions: BTreeMap::new(),
            absent: Absent::default(),
            #[cfg(feature = "peers-wgpu")]
            older: None,
            #[cfg(feature = "peers-wgpu")]
            older_due: false,
        })
    }

    /// The adapter's name; and its driver, after the API that it is reached by.
    pub fn names(&self) -> (String, String) {
        names_of(self.gpu.facts())
    }

    /// Ours for a method.
    ///
    /// # Errors
    /// What the engine does not take.
    pub fn ours(&self, method: &Method) -> Result<Contender> {
        let ours = Ours {
            engine: Choice::Wgpu,
            method: method.clone(),
            suffix: "",
        };
        Ok(Contender {
            name: ours.name(Choice::Wgpu.name()),
            sort: Box::new(planned::Planned::of(&self.gpu, method)?),
            ours: Some(ours),
        })
    }

    /// The peers on our device that are `named`, or all; one on a device of its own comes with the
    /// [parties](Self::parties). Those that are absent are told of on stderr, once; one that
    /// was asked for by name is an error.
    ///
    /// # Errors
    /// [`crate::exit::Failure::Input`] for an absent peer that was `named`.
    pub fn peers(
        &mut self,
        what: Sorted,
        named: &dyn Fn(&str) -> bool,
        all: bool,
    ) -> Result<Vec<Contender>> {
        let mut contenders = Vec::new();
        #[cfg(feature = "peers-wgpu")]
        {
            self.older_due = false;
        }
        for facts in table::on_wgpu() {
            if !all && !named(facts.name) {
                continue;
            }
            match self.peer(facts, what) {
                Ok(peer) => contenders.extend(peer),
                Err(why) => self.absent.tell(facts.name, named(facts.name), why)?,
            }
        }
        Ok(contenders)
    }

    /// A peer, if it has such tasks.
    fn peer(&mut self, facts: &Facts, what: Sorted) -> Result<Option<Contender>, String> {
        if let Some(why) = table::absent(facts) {
            return Err(why.to_owned());
        }
        #[cfg(feature = "peers-wgpu")]
        {
            if facts.name == older::NAME {
                // It has no keys alone.
                if what.task == Task::Keys {
                    return Ok(None);
                }
                let adapter = self.gpu.facts();
                let opened = self
                    .older
                    .get_or_insert_with(|| older::Older::open(adapter));
                opened.as_ref().map_err(String::clone)?;
                self.older_due = true;
                let version = older::VERSION.to_owned();
                self.versions.insert(facts.name.to_owned(), version);
                return Ok(None);
            }
            let (sort, version) = peers::lampshade(&self.gpu, what.task);
            let (name, version) = (facts.name.to_owned(), version.to_owned());
            self.versions.insert(name.clone(), version);
            Ok(Some(Contender {
                name,
                ours: None,
                sort,
            }))
        }
        #[cfg(not(feature = "peers-wgpu"))]
        {
            let _ = what;
            Ok(None)
        }
    }

    /// The contenders with an input on the device. `bandwidth` is that of a large copy.
    ///
    /// # Errors
    /// What the CPU engine fails at.
    pub fn parties<'a, K: RadixKey>(
        &'a self,
        keys: &[K],
        what: Sorted,
        contenders: Vec<Contender>,
        bandwidth: f64,
    ) -> Result<Vec<Box<dyn Party + 'a>>> {
        let answer = Answer::of(keys, what.task)?;
        let source = Source::of(keys, &answer, what);
        let spec = Spec::natural::<K>();
        let mut parties: Vec<Box<dyn Party + 'a>> = Vec::new();
        #[cfg(feature = "peers-wgpu")]
        if let (true, Some(Ok(older))) = (self.older_due, &self.older) {
            parties.push(older.party(&source, &spec, bandwidth));
        }
        let input = match &source {
            Ok(source) => Input::of(&self.gpu, source, spec),
            Err(why) => Err(why.clone()),
        };
        parties.push(Box::new(Entered {
            gpu: &self.gpu,
            contenders,
            input,
            bandwidth,
        }));
        Ok(parties)
    }
}

/// The same of the adapter that the engine prefers, if there is one.
pub fn names() -> Option<(String, String)> {
    let adapter = Adapter::preferred().ok()?;
    Some(names_of(adapter.facts()))
}

fn names_of(facts: &sweepsort_wgpu::Facts) -> (String, String) {
    let driver = format!("{} ({})", facts.driver, facts.backend);
    (facts.name.clone(), driver)
}

impl Contender {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Input {
    fn of(gpu: &Gpu, source: &Source<'_>, spec: Spec) -> Result<Input, String> {
        let width = match source.keys {
            Words::W8(_) => Width::W8,
            Words::W16(_) => Width::W16,
            Words::W32(_) => Width::W32,
            Words::W64(_) => Width::W64,
            Words::W128(_) => Width::W128,
        };
        let (n, task) = (source.n, source.what.task);
        let value_bytes = 4 * source.value_words;
        let (keys, values) = (n * source.key_words, n * source.value_words);
        let with_values = |word: &(dyn Fn(usize) -> u32 + Sync)| {
            let upload = (values > 0).then(|| gpu.upload(values, word));
            upload.transpose()
        };
        let expected_keys = match task {
            Task::Argsort => None,
            Task::Keys | Task::Pairs => Some(gpu.upload(keys, &|at| source.expected_key(at))?),
        };
        Ok(Input {
            shape: match task {
                Task::Keys => Shape::keys(n, width),
                Task::Pairs => Shape::pairs(n, width, value_bytes),
                Task::Argsort => Shape::argsort(n, width, value_bytes),
            },
            spec,
            keys: gpu.upload(keys, &|at| source.key(at))?,
            values: with_values(&|at| source.value(at))?,
            sorted_keys: gpu.array(4 * keys as u64)?,
            sorted_values: match values {
                0 => None,
                _ => Some(gpu.array(4 * values as u64)?),
            },
            expected_keys,
            expected_values: with_values(&|at| source.expected_value(at))?,
        })
    }

    /// One timed sort of a copy.
    fn run(&self, gpu: &Gpu, sort: &mut dyn Sort) -> Result<f64, String> {
        let mut arrays = vec![(&self.keys, &self.sorted_keys)];
        arrays.extend(self.values.iter().zip(&self.sorted_values));
        // After a pause it is woken, and then by the copy from whatever else the GPU did last.
        gpu.wake().map_err(|failure| failure.to_string())?;
        gpu.restore(&arrays)?;
        gpu.timed(|encoder| sort.record(encoder, self))
    }

    /// Whether the output is right.
    fn verify(&self, gpu: &Gpu) -> Result<(), String> {
        let arrays = [
            ("key", &self.expected_keys, Some(&self.sorted_keys)),
            ("value", &self.expected_values, self.sorted_values.as_ref()),
        ];
        for (what, expected, output) in arrays {
            let (Some(expected), Some(output)) = (expected, output) else {
                continue;
            };
            if let Some(word) = gpu.differs(expected, output)? {
                let at = word as u64 * self.shape.keys as u64 / (expected.size() / 4);
                return Err(format!(
                    "the {what} at {at} is not the one that belongs there"
                ));
            }
        }
        Ok(())
    }
}

/// Contenders, and the input that they are to sort.
struct Entered<'a> {
    gpu: &'a Gpu,
    contenders: Vec<Contender>,
    /// Or why there is none.
    input: Result<Input, String>,
    bandwidth: f64,
}

impl Party for Entered<'_> {
    fn len(&self) -> usize {
        self.contenders.len()
    }

    fn seat(&self, at: usize) -> Seat {
        let contender = &self.contenders[at];
        Seat {
            name: contender.name.clone(),
            ours: contender.ours.clone(),
            algorithm: contender.sort.algorithm(),
            workspace_bytes: contender.sort.workspace_bytes(),
            bandwidth: self.bandwidth,
            host_clock: self.gpu.host_clock(),
        }
    }

    fn load(&mut self, at: usize) -> Result<(), String> {
        let input = self.input.as_ref().map_err(String::clone)?;
        self.contenders[at].sort.prepare(self.gpu, input)
    }

    fn round(&mut self, at: usize, outcome: &mut Outcome) {
        let Ok(input) = &self.input else {
            return;
        };
        let ran = input.run(self.gpu, &mut *self.contenders[at].sort);
        outcome.judge(ran, |outcome, seconds| {
            outcome.seconds.push(seconds);
            input.verify(self.gpu)
        });
    }

    fn wake(&mut self) -> Result<()> {
        self.gpu.wake()
    }

    fn end(&mut self, _: usize, _: &mut Outcome) -> Result<()> {
        Ok(())
    }
}
