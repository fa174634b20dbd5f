//! The twin's stages, one at a time: each of the arrays before it, wherever those come from.
//!
//! A twin runs a whole sort. Here its functions make one array when asked, out of what the pass reads
//! and of the arrays that were [put](Staged::put) in, a device's perhaps; so one stage can stand in
//! for a device's while the rest does not. Arrays that nobody put in are made in passing.
//!
//! A device's arrays can be wrong. Those that would send a key out of the array are refused.

use std::collections::BTreeMap;

use sweepsort_core::{Digit, Word};
use sweepsort_twin::scan::{array_scan, with_total};
use sweepsort_twin::{
    self as twin, Algorithm, Options, Trace, Values, bitonic, block_histogram, coalesced, four_way,
    matrix, split,
};

/// A code of any width and the key's position in the input.
type Record = twin::Record<u128, u64>;

/// A sort of which the twin makes some stages.
pub(super) struct Staged<'a> {
    algorithm: Algorithm,
    options: &'a Options,
    /// What the pass reads.
    records: Vec<Record>,
    digit: Option<Digit>,
    /// How many passes began.
    began: usize,
    /// The arrays of this pass.
    put: BTreeMap<String, Values>,
    /// The keys that were put in last, which the next pass reads.
    written: Vec<Record>,
}

