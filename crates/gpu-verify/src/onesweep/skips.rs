//! Digits in which all keys agree move nothing, nor do those that follow from the digits above, where few keys
//! differ: how many passes have ordered keys.
//!
//! Copies do not count, which there are where keys would else not end up where they are wanted.

use anyhow::{Context, Result, ensure};
use sweepsort_core::{Shape, Width, Word, with_width};
use sweepsort_cuda::Buffer;

use super::ascending;
use crate::rig::{Rig, random, same};

/// Many tiles: one block alone does not count.
const KEYS: usize = 100_003;

/// With values, so many that blocks do not hold all at a time: then histograms are counted before.
const RECORDS: usize = (1 << 22) + 3;

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
    for input in &few_codes() {
        few::<u32>(&rig, input).with_context(|| format!("u32, {}", input.what))?;
        few::<u64>(&rig, input).with_context(|| format!("u64, {}", input.what))?;
        sorts += 2;
    }
    rig.intact()?;
    Ok(sorts)
}

/// Codes that keys with values have.
struct Few {
    what: &'static str,
    codes: Vec<u32>,
    /// What the last key has alone.
    stray: Option<u32>,
    /// How many of four digits need a pass; and whether it is not seen that the others need none.
    passes: u32,
    unseen: bool,
}

fn few_codes() -> Vec<Few> {
    let scattered = |i: u32| i.wrapping_mul(0x9e37_79b1);
    let twenty = (0..20).map(|i| (i / 4) << 24 | (i % 4) << 16 | scattered(i) >> 16);
    let told = |what, codes: &[u32], stray, passes| Few {
        what,
        codes: codes.to_vec(),
        stray,
        passes,
        unseen: false,
    };
    let unseen = |what, codes: &[u32]| Few {
        unseen: true,
        ..told(what, codes, None, 4)
    };
    let [a, b, c] = [0x0100_0807, 0x0201_0703, 0x0302_0905];
    vec![
        told("the highest byte tells", &[a, b, c], None, 1),
        told("the highest two tell", &[a, a ^ 0x0001_0304, b], None, 2),
        told(
            "twenty by the highest two",
            &twenty.collect::<Vec<_>>(),
            None,
            2,
        ),
        told("one by the lowest", &[a, b], Some(a ^ 1), 4),
        told(
            "one by the lowest, two are constant",
            &[a, a ^ 0x0300_0004],
            Some(a ^ 1),
            2,
        ),
        told("all equal", &[a], None, 0),
        unseen(
            "more than there is room for",
            &(1..=1000).map(scattered).collect::<Vec<_>>(),
        ),
        unseen("the greatest of all", &[u32::MAX, a, b]),
    ]
}

/// Keys of 32 bits, or of twice the same 32, with values, in place.
fn few<W: Word>(rig: &Rig, input: &Few) -> Result<()> {
    let stream = &rig.stream;
    let key = |code: u32| W::truncate(u128::from(code) << 32 | u128::from(code));
    let picks: Vec<u32> = random(RECORDS, 11, u32::MAX);
    let mut keys: Vec<W> = (picks.iter())
        .map(|&pick| key(input.codes[pick as usize % input.codes.len()]))
        .collect();
    keys[RECORDS - 1] = input.stray.map_or(keys[RECORDS - 1], key);
    let mut expected: Vec<(W, u32)> = keys.iter().copied().zip(0..).collect();
    expected.sort_by_key(|&(key, _)| key);
    let (sorted, order): (Vec<W>, Vec<u32>) = expected.into_iter().unzip();

    let plan = rig.plan(Shape::pairs(RECORDS, W::WIDTH, 4), &ascending(W::WIDTH))?;
    let mut workspace = rig.workspace(&plan)?;
    let mut keys = stream.upload(&keys)?;
    let mut values = stream.upload(&(0..RECORDS as u32).collect::<Vec<_>>())?;
    plan.sort_pairs::<W, u32>(
        stream,
        (&mut keys).into(),
        (&mut values).into(),
        (&mut workspace).into(),
    )?;
    same("keys", &stream.download(&keys)?, &sorted)?;
    same("values", &stream.download(&values)?, &order)?;
    let run = plan.passes_run(stream, &(&mut workspace).into())?;
    let wanted = input.passes * if input.unseen { W::BITS / 32 } else { 1 };
    ensure!(run == wanted, "{run} passes ran, not {wanted}");
    Ok(())
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
