//! The engine: keys in host memory to the device, sorted there, and back.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sweepsort_core::{
    Coder, DataState, Digit, Engine, Error, IndexMut, Plan, Report, Result, Shape, Spec, Stage,
    Task, ValuesMut, Width, WordsMut,
};

use crate::args;
use crate::classic::{self, Algorithm, Key, Options, Records, Watch};
use crate::device::Device;
use crate::error::Result as DeviceResult;
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid};
use crate::memory::Buffer;
use crate::stream::{Sides, Stream};

/// Sorts on an NVIDIA GPU.
#[derive(Debug)]
pub struct CudaEngine {
    device: Arc<Device>,
    stream: Stream,
    sides: Mutex<Sides>,
    /// Bits of a digit, where the algorithm leaves a choice; `None` for the algorithm's own.
    pub radix_bits: Option<u32>,
    /// Keys of a block or tile; `None` for the algorithm's own.
    pub block: Option<usize>,
}

/// What `auto` takes.
const AUTO: Algorithm = Algorithm::Coalesced;

/// The longest value that travels: one word of 16 bytes.
const MAX_VALUE_BYTES: usize = 16;

/// Keys a thread where each key is treated by itself, and threads of a block there.
const LANES: u32 = 4;
const THREADS: u32 = 256;

impl CudaEngine {
    /// The engine on a device.
    ///
    /// # Errors
    /// [`Error::EngineAbsent`] with the reason.
    pub fn open(ordinal: usize) -> Result<CudaEngine> {
        let device =
            Device::open(ordinal).map_err(|error| error.into_core(DataState::Untouched))?;
        Self::on(device)
    }

