//! All twins sort, stably, whatever the length, the block, the digit and the range of bits.

use sweepsort_core::Word;
use sweepsort_twin::{Algorithm, Options, Record, Trace, run};

/// Numbers that repeat enough to show whether ties keep their order.
fn keys<W: Word>(n: usize, distinct: u128) -> Vec<Record<W, u32>> {
    let mut state = n as u128 | 1;
    (0..n as u32)
        .map(|payload| {
            state = state
                .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
                .wrapping_add(11);
            let key = (state >> 40) % distinct;
            Record {
                code: W::truncate(key.wrapping_mul(0x0101_0101_0101_0101_0101)),
                payload,
            }
        })
        .collect()
}

fn every_case<W: Word>() {
    for &algorithm in Algorithm::ALL {
        for n in [
            0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 257, 700,
        ] {
            for block in [1, 2, 4, 16, 64, 1024] {
                for radix_bits in [1, 2, 3, 4, 8] {
                    for bits in [0..W::BITS, 3..W::BITS - 1, 2..2] {
                        for distinct in [1, 5, 1 << 40] {
                            let options = Options {
                                bits: bits.clone(),
                                radix_bits,
                                block,
                                ..Options::of::<W>(algorithm)
                            };
                            let mut records = keys::<W>(n, distinct);
                            let mut expected = records.clone();
                            let mask = W::mask(&bits);
                            expected.sort_by_key(|record| record.code & mask);
                            if options.check::<W>(algorithm).is_err() {
                                continue;
                            }
                            run(algorithm, &mut records, &options, &mut Trace::off()).unwrap();
                            assert_eq!(
                                records, expected,
                                "{algorithm:?}, {n} records, {options:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn words_of_8_bits() {
    every_case::<u8>();
}

#[test]
fn words_of_32_bits() {
    every_case::<u32>();
}

#[test]
fn words_of_128_bits() {
    every_case::<u128>();
}

/// An LSD sort rests on the stability of its passes, and shows it.
#[test]
fn without_stability_lsd_fails() {
    for algorithm in [
        "counting-lsd",
        "split",
        "four-way",
        "block-histogram",
        "coalesced",
        "onesweep",
    ] {
        let algorithm = Algorithm::named(algorithm).unwrap();
        let mut options = Options {
            break_stability: true,
            ..Options::of::<u16>(algorithm)
        };
        options.radix_bits = options.radix_bits.min(4);
        let mut records = keys::<u16>(50, 1 << 40);
        run(algorithm, &mut records, &options, &mut Trace::off()).unwrap();
        assert!(
            !records.is_sorted_by_key(|record| record.code),
            "{algorithm:?}"
        );
    }
}
