//! What each operation on vectors promises, lane by lane, by words. (`search` is tested with its trees.)

use std::any::type_name;
use std::array;

use sweepsort_core::Word;

use super::{AnyVectored, Keys, Lanes, Rests, Sorted, Vectored, by_any_vectors, by_vectors};
use crate::fetch::streamed;
use crate::instructions::Instructions;
use crate::placing::Placing;
use crate::sift::slot;

#[test]
fn operations_do_what_they_promise() {
    fn width<W: Word>(instructions: Instructions) {
        // SAFETY: the machine has the instructions.
        let done = unsafe {
            let any = by_any_vectors::<W, _>(instructions, OfAny);
            [
                any.is_ok(),
                by_vectors::<W, _>(instructions, OfMore).is_ok(),
            ]
        };
        assert_eq!(done, [true, instructions > Instructions::Portable]);
    }
    for instructions in Instructions::all() {
        width::<u32>(instructions);
        width::<u64>(instructions);
    }
}

/// Two lines, of words of 64 bits.
#[repr(align(64))]
struct Lines<W>([[W; 8]; 2]);

/// What all machines have for words as wide.
struct OfAny;

impl AnyVectored for OfAny {
    type Output = ();

    unsafe fn run<L: Keys>(self) {
        // SAFETY: the caller's promise.
        unsafe {
            of_sorted::<L>();
            of_sorted::<L::Distances>();
            of_sorted::<L::Rests>();
            of_rests::<L::Rests>();
            of_keys::<L>();
        }
    }
}

/// And what is there by some instructions.
struct OfMore;

impl Vectored for OfMore {
    type Output = ();

    unsafe fn run<L: Lanes>(self) {
        // SAFETY: the caller's promise.
        unsafe {
            of_lanes::<L>();
            changes_of_lanes::<L>();
        }
    }
}

/// Enough turns of two numbers of [`words`] for all pairs of these.
const TURNS: usize = 25;

/// Words from the least to the greatest of a kind: these, what is about the middle, and any, by turns.
fn words<S: Sorted>(n: usize, turn: usize) -> Vec<S::Word> {
    let [least, greatest] = [S::LEAST, S::GREATEST].map(Word::widen);
    let middle = least + (greatest - least) / 2;
    let word = |i: usize| {
        let random = (32 * turn + i + 1) as u128 * 0x9e37_79b9_7f4a_7c15_f39c;
        let random = least + (random >> 7) % (greatest - least + 1);
        S::Word::truncate([least, middle, middle + 1, greatest, random][(turn + i) % 5])
    };
    (0..n).map(word).collect()
}

/// A vector of some words, as they are in memory.
unsafe fn vector<S: Sorted>(words: &[S::Word]) -> S::Vector {
    assert_eq!(size_of_val(words), size_of::<S::Vector>());
    // SAFETY: there are as many words.
    unsafe { words.as_ptr().cast::<S::Vector>().read_unaligned() }
}

/// A vector of numbers.
unsafe fn numbers<S: Sorted>(number: impl Fn(usize) -> usize) -> S::Vector {
    let number = |i| S::Word::truncate(number(i) as u128);
    let words: Vec<S::Word> = (0..S::LANES).map(number).collect();
    // SAFETY: the caller's promise.
    unsafe { vector::<S>(&words) }
}

/// Asserts what the lanes of a vector are.
unsafe fn is<S: Sorted>(what: &str, found: S::Vector, lane: impl Fn(usize) -> S::Word) {
    let mut lanes = vec![S::Word::ZERO; S::LANES];
    // SAFETY: the caller's promise.
    unsafe { S::store(lanes.as_mut_ptr(), found) }
    let expected: Vec<S::Word> = (0..S::LANES).map(lane).collect();
    assert_eq!(lanes, expected, "{what} of {}", type_name::<S>());
}

