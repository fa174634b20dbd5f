//! Ours through a plan, as a user of the device API has it: pipelines, workspace and bind group are made
//! before the clock starts.

use std::sync::Arc;

use sweepsort_core::Spec;
use sweepsort_wgpu::{Bound, Buffers, Kernels, Options, Plan};

use super::gpu::buffer;
use super::{Gpu, Input, Sort};
use crate::bench::args::Method;
use crate::exit::{Failure, Result};

/// What is done otherwise: nothing, keys ranked without subgroups, shaders without wgpu's checks.
const VARIANTS: [&str; 3] = ["text", "barriers", "unchecked"];

/// A sort by a plan.
pub struct Planned {
    algorithm: String,
    kernels: Arc<Kernels>,
    /// For one input.
    ready: Option<(Plan, Bound)>,
}

impl Planned {
    /// What a method asks for.
    ///
    /// # Errors
    /// A variant that there is not, or what the classics alone leave open.
    pub fn of(gpu: &Gpu, method: &Method) -> Result<Planned> {
        let algorithm = method.algorithm.as_deref().unwrap_or("auto");
        if method.radix_bits.is_some() || method.block.is_some() {
            return Err(Failure::input(format!(
                "{algorithm} of wgpu leaves no choice of digit or block; leave out --radix-bits and \
                 --block"
            )));
        }
        let kernels = match method.variant.as_deref() {
            None | Some("text") => gpu.engine().kernels().clone(),
            Some("barriers") => {
                let subgroups = Some(false);
                let options = Options {
                    subgroups,
                    ..Options::default()
                };
                Kernels::with(gpu.device(), options)
            }
            // SAFETY: nobody writes to keys, values or workspace while they are being sorted.
            Some("unchecked") => unsafe { Kernels::trusted(gpu.device(), Options::default()) },
            Some(name) => {
                return Err(Failure::input(format!(
                    "no variant '{name}' of wgpu; there are {}",
                    VARIANTS.join(", ")
                )));
            }
        };
        Ok(Planned {
            algorithm: algorithm.to_owned(),
            kernels,
            ready: None,
        })
    }
}

impl Sort for Planned {
    fn prepare(&mut self, gpu: &Gpu, input: &Input) -> Result<(), String> {
        // What was prepared for another input makes room first.
        self.ready = None;
        let spec = Spec {
            algorithm: self.algorithm.clone().into(),
            ..input.spec.clone()
        };
        let plan = Plan::new(&self.kernels, &input.shape, &spec);
        let plan = plan.map_err(|error| error.to_string())?;
        let bytes = plan.workspace_bytes();
        let workspace = gpu.scoped(|device| buffer(device, bytes, Plan::WORKSPACE_USAGE))?;
        let bound = gpu.scoped(|_| {
            plan.bind(&Buffers {
                keys: input.sorted_keys.slice(..),
                values: input.sorted_values.as_ref().map(|values| values.slice(..)),
                count: None,
                workspace: workspace.slice(..),
            })
        })?;
        let bound = bound.map_err(|error| error.to_string())?;
        self.ready = Some((plan, bound));
        Ok(())
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder, _: &Input) -> Result<(), String> {
        let (_, bound) = self.ready.as_ref().ok_or("nothing was prepared")?;
        bound.encode(encoder);
        Ok(())
    }

    fn algorithm(&self) -> Option<&'static str> {
        self.ready.as_ref().map(|(plan, _)| plan.algorithm())
    }

    fn workspace_bytes(&self) -> Option<u64> {
        self.ready.as_ref().map(|(plan, _)| plan.workspace_bytes())
    }
}
