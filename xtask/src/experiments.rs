//! The tables of the texts' experiments: LSD radix sort on one thread by the bits of a digit
//! (`docs/algorithms/counting-lsd.md`), and the classics on a GPU (`docs/experiments.md`).

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::charts::chart_of;
use crate::readme::count;
use crate::record::{Record, Row};
use crate::tables::link;

/// LSD radix sort on one thread: seconds, and the speed-up against the standard library's stable
/// sort.
pub fn counting_lsd(record: &Record, file: &str) -> Result<String> {
    let seconds = |row: &Row| row.median_s.context("a row without a time");
    let standard = record
        .rows
        .iter()
        .find(|row| row.contender == "std-stable")
        .context("no std-stable to compare with")?;
    let standard_s = seconds(standard)?;
    let mut rows: Vec<&Row> = record.rows.iter().collect();
    rows.sort_by_key(|row| (row.algorithm.is_none(), row.radix_bits));
    let mut text = String::from(
        "| | median, seconds | shortest, longest | million keys a second | times as fast as the stable sort |\n|---|--:|---|--:|--:|\n",
    );
    for row in rows {
        let name = match (row.contender.as_str(), row.radix_bits) {
            ("std-stable", _) => "the standard library's stable sort".to_owned(),
            ("std-unstable", _) => "the standard library's unstable sort".to_owned(),
            (_, Some(radix_bits)) => format!("counting-lsd, R = {radix_bits}"),
            (other, None) => other.to_owned(),
        };
        let median = seconds(row)?;
        writeln!(
            text,
            "| {name} | {median:.2} | {:.2}, {:.2} | {:.1} | {:.2} |",
            row.min_s.unwrap_or(median),
            row.max_s.unwrap_or(median),
            row.n as f64 / median / 1e6,
            standard_s / median,
        )?;
    }
    let machine = &record.machine;
    let day = machine.day();
    writeln!(
        text,
        "\n{} uniform u32 keys, one thread; {}, {}; {day}, commit {}. All outputs are verified. [The \
         record]({}), [a chart]({}).",
        count(standard.n),
        machine.cpu,
        machine.os,
        machine.commit,
        link(Path::new(file), 2),
        link(&chart_of(Path::new(file))?, 2),
    )?;
    Ok(text)
}

/// Seconds that a launch costs at least.
const LAUNCH_S: f64 = 2.8e-6;

/// The steps of a merge that take place in shared memory are those of distances up to 2^this.
const SHARED_STEPS: u32 = 11;

/// What a classic's text must move, and in how many launches.
struct Cost {
    bytes_per_key: f64,
    launches: f64,
}

/// The cost of sorting `n` keys of some bytes.
///
/// Every array is `4` bytes an entry, and so is a position that travels with its key. A scan over a
/// whole array reads and writes it twice, once for the blocks and once to add their sums.
fn cost(row: &Row, key_bytes: f64) -> Option<Cost> {
    const ENTRY: f64 = 4.0;
    const SCAN: f64 = 4.0 * ENTRY;
    let (n, bits) = (row.n as f64, 8.0 * key_bytes);
    let (carried, copied) = match row.value_type.as_deref() {
        Some("index") => (ENTRY, 2.0 * key_bytes + ENTRY),
        _ => (0.0, 0.0),
    };
    let algorithm = row.algorithm.as_deref()?;
    let (radix_bits, block) = match algorithm {
        "four-way" => (2, 0),
        "block-histogram" => (4, 4096),
        "coalesced" => (8, 8192),
        _ => (1, 4096),
    };
    let radix_bits = f64::from(row.radix_bits.unwrap_or(radix_bits));
    let block = row.block.unwrap_or(block) as f64;
    let radix = radix_bits.exp2();
    let passes = bits / radix_bits;
    // Entries of a histogram for each block, to a key.
    let counts = ENTRY * radix / block;
    // Scans of 2^28 entries have sums of sums of sums: three launches down, two back up.
    let scan_launches = 5.0;
    let (per_pass, launches) = match algorithm {
        // Flags; their scan; keys and sums to keys.
        "split" => (
            (key_bytes + ENTRY) + SCAN + (2.0 * key_bytes + ENTRY),
            2.0 + scan_launches,
        ),
        // A flag array for each digit, and a scan of each (one for two digits); keys and all sums
        // to keys.
        "four-way" => {
            let scans = if radix == 2.0 { 1.0 } else { radix };
            let flags = key_bytes + radix * ENTRY;
            let scatter = 2.0 * key_bytes + scans * ENTRY;
            (flags + scans * SCAN + scatter, 2.0 + scan_launches)
        }
        // H; L of H; CT of H, its scan, G of it; keys, L and G to keys.
        "block-histogram" => (
            3.0 * key_bytes + (1.0 + 2.0 + 2.0 + 4.0 + 2.0 + 2.0) * counts,
            5.0 + scan_launches,
        ),
        // Sizes; their scan; keys and offsets to keys.
        "coalesced" => (
            3.0 * key_bytes + (1.0 + 4.0 + 1.0) * counts,
            2.0 + scan_launches,
        ),
        // Tiles; then for each merge the steps that fit shared memory in one sweep, and three at a
        // time of the others.
        "tile-merge" => {
            let runs = block.log2() as u32..n.log2().ceil() as u32;
            let sweeps = |run: u32| 1 + (run - SHARED_STEPS).div_ceil(3);
            let sweeps = 1 + runs.map(sweeps).sum::<u32>();
            return Some(Cost {
                bytes_per_key: 2.0 * (key_bytes + carried) * f64::from(sweeps) + copied,
                launches: f64::from(sweeps),
            });
        }
        _ => return None,
    };
    // The largest key is looked for; an index is made, and the keys to be sorted with it are a copy.
    let largest = if algorithm == "split" { key_bytes } else { 0.0 };
    Some(Cost {
        bytes_per_key: (per_pass + 2.0 * carried) * passes + largest + copied,
        launches: launches * passes,
    })
}

