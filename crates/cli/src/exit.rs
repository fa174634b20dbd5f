//! What went wrong, as one line and an exit code.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// A result with this module's [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why the tool stops, with the exit code that says so.
#[derive(Debug)]
pub enum Failure {
    /// Exit code 1: `check` found disorder or another multiset, `explain --bisect` arrays that differ.
    Found(String),
    /// Exit code 2: bad usage or bad input.
    Input(String),
    /// Exit code 3: a device or the system failed.
    System(String),
    /// Exit code 0 and silence: whoever read our output has seen enough.
    ReaderGone,
}

impl Failure {
    /// Bad usage or bad input.
    pub fn input(message: impl Into<String>) -> Self {
        Failure::Input(message.into())
    }

    /// A device or the system failed.
    pub fn system(message: impl Into<String>) -> Self {
        Failure::System(message.into())
    }

    /// An operation on a file that failed.
    pub fn io(doing: &str, file: impl fmt::Display, error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        let (what, todo) = match error.kind() {
            Kind::NotFound => ("no such file or folder", "check the path"),
            Kind::IsADirectory => ("it is a directory", "name a file"),
            Kind::NotADirectory => ("a part of the path is no directory", "check the path"),
            Kind::InvalidFilename => ("the name is too long or not allowed", "shorten it"),
            Kind::PermissionDenied => (
                "permission denied",
                "check the permissions of file and folder",
            ),
            Kind::ReadOnlyFilesystem => ("the file system is read-only", "write elsewhere"),
            Kind::StorageFull => ("the disk is full", "free some space or write elsewhere"),
            Kind::QuotaExceeded => (
                "the disk quota is used up",
                "free some space or write elsewhere",
            ),
            Kind::FileTooLarge => (
                "the file would be larger than the system allows",
                "see 'ulimit -f', or write elsewhere",
            ),
            _ => {
                return Failure::System(format!("cannot {doing} {file}: {}", bare(error)));
            }
        };
        let line = format!("cannot {doing} {file}: {what}; {todo}");
        match error.kind() {
            Kind::NotFound | Kind::IsADirectory | Kind::NotADirectory | Kind::InvalidFilename => {
                Failure::Input(line)
            }
            _ => Failure::System(line),
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::ReaderGone => 0,
            Failure::Found(_) => 1,
            Failure::Input(_) => 2,
            Failure::System(_) => 3,
        }
    }

    /// Tells the person, in one line on stderr, and the caller, by the exit code.
    pub fn report(&self) -> ExitCode {
        use io::Write;
        if !matches!(self, Failure::ReaderGone) {
            // Nowhere is left to complain to if stderr is closed.
            let _ = writeln!(io::stderr(), "sweepsort: {self}");
        }
        ExitCode::from(self.code())
    }
}

/// What went wrong, in one line.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Found(line) | Failure::Input(line) | Failure::System(line) => {
                f.write_str(&one_line(line))
            }
            Failure::ReaderGone => f.write_str("the reader of the output is gone"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<sweepsort::Error> for Failure {
    fn from(error: sweepsort::Error) -> Self {
        use sweepsort::Error;
        match error {
            Error::OutOfMemory { .. } | Error::Threads { .. } | Error::Device { .. } => {
                Failure::System(error.to_string())
            }
            _ => Failure::Input(error.to_string()),
        }
    }
}

/// A path for a message.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The system's words for an error, without its number.
fn bare(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// Control characters, line ends among them, spelled out: a file's name or content may hold any.
fn one_line(line: &str) -> String {
    line.chars()
        .flat_map(|c| {
            let control = c.is_control();
            control
                .then(|| c.escape_default())
                .into_iter()
                .flatten()
                .chain((!control).then_some(c))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_line_with_a_code() {
        let error = io::Error::from(io::ErrorKind::StorageFull);
        let failure = Failure::io("write", "out.u32", &error);
        assert_eq!(failure.code(), 3);
        assert!(matches!(failure, Failure::System(line) if line.contains("disk is full")));
        assert_eq!(
            Failure::io("read", "x", &io::ErrorKind::NotFound.into()).code(),
            2
        );
        assert_eq!(one_line("a\nb\u{1b}c é"), "a\\nb\\u{1b}c é");
    }
}
