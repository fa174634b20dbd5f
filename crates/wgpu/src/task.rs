//! What shaders are told: `Task` of `shaders/task.wgsl`, and where things lie in `control`.

#[cfg(test)]
mod tests;

use bytemuck::{Pod, Zeroable};
use sweepsort_core::{Codec, Constants, Digit, Word};

/// Passes at most.
pub(crate) const MOST_PASSES: usize = 16;

/// Bytes of a [`Task`].
pub(crate) const TASK_BYTES: usize = size_of::<Task>();

/// The word of `control` that has the number of keys, where it comes from a buffer.
pub(crate) const COUNT: u64 = 0;
/// Words of `control`: 64, then histograms of up to 8 passes of 256 digits or 16 of 16, then as many begins.
pub(crate) const CONTROL_WORDS: u64 = 64 + 2 * 8 * 256;

/// Bytes of a `Route` of `shaders/task.wgsl`, which begins with the workgroups of an indirect dispatch.
pub(crate) const ROUTE_BYTES: u64 = 32;
/// The byte in it where the number of moves stands.
pub(crate) const MOVES_AT: u64 = 16;

/// As `Task` of `shaders/task.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Task {
    pub n: u32,
    pub counted: u32,
    pub pass_number: u32,
    pub route_rows: u32,
    pub tiles: u32,
    pub most_groups: u32,
    pub ties: u32,
    pub indexed: u32,
    pub coder: Coder,
    pub digit: [u32; 2],
    pub padding: [u32; 2],
    pub digits: [[u32; 4]; MOST_PASSES],
}

/// The numbers of a codec, lower halves first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Coder {
    flip: [u32; 2],
    float_mask: [u32; 2],
    rotate: [u32; 2],
    infinity: [u32; 2],
}

impl Coder {
    /// The numbers of a codec for words of type `W`, moved up to the top of a word of 32 bits if they are
    /// narrower.
    pub(crate) fn of<W: Word>(codec: &Codec) -> Coder {
        let Constants {
            xor,
            float_mask,
            rotate,
            infinity,
        } = codec.coder::<W>().constants();
        let halves = |number: W| {
            let number = (number.widen() as u64) << widened_by(W::BITS);
            [number as u32, (number >> 32) as u32]
        };
        Coder {
            flip: halves(xor),
            float_mask: halves(float_mask),
            rotate: halves(rotate),
            infinity: halves(infinity),
        }
    }
}

/// By how many bits keys of so many bits are moved up, to be keys of 32 bits.
pub(crate) fn widened_by(bits: u32) -> u32 {
    32u32.saturating_sub(bits)
}

/// The digits of a range of bits, each of so many bits at most, an even number of them: so sorted keys are where
/// they were.
pub(crate) fn digits(bits: std::ops::Range<u32>, radix_bits: u32) -> Vec<Digit> {
    let width = bits.end - bits.start;
    let passes = 2 * width.div_ceil(2 * radix_bits).max(1);
    let mut shift = bits.start;
    (0..passes)
        .map(|pass| {
            let bits = width / passes + u32::from(pass < width % passes);
            shift += bits;
            Digit {
                shift: shift - bits,
                bits,
            }
        })
        .collect()
}
