//! The worked examples of the teaching texts, from the device.

use std::collections::BTreeMap;

use sweepsort_core::Digit;
use sweepsort_cuda::CudaEngine;
use sweepsort_cuda::classic::{Algorithm, Options, Watch};

/// An example: keys and parameters, and the arrays that must come of them.
pub struct Golden {
    pub name: &'static str,
    algorithm: Algorithm,
    keys: &'static [u32],
    radix_bits: u32,
    block: usize,
    end: u32,
    /// Pass, stage, and its array as the text has it.
    arrays: &'static [(usize, &'static str, &'static str)],
}

pub const CASES: &[Golden] = &[
    Golden {
        name: "split",
        algorithm: Algorithm::Split,
        keys: &[0b100, 0b111, 0b010, 0b110, 0b011, 0b101, 0b001, 0b000],
        radix_bits: 1,
        block: 256,
        end: 32,
        arrays: &[
            (0, "b", "0 1 0 0 1 1 1 0"),
            (0, "e", "1 0 1 1 0 0 0 1"),
            (0, "f", "0 1 1 2 3 3 3 3"),
            (0, "totalFalses", "4"),
            (0, "t", "4 4 5 5 5 6 7 8"),
            (0, "d", "0 4 1 2 5 6 7 3"),
            (0, "out", "4 2 6 0 7 3 5 1"),
            (1, "out", "4 0 5 1 2 6 7 3"),
            (2, "out", "0 1 2 3 4 5 6 7"),
        ],
    },
    Golden {
        name: "four-way-1",
        algorithm: Algorithm::FourWay,
        keys: &[0, 5, 2, 7, 1, 3, 6, 4],
        radix_bits: 1,
        block: 256,
        end: 3,
        arrays: &[
            (0, "compact_0", "1 0 1 0 0 0 1 1"),
            (0, "scan_0", "0 1 1 2 2 2 2 3 4"),
            (0, "compact_1", "0 1 0 1 1 1 0 0"),
            (0, "scan_1", "0 0 1 1 2 3 4 4 4"),
            (0, "out", "0 2 6 4 5 7 1 3"),
            (1, "out", "0 4 5 1 2 6 7 3"),
            (2, "out", "0 1 2 3 4 5 6 7"),
        ],
    },
    Golden {
        name: "four-way-2",
        algorithm: Algorithm::FourWay,
        keys: &[0, 5, 2, 7, 1, 3, 6, 4],
        radix_bits: 2,
        block: 256,
        end: 4,
        arrays: &[(0, "out", "0 4 5 1 2 6 7 3"), (1, "out", "0 1 2 3 4 5 6 7")],
    },
    Golden {
        name: "block-histogram",
        algorithm: Algorithm::BlockHistogram,
        keys: &[0, 3, 2, 2, 3, 2, 0, 3, 2, 1, 0, 3, 2, 0, 1, 1],
        radix_bits: 2,
        block: 4,
        end: 2,
        arrays: &[
            (0, "H", "1 0 2 1 1 0 1 2 1 1 1 1 1 2 1 0"),
            (0, "CT", "1 1 1 1 0 0 1 2 2 1 1 1 1 2 1 0"),
            (0, "scan", "0 1 2 3 4 4 4 5 7 9 10 11 12 13 15 16"),
            (0, "G", "0 4 7 12 1 4 9 13 2 4 10 15 3 5 11 16"),
            (0, "sorted", "0 2 2 3 0 2 3 3 0 1 2 3 0 1 1 2"),
            (0, "L", "0 1 1 3 0 1 1 2 0 1 2 3 0 1 3 4"),
            (0, "d", "0 7 8 12 1 9 13 14 2 4 10 15 3 5 6 11"),
            (0, "B", "0 0 0 0 1 1 1 2 2 2 2 2 3 3 3 3"),
        ],
    },
    Golden {
        name: "tile-merge",
        algorithm: Algorithm::TileMerge,
        keys: &[4, 7, 2, 6, 3, 5, 1, 0],
        radix_bits: 1,
        block: 4,
        end: 32,
        arrays: &[
            (0, "tiles", "2 4 6 7 0 1 3 5"),
            (1, "reversed", "2 4 6 7 5 3 1 0"),
            (1, "step_0", "2 3 1 0 5 4 6 7"),
            (1, "step_1", "1 0 2 3 5 4 6 7"),
            (1, "step_2", "0 1 2 3 4 5 6 7"),
        ],
    },
    Golden {
        name: "coalesced-1",
        algorithm: Algorithm::Coalesced,
        keys: &[5, 10, 7, 10],
        radix_bits: 1,
        block: 4,
        end: 4,
        arrays: &[
            (0, "digit", "1 0 1 0"),
            (0, "before", "0 1 1 2"),
            (0, "d", "2 0 3 1"),
            (0, "out", "10 10 5 7"),
            (1, "out", "5 10 10 7"),
            (2, "out", "10 10 5 7"),
            (3, "out", "5 7 10 10"),
        ],
    },
    Golden {
        name: "coalesced-2",
        algorithm: Algorithm::Coalesced,
        keys: &[5, 10, 7, 10],
        radix_bits: 2,
        block: 4,
        end: 4,
        arrays: &[(0, "out", "5 10 10 7"), (1, "out", "5 7 10 10")],
    },
];

/// The arrays of each pass, as text.
#[derive(Default)]
struct Arrays(Vec<BTreeMap<String, String>>);

impl Arrays {
    fn note(&mut self, name: &str, values: &[u32]) {
        let text: Vec<String> = values.iter().map(u32::to_string).collect();
        if let Some(pass) = self.0.last_mut() {
            pass.insert(name.to_owned(), text.join(" "));
        }
    }
}

impl Watch<u32> for Arrays {
    fn pass(&mut self, _: Option<Digit>) {
        self.0.push(BTreeMap::new());
    }

    fn numbers(&mut self, name: &str, values: &[u32]) {
        self.note(name, values);
    }

    fn keys(&mut self, name: &str, keys: &[u32], _: &[u32]) {
        self.note(name, keys);
    }
}

impl Golden {
    /// Runs the example, and compares each array.
    pub fn run(&self) -> Result<usize, String> {
        let engine = CudaEngine::open(0).map_err(|error| error.to_string())?;
        let options = Options {
            bits: 0..self.end,
            radix_bits: self.radix_bits,
            block: self.block,
            ..Options::of::<u32>(self.algorithm)
        };
        let mut arrays = Arrays::default();
        let watched = engine.watch(self.algorithm, self.keys, &options, &mut arrays);
        watched.map_err(|error| error.to_string())?;
        for (pass, name, expected) in self.arrays {
            let found = arrays.0.get(*pass).and_then(|pass| pass.get(*name));
            if found.map(String::as_str) != Some(expected) {
                return Err(format!("pass {pass}, {name}: {found:?}, not {expected}"));
            }
        }
        Ok(self.arrays.len())
    }
}
