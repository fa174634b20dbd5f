//! The one table of flags: help, man page, completions and parsing all come from it.

use std::ops::Range;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use sweepsort::{Choice, Nan, Order};
use sweepsort_testkit::Distribution;

use crate::format::Format;
use crate::types::Type;

/// Sort files of numbers as fast as the machine allows
#[derive(Debug, Parser)]
#[command(
    name = "sweepsort",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 100,
    after_help = EXAMPLES
)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  sweepsort sort numbers.txt                         whole numbers, one a line, to stdout
  sweepsort sort -t f64 -r prices.txt -o down.txt    with a point, largest first
  sweepsort sort keys.u32 -o sorted.u32              raw little-endian; the name says the type
  sweepsort sort a.npy -o a.npy --force              NumPy, in place
  sweepsort gen -n 1e8 -o keys.u32                   something to try it on
  sweepsort check sorted.u32 --against keys.u32      in order? and the same keys?

'sweepsort help COMMAND' explains a command's flags. Exit codes: 0 done, 1 'check' or
'explain --bisect' found a fault, 2 bad usage or input, 3 the system or a device failed.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sort a file, or stdin, by its keys
    Sort(SortArgs),
    /// Make a file of random keys
    Gen(GenArgs),
    /// Tell whether a file is in order, and made of another's keys
    Check(CheckArgs),
    /// Measure sorting, alone or beside other people's sorts
    Bench(Box<crate::bench::Args>),
    /// Show an algorithm at work on a few keys, array by array
    Explain(crate::explain::Args),
    /// List the engines, and why absent ones are absent
    Devices(DevicesArgs),
    /// Print a script that completes flags in a shell
    Completions(CompletionsArgs),
    /// Print the manual page, for man(1)
    Man,
}

/// What `sort`, `gen` and `check` must know of a file.
#[derive(Args, Clone, Copy, Debug)]
pub struct KeyArgs {
    /// Type of the keys; npy files and names such as 'keys.u32' say it themselves, text is i64
    #[arg(short = 't', long = "type", value_name = "TYPE", hide_possible_values = true,
          long_help = TYPE_HELP)]
    pub ty: Option<Type>,

    /// Format, where the file's name does not say it
    #[arg(short = 'f', long, value_name = "FORMAT", long_help = FORMAT_HELP)]
    pub format: Option<Format>,
}

const TYPE_HELP: &str = "\
Type of the keys: u8 u16 u32 u64 u128, i8 i16 i32 i64 i128, f16 bf16 f32 f64, bool

An npy file says it itself, and so does a name such as 'keys.u32'. Text is i64 unless given.";

const FORMAT_HELP: &str = "\
Format: raw (little-endian keys and nothing else), text (one key a line) or npy (NumPy)

Without it the name says the format: '.npy'; '.u32', '.f64' and so on for raw; anything else, stdin \
too, is text. An output whose name says nothing, stdout too, takes its input's format.

Text: blanks around a key and CRLF are accepted, lines of blanks skipped; keys are re-printed \
canonically. Floats may be inf, nan, -nan; a bool is 0, 1, false or true.";

/// The order that `sort` makes, `check` looks for and `explain` explains.
#[derive(Args, Clone, Debug)]
pub struct OrderArgs {
    /// Largest first; equal keys keep their order either way
    #[arg(short, long)]
    pub reverse: bool,

    /// Where NaNs go: total, last or first
    #[arg(long, value_name = "WHERE", default_value = "total", value_parser = names(Nan::ALL, Nan::name),
          hide_possible_values = true, hide_default_value = true, long_help = NAN_HELP)]
    pub nan: Nan,

    /// Sort by these bits of the key alone, such as 0..16; 0 is the lowest
    #[arg(long, value_name = "A..B", value_parser = bits)]
    pub bits: Option<Range<u32>>,
}

impl OrderArgs {
    /// The direction that the flags ask for.
    pub fn order(&self) -> Order {
        match self.reverse {
            true => Order::Descending,
            false => Order::Ascending,
        }
    }
}

const NAN_HELP: &str = "\
Where NaNs go

total  IEEE 754 total order: negative NaNs first, positive NaNs last, -0.0 before 0.0 (default)
last   all NaNs at the end of the output
first  all NaNs at its start

With --values and --argsort, under 'last' and 'first', NaNs are equal to each other and 0.0 to \
-0.0: they keep their order.";

