//! Keys alone cut about one of them, where they lie, by vectors.
//!
//! ```text
//! load       some vectors from the start or from the end, where there is less room; the codes of keys that are none
//! compare    with the pivot
//! compress   the lesser keys of a vector side by side, and the greater ones
//! store      lesser ones behind lesser ones at the start, greater ones in front of greater ones at the end
//! ```
//!
//! A few vectors of both ends are read before any is stored, and stored last: so there is always
//! room for what comes. Nothing goes to another place, so a cut reads and writes each line of the
//! caches once. Keys that are the pivot are not stored: when all others are, the places that are
//! left are theirs.
//!
//! Two workers cut half of the keys each: the one both ends, the other one what lies between. So
//! hardly any key is on the wrong side then. One of the ends has no room before the other has been
//! read, unless the pivot is just in the middle; what is open then is brought together in the
//! middle, and cut last.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use sweepsort_core::{Coder, Word};

use super::block;
use super::coding::{Coded, Codes, Coding};
use crate::fetch::{LINE, prefetch};
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::pool::{Crew, Shared};
use crate::tuning::CUT_AHEAD_BYTES;

/// Vectors that are read at a time. While they are put, the next ones are on their way: which end
/// these come from is foreseen, since it mostly is the other one.
const TOGETHER: usize = 8;
/// The most keys that are read first and put last.
const HELD_MAX: usize = 2 * TOGETHER * 16;

/// Fewer keys than that cannot be cut.
pub(super) const LEAST: usize = block::MOST;

/// What a cut leaves: lesser keys, places for those that are the pivot, and greater ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cut<W> {
    /// Where those that are the pivot belong. They are not written.
    pub(crate) same: Range<usize>,
    pub(crate) pivot: W,
}

/// Keys to be cut, at least the [`LEAST`]; or the codes that a coder makes of them, which are left then.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a, W> {
    pub(super) start: Shared<W>,
    pub(super) n: usize,
    pub(super) coder: Option<&'a Coder<W>>,
}

impl<W: Word> Keys<'_, W> {
    /// Cuts them about a middle one; or returns nothing, for there are no vectors for such keys.
    ///
    /// # Safety
    /// The machine has the instructions. The keys are there, and nobody else uses them now.
    pub(super) unsafe fn cut(self, instructions: Instructions) -> Option<Cut<W>> {
        // SAFETY: the caller's promise.
        unsafe {
            let pivot = by_vectors::<W, _>(instructions, Middle(self)).ok()?;
            let same = by_vectors::<W, _>(instructions, Whole(self, pivot)).ok()?;
            Some(Cut { same, pivot })
        }
    }

    /// The same by two workers.
    ///
    /// # Safety
    /// As [`cut`](Self::cut); four times as many keys.
    pub(super) unsafe fn cut_by_two(
        self,
        instructions: Instructions,
        crew: Crew<'_>,
    ) -> Option<Cut<W>> {
        debug_assert!(self.n >= 4 * LEAST);
        let inner = self.n / 4..self.n - self.n / 4;
        // SAFETY: the caller's promise. The halves do not overlap, nor do keys that change places.
        unsafe {
            let pivot = by_vectors::<W, _>(instructions, Middle(self)).ok()?;
            let cut = |range: Range<usize>| {
                let whole = Whole(self.part(range.clone()), pivot);
                let same = by_vectors::<W, _>(instructions, whole).ok()?;
                Some(range.start + same.start..range.start + same.end)
            };
            let mut halves = [(true, None), (false, None)];
            crew.for_each(&mut halves, |(is_outer, between)| {
                *between = match is_outer {
                    true => by_vectors::<W, _>(instructions, Ends(self, inner.clone(), pivot)).ok(),
                    false => cut(inner.clone()),
                };
            });
            let [(_, open), (_, same)] = halves;
            let (open, same) = (open?, same?);
            self.fill(same.clone(), pivot);
            // What is open before the inner half changes places with lesser keys of that, and what
            // is open behind it with greater ones.
            let (before, behind) = (inner.start - open.start, open.end - inner.end);
            let lesser = before.min(same.start - inner.start);
            let greater = behind.min(inner.end - same.end);
            let exchange = |a, b, count| {
                ptr::swap_nonoverlapping(self.start.at(a), self.start.at(b), count);
            };
            exchange(open.start, same.start - lesser, lesser);
            exchange(same.end, open.end - greater, greater);
            let same = cut(same.start - before..same.end + behind)?;
            Some(Cut { same, pivot })
        }
    }

    /// Some of them.
    fn part(self, range: Range<usize>) -> Self {
        Keys {
            start: Shared(self.start.at(range.start)),
            n: range.len(),
            ..self
        }
    }

    /// Writes keys whose code is the pivot to some of their places.
    unsafe fn fill(self, places: Range<usize>, pivot: W) {
        let key = self.coder.map_or(pivot, |coder| coder.decode(pivot));
        // SAFETY: the caller's promise.
        unsafe { self.places(places).fill(MaybeUninit::new(key)) }
    }

    /// Writes keys from one of their places on.
    unsafe fn write(self, start: usize, keys: &[MaybeUninit<W>]) {
        // SAFETY: the caller's promise.
        unsafe { self.places(start..start + keys.len()).copy_from_slice(keys) }
    }

    unsafe fn places<'a>(self, places: Range<usize>) -> &'a mut [MaybeUninit<W>] {
        // SAFETY: the caller's promise: they are the keys', and nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(self.start.at(places.start).cast(), places.len()) }
    }
}

