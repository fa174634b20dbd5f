//! Plans: a sort in the caller's command encoder, decided for its shape before any key is read.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Zeroable;
use sweepsort_core::{Digit, Error, Result, Shape, Spec, Width, with_width};

use crate::error::scoped_memory;
use crate::kernels::{Kernel, Kernels, LEAST_THREADS, Stage};
use crate::task::{
    CONTROL_WORDS, COUNT, Coder, MOST_PASSES, MOVES_AT, ROUTE_BYTES, TASK_BYTES, Task, digits,
    widened_by,
};
use crate::tuning::{METHODS, Method};

/// More keys than this are not sorted: a state of the look-back has 30 bits for a number.
pub const MAX_KEYS: usize = (1 << 30) - (1 << 16);

/// Workgroups that count digits, at most, and the keys that each takes at least.
const HISTOGRAM_GROUPS: u32 = 512;
const KEYS_PER_GROUP: u32 = 4096;

/// Parts of the workspace begin at multiples of this, or of what the device asks for.
const ALIGNMENT: u64 = 256;

/// A sort of one shape, decided, with its pipelines built.
///
/// [`encode`](Self::encode) puts it into the caller's encoder: one compute pass. It submits nothing, reads
/// nothing back and takes no memory.
///
/// Keys of 32 bits are words; of 64 bits two, the lower half first; of 8 and 16 bits the upper bits of a
/// word of 32. Values have 4, 8, 12 or 16 bytes, an index entry 4.
#[derive(Clone, Debug)]
pub struct Plan {
    kernels: Arc<Kernels>,
    shape: Shape,
    method: Method,
    digits: Vec<Digit>,
    tile_keys: usize,
    spans: Spans,
    /// Nothing where there are no keys.
    work: Option<Work>,
}

/// What a plan runs.
#[derive(Clone, Debug)]
struct Work {
    histograms: wgpu::ComputePipeline,
    begins: wgpu::ComputePipeline,
    /// What comes before each pass, where the tiles are put into runs.
    runs: Option<RunPipelines>,
    pass: wgpu::ComputePipeline,
    /// A task for each pass, then each again for a number of keys that comes from a buffer.
    tasks: wgpu::Buffer,
    /// Bytes from task to task.
    task_stride: u32,
    /// Histograms and more; every sort leaves it ready for the next.
    control: wgpu::Buffer,
    /// What passes have to do, with the workgroups of each.
    routes: wgpu::Buffer,
    /// Bytes from route to route.
    route_stride: u32,
    /// All of them, to be written; and one, to be read.
    route_groups: [wgpu::BindGroup; 2],
    /// The workgroups of each pass in two dimensions, where it is dispatched whether it moves keys or not.
    direct: Option<[u32; 2]>,
}

/// The pipelines that count runs of tiles and scan the counts.
#[derive(Clone, Debug)]
struct RunPipelines {
    counts: wgpu::ComputePipeline,
    scan: wgpu::ComputePipeline,
    /// Workgroups of the scan, in two dimensions.
    scan_groups: [u32; 2],
}

/// Where the parts of a workspace lie.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spans {
    states: Range<u64>,
    keys_b: Range<u64>,
    keys_c: Range<u64>,
    /// Values, where there are none in the caller's memory.
    values_a: Range<u64>,
    values_b: Range<u64>,
    bytes: u64,
}

/// Where keys and all else lie. Each begins at a multiple of the device's
/// `min_storage_buffer_offset_alignment` and may be longer than it need be.
#[derive(Clone, Copy, Debug)]
pub struct Buffers<'a> {
    /// The keys, with the usage `STORAGE`. Sorted in place; for an index only read.
    pub keys: wgpu::BufferSlice<'a>,
    /// The values, or where the index goes, with the usage `STORAGE`.
    pub values: Option<wgpu::BufferSlice<'a>>,
    /// A word with the number of keys, if that is fewer than the plan is for, at a multiple of 4; with the
    /// usage `COPY_SRC`. What lies behind these keys stays as it is.
    pub count: Option<(&'a wgpu::Buffer, u64)>,
    /// Scratch memory of [`Plan::workspace_bytes`], with [`Plan::WORKSPACE_USAGE`]. It may hold anything.
    pub workspace: wgpu::BufferSlice<'a>,
}

