//! A bucket of keys that crowd, or of few, sorted by vectors: a quicksort that leaves few keys to a
//! block in registers.
//!
//! ```text
//! keys alone        source → data and away → … → data
//! with payloads     words of key and position → words and away → … → words;
//!                   then each payload from where its word says
//! ```
//!
//! A part of the keys has a middle key as its pivot, and goes in one read to two places: lesser keys
//! home, which is where the part will lie in the end, and greater ones away. Keys equal to the pivot need no
//! place, for their number says all about them; so few values are soon done with. Either place may be
//! where the part lies: what is written is never ahead of what is read. The lesser keys are finished
//! first, and use the memory behind the greater ones.
//!
//! A word is the key's distance from the least key, and below that the position in the bucket; so no
//! two are equal, and records stay in order. Where the distance has too many bits for both, its lowest
//! ones are left out, and records that agree in the others are sorted by passes in the end.

use std::mem::MaybeUninit;

use sweepsort_core::Word;

use super::coding::Codes;
use super::{bins, block, passes};
use crate::columns::Columns;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::payload::Payload;
use crate::reading::Plain;
use passes::{Passes, Tables};

/// Parts are cut out of parts at most so often. What is too large then is left to the standard
/// library: pivots have been bad.
const DEPTH_MAX: usize = 48;
/// Vectors that are read before any is written.
const AHEAD: usize = 4;
/// Bytes of the widest vector: a whole vector may write so much beyond the keys.
const VECTOR_BYTES: usize = 64;
/// Bytes away beyond a place for all keys: a vector behind them, and one for each part that waits there.
const SPARE_BYTES: usize = (DEPTH_MAX + 1) * VECTOR_BYTES;

/// Bytes away for `n` keys of `key` bytes.
fn away_bytes(n: usize, key: usize) -> usize {
    n * key + SPARE_BYTES
}

/// Bytes of what is sorted for each record.
pub(super) const fn word_bytes<W: Word, P: Payload>() -> usize {
    match P::NONE {
        true => size_of::<W>(),
        false => size_of::<u64>(),
    }
}

/// Sorts the `n` records of `from` by their whole keys, stably, into `to`; or returns false and has
/// written nothing there, for there are no vectors for such keys, memory is too little, or
/// counting passes are faster.
///
/// # Safety
/// The machine has the instructions. `from` and `to` have `n` records each, the same ones or others;
/// memory has so many bytes and starts on a line; nobody else uses them now.
pub(super) unsafe fn sort<W: Word, P: Payload>(
    instructions: Instructions,
    from: Columns<W, P>,
    to: Columns<W, P>,
    n: usize,
    memory: *mut u8,
    bytes: usize,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !P::NONE } {
            return records(instructions, from, to, n, memory, bytes).is_some();
        }
        if away_bytes(n, size_of::<W>()) > bytes {
            return false;
        }
        let keys = Keys::new(from.keys_start(), to.keys_start(), memory.cast(), n);
        by_vectors::<W, _>(instructions, keys).is_ok()
    }
}

