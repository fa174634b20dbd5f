//! The cases of the wgpu engine: on a GPU, and on a software adapter as far as that gets in a minute.

mod count;
mod guards;
mod large;
mod limits;
mod memory;
mod rig;
mod suites;
mod threads;

use anyhow::Result;
use sweepsort_wgpu::{Options, shader};

use crate::{Case, hash, told};

/// Where cases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the adapter that is preferred: a GPU.
    Gpu,
    /// On the first software adapter, with fewer keys.
    Software,
}

/// What of `sweepsort-wgpu` decides which instructions a GPU gets, beside the shaders.
const MAKERS: [(&str, &str); 4] = [
    (
        "src/kernels.rs",
        include_str!("../../../wgpu/src/kernels.rs"),
    ),
    ("src/shader.rs", include_str!("../../../wgpu/src/shader.rs")),
    ("src/task.rs", include_str!("../../../wgpu/src/task.rs")),
    ("src/tuning.rs", include_str!("../../../wgpu/src/tuning.rs")),
];

/// The SHA-256, in hexadecimal digits, of the wgpu engine's shaders and of the sources that put them
/// together and tune them. Those that enqueue them are not in it: what they do is the same on every
/// adapter, and the ordinary tests run it on one.
pub fn wgpu_sources() -> String {
    let shaders = shader::FILES.map(|file| (format!("shaders/{}.wgsl", file.name), file.text));
    let makers = MAKERS.map(|(name, text)| (name.to_owned(), text));
    let mut files = [shaders.as_slice(), &makers].concat();
    files.sort_unstable();
    hash::contents_hash(&files)
}

/// Kinds of shaders and dispatches that can be asked for on any adapter, by name.
const KINDS: [(&str, Options); 7] = [
    ("default", DEFAULT),
    (
        "no-subgroups",
        Options {
            subgroups: Some(false),
            ..DEFAULT
        },
    ),
    (
        "storage-16384",
        Options {
            workgroup_storage: Some(16 << 10),
            ..DEFAULT
        },
    ),
    (
        "tickets",
        Options {
            tickets: Some(true),
            ..DEFAULT
        },
    ),
    (
        "no-tickets",
        Options {
            tickets: Some(false),
            ..DEFAULT
        },
    ),
    (
        "two-dimensional",
        Options {
            most_groups: Some(16),
            ..DEFAULT
        },
    ),
    (
        "silent",
        Options {
            silent: true,
            ..DEFAULT
        },
    ),
];

/// Nothing that the engine would not do itself.
const DEFAULT: Options = Options {
    subgroups: None,
    workgroup_storage: None,
    tile: None,
    most_groups: None,
    tickets: None,
    silent: false,
};

/// Every case of the wgpu engine, those that fail soonest first.
pub fn wgpu_cases(place: Place) -> Vec<Case> {
    let case = |name: String, run: fn(Place) -> Result<usize>| {
        Case::new(format!("wgpu/{name}"), move || told(run(place)))
    };
    let mut cases = vec![
        case("limits".to_owned(), limits::run),
        case("count".to_owned(), count::run),
        case("canaries".to_owned(), guards::run),
        case("threads".to_owned(), threads::run),
    ];
    for (name, options) in KINDS {
        cases.push(Case::new(format!("wgpu/suite/{name}"), move || {
            told(suites::run(place, options))
        }));
    }
    cases.extend(large::cases(place));
    cases.push(case("lost".to_owned(), memory::run));
    cases
}
