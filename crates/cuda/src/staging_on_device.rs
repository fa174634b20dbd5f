//! What of staging and of page-locked memory only a GPU can show, and how fast they are.
//!
//! These tests are ignored by themselves. Where there is a GPU:
//! `cargo test -p sweepsort-cuda --lib -- --ignored --test-threads 1 --nocapture staging`.

use std::ops::DerefMut;
use std::process::Command;
use std::time::Instant;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};

use super::*;
use crate::check::Checks;
use crate::memory::{Buffer, Pointer};

/// What is around the bytes that a copy may write to.
const AROUND: u8 = 0xA5;
/// How much of it there is behind them.
const BEHIND: usize = 100;

/// Stages whatever it is given.
fn everything() -> Tuning {
    Tuning {
        from_bytes: 0,
        ..Tuning::default()
    }
}

fn open() -> (Arc<Device>, Stream) {
    let device = Device::open_guarded(0).expect("a GPU");
    let stream = device.stream().unwrap();
    (device, stream)
}

fn randomize(bytes: &mut [u8], seed: u64) {
    let mut state = seed;
    for word in bytes.chunks_mut(8) {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        word.copy_from_slice(&(mixed ^ (mixed >> 32)).to_ne_bytes()[..word.len()]);
    }
}

fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    randomize(&mut bytes, seed);
    bytes
}

/// Asserts that two arrays are equal, and says where they differ first.
fn assert_same(got: &[u8], expected: &[u8], case: &str) {
    assert_eq!(got.len(), expected.len(), "{case}");
    if got != expected {
        let at = got.iter().zip(expected).position(|(a, b)| a != b);
        panic!("{case}: byte {at:?} of {} is another", expected.len());
    }
}

/// Bytes with others around them.
fn surrounded(middle: &[u8], before: usize) -> Vec<u8> {
    let mut all = vec![AROUND; before + middle.len() + BEHIND];
    all[before..before + middle.len()].copy_from_slice(middle);
    all
}

/// Bytes go from a place in host memory to a place on the device and back, and nothing around them
/// is written to. The driver's own copies tell which way failed.
fn round_trip(
    stream: &Stream,
    staging: &Staging,
    host: &mut [u8],
    (on_host, on_device): (usize, usize),
    len: usize,
    case: &str,
) {
    let (source, target) = (on_host..on_host + len, on_device..on_device + len);
    randomize(&mut host[source.clone()], len as u64 + 1);
    let sent = host[source.clone()].to_vec();
    let mut buffer = stream.alloc::<u8>(on_device + len + BEHIND).unwrap();
    stream.fill(&mut buffer, AROUND).unwrap();
    let to = buffer.slice_mut(target.clone()).unwrap();
    staging.upload(stream, &host[source.clone()], to).unwrap();
    let arrived = stream.download(&buffer).unwrap();
    assert_same(&arrived, &surrounded(&sent, on_device), case);

    host.fill(AROUND);
    let from = buffer.slice(target).unwrap();
    staging.download(stream, from, &mut host[source]).unwrap();
    let mut expected = surrounded(&sent, on_host);
    expected.resize(host.len(), AROUND);
    assert_same(host, &expected, case);
}

