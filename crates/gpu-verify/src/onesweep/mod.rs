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
pub(crate) mod repeated;
mod skips;
mod small;

use sweepsort_core::Width;
use sweepsort_cuda::Spec;
use sweepsort_testkit::suite::Scope;

use crate::{Case, case, told, whole_suite};

/// The engine's name for it.
const ALGORITHM: &str = "onesweep";

/// Keys of a tile, of blocks that wait for each other and of the one block of a small input, for many a
/// width.
const TILES: [usize; 11] = [
    1024, 2048, 2816, 4096, 4352, 4864, 8192, 8448, 12_672, 15_744, 16_384,
];

/// So many keys are sorted by a launch for each pass.
const WIDE: usize = 2_300_003;

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
    cases.push(Case::new(format!("suite/{ALGORITHM}"), || {
        whole_suite(
            ALGORITHM,
            Scope {
                largest_power: 22,
                one_in: 12,
                tiles: &TILES,
            },
        )
    }));
    cases.push(Case::alone("memory/oom".to_owned(), || {
        told(failed::memory())
    }));
    cases.extend(large::cases());
    cases
}

/// Unsigned words in ascending order, by all their bits.
fn ascending(width: Width) -> Spec {
    crate::rig::ascending(width, ALGORITHM)
}
