//! `sweepsort explain`: an algorithm at work on a few keys, array by array.
//!
//! ```text
//! words of the command line ─ keys ─→ keys of a type ─ sweepsort::explain ─→ view ─┬→ table
//!                                                                                  ├→ json
//!                                                                                  ├→ svg, one a pass
//!                                                                                  └→ html, a page
//! ```

mod bisect;
mod html;
mod json;
mod keys;
mod svg;
mod table;
mod view;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sweepsort::Choice;
use sweepsort::explain::{Algorithm, Options};

use crate::args::OrderArgs;
use crate::exit::{Failure, Result};
use crate::output::{self, Output};
use crate::summary::print;
use crate::types::Type;
use view::View;

/// Show an algorithm at work on a few keys, array by array
///
/// The keys are sorted by a readable account of the algorithm, and every array that it makes is
/// shown: digits, histograms, scans, ranks, destinations. Equal keys carry letters, so that one can
/// see whether they keep their order.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Keys: whole numbers (also 0b101, 0x1f), with a point, or what the type's text is
    #[arg(value_name = "KEYS", required = true, allow_negative_numbers = true)]
    pub keys: Vec<String>,

    /// Which algorithm
    #[arg(long, value_name = "NAME", hide_possible_values = true, long_help = algorithm_help(),
          value_parser = algorithm())]
    pub algorithm: Algorithm,

    /// Type of the keys; without it u32, i32 if a key is negative, f32 if one has a point
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPE",
        hide_possible_values = true
    )]
    pub ty: Option<Type>,

    #[command(flatten)]
    #[allow(missing_docs, reason = "not shown")]
    pub order: OrderArgs,

    /// Bits of a digit [default: 2; 1 where the algorithm goes bit by bit]
    #[arg(long, value_name = "R")]
    pub radix_bits: Option<u32>,

    /// Digits of this base, such as 10, instead of bits (counting-lsd)
    #[arg(long, value_name = "BASE", conflicts_with_all = ["bits", "radix_bits"])]
    pub base: Option<u32>,

    /// Keys of a block or tile [default: 4]
    #[arg(long, value_name = "B")]
    pub block: Option<usize>,

    /// Show this pass alone, counted from 0
    #[arg(long, value_name = "P")]
    pub pass: Option<usize>,

    /// Picks the turns of the tiles (onesweep)
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,

    /// Turn equal digits round in each pass, to see why LSD radix sort must be stable
    #[arg(long)]
    pub break_stability: bool,

    /// Where the arrays come from: cpu (the default), or cuda for the device's own
    #[arg(
        long,
        value_name = "ENGINE",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub engine: Choice,

    /// Stages to be made by the readable account, the rest being the device's (engine cuda)
    #[arg(long, value_name = "STAGES", value_delimiter = ',')]
    pub from_twin: Vec<String>,

    /// Compare each array of the device with the readable account's, and name those that differ;
    /// exit code 1 where one does (engine cuda)
    #[arg(long, conflicts_with_all = ["from_twin", "pass", "format", "output"])]
    pub bisect: bool,

    /// How to show it; unless given, the output's name says it, or else it is a table
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,

    /// File to write; stdout if it is '-' or not given
    #[arg(short, long, value_name = "OUTPUT", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
}

const EXAMPLES: &str = "\
Examples:
  sweepsort explain 4 7 2 6 3 5 1 0 --algorithm split
  sweepsort explain 11 131 742 9 66 --algorithm counting-lsd --base 10
  sweepsort explain 5 3 5 1 5 --algorithm four-way --pass 0
  sweepsort explain -1.5 2 -0.25 --algorithm coalesced -o floats.html
  sweepsort explain 3 1 2 0 3 1 2 0 --algorithm onesweep --seed 7 -o onesweep.html";

/// How an explanation is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for a terminal
    Table,
    /// One object, for programs
    Json,
    /// A drawing of each pass
    Svg,
    /// A page to step through
    Html,
}

/// A parser of the algorithms' names.
fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::NAMES)
        .map(|name| Algorithm::named(&name).expect("one of its names"))
}

