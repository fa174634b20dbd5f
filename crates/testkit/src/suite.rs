//! A table of cases for any engine, and what must hold after each.
//!
//! A case is an [`Input`] (key type, order, NaN policy, range of bits, pattern, size) and a
//! [`Work`] (keys, pairs or argsort). The table is not the product of all these, which would run
//! for days, but four parts of it ([`inputs`]):
//!
//! * small sizes with all options,
//! * all sizes up to a few thousand with all patterns, the options taking turns,
//! * larger sizes for every key type, patterns and options taking turns,
//! * every bit pattern of the 16-bit floats, several times over, under every policy.
//!
//! After each run the output is what the standard library's stable sort makes of the input, what
//! was only to be read is unchanged, the guards around every buffer are whole, and the report
//! claims nothing untrue.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use half::{bf16, f16};
use sweepsort_core::{
    Codec, Engine, Error, IndexMut, Nan, Order, Presorted, RadixKey, Report, Shape, Spec, Task,
    ValuesMut, Width, Words, WordsMut, with_width, with_words,
};

use crate::check;
use crate::oracle;
use crate::order::{Ordered, Wanted};
use crate::pattern::{Pattern, sizes};
use crate::random::mix;

macro_rules! key_types {
    ($($variant:ident $key:ty, $name:literal;)*) => {
        /// The key types that are machine words: all that an engine can tell apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum KeyType {
            $(#[doc = concat!("`", $name, "`")] $variant),*
        }

        impl KeyType {
            /// Every key type.
            pub const ALL: &[KeyType] = &[$(KeyType::$variant),*];

            /// The type's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(KeyType::$variant => $name),*
                }
            }

            /// How many bits the type has.
            pub const fn bits(self) -> u32 {
                match self {
                    $(KeyType::$variant => <$key as RadixKey>::BITS),*
                }
            }

            /// The NaN policies that are not alike for the type.
            pub const fn policies(self) -> &'static [Nan] {
                match self {
                    $(KeyType::$variant => <$key as Ordered>::POLICIES),*
                }
            }

            fn prepare(self, input: &Input) -> Box<dyn Prepared> {
                match self {
                    $(KeyType::$variant => Box::new(Typed::<$key>::new(input))),*
                }
            }
        }
    };
}
key_types! {
    U8 u8, "u8";
    U16 u16, "u16";
    U32 u32, "u32";
    U64 u64, "u64";
    U128 u128, "u128";
    I8 i8, "i8";
    I16 i16, "i16";
    I32 i32, "i32";
    I64 i64, "i64";
    I128 i128, "i128";
    F16 f16, "f16";
    Bf16 bf16, "bf16";
    F32 f32, "f32";
    F64 f64, "f64";
}

/// What is sorted, and into which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The keys' type.
    pub key: KeyType,
    /// Ascending or descending.
    pub order: Order,
    /// Where NaNs go.
    pub nan: Nan,
    /// Which bits count.
    pub bits: Range<u32>,
    /// How the keys are arranged.
    pub arrangement: Arrangement,
    /// How many keys there are.
    pub n: usize,
}

/// Where an input's keys come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// A pattern.
    Pattern(Pattern),
    /// Every value of a 16-bit type equally often, shuffled.
    EveryWord,
}

/// What is to be done with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Sort the keys.
    Keys {
        /// Whether ties keep their order.
        stable: bool,
    },
    /// Sort keys and values.
    Pairs {
        /// Bytes of a value, at most 16.
        value_bytes: usize,
        /// Whether ties keep their order.
        stable: bool,
    },
    /// Fill an index.
    Argsort {
        /// Bytes of an entry, 4 or 8.
        entry_bytes: usize,
    },
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = match self.arrangement {
            Arrangement::Pattern(pattern) => pattern.name(),
            Arrangement::EveryWord => "every-word",
        };
        let (key, Range { start, end }) = (self.key.name(), &self.bits);
        write!(
            f,
            "{key} {} nan-{} bits {start}..{end} {pattern} n={}",
            self.order, self.nan, self.n
        )
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stability = |stable| if stable { "stable" } else { "unstable" };
        match *self {
            Work::Keys { stable } => write!(f, "keys {}", stability(stable)),
            Work::Pairs {
                value_bytes,
                stable,
            } => {
                write!(
                    f,
                    "pairs of {value_bytes}-byte values {}",
                    stability(stable)
                )
            }
            Work::Argsort { entry_bytes } => write!(f, "argsort u{}", 8 * entry_bytes),
        }
    }
}

