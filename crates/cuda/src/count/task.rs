//! What the kernels are told: the structure of `kernels/count/task.cuh`, laid out as there.

use crate::codec::Codec;

/// A whole sort. Arrays are addresses on the device, 0 for none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Task<W> {
    pub source: u64,
    pub result: u64,
    pub n: u64,
    pub counts: u64,
    pub groups: u64,
    pub taken: u64,
    pub done: u64,
    pub codec: Codec<W>,
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
            (72, 56)
        );
        assert_eq!(
            (size_of::<Task<u16>>(), offset_of!(Task<u16>, codec)),
            (72, 56)
        );
    }
}
