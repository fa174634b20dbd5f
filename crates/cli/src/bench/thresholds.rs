//! The thresholds of the engine `cuda`: for each of them, numbers of keys on both sides, sorted in one way and in the
//! other.
//!
//! A way is a variant that sets a figure of the engine's tables, or an algorithm. `1` is never up to a threshold, and
//! `2^31` always, as far as a kernel has room; from a threshold on it is the other way round.

use sweepsort_testkit::Distribution::{self, And3, FewDistinct, Normal, Sorted, Uniform, Zipf};

use self::Way::{By, Variant};
use super::args::{Method, Payload, Suite};
use crate::args::count;
use crate::types::Type::{self, F32, U8, U16, U32, U64, U128};

/// A threshold.
struct Threshold {
    /// Other than the engine's choice.
    algorithm: Option<&'static str>,
    ways: &'static [Way],
    /// What is sorted: types of keys, with their numbers.
    keys: &'static [(Type, &'static str)],
    payload: Payload,
    distributions: &'static [Distribution],
}

/// A way to sort.
enum Way {
    /// By that variant.
    Variant(&'static str),
    /// By that algorithm.
    By(&'static str),
}

/// Keys alone, evenly spread, by what the engine chooses.
const fn keys(ways: &'static [Way], keys: &'static [(Type, &'static str)]) -> Threshold {
    Threshold {
        algorithm: None,
        ways,
        keys,
        payload: Payload::None,
        distributions: &[Uniform],
    }
}

/// With values of four bytes.
const fn pairs(ways: &'static [Way], of: &'static [(Type, &'static str)]) -> Threshold {
    Threshold {
        payload: Payload::Value(U32),
        ..keys(ways, of)
    }
}

impl Threshold {
    const fn of(self, distributions: &'static [Distribution]) -> Threshold {
        Threshold {
            distributions,
            ..self
        }
    }

    const fn by(self, algorithm: &'static str) -> Threshold {
        Threshold {
            algorithm: Some(algorithm),
            ..self
        }
    }

    /// Every way.
    fn methods(&self) -> Vec<Method> {
        let method = |way: &Way| {
            let (algorithm, variant) = match *way {
                Variant(variant) => (self.algorithm, Some(variant)),
                By(algorithm) => (Some(algorithm), None),
            };
            Method {
                algorithm: algorithm.map(str::to_owned),
                radix_bits: None,
                block: None,
                variant: variant.map(str::to_owned),
            }
        };
        self.ways.iter().map(method).collect()
    }
}

/// In the order of the engine's tables (`tuning.rs` of each), then those between its algorithms.
const THRESHOLDS: &[Threshold] = &[
    // What sorts in place, where the result may go elsewhere.
    keys(
        &[
            Variant("hybrid.out_of_place=1+hybrid.tiny=1"),
            Variant("hybrid.out_of_place=1+hybrid.tiny=128"),
        ],
        &[(U32, "32,64,128"), (U64, "32,64,128"), (U128, "32,64,128")],
    ),
    keys(
        &[
            Variant("hybrid.out_of_place=1+hybrid.alone=1"),
            Variant("hybrid.out_of_place=1+hybrid.alone=2^31"),
        ],
        &[
            (U32, "1000,2000,2816,3500,4096"),
            (U64, "1000,2000,3000,4096"),
            (U128, "1000,2000,3000,4096"),
        ],
    )
    .of(&[Uniform, FewDistinct]),
    keys(
        &[
            Variant("hybrid.out_of_place=1"),
            Variant("hybrid.out_of_place=2^31"),
        ],
        &[
            (U32, "16,128,1000,2000,2816,3400,4096"),
            (U64, "16,128,1000,2000,3072,4096"),
            (U128, "16,128,1000,2000,3072,4096"),
        ],
    )
    .of(&[Uniform, FewDistinct]),
    pairs(
        &[
            Variant("hybrid.out_of_place=1"),
            Variant("hybrid.out_of_place=2^31"),
        ],
        &[
            (U32, "128,1000,2000,3400,4096"),
            (U64, "128,1000,2000,3072,4096"),
        ],
    ),
    keys(
        &[Variant("hybrid.ranked=1"), Variant("hybrid.ranked=2^31")],
        &[
            (U32, "5000,1e4,2e4,26000,32768"),
            (U64, "5000,1e4,2e4,25000"),
            (U128, "5000,2^13,1e4,12000"),
        ],
    )
    .of(&[Uniform, FewDistinct]),
    keys(
        &[
            Variant("hybrid.together=1"),
            Variant("hybrid.together=2^31"),
        ],
        &[
            (U32, "2^17,2^20,2^21,3e6"),
            (U64, "2^17,2^20,2^21,3e6"),
            (U128, "2^17,2^20,2^21"),
        ],
    )
    .of(&[Uniform, Sorted]),
    keys(
        &[
            Variant("hybrid.together_block=256"),
            Variant("hybrid.together_block=512"),
            Variant("hybrid.together_block=1024"),
        ],
        &[(U32, "2e4,5e4,1e5"), (U64, "2e4,5e4,1e5")],
    ),
    keys(
        &[
            Variant("hybrid.together_cell=450"),
            Variant("hybrid.together_cell=900"),
            Variant("hybrid.together_cell=1800"),
        ],
        &[(U32, "1e5,5e5,2^21"), (U64, "1e5,5e5,2^21")],
    ),
    keys(
        &[
            Variant("hybrid.together_full=50"),
            Variant("hybrid.together_full=70"),
        ],
        &[
            (U32, "1100000,1200000,1500000"),
            (F32, "1100000,1200000,1500000"),
            (U64, "7e5,8e5,1e6"),
        ],
    ),
    keys(
        &[Variant("hybrid.once=1"), Variant("hybrid.once=2^31")],
        &[
            (U32, "3e6,2^22,6e6,2^23"),
            (U64, "3e6,2^22,6e6,2^23"),
            (U128, "1500000,2^21,2500000,3e6"),
        ],
    ),
    keys(
        &[
            Variant("hybrid.once_cell=2048"),
            Variant("hybrid.once_cell=4096"),
            Variant("hybrid.once_cell=8192"),
        ],
        &[(U32, "3e6,6e6"), (U64, "3e6,6e6"), (U128, "2e6")],
    ),
    keys(
        &[
            Variant("hybrid.twice_cell=2048"),
            Variant("hybrid.twice_cell=4096"),
            Variant("hybrid.twice_cell=8192"),
        ],
        &[(U32, "2^24,2^27"), (U64, "2^24,2^27"), (U128, "2^24,2^27")],
    ),
    // Beyond 2^26 there are more digits than the smaller tiles are for.
    keys(
        &[Variant("hybrid.middle=1"), Variant("hybrid.middle=2^31")],
        &[(U32, "9e6,2^24,2^25,2^26")],
    )
    .of(&[Uniform, Sorted]),
    keys(
        &[Variant("hybrid.rooms=1"), Variant("hybrid.rooms=2^31")],
        &[(U32, "9e6,1.2e7,2^24"), (U64, "9e6,1.2e7,13e6,2^24")],
    ),
    keys(
        &[
            Variant("hybrid.counted_once=1"),
            Variant("hybrid.counted_once=2^31"),
        ],
        &[(U32, "9e6,1e7,1.2e7,2^24,2^26")],
    )
    .of(&[Uniform, Normal]),
    pairs(
        &[
            Variant("hybrid.out_of_place=1+hybrid.few_from=1024"),
            Variant("hybrid.out_of_place=1+hybrid.few_from=1"),
        ],
        &[(U32, "64,128,257,400,700"), (U64, "64,128,257,400,700")],
    ),
    pairs(
        &[Variant("hybrid.few=1"), Variant("hybrid.few=2^31")],
        &[(U32, "16384,25000,32768"), (U64, "16384,25000")],
    ),
    pairs(
        &[
            Variant("hybrid.out_of_place=1+hybrid.one_run=1"),
            Variant("hybrid.out_of_place=1+hybrid.one_run=2^31"),
        ],
        &[
            (U32, "800,1000,1200,1500,2000"),
            (U64, "800,1000,1200,1500"),
        ],
    ),
    keys(
        &[
            Variant("hybrid.full_blocks=1"),
            Variant("hybrid.full_blocks=2^31"),
        ],
        &[
            (U32, "5000,8000,12000,16000"),
            (U64, "5000,8000,12000,16000"),
        ],
    ),
    pairs(
        &[
            Variant("onesweep.one_block=1"),
            Variant("onesweep.one_block=2^31"),
        ],
        &[(U8, "2000,4000,6000,8000"), (U16, "2000,4000,6000,8000")],
    )
    .by("onesweep"),
    pairs(
        &[
            Variant("onesweep.together=1"),
            Variant("onesweep.together=2^31"),
        ],
        &[(U32, "2^17,2^19,2^20,1.2e6"), (U64, "2^17,2^19,6e5")],
    )
    .by("onesweep"),
    keys(
        &[
            Variant("onesweep.tiles=1"),
            Variant("onesweep.tiles=2"),
            Variant("onesweep.tiles=3"),
        ],
        &[(U32, "1e6,1.5e6,2e6"), (U64, "5e5,1e6")],
    )
    .by("onesweep"),
    pairs(
        &[
            Variant("onesweep.block=256"),
            Variant("onesweep.block=512"),
            Variant("onesweep.block=1024"),
        ],
        &[(U32, "2e4,5e4,1e5"), (U64, "2e4,5e4,1e5")],
    )
    .by("onesweep"),
    keys(
        &[
            Variant("onesweep.rounds_at_once=1"),
            Variant("onesweep.rounds_at_once=2"),
            Variant("onesweep.rounds_at_once=2^31"),
        ],
        &[(U32, "6e6,9e6,1.2e7,2^24"), (U64, "3e6,5e6,6e6,2^23")],
    )
    .of(&[Uniform, And3]),
    keys(
        &[Variant("count.sorted=1"), Variant("count.sorted=2^31")],
        &[(U8, "512,1024,2048"), (U16, "2^11,2^12,5000")],
    ),
    keys(
        &[Variant("count.alone=1"), Variant("count.alone=2^31")],
        &[(U8, "2^14,2^15,2^16,8e4,1e5")],
    )
    .of(&[Uniform, Zipf]),
    keys(
        &[
            Variant("count.read=2^14"),
            Variant("count.read=2^15"),
            Variant("count.read=2^16"),
        ],
        &[(U8, "2^17,2^20,2^22"), (U16, "2^17,2^20,2^22")],
    ),
    keys(
        &[
            Variant("count.least_share=2^8"),
            Variant("count.least_share=2^10"),
            Variant("count.least_share=2^12"),
            Variant("count.least_share=2^13"),
        ],
        &[(U8, "2^17,2^20"), (U16, "2^17,2e5,2^18,2^20")],
    )
    .of(&[Uniform, Zipf]),
    keys(
        &[
            Variant("count.most_share=2^14"),
            Variant("count.most_share=2^15"),
            Variant("count.most_share=2^16"),
            Variant("count.most_share=2^17"),
        ],
        &[(U8, "2^26,2^28"), (U16, "2^25,2^26,2^27,2^28")],
    )
    .of(&[Uniform, Zipf]),
    keys(
        &[Variant("count.grouped=1"), Variant("count.grouped=2^31")],
        &[(U16, "2e4,1e5,2^17,2e5")],
    )
    .of(&[Uniform, Zipf]),
    keys(
        &[
            Variant("count.parts=1"),
            Variant("count.parts=2"),
            Variant("count.parts=4"),
        ],
        &[(U16, "2e4,1e5")],
    ),
    // From 2^20 words of a key and its index on, and from 2^23 records on.
    Threshold {
        payload: Payload::Index,
        ..keys(
            &[By("onesweep"), By("hybrid")],
            &[(U32, "2^18,2^19,2^20,2^21")],
        )
    },
    pairs(
        &[By("onesweep"), By("hybrid")],
        &[(U32, "2^22,2^23,2^24"), (U64, "2^22,2^23,2^24")],
    ),
    // What the keys decide: the engine's own choice, too.
    keys(
        &[By("onesweep"), By("hybrid"), Variant("text")],
        &[(U32, "2^22,2^24,2^27"), (U64, "2^22,2^24,2^27")],
    )
    .of(Distribution::ALL),
];

/// Inputs of all thresholds, and how each is sorted.
pub fn suites() -> Vec<Suite> {
    let suite = |threshold: &Threshold, &(ty, sizes): &(Type, &str)| Suite {
        types: vec![ty],
        payloads: vec![threshold.payload],
        sizes: (sizes.split(','))
            .filter_map(|size| usize::try_from(count(size).ok()?).ok())
            .collect(),
        distributions: threshold.distributions.to_vec(),
        suited: true,
        contenders: vec!["sweepsort-cuda".to_owned()],
        methods: threshold.methods(),
    };
    let each = THRESHOLDS.iter();
    each.flat_map(|threshold| {
        threshold
            .keys
            .iter()
            .map(move |keys| suite(threshold, keys))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_threshold_has_sizes_and_ways_to_compare() {
        for (suite, of) in suites()
            .iter()
            .zip(THRESHOLDS.iter().flat_map(|it| it.keys))
        {
            let given = of.1.split(',').count();
            assert_eq!(suite.sizes.len(), given, "{of:?}");
            assert!(suite.methods.len() >= 2, "{of:?}");
        }
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn each_figure_of_the_engine_is_measured() {
        use std::collections::BTreeSet;

        use sweepsort_cuda::Figure;

        let suites = suites();
        let variants = suites.iter().flat_map(|suite| &suite.methods);
        let measured: BTreeSet<&str> = variants
            .filter_map(|method| method.variant.as_deref())
            .flat_map(|variant| variant.split('+'))
            .filter_map(|figure| figure.split_once('='))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(measured, Figure::names().collect());
    }
}
