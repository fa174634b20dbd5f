//! Plans that are used again and again with the same buffers: captured in a graph, and by streams of
//! their own at the same time.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use sweepsort_core::{Nan, Order, Shape, Width, Word, with_width};
use sweepsort_cuda::cudarc::driver::CudaGraph;
use sweepsort_cuda::{Buffer, Device, Plan};
use sweepsort_testkit::{Ordered, Pattern, Wanted};

use super::{APART, AUTO, SKEWED, own, roomy, twice};
use crate::keys::Keys;
use crate::rig::{POISON, Rig, ahead, ascending, same, sum_of};

/// A sort whose buffers stay, and whose contents change.
struct Repeated<'a, W: Word> {
    rig: &'a Rig,
    plan: &'a Plan,
    in_place: bool,
    keys: Buffer<W>,
    /// Empty for a sort in place.
    to: Buffer<W>,
    workspace: Buffer<u8>,
}

impl<'a, W: Word + Ordered> Repeated<'a, W> {
    fn new(rig: &'a Rig, plan: &'a Plan, in_place: bool) -> Result<Self> {
        let (stream, n) = (&rig.stream, plan.shape().keys);
        let repeated = Repeated {
            rig,
            plan,
            in_place,
            keys: stream.alloc(n)?,
            to: stream.alloc(if in_place { 0 } else { n })?,
            workspace: rig.workspace(plan)?,
        };
        stream.synchronize()?;
        Ok(repeated)
    }

    fn enqueue(&mut self) -> Result<()> {
        let (stream, workspace) = (&self.rig.stream, (&mut self.workspace).into());
        if self.in_place {
            let keys = (&mut self.keys).into();
            self.plan.sort::<W>(stream, keys, workspace)?;
        } else {
            let (keys, to) = ((&self.keys).into(), (&mut self.to).into());
            self.plan.sort_to::<W>(stream, keys, to, workspace)?;
        }
        Ok(())
    }

    /// Sorts these keys, in the way that is given, and compares.
    fn sort(&mut self, keys: &Keys<W>, way: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let stream = &self.rig.stream;
        stream.write(&keys.before, &mut self.keys)?;
        stream.fill(&mut self.to, POISON)?;
        way(self)?;
        if self.in_place {
            return same("keys in place", &stream.download(&self.keys)?, &keys.sorted);
        }
        same("the source", &stream.download(&self.keys)?, &keys.before)?;
        same("keys", &stream.download(&self.to)?, &keys.sorted)
    }
}

/// Unsigned keys, and the same sorted.
fn keys<W: Word + Ordered>(pattern: Pattern, n: usize, seed: u64) -> Keys<W> {
    let keys: Vec<W> = pattern.keys(n, seed, &Wanted::default());
    let bits = 0..W::WIDTH.bits();
    Keys::new(&keys, Order::Ascending, Nan::Total, bits, AUTO)
}

/// Two graphs for each width and size, one in place by the plan's choice, one from buffer to buffer by
/// force, captured before the plan was ever used; replayed with each pattern. Returns how many replays
/// there were.
pub fn graphs() -> Result<usize> {
    let rig = Rig::open()?;
    let mut replays = 0;
    for width in Width::ALL {
        let sizes = [1000, 3000, 10_007, 100_003, APART, twice(width)];
        for n in sizes.into_iter().chain(roomy(width)) {
            replays += with_width!(width, |W| replayed::<W>(&rig, n))
                .with_context(|| format!("{n} keys of {} bits", width.bits()))?;
            rig.intact()?;
        }
    }
    Ok(replays)
}

fn replayed<W: Word + Ordered>(rig: &Rig, n: usize) -> Result<usize> {
    let plan = |algorithm| {
        let spec = ascending(W::WIDTH, algorithm);
        rig.plan(Shape::keys(n, W::WIDTH), &spec)
    };
    let (by_choice, by_force) = (plan(AUTO)?, plan(own(W::WIDTH))?);
    let mut in_place = Repeated::<W>::new(rig, &by_choice, true)?;
    let mut apart = Repeated::<W>::new(rig, &by_force, false)?;
    let captured = |sort: &mut Repeated<'_, W>| -> Result<CudaGraph> {
        let graph = rig.captured(|| sort.enqueue())?;
        graph.context("nothing was captured")
    };
    let graphs = [captured(&mut in_place)?, captured(&mut apart)?];
    let launch = |graph: &CudaGraph| graph.launch().map_err(|error| anyhow!("{error:?}"));

    // The first come again after all others: what those left behind must not matter.
    let patterns = [Pattern::ALL, &Pattern::ALL[..3]].concat();
    ahead(
        &patterns,
        |&pattern| keys::<W>(pattern, n, n as u64),
        |pattern, keys| {
            let choice = in_place.sort(&keys, |_| launch(&graphs[0]));
            choice.with_context(|| format!("{pattern}, by the plan's choice"))?;
            let force = apart.sort(&keys, |_| launch(&graphs[1]));
            force.with_context(|| format!("{pattern}, by force"))
        },
    )?;
    Ok(2 * patterns.len())
}

/// Patterns that go different ways.
const PATTERNS: [Pattern; 6] = [
    Pattern::Random,
    Pattern::Cells,
    Pattern::FewDistinct,
    Pattern::Sorted,
    Pattern::Funnel,
    Pattern::HeavyKey,
];

/// How often each thread sorts.
const ROUNDS: usize = 18;

/// Threads with a stream, a plan and buffers of their own, and two more that share a plan, all at once.
/// Returns how many sorts there were.
pub fn streams() -> Result<usize> {
    let device = Device::open_guarded(0)?;
    let shared = Rig::on(&device)?.plan(
        Shape::keys(APART, Width::W32),
        &ascending(Width::W32, own(Width::W32)),
    )?;
    let (device, shared) = (&device, &shared);
    let sorts = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (width, n, algorithm) in [
            (Width::W32, SKEWED, AUTO),
            (Width::W64, SKEWED, "hybrid"),
            (Width::W128, 300_007, AUTO),
            (Width::W64, 10_007, AUTO),
            (Width::W16, SKEWED, "count"),
            (Width::W8, 1_000_003, AUTO),
        ] {
            threads.push(scope.spawn(move || {
                let shape = Shape::keys(n, width);
                let plan = Plan::new(device, &shape, &ascending(width, algorithm))?;
                with_width!(width, |W| rounds::<W>(device, &plan))
                    .with_context(|| format!("{n} keys of {} bits, {algorithm}", width.bits()))
            }));
        }
        for _ in 0..2 {
            threads.push(scope.spawn(move || {
                rounds::<u32>(device, shared).context("with a plan that two share")
            }));
        }
        sum_of(threads)
    })?;
    ensure!(sorts == 8 * ROUNDS, "{sorts} sorts");
    device.check_canaries()?;
    Ok(sorts)
}

/// Sorts other keys each time. Returns how often.
fn rounds<W: Word + Ordered>(device: &Arc<Device>, plan: &Plan) -> Result<usize> {
    let rig = Rig::on(device)?;
    let n = plan.shape().keys;
    let inputs = PATTERNS.map(|pattern| keys::<W>(pattern, n, 1));
    let mut sort = Repeated::<W>::new(&rig, plan, true)?;
    for round in 0..ROUNDS {
        let pattern = round % PATTERNS.len();
        sort.sort(&inputs[pattern], Repeated::enqueue)
            .with_context(|| format!("{}, round {round}", PATTERNS[pattern]))?;
    }
    Ok(ROUNDS)
}
