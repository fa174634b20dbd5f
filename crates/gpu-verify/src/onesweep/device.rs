//! Plans of one key width, on the device's own memory, beside the host's stable sort.
//!
//! For each key type of the width: every order, policy for NaNs, payload and way (in place or not),
//! with inputs for each way of sorting; then, all types taking turns, every size with every
//! arrangement of keys, the options taking turns. That comes to 60 sorts for each type, order and
//! policy, 26 more for each type, and some 800 for each width: about 7000 in all.

use std::ops::Range;

use anyhow::{Context, Result};
use half::{bf16, f16};
use sweepsort_core::{Nan, Order, Width, Word};
use sweepsort_testkit::{Ordered, Pattern, Wanted, sizes};

use super::{ALGORITHM, TILES, WIDE};
use crate::checks::mix;
use crate::rig::Rig;
use crate::sorting::{Sorting, Work};

/// All of a width. Returns how many sorts there were.
pub fn run(width: Width) -> Result<usize> {
    let rig = Rig::open()?;
    Ok(match width {
        Width::W8 => of::<u8, u8>(&rig, 0, 2)? + of::<i8, u8>(&rig, 1, 2)?,
        Width::W16 => {
            of::<u16, u16>(&rig, 0, 4)?
                + of::<i16, u16>(&rig, 1, 4)?
                + of::<f16, u16>(&rig, 2, 4)?
                + of::<bf16, u16>(&rig, 3, 4)?
        }
        Width::W32 => {
            of::<u32, u32>(&rig, 0, 3)? + of::<i32, u32>(&rig, 1, 3)? + of::<f32, u32>(&rig, 2, 3)?
        }
        Width::W64 => {
            of::<u64, u64>(&rig, 0, 3)? + of::<i64, u64>(&rig, 1, 3)? + of::<f64, u64>(&rig, 2, 3)?
        }
        Width::W128 => of::<u128, u128>(&rig, 0, 2)? + of::<i128, u128>(&rig, 1, 2)?,
    })
}

/// Where keys come from.
#[derive(Clone, Copy, Debug)]
enum Arrangement {
    Pattern(Pattern),
    /// Key `i` has place `i` times this in the natural order.
    Iota(u128),
}

impl Arrangement {
    const ALL: [Arrangement; 12] = [
        Arrangement::Pattern(Pattern::Random),
        Arrangement::Pattern(Pattern::Special),
        Arrangement::Pattern(Pattern::Equal),
        Arrangement::Pattern(Pattern::OneBit),
        Arrangement::Pattern(Pattern::OneKey),
        Arrangement::Pattern(Pattern::Sorted),
        Arrangement::Pattern(Pattern::Reversed),
        Arrangement::Pattern(Pattern::FewDistinct),
        Arrangement::Pattern(Pattern::Skewed),
        Arrangement::Pattern(Pattern::Ends),
        Arrangement::Iota(1),
        Arrangement::Iota(16),
    ];

    fn keys<K: Ordered>(self, n: usize, wanted: &Wanted) -> Vec<K> {
        match self {
            Arrangement::Pattern(pattern) => pattern.keys(n, n as u64, wanted),
            Arrangement::Iota(step) => (0..n as u128)
                .map(|i| K::at_position((i * step) & u128::mask(&(0..K::BITS))))
                .collect(),
        }
    }
}

/// Keys, and the order that is asked for.
#[derive(Clone, Debug)]
struct Input {
    n: usize,
    arrangement: Arrangement,
    order: Order,
    nan: Nan,
    bits: Range<u32>,
}

/// Ranges of bits: all, none, some, one, and all but one at either end.
fn bit_ranges(bits: u32) -> [Range<u32>; 8] {
    [
        0..bits,
        0..bits,
        0..bits,
        0..0,
        3..bits.min(17),
        bits / 2..bits / 2 + 1,
        1..bits,
        0..bits - 1,
    ]
}

/// Keys of type `K`, which are `W` in memory; it is number `which` of so many `types`.
fn of<K: Ordered, W: Word>(rig: &Rig, which: usize, types: usize) -> Result<usize> {
    let mut sorts = 0;
    for &order in Order::ALL {
        for &nan in K::POLICIES {
            for n in [700, 1500, 30_011] {
                let input = Input {
                    n,
                    arrangement: Arrangement::Pattern(Pattern::Special),
                    order,
                    nan,
                    bits: 0..K::BITS,
                };
                sorts += input.sort::<K, W>(rig, &Work::ALL, &[true, false])?;
            }
        }
    }

    // Wide tiles; then with bits that do not decide.
    let mut wide = Input {
        n: WIDE,
        arrangement: Arrangement::Pattern(Pattern::Special),
        order: Order::Descending,
        nan: K::POLICIES[K::POLICIES.len() - 1],
        bits: 0..K::BITS,
    };
    sorts += wide.sort::<K, W>(rig, &Work::ALL, &[true, false])?;
    wide.bits = 1..K::BITS;
    let some = [Work::Keys, Work::Pairs(4), Work::Argsort(8)];
    sorts += wide.sort::<K, W>(rig, &some, &[true, false])?;

    let all = sizes(20, &TILES)
        .into_iter()
        .flat_map(|n| Arrangement::ALL.map(|arrangement| (n, arrangement)));
    for (i, (n, arrangement)) in all.enumerate() {
        let turn = (mix(i as u64) >> 16) as usize;
        // Of the largest, which take the host longest, one in three.
        let left_out = n > 1 << 17 && !turn.is_multiple_of(3);
        if turn / 65_536 % types != which || left_out {
            continue;
        }
        let input = Input {
            n,
            arrangement,
            order: Order::ALL[turn / 4 % 2],
            nan: K::POLICIES[turn / 8 % K::POLICIES.len()],
            bits: bit_ranges(K::BITS)[turn / 32 % 8].clone(),
        };
        let work = Work::ALL[turn / 256 % Work::ALL.len()];
        let in_place = (turn / 4096).is_multiple_of(2);
        sorts += input.sort::<K, W>(rig, &[work], &[in_place])?;
    }
    Ok(sorts)
}

impl Input {
    /// Does all of that with it. Returns how many sorts there were.
    fn sort<K: Ordered, W: Word>(&self, rig: &Rig, works: &[Work], ways: &[bool]) -> Result<usize> {
        let Input {
            order, nan, bits, ..
        } = self.clone();
        let wanted = Wanted::of_keys(order, nan, Some(bits.clone()));
        let keys: Vec<K> = self.arrangement.keys(self.n, &wanted);
        let sorting = Sorting::<W>::new(&keys, order, nan, bits, ALGORITHM);
        for &work in works {
            for &in_place in ways {
                sorting.run(rig, work, in_place).with_context(|| {
                    let key = std::any::type_name::<K>();
                    format!("{key} {self:?} {work:?}, in place: {in_place}")
                })?;
            }
        }
        Ok(works.len() * ways.len())
    }
}
