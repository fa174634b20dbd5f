//! The teaching texts' algorithms: words that lie on the device, and tasks on words of the host.

use std::sync::PoisonError;

use bytemuck::Pod;
use sweepsort_core::{
    Coder, DataState, Digit, Engine, Error, IndexMut, Plan, Result, Shape, Spec, Stage, Task,
    ValuesMut, Width, Words, WordsMut,
};

use super::CudaEngine;
use crate::args;
use crate::classic::{self, Algorithm, Key, Observer, Options, Records, Watch};
use crate::error::Result as DeviceResult;
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid};
use crate::memory::Buffer;
use crate::stream::{Clock, end};

/// How many passes ran, and whether the output came back to the host.
pub(super) type Ran = (u32, DeviceResult<()>);

/// The longest value that a task can have: one word of 16 bytes.
const MAX_VALUE_BYTES: usize = 16;

/// Keys a thread where each key is treated by itself, and threads of a block there.
const LANES: u32 = 4;
const THREADS: u32 = 256;

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

impl CudaEngine {
    /// The classic of that name.
    pub(super) fn classic(&self, name: &str) -> Result<Algorithm> {
        Algorithm::named(name).ok_or_else(|| Error::UnknownAlgorithm {
            engine: self.name(),
            name: name.to_owned(),
            known: self.algorithms().join(", "),
        })
    }

