//! The flags of `bench`, and the presets: named sets of inputs.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::slice;
use std::str::FromStr;

use clap::ValueEnum;
use sweepsort::Choice;
use sweepsort_testkit::Distribution;

use super::thresholds;
use crate::exit::{self, Failure};
use crate::types::Type;

/// Measure sorting, alone or beside other people's sorts
///
/// Every list is separated by commas; each combination of key type, value type, size and
/// distribution is one input, which all contenders sort in turns. Outputs are verified. Exit code
/// 3 if one of ours came out wrong; a peer's wrong output is shown, and recorded as not verified.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Key types [default: u32]
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPES",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub types: Vec<Type>,

    /// What travels with the keys: none, index (argsort), or values of a type such as u32; those of
    /// 1 and 2 bytes with --residence device alone [default: none]
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub value_type: Vec<Payload>,

    /// Numbers of keys, such as 1e6,2^20,64Mi [default: 1e6]
    #[arg(short = 'n', long = "size", value_name = "SIZES", value_delimiter = ',', value_parser = size)]
    pub sizes: Vec<usize>,

    /// How the keys are spread, as in 'sweepsort gen'; 'all' for every distribution
    /// [default: uniform]
    #[arg(short = 'd', long = "distribution", value_name = "DISTRIBUTIONS", value_delimiter = ',', value_parser = distributions)]
    pub distributions: Vec<Distributions>,

    /// Engines: cpu, cuda, wgpu; auto is cpu for --residence host, else cuda
    #[arg(
        long,
        value_name = "ENGINES",
        value_delimiter = ',',
        default_value = "auto"
    )]
    pub engine: Vec<Choice>,

    /// The engine's methods; its own choice unless given
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub algorithm: Vec<String>,

    /// Numbers of threads; all cores unless given
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub threads: Vec<usize>,

    /// Bits of a digit, for algorithms that leave the choice, such as the classics
    #[arg(long, value_name = "R", value_delimiter = ',')]
    pub radix_bits: Vec<u32>,

    /// Keys of a block, for algorithms that leave the choice, such as the classics
    #[arg(long, value_name = "B", value_delimiter = ',')]
    pub block: Vec<usize>,

    /// What is done otherwise, for --residence device: in-place, graph (a replay of a captured sort;
    /// both of cuda's own), barriers (no subgroups), unchecked (without wgpu's checks in shaders; both of
    /// wgpu's), all-passes (split), one-stream (block-histogram), plain-scatter (coalesced), thresholds of
    /// cuda set otherwise (hybrid.once=2^22, more joined by +), or text for nothing
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub variant: Vec<String>,

    /// Variants are files NAME.cubin of this folder, kernels to sort with instead of the engine's own;
    /// `cargo xtask tune` makes them
    #[arg(long, value_name = "FOLDER", hide = true, requires = "variant")]
    pub images: Option<PathBuf>,

    /// Where the keys lie before and after a sort: host, pinned (the host's memory, page-locked, for
    /// a GPU) or device (a GPU's memory; device time)
    #[arg(
        long,
        value_name = "PLACES",
        value_delimiter = ',',
        default_value = "host"
    )]
    pub residence: Vec<Residence>,

    /// Measure other people's sorts too (on the host: a build with the feature 'peers'; on a device:
    /// CUB and Thrust where nvcc is found, torch and CuPy where Python can import them; beside wgpu a
    /// build with the feature 'peers-wgpu')
    #[arg(long)]
    pub peers: bool,

    /// Only these contenders, peers or ours, by name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub contenders: Vec<String>,

    /// Show also how ours does with scratch memory not kept between sorts
    #[arg(long)]
    pub fresh: bool,

    /// Seconds that the timed runs of one contender on one input add up to, at five runs or more; 0
    /// for a quick look: five runs, and small inputs not repeated within a run
    #[arg(long, value_name = "SECONDS", default_value = "0.5")]
    pub budget: f64,

    /// Seed of the random keys
    #[arg(short = 's', long, default_value = "0")]
    pub seed: u64,

    /// Measure a named set of inputs, peers included, or the part that -t, --value-type, -n and -d
    /// choose of it
    #[arg(long)]
    pub preset: Option<Preset>,

    /// Measure nothing; show a record written by --json before, or the part that -t, --value-type,
    /// -n, -d and --contenders choose of it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["preset", "peers", "json"])]
    pub from: Option<PathBuf>,

    /// Write the record as JSON; '-' writes it to stdout instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Draw throughput over size, or over distribution, as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub chart: Option<PathBuf>,

    /// Print the table as Markdown
    #[arg(long)]
    pub markdown: bool,

    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
}

