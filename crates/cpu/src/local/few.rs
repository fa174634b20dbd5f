//! Few keys alone, sorted where they lie: in registers, or by insertion where no vectors are; without memory, and in
//! far less time than it takes to set up more.

use sweepsort_core::{Coder, Presorted, Word};

use super::block;
use super::passes::Passes;
use crate::columns::{Columns, Nothing};
use crate::hybrid::Done;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vectored, by_vectors};
use crate::reading::Plain;
use crate::tuning::INSERTION_MAX;

/// More keys than this are too many, whatever vectors there are.
pub(crate) const FEW_MAX: usize = block::MOST;

/// Neighbours that are compared before it is asked whether that was enough.
const LOOKED_AT: usize = 8;

/// The most keys of so many bits that are few: as many as registers have room for.
#[inline]
pub(crate) fn most(instructions: Instructions, bits: u32) -> usize {
    match (instructions, bits) {
        (Instructions::Avx512, 32) => 256,
        (Instructions::Avx512, 64) | (Instructions::Avx2, 32) => 128,
        (Instructions::Avx2, 64) => 32,
        _ => INSERTION_MAX,
    }
}

/// Sorts keys by their codes, which do not tie.
///
/// # Safety
/// The machine has the instructions. The keys are [few](most).
#[inline]
pub(crate) unsafe fn sort<W: Word>(
    instructions: Instructions,
    keys: &mut [W],
    coder: &Coder<W>,
) -> Done {
    let few = Few { keys, coder };
    // SAFETY: the caller's promise.
    unsafe { by_vectors::<W, _>(instructions, few) }.unwrap_or_else(|few| few.sort(insertion))
}

struct Few<'a, W> {
    keys: &'a mut [W],
    coder: &'a Coder<W>,
}

impl<W: Word> Few<'_, W> {
    /// By a sort of codes, if they are out of order.
    #[inline(always)]
    fn sort(self, sort: impl FnOnce(&mut [W])) -> Done {
        let keys = self.keys;
        let encodes = !self.coder.is_identity();
        if encodes {
            keys.iter_mut()
                .for_each(|key| *key = self.coder.encode_bijective(*key));
        }
        let (mut rises, mut falls) = (false, false);
        // A few keys mostly show that there is no order.
        for start in (1..keys.len()).step_by(LOOKED_AT) {
            for pair in keys[start - 1..].windows(2).take(LOOKED_AT) {
                rises |= pair[0] < pair[1];
                falls |= pair[0] > pair[1];
            }
            if rises && falls {
                break;
            }
        }
        if falls {
            sort(keys);
        }
        if encodes {
            keys.iter_mut()
                .for_each(|key| *key = self.coder.decode(*key));
        }
        Done {
            presorted: match (rises, falls) {
                (false, false) => Some(Presorted::Equal),
                (true, false) => Some(Presorted::Sorted),
                (false, true) => Some(Presorted::Reversed),
                (true, true) => None,
            },
            passes: falls.into(),
            bytes_moved: (size_of_val(keys) << u32::from(falls)) as u64,
        }
    }
}

impl<W: Word> Vectored for Few<'_, W> {
    type Output = Done;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Done {
        assert_eq!(L::Word::WIDTH, W::WIDTH);
        assert!(self.keys.len() <= block::most::<L>());
        self.sort(
            #[inline(always)]
            |keys| {
                let (start, n): (*mut L::Word, _) = (keys.as_mut_ptr().cast(), keys.len());
                // SAFETY: the keys are there, and are ours.
                unsafe { block::sort::<L>(start, n, start, n) }
            },
        )
    }
}

/// Sorts codes one by one.
fn insertion<W: Word>(codes: &mut [W]) {
    let passes = Passes {
        reading: Plain,
        mask: W::MAX,
        fetches: false,
    };
    let columns = Columns::new(codes.as_mut_ptr(), std::ptr::dangling_mut(), Nothing);
    // SAFETY: the codes are there, and are ours.
    unsafe { passes.insertion(columns, codes.len()) }
}

#[cfg(test)]
mod tests {
    use sweepsort_core::{Codec, Kind, Nan, Order};

    use super::*;

    /// Keys beside those that are sorted, on either side.
    const BESIDE: usize = 20;

    /// Every number of keys, in several orders, few values and many, by several codes: sorted, told what order they
    /// had, and nothing beside them is written.
    #[test]
    fn few_keys_are_sorted_where_they_lie() {
        fn width<W: Word>(instructions: Instructions, most_expected: usize) {
            let most = most(instructions, W::BITS);
            assert_eq!(most, most_expected, "{instructions:?}, {} bits", W::BITS);
            assert!(most <= FEW_MAX);
            let float = Kind::Float { mantissa: 5 };
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
                        // SAFETY: the machine has the instructions, and the keys are few.
                        let done =
                            unsafe { sort(instructions, &mut keys[BESIDE..BESIDE + n], coder) };
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
        for (instructions, [narrow, wide]) in [
            (Instructions::Portable, [20, 20]),
            (Instructions::Avx2, [128, 32]),
            (Instructions::Avx512, [256, 128]),
        ] {
            if instructions <= Instructions::detect() {
                width::<u32>(instructions, narrow);
                width::<u64>(instructions, wide);
                width::<u8>(instructions, 20);
                width::<u16>(instructions, 20);
                width::<u128>(instructions, 20);
            }
        }
    }
}
