//! Every pattern at every size, in every order and type, the options taking turns: up to some millions
//! of keys beside the host's sort; beyond, as the checks on the device see it.

use anyhow::{Context, Result};
use half::{bf16, f16};
use sweepsort_core::{Nan, Order, Width, Word};
use sweepsort_testkit::{Ordered, Pattern, Wanted, sizes};

use super::{APART, AUTO, SKEWED, own, thresholds, twice};
use crate::checks::mix;
use crate::keys::Keys;
use crate::resident::Resident;
use crate::rig::{Rig, ahead};

/// Larger sizes that the host sorts too: each pattern with every third of them.
fn larger(width: Width) -> [usize; 6] {
    let twice = twice(width);
    [APART - 2, APART - 1, APART, twice - 2, twice - 1, twice + 2]
}

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
            policies: K::POLICIES,
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
            let sorted = keys.sort(&rig, input.in_place).and_then(|_| rig.intact());
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
    let sizes = larger(W::WIDTH);
    let larger = Pattern::ALL
        .iter()
        .enumerate()
        .flat_map(|(i, &pattern)| [sizes[i % 3], sizes[i % 3 + 3]].map(|n| (n, pattern)));
    // As many heavy buckets as the seed says: each number of them.
    let heavy = [100_003, APART, SKEWED].map(|n| [(n, Pattern::HeavyBuckets); 9]);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pattern by either algorithm, in place and not, in either order, of any type, at small,
    /// middle and larger sizes; every number of heavy buckets.
    #[test]
    fn options_take_turns() {
        let types = [
            Type::<u32>::of::<u32>(),
            Type::of::<i32>(),
            Type::of::<f32>(),
        ];
        let inputs = inputs(&types);
        for &pattern in Pattern::ALL {
            let with = |holds: &dyn Fn(&Input) -> bool| {
                let with = |input: &Input| input.pattern == pattern && holds(input);
                assert!(inputs.iter().any(with), "{pattern}");
            };
            for sizes in [0..1025, 1025..20_000, 20_000..APART - 2] {
                let with = |holds: &dyn Fn(&Input) -> bool| {
                    with(&|input| sizes.contains(&input.n) && holds(input));
                };
                (0..types.len()).for_each(|key| with(&|input| input.key == key));
                for turn in [false, true] {
                    with(&|input| (input.algorithm == AUTO) == turn);
                    with(&|input| (input.order == Order::Ascending) == turn);
                    with(&|input| input.in_place == turn);
                }
            }
            with(&|input| (APART - 2..=APART).contains(&input.n));
            with(&|input| input.n >= twice(Width::W32) - 2);
        }
        let mut heavy: Vec<u64> = inputs
            .iter()
            .filter(|input| input.pattern == Pattern::HeavyBuckets && input.n == SKEWED)
            .map(|input| input.seed % 9)
            .collect();
        heavy.sort_unstable();
        heavy.dedup();
        assert_eq!(heavy, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    /// Keys as words, in memory and in the order that their type has.
    #[test]
    fn words_are_the_keys() {
        let input = Input {
            key: 0,
            n: 5000,
            pattern: Pattern::Special,
            seed: 1,
            order: Order::Descending,
            nan: Nan::Last,
            algorithm: AUTO,
            in_place: true,
        };
        let keys = (Type::<u32>::of::<f32>().keys)(&input);
        let sorted: Vec<f32> = keys
            .sorted
            .iter()
            .map(|&word| f32::from_bits(word))
            .collect();
        let nans = sorted.iter().position(|key| key.is_nan()).unwrap();
        assert!(sorted[nans..].iter().all(|key| key.is_nan()));
        assert!(sorted[..nans].windows(2).all(|pair| pair[0] >= pair[1]));
        let mut words = [keys.before, keys.sorted];
        words.iter_mut().for_each(|words| words.sort_unstable());
        assert_eq!(words[0], words[1]);
    }
}
