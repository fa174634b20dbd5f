//! Few keys alone, sorted where they lie: in registers, or by insertion where no vectors are;
//! without memory, and in far less time than it takes to set up more.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use sweepsort_core::{Coder, Kind, Presorted, Report, Word};

use super::coding::{Coded, Codes, Coding};
use super::passes::Passes;
use super::{block, several};
use crate::columns::Columns;
use crate::hybrid::{self, Done};
use crate::instructions::{Instructions, logic_pays};
use crate::lanes::{Lanes, Vectored, VectoredOrNot, by_vectors, by_vectors_or_not};
use crate::payload::Nothing;
use crate::reading::Plain;
use crate::tuning::{HALF_VECTORS_32, HALF_VECTORS_32_ZEN, INSERTION_MAX, by_width};

/// Memory for words that are few, whatever they and the vectors are.
pub(crate) type Memory = MaybeUninit<[u128; ROOM_BYTES / size_of::<u128>()]>;

/// As many as the most blocks of the longest ones have, which are of 32 bits.
const ROOM_BYTES: usize =
    by_width(Instructions::Avx512, 32).joined_blocks * block::MOST * size_of::<u32>();

/// Neighbours that are compared, where no vectors are, before it is asked whether that was enough.
const LOOKED_AT: usize = 8;

/// The most keys of a kind, of so many bits, that are few: several blocks, or as many as are sorted
/// by insertion.
#[inline]
pub(crate) fn most(instructions: Instructions, kind: Kind, bits: u32) -> usize {
    let tuned = by_width(instructions, bits);
    let blocks = match kind {
        Kind::Float { .. } => tuned.joined_float_blocks,
        _ => tuned.joined_blocks,
    };
    match block_keys(instructions, bits) {
        0 => INSERTION_MAX,
        keys => blocks * keys,
    }
}

/// The most keys of so many bits that are a block.
#[inline]
fn block_keys(instructions: Instructions, bits: u32) -> usize {
    match (instructions, bits) {
        (Instructions::Avx512, 32) => 256,
        (Instructions::Avx512, 64) | (Instructions::Avx2, 32) => 128,
        (Instructions::Avx2, 64) => 32,
        _ => 0,
    }
}

/// [`sort`] and a report of it, for words of one width: compiled here, where a generic function
/// would be compiled anew by whoever calls it.
macro_rules! sort_words {
    ($($name:ident $word:ty),*) => {$(
        /// # Safety
        /// As [`sort`].
        pub(crate) unsafe fn $name(
            instructions: Instructions,
            keys: &mut [$word],
            coder: &Coder<$word>,
            reason: &'static str,
        ) -> Report {
            let report = |n, done| hybrid::report(n, <$word>::BITS, Cow::Borrowed(reason), done);
            // SAFETY: the caller's promise.
            unsafe { sort(instructions, keys, coder, report) }
        }
    )*};
}

sort_words!(sort_8 u8, sort_16 u16, sort_32 u32, sort_64 u64, sort_128 u128);

/// Sorts keys by their codes, and tells what was done. `then` makes of that what is returned: it is
/// compiled with what sorts, for a call more takes as long as to sort a few keys.
///
/// # Safety
/// The machine has the instructions. The keys are [few](most).
///
/// # Panics
/// If codes tie.
#[inline(always)]
pub(crate) unsafe fn sort<W: Word, R>(
    instructions: Instructions,
    keys: &mut [W],
    coder: &Coder<W>,
    then: impl FnOnce(usize, Done) -> R,
) -> R {
    assert!(!coder.ties());
    let n = keys.len();
    let block = block_keys(instructions, W::BITS);
    // SAFETY: the caller's promise.
    unsafe {
        if block > 0 && n > block {
            return sort_several(instructions, keys, coder, then);
        }
        let half =
            W::BITS == 32 && (n <= HALF_VECTORS_32 || (n <= HALF_VECTORS_32_ZEN && !logic_pays()));
        let instructions = match half {
            true => instructions.min(Instructions::Avx2),
            false => instructions,
        };
        // A coder that says nothing is not handed on: that takes as long as to sort two keys.
        match coder.is_identity() {
            true => by_vectors_or_not::<W, _>(instructions, FewCodes(keys, then)),
            false => by_vectors_or_not::<W, _>(instructions, FewKeys(keys, coder, then)),
        }
    }
}

