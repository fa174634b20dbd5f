//! Whole keys, most significant bits first: moved into cells that fit a block's shared memory, each of
//! which one block sorts there. Keys alone are partitioned; with values, see [`Records`], and of few keys
//! [`Few`].
//!
//! | n | what is launched |
//! |---|---|
//! | to 3400 of 32 bits, 3072 of more, if the result goes elsewhere | `ranked_out_of_place`: each key to its place among all; see [`Few`] |
//! | to 128 | `tiny` of [`onesweep`](crate::onesweep): one block, a key a thread, compared |
//! | to 2816 of 32 bits, 4096 of more | `alone`, `alone_double`: one block |
//! | to 26,000, of 64 bits 20,480, of 128 bits 8192 | `ranked`: each key to its place among all; see [`Few`] |
//! | to what all blocks hold | `together`: blocks that wait for each other; `refine`, `local_refined` |
//! | to 2^23 of 32 and 64 bits, 2^21 of 128 | `probe`, `count`, `partition_once`, `local_large`, `local`, `refine`, `local_refined` |
//! | beyond | the same with `partition_twice` for two digits, and `lay_out` before |
//! | to 2^26 of 32 bits | `partition_middle` instead |
//! | from 2^23 on, of 64 bits 1.26 · 10^7 | `count` may read but a sample, and give buckets rooms; then `partition_rooms` is the second partition, or `partition_middle_rooms` |
//! | these of 64 bits, if they are skewed | `partition_quantiles`, `partition_quantile_rooms`, `local_quantiles` partition and sort them instead |
//!
//! Where a cell has 16 bits left or fewer, `local_tally` is launched instead of `local`, and of a bucket without a cell to
//! be refined the second partition writes these bits alone.
//!
//! Some inputs are better sorted by digits from the lowest up. So where `refine` is launched and the
//! choice is the engine's, a whole onesweep is enqueued behind, and the device decides which of the two
//! does nothing; see `kernels/hybrid/task.cuh`. Where the probe finds that many keys are common, these are
//! neither partitioned nor sorted: `count` looks each key up in a dictionary, the onesweep sorts those that
//! it has not, and `weave` writes the result; see `kernels/hybrid/dictionary.cuh`.

mod composites;
mod few;
mod records;
mod task;
mod tuning;

use std::mem::offset_of;
use std::sync::Arc;

use sweepsort_core::{Codec, Digit, Spec, Stage, Width, Word, with_width};

use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid, Launch, Module};
use crate::memory::{Layout, Slice, SliceMut, Span};
use crate::onesweep::{Front, Payload, Places, Sweep};
use crate::plan::Ran;
use crate::shapes::{KernelShape, Shapes};
use crate::stream::{Clock, Stream, end};
use task::{Choice, FIRST, ONESWEEP, Part, Piece, Range, SECOND, SIFT, Step, Task};
use tuning::{CellBits, MOST_CELL_BITS, cells_fit};

pub use composites::Composites;
pub use few::Few;
pub use records::Records;
pub use tuning::{LEAST_COMPOSITES, LEAST_RECORDS, MOST_KEYS, MOST_RECORDS, Tuning};

/// Where there are no more cells, the last block that counts lays them out, too;
/// `kernels/hybrid/count.cuh` has the same.
const LAID_OUT_BY_COUNT: usize = 4096;

/// Blocks that read all keys to find the least and the greatest; `kernels/hybrid/probe.cuh` has the same.
const MOST_PROBE_BLOCKS: usize = 1024;

/// Blocks of `count`: each of a block's threads knows what one of them has read.
const MOST_COUNT_BLOCKS: usize = 1024;

/// A block of the first partition has so many keys a thread, if there are no more for it.
const LEAST_ROWS: usize = 8;

/// Blocks that write zeros beside the one that reads a sample.
const CLEARING_BLOCKS: u32 = 16;

/// Shared memory that `count` has for each cell.
const COUNTER_BYTES: u32 = 2;

/// Keys that a step of `refine` copies for each thread; `kernels/hybrid/refine.cuh` has the same.
const EMITTED: usize = 16;

/// The most bits of a digit where blocks wait for each other; `kernels/hybrid/together.cuh` has the
/// same.
const TOGETHER_BITS: u32 = 10;

/// Bits left in a cell, at most, where each number is counted; `kernels/hybrid/local_tally.cuh` has the same.
const TALLY_BITS: u32 = 16;

/// Of what quantiles are made of; `kernels/hybrid/quantile.cuh` has the same.
const QUANTILE_WORDS: usize = 4 << 10;

/// Rooms have a place to spare for so many keys.
const KEYS_A_SPARE: usize = 16;

/// Bits that `refine` goes on by at a time.
const PART_BITS: u32 = 8;

/// Rows of the image's table of shapes.
mod row {
    pub const PROBE: usize = 0;
    pub const COUNT: usize = 1;
    pub const LAY_OUT: usize = 2;
    pub const PARTITION_TWICE: usize = 3;
    pub const PARTITION_ONCE: usize = 4;
    /// Its digits.
    pub const PARTITION_ONCE_DIGITS: usize = 5;
    pub const LOCAL: usize = 6;
    pub const LOCAL_REFINED: usize = 7;
    pub const REFINE: usize = 8;
    pub const ALONE: usize = 9;
    pub const TOGETHER: usize = 10;
    /// Of what blocks that wait for each other sort in shared memory.
    pub const TOGETHER_CELLS: usize = 11;
    pub const LOCAL_4: usize = 12;
    pub const LOCAL_8: usize = 13;
    pub const LOCAL_16: usize = 14;
    pub const PARTITION_COMPOSITE: usize = 15;
    pub const LOCAL_COMPOSITE: usize = 16;
    pub const LOCAL_LARGE: usize = 17;
    pub const LOCAL_TALLY: usize = 18;
    pub const ALONE_DOUBLE: usize = 19;
    pub const RANKED: usize = 20;
    pub const WEAVE: usize = 21;
    /// Whether buckets may have rooms: one, or nothing.
    pub const ROOMS: usize = 22;
    /// Where quantiles tell the cells; nothing, if they never do.
    pub const PARTITION_QUANTILES: usize = 23;
    pub const LOCAL_QUANTILES: usize = 24;
    /// Nothing, if there is no such kernel.
    pub const PARTITION_MIDDLE: usize = 25;
    /// Its digits.
    pub const PARTITION_MIDDLE_DIGITS: usize = 26;
    /// The second time, from rooms.
    pub const PARTITION_MIDDLE_ROOMS: usize = 27;
    /// Its tile is the keys whose places a block finds.
    pub const RANKED_OUT_OF_PLACE: usize = 28;
}

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct Hybrid {
    n: usize,
    width: Width,
    codec: Codec,
    method: Method,
}

