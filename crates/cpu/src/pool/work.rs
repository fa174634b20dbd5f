//! Indices that workers take: each from a share of its own, and half of another's when that is empty.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use crossbeam_utils::CachePadded;

use super::lock;

/// Indices to be dealt out.
pub(super) struct Work {
    /// Of the owner's call, whatever its lifetime says here.
    task: &'static (dyn Fn(usize) + Sync),
    /// As many about even shares of the indices as there are workers.
    shares: Vec<Share>,
    /// How many indices nobody has begun, wherever they are: on their way from one share to another
    /// they are in none.
    left: AtomicUsize,
    /// How many work on it, but for who began it. It grows under the lock of the board alone, while
    /// it is open.
    pub(super) inside: AtomicUsize,
    /// The first panic.
    pub(super) panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Indices that a worker takes one after the other, and others from their end.
///
/// Whoever takes some runs the first of them, so a share that has any is never again what it was.
struct Share(CachePadded<AtomicU64>);

impl Share {
    fn new(indices: Range<u32>) -> Self {
        Share(AtomicU64::new(Self::word(indices)).into())
    }

    /// As a word: the end above, the start below.
    fn word(indices: Range<u32>) -> u64 {
        u64::from(indices.end) << 32 | u64::from(indices.start)
    }

    fn indices(word: u64) -> Range<u32> {
        word as u32..(word >> 32) as u32
    }

    /// What `part` takes away: it leaves the first of its two ranges and returns the second.
    fn take(&self, part: impl Fn(Range<u32>) -> [Range<u32>; 2]) -> Range<u32> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let indices = Self::indices(word);
            if indices.is_empty() {
                return indices;
            }
            let [left, taken] = part(indices);
            let swapped = self.0.compare_exchange_weak(
                word,
                Self::word(left),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match swapped {
                Ok(_) => return taken,
                Err(now) => word = now,
            }
        }
    }

    /// The first index.
    fn first(&self) -> Option<u32> {
        self.take(|all| [all.start + 1..all.end, all.start..all.start + 1])
            .next()
    }

    /// The further half of the indices.
    fn half(&self) -> Range<u32> {
        self.take(|all| {
            let middle = all.start + (all.end - all.start) / 2;
            [all.start..middle, middle..all.end]
        })
    }

    /// New indices for the worker whose share it is, which is empty.
    fn put(&self, indices: Range<u32>) {
        self.0.store(Self::word(indices), Ordering::Relaxed);
    }
}

impl Work {
    /// Indices below `n`, for so many workers.
    ///
    /// # Safety
    /// The task is there as long as this is.
    pub(super) unsafe fn new(task: &(dyn Fn(usize) + Sync), n: usize, workers: usize) -> Self {
        let bound = |i: usize| {
            let bound = i as u64 * n as u64 / workers as u64;
            u32::try_from(bound).expect("fewer items than 2^32")
        };
        Work {
            // SAFETY: the caller's promise.
            task: unsafe {
                std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(
                    task,
                )
            },
            shares: (0..workers)
                .map(|i| Share::new(bound(i)..bound(i + 1)))
                .collect(),
            left: AtomicUsize::new(n),
            inside: AtomicUsize::new(0),
            panic: Mutex::new(None),
        }
    }

    /// Runs the task on indices until all are taken, `goes_on` says no, or the task panics: on
    /// those of the worker's own share, one after the other, for what comes together is best in one
    /// cache; then on half of what another has.
    pub(super) fn run(&self, worker: usize, goes_on: impl Fn() -> bool) {
        let work = || {
            while !self.is_taken() && goes_on() {
                match self.shares[worker].first().or_else(|| self.rob(worker)) {
                    Some(i) => {
                        self.left.fetch_sub(1, Ordering::Relaxed);
                        (self.task)(i as usize);
                    }
                    // The last ones are on their way: to be begun, or to a share that was looked at before.
                    None => thread::yield_now(),
                }
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            let mut first = lock(&self.panic);
            match *first {
                None => *first = Some(panic),
                // To drop it might panic again, where nobody expects it.
                Some(_) => std::mem::forget(panic),
            }
        }
    }

    /// Takes half of what another worker has. The first index is the result, the others are the worker's own,
    /// which has none.
    fn rob(&self, worker: usize) -> Option<u32> {
        let (before, rest) = self.shares.split_at(worker);
        let mut others = rest[1..].iter().chain(before).map(Share::half);
        let mut half = others.find(|half| !half.is_empty())?;
        let first = half.next();
        rest[0].put(half);
        first
    }

    /// Whether each index has been taken to be run at once. It stays so.
    pub(super) fn is_taken(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Taken from either end, each index once.
    #[test]
    fn shares_are_taken() {
        let share = Share::new(3..10);
        let first: Vec<_> = (0..2).map(|_| share.first()).collect();
        let halves: Vec<_> = (0..4).map(|_| share.half()).collect();
        assert_eq!(first, [Some(3), Some(4)]);
        assert_eq!(halves, [7..10, 6..7, 5..6, 5..5]);
        assert_eq!(share.first(), None);
        share.put(8..9);
        assert_eq!((share.first(), share.half()), (Some(8), 9..9));
    }

    /// What a worker has robbed and not run when its turn ends is there for others.
    #[test]
    fn turns_leave_nothing_behind() {
        let order = Mutex::new(Vec::new());
        let task = |i: usize| lock(&order).push(i);
        // SAFETY: the task is there.
        let work = unsafe { Work::new(&task, 5, 2) };
        let turns = Cell::new(3);
        work.run(0, || turns.replace(turns.get() - 1) > 0);
        assert_eq!(*lock(&order), [0, 1, 3]);
        assert!(!work.is_taken());
        work.run(1, || true);
        assert_eq!(*lock(&order), [0, 1, 3, 2, 4]);
        assert!(work.is_taken());
    }

    /// While a half is on its way to another share, what is left in the old one is run, and the
    /// work is not done.
    #[test]
    fn halves_on_their_way_count() {
        let order = Mutex::new(Vec::new());
        let task = |i: usize| lock(&order).push(i);
        // SAFETY: the task is there.
        let work = unsafe { Work::new(&task, 5, 2) };
        let mut half = work.shares[1].half();
        assert_eq!(half, 3..5);
        let turns = Cell::new(3);
        work.run(1, || turns.replace(turns.get() - 1) > 0);
        assert_eq!(*lock(&order), [2, 1, 0]);
        assert!(!work.is_taken());
        let first = half.next();
        work.shares[0].put(half);
        work.left.fetch_sub(1, Ordering::Relaxed);
        assert_eq!(first, Some(3));
        work.run(1, || true);
        assert_eq!(*lock(&order), [2, 1, 0, 4]);
        assert!(work.is_taken());
    }
}
