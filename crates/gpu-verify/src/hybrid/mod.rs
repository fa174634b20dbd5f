//! The cases of the hybrid sort, of keys of 32 to 128 bits, and of the counting of those of 8 and 16.
//!
//! Keys without values:
//! Neither is stable in its steps, for keys alone that are equal cannot be told apart; what must come
//! out is the one ascending order. A plan takes them by itself; `hybrid` and `count` force them, so
//! that skewed keys of many a tile are partitioned again and again, where a plan would rather sweep.

mod few;
mod figures;
mod forced;
mod large;
mod misplaced;
mod patterns;
mod quantiles;
mod records;
mod repeated;
mod sift;

use sweepsort_core::Width;
use sweepsort_testkit::suite::Scope;

use crate::{Case, case, told, whole_suite};

/// The plan's own choice.
const AUTO: &str = "auto";

/// The algorithm that is for keys of a width alone.
fn own(width: Width) -> &'static str {
    match width {
        Width::W8 | Width::W16 => "count",
        _ => "hybrid",
    }
}

/// Keys of many tiles; of a skewed sample they are swept.
const SKEWED: usize = (1 << 22) + 3;

/// So many keys of any width, or more, take a launch for each step.
const APART: usize = (1 << 21) + 1;

/// So many keys, or more, are partitioned twice.
fn twice(width: Width) -> usize {
    match width {
        Width::W128 => (1 << 22) + 1,
        _ => (1 << 23) + 1,
    }
}

/// So many keys, or more, may have their buckets in rooms, if any of that width; of 32 bits all that are partitioned twice
/// may, and so many are counted but once.
fn roomy(width: Width) -> Option<usize> {
    match width {
        Width::W32 => Some(10_000_000),
        Width::W64 => Some((3 << 22) + 1),
        _ => None,
    }
}

/// Where a sort of a width's keys changes its ways, powers of two apart: what fits the shared memory of
/// one block, tiles of a partition, cells of a local sort, and what all blocks of an H200 hold at once.
fn thresholds(width: Width) -> &'static [usize] {
    match width {
        Width::W8 | Width::W16 => &[12_288, 24_576, 49_152, 98_304, 1_500_000],
        Width::W32 => &[
            2304, 3400, 3584, 4608, 6144, 9216, 12_288, 18_432, 20_480, 24_576, 26_000, 28_672,
            36_864, 40_960, 49_152, 540_672, 1_081_344,
        ],
        Width::W64 => &[
            2304, 3072, 4608, 6144, 9216, 12_288, 13_824, 15_360, 18_432, 20_480, 24_576, 270_336,
            540_672,
        ],
        Width::W128 => &[
            2304, 3072, 4608, 6144, 9216, 10_240, 12_288, 135_168, 270_336,
        ],
    }
}

/// Every case, those that fail soonest first.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Width::ALL
        .into_iter()
        .map(|width| {
            let name = format!("{}/{}", own(width), width.bits());
            Case::new(name, move || told(patterns::run(width)))
        })
        .collect();
    cases.extend([
        case("hybrid/forced", forced::run),
        case("hybrid/figures", figures::run),
        case("hybrid/canaries", misplaced::run),
        case("hybrid/sift", sift::run),
        case("hybrid/quantiles", quantiles::run),
        case("hybrid/graph", repeated::graphs),
        case("hybrid/streams", repeated::streams),
    ]);
    cases.push(Case::new(format!("suite/{AUTO}"), || {
        whole_suite(
            AUTO,
            Scope {
                largest_power: 18,
                one_in: 12,
                tiles: &[],
            },
        )
    }));
    cases.extend(few::cases());
    cases.extend(records::cases());
    cases.extend(large::cases());
    cases
}
