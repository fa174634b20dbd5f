//! What `sort` tells when it is done: one line on stderr, or one object on stdout.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use sweepsort::Report;

use crate::exit::{Failure, Result};
use crate::types::Type;

/// What a run of `sort` did.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// How many keys were read.
    pub keys: u64,
    /// How many keys or indices were written: fewer with `--unique`.
    pub written: u64,
    /// The keys' type.
    #[serde(rename = "type", serialize_with = "by_name")]
    pub ty: Type,
    /// Seconds for reading.
    pub read_s: f64,
    /// Seconds for sorting.
    pub sort_s: f64,
    /// Seconds for writing.
    pub write_s: f64,
    /// What the library did.
    pub report: Report,
}

fn by_name<S: Serializer>(ty: &Type, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(ty.name())
}

impl Summary {
    /// The summary as one line.
    pub fn line(&self) -> String {
        let report = &self.report;
        let mut line = format!("sorted {} {} keys", grouped(self.keys), self.ty);
        if self.written != self.keys {
            line += &format!(", kept {}", grouped(self.written));
        }
        line += &format!(
            ": read {:.3} s, sort {:.3} s, write {:.3} s; engine {}, {}, {} of {} passes",
            self.read_s,
            self.sort_s,
            self.write_s,
            report.engine,
            report.algorithm,
            report.passes_run,
            report.passes_possible
        );
        if let Some(presorted) = report.presorted {
            line += &format!(" (input {})", presorted.name());
        }
        line
    }

    /// Prints the line on stderr.
    pub fn print_line(&self) {
        // The work is done; a closed stderr does not undo it.
        let _ = writeln!(io::stderr(), "{}", self.line());
    }

    /// Prints the object on stdout.
    ///
    /// # Errors
    /// Where stdout cannot be written.
    pub fn print_json(&self) -> Result<()> {
        let object = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::system(format!("cannot write the summary: {error}")))?;
        print(&format!("{object}\n"))
    }
}

/// Prints to stdout.
///
/// # Errors
/// [`Failure::ReaderGone`] where no one reads any more; [`Failure::System`].
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    done.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ReaderGone,
        _ => Failure::io("write", "stdout", &error),
    })
}

/// A number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_all() {
        let summary = Summary {
            keys: 1_234_567,
            written: 16,
            ty: Type::F32,
            read_s: 0.1,
            sort_s: 0.25,
            write_s: 1.0,
            report: Report {
                engine: "cpu",
                algorithm: "auto",
                passes_possible: 4,
                passes_run: 3,
                ..Report::default()
            },
        };
        assert_eq!(
            summary.line(),
            "sorted 1,234,567 f32 keys, kept 16: read 0.100 s, sort 0.250 s, write 1.000 s; \
             engine cpu, auto, 3 of 4 passes"
        );
    }
}