const ENGINE_HELP: &str = "\
What sorts; 'sweepsort devices' says what is here

auto  the engine that is expected to be the fastest: cpu or cuda; where there is no CUDA device, cpu or wgpu
cpu   every core
cuda  the first NVIDIA GPU
wgpu  a GPU through Vulkan, Metal or DirectX 12: the first, discrete ones before others, or the one of \
whose name the environment variable SWEEPSORT_ADAPTER is a part. Software adapters must be named so. \
Keys of up to 64 bits";

/// Sort a file, or stdin, by its keys
///
/// The sort is stable, and the output appears whole or not at all: it is written under another
/// name, flushed to disk and renamed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sweepsort sort numbers.txt | head
  sweepsort sort keys.u64 -o sorted.u64
  sweepsort sort scores.f32 --argsort -o order.npy
  sweepsort sort keys.u32 -o keys2.u32 --values rows.u64 --values-out rows2.u64
  seq 9 -1 1 | sweepsort sort -u")]
pub struct SortArgs {
    /// File to sort; stdin if it is '-' or not given
    #[arg(value_name = "INPUT", value_hint = clap::ValueHint::FilePath)]
    pub input: Option<PathBuf>,

    /// File to write; stdout if it is '-' or not given
    #[arg(short, long, value_name = "OUTPUT", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    #[allow(missing_docs, reason = "not shown")]
    pub key: KeyArgs,

    #[command(flatten)]
    #[allow(missing_docs, reason = "not shown")]
    pub order: OrderArgs,

    /// Keep only the first of equal keys
    #[arg(short, long)]
    pub unique: bool,

    /// Write where each key was (from 0) instead of the keys: u32, or u64 above 2^32 keys
    #[arg(long, conflicts_with = "values")]
    pub argsort: bool,

    /// File of values that move with the keys, one for each
    #[arg(long, value_name = "FILE", requires = "values_out", value_hint = clap::ValueHint::FilePath)]
    pub values: Option<PathBuf>,

    /// Type of the values, one of the key types
    #[arg(
        long,
        value_name = "TYPE",
        requires = "values",
        hide_possible_values = true
    )]
    pub values_type: Option<Type>,

    /// File to write the values to
    #[arg(long, value_name = "FILE", requires = "values", value_hint = clap::ValueHint::FilePath)]
    pub values_out: Option<PathBuf>,

    /// What sorts: auto (the engine expected to be the fastest), cpu, cuda or wgpu; see 'sweepsort
    /// devices'
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = names(Choice::ALL, Choice::name),
          hide_possible_values = true, hide_default_value = true, long_help = ENGINE_HELP)]
    pub engine: Choice,

    /// The engine's method: hybrid or count, of cuda also onesweep; of wgpu onesweep; of the CPU engine
    /// also a classic, to learn from: counting-lsd, split, four-way, block-histogram, tile-merge, coalesced, onesweep
    #[arg(long, value_name = "NAME")]
    pub algorithm: Option<String>,

    /// How many threads work at most; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,

    /// Print the summary as a JSON object on stdout
    #[arg(long)]
    pub json: bool,

    /// Print no summary and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// Replace an existing output; it may be the input
    #[arg(long)]
    pub force: bool,
}

/// Make a file of random keys
///
/// The same type, count, distribution and seed make the same file on every machine.
#[derive(Debug, Args)]
#[command(after_help = distributions_help(), after_long_help = distributions_help())]
pub struct GenArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "not shown")]
    pub key: KeyArgs,

    /// How many keys: 1000, 1e8, 2^28, 64Mi
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = count)]
    pub count: u64,

    /// How the keys are spread; listed below
    #[arg(short, long, value_name = "NAME", default_value = "uniform",
          value_parser = names(Distribution::ALL, Distribution::name), hide_possible_values = true)]
    pub distribution: Distribution,

    /// Where the randomness starts
    #[arg(short, long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,

    /// File to write; '-' is stdout
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: PathBuf,

    /// Replace an existing file
    #[arg(long)]
    pub force: bool,

    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// Tell whether a file is in order, and made of another's keys
///
/// Exit code 0 if so, 1 if not: then a line says which key is the first out of order.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sweepsort check sorted.u32
  sweepsort check down.txt -t f64 -r --against prices.txt")]
pub struct CheckArgs {
    /// File to check; '-' is stdin
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub file: PathBuf,

