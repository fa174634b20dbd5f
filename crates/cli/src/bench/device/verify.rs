//! Whether what a sort left on the card is right: the very bytes that the CPU engine's sort of the
//! same input has, compared by kernels where they lie.
//!
//! ```text
//! keys alone       the CPU's sorted keys ─┬─ output[i] = sorted[i]
//! pairs, argsort   the CPU's stable order ┴─ output[i] = input[order[i]], keys and values
//! ```
//! Of pairs whose sort need not be stable the keys are compared so, and all records by a fingerprint.
//! Some take −0.0 and +0.0 for equal. Their answer is the order of floats as numbers, ties in the
//! input's order; keys alone, too, are then compared by it.

use sweepsort::{Choice, Nan, RadixKey, Sorter};
use sweepsort_cuda::{Buffer, Error, Slice, Stream, Words};

use super::planned::with_value;
use super::rounds::{Bench, CardWord, Output};
use super::words_of;
use crate::bench::Sorted;
use crate::bench::contender::Task;
use crate::bench::peers::Facts;
use crate::exit::Result;

/// The right output of one input, on the card.
pub struct Answer {
    /// The sorted keys' bytes; `None` where the order leads to the keys in the input.
    keys: Option<Buffer<u8>>,
    /// Where the keys of the output lie: in the sorted keys, or in the input.
    order: Buffer<u32>,
}

/// The answers for floats in total order, and for floats as numbers, each made when it is needed.
pub struct Answers<'a> {
    oracle: Oracle<'a>,
    by_total: [Option<Answer>; 2],
}

/// The CPU engine, and an input's keys, whose type does not show.
pub struct Oracle<'a> {
    /// The stable order.
    order: Box<dyn Fn(Nan) -> Result<Buffer<u32>, String> + 'a>,
    /// The sorted keys' bytes.
    keys: Box<dyn Fn() -> Result<Buffer<u8>, String> + 'a>,
    keys_alone: bool,
    floats: bool,
}

impl<'a> Oracle<'a> {
    /// For keys that are machine words.
    pub fn of<K: RadixKey>(keys: &'a [K], stream: &'a Stream, what: Sorted) -> Self {
        let sorter = |nan| {
            let builder = Sorter::builder().engine(Choice::Cpu).nan(nan);
            builder.build().map_err(|error| error.to_string())
        };
        let order = move |nan| {
            let order = sorter(nan)?.argsort(keys);
            let order = order.map_err(|error| error.to_string())?;
            stream.upload(&order).map_err(words_of)
        };
        let sorted = move || {
            let mut sorted = keys.to_vec();
            let done = sorter(Nan::Total)?.sort(&mut sorted);
            done.map_err(|error| error.to_string())?;
            let words = K::words(&sorted).ok_or("the keys are no machine words")?;
            stream.upload(bytes(words)).map_err(words_of)
        };
        Oracle {
            order: Box::new(order),
            keys: Box::new(sorted),
            keys_alone: what.task == Task::Keys,
            floats: what.ty.is_float(),
        }
    }
}

fn bytes(words: Words<'_>) -> &[u8] {
    match words {
        Words::W8(words) => words,
        Words::W16(words) => bytemuck::cast_slice(words),
        Words::W32(words) => bytemuck::cast_slice(words),
        Words::W64(words) => bytemuck::cast_slice(words),
        Words::W128(words) => bytemuck::cast_slice(words),
    }
}

impl<'a> Answers<'a> {
    /// None is made yet.
    pub fn of(oracle: Oracle<'a>) -> Self {
        Answers {
            oracle,
            by_total: [None, None],
        }
    }
}

impl<W: CardWord> Bench<'_, W> {
    /// Whether an output is right.
    pub(super) fn verify(&mut self, output: &Output, facts: &Facts) -> Result<(), String> {
        let total = facts.total || !self.answers.oracle.floats;
        let at = usize::from(total);
        if self.answers.by_total[at].is_none() {
            self.answers.by_total[at] = Some(self.answer(total)?);
        }
        match &self.answers.by_total[at] {
            Some(answer) => self
                .compare(output, answer, facts.stable)
                .map_err(words_of)?,
            None => Err("there is no answer".into()),
        }
    }

    fn answer(&self, total: bool) -> Result<Answer, String> {
        let oracle = &self.answers.oracle;
        if !(total && oracle.keys_alone) {
            let nan = if total { Nan::Total } else { Nan::Last };
            let order = (oracle.order)(nan)?;
            return Ok(Answer { keys: None, order });
        }
        let keys = (oracle.keys)()?;
        let identity = || {
            let mut order = self.card.stream.alloc::<u32>(self.words.len())?;
            self.checks.positions(&mut order)?;
            Ok(order)
        };
        let order = identity().map_err(words_of)?;
        Ok(Answer {
            keys: Some(keys),
            order,
        })
    }

    fn compare(
        &self,
        output: &Output,
        answer: &Answer,
        stable: bool,
    ) -> Result<Result<(), String>, Error> {
        let (checks, order) = (&self.checks, &answer.order);
        let wrong = |what: &str, at: Option<u64>| match at {
            None => Ok(()),
            Some(at) => Err(format!(
                "the {what} at {at} is not the one that belongs there"
            )),
        };
        if let Output::Index(index) = output {
            // For an argsort the values are the positions.
            let identity = Slice::from(&self.values).cast::<u32>()?;
            let index = Slice::from(index).cast::<u32>()?;
            let at = checks.misled(order, identity, index)?;
            return Ok(wrong("index entry", at));
        }
        let (Output::Keys(keys) | Output::Pairs(keys, _) | Output::Index(keys)) = output;
        let keys = Slice::from(keys).cast::<W>()?;
        let from = match &answer.keys {
            Some(sorted) => Slice::from(sorted).cast::<W>()?,
            None => Slice::from(&self.words),
        };
        let at = checks.misled(from, order, keys)?;
        let (Output::Pairs(_, values), None) = (output, at) else {
            return Ok(wrong("key", at));
        };
        with_value!(self.value_bytes, |V| {
            let from = Slice::from(&self.values).cast::<V>()?;
            let values = Slice::from(values).cast::<V>()?;
            // Values of fewer bytes follow an index, which is stable.
            if stable || size_of::<V>() < 4 {
                return Ok(wrong("value", checks.misled(from, order, values)?));
            }
            let before = checks.fingerprint_pairs::<W, V>(&self.words, from)?;
            let same = checks.fingerprint_pairs::<W, V>(keys, values)? == before;
            Ok(same
                .then_some(())
                .ok_or_else(|| "the pairs are other pairs".to_owned()))
        })
    }
}
