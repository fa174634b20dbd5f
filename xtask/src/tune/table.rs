//! The kernels' tuning tables, as a program reads and rewrites them.
//!
//! ```text
//! struct LocalRow {
//!     u32 key, threads, items;
//! };
//! constexpr LocalRow CELL_ROWS[] = {
//!     {4, 128, 38},
//!     {8, 256, 18},  // results/RECORD.json
//! };
//! ```
//! A row is a line. `key` and `value` say what it is for, in bytes; the other fields are its figures.

use anyhow::{Context, Result, ensure};

/// What a row is for: bytes of a key, and of its value, 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct For {
    pub key: u32,
    pub value: u32,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The figures' names.
    pub names: Vec<String>,
    pub figures: Vec<u32>,
    /// Its line in the text, from 0 on, and how many fields come before the figures.
    line: usize,
    before: usize,
}

/// Finds a row: `cell` for that of `CELL_ROWS`.
pub fn row(text: &str, name: &str, of: For) -> Result<Row> {
    let found = tables(text)?.into_iter().find(|table| table.name == name);
    let table = found.with_context(|| format!("there is no table '{name}'"))?;
    let row = table.rows.into_iter().find(|(known, _)| *known == of);
    let (_, row) = row.with_context(|| format!("'{name}' has no row for {of:?}"))?;
    Ok(row)
}

/// Every row that there is.
#[cfg(test)]
pub fn rows(text: &str) -> Result<Vec<(String, For)>> {
    let tables = tables(text)?.into_iter();
    let rows = tables.flat_map(|table| {
        let rows = table.rows.into_iter();
        rows.map(move |(of, _)| (table.name.clone(), of))
    });
    Ok(rows.collect())
}

struct Table {
    name: String,
    rows: Vec<(For, Row)>,
}

fn tables(text: &str) -> Result<Vec<Table>> {
    let mut tables: Vec<Table> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &["constexpr", kind, array, "=", "{"] = &words[..] else {
            continue;
        };
        let Some(name) = array.strip_suffix("_ROWS[]") else {
            continue;
        };
        let fields = fields(text, kind)?;
        let before = fields.iter().take_while(|field| is_selector(field)).count();
        let mut rows = Vec::new();
        for (line, text) in lines.by_ref() {
            let Some(numbers) = numbers(text)? else {
                break;
            };
            ensure!(
                numbers.len() == fields.len(),
                "line {}: {} fields, and not {}",
                line + 1,
                numbers.len(),
                fields.len()
            );
            let selector = |name| {
                let at = fields.iter().position(|field| field == name);
                at.map_or(0, |at| numbers[at])
            };
            let of = For {
                key: selector("key"),
                value: selector("value"),
            };
            let row = Row {
                names: fields[before..].to_vec(),
                figures: numbers[before..].to_vec(),
                line,
                before,
            };
            rows.push((of, row));
        }
        tables.push(Table {
            name: name.to_lowercase(),
            rows,
        });
    }
    Ok(tables)
}

/// The text with other figures in a row, and where they come from.
pub fn rewritten(text: &str, row: &Row, figures: &[u32], source: Option<&str>) -> Result<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut all = numbers(&lines[row.line])?.context("the row is gone")?;
    all.truncate(row.before);
    all.extend(figures);
    let all: Vec<String> = all.iter().map(u32::to_string).collect();
    lines[row.line] = format!("    {{{}}},", all.join(", "));
    if let Some(source) = source {
        lines[row.line] += &format!("  // {source}");
    }
    Ok(lines.join("\n") + "\n")
}

fn is_selector(field: &str) -> bool {
    ["key", "value"].contains(&field)
}

/// The fields of a struct of words.
fn fields(text: &str, kind: &str) -> Result<Vec<String>> {
    let opening = format!("struct {kind} {{");
    let inside = text
        .split_once(&opening)
        .and_then(|(_, rest)| rest.split_once("};"));
    let (inside, _) = inside.with_context(|| format!("there is no struct {kind}"))?;
    let names = inside.replace("u32", "");
    let names = names.split([',', ';']).map(str::trim);
    Ok(names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

/// The numbers of a row's line; none where the table ends.
fn numbers(line: &str) -> Result<Option<Vec<u32>>> {
    let Some(inside) = line.trim().strip_prefix('{') else {
        return Ok(None);
    };
    let (inside, _) = inside.split_once('}').context("a row is a line")?;
    let numbers = inside.split(',').map(|number| number.trim().parse::<u32>());
    let numbers: Result<Vec<u32>, _> = numbers.collect();
    Ok(Some(numbers.with_context(|| line.trim().to_owned())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// A table.
struct Row {
    u32 key, value;
    u32 threads, items;
};

constexpr Row WIDE_ROWS[] = {
    {4, 0, 384, 33},
    {4, 8, 256, 17},  // results/old.json
};

constexpr Row NARROW_ROWS[] = {
    {4, 0, 256, 9},
};
";

    #[test]
    fn rows_are_found_and_rewritten() {
        let of = |key, value| For { key, value };
        let wide = row(TEXT, "wide", of(4, 8)).unwrap();
        assert_eq!(wide.names, ["threads", "items"]);
        assert_eq!(wide.figures, [256, 17]);
        let other = rewritten(TEXT, &wide, &[512, 9], Some("results/new.json")).unwrap();
        let expected = TEXT.replace(
            "{4, 8, 256, 17},  // results/old.json",
            "{4, 8, 512, 9},  // results/new.json",
        );
        assert_eq!(other, expected);
        assert_eq!(row(&other, "wide", of(4, 8)).unwrap().figures, [512, 9]);
        assert_eq!(
            rows(TEXT).unwrap(),
            [("wide", 0), ("wide", 8), ("narrow", 0)]
                .map(|(name, value)| (name.to_owned(), of(4, value)))
        );
        let narrow = row(TEXT, "narrow", of(4, 0)).unwrap();
        assert_eq!(
            rewritten(TEXT, &narrow, &narrow.figures, None).unwrap(),
            TEXT
        );
        for (name, of) in [
            ("narrow", of(4, 8)),
            ("wide", of(8, 0)),
            ("other", of(4, 0)),
        ] {
            assert!(row(TEXT, name, of).is_err(), "{name} {of:?}");
        }
    }
}