/// Asserts what is in memory that `store` writes to, by the place; there it was `others` before.
fn stores<S: Sorted, T: Copy + PartialEq + std::fmt::Debug>(
    what: &str,
    others: &[T],
    store: impl FnOnce(*mut T),
    at: impl Fn(usize) -> T,
) {
    let mut found = others.to_vec();
    store(found.as_mut_ptr());
    let expected: Vec<T> = (0..others.len()).map(at).collect();
    assert_eq!(found, expected, "{what} of {}", type_name::<S>());
}

/// A bit for each lane.
fn bits<S: Sorted>(is: impl Fn(usize) -> bool) -> u32 {
    (0..S::LANES).map(|i| u32::from(is(i)) << i).sum()
}

unsafe fn of_sorted<S: Sorted>() {
    // SAFETY: the caller's promise; there are as many words as lanes, and eight numbers.
    unsafe {
        for turn in 0..TURNS {
            let [a, b] = [turn, turn / 5].map(|turn| words::<S>(S::LANES, turn));
            let (x, y) = (vector::<S>(&a), vector::<S>(&b));
            is::<S>("min", S::min(x, y), |i| a[i].min(b[i]));
            is::<S>("max", S::max(x, y), |i| a[i].max(b[i]));
            let [lesser, greater] = S::exchange(x, y);
            is::<S>("lesser", lesser, |i| a[i].min(b[i]));
            is::<S>("greater", greater, |i| a[i].max(b[i]));
            let counts: Vec<u8> = (0..S::LANES).map(|i| (37 * i + 101 * turn) as u8).collect();
            is::<S>("widen", S::widen(counts.as_ptr()), |i| {
                S::Word::truncate(counts[i].into())
            });
        }
        let numbers: [u32; 8] = array::from_fn(|i| (i as u32).wrapping_mul(0x9e37_79b9));
        let rows = 0xff_1f_20_01_00_80_07_0b_u64;
        // The last product is one less than 2^24.
        for stride in [0, 1, 0x1234, 0x1_0101] {
            let move_on = |to| S::move_on(to, rows, stride);
            stores::<S, _>("move_on", &numbers, move_on, |i| {
                numbers[i].wrapping_add((rows >> (8 * i) & 0xff) as u32 * stride)
            });
        }
    }
}