#[derive(Clone, Debug)]
enum Method {
    Few(Box<Few>),
    Cells(Box<Cells>),
}

/// The kernels, their grids, and the workspace.
#[derive(Clone, Debug)]
struct Cells {
    steps: Steps,
    refine: Launch,
    local_refined: Launch,
    behind: Option<Sweep>,
    /// Where common keys may be sifted.
    weave: Option<Launch>,
    room: Room,
}

/// What kernels are told besides the keys: numbers, and where in the workspace they have room.
#[derive(Clone, Copy, Debug)]
struct Room {
    bits: CellBits,
    /// Keys of a tile of the second partition, if there is one, and of the largest cells that are sorted by
    /// `local` and by `local_large`.
    tile: u32,
    local_keys: u32,
    large_keys: u32,
    probe_blocks: u32,
    may_onesweep: bool,
    /// Blocks of the second partition, if buckets may have rooms, and keys of its tiles.
    room_blocks: u32,
    room_tile: u32,
    /// Keys of a tile of it where quantiles tell the cells; 0 if they never do.
    quantile_tile: u32,
    arrays: Arrays,
}

/// What comes before `refine`.
#[derive(Clone, Debug)]
enum Steps {
    /// One launch.
    Together(Launch),
    Apart(Box<Apart>),
}

/// A launch for each step.
#[derive(Clone, Debug)]
struct Apart {
    finding: Finding,
    /// For each partition.
    partitions: Vec<Launch>,
    /// The second one where buckets have rooms, if they may; its blocks wait for each other.
    partition_rooms: Option<Launch>,
    /// Where quantiles may tell the cells.
    quantiles: Option<Quantiles>,
    /// Goes on beside `local`.
    local_large: Launch,
    local: Launch,
}

/// Instead of partitions and `local`, for cells that quantiles tell.
#[derive(Clone, Debug)]
struct Quantiles {
    /// Keys of a tile.
    tile: u32,
    partition: Launch,
    /// From rooms; its blocks wait for each other.
    partition_rooms: Launch,
    local: Launch,
}

/// What finds the window and its cells.
#[derive(Clone, Debug)]
struct Finding {
    bits: CellBits,
    probe: Launch,
    probe_blocks: u32,
    count: Launch,
    /// Once, or again where keys may lie outside of what a sample shows, if such are not left to the onesweep.
    counts: u32,
    /// Where there are too many cells for the last block that counts.
    lay_out: Option<Launch>,
}

/// What the sizes of arrays follow from, besides the number of keys.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    key_bits: u32,
    bits: CellBits,
    probe_blocks: u32,
    local_keys: u32,
    large_keys: u32,
    refine: KernelShape,
    /// Keys of a piece that refine leaves, at most.
    piece: usize,
    /// Blocks of refine.
    refine_blocks: usize,
    /// Bytes of the workspace of a onesweep behind, and those of them that begin as zeros.
    behind: usize,
    behind_zeros: usize,
    /// Of the dictionary, if there may be one.
    dictionary: usize,
    /// Whether keys are made to words, which never lie where the caller's keys do.
    composed: bool,
    /// Blocks of the second partition, if buckets may have rooms, and keys of its tiles.
    room_blocks: u32,
    room_tile: u32,
    /// Keys of a tile of the second partition where quantiles tell the cells; 0 if they never do.
    quantile_tile: u32,
}

/// The workspace's arrays; shapes as in `kernels/hybrid/task.cuh`. What the onesweep behind needs
/// lies where the hybrid sort has its own arrays, but for what begins as zeros.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    choice: Span<u32>,
    /// Another for words, where keys are composed of them.
    choice_of_words: Span<u32>,
    counts: Span<u32>,
    zeros: Span<u8>,
    behind: Span<u8>,
    ranges: Span<u8>,
    begins: Span<u32>,
    bucket_cursors: Span<u32>,
    cell_cursors: Span<u32>,
    tiles: Span<u32>,
    large: Span<u32>,
    parts: Span<Part>,
    steps: Span<Step>,
    pieces: Span<Piece>,
    scratch: Span<u8>,
    /// Scratch, and what lies before it; and where each bucket's room begins.
    rooms: Span<u8>,
    room_begins: Span<u32>,
    /// What quantiles are made of.
    quantiles: Span<u32>,
    /// As long, where RESULT is not the caller's.
    result: Span<u8>,
    /// Behind all that others have.
    dictionary: Span<u8>,
    bytes: usize,
}

impl Hybrid {
    /// Decides; loads the kernels if that has not been done. All bits of the keys count, and the codec
    /// does not tie.
    ///
    /// # Errors
    /// [`Error::NoKernel`] for a width that no kernel is for, [`Error::Range`] for more than
    /// [`MOST_KEYS`] keys, [`Error::Driver`].
    pub fn new(device: &Device, n: usize, width: Width, spec: &Spec) -> Result<Hybrid> {
        if n > MOST_KEYS {
            return Err(Error::Range {
                what: "keys of a hybrid sort",
                got: n,
                have: MOST_KEYS,
            });
        }
        let tuning = device.tuned(Tuning::of(width));
        let kernels = Kernels::of(device, width)?;
        let method = match Few::keys(&kernels, n, tuning, spec)? {
            Some(few) => Method::Few(Box::new(few)),
            None => Method::Cells(Box::new(kernels.cells(n, tuning, spec)?)),
        };
        Ok(Hybrid {
            n,
            width,
            codec: spec.codec,
            method,
        })
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        match &self.method {
            Method::Few(few) => few.workspace_bytes(),
            Method::Cells(cells) => cells.room.arrays.bytes,
        }
    }

