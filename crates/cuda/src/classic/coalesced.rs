//! `coalesced` on a device: `coalesced.cu` and `scan.cu`.

use sweepsort_core::Stage;

use super::block_histogram::entries;
use super::scan::Sums;
use super::{
    Array, Key, Options, Records, Stages, THREADS, Variant, or_null, shared, tile_threads,
};
use crate::args;
use crate::error::Result;
use crate::launch::Grid;

/// Threads of a warp.
const WARP: u32 = 32;

/// `offsets` overwrite `sizes`. The scatter finds digits, ranks and places again by itself, in
/// registers.
pub fn arrays() -> Vec<Array> {
    vec![
        Array::inner("digit"),
        Array::inner("before"),
        Array::kept("sizes"),
        Array::kept("offsets"),
        Array::inner("d"),
        Array::kept("out"),
    ]
}

/// Sorts records digit by digit; returns the number of passes.
pub fn sort<K: Key>(
    stages: &mut Stages<'_, K>,
    records: &mut Records<K>,
    options: &Options,
) -> Result<u32> {
    let (n, tile) = (records.n, options.block as u32);
    let p = n.div_ceil(tile);
    let all = entries(p, 1 << options.radix_bits)?;
    let mut offsets = stages.stream.alloc::<u32>(all as usize)?;
    let sums = Sums::new(stages.stream, all, 1)?;
    // A last digit may be narrower, and then there is less to scan.
    let narrower = options.bits.len() as u32 % options.radix_bits;
    let fewer = Sums::new(stages.stream, entries(p, 1 << narrower)?, 1)?;
    let (digits, before) = (stages.inner(n as usize)?, stages.inner(n as usize)?);
    let d = stages.inner(n as usize)?;
    let (threads, room) = tile_threads::<K>(tile);
    let cover = options.digits();
    for &digit in &cover {
        let [(keys, payload), (out, payload_out)] = stages.begin(records, Some(digit));
        let (shift, bits) = (digit.shift, digit.bits);
        let radix = digit.radix() as u32;
        let cells = p * radix;
        stages.launch(
            "coalesced_sizes",
            Grid::new(p, THREADS),
            args![keys, n, tile, shift, bits, &mut offsets],
        )?;
        stages.show("sizes", offsets.slice_mut(..cells as usize)?)?;
        stages.end(Stage::Histogram)?;

        let sums = if bits == options.radix_bits {
            &sums
        } else {
            &fewer
        };
        stages.scan(stages.stream, offsets.pointer(), cells, cells, sums)?;
        stages.show("offsets", offsets.slice_mut(..cells as usize)?)?;
        stages.end(Stage::Scan)?;

        let ranks = shared::<u32>(threads / WARP * radix) + shared::<u32>(radix);
        let (name, bytes) = match options.variant {
            Variant::PlainScatter => ("coalesced_plain_scatter", ranks),
            _ => {
                let buckets = shared::<u32>(radix) + records.shared_bytes(room);
                ("coalesced_scatter", ranks + buckets)
            }
        };
        stages.launch(
            name,
            Grid::new(p, threads).shared(bytes),
            args![
                keys,
                payload,
                n,
                tile,
                shift,
                bits,
                &offsets,
                out,
                payload_out,
                or_null(&digits),
                or_null(&before),
                or_null(&d)
            ],
        )?;
        stages.end(Stage::Scatter)?;
        stages.show_inner("digit", digits.as_ref())?;
        stages.show_inner("before", before.as_ref())?;
        stages.show_inner("d", d.as_ref())?;
        stages.swap("out", records)?;
    }
    Ok(cover.len() as u32)
}