/// What travels with the keys; written as the flag has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Keys alone.
    None,
    /// An index: argsort.
    Index,
    /// Values of this type.
    Value(Type),
}

impl Payload {
    /// Bytes for each key.
    pub fn bytes(self) -> usize {
        match self {
            Payload::None => 0,
            Payload::Index => size_of::<u32>(),
            Payload::Value(ty) => ty.bytes(),
        }
    }

    /// The name in a record's `value_type`.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Payload::None => None,
            Payload::Index => Some("index"),
            Payload::Value(ty) => Some(ty.name()),
        }
    }
}

impl Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name().unwrap_or("none"))
    }
}

impl FromStr for Payload {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "none" => Ok(Payload::None),
            "index" => Ok(Payload::Index),
            _ => name.parse().map(Payload::Value).map_err(|_| {
                let names: Vec<_> = Type::ALL.iter().map(|ty| ty.name()).collect();
                format!("use none, index or one of {}", names.join(", "))
            }),
        }
    }
}

/// Where the keys lie before and after a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Residence {
    /// In the machine's memory.
    Host,
    /// In the machine's memory, page-locked, so that a GPU reaches it by itself.
    Pinned,
    /// In a GPU's memory.
    Device,
}

impl Residence {
    /// The name in a record's `residence`.
    pub fn name(self) -> &'static str {
        match self {
            Residence::Host => "host",
            Residence::Pinned => "pinned",
            Residence::Device => "device",
        }
    }
}

/// A way to sort that is asked of the library; what is `None` is left to it.
#[derive(Clone, Debug)]
pub struct Method {
    /// The algorithm.
    pub algorithm: Option<String>,
    /// Bits of a digit.
    pub radix_bits: Option<u32>,
    /// Keys of a block.
    pub block: Option<usize>,
    /// What is done otherwise than the algorithm has it.
    pub variant: Option<String>,
}

impl Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.as_deref().unwrap_or("auto"))?;
        if let Some(radix_bits) = self.radix_bits {
            write!(f, " R={radix_bits}")?;
        }
        if let Some(block) = self.block {
            write!(f, " B={block}")?;
        }
        match self.variant.as_deref() {
            None | Some("text") => Ok(()),
            Some(variant) => write!(f, " {variant}"),
        }
    }
}

/// One distribution, or all of them.
#[derive(Clone, Copy, Debug)]
pub enum Distributions {
    /// Every one that suits the type.
    All,
    /// This one.
    One(Distribution),
}

fn distributions(name: &str) -> Result<Distributions, String> {
    match name {
        "all" => Ok(Distributions::All),
        _ => name.parse().map(Distributions::One),
    }
}

fn size(text: &str) -> Result<usize, String> {
    match crate::args::count(text)? {
        0 => Err("there is nothing to time in 0 keys; use 1 or more".into()),
        n => usize::try_from(n).map_err(|error| error.to_string()),
    }
}

/// A named set of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// What the README shows: keys by size and by distribution, stable pairs, argsort; about ten
    /// minutes on two cores, and 10 GiB of memory
    Readme,
    /// The same at small sizes, in seconds, to try it out
    ReadmeSmall,
    /// The thresholds of the engine cuda: sizes on both sides of each, sorted in one way and in the
    /// other; for --residence device
    Thresholds,
}

/// Inputs that share a choice of contenders.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Key types.
    pub types: Vec<Type>,
    /// What travels with them.
    pub payloads: Vec<Payload>,
    /// Numbers of keys.
    pub sizes: Vec<usize>,
    /// How the keys are spread.
    pub distributions: Vec<Distribution>,
    /// Whether distributions that do not suit a type are left out, and not an error.
    pub suited: bool,
    /// Contenders by name; empty for all.
    pub contenders: Vec<String>,
    /// What is asked of ours.
    pub methods: Vec<Method>,
}

/// One input to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combination {
    /// The keys' type.
    pub ty: Type,
    /// What travels along.
    pub payload: Payload,
    /// How many keys.
    pub n: usize,
    /// How they are spread.
    pub distribution: Distribution,
}