    /// The engine on an open device.
    ///
    /// # Errors
    /// [`Error::Device`] where it has no stream to give.
    pub fn on(device: Arc<Device>) -> Result<CudaEngine> {
        let failed = |error: crate::Error| error.into_core(DataState::Untouched);
        Ok(CudaEngine {
            stream: device.stream().map_err(failed)?,
            sides: Mutex::new(Sides::new(&device).map_err(failed)?),
            device,
            radix_bits: None,
            block: None,
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether an algorithm takes this digit and block.
    ///
    /// # Errors
    /// [`Error::UnknownAlgorithm`], [`Error::Unsupported`].
    pub fn check(&self, algorithm: &str) -> Result<()> {
        self.options::<u64>(self.algorithm(algorithm)?, 0..64)?;
        Ok(())
    }

    fn algorithm(&self, name: &str) -> Result<Algorithm> {
        match name {
            "auto" => Ok(AUTO),
            _ => Algorithm::named(name).ok_or_else(|| Error::UnknownAlgorithm {
                engine: self.name(),
                name: name.to_owned(),
                known: self.algorithms().join(", "),
            }),
        }
    }

    fn options<K: Key>(&self, algorithm: Algorithm, bits: std::ops::Range<u32>) -> Result<Options> {
        let own = Options::of::<K>(algorithm);
        let options = Options {
            bits,
            radix_bits: self.radix_bits.unwrap_or(own.radix_bits),
            block: self.block.unwrap_or(own.block),
            ..own
        };
        options
            .check::<K>(algorithm)
            .map_err(|instead| Error::Unsupported {
                engine: self.name(),
                what: format!(
                    "{} with digits of {} bits and blocks of {}",
                    algorithm.name(),
                    options.radix_bits,
                    options.block
                ),
                instead,
            })?;
        Ok(options)
    }

    /// Sorts codes with a watch on every stage; for explanations. Returns the positions.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn watch<K: Key>(
        &self,
        algorithm: Algorithm,
        codes: &[K],
        options: &Options,
        watch: &mut dyn Watch<K>,
    ) -> Result<Vec<u32>> {
        let failed = |error: crate::Error| error.into_core(DataState::Untouched);
        let mut work = || -> DeviceResult<Vec<u32>> {
            let keys = self.stream.upload(codes)?;
            let positions = self.positions(codes.len())?;
            let mut records = Records::new(&self.stream, keys, Some(positions))?;
            let mut sides = self.sides.lock().unwrap_or_else(PoisonError::into_inner);
            classic::sort(
                &self.stream,
                &mut sides,
                algorithm,
                &mut records,
                options,
                Some(watch),
            )?;
            match &records.payload {
                Some(positions) => self.stream.download(positions),
                None => Ok(Vec::new()),
            }
        };
        work().map_err(failed)
    }

    /// `0, 1, 2, …` on the device.
    fn positions(&self, n: usize) -> DeviceResult<Buffer<u32>> {
        let mut positions = self.stream.alloc(n)?;
        self.launch::<u32, 2>("iota", n, args![&mut positions, n as u32])?;
        Ok(positions)
    }

    /// Launches a kernel of `codec.cu` over `n` items.
    fn launch<K: Key, const N: usize>(
        &self,
        name: &str,
        n: usize,
        arguments: [Argument<'_>; N],
    ) -> DeviceResult<()> {
        let image = Image::of(Kind::Classic, K::BITS).unwrap_or(Image::ALL[0]);
        let kernel = self.device.module(image)?.kernel(name)?;
        let grid = Grid::new((n as u32).div_ceil(LANES * THREADS), THREADS);
        // SAFETY: each caller below gives buffers of `n` items, which this sort alone uses.
        unsafe { self.stream.launch(&kernel, grid, arguments) }
    }

    /// The codes of words, on the device.
    fn encoded<K: Key>(&self, words: &[K], coder: &Coder<K>) -> DeviceResult<Buffer<K>> {
        let mut codes = self.stream.upload(words)?;
        if !coder.is_identity() {
            self.code("encode", &mut codes, coder)?;
        }
        Ok(codes)
    }

    fn code<K: Key>(&self, name: &str, keys: &mut Buffer<K>, coder: &Coder<K>) -> DeviceResult<()> {
        let n = keys.len();
        let constants = coder.constants();
        let arguments = args![
            keys,
            n as u32,
            Argument::plain(&constants.xor),
            Argument::plain(&constants.float_mask),
            Argument::plain(&constants.rotate),
            Argument::plain(&constants.infinity),
            u32::from(coder.ties())
        ];
        self.launch::<K, 7>(name, n, arguments)
    }

    /// Sorts codes, with their positions if asked.
    fn sorted<K: Key>(
        &self,
        words: &[K],
        spec: &Spec,
        with_positions: bool,
    ) -> Result<(Records<K>, u32)> {
        let algorithm = self.algorithm(&spec.algorithm)?;
        let options = self.options::<K>(algorithm, spec.bits.clone())?;
        let coder: Coder<K> = spec.codec.coder();
        let work = || -> DeviceResult<(Records<K>, u32)> {
            let codes = self.encoded(words, &coder)?;
            let positions = match with_positions {
                true => Some(self.positions(words.len())?),
                false => None,
            };
            let mut records = Records::new(&self.stream, codes, positions)?;
            let mut sides = self.sides.lock().unwrap_or_else(PoisonError::into_inner);
            let passes = classic::sort(
                &self.stream,
                &mut sides,
                algorithm,
                &mut records,
                &options,
                None,
            )?;
            Ok((records, passes))
        };
        work().map_err(|error| error.into_core(DataState::Untouched))
    }

    fn sort_keys<K: Key>(&self, keys: &mut [K], spec: &Spec) -> Result<u32> {
        let coder: Coder<K> = spec.codec.coder();
        let (mut records, passes) = self.sorted(keys, spec, false)?;
        if !coder.is_identity() {
            self.code("decode", &mut records.keys, &coder)
                .map_err(|error| error.into_core(DataState::Untouched))?;
        }
        self.stream
            .read(&records.keys, keys)
            .map_err(|error| error.into_core(DataState::Undefined))?;
        Ok(passes)
    }

    fn sort_pairs<K: Key>(
        &self,
        keys: &mut [K],
        mut values: ValuesMut<'_>,
        spec: &Spec,
    ) -> Result<u32> {
        let (n, value_bytes) = (keys.len(), values.value_bytes());
        let (records, passes) = self.sorted(keys, spec, true)?;
        let Some(positions) = &records.payload else {
            unreachable!("positions were asked for")
        };
        // SAFETY: there are so many bytes, borrowed as long as `values`. Padding may be
        // uninitialised: it is copied, and never looked at.
        let bytes = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr(), n * value_bytes) };
        let work = || -> DeviceResult<(Buffer<K>, Buffer<u8>)> {
            // Keys that tie have lost what told them apart, so they are fetched, too.
            let from = self.stream.upload(keys)?;
            let mut sorted = self.stream.alloc(n)?;
            let key_bytes = K::BITS / 8;
            self.launch::<K, 5>(
                "gather",
                n,
                args![&from, positions, &mut sorted, n as u32, key_bytes],
            )?;
            let from = self.stream.upload(bytes)?;
            let mut moved = self.stream.alloc(bytes.len())?;
            if value_bytes > 0 {
                self.launch::<K, 5>(
                    "gather",
                    n,
                    args![&from, positions, &mut moved, n as u32, value_bytes as u32],
                )?;
            }
            // A failure before this is one before the caller's data is written to.
            self.stream.synchronize()?;
            Ok((sorted, moved))
        };
        let (sorted, moved) = work().map_err(|error| error.into_core(DataState::Untouched))?;
        let mut back = || -> DeviceResult<()> {
            self.stream.read(&sorted, keys)?;
            self.stream.read(&moved, bytes)
        };
        back().map_err(|error| error.into_core(DataState::Undefined))?;
        Ok(passes)
    }

    fn argsort<K: Key>(&self, keys: &[K], index: IndexMut<'_>, spec: &Spec) -> Result<u32> {
        let (records, passes) = self.sorted(keys, spec, true)?;
        let Some(positions) = &records.payload else {
            unreachable!("positions were asked for")
        };
        let failed = |error: crate::Error| error.into_core(DataState::Undefined);
        match index {
            IndexMut::U32(index) => self.stream.read(positions, index).map_err(failed)?,
            IndexMut::U64(index) => {
                let positions = self.stream.download(positions).map_err(failed)?;
                for (to, from) in index.iter_mut().zip(positions) {
                    *to = u64::from(from);
                }
            }
        }
        Ok(passes)
    }

    /// Refuses shapes that no kernel is for.
    fn supported(&self, shape: &Shape) -> Result<()> {
        let unsupported = |what: String, instead: &str| {
            Err(Error::Unsupported {
                engine: self.name(),
                what,
                instead: instead.to_owned(),
            })
        };
        if !matches!(shape.width, Width::W32 | Width::W64) {
            return unsupported(
                format!("keys of {} bits", shape.width.bits()),
                "keys of 32 or 64 bits, or engine cpu",
            );
        }
        if shape.keys > classic::MAX_KEYS {
            return unsupported(
                format!("{} keys", shape.keys),
                "fewer than 2^32 - 2^20 at a time, or engine cpu",
            );
        }
        if !shape.argsort && shape.payload_bytes > MAX_VALUE_BYTES {
            return unsupported(
                format!("values of {} bytes", shape.payload_bytes),
                "values of up to 16 bytes, or engine cpu",
            );
        }
        Ok(())
    }
}

/// Runs one generic expression with the word type of a supported width.
macro_rules! with_key {
    ($width:expr, |$K:ident| $body:expr) => {
        match $width {
            Width::W32 => {
                type $K = u32;
                $body
            }
            _ => {
                type $K = u64;
                $body
            }
        }
    };
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn algorithms(&self) -> &'static [&'static str] {
        &[
            "auto",
            "split",
            "four-way",
            "block-histogram",
            "tile-merge",
            "coalesced",
        ]
    }

    fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
        self.supported(shape)?;
        let algorithm = self.algorithm(&spec.algorithm)?;
        let options = with_key!(shape.width, |K| self
            .options::<K>(algorithm, spec.bits.clone())?);
        let counts = (1usize << options.radix_bits) * shape.keys.div_ceil(options.block);
        let arrays = match algorithm {
            Algorithm::Split => 4 * shape.keys,
            Algorithm::FourWay => (4 * (shape.keys + 1)) << options.radix_bits,
            Algorithm::BlockHistogram => 16 * counts,
            Algorithm::Coalesced => 4 * counts,
            // Positions, where ties can be told apart.
            Algorithm::TileMerge => 8 * shape.keys,
        };
        let record = shape.width.bytes() + if shape.payload_bytes > 0 { 4 } else { 0 };
        Ok(Plan {
            engine: self.name(),
            algorithm: algorithm.name(),
            digits: match algorithm {
                Algorithm::TileMerge => Vec::new(),
                _ => Digit::cover(options.bits, options.radix_bits),
            },
            workspace_bytes: 2 * record * shape.keys
                + arrays
                + 2 * (shape.width.bytes() + shape.payload_bytes) * shape.keys,
            threads: 1,
        })
    }

    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        let start = Instant::now();
        let shape = task.shape();
        let plan = self.plan(&shape, spec)?;
        let passes = match task {
            Task::Keys(WordsMut::W32(keys)) => self.sort_keys(keys, spec)?,
            Task::Keys(WordsMut::W64(keys)) => self.sort_keys(keys, spec)?,
            Task::Pairs(keys, values) => {
                same_length(keys.len(), values.len(), "values")?;
                match keys {
                    WordsMut::W32(keys) => self.sort_pairs(keys, values, spec)?,
                    WordsMut::W64(keys) => self.sort_pairs(keys, values, spec)?,
                    _ => return Err(self.unknown()),
                }
            }
            Task::Argsort(keys, index) => {
                same_length(keys.len(), index.len(), "index entries")?;
                match keys {
                    sweepsort_core::Words::W32(keys) => self.argsort(keys, index, spec)?,
                    sweepsort_core::Words::W64(keys) => self.argsort(keys, index, spec)?,
                    _ => return Err(self.unknown()),
                }
            }
            _ => return Err(self.unknown()),
        };
        let possible = match plan.digits.len() {
            0 => passes,
            digits => digits as u32,
        };
        Ok(Report {
            engine: plan.engine,
            algorithm: plan.algorithm,
            reason: Cow::Borrowed("asked for"),
            keys: shape.keys,
            threads: 1,
            passes_possible: possible,
            passes_run: passes,
            workspace_bytes: plan.workspace_bytes,
            stages: vec![(Stage::Scatter, start.elapsed())],
            ..Report::default()
        })
    }
}

impl CudaEngine {
    fn unknown(&self) -> Error {
        Error::Unsupported {
            engine: self.name(),
            what: "this kind of task".into(),
            instead: "keys, pairs or argsort of 32 or 64 bits".into(),
        }
    }
}

/// Refuses two lengths that differ.
fn same_length(keys: usize, others: usize, what: &'static str) -> Result<()> {
    if keys == others {
        Ok(())
    } else {
        Err(Error::LengthMismatch { keys, others, what })
    }
}
