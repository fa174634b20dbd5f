//! The key types that files hold, and the way from a [`Type`] known at run time to generic code.

use std::fmt;
use std::str::FromStr;

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use sweepsort_testkit::{Ordered, Sample};

/// A `bool` as it lies in a file: a byte that is 0 or 1. Readers refuse any other before a `Bool`
/// is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bool(pub u8);

// SAFETY: a transparent wrapper of `u8`, for which any byte is a value.
unsafe impl Zeroable for Bool {}
// SAFETY: as above; no padding.
unsafe impl Pod for Bool {}

/// A key type of the tool, as it lies in memory.
pub trait Key: Pod + Send + Sync {
    /// Which type it is.
    const TYPE: Type;
    /// The key as the library sorts it: the same bytes. It differs for `bool` alone, which lies
    /// in a byte and is sorted there, by that byte's lowest bit.
    type Radix: Ordered + Pod;
    /// The key as it is drawn at random: the same bytes.
    type Drawn: Sample;

    /// Keys to be drawn; they must be valid ones, such as zeros.
    fn drawn(keys: &mut [Self]) -> &mut [Self::Drawn];
}

macro_rules! types {
    ($($name:ident $key:ty, $radix:ty, $drawn:ty, $bits:literal;)*) => {
        /// A key type by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum Type {
            $($name),*
        }

        impl Type {
            /// Every type, in the order in which the tool lists them.
            pub const ALL: &[Type] = &[$(Type::$name),*];

            /// How many bits count.
            pub const fn bits(self) -> u32 {
                match self {
                    $(Type::$name => $bits),*
                }
            }

            /// How many bytes a key takes in a raw file.
            pub const fn bytes(self) -> usize {
                match self {
                    $(Type::$name => size_of::<$key>()),*
                }
            }
        }

        $(impl Key for $key {
            const TYPE: Type = Type::$name;
            type Radix = $radix;
            type Drawn = $drawn;

            fn drawn(keys: &mut [Self]) -> &mut [Self::Drawn] {
                bytemuck::checked::cast_slice_mut(keys)
            }
        })*
    };
}
types! {
    U8 u8, u8, u8, 8;
    U16 u16, u16, u16, 16;
    U32 u32, u32, u32, 32;
    U64 u64, u64, u64, 64;
    U128 u128, u128, u128, 128;
    I8 i8, i8, i8, 8;
    I16 i16, i16, i16, 16;
    I32 i32, i32, i32, 32;
    I64 i64, i64, i64, 64;
    I128 i128, i128, i128, 128;
    F16 f16, f16, f16, 16;
    Bf16 bf16, bf16, bf16, 16;
    F32 f32, f32, f32, 32;
    F64 f64, f64, f64, 64;
    Bool Bool, u8, bool, 1;
}

/// Runs one generic expression with a name standing for the [`Key`] of a [`Type`].
///
/// ```
/// use sweepsort_cli::{types::Type, with_key};
/// assert_eq!(with_key!(Type::F64, |K| size_of::<K>()), 8);
/// ```
#[macro_export]
macro_rules! with_key {
    ($type:expr, |$k:ident| $body:expr) => {
        $crate::with_key!(@arms $type, $k, $body;
            U8 u8, U16 u16, U32 u32, U64 u64, U128 u128,
            I8 i8, I16 i16, I32 i32, I64 i64, I128 i128,
            F16 half::f16, Bf16 half::bf16, F32 f32, F64 f64, Bool $crate::types::Bool)
    };
    (@arms $type:expr, $k:ident, $body:expr; $($name:ident $key:ty),*) => {
        match $type {
            $($crate::types::Type::$name => {
                type $k = $key;
                $body
            })*
        }
    };
}

impl Type {
    /// The type's name, as in `-t` and as a file's extension.
    pub const fn name(self) -> &'static str {
        match self {
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::U128 => "u128",
            Type::I8 => "i8",
            Type::I16 => "i16",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::I128 => "i128",
            Type::F16 => "f16",
            Type::Bf16 => "bf16",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Bool => "bool",
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Type {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Type::ALL
            .iter()
            .copied()
            .find(|ty| ty.name() == name)
            .ok_or_else(|| {
                let names: Vec<_> = Type::ALL.iter().map(|ty| ty.name()).collect();
                format!("no key type; there are {}", names.join(", "))
            })
    }
}

impl clap::ValueEnum for Type {
    fn value_variants<'a>() -> &'a [Self] {
        Type::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_agree() {
        for &ty in Type::ALL {
            assert_eq!(ty.name().parse(), Ok(ty));
            with_key!(ty, |K| {
                assert_eq!(K::TYPE, ty);
                assert_eq!(size_of::<K>(), size_of::<<K as Key>::Radix>());
                assert_eq!(size_of::<K>(), ty.bytes());
            });
            assert_eq!(ty.bits().div_ceil(8) as usize, ty.bytes());
        }
    }
}
