//! Keys alone that are two runs, one after the other: merged.
//!
//! ```text
//! heads    a few keys at some places: does each head rise or fall, with at most one turn between them?
//! find     the runs of each chunk, by a worker; then those of the whole
//! turn     a run that falls, round
//! merge    stretches of the output, by vectors; a bisection tells where they begin in either run   data → room
//! copy     room → data
//! ```

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use sweepsort_core::{Report, Result, Word};

use crate::columns::column_bytes;
use crate::hybrid::{Means, Sorting};
use crate::instructions::Instructions;
use crate::job;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::order::fails;
use crate::payload::Payload;
use crate::pool::{Crew, Shared};
use crate::sink::{Sink, reverse};
use crate::source::{Ranks, Source};

/// Keys that ascend, or descend.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    range: Range<usize>,
    /// Which of the two; `None` where all are equal.
    falls: Option<bool>,
}

impl<W: Word, P: Payload, S: Source<W, P>, T: Sink<W, P>> Sorting<W, P, S, T> {
    /// Sorts keys alone that are two runs. Returns whether they are; else nothing has changed.
    ///
    /// # Errors
    /// [`OutOfMemory`](sweepsort_core::Error::OutOfMemory); the keys are untouched then.
    ///
    /// # Safety
    /// Source, sink and data have `n` records, and nobody else uses them now.
    pub(crate) unsafe fn in_two_runs(
        &self,
        report: &mut Report,
        crew: Crew<'_>,
        means: &Means,
    ) -> Result<bool> {
        if const { !Self::MERGES } {
            return Ok(false);
        }
        let (n, instructions) = (self.n, means.instructions(self.whole));
        let Some(data) = self.data.filter(|_| self.merges(means)) else {
            return Ok(false);
        };
        let ranks = self.source.ranks(W::MAX);
        // SAFETY: the caller's promise.
        let Some([first, second]) = (unsafe { two_runs(ranks, n, crew, instructions) }) else {
            return Ok(false);
        };
        let bytes = column_bytes(n, size_of::<W>());
        let block = means.scratch.take(bytes)?;
        // SAFETY: the block is for so many keys, and the data is the caller's. Workers have parts
        // of their own.
        unsafe {
            for run in [&first, &second] {
                if run.falls == Some(true) {
                    reverse(data.from(run.range.start), run.range.len(), crew);
                }
            }
            let (data, room) = (Shared(data.keys_start()), Shared(block.start().cast::<W>()));
            let (a, b) = std::slice::from_raw_parts(data.at(0), n).split_at(first.range.end);
            crew.for_each(&mut job::stretches(n, crew), |part| {
                let [start, end] = [part.start, part.end].map(|place| split(a, b, place));
                let merge = Merge {
                    a: &a[start..end],
                    b: &b[part.start - start..part.end - end],
                    to: room.at(part.start),
                };
                let merged = by_vectors::<W, _>(instructions, merge);
                assert!(merged.is_ok(), "records that merge have vectors");
            });
            crew.for_each(&mut job::stretches(n, crew), |part| {
                let (from, to) = (room.at(part.start), data.at(part.start));
                from.copy_to_nonoverlapping(to, part.len());
                let keys = std::slice::from_raw_parts_mut(to, part.len());
                self.sink
                    .last_step(part.start)
                    .take(instructions, keys, None);
            });
        }
        means.scratch.give(block);
        report.workspace_bytes = bytes;
        report.bytes_moved = 5 * (n * size_of::<W>()) as u64;
        report.passes_run = 2;
        Ok(true)
    }
}

