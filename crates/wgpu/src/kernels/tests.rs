//! Every shader that a device can be given, parsed and validated, without a device.

use std::collections::HashSet;
use std::num::NonZero;
use std::thread;

use wgpu::naga::back::{PipelineConstants, pipeline_constants::process_overrides};
use wgpu::naga::front::wgsl;
use wgpu::naga::proc::Layouter;
use wgpu::naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use wgpu::naga::{AddressSpace, Module, ShaderStage};

use super::*;
use crate::tuning::METHODS;
use crate::tuning::tests::{NUMBERS_OF_KEYS, rooms};

fn validated(source: &str) -> Result<(Module, ModuleInfo), String> {
    let module = wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::SUBGROUP);
    match validator.validate(&module) {
        Ok(info) => Ok((module, info)),
        Err(error) => Err(error.emit_to_string(source)),
    }
}

/// Bytes of workgroup memory, with the overrides' values put in.
fn workgroup_bytes(source: &str, constants: &[(&str, f64)]) -> Result<u32, String> {
    let (module, info) = validated(source)?;
    let constants: PipelineConstants = constants
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    let entry = Some((ShaderStage::Compute, "main"));
    let processed = process_overrides(&module, &info, entry, &constants);
    let (module, _) = processed.map_err(|error| format!("{error:?}"))?;
    let mut layouts = Layouter::default();
    let laid_out = layouts.update(module.to_ctx());
    laid_out.map_err(|error| error.to_string())?;
    let globals = module.global_variables.iter();
    Ok(globals
        .filter(|(_, global)| global.space == AddressSpace::WorkGroup)
        .map(|(_, global)| layouts[global.ty].size)
        .sum())
}

/// Every kernel for these tiles, keys of so many words and values of so many.
fn kernels(tiling: Tiling, key_words: u32, value_words: u32) -> Vec<Kernel> {
    let mut stages = vec![Stage::Pass { value_words }];
    if tiling.method != Method::Onesweep {
        stages.extend([Stage::Counts, Stage::Scan]);
    }
    for passes in (2..=64 / tiling.method.radix_bits()).step_by(2) {
        stages.push(Stage::Begins { passes });
        for threads in [LEAST_THREADS, HISTOGRAM_THREADS] {
            stages.push(Stage::Histograms { passes, threads });
        }
    }
    let of = |stage, coded| Kernel {
        stage,
        tiling,
        key_words,
        coded,
    };
    let both = |stage| [of(stage, false), of(stage, true)];
    stages.into_iter().flat_map(both).collect()
}

/// Every tiling that a device can have, with the words of keys and values that it is for.
fn tilings() -> HashSet<(Tiling, u32, u32)> {
    let mut tilings = HashSet::new();
    for (room, (_, method)) in rooms().iter().flat_map(|room| METHODS.map(|it| (room, it))) {
        for (key_words, value_words) in (1..=2).flat_map(|k| (0..=4).map(move |v| (k, v))) {
            for keys in NUMBERS_OF_KEYS {
                if let Ok(tiling) = Tiling::choose(room, method, keys, key_words, value_words) {
                    tilings.insert((tiling, key_words, value_words));
                }
            }
        }
    }
    tilings
}

#[test]
fn every_shader_is_valid_as_made_and_has_the_workgroup_memory_that_was_reckoned() {
    let mut seen = HashSet::new();
    let mut shaders = Vec::new();
    for (tiling, key_words, value_words) in tilings() {
        for kernel in kernels(tiling, key_words, value_words) {
            let (source, constants) = Kernels::source(kernel, true, false);
            let room = match kernel.stage {
                Stage::Pass { .. } => tiling.storage(key_words),
                // Within the least that WebGPU promises.
                _ => 16 << 10,
            };
            // Workgroup memory depends on the overrides of passes alone.
            let values: Vec<_> = match kernel.stage {
                Stage::Pass { .. } => constants.iter().map(|(_, x)| *x as u32).collect(),
                _ => Vec::new(),
            };
            if seen.insert((source.clone(), values)) {
                shaders.push((kernel, source, constants, room));
            }
        }
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for some in shaders.chunks(shaders.len().div_ceil(cores)) {
            scope.spawn(move || {
                for (kernel, source, constants, room) in some {
                    match workgroup_bytes(source, constants) {
                        Ok(bytes) => {
                            assert!(bytes <= *room, "{kernel:?}: {bytes} bytes, {room} reckoned");
                        }
                        Err(what) => panic!("{kernel:?}: {what}"),
                    }
                }
            });
        }
    });
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn every_combination_of_files_is_valid_as_it_stands() {
    let rankings = [
        Ranking::Subgroups { most: 32 },
        Ranking::Subgroups { most: 128 },
        Ranking::Barriers,
    ];
    for key_words in [1, 2] {
        let [key, staged] = key_files(key_words);
        let passes = rankings.iter().flat_map(|ranking| {
            [
                &["look_back", "steps"][..],
                &["look_back", "leaps"],
                &["runs"],
            ]
            .map(|method| {
                let pass = ["task", key, "pass", staged];
                [&pass, method, ranking.files()].concat()
            })
        });
        let others =
            ["histograms", "begins", "counts", "scan"].map(|stage| vec!["task", key, stage]);
        for files in passes.chain(others) {
            let checked = validated(&shader::joined(&files, 1));
            assert!(checked.is_ok(), "{files:?}: {}", checked.unwrap_err());
        }
    }
}
