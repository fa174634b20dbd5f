//! The engine: keys in host memory to a GPU, sorted there by a [`Plan`], and back.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, mpsc};
use std::time::{Duration, Instant};

use sweepsort_core::{
    DataState, Engine, Error, IndexMut, Report, Result, Shape, Spec, Stage, Task, WordsMut,
    same_length, with_words,
};

use crate::adapter::{Adapter, Facts, Opened};
use crate::error::{failed, scoped, scoped_memory};
use crate::kernels::{Kernels, Options};
use crate::plan::{ALGORITHMS, Bound, Buffers, Plan, unsupported};
use crate::task::widened_by;

/// Bytes that go over at a time.
const CHUNK_BYTES: usize = 64 << 20;

/// Bytes of a value that travels with its key at most.
const MAX_VALUE_BYTES: usize = 16;

/// Sorts on a GPU, through Vulkan, Metal or DirectX 12.
#[derive(Debug)]
pub struct WgpuEngine {
    facts: Facts,
    opened: Opened,
    kernels: Arc<Kernels>,
}

/// An array of a task: where it lies in host memory, and how an element looks on the device.
#[derive(Clone, Copy, Debug)]
struct Column {
    host: *mut u8,
    /// Bytes of an element in host memory, and on the device.
    host_bytes: usize,
    device_bytes: usize,
    /// Bytes of the device's element before those of the host's.
    before: usize,
}

/// A task's arrays.
struct Host {
    keys: Column,
    /// Values, or the index.
    values: Option<Column>,
    is_index: bool,
}

impl WgpuEngine {
    /// The engine on the adapter that is preferred, see [`Adapter::preferred`].
    ///
    /// # Errors
    /// [`Error::EngineAbsent`] with the reason; [`Error::Device`].
    pub fn open() -> Result<WgpuEngine> {
        Self::on(&Adapter::preferred()?, Options::default())
    }

    /// The engine on an adapter.
    ///
    /// # Errors
    /// [`Error::Device`] where it does not open.
    pub fn on(adapter: &Adapter, options: Options) -> Result<WgpuEngine> {
        let opened = adapter.open()?;
        let kernels = scoped(&opened.device, || Kernels::with(&opened.device, options))?;
        Ok(WgpuEngine {
            facts: adapter.facts().clone(),
            opened,
            kernels,
        })
    }

    /// What is known of the adapter.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The kernels.
    pub fn kernels(&self) -> &Arc<Kernels> {
        &self.kernels
    }

