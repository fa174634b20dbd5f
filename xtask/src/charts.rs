//! `cargo xtask charts`: the charts of records, drawn by the tool.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::{cargo, root, run as run_command};
use crate::tables;

/// A part of a record: what its chart's name ends in, and the flags that choose it.
type Part = (&'static str, &'static str);

/// Records that are drawn in parts, by what their names end in: whole, they would be too long.
const IN_PARTS: &[(&str, &[Part])] = &[(
    "-types",
    &[
        ("-over-size", "-t u32,u64 --value-type none"),
        ("-over-type", "-n 2^28"),
    ],
)];

/// Draws the charts of these records, or of those that documents show.
pub fn run(records: &[PathBuf]) -> Result<()> {
    let shown = match records {
        [] => tables::records()?,
        _ => records.to_vec(),
    };
    for record in &shown {
        for (end, flags) in parts(record)? {
            let chart = named(record, end)?;
            if let Some(folder) = chart.parent() {
                std::fs::create_dir_all(root().join(folder))?;
            }
            run_command(
                cargo()
                    .args(["run", "--quiet", "--release", "--", "bench", "--force"])
                    .arg("--from")
                    .arg(record)
                    .args(flags.split_whitespace())
                    .arg("--chart")
                    .arg(chart),
            )?;
        }
    }
    Ok(())
}

/// Where the chart of a record is, seen from the root.
pub fn chart_of(record: &Path) -> Result<PathBuf> {
    named(record, "")
}

/// Where the chart of a part is, whose name ends so.
fn named(record: &Path, end: &str) -> Result<PathBuf> {
    let name = stem(record)?;
    Ok(Path::new("docs/charts").join(format!("{name}{end}.svg")))
}

/// What is drawn of a record: all of it, or its parts.
fn parts(record: &Path) -> Result<&'static [Part]> {
    let name = stem(record)?;
    let parts = IN_PARTS.iter().find(|(end, _)| name.ends_with(end));
    Ok(parts.map_or(&[("", "")], |(_, parts)| parts))
}

fn stem(record: &Path) -> Result<&str> {
    let name = record.file_stem().and_then(OsStr::to_str);
    name.context("a record without a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_named_after_their_records() {
        for (record, charts) in [
            ("results/a-sizes.json", &["docs/charts/a-sizes.svg"][..]),
            (
                "results/a-types.json",
                &[
                    "docs/charts/a-types-over-size.svg",
                    "docs/charts/a-types-over-type.svg",
                ],
            ),
        ] {
            let record = Path::new(record);
            let drawn = parts(record).unwrap().iter();
            let drawn: Vec<PathBuf> = drawn.map(|(end, _)| named(record, end).unwrap()).collect();
            assert_eq!(drawn, charts.iter().map(PathBuf::from).collect::<Vec<_>>());
        }
    }
}
