//! Whole keys with values, or an index: stable.
//!
//! | what is launched | what it does |
//! |---|---|
//! | `probe`, `count` twice, `lay_out` | the window, and its cells, as for keys alone |
//! | `histograms`, `begins`, `pass` once for each digit of a key | [`Sweep`], of which two passes move the records to their cells; the others have nothing to do |
//! | `local_4`, `local_8`, `local_16` | each cell, by the bits below the window |
//!
//! Where a cell is too large for a block, the device decides that all passes of onesweep sort, and the
//! local sort has nothing to do.

use std::mem::offset_of;

use sweepsort_core::{Codec, Digit, Spec, Stage, Width, Word, with_width};

use super::task::{Choice, ONESWEEP, RECORDS, Range, Task, Values};
use super::tuning::{self, CellBits};
use super::{Finding, Kernels, row};
use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::Result;
use crate::launch::{Argument, Launch};
use crate::memory::{Layout, SliceMut, Span};
use crate::onesweep::{Cells, Front, Payload, Places, Sweep};
use crate::plan::Ran;
use crate::stream::{Clock, Stream, end};

/// Passes that move keys by the digits of the window, and the local sort.
const PASSES: u32 = 3;

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct Records {
    n: usize,
    width: Width,
    codec: Codec,
    finding: Finding,
    sweep: Sweep,
    local: Launch,
    /// Keys of the largest cell that is sorted by `local`.
    local_keys: u32,
    arrays: Arrays,
}

/// The workspace's arrays; shapes as in `kernels/hybrid/task.cuh`. The first begin as zeros, those of
/// the onesweep among them.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    choice: Span<u32>,
    counts: Span<u32>,
    zero_bytes: usize,
    sweep: Span<u8>,
    ranges: Span<u8>,
    begins: Span<u32>,
    bucket_cursors: Span<u32>,
    cell_cursors: Span<u32>,
    tiles: Span<u32>,
    large: Span<u32>,
    bytes: usize,
}

impl Records {
    /// Decides; loads the kernels if that has not been done. All bits of the keys count; the codec may
    /// tie where only an index is wanted. None where the device's blocks have no room for the cells of so
    /// many keys, or for none at all.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel) for a width or a payload that no kernel is for,
    /// [`Error::Driver`](crate::Error::Driver).
    pub fn new(
        device: &Device,
        n: usize,
        width: Width,
        payload: Payload,
        spec: &Spec,
    ) -> Result<Option<Records>> {
        let kernels = Kernels::of(device, width)?;
        let finding = kernels.finding(n, |most| tuning::record_bits(n, most), true)?;
        let bits = finding.bits;
        let (name, row) = match payload.bytes() {
            4 => ("local_4", row::LOCAL_4),
            8 => ("local_8", row::LOCAL_8),
            _ => ("local_16", row::LOCAL_16),
        };
        let local = kernels.shapes.get(row)?;
        if n == 0 || !tuning::records_fit(n, bits, local.tile as usize) {
            return Ok(None);
        }
        let sweep = Sweep::over_cells(device, n, width, payload, spec)?;
        Ok(Some(Records {
            n,
            width,
            codec: spec.codec,
            finding,
            local: kernels.launch(name, local.grid(bits.cells() as u32))?,
            local_keys: local.tile,
            arrays: Arrays::of(bits, &sweep),
            sweep,
        }))
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        self.arrays.bytes
    }

    /// The digits that keys are moved by, in the order of the passes, where all their bits vary.
    pub fn digits(&self) -> Vec<Digit> {
        let digits = self.finding.bits.digits(self.width);
        digits.into_iter().rev().collect()
    }