    /// The digits that keys are partitioned by, where all their bits vary.
    pub fn digits(&self) -> Vec<Digit> {
        let Method::Cells(cells) = &self.method else {
            return Vec::new();
        };
        cells.room.bits.digits(self.width)
    }

    /// Puts the sort into the stream.
    ///
    /// # Errors
    /// [`Error::Launch`], [`Error::Driver`], [`Error::Range`] for a workspace that is too small.
    ///
    /// # Safety
    /// `keys` and `keys_to` are addresses of `n` keys each, aligned to their size, on the stream's
    /// device, the same or apart; nobody else uses them or the workspace before the sort is done.
    pub unsafe fn enqueue(
        &self,
        stream: &Stream,
        keys: u64,
        keys_to: u64,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        with_width!(self.width, |W| unsafe {
            match &self.method {
                Method::Few(few) => {
                    few.enqueue(stream, Places::of_keys(keys, keys_to), workspace, clock)
                }
                Method::Cells(cells) => {
                    let task = self.task::<W>(keys, keys_to);
                    cells.enqueue(stream, task, workspace, clock)
                }
            }
        })
    }

    fn task<W: Word>(&self, keys: u64, keys_to: u64) -> Task<W> {
        Task {
            result: keys_to,
            ..Task::of_keys(keys, self.n, self.codec.coder::<W>().into())
        }
    }

    /// What the last sort that used this workspace did; that common keys are counted is one pass, besides
    /// those that sort the others. Waits for the stream.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Range`].
    pub fn ran(&self, stream: &Stream, workspace: &SliceMut<'_, u8>) -> Result<Ran> {
        let ran = |passes| Ran {
            algorithm: Algorithm::Hybrid.name(),
            passes,
        };
        let cells = match &self.method {
            Method::Few(few) => return Ok(few.ran()),
            Method::Cells(cells) => cells,
        };
        let Some(sweep) = &cells.behind else {
            return Ok(ran(cells.room.bits.partitions() + 1));
        };
        let arrays = &cells.room.arrays;
        match path(self.width, arrays.choice, stream, workspace)? {
            ONESWEEP => sweep.ran(stream, &arrays.rest(workspace)?),
            SIFT => {
                let rest = sweep.ran(stream, &arrays.rest(workspace)?)?;
                Ok(ran(1 + rest.passes))
            }
            _ => Ok(ran(cells.room.bits.partitions() + 1)),
        }
    }
}

/// An image's kernels, while a sort is decided.
struct Kernels<'a> {
    device: &'a Device,
    module: Arc<Module>,
    shapes: Shapes,
    width: Width,
}

impl<'a> Kernels<'a> {
    fn of(device: &'a Device, width: Width) -> Result<Self> {
        let image = Image::of(Kind::Hybrid, width.bits()).ok_or_else(|| Error::NoKernel {
            image: format!("hybrid_{}", width.bits()),
            kernel: "probe".to_owned(),
        })?;
        let module = device.module(image)?;
        Ok(Kernels {
            device,
            shapes: Shapes::of(&module, "hybrid_shapes")?,
            module,
            width,
        })
    }

    /// A kernel with its grid; it begins early where it can wait by itself.
    fn launch(&self, name: &str, grid: Grid) -> Result<Launch> {
        let grid = grid.dependent_if(self.device.facts().kernels_wait());
        Ok((self.module.kernel(name)?, grid))
    }

    /// The same, with as many blocks as run at a time, or as there are tiles.
    fn persistent(&self, name: &str, shape: KernelShape, tiles: usize) -> Result<Launch> {
        let together = shape.together(&*self.module.kernel(name)?, self.device.facts())?;
        self.launch(name, shape.grid(tiles.min(together as usize) as u32))
    }

    /// The bits of the cells, given how many bits can tell them at most, and the kernel that counts them.
    fn counted(&self, n: usize, bits: impl Fn(u32) -> CellBits) -> Result<(CellBits, Launch)> {
        let kernel = self.module.kernel("count")?;
        let counters = kernel.max_dynamic_shared_bytes() / COUNTER_BYTES;
        let bits = bits(MOST_CELL_BITS.min(counters.max(4).ilog2()));
        // Of its own it has what sifting takes.
        let mut shape = self.shapes.get(row::COUNT)?;
        shape.shared_bytes = shape.shared_bytes.max(COUNTER_BYTES * bits.cells() as u32);
        let tiles = n.div_ceil(shape.tile as usize);
        let count = self.persistent("count", shape, tiles.min(MOST_COUNT_BLOCKS))?;
        Ok((bits, count))
    }

    /// What finds the cells, given how many bits can tell them at most; by a sample, or all keys.
    fn finding(&self, n: usize, bits: impl Fn(u32) -> CellBits, samples: bool) -> Result<Finding> {
        let shape = |row| self.shapes.get(row);
        let (bits, count) = self.counted(n, bits)?;
        let cells = bits.cells();
        // One block reads a sample, and all keys it takes more.
        let probe = shape(row::PROBE)?;
        let multiprocessors = self.device.facts().multiprocessors as usize;
        let all = n.div_ceil(probe.tile as usize).min(multiprocessors);
        let (probe_blocks, clearing) = match samples {
            true => (1, CLEARING_BLOCKS),
            false => (all.min(MOST_PROBE_BLOCKS) as u32, 0),
        };
        let lay_out = match cells > LAID_OUT_BY_COUNT {
            true => {
                let lay_out = shape(row::LAY_OUT)?;
                let blocks = cells.div_ceil(lay_out.tile as usize) as u32;
                Some(self.launch("lay_out", lay_out.grid(blocks))?)
            }
            false => None,
        };
        Ok(Finding {
            bits,
            probe: self.launch("probe", probe.grid(probe_blocks + clearing))?,
            probe_blocks,
            count,
            counts: 1 + u32::from(samples),
            lay_out,
        })
    }

