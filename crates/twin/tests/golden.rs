//! The worked examples of the teaching texts, array by array.

use sweepsort_twin::{Algorithm, Options, Record, Trace, Values, run};

/// Runs a twin on small keys and returns its trace and output.
fn trace(algorithm: Algorithm, keys: &[u32], options: impl Fn(&mut Options)) -> (Trace, Vec<u32>) {
    let mut records: Vec<_> = keys
        .iter()
        .zip(0..)
        .map(|(&code, payload): (_, u32)| Record { code, payload })
        .collect();
    let mut chosen = Options::of::<u32>(algorithm);
    options(&mut chosen);
    let mut trace = Trace::on();
    run(algorithm, &mut records, &chosen, &mut trace).unwrap();
    (trace, records.iter().map(|record| record.code).collect())
}

/// The array of a stage, as numbers.
fn stage(trace: &Trace, pass: usize, name: &str) -> Vec<usize> {
    let stages = &trace.passes()[pass].stages;
    let Some(stage) = stages.iter().find(|stage| stage.name == name) else {
        panic!(
            "pass {pass} has no {name} in {:?}",
            stages.iter().map(|s| &s.name).collect::<Vec<_>>()
        )
    };
    match &stage.values {
        Values::Numbers(numbers) => numbers.clone(),
        Values::Keys(keys) => keys.iter().map(|&(code, _)| code as usize).collect(),
    }
}

/// Compares stages with their expected arrays, written as in the texts.
fn expect(trace: &Trace, pass: usize, expected: &[(&str, &str)]) {
    for (name, array) in expected {
        let array: Vec<usize> = array
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        assert_eq!(stage(trace, pass, name), array, "pass {pass}, {name}");
    }
}

