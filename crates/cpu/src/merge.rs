//! Two runs become one.
//!
//! ```text
//! cut      the output into pieces; how many of a piece come from which run?   (by binary search)
//! merge    each piece, by a worker: two halves, each from both ends at once
//! ```
//!
//! A step of a merge waits for the one before it: a comparison says from where the next record comes.
//! So four merges go on side by side, none with a branch on what it finds.

use std::ops::Range;

use sweepsort_core::Presorted;

use crate::pool::Crew;
use crate::source::Ranks;
use crate::tuning::CHUNK_MIN;

/// Records in order, or in the opposite one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// Where they are.
    pub(crate) range: Range<usize>,
    /// Their order. To be merged, a reversed run must have no equal keys that something tells apart.
    pub(crate) order: Presorted,
}

impl Run {
    /// Where the record is that is number `i` from below.
    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        match self.order {
            Presorted::Reversed => self.range.end - 1 - i,
            _ => self.range.start + i,
        }
    }

    /// The records of a range, counted from below.
    fn part(&self, part: Range<usize>) -> Cursor {
        if part.is_empty() {
            return Cursor {
                first: 0,
                last: 0,
                left: 0,
                step: 0,
            };
        }
        Cursor {
            first: self.at(part.start),
            last: self.at(part.end - 1),
            left: part.len(),
            step: match self.order {
                Presorted::Reversed => usize::MAX,
                _ => 1,
            },
        }
    }
}

/// Calls `put(to, from)` for each record of a run, `to` counted from `start`.
///
/// # Safety
/// What `put` wants.
pub(crate) unsafe fn copy(
    run: &Run,
    start: usize,
    crew: Crew,
    put: impl Fn(usize, usize) + Send + Sync,
) {
    crew.for_ranges(run.range.len(), |range| match run.order {
        Presorted::Reversed => range.for_each(|i| put(start + i, run.range.end - 1 - i)),
        _ => range.for_each(|i| put(start + i, run.range.start + i)),
    });
}

/// Calls `put(to, from)` for each record of two runs, `to` counted from `start` in their common order.
/// Of equal records those of `a` come first.
///
/// # Safety
/// The records are there, and nobody writes them now; and what `put` wants.
pub(crate) unsafe fn merge<R: Ranks>(
    ranks: R,
    a: &Run,
    b: &Run,
    start: usize,
    crew: Crew,
    put: impl Fn(usize, usize) + Copy + Send + Sync,
) {
    let n = a.range.len() + b.range.len();
    let parts = match crew.threads() {
        1 => 1,
        _ => n.div_ceil(2 * CHUNK_MIN),
    };
    let size = n.div_ceil(parts.max(1)).max(1);
    let mut pieces: Vec<Range<usize>> = (0..n)
        .step_by(size)
        .map(|from| from..n.min(from + size))
        .collect();
    crew.for_each(&mut pieces, |piece| {
        // SAFETY: the caller's promise; a piece is part of the output, and so is each half.
        unsafe {
            let middle = piece.start + piece.len() / 2;
            let cuts = [piece.start, middle, piece.end].map(|to| (to, cut(ranks, a, b, to)));
            let half = |[from, to]: [(usize, usize); 2]| Merge {
                ranks,
                put,
                a: a.part(from.1..to.1),
                b: b.part(from.0 - from.1..to.0 - to.1),
                to: start + from.0..start + to.0,
            };
            let (low, high) = (half([cuts[0], cuts[1]]), half([cuts[1], cuts[2]]));
            let [low, high] = side_by_side([low, high]);
            for half in [low, high] {
                let [half] = side_by_side([half]);
                half.rest();
            }
        }
    });
}