/// The code in the middle of a sample.
struct Middle<'a, W>(Keys<'a, W>);

impl<W: Word> Vectored for Middle<'_, W> {
    type Output = W;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> W {
        let Keys { start, n, coder } = self.0;
        let keys: *const L::Word = start.at(0).cast();
        // SAFETY: the caller's promise.
        let pivot = unsafe {
            match coder {
                None => block::middle::<L>(keys, n, Codes),
                Some(coder) => block::middle::<L>(keys, n, Coded::new(coder)),
            }
        };
        W::truncate(pivot.widen())
    }
}

/// Keys to be cut about a pivot: what lies between lesser and greater ones then.
struct Whole<'a, W>(Keys<'a, W>, W);

impl<W: Word> Vectored for Whole<'_, W> {
    type Output = Range<usize>;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Range<usize> {
        let Whole(keys, pivot) = self;
        // SAFETY: the caller's promise; in the end all keys have been put but those that are the pivot.
        unsafe {
            match keys.coder {
                None => Places::<L, _>::new(keys, pivot, Codes).put_all(),
                Some(coder) => Places::<L, _>::new(keys, pivot, Coded::new(coder)).put_all(),
            }
        }
    }
}

/// Keys of which those of both ends are to be cut about a pivot, but none of the inner ones: what
/// lies between lesser and greater ones then. That is keys as they were, the inner ones among them,
/// and places of those that are the pivot.
struct Ends<'a, W>(Keys<'a, W>, Range<usize>, W);

impl<W: Word> Vectored for Ends<'_, W> {
    type Output = Range<usize>;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Range<usize> {
        let Ends(keys, inner, pivot) = self;
        // SAFETY: the caller's promise; each end has as many keys as are held.
        unsafe {
            let mut held = [MaybeUninit::<W>::uninit(); HELD_MAX];
            let to: *mut L::Word = held.as_mut_ptr().cast();
            let (open, read) = match keys.coder {
                None => Places::<L, _>::new(keys, pivot, Codes).put_ends(inner, to),
                Some(coder) => {
                    Places::<L, _>::new(keys, pivot, Coded::new(coder)).put_ends(inner, to)
                }
            };
            // What has been read and not put has room in the places that are left at both ends, as they are.
            let count = Places::<L, Codes>::HELD;
            let first = (read.start - open.start).min(count);
            keys.fill(open.start..read.start, pivot);
            keys.fill(read.end..open.end, pivot);
            keys.write(open.start, &held[..first]);
            keys.write(read.end, &held[first..count]);
            open
        }
    }
}

/// Where keys go that are cut about a pivot.
struct Places<L: Lanes, C> {
    coding: C,
    pivot: L::Vector,
    start: *mut L::Word,
    /// Behind the lesser keys that have been put.
    less: *mut L::Word,
    /// The first of the greater ones.
    greater: *mut L::Word,
}

impl<L: Lanes, C: Coding<L>> Places<L, C> {
    /// Keys that a loop reads.
    const KEYS: usize = TOGETHER * L::LANES;
    /// Keys of both ends that are read first and put last.
    const HELD: usize = 2 * Self::KEYS;

