//! Explanations: what an algorithm does with a few keys, array by array.
//!
//! ```text
//! keys → words → codes ─ a twin, traced ─→ passes of stages, and beside them what a reader asks for:
//!                                          which keys stood where, their digits, what an array is,
//!                                          how each destination is summed up
//! ```
//! Keys are known by their position in the input throughout; how they look is the caller's business.
//!
//! Where the arrays are a device's, some stages may be the twin's instead ([`Options::from_twin`]), and
//! [`bisect()`] finds those that do not do what the twin's do.
//!
//! ```
//! use sweepsort::explain::{Algorithm, Options, explain};
//!
//! let shown = explain(&[0u32, 5, 2, 7, 1, 3, 6, 4], &Options::of(Algorithm::FourWay))?;
//! let scan = shown.passes[0].stages.iter().find(|stage| stage.name == "scan_0").unwrap();
//! assert_eq!(scan.values, [0, 1, 1, 1, 1, 1, 1, 1, 2]);
//! assert_eq!(shown.output, [0, 4, 2, 5, 7, 1, 6, 3]);
//! # Ok::<(), sweepsort::Error>(())
//! ```

/// Runs one generic expression with keys of type `K` as words, in their own width or the next.
macro_rules! with_keys {
    ($K:ty, $keys:expr, |$words:ident| $body:expr) => {{
        use sweepsort_core::{Error, Width, Word, with_width, with_words};
        match (<$K>::words($keys), Width::holding(<$K>::BITS)) {
            (Some(words), _) => with_words!(Words, words, |$words| $body),
            (None, Some(width)) => with_width!(width, |W| {
                let $words: Vec<W> = $keys.iter().map(|key| W::truncate(key.bits())).collect();
                let $words = &$words[..];
                $body
            }),
            (None, None) => Err(Error::Unsupported {
                engine: "cpu",
                what: format!("explanations of {}-bit keys", <$K>::BITS),
                instead: "keys of up to 128 bits".into(),
            }),
        }
    }};
}

mod bisect;
#[cfg(feature = "cuda")]
mod compare;
mod destination;
#[cfg(feature = "cuda")]
mod device;
mod stage;
#[cfg(feature = "cuda")]
mod staged;

use std::ops::Range;

use sweepsort_core::{Choice, Codec, Coder, Digit, Error, Nan, Order, RadixKey, Result, Word};
use sweepsort_twin::{self as twin, Record, Trace};

pub use bisect::{Bisection, Difference, Entry, bisect, take_each};
pub use stage::{Detail, Role, Rows, Stage, Tile};
pub use sweepsort_core::Kind;
pub use sweepsort_twin::onesweep::{Does, Event, State};
pub use sweepsort_twin::scan::{ScanSteps, Sweeps};
pub use sweepsort_twin::{Algorithm, Network};

/// Keys of a block, unless the caller says otherwise: few enough for several blocks to be seen.
pub const BLOCK: usize = 4;

/// What to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// Smallest or largest first.
    pub order: Order,
    /// Where NaNs go.
    pub nan: Nan,
    /// Which bits of the codes to sort by. Unless given: from 0 to the highest one in which any key
    /// differs from zero, rounded up to whole digits, for those above change nothing.
    pub bits: Option<Range<u32>>,
    /// Bits of a digit; unless given 2, or 1 where the algorithm goes bit by bit.
    pub radix_bits: Option<u32>,
    /// Instead of bits, digits of the code written in this base; `counting-lsd` alone.
    pub base: Option<u32>,
    /// Keys of a block or tile; [`BLOCK`] unless given.
    pub block: Option<usize>,
    /// Picks the schedule of the tiles of `onesweep`.
    pub seed: u64,
    /// Turns equal digits round in each pass, to show why LSD radix sort must be stable.
    pub break_stability: bool,
    /// Where the arrays come from: the twin, or with [`Choice::Cuda`] the device itself, for keys of
    /// 32 and 64 bits.
    pub engine: Choice,
    /// Where the arrays come from a device: the names of those that the twin makes instead, of the
    /// device's arrays before them, in every pass. The device goes on with what the twin made. Arrays
    /// that a device makes and uses within one kernel cannot be among them.
    pub from_twin: Vec<String>,
}

impl Options {
    /// An algorithm with all else at its default.
    pub fn of(algorithm: Algorithm) -> Options {
        Options {
            algorithm,
            order: Order::Ascending,
            nan: Nan::Total,
            bits: None,
            radix_bits: None,
            base: None,
            block: None,
            seed: 0,
            break_stability: false,
            engine: Choice::Auto,
            from_twin: Vec::new(),
        }
    }
}

