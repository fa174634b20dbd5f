//! `cargo xtask charts`: a chart for each record, drawn by the tool.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{cargo, root, run as run_command};
use crate::record;

/// Draws every chart anew.
pub fn run() -> Result<()> {
    let records = record::files()?;
    if records.is_empty() {
        bail!("results/ has no records");
    }
    std::fs::create_dir_all(root().join("docs/charts"))?;
    for file in records {
        run_command(
            cargo()
                .args(["run", "--quiet", "--release", "--", "bench", "--force"])
                .arg("--from")
                .arg(&file)
                .arg("--chart")
                .arg(root().join(chart_of(&file)?)),
        )?;
    }
    Ok(())
}

/// Where the chart of a record is, seen from the root.
pub fn chart_of(record: &Path) -> Result<PathBuf> {
    let name = record.file_stem().context("a record without a name")?;
    Ok(Path::new("docs/charts").join(name).with_extension("svg"))
}
