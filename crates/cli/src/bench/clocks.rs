//! A GPU's clocks, which it lowers when it is idle: it copies until they are up again, before it is timed.
//! Such copies also tell how fast it copies.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A GPU whose clocks are low copies for so long, in seconds.
pub const WARM_UP_S: f64 = 0.3;
/// After so long without work they count as low.
const IDLE: Duration = Duration::from_millis(100);
/// How many copies measure the bandwidth.
const COPIES: usize = 7;

/// Whether more copies are wanted, by the seconds of all of them and of the last.
pub type More<'a> = dyn FnMut(f64, f64) -> bool + 'a;

/// The clocks of one GPU.
#[derive(Default)]
pub struct Clocks {
    /// When it was last seen at work.
    worked: Cell<Option<Instant>>,
}

impl Clocks {
    /// The GPU was at work until now.
    pub fn worked(&self) {
        self.worked.set(Some(Instant::now()));
    }

    /// Whether the GPU has been idle.
    pub fn are_low(&self) -> bool {
        self.worked.get().is_none_or(|last| last.elapsed() > IDLE)
    }

    /// Has the GPU make `copies` until they are up, unless it was at work just now.
    ///
    /// # Errors
    /// What the copies fail at.
    pub fn raise<E>(&self, copies: impl FnOnce(&mut More) -> Result<u64, E>) -> Result<(), E> {
        if self.are_low() {
            copies(&mut |woken, _| woken < WARM_UP_S)?;
        }
        Ok(())
    }
}

/// Bytes read and written a second: the median of some `copies`, after others that raise the clocks. They
/// answer with the bytes of each.
///
/// # Errors
/// What the copies fail at.
pub fn bandwidth<E>(copies: impl FnOnce(&mut More) -> Result<u64, E>) -> Result<f64, E> {
    let mut seconds = Vec::new();
    let bytes = copies(&mut |woken, took| {
        if woken > WARM_UP_S {
            seconds.push(took);
        }
        seconds.len() < COPIES
    })?;
    Ok(2.0 * bytes as f64 / median(&mut seconds))
}

/// The median of some seconds; not a number for none.
pub fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}
