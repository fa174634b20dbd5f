//! What cannot be done is an error and no more: memory that is not there, calls that do not fit a
//! plan, and a device that a kernel of somebody else's has spoiled.

use anyhow::{Context, Result, bail, ensure};
use sweepsort_core::{Engine, IndexMut, Shape, Task, ValuesMut, Width, Words, WordsMut};
use sweepsort_cuda::{
    Buffer, CudaEngine, Error, Grid, Image, Kind, Plan, Pointer, Raw, Spec, args,
};

use super::ascending;
use crate::rig::{Rig, random, same};

/// Keys of a sort that is to fail: 128 MiB.
const KEYS: usize = 1 << 25;

/// What a device has free at most, in bytes, where its memory is short: less than the keys.
const SPARE: usize = 32 << 20;

/// A workspace that no device has, then tasks of the engine, by onesweep and by its own choice, on a
/// device that others have filled, and the same after they are gone. Returns how many errors and sorts
/// there were.
pub fn memory() -> Result<usize> {
    let rig = Rig::open()?;
    let specs = [
        ascending(Width::W32),
        crate::rig::ascending(Width::W32, "auto"),
    ];
    let bytes = rig
        .plan(Shape::keys(1 << 40, Width::W32), &specs[0])?
        .workspace_bytes();
    let total = rig.device.memory()?.total;
    match rig.stream.alloc::<u8>(bytes) {
        Err(Error::OutOfMemory {
            bytes: wanted,
            free,
        }) => ensure!(
            wanted == bytes && free > 0 && free <= total,
            "{wanted} bytes of {bytes} were wanted, {free} of {total} being free"
        ),
        other => bail!("{bytes} bytes of workspace: {other:?}"),
    }

    let engine = CudaEngine::on(rig.device.clone())?;
    // So that no kernel has to be brought in when memory is short.
    for spec in &specs {
        Host::new(KEYS).sorted(&engine, spec)?;
    }
    let mut host = Host::new(KEYS);
    let others = take_all(&rig)?;
    for spec in &specs {
        host.refused(&engine, spec)?;
    }
    drop(others);
    for spec in &specs {
        Host::new(KEYS).sorted(&engine, spec)?;
    }
    rig.intact()?;
    Ok(1 + specs.len() * 3 * 3)
}

/// Takes memory until so little is left that no more than [`SPARE`] can be had at a time.
fn take_all(rig: &Rig) -> Result<Vec<Buffer<u8>>> {
    let mut bytes = rig.device.memory()?.free;
    let mut taken = Vec::new();
    while bytes > SPARE {
        match rig.stream.alloc(bytes) {
            Ok(buffer) => taken.push(buffer),
            Err(Error::OutOfMemory { .. }) => bytes /= 2,
            Err(other) => return Err(other.into()),
        }
    }
    Ok(taken)
}

/// Keys, values and an index in the host's memory.
struct Host {
    keys: Vec<u32>,
    values: Vec<u64>,
    index: Vec<u32>,
}

impl Host {
    /// Each value is its key's, turned over.
    fn new(n: usize) -> Self {
        let keys: Vec<u32> = random(n, 3, u32::MAX);
        Host {
            values: keys.iter().map(|&key| !u64::from(key)).collect(),
            keys,
            index: vec![u32::MAX; n],
        }
    }

    /// An index, keys alone and pairs are refused for want of memory, and nothing has changed.
    fn refused(&mut self, engine: &CudaEngine, spec: &Spec) -> Result<()> {
        let before = self.keys.clone();
        let outcomes = [
            engine.run(
                Task::Argsort(Words::W32(&self.keys), IndexMut::U32(&mut self.index)),
                spec,
            ),
            engine.run(Task::Keys(WordsMut::W32(&mut self.keys)), spec),
            engine.run(
                Task::Pairs(
                    WordsMut::W32(&mut self.keys),
                    ValuesMut::new(&mut self.values),
                ),
                spec,
            ),
        ];
        for outcome in outcomes {
            match outcome {
                Err(sweepsort_core::Error::OutOfMemory { bytes }) if bytes > SPARE => {}
                other => bail!("where memory is short: {other:?}"),
            }
        }
        same("the keys", &self.keys, &before)?;
        let kept = (before.iter().zip(&self.values)).all(|(&key, &value)| value == !u64::from(key));
        ensure!(kept, "the values have changed");
        ensure!(
            self.index.iter().all(|&entry| entry == u32::MAX),
            "the index has changed"
        );
        Ok(())
    }

