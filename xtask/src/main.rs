//! The chores of Sweepsort, as `cargo xtask CHORE`.

mod charts;
mod counts;
mod experiments;
mod figures;
mod files;
mod fuzz;
mod kernels;
mod nvrtc;
mod on_cpu;
mod on_device;
mod process;
mod readme;
mod record;
mod repository;
mod sanitize;
mod tables;
mod test;
mod tools;
mod tune;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of Sweepsort.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that must pass before a change lands, step by step: from the code's format and
    /// the tests to the kernels, the figures and the README's commands.
    Test {
        /// Installs nothing; a step whose tool is missing is not run, and named.
        #[arg(long)]
        no_install: bool,
    },
    /// Runs each fuzz target for a while.
    Fuzz {
        /// How long each target runs.
        seconds: u32,
        /// Only targets whose name contains this.
        #[arg(long)]
        target: Option<String>,
    },
    /// Runs the CPU engine's tests under valgrind.
    Sanitize {
        /// Installs nothing; fails if valgrind is missing.
        #[arg(long)]
        no_install: bool,
        /// Only tests whose name contains one of these.
        filters: Vec<String>,
    },
    /// Compiles the CUDA kernels into crates/cuda/images/, with a compiler from PyPI.
    Kernels {
        /// Changes nothing; fails if an image is not what its sources compile to.
        #[arg(long)]
        check: bool,
        /// Installs nothing; fails if the compiler is missing.
        #[arg(long)]
        no_install: bool,
    },
    /// Draws charts of benchmark records in docs/charts/.
    Charts {
        /// Records in results/; those that documents show unless given.
        records: Vec<PathBuf>,
    },
    /// Makes the figures of docs/algorithms/ with `sweepsort explain`.
    Figures,
    /// Measures the tool on large files, beside cp and sort, and writes a record to results/.
    Files {
        /// The record to write.
        record: PathBuf,
        /// Where the files lie meanwhile, about 4 GB.
        #[arg(long, default_value = "target/files")]
        folder: PathBuf,
    },
    /// Fills the tables of documents from the records in results/ that their opening comments name.
    Tables,
    /// Finds the figures of a row of the kernels' tuning tables: compiles what is to be tried, has
    /// `sweepsort bench` measure it on a GPU, and writes the best into the table.
    Tune {
        #[command(subcommand)]
        step: tune::Step,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Test { no_install } => test::run(!no_install),
        Chore::Fuzz { seconds, target } => fuzz::run(seconds, target.as_deref()),
        Chore::Sanitize {
            no_install,
            filters,
        } => sanitize::run(!no_install, &filters),
        Chore::Kernels { check, no_install } => kernels::run(check, !no_install),
        Chore::Charts { records } => charts::run(&records),
        Chore::Figures => figures::write(),
        Chore::Files { record, folder } => files::run(&record, &folder),
        Chore::Tables => tables::write(),
        Chore::Tune { step } => tune::run(&step),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
