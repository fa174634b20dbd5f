//! Onesweep, lowest digit first: the sort for all that is not whole keys alone, with kernels for every
//! width of keys.
//!
//! | n | what is launched |
//! |---|---|
//! | to 1024 | `tiny`: one block, a key a thread, compared |
//! | to a block's shared memory | `small`: one block, all passes |
//! | beyond | zeros, `histograms`, `begins`, then `pass` once for each digit |
//!
//! Which passes have anything to do is found out on the device; see `kernels/onesweep/begins.cuh`.

mod task;

use std::sync::Arc;

use sweepsort_core::{Codec, Spec, Stage, Width, Word, with_width};

use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid, Kernel, Module};
use crate::memory::{Layout, Slice, SliceMut, Span};
use crate::plan::Ran;
use crate::shapes::{KernelShape, Shapes};
use crate::stream::{Clock, Stream, end};
use task::{APART, IN_PLACE, INDEX, OTHER, RECORDS, RESULT, Route, SCRATCH, SOURCE, Task};

/// Bits of a digit, and how many values it has.
pub const RADIX_BITS: u32 = 8;
const RADIX: usize = 1 << RADIX_BITS;

/// Keys that are compared rather than counted, at most.
pub const TINY: usize = 1024;

/// Threads of a warp.
const WARP: u32 = 32;

/// Counts of look-back have 30 bits, so a launch takes fewer keys.
const PORTION_KEYS: usize = (1 << 30) - 1;

/// What travels with the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Nothing.
    None,
    /// A value of so many bytes: 4, 8 or 16.
    Value(usize),
    /// The key's position, in 4 or 8 bytes.
    Index(usize),
}

impl Payload {
    fn bytes(self) -> usize {
        match self {
            Payload::None => 0,
            Payload::Value(bytes) | Payload::Index(bytes) => bytes,
        }
    }
}

/// Where a sort's keys and values lie; 0 for none. In place where both keys are the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    /// The keys.
    pub keys: u64,
    /// Where they go; for an index, nowhere.
    pub keys_to: u64,
    /// The values.
    pub values: u64,
    /// Where they go, or the index.
    pub values_to: u64,
}

impl Places {
    /// Of keys alone.
    pub fn of_keys(keys: u64, keys_to: u64) -> Places {
        Places {
            keys,
            keys_to,
            ..Places::default()
        }
    }
}

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct Sweep {
    n: usize,
    width: Width,
    payload: Payload,
    codec: Codec,
    bits: (u32, u32),
    /// Whether launches may begin before the one in front has ended; the kernels then wait for its
    /// end by themselves.
    dependent: bool,
    method: Method,
}

#[derive(Clone, Debug)]
enum Method {
    Nothing,
    /// One launch of one block, whose threads compare keys.
    Tiny {
        kernel: Arc<Kernel>,
        threads: u32,
    },
    /// One launch of one block that goes through all passes.
    Small {
        kernel: Arc<Kernel>,
        threads: u32,
        shared_bytes: u32,
    },
    Passes(Box<Passes>),
}

/// The kernels, their grids, and the workspace.
#[derive(Clone, Debug)]
struct Passes {
    histograms: (Arc<Kernel>, Grid),
    begins: Arc<Kernel>,
    pass: Arc<Kernel>,
    shape: KernelShape,
    /// Blocks of a pass that run at the same time.
    blocks: u32,
    tiles: u32,
    portion_tiles: u32,
    portions: u32,
    arrays: Arrays,
}

/// The image's table of shapes: of the histograms, then for each payload wide, narrow and small.
const SHAPES: &str = "onesweep_shapes";
const HISTOGRAMS: usize = 0;
const WIDE: usize = 1;
const NARROW: usize = 2;
const SMALL: usize = 3;

/// The kernels for a payload: their place among the shapes, and the names of those of a pass.
#[derive(Clone, Copy)]
struct Kernels {
    row: usize,
    wide: &'static str,
    narrow: &'static str,
}