    /// The same are done.
    fn sorted(&mut self, engine: &CudaEngine, spec: &Spec) -> Result<()> {
        let mut expected = self.keys.clone();
        expected.sort_unstable();
        engine.run(
            Task::Argsort(Words::W32(&self.keys), IndexMut::U32(&mut self.index)),
            spec,
        )?;
        let led: Option<Vec<u32>> = (self.index.iter())
            .map(|&i| self.keys.get(i as usize).copied())
            .collect();
        same(
            "keys by the index",
            &led.context("an index beyond the keys")?,
            &expected,
        )?;

        let mut alone = self.keys.clone();
        engine.run(Task::Keys(WordsMut::W32(&mut alone)), spec)?;
        same("keys", &alone, &expected)?;

        let task = Task::Pairs(
            WordsMut::W32(&mut self.keys),
            ValuesMut::new(&mut self.values),
        );
        engine.run(task, spec)?;
        same("keys of pairs", &self.keys, &expected)?;
        let values: Vec<u64> = expected.iter().map(|&key| !u64::from(key)).collect();
        same("values", &self.values, &values)
    }
}

/// Calls that do not fit their plan, after which a call that does is right; then a kernel that
/// writes to nobody's memory, after which every call is an error. Returns how many errors there were.
pub fn launch() -> Result<usize> {
    let rig = Rig::open()?;
    let refused = refusals(&rig)?;
    rig.intact()?;
    Ok(refused + astray(&rig)?)
}

/// Keys of the calls that are refused.
const FEW: usize = 100_003;

fn refusals(rig: &Rig) -> Result<usize> {
    let (stream, width) = (&rig.stream, Width::W32);
    let spec = ascending(width);
    let of_keys = rig.plan(Shape::keys(FEW, width), &spec)?;
    let of_pairs = rig.plan(Shape::pairs(FEW, width, 4), &spec)?;
    let of_index = rig.plan(Shape::argsort(FEW, width, 4), &spec)?;
    let need = of_keys.workspace_bytes();
    let most = need
        .max(of_pairs.workspace_bytes())
        .max(of_index.workspace_bytes());
    let mut all = stream.alloc::<u8>(most + 256)?;
    macro_rules! workspace {
        () => {
            (&mut all).into()
        };
    }

    let before: Vec<u32> = random(FEW, 5, u32::MAX);
    let mut keys = stream.upload(&before)?;
    let mut words = stream.upload(&before)?;
    let mut wide = stream.zeros::<u64>(FEW)?;
    let mut narrow = stream.zeros::<u16>(FEW)?;
    let raw = Raw {
        keys: keys.pointer().address(),
        keys_to: keys.pointer().address(),
        workspace: all.pointer().address(),
        workspace_bytes: all.len(),
        ..Raw::default()
    };
    // SAFETY: each is refused, and sorts nothing.
    let by_address = |raw| unsafe { of_keys.sort_raw(stream, raw) };

    let outcomes = [
        (
            "a workspace one byte short",
            of_keys.sort::<u32>(stream, (&mut keys).into(), all.slice_mut(..need - 1)?),
        ),
        (
            "a workspace that is not aligned",
            of_keys.sort::<u32>(stream, (&mut keys).into(), all.slice_mut(1..)?),
        ),
        (
            "no workspace",
            of_keys.sort::<u32>(stream, (&mut keys).into(), all.slice_mut(..0)?),
        ),
        (
            "a key less",
            of_keys.sort::<u32>(stream, keys.slice_mut(1..)?, workspace!()),
        ),
        (
            "keys of 64 bits",
            of_keys.sort::<u64>(stream, (&mut wide).into(), workspace!()),
        ),
        (
            "keys of 16 bits",
            of_keys.sort::<u16>(stream, (&mut narrow).into(), workspace!()),
        ),
        (
            "a target one key short",
            of_keys.sort_to::<u32>(stream, (&keys).into(), words.slice_mut(1..)?, workspace!()),
        ),
        (
            "pairs by a plan of keys",
            of_keys.sort_pairs::<u32, u32>(
                stream,
                (&mut keys).into(),
                (&mut words).into(),
                workspace!(),
            ),
        ),
        (
            "an index by a plan of keys",
            of_keys.argsort::<u32, u32>(stream, (&keys).into(), (&mut words).into(), workspace!()),
        ),
        (
            "keys by a plan of pairs",
            of_pairs.sort::<u32>(stream, (&mut keys).into(), workspace!()),
        ),
        (
            "an index by a plan of pairs",
            of_pairs.argsort::<u32, u32>(stream, (&keys).into(), (&mut words).into(), workspace!()),
        ),
        (
            "values of 8 bytes",
            of_pairs.sort_pairs::<u32, u64>(
                stream,
                (&mut keys).into(),
                (&mut wide).into(),
                workspace!(),
            ),
        ),
        (
            "a value less",
            of_pairs.sort_pairs::<u32, u32>(
                stream,
                (&mut keys).into(),
                words.slice_mut(1..)?,
                workspace!(),
            ),
        ),
        (
            "keys by a plan of an index",
            of_index.sort::<u32>(stream, (&mut keys).into(), workspace!()),
        ),
        (
            "entries of 64 bits",
            of_index.argsort::<u32, u64>(stream, (&keys).into(), (&mut wide).into(), workspace!()),
        ),
        (
            "an entry less",
            of_index.argsort::<u32, u32>(
                stream,
                (&keys).into(),
                words.slice_mut(1..)?,
                workspace!(),
            ),
        ),
        (
            "an address of a workspace one byte short",
            by_address(Raw {
                workspace_bytes: need - 1,
                ..raw
            }),
        ),
        (
            "an address of a workspace that is not aligned",
            by_address(Raw {
                workspace: raw.workspace + 1,
                ..raw
            }),
        ),
        (
            "addresses that are not multiples of the key's size",
            by_address(Raw {
                keys: raw.keys + 2,
                keys_to: raw.keys + 2,
                ..raw
            }),
        ),
        (
            "a range of 33 bits",
            planned(
                rig,
                Spec {
                    bits: 0..33,
                    ..spec.clone()
                },
            ),
        ),
        (
            "an algorithm that there is not",
            planned(
                rig,
                Spec {
                    algorithm: "none".into(),
                    ..spec.clone()
                },
            ),
        ),
    ];
    for (what, outcome) in &outcomes {
        ensure!(
            matches!(outcome, Err(error) if !matches!(error, Error::Driver { .. })),
            "{what}: {outcome:?}"
        );
    }
    same("keys after refusals", &stream.download(&keys)?, &before)?;
    same("values after refusals", &stream.download(&words)?, &before)?;

    let mut expected = before;
    expected.sort_unstable();
    of_keys.sort::<u32>(stream, (&mut keys).into(), workspace!())?;
    same("keys", &stream.download(&keys)?, &expected)?;
    Ok(outcomes.len())
}

