//! A benchmark record, as far as the README and the checks ask. `docs/benchmarks.md` has all of it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub struct Record {
    pub machine: Machine,
    pub rows: Vec<Row>,
}

#[derive(Default, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub gpu: Option<String>,
    pub driver: Option<String>,
    pub gpu_copy_bytes_per_s: Option<f64>,
    pub link_up_bytes_per_s: Option<f64>,
    pub link_down_bytes_per_s: Option<f64>,
    pub os: String,
    pub date: String,
    pub commit: String,
}

#[derive(Clone, Default, Deserialize)]
pub struct Row {
    pub contender: String,
    pub algorithm: Option<String>,
    #[serde(rename = "type")]
    pub key_type: String,
    pub value_type: Option<String>,
    pub n: u64,
    pub distribution: String,
    pub threads: u64,
    pub residence: String,
    pub stage: Option<String>,
    pub radix_bits: Option<u32>,
    pub block: Option<u64>,
    pub variant: Option<String>,
    pub median_s: Option<f64>,
    pub min_s: Option<f64>,
    pub max_s: Option<f64>,
    pub keys_per_s: Option<f64>,
    pub floor_fraction: Option<f64>,
    pub stages_s: Option<BTreeMap<String, f64>>,
    pub verified: bool,
}

impl Record {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Record> {
        serde_json::from_str(text).context("this is no record of `sweepsort bench`")
    }
}

/// Any measurement kept in `results/` names its machine, day and commit, and none of our outputs
/// was wrong.
pub fn check(text: &str) -> Result<()> {
    let record: Value = serde_json::from_str(text)?;
    for name in ["cpu", "os", "date", "commit"] {
        if record["machine"][name].as_str().is_none_or(str::is_empty) {
            bail!("machine.{name} is missing");
        }
    }
    let rows = record["rows"].as_array().context("rows are missing")?;
    let ours = |row: &&Value| row["contender"].as_str().is_some_and(is_ours);
    match rows
        .iter()
        .filter(ours)
        .find(|row| row["verified"] == false)
    {
        Some(row) => bail!("a wrong output of ours: {row}"),
        None => Ok(()),
    }
}

fn is_ours(contender: &str) -> bool {
    contender.starts_with("sweepsort-")
}

impl Machine {
    /// The day of the date.
    pub fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or(&self.date)
    }
}

impl Row {
    /// Whether the contender is one of ours.
    pub fn ours(&self) -> bool {
        is_ours(&self.contender)
    }

    /// Whether the contender is one of ours as a user meets it first: stable, scratch kept.
    pub fn main(&self) -> bool {
        self.contender
            .strip_prefix("sweepsort-")
            .is_some_and(|engine| !engine.contains('-'))
    }

    /// Whether the contender is not one of ours, and its outputs were right.
    pub fn other(&self) -> bool {
        !self.ours() && self.verified
    }

    /// Whether the contender is one of the stable sorts that are not ours.
    pub fn stable(&self) -> bool {
        self.contender.ends_with("-stable")
            || ["glidesort", "radsort"].contains(&self.contender.as_str())
    }

    /// Whether the contender is a peer that does what our [`main`](Self::main) contender does. Equal
    /// keys alone cannot be told apart, so there any sort will do.
    pub fn peer(&self) -> bool {
        self.other() && (self.stable() || self.value_type.is_none())
    }

    /// Whether the other row is about the same input, and so comparable.
    pub fn same_input(&self, other: &Row) -> bool {
        (&self.key_type, &self.value_type, &self.distribution, self.n)
            == (
                &other.key_type,
                &other.value_type,
                &other.distribution,
                other.n,
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_checked() {
        let record = |day: &str, verified: bool| {
            format!(
                r#"{{"machine": {{"cpu": "a", "os": "b", "date": "{day}", "commit": "c"}},
                     "rows": [{{"contender": "sweepsort-cpu", "verified": {verified}}},
                              {{"contender": "other", "verified": false}}]}}"#
            )
        };
        assert!(check(&record("2026-01-02", true)).is_ok());
        assert!(check(&record("", true)).is_err());
        assert!(check(&record("2026-01-02", false)).is_err());
    }
}
