//! Sizes that are beyond the host: keys are made on the device, sorted there and checked there.

use anyhow::{Context, Result, bail, ensure};
use bytemuck::Pod;
use sweepsort_core::{Shape, Word};
use sweepsort_cuda::{Buffer, CudaEngine, Slice, SliceMut};

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
            Case::new(format!("large/{ALGORITHM}/{name}"), move || {
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

/// Keys that repeat, with values that ascend from word to word: in order, the same multiset of
/// records, and equal keys in the order of the input.
fn pairs<K: Word, V: Pod>(resident: &Resident, n: usize) -> Result<()> {
    let stream = &resident.rig.stream;
    let words = size_of::<V>() / 4;
    let mut keys = resident.random(n, few::<K>())?;
    let mut values = stream.alloc::<u32>(n * words)?;
    resident.checks.positions(&mut values)?;
    let fingerprint = |keys: &Buffer<K>, values: &Buffer<u32>| -> Result<u64> {
        let values = Slice::from(values).cast::<V>()?;
        Ok(resident.checks.fingerprint_pairs::<K, V>(keys, values)?)
    };
    let before = fingerprint(&keys, &values)?;
    let (plan, mut workspace) =
        resident.plan::<K>(Shape::pairs(n, K::WIDTH, size_of::<V>()), ALGORITHM)?;
    plan.sort_pairs::<K, V>(
        stream,
        (&mut keys).into(),
        SliceMut::from(&mut values).cast()?,
        (&mut workspace).into(),
    )?;
    resident.in_order(&keys)?;
    ensure!(
        fingerprint(&keys, &values)? == before,
        "the sorted pairs are other pairs"
    );
    if words == 1 {
        return stable(resident, &keys, &values);
    }
    let firsts: Vec<u32> = (0..n).map(|i| (i * words) as u32).collect();
    let firsts = stream.upload(&firsts)?;
    let engine = CudaEngine::on(resident.rig.device.clone())?;
    // What that stream gathers from is done.
    stream.synchronize()?;
    // SAFETY: there are so many words.
    let first = unsafe { engine.gather(&values, &firsts, 4)? };
    engine.stream().synchronize()?;
    stable(resident, &keys, &first)
}

/// Keys that repeat, for the index that sorts them, and the same keys sorted: these are in order,
/// each entry leads to its key, and entries of equal keys ascend. No other index is so.
fn argsort<K: Word, I: Word>(resident: &Resident, n: usize) -> Result<()> {
    let stream = &resident.rig.stream;
    let keys = resident.random(n, few::<K>())?;
    let before = resident.checks.fingerprint::<K>(&keys)?;
    let mut sorted = stream.alloc::<K>(n)?;
    let (plan, mut workspace) = resident.plan::<K>(Shape::keys(n, K::WIDTH), ALGORITHM)?;
    plan.sort_to::<K>(
        stream,
        (&keys).into(),
        (&mut sorted).into(),
        (&mut workspace).into(),
    )?;
    drop(workspace);
    resident.in_order(&sorted)?;
    let mut index = stream.alloc::<I>(n)?;
    let (plan, mut workspace) =
        resident.plan::<K>(Shape::argsort(n, K::WIDTH, size_of::<I>()), ALGORITHM)?;
    plan.argsort::<K, I>(
        stream,
        (&keys).into(),
        (&mut index).into(),
        (&mut workspace).into(),
    )?;
    ensure!(
        resident.checks.fingerprint::<K>(&keys)? == before,
        "the indexed keys have changed"
    );
    if let Some(i) = resident.checks.misled::<K, I>(&keys, &index, &sorted)? {
        bail!("entry {i} of the index does not lead to the key there");
    }
    stable(resident, &sorted, &index)
}

fn stable<K: Word, I: Word>(
    resident: &Resident,
    keys: &Buffer<K>,
    index: &Buffer<I>,
) -> Result<()> {
    match resident.checks.unstable::<K, I>(keys, index, K::MAX)? {
        None => Ok(()),
        Some(i) => bail!("equal keys {i} and {} have changed their order", i + 1),
    }
}

/// Bits of which keys that are to repeat are made: all of a narrow one.
fn few<K: Word>() -> K {
    match K::BITS {
        8 | 16 => K::MAX,
        _ => K::truncate(FEW),
    }
}