    /// Nothing is put yet.
    #[inline(always)]
    unsafe fn new<W: Word>(keys: Keys<'_, W>, pivot: W, coding: C) -> Self {
        assert_eq!(L::Word::WIDTH, W::WIDTH);
        // SAFETY: the caller vouches for the instructions.
        let pivot = unsafe { L::splat(L::Word::truncate(pivot.widen())) };
        Places {
            coding,
            pivot,
            start: keys.start.at(0).cast(),
            less: keys.start.at(0).cast(),
            greater: keys.start.at(keys.n).cast(),
        }
    }

    /// Puts all keys: as many as are held, or more. Returns the places of those that are the pivot.
    #[inline(always)]
    unsafe fn put_all(mut self) -> Range<usize> {
        const { assert!(Self::HELD <= LEAST) };
        // SAFETY: what both ends had is held, so between them they have room for two loops, and one
        // of them has room for one. The next keys are read at the other: then each has room for all
        // of them. When all have been read, what is held has the room between, to the last vector.
        unsafe {
            let (held, mut from, mut to) = self.hold();
            while to.offset_from_unsigned(from) >= Self::KEYS {
                let [front, back] = self.rooms(from, to);
                self.put_from(front <= back, &mut from, &mut to);
            }
            let rest = to.offset_from_unsigned(from);
            let none = self.coding.decode(self.pivot);
            let mut keys = [self.pivot; TOGETHER];
            for (i, keys) in keys.iter_mut().enumerate() {
                let at = rest.min(i * L::LANES);
                let some = L::load_some(from.add(at), rest - at, none);
                *keys = self.coding.encode(some);
            }
            for keys in keys.into_iter().chain(held) {
                self.put(keys);
            }
            self.between(self.less, self.greater)
        }
    }

    /// Puts keys of both ends, each as many as are held, or more, until one of them has no more and
    /// the other no room. Writes those that were held as they were to other memory, and returns
    /// what has not been put, and what of it has not been read.
    #[inline(always)]
    unsafe fn put_ends(
        mut self,
        inner: Range<usize>,
        to_held: *mut L::Word,
    ) -> (Range<usize>, Range<usize>) {
        // SAFETY: as above; keys are read at an end that has some where the other one has room for them.
        unsafe {
            let (held, mut from, mut to) = self.hold();
            let [first, last] = [inner.start, inner.end].map(|at| self.start.add(at));
            loop {
                let [front, back] = self.rooms(from, to);
                let in_front = first.offset_from_unsigned(from) >= Self::KEYS && back >= Self::KEYS;
                let behind = to.offset_from_unsigned(last) >= Self::KEYS && front >= Self::KEYS;
                if !in_front && !behind {
                    break;
                }
                self.put_from(in_front && (front <= back || !behind), &mut from, &mut to);
            }
            for (i, keys) in held.into_iter().enumerate() {
                L::store(to_held.add(i * L::LANES), self.coding.decode(keys));
            }
            (
                self.between(self.less, self.greater),
                self.between(from, to),
            )
        }
    }

    /// Reads keys of both ends, and tells what is still to be read.
    #[inline(always)]
    unsafe fn hold(&self) -> ([L::Vector; 2 * TOGETHER], *mut L::Word, *mut L::Word) {
        // SAFETY: the caller's promise.
        unsafe {
            let (from, to) = (self.less.add(Self::KEYS), self.greater.sub(Self::KEYS));
            let mut held = [self.pivot; 2 * TOGETHER];
            let (first, last) = held.split_at_mut(TOGETHER);
            self.read(self.less, first);
            self.read(to, last);
            (held, from, to)
        }
    }

    /// How many keys have room at either end, if those between `from` and `to` have not been read.
    #[inline(always)]
    unsafe fn rooms(&self, from: *mut L::Word, to: *mut L::Word) -> [usize; 2] {
        // SAFETY: they are between the two places.
        unsafe {
            [
                from.offset_from_unsigned(self.less),
                self.greater.offset_from_unsigned(to),
            ]
        }
    }

    /// What lies between two places.
    #[inline(always)]
    unsafe fn between(&self, from: *mut L::Word, to: *mut L::Word) -> Range<usize> {
        // SAFETY: they are those of keys.
        unsafe { from.offset_from_unsigned(self.start)..to.offset_from_unsigned(self.start) }
    }