    pub(super) fn options<K: Key>(
        &self,
        algorithm: Algorithm,
        bits: std::ops::Range<u32>,
    ) -> Result<Options> {
        let own = Options::of::<K>(algorithm);
        let options = Options {
            bits,
            radix_bits: self.radix_bits.unwrap_or(own.radix_bits),
            block: self.block.unwrap_or(own.block),
            variant: self.variant,
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
                Observer::Watch(watch),
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
        let Ok(items) = u32::try_from(n) else {
            return Err(crate::Error::Range {
                what: "items of a kernel",
                got: n,
                have: u32::MAX as usize,
            });
        };
        let grid = Grid::new(items.div_ceil(LANES * THREADS), THREADS);
        // SAFETY: each caller below gives buffers of `n` items, which this sort alone uses.
        unsafe { self.stream.launch(&kernel, grid, arguments) }
    }

    /// Turns words on the device into their codes.
    ///
    /// # Errors
    /// What the device fails at.
    pub fn encode<K: Key>(&self, words: &mut Buffer<K>, coder: &Coder<K>) -> DeviceResult<()> {
        self.code("encode", words, coder)
    }

    fn code<K: Key>(&self, name: &str, keys: &mut Buffer<K>, coder: &Coder<K>) -> DeviceResult<()> {
        if coder.is_identity() {
            return Ok(());
        }
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

    /// Items of `bytes` bytes each from where the positions say: `to[i] =
    /// from[positions[i]]`, with as many items as positions. An item is one or more `T`.
    ///
    /// # Errors
    /// What the device fails at.
    ///
    /// # Safety
    /// `from` has an item at every position.
    pub unsafe fn gather<T: Pod>(
        &self,
        from: &Buffer<T>,
        positions: &Buffer<u32>,
        bytes: usize,
    ) -> DeviceResult<Buffer<T>> {
        let n = positions.len();
        let mut to = self.stream.alloc::<T>(n * (bytes / size_of::<T>()))?;
        if bytes > 0 {
            let image = Image::of(Kind::Gather, u32::BITS).unwrap_or(Image::ALL[0]);
            let kernel = self.device.module(image)?.kernel("gather")?;
            let blocks = n
                .div_ceil((LANES * THREADS) as usize)
                .min(i32::MAX as usize);
            let grid = Grid::new(blocks as u32, THREADS);
            let arguments = args![from, positions, &mut to, n as u64, bytes as u32];
            // SAFETY: `from` has an item at every position, by the caller; `to` has as many.
            unsafe { self.stream.launch(&kernel, grid, arguments)? };
        }
        Ok(to)
    }

    /// Sorts words that lie on the device. Returns them, and how many passes there were.
    ///
    /// It only enqueues, but for `split`, which waits once to learn how many passes it takes. What was
    /// put into other streams to make the words must be done.
    ///
    /// # Errors
    /// [`crate::Error::Launch`] for parameters that the algorithm does not take,
    /// [`crate::Error::OutOfMemory`], and what else the device fails at. The words are lost then.
    pub fn sort_resident<K: Key>(
        &self,
        mut words: Buffer<K>,
        spec: &Spec,
        mut clock: Option<&mut Clock>,
    ) -> DeviceResult<(Buffer<K>, u32)> {
        let coder: Coder<K> = spec.codec.coder();
        self.encode(&mut words, &coder)?;
        end(&mut clock, Stage::Encode, &self.stream)?;
        let mut records = Records::new(&self.stream, words, None)?;
        let passes = self.sort_codes(&mut records, spec, &mut clock)?;
        self.code("decode", &mut records.keys, &coder)?;
        end(&mut clock, Stage::Encode, &self.stream)?;
        Ok((records.keys, passes))
    }

    /// The index that sorts words which lie on the device, ties in the words' order, and how many
    /// passes there were. It waits as [`sort_resident`](Self::sort_resident) does.
    ///
    /// # Errors
    /// As there.
    pub fn argsort_resident<K: Key>(
        &self,
        words: &Buffer<K>,
        spec: &Spec,
        mut clock: Option<&mut Clock>,
    ) -> DeviceResult<(Buffer<u32>, u32)> {
        let mut codes = self.stream.copied(words)?;
        self.encode(&mut codes, &spec.codec.coder())?;
        let positions = self.positions(codes.len())?;
        end(&mut clock, Stage::Encode, &self.stream)?;
        let mut records = Records::new(&self.stream, codes, Some(positions))?;
        let passes = self.sort_codes(&mut records, spec, &mut clock)?;
        match records.payload {
            Some(positions) => Ok((positions, passes)),
            None => unreachable!("positions were given"),
        }
    }

    /// Sorts words that lie on the device, and values of `value_bytes` bytes each with them; ties
    /// stay in order. Returns both, and how many passes there were. It waits as
    /// [`sort_resident`](Self::sort_resident) does.
    ///
    /// # Errors
    /// As there; [`crate::Error::Range`] where there are not as many values as words.
    pub fn sort_pairs_resident<K: Key>(
        &self,
        words: &Buffer<K>,
        values: &Buffer<u8>,
        value_bytes: usize,
        spec: &Spec,
        mut clock: Option<&mut Clock>,
    ) -> DeviceResult<(Buffer<K>, Buffer<u8>, u32)> {
        if values.len() != words.len() * value_bytes {
            return Err(crate::Error::Range {
                what: "bytes of values",
                got: values.len(),
                have: words.len() * value_bytes,
            });
        }
        let (positions, passes) = self.argsort_resident(words, spec, clock.as_deref_mut())?;
        // Codes that tie have lost what told the words apart, so the words are fetched, too.
        // SAFETY: the positions are those of the words, and there are as many values.
        let (sorted, moved) = unsafe {
            (
                self.gather(words, &positions, size_of::<K>())?,
                self.gather(values, &positions, value_bytes)?,
            )
        };
        end(&mut clock, Stage::Gather, &self.stream)?;
        Ok((sorted, moved, passes))
    }

    fn sort_codes<K: Key>(
        &self,
        records: &mut Records<K>,
        spec: &Spec,
        clock: &mut Option<&mut Clock>,
    ) -> DeviceResult<u32> {
        let refused = |error: Error| crate::Error::Launch {
            kernel: spec.algorithm.to_string(),
            why: error.to_string(),
        };
        let algorithm = self.classic(&spec.algorithm).map_err(refused)?;
        let options = self.options::<K>(algorithm, spec.bits.clone());
        let options = options.map_err(refused)?;
        let mut sides = self.sides.lock().unwrap_or_else(PoisonError::into_inner);
        let observer = match clock {
            Some(clock) => Observer::Clock(clock),
            None => Observer::Nobody,
        };
        classic::sort(
            &self.stream,
            &mut sides,
            algorithm,
            records,
            &options,
            observer,
        )
    }

    fn sort_keys<K: Key>(
        &self,
        keys: &mut [K],
        spec: &Spec,
        clock: &mut Clock,
    ) -> DeviceResult<Ran> {
        let words = self.stream.upload(keys)?;
        clock.end(Stage::Transfer, &self.stream)?;
        let (sorted, passes) = self.sort_resident(words, spec, Some(clock))?;
        // A failure before this is one before the caller's data is written to.
        self.stream.synchronize()?;
        Ok((passes, self.stream.read(&sorted, keys)))
    }

    fn sort_pairs<K: Key>(
        &self,
        keys: &mut [K],
        mut values: ValuesMut<'_>,
        spec: &Spec,
        clock: &mut Clock,
    ) -> DeviceResult<Ran> {
        let (n, value_bytes) = (keys.len(), values.value_bytes());
        // SAFETY: there are so many bytes, borrowed as long as `values`. Padding may be
        // uninitialised: it is copied, and never looked at.
        let bytes = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr(), n * value_bytes) };
        let (from, moving) = (self.stream.upload(keys)?, self.stream.upload(bytes)?);
        clock.end(Stage::Transfer, &self.stream)?;
        let (sorted, moved, passes) =
            self.sort_pairs_resident(&from, &moving, value_bytes, spec, Some(clock))?;
        self.stream.synchronize()?;
        let read = self.stream.read(&sorted, keys);
        Ok((passes, read.and_then(|()| self.stream.read(&moved, bytes))))
    }