/// What an algorithm did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// What the keys' words are.
    pub kind: Kind,
    /// How many bits a key has.
    pub width: u32,
    /// Smallest or largest first.
    pub order: Order,
    /// Where NaNs go.
    pub nan: Nan,
    /// Which bits of the codes were sorted by.
    pub bits: Range<u32>,
    /// Bits of a digit.
    pub radix_bits: u32,
    /// The base of the digits, where they are not bits.
    pub base: Option<u32>,
    /// Keys of a block or tile.
    pub block: usize,
    /// What picked the schedule of `onesweep`.
    pub seed: u64,
    /// Whether equal digits were turned round.
    pub break_stability: bool,
    /// The keys in input order.
    pub keys: Vec<Key>,
    /// The passes in the order in which they ran.
    pub passes: Vec<Pass>,
    /// The keys' positions in the order in which they ended.
    pub output: Vec<usize>,
    /// Whether they ended in order.
    pub sorted: bool,
}

/// A key's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// As they are in memory.
    pub word: u128,
    /// As they are sorted: compared as unsigned numbers, codes stand in the wanted order.
    pub code: u128,
}

/// One pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Which digit it sorts by, counted from 0 in the order of the passes; `None` for a pass that
    /// sorts by no digit: histograms of all digits, tiles sorted whole, a merge, local sorts.
    pub digit: Option<usize>,
    /// The digit's bits; `None` also for a digit of a base.
    pub bits: Option<Range<u32>>,
    /// The keys' positions in the order in which the pass finds them.
    pub before: Vec<usize>,
    /// Their digits, where there is one.
    pub digits: Option<Vec<usize>>,
    /// The arrays, in the order in which they are made.
    pub stages: Vec<Stage>,
    /// How the destinations are found, where the pass scatters.
    pub scatter: Option<Scatter>,
}

/// How the keys of an array get their destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// The keys scattered, by position: the pass's `before`, or a stage in which blocks are sorted.
    pub from: Vec<usize>,
    /// The name of the stage they come from; `None` for the pass's `before`.
    pub stage: Option<&'static str>,
    /// Where each goes.
    pub places: Vec<usize>,
    /// The rule, in the names of the stages.
    pub rule: &'static str,
    /// The rule with each key's numbers: `1 − 0 + 4 = 5`. `None` where stability was broken, and
    /// the rule with it.
    pub sums: Option<Vec<String>>,
}

/// Shows what an algorithm does with these keys.
///
/// Time and memory: a multiple of the keys for every pass and stage. It is meant for as many keys
/// as a person looks at.
///
/// # Errors
/// [`Error::BitRange`]; [`Error::Unsupported`] for parameters that the algorithm does not take, and
/// keys of more than 128 bits.
pub fn explain<K: RadixKey>(keys: &[K], options: &Options) -> Result<Explanation> {
    with_keys!(K, keys, |words| {
        let input = Input::new(words, K::KIND, K::BITS, options)?;
        explain_input(&input, options)
    })
}

/// Keys and what is done with them, every choice made.
struct Input<'a, W> {
    words: &'a [W],
    codes: Vec<W>,
    kind: Kind,
    width: u32,
    options: twin::Options,
}

impl<'a, W: Word> Input<'a, W> {
    fn new(words: &'a [W], kind: Kind, width: u32, options: &Options) -> Result<Self> {
        let codec = Codec::for_keys(kind, options.order, options.nan);
        let coder: Coder<W> = codec.coder();
        let mask = W::mask(&(0..width));
        let codes: Vec<W> = words.iter().map(|&w| coder.encode(w) & mask).collect();
        let algorithm = options.algorithm;
        let radix_bits = options
            .radix_bits
            .unwrap_or_else(|| algorithm.defaults().0.min(2));
        let whole = match (&options.bits, options.base) {
            (Some(bits), _) => bits.clone(),
            (None, Some(_)) => 0..W::BITS,
            (None, None) => {
                let zero = coder.encode(W::ZERO) & mask;
                0..used_bits(&codes, zero)
                    .next_multiple_of(radix_bits.max(1))
                    .min(width)
            }
        };
        if whole.start > whole.end || options.base.is_none() && whole.end > width {
            return Err(Error::BitRange {
                start: whole.start,
                end: whole.end,
                bits: width,
            });
        }
        let options = twin::Options {
            bits: whole,
            radix_bits,
            base: options.base,
            block: options.block.unwrap_or(BLOCK),
            seed: options.seed,
            break_stability: options.break_stability,
        };
        options.check::<W>(algorithm)?;
        Ok(Input {
            words,
            codes,
            kind: codec.kind,
            width,
            options,
        })
    }

