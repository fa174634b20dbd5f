//! Tuples, `Reverse` and derived structs sort as their own `Ord` says, narrow and wide.

use crate::calls;
use std::cmp::Reverse;

use sweepsort::RadixKey;
use sweepsort_testkit::{Distribution, Sample, generate};

/// `n` numbers below `below`, as keys of another type.
fn numbers<T>(n: usize, seed: u64, below: u64, make: impl Fn(u64) -> T) -> Vec<T> {
    let random: Vec<u64> = generate(Distribution::Uniform, n, seed).unwrap();
    random
        .into_iter()
        .map(|number| make(number % below))
        .collect()
}

/// `n` keys made of `N` small numbers each, so that fields often tie.
fn keys<K: Copy, const N: usize>(n: usize, make: impl Fn([u64; N]) -> K) -> Vec<K> {
    let columns: [Vec<u64>; N] =
        std::array::from_fn(|column| numbers(n, column as u64, 5, |number| number));
    (0..n)
        .map(|i| make(std::array::from_fn(|column| columns[column][i])))
        .collect()
}

const SIZES: [usize; 4] = [0, 3, 2000, 70_001];

#[test]
fn tuples() {
    for n in SIZES {
        calls::check_by(&keys(n, |[a]| (a as u16,)), Ord::cmp);
        calls::check_by(&keys(n, |[a, b]| (a as u8, b as i8 - 2)), Ord::cmp);
        calls::check_by(
            &keys(n, |[a, b, c]| (a as i64 - 2, b == 1, c as u8)),
            Ord::cmp,
        );
        calls::check_by(
            &keys(n, |[a, b, c, d]| (a as u8, [b as u8, c as u8], (d as u32,))),
            Ord::cmp,
        );
        let eight = |[a, b, c, d, e, f, g, h]: [u64; 8]| {
            (
                a as u8,
                b as u8,
                c as i16 - 2,
                d == 0,
                e as u8,
                f as i8 - 3,
                g as u16,
                h as u32,
            )
        };
        calls::check_by(&keys(n, eight), Ord::cmp);
    }
}

#[test]
fn tuples_wider_than_words() {
    for n in SIZES {
        calls::check_by(&keys(n, |[a, b, c]| (a, b as i64 - 2, c)), Ord::cmp);
        // A field astride a border between 64-bit words, and a last word of one bit.
        calls::check_by(
            &keys(n, |[a, b, c]| (a == 1, u128::from(b) << 62, c)),
            Ord::cmp,
        );
        calls::check_by(
            &keys(n, |[a, b]| (u128::from(a) << 100 | u128::from(b), b == 0)),
            Ord::cmp,
        );
    }
}

#[test]
fn reversed_fields() {
    for n in SIZES {
        calls::check_by(&keys(n, |[a]| Reverse(a as i32 - 2)), Ord::cmp);
        calls::check_by(&keys(n, |[a, b]| (a as u8, Reverse(b as i8 - 2))), Ord::cmp);
        calls::check_by(
            &keys(n, |[a, b]| Reverse((a as u8, Reverse(b as u16)))),
            Ord::cmp,
        );
        calls::check_by(
            &keys(n, |[a, b, c]| (Reverse(a), b as i64 - 2, Reverse(c == 0))),
            Ord::cmp,
        );
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, RadixKey)]
struct Flight {
    airline: [u8; 2],
    number: u16,
    delayed: Reverse<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, RadixKey)]
struct Wide(u64, Reverse<i128>, Flight);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, RadixKey)]
struct Either<A, B> {
    first: A,
    second: B,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, RadixKey)]
struct Nothing;

fn flight([a, b, c]: [u64; 3]) -> Flight {
    Flight {
        airline: [b'A' + a as u8, b'A' + b as u8],
        number: c as u16 * 1000,
        delayed: Reverse(a == b),
    }
}

#[test]
fn derived_structs() {
    for n in SIZES {
        calls::check_by(&keys(n, flight), Ord::cmp);
        calls::check_by(
            &keys(n, |[a, b, c]| {
                Wide(a, Reverse(i128::from(b) - 2), flight([c, b, a]))
            }),
            Ord::cmp,
        );
        calls::check_by(
            &keys(n, |[a, b]| Either {
                first: a as i8 - 2,
                second: Reverse(b),
            }),
            Ord::cmp,
        );
        calls::check_by(&keys(n, |[_]| Nothing), Ord::cmp);
    }
}

/// Floats inside structs take the total order, whatever the policy.
#[test]
fn floats_inside_structs_are_in_total_order() {
    #[derive(Clone, Copy, Debug, RadixKey)]
    struct Reading {
        station: u8,
        value: f32,
    }
    let values: Vec<f32> = sweepsort_testkit::Pattern::Special.keys(5000, 1, &Default::default());
    let readings: Vec<Reading> = values
        .iter()
        .map(|&value| Reading {
            station: value.to_bits() as u8 % 3,
            value,
        })
        .collect();
    let natural =
        |a: &Reading, b: &Reading| a.station.cmp(&b.station).then(a.value.total_cmp(&b.value));
    calls::check_by(&readings, natural);
    for &nan in sweepsort::Nan::ALL {
        let sorter = sweepsort::Sorter::builder().nan(nan).build().unwrap();
        calls::all_calls(&sorter, &readings, nan.name(), natural, natural, |a, b| {
            natural(a, b).is_eq()
        });
    }
}

/// A key type written by hand: fewer bits than its fields have.
#[test]
fn keys_by_hand() {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Card {
        suit: u8,
        rank: u8,
    }
    impl RadixKey for Card {
        const BITS: u32 = 6;
        fn write(&self, out: &mut sweepsort::BitWriter) {
            out.push(u128::from(self.suit), 2);
            out.push(u128::from(self.rank), 4);
        }
        fn read(from: &mut sweepsort::BitReader) -> Self {
            let suit = from.take(2) as u8;
            Card {
                suit,
                rank: from.take(4) as u8,
            }
        }
    }
    for n in SIZES {
        let cards = numbers(n, 8, 52, |i| Card {
            suit: i as u8 / 13,
            rank: i as u8 % 13,
        });
        calls::check_by(&cards, Ord::cmp);
    }
}

/// What the testkit makes for the types here is made of more than one value.
#[test]
fn inputs_vary() {
    fn varies<K: Sample>() {
        let keys: Vec<K> = generate(Distribution::And3, 1000, 5).unwrap();
        assert!(keys.iter().any(|key| key.natural(&keys[0]).is_ne()));
    }
    varies::<[u8; 33]>();
    assert!(keys(100, flight).windows(2).any(|pair| pair[0] != pair[1]));
}
