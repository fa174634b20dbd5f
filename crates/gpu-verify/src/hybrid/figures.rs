//! The ways of large inputs, taken by small ones: figures of the engine's table say from how many keys on a way is
//! taken, and others are set. So every pattern goes every way, where it could otherwise at a size too large for that.

use anyhow::{Context, Result};
use sweepsort_core::Word;
use sweepsort_cuda::{Buffer, Figure};
use sweepsort_testkit::{Ordered, Pattern, Wanted};

use super::AUTO;
use crate::resident::Resident;
use crate::rig::ahead;

/// Names of figures, and what they are.
type Figures = &'static [(&'static str, usize)];

/// No number of keys is larger.
const ALWAYS: usize = 1 << 31;

/// Ways by launches for each step. Of cells of few keys there are as many as of 2^24 keys, so that quantiles may tell
/// them, too.
const WAYS: [Figures; 5] = [
    &[("hybrid.together", 1)],
    &[("hybrid.together", 1), ("hybrid.once", 1)],
    &[
        ("hybrid.together", 1),
        ("hybrid.once", 1),
        ("hybrid.twice_cell", 48),
        ("hybrid.rooms", 1),
        ("hybrid.counted_once", 1),
    ],
    &[
        ("hybrid.together", 1),
        ("hybrid.once", 1),
        ("hybrid.twice_cell", 48),
        ("hybrid.rooms", 1),
        ("hybrid.counted_once", ALWAYS),
    ],
    &[
        ("hybrid.together", 1),
        ("hybrid.once", 1),
        ("hybrid.middle", 1),
        ("hybrid.twice_cell", 48),
        ("hybrid.rooms", 1),
    ],
];

/// Sizes that take turns.
const SIZES: [usize; 3] = [100_003, (1 << 18) - 1, 300_000];

/// All widths. Returns how many sorts there were.
pub fn run() -> Result<usize> {
    Ok(of::<u32>()? + of::<u64>()? + of::<u128>()?)
}

fn of<W: Word + Ordered>() -> Result<usize> {
    let resident = Resident::open()?;
    let patterns = Pattern::ALL.iter().enumerate();
    let inputs: Vec<(Figures, usize, Pattern)> = patterns
        .flat_map(|(i, &pattern)| {
            let turn = move |(j, figures)| (figures, SIZES[(i + j) % SIZES.len()], pattern);
            WAYS.into_iter().enumerate().map(turn)
        })
        .collect();
    ahead(
        &inputs,
        |&(_, n, pattern)| pattern.keys::<W>(n, n as u64, &Wanted::default()),
        |(figures, n, pattern), keys| {
            let mut keys = resident.rig.stream.upload(&keys)?;
            set(&resident, figures)?;
            let sorted = twice(&resident, &mut keys);
            resident.rig.device.set_figures(&[]);
            let what = || {
                format!(
                    "{n} keys of {} bits, {pattern}, {figures:?}",
                    W::WIDTH.bits()
                )
            };
            sorted.with_context(what)
        },
    )?;
    Ok(2 * inputs.len())
}

/// For plans that are made from now on.
fn set(resident: &Resident, figures: Figures) -> Result<()> {
    let figure =
        |&(name, number): &(&str, usize)| Figure::new(name, number).context(name.to_owned());
    let figures: Result<Vec<Figure>> = figures.iter().map(figure).collect();
    resident.rig.device.set_figures(&figures?);
    Ok(())
}

/// The second time they are in order already.
fn twice<W: Word>(resident: &Resident, keys: &mut Buffer<W>) -> Result<()> {
    resident.sort(keys, AUTO)?;
    resident.sort(keys, AUTO)?;
    resident.rig.intact()
}
