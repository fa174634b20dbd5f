//! What a sort did.

use std::borrow::Cow;
use std::time::Duration;

/// A stretch of the work, for [`Report::stages`].
///
/// Engines name their own: the first five are the CPU engine's, and a GPU's are among all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
pub enum Stage {
    /// Keys turned into bits, or an index filled.
    Encode,
    /// The first read: counts of digits, varying bits, presorted stretches.
    Histogram,
    /// Keys moved to their buckets.
    Scatter,
    /// Buckets sorted in cache.
    Local,
    /// Keys or values moved into their final order through a permutation.
    Gather,
    /// Where keys go, summed up from counts or flags.
    Scan,
    /// Sorted runs merged.
    Merge,
    /// Copies between the host and a device.
    Transfer,
}

impl Stage {
    /// The stage's name.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Encode => "encode",
            Stage::Histogram => "histogram",
            Stage::Scatter => "scatter",
            Stage::Local => "local",
            Stage::Gather => "gather",
            Stage::Scan => "scan",
            Stage::Merge => "merge",
            Stage::Transfer => "transfer",
        }
    }
}

/// Order that the first read found in the input, so that no pass was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
pub enum Presorted {
    /// Already in order.
    Sorted,
    /// In exactly the opposite order.
    Reversed,
    /// All keys tie.
    Equal,
}

impl Presorted {
    /// The order's name.
    pub const fn name(self) -> &'static str {
        match self {
            Presorted::Sorted => "sorted",
            Presorted::Reversed => "reversed",
            Presorted::Equal => "equal",
        }
    }
}

/// What a sort did, and why so.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// The engine that ran.
    pub engine: &'static str,
    /// The method that ran.
    pub algorithm: &'static str,
    /// Why this engine and this method.
    pub reason: Cow<'static, str>,
    /// How many keys were sorted.
    pub keys: usize,
    /// How many threads shared the work.
    pub threads: usize,
    /// How many passes there are where none is skipped: those of a plain radix sort by 8-bit
    /// digits, or a classic's own.
    pub passes_possible: u32,
    /// How many passes ran: the most that any key took part in.
    pub passes_run: u32,
    /// How many bits, of those to be sorted by, all keys agreed in, where the first read found
    /// out.
    pub constant_bits: u32,
    /// Order found in the input.
    pub presorted: Option<Presorted>,
    /// Bytes read and written by all passes, first read included; an estimate from the passes'
    /// shapes.
    pub bytes_moved: u64,
    /// Scratch memory used, in bytes.
    pub workspace_bytes: usize,
    /// Wall time of each stage, in the order in which they ran. Inputs so small that reading the
    /// clock would show are not timed.
    pub stages: Vec<(Stage, Duration)>,
}

impl Report {
    /// Passes of a plain radix sort that did not run.
    pub fn passes_skipped(&self) -> u32 {
        self.passes_possible.saturating_sub(self.passes_run)
    }

    /// Wall time of all stages together.
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }

    /// Adds the work of a further sort that served the same call, such as another word of a wide
    /// key. The names and the number of keys become the other's.
    pub fn absorb(&mut self, other: Report) {
        self.engine = other.engine;
        self.algorithm = other.algorithm;
        self.reason = other.reason;
        self.keys = other.keys;
        self.threads = self.threads.max(other.threads);
        self.passes_possible += other.passes_possible;
        self.passes_run += other.passes_run;
        self.constant_bits += other.constant_bits;
        self.bytes_moved += other.bytes_moved;
        self.workspace_bytes = self.workspace_bytes.max(other.workspace_bytes);
        self.stages.extend(other.stages);
    }
}
