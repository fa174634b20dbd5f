//! What a caller can ask for: the order, where NaNs go, which engine.

use std::fmt;
use std::str::FromStr;

/// Smallest first or largest first. Equal keys keep their input order either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest first.
    #[default]
    Ascending,
    /// Largest first.
    Descending,
}

/// Where the NaNs of a float key go.
///
/// It concerns keys that are floats. Floats inside structs, tuples and arrays always take
/// [`Nan::Total`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nan {
    /// IEEE 754 `totalOrder`, as Rust's `total_cmp`: negative NaNs before all numbers, positive
    /// ones after; −0.0 before +0.0.
    #[default]
    Total,
    /// NaNs at the end of the output, in either order.
    ///
    /// Keys alone: −0.0 before +0.0, then, after all numbers, positive NaNs before negative ones
    /// (descending: the mirror image, +0.0 before −0.0 and negative NaNs before positive ones).
    /// Pairs and argsort: all NaNs tie, −0.0 and +0.0 tie, and ties keep their input order.
    Last,
    /// NaNs at the start of the output, in either order; otherwise as [`Nan::Last`].
    First,
}

/// Which engine sorts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The fastest engine on this machine, by measured crossovers.
    #[default]
    Auto,
    /// The CPU engine.
    Cpu,
    /// The CUDA engine, for NVIDIA GPUs.
    Cuda,
    /// The wgpu engine, for any GPU through Vulkan, Metal or DirectX 12.
    Wgpu,
}

macro_rules! names {
    ($($type:ident { $($variant:ident $name:literal),* }),*) => {$(
        impl $type {
            /// Every value, in the order in which the tool lists them.
            pub const ALL: &[$type] = &[$($type::$variant),*];

            /// The value's name, as the tool spells it.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|value| value.name() == name).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|value| value.name()).collect();
                    format!("'{name}' is none of {}", names.join(", "))
                })
            }
        }
    )*};
}
names! {
    Order { Ascending "ascending", Descending "descending" },
    Nan { Total "total", Last "last", First "first" },
    Choice { Auto "auto", Cpu "cpu", Cuda "cuda", Wgpu "wgpu" }
}