    /// What the twin does: its passes, and the keys' positions in the order in which they ended.
    fn by_twin(&self, algorithm: Algorithm) -> Result<(Vec<twin::Pass>, Vec<usize>)> {
        let record = |(&code, payload)| Record { code, payload };
        let mut records: Vec<Record<W, u64>> = self.codes.iter().zip(0..).map(record).collect();
        let mut trace = Trace::on();
        twin::run(algorithm, &mut records, &self.options, &mut trace)?;
        let order = records.iter().map(|record| record.payload as usize);
        Ok((trace.into_passes(), order.collect()))
    }
}

fn explain_input<W: Word>(input: &Input<'_, W>, options: &Options) -> Result<Explanation> {
    let algorithm = options.algorithm;
    let (traced, output) = match options.engine {
        Choice::Auto | Choice::Cpu if !options.from_twin.is_empty() => {
            return Err(Error::Unsupported {
                engine: "cpu",
                what: "taking stages from the twin, for all are the twin's".into(),
                instead: "engine cuda".into(),
            });
        }
        Choice::Auto | Choice::Cpu => input.by_twin(algorithm)?,
        #[cfg(feature = "cuda")]
        Choice::Cuda => {
            let job = device::Job::new(algorithm, &input.options)?;
            job.can_take(input.codes.len(), &options.from_twin)?;
            let runner = crate::devices::open_cuda()?;
            job.explained(&runner, &input.codes, &options.from_twin)?
        }
        #[cfg(not(feature = "cuda"))]
        Choice::Cuda => return Err(crate::devices::no_cuda()),
        Choice::Wgpu => return Err(not_by_wgpu()),
    };
    let chosen = &input.options;
    let bits = chosen.bits.start..chosen.bits.end.min(input.width);
    let sorted_by = W::mask(&bits);
    let code = |&position: &usize| input.codes[position] & sorted_by;
    let keys: Vec<Key> = (input.words.iter().zip(&input.codes))
        .map(|(word, code)| Key {
            word: word.widen(),
            code: code.widen(),
        })
        .collect();
    Ok(Explanation {
        algorithm,
        kind: input.kind,
        width: input.width,
        order: options.order,
        nan: options.nan,
        bits,
        radix_bits: chosen.radix_bits,
        base: options.base,
        block: chosen.block,
        seed: chosen.seed,
        break_stability: chosen.break_stability,
        passes: passes(algorithm, traced, &keys, chosen),
        keys,
        sorted: output.is_sorted_by_key(code),
        output,
    })
}

/// The wgpu engine's sort is no classic, and shows no arrays.
fn not_by_wgpu() -> Error {
    Error::Unsupported {
        engine: "wgpu",
        what: "showing the arrays of its stages".into(),
        instead: "engine cuda, or cpu for the twin's".into(),
    }
}

/// One past the highest bit in which a code differs from that of zero; 1 at least.
fn used_bits<W: Word>(codes: &[W], zero: W) -> u32 {
    let differing = codes.iter().map(|&code| code ^ zero);
    let highest = differing.max().unwrap_or(W::ZERO);
    (W::BITS - highest.leading_zeros()).max(1)
}

/// The passes of a trace over all keys.
fn passes(
    algorithm: Algorithm,
    traced: Vec<twin::Pass>,
    keys: &[Key],
    options: &twin::Options,
) -> Vec<Pass> {
    let from = (0..keys.len()).collect();
    Tracing {
        algorithm,
        keys,
        options,
    }
    .passes(traced, from)
}

/// What the passes of a trace are read against.
#[derive(Clone, Copy)]
struct Tracing<'a> {
    algorithm: Algorithm,
    keys: &'a [Key],
    options: &'a twin::Options,
}

