//! `wgpu_sort`, which has the wgpu of early 2024: on a device of its own, of the same adapter, with arrays
//! of its own. Timed, restored and compared as the others.
//!
//! It sorts keys of 32 bits with values of as many, in place.

use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rayon::prelude::*;
use sweepsort_core::{Codec, Spec, Words};
use sweepsort_wgpu::Facts;
use wgpu_of_2024 as wgpu;
use wgpu_sort::{GPUSorter, HISTO_BLOCK_KVS, SortBuffers};

use super::Source;
use crate::bench::clocks::{Clocks, WARM_UP_S};
use crate::bench::measure::Outcome;
use crate::bench::party::{Party, Seat};
use crate::exit::Result as Done;

/// The contender's name, and the version that the build names.
pub const NAME: &str = "wgpu_sort";
pub const VERSION: &str = "0.1";

/// Words that are uploaded at a time.
const CHUNK_WORDS: usize = 1 << 24;
/// Bytes that it takes of a binding for each key.
const BINDING_BYTES_PER_KEY: u64 = 16;

/// A device with the sorter.
pub struct Older {
    device: wgpu::Device,
    queue: wgpu::Queue,
    sorter: GPUSorter,
    timer: Timer,
    differ: wgpu::ComputePipeline,
    /// Where an output differs, on the device and on its way back.
    first: [wgpu::Buffer; 2],
    clocks: Clocks,
}

/// Two timestamps.
struct Timer {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    back: wgpu::Buffer,
    seconds: f64,
}

/// The arrays of an input.
struct Input {
    /// As they are before a sort, and what they are to be.
    before: [wgpu::Buffer; 2],
    expected: [wgpu::Buffer; 2],
    sorted: SortBuffers,
    bytes: u64,
}

/// The contender, and the input that it is to sort.
struct Entered<'a> {
    older: &'a Older,
    /// Or why there is none.
    input: Result<Input, String>,
    bandwidth: f64,
}

