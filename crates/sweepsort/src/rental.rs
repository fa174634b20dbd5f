//! The CUDA engine that `auto` shares in a process, opened once it pays.
//!
//! Opening a device takes longer than most sorts, and nobody knows how many are to come. This is
//! the ski rental problem: each sort on the CPU notes what the device would have saved, and when
//! that exceeds what opening takes, the device is opened. So a process never spends more than twice
//! what it would have, had it known its sorts beforehand; a short one does not ask for a driver at
//! all.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sweepsort_core::{Choice, DataState, Engine, Error, Plan, Report, Result, Shape, Spec, Task};
use sweepsort_cpu::CpuEngine;

use crate::choice::{self, Decision, OPENING_S, SMALLEST, State, TOO_FEW};
use crate::devices;

/// The engine of this process.
pub(crate) static CUDA: Slot = Slot::new(devices::OPEN_CUDA);

/// Opens an engine.
pub(crate) type Open = fn() -> Result<Box<dyn Engine>>;

/// A place for an engine that is opened once at most.
#[derive(Debug)]
pub(crate) struct Slot {
    /// `None` where the build has no such engine.
    open: Option<Open>,
    /// The engine, or the reason to report where it could not be had.
    opened: OnceLock<Result<Box<dyn Engine>, String>>,
    /// The reason to report once the engine is not asked again.
    failed: OnceLock<String>,
    /// What the engine would have saved so far, in nanoseconds.
    saved_ns: AtomicU64,
}

/// The reason where the build has no such engine. (That of wgpu is not for `auto`.)
const NOT_BUILT: &str = "auto: cpu, as this build has no CUDA engine";

impl Slot {
    pub(crate) const fn new(open: Option<Open>) -> Self {
        Slot {
            open,
            opened: OnceLock::new(),
            failed: OnceLock::new(),
            saved_ns: AtomicU64::new(0),
        }
    }

    /// What is known of the engine.
    fn state(&'static self) -> State {
        match (self.open, self.failed.get(), self.opened.get()) {
            (None, ..) => State::Absent(NOT_BUILT),
            (_, Some(reason), _) | (_, None, Some(Err(reason))) => State::Absent(reason),
            (_, None, Some(Ok(_))) => State::Open,
            (_, None, None) => State::Untried,
        }
    }

    /// Opens the engine, if nobody has tried. Takes as long as opening a device.
    pub(crate) fn fill(&self) {
        if let Some(open) = self.open {
            self.opened.get_or_init(|| {
                open().map_err(|error| match error {
                    Error::EngineAbsent { why, .. } => {
                        format!("auto: cpu, because there is no CUDA device: {why}")
                    }
                    other => format!("auto: cpu, because no CUDA device opens: {other}"),
                })
            });
        }
    }

    /// Notes what the engine would save; whether this makes it worth opening. Of all calls, by
    /// however many threads, this is so for one.
    fn pays(&self, saving_s: f64) -> bool {
        let cost = (OPENING_S * 1e9) as u64;
        // No more than the cost, lest the sum overflows.
        let saving = ((saving_s * 1e9) as u64).min(cost);
        let before = self.saved_ns.fetch_add(saving, Ordering::Relaxed);
        before < cost && before + saving >= cost
    }

    /// The engine for a task, opened if this is the task to do so.
    fn decide(&'static self, shape: &Shape, spec: &Spec, threads: usize) -> Decision {
        let bits = spec.bits.len() as u32;
        let state = self.state();
        let decision = choice::decide(shape, bits, threads, state);
        let saving_s = decision.saving_s();
        if state == State::Untried && saving_s > 0.0 && self.pays(saving_s) {
            self.fill();
            return choice::decide(shape, bits, threads, self.state());
        }
        decision
    }

    /// The open engine.
    fn engine(&self) -> Option<&dyn Engine> {
        match self.opened.get() {
            Some(Ok(engine)) => Some(&**engine),
            _ => None,
        }
    }