impl Tracing<'_> {
    /// The passes of a trace that begins with these keys.
    fn passes(&self, traced: Vec<twin::Pass>, mut before: Vec<usize>) -> Vec<Pass> {
        let mut digits_seen = 0;
        let mut passes = Vec::with_capacity(traced.len());
        for pass in traced {
            let sorts = pass.digit.is_some() || self.options.base.is_some();
            let digit = sorts.then_some(digits_seen);
            digits_seen += usize::from(sorts);
            let digits = digit.map(|number| self.digits(&before, pass.digit, number));
            let stages: Vec<Stage> = pass
                .stages
                .into_iter()
                .map(|stage| self.stage(stage, pass.digit, &before))
                .collect();
            let last = stages.iter().rfind(|stage| stage.role == Role::Keys);
            let after = last.map_or_else(|| before.clone(), |stage| stage.values.clone());
            let mut pass = Pass {
                digit,
                bits: pass.digit.map(Digit::range),
                before: std::mem::replace(&mut before, after),
                digits,
                stages,
                scatter: None,
            };
            pass.scatter = self.scatter(&pass);
            passes.push(pass);
        }
        passes
    }

    /// The digit of each key of an array; the pass's number is that of its digit where digits are
    /// those of a base.
    fn digits(&self, positions: &[usize], digit: Option<Digit>, number: usize) -> Vec<usize> {
        let of = |code: u128| match (digit, self.options.base) {
            (Some(digit), _) => digit.of(code),
            (None, base) => {
                let base = u128::from(base.unwrap_or(2));
                (code / base.pow(number as u32) % base) as usize
            }
        };
        positions.iter().map(|&p| of(self.keys[p].code)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the algorithm and the keys: passes hand keys on, sums come to their places, and the
    /// output is in order.
    #[test]
    fn explanations_hold_together() {
        let keys: Vec<i16> = (0..37).map(|i| i * 131 % 211 - 100).collect();
        for &algorithm in Algorithm::ALL {
            for order in [Order::Ascending, Order::Descending] {
                for (n, block) in [(0, 4), (1, 4), (7, 4), (16, 4), (37, 8), (37, 64)] {
                    let options = Options {
                        order,
                        block: Some(block),
                        ..Options::of(algorithm)
                    };
                    let case = format!("{} of {n} keys, {order}, {block}", algorithm.name());
                    let shown = explain(&keys[..n], &options).unwrap();
                    assert!(shown.sorted, "{case}");
                    let mut expected: Vec<usize> = (0..n).collect();
                    expected.sort_by_key(|&i| match order {
                        Order::Ascending => keys[i],
                        Order::Descending => -keys[i],
                    });
                    assert_eq!(shown.output, expected, "{case}");
                    let mut found: Vec<usize> = (0..n).collect();
                    for pass in &shown.passes {
                        assert_eq!(pass.before, found, "{case}");
                        let keys = |stage: &&Stage| stage.role == Role::Keys;
                        if let Some(stage) = pass.stages.iter().rfind(keys) {
                            found.clone_from(&stage.values);
                        }
                        let Some(scatter) = &pass.scatter else {
                            continue;
                        };
                        for (i, &place) in scatter.places.iter().enumerate() {
                            assert_eq!(scatter.from[i], found[place], "{case}");
                        }
                        for (sum, place) in scatter.sums.iter().flatten().zip(&scatter.places) {
                            assert_eq!(sum_up(sum), *place as i64, "{case}: {sum}");
                        }
                    }
                    assert_eq!(shown.output, found, "{case}");
                }
            }
        }
    }

    /// The sum of a text such as `1 − 0 + 4 = 5`, which must be what it says.
    fn sum_up(text: &str) -> i64 {
        let (terms, sum) = text.split_once(" = ").unwrap_or((text, text));
        let mut sign = 1;
        let mut total = 0;
        for word in terms.split(' ') {
            match word {
                "+" => sign = 1,
                "−" => sign = -1,
                number => total += sign * number.parse::<i64>().unwrap(),
            }
        }
        assert_eq!(sum.parse(), Ok(total), "{text}");
        total
    }

    #[test]
    fn bits_end_where_keys_do() {
        let of = |options: &Options| explain(&[5u32, 1, 2], options).unwrap().bits;
        let ascending = Options::of(Algorithm::CountingLsd);
        assert_eq!(of(&ascending), 0..4);
        let descending = Options {
            order: Order::Descending,
            ..ascending
        };
        assert_eq!(of(&descending), 0..4);
        let floats = explain(&[1.5f32, -2.0], &Options::of(Algorithm::Split)).unwrap();
        assert_eq!(floats.bits, 0..32);
        assert_eq!(floats.keys[1].word, 0xc000_0000);
        assert_eq!(floats.keys[1].code, 0x3fff_ffff);
    }

    #[test]
    fn broken_stability_shows() {
        let options = Options {
            break_stability: true,
            base: Some(10),
            ..Options::of(Algorithm::CountingLsd)
        };
        let shown = explain(&[11u32, 131, 742, 9, 66, 122], &options).unwrap();
        assert!(!shown.sorted);
        assert_eq!(shown.passes[1].digit, Some(1));
        assert!(shown.passes[0].scatter.as_ref().unwrap().sums.is_none());
    }
}
