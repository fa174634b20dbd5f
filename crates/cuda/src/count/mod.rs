//! Whole keys of 8 or 16 bits alone: counted, and written from the counts.
//!
//! | n | what is launched |
//! |---|---|
//! | to a few thousand | the one block of [`onesweep`](crate::onesweep) |
//! | few, 8 bits | `alone`: one block |
//! | beyond | `tally`, `lay_out`, `expand` |

mod task;
mod tuning;

use std::sync::Arc;

use sweepsort_core::{Codec, Digit, Spec, Stage, Width, with_width};

use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid, Kernel, Launch};
use crate::memory::{Layout, SliceMut, Span};
use crate::onesweep::{Payload, Places, Sweep};
use crate::plan::Ran;
use crate::shapes::Shapes;
use crate::stream::{Clock, Stream, end};
use task::Task;
use tuning::Shares;
pub use tuning::Tuning;

/// Neighbouring codes whose keys are also counted together; `kernels/count/task.cuh` has the same.
const GROUP: usize = 256;

/// Keys that a block's counter holds before it gives them up; `kernels/count/tally_16.cuh` has the same.
const FULL: usize = 1 << 15;

/// Rows of the image's table of shapes. Its columns are threads, blocks a multiprocessor, dynamic
/// shared memory, and how many blocks read the same keys.
mod row {
    pub const TALLY: usize = 0;
    pub const LAY_OUT: usize = 1;
    pub const EXPAND: usize = 2;
    /// Of 8-bit keys.
    pub const ALONE: usize = 3;
}

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct Count {
    n: usize,
    width: Width,
    codec: Codec,
    method: Method,
}

#[derive(Clone, Debug)]
enum Method {
    /// One block, that moves the keys.
    Sorted(Sweep),
    /// One block.
    Alone(Launch),
    Counted(Box<Counted>),
}

#[derive(Clone, Debug)]
struct Counted {
    /// `tally`, `lay_out`, `expand`.
    steps: [Launch; 3],
    /// Blocks that share the keys among them, and shares of the result.
    readers: usize,
    shares: Shares,
    arrays: Arrays,
}

/// The workspace's arrays, of any content; shapes as in `kernels/count/task.cuh`.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    tallies: Span<u8>,
    spills: Span<u16>,
    spilled: Span<u32>,
    /// Of a block.
    spill_room: usize,
    groups: Span<u64>,
    ends: Span<u64>,
    words: Span<u8>,
    bytes: usize,
}

impl Count {
    /// Decides; loads the kernels if that has not been done. All bits of the keys count, and the codec
    /// does not tie.
    ///
    /// # Errors
    /// [`Error::NoKernel`] for a width that no kernel is for, [`Error::Driver`].
    pub fn new(device: &Device, n: usize, width: Width, spec: &Spec) -> Result<Count> {
        let tuning = device.tuned(Tuning::of(width));
        let sorted = match n <= tuning.sorted {
            true => Some(Sweep::new(device, n, width, Payload::None, spec)?),
            false => None,
        };
        let method = match sorted.filter(Sweep::is_one_block) {
            Some(sweep) => Method::Sorted(sweep),
            None => Self::counted(device, n, width, tuning)?,
        };
        Ok(Count {
            n,
            width,
            codec: spec.codec,
            method,
        })
    }

    fn counted(device: &Device, n: usize, width: Width, tuning: Tuning) -> Result<Method> {
        let image = Image::of(Kind::Count, width.bits()).ok_or_else(|| Error::NoKernel {
            image: format!("count_{}", width.bits()),
            kernel: "tally".to_owned(),
        })?;
        let module = device.module(image)?;
        let shapes = Shapes::of(&module, "count_shapes")?;
        let (facts, waits) = (device.facts(), device.facts().kernels_wait());
        // What it is, how many blocks of it run at the same time, and how many read the same keys.
        let find = |name, row| -> Result<(Arc<Kernel>, Grid, usize, usize)> {
            let [threads, _, shared_bytes, parts] = shapes.row(row)?;
            let kernel = module.kernel(name)?;
            let blocks = kernel.blocks_per_multiprocessor(threads, shared_bytes)?;
            let together = (blocks.max(1) * facts.multiprocessors) as usize;
            let grid = Grid::new(1, threads).shared(shared_bytes);
            Ok((kernel, grid.dependent_if(waits), together, parts as usize))
        };
        let launch = |kernel, grid: Grid, blocks: usize| (kernel, grid.of(blocks as u32));

        if n <= tuning.alone {
            let (kernel, grid, ..) = find("alone", row::ALONE)?;
            return Ok(Method::Alone(launch(kernel, grid, 1)));
        }
        let (tally, tally_grid, together, parts) = find("tally", row::TALLY)?;
        let (lay_out, lay_out_grid, ..) = find("lay_out", row::LAY_OUT)?;
        let (expand, expand_grid, writers, _) = find("expand", row::EXPAND)?;
        let groups = (1 << width.bits()) / GROUP;
        let readers = tuning.readers(n, together / parts);
        let shares = tuning.shares(n, writers, groups);
        Ok(Method::Counted(Box::new(Counted {
            steps: [
                launch(tally, tally_grid, readers * parts),
                launch(lay_out, lay_out_grid, groups),
                launch(expand, expand_grid, shares.all.min(writers)),
            ],
            readers,
            shares,
            arrays: Arrays::of(n, width, readers, parts),
        })))
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        match &self.method {
            Method::Sorted(_) | Method::Alone(_) => 0,
            Method::Counted(counted) => counted.arrays.bytes,
        }
    }

