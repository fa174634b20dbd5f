//! Where partitions leave records: in columns, or, where key and payload have 32 bits each, as words.
//!
//! A partition writes to as many places at a time as it has buckets, and each is a line of the caches that must
//! be at hand, and a store of its own. A record in columns is two; a word is one.

use std::mem::MaybeUninit;
use std::ops::Range;

use sweepsort_core::Word;

use crate::columns::{Columns, LINE, Payload, Pieces, fetch_start, prefetch};
use crate::tuning::TOGETHER;

/// Places for records.
#[derive(Clone, Copy)]
pub(crate) struct Room<W, P>(Columns<W, P>);

impl<W: Word, P: Payload> Room<W, P> {
    /// Whether a record is a word of 64 bits: its lower half the key, its upper half the payload.
    pub(crate) const JOINED: bool =
        size_of::<W>() == 4 && P::BYTES == 4 && cfg!(target_endian = "little");

    /// Places in the memory of columns.
    pub(crate) fn new(columns: Columns<W, P>) -> Self {
        Room(columns)
    }

    /// The columns, where the records lie in them.
    #[inline(always)]
    pub(crate) fn columns(self) -> Columns<W, P> {
        debug_assert!(!Self::JOINED);
        self.0
    }

    /// The words, where the records are that.
    pub(crate) fn words(self) -> *mut MaybeUninit<u64> {
        debug_assert!(Self::JOINED);
        self.word(0)
    }

    /// Where word `i` is. Any number will do.
    #[inline(always)]
    fn word(self, i: usize) -> *mut MaybeUninit<u64> {
        let start: *mut MaybeUninit<u64> = self.0.keys_start().cast();
        start.wrapping_add(i)
    }

    /// Writes record `i`.
    ///
    /// # Safety
    /// There is room for more than `i` records, and nobody else uses this one now.
    #[inline(always)]
    pub(crate) unsafe fn store(self, i: usize, (key, held): (W, P::Held)) {
        // SAFETY: the caller's promise; key and payload of a word have 4 bytes each.
        unsafe {
            if !Self::JOINED {
                return self.0.store(i, (key, held));
            }
            let mut word = MaybeUninit::<u64>::uninit();
            let start: *mut W = word.as_mut_ptr().cast();
            start.write(key);
            self.0.payload().store(start.add(1).cast(), 0, held);
            self.word(i).write(word);
        }
    }

    /// Puts records to the next places of their buckets: `take(bucket)` gives that place, `store(i, place)` puts the
    /// `i`-th record there.
    #[inline(always)]
    pub(crate) fn put_all(
        self,
        buckets: &[u16],
        mut take: impl FnMut(u16) -> usize,
        store: impl Fn(usize, usize),
    ) {
        let put = |i, place| {
            store(i, place);
            self.prefetch(place);
        };
        let (groups, rest) = buckets.as_chunks::<TOGETHER>();
        let mut i = 0;
        for group in groups {
            for place in group.map(&mut take) {
                put(i, place);
                i += 1;
            }
        }
        for &bucket in rest {
            put(i, take(bucket));
            i += 1;
        }
    }

    /// Says that records half a line behind `i` will soon be written: of a whole line, half of all lines
    /// that are held would wait, and fill a first level cache.
    #[inline(always)]
    pub(crate) fn prefetch(self, i: usize) {
        match Self::JOINED {
            true => prefetch(self.word(i).cast::<u8>().wrapping_add(LINE / 2)),
            false => self.0.prefetch_bytes(i, LINE / 2),
        }
    }

    /// Says that records from `i` on, and a line behind them, will soon be written.
    pub(crate) fn prefetch_start(self, i: usize) {
        for bytes in [0, LINE] {
            match Self::JOINED {
                true => prefetch(self.word(i).cast::<u8>().wrapping_add(bytes)),
                false => self.0.prefetch_bytes(i, bytes),
            }
        }
    }

    /// Copies the records of some ranges to `to`, one range after the other.
    ///
    /// # Safety
    /// There are the records, `to` has room, and nobody else uses them now. They do not overlap.
    pub(crate) unsafe fn gather(self, ranges: &[Range<usize>], to: Columns<W, P>) {
        // SAFETY: the caller's promise; key and payload of a word have 4 bytes each.
        unsafe {
            if !Self::JOINED {
                return Pieces::new(self.0, ranges).gather(to);
            }
            let mut done = 0;
            for (at, range) in ranges.iter().enumerate() {
                if let Some(next) = ranges.get(at + 1) {
                    fetch_start(self.word(next.start).cast());
                }
                for i in range.clone() {
                    let start: *mut W = self.word(i).cast();
                    let held = self.0.payload().load(start.add(1).cast(), 0);
                    to.store(done, (start.read(), held));
                    done += 1;
                }
            }
        }
    }
}
