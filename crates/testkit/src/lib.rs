//! Patterns, oracles and property checks that any engine plugs into.
//!
//! * [`order`] says what sorted means, by the standard library's comparisons alone and never
//!   through a codec: [`Ordered`] keys, and the [`Wanted`] order.
//! * [`distribution`] makes keys at random, the same ones for a seed on every machine.
//! * [`check`] looks at an output: the first disorder, the multiset, an index.
//!
//! The tool's `gen`, `check` and `bench` use these too. For tests alone:
//!
//! * [`pattern`] makes the inputs that sorts are known to stumble over, and lists sizes.
//! * [`oracle`] says what must come out, by the standard library's stable sort.
//! * [`suite`] runs any [`Engine`](sweepsort_core::Engine) through a table of cases.
//! * [`golden`] has the worked examples of the teaching texts, array by array.
//! * `strategy`, with the feature `proptest`, has strategies for keys and options.

pub mod check;
pub mod distribution;
pub mod golden;
pub mod oracle;
pub mod order;
mod parallel;
pub mod pattern;
mod random;
#[cfg(feature = "proptest")]
pub mod strategy;
pub mod suite;

pub use check::{Fingerprint, check_index, fingerprint, first_disorder, same_multiset};
pub use distribution::{Distribution, Generator, Sample, generate};
pub use order::{Ordered, Wanted};
pub use pattern::{Pattern, sizes};
