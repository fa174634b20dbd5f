//! From where on, and up to where, blocks that wait for each other sort.

use super::Payload;
use crate::figure::row;

/// What is decided by numbers of keys.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// One block sorts up to so many keys, if it has room for them.
    pub one_block: usize,
    /// Up to so many keys are sorted in one launch of blocks that wait for each other, where none of them
    /// has more than so many tiles.
    pub together: usize,
    pub tiles: usize,
    /// One of these blocks is for so many keys at least.
    pub block: usize,
    /// One launch goes through all passes of whole keys alone where each block has one tile at most, or so many. Where
    /// some have two tiles and others one, blocks that wait for each other take longer than a launch for each pass
    /// does, up to 17 %, and with two or three up to 5 %; where nothing moves, as behind a hybrid sort, one launch takes
    /// 2 to 8 µs less than four or eight.
    pub rounds_at_once: usize,
}

row!(Tuning, "onesweep": one_block, together, tiles, block, rounds_at_once);

/// Measured on an H200 (docs/algorithms/thresholds.md). With more than a tile for each block, a launch for
/// each pass takes less.
const PAIRS: Tuning = Tuning {
    one_block: 5500,
    together: 1 << 20,
    tiles: 1,
    block: 512,
    rounds_at_once: 2,
};

/// Keys alone are for a hybrid sort, and a onesweep behind it is rarely wanted: it matters more that one
/// launch is called off sooner than many.
const KEYS: Tuning = Tuning { tiles: 2, ..PAIRS };

impl Tuning {
    /// By what travels with the keys.
    pub fn of(payload: Payload) -> Tuning {
        match payload {
            Payload::None => KEYS,
            Payload::Value(_) | Payload::Index(_) => PAIRS,
        }
    }
}

/// A word that blocks count in has so many bits for the count: ADDED_SHIFT of
/// `kernels/onesweep/together.cuh`.
const COUNT_BITS: u32 = 24;

/// Blocks that wait for each other sort no more keys.
pub const MOST_TOGETHER: usize = (1 << COUNT_BITS) - 1;
