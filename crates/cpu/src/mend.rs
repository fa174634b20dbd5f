//! Input that is sorted but for few records, mended in place.
//!
//! ```text
//! plan     the records out of place in their own order; between which of the others does each belong?
//! lift     them, into scratch
//! shift    the stretches between them: each by as many places as records left before it, less those
//!          that came
//! drop     the lifted ones into the gaps
//! ```
//!
//! A stretch before which as many left as came stays where it is: where records were swapped, all do.

use std::cmp::Ordering;
use std::ops::Range;

use sweepsort_core::{Result, Word};

use crate::columns::Columns;
use crate::map::with_room;
use crate::payload::Payload;
use crate::pool::Crew;
use crate::source::Ranks;
use crate::tuning::PARALLEL_FROM;

/// Records that stay together.
#[derive(Clone, Debug, PartialEq)]
struct Stretch {
    from: Range<usize>,
    to: usize,
}

impl Stretch {
    /// Whether they go up, down or nowhere.
    fn way(&self) -> Ordering {
        self.to.cmp(&self.from.start)
    }
}

/// Where each record of the input goes.
pub(crate) struct Moves {
    /// Those in place, from low to high.
    stretches: Vec<Stretch>,
    /// Those that are not: to and from where. From low to high.
    placed: Vec<(usize, usize)>,
    /// Bytes of all lists that planning took.
    bytes: usize,
}

impl Moves {
    /// The moves of `n` records that ascend but for those at the positions `out`, which ascend.
    ///
    /// # Errors
    /// [`OutOfMemory`](sweepsort_core::Error::OutOfMemory).
    ///
    /// # Safety
    /// The records are there, and nobody writes them now.
    pub(crate) unsafe fn new<R: Ranks>(ranks: R, n: usize, mut out: Vec<usize>) -> Result<Self> {
        // SAFETY: the caller's promise.
        let rank = |i: usize| unsafe { (ranks.rank(i), i) };
        let mut moves = Moves {
            stretches: with_room(2 * out.len() + 1)?,
            placed: with_room(out.len())?,
            bytes: 0,
        };
        let mut gaps: Vec<Range<usize>> = with_room(out.len() + 1)?;
        moves.bytes =
            bytes_of(&moves.stretches) + bytes_of(&moves.placed) + bytes_of(&gaps) + bytes_of(&out);
        for &i in &out {
            match gaps.last_mut() {
                Some(gap) if gap.end == i => gap.end += 1,
                _ => gaps.push(i..i + 1),
            }
        }
        gaps.push(n..n);
        out.sort_unstable_by_key(|&i| rank(i));
        let mut lifted = out.into_iter().map(rank).peekable();
        let mut start = 0;
        for gap in gaps {
            // What goes before the stretch after the gap goes into this one, or just behind it.
            let next = (gap.end < n).then(|| rank(gap.end));
            let belongs = |record: &(R::Rank, usize)| next.is_none_or(|next| *record < next);
            while let Some(record) = lifted.next_if(belongs) {
                // Mostly it is the gap.
                let end = match start == gap.start || rank(gap.start - 1) < record {
                    true => gap.start,
                    false => below(start..gap.start, |i| rank(i) < record),
                };
                moves.keep(start..end);
                moves.placed.push((moves.len(), record.1));
                start = end;
            }
            moves.keep(start..gap.start);
            start = gap.end;
        }
        Ok(moves)
    }

    /// How many records have been given places.
    fn len(&self) -> usize {
        let last = self.stretches.last();
        let kept = last.map_or(0, |last| last.to + last.from.len());
        let placed = self.placed.last().map_or(0, |&(to, _)| to + 1);
        kept.max(placed)
    }

    /// Gives the next places to a stretch.
    fn keep(&mut self, from: Range<usize>) {
        if from.is_empty() {
            return;
        }
        let to = self.len();
        self.stretches.push(Stretch { from, to });
    }

    /// How many records are out of place.
    pub(crate) fn placed(&self) -> usize {
        self.placed.len()
    }

    /// Bytes of memory that the plan took.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many records are moved, within one array.
    pub(crate) fn moved(&self) -> usize {
        let shifted = self
            .stretches
            .iter()
            .filter(|it| it.way() != Ordering::Equal);
        2 * self.placed() + shifted.map(|it| it.from.len()).sum::<usize>()
    }

    /// Moves the records.
    ///
    /// # Safety
    /// `data` has the records, `room` a place for each that is out of place; nobody else uses them now.
    pub(crate) unsafe fn move_records<W: Word, P: Payload>(
        &self,
        data: Columns<W, P>,
        room: Columns<W, P>,
        crew: Crew<'_>,
    ) {
        // Stretches that go the same way, side by side. Others are not in their way: what comes after a
        // group that goes up has not gone up itself, so it lies above where the group ends; likewise
        // below.
        let mut groups: Vec<&[Stretch]> = self
            .stretches
            .chunk_by(|a, b| a.way() == b.way())
            .filter(|group| group[0].way() != Ordering::Equal)
            .collect();
        let crew_for = |records: usize| match records >= PARALLEL_FROM {
            true => crew,
            false => Crew::alone(),
        };
        // SAFETY: each record is read and written once, by one worker. Within a group that goes up, the
        // upper stretches make room for the lower before these come; likewise down. The rest the gaps
        // take, whose records are in the room by then.
        unsafe {
            crew.for_ranges(self.placed(), |range| {
                for i in range {
                    room.store(i, data.load(self.placed[i].1));
                }
            });
            crew_for(self.moved()).for_each(&mut groups, |group| {
                let shift = |it: &Stretch| {
                    let (from, to) = (data.from(it.from.start), data.from(it.to));
                    from.move_to(to, it.from.len());
                };
                match group[0].way() {
                    Ordering::Greater => group.iter().rev().for_each(shift),
                    _ => group.iter().for_each(shift),
                }
            });
            crew.for_ranges(self.placed(), |range| {
                for i in range {
                    data.store(self.placed[i].0, room.load(i));
                }
            });
        }
    }

    /// Calls `put(to, from)` for each of the `n` records.
    ///
    /// # Safety
    /// What `put` wants.
    pub(crate) unsafe fn positions(
        &self,
        n: usize,
        crew: Crew<'_>,
        put: impl Fn(usize, usize) + Send + Sync,
    ) {
        crew.for_ranges(n, |range| {
            let first = self
                .stretches
                .partition_point(|it| it.to + it.from.len() <= range.start);
            for it in &self.stretches[first..] {
                let to = it.to.max(range.start)..range.end.min(it.to + it.from.len());
                if it.to >= range.end {
                    break;
                }
                let from = it.from.start;
                to.for_each(|to| put(to, from + (to - it.to)));
            }
        });
        crew.for_ranges(self.placed(), |range| {
            for &(to, from) in &self.placed[range] {
                put(to, from);
            }
        });
    }
}

/// The first of a range that is not below, where those below come first.
fn below(range: Range<usize>, is_below: impl Fn(usize) -> bool) -> usize {
    let Range { mut start, mut end } = range;
    while start < end {
        let middle = start + (end - start) / 2;
        if is_below(middle) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}

/// Bytes of a vector's memory.
fn bytes_of<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}
