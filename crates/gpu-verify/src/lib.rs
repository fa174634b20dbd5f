//! The proof of the GPU engines: what must run on a GPU, and the record of the last whole run.
//!
//! Machines that test every change have no GPU. So the whole suite is run on one by hand, with a
//! prebuilt program that needs no cargo, and `verified.json` keeps what ran: the hash of the kernels'
//! sources and images, the device, the driver, the day, and every case by name. The ordinary tests
//! fail where that hash is not the present one, or a case is missing; so kernels that never ran on a
//! GPU cannot land unnoticed.
//!
//! | cases | what they prove |
//! |---|---|
//! | `golden/…` | the worked examples of the teaching texts, array by array, from the device |
//! | `check/…` | the checks on the device: they see what the host sees, and every planted fault |
//! | `bisect/…` | every array beside the twin's, and sorts in which a stage is the twin's |
//! | `failed/launch` | calls that do not fit a plan, and a device that is spoiled: errors, no panic |
//! | `device/…` | plans of a key width on device memory: payloads, orders, policies, ranges of bits |
//! | `raw/unaligned` | addresses at every multiple of an element's size, and what lies around them |
//! | `skips` | how many passes move keys of which some bytes vary |
//! | `disordered` | tiles that a wrong ranker has disordered are ranked again |
//! | `graph/capture` | sorts in CUDA graphs, replayed with other contents |
//! | `threads/streams` | many threads, each with a stream of its own; a plan that two share |
//! | `small/…` | every size up to 2100, then steps up to three tiles |
//! | `suite/…` | the testkit's table, with guards around every buffer |
//! | `memory/oom` | memory that is short, at a plan and in the engine, and then is not |
//! | `blocks/…` | digits and blocks of every kind that an algorithm takes |
//! | `hybrid/32` to `128`, `count/…` | keys alone in every pattern, type and order, around every threshold |
//! | `hybrid/forced` | algorithms asked for by name: what each sorts, and what it refuses |
//! | `hybrid/figures` | the ways of large inputs, taken by small ones of every pattern |
//! | `hybrid/canaries` | keys alone at every address, workspaces that hold anything |
//! | `hybrid/sift` | keys of which many are common, with every kind of others |
//! | `hybrid/quantiles` | skewed keys, and what misleads a sample of them |
//! | `hybrid/graph` | one graph for each width and size, replayed with every pattern |
//! | `hybrid/streams` | keys alone of all widths sorted at once, two streams sharing a plan |
//! | `few/…` | few keys with values and indexes, by any bits: one block, around every size where it changes |
//! | `large/…`, `hybrid/large/…` | 2^24 to 2^32 + 3 keys, checked on the device: order, multiset, stability |
//!
//! Those were the CUDA engine's. The wgpu engine's own:
//!
//! | cases | what they prove |
//! |---|---|
//! | `wgpu/limits` | shapes, buffers and tasks that are refused: errors that say what would do, no panic |
//! | `wgpu/count` | a number of keys that stands in a buffer; what lies behind stays as it is |
//! | `wgpu/canaries` | parts of buffers with others' bytes around, workspaces that hold anything |
//! | `wgpu/threads` | threads that build pipelines at once, share a plan, and share the engine |
//! | `wgpu/suite/…` | the testkit's table, by every kind of shaders and dispatches |
//! | `wgpu/large/…` | up to 2^28 keys, checked by the host: order, multiset, stability |
//! | `wgpu/lost` | memory that is short, and then is not |
//!
//! An adapter that needs no GPU runs these too, with fewer keys: the ordinary tests do so.

mod bisection;
mod checks;
mod golden;
#[path = "../../cuda/src/hash.rs"]
#[allow(dead_code, reason = "files are hashed here that were compiled in")]
mod hash;
mod hybrid;
mod keys;
mod large;
mod misplaced;
mod onesweep;
mod record;
mod resident;
mod rig;
mod sorting;
mod webgpu;

use sweepsort_core::{Width, with_width};
use sweepsort_cuda::CudaEngine;
use sweepsort_cuda::classic::{Algorithm, MAX_KEYS};
use sweepsort_testkit::suite::{self, Scope};

pub use record::{EngineRecord, Passed, Verified};
pub use webgpu::{Place, wgpu_cases, wgpu_sources};

/// Something that must hold on a GPU.
pub struct Case {
    /// Its name.
    pub name: String,
    /// Whether it takes much of a device's memory, and so runs beside no other.
    pub alone: bool,
    run: Box<dyn Fn() -> Result<usize, String>>,
}

impl Case {
    fn new(name: String, run: impl Fn() -> Result<usize, String> + 'static) -> Case {
        Case {
            name,
            alone: false,
            run: Box::new(run),
        }
    }

