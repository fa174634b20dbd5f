//! `sweepsort check`: is a file in order, and does it hold another's keys?

use sweepsort_testkit::{Fingerprint, Wanted, fingerprint, first_disorder};

use crate::args::CheckArgs;
use crate::exit::{Failure, Result};
use crate::format::Input;
use crate::format::text::{Text, shown};
use crate::memory::{self, Keys};
use crate::progress::Progress;
use crate::sort;
use crate::summary::{grouped, print};
use crate::with_key;

/// Runs `check`.
///
/// # Errors
/// [`Failure::Found`] for disorder and for another multiset; otherwise see [`Failure`].
pub fn run(args: &CheckArgs) -> Result<()> {
    let input = open(args, Some(&args.file))?;
    let (ty, name) = (input.ty(), input.name().to_owned());
    // Pairs leave ties as they were; what is in order without ties is so with them.
    let wanted = sort::wanted(&args.order, ty, true)?;
    let other = match &args.against {
        Some(path) => Some(open(args, Some(path))?),
        None => None,
    };
    if let Some(other) = &other
        && other.ty() != ty
    {
        return Err(Failure::input(format!(
            "{name} holds {ty} keys and {} {} keys; only files of one type can hold the same",
            other.name(),
            other.ty()
        )));
    }

    let progress = Progress::new(args.quiet);
    let keys = input.read(&progress)?;
    progress.stage("checking", None);
    with_key!(ty, |K| in_order::<K>(&keys, &wanted, &name))?;
    if let Some(other) = other {
        let sum = |keys: &Keys| with_key!(ty, |K| fingerprint(keys.radix::<K>()));
        let ours = sum(&keys);
        drop(keys);
        let other_name = other.name().to_owned();
        let theirs = sum(&other.read(&progress)?);
        same_keys(&name, ours, &other_name, theirs)?;
        drop(progress);
        return tell(
            args,
            &format!(
                "{name}: {} {ty} keys in order, those of {other_name}",
                grouped(ours.keys())
            ),
        );
    }
    drop(progress);
    tell(
        args,
        &format!("{name}: {} {ty} keys in order", grouped(keys.len() as u64)),
    )
}

/// Opens a file, and refuses one that does not fit memory.
fn open(args: &CheckArgs, path: Option<&std::path::PathBuf>) -> Result<Input> {
    let input = Input::open(
        path.map(|path| path.as_path()),
        args.key.format,
        args.key.ty,
    )?;
    if let Some(bytes) = input.bytes() {
        memory::require(bytes, &format!("checking {}", input.name()))?;
    }
    Ok(input)
}

/// Prints a good result.
fn tell(args: &CheckArgs, line: &str) -> Result<()> {
    match args.quiet {
        true => Ok(()),
        false => print(&format!("{line}\n")),
    }
}

fn in_order<K: Text>(keys: &Keys, wanted: &Wanted, name: &str) -> Result<()> {
    let Some(at) = first_disorder(keys.radix::<K>(), wanted) else {
        return Ok(());
    };
    let keys = keys.slice::<K>();
    Err(Failure::Found(format!(
        "{name}: not in order: key {at} (counted from 0) is {}, after {}",
        shown(keys[at]),
        shown(keys[at - 1])
    )))
}

fn same_keys(name: &str, ours: Fingerprint, other_name: &str, theirs: Fingerprint) -> Result<()> {
    if ours == theirs {
        return Ok(());
    }
    let (n, m) = (ours.keys(), theirs.keys());
    Err(Failure::Found(if n == m {
        format!("{name}: in order, but its {n} keys are not those of {other_name}")
    } else {
        format!("{name}: in order, but it has {n} keys and {other_name} has {m}")
    }))
}
