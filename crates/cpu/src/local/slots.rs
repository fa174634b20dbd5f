//! Slots for the keys of bins: a matrix with a row for each key that a bin may have and a column
//! for each bin.
//!
//! Where payloads follow, those of a bin lie below each other in memory of their own.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::arch::asm;
use std::mem::MaybeUninit;
use std::slice;

use sweepsort_core::Word;

use crate::fetch::{LINE, prefetch};
use crate::lanes::{Keys, LANES_MAX, Sorted};
use crate::payload::Payload;
use crate::pieces::{Ahead, Pieces};
use crate::placing::{Placing, STRIP};
use crate::tuning::{BIN_MEAN, BIN_MEAN_MAX, FETCHED_LATER};

/// The most keys that a bin may have.
pub(super) const ROWS: usize = 32;
/// Bits of a row's number.
pub(super) const ROW_BITS: u32 = ROWS.ilog2();
/// There are a multiple of so many bins, which are sorted by the vector: as many as the widest one
/// has lanes of 16 bits, for [halves](super::halves).
pub(super) const BINS_TOGETHER: usize = 2 * LANES_MAX;
/// The fewest bins: one then spans few enough keys for a row's number to find room in a word.
const BINS_MIN: usize = 64;

/// How many bins `n` records want.
fn wanted(n: usize) -> usize {
    n.div_ceil(BIN_MEAN)
        .next_multiple_of(BINS_TOGETHER)
        .max(BINS_MIN)
}

/// From a row to the next, in keys of `key` bytes: an odd number of lines, so that a bin's rows do not
/// share a set of the caches.
fn stride(bins: usize, key: usize) -> usize {
    ((bins * key).div_ceil(LINE) | 1) * LINE / key
}

/// Bytes of slots and counters of so many bins, and of what strides are longer than rows.
fn slots_bytes(bins: usize, record: usize) -> usize {
    bins.saturating_mul(ROWS * record + 1)
        .saturating_add(ROWS * LINE)
}

/// The most bins that so many bytes have room for.
fn most_bins(bytes: usize, record: usize) -> usize {
    let bins = bytes.saturating_sub(ROWS * LINE) / (ROWS * record + 1);
    match bins - bins % BINS_TOGETHER {
        ..BINS_MIN => 0,
        bins => bins,
    }
}

/// Bytes of memory for a bucket of `n` records.
pub(crate) fn bytes(n: usize, record: usize) -> usize {
    slots_bytes(wanted(n), record)
}

/// Whether so many bytes are enough for a bucket of `n` records.
pub(crate) fn fits(n: usize, bytes: usize, record: usize) -> bool {
    self::bytes(n, record) <= bytes
}

/// The most records of a bucket that is sorted with so many bytes of memory.
pub(crate) fn most_records(bytes: usize, record: usize) -> usize {
    most_bins(bytes, record) * BIN_MEAN_MAX
}

/// Bytes of slots for a record, where memory for them ends.
pub(crate) fn record_bytes(slot: usize) -> usize {
    ROWS * slot / BIN_MEAN_MAX
}

/// Records that take rows together: a byte of a word for each. A vector of rows that were stored
/// one by one would wait until all stores before them are done.
pub(super) const TAKEN: usize = 8;
/// Records that have taken rows when another is put.
const TAKEN_BEFORE: usize = FETCHED_LATER / TAKEN * TAKEN;

/// Two neighbours by one load. Records are put by loads and stores for the most part, of which a
/// machine begins so many at a time.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn two(numbers: *const u32) -> [u32; 2] {
    // SAFETY: the caller's promise.
    let both = unsafe { numbers.cast::<u64>().read_unaligned() };
    let ends = [both as u32, (both >> u32::BITS) as u32];
    match cfg!(target_endian = "little") {
        true => ends,
        false => [ends[1], ends[0]],
    }
}

/// Slots for records, and how many each bin has.
pub(super) struct Slots<L: Sorted, P> {
    /// How many bins there are, a multiple of the lanes.
    pub(super) bins: usize,
    /// Row by row, a bin's keys below each other.
    keys: *mut L::Word,
    /// Bin by bin.
    payloads: *mut u8,
    counts: *mut u8,
    /// From a row to the next, in keys.
    stride: usize,
    payload: P,
}

impl<L: Sorted, P: Copy> Clone for Slots<L, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Sorted, P: Copy> Copy for Slots<L, P> {}

/// Tells the compiler that memory has been written: rows are loaded with slots that no key was put
/// to, and what is there is some number.
///
/// # Safety
/// The memory has so many bytes, and nobody else uses it now.
#[inline(always)]
unsafe fn written(memory: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise. For all that the compiler knows, this writes them.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    unsafe {
        let _ = bytes;
        asm!("/* {} */", in(reg) memory, options(nostack, preserves_flags));
    }
    // SAFETY: the caller's promise.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    unsafe {
        memory.write_bytes(0, bytes);
    }
}