/// What was done and nothing else, for [`sort`]. It is one function, for what sorts is compiled
/// anew with each.
pub(crate) fn alone(_: usize, done: Done) -> Done {
    done
}

/// The same as [`sort`], of several blocks.
///
/// # Safety
/// As [`sort`].
#[inline(never)]
unsafe fn sort_several<W: Word, R>(
    instructions: Instructions,
    keys: &mut [W],
    coder: &Coder<W>,
    then: impl FnOnce(usize, Done) -> R,
) -> R {
    // SAFETY: the caller's promise; the keys are there, and are ours.
    unsafe {
        let Ok(order) = by_vectors::<W, _>(instructions, Looked(keys, coder)) else {
            unreachable!("blocks without vectors");
        };
        if order.falls {
            assert!(several::sort(instructions, keys));
            if !coder.is_identity() {
                let _ = by_vectors::<W, _>(instructions, Decoded(keys, coder));
            }
        }
        then(keys.len(), order.done(size_of_val(keys)))
    }
}

/// Keys whose order is asked for. If they fall, they become their codes.
struct Looked<'a, W>(&'a mut [W], &'a Coder<W>);

impl<W: Word> Vectored for Looked<'_, W> {
    type Output = Order;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Order {
        let Looked(keys, coder) = self;
        let (start, n): (*mut L::Word, _) = (keys.as_mut_ptr().cast(), keys.len());
        // SAFETY: the caller's promise; the keys are there.
        unsafe {
            if coder.is_identity() {
                return look_all::<L, _>(start, n, Codes);
            }
            let order = look_all::<L, _>(start, n, Coded::<L>::new(coder));
            if order.falls {
                encode(keys, coder);
            }
            order
        }
    }
}

/// Codes that become keys again.
struct Decoded<'a, W>(&'a mut [W], &'a Coder<W>);

impl<W: Word> Vectored for Decoded<'_, W> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        decode(self.0, self.1);
    }
}

/// Keys that are codes, and what is made of how they were sorted.
struct FewCodes<'a, W, F>(&'a mut [W], F);

impl<W: Word, R, F: FnOnce(usize, Done) -> R> Vectored for FewCodes<'_, W, F> {
    type Output = R;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> R {
        // SAFETY: the caller's promise.
        let order = unsafe { by_lanes::<L, W, _>(self.0, Codes) };
        (self.1)(self.0.len(), order.done(size_of_val(self.0)))
    }
}

impl<W: Word, R, F: FnOnce(usize, Done) -> R> VectoredOrNot for FewCodes<'_, W, F> {
    #[inline(never)]
    fn without(self) -> R {
        let order = insert(self.0);
        (self.1)(self.0.len(), order.done(size_of_val(self.0)))
    }
}

/// The same of any keys.
struct FewKeys<'a, W, F>(&'a mut [W], &'a Coder<W>, F);

impl<W: Word, R, F: FnOnce(usize, Done) -> R> Vectored for FewKeys<'_, W, F> {
    type Output = R;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> R {
        // SAFETY: the caller's promise.
        let order = unsafe { by_lanes::<L, W, _>(self.0, Coded::<L>::new(self.1)) };
        (self.2)(self.0.len(), order.done(size_of_val(self.0)))
    }
}

impl<W: Word, R, F: FnOnce(usize, Done) -> R> VectoredOrNot for FewKeys<'_, W, F> {
    #[inline(never)]
    fn without(self) -> R {
        let order = insert_coded(self.0, self.1);
        (self.2)(self.0.len(), order.done(size_of_val(self.0)))
    }
}

