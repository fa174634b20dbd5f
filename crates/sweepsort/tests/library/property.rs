//! Whatever the keys and options, the standard library's stable sort agrees.

use crate::calls;
use half::{bf16, f16};
use proptest::prelude::*;
use sweepsort::{Nan, Order};
use sweepsort_testkit::{Ordered, strategy};

/// Some keys with options for them.
fn inputs<K: Ordered>() -> impl Strategy<Value = (Vec<K>, Order, Nan, Option<std::ops::Range<u32>>)>
{
    (
        strategy::keys(4000),
        strategy::order(),
        strategy::nan(),
        strategy::bits::<K>(),
    )
}

macro_rules! properties {
    ($($name:ident $key:ty;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name((keys, order, nan, bits) in inputs::<$key>()) {
                    calls::check(&keys, order, nan, bits);
                }
            )*
        }
    };
}
properties! {
    u8_keys u8;
    u16_keys u16;
    u32_keys u32;
    u64_keys u64;
    u128_keys u128;
    i8_keys i8;
    i16_keys i16;
    i32_keys i32;
    i64_keys i64;
    i128_keys i128;
    f16_keys f16;
    bf16_keys bf16;
    f32_keys f32;
    f64_keys f64;
    bool_keys bool;
    byte_keys [u8; 5];
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The offsets and the order of any partition.
    #[test]
    fn partitions(
        keys in strategy::keys::<u64>(5000),
        groups in 1usize..2000,
        divisor in 1u64..u64::MAX,
    ) {
        let category = |key: &u64| (key / divisor) as usize % groups;
        let mut got = keys.clone();
        let offsets = sweepsort::partition_by(&mut got, groups, category).unwrap();
        let mut expected = keys;
        expected.sort_by_key(category);
        prop_assert_eq!(&got, &expected);
        for group in 0..groups {
            let members = &got[offsets[group]..offsets[group + 1]];
            prop_assert!(members.iter().all(|key| category(key) == group));
        }
    }

    /// Wide keys of random words.
    #[test]
    fn wide_keys(
        words in proptest::collection::vec((0u64..3, 0u64..3, any::<u64>()), 0..300),
        order in strategy::order(),
        (start, length) in (0u32..192, 0u32..192),
    ) {
        let keys: Vec<[u8; 24]> = words
            .iter()
            .map(|&(a, b, c)| {
                let mut key = [0; 24];
                for (bytes, word) in key.chunks_mut(8).zip([a, b, c]) {
                    bytes.copy_from_slice(&word.to_be_bytes());
                }
                key
            })
            .collect();
        let bits = start..(start + length).min(192);
        calls::check(&keys, order, Nan::Total, Some(bits));
        calls::check(&keys, order, Nan::Total, None);
    }
}
