//! `sweepsort sort`: read, sort, write.
//!
//! What can be wrong with the question is found first, then what can be wrong with inputs, memory
//! and disk; only then are the keys read. Nothing that exists is touched before all of the output
//! is on disk.

use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

use sweepsort::{Error, Report, Sorter};
use sweepsort_testkit::{Ordered, Wanted};

use crate::args::{OrderArgs, SortArgs};
use crate::exit::{Failure, Result};
use crate::format::{self, Format, Input};
use crate::memory::{self, Keys};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::summary::Summary;
use crate::types::{Key, Type};
use crate::with_key;

/// Scratch that an engine takes beyond as much again as it sorts.
const SCRATCH: u64 = 64 << 20;

/// From this size on, an output goes past the page cache.
const LARGE: u64 = 64 << 20;

/// What an argsort takes for each key at most, its index included.
const ARGSORT_BYTES: u64 = 40;

/// Runs `sort`.
///
/// # Errors
/// See the exit codes of [`Failure`].
pub fn run(args: &SortArgs) -> Result<()> {
    usage(args)?;
    if let Some(threads) = args.threads {
        // It fails only if the pool runs already, and then its threads will do.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize);
        let _ = pool.build_global();
    }
    let input = Input::open(args.input.as_deref(), args.key.format, args.key.ty)?;
    let values = match &args.values {
        Some(path) => Some(Input::open(Some(path), None, args.values_type)?),
        None => None,
    };
    let ty = input.ty();
    let sorter = sorter(args, ty)?;
    let wanted = wanted(&args.order, ty, args.argsort || values.is_some())?;
    if let (Some(keys), Some(values)) = (input.count(), values.as_ref().and_then(Input::count)) {
        equally_many(args, keys, values)?;
    }
    let mut targets = vec![Target::of_keys(args, &input)?];
    if let Some(values) = &values {
        targets.push(Target::of_values(args, values)?);
    }
    fits_memory(args, &sorter, &input, values.as_ref())?;

    output::clean_when_interrupted();
    let progress = Progress::new(args.quiet);
    let mut time = Times::default();
    let mut outputs = time.write(|| create(args, &targets))?;

    let mut keys = time.read(|| input.read(&progress))?;
    let mut values = match values {
        Some(values) => Some(time.read(|| values.read(&progress))?),
        None => None,
    };
    if let Some(values) = &values {
        equally_many(args, keys.len(), values.len())?;
    }
    let count = keys.len();
    if args.argsort {
        targets[0] = targets[0].for_indices_of(count)?;
    }

    progress.stage("sorting", None);
    let unique = args.unique.then_some(&wanted);
    let report = time.sort(|| {
        with_key!(ty, |K| match &mut values {
            None if args.argsort => argsort::<K>(&sorter, &mut keys, unique),
            None => sort_keys::<K>(&sorter, &mut keys, unique),
            Some(values) => sort_pairs::<K>(&sorter, &mut keys, values, unique),
        })
    })?;

    time.write(|| {
        let parts: Vec<&Keys> = [Some(&keys), values.as_ref()]
            .into_iter()
            .flatten()
            .collect();
        let bytes = parts.iter().map(|part| part.bytes().len() as u64).sum();
        progress.stage("writing", Some(bytes));
        for ((part, target), output) in parts.iter().zip(&targets).zip(&mut outputs) {
            format::write(part, target.format, output, &progress)?;
        }
        progress.stage("flushing", None);
        outputs.iter_mut().try_for_each(Output::finish)?;
        output::commit(&mut outputs)
    })?;
    drop(progress);

    let summary = Summary {
        keys: count as u64,
        written: keys.len() as u64,
        ty,
        read_s: time.read.as_secs_f64(),
        sort_s: time.sort.as_secs_f64(),
        write_s: time.write.as_secs_f64(),
        report,
    };
    // Memory goes back to the system when the process ends, which is quicker than piece by piece.
    std::mem::forget((keys, values));
    if args.json {
        summary.print_json()?;
    } else if !args.quiet {
        summary.print_line();
    }
    Ok(())
}

/// Refuses flags that make no sense together and that the table of flags cannot tell.
fn usage(args: &SortArgs) -> Result<()> {
    let to_stdout = |path: Option<&Path>| path.is_none_or(output::is_stdout);
    let output = args.output.as_deref();
    let values_to_stdout = args.values.is_some() && to_stdout(args.values_out.as_deref());
    if args.json && (to_stdout(output) || values_to_stdout) {
        return Err(Failure::input(
            "--json prints its object on stdout, where the sorted keys would go too; name a file \
             with -o",
        ));
    }
    if args.values.is_some() {
        if values_to_stdout && to_stdout(output) {
            return Err(Failure::input(
                "keys and values cannot both go to stdout; name a file with -o",
            ));
        }
        if args.output == args.values_out {
            return Err(Failure::input(
                "-o and --values-out name the same file; give each its own",
            ));
        }
        if args.values.as_deref() == Some(Path::new("-"))
            && args
                .input
                .as_deref()
                .is_none_or(|path| path == Path::new("-"))
        {
            return Err(Failure::input(
                "keys and values cannot both come from stdin; name a file for one of them",
            ));
        }
    }
    Ok(())
}

