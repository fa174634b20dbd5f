//! Ours through a plan, as a user of the device API has it: plan and workspace are made before the
//! clock starts, and the sort is enqueued between its two events.

use std::path::Path;

use sweepsort_cuda::cudarc::driver::CudaGraph;
use sweepsort_cuda::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use sweepsort_cuda::{Buffer, Error, Plan, Shape, Slice, SliceMut, Spec};

use super::rounds::{Bench, CardWord, Output, Timed};
use super::tuned::Tuned;
use super::words_of;
use crate::bench::args::Method;
use crate::bench::contender::Task;
use crate::exit::{Failure, Result};

/// The algorithms that plans are for; `auto` leaves the choice to the plan.
pub const ALGORITHMS: [&str; 4] = ["auto", "onesweep", "hybrid", "count"];

/// Where a sort reads and writes, and how it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From the input to an output.
    To,
    /// In a copy of the input, made before the clock starts.
    InPlace,
    /// From the input to an output, captured once in a graph: a replay is timed.
    Graph,
}

/// Every way, by its name as a variant.
const WAYS: [(&str, Way); 3] = [
    ("text", Way::To),
    ("in-place", Way::InPlace),
    ("graph", Way::Graph),
];

/// A sort by a plan.
pub struct Planned {
    algorithm: String,
    /// Whether values of equal keys keep their order.
    stable: bool,
    way: Way,
    /// Other kernels or figures than the engine's own.
    tuned: Option<Tuned>,
    /// For one input.
    ready: Option<Ready>,
}

struct Ready {
    plan: Plan,
    workspace: Buffer<u8>,
    replay: Option<Replay>,
}

/// A captured sort, and the memory that it writes.
struct Replay {
    graph: CudaGraph,
    keys: Buffer<u8>,
    values: Buffer<u8>,
}

/// Runs one generic expression with the word type that has as many bytes as a value.
macro_rules! with_value {
    ($bytes:expr, |$V:ident| $body:expr) => {
        match $bytes {
            1 => with_value!(@as u8, $V, $body),
            2 => with_value!(@as u16, $V, $body),
            4 => with_value!(@as u32, $V, $body),
            8 => with_value!(@as u64, $V, $body),
            _ => with_value!(@as u128, $V, $body),
        }
    };
    (@as $word:ty, $V:ident, $body:expr) => {{
        type $V = $word;
        $body
    }};
}
pub(super) use with_value;

impl Planned {
    /// What a method asks for, of one of the [`ALGORITHMS`]. Its variant is a way, a file of `images` if that is given,
    /// or figures.
    ///
    /// # Errors
    /// A variant that there is not, or what the classics alone leave open.
    pub fn of(
        algorithm: &str,
        method: &Method,
        images: Option<&Path>,
        stable: bool,
    ) -> Result<Self> {
        if method.radix_bits.is_some() || method.block.is_some() {
            return Err(Failure::input(format!(
                "{algorithm} leaves no choice of digit or block; name a classic by --algorithm"
            )));
        }
        let name = method.variant.as_deref().unwrap_or(WAYS[0].0);
        let tuned = Tuned::of(name, images)?;
        let way = match &tuned {
            Some(_) => Some(Way::To),
            None => WAYS.iter().find(|way| way.0 == name).map(|way| way.1),
        };
        let way = way.ok_or_else(|| {
            let known = WAYS.map(|(known, _)| known).join(", ");
            Failure::input(format!(
                "no variant '{name}' of {algorithm}; there are {known}, and figures such as hybrid.once=2^22"
            ))
        })?;
        Ok(Planned {
            algorithm: algorithm.to_owned(),
            stable,
            way,
            tuned,
            ready: None,
        })
    }

    /// The algorithm that the plan has chosen, where there is one.
    pub fn algorithm(&self) -> Option<&'static str> {
        self.ready.as_ref().map(|ready| ready.plan.algorithm())
    }

    /// The bytes of its workspace, where it is ready.
    pub fn workspace_bytes(&self) -> Option<u64> {
        let ready = self.ready.as_ref();
        ready.map(|ready| ready.workspace.len() as u64)
    }
}