impl Kernels {
    /// Of keys alone, of which all bits or some decide; of values. Narrow keys have one for both.
    fn of(width: Width, payload: Payload, whole: bool) -> Option<Kernels> {
        let apart = whole && width.bits() > 16;
        let (row, wide, narrow) = match (payload.bytes(), apart) {
            (0, true) => (0, "pass_0_wide", "pass_0_narrow"),
            (0, false) => (1, "pass_0_range_wide", "pass_0_narrow"),
            (4, _) => (2, "pass_4_wide", "pass_4_narrow"),
            (8, _) => (3, "pass_8_wide", "pass_8_narrow"),
            (16, _) => (4, "pass_16_wide", "pass_16_narrow"),
            _ => return None,
        };
        Some(Kernels { row, wide, narrow })
    }

    /// The row of one of its shapes.
    fn shape(self, which: usize) -> usize {
        3 * self.row + which
    }
}

/// The workspace's arrays. The first two begin as zeros; `histograms` clears the states.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    histograms: Span<u64>,
    tickets: Span<u32>,
    zeros: Span<u8>,
    states: Span<u32>,
    begins: Span<u64>,
    routes: Span<Route>,
    /// Keys, or records of keys and values, twice; the second may be empty.
    keys: [Span<u8>; 2],
    values: [Span<u8>; 2],
    bytes: usize,
}

impl Sweep {
    /// Decides; loads the kernels if that has not been done.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::NoKernel`] for a payload of other bytes.
    pub fn new(
        device: &Device,
        n: usize,
        width: Width,
        payload: Payload,
        spec: &Spec,
    ) -> Result<Sweep> {
        let image = Image::of(Kind::Onesweep, width.bits()).unwrap_or(Image::ALL[0]);
        let module = device.module(image)?;
        let shapes = Shapes::of(&module, SHAPES)?;
        let bits = (spec.bits.start, spec.bits.end);
        let whole = bits == (0, width.bits());
        let kernels = Kernels::of(width, payload, whole).ok_or_else(|| Error::NoKernel {
            image: image.to_string(),
            kernel: format!("pass with values of {} bytes", payload.bytes()),
        })?;
        let small = shapes.get(kernels.shape(SMALL))?;
        let mut sweep = Sweep {
            n,
            width,
            payload,
            codec: spec.codec,
            bits,
            dependent: device.facts().kernels_wait(),
            method: Method::Nothing,
        };
        sweep.method = match n {
            0 => Method::Nothing,
            1..=TINY => Method::Tiny {
                kernel: module.kernel("tiny")?,
                threads: tiny_threads(n),
            },
            _ if n <= small.tile as usize => Method::Small {
                kernel: module.kernel(&format!("small_{}", payload.bytes()))?,
                threads: small_threads(n, small),
                shared_bytes: small.shared_bytes,
            },
            _ => {
                let passes = Passes::new(device, &module, &shapes, kernels, &sweep)?;
                Method::Passes(Box::new(passes))
            }
        };
        Ok(sweep)
    }