/// How much of the table to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The largest sizes are around 2 to this power.
    pub largest_power: u32,
    /// Of the small sizes with all options, and of all patterns with all sizes, one in so many is
    /// run.
    pub one_in: usize,
    /// The engine's tile sizes and thresholds, to be tried with their neighbours.
    pub tiles: &'static [usize],
}

impl Scope {
    /// What a two-core machine runs in about a minute.
    pub const ORDINARY: Scope = Scope {
        largest_power: 22,
        one_in: 1,
        tiles: &[],
    };
    /// A few seconds' worth, small sizes alone: for an interpreter or a memory checker.
    pub const SMALL: Scope = Scope {
        largest_power: 12,
        one_in: 40,
        tiles: &[],
    };
}

/// What a run of the suite comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many cases ran and passed.
    pub passed: usize,
    /// How many cases the engine answered with [`Error::Unsupported`], its data untouched.
    pub unsupported: usize,
}

/// Runs the table's cases on an engine, and stops at the first that fails.
///
/// # Errors
/// A sentence that says which case failed, and what was found and expected where.
pub fn run(engine: &dyn Engine, algorithm: &'static str, scope: Scope) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for (input, works) in inputs(scope) {
        run_input(engine, algorithm, &input, &works, &mut outcome)?;
    }
    Ok(outcome)
}

/// Runs one input's cases on an engine, and adds to the outcome.
///
/// # Errors
/// As [`run`].
pub fn run_input(
    engine: &dyn Engine,
    algorithm: &'static str,
    input: &Input,
    works: &[Work],
    outcome: &mut Outcome,
) -> Result<(), String> {
    let prepared = input.key.prepare(input);
    for work in works {
        // Different buffers start at different distances from a cache line's start.
        let shift = outcome.passed;
        let tried = catch_unwind(AssertUnwindSafe(|| {
            prepared.run(engine, algorithm, *work, shift)
        }));
        match tried {
            Ok(Ok(true)) => outcome.passed += 1,
            Ok(Ok(false)) => outcome.unsupported += 1,
            Ok(Err(what)) => {
                return Err(format!(
                    "{} {algorithm}: {input}: {work}: {what}",
                    engine.name()
                ));
            }
            Err(panic) => {
                let what = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("no message");
                return Err(format!(
                    "{} {algorithm}: {input}: {work}: the engine panicked: {what}",
                    engine.name()
                ));
            }
        }
    }
    Ok(())
}

/// The table: inputs, and what to do with each.
pub fn inputs(scope: Scope) -> impl Iterator<Item = (Input, Vec<Work>)> {
    small(scope)
        .chain(patterns(scope))
        .chain(large(scope))
        .chain(every_word(scope))
}

/// Value sizes: all that travel with a key somewhere, odd ones among them.
const VALUE_BYTES: [usize; 10] = [0, 1, 2, 3, 4, 5, 7, 8, 12, 16];

/// Everything that can be done.
fn all_works() -> Vec<Work> {
    let mut works = vec![
        Work::Keys { stable: true },
        Work::Keys { stable: false },
        Work::Argsort { entry_bytes: 4 },
        Work::Argsort { entry_bytes: 8 },
    ];
    for value_bytes in VALUE_BYTES {
        works.extend([true, false].map(|stable| Work::Pairs {
            value_bytes,
            stable,
        }));
    }
    works
}