#[test]
#[ignore = "needs a GPU"]
fn every_byte_goes_there_and_back() {
    let (device, stream) = open();
    let own = everything();
    let tuned = |threads, chunk_bytes, chunks| Tuning {
        threads,
        chunk_bytes,
        chunks,
        ..own
    };
    println!("{own:?}");
    let mut cases = 0;
    for tuning in [own, tuned(3, 64 << 10, 2), tuned(1, 4097, 1)] {
        let staging = Staging::with(&device, tuning);
        let chunk = tuning.chunk_bytes;
        let longest = 5 * chunk + 17;
        for kind in ["pinned", "pageable"] {
            let len = longest + 2 * BEHIND;
            let mut host: Box<dyn DerefMut<Target = [u8]>> = match kind {
                "pinned" => Box::new(device.pinned(len).unwrap()),
                _ => Box::new(vec![0; len]),
            };
            for len in [0, 1, 4095, chunk - 1, chunk, chunk + 1, longest] {
                for places in [(0, 0), (1, 0), (0, 3), (5, 7)] {
                    let case = format!("{len} bytes at {places:?}, {kind}, {tuning:?}");
                    round_trip(&stream, &staging, &mut host, places, len, &case);
                    cases += 1;
                }
            }
            assert_eq!(staging.lanes().is_empty(), kind == "pinned", "{tuning:?}");
        }
    }
    let staging = Staging::new(&device);
    let mut host = vec![0; (256 << 20) + 2 * BEHIND];
    round_trip(&stream, &staging, &mut host, (3, 1), 256 << 20, "256 MiB");
    println!("{} round trips", cases + 1);
    assert_eq!(device.check_canaries().unwrap(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn only_long_copies_of_ordinary_memory_are_staged() {
    let (device, stream) = open();
    let staging = Staging::new(&device);
    let from_bytes = staging.tuning().from_bytes;
    let ordinary = random(from_bytes, 1);
    let mut pinned = device.pinned::<u8>(from_bytes).unwrap();
    pinned.copy_from_slice(&ordinary);
    assert!(is_locked(pinned.as_ptr(), from_bytes) && is_locked(&pinned[7], 1));
    assert!(!is_locked(ordinary.as_ptr(), from_bytes));
    let mut buffer = stream.alloc(from_bytes).unwrap();
    for (case, from, lanes) in [
        ("pinned", &pinned[..], 0),
        ("short", &ordinary[1..], 0),
        ("long", &ordinary[..], staging.tuning().threads),
    ] {
        let to = buffer.slice_mut(..from.len()).unwrap();
        staging.upload(&stream, from, to).unwrap();
        assert_same(&stream.download(&buffer).unwrap()[..from.len()], from, case);
        assert_eq!(staging.lanes().len(), lanes, "{case}");
    }
    let numbers: Vec<u64> = (0..1 << 20).collect();
    let mut typed = stream.alloc(numbers.len()).unwrap();
    let mut back = vec![0; numbers.len()];
    staging.upload(&stream, &numbers, &mut typed).unwrap();
    staging.download(&stream, &typed, &mut back).unwrap();
    assert!(back == numbers);
}

#[test]
#[ignore = "needs a GPU"]
fn copies_keep_the_order_of_their_stream() {
    let (device, stream) = open();
    let staging = Staging::with(&device, everything());
    // More than all chunks hold, and less.
    for len in [96 << 20, 6 << 20, 100] {
        let sent = [random(len, 1), random(len, 2)];
        let mut received = vec![0; len];
        let mut buffers = [0; 2].map(|_| stream.alloc::<u8>(len).unwrap());
        let mut large = stream.alloc::<u8>(1 << 30).unwrap();
        for round in 0..10 {
            let sent = &sent[round % 2];
            let [buffer, copy] = &mut buffers;
            // What the upload must not overtake,
            for _ in 0..4 {
                stream.fill(&mut large, 1).unwrap();
            }
            stream.fill(&mut *buffer, 2).unwrap();
            staging.upload(&stream, sent, &mut *buffer).unwrap();
            // what must not overtake the upload, and what the download must not overtake.
            stream.copy(&*buffer, &mut *copy).unwrap();
            stream.fill(&mut *buffer, 3).unwrap();
            staging.download(&stream, &*copy, &mut received).unwrap();
            assert_same(&received, sent, &format!("round {round} of {len} bytes"));
        }
    }
    assert_eq!(device.check_canaries().unwrap(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn a_kernel_after_an_upload_sees_all_of_it() {
    let (device, stream) = open();
    let staging = Staging::new(&device);
    let n = 20_000_003u32;
    let mut keys: Vec<u32> = (0..n).collect();
    let mut buffer = stream.alloc(keys.len()).unwrap();
    for at in [n - 2, n / 2, 0] {
        keys.swap(at as usize, at as usize + 1);
        staging.upload(&stream, &keys, &mut buffer).unwrap();
        let found = Checks::new(&stream).disorder(&buffer, u32::MAX).unwrap();
        assert_eq!(found, Some(u64::from(at)));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn everything_may_go_while_a_copy_is_under_way() {
    // Without guards: with them, a buffer waits before it goes.
    let device = Device::open(0).expect("a GPU");
    let stream = device.stream().unwrap();
    let sent = random(6 << 20, 3);
    let mut large = stream.alloc::<u8>(1 << 30).unwrap();
    for round in 0..5 {
        let staging = Staging::with(&device, everything());
        let mut first = stream.alloc::<u8>(sent.len()).unwrap();
        stream.fill(&mut large, 1).unwrap();
        staging.upload(&stream, &sent, &mut first).unwrap();
        drop(first);
        // It may get the same memory.
        let mut second = stream.zeros::<u8>(sent.len()).unwrap();
        let zeros = stream.download(&second).unwrap();
        assert_same(&zeros, &vec![0; sent.len()], &format!("zeros {round}"));
        stream.fill(&mut large, 1).unwrap();
        staging.upload(&stream, &sent, &mut second).unwrap();
        drop(staging);
        let arrived = stream.download(&second).unwrap();
        assert_same(&arrived, &sent, &format!("round {round}"));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn two_threads_copy_at_once() {
    let (device, _) = open();
    let staging = Staging::with(&device, everything());
    thread::scope(|scope| {
        for number in 0..2 {
            let (device, staging) = (&device, &staging);
            scope.spawn(move || {
                let stream = device.stream().unwrap();
                let len = (20 << 20) + number;
                let mut buffer = stream.alloc::<u8>(len).unwrap();
                let mut received = vec![0; len];
                for round in 0..20 {
                    let sent = random(len, (2 * round + number) as u64);
                    staging.upload(&stream, &sent, &mut buffer).unwrap();
                    staging.download(&stream, &buffer, &mut received).unwrap();
                    assert_same(&received, &sent, &format!("thread {number}, round {round}"));
                }
            });
        }
    });
    assert_eq!(device.check_canaries().unwrap(), 0);
}

#[test]
#[ignore = "needs a GPU"]
fn what_does_not_fit_is_refused_and_left_alone() {
    let (device, stream) = open();
    let staging = Staging::with(&device, everything());
    let sent = random(1000, 4);
    let mut buffer = stream.upload(&sent).unwrap();
    let mut received = [AROUND; 999];
    for refused in [
        staging.upload(&stream, &sent[..999], &mut buffer),
        staging.download(&stream, &buffer, &mut received),
    ] {
        let refused = refused.unwrap_err();
        println!("{refused}");
        assert!(matches!(refused, Error::Range { .. }), "{refused}");
    }
    assert_eq!(received, [AROUND; 999]);
    assert_same(&stream.download(&buffer).unwrap(), &sent, "the buffer");

    // A graph would copy from memory that is long another's.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.raw().begin_capture(mode).unwrap();
    let up = staging.upload(&stream, &[1; 1000], &mut buffer);
    let down = staging.download(&stream, buffer.slice(1..).unwrap(), &mut received);
    stream.fill(&mut buffer, 5).unwrap();
    let graph = stream.raw().end_capture(CUgraphInstantiate_flags(0));
    let graph = graph.unwrap().expect("a graph, as the capture went on");
    for refused in [up, down] {
        let refused = refused.unwrap_err();
        println!("{refused}");
        assert!(refused.to_string().contains("captured"), "{refused}");
    }
    assert_same(&stream.download(&buffer).unwrap(), &sent, "not yet run");
    graph.launch().unwrap();
    assert_same(&stream.download(&buffer).unwrap(), &[5; 1000], "run");
}

#[test]
#[ignore = "needs a GPU"]
fn pinned_memory_is_a_slice() {
    let (device, _) = open();
    for len in [0, 1, 1023, (64 << 20) + 1] {
        let mut pinned = device.pinned::<u32>(len).unwrap();
        assert!(pinned.len() == len && pinned.iter().all(|&number| number == 0));
        for (i, number) in pinned.iter_mut().enumerate() {
            *number = i as u32;
        }
        let sent = &pinned;
        let sum = |numbers: &[u32]| numbers.iter().map(|&number| u64::from(number)).sum::<u64>();
        // Others may read it.
        let sums = thread::scope(|scope| scope.spawn(|| sum(sent)).join().unwrap());
        assert_eq!(sums, (0..len as u64).sum::<u64>());
    }
    for (case, refused) in [
        ("bytes", device.pinned::<u8>(usize::MAX).map(drop)),
        ("words", device.pinned::<u64>(usize::MAX / 2).map(drop)),
        ("a pebibyte", device.pinned::<u8>(1 << 50).map(drop)),
    ] {
        let refused = refused.unwrap_err();
        println!("{case}: {refused}");
        assert!(
            case == "a pebibyte" || matches!(refused, Error::HostMemory { .. }),
            "{case}: {refused}"
        );
    }
}

/// What the other process does in `a_failed_copy_is_an_error_and_ends`.
const FAILURE: &str = "SWEEPSORT_TEST_FAILED_COPY";

#[test]
#[ignore = "needs a GPU"]
fn a_failed_copy_is_an_error_and_ends() {
    if std::env::var_os(FAILURE).is_none() {
        // It may spoil the context for the whole process.
        let name = "staging::on_device::a_failed_copy_is_an_error_and_ends";
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--ignored", "--nocapture"])
            .env(FAILURE, "1")
            .output()
            .unwrap();
        println!("{}", String::from_utf8_lossy(&child.stdout));
        let words = String::from_utf8_lossy(&child.stderr);
        return assert!(child.status.success(), "{words}");
    }
    let (device, stream) = open();
    let staging = Staging::with(&device, everything());
    let mut host = random(40 << 20, 5);
    let nowhere = Pointer::<u8>::at(0x10_0000_0000_0000);
    // SAFETY: that is what it is about: it is nobody's memory.
    let (to, from) = unsafe {
        (
            SliceMut::from_raw(nowhere, host.len()),
            Slice::from_raw(nowhere, host.len()),
        )
    };
    let up = staging.upload(&stream, &host, to);
    let up = up.and_then(|()| stream.synchronize());
    println!("up: {}", up.unwrap_err());
    let down = staging.download(&stream, from, &mut host);
    println!("down: {}", down.unwrap_err());
    match stream.alloc::<u8>(host.len()) {
        Ok(mut buffer) => {
            staging.upload(&stream, &host, &mut buffer).unwrap();
            let arrived = stream.download(&buffer).unwrap();
            assert_same(&arrived, &host, "after the failure");
            println!("and it goes on");
        }
        Err(error) => println!("and nothing goes on: {error}"),
    }
}

/// The median of five, in seconds, after one that does not count.
fn seconds(mut work: impl FnMut()) -> f64 {
    work();
    let mut all = [0.0; 5];
    for seconds in &mut all {
        let start = Instant::now();
        work();
        *seconds = start.elapsed().as_secs_f64();
    }
    all.sort_by(f64::total_cmp);
    all[2]
}

/// Up and down in 10^9 bytes a second, the ends of both waited for.
fn speeds(stream: &Stream, tuning: Tuning, host: &mut [u8], buffer: &mut Buffer<u8>) -> (f64, f64) {
    let staging = Staging::with(stream.device(), tuning);
    let len = host.len();
    let up = seconds(|| {
        let to = buffer.slice_mut(..len).unwrap();
        staging.upload(stream, host, to).unwrap();
        stream.synchronize().unwrap();
    });
    let down = seconds(|| {
        let from = buffer.slice(..len).unwrap();
        staging.download(stream, from, host).unwrap();
    });
    (len as f64 / up / 1e9, len as f64 / down / 1e9)
}

#[test]
#[ignore = "needs a GPU, and a minute"]
fn measure() {
    let device = Device::open(0).expect("a GPU");
    let stream = device.stream().unwrap();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    println!("{}, {threads} threads", device.facts().name);
    let milliseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let whole = 1 << 30;
    let mut host = random(whole, 6);
    let mut buffer = stream.alloc::<u8>(whole).unwrap();
    let the_drivers = Tuning {
        from_bytes: usize::MAX,
        ..everything()
    };

    println!("\nwhat comes once, ms");
    for mib in [1, 32, 1024] {
        let start = Instant::now();
        let pinned = device.pinned::<u8>(mib << 20).unwrap();
        let (made, start) = (milliseconds(start), Instant::now());
        drop(pinned);
        let gone = milliseconds(start);
        println!("  {mib:4} MiB pinned: {made:8.2} to make, {gone:8.2} to give back");
    }
    let staging = Staging::with(&device, everything());
    for turn in ["first", "second", "third"] {
        let start = Instant::now();
        let to = buffer.slice_mut(..64 << 20).unwrap();
        staging.upload(&stream, &host[..64 << 20], to).unwrap();
        stream.synchronize().unwrap();
        println!("  {turn} upload of 64 MiB: {:8.2}", milliseconds(start));
    }

    println!("\n1 GiB, GB/s                 up    down");
    let (up, down) = speeds(&stream, the_drivers, &mut host, &mut buffer);
    println!("  pageable, the driver {up:7.1} {down:7.1}");
    let mut pinned = device.pinned::<u8>(whole).unwrap();
    pinned.copy_from_slice(&host);
    let (up, down) = speeds(&stream, the_drivers, &mut pinned, &mut buffer);
    println!("  pinned               {up:7.1} {down:7.1}");
    drop(pinned);
    println!("  threads  chunk KiB  chunks");
    for threads in [1, 2, 4, 6, 8, 12, 16] {
        for (chunk_bytes, chunks) in [
            (256 << 10, 4),
            (1 << 20, 1),
            (1 << 20, 2),
            (1 << 20, 4),
            (4 << 20, 2),
            (16 << 20, 2),
        ] {
            let tuning = Tuning {
                threads,
                chunk_bytes,
                chunks,
                from_bytes: 0,
            };
            let (up, down) = speeds(&stream, tuning, &mut host, &mut buffer);
            let kib = chunk_bytes >> 10;
            println!("  {threads:7}  {kib:9}  {chunks:6} {up:7.1} {down:7.1}");
        }
    }

    println!("\nby size, GB/s        up                         down");
    println!("  KiB        driver  2 threads  4  all      driver  2 threads  4  all");
    for shift in 16..=28 {
        let mut ups = Vec::new();
        let mut downs = Vec::new();
        let threads = [2, 4, everything().threads].map(|threads| Tuning {
            threads,
            ..everything()
        });
        for tuning in [the_drivers].into_iter().chain(threads) {
            let (up, down) = speeds(&stream, tuning, &mut host[..1 << shift], &mut buffer);
            ups.push(format!("{up:6.1}"));
            downs.push(format!("{down:6.1}"));
        }
        let kib = (1 << shift) >> 10;
        println!("  {kib:7}  {}    {}", ups.join(" "), downs.join(" "));
    }
}
