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

impl Codec<u64> {
    /// Of words of 64 bits whose upper halves are keys of 32: then these halves are the codes.
    pub fn of_upper_half(coder: Coder<u32>) -> Self {
        let codec = Codec::from(coder);
        let upper = |half: u32| u64::from(half) << 32;
        Codec {
            exclusive: upper(codec.exclusive),
            float_mask: upper(codec.float_mask),
            rotate: upper(codec.rotate),
            infinity: upper(codec.infinity),
            ties: codec.ties,
            identity: codec.identity,
        }
    }
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

#[cfg(test)]
mod tests {
    use sweepsort_core::{Codec as Of, Kind, Nan, Order};

    use super::*;

    /// As `encode` of `kernels/codec.cuh`.
    fn encode(codec: &Codec<u64>, word: u64) -> u64 {
        let magnitude = word & codec.float_mask;
        let word = match codec.ties {
            0 => word,
            _ if magnitude > codec.infinity => codec.float_mask,
            _ if magnitude == 0 => 0,
            _ => word,
        };
        let spread = 0u64.wrapping_sub(word >> 63);
        (word ^ (spread & codec.float_mask) ^ codec.exclusive).wrapping_sub(codec.rotate)
    }

    #[test]
    fn codes_of_halves_are_halves_of_codes() {
        let float = Kind::Float { mantissa: 23 };
        let keys = [0, 1, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0001, 0x7fff_ffff];
        for kind in [Kind::Unsigned, Kind::Signed, float] {
            for (&order, &nan) in
                (Order::ALL.iter()).flat_map(|o| Nan::ALL.iter().map(move |n| (o, n)))
            {
                let coder = Of::for_records(kind, order, nan).coder::<u32>();
                let codec = Codec::of_upper_half(coder);
                for key in keys.into_iter().flat_map(|key| [key, key | 1 << 31]) {
                    let code = encode(&codec, u64::from(key) << 32);
                    let expected = u64::from(coder.encode(key)) << 32;
                    assert_eq!(code, expected, "{kind:?} {order:?} {nan:?} {key:x}");
                }
            }
        }
    }
}
