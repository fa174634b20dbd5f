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

/// A kind of shaders and dispatches that can be asked for on any adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    name: &'static str,
    options: Options,
    algorithm: &'static str,
}

/// All of them.
const KINDS: [Kind; 15] = [
    ONESWEEP,
    Kind {
        name: "steps",
        options: LIKE_MANY,
        ..ONESWEEP
    },
    Kind {
        name: "no-subgroups",
        options: Options {
            subgroups: Some(false),
            ..LIKE_MANY
        },
        ..ONESWEEP
    },
    Kind {
        name: "barriers-leaps",
        options: Options {
            subgroups: Some(false),
            ..DEFAULT
        },
        ..ONESWEEP
    },
    Kind {
        name: "storage-16384",
        options: Options {
            workgroup_storage: Some(16 << 10),
            ..LIKE_MANY
        },
        ..ONESWEEP
    },
    Kind {
        name: "tickets",
        options: Options {
            tickets: Some(true),
            ..DEFAULT
        },
        ..ONESWEEP
    },
    Kind {
        name: "no-tickets",
        options: Options {
            tickets: Some(false),
            ..LIKE_MANY
        },
        ..ONESWEEP
    },
    Kind {
        name: "two-dimensional",
        options: Options {
            most_groups: Some(MOST_GROUPS),
            ..DEFAULT
        },
        ..ONESWEEP
    },
    Kind {
        name: "two-dimensional-steps",
        options: Options {
            most_groups: Some(MOST_GROUPS),
            ..LIKE_MANY
        },
        ..ONESWEEP
    },
    Kind {
        name: "silent-leaps",
        options: Options {
            silent: true,
            ..DEFAULT
        },
        ..ONESWEEP
    },
    Kind {
        name: "silent-steps",
        options: Options {
            silent: true,
            ..LIKE_MANY
        },
        ..ONESWEEP
    },
    Kind {
        name: "runs-8",
        options: Options {
            runs: Some(RUNS),
            ..DEFAULT
        },
        algorithm: "reduce-then-scan",
    },
    Kind {
        name: "runs-4",
        options: LIKE_MANY,
        algorithm: "reduce-then-scan-4",
    },
    Kind {
        name: "least-runs-8",
        options: LEAST,
        algorithm: "reduce-then-scan",
    },
    Kind {
        name: "least-runs-4",
        options: LEAST,
        algorithm: "reduce-then-scan-4",
    },
];

/// The method that is the engine's choice where nothing speaks against it, as the engine does it by itself.
const ONESWEEP: Kind = Kind {
    name: "default",
    options: DEFAULT,
    algorithm: "onesweep",
};

/// Workgroups of a dispatch in one dimension, where it is to have two for fewer keys than limits ask for.
const MOST_GROUPS: u32 = 32;

/// So few runs that most of them have many tiles, and not all as many.
const RUNS: u32 = 37;

/// What every device has.
const LEAST: Options = Options {
    subgroups: Some(false),
    workgroup_storage: Some(16 << 10),
    most_groups: Some(MOST_GROUPS),
    direct: Some(0),
    runs: Some(RUNS),
    ..DEFAULT
};

/// Few keys sorted as many are: their tiles look back step by step.
const LIKE_MANY: Options = Options {
    direct: Some(0),
    like_many: true,
    ..DEFAULT
};

/// Nothing that the engine would not do itself.
const DEFAULT: Options = Options {
    subgroups: None,
    workgroup_storage: None,
    tile: None,
    most_groups: None,
    direct: None,
    like_many: false,
    runs: None,
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
    for kind in KINDS {
        cases.push(Case::new(format!("wgpu/suite/{}", kind.name), move || {
            told(suites::run(place, kind))
        }));
    }
    cases.extend(large::cases(place));
    cases.push(Case::alone("wgpu/lost".to_owned(), move || {
        told(memory::run(place))
    }));
    cases
}
