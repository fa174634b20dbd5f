//! Buckets chosen by a sample, for keys that crowd.
//!
//! ```text
//! new     a sample in order → values with a bucket of their own → bounds → a tree
//! of      a code → the number of bounds below it, which is its bucket
//! strip   the same for many codes, by vectors down the tree
//! ```
//!
//! A bound is the greatest code of its bucket. So the last bucket needs none, and `MAX`, which no code
//! is above, fills what is left of a table.
//!
//! The sample is cut into parts of as many codes each. A value that makes up most of such a part gets
//! a bucket of its own: its predecessor and itself are bounds. No comparison asks for equality, and
//! what is in such a bucket is in order already.

use std::cmp::Reverse;
use std::hint::select_unpredictable;
use std::ops::Range;

use sweepsort_core::Word;

use crate::lanes::Lanes;
use crate::sift::{BucketSet, Common};
use crate::tuning::{COMMON_MAX, COMMON_ONE_IN, COMMON_PART, PARTITION_BITS};

/// The most bits of a bucket's number.
const BITS_MAX: u32 = PARTITION_BITS;
/// The fewest levels of a search. Shorter ones are hardly faster, and need code of their own.
const LEVELS_MIN: u32 = 5;
/// Searches at a time by any machine. Each is a chain of loads and comparisons; of fewer, the machine
/// waits for the chains, and more have no room in its registers.
const SEARCHES: usize = 4;

/// Which of up to 256 buckets a code goes to.
#[derive(Clone, Debug)]
pub(crate) struct Splitters<W> {
    /// Ascending, and `MAX` behind the last.
    bounds: [W; (1 << BITS_MAX) - 1],
    tree: Tree<W>,
    buckets: usize,
    /// See [`moved`](Self::moved).
    moved: Option<BucketSet>,
    /// See [`common`](Self::common).
    common: Option<Common<W>>,
}

/// Bounds as a tree for vectors: node 1 is the root, nodes `2k` and `2k + 1` are below node `k`.
///
/// A search begins at the root, and goes from `k` to `2k`, plus one where the code is above the bound
/// there. After `levels` steps it has come to 2^`levels` + the number of bounds below the code.
#[repr(align(64))]
#[derive(Clone, Debug)]
pub(crate) struct Tree<W> {
    /// Ascending from left to right. Node 0 is not used.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(crate) nodes: [W; 1 << BITS_MAX],
    /// From 5 to 8.
    pub(crate) levels: u32,
}

impl<W: Word> Splitters<W> {
    /// From a sample of codes in order: up to 1 << `bits` buckets (bits <= 8), as even as the sample
    /// tells. It should have some 16 codes for each bucket.
    pub(crate) fn new(sample: &[W], bits: u32) -> Self {
        debug_assert!(bits <= BITS_MAX && sample.is_sorted());
        let few = bounds(sample, 1 << bits);
        let mut bounds = [W::MAX; (1 << BITS_MAX) - 1];
        bounds[..few.len()].copy_from_slice(&few);
        let buckets = few.len() + 1;
        let levels = buckets.next_power_of_two().ilog2();
        let mut splitters = Splitters {
            tree: Tree::new(&bounds, levels.max(LEVELS_MIN)),
            bounds,
            buckets,
            moved: None,
            common: None,
        };
        let moved =
            BucketSet::new(|bucket| bucket < buckets && splitters.one_value(bucket).is_none());
        let to_move = |&&code: &&W| moved.has(splitters.of(code).into());
        if 2 * sample.iter().filter(to_move).count() < sample.len() {
            splitters.moved = Some(moved);
        }
        splitters
    }

    /// Finds the most frequent values of the sample that these are made of, if most of it is in
    /// buckets that are not [moved](Self::moved), and hardly any of it has another value.
    pub(crate) fn find_common(&mut self, sample: &[W]) {
        let Some(moved) = &self.moved else {
            return;
        };
        let (mut values, mut covered) = (Vec::new(), 0);
        for run in frequent(sample) {
            let bucket = self.of(run[0]);
            if values.len() < COMMON_MAX && !moved.has(bucket.into()) {
                values.push((run[0], bucket.into()));
                covered += run.len();
            }
        }
        if COMMON_PART * covered >= (COMMON_PART - 1) * sample.len() {
            self.common = Common::new(&values);
        }
    }

