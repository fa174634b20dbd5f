//! What travels: a column of keys, and beside it a column of payloads.
//!
//! The two are separate arrays, as the caller has them. Payloads are bytes to be moved, of 1 to 16
//! a key: 4, 8 and 16 as one machine word, the rest as two overlapping ones.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use sweepsort_core::Word;

use crate::tuning::READ_AHEAD_BYTES;

/// How one payload is moved. Pointers need no alignment, and bytes may be uninitialised padding: they are copied,
/// and no branch and no address depends on them.
pub(crate) trait Payload: Copy + Send + Sync {
    /// One payload, held in registers.
    type Held: Copy;
    /// Bytes of one payload, if the type alone tells; 0 otherwise.
    const BYTES: usize;
    /// Whether there are none: keys are alone.
    const NONE: bool = size_of::<Self::Held>() == 0;

    /// Bytes of one payload.
    fn bytes(self) -> usize;
    /// Reads payload `i`.
    ///
    /// # Safety
    /// `column` holds more than `i` payloads.
    unsafe fn load(self, column: *const u8, i: usize) -> Self::Held;
    /// Writes payload `i`.
    ///
    /// # Safety
    /// `column` has room for more than `i` payloads.
    unsafe fn store(self, column: *mut u8, i: usize, held: Self::Held);
}

/// Keys alone.
#[derive(Clone, Copy)]
pub(crate) struct Nothing;

impl Payload for Nothing {
    type Held = ();
    const BYTES: usize = 0;

    #[inline(always)]
    fn bytes(self) -> usize {
        0
    }
    #[inline(always)]
    unsafe fn load(self, _: *const u8, _: usize) {}
    #[inline(always)]
    unsafe fn store(self, _: *mut u8, _: usize, (): ()) {}
}

/// Payloads of 4, 8 or 16 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<const BYTES: usize>;