    /// Puts the sort into the stream.
    ///
    /// # Errors
    /// [`Error::Launch`](crate::Error::Launch), [`Error::Driver`](crate::Error::Driver),
    /// [`Error::Range`](crate::Error::Range) for a workspace that is too small.
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
            self.enqueue_words::<W>(stream, places, workspace, clock)
        })
    }

    /// # Safety
    /// As [`enqueue`](Self::enqueue).
    unsafe fn enqueue_words<W: Word>(
        &self,
        stream: &Stream,
        places: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        let task = self.task::<W>(places, workspace)?;
        // SAFETY: the caller's promise, and the arrays of the workspace have the kernels' shapes.
        unsafe { self.finding.enqueue(stream, &task.cells, clock)? };

        let choice = task.cells.choice;
        let front = Front {
            go: choice + offset_of!(Choice<W>, path) as u64,
            cells: Some(Cells {
                counts: task.cells.counts,
                begins: task.cells.begins,
                base: choice + offset_of!(Choice<W>, base) as u64,
                low: choice + offset_of!(Choice<W>, low) as u64,
                a_bits: self.finding.bits.a,
                b_bits: self.finding.bits.b,
            }),
        };
        let rest = self.arrays.rest(workspace)?;
        let (local, grid) = &self.local;
        // SAFETY: the caller's promise; the probe clears what the onesweep counts in.
        unsafe {
            let sweep = &self.sweep;
            sweep.enqueue_behind(front, stream, places, &rest, clock)?;
            stream.launch(local, *grid, args![Argument::plain(&task)])?;
        }
        end(clock, Stage::Local, stream)
    }

    fn task<W: Word>(&self, places: Places, workspace: &SliceMut<'_, u8>) -> Result<Values<W>> {
        let arrays = &self.arrays;
        let mut cells = Task::<W>::of_keys(places.keys, self.n, self.codec.coder().into());
        (cells.a_bits, cells.b_bits) = (self.finding.bits.a, self.finding.bits.b);
        // The partition's tiles are onesweep's.
        (cells.tile, cells.local_keys) = (1, self.local_keys);
        cells.large_keys = self.local_keys;
        cells.choice = arrays.choice.within(workspace)?.address();
        cells.counts = arrays.counts.within(workspace)?.address();
        cells.begins = arrays.begins.within(workspace)?.address();
        cells.bucket_cursors = arrays.bucket_cursors.within(workspace)?.address();
        cells.cell_cursors = arrays.cell_cursors.within(workspace)?.address();
        cells.tiles = arrays.tiles.within(workspace)?.address();
        cells.large = arrays.large.within(workspace)?.address();
        cells.ranges = arrays.ranges.within(workspace)?.address();
        cells.zeros = cells.choice;
        cells.zero_vectors = (arrays.zero_bytes / 16) as u32;
        (cells.may_onesweep, cells.carries) = (1, RECORDS);
        cells.probe_blocks = self.finding.probe_blocks;
        let (keys, values) = self.sweep.moved(places, &arrays.rest(workspace)?)?;
        Ok(Values {
            cells,
            keys_from: keys,
            values_from: values,
            keys_to: places.keys_to,
            values_to: places.values_to,
        })
    }

    /// What the last sort that used this workspace did. Waits for the stream.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver), [`Error::Range`](crate::Error::Range).
    pub fn ran(&self, stream: &Stream, workspace: &SliceMut<'_, u8>) -> Result<Ran> {
        let path = super::path(self.width, self.arrays.choice, stream, workspace)?;
        match path {
            ONESWEEP => self.sweep.ran(stream, &self.arrays.rest(workspace)?),
            _ => Ok(Ran {
                algorithm: Algorithm::Hybrid.name(),
                passes: PASSES,
            }),
        }
    }
}

impl Arrays {
    fn of(bits: CellBits, sweep: &Sweep) -> Arrays {
        let (cells, buckets) = (bits.cells(), 1usize << bits.a);
        let mut layout = Layout::new();
        // As long as the longest, that of 128-bit keys.
        let choice = layout.array(size_of::<Choice<u128>>() / size_of::<u32>());
        let counts = layout.array(cells);
        let zero_bytes = layout.bytes() + sweep.zero_bytes();
        let sweep = layout.array(sweep.workspace_bytes());
        Arrays {
            choice,
            counts,
            zero_bytes,
            sweep,
            ranges: layout.array((1 + super::MOST_COUNT_BLOCKS) * size_of::<Range<u128>>()),
            begins: layout.array(cells + 1),
            bucket_cursors: layout.array(buckets),
            cell_cursors: layout.array(cells),
            tiles: layout.array(buckets + 1),
            large: layout.array(cells),
            bytes: layout.bytes(),
        }
    }

    /// The workspace of the onesweep.
    fn rest<'a>(&self, workspace: &SliceMut<'a, u8>) -> Result<SliceMut<'a, u8>> {
        // SAFETY: a part of the workspace, borrowed as long.
        Ok(unsafe { SliceMut::from_raw(self.sweep.within(workspace)?, self.sweep.len()) })
    }
}