impl Suite {
    /// Whether a contender is asked for by its name.
    pub fn names(&self, contender: &str) -> bool {
        self.contenders.iter().any(|name| name == contender)
    }

    /// The inputs, in the order in which they are measured.
    pub fn combinations(&self) -> Vec<Combination> {
        let mut all = Vec::new();
        for &payload in &self.payloads {
            for &ty in &self.types {
                for &distribution in &self.distributions {
                    if self.suited && distribution == Distribution::Timestamps && ty.bits() != 64 {
                        continue;
                    }
                    all.extend(self.sizes.iter().map(|&n| Combination {
                        ty,
                        payload,
                        n,
                        distribution,
                    }));
                }
            }
        }
        all
    }
}

impl Args {
    /// Whether peers take part where contenders are not named.
    pub fn with_peers(&self) -> bool {
        self.peers || self.preset.is_some()
    }

    /// The inputs to measure.
    ///
    /// # Errors
    /// [`Failure::Input`] with the value of a flag that chooses nothing of the preset.
    pub fn suites(&self) -> exit::Result<Vec<Suite>> {
        match self.preset {
            None => Ok(vec![Suite {
                types: or(&self.types, Type::U32),
                payloads: or(&self.value_type, Payload::None),
                sizes: or(&self.sizes, 1_000_000),
                distributions: or(&self.distributions(), Distribution::Uniform),
                suited: self
                    .distributions
                    .iter()
                    .any(|d| matches!(d, Distributions::All)),
                contenders: self.contenders.clone(),
                methods: self.methods(),
            }]),
            Some(preset) => self.part_of(preset),
        }
    }

    /// What the flags choose of a preset; one that is not given chooses all.
    fn part_of(&self, preset: Preset) -> exit::Result<Vec<Suite>> {
        let mut suites = match preset {
            Preset::Thresholds => self.thresholds()?,
            Preset::Readme => self.readme(1.0),
            Preset::ReadmeSmall => self.readme(1e-3),
        };
        let all = |it: &Distributions| matches!(it, Distributions::All);
        let distributions = match self.distributions.iter().any(all) {
            true => Vec::new(),
            false => self.distributions(),
        };
        narrow(&mut suites, "-t", &self.types, |of| &mut of.types)?;
        narrow(&mut suites, "--value-type", &self.value_type, |of| {
            &mut of.payloads
        })?;
        narrow(&mut suites, "-n", &self.sizes, |of| &mut of.sizes)?;
        narrow(&mut suites, "-d", &distributions, |of| {
            &mut of.distributions
        })?;
        Ok(suites)
    }

    /// The distributions asked for.
    pub fn distributions(&self) -> Vec<Distribution> {
        let each = self
            .distributions
            .iter()
            .flat_map(|distributions| match distributions {
                Distributions::All => Distribution::ALL.to_vec(),
                Distributions::One(distribution) => vec![*distribution],
            });
        each.collect()
    }
}

impl Args {
    /// All thresholds, which say for themselves how keys are sorted.
    fn thresholds(&self) -> exit::Result<Vec<Suite>> {
        let given = !self.algorithm.is_empty() || !self.variant.is_empty();
        if given || !self.radix_bits.is_empty() || !self.block.is_empty() {
            return Err(Failure::input(
                "the preset thresholds says how keys are sorted; leave out --algorithm, --variant, --radix-bits \
                 and --block",
            ));
        }
        let mut suites = thresholds::suites();
        if !self.contenders.is_empty() {
            for suite in &mut suites {
                suite.contenders.clone_from(&self.contenders);
            }
        }
        Ok(suites)
    }

    /// The engines where keys lie in this place. There `auto` is one of them from the first round to
    /// the last, and not what the library would choose as it goes.
    pub fn engines(&self, residence: Residence) -> Vec<Choice> {
        let auto = match residence {
            Residence::Host => Choice::Cpu,
            Residence::Device if cfg!(all(feature = "wgpu", not(feature = "cuda"))) => Choice::Wgpu,
            Residence::Pinned | Residence::Device => Choice::Cuda,
        };
        let engines = self.engine.iter().map(|&engine| match engine {
            Choice::Auto => auto,
            engine => engine,
        });
        engines.collect()
    }