/// Sorts records by words that say where each was. `None` is false, and nothing is written then.
unsafe fn records<W: Word, P: Payload>(
    instructions: Instructions,
    from: Columns<W, P>,
    to: Columns<W, P>,
    n: usize,
    memory: *mut u8,
    bytes: usize,
) -> Option<()> {
    // SAFETY: the caller's promise; words and what is kept of the records lie one behind the other in
    // memory, and a position is one of a record. In the end room for all records is where both lay.
    unsafe {
        // Words of 64 bits in vectors of 256 take half as long again as passes.
        if instructions < Instructions::Avx512 {
            return None;
        }
        let words_bytes = n * size_of::<u64>() + away_bytes(n, size_of::<u64>());
        if words_bytes > bytes {
            return None;
        }
        let words: *mut u64 = memory.cast();
        let positions = n.next_power_of_two().ilog2();
        let compose = Compose {
            keys: from.keys_start(),
            n,
            positions,
            words,
        };
        let (least, rest) = by_vectors::<W, _>(instructions, compose).ok().flatten()?;
        let payload = from.payload();
        let kept_bytes = match (from.same(to), rest) {
            (false, _) => 0,
            (true, 0) => n * payload.bytes(),
            (true, _) => n * from.record_bytes(),
        };
        let room_bytes = if rest > 0 {
            n * from.record_bytes() + 16
        } else {
            0
        };
        if (words_bytes + kept_bytes).max(room_bytes) > bytes {
            return None;
        }
        let kept = memory.add(words_bytes);
        let source = match (from.same(to), rest) {
            (false, _) => from,
            (true, 0) => {
                let kept = Columns::new(from.keys_start(), kept, payload);
                from.payloads_to(kept, n);
                kept
            }
            (true, _) => {
                let kept = Columns::new(kept.cast(), kept.add(n * size_of::<W>()), payload);
                from.copy_to(kept, n);
                kept
            }
        };
        let sorted = Keys::new(words, words, words.add(n), n);
        by_vectors::<u64, _>(instructions, sorted).ok()?;
        let position = |word: u64| (word & u64::mask(&(0..positions))) as usize;
        if rest == 0 {
            for i in 0..n {
                let word = *words.add(i);
                let key = least.wrapping_add(W::truncate(u128::from(word >> positions)));
                to.store(i, (key, source.load_payload(position(word))));
            }
        } else {
            for i in 0..n {
                to.store(i, source.load(position(*words.add(i))));
            }
            let payloads = memory.add((n * size_of::<W>()).next_multiple_of(16));
            let room = Columns::new(memory.cast(), payloads, payload);
            let passes = Passes {
                reading: Plain,
                mask: W::MAX,
                fetches: false,
            };
            passes.fix_up(to, room, n, rest, &mut Tables::new());
        }
        Some(())
    }
}

/// Words to be made of keys and their positions.
struct Compose<W> {
    keys: *const W,
    n: usize,
    /// Bits of a position.
    positions: u32,
    words: *mut u64,
}

impl<W: Word> Vectored for Compose<W> {
    type Output = Option<(W, u32)>;

    /// Makes the words and returns the least key, and how many of the lowest bits words have no room
    /// for; or nothing, if the keys differ in so few bits that counting passes leave nothing to fix
    /// up: they are faster then.
    ///
    /// # Safety
    /// The machine has the lanes' instructions; there are `n` keys, and room for as many words.
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Option<(W, u32)> {
        // SAFETY: the caller's promise.
        let (keys, words) = unsafe {
            let words: *mut MaybeUninit<u64> = self.words.cast();
            let words = std::slice::from_raw_parts_mut(words, self.n);
            (std::slice::from_raw_parts(self.keys, self.n), words)
        };
        let (least, greatest) = bins::extremes(keys);
        let range = greatest.wrapping_sub(least);
        let bits = W::BITS - range.leading_zeros();
        let [low, _] = passes::digits(self.n, 0..bits);
        if low.shift == 0 {
            return None;
        }
        // Without their lowest bits, distances may be one more: that may take a bit more.
        let rest = match (bits + self.positions).saturating_sub(u64::BITS) {
            0 => 0,
            over => over + 1,
        };
        let first = least >> rest;
        for (i, (&key, word)) in keys.iter().zip(words).enumerate() {
            let distance = (key >> rest).wrapping_sub(first).widen() as u64;
            word.write(distance << self.positions | i as u64);
        }
        Some((least, rest))
    }
}

/// Keys to be sorted.
struct Keys<W> {
    from: *const W,
    /// Where they go in the end, and lesser ones of each part before: `n` keys; may be `from`.
    to: *mut W,
    /// Room for `n` keys and a vector for each part cut, and one more.
    away: *mut W,
    n: usize,
    /// How often a part may be cut out of a part.
    depth: usize,
}

impl<W> Keys<W> {
    /// `n` keys, whose parts may be cut as often as is usual.
    fn new(from: *const W, to: *mut W, away: *mut W, n: usize) -> Self {
        Keys {
            from,
            to,
            away,
            n,
            depth: depth(n),
        }
    }
}