    /// In one block, if it has room for so many keys.
    fn alone(&self, n: usize) -> Result<Option<Launch>> {
        let kernels = [("alone", row::ALONE), ("alone_double", row::ALONE_DOUBLE)];
        for (name, row) in kernels {
            let shape = self.shapes.get(row)?;
            if n <= shape.tile as usize {
                return Ok(Some(self.launch(name, shape.grid(1))?));
            }
        }
        Ok(None)
    }

    /// What compares each key with all, if there are few and their result goes elsewhere.
    fn out_of_place(&self, n: usize, tuning: Tuning) -> Result<Option<Launch>> {
        if n > tuning.out_of_place {
            return Ok(None);
        }
        let shape = self.shapes.get(row::RANKED_OUT_OF_PLACE)?;
        let blocks = n.div_ceil(shape.tile as usize) as u32;
        Ok(Some(
            self.launch("ranked_out_of_place", shape.grid(blocks))?,
        ))
    }

    /// The steps before `refine`, and it.
    fn cells(&self, n: usize, tuning: Tuning, spec: &Spec) -> Result<Cells> {
        match self.together(n, tuning, spec)? {
            Some(cells) => Ok(cells),
            None => self.apart(n, tuning, spec),
        }
    }

    /// In one launch, if there is room for so many keys. PTX for older drivers has no such kernel, and a
    /// tile of no keys says so.
    fn together(&self, n: usize, tuning: Tuning, spec: &Spec) -> Result<Option<Cells>> {
        let shape = self.shapes.get(row::TOGETHER)?;
        if shape.tile == 0 {
            return Ok(None);
        }
        let kernel = self.module.kernel("together")?;
        let most = shape.together(&kernel, self.device.facts())? as usize;
        if n > tuning.together.min(most * shape.tile as usize) {
            return Ok(None);
        }
        let blocks = n.div_ceil(tuning.together_block).min(most);
        let grid = shape.grid(blocks as u32).cooperative();
        let behind = self.behind(n, spec)?;
        let local_keys = self.shapes.get(row::TOGETHER_CELLS)?.tile;
        let bits = tuning.together_bits(n, TOGETHER_BITS, local_keys as usize);
        let sizes = self.sizes(bits, 0, [local_keys; 2], &behind)?;
        let steps = Steps::Together((kernel, grid));
        Ok(Some(self.refined(n, steps, sizes, 0, behind)?))
    }

    /// The onesweep that is enqueued behind, where the choice is the engine's.
    fn behind(&self, n: usize, spec: &Spec) -> Result<Option<Sweep>> {
        if spec.algorithm != Algorithm::AUTO {
            return Ok(None);
        }
        Sweep::new(self.device, n, self.width, Payload::None, spec).map(Some)
    }

    fn sizes(
        &self,
        bits: CellBits,
        probe_blocks: u32,
        [local_keys, large_keys]: [u32; 2],
        behind: &Option<Sweep>,
    ) -> Result<Sizes> {
        let refine = self.shapes.get(row::REFINE)?;
        let kernel = self.module.kernel("refine")?;
        Ok(Sizes {
            key_bits: self.width.bits(),
            bits,
            probe_blocks,
            local_keys,
            large_keys,
            refine,
            piece: self.shapes.get(row::LOCAL_REFINED)?.tile as usize,
            refine_blocks: refine.together(&kernel, self.device.facts())? as usize,
            behind: behind.as_ref().map_or(0, Sweep::workspace_bytes),
            behind_zeros: behind.as_ref().map_or(0, Sweep::zero_bytes),
            dictionary: 0,
            composed: false,
            room_blocks: 0,
            room_tile: 0,
            quantile_tile: 0,
        })
    }

    /// What partitions the second time, by such tiles, and how many keys one has.
    fn second_partition(
        &self,
        name: &str,
        tiles: KernelShape,
        n: usize,
        bits: CellBits,
    ) -> Result<(Launch, u32)> {
        let together = tiles.together(&*self.module.kernel(name)?, self.device.facts())?;
        let tile = even_tile(n, bits, tiles, together as usize);
        // The last tile of each bucket may be short.
        let most = n.div_ceil(tile as usize) + (1 << bits.a);
        Ok((self.persistent(name, tiles, most)?, tile))
    }

    /// The same from rooms, by blocks that wait for each other. PTX for older drivers has no such kernel.
    fn partition_rooms(
        &self,
        name: &str,
        tiles: KernelShape,
        n: usize,
        bits: CellBits,
    ) -> Result<Option<(Launch, u32)>> {
        if self.shapes.get(row::ROOMS)?.tile == 0 || bits.b < 2 {
            return Ok(None);
        }
        let ((kernel, grid), tile) = self.second_partition(name, tiles, n, bits)?;
        let grid = grid.dependent_if(false).cooperative();
        Ok(Some(((kernel, grid), tile)))
    }

    /// What sorts cells that quantiles tell, by so many blocks that partition; none if the device has no room for
    /// them, if even cells are too large for a block, or the width has no kernels. (Where cells are counted the
    /// digits of a sample are.)
    fn quantiles(&self, n: usize, bits: CellBits, blocks: u32) -> Result<Option<Quantiles>> {
        let tiles = self.shapes.get(row::PARTITION_QUANTILES)?;
        let local = self.shapes.get(row::LOCAL_QUANTILES)?;
        let fit = cells_fit(n, bits, local.tile as usize) && bits.cells() >= QUANTILE_WORDS;
        if tiles.tile == 0 || !fit {
            return Ok(None);
        }
        let partition_rooms = self.module.kernel("partition_quantile_rooms")?;
        if tiles.together(&partition_rooms, self.device.facts())? < blocks {
            return Ok(None);
        }
        Ok(Some(Quantiles {
            tile: tiles.tile,
            partition: self.launch("partition_quantiles", tiles.grid(blocks))?,
            partition_rooms: (partition_rooms, tiles.grid(blocks).cooperative()),
            local: self.persistent("local_quantiles", local, bits.cells())?,
        }))
    }

