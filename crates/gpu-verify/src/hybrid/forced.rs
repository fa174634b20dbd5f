//! Algorithms that are asked for by name: those that sort a shape sort it, and the others refuse it.

use anyhow::{Context, Result, bail, ensure};
use sweepsort_core::{Nan, Order, Shape, Width, Word, with_width};
use sweepsort_cuda::{Error, Plan};
use sweepsort_testkit::{Ordered, Pattern, Wanted};

use super::{AUTO, SKEWED, own};
use crate::rig::{Rig, ahead, ascending};
use crate::sorting::{Sorting, Work};

const SIZES: [usize; 9] = [0, 1, 2, 1000, 1025, 5000, 30_011, 100_003, SKEWED];

/// A uniform pattern, and such as leave a sort few ways.
const PATTERNS: [Pattern; 5] = [
    Pattern::Random,
    Pattern::Equal,
    Pattern::Cells,
    Pattern::HeavyKey,
    Pattern::Outlier,
];

/// Every width. Returns how many sorts and refusals there were.
pub fn run() -> Result<usize> {
    let rig = Rig::open()?;
    let mut done = 0;
    for width in Width::ALL {
        done += with_width!(width, |W| sorts::<W>(&rig))?;
        done += refusals(&rig, width)?;
    }
    Ok(done)
}

/// Keys alone by all algorithms that are for them; keys of which not all bits decide, pairs and an
/// index by onesweep and by the plan's choice.
fn sorts<W: Word + Ordered>(rig: &Rig) -> Result<usize> {
    let (whole, some) = (0..W::WIDTH.bits(), 3..W::WIDTH.bits() - 1);
    let mut inputs = Vec::new();
    for (i, n) in SIZES.into_iter().enumerate() {
        let patterns = match n {
            SKEWED => &PATTERNS[..2],
            _ => &PATTERNS,
        };
        for &pattern in patterns {
            for algorithm in [AUTO, "onesweep", own(W::WIDTH)] {
                inputs.push((n, pattern, algorithm, &whole, Work::Keys));
            }
            let others = [Work::Pairs(4), Work::Pairs(12), Work::Argsort(4)];
            for algorithm in [AUTO, "onesweep"] {
                inputs.push((n, pattern, algorithm, &some, Work::Keys));
                inputs.push((n, pattern, algorithm, &whole, others[i % 3]));
            }
        }
    }
    ahead(
        &inputs,
        |(n, pattern, algorithm, bits, _)| {
            let keys: Vec<W> = pattern.keys(*n, *n as u64, &Wanted::default());
            let bits = (*bits).clone();
            Sorting::<W>::new(&keys, Order::Descending, Nan::Total, bits, algorithm)
        },
        |input, sorting| {
            let (n, pattern, algorithm, bits, work) = input;
            for in_place in [true, false] {
                sorting.run(rig, *work, in_place).with_context(|| {
                    let key = W::WIDTH.bits();
                    format!("{n} {key}-bit keys, {pattern}, {algorithm} by {bits:?}, {work:?}")
                })?;
            }
            Ok(())
        },
    )?;
    Ok(2 * inputs.len())
}

/// An algorithm has no plan for what it does not take.
fn refusals(rig: &Rig, width: Width) -> Result<usize> {
    const KEYS: usize = 100_003;
    /// More than a hybrid sort takes.
    const MANY: usize = 1 << 31;
    let (alone, bits) = (Shape::keys(KEYS, width), width.bits());
    let own = own(width);
    let other = match own {
        "count" => "hybrid",
        _ => "count",
    };
    let mut refused = vec![
        (other, alone, 0..bits),
        (own, alone, 1..bits),
        (own, alone, 0..bits - 1),
    ];
    // A hybrid sort takes values, too.
    let records = match own {
        "hybrid" => MANY,
        _ => KEYS,
    };
    refused.push((own, Shape::pairs(records, width, 4), 0..bits));
    refused.push((own, Shape::argsort(records, width, 4), 0..bits));
    if own == "hybrid" {
        refused.push((own, Shape::keys(MANY, width), 0..bits));
    }
    let count = refused.len();
    for (algorithm, shape, bits) in refused {
        let mut spec = ascending(width, algorithm);
        spec.bits = bits;
        match Plan::new(&rig.device, &shape, &spec) {
            Err(Error::Plan { why }) => {
                ensure!(
                    !why.is_empty(),
                    "{algorithm} of {shape:?}: refused without a word"
                );
            }
            other => bail!("{algorithm} of {shape:?} by {:?}: {other:?}", spec.bits),
        }
    }
    Ok(count)
}