/// Every classic at one size: time, prediction, and share of CUB's speed.
pub fn classics(record: &Record, file: &str) -> Result<String> {
    let copy = copy_bandwidth(record)?;
    let mut text = String::from(
        "| keys | algorithm | median, ms | shortest, longest | predicted, ms | × predicted | × CUB's speed |\n\
         |---|---|--:|---|--:|--:|--:|\n",
    );
    for row in &record.rows {
        let cub = record
            .rows
            .iter()
            .find(|other| other.contender == "cub" && other.same_input(row));
        let median = seconds(row)?;
        let predicted = match (row.ours(), cost(row, key_bytes(row)?)) {
            (true, Some(cost)) => {
                let moving = cost.bytes_per_key * row.n as f64 / copy;
                Some(moving + cost.launches * LAUNCH_S)
            }
            _ => None,
        };
        writeln!(
            text,
            "| {} | {} | {:.2} | {:.2}, {:.2} | {} | {} | {} |",
            row.key_type,
            name(row),
            1e3 * median,
            1e3 * row.min_s.unwrap_or(median),
            1e3 * row.max_s.unwrap_or(median),
            shown(predicted.map(|predicted| 1e3 * predicted)),
            shown(predicted.map(|predicted| median / predicted)),
            shown(cub.and_then(|cub| Some(cub.median_s? / median))),
        )?;
    }
    text += &source(record, file, true)?;
    Ok(text)
}

/// Histograms: one pass on the GPU by digit and block, beside one thread.
pub fn histograms(record: &Record, file: &str) -> Result<String> {
    beside_one_thread(record, file, "histogram", |row| {
        stage_of_a_pass(row, "histogram")
    })
}

/// Offsets, local and global: one pass on the GPU by digit and block.
pub fn offsets(record: &Record, file: &str) -> Result<String> {
    let table = blocks_of(record, &|row| stage_of_a_pass(row, "scan"));
    Ok(table.text() + &source(record, file, false)?)
}

/// Whole sorts by digit and block, beside one thread.
pub fn whole_sorts(record: &Record, file: &str) -> Result<String> {
    beside_one_thread(record, file, "", |row| row.median_s)
}

/// Whole sorts by algorithm, digit and block.
pub fn blocks(record: &Record, file: &str) -> Result<String> {
    let table = blocks_of(record, &|row| row.median_s);
    Ok(table.text() + &source(record, file, true)?)
}

