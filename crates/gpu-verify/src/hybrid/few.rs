//! Few keys with values, and indexes, by the plan's choice: each finds its place among all.

use std::ops::Range;

use anyhow::{Context, Result, ensure};
use sweepsort_core::{Order, Shape, Width, Word, with_width};
use sweepsort_testkit::{Ordered, Pattern, Wanted};

use super::AUTO;
use crate::Case;
use crate::checks::mix;
use crate::misplaced::Misplaced;
use crate::onesweep::repeated::graphs_by;
use crate::rig::{Rig, ahead, ascending, random};
use crate::sorting::{Sorting, Work};

/// One key, what a block of those out of place has for its own, and has at a time; the most that one block compares,
/// the most out of place and the most of all, the most of one run, edges of chunks, of runs, and of how many threads
/// a block has, and, about those of an H200, of what its shared memory has room for.
const SIZES: [usize; 35] = [
    1, 4, 5, 8, 9, 127, 256, 257, 512, 1023, 1024, 1025, 1200, 1201, 2049, 3072, 3073, 3400, 3401,
    4097, 4224, 4225, 8191, 8192, 8193, 11_999, 12_000, 13_000, 15_001, 16_385, 16_896, 24_577,
    29_000, 32_768, 32_769,
];

/// Values that travel, some that need not be stable, one that follows an index, and both indexes.
const WORKS: [Work; 7] = [
    Work::Pairs(4),
    Work::Pairs(8),
    Work::Pairs(16),
    Work::Argsort(4),
    Work::Argsort(8),
    Work::UnstablePairs,
    Work::Pairs(12),
];

/// Bits in which codes vary, beside the patterns; of 32-bit keys the upper halves, of 128 bits both.
const MASKS: [u64; 6] = [
    0xFFFF_FFFF_0000_07FF,
    0xC000_0000_0000_0FFF,
    0x8000_0000_0000_0001,
    0x0000_0000_0000_001F,
    0x0FFF_0000_0000_0000,
    0x0003_FFFF_FFFF_FFFF,
];

/// Every case, those that fail soonest first.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [Width::W32, Width::W64, Width::W128]
        .into_iter()
        .map(|width| {
            let name = format!("few/{}", width.bits());
            Case::new(name, move || crate::told(run(width)))
        })
        .collect();
    cases.extend([
        crate::case("few/graph", || {
            graphs_by(AUTO, &[200, 1000, 1500, 5000, 16_384], 6)
        }),
        crate::case("few/unaligned", unaligned),
    ]);
    cases
}

/// What keys are.
#[derive(Clone, Copy, Debug)]
enum Made {
    Pattern(Pattern),
    /// Codes that are random in these bits.
    Bits(u64),
}

#[derive(Clone, Debug)]
struct Input {
    n: usize,
    made: Made,
    work: Work,
    /// Which options it has.
    turn: usize,
}

/// A key type, whose keys are `W` in memory.
struct Type<W> {
    name: &'static str,
    sorting: fn(&Input) -> Sorting<W>,
}

impl<W: Word> Type<W> {
    fn of<K: Ordered>() -> Self {
        Type {
            name: std::any::type_name::<K>(),
            sorting: |input| {
                let nan = K::POLICIES[input.turn / 64 % K::POLICIES.len()];
                let order = Order::ALL[input.turn / 32 % 2];
                let bits = ranges(K::BITS)[input.turn / 256 % 8].clone();
                let wanted = Wanted::of_keys(order, nan, Some(bits.clone()));
                let keys: Vec<K> = match input.made {
                    Made::Pattern(pattern) => pattern.keys(input.n, input.turn as u64, &wanted),
                    Made::Bits(mask) => random(input.n, input.turn as u64, mask)
                        .into_iter()
                        .map(|word: u64| {
                            let both = u128::from(word) << 64 | u128::from(word);
                            K::at_position(both >> (128 - K::BITS))
                        })
                        .collect(),
                };
                Sorting::new(&keys, order, nan, bits, AUTO)
            },
        }
    }
}

