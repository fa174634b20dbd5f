//! Keys alone that fit the registers, sorted where they lie: without memory, and in far less time than it takes
//! to set up more.

use sweepsort_core::Word;

use super::block;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};

/// More keys than this are too many, whatever vectors there are.
pub(crate) const FEW_MAX: usize = block::MOST;

/// Sorts `n` keys, if `prepare`, by which they are codes, says that there is something to sort; or returns false,
/// for they are too many or there are no vectors for such keys, and has not asked.
///
/// # Safety
/// The machine has the instructions. The keys are there, and nobody else uses them now.
#[inline]
pub(crate) unsafe fn sort<W: Word>(
    instructions: Instructions,
    keys: *mut W,
    n: usize,
    prepare: impl FnOnce() -> bool,
) -> bool {
    let few = Few { keys, n, prepare };
    // SAFETY: the caller's promise.
    unsafe { by_vectors::<W, _>(instructions, few) }.unwrap_or(false)
}

struct Few<W, F> {
    keys: *mut W,
    n: usize,
    prepare: F,
}

impl<W: Word, F: FnOnce() -> bool> Vectored for Few<W, F> {
    type Output = bool;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> bool {
        assert_eq!(L::Word::WIDTH, W::WIDTH);
        if self.n > block::most::<L>() {
            return false;
        }
        if (self.prepare)() {
            let keys: *mut L::Word = self.keys.cast();
            // SAFETY: the promise of `sort`.
            unsafe { block::sort::<L>(keys, self.n, keys, self.n) };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys beside those that are sorted, on either side.
    const BESIDE: usize = 20;

    /// Every number of keys up to one too many, few values and many, and nothing beside them is written.
    #[test]
    fn few_keys_are_sorted_where_they_lie() {
        fn width<W: Word>(instructions: Instructions, most: usize) {
            for n in 0..=most + 1 {
                for (bits, sorts) in [(1, true), (4, true), (W::BITS, true), (W::BITS, false)] {
                    let mut state = n as u128;
                    let key = |_| {
                        state = state
                            .wrapping_mul(0xda94_2042_e4dd_58b5)
                            .wrapping_add(1 << 63);
                        W::truncate(state >> 64) & W::mask(&(0..bits))
                    };
                    let before: Vec<W> = (0..n + 2 * BESIDE).map(key).collect();
                    let mut wanted = before.clone();
                    if n <= most && sorts {
                        wanted[BESIDE..BESIDE + n].sort_unstable();
                    }
                    let (mut keys, mut asked) = (before, false);
                    // SAFETY: the machine has the instructions, and the keys are there.
                    let done = unsafe {
                        let start = keys.as_mut_ptr().add(BESIDE);
                        sort(instructions, start, n, || {
                            asked = true;
                            sorts
                        })
                    };
                    let what = format!(
                        "{instructions:?}: {n} keys of {} bits, {bits} vary, {sorts}",
                        W::BITS
                    );
                    assert_eq!((done, asked), (n <= most, n <= most), "{what}");
                    assert!(keys == wanted, "{what}");
                }
            }
        }
        let all = [
            (Instructions::Portable, [0, 0]),
            (Instructions::Avx2, [128, 32]),
            (Instructions::Avx512, [256, 128]),
        ];
        for (instructions, [narrow, wide]) in all {
            if instructions <= Instructions::detect() {
                assert!(narrow.max(wide) <= FEW_MAX);
                if instructions > Instructions::Portable {
                    width::<u32>(instructions, narrow);
                    width::<u64>(instructions, wide);
                }
                // SAFETY: no key is there, and none is touched.
                let done =
                    unsafe { sort::<u16>(instructions, std::ptr::dangling_mut(), 0, || true) };
                assert!(!done, "{instructions:?}: 16 bits");
            }
        }
    }
}
