//! The experiments of the teaching texts, run anew on this machine's GPU; a record of each.
//!
//! ```text
//! a list of experiments ─┬─ flags of `sweepsort bench` ────────────┐
//!                        ├─ text.rs: histogram, scan, whole sort ──┼─→ FOLDER/DATE-GPU-NAME.json
//!                        ├─ first_sort.rs: processes of their own ─┤
//!                        └─ first_sort_wgpu.rs: the same by wgpu ──┘
//! ```
//! It is one program that needs neither cargo nor a toolkit, so it can be carried to a GPU. What the
//! records show stands in `docs/experiments.md`; `cargo xtask tables` fills its tables from them.

mod first_sort;
#[cfg(feature = "wgpu")]
mod first_sort_wgpu;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use sweepsort_cli::args::{Cli as Tool, Command};
use sweepsort_cli::bench;
use sweepsort_cuda::Device;

/// The experiments of the teaching texts, run anew on this machine's GPU
#[derive(Parser)]
struct Cli {
    /// Where the records go
    #[arg(long, default_value = "results")]
    folder: PathBuf,
    /// Only experiments whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// A thousandth of the sizes, to try it out
    #[arg(long)]
    small: bool,
    /// Sort for the first time, and print when what was done
    #[arg(long, hide = true, value_name = "ALGORITHM")]
    first_sort: Option<String>,
}

/// An experiment that is a run of `sweepsort bench`.
struct Bench {
    name: &'static str,
    sizes: &'static [&'static str],
    flags: &'static str,
}

/// What is measured by `sweepsort bench`.
const BENCHES: &[Bench] = &[
    Bench {
        name: "classics",
        sizes: &["2^28"],
        flags: "-t u32,u64 --residence device --peers --engine cuda \
                --algorithm split,four-way,block-histogram,tile-merge,coalesced",
    },
    Bench {
        name: "argsort",
        sizes: &["2^28"],
        flags: "-t u32 --value-type index --residence device --peers --engine cuda \
                --algorithm split,four-way,block-histogram,tile-merge,coalesced",
    },
    Bench {
        name: "sizes",
        sizes: &["2^12", "2^16", "2^20", "2^24", "2^28"],
        flags: "-t u32 --residence device --engine cuda --peers --contenders sweepsort-cuda,cub \
                --algorithm split,four-way,block-histogram,tile-merge,coalesced",
    },
    Bench {
        name: "split",
        sizes: &["1e7", "3e7", "1e8", "3e8"],
        flags: "-t u32 -d normal,uniform --residence device --engine cuda --algorithm split \
                --variant text,all-passes --peers --contenders sweepsort-cuda,cub",
    },
    Bench {
        name: "split-host",
        sizes: &["1e7", "3e7", "1e8", "3e8"],
        flags: "-t u32 -d normal,uniform --budget 0 --peers --engine cpu \
                --contenders sweepsort-cpu,std-unstable,rayon-unstable,rdst,voracious-mt",
    },
    Bench {
        name: "four-way",
        sizes: &["2^28"],
        flags: "-t u32 --residence device --engine cuda --algorithm four-way --radix-bits 1,2",
    },
    Bench {
        name: "coalesced",
        sizes: &["2^28"],
        flags: "-t u32,u64 --residence device --engine cuda --algorithm coalesced \
                --radix-bits 1,2,4,8 --variant text,plain-scatter",
    },
    Bench {
        name: "blocks",
        sizes: &["2^28"],
        flags: "-t u32 --residence device --engine cuda --algorithm block-histogram,coalesced \
                --radix-bits 4,8 --block 256,512,1024,2048,4096,8192,16384",
    },
    Bench {
        name: "streams",
        sizes: &["2^20", "2^24", "2^28"],
        flags: "-t u32 --residence device --engine cuda --algorithm block-histogram \
                --radix-bits 2,4,8 --block 256,4096 --variant text,one-stream",
    },
    Bench {
        name: "best-host",
        sizes: &["2^28"],
        flags: "-t u32 --budget 0 --peers --engine cpu \
                --contenders sweepsort-cpu,rayon-unstable,rdst,rdst-low-memory,voracious-mt",
    },
];

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("experiments: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<()> {
    match cli.first_sort.as_deref() {
        #[cfg(feature = "wgpu")]
        Some("wgpu") => return first_sort_wgpu::child(),
        Some(algorithm) => return first_sort::child(algorithm),
        None => {}
    }
    std::fs::create_dir_all(&cli.folder)?;
    let due = |name: &str| name.contains(&cli.only);
    let of_cuda = BENCHES.iter().map(|experiment| experiment.name);
    let of_cuda = of_cuda.chain(["first-sort", "text"]);
    let some = of_cuda.clone().any(due);
    #[cfg(feature = "wgpu")]
    if !some && due(first_sort_wgpu::NAME) {
        // It needs no CUDA.
        let record = first_sort_wgpu::run()?;
        let gpu = short(record.machine.gpu.as_deref().unwrap_or_default());
        let file = format!("{}-{gpu}-{}.json", today(), first_sort_wgpu::NAME);
        return write(&cli.folder.join(file), &record);
    }
    if !some {
        let names: Vec<&str> = of_cuda.collect();
        bail!(
            "no experiment is called {:?}; there are {}",
            cli.only,
            names.join(", ")
        );
    }
    let devices = Device::all().map_err(|error| anyhow!("{error}"))?;
    let stem = format!("{}-{}", today(), short(&devices[0].name));
    let file = |name: &str| cli.folder.join(format!("{stem}-{name}.json"));
    for experiment in BENCHES.iter().filter(|experiment| due(experiment.name)) {
        println!("\n# {}\n", experiment.name);
        experiment.run(cli.small, &file(experiment.name))?;
    }
    if due("first-sort") {
        println!("\n# first-sort\n");
        write(&file("first-sort"), &first_sort::run()?)?;
    }
    if due("text") {
        println!("\n# text\n");
        write(&file("text"), &text::run(cli.small)?)?;
    }
    Ok(())
}

