//! Traces: the arrays of each stage of each pass, recorded when asked.

use sweepsort_core::{Digit, Word};

use crate::onesweep::Event;
use crate::scan::ScanSteps;
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
    /// What went on inside the stage, where it has steps of its own.
    pub detail: Option<Detail>,
}

/// The steps within a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A scan over the whole array: trees by block, and the scan of their sums.
    Scan(ScanSteps),
    /// Tiles sorted by themselves: each with its first index and its passes.
    Tiles(Vec<(usize, Vec<Pass>)>),
    /// A step of a merging network.
    Network(Network),
    /// Decoupled look-back: what the tiles did, one after another.
    LookBack(Vec<Event>),
}

/// One step of a merging network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// How far apart the compared elements were, guards counted.
    pub distance: usize,
    /// The indices compared, in the array of the stage before; whether the two changed places.
    pub pairs: Vec<(usize, usize, bool)>,
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
    /// How many passes began, and how many of them for a digit; counted in any case.
    began: (usize, usize),
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
            ..Trace::default()
        }
    }

    /// The passes recorded.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// The passes recorded.
    pub fn into_passes(self) -> Vec<Pass> {
        self.passes
    }

    /// How many passes there were, recorded or not, and how many of them sorted by a digit of bits.
    pub fn began(&self) -> (usize, usize) {
        self.began
    }

    /// Whether stages are recorded.
    pub fn recording(&self) -> bool {
        self.recording
    }

    /// A trace of what goes on inside a stage; it records if this one does.
    pub(crate) fn within(&self) -> Trace {
        Trace {
            recording: self.recording,
            ..Trace::default()
        }
    }

    /// A new pass begins.
    pub(crate) fn pass(&mut self, digit: Option<Digit>) {
        self.began.0 += 1;
        self.began.1 += usize::from(digit.is_some());
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

    /// What went on inside the stage that was recorded last.
    pub(crate) fn detail(&mut self, detail: impl FnOnce() -> Detail) {
        let last = self
            .passes
            .last_mut()
            .and_then(|pass| pass.stages.last_mut());
        if let Some(stage) = last {
            stage.detail = Some(detail());
        }
    }

    fn stage(&mut self, name: impl Into<String>, values: impl FnOnce() -> Values) {
        if let Some(pass) = self.passes.last_mut() {
            pass.stages.push(Stage {
                name: name.into(),
                values: values(),
                detail: None,
            });
        }
    }
}