/// Milliseconds by size, digit and block, a column for each variant.
pub fn variants(record: &Record, file: &str) -> Result<String> {
    let mut table = Pivot::new(&["keys", "how many", "distribution", "algorithm"]);
    for row in record.rows.iter().filter(|row| row.ours()) {
        let method = Row {
            variant: None,
            ..row.clone()
        };
        let (n, method) = (count(row.n), name(&method));
        let input = [&row.key_type, &n, &row.distribution, &method].map(String::as_str);
        let variant = row.variant.as_deref().unwrap_or("text");
        table.put(&input, variant, row.median_s);
        for peer in record.rows.iter().filter(|peer| !peer.ours()) {
            if peer.same_input(row) {
                table.put(&input, &peer.contender, peer.median_s);
            }
        }
    }
    Ok(table.text() + &source(record, file, true)?)
}

/// Milliseconds by input, a column for each contender and method.
pub fn by_input(record: &Record, file: &str) -> Result<String> {
    let mut table = Pivot::new(&["keys", "how many", "distribution"]);
    for row in &record.rows {
        let input = [&row.key_type, &count(row.n), &row.distribution];
        table.put(&input.map(String::as_str), &name(row), row.median_s);
    }
    Ok(table.text() + &source(record, file, true)?)
}

/// Seconds of a stage, of one pass.
fn stage_of_a_pass(row: &Row, stage: &str) -> Option<f64> {
    let passes = 32.0 / f64::from(row.radix_bits?);
    Some(row.stages_s.as_ref()?.get(stage)? / passes)
}

/// A row for each algorithm and digit, a column for each block.
fn blocks_of(record: &Record, of: &dyn Fn(&Row) -> Option<f64>) -> Pivot {
    let mut table = Pivot::new(&["algorithm"]);
    let rows = record.rows.iter();
    for row in rows.filter(|row| row.residence == "device" && row.stage.is_none()) {
        let Some(block) = row.block else {
            continue;
        };
        let method = Row {
            block: None,
            ..row.clone()
        };
        table.put(&[&name(&method)], &format!("B = {block}"), of(row));
    }
    table
}

/// The same, beside what one thread took for that stage (the whole sort by an empty name), and how
/// many times as long that is as the fastest.
fn beside_one_thread(
    record: &Record,
    file: &str,
    stage: &str,
    of: impl Fn(&Row) -> Option<f64>,
) -> Result<String> {
    let mut table = blocks_of(record, &of);
    for row in record.rows.iter().filter(|row| {
        row.residence == "host"
            && row.radix_bits.is_some()
            && row.stage.as_deref().unwrap_or_default() == stage
    }) {
        let method = Row {
            algorithm: Some("block-histogram".to_owned()),
            residence: "device".to_owned(),
            ..row.clone()
        };
        table.put(&[&name(&method)], "one thread of the CPU", row.median_s);
    }
    Ok(table.text() + &source(record, file, false)?)
}

/// A table of milliseconds, rows and columns in the order in which they first come.
struct Pivot {
    heads: Vec<String>,
    columns: Vec<String>,
    rows: Vec<Line>,
}

/// What a row is about, and its cells by column.
type Line = (Vec<String>, Vec<(String, f64)>);

