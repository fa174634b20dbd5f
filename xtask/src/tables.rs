//! Tables in documents that come from records in `results/`, never by hand.
//!
//! A table stands between two comments; the first names the record. A document may have several:
//!
//! ```text
//! <!-- bench:begin results/NAME.json -->
//! <!-- bench:end -->
//! ```

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::root;
use crate::record::Record;
use crate::{experiments, on_cpu, on_device, readme};

const BEGIN: &str = "<!-- bench:begin";
const END: &str = "<!-- bench:end -->";

/// What makes a table of a record, whose file is named.
type Table = fn(&Record, &str) -> Result<String>;

/// A document with tables, and what makes so many one after the other, in the document's order.
struct Document {
    file: &'static str,
    tables: &'static [(usize, Table)],
}

const DOCUMENTS: &[Document] = &[
    Document {
        file: "README.md",
        tables: &[(1, readme::table), (1, on_device::largest)],
    },
    Document {
        file: "docs/algorithms/onesweep.md",
        tables: &[
            (6, on_device::all),
            (1, on_device::contenders),
            (2, on_device::host),
        ],
    },
    Document {
        file: "docs/algorithms/hybrid.md",
        tables: &[
            (8, on_device::all),
            (1, on_device::contenders),
            (1, on_device::all),
        ],
    },
    Document {
        file: "docs/algorithms/wgpu.md",
        tables: &[(5, on_device::contenders)],
    },
    Document {
        file: "docs/algorithms/count.md",
        tables: &[(1, on_device::all)],
    },
    Document {
        file: "docs/algorithms/thresholds.md",
        tables: &[(1, on_device::thresholds)],
    },
    Document {
        file: "docs/algorithms/cpu-measured.md",
        tables: &[
            (13, on_cpu::others),
            (1, on_cpu::few),
            (18, on_cpu::others),
            (1, on_cpu::few),
            (5, on_cpu::others),
        ],
    },
    Document {
        file: "docs/algorithms/counting-lsd.md",
        tables: &[(1, experiments::counting_lsd)],
    },
    Document {
        file: "docs/experiments.md",
        tables: &[
            (1, experiments::classics),
            (1, experiments::by_input),
            (1, experiments::classics),
            (1, experiments::by_input),
            (1, experiments::histograms),
            (1, experiments::prefix_sums),
            (1, experiments::offsets),
            (1, experiments::whole_sorts),
            (1, experiments::variants),
            (2, experiments::by_input),
            (1, experiments::variants),
            (1, experiments::blocks),
            (1, experiments::variants),
            (1, experiments::first_sorts),
        ],
    },
];

/// Fills all tables anew.
pub fn write() -> Result<()> {
    for document in DOCUMENTS {
        let (old, new) = (document.read()?, document.filled()?);
        let word = if new == old { "up to date" } else { "filled" };
        std::fs::write(document.path(), new)?;
        println!("{}: {word}", document.file);
    }
    Ok(())
}

/// Fails if a table is not what its record gives.
pub fn check() -> Result<()> {
    for document in DOCUMENTS {
        if document.filled()? != document.read()? {
            bail!(
                "the table in {} is not what its record gives; run `cargo xtask tables`",
                document.file
            );
        }
    }
    Ok(())
}

/// The records that tables come from, each once.
pub fn records() -> Result<Vec<PathBuf>> {
    let mut records = Vec::new();
    for document in DOCUMENTS {
        for (_, file) in document.parts(&document.read()?)?.0 {
            let record = PathBuf::from(file);
            if !records.contains(&record) {
                records.push(record);
            }
        }
    }
    Ok(records)
}

impl Document {
    fn path(&self) -> PathBuf {
        root().join(self.file)
    }

    /// What makes each table.
    fn tables(&self) -> impl Iterator<Item = Table> {
        let each = |&(count, table): &(usize, Table)| std::iter::repeat_n(table, count);
        self.tables.iter().flat_map(each)
    }

    fn read(&self) -> Result<String> {
        std::fs::read_to_string(self.path()).context(self.file)
    }

    /// The text in parts: before each table, and the name of its record; and what is after the last.
    fn parts<'a>(&self, text: &'a str) -> Result<(Vec<(&'a str, &'a str)>, &'a str)> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, table)) = rest.split_once(BEGIN) {
            let (record, table) = table
                .split_once("-->")
                .with_context(|| format!("{}: an open comment", self.file))?;
            let (_, after) = table
                .split_once(END)
                .with_context(|| format!("{} has too few `{END}`", self.file))?;
            match record.trim() {
                "" => bail!("{} names no record in a `{BEGIN} FILE -->`", self.file),
                record => parts.push((before, record)),
            }
            rest = after;
        }
        match self.tables().count() {
            tables if tables == parts.len() => Ok((parts, rest)),
            tables => bail!("{} has {} tables, and not {tables}", self.file, parts.len()),
        }
    }

    /// The text with its tables filled from their records.
    fn filled(&self) -> Result<String> {
        let text = self.read()?;
        let (parts, after) = self.parts(&text)?;
        let mut filled = String::new();
        for ((before, file), table) in parts.into_iter().zip(self.tables()) {
            let json =
                std::fs::read_to_string(root().join(file)).with_context(|| file.to_owned())?;
            let record = Record::parse(&json).with_context(|| file.to_owned())?;
            let table = table(&record, file).with_context(|| file.to_owned())?;
            filled += &format!("{before}{BEGIN} {file} -->\n{table}{END}");
        }
        Ok(filled + after)
    }
}

/// A link to a file of the repository from a document in a folder of this depth.
pub fn link(file: &Path, depth: usize) -> String {
    format!("{}{}", "../".repeat(depth), file.display())
}