/// One of each kind of work, the details taking turns.
fn few_works(turn: usize) -> Vec<Work> {
    vec![
        Work::Keys {
            stable: turn.is_multiple_of(2),
        },
        Work::Pairs {
            value_bytes: 1 + turn * 7 % 16,
            stable: true,
        },
        Work::Pairs {
            value_bytes: 1 + turn * 5 % 16,
            stable: false,
        },
        Work::Argsort {
            entry_bytes: 4 + turn % 2 * 4,
        },
    ]
}

/// Ranges of bits: all, none, some at either end and in the middle.
fn bit_ranges(bits: u32) -> [Range<u32>; 6] {
    [
        0..bits,
        bits / 2..bits / 2,
        0..bits / 2,
        3..bits - 2,
        bits - 1..bits,
        bits / 2 + 1..bits,
    ]
}

/// Every key type with every direction and every policy that concerns it.
fn keys_and_orders() -> impl Iterator<Item = (KeyType, Order, Nan)> + Clone {
    KeyType::ALL.iter().flat_map(|&key| {
        Order::ALL.iter().flat_map(move |&order| {
            let policies = key.policies().iter();
            policies.map(move |&nan| (key, order, nan))
        })
    })
}

/// A number that looks random, for taking turns without a beat.
fn turn(i: usize) -> usize {
    (mix(i as u64) >> 32) as usize
}

fn pattern(turn: usize) -> Arrangement {
    Arrangement::Pattern(Pattern::ALL[turn % Pattern::ALL.len()])
}

/// Small sizes with all options.
fn small(scope: Scope) -> impl Iterator<Item = (Input, Vec<Work>)> {
    const SIZES: [usize; 14] = [0, 1, 2, 3, 5, 8, 16, 17, 33, 63, 65, 130, 257, 600];
    keys_and_orders()
        .flat_map(|(key, order, nan)| {
            bit_ranges(key.bits()).into_iter().flat_map(move |bits| {
                let bits = bits.clone();
                SIZES.map(|n| (key, order, nan, bits.clone(), n))
            })
        })
        .enumerate()
        .filter(move |(i, _)| turn(*i).is_multiple_of(scope.one_in))
        .map(|(i, (key, order, nan, bits, n))| {
            // Where NaNs and zeros may tie, half of the inputs have some of each.
            let arrangement = if nan != Nan::Total && (turn(i) / 32).is_multiple_of(2) {
                Arrangement::Pattern(Pattern::Special)
            } else {
                pattern(turn(i) / 64)
            };
            (
                Input {
                    key,
                    order,
                    nan,
                    bits,
                    arrangement,
                    n,
                },
                all_works(),
            )
        })
}

/// All sizes up to a few thousand with all patterns.
fn patterns(scope: Scope) -> impl Iterator<Item = (Input, Vec<Work>)> {
    let orders: Vec<_> = keys_and_orders().collect();
    sizes(scope.largest_power.min(13), &[])
        .into_iter()
        .flat_map(|n| Pattern::ALL.iter().map(move |&pattern| (n, pattern)))
        // Each pattern at each size with four key types, other ones each time.
        .flat_map(|at| [at; 4])
        .enumerate()
        .filter(move |(i, _)| turn(*i).is_multiple_of(scope.one_in))
        .map(move |(i, (n, pattern))| {
            let (key, order, nan) = orders[turn(i) % orders.len()];
            let [whole, .., low, middle, top, high] = bit_ranges(key.bits());
            let bits = match turn(i) / 128 % 12 {
                0 => low,
                1 => middle,
                2 => top,
                3 => high,
                _ => whole,
            };
            let arrangement = Arrangement::Pattern(pattern);
            (
                Input {
                    key,
                    order,
                    nan,
                    bits,
                    arrangement,
                    n,
                },
                few_works(turn(i) / 4096),
            )
        })
}

