//! `verified.json`: what ran on a GPU.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The record, an entry for each GPU engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// The CUDA engine.
    pub cuda: Option<EngineRecord>,
    /// The wgpu engine.
    pub wgpu: Option<EngineRecord>,
}

/// What ran of one engine, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// The SHA-256 of the kernels' sources and, where there are, images.
    pub sources: String,
    /// The device's name.
    pub device: String,
    /// The driver's release.
    pub driver: String,
    /// UTC, as RFC 3339.
    pub date: String,
    /// Every case that passed.
    pub passed: Vec<Passed>,
}

/// A case that passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Its name.
    pub case: String,
    /// How many things were compared.
    pub compared: usize,
    /// How long it took.
    pub seconds: f64,
}

impl Verified {
    /// Reads a record; an empty one where there is no file.
    ///
    /// # Errors
    /// A file that is no such record.
    pub fn read(path: &Path) -> Result<Verified> {
        match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is no record of gpu-verify", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Verified::default()),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Writes the record.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, text + "\n").with_context(|| path.display().to_string())
    }
}
