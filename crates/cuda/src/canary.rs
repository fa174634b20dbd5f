//! Guards around every buffer, so that tests notice what is written outside of it.
//!
//! ```text
//! | guard, 1 KiB | the buffer, exactly as long as asked for | guard, 1 KiB |
//! ```
//!
//! The guards hold a pattern that is compared when the buffer is dropped and on demand.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::result;

use crate::error::{Error, Result, while_doing};
use crate::stream::Stream;

/// How long each guard is: a multiple of every alignment that kernels rely on.
pub(crate) const GUARD_BYTES: usize = 1024;

/// What a new buffer is filled with: as a number implausible, as an index far out of range.
const POISON: u8 = 0xD5;

/// What guards hold: no two neighbours alike, and no power of two its period.
const PATTERN: [u8; GUARD_BYTES] = {
    let mut pattern = [0; GUARD_BYTES];
    let mut i = 0;
    while i < GUARD_BYTES {
        pattern[i] = (i % 251) as u8 ^ 0xA5;
        i += 1;
    }
    pattern
};

/// The guarded buffers of a device.
#[derive(Debug, Default)]
pub(crate) struct Canaries {
    /// The lengths in bytes of the buffers that there are, by their addresses.
    buffers: Mutex<BTreeMap<u64, usize>>,
    /// What was found at buffers that are gone.
    found: Mutex<Vec<String>>,
}

impl Canaries {
    /// Fills the guards of a new buffer, and the buffer with poison.
    pub(crate) fn add(&self, stream: &Stream, start: u64, bytes: usize) -> Result<()> {
        lock(&self.buffers).insert(start, bytes);
        let failed = while_doing("guarding a buffer");
        let raw = stream.raw().cu_stream();
        for guard in guards(start, bytes) {
            // SAFETY: the guards belong to the allocation, and the pattern lives for ever.
            unsafe { result::memcpy_htod_async(guard, &PATTERN, raw) }.map_err(&failed)?;
        }
        if bytes > 0 {
            // SAFETY: so long is the buffer.
            unsafe { result::memset_d8_async(start, POISON, bytes, raw) }.map_err(&failed)?;
        }
        Ok(())
    }

    /// Looks at the guards of a buffer that is about to go; its stream is through.
    pub(crate) fn remove(&self, start: u64) {
        if let Some(bytes) = lock(&self.buffers).remove(&start) {
            let seen = look(start, bytes).unwrap_or_else(|error| vec![error.to_string()]);
            lock(&self.found).extend(seen);
        }
    }

    /// Looks at the guards of every buffer; the device is through. Returns how many there are.
    pub(crate) fn check_all(&self) -> Result<usize> {
        let buffers = lock(&self.buffers);
        let mut found = std::mem::take(&mut *lock(&self.found));
        for (&start, &bytes) in buffers.iter() {
            found.extend(look(start, bytes)?);
        }
        if found.is_empty() {
            Ok(buffers.len())
        } else {
            Err(Error::Canary { found })
        }
    }
}

/// Where a buffer's guards start.
fn guards(start: u64, bytes: usize) -> [u64; 2] {
    [start - GUARD_BYTES as u64, start + bytes as u64]
}

/// Compares both guards of a buffer.
fn look(start: u64, bytes: usize) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (guard, at) in guards(start, bytes).into_iter().zip([-1024, bytes as i64]) {
        let mut seen = [0; GUARD_BYTES];
        // SAFETY: the guard belongs to the allocation, which is still there.
        unsafe { result::memcpy_dtoh_sync(&mut seen, guard) }
            .map_err(while_doing("looking at a guard"))?;
        found.extend(difference(&seen, at, bytes));
    }
    Ok(found)
}

/// What differs in a guard that starts at byte `at` of its buffer.
fn difference(seen: &[u8; GUARD_BYTES], at: i64, bytes: usize) -> Option<String> {
    let differs = |i: &usize| seen[*i] != PATTERN[*i];
    let first = (0..GUARD_BYTES).find(differs)?;
    let last = (0..GUARD_BYTES).rfind(differs)?;
    Some(format!(
        "bytes {} to {} of a buffer of {bytes} bytes",
        at + first as i64,
        at + last as i64
    ))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_guard_is_told_by_its_place_in_the_buffer() {
        assert_eq!(difference(&PATTERN, -1024, 12), None);
        let mut seen = PATTERN;
        seen[1023] ^= 1;
        let before = difference(&seen, -1024, 12).unwrap();
        assert_eq!(before, "bytes -1 to -1 of a buffer of 12 bytes");
        let mut seen = PATTERN;
        seen[0] = 0;
        seen[7] = 0;
        let after = difference(&seen, 12, 12).unwrap();
        assert_eq!(after, "bytes 12 to 19 of a buffer of 12 bytes");
    }
}
