//! Order that the input has already, and what follows from it.
//!
//! ```text
//! heads   a few keys at some places: do they rise here and fall there? then sort
//! look    each chunk, by a worker: does it rise, or rise but for few, or fall?
//! join    chunk by chunk: does one go on where the other ends?
//! then    one run: nothing, or all turned round          few records out of it: mend
//!         two runs of keys alone: merge                  else: sort
//! ```
//!
//! The look reads ranks and writes nothing. Where keys rise it goes on by whole blocks; where one falls,
//! it takes out as few records around that place as let the rest rise.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sweepsort_core::{Presorted, Report, Result, Stage, Word};

use crate::columns::{column_bytes, columns_at};
use crate::hybrid::{Done, Means, Sorting};
use crate::instructions::Instructions;
use crate::job;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::mend::Moves;
use crate::payload::Payload;
use crate::pool::Crew;
use crate::sink::Sink;
use crate::source::{Ranks, Source};
use crate::tuning::{ORDER_FROM, OUT_ALLOWED, OUT_ONE_IN, OUT_TOGETHER};

/// What order an input has.
#[derive(Debug, PartialEq)]
enum Order {
    /// It is one run.
    Run(Presorted),
    /// It ascends but for the records at these positions, which ascend.
    But(Vec<usize>),
}

impl<W: Word, P: Payload, S: Source<W, P>, T: Sink<W, P>> Sorting<W, P, S, T> {
    /// Looks for order, and if there is some, sorts by what it found. Returns whether it did; else
    /// nothing has changed.
    ///
    /// # Errors
    /// [`OutOfMemory`](sweepsort_core::Error::OutOfMemory); the records are untouched then.
    ///
    /// # Safety
    /// Source, sink and data have `n` records, and nobody else uses them now.
    #[inline(always)]
    pub(crate) unsafe fn in_order(
        &self,
        report: &mut Report,
        crew: Crew<'_>,
        means: &Means,
    ) -> Result<bool> {
        // SAFETY: the caller's promise.
        unsafe {
            if self.n >= ORDER_FROM {
                return self.in_some_order(report, crew, means);
            }
            let run = self.single_run();
            if let Some(run) = run {
                self.keep(run, crew).note(report);
            }
            Ok(run.is_some())
        }
    }

    /// The run that all records are, if they are one; found by the caller alone.
    ///
    /// # Safety
    /// There are `n` records, and nobody changes them now.
    pub(crate) unsafe fn single_run(&self) -> Option<Presorted> {
        let ranks = self.source.ranks(W::mask(&self.bits));
        // SAFETY: the caller's promise.
        unsafe { run_of(ranks, 0..self.n, self.strict) }
    }

    /// [`in_order`](Self::in_order), for an input that is worth a closer look.
    #[inline(never)]
    unsafe fn in_some_order(
        &self,
        report: &mut Report,
        crew: Crew<'_>,
        means: &Means,
    ) -> Result<bool> {
        let clock = Instant::now();
        let ranks = self.source.ranks(W::mask(&self.bits));
        // SAFETY: the caller's promise.
        unsafe {
            let instructions = means.instructions(true);
            let order = order_of(ranks, self.n, self.strict, crew, instructions);
            let looked = clock.elapsed();
            match order {
                None => {
                    if !self.in_two_runs(report, crew, means)? {
                        return Ok(false);
                    }
                }
                Some(Order::Run(run)) => self.keep(run, crew).note(report),
                Some(Order::But(out)) => {
                    let moves = Moves::new(ranks, self.n, out)?;
                    self.mend(&moves, report, crew, means)?;
                }
            }
            report.stages.push((Stage::Histogram, looked));
            if report.passes_run > 0 {
                let moved = clock.elapsed().saturating_sub(looked);
                report.stages.push((Stage::Scatter, moved));
            }
        }
        Ok(true)
    }