/// Larger sizes. Up to 2^16 for every key type, above for some.
fn large(scope: Scope) -> impl Iterator<Item = (Input, Vec<Work>)> {
    let orders: Vec<_> = keys_and_orders().collect();
    sizes(scope.largest_power, scope.tiles)
        .into_iter()
        .filter(move |n| *n > 1 << 13 || scope.tiles.contains(n))
        .flat_map(|n| {
            let some = match n {
                0..70_000 => 2 * KeyType::ALL.len(),
                70_000..600_000 => 4,
                _ => 2,
            };
            (0..some).map(move |i| (n, i))
        })
        .enumerate()
        .map(move |(i, (n, which))| {
            let key = if n < 70_000 {
                KeyType::ALL[which % KeyType::ALL.len()]
            } else {
                KeyType::ALL[turn(i) % KeyType::ALL.len()]
            };
            let choices: Vec<_> = orders.iter().filter(|choice| choice.0 == key).collect();
            let &(key, order, nan) = choices[turn(i) / 16 % choices.len()];
            let bits = if (turn(i) / 128).is_multiple_of(4) {
                3..key.bits() - 2
            } else {
                0..key.bits()
            };
            let mut works = few_works(turn(i) / 512);
            if n >= 600_000 {
                works.remove(turn(i) / 64 % 2 + 1);
            }
            let arrangement = pattern(turn(i) / 1024);
            (
                Input {
                    key,
                    order,
                    nan,
                    bits,
                    arrangement,
                    n,
                },
                works,
            )
        })
}

/// Every bit pattern of the 16-bit types, NaNs all, under every policy and in both directions.
fn every_word(scope: Scope) -> impl Iterator<Item = (Input, Vec<Work>)> {
    keys_and_orders()
        .filter(|(key, ..)| key.bits() == 16)
        .filter(move |_| scope.largest_power >= 16)
        .flat_map(|(key, order, nan)| {
            [0..16, 2..15].map(|bits| Input {
                key,
                order,
                nan,
                bits,
                arrangement: Arrangement::EveryWord,
                n: 3 << 16,
            })
        })
        .enumerate()
        .map(|(i, input)| (input, few_works(i)))
}

/// An input with its keys and what must become of them; the key's type is behind it.
trait Prepared {
    /// Runs one case. `Ok(false)` if the engine does not do such work.
    fn run(
        &self,
        engine: &dyn Engine,
        algorithm: &'static str,
        work: Work,
        shift: usize,
    ) -> Result<bool, String>;
}

struct Typed<K> {
    keys: Vec<K>,
    bits: Range<u32>,
    /// The order of keys alone, and the keys' indices in it.
    alone: (Wanted, Vec<usize>),
    /// The order of pairs and argsort, and the keys' indices in it.
    records: (Wanted, Vec<usize>),
}

impl<K: Ordered> Typed<K> {
    fn new(input: &Input) -> Self {
        let Input {
            order,
            nan,
            bits,
            arrangement,
            n,
            ..
        } = input.clone();
        let alone = Wanted::of_keys(order, nan, Some(bits.clone()));
        let records = Wanted::of_records(order, nan, Some(bits.clone()));
        let seed = mix(n as u64) ^ u64::from(bits.start) << 8 ^ u64::from(K::BITS);
        let keys: Vec<K> = match arrangement {
            Arrangement::Pattern(pattern) => pattern.keys(n, seed, &alone),
            Arrangement::EveryWord => {
                // An odd multiplier and an exclusive-or permute the 16-bit words.
                (0..n as u64)
                    .map(|i| ((i * 40_503) ^ ((i >> 16) * 0x5bd1)) & 0xffff)
                    .map(|place| K::at_position(u128::from(place)))
                    .collect()
            }
        };
        let order_alone = oracle::order(&keys, &alone);
        let order_records = if K::NANS > 0 && nan != Nan::Total {
            oracle::order(&keys, &records)
        } else {
            order_alone.clone()
        };
        Typed {
            keys,
            bits,
            alone: (alone, order_alone),
            records: (records, order_records),
        }
    }