/// The two runs that `n` keys are, if they are.
///
/// # Safety
/// They are there, more than [`HEADS`] heads of them, and nobody writes them now; the machine has the
/// instructions.
unsafe fn two_runs<R: Ranks>(
    ranks: R,
    n: usize,
    crew: Crew<'_>,
    instructions: Instructions,
) -> Option<[Run; 2]> {
    // SAFETY: the caller's promise.
    if !unsafe { heads_turn_once(ranks, n) } {
        return None;
    }
    let stop = AtomicBool::new(false);
    let mut chunks: Vec<_> = job::stretches(n, crew)
        .into_iter()
        .map(|range| (range, Vec::new()))
        .collect();
    crew.for_each(&mut chunks, |(range, runs)| {
        if !stop.load(Ordering::Relaxed) {
            let find = Find {
                ranks,
                range: range.clone(),
            };
            // SAFETY: the caller's promise. The vectors' words are of no matter: the search has none.
            *runs = unsafe { by_vectors::<u64, _>(instructions, find) }.unwrap_or_default();
            if runs.is_empty() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    let mut all: Vec<Run> = Vec::new();
    for (_, runs) in chunks {
        if runs.is_empty() {
            return None;
        }
        for run in runs {
            match all.last_mut() {
                // SAFETY: both are of the keys.
                Some(last) if let Some(falls) = (unsafe { goes_on(ranks, last, &run) }) => {
                    last.range.end = run.range.end;
                    last.falls = falls;
                }
                _ => all.push(run),
            }
            if all.len() > 2 {
                return None;
            }
        }
    }
    all.try_into().ok()
}

/// Places where a few keys are looked at, and how many.
const HEADS: usize = 8;
const HEAD: usize = 32;

/// Whether a few keys at some places rise or fall, each place by itself, with one turn between them at most.
unsafe fn heads_turn_once<R: Ranks>(ranks: R, n: usize) -> bool {
    let (mut last, mut turns) = (None, 0);
    for head in 0..HEADS {
        // In the middles of even stretches: a turn is often in the middle of the whole.
        let start = n / HEADS * head + n / (2 * HEADS);
        let (mut rises, mut falls) = (false, false);
        for i in start + 1..start + HEAD {
            // SAFETY: there are places for all heads.
            let (before, here) = unsafe { (ranks.rank(i - 1), ranks.rank(i)) };
            rises |= before < here;
            falls |= before > here;
        }
        if rises && falls {
            return false;
        }
        if rises || falls {
            turns += usize::from(last.is_some_and(|last| last != falls));
            last = Some(falls);
        }
    }
    turns <= 1
}

/// How the run falls that a run and another one behind it are, if they are one.
unsafe fn goes_on<R: Ranks>(ranks: R, last: &Run, next: &Run) -> Option<Option<bool>> {
    // SAFETY: the caller's runs have keys.
    let (end, start) = unsafe { (ranks.rank(last.range.end - 1), ranks.rank(next.range.start)) };
    let between = (end != start).then_some(end > start);
    let all = [last.falls, between, next.falls];
    let falls = last.falls.or(between).or(next.falls);
    let agree = all.into_iter().flatten().all(|one| Some(one) == falls);
    agree.then_some(falls)
}

/// The most parts of two runs in a chunk: each, and two keys alone where it begins or ends.
const PIECES: usize = 6;

/// The search for the runs of a chunk.
struct Find<R> {
    ranks: R,
    range: Range<usize>,
}

impl<R: Ranks> Vectored for Find<R> {
    /// Some runs; none if there are many.
    type Output = Vec<Run>;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut at = self.range.start;
        while at < self.range.end {
            // SAFETY: the caller's promise.
            let (up, down) = unsafe { (self.end_of::<false>(at), self.end_of::<true>(at)) };
            if runs.len() == PIECES {
                return Vec::new();
            }
            // Two keys are a run either way: the first may end the chunk before, and the second begin a run.
            let (end, falls) = match up.max(down) {
                end if end - at == 2 => (at + 1, None),
                end => (end, (up != down).then_some(down > up)),
            };
            runs.push(Run {
                range: at..end,
                falls,
            });
            at = end;
        }
        runs
    }
}

impl<R: Ranks> Find<R> {
    /// Where the run ends that begins at a place, ascending or descending.
    #[inline(always)]
    unsafe fn end_of<const FALLS: bool>(&self, start: usize) -> usize {
        // SAFETY: the caller's promise.
        let holds = |i: usize| unsafe {
            let (before, here) = (self.ranks.rank(i - 1), self.ranks.rank(i));
            if FALLS {
                before >= here
            } else {
                before <= here
            }
        };
        fails(start + 1..self.range.end, holds)
            .and_then(|mut block| block.find(|&i| !holds(i)))
            .unwrap_or(self.range.end)
    }
}

/// Of the first `place` keys of two ascending runs in order, how many are of the first run.
fn split<W: Word>(a: &[W], b: &[W], place: usize) -> usize {
    let (mut low, mut high) = (place.saturating_sub(b.len()), place.min(a.len()));
    while low < high {
        let middle = low + (high - low) / 2;
        if a[middle] <= b[place - middle - 1] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Two ascending runs to be merged.
struct Merge<'a, W> {
    a: &'a [W],
    b: &'a [W],
    /// Room for all.
    to: *mut W,
}

impl<W: Word> Vectored for Merge<'_, W> {
    type Output = ();

    /// A vector carries the greatest keys so far. The next one comes from the run whose next key is the
    /// lesser; of both, the lesser half is written.
    ///
    /// # Safety
    /// The machine has the lanes' instructions. There is room for all, which nobody else uses now.
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let n = self.a.len() + self.b.len();
        let (mut a, mut b): (*const L::Word, *const L::Word) =
            (self.a.as_ptr().cast(), self.b.as_ptr().cast());
        let (mut a_left, mut b_left) = (self.a.len(), self.b.len());
        let to: *mut L::Word = self.to.cast();
        let mut at = 0;
        // SAFETY: a run is read only where it has keys left, and no more than `n` keys are written.
        unsafe {
            // What is missing of a vector at a run's end are ones, which no key is above.
            let mut carry = L::splat(L::Word::MAX);
            let mut begun = false;
            while a_left > 0 || b_left > 0 {
                let first = b_left == 0 || a_left > 0 && *a <= *b;
                let (run, left) = if first {
                    (&mut a, &mut a_left)
                } else {
                    (&mut b, &mut b_left)
                };
                let next = if *left >= L::LANES {
                    L::load(*run)
                } else {
                    L::load_some(*run, *left, L::splat(L::Word::MAX))
                };
                let taken = L::LANES.min(*left);
                *run = run.add(taken);
                *left -= taken;
                let (lesser, greater) = halves::<L>(carry, next);
                if begun {
                    put::<L>(to.add(at), n - at, lesser);
                    at += L::LANES;
                    carry = greater;
                } else {
                    (begun, carry) = (true, lesser);
                }
                // By far the most steps: both runs have whole vectors left.
                while a_left >= L::LANES && b_left >= L::LANES {
                    let first = *a <= *b;
                    let next = L::load(if first { a } else { b });
                    let step = if first { L::LANES } else { 0 };
                    a = a.add(step);
                    a_left -= step;
                    b = b.add(L::LANES - step);
                    b_left -= L::LANES - step;
                    let (lesser, greater) = halves::<L>(carry, next);
                    L::store(to.add(at), lesser);
                    at += L::LANES;
                    carry = greater;
                }
            }
            if at < n {
                put::<L>(to.add(at), n - at, carry);
            }
        }
    }
}

/// Writes the first lanes, up to `room` of them.
#[inline(always)]
unsafe fn put<L: Lanes>(to: *mut L::Word, room: usize, lanes: L::Vector) {
    // SAFETY: the caller has the room.
    unsafe {
        if room >= L::LANES {
            L::store(to, lanes);
        } else {
            let mut all = MaybeUninit::<[L::Word; 16]>::uninit();
            let all: *mut L::Word = all.as_mut_ptr().cast();
            L::store(all, lanes);
            to.copy_from_nonoverlapping(all, room);
        }
    }
}

/// Of two vectors in order the lesser half and the greater half, in order.
#[inline(always)]
unsafe fn halves<L: Lanes>(a: L::Vector, b: L::Vector) -> (L::Vector, L::Vector) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let b = L::turned(b);
        (
            sorted_bitonic::<L>(L::min(a, b)),
            sorted_bitonic::<L>(L::max(a, b)),
        )
    }
}