    /// The input is one run.
    pub(crate) unsafe fn keep(&self, run: Presorted, crew: Crew<'_>) -> Done {
        // SAFETY: the caller found it so, and nobody else uses the records.
        unsafe { self.sink.presorted(self.n, run, crew) };
        let turned = run == Presorted::Reversed;
        let moved = if turned { 2 * self.record_bytes() } else { 0 };
        Done {
            presorted: Some(run),
            passes: turned.into(),
            bytes_moved: (self.n * (size_of::<W>() + moved)) as u64,
        }
    }

    /// The input is in order but for what these moves put there.
    unsafe fn mend(
        &self,
        moves: &Moves,
        report: &mut Report,
        crew: Crew<'_>,
        means: &Means,
    ) -> Result<()> {
        report.workspace_bytes = moves.bytes();
        let moved = match self.data {
            Some(data) => {
                let bytes = column_bytes(moves.placed(), self.record_bytes());
                let block = means.scratch.take(bytes)?;
                // SAFETY: the block is for so many records, and the data is the caller's.
                unsafe {
                    let room = columns_at(block.start(), moves.placed(), self.payload);
                    moves.move_records(data, room, crew);
                }
                means.scratch.give(block);
                report.workspace_bytes += bytes;
                moves.moved()
            }
            None => {
                // SAFETY: the moves have each place once, and the index is the caller's.
                unsafe { moves.positions(self.n, crew, |to, from| self.sink.place(to, from)) };
                self.n
            }
        };
        report.bytes_moved = (self.n * size_of::<W>() + 2 * moved * self.record_bytes()) as u64;
        report.passes_run = 1;
        Ok(())
    }
}

/// The order of records, if they are one run. It looks at no more of them than it takes to tell.
///
/// `strict`: whether equal keys forbid turning records round, because something tells them apart.
///
/// # Safety
/// The records of the range are there, and nobody writes them now.
#[inline(always)]
unsafe fn run_of<R: Ranks>(ranks: R, range: Range<usize>, strict: bool) -> Option<Presorted> {
    if range.is_empty() {
        return Some(Presorted::Equal);
    }
    // SAFETY: the caller's promise; the range is not empty.
    unsafe {
        let (first, last) = (ranks.rank(range.start), ranks.rank(range.end - 1));
        let next = range.start + 1..range.end;
        if first <= last {
            let sorted = fails(next, |i| ranks.rank(i - 1) <= ranks.rank(i)).is_none();
            return sorted.then_some(match first == last {
                true => Presorted::Equal,
                false => Presorted::Sorted,
            });
        }
        let reversed = match strict {
            true => fails(next, |i| ranks.rank(i - 1) > ranks.rank(i)).is_none(),
            false => fails(next, |i| ranks.rank(i - 1) >= ranks.rank(i)).is_none(),
        };
        reversed.then_some(Presorted::Reversed)
    }
}

/// Where in a range the first is that fails a test: a block of few. None, if all pass. Tested in
/// blocks, without a branch for each.
#[inline(always)]
pub(crate) fn fails(range: Range<usize>, test: impl Fn(usize) -> bool) -> Option<Range<usize>> {
    const BLOCK: usize = 128;
    let fails = |block: &Range<usize>| !block.clone().fold(true, |all, i| all & test(i));
    // Most input shows within a few keys that it has no order.
    let head = range.start..range.end.min(range.start + 4);
    if fails(&head) {
        return Some(head);
    }
    let mut at = head.end;
    while at < range.end {
        let block = at..range.end.min(at + BLOCK);
        if fails(&block) {
            return Some(block);
        }
        at = block.end;
    }
    None
}