impl<L: Sorted, P: Payload> Slots<L, P> {
    /// Empty slots for `n` records; or none, for there is too little memory.
    ///
    /// # Safety
    /// The memory has so many bytes, starts on a line, and nobody else uses it while the slots live.
    #[inline(always)]
    pub(super) unsafe fn new(n: usize, memory: *mut u8, bytes: usize, payload: P) -> Option<Self> {
        let record = size_of::<L::Word>() + payload.bytes();
        let bins = wanted(n).min(most_bins(bytes, record));
        if n > bins * BIN_MEAN_MAX {
            return None;
        }
        let stride = stride(bins, size_of::<L::Word>());
        let keys: *mut L::Word = memory.cast();
        // SAFETY: the memory has all of these.
        unsafe {
            let payloads: *mut u8 = keys.add(ROWS * stride).cast();
            let counts = payloads.add(ROWS * bins * payload.bytes());
            written(memory, counts.offset_from_unsigned(memory));
            counts.write_bytes(0, bins);
            Some(Slots {
                bins,
                keys,
                payloads,
                counts,
                stride,
                payload,
            })
        }
    }

    /// Puts each record to the next free row of its bin; or returns false, for a bin has no more.
    /// `FETCHES` if slots are fetched before they are written.
    #[inline(always)]
    pub(super) unsafe fn fill<K: Keys, const FETCHES: bool>(
        &self,
        from: Pieces<'_, K::Word, P>,
        placing: Placing<K::Word>,
        mut ahead: Ahead<'_>,
    ) -> bool {
        // Whether keys that are taken together fill a line. Of narrower ones what is fetched at once
        // is less, and each line would be fetched twice.
        let are_lines = const { P::NONE && size_of::<K::Word>() * TAKEN == LINE };
        // SAFETY: the caller vouches for the records, and for slots and counts of all places.
        unsafe {
            // No closure, which would not be compiled for the lanes.
            for (piece, n) in from.each() {
                let all = placing.each::<K>(
                    piece.keys_start(),
                    n,
                    #[inline(always)]
                    |start, places| {
                        let piece = piece.from(start);
                        let mut soon = piece;
                        if !are_lines {
                            ahead.read(places.len());
                        } else if let Some(first) = ahead.meanwhile(places.len()) {
                            soon = from.columns().from(first);
                        }
                        self.put_all::<FETCHES>(
                            places,
                            #[inline(always)]
                            |first| {
                                if are_lines {
                                    soon.from(first).fetch(0..TAKEN);
                                }
                            },
                            #[inline(always)]
                            |i| {
                                let (key, held) = piece.load(i);
                                (MaybeUninit::new(L::Word::truncate(key.widen())), held)
                            },
                        )
                    },
                );
                if !all {
                    return false;
                }
            }
            true
        }
    }

    /// Puts records to the next free rows of their bins; or returns false, for a bin has no more.
    /// `record` gives the one with a number; `meanwhile` is called with the first number of each
    /// [`TAKEN`].
    ///
    /// Rows are taken some records before one is put there: so a place in memory is known long
    /// before something is stored there, no row waits for a store to a place that is not known yet,
    /// and slots are numbered by vectors.
    ///
    /// On return `places` has the records' slots.
    ///
    /// # Safety
    /// There is a bin for each place, and the machine has the lanes' instructions.
    #[inline(always)]
    pub(super) unsafe fn put_all<const FETCHES: bool>(
        &self,
        places: &mut [u32],
        meanwhile: impl Fn(usize),
        record: impl Fn(usize) -> (MaybeUninit<L::Word>, P::Held),
    ) -> bool {
        let n = places.len();
        assert!(n <= STRIP);
        let mut payloads = [0; STRIP];
        if const { !P::NONE } {
            for (slot, &place) in payloads.iter_mut().zip(&*places) {
                *slot = place << ROW_BITS;
            }
        }
        let (keys, payloads) = (places.as_mut_ptr(), payloads.as_mut_ptr());
        // SAFETY: the caller's promise; a slot is one of those that there are, if its row is.
        unsafe {
            let whole = n - n % TAKEN;
            let before = whole.min(TAKEN_BEFORE);
            let mut taken = 0;
            while taken < before {
                meanwhile(taken);
                if !self.take::<FETCHES>(keys.add(taken), payloads.add(taken)) {
                    return false;
                }
                taken += TAKEN;
            }
            while taken < whole {
                meanwhile(taken);
                if !self.take::<FETCHES>(keys.add(taken), payloads.add(taken)) {
                    return false;
                }
                let first = taken - TAKEN_BEFORE;
                // First all keys, then all payloads: so few places in memory are at hand at a time.
                for i in (first..first + TAKEN).step_by(2) {
                    let [a, b] = two(keys.add(i));
                    self.put_key(a, record(i).0);
                    self.put_key(b, record(i + 1).0);
                }
                if const { !P::NONE } {
                    for i in (first..first + TAKEN).step_by(2) {
                        let [a, b] = two(payloads.add(i));
                        self.put_payload(a, record(i).1);
                        self.put_payload(b, record(i + 1).1);
                    }
                }
                taken += TAKEN;
            }
            for i in whole - before..whole {
                let (key, held) = record(i);
                self.put_key(*keys.add(i), key);
                self.put_payload(*payloads.add(i), held);
            }
            for i in whole..n {
                let row = self.next_row(*keys.add(i));
                if usize::from(row) >= ROWS {
                    return false;
                }
                let slot = *keys.add(i) + u32::from(row) * self.stride as u32;
                let (key, held) = record(i);
                self.put_key(slot, key);
                self.put_payload(*payloads.add(i) + u32::from(row), held);
            }
        }
        true
    }

