//! Tables in documents that come from records in `results/`, never by hand.
//!
//! A table stands between two comments; the first names the record:
//!
//! ```text
//! <!-- bench:begin results/NAME.json -->
//! <!-- bench:end -->
//! ```

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::root;
use crate::record::Record;
use crate::{experiment, readme};

const BEGIN: &str = "<!-- bench:begin";
const END: &str = "<!-- bench:end -->";

/// A document with a table, and what makes the table of a record.
struct Document {
    file: &'static str,
    table: fn(&Record, &str) -> Result<String>,
}

const DOCUMENTS: &[Document] = &[
    Document {
        file: "README.md",
        table: readme::table,
    },
    Document {
        file: "docs/algorithms/counting-lsd.md",
        table: experiment::table,
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

/// The records that tables come from.
pub fn records() -> Result<Vec<PathBuf>> {
    let record = |document: &Document| {
        let text = document.read()?;
        Ok(PathBuf::from(document.parts(&text)?.1))
    };
    DOCUMENTS.iter().map(record).collect()
}

impl Document {
    fn path(&self) -> PathBuf {
        root().join(self.file)
    }

    fn read(&self) -> Result<String> {
        std::fs::read_to_string(self.path()).context(self.file)
    }

    /// The text in three parts: up to the record's name, that name, and from the table's end.
    fn parts<'a>(&self, text: &'a str) -> Result<(&'a str, &'a str, &'a str)> {
        let (before, rest) = text
            .split_once(BEGIN)
            .with_context(|| format!("{} has no `{BEGIN} FILE -->`", self.file))?;
        let (record, rest) = rest
            .split_once("-->")
            .with_context(|| format!("{}: an open comment", self.file))?;
        let (_, after) = rest
            .split_once(END)
            .with_context(|| format!("{} has no `{END}`", self.file))?;
        match record.trim() {
            "" => bail!("{} names no record in its `{BEGIN} FILE -->`", self.file),
            record => Ok((before, record, after)),
        }
    }

    /// The text with its table filled from its record.
    fn filled(&self) -> Result<String> {
        let text = self.read()?;
        let (before, file, after) = self.parts(&text)?;
        let json = std::fs::read_to_string(root().join(file)).with_context(|| file.to_owned())?;
        let record = Record::parse(&json).with_context(|| file.to_owned())?;
        let table = (self.table)(&record, file)?;
        Ok(format!("{before}{BEGIN} {file} -->\n{table}{END}{after}"))
    }
}

/// A link to a file of the repository from a document in a folder of this depth.
pub fn link(file: &Path, depth: usize) -> String {
    format!("{}{}", "../".repeat(depth), file.display())
}
