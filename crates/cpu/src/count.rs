//! Keys alone of few codes side by side: counted, then written out anew. Nothing is moved.
//!
//! Keys of 8 and 16 bits are such. Of wider ones a sample shows whether they may be, and whoever
//! counts sees whether they are.

use std::borrow::Cow;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sweepsort_core::{Coder, Report, Result, Stage, Word};

use crate::hybrid::Means;
use crate::pool::{Crew, Shared};
use crate::sample::range;
use crate::tuning::{
    COUNT_8_FROM, COUNT_16_FROM, COUNT_KEYS_A_CODE, COUNT_MOST_CODES, PARALLEL_FROM, STRETCH,
};

/// Whether `n` keys of `bits` bits alone are better counted than moved.
pub(crate) fn pays(n: usize, bits: u32) -> bool {
    match bits {
        8 => n >= COUNT_8_FROM,
        16 => n >= COUNT_16_FROM,
        _ => false,
    }
}

/// Bytes of scratch for keys of `bits` bits, with `threads` workers.
pub(crate) fn workspace(n: usize, bits: u32, threads: usize) -> usize {
    let workers = if n < PARALLEL_FROM { 1 } else { threads };
    table_bytes(1 << bits, n, workers)
}

/// Bytes of tables of so many codes: one for each part, and one for all.
fn table_bytes(codes: usize, n: usize, workers: usize) -> usize {
    let parts = n.div_ceil(share(n, workers));
    (codes + 1) * (parts * size_of::<u32>() + size_of::<usize>())
}

/// Keys of a part, which one worker counts.
fn share(n: usize, workers: usize) -> usize {
    // No counter runs over.
    n.div_ceil(workers).clamp(1, 1 << 31)
}

/// Codes side by side, each of which has a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span<W> {
    least: W,
    codes: usize,
}

impl<W: Word> Span<W> {
    /// All codes of a narrow word.
    fn whole() -> Self {
        Span {
            least: W::ZERO,
            codes: 1 << W::BITS,
        }
    }

    /// Those that `n` keys may have of which this is a sample: at both ends half as many more as it shows.
    /// None where there are so many that keys are better moved.
    pub(crate) fn of_sample(sample: &[W], n: usize) -> Option<Self> {
        let [least, greatest] = range(sample)?;
        let shown = usize::try_from(greatest.wrapping_sub(least).widen()).ok()?;
        if shown >= COUNT_MOST_CODES || n / COUNT_KEYS_A_CODE <= shown {
            return None;
        }
        let spare = W::truncate((shown / 2 + 1) as u128);
        // The whole range's ends are no ends of a span that goes on at the other.
        let first = if least < spare {
            W::ZERO
        } else {
            least.wrapping_sub(spare)
        };
        let last = greatest.wrapping_add(spare);
        let last = if last < greatest { W::MAX } else { last };
        Some(Span {
            least: first,
            codes: last.wrapping_sub(first).low_usize() + 1,
        })
    }

    /// Bytes of memory in which so many keys are counted.
    pub(crate) fn table_bytes(self, n: usize, crew: Crew<'_>) -> usize {
        table_bytes(self.codes, n, crew.threads())
    }

    /// Counts keys by their codes, and behind these those that have another. Whether there is one.
    fn count(self, keys: &[W], coder: Coder<W>, counts: &mut [u32]) -> bool {
        let code = |key| coder.encode(key).wrapping_sub(self.least);
        if W::BITS <= 16 && self == Self::whole() {
            keys.iter()
                .for_each(|&key| counts[code(key).low_usize()] += 1);
            return false;
        }
        let last = W::truncate(self.codes as u128 - 1);
        for code in keys.iter().map(|&key| code(key)) {
            let at = match code > last {
                true => self.codes,
                false => code.low_usize(),
            };
            counts[at] += 1;
        }
        counts[self.codes] > 0
    }
}

/// Sorts keys of 8 or 16 bits in place.
///
/// # Errors
/// [`Error::OutOfMemory`](sweepsort_core::Error::OutOfMemory),
/// [`Error::Threads`](sweepsort_core::Error::Threads); the keys are untouched then.
pub(crate) fn sort<W: Word>(
    keys: &mut [W],
    coder: Coder<W>,
    means: &Means,
    reason: Cow<'static, str>,
) -> Result<Report> {
    means.pool.enter(keys.len() >= PARALLEL_FROM, |crew| {
        let span = Span::whole();
        let memory = means.scratch.take(span.table_bytes(keys.len(), crew))?;
        // SAFETY: the memory is ours, and there is as much.
        let sorted = unsafe { within(keys, coder, span, memory.start(), crew) };
        means.scratch.give(memory);
        // There is no other code.
        let counted = sorted.unwrap_or_default();
        Ok(Report { reason, ..counted })
    })?
}

