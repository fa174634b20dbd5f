//! Many callers at once, callers inside rayon pools, and calls within calls.

use rayon::prelude::*;
use sweepsort::{Choice, Sorter};
use sweepsort_testkit::{Distribution, Wanted, check_index, generate};

/// Sorts pairs and argsorts random keys, and checks both.
fn use_it(sorter: &Sorter, n: usize, seed: u64) {
    let keys: Vec<u64> = generate(Distribution::And3, n, seed).unwrap();
    let (mut sorted, mut values) = (keys.clone(), (0..n as u32).collect::<Vec<_>>());
    sorter.sort_pairs(&mut sorted, &mut values).unwrap();
    check_index(&keys, &values, &Wanted::default()).unwrap();
    assert!(
        values
            .iter()
            .zip(&sorted)
            .all(|(&i, &key)| keys[i as usize] == key)
    );
    let index = sorter.argsort_u64(&keys).unwrap();
    check_index(&keys, &index, &Wanted::default()).unwrap();
    let narrow: Vec<u16> = keys.iter().map(|&key| key as u16).collect();
    let mut got = narrow.clone();
    sorter.sort(&mut got).unwrap();
    let mut expected = narrow;
    expected.sort_unstable();
    assert!(got == expected);
}

fn sorters() -> [Sorter; 3] {
    [None, Some(1), Some(3)].map(|threads| {
        let builder = Sorter::builder();
        match threads {
            None => builder,
            Some(threads) => builder.threads(threads),
        }
        .build()
        .unwrap()
    })
}

#[test]
fn one_sorter_shared_by_threads() {
    for sorter in &sorters() {
        std::thread::scope(|scope| {
            for caller in 0..4 {
                scope.spawn(move || {
                    for round in 0..4 {
                        let n = [100_000, 50, 250_000, 3000][(caller + round) % 4];
                        use_it(sorter, n, (10 * caller + round) as u64);
                    }
                });
            }
        });
    }
}

/// Calls from workers of the global pool, where one worker's wait is another call's work.
#[test]
fn inside_the_global_pool() {
    for sorter in &sorters() {
        (0..12u32).into_par_iter().with_max_len(1).for_each(|i| {
            use_it(sorter, 70_000 + 10_000 * i as usize, i.into());
        });
    }
}

#[test]
fn inside_pools_of_any_size() {
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            for sorter in &sorters() {
                (0..6u32).into_par_iter().with_max_len(1).for_each(|i| {
                    use_it(sorter, 100_000, i.into());
                });
                rayon::join(|| use_it(sorter, 150_000, 1), || use_it(sorter, 80_000, 2));
            }
            let report = sweepsort::sort(&mut vec![[5u8, 4, 3]; 300_000]).unwrap();
            assert!(report.threads <= threads, "{report:?}");
        });
    }
}

/// A category that sorts, with the same sorter, in parallel, and from within a parallel call.
#[test]
fn calls_within_calls() {
    for sorter in &sorters() {
        let mut keys: Vec<u32> = generate(Distribution::Uniform, 100_000, 1).unwrap();
        let mut expected = keys.clone();
        let category = |&key: &u32| {
            if key % 16_384 == 0 {
                use_it(sorter, 70_000, u64::from(key));
            }
            let sum: u32 = [key, 1, 2].par_iter().map(|part| part % 8).sum();
            sum as usize
        };
        let plain = |&key: &u32| (key % 8 + 3) as usize;
        sorter.partition_by(&mut keys, 11, category).unwrap();
        expected.sort_by_key(plain);
        assert!(keys == expected);
    }
}

#[test]
fn as_many_threads_as_asked_for_at_most() {
    for threads in [1, 2, 3, 7] {
        let builder = Sorter::builder().engine(Choice::Cpu).threads(threads);
        let sorter = builder.build().unwrap();
        // More than are sorted alone where nobody comes in time.
        let mut keys: Vec<u64> = generate(Distribution::Uniform, 2_000_000, 1).unwrap();
        let report = sorter.sort(&mut keys).unwrap();
        assert_eq!(report.threads, threads);
        assert!(keys.is_sorted());
        let report = sorter.sort(&mut keys[..100]).unwrap();
        assert_eq!(report.threads, 1, "a hundred keys are no work for several");
    }
}