    #[command(flatten)]
    #[allow(missing_docs, reason = "not shown")]
    pub key: KeyArgs,

    #[command(flatten)]
    #[allow(missing_docs, reason = "not shown")]
    pub order: OrderArgs,

    /// Another file that must hold the same keys, equally often, in any order
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub against: Option<PathBuf>,

    /// Print nothing where all is well
    #[arg(short, long)]
    pub quiet: bool,
}

/// List the engines, and why absent ones are absent
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

/// Print a script that completes flags in a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(sweepsort completions bash)
  sweepsort completions fish > ~/.config/fish/completions/sweepsort.fish")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// A parser of one of the library's named choices.
fn names<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + std::str::FromStr<Err = String>,
{
    PossibleValuesParser::new(all.iter().map(|&value| name(value)))
        .try_map(|name| name.parse::<T>())
}

/// A range of bits: `0..16`.
fn bits(text: &str) -> Result<Range<u32>, String> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let range = text
        .split_once("..")
        .and_then(|(start, end)| Some(number(start)?..number(end)?));
    match range {
        Some(range) if range.start <= range.end => Ok(range),
        _ => {
            Err("give two bit numbers, the second one past the last bit, such as 0..16".to_owned())
        }
    }
}

/// A count: `1000`, `1e8`, `1.5e6`, `2^28`, `64Mi`, `3k`.
///
/// # Errors
/// What a count looks like.
///
/// ```
/// use sweepsort_cli::args::count;
/// assert_eq!(count("1e8"), Ok(100_000_000));
/// assert_eq!(count("2^28"), Ok(1 << 28));
/// assert_eq!(count("64Mi"), Ok(64 << 20));
/// assert!(count("0.5").is_err());
/// ```
pub fn count(text: &str) -> Result<u64, String> {
    parse_count(text)
        .ok_or_else(|| "give a whole number below 2^64, such as 1000, 1e8, 2^28 or 64Mi".to_owned())
}

fn parse_count(text: &str) -> Option<u64> {
    if let Some((base, exponent)) = text.split_once('^') {
        return base
            .parse::<u64>()
            .ok()?
            .checked_pow(exponent.parse().ok()?);
    }
    let text = text.replace('_', "");
    if let Some((digits, exponent)) = text.split_once(['e', 'E']) {
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let shift = exponent
            .parse::<u32>()
            .ok()?
            .checked_sub(u32::try_from(part.len()).ok()?)?;
        let digits = format!("{whole}{part}");
        return unsigned(&digits)?.checked_mul(10u64.checked_pow(shift)?);
    }
    const UNITS: [(&str, u64); 10] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("k", 1_000),
        ("K", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("", 1),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    unsigned(digits)?.checked_mul(unit)
}

/// A number of digits alone.
fn unsigned(digits: &str) -> Option<u64> {
    let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    only_digits.then(|| digits.parse().ok()).flatten()
}

/// The distributions with their meanings.
fn distributions_help() -> String {
    let mut help = "Distributions (u is uniform in [0, 1)):\n".to_owned();
    for distribution in Distribution::ALL {
        help += &format!("  {:<14}{}\n", distribution.name(), distribution.summary());
    }
    help + "\nExamples:
  sweepsort gen -n 1e8 -o keys.u32
  sweepsort gen -t f64 -n 64Mi -d normal -s 7 -o a.npy
  sweepsort gen -t i64 -n 1e6 -o - -f text | head"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn counts() {
        for (text, number) in [
            ("0", 0),
            ("1_000", 1000),
            ("1e0", 1),
            ("1.5e6", 1_500_000),
            ("2^0", 1),
            ("2^63", 1 << 63),
            ("10^3", 1000),
            ("3k", 3000),
            ("3Ki", 3072),
            ("2M", 2_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in [
            "",
            "e",
            "1e",
            "e3",
            "1.5",
            "1.55e1",
            "-1",
            "+1",
            "2^64",
            "1e20",
            "16Ei",
            "k",
            "99999999Ti",
            "1e99999999999",
            "1 ",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_of_bits() {
        assert_eq!(bits("0..16"), Ok(0..16));
        assert_eq!(bits("5..5"), Ok(5..5));
        for text in ["", "..", "3..", "..3", "4..3", "a..b", "1-2", "1...2"] {
            assert!(bits(text).is_err(), "{text}");
        }
    }
}