impl Pivot {
    /// No cells yet; the first columns say what a row is about.
    fn new(heads: &[&str]) -> Pivot {
        Pivot {
            heads: heads.iter().map(|&head| head.to_owned()).collect(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn put(&mut self, row: &[&str], column: &str, seconds: Option<f64>) {
        if !self.columns.iter().any(|known| known == column) {
            self.columns.push(column.to_owned());
        }
        let cell = seconds.map(|seconds| (column.to_owned(), seconds));
        match self.rows.iter_mut().find(|(known, _)| known == row) {
            Some((_, cells)) => cells.extend(cell),
            None => {
                let row = row.iter().map(|&word| word.to_owned()).collect();
                self.rows.push((row, cell.into_iter().collect()));
            }
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "| {} | {} |\n|{}{}\n",
            self.heads.join(" | "),
            self.columns.join(" | "),
            "---|".repeat(self.heads.len()),
            "--:|".repeat(self.columns.len())
        );
        for (row, cells) in &self.rows {
            let cells = self.columns.iter().map(|column| {
                let cell = cells.iter().find(|(known, _)| known == column);
                shown(cell.map(|(_, seconds)| 1e3 * seconds))
            });
            let cells: Vec<String> = cells.collect();
            text += &format!("| {} | {} |\n", row.join(" | "), cells.join(" | "));
        }
        text
    }
}

/// Prefix sums by the threads of a block, beside one thread.
pub fn prefix_sums(record: &Record, file: &str) -> Result<String> {
    let scans = || {
        record
            .rows
            .iter()
            .filter(|row| row.stage.as_deref() == Some("scan"))
    };
    let cpu = scans().find(|row| row.residence == "host");
    let cpu = seconds(cpu.context("no prefix sum of one thread")?)?;
    let mut text = String::from(
        "| threads of a block | median, ms | GB read and written a second, if each were moved once \
         | against one thread |\n|--:|--:|--:|--:|\n",
    );
    for row in scans().filter(|row| row.residence == "device") {
        let median = seconds(row)?;
        writeln!(
            text,
            "| {} | {:.2} | {:.0} | {:.0} |",
            row.block.context("a scan without threads")?,
            1e3 * median,
            8e-9 * row.n as f64 / median,
            cpu / median,
        )?;
    }
    writeln!(
        text,
        "| one thread of the CPU | {:.0} | {:.1} | 1 |",
        1e3 * cpu,
        8.0 / cpu
    )?;
    text += &source(record, file, false)?;
    Ok(text)
}

/// The first sort of a process.
pub fn first_sorts(record: &Record, file: &str) -> Result<String> {
    let mut text = String::from(
        "| algorithm | process started, ms | context made, ms | first sort, ms | without the \
         context, ms | longest |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for row in &record.rows {
        let stage = |name| {
            let stages = row.stages_s.as_ref().context("no stages")?;
            Ok::<f64, anyhow::Error>(1e3 * stages.get(name).context("a stage is missing")?)
        };
        writeln!(
            text,
            "| {} | {:.1} | {:.0} | {:.1} | **{:.1}** | {:.1} |",
            row.algorithm.as_deref().unwrap_or_default(),
            stage("start")?,
            stage("context")?,
            stage("sort")?,
            1e3 * seconds(row)?,
            1e3 * row.max_s.context("no longest time")?,
        )?;
    }
    text += &source(record, file, false)?;
    Ok(text)
}

/// What a column or row is about: a peer, or the method of ours.
fn name(row: &Row) -> String {
    if !row.ours() || row.residence == "host" {
        return row.contender.clone();
    }
    let mut name = row.algorithm.clone().unwrap_or_default();
    if let Some(radix_bits) = row.radix_bits {
        name += &format!(", R = {radix_bits}");
    }
    if let Some(block) = row.block {
        name += &format!(", B = {block}");
    }
    match row.variant.as_deref() {
        None | Some("text") => name,
        Some(variant) => format!("{name}, {variant}"),
    }
}

fn seconds(row: &Row) -> Result<f64> {
    row.median_s.context("a row without a time")
}

fn key_bytes(row: &Row) -> Result<f64> {
    let bits = row
        .key_type
        .trim_start_matches(|c: char| !c.is_ascii_digit());
    let bits: f64 = bits.parse().context("keys whose type has no bits")?;
    Ok(bits / 8.0)
}

fn copy_bandwidth(record: &Record) -> Result<f64> {
    let bandwidth = record.machine.gpu_copy_bytes_per_s;
    bandwidth.context("a record without the copy bandwidth of its GPU")
}

/// Three figures, or a dash.
pub fn shown(number: Option<f64>) -> String {
    match number {
        None => "–".to_owned(),
        Some(number) if number < 9.995 => format!("{number:.2}"),
        Some(number) if number < 99.95 => format!("{number:.1}"),
        Some(number) => format!("{number:.0}"),
    }
}

/// Where a table comes from.
fn source(record: &Record, file: &str, chart: bool) -> Result<String> {
    let machine = &record.machine;
    let day = machine.day();
    let mut text = String::from("\n");
    if let Some(gpu) = &machine.gpu {
        write!(
            text,
            "{gpu}, driver {}",
            machine.driver.as_deref().unwrap_or("unknown")
        )?;
        if let Some(copy) = machine.gpu_copy_bytes_per_s {
            write!(text, ", copies {:.0} GB/s", copy / 1e9)?;
        }
        text += "; ";
    }
    write!(
        text,
        "{}, {}; {day}, commit {}. [The record]({})",
        machine.cpu,
        machine.os,
        machine.commit,
        link(Path::new(file), 1),
    )?;
    if chart {
        write!(
            text,
            ", [a chart]({})",
            chart_of(Path::new(file))?.strip_prefix("docs")?.display()
        )?;
    }
    text += ".\n";
    Ok(text)
}
