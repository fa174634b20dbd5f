//! 32-bit keys with an index or a value of 4 bytes, as words of 64 bits: the code above, what travels
//! below. Words are sorted like keys alone, and taken apart in the end.
//!
//! | what is launched | what it does |
//! |---|---|
//! | `probe`, `count`, `lay_out` | the window of the keys, and its cells, as for keys alone |
//! | `partition_composite` | makes the words, and partitions them by the window's first digit |
//! | `partition_twice` | by its second digit |
//! | `local_large_composite`, `local_composite`, `refine`, `local_refined_composite` | as for words alone, but keys and what travels go to two arrays |
//!
//! No two words with an index are equal, so equal keys come out in their order. With values they come out
//! in an order of their own: that is for sorts that need not be stable.

use std::mem::offset_of;

use sweepsort_core::{Codec, Digit, Spec, Stage, Width};

use super::task::{COMPOSITES, Choice, Composite, ONESWEEP, Task};
use super::tuning;
use super::{Finding, Kernels, Room, Sizes, path, row};
use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::Result;
use crate::launch::{Argument, Launch};
use crate::memory::SliceMut;
use crate::onesweep::{Front, Payload, Places, Sweep};
use crate::plan::Ran;
use crate::stream::{Clock, Stream, end};

/// Of keys, and of what travels with them: they make a word of 64 bits.
const WIDTH: Width = Width::W32;
const PAYLOAD_BYTES: usize = 4;

/// Two partitions, and the sort in shared memory.
const PASSES: u32 = 3;

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct Composites {
    n: usize,
    codec: Codec,
    finding: Finding,
    partition: Launch,
    partition_again: Launch,
    local_large: Launch,
    local: Launch,
    refine: Launch,
    local_refined: Launch,
    behind: Option<Sweep>,
    room: Room,
}

impl Composites {
    /// Whether they can be made of such keys and what travels with them.
    pub fn take(width: Width, payload: Payload, spec: &Spec) -> bool {
        let free = match payload {
            Payload::None => false,
            Payload::Index(_) => true,
            Payload::Value(_) => !spec.stable,
        };
        free && width == WIDTH && payload.bytes() == PAYLOAD_BYTES
    }

    /// Decides; loads the kernels if that has not been done. One key at least, and all their bits count;
    /// the codec may tie where only an index is wanted.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel) where there are no kernels for this,
    /// [`Error::Driver`](crate::Error::Driver).
    pub fn new(device: &Device, n: usize, payload: Payload, spec: &Spec) -> Result<Composites> {
        let keys = Kernels::of(device, WIDTH)?;
        let words = Kernels::of(device, Width::W64)?;
        let behind = match &*spec.algorithm {
            Algorithm::AUTO => Some(Sweep::new(device, n, WIDTH, payload, spec)?),
            _ => None,
        };
        let finding = keys.finding(n, |most| tuning::composite_bits(n, most), behind.is_some())?;
        let bits = finding.bits;
        let (first, second) = (
            words.shapes.get(row::PARTITION_COMPOSITE)?,
            words.shapes.get(row::PARTITION_TWICE)?,
        );
        // The last tile of each bucket may be short.
        let tiles = n.div_ceil(second.tile as usize) + (1 << bits.a);
        let local = words.shapes.get(row::LOCAL_COMPOSITE)?;
        let large = words.shapes.get(row::LOCAL_LARGE)?;
        let refined = words.shapes.get(row::LOCAL_REFINED)?;
        let sizes = Sizes {
            composed: true,
            ..words.sizes(
                bits,
                finding.probe_blocks,
                [local.tile, large.tile],
                &behind,
            )?
        };
        Ok(Composites {
            n,
            codec: spec.codec,
            partition: words.persistent(
                "partition_composite",
                first,
                n.div_ceil(first.tile as usize),
            )?,
            partition_again: words.persistent("partition_twice", second, tiles)?,
            local_large: words.persistent("local_large_composite", large, bits.cells())?,
            local: words.launch("local_composite", local.grid(bits.cells() as u32))?,
            refine: words.persistent("refine", sizes.refine, usize::MAX)?,
            local_refined: words.persistent("local_refined_composite", refined, usize::MAX)?,
            room: sizes.room(n, second.tile),
            finding,
            behind,
        })
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        self.room.arrays.bytes
    }

