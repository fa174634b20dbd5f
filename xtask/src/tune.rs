//! `cargo xtask tune`: the figures of a row of the kernels' tuning tables, found by trying them.
//!
//! ```text
//! build     the row, with every combination of the figures to try, in a copy of the sources
//!                                        → FOLDER/IMAGE.ROW.FIGURES.cubin, FOLDER/measure.sh
//! measure   `sweepsort bench`, with each of these in turns    → RECORD.json
//! apply     the best of the record (choice.rs)                → the row in the table, which names it
//! ```
//! Building needs no GPU, and measuring neither cargo nor a compiler: the folder can be carried to a
//! machine that has one, beside the tool. Rows are those of sm_90; where a multiprocessor has less
//! shared memory, `fitted` in the tables derives them.

mod choice;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};

use crate::kernels::{self, Compiler};
use crate::process::{cargo, output, program, root, run as run_command, target_dir};
use crate::record::Record;
use table::For;

#[derive(Subcommand)]
pub enum Step {
    /// Compiles the variants into a folder, with a script that measures them.
    Build {
        #[command(flatten)]
        trial: Trial,
        /// A new folder for them; one below the target folder unless given.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Measures a folder's variants on this machine's GPU. Elsewhere:
    /// sh FOLDER/measure.sh SWEEPSORT RECORD.
    Measure {
        folder: PathBuf,
        /// The record to write.
        record: PathBuf,
    },
    /// Writes the best figures of a record into the table; the row then names it.
    Apply {
        /// A record in results/, which the row will name.
        record: PathBuf,
    },
    /// All three, on a machine with a GPU.
    All {
        #[command(flatten)]
        trial: Trial,
        /// The record to write, in results/.
        #[arg(long)]
        record: PathBuf,
    },
}

/// What is tried.
#[derive(Args)]
pub struct Trial {
    /// Engine and row, such as hybrid/cell or onesweep/wide.
    row: String,
    /// Bits of a key.
    #[arg(long)]
    bits: u32,
    /// Bytes of a value; 0 for keys alone.
    #[arg(long, default_value_t = 0)]
    value: u32,
    /// A figure of the row and what it is to be, such as threads=128,256 or items=14..=22. All
    /// combinations are tried.
    #[arg(long, value_name = "FIGURE=NUMBERS", value_parser = variation)]
    vary: Vec<Variation>,
    /// Numbers of keys to sort, instead of those that such a row is for.
    #[arg(long)]
    sizes: Option<String>,
    /// Distributions, likewise.
    #[arg(long)]
    distributions: Option<String>,
}

/// A figure's name, and the numbers to try.
#[derive(Clone, Debug, PartialEq)]
struct Variation {
    figure: String,
    numbers: Vec<u32>,
}

/// What a row is for: sizes and distributions whose time its figures decide, by bits of a key.
struct Inputs {
    row: &'static str,
    bits: &'static [u32],
    sizes: &'static str,
    distributions: &'static str,
}

const INPUTS: &[Inputs] = &[
    inputs("hybrid/twice", WIDER, "2^24,2^27", "uniform,normal,sorted"),
    inputs(
        "hybrid/once",
        &[32, 64],
        "3e6,2^23",
        "uniform,normal,sorted",
    ),
    inputs("hybrid/once", &[128], "2e6", "uniform,normal,sorted"),
    inputs("hybrid/cell", WIDER, "2^24,2^27", "uniform,normal,sorted"),
    // Evenly spread keys that make cells too large for a small block.
    inputs("hybrid/double", WIDER, "3e8", "uniform"),
    inputs("hybrid/large", &[32], "2^30", "uniform"),
    inputs("hybrid/large", &[64, 128], "2^29", "uniform"),
    inputs("hybrid/tally", &[32], "2^28", "uniform,sorted"),
    inputs(
        "hybrid/composite",
        &[64],
        "2^24,2^27",
        "uniform,normal,sorted",
    ),
    inputs(
        "hybrid/composite_cell",
        &[64],
        "2^24,2^27",
        "uniform,normal,sorted",
    ),
    inputs("hybrid/middle", &[32], "2^24,2^26", "uniform,normal,sorted"),
    inputs("hybrid/middle_rooms", &[32], "2^24,2^26", "uniform,sorted"),
    inputs("hybrid/quantile", &[64], "2^24,2^27", "and2"),
    inputs("hybrid/quantile_cell", &[64], "2^24,2^27", "and2"),
    inputs("hybrid/values", WIDER, "2^24,2^27", "uniform,normal,sorted"),
    inputs("hybrid/refine", WIDER, "2^24,2^27", "zipf,and3,and5"),
    inputs("hybrid/piece", WIDER, "2^24,2^27", "zipf,and3,and5"),
    inputs(
        "hybrid/alone",
        WIDER,
        "200,1000,2000",
        "uniform,sorted,few-distinct",
    ),
    inputs(
        "hybrid/alone_double",
        &[32, 64],
        "2100,3500",
        "uniform,sorted,few-distinct",
    ),
    inputs(
        "hybrid/ranked_out_of_place",
        WIDER,
        "200,1000,3000",
        "uniform,few-distinct",
    ),
    inputs(
        "hybrid/ranked",
        WIDER,
        "5000,8000",
        "uniform,sorted,few-distinct",
    ),
    inputs(
        "hybrid/together",
        WIDER,
        "2^14,2^17,5e5",
        "uniform,sorted,zipf",
    ),
    inputs("onesweep/wide", ALL, "2^24,2^27", "uniform,sorted,zipf"),
    inputs("onesweep/together", ALL, "2^13,1e5", "uniform,sorted,zipf"),
    inputs(
        "onesweep/alone",
        &[8, 16],
        "1500,4000",
        "uniform,sorted,few-distinct",
    ),
];

/// How rows begin that are for words of 64 bits, made of keys of half as many, for an index.
const WORDS: &str = "hybrid/composite";

const ALL: &[u32] = &[8, 16, 32, 64, 128];
const WIDER: &[u32] = &[32, 64, 128];

const fn inputs(
    row: &'static str,
    bits: &'static [u32],
    sizes: &'static str,
    distributions: &'static str,
) -> Inputs {
    Inputs {
        row,
        bits,
        sizes,
        distributions,
    }
}

/// Runs a step.
pub fn run(step: &Step) -> Result<()> {
    match step {
        Step::Build { trial, folder } => trial.build(folder.as_deref()).map(|_| ()),
        Step::Measure { folder, record } => measure(folder, record),
        Step::Apply { record } => apply(record),
        Step::All { trial, record } => {
            measure(&trial.build(None)?, record)?;
            apply(record)
        }
    }
}

/// A row of a table: `hybrid_32.cell`, and with values of 4 bytes `onesweep_32.wide+4`.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    engine: String,
    row: String,
    of: For,
}

