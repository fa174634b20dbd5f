//! Onesweep, lowest digit first: the sort for all that is not whole keys alone, with kernels for every
//! width of keys.
//!
//! | n | what is launched |
//! |---|---|
//! | to 1024 | `tiny`: one block, a key a thread, compared |
//! | to 5500 of 8 and 16 bits, if a block has room | `small`: one block, all passes |
//! | to 2^20, if there is room | zeros, `together`: blocks that wait for each other |
//! | beyond | zeros, `histograms`, then `pass` once for each digit, or `passes` once: blocks that wait for each other |
//!
//! Which passes have anything to do is found out on the device; see `kernels/onesweep/begins.cuh`.

mod task;
mod tuning;

use std::sync::Arc;

use sweepsort_core::{Codec, Shape, Spec, Stage, Width, Word, with_width};

use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid, Kernel, Launch, Module};
use crate::memory::{Layout, Slice, SliceMut, Span};
use crate::plan::Ran;
use crate::shapes::{KernelShape, Shapes};
use crate::stream::{Clock, Stream, end};
pub use task::Cells;
use task::{APART, Agreed, IN_PLACE, INDEX, OTHER, RECORDS, RESULT, Route, SCRATCH, SOURCE, Task};
use tuning::MOST_TOGETHER;
pub use tuning::Tuning;

/// Bits of a digit, and how many values it has.
pub const RADIX_BITS: u32 = 8;
const RADIX: usize = 1 << RADIX_BITS;

/// Keys that are compared rather than counted, at most.
const TINY: usize = 1024;

/// Threads of a warp.
const WARP: u32 = 32;

/// Counts of look-back have 30 bits, so a launch takes fewer keys.
const PORTION_KEYS: usize = (1 << 30) - 1;

/// Blocks of a group, of which each has a word for all of them; `kernels/onesweep/together.cuh` has the
/// same.
const GROUP: u32 = 12;

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
    /// What travels with keys of this shape; `None` where keys and values follow an index instead: values
    /// of other sizes, and codes that tie, which cannot be turned back into the keys.
    pub fn of(shape: &Shape, spec: &Spec) -> Option<Payload> {
        match (shape.argsort, shape.payload_bytes) {
            (true, bytes) => Some(Payload::Index(bytes)),
            (false, _) if spec.codec.ties => None,
            (false, 0) => Some(Payload::None),
            (false, bytes @ (4 | 8 | 16)) => Some(Payload::Value(bytes)),
            (false, _) => None,
        }
    }

    /// An index of so many keys that keys and values can follow.
    pub fn index_of(n: usize) -> Payload {
        Payload::Index(if n <= 1 << 32 { 4 } else { 8 })
    }

    pub fn bytes(self) -> usize {
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

    /// Whether nothing is written where something is read.
    pub fn are_apart(&self) -> bool {
        let read = [self.keys, self.values];
        let written = [self.keys_to, self.values_to];
        written.iter().all(|to| *to == 0 || !read.contains(to))
    }
}

/// A hybrid sort that is enqueued in front, and decides on the device what a onesweep does.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    /// The address of two words: 1 where the onesweep is to sort, or 2 where it is to sort in place so many
    /// keys as the second says, of those where the [`rest`](Sweep::rest) lies.
    pub go: u64,
    /// Where it is to move keys by the digits of these cells if it is not to sort.
    pub cells: Option<Cells>,
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
    /// Whether keys and values lie together between the first and the last move.
    records: bool,
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
    /// One launch of blocks that wait for each other.
    Together(Box<Together>),
    Passes(Box<Passes>),
}

/// The kernel, its grid, and the workspace.
#[derive(Clone, Debug)]
struct Together {
    launch: Launch,
    arrays: Arrays,
}

/// The kernels, their grids, and the workspace.
#[derive(Clone, Debug)]
struct Passes {
    histograms: (Arc<Kernel>, Grid),
    kernel: Arc<Kernel>,
    /// Whether one launch of it goes through all passes.
    at_once: bool,
    shape: KernelShape,
    /// Blocks that run at the same time.
    blocks: u32,
    tiles: u32,
    portion_tiles: u32,
    portions: u32,
    arrays: Arrays,
}