/// How many of the first `to` records of the output come from `a`.
unsafe fn cut<R: Ranks>(ranks: R, a: &Run, b: &Run, to: usize) -> usize {
    let (mut least, mut most) = (to.saturating_sub(b.range.len()), to.min(a.range.len()));
    while least < most {
        let middle = least + (most - least) / 2;
        // SAFETY: `middle` is below the length of `a`, and `to - 1 - middle` below that of `b`.
        let more = unsafe { ranks.rank(a.at(middle)) <= ranks.rank(b.at(to - 1 - middle)) };
        if more {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    least
}

/// What is left of a part of a run.
#[derive(Clone, Copy)]
struct Cursor {
    /// Where the lowest is.
    first: usize,
    /// Where the highest is.
    last: usize,
    /// How many there are.
    left: usize,
    /// From one to the next higher.
    step: usize,
}

impl Cursor {
    /// Counts again what is left, once records were taken.
    fn recount(&mut self) {
        let span = self.last.wrapping_sub(self.first);
        self.left = match self.step {
            1 => span,
            _ => span.wrapping_neg(),
        }
        .wrapping_add(1);
    }
}

/// A merge under way.
struct Merge<R, F> {
    ranks: R,
    put: F,
    a: Cursor,
    b: Cursor,
    /// The places of the output that are not written yet.
    to: Range<usize>,
}

impl<R: Ranks, F: Fn(usize, usize)> Merge<R, F> {
    /// How many steps there are at least before either run ends.
    fn steps(&self) -> usize {
        self.a.left.min(self.b.left) / 2
    }

    /// Writes the lowest and the highest of what is left.
    ///
    /// # Safety
    /// Both runs have two records or more.
    #[inline(always)]
    unsafe fn step(&mut self) {
        let (a, b) = (&mut self.a, &mut self.b);
        // SAFETY: neither run is at its end.
        unsafe {
            // Of equal ones, that of `a` is the lower.
            let from_b = self.ranks.rank(b.first) < self.ranks.rank(a.first);
            (self.put)(self.to.start, if from_b { b.first } else { a.first });
            self.to.start += 1;
            let (by_b, by_a) = (spread(from_b), spread(!from_b));
            b.first = b.first.wrapping_add(b.step & by_b);
            a.first = a.first.wrapping_add(a.step & by_a);

            let from_a = self.ranks.rank(a.last) > self.ranks.rank(b.last);
            self.to.end -= 1;
            (self.put)(self.to.end, if from_a { a.last } else { b.last });
            let (by_a, by_b) = (spread(from_a), spread(!from_a));
            a.last = a.last.wrapping_sub(a.step & by_a);
            b.last = b.last.wrapping_sub(b.step & by_b);
        }
    }

    /// Writes what is left.
    ///
    /// # Safety
    /// As [`merge`].
    unsafe fn rest(mut self) {
        let (a, b) = (&mut self.a, &mut self.b);
        for to in self.to {
            // SAFETY: a rank is read of a run that is not at its end.
            let from_b = a.left == 0
                || b.left > 0 && unsafe { self.ranks.rank(b.first) < self.ranks.rank(a.first) };
            let run = if from_b { &mut *b } else { &mut *a };
            (self.put)(to, run.first);
            run.first = run.first.wrapping_add(run.step);
            run.left -= 1;
        }
    }
}

/// All ones if `yes`, else zero.
#[inline(always)]
fn spread(yes: bool) -> usize {
    usize::from(yes).wrapping_neg()
}

/// Goes on with merges side by side, until one of them has a run near its end.
///
/// # Safety
/// As [`merge`].
unsafe fn side_by_side<R: Ranks, F: Fn(usize, usize), const N: usize>(
    mut merges: [Merge<R, F>; N],
) -> [Merge<R, F>; N] {
    /// Fewer steps are not worth the counting.
    const FEW: usize = 16;
    loop {
        let steps = merges.iter().map(Merge::steps).min().unwrap_or(0);
        if steps < FEW {
            return merges;
        }
        for _ in 0..steps {
            for merge in &mut merges {
                // SAFETY: a step takes two records, so each run had two for each of the steps.
                unsafe { merge.step() }
            }
        }
        for merge in &mut merges {
            merge.a.recount();
            merge.b.recount();
        }
    }
}
