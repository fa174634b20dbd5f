//! Whole keys with values, and indexes: two passes to their cells, then cells by themselves; or words of
//! both, like keys alone. Where the device sorts by onesweep instead, the outcome is the same.

use anyhow::{Context, Result, ensure};
use bytemuck::Pod;
use sweepsort_core::{Order, Width, Word, with_width};
use sweepsort_cuda::Buffer;
use sweepsort_testkit::{Distribution, Ordered, Pattern, Sample, Wanted};

use super::large::make;
use super::{APART, SKEWED};
use crate::Case;
use crate::checks::mix;
use crate::misplaced::Misplaced;
use crate::onesweep::repeated::graphs_by;
use crate::resident::Resident;
use crate::rig::{Rig, ahead};
use crate::sorting::{Sorting, Work};

const ALGORITHM: &str = "hybrid";

const SIZES: [usize; 4] = [1, 5000, 30_011, 300_007];

/// Payloads that travel, one that need not be stable, one that follows an index, and both indexes.
const WORKS: [Work; 7] = [
    Work::Pairs(4),
    Work::UnstablePairs,
    Work::Pairs(8),
    Work::Pairs(16),
    Work::Pairs(12),
    Work::Argsort(4),
    Work::Argsort(8),
];

/// Every case, those that fail soonest first.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [Width::W32, Width::W64, Width::W128] {
        let name = format!("records/{}", width.bits());
        cases.push(Case::new(name, move || crate::told(run(width))));
    }
    cases.push(crate::case("records/graph", || {
        graphs_by(ALGORITHM, &[5000, 100_003, SKEWED], 6)
    }));
    cases.push(crate::case("records/unaligned", unaligned));
    type Run = fn() -> Result<usize>;
    let rows: [(&str, Run); 10] = [
        ("u32+4/2^23", || pairs::<u32, u32>(1 << 23, true)),
        ("u32+4/2^28", || pairs::<u32, u32>(1 << 28, true)),
        ("u32+4/unstable/2^22", || pairs::<u32, u32>(1 << 22, false)),
        ("u32+4/unstable/2^28", || pairs::<u32, u32>(1 << 28, false)),
        ("u64+8/2^28", || pairs::<u64, u64>(1 << 28, true)),
        ("u64+4/2^27", || pairs::<u64, u32>(1 << 27, true)),
        ("u128+16/2^26", || pairs::<u128, u128>(1 << 26, true)),
        ("argsort/u32/2^22", || argsort::<u32, u32>(1 << 22)),
        ("argsort/u32/2^28", || argsort::<u32, u32>(1 << 28)),
        ("argsort/u64/2^28", || argsort::<u64, u64>(1 << 28)),
    ];
    for (name, run) in rows {
        let name = format!("records/large/{name}");
        cases.push(Case::alone(name, move || crate::told(run())));
    }
    cases
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
                let wanted = Wanted::of_keys(order, nan, None);
                let keys: Vec<K> = input.pattern.keys(input.n, input.turn as u64, &wanted);
                Sorting::new(&keys, order, nan, 0..K::BITS, ALGORITHM)
            },
        }
    }
}

#[derive(Clone, Debug)]
struct Input {
    n: usize,
    pattern: Pattern,
    /// Which options it has.
    turn: usize,
}

/// All of a width. Returns how many sorts there were.
fn run(width: Width) -> Result<usize> {
    match width {
        Width::W32 => of::<u32>(&[Type::of::<u32>(), Type::of::<i32>(), Type::of::<f32>()]),
        Width::W64 => of::<u64>(&[Type::of::<u64>(), Type::of::<i64>(), Type::of::<f64>()]),
        _ => of::<u128>(&[Type::of::<u128>(), Type::of::<i128>()]),
    }
}

/// Every pattern at every size, the options taking turns; uniform keys with every payload.
fn of<W: Word>(types: &[Type<W>]) -> Result<usize> {
    let rig = Rig::open()?;
    let small = SIZES
        .into_iter()
        .flat_map(|n| Pattern::ALL.iter().map(move |&pattern| (n, pattern)));
    let large = [APART, SKEWED].map(|n| [(n, Pattern::Random); WORKS.len()]);
    let inputs: Vec<Input> = small
        .chain(large.into_iter().flatten())
        .enumerate()
        .map(|(i, (n, pattern))| Input {
            n,
            pattern,
            turn: (mix(i as u64) >> 16) as usize / WORKS.len() * WORKS.len() + i % WORKS.len(),
        })
        .collect();
    let type_of = |input: &Input| &types[input.turn / 1024 % types.len()];
    ahead(
        &inputs,
        |input| (type_of(input).sorting)(input),
        |input, sorting| {
            let work = WORKS[input.turn % WORKS.len()];
            for in_place in [true, false] {
                sorting
                    .run(&rig, work, in_place)
                    .with_context(|| format!("{} {input:?} {work:?}", type_of(input).name))?;
            }
            Ok(())
        },
    )?;
    Ok(2 * inputs.len())
}

/// Keys and values at every multiple of their size modulo 16. Returns how many sorts there were.
fn unaligned() -> Result<usize> {
    let rig = Rig::open()?;
    let mut sorts = 0;
    for width in [Width::W32, Width::W64, Width::W128] {
        for n in [5000, 300_007] {
            sorts += with_width!(width, |W| {
                let keys: Vec<W> = Pattern::Random.keys(n, 1, &Wanted::default());
                Misplaced::new(&rig, ALGORITHM, keys).carried()
            })
            .with_context(|| format!("{n} keys of {} bits", width.bits()))?;
        }
    }
    Ok(sorts)
}

/// Distributions of many keys: the first is for the cells, of the others some have cells too large.
const DISTRIBUTIONS: [Distribution; 4] = [
    Distribution::Uniform,
    Distribution::Sorted,
    Distribution::Zipf,
    Distribution::And2,
];

/// Keys with values. Returns how many records there were.
fn pairs<K: Word + Sample, V: Pod>(n: usize, stable: bool) -> Result<usize> {
    each::<K>(n, |resident, keys| {
        resident.sort_pairs::<K, V>(keys, super::AUTO, stable)
    })
}

/// Indexes. Returns how many entries there were.
fn argsort<K: Word + Sample, I: Word>(n: usize) -> Result<usize> {
    each::<K>(n, |resident, keys| {
        resident.argsort::<K, I>(&keys, super::AUTO)
    })
}

/// Each distribution by the plan's choice. `sort` says what has sorted: of uniform keys it is the sort by
/// cells. Returns how many keys there were.
fn each<K: Word + Sample>(
    n: usize,
    sort: impl Fn(&Resident, Buffer<K>) -> Result<&'static str>,
) -> Result<usize> {
    let resident = Resident::open()?;
    for distribution in DISTRIBUTIONS {
        let mut keys = resident.rig.stream.alloc::<K>(n)?;
        make(&resident, distribution, &mut keys, |_, _| {})?;
        let ran = sort(&resident, keys).context(distribution.name())?;
        ensure!(
            ran == ALGORITHM || distribution != Distribution::Uniform,
            "uniform keys went by {ran}"
        );
        resident.rig.intact()?;
    }
    Ok(n * DISTRIBUTIONS.len())
}
