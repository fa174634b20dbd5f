//! Whether what a sort left on the card is right: by kernels, where it lies.

use bytemuck::Pod;
use sweepsort::{Nan, Order};
use sweepsort_cuda::classic::Key;
use sweepsort_cuda::{Buffer, Codec, Error, Slice};

use super::rounds::{Bench, Output};
use super::words_of;
use crate::bench::peers::Facts;
use crate::exit::Result;

impl<W: Key> Bench<'_, W> {
    /// Whether an output is in order and made of the input, and values show that ties kept theirs.
    pub(super) fn verify(&self, output: &Output<W>, facts: &Facts) -> Result<(), String> {
        let verdict = match output {
            Output::Keys(keys) => self.verify_keys(keys, facts),
            Output::Pairs(keys, values) => self.verify_pairs(keys, values, facts),
            Output::Index(index) => self.verify_index(index, facts),
        };
        verdict.map_err(words_of)?
    }

    fn verify_keys(&self, keys: &Buffer<W>, facts: &Facts) -> Result<Result<(), String>, Error> {
        if self.checks.fingerprint(keys)? != self.fingerprint {
            return Ok(Err("the keys are not those of the input".into()));
        }
        let codes = self.codes(keys, facts)?;
        Ok(in_order(
            self.checks.disorder(&codes, W::mask(&(0..W::BITS)))?,
        ))
    }

    fn verify_pairs(
        &self,
        keys: &Buffer<W>,
        values: &Buffer<u8>,
        facts: &Facts,
    ) -> Result<Result<(), String>, Error> {
        let (input, output) = match self.value_bytes {
            4 => self.fingerprints::<u32>(keys, values)?,
            8 => self.fingerprints::<u64>(keys, values)?,
            _ => self.fingerprints::<u128>(keys, values)?,
        };
        if input != output {
            return Ok(Err("the pairs are not those of the input".into()));
        }
        let codes = self.codes(keys, facts)?;
        let all = W::mask(&(0..W::BITS));
        if let Some(at) = self.checks.disorder(&codes, all)? {
            return Ok(in_order(Some(at)));
        }
        let index = self.low_words(values)?;
        Ok(stable(self.checks.unstable(&codes, &index, all)?))
    }

    fn verify_index(
        &self,
        index: &Buffer<u32>,
        facts: &Facts,
    ) -> Result<Result<(), String>, Error> {
        if !self.checks.is_permutation(index)? {
            return Ok(Err("the index does not name every key once".into()));
        }
        // What the index leads to is in order, and equal keys come by ascending positions.
        let engine = &self.card.engine;
        // SAFETY: the index is a permutation of the words' positions.
        let sorted = unsafe { engine.gather(&self.words, index, size_of::<W>())? };
        let codes = self.codes(&sorted, facts)?;
        let all = W::mask(&(0..W::BITS));
        Ok(match self.checks.disorder(&codes, all)? {
            Some(at) => in_order(Some(at)),
            None => stable(self.checks.unstable(&codes, index, all)?),
        })
    }

    /// The codes of some words; −0.0 and +0.0 have one where a contender takes them for equal.
    fn codes(&self, words: &Buffer<W>, facts: &Facts) -> Result<Buffer<W>, Error> {
        let mut codes = self.card.stream.copied(words)?;
        let codec = match facts.total {
            true => self.codec,
            false => Codec::for_records(self.codec.kind, Order::Ascending, Nan::Last),
        };
        self.card.engine.encode(&mut codes, &codec.coder())?;
        Ok(codes)
    }

    /// The fingerprints of the input's pairs, and of these.
    fn fingerprints<V: Pod>(
        &self,
        keys: &Buffer<W>,
        values: &Buffer<u8>,
    ) -> Result<(u64, u64), Error> {
        let of = |keys: &Buffer<W>, values: &Buffer<u8>| {
            let values = Slice::from(values).cast::<V>()?;
            self.checks.fingerprint_pairs(keys, values)
        };
        Ok((of(&self.words, &self.values)?, of(keys, values)?))
    }

    /// The lowest 32 bits of each value, which are its position.
    fn low_words(&self, values: &Buffer<u8>) -> Result<Buffer<u32>, Error> {
        let (stream, n) = (&self.card.stream, self.words.len());
        let mut low = stream.alloc::<u32>(n)?;
        if self.value_bytes == 4 {
            stream.copy(Slice::from(values).cast::<u32>()?, &mut low)?;
            return Ok(low);
        }
        let stride = (self.value_bytes / 4) as u32;
        let every: Vec<u32> = (0..n as u32).map(|i| i * stride).collect();
        let (engine, every) = (&self.card.engine, stream.upload(&every)?);
        // SAFETY: so many words are the values of `n` keys.
        let words = unsafe { engine.gather(values, &every, 4)? };
        stream.copy(Slice::from(&words).cast::<u32>()?, &mut low)?;
        Ok(low)
    }
}

/// What an output is that is in order but for a place.
fn in_order(disorder: Option<u64>) -> Result<(), String> {
    match disorder {
        None => Ok(()),
        Some(at) => Err(format!("the keys at {at} and {} are out of order", at + 1)),
    }
}

/// What an output is whose ties kept their order but for a place.
fn stable(unstable: Option<u64>) -> Result<(), String> {
    match unstable {
        None => Ok(()),
        Some(at) => Err(format!(
            "the equal keys at {at} and {} changed places",
            at + 1
        )),
    }
}
