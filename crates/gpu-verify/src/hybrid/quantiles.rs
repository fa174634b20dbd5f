//! Skewed keys of 64 bits whose cells quantiles tell, and others that mislead what is learnt of a sample.

use std::collections::HashSet;

use anyhow::{Context, Result, anyhow, ensure};
use sweepsort_core::{Shape, Width};
use sweepsort_cuda::Buffer;
use sweepsort_testkit::Distribution;

use super::AUTO;
use super::large::{hide, make};
use super::sift::sampled;
use crate::resident::Resident;

/// More than the fewest keys that quantiles may tell the cells of.
const N: usize = (1 << 24) + 1;

/// Of an input: how keys are drawn, and what becomes of the one at a place.
struct Input {
    what: &'static str,
    distribution: Distribution,
    change: fn(usize, u64, &HashSet<usize>) -> u64,
}

/// The digits of a quantile are of ten bits.
const INPUTS: [Input; 9] = [
    Input {
        what: "even by quantiles",
        distribution: Distribution::And2,
        change: |_, key, _| key,
    },
    Input {
        what: "the same, all bits flipped",
        distribution: Distribution::And2,
        change: |_, key, _| !key,
    },
    Input {
        what: "equal keys in all cells",
        distribution: Distribution::And2,
        change: |_, key, _| key >> 24 << 24,
    },
    Input {
        what: "buckets too large: the second digit is as the first, where the probe does not look",
        distribution: Distribution::And2,
        change: |place, key, seen| match seen.contains(&place) {
            true => key,
            false => (key & !(0x3ff << 44)) | (key >> 54 << 44),
        },
    },
    Input {
        what: "cells too large: the third digit is as the second, where the probe does not look",
        distribution: Distribution::And2,
        change: |place, key, seen| match seen.contains(&place) {
            true => key,
            false => (key & !(0x3ff << 34)) | ((key >> 44 & 0x3ff) << 34),
        },
    },
    Input {
        what: "crowded cells: the fourth digit and all below say nothing, where the probe does not look",
        distribution: Distribution::And2,
        change: |place, key, seen| match seen.contains(&place) {
            true => key,
            false => (key >> 34 << 34) | (place as u64 % 2),
        },
    },
    Input {
        what: "one heavy key, where the probe does not look",
        distribution: Distribution::And2,
        change: |place, key, seen| match place % 3 > 0 || seen.contains(&place) {
            true => key,
            false => 0x1234_5678_9abc_def0,
        },
    },
    Input {
        what: "skewed by more, with many equal keys",
        distribution: Distribution::And3,
        change: |_, key, _| key,
    },
    Input {
        what: "uniform",
        distribution: Distribution::Uniform,
        change: |_, key, _| key,
    },
];

/// One graph, replayed with every input, sorted again, and in buckets larger than a sample shows. Returns how many
/// replays there were.
pub fn run() -> Result<usize> {
    let resident = Resident::open()?;
    let (plan, mut workspace) = resident.plan::<u64>(Shape::keys(N, Width::W64), AUTO)?;
    let mut keys = resident.rig.stream.alloc::<u64>(N)?;
    resident.rig.stream.synchronize()?;
    let graph = resident.rig.captured(|| {
        let stream = &resident.rig.stream;
        plan.sort::<u64>(stream, (&mut keys).into(), (&mut workspace).into())?;
        Ok(())
    })?;
    let graph = graph.context("nothing was captured")?;
    let replay = |what: &str, keys: &Buffer<u64>| -> Result<()> {
        let before = resident.checks.fingerprint::<u64>(keys)?;
        graph.launch().map_err(|error| anyhow!("{error:?}"))?;
        resident.in_order(keys).context(what.to_owned())?;
        let after = resident.checks.fingerprint::<u64>(keys)?;
        ensure!(after == before, "{what}: the sorted keys are other keys");
        resident.rig.intact().context(what.to_owned())
    };

    let seen = sampled(N);
    // The first comes again after all others: what those left behind must not matter.
    for input in INPUTS.iter().chain(&INPUTS[..1]) {
        make(&resident, input.distribution, &mut keys, |start, made| {
            for (place, key) in (start..).zip(made) {
                *key = (input.change)(place, *key, &seen);
            }
        })?;
        replay(input.what, &keys)?;
        replay(&format!("{}, sorted", input.what), &keys)?;
    }
    make(&resident, Distribution::And2, &mut keys, |start, made| {
        hide(N, start, made);
    })?;
    replay("buckets larger than the sample shows", &keys)?;
    Ok(2 * (INPUTS.len() + 1) + 1)
}
