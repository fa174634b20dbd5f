//! The GPUs' engines that `auto` shares in a process, each opened once it pays.
//!
//! Opening a device takes longer than most sorts, and nobody knows how many are to come. This is
//! the ski rental problem: each sort on the CPU notes what the device would have saved, and when
//! that exceeds what opening takes, the device is opened. So a process never spends more than twice
//! what it would have, had it known its sorts beforehand; a short one does not ask for a driver at
//! all.
//!
//! There is an order: CUDA, then wgpu. The first engine that is not absent is the one that tasks are
//! weighed for, and the next is not asked for anything before it is known to be absent: not built, without
//! a device, or failed. An engine whose costs depend on the GPU that is here is measured when it is opened,
//! and that is part of opening.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sweepsort_core::{DataState, Engine, Error, Plan, Report, Result, Shape, Spec, Task};
use sweepsort_cpu::CpuEngine;

use crate::choice::{self, Costs, Decision, Gpu, SMALLEST, TOO_FEW};
use crate::{devices, trial};

/// The engines of this process.
pub(crate) static CUDA: Slot = Slot::new(&choice::CUDA, devices::OPEN_CUDA, None);
pub(crate) static WGPU: Slot = Slot::new(&choice::WGPU, devices::OPEN_WGPU, Some(trial::measure));

/// Both, in their order.
pub(crate) static GPUS: [&Slot; 2] = [&CUDA, &WGPU];

/// Opens an engine.
pub(crate) type Open = fn() -> Result<Box<dyn Engine>>;

/// Measures an engine that was opened.
type Measure = fn(&dyn Engine) -> Result<Costs>;

/// A place for an engine that is opened once at most.
#[derive(Debug)]
pub(crate) struct Slot {
    gpu: &'static Gpu,
    /// `None` where the build has no such engine.
    open: Option<Open>,
    /// `None` where the costs are those that are expected.
    measure: Option<Measure>,
    /// The engine, or why it could not be had.
    opened: OnceLock<Result<Opened, String>>,
    /// Why the engine is not asked again.
    failed: OnceLock<String>,
    /// What the engine would have saved so far, in nanoseconds.
    saved_ns: AtomicU64,
}

/// An engine that can run tasks.
#[derive(Debug)]
struct Opened {
    engine: Box<dyn Engine>,
    costs: Costs,
}