impl<'a> Staged<'a> {
    /// A sort of these codes.
    pub fn new<W: Word>(algorithm: Algorithm, codes: &[W], options: &'a Options) -> Staged<'a> {
        let record = |(payload, code): (u64, &W)| Record {
            code: code.widen(),
            payload,
        };
        Staged {
            algorithm,
            options,
            records: Vec::new(),
            digit: None,
            began: 0,
            put: BTreeMap::new(),
            written: (0..).zip(codes).map(record).collect(),
        }
    }

    /// A pass begins.
    pub fn pass(&mut self, digit: Option<Digit>) {
        self.records = std::mem::take(&mut self.written);
        self.written.clone_from(&self.records);
        self.digit = digit;
        self.began += 1;
        self.put.clear();
    }

    /// This is the array of that name in this pass.
    pub fn put(&mut self, name: &str, values: &Values) {
        if let Values::Keys(keys) = values {
            self.written = records(keys);
        }
        self.put.insert(name.to_owned(), values.clone());
    }

    /// The array of that name, as the twin makes it.
    ///
    /// # Errors
    /// Which array before it is in the way.
    pub fn make(&self, name: &str) -> Result<Values, String> {
        let (stem, number) = match name.rsplit_once('_') {
            Some((stem, number)) => (stem, number.parse().unwrap_or(0)),
            None => (name, 0),
        };
        let keys = match stem {
            "out" => scatter(&self.records, &self.numbers("d")?)?,
            "B" => scatter(&self.keys("sorted")?, &self.numbers("d")?)?,
            "sorted" => {
                let by_digit = Options {
                    bits: self.digit().range(),
                    ..self.options.clone()
                };
                split::sort_tiles(&self.records, &by_digit, "sorted", &mut Trace::off())
            }
            "tiles" => split::sort_tiles(&self.records, self.options, "tiles", &mut Trace::off()),
            "reversed" => self.reversed(),
            "step" => self.step(number)?,
            _ => return self.make_numbers(name, stem, number).map(Values::Numbers),
        };
        let key = |record: &Record| (record.code, record.payload as usize);
        Ok(Values::Keys(keys.iter().map(key).collect()))
    }

    fn make_numbers(&self, name: &str, stem: &str, k: usize) -> Result<Vec<usize>, String> {
        use Algorithm::{BlockHistogram, Coalesced, FourWay, Split};
        let (radix, block) = (self.digit().radix(), self.options.block);
        let digits = || self.digits(&self.records);
        Ok(match (self.algorithm, stem) {
            (Split, "b") => digits(),
            (Split, "e") => split::falses(&digits()),
            (Split, "f") => scanned(self.numbers("e")?, block),
            (Split, "totalFalses") => {
                let last = |values: &[usize]| values.last().copied().unwrap_or(0);
                vec![last(&self.numbers("f")?) + last(&split::falses(&digits()))]
            }
            (Split, "t") => {
                let (f, total) = (self.numbers("f")?, self.numbers("totalFalses")?);
                split::true_places(rising("f", &f, usize::MAX)?, total[0])
            }
            (Split, "d") => split::places(&digits(), &self.numbers("f")?, &self.numbers("t")?),
            (FourWay, "compact") => four_way::compact(&digits(), radix).swap_remove(k),
            (FourWay, "scan") if (radix, k) == (2, 1) => {
                let zeros = self.numbers("scan_0")?;
                let places = rising("scan_0", &zeros, usize::MAX)?.iter().enumerate();
                places.map(|(i, zeros)| i - zeros).collect()
            }
            (FourWay, "scan") => with_total(&self.numbers(&format!("compact_{k}"))?, block),
            (FourWay, "d") => {
                let scans: Result<Vec<_>, _> = (0..radix)
                    .map(|k| self.numbers(&format!("scan_{k}")))
                    .collect();
                four_way::places(&digits(), &scans?)
            }
            (BlockHistogram, "H") => block_histogram::histograms(&digits(), block, radix),
            (BlockHistogram, "CT") => matrix::transpose(&self.numbers("H")?, radix),
            (BlockHistogram, "scan") => scanned(self.numbers("CT")?, block),
            (BlockHistogram, "G") => {
                let scan = self.numbers("scan")?;
                matrix::transpose(&scan, scan.len() / radix)
            }
            (BlockHistogram, "L") => block_histogram::local_offsets(&self.numbers("H")?, radix),
            (BlockHistogram, "d") => {
                let sorted = self.digits(&self.keys("sorted")?);
                let (l, g) = (self.numbers("L")?, self.numbers("G")?);
                for (b, digits) in sorted.chunks(block).enumerate() {
                    let of_keys: Vec<usize> = digits.iter().map(|&k| l[b * radix + k]).collect();
                    rising("L", &of_keys, block)?;
                }
                block_histogram::places(&sorted, &l, &g, block, radix)
            }
            (Coalesced, "digit") => digits(),
            (Coalesced, "before") => coalesced::local_buckets(&digits(), block, radix).0,
            (Coalesced, "sizes") => coalesced::local_buckets(&digits(), block, radix).1,
            (Coalesced, "offsets") => scanned(self.numbers("sizes")?, block),
            (Coalesced, "d") => {
                let (before, offsets) = (self.numbers("before")?, self.numbers("offsets")?);
                coalesced::places(&digits(), &before, &offsets, block, radix)
            }
            _ => return Err(format!("the twin has no {name}")),
        })
    }

    /// The pass's digit; without one, bit 0.
    fn digit(&self) -> Digit {
        self.digit.unwrap_or(Digit { shift: 0, bits: 1 })
    }

    fn digits(&self, records: &[Record]) -> Vec<usize> {
        let digit = self.digit();
        records.iter().map(|record| digit.of(record.code)).collect()
    }

    /// An array, put in or made.
    fn values(&self, name: &str) -> Result<Values, String> {
        match self.put.get(name) {
            Some(values) => Ok(values.clone()),
            None => self.make(name),
        }
    }

    /// An array of numbers, put in or made.
    fn numbers(&self, name: &str) -> Result<Vec<usize>, String> {
        match self.values(name)? {
            Values::Numbers(numbers) => Ok(numbers),
            Values::Keys(_) => Err(format!("{name} holds keys")),
        }
    }

    /// An array of keys, put in or made.
    fn keys(&self, name: &str) -> Result<Vec<Record>, String> {
        match self.values(name)? {
            Values::Keys(keys) => Ok(records(&keys)),
            Values::Numbers(_) => Err(format!("{name} holds no keys")),
        }
    }

    /// How long the runs are that this pass of `tile-merge` merges; its first pass makes tiles.
    fn run(&self) -> usize {
        self.options.block << self.began.saturating_sub(2)
    }

    /// Of each pair of runs the second turned round.
    fn reversed(&self) -> Vec<Record> {
        let turned = |pair: &[Record]| {
            let (first, second) = pair.split_at(self.run().min(pair.len()));
            let second = second.iter().rev();
            first.iter().chain(second).copied().collect::<Vec<_>>()
        };
        self.records
            .chunks(2 * self.run())
            .flat_map(turned)
            .collect()
    }

    /// The keys of each pair compared at the distance of this step.
    fn step(&self, number: usize) -> Result<Vec<Record>, String> {
        let before = match number.checked_sub(1) {
            None => self.keys("reversed")?,
            Some(last) => self.keys(&format!("step_{last}"))?,
        };
        let mask = u128::mask(&self.options.bits);
        let mut after = Vec::with_capacity(before.len());
        for pair in before.chunks(2 * self.run()) {
            let Some(second) = pair.len().checked_sub(self.run()).filter(|&len| len > 0) else {
                // A run without partner waits.
                after.extend_from_slice(pair);
                continue;
            };
            // Where guards stand depends on the runs' lengths alone.
            let mut guards = Vec::new();
            bitonic::merge(&vec![(); self.run()], &vec![(); second], |places| {
                guards.push(places.to_vec());
            });
            let Some(places) = guards.get(number) else {
                return Err(format!("the twin has no step_{number} in this pass"));
            };
            let mut keys = pair.iter();
            let key = |record: &Record| (record.code & mask, record.payload, record.code);
            let mut places: Vec<_> = (places.iter())
                .map(|place| place.and_then(|()| keys.next().map(key)))
                .collect();
            bitonic::compare_exchange(&mut places, self.run() >> number);
            let record = |(_, payload, code)| Record { code, payload };
            after.extend(places.into_iter().flatten().map(record));
        }
        Ok(after)
    }
}

fn records(keys: &[(u128, usize)]) -> Vec<Record> {
    let record = |&(code, position): &(u128, usize)| Record {
        code,
        payload: position as u64,
    };
    keys.iter().map(record).collect()
}

fn scanned(mut array: Vec<usize>, block: usize) -> Vec<usize> {
    array_scan(&mut array, block);
    array
}

/// An array of which entry `i` counts what stands before `i`, and so is no more than `i`; counted
/// anew every `block` entries.
fn rising<'a>(name: &str, counts: &'a [usize], block: usize) -> Result<&'a [usize], String> {
    match counts
        .iter()
        .enumerate()
        .find(|&(i, &count)| count > i % block)
    {
        None => Ok(counts),
        Some((i, count)) => Err(format!("{name} counts {count} before its place {i}")),
    }
}

/// Record `i` at `d[i]`.
fn scatter(records: &[Record], d: &[usize]) -> Result<Vec<Record>, String> {
    let mut out = records.to_vec();
    for (record, &place) in records.iter().zip(d) {
        match out.get_mut(place) {
            Some(there) => *there = *record,
            None => return Err(format!("d sends a key to {place}, beyond the last")),
        }
    }
    Ok(out)
}
