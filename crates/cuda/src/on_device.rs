//! What of the device layer only a GPU can show.
//!
//! These tests are ignored by themselves. Where there is a GPU:
//! `cargo test -p sweepsort-cuda --lib -- --ignored --test-threads 1 --nocapture`.

use std::process::Command;
use std::sync::Arc;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};

use sweepsort_core::Stage;

use super::*;
use crate::classic::{self, Algorithm, Observer, Options, Records, Variant};
use crate::image::{self, Kind};
use crate::stream::{Clock, Sides};

fn open() -> Arc<Device> {
    Device::open_guarded(0).expect("a GPU")
}

fn classic(device: &Device, bits: u32) -> Arc<Module> {
    let image = Image::of(Kind::Classic, bits).unwrap();
    device.module(image).unwrap()
}

/// 0, 1, 2, … into a buffer, of which the kernel believes that it has `n` elements.
fn iota(stream: &Stream, module: &Module, out: &mut Buffer<u32>, n: usize) -> Result<()> {
    let grid = Grid::over(n as u64, 4 * 256, 256).unwrap();
    let kernel = module.kernel("iota")?;
    // SAFETY: nothing beyond the guard is written, and nobody else uses it.
    unsafe { stream.launch(&kernel, grid, args![out, n as u32]) }
}