    /// Ranks by a kernel that is wrong on purpose, for the proof that a wrong tile is found and ranked
    /// again. Of 32-bit keys alone or with values of 4 bytes; others stay as they are.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn disordered(mut self, device: &Device) -> Result<Sweep> {
        let name = match (&self.method, self.width, self.payload.bytes()) {
            (Method::Passes(_), Width::W32, 0) => "disordered_0",
            (Method::Passes(_), Width::W32, 4) => "disordered_4",
            _ => return Ok(self),
        };
        let image = Image::of(Kind::Onesweep, self.width.bits()).unwrap_or(Image::ALL[0]);
        let module = device.module(image)?;
        let kernels =
            Kernels::of(self.width, self.payload, true).ok_or_else(|| Error::NoKernel {
                image: image.to_string(),
                kernel: name.to_owned(),
            })?;
        let shape = Shapes::of(&module, SHAPES)?.get(kernels.shape(NARROW))?;
        let renewed = Passes::with(device, &module, name, shape, &self)?;
        self.method = Method::Passes(Box::new(renewed));
        Ok(self)
    }

    /// Whether one launch of one block does it all, without a workspace.
    pub fn is_one_block(&self) -> bool {
        !matches!(self.method, Method::Passes(_))
    }

    /// Digits that the bits have.
    pub fn digits(&self) -> u32 {
        (self.bits.1 - self.bits.0).div_ceil(RADIX_BITS)
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        match &self.method {
            Method::Nothing | Method::Tiny { .. } | Method::Small { .. } => 0,
            Method::Passes(passes) => passes.arrays.bytes,
        }
    }

    /// Bytes at the workspace's start that begin as zeros.
    pub fn zero_bytes(&self) -> usize {
        match &self.method {
            Method::Nothing | Method::Tiny { .. } | Method::Small { .. } => 0,
            Method::Passes(passes) => passes.arrays.zeros.len(),
        }
    }

    fn is_index(&self) -> bool {
        matches!(self.payload, Payload::Index(_))
    }

    /// Whether keys and values lie together between the first and the last move: as long as each
    /// other, they are then read and written at once.
    fn records(&self) -> bool {
        self.payload.bytes() == self.width.bytes()
    }

    /// Whether keys go to and fro within the workspace alone.
    fn apart(&self) -> bool {
        self.records() || self.is_index()
    }

    /// Passes that are launched: one for each digit and, in place, one more that has no bits where
    /// keys could else not end where they began.
    fn passes(&self, in_place: bool) -> u32 {
        let digits = self.digits().max(1);
        match (in_place, self.apart()) {
            (false, _) => digits,
            (true, false) => digits.next_multiple_of(2),
            (true, true) => digits.max(2),
        }
    }

    /// Puts the sort into the stream.
    ///
    /// # Errors
    /// [`Error::Launch`], [`Error::Driver`], [`Error::Range`] for a workspace that is too small.
    ///
    /// # Safety
    /// The places are those of `n` keys and values each, aligned to their sizes, on the stream's
    /// device; nobody else uses them or the workspace before the sort is done.
    pub unsafe fn enqueue(
        &self,
        stream: &Stream,
        places: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        with_width!(self.width, |W| unsafe {
            self.enqueue_words::<W>(0, stream, places, workspace, clock)
        })
    }

    /// As [`enqueue`](Self::enqueue), of a sort by passes that does nothing unless the word at the
    /// address `go` is 1 when its turn comes. Somebody before it has cleared the
    /// [`zero_bytes`](Self::zero_bytes).
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there; `go` is the address of a word on the device.
    pub unsafe fn enqueue_if(
        &self,
        go: u64,
        stream: &Stream,
        places: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        with_width!(self.width, |W| unsafe {
            self.enqueue_words::<W>(go, stream, places, workspace, clock)
        })
    }

    /// # Safety
    /// As [`enqueue`](Self::enqueue), and with an address as [`enqueue_if`](Self::enqueue_if).
    unsafe fn enqueue_words<W: Word>(
        &self,
        go: u64,
        stream: &Stream,
        places: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        let in_place = places.keys == places.keys_to;
        if in_place && self.digits() == 0 {
            return Ok(());
        }
        let mut task = self.task::<W>(places, in_place);
        task.go = go;
        let next = |grid: Grid| grid.dependent_if(self.dependent);
        let passes = match &self.method {
            Method::Nothing => return Ok(()),
            Method::Passes(passes) => passes,
            Method::Tiny { kernel, threads } => {
                let bytes = self.payload.bytes() as u32;
                let arguments = args![Argument::plain(&task), bytes];
                // SAFETY: the caller's promise; one block stays within n keys.
                unsafe { stream.launch(kernel, next(Grid::new(1, *threads)), arguments)? };
                return end(clock, Stage::Local, stream);
            }
            Method::Small {
                kernel,
                threads,
                shared_bytes,
            } => {
                task.passes = self.digits();
                let grid = next(Grid::new(1, *threads).shared(*shared_bytes));
                // SAFETY: as above.
                unsafe { stream.launch(kernel, grid, args![Argument::plain(&task)])? };
                return end(clock, Stage::Local, stream);
            }
        };
        passes.locate(&mut task, workspace)?;
        let (histograms, grid) = &passes.histograms;
        let grid = if go == 0 {
            let zeros = passes.arrays.zeros;
            // SAFETY: the workspace has so many bytes, which this sort alone uses.
            let zeroed = unsafe { SliceMut::from_raw(zeros.within(workspace)?, zeros.len()) };
            stream.fill(zeroed, 0)?;
            *grid
        } else {
            next(*grid)
        };
        // SAFETY: the caller's promise, and the arrays of the workspace have the kernels' shapes.
        unsafe {
            stream.launch(histograms, grid, args![Argument::plain(&task)])?;
            end(clock, Stage::Histogram, stream)?;
            let grid = next(Grid::new(1, RADIX as u32));
            stream.launch(&passes.begins, grid, args![Argument::plain(&task)])?;
        }
        end(clock, Stage::Scan, stream)?;
        for pass in 0..task.passes {
            for portion in 0..passes.portions {
                let left = passes.tiles - portion * passes.portion_tiles;
                let blocks = left.min(passes.portion_tiles).min(passes.blocks);
                let grid = next(passes.shape.grid(blocks));
                let arguments = args![Argument::plain(&task), pass, portion];
                // SAFETY: as above.
                unsafe { stream.launch(&passes.pass, grid, arguments)? };
            }
        }
        end(clock, Stage::Scatter, stream)
    }

    fn task<W: Word>(&self, places: Places, in_place: bool) -> Task<W> {
        let flag = |flag, is| if is { flag } else { 0 };
        let mut task = Task {
            keys: [0; 4],
            values: [0; 4],
            n: self.n as u64,
            histograms: 0,
            begins: 0,
            routes: 0,
            tickets: 0,
            states: 0,
            go: 0,
            begin_bit: self.bits.0,
            end_bit: self.bits.1,
            passes: self.passes(in_place),
            tiles: 0,
            portion_tiles: 0,
            portions: 0,
            flags: flag(IN_PLACE, in_place)
                | flag(INDEX, self.is_index())
                | flag(APART, self.is_index())
                | flag(RECORDS, self.records()),
            codec: self.codec.coder::<W>().into(),
        };
        (task.keys[SOURCE], task.keys[RESULT]) = (places.keys, places.keys_to);
        (task.values[SOURCE], task.values[RESULT]) = (places.values, places.values_to);
        task
    }

    /// What the last sort that used this workspace did. Waits for the stream.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Range`].
    pub fn ran(&self, stream: &Stream, workspace: &SliceMut<'_, u8>) -> Result<Ran> {
        let ran = |passes| Ran {
            algorithm: Algorithm::Onesweep.name(),
            passes,
        };
        let Method::Passes(passes) = &self.method else {
            return Ok(ran(self.digits()));
        };
        let routes = passes.arrays.routes.within(workspace)?;
        let mut found = vec![Route::default(); self.digits() as usize];
        // SAFETY: there are more routes than digits in the workspace.
        let written = unsafe { Slice::from_raw(routes, found.len()) };
        stream.read(written, &mut found)?;
        let sorts = found.iter().filter(|route| route.does == Route::SORTS);
        Ok(ran(sorts.count() as u32))
    }
}

