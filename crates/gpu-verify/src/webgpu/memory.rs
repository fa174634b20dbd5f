//! Memory that is short is an error, and the device goes on.

use anyhow::{Result, bail, ensure};
use sweepsort_core::{Engine, Error, Shape, Spec, Task, ValuesMut, Width, WordsMut};
use sweepsort_wgpu::Options;

use super::Place;
use super::rig::{Rig, USAGE};
use crate::rig::{random, same};

/// Keys of a sort that is to fail: their values of 16 bytes are more than [`SPARE`].
const KEYS: usize = 1 << 23;
/// Keys of sorts where none fails.
const FEW_KEYS: usize = 1 << 13;

/// What a device has free at most, in bytes, where its memory is short.
const SPARE: u64 = 64 << 20;

/// On a device whose memory others have taken, the engine answers with an error and leaves keys and values
/// as they were; when the others are gone, it sorts. Returns how many sorts there were.
///
/// A software adapter's memory is the process's, which must be limited then, and have no other work.
pub fn run(place: Place) -> Result<usize> {
    let rig = Rig::open(place, Options::default())?;
    let spec = Spec::natural::<u32>();
    let keys = match place {
        Place::Gpu => KEYS,
        Place::Software => FEW_KEYS,
    };
    // So that no kernel has to be built when memory is short.
    rig.plan(Shape::pairs(KEYS, Width::W32, 16), &spec)?;
    Host::new(keys).sorted(&rig, &spec)?;
    let mut host = Host::new(KEYS);
    let before = host.clone();
    let others = take_all(&rig)?;
    let outcome = host.run(&rig, &spec);
    drop(others);
    match outcome {
        Err(Error::OutOfMemory { .. }) => {}
        other => bail!("where memory is short: {other:?}"),
    }
    same("the keys", &host.keys, &before.keys)?;
    same("the values", &host.values, &before.values)?;
    // What was given back is free when the device has been waited for.
    rig.device().poll(wgpu::PollType::wait_indefinitely())?;
    Host::new(keys).sorted(&rig, &spec)?;
    rig.is_well()?;
    Ok(3)
}

/// Takes memory until no more than [`SPARE`] can be had at a time.
fn take_all(rig: &Rig) -> Result<Vec<wgpu::Buffer>> {
    // Larger ones than can be are refused for that, and not for want of memory.
    let mut bytes = rig.device().limits().max_buffer_size.min(1 << 30);
    let mut taken = Vec::new();
    while bytes > SPARE {
        match allocated(rig, bytes) {
            Some(buffer) => taken.push(buffer),
            None => bytes /= 2,
        }
    }
    ensure!(!taken.is_empty(), "no memory could be taken");
    Ok(taken)
}

/// A buffer, if there is memory for it.
fn allocated(rig: &Rig, bytes: u64) -> Option<wgpu::Buffer> {
    let scope = rig
        .device()
        .push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffer = rig.buffer(bytes, USAGE);
    match pollster::block_on(scope.pop()) {
        None => Some(buffer),
        Some(_) => None,
    }
}

/// Keys and values in the host's memory.
#[derive(Clone)]
struct Host {
    keys: Vec<u32>,
    values: Vec<[u32; 4]>,
}

impl Host {
    /// Each value begins with its key, turned over.
    fn new(n: usize) -> Self {
        let keys: Vec<u32> = random(n, 3, u32::MAX);
        Host {
            values: keys.iter().map(|&key| [!key, 1, 2, 3]).collect(),
            keys,
        }
    }

    fn run(&mut self, rig: &Rig, spec: &Spec) -> Result<(), Error> {
        let keys = WordsMut::from(&mut self.keys[..]);
        let task = Task::Pairs(keys, ValuesMut::new(&mut self.values));
        rig.engine.run(task, spec).map(|_| ())
    }

    /// They are sorted.
    fn sorted(&mut self, rig: &Rig, spec: &Spec) -> Result<()> {
        let mut expected = self.keys.clone();
        expected.sort_unstable();
        self.run(rig, spec)?;
        same("the keys", &self.keys, &expected)?;
        let values: Vec<[u32; 4]> = expected.iter().map(|&key| [!key, 1, 2, 3]).collect();
        same("the values", &self.values, &values)
    }
}