macro_rules! fixed {
    ($($bytes:literal $word:ident),*) => {$(
        impl Payload for Fixed<$bytes> {
            type Held = MaybeUninit<$word>;
            const BYTES: usize = $bytes;

            #[inline(always)]
            fn bytes(self) -> usize {
                $bytes
            }
            #[inline(always)]
            unsafe fn load(self, column: *const u8, i: usize) -> Self::Held {
                // SAFETY: the caller vouches for payload `i`.
                unsafe { column.cast::<Self::Held>().add(i).read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, column: *mut u8, i: usize, held: Self::Held) {
                // SAFETY: the caller vouches for payload `i`.
                unsafe { column.cast::<Self::Held>().add(i).write_unaligned(held) }
            }
        }
    )*};
}
fixed!(4 u32, 8 u64, 16 u128);

/// Payloads of any number of bytes from 1 to 16, known at run time.
#[derive(Clone, Copy)]
pub(crate) struct Bytes(pub(crate) usize);

impl Bytes {
    /// Moves the first and the last `size_of::<T>()` bytes of a payload, which overlap or meet.
    #[inline(always)]
    unsafe fn load_ends<T: Copy>(self, at: *const u8) -> [MaybeUninit<u64>; 2] {
        let mut held = [MaybeUninit::<u64>::uninit(); 2];
        for (end, offset) in held.iter_mut().zip([0, self.0 - size_of::<T>()]) {
            // SAFETY: the payload has at least the `T`'s bytes, and a `u64` has room for them.
            unsafe {
                let word = at.add(offset).cast::<MaybeUninit<T>>().read_unaligned();
                end.as_mut_ptr().cast::<MaybeUninit<T>>().write(word);
            }
        }
        held
    }

    /// Undoes [`load_ends`](Self::load_ends).
    #[inline(always)]
    unsafe fn store_ends<T: Copy>(self, at: *mut u8, held: [MaybeUninit<u64>; 2]) {
        for (end, offset) in held.iter().zip([0, self.0 - size_of::<T>()]) {
            // SAFETY: as in `load_ends`.
            unsafe {
                let word = end.as_ptr().cast::<MaybeUninit<T>>().read();
                at.add(offset)
                    .cast::<MaybeUninit<T>>()
                    .write_unaligned(word);
            }
        }
    }
}

impl Payload for Bytes {
    type Held = [MaybeUninit<u64>; 2];
    const BYTES: usize = 0;

    #[inline(always)]
    fn bytes(self) -> usize {
        self.0
    }
    #[inline(always)]
    unsafe fn load(self, column: *const u8, i: usize) -> Self::Held {
        // SAFETY: the caller vouches for payload `i`; each arm's type fits the payload.
        unsafe {
            let at = column.add(i * self.0);
            match self.0 {
                8.. => self.load_ends::<u64>(at),
                4.. => self.load_ends::<u32>(at),
                2.. => self.load_ends::<u16>(at),
                _ => self.load_ends::<u8>(at),
            }
        }
    }
    #[inline(always)]
    unsafe fn store(self, column: *mut u8, i: usize, held: Self::Held) {
        // SAFETY: as in `load`.
        unsafe {
            let at = column.add(i * self.0);
            match self.0 {
                8.. => self.store_ends::<u64>(at, held),
                4.. => self.store_ends::<u32>(at, held),
                2.. => self.store_ends::<u16>(at, held),
                _ => self.store_ends::<u8>(at, held),
            }
        }
    }
}

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

    /// Writes a key to some places, and calls `done` with a few thousand of them at a time, which are in the first level cache then.
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
        let keys: *const u8 = self.keys.wrapping_add(range.start).cast();
        for at in (0..range.len() * size_of::<W>()).step_by(LINE) {
            prefetch_second(keys.wrapping_add(at));
        }
        let bytes = self.payload.bytes();
        let payloads = self.payloads.wrapping_add(range.start * bytes);
        for at in (0..range.len() * bytes).step_by(LINE) {
            prefetch_second(payloads.wrapping_add(at));
        }
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

/// Bytes of a line of the caches.
pub(crate) const LINE: usize = 64;

/// Lines of a piece that are fetched ahead: then the machine has seen where it goes.
const FETCHED_LINES: usize = 8;

/// Records of a bucket: pieces of columns, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'a, W, P> {
    columns: Columns<W, P>,
    ranges: &'a [Range<usize>],
    n: usize,
    limits: Option<Limits<W>>,
}

/// Records before which as many of those to come are fetched, where they are only looked at.
pub(crate) const READ_TOGETHER: usize = 2048;

/// Codes that none of a bucket is below or above, where a partition tells them.
pub(crate) type Limits<W> = [W; 2];

/// Whether codes are within limits.
pub(crate) fn within<W: Word>([least, greatest]: Limits<W>) -> impl Fn(&W) -> bool {
    move |&code| least <= code && code <= greatest
}

impl<'a, W: Word, P: Payload> Pieces<'a, W, P> {
    pub(crate) fn new(columns: Columns<W, P>, ranges: &'a [Range<usize>]) -> Self {
        Pieces {
            columns,
            ranges,
            n: ranges.iter().map(Range::len).sum(),
            limits: None,
        }
    }

    /// The same, of which it is known, or not, what no key is beyond.
    ///
    /// # Safety
    /// It is so.
    pub(crate) unsafe fn within(self, limits: Option<Limits<W>>) -> Self {
        Pieces { limits, ..self }
    }

    /// What no key is beyond.
    pub(crate) fn limits(&self) -> Option<Limits<W>> {
        self.limits
    }

    /// What is read of these when, to be fetched before.
    pub(crate) fn ahead(&self) -> Ahead<'a> {
        let Columns { keys, payloads, .. } = self.columns;
        let payload = (payloads.cast_const(), self.columns.payload.bytes());
        Ahead::new([(keys.cast(), size_of::<W>()), payload], self.ranges)
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Bytes of a key and its payload.
    pub(crate) fn record_bytes(&self) -> usize {
        self.columns.record_bytes()
    }

    /// How the payloads are moved.
    pub(crate) fn payload(&self) -> P {
        self.columns.payload
    }

