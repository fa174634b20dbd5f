//! What cannot be done is an error that says what would do, and nothing panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, Result, anyhow, ensure};
use sweepsort_core::{
    Engine, Error, IndexMut, Shape, Spec, Task, ValuesMut, Width, Words, WordsMut,
};
use sweepsort_wgpu::{Bound, Buffers, MAX_KEYS, Options, Plan};

use super::Place;
use super::rig::{Rig, USAGE};

/// Shapes, options, buffers and tasks that are refused. Returns how many there were.
pub fn run(place: Place) -> Result<usize> {
    let rig = Rig::open(place, Options::default())?;
    let refused = plans(&rig)? + options(place)? + bindings(&rig)? + tasks(&rig)?;
    rig.is_well()?;
    Ok(refused)
}

/// Whether something was refused, by an error that says this, and without a panic.
fn refused<T>(
    what: &str,
    says: &[&str],
    attempt: impl FnOnce() -> Result<T, Error>,
) -> Result<usize> {
    let outcome = catch_unwind(AssertUnwindSafe(attempt));
    let outcome = outcome.map_err(|_| anyhow!("{what}: a panic"))?;
    let error = outcome
        .err()
        .with_context(|| format!("{what} is not refused"))?;
    let named = !matches!(error, Error::Device { .. });
    let said = error.to_string();
    ensure!(
        named && says.iter().all(|part| said.contains(part)),
        "{what}: '{said}' does not say {says:?}"
    );
    Ok(1)
}

/// Shapes and specifications that no plan is for.
fn plans(rig: &Rig) -> Result<usize> {
    let natural = Spec::natural::<u32>();
    let bits = |bits| Spec {
        bits,
        ..natural.clone()
    };
    let hybrid = Spec {
        algorithm: "hybrid".into(),
        ..natural.clone()
    };
    let limits = rig.device().limits();
    let too_wide = limits.max_storage_buffer_binding_size as usize / 16 + 1;
    let few = Shape::keys(100, Width::W32);
    #[rustfmt::skip]
    let mut cases: Vec<(&str, Shape, Spec, &[&str])> = vec![
        ("keys of 128 bits", Shape::keys(100, Width::W128), Spec::natural::<u128>(), &["128 bits", "64 bits"]),
        ("values of 5 bytes", Shape::pairs(100, Width::W32, 5), natural.clone(), &["5 bytes", "4, 8, 12 or 16"]),
        ("values of 20 bytes", Shape::pairs(100, Width::W32, 20), natural.clone(), &["20 bytes", "4, 8, 12 or 16"]),
        ("an index of 8 bytes", Shape::argsort(100, Width::W32, 8), natural.clone(), &["8 bytes", "4 bytes"]),
        ("more keys than a state counts", Shape::keys(MAX_KEYS + 1, Width::W32), natural.clone(), &["keys"]),
        ("more keys than there can be", Shape::keys(usize::MAX / 64, Width::W32), natural.clone(), &["keys"]),
        ("bits beyond the key's", few, bits(0..33), &["0..33", "32 bits"]),
        #[expect(clippy::reversed_empty_ranges, reason = "it is to be refused")]
        ("bits the wrong way round", few, bits(9..8), &["9..8"]),
        ("an unknown algorithm", few, hybrid, &["hybrid", "onesweep"]),
    ];
    if too_wide <= MAX_KEYS {
        cases.push((
            "values larger than a binding",
            Shape::pairs(too_wide, Width::W32, 16),
            natural.clone(),
            &["max_storage_buffer_binding_size"],
        ));
    }
    let mut done = 0;
    for (what, shape, spec, says) in cases {
        done += refused(what, says, || Plan::new(rig.kernels(), &shape, &spec))?;
    }
    Ok(done)
}

