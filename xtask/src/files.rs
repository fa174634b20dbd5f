//! `cargo xtask files`: how long the tool takes on large files, beside what the system has.
//!
//! * 1 GB of raw u32: `sweepsort sort` beside `cp` and `sync` of that file, in turns.
//! * 10 million lines of whole numbers: `sweepsort sort` beside `LC_ALL=C sort -n`, in turns; the
//!   outputs must be the same bytes.
//!
//! All files are read once before, so that they are in the page cache where it has room for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{cargo, output, program, root, run as run_command, target_dir};

/// So many 32-bit keys are 1 GB.
const KEYS: u64 = 250_000_000;
const LINES: u64 = 10_000_000;
const ROUNDS: usize = 5;

/// Measures, and writes a record.
pub fn run(record: &Path, folder: &Path) -> Result<()> {
    if !cfg!(unix) {
        bail!("this compares with cp, sync and sort; run it where they are");
    }
    let record = root().join(record);
    if record.exists() {
        bail!("{} exists; name another record", record.display());
    }
    run_command(cargo().args(["build", "--release", "--package", "sweepsort-cli"]))?;
    let folder = root().join(folder);
    std::fs::create_dir_all(&folder)?;
    let files = Files {
        tool: target_dir()?.join("release").join("sweepsort"),
        folder,
    };
    let machine = files.json(&["bench", "-n", "1000", "--budget", "0", "--json", "-"])?;
    let mut rows = files.raw()?;
    rows.extend(files.text()?);
    let object = json!({ "machine": machine["machine"], "rows": rows });
    std::fs::write(&record, format!("{object:#}\n"))?;
    std::fs::remove_dir_all(&files.folder)?;
    println!("{object:#}");
    Ok(())
}

/// The tool, and the folder of the files that it works on.
struct Files {
    tool: PathBuf,
    folder: PathBuf,
}

impl Files {
    fn raw(&self) -> Result<Vec<Value>> {
        let count = KEYS.to_string();
        self.tell(&[
            "gen", "-t", "u32", "-n", &count, "-o", "keys.u32", "--force",
        ])?;
        let (mut ours, mut sorting, mut copying) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            self.read("keys.u32")?;
            let start = Instant::now();
            let summary =
                self.json(&["sort", "keys.u32", "-o", "sorted.u32", "--force", "--json"])?;
            ours.push(start.elapsed().as_secs_f64());
            sorting.push(summary["sort_s"].as_f64().context("no sort_s")?);
            self.read("keys.u32")?;
            let start = Instant::now();
            self.shell("cp keys.u32 copy.u32 && sync copy.u32")?;
            copying.push(start.elapsed().as_secs_f64());
        }
        self.tell(&["check", "sorted.u32", "--against", "keys.u32", "--quiet"])?;
        let mut row = row("sweepsort-cpu", "sort a raw u32 file", KEYS, &mut ours);
        row["sort_s"] = json!(median(&mut sorting));
        let copy = self::row("cp, sync", "copy the same file", KEYS, &mut copying);
        self.shell("rm *.u32")?;
        Ok(vec![row, copy])
    }

    fn text(&self) -> Result<Vec<Value>> {
        let mut rows = Vec::new();
        for ty in ["i64", "u32"] {
            let count = LINES.to_string();
            self.tell(&["gen", "-t", ty, "-n", &count, "-o", "lines.txt", "--force"])?;
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                self.read("lines.txt")?;
                let start = Instant::now();
                self.tell(&["sort", "lines.txt", "-o", "ours.txt", "--force", "--quiet"])?;
                ours.push(start.elapsed().as_secs_f64());
                self.read("lines.txt")?;
                let start = Instant::now();
                self.shell("LC_ALL=C sort -n lines.txt -o theirs.txt")?;
                theirs.push(start.elapsed().as_secs_f64());
                self.shell("cmp ours.txt theirs.txt")?;
            }
            let what = format!("sort lines of uniform {ty}");
            rows.push(row("sweepsort-cpu", &what, LINES, &mut ours));
            rows.push(row("LC_ALL=C sort -n", &what, LINES, &mut theirs));
        }
        Ok(rows)
    }

    /// The tool, about to run among the files.
    fn tool(&self, arguments: &[&str]) -> Command {
        let mut tool = program(&self.tool);
        tool.current_dir(&self.folder).args(arguments);
        tool
    }

    fn tell(&self, arguments: &[&str]) -> Result<()> {
        run_command(&mut self.tool(arguments))
    }

    fn json(&self, arguments: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&output(&mut self.tool(arguments))?)?)
    }

    fn shell(&self, line: &str) -> Result<()> {
        run_command(program("sh").current_dir(&self.folder).args(["-c", line]))
    }

    /// Reads a file, so that it is in the page cache.
    fn read(&self, name: &str) -> Result<()> {
        let mut file = std::fs::File::open(self.folder.join(name))?;
        std::io::copy(&mut file, &mut std::io::sink())?;
        Ok(())
    }
}

fn row(contender: &str, what: &str, n: u64, seconds: &mut [f64]) -> Value {
    let median = median(seconds);
    json!({
        "contender": contender,
        "what": what,
        "n": n,
        "median_s": median,
        "min_s": seconds[0],
        "max_s": seconds[seconds.len() - 1],
        "verified": true,
    })
}

/// The median of an odd number of times, which are sorted.
fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
