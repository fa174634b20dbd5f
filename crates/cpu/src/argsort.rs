//! Argsort: the index is sorted with the keys' codes, in one word.
//!
//! A word's lowest bits are the key's position, as many as number the keys; those above show a
//! window of its code. So no two words are equal, and their order is the stable one. The first
//! window begins at the highest bit in which codes differ; where codes are wider than a window,
//! runs that tie in it are sorted by the next one, which the positions lead to.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use sweepsort_core::{Coder, Error, IndexMut, Report, Result, Spec, Word};

use crate::columns::Columns;
use crate::hybrid::{Means, Sorting};
use crate::last_step::Entry;
use crate::payload::Nothing;
use crate::pool::Pool;
use crate::sink::Positions;
use crate::source::Numbered;
use crate::tuning::{CHUNK_MIN, PARALLEL_FROM};

/// Whether positions need 64 bits, and words 128.
fn far(n: usize) -> bool {
    n as u64 > 1 << 32
}

/// Bytes of a word.
pub(crate) fn word(n: usize) -> usize {
    if far(n) { 16 } else { 8 }
}

/// Fills `index` with the positions of the keys in sorted order.
///
/// # Errors
/// As [`hybrid::sort`](crate::hybrid::sort); the index is unspecified then.
pub(crate) fn sort<K: Word>(
    keys: &[K],
    index: IndexMut<'_>,
    spec: &Spec,
    means: &Means,
    reason: Cow<'static, str>,
) -> Result<Report> {
    match index {
        IndexMut::U32(_) if far(keys.len()) => Err(Error::TooManyKeys {
            keys: keys.len(),
            instead: "an index of 64 bits",
        }),
        IndexMut::U32(index) => sort_entries::<K, u64, u32>(keys, index, spec, means, reason),
        IndexMut::U64(index) if far(keys.len()) => {
            sort_entries::<K, u128, u64>(keys, index, spec, means, reason)
        }
        IndexMut::U64(index) => sort_entries::<K, u64, u64>(keys, index, spec, means, reason),
    }
}

fn sort_entries<K: Word, W: Word, E: Entry>(
    keys: &[K],
    index: &mut [E],
    spec: &Spec,
    means: &Means,
    reason: Cow<'static, str>,
) -> Result<Report> {
    let coder: Coder<K> = spec.codec.coder();
    let bits = match spec.bits.is_empty() {
        true => spec.bits.clone(),
        false => varying(keys, coder, spec.bits.clone(), &means.pool)?,
    };
    let source = Numbered::new(keys, coder, bits.clone());
    let sorting = Sorting {
        source,
        sink: Positions::new(source, index),
        n: keys.len(),
        bits: if bits.is_empty() {
            0..0
        } else {
            source.positions().end..W::BITS
        },
        whole: true,
        strict: true,
        counts: None,
        data: None::<Columns<W, Nothing>>,
        payload: Nothing,
        reason,
    };
    // SAFETY: keys and index are borrowed for this call, and of one length.
    let report = unsafe { sorting.run(means) }?;
    Ok(Report {
        passes_possible: spec.bits.len().div_ceil(8) as u32,
        constant_bits: spec.bits.end - bits.end,
        ..report
    })
}

/// The bits without those at the top that are the same in all codes. Looks at no more keys than it
/// takes to find the top one vary.
fn varying<K: Word>(
    keys: &[K],
    coder: Coder<K>,
    bits: Range<u32>,
    pool: &Pool,
) -> Result<Range<u32>> {
    let mask = K::mask(&bits);
    let end = AtomicU32::new(bits.start);
    let Some(&first) = keys.first() else {
        return Ok(bits);
    };
    let reference = coder.encode(first);
    let look = |keys: &[K]| {
        for block in keys.chunks(1 << 12) {
            if end.load(Ordering::Relaxed) == bits.end {
                return;
            }
            let varying = block
                .iter()
                .fold(K::ZERO, |all, &key| all | (coder.encode(key) ^ reference));
            let top = K::BITS - (varying & mask).leading_zeros();
            end.fetch_max(top, Ordering::Relaxed);
        }
    };
    let (head, rest) = keys.split_at(keys.len().min(CHUNK_MIN));
    look(head);
    if end.load(Ordering::Relaxed) < bits.end {
        pool.enter(keys.len() >= PARALLEL_FROM, |crew| {
            crew.for_ranges(rest.len(), |range| look(&rest[range]));
        })?;
    }
    Ok(match end.into_inner() {
        end if end > bits.start => bits.start..end,
        _ => bits,
    })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use sweepsort_core::Codec;

    use super::*;
    use crate::instructions::Instructions;
    use crate::scratch::Scratch;

    /// Words of 128 bits, which only more than 2^32 keys would need, sort as those of 64 do; also
    /// where codes have more bits than a window, and tie in one or in all.
    #[test]
    fn words_of_both_widths() {
        fn check<K: Word>(keys: &[K]) {
            let mut expected: Vec<u64> = (0..keys.len() as u64).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            let spec = Spec {
                codec: Codec::UNSIGNED,
                bits: 0..K::BITS,
                stable: true,
                algorithm: Cow::Borrowed("auto"),
            };
            for instructions in [None, Some(Instructions::Portable)] {
                let means = Means {
                    pool: Pool::new(Some(2)),
                    scratch: Scratch::new(true),
                    instructions,
                };
                let mut index = vec![0u64; keys.len()];
                sort_entries::<K, u64, u64>(keys, &mut index, &spec, &means, "".into()).unwrap();
                assert!(index == expected, "{} keys of {}", keys.len(), K::BITS);
                index.fill(0);
                sort_entries::<K, u128, u64>(keys, &mut index, &spec, &means, "".into()).unwrap();
                assert!(index == expected, "{} keys of {}", keys.len(), K::BITS);
            }
        }
        for n in [1, 2, 30, 100, 5000, 300_000] {
            let random = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let words: Vec<u64> = (0..n).map(random).collect();
            check(&words);
            check(&words.iter().map(|&word| word as u16).collect::<Vec<_>>());
            // Few values above, many below; then the other way round.
            check(
                &words
                    .iter()
                    .map(|&word| (word >> 60 << 60) | (word >> 33))
                    .collect::<Vec<_>>(),
            );
            check(
                &words
                    .iter()
                    .map(|&word| (word >> 40 << 40) | (word % 3))
                    .collect::<Vec<_>>(),
            );
            let wide =
                |&word: &u64| (u128::from(word % 7) << 100) | (u128::from(word % 5) << 64) | 9;
            check(&words.iter().map(wide).collect::<Vec<_>>());
            check(
                &words
                    .iter()
                    .map(|&word| u128::from(word))
                    .collect::<Vec<_>>(),
            );
        }
    }
}
