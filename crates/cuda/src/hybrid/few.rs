//! Few keys of 32 bits and more, with values of 4, 8 or 16 bytes or none, or an index of them, by any of
//! their bits: stable, and in the same time for every distribution, but for whole keys alone. One launch.
//!
//! | | |
//! |---|---|
//! | `ranked_out_of_place` | the fewest, where the result goes elsewhere: blocks that compare their own keys with all. As none writes what others read, they need not wait |
//! | `tiny` of [`onesweep`](crate::onesweep) | one block, a key a thread, compared |
//! | `alone`, `alone_double` | one block, of whole keys alone |
//! | `ranked` | blocks that wait for each other, each of which finds where its own keys belong: it compares them with those of a run of the input. Of few keys that is all of them; of more, each block writes the codes of its own in the order of their run, and finds their places in the others by binary search |

use sweepsort_core::{Spec, Stage, Width, with_width};

use super::task::{Ranked, Task};
use super::{Kernels, Tuning, row};
use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::Result;
use crate::launch::{Argument, Launch};
use crate::memory::{Layout, SliceMut, Span};
use crate::onesweep::{Payload, Places, Sweep};
use crate::plan::Ran;
use crate::shapes::KernelShape;
use crate::stream::{Clock, Stream, end};

/// Keys that a block has for its own, at least; always whole vectors of `kernels/hybrid/ranked.cuh`.
const CHUNK: usize = 32;
const VECTOR: usize = 4;

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct Few {
    n: usize,
    width: Width,
    payload: Payload,
    spec: Spec,
    in_place: InPlace,
    out_of_place: Option<Launch>,
}

/// What sorts also where the result goes elsewhere.
#[derive(Clone, Debug)]
enum InPlace {
    Tiny(Sweep),
    Alone(Launch),
    Ranked(RankedLaunch),
}

/// Blocks that wait for each other.
#[derive(Clone, Debug)]
struct RankedLaunch {
    launch: Launch,
    division: Division,
    /// Of the workspace.
    codes: Span<u8>,
    bytes: usize,
}

/// How keys are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Division {
    threads: usize,
    /// Keys that each block has for its own, and of a run.
    chunk: usize,
    run: usize,
}

impl Few {
    /// Decides for keys with what travels with them, or some of whose bits decide; loads the kernels if that has
    /// not been done. None for what it is not for: other widths or numbers of keys, and what the device's blocks
    /// have no room for.
    ///
    /// # Errors
    /// As [`Sweep::new`].
    pub fn new(
        device: &Device,
        n: usize,
        width: Width,
        payload: Payload,
        spec: &Spec,
    ) -> Result<Option<Few>> {
        let tuning = device.tuned(Tuning::of(width));
        if width.bits() < 32 || n > tuning.few {
            return Ok(None);
        }
        let kernels = Kernels::of(device, width)?;
        let in_place = if n < tuning.few_from {
            Some(InPlace::Tiny(Sweep::new(device, n, width, payload, spec)?))
        } else {
            RankedLaunch::new(&kernels, n, tuning)?.map(InPlace::Ranked)
        };
        Self::with(&kernels, n, tuning, payload, spec, in_place)
    }

    /// For whole keys alone.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn keys(
        kernels: &Kernels<'_>,
        n: usize,
        tuning: Tuning,
        spec: &Spec,
    ) -> Result<Option<Few>> {
        let (device, width) = (kernels.device, kernels.width);
        let ranked = || match n <= tuning.ranked {
            true => RankedLaunch::new(kernels, n, tuning),
            false => Ok(None),
        };
        let in_place = if n <= tuning.tiny {
            let sweep = Sweep::new(device, n, width, Payload::None, spec)?;
            Some(InPlace::Tiny(sweep))
        } else {
            match kernels.alone(n)? {
                Some(alone) if n <= tuning.alone => Some(InPlace::Alone(alone)),
                alone => ranked()?.map(InPlace::Ranked).or(alone.map(InPlace::Alone)),
            }
        };
        Self::with(kernels, n, tuning, Payload::None, spec, in_place)
    }

    fn with(
        kernels: &Kernels<'_>,
        n: usize,
        tuning: Tuning,
        payload: Payload,
        spec: &Spec,
        in_place: Option<InPlace>,
    ) -> Result<Option<Few>> {
        let Some(in_place) = in_place else {
            return Ok(None);
        };
        Ok(Some(Few {
            n,
            width: kernels.width,
            payload,
            spec: spec.clone(),
            in_place,
            out_of_place: kernels.out_of_place(n, tuning)?,
        }))
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        match &self.in_place {
            InPlace::Tiny(sweep) => sweep.workspace_bytes(),
            InPlace::Alone(_) => 0,
            InPlace::Ranked(ranked) => ranked.bytes,
        }
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
        // SAFETY: the caller's promise; blocks stay within n keys, values and codes.
        with_width!(self.width, |W| unsafe {
            let ranked = Ranked::<W>::of(self.n, places, self.payload, &self.spec);
            match (&self.out_of_place, &self.in_place) {
                (Some((kernel, grid)), _) if places.are_apart() => {
                    stream.launch(kernel, *grid, args![Argument::plain(&ranked)])?;
                }
                (_, InPlace::Tiny(sweep)) => {
                    return sweep.enqueue(stream, places, workspace, clock);
                }
                (_, InPlace::Alone((kernel, grid))) => {
                    let task = Task {
                        result: places.keys_to,
                        ..Task::of_keys(places.keys, self.n, ranked.codec)
                    };
                    stream.launch(kernel, *grid, args![Argument::plain(&task)])?;
                }
                (_, InPlace::Ranked(sort)) => sort.launch(stream, ranked, workspace)?,
            }
        });
        end(clock, Stage::Local, stream)
    }

    /// What a sort does: one pass, if any bits decide.
    pub fn ran(&self) -> Ran {
        Ran {
            algorithm: Algorithm::Hybrid.name(),
            passes: u32::from(!self.spec.bits.is_empty()),
        }
    }
}

