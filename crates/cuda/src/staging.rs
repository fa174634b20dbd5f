//! Copies between host memory of any kind and a device, at the link's speed.
//!
//! A device reads and writes page-locked memory by itself. Ordinary memory has to be copied to or
//! from such first, and one thread, as the driver has it, is slower at that than the link. Here
//! several threads do it, each a piece at a time, while pieces before are on their way:
//!
//! ```text
//! the copy   │ piece 0 │ piece 1 │ piece 2 │ piece 3 │ …     each taken by the next free thread
//! thread 0   │ fill chunk 0 │ fill chunk 1 │ wait for chunk 0, fill it │ …
//!  its stream               │ chunk 0 → device │ chunk 1 → device │ …
//! thread 1   │ fill chunk 0 │ …                               chunks and a stream of its own
//! ```
//!
//! A download goes the other way round. What is short, or page-locked already, takes no thread.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bytemuck::Pod;
use cudarc::driver::sys::{self, CUdeviceptr, CUstreamCaptureStatus};
use cudarc::driver::{CudaEvent, result};

use crate::device::Device;
use crate::error::{Error, Result, while_doing};
use crate::memory::{Slice, SliceMut, same};
use crate::pinned::{Locked, PAGE, is_locked};
use crate::stream::Stream;

/// How copies are staged. Any numbers do; zeros count as ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Threads that copy, the caller's being one of them.
    pub threads: usize,
    /// Bytes of a chunk of page-locked memory: of a piece, too, where a copy is not cut smaller so
    /// that all threads have some.
    pub chunk_bytes: usize,
    /// Chunks of each thread. With one, it waits for each copy of the device.
    pub chunks: usize,
    /// Copies of fewer bytes are the driver's.
    pub from_bytes: usize,
}

/// The most threads that copy, where the machine runs as many at once.
const THREADS: usize = 8;

/// The tuning where it does.
const TUNING: Tuning = Tuning {
    threads: THREADS,
    chunk_bytes: 4 << 20,
    chunks: 2,
    from_bytes: 8 << 20,
};

/// The smallest pieces that a copy is cut into for the sake of having enough of them, in bytes.
const SMALLEST: usize = 256 << 10;

impl Default for Tuning {
    /// With no more threads than the machine runs at once, and eight at most.
    fn default() -> Self {
        let most = thread::available_parallelism().map_or(1, usize::from);
        Tuning {
            threads: THREADS.min(most),
            ..TUNING
        }
    }
}

/// Copies between host memory and one device.
///
/// It takes page-locked memory, `threads · chunks · chunk_bytes` bytes at most, when a copy first
/// needs it, and keeps it; where there is none to be had, copies are the driver's, and slower. It
/// can be shared by threads. Of two copies that need that memory, one waits for the other, and for
/// what the other's stream holds.
#[derive(Debug)]
pub struct Staging {
    device: Arc<Device>,
    tuning: Tuning,
    /// Those that were needed so far, at most as many as threads.
    lanes: Mutex<Vec<Lane>>,
}

impl Staging {
    /// Copies to and from this device.
    pub fn new(device: &Arc<Device>) -> Staging {
        Staging::with(device, Tuning::default())
    }

    /// The same, tuned otherwise.
    pub fn with(device: &Arc<Device>, tuning: Tuning) -> Staging {
        Staging {
            device: device.clone(),
            tuning: Tuning {
                threads: tuning.threads.max(1),
                chunk_bytes: tuning.chunk_bytes.max(1),
                chunks: tuning.chunks.max(1),
                from_bytes: tuning.from_bytes,
            },
            lanes: Mutex::default(),
        }
    }