unsafe fn of_keys<L: Keys>() {
    let none = [0; 16];
    // SAFETY: the caller's promise; there are as many words as lanes, or more.
    unsafe {
        for turn in 0..TURNS {
            let [a, b] = [turn, turn / 5].map(|turn| words::<L>(L::LANES, turn));
            let (x, y) = (vector::<L>(&a), vector::<L>(&b));
            is::<L>("add", L::add(x, y), |i| a[i].wrapping_add(b[i]));
            is::<L>("sub", L::sub(x, y), |i| a[i].wrapping_sub(b[i]));
            is::<L>("and", L::and(x, y), |i| a[i] & b[i]);
            is::<L>("or", L::or(x, y), |i| a[i] | b[i]);
            is::<L>("xor", L::xor(x, y), |i| a[i] ^ b[i]);
            let store = |to| L::store_16(to, x);
            let lowest = &[0; 16][..L::LANES];
            stores::<L, _>("store_16", lowest, store, |i| a[i].low_usize() as u16);
            is::<L>("splat", L::splat(a[0]), |_| a[0]);
            is::<L>("load", L::load(a.as_ptr()), |i| a[i]);
            for bits in 0..L::Word::BITS {
                is::<L>("shl", L::shl(x, bits), |i| a[i] << bits);
                is::<L>("shr", L::shr(x, bits), |i| a[i] >> bits);
            }
            let store = |to| L::store_32(to, x);
            stores::<L, _>("store_32", &none[..L::LANES], store, |i| {
                a[i].widen() as u32
            });
            let count = |i| (7 * i + turn) % 33;
            let counts = numbers::<L>(count);
            for row in 0..32 {
                let some = |i| if count(i) > row { a[i] } else { b[i] };
                let row = row as u8;
                is::<L>("load_row", L::load_row(a.as_ptr(), counts, row, y), some);
                is::<L>("pad", L::pad(x, counts, row, y), some);
            }
        }
        places::<L>();
        // A number in each place, of all bits.
        let at = |row: usize, lane: usize| {
            let number = 0x9e37_79b9_7f4a_7c15 * (row * L::LANES + lane + 1) as u128;
            L::Word::truncate(number)
        };
        let row = |r| -> Vec<_> { (0..L::LANES).map(|lane| at(r, lane)).collect() };
        let mut rows: Vec<_> = (0..L::LANES).map(|r| vector::<L>(&row(r))).collect();
        L::transpose(&mut rows);
        for (r, &found) in rows.iter().enumerate() {
            is::<L>("transpose", found, |lane| at(lane, r));
        }
        let mut rows: Vec<_> = (0..L::LANES).map(|r| vector::<L>(&row(r))).collect();
        L::transpose_half(&mut rows);
        for (r, &found) in rows.iter().enumerate() {
            let mut lanes = row(r);
            L::store(lanes.as_mut_ptr(), found);
            let column: Vec<_> = (0..L::LANES / 2).map(|lane| at(lane, r)).collect();
            let name = type_name::<L>();
            assert_eq!(lanes[..L::LANES / 2], column, "transpose_half of {name}");
        }
        let pairs: [[L::Word; 2]; 4] = array::from_fn(|i| [at(i, 0), at(i, 1)]);
        let part =
            |to: *mut L::Word| L::part(pairs.each_ref().map(|p| p.as_ptr()), [to, to.add(4)]);
        stores::<L, _>("part", &[L::Word::ZERO; 8], part, |i| pairs[i % 4][i / 4]);
        if L::STREAMS {
            let pairs: [[L::Word; 2]; 8] = array::from_fn(|i| [at(i, 0), at(i, 1)]);
            let mut lines = Lines([[L::Word::ZERO; 8]; 2]);
            let [keys, payloads] = &mut lines.0;
            let to = [keys, payloads].map(|line| line.as_mut_ptr());
            L::part_lines(pairs.each_ref().map(|pair| pair.as_ptr()), to);
            streamed();
            let parts = [0, 1].map(|part| pairs.map(|pair| pair[part]));
            assert_eq!(lines.0, parts, "part_lines of {}", type_name::<L>());
        }
        if L::PICKS {
            picks::<L, 8>();
            picks::<L, 12>();
            picks::<L, 16>();
            picks::<L, 24>();
            picks::<L, 32>();
        }
    }
}

/// Two vectors of keys, from the least of a range to the greatest, and their places.
fn placed<L: Keys>(check: impl Fn(&[L::Word], Placing<L::Word>, &[u32])) {
    let all = L::Word::MAX.widen();
    for (least, range) in [
        (0, all),
        (7, all - 7),
        (all / 3, all / 2),
        (9, 1),
        (1 << 31, 1 << 20),
    ] {
        for places in [1, 64, 1 << 12, 1 << 20] {
            let [first, last] = [least, range].map(L::Word::truncate);
            let placing = Placing::new(first, last, places);
            for turn in 0..5 {
                let keys: Vec<_> = words::<L>(2 * L::LANES, turn)
                    .into_iter()
                    .map(|word| L::Word::truncate(least + word.widen() % (range + 1)))
                    .collect();
                let places: Vec<_> = keys.iter().map(|&key| placing.of(key) as u32).collect();
                check(&keys, placing, &places);
            }
        }
    }
}

/// Places of keys, and their lowest 16 bits.
unsafe fn places<L: Keys>() {
    placed::<L>(|keys, placing, expected| {
        let (mut found, mut lowest) = (vec![0; expected.len()], vec![0; expected.len()]);
        let (one, two) = keys.split_at(L::LANES);
        // SAFETY: the caller's promise.
        unsafe {
            let two = [vector::<L>(one), vector::<L>(two)];
            is::<L>("places", L::places(two[0], &placing), |i| {
                L::Word::truncate(expected[i].into())
            });
            L::store_places(found.as_mut_ptr(), two, &placing);
            L::store_places_16(lowest.as_mut_ptr(), two, &placing);
        }
        assert_eq!(found, expected, "store_places, {}", type_name::<L>());
        let expected: Vec<_> = expected.iter().map(|&place| place as u16).collect();
        assert_eq!(lowest, expected, "store_places_16, {}", type_name::<L>());
    });
}

