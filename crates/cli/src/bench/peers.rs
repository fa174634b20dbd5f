//! The peers: other people's sorts, each one entry in a table.
//!
//! Keys alone are sorted as a slice of keys; pairs and argsort as a slice of (key, value) records,
//! the value of an argsort being the index. Packing the records before and unpacking them after is
//! left out of the timing, so peers are shown at their best. Floats are ordered by `total_cmp`
//! where the sort takes a comparison, else as the crate has it.

use super::input::{Pair, Value};
use sweepsort_testkit::Sample;

/// What is known of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name, as records spell it.
    pub name: &'static str,
    /// Whether it uses several threads.
    pub parallel: bool,
    /// Whether equal keys keep their order.
    pub stable: bool,
    /// Whether floats come out in total order, −0.0 before +0.0.
    pub total: bool,
    /// Whether its memory goes through Rust's allocator, where it can be counted.
    pub counted: bool,
}

/// A peer for one type of record.
#[derive(Clone, Copy, Debug)]
pub struct Peer<R> {
    /// What is known of it.
    pub facts: Facts,
    /// Sorts records on a number of threads; the pool that it is called in has as many.
    pub run: fn(&mut [R], usize),
}

/// Every peer that this version of the tool knows, whether or not this build has it.
pub fn all() -> impl Iterator<Item = &'static Facts> {
    COMPARISON.iter().chain(RADIX).chain(VECTOR)
}

/// Every peer that sorts in a GPU's memory.
pub fn on_device() -> impl Iterator<Item = &'static Facts> {
    ON_CUDA.iter().chain(ON_WGPU)
}

/// Those of CUDA.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
pub fn on_cuda() -> &'static [Facts] {
    ON_CUDA
}

/// Those of wgpu.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
pub fn on_wgpu() -> &'static [Facts] {
    ON_WGPU
}

/// Every peer, wherever it sorts.
pub fn everywhere() -> impl Iterator<Item = &'static Facts> {
    all().chain(on_device())
}

/// Why this build cannot run a peer, if it cannot.
pub fn absent(peer: &Facts) -> Option<&'static str> {
    if ON_WGPU.iter().any(|known| known.name == peer.name) {
        return (!cfg!(feature = "peers-wgpu")).then_some(
            "this build has no peers of wgpu; build it with the cargo flag '--features peers-wgpu'",
        );
    }
    if !cfg!(feature = "peers") {
        return Some("this build has no peers; build it with the cargo flag '--features peers'");
    }
    (!cfg!(feature = "peer-vqsort") && VECTOR.iter().any(|vector| vector.name == peer.name))
        .then_some(
            "this build has no vqsort; install Highway (Debian 13: libhwy-dev; 1.0.3 is too old), \
             pkg-config and a C++ compiler, and build with the cargo flag '--features peer-vqsort'",
        )
}

/// A key type, and the peers that sort it.
pub trait Contested: Sample {
    /// Peers for keys alone.
    fn key_peers() -> Vec<Peer<Self>>;
    /// Peers for keys with values, an argsort's index among them.
    fn pair_peers<V: Value>() -> Vec<Peer<Pair<Self, V>>>;
}

/// A value type, and the peers that sort pairs with it: those of 32 and 64 bits have peers.
pub trait Carried: Value {
    /// Peers for pairs with these values.
    fn peers<K: Contested>() -> Vec<Peer<Pair<K, Self>>> {
        Vec::new()
    }
}

impl Carried for u32 {
    fn peers<K: Contested>() -> Vec<Peer<Pair<K, Self>>> {
        K::pair_peers()
    }
}
impl Carried for u64 {
    fn peers<K: Contested>() -> Vec<Peer<Pair<K, Self>>> {
        K::pair_peers()
    }
}
impl Carried for u128 {}

