//! A pipeline cache of the caller's, on a software adapter.

use sweepsort_core::Error;
use sweepsort_wgpu::{Adapter, Kernels, Options, Plan, Shape, Spec, Width};

/// A device with pipeline caches, and an empty one.
fn device(adapter: &Adapter) -> (wgpu::Device, wgpu::PipelineCache) {
    let (device, _) = pollster::block_on(adapter.wgpu().request_device(&wgpu::DeviceDescriptor {
        required_features: wgpu::Features::PIPELINE_CACHE,
        ..wgpu::DeviceDescriptor::default()
    }))
    .unwrap();
    // SAFETY: there is no data.
    let cache = unsafe {
        device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
            label: None,
            data: None,
            fallback: true,
        })
    };
    (device, cache)
}

#[test]
fn pipelines_go_through_the_cache_that_is_given() {
    let adapter = Adapter::software().expect("a software adapter; `cargo xtask test` installs one");
    let (ours, our_cache) = device(&adapter);
    let (_theirs, their_cache) = device(&adapter);
    let (shape, spec) = (Shape::keys(1000, Width::W32), Spec::natural::<u32>());
    let planned = |cache| {
        let kernels = Kernels::cached(&ours, Options::default(), cache);
        Plan::new(&kernels, &shape, &spec).map(|plan| plan.workspace_bytes())
    };
    let plan = planned(our_cache);
    assert!(plan.is_ok(), "{plan:?}");
    // One of another device would be no error if nobody looked at it.
    let refused = planned(their_cache);
    assert!(matches!(refused, Err(Error::Device { .. })), "{refused:?}");
}
