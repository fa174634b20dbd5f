//! The worked examples of the teaching texts, from the device.

use sweepsort_core::Digit;
use sweepsort_cuda::CudaEngine;
use sweepsort_cuda::classic::{Algorithm, Options, Watch};
use sweepsort_testkit::golden::{Digits, EXAMPLES, Example, Made};

/// The examples of the algorithms that a device has.
pub fn examples() -> impl Iterator<Item = (&'static Example, Algorithm)> {
    let with_algorithm = |example: &'static Example| {
        Algorithm::named(example.algorithm).map(|algorithm| (example, algorithm))
    };
    EXAMPLES.iter().filter_map(with_algorithm)
}

/// Runs an example, and compares each array.
pub fn run(example: &Example, algorithm: Algorithm) -> Result<usize, String> {
    let engine = CudaEngine::open(0).map_err(|error| error.to_string())?;
    let own = Options::of::<u32>(algorithm);
    let Digits::Bits(radix_bits) = example.digits else {
        return Err("a device's digits are bits".into());
    };
    let options = Options {
        bits: example.bits.clone(),
        radix_bits,
        block: example.block.unwrap_or(own.block),
        ..own
    };
    let mut watched = Watched(Made::default());
    let positions = engine.watch(algorithm, example.keys, &options, &mut watched);
    let positions = positions.map_err(|error| error.to_string())?;
    let output = positions.iter().map(|&at| example.keys[at as usize]);
    example.check(&watched.0, output)
}

/// The device's arrays.
struct Watched(Made);

impl Watch<u32> for Watched {
    fn pass(&mut self, _: Option<Digit>) {
        self.0.pass();
    }

    fn numbers(&mut self, name: &str, values: &[u32]) -> Option<Vec<u32>> {
        self.0.array(name, values);
        None
    }

    fn keys(&mut self, name: &str, keys: &[u32], _: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
        self.0.array(name, keys);
        None
    }

    fn inner_numbers(&mut self, name: &str, values: &[u32]) {
        self.0.array(name, values);
    }

    fn inner_keys(&mut self, name: &str, keys: &[u32], _: &[u32]) {
        self.0.array(name, keys);
    }
}