/// Sorts keys by vectors, if they are out of order.
///
/// # Safety
/// The machine has the lanes' instructions.
#[inline(always)]
unsafe fn by_lanes<L: Lanes, W: Word, C: Coding<L>>(keys: &mut [W], coding: C) -> Order {
    assert_eq!(L::Word::WIDTH, W::WIDTH);
    assert!(keys.len() <= block::most::<L>());
    let (start, n): (*mut L::Word, _) = (keys.as_mut_ptr().cast(), keys.len());
    // SAFETY: the keys are there, and are ours.
    unsafe {
        let order = look_all::<L, C>(start, n, coding);
        if order.falls {
            block::sort::<L, C>(start, n, start, n, coding);
        }
        order
    }
}

/// The order that keys show, as far as it takes to tell that there is none.
///
/// # Safety
/// As [`by_lanes`].
#[inline(always)]
unsafe fn look_all<L: Lanes, C: Coding<L>>(keys: *const L::Word, n: usize, coding: C) -> Order {
    let pairs = n.saturating_sub(1);
    if pairs == 0 {
        return Order::default();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let mut order = look::<L, C>(keys, pairs, coding);
        // Mostly the first ones show that there is none.
        for at in (L::LANES..pairs).step_by(L::LANES) {
            if order.is_none() {
                break;
            }
            let more = look::<L, C>(keys.add(at), pairs - at, coding);
            order.rises |= more.rises;
            order.falls |= more.falls;
        }
        order
    }
}

/// The order that a vector of keys shows, or fewer of them, each with the next one.
///
/// # Safety
/// As [`by_lanes`]. There are so many `pairs`.
#[inline(always)]
unsafe fn look<L: Lanes, C: Coding<L>>(keys: *const L::Word, pairs: usize, coding: C) -> Order {
    // SAFETY: the caller's promise.
    unsafe {
        let (codes, next) = if pairs < L::LANES {
            let none = coding.none();
            let codes = L::load_some(keys, pairs, none);
            (codes, L::load_some(keys.add(1), pairs, none))
        } else {
            (L::load(keys), L::load(keys.add(1)))
        };
        let (codes, next) = (coding.encode(codes), coding.encode(next));
        Order {
            rises: L::below(codes, next) != 0,
            falls: L::below(next, codes) != 0,
        }
    }
}

/// Sorts codes one by one, if they are out of order.
fn insert<W: Word>(codes: &mut [W]) -> Order {
    let mut order = Order::default();
    for start in (1..codes.len()).step_by(LOOKED_AT) {
        for pair in codes[start - 1..].windows(2).take(LOOKED_AT) {
            order.rises |= pair[0] < pair[1];
            order.falls |= pair[0] > pair[1];
        }
        if order.is_none() {
            break;
        }
    }
    if order.falls {
        let passes = Passes {
            reading: Plain,
            mask: W::MAX,
            fetches: false,
        };
        let columns = Columns::new(codes.as_mut_ptr(), std::ptr::dangling_mut(), Nothing);
        // SAFETY: the codes are there, and are ours.
        unsafe { passes.insertion(columns, codes.len()) }
    }
    order
}

/// The same, of any keys.
fn insert_coded<W: Word>(keys: &mut [W], coder: &Coder<W>) -> Order {
    encode(keys, coder);
    let order = insert(keys);
    decode(keys, coder);
    order
}

/// Keys become their codes.
#[inline(always)]
fn encode<W: Word>(keys: &mut [W], coder: &Coder<W>) {
    keys.iter_mut()
        .for_each(|key| *key = coder.encode_bijective(*key));
}

/// Codes become keys again.
#[inline(always)]
fn decode<W: Word>(codes: &mut [W], coder: &Coder<W>) {
    codes
        .iter_mut()
        .for_each(|code| *code = coder.decode(*code));
}

/// Order that neighbours show. Those of a few keys mostly show that there is none.
#[derive(Default)]
struct Order {
    rises: bool,
    falls: bool,
}

impl Order {
    #[inline(always)]
    fn is_none(&self) -> bool {
        self.rises && self.falls
    }

