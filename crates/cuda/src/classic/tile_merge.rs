//! `tile-merge` on a device: `tile_merge.cu`.
//!
//! Positions travel where they are asked for, and where keys that tie can be told apart: they make
//! the merge stable.
//!
//! Watched, a merge goes step by step, each with a kernel of its own; otherwise several steps at a
//! time.

use sweepsort_core::Stage;

use super::{Array, Key, Options, Records, Stages, THREADS, over, tile_threads};
use crate::args;
use crate::error::Result;
use crate::launch::{Argument, Grid};

/// From this distance down, the steps of a merge happen in shared memory, in one kernel.
const SHARED_FROM: u32 = 2048;

/// Steps that one kernel does in registers, at most.
const STEPS: u32 = 3;

/// Places of the merge a thread there; the same in `tile_merge.cu`.
pub const PLACES: u32 = 8;

/// All of them are the keys themselves, in memory after each step.
pub fn arrays(options: &Options, n: usize) -> Vec<Array> {
    let mut run = options.block;
    while run.saturating_mul(2) < n {
        run *= 2;
    }
    let steps = if run < n { run.ilog2() + 1 } else { 0 };
    ["tiles", "reversed"]
        .map(Array::kept)
        .into_iter()
        .chain((0..steps).map(|step| Array::kept(format!("step_{step}"))))
        .collect()
}

/// Sorts records by tiles and merges; returns the number of passes, the tiles' included.
pub fn sort<K: Key>(
    stages: &mut Stages<'_, K>,
    records: &mut Records<K>,
    options: &Options,
) -> Result<u32> {
    let (n, tile) = (records.n, options.block as u32);
    let by_all_bits = options.bits == (0..K::BITS);
    let carried = records.payload.is_some();
    if !carried && !by_all_bits {
        records.payload = Some(stages.stream.alloc(n as usize)?);
        records.spare_payload = Some(stages.stream.alloc(n as usize)?);
    }

    let (threads, room) = tile_threads::<K>(tile);
    let [(keys, _), (out, positions)] = stages.begin(records, None);
    let (bit, end) = (options.bits.start, options.bits.end);
    stages.launch(
        "tile_merge_tiles",
        Grid::new(n.div_ceil(tile), threads).shared(records.shared_bytes(room)),
        args![keys, n, tile, bit, end, out, positions],
    )?;
    stages.end(Stage::Local)?;
    stages.swap("tiles", records)?;

    let mut passes = 1;
    let mut run = tile;
    while run < n {
        if stages.watched() {
            merge_step_by_step(stages, records, run, options)?;
        } else {
            merge(stages, records, run, options)?;
        }
        stages.end(Stage::Merge)?;
        passes += 1;
        run = run.saturating_mul(2);
    }
    if !carried {
        (records.payload, records.spare_payload) = (None, None);
    }
    Ok(passes)
}

/// Neighbouring runs merged, several steps in a kernel.
fn merge<K: Key>(
    stages: &Stages<'_, K>,
    records: &mut Records<K>,
    run: u32,
    options: &Options,
) -> Result<()> {
    let mut distance = run;
    while distance > SHARED_FROM {
        let left = distance.ilog2() - SHARED_FROM.ilog2();
        let count = left.min(STEPS);
        steps(stages, records, (run, distance, count), options, 0)?;
        records.swap();
        distance >>= count;
    }
    let n = records.n;
    let pairs = u64::from(n).div_ceil(2 * u64::from(run));
    let blocks = pairs * u64::from(run / distance);
    let bytes = records.shared_bytes(2 * distance);
    let (keys, positions) = records.from();
    let (out, positions_out) = records.to();
    let mask = K::mask(&options.bits);
    let mask = Argument::plain(&mask);
    stages.launch(
        "tile_merge_tile_steps",
        Grid::new(blocks as u32, THREADS).shared(bytes),
        args![
            keys,
            positions,
            n,
            run,
            distance,
            mask,
            0u32,
            out,
            positions_out
        ],
    )?;
    records.swap();
    Ok(())
}

/// `count` steps from a distance on, in one kernel.
fn steps<K: Key>(
    stages: &Stages<'_, K>,
    records: &Records<K>,
    (run, distance, count): (u32, u32, u32),
    options: &Options,
    turned: u32,
) -> Result<()> {
    let n = records.n;
    let pairs = u64::from(n).div_ceil(2 * u64::from(run));
    let places = pairs * 2 * u64::from(run);
    let blocks = places.div_ceil(u64::from(PLACES * THREADS)) as u32;
    let (keys, positions) = records.from();
    let (out, positions_out) = records.to();
    let mask = K::mask(&options.bits);
    let mask = Argument::plain(&mask);
    stages.launch(
        "tile_merge_steps",
        Grid::new(blocks, THREADS),
        args![
            keys,
            positions,
            n,
            run,
            distance,
            count,
            mask,
            turned,
            out,
            positions_out
        ],
    )
}

/// Neighbouring runs merged, each array shown.
fn merge_step_by_step<K: Key>(
    stages: &mut Stages<'_, K>,
    records: &mut Records<K>,
    run: u32,
    options: &Options,
) -> Result<()> {
    let n = records.n;
    let [(keys, positions), (out, positions_out)] = stages.begin(records, None);
    stages.launch(
        "tile_merge_reverse",
        over(n),
        args![keys, positions, n, run, out, positions_out],
    )?;
    stages.swap("reversed", records)?;
    let mut distance = run;
    let mut number = 0;
    while distance >= 1 {
        steps(stages, records, (run, distance, 1), options, 1)?;
        stages.swap(&format!("step_{number}"), records)?;
        number += 1;
        distance /= 2;
    }
    Ok(())
}