    /// What keys are told apart by: all their bits at once.
    pub fn digits(&self) -> Vec<Digit> {
        vec![Digit {
            shift: 0,
            bits: self.width.bits(),
        }]
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
            let codec = self.codec.coder::<W>().into();
            let mut task = Task::new(keys, keys_to, self.n as u64, codec);
            match &self.method {
                Method::Sorted(sweep) => {
                    let places = Places::of_keys(keys, keys_to);
                    sweep.enqueue(stream, places, workspace, clock)
                }
                Method::Alone((kernel, grid)) => {
                    stream.launch(kernel, *grid, args![Argument::plain(&task)])?;
                    end(clock, Stage::Local, stream)
                }
                Method::Counted(counted) => {
                    counted.locate(&mut task, workspace)?;
                    counted.enqueue(stream, &task, clock)
                }
            }
        })
    }

    /// What a sort does.
    pub fn ran(&self) -> Ran {
        Ran {
            algorithm: Algorithm::Count.name(),
            passes: match &self.method {
                Method::Sorted(sweep) => sweep.digits(),
                Method::Alone(_) | Method::Counted(_) => 1,
            },
        }
    }
}

impl Counted {
    /// Fills in the shares, and where the workspace's arrays lie.
    fn locate<W>(&self, task: &mut Task<W>, workspace: &SliceMut<'_, u8>) -> Result<()> {
        let arrays = &self.arrays;
        task.readers = self.readers as u32;
        (task.shares, task.parts) = (self.shares.all as u32, self.shares.parts as u32);
        task.tallies = arrays.tallies.within(workspace)?.address();
        task.spills = arrays.spills.within(workspace)?.address();
        task.spilled = arrays.spilled.within(workspace)?.address();
        task.spill_room = arrays.spill_room as u32;
        task.groups = arrays.groups.within(workspace)?.address();
        task.ends = arrays.ends.within(workspace)?.address();
        task.words = arrays.words.within(workspace)?.address();
        Ok(())
    }

    /// # Safety
    /// As [`Count::enqueue`], of a task with its arrays.
    unsafe fn enqueue<W: Copy>(
        &self,
        stream: &Stream,
        task: &Task<W>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        let launch = |(kernel, grid): &Launch| {
            // SAFETY: the caller's promise; the arrays have the kernels' shapes.
            unsafe { stream.launch(kernel, *grid, args![Argument::plain(task)]) }
        };
        let [tally, lay_out, expand] = &self.steps;
        launch(tally)?;
        end(clock, Stage::Histogram, stream)?;
        launch(lay_out)?;
        end(clock, Stage::Scan, stream)?;
        launch(expand)?;
        end(clock, Stage::Scatter, stream)
    }
}

impl Arrays {
    /// Of so many readers, each of as many blocks as there are parts.
    fn of(n: usize, width: Width, readers: usize, parts: usize) -> Arrays {
        let cells = 1usize << width.bits();
        let (blocks, counter_bytes) = match width {
            // Counters of 8-bit keys hold as many as there are.
            Width::W8 => (0, 4),
            _ => (readers * parts, 2),
        };
        let spill_room = n / readers / FULL + 3;
        let mut layout = Layout::new();
        Arrays {
            tallies: layout.array(readers * cells * counter_bytes),
            spills: layout.array(blocks * spill_room),
            spilled: layout.array(blocks),
            spill_room,
            groups: layout.array(cells / GROUP),
            ends: layout.array(cells),
            words: layout.array(cells * width.bytes()),
            bytes: layout.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_that_of_the_counts() {
        let few = Arrays::of(9000, Width::W8, 1, 1);
        assert_eq!(few.bytes, 256 * (4 + 8 + 1) + 256);
        for n in [5000, 1 << 20, 1 << 28, 1 << 36] {
            let arrays = Arrays::of(n, Width::W16, 132, 2);
            assert!(
                arrays.bytes <= (18 << 20) + n / 4000,
                "{n}: {}",
                arrays.bytes
            );
            // Every full counter has room.
            assert!(arrays.spill_room * 132 * FULL >= n);
        }
    }
}
