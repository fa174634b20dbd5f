//! The twins as an engine, so that whole files can be sorted by them.

use std::borrow::Cow;
use std::time::Instant;

use sweepsort_core::{
    Codec, Coder, Digit, Engine, Error, IndexMut, Plan, Report, Result, Shape, Spec, Stage, Task,
    ValuesMut, Word, same_length, with_width, with_words,
};

use crate::{Algorithm, Options, Payload, Record, Trace, run};

/// Sorts by the twin that [`Spec::algorithm`] names, on one thread. It is for learning and for
/// comparing, not for speed; its scratch is several times the keys.
#[derive(Clone, Debug, Default)]
pub struct TwinEngine {
    /// Bits of a digit, where the algorithm leaves a choice; `None` for the algorithm's own.
    pub radix_bits: Option<u32>,
    /// Records of a block or tile; `None` for the algorithm's own.
    pub block: Option<usize>,
}

impl Engine for TwinEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn algorithms(&self) -> &'static [&'static str] {
        Algorithm::NAMES
    }

    fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
        let algorithm = self.algorithm(spec)?;
        let options = with_width!(shape.width, |W| self.options::<W>(algorithm, spec)?);
        let record = shape.width.bytes() + shape.payload_bytes;
        Ok(Plan {
            engine: self.name(),
            algorithm: algorithm.name(),
            digits: match algorithm {
                // Its passes are merges.
                Algorithm::TileMerge => Vec::new(),
                _ => Digit::cover(options.bits.clone(), options.radix_bits),
            },
            // Records, their copy, and arrays of machine words beside them.
            workspace_bytes: shape
                .keys
                .saturating_mul(2 * record + arrays(algorithm, &options) * size_of::<usize>()),
            threads: 1,
        })
    }

    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        let start = Instant::now();
        let keys = task.shape().keys;
        let mut trace = Trace::off();
        let trace = &mut trace;
        let plan = self.plan(&task.shape(), spec)?;
        // The twins allocate as they go; that there is room for it is asked here.
        drop(room::<u8>(plan.workspace_bytes)?);
        match task {
            Task::Keys(keys) => {
                with_words!(WordsMut, keys, |keys| self.sort_keys(keys, spec, trace)?)
            }
            Task::Pairs(keys, values) => {
                same_length(keys.len(), values.len(), "values")?;
                with_words!(WordsMut, keys, |keys| self
                    .sort_pairs(keys, values, spec, trace)?);
            }
            Task::Argsort(keys, index) => {
                same_length(keys.len(), index.len(), "index entries")?;
                let order = with_words!(Words, keys, |keys| self.order(keys, spec, trace)?);
                match index {
                    IndexMut::U64(index) => index.copy_from_slice(&order),
                    IndexMut::U32(index) => {
                        index
                            .iter_mut()
                            .zip(order)
                            .for_each(|(to, from)| *to = from as u32);
                    }
                }
            }
            _ => {
                return Err(Error::Unsupported {
                    engine: self.name(),
                    what: "this kind of task".into(),
                    instead: "keys, pairs or argsort".into(),
                });
            }
        }
        let (passes, by_digit) = trace.began();
        let (run, possible) = match plan.digits.is_empty() {
            true => (passes, passes),
            false => (by_digit, plan.digits.len()),
        };
        Ok(Report {
            engine: plan.engine,
            algorithm: plan.algorithm,
            reason: Cow::Borrowed("asked for"),
            keys,
            threads: 1,
            passes_possible: possible as u32,
            passes_run: run as u32,
            workspace_bytes: plan.workspace_bytes,
            stages: vec![(Stage::Local, start.elapsed())],
            ..Report::default()
        })
    }
}

impl TwinEngine {
    /// Whether an algorithm takes this digit and block.
    ///
    /// # Errors
    /// [`Error::UnknownAlgorithm`], [`Error::Unsupported`].
    pub fn check(&self, algorithm: &str) -> Result<()> {
        let spec = Spec {
            codec: Codec::UNSIGNED,
            bits: 0..u128::BITS,
            stable: true,
            algorithm: Cow::Owned(algorithm.to_owned()),
        };
        self.options::<u128>(self.algorithm(&spec)?, &spec)?;
        Ok(())
    }

    fn algorithm(&self, spec: &Spec) -> Result<Algorithm> {
        Algorithm::named(&spec.algorithm).ok_or_else(|| Error::UnknownAlgorithm {
            engine: self.name(),
            name: spec.algorithm.to_string(),
            known: self.algorithms().join(", "),
        })
    }

