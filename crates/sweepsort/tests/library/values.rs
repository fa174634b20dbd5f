//! Values of every size follow their keys, stable and unstable, whatever the keys' width.

use std::fmt::Debug;

use sweepsort_testkit::{Distribution, Sample, Wanted, generate, oracle};

/// Sorts values made from the keys' positions with the keys.
fn follow<K: Sample, V: Copy + Send + Sync + PartialEq + Debug>(value: impl Fn(usize) -> V) {
    let case = format!(
        "{} {}",
        std::any::type_name::<K>(),
        std::any::type_name::<V>()
    );
    for n in [0usize, 1, 2, 33, 1000, 70_001] {
        let keys: Vec<K> = generate(Distribution::And4, n, 3).unwrap();
        let values: Vec<V> = (0..n).map(&value).collect();
        let (expected_keys, expected) = oracle::sorted_pairs(&keys, &values, &Wanted::default());

        let (mut got_keys, mut got) = (keys.clone(), values.clone());
        sweepsort::sort_pairs(&mut got_keys, &mut got).unwrap();
        assert_eq!(
            oracle::first_difference(&got_keys, &expected_keys),
            None,
            "{case} {n}"
        );
        if let Some(i) = (0..n).find(|&i| got[i] != expected[i]) {
            panic!(
                "{case} {n}: value {i} is {:?}, expected {:?}",
                got[i], expected[i]
            );
        }

        let (mut got_keys, mut got) = (keys.clone(), values);
        sweepsort::sort_pairs_unstable(&mut got_keys, &mut got).unwrap();
        assert_eq!(
            oracle::first_difference(&got_keys, &expected_keys),
            None,
            "{case} {n}"
        );
        // Under each key stand the values that belong there, in whatever order.
        for start in (0..n).filter(|&i| i == 0 || got_keys[i].natural(&got_keys[i - 1]).is_ne()) {
            let group = (start..n).take_while(|&i| got_keys[i].natural(&got_keys[start]).is_eq());
            let end = start + group.count();
            if end - start < 50 {
                let mut left = expected[start..end].to_vec();
                for value in &got[start..end] {
                    let at = left.iter().position(|other| other == value);
                    left.swap_remove(at.unwrap_or_else(|| panic!("{case} {n}: {value:?} strayed")));
                }
            }
        }
    }
}

/// A value of `N` bytes, different for different positions as far as they go.
fn bytes<const N: usize>(i: usize) -> [u8; N] {
    std::array::from_fn(|at| {
        (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (8 * (at % 8))) as u8 ^ at as u8
    })
}

macro_rules! sizes {
    ($($size:literal)*) => {
        #[test]
        fn every_size_under_u32() {
            $(follow::<u32, [u8; $size]>(bytes);)*
        }

        #[test]
        fn every_size_under_u8() {
            $(follow::<u8, [u8; $size]>(bytes);)*
        }

        #[test]
        fn every_size_under_f64() {
            $(follow::<f64, [u8; $size]>(bytes);)*
        }

        #[test]
        fn every_size_under_u128() {
            $(follow::<u128, [u8; $size]>(bytes);)*
        }

        #[test]
        fn every_size_under_copied_keys() {
            $(follow::<[u8; 6], [u8; $size]>(bytes);)*
        }
    };
}
sizes!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 24 40);

#[test]
fn under_wide_keys() {
    follow::<[u8; 20], ()>(|_| ());
    follow::<[u8; 20], u8>(|i| i as u8);
    follow::<[u8; 20], u64>(|i| i as u64);
    follow::<[u8; 33], [u8; 40]>(bytes);
}

/// Values of any `Copy` type, with padding, niches or references inside.
#[test]
fn values_of_any_type() {
    follow::<u16, ()>(|_| ());
    follow::<u16, (u8, u32)>(|i| (i as u8, i as u32));
    follow::<u32, (u64, u8)>(|i| (i as u64, i as u8));
    follow::<u64, Option<std::num::NonZeroU32>>(|i| std::num::NonZeroU32::new(i as u32));
    follow::<i32, char>(|i| char::from_u32(i as u32 % 0xd800).unwrap());
    follow::<bool, &'static str>(|i| ["pear", "fig", "plum"][i % 3]);
    follow::<f32, (u64, u128, u16)>(|i| (i as u64, !0 - i as u128, i as u16));
}

/// Aligned more strictly than any word, small enough to travel and too large to.
#[test]
fn overaligned_values() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(16))]
    struct Small(u32);
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(64))]
    struct Large(u32);
    follow::<u32, Small>(|i| Small(i as u32));
    follow::<u32, Large>(|i| Large(i as u32));
}
