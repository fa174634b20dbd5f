//! Input that is in order, or nearly so: sorted but for few keys. Outputs are the standard library's; the
//! report says by which way they came.

use std::borrow::Cow;

use sweepsort_core::{
    Codec, Engine, IndexMut, Kind, Nan, Order, Report, Shape, Spec, Stage, Task, ValuesMut, Width,
    WordsMut,
};
use sweepsort_cpu::{CpuEngine, Instructions};

/// How an input came to be sorted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// One run.
    Presorted,
    /// Few records moved.
    Mended,
    /// As any other.
    Sorted,
}
use Way::{Mended, Presorted, Sorted};

/// How an input came to be sorted.
fn way(report: &Report) -> Way {
    let passes = report.stages.iter().any(|&(it, _)| it == Stage::Local);
    match (report.presorted, passes) {
        (Some(_), _) => Presorted,
        (None, false) => Mended,
        (None, true) => Sorted,
    }
}

/// Like `Spec`'s codecs, with how keys compare.
type Case = (Codec, fn(u32) -> i64);

fn cases() -> [Case; 3] {
    let records = |kind, nan| Codec::for_records(kind, Order::Ascending, nan);
    let float = Kind::Float { mantissa: 23 };
    [
        (Codec::UNSIGNED, |key| i64::from(key)),
        (records(Kind::Signed, Nan::Total), |key| {
            i64::from(key as i32)
        }),
        // Both zeros tie.
        (records(float, Nan::Last), |key| f32::from_bits(key) as i64),
    ]
}

/// A word that `case` takes for the number.
fn word(case: usize, number: i64, i: usize) -> u32 {
    match case {
        0 => number as u32,
        1 => (number - 70_000) as i32 as u32,
        _ if number == 0 && i.is_multiple_of(2) => (-0.0f32).to_bits(),
        _ => (number as f32).to_bits(),
    }
}

fn engines() -> Vec<(String, CpuEngine)> {
    let all = [
        (1, Instructions::Avx512),
        (3, Instructions::Avx512),
        (3, Instructions::Avx2),
        (1, Instructions::Portable),
        (3, Instructions::Portable),
    ];
    let engine = |(threads, instructions)| {
        let engine = CpuEngine::new(Some(threads))
            .with_instructions(instructions)
            .ok()?;
        Some((format!("{threads} threads, {instructions:?}"), engine))
    };
    all.into_iter().filter_map(engine).collect()
}

/// Sorts keys, pairs of several widths and an index, and says how the pairs came to be sorted.
fn sort(engine: &CpuEngine, name: &str, words: &[u32], (codec, number): Case) -> Way {
    let n = words.len();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&i| number(words[i as usize]));
    let spec = Spec {
        codec,
        bits: 0..32,
        stable: true,
        algorithm: Cow::Borrowed("auto"),
    };
    let run = |task: Task<'_>| engine.run(task, &spec).unwrap();
    let expected: Vec<u32> = order.iter().map(|&i| words[i as usize]).collect();

    let (mut keys, mut values) = (words.to_vec(), (0..n as u32).collect::<Vec<_>>());
    let report = run(Task::Pairs(
        WordsMut::W32(&mut keys),
        ValuesMut::new(&mut values),
    ));
    assert!(keys == expected && values == order, "{name}: pairs");

    let mut odd: Vec<[u8; 3]> = (0..n)
        .map(|i| [i as u8, (i >> 8) as u8, (i >> 16) as u8])
        .collect();
    keys.copy_from_slice(words);
    run(Task::Pairs(
        WordsMut::W32(&mut keys),
        ValuesMut::new(&mut odd),
    ));
    let same = odd
        .iter()
        .zip(&order)
        .all(|(odd, i)| i.to_le_bytes()[..3] == odd[..]);
    assert!(keys == expected && same, "{name}: pairs of 7 bytes");

    let mut index = vec![0u32; n];
    run(Task::Argsort(words.into(), IndexMut::U32(&mut index)));
    assert!(index == order, "{name}: index");

    if !codec.ties {
        keys.copy_from_slice(words);
        run(Task::Keys(WordsMut::W32(&mut keys)));
        assert!(keys == expected, "{name}: keys");
    }
    way(&report)
}

/// Sizes: the least that is looked at closely; around those from which several threads share the work;
/// and of several chunks a worker.
const SIZES: [usize; 5] = [4096, 65_535, 65_536, 65_537, 200_003];