/// How often a part may be cut out of a part of `n` keys: twice as often as by even halves.
pub(crate) fn depth(n: usize) -> usize {
    (2 * n.max(1).ilog2() as usize).min(DEPTH_MAX)
}

/// A part of the keys.
#[derive(Clone, Copy)]
struct Part<W> {
    /// Where they lie.
    from: *const W,
    n: usize,
    /// How many come before them.
    start: usize,
    /// Of these so many, the last ones, are this key, and not yet written.
    equal: usize,
    pivot: W,
    /// Where the greater ones go.
    away: *mut W,
    /// How often it may be cut.
    depth: usize,
}

impl<W: Word> Vectored for Keys<W> {
    type Output = ();

    /// Sorts the keys.
    ///
    /// # Safety
    /// The machine has the lanes' instructions; the places are as said there, and nobody else uses
    /// them now.
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        assert_eq!(L::Word::WIDTH, W::WIDTH);
        let to: *mut L::Word = self.to.cast();
        let mut part = Part {
            from: self.from.cast::<L::Word>(),
            n: self.n,
            start: 0,
            equal: 0,
            pivot: L::Word::ZERO,
            away: self.away.cast(),
            depth: self.depth,
        };
        let mut later = [MaybeUninit::<Part<L::Word>>::uninit(); DEPTH_MAX];
        let mut waiting = 0;
        // SAFETY: parts are finished in order. What is written beyond a part's end in
        // `to` is where keys of later parts will be, and none are yet: later parts lie away. There
        // a part's memory begins a vector behind the part that waits. A part is cut from one
        // that may be cut once more, so those that wait fit their array.
        unsafe {
            loop {
                let (home, room) = (to.add(part.start), self.n - part.start);
                while part.n > block::most::<L>() && part.depth > 0 {
                    let pivot = block::middle::<L>(part.from, part.n, Codes);
                    let places = Places::<L> {
                        pivot: L::splat(pivot),
                        less: home,
                        greater: part.away,
                    };
                    let (less, greater) = places.partition(part.from, part.n, room);
                    let depth = part.depth - 1;
                    later[waiting].write(Part {
                        from: part.away,
                        n: greater,
                        start: part.n - greater + part.start,
                        equal: part.n - greater - less,
                        pivot,
                        away: part.away,
                        depth,
                    });
                    waiting += 1;
                    part = Part {
                        from: home,
                        n: less,
                        away: part.away.add(greater + L::LANES),
                        depth,
                        ..part
                    };
                }
                if part.n <= block::most::<L>() {
                    block::sort::<L, _>(part.from, part.n, home, room, Codes);
                } else {
                    home.copy_from(part.from, part.n);
                    std::slice::from_raw_parts_mut(home, part.n).sort_unstable();
                }
                if waiting == 0 {
                    return;
                }
                waiting -= 1;
                part = later[waiting].assume_init();
                for i in part.start - part.equal..part.start {
                    to.add(i).write(part.pivot);
                }
            }
        }
    }
}

/// Two places under way, and the key that keys are compared with.
#[derive(Clone, Copy)]
struct Places<L: Lanes> {
    pivot: L::Vector,
    less: *mut L::Word,
    greater: *mut L::Word,
}

impl<L: Lanes> Places<L> {
    /// Moves keys below the pivot to one place and those above it to the other, and returns how
    /// many there are of each. For lesser ones there is `room`.
    ///
    /// # Safety
    /// The machine has the instructions, there are `n` keys, room for as many, and for a vector
    /// behind greater ones. A place may be where the keys are.
    #[inline(always)]
    unsafe fn partition(self, from: *const L::Word, n: usize, room: usize) -> (usize, usize) {
        // SAFETY: the caller's promise. Where a place is the source, it is written at most as far
        // as it has been read: in front of the keys that are read together there are at least as
        // many as were written.
        unsafe {
            let mut places = self;
            let mut at = 0;
            while at + AHEAD * L::LANES <= n {
                let mut keys = [places.pivot; AHEAD];
                for (i, keys) in keys.iter_mut().enumerate() {
                    *keys = L::load(from.add(at + i * L::LANES));
                }
                for keys in keys {
                    places.put(keys, u32::MAX, L::LANES);
                }
                at += AHEAD * L::LANES;
            }
            while at < n {
                let left = (n - at).min(L::LANES);
                let keys = L::load_some(from.add(at), left, places.pivot);
                let room = room - places.less.offset_from_unsigned(self.less);
                places.put(keys, u32::mask(&(0..left as u32)), room);
                at += left;
            }
            (
                places.less.offset_from_unsigned(self.less),
                places.greater.offset_from_unsigned(self.greater),
            )
        }
    }

