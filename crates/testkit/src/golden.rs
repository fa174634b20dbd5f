//! The worked examples of the teaching texts: keys and parameters, and the arrays that come of them.
//!
//! Whoever makes such arrays fills [`Made`] with them, and [`Example::check`] compares: a twin, a
//! device, a tool that prints them. An array stands as decimal numbers with blanks between them; of
//! keys, it is the keys themselves.

use std::fmt::Display;
use std::ops::Range;

/// A worked example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The algorithm's name, and its digit where there is an example for each of several.
    pub name: &'static str,
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// The keys in input order.
    pub keys: &'static [u32],
    /// What a digit is.
    pub digits: Digits,
    /// Which bits to sort by; no key has another one set.
    pub bits: Range<u32>,
    /// Keys of a block or tile; `None` where the text knows no blocks.
    pub block: Option<usize>,
    /// Arrays by pass and stage. Each pass has one at least.
    pub arrays: &'static [(usize, &'static str, &'static str)],
}

/// What the digits of an example are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// So many bits.
    Bits(u32),
    /// Places of the key written in this base.
    Base(u32),
}

/// Every example, in the order of the texts: those of one thread last.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "split",
        algorithm: "split",
        keys: &[0b100, 0b111, 0b010, 0b110, 0b011, 0b101, 0b001, 0b000],
        digits: Digits::Bits(1),
        // Three passes, for the largest key has no more bits.
        bits: 0..32,
        block: None,
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
    Example {
        name: "four-way-1",
        algorithm: "four-way",
        keys: &[0, 5, 2, 7, 1, 3, 6, 4],
        digits: Digits::Bits(1),
        bits: 0..3,
        block: None,
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
    Example {
        name: "four-way-2",
        algorithm: "four-way",
        keys: &[0, 5, 2, 7, 1, 3, 6, 4],
        digits: Digits::Bits(2),
        bits: 0..4,
        block: None,
        arrays: &[(0, "out", "0 4 5 1 2 6 7 3"), (1, "out", "0 1 2 3 4 5 6 7")],
    },
    Example {
        name: "block-histogram",
        algorithm: "block-histogram",
        keys: &[0, 3, 2, 2, 3, 2, 0, 3, 2, 1, 0, 3, 2, 0, 1, 1],
        digits: Digits::Bits(2),
        bits: 0..2,
        block: Some(4),
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
    Example {
        name: "tile-merge",
        algorithm: "tile-merge",
        keys: &[4, 7, 2, 6, 3, 5, 1, 0],
        digits: Digits::Bits(1),
        bits: 0..32,
        block: Some(4),
        arrays: &[
            (0, "tiles", "2 4 6 7 0 1 3 5"),
            (1, "reversed", "2 4 6 7 5 3 1 0"),
            (1, "step_0", "2 3 1 0 5 4 6 7"),
            (1, "step_1", "1 0 2 3 5 4 6 7"),
            (1, "step_2", "0 1 2 3 4 5 6 7"),
        ],
    },
    Example {
        name: "coalesced-1",
        algorithm: "coalesced",
        keys: &[5, 10, 7, 10],
        digits: Digits::Bits(1),
        bits: 0..4,
        block: Some(4),
        arrays: &[
            (0, "digit", "1 0 1 0"),
            (0, "before", "0 1 1 2"),
            // The second is the text's ones in all.
            (0, "sizes", "2 2"),
            (0, "d", "2 0 3 1"),
            (0, "out", "10 10 5 7"),
            (1, "out", "5 10 10 7"),
            (2, "out", "10 10 5 7"),
            (3, "out", "5 7 10 10"),
        ],
    },
    Example {
        name: "coalesced-2",
        algorithm: "coalesced",
        keys: &[5, 10, 7, 10],
        digits: Digits::Bits(2),
        bits: 0..4,
        block: Some(4),
        arrays: &[(0, "out", "5 10 10 7"), (1, "out", "5 7 10 10")],
    },
    Example {
        name: "counting-lsd-8",
        algorithm: "counting-lsd",
        keys: &[4, 1, 1, 2, 7, 5, 2],
        digits: Digits::Base(8),
        bits: 0..32,
        block: None,
        arrays: &[
            (0, "histogram", "0 2 2 0 1 1 0 1"),
            (0, "offsets", "0 0 2 4 4 5 6 6"),
            (0, "out", "1 1 2 2 4 5 7"),
            (0, "offsets_after", "0 2 4 4 5 6 6 7"),
        ],
    },
    Example {
        name: "counting-lsd-10",
        algorithm: "counting-lsd",
        keys: &[11, 131, 742, 9, 66, 122, 634, 93, 5, 873],
        digits: Digits::Base(10),
        bits: 0..32,
        block: None,
        arrays: &[
            (0, "out", "11 131 742 122 93 873 634 5 66 9"),
            (1, "out", "5 9 11 122 131 634 742 66 873 93"),
            (2, "out", "5 9 11 66 93 122 131 634 742 873"),
        ],
    },
];

/// The arrays that were made of an example, pass by pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made(Vec<Vec<(String, String)>>);

impl Made {
    /// A pass begins.
    pub fn pass(&mut self) {
        self.0.push(Vec::new());
    }

    /// A stage of this pass has made an array.
    ///
    /// # Panics
    /// Before the first pass.
    pub fn array(&mut self, stage: &str, values: impl IntoIterator<Item = impl Display>) {
        let pass = self.0.last_mut().expect("a pass has begun");
        pass.push((stage.to_owned(), written(values)));
    }

    fn get(&self, pass: usize, stage: &str) -> Option<&str> {
        let mut stages = self.0.get(pass)?.iter();
        let (_, array) = stages.find(|(name, _)| name == stage)?;
        Some(array)
    }
}

impl Example {
    /// Compares every array of the example, the number of passes, and the keys in the end with the
    /// keys in order. Returns how many arrays there were.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(
        &self,
        made: &Made,
        output: impl IntoIterator<Item = impl Display>,
    ) -> Result<usize, String> {
        let name = self.name;
        for (pass, stage, array) in self.arrays {
            let found = made.get(*pass, stage);
            if found != Some(array) {
                return Err(format!(
                    "{name}, pass {pass}: {stage} is {found:?}, and not {array}"
                ));
            }
        }
        let (passes, expected) = (made.0.len(), self.passes());
        if passes != expected {
            return Err(format!("{name}: {passes} passes, and not {expected}"));
        }
        let (output, sorted) = (written(output), self.sorted());
        if output != sorted {
            return Err(format!("{name}: it ends as {output}, and not as {sorted}"));
        }
        Ok(self.arrays.len())
    }

    /// How many passes there are.
    fn passes(&self) -> usize {
        self.arrays.last().map_or(0, |(pass, ..)| pass + 1)
    }

    /// The keys in order.
    fn sorted(&self) -> String {
        let mut keys = self.keys.to_vec();
        keys.sort();
        written(keys)
    }
}

