//! What travels: a column of keys, and beside it a column of payloads. The two are separate arrays,
//! as the caller has them.

use std::mem::MaybeUninit;
use std::ops::Range;

use sweepsort_core::Word;

use crate::fetch::{LINE, prefetch_lines};
use crate::payload::Payload;

/// A stretch of keys and the payloads beside them. It borrows nothing: who uses it knows its
/// length, and that no two threads write one place.
#[derive(Clone, Copy)]
pub(crate) struct Columns<W, P> {
    keys: *mut W,
    payloads: *mut u8,
    payload: P,
}

// SAFETY: the pointers stand for exclusive slices of `Send` elements; every use is unsafe and
// states which elements it touches.
unsafe impl<W: Word, P: Payload> Send for Columns<W, P> {}
// SAFETY: as for `Send`.
unsafe impl<W: Word, P: Payload> Sync for Columns<W, P> {}

impl<W: Word, P: Payload> Columns<W, P> {
    pub(crate) fn new(keys: *mut W, payloads: *mut u8, payload: P) -> Self {
        Columns {
            keys,
            payloads,
            payload,
        }
    }

    /// How the payloads are moved.
    pub(crate) fn payload(self) -> P {
        self.payload
    }

    /// Bytes of a key and its payload.
    pub(crate) fn record_bytes(self) -> usize {
        size_of::<W>() + self.payload.bytes()
    }

    /// Whether two columns lie in the same place.
    pub(crate) fn same(self, other: Self) -> bool {
        self.keys == other.keys
    }

    /// The columns from record `i` on.
    ///
    /// # Safety
    /// There are at least `i` records.
    #[inline(always)]
    pub(crate) unsafe fn from(self, i: usize) -> Self {
        // SAFETY: `i` is within the columns or one past their end.
        unsafe {
            Columns {
                keys: self.keys.add(i),
                payloads: self.payloads.add(i * self.payload.bytes()),
                payload: self.payload,
            }
        }
    }

