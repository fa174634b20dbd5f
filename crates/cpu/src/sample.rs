//! Some of the codes, for all of them.

use sweepsort_core::Word;

use crate::placing::Placing;
use crate::pool::Crew;
use crate::tuning::SAMPLED_TOGETHER;

/// Codes of `wanted` records, or of all if there are fewer: one from somewhere in each of as many
/// even stretches of the input, so that no regular input is met always at the same point. The
/// same places for the same `n` each time. The workers share it, for of many records each of these is a
/// miss of the caches.
pub(crate) fn sample<W: Word>(
    n: usize,
    wanted: usize,
    crew: Crew<'_>,
    code: impl Fn(usize) -> W + Send + Sync,
) -> Vec<W> {
    let stretches = wanted.min(n);
    if stretches == 0 {
        return Vec::new();
    }
    let (length, longer) = (n / stretches, n % stretches);
    let one = |i: usize| {
        let start = i * length + i.min(longer);
        let length = length + usize::from(i < longer);
        code(start + random(i as u64, length as u64) as usize)
    };
    let mut codes = vec![W::ZERO; stretches];
    let mut parts: Vec<_> = codes.chunks_mut(SAMPLED_TOGETHER).enumerate().collect();
    crew.for_each(&mut parts, |(part, codes)| {
        for (i, slot) in (*part * SAMPLED_TOGETHER..).zip(codes.iter_mut()) {
            *slot = one(i);
        }
    });
    codes
}

/// The least and the greatest code of a sample, if it has any.
pub(crate) fn range<W: Word>(sample: &[W]) -> Option<[W; 2]> {
    let codes = sample.iter().map(|&code| [code; 2]);
    codes.reduce(|all, own| [all[0].min(own[0]), all[1].max(own[1])])
}

/// A number below `end`, by multiplications that carry every bit of `i` to the top.
fn random(i: u64, end: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (i + 1).wrapping_mul(ODD);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(ODD);
    ((u128::from(mixed ^ (mixed >> 29)) * u128::from(end)) >> 64) as u64
}

/// Whether so many even places would hold about as much each, by a sample of codes: whether a record
/// shares its place, on average over all records, with at most three and a quarter times as many as
/// if places were full alike.
///
/// Uniform codes have one, normal ones without their sign two or three, by how far the range reaches; the
/// AND of two random words has 1.25 for each bit of a place's number. A part `p` of the codes in one
/// place gives `p²` times the places.
///
/// What is counted are pairs of sampled codes that share a place. They tell it without bias however few
/// codes a place has, and there are so many pairs that some hundred codes do.
///
/// The codes of the sample are within the range of [`Placing`].
pub(crate) fn is_even<W: Word>(sample: &[W], placing: &Placing<W>, places: usize) -> bool {
    let pairs = |n: usize| n as u128 * n.saturating_sub(1) as u128;
    let mut counts = vec![0; places];
    for &code in sample {
        counts[placing.of(code)] += 1;
    }
    let shared: u128 = counts.into_iter().map(pairs).sum();
    4 * shared * places as u128 <= 13 * pairs(sample.len())
}

#[cfg(test)]
mod tests {
    use sweepsort_core::Width;
    use sweepsort_testkit::distribution::{Distribution, Sample, generate};

    use super::*;
    use crate::pool::Pool;

    #[test]
    fn one_code_of_each_stretch() {
        for n in [0, 1, 2, 3, 10, 99, 100, 101, 1000, 12_345] {
            for wanted in [0, 1, 2, 7, 100, 1024] {
                let codes = sample(n, wanted, Crew::alone(), |i| i as u64);
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
        // Nor does it matter how many workers there are.
        let pool = Pool::new(Some(3));
        let of = |crew: Crew<'_>| sample(100_000, 1000, crew, |i| i as u32);
        let shared = pool.enter(true, of).unwrap();
        assert_eq!(shared, of(Crew::alone()));
        // No stretch is met always at the same point.
        let codes = sample(64_000, 64, Crew::alone(), |i| (i % 1000) as u16);
        let [least, greatest] = range(&codes).unwrap();
        assert!(least < 100 && greatest > 900, "{codes:?}");
    }

    #[test]
    fn even_places_are_told_from_crowded_ones() {
        fn width<W: Word + Sample>() {
            use Distribution::*;
            let n = 1 << 17;
            // What is told of how many places.
            let mut table = vec![
                (Uniform, 8..=256, true),
                (Sorted, 8..=256, true),
                (Small, 8..=256, true),
                (Normal, 8..=256, true),
                (And2, 128..=256, false),
                (And3, 8..=256, false),
                (And4, 8..=256, false),
                (And5, 8..=256, false),
                (Zipf, 8..=256, false),
                (FewDistinct, 64..=256, false),
            ];
            if W::WIDTH == Width::W64 {
                table.push((Timestamps, 8..=256, true));
            }
            for (distribution, all_places, expected) in table {
                for seed in 0..5 {
                    let codes: Vec<W> = generate(distribution, n, seed).unwrap();
                    for wanted in [500, 1000, 4096] {
                        let sample = sample(n, wanted, Crew::alone(), |i| codes[i]);
                        let [all, sampled] = [&codes, &sample].map(|codes| range(codes).unwrap());
                        for [least, greatest] in [all, sampled] {
                            for places in (3..=8).map(|bits| 1 << bits) {
                                let range = greatest.wrapping_sub(least);
                                let placing = Placing::new(least, range, places);
                                assert!(
                                    !all_places.contains(&places)
                                        || is_even(&sample, &placing, places) == expected,
                                    "{distribution} of {:?}, seed {seed}: {wanted} codes, \
                                     {places} places from {least:?} to {greatest:?}",
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

    /// However many uniform samples there are, and however few codes for each place.
    #[test]
    fn chance_crowds_no_places() {
        for seed in 0..2000 {
            let codes: Vec<u32> = generate(Distribution::Uniform, 200, seed).unwrap();
            let sample = sample(200, 200, Crew::alone(), |i| codes[i]);
            let [least, greatest] = range(&sample).unwrap();
            for places in [8, 64, 256] {
                let placing = Placing::new(least, greatest - least, places);
                let even = is_even(&sample, &placing, places);
                assert!(even, "seed {seed}, {places} places");
            }
        }
    }
}