    fn argsort<K: Key>(
        &self,
        keys: &[K],
        index: IndexMut<'_>,
        spec: &Spec,
        clock: &mut Clock,
    ) -> DeviceResult<Ran> {
        let words = self.stream.upload(keys)?;
        clock.end(Stage::Transfer, &self.stream)?;
        let (positions, passes) = self.argsort_resident(&words, spec, Some(clock))?;
        let read = match index {
            IndexMut::U32(index) => {
                self.stream.synchronize()?;
                self.stream.read(&positions, index)
            }
            IndexMut::U64(index) => {
                let positions = self.stream.download(&positions)?;
                for (to, from) in index.iter_mut().zip(positions) {
                    *to = u64::from(from);
                }
                Ok(())
            }
        };
        Ok((passes, read))
    }

    /// What a classic would do.
    pub(super) fn plan_classic(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
        self.supported(shape)?;
        let algorithm = self.classic(&spec.algorithm)?;
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

    /// Runs a task by a classic.
    pub(super) fn run_classic(
        &self,
        task: Task<'_>,
        spec: &Spec,
        clock: &mut Clock,
    ) -> Result<Ran> {
        let ran = match task {
            Task::Keys(WordsMut::W32(keys)) => self.sort_keys(keys, spec, clock),
            Task::Keys(WordsMut::W64(keys)) => self.sort_keys(keys, spec, clock),
            Task::Pairs(WordsMut::W32(keys), values) => self.sort_pairs(keys, values, spec, clock),
            Task::Pairs(WordsMut::W64(keys), values) => self.sort_pairs(keys, values, spec, clock),
            Task::Argsort(Words::W32(keys), index) => self.argsort(keys, index, spec, clock),
            Task::Argsort(Words::W64(keys), index) => self.argsort(keys, index, spec, clock),
            _ => {
                return Err(Error::Unsupported {
                    engine: self.name(),
                    what: "this kind of task".into(),
                    instead: "keys, pairs or argsort of 32 or 64 bits".into(),
                });
            }
        };
        ran.map_err(|error| error.into_core(DataState::Untouched))
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
