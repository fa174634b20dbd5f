//! Bisection: which of a device's stages does not do what the twin's does.
//!
//! ```text
//! the device's kernel ─ array ─┬─ differs from the twin's? noted
//!                              └─ the twin's array, if the array is kept ─→ the next kernel
//! ```
//! So every kernel reads what is right, and a stage that differs is itself at fault.

use std::fmt;

use sweepsort_core::{Choice, Error, RadixKey, Result};

use super::{Algorithm, Options};
#[cfg(feature = "cuda")]
use super::{Input, compare, device::Job};

/// How a device's arrays compare with the twin's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// How many arrays were compared.
    pub compared: usize,
    /// The names of those that the twin can make for the device, as [`Options::from_twin`] takes
    /// them. The others are made and used within one kernel.
    pub kept: Vec<String>,
    /// The arrays that differ, pass by pass, in the order of the text.
    pub differences: Vec<Difference>,
}

impl Bisection {
    /// Whether no array differs.
    pub fn agrees(&self) -> bool {
        self.differences.is_empty()
    }
}

/// An array of a device that is not the twin's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The pass, counted from 0.
    pub pass: usize,
    /// The array's name.
    pub stage: String,
    /// The first index at which they differ.
    pub index: usize,
    /// What the device has there; `None` where its array ends before, or it has no such array.
    pub device: Option<Entry>,
    /// What the twin has there; `None` likewise.
    pub twin: Option<Entry>,
}

/// An entry of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A number.
    Number(usize),
    /// A key, by its position in the input.
    Key(usize),
    /// A code and a position that do not belong to one key.
    Stray {
        /// The code.
        code: u128,
        /// The position.
        position: usize,
    },
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Number(number) => write!(f, "{number}"),
            Entry::Key(position) => write!(f, "key {position}"),
            Entry::Stray { code, position } => {
                write!(
                    f,
                    "code {code:#x} with position {position}, which is no key"
                )
            }
        }
    }
}

/// Compares each array that a device makes with the twin's, and gives the device the twin's to go on
/// with. [`Options::engine`] must name the device.
///
/// Time and memory: as [`explain`](super::explain), and copies of every array to the device and back.
///
/// # Errors
/// [`Error::EngineAbsent`]; [`Error::Unsupported`], also for algorithms that devices do not have;
/// [`Error::Device`] where the device failed; as [`explain`](super::explain).
#[cfg_attr(
    not(feature = "cuda"),
    expect(unused_variables, reason = "no device sorts them")
)]
pub fn bisect<K: RadixKey>(keys: &[K], options: &Options) -> Result<Bisection> {
    needs_a_device(options.engine)?;
    #[cfg(feature = "cuda")]
    {
        with_keys!(K, keys, |words| {
            let input = Input::new(words, K::KIND, K::BITS, options)?;
            let job = Job::new(options.algorithm, &input.options)?;
            compare::bisect(&crate::devices::open_cuda()?, &job, &input)
        })
    }
    #[cfg(not(feature = "cuda"))]
    Err(crate::devices::no_cuda())
}

/// Sorts on a device once for each stage that the twin can make for it, with that stage the twin's
/// and the others the device's. Tells for each whether the keys came out as the twin sorts them.
///
/// # Errors
/// As [`bisect`].
#[cfg_attr(
    not(feature = "cuda"),
    expect(unused_variables, reason = "no device sorts them")
)]
pub fn take_each<K: RadixKey>(keys: &[K], options: &Options) -> Result<Vec<(String, bool)>> {
    needs_a_device(options.engine)?;
    #[cfg(feature = "cuda")]
    {
        with_keys!(K, keys, |words| {
            let input = Input::new(words, K::KIND, K::BITS, options)?;
            let job = Job::new(options.algorithm, &input.options)?;
            compare::take_each(&crate::devices::open_cuda()?, &job, &input)
        })
    }
    #[cfg(not(feature = "cuda"))]
    Err(crate::devices::no_cuda())
}

/// Refuses what is no device.
fn needs_a_device(engine: Choice) -> Result<()> {
    match engine {
        Choice::Cuda => Ok(()),
        Choice::Auto | Choice::Cpu => Err(Error::Unsupported {
            engine: "cpu",
            what: "bisection, for its arrays are the twin's".into(),
            instead: "engine cuda".into(),
        }),
        Choice::Wgpu => Err(super::not_by_wgpu()),
    }
}
