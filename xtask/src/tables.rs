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

/// A document with tables, and what makes each, in the document's order.
struct Document {
    file: &'static str,
    tables: &'static [Table],
}

const DOCUMENTS: &[Document] = &[
    Document {
        file: "README.md",
        tables: &[readme::table, on_device::largest],
    },
    Document {
        file: "docs/algorithms/onesweep.md",
        tables: &[
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::contenders,
            on_device::host,
            on_device::host,
        ],
    },
    Document {
        file: "docs/algorithms/hybrid.md",
        tables: &[
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::all,
            on_device::contenders,
            on_device::all,
        ],
    },
    Document {
        file: "docs/algorithms/wgpu.md",
        tables: &[
            on_device::contenders,
            on_device::contenders,
            on_device::contenders,
            on_device::contenders,
            on_device::contenders,
        ],
    },
    Document {
        file: "docs/algorithms/count.md",
        tables: &[on_device::all],
    },
    Document {
        file: "docs/algorithms/thresholds.md",
        tables: &[on_device::thresholds],
    },
    Document {
        file: "docs/algorithms/cpu-measured.md",
        tables: &[
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::few,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::few,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
            on_cpu::others,
        ],
    },
    Document {
        file: "docs/algorithms/counting-lsd.md",
        tables: &[experiments::counting_lsd],
    },
    Document {
        file: "docs/experiments.md",
        tables: &[
            experiments::classics,
            experiments::by_input,
            experiments::classics,
            experiments::by_input,
            experiments::histograms,
            experiments::prefix_sums,
            experiments::offsets,
            experiments::whole_sorts,
            experiments::variants,
            experiments::by_input,
            experiments::by_input,
            experiments::variants,
            experiments::blocks,
            experiments::variants,
            experiments::first_sorts,
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
        match self.tables.len() {
            tables if tables == parts.len() => Ok((parts, rest)),
            tables => bail!("{} has {} tables, and not {tables}", self.file, parts.len()),
        }
    }

    /// The text with its tables filled from their records.
    fn filled(&self) -> Result<String> {
        let text = self.read()?;
        let (parts, after) = self.parts(&text)?;
        let mut filled = String::new();
        for ((before, file), table) in parts.into_iter().zip(self.tables) {
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
