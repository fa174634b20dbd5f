//! Many threads with one device.

use std::thread;

use anyhow::Result;
use sweepsort_core::{Engine, IndexMut, Shape, Spec, Task, Width, Word, Words};
use sweepsort_wgpu::{Buffers, Options, Plan};

use super::Place;
use super::rig::{Records, Rig, USAGE};
use crate::rig::{random, same, sum_of};

/// Sorts of each thread.
const SORTS: usize = 12;

/// Threads with plans of their own, whose pipelines they build at once; threads that share a plan; and
/// threads that share the engine. Returns how many sorts there were.
pub fn run(place: Place) -> Result<usize> {
    let rig = Rig::open(place, Options::default())?;
    let n = 30_011;
    let shared = rig.plan(Shape::pairs(n, Width::W32, 4), &Records::<u32>::spec())?;
    let sorts = thread::scope(|scope| {
        let rig = &rig;
        let mut threads = Vec::new();
        for number in 0..2 {
            let shared = &shared;
            threads.push(scope.spawn(move || plans::<u32>(rig, number, n)));
            threads.push(scope.spawn(move || plans::<u64>(rig, number, n)));
            threads.push(scope.spawn(move || sorted::<u32>(rig, shared, 100 * number)));
            threads.push(scope.spawn(move || indexed(rig, number, n)));
        }
        sum_of(threads)
    })?;
    rig.is_well()?;
    Ok(sorts)
}

/// A plan for each kind of work, of other sizes in each thread.
fn plans<W: Word>(rig: &Rig, number: u64, n: usize) -> Result<usize> {
    let mut sorts = 0;
    for shape in Records::<W>::shapes(n - 1000 * number as usize) {
        let plan = rig.plan(shape, &Records::<W>::spec())?;
        sorts += sorted::<W>(rig, &plan, number)?;
    }
    Ok(sorts)
}

/// Sorts by a plan, one with the binding of the other.
fn sorted<W: Word>(rig: &Rig, plan: &Plan, seed: u64) -> Result<usize> {
    let shape = *plan.shape();
    let keys = rig.buffer((shape.keys * size_of::<W>()) as u64, USAGE);
    let values = (shape.payload_bytes > 0)
        .then(|| rig.buffer((shape.keys * shape.payload_bytes) as u64, USAGE));
    let workspace = rig.buffer(plan.workspace_bytes(), USAGE);
    let bound = plan.bind(&Buffers {
        keys: keys.slice(..),
        values: values.as_ref().map(|values| values.slice(..)),
        count: None,
        workspace: workspace.slice(..),
    })?;
    for sort in 0..SORTS / 4 {
        let records = Records::<W>::new(shape, seed + sort as u64);
        rig.write(&keys, 0, &records.keys);
        if let Some(values) = &values {
            rig.write(values, 0, &records.values);
        }
        rig.sort(&bound);
        let moved = match &values {
            Some(values) => rig.read(values)?,
            None => Vec::new(),
        };
        let expected = records.sorted(shape.keys);
        expected.compare(&format!("{shape:?}"), &rig.read(&keys)?, &moved)?;
    }
    Ok(SORTS / 4)
}

/// Argsorts by the engine.
fn indexed(rig: &Rig, number: u64, n: usize) -> Result<usize> {
    for sort in 0..SORTS {
        let keys: Vec<u32> = random(n + sort, number, 0xff00_ff00);
        let mut index = vec![0u32; keys.len()];
        let task = Task::Argsort(Words::from(&keys[..]), IndexMut::U32(&mut index));
        rig.engine.run(task, &Spec::natural::<u32>())?;
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        same("the engine's index", &index, &expected)?;
    }
    Ok(SORTS)
}