impl Older {
    /// Opens an adapter, and finds the sorter's parameter as its README says. On a software adapter the
    /// search for it need not end, nor a sort.
    ///
    /// # Errors
    /// Why it is absent, in a line.
    pub fn open(adapter: &Facts) -> Result<Older, String> {
        let name = &adapter.name;
        if adapter.software {
            return Err(format!(
                "the software adapter {name} does not run subgroups as a GPU does, which {NAME} relies on; \
                 name a GPU in SWEEPSORT_ADAPTER"
            ));
        }
        guarded(|| {
            let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends: wgpu::Backends::PRIMARY,
                flags: wgpu::InstanceFlags::empty(),
                ..Default::default()
            });
            let adapters = instance.enumerate_adapters(wgpu::Backends::PRIMARY);
            let found = adapters
                .into_iter()
                .find(|found| &found.get_info().name == name);
            let found = found.ok_or_else(|| format!("its wgpu does not find {name}"))?;
            if !found.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
                return Err("its wgpu has no timestamps on this device".into());
            }
            let descriptor = wgpu::DeviceDescriptor {
                label: None,
                required_features: wgpu::Features::TIMESTAMP_QUERY,
                required_limits: found.limits(),
            };
            let opened = pollster::block_on(found.request_device(&descriptor, None));
            let (device, queue) = opened.map_err(|error| error.to_string())?;
            // What is wrong shows in the output, and need not end the process.
            device.on_uncaptured_error(Box::new(|_| ()));
            let guess = wgpu_sort::utils::guess_workgroup_size(&device, &queue);
            let subgroup = pollster::block_on(guess)
                .ok_or("it finds no subgroup size with which it sorts here")?;
            let sorter = GPUSorter::new(&device, subgroup);
            let timer = Timer {
                set: device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: None,
                    ty: wgpu::QueryType::Timestamp,
                    count: 2,
                }),
                resolved: buffer(
                    &device,
                    16,
                    wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                ),
                back: buffer(&device, 16, mapped()),
                seconds: f64::from(queue.get_timestamp_period()) / 1e9,
            };
            let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(include_str!("differ.wgsl").into()),
            });
            let differ = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &shader,
                entry_point: "main",
            });
            let first = [buffer(&device, 4, array()), buffer(&device, 4, mapped())];
            Ok(Older {
                device,
                queue,
                sorter,
                timer,
                differ,
                first,
                clocks: Clocks::default(),
            })
        })
    }

    /// The contender with an input.
    pub fn party<'a>(
        &'a self,
        source: &Result<Source<'_>, String>,
        spec: &Spec,
        bandwidth: f64,
    ) -> Box<dyn Party + 'a> {
        let input = match source {
            Ok(source) => guarded(|| self.input(source, spec)),
            Err(why) => Err(why.clone()),
        };
        Box::new(Entered {
            older: self,
            input,
            bandwidth,
        })
    }

    fn input(&self, source: &Source<'_>, spec: &Spec) -> Result<Input, String> {
        let is_u32 = matches!(source.keys, Words::W32(_)) && spec.codec == Codec::UNSIGNED;
        if !is_u32 || source.value_words != 1 {
            return Err("it sorts keys of type u32 with values of 4 bytes".into());
        }
        let (n, limits) = (source.n as u64, self.device.limits());
        let blocks = n.div_ceil(HISTO_BLOCK_KVS.into());
        // It counts bytes in 32 bits.
        let most = u64::from(limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
        let most = most.min(u32::MAX.into()) / BINDING_BYTES_PER_KEY / u64::from(HISTO_BLOCK_KVS);
        let most = most.min(limits.max_compute_workgroups_per_dimension.into());
        if blocks > most {
            return Err(format!(
                "it sorts up to {} keys on this device",
                most * u64::from(HISTO_BLOCK_KVS)
            ));
        }
        let length = NonZeroU32::new(n as u32).ok_or("there are no keys")?;
        self.scoped(|| {
            Ok(Input {
                before: [
                    self.upload(source.n, &|at| source.key(at)),
                    self.upload(source.n, &|at| source.value(at)),
                ],
                expected: [
                    self.upload(source.n, &|at| source.expected_key(at)),
                    self.upload(source.n, &|at| source.expected_value(at)),
                ],
                sorted: self.sorter.create_sort_buffers(&self.device, length),
                bytes: 4 * n,
            })
        })
    }

    fn upload(&self, words: usize, word: &(dyn Fn(usize) -> u32 + Sync)) -> wgpu::Buffer {
        let made = buffer(&self.device, 4 * words as u64, array());
        for start in (0..words).step_by(CHUNK_WORDS) {
            let end = words.min(start + CHUNK_WORDS);
            let chunk: Vec<u32> = (start..end).into_par_iter().map(word).collect();
            self.queue
                .write_buffer(&made, 4 * start as u64, bytemuck::cast_slice(&chunk));
            self.submit([]);
        }
        made
    }

    /// Copies the input, where the sorter finds it.
    fn restore(&self, input: &Input) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let sorted = [input.sorted.keys(), input.sorted.values()];
        for (from, to) in input.before.iter().zip(sorted) {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, input.bytes);
        }
        self.submit([encoder.finish()]);
    }

    /// Has it copy until its clocks are up, unless it was at work just now.
    fn wake(&self, input: &Input) {
        if self.clocks.are_low() {
            let begin = Instant::now();
            while begin.elapsed().as_secs_f64() < WARM_UP_S {
                self.restore(input);
            }
        }
    }

    /// Seconds of one sort of a copy.
    fn run(&self, input: &Input) -> Result<f64, String> {
        self.wake(input);
        self.restore(input);
        let timer = &self.timer;
        self.scoped(|| {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.write_timestamp(&timer.set, 0);
            self.sorter
                .sort(&mut encoder, &self.queue, &input.sorted, None);
            encoder.write_timestamp(&timer.set, 1);
            encoder.resolve_query_set(&timer.set, 0..2, &timer.resolved, 0);
            encoder.copy_buffer_to_buffer(&timer.resolved, 0, &timer.back, 0, 16);
            self.submit([encoder.finish()]);
            Ok(())
        })?;
        let ticks: [u64; 2] = self.read(&timer.back);
        Ok(ticks[1].wrapping_sub(ticks[0]) as f64 * timer.seconds)
    }

    fn verify(&self, input: &Input) -> Result<(), String> {
        let sorted = [input.sorted.keys(), input.sorted.values()];
        let arrays = ["key", "value"].into_iter().zip(&input.expected);
        for ((what, expected), sorted) in arrays.zip(sorted) {
            let at = self.scoped(|| Ok(self.differs(expected, sorted)))?;
            if at != u32::MAX {
                return Err(format!(
                    "the {what} at {at} is not the one that belongs there"
                ));
            }
        }
        Ok(())
    }

    /// The word at which an output differs from what it is to be; 2^32 − 1 if there is none.
    fn differs(&self, expected: &wgpu::Buffer, output: &wgpu::Buffer) -> u32 {
        let [first, back] = &self.first;
        let entries: Vec<_> = (0..)
            .zip([expected, output, first])
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.differ.get_bind_group_layout(0),
            entries: &entries,
        });
        self.queue.write_buffer(first, 0, &u32::MAX.to_le_bytes());
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.differ);
            pass.set_bind_group(0, &group, &[]);
            let groups = (expected.size() / 4).div_ceil(256).min(4096);
            pass.dispatch_workgroups(groups as u32, 1, 1);
        }
        encoder.copy_buffer_to_buffer(first, 0, back, 0, 4);
        self.submit([encoder.finish()]);
        let [first]: [u32; 1] = self.read(back);
        first
    }

    /// Submits commands and waits for their end.
    fn submit<const N: usize>(&self, commands: [wgpu::CommandBuffer; N]) {
        self.queue.submit(commands);
        self.device.poll(wgpu::Maintain::Wait);
        self.clocks.worked();
    }

    /// What a buffer holds that the host can map.
    fn read<T: bytemuck::Pod>(&self, back: &wgpu::Buffer) -> T {
        let slice = back.slice(..);
        slice.map_async(wgpu::MapMode::Read, |_| ());
        self.device.poll(wgpu::Maintain::Wait);
        let value = bytemuck::pod_read_unaligned(&slice.get_mapped_range()[..size_of::<T>()]);
        back.unmap();
        value
    }

    /// Does something with the device, unless it complains.
    fn scoped<T>(&self, make: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let filters = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Validation,
        ];
        for filter in filters {
            self.device.push_error_scope(filter);
        }
        let made = make();
        let complaints = filters.map(|_| pollster::block_on(self.device.pop_error_scope()));
        match complaints.into_iter().flatten().next() {
            None => made,
            Some(error) => Err(error.to_string()),
        }
    }
}

