//! The suite passes an engine that is right and catches one that is wrong in any one way.

use sweepsort_core::{
    Codec, Engine, Error, IndexMut, Nan, Plan, Presorted, Report, Result, Shape, Spec, Task, Word,
    Words, with_words,
};
use sweepsort_testkit::suite::{self, Scope};

/// Sorts by codes with the standard library, and can be told to do one thing wrong.
#[derive(Debug)]
struct Plain(Option<Fault>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    TiesReversed,
    OneBitTooFew,
    OneBitTooMany,
    OrderIgnored,
    NansTieNever,
    NansTieAlways,
    NansTotal,
    ZerosApart,
    LastKeyForgotten,
    KeyLost,
    ValuesForgotten,
    ValuesByteSwapped,
    UnstableValuesShifted,
    ArgsortChangesKeys,
    IndexHighHalf,
    WritesPastKeys,
    WritesBeforeValues,
    SortedClaimed,
    KeysMiscounted,
    WorkspaceUnderstated,
    Panics,
    RefusesAfterSorting,
    Fails,
}

const FAULTS: [Fault; 23] = [
    Fault::TiesReversed,
    Fault::OneBitTooFew,
    Fault::OneBitTooMany,
    Fault::OrderIgnored,
    Fault::NansTieNever,
    Fault::NansTieAlways,
    Fault::NansTotal,
    Fault::ZerosApart,
    Fault::LastKeyForgotten,
    Fault::KeyLost,
    Fault::ValuesForgotten,
    Fault::ValuesByteSwapped,
    Fault::UnstableValuesShifted,
    Fault::ArgsortChangesKeys,
    Fault::IndexHighHalf,
    Fault::WritesPastKeys,
    Fault::WritesBeforeValues,
    Fault::SortedClaimed,
    Fault::KeysMiscounted,
    Fault::WorkspaceUnderstated,
    Fault::Panics,
    Fault::RefusesAfterSorting,
    Fault::Fails,
];

impl Plain {
    fn has(&self, fault: Fault) -> bool {
        self.0 == Some(fault)
    }

    /// The positions of the words in sorted order.
    fn order<W: Word>(&self, words: &[W], spec: &Spec, records: bool) -> Vec<usize> {
        let mut codec: Codec = spec.codec;
        let mut bits = spec.bits.clone();
        if self.has(Fault::OrderIgnored) {
            codec.order = Default::default();
        }
        if self.has(Fault::NansTieNever) {
            codec.ties = false;
        }
        if self.has(Fault::NansTieAlways) && !records {
            codec.ties = codec.nan != Nan::Total;
        }
        if self.has(Fault::NansTotal) {
            codec.nan = Nan::Total;
        }
        if self.has(Fault::OneBitTooFew) && bits.len() > 1 {
            bits.end -= 1;
        }
        if self.has(Fault::OneBitTooMany) && bits.start > 0 {
            bits.start -= 1;
        }
        let coder = codec.coder::<W>();
        let code = |i: usize| {
            let zero_sign = self.has(Fault::ZerosApart) && words[i] == W::TOP;
            let code = if zero_sign {
                coder.encode_bijective(words[i])
            } else {
                coder.encode(words[i])
            };
            (code & W::mask(&bits)) >> bits.start.min(W::BITS - 1)
        };
        let mut order: Vec<usize> = (0..words.len()).collect();
        if self.has(Fault::TiesReversed) {
            order.reverse();
        }
        order.sort_by_key(|&i| code(i));
        order
    }

    fn report(&self, shape: Shape, spec: &Spec) -> Report {
        let wrong = |fault| usize::from(self.has(fault));
        Report {
            engine: "plain",
            algorithm: "auto",
            keys: shape.keys + wrong(Fault::KeysMiscounted),
            threads: 1,
            passes_possible: spec.bits.len().div_ceil(8) as u32,
            presorted: self.has(Fault::SortedClaimed).then_some(Presorted::Sorted),
            workspace_bytes: 24 * shape.keys + wrong(Fault::WorkspaceUnderstated),
            ..Report::default()
        }
    }
}

/// Sets `data` to what stands at the positions of `order`.
fn follow<T: Copy>(data: &mut [T], order: &[usize]) {
    let copy = data.to_vec();
    for (slot, &i) in data.iter_mut().zip(order) {
        *slot = copy[i];
    }
}