/// A plan with the buffers that it is to sort: what a renderer keeps for all its frames.
#[derive(Clone, Debug)]
pub struct Bound {
    work: Option<Work>,
    passes: u32,
    histogram_groups: u32,
    group: Option<wgpu::BindGroup>,
    count: Option<(wgpu::Buffer, u64)>,
}

impl Plan {
    /// The usages that a workspace must have.
    pub const WORKSPACE_USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE;

    /// Decides how tasks of this shape are sorted; `shape.keys` is the most that there can be. Builds the
    /// pipelines, if these kernels have not done so yet.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys of 128 bits, other values, more than [`MAX_KEYS`], and for what a
    /// limit of the device is too small for, which it names; [`Error::BitRange`];
    /// [`Error::UnknownAlgorithm`]; [`Error::Device`], [`Error::OutOfMemory`].
    pub fn new(kernels: &Arc<Kernels>, shape: &Shape, spec: &Spec) -> Result<Plan> {
        let method = method(&spec.algorithm, kernels)?;
        let bits = shape.width.bits();
        if spec.bits.start > spec.bits.end || spec.bits.end > bits {
            return Err(Error::BitRange {
                start: spec.bits.start,
                end: spec.bits.end,
                bits,
            });
        }
        let (key_words, value_words) = words(shape)?;
        let tiling = kernels.tiling(method, shape.keys, key_words, value_words)?;
        let tiles = shape.keys.div_ceil(tiling.keys() as usize) as u64;
        let pass_groups = tiling.groups(tiles);
        let states = match method {
            Method::Onesweep => 2 * tiles,
            Method::ReduceThenScan { .. } => pass_groups,
        };
        let states = 4 * u64::from(method.radix()) * states;
        let spans = Spans::of(shape, states, key_words, value_words, kernels.limits());
        // The largest dispatch: of a pass, or of a scan with a workgroup for each digit.
        let groups = match method {
            Method::Onesweep => pass_groups,
            Method::ReduceThenScan { .. } => pass_groups.max(method.radix().into()),
        };
        within_limits(kernels, shape, key_words, value_words, groups, &spans)?;

        let up = widened_by(bits);
        let digits = digits(
            spec.bits.start + up..spec.bits.end + up,
            method.radix_bits(),
        );
        let mut plan = Plan {
            kernels: kernels.clone(),
            shape: *shape,
            method,
            digits,
            tile_keys: tiling.keys() as usize,
            spans,
            work: None,
        };
        if shape.keys == 0 {
            return Ok(plan);
        }
        let coded = with_width!(shape.width, |W| !spec.codec.coder::<W>().is_identity());
        let pipeline = |stage| {
            kernels.pipeline(Kernel {
                stage,
                tiling,
                key_words,
                coded,
            })
        };
        let device = kernels.device();
        let passes = plan.digits.len() as u32;
        let tasks = plan.tasks(spec, tiles);
        let task_stride = stride(TASK_BYTES as u64, kernels.limits());
        let route_stride = plan.route_stride();
        let bytes = u64::from(task_stride) * tasks.len() as u64;
        let (tasks, control, routes) = scoped_memory(device, bytes, || {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sweepsort tasks"),
                size: bytes,
                usage: wgpu::BufferUsages::UNIFORM,
                mapped_at_creation: true,
            });
            if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
                for (i, task) in tasks.iter().enumerate() {
                    let at = i * task_stride as usize;
                    mapped
                        .slice(at..at + TASK_BYTES)
                        .copy_from_slice(bytemuck::bytes_of(task));
                }
            }
            buffer.unmap();
            // All zero, as new buffers are.
            let control = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sweepsort control"),
                size: 4 * CONTROL_WORDS,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let routes = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sweepsort routes"),
                size: u64::from(route_stride) * u64::from(passes),
                usage: wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::UNIFORM
                    | wgpu::BufferUsages::INDIRECT
                    | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            (buffer, control, routes)
        })?;
        let runs = match method {
            Method::Onesweep => None,
            Method::ReduceThenScan { .. } => Some(RunPipelines {
                counts: pipeline(Stage::Counts)?,
                scan: pipeline(Stage::Scan)?,
                scan_groups: kernels.in_two(method.radix()),
            }),
        };
        plan.work = Some(Work {
            histograms: pipeline(Stage::Histograms {
                passes,
                threads: kernels.histogram_threads(),
            })?,
            begins: pipeline(Stage::Begins { passes })?,
            runs,
            pass: pipeline(Stage::Pass { value_words })?,
            tasks,
            control,
            task_stride,
            route_groups: [(1, None), (2, Some(ROUTE_BYTES))].map(|(layout, size)| {
                device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("sweepsort routes"),
                    layout: kernels.layout(layout),
                    entries: &[wgpu::BindGroupEntry {
                        binding: 0,
                        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                            buffer: &routes,
                            offset: 0,
                            size: size.and_then(wgpu::BufferSize::new),
                        }),
                    }],
                })
            }),
            route_stride,
            routes,
            direct: u32::try_from(pass_groups)
                .ok()
                .filter(|&groups| groups <= kernels.direct_groups())
                .map(|groups| kernels.in_two(groups)),
        });
        Ok(plan)
    }

    /// A task for each pass, then each again with the number of keys in a buffer.
    fn tasks(&self, spec: &Spec, tiles: u64) -> Vec<Task> {
        let mut digits = [[0; 4]; MOST_PASSES];
        for (to, digit) in digits.iter_mut().zip(&self.digits) {
            *to = [digit.shift, (1 << digit.bits) - 1, 0, 0];
        }
        let task = Task {
            n: self.shape.keys as u32,
            route_rows: self.route_stride() / 16,
            tiles: match self.method {
                Method::Onesweep => tiles as u32,
                Method::ReduceThenScan { .. } => 0,
            },
            most_groups: self.kernels.most_groups(),
            ties: u32::from(spec.codec.ties),
            indexed: u32::from(self.shape.argsort),
            coder: with_width!(self.shape.width, |W| Coder::of::<W>(&spec.codec)),
            digits,
            ..Task::zeroed()
        };
        let passes = self.digits.len() as u32;
        let mut tasks = vec![task; 2 * self.digits.len()];
        for (i, task) in (0..).zip(&mut tasks) {
            (task.counted, task.pass_number) = (i / passes, i % passes);
            let digit = digits[task.pass_number as usize];
            task.digit = [digit[0], digit[1]];
        }
        tasks
    }

    /// Bytes from route to route.
    fn route_stride(&self) -> u32 {
        stride(ROUTE_BYTES, self.kernels.limits())
    }

    /// The shape that it is for.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The name of the method.
    pub fn algorithm(&self) -> &'static str {
        self.method.name()
    }

    /// The digits of the passes, in their order, of keys moved up to 32 bits where they are narrower.
    pub fn digits(&self) -> &[Digit] {
        &self.digits
    }

    /// Keys that a workgroup takes at once.
    pub fn tile_keys(&self) -> usize {
        self.tile_keys
    }

    /// Bytes of workspace that a sort needs: as much as keys and values, for an index twice the keys, and for
    /// onesweep an eleventh to a quarter of the keys more, by the size of tiles. Never nothing.
    pub fn workspace_bytes(&self) -> u64 {
        self.spans.bytes
    }

    /// Puts a sort into an encoder. To be called for each sort; where the buffers stay the same,
    /// [`bind`](Self::bind) saves making a bind group each time.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, buffers: &Buffers<'_>) -> Result<()> {
        self.bind(buffers)?.encode(encoder);
        Ok(())
    }

    /// Checks buffers and holds on to them.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for buffers that are too short, misaligned, absent or without a usage that
    /// is needed, with what would do.
    pub fn bind(&self, buffers: &Buffers<'_>) -> Result<Bound> {
        let (key_words, value_words) = words(&self.shape)?;
        let n = self.shape.keys as u64;
        let storage = wgpu::BufferUsages::STORAGE;
        let alignment = u64::from(self.kernels.limits().min_storage_buffer_offset_alignment);
        let fit = |what: &str, slice: &wgpu::BufferSlice<'_>, bytes: u64, usage| {
            fits(what, slice, bytes, usage, alignment)
        };
        fit("keys", &buffers.keys, 4 * u64::from(key_words) * n, storage)?;
        if let Some(values) = &buffers.values {
            fit("values", values, 4 * u64::from(value_words) * n, storage)?;
        }
        if buffers.values.is_some() != (value_words > 0) {
            return Err(match value_words {
                0 => unsupported("values with a plan for keys alone", "a plan for pairs"),
                _ => unsupported(
                    "this plan without values or an index to fill",
                    "both buffers",
                ),
            });
        }
        fit(
            "workspace",
            &buffers.workspace,
            self.spans.bytes,
            Self::WORKSPACE_USAGE,
        )?;
        if let Some((count, at)) = buffers.count
            && (!count.usage().contains(wgpu::BufferUsages::COPY_SRC)
                || !at.is_multiple_of(4)
                || at.checked_add(4).is_none_or(|end| end > count.size()))
        {
            return Err(unsupported(
                &format!(
                    "a number of keys at byte {at} of a buffer of {}",
                    count.size()
                ),
                "a multiple of 4 within a buffer that has the usage COPY_SRC",
            ));
        }
        let workspace = buffers.workspace;
        let group = self.work.as_ref().map(|work| {
            let span = |span: &Range<u64>| wgpu::BufferBinding {
                buffer: workspace.buffer(),
                offset: workspace.offset() + span.start,
                size: wgpu::BufferSize::new(span.end - span.start),
            };
            let values_a = match buffers.values {
                Some(values) => given(values, value_words, n),
                None => span(&self.spans.values_a),
            };
            let bindings = [
                wgpu::BufferBinding {
                    buffer: &work.tasks,
                    offset: 0,
                    size: wgpu::BufferSize::new(TASK_BYTES as u64),
                },
                given(buffers.keys, key_words, n),
                span(&self.spans.keys_b),
                span(&self.spans.keys_c),
                values_a,
                span(&self.spans.values_b),
                wgpu::BufferBinding {
                    buffer: &work.control,
                    offset: 0,
                    size: None,
                },
                span(&self.spans.states),
            ];
            let entries: Vec<_> = (0..)
                .zip(bindings)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: wgpu::BindingResource::Buffer(buffer),
                })
                .collect();
            self.kernels
                .device()
                .create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("sweepsort"),
                    layout: self.kernels.layout(0),
                    entries: &entries,
                })
        });
        Ok(Bound {
            work: self.work.clone(),
            passes: self.digits.len() as u32,
            histogram_groups: (n.div_ceil(KEYS_PER_GROUP.into()) as u32)
                .min(HISTOGRAM_GROUPS)
                .min(self.kernels.most_groups()),
            group,
            count: buffers.count.map(|(count, at)| (count.clone(), at)),
        })
    }
}

