//! Vectors of words, as wide as the machine's instructions, and code compiled for each kind.

use sweepsort_core::{Width, Word};

use crate::instructions::Instructions;
use crate::placing::Placing;
use crate::splitters::Tree;

/// Functions of instructions.
macro_rules! instructions {
    ($($name:ident $(<const $X:ident: usize>)? ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {$(
        #[inline(always)]
        unsafe fn $name $(<const $X: usize>)? ($($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller vouches for the instructions, and for what pointers reach.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
}

mod any;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

/// The most lanes that a vector of words of 32 bits, or more, has.
pub(crate) const LANES_MAX: usize = 16;

/// Vectors that a network sorts: its columns are lanes.
///
/// # Safety
/// Every function, of those of the traits below as well, wants a machine that has the kind's
/// instructions; pointers need no alignment, and reach whole vectors.
pub(crate) trait Sorted: Copy {
    /// What is in a lane.
    type Word: Word;
    /// All lanes.
    type Vector: Copy;
    /// How many lanes there are.
    const LANES: usize;
    /// Words that a network sorts are from here,
    const LEAST: Self::Word = Self::Word::ZERO;
    /// to here.
    const GREATEST: Self::Word = Self::Word::MAX;
    /// Whether these are all words.
    const ALL: bool = true;

    unsafe fn store(to: *mut Self::Word, vector: Self::Vector);
    unsafe fn min(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn max(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The lesser and the greater of each lane, by the least work for the machine; one alone may
    /// take longer than by [`min`](Self::min) and [`max`](Self::max).
    #[inline(always)]
    unsafe fn exchange(a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2] {
        // SAFETY: the caller's promise.
        unsafe { [Self::min(a, b), Self::max(a, b)] }
    }
    /// Counters of a byte each, widened to a lane each.
    unsafe fn widen(counts: *const u8) -> Self::Vector;
    /// Moves eight numbers on, each by so many times `stride` as its byte of `rows` says, the first
    /// one's lowest; by less than 2^24.
    unsafe fn move_on(numbers: *mut u32, rows: u64, stride: u32);
}

/// Vectors of rests: what is left of keys, twice as wide, above a base that is known (`local/halves.rs`).
pub(crate) trait Rests: Sorted {
    /// A key.
    type Key: Word;
    /// Rests are below that.
    const END: u128 = 1 << Self::Word::BITS;
    /// Squares of words, as many in a row as 128 bits have room for.
    const SQUARE: usize = 16 / size_of::<Self::Word>();

    /// `first` and, for each lane, an offset from memory.
    unsafe fn bases(first: Self::Word, offsets: *const Self::Word) -> Self::Vector;
    /// How far the lanes whose count is above `row` are, in memory, above their bases; the greatest word in
    /// the others.
    unsafe fn rests(
        from: *const Self::Word,
        counts: Self::Vector,
        row: u8,
        bases: Self::Vector,
    ) -> Self::Vector;
    /// Within each square of words, rows become columns. As many rows as a square has.
    unsafe fn turn_squares(rows: &mut [Self::Vector]);
    /// The keys of as many rests as a square has in a row, from memory: `base` is added to each.
    unsafe fn keys(rests: *const Self::Word, base: Self::Key, to: *mut Self::Key);
}

/// Vectors of keys, as bins take them.
pub(crate) trait Keys: Sorted {
    /// Does some work in a function of its own, which has all registers to itself.
    unsafe fn apart<T: AnyVectored>(work: T) -> T::Output;

    /// Vectors of rests, where such words are the keys.
    type Rests: Rests<Key = Self::Word>;
    /// Vectors of numbers.
    type Numbers: Keys<Word = u32>;
    /// The same vectors, of distances: of words from a base, which need not use all bits.
    type Distances: Sorted<Word = Self::Word, Vector = Self::Vector>;
    /// How words that need no base are compared: as they are, if there is an instruction for the
    /// lesser of two, or else as distances from one.
    type Alone: Sorted<Word = Self::Word, Vector = Self::Vector>;

    unsafe fn load(from: *const Self::Word) -> Self::Vector;
    unsafe fn splat(word: Self::Word) -> Self::Vector;
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn and(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn or(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn xor(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Shifted up by fewer bits than a lane has.
    unsafe fn shl(a: Self::Vector, bits: u32) -> Self::Vector;
    /// Shifted down.
    unsafe fn shr(a: Self::Vector, bits: u32) -> Self::Vector;
    /// The lanes whose count is above `row`, from memory; those of `others` elsewhere.
    unsafe fn load_row(
        from: *const Self::Word,
        counts: Self::Vector,
        row: u8,
        others: Self::Vector,
    ) -> Self::Vector;
    /// `a`, with the lanes of `others` where the count is at most `row`.
    unsafe fn pad(
        a: Self::Vector,
        counts: Self::Vector,
        row: u8,
        others: Self::Vector,
    ) -> Self::Vector;
    /// The places of some keys.
    unsafe fn places(keys: Self::Vector, placing: &Placing<Self::Word>) -> Self::Vector;
    /// Stores the lowest 32 bits of each lane.
    unsafe fn store_32(to: *mut u32, vector: Self::Vector);
    /// Stores the places of two vectors of keys.
    #[inline(always)]
    unsafe fn store_places(to: *mut u32, keys: [Self::Vector; 2], placing: &Placing<Self::Word>) {
        for (i, keys) in keys.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { Self::store_32(to.add(i * Self::LANES), Self::places(keys, placing)) }
        }
    }
    /// Stores the lowest 16 bits of each lane.
    unsafe fn store_16(to: *mut u16, vector: Self::Vector);
    /// Stores the lowest 16 bits of the places of two vectors of keys.
    #[inline(always)]
    unsafe fn store_places_16(
        to: *mut u16,
        keys: [Self::Vector; 2],
        placing: &Placing<Self::Word>,
    ) {
        for (i, keys) in keys.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { Self::store_16(to.add(i * Self::LANES), Self::places(keys, placing)) }
        }
    }
    /// Whether there are instructions to pick payloads.
    const PICKS: bool = false;
    /// As many payloads of 4 bytes as there are lanes, each from the slot that its lane of `rows`
    /// names, below `R`. There are 32 slots.
    unsafe fn pick_4<const R: usize>(_slots: *const u32, _rows: Self::Vector, _to: *mut u32) {
        unreachable!("no instructions to pick payloads")
    }
    /// The same, of 8 bytes.
    unsafe fn pick_8<const R: usize>(_slots: *const u64, _rows: Self::Vector, _to: *mut u64) {
        unreachable!("no instructions to pick payloads")
    }
    /// Four pairs of words: the first of each to one place, the second to another.
    unsafe fn part(pairs: [*const Self::Word; 4], to: [*mut Self::Word; 2]) {
        for (i, pair) in pairs.into_iter().enumerate() {
            for (part, to) in to.into_iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { to.add(i).copy_from_nonoverlapping(pair.add(part), 1) }
            }
        }
    }
    /// Whether there are instructions to write a line of parts past the caches.
    const STREAMS: bool = false;
    /// Eight pairs of 64 bits as [`part`](Self::part), to a line each, past the caches. Others see them
    /// after [`streamed`](crate::fetch::streamed).
    unsafe fn part_lines(_pairs: [*const Self::Word; 8], _to: [*mut Self::Word; 2]) {
        unreachable!("no instructions to write lines past the caches")
    }
    /// Rows become columns. Slices of as many rows as there are lanes.
    unsafe fn transpose(rows: &mut [Self::Vector]);
    /// The same of the first half of the rows: a column is the lower half of a vector.
    #[inline(always)]
    unsafe fn transpose_half(rows: &mut [Self::Vector]) {
        // SAFETY: the caller's promise.
        unsafe { Self::transpose(rows) }
    }
}

/// One kind of vectors that a machine may have.
pub(crate) trait Lanes: Keys {
    /// Numbers of 16 bits, widened to a lane each.
    unsafe fn load_16(from: *const u16) -> Self::Vector;
    /// A bit for each lane whose number, below 256, is in a set: bit `i % 64` of word `i / 64` tells of `i`.
    unsafe fn among(set: &[u64; 4], numbers: Self::Vector) -> u32;
    /// The first lanes of both, then the second ones, and so on: two vectors.
    unsafe fn zip(a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2];
    /// How many of a tree's bounds are below each of `n` codes: of as many as are whole vectors, or of
    /// none where one code after the other is faster. Returns of how many.
    unsafe fn search(
        tree: &Tree<Self::Word>,
        codes: *const Self::Word,
        n: usize,
        below: *mut u8,
    ) -> usize;
    /// The first `count` lanes from memory, those of `others` elsewhere; more than all are all.
    unsafe fn load_some(
        from: *const Self::Word,
        count: usize,
        others: Self::Vector,
    ) -> Self::Vector;
    /// The first `count` lanes to memory, and nothing beyond; more than all are all.
    unsafe fn store_some(to: *mut Self::Word, a: Self::Vector, count: usize);
    /// The first `count` lanes to memory that ends with them, and nothing in front. There is memory
    /// for all lanes.
    unsafe fn store_last(end: *mut Self::Word, a: Self::Vector, count: usize);
    /// A bit for each lane in which `a` and `b` are the same, the first lane's lowest.
    unsafe fn same(a: Self::Vector, b: Self::Vector) -> u32;
    /// Slots of [`Common`](crate::sift::Common): see [`slot`](crate::sift::slot).
    unsafe fn slots(codes: Self::Vector, factor: u32) -> Self::Vector;
    /// What a table of 32 has in some slots.
    unsafe fn look_up(table: *const Self::Word, slots: Self::Vector) -> Self::Vector;
    /// A bit for each lane in which `a` is below `b`, the first lane's lowest.
    unsafe fn below(a: Self::Vector, b: Self::Vector) -> u32;
    /// The lanes whose bit is set moved to the first ones, in order; anything in the others.
    unsafe fn compress(a: Self::Vector, lanes: u32) -> Self::Vector;
    /// Lane `i ^ X` where lane `i` is.
    unsafe fn swap<const X: usize>(a: Self::Vector) -> Self::Vector;
    /// Exchanges the bit `X` of a lane's number for which of two vectors it is of. Of four lanes
    /// each, `X = 1` makes `a0 b0 a2 b2` and `a1 b1 a3 b3`, and `X = 2` makes `a0 a1 b0 b1` and `a2
    /// a3 b2 b3`.
    unsafe fn trade<const X: usize>(a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2];
    /// The last lane first.
    unsafe fn turned(a: Self::Vector) -> Self::Vector;
    /// Compares lane `i` with lane `i ^ X`: the lesser where the highest bit of `X` is clear in
    /// `i`, the greater where it is set.
    unsafe fn cross<const X: usize>(a: Self::Vector) -> Self::Vector;
}

/// A word in all lanes, of a type that is the lanes' by another name.
#[inline(always)]
pub(crate) unsafe fn splat<L: Keys, W: Word>(word: W) -> L::Vector {
    // SAFETY: the caller vouches for the instructions.
    unsafe { L::splat(L::Word::truncate(word.widen())) }
}

/// A whole vector, or what is left of `count` words, and `others` in the other lanes.
#[inline(always)]
pub(crate) unsafe fn load_up_to<L: Lanes>(
    from: *const L::Word,
    count: usize,
    others: L::Vector,
) -> L::Vector {
    // SAFETY: the caller vouches for the instructions, and for the words.
    unsafe {
        match count < L::LANES {
            true => L::load_some(from, count, others),
            false => L::load(from),
        }
    }
}

/// Work that is compiled for every kind of vectors that not every machine has.
pub(crate) trait Vectored {
    type Output;

    /// Does the work. To be inlined, so that it is compiled with the lanes' instructions.
    ///
    /// # Safety
    /// The machine has the lanes' instructions.
    unsafe fn run<L: Lanes>(self) -> Self::Output;
}

/// Work that is compiled for vectors of keys, those that every machine has among them.
pub(crate) trait AnyVectored {
    type Output;
    /// Whether those serve. If not, the work is compiled for others alone.
    const ANY: bool = true;

    /// Does the work. To be inlined, so that it is compiled with the lanes' instructions.
    ///
    /// # Safety
    /// The machine has the lanes' instructions.
    unsafe fn run<L: Keys>(self) -> Self::Output;
}

/// The same work, where the machine has more than those.
struct ByLanes<T>(T);

impl<T: AnyVectored> Vectored for ByLanes<T> {
    type Output = T::Output;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { self.0.run::<L>() }
    }
}

/// Does some work by vectors of words as wide as `W`, if only by those of any machine; or returns
/// the work, for words have other widths.
///
/// # Safety
/// As [`by_vectors`].
pub(crate) unsafe fn by_any_vectors<W: Word, T: AnyVectored>(
    instructions: Instructions,
    work: T,
) -> Result<T::Output, T> {
    // SAFETY: the caller's promise.
    unsafe {
        let work = match by_vectors::<W, _>(instructions, ByLanes(work)) {
            Ok(done) => return Ok(done),
            Err(ByLanes(work)) => work,
        };
        by_vectors_of_any::<W, _>(work)
    }
}

/// The same by vectors that every machine has, whatever else there is.
///
/// # Safety
/// What the work itself wants is given.
pub(crate) unsafe fn by_vectors_of_any<W: Word, T: AnyVectored>(work: T) -> Result<T::Output, T> {
    // SAFETY: the caller's promise.
    unsafe {
        if const { T::ANY && matches!(W::WIDTH, Width::W32) } {
            return Ok(work.run::<any::Any32>());
        }
        if const { T::ANY && matches!(W::WIDTH, Width::W64) } {
            return Ok(work.run::<any::Any64>());
        }
        Err(work)
    }
}

/// Work that can be done without vectors, too.
pub(crate) trait VectoredOrNot: Vectored {
    /// Does it without vectors.
    fn without(self) -> Self::Output;
}

/// Does some work by vectors of words as wide as `W`; or returns the work, for there are none.
///
/// There are some ninety types of sorts, most of which no vectors serve. So here, and wherever else
/// an `if const` asks, only what can run for a type is compiled.
///
/// # Safety
/// The machine has the instructions, and what the work itself wants is given.
pub(crate) unsafe fn by_vectors<W: Word, T: Vectored>(
    instructions: Instructions,
    work: T,
) -> Result<T::Output, T> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise.
    return unsafe { x86::by_vectors::<W, T>(instructions, work) };
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (instructions, W::WIDTH);
        Err(work)
    }
}

/// Does some work by vectors, or without where there are none.
///
/// # Safety
/// As [`by_vectors`].
#[inline(always)]
pub(crate) unsafe fn by_vectors_or_not<W: Word, T: VectoredOrNot>(
    instructions: Instructions,
    work: T,
) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise.
    return unsafe { x86::by_vectors_or_not::<W, T>(instructions, work) };
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (instructions, W::WIDTH);
        work.without()
    }
}