    /// Every combination of algorithm, digit, block and variant.
    pub fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();
        for algorithm in given(&self.algorithm) {
            for radix_bits in given(&self.radix_bits) {
                for block in given(&self.block) {
                    for variant in given(&self.variant) {
                        methods.push(Method {
                            algorithm: algorithm.clone(),
                            radix_bits,
                            block,
                            variant,
                        });
                    }
                }
            }
        }
        methods
    }
}

/// Each of what was given, or one choice left open.
fn given<T: Clone>(values: &[T]) -> Vec<Option<T>> {
    match values {
        [] => vec![None],
        _ => values.iter().cloned().map(Some).collect(),
    }
}

/// Leaves of some suites what a flag chooses by the values that were `given`, if there are any.
///
/// # Errors
/// [`Failure::Input`] with a value that chooses nothing.
fn narrow<T: Clone + Display + PartialEq>(
    suites: &mut Vec<Suite>,
    flag: &str,
    given: &[T],
    list: fn(&mut Suite) -> &mut Vec<T>,
) -> exit::Result<()> {
    let chosen = |values: &[T]| -> Vec<Suite> {
        let mut chosen = suites.clone();
        chosen.retain_mut(|suite| {
            list(suite).retain(|value| values.contains(value));
            !suite.combinations().is_empty()
        });
        chosen
    };
    let is_there = |value: &T| !chosen(slice::from_ref(value)).is_empty();
    if let Some(value) = given.iter().find(|value| !is_there(value)) {
        let mut there: Vec<T> = Vec::new();
        for value in suites
            .clone()
            .iter_mut()
            .flat_map(|suite| list(suite).clone())
        {
            if is_there(&value) && !there.contains(&value) {
                there.push(value);
            }
        }
        let there: Vec<_> = there.iter().map(T::to_string).collect();
        return Err(Failure::input(format!(
            "{flag} {value} chooses nothing of what the other flags leave of the preset; use {}",
            there.join(", ")
        )));
    }
    if !given.is_empty() {
        *suites = chosen(given);
    }
    Ok(())
}

/// What was given, or the default.
fn or<T: Clone>(given: &[T], default: T) -> Vec<T> {
    match given {
        [] => vec![default],
        _ => given.to_vec(),
    }
}

