//! A sort by a plan on the device, beside the host's stable sort.

use std::fmt::Debug;
use std::ops::Range;

use anyhow::Result;
use bytemuck::Pod;
use sweepsort_core::{Codec, Nan, Order, Shape, Spec, Word};
use sweepsort_testkit::{Ordered, Wanted, oracle};

use crate::keys::Keys;
use crate::rig::{Rig, random, same};

/// What is to be done with keys.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Sort them alone.
    Keys,
    /// Sort them with values of so many bytes.
    Pairs(usize),
    /// The same with values of 4 bytes, those of equal keys in any order.
    UnstablePairs,
    /// Fill an index with entries of so many bytes.
    Argsort(usize),
}

impl Work {
    /// Values that travel with the keys at all sizes that kernels are for, others, and both indexes.
    pub const ALL: [Work; 10] = [
        Work::Keys,
        Work::Pairs(1),
        Work::Pairs(2),
        Work::Pairs(4),
        Work::Pairs(8),
        Work::Pairs(12),
        Work::Pairs(16),
        Work::Pairs(24),
        Work::Argsort(4),
        Work::Argsort(8),
    ];
}

/// Keys as words, and where a stable sort takes each.
pub struct Sorting<W> {
    /// Without values.
    alone: Keys<W>,
    /// Of pairs and argsort, where NaNs and zeros may tie.
    spec: Spec,
    /// The positions of the keys in the order that is then asked for.
    order: Vec<usize>,
}

impl<W: Word> Sorting<W> {
    /// Keys that are `W` in memory, to be sorted by some bits.
    pub fn new<K: Ordered>(
        keys: &[K],
        order: Order,
        nan: Nan,
        bits: Range<u32>,
        algorithm: &'static str,
    ) -> Self {
        Sorting {
            spec: Spec {
                codec: Codec::for_records(K::KIND, order, nan),
                bits: bits.clone(),
                stable: true,
                algorithm: algorithm.into(),
            },
            order: oracle::order(keys, &Wanted::of_records(order, nan, Some(bits.clone()))),
            alone: Keys::new(keys, order, nan, bits, algorithm),
        }
    }

    /// Sorts, in place or from one buffer to another, and compares. An argsort is never in place.
    ///
    /// # Errors
    /// What is not as it must be.
    pub fn run(&self, rig: &Rig, work: Work, in_place: bool) -> Result<()> {
        match work {
            Work::Keys => self.alone.sort(rig, in_place).map(drop),
            Work::Pairs(1) => self.pairs::<u8>(rig, in_place, true),
            Work::Pairs(2) => self.pairs::<u16>(rig, in_place, true),
            Work::Pairs(4) => self.pairs::<u32>(rig, in_place, true),
            Work::Pairs(8) => self.pairs::<u64>(rig, in_place, true),
            Work::Pairs(12) => self.pairs::<[u32; 3]>(rig, in_place, true),
            Work::Pairs(16) => self.pairs::<u128>(rig, in_place, true),
            Work::Pairs(24) => self.pairs::<[u64; 3]>(rig, in_place, true),
            Work::UnstablePairs => self.pairs::<u32>(rig, in_place, false),
            Work::Argsort(4) => self.argsort(rig, |i| i as u32),
            Work::Argsort(8) => self.argsort(rig, |i| i as u64),
            Work::Pairs(bytes) | Work::Argsort(bytes) => {
                anyhow::bail!("there are no payloads of {bytes} bytes here")
            }
        }?;
        rig.intact()
    }

    fn pairs<V: Pod + Ord + Debug>(&self, rig: &Rig, in_place: bool, stable: bool) -> Result<()> {
        let (words, order) = (&self.alone.before, &self.order);
        let (stream, n) = (&rig.stream, words.len());
        let before = values::<V>(n);
        let spec = Spec {
            stable,
            ..self.spec.clone()
        };
        let plan = rig.plan(Shape::pairs(n, W::WIDTH, size_of::<V>()), &spec)?;
        let mut workspace = rig.workspace(&plan)?;
        let (mut keys, mut values) = (stream.upload(words)?, stream.upload(&before)?);
        let (mut keys_to, mut values_to) = (stream.alloc::<W>(n)?, stream.alloc::<V>(n)?);
        let (sorted, moved) = if in_place {
            plan.sort_pairs::<W, V>(
                stream,
                (&mut keys).into(),
                (&mut values).into(),
                (&mut workspace).into(),
            )?;
            (&keys, &values)
        } else {
            plan.sort_pairs_to::<W, V>(
                stream,
                (&keys).into(),
                (&values).into(),
                (&mut keys_to).into(),
                (&mut values_to).into(),
                (&mut workspace).into(),
            )?;
            same("the source's keys", &stream.download(&keys)?, words)?;
            same("the source's values", &stream.download(&values)?, &before)?;
            (&keys_to, &values_to)
        };
        let (sorted, moved) = (stream.download(sorted)?, stream.download(moved)?);
        let expected = (oracle::follow(words, order), oracle::follow(&before, order));
        if stable {
            same("the pairs' keys", &sorted, &expected.0)?;
            return same("the pairs' values", &moved, &expected.1);
        }
        let coder = self.spec.codec.coder::<W>();
        let codes = |keys: &[W]| -> Vec<W> { keys.iter().map(|&key| coder.encode(key)).collect() };
        let expected_codes = codes(&expected.0);
        same("the pairs' codes", &codes(&sorted), &expected_codes)?;
        let records = |keys: Vec<W>, values: Vec<V>| -> Vec<(W, V)> {
            let mut records: Vec<_> = keys.into_iter().zip(values).collect();
            records.sort_unstable();
            records
        };
        let expected = records(expected.0, expected.1);
        same("the pairs, ordered", &records(sorted, moved), &expected)
    }

    fn argsort<I: Word>(&self, rig: &Rig, entry: impl Fn(usize) -> I) -> Result<()> {
        let (words, order) = (&self.alone.before, &self.order);
        let (stream, n) = (&rig.stream, words.len());
        let plan = rig.plan(Shape::argsort(n, W::WIDTH, size_of::<I>()), &self.spec)?;
        let mut workspace = rig.workspace(&plan)?;
        let keys = stream.upload(words)?;
        let mut index = stream.alloc::<I>(n)?;
        plan.argsort::<W, I>(
            stream,
            (&keys).into(),
            (&mut index).into(),
            (&mut workspace).into(),
        )?;
        same("the indexed keys", &stream.download(&keys)?, words)?;
        let expected: Vec<I> = order.iter().map(|&i| entry(i)).collect();
        same("the index", &stream.download(&index)?, &expected)
    }
}

/// Random values of up to 16 bytes and of 24, different ones as far as their bytes allow.
fn values<V: Pod>(n: usize) -> Vec<V> {
    let words: Vec<u64> = random(3 * n, 1, u64::MAX);
    words
        .chunks(3)
        .map(|three| bytemuck::pod_read_unaligned(&bytemuck::cast_slice(three)[..size_of::<V>()]))
        .collect()
}
