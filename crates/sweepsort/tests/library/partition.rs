//! `partition_by`: a stable sort by category that returns where each begins.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};

use sweepsort::Error;
use sweepsort_testkit::{Distribution, generate};

fn numbers(n: usize) -> Vec<u64> {
    generate(Distribution::Uniform, n, 11).unwrap()
}

/// Partitions, and compares with the standard library's stable sort by category.
fn check<T: Copy + Send + Sync + PartialEq + std::fmt::Debug>(
    data: &[T],
    groups: usize,
    category: impl Fn(&T) -> usize + Sync,
) {
    let case = format!(
        "{} {} in {groups} groups",
        data.len(),
        std::any::type_name::<T>()
    );
    let mut expected = data.to_vec();
    expected.sort_by_key(&category);
    let mut got = data.to_vec();
    let offsets = sweepsort::partition_by(&mut got, groups, &category).expect(&case);
    if let Some(i) = (0..data.len()).find(|&i| got[i] != expected[i]) {
        panic!(
            "{case}: element {i} is {:?}, expected {:?}",
            got[i], expected[i]
        );
    }
    assert_eq!(offsets.len(), groups + 1, "{case}");
    for (group, &offset) in offsets.iter().enumerate() {
        let start = expected.partition_point(|element| category(element) < group);
        assert_eq!(offset, start, "{case}: start of group {group}");
    }
}

#[test]
fn any_number_of_groups() {
    for groups in [
        1,
        2,
        3,
        16,
        255,
        256,
        257,
        4096,
        65_535,
        65_536,
        65_537,
        1 << 20,
    ] {
        for n in [0, 1, 2, 100, 5000, 70_001] {
            check(&numbers(n), groups, |key| (key % groups as u64) as usize);
            // Only the first and the last group have any.
            check(&numbers(n), groups, |key| {
                if key % 2 == 0 { 0 } else { groups - 1 }
            });
        }
    }
}

#[test]
fn elements_of_any_size() {
    for n in [0, 1, 1000, 70_001] {
        let numbers = numbers(n);
        let by = |number: u64| (number % 7) as usize;
        check(
            &numbers.iter().map(|&x| x as u8).collect::<Vec<_>>(),
            7,
            |x| by(u64::from(*x)),
        );
        check(
            &numbers.iter().map(|&x| [x as u8; 3]).collect::<Vec<_>>(),
            7,
            |x| by(u64::from(x[0])),
        );
        check(
            &numbers.iter().map(|&x| (x, !x)).collect::<Vec<_>>(),
            7,
            |x| by(x.0),
        );
        check(
            &numbers.iter().map(|&x| [x; 3]).collect::<Vec<_>>(),
            7,
            |x| by(x[1]),
        );
        check(
            &numbers.iter().map(|&x| [x; 40]).collect::<Vec<_>>(),
            7,
            |x| by(x[39]),
        );
        check(&vec![(); n], 3, |()| 1);
    }
}

/// Every category is 0 where nothing else is allowed, and no group holds no keys.
#[test]
fn no_groups() {
    let mut none: [u8; 0] = [];
    assert_eq!(sweepsort::partition_by(&mut none, 0, |_| 0), Ok(vec![0]));
    let mut one = [7u8];
    let error = sweepsort::partition_by(&mut one, 0, |_| 0).unwrap_err();
    assert_eq!(
        error,
        Error::Category {
            index: 0,
            category: 0,
            groups: 0
        }
    );
    assert_eq!(one, [7]);
}

/// The first key whose category is out of range is named, and nothing has moved.
#[test]
fn categories_out_of_range() {
    for n in [10, 5000, 200_000] {
        let before = numbers(n);
        for (bad, category, groups) in [
            (0, 4, 4),
            (n / 2, 4, 4),
            (n - 1, 260, 256),
            (n / 3, usize::MAX, 65_537),
        ] {
            let target = before[bad];
            let mut keys = before.clone();
            // The last key is out of range as well, and not the first to be.
            let last = before[n - 1];
            let error = sweepsort::partition_by(&mut keys, groups, |&key| {
                if key == target || key == last {
                    category
                } else {
                    (key % 4) as usize % groups
                }
            });
            assert_eq!(
                error,
                Err(Error::Category {
                    index: bad,
                    category,
                    groups
                }),
                "{n}"
            );
            assert!(keys == before, "{n}: keys moved");
        }
    }
}

#[test]
fn each_key_is_asked_about_once() {
    for n in [5, 1000, 200_000] {
        let asked: Vec<AtomicU8> = (0..n).map(|_| AtomicU8::new(0)).collect();
        let mut keys: Vec<u32> = (0..n as u32).rev().collect();
        sweepsort::partition_by(&mut keys, 9, |&key| {
            asked[key as usize].fetch_add(1, Ordering::Relaxed);
            key as usize % 9
        })
        .unwrap();
        assert!(
            asked.iter().all(|count| count.load(Ordering::Relaxed) == 1),
            "{n}"
        );
    }
}

#[test]
fn a_category_that_panics_leaves_the_keys() {
    for n in [5, 1000, 200_000] {
        let before = numbers(n);
        let mut keys = before.clone();
        let target = before[n / 2];
        let panic = catch_unwind(AssertUnwindSafe(|| {
            sweepsort::partition_by(&mut keys, 16, |&key| {
                assert!(key != target, "this one");
                (key % 16) as usize
            })
        }));
        assert!(panic.is_err(), "{n}");
        assert!(keys == before, "{n}: keys moved");
        // The library works on.
        check(&before, 16, |key| (key % 16) as usize);
    }
}

/// A category that answers differently each time can do no harm: a permutation comes out.
#[test]
fn a_category_that_changes_its_mind() {
    let count = AtomicU8::new(0);
    let mut keys = numbers(100_000);
    let mut expected = keys.clone();
    let offsets = sweepsort::partition_by(&mut keys, 200, |_| {
        usize::from(count.fetch_add(1, Ordering::Relaxed)) % 200
    })
    .unwrap();
    assert_eq!((offsets[0], offsets[200]), (0, 100_000));
    assert!(offsets.is_sorted());
    keys.sort_unstable();
    expected.sort_unstable();
    assert!(keys == expected);
}
