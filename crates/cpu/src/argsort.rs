//! Argsort: the index is made here, and sorted as the payload of a copy of the codes.
//!
//! Codes of 128 bits are sorted by their lower and then, stably, by their upper 64 bits, which keeps
//! the scratch at three quarters of what it would be.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use sweepsort_core::{Codec, Coder, IndexMut, Report, Result, Spec, Stage, Width, Word};

use crate::columns::{Columns, Fixed, Payload};
use crate::hybrid::{self, Records};
use crate::map;
use crate::pool::Pool;
use crate::scratch::Scratch;
use crate::tuning::TIMED_FROM;

/// An index entry.
pub(crate) trait Entry: Copy + Send + Sync {
    /// How an entry travels.
    type Payload: Payload;
    const PAYLOAD: Self::Payload;
    /// The entry for a position.
    fn new(position: usize) -> Self;
    /// The position of an entry.
    fn position(self) -> usize;
}

macro_rules! entry {
    ($($word:ident $bytes:literal),*) => {$(
        impl Entry for $word {
            type Payload = Fixed<$bytes>;
            const PAYLOAD: Fixed<$bytes> = Fixed;
            #[inline(always)]
            fn new(position: usize) -> Self {
                position as $word
            }
            #[inline(always)]
            fn position(self) -> usize {
                self as usize
            }
        }
    )*};
}
entry!(u32 4, u64 8);

/// Bytes of scratch for `n` keys of `key` bytes and entries of `entry` bytes.
pub(crate) fn workspace(n: usize, key: usize, entry: usize, threads: usize) -> usize {
    let code = key.min(8);
    n * code + hybrid::workspace(n, code + entry, threads)
}

/// Fills `index` with the positions of the keys in sorted order.
///
/// # Errors
/// As [`hybrid::sort`]; the index is unspecified then.
pub(crate) fn sort<W: Word>(
    keys: &[W],
    index: IndexMut<'_>,
    spec: &Spec,
    pool: &Pool,
    scratch: &Scratch,
) -> Result<Report> {
    match index {
        IndexMut::U32(index) => sort_entries(keys, index, spec, pool, scratch),
        IndexMut::U64(index) => sort_entries(keys, index, spec, pool, scratch),
    }
}

fn sort_entries<W: Word, E: Entry>(
    keys: &[W],
    index: &mut [E],
    spec: &Spec,
    pool: &Pool,
    scratch: &Scratch,
) -> Result<Report> {
    let coder: Coder<W> = spec.codec.coder();
    let mut work = Work {
        index,
        pool,
        scratch,
        report: Report::default(),
    };
    work.number()?;
    if W::WIDTH == Width::W128 {
        let Range { start, end } = spec.bits;
        let code = |at: usize| coder.encode(keys[at]).widen();
        work.round(|at| code(at) as u64, start.min(64)..end.min(64))?;
        work.round(
            |at| (code(at) >> 64) as u64,
            start.max(64) - 64..end.max(64) - 64,
        )?;
    } else {
        work.round(|at| coder.encode(keys[at]), spec.bits.clone())?;
    }
    Ok(work.report)
}

/// An argsort under way.
struct Work<'a, E> {
    index: &'a mut [E],
    pool: &'a Pool,
    scratch: &'a Scratch,
    report: Report,
}

impl<E: Entry> Work<'_, E> {
    /// Fills the index with all positions in order.
    fn number(&mut self) -> Result<()> {
        map::fill(self.pool, self.index, |position| E::new(position))
    }

    /// Sorts the index, as it stands, stably by `bits` of the codes of the positions in it.
    fn round<W: Word>(
        &mut self,
        code: impl Fn(usize) -> W + Send + Sync,
        bits: Range<u32>,
    ) -> Result<()> {
        let start = Instant::now();
        let n = self.index.len();
        let bytes = n * size_of::<W>();
        let block = self.scratch.take(bytes)?;
        // SAFETY: the block has room for `n` words, aligned to a cache line.
        let codes =
            unsafe { std::slice::from_raw_parts_mut(block.start().cast::<MaybeUninit<W>>(), n) };
        let index = &*self.index;
        map::fill(self.pool, codes, |i| {
            MaybeUninit::new(code(index[i].position()))
        })?;
        if n >= TIMED_FROM {
            self.report.stages.push((Stage::Encode, start.elapsed()));
        }
        let data = Columns::new(
            codes.as_mut_ptr().cast::<W>(),
            self.index.as_mut_ptr().cast(),
            E::PAYLOAD,
        );
        let coder = Codec::UNSIGNED.coder();
        // SAFETY: both columns have `n` records, and are borrowed here alone.
        let report = unsafe {
            let records = Records {
                data,
                n,
                coder,
                bits,
                strict: true,
            };
            hybrid::sort(records, self.pool, self.scratch)?
        };
        self.scratch.give(block);
        let workspace_bytes = bytes + report.workspace_bytes;
        self.report.absorb(Report {
            workspace_bytes,
            ..report
        });
        Ok(())
    }
}