/// Payloads of some of `R` slots.
unsafe fn picks<L: Keys, const R: usize>() {
    let fours: [u32; 32] = array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9e37_79b9));
    let eights: [u64; 32] = array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for turn in 0..R {
        let row = |i| (5 * i + turn) % R;
        // SAFETY: the caller's promise; there are 32 slots, and room for as many payloads as lanes.
        unsafe {
            let rows = numbers::<L>(row);
            let pick = |to| L::pick_4::<R>(fours.as_ptr(), rows, to);
            stores::<L, _>("pick_4", &[0; 16][..L::LANES], pick, |i| fours[row(i)]);
            let pick = |to| L::pick_8::<R>(eights.as_ptr(), rows, to);
            stores::<L, _>("pick_8", &[0; 16][..L::LANES], pick, |i| eights[row(i)]);
        }
    }
}

unsafe fn of_rests<R: Rests>() {
    let at = |row: usize, lane: usize| R::Word::truncate((row * R::LANES + lane) as u128 * 0x9e37);
    // SAFETY: the caller's promise; there are as many words as lanes.
    unsafe {
        for turn in 0..TURNS {
            let [a, b] = [turn, turn / 5].map(|turn| words::<R>(R::LANES, turn));
            is::<R>("bases", R::bases(b[0], a.as_ptr()), |i| {
                b[0].wrapping_add(a[i])
            });
            let bases = vector::<R>(&b);
            let count = |i| (7 * i + turn) % 33;
            let counts = numbers::<R>(count);
            for row in 0..32 {
                let rests = R::rests(a.as_ptr(), counts, row as u8, bases);
                is::<R>("rests", rests, |i| match count(i) > row {
                    true => a[i].wrapping_sub(b[i]),
                    false => R::GREATEST,
                });
            }
            let base = R::Key::truncate(0x0123_4567_89ab_cdef << turn);
            let keys = |to| R::keys(a.as_ptr(), base, to);
            stores::<R, _>("keys", &[R::Key::ZERO; 8][..R::SQUARE], keys, |i| {
                base.wrapping_add(R::Key::truncate(a[i].widen()))
            });
        }
        let row = |r| -> Vec<_> { (0..R::LANES).map(|lane| at(r, lane)).collect() };
        let mut rows: Vec<_> = (0..R::SQUARE).map(|r| vector::<R>(&row(r))).collect();
        R::turn_squares(&mut rows);
        for (r, &found) in rows.iter().enumerate() {
            is::<R>("turn_squares", found, |lane| {
                let (square, column) = (lane / R::SQUARE, lane % R::SQUARE);
                at(column, square * R::SQUARE + r)
            });
        }
    }
}