    fn options<W: Word>(&self, algorithm: Algorithm, spec: &Spec) -> Result<Options> {
        let own = Options::of::<W>(algorithm);
        let options = Options {
            bits: spec.bits.clone(),
            radix_bits: self.radix_bits.unwrap_or(own.radix_bits),
            block: self.block.unwrap_or(own.block),
            ..own
        };
        options.check::<W>(algorithm)?;
        Ok(options)
    }

    /// The records of the words' codes, sorted; each carries what `payload` makes of its position.
    fn sorted<W: Word, P: Payload>(
        &self,
        words: &[W],
        spec: &Spec,
        trace: &mut Trace,
        payload: impl Fn(usize) -> P,
    ) -> Result<Vec<Record<W, P>>> {
        let algorithm = self.algorithm(spec)?;
        let options = self.options::<W>(algorithm, spec)?;
        let coder: Coder<W> = spec.codec.coder();
        let mut records = room(words.len())?;
        records.extend(words.iter().enumerate().map(|(position, &word)| Record {
            code: coder.encode(word),
            payload: payload(position),
        }));
        run(algorithm, &mut records, &options, trace)?;
        Ok(records)
    }

    /// The positions of the words in sorted order.
    fn order<W: Word>(&self, words: &[W], spec: &Spec, trace: &mut Trace) -> Result<Vec<u64>> {
        let records = self.sorted(words, spec, trace, |position| position as u64)?;
        Ok(records.into_iter().map(|record| record.payload).collect())
    }

    fn sort_keys<W: Word>(&self, keys: &mut [W], spec: &Spec, trace: &mut Trace) -> Result<()> {
        if spec.codec.ties {
            // Codes cannot be turned back, so the keys themselves are moved.
            let order = self.order(keys, spec, trace)?;
            return permute(keys, &order);
        }
        let coder: Coder<W> = spec.codec.coder();
        let records = self.sorted(keys, spec, trace, |_| ())?;
        keys.iter_mut()
            .zip(records)
            .for_each(|(key, record)| *key = coder.decode(record.code));
        Ok(())
    }

    fn sort_pairs<W: Word>(
        &self,
        keys: &mut [W],
        mut values: ValuesMut<'_>,
        spec: &Spec,
        trace: &mut Trace,
    ) -> Result<()> {
        let order = self.order(keys, spec, trace)?;
        let (bytes, start) = (values.value_bytes(), values.as_mut_ptr());
        let mut copy = room::<u8>(order.len() * bytes)?;
        permute(keys, &order)?;
        // SAFETY: there are as many values as entries in the order, each entry is one of their
        // positions, and the copy has room for all. They are copied as bytes, so padding may be
        // uninitialised.
        unsafe {
            start.copy_to_nonoverlapping(copy.as_mut_ptr(), order.len() * bytes);
            for (to, &from) in order.iter().enumerate() {
                let from = copy.as_ptr().add(from as usize * bytes);
                from.copy_to_nonoverlapping(start.add(to * bytes), bytes);
            }
        }
        Ok(())
    }
}

/// How many arrays of a machine word a record an algorithm has at a time, at most.
fn arrays(algorithm: Algorithm, options: &Options) -> usize {
    match algorithm {
        Algorithm::CountingLsd => 0,
        Algorithm::Split => 5,
        // A flag array and a scan for each digit, the digits and the places.
        Algorithm::FourWay => 2 * (1 << options.radix_bits) + 2,
        // Matrices of a histogram for each block may be larger than the keys.
        Algorithm::BlockHistogram | Algorithm::Coalesced | Algorithm::Onesweep => {
            3 + 5 * (1usize << options.radix_bits).div_ceil(options.block)
        }
        // A merge compares (code, position, record), with guards.
        Algorithm::TileMerge => 8,
        Algorithm::Hybrid => 4,
    }
}

/// Moves `words[order[i]]` to `words[i]`.
fn permute<W: Word>(words: &mut [W], order: &[u64]) -> Result<()> {
    let mut copy = room(words.len())?;
    copy.extend_from_slice(words);
    words
        .iter_mut()
        .zip(order)
        .for_each(|(word, &from)| *word = copy[from as usize]);
    Ok(())
}

/// An empty vector with room for `n` elements.
fn room<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(n)
        .map_err(|_| Error::OutOfMemory {
            bytes: n.saturating_mul(size_of::<T>()),
        })?;
    Ok(values)
}