    /// The reason to report after a failure. An engine whose device failed is not asked again: its
    /// context seldom recovers.
    fn failed(&'static self, error: &Error) -> Cow<'static, str> {
        match error {
            Error::Device { .. } => Cow::Borrowed(
                self.failed
                    .get_or_init(|| format!("auto: cpu, because {error}")),
            ),
            _ => Cow::Owned(format!("auto: cpu, because cuda did not take it: {error}")),
        }
    }
}

/// Runs a task by the engine that is expected to be the faster, and by the CPU if the other fails
/// without touching the data.
///
/// # Errors
/// The CPU engine's; and [`Error::Device`] where the data is [`DataState::Undefined`].
pub(crate) fn run(
    cpu: &CpuEngine,
    slot: &'static Slot,
    mut task: Task<'_>,
    spec: &Spec,
) -> Result<Report> {
    let shape = task.shape();
    // The shortest way for small tasks: nothing is asked, weighed or written.
    if shape.keys < SMALLEST {
        return because(Cow::Borrowed(TOO_FEW), cpu.run(task, spec));
    }
    let decision = slot.decide(&shape, spec, cpu.threads());
    let mut reason = decision.reason;
    if decision.engine == Choice::Cuda
        && let Some(engine) = slot.engine()
    {
        match engine.run(task.reborrow(), spec) {
            Ok(report) => return because(reason, Ok(report)),
            Err(error) => {
                reason = slot.failed(&error);
                if data_after(&error) == DataState::Undefined {
                    return Err(error);
                }
            }
        }
    }
    because(reason, cpu.run(task, spec))
}

/// What [`run`] would do with such a task now, nothing being opened.
///
/// # Errors
/// As [`run`].
pub(crate) fn plan(
    cpu: &CpuEngine,
    slot: &'static Slot,
    shape: &Shape,
    spec: &Spec,
) -> Result<Plan> {
    let bits = spec.bits.len() as u32;
    let decision = choice::decide(shape, bits, cpu.threads(), slot.state());
    if decision.engine == Choice::Cuda
        && let Some(engine) = slot.engine()
        && let Ok(plan) = engine.plan(shape, spec)
    {
        return Ok(plan);
    }
    cpu.plan(shape, spec)
}

fn because(reason: Cow<'static, str>, done: Result<Report>) -> Result<Report> {
    done.map(|report| Report { reason, ..report })
}

/// What an error leaves of the data.
fn data_after(error: &Error) -> DataState {
    match error {
        Error::Device { data, .. } => *data,
        _ => DataState::Untouched,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    use sweepsort_core::{Codec, IndexMut, ValuesMut, Width, WordsMut};

    use super::*;

    /// Enough keys that one thread is slower than any device.
    const MANY: usize = 1 << 20;

    thread_local! {
        /// How often this thread has opened an engine, and asked one to run.
        static OPENED: Cell<usize> = const { Cell::new(0) };
        static ASKED: Cell<usize> = const { Cell::new(0) };
    }

    fn count(counter: &'static std::thread::LocalKey<Cell<usize>>) {
        counter.set(counter.get() + 1);
    }

    /// Stands in for the CUDA engine: sorts on the CPU, or fails.
    #[derive(Debug)]
    struct Fake {
        sorts: CpuEngine,
        fails: Option<Error>,
    }

    impl Engine for Fake {
        fn name(&self) -> &'static str {
            "cuda"
        }

        fn algorithms(&self) -> &'static [&'static str] {
            &["auto"]
        }

        fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
            let plan = self.sorts.plan(shape, spec)?;
            Ok(Plan {
                engine: self.name(),
                ..plan
            })
        }

        fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
            count(&ASKED);
            if let Some(error) = &self.fails {
                if let (DataState::Undefined, Task::Keys(WordsMut::W32(keys))) =
                    (data_after(error), task)
                {
                    keys.fill(7);
                }
                return Err(error.clone());
            }
            let report = self.sorts.run(task, spec)?;
            Ok(Report {
                engine: self.name(),
                ..report
            })
        }
    }

    fn open(fails: Option<Error>) -> Result<Box<dyn Engine>> {
        count(&OPENED);
        Ok(Box::new(Fake {
            sorts: CpuEngine::new(Some(1)),
            fails,
        }))
    }

    fn works() -> Result<Box<dyn Engine>> {
        open(None)
    }

    fn absent() -> Result<Box<dyn Engine>> {
        count(&OPENED);
        Err(Error::EngineAbsent {
            engine: "cuda",
            why: "it was sold".into(),
        })
    }

    fn broken(data: DataState) -> Result<Box<dyn Engine>> {
        open(Some(Error::Device {
            engine: "cuda",
            what: "the link is down".into(),
            data,
        }))
    }

    fn slot(open: Option<Open>) -> &'static Slot {
        Box::leak(Box::new(Slot::new(open)))
    }

    fn spec() -> Spec {
        Spec {
            codec: Codec::UNSIGNED,
            bits: 0..32,
            stable: true,
            algorithm: Cow::Borrowed("auto"),
        }
    }

    fn keys(n: usize) -> Vec<u32> {
        (0..n as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect()
    }

    /// The call of which an engine is opened is the first whose savings, with those before it, reach
    /// the cost; calls that save nothing do not count.
    #[test]
    fn opened_once_at_the_right_call() {
        for log in [18, 20, 22, 24, 27, 32] {
            let (slot, shape) = (slot(Some(works)), Shape::keys(1 << log, Width::W32));
            let saving_s = choice::decide(&shape, 32, 1, State::Untried).saving_s();
            let right = (OPENING_S / saving_s).ceil().max(1.0) as usize;
            OPENED.set(0);
            for call in 1..=right + 3 {
                for little in [0, 1, SMALLEST] {
                    slot.decide(&Shape::keys(little, Width::W32), &spec(), 64);
                }
                let decision = slot.decide(&shape, &spec(), 1);
                let (opened, engine) = match call >= right {
                    true => (1, Choice::Cuda),
                    false => (0, Choice::Cpu),
                };
                assert_eq!(
                    (OPENED.get(), decision.engine),
                    (opened, engine),
                    "call {call} of 2^{log} keys, {right} is right: {decision:?}"
                );
            }
        }
    }

    #[test]
    fn opened_once_by_many_threads() {
        static OPENED: AtomicUsize = AtomicUsize::new(0);
        let slot = slot(Some(|| {
            OPENED.fetch_add(1, Ordering::Relaxed);
            works()
        }));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        slot.decide(&Shape::keys(1 << 22, Width::W32), &spec(), 1);
                    }
                });
            }
        });
        assert_eq!(OPENED.load(Ordering::Relaxed), 1);
        assert_eq!(slot.state(), State::Open);
    }

    #[test]
    fn an_absent_device_is_looked_for_once() {
        let slot = slot(Some(absent));
        let shape = Shape::keys(1 << 32, Width::W32);
        for _ in 0..3 {
            let decision = slot.decide(&shape, &spec(), 1);
            assert_eq!(
                (decision.engine, &*decision.reason, OPENED.get()),
                (
                    Choice::Cpu,
                    "auto: cpu, because there is no CUDA device: it was sold",
                    1
                )
            );
        }
    }

    #[test]
    fn a_build_without_the_engine() {
        let slot = slot(None);
        slot.fill();
        let cpu = CpuEngine::new(Some(1));
        for (n, reason) in [(100, TOO_FEW), (MANY, NOT_BUILT)] {
            let mut sorted = keys(n);
            let task = Task::Keys(sorted.as_mut_slice().into());
            let report = run(&cpu, slot, task, &spec()).unwrap();
            assert_eq!((report.engine, &*report.reason), ("cpu", reason), "{n}");
            assert!(sorted.is_sorted(), "{n}");
        }
    }

    /// Opened by somebody who asked for it, the engine is there without having paid.
    #[test]
    fn filled_is_open() {
        let (slot, cpu) = (slot(Some(works)), CpuEngine::new(Some(1)));
        assert_eq!(slot.state(), State::Untried);
        let plan = |n| plan(&cpu, slot, &Shape::keys(n, Width::W32), &spec()).unwrap();
        assert_eq!([plan(100).engine, plan(MANY).engine], ["cpu", "cpu"]);
        slot.fill();
        assert_eq!((slot.state(), OPENED.get()), (State::Open, 1));
        assert_eq!([plan(100).engine, plan(MANY).engine], ["cpu", "cuda"]);
    }

    /// Sorts, argsorts and sorts pairs by a slot's engine, one of them twice, and checks the output.
    fn outcomes(slot: &'static Slot) -> Vec<Result<Report>> {
        let cpu = CpuEngine::new(Some(1));
        let input = keys(MANY);
        let mut expected: Vec<u32> = (0..MANY as u32).collect();
        expected.sort_by_key(|&i| input[i as usize]);

        let mut reports = Vec::new();
        for _ in 0..2 {
            let mut sorted = input.clone();
            let task = Task::Keys(sorted.as_mut_slice().into());
            let outcome = run(&cpu, slot, task, &spec());
            assert_eq!(sorted.is_sorted() && sorted[0] != 7, outcome.is_ok());
            reports.push(outcome);
        }
        let (mut sorted, mut values) = (input.clone(), (0..MANY as u32).collect::<Vec<_>>());
        let task = Task::Pairs(
            sorted.as_mut_slice().into(),
            ValuesMut::new(values.as_mut_slice()),
        );
        reports.push(run(&cpu, slot, task, &spec()));
        assert!(sorted.is_sorted() && values == expected);
        let mut index = vec![0; MANY];
        let task = Task::Argsort(input.as_slice().into(), IndexMut::U32(&mut index));
        reports.push(run(&cpu, slot, task, &spec()));
        assert!(index == expected);
        reports
    }

    #[test]
    fn the_cpu_steps_in() {
        let untouched = "auto: cpu, because engine cuda failed: the link is down; the data is \
                         untouched";
        // Who opens, the engine in the end, the reason's start, how often the device is asked.
        let cases: [(Open, &str, &str, usize); 4] = [
            (works, "cuda", "auto: cuda, ", 4),
            (
                || open(Some(Error::OutOfMemory { bytes: 77 })),
                "cpu",
                "auto: cpu, because cuda did not take it: 77 bytes of scratch memory",
                4,
            ),
            (
                || {
                    open(Some(Error::Unsupported {
                        engine: "cuda",
                        what: "keys".into(),
                        instead: "cpu".into(),
                    }))
                },
                "cpu",
                "auto: cpu, because cuda did not take it: engine cuda does not support keys",
                4,
            ),
            (|| broken(DataState::Untouched), "cpu", untouched, 1),
        ];
        for (open, engine, reason, asked) in cases {
            let slot = slot(Some(open));
            slot.fill();
            ASKED.set(0);
            for outcome in outcomes(slot) {
                let report = outcome.unwrap();
                assert_eq!(report.engine, engine, "{reason}: {report:?}");
                assert!(report.reason.starts_with(reason), "{reason}: {report:?}");
            }
            assert_eq!(ASKED.get(), asked, "{reason}");
        }
    }

    /// Nobody can sort data that is partly overwritten; later sorts are the CPU's.
    #[test]
    fn overwritten_data_is_an_error() {
        let slot = slot(Some(|| broken(DataState::Undefined)));
        slot.fill();
        let outcomes = outcomes(slot);
        assert!(
            matches!(
                outcomes[0],
                Err(Error::Device {
                    data: DataState::Undefined,
                    ..
                })
            ),
            "{:?}",
            outcomes[0]
        );
        for later in &outcomes[1..] {
            let report = later.as_ref().unwrap();
            assert_eq!(report.engine, "cpu", "{report:?}");
            assert!(report.reason.contains("the link is down"), "{report:?}");
        }
        assert_eq!(ASKED.get(), 1);
    }
}