impl Place {
    /// Where the table is, within the kernels.
    fn table(&self) -> String {
        format!("{}/tuning.cuh", self.engine)
    }

    /// The text of the table, and the row.
    fn find(&self) -> Result<(String, table::Row)> {
        let file = kernels::kernels().join(self.table());
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let row = table::row(&text, &self.row, self.of).with_context(|| self.table())?;
        Ok((text, row))
    }

    fn name(&self) -> String {
        let value = match self.of.value {
            0 => String::new(),
            bytes => format!("+{bytes}"),
        };
        format!("{}_{}.{}{value}", self.engine, 8 * self.of.key, self.row)
    }

    /// The name of a variant: what a record says, and what its file is called.
    fn variant(&self, figures: &[u32]) -> String {
        let figures: Vec<String> = figures.iter().map(u32::to_string).collect();
        format!("{}.{}", self.name(), figures.join("-"))
    }

    /// What a variant is of, and its figures.
    fn of_variant(variant: &str) -> Option<(Place, Vec<u32>)> {
        let mut parts = variant.split('.');
        let (engine, bits) = parts.next()?.rsplit_once('_')?;
        let (row, value) = match parts.next()? {
            part if part.contains('+') => part.split_once('+')?,
            part => (part, "0"),
        };
        let figures: Result<Vec<u32>, _> = parts.next()?.split('-').map(str::parse).collect();
        let place = Place {
            engine: engine.to_owned(),
            row: row.to_owned(),
            of: For {
                key: bits.parse::<u32>().ok()? / 8,
                value: value.parse().ok()?,
            },
        };
        Some((place, figures.ok()?))
    }
}