macro_rules! peers {
    ($facts:ident = $function:ident<$record:ident: $bound:path> if $($condition:meta)?;
     $($name:literal $threads:ident $stable:ident $order:ident $memory:ident
       |$records:pat_param, $n:pat_param| $run:expr;)*) => {
        const $facts: &[Facts] = &[$(Facts {
            name: $name,
            parallel: matches!(Word::$threads, Word::Parallel),
            stable: matches!(Word::$stable, Word::Stable),
            total: matches!(Word::$order, Word::Total),
            counted: matches!(Word::$memory, Word::Counted),
        }),*];

        $(#[cfg($condition)])?
        fn $function<$record: $bound>() -> Vec<Peer<$record>> {
            let run: &[fn(&mut [$record], usize)] = &[$(|$records, $n| $run),*];
            $facts
                .iter()
                .zip(run)
                .map(|(&facts, &run)| Peer { facts, run })
                .collect()
        }
    };
}

/// All of them are stable, and may have -0.0 and +0.0 as equals.
const ON_CUDA: &[Facts] = &[
    on_a_device("cub"),
    on_a_device("thrust"),
    on_a_device("torch"),
    on_a_device("cupy"),
];

/// All of them are stable, and know no floats.
const ON_WGPU: &[Facts] = &[on_a_device("lampshade"), on_a_device("wgpu_sort")];

const fn on_a_device(name: &'static str) -> Facts {
    Facts {
        name,
        parallel: false,
        stable: true,
        total: false,
        counted: false,
    }
}

/// The words of the tables below.
enum Word {
    Single,
    Parallel,
    Stable,
    Unstable,
    Total,
    Numeric,
    Counted,
    Unseen,
}

peers! {
    COMPARISON = comparison<R: Element> if feature = "peers";
    "std-stable" Single Stable Total Counted |r, _| r.sort_by(Element::compare);
    "std-unstable" Single Unstable Total Counted |r, _| r.sort_unstable_by(Element::compare);
    "rayon-stable" Parallel Stable Total Counted |r, _| r.par_sort_by(Element::compare);
    "rayon-unstable" Parallel Unstable Total Counted |r, _| r.par_sort_unstable_by(Element::compare);
    "glidesort" Single Stable Total Counted |r, _| glidesort::sort_by(r, Element::compare);
}

peers! {
    RADIX = radix<R: RadixElement> if feature = "peers";
    "rdst" Parallel Unstable Total Counted |r, _| r.radix_sort_unstable();
    "rdst-low-memory" Parallel Unstable Total Counted |r, _| {
        r.radix_sort_builder().with_low_mem_tuner().sort()
    };
    "rdst-single" Single Unstable Total Counted |r, _| {
        r.radix_sort_builder().with_single_threaded_tuner().with_parallel(false).sort()
    };
    "voracious" Single Unstable Numeric Counted |r, _| Voracious::voracious_sort(r);
    "voracious-stable" Single Stable Numeric Counted |r, _| Voracious::voracious_stable_sort(r);
    "voracious-mt" Parallel Unstable Numeric Counted |r, n| Voracious::voracious_mt_sort(r, n);
    "radsort" Single Stable Total Counted |r, _| radsort::sort_by_key(r, Element::key);
}

peers! {
    VECTOR = vector<R: vqsort_rs::VqsortItem> if feature = "peer-vqsort";
    "vqsort" Single Unstable Numeric Unseen |r, _| vqsort_rs::sort(r);
}

#[cfg(feature = "peers")]
use rayon::slice::ParallelSliceMut;
#[cfg(feature = "peers")]
use rdst::RadixSort as _;
#[cfg(feature = "peers")]
use voracious_radix_sort::RadixSort as Voracious;

/// What a comparison sort sorts.
#[cfg(feature = "peers")]
trait Element: Copy + Send + Sync {
    /// The key's type.
    type Key: Sample;
    /// The key.
    fn key(&self) -> Self::Key;
    /// By key, floats by `total_cmp`.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        sweepsort_testkit::Ordered::natural(&self.key(), &other.key())
    }
}

/// What the radix sorting crates sort.
#[cfg(feature = "peers")]
trait RadixElement:
    Element<Key: radsort::Key + voracious_radix_sort::RadixKey>
    + rdst::RadixKey
    + voracious_radix_sort::Radixable<<Self as Element>::Key>
{
}

#[cfg(feature = "peers")]
impl<R> RadixElement for R where
    R: Element<Key: radsort::Key + voracious_radix_sort::RadixKey>
        + rdst::RadixKey
        + voracious_radix_sort::Radixable<<R as Element>::Key>
{
}

#[cfg(feature = "peers")]
impl<K: Sample> Element for K {
    type Key = K;
    fn key(&self) -> K {
        *self
    }
}

#[cfg(feature = "peers")]
impl<K: Sample, V: Value> Element for Pair<K, V> {
    type Key = K;
    fn key(&self) -> K {
        self.key
    }
}

#[cfg(feature = "peers")]
impl<K: rdst::RadixKey, V> rdst::RadixKey for Pair<K, V> {
    const LEVELS: usize = K::LEVELS;
    fn get_level(&self, level: usize) -> u8 {
        self.key.get_level(level)
    }
}

impl<K: PartialEq, V> PartialEq for Pair<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: PartialOrd, V> PartialOrd for Pair<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.key.partial_cmp(&other.key)
    }
}

/// Which families of peers sort a key type, alone and in pairs. A sort is compiled once for each
/// type of record, and these are large: so signed, narrow and rare types have fewer.
macro_rules! contested {
    ($($key:ty: $($family:ident)*, pairs $($pairs:ident)*;)*) => {$(
        impl Contested for $key {
            fn key_peers() -> Vec<Peer<Self>> {
                #[allow(unused_mut)]
                let mut peers = Vec::new();
                $(contested!(@add peers $family);)*
                peers
            }
            fn pair_peers<V: Value>() -> Vec<Peer<Pair<Self, V>>> {
                #[allow(unused_mut)]
                let mut peers = Vec::new();
                $(contested!(@add peers $pairs);)*
                peers
            }
        }
        $(contested!(@pair $key, $pairs);)*
    )*};
    (@add $peers:ident vector) => {
        #[cfg(feature = "peer-vqsort")]
        $peers.extend(vector());
    };
    (@add $peers:ident $family:ident) => {
        #[cfg(feature = "peers")]
        $peers.extend($family());
    };
    (@pair $key:ty, radix) => {
        #[cfg(feature = "peers")]
        impl<V: Value> voracious_radix_sort::Radixable<$key> for Pair<$key, V> {
            type Key = $key;
            fn key(&self) -> $key {
                self.key
            }
        }
    };
    (@pair $key:ty, comparison) => {};
}
contested! {
    u8: comparison radix, pairs;
    u16: comparison radix vector, pairs;
    u32: comparison radix vector, pairs comparison radix;
    u64: comparison radix vector, pairs comparison radix;
    u128: comparison radix vector, pairs;
    i8: comparison, pairs;
    i16: comparison vector, pairs;
    i32: comparison radix vector, pairs;
    i64: comparison radix vector, pairs;
    i128: comparison, pairs;
    half::f16: comparison, pairs;
    half::bf16: comparison, pairs;
    f32: comparison radix vector, pairs;
    f64: comparison radix vector, pairs;
    bool: comparison, pairs;
}
