//! What can be wrong, with which value, and what would work.

use std::fmt;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Refuses keys and others that are not equally many; `what` says what the others are.
///
/// # Errors
/// [`Error::LengthMismatch`].
pub fn same_length(keys: usize, others: usize, what: &'static str) -> Result<()> {
    if keys == others {
        Ok(())
    } else {
        Err(Error::LengthMismatch { keys, others, what })
    }
}

/// What state the caller's data is in after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataState {
    /// As it was before the call.
    Untouched,
    /// Partly overwritten: a device failed half-way.
    Undefined,
}

impl fmt::Display for DataState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataState::Untouched => "the data is untouched",
            DataState::Undefined => "the data is partly overwritten",
        })
    }
}

/// Everything that a sort can refuse or fail at. But for [`Error::Device`], which says so itself,
/// the caller's data is untouched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Keys and values, or keys and the index to fill, differ in length.
    #[error("{keys} keys but {others} {what}; they must be equally many")]
    LengthMismatch {
        /// Number of keys.
        keys: usize,
        /// Number of the others.
        others: usize,
        /// What the others are: `values` or `index entries`.
        what: &'static str,
    },
    /// More keys than a 32-bit index can tell apart.
    #[error("{keys} keys are more than a 32-bit index can tell apart (2^32); use {instead}")]
    TooManyKeys {
        /// Number of keys.
        keys: usize,
        /// The call that takes more.
        instead: &'static str,
    },
    /// A bit range that the key does not have.
    #[error("bits {start}..{end} do not lie within the key's {bits} bits; use 0..{bits} or a part")]
    BitRange {
        /// First bit asked for.
        start: u32,
        /// One past the last bit asked for.
        end: u32,
        /// How many bits the key has.
        bits: u32,
    },
    /// A category that is no group.
    #[error(
        "key {index} has category {category}, but there are only {groups} groups (0..{groups})"
    )]
    Category {
        /// Which key.
        index: usize,
        /// The category it was given.
        category: usize,
        /// How many groups there are.
        groups: usize,
    },
    /// Scratch memory that could not be had.
    #[error("{bytes} bytes of scratch memory could not be allocated; sort fewer keys at a time")]
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
    },
    /// An engine that is not there.
    #[error("engine {engine} is absent: {why}")]
    EngineAbsent {
        /// The engine asked for.
        engine: &'static str,
        /// Why it is not there, and what would work.
        why: String,
    },
    /// An algorithm that the engine does not have.
    #[error("engine {engine} has no algorithm '{name}' here; it has {known}")]
    UnknownAlgorithm {
        /// The engine asked.
        engine: &'static str,
        /// The name asked for.
        name: String,
        /// The names it knows, separated by commas.
        known: String,
    },
    /// Something that the engine cannot do.
    #[error("engine {engine} does not support {what}; use {instead}")]
    Unsupported {
        /// The engine asked.
        engine: &'static str,
        /// What it cannot do.
        what: String,
        /// What would work.
        instead: String,
    },
    /// Worker threads that could not be started.
    #[error("{threads} worker threads could not be started: {why}; ask for fewer")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The system's answer.
        why: String,
    },
    /// A device that failed.
    #[error("engine {engine} failed: {what}; {data}")]
    Device {
        /// The engine that failed.
        engine: &'static str,
        /// What happened.
        what: String,
        /// What became of the caller's data.
        data: DataState,
    },
}
