//! Sizes that are beyond the host's sort: keys are made there or on the device, and checked on the
//! device.

use anyhow::{Context, Result, anyhow};
use sweepsort_core::Word;
use sweepsort_cuda::Buffer;
use sweepsort_testkit::{Distribution, Generator, Sample};

use super::{AUTO, own};
use crate::Case;
use crate::resident::Resident;

/// Skewed by little, by much, and with some keys that are many.
const SKEWED: [Distribution; 3] = [Distribution::And2, Distribution::And5, Distribution::Zipf];

/// Keys that the host makes at a time.
const STRETCH: usize = 1 << 26;

/// Every case, small ones first.
pub fn cases() -> Vec<Case> {
    type Run = fn(usize) -> Result<usize>;
    let rows: [(&str, usize, Run); 10] = [
        ("u32/2^24", 1 << 24, all::<u32>),
        // The fewest whose lower halves are moved alone.
        ("u32/2^27+1", (1 << 27) + 1, all::<u32>),
        ("u64/2^24", 1 << 24, all::<u64>),
        ("u32/2^28", 1 << 28, all::<u32>),
        ("u64/2^28", 1 << 28, all::<u64>),
        ("u128/2^27", 1 << 27, all::<u128>),
        ("u32/2^30", 1 << 30, all::<u32>),
        ("u64/2^30", 1 << 30, all::<u64>),
        // More keys than the hybrid takes.
        ("u32/2^32+3", (1 << 32) + 3, uniform::<u32>),
        ("u64/2^31", 1 << 31, uniform::<u64>),
    ];
    let hybrid = rows.into_iter().map(|(name, n, run)| {
        Case::alone(format!("hybrid/large/{name}"), move || {
            crate::told(run(n).with_context(|| format!("{n} keys")))
        })
    });
    let rows: [(&str, usize, Run); 3] = [
        ("u8/2^30", 1 << 30, all::<u8>),
        ("u16/2^28", 1 << 28, all::<u16>),
        ("u16/2^32+3", (1 << 32) + 3, uniform::<u16>),
    ];
    let count = rows.into_iter().map(|(name, n, run)| {
        Case::alone(format!("count/large/{name}"), move || {
            crate::told(run(n).with_context(|| format!("{n} keys")))
        })
    });
    hybrid.chain(count).collect()
}

/// Random keys by the plan's choice, in place. Returns how many there were.
fn uniform<K: Word>(n: usize) -> Result<usize> {
    let resident = Resident::open()?;
    resident.sort(&mut resident.random(n, K::MAX)?, AUTO)?;
    resident.rig.intact()?;
    Ok(n)
}

/// Uniform, sorted, with one heavy key, uneven, and skewed, by the plan's choice and by force. Returns how
/// many keys were sorted.
fn all<K: Word + Sample>(n: usize) -> Result<usize> {
    let resident = Resident::open()?;
    let mut keys = resident.random(n, K::MAX)?;
    let mut to = resident.rig.stream.alloc(n)?;
    let both = |keys: &Buffer<K>, to: &mut Buffer<K>, what: &str| -> Result<()> {
        for algorithm in [AUTO, own(K::WIDTH)] {
            resident
                .sort_to(keys, to, algorithm)
                .with_context(|| format!("{what}, {algorithm}"))?;
        }
        resident.rig.intact()
    };
    both(&keys, &mut to, "uniform")?;
    both(&to, &mut keys, "sorted")?;
    let heavy = K::truncate(u128::MAX / 3);
    make(&resident, Distribution::Uniform, &mut keys, |_, made| {
        made.iter_mut().step_by(3).for_each(|key| *key = heavy);
    })?;
    both(&keys, &mut to, "one key in every three places")?;
    make(
        &resident,
        Distribution::Uniform,
        &mut keys,
        |start, made| hide(n, start, made),
    )?;
    both(&keys, &mut to, "buckets larger than the sample shows")?;
    for (what, change) in [
        (
            "half of the cells twice as full",
            part_of_the_range::<K> as fn(K) -> K,
        ),
        ("low bits clear", low_bits_clear),
        ("high bit clear", high_bit_clear),
    ] {
        make(&resident, Distribution::Uniform, &mut keys, |_, made| {
            made.iter_mut().for_each(|key| *key = change(*key));
        })?;
        both(&keys, &mut to, what)?;
    }
    make(
        &resident,
        Distribution::Uniform,
        &mut keys,
        |start, made| {
            for (place, key) in (start..).zip(made) {
                *key = match place % 1_000_003 {
                    5 => K::MAX,
                    _ => high_bit_clear(high_bit_clear(*key)),
                };
            }
        },
    )?;
    both(
        &keys,
        &mut to,
        "a few keys far from all that the sample shows",
    )?;
    for distribution in SKEWED {
        make(&resident, distribution, &mut keys, |_, _| {})?;
        both(&keys, &mut to, distribution.name())?;
    }
    Ok(2 * n * (8 + SKEWED.len()))
}

/// Clears the bit below the highest where `kernels/hybrid/sample.cuh` does not look, of keys from place `start` on:
/// then half of the buckets have twice the keys that they are given room for.
pub(super) fn hide<K: Word>(n: usize, start: usize, keys: &mut [K]) {
    const SAMPLE: usize = 1 << 21;
    let chunk = 512 / size_of::<K>();
    let stretch = (n / chunk).div_ceil(SAMPLE / chunk).max(8);
    let bit = K::truncate(1 << (K::BITS - 2));
    for (place, key) in (start..).zip(keys) {
        let (i, at) = (place / chunk / stretch, place / chunk % stretch);
        let i = i as u32;
        let chance = (i ^ i >> 7).wrapping_mul(0x9e37_79b1);
        let seen = (u64::from(chance) * stretch as u64) >> 32;
        if at as u64 != seen {
            *key = K::truncate(key.widen() & !bit.widen());
        }
    }
}

/// From the lowest five eighths of all keys.
fn part_of_the_range<K: Word>(key: K) -> K {
    K::truncate(key.widen() / 8 * 5)
}

/// Then most keys of a cell are there more than once.
fn low_bits_clear<K: Word>(key: K) -> K {
    K::truncate(key.widen() & !7)
}

/// Then the topmost bits that vary begin below the highest.
fn high_bit_clear<K: Word>(key: K) -> K {
    K::truncate(key.widen() >> 1)
}

/// Makes keys on the host, some at a time, and changes them there; `change(start, keys)` has those from a
/// place on.
pub(super) fn make<K: Word + Sample>(
    resident: &Resident,
    distribution: Distribution,
    keys: &mut Buffer<K>,
    change: impl Fn(usize, &mut [K]),
) -> Result<()> {
    let n = keys.len();
    let generator =
        Generator::<K>::new(distribution, n, n as u64).map_err(|why| anyhow!("{why}"))?;
    let mut made = vec![K::ZERO; n.min(STRETCH)];
    for start in (0..n).step_by(STRETCH) {
        let made = &mut made[..(n - start).min(STRETCH)];
        generator.fill(start, made);
        change(start, made);
        let stretch = keys.slice_mut(start..start + made.len())?;
        resident.rig.stream.write(made, stretch)?;
    }
    Ok(())
}
