//! Keys that never leave the device: made there, or on the host where they take longer to sort than
//! to make; sorted there, and checked there.

use anyhow::{Result, bail, ensure};
use sweepsort_core::{Shape, Word};
use sweepsort_cuda::{Buffer, Checks, Plan};

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