    /// The queue of the kernels' device.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.opened.queue
    }

    /// The plan for a task: values that do not fill words are made to.
    fn device_plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
        if !shape.argsort && shape.payload_bytes > MAX_VALUE_BYTES {
            return Err(unsupported(
                &format!("values of {} bytes", shape.payload_bytes),
                "values of up to 16 bytes, or engine cpu",
            ));
        }
        let payload_bytes = match shape.argsort {
            true => 4,
            false => shape.payload_bytes.next_multiple_of(4),
        };
        let shape = Shape {
            payload_bytes,
            ..*shape
        };
        Plan::new(&self.kernels, &shape, spec)
    }

    /// All memory is taken before the first copy, and all work is done before the first write to the host:
    /// what fails until then leaves the task's data as it was.
    fn there_and_back(&self, plan: &Plan, host: &Host) -> Result<(u32, Vec<(Stage, Duration)>)> {
        let n = plan.shape().keys;
        let device = &self.opened.device;
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        let buffer = |bytes: u64, usage| {
            scoped_memory(device, bytes, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("sweepsort"),
                    size: bytes,
                    usage,
                    mapped_at_creation: false,
                })
            })
        };
        let bytes = |column: &Column| (n * column.device_bytes) as u64;
        let keys = buffer(bytes(&host.keys), usage)?;
        let values = host.values.as_ref();
        let values = values
            .map(|column| buffer(bytes(column), usage))
            .transpose()?;
        let workspace = buffer(plan.workspace_bytes(), Plan::WORKSPACE_USAGE)?;
        let longest = host
            .keys
            .device_bytes
            .max(host.values.map_or(0, |it| it.device_bytes));
        let back = buffer(
            (n * longest).clamp(4, CHUNK_BYTES) as u64,
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        )?;
        let mut clock = Clock::new();

        self.upload(&host.keys, n, &keys)?;
        if let (Some(column), Some(values), false) = (&host.values, &values, host.is_index) {
            self.upload(column, n, values)?;
        }
        self.finish()?;
        clock.end(Stage::Transfer);

        let buffers = Buffers {
            keys: keys.slice(..),
            values: values.as_ref().map(|values| values.slice(..)),
            count: None,
            workspace: workspace.slice(..),
        };
        let bound: Result<Bound> = scoped(device, || plan.bind(&buffers))?;
        let bound = bound?;
        scoped(device, || {
            let mut encoder = device.create_command_encoder(&Default::default());
            bound.encode(&mut encoder);
            self.opened.queue.submit([encoder.finish()]);
        })?;
        let mut moves = [0; 4];
        if let Some((routes, at)) = bound.moves() {
            self.download(routes, at, &back, 4, &mut |bytes, _| {
                moves.copy_from_slice(bytes);
            })?;
        }
        clock.end(Stage::Scatter);

        let mut data = DataState::Untouched;
        let mut bring = |column: &Column, from: &wgpu::Buffer| {
            let bytes = n * column.device_bytes;
            self.download(from, 0, &back, bytes, &mut |bytes, at| {
                data = DataState::Undefined;
                // SAFETY: the column has `n` elements, which are ours while the task is borrowed.
                unsafe { column.unpack(bytes, at / column.device_bytes) };
            })
        };
        let brought = match host.is_index {
            true => Ok(()),
            false => bring(&host.keys, &keys),
        };
        let brought = brought.and_then(|()| match (&host.values, &values) {
            (Some(column), Some(values)) => bring(column, values),
            _ => Ok(()),
        });
        brought.map_err(|error| match error {
            Error::Device { engine, what, .. } => Error::Device { engine, what, data },
            other => other,
        })?;
        clock.end(Stage::Transfer);
        Ok((u32::from_le_bytes(moves), clock.stages))
    }

    /// Brings an array to the device.
    fn upload(&self, column: &Column, n: usize, to: &wgpu::Buffer) -> Result<()> {
        let queue = &self.opened.queue;
        let step = CHUNK_BYTES / column.device_bytes;
        for start in (0..n).step_by(step) {
            let len = step.min(n - start);
            let at = (start * column.device_bytes) as u64;
            let bytes = (len * column.device_bytes) as u64;
            let written = scoped_memory(&self.opened.device, bytes, || {
                let size = wgpu::BufferSize::new(bytes)?;
                let mut view = queue.write_buffer_with(to, at, size)?;
                let to = view.slice(..).as_raw_element_ptr();
                // SAFETY: the view has as many bytes, and the column `n` elements, which nobody writes
                // while the task is borrowed.
                unsafe { column.pack(start, len, to.as_ptr()) };
                Some(())
            })?;
            written.ok_or_else(|| failed("nothing could be written to the device"))?;
            queue.submit([]);
        }
        Ok(())
    }

    /// Brings bytes of a buffer back, a chunk at a time, each with where it begins.
    fn download(
        &self,
        from: &wgpu::Buffer,
        first: u64,
        back: &wgpu::Buffer,
        bytes: usize,
        take: &mut dyn FnMut(&[u8], usize),
    ) -> Result<()> {
        let device = &self.opened.device;
        let step = back.size() as usize / 48 * 48;
        let step = if step == 0 {
            back.size() as usize
        } else {
            step
        };
        for start in (0..bytes).step_by(step) {
            let len = step.min(bytes - start) as u64;
            let (sender, receiver) = mpsc::channel();
            scoped(device, || {
                let mut encoder = device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(from, first + start as u64, back, 0, len);
                self.opened.queue.submit([encoder.finish()]);
                back.map_async(wgpu::MapMode::Read, ..len, move |done| {
                    // Whoever waits for it is there, or has failed.
                    let _ = sender.send(done);
                });
            })?;
            self.finish()?;
            // Another thread that waits for the device may just be about to say it.
            receiver.recv().map_err(failed)?.map_err(failed)?;
            let view = back.get_mapped_range(..len).map_err(failed)?;
            take(&view, start);
            drop(view);
            back.unmap();
        }
        Ok(())
    }

    /// Waits for the device.
    fn finish(&self) -> Result<()> {
        let waited = self.opened.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(failed)?;
        let complaint = self.opened.complaint.lock();
        match &*complaint.unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(what) => Err(failed(what)),
        }
    }
}

impl Engine for WgpuEngine {
    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn algorithms(&self) -> &'static [&'static str] {
        ALGORITHMS
    }

    fn plan(&self, shape: &Shape, spec: &Spec) -> Result<sweepsort_core::Plan> {
        let plan = self.device_plan(shape, spec)?;
        Ok(report_plan(&plan, shape))
    }

    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        match &task {
            Task::Pairs(keys, values) => same_length(keys.len(), values.len(), "values")?,
            Task::Argsort(keys, index) => same_length(keys.len(), index.len(), "index entries")?,
            _ => {}
        }
        let shape = task.shape();
        let plan = self.device_plan(&shape, spec)?;
        let said = report_plan(&plan, &shape);
        let host = Host::of(task, plan.shape())
            .ok_or_else(|| unsupported("this kind of task", "keys, pairs or argsort"))?;
        let (moves, stages) = match shape.keys {
            0 => (0, Vec::new()),
            _ => self.there_and_back(&plan, &host)?,
        };
        let record = shape.width.bytes() + shape.payload_bytes;
        Ok(Report {
            engine: said.engine,
            algorithm: said.algorithm,
            reason: Cow::Borrowed("asked for"),
            keys: shape.keys,
            threads: 1,
            passes_possible: said.digits.len() as u32,
            passes_run: moves,
            bytes_moved: (shape.keys * (shape.width.bytes() + 2 * moves as usize * record)) as u64,
            workspace_bytes: said.workspace_bytes,
            stages,
            ..Report::default()
        })
    }
}