/// Limits too small for a sort.
fn options(place: Place) -> Result<usize> {
    let natural = Spec::natural::<u32>();
    let small = Options {
        workgroup_storage: Some(1024),
        ..Options::default()
    };
    // No more tiles than so many squared are possible, nor digits, where each has a workgroup.
    let few = Options {
        most_groups: Some(8),
        ..Options::default()
    };
    let runs = Spec {
        algorithm: "reduce-then-scan".into(),
        ..natural.clone()
    };
    let dimension = "max_compute_workgroups_per_dimension";
    let storage = "max_compute_workgroup_storage_size";
    let mut done = 0;
    for (what, options, n, spec, says) in [
        ("workgroup memory", small, 100, &natural, ["1024", storage]),
        (
            "workgroups for tiles",
            few,
            1 << 20,
            &natural,
            ["8", dimension],
        ),
        ("workgroups for digits", few, 100, &runs, ["8", dimension]),
    ] {
        let rig = Rig::open(place, options)?;
        let shape = Shape::keys(n, Width::W32);
        done += refused(what, &says, || Plan::new(rig.kernels(), &shape, spec))?;
    }
    Ok(done)
}

/// What a buffer is to be, and the byte in it where a part begins.
#[derive(Clone, Copy)]
struct Part {
    bytes: u64,
    usage: wgpu::BufferUsages,
    at: u64,
}

/// Buffers for a sort of pairs.
#[derive(Clone, Copy)]
struct Parts {
    keys: Part,
    values: Option<Part>,
    workspace: Part,
    count: Option<Part>,
}

/// A fault in the buffers of a sort that would do.
type Fault = fn(&mut Parts);

/// Buffers that do not do.
fn bindings(rig: &Rig) -> Result<usize> {
    const N: u64 = 1000;
    let pairs = rig.plan(
        Shape::pairs(N as usize, Width::W32, 4),
        &Spec::natural::<u32>(),
    )?;
    let keys = rig.plan(Shape::keys(N as usize, Width::W32), &Spec::natural::<u32>())?;
    let index = rig.plan(
        Shape::argsort(N as usize, Width::W32, 4),
        &Spec::natural::<u32>(),
    )?;
    let part = |bytes| Part {
        bytes,
        usage: USAGE,
        at: 0,
    };
    let right = Parts {
        keys: part(4 * N),
        values: Some(part(4 * N)),
        workspace: part(pairs.workspace_bytes()),
        count: Some(part(4)),
    };
    bind(rig, &pairs, &right).context("buffers that do are refused")?;
    let alignment = rig.device().limits().min_storage_buffer_offset_alignment;
    let aligned = format!("multiple of {alignment} (min_storage_buffer_offset_alignment)");
    let [keys_aligned, values_aligned, workspace_aligned] = [
        ["keys at byte 4 ", &aligned],
        ["values at byte 4 ", &aligned],
        ["workspace at byte 4 ", &aligned],
    ];
    #[rustfmt::skip]
    let cases: Vec<(&str, &Plan, Fault, &[&str])> = vec![
        ("short keys", &pairs, |it| it.keys.bytes -= 4, &["keys of 3996 bytes", "4000 bytes"]),
        ("short values", &pairs, |it| values(it).bytes -= 4, &["values of 3996 bytes", "4000 bytes"]),
        ("a short workspace", &pairs, |it| it.workspace.bytes -= 4, &["workspace of"]),
        ("a workspace for less", &pairs, |it| it.workspace.bytes = 4, &["workspace of 4 bytes"]),
        ("misaligned keys", &pairs, |it| shift(&mut it.keys), &keys_aligned),
        ("misaligned values", &pairs, |it| shift(values(it)), &values_aligned),
        ("a misaligned workspace", &pairs, |it| shift(&mut it.workspace), &workspace_aligned),
        ("keys without usage", &pairs, |it| it.keys.usage = wgpu::BufferUsages::COPY_DST, &["keys", "STORAGE"]),
        ("values without usage", &pairs, |it| values(it).usage = wgpu::BufferUsages::COPY_DST, &["values", "STORAGE"]),
        ("a workspace without usage", &pairs, |it| it.workspace.usage = wgpu::BufferUsages::COPY_DST, &["workspace", "STORAGE"]),
        ("pairs without values", &pairs, |it| it.values = None, &["without values"]),
        ("an index without one", &index, |it| { it.values = None; it.workspace.bytes *= 2; }, &["index to fill"]),
        ("values with keys alone", &keys, |_| (), &["values", "plan for pairs"]),
        ("a misaligned count", &pairs, |it| count(it).at = 2, &["number of keys at byte 2", "multiple of 4"]),
        ("a count beyond the end", &pairs, |it| count(it).at = 4, &["number of keys at byte 4 of a buffer of 4"]),
        ("a count far beyond", &pairs, |it| count(it).at = u64::MAX - 3, &["number of keys at byte"]),
        ("a count without usage", &pairs, |it| count(it).usage = wgpu::BufferUsages::COPY_DST, &["number of keys", "COPY_SRC"]),
    ];
    let mut done = 0;
    for (what, plan, fault, says) in cases {
        let mut parts = right;
        fault(&mut parts);
        done += refused(what, says, || bind(rig, plan, &parts))?;
    }
    Ok(done)
}