impl Passes {
    fn new(
        device: &Device,
        module: &Module,
        shapes: &Shapes,
        kernels: Kernels,
        sweep: &Sweep,
    ) -> Result<Passes> {
        let wide = shapes.get(kernels.shape(WIDE))?;
        let multiprocessors = device.facts().multiprocessors as usize;
        // Where not every other multiprocessor would have a tile, there are more of narrow ones.
        let is_wide = 2 * sweep.n >= wide.tile as usize * multiprocessors;
        let (shape, pass) = match is_wide {
            true => (wide, kernels.wide),
            false => (shapes.get(kernels.shape(NARROW))?, kernels.narrow),
        };
        Self::with(device, module, pass, shape, sweep)
    }

    /// With this kernel for the passes.
    fn with(
        device: &Device,
        module: &Module,
        pass: &str,
        shape: KernelShape,
        sweep: &Sweep,
    ) -> Result<Passes> {
        let facts = device.facts();
        let too_many = || Error::Range {
            what: "tiles of a sort",
            got: sweep.n / shape.tile as usize,
            have: u32::MAX as usize,
        };
        let tiles = u32::try_from(sweep.n.div_ceil(shape.tile as usize)).map_err(|_| too_many())?;
        let portion_tiles = (PORTION_KEYS / shape.tile as usize) as u32;
        let portions = tiles.div_ceil(portion_tiles);
        let counting = Shapes::of(module, SHAPES)?.get(HISTOGRAMS)?;
        let histograms = module.kernel("histograms")?;
        let blocks = sweep.n.div_ceil(counting.tile as usize);
        let blocks = blocks.min(counting.together(&histograms, facts)? as usize) as u32;
        let grid = counting.grid(blocks);
        let pass = module.kernel(pass)?;
        Ok(Passes {
            histograms: (histograms, grid),
            begins: module.kernel("begins")?,
            blocks: shape.together(&pass, facts)?,
            pass,
            shape,
            tiles,
            portion_tiles,
            portions,
            arrays: Arrays::of(sweep, tiles, portions),
        })
    }