impl Args {
    /// What the README shows, of sizes times `scale`.
    fn readme(&self, scale: f64) -> Vec<Suite> {
        let sizes = |sizes: &[f64]| -> Vec<usize> {
            sizes
                .iter()
                .map(|size| (size * scale).ceil() as usize)
                .collect()
        };
        let uniform = vec![Distribution::Uniform];
        let names = |names: &[&str]| match &*self.contenders {
            [] => names.iter().map(|&name| name.to_owned()).collect(),
            given => given.to_vec(),
        };
        let methods = self.methods();
        // At 1e8 the single-threaded comparison sorts would take most of the time.
        let fast = [
            "sweepsort-cpu",
            "sweepsort-cpu-fresh",
            "std-unstable",
            "rayon-unstable",
            "rdst",
            "rdst-low-memory",
            "rdst-single",
            "voracious",
            "voracious-mt",
            "radsort",
            "vqsort",
        ];
        let fast_pairs = [
            "sweepsort-cpu",
            "sweepsort-cpu-unstable",
            "sweepsort-cpu-fresh",
            "rayon-stable",
            "voracious-stable",
            "radsort",
            "rdst",
            "voracious-mt",
        ];
        let keys = [Type::U32, Type::U64];
        let mut suites = vec![
            Suite {
                types: keys.to_vec(),
                payloads: vec![Payload::None],
                sizes: sizes(&[1e2, 1e3, 1e4, 1e5, 1e6, 1e7]),
                distributions: uniform.clone(),
                suited: true,
                contenders: names(&[]),
                methods: methods.clone(),
            },
            Suite {
                types: keys.to_vec(),
                payloads: vec![Payload::None],
                sizes: sizes(&[1e8]),
                distributions: uniform.clone(),
                suited: true,
                contenders: names(&fast),
                methods: methods.clone(),
            },
        ];
        for key in keys {
            suites.push(Suite {
                types: vec![key],
                payloads: vec![Payload::Value(key), Payload::Index],
                sizes: sizes(&[1e7]),
                distributions: uniform.clone(),
                suited: true,
                contenders: names(&[]),
                methods: methods.clone(),
            });
            suites.push(Suite {
                types: vec![key],
                payloads: vec![Payload::Value(key)],
                sizes: sizes(&[1e8]),
                distributions: uniform.clone(),
                suited: true,
                contenders: names(&fast_pairs),
                methods: methods.clone(),
            });
        }
        let others = Distribution::ALL
            .iter()
            .filter(|&&d| d != Distribution::Uniform);
        suites.push(Suite {
            types: keys.to_vec(),
            payloads: vec![Payload::None],
            sizes: sizes(&[1e7]),
            distributions: others.copied().collect(),
            suited: true,
            contenders: names(&[]),
            methods: methods.clone(),
        });
        suites
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Bench {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn auto_is_one_engine_for_each_place() {
        use Residence::{Device, Host, Pinned};
        for (flags, place, expected) in [
            ("", Host, &[Choice::Cpu][..]),
            ("", Pinned, &[Choice::Cuda]),
            ("", Device, &[Choice::Cuda]),
            ("--preset readme", Host, &[Choice::Cpu]),
            ("--engine cuda,cpu", Host, &[Choice::Cuda, Choice::Cpu]),
        ] {
            let words = ["bench"].into_iter().chain(flags.split_whitespace());
            let args = Bench::try_parse_from(words).unwrap().args;
            assert_eq!(args.engines(place), expected, "{flags} {place:?}");
        }
    }

    /// The inputs that some flags ask for.
    fn combinations(flags: &str) -> exit::Result<Vec<Combination>> {
        let words = ["bench"].into_iter().chain(flags.split_whitespace());
        let suites = Bench::try_parse_from(words).unwrap().args.suites()?;
        Ok(suites.iter().flat_map(Suite::combinations).collect())
    }

    #[test]
    fn flags_choose_a_part_of_a_preset() {
        use Distribution::{Timestamps, Uniform, Zipf};
        let readme = combinations("--preset readme").unwrap();
        type Is = fn(&Combination) -> bool;
        let parts: [(&str, Is); 9] = [
            ("-n 1e3", |of| of.n == 1000),
            ("-n 1e8,100", |of| [100, 100_000_000].contains(&of.n)),
            ("-t u64", |of| of.ty == Type::U64),
            ("-d zipf,uniform", |of| {
                [Uniform, Zipf].contains(&of.distribution)
            }),
            ("-d zipf,all", |_| true),
            ("--value-type none", |of| of.payload == Payload::None),
            ("-n 1e7 -d uniform --value-type index,u32", |of| {
                of.n == 10_000_000
                    && [Payload::Index, Payload::Value(Type::U32)].contains(&of.payload)
            }),
            ("-t u64 -d timestamps", |of| of.distribution == Timestamps),
            ("-t u32 -n 1e7 -d zipf", |of| {
                (of.ty, of.distribution) == (Type::U32, Zipf)
            }),
        ];
        for (flags, is) in parts {
            let expected: Vec<_> = readme.iter().copied().filter(is).collect();
            assert!(!expected.is_empty(), "{flags}");
            let chosen = combinations(&format!("--preset readme {flags}"));
            assert_eq!(chosen.unwrap(), expected, "{flags}");
        }
    }

    #[test]
    fn values_that_choose_nothing_of_a_preset_are_named() {
        for (flags, expected) in [
            ("-n 5e6", "-n 5000000 chooses nothing"),
            ("-n 1e6,5e6", "-n 5000000 chooses nothing"),
            ("-t u32,f32", "-t f32 chooses nothing"),
            ("--value-type u8", "use none, u32, index, u64"),
            ("-n 1e8 -d zipf", "-d zipf chooses nothing"),
            ("-n 1e8 -t u64 -d uniform,zipf", "use uniform"),
            ("-t u32 -d timestamps", "-d timestamps chooses nothing"),
            ("-t u32 --value-type u64", "use none, u32, index"),
        ] {
            let failure = combinations(&format!("--preset readme {flags}")).err();
            let words = failure
                .map(|failure| failure.to_string())
                .unwrap_or_default();
            assert!(words.contains(expected), "{flags}: {words}");
        }
    }

    #[test]
    fn payloads_have_names_and_sizes() {
        for (name, bytes) in [
            ("none", 0),
            ("index", 4),
            ("u8", 1),
            ("bf16", 2),
            ("i128", 16),
        ] {
            let payload: Payload = name.parse().unwrap();
            assert_eq!(
                (payload.to_string().as_str(), payload.bytes()),
                (name, bytes)
            );
        }
        assert!("string".parse::<Payload>().unwrap_err().contains("u128"));
    }
}
