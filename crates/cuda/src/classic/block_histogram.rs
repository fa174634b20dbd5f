//! `block-histogram` on a device: `block_histogram.cu`, with `matrix.cu` and `scan.cu`.

use sweepsort_core::{Digit, Stage};

use super::scan::Sums;
use super::{
    Array, Key, Options, Records, Stages, THREADS, Variant, or_null, shared, tile_threads,
};
use crate::args;
use crate::error::{Error, Result};
use crate::launch::{Extent, Grid};
use crate::memory::Buffer;
use crate::stream::{Sides, Stream};

/// Side of the tiles of the transpose; the same in `matrix.cu`.
pub const SIDE: u32 = 32;
/// Rows of threads there.
const ROWS: u32 = 8;

/// `scan` overwrites `CT`. The scatter sorts the blocks in shared memory.
pub fn arrays() -> Vec<Array> {
    vec![
        Array::kept("H"),
        Array::kept("CT"),
        Array::kept("scan"),
        Array::kept("G"),
        Array::inner("sorted"),
        Array::kept("L"),
        Array::inner("d"),
        Array::kept("B"),
    ]
}

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
    let mut m = Matrices::new(stages.stream, n.div_ceil(tile), 1 << options.radix_bits)?;
    let sorted = stages.inner::<K>(n as usize)?;
    let sorted_payload = match records.payload {
        Some(_) => stages.inner(n as usize)?,
        None => None,
    };
    let d = stages.inner(n as usize)?;
    let (threads, room) = tile_threads::<K>(tile);
    let cover = options.digits();
    for &digit in &cover {
        let [(keys, payload), (out, payload_out)] = stages.begin(records, Some(digit));
        let (shift, bits) = (digit.shift, digit.bits);
        let radix = digit.radix() as u32;
        stages.launch(
            "block_histogram_count",
            Grid::new(m.p, THREADS),
            args![keys, n, tile, shift, bits, &m.h],
        )?;
        stages.show("H", m.h.slice_mut(..(m.p * radix) as usize)?)?;
        stages.end(Stage::Histogram)?;

        let main = stages.stream;
        if stages.watched() || options.variant == Variant::OneStream {
            local_offsets(stages, main, &mut m, digit)?;
            global_offsets(stages, main, &mut m, digit)?;
        } else {
            let fork = sides.fork(main)?;
            local_offsets(stages, fork.left(), &mut m, digit)?;
            global_offsets(stages, fork.right(), &mut m, digit)?;
            fork.join()?;
        }
        stages.end(Stage::Scan)?;

        let bytes = records.shared_bytes(room) + 2 * shared::<u32>(radix);
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
        stages.end(Stage::Scatter)?;
        stages.show_inner_keys("sorted", sorted.as_ref(), sorted_payload.as_ref())?;
        stages.show_inner("d", d.as_ref())?;
        stages.swap("B", records)?;
    }
    Ok(cover.len() as u32)
}

/// `L`: each row of `H` scanned.
fn local_offsets<K: Key>(
    stages: &mut Stages<'_, K>,
    stream: &Stream,
    m: &mut Matrices,
    digit: Digit,
) -> Result<()> {
    let radix = digit.radix() as u32;
    let rows = (THREADS / radix).max(1);
    let grid = Grid::new(m.p.div_ceil(rows), THREADS).shared(shared::<u32>(rows * radix));
    let arguments = args![&m.h, &m.l, m.p, digit.bits];
    stages.launch_in(stream, "block_histogram_local_offsets", grid, arguments)?;
    stages.show("L", m.l.slice_mut(..(m.p * radix) as usize)?)
}

/// `G`: `H` transposed, scanned, and transposed back. What it makes of `CT` is scanned in place.
fn global_offsets<K: Key>(
    stages: &mut Stages<'_, K>,
    stream: &Stream,
    m: &mut Matrices,
    digit: Digit,
) -> Result<()> {
    let radix = digit.radix() as u32;
    let cells = m.p * radix;
    transpose(stages, stream, (&m.h, &m.ct), m.p, radix)?;
    stages.show("CT", m.ct.slice_mut(..cells as usize)?)?;
    stages.scan(stream, m.ct.pointer(), cells, cells, &m.sums)?;
    stages.show("scan", m.ct.slice_mut(..cells as usize)?)?;
    transpose(stages, stream, (&m.ct, &m.g), radix, m.p)?;
    stages.show("G", m.g.slice_mut(..cells as usize)?)
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