/// The image's table of shapes: of the histograms, then for each payload wide, together and small, which is
/// of no keys where there is no such kernel; in the end disordered, of keys alone and with values.
const SHAPES: &str = "onesweep_shapes";
const HISTOGRAMS: usize = 0;
const WIDE: usize = 1;
const TOGETHER: usize = 2;
const SMALL: usize = 3;
const DISORDERED: [usize; 2] = [16, 17];

/// The kernels for a payload: their place among the shapes, and their names.
#[derive(Clone, Copy)]
struct Kernels {
    row: usize,
    wide: &'static str,
    /// Of one launch for all passes, if there is one.
    at_once: Option<&'static str>,
    together: &'static str,
}

impl Kernels {
    /// Of keys alone, of which all bits or some decide; of values. Blocks that wait for each other sort
    /// both alike.
    fn of(width: Width, payload: Payload, whole: bool) -> Option<Kernels> {
        let apart = whole && width.bits() > 16;
        let (row, wide, together) = match (payload.bytes(), apart) {
            (0, true) => (0, "pass_0", "together_0"),
            (0, false) => (1, "pass_0_range", "together_0"),
            (4, _) => (2, "pass_4", "together_4"),
            (8, _) => (3, "pass_8", "together_8"),
            (16, _) => (4, "pass_16", "together_16"),
            _ => return None,
        };
        Some(Kernels {
            row,
            wide,
            at_once: (row == 0).then_some("passes_0"),
            together,
        })
    }

    /// With their module and its shapes.
    fn find(
        device: &Device,
        width: Width,
        payload: Payload,
        whole: bool,
    ) -> Result<(Arc<Module>, Shapes, Kernels)> {
        let image = Image::of(Kind::Onesweep, width.bits()).unwrap_or(Image::ALL[0]);
        let module = device.module(image)?;
        let shapes = Shapes::of(&module, SHAPES)?;
        let kernels = Kernels::of(width, payload, whole).ok_or_else(|| Error::NoKernel {
            image: image.to_string(),
            kernel: format!("pass with values of {} bytes", payload.bytes()),
        })?;
        Ok((module, shapes, kernels))
    }

    /// The row of one of its shapes.
    fn shape(self, which: usize) -> usize {
        3 * self.row + which
    }
}