impl<W: CardWord> Bench<'_, W> {
    /// Makes plan, workspace and graph for this input.
    pub(super) fn prepare(&self, planned: &mut Planned) -> Result<(), String> {
        if planned.way == Way::InPlace && self.what.task == Task::Argsort {
            return Err("an argsort leaves its keys where they are: nothing is in place".into());
        }
        // What was prepared for another input makes room first.
        planned.ready = None;
        planned.ready = Some(self.ready(planned).map_err(words_of)?);
        Ok(())
    }

    fn ready(&self, planned: &Planned) -> Result<Ready, Error> {
        let stream = &self.card.stream;
        let n = self.words.len();
        let shape = match self.what.task {
            Task::Keys => Shape::keys(n, W::WIDTH),
            Task::Pairs => Shape::pairs(n, W::WIDTH, self.value_bytes),
            Task::Argsort => Shape::argsort(n, W::WIDTH, self.value_bytes),
        };
        let device = &self.card.device;
        let spec = Spec {
            stable: planned.stable,
            ..self.spec(&planned.algorithm)
        };
        let plan = || Plan::new(device, &shape, &spec);
        let plan = match &planned.tuned {
            Some(tuned) => tuned.plan(device, plan)?,
            None => plan()?,
        };
        let workspace = stream.alloc(plan.workspace_bytes())?;
        let mut ready = Ready {
            plan,
            workspace,
            replay: None,
        };
        if planned.way == Way::Graph {
            ready.replay = Some(self.capture(&mut ready)?);
        }
        Ok(ready)
    }

    /// Captures a sort to memory of its own.
    fn capture(&self, ready: &mut Ready) -> Result<Replay, Error> {
        let stream = &self.card.stream;
        let failed = |error| Error::Driver {
            doing: "capturing a graph",
            why: format!("{error:?}"),
        };
        let mut keys = stream.alloc::<u8>(size_of::<W>() * self.sorted_keys())?;
        let mut values = stream.alloc::<u8>(self.values.len())?;
        // The first launch of a kernel loads it, which a capture would refuse.
        self.enqueue(ready, (&mut keys).into(), (&mut values).into())?;
        stream.synchronize()?;
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.raw().begin_capture(mode).map_err(failed)?;
        let enqueued = self.enqueue(ready, (&mut keys).into(), (&mut values).into());
        // The capture ends in any case, or the stream could not be used any more.
        let graph = stream.raw().end_capture(CUgraphInstantiate_flags(0));
        enqueued?;
        let graph = graph.map_err(failed)?.ok_or_else(|| Error::Driver {
            doing: "capturing a graph",
            why: "nothing was captured".into(),
        })?;
        graph.upload().map_err(failed)?;
        Ok(Replay {
            graph,
            keys,
            values,
        })
    }

    /// How many keys a sort writes: none for an argsort.
    fn sorted_keys(&self) -> usize {
        match self.what.task {
            Task::Argsort => 0,
            Task::Keys | Task::Pairs => self.words.len(),
        }
    }

    /// Enqueues a sort of the input to these.
    fn enqueue(
        &self,
        ready: &mut Ready,
        keys: SliceMut<'_, u8>,
        values: SliceMut<'_, u8>,
    ) -> Result<(), Error> {
        let (stream, plan) = (&self.card.stream, &ready.plan);
        let words = Slice::from(&self.words);
        let workspace = SliceMut::from(&mut ready.workspace);
        match self.what.task {
            Task::Keys => plan.sort_to(stream, words, keys.cast::<W>()?, workspace),
            Task::Argsort => plan.argsort(stream, words, values.cast::<u32>()?, workspace),
            Task::Pairs => with_value!(self.value_bytes, |V| {
                let from = Slice::from(&self.values).cast::<V>()?;
                let (keys, values) = (keys.cast::<W>()?, values.cast::<V>()?);
                plan.sort_pairs_to(stream, words, from, keys, values, workspace)
            }),
        }
    }

    /// Enqueues a sort in place.
    fn enqueue_in_place(
        &self,
        ready: &mut Ready,
        keys: SliceMut<'_, u8>,
        values: SliceMut<'_, u8>,
    ) -> Result<(), Error> {
        let (stream, plan) = (&self.card.stream, &ready.plan);
        let workspace = SliceMut::from(&mut ready.workspace);
        let keys = keys.cast::<W>()?;
        match self.what.task {
            Task::Pairs => with_value!(self.value_bytes, |V| {
                plan.sort_pairs(stream, keys, values.cast::<V>()?, workspace)
            }),
            Task::Keys | Task::Argsort => plan.sort(stream, keys, workspace),
        }
    }

    /// One timed sort.
    pub(super) fn planned(&self, planned: &mut Planned) -> Timed {
        let stream = &self.card.stream;
        let way = planned.way;
        let Some(ready) = &mut planned.ready else {
            return Err("nothing was prepared".into());
        };
        let to = || -> Result<_, Error> {
            let keys = stream.alloc::<u8>(size_of::<W>() * self.sorted_keys())?;
            Ok((keys, stream.alloc::<u8>(self.values.len())?))
        };
        let from = || -> Result<_, Error> {
            let mut keys = stream.alloc::<u8>(size_of::<W>() * self.words.len())?;
            stream.copy(Slice::from(&self.words).cast::<u8>()?, &mut keys)?;
            Ok((keys, stream.copied(&self.values)?))
        };
        let (seconds, keys, values) = match way {
            Way::To => {
                let (mut keys, mut values) = to().map_err(words_of)?;
                let seconds = self.timed(stream, || {
                    let enqueued = self.enqueue(ready, (&mut keys).into(), (&mut values).into());
                    enqueued.map_err(words_of)
                })?;
                (seconds, keys, values)
            }
            Way::InPlace => {
                let (mut keys, mut values) = from().map_err(words_of)?;
                let seconds = self.timed(stream, || {
                    let (keys, values) = ((&mut keys).into(), (&mut values).into());
                    self.enqueue_in_place(ready, keys, values).map_err(words_of)
                })?;
                (seconds, keys, values)
            }
            Way::Graph => {
                let Some(replay) = &ready.replay else {
                    return Err("nothing was captured".into());
                };
                let seconds = self.timed(stream, || {
                    let launched = replay.graph.launch();
                    launched.map_err(|error| format!("cannot launch a graph: {error:?}"))
                })?;
                let copies = || -> Result<_, Error> {
                    Ok((stream.copied(&replay.keys)?, stream.copied(&replay.values)?))
                };
                let (keys, values) = copies().map_err(words_of)?;
                (seconds, keys, values)
            }
        };
        let output = match self.what.task {
            Task::Keys => Output::Keys(keys),
            Task::Pairs => Output::Pairs(keys, values),
            Task::Argsort => Output::Index(values),
        };
        Ok((seconds, Some(output)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_ways_or_refused() {
        let method = |variant: Option<&str>, block| Method {
            algorithm: None,
            radix_bits: None,
            block,
            variant: variant.map(str::to_owned),
        };
        for (variant, block, expected) in [
            (None, None, Ok(Way::To)),
            (Some("text"), None, Ok(Way::To)),
            (Some("in-place"), None, Ok(Way::InPlace)),
            (Some("graph"), None, Ok(Way::Graph)),
            (Some("one-stream"), None, Err("in-place, graph")),
            (None, Some(64), Err("--algorithm")),
        ] {
            let made =
                Planned::of("auto", &method(variant, block), None, true).map(|planned| planned.way);
            match (&made, expected) {
                (Ok(way), Ok(expected)) => assert_eq!(*way, expected, "{variant:?}"),
                (Err(failure), Err(part)) => {
                    let words = failure.to_string();
                    assert!(words.contains(part), "{variant:?}: {words}");
                }
                _ => panic!("{variant:?} {block:?}: {made:?}, and not {expected:?}"),
            }
        }
    }
}