/// Numbers with blanks between them.
fn written(values: impl IntoIterator<Item = impl Display>) -> String {
    let values = values.into_iter().map(|value| value.to_string());
    values.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(array: &str) -> Vec<u32> {
        let numbers = array.split(' ').map(str::parse);
        numbers.collect::<Result<_, _>>().expect("numbers")
    }

    /// What the table says, as if somebody had made it.
    fn made(example: &Example) -> Made {
        let mut made = Made::default();
        for (pass, stage, array) in example.arrays {
            if *pass == made.0.len() {
                made.pass();
            }
            assert_eq!(made.0.len(), pass + 1, "{}: passes in order", example.name);
            assert_eq!(made.get(*pass, stage), None, "{}: {stage}", example.name);
            made.array(stage, numbers(array));
        }
        made
    }

    #[test]
    fn examples_end_in_order() {
        for (i, example) in EXAMPLES.iter().enumerate() {
            let (name, passes) = (example.name, example.passes());
            assert!(name.starts_with(example.algorithm), "{name}");
            assert!(
                EXAMPLES[..i].iter().all(|other| other.name != name),
                "{name}"
            );
            let largest = example.keys.iter().copied().max().unwrap_or(0);
            let used = u32::BITS - largest.leading_zeros();
            assert!(
                example.bits.start == 0 && example.bits.end >= used,
                "{name}"
            );
            let sorted = example.sorted();
            let ends =
                |&(pass, _, array): &(usize, &str, &str)| pass + 1 == passes && array == sorted;
            assert!(example.arrays.iter().any(ends), "{name}");
            let count = example.check(&made(example), numbers(&sorted));
            assert_eq!(count, Ok(example.arrays.len()), "{name}");
        }
    }

    /// Whatever one thing is another, the check says so.
    #[test]
    fn differences_are_found() {
        for example in EXAMPLES {
            let made = made(example);
            let sorted = numbers(&example.sorted());
            let mut wrong = Vec::new();
            for (pass, stage, array) in example.arrays {
                let at = made.0[*pass].iter().position(|(name, _)| name == stage);
                let at = at.expect("it was made");
                let mut other = made.clone();
                other.0[*pass].remove(at);
                wrong.push(other);
                let mut other = made.clone();
                let mut values = numbers(array);
                values[0] += 1;
                other.0[*pass][at].1 = written(values);
                wrong.push(other);
                let mut other = made.clone();
                other.0[*pass][at].1 += " 0";
                wrong.push(other);
            }
            let mut other = made.clone();
            other.pass();
            wrong.push(other);
            let mut other = made.clone();
            other.0.pop();
            wrong.push(other);
            for wrong in wrong {
                assert!(example.check(&wrong, &sorted).is_err(), "{wrong:?}");
            }
            assert!(example.check(&made, &sorted[1..]).is_err());
            assert!(example.check(&made, sorted.iter().rev()).is_err());
        }
    }
}
