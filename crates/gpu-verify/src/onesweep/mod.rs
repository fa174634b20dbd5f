//! The cases of the onesweep engine: its plans on the device's own memory, and the engine over them.
//!
//! Each sort's output is what the host's stable sort makes of the same keys, or, where that takes too
//! long, what the checks on the device say it is. Every buffer has its guards, every output and
//! workspace begins as poison.

mod device;
mod disordered;
mod failed;
mod large;
mod raw;
mod repeated;
mod skips;
mod small;
mod sorting;

use std::fmt::Debug;
use std::sync::Arc;

use anyhow::{Result, ensure};
use sweepsort_core::{Shape, Width, Word};
use sweepsort_cuda::{Buffer, Codec, Device, Plan, Spec, Stream};
use sweepsort_testkit::suite::{self, Scope};

use crate::{Case, checks, guarded, told};

/// The engine's name for it.
const ALGORITHM: &str = "onesweep";

/// Keys of a tile, narrow and wide, and of the one block of a small input, for many a width.
const TILES: [usize; 13] = [
    1024, 1280, 1792, 2304, 2816, 4096, 4352, 4864, 8192, 8448, 12_672, 15_744, 16_384,
];

/// More keys than this are sorted by wide tiles, on a device of up to 210 multiprocessors.
const WIDE: usize = 1_700_003;

/// Every case, those that fail soonest first.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![case("failed/launch", failed::launch)];
    for width in Width::ALL {
        let name = format!("device/{}", width.bits());
        cases.push(Case::new(name, move || told(device::run(width))));
    }
    cases.extend([
        case("raw/unaligned", raw::run),
        case("skips", skips::run),
        case("disordered", disordered::run),
        case("graph/capture", repeated::graphs),
        case("threads/streams", repeated::threads),
        case("small/u32", small::keys::<u32>),
        case("small/u32+u32", small::pairs::<u32>),
        case("small/u64", small::keys::<u64>),
    ]);
    cases.push(Case::new(format!("suite/{ALGORITHM}"), suite));
    cases.push(case("memory/oom", failed::memory));
    cases.extend(large::cases());
    cases
}

fn case(name: &str, run: fn() -> Result<usize>) -> Case {
    Case::new(name.to_owned(), move || told(run()))
}

/// The testkit's table, through the engine. It does all of it.
fn suite() -> Result<usize, String> {
    let engine = guarded()?;
    let scope = Scope {
        largest_power: 22,
        one_in: 12,
        tiles: &TILES,
    };
    let outcome = suite::run(&engine, ALGORITHM, scope)?;
    let written = engine.device().check_canaries();
    written.map_err(|error| error.to_string())?;
    match outcome.unsupported {
        0 => Ok(outcome.passed),
        some => Err(format!("{some} cases are not supported")),
    }
}

/// A device with guards around every buffer, and a stream of it.
struct Rig {
    device: Arc<Device>,
    stream: Stream,
}

impl Rig {
    /// On the first device.
    fn open() -> Result<Rig> {
        Self::on(&Device::open_guarded(0)?)
    }

    /// With a stream of its own.
    fn on(device: &Arc<Device>) -> Result<Rig> {
        Ok(Rig {
            stream: device.stream()?,
            device: device.clone(),
        })
    }

    fn plan(&self, shape: Shape, spec: &Spec) -> Result<Plan> {
        Ok(Plan::new(&self.device, &shape, spec)?)
    }

    /// As much workspace as a plan asks for.
    fn workspace(&self, plan: &Plan) -> Result<Buffer<u8>> {
        Ok(self.stream.alloc(plan.workspace_bytes())?)
    }

    /// Whether nothing was written outside of a buffer.
    fn intact(&self) -> Result<()> {
        self.device.check_canaries()?;
        Ok(())
    }
}

/// Unsigned words in ascending order, by all their bits.
fn ascending(width: Width) -> Spec {
    Spec {
        codec: Codec::UNSIGNED,
        bits: 0..width.bits(),
        stable: true,
        algorithm: ALGORITHM.into(),
    }
}

/// `n` random words, made of the bits of `mask`.
fn random<W: Word>(n: usize, seed: u64, mask: W) -> Vec<W> {
    (0..n as u64)
        .map(|i| checks::random(i, seed, mask))
        .collect()
}

/// The first place at which an array is not what it must be.
fn same<T: PartialEq + Debug>(what: &str, got: &[T], expected: &[T]) -> Result<()> {
    ensure!(
        got.len() == expected.len(),
        "{what}: {} elements, expected {}",
        got.len(),
        expected.len()
    );
    match got.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(i) => anyhow::bail!(
            "{what}: element {i} of {} is {:x?}, expected {:x?}",
            got.len(),
            got[i],
            expected[i]
        ),
    }
}
