//! Many keys alone, sorted where they lie by one worker or two.
//!
//! ```text
//! cut        all keys, then each part, about a pivot (`local/cut.rs`), until it is small         data → data
//! finish     a small part: cut on until bins take it, and sorted there (`local.rs`)              data → data
//! ```
//!
//! A worker alone finishes all keys at once. Two cut half of all keys each, if these are many. Then
//! each takes a part that nobody has begun, cuts it, leaves what is greater to whoever is free, and
//! goes on with what is less, which its caches have. Who comes late finds a large part, for he
//! takes the one that was left first. Nothing is moved to another place, and no other memory is
//! used than that for local sorts.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use sweepsort_core::{Coder, Report, Result, Stage, Word};

use crate::columns::Columns;
use crate::hybrid::{Means, Sorting, note_stage};
use crate::local::{Cut, Local, depth};
use crate::payload::Payload;
use crate::pool::{Crew, Shared, Turn, lock, spin};
use crate::reading::Reading;
use crate::sink::Sink;
use crate::source::Source;
use crate::tuning::{BUCKETS_PER_WORKER, CUT_MIN, CUT_SHARED_BYTES};

/// Fewer keys than a worker mostly sorts in a [turn](Turn).
const TURN_KEYS: usize = 1 << 17;

/// Keys that lie together, or places for them.
struct Part<'a, W> {
    keys: Range<usize>,
    /// What all of them are; not yet written then.
    same: Option<W>,
    /// What makes their codes, if it has not.
    coder: Option<&'a Coder<W>>,
    /// How often they may be cut to be shared.
    depth: usize,
}

/// Parts that nobody has begun.
struct Waiting<'a, W> {
    parts: Vec<Part<'a, W>>,
    /// How many workers cut one, and may leave more.
    cutting: usize,
}

/// The parts of all keys.
struct Parts<'a, W, P, R, T> {
    local: &'a Local<W, R, T>,
    data: Columns<W, P>,
    /// The workers' own memory, so many bytes each.
    memory: Shared<u8>,
    own: usize,
    crew: Crew<'a>,
    /// How many keys there are.
    n: usize,
    waiting: Mutex<Waiting<'a, W>>,
}

impl<'a, W: Word, P: Payload, R: Reading<W, After = R>, T: Sink<W, P>> Parts<'a, W, P, R, T> {
    /// Finishes parts until there are none, and nobody leaves any; or, for a helper, until its turn is over.
    ///
    /// # Safety
    /// The keys of waiting parts are there and can be cut, and nobody else uses them now.
    unsafe fn visit(&self, worker: usize) {
        let turn = Turn::begin();
        while worker == 0 || !turn.is_over() {
            let mut waiting = lock(&self.waiting);
            // What was left last is in the caches of who left it.
            let part = match worker {
                0 => waiting.parts.pop(),
                _ if waiting.parts.is_empty() => None,
                _ => Some(waiting.parts.remove(0)),
            };
            let Some(part) = part else {
                if waiting.cutting == 0 {
                    return;
                }
                drop(waiting);
                spin(|| {
                    let waiting = lock(&self.waiting);
                    waiting.cutting == 0 || !waiting.parts.is_empty()
                });
                continue;
            };
            let cutting = part.same.is_none() && part.keys.len() > self.most();
            waiting.cutting += usize::from(cutting);
            drop(waiting);
            let cutting = cutting.then(|| Cutting(&self.waiting));
            // SAFETY: the caller's promise; the part is this worker's alone.
            unsafe {
                match part.same {
                    Some(key) => self.fill(part.keys, key),
                    None => {
                        let part = self.cut(part);
                        drop(cutting);
                        self.finish(part, worker);
                    }
                }
            }
        }
    }

    /// Whether a part is cut to be shared: all keys are; others, if somebody is there for what is
    /// left, or bins would not take them.
    fn is_shared(&self, part: &Part<'a, W>) -> bool {
        let n = part.keys.len();
        let is_wanted = n == self.n || self.crew.is_joined() || self.local.in_parts(n);
        n > self.most() && part.depth > 0 && is_wanted
    }

    /// The most keys that are one worker's in any case: an even share, with some to spare.
    fn most(&self) -> usize {
        let shares = self.crew.threads() * BUCKETS_PER_WORKER;
        (self.n / shares / 3 * 4).max(CUT_MIN)
    }