/// The sorter that the flags ask for.
fn sorter(args: &SortArgs, ty: Type) -> Result<Sorter> {
    let mut builder = Sorter::builder()
        .order(args.order.order())
        .nan(args.order.nan)
        .engine(args.engine);
    // A bool is sorted where it lies, in a byte, of which one bit counts.
    let bool_bits = (ty == Type::Bool).then_some(0..1);
    if let Some(bits) = args.order.bits.clone().or(bool_bits) {
        builder = builder.bits(bits);
    }
    if let Some(algorithm) = &args.algorithm {
        builder = builder.algorithm(algorithm);
    }
    if let Some(threads) = args.threads {
        builder = builder.threads(threads as usize);
    }
    Ok(builder.build()?)
}

/// The order that the flags ask for, to compare keys by; `ties` as in [`Wanted`].
///
/// # Errors
/// [`Failure::Input`] for bits that the type does not have.
pub fn wanted(args: &OrderArgs, ty: Type, ties: bool) -> Result<Wanted> {
    if let Some(bits) = args.bits.clone().filter(|bits| bits.end > ty.bits()) {
        return Err(Failure::from(Error::BitRange {
            start: bits.start,
            end: bits.end,
            bits: ty.bits(),
        }));
    }
    Ok(Wanted {
        order: args.order(),
        nan: args.nan,
        bits: args.bits.clone(),
        ties,
    })
}

/// Refuses values that are more or fewer than the keys.
fn equally_many(args: &SortArgs, keys: usize, values: usize) -> Result<()> {
    if keys == values {
        return Ok(());
    }
    let name = |path: &Option<std::path::PathBuf>| match path {
        Some(path) => crate::exit::shown(path),
        None => "stdin".to_owned(),
    };
    Err(Failure::input(format!(
        "{} has {keys} keys, but {} has {values} values; each key needs one value",
        name(&args.input),
        name(&args.values)
    )))
}

/// Refuses input that does not fit memory together with what sorting it takes.
fn fits_memory(
    args: &SortArgs,
    sorter: &Sorter,
    input: &Input,
    values: Option<&Input>,
) -> Result<()> {
    let Some(bytes) = input.bytes() else {
        // A stream's reader counts as it goes.
        return Ok(());
    };
    let value_bytes = values.and_then(Input::bytes).unwrap_or(0);
    let scratch = match input.count() {
        // Of text, the number of keys shows once it is read; the parser asks again.
        None => 0,
        Some(count) if args.argsort => (count as u64).saturating_mul(ARGSORT_BYTES),
        Some(_) => bytes.saturating_add(value_bytes).saturating_add(SCRATCH),
    };
    // A classic keeps arrays beside the keys, and takes more.
    let value_width = values.map_or(0, |values| values.ty().bytes());
    let planned = input.count().map(|count| {
        with_key!(input.ty(), |K| sorter
            .plan::<<K as Key>::Radix>(count, value_width))
    });
    let planned = planned.transpose()?.map_or(0, |plan| plan.workspace_bytes);
    let scratch = scratch.max(planned as u64);
    let all = bytes.saturating_add(value_bytes).saturating_add(scratch);
    memory::require(
        all,
        &format!("sorting {} ({})", input.name(), memory::human(bytes)),
    )
}

/// Where an output goes, and as what.
#[derive(Clone)]
struct Target<'a> {
    path: Option<&'a Path>,
    format: Format,
    ty: Type,
    /// How many keys, where that is known before they are read and none is dropped.
    count: Option<usize>,
}

