//! A bucket of records whose key and payload lie side by side in the room.

use std::ops::Range;
use std::ptr;

use sweepsort_core::Word;

use crate::columns::{Ahead, Columns, Payload, fetch_start};
use crate::room::Room;
use crate::tuning::IN_CACHE_BYTES;

/// Such a bucket, to be sorted in bins.
///
/// It is there if the records have the pieces, `n` in all, and those that come next; if `to` has room for it, and the
/// memory so many bytes, and starts on a line; and if nobody else uses them now.
pub(super) struct Beside<'a, W, P> {
    pub(super) records: *const u8,
    /// Which of them.
    pub(super) pieces: &'a [Range<usize>],
    pub(super) n: usize,
    /// Pieces that will be sorted after these.
    pub(super) next: &'a [Range<usize>],
    pub(super) to: Columns<W, P>,
    pub(super) memory: *mut u8,
    /// Bytes of memory.
    pub(super) bytes: usize,
    /// Whether slots are fetched before they are written, where they are not all in a first level cache.
    pub(super) fetches: bool,
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

    /// The least and the greatest key.
    ///
    /// # Safety
    /// The bucket is there.
    #[inline(always)]
    pub(super) unsafe fn extremes(&self) -> [W; 2] {
        let (mut least, mut greatest) = (W::MAX, W::ZERO);
        for (records, n) in self.each() {
            for i in 0..n {
                // SAFETY: the pieces are there.
                let key = unsafe { Room::<W, P>::key(records.add(i * Self::BYTES)) };
                (least, greatest) = (least.min(key), greatest.max(key));
            }
        }
        [least, greatest]
    }

    /// What will be read after these.
    pub(super) fn ahead(&self) -> Ahead<'a> {
        Ahead::new([(self.records, Self::BYTES), (ptr::null(), 0)], self.next)
    }

    /// Whether this bucket's slots are fetched before they are written.
    pub(super) fn fetches(&self) -> bool {
        self.fetches && self.n * Self::BYTES > IN_CACHE_BYTES
    }
}
