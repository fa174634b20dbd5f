//! Who works for a caller: threads that have been asked, join, look for open works, and leave.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use rayon::ThreadPool;

use super::work::Work;
use super::{Number, Turn, lock, spin};
use crate::tuning::{ASKED_ONE_IN, LATE};

/// Those who have joined a caller, and what there is to do.
pub(super) struct Team {
    pub(super) threads: usize,
    /// The core that the caller runs on, or [`NO_CORE`].
    core: AtomicUsize,
    /// When helpers were first asked.
    asked: OnceLock<Instant>,
    board: Mutex<Board>,
    /// Whether somebody has come.
    pub(super) has_come: AtomicBool,
    /// How often the board was changed: to be looked at without the lock.
    news: AtomicUsize,
    /// Woken when the last one leaves a work.
    done: Condvar,
}

/// What is known to all.
pub(super) struct Board {
    /// How many have joined, or are asked to.
    helpers: usize,
    /// Workers' numbers that nobody has.
    numbers: Vec<usize>,
    /// Whether the caller needs nobody.
    pub(super) dismissed: bool,
    /// Whether the caller is gone.
    pub(super) left: bool,
    /// Works that are open, oldest first.
    open: Vec<*const Work>,
}

// SAFETY: works may be shared, and the open ones are there.
unsafe impl Send for Board {}

/// Joins in all pools that have not begun. They take memory, and where all threads of a pool are busy nobody
/// takes them away.
static ASKED: AtomicUsize = AtomicUsize::new(0);
const ASKED_MAX: usize = 1024;

/// How long the first helper of the last team took to join, or how long a caller had none.
pub(super) static DELAY_NS: AtomicU64 = AtomicU64::new(0);

/// A core that nobody runs on.
const NO_CORE: usize = usize::MAX;

/// The core that this thread runs on, where the system tells.
fn core() -> usize {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: nothing is asked of the caller.
        let core = unsafe { libc::sched_getcpu() };
        usize::try_from(core).unwrap_or(NO_CORE)
    }
    #[cfg(not(target_os = "linux"))]
    NO_CORE
}

/// Whether helpers are worth a question before there is work for them: the last ones came soon, or nobody was
/// asked for a while.
pub(super) fn are_expected() -> bool {
    static CALLERS: AtomicUsize = AtomicUsize::new(0);
    DELAY_NS.load(Ordering::Relaxed) <= LATE.as_nanos() as u64
        || CALLERS
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(ASKED_ONE_IN)
}

impl Team {
    pub(super) fn new(threads: usize) -> Self {
        Team {
            threads,
            core: AtomicUsize::new(core()),
            asked: OnceLock::new(),
            board: Mutex::new(Board {
                helpers: 0,
                numbers: (1..threads).rev().collect(),
                dismissed: false,
                left: false,
                open: Vec::new(),
            }),
            has_come: AtomicBool::new(false),
            news: AtomicUsize::new(0),
            done: Condvar::new(),
        }
    }

    /// Asks threads to join, so that there are as many helpers as there may be and as `items` need.
    pub(super) fn ask(self: &Arc<Self>, pool: Option<&ThreadPool>, items: usize) {
        let mut board = lock(&self.board);
        let wanted = (self.threads - 1).min(items.saturating_sub(1));
        let missing = wanted.saturating_sub(board.helpers);
        if missing == 0 || ASKED.load(Ordering::Relaxed) > ASKED_MAX {
            return;
        }
        board.helpers += missing;
        drop(board);
        self.asked.get_or_init(Instant::now);
        ASKED.fetch_add(missing, Ordering::Relaxed);
        for _ in 0..missing {
            let team = Arc::clone(self);
            let join = move || {
                ASKED.fetch_sub(1, Ordering::Relaxed);
                team.join();
            };
            match pool {
                Some(pool) => pool.spawn(join),
                None => rayon::spawn(join),
            }
        }
    }