    /// The digits of keys that words are moved by, in the order of the passes, where all bits vary.
    pub fn digits(&self) -> Vec<Digit> {
        self.finding.bits.digits(WIDTH)
    }

    /// Puts the sort into the stream.
    ///
    /// # Errors
    /// [`Error::Launch`](crate::Error::Launch), [`Error::Driver`](crate::Error::Driver),
    /// [`Error::Range`](crate::Error::Range) for a workspace that is too small.
    ///
    /// # Safety
    /// The places are those of `n` keys, and of as many values or entries, each aligned to their sizes,
    /// on the stream's device; nobody else uses them or the workspace before the sort is done.
    pub unsafe fn enqueue(
        &self,
        stream: &Stream,
        places: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        let (keys, words) = self.tasks(places, workspace)?;
        let launch = |(kernel, grid): &Launch| {
            // SAFETY: the caller's promise, and the arrays of the workspace have the kernels' shapes.
            unsafe { stream.launch(kernel, *grid, args![Argument::plain(&words)]) }
        };
        let of_words = |(kernel, grid): &Launch| {
            // SAFETY: as above.
            unsafe { stream.launch(kernel, *grid, args![Argument::plain(&words.cells)]) }
        };
        // SAFETY: as above.
        unsafe { self.finding.enqueue(stream, &keys, clock)? };
        launch(&self.partition)?;
        let (again, grid) = &self.partition_again;
        let level = 1u32;
        // SAFETY: as above.
        unsafe { stream.launch(again, *grid, args![Argument::plain(&words.cells), level])? };
        end(clock, Stage::Scatter, stream)?;
        launch(&self.local_large)?;
        launch(&self.local)?;
        of_words(&self.refine)?;
        launch(&self.local_refined)?;
        end(clock, Stage::Local, stream)?;
        let Some(sweep) = &self.behind else {
            return Ok(());
        };
        let go = keys.choice + offset_of!(Choice<u32>, path) as u64;
        let front = Front { go, cells: None };
        let rest = self.room.arrays.rest(workspace)?;
        // SAFETY: the caller's promise; the probe clears what the onesweep counts in.
        unsafe { sweep.enqueue_behind(front, stream, places, &rest, clock) }
    }

    /// Of the keys alone, and of the words.
    fn tasks(
        &self,
        places: Places,
        workspace: &SliceMut<'_, u8>,
    ) -> Result<(Task<u32>, Composite)> {
        let arrays = &self.room.arrays;
        let codec = self.codec.coder::<u32>().into();
        let mut keys = Task::of_keys(places.keys, self.n, codec);
        self.room.locate(&mut keys, workspace)?;
        keys.carries = COMPOSITES;
        keys.words = arrays.choice_of_words.within(workspace)?.address();
        let plain = Codec::UNSIGNED.coder::<u64>().into();
        let mut cells = Task::of_keys(0, self.n, plain);
        self.room.locate(&mut cells, workspace)?;
        cells.carries = COMPOSITES;
        cells.choice = keys.words;
        cells.result = arrays.result.within(workspace)?.address();
        let words = Composite {
            cells,
            keys_from: places.keys,
            values_from: places.values,
            keys_to: places.keys_to,
            values_to: places.values_to,
            codec,
        };
        Ok((keys, words))
    }

    /// What the last sort that used this workspace did. Waits for the stream.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver), [`Error::Range`](crate::Error::Range).
    pub fn ran(&self, stream: &Stream, workspace: &SliceMut<'_, u8>) -> Result<Ran> {
        let arrays = &self.room.arrays;
        if let Some(sweep) = &self.behind
            && path(WIDTH, arrays.choice, stream, workspace)? == ONESWEEP
        {
            return sweep.ran(stream, &arrays.rest(workspace)?);
        }
        Ok(Ran {
            algorithm: Algorithm::Hybrid.name(),
            passes: PASSES,
        })
    }
}
