//! What `bench --json` writes and `results/` holds: the machine, and a row for each contender and
//! input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::args::Method;

/// One benchmark record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Where and when.
    pub machine: Machine,
    /// Every measurement, grouped by input.
    pub rows: Vec<Row>,
}

/// The machine that a record was measured on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Processor and number of cores.
    pub cpu: String,
    /// GPU, where a row's contender used one.
    pub gpu: Option<String>,
    /// The GPU's driver.
    pub driver: Option<String>,
    /// Bytes read and written a second by a large copy from the GPU's memory to itself.
    pub gpu_copy_bytes_per_s: Option<f64>,
    /// Bytes a second that the GPU copies from page-locked host memory to its own.
    pub link_up_bytes_per_s: Option<f64>,
    /// Bytes a second that it copies from its own memory to page-locked host memory.
    pub link_down_bytes_per_s: Option<f64>,
    /// The versions of the peers that sorted in the GPU's memory.
    pub gpu_peers: Option<BTreeMap<String, String>>,
    /// The adapter that wgpu's rows are of, with API and driver, where CUDA has rows, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_by_wgpu: Option<String>,
    /// Operating system and kernel.
    pub os: String,
    /// The commit, with `-dirty` if files differed from it; outside of a checkout the version.
    pub commit: String,
    /// UTC, as RFC 3339.
    pub date: String,
}

/// One contender on one kind of input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Who: `sweepsort-cpu` and its kin, or a peer.
    pub contender: String,
    /// Our engine; null for peers.
    pub engine: Option<String>,
    /// The method that our engine ran; null for peers.
    pub algorithm: Option<String>,
    /// The keys' type.
    #[serde(rename = "type")]
    pub key_type: String,
    /// The values' type; null for keys alone, `index` for argsort.
    pub value_type: Option<String>,
    /// How many keys.
    pub n: usize,
    /// The keys' distribution.
    pub distribution: String,
    /// How many threads the contender could use.
    pub threads: usize,
    /// Where the keys lie before and after: `host`, `pinned` or `device`.
    pub residence: String,
    /// What was timed by itself, such as `histogram`; null for a whole sort.
    pub stage: Option<String>,
    /// Bits of a digit, where the caller chose them.
    pub radix_bits: Option<u32>,
    /// Keys of a block, where the caller chose them.
    pub block: Option<usize>,
    /// What is done otherwise than the algorithm has it, where the caller chose that.
    pub variant: Option<String>,
    /// Median time of one sort in seconds; null if none came to its end.
    pub median_s: Option<f64>,
    /// Shortest time.
    pub min_s: Option<f64>,
    /// Longest time.
    pub max_s: Option<f64>,
    /// `n` divided by the median.
    pub keys_per_s: Option<f64>,
    /// Seconds by stage, all passes together; of ours in device memory.
    pub stages_s: Option<BTreeMap<String, f64>>,
    /// Share of the measured copy bandwidth at one histogram read plus read and write per 8-bit
    /// pass; where a GPU sorts host memory, of the link's at one way up and one way down.
    pub floor_fraction: Option<f64>,
    /// Peak of the additional memory of one sort; null where it cannot be seen (C++). In device
    /// memory that is the workspace.
    pub peak_bytes: Option<u64>,
    /// `host` where the host's clock has timed a sort in a GPU's memory, from its submission to the end
    /// of waiting for it, as that GPU has no timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Whether every output was right.
    pub verified: bool,
}

impl Row {
    /// Whether the contender is one of ours.
    pub fn ours(&self) -> bool {
        self.engine.is_some()
    }

    /// Whether the contender keeps equal keys in input order; keys alone need not ask.
    pub fn stable(&self) -> bool {
        match self.contender.strip_prefix("sweepsort-") {
            Some(engine) => !engine.ends_with("-unstable"),
            None => {
                super::peers::everywhere().any(|peer| peer.name == self.contender && peer.stable)
            }
        }
    }

    /// The algorithm, with the digit, block and variant that the caller chose: `split`,
    /// `coalesced R=4 plain-scatter`.
    pub fn method(&self) -> Option<String> {
        let method = Method {
            algorithm: Some(self.algorithm.clone()?),
            radix_bits: self.radix_bits,
            block: self.block,
            variant: self.variant.clone(),
        };
        Some(method.to_string())
    }

    /// What is sorted: `u32` alone, `(u32, u64)` pairs, or `argsort u32`.
    pub fn task(&self) -> String {
        match self.value_type.as_deref() {
            None => self.key_type.clone(),
            Some("index") => format!("argsort {}", self.key_type),
            Some(value) => format!("({}, {value})", self.key_type),
        }
    }

    /// Where the keys lie, in words, unless that is the host's memory as programs have it.
    pub fn place(&self) -> Option<&'static str> {
        match self.residence.as_str() {
            "device" => Some("in device memory"),
            "pinned" => Some("in page-locked memory"),
            _ => None,
        }
    }

    /// Whether the other row is about the same input, and so comparable.
    pub fn same_input(&self, other: &Row) -> bool {
        (
            &self.key_type,
            &self.value_type,
            self.n,
            &self.distribution,
            &self.residence,
            &self.stage,
        ) == (
            &other.key_type,
            &other.value_type,
            other.n,
            &other.distribution,
            &other.residence,
            &other.stage,
        )
    }
}
