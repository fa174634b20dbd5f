//! Traces: the arrays of each stage of each pass, recorded when asked.

use sweepsort_core::{Digit, Word};

use crate::{Payload, Record};

/// A stage's array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Flags, digits, counts, ranks, destinations.
    Numbers(Vec<usize>),
    /// Codes of keys, each with its position in the input.
    Keys(Vec<(u128, usize)>),
}

/// A named array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name that the text gives the array.
    pub name: String,
    /// The array.
    pub values: Values,
}

/// The stages of one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The pass's number, counted from 0.
    pub number: usize,
    /// The bits of the code that the pass sorts by; `None` where it sorts by no bits of its own.
    pub digit: Option<Digit>,
    /// The arrays, in the order in which they are made.
    pub stages: Vec<Stage>,
}

/// Records the passes of a sort, or nothing.
///
/// The array of a stage is built by a closure, which a trace that records nothing never calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    recording: bool,
    passes: Vec<Pass>,
}

impl Trace {
    /// A trace that records nothing.
    pub fn off() -> Self {
        Trace::default()
    }

    /// A trace that records every stage.
    pub fn on() -> Self {
        Trace {
            recording: true,
            passes: Vec::new(),
        }
    }

    /// The passes recorded.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Whether stages are recorded.
    pub fn recording(&self) -> bool {
        self.recording
    }

    /// A new pass begins.
    pub(crate) fn pass(&mut self, digit: Option<Digit>) {
        if self.recording {
            self.passes.push(Pass {
                number: self.passes.len(),
                digit,
                stages: Vec::new(),
            });
        }
    }

    /// An array of numbers was made.
    pub(crate) fn numbers(&mut self, name: impl Into<String>, values: &[usize]) {
        self.stage(name, || Values::Numbers(values.to_vec()));
    }

    /// An array of records was made. Their payloads are recorded as their positions in the input,
    /// which is what they are where a trace is on.
    pub(crate) fn records<W: Word, P: Payload>(
        &mut self,
        name: impl Into<String>,
        records: &[Record<W, P>],
    ) {
        self.stage(name, || {
            Values::Keys(
                records
                    .iter()
                    .map(|r| (r.code.widen(), r.payload.position()))
                    .collect(),
            )
        });
    }

    fn stage(&mut self, name: impl Into<String>, values: impl FnOnce() -> Values) {
        if let Some(pass) = self.passes.last_mut() {
            pass.stages.push(Stage {
                name: name.into(),
                values: values(),
            });
        }
    }
}
