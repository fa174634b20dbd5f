//! The testkit's table, and many keys.

use anyhow::{Result, anyhow, ensure};
use sweepsort_core::{Shape, Spec, Width, Word};
use sweepsort_testkit::suite::{self, Outcome, Scope};
use sweepsort_wgpu::{Buffers, Plan};

use super::rig::{Records, Rig};
use super::{Kind, Place};

/// How many keys every kind sorts, of 32 bits and 64, whatever else. A million take a software adapter more than a
/// minute where tiles are silent, so there the default kind alone has them, and the others some dozens of tiles.
fn many_keys(place: Place, kind: Kind) -> usize {
    match place {
        Place::Software if kind.name != "default" => 1 << 17,
        _ => 1 << 20,
    }
}

/// How much of the table a kind of shaders has to pass, and one in how many of the inputs in that.
fn scope(place: Place, kind: Kind) -> (Scope, usize) {
    let Kind { options, .. } = kind;
    let in_two = options.most_groups.is_some();
    let (largest_power, one_in, step) = match place {
        Place::Gpu if options.silent => (16, 16, 1),
        // Above, keys of 64 bits with values of 16 bytes would have more tiles than two dimensions have.
        Place::Gpu if in_two => (17, 16, 1),
        Place::Gpu => (22, 4, 1),
        Place::Software if in_two => (17, 200, 53),
        Place::Software if kind.name == "default" => (20, 20, 17),
        Place::Software => (13, 60, 53),
    };
    let scope = Scope {
        largest_power,
        one_in,
        tiles: &[],
    };
    (scope, step)
}

/// The table on a kind of shaders, with the sizes of the tiles that a few keys have, and those around; then
/// [`many_keys`]. Returns how many cases there were.
///
/// # Errors
/// The first case that fails; one that is refused, though it is not of keys of 128 bits; one of those that
/// is not.
pub fn run(place: Place, kind: Kind) -> Result<usize> {
    let rig = Rig::open(place, kind.options)?;
    let mut tiles = Vec::new();
    for shape in [
        Shape::keys(1, Width::W32),
        Shape::keys(1, Width::W64),
        Shape::pairs(1, Width::W32, 16),
    ] {
        let spec = Spec {
            algorithm: kind.algorithm.into(),
            ..Spec::natural::<u32>()
        };
        let plan = rig.plan(shape, &spec)?;
        tiles.extend([plan.tile_keys(), 2 * plan.tile_keys()]);
    }
    tiles.sort_unstable();
    tiles.dedup();
    let (scope, step) = scope(place, kind);
    let scope = Scope {
        // The table wants sizes that are there for good; these are a few words, once a process and kind.
        tiles: tiles.leak(),
        ..scope
    };
    let inputs = || suite::inputs(scope).step_by(step);
    let mut outcome = Outcome::default();
    for (input, works) in inputs() {
        suite::run_input(&rig.engine, kind.algorithm, &input, &works, &mut outcome)
            .map_err(|what| anyhow!(what))?;
    }
    rig.is_well()?;
    let wide = |(input, _): &(suite::Input, Vec<suite::Work>)| input.key.bits() == 128;
    let refused: usize = inputs().filter(wide).map(|(_, works)| works.len()).sum();
    ensure!(
        outcome.unsupported == refused,
        "{} cases are not supported, of 128 bits there are {refused}",
        outcome.unsupported
    );
    let n = many_keys(place, kind);
    let many = many::<u32>(&rig, kind, n)? + many::<u64>(&rig, kind, n)?;
    Ok(outcome.passed + many)
}

/// Pairs and an index of `n` keys, sorted on the device.
fn many<W: Word>(rig: &Rig, kind: Kind, n: usize) -> Result<usize> {
    let shapes = [Shape::pairs(n, W::WIDTH, 4), Shape::argsort(n, W::WIDTH, 4)];
    for shape in shapes {
        let records = Records::<W>::new(shape, 9);
        let plan = rig.plan(shape, &Records::<W>::spec_of(kind.algorithm))?;
        let (keys, values) = (rig.holding(&records.keys), rig.holding(&records.values));
        let bound = plan.bind(&Buffers {
            keys: keys.slice(..),
            values: Some(values.slice(..)),
            count: None,
            workspace: rig
                .buffer(plan.workspace_bytes(), Plan::WORKSPACE_USAGE)
                .slice(..),
        })?;
        rig.sort(&bound);
        let sorted = records.sorted(n);
        sorted.compare(kind.name, &rig.read(&keys)?, &rig.read(&values)?)?;
    }
    Ok(shapes.len())
}