impl Trial {
    fn place(&self) -> Result<Place> {
        let (engine, row) = self.row.split_once('/').context("a row is ENGINE/ROW")?;
        Ok(Place {
            engine: engine.to_owned(),
            row: row.to_owned(),
            of: For {
                key: self.bits / 8,
                value: self.value,
            },
        })
    }

    /// Compiles, and returns the folder.
    fn build(&self, folder: Option<&Path>) -> Result<PathBuf> {
        let place = self.place()?;
        let (text, row) = place.find()?;
        let compiler = Compiler::need(true)?;
        let folder = match folder {
            Some(folder) => {
                let folder = root().join(folder);
                ensure!(
                    !folder.exists(),
                    "{} exists; name another",
                    folder.display()
                );
                folder
            }
            None => {
                let folder = target_dir()?.join("tune").join(place.name());
                let _ = fs::remove_dir_all(&folder);
                folder
            }
        };
        let sources = folder.join("sources");
        let mut made = Vec::new();
        let mut variants = Vec::new();
        for figures in combinations(&row, &self.vary)? {
            let variant = place.variant(&figures);
            let kernels = sources.join(&variant);
            copy(&kernels::kernels(), &kernels)?;
            let text = table::rewritten(&text, &row, &figures, None)?;
            fs::write(kernels.join(place.table()), text)?;
            made.push((kernels, folder.join(format!("{variant}.cubin"))));
            variants.push(variant);
        }
        println!("{} variants of {}", variants.len(), place.name());
        let (engine, bits) = (&place.engine, self.bits);
        let failed = kernels::compile(&compiler, engine, bits, kernels::CHECKED, &made)?;
        fs::remove_dir_all(&sources)?;
        let mut whole: Vec<(String, Vec<u8>)> = Vec::new();
        for ((variant, (_, file)), failed) in variants.into_iter().zip(made).zip(failed) {
            if let Some(why) = failed {
                let why = why.lines().find(|line| line.contains("error"));
                println!("without {variant}: {}", why.unwrap_or("nvcc fails"));
                continue;
            }
            let code = fs::read(&file)?;
            // What does not fit is cut down, and then like another.
            if let Some((same, _)) = whole.iter().find(|(_, other)| *other == code) {
                println!("without {variant}: the code of {same}");
                fs::remove_file(&file)?;
                continue;
            }
            whole.push((variant, code));
        }
        let present = place.variant(&row.figures);
        let variants: Vec<String> = whole.into_iter().map(|(variant, _)| variant).collect();
        ensure!(
            variants.contains(&present) && variants.len() > 1,
            "there is nothing to compare with {present}"
        );
        fs::write(folder.join("measure.sh"), self.script(&variants)?)?;
        println!("in {}: {}", folder.display(), variants.join(", "));
        println!("there is a GPU: sh measure.sh SWEEPSORT RECORD.json");
        Ok(folder)
    }