    /// The first `n` keys.
    ///
    /// # Safety
    /// There are `n` keys, initialised, and nobody writes them while the slice lives.
    #[inline(always)]
    pub(crate) unsafe fn keys<'a>(self, n: usize) -> &'a [W] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.keys, n) }
    }

    /// The first `n` keys, to write.
    ///
    /// # Safety
    /// There are `n` keys, initialised, and nobody else reads or writes them while the slice lives.
    #[inline(always)]
    pub(crate) unsafe fn keys_mut<'a>(self, n: usize) -> &'a mut [W] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.keys, n) }
    }

    /// The places of the first `n` keys.
    ///
    /// # Safety
    /// There is room for `n` keys, and nobody else uses it while the slice lives.
    pub(crate) unsafe fn keys_room<'a>(self, n: usize) -> &'a mut [MaybeUninit<W>] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.keys.cast(), n) }
    }

    /// Writes a key to some places, and calls `done` with a few thousand of them at a time, which
    /// are in the first level cache then.
    ///
    /// # Safety
    /// There are the places, and nobody else uses them now.
    pub(crate) unsafe fn fill_keys(
        self,
        places: Range<usize>,
        key: W,
        done: impl Fn(Range<usize>),
    ) {
        const TOGETHER: usize = 1 << 11;
        for start in places.clone().step_by(TOGETHER) {
            let some = start..places.end.min(start + TOGETHER);
            // SAFETY: the caller's promise.
            let to = unsafe { self.from(start).keys_room(some.len()) };
            to.fill(MaybeUninit::new(key));
            done(some);
        }
    }

    /// Key `i`.
    ///
    /// # Safety
    /// There are more than `i` keys, and nobody writes this one now.
    #[inline(always)]
    pub(crate) unsafe fn key(self, i: usize) -> W {
        // SAFETY: the caller's promise.
        unsafe { self.keys.add(i).read() }
    }

    /// Record `i`.
    ///
    /// # Safety
    /// There are more than `i` records, and nobody writes this one now.
    #[inline(always)]
    pub(crate) unsafe fn load(self, i: usize) -> (W, P::Held) {
        // SAFETY: the caller's promise.
        unsafe { (self.key(i), self.payload.load(self.payloads, i)) }
    }

    /// The payload of record `i`.
    ///
    /// # Safety
    /// As [`load`](Self::load).
    #[inline(always)]
    pub(crate) unsafe fn load_payload(self, i: usize) -> P::Held {
        // SAFETY: the caller's promise.
        unsafe { self.payload.load(self.payloads, i) }
    }

    /// Writes record `i`.
    ///
    /// # Safety
    /// There is room for more than `i` records, and nobody else uses this one now.
    #[inline(always)]
    pub(crate) unsafe fn store(self, i: usize, (key, held): (W, P::Held)) {
        // SAFETY: the caller's promise.
        unsafe {
            self.keys.add(i).write(key);
            self.payload.store(self.payloads, i, held);
        }
    }

    /// Writes the payload of record `i`.
    ///
    /// # Safety
    /// As [`store`](Self::store).
    #[inline(always)]
    pub(crate) unsafe fn store_payload(self, i: usize, held: P::Held) {
        // SAFETY: the caller's promise.
        unsafe { self.payload.store(self.payloads, i, held) }
    }

    /// The place of payload `i`.
    ///
    /// # Safety
    /// There are at least `i` records.
    #[inline(always)]
    pub(crate) unsafe fn payload_at(self, i: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.payloads.add(i * self.payload.bytes()) }
    }

    /// The first key's place.
    pub(crate) fn keys_start(self) -> *mut W {
        self.keys
    }

    /// The same columns, for a type of word that is this one by another name.
    pub(crate) fn cast<V: Word>(self) -> Columns<V, P> {
        assert_eq!(V::WIDTH, W::WIDTH);
        Columns::new(self.keys.cast(), self.payloads, self.payload)
    }

    /// Fetches, by a function, what lies so many bytes behind key and payload `i`.
    #[inline(always)]
    pub(crate) fn prefetch_bytes(self, i: usize, bytes: usize, fetch: impl Fn(*const u8)) {
        fetch(self.keys.wrapping_add(i).cast::<u8>().wrapping_add(bytes));
        if !P::NONE {
            let payload = self.payloads.wrapping_add(i * self.payload.bytes());
            fetch(payload.wrapping_add(bytes));
        }
    }

    /// Says that some records will be used, a few hundred others later.
    #[inline(always)]
    pub(crate) fn fetch(self, range: Range<usize>) {
        let keys = self.keys.wrapping_add(range.start);
        prefetch_lines(keys.cast(), range.len() * size_of::<W>());
        let bytes = self.payload.bytes();
        let payloads = self.payloads.wrapping_add(range.start * bytes);
        prefetch_lines(payloads, range.len() * bytes);
    }

    /// Copies the first `n` records to `to`.
    ///
    /// # Safety
    /// Both have `n` records, and they do not overlap.
    pub(crate) unsafe fn copy_to(self, to: Self, n: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            to.keys.copy_from_nonoverlapping(self.keys, n);
            self.payloads_to(to, n);
        }
    }

    /// Copies the first `n` payloads beside the keys of `to`.
    ///
    /// # Safety
    /// Both have `n` payloads, and they do not overlap.
    pub(crate) unsafe fn payloads_to(self, to: Self, n: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            to.payloads
                .copy_from_nonoverlapping(self.payloads, n * self.payload.bytes());
        }
    }

    /// Moves the first `n` records to `to`, which may overlap them.
    ///
    /// # Safety
    /// Both have `n` records, and nobody else uses them now.
    pub(crate) unsafe fn move_to(self, to: Self, n: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            to.keys.copy_from(self.keys, n);
            to.payloads
                .copy_from(self.payloads, n * self.payload.bytes());
        }
    }

    /// Swaps records `i` and `j`.
    ///
    /// # Safety
    /// Both are there, and nobody else uses them now.
    #[inline(always)]
    pub(crate) unsafe fn swap(self, i: usize, j: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, b) = (self.load(i), self.load(j));
            self.store(i, b);
            self.store(j, a);
        }
    }
}

/// Bytes of memory for `n` records in columns, each of which starts on a line of its own; the most
/// that there are, for more.
pub(crate) fn column_bytes(n: usize, record: usize) -> usize {
    n.saturating_mul(record).saturating_add(2 * LINE)
}

/// Columns for `n` records in memory of [`column_bytes`].
///
/// # Safety
/// The memory is there, and starts on a line.
pub(crate) unsafe fn columns_at<W: Word, P: Payload>(
    start: *mut u8,
    n: usize,
    payload: P,
) -> Columns<W, P> {
    // SAFETY: keys and a line are within the memory.
    let payloads = unsafe { start.add((n * size_of::<W>()).next_multiple_of(LINE)) };
    Columns::new(start.cast(), payloads, payload)
}
