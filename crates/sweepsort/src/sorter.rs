//! A sorter: options fixed once, scratch kept between calls.
//!
//! The data's way: keys that are machine words go to the engine where they lie; others of up to
//! 128 bits go as a copy in words; wider keys and values of more than 16 bytes go through the
//! permutation ([`crate::permutation`]).

use std::borrow::Cow;
use std::ops::Range;

use sweepsort_core::{
    Choice, Codec, Engine, Error, Nan, Order, Plan, RadixKey, Report, Result, Shape, Spec, Task,
    ValuesMut, Width, Word, same_length, with_width,
};
use sweepsort_cpu::{CpuEngine, Instructions};
use sweepsort_twin::TwinEngine;

use crate::choice::TOO_FEW;
use crate::devices;
use crate::permutation::{self, Index, MAX_TRAVELLING_BYTES};
use crate::rental;

/// The sorter of the crate's free functions: natural order, no scratch kept.
pub(crate) static NATURAL: Sorter = Sorter {
    order: Order::Ascending,
    nan: Nan::Total,
    bits: None,
    algorithm: Cow::Borrowed(AUTO),
    engine: CpuEngine::ephemeral(),
    way: Way::Auto,
    at_once: Some(TOO_FEW),
};

/// The method that an engine chooses itself.
const AUTO: &str = "auto";

/// The reason where the caller named an engine or a method.
const ASKED_FOR: &str = "asked for";

/// Sorts with fixed options, keeps its scratch memory between calls, and can be shared by threads.
///
/// ```
/// use sweepsort::{Nan, Order, Sorter};
///
/// let sorter = Sorter::builder().order(Order::Descending).nan(Nan::Last).build()?;
/// let mut keys = [1.0f64, f64::NAN, 3.0];
/// let report = sorter.sort(&mut keys)?;
/// assert_eq!(keys[..2], [3.0, 1.0]);
/// assert_eq!(report.keys, 3);
/// # Ok::<(), sweepsort::Error>(())
/// ```
#[derive(Debug)]
pub struct Sorter {
    order: Order,
    nan: Nan,
    bits: Option<Range<u32>>,
    algorithm: Cow<'static, str>,
    /// Does the work around a sort, whatever sorts.
    engine: CpuEngine,
    way: Way,
    /// Why the CPU engine sorts keys alone without a task if they are few, where it does.
    at_once: Option<&'static str>,
}

/// What runs a sorter's tasks.
#[derive(Debug)]
enum Way {
    /// The CPU engine, or a GPU's of the process where that is expected to be faster.
    Auto,
    /// The CPU engine.
    Cpu,
    /// A classic, or another engine.
    Other(Box<dyn Engine>),
}

/// The options of a [`Sorter`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    order: Order,
    nan: Nan,
    bits: Option<Range<u32>>,
    choice: Choice,
    algorithm: Option<String>,
    radix_bits: Option<u32>,
    block: Option<usize>,
    threads: Option<usize>,
    instructions: Option<Instructions>,
}

impl Builder {
    /// Ascending (the default) or descending. Equal keys keep their input order either way.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sorts by a range of the key's bits alone, the lowest bit being 0; keys that agree there
    /// tie, and ties keep their input order.
    ///
    /// The bits are those of the key's order-preserving image: for an `i32`, bit 31 is set for
    /// numbers from 0 up; for floats they are the total order's, rotated under [`Nan::Last`] and
    /// [`Nan::First`].
    pub fn bits(mut self, bits: Range<u32>) -> Self {
        self.bits = Some(bits);
        self
    }

