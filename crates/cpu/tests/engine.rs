//! What the engine promises besides its outputs: memory, errors, and scratch that is kept.

use std::borrow::Cow;

use sweepsort_core::{
    Codec, Engine, Error, IndexMut, Kind, Nan, Shape, Spec, Task, ValuesMut, Width, Word, WordsMut,
};
use sweepsort_cpu::{CpuEngine, Instructions};

fn spec(width: Width) -> Spec {
    Spec {
        codec: Codec::UNSIGNED,
        bits: 0..width.bits(),
        stable: true,
        algorithm: Cow::Borrowed("auto"),
    }
}

/// Keys and values once more and 64 MiB; for an argsort 32 bytes a key, and the same 64 MiB.
#[test]
fn plans_keep_within_the_promised_memory() {
    const FIXED: usize = 64 << 20;
    for threads in [1, 2, 4, 16, 64] {
        let engine = CpuEngine::new(Some(threads));
        for width in Width::ALL {
            for n in [
                0,
                1,
                100,
                1 << 12,
                1 << 17,
                10_000_000,
                100_000_000,
                1 << 33,
            ] {
                for value_bytes in 0..=16 {
                    let shape = Shape::pairs(n, width, value_bytes);
                    let plan = engine.plan(&shape, &spec(width)).unwrap();
                    let bound = n * (width.bytes() + value_bytes) + FIXED;
                    assert!(
                        plan.workspace_bytes <= bound,
                        "{threads} threads {shape:?} {plan:?}"
                    );
                }
                for entry_bytes in [4, 8] {
                    let shape = Shape::argsort(n, width, entry_bytes);
                    let plan = engine.plan(&shape, &spec(width)).unwrap();
                    let bound = 32 * n + FIXED;
                    assert!(
                        plan.workspace_bytes <= bound,
                        "{threads} threads {shape:?} {plan:?}"
                    );
                }
            }
        }
    }
}

/// However many keys there are said to be.
#[test]
fn plans_of_absurd_sizes() {
    for threads in [1, 2, 64] {
        let engine = CpuEngine::new(Some(threads));
        for n in [usize::MAX, usize::MAX / 2, usize::MAX / 33] {
            for width in Width::ALL {
                let pairs = [0, 4, 8, 16].map(|bytes| Shape::pairs(n, width, bytes));
                for shape in pairs.into_iter().chain([Shape::argsort(n, width, 8)]) {
                    let plan = engine.plan(&shape, &spec(width)).unwrap();
                    let counted = plan.algorithm == "count";
                    let enough = plan.workspace_bytes >= n / 33 * width.bytes();
                    assert!(counted || enough, "{threads} threads {shape:?} {plan:?}");
                }
            }
        }
    }
}

/// Values of no bytes travel with nothing: keys are sorted as if alone.
#[test]
fn values_of_no_bytes_are_none() {
    for threads in [1, 2] {
        let engine = CpuEngine::new(Some(threads));
        let random: Vec<u8> = (0..100_000u32)
            .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8)
            .collect();
        let [mut alone, mut beside] = [random.clone(), random];
        let mut nothing = vec![(); beside.len()];
        let plan = engine.plan(&Shape::pairs(beside.len(), Width::W8, 0), &spec(Width::W8));
        let values = ValuesMut::new(&mut nothing);
        let tasks = [
            Task::Keys((&mut alone[..]).into()),
            Task::Pairs((&mut beside[..]).into(), values),
        ];
        let reports = tasks.map(|task| engine.run(task, &spec(Width::W8)).unwrap());
        let said = reports.map(|it| (it.algorithm, it.workspace_bytes));
        let plan = plan.unwrap();
        assert_eq!(said, [(plan.algorithm, plan.workspace_bytes); 2]);
        assert!(alone == beside && alone.is_sorted());
        let short = Task::Pairs((&mut alone[..]).into(), ValuesMut::new(&mut nothing[1..]));
        let refused = engine.run(short, &spec(Width::W8));
        assert!(
            matches!(refused, Err(Error::LengthMismatch { .. })),
            "{refused:?}"
        );
    }
}

