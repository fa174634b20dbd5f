//! `cargo xtask charts`: the charts of records, drawn by the tool.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::{cargo, root, run as run_command};
use crate::tables;

/// Draws the charts of these records, or of those that documents show.
pub fn run(records: &[PathBuf]) -> Result<()> {
    let shown = match records {
        [] => tables::records()?,
        _ => records.to_vec(),
    };
    for record in &shown {
        let chart = chart_of(record)?;
        if let Some(folder) = chart.parent() {
            std::fs::create_dir_all(root().join(folder))?;
        }
        run_command(
            cargo()
                .args(["run", "--quiet", "--release", "--", "bench", "--force"])
                .arg("--from")
                .arg(record)
                .arg("--chart")
                .arg(chart),
        )?;
    }
    Ok(())
}

/// Where the chart of a record is, seen from the root.
pub fn chart_of(record: &Path) -> Result<PathBuf> {
    let name = record.file_stem().context("a record without a name")?;
    Ok(Path::new("docs/charts").join(name).with_extension("svg"))
}