fn algorithm_help() -> String {
    let mut help = "Which algorithm; in the order in which to meet them:\n".to_owned();
    for &algorithm in Algorithm::ALL {
        help += &format!("\n  {:<16} {}", algorithm.name(), algorithm.idea());
    }
    help
}

/// Runs `explain`.
///
/// # Errors
/// [`Failure::Found`] where `--bisect` finds arrays that differ; keys that are none, parameters that the algorithm does not take, outputs that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let options = Options {
        order: args.order.order(),
        nan: args.order.nan,
        bits: args.order.bits.clone(),
        radix_bits: args.radix_bits,
        base: args.base,
        block: args.block,
        seed: args.seed,
        break_stability: args.break_stability,
        engine: args.engine,
        from_twin: args.from_twin.clone(),
        ..Options::of(args.algorithm)
    };
    if args.bisect {
        let (texts, found) = keys::bisected(&args.keys, args.ty, &options)?;
        return bisect::tell(&texts, &found);
    }
    let view = keys::explained(&args.keys, args.ty, &options)?;
    let passes = match args.pass {
        None => 0..view.passes.len(),
        Some(pass) if pass < view.passes.len() => pass..pass + 1,
        Some(pass) => {
            return Err(Failure::input(format!(
                "there is no pass {pass}; {} of these keys has {} passes, from 0",
                args.algorithm.name(),
                view.passes.len()
            )));
        }
    };
    let format = args
        .format
        .unwrap_or_else(|| by_name(args.output.as_deref()));
    match format {
        Format::Table => write(args, &table::render(&view, passes)),
        Format::Json => write(args, &json::render(&view, passes)?),
        Format::Html if args.pass.is_some() => Err(Failure::input(
            "the page has all passes; leave --pass out, and open it at a step: page.html#3",
        )),
        Format::Html => write(args, &html::render(&view)?),
        Format::Svg => drawings(args, &view, passes),
    }
}

/// The format that an output's name says.
fn by_name(output: Option<&Path>) -> Format {
    let extension = output.and_then(Path::extension).and_then(|e| e.to_str());
    match extension {
        Some("json") => Format::Json,
        Some("svg") => Format::Svg,
        Some("html" | "htm") => Format::Html,
        _ => Format::Table,
    }
}

/// A drawing of each pass: of one to the output itself, of more to `NAME-0.svg`, `NAME-1.svg`, …
fn drawings(args: &Args, view: &View, passes: std::ops::Range<usize>) -> Result<()> {
    if passes.len() <= 1 {
        let drawing = passes.map(|pass| svg::draw(view, pass)).next();
        let none = || Failure::input("these keys need no pass, so there is nothing to draw");
        return write(args, &drawing.ok_or_else(none)?);
    }
    let Some(path) = args
        .output
        .as_deref()
        .filter(|path| !output::is_stdout(path))
    else {
        return Err(Failure::input(format!(
            "there are {} passes, and a drawing for each; choose one with --pass, or name a file \
             with -o",
            passes.len()
        )));
    };
    let mut outputs = Vec::new();
    for pass in passes {
        let mut output = Output::create(Some(&numbered(path, pass)), args.force)?;
        output.write(svg::draw(view, pass).as_bytes())?;
        output.finish()?;
        outputs.push(output);
    }
    output::commit(&mut outputs)
}

/// `figure.svg` as `figure-2.svg`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut name: OsString = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn write(args: &Args, text: &str) -> Result<()> {
    let Some(path) = args
        .output
        .as_deref()
        .filter(|path| !output::is_stdout(path))
    else {
        return print(text);
    };
    let mut output = Output::create(Some(path), args.force)?;
    output.write(text.as_bytes())?;
    output.finish()?;
    output::commit(&mut [output])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_numbered() {
        assert_eq!(numbered(Path::new("a/b.svg"), 3), Path::new("a/b-3.svg"));
        assert_eq!(numbered(Path::new("b"), 0), Path::new("b-0"));
    }
}
