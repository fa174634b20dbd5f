//! The CPU engine of [Sweepsort](https://docs.rs/sweepsort).
use sweepsort_core::{Engine, Error, Plan, Report, Result, Shape, Spec, Task};

/// The CPU engine.
#[derive(Debug)]
pub struct CpuEngine;

impl CpuEngine {
    /// An engine.
    pub fn new(_threads: Option<usize>) -> Result<Self> {
        Ok(CpuEngine)
    }
    /// An engine that keeps no scratch.
    pub const fn ephemeral() -> Self {
        CpuEngine
    }
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }
    fn algorithms(&self) -> &'static [&'static str] {
        &["auto"]
    }
    fn plan(&self, _: &Shape, _: &Spec) -> Result<Plan> {
        unimplemented!()
    }
    fn run(&self, _: Task<'_>, _: &Spec) -> Result<Report> {
        Err(Error::Unsupported {
            engine: "cpu",
            what: "anything yet".into(),
            instead: "patience".into(),
        })
    }
}
