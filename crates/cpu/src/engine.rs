//! The engine: tasks of any width and payload, led to the algorithm for them.

use std::borrow::Cow;

use sweepsort_core::{
    Codec, Coder, Digit, Engine, Error, Kind, Plan, Report, Result, Shape, Spec, Task, ValuesMut,
    Word, WordsMut, same_length, with_words,
};

use crate::columns::Columns;
use crate::hybrid::{self, Means, Records};
use crate::instructions::{Instructions, Machine, second_cache_bytes};
use crate::local::few;
use crate::payload::{Bytes, Fixed, Nothing, Payload};
use crate::plan::{Measure, Record};
use crate::pool::Pool;
use crate::scratch::Scratch;
use crate::{argsort, count};

/// Values of more bytes than this do not travel with their keys.
const MAX_VALUE_BYTES: usize = 16;

/// Sorts on the machine's cores. See the [crate's page](crate).
///
/// Inputs of fewer than some ten thousand keys start no threads and use none.
#[derive(Debug)]
pub struct CpuEngine {
    means: Means,
}

impl CpuEngine {
    /// An engine that keeps its scratch memory between tasks. It uses the caller's thread and
    /// `threads` - 1 of its own, started when first needed; without a number, those of the rayon pool
    /// that a call comes from, and so by default as many as there are cores.
    pub const fn new(threads: Option<usize>) -> Self {
        CpuEngine {
            means: Means {
                pool: Pool::new(threads),
                scratch: Scratch::new(true),
                instructions: None,
            },
        }
    }

    /// This engine, with other instructions than the best that the machine has: to test and to
    /// measure what other machines will have.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this machine lacks them.
    pub fn with_instructions(mut self, instructions: Instructions) -> Result<Self> {
        if instructions > Instructions::detect() {
            return Err(Error::Unsupported {
                engine: self.name(),
                what: format!("{instructions:?} on this machine"),
                instead: format!("{:?}", Instructions::detect()),
            });
        }
        self.means.instructions = Some(instructions);
        Ok(self)
    }

    /// An engine that gives its scratch memory back after each task.
    pub const fn ephemeral() -> Self {
        CpuEngine {
            means: Means {
                pool: Pool::new(None),
                scratch: Scratch::new(false),
                instructions: None,
            },
        }
    }

    /// How many threads share a large task that comes from the calling thread. Starts none.
    pub fn threads(&self) -> usize {
        self.means.pool.threads()
    }

    /// Where the workers come from.
    pub(crate) fn pool(&self) -> &Pool {
        &self.means.pool
    }

    /// Keys alone of a kind, each of which is a word, if they are so few that this engine sorts
    /// them at once: as soon as anything has been sorted, so that it is known what the machine has.
    #[inline]
    pub fn few<'a>(&self, keys: WordsMut<'a>, kind: Kind) -> Option<Few<'a>> {
        let known = Machine::known()?.instructions;
        let instructions = self.means.instructions.unwrap_or(known);
        let most = few::most(instructions, kind, keys.width().bits());
        (keys.len() <= most).then_some(Few { keys, instructions })
    }

    /// As [`run`](Engine::run); the report tells why this engine was taken. Who notes that later
    /// moves the report, which takes as long as to sort a few keys.
    ///
    /// # Errors
    /// As [`run`](Engine::run).
    pub fn run_because(
        &self,
        task: Task<'_>,
        spec: &Spec,
        reason: Cow<'static, str>,
    ) -> Result<Report> {
        let method = self.algorithm(&task.shape(), spec)?;
        match task {
            Task::Keys(keys) => {
                with_words!(WordsMut, keys, |keys| self
                    .sort_keys(keys, method, spec, reason))
            }
            // Nothing travels.
            Task::Pairs(keys, values) if values.value_bytes() == 0 => {
                same_length(keys.len(), values.len(), "values")?;
                with_words!(WordsMut, keys, |keys| self
                    .sort_keys(keys, method, spec, reason))
            }
            Task::Pairs(keys, values) => {
                with_words!(WordsMut, keys, |keys| self
                    .sort_pairs(keys, values, spec, reason))
            }
            Task::Argsort(keys, index) => {
                same_length(keys.len(), index.len(), "index entries")?;
                with_words!(Words, keys, |keys| {
                    argsort::sort(keys, index, spec, &self.means, reason)
                })
            }
            _ => Err(Error::Unsupported {
                engine: self.name(),
                what: "this kind of task".into(),
                instead: "keys, pairs or argsort".into(),
            }),
        }
    }

    /// The method for a task, by name.
    fn algorithm(&self, shape: &Shape, spec: &Spec) -> Result<Algorithm> {
        let unsupported = |what: String, instead: &str| Error::Unsupported {
            engine: self.name(),
            what,
            instead: instead.into(),
        };
        if shape.payload_bytes > MAX_VALUE_BYTES {
            return Err(unsupported(
                format!("values of {} bytes", shape.payload_bytes),
                "argsort, and move the values through the index",
            ));
        }
        let bits = shape.width.bits();
        let whole = spec.bits == (0..bits) && !spec.codec.ties;
        let countable = shape.payload_bytes == 0 && bits <= 16 && whole;
        match &*spec.algorithm {
            "auto" if countable && count::pays(shape.keys, bits) => Ok(Algorithm::Count),
            "auto" | "hybrid" => Ok(Algorithm::Hybrid),
            "count" if countable => Ok(Algorithm::Count),
            "count" => Err(unsupported(
                "counting anything but whole keys of 8 or 16 bits alone".into(),
                "hybrid",
            )),
            name => Err(Error::UnknownAlgorithm {
                engine: self.name(),
                name: name.into(),
                known: self.algorithms().join(", "),
            }),
        }
    }

    fn sort_keys<W: Word>(
        &self,
        keys: &mut [W],
        method: Algorithm,
        spec: &Spec,
        reason: Cow<'static, str>,
    ) -> Result<Report> {
        match method {
            Algorithm::Count => count::sort(keys, spec.codec.coder(), &self.means, reason),
            Algorithm::Hybrid => {
                let whole = spec.bits == (0..W::BITS) && !spec.codec.ties;
                let instructions = self.means.instructions(whole);
                let n = keys.len();
                if whole && n <= few::most(instructions, spec.codec.kind, W::BITS) {
                    let coder = spec.codec.coder();
                    // SAFETY: the machine has the instructions, and the keys are few.
                    let done = unsafe { few::sort(instructions, keys, &coder, few::alone) };
                    return Ok(hybrid::report(n, W::BITS, reason, done));
                }
                let data = Columns::new(keys.as_mut_ptr(), std::ptr::dangling_mut(), Nothing);
                // SAFETY: the slice is borrowed for this call.
                unsafe { self.sort_records(data, keys.len(), spec, !whole, reason) }
            }
        }
    }

    fn sort_pairs<W: Word>(
        &self,
        keys: &mut [W],
        mut values: ValuesMut<'_>,
        spec: &Spec,
        reason: Cow<'static, str>,
    ) -> Result<Report> {
        let (n, start, pointer) = (keys.len(), keys.as_mut_ptr(), values.as_mut_ptr());
        same_length(n, values.len(), "values")?;
        macro_rules! sort {
            ($payload:expr) => {{
                let data = Columns::new(start, pointer, $payload);
                // SAFETY: keys and values are `n` each, and borrowed for this call.
                unsafe { self.sort_records(data, n, spec, true, reason) }
            }};
        }
        match values.value_bytes() {
            4 => sort!(Fixed::<4>),
            8 => sort!(Fixed::<8>),
            16 => sort!(Fixed::<16>),
            other => sort!(Bytes(other)),
        }
    }

    /// # Safety
    /// As [`hybrid::sort`].
    unsafe fn sort_records<W: Word, P: Payload>(
        &self,
        data: Columns<W, P>,
        n: usize,
        spec: &Spec,
        strict: bool,
        reason: Cow<'static, str>,
    ) -> Result<Report> {
        let coder: Coder<W> = spec.codec.coder();
        let records = Records {
            data,
            n,
            coder,
            bits: spec.bits.clone(),
            strict,
            counts: spec.algorithm == "auto",
            reason,
        };
        // SAFETY: the caller's promise.
        unsafe { hybrid::sort(records, &self.means) }
    }
}

