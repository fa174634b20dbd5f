//! The engine touches no memory but what it was given: small inputs of every kind, for a memory
//! checker to watch, and buffers that end or begin where a page begins that may not be touched,
//! which sees what canaries cannot: reads, and wide ones that stray past an end.

use sweepsort_core::{Nan, Order};
use sweepsort_cpu::CpuEngine;
use sweepsort_testkit::Pattern;
use sweepsort_testkit::suite::{self, Arrangement, Input, KeyType, Outcome, Scope, Work};

#[test]
fn a_small_part_of_the_suite() {
    for threads in [1, 2] {
        let outcome = suite::run(&CpuEngine::new(Some(threads)), "auto", Scope::SMALL);
        let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(outcome.passed > 1000, "{outcome:?}");
    }
}

/// Inputs just large enough for several threads and for more than one partition.
#[test]
fn some_inputs_for_several_threads() {
    let engine = CpuEngine::new(Some(2));
    let mut outcome = Outcome::default();
    for (key, pattern) in [
        (KeyType::U8, Pattern::Skewed),
        (KeyType::U32, Pattern::Nested),
        (KeyType::F64, Pattern::Special),
        (KeyType::I128, Pattern::Prefixes),
    ] {
        let input = Input {
            key,
            order: Order::Descending,
            nan: Nan::Total,
            bits: 0..key.bits(),
            arrangement: Arrangement::Pattern(pattern),
            n: (1 << 16) + 7,
        };
        let works = [
            Work::Keys { stable: true },
            Work::Pairs {
                value_bytes: 5,
                stable: true,
            },
            Work::Argsort { entry_bytes: 4 },
        ];
        suite::run_input(&engine, "auto", &input, &works, &mut outcome)
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
    assert_eq!(
        outcome,
        Outcome {
            passed: 12,
            unsupported: 0
        }
    );
}

#[cfg(target_os = "linux")]
mod pages {
    use std::borrow::Cow;

    use sweepsort_core::{
        Codec, Engine, IndexMut, Kind, Nan, Order, Spec, Task, ValuesMut, Word, Words, WordsMut,
    };
    use sweepsort_cpu::{CpuEngine, Instructions};
    use sweepsort_testkit::Pattern;

    const PAGE: usize = 4096;

    /// Memory between two pages that fault when touched.
    struct Fenced {
        map: *mut u8,
        bytes: usize,
    }

    impl Fenced {
        /// Room for `bytes` bytes.
        fn new(bytes: usize) -> Self {
            let bytes = bytes.next_multiple_of(PAGE).max(PAGE);
            // SAFETY: a new mapping, touched nowhere yet; then its middle is opened.
            let map = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                let map = libc::mmap(
                    std::ptr::null_mut(),
                    bytes + 2 * PAGE,
                    libc::PROT_NONE,
                    flags,
                    -1,
                    0,
                );
                assert_ne!(map, libc::MAP_FAILED);
                let open = libc::PROT_READ | libc::PROT_WRITE;
                assert_eq!(libc::mprotect(map.byte_add(PAGE), bytes, open), 0);
                map.cast()
            };
            Fenced { map, bytes }
        }

        /// A copy of `data` that ends at the upper fence, or begins at the lower one.
        fn place<T: Copy>(&mut self, data: &[T], at_end: bool) -> &mut [T] {
            assert!(size_of_val(data) <= self.bytes);
            let offset = if at_end {
                self.bytes - size_of_val(data)
            } else {
                0
            };
            // SAFETY: inside the open pages, aligned for elements whose size is a multiple of
            // their alignment, and borrowed as long as the mapping.
            unsafe {
                let start = self.map.add(PAGE + offset).cast::<T>();
                start.copy_from_nonoverlapping(data.as_ptr(), data.len());
                std::slice::from_raw_parts_mut(start, data.len())
            }
        }
    }

    impl Drop for Fenced {
        fn drop(&mut self) {
            // SAFETY: the whole of a mapping that nothing refers to any more.
            unsafe { libc::munmap(self.map.cast(), self.bytes + 2 * PAGE) };
        }
    }

    /// Engines of two workers, by all instructions that this machine has.
    type Engines = [(Instructions, CpuEngine)];

    fn engines() -> Vec<(Instructions, CpuEngine)> {
        use Instructions::{Avx2, Avx512, Portable};
        let engine = |one| Some((one, CpuEngine::new(Some(2)).with_instructions(one).ok()?));
        [Portable, Avx2, Avx512]
            .into_iter()
            .filter_map(engine)
            .collect()
    }

    /// Every task on keys and payloads that lie against a fence.
    fn fenced<W, const V: usize>(engines: &Engines, codec: Codec, n: usize, pattern: Pattern)
    where
        W: Word + sweepsort_testkit::Ordered,
        for<'a> &'a [W]: Into<Words<'a>>,
        for<'a> &'a mut [W]: Into<WordsMut<'a>>,
    {
        let spec = Spec {
            codec,
            bits: 0..<W as Word>::BITS,
            stable: true,
            algorithm: Cow::Borrowed("auto"),
        };
        let keys: Vec<W> = pattern.keys(n, 1, &Default::default());
        let values: Vec<[u8; V]> = (0..n)
            .map(|i| std::array::from_fn(|at| (i >> (8 * (at % 2))) as u8))
            .collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        let coder = codec.coder::<W>();
        order.sort_by_key(|&i| coder.encode(keys[i as usize]));
        let (mut key_room, mut room) = (Fenced::new(size_of_val(&*keys)), Fenced::new(16 * n));
        let sorted = |got: &[W]| got.iter().eq(order.iter().map(|&i| &keys[i as usize]));
        let at_both = |engine| [(engine, true), (engine, false)];
        for ((instructions, engine), at_end) in engines.iter().flat_map(at_both) {
            let (key, kind) = (std::any::type_name::<W>(), codec.kind);
            let case = format!("{key} {V} {n} {pattern} {at_end}, {kind:?}, {instructions:?}");
            let got = key_room.place(&keys, at_end);
            engine.run(Task::Keys((&mut *got).into()), &spec).unwrap();
            assert!(sorted(got), "{case}");
            let got = key_room.place(&keys, at_end);
            let moved = room.place(&values, at_end);
            engine
                .run(
                    Task::Pairs((&mut *got).into(), ValuesMut::new(moved)),
                    &spec,
                )
                .unwrap();
            assert!(sorted(got), "{case}");
            assert!(
                moved.iter().eq(order.iter().map(|&i| &values[i as usize])),
                "{case}"
            );
            let got = key_room.place(&keys, at_end);
            let index = room.place(&vec![0u32; n], at_end);
            engine
                .run(Task::Argsort((&*got).into(), IndexMut::U32(index)), &spec)
                .unwrap();
            assert_eq!(index, order, "{case}");
        }
    }

    /// The codec of floats with so many bits of mantissa.
    fn float(mantissa: u32) -> Codec {
        Codec::for_keys(Kind::Float { mantissa }, Order::Ascending, Nan::Total)
    }

    #[test]
    fn buffers_against_fences() {
        let small = (0..70).chain([127, 128, 129, 255, 256, 257, 1000]);
        let engines = engines();
        for n in small.chain([4096, 21_845, 21_846, 33_000, 70_001]) {
            for pattern in [Pattern::Random, Pattern::Nested, Pattern::FewDistinct] {
                fenced::<u8, 1>(&engines, Codec::UNSIGNED, n, pattern);
                fenced::<u16, 2>(&engines, Codec::UNSIGNED, n, pattern);
                fenced::<u32, 4>(&engines, Codec::UNSIGNED, n, pattern);
                fenced::<u32, 4>(&engines, float(23), n, pattern);
                fenced::<u32, 3>(&engines, Codec::UNSIGNED, n, pattern);
                fenced::<u64, 8>(&engines, Codec::UNSIGNED, n, pattern);
                fenced::<u64, 5>(&engines, float(52), n, pattern);
                fenced::<u128, 16>(&engines, Codec::UNSIGNED, n, pattern);
                fenced::<u8, 13>(&engines, Codec::UNSIGNED, n, pattern);
            }
        }
    }

    /// Keys alone that two workers cut in parts, and what is nearly in order: two runs, merged, and
    /// few keys out of place.
    #[test]
    fn many_keys_against_fences() {
        let engines = engines();
        for pattern in [
            Pattern::Random,
            Pattern::HeavyKey,
            Pattern::Skewed,
            Pattern::OrganPipe,
            Pattern::SortedButTwo,
            Pattern::Reversed,
        ] {
            for [of_32, of_64] in [[Codec::UNSIGNED; 2], [float(23), float(52)]] {
                fenced::<u32, 4>(&engines, of_32, 300_000, pattern);
                fenced::<u64, 8>(&engines, of_64, 150_000, pattern);
            }
        }
    }
}