    /// In a launch for each step.
    fn apart(&self, n: usize, tuning: Tuning, spec: &Spec) -> Result<Cells> {
        let shape = |row| self.shapes.get(row);
        let large = shape(row::LOCAL_LARGE)?;
        let once = shape(row::PARTITION_ONCE)?;
        let digits = shape(row::PARTITION_ONCE_DIGITS)?.tile;
        let tuning = tuning.fitted(digits as usize, large.tile as usize);
        let behind = self.behind(n, spec)?;
        let mut finding = self.finding(n, |most| tuning.cell_bits(n, most), behind.is_some())?;
        let bits = finding.bits;
        let middle = shape(row::PARTITION_MIDDLE)?;
        let has_digits = 1 << bits.a <= shape(row::PARTITION_MIDDLE_DIGITS)?.tile;
        let is_middle = bits.partitions() == 2 && n <= tuning.middle && has_digits;
        let (partition, tiles) = match bits.partitions() {
            1 => ("partition_once", once),
            _ if is_middle => ("partition_middle", middle),
            _ => ("partition_twice", shape(row::PARTITION_TWICE)?),
        };
        // The first cuts the keys evenly for its blocks, by itself.
        let first = self.persistent(
            partition,
            tiles,
            n.div_ceil(LEAST_ROWS * tiles.threads as usize),
        )?;
        let (partitions, partition_rooms, tile) = match bits.partitions() {
            1 => (vec![first], None, 0),
            _ => {
                let (second, tile) = self.second_partition(partition, tiles, n, bits)?;
                let (from_rooms, tiles) = match is_middle {
                    true => (
                        "partition_middle_rooms",
                        shape(row::PARTITION_MIDDLE_ROOMS)?,
                    ),
                    false => ("partition_rooms", tiles),
                };
                // Where a room turns out to be too small, the onesweep sorts.
                let rooms = match behind.is_some() && n >= tuning.rooms {
                    true => self.partition_rooms(from_rooms, tiles, n, bits)?,
                    false => None,
                };
                (vec![first, second], rooms, tile)
            }
        };

        let tally = shape(row::LOCAL_TALLY)?;
        let few_bits_left = self.width.bits() - bits.a - bits.b <= TALLY_BITS;
        let (name, local) = match tally.tile > 0 && few_bits_left {
            true => ("local_tally", tally),
            false => ("local", shape(row::LOCAL)?),
        };
        let sifts = behind.as_ref().is_some_and(|sweep| sweep.rest().is_some());
        // A second launch of count that is called off takes longer than is gained by it.
        if is_middle && partition_rooms.is_some() && n >= tuning.counted_once {
            finding.counts = 1;
        }
        let (partition_rooms, room_tile) = partition_rooms.unzip();
        let room_blocks = partition_rooms
            .as_ref()
            .map_or(0, |(_, grid)| grid.blocks().x);
        let quantiles = match room_blocks {
            0 => None,
            blocks => self.quantiles(n, bits, blocks)?,
        };
        let sizes = Sizes {
            room_blocks,
            room_tile: room_tile.unwrap_or_default(),
            quantile_tile: quantiles.as_ref().map_or(0, |quantiles| quantiles.tile),
            dictionary: if sifts {
                dictionary_bytes(self.width)
            } else {
                0
            },
            ..self.sizes(
                bits,
                finding.probe_blocks,
                [local.tile, large.tile],
                &behind,
            )?
        };
        let steps = Steps::Apart(Box::new(Apart {
            finding,
            partitions,
            partition_rooms,
            quantiles,
            local_large: self.persistent("local_large", large, bits.cells())?,
            local: self.launch(name, local.grid(bits.cells() as u32))?,
        }));
        self.refined(n, steps, sizes, tile, behind)
    }

    /// These steps, then `refine` and the local sort of what it leaves.
    fn refined(
        &self,
        n: usize,
        steps: Steps,
        sizes: Sizes,
        tile: u32,
        behind: Option<Sweep>,
    ) -> Result<Cells> {
        let weave = match sizes.dictionary {
            0 => None,
            _ => {
                let shape = self.shapes.get(row::WEAVE)?;
                let vectors = n.div_ceil(shape.tile as usize);
                Some(self.persistent("weave", shape, vectors)?)
            }
        };
        Ok(Cells {
            steps,
            weave,
            refine: self.persistent("refine", sizes.refine, usize::MAX)?,
            local_refined: self.persistent(
                "local_refined",
                self.shapes.get(row::LOCAL_REFINED)?,
                usize::MAX,
            )?,
            behind,
            room: sizes.room(n, tile),
        })
    }
}

/// Bytes of a dictionary, at most; `kernels/hybrid/dictionary.cuh` has the same.
fn dictionary_bytes(width: Width) -> usize {
    (1 << 13) * (width.bytes() + 2) + (1 << 11) * (width.bytes() + 4) + 16
}

/// Keys of a tile of the second partition: with evenly spread keys, so many that all blocks have equally
/// many tiles.
fn even_tile(n: usize, bits: CellBits, shape: KernelShape, blocks: usize) -> u32 {
    let most = shape.tile as usize;
    let rounds = n.div_ceil(blocks * most);
    let of_bucket = ((rounds * blocks) >> bits.a).max(1);
    let keys = n.div_ceil(1 << bits.a);
    // With room for what chance adds.
    let tile = (keys + keys / 32) / of_bucket + 1;
    tile.next_multiple_of(shape.threads as usize).min(most) as u32
}

