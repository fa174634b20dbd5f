//! Tables of what a GPU sorts: in its memory beside CUB, and in the host's.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Result, bail};

use crate::charts::chart_of;
use crate::experiments::shown;
use crate::process::root;
use crate::readme::{count, task};
use crate::record::{Machine, Record, Row};
use crate::tables::link;

/// Below this, a time says more than a rate.
const RATES_FROM: u64 = 1 << 20;

/// The peer that ours stand beside.
const PEER: &str = "cub";

/// For the README: the largest inputs alone.
pub fn largest(record: &Record, file: &str) -> Result<String> {
    let most = record.rows.iter().map(|row| row.n).max();
    let rows = record.rows.iter().filter(|row| Some(row.n) == most);
    beside_cub(&rows.collect::<Vec<_>>(), &record.machine, file, 0)
}

/// All inputs of a record.
pub fn all(record: &Record, file: &str) -> Result<String> {
    beside_cub(
        &record.rows.iter().collect::<Vec<_>>(),
        &record.machine,
        file,
        2,
    )
}

/// A line for each of ours, and CUB on the same input.
fn beside_cub(rows: &[&Row], machine: &Machine, file: &str, depth: usize) -> Result<String> {
    let mut text =
        String::from("| keys | how many | Sweepsort | CUB | ratio |\n|---|--:|--:|--:|--:|\n");
    let mut lines = 0;
    for ours in rows.iter().filter(|row| row.ours()) {
        let peer = rows
            .iter()
            .find(|row| row.contender == PEER && row.same_input(ours));
        let (Some(ours_s), Some(peer_s)) = (ours.median_s, peer.and_then(|peer| peer.median_s))
        else {
            continue;
        };
        writeln!(
            text,
            "| {} | {} | **{}** | {} | {:.2}× |",
            what(ours),
            count(ours.n),
            speed(ours.n, ours_s),
            speed(ours.n, peer_s),
            peer_s / ours_s
        )?;
        lines += 1;
    }
    if lines == 0 {
        bail!("{file} has no sort of ours beside {PEER}");
    }
    writeln!(
        text,
        "\nGkeys a second, or µs for fewer than a million keys; medians of the device's own time; {}. \
         All outputs are verified. {}.",
        named(machine),
        links(file, depth)?
    )?;
    Ok(text)
}

/// A line for each input, and a column for each contender.
pub fn contenders(record: &Record, file: &str) -> Result<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut inputs: Vec<&Row> = Vec::new();
    for row in &record.rows {
        if !names.contains(&row.contender.as_str()) {
            names.push(&row.contender);
        }
        if !inputs.iter().any(|input| input.same_input(row)) {
            inputs.push(row);
        }
    }
    if inputs.is_empty() {
        bail!("{file} has no rows");
    }
    let mut text = format!("| keys | how many | {} |\n|---|--:|", names.join(" | "));
    text.push_str(&"--:|".repeat(names.len()));
    for input in inputs {
        write!(text, "\n| {} | {} |", what(input), count(input.n))?;
        for name in &names {
            let of = |row: &&Row| row.contender == *name && row.same_input(input);
            let seconds = record.rows.iter().find(of).and_then(|row| row.median_s);
            let speed = seconds.map_or(String::new(), |seconds| speed(input.n, seconds));
            write!(text, " {speed} |")?;
        }
    }
    writeln!(
        text,
        "\n\nGkeys a second, medians of the device's own time; {}. All outputs are verified. {}.",
        named(&record.machine),
        links(file, 2)?
    )?;
    Ok(text)
}

