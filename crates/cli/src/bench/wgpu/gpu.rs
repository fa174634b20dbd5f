//! The engine's device: buffers, the time that it takes for some work, and whether two buffers differ.

use std::time::Instant;

use rayon::prelude::*;
use sweepsort_wgpu::{Adapter, Facts, Options, WgpuEngine};

use crate::bench::clocks::{self, Clocks, More};
use crate::exit::{Failure, Result};

/// Bytes that are copied to measure the bandwidth, by a GPU and by a processor that plays one.
const COPIED_BYTES: [u64; 2] = [1 << 30, 1 << 24];
/// Words that are uploaded at a time.
const CHUNK_WORDS: usize = 1 << 24;

/// The engine, and what is measured with.
pub struct Gpu {
    engine: WgpuEngine,
    /// Takes the time, if the device can.
    timer: Option<Timer>,
    differ: wgpu::ComputePipeline,
    /// Where an output differs, on the device and on its way back.
    first: [wgpu::Buffer; 2],
    /// Bytes read and written a second by a large copy.
    pub bandwidth: f64,
    clocks: Clocks,
}

/// Two timestamps.
struct Timer {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    back: wgpu::Buffer,
    seconds: f64,
}

impl Gpu {
    /// Opens the adapter that the engine prefers, and measures how fast it copies.
    ///
    /// # Errors
    /// [`Failure::Input`] where there is no adapter.
    pub fn open() -> Result<Gpu> {
        let engine = WgpuEngine::on(&Adapter::preferred()?, Options::default())?;
        let device = engine.kernels().device();
        let timed = wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let timer = device.features().contains(timed).then(|| Timer {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(
                device,
                16,
                wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            ),
            back: buffer(device, 16, MAPPED),
            seconds: f64::from(engine.queue().get_timestamp_period()) / 1e9,
        });
        let shader = device.create_shader_module(wgpu::include_wgsl!("differ.wgsl"));
        let differ = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &shader,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let first = [buffer(device, 4, ARRAY), buffer(device, 4, MAPPED)];
        let mut gpu = Gpu {
            engine,
            timer,
            differ,
            first,
            bandwidth: 0.0,
            clocks: Clocks::default(),
        };
        gpu.bandwidth = clocks::bandwidth(|more| gpu.copies(more))?;
        Ok(gpu)
    }

    /// What is known of the adapter.
    pub fn facts(&self) -> &Facts {
        self.engine.facts()
    }

    /// The engine.
    pub fn engine(&self) -> &WgpuEngine {
        &self.engine
    }

    /// Its device.
    pub fn device(&self) -> &wgpu::Device {
        self.engine.kernels().device()
    }

    /// Whether the host's clock takes the time.
    pub fn host_clock(&self) -> bool {
        self.timer.is_none()
    }

    /// Has it copy until its clocks are up, unless it was at work just now.
    pub fn wake(&self) -> Result<()> {
        self.clocks.raise(|more| self.copies(more))
    }

    /// Large copies, one by one, as long as `more` are wanted. Returns how many bytes each had.
    fn copies(&self, more: &mut More) -> Result<u64> {
        let bytes = COPIED_BYTES[usize::from(self.facts().software)];
        let bytes = bytes.min(self.device().limits().max_buffer_size);
        let (from, to) = (self.array(bytes), self.array(bytes));
        let (from, to) = (from.map_err(Failure::system)?, to.map_err(Failure::system)?);
        let mut all = 0.0;
        loop {
            let took = self.timed(|encoder| {
                encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
                Ok(())
            });
            let took = took.map_err(Failure::system)?;
            all += took;
            if !more(all, took) {
                return Ok(bytes);
            }
        }
    }

    /// An array that contenders sort, or one to compare with. It holds anything.
    pub fn array(&self, bytes: u64) -> Result<wgpu::Buffer, String> {
        self.scoped(|device| buffer(device, bytes, ARRAY))
    }

    /// A new array of these words.
    pub fn upload(
        &self,
        words: usize,
        word: &(dyn Fn(usize) -> u32 + Sync),
    ) -> Result<wgpu::Buffer, String> {
        let array = self.array(4 * words as u64)?;
        let queue = self.engine.queue();
        for start in (0..words).step_by(CHUNK_WORDS) {
            let end = words.min(start + CHUNK_WORDS);
            let chunk: Vec<u32> = (start..end).into_par_iter().map(word).collect();
            queue.write_buffer(&array, 4 * start as u64, bytemuck::cast_slice(&chunk));
            self.submit([])?;
        }
        Ok(array)
    }

