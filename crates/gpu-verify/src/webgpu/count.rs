//! Fewer keys than a plan is for: how many there are stands in a buffer.

use anyhow::Result;
use sweepsort_core::Word;
use sweepsort_wgpu::{Buffers, Options};

use super::Place;
use super::guards::checked_and_not;
use super::rig::{Records, Rig, USAGE};

/// Counts of none, one, some, all and more than all; what lies behind them stays as it is. Returns how
/// many sorts there were.
pub fn run(place: Place) -> Result<usize> {
    checked_and_not(place, Options::default(), |rig| {
        Ok(counts::<u32>(rig)? + counts::<u64>(rig)?)
    })
}

fn counts<W: Word>(rig: &Rig) -> Result<usize> {
    /// Keys of a plan: several tiles.
    const N: usize = 20_011;
    let mut sorts = 0;
    for shape in Records::<W>::shapes(N) {
        let records = Records::<W>::new(shape, 7);
        let plan = rig.plan(shape, &Records::<W>::spec())?;
        let tile = plan.tile_keys() as u32;
        let keys = rig.holding(&records.keys);
        let values = (shape.payload_bytes > 0).then(|| rig.holding(&records.values));
        let count = rig.buffer(
            12,
            wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        );
        let workspace = rig.buffer(plan.workspace_bytes(), USAGE);
        let bound = plan.bind(&Buffers {
            keys: keys.slice(..),
            values: values.as_ref().map(|values| values.slice(..)),
            count: Some((&count, 4)),
            workspace: workspace.slice(..),
        })?;
        let n = N as u32;
        // The largest first, so that those after it find what it has left.
        for held in [
            u32::MAX,
            n + 1,
            n,
            n - 1,
            2 * tile,
            tile + 1,
            tile,
            tile - 1,
            1000,
            2,
            1,
            0,
        ] {
            rig.write(&keys, 0, &records.keys);
            if let Some(values) = &values {
                rig.write(values, 0, &records.values);
            }
            rig.write(&count, 0, &[n, held, n]);
            rig.sort(&bound);
            let sorted = match &values {
                Some(values) => rig.read(values)?,
                None => Vec::new(),
            };
            let expected = records.sorted(held.min(n) as usize);
            let what = format!("{held} of {shape:?}");
            expected.compare(&what, &rig.read(&keys)?, &sorted)?;
            sorts += 1;
        }
    }
    Ok(sorts)
}