    /// Cuts a part until what is less is small, which it returns, and leaves what is greater.
    ///
    /// # Safety
    /// As [`visit`](Self::visit).
    unsafe fn cut(&self, mut part: Part<'a, W>) -> Part<'a, W> {
        while self.is_shared(&part) {
            // SAFETY: the caller's promise.
            let [less, greater] = unsafe {
                let keys = part.keys.clone();
                let cut = self.local.cut(self.data, keys, part.coder, Crew::alone());
                self.sides(&part, cut)
            };
            lock(&self.waiting).parts.push(greater);
            part = less;
        }
        part
    }

    /// What a cut of a part leaves: what is less, and what is greater. Keys that are the pivot are
    /// written, or left if they are many.
    ///
    /// # Safety
    /// As [`visit`](Self::visit).
    unsafe fn sides(&self, part: &Part<'a, W>, cut: Cut<W>) -> [Part<'a, W>; 2] {
        let Cut { same, pivot } = cut;
        let side = |keys| Part {
            keys,
            same: None,
            coder: None,
            depth: part.depth - 1,
        };
        let sides = [part.keys.start..same.start, same.end..part.keys.end].map(side);
        if same.len() > self.most() {
            lock(&self.waiting).parts.push(Part {
                same: Some(pivot),
                ..side(same)
            });
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.fill(same, pivot) }
        }
        sides
    }

    /// Writes keys that are all the same.
    unsafe fn fill(&self, places: Range<usize>, key: W) {
        // SAFETY: the caller's promise.
        unsafe {
            self.data.fill_keys(places, key, |some| self.done(some));
        }
    }

    /// Sorts a part.
    unsafe fn finish(&self, part: Part<'a, W>, worker: usize) {
        if part.keys.is_empty() {
            return;
        }
        // SAFETY: the caller's promise, and the memory is the worker's.
        unsafe {
            let own = self.memory.at(worker * self.own);
            let done = |some| self.done(some);
            self.local
                .sort_parts(self.data, part.keys, own, part.coder, &done);
        }
    }

    /// Some keys are in order.
    ///
    /// # Safety
    /// They are the worker's.
    unsafe fn done(&self, keys: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe {
            let records = self.data.from(keys.start);
            self.local.take_last_step(keys.start, records, keys.len());
        }
    }
}

/// A worker that cuts a part, until this is dropped.
struct Cutting<'a, 'b, W>(&'a Mutex<Waiting<'b, W>>);

impl<W> Drop for Cutting<'_, '_, W> {
    fn drop(&mut self) {
        lock(self.0).cutting -= 1;
    }
}

impl<W: Word, P: Payload, S: Source<W, P>, T: Sink<W, P>> Sorting<W, P, S, T> {
    /// Sorts keys alone where they lie.
    ///
    /// # Errors
    /// [`OutOfMemory`](sweepsort_core::Error::OutOfMemory); the keys are untouched then.
    ///
    /// # Safety
    /// As [`run`](Self::run). The input lies in memory, and [is cut](crate::plan::Measure::is_cut)
    /// by so many workers.
    pub(crate) unsafe fn run_cut(
        &self,
        mut report: Report,
        crew: Crew<'_>,
        means: &Means,
    ) -> Result<Report> {
        report.threads = crew.threads();
        let start = Instant::now();
        // SAFETY: the caller's promise, and there is the memory.
        unsafe {
            if self.in_order(&mut report, crew, means)? {
                return Ok(report);
            }
            report.workspace_bytes = self.measure(means, crew.threads()).cut_bytes();
            let block = means.scratch.take(report.workspace_bytes)?;
            self.cut(&mut report, crew, means, block.start(), start);
            means.scratch.give(block);
        }
        Ok(report)
    }

