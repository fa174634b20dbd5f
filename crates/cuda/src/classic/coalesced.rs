//! `coalesced` on a device: `coalesced.cu` and `scan.cu`.

use sweepsort_core::Digit;

use super::block_histogram::entries;
use super::scan::Sums;
use super::{Key, Options, Records, Stages, THREADS, or_null, shared, tile_threads};
use crate::args;
use crate::error::Result;
use crate::launch::Grid;

/// Threads of a warp.
const WARP: u32 = 32;

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
    let (digits, before) = (stages.shown(n as usize)?, stages.shown(n as usize)?);
    let (d, sizes) = (stages.shown(n as usize)?, stages.shown(all as usize)?);
    let cover = Digit::cover(options.bits.clone(), options.radix_bits);
    for &digit in &cover {
        stages.pass(Some(digit));
        let (keys, payload) = records.from();
        let (out, payload_out) = records.to();
        let Digit { shift, bits } = digit;
        let radix = digit.radix() as u32;
        let cells = p * radix;
        let arguments = args![keys, n, tile, shift, bits, &mut offsets];
        let grid = Grid::new(p, THREADS);
        stages.launch("coalesced_sizes", grid, arguments)?;
        if let Some(sizes) = &sizes {
            let arguments = args![keys, n, tile, shift, bits, sizes];
            stages.launch("coalesced_sizes", grid, arguments)?;
        }
        let sums = if bits == options.radix_bits {
            &sums
        } else {
            &fewer
        };
        stages.scan(stages.stream, offsets.pointer(), cells, cells, sums)?;
        let (threads, room) = tile_threads::<K>(tile);
        let ranks = shared::<u32>(threads / WARP * radix) + shared::<u32>(radix);
        let (name, bytes) = if options.plain {
            ("coalesced_plain_scatter", ranks)
        } else {
            let mut bytes = ranks + shared::<u32>(radix) + shared::<K>(room);
            if records.payload.is_some() {
                bytes += shared::<u32>(room);
            }
            ("coalesced_scatter", bytes)
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
        records.swap();
        if let (Some(digits), Some(before), Some(sizes), Some(d)) = (&digits, &before, &sizes, &d) {
            stages.show("digit", digits, n as usize)?;
            stages.show("before", before, n as usize)?;
            stages.show("sizes", sizes, cells as usize)?;
            stages.show("offsets", &offsets, cells as usize)?;
            stages.show("d", d, n as usize)?;
            stages.show_keys("out", &records.keys, &records.payload)?;
        }
    }
    Ok(cover.len() as u32)
}
