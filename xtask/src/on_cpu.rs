//! Tables of what the CPU engine sorts, beside the fastest others of the same run.

use std::fmt::Write;

use anyhow::{Result, bail};

use crate::on_device::{links, spread};
use crate::readme::{count, fastest, inputs, millions};
use crate::record::{Machine, Record, Row};

/// Ours, by the machine's best instructions.
const OURS: &str = "sweepsort-cpu";

/// A column beside ours, which a column with its ratio follows.
struct Column {
    head: &'static str,
    rule: &'static str,
    /// The fastest of these is shown.
    of: fn(&Row) -> bool,
}

const FASTEST_OTHER: Column = Column {
    head: "fastest other",
    rule: "---",
    of: Row::other,
};

/// Only those that an input has something for are shown. Equal keys alone cannot be told apart, so there no sort
/// counts as stable.
const MORE: [Column; 3] = [
    Column {
        head: "fastest stable",
        rule: "---",
        of: |row| row.other() && row.stable() && row.value_type.is_some(),
    },
    Column {
        head: "by AVX2",
        rule: "--:",
        of: |row| row.contender == "sweepsort-cpu-avx2",
    },
    Column {
        head: "by any machine",
        rule: "--:",
        of: |row| row.contender == "sweepsort-cpu-portable",
    },
];

/// All inputs of a record, in keys a second.
pub fn others(record: &Record, file: &str) -> Result<String> {
    beside_others(record, file, "Million keys a second", |row| {
        row.keys_per_s.map_or(String::new(), millions)
    })
}

/// All inputs of a record of few keys, in time.
pub fn few(record: &Record, file: &str) -> Result<String> {
    beside_others(record, file, "Nanoseconds a sort", |row| {
        let nanoseconds = |seconds| format!("{:.0}", 1e9 * seconds);
        row.median_s.map_or(String::new(), nanoseconds)
    })
}

/// A line for each input of ours, and a column for each that stands beside it; `figure` says how fast a row is.
fn beside_others(
    record: &Record,
    file: &str,
    unit: &str,
    figure: fn(&Row) -> String,
) -> Result<String> {
    let mut lines: Vec<(Vec<&Row>, &Row, f64)> = inputs(&record.rows)
        .into_iter()
        .filter_map(|input| {
            let (ours, speed) = fastest(&input, |row| row.contender == OURS)?;
            Some((input, ours, speed))
        })
        .collect();
    lines.sort_by_key(|(_, ours, _)| place(ours));
    let threads = match lines.iter().map(|(_, ours, _)| ours.threads).max() {
        None => bail!("{file} has no sort of {OURS}"),
        Some(1) => "one thread".to_owned(),
        Some(threads) => format!("{threads} threads"),
    };
    let has = |column: &&Column| {
        lines
            .iter()
            .any(|(input, ..)| fastest(input, column.of).is_some())
    };
    let columns: Vec<&Column> = std::iter::once(&FASTEST_OTHER)
        .chain(MORE.iter().filter(has))
        .collect();

    let mut text = String::from("| sorted | how many | Sweepsort |");
    for column in &columns {
        write!(text, " {} | ratio |", column.head)?;
    }
    text.push_str("\n|---|--:|--:|");
    for column in &columns {
        write!(text, "{}|--:|", column.rule)?;
    }
    for (input, ours, speed) in &lines {
        let (sorted, n) = (spread(ours), count(ours.n));
        write!(text, "\n| {sorted} | {n} | **{}** |", figure(ours))?;
        for column in &columns {
            let [shown, ratio] = column.cells(input, *speed, figure);
            write!(text, " {shown} | {ratio} |")?;
        }
    }
    let Machine {
        cpu, os, commit, ..
    } = &record.machine;
    let day = record.machine.day();
    writeln!(
        text,
        "\n\n{unit}, medians; at most {threads}; {cpu}, {os}; {day}, commit {commit}. All outputs are verified. {}.",
        links(file, 2)?
    )?;
    Ok(text)
}

