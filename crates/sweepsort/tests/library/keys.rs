//! Every key type through every call, in both directions, under every policy, by ranges of bits.

use crate::calls;
use half::{bf16, f16};
use sweepsort::{Nan, Order};
use sweepsort_testkit::{Distribution, Ordered, Pattern, Sample, Wanted, generate};

/// Sizes that an engine treats differently: nothing to do, tiny, small, one task, several.
const SIZES: [usize; 6] = [0, 1, 2, 100, 5000, 70_001];

fn every_option<K: Sample>() {
    let half = K::BITS / 2;
    let ranges = [
        None,
        Some(0..0),
        Some(K::BITS..K::BITS),
        Some(0..half),
        Some(half / 2..K::BITS),
    ];
    for &order in Order::ALL {
        for &nan in K::POLICIES {
            for bits in &ranges {
                for n in SIZES {
                    // The largest size with all bits alone, to spare time.
                    if n > 5000 && bits.is_some() {
                        continue;
                    }
                    let keys: Vec<K> = if K::BITS > 128 {
                        generate(Distribution::And3, n, 5).unwrap()
                    } else {
                        Pattern::Special.keys(n, 5, &Wanted::default())
                    };
                    calls::check(&keys, order, nan, bits.clone());
                }
            }
        }
    }
}

macro_rules! key_types {
    ($($name:ident $key:ty;)*) => {$(
        #[test]
        fn $name() {
            every_option::<$key>();
        }
    )*};
}
key_types! {
    u8_keys u8;
    u16_keys u16;
    u32_keys u32;
    u64_keys u64;
    u128_keys u128;
    usize_keys usize;
    i8_keys i8;
    i16_keys i16;
    i32_keys i32;
    i64_keys i64;
    i128_keys i128;
    isize_keys isize;
    f16_keys f16;
    bf16_keys bf16;
    f32_keys f32;
    f64_keys f64;
    bool_keys bool;
    bytes_1 [u8; 1];
    bytes_3 [u8; 3];
    bytes_5 [u8; 5];
    bytes_8 [u8; 8];
    bytes_12 [u8; 12];
    bytes_16 [u8; 16];
    bytes_17 [u8; 17];
    bytes_20 [u8; 20];
    bytes_33 [u8; 33];
}

/// Every pattern for a type sorted where it lies, one copied to words, and one wider than words.
fn every_pattern<K: Ordered>() {
    for &pattern in Pattern::ALL {
        for n in [0, 1, 2, 3, 1000, 20_011] {
            for &order in Order::ALL {
                let wanted = Wanted::of_keys(order, Nan::Total, None);
                calls::check::<K>(&pattern.keys(n, 2, &wanted), order, Nan::Total, None);
            }
        }
    }
}

#[test]
fn every_pattern_of_words() {
    every_pattern::<i32>();
}

#[test]
fn every_pattern_of_copied_keys() {
    every_pattern::<[u8; 7]>();
}

/// The wide keys' words each take a pattern's turn: equal high words, then equal low ones.
#[test]
fn wide_keys_that_agree_in_some_words() {
    let n = 3000;
    let numbers: Vec<u64> = Pattern::FewDistinct.keys(n, 1, &Wanted::default());
    let random: Vec<u64> = Pattern::Random.keys(n, 2, &Wanted::default());
    for varying in 0..3 {
        let keys: Vec<[u8; 24]> = (0..n)
            .map(|i| {
                let mut key = [7; 24];
                for word in 0..3 {
                    let number = if word == varying {
                        random[i]
                    } else {
                        numbers[(i * 7 + word) % n]
                    };
                    key[8 * word..8 * word + 8].copy_from_slice(&number.to_be_bytes());
                }
                key
            })
            .collect();
        for bits in [
            None,
            Some(60..130),
            Some(64..64),
            Some(128..192),
            Some(191..192),
        ] {
            calls::check(&keys, Order::Descending, Nan::Total, bits);
        }
    }
}

/// Arrays of no bytes are all equal.
#[test]
fn keys_without_bits() {
    calls::check_by(&[[0u8; 0]; 1000], Ord::cmp);
}