/// What order `n` records have, [`ORDER_FROM`] or more.
///
/// # Safety
/// They are there, and nobody writes them now; the machine has the instructions.
unsafe fn order_of<R: Ranks>(
    ranks: R,
    n: usize,
    strict: bool,
    crew: Crew<'_>,
    instructions: Instructions,
) -> Option<Order> {
    // SAFETY: the caller's promise.
    if unsafe { rises_and_falls(ranks, n) } {
        return None;
    }
    let stop = AtomicBool::new(false);
    let mut chunks: Vec<_> = job::stretches(n, crew)
        .into_iter()
        .map(|range| (range, None))
        .collect();
    crew.for_each(&mut chunks, |(range, seen)| {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let look = Look {
            ranks,
            range: range.clone(),
            strict,
            stop: &stop,
        };
        // SAFETY: the caller's promise. The vectors' words are of no matter: the look has none.
        *seen = unsafe { by_vectors::<u64, _>(instructions, look).unwrap_or_else(|it| it.see()) };
        if seen.is_none() {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let seen: Option<Vec<Seen>> = chunks.into_iter().map(|(_, seen)| seen).collect();
    // SAFETY: the caller's promise.
    let order = unsafe { join(ranks, seen?, strict)? };
    match &order {
        Order::But(out) if out.len() > n / OUT_ONE_IN => None,
        _ => Some(order),
    }
}

/// Whether keys both rise and fall, and often, as a few of them at a few places show.
///
/// # Safety
/// There are [`ORDER_FROM`] records or more, and nobody writes them now.
unsafe fn rises_and_falls<R: Ranks>(ranks: R, n: usize) -> bool {
    const HEADS: usize = 8;
    const HEAD: usize = 32;
    const _: () = assert!(ORDER_FROM >= HEADS * HEAD);
    let (mut up, mut down) = (false, false);
    (0..HEADS).any(|head| {
        let start = n / HEADS * head;
        let (mut rises, mut falls) = (0, 0);
        for i in start + 1..start + HEAD {
            // SAFETY: there are places for all heads.
            let (before, here) = unsafe { (ranks.rank(i - 1), ranks.rank(i)) };
            rises += usize::from(before < here);
            falls += usize::from(before > here);
        }
        up |= rises > OUT_ALLOWED;
        down |= falls > OUT_ALLOWED;
        up && down
    })
}

/// What a look saw of a chunk.
struct Seen {
    range: Range<usize>,
    /// What run it is, without those out of place; they are out of one that ascends.
    run: Presorted,
    /// The positions of records out of place, ascending.
    out: Vec<usize>,
}

/// A look at a chunk.
struct Look<'a, R> {
    ranks: R,
    range: Range<usize>,
    strict: bool,
    /// Whether some chunk has no order, and so the whole has none.
    stop: &'a AtomicBool,
}

impl<R: Ranks> Vectored for Look<'_, R> {
    type Output = Option<Seen>;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Option<Seen> {
        // SAFETY: the caller's promise.
        unsafe { self.see() }
    }
}

impl<R: Ranks> Look<'_, R> {
    /// Looks.
    ///
    /// # Safety
    /// The records of the range are there, and nobody writes them now.
    #[inline(always)]
    unsafe fn see(self) -> Option<Seen> {
        let (ranks, Range { start, end }) = (self.ranks, self.range.clone());
        let mut out = Vec::new();
        // SAFETY: the caller's promise; chunks have records.
        let run = unsafe {
            let (first, last) = (ranks.rank(start), ranks.rank(end - 1));
            let fallen = match first > last {
                true => run_of(ranks, start..end, self.strict),
                false => None,
            };
            if fallen.is_none() {
                self.take_all_out(&mut out)?;
            }
            fallen.unwrap_or(match first == last && out.is_empty() {
                true => Presorted::Equal,
                false => Presorted::Sorted,
            })
        };
        Some(Seen {
            range: self.range,
            run,
            out,
        })
    }

    /// Takes out the records without which the chunk ascends; `None` if they are not few.
    #[inline(always)]
    unsafe fn take_all_out(&self, out: &mut Vec<usize>) -> Option<()> {
        let (ranks, Range { start, end }) = (self.ranks, self.range.clone());
        let mut at = start;
        // SAFETY: all positions are within the range.
        unsafe {
            let rises = |i| ranks.rank(i - 1) <= ranks.rank(i);
            while let Some(mut block) = fails(at + 1..end, rises) {
                let falls = block.find(|&i| !rises(i))?;
                at = self.take_out(falls, out)?;
                if at == end {
                    break;
                }
            }
        }
        Some(())
    }

    /// Takes out as few records around `falls`, which is below the one before it, as let the rest
    /// ascend. Returns from where on the rest is to be looked at; `None` if these were too many.
    #[cold]
    unsafe fn take_out(&self, falls: usize, out: &mut Vec<usize>) -> Option<usize> {
        let (ranks, Range { start, end }) = (self.ranks, self.range.clone());
        let most = (OUT_ALLOWED + (falls - start) / OUT_ONE_IN).checked_sub(out.len())?;
        let before = Kept::before(falls, start, out)?;
        let after = falls..end.min(falls + OUT_TOGETHER + 1);
        // SAFETY: all positions are within the range.
        let (high, low) = unsafe {
            fit(ranks, &before, after).or_else(|| {
                // Others may have been put in between, of any number.
                let last = ranks.rank(falls - 1);
                let reach = end.min(falls + most + 1);
                let low = (falls..reach).position(|i| ranks.rank(i) >= last);
                low.or((reach == end).then_some(end - falls))
                    .map(|low| (0, low))
            })?
        };
        if high + low > most || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        out.try_reserve(high + low).ok()?;
        before.take(high, out);
        out.extend(falls..falls + low);
        Some(falls + low)
    }
}

