//! The engine's outputs are the standard library's, whatever the case and the number of threads.

use std::borrow::Cow;

use sweepsort_core::{Codec, Engine, Spec, Task, ValuesMut, WordsMut};
use sweepsort_cpu::{CpuEngine, Instructions};
use sweepsort_testkit::suite::{self, Outcome, Scope};

/// Sizes around which the engine changes its ways, powers of two apart: the last to be sorted by
/// insertion, the last with the fewest bins, buckets that just fit a local sort in passes, for
/// records of 10, 12, 20 and 24 bytes, and in bins, for 4, 8 and 16, and single buckets of these.
const SCOPE: Scope = Scope {
    tiles: &[
        20, 512, 21_845, 26_214, 51_040, 65_280, 101_920, 130_432, 203_040, 259_968,
    ],
    ..Scope::ORDINARY
};

/// Runs the suite, and says how many cases passed and how many the engine does not do.
fn run(threads: usize, algorithm: &'static str, scope: Scope) -> Outcome {
    run_on(CpuEngine::new(Some(threads)), threads, algorithm, scope)
}

/// As [`run`], with other instructions than the best; nothing if the machine lacks them, which
/// `cargo xtask test` names among what was skipped.
fn run_with(instructions: Instructions, scope: Scope) -> Option<Outcome> {
    let threads = 2;
    let engine = CpuEngine::new(Some(threads)).with_instructions(instructions);
    Some(run_on(engine.ok()?, threads, "hybrid", scope))
}

fn run_on(engine: CpuEngine, threads: usize, algorithm: &'static str, scope: Scope) -> Outcome {
    assert!(engine.algorithms().contains(&algorithm));
    let start = std::time::Instant::now();
    let outcome =
        suite::run(&engine, algorithm, scope).unwrap_or_else(|failure| panic!("{failure}"));
    println!(
        "{threads} threads, {algorithm}: {outcome:?} in {:.1?}",
        start.elapsed()
    );
    outcome
}

#[test]
fn one_thread() {
    let outcome = run(
        1,
        "auto",
        Scope {
            largest_power: 19,
            one_in: 2,
            ..SCOPE
        },
    );
    assert_eq!(outcome.unsupported, 0);
}

#[test]
fn two_threads() {
    let outcome = run(2, "auto", SCOPE);
    assert_eq!(outcome.unsupported, 0);
}

#[test]
fn more_threads_than_cores() {
    let outcome = run(
        4,
        "auto",
        Scope {
            largest_power: 20,
            one_in: 8,
            ..SCOPE
        },
    );
    assert_eq!(outcome.unsupported, 0);
}

#[test]
fn without_vectors() {
    let scope = Scope {
        largest_power: 18,
        one_in: 8,
        ..SCOPE
    };
    let outcome = run_with(Instructions::Portable, scope);
    assert_eq!(outcome.map(|outcome| outcome.unsupported), Some(0));
}

#[test]
fn vectors_of_256_bits() {
    let scope = Scope {
        largest_power: 18,
        one_in: 8,
        ..SCOPE
    };
    let there = Instructions::detect() >= Instructions::Avx2;
    let outcome = run_with(Instructions::Avx2, scope);
    assert_eq!(
        outcome.map(|outcome| outcome.unsupported),
        there.then_some(0)
    );
}

#[test]
fn hybrid_asked_for() {
    let outcome = run(
        2,
        "hybrid",
        Scope {
            largest_power: 18,
            one_in: 8,
            ..SCOPE
        },
    );
    assert_eq!(outcome.unsupported, 0);
}

/// Counting does keys of 8 and 16 bits alone, by all their bits, and refuses the rest.
#[test]
fn count_asked_for() {
    let outcome = run(
        2,
        "count",
        Scope {
            largest_power: 18,
            one_in: 8,
            ..SCOPE
        },
    );
    assert!(outcome.passed > 100, "{outcome:?}");
    assert!(outcome.unsupported > outcome.passed, "{outcome:?}");
}

/// More first buckets than further partitions have, with one thread and several, of keys that are spread and
/// that crowd; by any machine, since these have the smallest.
#[test]
fn many_first_buckets() {
    let n = 4_400_000;
    let mut state = 1u128;
    let mut random = || {
        state = state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15) + 1;
        state.rotate_right(64)
    };
    let spread: Vec<u128> = (0..n).map(|_| random()).collect();
    let crowded: Vec<u128> = (0..n).map(|_| random() & random() & random()).collect();
    for input in [spread, crowded] {
        let mut expected: Vec<(u128, u128)> = input.iter().copied().zip(0..).collect();
        expected.sort();
        for threads in [1, 2, 8] {
            let engine = CpuEngine::new(Some(threads));
            let engine = engine.with_instructions(Instructions::Portable).unwrap();
            let (mut keys, mut values) = (input.clone(), (0..n as u128).collect::<Vec<_>>());
            let task = Task::Pairs(WordsMut::W128(&mut keys), ValuesMut::new(&mut values));
            let spec = Spec {
                codec: Codec::UNSIGNED,
                bits: 0..128,
                stable: true,
                algorithm: Cow::Borrowed("auto"),
            };
            let report = engine.run(task, &spec).unwrap();
            let found = keys.into_iter().zip(values);
            assert!(
                found.eq(expected.iter().copied()),
                "{threads} threads: {report:?}"
            );
        }
    }
}
