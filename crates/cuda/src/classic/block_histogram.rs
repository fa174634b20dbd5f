//! `block-histogram` on a device: `block_histogram.cu`, with `matrix.cu` and `scan.cu`.

use sweepsort_core::Digit;

use super::scan::Sums;
use super::{Key, Options, Records, Stages, THREADS, or_null, shared, tile_threads};
use crate::args;
use crate::error::{Error, Result};
use crate::launch::{Extent, Grid};
use crate::memory::Buffer;
use crate::stream::{Sides, Stream};

/// Side of the tiles of the transpose; the same in `matrix.cu`.
pub const SIDE: u32 = 32;
/// Rows of threads there.
const ROWS: u32 = 8;

/// The matrices of `p` blocks and `2^R` digits.
struct Matrices {
    h: Buffer<u32>,
    ct: Buffer<u32>,
    g: Buffer<u32>,
    l: Buffer<u32>,
    sums: Sums,
    p: u32,
}

impl Matrices {
    fn new(stream: &Stream, p: u32, radix: u32) -> Result<Matrices> {
        let cells = entries(p, radix)?;
        let matrix = || stream.alloc(cells as usize);
        Ok(Matrices {
            h: matrix()?,
            ct: matrix()?,
            g: matrix()?,
            l: matrix()?,
            sums: Sums::new(stream, cells, 1)?,
            p,
        })
    }
}

/// How many counts `p` blocks of `radix` digits have, if they can be scanned.
pub fn entries(p: u32, radix: u32) -> Result<u32> {
    let cells = u64::from(p) * u64::from(radix);
    match u32::try_from(cells) {
        Ok(cells) if (cells as usize) < super::MAX_KEYS => Ok(cells),
        _ => Err(Error::Range {
            what: "counts of all blocks; larger blocks or shorter digits have fewer",
            got: cells as usize,
            have: super::MAX_KEYS,
        }),
    }
}

/// Sorts records digit by digit; returns the number of passes.
pub fn sort<K: Key>(
    stages: &mut Stages<'_, K>,
    sides: &mut Sides,
    records: &mut Records<K>,
    options: &Options,
) -> Result<u32> {
    let (n, tile) = (records.n, options.block as u32);
    let m = Matrices::new(stages.stream, n.div_ceil(tile), 1 << options.radix_bits)?;
    let watched = stages.watched();
    let sorted = watched
        .then(|| stages.stream.alloc::<K>(n as usize))
        .transpose()?;
    let sorted_payload = match records.payload {
        Some(_) => stages.shown(n as usize)?,
        None => None,
    };
    let d = stages.shown(n as usize)?;
    let cover = Digit::cover(options.bits.clone(), options.radix_bits);
    for &digit in &cover {
        stages.pass(Some(digit));
        let (keys, payload) = records.from();
        let (out, payload_out) = records.to();
        let Digit { shift, bits } = digit;
        let radix = digit.radix() as u32;
        let cells = (m.p * radix) as usize;
        stages.launch(
            "block_histogram_count",
            Grid::new(m.p, THREADS),
            args![keys, n, tile, shift, bits, &m.h],
        )?;
        if watched || options.one_stream {
            local_offsets(stages, stages.stream, &m, digit)?;
            global_offsets(stages, stages.stream, &m, digit)?;
        } else {
            let fork = sides.fork(stages.stream)?;
            local_offsets(stages, fork.left(), &m, digit)?;
            global_offsets(stages, fork.right(), &m, digit)?;
            fork.join()?;
        }
        let (threads, room) = tile_threads::<K>(tile);
        let mut bytes = shared::<K>(room) + 2 * shared::<u32>(radix);
        if records.payload.is_some() {
            bytes += shared::<u32>(room);
        }
        let (sorted_out, sorted_payload_out) = (or_null(&sorted), or_null(&sorted_payload));
        stages.launch(
            "block_histogram_scatter",
            Grid::new(m.p, threads).shared(bytes),
            args![
                keys,
                payload,
                n,
                tile,
                shift,
                bits,
                &m.l,
                &m.g,
                out,
                payload_out,
                sorted_out,
                sorted_payload_out,
                or_null(&d)
            ],
        )?;
        records.swap();
        if let (Some(sorted), Some(d)) = (&sorted, &d) {
            stages.show("H", &m.h, cells)?;
            show_transposed(stages, &m, digit)?;
            stages.show("G", &m.g, cells)?;
            stages.show_keys("sorted", sorted, &sorted_payload)?;
            stages.show("L", &m.l, cells)?;
            stages.show("d", d, n as usize)?;
            stages.show_keys("B", &records.keys, &records.payload)?;
        }
    }
    Ok(cover.len() as u32)
}

/// `L`: each row of `H` scanned.
fn local_offsets<K: Key>(
    stages: &Stages<'_, K>,
    stream: &Stream,
    m: &Matrices,
    digit: Digit,
) -> Result<()> {
    let radix = digit.radix() as u32;
    let rows = (THREADS / radix).max(1);
    let grid = Grid::new(m.p.div_ceil(rows), THREADS).shared(shared::<u32>(rows * radix));
    let arguments = args![&m.h, &m.l, m.p, digit.bits];
    stages.launch_in(stream, "block_histogram_local_offsets", grid, arguments)
}

/// `G`: `H` transposed, scanned, and transposed back. What it makes of `CT` is scanned in place.
fn global_offsets<K: Key>(
    stages: &Stages<'_, K>,
    stream: &Stream,
    m: &Matrices,
    digit: Digit,
) -> Result<()> {
    let radix = digit.radix() as u32;
    transpose(stages, stream, (&m.h, &m.ct), m.p, radix)?;
    stages.scan(stream, m.ct.pointer(), m.p * radix, m.p * radix, &m.sums)?;
    transpose(stages, stream, (&m.ct, &m.g), radix, m.p)
}

fn transpose<K: Key>(
    stages: &Stages<'_, K>,
    stream: &Stream,
    (from, to): (&Buffer<u32>, &Buffer<u32>),
    rows: u32,
    columns: u32,
) -> Result<()> {
    let tiles = rows.div_ceil(SIDE) * columns.div_ceil(SIDE);
    let grid = Grid::new(tiles, Extent::from((SIDE, ROWS)));
    stages.launch_in(stream, "transpose", grid, args![from, to, rows, columns])
}

/// Shows `CT`, made once more, and `scan`, which overwrote it.
fn show_transposed<K: Key>(stages: &mut Stages<'_, K>, m: &Matrices, digit: Digit) -> Result<()> {
    let radix = digit.radix() as u32;
    let cells = (m.p * radix) as usize;
    let again = stages.stream.alloc(cells)?;
    transpose(stages, stages.stream, (&m.h, &again), m.p, radix)?;
    stages.show("CT", &again, cells)?;
    stages.show("scan", &m.ct, cells)
}
