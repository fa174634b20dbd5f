//! What the kernels are told: the structure of `kernels/count/task.cuh`, laid out as there.

use crate::codec::Codec;

/// A whole sort. Arrays are addresses on the device, 0 for none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Task<W> {
    pub source: u64,
    pub result: u64,
    pub n: u64,
    pub readers: u32,
    pub shares: u32,
    pub parts: u32,
    pub tallies: u64,
    pub spills: u64,
    pub spilled: u64,
    pub spill_room: u32,
    pub groups: u64,
    pub ends: u64,
    pub words: u64,
    pub codec: Codec<W>,
}

impl<W> Task<W> {
    /// A sort of `n` keys without its arrays.
    pub fn new(source: u64, result: u64, n: u64, codec: Codec<W>) -> Self {
        Task {
            source,
            result,
            n,
            readers: 0,
            shares: 0,
            parts: 0,
            tallies: 0,
            spills: 0,
            spilled: 0,
            spill_room: 0,
            groups: 0,
            ends: 0,
            words: 0,
            codec,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The compiler of the kernels lays structures out as C does: these are its figures.
    #[test]
    fn tasks_are_laid_out_as_the_kernels_have_them() {
        assert_eq!(
            (size_of::<Task<u8>>(), offset_of!(Task<u8>, codec)),
            (112, 96)
        );
        assert_eq!(
            (size_of::<Task<u16>>(), offset_of!(Task<u16>, codec)),
            (112, 96)
        );
    }
}
