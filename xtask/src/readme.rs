//! The README: the table of its record, and its commands, which run.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::charts::chart_of;
use crate::process::{program, root, run, target_dir, works};
use crate::record::{Machine, Record, Row};
use crate::test::Outcome;

/// The table has inputs of so many keys or more.
const SHOWN_FROM: u64 = 10_000_000;

/// The inputs shown beside uniform ones: those that a first read can notice, and a skewed one. The
/// chart has all.
const OTHER_INPUTS: &[&str] = &["sorted", "reverse", "equal", "zipf"];

/// The tables: speed on uniform keys, and on a few other inputs where the record has them.
pub fn table(record: &Record, file: &str) -> Result<String> {
    let results: Vec<Comparison> = comparisons(&record.rows);
    let uniform = |it: &&Comparison| it.ours.distribution == "uniform" && it.ours.n >= SHOWN_FROM;
    let mut text = String::from(
        "| keys, uniform | how many | Sweepsort | fastest other | ratio |\n|---|--:|--:|---|--:|\n",
    );
    for result in results.iter().filter(uniform) {
        writeln!(
            text,
            "| {} | {} | **{}** | {} ({}) | {:.1}× |",
            task(result.ours),
            count(result.ours.n),
            millions(result.speed),
            millions(result.peer_speed),
            result.peer.contender,
            result.ratio(),
        )?;
    }
    let Some(first) = results.iter().find(uniform) else {
        bail!("{file} has no input of {SHOWN_FROM} uniform keys or more with a peer");
    };
    let others: Vec<&Comparison> = results
        .iter()
        .filter(|it| OTHER_INPUTS.contains(&it.ours.distribution.as_str()))
        .filter(|it| it.ours.value_type.is_none() && it.ours.n >= SHOWN_FROM)
        .collect();
    if !others.is_empty() {
        text.push_str("\n| keys, other inputs | how many | Sweepsort | fastest other | ratio |\n");
        text.push_str("|---|--:|--:|---|--:|\n");
    }
    for result in others {
        writeln!(
            text,
            "| {}, {} | {} | **{}** | {} ({}) | {:.1}× |",
            result.ours.key_type,
            result.ours.distribution,
            count(result.ours.n),
            millions(result.speed),
            millions(result.peer_speed),
            result.peer.contender,
            result.ratio(),
        )?;
    }
    let Machine {
        cpu, os, commit, ..
    } = &record.machine;
    let day = record.machine.day();
    let threads = first.ours.threads;
    let chart = chart_of(Path::new(file))?;
    let chart = match root().join(&chart).exists() {
        true => format!(", [a chart]({})", chart.display()),
        false => String::new(),
    };
    writeln!(
        text,
        "\nMillion keys a second, medians, {threads} threads; {cpu}, {os}; {day}, commit {commit}. \
         Scratch memory is kept between sorts (`Sorter`), all outputs are verified. The fastest \
         other of the same run; for pairs and argsort, the fastest stable one. [The \
         record]({file}){chart}."
    )?;
    Ok(text)
}

/// Ours and the fastest peer on one input.
struct Comparison<'a> {
    ours: &'a Row,
    speed: f64,
    peer: &'a Row,
    peer_speed: f64,
}

impl Comparison<'_> {
    fn ratio(&self) -> f64 {
        self.speed / self.peer_speed
    }
}

/// A comparison for each input that both ran on, in the record's order.
fn comparisons(rows: &[Row]) -> Vec<Comparison<'_>> {
    inputs(rows)
        .iter()
        .filter_map(|input| {
            let (ours, speed) = fastest(input, Row::main)?;
            let (peer, peer_speed) = fastest(input, Row::peer)?;
            Some(Comparison {
                ours,
                speed,
                peer,
                peer_speed,
            })
        })
        .collect()
}

/// The rows of each input, in the record's order.
pub fn inputs(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut inputs: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match inputs.iter_mut().find(|input| input[0].same_input(row)) {
            Some(input) => input.push(row),
            None => inputs.push(vec![row]),
        }
    }
    inputs
}

/// The fastest of some contenders, and its keys a second.
pub fn fastest<'a>(input: &[&'a Row], of: fn(&Row) -> bool) -> Option<(&'a Row, f64)> {
    input
        .iter()
        .filter(|row| of(row))
        .filter_map(|row| Some((*row, row.keys_per_s?)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// What was sorted, in a few words.
pub fn task(row: &Row) -> String {
    match row.value_type.as_deref() {
        None => row.key_type.clone(),
        Some("index") => format!("{}, argsort", row.key_type),
        Some(value) => {
            let unstable = row.contender.ends_with("-unstable");
            let order = if unstable { "unstable" } else { "stable" };
            format!("{} with {value} values, {order}", row.key_type)
        }
    }
}

/// `10^k` where it is one, or `2^k` from 2^16 on, else digits in groups.
pub fn count(n: u64) -> String {
    let raised = |base: u32, exponent: u32| {
        let digits = exponent.to_string();
        let raised = digits.bytes().map(|digit| {
            let all = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
            all[usize::from(digit - b'0')]
        });
        format!("{base}{}", raised.collect::<String>())
    };
    let exponent = n.checked_ilog10().unwrap_or(0);
    if exponent >= 3 && 10u64.pow(exponent) == n {
        return raised(10, exponent);
    }
    if n.is_power_of_two() && n >= 1 << 16 {
        return raised(2, n.ilog2());
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

/// Million keys a second.
pub fn millions(keys_per_s: f64) -> String {
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
    let readme = std::fs::read_to_string(root().join("README.md")).context("README.md")?;
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
        assert_eq!(count(1 << 20), "2²⁰");
        assert_eq!(count((1 << 20) + 1), "1,048,577");
        assert_eq!(count(4096), "4,096");
        assert_eq!(count(0), "0");
    }

    #[test]
    fn table_takes_the_fastest_other() {
        let row = |contender: &str, value_type: Option<&str>, millions: f64| Row {
            contender: contender.into(),
            key_type: "u32".into(),
            value_type: value_type.map(Into::into),
            n: 10_000_000,
            distribution: "uniform".into(),
            threads: 2,
            keys_per_s: Some(millions * 1e6),
            verified: true,
            ..Row::default()
        };
        let record = Record {
            machine: Machine {
                cpu: "a CPU".into(),
                os: "an OS".into(),
                date: "2026-01-02T03:04:05Z".into(),
                commit: "0123456789ab".into(),
                ..Machine::default()
            },
            rows: vec![
                row("std-stable", None, 4.0),
                row("sweepsort-cpu", None, 300.0),
                row("rdst", None, 100.0),
                row("sweepsort-cpu", Some("u64"), 90.0),
                row("sweepsort-cpu-unstable", Some("u64"), 99.0),
                row("rdst", Some("u64"), 80.0),
                row("radsort", Some("u64"), 60.0),
            ],
        };
        let table = table(&record, "results/x.json").unwrap();
        for line in [
            "| u32 | 10⁷ | **300** | 100 (rdst) | 3.0× |",
            "| u32 with u64 values, stable | 10⁷ | **90** | 60 (radsort) | 1.5× |",
        ] {
            assert!(table.contains(line), "{table}");
        }
        assert!(table.contains("2026-01-02, commit 0123456789ab"), "{table}");
    }
}
