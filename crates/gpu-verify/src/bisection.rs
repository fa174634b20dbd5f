//! Stages of the twins in the place of the device's, and the device's beside the twins'.

use sweepsort::Choice;
use sweepsort::explain::{Algorithm, Options, bisect, take_each};
use sweepsort_testkit::{Distribution, generate};

/// Keys: some blocks of them, the last of which is not full.
const KEYS: usize = 5000;

/// Compares every array with the twin's, and sorts once for each stage with that one the twin's.
pub fn run(name: &str) -> anyhow::Result<usize> {
    let algorithm = Algorithm::named(name).ok_or_else(|| anyhow::anyhow!("no twin of {name}"))?;
    let radix_bits: &[u32] = match algorithm {
        Algorithm::FourWay => &[1, 2],
        Algorithm::BlockHistogram | Algorithm::Coalesced => &[1, 4, 8],
        _ => &[1],
    };
    let mut compared = 0;
    for &radix_bits in radix_bits {
        for block in [256, 1024] {
            let options = Options {
                radix_bits: Some(radix_bits),
                block: Some(block),
                engine: Choice::Cuda,
                ..Options::of(algorithm)
            };
            compared += both(
                &generate::<u32>(Distribution::FewDistinct, KEYS, 1)?,
                &options,
            )?;
            compared += both(&generate::<i64>(Distribution::Small, KEYS, 2)?, &options)?;
        }
    }
    Ok(compared)
}

fn both<K: sweepsort::RadixKey>(keys: &[K], options: &Options) -> anyhow::Result<usize> {
    let what = format!("R = {:?}, block {:?}", options.radix_bits, options.block);
    let bisection = bisect(keys, options)?;
    if let Some(difference) = bisection.differences.first() {
        anyhow::bail!("{what}: {difference:?}");
    }
    let taken = take_each(keys, options)?;
    if let Some((stage, _)) = taken.iter().find(|(_, right)| !right) {
        anyhow::bail!("{what}: with {stage} of the twin the sort is wrong");
    }
    anyhow::ensure!(!taken.is_empty(), "{what}: no stage can be the twin's");
    Ok(bisection.compared + taken.len())
}