impl Bound {
    /// Puts the sort into an encoder: a copy of the number of keys if that is in a buffer, and one compute
    /// pass.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let (Some(work), Some(group)) = (&self.work, &self.group) else {
            return;
        };
        let mut first_task = 0;
        if let Some((count, at)) = &self.count {
            encoder.copy_buffer_to_buffer(count, *at, &work.control, 4 * COUNT, 4);
            first_task = self.passes;
        }
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("sweepsort"),
            timestamp_writes: None,
        });
        let task = |number: u32| [(first_task + number) * work.task_stride];
        pass.set_pipeline(&work.histograms);
        pass.set_bind_group(0, group, &task(0));
        pass.dispatch_workgroups(self.histogram_groups, 1, 1);
        pass.set_pipeline(&work.begins);
        pass.set_bind_group(1, &work.route_groups[0], &[]);
        pass.dispatch_workgroups(1, 1, 1);
        for number in 0..self.passes {
            let route_at = number * work.route_stride;
            let groups = |pass: &mut wgpu::ComputePass<'_>| match work.direct {
                Some([x, y]) if self.count.is_none() => pass.dispatch_workgroups(x, y, 1),
                _ => pass.dispatch_workgroups_indirect(&work.routes, route_at.into()),
            };
            pass.set_bind_group(0, group, &task(number));
            pass.set_bind_group(1, &work.route_groups[1], &[route_at]);
            if let Some(runs) = &work.runs {
                pass.set_pipeline(&runs.counts);
                groups(&mut pass);
                pass.set_pipeline(&runs.scan);
                pass.dispatch_workgroups(runs.scan_groups[0], runs.scan_groups[1], 1);
            }
            pass.set_pipeline(&work.pass);
            groups(&mut pass);
        }
    }

    /// A buffer that has the number of moves of the plan's last sort, and at which byte; `None` where there
    /// are no keys.
    pub(crate) fn moves(&self) -> Option<(&wgpu::Buffer, u64)> {
        self.work.as_ref().map(|work| (&work.routes, MOVES_AT))
    }
}

