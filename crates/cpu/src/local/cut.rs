//! Keys alone cut about one of them, where they lie, by vectors.
//!
//! ```text
//! load       some vectors from the start or from the end, where there is less room; the codes of keys that are none
//! compare    with the pivot
//! compress   the lesser keys of a vector side by side, and the greater ones
//! store      lesser ones behind lesser ones at the start, greater ones in front of greater ones at the end
//! ```
//!
//! A few vectors of both ends are read before any is stored, and stored last: so there is always room for what comes. Nothing
//! goes to another place, so a cut reads and writes each line of the caches once. Keys that are the pivot are not stored: when all
//! others are, the places that are left are theirs.

use sweepsort_core::{Coder, Word};

use super::block;
use super::coding::{Coded, Codes, Coding};
use crate::columns::{LINE, prefetch};
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::tuning::CUT_AHEAD_BYTES;

/// Vectors that are read at a time. While they are put, the next ones are on their way: which end these come from is
/// foreseen, since it mostly is the other one.
const TOGETHER: usize = 8;

/// Fewer keys than that cannot be cut.
pub(super) const LEAST: usize = block::MOST;

/// What a cut leaves: lesser keys, those that are the pivot, and greater ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    /// How many are less than the pivot.
    pub(crate) less: usize,
    /// How many are the pivot.
    pub(crate) same: usize,
}

/// Cuts `n` keys about a middle one, and leaves their codes, if these are what a coder makes of them; or returns nothing, for
/// there are no vectors for such keys.
///
/// # Safety
/// The machine has the instructions. The keys are there, at least the [`LEAST`], and nobody else uses them now.
pub(super) unsafe fn cut<W: Word>(
    instructions: Instructions,
    keys: *mut W,
    n: usize,
    coder: Option<&Coder<W>>,
) -> Option<Cut> {
    debug_assert!(n >= LEAST);
    // SAFETY: the caller's promise.
    unsafe { by_vectors::<W, _>(instructions, Whole { keys, n, coder }).ok() }
}

/// Keys to be cut.
struct Whole<'a, W> {
    keys: *mut W,
    n: usize,
    coder: Option<&'a Coder<W>>,
}

impl<W: Word> Vectored for Whole<'_, W> {
    type Output = Cut;

    /// As [`cut`].
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Cut {
        assert_eq!(L::Word::WIDTH, W::WIDTH);
        let keys: *mut L::Word = self.keys.cast();
        // SAFETY: the caller's promise.
        unsafe {
            match self.coder {
                None => cut_by::<L, _>(keys, self.n, Codes),
                Some(coder) => cut_by(keys, self.n, Coded::<L>::new(coder)),
            }
        }
    }
}

/// Cuts keys, as [`cut`].
#[inline(always)]
unsafe fn cut_by<L: Lanes, C: Coding<L>>(keys: *mut L::Word, n: usize, coding: C) -> Cut {
    // SAFETY: the caller's promise; in the end all keys have been put but those that are the pivot.
    unsafe {
        let pivot = block::middle(keys, n, coding);
        let mut places = Places::<L, C> {
            coding,
            pivot: L::splat(pivot),
            less: keys,
            greater: keys.add(n),
        };
        places.put_all();
        let less = places.less.offset_from_unsigned(keys);
        let same = places.greater.offset_from_unsigned(places.less);
        std::slice::from_raw_parts_mut(places.less, same).fill(pivot);
        Cut { less, same }
    }
}

/// Where keys go that are cut about a pivot.
struct Places<L: Lanes, C> {
    coding: C,
    pivot: L::Vector,
    /// Behind the lesser keys that have been put.
    less: *mut L::Word,
    /// The first of the greater ones.
    greater: *mut L::Word,
}

impl<L: Lanes, C: Coding<L>> Places<L, C> {
    /// Keys that a loop reads.
    const KEYS: usize = TOGETHER * L::LANES;

    /// Puts the keys that lie between the two places: as many as two loops read, or more.
    #[inline(always)]
    unsafe fn put_all(&mut self) {
        const { assert!(2 * Self::KEYS <= LEAST) };
        // SAFETY: what both ends had is held, so between them they have room for two loops, and one of them has room for one. The next
        // keys are read at the other: then each has room for all of them. When all have been read, what is held has the
        // room between, to the last vector.
        unsafe {
            let (mut from, mut to) = (self.less, self.greater);
            let mut held = [self.pivot; 2 * TOGETHER];
            let (first, last) = held.split_at_mut(TOGETHER);
            self.read(from, first);
            from = from.add(Self::KEYS);
            to = to.sub(Self::KEYS);
            self.read(to, last);
            let mut keys = [self.pivot; TOGETHER];
            while to.offset_from_unsigned(from) >= Self::KEYS {
                let in_front =
                    from.offset_from_unsigned(self.less) <= self.greater.offset_from_unsigned(to);
                if in_front {
                    fetch::<L>(from.cast::<u8>().wrapping_add(CUT_AHEAD_BYTES));
                    self.read(from, &mut keys);
                    from = from.add(Self::KEYS);
                } else {
                    to = to.sub(Self::KEYS);
                    fetch::<L>(to.cast::<u8>().wrapping_sub(CUT_AHEAD_BYTES));
                    self.read(to, &mut keys);
                }
                for keys in keys {
                    self.put(keys);
                }
            }
            let rest = to.offset_from_unsigned(from);
            let none = self.coding.decode(self.pivot);
            for (i, keys) in keys.iter_mut().enumerate() {
                let at = rest.min(i * L::LANES);
                let some = L::load_some(from.add(at), rest - at, none);
                *keys = self.coding.encode(some);
            }
            for keys in keys.into_iter().chain(held) {
                self.put(keys);
            }
        }
    }

