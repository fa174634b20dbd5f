//! The same arrays from a device: a sort by the CUDA engine's kernels, watched stage by stage.

use crate::devices::open_cuda;
use sweepsort_core::{Digit, Error, Result, Word};
use sweepsort_cuda::classic::{self, Watch};
use sweepsort_twin::{self as twin, Algorithm, Pass, Record, Stage, Values};

/// The passes seen so far.
#[derive(Default)]
struct Seen {
    passes: Vec<Pass>,
}

impl Seen {
    fn stage(&mut self, name: &str, values: Values) {
        if let Some(pass) = self.passes.last_mut() {
            pass.stages.push(Stage {
                name: name.to_owned(),
                values,
                detail: None,
            });
        }
    }
}

impl<K: Word> Watch<K> for Seen {
    fn pass(&mut self, digit: Option<Digit>) {
        self.passes.push(Pass {
            number: self.passes.len(),
            digit,
            stages: Vec::new(),
        });
    }

    fn numbers(&mut self, name: &str, values: &[u32]) {
        let values = values.iter().map(|&value| value as usize).collect();
        self.stage(name, Values::Numbers(values));
    }

    fn keys(&mut self, name: &str, keys: &[K], positions: &[u32]) {
        let keys = keys.iter().zip(positions);
        let keys = keys.map(|(key, &position)| (key.widen(), position as usize));
        self.stage(name, Values::Keys(keys.collect()));
    }
}

/// Sorts records on the first device, and returns what was seen.
pub fn run<W: Word>(
    algorithm: Algorithm,
    records: &mut Vec<Record<W, u64>>,
    options: &twin::Options,
) -> Result<Vec<Pass>> {
    let codes: Vec<W> = records.iter().map(|record| record.code).collect();
    let (seen, order) = match W::BITS {
        32 => watch::<u32>(algorithm, bytemuck::cast_slice(&codes), options)?,
        64 => watch::<u64>(algorithm, bytemuck::cast_slice(&codes), options)?,
        bits => {
            return Err(unsupported(
                format!("keys of {bits} bits"),
                "keys of 32 or 64 bits",
            ));
        }
    };
    let sorted = order.iter().map(|&position| records[position as usize]);
    *records = sorted.collect();
    Ok(seen.passes)
}

fn watch<K: classic::Key>(
    algorithm: Algorithm,
    codes: &[K],
    options: &twin::Options,
) -> Result<(Seen, Vec<u32>)> {
    let name = algorithm.name();
    let Some(on_device) = classic::Algorithm::named(name) else {
        return Err(unsupported(
            format!("explanations of {name}"),
            "engine cpu, or one of the texts' algorithms",
        ));
    };
    if options.base.is_some() || options.break_stability {
        return Err(unsupported(
            "digits of a base, and broken stability".into(),
            "engine cpu",
        ));
    }
    let chosen = classic::Options {
        bits: options.bits.clone(),
        radix_bits: options.radix_bits,
        block: options.block,
        ..classic::Options::of::<K>(on_device)
    };
    let mut seen = Seen::default();
    let engine = open_cuda()?;
    let order = engine.watch(on_device, codes, &chosen, &mut seen)?;
    Ok((seen, order))
}

fn unsupported(what: String, instead: &str) -> Error {
    Error::Unsupported {
        engine: "cuda",
        what,
        instead: instead.into(),
    }
}
