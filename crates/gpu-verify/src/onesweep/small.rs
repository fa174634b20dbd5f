//! Every small size: those that one block sorts alone, with the edge to tiles, and steps up to three
//! tiles of the largest kind.

use anyhow::{Context, Result};
use sweepsort_core::{Nan, Order, Word};
use sweepsort_testkit::Ordered;

use super::{ALGORITHM, TILES};
use crate::rig::{Rig, random};
use crate::sorting::{Sorting, Work};

/// More keys than this are for several blocks.
const ONE_BLOCK: usize = 5500;

/// Every size from 0 to 2100, then steps of a prime, and the edge between one block and several.
fn sizes() -> impl Iterator<Item = usize> {
    let [.., largest] = TILES;
    (0..=2100)
        .chain((2100..=3 * largest).step_by(499).skip(1))
        .chain([ONE_BLOCK, ONE_BLOCK + 1])
}

/// Keys alone, in place and from one buffer to another, taking turns.
pub fn keys<K: Word + Ordered>() -> Result<usize> {
    all::<K>(Work::Keys)
}

/// Keys that repeat, with values of four bytes.
pub fn pairs<K: Word + Ordered>() -> Result<usize> {
    all::<K>(Work::Pairs(4))
}

fn all<K: Word + Ordered>(work: Work) -> Result<usize> {
    let rig = Rig::open()?;
    for n in sizes() {
        // All digits vary, and of pairs many tie.
        let mask = match work {
            Work::Keys => K::MAX,
            _ => K::truncate(u128::MAX / 255 * 0x11),
        };
        let keys = random(n, n as u64, mask);
        let sorting = Sorting::<K>::new(
            &keys,
            Order::Ascending,
            Nan::Total,
            0..K::WIDTH.bits(),
            ALGORITHM,
        );
        sorting
            .run(&rig, work, n % 2 == 0)
            .with_context(|| format!("{n} records"))?;
    }
    Ok(sizes().count())
}