/// Sorts keys in place whose codes are all in the span; if one is not, nothing is written, and
/// there is no report.
///
/// # Safety
/// There are [`Span::table_bytes`] of memory, which starts on a line and is nobody else's.
pub(crate) unsafe fn within<W: Word>(
    keys: &mut [W],
    coder: Coder<W>,
    span: Span<W>,
    memory: *mut u8,
    crew: Crew<'_>,
) -> Option<Report> {
    let start = Instant::now();
    let n = keys.len();
    let (entries, share) = (span.codes + 1, share(n, crew.threads()));
    // Where each code ends; and behind, each part's counts.
    let ends = memory.cast::<usize>();
    // SAFETY: the caller's promise.
    let counts = Shared(unsafe { ends.add(entries) }.cast::<u32>());
    let outside = AtomicBool::new(false);
    let mut parts: Vec<_> = keys.chunks(share).enumerate().collect();
    crew.for_each(&mut parts, |(part, keys)| {
        let table = counts.at(*part * entries);
        // SAFETY: each part has a table of its own, in the caller's memory.
        let table = unsafe {
            table.write_bytes(0, entries);
            slice::from_raw_parts_mut(table, entries)
        };
        for keys in keys.chunks(STRETCH) {
            if outside.load(Ordering::Relaxed) {
                break;
            }
            if span.count(keys, coder, table) {
                outside.store(true, Ordering::Relaxed);
            }
        }
    });
    if outside.into_inner() {
        return None;
    }
    let parts = parts.len();
    // SAFETY: all parts' tables have been written, and nobody writes them now.
    let tables = unsafe { slice::from_raw_parts(counts.at(0), parts * entries) };
    let tables: Vec<&[u32]> = tables.chunks_exact(entries).collect();
    let mut sum = 0;
    for code in 0..entries {
        sum += tables
            .iter()
            .map(|counts| counts[code] as usize)
            .sum::<usize>();
        // SAFETY: within the caller's memory.
        unsafe { ends.add(code).write(sum) };
    }
    // SAFETY: all of them have been written.
    let ends = unsafe { slice::from_raw_parts(ends, entries) };
    let counted = start.elapsed();

    let mut parts: Vec<_> = keys.chunks_mut(STRETCH).enumerate().collect();
    crew.for_each(&mut parts, |(part, keys)| {
        // Which code the part begins with, and where each ends within the part.
        let offset = *part * STRETCH;
        let mut code = ends.partition_point(|&end| end <= offset);
        let mut at = 0;
        while at < keys.len() {
            let end = (ends[code] - offset).min(keys.len());
            let word = span.least.wrapping_add(W::truncate(code as u128));
            keys[at..end].fill(coder.decode(word));
            at = end;
            code += 1;
        }
    });
    let written = start.elapsed() - counted;
    Some(Report {
        engine: "cpu",
        algorithm: "count",
        keys: n,
        threads: crew.threads(),
        passes_possible: W::BITS / 8,
        passes_run: 1,
        bytes_moved: 2 * size_of_val(keys) as u64,
        workspace_bytes: span.table_bytes(n, crew),
        stages: vec![(Stage::Histogram, counted), (Stage::Scatter, written)],
        ..Report::default()
    })
}

#[cfg(test)]
mod tests {
    use sweepsort_core::{Codec, Kind, Nan, Order};

    use super::*;

    /// What `n` keys would be counted by, of which these are a sample.
    fn span(sample: &[u32], n: usize) -> Option<(u32, usize)> {
        Span::of_sample(sample, n).map(|span| (span.least, span.codes))
    }

    #[test]
    fn spans_have_room_at_both_ends_and_end_with_the_codes() {
        let n = 1 << 20;
        assert_eq!(span(&[1000, 1500, 1999], n), Some((500, 2000)));
        assert_eq!(span(&[3, 9], n), Some((0, 14)));
        assert_eq!(span(&[7], n), Some((6, 3)));
        assert_eq!(
            span(&[u32::MAX - 9, u32::MAX], n),
            Some((u32::MAX - 14, 15))
        );
        // Too many, for all or for so few keys.
        let most = COUNT_MOST_CODES as u32;
        assert_eq!(span(&[0, most], usize::MAX), None);
        assert!(span(&[0, most - 1], usize::MAX).is_some());
        assert_eq!(span(&[0, 1000], 1000 * COUNT_KEYS_A_CODE), None);
        assert!(span(&[0, 1000], 1001 * COUNT_KEYS_A_CODE).is_some());
        assert_eq!(span(&[], n), None);
        assert_eq!(Span::of_sample(&[0, u128::MAX], n), None);
    }

    #[test]
    fn keys_are_counted_or_left_as_they_were() {
        let pool = crate::pool::Pool::new(Some(2));
        for &order in Order::ALL {
            let coder = Codec::for_keys(Kind::Signed, order, Nan::Total).coder::<u64>();
            for n in [2, 1000, STRETCH + 1, 200_000] {
                // Numbers on both sides of zero, the ends among them.
                let number = |i: u64| (i.wrapping_mul(0x9e37_79b9) >> 7 & 1023).wrapping_sub(512);
                let mut keys: Vec<u64> = (2..n as u64).map(number).collect();
                keys.extend([number(0), 511]);
                let mut sorted = keys.clone();
                sorted.sort_unstable_by_key(|&key| coder.encode(key));
                let least = coder.encode(sorted[0]);
                for (first, codes, counts) in [(0, 1024, true), (0, 1023, false), (1, 1024, false)]
                {
                    let span = Span {
                        least: least.wrapping_add(first),
                        codes,
                    };
                    let mut found = keys.clone();
                    let report = pool.enter(true, |crew| {
                        let mut memory = vec![0_usize; span.table_bytes(n, crew).div_ceil(8)];
                        // SAFETY: there is as much memory.
                        unsafe { within(&mut found, coder, span, memory.as_mut_ptr().cast(), crew) }
                    });
                    let name = report.unwrap().map(|report| report.algorithm);
                    let expected = if counts { &sorted } else { &keys };
                    assert_eq!(name, counts.then_some("count"), "{n} {order:?} {span:?}");
                    assert!(found == *expected, "{n} {order:?} {span:?}");
                }
            }
        }
    }
}
