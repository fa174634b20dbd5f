//! Peak memory of a run: the tool's allocator counts bytes while it is asked to.
//!
//! Outside of [`peak_of`] it costs one relaxed load per allocation. It sees whatever goes through
//! Rust's global allocator, on any thread; memory that C++ takes, or that comes from `mmap`
//! directly, it does not see.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

/// The system's allocator with a counter. Not inlined, for it would be at each of thousands of places where memory is
/// taken or freed.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);
/// Bytes allocated less bytes freed since the count began; below zero when older memory is freed.
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);
/// One count at a time.
static TURN: Mutex<()> = Mutex::new(());

fn count(bytes: isize) {
    if COUNTING.load(Relaxed) {
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are those asked for.
        unsafe { System.alloc(layout) }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline(never)]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(start, layout, bytes) }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Runs `run`, and tells by how many bytes the memory in use rose above its level at the start.
pub fn peak_of<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let _turn = TURN.lock().unwrap_or_else(|poison| poison.into_inner());
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    let result = run();
    COUNTING.store(false, Relaxed);
    (result, PEAK.load(Relaxed).max(0) as u64)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// By so much memory, none of it touched, that what other tests take and free meanwhile is of no matter.
    #[test]
    fn the_peak_counts_what_is_freed_again() {
        const UNIT: usize = 64 << 20;
        let room = |units: usize| black_box(Vec::<u8>::with_capacity(units * UNIT));
        let (rest, peak) = peak_of(|| {
            let (first, second) = (room(4), room(4));
            drop(first);
            let third = room(2);
            second.capacity() + third.capacity()
        });
        assert_eq!(rest, 6 * UNIT);
        assert!((7 * UNIT..9 * UNIT).contains(&(peak as usize)), "{peak}");
    }
}