    /// Works for the caller as long as there is something to do, by turns.
    fn join(&self) {
        let mut board = lock(&self.board);
        if board.left || self.is_beside() {
            // The caller notes itself that nobody came.
            board.helpers -= 1;
            return;
        }
        if !self.has_come.swap(true, Ordering::Relaxed) {
            self.note_delay();
        }
        let Some(worker) = board.numbers.pop() else {
            return;
        };
        let _number = Number::set(worker);
        let mut turn = Turn::begin();
        while !board.left && !board.dismissed && !self.is_beside() {
            if turn.is_over() {
                drop(board);
                thread::yield_now();
                turn = Turn::begin();
                board = lock(&self.board);
                continue;
            }
            let news = self.news.load(Ordering::Relaxed);
            // SAFETY: open works are there.
            let free = |&&work: &&*const Work| unsafe { !(*work).is_taken() };
            if let Some(&work) = board.open.iter().rev().find(free) {
                // SAFETY: the work is open now, and who is inside is waited for.
                unsafe {
                    (*work).inside.fetch_add(1, Ordering::Relaxed);
                    drop(board);
                    (*work).run(worker, || !turn.is_over() && !self.is_beside());
                    let last = (*work).inside.fetch_sub(1, Ordering::Release) == 1;
                    // From here on the work may be gone.
                    board = lock(&self.board);
                    if last {
                        self.done.notify_all();
                    }
                }
                continue;
            }
            drop(board);
            spin(|| self.news.load(Ordering::Relaxed) != news);
            board = lock(&self.board);
            if self.news.load(Ordering::Relaxed) == news {
                break;
            }
        }
        board.numbers.push(worker);
        board.helpers -= 1;
    }

    /// Runs `task` on every index below `n`, with all who are free.
    pub(super) fn share(
        self: &Arc<Self>,
        pool: Option<&ThreadPool>,
        n: usize,
        task: &(dyn Fn(usize) + Sync),
    ) {
        // SAFETY: nobody uses it after this call.
        let work = unsafe { Work::new(task, n, self.threads) };
        let own = &raw const work;
        self.tell(|board| board.open.push(own));
        self.ask(pool, n);
        work.run(Number::get(), || {
            self.note_core();
            true
        });
        lock(&self.board).open.retain(|&open| open != own);
        let alone = || work.inside.load(Ordering::Acquire) == 0;
        if !spin(alone) {
            let mut board = lock(&self.board);
            while !alone() {
                board = self
                    .done
                    .wait(board)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
        if let Some(panic) = work
            .panic
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
        {
            resume_unwind(panic);
        }
    }

    /// Notes which core the caller runs on.
    fn note_core(&self) {
        if Number::get() == 0 {
            self.core.store(core(), Ordering::Relaxed);
        }
    }

    /// Whether a helper runs on the caller's core, and would only take it away.
    fn is_beside(&self) -> bool {
        let own = core();
        own != NO_CORE && own == self.core.load(Ordering::Relaxed)
    }

    /// Notes how long ago helpers were asked, if they were.
    pub(super) fn note_delay(&self) {
        if let Some(asked) = self.asked.get() {
            DELAY_NS.store(asked.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// Changes the board, and tells all.
    pub(super) fn tell(&self, change: impl FnOnce(&mut Board)) {
        change(&mut lock(&self.board));
        self.news.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has a thread join that was asked. Returns whether it is told that somebody has come; workers'
    /// numbers must be as before.
    fn join(core: usize, change: impl FnOnce(&mut Board)) -> bool {
        let team = Team::new(2);
        team.core.store(core, Ordering::Relaxed);
        team.tell(|board| board.helpers = 1);
        team.tell(change);
        team.join();
        let board = lock(&team.board);
        assert_eq!((board.helpers, &board.numbers[..]), (0, &[1][..]));
        team.has_come.load(Ordering::Relaxed)
    }

    /// A thread that was asked and comes when the caller is gone, or needs nobody, joins nobody. It
    /// tells how long one takes to come in the second case alone.
    #[test]
    fn who_comes_too_late_does_not_join() {
        assert!(!join(NO_CORE, |board| board.left = true));
        assert!(join(NO_CORE, |board| board.dismissed = true));
    }

    /// Nor does one that would take the caller's core away.
    #[test]
    #[cfg(target_os = "linux")]
    fn who_comes_beside_the_caller_does_not_join() {
        // Again, if the system moves this thread meanwhile.
        let came = (0..1000).find_map(|_| {
            let before = core();
            let came = join(before, |_| ());
            (core() == before).then_some(came)
        });
        assert_eq!(came, Some(false));
        assert!(join(NO_CORE, |_| ()));
    }
}
