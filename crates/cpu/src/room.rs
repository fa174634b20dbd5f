//! Where partitions leave records: in columns, or, where key and payload have 32 or 64 bits each,
//! side by side.
//!
//! A partition writes to as many places at a time as it has buckets, and each is a line of the
//! caches that must be at hand. Of a record in columns there are two, of one side by side is one;
//! and one of 64 bits in all is stored as one word.

use std::mem::MaybeUninit;
use std::ops::Range;

use sweepsort_core::Word;

use crate::columns::Columns;
use crate::fetch::{LINE, prefetch_second};
use crate::payload::Payload;
use crate::pieces::{Pieces, fetch_start};

/// Places for records.
#[derive(Clone, Copy)]
pub(crate) struct Room<W, P>(Columns<W, P>);

impl<W: Word, P: Payload> Room<W, P> {
    /// Whether a record's key and, behind it, its payload lie side by side.
    pub(crate) const BESIDE: bool = matches!(size_of::<W>(), 4 | 8) && matches!(P::BYTES, 4 | 8);

    /// Bytes of such a record, which need not be aligned.
    pub(crate) const BYTES: usize = size_of::<W>() + P::BYTES;

    /// Places in the memory of columns.
    pub(crate) fn new(columns: Columns<W, P>) -> Self {
        Room(columns)
    }

    /// The columns, where the records lie in them.
    #[inline(always)]
    pub(crate) fn columns(self) -> Columns<W, P> {
        debug_assert!(!Self::BESIDE);
        self.0
    }

    /// The records, where they lie side by side.
    pub(crate) fn records(self) -> *const u8 {
        debug_assert!(Self::BESIDE);
        self.record(0)
    }

    /// Where record `i` is, if they lie side by side. Any number will do.
    #[inline(always)]
    fn record(self, i: usize) -> *mut u8 {
        let start: *mut u8 = self.0.keys_start().cast();
        start.wrapping_add(i * Self::BYTES)
    }

    /// Writes record `i`.
    ///
    /// # Safety
    /// There is room for more than `i` records, and nobody else uses this one now.
    #[inline(always)]
    pub(crate) unsafe fn store(self, i: usize, (key, held): (W, P::Held)) {
        let payload = self.0.payload();
        // SAFETY: the caller's promise; a word has a key and a payload of 4 bytes each.
        unsafe {
            if const { !Self::BESIDE } {
                return self.0.store(i, (key, held));
            }
            let at = self.record(i);
            if const { Self::BYTES == 8 } {
                let mut word = MaybeUninit::<u64>::uninit();
                let start: *mut W = word.as_mut_ptr().cast();
                start.write(key);
                payload.store(start.add(1).cast(), 0, held);
                return at.cast::<MaybeUninit<u64>>().write_unaligned(word);
            }
            at.cast::<W>().write_unaligned(key);
            payload.store(at.add(size_of::<W>()), 0, held);
        }
    }

    /// The key of a record whose parts lie side by side.
    ///
    /// # Safety
    /// It is there, and nobody writes it now.
    #[inline(always)]
    pub(crate) unsafe fn key(at: *const u8) -> W {
        // SAFETY: the caller's promise.
        unsafe { at.cast::<W>().read_unaligned() }
    }

    /// Such a record.
    ///
    /// # Safety
    /// As [`key`](Self::key).
    #[inline(always)]
    pub(crate) unsafe fn load(at: *const u8, payload: P) -> (W, P::Held) {
        // SAFETY: the caller's promise.
        unsafe { (Self::key(at), payload.load(at.add(size_of::<W>()), 0)) }
    }

    /// Says that records from `i` on, and a line behind them, will soon be written.
    pub(crate) fn prefetch_start(self, i: usize) {
        for bytes in [0, LINE] {
            self.prefetch_bytes(i, bytes, prefetch_second);
        }
    }

    /// Fetches, by a function, what lies so many bytes behind record `i`.
    #[inline(always)]
    pub(crate) fn prefetch_bytes(self, i: usize, bytes: usize, fetch: impl Fn(*const u8)) {
        match Self::BESIDE {
            true => fetch(self.record(i).wrapping_add(bytes)),
            false => self.0.prefetch_bytes(i, bytes, fetch),
        }
    }

    /// Copies the records of some ranges to `to`, one range after the other.
    ///
    /// # Safety
    /// There are the records, `to` has room, and nobody else uses them now. They do not overlap.
    pub(crate) unsafe fn gather(self, ranges: &[Range<usize>], to: Columns<W, P>) {
        // SAFETY: the caller's promise.
        unsafe {
            if const { !Self::BESIDE } {
                return Pieces::new(self.0, ranges).gather(to);
            }
            let mut done = 0;
            for (at, range) in ranges.iter().enumerate() {
                if let Some(next) = ranges.get(at + 1) {
                    fetch_start(self.record(next.start));
                }
                for i in range.clone() {
                    to.store(done, Self::load(self.record(i), self.0.payload()));
                    done += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{column_bytes, columns_at};
    use crate::payload::{Bytes, Fixed};

    /// Records come out as they went in, wherever key and payload lie.
    #[test]
    fn records_are_kept() {
        kept::<u32, _>(Fixed::<4>, true);
        kept::<u64, _>(Fixed::<8>, true);
        kept::<u32, _>(Fixed::<8>, true);
        kept::<u64, _>(Fixed::<4>, true);
        kept::<u32, _>(Fixed::<16>, false);
        kept::<u16, _>(Fixed::<4>, false);
        kept::<u128, _>(Fixed::<16>, false);
        kept::<u32, _>(Bytes(4), false);
        kept::<u64, _>(Bytes(3), false);
    }

    fn kept<W: Word, P: Payload>(payload: P, beside: bool) {
        assert_eq!(Room::<W, P>::BESIDE, beside);
        let n = 100;
        let bytes = payload.bytes();
        let mut keys: Vec<W> = (0..n)
            .map(|i| W::truncate(0x0123_4567_89ab_cdef * (i + 1)))
            .collect();
        let mut payloads: Vec<u8> = (0..n as usize * bytes).map(|i| i as u8).collect();
        let from = Columns::new(keys.as_mut_ptr(), payloads.as_mut_ptr(), payload);
        let mut memory = vec![0u128; column_bytes(n as usize, size_of::<W>() + bytes).div_ceil(16)];
        let (mut found, mut found_payloads) = (vec![W::ZERO; n as usize], vec![0; payloads.len()]);
        let to = Columns::new(found.as_mut_ptr(), found_payloads.as_mut_ptr(), payload);
        // SAFETY: all have room for `n` records.
        unsafe {
            let room = Room::new(columns_at(memory.as_mut_ptr().cast(), n as usize, payload));
            // The last third first, which is read last.
            for i in 0..n as usize {
                room.store((i + 33) % n as usize, from.load(i));
            }
            room.gather(&[33..n as usize, 0..33], to);
        }
        let what = format!("keys of {} bits, payloads of {bytes}", W::BITS);
        assert!((keys, payloads) == (found, found_payloads), "{what}");
    }
}