    /// How it is tuned.
    pub fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// Copies to the device, in the stream's order: after what was put in before, and before what is
    /// put in next. When it returns, `from` has been read, though not all of it may have arrived.
    ///
    /// # Errors
    /// [`Error::Range`] if the lengths differ, or [`Error::Driver`], also where the stream belongs
    /// to another device or is being captured. `to` is then partly overwritten, or not at all.
    pub fn upload<'a, T: Pod>(
        &self,
        stream: &Stream,
        from: &[T],
        to: impl Into<SliceMut<'a, T>>,
    ) -> Result<()> {
        let to = to.into();
        same("the source of a copy", from.len(), to.len())?;
        let (start, address) = (from.as_ptr().cast(), to.pointer().address());
        // SAFETY: both have so many bytes, and are borrowed until this returns.
        unsafe { self.upload_bytes(stream, start, address, size_of_val(from)) }
    }

    /// Copies from the device, after what was put into the stream before, and waits for the end.
    ///
    /// # Errors
    /// As [`upload`](Self::upload). Where earlier work in the stream failed, `to` is as it was.
    pub fn download<'a, T: Pod>(
        &self,
        stream: &Stream,
        from: impl Into<Slice<'a, T>>,
        to: &mut [T],
    ) -> Result<()> {
        let from = from.into();
        same("the source of a copy", from.len(), to.len())?;
        let (address, start) = (from.pointer().address(), to.as_mut_ptr().cast());
        // SAFETY: both have so many bytes, and are borrowed until this returns.
        unsafe { self.download_bytes(stream, address, start, size_of_val(to)) }
    }

    /// As [`upload`](Self::upload), of bytes that may be uninitialised: they are not looked at.
    ///
    /// # Errors
    /// As there, but for the lengths.
    ///
    /// # Safety
    /// `from` may be read and `to`, on the stream's device, written for so many bytes.
    pub(crate) unsafe fn upload_bytes(
        &self,
        stream: &Stream,
        from: *const u8,
        to: CUdeviceptr,
        bytes: usize,
    ) -> Result<()> {
        self.admit(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        if self.is_staged(from, bytes) {
            let pieces = Pieces::of(bytes, &self.tuning);
            let mut lanes = self.lanes();
            let lanes = self.ready(&mut lanes, pieces.count());
            if !lanes.is_empty() {
                // SAFETY: as the caller says.
                return unsafe { stage_up(lanes, &pieces, stream, from, to) };
            }
        }
        // SAFETY: as the caller says; nothing of it is under way after the wait.
        let copied = unsafe { put_up(from, to, bytes, stream) };
        finish(stream)?;
        copied
    }

    /// As [`download`](Self::download), to bytes that may be uninitialised.
    ///
    /// # Errors
    /// As there, but for the lengths.
    ///
    /// # Safety
    /// `from`, on the stream's device, may be read and `to` written for so many bytes.
    pub(crate) unsafe fn download_bytes(
        &self,
        stream: &Stream,
        from: CUdeviceptr,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        self.admit(stream)?;
        // No other copy waits for what is in this stream.
        finish(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        if self.is_staged(to, bytes) {
            let pieces = Pieces::of(bytes, &self.tuning);
            let mut lanes = self.lanes();
            let lanes = self.ready(&mut lanes, pieces.count());
            if !lanes.is_empty() {
                // SAFETY: as the caller says.
                return unsafe { stage_down(lanes, &pieces, from, to) };
            }
        }
        // SAFETY: as the caller says; nothing of it is under way after the wait.
        let copied = unsafe { put_down(from, to, bytes, stream) };
        finish(stream)?;
        copied
    }

    /// Refuses a stream that copies cannot be put in. Enters the context.
    fn admit(&self, stream: &Stream) -> Result<()> {
        let refused = |why: String| {
            Err(Error::Driver {
                doing: "copying between host and device",
                why,
            })
        };
        if stream.raw().context().cu_ctx() != self.device.context().cu_ctx() {
            let ordinal = self.device.facts().ordinal;
            return refused(format!("the stream does not belong to device {ordinal}"));
        }
        let capturing = stream.raw().capture_status();
        match capturing.map_err(while_doing("asking whether a stream is captured"))? {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => self.device.bind(),
            _ => refused("the stream is being captured".into()),
        }
    }

    /// Whether bytes of the host go through page-locked memory; there is at least one.
    fn is_staged(&self, host: *const u8, bytes: usize) -> bool {
        bytes >= self.tuning.from_bytes && !is_locked(host, bytes)
    }

    fn lanes(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lanes for so many pieces, made where they are missing: as many as can be had, or none.
    fn ready<'a>(&self, lanes: &'a mut Vec<Lane>, pieces: usize) -> &'a [Lane] {
        let wanted = self.tuning.threads.min(pieces);
        while lanes.len() < wanted {
            match Lane::new(&self.device, &self.tuning) {
                Ok(lane) => lanes.push(lane),
                Err(_) => break,
            }
        }
        &lanes[..wanted.min(lanes.len())]
    }
}