impl Bench {
    fn run(&self, small: bool, file: &Path) -> Result<()> {
        let sizes: Result<Vec<String>> = self
            .sizes
            .iter()
            .map(|size| {
                let count = sweepsort_cli::args::count(size).map_err(|why| anyhow!(why))?;
                Ok(if small { count.div_ceil(1000) } else { count }.to_string())
            })
            .collect();
        let file = file.to_str().context("a folder whose name is no text")?;
        match Tool::try_parse_from(self.words(&sizes?, file))?.command {
            Command::Bench(args) => bench::run(&args).with_context(|| self.name),
            _ => bail!("{} is no run of bench", self.name),
        }
    }

    /// The words of its command.
    fn words(&self, sizes: &[String], file: &str) -> Vec<String> {
        let sizes = sizes.join(",");
        let words = [
            "sweepsort",
            "bench",
            "--force",
            "--json",
            file,
            "-n",
            &sizes,
        ];
        let words = words.into_iter().chain(self.flags.split_whitespace());
        words.map(str::to_owned).collect()
    }
}

/// The day, as `2026-01-31`.
fn today() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}

/// `NVIDIA H200` as `h200`.
fn short(name: &str) -> String {
    let name = name.trim_start_matches("NVIDIA ").to_lowercase();
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

fn write(file: &Path, record: &bench::record::Record) -> Result<()> {
    let text = bench::json(record)?;
    std::fs::write(file, text).with_context(|| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use sweepsort_cuda::classic::{Algorithm, Variant};

    use super::*;

    /// Every experiment is a run of `sweepsort bench` whose methods the engine takes.
    #[test]
    fn flags_are_flags() {
        for bench in BENCHES {
            let words = bench.words(&["1000".to_owned()], "a.json");
            let Command::Bench(args) = Tool::try_parse_from(words).unwrap().command else {
                panic!("{} is no run of bench", bench.name);
            };
            assert_eq!(args.sizes, [1000], "{}", bench.name);
            assert!(
                bench
                    .sizes
                    .iter()
                    .all(|size| sweepsort_cli::args::count(size).is_ok())
            );
            for name in &args.variant {
                assert!(Variant::named(name).is_some(), "{}: {name}", bench.name);
            }
            for name in &args.algorithm {
                assert!(Algorithm::named(name).is_some(), "{}: {name}", bench.name);
            }
        }
    }

    #[test]
    fn devices_have_short_names() {
        assert_eq!(short("NVIDIA H200"), "h200");
        assert_eq!(short("NVIDIA GeForce RTX 5090"), "geforce-rtx-5090");
    }
}