    /// What measures these variants where they lie.
    fn script(&self, variants: &[String]) -> Result<String> {
        let known = (INPUTS.iter())
            .find(|inputs| inputs.row == self.row && inputs.bits.contains(&self.bits));
        let sizes = self.sizes.as_deref().or(known.map(|known| known.sizes));
        let distributions = self.distributions.as_deref();
        let distributions = distributions.or(known.map(|known| known.distributions));
        let (Some(sizes), Some(distributions)) = (sizes, distributions) else {
            bail!("{} needs --sizes and --distributions", self.row);
        };
        let commit = output(program("git").args([
            "describe",
            "--always",
            "--dirty",
            "--exclude=*",
            "--abbrev=12",
        ]))?;
        let (bits, value_type) = match self.value {
            _ if self.row.starts_with(WORDS) => (self.bits / 2, "index".to_owned()),
            0 => (self.bits, "none".to_owned()),
            bytes => (self.bits, format!("u{}", 8 * bytes)),
        };
        Ok(format!(
            "# Measures variants of {row} on this machine's GPU: sh measure.sh SWEEPSORT RECORD.json [FLAGS]\n\
             folder=$(dirname \"$0\") tool=$1 record=$2\n\
             shift 2\n\
             SWEEPSORT_COMMIT={commit} exec \"$tool\" bench --residence device --json \"$record\" \\\n  \
             --algorithm {engine} -t u{bits} --value-type {value_type} -n {sizes} -d {distributions} \\\n  \
             --images \"$folder\" --variant {variants} \"$@\"\n",
            row = self.row,
            engine = self.place()?.engine,
            commit = commit.trim(),
            variants = variants.join(","),
        ))
    }
}

/// `threads=128,256`, or `items=14..=22`.
fn variation(text: &str) -> Result<Variation, String> {
    let (figure, numbers) = text.split_once('=').ok_or("use FIGURE=NUMBERS")?;
    let parsed = |number: &str| {
        let parsed = number.parse::<u32>();
        parsed.map_err(|error| format!("{number}: {error}"))
    };
    let numbers = match numbers.split_once("..=") {
        Some((first, last)) => (parsed(first)?..=parsed(last)?).collect(),
        None => numbers.split(',').map(parsed).collect::<Result<_, _>>()?,
    };
    Ok(Variation {
        figure: figure.to_owned(),
        numbers,
    })
}

/// The present figures, and then every combination of what is to be tried.
fn combinations(row: &table::Row, vary: &[Variation]) -> Result<Vec<Vec<u32>>> {
    let mut all = vec![row.figures.clone()];
    for variation in vary {
        let at = row.names.iter().position(|name| *name == variation.figure);
        let at = at.with_context(|| {
            let names = row.names.join(", ");
            format!("no figure '{}'; there are {names}", variation.figure)
        })?;
        let with = |figures: &Vec<u32>, number| {
            let mut figures = figures.clone();
            figures[at] = number;
            figures
        };
        let numbers = || variation.numbers.iter().copied();
        all = (all.iter())
            .flat_map(|figures| numbers().map(move |number| with(figures, number)))
            .collect();
    }
    all.retain(|figures| *figures != row.figures);
    all.insert(0, row.figures.clone());
    Ok(all)
}

/// Has the tool measure a folder's variants.
fn measure(folder: &Path, record: &Path) -> Result<()> {
    run_command(cargo().args(["build", "--release", "--package", "sweepsort-cli"]))?;
    let tool = target_dir()?.join("release").join("sweepsort");
    let script = root().join(folder).join("measure.sh");
    run_command(program("sh").arg(script).arg(tool).arg(root().join(record)))
}