/// A table for each threshold, with a line for each input and a column for each way: the number that its figure was
/// set to, or the algorithm.
pub fn thresholds(record: &Record, file: &str) -> Result<String> {
    let mut tables: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in &record.rows {
        let (figure, _) = way(row);
        match tables.iter_mut().find(|(known, _)| *known == figure) {
            Some((_, rows)) => rows.push(row),
            None => tables.push((figure, vec![row])),
        }
    }
    let mut text = String::new();
    for (figure, rows) in tables {
        let mut ways: Vec<&str> = Vec::new();
        let mut inputs: Vec<&Row> = Vec::new();
        for row in &rows {
            if !ways.contains(&way(row).1) {
                ways.push(way(row).1);
            }
            if !inputs.iter().any(|input| input.same_input(row)) {
                inputs.push(row);
            }
        }
        let columns = ways.join(" | ");
        write!(
            text,
            "\n`{figure}`\n\n| keys | how many | {columns} |\n|---|--:|"
        )?;
        writeln!(text, "{}", "--:|".repeat(ways.len()))?;
        for input in inputs {
            let time = |name: &&str| {
                let of = |row: &&&Row| way(row).1 == *name && row.same_input(input);
                rows.iter().find(of).and_then(|row| row.median_s)
            };
            let times: Vec<Option<f64>> = ways.iter().map(time).collect();
            let least = times.iter().flatten().copied().fold(f64::MAX, f64::min);
            let cells: Vec<String> = (times.into_iter())
                .map(|time| match time {
                    None => String::new(),
                    Some(time) if time == least => format!("**{}**", shown(Some(1e6 * time))),
                    Some(time) => shown(Some(1e6 * time)),
                })
                .collect();
            let (keys, n) = (spread(input), count(input.n));
            writeln!(text, "| {keys} | {n} | {} |", cells.join(" | "))?;
        }
    }
    if text.is_empty() {
        bail!("{file} has no rows");
    }
    writeln!(
        text,
        "\nµs, medians of the device's own time; {}. All outputs are verified. {}.",
        named(&record.machine),
        links(file, 2)?
    )?;
    Ok(text)
}

/// The threshold that a row is about, and on which side of it: the last figure that its variant sets, or else its
/// algorithm.
fn way(row: &Row) -> (&str, &str) {
    let algorithm = row.algorithm.as_deref().unwrap_or("auto");
    match row.variant.as_deref() {
        None => ("--algorithm", algorithm),
        Some(variant) => {
            let last = variant.rsplit('+').next().unwrap_or(variant);
            last.split_once('=').unwrap_or(("--algorithm", "auto"))
        }
    }
}

/// Host memory: ours, and how near they come to the link.
pub fn host(record: &Record, file: &str) -> Result<String> {
    let mut text = String::from(
        "| keys | how many | engine | ms | Gkeys/s | of the link |\n|---|--:|---|--:|--:|--:|\n",
    );
    for row in record.rows.iter().filter(|row| row.ours()) {
        let (Some(seconds), Some(rate)) = (row.median_s, row.keys_per_s) else {
            continue;
        };
        let engine = row.contender.trim_start_matches("sweepsort-");
        let share = match (engine, row.floor_fraction) {
            ("cuda", Some(share)) => format!("{:.0} %", 100.0 * share),
            _ => String::new(),
        };
        writeln!(
            text,
            "| {} | {} | {engine} | {:.3} | {:.2} | {share} |",
            what(row),
            count(row.n),
            1e3 * seconds,
            rate / 1e9
        )?;
    }
    let Machine {
        link_up_bytes_per_s: up,
        link_down_bytes_per_s: down,
        ..
    } = record.machine;
    let (Some(up), Some(down)) = (up, down) else {
        bail!("{file} does not say how fast the link is");
    };
    writeln!(
        text,
        "\nMedians of wall time, from call to return; {}, link {:.1} GB/s up and {:.1} down. {}.",
        named(&record.machine),
        up / 1e9,
        down / 1e9,
        links(file, 2)?
    )?;
    Ok(text)
}

/// What was sorted.
pub fn spread(row: &Row) -> String {
    match &*row.distribution {
        "uniform" => task(row),
        distribution => format!("{}, {distribution}", task(row)),
    }
}

/// What was sorted, and how if otherwise than to an output of its own.
fn what(row: &Row) -> String {
    let what = spread(row);
    match row.variant.as_deref() {
        None | Some("text") => what,
        Some(variant) => format!("{what}, {variant}"),
    }
}