impl Cells {
    /// # Safety
    /// As [`Hybrid::enqueue`].
    unsafe fn enqueue<W: Word>(
        &self,
        stream: &Stream,
        mut task: Task<W>,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        self.room.locate(&mut task, workspace)?;
        let rest = self.room.arrays.rest(workspace)?;
        if let (Some(_), Some(keys)) = (&self.weave, self.behind.as_ref().and_then(Sweep::rest)) {
            task.dictionary = self.room.arrays.dictionary.within(workspace)?.address();
            task.rest = keys.within(&rest)?.address();
        }
        let launch = |(kernel, grid): &Launch| {
            // SAFETY: the caller's promise, and the arrays of the workspace have the kernels' shapes.
            unsafe { stream.launch(kernel, *grid, args![Argument::plain(&task)]) }
        };
        let launch_with = |(kernel, grid): &Launch, number: u32| {
            // SAFETY: as above.
            unsafe { stream.launch(kernel, *grid, args![Argument::plain(&task), number]) }
        };
        match &self.steps {
            Steps::Together(together) => launch(together)?,
            Steps::Apart(apart) => {
                // SAFETY: as above.
                unsafe { apart.finding.enqueue(stream, &task, clock)? };
                for (partition, level) in apart.partitions.iter().zip([FIRST, SECOND]) {
                    launch_with(partition, level)?;
                }
                if let Some(partition) = &apart.partition_rooms {
                    launch(partition)?;
                }
                if let Some(quantiles) = &apart.quantiles {
                    launch(&quantiles.partition)?;
                    launch(&quantiles.partition_rooms)?;
                }
                end(clock, Stage::Scatter, stream)?;
                launch(&apart.local_large)?;
                launch(&apart.local)?;
                if let Some(quantiles) = &apart.quantiles {
                    launch(&quantiles.local)?;
                }
            }
        }
        launch(&self.refine)?;
        launch(&self.local_refined)?;
        end(clock, Stage::Local, stream)?;
        if let Some(sweep) = &self.behind {
            let go = task.choice + offset_of!(Choice<W>, path) as u64;
            let places = Places::of_keys(task.source, task.result);
            let front = Front { go, cells: None };
            // SAFETY: the caller's promise; the first launch clears what the onesweep counts in.
            unsafe { sweep.enqueue_behind(front, stream, places, &rest, clock)? };
        }
        if let Some(weave) = &self.weave {
            launch(weave)?;
            end(clock, Stage::Scatter, stream)?;
        }
        Ok(())
    }
}

impl Room {
    /// Fills in the digits, and where the workspace's arrays lie.
    fn locate<W>(&self, task: &mut Task<W>, workspace: &SliceMut<'_, u8>) -> Result<()> {
        let arrays = &self.arrays;
        (task.a_bits, task.b_bits) = (self.bits.a, self.bits.b);
        (task.tile, task.local_keys) = (self.tile, self.local_keys);
        task.large_keys = self.large_keys;
        task.scratch = arrays.scratch.within(workspace)?.address();
        task.choice = arrays.choice.within(workspace)?.address();
        task.counts = arrays.counts.within(workspace)?.address();
        task.begins = arrays.begins.within(workspace)?.address();
        task.bucket_cursors = arrays.bucket_cursors.within(workspace)?.address();
        task.cell_cursors = arrays.cell_cursors.within(workspace)?.address();
        task.tiles = arrays.tiles.within(workspace)?.address();
        task.large = arrays.large.within(workspace)?.address();
        task.parts = arrays.parts.within(workspace)?.address();
        task.steps = arrays.steps.within(workspace)?.address();
        task.pieces = arrays.pieces.within(workspace)?.address();
        task.zeros = arrays.zeros.within(workspace)?.address();
        task.zero_vectors = (arrays.zeros.len() / 16) as u32;
        task.may_onesweep = u32::from(self.may_onesweep);
        task.probe_blocks = self.probe_blocks;
        task.step_room = arrays.steps.len() as u32;
        task.ranges = arrays.ranges.within(workspace)?.address();
        task.rooms = arrays.rooms.within(workspace)?.address();
        task.room_begins = arrays.room_begins.within(workspace)?.address();
        task.room_keys = (arrays.rooms.len() / size_of::<W>()) as u32;
        (task.room_blocks, task.room_tile) = (self.room_blocks, self.room_tile);
        if self.quantile_tile > 0 {
            task.quantiles = arrays.quantiles.within(workspace)?.address();
            task.quantile_tile = self.quantile_tile;
        }
        Ok(())
    }
}

impl Finding {
    /// # Safety
    /// The task's arrays have the kernels' shapes, and are nobody else's before the stream is done.
    unsafe fn enqueue<W: Word>(
        &self,
        stream: &Stream,
        task: &Task<W>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        let task = &Task {
            // Without a onesweep behind, all keys are read, and nothing misleads.
            counts_once: u32::from(self.counts == 1) & task.may_onesweep,
            ..*task
        };
        let launch = |(kernel, grid): &Launch| {
            // SAFETY: the caller's promise.
            unsafe { stream.launch(kernel, *grid, args![Argument::plain(task)]) }
        };
        launch(&self.probe)?;
        let (count, grid) = &self.count;
        for turn in 0..self.counts {
            // SAFETY: the caller's promise.
            unsafe { stream.launch(count, *grid, args![Argument::plain(task), turn])? };
        }
        end(clock, Stage::Histogram, stream)?;
        if let Some(lay_out) = &self.lay_out {
            launch(lay_out)?;
            end(clock, Stage::Scan, stream)?;
        }
        Ok(())
    }
}

/// What the device decided.
fn path(
    width: Width,
    choice: Span<u32>,
    stream: &Stream,
    workspace: &SliceMut<'_, u8>,
) -> Result<u32> {
    let mut words = vec![0u32; choice.len()];
    // SAFETY: the array has so many words in the workspace.
    let written = unsafe { Slice::from_raw(choice.within(workspace)?, words.len()) };
    stream.read(written, &mut words)?;
    let at = with_width!(width, |W| offset_of!(Choice<W>, path)) / size_of::<u32>();
    Ok(words[at])
}

