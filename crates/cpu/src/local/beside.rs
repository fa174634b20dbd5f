//! A bucket of records whose key and payload lie side by side in the room.

use std::ops::Range;
use std::ptr;

use sweepsort_core::Word;

use crate::columns::{Ahead, Columns, Payload, fetch_start};
use crate::room::Record;
use crate::tuning::IN_CACHE_BYTES;

/// Such a bucket, to be sorted in bins.
///
/// It is there if the records have the pieces, `n` in all, and those that come next; if `to` has room for it, and the
/// memory so many bytes, and starts on a line; and if nobody else uses them now.
pub(super) struct Beside<'a, W, P> {
    pub(super) records: *const Record<W>,
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
    /// Each piece: its records, and how many. The start of the next one is fetched meanwhile.
    #[inline(always)]
    pub(super) fn each(&self) -> impl Iterator<Item = (*const Record<W>, usize)> {
        self.pieces.iter().enumerate().map(|(i, piece)| {
            if let Some(next) = self.pieces.get(i + 1) {
                fetch_start(self.records.wrapping_add(next.start).cast());
            }
            (self.records.wrapping_add(piece.start), piece.len())
        })
    }

    /// What will be read after these.
    pub(super) fn ahead(&self) -> Ahead<'a> {
        let records = (self.records.cast(), size_of::<Record<W>>());
        Ahead::new([records, (ptr::null(), 0)], self.next)
    }

    /// Whether this bucket's slots are fetched before they are written.
    pub(super) fn fetches(&self) -> bool {
        self.fetches && self.n * size_of::<Record<W>>() > IN_CACHE_BYTES
    }
}