    /// The same, where code that is compiled for any lanes has another name for the words.
    #[inline(always)]
    pub(crate) fn cast<V: Word>(&self) -> &Splitters<V> {
        assert_eq!(W::WIDTH, V::WIDTH);
        // SAFETY: words of one width are one type, for there is no other word of that width.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }

    /// How many buckets there are.
    pub(crate) fn buckets(&self) -> usize {
        self.buckets
    }

    /// The code that all of a bucket have, if there is only one.
    pub(crate) fn one_value(&self, bucket: usize) -> Option<W> {
        let first = match bucket {
            0 => W::ZERO,
            _ => self.bounds[bucket - 1].wrapping_add(W::truncate(1)),
        };
        let last = self.bounds.get(bucket).copied().unwrap_or(W::MAX);
        (last == first).then_some(first)
    }

    /// The buckets of more than one value, if most of the sample is in others.
    pub(crate) fn moved(&self) -> Option<&BucketSet> {
        self.moved.as_ref()
    }

    /// The most frequent values, if they [have been found](Self::find_common).
    pub(crate) fn common(&self) -> Option<&Common<W>> {
        self.common.as_ref()
    }

    /// The bucket of a code. Greater codes have greater buckets.
    #[inline(always)]
    pub(crate) fn of(&self, code: W) -> u8 {
        let [bucket] = self.search::<BITS_MAX, 1>([code]);
        bucket
    }

    /// The buckets of `n` codes, by vectors.
    ///
    /// # Safety
    /// The machine has the lanes' instructions. There are `n` codes, and `n` buckets elsewhere to be
    /// overwritten.
    #[inline(always)]
    pub(crate) unsafe fn strip<L: Lanes<Word = W>>(
        &self,
        codes: *const W,
        n: usize,
        buckets: *mut u8,
    ) {
        // SAFETY: the caller's promise; of the `n` codes, `done` have their buckets.
        unsafe {
            let done = L::search(&self.tree, codes, n, buckets);
            self.strip_portable(
                std::slice::from_raw_parts(codes.add(done), n - done),
                std::slice::from_raw_parts_mut(buckets.add(done), n - done),
            );
        }
    }

    /// The buckets of some codes, by any machine: several searches at a time, so that loads overlap.
    #[inline(always)]
    pub(crate) fn strip_portable(&self, codes: &[W], buckets: &mut [u8]) {
        match self.tree.levels {
            5 => self.strip_levels::<5>(codes, buckets),
            6 => self.strip_levels::<6>(codes, buckets),
            7 => self.strip_levels::<7>(codes, buckets),
            _ => self.strip_levels::<8>(codes, buckets),
        }
    }

    fn strip_levels<const LEVELS: u32>(&self, codes: &[W], buckets: &mut [u8]) {
        let (codes, codes_left) = codes.as_chunks::<SEARCHES>();
        let (buckets, buckets_left) = buckets.as_chunks_mut::<SEARCHES>();
        for (&codes, buckets) in codes.iter().zip(buckets) {
            *buckets = self.search::<LEVELS, SEARCHES>(codes);
        }
        for (&code, bucket) in codes_left.iter().zip(buckets_left) {
            *bucket = self.of(code);
        }
    }

    /// The numbers of bounds below some codes, if there are fewer than 2^`LEVELS` bounds.
    #[inline(always)]
    fn search<const LEVELS: u32, const N: usize>(&self, codes: [W; N]) -> [u8; N] {
        const { assert!(LEVELS <= BITS_MAX) };
        let mut below = [0; N];
        for level in (0..LEVELS).rev() {
            for (below, code) in below.iter_mut().zip(codes) {
                let next = *below + (1 << level);
                // SAFETY: all steps together are 2^LEVELS - 1, and there are no fewer bounds.
                let bound = unsafe { *self.bounds.get_unchecked(next - 1) };
                *below = select_unpredictable(bound < code, next, *below);
            }
        }
        below.map(|below| below as u8)
    }
}

impl<W: Word> Tree<W> {
    /// Of the first 2^`levels` - 1 bounds.
    fn new(bounds: &[W], levels: u32) -> Self {
        let mut nodes = [W::MAX; 1 << BITS_MAX];
        for (k, node) in nodes.iter_mut().enumerate().take(1 << levels).skip(1) {
            let level = k.ilog2();
            // A level's nodes are in the middle of as many even stretches of the bounds.
            let stretch = 1 << (levels - level);
            *node = bounds[(k - (1 << level)) * stretch + stretch / 2 - 1];
        }
        Tree { nodes, levels }
    }
}

/// Codes of a sample that are the same, as many as [`COMMON_ONE_IN`] says; the most frequent first.
fn frequent<W: Word>(sample: &[W]) -> Vec<&[W]> {
    let frequent = |run: &&[W]| run.len() * COMMON_ONE_IN >= sample.len();
    let mut runs: Vec<_> = sample.chunk_by(|a, b| a == b).filter(frequent).collect();
    runs.sort_by_key(|run| Reverse(run.len()));
    runs
}

/// The bounds of up to so many buckets: the greatest code of each, but for the last.
fn bounds<W: Word>(sample: &[W], buckets: usize) -> Vec<W> {
    let heavy = heavy(sample, buckets);
    // Before, between and after heavy values lie gaps. Each has one bucket, and of those that are left
    // its share.
    let light = sample.len() - heavy.iter().map(|run| run.len()).sum::<usize>();
    let left = buckets - (2 * heavy.len() + 1);
    let mut bounds = Bounds(Vec::with_capacity(buckets));
    let mut start = 0;
    for run in heavy {
        let value = sample[run.start];
        bounds.divide(&sample[start..run.start], left, light);
        if value > W::ZERO {
            bounds.push(value.wrapping_sub(W::truncate(1)));
        }
        bounds.push(value);
        start = run.end;
    }
    bounds.divide(&sample[start..], left, light);
    bounds.0
}

/// Where values lie that get a bucket of their own.
///
/// Those are heavy that have three quarters of a bucket's share: left among others, they would nearly
/// double its size. Four are too many to be a chance among values that are evenly spread. A heavy value
/// takes two buckets, its own and that of the gap behind it, so only so many do, heaviest first, as leave
/// light values buckets of at most twice the mean.
fn heavy<W: Word>(sample: &[W], buckets: usize) -> Vec<Range<usize>> {
    let n = sample.len();
    let mut end = 0;
    let mut heavy: Vec<_> = sample
        .chunk_by(W::eq)
        .map(|run| {
            end += run.len();
            end - run.len()..end
        })
        .filter(|run| run.len() >= 4 && 4 * buckets * run.len() >= 3 * n)
        .collect();
    heavy.sort_by_key(|run| Reverse(run.len()));
    let mut light = n;
    let most = heavy.iter().enumerate().position(|(i, run)| {
        light -= run.len();
        let taken = 2 * (i + 1) + 1;
        taken > buckets || 2 * n * (buckets - taken) < buckets * light
    });
    heavy.truncate(most.unwrap_or(heavy.len()));
    heavy.sort_by_key(|run| run.start);
    heavy
}

/// Ascending bounds, of which each is worth a comparison.
struct Bounds<W>(Vec<W>);

impl<W: Word> Bounds<W> {
    fn push(&mut self, bound: W) {
        // No code is above `MAX`; neighbours among the heavy values share a bound.
        if bound < W::MAX && self.0.last().is_none_or(|&last| last < bound) {
            self.0.push(bound);
        }
    }