impl Engine for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn algorithms(&self) -> &'static [&'static str] {
        &["auto"]
    }

    fn plan(&self, shape: &Shape, _: &Spec) -> Result<Plan> {
        Ok(Plan {
            engine: "plain",
            algorithm: "auto",
            digits: Vec::new(),
            workspace_bytes: 24 * shape.keys,
            threads: 1,
        })
    }

    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        let shape = task.shape();
        assert!(
            !self.has(Fault::Panics) || shape.keys < 5,
            "five keys are too many"
        );
        if self.has(Fault::Fails) {
            return Err(Error::OutOfMemory { bytes: 7 });
        }
        match task {
            Task::Keys(words) => with_words!(WordsMut, words, |words| {
                let mut order = self.order(words, spec, false);
                if self.has(Fault::LastKeyForgotten) && order.len() > 1 {
                    let last = words.len() - 1;
                    order.retain(|&i| i != last);
                    order.push(last);
                }
                if self.has(Fault::KeyLost) && order.len() > 1 {
                    order[0] = order[1];
                }
                follow(words, &order);
                if self.has(Fault::WritesPastKeys) {
                    // SAFETY: the suite's guards lie there.
                    unsafe {
                        *words.as_mut_ptr().add(words.len()) =
                            words.first().copied().unwrap_or_default()
                    };
                }
            }),
            Task::Pairs(words, mut values) => {
                let order = with_words!(WordsMut, words, |words| {
                    let order = self.order(words, spec, true);
                    follow(words, &order);
                    order
                });
                let (n, bytes) = (values.len(), values.value_bytes());
                // SAFETY: that many bytes are the values', and initialised by the suite; the
                // fault's one byte before them is a guard's.
                let values = unsafe {
                    if self.has(Fault::WritesBeforeValues) && bytes > 0 {
                        *values.as_mut_ptr().sub(1) = 0;
                    }
                    std::slice::from_raw_parts_mut(values.as_mut_ptr(), n * bytes)
                };
                let copy = values.to_vec();
                let mut order = order;
                if self.has(Fault::UnstableValuesShifted) && !spec.stable && n > 0 {
                    order.rotate_left(1);
                }
                if self.has(Fault::ValuesForgotten) {
                    order.sort();
                }
                if bytes > 0 {
                    for (slot, i) in values.chunks_mut(bytes).zip(order) {
                        slot.copy_from_slice(&copy[i * bytes..][..bytes]);
                        if self.has(Fault::ValuesByteSwapped) && bytes == 7 {
                            slot.swap(5, 6);
                        }
                    }
                }
                if self.has(Fault::RefusesAfterSorting) {
                    return Err(Error::Unsupported {
                        engine: "plain",
                        what: "pairs".into(),
                        instead: "keys".into(),
                    });
                }
            }
            Task::Argsort(words, index) => {
                let order = with_words!(Words, words, |words| self.order(words, spec, true));
                if self.has(Fault::ArgsortChangesKeys)
                    && let Words::W32(words) = words
                    && !words.is_empty()
                {
                    // SAFETY: the suite's buffer is writable; this is the fault to be caught.
                    unsafe { *words.as_ptr().cast_mut() ^= 1 };
                }
                match index {
                    IndexMut::U32(index) => {
                        index
                            .iter_mut()
                            .zip(order)
                            .for_each(|(slot, i)| *slot = i as u32);
                    }
                    IndexMut::U64(index) => {
                        let high = u64::from(self.has(Fault::IndexHighHalf)) << 32;
                        index
                            .iter_mut()
                            .zip(order)
                            .for_each(|(slot, i)| *slot = i as u64 | high);
                    }
                }
            }
            _ => unreachable!("the suite knows three tasks"),
        }
        Ok(self.report(shape, spec))
    }
}

#[test]
fn a_right_engine_passes() {
    let outcome = suite::run(
        &Plain(None),
        "auto",
        Scope {
            largest_power: 16,
            ..Scope::SMALL
        },
    );
    let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.passed > 4000, "{outcome:?}");
    assert_eq!(outcome.unsupported, 0);
}

#[test]
fn every_fault_is_caught() {
    // Panics are reported as failures of their case; their own messages would clutter this test's.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let scope = Scope {
        largest_power: 10,
        ..Scope::SMALL
    };
    let failures = FAULTS.map(|fault| (fault, suite::run(&Plain(Some(fault)), "auto", scope)));
    std::panic::set_hook(hook);
    for (fault, result) in failures {
        match result {
            Ok(outcome) => panic!("{fault:?} was not caught: {outcome:?}"),
            Err(message) => {
                println!("{fault:?}: {message}");
                assert!(message.contains("n="), "{message}");
            }
        }
    }
}

/// The message names the case, the place, what was found and what was expected.
#[test]
fn a_failure_is_told_exactly() {
    let message = suite::run(&Plain(Some(Fault::OrderIgnored)), "auto", Scope::SMALL).unwrap_err();
    for part in [
        "plain auto: ",
        "descending",
        " bits ",
        "n=",
        "key ",
        "expected",
    ] {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

/// What the ordinary tests and an engine's record of a run rely on.
#[test]
fn the_table_has_everything() {
    let inputs: Vec<_> = suite::inputs(Scope::ORDINARY)
        .map(|(input, _)| input)
        .collect();
    for &pattern in sweepsort_testkit::Pattern::ALL {
        let with = |input: &&suite::Input| {
            input.arrangement == suite::Arrangement::Pattern(pattern) && input.n > 1 << 13
        };
        assert!(inputs.iter().filter(with).count() > 5, "{pattern}");
    }
    for n in sweepsort_testkit::sizes(22, &[]) {
        assert!(inputs.iter().any(|input| input.n == n), "{n}");
    }
    for &key in suite::KeyType::ALL {
        assert!(
            inputs
                .iter()
                .any(|input| input.key == key && input.n > 1 << 16),
            "{key:?}"
        );
        assert!(
            inputs
                .iter()
                .any(|input| input.key == key && input.bits.is_empty()),
            "{key:?}"
        );
    }
}