/// Of keys of so many bits: all, as often as some or none.
fn ranges(bits: u32) -> [Range<u32>; 8] {
    let all = 0..bits;
    [
        all.clone(),
        all.clone(),
        all.clone(),
        all,
        5..bits,
        0..bits - 3,
        bits - 9..bits - 1,
        bits..bits,
    ]
}

/// All of a width. Returns how many sorts there were.
fn run(width: Width) -> Result<usize> {
    match width {
        Width::W32 => of::<u32>(&[Type::of::<u32>(), Type::of::<i32>(), Type::of::<f32>()]),
        Width::W64 => of::<u64>(&[Type::of::<u64>(), Type::of::<i64>(), Type::of::<f64>()]),
        _ => of::<u128>(&[Type::of::<u128>(), Type::of::<i128>()]),
    }
}

/// Everything at every size with every payload, the options taking turns.
fn inputs() -> Vec<Input> {
    let patterns = Pattern::ALL.iter().map(|&pattern| Made::Pattern(pattern));
    let made: Vec<Made> = patterns.chain(MASKS.map(Made::Bits)).collect();
    let mut inputs = Vec::new();
    for n in SIZES {
        for &made in &made {
            for work in WORKS {
                let turn = (mix(inputs.len() as u64) >> 16) as usize;
                inputs.push(Input {
                    n,
                    made,
                    work,
                    turn,
                });
            }
        }
    }
    inputs
}

fn of<W: Word>(types: &[Type<W>]) -> Result<usize> {
    let rig = Rig::open()?;
    // Every device has room for these.
    let plan = rig.plan(Shape::pairs(1000, W::WIDTH, 4), &ascending(W::WIDTH, AUTO))?;
    ensure!(
        plan.algorithm() == "hybrid" && plan.workspace_bytes() == 0,
        "1000 pairs went by {}",
        plan.algorithm()
    );
    let inputs = inputs();
    let type_of = |input: &Input| &types[input.turn / 4096 % types.len()];
    ahead(
        &inputs,
        |input| (type_of(input).sorting)(input),
        |input, sorting| {
            let in_place = input.turn % 2 == 0;
            sorting
                .run(&rig, input.work, in_place)
                .with_context(|| format!("{} {input:?}", type_of(input).name))
        },
    )?;
    Ok(inputs.len())
}

/// Keys and values at every multiple of their size modulo 16. Returns how many sorts there were.
fn unaligned() -> Result<usize> {
    let rig = Rig::open()?;
    let mut sorts = 0;
    for width in [Width::W32, Width::W64, Width::W128] {
        for n in [1000, 2047, 13_001] {
            sorts += with_width!(width, |W| {
                let keys: Vec<W> = Pattern::Random.keys(n, 1, &Wanted::default());
                Misplaced::new(&rig, AUTO, keys).carried()
            })
            .with_context(|| format!("{n} keys of {} bits", width.bits()))?;
        }
    }
    Ok(sorts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything by all bits and by some, in place and not, in either order.
    #[test]
    fn options_take_turns() {
        let inputs = inputs();
        for &pattern in Pattern::ALL {
            for work in WORKS {
                let with = |holds: &dyn Fn(usize) -> bool| {
                    let with = |input: &&Input| match input.made {
                        Made::Pattern(made) => made == pattern,
                        Made::Bits(_) => false,
                    };
                    let same = |input: &&Input| format!("{:?}", input.work) == format!("{work:?}");
                    let mut found = inputs.iter().filter(with).filter(same);
                    assert!(found.any(|input| holds(input.turn)), "{pattern} {work:?}");
                };
                for turn in [0, 1] {
                    with(&|options| options % 2 == turn);
                    with(&|options| options / 32 % 2 == turn);
                    with(&|options| options / 256 % 8 / 4 == turn);
                }
            }
        }
    }
}
