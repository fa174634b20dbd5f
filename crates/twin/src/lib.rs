//! Twins: readable, sequential CPU accounts of GPU radix sorts, stage by stage.
//!
//! Each module is one algorithm. Each stage is a function from arrays to arrays, named as in the
//! text that the algorithm comes from and as in the kernel that does the same on a GPU; so any
//! one stage can be swapped for a device's. What many algorithms share stands once:
//!
//! | module | the idea |
//! |---|---|
//! | [`counting_lsd`] | one thread: histogram, scan, stable scatter, digit by digit |
//! | [`split`] | one bit a pass: a predicate, a scan, a scatter |
//! | [`four_way`] | a flag array and a scan for each of four digits |
//! | [`block_histogram`] | a histogram a block; scans of their transpose; blocks sorted, then scattered |
//! | [`tile_merge`] | tiles sorted by themselves, then merged bitonically, two by two |
//! | [`coalesced`] | blocks sort into local buckets first, so that neighbours are written together |
//! | [`onesweep`] | one kernel a pass: each tile finds its base by looking back |
//! | [`hybrid`] | most significant digits first, then buckets sorted in place |
//! | [`scan`], [`bitonic`], [`matrix`] | the shared pieces |
//!
//! All sort [`Record`]s by `options.bits` of their codes, stably, whatever their number.
//! [`run`] runs any of them. A [`Trace`] records the arrays when asked, and costs nothing
//! otherwise.

pub mod bitonic;
pub mod block_histogram;
pub mod coalesced;
pub mod counting_lsd;
mod engine;
pub mod four_way;
pub mod hybrid;
pub mod matrix;
pub mod onesweep;
mod options;
pub mod scan;
pub mod split;
pub mod tile_merge;
mod trace;

pub use engine::TwinEngine;
pub use options::{Algorithm, Options};
pub use trace::{Detail, Network, Pass, Stage, Trace, Values};

use sweepsort_core::{Digit, Result, Word};

/// What is sorted: a key's code, and whatever travels with it (nothing, a value, an index).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record<W, P> {
    /// The key's order-preserving unsigned image.
    pub code: W,
    /// What travels with it.
    pub payload: P,
}

/// What can travel with a code: nothing, or a position in the input.
pub trait Payload: Copy + Default {
    /// The record's position in the input, where it is known.
    fn position(self) -> usize;
}

impl Payload for () {
    fn position(self) -> usize {
        0
    }
}

impl Payload for u32 {
    fn position(self) -> usize {
        self as usize
    }
}

impl Payload for u64 {
    fn position(self) -> usize {
        self as usize
    }
}

/// Sorts records with one of the twins.
///
/// # Errors
/// As [`Options::check`]; the records are untouched then.
pub fn run<W: Word, P: Payload>(
    algorithm: Algorithm,
    records: &mut Vec<Record<W, P>>,
    options: &Options,
    trace: &mut Trace,
) -> Result<()> {
    options.check::<W>(algorithm)?;
    let sort = match algorithm {
        Algorithm::CountingLsd => counting_lsd::sort,
        Algorithm::Split => split::sort,
        Algorithm::FourWay => four_way::sort,
        Algorithm::BlockHistogram => block_histogram::sort,
        Algorithm::TileMerge => tile_merge::sort,
        Algorithm::Coalesced => coalesced::sort,
        Algorithm::Onesweep => onesweep::sort,
        Algorithm::Hybrid => hybrid::sort,
    };
    sort(records, options, trace);
    Ok(())
}

/// The digit of each record.
pub(crate) fn digits<W: Word, P>(records: &[Record<W, P>], digit: Digit) -> Vec<usize> {
    records.iter().map(|record| digit.of(record.code)).collect()
}

/// Moves record `i` to `d[i]`.
pub(crate) fn scatter<W: Word, P: Payload>(
    records: &[Record<W, P>],
    d: &[usize],
) -> Vec<Record<W, P>> {
    let mut out = records.to_vec();
    for (record, &place) in records.iter().zip(d) {
        out[place] = *record;
    }
    out
}

/// What LSD radix sort must not do: the places within each digit turned round, so that records of
/// one digit change their order.
pub(crate) fn break_stability(d: &mut [usize], digits: &[usize]) {
    let mut groups = std::collections::BTreeMap::<usize, Vec<usize>>::new();
    for (i, &digit) in digits.iter().enumerate() {
        groups.entry(digit).or_default().push(i);
    }
    for group in groups.values() {
        let places: Vec<usize> = group.iter().map(|&i| d[i]).collect();
        for (&i, &place) in group.iter().zip(places.iter().rev()) {
            d[i] = place;
        }
    }
}
