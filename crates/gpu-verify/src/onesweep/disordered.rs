//! Hardware that serves the lanes of a warp in another order than their own would disorder ties; such a
//! tile is found and ranked again. Here a ranker does so on purpose.

use anyhow::{Context, Result};
use sweepsort_core::{Nan, Order, Shape, Width};
use sweepsort_testkit::{Pattern, Wanted, oracle};

use super::ascending;
use crate::rig::{Rig, random, same};

/// Keys alone and with values, where many digits of neighbours are equal and where few are. Returns
/// how many sorts there were.
pub fn run() -> Result<usize> {
    let rig = Rig::open()?;
    let wanted = Wanted::of_keys(Order::Ascending, Nan::Total, None);
    let mut sorts = 0;
    for n in [30_011, 1_000_003] {
        for pattern in [
            Pattern::Random,
            Pattern::FewDistinct,
            Pattern::OneBit,
            Pattern::Skewed,
            Pattern::Equal,
        ] {
            let keys: Vec<u32> = pattern.keys(n, 1, &wanted);
            both(&rig, &keys, &wanted).with_context(|| format!("{pattern}, {n} keys"))?;
            sorts += 2;
        }
    }
    rig.intact()?;
    Ok(sorts)
}

fn both(rig: &Rig, before: &[u32], wanted: &Wanted) -> Result<()> {
    let (stream, n, width) = (&rig.stream, before.len(), Width::W32);
    let order = oracle::order(before, wanted);
    let sorted = oracle::follow(before, &order);

    let plan = rig.plan(Shape::keys(n, width), &ascending(width))?;
    let plan = plan.disordered()?;
    let mut workspace = rig.workspace(&plan)?;
    let mut keys = stream.upload(before)?;
    plan.sort::<u32>(stream, (&mut keys).into(), (&mut workspace).into())?;
    same("keys", &stream.download(&keys)?, &sorted)?;

    let numbers: Vec<u32> = random(n, 2, u32::MAX);
    let plan = rig.plan(Shape::pairs(n, width, 4), &ascending(width))?;
    let plan = plan.disordered()?;
    let mut workspace = rig.workspace(&plan)?;
    let (mut keys, mut values) = (stream.upload(before)?, stream.upload(&numbers)?);
    plan.sort_pairs::<u32, u32>(
        stream,
        (&mut keys).into(),
        (&mut values).into(),
        (&mut workspace).into(),
    )?;
    same("keys of pairs", &stream.download(&keys)?, &sorted)?;
    let moved = oracle::follow(&numbers, &order);
    same("values", &stream.download(&values)?, &moved)
}