    /// Checks the keys of an output. Where ties may come in any order, only that they are ordered;
    /// that none was lost is then seen elsewhere.
    fn check_keys(&self, got: &[K], by: &(Wanted, Vec<usize>), exact: bool) -> Result<(), String> {
        let expected = oracle::follow(&self.keys, &by.1);
        if exact {
            return oracle::first_difference(got, &expected).map_or(Ok(()), Err);
        }
        match check::first_disorder(got, &by.0) {
            None => Ok(()),
            Some(i) => Err(format!(
                "key {i} is {:?} ({:#x}) and does not belong after {:?} ({:#x}); a stable sort has \
                 {:?} there",
                got[i],
                got[i].raw(),
                got[i - 1],
                got[i - 1].raw(),
                expected[i]
            )),
        }
    }

    /// Checks that a report claims nothing untrue.
    fn check_report(
        &self,
        report: &Report,
        engine: &dyn Engine,
        shape: &Shape,
        spec: &Spec,
        by: &(Wanted, Vec<usize>),
    ) -> Result<(), String> {
        let claim = |holds: bool, what: &str| {
            if holds {
                Ok(())
            } else {
                Err(format!("the report is untrue: {what}: {report:?}"))
            }
        };
        claim(report.engine == engine.name(), "engine")?;
        claim(report.keys == shape.keys, "keys")?;
        // An engine counts its own passes, or those of a plain sort by 8-bit digits; of these more
        // may run, where narrower digits are faster.
        let plain = self.bits.len().div_ceil(8) as u32;
        let (run, possible) = (report.passes_run, report.passes_possible);
        claim(run <= possible || possible == plain, "passes possible")?;
        claim(
            run <= self.bits.len() as u32 || run <= possible,
            "passes run",
        )?;
        let plan = engine
            .plan(shape, spec)
            .map_err(|error| format!("no plan: {error}"))?;
        claim(
            report.workspace_bytes <= plan.workspace_bytes,
            "more workspace than planned",
        )?;
        let ranks = || self.keys.iter().map(|key| by.0.rank_of(key));
        let varying = ranks()
            .zip(ranks().skip(1))
            .fold(0, |bits, (a, b)| bits | a ^ b);
        let constant = self.bits.len() as u32 - varying.count_ones();
        claim(report.constant_bits <= constant, "constant bits")?;
        match report.presorted {
            None => Ok(()),
            Some(Presorted::Equal) => claim(varying == 0, "all tie"),
            Some(Presorted::Sorted) => claim(ranks().is_sorted(), "sorted"),
            Some(Presorted::Reversed) => claim(ranks().is_sorted_by(|a, b| a >= b), "reversed"),
        }
    }
}

