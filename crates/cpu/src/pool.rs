//! Threads: a rayon pool, asked for only when there is work for several.

use std::error::Error as _;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use sweepsort_core::{Error, Result};

use crate::tuning::CHUNK_MIN;

/// Where workers come from.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: Option<usize>,
    own: OnceLock<Result<ThreadPool, String>>,
}

impl Pool {
    /// A pool of `threads` workers of its own; or, without a number, the rayon pool that a call
    /// comes from, which is the global one where it comes from none. Starts nothing yet.
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
        static CORES: OnceLock<usize> = OnceLock::new();
        match self.threads {
            Some(threads) => threads.max(1),
            None if rayon::current_thread_index().is_some() => rayon::current_num_threads(),
            None => {
                *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
            }
        }
    }

    /// Does `work` with several workers, or where that is not worth while with the caller alone.
    ///
    /// # Errors
    /// [`Error::Threads`] if workers cannot be started; `work` has not begun then.
    pub(crate) fn enter<T: Send>(
        &self,
        several: bool,
        work: impl FnOnce(Crew) -> T + Send,
    ) -> Result<T> {
        if !several {
            return Ok(work(Crew::alone()));
        }
        // Rayon's machinery is compiled once, and not for each kind of work.
        let (mut work, mut done) = (Some(work), None);
        self.enter_once(&mut |crew| done = work.take().map(|work| work(crew)))?;
        Ok(done.expect("the pool does the work"))
    }

    fn enter_once(&self, work: &mut (dyn FnMut(Crew) + Send)) -> Result<()> {
        static GLOBAL: OnceLock<Result<(), String>> = OnceLock::new();
        match self.threads {
            Some(0 | 1) => work(Crew::alone()),
            Some(threads) => {
                let pool = self.own.get_or_init(|| {
                    ThreadPoolBuilder::new()
                        .num_threads(threads)
                        .thread_name(|i| format!("sweepsort-{i}"))
                        .build()
                        .map_err(|error| error.to_string())
                });
                match pool {
                    Ok(pool) => pool.install(|| work(Crew { threads })),
                    Err(why) => {
                        return Err(Error::Threads {
                            threads,
                            why: why.clone(),
                        });
                    }
                }
            }
            None => {
                if rayon::current_thread_index().is_none() {
                    // Rayon itself would panic where the global pool cannot be started.
                    GLOBAL
                        .get_or_init(start_global)
                        .as_ref()
                        .map_err(|why| Error::Threads {
                            threads: self.threads(),
                            why: why.clone(),
                        })?;
                }
                rayon::scope(|_| {
                    work(Crew {
                        threads: rayon::current_num_threads(),
                    })
                });
            }
        }
        Ok(())
    }
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

/// The workers that share one sort.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crew {
    threads: usize,
}

impl Crew {
    /// The caller alone.
    pub(crate) const fn alone() -> Self {
        Crew { threads: 1 }
    }

    /// How many workers there are.
    pub(crate) fn threads(self) -> usize {
        self.threads
    }

    /// Which worker runs this code; below [`threads`](Self::threads).
    pub(crate) fn worker(self) -> usize {
        if self.threads == 1 {
            0
        } else {
            rayon::current_thread_index().unwrap_or(0)
        }
    }

    /// Runs `task` on every item; whichever worker is free takes the next.
    pub(crate) fn for_each<T: Send>(self, items: &mut [T], task: impl Fn(&mut T) + Send + Sync) {
        if self.threads == 1 || items.len() == 1 {
            return items.iter_mut().for_each(task);
        }
        let start = Shared(items.as_mut_ptr());
        // SAFETY: each index below the number of items comes once.
        self.for_each_index(items.len(), &|i| task(unsafe { &mut *start.at(i) }));
    }

    /// Runs `task` on ranges that make up `0..n`.
    pub(crate) fn for_ranges(self, n: usize, task: impl Fn(Range<usize>) + Send + Sync) {
        let parts = if self.threads == 1 {
            1
        } else {
            n.div_ceil(CHUNK_MIN).max(1)
        };
        let size = n.div_ceil(parts);
        let range = |i: usize| i * size..((i + 1) * size).min(n);
        if parts == 1 {
            return task(range(0));
        }
        self.for_each_index(parts, &|i| task(range(i)));
    }

    /// Runs `task` on every index below `n`. Not generic, so that it is compiled once.
    fn for_each_index(self, n: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..n).into_par_iter().with_max_len(1).for_each(task);
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