    /// The next free row of a bin, or one beyond all, for there is none.
    #[inline(always)]
    unsafe fn next_row(&self, bin: u32) -> u8 {
        // SAFETY: as in `put_all`.
        unsafe {
            let count = self.counts.add(bin as usize);
            let row = *count;
            *count = row.wrapping_add(1);
            row
        }
    }

    /// Takes rows for some records, and makes their places slots; or returns false, for there is a
    /// bin that has no more.
    #[inline(always)]
    unsafe fn take<const FETCHES: bool>(&self, keys: *mut u32, payloads: *mut u32) -> bool {
        // SAFETY: as in `put_all`.
        unsafe {
            let mut rows = 0;
            for i in (0..TAKEN).step_by(2) {
                let [a, b] = two(keys.add(i));
                rows |= u64::from(self.next_row(a)) << (8 * i);
                rows |= u64::from(self.next_row(b)) << (8 * i + 8);
            }
            if rows & const { u64::from_ne_bytes([!(ROWS as u8 - 1); TAKEN]) } != 0 {
                return false;
            }
            L::move_on(keys, rows, self.stride as u32);
            if const { !P::NONE } {
                L::move_on(payloads, rows, 1);
            }
            if FETCHES {
                for i in 0..TAKEN {
                    prefetch(self.keys.wrapping_add(*keys.add(i) as usize).cast());
                    if const { !P::NONE } {
                        let payload = *payloads.add(i) as usize * self.payload.bytes();
                        prefetch(self.payloads.wrapping_add(payload));
                    }
                }
            }
        }
        true
    }

    /// Puts a key to its slot.
    #[inline(always)]
    unsafe fn put_key(&self, slot: u32, key: MaybeUninit<L::Word>) {
        // SAFETY: as in `put_all`.
        unsafe {
            let to: *mut MaybeUninit<_> = self.keys.add(slot as usize).cast();
            to.write(key);
        }
    }

    /// Puts a payload to its slot.
    #[inline(always)]
    unsafe fn put_payload(&self, slot: u32, held: P::Held) {
        // SAFETY: as in `put_all`.
        unsafe { self.payload.store(self.payloads, slot as usize, held) }
    }

    /// How many records the bins from `bin` on have, one for each lane.
    #[inline(always)]
    pub(super) unsafe fn sum(&self, bin: usize) -> usize {
        // SAFETY: there are as many bins.
        let counts = unsafe { self.counts(bin) };
        // Two and two, then all by one multiplication.
        let (eights, rest) = counts.as_chunks::<8>();
        let of = |eight: &[u8; 8]| {
            let eight = u64::from_le_bytes(*eight);
            let twos = (eight & 0x00ff_00ff_00ff_00ff) + (eight >> 8 & 0x00ff_00ff_00ff_00ff);
            (twos.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
        };
        let rest: usize = rest.iter().map(|&count| usize::from(count)).sum();
        eights.iter().map(of).sum::<usize>() + rest
    }

    /// The bins' counters from `bin` on, one for each lane.
    #[inline(always)]
    pub(super) unsafe fn counts(&self, bin: usize) -> &[u8] {
        // SAFETY: there are as many bins.
        unsafe { slice::from_raw_parts(self.counts.add(bin), L::LANES) }
    }

    /// The most records that one of them has.
    #[inline(always)]
    pub(super) unsafe fn most(&self, bin: usize) -> u8 {
        // SAFETY: there are as many bins.
        let counts = unsafe { self.counts(bin) };
        counts.iter().fold(0, |most, &count| most.max(count))
    }

    /// The payloads' slots of the bins from `bin` on, [`ROWS`] for each.
    #[inline(always)]
    pub(super) fn payloads(&self, bin: usize) -> *const u8 {
        let first = bin << ROW_BITS;
        self.payloads.wrapping_add(first * self.payload.bytes())
    }

    /// How payloads are moved.
    pub(super) fn payload(&self) -> P {
        self.payload
    }

    /// The place of the keys that some bins have in row `r`.
    #[inline(always)]
    pub(super) fn row(&self, r: usize, bin: usize) -> *const L::Word {
        self.keys.wrapping_add(r * self.stride + bin)
    }
}