unsafe fn of_lanes<L: Lanes>() {
    const FACTOR: u32 = 0x9e37_79b9;
    let set = [0x0123_4567_89ab_cdef, 1, 1 << 63, 0xfedc_ba98_7654_3210];
    // SAFETY: the caller's promise; there are as many words as lanes, or more.
    unsafe {
        for turn in 0..TURNS {
            let [a, b] = [turn, turn / 5].map(|turn| words::<L>(L::LANES, turn));
            let (x, y) = (vector::<L>(&a), vector::<L>(&b));
            assert_eq!(L::same(x, y), bits::<L>(|i| a[i] == b[i]), "same");
            assert_eq!(L::below(x, y), bits::<L>(|i| a[i] < b[i]), "below");
            let halves: Vec<u16> = a.iter().map(|word| word.low_usize() as u16).collect();
            is::<L>("load_16", L::load_16(halves.as_ptr()), |i| {
                L::Word::truncate(halves[i].into())
            });
            is::<L>("slots", L::slots(x, FACTOR), |i| {
                L::Word::truncate(slot(a[i], FACTOR) as u128)
            });
            let table = words::<L>(32, turn);
            let from = |i| (11 * i + turn) % 32;
            let found = L::look_up(table.as_ptr(), numbers::<L>(from));
            is::<L>("look_up", found, |i| table[from(i)]);
            // Some of the lanes, and more than there are.
            for count in 0..L::LANES + 3 {
                let found = L::load_some(a.as_ptr(), count, y);
                is::<L>("load_some", found, |i| if i < count { a[i] } else { b[i] });
                let others = words::<L>(3 * L::LANES, turn + 1);
                let end = count.min(L::LANES);
                let store = |to| L::store_some(to, x, count);
                stores::<L, _>("store_some", &others, store, |i| match i < end {
                    true => a[i],
                    false => others[i],
                });
                let start = 2 * L::LANES - end;
                let store = |to: *mut L::Word| L::store_last(to.add(2 * L::LANES), x, end);
                stores::<L, _>("store_last", &others, store, |i| {
                    match (start..start + end).contains(&i) {
                        true => a[i - start],
                        false => others[i],
                    }
                });
            }
        }
        for first in 0..256 {
            let number = |i| (first + 37 * i) % 256;
            let is = |i| set[number(i) / 64] >> (number(i) % 64) & 1 == 1;
            let found = L::among(&set, numbers::<L>(number));
            assert_eq!(found, bits::<L>(is), "among, from {first}");
        }
    }
}

/// Lanes that change places.
unsafe fn changes_of_lanes<L: Lanes>() {
    let a: Vec<L::Word> = words::<L>(L::LANES, 0);
    let b: Vec<L::Word> = words::<L>(L::LANES, 6);
    // SAFETY: the caller's promise; there are as many words as lanes.
    unsafe {
        let (x, y) = (vector::<L>(&a), vector::<L>(&b));
        is::<L>("turned", L::turned(x), |i| a[L::LANES - 1 - i]);
        let both = |i| if i % 2 == 0 { a[i / 2] } else { b[i / 2] };
        let [first, second] = L::zip(x, y);
        is::<L>("first of zip", first, both);
        is::<L>("second of zip", second, |i| both(L::LANES + i));
        for set in 0..1 << L::LANES {
            let chosen: Vec<_> = (0..L::LANES).filter(|i| set >> i & 1 == 1).collect();
            let mut found = vec![L::Word::ZERO; L::LANES];
            L::store(found.as_mut_ptr(), L::compress(x, set));
            let expected: Vec<_> = chosen.iter().map(|&i| a[i]).collect();
            assert_eq!(found[..chosen.len()], expected, "compress by {set:b}");
        }
        change::<L, 1>(&a, &b);
        change::<L, 2>(&a, &b);
        change::<L, 3>(&a, &b);
        change::<L, 4>(&a, &b);
        change::<L, 5>(&a, &b);
        change::<L, 6>(&a, &b);
        change::<L, 7>(&a, &b);
        change::<L, 8>(&a, &b);
        change::<L, 12>(&a, &b);
        change::<L, 14>(&a, &b);
        change::<L, 15>(&a, &b);
    }
}

/// Lane `i` and `i ^ X`, if there are so many.
unsafe fn change<L: Lanes, const X: usize>(a: &[L::Word], b: &[L::Word]) {
    if X >= L::LANES {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let (x, y) = (vector::<L>(a), vector::<L>(b));
        is::<L>("swap", L::swap::<X>(x), |i| a[i ^ X]);
        is::<L>("cross", L::cross::<X>(x), |i| match i >> X.ilog2() & 1 {
            0 => a[i].min(a[i ^ X]),
            _ => a[i].max(a[i ^ X]),
        });
        if X.is_power_of_two() {
            let [without, with] = L::trade::<X>(x, y);
            is::<L>(
                "trade",
                without,
                |i| if i & X == 0 { a[i] } else { b[i ^ X] },
            );
            is::<L>("trade", with, |i| if i & X == 0 { a[i ^ X] } else { b[i] });
        }
    }
}
