//! Threads that have other work to do.

use std::borrow::Cow;
use std::sync::mpsc;

use rayon::ThreadPoolBuilder;
use sweepsort_core::{Codec, Engine, IndexMut, Shape, Spec, Task, Width};
use sweepsort_cpu::CpuEngine;

/// Where nobody has joined a caller, it goes the way of several once, and from then on sorts alone
/// what does not take long, be it a single bucket or many. (Keys that are cut in parts, it begins
/// alone in any case: an index is none of these.)
#[test]
fn callers_whom_nobody_joins_sort_alone() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    pool.spawn(move || {
        begin.send(()).unwrap();
        released.recv().unwrap();
    });
    begun.recv().unwrap();
    let engine = CpuEngine::new(None);
    let spec = Spec {
        codec: Codec::UNSIGNED,
        bits: 0..u32::BITS,
        stable: true,
        algorithm: Cow::Borrowed("auto"),
    };
    let threads = |n: u32| {
        let keys: Vec<u32> = (1..=n).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let mut expected: Vec<u32> = (0..n).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        let shape = Shape::argsort(keys.len(), Width::W32, 4);
        pool.install(|| {
            let plan = engine.plan(&shape, &spec).unwrap();
            [(); 3].map(|()| {
                let mut found = vec![0; keys.len()];
                let task = Task::Argsort((&keys[..]).into(), IndexMut::U32(&mut found));
                let report = engine.run(task, &spec).unwrap();
                assert!(found == expected, "{report:?}");
                assert!(
                    report.workspace_bytes <= plan.workspace_bytes,
                    "{plan:?} {report:?}"
                );
                report.threads
            })
        })
    };
    let found = [200_000, 1_000_000, 1_500_000].map(threads);
    release.send(()).unwrap();
    assert_eq!(found, [[2, 1, 1], [1, 1, 1], [2, 2, 2]]);
}
