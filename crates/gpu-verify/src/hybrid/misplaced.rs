//! Keys at every multiple of their size modulo 16, with others' bytes on both sides, and workspaces
//! that hold anything.

use anyhow::{Context, Result};
use sweepsort_core::{Shape, Width, Word, with_width};
use sweepsort_testkit::{Ordered, Pattern, Wanted};

use super::{APART, AUTO, own, twice};
use crate::misplaced::Misplaced;
use crate::rig::{Rig, ascending, same};

const SIZES: [usize; 6] = [1000, 3000, 10_007, 30_011, 100_003, APART + 2];

/// With runs long and short, cells that are too large, and keys that few bits tell apart.
const PATTERNS: [Pattern; 3] = [Pattern::Bins, Pattern::Cells, Pattern::HeavyKey];

/// Every width. Returns how many sorts there were.
pub fn run() -> Result<usize> {
    let rig = Rig::open()?;
    let mut sorts = 0;
    for width in Width::ALL {
        for (i, n) in SIZES.into_iter().chain([twice(width) + 2]).enumerate() {
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

/// Sorts with a workspace that holds nothing but one byte, then with what each sort leaves there, one
/// by another plan among them. Returns how many sorts there were.
fn dirty<W: Word + Ordered>(rig: &Rig, algorithm: &'static str, before: &[W]) -> Result<usize> {
    let stream = &rig.stream;
    let mut expected = before.to_vec();
    expected.sort_unstable();
    let plan = |algorithm| {
        let shape = Shape::keys(before.len(), W::WIDTH);
        rig.plan(shape, &ascending(W::WIDTH, algorithm))
    };
    let (own, other) = (plan(algorithm)?, plan("onesweep")?);
    let bytes = own.workspace_bytes().max(other.workspace_bytes());
    let mut workspace = stream.alloc::<u8>(bytes)?;
    let steps = [
        (Some(0), &own),
        (None, &own),
        (Some(0xFF), &own),
        (None, &other),
        (None, &own),
        (Some(1), &own),
    ];
    for (i, (byte, plan)) in steps.into_iter().enumerate() {
        if let Some(byte) = byte {
            stream.fill(&mut workspace, byte)?;
        }
        let mut keys = stream.upload(before)?;
        let part = workspace.slice_mut(..plan.workspace_bytes())?;
        plan.sort::<W>(stream, (&mut keys).into(), part)?;
        same("keys", &stream.download(&keys)?, &expected)
            .with_context(|| format!("sort {i} with one workspace, filled with {byte:?}"))?;
    }
    rig.intact()?;
    Ok(steps.len())
}
