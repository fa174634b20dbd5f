//! Random numbers by counter: draw `k` of key `i` is a function of seed, `i` and `k`, so any
//! number of threads makes the same keys.

/// SplitMix64's finaliser: a bijection of 64 bits that spreads every bit over all of them.
#[inline(always)]
pub(crate) const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random {
    start: u64,
}

/// The golden ratio's odd 64 bits: SplitMix64's step.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Random {
            start: mix(seed ^ 0x5357_4545_5053_4f52),
        }
    }

    /// Draw `draw` (below 16) of key `index`.
    #[inline(always)]
    pub(crate) const fn draw(self, index: u64, draw: u64) -> u64 {
        let counter = index.wrapping_mul(16).wrapping_add(draw);
        mix(self.start.wrapping_add(counter.wrapping_mul(STEP)))
    }

    /// As [`draw`](Self::draw), 128 bits.
    #[inline(always)]
    pub(crate) const fn wide(self, index: u64, draw: u64) -> u128 {
        let low = self.draw(index, draw);
        // A second finaliser over a different step stands for another stream.
        let high = mix(low ^ self.start.rotate_left(17)).wrapping_mul(STEP);
        (high as u128) << 64 | low as u128
    }

    /// Draw `draw` of key `index` as a number uniform in [0, 1).
    #[inline(always)]
    pub(crate) fn unit(self, index: u64, draw: u64) -> f64 {
        (self.draw(index, draw) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}