    /// Writes those of some keys that are not the pivot, to either place. There is `room` for lesser ones.
    #[inline(always)]
    unsafe fn put(&mut self, keys: L::Vector, some: u32, room: usize) {
        // SAFETY: the caller vouches for the instructions, and for room for a vector of greater ones.
        unsafe {
            let below = L::below(keys, self.pivot) & some;
            let above = L::below(self.pivot, keys) & some;
            let (less, greater) = (below.count_ones() as usize, above.count_ones() as usize);
            let lesser = L::compress(keys, below);
            match room < L::LANES {
                true => L::store_some(self.less, lesser, less),
                false => L::store(self.less, lesser),
            }
            L::store(self.greater, L::compress(keys, above));
            self.less = self.less.add(less);
            self.greater = self.greater.add(greater);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Case;
    use super::*;
    use crate::payload::{Bytes, Fixed, Nothing};

    /// Words of the widest vector.
    const LANES_MAX: usize = VECTOR_BYTES / size_of::<u64>();

    /// Random words.
    fn random(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        }
    }

    /// Keys of `n` records in many ways, each with its name.
    fn cases<W: Word>(n: usize) -> Vec<(&'static str, Vec<W>)> {
        let mut next = random(n as u64);
        let mut word = || W::truncate(u128::from(next()));
        let mut all = vec![
            ("uniform", (0..n).map(|_| word()).collect()),
            ("and of 2", (0..n).map(|_| word() & word()).collect()),
            (
                "and of 5",
                (0..n)
                    .map(|_| word() & word() & word() & word() & word())
                    .collect(),
            ),
            (
                "few",
                (0..n).map(|_| word() >> (W::BITS - 3)).collect::<Vec<W>>(),
            ),
            (
                "few and high",
                (0..n).map(|_| !(word() >> (W::BITS - 3))).collect(),
            ),
            (
                "crowd in the middle",
                (0..n)
                    .map(|i| if i % 7 == 0 { word() } else { W::TOP })
                    .collect(),
            ),
        ];
        let number = |i: usize| W::truncate(i as u128);
        all.extend([
            ("sorted", (0..n).map(number).collect()),
            ("reverse", (0..n).map(|i| number(n - i)).collect()),
            ("sawtooth", (0..n).map(|i| number(i % 61)).collect()),
            ("equal", vec![W::TOP; n]),
            ("greatest", vec![W::MAX; n]),
            (
                "one lesser",
                (0..n).map(|i| number(1) >> u32::from(i == n / 2)).collect(),
            ),
        ]);
        all
    }

    /// Sorts, to where the records are and to another place, and tells whether that was done; if not,
    /// nothing must have been written.
    fn check<W: Word, P: Payload>(
        instructions: Instructions,
        name: &str,
        keys: &[W],
        payload: P,
        room: usize,
    ) -> bool {
        let n = keys.len();
        let [moved, stayed] = [false, true].map(|stays| {
            let case = Case {
                bytes: room,
                stays,
                ..Case::new(keys, payload)
            };
            let what = format!("{instructions:?}, {name}, in place: {stays}");
            case.check(&what, |from, to, memory| {
                // SAFETY: all are there.
                unsafe { sort(instructions, from, to, n, memory, room) }
            })
        });
        moved && stayed
    }

    /// Whether counting passes are left nothing to fix up.
    fn few_bits<W: Word>(keys: &[W]) -> bool {
        let (least, greatest) = bins::extremes(keys);
        let bits = W::BITS - greatest.wrapping_sub(least).leading_zeros();
        passes::digits(keys.len(), 0..bits)[0].shift == 0
    }

    fn with_vectors(test: impl Fn(Instructions)) {
        for instructions in [Instructions::Avx2, Instructions::Avx512] {
            if instructions <= Instructions::detect() {
                test(instructions);
            }
        }
    }

    #[test]
    fn crowds_are_sorted_stably() {
        fn width<W: Word>(instructions: Instructions) {
            let sizes = (1..40).chain([63, 64, 65, 127, 128, 129, 255, 256, 257]);
            for n in sizes.chain([300, 511, 512, 513, 1000, 4096, 20_000]) {
                let room = away_bytes(n, size_of::<u64>()) + 32 * n;
                for (name, keys) in cases::<W>(n) {
                    let done = check(instructions, name, &keys, Nothing, room);
                    assert!(done, "{instructions:?}: {n} {name}");
                    // Keys of 64 bits may leave no room for positions in a word, with others they do.
                    for shift in [0, W::BITS / 4] {
                        let keys: Vec<W> = keys.iter().map(|&key| key >> shift).collect();
                        let served = [
                            check(instructions, name, &keys, Fixed::<4>, room),
                            check(instructions, name, &keys, Fixed::<16>, room),
                            check(instructions, name, &keys, Bytes(5), room),
                        ];
                        let wide = instructions == Instructions::Avx512;
                        let expected = [wide && !few_bits(&keys); 3];
                        assert_eq!(served, expected, "{instructions:?}: {n} {name}");
                    }
                }
            }
        }
        with_vectors(width::<u32>);
        with_vectors(width::<u64>);
    }

    /// Parts that may not be cut any more are sorted nevertheless.
    #[test]
    fn bad_pivots_do_no_harm() {
        with_vectors(|instructions| {
            for (depth, n) in [(0, 300), (0, 5000), (1, 5000), (3, 5000)] {
                for (name, keys) in cases::<u64>(n) {
                    let mut sorted = keys.clone();
                    sorted.sort_unstable();
                    let mut words = keys;
                    let mut away = vec![0; n + (depth + 1) * LANES_MAX];
                    let work = Keys {
                        from: words.as_ptr(),
                        to: words.as_mut_ptr(),
                        away: away.as_mut_ptr(),
                        n,
                        depth,
                    };
                    // SAFETY: there is room for a vector behind each part cut, and for one more.
                    assert!(unsafe { by_vectors::<u64, _>(instructions, work) }.is_ok());
                    assert!(words == sorted, "{instructions:?}: {n} {name}, {depth}");
                }
            }
        });
    }

    /// Memory is as much as is said, and less is refused.
    #[test]
    fn little_memory_is_refused() {
        with_vectors(|instructions| {
            for n in [2, 300, 5000] {
                for (name, keys) in cases::<u32>(n) {
                    let room = away_bytes(n, size_of::<u32>());
                    assert!(check(instructions, name, &keys, Nothing, room));
                    assert!(!check(instructions, name, &keys, Nothing, room - 1));
                    let room = away_bytes(n, size_of::<u64>()) + 12 * n;
                    let done = check(instructions, name, &keys, Fixed::<4>, room);
                    let wide = instructions == Instructions::Avx512;
                    assert_eq!(done, wide && !few_bits(&keys), "{n} {name}");
                    assert!(!check(instructions, name, &keys, Fixed::<4>, room - 1));
                }
            }
        });
    }

    #[test]
    fn other_keys_and_machines_are_refused() {
        fn refused<W: Word, P: Payload>(instructions: Instructions, keys: &[W], payload: P) {
            let name = format!("words of {} bits", W::BITS);
            assert!(!check(instructions, &name, keys, payload, 1 << 20));
        }
        refused(Instructions::detect(), &[3u16, 1], Nothing);
        refused(Instructions::Portable, &[3u32, 1], Nothing);
        refused(Instructions::Portable, &[3u32, 1], Fixed::<4>);
    }
}