/// The last records before some position that are not out of place, last first.
struct Kept {
    positions: [usize; OUT_TOGETHER + 1],
    len: usize,
    /// Those out of place between them, from this one on.
    out: usize,
}

impl Kept {
    /// Those before `end`, and not before `start`, nor in `out`. `None` if so many are out just there
    /// that these would be far away.
    fn before(end: usize, start: usize, out: &[usize]) -> Option<Self> {
        const FAR: usize = 8 * OUT_TOGETHER;
        let mut kept = Kept {
            positions: [0; _],
            len: 0,
            out: out.len(),
        };
        for i in (start..end).rev() {
            if kept.len == kept.positions.len() {
                break;
            } else if end - i > FAR {
                return None;
            } else if kept.out > 0 && out[kept.out - 1] == i {
                kept.out -= 1;
            } else {
                kept.positions[kept.len] = i;
                kept.len += 1;
            }
        }
        Some(kept)
    }

    fn as_slice(&self) -> &[usize] {
        &self.positions[..self.len]
    }

    /// Adds the first `n` to those out of place.
    fn take(&self, n: usize, out: &mut Vec<usize>) {
        out.extend_from_slice(&self.positions[..n]);
        out[self.out..].sort_unstable();
    }
}

/// How many of those before a place, last first, and of those after it must go, so that the rest
/// ascends: as few as there can be, if that is at most [`OUT_TOGETHER`].
unsafe fn fit<R: Ranks>(
    ranks: R,
    before: &Kept,
    after: impl Iterator<Item = usize>,
) -> Option<(usize, usize)> {
    // SAFETY: the caller has records at these positions.
    let rank = |i| unsafe { ranks.rank(i) };
    let before = before.as_slice();
    let mut ranks_after = [R::Rank::ZERO; OUT_TOGETHER + 1];
    let mut n = 0;
    for (slot, i) in ranks_after.iter_mut().zip(after) {
        *slot = rank(i);
        n += 1;
    }
    let after = &ranks_after[..n];
    for all in 0..=OUT_TOGETHER {
        // Where all on one side are gone, nothing is left to disagree; but beyond may lie more that does.
        for at_ends in [false, true] {
            for high in 0..=all.min(before.len()) {
                let low = all - high;
                let fits = match (before.get(high), after.get(low)) {
                    (Some(&b), Some(&a)) => !at_ends && rank(b) <= a,
                    _ => at_ends && low <= after.len(),
                };
                if fits {
                    return Some((high, low));
                }
            }
        }
    }
    None
}

