//! Checks of what a sort has made, where it lies, and random keys for it to sort: `check.cu`.
//!
//! An argsort is the one stable answer exactly if its keys have no [`disorder`](Checks::disorder),
//! none of its entries is [`misled`](Checks::misled), and none is [`unstable`](Checks::unstable):
//! then entries of equal keys ascend and entries of others lead to other keys, so no entry comes
//! twice. For keys alone, and for pairs whose values are no positions, order and a
//! [`fingerprint`](Checks::fingerprint) of the multiset that is the input's leave a wrong output one
//! chance in about 2^64.

use bytemuck::Pod;
use sweepsort_core::Word;

use crate::args;
use crate::error::{Error, Result};
use crate::image::{Image, Kind};
use crate::launch::{Argument, Grid};
use crate::memory::{Buffer, Pointer, Slice, SliceMut, same};
use crate::stream::Stream;

/// Threads of a block.
const THREADS: u32 = 256;

/// Blocks for each multiprocessor: as many as the largest holds. They share out all keys.
const BLOCKS: u32 = 8;

/// What a search for a position leaves that finds none.
const NONE: u64 = u64::MAX;

/// Checks of arrays on a device, in the order of a stream.
///
/// Keys are codes, compared as unsigned words of any width; there may be more than 2^32. Entries of an
/// index are `u32` or `u64`. Each check reads its arrays once, needs a few bytes on the device, and waits for its end; positions are
/// those of the lowest of two neighbours, or of the entry, from 0 on.
///
/// Every method may fail with [`Error::NoKernel`] for keys of a width without an image,
/// [`Error::Range`] for arrays whose lengths differ and for entries of another size,
/// [`Error::OutOfMemory`] or [`Error::Driver`].
#[derive(Clone, Debug)]
pub struct Checks {
    stream: Stream,
}

impl Checks {
    /// Checks that see what was put into this stream before.
    pub fn new(stream: &Stream) -> Checks {
        Checks {
            stream: stream.clone(),
        }
    }

