//! Keys that never leave the device: made there, or on the host where they take longer to sort than
//! to make; sorted there, and checked there.

use anyhow::{Result, bail, ensure};
use bytemuck::Pod;
use sweepsort_core::{Shape, Spec, Word};
use sweepsort_cuda::{Buffer, Checks, CudaEngine, Plan, Slice, SliceMut};

use crate::rig::{POISON, Rig, ascending};

/// A device, and the checks there.
pub struct Resident {
    pub rig: Rig,
    pub checks: Checks,
}

impl Resident {
    pub fn open() -> Result<Resident> {
        let rig = Rig::open()?;
        Ok(Resident {
            checks: Checks::new(&rig.stream),
            rig,
        })
    }

    /// `n` random keys, made of the bits of `mask`.
    pub fn random<K: Word>(&self, n: usize, mask: K) -> Result<Buffer<K>> {
        let mut keys = self.rig.stream.alloc(n)?;
        self.checks.random(&mut keys, n as u64, mask)?;
        Ok(keys)
    }

    /// A plan for unsigned keys in ascending order, and its workspace.
    pub fn plan<K: Word>(
        &self,
        shape: Shape,
        algorithm: &'static str,
    ) -> Result<(Plan, Buffer<u8>)> {
        let plan = self.rig.plan(shape, &ascending(K::WIDTH, algorithm))?;
        let workspace = self.rig.workspace(&plan)?;
        Ok((plan, workspace))
    }

    /// Sorts keys without values, in place: then they are in order, and the same multiset.
    pub fn sort<K: Word>(&self, keys: &mut Buffer<K>, algorithm: &'static str) -> Result<()> {
        let before = self.checks.fingerprint::<K>(&*keys)?;
        let (plan, mut workspace) = self.plan::<K>(Shape::keys(keys.len(), K::WIDTH), algorithm)?;
        plan.sort::<K>(&self.rig.stream, keys.into(), (&mut workspace).into())?;
        self.rig.sorted_by(algorithm, &plan, &mut workspace)?;
        self.sorted(keys, before)
    }

    /// Sorts keys without values into another buffer, with the same outcome; they stay as they are.
    pub fn sort_to<K: Word>(
        &self,
        keys: &Buffer<K>,
        to: &mut Buffer<K>,
        algorithm: &'static str,
    ) -> Result<()> {
        let before = self.checks.fingerprint::<K>(keys)?;
        let (plan, mut workspace) = self.plan::<K>(Shape::keys(keys.len(), K::WIDTH), algorithm)?;
        self.rig.stream.fill(&mut *to, POISON)?;
        plan.sort_to::<K>(
            &self.rig.stream,
            keys.into(),
            to.into(),
            (&mut workspace).into(),
        )?;
        self.rig.sorted_by(algorithm, &plan, &mut workspace)?;
        self.sorted(to, before)?;
        let after = self.checks.fingerprint::<K>(keys)?;
        ensure!(after == before, "the source has changed");
        Ok(())
    }

    /// Sorts keys in place with values that ascend from word to word: then they are in order, the same
    /// multiset of records, and equal keys in the order of the input if the sort is stable. Returns what
    /// sorted them.
    pub fn sort_pairs<K: Word, V: Pod>(
        &self,
        mut keys: Buffer<K>,
        algorithm: &'static str,
        stable: bool,
    ) -> Result<&'static str> {
        let (stream, n) = (&self.rig.stream, keys.len());
        let words = size_of::<V>() / 4;
        let mut values = stream.alloc::<u32>(n * words)?;
        self.checks.positions(&mut values)?;
        let fingerprint = |keys: &Buffer<K>, values: &Buffer<u32>| -> Result<u64> {
            let values = Slice::from(values).cast::<V>()?;
            Ok(self.checks.fingerprint_pairs::<K, V>(keys, values)?)
        };
        let before = fingerprint(&keys, &values)?;
        let spec = Spec {
            stable,
            ..ascending(K::WIDTH, algorithm)
        };
        let plan = self
            .rig
            .plan(Shape::pairs(n, K::WIDTH, size_of::<V>()), &spec)?;
        let mut workspace = self.rig.workspace(&plan)?;
        plan.sort_pairs::<K, V>(
            stream,
            (&mut keys).into(),
            SliceMut::from(&mut values).cast()?,
            (&mut workspace).into(),
        )?;
        let ran = plan.ran(stream, &(&mut workspace).into())?.algorithm;
        self.in_order(&keys)?;
        ensure!(
            fingerprint(&keys, &values)? == before,
            "the sorted pairs are other pairs"
        );
        if !stable {
            return Ok(ran);
        }
        if words == 1 {
            return self.stable(&keys, &values).map(|()| ran);
        }
        let firsts: Vec<u32> = (0..n).map(|i| (i * words) as u32).collect();
        let firsts = stream.upload(&firsts)?;
        let engine = CudaEngine::on(self.rig.device.clone())?;
        // What that stream gathers from is done.
        stream.synchronize()?;
        // SAFETY: there are so many words.
        let first = unsafe { engine.gather(&values, &firsts, 4)? };
        engine.stream().synchronize()?;
        self.stable(&keys, &first).map(|()| ran)
    }

    /// Fills the index that sorts these keys: with them sorted by onesweep, which are in order, each
    /// entry leads to its key, and entries of equal keys ascend. No other index is so. Returns what
    /// filled it.
    pub fn argsort<K: Word, I: Word>(
        &self,
        keys: &Buffer<K>,
        algorithm: &'static str,
    ) -> Result<&'static str> {
        let (stream, n) = (&self.rig.stream, keys.len());
        let before = self.checks.fingerprint::<K>(keys)?;
        let mut sorted = stream.alloc::<K>(n)?;
        self.sort_to(keys, &mut sorted, "onesweep")?;
        let mut index = stream.alloc::<I>(n)?;
        let (plan, mut workspace) =
            self.plan::<K>(Shape::argsort(n, K::WIDTH, size_of::<I>()), algorithm)?;
        plan.argsort::<K, I>(
            stream,
            keys.into(),
            (&mut index).into(),
            (&mut workspace).into(),
        )?;
        let ran = plan.ran(stream, &(&mut workspace).into())?.algorithm;
        ensure!(
            self.checks.fingerprint::<K>(keys)? == before,
            "the indexed keys have changed"
        );
        if let Some(i) = self.checks.misled::<K, I>(keys, &index, &sorted)? {
            bail!("entry {i} of the index does not lead to the key there");
        }
        self.stable(&sorted, &index).map(|()| ran)
    }

    fn stable<K: Word, I: Word>(&self, keys: &Buffer<K>, index: &Buffer<I>) -> Result<()> {
        match self.checks.unstable::<K, I>(keys, index, K::MAX)? {
            None => Ok(()),
            Some(i) => bail!("equal keys {i} and {} have changed their order", i + 1),
        }
    }

    fn sorted<K: Word>(&self, keys: &Buffer<K>, before: u64) -> Result<()> {
        self.in_order(keys)?;
        let after = self.checks.fingerprint::<K>(keys)?;
        ensure!(after == before, "the sorted keys are other keys");
        Ok(())
    }

    pub fn in_order<K: Word>(&self, keys: &Buffer<K>) -> Result<()> {
        match self.checks.disorder(keys, K::MAX)? {
            None => Ok(()),
            Some(i) => bail!("keys {i} and {} are out of order", i + 1),
        }
    }
}
