//! Threads: those of a rayon pool, asked for only when there is work for several.
//!
//! ```text
//! enter      the caller asks threads of the pool to join its team, and goes on
//! for_each   it begins, and asks again if some are missing; whoever is there takes an item after the other,
//!            and where none of its own are left, half of somebody's
//! leave      who has joined and finds nothing to do for a while is the pool's again
//! ```
//!
//! The caller works itself, and waits for nobody who has not begun. A caller that sleeps instead
//! has its work begun by a thread that the system wakes, and the next one is woken by that; on two
//! cores a system may put both on the same one, and leave them there for milliseconds.
//!
//! If the first helper who was asked took long to come, others have the cores, and the next caller
//! may rather work alone: it dismisses whom it has asked, and does not ask each time. Who comes all
//! the same tells how long it took, and is the pool's again.
//!
//! A helper that the system has put on the caller's own core would only take it away: it leaves.
//!
//! A helper may share its core with another program, and not run for milliseconds. If it held an
//! item then, all would wait. So every now and then, between two items, it offers its core to
//! others by itself; but not within a `for_each` that it calls for an item, since then it holds
//! that item.
//!
//! A join ends when there is nothing left to do, as any job of the pool: what is done for an item
//! may itself wait for the pool. It may not wait for each of the pool's threads, as by
//! `ThreadPool::broadcast`, where the caller is one of them: this one waits for the item.

mod team;
mod work;

use std::cell::Cell;
use std::error::Error as _;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use sweepsort_core::{Error, Result};

use crate::tuning::{CHUNK_MIN, PARALLEL_FROM, SPIN, SPIN_ALONE, TURN};
use team::{DELAY_NS, Team};

/// Where workers come from.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: Option<usize>,
    /// Threads but for the caller's.
    own: OnceLock<Result<ThreadPool, String>>,
}

impl Pool {
    /// The caller and a pool of its own, together `threads` workers; or, without a number, the
    /// rayon pool that a call comes from, which is the global one where it comes from none. Starts
    /// nothing yet.
    pub(crate) const fn new(threads: Option<usize>) -> Self {
        Pool {
            threads,
            own: OnceLock::new(),
        }
    }

    /// How many workers a large input will have. Starts nothing.
    ///
    /// The system is asked once, since reading a container's limits takes it some microseconds.
    pub(crate) fn threads(&self) -> usize {
        static PLANNED: OnceLock<usize> = OnceLock::new();
        match self.threads {
            Some(threads) => threads.max(1),
            None if rayon::current_thread_index().is_some() => rayon::current_num_threads(),
            None => *PLANNED.get_or_init(global_threads),
        }
    }

    /// Does `work` with several workers, or where that is not worth while with the caller alone.
    ///
    /// # Errors
    /// [`Error::Threads`] if workers cannot be started; `work` has not begun then.
    pub(crate) fn enter<T>(&self, several: bool, work: impl FnOnce(Crew<'_>) -> T) -> Result<T> {
        let entered = match several && !matches!(self.threads, Some(..=1)) {
            true => Some(self.gather()?),
            false => None,
        };
        Ok(work(entered.as_ref().map_or(Crew::alone(), Entered::crew)))
    }

    /// Asks threads to join the caller.
    fn gather(&self) -> Result<Entered<'_>> {
        let (threads, pool) = self.start()?;
        let team = Arc::new(Team::new(threads));
        // They wake up while the caller prepares. Where they come late, it seldom asks for nothing.
        if team::are_expected() {
            team.ask(pool, threads);
        }
        Ok(Entered {
            team,
            pool,
            _number: Number::set(0),
        })
    }

    /// Runs `task` on ranges that make up `0..n`, with several workers where that is worth while.
    /// Not generic, since it is what libraries that call this have for each of their types.
    ///
    /// # Errors
    /// [`Error::Threads`] if workers cannot be started; nothing was run then.
    pub(crate) fn for_ranges(&self, n: usize, task: &(dyn Fn(Range<usize>) + Sync)) -> Result<()> {
        self.enter(n >= PARALLEL_FROM, |crew| crew.for_ranges(n, task))
    }

