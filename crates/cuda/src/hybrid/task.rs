//! What the kernels are told: the structures of `kernels/hybrid/task.cuh`, laid out as there.

use bytemuck::{Pod, Zeroable};
use sweepsort_core::{Spec, Word};

use crate::codec::Codec;
use crate::onesweep::{Payload, Places};

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
    pub carries: u32,
    pub probe_blocks: u32,
    pub step_room: u32,
    pub large_keys: u32,
    pub ranges: u64,
    pub dictionary: u64,
    pub rest: u64,
    pub rooms: u64,
    pub room_begins: u64,
    pub room_keys: u32,
    pub room_blocks: u32,
    pub quantiles: u64,
    pub quantile_tile: u32,
    pub room_tile: u32,
    pub counts_once: u32,
    pub words: u64,
    pub codec: Codec<W>,
}

impl<W> Task<W> {
    /// Of so many keys at that address, with no room for anything yet.
    pub fn of_keys(keys: u64, n: usize, codec: Codec<W>) -> Task<W> {
        Task {
            source: keys,
            result: 0,
            scratch: 0,
            // No more than MOST_KEYS.
            n: n as u32,
            key_bits: 8 * size_of::<W>() as u32,
            a_bits: 0,
            b_bits: 0,
            tile: 0,
            local_keys: 0,
            choice: 0,
            counts: 0,
            begins: 0,
            bucket_cursors: 0,
            cell_cursors: 0,
            tiles: 0,
            large: 0,
            parts: 0,
            steps: 0,
            pieces: 0,
            zeros: 0,
            zero_vectors: 0,
            may_onesweep: 0,
            carries: KEYS_ALONE,
            probe_blocks: 0,
            step_room: 0,
            large_keys: 0,
            ranges: 0,
            dictionary: 0,
            rest: 0,
            rooms: 0,
            room_begins: 0,
            room_keys: 0,
            room_blocks: 0,
            quantiles: 0,
            quantile_tile: 0,
            room_tile: 0,
            counts_once: 0,
            words: 0,
            codec,
        }
    }
}

/// The local sort of records: where onesweep's passes have left them, and where they go.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Values<W> {
    pub cells: Task<W>,
    pub keys_from: u64,
    pub values_from: u64,
    pub keys_to: u64,
    pub values_to: u64,
}

/// The sort of words: what they are made of, and where that goes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Composite {
    pub cells: Task<u64>,
    pub keys_from: u64,
    pub values_from: u64,
    pub keys_to: u64,
    pub values_to: u64,
    pub codec: Codec<u32>,
}

/// A sort of few keys with what travels with them, of `kernels/hybrid/ranked.cuh`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ranked<W> {
    pub keys_from: u64,
    pub values_from: u64,
    pub keys_to: u64,
    pub values_to: u64,
    pub codes: u64,
    pub value_words: u32,
    pub n: u32,
    pub chunk: u32,
    pub run: u32,
    pub shift: u32,
    pub mask: W,
    pub codec: Codec<W>,
}

impl<W: Word> Ranked<W> {
    /// Of so many keys there, with no room for codes.
    pub fn of(n: usize, places: Places, payload: Payload, spec: &Spec) -> Ranked<W> {
        let decide = spec.bits.end - spec.bits.start;
        Ranked {
            keys_from: places.keys,
            values_from: match payload {
                Payload::Index(_) => 0,
                _ => places.values,
            },
            keys_to: places.keys_to,
            values_to: places.values_to,
            codes: 0,
            value_words: (payload.bytes() / size_of::<u32>()) as u32,
            n: n as u32,
            chunk: 0,
            run: 0,
            // Of no bits at all, none is shifted out of the word.
            shift: if decide == 0 { 0 } else { spec.bits.start },
            mask: W::mask(&(0..decide)),
            codec: spec.codec.coder::<W>().into(),
        }
    }
}

/// What the device finds out and decides.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Choice<W> {
    pub base: W,
    pub prefix: W,
    pub varying: W,
    pub path: u32,
    pub rest: u32,
    pub low: u32,
    pub missed: u32,
    pub roomy: u32,
    pub unroomy: u32,
    pub done: u32,
    pub tickets: [u32; 2],
    pub large: u32,
    pub crowd: u32,
    pub refined: [u32; 8],
    pub for_large_blocks: u32,
    pub path_of_local: u32,
    pub pieces: u32,
    pub queue: [u64; 2],
}

/// The least and the greatest of some codes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Range<W> {
    pub least: W,
    pub greatest: W,
}

/// A value of `path`: the onesweep behind sorts, and the hybrid sort does nothing.
pub const ONESWEEP: u32 = 1;

/// Another: common keys are counted, the onesweep behind sorts the others, and both are woven.
pub const SIFT: u32 = 2;

/// Which partition: by the first digit.
pub const FIRST: u32 = 0;

/// By the second.
pub const SECOND: u32 = 1;

/// What goes with the keys: nothing.
pub const KEYS_ALONE: u32 = 0;

/// Values, stably.
pub const RECORDS: u32 = 1;

/// 32 bits each, in one word with the code.
pub const COMPOSITES: u32 = 2;

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
                    offset_of!(Task<$W>, large_keys),
                    offset_of!(Task<$W>, codec),
                )
            };
        }
        assert_eq!(task!(u32), (264, 48, 128, 160, 140, 156, 240));
        assert_eq!(task!(u64), (280, 48, 128, 160, 140, 156, 240));
        assert_eq!(task!(u128), (320, 48, 128, 160, 140, 156, 240));
        assert_eq!(size_of::<Composite>(), 336);
        macro_rules! ranked {
            ($W:ty) => {
                (
                    size_of::<Ranked<$W>>(),
                    offset_of!(Ranked<$W>, mask),
                    offset_of!(Ranked<$W>, codec),
                )
            };
        }
        assert_eq!(ranked!(u32), (88, 60, 64));
        assert_eq!(ranked!(u64), (112, 64, 72));
        assert_eq!(ranked!(u128), (160, 64, 80));
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
        assert_eq!(choice!(u32), (120, 12, 48, 104));
        assert_eq!(choice!(u64), (128, 24, 60, 112));
        assert_eq!(choice!(u128), (160, 48, 84, 136));
        assert_eq!(
            (size_of::<Part>(), size_of::<Step>(), size_of::<Piece>()),
            (1064, 16, 16)
        );
    }
}