#[test]
fn split() {
    let keys = [0b100, 0b111, 0b010, 0b110, 0b011, 0b101, 0b001, 0b000];
    let (trace, sorted) = trace(Algorithm::Split, &keys, |_| ());
    assert_eq!(
        trace.passes().len(),
        3,
        "as many passes as the largest key has bits"
    );
    expect(
        &trace,
        0,
        &[
            ("b", "0 1 0 0 1 1 1 0"),
            ("e", "1 0 1 1 0 0 0 1"),
            ("f", "0 1 1 2 3 3 3 3"),
            ("totalFalses", "4"),
            ("t", "4 4 5 5 5 6 7 8"),
            ("d", "0 4 1 2 5 6 7 3"),
            ("out", "4 2 6 0 7 3 5 1"),
        ],
    );
    expect(&trace, 1, &[("out", "4 0 5 1 2 6 7 3")]);
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn four_way_by_one_bit() {
    let keys = [0, 5, 2, 7, 1, 3, 6, 4];
    let (trace, sorted) = trace(Algorithm::FourWay, &keys, |options| {
        (options.radix_bits, options.bits) = (1, 0..3);
    });
    expect(
        &trace,
        0,
        &[
            ("compact_0", "1 0 1 0 0 0 1 1"),
            ("scan_0", "0 1 1 2 2 2 2 3 4"),
            ("compact_1", "0 1 0 1 1 1 0 0"),
            ("scan_1", "0 0 1 1 2 3 4 4 4"),
            ("out", "0 2 6 4 5 7 1 3"),
        ],
    );
    expect(&trace, 1, &[("out", "0 4 5 1 2 6 7 3")]);
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn four_way_by_two_bits() {
    let keys = [0, 5, 2, 7, 1, 3, 6, 4];
    let (trace, sorted) = trace(Algorithm::FourWay, &keys, |options| options.bits = 0..4);
    expect(&trace, 0, &[("out", "0 4 5 1 2 6 7 3")]);
    assert_eq!(trace.passes().len(), 2);
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn block_histogram() {
    let keys = [0, 3, 2, 2, 3, 2, 0, 3, 2, 1, 0, 3, 2, 0, 1, 1];
    let (trace, sorted) = trace(Algorithm::BlockHistogram, &keys, |options| {
        (options.radix_bits, options.block, options.bits) = (2, 4, 0..2);
    });
    expect(
        &trace,
        0,
        &[
            ("H", "1 0 2 1 1 0 1 2 1 1 1 1 1 2 1 0"),
            ("CT", "1 1 1 1 0 0 1 2 2 1 1 1 1 2 1 0"),
            ("scan", "0 1 2 3 4 4 4 5 7 9 10 11 12 13 15 16"),
            ("G", "0 4 7 12 1 4 9 13 2 4 10 15 3 5 11 16"),
            ("sorted", "0 2 2 3 0 2 3 3 0 1 2 3 0 1 1 2"),
            ("L", "0 1 1 3 0 1 1 2 0 1 2 3 0 1 3 4"),
            ("d", "0 7 8 12 1 9 13 14 2 4 10 15 3 5 6 11"),
            ("B", "0 0 0 0 1 1 1 2 2 2 2 2 3 3 3 3"),
        ],
    );
    assert_eq!(sorted, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3]);
}

#[test]
fn tile_merge() {
    let keys = [4, 7, 2, 6, 3, 5, 1, 0];
    let (trace, sorted) = trace(Algorithm::TileMerge, &keys, |options| options.block = 4);
    expect(&trace, 0, &[("tiles", "2 4 6 7 0 1 3 5")]);
    expect(
        &trace,
        1,
        &[
            ("reversed", "2 4 6 7 5 3 1 0"),
            ("step_0", "2 3 1 0 5 4 6 7"),
            ("step_1", "1 0 2 3 5 4 6 7"),
            ("step_2", "0 1 2 3 4 5 6 7"),
        ],
    );
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn coalesced_by_one_bit() {
    let (trace, sorted) = trace(Algorithm::Coalesced, &[5, 10, 7, 10], |options| {
        (options.radix_bits, options.block, options.bits) = (1, 4, 0..4);
    });
    expect(
        &trace,
        0,
        &[
            ("digit", "1 0 1 0"),
            ("before", "0 1 1 2"),
            ("sizes", "2 2"),
            ("d", "2 0 3 1"),
        ],
    );
    for (pass, out) in ["10 10 5 7", "5 10 10 7", "10 10 5 7", "5 7 10 10"]
        .iter()
        .enumerate()
    {
        expect(&trace, pass, &[("out", out)]);
    }
    assert_eq!(sorted, [5, 7, 10, 10]);
}

#[test]
fn coalesced_by_two_bits() {
    let (trace, _) = trace(Algorithm::Coalesced, &[5, 10, 7, 10], |options| {
        (options.radix_bits, options.bits) = (2, 0..4);
    });
    expect(&trace, 0, &[("out", "5 10 10 7")]);
    expect(&trace, 1, &[("out", "5 7 10 10")]);
}

#[test]
fn counting_lsd_in_base_8() {
    let (trace, sorted) = trace(Algorithm::CountingLsd, &[4, 1, 1, 2, 7, 5, 2], |options| {
        options.base = Some(8);
    });
    expect(
        &trace,
        0,
        &[
            ("histogram", "0 2 2 0 1 1 0 1"),
            ("offsets", "0 0 2 4 4 5 6 6"),
            ("out", "1 1 2 2 4 5 7"),
            ("offsets_after", "0 2 4 4 5 6 6 7"),
        ],
    );
    assert_eq!(sorted, [1, 1, 2, 2, 4, 5, 7]);
}

#[test]
fn counting_lsd_in_base_10() {
    let keys = [11, 131, 742, 9, 66, 122, 634, 93, 5, 873];
    let (trace, sorted) = trace(Algorithm::CountingLsd, &keys, |options| {
        options.base = Some(10)
    });
    expect(&trace, 0, &[("out", "11 131 742 122 93 873 634 5 66 9")]);
    expect(&trace, 1, &[("out", "5 9 11 122 131 634 742 66 873 93")]);
    assert_eq!(trace.passes().len(), 3);
    assert_eq!(sorted, [5, 9, 11, 66, 93, 122, 131, 634, 742, 873]);
}
