//! The stages of a sort: where they run, and who is told.

use std::sync::Arc;

use sweepsort_core::{Digit, Stage};

use super::{Key, Records};
use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid, Module};
use crate::memory::{Buffer, Pointer, Slice, SliceMut};
use crate::stream::{Clock, Stream};

/// Sees the arrays of each stage, copied from the device, and may put others in their place.
///
/// An array that is *kept* lies in memory from the kernel that makes it to those that read it. It is
/// shown in between, and the answer, if there is one, is what they read. All other arrays are *inner*
/// ones: a kernel makes and uses them in registers or shared memory, and writes them out to be seen.
/// [`arrays`](super::arrays) says which are which. Arrays come in the order in which kernels are
/// launched, which need not be the text's.
pub trait Watch<K> {
    /// A pass begins.
    fn pass(&mut self, digit: Option<Digit>);

    /// A kept array of numbers was made. The answer, as long as it, takes its place.
    fn numbers(&mut self, name: &str, values: &[u32]) -> Option<Vec<u32>>;

    /// A kept array of codes was made, with their positions if they travel along. The answer, as
    /// long as it, takes its place.
    fn keys(&mut self, name: &str, keys: &[K], positions: &[u32]) -> Option<(Vec<K>, Vec<u32>)>;

    /// An inner array of numbers was made.
    fn inner_numbers(&mut self, name: &str, values: &[u32]);

    /// An inner array of codes was made.
    fn inner_keys(&mut self, name: &str, keys: &[K], positions: &[u32]);
}

/// Who is told what a sort does.
pub enum Observer<'a, K> {
    /// Nobody: stages are only enqueued.
    Nobody,
    /// Whoever looks at the arrays, which costs copies and waiting.
    Watch(&'a mut dyn Watch<K>),
    /// A clock, told where each stage ends. It was started by the caller.
    Clock(&'a mut Clock),
}

/// Where the stages of a sort run, and who is told.
pub struct Stages<'a, K: Key> {
    pub stream: &'a Stream,
    pub module: Arc<Module>,
    pub observer: Observer<'a, K>,
}

impl<'a, K: Key> Stages<'a, K> {
    /// Stages in a stream, with the kernels for keys of this width.
    pub fn new(stream: &'a Stream, observer: Observer<'a, K>) -> Result<Self> {
        let image = Image::of(Kind::Classic, K::BITS).ok_or_else(|| Error::NoKernel {
            image: format!("{} bits", K::BITS),
            kernel: "a classic".to_owned(),
        })?;
        Ok(Stages {
            stream,
            module: stream.device().module(image)?,
            observer,
        })
    }

    /// Whether arrays are to be shown.
    pub fn watched(&self) -> bool {
        matches!(self.observer, Observer::Watch(_))
    }

    /// A pass begins. Returns what it reads, and where it writes to: keys and payload each.
    pub fn begin(
        &mut self,
        records: &Records<K>,
        digit: Option<Digit>,
    ) -> [(Pointer<K>, Pointer<u32>); 2] {
        if let Observer::Watch(watch) = &mut self.observer {
            watch.pass(digit);
        }
        [records.from(), records.to()]
    }

    /// What was enqueued since the last call was this stage.
    pub fn end(&mut self, stage: Stage) -> Result<()> {
        match &mut self.observer {
            Observer::Clock(clock) => clock.end(stage, self.stream),
            _ => Ok(()),
        }
    }

    /// Shows a kept array, before its readers are launched.
    pub fn show<'b>(&mut self, name: &str, values: impl Into<SliceMut<'b, u32>>) -> Result<()> {
        let Observer::Watch(watch) = &mut self.observer else {
            return Ok(());
        };
        let mut values = values.into();
        let seen = self.stream.download(values.as_slice())?;
        match watch.numbers(name, &seen) {
            Some(other) => self.stream.write(&other, values.reborrow()),
            None => Ok(()),
        }
    }

    /// What was written becomes what is read next, and is shown.
    pub fn swap(&mut self, name: &str, records: &mut Records<K>) -> Result<()> {
        records.swap();
        let Observer::Watch(watch) = &mut self.observer else {
            return Ok(());
        };
        let keys = self.stream.download(&records.keys)?;
        let positions = positions(self.stream, records.payload.as_ref())?;
        let Some((keys, positions)) = watch.keys(name, &keys, &positions) else {
            return Ok(());
        };
        self.stream.write(&keys, &mut records.keys)?;
        match &mut records.payload {
            Some(payload) => self.stream.write(&positions, payload),
            None => Ok(()),
        }
    }

    /// A buffer for an inner array of this length, if somebody watches.
    pub fn inner<T: bytemuck::Pod>(&self, len: usize) -> Result<Option<Buffer<T>>> {
        self.watched().then(|| self.stream.alloc(len)).transpose()
    }

    /// Shows an inner array, once its kernel is launched.
    pub fn show_inner<'b>(
        &mut self,
        name: &str,
        values: Option<impl Into<Slice<'b, u32>>>,
    ) -> Result<()> {
        if let (Observer::Watch(watch), Some(values)) = (&mut self.observer, values) {
            watch.inner_numbers(name, &self.stream.download(values)?);
        }
        Ok(())
    }

    /// Shows an inner array of codes.
    pub fn show_inner_keys(
        &mut self,
        name: &str,
        keys: Option<&Buffer<K>>,
        payload: Option<&Buffer<u32>>,
    ) -> Result<()> {
        if let (Observer::Watch(watch), Some(keys)) = (&mut self.observer, keys) {
            let (keys, positions) = (
                self.stream.download(keys)?,
                positions(self.stream, payload)?,
            );
            watch.inner_keys(name, &keys, &positions);
        }
        Ok(())
    }

    /// Launches a kernel in the main stream.
    pub fn launch<const N: usize>(
        &self,
        name: &str,
        grid: Grid,
        arguments: [Argument<'_>; N],
    ) -> Result<()> {
        self.launch_in(self.stream, name, grid, arguments)
    }

    /// Launches a kernel in a stream that is forked off the main one, or in that itself.
    pub fn launch_in<const N: usize>(
        &self,
        stream: &Stream,
        name: &str,
        grid: Grid,
        arguments: [Argument<'_>; N],
    ) -> Result<()> {
        let kernel = self.module.kernel(name)?;
        // SAFETY: the callers are the files of this folder. Each gives buffers of the shapes that
        // stand at the head of the kernel's file, allocated for this sort and used by it alone, in
        // streams that are forked and joined.
        unsafe { stream.launch(&kernel, grid, arguments) }
    }
}

/// The positions that travel with keys, or none.
fn positions(stream: &Stream, payload: Option<&Buffer<u32>>) -> Result<Vec<u32>> {
    payload.map_or(Ok(Vec::new()), |payload| stream.download(payload))
}
