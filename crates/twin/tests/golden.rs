//! The worked examples of the teaching texts, array by array.

use sweepsort_testkit::golden::{Digits, EXAMPLES, Example, Made};
use sweepsort_twin::{Algorithm, Options, Record, Trace, Values, run};

/// Runs a twin on an example, and compares.
fn check(example: &Example) -> Result<usize, String> {
    let algorithm = Algorithm::named(example.algorithm).ok_or("no twin of that name")?;
    let own = Options::of::<u32>(algorithm);
    let (radix_bits, base) = match example.digits {
        Digits::Bits(bits) => (bits, None),
        Digits::Base(base) => (own.radix_bits, Some(base)),
    };
    let options = Options {
        bits: example.bits.clone(),
        radix_bits,
        base,
        block: example.block.unwrap_or(own.block),
        ..own
    };
    let mut records: Vec<Record<u32, u32>> = (example.keys.iter().zip(0..))
        .map(|(&code, payload)| Record { code, payload })
        .collect();
    let mut trace = Trace::on();
    run(algorithm, &mut records, &options, &mut trace).map_err(|error| error.to_string())?;
    let mut made = Made::default();
    for pass in trace.passes() {
        made.pass();
        for stage in &pass.stages {
            match &stage.values {
                Values::Numbers(numbers) => made.array(&stage.name, numbers),
                Values::Keys(keys) => made.array(&stage.name, keys.iter().map(|(code, _)| code)),
            }
        }
    }
    example.check(&made, records.iter().map(|record| record.code))
}

#[test]
fn the_texts_examples() {
    for example in EXAMPLES {
        check(example).unwrap_or_else(|what| panic!("{what}"));
    }
}