fn speed(n: u64, seconds: f64) -> String {
    if n < RATES_FROM {
        return format!("{:.1} µs", 1e6 * seconds);
    }
    format!("{:.1}", n as f64 / seconds / 1e9)
}

fn named(machine: &Machine) -> String {
    format!(
        "{}, driver {}; {}, commit {}",
        machine.gpu.as_deref().unwrap_or("no GPU"),
        machine.driver.as_deref().unwrap_or("unknown"),
        machine.day(),
        machine.commit
    )
}

/// The record, and its chart if there is one.
pub fn links(file: &str, depth: usize) -> Result<String> {
    let record = link(Path::new(file), depth);
    let chart = chart_of(Path::new(file))?;
    Ok(match root().join(&chart).exists() {
        true => format!("[The record]({record}), [a chart]({})", link(&chart, depth)),
        false => format!("[The record]({record})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(contender: &str, n: u64, median_s: f64) -> Row {
        Row {
            contender: contender.to_owned(),
            key_type: "u32".to_owned(),
            distribution: "uniform".to_owned(),
            n,
            median_s: Some(median_s),
            verified: true,
            ..Row::default()
        }
    }

    #[test]
    fn thresholds_have_a_column_for_each_way() {
        let by = |variant: Option<&str>, algorithm: &str, n, median_s| Row {
            variant: variant.map(str::to_owned),
            algorithm: Some(algorithm.to_owned()),
            ..row("sweepsort-cuda", n, median_s)
        };
        let record = Record {
            machine: Machine::default(),
            rows: vec![
                by(Some("hybrid.once=1"), "hybrid", 100, 5e-6),
                by(Some("hybrid.once=2^31"), "hybrid", 100, 4e-6),
                by(Some("hybrid.a=1+hybrid.b=1"), "hybrid", 100, 2e-4),
                by(Some("hybrid.b=2"), "hybrid", 100, 1e-4),
                by(None, "onesweep", 100, 3e-5),
                by(Some("text"), "hybrid", 100, 2e-5),
                by(None, "onesweep", 7, 3e-5),
            ],
        };
        let text = thresholds(&record, "results/none.json").unwrap();
        for part in [
            "`hybrid.once`\n\n| keys | how many | 1 | 2^31 |\n|---|--:|--:|--:|\n| u32 | 100 | 5.00 | **4.00** |\n",
            "`hybrid.b`\n\n| keys | how many | 1 | 2 |\n|---|--:|--:|--:|\n| u32 | 100 | 200 | **100** |\n",
            "| keys | how many | onesweep | auto |\n|---|--:|--:|--:|\n| u32 | 100 | 30.0 | **20.0** |\n| u32 | 7 | **30.0** |  |\n",
        ] {
            assert!(text.contains(part), "{part}\nis not in\n{text}");
        }
    }

    #[test]
    fn ours_stand_beside_cub() {
        let record = Record {
            machine: Machine::default(),
            rows: vec![
                row("sweepsort-cuda", 100, 5e-6),
                row(PEER, 100, 1e-5),
                row("sweepsort-cuda", 1 << 28, 0.004),
                row(PEER, 1 << 28, 0.006),
                row("sweepsort-cuda", 7, 1.0),
            ],
        };
        let text = all(&record, "results/none.json").unwrap();
        let lines: Vec<&str> = text.lines().skip(2).take(3).collect();
        assert_eq!(
            lines,
            [
                "| u32 | 100 | **5.0 µs** | 10.0 µs | 2.00× |",
                "| u32 | 2²⁸ | **67.1** | 44.7 | 1.50× |",
                ""
            ]
        );
        let text = largest(&record, "results/none.json").unwrap();
        assert_eq!(text.lines().filter(|line| line.contains("u32")).count(), 1);
        assert!(
            all(
                &Record {
                    rows: Vec::new(),
                    ..record
                },
                "x"
            )
            .is_err()
        );
    }
}
