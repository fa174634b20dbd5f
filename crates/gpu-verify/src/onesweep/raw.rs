//! Raw addresses at every multiple of an element's size modulo 16, and what lies around them.

use anyhow::Result;
use sweepsort_core::{Width, Word, with_width};

use super::{ALGORITHM, WIDE};
use crate::misplaced::Misplaced;
use crate::rig::{Rig, random};

/// Keys of every width: alone in place and from buffer to buffer, with values, and for an index.
/// Returns how many sorts there were.
pub fn run() -> Result<usize> {
    let rig = Rig::open()?;
    let mut sorts = 0;
    for width in Width::ALL {
        for n in [1000, 3000, 30_011, WIDE] {
            sorts += with_width!(width, |W| {
                let keys = random(n, n as u64, W::truncate(u128::MAX / 255 * 0x11));
                Misplaced::<W>::new(&rig, ALGORITHM, keys).all()
            })?;
        }
    }
    Ok(sorts)
}
