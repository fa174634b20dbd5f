//! The wgpu engine by way of the library, on a processor that plays a GPU.
//!
//! Each case runs in a process of its own, this test again, to which the environment names the adapter.

use std::process::Command;

use sweepsort::{Choice, Error, Order, Report, Sorter};
use sweepsort_testkit::{Distribution, Ordered, Sample, Wanted, generate, oracle};
use sweepsort_wgpu::{ADAPTER_VARIABLE, Adapter};

use crate::calls;

/// Tells the child that it is one.
const CHILD: &str = "SWEEPSORT_TEST_ADAPTER_CHILD";

const SIZES: [usize; 4] = [0, 1, 2000, 70_001];

/// Runs a test in a child, with the software adapter.
fn on_it(name: &str, test: fn()) {
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    let adapter = Adapter::software().expect("a software adapter; `cargo xtask test` installs one");
    let name = format!("software_adapter::{name}");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(CHILD, "")
        .env(ADAPTER_VARIABLE, &adapter.facts().name)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{name}: {stdout}\n{stderr}");
    assert!(
        stdout.contains("1 passed"),
        "the child ran no test: {stdout}"
    );
}

macro_rules! tests {
    ($($(#[$doc:meta])* $name:ident $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            on_it(stringify!($name), || $body);
        }
    )*};
}

fn sorter(order: Order) -> Sorter {
    let builder = Sorter::builder().engine(Choice::Wgpu).order(order);
    builder.build().unwrap()
}

/// Every call, in both directions.
fn every_call<K: Sample + Ordered>() {
    for &order in Order::ALL {
        for n in SIZES {
            let keys: Vec<K> = generate(Distribution::And3, n, 7).unwrap();
            let wanted = Wanted::of_keys(order, Default::default(), None);
            let compare = |a: &K, b: &K| wanted.compare(a, b);
            calls::all_calls(
                &sorter(order),
                &keys,
                &format!("{n} {} {order}", std::any::type_name::<K>()),
                compare,
                compare,
                |a, b| a.natural(b).is_eq(),
            );
        }
    }
}

tests! {
    words {
        every_call::<u8>();
        every_call::<i16>();
        every_call::<u32>();
        every_call::<f64>();
    }

    /// Sorted word by word, through an index.
    keys_of_more_than_128_bits {
        every_call::<[u8; 20]>();
    }

    values_that_fill_no_words {
        for n in SIZES {
            let keys: Vec<u32> = generate(Distribution::FewDistinct, n, 3).unwrap();
            let values: Vec<[u8; 3]> = (0..n).map(|i| std::array::from_fn(|k| (i >> (8 * k)) as u8)).collect();
            let expected = oracle::sorted_pairs(&keys, &values, &Wanted::default());
            let mut got = (keys, values);
            let report = sorter(Order::Ascending).sort_pairs(&mut got.0, &mut got.1).unwrap();
            assert_eq!((report.engine, report.algorithm), ("wgpu", "onesweep"), "{n}");
            assert_eq!(report.reason, "asked for", "{n}");
            assert!(got == expected, "{n} pairs are not as the oracle has them");
        }
    }

    keys_of_128_bits_are_refused {
        let sorter = sorter(Order::Ascending);
        let mut keys = [3u128, 1, 2];
        let mut composed = [(3u64, 1u32), (1, 1), (2, 1)];
        for error in [sorter.sort(&mut keys), sorter.sort(&mut composed)] {
            let error = error.unwrap_err();
            let Error::Unsupported { engine, what, instead } = &error else {
                panic!("{error:?}");
            };
            assert_eq!((*engine, what.as_str()), ("wgpu", "keys of 128 bits"));
            assert!(instead.contains("engine cpu"), "{error}");
        }
        assert_eq!((keys, composed), ([3, 1, 2], [(3, 1), (1, 1), (2, 1)]));
    }

    options_that_it_has_not {
        let wgpu = || Sorter::builder().engine(Choice::Wgpu);
        let cases = [
            (wgpu().radix_bits(4), "a choice of digit or block for algorithm 'auto'"),
            (wgpu().algorithm("onesweep").block(256), "for algorithm 'onesweep'"),
            (wgpu().algorithm("split"), "no algorithm 'split' here; it has auto, onesweep"),
        ];
        for (builder, part) in cases {
            let error = builder.build().unwrap_err().to_string();
            assert!(error.contains("wgpu") && error.contains(part), "{error}");
        }
        let named = wgpu().algorithm("onesweep").build().unwrap();
        let mut keys = [3i64, -1, 2];
        named.sort(&mut keys).unwrap();
        assert_eq!(keys, [-1, 2, 3]);
    }

    /// All sorters of a process have one engine, and sort with it at once.
    threads_share_the_engine {
        let first = &sorter(Order::Ascending);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                scope.spawn(move || {
                    let own = sorter(Order::Ascending);
                    for turn in 0..8 {
                        let n = 1000 + 3000 * (turn % 3);
                        let keys: Vec<u64> = generate(Distribution::Uniform, n, seed).unwrap();
                        let expected = oracle::sorted(&keys, &Wanted::default());
                        let mut got = keys;
                        [first, &own][turn % 2].sort(&mut got).unwrap();
                        assert_eq!(
                            oracle::first_difference(&got, &expected),
                            None,
                            "thread {seed}, turn {turn}"
                        );
                    }
                });
            }
        });
    }

    /// Not even where it is named and open, and whatever it is expected to save.
    auto_does_not_take_it {
        drop(sorter(Order::Ascending));
        let auto = Sorter::builder().threads(1).build().unwrap();
        let keys: Vec<u64> = generate(Distribution::Uniform, 1 << 22, 5).unwrap();
        let mut expected = keys.clone();
        expected.sort_unstable();
        let mut last = Report::default();
        // Where there is a CUDA device, a few sorts open that; where there is none, they find out.
        for _ in 0..6 {
            let mut got = keys.clone();
            last = auto.sort(&mut got).unwrap();
            assert!(last.engine != "wgpu" && got == expected, "{last:?}");
        }
        assert!(
            last.engine == "cuda" || last.reason.contains("SWEEPSORT_ADAPTER names, is a software adapter"),
            "{last:?}"
        );
    }

    it_is_listed {
        let all = sweepsort::devices();
        let wgpu = all.iter().find(|device| device.engine == "wgpu").expect("listed");
        let name = std::env::var(ADAPTER_VARIABLE).unwrap();
        assert!(wgpu.name.starts_with(&name), "{wgpu:?}");
        assert!(wgpu.name.contains(", a software adapter"), "{wgpu:?}");
        assert!(wgpu.absent.is_none() && !wgpu.auto, "{wgpu:?}");
    }
}