/// A copy, cut into pieces that threads take one after the other.
#[derive(Debug)]
struct Pieces {
    bytes: usize,
    piece: usize,
    /// The number of the piece that is taken next; those beyond the last are none.
    next: AtomicUsize,
}

impl Pieces {
    /// Pieces of a chunk each; smaller ones, down to a limit and of whole pages, where not every
    /// thread would have two.
    fn of(bytes: usize, tuning: &Tuning) -> Pieces {
        let share = bytes.div_ceil(tuning.threads.saturating_mul(2));
        let piece = share.div_ceil(PAGE).saturating_mul(PAGE);
        let chunk = tuning.chunk_bytes;
        Pieces {
            bytes,
            piece: piece.clamp(SMALLEST.min(chunk), chunk),
            next: AtomicUsize::new(0),
        }
    }

    fn count(&self) -> usize {
        self.bytes.div_ceil(self.piece)
    }

    /// The bytes of the next piece.
    fn take(&self) -> Option<Range<usize>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if number >= self.count() {
            return None;
        }
        let start = number * self.piece;
        Some(start..start.saturating_add(self.piece).min(self.bytes))
    }

    /// Nobody takes one any more.
    fn stop(&self) {
        self.next.store(self.count(), Ordering::Relaxed);
    }
}

/// What one thread copies with.
#[derive(Debug)]
struct Lane {
    stream: Stream,
    memory: Locked,
    chunk_bytes: usize,
    /// One for each chunk: that its last copy is done.
    idle: Vec<CudaEvent>,
}

impl Lane {
    fn new(device: &Arc<Device>, tuning: &Tuning) -> Result<Lane> {
        let event = |_| {
            let event = device.context().new_event(None);
            event.map_err(while_doing("making an event"))
        };
        Ok(Lane {
            stream: device.stream()?,
            memory: Locked::new(device, tuning.chunks.saturating_mul(tuning.chunk_bytes))?,
            chunk_bytes: tuning.chunk_bytes,
            idle: (0..tuning.chunks).map(event).collect::<Result<_>>()?,
        })
    }

    /// The address of a chunk.
    fn chunk(&self, number: usize) -> *mut u8 {
        debug_assert!(number < self.idle.len());
        // SAFETY: there are as many chunks as events.
        unsafe { self.memory.start().add(number * self.chunk_bytes) }
    }

    fn wait(&self, chunk: usize) -> Result<()> {
        let done = self.idle[chunk].synchronize();
        done.map_err(while_doing("waiting for a copy"))
    }

    fn mark(&self, chunk: usize) -> Result<()> {
        let marked = self.idle[chunk].record(self.stream.raw());
        marked.map_err(while_doing("recording an event"))
    }

    /// Copies pieces to the device, after `begin`, until none is left. They may not all have arrived
    /// when it returns.
    ///
    /// # Safety
    /// All pieces may be read at `from`, and written at `to`. No other thread has this lane.
    unsafe fn fill(
        &self,
        pieces: &Pieces,
        from: Host,
        to: CUdeviceptr,
        begin: &CudaEvent,
    ) -> Result<()> {
        let waited = self.stream.raw().wait(begin);
        waited.map_err(while_doing("waiting for an event"))?;
        for chunk in (0..self.idle.len()).cycle() {
            let Some(range) = pieces.take() else {
                break;
            };
            self.wait(chunk)?;
            let (start, bytes) = (self.chunk(chunk), range.len());
            // SAFETY: the piece is within the source, and no longer than the chunk, which no copy
            // uses any more.
            unsafe { from.at(range.start).copy_to_nonoverlapping(start, bytes) };
            let to = to + range.start as u64;
            // SAFETY: the chunk stays as it is until its event is reached.
            unsafe { put_up(start, to, bytes, &self.stream) }?;
            self.mark(chunk)?;
        }
        Ok(())
    }

