//! Digits in which all keys agree move nothing: how many passes have ordered keys.
//!
//! Copies do not count, which there are where keys would else not end up where they are wanted.

use anyhow::{Context, Result, ensure};
use sweepsort_core::{Shape, Width, Word, with_width};
use sweepsort_cuda::Buffer;

use super::ascending;
use crate::rig::{Rig, random, same};

/// Many tiles: one block alone does not count.
const KEYS: usize = 100_003;

/// Keys of every width in which some bytes vary, alone in place and from one buffer to another.
/// Returns how many sorts there were.
pub fn run() -> Result<usize> {
    let rig = Rig::open()?;
    let mut sorts = 0;
    for width in Width::ALL {
        let bytes = width.bytes() as u32;
        // None; the lowest so many; the highest so many; every other.
        let choices = (0..=bytes)
            .flat_map(|count| [(1 << count) - 1, ((1u32 << count) - 1) << (bytes - count)])
            .chain([0x5555 & ((1 << bytes) - 1)]);
        for varying in choices {
            with_width!(width, |W| both::<W>(&rig, varying))
                .with_context(|| format!("keys of {bytes} bytes, varying {varying:#b}"))?;
            sorts += 2;
        }
    }
    rig.intact()?;
    Ok(sorts)
}

/// Keys whose bytes vary where `varying` has a bit.
fn both<W: Word>(rig: &Rig, varying: u32) -> Result<()> {
    let (stream, digits) = (&rig.stream, W::WIDTH.bytes() as u32);
    let mask = (0..digits)
        .filter(|digit| varying >> digit & 1 == 1)
        .fold(W::ZERO, |mask, digit| {
            mask | W::mask(&(8 * digit..8 * digit + 8))
        });
    let rest = W::truncate(u128::MAX / 3) & !mask;
    let keys: Vec<W> = random(KEYS, 7, mask)
        .into_iter()
        .map(|key| key | rest)
        .collect();
    let mut expected = keys.clone();
    expected.sort_unstable();

    let plan = rig.plan(Shape::keys(KEYS, W::WIDTH), &ascending(W::WIDTH))?;
    ensure!(
        plan.passes() == digits,
        "{} passes, expected {digits}",
        plan.passes()
    );
    let mut workspace = rig.workspace(&plan)?;
    let (mut from, mut to) = (stream.upload(&keys)?, stream.alloc::<W>(KEYS)?);
    let moved = |way: &str, workspace: &mut Buffer<u8>| {
        let run = plan.passes_run(stream, &workspace.into())?;
        let wanted = varying.count_ones();
        ensure!(run == wanted, "{way}: {run} passes ran, not {wanted}");
        Ok(())
    };

    plan.sort_to::<W>(
        stream,
        (&from).into(),
        (&mut to).into(),
        (&mut workspace).into(),
    )?;
    let way = "from one buffer to another";
    same(way, &stream.download(&to)?, &expected)?;
    moved(way, &mut workspace)?;

    plan.sort::<W>(stream, (&mut from).into(), (&mut workspace).into())?;
    let way = "in place";
    same(way, &stream.download(&from)?, &expected)?;
    moved(way, &mut workspace)
}