impl Spans {
    fn of(
        shape: &Shape,
        states: u64,
        key_words: u32,
        value_words: u32,
        limits: &wgpu::Limits,
    ) -> Spans {
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment).max(ALIGNMENT);
        let mut end = 0u64;
        // No binding is empty.
        let mut span = |bytes: u64| {
            let start = end;
            end = (start + bytes.max(ALIGNMENT)).next_multiple_of(alignment);
            start..start + bytes.max(ALIGNMENT)
        };
        let n = shape.keys as u64;
        let (keys, values) = (4 * u64::from(key_words) * n, 4 * u64::from(value_words) * n);
        Spans {
            states: span(states),
            keys_b: span(keys),
            keys_c: span(if shape.argsort { keys } else { 0 }),
            values_a: span(0),
            values_b: span(values),
            bytes: end,
        }
    }
}

/// Bytes from one to the next in a buffer whose elements have so many and are bound each on its own.
fn stride(bytes: u64, limits: &wgpu::Limits) -> u32 {
    (bytes as u32).next_multiple_of(limits.min_uniform_buffer_offset_alignment)
}

/// The names of the methods that there are, and of the choice between them.
pub(crate) const ALGORITHMS: &[&str] = &["auto", METHODS[0].0, METHODS[1].0, METHODS[2].0];

