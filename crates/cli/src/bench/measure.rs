//! Measuring: contenders take turns on the same input, restored and verified outside the timing.
//!
//! ```text
//! once per contender:   restore, run counting memory, verify      (warms up, too)
//! rounds:               restore, run timed, verify; the first contender is another each round
//! ```
//! A contender takes part in five rounds at least, and on until its timed runs add up to the
//! budget. All of it, the clock's readings included, happens inside a rayon pool of as many threads
//! as the contender may use.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use sweepsort::Report;

use super::array::{Array, Place};
use super::contender::{Contender, Run};
use super::input::{Input, Pair, Value, wanted};
use super::peers::Contested;
use super::{machine, peak};

/// Every contender runs this often at least.
const MIN_ROUNDS: usize = 5;
/// No contender runs more often.
const MAX_ROUNDS: usize = 101;

/// A pool of threads, and the copy bandwidth that they have together.
#[derive(Debug)]
pub struct Team {
    /// The threads.
    pub pool: ThreadPool,
    /// Bytes read and written a second by a copy.
    pub bandwidth: f64,
}

impl Team {
    /// Does `work` in one of the threads. Not generic, since it is asked for every type of keys and values.
    fn within(&self, work: &mut (dyn FnMut() + Send)) {
        self.pool.install(work);
    }
}

/// A team for each number of threads.
pub type Teams = BTreeMap<usize, Team>;

/// Builds the pools and measures how fast they copy.
///
/// # Errors
/// Threads that cannot be started.
pub fn teams(threads: impl Iterator<Item = usize>) -> Result<Teams, rayon::ThreadPoolBuildError> {
    threads
        .map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
            let bandwidth = pool.install(machine::copy_bandwidth);
            Ok((threads, Team { pool, bandwidth }))
        })
        .collect()
}

/// What came out for one contender.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Seconds of one sort, in the order measured.
    pub seconds: Vec<f64>,
    /// Peak of the additional memory, in bytes.
    pub peak: u64,
    /// What our library said of the first sort.
    pub report: Option<Report>,
    /// The first thing that went wrong.
    pub failure: Option<String>,
    /// Seconds by stage, where they are timed.
    pub stages: Option<BTreeMap<String, f64>>,
    /// Whether a sort did not come to its end, so that no further one is tried.
    pub broken: bool,
}

impl Outcome {
    /// Notes how a sort ended: what it `ran` to, which `verify` takes down before it looks at the output, or
    /// what went wrong.
    pub fn judge<T>(
        &mut self,
        ran: Result<T, String>,
        verify: impl FnOnce(&mut Self, T) -> Result<(), String>,
    ) {
        self.broken |= ran.is_err();
        if let Err(failure) = ran.and_then(|ran| verify(self, ran)) {
            self.failure.get_or_insert(failure);
        }
    }
}

/// Seconds of a run and the first report, or what went wrong.
type Timed = Result<(f64, Option<Report>), String>;

/// The data that contenders work on, made on first use.
struct Bench<'a, K, V> {
    input: &'a Input<K>,
    place: &'a Place,
    keys: Array<K>,
    values: Array<V>,
    records: Vec<Pair<K, V>>,
    index: Array<u32>,
}

/// Runs all contenders on an input that lies in this place. `step` is told what comes next.
pub fn measure<K: Contested, V: Value>(
    input: &Input<K>,
    place: &Place,
    contenders: &[Contender<K, V>],
    teams: &Teams,
    budget: f64,
    step: &dyn Fn(&str),
) -> Vec<Outcome> {
    let mut bench = Bench {
        input,
        place,
        keys: Array::default(),
        values: Array::default(),
        records: Vec::new(),
        index: Array::default(),
    };
    let mut outcomes: Vec<_> = contenders
        .iter()
        .map(|contender| {
            step(&contender.about.name);
            let mut outcome = Outcome::default();
            teams[&contender.about.threads].within(&mut || outcome = bench.warm_up(contender));
            outcome
        })
        .collect();
    rounds(&mut outcomes, input.copies(), budget, |i, outcome| {
        let contender = &contenders[i];
        step(&contender.about.name);
        teams[&contender.about.threads].within(&mut || bench.round(contender, outcome));
    });
    outcomes
}

/// Lets contenders take turns, the first another each round, until each has run often and long
/// enough; those that are broken are left out. A sort's seconds stand for `copies` sorts.
pub fn rounds(
    outcomes: &mut [Outcome],
    copies: usize,
    budget: f64,
    mut turn: impl FnMut(usize, &mut Outcome),
) {
    for round in 0..MAX_ROUNDS {
        let mut done = true;
        for i in 0..outcomes.len() {
            let i = (round + i) % outcomes.len();
            let outcome = &mut outcomes[i];
            let timed = outcome.seconds.iter().sum::<f64>() * copies as f64;
            let often = outcome.seconds.len() >= MIN_ROUNDS;
            if outcome.broken || often && timed >= budget {
                continue;
            }
            done = false;
            turn(i, outcome);
        }
        if done {
            break;
        }
    }
}