/// Every kind of input, whose number `i` of `n` is `number(i, n)`, is sorted, in one of these ways.
fn all_ways(name: &str, number: impl Fn(usize, usize) -> i64, wanted: &[Way]) {
    let engines = engines();
    for n in SIZES {
        for (at, case) in cases().into_iter().enumerate() {
            let words: Vec<u32> = (0..n).map(|i| word(at, number(i, n), i)).collect();
            for (with, engine) in &engines {
                let name = format!("{name}, {n} keys of case {at}, {with}");
                let way = sort(engine, &name, &words, case);
                assert!(wanted.contains(&way), "{name}: {way:?}");
            }
        }
    }
}

/// Scattered bits of `i`.
fn mixed(i: usize) -> usize {
    (i as u64 + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_right(29) as usize
}

/// Every thousandth key is another.
fn scattered(i: usize, n: usize) -> usize {
    match i % 1000 {
        700 => mixed(i) % n,
        _ => i,
    }
}

/// Clearly few, far from each other.
#[test]
fn few_out_of_place() {
    // Each against its like half the array away.
    all_ways(
        "swapped",
        |i, n| {
            let half = n / 2;
            let away = i < 2 * half && i % half % 1000 == 700;
            (if away { (i + half) % (2 * half) } else { i }) as i64
        },
        &[Mended],
    );
    all_ways(
        "the ends swapped",
        |i, n| [n - 1, i, 0][usize::from(i > 0) + usize::from(i + 1 == n)] as i64,
        &[Mended],
    );
    all_ways("scattered", |i, n| scattered(i, n) as i64, &[Mended]);
    all_ways(
        "scattered among equal keys",
        |i, n| (scattered(i, n) / 100) as i64,
        &[Mended],
    );
    all_ways(
        "two side by side, far too high and far too low",
        |i, n| match i % 1000 {
            700 => (n + i) as i64,
            701 => (i / 2) as i64,
            _ => i as i64,
        },
        &[Mended],
    );
    all_ways(
        "high ones at the start",
        |i, n| if i < 3 { (n - i / 2) as i64 } else { i as i64 },
        &[Mended],
    );
    all_ways(
        "one from the end put first, so that all others move",
        |i, n| if i == 0 { n as i64 } else { i as i64 },
        &[Mended],
    );
    all_ways(
        "some low ones put at the end",
        |i, n| if i + 8 > n { (n - i) as i64 } else { i as i64 },
        &[Mended],
    );
}

/// Whether these are few may depend on where the input is cut.
#[test]
fn some_out_of_place() {
    let ways = &[Mended, Sorted];
    for one_in in [100, 250, 300, 500] {
        all_ways(
            "swapped at random",
            |i, n| {
                let half = n / 2;
                let away = i < 2 * half && mixed(i % half).is_multiple_of(one_in);
                (if away { (i + half) % (2 * half) } else { i }) as i64
            },
            ways,
        );
        all_ways(
            "any at random",
            |i, n| match mixed(i) % one_in {
                0 => (mixed(i + n) % n / 100) as i64,
                _ => (i / 100) as i64,
            },
            ways,
        );
    }
    for tail in [5, 30, 300] {
        all_ways(
            "some put at the end",
            |i, n| match i + tail > n {
                true => (mixed(i) % n) as i64,
                false => i as i64,
            },
            ways,
        );
        all_ways(
            "some put at the end, falling",
            |i, n| match i + tail > n {
                true => (3 * n - i) as i64,
                false => i as i64,
            },
            ways,
        );
        all_ways(
            "some put first",
            |i, n| match i < tail {
                true => (mixed(i) % n) as i64,
                false => i as i64,
            },
            ways,
        );
        all_ways(
            "some put in the middle",
            |i, n| match (n / 2..n / 2 + tail).contains(&i) {
                true => (mixed(i) % n) as i64,
                false => i as i64,
            },
            ways,
        );
    }
}

/// Keys out of place side by side, at every distance from where the input may be cut for three threads.
#[test]
fn out_of_place_at_seams() {
    let engine = CpuEngine::new(Some(3));
    let n = 200_000;
    let parts = 12;
    for seam in [n / parts, n / 2] {
        for at in seam - 4..seam + 4 {
            for (name, put) in [
                ("high", &[2 * n][..]),
                ("low", &[0]),
                ("high, high", &[2 * n, 2 * n]),
                ("low, low", &[1, 0]),
                ("high, low", &[2 * n, 0]),
                ("low, high", &[0, 2 * n]),
                ("equal, low", &[at, 7]),
            ] {
                let mut words: Vec<u32> = (0..n as u32).collect();
                for (i, &key) in put.iter().enumerate() {
                    words[at + i] = key as u32;
                }
                let name = format!("{name} at {at}");
                let way = sort(&engine, &name, &words, cases()[0]);
                assert_eq!(way, Mended, "{name}");
            }
        }
    }
}

#[test]
fn presorted() {
    all_ways("sorted", |i, _| i as i64 / 2, &[Presorted]);
    all_ways("equal", |_, _| 0, &[Presorted]);
    all_ways("reversed", |i, n| (n - i) as i64, &[Presorted]);
}

/// Whatever else comes, it is sorted as any other.
#[test]
fn little_order() {
    let half = |i: usize, n: usize| i < n / 2;
    let any: [(_, &dyn Fn(usize, usize) -> i64); 13] = [
        ("descending with ties", &|i, n| (n - i) as i64 / 3),
        ("random", &|i, n| (mixed(i) % n) as i64),
        ("first half random", &|i, n| match half(i, n) {
            true => (mixed(i) % n) as i64,
            false => i as i64,
        }),
        ("second half random", &|i, n| match half(i, n) {
            true => i as i64,
            false => (mixed(i) % n) as i64,
        }),
        ("organ pipe", &|i, n| i.min(n - i) as i64),
        ("down and up", &|i, n| i.abs_diff(n / 3) as i64),
        ("two runs", &|i, n| (i % (n / 2 + 1)) as i64),
        ("two runs, down", &|i, n| (n - i % (n / 2 + 1)) as i64),
        ("many runs", &|i, _| (i % 1000) as i64),
        ("many equal, one low run", &|i, n| match half(i, n) {
            true => 9,
            false => (i > n - 200) as i64,
        }),
        ("one of ten out of place", &|i, n| match i % 10 {
            0 => (mixed(i) % n) as i64,
            _ => i as i64,
        }),
        ("out of place, and a turn", &|i, n| match i % 2000 {
            77 => 3,
            _ => i.min(n - i) as i64,
        }),
        ("saw", &|i, _| (i % 3) as i64),
    ];
    for (name, number) in any {
        all_ways(name, number, &[Sorted]);
    }
}

/// Two runs of keys alone are merged, where there are vectors, whichever way they go.
#[test]
fn two_runs_of_keys() {
    let any: [(_, &dyn Fn(usize, usize) -> usize); 5] = [
        ("organ pipe", &|i, n| i.min(n - i)),
        ("down and up", &|i, n| i.abs_diff(n / 3) / 2),
        ("up", &|i, n| i % (n / 2 + 1)),
        ("down", &|i, n| n - i % (n / 2 + 1)),
        ("to the greatest", &|i, n| {
            usize::MAX - i.abs_diff(n / 5) / 3
        }),
    ];
    for instructions in [
        Instructions::Portable,
        Instructions::Avx2,
        Instructions::Avx512,
    ] {
        for threads in [1, 3] {
            let engine = CpuEngine::new(Some(threads)).with_instructions(instructions);
            let Ok(engine) = engine else { continue };
            for (name, number) in any {
                for n in SIZES {
                    let mut keys: Vec<u64> = (0..n).map(|i| number(i, n) as u64).collect();
                    let mut expected = keys.clone();
                    expected.sort();
                    let spec = Spec {
                        codec: Codec::UNSIGNED,
                        bits: 0..64,
                        stable: true,
                        algorithm: Cow::Borrowed("auto"),
                    };
                    let task = Task::Keys(WordsMut::W64(&mut keys));
                    let report = engine.run(task, &spec).unwrap();
                    let merged = !report.stages.iter().any(|&(it, _)| it == Stage::Local);
                    let vectors = instructions > Instructions::Portable;
                    let what = format!("{name}, {n}, {threads} threads, {instructions:?}");
                    assert!(keys == expected, "{what}");
                    assert_eq!(merged, vectors, "{what}: {report:?}");
                    let plan = engine.plan(&Shape::keys(n, Width::W64), &spec).unwrap();
                    let planned = report.workspace_bytes <= plan.workspace_bytes;
                    assert!(planned, "{what}: {plan:?} {report:?}");
                }
            }
        }
    }
}
