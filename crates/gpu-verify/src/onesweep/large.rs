//! Sizes that are beyond the host: keys are made on the device, sorted there and checked there.

use anyhow::{Context, Result, bail, ensure};
use bytemuck::Pod;
use sweepsort_core::{Shape, Word};
use sweepsort_cuda::{Buffer, Checks, CudaEngine, Plan, Slice, SliceMut};

use super::{ALGORITHM, Rig, ascending};
use crate::Case;
use crate::large::FEW;

/// Every case, small ones first.
pub fn cases() -> Vec<Case> {
    /// 2^30 keys fit the counts of a look-back no longer.
    const PORTIONS: usize = (1 << 30) + (1 << 20);
    /// Positions of more than 32 bits.
    const FAR: usize = (1 << 32) + 3;
    type Run = fn(&Large, usize) -> Result<()>;
    let rows: [(&str, &[usize], Run); 14] = [
        (
            "u32/2^24",
            &[(1 << 24) - 1, 1 << 24, (1 << 24) + 1],
            Large::keys::<u32>,
        ),
        ("u32/2^28", &[1 << 28], Large::keys::<u32>),
        ("u64/2^28", &[1 << 28], Large::keys::<u64>),
        ("u128/2^26", &[1 << 26], Large::keys::<u128>),
        ("u32+4/2^28", &[1 << 28], Large::pairs::<u32, u32>),
        ("u64+8/2^27", &[1 << 27], Large::pairs::<u64, u64>),
        ("u32+16/2^26", &[1 << 26], Large::pairs::<u32, u128>),
        ("argsort/u32/2^28", &[1 << 28], Large::argsort::<u32, u32>),
        ("argsort/u64/2^27", &[1 << 27], Large::argsort::<u64, u32>),
        ("u32/2^30", &[1 << 30], Large::keys::<u32>),
        ("u32/2^30+2^20", &[PORTIONS], Large::keys::<u32>),
        ("u16/2^31", &[1 << 31], Large::keys::<u16>),
        ("u8/2^32+3", &[FAR], Large::keys::<u8>),
        ("argsort-u64/u8/2^32+3", &[FAR], Large::argsort::<u8, u64>),
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
fn all(sizes: &[usize], run: fn(&Large, usize) -> Result<()>) -> Result<usize> {
    let large = Large::open()?;
    for &n in sizes {
        run(&large, n).with_context(|| format!("{n} keys"))?;
        large.rig.intact()?;
    }
    Ok(sizes.iter().sum())
}

/// A device, and the checks there.
struct Large {
    rig: Rig,
    checks: Checks,
}

impl Large {
    fn open() -> Result<Large> {
        let rig = Rig::open()?;
        Ok(Large {
            checks: Checks::new(&rig.stream),
            rig,
        })
    }

    /// `n` random keys, made of the bits of `mask`.
    fn random<K: Word>(&self, n: usize, mask: K) -> Result<Buffer<K>> {
        let mut keys = self.rig.stream.alloc(n)?;
        self.checks.random(&mut keys, n as u64, mask)?;
        Ok(keys)
    }

    fn plan<K: Word>(&self, shape: Shape) -> Result<(Plan, Buffer<u8>)> {
        let plan = self.rig.plan(shape, &ascending(K::WIDTH))?;
        let workspace = self.rig.workspace(&plan)?;
        Ok((plan, workspace))
    }

    /// Keys alone, in place: in order, and the same multiset.
    fn keys<K: Word>(&self, n: usize) -> Result<()> {
        let mut keys = self.random(n, K::MAX)?;
        let before = self.checks.fingerprint::<K>(&keys)?;
        let (plan, mut workspace) = self.plan::<K>(Shape::keys(n, K::WIDTH))?;
        let stream = &self.rig.stream;
        plan.sort::<K>(stream, (&mut keys).into(), (&mut workspace).into())?;
        self.in_order(&keys)?;
        let after = self.checks.fingerprint::<K>(&keys)?;
        ensure!(after == before, "the sorted keys are other keys");
        Ok(())
    }

    /// Keys that repeat, with values that ascend from word to word: in order, the same multiset of
    /// records, and equal keys in the order of the input.
    fn pairs<K: Word, V: Pod>(&self, n: usize) -> Result<()> {
        let stream = &self.rig.stream;
        let words = size_of::<V>() / 4;
        let mut keys = self.random(n, few::<K>())?;
        let mut values = stream.alloc::<u32>(n * words)?;
        self.checks.positions(&mut values)?;
        let fingerprint = |keys: &Buffer<K>, values: &Buffer<u32>| -> Result<u64> {
            let values = Slice::from(values).cast::<V>()?;
            Ok(self.checks.fingerprint_pairs::<K, V>(keys, values)?)
        };
        let before = fingerprint(&keys, &values)?;
        let (plan, mut workspace) = self.plan::<K>(Shape::pairs(n, K::WIDTH, size_of::<V>()))?;
        plan.sort_pairs::<K, V>(
            stream,
            (&mut keys).into(),
            SliceMut::from(&mut values).cast()?,
            (&mut workspace).into(),
        )?;
        self.in_order(&keys)?;
        ensure!(
            fingerprint(&keys, &values)? == before,
            "the sorted pairs are other pairs"
        );
        if words == 1 {
            return self.stable(&keys, &values);
        }
        let firsts: Vec<u32> = (0..n).map(|i| (i * words) as u32).collect();
        let firsts = stream.upload(&firsts)?;
        let engine = CudaEngine::on(self.rig.device.clone())?;
        // What that stream gathers from is done.
        stream.synchronize()?;
        // SAFETY: there are so many words.
        let first = unsafe { engine.gather(&values, &firsts, 4)? };
        engine.stream().synchronize()?;
        self.stable(&keys, &first)
    }

    /// Keys that repeat, for the index that sorts them, and the same keys sorted: these are in order,
    /// each entry leads to its key, and entries of equal keys ascend. No other index is so.
    fn argsort<K: Word, I: Word>(&self, n: usize) -> Result<()> {
        let stream = &self.rig.stream;
        let keys = self.random(n, few::<K>())?;
        let before = self.checks.fingerprint::<K>(&keys)?;
        let mut sorted = stream.alloc::<K>(n)?;
        let (plan, mut workspace) = self.plan::<K>(Shape::keys(n, K::WIDTH))?;
        plan.sort_to::<K>(
            stream,
            (&keys).into(),
            (&mut sorted).into(),
            (&mut workspace).into(),
        )?;
        drop(workspace);
        self.in_order(&sorted)?;
        let mut index = stream.alloc::<I>(n)?;
        let (plan, mut workspace) = self.plan::<K>(Shape::argsort(n, K::WIDTH, size_of::<I>()))?;
        plan.argsort::<K, I>(
            stream,
            (&keys).into(),
            (&mut index).into(),
            (&mut workspace).into(),
        )?;
        ensure!(
            self.checks.fingerprint::<K>(&keys)? == before,
            "the indexed keys have changed"
        );
        if let Some(i) = self.checks.misled::<K, I>(&keys, &index, &sorted)? {
            bail!("entry {i} of the index does not lead to the key there");
        }
        self.stable(&sorted, &index)
    }

    fn in_order<K: Word>(&self, keys: &Buffer<K>) -> Result<()> {
        match self.checks.disorder(keys, K::MAX)? {
            None => Ok(()),
            Some(i) => bail!("keys {i} and {} are out of order", i + 1),
        }
    }

    fn stable<K: Word, I: Word>(&self, keys: &Buffer<K>, index: &Buffer<I>) -> Result<()> {
        match self.checks.unstable::<K, I>(keys, index, K::MAX)? {
            None => Ok(()),
            Some(i) => bail!("equal keys {i} and {} have changed their order", i + 1),
        }
    }
}

/// Bits of which keys that are to repeat are made: all of a narrow one.
fn few<K: Word>() -> K {
    match K::BITS {
        8 | 16 => K::MAX,
        _ => K::truncate(FEW),
    }
}