    /// Each piece: its records, and how many. The start of the next one is fetched meanwhile, since no
    /// machine guesses where that is.
    ///
    /// # Safety
    /// The columns have the ranges.
    #[inline(always)]
    pub(crate) unsafe fn each(self) -> impl Iterator<Item = (Columns<W, P>, usize)> {
        self.ranges.iter().enumerate().map(move |(i, range)| {
            if let Some(next) = self.ranges.get(i + 1) {
                fetch_start(self.columns.keys.wrapping_add(next.start).cast());
            }
            // SAFETY: the caller's promise.
            (unsafe { self.columns.from(range.start) }, range.len())
        })
    }

    /// The same pieces, for a type of word that is this one by another name.
    pub(crate) fn cast<V: Word>(self) -> Pieces<'a, V, P> {
        Pieces {
            columns: self.columns.cast(),
            ranges: self.ranges,
            n: self.n,
            limits: self
                .limits
                .map(|ends| ends.map(|end| V::truncate(end.widen()))),
        }
    }

    /// Copies the records to `to`, one piece after the other, unless they are there already.
    ///
    /// # Safety
    /// The columns have the ranges, `to` has room, and nobody else uses them now. One piece may be
    /// where `to` is; otherwise they do not overlap.
    pub(crate) unsafe fn gather(self, to: Columns<W, P>) {
        let mut done = 0;
        // SAFETY: the caller's promise.
        unsafe {
            for (piece, n) in self.each() {
                let to = to.from(done);
                if !piece.same(to) {
                    piece.copy_to(to, n);
                }
                done += n;
            }
        }
    }

    /// Whether they are one piece, at a place.
    pub(crate) fn is_at(self, place: Columns<W, P>) -> bool {
        match self.ranges {
            // SAFETY: the range is within the columns.
            [range] => unsafe { self.columns.from(range.start) }.same(place),
            _ => false,
        }
    }

    /// The records in one place: where they are, if that is one piece, or else at `to`.
    ///
    /// # Safety
    /// As [`gather`](Self::gather).
    pub(crate) unsafe fn together(self, to: Columns<W, P>) -> Columns<W, P> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.ranges {
                [range] => self.columns.from(range.start),
                _ => {
                    self.gather(to);
                    to
                }
            }
        }
    }
}

/// Pieces that are being read, and are brought to the second level cache some records before.
pub(crate) struct Ahead<'a> {
    /// Where a column starts, and how many bytes an element has; none, if there is no such column.
    columns: [(*const u8, usize); 2],
    ranges: &'a [Range<usize>],
    /// How much of the first range has been fetched.
    done: usize,
}

impl<'a> Ahead<'a> {
    /// Of columns, before the first record is read.
    pub(crate) fn new(columns: [(*const u8, usize); 2], ranges: &'a [Range<usize>]) -> Self {
        let mut ahead = Ahead {
            columns,
            ranges,
            done: 0,
        };
        ahead.read(READ_AHEAD_BYTES / (columns[0].1 + columns[1].1));
        ahead
    }

    /// Nothing, for what is read is in the caches.
    pub(crate) fn nothing() -> Self {
        Ahead {
            columns: [(ptr::null(), 0); 2],
            ranges: &[],
            done: 0,
        }
    }

    /// Says that the next `n` records are read: as many of those to come are fetched.
    #[inline(always)]
    pub(crate) fn read(&mut self, mut n: usize) {
        while n > 0
            && let Some((range, later)) = self.ranges.split_first()
        {
            let start = range.start + self.done;
            let taken = n.min(range.end - start);
            for (column, element) in self.columns {
                let at = column.wrapping_add(start * element);
                for line in (0..taken * element).step_by(LINE) {
                    prefetch_second(at.wrapping_add(line));
                }
            }
            n -= taken;
            self.done += taken;
            if self.done == range.len() {
                (self.ranges, self.done) = (later, 0);
            }
        }
    }
}

/// Says that a piece that begins at `at` will soon be read.
#[inline(always)]
pub(crate) fn fetch_start(at: *const u8) {
    for line in 0..FETCHED_LINES {
        prefetch(at.wrapping_add(LINE * line));
    }
}

