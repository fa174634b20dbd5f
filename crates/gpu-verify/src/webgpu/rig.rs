//! What the cases share: an engine, its device, and records in the device's memory.

use std::sync::Arc;
use std::sync::mpsc;

use anyhow::{Context, Result, anyhow};
use bytemuck::Pod;
use sweepsort_core::{Engine, Shape, Spec, Task, Word, WordsMut};
use sweepsort_wgpu::{Adapter, Bound, Kernels, Options, Plan, WgpuEngine};

use super::Place;
use crate::rig::{ascending, random, same};

/// Usages of a buffer that anything can be done with.
pub const USAGE: wgpu::BufferUsages = Plan::WORKSPACE_USAGE
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);

/// An engine, and what is done with its device beside it.
pub struct Rig {
    pub engine: WgpuEngine,
    /// Of plans beside the engine.
    kernels: Arc<Kernels>,
}

impl Rig {
    pub fn open(place: Place, options: Options) -> Result<Rig> {
        let adapter = match place {
            Place::Gpu => Adapter::preferred()?,
            Place::Software => Adapter::software()
                .context("no software adapter is installed, such as Mesa's lavapipe")?,
        };
        let engine = WgpuEngine::on(&adapter, options)?;
        Ok(Rig {
            kernels: engine.kernels().clone(),
            engine,
        })
    }

    /// The same rig, but its plans' shaders have none of wgpu's checks.
    pub fn trusted(self, options: Options) -> Rig {
        // SAFETY: the cases write to keys, values and workspace between sorts only.
        let kernels = unsafe { Kernels::trusted(self.device(), options) };
        Rig { kernels, ..self }
    }

    pub fn kernels(&self) -> &Arc<Kernels> {
        &self.kernels
    }

    pub fn device(&self) -> &wgpu::Device {
        self.kernels.device()
    }

    pub fn plan(&self, shape: Shape, spec: &Spec) -> Result<Plan> {
        Ok(Plan::new(self.kernels(), &shape, spec)?)
    }

    pub fn buffer(&self, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpu-verify"),
            size: bytes,
            usage,
            mapped_at_creation: false,
        })
    }

    /// A buffer with these elements.
    pub fn holding<T: Pod>(&self, elements: &[T]) -> wgpu::Buffer {
        let buffer = self.buffer(size_of_val(elements) as u64, USAGE);
        self.write(&buffer, 0, elements);
        buffer
    }

    /// Writes elements into a buffer, from a byte on.
    pub fn write<T: Pod>(&self, buffer: &wgpu::Buffer, at: u64, elements: &[T]) {
        let queue = self.engine.queue();
        queue.write_buffer(buffer, at, bytemuck::cast_slice(elements));
    }

    /// Submits a sort that was bound.
    pub fn sort(&self, bound: &Bound) {
        let mut encoder = self.device().create_command_encoder(&Default::default());
        bound.encode(&mut encoder);
        self.engine.queue().submit([encoder.finish()]);
    }

    /// A whole buffer's elements, when all that was submitted is done.
    pub fn read<T: Pod>(&self, buffer: &wgpu::Buffer) -> Result<Vec<T>> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let back = self.buffer(buffer.size(), usage);
        let mut encoder = self.device().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &back, 0, None);
        self.engine.queue().submit([encoder.finish()]);
        let (sender, receiver) = mpsc::channel();
        back.map_async(wgpu::MapMode::Read, .., move |done| {
            // Whoever waits for it is there, or has failed.
            let _ = sender.send(done);
        });
        self.device()
            .poll(wgpu::PollType::wait_indefinitely())
            .map_err(|error| anyhow!("the device is not waited for: {error}"))?;
        receiver.recv()?.map_err(|error| anyhow!("{error}"))?;
        let view = back
            .get_mapped_range(..)
            .map_err(|error| anyhow!("{error}"))?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }

    /// Whether wgpu has nothing to complain of, and the engine still sorts.
    pub fn is_well(&self) -> Result<()> {
        let mut keys = random::<u32>(3000, 5, u32::MAX);
        let mut expected = keys.clone();
        expected.sort_unstable();
        let task = Task::Keys(WordsMut::from(&mut keys[..]));
        self.engine.run(task, &Spec::natural::<u32>())?;
        same("keys sorted afterwards", &keys, &expected)
    }
}

/// Words on the host, to be sorted in the device's memory, and what travels with them.
#[derive(Clone)]
pub struct Records<W> {
    pub shape: Shape,
    pub keys: Vec<W>,
    /// The values' words, or an index that is yet to be filled; none where the shape has none.
    pub values: Vec<u32>,
}

impl<W: Word> Records<W> {
    /// Random keys of which some are equal, and values by which they can be told apart.
    pub fn new(shape: Shape, seed: u64) -> Self {
        let few = W::truncate(crate::large::FEW);
        Records {
            shape,
            keys: random(shape.keys, seed, few),
            values: random(shape.keys * shape.payload_bytes / 4, !seed, u32::MAX),
        }
    }

    /// Shapes of every kind of work for `n` keys.
    pub fn shapes(n: usize) -> [Shape; 4] {
        [
            Shape::keys(n, W::WIDTH),
            Shape::pairs(n, W::WIDTH, 4),
            Shape::pairs(n, W::WIDTH, 12),
            Shape::argsort(n, W::WIDTH, 4),
        ]
    }

    pub fn spec() -> Spec {
        Self::spec_of("auto")
    }

    pub fn spec_of(algorithm: &'static str) -> Spec {
        ascending(W::WIDTH, algorithm)
    }

    /// The same with the first `count` records sorted, or their index made.
    pub fn sorted(&self, count: usize) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&i| self.keys[i]);
        let mut sorted = self.clone();
        let words = self.shape.payload_bytes / 4;
        for (to, &from) in order.iter().enumerate() {
            if self.shape.argsort {
                sorted.values[to] = from as u32;
                continue;
            }
            sorted.keys[to] = self.keys[from];
            let value = &self.values[from * words..(from + 1) * words];
            sorted.values[to * words..(to + 1) * words].copy_from_slice(value);
        }
        sorted
    }

    /// Whether others are the same.
    pub fn compare(&self, what: &str, keys: &[W], values: &[u32]) -> Result<()> {
        same(&format!("{what}: keys"), keys, &self.keys)?;
        same(&format!("{what}: words of values"), values, &self.values)
    }
}