    /// Where NaNs go; [`Nan::Total`] unless said otherwise.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.nan = nan;
        self
    }

    /// The engine; [`Choice::Auto`] unless said otherwise.
    ///
    /// `Auto` takes the engine that is expected to be the faster for a task, by what was measured: the
    /// CPU's or that of a CUDA device; and where there is none, or it has failed, that of another GPU by
    /// the wgpu engine (feature `wgpu`). It opens a device, for the whole process, when the sorts so far
    /// would have saved as much time there as opening takes. One that a sorter of [`Choice::Cuda`] or
    /// [`Choice::Wgpu`] has opened, it does not wait for. What is expected of CUDA is data; a GPU through
    /// wgpu is measured on this machine as it is opened, by a few sorts of some milliseconds, and does not
    /// sort where it is slower than the CPU. Where the device fails or has too little memory and the data
    /// is untouched, the CPU sorts. [`Report::reason`] says what was taken, and why. With a named
    /// [`algorithm`](Self::algorithm) it is the CPU engine.
    ///
    /// [`Choice::Wgpu`] opens, for the whole process, the first adapter that is a GPU, discrete ones before
    /// others; or the one of whose name the environment variable `SWEEPSORT_ADAPTER` is a part, in any
    /// case. That is the only way to a software adapter: `Auto` takes none, even if it is named.
    /// [`devices`](crate::devices()) lists them all.
    pub fn engine(mut self, choice: Choice) -> Self {
        self.choice = choice;
        self
    }

    /// The method, one that the engine has; `auto` unless said otherwise.
    ///
    /// The CUDA engine's own are `auto`; `onesweep`, which sorts everything; `hybrid` for whole keys of
    /// 32, 64 or 128 bits alone; and `count` for those of 8 or 16 bits. Besides, it has `split`,
    /// `four-way`, `block-histogram`, `tile-merge` and `coalesced` for keys of 32 and 64 bits.
    ///
    /// The wgpu engine has `auto`, `onesweep`, `reduce-then-scan` and `reduce-then-scan-4`, for keys of up to 64
    /// bits.
    ///
    /// The CPU engine's own are `auto`, `hybrid` and `count`. Besides, it runs the readable twins of the
    /// classics on one thread, to learn from and to compare with: `counting-lsd`, `split`, `four-way`,
    /// `block-histogram`, `tile-merge`, `coalesced`, `onesweep`.
    pub fn algorithm(mut self, name: impl Into<String>) -> Self {
        self.algorithm = Some(name.into());
        self
    }

    /// Bits of a digit, for the classics that leave the choice.
    pub fn radix_bits(mut self, radix_bits: u32) -> Self {
        self.radix_bits = Some(radix_bits);
        self
    }

    /// Keys of a block or tile, for the classics.
    pub fn block(mut self, keys: usize) -> Self {
        self.block = Some(keys);
        self
    }

    /// How many threads the CPU engine uses at most. Unless said otherwise: those of the `rayon`
    /// pool that the call comes from, and so by default all cores.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Other instructions for the CPU engine than the best that the machine has: to measure or to test
    /// what other machines will run.
    pub fn instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// The sorter.
    ///
    /// # Errors
    /// [`Error::EngineAbsent`], [`Error::UnknownAlgorithm`]; [`Error::Unsupported`] for a digit or
    /// block that the algorithm does not take, and for instructions that the machine lacks.
    pub fn build(self) -> Result<Sorter> {
        let mut engine = CpuEngine::new(self.threads);
        if let Some(instructions) = self.instructions {
            engine = engine.with_instructions(instructions)?;
        }
        let name = self.algorithm.clone();
        let name = name.map_or(Cow::Borrowed(AUTO), Cow::Owned);
        let way = match self.choice {
            Choice::Auto | Choice::Cpu => match self.twin(&engine, &name)? {
                Some(twin) => Way::Other(twin),
                None if self.choice == Choice::Auto && name == AUTO => Way::Auto,
                None => Way::Cpu,
            },
            Choice::Cuda => Way::Other(self.cuda(&name)?),
            Choice::Wgpu => Way::Other(self.wgpu(&name)?),
        };
        let at_once = match way {
            Way::Auto => Some(TOO_FEW),
            Way::Cpu => Some(ASKED_FOR),
            Way::Other(_) => None,
        };
        Ok(Sorter {
            at_once: at_once.filter(|_| self.bits.is_none() && name == AUTO),
            order: self.order,
            nan: self.nan,
            bits: self.bits,
            algorithm: name,
            engine,
            way,
        })
    }

    /// The twin of that name, if it is not one of the CPU engine's own.
    fn twin(&self, engine: &CpuEngine, name: &str) -> Result<Option<Box<dyn Engine>>> {
        let own = engine.algorithms();
        if own.contains(&name) {
            return match (self.radix_bits, self.block) {
                (None, None) => Ok(None),
                _ => Err(Error::Unsupported {
                    engine: engine.name(),
                    what: format!("a choice of digit or block for algorithm '{name}'"),
                    instead: "a classic, such as block-histogram".into(),
                }),
            };
        }
        let twin = TwinEngine {
            radix_bits: self.radix_bits,
            block: self.block,
        };
        let classics = twin.algorithms();
        if !classics.contains(&name) {
            let more = classics.iter().filter(|name| !own.contains(name));
            let known: Vec<&str> = own.iter().chain(more).copied().collect();
            return Err(Error::UnknownAlgorithm {
                engine: engine.name(),
                name: name.to_owned(),
                known: known.join(", "),
            });
        }
        twin.check(name)?;
        Ok(Some(Box::new(twin)))
    }

    /// The CUDA engine on the first device.
    #[cfg(feature = "cuda")]
    fn cuda(&self, name: &str) -> Result<Box<dyn Engine>> {
        let mut engine = devices::open_cuda()?;
        engine.radix_bits = self.radix_bits;
        engine.block = self.block;
        engine.check(name)?;
        rental::CUDA.is_paid();
        Ok(Box::new(engine))
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda(&self, _: &str) -> Result<Box<dyn Engine>> {
        Err(devices::no_cuda())
    }

    /// The wgpu engine on the preferred adapter.
    #[cfg(feature = "wgpu")]
    fn wgpu(&self, name: &str) -> Result<Box<dyn Engine>> {
        let engine = devices::open_wgpu()?;
        let known = engine.algorithms();
        if !known.contains(&name) {
            return Err(Error::UnknownAlgorithm {
                engine: engine.name(),
                name: name.to_owned(),
                known: known.join(", "),
            });
        }
        if (self.radix_bits, self.block) != (None, None) {
            return Err(Error::Unsupported {
                engine: engine.name(),
                what: format!("a choice of digit or block for algorithm '{name}'"),
                instead: "a classic of engine cpu, such as block-histogram".into(),
            });
        }
        rental::WGPU.is_paid();
        Ok(Box::new(engine))
    }

    #[cfg(not(feature = "wgpu"))]
    fn wgpu(&self, _: &str) -> Result<Box<dyn Engine>> {
        Err(devices::no_wgpu())
    }
}

