//! A benchmark record, as far as the README and the checks ask. `docs/benchmarks.md` has all of it.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::root;

#[derive(Deserialize)]
pub struct Record {
    pub machine: Machine,
    pub rows: Vec<Row>,
}

#[derive(Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub os: String,
    pub date: String,
    pub commit: String,
}

#[derive(Deserialize)]
pub struct Row {
    pub contender: String,
    #[serde(rename = "type")]
    pub key_type: String,
    pub value_type: Option<String>,
    pub n: u64,
    pub distribution: String,
    pub threads: u64,
    pub keys_per_s: Option<f64>,
    pub verified: bool,
}

impl Record {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Record> {
        serde_json::from_str(text).context("this is no benchmark record")
    }

    /// It names its machine, day and commit, and our output was right in every row.
    pub fn check(&self) -> Result<()> {
        let Machine {
            cpu,
            os,
            date,
            commit,
        } = &self.machine;
        for (name, value) in [("cpu", cpu), ("os", os), ("date", date), ("commit", commit)] {
            if value.is_empty() {
                bail!("machine.{name} is empty");
            }
        }
        match self.rows.iter().find(|row| row.ours() && !row.verified) {
            Some(row) => bail!(
                "{} gave a wrong output for {} {} keys",
                row.contender,
                row.n,
                row.key_type
            ),
            None => Ok(()),
        }
    }
}

impl Row {
    /// Whether the contender is one of ours.
    pub fn ours(&self) -> bool {
        self.contender.starts_with("sweepsort-")
    }

    /// Whether the contender is one of ours as a user meets it first: stable, scratch kept.
    pub fn main(&self) -> bool {
        self.contender
            .strip_prefix("sweepsort-")
            .is_some_and(|engine| !engine.contains('-'))
    }

    /// Whether the contender is a peer that does what our [`main`](Self::main) contender does. Equal
    /// keys alone cannot be told apart, so there any sort will do.
    pub fn peer(&self) -> bool {
        let stable = self.contender.ends_with("-stable")
            || ["glidesort", "radsort"].contains(&self.contender.as_str());
        !self.ours() && self.verified && (stable || self.value_type.is_none())
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

/// The records of `results/`, by name.
pub fn files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join("results")).context("results")? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
