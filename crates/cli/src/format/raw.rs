//! Raw files: the keys' bytes, little-endian, and nothing else.

use std::borrow::Cow;
use std::fmt;

use rayon::prelude::*;

use crate::exit::{Failure, Result};
use crate::memory::{Buffer, Keys};
use crate::output::Output;
use crate::progress::Progress;
use crate::types::Type;

/// How many bytes a task looks at.
const PIECE: usize = 4 << 20;

/// How many bytes are written at once.
const WRITTEN: usize = 16 << 20;

/// Refuses a size that is no whole number of keys.
///
/// # Errors
/// [`Failure::Input`] with both sizes.
pub fn whole_keys(name: impl fmt::Display, ty: Type, bytes: u64) -> Result<()> {
    let key = ty.bytes() as u64;
    match bytes % key {
        0 => Ok(()),
        over => Err(Failure::input(format!(
            "{name}: its {bytes} bytes are no whole number of {ty} keys of {key} bytes ({over} too \
             many); check -t, and whether the file is complete"
        ))),
    }
}

/// The keys that a file's bytes from offset `start` on are; `swapped` says that each key's bytes
/// stand the other way round than in this machine's memory.
///
/// # Errors
/// [`Failure::Input`] where the size is wrong or a `bool` is neither 0 nor 1.
pub fn keys(
    name: impl fmt::Display,
    ty: Type,
    mut buffer: Buffer,
    start: usize,
    swapped: bool,
) -> Result<Keys> {
    whole_keys(&name, ty, buffer.len() as u64)?;
    if ty == Type::Bool {
        let bytes = buffer.bytes();
        if let Some(at) = bytes
            .par_iter()
            .with_min_len(PIECE)
            .position_first(|&byte| byte > 1)
        {
            return Err(Failure::input(format!(
                "{name}: byte {} is {}, but a bool is 0 or 1; is the type right?",
                start + at,
                bytes[at]
            )));
        }
    }
    if swapped {
        swap(buffer.bytes_mut(), ty.bytes());
    }
    Ok(Keys::new(ty, buffer))
}

/// Turns the bytes of each key round.
pub fn swap(bytes: &mut [u8], key: usize) {
    if key > 1 {
        bytes
            .par_chunks_mut(PIECE)
            .for_each(|piece| piece.chunks_exact_mut(key).for_each(<[u8]>::reverse));
    }
}

/// Writes keys.
///
/// # Errors
/// Those of [`Output::write`].
pub fn write(keys: &Keys, output: &mut Output, progress: &Progress) -> Result<()> {
    for piece in keys.bytes().chunks(WRITTEN) {
        let mut piece = Cow::Borrowed(piece);
        if cfg!(target_endian = "big") {
            swap(piece.to_mut(), keys.ty().bytes());
        }
        output.write(&piece)?;
        progress.inc(piece.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: &[u8]) -> Result<Buffer> {
        let mut buffer = Buffer::zeroed(bytes.len())?;
        buffer.bytes_mut().copy_from_slice(bytes);
        Ok(buffer)
    }

    #[test]
    fn whole_keys_alone_are_read() -> Result<()> {
        let read = keys("x", Type::U16, buffer(&[1, 0, 2, 0])?, 0, false)?;
        assert_eq!(read.slice::<u16>(), [1u16.to_le(), 2u16.to_le()]);
        let Err(Failure::Input(line)) = keys("x", Type::U32, buffer(&[0; 10])?, 0, false) else {
            panic!("accepted");
        };
        assert!(
            line.contains("10 bytes") && line.contains("4 bytes"),
            "{line}"
        );
        Ok(())
    }

    #[test]
    fn swapped_keys_are_turned_round() -> Result<()> {
        let read = keys("x", Type::U32, buffer(&[0, 0, 0, 1, 0, 0, 2, 0])?, 0, true)?;
        assert_eq!(read.bytes(), [1, 0, 0, 0, 0, 2, 0, 0]);
        let read = keys("x", Type::U8, buffer(&[1, 2])?, 0, true)?;
        assert_eq!(read.bytes(), [1, 2]);
        Ok(())
    }

    #[test]
    fn bools_are_0_or_1() -> Result<()> {
        assert_eq!(
            keys("x", Type::Bool, buffer(&[0, 1, 1])?, 0, false)?.len(),
            3
        );
        let Err(Failure::Input(line)) = keys("x", Type::Bool, buffer(&[0, 1, 7, 9])?, 100, false)
        else {
            panic!("accepted");
        };
        assert!(
            line.starts_with("x: byte 102 ") && line.contains("is 7"),
            "{line}"
        );
        Ok(())
    }
}
