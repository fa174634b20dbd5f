//! The classics by their names: each sorts as the engine does, every type, through every call.

use half::{bf16, f16};
use sweepsort::explain::Algorithm;
use sweepsort::{Error, Nan, Order, Sorter};
use sweepsort_testkit::{Ordered, Pattern, Wanted};

use crate::calls;

/// A sorter for a twin, with small blocks so that there are several.
fn classic(name: &str, order: Order, nan: Nan) -> Sorter {
    let builder = Sorter::builder().algorithm(name).order(order).nan(nan);
    match name {
        // The engine's own, which has no blocks to choose.
        "hybrid" => builder,
        _ => builder.block(32),
    }
    .build()
    .unwrap()
}

fn all_agree<K: Ordered>() {
    let (order, nan) = match K::NANS {
        0 => (Order::Descending, Nan::Total),
        _ => (Order::Ascending, Nan::Last),
    };
    for &name in Algorithm::NAMES {
        for n in [0, 1, 31, 32, 33, 300] {
            let keys: Vec<K> = Pattern::Special.keys(n, 7, &Wanted::default());
            let alone = Wanted::of_keys(order, nan, None);
            let records = Wanted::of_records(order, nan, None);
            calls::all_calls(
                &classic(name, order, nan),
                &keys,
                &format!("{name}, {n} {}", std::any::type_name::<K>()),
                |a, b| alone.compare(a, b),
                |a, b| records.compare(a, b),
                |a, b| a.natural(b).is_eq(),
            );
        }
    }
}

#[test]
fn of_every_type() {
    all_agree::<u8>();
    all_agree::<u16>();
    all_agree::<u32>();
    all_agree::<u64>();
    all_agree::<u128>();
    all_agree::<i8>();
    all_agree::<i16>();
    all_agree::<i32>();
    all_agree::<i64>();
    all_agree::<i128>();
    all_agree::<f16>();
    all_agree::<bf16>();
    all_agree::<f32>();
    all_agree::<f64>();
    all_agree::<bool>();
    all_agree::<[u8; 3]>();
}

#[test]
fn reports_name_the_classic() {
    let sorter = Sorter::builder().algorithm("split").build().unwrap();
    let report = sorter.sort(&mut [5u32, 1, 4]).unwrap();
    assert_eq!((report.engine, report.algorithm), ("cpu", "split"));
    // Three bits are in use.
    assert_eq!((report.passes_run, report.passes_possible), (3, 32));
    assert_eq!(report.reason, "asked for");
    let plan = sorter.plan::<u32>(1000, 0).unwrap();
    assert_eq!(plan.digits.len(), 32);
}

#[test]
fn what_a_classic_does_not_take_is_refused() {
    let build = |name: &str, radix_bits| {
        let builder = Sorter::builder().algorithm(name);
        builder.radix_bits(radix_bits).build().map(|_| ())
    };
    assert_eq!(build("coalesced", 4), Ok(()));
    for (name, radix_bits, part) in [
        ("coalesced", 3, "use 1, 2, 4, 8"),
        ("split", 2, "use 1"),
        ("auto", 8, "use a classic"),
        ("hybrid", 8, "use a classic"),
        ("quick", 8, "auto, hybrid, count, counting-lsd"),
    ] {
        let error = build(name, radix_bits).unwrap_err();
        assert!(error.to_string().contains(part), "{name}: {error}");
    }
    let block = Sorter::builder().algorithm("tile-merge").block(48).build();
    assert!(matches!(block, Err(Error::Unsupported { .. })), "{block:?}");
}