    /// A case that runs beside no other.
    fn alone(name: String, run: impl Fn() -> Result<usize, String> + 'static) -> Case {
        Case {
            alone: true,
            ..Case::new(name, run)
        }
    }

    /// Runs it. Returns how many things were compared.
    ///
    /// # Errors
    /// What did not hold.
    pub fn run(&self) -> Result<usize, String> {
        (self.run)()
    }
}

/// Every case of the CUDA engine, those that fail soonest first.
pub fn cuda_cases() -> Vec<Case> {
    let mut cases: Vec<Case> = golden::examples()
        .map(|(example, algorithm)| {
            let name = format!("golden/{}", example.name);
            Case::new(name, move || golden::run(example, algorithm))
        })
        .collect();
    for width in Width::ALL {
        cases.push(Case::new(format!("check/u{}", width.bits()), move || {
            with_width!(width, |K| told(checks::run::<K>()))
        }));
    }
    cases.extend(onesweep::cases());
    cases.extend(hybrid::cases());
    for &algorithm in Algorithm::ALL {
        let name = algorithm.name();
        cases.push(Case::new(format!("bisect/{name}"), move || {
            told(bisection::run(name))
        }));
    }
    for &algorithm in Algorithm::ALL {
        let name = algorithm.name();
        cases.push(Case::new(format!("suite/{name}"), move || {
            let scope = Scope {
                largest_power: 20,
                one_in: 8,
                tiles: &[1024, 4096, 8192],
            };
            run_suite(algorithm, None, None, scope)
        }));
        cases.push(Case::new(format!("blocks/{name}"), move || {
            blocks(algorithm)
        }));
        for power in [24, 28] {
            cases.push(Case::alone(
                format!("large/{name}/u32/2^{power}"),
                move || told(large::run::<u32>(algorithm, 1 << power)),
            ));
        }
        cases.push(Case::alone(format!("large/{name}/u64/2^27"), move || {
            told(large::run::<u64>(algorithm, 1 << 27))
        }));
        if matches!(algorithm, Algorithm::BlockHistogram | Algorithm::Coalesced) {
            for (n, size) in [(1 << 30, "2^30"), (MAX_KEYS, "2^32-2^20")] {
                cases.push(Case::alone(format!("large/{name}/u32/{size}"), move || {
                    told(large::keys::<u32>(algorithm, n))
                }));
            }
        }
    }
    cases
}

fn case(name: &str, run: fn() -> anyhow::Result<usize>) -> Case {
    Case::new(name.to_owned(), move || told(run()))
}

/// What did not hold, in words.
fn told(outcome: anyhow::Result<usize>) -> Result<usize, String> {
    outcome.map_err(|error| format!("{error:#}"))
}

/// An engine whose buffers have guards.
fn guarded() -> Result<CudaEngine, String> {
    let device = sweepsort_cuda::Device::open_guarded(0).map_err(|error| error.to_string())?;
    CudaEngine::on(device).map_err(|error| error.to_string())
}

/// The testkit's table, through the engine, by an algorithm that does all of it.
fn whole_suite(algorithm: &'static str, scope: Scope) -> Result<usize, String> {
    let engine = guarded()?;
    let outcome = suite::run(&engine, algorithm, scope)?;
    let written = engine.device().check_canaries();
    written.map_err(|error| error.to_string())?;
    match outcome.unsupported {
        0 => Ok(outcome.passed),
        some => Err(format!("{some} cases are not supported")),
    }
}

fn run_suite(
    algorithm: Algorithm,
    radix_bits: Option<u32>,
    block: Option<usize>,
    scope: Scope,
) -> Result<usize, String> {
    let mut engine = guarded()?;
    (engine.radix_bits, engine.block) = (radix_bits, block);
    let outcome = suite::run(&engine, algorithm.name(), scope)?;
    let written = engine.device().check_canaries();
    written.map_err(|error| error.to_string())?;
    Ok(outcome.passed)
}

/// Every digit that an algorithm takes, with small and large blocks.
fn blocks(algorithm: Algorithm) -> Result<usize, String> {
    let mut passed = 0;
    for &radix_bits in algorithm.radix_bits() {
        for block in [1, 4, 32, 64, 256, 1024, 2048, 8192] {
            passed += run_suite(
                algorithm,
                Some(radix_bits),
                Some(block),
                Scope {
                    one_in: 500,
                    largest_power: 14,
                    ..Scope::SMALL
                },
            )
            .map_err(|what| format!("{radix_bits} bits, blocks of {block}: {what}"))?;
        }
    }
    Ok(passed)
}
