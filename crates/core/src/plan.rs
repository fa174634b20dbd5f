//! Plans: what an engine will do with a task, decided from its shape before any key is read.

use crate::digit::Digit;
use crate::word::Width;

/// The shape of a task: how many keys, how wide, and what travels with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// How many keys.
    pub keys: usize,
    /// The keys' width.
    pub width: Width,
    /// Bytes of the value or index entry that travels with each key; 0 for keys alone.
    pub payload_bytes: usize,
    /// Whether the payload is an index that the engine makes, and the keys stay as they are.
    pub argsort: bool,
}

impl Shape {
    /// Keys alone.
    pub const fn keys(keys: usize, width: Width) -> Self {
        Shape {
            keys,
            width,
            payload_bytes: 0,
            argsort: false,
        }
    }

    /// Keys with values.
    pub const fn pairs(keys: usize, width: Width, value_bytes: usize) -> Self {
        Shape {
            keys,
            width,
            payload_bytes: value_bytes,
            argsort: false,
        }
    }

    /// Keys to be indexed.
    pub const fn argsort(keys: usize, width: Width, entry_bytes: usize) -> Self {
        Shape {
            keys,
            width,
            payload_bytes: entry_bytes,
            argsort: true,
        }
    }
}

/// The decided passes for a shape, and the scratch memory they need at most.
///
/// What the data then shows (constant digits, presorted input) can only save passes; the
/// [`Report`](crate::Report) says which ran.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Plan {
    /// The engine that made the plan.
    pub engine: &'static str,
    /// The method chosen.
    pub algorithm: &'static str,
    /// The digits in the order in which their passes run, for data that is evenly spread.
    pub digits: Vec<Digit>,
    /// Upper bound of the scratch memory, in bytes.
    pub workspace_bytes: usize,
    /// How many threads will share the work at most.
    pub threads: usize,
}