impl Arrays {
    fn of(n: usize, sizes: Sizes) -> Arrays {
        let cells = sizes.bits.cells();
        let buckets = 1usize << sizes.bits.a;
        let mut layout = Layout::new();
        // As long as the longest, that of 128-bit keys.
        let choice_words = size_of::<Choice<u128>>() / size_of::<u32>();
        let choice = layout.array(choice_words);
        let choice_of_words = layout.array(if sizes.composed { choice_words } else { 0 });
        let counts = layout.array(cells);
        let mut onesweep = layout;
        let behind = onesweep.array(sizes.behind);
        layout.array::<u8>(sizes.behind_zeros);
        let zeros = layout.all();
        let blocks = sizes.probe_blocks as usize + MOST_COUNT_BLOCKS;
        let ranges = layout.array(blocks * size_of::<Range<u128>>());
        let begins = layout.array(cells + 1);
        let bucket_cursors = layout.array(buckets);
        let cell_cursors = layout.array(cells);
        let tiles = layout.array(buckets + 1);
        // Cells that are too large, or crowded.
        let large = layout.array(cells);
        let pieces = layout.array(sizes.most_pieces(n));
        let has_rooms = sizes.room_blocks > 0;
        let room_begins = layout.array(if has_rooms { buckets + 1 } else { 0 });
        let quantiles = layout.array(if sizes.quantile_tile > 0 {
            QUANTILE_WORDS
        } else {
            0
        });
        let all_keys = n * (sizes.key_bits / 8) as usize;
        // Nobody refines before rooms have been left, so that what refine has is room to spare.
        let before = layout.bytes();
        let parts = layout.array(n / sizes.piece + 1);
        let steps = layout.array(sizes.most_steps(n));
        if has_rooms {
            let spare = layout.bytes() - before;
            layout.array::<u8>((all_keys / KEYS_A_SPARE).saturating_sub(spare));
        }
        let scratch = layout.array(all_keys);
        let rooms = layout.since(before);
        let result = layout.array(if sizes.composed { all_keys } else { 0 });
        let mut both = match layout.bytes() < onesweep.bytes() {
            true => onesweep,
            false => layout,
        };
        let dictionary = both.array(sizes.dictionary);
        Arrays {
            choice,
            choice_of_words,
            counts,
            zeros,
            behind,
            ranges,
            begins,
            bucket_cursors,
            cell_cursors,
            tiles,
            large,
            parts,
            steps,
            pieces,
            scratch,
            rooms,
            room_begins,
            quantiles,
            result,
            dictionary,
            bytes: both.bytes(),
        }
    }

    /// The workspace of the onesweep behind.
    fn rest<'a>(&self, workspace: &SliceMut<'a, u8>) -> Result<SliceMut<'a, u8>> {
        // SAFETY: a part of the workspace, borrowed as long.
        Ok(unsafe { SliceMut::from_raw(self.behind.within(workspace)?, self.behind.len()) })
    }
}

impl Sizes {
    /// For so many keys, and tiles of the second partition.
    fn room(self, n: usize, tile: u32) -> Room {
        Room {
            bits: self.bits,
            tile,
            local_keys: self.local_keys,
            large_keys: self.large_keys,
            probe_blocks: self.probe_blocks,
            may_onesweep: self.behind > 0,
            room_blocks: self.room_blocks,
            room_tile: self.room_tile,
            quantile_tile: self.quantile_tile,
            arrays: Arrays::of(n, self),
        }
    }

    /// Steps that `refine` puts into its queue, at most.
    ///
    /// Each level has no more parts than pieces of full size fit into n, for they are larger than that
    /// and do not overlap. Their tiles are counted and partitioned once a level, at most a step each. A
    /// key is copied once. In the end each block waits for one more.
    fn most_steps(&self, n: usize) -> usize {
        let parts = n / self.piece + 1;
        let tiles = n / self.refine.tile as usize + 1 + parts;
        2 * self.levels() * tiles + self.most_copies(n) + self.refine_blocks
    }

    /// Pieces that `refine` leaves, at most: one has over half the full size, or more than the full size
    /// together with the next, if no large bucket is behind it; and cells in which keys crowd.
    fn most_pieces(&self, n: usize) -> usize {
        let parts = n / self.piece + 1;
        let buckets = 2 * n / self.piece + 2 * self.levels() * parts + self.bits.cells();
        buckets
            + if self.composed {
                2 * self.most_copies(n)
            } else {
                0
            }
    }

    /// Steps that copy equal keys, at most.
    fn most_copies(&self, n: usize) -> usize {
        n / (EMITTED * self.refine.threads as usize) + 2 + n / self.piece
    }

