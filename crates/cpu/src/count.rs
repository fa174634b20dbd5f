//! Keys of 8 and 16 bits alone: counted, then written out anew. Nothing is moved.

use std::time::Instant;

use sweepsort_core::{Coder, Error, Report, Result, Stage, Word};

use crate::pool::{Crew, Pool};
use crate::tuning::{COUNT_8_FROM, COUNT_16_FROM, PARALLEL_FROM};

/// Whether `n` keys of `bits` bits alone are better counted than moved.
pub(crate) fn pays(n: usize, bits: u32) -> bool {
    match bits {
        8 => n >= COUNT_8_FROM,
        16 => n >= COUNT_16_FROM,
        _ => false,
    }
}

/// Bytes of counters for keys of `bits` bits, with `threads` workers.
pub(crate) fn workspace(n: usize, bits: u32, threads: usize) -> usize {
    let workers = if n < PARALLEL_FROM { 1 } else { threads };
    // One table for each worker, one for the scan.
    ((workers + 1) * size_of::<usize>()) << bits
}

/// Sorts keys in place.
///
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Threads`]; the keys are untouched then.
pub(crate) fn sort<W: Word>(keys: &mut [W], coder: Coder<W>, pool: &Pool) -> Result<Report> {
    pool.enter(keys.len() >= PARALLEL_FROM, |crew| {
        sort_with(keys, coder, crew)
    })?
}

fn sort_with<W: Word>(keys: &mut [W], coder: Coder<W>, crew: Crew<'_>) -> Result<Report> {
    let start = Instant::now();
    let n = keys.len();
    let share = n.div_ceil(crew.threads()).max(1);
    let mut tables = Vec::new();
    for part in keys.chunks(share) {
        tables.push((part, table::<W>()?));
    }
    // The scan's table has one entry more: where the last code ends.
    let mut ends = table::<W>()?;
    crew.for_each(&mut tables, |(part, counts)| {
        for &key in &**part {
            counts[coder.encode(key).low_usize()] += 1;
        }
    });
    let workspace_bytes = (tables.len() + 1) * size_of_val(ends.as_slice());
    let mut sum = 0;
    for (code, end) in ends.iter_mut().enumerate() {
        sum += tables.iter().map(|(_, counts)| counts[code]).sum::<usize>();
        *end = sum;
    }
    drop(tables);
    let counted = start.elapsed();

    let mut parts: Vec<_> = keys.chunks_mut(share).enumerate().collect();
    crew.for_each(&mut parts, |(part, keys)| {
        // Which code the part begins with, and where each ends within the part.
        let offset = *part * share;
        let mut code = ends.partition_point(|&end| end <= offset);
        let mut at = 0;
        while at < keys.len() {
            let end = (ends[code] - offset).min(keys.len());
            keys[at..end].fill(coder.decode(W::truncate(code as u128)));
            at = end;
            code += 1;
        }
    });
    let written = start.elapsed() - counted;
    Ok(Report {
        engine: "cpu",
        algorithm: "count",
        keys: n,
        threads: crew.threads(),
        passes_possible: W::BITS / 8,
        passes_run: 1,
        bytes_moved: 2 * size_of_val(keys) as u64,
        workspace_bytes,
        stages: vec![(Stage::Histogram, counted), (Stage::Scatter, written)],
        ..Report::default()
    })
}

/// Zeros, one for each code.
fn table<W: Word>() -> Result<Vec<usize>> {
    let codes = 1usize << W::BITS;
    let mut table = Vec::new();
    table
        .try_reserve_exact(codes)
        .map_err(|_| Error::OutOfMemory {
            bytes: codes * size_of::<usize>(),
        })?;
    table.resize(codes, 0);
    Ok(table)
}
