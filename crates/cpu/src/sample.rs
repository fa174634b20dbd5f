//! Some of the codes, for all of them.

use sweepsort_core::Word;

use crate::placing::Placing;

/// Codes of `wanted` records, or of all if there are fewer, in order: one from somewhere in each of as
/// many even stretches of the input, so that no regular input is met always at the same point. The
/// same places for the same `n` each time.
pub(crate) fn sample<W: Word>(n: usize, wanted: usize, code: impl Fn(usize) -> W) -> Vec<W> {
    let stretches = wanted.min(n);
    if stretches == 0 {
        return Vec::new();
    }
    let (length, longer) = (n / stretches, n % stretches);
    let mut codes: Vec<W> = (0..stretches)
        .map(|i| {
            let length = length + usize::from(i < longer);
            let start = i * (n / stretches) + i.min(longer);
            code(start + random(i as u64, length as u64) as usize)
        })
        .collect();
    codes.sort_unstable();
    codes
}

/// A number below `end`, by multiplications that carry every bit of `i` to the top.
fn random(i: u64, end: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (i + 1).wrapping_mul(ODD);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(ODD);
    ((u128::from(mixed ^ (mixed >> 29)) * u128::from(end)) >> 64) as u64
}

/// Whether so many even places would hold about as much each, by a sample of codes in order: whether
/// a record shares its place, on average over the records, with at most three and a half times as many
/// as if all places were full alike.
///
/// Uniform codes have one, normal ones without their sign up to three and a quarter, over as many places
/// as there may be; a place with a part `p` of all codes adds `p²` times the places. Pairs of sampled
/// codes that share a place tell it without bias however few there are in a place, and
/// there are so many pairs that some hundred codes suffice.
///
/// Codes of 32 bits or more, as [`Placing`] has them; the sample lies within its range.
pub(crate) fn is_even<W: Word>(sample: &[W], placing: &Placing<W>, places: usize) -> bool {
    let pairs = |n: usize| n as u128 * n.saturating_sub(1) as u128;
    let shared: u128 = sample
        .chunk_by(|&a, &b| placing.of(a) == placing.of(b))
        .map(|place| pairs(place.len()))
        .sum();
    2 * shared * places as u128 <= 7 * pairs(sample.len())
}

#[cfg(test)]
mod tests {
    use sweepsort_testkit::distribution::{Distribution, Sample, generate};

    use super::*;

    #[test]
    fn one_code_of_each_stretch() {
        for n in [0, 1, 2, 3, 10, 99, 100, 101, 1000, 12_345] {
            for wanted in [0, 1, 2, 7, 100, 1024] {
                let codes = sample(n, wanted, |i| i as u64);
                let stretches = wanted.min(n);
                assert_eq!(codes.len(), stretches, "{wanted} of {n}");
                for (i, &code) in codes.iter().enumerate() {
                    // Longer stretches come first.
                    let (length, longer) = (n / stretches, n % stretches);
                    let start = i * length + i.min(longer);
                    let end = start + length + usize::from(i < longer);
                    assert!(
                        (start..end).contains(&(code as usize)),
                        "{wanted} of {n}: {code}"
                    );
                }
            }
        }
        // No stretch is met always at the same point.
        let codes = sample(64_000, 64, |i| (i % 1000) as u16);
        assert!(codes[0] < 100 && codes[63] > 900, "{codes:?}");
    }

    #[test]
    fn even_places_are_told_from_crowded_ones() {
        fn width<W: Word + Sample>() {
            use Distribution::*;
            let n = 1 << 18;
            let mut table = vec![
                (Uniform, true),
                (Normal, true),
                (Sorted, true),
                (Small, true),
                (And3, false),
                (And4, false),
                (And5, false),
                (Zipf, false),
                (Equal, true),
            ];
            if size_of::<W>() == 8 {
                table.push((Timestamps, true));
            }
            for (distribution, even) in table {
                for seed in 0..10 {
                    let codes: Vec<W> = generate(distribution, n, seed).unwrap();
                    let (least, greatest) =
                        (codes.iter().min().unwrap(), codes.iter().max().unwrap());
                    for wanted in [300, 1000, 4096] {
                        let sample = sample(n, wanted, |i| codes[i]);
                        let ends = [(*least, *greatest), (sample[0], sample[wanted - 1])];
                        for (least, greatest) in ends {
                            for places in [8, 16, 32, 64, 128, 256] {
                                let placing =
                                    Placing::new(least, greatest.wrapping_sub(least), places);
                                let r = ratio(&sample, &placing, places);
                                if seed == 0 {
                                    println!(
                                        "{distribution} {} {wanted} {places} {r:.2}",
                                        W::WIDTH.bits()
                                    );
                                }
                                assert_eq!(
                                    is_even(&sample, &placing, places),
                                    even,
                                    "{distribution} {:?} {wanted} {places} {r}",
                                    W::WIDTH
                                );
                            }
                        }
                    }
                }
            }
        }
        width::<u32>();
        width::<u64>();
    }
    fn ratio<W: Word>(sample: &[W], placing: &Placing<W>, places: usize) -> f64 {
        let s: usize = sample
            .chunk_by(|&a, &b| placing.of(a) == placing.of(b))
            .map(|p| p.len() * (p.len() - 1))
            .sum();
        s as f64 * places as f64 / (sample.len() * (sample.len() - 1)) as f64
    }
}