impl<K: Ordered> Prepared for Typed<K> {
    fn run(
        &self,
        engine: &dyn Engine,
        algorithm: &'static str,
        work: Work,
        shift: usize,
    ) -> Result<bool, String> {
        let n = self.keys.len();
        let words = K::words(&self.keys).expect("the suite's keys are machine words");
        let width = words.width();
        let input = bytes_of(words);
        let (payload_bytes, by, stable) = match work {
            Work::Keys { stable } => (0, &self.alone, stable),
            Work::Pairs {
                value_bytes,
                stable,
            } => (value_bytes, &self.records, stable),
            Work::Argsort { entry_bytes } => (entry_bytes, &self.records, true),
        };
        let codec = if matches!(work, Work::Keys { .. }) {
            Codec::for_keys
        } else {
            Codec::for_records
        };
        let spec = Spec {
            codec: codec(K::KIND, by.0.order, by.0.nan),
            bits: self.bits.clone(),
            stable,
            algorithm: Cow::Borrowed(algorithm),
        };
        let mut keys = Guarded::new(input, shift % 5 * width.bytes());
        let values = values(n, payload_bytes);
        // Values need no alignment; index entries have their own.
        let mut payload = match work {
            Work::Argsort { entry_bytes } => {
                Guarded::new(&vec![0xee; n * entry_bytes], shift % 3 * entry_bytes)
            }
            _ => Guarded::new(&values, shift % 7),
        };
        let (shape, result) = {
            let task = match work {
                Work::Keys { .. } => Task::Keys(keys.words_mut(width)),
                Work::Pairs { value_bytes, .. } => Task::Pairs(
                    keys.words_mut(width),
                    values_mut(payload.bytes_mut(), value_bytes, n),
                ),
                Work::Argsort { entry_bytes } => Task::Argsort(
                    keys.words(width),
                    if entry_bytes == 4 {
                        IndexMut::U32(bytemuck::cast_slice_mut(payload.bytes_mut()))
                    } else {
                        IndexMut::U64(bytemuck::cast_slice_mut(payload.bytes_mut()))
                    },
                ),
            };
            (task.shape(), engine.run(task, &spec))
        };
        keys.intact("the keys")?;
        payload.intact("the values or the index")?;
        let report = match result {
            Ok(report) => report,
            Err(Error::Unsupported { .. }) => {
                let untouched = keys.bytes() == input
                    && (matches!(work, Work::Argsort { .. }) || payload.bytes() == values);
                return match untouched {
                    true => Ok(false),
                    false => Err("refused, but the data is not untouched".into()),
                };
            }
            Err(error) => return Err(format!("refused: {error}")),
        };
        let mut got = self.keys.clone();
        write_keys(&mut got, keys.bytes());
        let order = &by.1;
        match work {
            Work::Keys { .. } => {
                // A stable sort or not, equal keys cannot be told apart where all bits count.
                self.check_keys(&got, by, stable || self.bits.len() == K::BITS as usize)?;
                if !check::same_multiset(&got, &self.keys) {
                    return Err("the keys are not the input's keys".into());
                }
            }
            Work::Pairs {
                value_bytes,
                stable: true,
            } => {
                self.check_keys(&got, by, true)?;
                let value =
                    |bytes: &[u8], i: usize| bytes[i * value_bytes..(i + 1) * value_bytes].to_vec();
                let wrong = (0..n).find(|&i| {
                    let from = order[i];
                    payload.bytes()[i * value_bytes..(i + 1) * value_bytes]
                        != values[from * value_bytes..(from + 1) * value_bytes]
                });
                if let Some(i) = wrong {
                    return Err(format!(
                        "value {i} is {:02x?}, expected {:02x?}, the value of key {}",
                        value(payload.bytes(), i),
                        value(&values, order[i]),
                        order[i]
                    ));
                }
            }
            Work::Pairs {
                value_bytes,
                stable: false,
            } => {
                let ties = self.bits.len() < K::BITS as usize || by.0.ties && K::NANS > 0;
                self.check_keys(&got, by, !ties)?;
                // Each value is still with its key: the same pairs, in whatever order.
                let pair = |keys: &[K], values: &[u8], i: usize| {
                    let mut value = [0; 16];
                    value[..value_bytes].copy_from_slice(&values[i * value_bytes..][..value_bytes]);
                    (keys[i].raw(), u128::from_le_bytes(value))
                };
                let found = || (0..n).map(|i| pair(&got, payload.bytes(), i));
                let expected = || (0..n).map(|i| pair(&self.keys, &values, i));
                if !check::same_pairs(found(), expected()) {
                    let (mut found, mut expected) =
                        (Vec::from_iter(found()), Vec::from_iter(expected()));
                    found.sort_unstable();
                    expected.sort_unstable();
                    let at = (0..n).find(|&i| found[i] != expected[i]);
                    let at = at.expect("different pairs differ somewhere");
                    let (found, expected) = (found[at], expected[at]);
                    return Err(format!(
                        "not the input's pairs: (key, value) ({:#x}, {:#x}) where the input has \
                         ({:#x}, {:#x}), in order of both",
                        found.0, found.1, expected.0, expected.1
                    ));
                }
            }
            Work::Argsort { entry_bytes } => {
                if keys.bytes() != input {
                    return Err("the keys were only to be read, and are changed".into());
                }
                let entry = |i: usize| {
                    let mut entry = [0; 8];
                    entry[..entry_bytes]
                        .copy_from_slice(&payload.bytes()[i * entry_bytes..][..entry_bytes]);
                    u64::from_le_bytes(entry)
                };
                if let Some(i) = (0..n).find(|&i| entry(i) != order[i] as u64) {
                    return Err(format!("index[{i}] is {}, expected {}", entry(i), order[i]));
                }
            }
        }
        self.check_report(&report, engine, &shape, &spec, by)?;
        Ok(true)
    }
}

