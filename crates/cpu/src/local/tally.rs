//! A bucket of keys alone that lie close together, at least two for each value: counted, and
//! written out anew.
//!
//! ```text
//! count      each key's value, by its distance from a least one        source → counters
//! write      each value as often as it was counted                     counters → data
//! ```

use sweepsort_core::Word;

use crate::columns::Columns;
use crate::fetch::LINE;
use crate::payload::Payload;
use crate::pieces::{Ahead, Pieces, READ_TOGETHER};

/// How many tables of counters there are where values are few: a counter waits for the last addition to it.
const TABLES: usize = 4;
/// Values are few if there are at most so many.
const FEW: usize = 2048;

/// Whether `n` keys alone over such a range are better counted than put in order, and so many bytes
/// of memory are enough. With one key for each value bins were as fast.
pub(super) fn pays<W: Word>(n: usize, range: W, bytes: usize) -> bool {
    2 * (range.widen() + 1) <= n as u128
        && counters(range) * size_of::<u32>() <= bytes
        && u32::try_from(n).is_ok()
}

/// How many values there are up to the greatest, and how many tables for them.
fn values<W: Word>(range: W) -> (usize, usize) {
    let values = range.low_usize() + 1;
    (values, if values <= FEW { TABLES } else { 1 })
}

/// How many counters they need.
fn counters<W: Word>(range: W) -> usize {
    let (values, tables) = values(range);
    values * tables
}

/// Sorts the keys of `from` into `to`, of which none is below `least`, or by more than `range` above it.
///
/// # Safety
/// It [`pays`] with the memory, which is aligned for counters. `to` has room for the keys, and is the one
/// piece where they are, or overlaps none; nobody else uses them now.
#[inline(always)]
pub(super) unsafe fn sort<W: Word, P: Payload>(
    from: Pieces<'_, W, P>,
    to: Columns<W, P>,
    memory: *mut u8,
    [least, range]: [W; 2],
    mut ahead: Ahead<'_>,
) {
    let (values, tables) = values(range);
    let step = if tables > 1 { values } else { 0 };
    // SAFETY: no key is further from the least than `range`.
    unsafe {
        let counts: *mut u32 = memory.cast();
        counts.write_bytes(0, values * tables);
        let count = |table: usize, key: W| {
            *counts.add(table + key.wrapping_sub(least).low_usize()) += 1;
        };
        for (piece, n) in from.each() {
            for keys in piece.keys(n).chunks(READ_TOGETHER) {
                ahead.read(keys.len());
                let (groups, rest) = keys.as_chunks::<TABLES>();
                for group in groups {
                    for (i, &key) in group.iter().enumerate() {
                        count(i * step, key);
                    }
                }
                for &key in rest {
                    count(0, key);
                }
            }
        }
        let out = to.keys_start();
        let mut at = 0;
        for value in 0..values {
            let count = (0..tables)
                .map(|table| *counts.add(table * values + value))
                .sum::<u32>() as usize;
            let key = least.wrapping_add(W::truncate(value as u128));
            write(out.add(at), key, count, from.len() - at);
            at += count;
        }
    }
}

/// Writes `count` keys to the start of `to`, where `room` are to be written: mostly a whole line,
/// whose end the next ones overwrite.
#[inline(always)]
unsafe fn write<W: Word>(to: *mut W, key: W, count: usize, room: usize) {
    let line = LINE / size_of::<W>();
    // SAFETY: what is written lies within the room.
    unsafe {
        if count + line <= room {
            let mut at = 0;
            loop {
                for i in 0..line {
                    to.add(at + i).write(key);
                }
                at += line;
                if at >= count {
                    break;
                }
            }
        } else {
            for i in 0..count {
                to.add(i).write(key);
            }
        }
    }
}
