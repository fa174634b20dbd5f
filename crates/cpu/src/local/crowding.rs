//! Whether the next bucket is worth a try in [bins]: not if its keys crowd, as those of the one before did.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use sweepsort_core::Word;

use super::bins;
use crate::columns::Columns;
use crate::instructions::{Instructions, stores_wait};
use crate::last_step::Follow;
use crate::payload::Payload;
use crate::pieces::{Limits, Pieces};
use crate::tuning::BINS_SKIPPED_MAX;

/// Whether bins are worth a try. Keys that crowd in one bucket often do so in the next ones; each
/// vain try doubles how many buckets go without. Workers share it, and lose nothing if they race.
#[derive(Default)]
pub(super) struct Crowding {
    tries: AtomicU32,
    /// Whether a bucket's limits did not serve, and its least and greatest key did.
    misled: AtomicBool,
}

impl Crowding {
    /// Bits of how many buckets are still to go without; above is how many did after the last try.
    const LEFT_BITS: u32 = 16;

    /// Whether the next bucket goes without.
    pub(super) fn waits(&self) -> bool {
        self.tries.load(Ordering::Relaxed) & u32::mask(&(0..Self::LEFT_BITS)) > 0
    }

    /// Whether to try a bucket.
    fn try_bins(&self) -> bool {
        let state = self.tries.load(Ordering::Relaxed);
        let left = state & u32::mask(&(0..Self::LEFT_BITS));
        if left > 0 {
            self.tries.store(state - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// Sorts in bins, if that is worth a try; or returns false and has written nothing.
    ///
    /// # Safety
    /// As [`bins::sort`], also without limits.
    pub(super) unsafe fn in_bins<W: Word, P: Payload>(
        &self,
        instructions: Instructions,
        from: Pieces<'_, W, P>,
        to: Columns<W, P>,
        memory: *mut u8,
        bytes: usize,
        follow: Option<&Follow<W>>,
    ) -> bool {
        if !self.try_bins() {
            return false;
        }
        // SAFETY: the caller's promise, also where there are no limits.
        let sort = |limits| unsafe {
            let from = from.within(limits);
            bins::sort(instructions, from, to, memory, bytes, stores_wait(), follow)
        };
        let done = self.limited(from.limits(), sort);
        self.note(done);
        done
    }

    /// Sorts between limits, if they have served so far, or else between the least and the greatest key.
    pub(super) fn limited<W>(
        &self,
        limits: Option<Limits<W>>,
        sort: impl Fn(Option<Limits<W>>) -> bool,
    ) -> bool {
        let limits = limits.filter(|_| !self.misled.load(Ordering::Relaxed));
        let is_limited = limits.is_some();
        if sort(limits) {
            return true;
        }
        let done = is_limited && sort(None);
        if done {
            self.misled.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Notes how a try went.
    pub(super) fn note(&self, in_bins: bool) {
        let last = self.tries.load(Ordering::Relaxed) >> Self::LEFT_BITS;
        let next = match in_bins {
            true => 0,
            false => (2 * last).clamp(1, BINS_SKIPPED_MAX),
        };
        if (last, next) != (0, 0) {
            let state = next << Self::LEFT_BITS | next;
            self.tries.store(state, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Keys that crowd between the limits are tried once more without, and the next ones without
    /// from the start.
    #[test]
    fn limits_that_mislead_are_left() {
        let crowding = Crowding::default();
        let tries = |crowded: &dyn Fn(bool) -> bool, limits: Option<Limits<u32>>| {
            let tries = Mutex::new(Vec::new());
            let done = crowding.limited(limits, |limits| {
                tries.lock().unwrap().push(limits.is_some());
                !crowded(limits.is_some())
            });
            (done, tries.into_inner().unwrap())
        };
        let limits = Some([0, 9]);
        assert_eq!(tries(&|_| false, limits), (true, vec![true]));
        assert_eq!(tries(&|_| true, None), (false, vec![false]));
        assert_eq!(tries(&|_| true, limits), (false, vec![true, false]));
        assert_eq!(tries(&|_| false, limits), (true, vec![true]));
        assert_eq!(tries(&|limited| limited, limits), (true, vec![true, false]));
        assert_eq!(tries(&|limited| limited, limits), (true, vec![false]));
    }
}
