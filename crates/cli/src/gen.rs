//! `sweepsort gen`: a file of random keys, made piece by piece, so that it may exceed memory.

use std::io::{IsTerminal, stdout};

use sweepsort_testkit::Generator;

use crate::args::GenArgs;
use crate::exit::{Failure, Result};
use crate::format::text::Text;
use crate::format::{self, Format};
use crate::memory::Keys;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::with_key;

/// How many keys are made at once.
const PIECE: usize = 4 << 20;

/// Runs `gen`.
///
/// # Errors
/// See the exit codes of [`Failure`].
pub fn run(args: &GenArgs) -> Result<()> {
    let path = Some(args.output.as_path());
    let (named_format, named_type) = format::named(path);
    let Some(ty) = args.key.ty.or(named_type) else {
        return Err(Failure::input(format!(
            "{} does not say the keys' type; give it with -t, such as -t u32",
            crate::exit::shown(&args.output)
        )));
    };
    let format = match args.key.format {
        Some(format) => format,
        None => format::of_output(path, named_format.unwrap_or(Format::Text), ty)?,
    };
    if format == Format::Npy {
        format::npy::has(ty)?;
    }
    if format != Format::Text && output::is_stdout(&args.output) && stdout().is_terminal() {
        return Err(Failure::input(format!(
            "the output is {}, which a terminal cannot show; name a file with -o, or pipe it on",
            format.name()
        )));
    }
    let count = usize::try_from(args.count).map_err(|_| {
        Failure::input(format!(
            "{} keys are more than this machine can count",
            args.count
        ))
    })?;
    with_key!(ty, |K| make::<K>(args, format, count))
}

fn make<K: Text>(args: &GenArgs, format: Format, count: usize) -> Result<()> {
    let generator = Generator::<K::Drawn>::new(args.distribution, count, args.seed)
        .map_err(|unsuited| Failure::input(unsuited.to_string()))?;
    output::clean_when_interrupted();
    let mut output = Output::create(Some(&args.output), args.force)?;
    if let Some(bytes) = format::size(format, K::TYPE, count) {
        output.reserve(bytes)?;
    }
    let progress = Progress::new(args.quiet);
    progress.stage("making", Some(count as u64 * size_of::<K>() as u64));
    format::write_header(K::TYPE, format, count, &mut output)?;
    let mut keys = Keys::zeroed(K::TYPE, count.min(PIECE))?;
    for start in (0..count).step_by(PIECE) {
        keys.truncate(count - start);
        generator.fill(start, K::drawn(keys.slice_mut::<K>()));
        format::write_keys(&keys, format, &mut output, &progress)?;
    }
    output.finish()?;
    output::commit(&mut [output])
}