    /// The same of keys that are in no order, of a sort that began at `start`.
    ///
    /// # Safety
    /// As [`run`](Self::run). The input lies in memory, and can be cut by one worker or two; the memory has
    /// [so many bytes](crate::plan::Measure::cut_bytes), and starts on a line.
    pub(crate) unsafe fn cut(
        &self,
        report: &mut Report,
        crew: Crew<'_>,
        means: &Means,
        memory: *mut u8,
        start: Instant,
    ) {
        let (n, threads) = (self.n, crew.threads());
        let data = self.data.expect("keys that lie in memory");
        let own = self.measure(means, 1).cut_bytes();
        let (local, coder) = (self.local(means, own), self.source.coder());
        let parts = Parts {
            local: &local,
            data,
            memory: Shared(memory),
            own,
            crew,
            n,
            waiting: Mutex::new(Waiting {
                parts: Vec::new(),
                cutting: 0,
            }),
        };
        let all = Part {
            keys: 0..n,
            same: None,
            coder: coder.as_ref(),
            depth: depth(n),
        };
        // SAFETY: all keys are there, and are ours.
        unsafe {
            if threads == 1 {
                parts.finish(all, 0);
            } else {
                if n * size_of::<W>() >= CUT_SHARED_BYTES {
                    let cut = local.cut(data, 0..n, all.coder, crew);
                    let [less, greater] = parts.sides(&all, cut);
                    lock(&parts.waiting).parts.extend([greater, less]);
                } else {
                    lock(&parts.waiting).parts.push(all);
                }
                let visits = threads * (1 + n / TURN_KEYS);
                crew.for_each(&mut vec![(); visits], |()| parts.visit(crew.worker()));
                // All visits may have been a helper's, whose turns ended with parts left.
                parts.visit(0);
            }
        }
        note_stage(report, Stage::Local, start);
        report.passes_run = 1;
        report.bytes_moved = 2 * (n * self.record_bytes()) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::{Instructions, second_cache_bytes};
    use crate::payload::Nothing;
    use crate::plan::{Measure, Record};
    use crate::pool::Pool;
    use crate::reading::Plain;
    use crate::sink::Codes;

    const N: usize = 1_000_000;

    /// What a helper leaves when its turn ends is there for the caller: after as many turns as it
    /// takes nothing is left, and keys are in order, whoever finished them.
    #[test]
    fn turns_leave_parts() {
        let kinds: [fn(u32) -> u32; 3] = [
            |i| i.wrapping_mul(0x9e37_79b9),
            |i| i.wrapping_mul(0x9e37_79b9) >> 29,
            |i| i.wrapping_mul(0x9e37_79b9) & i.wrapping_mul(0x85eb_ca6b) & 0xffff,
        ];
        for instructions in Instructions::all() {
            let measure = Measure {
                n: N,
                record: Record::new(instructions, true, 4, 0),
                made: false,
                cache: second_cache_bytes(),
                threads: 2,
            };
            if measure.is_cut() {
                for key in kinds {
                    for visitors in [&[1, 0][..], &[0], &[1; 1000]] {
                        visit(instructions, measure, key, visitors);
                    }
                }
            }
        }
    }

    /// Has workers visit the parts of some keys, one after the other.
    fn visit(
        instructions: Instructions,
        measure: Measure,
        key: fn(u32) -> u32,
        visitors: &[usize],
    ) {
        let mut keys: Vec<u32> = (0..N as u32).map(key).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        let own = measure.one_bytes();
        let mut memory = vec![0u128; 2 * own / 16 + 4];
        let start: *mut u8 = memory.as_mut_ptr().cast();
        let data = Columns::new(keys.as_mut_ptr(), std::ptr::dangling_mut(), Nothing);
        let local = Local::new(
            instructions,
            measure.record,
            own,
            Plain,
            u32::MAX,
            Codes(data),
        );
        let pool = Pool::new(Some(2));
        let left = pool.enter(true, |crew| {
            let all = Part {
                keys: 0..N,
                same: None,
                coder: None,
                depth: depth(N),
            };
            let parts = Parts {
                local: &local,
                data,
                memory: Shared(start.wrapping_add(start.align_offset(64))),
                own,
                crew,
                n: N,
                waiting: Mutex::new(Waiting {
                    parts: vec![all],
                    cutting: 0,
                }),
            };
            for &visitor in visitors {
                // SAFETY: the keys and the memory are there.
                unsafe { parts.visit(visitor) }
            }
            let waiting = lock(&parts.waiting);
            (waiting.parts.len(), waiting.cutting)
        });
        assert_eq!(left.unwrap(), (0, 0), "{visitors:?}");
        assert!(keys == expected, "{visitors:?}");
    }
}
