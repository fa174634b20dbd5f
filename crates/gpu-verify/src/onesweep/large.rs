//! Sizes that are beyond the host: keys are made on the device, sorted there and checked there.

use anyhow::{Context, Result};
use bytemuck::Pod;
use sweepsort_core::Word;

use super::ALGORITHM;
use crate::Case;
use crate::large::FEW;
use crate::resident::Resident;

/// Every case, small ones first.
pub fn cases() -> Vec<Case> {
    /// 2^30 keys fit the counts of a look-back no longer.
    const PORTIONS: usize = (1 << 30) + (1 << 20);
    /// Positions of more than 32 bits.
    const FAR: usize = (1 << 32) + 3;
    type Run = fn(&Resident, usize) -> Result<()>;
    let rows: [(&str, &[usize], Run); 14] = [
        (
            "u32/2^24",
            &[(1 << 24) - 1, 1 << 24, (1 << 24) + 1],
            keys::<u32>,
        ),
        ("u32/2^28", &[1 << 28], keys::<u32>),
        ("u64/2^28", &[1 << 28], keys::<u64>),
        ("u128/2^26", &[1 << 26], keys::<u128>),
        ("u32+4/2^28", &[1 << 28], pairs::<u32, u32>),
        ("u64+8/2^27", &[1 << 27], pairs::<u64, u64>),
        ("u32+16/2^26", &[1 << 26], pairs::<u32, u128>),
        ("argsort/u32/2^28", &[1 << 28], argsort::<u32, u32>),
        ("argsort/u64/2^27", &[1 << 27], argsort::<u64, u32>),
        ("u32/2^30", &[1 << 30], keys::<u32>),
        ("u32/2^30+2^20", &[PORTIONS], keys::<u32>),
        ("u16/2^31", &[1 << 31], keys::<u16>),
        ("u8/2^32+3", &[FAR], keys::<u8>),
        ("argsort-u64/u8/2^32+3", &[FAR], argsort::<u8, u64>),
    ];
    rows.into_iter()
        .map(|(name, sizes, run)| {
            Case::alone(format!("large/{ALGORITHM}/{name}"), move || {
                crate::told(all(sizes, run))
            })
        })
        .collect()
}

/// Each size. Returns how many keys there were in all.
fn all(sizes: &[usize], run: fn(&Resident, usize) -> Result<()>) -> Result<usize> {
    let resident = Resident::open()?;
    for &n in sizes {
        run(&resident, n).with_context(|| format!("{n} keys"))?;
        resident.rig.intact()?;
    }
    Ok(sizes.iter().sum())
}

/// Keys without values.
fn keys<K: Word>(resident: &Resident, n: usize) -> Result<()> {
    resident.sort(&mut resident.random(n, K::MAX)?, ALGORITHM)
}

/// Keys that repeat, with values.
fn pairs<K: Word, V: Pod>(resident: &Resident, n: usize) -> Result<()> {
    let keys = resident.random(n, few::<K>())?;
    resident.sort_pairs::<K, V>(keys, ALGORITHM, true).map(drop)
}

/// Keys that repeat, for the index that sorts them.
fn argsort<K: Word, I: Word>(resident: &Resident, n: usize) -> Result<()> {
    let keys = resident.random(n, few::<K>())?;
    resident.argsort::<K, I>(&keys, ALGORITHM).map(drop)
}

/// Bits of which keys that are to repeat are made: all of a narrow one.
fn few<K: Word>() -> K {
    match K::BITS {
        8 | 16 => K::MAX,
        _ => K::truncate(FEW),
    }
}