impl RankedLaunch {
    /// None if the device's blocks have no room. PTX for older drivers has no such kernel, and a tile of no keys
    /// says so.
    fn new(kernels: &Kernels<'_>, n: usize, tuning: Tuning) -> Result<Option<Self>> {
        let (width, shape) = (kernels.width, kernels.shapes.get(row::RANKED)?);
        if shape.tile == 0 {
            return Ok(None);
        }
        let division = Division::of(n, tuning, kernels.device.facts().multiprocessors as usize);
        let room = kernels.module.kernel("ranked")?.max_dynamic_shared_bytes() as usize;
        let shared = shape.shared_bytes as usize + division.codes(n) * width.bytes();
        let threads = division.threads.min(shape.tile as usize);
        if shared > room || division.chunk > threads {
            return Ok(None);
        }
        let shape = KernelShape {
            threads: threads as u32,
            shared_bytes: shared as u32,
            ..shape
        };
        let grid = shape.grid(n.div_ceil(division.chunk) as u32).cooperative();
        let mut layout = Layout::new();
        let published = if division.run < n {
            n * width.bytes()
        } else {
            0
        };
        let codes = layout.array(published);
        Ok(Some(RankedLaunch {
            launch: kernels.launch("ranked", grid)?,
            division,
            codes,
            bytes: layout.bytes(),
        }))
    }

    /// # Safety
    /// As [`Few::enqueue`].
    unsafe fn launch<W: Copy>(
        &self,
        stream: &Stream,
        task: Ranked<W>,
        workspace: &SliceMut<'_, u8>,
    ) -> Result<()> {
        let (kernel, grid) = &self.launch;
        let task = Ranked {
            codes: self.codes.within(workspace)?.address(),
            chunk: self.division.chunk as u32,
            run: self.division.run as u32,
            ..task
        };
        // SAFETY: the caller's promise.
        unsafe { stream.launch(kernel, *grid, args![Argument::plain(&task)]) }
    }
}

impl Division {
    /// For so many blocks at a time.
    fn of(n: usize, tuning: Tuning, blocks: usize) -> Division {
        let chunk = n.div_ceil(blocks).next_multiple_of(VECTOR).max(CHUNK);
        let run_keys = (n / 32).next_power_of_two().clamp(256, 1024);
        let run = match n <= tuning.one_run {
            true => n.next_multiple_of(chunk),
            false => (run_keys / chunk).max(1) * chunk,
        };
        Division {
            threads: if n < tuning.full_blocks { 512 } else { 1024 },
            chunk,
            run,
        }
    }

    /// Codes that a block has in its shared memory.
    fn codes(self, n: usize) -> usize {
        n.next_multiple_of(self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_a_blocks_own_and_of_a_run() {
        let tuning = Tuning::of(Width::W32);
        for blocks in [1, 20, 132] {
            for n in (1..3000).chain([4096, 5000, 11_999, 12_000, 16_384, 32_768]) {
                let division = Division::of(n, tuning, blocks);
                let Division { chunk, run, .. } = division;
                let what = format!("{n} by {blocks}: {division:?}");
                assert!(n.div_ceil(chunk) <= blocks, "{what}");
                assert!(
                    chunk.is_multiple_of(VECTOR) && run.is_multiple_of(chunk),
                    "{what}"
                );
                assert_eq!(run >= n, n <= tuning.one_run.max(chunk), "{what}");
                assert!(
                    division.codes(n) >= n && division.codes(n) < n + run,
                    "{what}"
                );
            }
        }
    }

    #[test]
    fn what_is_read_is_not_written_out_of_place() {
        for ([keys, keys_to, values, values_to], apart) in [
            ([1, 2, 0, 0], true),
            ([1, 1, 0, 0], false),
            ([1, 2, 3, 4], true),
            ([1, 1, 3, 3], false),
            ([1, 2, 3, 3], false),
            ([1, 1, 3, 4], false),
            ([1, 3, 3, 4], false),
            ([1, 0, 0, 4], true),
            ([1, 0, 0, 1], false),
        ] {
            let places = Places {
                keys,
                keys_to,
                values,
                values_to,
            };
            assert_eq!(places.are_apart(), apart, "{places:?}");
        }
    }

    #[test]
    fn runs_are_as_measured() {
        let of = |n| {
            let Division {
                threads,
                chunk,
                run,
            } = Division::of(n, Tuning::of(Width::W32), 132);
            (threads, chunk, run)
        };
        assert_eq!(of(1000), (512, 32, 1024));
        assert_eq!(of(2000), (512, 32, 256));
        assert_eq!(of(8000), (512, 64, 256));
        assert_eq!(of(16_000), (1024, 124, 496));
        assert_eq!(of(32_000), (1024, 244, 976));
    }
}