fn method(algorithm: &str, kernels: &Kernels) -> Result<Method> {
    if algorithm == "auto" {
        return Ok(kernels.method());
    }
    let named = METHODS.iter().find(|(name, _)| *name == algorithm);
    named
        .map(|(_, method)| *method)
        .ok_or_else(|| Error::UnknownAlgorithm {
            engine: "wgpu",
            name: algorithm.to_owned(),
            known: ALGORITHMS.join(", "),
        })
}

/// The words of a key and of what travels with it.
fn words(shape: &Shape) -> Result<(u32, u32)> {
    let key_words = match shape.width {
        Width::W128 => {
            return Err(unsupported(
                "keys of 128 bits",
                "keys of up to 64 bits, or engine cpu",
            ));
        }
        Width::W64 => 2,
        Width::W8 | Width::W16 | Width::W32 => 1,
    };
    let value_words = match (shape.argsort, shape.payload_bytes) {
        (true, 4) => 1,
        (true, bytes) => {
            return Err(unsupported(
                &format!("index entries of {bytes} bytes"),
                "entries of 4 bytes",
            ));
        }
        (false, bytes @ (0 | 4 | 8 | 12 | 16)) => bytes as u32 / 4,
        (false, bytes) => {
            return Err(unsupported(
                &format!("values of {bytes} bytes"),
                "values of 4, 8, 12 or 16 bytes, or an index",
            ));
        }
    };
    Ok((key_words, value_words))
}

/// Refuses what is too large for the device, and says which of its limits is short.
fn within_limits(
    kernels: &Kernels,
    shape: &Shape,
    key_words: u32,
    value_words: u32,
    groups: u64,
    spans: &Spans,
) -> Result<()> {
    let (n, limits) = (shape.keys as u64, kernels.limits());
    if shape.keys > MAX_KEYS {
        return Err(unsupported(
            &format!("{n} keys"),
            &format!("up to {MAX_KEYS} at a time, or engine cpu"),
        ));
    }
    let most = u64::from(kernels.most_groups());
    let bindings = limits.max_storage_buffer_binding_size;
    let needs = [
        (
            4 * u64::from(key_words) * n,
            bindings,
            "max_storage_buffer_binding_size",
        ),
        (
            4 * u64::from(value_words) * n,
            bindings,
            "max_storage_buffer_binding_size",
        ),
        (
            spans.states.end - spans.states.start,
            bindings,
            "max_storage_buffer_binding_size",
        ),
        (spans.bytes, limits.max_buffer_size, "max_buffer_size"),
        (
            8,
            limits.max_storage_buffers_per_shader_stage.into(),
            "max_storage_buffers_per_shader_stage",
        ),
        (
            2,
            limits
                .max_dynamic_uniform_buffers_per_pipeline_layout
                .into(),
            "max_dynamic_uniform_buffers_per_pipeline_layout",
        ),
        (
            LEAST_THREADS.into(),
            limits.max_compute_invocations_per_workgroup.into(),
            "max_compute_invocations_per_workgroup",
        ),
        (
            groups.div_ceil(most),
            most,
            "max_compute_workgroups_per_dimension",
        ),
    ];
    match needs.into_iter().find(|(need, limit, _)| need > limit) {
        None => Ok(()),
        Some((need, limit, name)) => Err(unsupported(
            &format!(
                "{n} keys of this shape: they need a {name} of {need}, the device has {limit}"
            ),
            "fewer keys at a time, a device requested with a higher limit, or engine cpu",
        )),
    }
}

