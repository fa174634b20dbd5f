//! Lampshade, on our device and arrays: it is given the features and limits that its own context asks
//! for.
//!
//! Keys alone go from one array to another; keys and values, which lie apart, are sorted in place. An
//! argsort is a sort of keys with positions as values. Sorters, workspaces and bindings are made before
//! the clock starts.

use lampshade::{KeyValueSoaSorter, Sorter};
use sweepsort_core::{Codec, Width};

use super::{Gpu, Input, Sort};
use crate::bench::contender::Task;

/// The version that the build names.
const VERSION: &str = "0.13";

/// Lampshade for a task, and its version.
pub fn lampshade(gpu: &Gpu, task: Task) -> (Box<dyn Sort>, &'static str) {
    let (device, queue) = (gpu.device(), gpu.engine().queue());
    let sort: Box<dyn Sort> = match task {
        Task::Keys => {
            let sorter = Sorter::new_for_adapter(device, queue, &device.adapter_info());
            Box::new(Keys(sorter))
        }
        Task::Pairs | Task::Argsort => Box::new(Apart(KeyValueSoaSorter::new(device, queue))),
    };
    (sort, VERSION)
}

/// Keys alone.
struct Keys(Sorter);

/// Keys and values apart.
struct Apart(KeyValueSoaSorter);

/// Refuses what is not keys of 32 bits with values of as many; answers with the number of keys.
fn count(input: &Input) -> Result<u32, String> {
    let shape = &input.shape;
    let fits = input.spec.codec == Codec::UNSIGNED
        && shape.width == Width::W32
        && matches!(shape.payload_bytes, 0 | 4);
    match u32::try_from(shape.keys) {
        Ok(n) if fits => Ok(n),
        _ => Err("it sorts fewer than 2^32 keys of type u32, values of 4 bytes".into()),
    }
}

fn words(error: lampshade::Error) -> String {
    error.to_string()
}

impl Sort for Keys {
    fn prepare(&mut self, gpu: &Gpu, input: &Input) -> Result<(), String> {
        let n = count(input)?;
        // A sort that is recorded and not submitted makes the workspace.
        gpu.scoped(|device| {
            let mut encoder = device.create_command_encoder(&Default::default());
            let recorded = self
                .0
                .record_sort(&mut encoder, &input.keys, &input.sorted_keys, n);
            recorded.map_err(words)
        })?
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder, input: &Input) -> Result<(), String> {
        let n = count(input)?;
        let recorded = self
            .0
            .record_sort(encoder, &input.keys, &input.sorted_keys, n);
        recorded.map_err(words)
    }
}

impl Sort for Apart {
    fn prepare(&mut self, gpu: &Gpu, input: &Input) -> Result<(), String> {
        let n = count(input)?;
        let values = input.sorted_values.as_ref().ok_or("there are no values")?;
        gpu.scoped(|_| {
            self.0
                .prepare_sort(&input.sorted_keys, values, n)
                .map_err(words)
        })?
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder, input: &Input) -> Result<(), String> {
        let n = count(input)?;
        let values = input.sorted_values.as_ref().ok_or("there are no values")?;
        let recorded = self
            .0
            .record_reserved_sort(encoder, &input.sorted_keys, values, n);
        recorded.map_err(words)
    }
}
