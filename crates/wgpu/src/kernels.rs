//! The shaders of a device: what is chosen for it, and its pipelines, each built when first asked for.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sweepsort_core::Result;

use crate::plan::MAX_KEYS;
use crate::shader;
use crate::task::{ROUTE_BYTES, TASK_BYTES};
use crate::tuning::{DIRECT_GROUPS, Method, Ranking, Room, TEAM_SIZE, Tiling};

/// The vendors on whose devices ranks by ballots have been proven: NVIDIA's, and Mesa's for software. WGSL does
/// not promise that a subgroup's atomics on workgroup memory come one after the other as written, which those
/// ranks rest on; elsewhere they are made with barriers, which need no promise.
const PROVEN_SUBGROUPS: [u32; 2] = [NVIDIA, 0x10005];

const NVIDIA: u32 = 0x10de;

/// The vendor whose devices begin workgroups in the order of their numbers, as far as was seen. Were
/// it otherwise, tiles would be counted for those that have not begun: slow, but right.
const BEGINS_IN_ORDER: u32 = NVIDIA;

/// Threads of every workgroup but those of passes and those that count digits; every device must have them.
pub(crate) const LEAST_THREADS: u32 = 256;

/// Threads that count digits, where a device has as many.
const HISTOGRAM_THREADS: u32 = 512;

/// The keys for which states are read ahead of time, by their words; where there are few tiles, they always are.
/// On an H200, many keys of two words are sorted 8 % faster with it, and those of one 1 % slower.
const AHEAD_KEY_WORDS: u32 = 2;

/// What is to be done otherwise than a device allows or the engine thinks best: for tests and measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether keys are ranked by subgroups, where the device has the feature `SUBGROUP`. Unless said
    /// otherwise they are on devices of vendors for whom this has been proven.
    pub subgroups: Option<bool>,
    /// Bytes of workgroup memory to be used at most.
    pub workgroup_storage: Option<u32>,
    /// Threads of a workgroup and words of keys that each takes, instead of the engine's choice.
    pub tile: Option<(u32, u32)>,
    /// Workgroups of a dispatch in one dimension at most; from there on it has two.
    pub most_groups: Option<u32>,
    /// Workgroups of a pass up to which it is dispatched even if it turns out to move no keys.
    pub direct: Option<u32>,
    /// Whether few keys are sorted like many: in tiles of the same size, each looking back step by step.
    pub like_many: bool,
    /// Runs that the tiles are put into at most, by the methods that do so.
    pub runs: Option<u32>,
    /// Whether tiles are taken by tickets, so that those before have begun, or by the workgroups' numbers.
    pub tickets: Option<bool>,
    /// Whether no tile tells others what it counted, so that every one is counted again by those after it.
    /// Slow, and for tests alone.
    pub silent: bool,
}

/// The sorting kernels of a device: shared by all plans, and by all threads.
///
/// Subgroups are used where the device has the feature `SUBGROUP`, which you have to ask for when you request
/// yours, and where that is proven to sort; see [`Options::subgroups`].
pub struct Kernels {
    device: wgpu::Device,
    limits: wgpu::Limits,
    room: Room,
    /// Whether tiles are taken by tickets.
    tickets: bool,
    options: Options,
    trusted: bool,
    cache: Option<wgpu::PipelineCache>,
    /// Of the task and arrays; of routes that are written; of routes that are read.
    layouts: [wgpu::BindGroupLayout; 3],
    /// Of shaders with the first layout, and with each of the others too.
    pipeline_layouts: [wgpu::PipelineLayout; 3],
    pipelines: Mutex<HashMap<Kernel, wgpu::ComputePipeline>>,
}

/// A shader with all that varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub stage: Stage,
    pub tiling: Tiling,
    pub key_words: u32,
    /// Whether keys are not their own codes.
    pub coded: bool,
}

/// What a shader does, with what only it wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    Histograms { passes: u32, threads: u32 },
    Begins { passes: u32 },
    Counts,
    Scan,
    Pass { value_words: u32 },
}

impl Kernels {
    /// The kernels of a device, none of them built yet.
    pub fn new(device: &wgpu::Device) -> Arc<Kernels> {
        Self::with(device, Options::default())
    }

    /// The same, with options.
    pub fn with(device: &wgpu::Device, options: Options) -> Arc<Kernels> {
        Arc::new(Self::made(device, options, false))
    }

    /// The same, with pipelines that go through a cache of the caller's: one filled in an earlier run of the program
    /// saves compiling shaders, on backends that have such caches and drivers that keep none themselves. `cache` is
    /// of this device.
    pub fn cached(
        device: &wgpu::Device,
        options: Options,
        cache: wgpu::PipelineCache,
    ) -> Arc<Kernels> {
        Arc::new(Kernels {
            cache: Some(cache),
            ..Self::made(device, options, false)
        })
    }