/// The order of the whole from that of its chunks.
///
/// # Safety
/// As [`order_of`].
unsafe fn join<R: Ranks>(ranks: R, chunks: Vec<Seen>, strict: bool) -> Option<Order> {
    // SAFETY: the caller's promise.
    unsafe {
        match join_runs(ranks, &chunks, strict) {
            Some(run) => Some(Order::Run(run)),
            None => join_out(ranks, chunks).map(Order::But),
        }
    }
}

/// The run that the whole is, if it is one.
unsafe fn join_runs<R: Ranks>(ranks: R, chunks: &[Seen], strict: bool) -> Option<Presorted> {
    use Presorted::{Equal, Reversed, Sorted};
    // SAFETY: chunks have records, and the caller's promise.
    let rank = |i| unsafe { ranks.rank(i) };
    let seams = || chunks[1..].iter().map(|chunk| chunk.range.start);
    let one_by_one = |chunk: &Seen| chunk.run != Equal || chunk.range.len() == 1;
    let end = chunks.last()?.range.end;
    if chunks.iter().any(|chunk| !chunk.out.is_empty()) {
        None
    } else if chunks.iter().all(|chunk| chunk.run != Reversed)
        && seams().all(|at| rank(at - 1) <= rank(at))
    {
        Some(match rank(0) == rank(end - 1) {
            true => Equal,
            false => Sorted,
        })
    } else if chunks.iter().all(|chunk| chunk.run != Sorted)
        && seams().all(|at| rank(at - 1) > rank(at) || !strict && rank(at - 1) == rank(at))
        // Equal records are no strict descent.
        && (!strict || chunks.iter().all(one_by_one))
    {
        Some(Reversed)
    } else {
        None
    }
}

