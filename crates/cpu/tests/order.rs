//! Input that is nearly in order: sorted but for few keys, or made of a few runs. Outputs are the standard
//! library's, and the report says by which way they came.

use std::borrow::Cow;

use sweepsort_core::{
    Codec, Engine, IndexMut, Kind, Nan, Order, Report, Spec, Stage, Task, ValuesMut, WordsMut,
};
use sweepsort_cpu::{CpuEngine, Instructions};

/// How an input came to be sorted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// One run.
    Presorted,
    /// Few records moved.
    Mended,
    /// Runs merged.
    Merged,
    /// As any other.
    Sorted,
}
use Way::{Mended, Merged, Presorted, Sorted};

/// How pairs of 8 bytes came to be sorted. A merge goes through scratch for them all, and no more.
fn way(report: &Report) -> Way {
    let has = |stage| report.stages.iter().any(|&(it, _)| it == stage);
    match (report.presorted, has(Stage::Local)) {
        (Some(_), _) => Presorted,
        (None, false) => Mended,
        (None, true) if report.workspace_bytes == 8 * report.keys => Merged,
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
        _ if number == 0 && i % 2 == 0 => (-0.0f32).to_bits(),
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
    run(Task::Argsort(
        (&words[..]).into(),
        IndexMut::U32(&mut index),
    ));
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

/// Every kind of input, whose number `i` of `n` is `number(i, n)`, is sorted in this way.
fn all_ways(name: &str, number: impl Fn(usize, usize) -> i64, wanted: Way) {
    let engines = engines();
    for n in SIZES {
        for (at, case) in cases().into_iter().enumerate() {
            let words: Vec<u32> = (0..n).map(|i| word(at, number(i, n), i)).collect();
            for (with, engine) in &engines {
                let name = format!("{name}, {n} keys of case {at}, {with}");
                assert_eq!(sort(engine, &name, &words, case), wanted, "{name}");
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

#[test]
fn few_out_of_place() {
    // Each against its like half the array away.
    all_ways(
        "swapped",
        |i, n| {
            let (half, at) = (n / 2, i % (n / 2));
            let away = i < 2 * half && mixed(at) % 500 == 0;
            (if away { (i + half) % (2 * half) } else { i }) as i64
        },
        Mended,
    );
    all_ways(
        "the ends swapped",
        |i, n| [n - 1, i, 0][usize::from(i > 0) + usize::from(i + 1 == n)] as i64,
        Mended,
    );
    let scattered = |i: usize, n: usize| {
        if mixed(i) % 300 == 0 {
            mixed(i + n) % n
        } else {
            i
        }
    };
    all_ways("scattered", |i, n| scattered(i, n) as i64, Mended);
    all_ways(
        "scattered among equal keys",
        |i, n| (scattered(i, n) / 100) as i64,
        Mended,
    );
    all_ways(
        "two side by side, far too high and far too low",
        |i, n| {
            if i % 1000 == 500 {
                (n - i % n) as i64
            } else if i % 1000 == 501 {
                (i / 2) as i64
            } else {
                i as i64
            }
        },
        Mended,
    );
    // Below a 64th of the chunk.
    all_ways(
        "some put at the end",
        |i, n| {
            if i + 30 > n {
                (mixed(i) % n) as i64
            } else {
                i as i64
            }
        },
        Mended,
    );
    all_ways(
        "high ones at the start",
        |i, n| if i < 3 { (n - i / 2) as i64 } else { i as i64 },
        Mended,
    );
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
                assert_eq!(sort(&engine, &name, &words, cases()[0]), Mended, "{name}");
            }
        }
    }
}

#[test]
fn few_runs() {
    let pipe = |i: usize, turn: usize, n: usize| if i < turn { i } else { n - i };
    all_ways("organ pipe", |i, n| pipe(i, n / 2, n) as i64, Merged);
    for part in [3, 5, 100] {
        all_ways("up and down", |i, n| pipe(i, n / part, n) as i64, Merged);
        all_ways(
            "down and up",
            |i, n| (n - pipe(i, n / part, n)) as i64,
            Merged,
        );
        all_ways(
            "up and up",
            |i, n| {
                (if i < n / part { 2 * i } else { i }) as i64
                    - (i >= n / part) as i64 * (n / part) as i64
            },
            Merged,
        );
    }
    all_ways(
        "up and up, ties",
        |i, n| (i % (n / 2 + 1) / 100) as i64,
        Merged,
    );
    all_ways("three runs", |i, n| (i % (n / 3 + 1)) as i64, Merged);
    all_ways(
        "three runs, down",
        |i, n| (n - i % (n / 3 + 1)) as i64,
        Merged,
    );
    all_ways(
        "four runs",
        |i, n| pipe(i % (n / 2 + 1), n / 5, n) as i64,
        Merged,
    );
}

/// Turning points at every distance from where the input may be cut for three threads.
#[test]
fn turns_at_seams() {
    let engine = CpuEngine::new(Some(3));
    let n = 200_000;
    for seam in [n / 12, n / 2] {
        for turn in seam - 9..seam + 9 {
            for down in [false, true] {
                let number = |i: usize| if i < turn { i } else { 2 * turn + n - i };
                let words: Vec<u32> = (0..n)
                    .map(|i| if down { 4 * n - number(i) } else { number(i) } as u32)
                    .collect();
                let name = format!("a turn at {turn}, down: {down}");
                assert_eq!(sort(&engine, &name, &words, cases()[0]), Merged, "{name}");
            }
        }
    }
}

#[test]
fn presorted() {
    all_ways("sorted", |i, _| i as i64 / 2, Presorted);
    all_ways("equal", |_, _| 0, Presorted);
    all_ways("reversed", |i, n| (n - i) as i64, Presorted);
}

/// Whatever else comes, it is sorted.
#[test]
fn little_order() {
    let any = [
        (
            "descending with ties",
            (|i, n| (n - i) as i64 / 3) as fn(usize, usize) -> i64,
        ),
        ("random", |i, n| (mixed(i) % n) as i64),
        ("half of it random", |i, n| {
            if i < n / 2 {
                i as i64
            } else {
                (mixed(i) % n) as i64
            }
        }),
        ("many runs", |i, _| (i % 1000) as i64),
        ("one of ten out of place", |i, n| {
            if i % 10 == 0 {
                (mixed(i) % n) as i64
            } else {
                i as i64
            }
        }),
        ("out of place, and a turn", |i, n| {
            if i % 2000 == 77 {
                3
            } else {
                i.min(n - i) as i64
            }
        }),
        ("saw", |i, _| (i % 3) as i64),
    ];
    let engines = engines();
    for (name, number) in any {
        for n in SIZES {
            for (at, case) in cases().into_iter().enumerate() {
                let words: Vec<u32> = (0..n).map(|i| word(at, number(i, n), i)).collect();
                for (with, engine) in &engines {
                    let name = format!("{name}, {n} keys of case {at}, {with}");
                    let way = sort(engine, &name, &words, case);
                    assert!(way != Presorted && way != Mended, "{name}: {way:?}");
                }
            }
        }
    }
}
