//! The formats: raw, text and npy; which one a file has, and which type of key.
//!
//! A file's format is its name's extension's: `.npy`; `.u32`, `.f64` and so on for raw files of
//! that type; anything else is text. `-f` overrules that for an input. An output whose name does
//! not say takes the format of the input.

pub mod npy;
pub mod raw;
pub mod text;

use std::path::Path;

use clap::ValueEnum;

use crate::exit::{Failure, Result};
use crate::input::Source;
use crate::memory::Keys;
use crate::output::Output;
use crate::progress::Progress;
use crate::types::Type;

/// How a file holds its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The keys' bytes, little-endian, and nothing else
    Raw,
    /// One key a line
    Text,
    /// NumPy's array file, with one dimension
    Npy,
}

impl Format {
    /// The format's name.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Raw => "raw",
            Format::Text => "text",
            Format::Npy => "npy",
        }
    }
}

/// What a file's name says about it.
pub fn named(path: Option<&Path>) -> (Option<Format>, Option<Type>) {
    let extension = path.and_then(Path::extension).and_then(|ext| ext.to_str());
    match extension.map(str::to_ascii_lowercase).as_deref() {
        None => (None, None),
        Some("npy") => (Some(Format::Npy), None),
        Some("txt") => (Some(Format::Text), None),
        Some(other) => match other.parse() {
            Ok(ty) => (Some(Format::Raw), Some(ty)),
            Err(_) => (None, None),
        },
    }
}

/// An opened input: what it holds is known, the keys are still to be read.
#[derive(Debug)]
pub struct Input {
    source: Source,
    format: Format,
    ty: Type,
    /// What stands before the keys, in an npy.
    header: Option<npy::Header>,
    /// Whether the bytes of each key stand the other way round than in this machine's memory.
    swapped: bool,
}

impl Input {
    /// Opens an input (stdin if there is no path), and reads what stands before the keys.
    ///
    /// # Errors
    /// [`Failure::Input`] for a file that cannot be what it is said to be, [`Failure::System`] for
    /// one that cannot be read.
    pub fn open(path: Option<&Path>, format: Option<Format>, ty: Option<Type>) -> Result<Input> {
        let (named_format, named_type) = named(path);
        let format = format.or(named_format).unwrap_or(Format::Text);
        let mut source = Source::open(path)?;
        match format {
            Format::Text => Ok(Input {
                ty: ty.unwrap_or(Type::I64),
                source,
                format,
                header: None,
                swapped: false,
            }),
            Format::Raw => {
                let Some(ty) = ty.or(named_type) else {
                    return Err(Failure::input(format!(
                        "{source}: a raw file does not say its keys' type; give it with -t, such \
                         as -t u32"
                    )));
                };
                if let Some(bytes) = source.left() {
                    raw::whole_keys(&source, ty, bytes)?;
                }
                Ok(Input {
                    source,
                    format,
                    ty,
                    header: None,
                    swapped: cfg!(target_endian = "big"),
                })
            }
            Format::Npy => {
                let header = npy::Header::read(&mut source)?;
                if let Some(ty) = ty.filter(|&ty| ty != header.ty) {
                    return Err(Failure::input(format!(
                        "{source} holds {} keys, not {ty}; leave -t away or make it -t {}",
                        header.ty, header.ty
                    )));
                }
                if let Some(bytes) = source.left() {
                    header.fits(&source, bytes)?;
                }
                Ok(Input {
                    source,
                    format,
                    ty: header.ty,
                    swapped: header.big_endian != cfg!(target_endian = "big"),
                    header: Some(header),
                })
            }
        }
    }

    /// The input's name, for messages.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The keys' type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// How many keys there are, where that is known before they are read.
    pub fn count(&self) -> Option<usize> {
        match self.format {
            Format::Text => None,
            Format::Raw => {
                let bytes = self.source.left()?;
                usize::try_from(bytes / self.ty.bytes() as u64).ok()
            }
            Format::Npy => self.header.as_ref().map(|header| header.count),
        }
    }

    /// How many bytes are still to be read, where that is known.
    pub fn bytes(&self) -> Option<u64> {
        self.source.left()
    }

    /// Reads the keys.
    ///
    /// # Errors
    /// [`Failure::Input`] for content that is wrong, with the line or byte; [`Failure::System`]
    /// where reading fails or memory is short.
    pub fn read(self, progress: &Progress) -> Result<Keys> {
        let name = self.source.name().to_owned();
        let buffer = self.source.rest(progress)?;
        match self.format {
            Format::Text => {
                progress.stage("parsing", Some(buffer.len() as u64));
                text::parse(self.ty, name, buffer.bytes(), progress)
            }
            Format::Raw | Format::Npy => {
                let mut start = 0;
                if let Some(header) = &self.header {
                    header.fits(&name, buffer.len() as u64)?;
                    start = header.bytes;
                }
                raw::keys(&name, self.ty, buffer, start, self.swapped)
            }
        }
    }
}

/// How many bytes an output of `count` keys has, where the format fixes that.
pub fn size(format: Format, ty: Type, count: usize) -> Option<u64> {
    let keys = count as u64 * ty.bytes() as u64;
    match format {
        Format::Text => None,
        Format::Raw => Some(keys),
        Format::Npy => Some(npy::header(ty, count)?.len() as u64 + keys),
    }
}

/// The format of an output, from its name or else its input's.
///
/// # Errors
/// [`Failure::Input`] where the name speaks of another type than the keys', or the format does not
/// have the type.
pub fn of_output(path: Option<&Path>, otherwise: Format, ty: Type) -> Result<Format> {
    let (format, named_type) = named(path);
    let format = format.unwrap_or(otherwise);
    let name = path.map(crate::exit::shown).unwrap_or_default();
    match named_type {
        Some(named_type) if named_type != ty => {
            return Err(Failure::input(format!(
                "{name} is named as {named_type}, but its keys are {ty}; name it .{ty} or read the \
                 input with -t {named_type}"
            )));
        }
        _ => {}
    }
    if format == Format::Npy {
        npy::has(ty)?;
    }
    Ok(format)
}

/// Writes a file of keys.
///
/// # Errors
/// Those of [`Output::write`].
pub fn write(keys: &Keys, format: Format, output: &mut Output, progress: &Progress) -> Result<()> {
    write_header(keys.ty(), format, keys.len(), output)?;
    write_keys(keys, format, output, progress)
}

/// Writes what stands before `count` keys.
///
/// # Errors
/// Those of [`Output::write`], and a type that the format does not have.
pub fn write_header(ty: Type, format: Format, count: usize, output: &mut Output) -> Result<()> {
    match format {
        Format::Raw | Format::Text => Ok(()),
        Format::Npy => output.write(&npy::header(ty, count).ok_or_else(|| npy::absent(ty))?),
    }
}

/// Writes some of the keys of a file.
///
/// # Errors
/// Those of [`Output::write`].
pub fn write_keys(
    keys: &Keys,
    format: Format,
    output: &mut Output,
    progress: &Progress,
) -> Result<()> {
    match format {
        Format::Text => text::write(keys, output, progress),
        Format::Raw | Format::Npy => raw::write(keys, output, progress),
    }
}