/// The records out of place in the whole, if without them it ascends; those at the seams of chunks
/// included.
unsafe fn join_out<R: Ranks>(ranks: R, chunks: Vec<Seen>) -> Option<Vec<usize>> {
    let mut out = Vec::new();
    for chunk in chunks {
        if chunk.run == Presorted::Reversed {
            return None;
        }
        let (Range { start, end }, here) = (chunk.range, chunk.out);
        let before = Kept::before(start, 0, &out)?;
        let mut gone = here.iter().peekable();
        let after: Vec<usize> = (start..end)
            .filter(|i| gone.next_if_eq(&i).is_none())
            .take(OUT_TOGETHER + 1)
            .collect();
        // SAFETY: the caller's promise.
        let (high, low) = unsafe { fit(ranks, &before, after.iter().copied())? };
        before.take(high, &mut out);
        let seam = out.len();
        out.try_reserve(low + here.len()).ok()?;
        out.extend_from_slice(&after[..low]);
        out.extend(here);
        out[seam..].sort_unstable();
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Columns;
    use crate::payload::Nothing;
    use crate::reading::Plain;
    use crate::source::Stored;

    fn ranks(keys: &[u32]) -> impl Ranks {
        let start = keys.as_ptr().cast_mut();
        let columns = Columns::new(start, std::ptr::dangling_mut(), Nothing);
        let reading = Plain;
        Source::ranks(Stored { columns, reading }, u32::MAX)
    }

    /// What the look says of keys, in chunks that end at these places.
    fn look(keys: &[u32], ends: &[usize], strict: bool) -> Option<Order> {
        let (ranks, stop) = (ranks(keys), AtomicBool::new(false));
        let mut start = 0;
        let see = |&end: &usize| {
            let range = std::mem::replace(&mut start, end)..end;
            let look = Look {
                ranks,
                range,
                strict,
                stop: &stop,
            };
            // SAFETY: the keys are there.
            unsafe { look.see() }
        };
        let seen: Option<Vec<Seen>> = ends.iter().map(see).collect();
        // SAFETY: as above.
        unsafe { join(ranks, seen?, strict) }
    }

    #[test]
    fn runs() {
        use Presorted::{Equal, Reversed, Sorted};
        for (keys, strict, run) in [
            (&[0u32; 0][..], true, Some(Equal)),
            (&[7], true, Some(Equal)),
            (&[7, 7, 7], true, Some(Equal)),
            (&[1, 2, 2, 9], true, Some(Sorted)),
            (&[9, 2, 1], true, Some(Reversed)),
            (&[9, 2, 2, 1], true, None),
            (&[9, 2, 2, 1], false, Some(Reversed)),
            (&[1, 5, 4], false, None),
            (&[3, 5, 3], false, None),
        ] {
            // SAFETY: the keys are there.
            let found = unsafe { run_of(ranks(keys), 0..keys.len(), strict) };
            assert_eq!(found, run, "{keys:?} {strict}");
        }
    }

    /// Wherever the input is cut, one run is found if and only if there is one.
    #[test]
    fn one_run_however_cut() {
        let inputs: &[&[u32]] = &[
            &[1, 2, 3, 4, 5],
            &[5, 4, 3, 2, 1],
            &[5, 4, 4, 2, 1],
            &[3, 3, 3, 3, 3],
            &[3, 3, 3, 3, 4],
            &[4, 3, 3, 3, 3],
            &[1, 2, 9, 1, 2],
            &[1, 2, 3, 2, 1],
        ];
        for keys in inputs {
            for strict in [false, true] {
                // SAFETY: the keys are there.
                let whole = unsafe { run_of(ranks(keys), 0..keys.len(), strict) };
                for cuts in 0..1u32 << (keys.len() - 1) {
                    let last = keys.len();
                    let ends: Vec<usize> = (1..=last)
                        .filter(|&end| end == last || cuts >> (end - 1) & 1 == 1)
                        .collect();
                    let run = match look(keys, &ends, strict) {
                        Some(Order::Run(run)) => Some(run),
                        _ => None,
                    };
                    assert_eq!(run, whole, "{keys:?} cut at {ends:?}, strict: {strict}");
                }
            }
        }
    }

    /// Keys that rise but for some, written in their places: few are taken out, wherever the
    /// input is cut into chunks that are not small.
    #[test]
    fn few_out_of_place() {
        for (put, fewest) in [
            (&[(0, 500)][..], 1),
            (&[(199, 0)], 1),
            (&[(0, 500), (199, 0)], 2),
            (&[(100, 0)], 1),
            (&[(100, 500)], 1),
            (&[(100, 500), (101, 0)], 2),
            (&[(100, 0), (101, 500)], 2),
            (&[(100, 500), (101, 501)], 2),
            (&[(99, 1), (100, 0)], 2),
            (&[(99, 500), (100, 500), (101, 499)], 3),
            (&[(100, 103), (103, 100)], 2),
            (&[(60, 400), (90, 401), (150, 2)], 3),
        ] {
            let mut keys: Vec<u32> = (0..200).map(|i| i * 2 + 1).collect();
            for &(at, key) in put {
                keys[at] = key;
            }
            for cut in 32..200 - 32 {
                let order = look(&keys, &[cut, 200], true);
                let Some(Order::But(out)) = order else {
                    panic!("{put:?} cut at {cut}: {order:?}");
                };
                let rest = (0..200).filter(|i| !out.contains(i)).map(|i| keys[i]);
                let found = (out.is_sorted_by(|a, b| a < b), rest.is_sorted());
                assert_eq!(found, (true, true), "{put:?} cut at {cut}: {out:?}");
                // By a cut, high and low are not always told apart.
                let by_cut = put.iter().any(|&(at, _)| at.abs_diff(cut) <= OUT_TOGETHER);
                let most = if by_cut { 2 * fewest } else { fewest };
                assert!(out.len() <= most, "{put:?} cut at {cut}: {out:?}");
            }
        }
    }
}