/// A bitonic vector in order.
#[inline(always)]
unsafe fn sorted_bitonic<L: Lanes>(mut lanes: L::Vector) -> L::Vector {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        if L::LANES > 8 {
            lanes = L::cross::<8>(lanes);
        }
        if L::LANES > 4 {
            lanes = L::cross::<4>(lanes);
        }
        lanes = L::cross::<2>(lanes);
        L::cross::<1>(lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Columns;
    use crate::payload::Nothing;
    use crate::reading::Plain;
    use crate::source::Stored;

    /// Runs of all lengths, with many and with few values, the greatest among them.
    #[test]
    fn merged_by_any_vectors() {
        fn width<W: Word>(instructions: Instructions) {
            let lengths = (0..40).chain([63, 64, 65, 200]);
            for (a, b) in lengths
                .clone()
                .flat_map(|a| lengths.clone().map(move |b| (a, b)))
            {
                for values in [3, 1 << 40] {
                    let run = |n: usize, seed: u128| {
                        let key = |i: usize| {
                            let random = (i as u128 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                            !W::truncate((random >> 16) % values)
                        };
                        let mut run: Vec<W> = (0..n).map(key).collect();
                        run.sort();
                        run
                    };
                    let (a, b) = (run(a, 1), run(b, 1 << 20));
                    let mut expected = [&a[..], &b].concat();
                    expected.sort();
                    let mut found = vec![W::ZERO; expected.len()];
                    let to = found.as_mut_ptr();
                    // SAFETY: the machine has the instructions; there is room for all.
                    let done =
                        unsafe { by_vectors::<W, _>(instructions, Merge { a: &a, b: &b, to }) };
                    assert!(done.is_ok() && found == expected, "{a:?} {b:?}: {found:?}");
                    for place in 0..=expected.len() {
                        let of_a = split(&a, &b, place);
                        let mut first = [&a[..of_a], &b[..place - of_a]].concat();
                        first.sort();
                        assert_eq!(first, expected[..place], "{a:?} {b:?} at {place}");
                    }
                }
            }
        }
        for instructions in [Instructions::Avx2, Instructions::Avx512] {
            if instructions <= Instructions::detect() {
                width::<u32>(instructions);
                width::<u64>(instructions);
            }
        }
    }

    /// Two runs are found wherever one ends, and nothing else is taken for two.
    #[test]
    fn two_runs_are_found() {
        let n = 4096;
        let up = |range: Range<usize>| range.map(|i| i as u32 / 3 + 7);
        let down = |range: Range<usize>| range.rev().map(|i| i as u32 / 3 + 7);
        for end in [1, 2, 100, 511, 512, 513, 2048, 3000, 4094, 4095] {
            let (first, second) = (0..end, 0..n - end);
            let mut inputs = [
                up(first.clone())
                    .chain(up(second.clone()))
                    .collect::<Vec<_>>(),
                up(first.clone()).chain(down(second.clone())).collect(),
                down(first.clone()).chain(up(second.clone())).collect(),
                down(first).chain(down(second)).collect(),
            ];
            for (number, keys) in inputs.iter_mut().enumerate() {
                let columns = Columns::new(keys.as_mut_ptr(), std::ptr::dangling_mut(), Nothing);
                let reading = Plain;
                let ranks = Source::ranks(Stored { columns, reading }, u32::MAX);
                let best = Instructions::detect();
                // SAFETY: the keys are there.
                let found = unsafe { two_runs(ranks, n, Crew::alone(), best) };
                let Some([first, second]) = found else {
                    // One run; or a head has the turn.
                    let one = keys.is_sorted() || keys.is_sorted_by(|a, b| a >= b);
                    let in_head = (1..HEAD).contains(&((end + n - n / (2 * HEADS)) % (n / HEADS)));
                    let none = best == Instructions::Portable;
                    assert!(none || one || in_head, "{number}, {end}");
                    continue;
                };
                assert_eq!(
                    (first.range.start, first.range.end, second.range.end),
                    (0, second.range.start, n)
                );
                for run in [first, second] {
                    let keys = &keys[run.range.clone()];
                    let is = match run.falls {
                        Some(true) => keys.is_sorted_by(|a, b| a >= b),
                        _ => keys.is_sorted(),
                    };
                    assert!(is, "{number}, {end}: {run:?}");
                }
            }
        }
    }
}
