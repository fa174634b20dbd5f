//! `four-way` on a device: `four_way.cu`.

use sweepsort_core::Digit;

use super::scan::Sums;
use super::{Key, Options, Records, Stages, or_null, over};
use crate::args;
use crate::error::{Error, Result};

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
    let (scan_1, d) = (stages.shown(entries)?, stages.shown(n as usize)?);
    let cover = Digit::cover(options.bits.clone(), options.radix_bits);
    for &digit in &cover {
        stages.pass(Some(digit));
        let (keys, payload) = records.from();
        let (out, payload_out) = records.to();
        let Digit { shift, bits } = digit;
        stages.launch(
            "four_way_compact",
            over(stride),
            args![keys, n, shift, bits, &mut flags, stride],
        )?;
        for k in 0..digit.radix() {
            stages.show_from(&format!("compact_{k}"), &flags, k * entries, n as usize)?;
        }
        // A last digit of one bit has one scan.
        let sums = if bits == 1 { &one } else { &sums };
        stages.scan(stages.stream, flags.pointer(), stride, stride, sums)?;
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
        for k in 0..digit.radix() {
            match &scan_1 {
                Some(scan_1) if bits == 1 && k == 1 => stages.show("scan_1", scan_1, entries)?,
                _ => stages.show_from(&format!("scan_{k}"), &flags, k * entries, entries)?,
            }
        }
        if let Some(d) = &d {
            stages.show("d", d, n as usize)?;
        }
        records.swap();
        stages.show_keys("out", &records.keys, &records.payload)?;
    }
    Ok(cover.len() as u32)
}