    /// Copies arrays onto others of the same lengths.
    pub fn restore(&self, pairs: &[(&wgpu::Buffer, &wgpu::Buffer)]) -> Result<(), String> {
        let mut encoder = self.device().create_command_encoder(&Default::default());
        for (from, to) in pairs {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
        }
        self.submit([encoder.finish()])
    }

    /// Seconds that the device takes for some work. What was submitted before is done by then.
    pub fn timed(
        &self,
        record: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<(), String>,
    ) -> Result<f64, String> {
        let commands = self.scoped(|device| {
            let mut encoder = device.create_command_encoder(&Default::default());
            if let Some(timer) = &self.timer {
                encoder.write_timestamp(&timer.set, 0);
            }
            record(&mut encoder)?;
            if let Some(timer) = &self.timer {
                encoder.write_timestamp(&timer.set, 1);
                encoder.resolve_query_set(&timer.set, 0..2, &timer.resolved, 0);
                encoder.copy_buffer_to_buffer(&timer.resolved, 0, &timer.back, 0, 16);
            }
            Ok::<_, String>(encoder.finish())
        })??;
        let begin = Instant::now();
        self.submit([commands])?;
        let took = begin.elapsed().as_secs_f64();
        let Some(timer) = &self.timer else {
            return Ok(took);
        };
        let ticks: [u64; 2] = self.read(&timer.back)?;
        Ok(ticks[1].wrapping_sub(ticks[0]) as f64 * timer.seconds)
    }

    /// The word at which an output differs from what it is to be, if there is one.
    pub fn differs(
        &self,
        expected: &wgpu::Buffer,
        output: &wgpu::Buffer,
    ) -> Result<Option<usize>, String> {
        let [first, back] = &self.first;
        let device = self.device();
        let entries: Vec<_> = (0..)
            .zip([expected, output, first])
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.scoped(|device| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.differ.get_bind_group_layout(0),
                entries: &entries,
            })
        })?;
        let queue = self.engine.queue();
        queue.write_buffer(first, 0, &u32::MAX.to_le_bytes());
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.differ);
            pass.set_bind_group(0, &group, &[]);
            let groups = (expected.size() / 4).div_ceil(256).min(4096);
            pass.dispatch_workgroups(groups as u32, 1, 1);
        }
        encoder.copy_buffer_to_buffer(first, 0, back, 0, 4);
        self.submit([encoder.finish()])?;
        let [first]: [u32; 1] = self.read(back)?;
        Ok((first != u32::MAX).then_some(first as usize))
    }

    /// Submits commands and waits for their end.
    fn submit<const N: usize>(&self, commands: [wgpu::CommandBuffer; N]) -> Result<(), String> {
        self.scoped(|device| {
            self.engine.queue().submit(commands);
            device.poll(wgpu::PollType::wait_indefinitely())
        })?
        .map_err(|error| error.to_string())?;
        self.clocks.worked();
        Ok(())
    }

    /// What a buffer holds that the host can map.
    fn read<T: bytemuck::Pod>(&self, back: &wgpu::Buffer) -> Result<T, String> {
        back.map_async(wgpu::MapMode::Read, .., |_| ());
        let done = self.device().poll(wgpu::PollType::wait_indefinitely());
        done.map_err(|error| error.to_string())?;
        let mapped = back.get_mapped_range(..);
        let value = mapped
            .map(|bytes| bytemuck::pod_read_unaligned(&bytes[..size_of::<T>()]))
            .map_err(|error| error.to_string());
        back.unmap();
        value
    }

    /// Does something with the device, and returns its first complaint if there is one.
    pub fn scoped<T>(&self, make: impl FnOnce(&wgpu::Device) -> T) -> Result<T, String> {
        let device = self.device();
        let filters = [
            wgpu::ErrorFilter::Internal,
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Validation,
        ];
        let scopes = filters.map(|filter| device.push_error_scope(filter));
        let made = make(device);
        // The scopes end in the opposite order.
        let complaints = scopes.into_iter().rev();
        let complaints: Vec<_> = complaints
            .filter_map(|scope| pollster::block_on(scope.pop()))
            .collect();
        match complaints.first() {
            None => Ok(made),
            Some(error) => Err(error.to_string()),
        }
    }
}

/// What arrays are for.
const ARRAY: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// What is read by the host.
const MAPPED: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

/// A buffer that holds anything.
pub fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}