/// Keys that are few, for the machine's instructions.
pub struct Few<'a> {
    keys: WordsMut<'a>,
    instructions: Instructions,
}

impl Few<'_> {
    /// Sorts them by all of their bits. It does what [`CpuEngine::run`] does with them, without the
    /// time that a task takes, which is as long as sorting them.
    ///
    /// # Panics
    /// If their codes tie.
    #[inline(always)]
    pub fn sort(self, codec: &Codec, reason: &'static str) -> Report {
        let (instructions, keys) = (self.instructions, self.keys);
        // SAFETY: the machine has the instructions, and the keys are few.
        unsafe {
            match keys {
                WordsMut::W8(keys) => few::sort_8(instructions, keys, &codec.coder(), reason),
                WordsMut::W16(keys) => few::sort_16(instructions, keys, &codec.coder(), reason),
                WordsMut::W32(keys) => few::sort_32(instructions, keys, &codec.coder(), reason),
                WordsMut::W64(keys) => few::sort_64(instructions, keys, &codec.coder(), reason),
                WordsMut::W128(keys) => few::sort_128(instructions, keys, &codec.coder(), reason),
            }
        }
    }
}

/// The engine's methods.
#[derive(Clone, Copy, PartialEq)]
enum Algorithm {
    Hybrid,
    Count,
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn algorithms(&self) -> &'static [&'static str] {
        &["auto", "hybrid", "count"]
    }

    fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
        let (n, bits, threads) = (shape.keys, shape.width.bits(), self.means.pool.threads());
        let (algorithm, digits, workspace_bytes) = match self.algorithm(shape, spec)? {
            Algorithm::Count => (
                "count",
                vec![Digit { shift: 0, bits }],
                count::workspace(n, bits, threads),
            ),
            Algorithm::Hybrid => {
                let whole = shape.argsort || (spec.bits == (0..bits) && !spec.codec.ties);
                let (key, payload) = match shape.argsort {
                    true => (argsort::word(n), 0),
                    false => (shape.width.bytes(), shape.payload_bytes),
                };
                let measure = Measure {
                    n,
                    record: Record::new(self.means.instructions(whole), whole, key, payload),
                    made: shape.argsort,
                    cache: second_cache_bytes(),
                    threads,
                };
                (
                    "hybrid",
                    measure.digits(spec.bits.clone()),
                    measure.workspace(),
                )
            }
        };
        Ok(Plan {
            engine: self.name(),
            algorithm,
            digits,
            workspace_bytes,
            threads,
        })
    }

    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        self.run_because(task, spec, Cow::Borrowed(""))
    }
}
