//! What cases of sorts by a plan share: a device, words for it, and comparisons.

use std::fmt::Debug;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use sweepsort_core::{Shape, Width, Word};
use sweepsort_cuda::cudarc::driver::CudaGraph;
use sweepsort_cuda::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use sweepsort_cuda::{Buffer, Codec, Device, Plan, Ran, Spec, Stream};

use crate::checks;

/// A device with guards around every buffer, and a stream of it.
pub struct Rig {
    pub device: Arc<Device>,
    pub stream: Stream,
}

impl Rig {
    /// On the first device.
    pub fn open() -> Result<Rig> {
        Self::on(&Device::open_guarded(0)?)
    }

    /// With a stream of its own.
    pub fn on(device: &Arc<Device>) -> Result<Rig> {
        Ok(Rig {
            stream: device.stream()?,
            device: device.clone(),
        })
    }

    pub fn plan(&self, shape: Shape, spec: &Spec) -> Result<Plan> {
        Ok(Plan::new(&self.device, &shape, spec)?)
    }

    /// As much workspace as a plan asks for.
    pub fn workspace(&self, plan: &Plan) -> Result<Buffer<u8>> {
        Ok(self.stream.alloc(plan.workspace_bytes())?)
    }

    /// Whether the algorithm that was asked for has sorted, and no other; `auto` leaves the choice. Returns
    /// what has.
    pub fn sorted_by(
        &self,
        algorithm: &str,
        plan: &Plan,
        workspace: &mut Buffer<u8>,
    ) -> Result<Ran> {
        let ran = plan.ran(&self.stream, &workspace.into())?;
        ensure!(
            algorithm == "auto" || algorithm == ran.algorithm,
            "{} has sorted, not {algorithm}",
            ran.algorithm
        );
        Ok(ran)
    }

    /// Whether nothing was written outside of a buffer.
    pub fn intact(&self) -> Result<()> {
        self.device.check_canaries()?;
        Ok(())
    }

    /// A graph of what is enqueued, if that is anything. Nothing is allowed meanwhile that cannot be
    /// captured.
    pub fn captured(&self, enqueue: impl FnOnce() -> Result<()>) -> Result<Option<CudaGraph>> {
        let raw = self.stream.raw();
        raw.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL)
            .map_err(|error| anyhow!("the capture does not begin: {error:?}"))?;
        let enqueued = enqueue();
        let graph = raw.end_capture(CUgraphInstantiate_flags(0));
        enqueued.context("while the stream was captured")?;
        graph.map_err(|error| anyhow!("the capture does not end: {error:?}"))
    }
}

/// Unsigned words in ascending order, by all their bits.
pub fn ascending(width: Width, algorithm: &'static str) -> Spec {
    Spec {
        codec: Codec::UNSIGNED,
        bits: 0..width.bits(),
        stable: true,
        algorithm: algorithm.into(),
    }
}

/// `n` random words, made of the bits of `mask`.
pub fn random<W: Word>(n: usize, seed: u64, mask: W) -> Vec<W> {
    (0..n as u64)
        .map(|i| checks::random(i, seed, mask))
        .collect()
}

/// What a target holds before a sort: no output of another.
pub const POISON: u8 = 0xD5;

/// The sum of what these threads have counted.
pub fn sum_of(threads: Vec<thread::ScopedJoinHandle<'_, Result<usize>>>) -> Result<usize> {
    let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
    joined
        .map(|outcome| outcome.unwrap_or_else(|_| Err(anyhow!("a thread panicked"))))
        .sum()
}

/// The first place at which an array is not what it must be.
pub fn same<T: PartialEq + Debug>(what: &str, got: &[T], expected: &[T]) -> Result<()> {
    ensure!(
        got.len() == expected.len(),
        "{what}: {} elements, expected {}",
        got.len(),
        expected.len()
    );
    match got.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(i) => anyhow::bail!(
            "{what}: element {i} of {} is {:x?}, expected {:x?}",
            got.len(),
            got[i],
            expected[i]
        ),
    }
}

/// Prepares each input on another core of the host, a few of them ahead, and takes them here, one by
/// one. Ends with the first error.
pub fn ahead<I: Sync, P: Send>(
    inputs: &[I],
    prepare: impl Fn(&I) -> P + Sync,
    mut take: impl FnMut(&I, P) -> Result<()>,
) -> Result<()> {
    /// More would hold much memory and be no faster.
    const THREADS: usize = 12;
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(1);
        for _ in 0..cores.min(THREADS) {
            let (sender, next, prepare) = (sender.clone(), &next, &prepare);
            scope.spawn(move || {
                while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((input, prepare(input))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        receiver
            .into_iter()
            .try_for_each(|(input, prepared)| take(input, prepared))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_is_taken_until_one_fails() {
        let inputs: Vec<usize> = (0..100).collect();
        let mut taken = Vec::new();
        let done = ahead(
            &inputs,
            |i| i * i,
            |i, square| {
                assert_eq!(square, i * i);
                taken.push(*i);
                Ok(())
            },
        );
        done.unwrap();
        taken.sort_unstable();
        assert_eq!(taken, inputs);

        let mut taken = 0;
        let fails = |i: &usize, ()| {
            taken += 1;
            ensure!(*i != 50, "the fiftieth");
            Ok(())
        };
        let failed = ahead(&inputs, |_| (), fails).unwrap_err();
        assert_eq!(failed.to_string(), "the fiftieth");
        assert!(taken <= 100);
    }
}
