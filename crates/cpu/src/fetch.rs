//! Lines of the caches: fetched before they are used, or written past the caches.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// Bytes of a line of the caches.
pub(crate) const LINE: usize = 64;

/// Says that the cache line at `at` will soon be used. A hint: any address will do.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    prefetch_level::<1>(at);
}

/// Says that it will be used later, so that the second level cache has it, and the first one what
/// is used before.
#[inline(always)]
pub(crate) fn prefetch_second(at: *const u8) {
    prefetch_level::<2>(at);
}

/// The same of the lines of so many bytes.
#[inline(always)]
pub(crate) fn prefetch_lines(at: *const u8, bytes: usize) {
    for line in (0..bytes).step_by(LINE) {
        prefetch_second(at.wrapping_add(line));
    }
}

/// Says that the cache line at `at` will soon be written, so that no other core's cache keeps it. A
/// hint, where there [is such a one](crate::instructions::fetches_to_write).
#[inline(always)]
pub(crate) fn prefetch_to_write(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and never faults; a machine without it does nothing.
    unsafe {
        asm!("prefetchw [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Says that a line will be used, for a cache of the first or the second level.
#[inline(always)]
fn prefetch_level<const LEVEL: u32>(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match LEVEL {
            1 => _mm_prefetch::<_MM_HINT_T0>(at.cast()),
            _ => _mm_prefetch::<_MM_HINT_T1>(at.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Writes some words past the caches, where the machine can. Others see them after [`streamed`].
///
/// # Safety
/// There is room for them, and nobody else uses it now. It begins with a line, and words fill whole ones.
#[inline(always)]
pub(crate) unsafe fn stream<T: Copy, const N: usize>(to: *mut T, words: [T; N]) {
    const { assert!((N * size_of::<T>()).is_multiple_of(LINE)) }
    // SAFETY: the caller's promise.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let (to, words): (*mut __m128i, *const __m128i) = (to.cast(), words.as_ptr().cast());
        for i in 0..N * size_of::<T>() / size_of::<__m128i>() {
            _mm_stream_si128(to.add(i), _mm_loadu_si128(words.add(i)));
        }
    }
    // SAFETY: the caller's promise.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe {
        to.cast::<[T; N]>().write(words);
    }
}

/// Ends what was written past the caches: without it, it may come after what is written next.
#[inline(always)]
pub(crate) fn streamed() {
    // SAFETY: the machine has it, as all of x86-64 do.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
