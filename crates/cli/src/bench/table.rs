//! A record as tables for a person: one for each input, the fastest contender first.

use std::fmt::Write;

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_HORIZONTAL_ONLY};
use comfy_table::{Cell, CellAlignment, LineStyle, Table};

use super::record::{Record, Row};

/// What stands under the tables.
const LEGEND: &str = "\
spread: shortest and longest time against the median
× peer: against the fastest peer of at most as many threads; a stable contender against stable ones
floor: share of copy bandwidth at one read of the keys and a read and a write per 8 bits of key; of
the link's, once up and once down, where a GPU sorts the host's memory
memory: peak beyond the input, scratch included; in device memory the workspace
";

/// The tables of a record.
pub fn render(record: &Record, markdown: bool) -> String {
    let machine = &record.machine;
    let mut text = String::new();
    if let (Some(gpu), Some(driver)) = (&machine.gpu, &machine.driver) {
        text += &format!("{gpu}, driver {driver}");
        if let Some(copy) = machine.gpu_copy_bytes_per_s {
            text += &format!(", copies {:.0} GB/s", copy / 1e9);
        }
        if let (Some(up), Some(down)) = (machine.link_up_bytes_per_s, machine.link_down_bytes_per_s)
        {
            text += &format!(", link {:.0} GB/s up, {:.0} down", up / 1e9, down / 1e9);
        }
        text += "; ";
    }
    text += &format!(
        "{}; {}; {}; {}\n",
        machine.cpu, machine.os, machine.commit, machine.date
    );
    let mut rest = record.rows.as_slice();
    while let Some(first) = rest.first() {
        let input: Vec<&Row> = record
            .rows
            .iter()
            .filter(|row| row.same_input(first))
            .collect();
        rest = &rest[rest.iter().take_while(|row| row.same_input(first)).count()..];
        let title = format!(
            "{}, {} keys, {}",
            first.task(),
            grouped(first.n),
            first.distribution
        );
        let title = title
            + &first
                .place()
                .map_or_else(String::new, |place| format!(", {place}"));
        let bold = if markdown { "**" } else { "" };
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n{bold}{title}{bold}\n\n{}\n",
            table(input, markdown)
        );
    }
    text + "\n" + LEGEND
}

fn table(mut input: Vec<&Row>, markdown: bool) -> Table {
    let peers = input.iter().any(|row| !row.ours());
    let speed = |row: &&Row| row.keys_per_s.unwrap_or(0.0);
    input.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    let header = [
        "contender",
        "threads",
        "median",
        "Mkeys/s",
        "spread",
        "× peer",
        "floor",
        "memory",
        "",
    ];
    let shown = |column: usize| peers || header[column] != "× peer";
    let cells = |texts: [String; 9]| {
        let texts = texts.into_iter().enumerate().filter(|(i, _)| shown(*i));
        texts.map(|(i, text)| {
            let left = i == 0 || i == header.len() - 1;
            Cell::new(text).set_alignment(match left {
                true => CellAlignment::Left,
                false => CellAlignment::Right,
            })
        })
    };
    let mut table = Table::new();
    table.load_style(match markdown {
        true => ASCII_MARKDOWN,
        false => UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()),
    });
    table.set_header(cells(header.map(str::to_owned)));
    for row in &input {
        table.add_row(cells([
            name(row, &input),
            row.threads.to_string(),
            row.median_s.map_or_else(dash, time),
            row.keys_per_s.map_or_else(dash, |keys| figures(keys / 1e6)),
            spread(row).unwrap_or_else(dash),
            ratio(row, &input).map_or_else(dash, |ratio| format!("{ratio:.2}")),
            row.floor_fraction
                .map_or_else(dash, |floor| format!("{floor:.2}")),
            row.peak_bytes.map_or_else(dash, memory),
            if row.verified { "✓" } else { "✗ WRONG" }.to_owned(),
        ]));
    }
    table
}

/// The contender's name, with the method where two of one name differ in it.
fn name(row: &Row, input: &[&Row]) -> String {
    let twin = |other: &&&Row| {
        other.contender == row.contender
            && other.threads == row.threads
            && other.method() != row.method()
    };
    match (row.method(), input.iter().find(twin)) {
        (Some(method), Some(_)) => format!("{} ({method})", row.contender),
        _ => row.contender.clone(),
    }
}

/// The row's speed against the fastest peer's that it can be compared with: one whose output was
/// right, of at most as many threads, and stable if the row's contender is. Keys alone are stable
/// either way.
pub fn ratio(row: &Row, input: &[&Row]) -> Option<f64> {
    let keys_alone = row.value_type.is_none();
    let best = input
        .iter()
        .filter(|peer| !peer.ours() && peer.verified && peer.threads <= row.threads)
        .filter(|peer| keys_alone || peer.stable() || !row.stable())
        .filter_map(|peer| peer.keys_per_s)
        .reduce(f64::max)?;
    Some(row.keys_per_s? / best)
}

fn dash() -> String {
    "–".to_owned()
}

/// Three figures at least: `0.123`, `12.3`, `1234`.
fn figures(number: f64) -> String {
    let decimals = match number {
        ..0.9995 => 3,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}")
}

fn time(seconds: f64) -> String {
    let (scale, unit) = match seconds {
        ..1e-6 => (1e9, "ns"),
        ..1e-3 => (1e6, "µs"),
        ..10.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", figures(seconds * scale))
}

fn spread(row: &Row) -> Option<String> {
    let (median, min, max) = (row.median_s?, row.min_s?, row.max_s?);
    let percent = |time: f64| (time / median - 1.0) * 100.0;
    Some(format!("−{:.0}% +{:.0}%", percent(min).abs(), percent(max)))
}

fn memory(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        1..1024 => format!("{bytes} B"),
        _ => crate::memory::human(bytes),
    }
}

/// `10,000,000`.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(100), "100");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(figures(0.12345), "0.123");
        assert_eq!(figures(12.345), "12.3");
        assert_eq!(figures(12345.6), "12346");
        assert_eq!(time(0.000_000_42), "420 ns");
        assert_eq!(time(0.012_34), "12.3 ms");
    }
}