/// The workspace's arrays. The first three begin as zeros; the first kernel clears the states. Blocks
/// that wait for each other have no use for histograms, tickets and begins.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    agreed: Span<Agreed>,
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
        let bits = (spec.bits.start, spec.bits.end);
        let whole = bits == (0, width.bits());
        let (module, shapes, kernels) = Kernels::find(device, width, payload, whole)?;
        let small = shapes.get(kernels.shape(SMALL))?;
        let tuning = device.tuned(Tuning::of(payload));
        let mut sweep = Sweep {
            n,
            width,
            payload,
            codec: spec.codec,
            bits,
            dependent: device.facts().kernels_wait(),
            records: false,
            method: Method::Nothing,
        };
        sweep.method = match n {
            0 => Method::Nothing,
            1..=TINY => Method::Tiny {
                kernel: module.kernel("tiny")?,
                threads: tiny_threads(n),
            },
            _ if n <= tuning.one_block.min(small.tile as usize) => Method::Small {
                kernel: module.kernel(&format!("small_{}", payload.bytes()))?,
                threads: small_threads(n, small),
                shared_bytes: small.shared_bytes,
            },
            _ => match Together::new(device, &module, &shapes, kernels, &sweep)? {
                Some(together) => Method::Together(Box::new(together)),
                None => {
                    let shape = shapes.get(kernels.shape(WIDE))?;
                    sweep.by_passes(device, &module, kernels.wide, kernels.at_once, shape)?;
                    return Ok(sweep);
                }
            },
        };
        Ok(sweep)
    }

    /// By passes, however few keys there are, that can move keys by the digits of cells; of one key at
    /// least, and fewer than 2^30.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn over_cells(
        device: &Device,
        n: usize,
        width: Width,
        payload: Payload,
        spec: &Spec,
    ) -> Result<Sweep> {
        let mut sweep = Self::new(device, n, width, payload, spec)?;
        if !matches!(sweep.method, Method::Passes(_)) {
            let (module, shapes, kernels) = Kernels::find(device, width, payload, true)?;
            let shape = shapes.get(kernels.shape(WIDE))?;
            sweep.by_passes(device, &module, kernels.wide, kernels.at_once, shape)?;
        }
        Ok(sweep)
    }

    /// By a launch of this kernel for each pass, or of the other, if there is one, for all at once.
    fn by_passes(
        &mut self,
        device: &Device,
        module: &Module,
        pass: &str,
        at_once: Option<&str>,
        shape: KernelShape,
    ) -> Result<()> {
        self.records = self.payload.bytes() == self.width.bytes();
        let passes = Passes::with(device, module, pass, at_once, shape, self)?;
        self.method = Method::Passes(Box::new(passes));
        Ok(())
    }

    /// Sorts by passes with a ranker that is wrong on purpose, for the proof that a wrong tile is found
    /// and ranked again. Of 32-bit keys alone or with values of 4 bytes; others stay as they are.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn disordered(mut self, device: &Device) -> Result<Sweep> {
        let (name, row) = match (&self.method, self.width, self.payload.bytes()) {
            (Method::Nothing | Method::Tiny { .. } | Method::Small { .. }, ..) => return Ok(self),
            (_, Width::W32, 0) => ("disordered_0", DISORDERED[0]),
            (_, Width::W32, 4) => ("disordered_4", DISORDERED[1]),
            _ => return Ok(self),
        };
        let (module, shapes, _) = Kernels::find(device, self.width, self.payload, true)?;
        self.by_passes(device, &module, name, None, shapes.get(row)?)?;
        Ok(self)
    }

    /// Whether one launch of one block does it all, without a workspace.
    pub fn is_one_block(&self) -> bool {
        self.arrays().is_none()
    }

    /// Digits that the bits have.
    pub fn digits(&self) -> u32 {
        (self.bits.1 - self.bits.0).div_ceil(RADIX_BITS)
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        self.arrays().map_or(0, |arrays| arrays.bytes)
    }

    /// Bytes at the workspace's start that begin as zeros.
    pub fn zero_bytes(&self) -> usize {
        self.arrays().map_or(0, |arrays| arrays.zeros.len())
    }

    /// The arrays of the workspace, if it has one.
    fn arrays(&self) -> Option<&Arrays> {
        match &self.method {
            Method::Nothing | Method::Tiny { .. } | Method::Small { .. } => None,
            Method::Together(together) => Some(&together.arrays),
            Method::Passes(passes) => Some(&passes.arrays),
        }
    }

    fn is_index(&self) -> bool {
        matches!(self.payload, Payload::Index(_))
    }

    /// Whether keys go to and fro within the workspace alone.
    fn apart(&self) -> bool {
        self.records || self.is_index()
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
            self.enqueue_words::<W>(None, stream, places, workspace, clock)
        })
    }

    /// As [`enqueue`](Self::enqueue), of a sort with a workspace that does what the hybrid sort in front
    /// of it has decided when its turn comes. That one has cleared the
    /// [`zero_bytes`](Self::zero_bytes).
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there; what is in front has addresses on the device.
    pub unsafe fn enqueue_behind(
        &self,
        front: Front,
        stream: &Stream,
        places: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        with_width!(self.width, |W| unsafe {
            self.enqueue_words::<W>(Some(front), stream, places, workspace, clock)
        })
    }

    /// # Safety
    /// As [`enqueue`](Self::enqueue), or as [`enqueue_behind`](Self::enqueue_behind).
    unsafe fn enqueue_words<W: Word>(
        &self,
        front: Option<Front>,
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
        if let Some(front) = front {
            task.go = front.go;
            task.cells = front.cells.unwrap_or_default();
        }
        let next = |grid: Grid| grid.dependent_if(self.dependent);
        if let Some(arrays) = self.arrays() {
            arrays.locate(&mut task, workspace)?;
            if front.is_none() {
                // SAFETY: the workspace has so many bytes, which this sort alone uses.
                let zeros = unsafe {
                    SliceMut::from_raw(arrays.zeros.within(workspace)?, arrays.zeros.len())
                };
                stream.fill(zeros, 0)?;
            }
        }
        // What follows zeros does not begin early.
        let first = |grid: Grid| grid.dependent_if(self.dependent && front.is_some());
        let passes = match &self.method {
            Method::Nothing => return Ok(()),
            Method::Passes(passes) => passes,
            Method::Together(together) => {
                let (kernel, grid) = &together.launch;
                // SAFETY: the caller's promise, and the arrays of the workspace have the kernel's shapes.
                unsafe { stream.launch(kernel, first(*grid), args![Argument::plain(&task)])? };
                return end(clock, Stage::Scatter, stream);
            }
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
        passes.locate(&mut task);
        let (histograms, grid) = &passes.histograms;
        // SAFETY: the caller's promise, and the arrays of the workspace have the kernels' shapes.
        unsafe { stream.launch(histograms, first(*grid), args![Argument::plain(&task)])? };
        end(clock, Stage::Histogram, stream)?;
        if passes.at_once {
            let blocks = passes.tiles.min(passes.blocks);
            let grid = next(passes.shape.grid(blocks).cooperative());
            // SAFETY: as above.
            unsafe { stream.launch(&passes.kernel, grid, args![Argument::plain(&task)])? };
            return end(clock, Stage::Scatter, stream);
        }
        for pass in 0..task.passes {
            for portion in 0..passes.portions {
                let left = passes.tiles - portion * passes.portion_tiles;
                let blocks = left.min(passes.portion_tiles).min(passes.blocks);
                let grid = next(passes.shape.grid(blocks));
                let arguments = args![Argument::plain(&task), pass, portion];
                // SAFETY: as above.
                unsafe { stream.launch(&passes.kernel, grid, arguments)? };
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
            agreed: 0,
            go: 0,
            cells: Cells::default(),
            begin_bit: self.bits.0,
            end_bit: self.bits.1,
            passes: self.passes(in_place),
            tiles: 0,
            portion_tiles: 0,
            portions: 0,
            flags: flag(IN_PLACE, in_place)
                | flag(INDEX, self.is_index())
                | flag(APART, self.is_index())
                | flag(RECORDS, self.records),
            codec: self.codec.coder::<W>().into(),
        };
        (task.keys[SOURCE], task.keys[RESULT]) = (places.keys, places.keys_to);
        (task.values[SOURCE], task.values[RESULT]) = (places.values, places.values_to);
        task
    }

    /// Where a hybrid sort in front may leave up to `n` keys to be sorted, if this one can do that: it sorts
    /// keys alone, by passes.
    pub fn rest(&self) -> Option<Span<u8>> {
        match &self.method {
            Method::Passes(passes) if !self.apart() => Some(passes.arrays.keys[0]),
            _ => None,
        }
    }

    /// Where keys, or records, and values lie after two passes by the digits of cells.
    ///
    /// # Errors
    /// [`Error::Range`] for a workspace that is too small.
    pub fn moved(&self, places: Places, workspace: &SliceMut<'_, u8>) -> Result<(u64, u64)> {
        match &self.method {
            Method::Passes(passes) if self.apart() => {
                let Arrays { keys, values, .. } = &passes.arrays;
                let keys = keys[1].within(workspace)?.address();
                Ok((keys, values[1].within(workspace)?.address()))
            }
            _ => Ok((places.keys_to, places.values_to)),
        }
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
        let Some(arrays) = self.arrays() else {
            return Ok(ran(self.digits()));
        };
        let routes = arrays.routes.within(workspace)?;
        let mut found = vec![Route::default(); self.digits() as usize];
        // SAFETY: there are more routes than digits in the workspace.
        let written = unsafe { Slice::from_raw(routes, found.len()) };
        stream.read(written, &mut found)?;
        let sorts = found.iter().filter(|route| route.does == Route::SORTS);
        Ok(ran(sorts.count() as u32))
    }
}

impl Together {
    /// If there are not so many keys that passes are quicker.
    fn new(
        device: &Device,
        module: &Module,
        shapes: &Shapes,
        kernels: Kernels,
        sweep: &Sweep,
    ) -> Result<Option<Together>> {
        let tuning = device.tuned(Tuning::of(sweep.payload));
        let shape = shapes.get(kernels.shape(TOGETHER))?;
        let kernel = module.kernel(kernels.together)?;
        let most = shape.together(&kernel, device.facts())? as usize;
        let room = most * tuning.tiles * shape.tile as usize;
        if sweep.n > tuning.together.min(room).min(MOST_TOGETHER) {
            return Ok(None);
        }
        let blocks = sweep.n.div_ceil(tuning.block).min(most) as u32;
        let grid = shape.grid(blocks).cooperative();
        Ok(Some(Together {
            launch: (kernel, grid),
            arrays: Arrays::of_blocks(sweep, blocks),
        }))
    }
}

impl Passes {
    /// With this kernel for each pass, or the other for all at once, if there is one and it is as fast. PTX for older
    /// drivers has none.
    fn with(
        device: &Device,
        module: &Module,
        pass: &str,
        at_once: Option<&str>,
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
        let at_a_time = shape.together(&pass, facts)?;
        let tuning = device.tuned(Tuning::of(sweep.payload));
        let as_fast = tiles <= at_a_time || (tiles / at_a_time) as usize >= tuning.rounds_at_once;
        let at_once = at_once.filter(|_| portions == 1 && as_fast);
        let at_once = match at_once.map(|name| module.kernel(name)) {
            None | Some(Err(Error::NoKernel { .. })) => None,
            Some(found) => Some(found?),
        };
        let (at_once, kernel) = (at_once.is_some(), at_once.unwrap_or(pass));
        Ok(Passes {
            histograms: (histograms, grid),
            blocks: shape.together(&kernel, facts)?,
            at_once,
            kernel,
            shape,
            tiles,
            portion_tiles,
            portions,
            arrays: Arrays::of(sweep, tiles, portions),
        })
    }

    /// Fills in how many tiles there are.
    fn locate<W>(&self, task: &mut Task<W>) {
        task.tiles = self.tiles;
        task.portion_tiles = self.portion_tiles;
        task.portions = self.portions;
    }
}

impl Arrays {
    /// Of passes.
    fn of(sweep: &Sweep, tiles: u32, portions: u32) -> Arrays {
        Self::new(sweep, portions as usize, tiles as usize)
    }

    /// Of so many blocks that wait for each other.
    fn of_blocks(sweep: &Sweep, blocks: u32) -> Arrays {
        Self::new(sweep, 0, (blocks + blocks.div_ceil(GROUP)) as usize)
    }

    /// With so many portions, and rows of states for a pass.
    fn new(sweep: &Sweep, portions: usize, states: usize) -> Arrays {
        let in_place = !sweep.is_index();
        let passes = sweep.passes(in_place) as usize;
        let mut layout = Layout::new();
        let agreed = layout.array(1);
        let histograms = layout.array(passes * portions.min(1) * RADIX);
        let tickets = layout.array(passes * portions);
        let zeros = layout.all();
        let states = layout.array(passes.saturating_mul(states).saturating_mul(RADIX));
        let begins = layout.array(passes * portions * RADIX);
        let routes = layout.array(passes);
        // Records lie where keys and behind them values do.
        let (key, value) = (sweep.width.bytes(), sweep.payload.bytes());
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
            agreed,
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

    /// Fills in where they lie.
    fn locate<W>(&self, task: &mut Task<W>, workspace: &SliceMut<'_, u8>) -> Result<()> {
        task.agreed = self.agreed.within(workspace)?.address();
        task.histograms = self.histograms.within(workspace)?.address();
        task.begins = self.begins.within(workspace)?.address();
        task.routes = self.routes.within(workspace)?.address();
        task.tickets = self.tickets.within(workspace)?.address();
        task.states = self.states.within(workspace)?.address();
        for (slot, which) in [(SCRATCH, 0), (OTHER, 1)] {
            task.keys[slot] = self.keys[which].within(workspace)?.address();
            task.values[slot] = self.values[which].within(workspace)?.address();
        }
        Ok(())
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
