//! Order that the input has already, and what follows from it.
//!
//! ```text
//! look    each chunk, by a worker: sorted but for few? else, of what runs is it made? else stop, all
//! join    chunk by chunk: does one go on where the other ends?
//! then    one run: nothing, or all turned round          a few records out of it: mend
//!         a few runs: merge                              else: sort
//! ```
//!
//! The look reads ranks and writes nothing. Where keys rise it goes on by whole blocks; where one falls,
//! it takes out as few records around that place as let the rest rise. Input without order shows within
//! some twenty keys.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sweepsort_core::{Presorted, Report, Result, Stage, Word};

use crate::columns::{Columns, Payload};
use crate::hybrid::{Means, Sorting};
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::mend::Moves;
use crate::merge::{self, Run};
use crate::pool::Crew;
use crate::source::{Ranks, Sink, Source};
use crate::tuning::{
    CHUNK_MIN, CHUNKS_PER_WORKER, ORDER_FROM, OUT_ALLOWED, OUT_ONE_IN, OUT_TOGETHER, RUN_MIN,
    RUNS_MAX, TIMED_FROM, TURN,
};

/// What order an input has.
#[derive(Debug, PartialEq)]
enum Order {
    /// All of it is one run.
    Whole(Presorted),
    /// It ascends but for the records at these positions, which ascend.
    But(Vec<usize>),
    /// It is made of so few runs.
    Runs(Vec<Run>),
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
    pub(crate) unsafe fn in_order(
        &self,
        report: &mut Report,
        crew: Crew,
        means: &Means,
    ) -> Result<bool> {
        let n = self.n;
        let ranks = self.source.ranks(W::mask(&self.bits));
        let mut clock = (n >= TIMED_FROM).then(Instant::now);
        let mut lap = |report: &mut Report, stage| {
            if let Some(start) = &mut clock {
                report.stages.push((stage, start.elapsed()));
                *start = Instant::now();
            }
        };
        // SAFETY: the caller's promise.
        let order = unsafe {
            match n {
                ..ORDER_FROM => run_of(ranks, 0..n, self.strict).map(Order::Whole),
                _ => order_of(ranks, n, self.strict, crew, means.instructions(true)),
            }
        };
        let Some(order) = order else {
            return Ok(false);
        };
        let (keys, all) = (n * size_of::<W>(), n * self.record_bytes());
        // SAFETY: as above; and what the look found is so.
        unsafe {
            match order {
                Order::Whole(run) => {
                    lap(report, Stage::Histogram);
                    self.sink.presorted(n, run, crew);
                    report.presorted = Some(run);
                    report.bytes_moved = keys as u64;
                    if run == Presorted::Reversed {
                        report.bytes_moved += 2 * all as u64;
                        report.passes_run = 1;
                        lap(report, Stage::Scatter);
                    }
                }
                Order::But(out) => {
                    let moves = Moves::new(ranks, n, out)?;
                    lap(report, Stage::Histogram);
                    let moved = match self.data {
                        Some(data) => {
                            let bytes = moves.placed() * self.record_bytes();
                            let block = means.scratch.take(bytes)?;
                            let room = packed(block.start(), moves.placed(), self.payload);
                            moves.move_records(data, room, crew);
                            means.scratch.give(block);
                            report.workspace_bytes = bytes;
                            moves.moved()
                        }
                        None => {
                            moves.positions(n, crew, |to, from| self.sink.place(to, from));
                            n
                        }
                    };
                    report.bytes_moved = (keys + 2 * moved * self.record_bytes()) as u64;
                    report.passes_run = 1;
                    lap(report, Stage::Scatter);
                }
                Order::Runs(runs) => {
                    // Rounds of merging cost as much as passes.
                    let rounds = (runs.len() - 1).ilog2() + 1;
                    if rounds > report.passes_possible || (self.data.is_none() && rounds > 1) {
                        return Ok(false);
                    }
                    let Some(data) = self.data else {
                        lap(report, Stage::Histogram);
                        let (a, b) = (&runs[0], &runs[1]);
                        let put = |to, from| self.sink.place(to, from);
                        merge::merge(ranks, a, b, 0, crew, put);
                        report.bytes_moved = (keys + 2 * all) as u64;
                        report.passes_run = 1;
                        lap(report, Stage::Local);
                        return Ok(true);
                    };
                    let block = means.scratch.take(all)?;
                    lap(report, Stage::Histogram);
                    let room = packed(block.start(), n, self.payload);
                    let halves = self.merge_pairs(ranks, data, room, &runs, crew);
                    lap(report, Stage::Scatter);
                    let copied = self.source.copied_to(room).ranks(W::mask(&self.bits));
                    let [a, b] = halves;
                    let put = |to, from| data.store(to, room.load(from));
                    merge::merge(copied, &a, &b, 0, crew, put);
                    lap(report, Stage::Local);
                    means.scratch.give(block);
                    report.workspace_bytes = all;
                    report.bytes_moved = (keys + 4 * all) as u64;
                    report.passes_run = rounds;
                }
            }
        }
        Ok(true)
    }

