//! The table of the first text's experiment: LSD radix sort on one thread by the bits of a digit,
//! beside the standard library's comparison sorts.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::charts::chart_of;
use crate::readme::count;
use crate::record::{Record, Row};
use crate::tables::link;

/// The document lies so deep.
const DEPTH: usize = 2;

/// Seconds, and the speed-up against the standard library's stable sort.
pub fn table(record: &Record, file: &str) -> Result<String> {
    let seconds = |row: &Row| row.median_s.context("a row without a time");
    let standard = record
        .rows
        .iter()
        .find(|row| row.contender == "std-stable")
        .context("no std-stable to compare with")?;
    let standard_s = seconds(standard)?;
    let mut rows: Vec<&Row> = record.rows.iter().collect();
    rows.sort_by_key(|row| (row.algorithm.is_none(), row.radix_bits));
    let mut text = String::from(
        "| | median, seconds | shortest, longest | million keys a second | times as fast as the stable sort |\n|---|--:|---|--:|--:|\n",
    );
    for row in rows {
        let name = match (row.contender.as_str(), row.radix_bits) {
            ("std-stable", _) => "the standard library's stable sort".to_owned(),
            ("std-unstable", _) => "the standard library's unstable sort".to_owned(),
            (_, Some(radix_bits)) => format!("counting-lsd, R = {radix_bits}"),
            (other, None) => other.to_owned(),
        };
        let median = seconds(row)?;
        writeln!(
            text,
            "| {name} | {median:.2} | {:.2}, {:.2} | {:.1} | {:.2} |",
            row.min_s.unwrap_or(median),
            row.max_s.unwrap_or(median),
            row.n as f64 / median / 1e6,
            standard_s / median,
        )?;
    }
    let machine = &record.machine;
    writeln!(
        text,
        "\n{} uniform u32 keys, one thread; {}, {}; {}, commit {}. All outputs are verified. [The \
         record]({}), [a chart]({}).",
        count(standard.n),
        machine.cpu,
        machine.os,
        machine.day(),
        machine.commit,
        link(Path::new(file), DEPTH),
        link(&chart_of(Path::new(file))?, DEPTH),
    )?;
    Ok(text)
}
