//! `split` on a device: `split.cu`.

use sweepsort_core::Digit;

use super::scan::Sums;
use super::{Key, LANES, Options, Records, Stages, THREADS, or_null, over, shared};
use crate::args;
use crate::error::Result;
use crate::launch::{Argument, Grid};

/// Sorts records bit by bit; returns the number of passes.
pub fn sort<K: Key>(
    stages: &mut Stages<'_, K>,
    records: &mut Records<K>,
    options: &Options,
) -> Result<u32> {
    let n = records.n;
    let top = top_bit(stages, records, options)?;
    let mut flags = stages.stream.alloc::<u32>(n as usize)?;
    let sums = Sums::new(stages.stream, n, 1)?;
    let (b, t) = (stages.shown(n as usize)?, stages.shown(n as usize)?);
    let (d, total_falses) = (stages.shown(n as usize)?, stages.shown(1)?);
    for bit in options.bits.start..top {
        stages.pass(Some(Digit {
            shift: bit,
            bits: 1,
        }));
        let (keys, payload) = records.from();
        let (out, payload_out) = records.to();
        stages.launch(
            "split_falses",
            over(n),
            args![keys, n, bit, &mut flags, or_null(&b)],
        )?;
        if let Some(b) = &b {
            stages.show("b", b, n as usize)?;
        }
        stages.show("e", &flags, n as usize)?;
        stages.scan(stages.stream, flags.pointer(), n, n, &sums)?;
        stages.show("f", &flags, n as usize)?;
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
        for (name, shown, len) in [
            ("totalFalses", &total_falses, 1),
            ("t", &t, n),
            ("d", &d, n),
        ] {
            if let Some(shown) = shown {
                stages.show(name, shown, len as usize)?;
            }
        }
        records.swap();
        stages.show_keys("out", &records.keys, &records.payload)?;
    }
    Ok(top.saturating_sub(options.bits.start))
}

/// One past the highest bit that any code has set within the range: a max-reduction, which saves the
/// passes above. Waits for its result.
fn top_bit<K: Key>(stages: &Stages<'_, K>, records: &Records<K>, options: &Options) -> Result<u32> {
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
    Ok(K::BITS - largest.leading_zeros())
}