    /// The bounds within a gap, which has one bucket and of so many that are left for `light` values
    /// its share. Equal codes stay together, on that side of a bound that is nearer to even.
    fn divide(&mut self, gap: &[W], left: usize, light: usize) {
        let buckets = 1 + gap.len() * left / light.max(1);
        let mut start = 0;
        for buckets in (2..=buckets).rev() {
            let even = start + (gap.len() - start) / buckets;
            let Some(&value) = gap.get(even) else { break };
            let before = gap.partition_point(|&code| code < value);
            let after = gap.partition_point(|&code| code <= value);
            start = if before > start && even - before <= after - even {
                before
            } else {
                after
            };
            if start == gap.len() {
                break;
            }
            self.push(gap[start - 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use sweepsort_testkit::distribution::{Distribution, Sample, generate};

    use super::*;
    use crate::instructions::Instructions;
    use crate::lanes::{Vectored, by_vectors};
    use crate::pool::Crew;
    use crate::sample::sample;

    /// A strip by vectors.
    struct Strip<'a, W> {
        splitters: &'a Splitters<W>,
        codes: &'a [W],
        buckets: &'a mut [u8],
    }

    impl<W: Word> Vectored for Strip<'_, W> {
        type Output = ();

        #[inline(always)]
        unsafe fn run<L: Lanes>(self) {
            let (codes, n) = (self.codes.as_ptr(), self.codes.len());
            // SAFETY: there are as many buckets as codes; `cast` has compared the words.
            unsafe {
                let splitters = self.splitters.cast::<L::Word>();
                splitters.strip::<L>(codes.cast(), n, self.buckets.as_mut_ptr());
            }
        }
    }

    /// Every way to find the buckets of some codes must find those.
    fn strips<W: Word>(splitters: &Splitters<W>, codes: &[W], expected: &[u8], what: &str) {
        let mut found = vec![0; codes.len()];
        splitters.strip_portable(codes, &mut found);
        assert_eq!(found, expected, "{what}, portable");
        for instructions in [Instructions::Avx2, Instructions::Avx512] {
            if instructions <= Instructions::detect() {
                found.fill(0);
                let strip = Strip {
                    splitters,
                    codes,
                    buckets: &mut found,
                };
                // SAFETY: the machine has the instructions.
                if unsafe { by_vectors::<W, _>(instructions, strip) }.is_ok() {
                    assert_eq!(found, expected, "{what}, {instructions:?}");
                }
            }
        }
    }

    /// Random words with that many zeros above.
    fn words<W: Word>(n: usize, zeros: u32) -> Vec<W> {
        let mut state = 1u128;
        let word = |_| {
            state = state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15) + 1;
            W::truncate(state.rotate_right(64)) >> zeros
        };
        (0..n).map(word).collect()
    }

    fn samples<W: Word>() -> Vec<(&'static str, Vec<W>)> {
        let word = |value: u128| W::truncate(value);
        let few = |n: usize, values: usize| (0..n).map(move |i| word((i % values) as u128 * 5 + 1));
        let mut samples = vec![
            ("nothing", vec![]),
            ("one", vec![word(77)]),
            ("three", vec![W::ZERO, word(9), W::MAX]),
            ("all least", vec![W::ZERO; 100]),
            ("all greatest", vec![W::MAX; 100]),
            ("all equal", vec![word(99); 100]),
            ("least and greatest", [[W::ZERO; 50], [W::MAX; 50]].concat()),
            ("two neighbours", [[word(7); 500], [word(8); 500]].concat()),
            ("all of 8 bits", (0..4096).map(|i| word(i / 16)).collect()),
            ("the last ones", (0..4096).map(|i| !word(i / 40)).collect()),
            ("uniform", words(4096, 0)),
            ("small", words(1000, W::BITS / 2)),
        ];
        for values in [2, 16, 31, 32, 50] {
            samples.push(("few", few(4096, values).collect()));
            let mut background = words(3000, 0);
            background.extend(few(1000, values));
            background.extend([W::MAX; 100]);
            samples.push(("few before others", background));
        }
        for (_, sample) in &mut samples {
            sample.sort_unstable();
        }
        samples
    }

    #[test]
    fn a_bucket_is_the_number_of_bounds_below() {
        fn width<W: Word>() {
            for (name, sample) in samples::<W>() {
                for bits in 0..=8 {
                    let what = format!("{name} of {}, {:?}, {bits} bits", sample.len(), W::WIDTH);
                    let splitters = Splitters::new(&sample, bits);
                    let bounds = bounds(&sample, 1 << bits);
                    assert!(bounds.is_sorted_by(|a, b| a < b), "{what}: {bounds:?}");
                    assert!(bounds.len() < 1 << bits && splitters.buckets() == bounds.len() + 1);
                    let mut codes = words::<W>(300, 0);
                    codes.extend([W::ZERO, W::MAX]);
                    for &bound in &bounds {
                        let one = W::truncate(1);
                        codes.extend([bound.wrapping_sub(one), bound, bound.wrapping_add(one)]);
                    }
                    let below =
                        |code: &W| bounds.iter().filter(|bound| *bound < code).count() as u8;
                    let expected: Vec<u8> = codes.iter().map(below).collect();
                    let found: Vec<u8> = codes.iter().map(|&code| splitters.of(code)).collect();
                    assert_eq!(found, expected, "{what}");
                    for n in (0..40).chain([codes.len()]) {
                        strips(&splitters, &codes[..n], &expected[..n], &what);
                    }
                }
            }
        }
        width::<u8>();
        width::<u16>();
        width::<u32>();
        width::<u64>();
        width::<u128>();
    }

    /// By all codes that there are.
    #[test]
    fn one_value_alone_is_told() {
        for (name, sample) in samples::<u8>() {
            for bits in 0..=8 {
                let splitters = Splitters::new(&sample, bits);
                let mut counts = vec![0; splitters.buckets()];
                for code in 0..=u8::MAX {
                    counts[usize::from(splitters.of(code))] += 1;
                }
                for (bucket, &count) in counts.iter().enumerate() {
                    let one = splitters.one_value(bucket).is_some();
                    assert_eq!(
                        one,
                        count == 1,
                        "{name}, {bits} bits, bucket {bucket}: {count}"
                    );
                }
            }
        }
    }

    #[test]
    fn heavy_values_are_alone() {
        fn width<W: Word>() {
            let word = |value: u128| W::truncate(value);
            let ends = [
                W::ZERO,
                W::MAX,
                word(1),
                !word(1),
                word(77),
                word(78),
                !word(77),
            ];
            for values in 1..=ends.len() {
                for share in [30, 130, 500] {
                    for others in [0, 3000] {
                        let heavy = &ends[..values];
                        let mut sample = words::<W>(others, 0);
                        sample.extend(heavy.iter().flat_map(|&value| vec![value; share]));
                        sample.sort_unstable();
                        let splitters = Splitters::new(&sample, 8);
                        for &value in heavy {
                            let bucket = usize::from(splitters.of(value));
                            assert!(
                                splitters.one_value(bucket).is_some(),
                                "{values} values of {share} among {others}: {value:?} of {:?}",
                                W::WIDTH
                            );
                        }
                    }
                }
            }
        }
        width::<u32>();
        width::<u64>();
        width::<u128>();
    }

    #[test]
    fn buckets_have_even_shares() {
        fn width<W: Word + Sample>() {
            use Distribution::*;
            let n = 100_000;
            for distribution in [
                Uniform,
                And2,
                And3,
                And4,
                And5,
                Normal,
                Sorted,
                Zipf,
                Small,
                FewDistinct,
                Equal,
            ] {
                let codes: Vec<W> = generate(distribution, n, 3).unwrap();
                for bits in [3, 4, 6, 7, 8] {
                    let mut sample = sample(n, 16 << bits, Crew::alone(), |i| codes[i]);
                    sample.sort_unstable();
                    let splitters = Splitters::new(&sample, bits);
                    let mut counts = vec![0; splitters.buckets()];
                    for &code in &codes {
                        counts[usize::from(splitters.of(code))] += 1;
                    }
                    for (bucket, &count) in counts.iter().enumerate() {
                        assert!(
                            count << bits <= 3 * n || splitters.one_value(bucket).is_some(),
                            "{distribution} of {:?}, {bits} bits: {count} in bucket {bucket} of {}",
                            W::WIDTH,
                            counts.len()
                        );
                    }
                }
            }
        }
        width::<u32>();
        width::<u64>();
        width::<u128>();
    }

    #[test]
    fn more_buckets_are_never_made_than_there_are_values() {
        for values in [1, 2, 3, 10, 40] {
            for each in [1, 2, 5, 100] {
                let sample: Vec<u32> = (0..values * each).map(|i| 3 + i / each * 7).collect();
                let splitters = Splitters::new(&sample, 8);
                // Each value's own, and the gaps between them.
                let most = 2 * values as usize + 1;
                assert!(splitters.buckets() <= most, "{values} values, {each} times");
                let buckets: Vec<u8> = sample.iter().map(|&code| splitters.of(code)).collect();
                let used = buckets.chunk_by(u8::eq).count();
                assert_eq!(used, values as usize, "{values} values, {each} times");
            }
        }
    }
}