    /// Makes two ascending runs of up to four, in the room: pairs merged, single ones copied.
    unsafe fn merge_pairs(
        &self,
        ranks: S::Ranks,
        data: Columns<W, P>,
        room: Columns<W, P>,
        runs: &[Run],
        crew: Crew,
    ) -> [Run; 2] {
        let mut start = 0;
        let (left, right) = runs.split_at(runs.len() / 2);
        [left, right].map(|part| {
            // SAFETY: the runs are the whole input, so the places from `start` on are there; and each
            // is given to one worker.
            unsafe {
                let put = |to, from| room.store(to, data.load(from));
                match part {
                    [a, b] => merge::merge(ranks, a, b, start, crew, put),
                    _ => merge::copy(&part[0], start, crew, put),
                }
            }
            let n: usize = part.iter().map(|run| run.range.len()).sum();
            let run = Run {
                range: start..start + n,
                order: Presorted::Sorted,
            };
            start += n;
            run
        })
    }
}

/// Columns for `n` records, without a gap between them.
///
/// # Safety
/// There are so many bytes, and they start on a line.
unsafe fn packed<W: Word, P: Payload>(start: *mut u8, n: usize, payload: P) -> Columns<W, P> {
    // SAFETY: the keys are within the memory.
    Columns::new(
        start.cast(),
        unsafe { start.add(n * size_of::<W>()) },
        payload,
    )
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
    let Range { start, end } = range;
    // SAFETY: the caller's promise; the range is not empty.
    unsafe {
        let (first, last) = (ranks.rank(start), ranks.rank(end - 1));
        if first <= last {
            let order = match first == last {
                true => Presorted::Equal,
                false => Presorted::Sorted,
            };
            (ascent(ranks, start, end) == end).then_some(order)
        } else {
            (descent(ranks, start, end, strict) == end).then_some(Presorted::Reversed)
        }
    }
}

/// Where the ascending records from `start` on end.
#[inline(always)]
unsafe fn ascent<R: Ranks>(ranks: R, start: usize, end: usize) -> usize {
    // SAFETY: the caller has the records up to `end`.
    first_not(start + 1, end, |i| unsafe {
        ranks.rank(i - 1) <= ranks.rank(i)
    })
}

/// Where the descending records from `start` on end.
#[inline(always)]
unsafe fn descent<R: Ranks>(ranks: R, start: usize, end: usize, strict: bool) -> usize {
    // SAFETY: the caller has the records up to `end`.
    unsafe {
        if strict {
            first_not(start + 1, end, |i| ranks.rank(i - 1) > ranks.rank(i))
        } else {
            first_not(start + 1, end, |i| ranks.rank(i - 1) >= ranks.rank(i))
        }
    }
}

/// The first from `start` on that fails a test, `end` if none does; tested in blocks, without a branch
/// for each.
#[inline(always)]
fn first_not(start: usize, end: usize, test: impl Fn(usize) -> bool) -> usize {
    const BLOCK: usize = 128;
    let passes = |range: Range<usize>| range.fold(true, |all, i| all & test(i));
    let first = |range: Range<usize>| range.clone().find(|&i| !test(i)).unwrap_or(range.end);
    // Most input shows within a few keys that it has no order.
    let head = end.min(start + 4);
    let mut at = first(start..head);
    if at < head {
        return at;
    }
    while at < end {
        let block = at..end.min(at + BLOCK);
        if !passes(block.clone()) {
            return first(block);
        }
        at = block.end;
    }
    end
}

