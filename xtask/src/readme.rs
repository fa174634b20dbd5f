//! The README: its table comes from a record in `results/`, and its commands run.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::{program, root, run, target_dir, works};
use crate::test::Outcome;

/// The table stands between these two; the first names the record.
const BEGIN: &str = "<!-- bench:begin";
const END: &str = "<!-- bench:end -->";

/// What `sweepsort bench --json` wrote, as far as the README and its checks ask.
#[derive(Deserialize)]
pub struct Record {
    pub machine: Machine,
    pub rows: Vec<Row>,
}

#[derive(Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub os: String,
    pub date: String,
    pub commit: String,
}

#[derive(Deserialize)]
pub struct Row {
    pub contender: String,
    pub r#type: String,
    pub value_type: Option<String>,
    pub n: u64,
    pub distribution: String,
    pub threads: u64,
    pub keys_per_s: Option<f64>,
    pub verified: bool,
}

impl Row {
    /// Whether the contender is one of ours.
    pub fn ours(&self) -> bool {
        self.contender.starts_with("sweepsort-")
    }

    fn same_input(&self, other: &Row) -> bool {
        (&self.r#type, &self.value_type, &self.distribution, self.n)
            == (
                &other.r#type,
                &other.value_type,
                &other.distribution,
                other.n,
            )
    }
}

/// Fills the table anew.
pub fn write_table() -> Result<()> {
    let (old, new) = (read()?, filled()?);
    if new == old {
        println!("README.md is up to date");
    } else {
        std::fs::write(path(), new)?;
        println!("README.md has a new table");
    }
    Ok(())
}

/// Fails if the table is not what its record gives.
pub fn check_table() -> Result<()> {
    if filled()? != read()? {
        bail!("the README's table is not what its record gives; run `cargo xtask readme-table`");
    }
    Ok(())
}

fn path() -> PathBuf {
    root().join("README.md")
}

fn read() -> Result<String> {
    std::fs::read_to_string(path()).context("README.md")
}

/// The README with its table filled from its record.
fn filled() -> Result<String> {
    let readme = read()?;
    let (before, rest) = readme
        .split_once(BEGIN)
        .with_context(|| format!("README.md has no `{BEGIN} FILE -->`"))?;
    let (file, rest) = rest
        .split_once("-->")
        .context("README.md: an open comment")?;
    let file = file.trim();
    if file.is_empty() {
        println!("README.md names no record, and has no table");
        return Ok(readme);
    }
    let (_, after) = rest
        .split_once(END)
        .with_context(|| format!("README.md has no `{END}`"))?;
    let text = std::fs::read_to_string(root().join(file)).with_context(|| file.to_owned())?;
    let record: Record = serde_json::from_str(&text).with_context(|| file.to_owned())?;
    let table = table(&record, file)?;
    Ok(format!("{before}{BEGIN} {file} -->\n{table}{END}{after}"))
}

/// The table: a row for each task, ours against the fastest peer of the same run.
fn table(record: &Record, file: &str) -> Result<String> {
    // In the record's order.
    let mut tasks: Vec<Vec<&Row>> = Vec::new();
    for row in &record.rows {
        match tasks.iter_mut().find(|rows| rows[0].same_input(row)) {
            Some(rows) => rows.push(row),
            None => tasks.push(vec![row]),
        }
    }
    let mut text = String::from(
        "| keys | input | how many | Sweepsort | fastest other | |\n|---|---|--:|--:|---|--:|\n",
    );
    let mut threads = 0;
    for rows in &tasks {
        let fastest = |ours: bool| {
            rows.iter()
                .filter(|row| row.ours() == ours && row.verified)
                .filter_map(|row| Some((*row, row.keys_per_s?)))
                .max_by(|(_, a), (_, b)| a.total_cmp(b))
        };
        let (Some((ours, speed)), Some((peer, peer_speed))) = (fastest(true), fastest(false))
        else {
            continue;
        };
        threads = threads.max(ours.threads);
        writeln!(
            text,
            "| {} | {} | {} | **{}** | {} ({}) | {:.1}× |",
            task(ours),
            ours.distribution,
            count(ours.n),
            millions(speed),
            millions(peer_speed),
            peer.contender,
            speed / peer_speed,
        )?;
    }
    if threads == 0 {
        bail!("{file} has no task that both Sweepsort and another library ran");
    }
    let Machine {
        cpu,
        os,
        date,
        commit,
    } = &record.machine;
    let day = date.split('T').next().unwrap_or(date);
    let commit = commit.get(..10).unwrap_or(commit);
    writeln!(
        text,
        "\nMillion keys a second, medians, on {cpu}, {threads} threads, {os}, {day}, commit \
         {commit}; all outputs verified. [The record]({file}) has every run."
    )?;
    Ok(text)
}

/// What was sorted, in a few words.
fn task(row: &Row) -> String {
    match row.value_type.as_deref() {
        None => row.r#type.clone(),
        Some("index") => format!("{}, argsort", row.r#type),
        Some(value) => format!("{} with {value} values", row.r#type),
    }
}

/// `10^k` where it is one, else digits in groups.
fn count(n: u64) -> String {
    let exponent = n.checked_ilog10().unwrap_or(0);
    if exponent >= 3 && 10u64.pow(exponent) == n {
        let digits = exponent.to_string();
        let raised = digits.bytes().map(|digit| {
            let all = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
            all[usize::from(digit - b'0')]
        });
        return format!("10{}", raised.collect::<String>());
    }
    let digits = n.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

fn millions(keys_per_s: f64) -> String {
    let millions = keys_per_s / 1e6;
    if millions < 10.0 {
        format!("{millions:.1}")
    } else {
        format!("{millions:.0}")
    }
}

/// Runs the README's commands as a person would type them: those that start with `cargo run` in
/// the repository, those that start with `sweepsort` one after another in an empty folder.
pub fn run_commands() -> Result<Outcome> {
    if !works(program("sh").args(["-c", "true"])) {
        return Ok(Outcome::NotRun("there is no sh to run its commands".into()));
    }
    let readme = read()?;
    let lines: Vec<&str> = commands(&readme).collect();
    let (in_repository, tool): (Vec<&str>, Vec<&str>) = lines
        .into_iter()
        .partition(|line| line.starts_with("cargo run "));
    if in_repository.is_empty() || tool.is_empty() {
        bail!("README.md has lost its commands");
    }
    for line in in_repository {
        run(program("sh").args(["-c", line]))?;
    }
    let folder = tempfile::tempdir()?;
    let built = target_dir()?.join("release");
    let path = std::env::join_paths(std::iter::once(built).chain(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    )))?;
    for line in tool {
        run(program("sh")
            .args(["-c", line])
            .env("PATH", &path)
            .current_dir(&folder))?;
    }
    Ok(Outcome::Passed)
}

/// The commands of the README's `sh` blocks that can be tried: not `cargo xtask`, which may be
/// what is running, and `cargo install`, which changes the machine.
fn commands(readme: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    readme.lines().filter(move |line| {
        if line.starts_with("```") {
            inside = *line == "```sh";
            return false;
        }
        inside
            && !line.trim().is_empty()
            && !line.starts_with('#')
            && !line.starts_with("cargo xtask")
            && !line.starts_with("cargo install")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found() {
        let readme = "a\n```sh\ncargo run x\n# why\nsweepsort gen\ncargo xtask test\n```\nb\n\
                      ```text\nno\n```\n";
        assert_eq!(
            commands(readme).collect::<Vec<_>>(),
            ["cargo run x", "sweepsort gen"]
        );
    }

    #[test]
    fn counts_read_well() {
        assert_eq!(count(10_000_000), "10⁷");
        assert_eq!(count(100), "100");
        assert_eq!(count(1 << 20), "1,048,576");
        assert_eq!(count(0), "0");
    }

    #[test]
    fn table_takes_the_fastest_other() {
        let row = |contender: &str, threads, keys_per_s| Row {
            contender: contender.into(),
            r#type: "u32".into(),
            value_type: None,
            n: 1000,
            distribution: "uniform".into(),
            threads,
            keys_per_s: Some(keys_per_s),
            verified: true,
        };
        let record = Record {
            machine: Machine {
                cpu: "a CPU".into(),
                os: "an OS".into(),
                date: "2026-01-02T03:04:05Z".into(),
                commit: "0123456789abcdef".into(),
            },
            rows: vec![
                row("std-stable", 1, 4e6),
                row("sweepsort-cpu", 2, 300e6),
                row("rdst", 2, 100e6),
            ],
        };
        let table = table(&record, "results/x.json").unwrap();
        assert!(
            table.contains("| u32 | uniform | 10³ | **300** | 100 (rdst) | 3.0× |"),
            "{table}"
        );
        assert!(table.contains("2026-01-02, commit 0123456789"), "{table}");
    }
}