    fn levels(&self) -> usize {
        (self.key_bits - self.bits.a - self.bits.b).div_ceil(PART_BITS) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least room that any architecture's kernels are made for.
    const REFINE: KernelShape = KernelShape {
        threads: 256,
        tile: 4096,
        shared_bytes: 0,
    };
    const PIECE: usize = 2048;

    fn sizes(n: usize, width: Width, behind: usize) -> Sizes {
        Sizes {
            key_bits: width.bits(),
            bits: Tuning::of(width).cell_bits(n, MOST_CELL_BITS),
            probe_blocks: MOST_PROBE_BLOCKS as u32,
            local_keys: 4608,
            large_keys: 17_000,
            refine: REFINE,
            piece: PIECE,
            refine_blocks: 264,
            behind,
            behind_zeros: behind.min(20_000).next_multiple_of(256),
            dictionary: if behind > 0 {
                dictionary_bytes(width)
            } else {
                0
            },
            composed: false,
            room_blocks: if behind > 0 { 132 } else { 0 },
            room_tile: if behind > 0 { 18_432 } else { 0 },
            quantile_tile: if behind > 0 { 18_432 } else { 0 },
        }
    }

    #[test]
    fn the_workspace_is_little_more_than_the_keys() {
        // Of the H200.
        let (tile, piece) = (4608, 4480);
        for width in [Width::W32, Width::W64, Width::W128] {
            for n in (10..=30).flat_map(|bits| [(1 << bits) + 1, 3 << (bits - 1)]) {
                let mut sizes = sizes(n, width, 0);
                (sizes.refine.tile, sizes.piece) = (tile, piece);
                let keys = n * width.bytes();
                let arrays = Arrays::of(n, sizes);
                let more = arrays.bytes - keys;
                assert!(more <= keys * 12 / 100 + (1 << 20), "{width:?} {n}: {more}");
                sizes.room_blocks = 132;
                let more = Arrays::of(n, sizes).bytes - keys;
                assert!(
                    more <= keys * 12 / 100 + (1 << 20),
                    "{width:?} {n}, rooms: {more}"
                );
                // A onesweep behind takes the same room.
                let behind = keys + keys / 10;
                sizes.behind = behind;
                sizes.dictionary = 0;
                let both = Arrays::of(n, sizes).bytes;
                assert!(both <= arrays.bytes.max(behind + (1 << 20)) + (1 << 20));
            }
        }
    }

    #[test]
    fn arrays_lie_apart_but_for_those_of_the_onesweep_behind() {
        let n = 5_000_000;
        let arrays = Arrays::of(n, sizes(n, Width::W64, 41_000_000));
        // SAFETY: nothing is read or written there.
        let workspace = unsafe { SliceMut::from_raw(crate::Pointer::at(1 << 20), arrays.bytes) };
        let place = |span: Span<u8>| {
            let from = span.within(&workspace).unwrap().address();
            from..from + span.len() as u64
        };
        macro_rules! place {
            ($array:ident) => {{
                let from = arrays.$array.within(&workspace).unwrap();
                let first = from.address();
                first..from.offset(arrays.$array.len()).address()
            }};
        }
        let own = [
            place!(choice),
            place!(counts),
            place!(ranges),
            place!(begins),
            place!(bucket_cursors),
            place!(cell_cursors),
            place!(tiles),
            place!(large),
            place!(pieces),
            place!(room_begins),
            place!(quantiles),
            place!(parts),
            place!(steps),
            place!(scratch),
            place!(dictionary),
        ];
        assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert!(own.iter().all(|place| place.start < place.end));
        // Rooms are what refine has, more if need be, and scratch.
        let [.., parts, _, scratch, dictionary] = &own;
        let rooms = place(arrays.rooms);
        assert_eq!(rooms.start, parts.start);
        assert_eq!(rooms.end, scratch.end);
        assert!(arrays.rooms.len() >= n * size_of::<u64>() / 16 * 17);
        let (zeros, behind) = (place(arrays.zeros), place(arrays.behind));
        assert_eq!(zeros.start, own[0].start);
        assert!(
            own[1].end <= behind.start && behind.start < zeros.end && zeros.end <= own[2].start
        );
        assert_eq!((zeros.end - zeros.start) % 16, 0);
        assert!(
            behind.end <= dictionary.start && dictionary.end - (1 << 20) <= arrays.bytes as u64
        );
    }

    #[test]
    fn tiles_of_evenly_spread_keys_are_whole_rounds() {
        let shape = KernelShape {
            threads: 1024,
            tile: 36 * 1024,
            shared_bytes: 0,
        };
        let blocks = 132;
        for n in [9_000_000, 12_000_000, 1 << 24, 20_000_000] {
            let bits = Tuning::of(Width::W32).cell_bits(n, MOST_CELL_BITS);
            let tile = even_tile(n, bits, shape, blocks);
            assert!(
                tile <= shape.tile && tile.is_multiple_of(shape.threads),
                "{n}: {tile}"
            );
            let tiles = (n >> bits.a).div_ceil(tile as usize) << bits.a;
            let rounds = n.div_ceil(blocks * shape.tile as usize);
            assert!(tiles <= rounds * blocks, "{n}: {tiles} of {tile}");
        }
    }

    /// How many keys each bucket of a part has: these two numbers again and again, then the rest.
    #[derive(Clone, Copy, Debug)]
    struct Split {
        pattern: [usize; 2],
        times: usize,
    }

    impl Split {
        fn buckets(self, count: usize) -> Vec<usize> {
            let fit = count / (self.pattern[0] + self.pattern[1]);
            let mut buckets = self.pattern.repeat(fit.min(self.times));
            buckets.push(count - buckets.iter().sum::<usize>());
            buckets
        }
    }

    /// Steps and pieces of a part that begins and ends there, as `refine.cuh` makes them.
    fn refined(sizes: &Sizes, from: usize, to: usize, below: u32, split: Split) -> (usize, usize) {
        let (tile, capacity) = (sizes.refine.tile as usize, sizes.piece);
        if below == 0 {
            let copies = (to - from).div_ceil(EMITTED * sizes.refine.threads as usize);
            return (copies, 0);
        }
        let rest = below.saturating_sub(PART_BITS);
        let (mut steps, mut pieces) = (2 * (to - from).div_ceil(tile), 0);
        let buckets = split.buckets(to - from);
        let (mut begin, mut digit) = (from, 0);
        while digit < buckets.len() {
            let keys = |end: usize| buckets[digit..end].iter().sum::<usize>();
            let fit = |&end: &usize| keys(end) <= capacity;
            let fitting = (digit + 1..=buckets.len()).take_while(fit).last();
            let whole = fitting.unwrap_or(digit + 1);
            let shorter = (1..=PART_BITS).rev().map(|bits| whole >> bits << bits);
            let end = shorter
                .filter(|&end| end > digit)
                .find(|&end| keys(end) > capacity / 2);
            let (end, keys) = end.map_or((whole, keys(whole)), |end| (end, keys(end)));
            if keys > capacity {
                let more = refined(sizes, begin, begin + keys, rest, split);
                (steps, pieces) = (steps + more.0, pieces + more.1);
            } else {
                pieces += usize::from(keys > 0);
            }
            (begin, digit) = (begin + keys, end);
        }
        (steps, pieces)
    }

    #[test]
    fn steps_and_pieces_are_no_more_than_there_is_room_for() {
        let (capacity, half) = (PIECE, PIECE / 2);
        let patterns = [
            ([1, 0], 0),
            ([1, 0], 1),
            ([half + 1, 1], 127),
            ([half - 1, 2], 127),
            ([capacity + 1, 1], 127),
            ([half + 1, capacity + 1], 127),
            ([1, capacity + 1], 20),
            ([1, capacity], 127),
            ([half + 1, half], 127),
        ];
        for width in [Width::W32, Width::W64, Width::W128] {
            for n in [20_000, 1 << 20, 1 << 22] {
                let sizes = sizes(n, width, 0);
                let low = width.bits() - sizes.bits.a - sizes.bits.b;
                for (pattern, times) in patterns {
                    let split = Split { pattern, times };
                    let found = refined(&sizes, 0, n, low, split);
                    let room = (sizes.most_steps(n), sizes.most_pieces(n));
                    let fits = found.0 <= room.0 && found.1 <= room.1;
                    assert!(fits, "{width:?} {n} {split:?}: {found:?} of {room:?}");
                }
            }
        }
    }
}
