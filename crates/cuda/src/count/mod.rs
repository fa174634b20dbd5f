//! Whole keys of 8 or 16 bits alone: counted, and written from the counts.
//!
//! | n | what is launched |
//! |---|---|
//! | to a few thousand | the one block of [`onesweep`](crate::onesweep) |
//! | few, 8 bits | `alone`: one block |
//! | few, 16 bits | zeros, `tally_few`, `expand` |
//! | beyond | zeros, `tally`, `expand` |

mod task;
mod tuning;

use std::sync::Arc;

use sweepsort_core::{Codec, Digit, Spec, Stage, Width, Word, with_width};

use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::{Layout, SliceMut, Span};
use crate::onesweep::{Payload, Places, Sweep};
use crate::plan::Ran;
use crate::shapes::{KernelShape, Shapes};
use crate::stream::{Clock, Stream, end};
use task::Task;
use tuning::Tuning;

/// Neighbouring codes whose keys are also counted together; `kernels/count/task.cuh` has the same.
const GROUP: usize = 256;

/// Keys that a thread of `tally` reads before another block is worth its while.
const TALLIED: usize = 16;

/// Rows of the image's table of shapes. Its columns are threads, blocks a multiprocessor, dynamic
/// shared memory, and what the number of blocks must be a multiple of.
mod row {
    pub const EXPAND: usize = 0;
    pub const TALLY: usize = 1;
    /// `alone` or `tally_few`.
    pub const FEW: usize = 2;
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
    Tallied(Box<Tallied>),
}

/// A kernel and how it is launched.
type Launch = (Arc<Kernel>, Grid);

#[derive(Clone, Debug)]
struct Tallied {
    tally: Launch,
    expand: Launch,
    arrays: Arrays,
}

/// The workspace's arrays; shapes as in `kernels/count/task.cuh`. All begin as zeros.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    counts: Span<u64>,
    groups: Span<u64>,
    taken: Span<u64>,
    done: Span<u32>,
    all: Span<u8>,
}

impl Count {
    /// Decides; loads the kernels if that has not been done. All bits of the keys count, and the codec
    /// does not tie.
    ///
    /// # Errors
    /// [`Error::NoKernel`] for a width that no kernel is for, [`Error::Driver`].
    pub fn new(device: &Device, n: usize, width: Width, spec: &Spec) -> Result<Count> {
        let tuning = Tuning::of(width);
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
        let waits = device.facts().kernels_wait();
        let shape = |row| -> Result<(KernelShape, u32)> {
            let [threads, _, shared_bytes, parts] = shapes.row(row)?;
            let shape = KernelShape {
                threads,
                tile: TALLIED as u32 * threads,
                shared_bytes,
            };
            Ok((shape, parts))
        };

        let few = n <= tuning.few;
        if few && width == Width::W8 {
            let (alone, _) = shape(row::FEW)?;
            let grid = alone.grid(1).dependent_if(waits);
            return Ok(Method::Alone((module.kernel("alone")?, grid)));
        }
        let (name, (tally, parts)) = match few {
            true => ("tally_few", shape(row::FEW)?),
            false => ("tally", shape(row::TALLY)?),
        };
        let kernel = module.kernel(name)?;
        let together = tally.together(&kernel, device.facts())? / parts * parts;
        let blocks = n
            .div_ceil(tally.tile as usize)
            .next_multiple_of(parts as usize);
        let blocks = blocks.min(together.max(parts) as usize) as u32;
        let (expand, _) = shape(row::EXPAND)?;
        let expanders = tuning.expanders(n, device.facts().multiprocessors as usize);
        Ok(Method::Tallied(Box::new(Tallied {
            // Zeros come before it, which are no kernel.
            tally: (kernel, tally.grid(blocks)),
            expand: (
                module.kernel("expand")?,
                expand.grid(expanders).dependent_if(waits),
            ),
            arrays: Arrays::of(width),
        })))
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        match &self.method {
            Method::Sorted(_) | Method::Alone(_) => 0,
            Method::Tallied(tallied) => tallied.arrays.all.len(),
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
            let task = self.task::<W>(keys, keys_to);
            match &self.method {
                Method::Sorted(sweep) => {
                    let places = Places::of_keys(keys, keys_to);
                    sweep.enqueue(stream, places, workspace, clock)
                }
                Method::Alone((kernel, grid)) => {
                    stream.launch(kernel, *grid, args![Argument::plain(&task)])?;
                    end(clock, Stage::Local, stream)
                }
                Method::Tallied(tallied) => tallied.enqueue(stream, task, workspace, clock),
            }
        })
    }

    fn task<W: Word>(&self, keys: u64, keys_to: u64) -> Task<W> {
        Task {
            source: keys,
            result: keys_to,
            n: self.n as u64,
            counts: 0,
            groups: 0,
            taken: 0,
            done: 0,
            codec: self.codec.coder::<W>().into(),
        }
    }

    /// What a sort does.
    pub fn ran(&self) -> Ran {
        Ran {
            algorithm: Algorithm::Count.name(),
            passes: match &self.method {
                Method::Sorted(sweep) => sweep.digits(),
                Method::Alone(_) | Method::Tallied(_) => 1,
            },
        }
    }
}

impl Tallied {
    /// # Safety
    /// As [`Count::enqueue`].
    unsafe fn enqueue<W: Word>(
        &self,
        stream: &Stream,
        mut task: Task<W>,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        let arrays = &self.arrays;
        task.counts = arrays.counts.within(workspace)?.address();
        task.groups = arrays.groups.within(workspace)?.address();
        task.taken = arrays.taken.within(workspace)?.address();
        task.done = arrays.done.within(workspace)?.address();
        // SAFETY: the workspace has so many bytes, which this sort alone uses.
        let zeros = unsafe { SliceMut::from_raw(arrays.all.within(workspace)?, arrays.all.len()) };
        stream.fill(zeros, 0)?;
        let launch = |(kernel, grid): &Launch| {
            // SAFETY: the caller's promise, and the arrays of the workspace have the kernels' shapes.
            unsafe { stream.launch(kernel, *grid, args![Argument::plain(&task)]) }
        };
        launch(&self.tally)?;
        end(clock, Stage::Histogram, stream)?;
        launch(&self.expand)?;
        end(clock, Stage::Scatter, stream)
    }
}

impl Arrays {
    fn of(width: Width) -> Arrays {
        let cells = 1 << width.bits();
        let groups = cells / GROUP;
        let mut layout = Layout::new();
        Arrays {
            counts: layout.array(cells),
            groups: layout.array(groups),
            taken: layout.array(groups),
            done: layout.array(1),
            all: layout.all(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_that_of_the_counts() {
        assert_eq!(Arrays::of(Width::W8).all.len(), 256 * 8 + 3 * 256);
        assert_eq!(
            Arrays::of(Width::W16).all.len(),
            (65536 + 2 * 256) * 8 + 256
        );
    }

    #[test]
    fn blocks_write_enough_to_be_worth_their_while() {
        let blocks = |n| Tuning::of(Width::W16).expanders(n, 132);
        assert_eq!(
            (blocks(9000), blocks(1 << 24), blocks(1 << 28)),
            (264, 264, 4096)
        );
        assert_eq!(blocks(1 << 33), 4224);
    }
}