    /// How many workers there are, and the pool that they come from if it is not rayon's.
    fn start(&self) -> Result<(usize, Option<&ThreadPool>)> {
        static GLOBAL: OnceLock<Result<(), String>> = OnceLock::new();
        let failed = |why: &String| Error::Threads {
            threads: self.threads(),
            why: why.clone(),
        };
        match self.threads {
            Some(threads) => {
                let pool = self.own.get_or_init(|| {
                    ThreadPoolBuilder::new()
                        .num_threads(threads - 1)
                        .thread_name(|i| format!("sweepsort-{}", i + 1))
                        .build()
                        .map_err(|error| error.to_string())
                });
                Ok((threads, Some(pool.as_ref().map_err(failed)?)))
            }
            None => {
                if rayon::current_thread_index().is_none() {
                    // Rayon itself would panic where the global pool cannot be started.
                    GLOBAL.get_or_init(start_global).as_ref().map_err(failed)?;
                }
                // A global pool that is larger than was planned is not all used.
                Ok((rayon::current_num_threads().min(self.threads()), None))
            }
        }
    }
}

/// How many threads the global pool has if nobody builds another one: as many as rayon's variable
/// says, or as there are cores.
fn global_threads() -> usize {
    let told = std::env::var("RAYON_NUM_THREADS").ok();
    let told = told.and_then(|threads| threads.parse().ok());
    told.filter(|&threads| threads > 0)
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Starts the global pool, if nobody has.
fn start_global() -> Result<(), String> {
    match ThreadPoolBuilder::new().build_global() {
        Ok(()) => Ok(()),
        // Without a cause, the error says that the pool is there already.
        Err(error) if ThreadPoolBuildError::source(&error).is_none() => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// A caller that has a team, until this is dropped.
struct Entered<'a> {
    team: Arc<Team>,
    pool: Option<&'a ThreadPool>,
    _number: Number,
}

impl Entered<'_> {
    fn crew(&self) -> Crew<'_> {
        Crew {
            team: Some((&self.team, self.pool)),
            threads: self.team.threads,
        }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // Also where the caller's work has panicked: those who have joined need not wait for more.
        self.team.tell(|board| board.left = true);
        if self.team.threads > 1 && !self.team.has_come.load(Ordering::Relaxed) {
            self.team.note_delay();
        }
    }
}

/// The workers that share one sort.
#[derive(Clone, Copy)]
pub(crate) struct Crew<'a> {
    /// The team, and the pool that it comes from if it is not rayon's.
    team: Option<(&'a Arc<Team>, Option<&'a ThreadPool>)>,
    threads: usize,
}

impl Crew<'_> {
    /// The caller alone.
    pub(crate) const fn alone() -> Self {
        Crew {
            team: None,
            threads: 1,
        }
    }

    /// How many workers there are.
    pub(crate) fn threads(self) -> usize {
        self.threads
    }

    /// Whether a helper can be expected before it is too `late`: one has come, or the last one had by then.
    pub(crate) fn has_help(self, late: Duration) -> bool {
        let expected = || DELAY_NS.load(Ordering::Relaxed) <= late.as_nanos() as u64;
        self.threads > 1 && (self.is_joined() || expected())
    }

    /// Tells who was asked that nobody is needed.
    pub(crate) fn dismiss(self) {
        if let Some((team, _)) = self.team {
            team.tell(|board| board.dismissed = true);
        }
    }

    /// Whether a helper has joined the caller.
    pub(crate) fn is_joined(self) -> bool {
        self.team
            .is_some_and(|(team, _)| team.has_come.load(Ordering::Relaxed))
    }

    /// Which worker runs this code; below [`threads`](Self::threads).
    pub(crate) fn worker(self) -> usize {
        match self.team {
            None => 0,
            Some(_) => Number::get(),
        }
    }

    /// Runs `task` on every item; whichever worker is free takes the next.
    pub(crate) fn for_each<T: Send>(self, items: &mut [T], task: impl Fn(&mut T) + Send + Sync) {
        let start = Shared(items.as_mut_ptr());
        // SAFETY: each index below the number of items comes once.
        self.for_each_index(items.len(), &|i| task(unsafe { &mut *start.at(i) }));
    }

    /// What `make` makes of every index below `n`, in order.
    pub(crate) fn map<T: Send>(self, n: usize, make: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
        let mut made = Vec::<T>::with_capacity(n);
        let start = Shared(made.as_mut_ptr());
        // SAFETY: there is room for `n` items, and each index below comes once. (If one panics, the
        // others are never dropped.)
        unsafe {
            self.for_each_index(n, &|i| start.at(i).write(make(i)));
            made.set_len(n);
        }
        made
    }

    /// Runs `task` on ranges that make up `0..n`.
    pub(crate) fn for_ranges(self, n: usize, task: impl Fn(Range<usize>) + Send + Sync) {
        let parts = if self.threads == 1 {
            1
        } else {
            n.div_ceil(CHUNK_MIN).max(1)
        };
        let size = n.div_ceil(parts);
        self.for_each_index(parts, &|i| task(i * size..((i + 1) * size).min(n)));
    }

    /// Runs `task` on every index below `n`. Not generic, so that it is compiled once, and so is each task.
    fn for_each_index(self, n: usize, task: &(dyn Fn(usize) + Sync)) {
        match self.team {
            Some((team, pool)) if self.threads > 1 && n > 1 => team.share(pool, n, task),
            _ => (0..n).for_each(task),
        }
    }
}

