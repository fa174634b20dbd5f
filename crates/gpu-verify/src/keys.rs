//! Keys without values, and what a sort must make of them.

use std::ops::Range;

use anyhow::Result;
use sweepsort_core::{Codec, Nan, Order, Shape, Spec, Word};
use sweepsort_cuda::Ran;
use sweepsort_testkit::{Ordered, Wanted, oracle};

use crate::rig::{Rig, same};

/// Keys as words, and the same in the order that is asked for.
pub struct Keys<W> {
    pub before: Vec<W>,
    pub sorted: Vec<W>,
    pub spec: Spec,
}

impl<W: Word> Keys<W> {
    /// Keys that are `W` in memory, to be sorted by some bits.
    pub fn new<K: Ordered>(
        keys: &[K],
        order: Order,
        nan: Nan,
        bits: Range<u32>,
        algorithm: &'static str,
    ) -> Self {
        let words = |keys: &[K]| keys.iter().map(|key| W::truncate(key.raw())).collect();
        let wanted = Wanted::of_keys(order, nan, Some(bits.clone()));
        Keys {
            before: words(keys),
            sorted: words(&oracle::sorted(keys, &wanted)),
            spec: Spec {
                codec: Codec::for_keys(K::KIND, order, nan),
                bits,
                stable: true,
                algorithm: algorithm.into(),
            },
        }
    }

    /// Sorts them, in place or from one buffer to another, and compares. Returns what has sorted them.
    ///
    /// # Errors
    /// What is not as it must be.
    pub fn sort(&self, rig: &Rig, in_place: bool) -> Result<Ran> {
        let (stream, n) = (&rig.stream, self.before.len());
        let plan = rig.plan(Shape::keys(n, W::WIDTH), &self.spec)?;
        let mut workspace = rig.workspace(&plan)?;
        let mut keys = stream.upload(&self.before)?;
        if in_place {
            plan.sort::<W>(stream, (&mut keys).into(), (&mut workspace).into())?;
            let ran = rig.sorted_by(&self.spec.algorithm, &plan, &mut workspace)?;
            same("the keys", &stream.download(&keys)?, &self.sorted)?;
            return Ok(ran);
        }
        let mut to = stream.alloc::<W>(n)?;
        plan.sort_to::<W>(
            stream,
            (&keys).into(),
            (&mut to).into(),
            (&mut workspace).into(),
        )?;
        let ran = rig.sorted_by(&self.spec.algorithm, &plan, &mut workspace)?;
        same("the source", &stream.download(&keys)?, &self.before)?;
        same("the keys", &stream.download(&to)?, &self.sorted)?;
        Ok(ran)
    }
}