fn counted(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn facts_are_those_of_a_gpu() {
    let start = Instant::now();
    let device = open();
    let opened = start.elapsed();
    let (facts, memory) = (device.facts(), device.memory().unwrap());
    println!(
        "{facts:?}, {memory:?}, driver {:?}",
        Device::driver_release()
    );
    println!("opened in {opened:?}");
    assert!(facts.capability >= (7, 5) && facts.multiprocessors > 0);
    assert!(facts.shared_per_block > 48 << 10 && facts.l2_bytes > 1 << 20);
    assert!(memory.free <= memory.total && memory.total <= facts.memory_bytes);
    assert_eq!(&Device::all().unwrap()[0], facts);
    let beyond = Device::open(1000).unwrap_err();
    assert!(
        matches!(beyond, Error::NoSuchDevice { ordinal: 1000, .. }),
        "{beyond}"
    );
}

#[test]
#[ignore = "needs a GPU"]
fn machine_code_loads_and_ptx_does_too() {
    let device = open();
    let stream = device.stream().unwrap();
    let facts = device.facts();
    let capability = facts.capability.0 * 10 + facts.capability.1;
    let architecture = image::architecture(facts.capability, facts.cuda).expect("machine code");
    for image in Image::ALL {
        // What fills an array with positions, or whatever there is.
        let (name, n) = match image.kind() {
            Kind::Classic => ("iota", Some(Argument::from(5000u32))),
            Kind::Check => ("check_positions", Some(Argument::from(5000u64))),
            Kind::Gather => ("gather", None),
            Kind::Onesweep => ("pass_8", None),
            Kind::Hybrid => ("refine", None),
            Kind::Count => ("expand", None),
        };
        for (code, version) in [
            (image.machine(architecture), architecture),
            (image.ptx(), capability),
        ] {
            let module = Module::load_code(&device, image, code).unwrap();
            let kernel = module.kernel(name).unwrap();
            let kind = match code {
                Code::Machine { .. } => "cubin",
                Code::Ptx(_) => "ptx",
            };
            println!(
                "{image}.{kind}: {:?}; sm_{}, {:?}",
                module.load_time(),
                kernel.binary_version(),
                kernel
            );
            assert_eq!(kernel.binary_version(), version);
            let Some(n) = n else {
                continue;
            };
            let mut out = stream.alloc::<u32>(5000).unwrap();
            // SAFETY: it fills `n` numbers, and so many there are.
            unsafe { stream.launch(&kernel, Grid::new(20, 256), [(&mut out).into(), n]) }.unwrap();
            assert_eq!(stream.download(&out).unwrap(), counted(5000));
        }
        let module = device.module(image).unwrap();
        assert!(Arc::ptr_eq(&module, &device.module(image).unwrap()));
        let missing = module.kernel("no_such_kernel").unwrap_err();
        assert!(matches!(missing, Error::NoKernel { .. }), "{missing}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn kernels_fill_buffers_of_every_length_and_no_more() {
    let device = open();
    let stream = device.stream().unwrap();
    let module = classic(&device, 32);
    for n in [0, 1, 3, 255, 1023, 1024, 1025, (1 << 20) + 1, 10_000_019] {
        let mut out = stream.alloc(n).unwrap();
        iota(&stream, &module, &mut out, n).unwrap();
        assert!(stream.download(&out).unwrap() == counted(n), "{n}");
        assert_eq!(device.check_canaries().unwrap(), 1);
    }
    assert_eq!(device.check_canaries().unwrap(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn canaries_see_one_element_too_many() {
    let device = open();
    let stream = device.stream().unwrap();
    let module = classic(&device, 32);
    let mut out = stream.alloc(1000).unwrap();
    iota(&stream, &module, &mut out, 1001).unwrap();
    let found = Error::Canary {
        found: vec!["bytes 4000 to 4003 of a buffer of 4000 bytes".into()],
    };
    assert_eq!(device.check_canaries().unwrap_err(), found);
    // The buffer still being there, it is found again; and once more after the buffer is gone.
    assert_eq!(device.check_canaries().unwrap_err(), found);
    drop(out);
    assert_eq!(device.check_canaries().unwrap_err(), found);
    assert_eq!(device.check_canaries().unwrap(), 0);

    // In front of it, through a pointer that is one element too low.
    let out = stream.alloc::<u32>(10).unwrap();
    let low = Pointer::<u32>::at(out.pointer().address() - 4);
    let (kernel, grid) = (module.kernel("iota").unwrap(), Grid::new(1, 32));
    // SAFETY: the guard in front of the buffer is ours.
    unsafe { stream.launch(&kernel, grid, args![low, 5u32]) }.unwrap();
    let error = device.check_canaries().unwrap_err().to_string();
    assert!(
        error.ends_with("bytes -4 to -1 of a buffer of 40 bytes"),
        "{error}"
    );
}

#[test]
#[ignore = "needs a GPU"]
fn copies_go_everywhere() {
    let device = open();
    let stream = device.stream().unwrap();
    let numbers: Vec<u64> = (0..100_003u64)
        .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .collect();
    let mut a = stream.upload(&numbers).unwrap();
    let mut b = stream.zeros::<u64>(numbers.len()).unwrap();
    assert!(
        stream
            .download(&b)
            .unwrap()
            .iter()
            .all(|&number| number == 0)
    );
    stream.copy(&a, &mut b).unwrap();
    assert_eq!(stream.download(&b).unwrap(), numbers);
    stream.fill(a.slice_mut(1..3).unwrap(), 0xFF).unwrap();
    let seen = stream.download(a.slice(..5).unwrap()).unwrap();
    let expected = [numbers[0], u64::MAX, u64::MAX, numbers[3], numbers[4]];
    assert_eq!(seen, expected);
    let bytes = stream
        .download(b.slice(1..2).unwrap().cast::<u8>().unwrap())
        .unwrap();
    assert_eq!(bytes, numbers[1].to_ne_bytes());
    let wrong = stream.write(&numbers[..3], &mut b).unwrap_err();
    assert!(matches!(wrong, Error::Range { got: 3, .. }), "{wrong}");
    let none = stream.upload::<u32>(&[]).unwrap();
    assert!(stream.download(&none).unwrap().is_empty());
    drop(none);
    assert_eq!(device.check_canaries().unwrap(), 2);
}

#[test]
#[ignore = "needs a GPU"]
fn launches_that_do_not_fit_are_refused() {
    let device = open();
    let stream = device.stream().unwrap();
    let module = classic(&device, 32);
    let kernel = module.kernel("iota").unwrap();
    let mut out = stream.zeros::<u32>(64).unwrap();
    let most = kernel.max_dynamic_shared_bytes();
    println!("{most} bytes of dynamic shared memory");
    assert!(most > 48 << 10);
    // SAFETY: the buffer has 64 elements.
    let mut launch = |grid| unsafe { stream.launch(&kernel, grid, args![&mut out, 64u32]) };
    let fine = [
        Grid::new(1, 64),
        Grid::new((1, 1, 1), (64, 1, 1)),
        Grid::new(1, 64).shared(most),
        Grid::new(1, 64).shared(49 << 10),
        Grid::new(1, 64).cooperative(),
        Grid::new(2, 64).cluster(2),
        Grid::new(1, 64).dependent(),
        Grid::new(0, 64),
    ];
    for grid in fine {
        launch(grid).unwrap_or_else(|error| panic!("{grid:?}: {error}"));
    }
    for grid in [
        Grid::new(1, 0),
        Grid::new(1, 2048),
        Grid::new(1, (1024, 1024, 1024)),
        Grid::new(1, 64).shared(most + 1),
        Grid::new((1, 1 << 20), 64),
        Grid::new(1 << 20, 64).cooperative(),
    ] {
        let refused = launch(grid).unwrap_err();
        assert!(matches!(refused, Error::Launch { .. }), "{refused}");
        println!("{refused}");
    }
    assert_eq!(stream.download(&out).unwrap(), counted(64));

    assert_eq!(kernel.parameters.as_deref(), Some(&[8, 4][..]));
    // SAFETY: these are refused.
    let errors = unsafe {
        [
            stream.launch(&kernel, Grid::new(1, 64), args![&mut out]),
            stream.launch(&kernel, Grid::new(1, 64), args![&mut out, 64u64]),
            stream.launch(&kernel, Grid::new(1, 64), args![&mut out, 64u32, 1u32]),
        ]
    };
    let errors = errors.map(|error| error.unwrap_err().to_string());
    assert_eq!(
        errors,
        [
            "kernel iota cannot be launched so: 1 arguments, where it has 2 parameters",
            "kernel iota cannot be launched so: argument 1 has 8 bytes, and the parameter 4",
            "kernel iota cannot be launched so: 3 arguments, where it has 2 parameters",
        ]
    );
    println!(
        "{} blocks of 256 threads a multiprocessor",
        kernel.blocks_per_multiprocessor(256, 0).unwrap()
    );
    assert_eq!(kernel.blocks_per_multiprocessor(256, most).unwrap(), 1);
    assert!(kernel.blocks_per_multiprocessor(256, most + 1).is_err());
}

#[test]
#[ignore = "needs a GPU"]
fn events_take_the_time() {
    let device = Device::open(0).unwrap();
    let stream = device.stream().unwrap();
    let mut large = stream.alloc::<u8>(1 << 30).unwrap();
    stream.fill(&mut large, 1).unwrap();
    let start = stream.event().unwrap();
    stream.fill(&mut large, 2).unwrap();
    let end = stream.event().unwrap();
    let seconds = end.seconds_since(&start).unwrap();
    println!("1 GiB filled in {:.3} ms", seconds * 1e3);
    assert!(seconds > 1e-5 && seconds < 0.1 && end.is_reached());
    assert_eq!(device.check_canaries().unwrap(), 0, "it has none");
}

/// Work of a block alone, which leaves the device to others meanwhile.
fn largest(
    stream: &Stream,
    module: &Module,
    keys: &Buffer<u32>,
    out: &mut Buffer<u32>,
) -> Result<()> {
    let kernel = module.kernel("split_largest")?;
    let grid = Grid::new(1, 256).shared(4096);
    // SAFETY: keys and out have so many elements, and no other stream writes to them.
    unsafe { stream.launch(&kernel, grid, args![keys, keys.len() as u32, u32::MAX, out]) }
}

#[test]
#[ignore = "needs a GPU"]
fn a_fork_runs_side_by_side_and_the_join_waits() {
    let device = open();
    let (stream, mut sides) = (device.stream().unwrap(), Sides::new(&device).unwrap());
    let module = classic(&device, 32);
    let n = 1 << 24;
    let mut keys = stream.alloc(n).unwrap();
    let mut outs = [stream.zeros(1).unwrap(), stream.zeros(1).unwrap()];
    let mut seconds = [0.0; 2];
    for round in 0..20 {
        for (forked, seconds) in seconds.iter_mut().enumerate() {
            for out in &mut outs {
                stream.fill(&mut *out, 0).unwrap();
            }
            stream.fill(&mut keys, 0).unwrap();
            // The keys of another round would give another maximum.
            let end = n - round;
            iota(&stream, &module, &mut keys, end).unwrap();
            let start = stream.event().unwrap();
            let [a, b] = &mut outs;
            if forked == 1 {
                let fork = sides.fork(&stream).unwrap();
                largest(fork.left(), &module, &keys, a).unwrap();
                largest(fork.right(), &module, &keys, b).unwrap();
                if round % 2 == 0 {
                    fork.join().unwrap();
                }
            } else {
                largest(&stream, &module, &keys, a).unwrap();
                largest(&stream, &module, &keys, b).unwrap();
            }
            let stop = stream.event().unwrap();
            for out in &outs {
                assert_eq!(
                    stream.download(out).unwrap(),
                    [end as u32 - 1],
                    "round {round}"
                );
            }
            *seconds = stop.seconds_since(&start).unwrap();
        }
    }
    println!(
        "two blocks' work one after the other {:.3} ms, on two sides {:.3} ms",
        seconds[0] * 1e3,
        seconds[1] * 1e3
    );
    assert!(seconds[1] < 0.7 * seconds[0]);
    assert_eq!(device.check_canaries().unwrap(), 3);
}

#[test]
#[ignore = "needs a GPU"]
fn launches_and_forks_are_captured_in_a_graph() {
    let device = Device::open(0).unwrap();
    let (stream, mut sides) = (device.stream().unwrap(), Sides::new(&device).unwrap());
    let module = classic(&device, 32);
    let n = 100_000;
    let mut buffers = [0; 3].map(|_| stream.zeros(n).unwrap());
    stream.synchronize().unwrap();
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.raw().begin_capture(mode).unwrap();
    let [a, b, c] = &mut buffers;
    iota(&stream, &module, a, n).unwrap();
    let fork = sides.fork(&stream).unwrap();
    iota(fork.left(), &module, b, n).unwrap();
    fork.right().copy(&*a, c).unwrap();
    fork.join().unwrap();
    let graph = stream.raw().end_capture(CUgraphInstantiate_flags(0));
    let graph = graph.unwrap().unwrap();
    for buffer in &mut buffers {
        assert!(
            stream.download(&*buffer).unwrap() == vec![0; n],
            "captured, not run"
        );
    }
    graph.launch().unwrap();
    for buffer in &buffers {
        assert!(stream.download(buffer).unwrap() == counted(n));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_callers_stream_is_adopted() {
    let device = open();
    let stream = device.adopt(device.context().default_stream()).unwrap();
    let mut out = stream.alloc(3000).unwrap();
    iota(&stream, &classic(&device, 64), &mut out, 3000).unwrap();
    assert_eq!(stream.download(&out).unwrap(), counted(3000));
}

#[test]
#[ignore = "needs a GPU"]
fn absurd_sizes_are_errors() {
    let device = open();
    let stream = device.stream().unwrap();
    for bytes in [1 << 42, 1 << 50, usize::MAX] {
        let error = stream.alloc::<u8>(bytes).unwrap_err();
        println!("{error}");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    }
    assert!(stream.alloc::<u64>(usize::MAX / 2).is_err());
    assert_eq!(
        stream.download(&stream.upload(&[1u8]).unwrap()).unwrap(),
        [1]
    );
    assert_eq!(device.check_canaries().unwrap(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn memory_is_kept_until_it_is_short() {
    let device = Device::open(0).unwrap();
    let stream = device.stream().unwrap();
    let free = || {
        (
            result::mem_get_info().unwrap().0,
            device.memory().unwrap().free,
        )
    };
    let bytes = 1 << 30;
    let mut took = [0.0; 2];
    for took in &mut took {
        let start = Instant::now();
        drop(stream.zeros::<u8>(bytes).unwrap());
        stream.synchronize().unwrap();
        *took = start.elapsed().as_secs_f64() * 1e3;
    }
    println!(
        "1 GiB of zeros: at first {:.3} ms, then {:.3} ms",
        took[0], took[1]
    );
    let (unmapped, kept) = free();
    assert!(kept >= unmapped + bytes, "{kept}, {unmapped}");
    device.trim().unwrap();
    let (unmapped, all) = free();
    assert!(
        all < unmapped + bytes && all + (64 << 20) > kept,
        "{all}, {unmapped}"
    );

    // What is kept in pieces makes way for what needs nearly all.
    let pieces: Vec<_> = (0..4)
        .map(|_| stream.alloc::<u8>(all / 5).unwrap())
        .collect();
    drop(pieces);
    let whole = stream.alloc::<u8>(all / 10 * 9).unwrap();
    let error = stream.alloc::<u8>(all / 2).unwrap_err();
    println!("{error}");
    assert!(
        matches!(error, Error::OutOfMemory { free, .. } if free < all / 5),
        "{error}"
    );
    drop(whole);
    stream.alloc::<u8>(all / 2).unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn a_clock_takes_the_time_of_each_stage() {
    use Stage::{Histogram, Local, Merge, Scan, Scatter};
    let device = Device::open(0).unwrap();
    let (stream, mut sides) = (device.stream().unwrap(), Sides::new(&device).unwrap());
    let keys: Vec<u32> = (0..1u32 << 20)
        .map(|i| i.wrapping_mul(0x9E37_79B9))
        .collect();
    let mut sorted = keys.clone();
    sorted.sort();
    let mut clock = Clock::new();
    assert_eq!(clock.stages().unwrap(), []);
    for (algorithm, variant, expected) in [
        (
            Algorithm::Split,
            Variant::Text,
            &[Histogram, Scan, Scatter][..],
        ),
        (Algorithm::Split, Variant::AllPasses, &[Scan, Scatter]),
        (Algorithm::FourWay, Variant::Text, &[Scan, Scatter]),
        (
            Algorithm::BlockHistogram,
            Variant::Text,
            &[Histogram, Scan, Scatter],
        ),
        (
            Algorithm::BlockHistogram,
            Variant::OneStream,
            &[Histogram, Scan, Scatter],
        ),
        (Algorithm::TileMerge, Variant::Text, &[Local, Merge]),
        (
            Algorithm::Coalesced,
            Variant::Text,
            &[Histogram, Scan, Scatter],
        ),
        (
            Algorithm::Coalesced,
            Variant::PlainScatter,
            &[Histogram, Scan, Scatter],
        ),
    ] {
        let case = format!("{}, {}", algorithm.name(), variant.name());
        let options = Options {
            variant,
            ..Options::of::<u32>(algorithm)
        };
        let mut records = Records::new(&stream, stream.upload(&keys).unwrap(), None).unwrap();
        let before = stream.event().unwrap();
        clock.start(&stream).unwrap();
        let observer = Observer::Clock(&mut clock);
        classic::sort(
            &stream,
            &mut sides,
            algorithm,
            &mut records,
            &options,
            observer,
        )
        .unwrap();
        let after = stream.event().unwrap();
        let stages = clock.stages().unwrap();
        println!("{case}: {stages:?}");
        let names: Vec<Stage> = stages.iter().map(|(stage, _)| *stage).collect();
        assert_eq!(names, expected, "{case}");
        let sum: f64 = stages.iter().map(|(_, time)| time.as_secs_f64()).sum();
        let whole = after.seconds_since(&before).unwrap();
        assert!(
            sum <= whole && sum > 0.8 * whole,
            "{case}: {sum} s of {whole}"
        );
        assert!(stream.download(&records.keys).unwrap() == sorted, "{case}");
    }
}

/// What the other process does in `a_fault_is_an_error_and_no_panic`.
const FAULT: &str = "SWEEPSORT_TEST_FAULT";

#[test]
#[ignore = "needs a GPU"]
fn a_fault_is_an_error_and_no_panic() {
    if std::env::var_os(FAULT).is_none() {
        // It spoils the context for the whole process.
        let name = "launch::on_device::a_fault_is_an_error_and_no_panic";
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--ignored", "--nocapture"])
            .env(FAULT, "1")
            .output()
            .unwrap();
        println!("{}", String::from_utf8_lossy(&child.stdout));
        return assert!(child.status.success());
    }
    let device = open();
    let stream = device.stream().unwrap();
    let kernel = classic(&device, 32).kernel("iota").unwrap();
    let buffer = stream.zeros::<u32>(10).unwrap();
    let nowhere = Pointer::<u32>::at(0x10_0000_0000_0000);
    // SAFETY: that is what it is about: it is nobody's memory.
    unsafe { stream.launch(&kernel, Grid::new(1, 32), args![nowhere, 32u32]) }.unwrap();
    let error = stream.synchronize().unwrap_err();
    println!("{error}");
    assert!(matches!(error, Error::Driver { .. }));
    assert!(stream.download(&buffer).is_err());
    assert!(stream.alloc::<u32>(10).is_err());
    assert!(device.check_canaries().is_err());
}