/// How long a helper works before it offers its core to others.
pub(crate) struct Turn(Instant);

impl Turn {
    /// One that begins now.
    pub(crate) fn begin() -> Self {
        Turn(Instant::now())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.elapsed() > TURN
    }
}

/// Waits a little for something to be so, and soon lets others have the core meanwhile: it may be
/// one of them that is waited for. Returns whether it is.
pub(crate) fn spin(so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..64 {
            if so() {
                return true;
            }
            std::hint::spin_loop();
        }
        let waited = start.elapsed();
        if waited > SPIN {
            return false;
        }
        if waited > SPIN_ALONE {
            thread::yield_now();
        }
    }
}

/// Locks a mutex: what it holds is whole also where somebody has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker's number, until this is dropped.
struct Number(usize);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

impl Number {
    fn set(number: usize) -> Self {
        Number(NUMBER.replace(number))
    }

    fn get() -> usize {
        NUMBER.get()
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        NUMBER.set(self.0);
    }
}

/// The start of a slice whose items go to different workers.
#[derive(Debug)]
pub(crate) struct Shared<T>(pub(crate) *mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<T> {}

// SAFETY: each item is used by one worker, and may be sent to it.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Item `i`.
    pub(crate) fn at(&self, i: usize) -> *mut T {
        self.0.wrapping_add(i)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::{self, RecvTimeoutError};

    use super::*;

    /// What `test` does, in a thread of its own, so that one that waits for ever fails.
    fn in_time(test: impl FnOnce() + Send + 'static) {
        let (done, ended) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            let _done = done;
            test();
        });
        let waits = ended.recv_timeout(Duration::from_secs(300)) == Err(RecvTimeoutError::Timeout);
        assert!(!waits, "somebody waits for ever");
        if let Err(panic) = thread.join() {
            resume_unwind(panic);
        }
    }

    /// Each item once, whether each takes a helper's whole turn or there are many works of few items.
    #[test]
    fn turns_end() {
        in_time(|| {
            let pool = Pool::new(Some(3));
            for rounds in [1, 50] {
                for n in 1..17 {
                    let mut counts = vec![0u8; n];
                    let done = pool.enter(true, |crew| {
                        for _ in 0..rounds {
                            crew.for_each(&mut counts, |count| {
                                match rounds {
                                    1 => thread::sleep(2 * TURN),
                                    _ => thread::yield_now(),
                                }
                                *count += 1;
                            });
                        }
                    });
                    assert_eq!((done, counts), (Ok(()), vec![rounds; n]));
                }
            }
        });
    }

    /// Each item once, each worker's number by one at a time, whoever calls; works within works, too.
    #[test]
    fn items_are_shared() {
        let check = |pool: &Pool, threads: usize| {
            for n in [0, 1, 2, 7, 100, 1000] {
                let mut counts: Vec<_> = (0..n).map(|i| vec![0u8; i % 5]).collect();
                let busy: Vec<_> = (0..threads).map(|_| AtomicBool::new(false)).collect();
                let done = pool.enter(true, |crew| {
                    assert_eq!(crew.threads(), threads);
                    crew.for_each(&mut counts, |counts| {
                        crew.for_each(counts, |count| {
                            let busy = &busy[crew.worker()];
                            assert!(
                                !busy.swap(true, Ordering::Relaxed),
                                "one number, two workers"
                            );
                            *count += 1;
                            std::thread::yield_now();
                            busy.store(false, Ordering::Relaxed);
                        });
                    });
                });
                assert_eq!(done, Ok(()));
                let all = counts.iter().flatten().all(|&count| count == 1);
                assert!(all, "{n} items, {threads} workers");
                let made = pool.enter(true, |crew| crew.map(n, |i| vec![i; i % 5]));
                assert_eq!(made, Ok((0..n).map(|i| vec![i; i % 5]).collect()));
            }
        };
        for threads in [1, 2, 3, 8] {
            check(&Pool::new(Some(threads)), threads);
        }
        let global = Pool::new(None);
        check(&global, rayon::current_num_threads());
        let other = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        other.install(|| check(&global, 3));
    }

    /// What is done for an item may wait for the pool, whoever calls, and however many.
    #[test]
    fn items_may_wait_for_the_pool() {
        in_time(|| {
            let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            let call = || {
                let mut items = [0usize; 11];
                let global = Pool::new(None);
                let entered = global.enter(true, |crew| {
                    crew.for_each(&mut items, |item| {
                        let (a, b) = rayon::join(|| 1, || rayon::join(|| 2, || 3));
                        *item = a + b.0 + b.1 + pool.install(|| 4);
                        let _ = rayon::yield_now();
                    });
                });
                assert_eq!((entered, items), (Ok(()), [10; 11]));
            };
            for _ in 0..100 {
                std::thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(call);
                    }
                    scope.spawn(|| pool.install(call));
                    scope.spawn(|| rayon::scope(|_| call()));
                });
            }
        });
    }

    /// Who has other things to do is not waited for.
    #[test]
    fn nobody_needs_to_join() {
        let other = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let wait_for = |flag: &AtomicBool| {
            while !flag.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        };
        other.scope(|scope| {
            scope.spawn(|_| {
                begun.store(true, Ordering::Release);
                wait_for(&ended);
            });
            wait_for(&begun);
            let mut items = [0; 100];
            let done = Pool::new(None).enter(true, |crew| {
                crew.for_each(&mut items, |item| *item += crew.worker() + 1);
            });
            ended.store(true, Ordering::Release);
            assert_eq!((done, items), (Ok(()), [1; 100]));
        });
    }

    /// Panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a bomb was dropped");
        }
    }

    /// A task's panic is the caller's, once all others are done, and so is the caller's own; the
    /// pool goes on.
    #[test]
    fn panics_reach_the_caller() {
        let pool = Pool::new(Some(2));
        for bad in [0, 50, 99] {
            let mut items: Vec<usize> = (0..100).collect();
            let panic = catch_unwind(AssertUnwindSafe(|| {
                pool.enter(true, |crew| {
                    crew.for_each(&mut items, |item| assert!(*item != bad, "item {item}"));
                })
            }));
            let message = panic.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(*message, format!("item {bad}"));
        }
        // Where all panic, one of them is, and the others are not even dropped.
        let panic = catch_unwind(AssertUnwindSafe(|| {
            pool.enter(true, |crew| {
                crew.for_each(&mut [0; 2], |_| {
                    thread::sleep(2 * SPIN);
                    std::panic::panic_any(Bomb);
                });
            })
        }));
        std::mem::forget(panic.unwrap_err().downcast::<Bomb>().unwrap());
        let panic = catch_unwind(AssertUnwindSafe(|| {
            pool.enter(true, |crew| {
                crew.for_each(&mut [0; 100], |item| *item += 1);
                panic!("the caller");
            })
        }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the caller"));
        let mut items = [0; 100];
        let done = pool.enter(true, |crew| crew.for_each(&mut items, |item| *item += 1));
        assert_eq!((done, items), (Ok(()), [1; 100]));
    }
}