/// Many keys alone, spread or not, whatever helps, and where vectors compress without a move to a
/// second place; nor is there one, but for keys that a sample has to show to be skewed.
#[test]
fn many_keys_are_sorted_where_they_lie() {
    let random = |i: usize| {
        (i as u64 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let cases: [(&str, &dyn Fn(usize) -> u64); 6] = [
        ("spread", &random),
        ("and of 3", &|i| random(i) & random(i + 1) & random(i + 7)),
        ("few values", &|i| random(i) >> 60 << 60),
        ("one value mostly", &|i| {
            if i % 5 == 0 { random(i) } else { 1 << 63 }
        }),
        ("crowds in front", &|i| random(i) >> (i % 4 * 12)),
        ("two crowds", &|i| random(i) >> 30 | (i as u64 & 1) << 63),
    ];
    fn check<W: Word>(threads: usize, kind: Kind, name: &str, keys: Vec<W>, sampled: bool)
    where
        for<'a> WordsMut<'a>: From<&'a mut [W]>,
    {
        let what = format!(
            "{} {name}, {kind:?} of {} bits, {threads} threads",
            keys.len(),
            W::BITS
        );
        let codec = Codec {
            kind,
            ..Codec::UNSIGNED
        };
        let spec = Spec {
            codec,
            ..spec(W::WIDTH)
        };
        let coder = codec.coder::<W>();
        let (mut sorted, mut found) = (keys.clone(), keys);
        sorted.sort_unstable_by_key(|&key| coder.encode(key));
        let report = CpuEngine::new(Some(threads)).run(Task::Keys((&mut found[..]).into()), &spec);
        assert!(found == sorted, "{what}");
        if Instructions::detect() == Instructions::Avx512 {
            let report = report.unwrap();
            let once = report.bytes_moved == 2 * size_of_val(&found[..]) as u64;
            assert!(once || sampled && name == "spread", "{what}: {report:?}");
            let own = report.workspace_bytes <= threads * (5 << 19);
            assert!(own || sampled, "{what}: {report:?}");
        }
    }
    for (kind, threads, n, sampled) in [
        (Kind::Unsigned, 1, 100_003, false),
        (Kind::Unsigned, 1, 600_001, false),
        (Kind::Unsigned, 1, 700_001, true),
        (Kind::Unsigned, 2, 66_000, false),
        (Kind::Unsigned, 2, 240_007, false),
        (Kind::Unsigned, 2, 400_009, true),
        (Kind::Signed, 1, 200_003, false),
        (Kind::Signed, 1, 700_001, true),
        (Kind::Signed, 2, 240_007, false),
        (Kind::Signed, 2, 400_009, true),
    ] {
        for (name, key) in &cases {
            let keys: Vec<u64> = (0..n).map(key).collect();
            let halves: Vec<u32> = keys.iter().map(|key| (key >> 32) as u32).collect();
            check(threads, kind, name, keys, sampled);
            check(threads, kind, name, halves, false);
        }
    }
}

/// An argsort has no second array of words, unless a bucket is partitioned again, as it is where
/// many threads have little memory each.
#[test]
fn an_argsort_takes_as_much_memory_as_it_needs() {
    for (threads, n, again) in [(2, 300_000, false), (512, 1 << 21, true)] {
        let engine = CpuEngine::new(Some(threads));
        let random = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let keys: Vec<u64> = (0..n).map(random).collect();
        let mut index = vec![0u32; n];
        let shape = Shape::argsort(n, Width::W64, 4);
        let plan = engine.plan(&shape, &spec(Width::W64)).unwrap();
        let task = Task::Argsort((&keys[..]).into(), IndexMut::U32(&mut index));
        let report = engine.run(task, &spec(Width::W64)).unwrap();
        assert!(index.is_sorted_by_key(|&i| keys[i as usize]), "{n} keys");
        let spared = plan.workspace_bytes - report.workspace_bytes;
        assert_eq!(
            spared < 8 * n,
            again,
            "{threads} threads, {spared} bytes spared"
        );
    }
}

/// The digits of a plan are neighbouring parts of the bits to be sorted by, down from the top. They
/// may end above the lowest bit, since keys that agree in all digits are few and set right one by
/// one.
#[test]
fn planned_digits_lie_within_the_bits() {
    let engine = CpuEngine::new(Some(2));
    for width in Width::ALL {
        for bits in [0..width.bits(), 3..width.bits() - 2, 4..4] {
            for n in [2, 1000, 1 << 16, 1 << 24] {
                let spec = Spec {
                    bits: bits.clone(),
                    ..spec(width)
                };
                let plan = engine.plan(&Shape::pairs(n, width, 4), &spec).unwrap();
                let mut end = bits.end;
                let mut digits = plan.digits.clone();
                digits.sort_by_key(|digit| std::cmp::Reverse(digit.shift));
                for digit in digits {
                    assert!(
                        digit.bits > 0 && digit.shift + digit.bits == end,
                        "{plan:?}"
                    );
                    end = digit.shift;
                }
                assert!(end >= bits.start, "{plan:?}");
                assert_eq!(plan.digits.is_empty(), bits.is_empty(), "{plan:?}");
            }
        }
    }
}

#[test]
fn lengths_must_agree() {
    let engine = CpuEngine::new(Some(2));
    let (mut keys, mut values, mut index) = ([3u32, 1, 2], [7u8; 2], [9u64; 4]);
    let error = engine.run(
        Task::Pairs(WordsMut::W32(&mut keys), ValuesMut::new(&mut values)),
        &spec(Width::W32),
    );
    let expected = Error::LengthMismatch {
        keys: 3,
        others: 2,
        what: "values",
    };
    assert_eq!(error, Err(expected));
    let error = engine.run(
        Task::Argsort((&keys[..]).into(), IndexMut::U64(&mut index)),
        &spec(Width::W32),
    );
    let expected = Error::LengthMismatch {
        keys: 3,
        others: 4,
        what: "index entries",
    };
    assert_eq!(error, Err(expected));
    assert_eq!((keys, index), ([3, 1, 2], [9; 4]));
}

#[test]
fn what_it_cannot_do_is_refused_untouched() {
    let engine = CpuEngine::new(Some(2));
    let (mut keys, mut values) = ([3u32, 1, 2], [[7u8; 17]; 3]);
    let wide = engine.run(
        Task::Pairs(WordsMut::W32(&mut keys), ValuesMut::new(&mut values)),
        &spec(Width::W32),
    );
    assert!(matches!(&wide, Err(Error::Unsupported { what, .. }) if what.contains("17 bytes")));
    let unknown = Spec {
        algorithm: Cow::Borrowed("bogo"),
        ..spec(Width::W32)
    };
    let error = engine
        .run(Task::Keys(WordsMut::W32(&mut keys)), &unknown)
        .unwrap_err();
    let names = engine.algorithms().join(", ");
    assert_eq!(
        error,
        Error::UnknownAlgorithm {
            engine: "cpu",
            name: "bogo".into(),
            known: names
        }
    );
    assert_eq!(keys, [3, 1, 2]);
}

/// One engine sorts inputs of all widths and sizes one after the other, in scratch that is larger
/// than needed or too small, and full of the last sort's remains.
#[test]
fn scratch_is_used_again() {
    let engine = CpuEngine::new(Some(2));
    for n in [100_000usize, 10, 300_000, 5000, 100_001] {
        let mut words: Vec<u64> = (0..n as u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        let mut narrow: Vec<u16> = words.iter().map(|&word| word as u16).collect();
        let mut wide: Vec<u128> = words.iter().map(|&word| u128::from(word) << 40).collect();
        engine
            .run(Task::Keys(WordsMut::W128(&mut wide)), &spec(Width::W128))
            .unwrap();
        engine
            .run(
                Task::Pairs(WordsMut::W16(&mut narrow), ValuesMut::new(&mut words)),
                &spec(Width::W16),
            )
            .unwrap();
        assert!(wide.is_sorted() && narrow.is_sorted());
        assert!(
            words
                .iter()
                .zip(&narrow)
                .all(|(&word, &key)| word as u16 == key)
        );
        // Stable: i itself can be had back, as the factor is odd.
        let inverse = 0xf1de_83e1_9937_733du64;
        let order: Vec<u64> = words
            .iter()
            .map(|word| word.wrapping_mul(inverse))
            .collect();
        assert!(
            order.iter().all(|&i| (i as usize) < n),
            "the factor's inverse"
        );
        assert!((1..n).all(|i| narrow[i - 1] < narrow[i] || order[i - 1] < order[i]));
    }
}

/// The policy and its ties reach the engine whole: one float input, all six answers.
#[test]
fn floats_under_every_policy() {
    let engine = CpuEngine::new(Some(1));
    let (nan, minus_nan) = (f32::NAN.to_bits(), (-f32::NAN).to_bits());
    let [zero, minus_zero, one] = [0.0f32, -0.0, 1.0].map(f32::to_bits);
    let keys = [zero, minus_nan, one, minus_zero, nan];
    for (policy, expected) in [
        (Nan::Total, [1u32, 3, 0, 2, 4]),
        (Nan::Last, [0, 3, 2, 1, 4]),
        (Nan::First, [1, 4, 0, 3, 2]),
    ] {
        let codec = Codec::for_records(
            sweepsort_core::Kind::Float { mantissa: 23 },
            Default::default(),
            policy,
        );
        let mut index = [0u32; 5];
        let task = Task::Argsort((&keys[..]).into(), IndexMut::U32(&mut index));
        engine
            .run(
                task,
                &Spec {
                    codec,
                    ..spec(Width::W32)
                },
            )
            .unwrap();
        assert_eq!(index, expected, "{policy}");
    }
}

/// Keys that are spread over even buckets, but lie in a corner of each, at both ends of each, or
/// from end to end.
#[test]
fn keys_anywhere_in_even_buckets() {
    let n = 300_000;
    let random = |i: usize| {
        (i as u64 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32)
    };
    type Key<'a> = (&'a str, &'a dyn Fn(usize) -> u64);
    let inputs: [Key<'_>; 4] = [
        ("a corner", &|i| random(i) & 0xff00_0fff_000f_ffff),
        ("the other corner", &|i| random(i) | 0x00ff_f000_fff0_0000),
        ("both ends", &|i| match i % 2 {
            0 => random(i) & 0xff00_0000_ff00_0000,
            _ => random(i) | 0x00ff_ffff_00ff_ffff,
        }),
        ("from end to end", &random),
    ];
    let engines = [
        Instructions::Portable,
        Instructions::Avx2,
        Instructions::Avx512,
    ]
    .into_iter()
    .flat_map(|instructions| [1, 3].map(|threads| (threads, instructions)))
    .filter_map(|(threads, instructions)| {
        let engine = CpuEngine::new(Some(threads)).with_instructions(instructions);
        Some((format!("{threads} threads, {instructions:?}"), engine.ok()?))
    });
    for (machine, engine) in engines {
        for (input, key) in inputs {
            let what = format!("{input}, {machine}");
            let words: Vec<u64> = (0..n).map(key).collect();
            let narrow: Vec<u32> = words.iter().map(|&word| (word >> 32) as u32).collect();
            let mut order: Vec<u32> = (0..n as u32).collect();
            order.sort_by_key(|&i| words[i as usize]);
            let expected: Vec<u64> = order.iter().map(|&i| words[i as usize]).collect();
            let run = |task: Task<'_>, width| engine.run(task, &spec(width)).unwrap();

            let (mut keys, mut values) = (words.clone(), (0..n as u64).collect::<Vec<_>>());
            run(Task::Keys((&mut keys[..]).into()), Width::W64);
            assert!(keys == expected, "{what}: keys of 64 bits");
            keys.clone_from(&words);
            let records = Task::Pairs((&mut keys[..]).into(), ValuesMut::new(&mut values));
            run(records, Width::W64);
            assert!(keys == expected, "{what}: keys of pairs of 64 bits");
            let same = values
                .iter()
                .zip(&order)
                .all(|(&value, &i)| value == u64::from(i));
            assert!(same, "{what}: payloads of 64 bits");
            let mut index = vec![0u32; n];
            run(
                Task::Argsort((&words[..]).into(), IndexMut::U32(&mut index)),
                Width::W64,
            );
            assert!(index == order, "{what}: an index");

            order.sort_unstable();
            order.sort_by_key(|&i| narrow[i as usize]);
            let expected: Vec<u32> = order.iter().map(|&i| narrow[i as usize]).collect();
            let (mut keys, mut values) = (narrow.clone(), (0..n as u32).collect::<Vec<_>>());
            run(Task::Keys((&mut keys[..]).into()), Width::W32);
            assert!(keys == expected, "{what}: keys of 32 bits");
            keys.clone_from(&narrow);
            let records = Task::Pairs((&mut keys[..]).into(), ValuesMut::new(&mut values));
            run(records, Width::W32);
            assert!(
                keys == expected && values == order,
                "{what}: pairs of 32 bits"
            );
        }
    }
}