impl Column {
    /// The fastest of an input, and a ratio: how much faster ours is, or where this is ours by other instructions, how
    /// much faster than the fastest other.
    fn cells(&self, input: &[&Row], ours: f64, figure: fn(&Row) -> String) -> [String; 2] {
        let Some((row, speed)) = fastest(input, self.of) else {
            return Default::default();
        };
        if row.ours() {
            let other = fastest(input, FASTEST_OTHER.of);
            let ratio = other.map_or(String::new(), |(_, other)| format!("{:.2}×", speed / other));
            return [figure(row), ratio];
        }
        let shown = format!("{} ({})", figure(row), row.contender);
        [shown, format!("**{:.2}×**", ours / speed)]
    }
}

/// What lines are ordered by: keys alone, pairs, argsort; there uniform ones, others; there the type and how many.
fn place(row: &Row) -> impl Ord + use<> {
    let task = match row.value_type.as_deref() {
        None => 0,
        Some("index") => 2,
        Some(_) => 1,
    };
    let skewed = row.distribution != "uniform";
    (task, skewed, type_place(&row.key_type), row.n)
}

/// Integers come before floats, and narrow types before wide ones.
fn type_place(key_type: &str) -> impl Ord + use<> {
    let letters = key_type.trim_end_matches(char::is_numeric);
    let bits = &key_type[letters.len()..];
    ("uif".find(letters), bits.parse::<u32>().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(contender: &str, key_type: &str, n: u64, millions: f64) -> Row {
        Row {
            contender: contender.to_owned(),
            key_type: key_type.to_owned(),
            distribution: "uniform".to_owned(),
            n,
            threads: 2,
            median_s: Some(n as f64 / (millions * 1e6)),
            keys_per_s: Some(millions * 1e6),
            verified: true,
            ..Row::default()
        }
    }

    fn with(value_type: &str, contender: &str, key_type: &str, millions: f64) -> Row {
        Row {
            value_type: Some(value_type.to_owned()),
            ..keys(contender, key_type, 10_000_000, millions)
        }
    }

    fn wrong(row: Row) -> Row {
        Row {
            verified: false,
            ..row
        }
    }

    fn zipf(row: Row) -> Row {
        Row {
            distribution: "zipf".to_owned(),
            ..row
        }
    }

    fn record(rows: Vec<Row>) -> Record {
        Record {
            machine: Machine {
                cpu: "a CPU".to_owned(),
                os: "an OS".to_owned(),
                date: "2026-01-02T03:04:05Z".to_owned(),
                commit: "0123456789ab".to_owned(),
                ..Machine::default()
            },
            rows,
        }
    }

    #[test]
    fn the_fastest_others_stand_beside_ours() {
        const N: u64 = 10_000_000;
        let record = record(vec![
            with("index", OURS, "u64", 300.0),
            with("index", "rdst", "u64", 100.0),
            with("u32", OURS, "u32", 250.0),
            with("u32", "sweepsort-cpu-unstable", "u32", 300.0),
            with("u32", "rdst", "u32", 100.0),
            with("u32", "radsort", "u32", 25.0),
            with("u32", "voracious-stable", "u32", 20.0),
            wrong(with("u32", "rayon-stable", "u32", 40.0)),
            with("index", OURS, "u32", 9.0),
            wrong(with("index", "radsort", "u32", 9.0)),
            zipf(keys(OURS, "u32", N, 500.0)),
            zipf(keys("std-stable", "u32", N, 40.0)),
            keys(OURS, "f32", N, 512.0),
            keys("vqsort", "f32", N, 160.0),
            keys(OURS, "u64", N, 388.0),
            keys(OURS, "u32", N, 560.0),
            keys("sweepsort-cpu-portable", "u32", N, 448.0),
            keys("rdst-low-memory", "u32", N, 224.0),
            wrong(keys("vqsort", "u32", N, 900.0)),
            keys(OURS, "u32", 1_000_000, 300.0),
            keys("rdst", "u32", 1_000_000, 100.0),
            keys("rdst", "u32", 100, 100.0),
        ]);
        assert_eq!(
            others(&record, "results/none.json").unwrap(),
            "\
| sorted | how many | Sweepsort | fastest other | ratio | fastest stable | ratio | by any machine | ratio |
|---|--:|--:|---|--:|---|--:|--:|--:|
| u32 | 10⁶ | **300** | 100 (rdst) | **3.00×** |  |  |  |  |
| u32 | 10⁷ | **560** | 224 (rdst-low-memory) | **2.50×** |  |  | 448 | 2.00× |
| u64 | 10⁷ | **388** |  |  |  |  |  |  |
| f32 | 10⁷ | **512** | 160 (vqsort) | **3.20×** |  |  |  |  |
| u32, zipf | 10⁷ | **500** | 40 (std-stable) | **12.50×** |  |  |  |  |
| u32 with u32 values, stable | 10⁷ | **250** | 100 (rdst) | **2.50×** | 25 (radsort) | **10.00×** |  |  |
| u32, argsort | 10⁷ | **9.0** |  |  |  |  |  |  |
| u64, argsort | 10⁷ | **300** | 100 (rdst) | **3.00×** |  |  |  |  |

Million keys a second, medians; at most 2 threads; a CPU, an OS; 2026-01-02, commit 0123456789ab. All outputs are \
             verified. [The record](../../results/none.json).
"
        );
    }

    #[test]
    fn columns_go_by_what_a_record_has() {
        let heads = |rows: &[(&str, Option<&str>)]| {
            let row = |&(contender, value_type): &(&str, Option<&str>)| match value_type {
                None => keys(contender, "u32", 10_000_000, 100.0),
                Some(value_type) => with(value_type, contender, "u32", 100.0),
            };
            let record = record(rows.iter().map(row).collect());
            let text = others(&record, "results/none.json").ok()?;
            let heads = text.lines().next()?.strip_prefix("| sorted | how many |")?;
            Some(heads.replace(" | ratio |", ",").trim().to_owned())
        };
        for (rows, shown) in [
            (&[(OURS, None)][..], Some("Sweepsort | fastest other,")),
            (
                &[(OURS, None), ("radsort", None)],
                Some("Sweepsort | fastest other,"),
            ),
            (
                &[(OURS, Some("u32")), ("rdst", Some("u32"))],
                Some("Sweepsort | fastest other,"),
            ),
            (
                &[(OURS, Some("index")), ("radsort", Some("index"))],
                Some("Sweepsort | fastest other, fastest stable,"),
            ),
            (
                &[
                    ("sweepsort-cpu-portable", None),
                    ("sweepsort-cpu-avx2", None),
                    (OURS, None),
                ],
                Some("Sweepsort | fastest other, by AVX2, by any machine,"),
            ),
            (&[("sweepsort-cpu-avx2", None), ("rdst", None)], None),
        ] {
            assert_eq!(heads(rows).as_deref(), shown, "{rows:?}");
        }
    }

    #[test]
    fn few_keys_have_times() {
        let mut record = record(vec![
            keys(OURS, "u32", 1000, 500.0),
            keys("vqsort", "u32", 1000, 400.0),
            keys("sweepsort-cpu-avx2", "u32", 1000, 320.0),
            keys(OURS, "u32", 10, 400.0),
            keys("glidesort", "u32", 10, 100.0),
            wrong(keys("vqsort", "u32", 10, 500.0)),
        ]);
        for row in &mut record.rows {
            row.threads = 1;
        }
        assert_eq!(
            few(&record, "results/none.json").unwrap(),
            "\
| sorted | how many | Sweepsort | fastest other | ratio | by AVX2 | ratio |
|---|--:|--:|---|--:|--:|--:|
| u32 | 10 | **25** | 100 (glidesort) | **4.00×** |  |  |
| u32 | 10³ | **2000** | 2500 (vqsort) | **1.25×** | 3125 | 0.80× |

Nanoseconds a sort, medians; at most one thread; a CPU, an OS; 2026-01-02, commit 0123456789ab. All outputs are \
             verified. [The record](../../results/none.json).
"
        );
    }

    #[test]
    fn types_have_an_order() {
        let types = ["u8", "u32", "u64", "u128", "i8", "i64", "f16", "f64"];
        for pair in types.windows(2) {
            assert!(type_place(pair[0]) < type_place(pair[1]), "{pair:?}");
        }
    }
}