    /// The lowest position whose key is greater than the next one, by the bits of `mask` alone.
    ///
    /// # Errors
    /// See [`Checks`].
    pub fn disorder<'a, K: Word>(
        &self,
        keys: impl Into<Slice<'a, K>>,
        mask: K,
    ) -> Result<Option<u64>> {
        let keys = keys.into();
        let n = keys.len();
        let mut found = self.nothing_found()?;
        let mask = Argument::plain(&mask);
        let arguments = args![keys, n as u64, mask, &mut found];
        self.launch::<K, 4>("check_disorder", n, arguments)?;
        self.lowest(&found)
    }

    /// The lowest position whose key is equal to the next one by the bits of `mask`, and whose index
    /// is not below the next one.
    ///
    /// # Errors
    /// See [`Checks`].
    pub fn unstable<'a, 'b, K: Word, I: Word>(
        &self,
        keys: impl Into<Slice<'a, K>>,
        index: impl Into<Slice<'b, I>>,
        mask: K,
    ) -> Result<Option<u64>> {
        let (keys, index) = (keys.into(), index.into());
        let n = keys.len();
        same("index entries", index.len(), n)?;
        let mut found = self.nothing_found()?;
        let mask = Argument::plain(&mask);
        let arguments = args![keys, index, entry_bytes::<I>()?, n as u64, mask, &mut found];
        self.launch::<K, 6>("check_unstable", n, arguments)?;
        self.lowest(&found)
    }

    /// The lowest entry of an index that does not lead to its sorted key: it is beyond the input, or
    /// the input has another key there.
    ///
    /// # Errors
    /// See [`Checks`].
    pub fn misled<'a, 'b, 'c, K: Word, I: Word>(
        &self,
        input: impl Into<Slice<'a, K>>,
        index: impl Into<Slice<'b, I>>,
        sorted: impl Into<Slice<'c, K>>,
    ) -> Result<Option<u64>> {
        let (input, index, sorted) = (input.into(), index.into(), sorted.into());
        let n = input.len();
        same("index entries", index.len(), n)?;
        same("sorted keys", sorted.len(), n)?;
        let mut found = self.nothing_found()?;
        let bytes = entry_bytes::<I>()?;
        let arguments = args![input, index, bytes, sorted, n as u64, &mut found];
        self.launch::<K, 6>("check_misled", n, arguments)?;
        self.lowest(&found)
    }

    /// A number that is the same for the same keys in any order, and for another multiset of as many
    /// keys the same with one chance in about 2^64. Those of parts add up, wrapping, to that of the
    /// whole.
    ///
    /// # Errors
    /// See [`Checks`].
    pub fn fingerprint<'a, K: Word>(&self, keys: impl Into<Slice<'a, K>>) -> Result<u64> {
        let keys = keys.into();
        self.sum::<K>(keys.pointer(), Pointer::NULL, 0, keys.len())
    }

    /// The same for records, a key and a value each. A value is any number of words of four bytes,
    /// at a multiple of four.
    ///
    /// # Errors
    /// See [`Checks`]; [`Error::Range`] also for other values.
    pub fn fingerprint_pairs<'a, 'b, K: Word, V: Pod>(
        &self,
        keys: impl Into<Slice<'a, K>>,
        values: impl Into<Slice<'b, V>>,
    ) -> Result<u64> {
        let (keys, values) = (keys.into(), values.into());
        same("values", values.len(), keys.len())?;
        same("bytes of a value beyond words", size_of::<V>() % 4, 0)?;
        let words = values.cast::<u32>()?.pointer();
        let words_each = (size_of::<V>() / 4) as u32;
        self.sum::<K>(keys.pointer(), words, words_each, keys.len())
    }

    /// Whether an index has each of 0 to n - 1 once, by the fingerprint of these.
    ///
    /// # Errors
    /// See [`Checks`].
    pub fn is_permutation<'a, I: Word>(&self, index: impl Into<Slice<'a, I>>) -> Result<bool> {
        let index = index.into();
        entry_bytes::<I>()?;
        let all = self.sum::<I>(Pointer::NULL, Pointer::NULL, 0, index.len())?;
        Ok(self.fingerprint::<I>(index)? == all)
    }

    /// Fills `keys` with random numbers, of which only the bits of `mask` stay. Key `i` depends on
    /// the seed and `i` alone. Enqueues only.
    ///
    /// # Errors
    /// See [`Checks`].
    pub fn random<'a, K: Word>(
        &self,
        keys: impl Into<SliceMut<'a, K>>,
        seed: u64,
        mask: K,
    ) -> Result<()> {
        let keys = keys.into();
        let n = keys.len();
        let mask = Argument::plain(&mask);
        self.launch::<K, 4>("check_random", n, args![keys, n as u64, seed, mask])
    }

    /// Fills `index` with 0, 1, 2, …: the values of keys to be argsorted as pairs. Enqueues only.
    ///
    /// # Errors
    /// See [`Checks`]; [`Error::Range`] also above 2^32.
    pub fn positions<'a>(&self, index: impl Into<SliceMut<'a, u32>>) -> Result<()> {
        let index = index.into();
        let n = index.len();
        if n as u64 > 1 << 32 {
            return Err(Error::Range {
                what: "positions of 32 bits",
                got: n,
                have: 1 << 32,
            });
        }
        self.launch::<u32, 2>("check_positions", n, args![index, n as u64])
    }

    /// The sum of the hashes of `n` keys, or of the numbers from 0 to `n - 1`, each with its words.
    fn sum<K: Word>(
        &self,
        keys: Pointer<K>,
        values: Pointer<u32>,
        words: u32,
        n: usize,
    ) -> Result<u64> {
        let mut sum = self.stream.zeros::<u64>(1)?;
        let arguments = args![keys, values, words, n as u64, &mut sum];
        self.launch::<K, 5>("check_fingerprint", n, arguments)?;
        self.one(&sum)
    }

    fn nothing_found(&self) -> Result<Buffer<u64>> {
        let mut found = self.stream.alloc(1)?;
        self.stream.fill(&mut found, NONE as u8)?;
        Ok(found)
    }

    fn lowest(&self, found: &Buffer<u64>) -> Result<Option<u64>> {
        let found = self.one(found)?;
        Ok((found != NONE).then_some(found))
    }

    fn one(&self, answer: &Buffer<u64>) -> Result<u64> {
        let mut one = [0];
        self.stream.read(answer, &mut one)?;
        Ok(one[0])
    }

    /// Launches a kernel of `check.cu` over `n` keys.
    fn launch<K: Word, const N: usize>(
        &self,
        name: &str,
        n: usize,
        arguments: [Argument<'_>; N],
    ) -> Result<()> {
        let image = Image::of(Kind::Check, K::BITS).ok_or_else(|| Error::NoKernel {
            image: format!("{} bits", K::BITS),
            kernel: name.to_owned(),
        })?;
        let device = self.stream.device();
        let kernel = device.module(image)?.kernel(name)?;
        let blocks = (n as u64).div_ceil(u64::from(THREADS));
        let most = u64::from(BLOCKS * device.facts().multiprocessors);
        let grid = Grid::new(blocks.min(most) as u32, THREADS);
        // SAFETY: each caller above gives arrays of `n` keys, values and entries, as it was lent
        // them, and one number for the answer. Nothing is read at an index that is not below `n`.
        unsafe { self.stream.launch(&kernel, grid, arguments) }
    }
}

/// How many bytes an entry of an index has: 4 or 8.
fn entry_bytes<I: Word>() -> Result<u32> {
    match size_of::<I>() {
        bytes @ (4 | 8) => Ok(bytes as u32),
        bytes => Err(Error::Range {
            what: "bytes of an index entry",
            got: bytes,
            have: 8,
        }),
    }
}
