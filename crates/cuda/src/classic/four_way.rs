//! `four-way` on a device: `four_way.cu`.

use sweepsort_core::Stage;

use super::scan::Sums;
use super::{Array, Key, Options, Records, Stages, or_null, over};
use crate::args;
use crate::error::{Error, Result};

/// The scans overwrite the flags. With one bit, the flags of digit 1 are read by no kernel, and
/// `scan_1` is in registers.
pub fn arrays(options: &Options) -> Vec<Array> {
    let bits = options.radix_bits.min(options.bits.len() as u32);
    let each = |name: &'static str| {
        (0..1 << bits).map(move |k| Array {
            name: format!("{name}_{k}"),
            kept: bits > 1 || k == 0,
        })
    };
    each("compact")
        .chain(each("scan"))
        .chain([Array::inner("d"), Array::kept("out")])
        .collect()
}

/// Sorts records digit by digit; returns the number of passes.
pub fn sort<K: Key>(
    stages: &mut Stages<'_, K>,
    records: &mut Records<K>,
    options: &Options,
) -> Result<u32> {
    let n = records.n;
    let entries = n as usize + 1;
    let radix = 1usize << options.radix_bits;
    let stride = n + 1;
    let scanned = if options.radix_bits == 1 { 1 } else { 4 };
    let all = entries.checked_mul(radix).ok_or(Error::Range {
        what: "flags of four-way",
        got: entries,
        have: usize::MAX / radix,
    })?;
    let mut flags = stages.stream.alloc::<u32>(all)?;
    let sums = Sums::new(stages.stream, stride, scanned)?;
    let one = Sums::new(stages.stream, stride, 1)?;
    let (scan_1, d) = (stages.inner(entries)?, stages.inner(n as usize)?);
    let cover = options.digits();
    for &digit in &cover {
        let [(keys, payload), (out, payload_out)] = stages.begin(records, Some(digit));
        let (shift, bits) = (digit.shift, digit.bits);
        stages.launch(
            "four_way_compact",
            over(stride),
            args![keys, n, shift, bits, &mut flags, stride],
        )?;
        // A last digit of one bit has one scan.
        let kept = if bits == 1 { 1 } else { digit.radix() };
        for k in 0..kept {
            let start = k * entries;
            let flags = flags.slice_mut(start..start + n as usize)?;
            stages.show(&format!("compact_{k}"), flags)?;
        }
        if bits == 1 {
            let compact_1 = flags.slice(entries..entries + n as usize)?;
            stages.show_inner("compact_1", Some(compact_1))?;
        }
        let sums = if bits == 1 { &one } else { &sums };
        stages.scan(stages.stream, flags.pointer(), stride, stride, sums)?;
        for k in 0..kept {
            let start = k * entries;
            let scan = flags.slice_mut(start..start + entries)?;
            stages.show(&format!("scan_{k}"), scan)?;
        }
        stages.end(Stage::Scan)?;

        let (scan_1_out, d_out) = (or_null(&scan_1), or_null(&d));
        stages.launch(
            "four_way_scatter",
            over(stride),
            args![
                keys,
                payload,
                n,
                shift,
                bits,
                &flags,
                stride,
                out,
                payload_out,
                scan_1_out,
                d_out
            ],
        )?;
        stages.end(Stage::Scatter)?;
        if bits == 1 {
            stages.show_inner("scan_1", scan_1.as_ref())?;
        }
        stages.show_inner("d", d.as_ref())?;
        stages.swap("out", records)?;
    }
    Ok(cover.len() as u32)
}