/// A plan that is not to be had.
fn planned(rig: &Rig, spec: Spec) -> Result<(), Error> {
    Plan::new(&rig.device, &Shape::keys(FEW, Width::W32), &spec).map(|_| ())
}

/// Everything after a kernel that goes astray.
fn astray(rig: &Rig) -> Result<usize> {
    let (stream, spec) = (&rig.stream, ascending(Width::W32));
    let plan = rig.plan(Shape::keys(FEW, Width::W32), &spec)?;
    let auto = crate::rig::ascending(Width::W32, "auto");
    let auto = rig.plan(Shape::keys(FEW, Width::W32), &auto)?;
    let engine = CudaEngine::on(rig.device.clone())?;
    let before: Vec<u32> = random(FEW, 6, u32::MAX);
    let mut host = before.clone();
    let mut keys = stream.upload(&before)?;
    let bytes = plan.workspace_bytes().max(auto.workspace_bytes());
    let mut workspace = rig.stream.alloc(bytes)?;

    let image = Image::of(Kind::Classic, 32).context("there is no image for it")?;
    let kernel = rig.device.module(image)?.kernel("iota")?;
    let nowhere = Pointer::<u32>::at(0x10_0000_0000_0000);
    // SAFETY: that is what it is about: it is nobody's memory.
    unsafe { stream.launch(&kernel, Grid::new(1, 32), args![nowhere, 32u32]) }?;

    let mut sort = |plan: &Plan| {
        plan.sort::<u32>(stream, (&mut keys).into(), (&mut workspace).into())?;
        stream.synchronize()
    };
    let errors = [
        ("waiting for it", stream.synchronize().is_err()),
        ("a sort", sort(&plan).is_err()),
        ("a second sort", sort(&plan).is_err()),
        ("a sort by the plan's choice", sort(&auto).is_err()),
        (
            "its passes",
            plan.passes_run(stream, &(&mut workspace).into()).is_err(),
        ),
        ("a download", stream.download(&keys).is_err()),
        ("an allocation", stream.alloc::<u8>(1 << 20).is_err()),
        (
            "the engine's sort",
            engine
                .run(Task::Keys(WordsMut::W32(&mut host)), &spec)
                .is_err(),
        ),
        ("a look at the guards", rig.device.check_canaries().is_err()),
    ];
    // It may be had, for nothing of it runs; or not.
    let _ = rig.plan(Shape::pairs(FEW, Width::W32, 8), &spec);
    for (what, failed) in errors {
        ensure!(
            failed,
            "after a kernel that went astray: {what} is no error"
        );
    }
    same("the engine's keys", &host, &before)?;
    Ok(errors.len())
}
