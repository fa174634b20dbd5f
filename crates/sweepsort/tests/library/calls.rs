//! What the library's tests share: every call on one input, compared with the oracle.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::ops::Range;

use sweepsort::{Nan, Order, RadixKey, Sorter};
use sweepsort_testkit::{Ordered, Wanted, oracle};

/// A sorter with these options.
pub fn sorter(order: Order, nan: Nan, bits: Option<Range<u32>>) -> Sorter {
    let builder = Sorter::builder().order(order).nan(nan).threads(2);
    match bits {
        Some(bits) => builder.bits(bits),
        None => builder,
    }
    .build()
    .unwrap()
}

/// Runs keys alone, pairs, unstable pairs and both kinds of argsort, and compares each with the
/// standard library's stable sort in the orders that `compare` gives: first that of keys alone,
/// then that of records. `same` says whether two keys are one and the same, bit for bit.
pub fn all_calls<K: RadixKey + Debug>(
    sorter: &Sorter,
    keys: &[K],
    case: &str,
    alone: impl Fn(&K, &K) -> Ordering,
    records: impl Fn(&K, &K) -> Ordering,
    same: impl Fn(&K, &K) -> bool,
) {
    let equal = |got: &[K], order: &[usize], call: &str| {
        for (i, &from) in order.iter().enumerate() {
            assert!(
                same(&got[i], &keys[from]),
                "{case}, {call}: key {i} is {:?}, expected {:?}",
                got[i],
                keys[from]
            );
        }
    };
    let by_key = oracle::order_by(keys, alone);
    let by_record = oracle::order_by(keys, &records);

    let mut got = keys.to_vec();
    let report = sorter.sort(&mut got).unwrap();
    assert_eq!(report.keys, keys.len(), "{case}");
    equal(&got, &by_key, "sort");

    let positions: Vec<usize> = (0..keys.len()).collect();
    let (mut got, mut values) = (keys.to_vec(), positions.clone());
    sorter.sort_pairs(&mut got, &mut values).unwrap();
    assert_eq!(values, by_record, "{case}, sort_pairs");
    equal(&got, &by_record, "sort_pairs");

    let (mut got, mut values) = (keys.to_vec(), positions);
    sorter.sort_pairs_unstable(&mut got, &mut values).unwrap();
    for (i, &from) in values.iter().enumerate() {
        assert!(
            same(&got[i], &keys[from]),
            "{case}, sort_pairs_unstable: value {i} left its key"
        );
        let tie = records(&got[i], &keys[by_record[i]]);
        assert_eq!(
            tie,
            Ordering::Equal,
            "{case}, sort_pairs_unstable: key {i} is {:?}",
            got[i]
        );
    }
    values.sort_unstable();
    assert!(
        values.into_iter().eq(0..keys.len()),
        "{case}, sort_pairs_unstable: values lost"
    );

    let index = sorter.argsort(keys).unwrap();
    assert!(
        index
            .iter()
            .map(|&i| i as usize)
            .eq(by_record.iter().copied()),
        "{case}, argsort"
    );
    let index = sorter.argsort_u64(keys).unwrap();
    assert!(
        index.iter().map(|&i| i as usize).eq(by_record),
        "{case}, argsort_u64"
    );
}

/// [`all_calls`] for a key type that the testkit knows.
pub fn check<K: Ordered>(keys: &[K], order: Order, nan: Nan, bits: Option<Range<u32>>) {
    let name = std::any::type_name::<K>();
    let case = format!("{} {name} {order} nan-{nan} bits {bits:?}", keys.len());
    let alone = Wanted::of_keys(order, nan, bits.clone());
    let records = Wanted::of_records(order, nan, bits.clone());
    all_calls(
        &sorter(order, nan, bits),
        keys,
        &case,
        |a, b| alone.compare(a, b),
        |a, b| records.compare(a, b),
        |a, b| a.natural(b).is_eq(),
    );
}

/// [`all_calls`] for any key type, in both directions, by its natural order.
pub fn check_by<K: RadixKey + Debug>(keys: &[K], natural: impl Fn(&K, &K) -> Ordering) {
    for &order in Order::ALL {
        let case = format!("{} {} {order}", keys.len(), std::any::type_name::<K>());
        let directed = |a: &K, b: &K| match order {
            Order::Ascending => natural(a, b),
            Order::Descending => natural(b, a),
        };
        let same = |a: &K, b: &K| natural(a, b).is_eq();
        all_calls(
            &sorter(order, Nan::Total, None),
            keys,
            &case,
            directed,
            directed,
            same,
        );
    }
}
