//! What the kernels are told: the structures of `kernels/onesweep/task.cuh`, laid out as there.

use crate::codec::Codec;

/// Source and result are the same memory.
pub const IN_PLACE: u32 = 1;
/// The values are positions, made by the first move.
pub const INDEX: u32 = 2;
/// Between the first and the last move keys and values lie together, as records.
pub const RECORDS: u32 = 4;
/// Between the first and the last move keys go to and fro between two arrays of the workspace.
pub const APART: u32 = 8;

/// A buffer's place among the four of a task.
pub const SOURCE: usize = 0;
pub const RESULT: usize = 1;
pub const SCRATCH: usize = 2;
pub const OTHER: usize = 3;

/// A whole sort. Arrays are addresses on the device, 0 for none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Task<W> {
    pub keys: [u64; 4],
    pub values: [u64; 4],
    pub n: u64,
    pub histograms: u64,
    pub begins: u64,
    pub routes: u64,
    pub tickets: u64,
    pub states: u64,
    pub agreed: u64,
    pub go: u64,
    pub cells: Cells,
    pub begin_bit: u32,
    pub end_bit: u32,
    pub passes: u32,
    pub tiles: u32,
    pub portion_tiles: u32,
    pub portions: u32,
    pub flags: u32,
    pub codec: Codec<W>,
}

/// The cells of a hybrid sort in front; without counts there are none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Cells {
    pub counts: u64,
    pub begins: u64,
    pub base: u64,
    pub low: u64,
    pub a_bits: u32,
    pub b_bits: u32,
}

/// What blocks that wait for each other agree on; of others, which one is the last, and which codes there are, if
/// they are few. Of 64-bit keys, for the others have less.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Agreed {
    numbers: [u32; 6],
    codes: [u64; 256],
}

/// What a pass did, and from which buffer to which.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Route {
    pub does: u32,
    pub from: u32,
    pub to: u32,
    pub first: u32,
    pub last: u32,
    pub shift: u32,
    pub mask: u32,
    pub parts: u32,
}

impl Route {
    /// The keys were ordered by the pass's digit.
    pub const SORTS: u32 = 2;
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
            (208, 196)
        );
        assert_eq!(
            (size_of::<Task<u32>>(), offset_of!(Task<u32>, codec)),
            (224, 196)
        );
        assert_eq!(
            (size_of::<Task<u64>>(), offset_of!(Task<u64>, codec)),
            (240, 200)
        );
        assert_eq!(
            (size_of::<Task<u128>>(), offset_of!(Task<u128>, codec)),
            (288, 208)
        );
        assert_eq!(size_of::<Route>(), 32);
        assert_eq!(size_of::<Agreed>(), 2072);
    }
}