    /// The same, without the checks that wgpu puts into shaders: some per cent faster.
    ///
    /// # Safety
    /// The shaders stay within their bindings as long as nobody writes to the workspace or, while they are
    /// being sorted, to keys and values; a number of keys in a buffer is cut to what the plan is for. Whoever
    /// calls this trusts that this is so.
    pub unsafe fn trusted(device: &wgpu::Device, options: Options) -> Arc<Kernels> {
        Arc::new(Self::made(device, options, true))
    }

    fn made(device: &wgpu::Device, options: Options, trusted: bool) -> Kernels {
        let (limits, info) = (device.limits(), device.adapter_info());
        let wanted = options
            .subgroups
            .unwrap_or(PROVEN_SUBGROUPS.contains(&info.vendor));
        let there = device.features().contains(wgpu::Features::SUBGROUP);
        let (ranking, team_size) = if there && wanted {
            let most = info.subgroup_max_size;
            (Ranking::Subgroups { most }, info.subgroup_min_size)
        } else {
            (Ranking::Barriers, TEAM_SIZE)
        };
        let storage = limits.max_compute_workgroup_storage_size;
        let room = Room {
            storage: storage.min(options.workgroup_storage.unwrap_or(storage)),
            threads: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            ranking,
            team_size,
            tile: options.tile,
            runs: options.runs,
            like_many: options.like_many,
        };
        let storage = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let mut entries = vec![wgpu::BindGroupLayoutEntry {
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: wgpu::BufferSize::new(TASK_BYTES as u64),
            },
            ..storage(0)
        }];
        entries.extend((1..8).map(storage));
        let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("sweepsort"),
                entries,
            })
        };
        let read = wgpu::BindGroupLayoutEntry {
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: wgpu::BufferSize::new(ROUTE_BYTES),
            },
            ..storage(0)
        };
        let layouts = [layout(&entries), layout(&[storage(0)]), layout(&[read])];
        let pipeline_layout = |layouts: &[Option<&wgpu::BindGroupLayout>]| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("sweepsort"),
                bind_group_layouts: layouts,
                immediate_size: 0,
            })
        };
        let pipeline_layouts = [
            pipeline_layout(&[Some(&layouts[0])]),
            pipeline_layout(&[Some(&layouts[0]), Some(&layouts[1])]),
            pipeline_layout(&[Some(&layouts[0]), Some(&layouts[2])]),
        ];
        Kernels {
            device: device.clone(),
            limits,
            room,
            tickets: options.tickets.unwrap_or(info.vendor != BEGINS_IN_ORDER),
            options,
            trusted,
            cache: None,
            layouts,
            pipeline_layouts,
            pipelines: Mutex::default(),
        }
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// How keys of 32 bits are ranked within a tile: `subgroups` or `barriers`.
    pub fn ranking(&self) -> &'static str {
        let tiling = self.tiling(self.method(), MAX_KEYS, 1, 0);
        match tiling.map_or(self.room.ranking, |tiling| tiling.ranking) {
            Ranking::Subgroups { .. } => "subgroups",
            Ranking::Barriers => "barriers",
        }
    }

    pub(crate) fn limits(&self) -> &wgpu::Limits {
        &self.limits
    }

    pub(crate) fn layout(&self, group: usize) -> &wgpu::BindGroupLayout {
        &self.layouts[group]
    }

    /// Workgroups of a dispatch in one dimension at most.
    pub(crate) fn most_groups(&self) -> u32 {
        let most = self.limits.max_compute_workgroups_per_dimension;
        most.min(self.options.most_groups.unwrap_or(most))
    }

    /// So many workgroups, which are some, in two dimensions; the last row may be longer.
    pub(crate) fn in_two(&self, groups: u32) -> [u32; 2] {
        let across = groups.min(self.most_groups());
        [across, groups.div_ceil(across)]
    }

    /// Workgroups of a pass up to which it is dispatched even if it turns out to move no keys.
    pub(crate) fn direct_groups(&self) -> u32 {
        self.options.direct.unwrap_or(DIRECT_GROUPS)
    }

    /// The method that is best for the device.
    pub(crate) fn method(&self) -> Method {
        Method::Onesweep
    }

    /// Threads of a workgroup that counts digits.
    pub(crate) fn histogram_threads(&self) -> u32 {
        match self.room.threads {
            ..HISTOGRAM_THREADS => LEAST_THREADS,
            _ => HISTOGRAM_THREADS,
        }
    }

    /// The tiles of a method for so many keys and values of so many words.
    pub(crate) fn tiling(
        &self,
        method: Method,
        keys: usize,
        key_words: u32,
        value_words: u32,
    ) -> Result<Tiling> {
        Tiling::choose(&self.room, method, keys, key_words, value_words)
    }

    /// A pipeline, built if it is asked for for the first time.
    ///
    /// # Errors
    /// [`Error::Device`](sweepsort_core::Error::Device) where the device refuses it.
    pub(crate) fn pipeline(&self, kernel: Kernel) -> Result<wgpu::ComputePipeline> {
        let mut pipelines = self
            .pipelines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&kernel) {
            return Ok(pipeline.clone());
        }
        let pipeline = crate::error::scoped(&self.device, || self.build(kernel))?;
        pipelines.insert(kernel, pipeline.clone());
        Ok(pipeline)
    }

    fn build(&self, kernel: Kernel) -> wgpu::ComputePipeline {
        let (source, constants) = Self::source(kernel, self.tickets, self.options.silent);
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(kernel.name()),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        };
        let module = if self.trusted {
            // SAFETY: whoever made these kernels trusted the shaders, see `trusted`.
            unsafe {
                self.device.create_shader_module_trusted(
                    descriptor,
                    wgpu::ShaderRuntimeChecks::unchecked(),
                )
            }
        } else {
            self.device.create_shader_module(descriptor)
        };
        let layout = match kernel.stage {
            Stage::Histograms { .. } => 0,
            Stage::Begins { .. } => 1,
            Stage::Counts | Stage::Scan | Stage::Pass { .. } => 2,
        };
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel.name()),
                layout: Some(&self.pipeline_layouts[layout]),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    // The shaders write whatever they read.
                    zero_initialize_workgroup_memory: false,
                },
                cache: self.cache.as_ref(),
            })
    }

    /// A kernel's shader, and the values of its overrides. `tickets` and `silent` as in [`Options`].
    fn source(kernel: Kernel, tickets: bool, silent: bool) -> (String, Vec<(&'static str, f64)>) {
        let Kernel {
            stage,
            tiling,
            key_words,
            coded,
        } = kernel;
        let (method, radix) = (tiling.method, tiling.method.radix());
        let [key, staged] = key_files(key_words);
        let mut files = vec!["task", key];
        let mut asked = vec![("RADIX_BITS", method.radix_bits()), ("RADIX", radix)];
        let mut constants = vec![
            ("CODED", flag(coded)),
            ("TILE", f64::from(tiling.keys())),
            ("RUNS", f64::from(tiling.runs)),
        ];
        let mut words = 1;
        match stage {
            Stage::Histograms { passes, threads } => {
                files.push("histograms");
                asked.extend([("PASSES", passes), ("THREADS", threads)]);
            }
            Stage::Begins { passes } => {
                files.push("begins");
                let items = (passes * radix).div_ceil(LEAST_THREADS);
                asked.extend([("PASSES", passes), ("ITEMS", items)]);
            }
            Stage::Counts => files.push("counts"),
            Stage::Scan => files.push("scan"),
            Stage::Pass { value_words } => {
                files.extend(["pass", staged]);
                files.extend(method.files(tiling.few));
                files.extend(tiling.ranking.files());
                asked.extend([
                    ("ITEMS", tiling.items),
                    ("SHARES", tiling.shares()),
                    ("TEAMS", tiling.teams),
                ]);
                constants.extend([
                    ("THREADS", f64::from(tiling.threads)),
                    ("TEAM_DIGITS", f64::from(tiling.teams * radix)),
                    ("TEAM_WORDS", f64::from(tiling.team_words())),
                    ("ROOM", f64::from(tiling.room_words(key_words))),
                    ("VALUES", flag(value_words > 0)),
                ]);
                words = value_words.max(1);
            }
        }
        if files.contains(&"look_back") {
            constants.extend([
                ("TICKETED", flag(tickets)),
                ("SILENT", flag(silent)),
                ("AHEAD", flag(tiling.few || key_words == AHEAD_KEY_WORDS)),
            ]);
        }
        (shader::source(&files, &asked, words), constants)
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels")
            .field("room", &self.room)
            .field("options", &self.options)
            .field("trusted", &self.trusted)
            .finish_non_exhaustive()
    }
}

impl Kernel {
    fn name(&self) -> &'static str {
        match self.stage {
            Stage::Histograms { .. } => "sweepsort histograms",
            Stage::Begins { .. } => "sweepsort begins",
            Stage::Counts => "sweepsort counts",
            Stage::Scan => "sweepsort scan",
            Stage::Pass { .. } => "sweepsort pass",
        }
    }
}

/// The files that know keys of so many words.
fn key_files(key_words: u32) -> [&'static str; 2] {
    match key_words {
        1 => ["key_32", "staged_32"],
        _ => ["key_64", "staged_64"],
    }
}

fn flag(set: bool) -> f64 {
    f64::from(u8::from(set))
}