    #[inline(always)]
    unsafe fn read(&self, from: *const L::Word, keys: &mut [L::Vector]) {
        for (i, keys) in keys.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *keys = unsafe { self.coding.encode(L::load(from.add(i * L::LANES))) };
        }
    }

    /// Puts the keys of a vector, but for those that are the pivot. There is room for it between the two places.
    #[inline(always)]
    unsafe fn put(&mut self, keys: L::Vector) {
        // SAFETY: the caller's promise. What is written behind the lesser keys is in that room, and the greater ones come later.
        unsafe {
            let (below, above) = (L::below(keys, self.pivot), L::below(self.pivot, keys));
            let greater = above.count_ones() as usize;
            L::store(self.less, L::compress(keys, below));
            L::store_last(self.greater, L::compress(keys, above), greater);
            self.less = self.less.add(below.count_ones() as usize);
            self.greater = self.greater.sub(greater);
        }
    }
}

/// Says that what a loop reads at `at` will soon be read: no machine foresees from which end that is.
#[inline(always)]
fn fetch<L: Lanes>(at: *const u8) {
    for line in (0..TOGETHER * L::LANES * size_of::<L::Word>()).step_by(LINE) {
        prefetch(at.wrapping_add(line));
    }
}

#[cfg(test)]
mod tests {
    use sweepsort_core::{Codec, Kind};

    use super::*;

    /// Lesser keys in front, then those that are the pivot, then greater ones. No key is lost, and none of the neighbours is touched.
    #[test]
    fn keys_are_cut() {
        fn width<W: Word>(instructions: Instructions) {
            const BESIDE: usize = 40;
            let random = |i: usize| {
                (i as u64 + 1)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(29)
            };
            let word = |key: u64| W::truncate(u128::from(key >> (64 - W::BITS.min(64))));
            let float = Codec {
                kind: Kind::Float {
                    mantissa: W::BITS / 2,
                },
                ..Codec::UNSIGNED
            };
            for (n, coder) in (LEAST..LEAST + 140)
                .chain([1000, 5000, 5001, 70_000])
                .flat_map(|n| [(n, None), (n, Some(float.coder::<W>()))])
            {
                let keys =
                    |key: &dyn Fn(usize) -> u64| (0..n).map(|i| word(key(i))).collect::<Vec<W>>();
                for (name, keys) in [
                    ("random", keys(&random)),
                    ("ascending", keys(&|i| i as u64)),
                    ("descending", keys(&|i| (n - i) as u64)),
                    ("all equal", keys(&|_| 1 << 63)),
                    ("two values", keys(&|i| random(i) >> 63 << 40)),
                    ("few values", keys(&|i| random(i) >> 61 << 61)),
                    (
                        "greatest",
                        keys(&|i| random(i) | random(i + n) | random(i + 2 * n)),
                    ),
                    ("one is less", keys(&|i| u64::from(i != n / 3) << 63)),
                ] {
                    let edge = vec![W::TOP; BESIDE];
                    let mut all = [&edge[..], &keys, &edge].concat();
                    // SAFETY: the machine has the instructions, and the keys are there.
                    let cut = unsafe {
                        let keys = all.as_mut_ptr().add(BESIDE);
                        cut(instructions, keys, n, coder.as_ref())
                    };
                    let what = match coder {
                        None => format!("{instructions:?}: {n} {name} of {} bits", W::BITS),
                        Some(_) => {
                            format!("{instructions:?}: {n} {name} of {} bits, coded", W::BITS)
                        }
                    };
                    let Cut { less, same } = cut.expect(&what);
                    let (cut, pivot) = (&all[BESIDE..][..n], all[BESIDE + less]);
                    let parts = [
                        cut[..less].iter().all(|&key| key < pivot),
                        cut[less..less + same].iter().all(|&key| key == pivot),
                        cut[less + same..].iter().all(|&key| key > pivot),
                    ];
                    assert!(parts == [true; 3] && same > 0, "{what}: {less}, {same}");
                    let sorted = |keys: &[W]| {
                        let mut keys = keys.to_vec();
                        keys.sort_unstable();
                        keys
                    };
                    let code = |&key: &W| coder.map_or(key, |coder| coder.encode(key));
                    let codes: Vec<W> = keys.iter().map(code).collect();
                    assert!(sorted(cut) == sorted(&codes), "{what}: other keys");
                    let beside = [&all[..BESIDE], &all[BESIDE + n..]];
                    assert!(beside == [&edge[..]; 2], "{what}: beside");
                }
            }
        }
        for instructions in Instructions::all().filter(|&one| one > Instructions::Portable) {
            width::<u32>(instructions);
            width::<u64>(instructions);
        }
    }

    #[test]
    fn other_keys_and_machines_are_refused() {
        let (mut halves, mut words) = ([0u16; LEAST], [0u32; LEAST]);
        // SAFETY: the machine has the instructions, and the keys are there.
        let refused = unsafe {
            [
                cut(Instructions::detect(), halves.as_mut_ptr(), LEAST, None),
                cut(Instructions::Portable, words.as_mut_ptr(), LEAST, None),
            ]
        };
        assert_eq!(refused, [None; 2]);
    }
}
