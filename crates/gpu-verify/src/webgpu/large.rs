//! Sizes beyond the testkit's table, through the engine, and checked by all cores of the host.

use anyhow::{Context, Result, anyhow, ensure};
use sweepsort_core::{Engine, IndexMut, Spec, Task, ValuesMut};
use sweepsort_testkit::distribution::Sample;
use sweepsort_testkit::{
    Distribution, Ordered, Wanted, check_index, fingerprint, first_disorder, generate,
};
use sweepsort_wgpu::Options;

use super::Place;
use super::rig::Rig;
use crate::{Case, told};

/// A part of the work: which, the keys' bits, and the power of two that keys are around.
type Row = (&'static str, Run, &'static [u32]);

/// Does the work for `n` keys.
type Run = fn(&Rig, usize) -> Result<()>;

/// On a GPU.
const ROWS: [Row; 6] = [
    ("u32", keys::<u32>, &[24, 26, 28]),
    ("u64", keys::<u64>, &[24, 27]),
    ("u8", keys::<u8>, &[28]),
    ("u32-u32", pairs::<u32>, &[24, 27]),
    ("u64-u32", pairs::<u64>, &[26]),
    ("u32-argsort", argsort::<u32>, &[24, 27]),
];

/// On a software adapter. More than 2^24 keys of 8 bits, which have 32 on the device, go over in parts.
const SOFTWARE_ROWS: [Row; 4] = [
    ("u64", keys::<u64>, &[18]),
    ("u8", keys::<u8>, &[24]),
    ("u32-u32", pairs::<u32>, &[19]),
    ("u32-argsort", argsort::<u32>, &[19]),
];

const NO_WORDS: &str = "keys that are no machine words";

/// A case for each row and power.
pub fn cases(place: Place) -> Vec<Case> {
    let rows: &[Row] = match place {
        Place::Gpu => &ROWS,
        Place::Software => &SOFTWARE_ROWS,
    };
    let mut cases = Vec::new();
    for &(name, run, powers) in rows {
        cases.extend(powers.iter().map(|&power| {
            Case::alone(format!("wgpu/large/{name}/2^{power}"), move || {
                told(around(place, run, 1 << power))
            })
        }));
    }
    cases
}

/// Sizes around `n`; on a software adapter the largest alone. Returns how many keys there were in all.
fn around(place: Place, run: Run, n: usize) -> Result<usize> {
    let rig = Rig::open(place, Options::default())?;
    let sizes = match place {
        Place::Gpu => n - 1..n + 2,
        Place::Software => n + 1..n + 2,
    };
    let mut sorted = 0;
    for n in sizes {
        run(&rig, n)?;
        sorted += n;
    }
    Ok(sorted)
}

/// Keys alone: in order, and the same multiset.
fn keys<K: Sample>(rig: &Rig, n: usize) -> Result<()> {
    let mut keys: Vec<K> = generate(Distribution::Uniform, n, n as u64)?;
    let before = fingerprint(&keys);
    let task = Task::Keys(K::words_mut(&mut keys).context(NO_WORDS)?);
    rig.engine.run(task, &Spec::natural::<K>())?;
    in_order(&keys)?;
    ensure!(
        fingerprint(&keys) == before,
        "{n} keys: the sorted keys are other keys"
    );
    Ok(())
}

/// Keys of which many are equal, with their positions for values: these are then the index of a stable sort,
/// and each key is that of its position.
fn pairs<K: Sample>(rig: &Rig, n: usize) -> Result<()> {
    let before: Vec<K> = generate(Distribution::Zipf, n, n as u64)?;
    let mut keys = before.clone();
    let mut values: Vec<u32> = (0..n as u32).collect();
    let task = Task::Pairs(
        K::words_mut(&mut keys).context(NO_WORDS)?,
        ValuesMut::new(&mut values),
    );
    rig.engine.run(task, &Spec::natural::<K>())?;
    check_index(&before, &values, &Wanted::default())
        .map_err(|what| anyhow!("{n} pairs: {what}"))?;
    let astray = (0..n).find(|&i| keys[i].raw() != before[values[i] as usize].raw());
    ensure!(
        astray.is_none(),
        "{n} pairs: a key has another's value at {astray:?}"
    );
    Ok(())
}

/// The same for an index, and the keys stay as they are.
fn argsort<K: Sample>(rig: &Rig, n: usize) -> Result<()> {
    let keys: Vec<K> = generate(Distribution::Zipf, n, n as u64)?;
    let before = fingerprint(&keys);
    let mut index = vec![u32::MAX; n];
    let task = Task::Argsort(
        K::words(&keys).context(NO_WORDS)?,
        IndexMut::U32(&mut index),
    );
    rig.engine.run(task, &Spec::natural::<K>())?;
    check_index(&keys, &index, &Wanted::default())
        .map_err(|what| anyhow!("index of {n}: {what}"))?;
    ensure!(
        fingerprint(&keys) == before,
        "index of {n}: the keys have changed"
    );
    Ok(())
}

fn in_order<K: Ordered>(keys: &[K]) -> Result<()> {
    match first_disorder(keys, &Wanted::default()) {
        None => Ok(()),
        Some(i) => Err(anyhow!("{} keys: key {i} is out of order", keys.len())),
    }
}
