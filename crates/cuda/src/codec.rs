//! What kernels are told of codes: the structure of `kernels/codec.cuh`, laid out as there.

use sweepsort_core::{Coder, Word};

/// From raw words to codes and back.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Codec<W> {
    exclusive: W,
    float_mask: W,
    rotate: W,
    infinity: W,
    ties: u32,
    identity: u32,
}

impl<W: Word> From<Coder<W>> for Codec<W> {
    fn from(coder: Coder<W>) -> Self {
        let constants = coder.constants();
        Codec {
            exclusive: constants.xor,
            float_mask: constants.float_mask,
            rotate: constants.rotate,
            infinity: constants.infinity,
            ties: u32::from(coder.ties()),
            identity: u32::from(coder.is_identity()),
        }
    }
}