/// A value for each key, different ones as far as the bytes allow.
fn values(n: usize, value_bytes: usize) -> Vec<u8> {
    let mut values = vec![0; n * value_bytes];
    for (i, value) in values.chunks_exact_mut(value_bytes.max(1)).enumerate() {
        let hash = mix(i as u64 + 1);
        let all = u128::from(mix(hash)) << 64 | u128::from(hash);
        value.copy_from_slice(&all.to_le_bytes()[..value_bytes]);
    }
    values
}

/// The bytes as values of `value_bytes` each.
fn values_mut(bytes: &mut [u8], value_bytes: usize, n: usize) -> ValuesMut<'_> {
    macro_rules! of_size {
        ($($size:literal),*) => {
            match value_bytes {
                // As many values of no bytes as there are keys; a vector of them owns no memory.
                0 => ValuesMut::new(Vec::leak(vec![(); n])),
                $($size => ValuesMut::new(bytemuck::cast_slice_mut::<u8, [u8; $size]>(bytes)),)*
                _ => unreachable!("values of {value_bytes} bytes"),
            }
        };
    }
    of_size!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
}

fn bytes_of(words: Words<'_>) -> &[u8] {
    with_words!(Words, words, |slice| bytemuck::cast_slice(slice))
}

/// Makes `keys` those with these bytes.
fn write_keys<K: RadixKey>(keys: &mut [K], bytes: &[u8]) {
    let words = K::words_mut(keys).expect("the suite's keys are machine words");
    with_words!(WordsMut, words, |slice| bytemuck::cast_slice_mut(slice)
        .copy_from_slice(bytes))
}

/// Bytes between two guards that no engine may touch.
struct Guarded {
    /// Sixteen-byte elements, so that the start is as aligned as any word wants.
    store: Vec<u128>,
    start: usize,
    end: usize,
}

/// Bytes on either side.
const GUARD_BYTES: usize = 128;
/// What a guard is made of.
const GUARD: u8 = 0xc5;

impl Guarded {
    /// A copy of `bytes` that starts `shift` bytes past an address aligned to 16.
    fn new(bytes: &[u8], shift: usize) -> Self {
        let (start, end) = (GUARD_BYTES + shift, GUARD_BYTES + shift + bytes.len());
        let store = vec![u128::from_ne_bytes([GUARD; 16]); (end + GUARD_BYTES).div_ceil(16)];
        let mut guarded = Guarded { store, start, end };
        guarded.bytes_mut().copy_from_slice(bytes);
        guarded
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.store)[self.start..self.end]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.store)[self.start..self.end]
    }

    fn words(&self, width: Width) -> Words<'_> {
        with_width!(width, |W| Words::from(bytemuck::cast_slice::<u8, W>(
            self.bytes()
        )))
    }

    fn words_mut(&mut self, width: Width) -> WordsMut<'_> {
        with_width!(width, |W| WordsMut::from(
            bytemuck::cast_slice_mut::<u8, W>(self.bytes_mut())
        ))
    }

    fn intact(&self, what: &str) -> Result<(), String> {
        let all: &[u8] = bytemuck::cast_slice(&self.store);
        let (before, after) = (&all[..self.start], &all[self.end..]);
        if let Some(i) = before.iter().rposition(|&byte| byte != GUARD) {
            return Err(format!("a write {} bytes before {what}", self.start - i));
        }
        if let Some(i) = after.iter().position(|&byte| byte != GUARD) {
            return Err(format!("a write {} bytes past the end of {what}", i + 1));
        }
        Ok(())
    }
}
