//! `split` on a device: `split.cu`.

use sweepsort_core::{Digit, Stage};

use super::scan::Sums;
use super::{Array, Key, LANES, Options, Records, Stages, THREADS, Variant, or_null, over, shared};
use crate::args;
use crate::error::Result;
use crate::launch::{Argument, Grid};

/// `f` overwrites `e`. The scatter takes the bit from the key, and has the rest in registers.
pub fn arrays() -> Vec<Array> {
    vec![
        Array::inner("b"),
        Array::kept("e"),
        Array::kept("f"),
        Array::inner("totalFalses"),
        Array::inner("t"),
        Array::inner("d"),
        Array::kept("out"),
    ]
}

/// Sorts records bit by bit; returns the number of passes.
pub fn sort<K: Key>(
    stages: &mut Stages<'_, K>,
    records: &mut Records<K>,
    options: &Options,
) -> Result<u32> {
    let n = records.n;
    let top = match options.variant {
        Variant::AllPasses => options.bits.end,
        _ => top_bit(stages, records, options)?,
    };
    let mut flags = stages.stream.alloc::<u32>(n as usize)?;
    let sums = Sums::new(stages.stream, n, 1)?;
    let (b, t) = (stages.inner(n as usize)?, stages.inner(n as usize)?);
    let (d, total_falses) = (stages.inner(n as usize)?, stages.inner(1)?);
    for bit in options.bits.start..top {
        let digit = Digit {
            shift: bit,
            bits: 1,
        };
        let [(keys, payload), (out, payload_out)] = stages.begin(records, Some(digit));
        stages.launch(
            "split_falses",
            over(n),
            args![keys, n, bit, &mut flags, or_null(&b)],
        )?;
        stages.show_inner("b", b.as_ref())?;
        stages.show("e", &mut flags)?;
        stages.scan(stages.stream, flags.pointer(), n, n, &sums)?;
        stages.show("f", &mut flags)?;
        stages.end(Stage::Scan)?;

        let (total, t_out, d_out) = (or_null(&total_falses), or_null(&t), or_null(&d));
        stages.launch(
            "split_scatter",
            over(n),
            args![
                keys,
                payload,
                n,
                bit,
                &flags,
                out,
                payload_out,
                total,
                t_out,
                d_out
            ],
        )?;
        stages.end(Stage::Scatter)?;
        stages.show_inner("totalFalses", total_falses.as_ref())?;
        stages.show_inner("t", t.as_ref())?;
        stages.show_inner("d", d.as_ref())?;
        stages.swap("out", records)?;
    }
    Ok(top.saturating_sub(options.bits.start))
}

/// One past the highest bit that any code has set within the range: a max-reduction, which saves the
/// passes above. Waits for its result.
fn top_bit<K: Key>(
    stages: &mut Stages<'_, K>,
    records: &Records<K>,
    options: &Options,
) -> Result<u32> {
    let largest = stages.stream.zeros::<K>(1)?;
    let resident = stages.stream.device().facts().multiprocessors * 8;
    let blocks = records.n.div_ceil(LANES * THREADS).min(resident);
    let grid = Grid::new(blocks, THREADS).shared(shared::<K>(THREADS));
    let mask = K::mask(&options.bits);
    stages.launch(
        "split_largest",
        grid,
        args![
            records.from().0,
            records.n,
            Argument::plain(&mask),
            &largest
        ],
    )?;
    let largest = stages.stream.download(&largest)?[0];
    stages.end(Stage::Histogram)?;
    Ok(K::BITS - largest.leading_zeros())
}