    /// Copies pieces from the device until none is left; all have arrived when it returns.
    ///
    /// # Safety
    /// All pieces may be read at `from`, and written at `to`. No other thread has this lane.
    unsafe fn drain(&self, pieces: &Pieces, from: CUdeviceptr, to: Host) -> Result<()> {
        let mut held: Vec<Option<Range<usize>>> = vec![None; self.idle.len()];
        for chunk in (0..held.len()).cycle() {
            if let Some(range) = held[chunk].take() {
                self.wait(chunk)?;
                // SAFETY: the piece is in the chunk, and no thread but this has taken it.
                unsafe {
                    let to = to.at(range.start);
                    to.copy_from_nonoverlapping(self.chunk(chunk), range.len());
                }
            }
            if let Some(range) = pieces.take() {
                let from = from + range.start as u64;
                // SAFETY: the piece is no longer than the chunk, whose copies before are in the same
                // stream; the chunk is read when its event is reached.
                unsafe { put_down(from, self.chunk(chunk), range.len(), &self.stream) }?;
                self.mark(chunk)?;
                held[chunk] = Some(range);
            } else if held.iter().all(Option::is_none) {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // Its memory goes next, and copies may still read it.
        let _ = finish(&self.stream);
    }
}

/// Copies that lanes have under way. Unless it is over, their end is waited for when this is
/// dropped: after an error, or a panic, the caller's memory is the caller's again.
#[derive(Debug)]
struct Underway<'a> {
    lanes: &'a [Lane],
    over: bool,
}

impl Underway<'_> {
    /// They are done, or another stream waits for them.
    fn end(mut self) {
        self.over = true;
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        if !self.over {
            for lane in self.lanes {
                // A failure here is that of the copy.
                let _ = finish(&lane.stream);
            }
        }
    }
}

/// An address in the host's memory, which several threads copy to or from.
#[derive(Clone, Copy, Debug)]
struct Host(*mut u8);

// SAFETY: it is followed within pieces alone, each of which one thread has.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Host {
    /// The address so many bytes on.
    ///
    /// # Safety
    /// There are as many bytes.
    unsafe fn at(self, offset: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        unsafe { self.0.add(offset) }
    }
}

/// Copies pieces to the device with these lanes, in the order of a stream.
///
/// # Safety
/// All pieces may be read at `from`, and written at `to`. Nobody else has the lanes.
unsafe fn stage_up(
    lanes: &[Lane],
    pieces: &Pieces,
    stream: &Stream,
    from: *const u8,
    to: CUdeviceptr,
) -> Result<()> {
    let begin = stream.raw().record_event(None);
    let begin = begin.map_err(while_doing("recording an event"))?;
    let underway = Underway { lanes, over: false };
    let from = Host(from.cast_mut());
    on_each(lanes, pieces, |lane| {
        // SAFETY: as the caller says; no other thread has this lane.
        unsafe { lane.fill(pieces, from, to, &begin) }
    })?;
    for lane in lanes {
        let joined = stream.raw().join(lane.stream.raw());
        joined.map_err(while_doing("waiting for a copy"))?;
    }
    underway.end();
    Ok(())
}

/// Copies pieces from the device with these lanes, and waits for the end.
///
/// # Safety
/// All pieces may be read at `from`, and written at `to`. Nobody else has the lanes.
unsafe fn stage_down(
    lanes: &[Lane],
    pieces: &Pieces,
    from: CUdeviceptr,
    to: *mut u8,
) -> Result<()> {
    let underway = Underway { lanes, over: false };
    let to = Host(to);
    on_each(lanes, pieces, |lane| {
        // SAFETY: as the caller says; no other thread has this lane.
        unsafe { lane.drain(pieces, from, to) }
    })?;
    underway.end();
    Ok(())
}