/// What is known of an engine.
#[derive(Debug)]
enum State {
    /// The build does not have it.
    NotBuilt,
    /// Nobody has looked for a device.
    Untried,
    /// It can run tasks.
    Open(&'static Opened),
    /// It cannot, and this is why.
    Absent(&'static str),
}

/// The reason where the build has no engine but the CPU's.
const NOT_BUILT: &str = "auto: cpu, as this build has no engine for a GPU";

impl Slot {
    const fn new(gpu: &'static Gpu, open: Option<Open>, measure: Option<Measure>) -> Self {
        Slot {
            gpu,
            open,
            measure,
            opened: OnceLock::new(),
            failed: OnceLock::new(),
            saved_ns: AtomicU64::new(0),
        }
    }

    /// What is known of the engine.
    fn state(&'static self) -> State {
        match (self.open, self.failed.get(), self.opened.get()) {
            (None, ..) => State::NotBuilt,
            (_, Some(why), _) | (_, None, Some(Err(why))) => State::Absent(why),
            (_, None, Some(Ok(opened))) => State::Open(opened),
            (_, None, None) => State::Untried,
        }
    }

    /// Whether tasks may still come here, as far as is known.
    #[cfg(any(feature = "cuda", feature = "wgpu", test))]
    pub(crate) fn may_be_taken(&'static self) -> bool {
        matches!(self.state(), State::Untried | State::Open(_))
    }

    /// Opens the engine, if nobody has tried, and measures it. Takes as long as opening a device.
    fn fill(&self) {
        let Some(open) = self.open else { return };
        self.opened.get_or_init(|| {
            let engine = open().map_err(|error| match error {
                Error::EngineAbsent { why, .. } => {
                    format!("there is no {}: {why}", self.gpu.device)
                }
                other => format!("no {} opens: {other}", self.gpu.device),
            })?;
            let costs = match self.measure {
                None => self.gpu.costs,
                Some(measure) => measure(&*engine)
                    .map_err(|error| format!("no {} passes its trial: {error}", self.gpu.device))?,
            };
            Ok(Opened { engine, costs })
        });
    }

    /// Says that somebody has opened the device for himself, so that `auto` need not wait for it to pay:
    /// it is open, or, where it is to be measured first, the next sort opens it that it is expected to save
    /// anything.
    #[cfg(any(feature = "cuda", feature = "wgpu", test))]
    pub(crate) fn is_paid(&self) {
        match self.measure {
            None => self.fill(),
            Some(_) => {
                self.saved_ns
                    .fetch_max(self.opening_ns() - 1, Ordering::Relaxed);
            }
        }
    }

    /// Notes what the engine would save; whether this makes it worth opening. Of all calls, by
    /// however many threads, this is so for one.
    fn pays(&self, saving_s: f64) -> bool {
        let cost = self.opening_ns();
        // No more than the cost, lest the sum overflows.
        let saving = ((saving_s * 1e9) as u64).min(cost);
        let before = self.saved_ns.fetch_add(saving, Ordering::Relaxed);
        before < cost && before + saving >= cost
    }

    fn opening_ns(&self) -> u64 {
        (self.gpu.opening_s * 1e9) as u64
    }

    /// The reason to report after a failure. An engine whose device failed is not asked again: its
    /// context seldom recovers.
    fn failed(&'static self, error: &Error) -> Cow<'static, str> {
        Cow::Owned(match error {
            Error::Device { .. } => {
                let why = self.failed.get_or_init(|| error.to_string());
                format!("auto: cpu, because {why}")
            }
            _ => format!(
                "auto: cpu, because {} did not take it: {error}",
                self.gpu.engine
            ),
        })
    }
}

/// What becomes of a task.
struct Verdict {
    decision: Decision,
    /// The engine that takes it, if it is not the CPU's, and its slot.
    taken_by: Option<(&'static Slot, &'static dyn Engine)>,
}

/// The engine for a task. If the task is `to_run`, what a GPU would save is noted, and if it is the one
/// to open an engine, that is opened; else this only looks.
fn decide(
    gpus: &[&'static Slot],
    shape: &Shape,
    spec: &Spec,
    threads: usize,
    to_run: bool,
) -> Verdict {
    let weigh =
        |slot: &Slot, open| choice::decide(shape, spec.bits.len() as u32, threads, slot.gpu, open);
    let by_cpu = |decision| Verdict {
        decision,
        taken_by: None,
    };
    let mut absent = Vec::new();
    for &slot in gpus {
        if let State::Untried = slot.state() {
            let decision = weigh(slot, None);
            let saving_s = decision.saving_s();
            if !(to_run && saving_s > 0.0 && slot.pays(saving_s)) {
                return by_cpu(decision);
            }
            slot.fill();
        }
        match slot.state() {
            State::Open(opened) => {
                let decision = weigh(slot, Some(opened.costs));
                let taken = decision.engine == slot.gpu.engine;
                return Verdict {
                    decision,
                    taken_by: taken.then_some((slot, &*opened.engine)),
                };
            }
            State::Absent(why) => absent.push(why),
            State::NotBuilt | State::Untried => {}
        }
    }
    by_cpu(match absent.is_empty() {
        true => Decision::cpu(NOT_BUILT),
        false => Decision::cpu(format!("auto: cpu, because {}", absent.join("; "))),
    })
}

/// Runs a task by the engine that is expected to be the fastest, and by the CPU if another fails
/// without touching the data.
///
/// # Errors
/// The CPU engine's; and [`Error::Device`] where the data is [`DataState::Undefined`].
pub(crate) fn run(
    cpu: &CpuEngine,
    gpus: &[&'static Slot],
    mut task: Task<'_>,
    spec: &Spec,
) -> Result<Report> {
    let shape = task.shape();
    // The shortest way for small tasks: nothing is asked, weighed or written.
    if shape.keys < SMALLEST {
        return cpu.run_because(task, spec, Cow::Borrowed(TOO_FEW));
    }
    let verdict = decide(gpus, &shape, spec, cpu.threads(), true);
    let mut reason = verdict.decision.reason;
    if let Some((slot, engine)) = verdict.taken_by {
        let mut done = engine.run(task.reborrow(), spec);
        let Err(error) = &done else {
            because(reason, &mut done);
            return done;
        };
        reason = slot.failed(error);
        if data_after(error) == DataState::Undefined {
            return done;
        }
    }
    cpu.run_because(task, spec, reason)
}

/// What [`run`] would do with such a task now, nothing being opened.
///
/// # Errors
/// As [`run`].
pub(crate) fn plan(
    cpu: &CpuEngine,
    gpus: &[&'static Slot],
    shape: &Shape,
    spec: &Spec,
) -> Result<Plan> {
    let verdict = decide(gpus, shape, spec, cpu.threads(), false);
    if let Some((_, engine)) = verdict.taken_by
        && let Ok(plan) = engine.plan(shape, spec)
    {
        return Ok(plan);
    }
    cpu.plan(shape, spec)
}

/// Notes in a report why its engine was taken.
pub(crate) fn because(reason: Cow<'static, str>, done: &mut Result<Report>) {
    if let Ok(report) = done {
        report.reason = reason;
    }
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
    use std::cell::RefCell;
    use std::sync::atomic::AtomicUsize;

    use sweepsort_core::{Choice, Codec, IndexMut, ValuesMut, Width, WordsMut};

    use super::*;

    /// Enough keys that one thread is slower than CUDA, and than a GPU that is [`fast`].
    const MANY: usize = 1 << 18;

    /// So many keys that one sort is worth opening any GPU.
    const HUGE: Shape = Shape::keys(1 << 32, Width::W32);

    thread_local! {
        /// The engines that this thread has opened, has measured, and has asked to run.
        static OPENED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
        static MEASURED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
        static ASKED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    /// Stands in for a GPU's engine: sorts on the CPU, or fails.
    #[derive(Debug)]
    struct Fake {
        name: &'static str,
        sorts: CpuEngine,
        fails: Option<Error>,
    }

    impl Engine for Fake {
        fn name(&self) -> &'static str {
            self.name
        }

        fn algorithms(&self) -> &'static [&'static str] {
            &["auto"]
        }

        fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
            if let Some(error @ Error::Unsupported { .. }) = &self.fails {
                return Err(error.clone());
            }
            let plan = self.sorts.plan(shape, spec)?;
            Ok(Plan {
                engine: self.name(),
                ..plan
            })
        }

        fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
            ASKED.with_borrow_mut(|asked| asked.push(self.name));
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

    fn open(name: &'static str, fails: Option<Error>) -> Result<Box<dyn Engine>> {
        OPENED.with_borrow_mut(|opened| opened.push(name));
        Ok(Box::new(Fake {
            name,
            sorts: CpuEngine::new(Some(1)),
            fails,
        }))
    }

    /// What opens an engine, and what comes of it.
    trait Kind {
        const NAME: &'static str;

        fn works() -> Result<Box<dyn Engine>> {
            open(Self::NAME, None)
        }

        fn absent() -> Result<Box<dyn Engine>> {
            OPENED.with_borrow_mut(|opened| opened.push(Self::NAME));
            Err(Error::EngineAbsent {
                engine: Self::NAME,
                why: "it was sold".into(),
            })
        }

        fn locked() -> Result<Box<dyn Engine>> {
            OPENED.with_borrow_mut(|opened| opened.push(Self::NAME));
            Err(down(Self::NAME, DataState::Untouched))
        }

        fn small() -> Result<Box<dyn Engine>> {
            open(Self::NAME, Some(Error::OutOfMemory { bytes: 77 }))
        }

        fn picky() -> Result<Box<dyn Engine>> {
            let error = Error::Unsupported {
                engine: Self::NAME,
                what: "keys".into(),
                instead: "cpu".into(),
            };
            open(Self::NAME, Some(error))
        }

        fn breaks() -> Result<Box<dyn Engine>> {
            open(Self::NAME, Some(down(Self::NAME, DataState::Untouched)))
        }

        fn ruins() -> Result<Box<dyn Engine>> {
            open(Self::NAME, Some(down(Self::NAME, DataState::Undefined)))
        }
    }

    struct Cuda;
    struct Wgpu;

    impl Kind for Cuda {
        const NAME: &'static str = "cuda";
    }

    impl Kind for Wgpu {
        const NAME: &'static str = "wgpu";
    }

    fn down(engine: &'static str, data: DataState) -> Error {
        Error::Device {
            engine,
            what: "the link is down".into(),
            data,
        }
    }

    const FAST: Costs = Costs {
        fixed_s: 1e-4,
        link_bytes_per_s: 1e11,
        memory_bytes_per_s: 1e12,
    };

    fn measured(engine: &dyn Engine, costs: Costs) -> Result<Costs> {
        MEASURED.with_borrow_mut(|measured| measured.push(engine.name()));
        Ok(costs)
    }

    fn fast(engine: &dyn Engine) -> Result<Costs> {
        measured(engine, FAST)
    }

    fn slow(engine: &dyn Engine) -> Result<Costs> {
        let slow = Costs {
            link_bytes_per_s: 1e6,
            ..FAST
        };
        measured(engine, slow)
    }

    fn fails(engine: &dyn Engine) -> Result<Costs> {
        measured(engine, FAST)?;
        Err(down(engine.name(), DataState::Untouched))
    }

    type Gpus = [&'static Slot; 2];

    /// A slot for CUDA and one for wgpu, which is measured.
    fn gpus(cuda: Option<Open>, wgpu: Option<Open>, measure: Measure) -> Gpus {
        for log in [&OPENED, &MEASURED, &ASKED] {
            log.take();
        }
        let slot = |gpu, open, measure| &*Box::leak(Box::new(Slot::new(gpu, open, measure)));
        [
            slot(&choice::CUDA, cuda, None),
            slot(&choice::WGPU, wgpu, Some(measure)),
        ]
    }

    /// The slots with one engine alone.
    fn only_cuda(open: Open) -> Gpus {
        gpus(Some(open), None, fast)
    }

    fn only_wgpu(open: Open) -> Gpus {
        gpus(None, Some(open), fast)
    }

    /// What becomes of a task on one thread.
    fn decided(gpus: &Gpus, shape: &Shape) -> Decision {
        decide(gpus, shape, &spec(), 1, true).decision
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
            let shape = Shape::keys(1 << log, Width::W32);
            for gpus in [|| only_cuda(Cuda::works), || only_wgpu(Wgpu::works)] {
                let gpus = gpus();
                let there = gpus.iter().find(|slot| slot.open.is_some());
                let gpu = there.expect("one of them").gpu;
                let saving_s = choice::decide(&shape, 32, 1, gpu, None).saving_s();
                // Far away, where it saves little or nothing.
                let right = (gpu.opening_s / saving_s).ceil().max(1.0) as usize;
                for call in 1..=right.min(1000) + 3 {
                    for little in [0, 1, SMALLEST] {
                        let shape = Shape::keys(little, Width::W32);
                        decide(&gpus, &shape, &spec(), 64, true);
                        decide(&gpus, &shape, &spec(), 64, false);
                    }
                    // To look at a plan is to note nothing.
                    decide(&gpus, &HUGE, &spec(), 1, false);
                    let decision = decided(&gpus, &shape);
                    let (opened, engine) = match call >= right {
                        true => (vec![gpu.engine.name()], gpu.engine),
                        false => (vec![], Choice::Cpu),
                    };
                    assert_eq!(
                        (OPENED.with_borrow(Vec::clone), decision.engine),
                        (opened, engine),
                        "call {call} of 2^{log} keys, {right} is right: {decision:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn opened_once_by_many_threads() {
        static OPENED: AtomicUsize = AtomicUsize::new(0);
        let gpus = only_cuda(|| {
            OPENED.fetch_add(1, Ordering::Relaxed);
            Cuda::works()
        });
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        decided(&gpus, &Shape::keys(1 << 22, Width::W32));
                    }
                });
            }
        });
        assert_eq!(OPENED.load(Ordering::Relaxed), 1);
        assert!(matches!(gpus[0].state(), State::Open(_)), "{gpus:?}");
    }

    /// Each engine is looked for once, wgpu's where CUDA is absent, and the reason has what was missing.
    #[test]
    fn one_after_the_other() {
        type Case<'a> = (
            Option<Open>,
            Option<Open>,
            Measure,
            &'a [&'static str],
            &'a str,
        );
        let sold = "auto: cpu, because there is no CUDA device: it was sold";
        let gone = "there is no GPU for wgpu: it was sold";
        let trial = "no GPU for wgpu passes its trial: engine wgpu failed: the link is down; the \
                     data is untouched";
        let shut =
            "no CUDA device opens: engine cuda failed: the link is down; the data is untouched";
        // CUDA, wgpu, how that is measured, who is opened, the reason.
        let cases: [Case; 11] = [
            (
                Some(Cuda::works),
                Some(Wgpu::works),
                fast,
                &["cuda"],
                "auto: cuda, ",
            ),
            (Some(Cuda::works), None, fast, &["cuda"], "auto: cuda, "),
            (
                Some(Cuda::absent),
                Some(Wgpu::works),
                fast,
                &["cuda", "wgpu"],
                "auto: wgpu, ",
            ),
            (
                Some(Cuda::locked),
                Some(Wgpu::works),
                fast,
                &["cuda", "wgpu"],
                "auto: wgpu, ",
            ),
            (None, Some(Wgpu::works), fast, &["wgpu"], "auto: wgpu, "),
            (None, Some(Wgpu::works), slow, &["wgpu"], " on a GPU"),
            (
                None,
                Some(Wgpu::works),
                fails,
                &["wgpu"],
                &format!("auto: cpu, because {trial}"),
            ),
            (
                None,
                Some(Wgpu::absent),
                fast,
                &["wgpu"],
                &format!("auto: cpu, because {gone}"),
            ),
            (Some(Cuda::absent), None, fast, &["cuda"], sold),
            (
                Some(Cuda::absent),
                Some(Wgpu::absent),
                fast,
                &["cuda", "wgpu"],
                &format!("{sold}; {gone}"),
            ),
            (
                Some(Cuda::locked),
                Some(Wgpu::works),
                fails,
                &["cuda", "wgpu"],
                &format!("auto: cpu, because {shut}; {trial}"),
            ),
        ];
        for (cuda, wgpu, measure, opened, reason) in cases {
            let gpus = gpus(cuda, wgpu, measure);
            for _ in 0..3 {
                let decision = decided(&gpus, &HUGE);
                let right = match reason.ends_with(' ') {
                    true => decision.reason.starts_with(reason),
                    false => decision.reason.ends_with(reason),
                };
                assert!(right, "{reason}: {decision:?}");
                let named = format!("auto: {}, ", decision.engine);
                assert!(decision.reason.starts_with(&named), "{decision:?}");
            }
            assert_eq!(OPENED.take(), opened, "{reason}");
            // CUDA is not measured, nor what does not open.
            let measured: &[_] = match (opened.contains(&"wgpu"), reason.contains(gone)) {
                (true, false) => &["wgpu"],
                _ => &[],
            };
            assert_eq!(MEASURED.take(), measured, "{reason}");
            assert_eq!(ASKED.take(), [""; 0], "{reason}");
        }
    }

    #[test]
    fn a_build_without_the_engines() {
        let gpus = gpus(None, None, fast);
        for slot in gpus {
            slot.is_paid();
        }
        let cpu = CpuEngine::new(Some(1));
        for (n, reason) in [(100, TOO_FEW), (MANY, NOT_BUILT)] {
            let mut sorted = keys(n);
            let task = Task::Keys(sorted.as_mut_slice().into());
            let report = run(&cpu, &gpus, task, &spec()).unwrap();
            assert_eq!((report.engine, &*report.reason), ("cpu", reason), "{n}");
            assert!(sorted.is_sorted(), "{n}");
        }
    }

    /// What the device was measured to take decides, be it more or less than was expected of it.
    #[test]
    fn its_own_costs_decide() {
        // How it is measured, who sorts, what is asked of the device.
        let cases: [(Measure, &str, &[&str]); 2] =
            [(fast, "wgpu", &["wgpu"; 4]), (slow, "cpu", &[])];
        for (measure, engine, asked) in cases {
            let gpus = gpus(None, Some(Wgpu::works), measure);
            gpus[1].fill();
            for outcome in outcomes(&gpus) {
                let report = outcome.unwrap();
                let named = format!("auto: {engine}, ");
                assert_eq!(report.engine, engine, "{report:?}");
                assert!(report.reason.starts_with(&named), "{report:?}");
            }
            assert_eq!(ASKED.take(), asked, "{engine}");
            let once = vec!["wgpu"];
            assert_eq!((OPENED.take(), MEASURED.take()), (once.clone(), once));
        }
    }

    /// Opened by somebody who asked for it, CUDA is there without having paid; a GPU of wgpu's, as soon as
    /// something would be saved there.
    #[test]
    fn paid_is_open() {
        let cpu = CpuEngine::new(Some(1));
        let planned = |gpus: &Gpus, n| {
            let shape = Shape::keys(n, Width::W32);
            plan(&cpu, gpus, &shape, &spec()).unwrap().engine
        };
        let cuda = only_cuda(Cuda::works);
        assert_eq!([100, MANY].map(|n| planned(&cuda, n)), ["cpu", "cpu"]);
        cuda[0].is_paid();
        assert_eq!(OPENED.take(), ["cuda"]);
        assert_eq!([100, MANY].map(|n| planned(&cuda, n)), ["cpu", "cuda"]);

        let wgpu = only_wgpu(Wgpu::works);
        // Saves something, and less than opening takes.
        let some = (0..=32)
            .map(|log| Shape::keys(1 << log, Width::W32))
            .find(|shape| choice::decide(shape, 32, 1, &choice::WGPU, None).saving_s() > 1e-5);
        let some = some.expect("there is a crossover");
        assert_eq!(decided(&wgpu, &some).engine, Choice::Cpu);
        wgpu[1].is_paid();
        assert_eq!((planned(&wgpu, some.keys), OPENED.take()), ("cpu", vec![]));
        assert_eq!(decided(&wgpu, &some).engine, Choice::Wgpu);
        assert_eq!(OPENED.take(), ["wgpu"]);
        assert_eq!(planned(&wgpu, some.keys), "wgpu");
    }

    /// Sorts, argsorts and sorts pairs by a slot's engine, one of them twice, and checks the output.
    fn outcomes(gpus: &Gpus) -> Vec<Result<Report>> {
        let cpu = CpuEngine::new(Some(1));
        let input = keys(MANY);
        let mut expected: Vec<u32> = (0..MANY as u32).collect();
        expected.sort_by_key(|&i| input[i as usize]);

        let mut reports = Vec::new();
        for _ in 0..2 {
            let mut sorted = input.clone();
            let task = Task::Keys(sorted.as_mut_slice().into());
            let outcome = run(&cpu, gpus, task, &spec());
            assert_eq!(sorted.is_sorted() && sorted[0] != 7, outcome.is_ok());
            reports.push(outcome);
        }
        let (mut sorted, mut values) = (input.clone(), (0..MANY as u32).collect::<Vec<_>>());
        let task = Task::Pairs(
            sorted.as_mut_slice().into(),
            ValuesMut::new(values.as_mut_slice()),
        );
        reports.push(run(&cpu, gpus, task, &spec()));
        assert!(sorted.is_sorted() && values == expected);
        let mut index = vec![0; MANY];
        let task = Task::Argsort(input.as_slice().into(), IndexMut::U32(&mut index));
        reports.push(run(&cpu, gpus, task, &spec()));
        assert!(index == expected);
        reports
    }

    #[test]
    fn the_cpu_steps_in() {
        fn check<K: Kind>(only: fn(Open) -> Gpus) {
            let name = K::NAME;
            // Who opens, the engine in the end, the reason's start, how often the device is asked, whose
            // plan there is then: of memory it knows nothing.
            let cases: [(Open, &str, String, usize, &str); 4] = [
                (K::works, name, format!("auto: {name}, "), 4, name),
                (
                    K::small,
                    "cpu",
                    format!(
                        "auto: cpu, because {name} did not take it: 77 bytes of scratch memory"
                    ),
                    4,
                    name,
                ),
                (
                    K::picky,
                    "cpu",
                    format!(
                        "auto: cpu, because {name} did not take it: engine {name} does not support keys"
                    ),
                    4,
                    "cpu",
                ),
                (
                    K::breaks,
                    "cpu",
                    format!(
                        "auto: cpu, because engine {name} failed: the link is down; the data is \
                         untouched"
                    ),
                    1,
                    "cpu",
                ),
            ];
            for (open, engine, reason, asked, planned) in cases {
                let gpus = only(open);
                for slot in gpus {
                    slot.fill();
                }
                for outcome in outcomes(&gpus) {
                    let report = outcome.unwrap();
                    assert_eq!(report.engine, engine, "{reason}: {report:?}");
                    assert!(report.reason.starts_with(&reason), "{reason}: {report:?}");
                }
                assert_eq!(ASKED.take(), vec![name; asked], "{reason}");
                let (cpu, shape) = (CpuEngine::new(Some(1)), Shape::keys(MANY, Width::W32));
                let plan = plan(&cpu, &gpus, &shape, &spec()).unwrap();
                assert_eq!(plan.engine, planned, "{reason}");
            }
        }
        check::<Cuda>(only_cuda);
        check::<Wgpu>(only_wgpu);
    }

    /// Nobody can sort data that is partly overwritten; later sorts are the CPU's.
    #[test]
    fn overwritten_data_is_an_error() {
        for (gpus, name) in [(only_cuda as fn(Open) -> Gpus, "cuda"), (only_wgpu, "wgpu")] {
            let gpus = gpus(match name {
                "cuda" => Cuda::ruins,
                _ => Wgpu::ruins,
            });
            for slot in gpus {
                slot.fill();
            }
            let outcomes = outcomes(&gpus);
            assert_eq!(
                outcomes[0].as_ref().err(),
                Some(&down(name, DataState::Undefined)),
                "{:?}",
                outcomes[0]
            );
            for later in &outcomes[1..] {
                let report = later.as_ref().unwrap();
                assert_eq!(report.engine, "cpu", "{report:?}");
                assert!(report.reason.contains("the link is down"), "{report:?}");
            }
            assert_eq!(ASKED.take(), [name]);
        }
    }

    /// Where CUDA fails, the CPU sorts, and later sorts are weighed for wgpu.
    #[test]
    fn wgpu_follows_cuda_that_failed() {
        let gpus = gpus(Some(Cuda::breaks), Some(Wgpu::works), fast);
        gpus[0].fill();
        assert!(gpus.iter().all(|slot| slot.may_be_taken()), "{gpus:?}");
        gpus[1].fill();
        let engines: Vec<_> = outcomes(&gpus)
            .into_iter()
            .map(|outcome| outcome.unwrap().engine)
            .collect();
        assert_eq!(engines, ["cpu", "wgpu", "wgpu", "wgpu"]);
        assert_eq!(ASKED.take(), ["cuda", "wgpu", "wgpu", "wgpu"]);
        assert_eq!(gpus.map(Slot::may_be_taken), [false, true]);
    }
}