/// What order `n` records have.
///
/// # Safety
/// They are there, and nobody writes them now; the machine has the instructions.
unsafe fn order_of<R: Ranks>(
    ranks: R,
    n: usize,
    strict: bool,
    crew: Crew,
    instructions: Instructions,
) -> Option<Order> {
    let parts = match crew.threads() {
        1 => 1,
        threads => (threads * CHUNKS_PER_WORKER).min(n / CHUNK_MIN).max(1),
    };
    let stop = AtomicBool::new(false);
    // Even ones: of a chunk of a few keys could not be told what they are out of.
    let (each, more) = (n / parts, n % parts);
    let start = |part: usize| part * each + part.min(more);
    let mut chunks: Vec<_> = (0..parts)
        .map(|part| (start(part)..start(part + 1), None))
        .collect();
    crew.for_each(&mut chunks, |(range, seen)| {
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
    let seen: Vec<Seen> = chunks
        .into_iter()
        .map(|(_, seen)| seen)
        .collect::<Option<_>>()?;
    // SAFETY: the caller's promise.
    unsafe { join(ranks, seen, strict) }
}

/// What a look saw of a chunk.
struct Seen {
    range: Range<usize>,
    /// The runs that it is made of, where they are few.
    runs: Vec<Run>,
    /// Whether it ascends without those that are out of place.
    rises: bool,
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
        let (ranks, Range { mut start, end }) = (self.ranks, self.range.clone());
        let mut seen = Seen {
            range: start..end,
            runs: Vec::new(),
            rises: false,
            out: Vec::new(),
        };
        // SAFETY: all positions are within the range.
        unsafe {
            while start < end {
                let (first, last) = (ranks.rank(start), ranks.rank(end - 1));
                let mut run = Run {
                    range: start..start + 1,
                    order: Presorted::Reversed,
                };
                let falls = start + 1 < end && first > ranks.rank(start + 1);
                if falls || first > last {
                    run.range.end = self.go_on(start, |at, to| descent(ranks, at, to, self.strict));
                }
                // What falls for a few keys only may well rise but for those; one key does both.
                if run.range.end < end.min(start + TURN) || run.range.len() == 1 {
                    run.range.end = match seen.runs.is_empty() {
                        true => self.ascent_but(&mut seen.out)?,
                        false => self.go_on(start, |at, to| ascent(ranks, at, to)),
                    };
                    seen.rises = run.range == self.range;
                    if !seen.out.is_empty() {
                        seen.runs = self.edge_runs(&seen.out);
                        return Some(seen);
                    }
                    run.order = match first == ranks.rank(run.range.end - 1) {
                        true => Presorted::Equal,
                        false => Presorted::Sorted,
                    };
                }
                start = run.range.end;
                let long = run.range.len() >= RUN_MIN || seen.runs.is_empty();
                seen.runs.push(run);
                let many = seen.runs.len() == RUNS_MAX || !long;
                if start < end && (many || self.stop.load(Ordering::Relaxed)) {
                    return None;
                }
            }
        }
        Some(seen)
    }

    /// The two runs of a chunk whose records out of place are all by its start or all by its end, if
    /// they may be part of a run that begins or ends in the next chunk; else none.
    unsafe fn edge_runs(&self, out: &[usize]) -> Vec<Run> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let (ranks, Range { start, end }) = (self.ranks, self.range.clone());
        // So far may those reach that were taken out for fewer than `TURN` falling keys.
        const EDGE: usize = 2 * OUT_TOGETHER;
        let (head, tail) = (
            end.min(start + 2 * EDGE),
            start.max(end.saturating_sub(2 * EDGE)),
        );
        // SAFETY: all positions are within the range.
        let run = |start, end| {
            // SAFETY: the run is within the range, and not empty.
            let order = unsafe { ranks.rank(start) }.cmp(&unsafe { ranks.rank(end - 1) });
            Run {
                range: start..end,
                order: match order {
                    Less => Presorted::Sorted,
                    Equal => Presorted::Equal,
                    Greater => Presorted::Reversed,
                },
            }
        };
        // SAFETY: all positions are within the range.
        let (rises, falls) = unsafe {
            (
                |start, end| ascent(ranks, start, end),
                |start, end| descent(ranks, start, end, self.strict),
            )
        };
        if out.iter().all(|&i| i < start + EDGE) {
            // The lowest of those that fall may as well begin what rises.
            let turn = rises(start, head).max(falls(start, head) - 1);
            if rises(turn, head) == head {
                return vec![run(start, turn), run(turn, end)];
            }
        } else if out.iter().all(|&i| i + EDGE >= end) {
            let turn = rises(tail, end);
            if turn < end && (rises(turn, end) == end || falls(turn, end) == end) {
                return vec![run(start, turn), run(turn, end)];
            }
        }
        Vec::new()
    }

    /// Where a run that goes on at `start` ends, by `run_end` of stretches; or where the look ended
    /// because the whole has no order.
    #[inline(always)]
    fn go_on(&self, start: usize, run_end: impl Fn(usize, usize) -> usize) -> usize {
        const STRETCH: usize = 1 << 16;
        let (mut at, end) = (start, self.range.end);
        loop {
            let to = end.min(at + STRETCH);
            let reached = run_end(at, to);
            if reached < to || to == end || self.stop.load(Ordering::Relaxed) {
                return reached;
            }
            // The last of a stretch is the first of the next.
            at = to - 1;
        }
    }

    /// Takes out the records without which the chunk ascends, if they are few, and returns its end;
    /// else takes none, and returns where it first falls. `None` if it has no order.
    #[inline(always)]
    unsafe fn ascent_but(&self, out: &mut Vec<usize>) -> Option<usize> {
        let (ranks, Range { start, end }) = (self.ranks, self.range.clone());
        let (mut at, mut fell, mut mended) = (start, end, 0);
        loop {
            // SAFETY: all positions are within the range.
            let (falls, next) = unsafe {
                let falls = self.go_on(at, |at, to| ascent(ranks, at, to));
                if falls == end {
                    return Some(end);
                }
                (falls, self.take_out(falls, out))
            };
            if mended == 0 {
                fell = falls;
            }
            match next {
                Some(next) if next == end => return Some(end),
                Some(next) => at = next,
                // Runs have few ends.
                None if mended >= RUNS_MAX => return None,
                None => {
                    out.clear();
                    return Some(fell);
                }
            }
            mended += 1;
        }
    }

    /// Takes out as few records around `falls`, which is below the one before it, as let the rest
    /// ascend. Returns from where on the rest is to be looked at; `None` if there is a turning point,
    /// or these were too many.
    #[cold]
    unsafe fn take_out(&self, falls: usize, out: &mut Vec<usize>) -> Option<usize> {
        let (ranks, Range { start, end }) = (self.ranks, self.range.clone());
        // SAFETY: all positions are within the range.
        unsafe {
            let turn = falls..end.min(falls + TURN);
            if turn.len() == TURN && turn.into_iter().all(|i| ranks.rank(i - 1) > ranks.rank(i)) {
                return None;
            }
            let most = (OUT_ALLOWED + (falls - start) / OUT_ONE_IN).checked_sub(out.len())?;
            let before = Kept::before(falls, start, out);
            let after = falls..end.min(falls + OUT_TOGETHER + 1);
            let (high, low) = match fit(ranks, &before, after) {
                Some(fit) => fit,
                None => {
                    // Others may have been put in between, of any number.
                    let last = ranks.rank(falls - 1);
                    let reach = end.min(falls + most + 1);
                    let low = (falls..reach).position(|i| ranks.rank(i) >= last);
                    match low {
                        Some(low) => (0, low),
                        None if reach == end => (0, end - falls),
                        None => return None,
                    }
                }
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
}

/// The last records before some position that are not out of place, last first.
struct Kept {
    positions: [usize; OUT_TOGETHER + 1],
    len: usize,
    /// Those out of place between them, from this one on.
    out: usize,
}

impl Kept {
    /// Those before `end`, and not before `start`, nor in `out`.
    fn before(end: usize, start: usize, out: &[usize]) -> Self {
        let mut kept = Kept {
            positions: [0; _],
            len: 0,
            out: out.len(),
        };
        for i in (start..end).rev() {
            if kept.len == kept.positions.len() {
                break;
            }
            if kept.out > 0 && out[kept.out - 1] == i {
                kept.out -= 1;
            } else {
                kept.positions[kept.len] = i;
                kept.len += 1;
            }
        }
        kept
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
unsafe fn join<R: Ranks>(ranks: R, seen: Vec<Seen>, strict: bool) -> Option<Order> {
    // SAFETY: the caller's promise.
    unsafe {
        let few = seen.iter().all(|seen| !seen.runs.is_empty());
        let runs = seen.iter().flat_map(|seen| seen.runs.clone());
        let runs = few.then(|| join_runs(ranks, runs, strict)).flatten();
        match runs.as_deref() {
            Some([run]) => Some(Order::Whole(run.order)),
            _ => join_out(ranks, seen)
                .map(Order::But)
                .or(runs.map(Order::Runs)),
        }
    }
}

/// Runs of which neighbours that go on in the same way are one; if then there are few.
unsafe fn join_runs<R: Ranks>(
    ranks: R,
    runs: impl Iterator<Item = Run>,
    strict: bool,
) -> Option<Vec<Run>> {
    use Presorted::{Equal, Reversed, Sorted};
    let mut joined: Vec<Run> = Vec::new();
    for run in runs {
        let Some(last) = joined.last_mut() else {
            joined.push(run);
            continue;
        };
        // SAFETY: runs have records, and the caller's promise.
        let (before, after) = unsafe {
            let seam = run.range.start;
            (ranks.rank(seam - 1), ranks.rank(seam))
        };
        let orders = [&*last, &run];
        let rises = before <= after && orders.iter().all(|run| run.order != Reversed);
        // More than one equal key is no strict descent.
        let may_fall = |run: &&Run| match run.order {
            Reversed => true,
            Equal => !strict || run.range.len() == 1,
            Sorted => false,
        };
        let falls = before >= after && !(strict && before == after) && orders.iter().all(may_fall);
        if rises || falls {
            let equal = before == after && orders.iter().all(|run| run.order == Equal);
            last.order = match (equal, rises) {
                (true, _) => Equal,
                (_, true) => Sorted,
                _ => Reversed,
            };
            last.range.end = run.range.end;
        } else if joined.len() == RUNS_MAX {
            return None;
        } else {
            joined.push(run);
        }
    }
    Some(joined)
}

/// The records out of place in the whole, if without them it ascends; those at the seams of chunks
/// included.
unsafe fn join_out<R: Ranks>(ranks: R, seen: Vec<Seen>) -> Option<Vec<usize>> {
    let mut out = Vec::new();
    for seen in seen {
        if !seen.rises {
            return None;
        }
        let (Range { start, end }, here) = (seen.range, seen.out);
        let before = Kept::before(start, 0, &out);
        let mut gone = here.iter().peekable();
        let after = (start..end).filter(|i| gone.next_if_eq(&i).is_none());
        let after: Vec<usize> = after.take(OUT_TOGETHER + 1).collect();
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
    use crate::columns::Nothing;
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
                        Some(Order::Whole(run)) => Some(run),
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
            for cut in RUN_MIN..200 - RUN_MIN {
                let order = look(&keys, &[cut, 200], true);
                let Some(Order::But(out)) = order else {
                    panic!("{put:?} cut at {cut}: {order:?}");
                };
                let rest = (0..200).filter(|i| !out.contains(i)).map(|i| keys[i]);
                let found = (out.is_sorted_by(|a, b| a < b), rest.is_sorted());
                assert_eq!(found, (true, true), "{put:?} cut at {cut}: {out:?}");
                // By a cut, high and low are not always told apart.
                let by_cut = put.iter().any(|&(at, _)| at.abs_diff(cut) <= TURN);
                let most = if by_cut { 2 * fewest } else { fewest };
                assert!(out.len() <= most, "{put:?} cut at {cut}: {out:?}");
            }
        }
    }

    /// Runs, each from below to above or the other way; cut anywhere else, the same ones are found.
    #[test]
    fn few_runs() {
        use Presorted::{Reversed, Sorted};
        let run = |from: u32, order| {
            let mut keys: Vec<u32> = (0..100).map(|i| from + 3 * i).collect();
            if order == Reversed {
                keys.reverse();
            }
            keys
        };
        for wanted in [
            &[(0, Sorted), (1, Reversed)][..],
            &[(0, Reversed), (1, Sorted)],
            &[(5, Sorted), (1, Sorted)],
            &[(0, Reversed), (9, Reversed)],
            &[(0, Sorted), (1, Reversed), (2, Sorted)],
            &[(7, Sorted), (1, Sorted), (0, Sorted), (2, Reversed)],
        ] {
            let keys: Vec<u32> = wanted
                .iter()
                .flat_map(|&(from, it)| run(from, it))
                .collect();
            for cut in RUN_MIN..keys.len() - RUN_MIN {
                // So near a cut, not every turn is told from records out of place.
                if (cut + TURN) % 100 < 2 * TURN {
                    continue;
                }
                let order = look(&keys, &[cut, keys.len()], true);
                let Some(Order::Runs(runs)) = order else {
                    panic!("{wanted:?} cut at {cut}: {order:?}");
                };
                let found: Vec<_> = runs.iter().map(|run| run.order).collect();
                let wanted: Vec<_> = wanted.iter().map(|&(_, order)| order).collect();
                assert_eq!(found, wanted, "cut at {cut}: {runs:?}");
            }
        }
    }
}
