//! The engine: keys in host memory to the device, sorted there, and back.
//!
//! | file | what it holds |
//! |---|---|
//! | `host` | tasks sorted by a plan: memory on the device, the way there and back |
//! | `classic` | the teaching texts' algorithms, also of what lies on the device |

mod classic;
mod host;

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use sweepsort_core::{
    DataState, Engine, Error, Plan, Report, Result, Shape, Spec, Stage, Task, same_length,
};

use crate::algorithm::{Algorithm, Refusal};
use crate::classic::Variant;
use crate::device::Device;
use crate::plan::Ran;
use crate::staging::Staging;
use crate::stream::{Clock, Sides, Stream};

/// Sorts on an NVIDIA GPU.
#[derive(Debug)]
pub struct CudaEngine {
    device: Arc<Device>,
    stream: Stream,
    staging: Staging,
    sides: Mutex<Sides>,
    /// Bits of a digit, where the algorithm leaves a choice; `None` for the algorithm's own.
    pub radix_bits: Option<u32>,
    /// Keys of a block or tile; `None` for the algorithm's own.
    pub block: Option<usize>,
    /// What is done otherwise than the algorithm has it.
    pub variant: Variant,
}

impl CudaEngine {
    /// The engine on a device.
    ///
    /// # Errors
    /// [`Error::EngineAbsent`] with the reason.
    pub fn open(ordinal: usize) -> Result<CudaEngine> {
        let device =
            Device::open(ordinal).map_err(|error| error.into_core(DataState::Untouched))?;
        Self::on(device)
    }

    /// The engine on an open device.
    ///
    /// # Errors
    /// [`Error::Device`] where it has no stream to give.
    pub fn on(device: Arc<Device>) -> Result<CudaEngine> {
        let failed = |error: crate::Error| error.into_core(DataState::Untouched);
        Ok(CudaEngine {
            stream: device.stream().map_err(failed)?,
            staging: Staging::new(&device),
            sides: Mutex::new(Sides::new(&device).map_err(failed)?),
            device,
            radix_bits: None,
            block: None,
            variant: Variant::Text,
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The stream that its work is put in.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Whether an algorithm takes this digit, block and variant, for keys of some width.
    ///
    /// # Errors
    /// [`Error::UnknownAlgorithm`], [`Error::Unsupported`].
    pub fn check(&self, algorithm: &str) -> Result<()> {
        if !Algorithm::is_own(algorithm) {
            self.options::<u32>(self.classic(algorithm)?, 0..u32::BITS)?;
            return Ok(());
        }
        match (self.radix_bits, self.block, self.variant) {
            (None, None, Variant::Text) => Ok(()),
            _ => Err(Error::Unsupported {
                engine: self.name(),
                what: format!("a choice of digit, block or variant for algorithm '{algorithm}'"),
                instead: "a classic, such as block-histogram".into(),
            }),
        }
    }
}

impl CudaEngine {
    /// The plan of one of the engine's own sorts, and what it says to others: keys and values go to the
    /// device, so they count as workspace.
    fn own_plan(&self, shape: &Shape, spec: &Spec) -> Result<(crate::Plan, Plan)> {
        Algorithm::of(shape, spec).map_err(|Refusal { what, instead }| Error::Unsupported {
            engine: self.name(),
            what,
            instead,
        })?;
        let own = crate::Plan::new(&self.device, shape, spec);
        let own = own.map_err(|error| error.into_core(DataState::Untouched))?;
        let record = shape.width.bytes() + shape.payload_bytes;
        let plan = Plan {
            engine: self.name(),
            algorithm: own.algorithm(),
            digits: own.digits(),
            workspace_bytes: own.workspace_bytes() + shape.keys * record,
            threads: 1,
        };
        Ok((own, plan))
    }
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn algorithms(&self) -> &'static [&'static str] {
        const NAMES: &[&str] = &[
            Algorithm::AUTO,
            Algorithm::Onesweep.name(),
            Algorithm::Hybrid.name(),
            Algorithm::Count.name(),
            "split",
            "four-way",
            "block-histogram",
            "tile-merge",
            "coalesced",
        ];
        NAMES
    }

    fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
        self.check(&spec.algorithm)?;
        if !Algorithm::is_own(&spec.algorithm) {
            return self.plan_classic(shape, spec);
        }
        Ok(self.own_plan(shape, spec)?.1)
    }

    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        match &task {
            Task::Pairs(keys, values) => same_length(keys.len(), values.len(), "values")?,
            Task::Argsort(keys, index) => same_length(keys.len(), index.len(), "index entries")?,
            _ => {}
        }
        self.check(&spec.algorithm)?;
        let shape = task.shape();
        let mut clock = Clock::new();
        let start = |clock: &mut Clock| {
            let started = clock.start(&self.stream);
            started.map_err(|error| error.into_core(DataState::Untouched))
        };
        let (plan, possible, ran, read) = if Algorithm::is_own(&spec.algorithm) {
            let (own, plan) = self.own_plan(&shape, spec)?;
            start(&mut clock)?;
            let (ran, read) = self.run_plan(task, &own, &mut clock)?;
            (plan, own.passes(), ran, read)
        } else {
            let plan = self.plan_classic(&shape, spec)?;
            start(&mut clock)?;
            let (passes, read) = self.run_classic(task, spec, &mut clock)?;
            let possible = match plan.digits.len() {
                0 => passes,
                digits => digits as u32,
            };
            let algorithm = plan.algorithm;
            (plan, possible, Ran { algorithm, passes }, read)
        };
        read.map_err(|error| error.into_core(DataState::Undefined))?;
        let mut timed = || {
            clock.end(Stage::Transfer, &self.stream)?;
            clock.stages()
        };
        Ok(Report {
            engine: plan.engine,
            algorithm: ran.algorithm,
            reason: Cow::Borrowed("asked for"),
            keys: shape.keys,
            threads: 1,
            passes_possible: possible,
            passes_run: ran.passes,
            workspace_bytes: plan.workspace_bytes,
            // The sort is done; times that cannot be had are no failure of it.
            stages: timed().unwrap_or_default(),
            ..Report::default()
        })
    }
}
