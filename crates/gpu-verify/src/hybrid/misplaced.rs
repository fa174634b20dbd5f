//! Keys at every multiple of their size modulo 16, with others' bytes on both sides, and workspaces
//! that hold anything.

use anyhow::{Context, Result};
use sweepsort_core::{Shape, Width, Word, with_width};
use sweepsort_testkit::{Ordered, Pattern, Wanted};

use super::{AUTO, TWICE, own};
use crate::misplaced::Misplaced;
use crate::rig::{Rig, ascending, same};

const SIZES: [usize; 6] = [1000, 3000, 10_007, 30_011, 100_003, TWICE + 2];

/// With runs long and short, cells that are too large, and keys that few bits tell apart.
const PATTERNS: [Pattern; 3] = [Pattern::Bins, Pattern::Cells, Pattern::HeavyKey];

/// Every width. Returns how many sorts there were.
pub fn run() -> Result<usize> {
    let rig = Rig::open()?;
    let mut sorts = 0;
    for width in Width::ALL {
        for (i, n) in SIZES.into_iter().enumerate() {
            for (j, pattern) in PATTERNS.into_iter().enumerate() {
                let algorithm = [AUTO, own(width)][(i + j) % 2];
                sorts += with_width!(width, |W| {
                    let keys: Vec<W> = pattern.keys(n, n as u64, &Wanted::default());
                    dirty(&rig, algorithm, &keys).and_then(|dirty| {
                        Ok(dirty + Misplaced::new(&rig, algorithm, keys).alone()?)
                    })
                })
                .with_context(|| format!("{n} keys, {pattern}, {algorithm}"))?;
            }
        }
    }
    Ok(sorts)
}

/// Sorts with a workspace that holds nothing but one byte, then with what each sort leaves there.
fn dirty<W: Word + Ordered>(rig: &Rig, algorithm: &'static str, before: &[W]) -> Result<usize> {
    let (stream, n) = (&rig.stream, before.len());
    let mut expected = before.to_vec();
    expected.sort_unstable();
    let plan = rig.plan(Shape::keys(n, W::WIDTH), &ascending(W::WIDTH, algorithm))?;
    let mut workspace = rig.workspace(&plan)?;
    let fills = [Some(0), Some(0xFF), None, Some(1), None];
    for fill in fills {
        if let Some(byte) = fill {
            stream.fill(&mut workspace, byte)?;
        }
        let mut keys = stream.upload(before)?;
        plan.sort::<W>(stream, (&mut keys).into(), (&mut workspace).into())?;
        same("keys", &stream.download(&keys)?, &expected)
            .with_context(|| format!("a workspace of {fill:?}"))?;
    }
    rig.intact()?;
    Ok(fills.len())
}