    /// Fills in where the workspace's arrays lie.
    fn locate<W>(&self, task: &mut Task<W>, workspace: &SliceMut<'_, u8>) -> Result<()> {
        let arrays = &self.arrays;
        task.histograms = arrays.histograms.within(workspace)?.address();
        task.begins = arrays.begins.within(workspace)?.address();
        task.routes = arrays.routes.within(workspace)?.address();
        task.tickets = arrays.tickets.within(workspace)?.address();
        task.states = arrays.states.within(workspace)?.address();
        for (slot, which) in [(SCRATCH, 0), (OTHER, 1)] {
            task.keys[slot] = arrays.keys[which].within(workspace)?.address();
            task.values[slot] = arrays.values[which].within(workspace)?.address();
        }
        task.tiles = self.tiles;
        task.portion_tiles = self.portion_tiles;
        task.portions = self.portions;
        Ok(())
    }
}

impl Arrays {
    fn of(sweep: &Sweep, tiles: u32, portions: u32) -> Arrays {
        let in_place = !sweep.is_index();
        let passes = sweep.passes(in_place) as usize;
        let tiles = tiles as usize;
        let portions = portions as usize;
        let mut layout = Layout::new();
        let histograms = layout.array(passes * RADIX);
        let tickets = layout.array(passes * portions);
        let zeros = layout.all();
        let states = layout.array(passes.saturating_mul(tiles).saturating_mul(RADIX));
        let begins = layout.array(passes * portions * RADIX);
        let routes = layout.array(passes);
        let (key, value) = (sweep.width.bytes(), sweep.payload.bytes());
        let (key, value) = match sweep.records() {
            true => (key + value, 0),
            false => (key, value),
        };
        // One move needs no scratch memory; with two, keys are there once.
        let used = match passes {
            1 => 0,
            2 => 1,
            _ if sweep.apart() => 2,
            _ => 1,
        };
        let (mut keys, mut values) = ([Span::EMPTY; 2], [Span::EMPTY; 2]);
        for slot in 0..used {
            keys[slot] = layout.array(sweep.n.saturating_mul(key));
            values[slot] = layout.array(sweep.n.saturating_mul(value));
        }
        Arrays {
            histograms,
            tickets,
            zeros,
            states,
            begins,
            routes,
            keys,
            values,
            bytes: layout.bytes(),
        }
    }
}

/// Threads for the one block of a tiny sort.
fn tiny_threads(n: usize) -> u32 {
    (n.next_power_of_two() as u32).max(WARP)
}

/// Threads for the one block of a small sort: no more than have work, for they wait for each other.
fn small_threads(n: usize, small: KernelShape) -> u32 {
    let most = small.threads;
    let items = small.tile / most;
    let mut threads = match n {
        0..=1024 => RADIX as u32,
        1025..=2048 => 2 * RADIX as u32,
        _ => 4 * RADIX as u32,
    }
    .min(most);
    while ((threads * items) as usize) < n {
        threads *= 2;
    }
    threads
}
