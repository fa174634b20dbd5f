//! Contenders: ours by engine and algorithm, and the peers, all to be run in one way.

use sweepsort::{Choice, Instructions, RadixKey, Report, Sorter};

use super::args::Method;
use super::input::{Pair, Value};
use super::peers::{Carried, Contested, Facts, Peer};

/// What a run answers: what went wrong.
pub type Ran = Result<(), String>;

/// The first report of several runs, of ours. Others are dropped where they are, as most callers do: to hand on one takes
/// as long as to sort ten keys.
pub type First = Option<Report>;

/// What there is to sort, besides the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Keys alone.
    Keys,
    /// Keys with values.
    Pairs,
    /// Keys, for the index that sorts them.
    Argsort,
}

type SortKeys<K> = Box<dyn Fn(&mut [K], &mut First) -> Ran + Send + Sync>;
type SortApart<K, V> = Box<dyn Fn(&mut [K], &mut [V], &mut First) -> Ran + Send + Sync>;
type FillIndex<K> = Box<dyn Fn(&[K], &mut [u32], &mut First) -> Ran + Send + Sync>;

/// How a contender sorts one stretch; the variants are the layouts of its data.
pub enum Run<K, V> {
    /// Keys alone.
    Keys(SortKeys<K>),
    /// Keys and values apart.
    Apart(SortApart<K, V>),
    /// Keys and values, or keys and index, together in records.
    Records(fn(&mut [Pair<K, V>], usize)),
    /// Keys that stay, and an index to fill.
    Index(FillIndex<K>),
}

/// One line of the coming table.
pub struct Contender<K, V> {
    /// Who it is.
    pub about: About,
    /// How it sorts.
    pub run: Run<K, V>,
}

/// What is known of a contender, whatever it sorts.
pub struct About {
    /// Its name; of ours, that of the engine comes from the first report.
    pub name: String,
    /// The engine and algorithm asked for, if it is one of ours.
    pub ours: Option<Ours>,
    /// How many threads it may use.
    pub threads: usize,
    /// Whether ties must keep their order.
    pub stable: bool,
    /// Whether floats must be in total order.
    pub total: bool,
    /// Whether its memory can be counted.
    pub counted: bool,
}

/// One of ours: what is asked of the library.
#[derive(Clone, Debug)]
pub struct Ours {
    /// The engine.
    pub engine: Choice,
    /// The algorithm and its parameters.
    pub method: Method,
    /// What follows `sweepsort-` and the engine in the contender's name; one of [`SUFFIXES`].
    pub suffix: &'static str,
}

/// Nothing, `-unstable` (pairs), `-fresh` (scratch memory not kept between sorts, as the free functions
/// have it), and the CPU engine with other instructions than the machine's best.
pub const SUFFIXES: [&str; 5] = ["", "-unstable", "-fresh", "-avx2", "-portable"];

impl Ours {
    /// The contender's name, for an engine's name.
    pub fn name(&self, engine: &str) -> String {
        format!("sweepsort-{engine}{}", self.suffix)
    }

    fn sorter(&self) -> sweepsort::Result<Sorter> {
        // The number of threads is that of the pool in which the sorter is called.
        let mut builder = Sorter::builder().engine(self.engine);
        let Method {
            algorithm,
            radix_bits,
            block,
            variant: _,
        } = &self.method;
        if let Some(name) = algorithm {
            builder = builder.algorithm(name);
        }
        if let &Some(radix_bits) = radix_bits {
            builder = builder.radix_bits(radix_bits);
        }
        if let &Some(block) = block {
            builder = builder.block(block);
        }
        builder = match self.suffix {
            "-avx2" => builder.instructions(Instructions::Avx2),
            "-portable" => builder.instructions(Instructions::Portable),
            _ => builder,
        };
        builder.build()
    }

    /// The contender for a task.
    ///
    /// # Errors
    /// An engine that is absent, an algorithm that it does not have.
    pub fn contender<K: RadixKey + 'static, V: Value>(
        &self,
        task: Task,
        threads: usize,
    ) -> sweepsort::Result<Contender<K, V>> {
        let kept = self.sorter()?;
        let name = self.name(self.engine.name());
        let ours = self.clone();
        // Where scratch is not kept, a sorter lives for one sort.
        let fresh = self.suffix == "-fresh";
        let with = move |sort: &mut dyn FnMut(&Sorter) -> sweepsort::Result<Report>,
                         first: &mut First|
              -> Ran {
            let report = if fresh {
                ours.sorter().and_then(|sorter| sort(&sorter))
            } else {
                sort(&kept)
            };
            match report {
                Ok(report) if first.is_none() => *first = Some(report),
                Ok(_) => {}
                Err(error) => return Err(error.to_string()),
            }
            Ok(())
        };
        let stable = self.suffix != "-unstable";
        let run: Run<K, V> = match task {
            Task::Keys => Run::Keys(Box::new(move |keys, first| {
                with(&mut |sorter| sorter.sort(keys), first)
            })),
            Task::Pairs if stable => Run::Apart(Box::new(move |keys, values, first| {
                with(&mut |sorter| sorter.sort_pairs(keys, values), first)
            })),
            Task::Pairs => Run::Apart(Box::new(move |keys, values, first| {
                with(
                    &mut |sorter| sorter.sort_pairs_unstable(keys, values),
                    first,
                )
            })),
            Task::Argsort => Run::Index(Box::new(move |keys, index, first| {
                with(&mut |sorter| sorter.argsort_into(keys, index), first)
            })),
        };
        let about = About {
            name,
            ours: Some(self.clone()),
            threads,
            stable,
            total: true,
            counted: true,
        };
        Ok(Contender { about, run })
    }
}

/// The peers for a task, each on as many threads as it can use.
pub fn peers<K: Contested, V: Carried>(
    task: Task,
    threads: usize,
    chosen: impl Fn(&Facts) -> bool,
) -> Vec<Contender<K, V>> {
    let contender = |facts: Facts, run| {
        let about = About {
            name: facts.name.to_owned(),
            ours: None,
            threads: if facts.parallel { threads } else { 1 },
            stable: facts.stable,
            total: facts.total,
            counted: facts.counted,
        };
        Contender { about, run }
    };
    match task {
        Task::Keys => K::key_peers()
            .into_iter()
            .filter(|peer| chosen(&peer.facts))
            .map(|Peer { facts, run }| {
                let sort = move |keys: &mut [K], _: &mut First| -> Ran {
                    run(keys, threads);
                    Ok(())
                };
                contender(facts, Run::Keys(Box::new(sort)))
            })
            .collect(),
        Task::Pairs | Task::Argsort => V::peers::<K>()
            .into_iter()
            .filter(|peer| chosen(&peer.facts))
            .map(|Peer { facts, run }| contender(facts, Run::Records(run)))
            .collect(),
    }
}