impl Sorter {
    /// A sorter's options, all at their defaults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Sorts keys in place.
    ///
    /// # Errors
    /// [`Error::BitRange`], [`Error::OutOfMemory`]; the keys are untouched then.
    pub fn sort<K: RadixKey>(&self, keys: &mut [K]) -> Result<Report> {
        if let Some(reason) = self.at_once
            && let Some(words) = K::words_mut(keys)
            && let Some(few) = self.engine.few(words, K::KIND)
        {
            let codec = Codec::for_keys(K::KIND, self.order, self.nan);
            return Ok(few.sort(&codec, reason));
        }
        self.sort_by_task(keys)
    }

    /// Sorts any number of keys. Apart from [`sort`](Self::sort), so that a few do not wait for what this needs.
    #[inline(never)]
    fn sort_by_task<K: RadixKey>(&self, keys: &mut [K]) -> Result<Report> {
        let spec = self.spec::<K>(Codec::for_keys, true)?;
        if let Some(words) = K::words_mut(keys) {
            return self.run(Task::Keys(words), &spec);
        }
        match Width::holding(K::BITS) {
            Some(width) => self.in_words(width, keys, None, &spec),
            None => self.permute(keys, &mut [(); 0]),
        }
    }

    /// Sorts keys in place and moves each value with its key. Stable.
    ///
    /// # Errors
    /// [`Error::BitRange`], [`Error::LengthMismatch`], [`Error::OutOfMemory`]; keys and values are
    /// untouched then.
    pub fn sort_pairs<K: RadixKey, V: Copy + Send + Sync>(
        &self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<Report> {
        self.pairs(keys, values, true)
    }

    /// As [`sort_pairs`](Self::sort_pairs), but the values under equal keys may come in any order,
    /// where that is faster.
    ///
    /// # Errors
    /// As [`sort_pairs`](Self::sort_pairs).
    pub fn sort_pairs_unstable<K: RadixKey, V: Copy + Send + Sync>(
        &self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<Report> {
        self.pairs(keys, values, false)
    }

    fn pairs<K: RadixKey, V: Copy + Send + Sync>(
        &self,
        keys: &mut [K],
        values: &mut [V],
        stable: bool,
    ) -> Result<Report> {
        same_length(keys.len(), values.len(), "values")?;
        let width = Width::holding(K::BITS);
        let (Some(width), 0..=MAX_TRAVELLING_BYTES) = (width, size_of::<V>()) else {
            return self.permute(keys, values);
        };
        let spec = self.spec::<K>(Codec::for_records, stable)?;
        let values = ValuesMut::new(values);
        match K::words_mut(keys) {
            Some(words) => self.run(Task::Pairs(words, values), &spec),
            None => self.in_words(width, keys, Some(values), &spec),
        }
    }

    /// The positions of the keys in sorted order. Stable.
    ///
    /// # Errors
    /// [`Error::BitRange`], [`Error::OutOfMemory`], and [`Error::TooManyKeys`] above 2^32 keys,
    /// where [`argsort_u64`](Self::argsort_u64) serves.
    pub fn argsort<K: RadixKey>(&self, keys: &[K]) -> Result<Vec<u32>> {
        let mut index = permutation::zeros(keys.len())?;
        self.argsort_into(keys, &mut index)?;
        Ok(index)
    }

    /// As [`argsort`](Self::argsort), for any number of keys.
    ///
    /// # Errors
    /// [`Error::BitRange`], [`Error::OutOfMemory`].
    pub fn argsort_u64<K: RadixKey>(&self, keys: &[K]) -> Result<Vec<u64>> {
        let mut index = permutation::zeros(keys.len())?;
        self.argsort_u64_into(keys, &mut index)?;
        Ok(index)
    }

    /// As [`argsort`](Self::argsort), into memory of the caller's.
    ///
    /// # Errors
    /// As [`argsort`](Self::argsort), and [`Error::LengthMismatch`].
    pub fn argsort_into<K: RadixKey>(&self, keys: &[K], index: &mut [u32]) -> Result<Report> {
        if u32::try_from(keys.len().saturating_sub(1)).is_err() {
            return Err(Error::TooManyKeys {
                keys: keys.len(),
                instead: "argsort_u64",
            });
        }
        self.index(keys, index)
    }

    /// As [`argsort_u64`](Self::argsort_u64), into memory of the caller's.
    ///
    /// # Errors
    /// As [`argsort_u64`](Self::argsort_u64), and [`Error::LengthMismatch`].
    pub fn argsort_u64_into<K: RadixKey>(&self, keys: &[K], index: &mut [u64]) -> Result<Report> {
        self.index(keys, index)
    }

    /// What a sort of `n` keys with values of `value_bytes` bytes (0 for keys alone) would do,
    /// data unseen. Under [`Choice::Auto`] it is the plan of the engine that would be taken now;
    /// nothing is opened to make it.
    ///
    /// # Errors
    /// [`Error::BitRange`]; [`Error::Unsupported`] for keys wider than 128 bits and values of more
    /// than 16 bytes, which go through the permutation.
    pub fn plan<K: RadixKey>(&self, n: usize, value_bytes: usize) -> Result<Plan> {
        let spec = self.spec::<K>(Codec::for_keys, true)?;
        let through_the_permutation = |what: String| Error::Unsupported {
            engine: self.engine.name(),
            what,
            instead: "the plan of an argsort's words, 64 bits each".into(),
        };
        let width = Width::holding(K::BITS)
            .ok_or_else(|| through_the_permutation(format!("plans for {}-bit keys", K::BITS)))?;
        if value_bytes > MAX_TRAVELLING_BYTES {
            return Err(through_the_permutation(format!(
                "plans for {value_bytes}-byte values"
            )));
        }
        let shape = Shape::pairs(n, width, value_bytes);
        match &self.way {
            Way::Auto => rental::plan(&self.engine, &rental::GPUS, &shape, &spec),
            Way::Cpu => self.engine.plan(&shape, &spec),
            Way::Other(other) => other.plan(&shape, &spec),
        }
    }

    /// As [`crate::partition_by`], with this sorter's engine and scratch; its order and bit range
    /// are not used.
    ///
    /// # Errors
    /// As [`crate::partition_by`].
    pub fn partition_by<K: Copy + Send + Sync>(
        &self,
        keys: &mut [K],
        groups: usize,
        category: impl Fn(&K) -> usize + Sync,
    ) -> Result<Vec<usize>> {
        crate::partition::partition_by(self, keys, groups, category)
    }

    /// Fills `index` with the keys' sorted order.
    pub(crate) fn index<K: RadixKey, I: Index>(
        &self,
        keys: &[K],
        index: &mut [I],
    ) -> Result<Report> {
        same_length(keys.len(), index.len(), "index entries")?;
        let spec = self.spec::<K>(Codec::for_records, true)?;
        if let Some(words) = K::words(keys) {
            return self.run(Task::Argsort(words, I::as_index(index)), &spec);
        }
        match Width::holding(K::BITS) {
            Some(width) => with_width!(width, |W| {
                let words = self
                    .engine
                    .collect(keys.len(), |i| W::truncate(keys[i].bits()))?;
                self.run(
                    Task::Argsort(words.as_slice().into(), I::as_index(index)),
                    &spec,
                )
            }),
            None => permutation::index_wide(self, keys, index, &spec),
        }
    }

    /// The engine, for the work around a sort.
    pub(crate) fn engine(&self) -> &CpuEngine {
        &self.engine
    }

    /// Runs a task, and notes in its report why this engine ran it.
    pub(crate) fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        let reason = Cow::Borrowed(ASKED_FOR);
        match &self.way {
            Way::Auto => rental::run(&self.engine, &rental::GPUS, task, spec),
            Way::Cpu => self.engine.run_because(task, spec, reason),
            Way::Other(other) => {
                let mut done = other.run(task, spec);
                rental::because(reason, &mut done);
                done
            }
        }
    }

    /// Sorts keys as a copy of their bits in words of `width`, and writes the keys back.
    fn in_words<K: RadixKey>(
        &self,
        width: Width,
        keys: &mut [K],
        values: Option<ValuesMut<'_>>,
        spec: &Spec,
    ) -> Result<Report> {
        with_width!(width, |W| {
            let mut words = self
                .engine
                .collect(keys.len(), |i| W::truncate(keys[i].bits()))?;
            let task = match values {
                Some(values) => Task::Pairs(words.as_mut_slice().into(), values),
                None => Task::Keys(words.as_mut_slice().into()),
            };
            let report = self.run(task, spec)?;
            self.engine.fill(keys, |i| K::from_bits(words[i].widen()))?;
            Ok(report)
        })
    }

    /// Sorts keys, and values if there are any, by an index that is then followed.
    fn permute<K: RadixKey, V: Copy + Send + Sync>(
        &self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<Report> {
        if u32::try_from(keys.len()).is_ok() {
            permutation::sort_through::<u32, K, V>(self, keys, values)
        } else {
            permutation::sort_through::<u64, K, V>(self, keys, values)
        }
    }

    /// The specification of a task on keys of type `K`.
    fn spec<K: RadixKey>(
        &self,
        codec: fn(sweepsort_core::Kind, Order, Nan) -> Codec,
        stable: bool,
    ) -> Result<Spec> {
        let bits = self.bits.clone().unwrap_or(0..K::BITS);
        if bits.start > bits.end || bits.end > K::BITS {
            return Err(Error::BitRange {
                start: bits.start,
                end: bits.end,
                bits: K::BITS,
            });
        }
        Ok(Spec {
            codec: codec(K::KIND, self.order, self.nan),
            bits,
            stable,
            algorithm: self.algorithm.clone(),
        })
    }
}