/// `n` elements of the caller's, of so many words.
fn given(slice: wgpu::BufferSlice<'_>, words: u32, n: u64) -> wgpu::BufferBinding<'_> {
    wgpu::BufferBinding {
        buffer: slice.buffer(),
        offset: slice.offset(),
        size: wgpu::BufferSize::new(4 * u64::from(words) * n),
    }
}

/// Refuses a buffer that does not do.
fn fits(
    what: &str,
    slice: &wgpu::BufferSlice<'_>,
    bytes: u64,
    usage: wgpu::BufferUsages,
    alignment: u64,
) -> Result<()> {
    let (at, size) = (slice.offset(), slice.size());
    if size < bytes {
        return Err(unsupported(
            &format!("{what} of {size} bytes"),
            &format!("{bytes} bytes"),
        ));
    }
    if !at.is_multiple_of(alignment) {
        return Err(unsupported(
            &format!("{what} at byte {at} of a buffer"),
            &format!("a multiple of {alignment} (min_storage_buffer_offset_alignment)"),
        ));
    }
    if !slice.buffer().usage().contains(usage) {
        return Err(unsupported(
            &format!("{what} in a buffer for {:?}", slice.buffer().usage()),
            &format!("one for {usage:?}"),
        ));
    }
    Ok(())
}

pub(crate) fn unsupported(what: &str, instead: &str) -> Error {
    Error::Unsupported {
        engine: "wgpu",
        what: what.to_owned(),
        instead: instead.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_routes_are_aligned_and_apart() {
        for alignment in [16, 32, 64, 128, 256, 512, 4096] {
            let limits = wgpu::Limits {
                min_uniform_buffer_offset_alignment: alignment,
                ..wgpu::Limits::default()
            };
            for bytes in [ROUTE_BYTES, TASK_BYTES as u64] {
                let stride = stride(bytes, &limits);
                assert!(
                    stride.is_multiple_of(alignment) && u64::from(stride) >= bytes,
                    "{bytes} bytes, aligned to {alignment}: {stride}"
                );
            }
        }
    }

    #[test]
    fn the_parts_of_a_workspace_are_aligned_and_apart_and_as_long_as_they_must_be() {
        let sizes = [0, 1, 2, 63, 64, 65, 5760, 100_003, 1 << 28, MAX_KEYS];
        for (n, alignment) in sizes
            .into_iter()
            .flat_map(|n| [16, 64, 256, 4096].map(|a| (n, a)))
        {
            for (width, key_words) in [(Width::W16, 1u64), (Width::W32, 1), (Width::W64, 2)] {
                for shape in [
                    Shape::keys(n, width),
                    Shape::pairs(n, width, 4),
                    Shape::pairs(n, width, 16),
                    Shape::argsort(n, width, 4),
                ] {
                    let limits = wgpu::Limits {
                        min_storage_buffer_offset_alignment: alignment,
                        ..wgpu::Limits::default()
                    };
                    let value_words = shape.payload_bytes as u64 / 4;
                    let states = 8 * 256 * n.div_ceil(2048) as u64;
                    let (key, value) = (key_words as u32, value_words as u32);
                    let spans = Spans::of(&shape, states, key, value, &limits);
                    let n = n as u64;
                    let indexed = u64::from(shape.argsort);
                    // In the order of the workspace, each with the least that it must have.
                    let parts = [
                        (&spans.states, states),
                        (&spans.keys_b, 4 * key_words * n),
                        (&spans.keys_c, 4 * key_words * n * indexed),
                        (&spans.values_a, 4),
                        (&spans.values_b, 4 * value_words * n),
                    ];
                    let mut end = 0;
                    for (span, least) in parts {
                        let right = span.start >= end
                            && span.start.is_multiple_of(alignment.into())
                            && span.end - span.start >= least.max(4);
                        assert!(right, "{shape:?}, aligned to {alignment}: {spans:?}");
                        end = span.end;
                    }
                    assert!(
                        end <= spans.bytes,
                        "{shape:?}, aligned to {alignment}: {spans:?}"
                    );
                }
            }
        }
    }
}