/// What a plan says to others: keys and values go to the device, so they count as workspace.
fn report_plan(plan: &Plan, shape: &Shape) -> sweepsort_core::Plan {
    let device = plan.shape();
    let record = device.width.bytes().max(4) + device.payload_bytes;
    let up = widened_by(shape.width.bits());
    sweepsort_core::Plan {
        engine: "wgpu",
        algorithm: plan.algorithm(),
        digits: plan
            .digits()
            .iter()
            .map(|digit| sweepsort_core::Digit {
                shift: digit.shift - up,
                ..*digit
            })
            .collect(),
        workspace_bytes: plan.workspace_bytes() as usize + shape.keys * record,
        threads: 1,
    }
}

impl Host {
    fn of(task: Task<'_>, shape: &Shape) -> Option<Host> {
        let key_bytes = shape.width.bytes();
        let keys = |host: *mut u8| Column {
            host,
            host_bytes: key_bytes,
            device_bytes: key_bytes.max(4),
            // Narrow keys are the upper bits of a word.
            before: 4usize.saturating_sub(key_bytes),
        };
        let values = |host: *mut u8, host_bytes: usize| {
            (shape.payload_bytes > 0).then_some(Column {
                host,
                host_bytes,
                device_bytes: shape.payload_bytes,
                before: 0,
            })
        };
        let start = |keys: &mut WordsMut<'_>| -> *mut u8 {
            with_words!(WordsMut, keys, |slice| slice.as_mut_ptr().cast())
        };
        Some(match task {
            Task::Keys(mut words) => Host {
                keys: keys(start(&mut words)),
                values: None,
                is_index: false,
            },
            Task::Pairs(mut words, mut pairs) => Host {
                keys: keys(start(&mut words)),
                values: values(pairs.as_mut_ptr(), pairs.value_bytes()),
                is_index: false,
            },
            Task::Argsort(words, index) => Host {
                // Only read, as an index leaves the keys.
                keys: keys(with_words!(Words, words, |slice| slice
                    .as_ptr()
                    .cast::<u8>()
                    .cast_mut())),
                values: match index {
                    IndexMut::U32(index) => values(index.as_mut_ptr().cast(), 4),
                    IndexMut::U64(index) => values(index.as_mut_ptr().cast(), 8),
                },
                is_index: true,
            },
            _ => return None,
        })
    }
}

impl Column {
    /// Writes elements as the device has them. What the host does not have of one is zero.
    ///
    /// # Safety
    /// The column has the elements, nobody writes them meanwhile, and `to` has room for them.
    unsafe fn pack(&self, start: usize, len: usize, to: *mut u8) {
        // SAFETY: the caller's promise. Elements are copied as bytes, some of which may be uninitialised.
        unsafe {
            let from = self.host.add(start * self.host_bytes);
            if self.host_bytes == self.device_bytes {
                return from.copy_to_nonoverlapping(to, len * self.host_bytes);
            }
            to.write_bytes(0, len * self.device_bytes);
            for i in 0..len {
                let to = to.add(i * self.device_bytes + self.before);
                let from = from.add(i * self.host_bytes);
                from.copy_to_nonoverlapping(to, self.host_bytes);
            }
        }
    }

    /// Writes elements to host memory, from `start` on. What the device does not have of one is zero.
    ///
    /// # Safety
    /// The column has the elements, and they are the caller's to write.
    unsafe fn unpack(&self, from: &[u8], start: usize) {
        let len = from.len() / self.device_bytes;
        // SAFETY: the caller's promise.
        unsafe {
            let to = self.host.add(start * self.host_bytes);
            if self.host_bytes == self.device_bytes {
                return from.as_ptr().copy_to_nonoverlapping(to, from.len());
            }
            let both = self.host_bytes.min(self.device_bytes - self.before);
            to.write_bytes(0, len * self.host_bytes);
            for (i, element) in from.chunks_exact(self.device_bytes).enumerate() {
                let element = element.as_ptr().add(self.before);
                element.copy_to_nonoverlapping(to.add(i * self.host_bytes), both);
            }
        }
    }
}

/// Wall time of each stage.
struct Clock {
    begin: Instant,
    stages: Vec<(Stage, Duration)>,
}

impl Clock {
    fn new() -> Clock {
        Clock {
            begin: Instant::now(),
            stages: Vec::new(),
        }
    }

    fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        self.stages.push((stage, now - self.begin));
        self.begin = now;
    }
}
