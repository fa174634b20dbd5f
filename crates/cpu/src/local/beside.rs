//! A bucket of records whose key and payload lie side by side in the room.

use std::ops::Range;
use std::ptr;

use sweepsort_core::Word;

use super::slots::TAKEN;
use crate::columns::Columns;
use crate::fetch::prefetch_lines;
use crate::payload::Payload;
use crate::pieces::{Ahead, Limits, READ_TOGETHER, fetch_start, within};
use crate::room::Room;
use crate::tuning::IN_CACHE_BYTES;

/// Such a bucket, to be sorted in bins.
///
/// It is there if the records have the pieces, `n` in all, and no key is beyond the limits; if `to`
/// has room for it, and the memory so many bytes, and starts on a line; and if nobody else uses
/// them now.
pub(super) struct Beside<'a, W, P> {
    pub(super) records: *const u8,
    /// Which of them.
    pub(super) pieces: &'a [Range<usize>],
    pub(super) n: usize,
    pub(super) limits: Option<Limits<W>>,
    pub(super) to: Columns<W, P>,
    pub(super) memory: *mut u8,
    /// Bytes of memory.
    pub(super) bytes: usize,
    /// Whether slots are fetched before they are written, where they are not all in a first level cache.
    pub(super) fetches: bool,
    /// Whether it is written past the caches, where vectors can: it would not stay there.
    pub(super) streams: bool,
}

impl<'a, W: Word, P: Payload> Beside<'a, W, P> {
    /// Bytes of a record.
    const BYTES: usize = Room::<W, P>::BYTES;

    /// Each piece: its records, and how many. The start of the next one is fetched meanwhile.
    #[inline(always)]
    pub(super) fn each(&self) -> impl Iterator<Item = (*const u8, usize)> {
        let start = |piece: &Range<usize>| self.records.wrapping_add(piece.start * Self::BYTES);
        self.pieces.iter().enumerate().map(move |(i, piece)| {
            if let Some(next) = self.pieces.get(i + 1) {
                fetch_start(start(next));
            }
            (start(piece), piece.len())
        })
    }

    /// What no key is beyond: the limits, or the least and the greatest one.
    ///
    /// # Safety
    /// The bucket is there.
    #[inline(always)]
    pub(super) unsafe fn ends(&self, ahead: &mut Ahead<'a>) -> Limits<W> {
        if let Some(limits) = self.limits {
            // SAFETY: the pieces are there.
            let key =
                |records: *const u8, i| unsafe { Room::<W, P>::key(records.add(i * Self::BYTES)) };
            debug_assert!(
                self.each()
                    .all(|(records, n)| (0..n).all(|i| within(limits)(&key(records, i))))
            );
            return limits;
        }
        let (mut least, mut greatest) = (W::MAX, W::ZERO);
        for (records, n) in self.each() {
            for start in (0..n).step_by(READ_TOGETHER) {
                let own = READ_TOGETHER.min(n - start);
                ahead.read(own);
                for i in start..start + own {
                    // SAFETY: the pieces are there.
                    let key = unsafe { Room::<W, P>::key(records.add(i * Self::BYTES)) };
                    (least, greatest) = (least.min(key), greatest.max(key));
                }
            }
        }
        [least, greatest]
    }

    /// Fetches records to come while as many are read, `n` from `now` on: [`TAKEN`] of them each time that it
    /// is called.
    #[inline(always)]
    pub(super) fn meanwhile(
        &self,
        ahead: &mut Ahead<'_>,
        n: usize,
        now: *const u8,
    ) -> impl Fn(usize) + use<W, P> {
        let start = |first| self.records.wrapping_add(first * Self::BYTES);
        let soon = ahead.meanwhile(n).map_or(now, start);
        move |first| {
            let some = soon.wrapping_add(first * Self::BYTES);
            prefetch_lines(some, TAKEN * Self::BYTES);
        }
    }

    /// What is read of these when, to be fetched before.
    pub(super) fn ahead(&self) -> Ahead<'a> {
        Ahead::new([(self.records, Self::BYTES), (ptr::null(), 0)], self.pieces)
    }

    /// Whether this bucket's slots are fetched before they are written.
    pub(super) fn fetches(&self) -> bool {
        self.fetches && self.n * Self::BYTES > IN_CACHE_BYTES
    }
}
