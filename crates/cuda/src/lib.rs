//! The CUDA engine of [Sweepsort](https://docs.rs/sweepsort): kernels for NVIDIA GPUs.
//!
//! The kernels are CUDA C++ in `kernels/`. They come compiled, in `images/`, so that neither
//! building nor running needs NVIDIA's toolkit: only the driver, which is looked for when a device
//! is opened. Where there is none, that is an error with its reason, and nothing else happens.
//!
//! | file | what it holds |
//! |---|---|
//! | `driver` | whether the driver is there, and which version of CUDA it serves |
//! | `device` | a device, its facts and its modules |
//! | `stream` | streams, events, a clock made of them, a fork into two more streams and the join |
//! | `pool` | device memory that outlives the buffers in it |
//! | `memory` | buffers on the device, slices of them, pointers into them |
//! | `pinned` | page-locked host memory |
//! | `staging` | copies between host memory of any kind and the device, at the link's speed |
//! | `canary` | guards around every buffer, for tests |
//! | `image` | the compiled kernels |
//! | `launch` | modules, kernels, their arguments and launches |
//! | `plan` | the engine's own sorts of what lies on the device: plan, workspace, enqueue |
//! | `algorithm` | which of them a task gets |
//! | `onesweep`, `hybrid`, `count` | their kernels: which ones, their grids, what they are told |
//! | `figure` | the numbers of keys that decide, by name |
//! | `codec`, `shapes` | what kernels are told of codes, and tell of their shapes |
//! | `classic` | the teaching texts' algorithms, stage by stage |
//! | `check` | whether what lies on the device is in order, the same multiset, stable |
//! | `engine` | keys in host memory to the device, sorted there, and back |
//! | `hash` | the hash of sources and images, shared with the build script and `cargo xtask` |

mod algorithm;
mod canary;
mod carry;
mod check;
pub mod classic;
mod codec;
mod count;
mod device;
mod driver;
mod engine;
mod error;
mod figure;
#[cfg(test)]
mod hash;
mod hybrid;
mod image;
mod launch;
mod memory;
mod onesweep;
mod pinned;
mod plan;
mod pool;
mod shapes;
mod staging;
mod stream;

pub use cudarc;
// What a sort on a device is told.
pub use sweepsort_core::{Codec, Shape, Spec, Width, Word, Words};

pub use check::Checks;
pub use device::{Device, Facts, Memory};
pub use driver::CudaVersion;
pub use engine::CudaEngine;
pub use error::{Error, Result};
#[doc(hidden)]
pub use figure::Figure;
pub use image::{Image, Kind};
pub use launch::{Argument, Extent, Grid, Kernel, Module};
pub use memory::{Buffer, Layout, Pointer, Slice, SliceMut, Span};
pub use pinned::Pinned;
pub use plan::{Plan, Ran, Raw};
pub use staging::{Staging, Tuning};
pub use stream::{Clock, Event, Fork, Sides, Stream};

/// The SHA-256 of the kernels' sources and images that this crate was built from.
pub const SOURCES: &str = env!("SWEEPSORT_CUDA_SOURCES");
