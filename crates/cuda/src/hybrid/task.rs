//! What the kernels are told: the structures of `kernels/hybrid/task.cuh`, laid out as there.

use bytemuck::{Pod, Zeroable};

use crate::codec::Codec;

/// A whole sort. Arrays are addresses on the device, 0 for none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Task<W> {
    pub source: u64,
    pub result: u64,
    pub scratch: u64,
    pub n: u32,
    pub key_bits: u32,
    pub a_bits: u32,
    pub b_bits: u32,
    pub tile: u32,
    pub local_keys: u32,
    pub choice: u64,
    pub counts: u64,
    pub begins: u64,
    pub bucket_cursors: u64,
    pub cell_cursors: u64,
    pub tiles: u64,
    pub large: u64,
    pub parts: u64,
    pub steps: u64,
    pub pieces: u64,
    pub zeros: u64,
    pub zero_vectors: u32,
    pub may_onesweep: u32,
    pub probe_blocks: u32,
    pub step_room: u32,
    pub ranges: u64,
    pub codec: Codec<W>,
}

/// What the device finds out and decides.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Choice<W> {
    pub prefix: W,
    pub varying: W,
    pub path: u32,
    pub low: u32,
    pub largest: u32,
    pub missed: u32,
    pub done: u32,
    pub tickets: [u32; 2],
    pub large: u32,
    pub pieces: u32,
    pub queue: [u32; 3],
}

/// Which bits some code has set, and which some code has clear.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Range<W> {
    pub set: W,
    pub clear: W,
}

/// A value of `path`: the onesweep behind sorts, and the hybrid sort does nothing.
pub const ONESWEEP: u32 = 1;

/// Digits of a part.
const PART_RADIX: usize = 256;

/// Keys that are too many for a block, while they are partitioned.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Part {
    numbers: [u32; 6],
    varying: [u64; 2],
    cursors: [u32; PART_RADIX],
}

/// Something to do, for one block.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Step([u32; 4]);

/// Keys that fit a block.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Piece([u32; 4]);

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The compiler of the kernels lays structures out as C does: these are its figures.
    #[test]
    fn tasks_are_laid_out_as_the_kernels_have_them() {
        macro_rules! task {
            ($W:ty) => {
                (
                    size_of::<Task<$W>>(),
                    offset_of!(Task<$W>, choice),
                    offset_of!(Task<$W>, zeros),
                    offset_of!(Task<$W>, ranges),
                    offset_of!(Task<$W>, may_onesweep),
                    offset_of!(Task<$W>, codec),
                )
            };
        }
        assert_eq!(task!(u32), (184, 48, 128, 152, 140, 160));
        assert_eq!(task!(u64), (200, 48, 128, 152, 140, 160));
        assert_eq!(task!(u128), (240, 48, 128, 152, 140, 160));
        macro_rules! choice {
            ($W:ty) => {
                (
                    size_of::<Choice<$W>>(),
                    offset_of!(Choice<$W>, path),
                    offset_of!(Choice<$W>, large),
                    offset_of!(Choice<$W>, queue),
                )
            };
        }
        assert_eq!(choice!(u32), (56, 8, 36, 44));
        assert_eq!(choice!(u64), (64, 16, 44, 52));
        assert_eq!(choice!(u128), (80, 32, 60, 68));
        assert_eq!(
            (size_of::<Part>(), size_of::<Step>(), size_of::<Piece>()),
            (1064, 16, 16)
        );
    }
}
