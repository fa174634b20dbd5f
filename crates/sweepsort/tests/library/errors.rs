//! Every error that can be had: its words, and the data as it was.

use sweepsort::{Choice, Error, RadixKey, Sorter};

#[test]
fn lengths_that_differ() {
    for n in [0usize, 2, 100_000] {
        let keys: Vec<u32> = (0..n as u32).rev().collect();
        let values = vec![1u8; n + 1];
        let expected = Error::LengthMismatch {
            keys: n,
            others: n + 1,
            what: "values",
        };
        let (mut got_keys, mut got_values) = (keys.clone(), values.clone());
        let calls = [
            sweepsort::sort_pairs::<u32, u8>,
            sweepsort::sort_pairs_unstable,
        ];
        for sort in calls {
            assert_eq!(sort(&mut got_keys, &mut got_values), Err(expected.clone()));
        }
        assert_eq!((got_keys, got_values), (keys.clone(), values));
        // Values too large to travel, values of no size, wide keys: the same answer.
        let (mut large, mut empty) = (vec![[0u64; 5]; n + 1], vec![(); n + 1]);
        assert_eq!(
            sweepsort::sort_pairs(&mut keys.clone(), &mut large),
            Err(expected.clone())
        );
        assert_eq!(
            sweepsort::sort_pairs(&mut keys.clone(), &mut empty),
            Err(expected.clone())
        );
        let mut wide = vec![[0u8; 20]; n];
        assert_eq!(sweepsort::sort_pairs(&mut wide, &mut large), Err(expected));
        let sorter = Sorter::builder().build().unwrap();
        let expected = Error::LengthMismatch {
            keys: n,
            others: n + 1,
            what: "index entries",
        };
        let (mut narrow, mut long) = (vec![9u32; n + 1], vec![9u64; n + 1]);
        assert_eq!(
            sorter.argsort_into(&keys, &mut narrow),
            Err(expected.clone())
        );
        assert_eq!(sorter.argsort_u64_into(&keys, &mut long), Err(expected));
        assert!(narrow.iter().all(|&i| i == 9) && long.iter().all(|&i| i == 9));
    }
}

/// A range of bits that the key does not have, in every call.
fn bits_refused<K: RadixKey + PartialEq + std::fmt::Debug>(keys: [K; 3], start: u32, end: u32) {
    let sorter = Sorter::builder().bits(start..end).build().unwrap();
    let expected = Error::BitRange {
        start,
        end,
        bits: K::BITS,
    };
    let mut got = keys;
    assert_eq!(sorter.sort(&mut got), Err(expected.clone()));
    assert_eq!(
        sorter.sort_pairs(&mut got, &mut [1u8, 2, 3]),
        Err(expected.clone())
    );
    assert_eq!(
        sorter.sort_pairs_unstable(&mut got, &mut [[0u64; 9]; 3]),
        Err(expected.clone())
    );
    assert_eq!(sorter.argsort(&got), Err(expected.clone()));
    assert_eq!(sorter.argsort_u64(&got), Err(expected.clone()));
    assert_eq!(sorter.plan::<K>(3, 0), Err(expected.clone()));
    assert_eq!(
        sorter.sort::<K>(&mut []),
        Err(expected),
        "no keys are no excuse"
    );
    assert_eq!(got, keys);
}

#[test]
#[expect(clippy::reversed_empty_ranges)]
fn bit_ranges() {
    bits_refused([3u32, 1, 2], 0, 33);
    bits_refused([3u32, 1, 2], 40, 41);
    bits_refused([3i8, 1, 2], 5, 3);
    bits_refused([true, false, true], 0, 2);
    bits_refused([2.5f64, 1.5, 0.5], u32::MAX - 1, u32::MAX);
    bits_refused([[3u8; 20], [1; 20], [2; 20]], 0, 161);
    bits_refused([(3u64, 1u128), (1, 1), (2, 2)], 192, 193);
    let message = Error::BitRange {
        start: 0,
        end: 33,
        bits: 32,
    }
    .to_string();
    assert_eq!(
        message,
        "bits 0..33 do not lie within the key's 32 bits; use 0..32 or a part"
    );
    // Backwards, though both ends are bits of the key.
    assert!(
        Sorter::builder()
            .bits(9..4)
            .build()
            .unwrap()
            .sort(&mut [1u32])
            .is_err()
    );
}

#[test]
fn engines_that_are_not_here() {
    for device in sweepsort::devices() {
        let choice: Choice = device.engine.parse().unwrap();
        let built = Sorter::builder().engine(choice).build();
        match device.absent {
            None => assert!(built.is_ok(), "{device:?}"),
            Some(why) => {
                assert!(!why.is_empty());
                let expected = Error::EngineAbsent {
                    engine: device.engine,
                    why,
                };
                assert_eq!(built.unwrap_err(), expected);
            }
        }
    }
    assert!(Sorter::builder().engine(Choice::Auto).build().is_ok());
}

#[test]
fn algorithms_that_are_not_here() {
    let error = Sorter::builder().algorithm("bogo").build().unwrap_err();
    let Error::UnknownAlgorithm {
        engine,
        name,
        known,
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!((*engine, name.as_str()), ("cpu", "bogo"));
    assert!(error.to_string().contains("'bogo'"), "{error}");
    for name in known.split(", ") {
        let sorter = Sorter::builder().algorithm(name).build().unwrap();
        match sorter.sort(&mut [3u8, 1, 2]) {
            Ok(report) => assert!(
                name == "auto" || report.algorithm == name,
                "{name} {report:?}"
            ),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// A method that does not do a task says so, and what does it.
#[test]
fn methods_that_do_not_fit() {
    let sorter = Sorter::builder().algorithm("count").build().unwrap();
    let mut keys = [3u64, 1, 2];
    let error = sorter.sort(&mut keys).unwrap_err();
    assert!(
        matches!(error, Error::Unsupported { engine: "cpu", .. }),
        "{error:?}"
    );
    assert_eq!(keys, [3, 1, 2]);
}

#[test]
fn plans_of_what_goes_through_the_permutation() {
    let sorter = Sorter::builder().build().unwrap();
    assert!(matches!(
        sorter.plan::<[u8; 17]>(9, 0),
        Err(Error::Unsupported { .. })
    ));
    assert!(matches!(
        sorter.plan::<u8>(9, 17),
        Err(Error::Unsupported { .. })
    ));
    assert!(sorter.plan::<[u8; 16]>(9, 16).is_ok());
}

/// More keys than a 32-bit index can name. Keys of no bytes take no memory, but as many as may be.
#[test]
fn more_keys_than_an_index_of_32_bits_can_tell_apart() {
    let too_many = (1usize << 32) + 1;
    let keys = vec![[0u8; 0]; too_many];
    let sorter = Sorter::builder().build().unwrap();
    let expected = Error::TooManyKeys {
        keys: too_many,
        instead: "argsort_u64",
    };
    assert_eq!(sorter.argsort_into(&keys, &mut []), Err(expected));
}