/// Works with every lane at once, the first in the calling thread. After an error, no more pieces
/// are taken; it is returned when every thread is through.
fn on_each(
    lanes: &[Lane],
    pieces: &Pieces,
    work: impl Fn(&Lane) -> Result<()> + Sync,
) -> Result<()> {
    let Some((own, others)) = lanes.split_first() else {
        return Ok(());
    };
    let work = |lane: &Lane| {
        // A context is one thread's.
        let entered = lane.stream.device().bind();
        let done = entered.and_then(|()| work(lane));
        done.inspect_err(|_| pieces.stop())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = others
            .iter()
            .map(|lane| {
                let thread = thread::Builder::new().name("sweepsort-copy".into());
                thread.spawn_scoped(scope, move || work(lane))
            })
            .collect();
        let mut done = work(own);
        // What a thread would have taken that cannot be had, the others take.
        for thread in threads.into_iter().flatten() {
            let its = thread.join();
            done = done.and(its.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    })
}

/// Waits until a stream is through, whatever else has failed: `cudarc` does not where something
/// that was dropped has left an error.
fn finish(stream: &Stream) -> Result<()> {
    let raw = stream.raw();
    // SAFETY: the context and the stream are there as long as `stream` is.
    let waited = unsafe {
        result::ctx::set_current(raw.context().cu_ctx())
            .and_then(|()| result::stream::synchronize(raw.cu_stream()))
    };
    waited.map_err(while_doing("waiting for a stream"))
}

/// Puts a copy to the device into a stream.
///
/// # Safety
/// So many bytes are there; `from` stays as it is until the stream is through, or the driver has
/// read it: it does so at once where it is not page-locked.
unsafe fn put_up(from: *const u8, to: CUdeviceptr, bytes: usize, stream: &Stream) -> Result<()> {
    // SAFETY: as the caller says.
    let put =
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream.raw().cu_stream()) };
    put.result().map_err(while_doing("copying to the device"))
}

/// Puts a copy from the device into a stream.
///
/// # Safety
/// So many bytes are there; `to` is left alone until the stream is through.
unsafe fn put_down(from: CUdeviceptr, to: *mut u8, bytes: usize, stream: &Stream) -> Result<()> {
    // SAFETY: as the caller says.
    let put =
        unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream.raw().cu_stream()) };
    put.result().map_err(while_doing("copying from the device"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_every_byte_once() {
        let tuned = |threads, chunk_bytes| Tuning {
            threads,
            chunk_bytes,
            ..TUNING
        };
        let (page, chunk) = (PAGE, 4 * SMALLEST);
        let usual = tuned(THREADS, chunk);
        let full = 2 * THREADS * chunk;
        for (tuning, bytes, count) in [
            (usual, 0, 0),
            (usual, 1, 1),
            (usual, SMALLEST - 1, 1),
            (usual, SMALLEST, 1),
            (usual, SMALLEST + 1, 2),
            (usual, chunk - 1, 4),
            (usual, chunk, 4),
            (usual, chunk + 1, 5),
            (usual, full / 2, 2 * THREADS),
            (usual, full - 1, 2 * THREADS),
            (usual, full, 2 * THREADS),
            (usual, full + 1, 2 * THREADS + 1),
            (usual, 100 * full + 17, 200 * THREADS + 1),
            (tuned(1, 1), 5, 5),
            (tuned(3, 7), 20, 3),
            (tuned(3, 7), 21, 3),
            (tuned(3, 7), 22, 4),
            (tuned(1, usize::MAX), 10 * page, 1),
            (tuned(1, usize::MAX), 3 * SMALLEST, 2),
            (tuned(usize::MAX, page), 10 * page, 10),
        ] {
            let pieces = Pieces::of(bytes, &tuning);
            let mut end = 0;
            while let Some(range) = pieces.take() {
                assert_eq!(range.start, end, "{bytes} bytes, {tuning:?}");
                assert!(
                    range.end > end && range.len() <= tuning.chunk_bytes,
                    "{range:?} of {bytes} bytes, {tuning:?}"
                );
                end = range.end;
            }
            assert_eq!((end, pieces.count()), (bytes, count), "{tuning:?}");
            assert_eq!(pieces.take(), None, "{tuning:?}");
        }
        let pieces = Pieces::of(100, &tuned(1, 10));
        assert_eq!(pieces.take(), Some(0..10));
        pieces.stop();
        assert_eq!(pieces.take(), None);
        let all = Pieces::of(usize::MAX, &tuned(1, usize::MAX));
        assert_eq!(all.take().map(|range| range.start), Some(0));
    }
}

#[cfg(test)]
#[path = "staging_on_device.rs"]
mod on_device;