    /// Puts the next keys in front, or those behind.
    #[inline(always)]
    unsafe fn put_from(&mut self, in_front: bool, from: &mut *mut L::Word, to: &mut *mut L::Word) {
        let mut keys = [self.pivot; TOGETHER];
        // SAFETY: the caller's promise: they are there, and have room at either end.
        unsafe {
            if in_front {
                fetch::<L>(from.cast::<u8>().wrapping_add(CUT_AHEAD_BYTES));
                self.read(*from, &mut keys);
                *from = from.add(Self::KEYS);
            } else {
                *to = to.sub(Self::KEYS);
                fetch::<L>(to.cast::<u8>().wrapping_sub(CUT_AHEAD_BYTES));
                self.read(*to, &mut keys);
            }
            for keys in keys {
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

    /// Puts the keys of a vector, but for those that are the pivot. There is room for it between
    /// the two places.
    #[inline(always)]
    unsafe fn put(&mut self, keys: L::Vector) {
        // SAFETY: the caller's promise. What is written behind the lesser keys is in that room, and
        // the greater ones come later.
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
    use crate::pool::Pool;

    /// Lesser keys in front, then places for those that are the pivot, then greater ones. No key is
    /// lost, and none of the neighbours is touched; by one worker, by one who does the work of two,
    /// and by two.
    #[test]
    fn keys_are_cut() {
        fn width<W: Word>(instructions: Instructions, pool: &Pool) {
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
                .chain((4 * LEAST..6 * LEAST).step_by(37))
                .chain([5000, 5001, 70_000])
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
                    (
                        "less inside",
                        keys(&|i| random(i) >> if i.abs_diff(n / 2) < n / 5 { 9 } else { 0 }),
                    ),
                    (
                        "greater inside",
                        keys(&|i| random(i) >> if i.abs_diff(n / 2) < n / 5 { 0 } else { 9 }),
                    ),
                ] {
                    let code = |&key: &W| coder.map_or(key, |coder| coder.encode(key));
                    let mut codes: Vec<W> = keys.iter().map(code).collect();
                    codes.sort_unstable();
                    let ways = if n < 4 * LEAST { 1 } else { 3 };
                    for way in ["one", "one for two", "two"].into_iter().take(ways) {
                        let edge = vec![W::TOP; BESIDE];
                        let mut all = [&edge[..], &keys, &edge].concat();
                        let cut = Keys {
                            start: Shared(all.as_mut_ptr().wrapping_add(BESIDE)),
                            n,
                            coder: coder.as_ref(),
                        };
                        // SAFETY: the machine has the instructions, and the keys are there.
                        let cut = unsafe {
                            match way {
                                "one" => cut.cut(instructions),
                                "one for two" => cut.cut_by_two(instructions, Crew::alone()),
                                _ => pool
                                    .enter(true, |crew| cut.cut_by_two(instructions, crew))
                                    .unwrap(),
                            }
                        };
                        let coded = if coder.is_some() { ", coded" } else { "" };
                        let what = format!(
                            "{instructions:?}, {way}: {n} {name} of {} bits{coded}",
                            W::BITS
                        );
                        let Cut { same, pivot } = cut.expect(&what);
                        let cut = &mut all[BESIDE..][..n];
                        let parts = [
                            cut[..same.start].iter().all(|&key| key < pivot),
                            cut[same.end..].iter().all(|&key| key > pivot),
                        ];
                        assert!(parts == [true; 2] && !same.is_empty(), "{what}: {same:?}");
                        cut[same].fill(pivot);
                        cut.sort_unstable();
                        assert!(cut == codes, "{what}: other keys");
                        let beside = [&all[..BESIDE], &all[BESIDE + n..]];
                        assert!(beside == [&edge[..]; 2], "{what}: beside");
                    }
                }
            }
        }
        let pool = Pool::new(Some(2));
        for instructions in Instructions::all().filter(|&one| one > Instructions::Portable) {
            width::<u32>(instructions, &pool);
            width::<u64>(instructions, &pool);
        }
    }

    #[test]
    fn other_keys_and_machines_are_refused() {
        unsafe fn refused<W: Word>(instructions: Instructions) -> bool {
            let mut keys = [W::ZERO; LEAST];
            let keys = Keys {
                start: Shared(keys.as_mut_ptr()),
                n: LEAST,
                coder: None,
            };
            // SAFETY: the machine has the instructions, and the keys are there.
            unsafe { keys.cut(instructions) }.is_none()
        }
        // SAFETY: as above.
        let refused = unsafe {
            [
                refused::<u16>(Instructions::detect()),
                refused::<u32>(Instructions::Portable),
            ]
        };
        assert_eq!(refused, [true; 2]);
    }
}
