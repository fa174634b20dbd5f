//! Few keys of 32 bits and more, with values of 4, 8 or 16 bytes or none, or an index of them, by any of
//! their bits: stable, and in the same time for every distribution.
//!
//! One launch, `ranked`: blocks that wait for each other, each of which finds where its own keys belong. It
//! compares them with those of a run of the input; of few keys that is all of them. Of more,
//! each block writes the codes of its own in the order of their run, and finds their places in the others by
//! binary search.

use sweepsort_core::{Spec, Stage, Width, Word, with_width};

use super::task::Ranked;
use super::{Kernels, Tuning, row};
use crate::algorithm::Algorithm;
use crate::args;
use crate::device::Device;
use crate::error::Result;
use crate::launch::{Argument, Launch};
use crate::memory::{Layout, SliceMut, Span};
use crate::onesweep::{Payload, Places};
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
    /// Decides for keys with what travels with them, or some of whose bits decide; loads the kernel if that has
    /// not been done. None for what it is not for: other widths or numbers of keys, and what the device's blocks
    /// have no room for.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel), [`Error::Driver`](crate::Error::Driver).
    pub fn new(
        device: &Device,
        n: usize,
        width: Width,
        payload: Payload,
        spec: &Spec,
    ) -> Result<Option<Few>> {
        let tuning = device.tuned(Tuning::of(width));
        if width.bits() < 32 || !(tuning.few_from..=tuning.few).contains(&n) {
            return Ok(None);
        }
        let kernels = Kernels::of(device, width)?;
        Self::with(&kernels, n, tuning, payload, spec)
    }

    /// For whole keys alone that one block does not sort.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn keys(
        kernels: &Kernels<'_>,
        n: usize,
        tuning: Tuning,
        spec: &Spec,
    ) -> Result<Option<Few>> {
        if n > tuning.ranked {
            return Ok(None);
        }
        Self::with(kernels, n, tuning, Payload::None, spec)
    }

    /// PTX for older drivers has no such kernel, and a tile of no keys says so.
    fn with(
        kernels: &Kernels<'_>,
        n: usize,
        tuning: Tuning,
        payload: Payload,
        spec: &Spec,
    ) -> Result<Option<Few>> {
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
        Ok(Some(Few {
            n,
            width,
            payload,
            spec: spec.clone(),
            launch: kernels.launch("ranked", grid)?,
            division,
            codes,
            bytes: layout.bytes(),
        }))
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        self.bytes
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
        let codes = self.codes.within(workspace)?.address();
        let (kernel, grid) = &self.launch;
        // SAFETY: the caller's promise; blocks stay within n keys, values and codes.
        with_width!(self.width, |W| unsafe {
            let task = self.task::<W>(places, codes);
            stream.launch(kernel, *grid, args![Argument::plain(&task)])?;
        });
        end(clock, Stage::Local, stream)
    }

    fn task<W: Word>(&self, places: Places, codes: u64) -> Ranked<W> {
        let Spec { bits, codec, .. } = &self.spec;
        let decide = bits.end - bits.start;
        Ranked {
            keys_from: places.keys,
            values_from: match self.payload {
                Payload::Index(_) => 0,
                _ => places.values,
            },
            keys_to: places.keys_to,
            values_to: places.values_to,
            codes,
            value_words: (self.payload.bytes() / size_of::<u32>()) as u32,
            n: self.n as u32,
            chunk: self.division.chunk as u32,
            run: self.division.run as u32,
            // Of no bits at all, none is shifted out of the word.
            shift: if decide == 0 { 0 } else { bits.start },
            mask: W::mask(&(0..decide)),
            codec: codec.coder::<W>().into(),
        }
    }

    /// What a sort does.
    pub fn ran(&self) -> Ran {
        Ran {
            algorithm: Algorithm::Hybrid.name(),
            passes: 1,
        }
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
