//! A device that is lost, on a software adapter: sorts fail and say so, and leave the keys as they were.

use sweepsort_wgpu::{Adapter, Options, Plan, Shape, Spec, WgpuEngine, Width};

use sweepsort_core::{DataState, Engine, Error, Task, WordsMut};

const KEYS: usize = 3000;

fn engine() -> WgpuEngine {
    let adapter = Adapter::software().expect("a software adapter; `cargo xtask test` installs one");
    WgpuEngine::on(&adapter, Options::default()).unwrap()
}

fn keys() -> Vec<u32> {
    (0..KEYS as u32)
        .map(|i| i.wrapping_mul(0x9e37_79b9))
        .collect()
}

fn sort(engine: &WgpuEngine, keys: &mut [u32]) -> Result<(), Error> {
    let task = Task::Keys(WordsMut::from(keys));
    engine.run(task, &Spec::natural::<u32>()).map(|_| ())
}

#[test]
fn a_sort_on_a_lost_device_is_an_error_and_the_keys_stay() {
    // Whether a sort has built the pipelines before.
    for sorted_before in [false, true] {
        let engine = engine();
        let mut sorted = keys();
        if sorted_before {
            sort(&engine, &mut sorted).unwrap();
        }
        engine.kernels().device().destroy();
        for turn in 0..2 {
            let mut lost = keys();
            let outcome = sort(&engine, &mut lost);
            let untouched = matches!(
                outcome,
                Err(Error::Device {
                    data: DataState::Untouched,
                    ..
                })
            );
            assert!(
                untouched && lost == keys(),
                "sorted before: {sorted_before}, turn {turn}: {outcome:?}"
            );
        }
    }
}

#[test]
fn a_plan_for_a_lost_device_is_refused() {
    let engine = engine();
    let (shape, spec) = (Shape::keys(KEYS, Width::W32), Spec::natural::<u32>());
    engine.kernels().device().destroy();
    let outcome = Plan::new(engine.kernels(), &shape, &spec);
    assert!(matches!(outcome, Err(Error::Device { .. })), "{outcome:?}");
}
