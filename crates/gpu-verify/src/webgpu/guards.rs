//! Keys, values and workspace within buffers that hold others' bytes too; shaders with wgpu's checks of
//! bounds, and without.

use std::ops::Range;

use anyhow::{Result, ensure};
use sweepsort_core::{Shape, Word};
use sweepsort_wgpu::{Buffers, Options, Plan};

use super::Place;
use super::rig::{Records, Rig};

/// Sorts repeated with one binding, with other keys and another workspace's rubbish each time: what lies
/// around keys, values and workspace stays as it is. Returns how many sorts there were.
pub fn run(place: Place) -> Result<usize> {
    let options = Options::default();
    let without = Options {
        subgroups: Some(false),
        ..options
    };
    let mut sorts = 0;
    for options in [options, without] {
        sorts += checked_and_not(place, options, |rig| {
            Ok(sizes::<u32>(rig)? + sizes::<u64>(rig)?)
        })?;
    }
    Ok(sorts)
}

/// Sorts with wgpu's checks in shaders, and without: then nothing keeps a shader within its bindings but
/// itself. Returns how many sorts there were.
pub fn checked_and_not(
    place: Place,
    options: Options,
    sorts: fn(&Rig) -> Result<usize>,
) -> Result<usize> {
    let mut done = 0;
    for rig in [
        Rig::open(place, options)?,
        Rig::open(place, options)?.trusted(options),
    ] {
        done += sorts(&rig)?;
        rig.is_well()?;
    }
    Ok(done)
}

fn sizes<W: Word>(rig: &Rig) -> Result<usize> {
    let mut sorts = 0;
    for shape in Records::<W>::shapes(1) {
        let tile = rig.plan(shape, &Records::<W>::spec())?.tile_keys();
        for keys in [1, 2, 63, tile - 1, tile, tile + 1, 3 * tile + 17] {
            let shape = Shape { keys, ..shape };
            for together in [false, true] {
                sorts += Guarded::<W>::new(rig, shape, together)?.sorts(rig)?;
            }
        }
    }
    Ok(sorts)
}

/// What others' bytes are.
const OTHERS: u8 = 0xa5;

/// Keys, values and workspace of a plan, each with others' bytes on both sides.
struct Guarded<W> {
    shape: Shape,
    plan: Plan,
    /// One for each of the three, or one for all.
    buffers: Vec<wgpu::Buffer>,
    /// Each one's buffer and its bytes there.
    parts: [(usize, Range<usize>); 3],
    words: std::marker::PhantomData<W>,
}

impl<W: Word> Guarded<W> {
    fn new(rig: &Rig, shape: Shape, together: bool) -> Result<Self> {
        let plan = rig.plan(shape, &Records::<W>::spec())?;
        let alignment = rig.device().limits().min_storage_buffer_offset_alignment as usize;
        let lengths = [
            shape.keys * size_of::<W>(),
            shape.keys * shape.payload_bytes,
            plan.workspace_bytes() as usize,
        ];
        let mut ends = vec![0; if together { 1 } else { 3 }];
        let mut number = 0;
        let parts = lengths.map(|length| {
            let buffer = number % ends.len();
            number += 1;
            let start = (ends[buffer] + alignment).next_multiple_of(alignment);
            ends[buffer] = start + length;
            (buffer, start..start + length)
        });
        let others =
            |end: &usize| rig.holding(&vec![OTHERS; (end + alignment).next_multiple_of(4)]);
        Ok(Guarded {
            shape,
            plan,
            buffers: ends.iter().map(others).collect(),
            parts,
            words: std::marker::PhantomData,
        })
    }

    fn slice(&self, part: usize) -> wgpu::BufferSlice<'_> {
        let (buffer, bytes) = &self.parts[part];
        self.buffers[*buffer].slice(bytes.start as u64..bytes.end as u64)
    }

    /// Three sorts with one binding. Returns how many.
    fn sorts(&self, rig: &Rig) -> Result<usize> {
        const ROUNDS: u64 = 3;
        let bound = self.plan.bind(&Buffers {
            keys: self.slice(0),
            values: (self.shape.payload_bytes > 0).then(|| self.slice(1)),
            count: None,
            workspace: self.slice(2),
        })?;
        for round in 0..ROUNDS {
            let records = Records::<W>::new(self.shape, round);
            let write = |part: usize, bytes: &[u8]| {
                let (buffer, range) = &self.parts[part];
                rig.write(&self.buffers[*buffer], range.start as u64, bytes);
            };
            write(0, bytemuck::cast_slice(&records.keys));
            write(1, bytemuck::cast_slice(&records.values));
            // All ones, then what the sort before has left, then anything.
            let rubbish: Option<fn(usize) -> u8> = match round {
                0 => Some(|_| 0xff),
                1 => None,
                _ => Some(|i| (i * i / 7) as u8),
            };
            if let Some(rubbish) = rubbish {
                let bytes: Vec<u8> = (0..self.parts[2].1.len()).map(rubbish).collect();
                write(2, &bytes);
            }
            rig.sort(&bound);
            self.check(rig, &records, round)?;
        }
        Ok(ROUNDS as usize)
    }

    fn check(&self, rig: &Rig, records: &Records<W>, round: u64) -> Result<()> {
        let what = format!(
            "{:?} in {} buffers, round {round}",
            self.shape,
            self.buffers.len()
        );
        let mut contents = Vec::new();
        for buffer in &self.buffers {
            contents.push(rig.read::<u8>(buffer)?);
        }
        let of = |part: usize| {
            let (buffer, bytes) = &self.parts[part];
            &contents[*buffer][bytes.clone()]
        };
        let keys: Vec<W> = bytemuck::pod_collect_to_vec(of(0));
        let values: Vec<u32> = bytemuck::pod_collect_to_vec(of(1));
        let expected = records.sorted(self.shape.keys);
        expected.compare(&what, &keys, &values)?;
        for (buffer, content) in contents.iter().enumerate() {
            let is_ours = |at: usize| {
                let mut parts = self.parts.iter();
                parts.any(|(number, bytes)| *number == buffer && bytes.contains(&at))
            };
            let written = (0..content.len()).find(|&at| content[at] != OTHERS && !is_ours(at));
            ensure!(
                written.is_none(),
                "{what}: buffer {buffer} was written at byte {written:?}, outside of {:?}",
                self.parts
            );
        }
        Ok(())
    }
}
