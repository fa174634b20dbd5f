//! Every pattern at every size, in every order and type, the options taking turns: up to some millions
//! of keys beside the host's sort; beyond, as the checks on the device see it.

use anyhow::{Context, Result};
use half::{bf16, f16};
use sweepsort_core::{Nan, Order, Width, Word};
use sweepsort_testkit::{Ordered, Pattern, Wanted, sizes};

use super::{AUTO, SKEWED, TWICE, own, thresholds};
use crate::checks::mix;
use crate::keys::Keys;
use crate::resident::Resident;
use crate::rig::{Rig, ahead};

/// Larger sizes that the host sorts too: each pattern with every third of them.
const LARGER: [usize; 6] = [TWICE - 2, TWICE - 1, TWICE, (1 << 22) - 1, 1 << 22, SKEWED];

/// Sizes that are checked on the device: each pattern with one of them.
const LARGEST: [usize; 2] = [(1 << 23) + 5, (1 << 24) - 1];

/// All of a width. Returns how many sorts there were.
pub fn run(width: Width) -> Result<usize> {
    match width {
        Width::W8 => of::<u8>(&[Type::of::<u8>(), Type::of::<i8>()]),
        Width::W16 => of::<u16>(&[
            Type::of::<u16>(),
            Type::of::<i16>(),
            Type::of::<f16>(),
            Type::of::<bf16>(),
        ]),
        Width::W32 => of::<u32>(&[Type::of::<u32>(), Type::of::<i32>(), Type::of::<f32>()]),
        Width::W64 => of::<u64>(&[Type::of::<u64>(), Type::of::<i64>(), Type::of::<f64>()]),
        Width::W128 => of::<u128>(&[Type::of::<u128>(), Type::of::<i128>()]),
    }
}

/// A key type, whose keys are `W` in memory.
struct Type<W> {
    name: &'static str,
    policies: &'static [Nan],
    keys: fn(&Input) -> Keys<W>,
}

impl<W: Word> Type<W> {
    fn of<K: Ordered>() -> Self {
        Type {
            name: std::any::type_name::<K>(),
            policies: match K::NANS {
                0 => &[Nan::Total],
                _ => Nan::ALL,
            },
            keys: |input| {
                let wanted = Wanted::of_keys(input.order, input.nan, None);
                let keys: Vec<K> = input.pattern.keys(input.n, input.seed, &wanted);
                let bits = 0..K::BITS;
                Keys::new(&keys, input.order, input.nan, bits, input.algorithm)
            },
        }
    }
}

/// Keys, and how they are to be sorted.
#[derive(Clone, Debug)]
struct Input {
    /// Which of a width's types.
    key: usize,
    n: usize,
    pattern: Pattern,
    seed: u64,
    order: Order,
    nan: Nan,
    algorithm: &'static str,
    in_place: bool,
}

fn of<W: Word + Ordered>(types: &[Type<W>]) -> Result<usize> {
    let rig = Rig::open()?;
    let inputs = inputs(types);
    ahead(
        &inputs,
        |input| (types[input.key].keys)(input),
        |input, keys| {
            let sorted = keys.sort(&rig, input.in_place).and_then(|()| rig.intact());
            sorted.with_context(|| format!("{} {input:?}", types[input.key].name))
        },
    )?;
    Ok(inputs.len() + largest::<W>()?)
}

/// What the host sorts too.
fn inputs<W: Word>(types: &[Type<W>]) -> Vec<Input> {
    let small = sizes(20, thresholds(W::WIDTH))
        .into_iter()
        .flat_map(|n| Pattern::ALL.iter().map(move |&pattern| (n, pattern)));
    let larger = Pattern::ALL
        .iter()
        .enumerate()
        .flat_map(|(i, &pattern)| [LARGER[i % 3], LARGER[i % 3 + 3]].map(|n| (n, pattern)));
    // As many heavy buckets as the seed says: each number of them.
    let heavy = [100_003, TWICE, SKEWED].map(|n| [(n, Pattern::HeavyBuckets); 9]);
    small
        .chain(larger)
        .chain(heavy.into_iter().flatten())
        .enumerate()
        .map(|(i, (n, pattern))| {
            let turn = (mix(i as u64) >> 16) as usize;
            let key = turn % types.len();
            let policies = types[key].policies;
            Input {
                key,
                n,
                pattern,
                seed: i as u64,
                order: Order::ALL[turn / 16 % 2],
                nan: policies[turn / 32 % policies.len()],
                algorithm: [AUTO, own(W::WIDTH)][turn / 128 % 2],
                in_place: (turn / 256).is_multiple_of(2),
            }
        })
        .collect()
}

/// Unsigned keys beyond those, by the plan's choice and by force. Returns how many sorts there were.
fn largest<W: Word + Ordered>() -> Result<usize> {
    let resident = Resident::open()?;
    let inputs: Vec<(usize, Pattern)> = LARGEST
        .into_iter()
        .cycle()
        .zip(Pattern::ALL.iter().copied())
        .collect();
    let algorithms = [AUTO, own(W::WIDTH)];
    ahead(
        &inputs,
        |&(n, pattern)| pattern.keys::<W>(n, n as u64, &Wanted::default()),
        |(n, pattern), keys| {
            let mut keys = resident.rig.stream.upload(&keys)?;
            let mut to = resident.rig.stream.alloc(*n)?;
            resident
                .sort_to(&keys, &mut to, algorithms[0])
                .and_then(|()| resident.sort(&mut keys, algorithms[1]))
                .and_then(|()| resident.rig.intact())
                .with_context(|| format!("{n} keys, {pattern}, by {algorithms:?}"))
        },
    )?;
    Ok(2 * inputs.len())
}