    /// What is done, when keys that fall are sorted.
    #[inline(always)]
    fn done(self, bytes: usize) -> Done {
        let sorted = |presorted| Done {
            presorted,
            passes: 1,
            bytes_moved: 2 * bytes as u64,
        };
        let left = |presorted| Done {
            presorted,
            passes: 0,
            bytes_moved: bytes as u64,
        };
        match (self.rises, self.falls) {
            (true, true) => sorted(None),
            (false, true) => sorted(Some(Presorted::Reversed)),
            (true, false) => left(Some(Presorted::Sorted)),
            (false, false) => left(Some(Presorted::Equal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use sweepsort_core::{Codec, Nan, Order};

    use super::*;

    /// Keys beside those that are sorted, on either side.
    const BESIDE: usize = 20;

    /// Every number of keys, in several orders, few values and many, by several codes: sorted, told
    /// what order they had, and nothing beside them is written.
    #[test]
    fn few_keys_are_sorted_where_they_lie() {
        fn width<W: Word>(instructions: Instructions, most: usize, most_floats: usize) {
            let float = Kind::Float { mantissa: 5 };
            let found =
                [Kind::Unsigned, float].map(|kind| super::most(instructions, kind, W::BITS));
            let what = format!("{instructions:?}, {} bits", W::BITS);
            assert_eq!(found, [most, most_floats], "{what}");
            let most = most.max(most_floats);
            assert!(most * size_of::<W>() <= size_of::<Memory>(), "{what}");
            let coders = [
                Codec::UNSIGNED.coder::<W>(),
                Codec::for_keys(float, Order::Descending, Nan::Last).coder(),
            ];
            for n in 0..=most {
                for (bits, coder) in [1, 4, W::BITS].into_iter().zip(coders.iter().cycle()) {
                    let mut state = n as u128;
                    let key = |_| {
                        state = state
                            .wrapping_mul(0xda94_2042_e4dd_58b5)
                            .wrapping_add(1 << 63);
                        W::truncate(state >> 64) & W::mask(&(0..bits))
                    };
                    let random: Vec<W> = (0..n + 2 * BESIDE).map(key).collect();
                    let mut sorted = random.clone();
                    sorted[BESIDE..BESIDE + n].sort_unstable_by_key(|&key| coder.encode(key));
                    let mut reversed = sorted.clone();
                    reversed[BESIDE..BESIDE + n].reverse();
                    for mut keys in [random, reversed, sorted.clone()] {
                        let codes: Vec<W> = keys[BESIDE..BESIDE + n]
                            .iter()
                            .map(|&key| coder.encode(key))
                            .collect();
                        let falls = !codes.is_sorted();
                        let rises = !codes.iter().rev().is_sorted();
                        let few = &mut keys[BESIDE..BESIDE + n];
                        // SAFETY: the machine has the instructions, and the keys are few.
                        let done = unsafe { sort(instructions, few, coder, alone) };
                        let run = match (rises, falls) {
                            (true, true) => None,
                            (false, true) => Some(Presorted::Reversed),
                            (true, false) => Some(Presorted::Sorted),
                            (false, false) => Some(Presorted::Equal),
                        };
                        let what = format!(
                            "{instructions:?}: {n} keys of {} bits, {bits} vary, {coder:?}",
                            W::BITS
                        );
                        assert!(keys == sorted, "{what}");
                        assert_eq!((done.presorted, done.passes), (run, falls.into()), "{what}");
                    }
                }
            }
        }
        for (instructions, narrow, wide, wide_floats) in [
            (Instructions::Portable, 20, 20, 20),
            (Instructions::Avx2, 512, 128, 256),
            (Instructions::Avx512, 2048, 512, 1024),
        ] {
            if instructions <= Instructions::detect() {
                width::<u32>(instructions, narrow, narrow);
                width::<u64>(instructions, wide, wide_floats);
                width::<u8>(instructions, 20, 20);
                width::<u16>(instructions, 20, 20);
                width::<u128>(instructions, 20, 20);
            }
        }
    }
}