impl<K: Contested, V: Value> Bench<'_, K, V> {
    /// The first run: counts memory, and fills caches and scratch.
    fn warm_up(&mut self, contender: &Contender<K, V>) -> Outcome {
        let restored = self.restore(contender);
        let (ran, peak) = peak::peak_of(|| restored.and_then(|()| self.run(contender)));
        let mut outcome = Outcome {
            peak,
            ..Outcome::default()
        };
        self.judge(contender, &mut outcome, ran);
        outcome
    }

    fn round(&mut self, contender: &Contender<K, V>, outcome: &mut Outcome) {
        let ran = self.restore(contender).and_then(|()| self.run(contender));
        if let Ok((seconds, _)) = ran {
            outcome.seconds.push(seconds / self.input.copies() as f64);
        }
        self.judge(contender, outcome, ran);
    }

    /// Notes how a run ended and whether its output is right.
    fn judge(&self, contender: &Contender<K, V>, outcome: &mut Outcome, ran: Timed) {
        outcome.judge(ran, |outcome, (_, report)| {
            outcome.report = outcome.report.take().or(report);
            self.verify(contender)
        });
    }

    /// Lays out the input as the contender takes it.
    fn restore(&mut self, contender: &Contender<K, V>) -> Result<(), String> {
        let (input, n, place) = (&self.input.keys, self.input.n, self.place);
        if !matches!(contender.run, Run::Records(_)) {
            self.keys.hold(place, input.len(), input[0])?;
            self.keys.copy_from_slice(input);
        }
        match contender.run {
            Run::Keys(_) => {}
            Run::Apart(_) => {
                self.values.hold(place, input.len(), V::default())?;
                for values in self.values.chunks_mut(n) {
                    values
                        .iter_mut()
                        .enumerate()
                        .for_each(|(i, value)| *value = V::of(i));
                }
            }
            Run::Records(_) => {
                let first = Pair {
                    key: input[0],
                    value: V::default(),
                };
                self.records.resize(input.len(), first);
                for (records, keys) in self.records.chunks_mut(n).zip(input.chunks(n)) {
                    for (i, (record, &key)) in records.iter_mut().zip(keys).enumerate() {
                        let value = V::of(i);
                        *record = Pair { key, value };
                    }
                }
            }
            Run::Index(_) => {
                self.index.hold(place, input.len(), 0)?;
                self.index.fill(u32::MAX);
            }
        }
        Ok(())
    }

    /// Sorts every stretch; answers with the seconds for all of them and the first report.
    fn run(&mut self, contender: &Contender<K, V>) -> Timed {
        let n = self.input.n;
        let (keys, values) = (self.keys.chunks_mut(n), self.values.chunks_mut(n));
        let (records, index) = (self.records.chunks_mut(n), self.index.chunks_mut(n));
        let threads = contender.about.threads;
        // A peer's panic is its own defeat.
        let timed = catch_unwind(AssertUnwindSafe(|| {
            let mut first = None;
            let start = Instant::now();
            match &contender.run {
                Run::Keys(run) => {
                    for keys in keys {
                        run(keys, &mut first)?;
                    }
                }
                Run::Apart(run) => {
                    for (keys, values) in keys.zip(values) {
                        run(keys, values, &mut first)?;
                    }
                }
                Run::Records(run) => records.for_each(|records| run(records, threads)),
                Run::Index(run) => {
                    for (keys, index) in keys.zip(index) {
                        run(keys, index, &mut first)?;
                    }
                }
            }
            Ok((start.elapsed().as_secs_f64(), first))
        }));
        timed.unwrap_or_else(|_| Err("it panicked".into()))
    }

    fn verify(&self, contender: &Contender<K, V>) -> Result<(), String> {
        let wanted = wanted(contender.about.total);
        let pairs = |pair: &(dyn Fn(usize) -> (K, u64) + Sync)| {
            self.input
                .check_pairs(pair, contender.about.stable, &wanted)
        };
        match contender.run {
            Run::Keys(_) => self.input.check_keys(&self.keys, &wanted),
            Run::Apart(_) => pairs(&|i| (self.keys[i], self.values[i].number())),
            Run::Records(_) => pairs(&|i| (self.records[i].key, self.records[i].value.number())),
            Run::Index(_) => self.input.check_index(&self.index),
        }
    }
}
