//! Tasks on keys in host memory: to the device, sorted there by a plan, and back.

use sweepsort_core::{DataState, Error, IndexMut, Result, Stage, Task, WordsMut, with_words};

use super::CudaEngine;
use crate::error::Result as DeviceResult;
use crate::memory::SliceMut;
use crate::onesweep::Places;
use crate::plan::{Plan, Ran};
use crate::stream::Clock;

/// Where a task's arrays lie in host memory. They are borrowed as long as the task.
struct Host {
    keys: *mut u8,
    /// Values, or the index; null where there are none.
    values: *mut u8,
    /// Whether the values are read, and the keys written: not for an index.
    is_index: bool,
}

impl Host {
    fn of(task: Task<'_>) -> Option<Host> {
        let start = |keys: &mut WordsMut<'_>| -> *mut u8 {
            with_words!(WordsMut, keys, |slice| slice.as_mut_ptr().cast())
        };
        Some(match task {
            Task::Keys(mut keys) => Host {
                keys: start(&mut keys),
                values: std::ptr::null_mut(),
                is_index: false,
            },
            Task::Pairs(mut keys, mut values) => Host {
                keys: start(&mut keys),
                values: values.as_mut_ptr(),
                is_index: false,
            },
            Task::Argsort(keys, index) => Host {
                // Only read, as an index leaves the keys.
                keys: with_words!(Words, keys, |slice| slice.as_ptr().cast::<u8>().cast_mut()),
                values: match index {
                    IndexMut::U32(index) => index.as_mut_ptr().cast(),
                    IndexMut::U64(index) => index.as_mut_ptr().cast(),
                },
                is_index: true,
            },
            _ => return None,
        })
    }
}

impl CudaEngine {
    /// Runs a task by a plan.
    pub(super) fn run_plan(
        &self,
        task: Task<'_>,
        plan: &Plan,
        clock: &mut Clock,
    ) -> Result<(Ran, DeviceResult<()>)> {
        let host = Host::of(task).ok_or_else(|| Error::Unsupported {
            engine: "cuda",
            what: "this kind of task".into(),
            instead: "keys, pairs or argsort".into(),
        })?;
        // SAFETY: the task's arrays are borrowed until this returns, and of the plan's shape.
        let done = unsafe { self.there_and_back(plan, &host, clock) };
        done.map_err(|error| error.into_core(DataState::Untouched))
    }

    /// All memory is taken before the first copy, and all work is done before the first write to the
    /// host: what fails until then leaves the task's data as it was. Returns what was done, and whether
    /// the output came back.
    ///
    /// # Safety
    /// The host's arrays are those of the plan's shape, and nobody else's meanwhile.
    unsafe fn there_and_back(
        &self,
        plan: &Plan,
        host: &Host,
        clock: &mut Clock,
    ) -> DeviceResult<(Ran, DeviceResult<()>)> {
        let (stream, shape) = (&self.stream, plan.shape());
        let key_bytes = shape.keys * shape.width.bytes();
        let value_bytes = shape.keys * shape.payload_bytes;
        let keys = stream.alloc::<u8>(key_bytes)?;
        let values = stream.alloc::<u8>(value_bytes)?;
        let mut workspace = stream.alloc::<u8>(plan.workspace_bytes())?;
        let (keys_at, values_at) = (keys.pointer().address(), values.pointer().address());

        // SAFETY: the buffers are as long as the host's arrays.
        unsafe {
            self.staging
                .upload_bytes(stream, host.keys, keys_at, key_bytes)?;
            if !host.is_index {
                self.staging
                    .upload_bytes(stream, host.values, values_at, value_bytes)?;
            }
        }
        clock.end(Stage::Transfer, stream)?;
        let places = Places {
            keys: keys_at,
            keys_to: if host.is_index { 0 } else { keys_at },
            values: if host.is_index { 0 } else { values_at },
            values_to: values_at,
        };
        let workspace = SliceMut::from(&mut workspace);
        let (at, len) = (workspace.pointer(), workspace.len());
        // SAFETY: the buffers have the plan's shape, and are used in this stream alone.
        let ran = unsafe {
            plan.enqueue(stream, places, workspace, &mut Some(&mut *clock))?;
            plan.ran(stream, &SliceMut::from_raw(at, len))?
        };
        stream.synchronize()?;
        let back = || {
            // SAFETY: as above.
            unsafe {
                if !host.is_index {
                    self.staging
                        .download_bytes(stream, keys_at, host.keys, key_bytes)?;
                }
                self.staging
                    .download_bytes(stream, values_at, host.values, value_bytes)
            }
        };
        Ok((ran, back()))
    }
}