fn values(parts: &mut Parts) -> &mut Part {
    parts.values.as_mut().expect("there are values")
}

fn count(parts: &mut Parts) -> &mut Part {
    parts.count.as_mut().expect("there is a count")
}

/// As many bytes, 4 later.
fn shift(part: &mut Part) {
    part.at = 4;
    part.bytes += 4;
}

fn bind(rig: &Rig, plan: &Plan, parts: &Parts) -> Result<Bound, Error> {
    let buffer = |part: &Part| rig.buffer(part.bytes, part.usage);
    let keys = buffer(&parts.keys);
    let values = parts.values.as_ref().map(|part| (buffer(part), part.at));
    let workspace = buffer(&parts.workspace);
    let count = parts.count.as_ref().map(|part| (buffer(part), part.at));
    plan.bind(&Buffers {
        keys: keys.slice(parts.keys.at..),
        values: values.as_ref().map(|(values, at)| values.slice(at..)),
        count: count.as_ref().map(|(count, at)| (count, *at)),
        workspace: workspace.slice(parts.workspace.at..),
    })
}

/// Tasks that the engine refuses.
fn tasks(rig: &Rig) -> Result<usize> {
    let natural = Spec::natural::<u32>();
    let mut keys = [3u32, 1, 2];
    let mut wide = [3u128, 1, 2];
    let mut short = [0u8; 2];
    let mut long = [[0u8; 17]; 3];
    let mut index = [0u32; 4];
    let mut done = refused("keys of 128 bits", &["128 bits", "cpu"], || {
        rig.engine.run(
            Task::Keys(WordsMut::from(&mut wide[..])),
            &Spec::natural::<u128>(),
        )
    })?;
    done += refused("fewer values than keys", &["3 keys but 2 values"], || {
        let values = ValuesMut::new(&mut short);
        rig.engine
            .run(Task::Pairs(WordsMut::from(&mut keys[..]), values), &natural)
    })?;
    done += refused("values of 17 bytes", &["17 bytes", "16 bytes"], || {
        let values = ValuesMut::new(&mut long);
        rig.engine
            .run(Task::Pairs(WordsMut::from(&mut keys[..]), values), &natural)
    })?;
    done += refused(
        "more entries than keys",
        &["3 keys but 4 index entries"],
        || {
            let index = IndexMut::U32(&mut index);
            rig.engine
                .run(Task::Argsort(Words::from(&keys[..]), index), &natural)
        },
    )?;
    ensure!(
        (keys, wide, index) == ([3, 1, 2], [3, 1, 2], [0; 4]),
        "what was refused has changed: {keys:?}, {wide:?}, {index:?}"
    );
    Ok(done)
}
