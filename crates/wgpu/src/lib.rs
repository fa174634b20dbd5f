//! The wgpu engine of Sweepsort: a radix sort in WGSL, for any GPU that Vulkan, Metal or DirectX 12 know.
//!
//! Two ways in. [`WgpuEngine`] sorts keys of host memory, as every engine does. [`Plan`] sorts what lies on
//! the caller's device, in the caller's command encoder:
//!
//! ```no_run
//! # fn renderer() -> Result<(), Box<dyn std::error::Error>> {
//! # let (device, queue): (wgpu::Device, wgpu::Queue) = todo!();
//! # let (depths, particles): (wgpu::Buffer, wgpu::Buffer) = todo!();
//! use sweepsort_wgpu::{Buffers, Kernels, Plan, Shape, Spec, Width};
//!
//! let kernels = Kernels::new(&device);
//! let plan = Plan::new(&kernels, &Shape::pairs(1 << 20, Width::W32, 4), &Spec::natural::<f32>())?;
//! let workspace = device.create_buffer(&wgpu::BufferDescriptor {
//!     label: None,
//!     size: plan.workspace_bytes(),
//!     usage: Plan::WORKSPACE_USAGE,
//!     mapped_at_creation: false,
//! });
//! let sort = plan.bind(&Buffers {
//!     keys: depths.slice(..),
//!     values: Some(particles.slice(..)),
//!     count: None,
//!     workspace: workspace.slice(..),
//! })?;
//!
//! // Each frame:
//! let mut encoder = device.create_command_encoder(&Default::default());
//! sort.encode(&mut encoder);
//! queue.submit([encoder.finish()]);
//! # Ok(())
//! # }
//! ```
//!
//! The example `particles` is a renderer that does so, with its device, its shaders and a number of particles
//! that only the GPU knows. `docs/algorithms/wgpu.md` explains the kernels.
//!
//! | file | what it holds |
//! |---|---|
//! | `shaders/` | the kernels, one stage a file, named as in the CUDA engine |
//! | `shader` | shaders made of those files |
//! | `tuning` | tiles, as data |
//! | `kernels` | a device's pipelines |
//! | `task` | what shaders are told |
//! | `plan` | a sort of one shape, in the caller's encoder |
//! | `engine`, `adapter` | keys in host memory, on a device of the engine's own |

mod adapter;
mod engine;
mod error;
mod kernels;
mod plan;
pub mod shader;
mod task;
mod tuning;

// What a sort on a device is told.
pub use sweepsort_core::{Codec, Order, Shape, Spec, Width};

pub use adapter::{ADAPTER_VARIABLE, Adapter, Facts};
pub use engine::WgpuEngine;
pub use kernels::{Kernels, Options};
pub use plan::{Bound, Buffers, MAX_KEYS, Plan};