/// Writes the best figures of a record into the table.
fn apply(record: &Path) -> Result<()> {
    let file = root().join(record);
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let record = Record::parse(&text)?;
    let variant = record.rows.iter().find_map(|row| row.variant.as_deref());
    let place = variant.and_then(Place::of_variant);
    let (place, _) = place.context("this is no record of variants of a row")?;
    let (text, row) = place.find()?;
    let present = place.variant(&row.figures);
    let measured = choice::measured(&record, &present)?;
    println!(
        "{:<48} {:>7} {:>7}",
        "time, the present row's being 1", "mean", "worst"
    );
    for one in &measured {
        let wrong = if one.verified { "" } else { "  WRONG OUTPUT" };
        println!(
            "{:<48} {:>7.3} {:>7.3}{wrong}",
            one.variant, one.mean, one.worst
        );
    }
    let best = choice::best(&measured).map_or(present.as_str(), |best| &best.variant);
    let (_, figures) = Place::of_variant(best)
        .filter(|(of, figures)| *of == place && figures.len() == row.figures.len())
        .with_context(|| format!("{best} is of another row"))?;
    let source = file.strip_prefix(root()).ok().and_then(Path::to_str);
    let source = source.filter(|source| source.starts_with("results/"));
    let source = source.context("a row names its record, which lies in results/")?;
    let table = kernels::kernels().join(place.table());
    fs::write(
        &table,
        table::rewritten(&text, &row, &figures, Some(source))?,
    )?;
    if figures == row.figures {
        println!("{present} stays, and names this record");
    }
    for ((name, old), new) in row.names.iter().zip(&row.figures).zip(&figures) {
        if old != new {
            println!("{} {name}: {old} → {new}", place.name());
        }
    }
    println!("next: `cargo xtask kernels`, and gpu-verify on a GPU");
    Ok(())
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            false => fs::copy(entry.path(), &to).map(|_| ())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row of the tables.
    fn places() -> Vec<Place> {
        let mut places = Vec::new();
        for engine in ["hybrid", "onesweep"] {
            let file = kernels::kernels().join(engine).join("tuning.cuh");
            let rows = table::rows(&fs::read_to_string(file).unwrap()).unwrap();
            places.extend(rows.into_iter().map(|(row, of)| Place {
                engine: engine.to_owned(),
                row,
                of,
            }));
        }
        places
    }

    #[test]
    fn every_row_has_its_inputs_and_can_be_rewritten() {
        for place in places() {
            let name = place.name();
            let trial = Trial {
                row: format!("{}/{}", place.engine, place.row),
                bits: 8 * place.of.key,
                value: place.of.value,
                vary: Vec::new(),
                sizes: None,
                distributions: None,
            };
            assert!(trial.script(&[]).is_ok(), "{name} has no inputs");
            let (text, row) = place.find().unwrap();
            let figures: Vec<u32> = row.figures.iter().map(|figure| figure + 1).collect();
            let other = table::rewritten(&text, &row, &figures, None).unwrap();
            let differ = text.lines().zip(other.lines()).filter(|(a, b)| a != b);
            assert_eq!(differ.count(), 1, "{name}");
            let found = table::row(&other, &place.row, place.of).unwrap();
            assert_eq!(found.figures, figures, "{name}");
        }
    }

    #[test]
    fn variants_are_named_for_their_row_and_figures() {
        for place in places() {
            let variant = place.variant(&[128, 38]);
            assert_eq!(Place::of_variant(&variant), Some((place, vec![128, 38])));
        }
        assert_eq!(places()[0].variant(&[1, 2]), "hybrid_32.twice.1-2");
        for other in ["text", "in-place", "hybrid_32.cell", "hybrid_32.cell.x"] {
            assert_eq!(Place::of_variant(other), None, "{other}");
        }
    }

    #[test]
    fn combinations_begin_with_the_present_row() {
        let text =
            "struct R {\n    u32 key, a, b;\n};\nconstexpr R X_ROWS[] = {\n    {4, 1, 5},\n};\n";
        let row = table::row(text, "x", For { key: 4, value: 0 }).unwrap();
        let vary = |words: &[&str]| -> Vec<Variation> {
            words.iter().map(|word| variation(word).unwrap()).collect()
        };
        assert_eq!(combinations(&row, &[]).unwrap(), [[1, 5]]);
        assert_eq!(
            combinations(&row, &vary(&["a=1,2", "b=4..=5"])).unwrap(),
            [[1, 5], [1, 4], [2, 4], [2, 5]]
        );
        assert!(combinations(&row, &vary(&["c=1"])).is_err());
        assert!(variation("a").is_err() && variation("a=x").is_err());
    }
}