/// Says that the cache line at `at` will soon be used. A hint: any address will do.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    prefetch_level::<1>(at);
}

/// Says that it will be used later, so that the second level cache has it, and the first one what is used before.
#[inline(always)]
pub(crate) fn prefetch_second(at: *const u8) {
    prefetch_level::<2>(at);
}

/// Says that the cache line at `at` will soon be written, so that no other core's cache keeps it. A hint, where there
/// [is such a one](crate::instructions::fetches_to_write).
#[inline(always)]
pub(crate) fn prefetch_to_write(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and never faults; a machine without it does nothing.
    unsafe {
        asm!("prefetchw [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Says that a line will be used, for a cache of the first or the second level.
#[inline(always)]
fn prefetch_level<const LEVEL: u32>(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match LEVEL {
            1 => _mm_prefetch::<_MM_HINT_T0>(at.cast()),
            _ => _mm_prefetch::<_MM_HINT_T1>(at.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Writes some words past the caches, where the machine can. Others see them after [`streamed`].
///
/// # Safety
/// There is room for them, and nobody else uses it now. It begins with a line, and words fill whole ones.
#[inline(always)]
pub(crate) unsafe fn stream<T: Copy, const N: usize>(to: *mut T, words: [T; N]) {
    const { assert!((N * size_of::<T>()).is_multiple_of(LINE)) }
    // SAFETY: the caller's promise.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let (to, words): (*mut __m128i, *const __m128i) = (to.cast(), words.as_ptr().cast());
        for i in 0..N * size_of::<T>() / size_of::<__m128i>() {
            _mm_stream_si128(to.add(i), _mm_loadu_si128(words.add(i)));
        }
    }
    // SAFETY: the caller's promise.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe {
        to.cast::<[T; N]>().write(words);
    }
}

/// Ends what was written past the caches: without it, it may come after what is written next.
#[inline(always)]
pub(crate) fn streamed() {
    // SAFETY: the machine has it, as all of x86-64 do.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Limits some way beyond keys.
#[cfg(test)]
pub(crate) fn loose_limits<W: Word>(keys: &[W]) -> Option<Limits<W>> {
    let (&least, &greatest) = (keys.iter().min()?, keys.iter().max()?);
    let above = W::MAX.wrapping_sub(greatest) >> 3;
    Some([least.wrapping_sub(least >> 3), greatest.wrapping_add(above)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies ahead is gone through piece by piece, as far as there is something.
    #[test]
    fn pieces_ahead_are_fetched_once() {
        const FIRST: usize = READ_AHEAD_BYTES / 8;
        let column = [0u32; FIRST + 100];
        let ranges = [3..FIRST + 10, 20..20, 40..60];
        let mut ahead = Ahead::new([(column.as_ptr().cast(), 4); 2], &ranges);
        let mut left = |n: usize| {
            ahead.read(n);
            (ahead.ranges.len(), ahead.done)
        };
        let steps = [0, 6, 1, 12, 8, 1].map(&mut left);
        let expected = [(3, FIRST), (3, FIRST + 6), (2, 0), (1, 12), (0, 0), (0, 0)];
        assert_eq!(steps, expected);
    }

    /// Payloads of every width from 1 to 16 arrive whole, and nothing beside them changes.
    #[test]
    fn payloads_of_every_width() {
        let from: Vec<u8> = (0..64).collect();
        for bytes in 1..=16 {
            let mut to = vec![0xee; 64];
            // SAFETY: both columns hold three payloads of `bytes` bytes.
            unsafe {
                let held = Bytes(bytes).load(from.as_ptr(), 2);
                Bytes(bytes).store(to.as_mut_ptr(), 1, held);
            }
            let mut expected = vec![0xee; 64];
            expected[bytes..2 * bytes].copy_from_slice(&from[2 * bytes..3 * bytes]);
            assert_eq!(to, expected, "{bytes} bytes");
        }
    }
}
