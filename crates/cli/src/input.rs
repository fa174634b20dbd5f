//! Where keys come from: a file or a stream, read once, from front to end.
//!
//! A regular file's size is known, so its bytes are read by all cores at once, each a part of the
//! whole; what has no size (a pipe, a terminal, a device, files of `/proc`) is read as it comes.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rayon::prelude::*;

use crate::exit::{Failure, Result, shown};
use crate::memory::{self, Buffer};
use crate::progress::Progress;

/// How many bytes a task reads.
const PIECE: usize = 4 << 20;

/// How many bytes are asked of a stream at once, and the least room for them.
const STREAM: usize = 1 << 20;

/// An opened input.
#[derive(Debug)]
pub struct Source {
    file: File,
    name: String,
    /// Where the next byte is, in a file of known size.
    at: u64,
    /// Where the last byte ends, in a file of known size.
    end: Option<u64>,
}

impl Source {
    /// Opens a file, or stdin where there is none or it is `-`.
    ///
    /// # Errors
    /// [`Failure::Input`] for a missing file or a directory, [`Failure::System`] for others.
    pub fn open(path: Option<&Path>) -> Result<Source> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let name = "stdin".to_owned();
            let failed = |error| Failure::io("read", "stdin", &error);
            return Source::of(stdin_file().map_err(failed)?, name);
        };
        let name = shown(path);
        let failed = |error| Failure::io("open", &name, &error);
        let file = File::open(path).map_err(failed)?;
        Source::of(file, name)
    }

    fn of(mut file: File, name: String) -> Result<Source> {
        let failed = |error| Failure::io("read", &name, &error);
        let facts = file.metadata().map_err(failed)?;
        if facts.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let (mut at, mut end) = (0, None);
        // A size of 0 may mean that the system does not know, as in `/proc`.
        if facts.is_file() && facts.len() > 0 {
            at = io::Seek::stream_position(&mut file).map_err(failed)?;
            end = Some(facts.len().max(at));
        }
        Ok(Source {
            file,
            name,
            at,
            end,
        })
    }

    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes are left, where that is known.
    pub fn left(&self) -> Option<u64> {
        self.end.map(|end| end - self.at)
    }

    /// All bytes that are left.
    ///
    /// # Errors
    /// [`Failure::System`] where reading fails or memory is short.
    pub fn rest(self, progress: &Progress) -> Result<Buffer> {
        progress.stage("reading", self.left());
        match self.left() {
            Some(left) => self.rest_of_file(left, progress),
            None => self.rest_of_stream(progress),
        }
    }

    fn rest_of_file(self, left: u64, progress: &Progress) -> Result<Buffer> {
        let mut buffer = Buffer::zeroed(usize::try_from(left).unwrap_or(usize::MAX))?;
        let read = |(i, piece): (usize, &mut [u8])| {
            read_exact_at(&self.file, piece, self.at + (i * PIECE) as u64)?;
            progress.inc(piece.len());
            Ok(())
        };
        let pieces = buffer.bytes_mut().par_chunks_mut(PIECE).enumerate();
        let done: io::Result<()> = pieces.map(read).collect();
        match done {
            Ok(()) => Ok(buffer),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(Failure::system(format!(
                    "{} became shorter while it was read; try again when nothing writes to it",
                    self.name
                )))
            }
            Err(error) => Err(Failure::io("read", &self.name, &error)),
        }
    }

    fn rest_of_stream(mut self, progress: &Progress) -> Result<Buffer> {
        let mut buffer = Buffer::default();
        let mut filled = 0;
        loop {
            if buffer.len() - filled < STREAM {
                // In the end the bytes are sorted, which takes as much again.
                let room = (2 * buffer.len()).max(4 * STREAM);
                memory::require(2 * (room - buffer.len()) as u64, &self.name)?;
                buffer.grow(room)?;
            }
            match self.file.read(&mut buffer.bytes_mut()[filled..]) {
                Ok(0) => break,
                Ok(count) => {
                    filled += count;
                    progress.inc(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::io("read", &self.name, &error)),
            }
        }
        buffer.truncate(filled);
        Ok(buffer)
    }
}

/// Front to end, for headers.
impl Read for Source {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(to)?;
        self.at += count as u64;
        self.end = self.end.map(|end| end.max(self.at));
        Ok(count)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(unix)]
fn stdin_file() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn stdin_file() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}

#[cfg(unix)]
fn read_exact_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut to: &mut [u8], mut at: u64) -> io::Result<()> {
    while !to.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, to, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                to = &mut to[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
