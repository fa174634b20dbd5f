//! Any keys of any type with any options through every call of the library; the standard
//! library's stable sort must agree.
#![no_main]

use std::ops::Range;

use arbitrary::{Arbitrary, Unstructured};
use half::{bf16, f16};
use libfuzzer_sys::fuzz_target;
use sweepsort::{Error, Nan, Order, Sorter};
use sweepsort_testkit::{Ordered, Pattern, Wanted, check_index, oracle, same_multiset};

/// What to sort, and how.
#[derive(Arbitrary, Debug)]
struct Input<'a> {
    key: u8,
    descending: bool,
    nan: u8,
    bits: Option<(u8, u8)>,
    threads: u8,
    values: u8,
    /// Keys in a pattern in place of those that the bytes are: which, and how many.
    pattern: Option<(u8, u16, u8)>,
    bytes: &'a [u8],
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    match input.key % 18 {
        0 => sort::<u8>(&input),
        1 => sort::<u16>(&input),
        2 => sort::<u32>(&input),
        3 => sort::<u64>(&input),
        4 => sort::<u128>(&input),
        5 => sort::<i8>(&input),
        6 => sort::<i16>(&input),
        7 => sort::<i32>(&input),
        8 => sort::<i64>(&input),
        9 => sort::<i128>(&input),
        10 => sort::<f16>(&input),
        11 => sort::<bf16>(&input),
        12 => sort::<f32>(&input),
        13 => sort::<f64>(&input),
        14 => sort::<bool>(&input),
        15 => sort::<[u8; 3]>(&input),
        16 => sort::<[u8; 16]>(&input),
        _ => sort_wide(&input),
    }
});

/// Keys of up to 128 bits.
fn sort<K: Ordered>(input: &Input<'_>) {
    let all = u128::MAX >> (128 - K::BITS);
    let keys: Vec<K> = match input.pattern {
        Some((pattern, n, seed)) => {
            let pattern = Pattern::ALL[usize::from(pattern) % Pattern::ALL.len()];
            // Now and then enough for several threads.
            let n = if n >= 65_000 {
                70_000
            } else {
                usize::from(n) % 3000
            };
            pattern.keys(n, seed.into(), &Wanted::default())
        }
        None => input
            .bytes
            .chunks(K::BITS.div_ceil(8) as usize)
            .map(|chunk| {
                let place = chunk
                    .iter()
                    .fold(0, |place, &byte| place << 8 | u128::from(byte));
                K::at_position(place & all)
            })
            .collect(),
    };
    check(input, &keys);
}

/// Keys wider than 128 bits.
fn sort_wide(input: &Input<'_>) {
    let (keys, _) = input.bytes.as_chunks::<20>();
    check(input, keys);
}

fn check<K: Ordered>(input: &Input<'_>, keys: &[K]) {
    let order = if input.descending {
        Order::Descending
    } else {
        Order::Ascending
    };
    let nan = Nan::ALL[usize::from(input.nan) % 3];
    let builder = Sorter::builder()
        .order(order)
        .nan(nan)
        .threads(1 + usize::from(input.threads) % 3);
    let bits: Option<Range<u32>> = input.bits.map(|(start, end)| start.into()..end.into());
    let sorter = match &bits {
        Some(bits) => builder.bits(bits.clone()),
        None => builder,
    }
    .build()
    .unwrap();
    let mut sorted = keys.to_vec();
    let result = sorter.sort(&mut sorted);
    if let Some(bits) = &bits
        && (bits.start > bits.end || bits.end > K::BITS)
    {
        assert!(matches!(result, Err(Error::BitRange { .. })), "{result:?}");
        return;
    }
    result.unwrap();

    let alone = Wanted::of_keys(order, nan, bits.clone());
    assert_eq!(
        oracle::first_difference(&sorted, &oracle::sorted(keys, &alone)),
        None
    );

    let records = Wanted::of_records(order, nan, bits);
    check_index(keys, &sorter.argsort(keys).unwrap(), &records).unwrap();
    check_index(keys, &sorter.argsort_u64(keys).unwrap(), &records).unwrap();
    match input.values % 8 {
        0 => pairs(&sorter, keys, &records, |_| ()),
        1 => pairs(&sorter, keys, &records, |i| i as u8),
        2 => pairs(&sorter, keys, &records, |i| i as u16),
        3 => pairs(&sorter, keys, &records, |i| [i as u8, (i >> 8) as u8, 7]),
        4 => pairs(&sorter, keys, &records, |i| i as u32),
        5 => pairs(&sorter, keys, &records, |i| i as u64),
        6 => pairs(&sorter, keys, &records, |i| !(i as u128)),
        _ => pairs(&sorter, keys, &records, |i| [i; 5]),
    }
}

/// Stable pairs are the oracle's; unstable ones are the same keys in order.
fn pairs<K: Ordered, V: Copy + Send + Sync + PartialEq>(
    sorter: &Sorter,
    keys: &[K],
    wanted: &Wanted,
    value: impl Fn(usize) -> V,
) {
    let values: Vec<V> = (0..keys.len()).map(value).collect();
    let expected = oracle::sorted_pairs(keys, &values, wanted);
    let mut got = (keys.to_vec(), values.clone());
    sorter.sort_pairs(&mut got.0, &mut got.1).unwrap();
    assert_eq!(oracle::first_difference(&got.0, &expected.0), None);
    assert!(got.1 == expected.1, "values");
    let mut got = (keys.to_vec(), values);
    sorter.sort_pairs_unstable(&mut got.0, &mut got.1).unwrap();
    assert_eq!(sweepsort_testkit::first_disorder(&got.0, wanted), None);
    assert!(same_multiset(&got.0, keys));
}