impl Party for Entered<'_> {
    fn len(&self) -> usize {
        1
    }

    fn seat(&self, _: usize) -> Seat {
        Seat {
            name: NAME.to_owned(),
            ours: None,
            algorithm: None,
            workspace_bytes: None,
            bandwidth: self.bandwidth,
            host_clock: false,
        }
    }

    fn load(&mut self, _: usize) -> Result<(), String> {
        match &self.input {
            Ok(_) => Ok(()),
            Err(why) => Err(why.clone()),
        }
    }

    fn round(&mut self, _: usize, outcome: &mut Outcome) {
        let Ok(input) = &self.input else {
            return;
        };
        let ran = guarded(|| self.older.run(input));
        outcome.judge(ran, |outcome, seconds| {
            outcome.seconds.push(seconds);
            guarded(|| self.older.verify(input))
        });
    }

    fn wake(&mut self) -> Done<()> {
        Ok(())
    }

    fn end(&mut self, _: usize, _: &mut Outcome) -> Done<()> {
        Ok(())
    }
}

/// A peer's panic is its own defeat.
fn guarded<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("it panicked".into()))
}

/// What arrays are for.
fn array() -> wgpu::BufferUsages {
    wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST
}

/// What is read by the host.
fn mapped() -> wgpu::BufferUsages {
    wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST
}

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}
