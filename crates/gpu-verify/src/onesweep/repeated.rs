//! Plans that are used again and again with the same buffers: captured in a graph, by threads with
//! streams of their own, on all devices.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use sweepsort_core::{Nan, Order, Shape, Width};
use sweepsort_cuda::{Buffer, Device, Plan};
use sweepsort_testkit::{Wanted, oracle};

use super::{ALGORITHM, WIDE};
use crate::rig::{Rig, ascending, random, same, sum_of};

/// What is done with keys of 32 bits.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// They are sorted in place.
    Keys,
    /// They are sorted from one buffer to another, with values of 8 bytes.
    PairsTo,
    /// An index of 32 bits is filled.
    Argsort,
}

impl Work {
    fn plan(self, rig: &Rig, n: usize, algorithm: &'static str) -> Result<Plan> {
        let width = Width::W32;
        let shape = match self {
            Work::Keys => Shape::keys(n, width),
            Work::PairsTo => Shape::pairs(n, width, 8),
            Work::Argsort => Shape::argsort(n, width, 4),
        };
        rig.plan(shape, &ascending(width, algorithm))
    }
}

/// A sort whose buffers stay, and whose contents change.
struct Repeated<'a> {
    rig: &'a Rig,
    plan: &'a Plan,
    work: Work,
    keys: Buffer<u32>,
    keys_to: Buffer<u32>,
    values: Buffer<u64>,
    values_to: Buffer<u64>,
    index: Buffer<u32>,
    workspace: Buffer<u8>,
    /// What was last written to `keys` and `values`.
    before: (Vec<u32>, Vec<u64>),
}

impl<'a> Repeated<'a> {
    fn new(rig: &'a Rig, plan: &'a Plan, work: Work) -> Result<Self> {
        let (stream, n) = (&rig.stream, plan.shape().keys);
        let repeated = Repeated {
            rig,
            plan,
            work,
            keys: stream.alloc(n)?,
            keys_to: stream.alloc(n)?,
            values: stream.alloc(n)?,
            values_to: stream.alloc(n)?,
            index: stream.alloc(n)?,
            workspace: rig.workspace(plan)?,
            before: (Vec::new(), Vec::new()),
        };
        stream.synchronize()?;
        Ok(repeated)
    }

    /// Other keys, of other bits each time, and other values.
    fn fill(&mut self, seed: u64) -> Result<()> {
        /// Many keys repeat; some do; all agree in many bits.
        const MASKS: [u32; 3] = [0x0F0F_3333, u32::MAX, 0x003F_FFFF];
        let (n, mask) = (self.keys.len(), MASKS[seed as usize % MASKS.len()]);
        self.before = (random(n, seed, mask), random(n, !seed, u64::MAX));
        self.rig.stream.write(&self.before.0, &mut self.keys)?;
        self.rig.stream.write(&self.before.1, &mut self.values)?;
        Ok(())
    }

    fn enqueue(&mut self) -> Result<()> {
        let stream = &self.rig.stream;
        let workspace = (&mut self.workspace).into();
        match self.work {
            Work::Keys => self
                .plan
                .sort::<u32>(stream, (&mut self.keys).into(), workspace)?,
            Work::PairsTo => self.plan.sort_pairs_to::<u32, u64>(
                stream,
                (&self.keys).into(),
                (&self.values).into(),
                (&mut self.keys_to).into(),
                (&mut self.values_to).into(),
                workspace,
            )?,
            Work::Argsort => self.plan.argsort::<u32, u32>(
                stream,
                (&self.keys).into(),
                (&mut self.index).into(),
                workspace,
            )?,
        }
        Ok(())
    }

    /// What is there now is what a stable sort makes of what was written last.
    fn check(&self) -> Result<()> {
        let (stream, (keys, values)) = (&self.rig.stream, &self.before);
        let wanted = Wanted::of_keys(Order::Ascending, Nan::Total, None);
        let order = oracle::order(keys, &wanted);
        let sorted = oracle::follow(keys, &order);
        match self.work {
            Work::Keys => same("keys", &stream.download(&self.keys)?, &sorted),
            Work::PairsTo => {
                same("source", &stream.download(&self.keys)?, keys)?;
                same("keys", &stream.download(&self.keys_to)?, &sorted)?;
                let moved = oracle::follow(values, &order);
                same("values", &stream.download(&self.values_to)?, &moved)
            }
            Work::Argsort => {
                let index: Vec<u32> = order.iter().map(|&i| i as u32).collect();
                same("index", &stream.download(&self.index)?, &index)
            }
        }
    }

    /// Sorts other keys each time. Returns how often.
    fn rounds(&mut self, rounds: u64) -> Result<usize> {
        for round in 0..rounds {
            self.fill(round)?;
            self.enqueue()?;
            self.check()
                .with_context(|| format!("{:?}, round {round}", self.work))?;
        }
        Ok(rounds as usize)
    }
}

/// Sorts in CUDA graphs, captured before the plan was ever used, each replayed with other contents.
/// Returns how many replays there were.
pub fn graphs() -> Result<usize> {
    graphs_by(ALGORITHM, &[0, 1000, 3000, 100_003, WIDE], 3)
}

/// So many replays of each.
pub(crate) fn graphs_by(algorithm: &'static str, sizes: &[usize], rounds: u64) -> Result<usize> {
    let rig = Rig::open()?;
    let mut replays = 0;
    for &n in sizes {
        for work in [Work::Keys, Work::PairsTo, Work::Argsort] {
            let plan = work.plan(&rig, n, algorithm)?;
            let mut sort = Repeated::new(&rig, &plan, work)?;
            let Some(graph) = rig.captured(|| sort.enqueue())? else {
                anyhow::ensure!(n == 0, "{work:?} of {n}: nothing was captured");
                continue;
            };
            for round in 0..rounds {
                sort.fill(round)?;
                graph.launch().map_err(|error| anyhow!("{error:?}"))?;
                sort.check()
                    .with_context(|| format!("{work:?} of {n}, replay {round}"))?;
                replays += 1;
            }
            rig.intact()?;
        }
    }
    Ok(replays)
}

/// How often each thread sorts.
const ROUNDS: u64 = 20;

/// On each of up to two devices at once: four threads, each with a stream and a plan of its own, and
/// two that share a plan, with a workspace each. Returns how many sorts there were.
pub fn threads() -> Result<usize> {
    let count = Device::all()?.len();
    let devices: Vec<Arc<Device>> = (0..count.min(2))
        .map(Device::open_guarded)
        .collect::<Result<_, _>>()?;
    let mut shared = Vec::new();
    for device in &devices {
        shared.push(Work::PairsTo.plan(&Rig::on(device)?, 200_003, ALGORITHM)?);
    }
    let sorts = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (device, shared) in devices.iter().zip(&shared) {
            for (work, n) in [
                (Work::Keys, WIDE),
                (Work::PairsTo, 300_000),
                (Work::Argsort, 100_003),
                (Work::Keys, 1500),
            ] {
                threads.push(scope.spawn(move || {
                    let rig = Rig::on(device)?;
                    let plan = work.plan(&rig, n, ALGORITHM)?;
                    Repeated::new(&rig, &plan, work)?.rounds(ROUNDS)
                }));
            }
            for _ in 0..2 {
                threads.push(scope.spawn(move || {
                    let rig = Rig::on(device)?;
                    Repeated::new(&rig, shared, Work::PairsTo)?.rounds(ROUNDS)
                }));
            }
        }
        sum_of(threads)
    })?;
    for device in &devices {
        device.check_canaries()?;
    }
    Ok(sorts)
}
