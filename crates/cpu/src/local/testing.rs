//! What tests of a bucket's sort have in common: records whose payloads tell where they were,
//! places for them among those of others, and what must be in all of these then.

use std::ops::Range;
use std::slice;

use sweepsort_core::Word;

use super::beside::Beside;
use crate::columns::{Columns, column_bytes, columns_at};
use crate::fetch::LINE;
use crate::instructions::Instructions;
use crate::payload::Payload;
use crate::pieces::Limits;
use crate::plan::Record;
use crate::room::Room;
use crate::scratch::Scratch;

/// Others' places before and behind those of records.
const BESIDE: usize = 64;
/// A byte of what nobody may write to, or take for anything.
const OTHERS: u8 = 0xa5;

/// Some keys, by a multiplier that spreads them over a range.
pub(super) fn spread<W: Word>(n: usize, over: Range<u128>) -> Vec<W> {
    let key = |i: usize| {
        let random = (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 64;
        W::truncate(over.start + (random.wrapping_mul(over.end - over.start) >> 64))
    };
    (0..n).map(key).collect()
}

/// Limits beyond the keys, at either end by an eighth of their range, or as far as there are words; and none.
pub(super) fn with_limits_and_without<W: Word>(keys: &[W]) -> [Option<Limits<W>>; 2] {
    let (least, greatest) = super::bins::extremes(keys);
    let beyond = greatest.wrapping_sub(least) >> 3;
    let above = beyond.min(W::MAX.wrapping_sub(greatest));
    let least = least.wrapping_sub(beyond.min(least));
    [Some([least, greatest.wrapping_add(above)]), None]
}

/// Records to be sorted.
#[derive(Clone, Copy)]
pub(super) struct Case<'a, W, P> {
    pub(super) keys: &'a [W],
    pub(super) payload: P,
    /// Bytes of memory.
    pub(super) bytes: usize,
    /// Whether they are sorted where they are.
    pub(super) stays: bool,
}

impl<'a, W: Word, P: Payload> Case<'a, W, P> {
    /// Records that go to another place, with as much memory as a local sort has for them.
    pub(super) fn new(keys: &'a [W], payload: P) -> Self {
        let wide = Record::new(Instructions::Avx512, true, size_of::<W>(), payload.bytes());
        Case {
            keys,
            payload,
            bytes: wide.local_bytes(keys.len()),
            stays: false,
        }
    }

    /// Has `sort(from, to, memory)` sort them, and tells whether it says that it has. Then they
    /// must be in order, stably; if not, nothing must have been written. `what` to say if that
    /// fails.
    pub(super) fn check(
        self,
        what: &str,
        sort: impl FnOnce(Columns<W, P>, Columns<W, P>, *mut u8) -> bool,
    ) -> bool {
        let n = self.keys.len();
        let unsorted: Vec<usize> = (0..n).collect();
        let mut order = unsorted.clone();
        order.sort_by_key(|&i| self.keys[i]);
        let (unsorted, sorted, empty) = (
            self.columns(&unsorted),
            self.columns(&order),
            self.columns(&[]),
        );
        let (mut from, mut to) = (unsorted.clone(), empty.clone());
        let memory = Scratch::new(false).take(self.bytes + LINE).unwrap();
        // Both columns of the target begin as many records behind the start of a line, others from case
        // to case.
        let behind_line = n % LINE;
        let [keys, payloads] = [size_of_val(&to.0[..]), to.1.len()].map(|bytes| {
            let most = bytes + behind_line * size_of::<u128>();
            Scratch::new(false).take(most).unwrap()
        });
        // SAFETY: others' places come first; behind the memory is a line.
        let (done, behind) = unsafe {
            let keys = keys.start().cast::<W>().add(behind_line);
            let payloads = payloads.start().add(behind_line * self.payload.bytes());
            keys.copy_from(to.0.as_ptr(), to.0.len());
            payloads.copy_from(to.1.as_ptr(), to.1.len());
            let columns = |keys, payloads| Columns::new(keys, payloads, self.payload).from(BESIDE);
            let source = columns(from.0.as_mut_ptr(), from.1.as_mut_ptr());
            let end = memory.start().add(self.bytes);
            end.write_bytes(OTHERS, LINE);
            let target = if self.stays {
                source
            } else {
                columns(keys, payloads)
            };
            let done = sort(source, target, memory.start());
            keys.copy_to(to.0.as_mut_ptr(), to.0.len());
            payloads.copy_to(to.1.as_mut_ptr(), to.1.len());
            (done, slice::from_raw_parts(end, LINE))
        };
        let expected = match (done, self.stays) {
            (false, _) => [unsorted, empty],
            (true, false) => [unsorted, sorted],
            (true, true) => [sorted, empty],
        };
        let bytes = self.payload.bytes();
        let what = format!("{what}: {n} of {} bits and {bytes} bytes", W::BITS);
        for (place, found, expected) in
            [("source", from, &expected[0]), ("target", to, &expected[1])]
        {
            assert!(
                found.0 == expected.0,
                "{what}, done: {done}, keys at the {place}"
            );
            assert!(
                found.1 == expected.1,
                "{what}, done: {done}, payloads at the {place}"
            );
        }
        assert_eq!(behind, [OTHERS; LINE], "{what}, behind the memory");
        done
    }

    /// The same of records that lie side by side in a room, in so many pieces. Each but the first
    /// lies before the one that it follows.
    pub(super) fn check_beside(
        self,
        what: &str,
        pieces: usize,
        limits: Option<Limits<W>>,
        [fetches, streams]: [bool; 2],
        sort: impl FnOnce(Beside<'_, W, P>) -> bool,
    ) -> bool {
        let n = self.keys.len();
        // Behind a piece is what is nobody's.
        let (size, gap) = (n.div_ceil(pieces), 5);
        let place = |i: usize| (pieces - 1 - i / size) * (size + gap) + i % size;
        let places = pieces * (size + gap);
        let starts = (0..n).step_by(size);
        let ranges: Vec<Range<usize>> = starts
            .map(|i| place(i)..place(i) + size.min(n - i))
            .collect();
        let bytes = column_bytes(places, Room::<W, P>::BYTES);
        let held = Scratch::new(false).take(bytes).unwrap();
        self.check(&format!("{what}, {pieces} pieces"), |from, to, memory| {
            // SAFETY: there are the records, and places for them in the room.
            unsafe {
                held.start().write_bytes(OTHERS, bytes);
                let room = Room::<W, P>::new(columns_at(held.start(), places, self.payload));
                for i in 0..n {
                    room.store(place(i), from.load(i));
                }
                sort(Beside {
                    records: room.records(),
                    pieces: &ranges,
                    n,
                    limits,
                    to,
                    memory,
                    bytes: self.bytes,
                    fetches,
                    streams,
                })
            }
        })
    }

    /// Some of the records, in columns, with places of others before and behind. The last record's
    /// payload is all ones, the one before has one less.
    fn columns(&self, records: &[usize]) -> (Vec<W>, Vec<u8>) {
        let (n, bytes) = (self.keys.len(), self.payload.bytes());
        let others = W::truncate(u128::from_ne_bytes([OTHERS; 16]));
        let mut keys = vec![others; n + 2 * BESIDE];
        let mut payloads = vec![OTHERS; keys.len() * bytes];
        for (place, &i) in (BESIDE..).zip(records) {
            keys[place] = self.keys[i];
            let payload = (!((n - 1 - i) as u128)).to_le_bytes();
            payloads[place * bytes..][..bytes].copy_from_slice(&payload[..bytes]);
        }
        (keys, payloads)
    }
}