impl<'a> Target<'a> {
    fn of_keys(args: &'a SortArgs, input: &Input) -> Result<Target<'a>> {
        let ty = match args.argsort {
            true => index_type(input.count().unwrap_or(0)),
            false => input.ty(),
        };
        Target::new(args, args.output.as_deref(), input, ty)
    }

    fn of_values(args: &'a SortArgs, values: &Input) -> Result<Target<'a>> {
        Target::new(args, args.values_out.as_deref(), values, values.ty())
    }

    fn new(args: &SortArgs, path: Option<&'a Path>, input: &Input, ty: Type) -> Result<Target<'a>> {
        let format = format::of_output(path, input.format(), ty)?;
        if format != Format::Text && path.is_none_or(output::is_stdout) && stdout().is_terminal() {
            return Err(Failure::input(format!(
                "the output is {}, which a terminal cannot show; name a file with -o, or pipe it \
                 on",
                format.name()
            )));
        }
        let count = input.count().filter(|_| !args.unique);
        Ok(Target {
            path,
            format,
            ty,
            count,
        })
    }

    /// The same for as many indices, whose type follows their number.
    fn for_indices_of(&self, count: usize) -> Result<Target<'a>> {
        let ty = index_type(count);
        Ok(Target {
            format: format::of_output(self.path, self.format, ty)?,
            ty,
            ..self.clone()
        })
    }
}

/// The type of indices of so many keys.
fn index_type(count: usize) -> Type {
    match count as u64 {
        0..=0x1_0000_0000 => Type::U32,
        _ => Type::U64,
    }
}

/// Opens the outputs, and reserves the disk that they will take.
fn create(args: &SortArgs, targets: &[Target<'_>]) -> Result<Vec<Output>> {
    let mut outputs = Vec::with_capacity(targets.len());
    for target in targets {
        outputs.push(Output::create(target.path, args.force)?);
    }
    for (target, output) in targets.iter().zip(&mut outputs) {
        if let Some(count) = target.count
            && let Some(bytes) = format::size(target.format, target.ty, count)
        {
            output.reserve(bytes)?;
            if bytes >= LARGE {
                output.bypass_cache();
            }
        }
    }
    Ok(outputs)
}

fn sort_keys<K: Key>(sorter: &Sorter, keys: &mut Keys, unique: Option<&Wanted>) -> Result<Report> {
    let report = sorter.sort(keys.radix_mut::<K>())?;
    if let Some(wanted) = unique {
        let sorted = keys.radix_mut::<K>();
        let mut last = 0;
        for i in 1..sorted.len() {
            if !wanted.compare(&sorted[last], &sorted[i]).is_eq() {
                last += 1;
                sorted[last] = sorted[i];
            }
        }
        let kept = (last + 1).min(sorted.len());
        keys.truncate(kept);
    }
    Ok(report)
}

fn sort_pairs<K: Key>(
    sorter: &Sorter,
    keys: &mut Keys,
    values: &mut Keys,
    unique: Option<&Wanted>,
) -> Result<Report> {
    // A value is bytes to move; its type matters to readers and writers alone.
    let report = match values.ty().bytes() {
        1 => sorter.sort_pairs(keys.radix_mut::<K>(), values.slice_mut::<u8>()),
        2 => sorter.sort_pairs(keys.radix_mut::<K>(), values.slice_mut::<u16>()),
        4 => sorter.sort_pairs(keys.radix_mut::<K>(), values.slice_mut::<u32>()),
        8 => sorter.sort_pairs(keys.radix_mut::<K>(), values.slice_mut::<u64>()),
        _ => sorter.sort_pairs(keys.radix_mut::<K>(), values.slice_mut::<u128>()),
    }?;
    if let Some(wanted) = unique {
        let width = values.ty().bytes();
        let (sorted, bytes) = (keys.radix_mut::<K>(), values.bytes_mut());
        let mut last = 0;
        for i in 1..sorted.len() {
            if !wanted.compare(&sorted[last], &sorted[i]).is_eq() {
                last += 1;
                sorted[last] = sorted[i];
                bytes.copy_within(i * width..(i + 1) * width, last * width);
            }
        }
        let kept = (last + 1).min(sorted.len());
        keys.truncate(kept);
        values.truncate(kept);
    }
    Ok(report)
}

/// Replaces keys by the positions that they come from in sorted order.
fn argsort<K: Key>(sorter: &Sorter, keys: &mut Keys, unique: Option<&Wanted>) -> Result<Report> {
    let ty = index_type(keys.len());
    let mut index = Keys::zeroed(ty, keys.len())?;
    let report = match ty {
        Type::U32 => {
            let entries = index.slice_mut::<u32>();
            let report = sorter.argsort_into(keys.radix::<K>(), entries)?;
            let kept = first_indices(keys.radix::<K>(), entries, unique, |entry| entry as usize);
            index.truncate(kept);
            report
        }
        _ => {
            let entries = index.slice_mut::<u64>();
            let report = sorter.argsort_u64_into(keys.radix::<K>(), entries)?;
            let kept = first_indices(keys.radix::<K>(), entries, unique, |entry| entry as usize);
            index.truncate(kept);
            report
        }
    };
    *keys = index;
    Ok(report)
}

/// Keeps the first index of those of equal keys, and says how many there are.
fn first_indices<R: Ordered, I: Copy>(
    keys: &[R],
    index: &mut [I],
    unique: Option<&Wanted>,
    at: impl Fn(I) -> usize,
) -> usize {
    let Some(wanted) = unique else {
        return index.len();
    };
    let mut last = 0;
    for i in 1..index.len() {
        if !wanted
            .compare(&keys[at(index[last])], &keys[at(index[i])])
            .is_eq()
        {
            last += 1;
            index[last] = index[i];
        }
    }
    (last + 1).min(index.len())
}

/// Wall time of the stages.
#[derive(Debug, Default)]
struct Times {
    read: Duration,
    sort: Duration,
    write: Duration,
}

impl Times {
    fn read<T>(&mut self, work: impl FnOnce() -> T) -> T {
        timed(&mut self.read, work)
    }

    fn sort<T>(&mut self, work: impl FnOnce() -> T) -> T {
        timed(&mut self.sort, work)
    }

    fn write<T>(&mut self, work: impl FnOnce() -> T) -> T {
        timed(&mut self.write, work)
    }
}

/// Does some work, and adds its time.
fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    *total += start.elapsed();
    done
}
