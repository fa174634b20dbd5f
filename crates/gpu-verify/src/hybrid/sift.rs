//! Keys of which many are common: these are counted, the others sorted, and both woven.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use anyhow::{Context, Result, ensure};
use sweepsort_core::{Nan, Order, Word};
use sweepsort_testkit::Ordered;

use super::AUTO;
use crate::checks::mix;
use crate::keys::Keys;
use crate::rig::{Rig, ahead};

/// So many keys that sifting pays where few are left.
const N: usize = (1 << 24) + 5;

/// How many passes may be for keys of so many bytes.
type Passes = fn(u32) -> RangeInclusive<u32>;

/// What the other keys are like.
#[derive(Clone, Copy, Debug)]
enum Rest {
    /// Of all bits.
    Uniform,
    /// All keys are of so many bytes from the lowest up, common ones too.
    Bytes(u32),
    /// Less than all common ones, or greater.
    Below,
    Above,
    /// Only where no sample looks: there a common key stands.
    Unseen,
}

/// Keys, and what sorts them.
#[derive(Clone, Copy, Debug)]
struct Input {
    /// How many keys are common, the first ones more than the others.
    common: u64,
    /// How many of 2^16 keys are of these.
    share: u64,
    rest: Rest,
    order: Order,
    in_place: bool,
    /// The algorithms that may be, and passes over keys of so many bytes: one counts, the others sort the rest.
    sorted_by: (&'static [&'static str], Passes),
}

const ALL: u64 = 1 << 16;

/// By onesweep, where the rest has no room: warps whose strays fill their chunks have no fillers, and then it
/// has.
const NO_ROOM: (&[&str], Passes) = (&["onesweep", "hybrid"], |bytes| bytes..=bytes + 1);

/// With every kind of rest; an odd number of passes needs one more that copies.
const INPUTS: [Input; 12] = {
    const fn input(common: u64, share: u64, rest: Rest, passes: Passes) -> Input {
        Input {
            common,
            share,
            rest,
            order: Order::Ascending,
            in_place: false,
            sorted_by: (&["hybrid"], passes),
        }
    }
    const fn placed(input: Input) -> Input {
        Input {
            in_place: true,
            ..input
        }
    }
    const fn falling(input: Input) -> Input {
        Input {
            order: Order::Descending,
            ..input
        }
    }
    const fn all(bytes: u32) -> RangeInclusive<u32> {
        1 + bytes..=1 + bytes
    }
    // So few others that sifting pays for any number of keys.
    let mostly = ALL * 127 / 128;
    [
        input(1, ALL, Rest::Uniform, |_| 1..=1),
        // The sample may miss some.
        placed(input(1000, ALL, Rest::Uniform, |bytes| 1..=1 + bytes)),
        input(1, ALL - 1, Rest::Uniform, all),
        placed(input(7, mostly, Rest::Uniform, all)),
        falling(input(60, mostly, Rest::Uniform, all)),
        placed(falling(input(70, mostly, Rest::Bytes(3), |_| 4..=4))),
        input(50, mostly, Rest::Bytes(3), |_| 4..=4),
        placed(input(20, mostly, Rest::Bytes(2), |_| 3..=3)),
        input(40, mostly, Rest::Below, all),
        placed(input(40, mostly, Rest::Above, all)),
        Input {
            sorted_by: NO_ROOM,
            ..placed(input(1, 0, Rest::Unseen, all))
        },
        Input {
            sorted_by: NO_ROOM,
            ..falling(input(1, 0, Rest::Unseen, all))
        },
    ]
};

/// Keys of 32, 64 and 128 bits. Returns how many sorts there were.
pub fn run() -> Result<usize> {
    let rig = Rig::open()?;
    Ok(of::<f32, u32>(&rig)? + of::<i64, u64>(&rig)? + of::<u128, u128>(&rig)?)
}

fn of<K: Ordered, W: Word>(rig: &Rig) -> Result<usize> {
    let mut otherwise = Vec::new();
    ahead(
        &INPUTS,
        |input| {
            let bits = 0..K::BITS;
            Keys::<W>::new(&keys::<K>(input), input.order, Nan::Total, bits, AUTO)
        },
        |input, keys| {
            let sorted = keys.sort(rig, input.in_place).and_then(|ran| {
                let (algorithms, passes) = input.sorted_by;
                let passes = passes(K::BITS / 8);
                if !algorithms.contains(&ran.algorithm) || !passes.contains(&ran.passes) {
                    otherwise.push((ran.algorithm, ran.passes, *input));
                }
                rig.intact()
            });
            sorted.with_context(|| format!("{} {input:?}", std::any::type_name::<K>()))
        },
    )?;
    let key = std::any::type_name::<K>();
    ensure!(
        otherwise.is_empty(),
        "{key}: sorted by others: {otherwise:?}"
    );
    Ok(INPUTS.len())
}

fn keys<K: Ordered>(input: &Input) -> Vec<K> {
    let greatest = u128::MAX >> (128 - K::BITS);
    let random = |i: u64| (u128::from(mix(i)) << 64) | u128::from(mix(i ^ (1 << 61)));
    let within = |code: u128| match input.rest {
        Rest::Bytes(bytes) => code & ((1 << (8 * bytes)) - 1),
        Rest::Below | Rest::Above => (code & (greatest >> 2)) + (greatest >> 2) + 1,
        Rest::Uniform | Rest::Unseen => code & greatest,
    };
    let common = |i: u64| {
        let of_all = (mix(i) >> 32) as u128;
        // The square brings most of them to the first.
        let number = ((of_all * of_all * u128::from(input.common)) >> 64) as u64;
        within(random(number + 1))
    };
    let other = |i: u64| match input.rest {
        Rest::Below => random(i) & (greatest >> 2),
        Rest::Above => (random(i) & (greatest >> 1)) + (greatest >> 1) + 1,
        _ => within(random(i)),
    };
    let seen = match input.rest {
        Rest::Unseen => sampled(N),
        _ => HashSet::new(),
    };
    (0..N as u64)
        .map(|i| {
            let is_common = mix(!i) % ALL < input.share || seen.contains(&(i as usize));
            let code = if is_common { common(i) } else { other(i << 20) };
            K::at_position(code)
        })
        .collect()
}

/// The places that the probe and its census read; `kernels/hybrid/probe.cuh` and `census.cuh` have the same.
pub(super) fn sampled(n: usize) -> HashSet<usize> {
    let place = |samples: usize, i: u32, mixed: u32| {
        let stretch = n / samples;
        i as usize * stretch + ((u64::from(mixed) * stretch as u64) >> 32) as usize
    };
    let probe = (0..4096).map(|i: u32| place(4096, i, (i ^ (i >> 7)).wrapping_mul(0x9e37_79b1)));
    let census =
        (0..16_384).map(|i: u32| place(16_384, i, (i ^ (i >> 9)).wrapping_mul(0x85eb_ca6b)));
    probe.chain(census).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many keys are common as the share says, and there are others.
    #[test]
    fn keys_are_as_the_input_says() {
        for input in INPUTS {
            let keys: Vec<u64> = keys::<i64>(&input).iter().map(|&key| key as u64).collect();
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let runs: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
            let common = runs.iter().filter(|&&run| run > 8).sum::<usize>() as f64 / N as f64;
            let wanted = match input.rest {
                Rest::Unseen => 20_000.0 / N as f64,
                // Of two bytes each is there often.
                Rest::Bytes(2) => 1.0,
                _ => input.share as f64 / ALL as f64,
            };
            assert!(
                (common - wanted).abs() < 0.01,
                "{input:?}: {common} of {wanted}"
            );
        }
    }
}
