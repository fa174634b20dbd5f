//! Which of the figures that were measured a row gets.
//!
//! For each input, a variant's median is divided by that of the present row. A variant counts if every
//! output of it was right and no input takes it longer by more than [`MOST_LOSS`]. Of those the one
//! whose ratios have the least geometric mean is taken, if that is a gain of [`LEAST_GAIN`]: what is
//! less may be chance.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use crate::record::{Record, Row};

/// A part of the present time.
const MOST_LOSS: f64 = 0.02;
const LEAST_GAIN: f64 = 0.01;

/// What was measured of a variant.
#[derive(Debug, PartialEq)]
pub struct Measured {
    pub variant: String,
    /// Its time, the present row's being 1: the geometric mean over all inputs, and the worst.
    pub mean: f64,
    pub worst: f64,
    pub verified: bool,
}

impl Measured {
    fn counts(&self) -> bool {
        self.verified && self.worst <= 1.0 + MOST_LOSS
    }
}

/// Every variant, the fastest first.
pub fn measured(record: &Record, present: &str) -> Result<Vec<Measured>> {
    let of = |row: &Row, variant: &str| row.variant.as_deref() == Some(variant);
    let inputs: Vec<&Row> = record.rows.iter().filter(|row| of(row, present)).collect();
    ensure!(
        !inputs.is_empty(),
        "the present row {present} was not measured"
    );
    let variants: BTreeSet<&str> = (record.rows.iter())
        .filter_map(|row| row.variant.as_deref())
        .collect();
    let mut all = Vec::new();
    for variant in variants {
        let mut ratios = Vec::new();
        let mut verified = true;
        for input in &inputs {
            let same = |row: &&Row| of(row, variant) && row.same_input(input);
            let row = record.rows.iter().find(same);
            let row = row.with_context(|| format!("{variant} lacks an input of {present}"))?;
            verified &= row.verified && input.verified;
            let (median, at_present) = (row.median_s, input.median_s);
            ratios.push(median.context("no time")? / at_present.context("no time")?);
        }
        let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        all.push(Measured {
            variant: variant.to_owned(),
            mean: (sum / ratios.len() as f64).exp(),
            worst: ratios.iter().copied().fold(0.0, f64::max),
            verified,
        });
    }
    all.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    Ok(all)
}

/// The best of these, the fastest first; none where the present row stays.
pub fn best(measured: &[Measured]) -> Option<&Measured> {
    let best = measured.iter().find(|variant| variant.counts())?;
    (best.mean <= 1.0 - LEAST_GAIN).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Machine;

    /// A record of `times`: a variant's at two sizes.
    fn record(times: &[(&str, [f64; 2], bool)]) -> Record {
        let rows = times.iter().flat_map(|&(variant, times, verified)| {
            (0..2).map(move |i| Row {
                variant: Some(variant.to_owned()),
                n: i as u64 + 1,
                median_s: Some(times[i]),
                verified,
                ..Row::default()
            })
        });
        Record {
            machine: Machine::default(),
            rows: rows.collect(),
        }
    }

    #[test]
    fn the_fastest_counts_unless_it_is_wrong_or_loses_somewhere() {
        let of = |times: &[(&str, [f64; 2], bool)]| {
            let measured = measured(&record(times), "now").unwrap();
            best(&measured).map(|best| best.variant.clone())
        };
        let now = ("now", [2.0, 4.0], true);
        let better = ("better", [1.9, 3.9], true);
        assert_eq!(of(&[now, better]).as_deref(), Some("better"));
        assert_eq!(
            of(&[now, better, ("wrong", [1.0, 1.0], false)]).as_deref(),
            Some("better")
        );
        assert_eq!(
            of(&[now, better, ("uneven", [1.0, 4.1], true)]).as_deref(),
            Some("better")
        );
        assert_eq!(of(&[now, ("chance", [1.99, 3.98], true)]), None);
        assert_eq!(of(&[now]), None);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        assert!(measured(&record(&[("a", [1.0, 1.0], true)]), "now").is_err());
        let mut record = record(&[("now", [1.0, 1.0], true), ("a", [1.0, 1.0], true)]);
        record.rows.pop();
        assert!(measured(&record, "now").is_err());
    }
}
