//! What `auto` takes, and what the report says of it.

use std::fmt::Debug;

use sweepsort::{Choice, Nan, Order, RadixKey, Report, Sorter};

/// Enough keys that times are weighed.
const MANY: usize = 1 << 20;

fn keys(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect()
}

/// Sorts `n` keys in each way that there is.
fn reports(sorter: &Sorter, n: usize) -> [Report; 3] {
    let (mut alone, mut paired) = (keys(n), keys(n));
    let (mut values, mut index) = (vec![0u8; n], vec![0u32; n]);
    [
        sorter.sort(&mut alone).unwrap(),
        sorter.sort_pairs(&mut paired, &mut values).unwrap(),
        sorter.argsort_into(&keys(n), &mut index).unwrap(),
    ]
}

#[test]
fn the_reason_names_the_engine_that_ran() {
    let sorters = [
        Sorter::builder(),
        Sorter::builder().algorithm("auto"),
        Sorter::builder().threads(1),
        Sorter::builder().threads(2).bits(3..19),
        Sorter::builder().order(Order::Descending),
    ];
    for builder in sorters {
        let sorter = builder.clone().build().unwrap();
        for report in reports(&sorter, 100) {
            assert_eq!(
                report.reason, "auto: cpu, as no GPU pays for so few keys",
                "{builder:?}"
            );
        }
        for report in reports(&sorter, MANY) {
            let expected = format!("auto: {}, ", report.engine);
            assert!(
                report.reason.starts_with(&expected),
                "{builder:?}: {report:?}"
            );
        }
    }
    let free = sweepsort::sort(&mut keys(MANY)).unwrap();
    assert!(free.reason.starts_with("auto: "), "{free:?}");
}

#[test]
fn what_was_asked_for_is_what_runs() {
    let sorters = [
        (Sorter::builder().engine(Choice::Cpu), "hybrid"),
        (Sorter::builder().algorithm("hybrid"), "hybrid"),
        (
            Sorter::builder().algorithm("block-histogram"),
            "block-histogram",
        ),
    ];
    for (builder, algorithm) in sorters {
        let sorter = builder.clone().build().unwrap();
        for n in [100, MANY] {
            for report in reports(&sorter, n) {
                assert_eq!(
                    (report.engine, report.algorithm, &*report.reason),
                    ("cpu", algorithm, "asked for"),
                    "{n} keys, {builder:?}"
                );
            }
        }
    }
}

/// Few keys take a shorter way; with a named method they do not. Nothing else tells the two apart.
#[test]
fn few_keys_are_sorted_and_reported_as_any() {
    fn keys<K: RadixKey + Debug + PartialEq>(name: &str, all: &[K]) {
        for order in [Order::Ascending, Order::Descending] {
            let options = Sorter::builder()
                .engine(Choice::Cpu)
                .order(order)
                .nan(Nan::First);
            let short = options.clone().build().unwrap();
            let long = options.algorithm("hybrid").build().unwrap();
            for n in 0..all.len() {
                let (mut found, mut wanted) = (all[..n].to_vec(), all[..n].to_vec());
                for again in [false, true] {
                    let reports = [&short, &long]
                        .into_iter()
                        .zip([&mut found, &mut wanted])
                        .map(|(sorter, keys)| sorter.sort(keys).unwrap());
                    let reports: Vec<Report> = reports.collect();
                    let what = format!("{n} keys of {name}, {order}, again: {again}");
                    assert_eq!(reports[0], reports[1], "{what}");
                    assert_eq!(found, wanted, "{what}");
                }
            }
        }
    }
    let random = || (1..=300u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    keys(
        "u32",
        &random().map(|x| (x >> 32) as u32).collect::<Vec<_>>(),
    );
    keys("i64", &random().map(|x| x as i64).collect::<Vec<_>>());
    keys(
        "f32",
        &random().map(|x| x as i64 as f32).collect::<Vec<_>>(),
    );
    keys(
        "few u16",
        &random().map(|x| (x >> 60) as u16).collect::<Vec<_>>(),
    );
}

#[test]
fn devices_that_auto_may_take_are_here() {
    for device in sweepsort::devices() {
        assert!(!device.auto || device.absent.is_none(), "{device:?}");
    }
    assert!(sweepsort::devices()[0].auto);
    let mut gpus = sweepsort::devices();
    gpus.retain(|device| device.auto && device.engine != "cpu");
    assert!(gpus.len() <= 1, "`auto` takes one GPU: {gpus:?}");
}

#[test]
#[ignore = "needs a GPU"]
fn auto_takes_an_open_device() {
    takes(Choice::Cuda);
}

/// In a build that has no other engine for a GPU.
#[cfg(all(feature = "wgpu", not(feature = "cuda")))]
#[test]
#[ignore = "needs a GPU"]
fn auto_takes_an_open_adapter() {
    takes(Choice::Wgpu);
}

/// Once a sorter has opened the device, `auto` takes it where it is the faster. Prints what was
/// expected and what each engine took, host memory to host memory.
fn takes(choice: Choice) {
    let build = |choice| Sorter::builder().engine(choice).build().unwrap();
    let (auto, gpu, cpu) = (build(Choice::Auto), build(choice), build(Choice::Cpu));
    let time = |sorter: &Sorter, n: usize| {
        let input = keys(n);
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let mut sorted = input.clone();
                let start = std::time::Instant::now();
                sorter.sort(&mut sorted).unwrap();
                let time = start.elapsed().as_secs_f64();
                assert!(sorted.is_sorted(), "{n}");
                time
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[2] * 1e3
    };
    println!("u32 keys, ms: cpu, {choice}, auto");
    for log in (10..=26).step_by(2) {
        let n = 1 << log;
        let report = auto.sort(&mut keys(n)).unwrap();
        println!(
            "2^{log}: {:.3} {:.3} {:.3}  {}",
            time(&cpu, n),
            time(&gpu, n),
            time(&auto, n),
            report.reason
        );
    }
    let alone = Sorter::builder().threads(1).build().unwrap();
    let mut sorted = keys(1 << 26);
    let report = alone.sort(&mut sorted).unwrap();
    assert_eq!(report.engine, choice.name(), "{}", report.reason);
    assert!(sorted.is_sorted());
    let few = alone.sort(&mut keys(100)).unwrap();
    assert_eq!(few.engine, "cpu", "{}", few.reason);
}
