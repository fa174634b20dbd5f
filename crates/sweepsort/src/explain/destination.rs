//! Where keys go: each algorithm's rule, written out with a key's numbers.

use std::fmt::Write;

use sweepsort_core::Word;
use sweepsort_twin::Algorithm;

use super::{Pass, Role, Scatter, Tracing};

/// Terms of a sum with their signs.
struct Sum(Vec<(char, usize)>);

impl Sum {
    fn of(first: usize) -> Sum {
        Sum(vec![('+', first)])
    }

    fn plus(mut self, term: usize) -> Sum {
        self.0.push(('+', term));
        self
    }

    fn minus(mut self, term: usize) -> Sum {
        self.0.push(('−', term));
        self
    }

    /// `1 − 0 + 4 = 5`, or `5` alone.
    fn text(&self, total: usize) -> String {
        let mut text = String::new();
        for (i, (sign, term)) in self.0.iter().enumerate() {
            let done = match i {
                0 => write!(text, "{term}"),
                _ => write!(text, " {sign} {term}"),
            };
            done.expect("a string takes all");
        }
        match self.0.len() {
            1 => text,
            _ => format!("{text} = {total}"),
        }
    }
}

impl Tracing<'_> {
    /// How the keys of a pass get their destinations, where it scatters them.
    pub(super) fn scatter(&self, pass: &Pass) -> Option<Scatter> {
        let digits = pass.digits.as_ref()?;
        let stage = |name: &str| {
            let stage = pass.stages.iter().find(|stage| stage.name == name);
            stage.map_or(&[][..], |stage| &stage.values)
        };
        let sorted_blocks = self.algorithm == Algorithm::BlockHistogram;
        let from = match sorted_blocks {
            true => stage("sorted").to_vec(),
            false => pass.before.clone(),
        };
        // Block by block sorted, the digits stand in another order.
        let digit_of = |i: usize| {
            let at = pass.before.iter().position(|&position| position == from[i]);
            digits[at.expect("a pass keeps its keys")]
        };
        let digits: Vec<usize> = match sorted_blocks {
            true => (0..from.len()).map(digit_of).collect(),
            false => digits.clone(),
        };
        let out = &pass
            .stages
            .iter()
            .rfind(|stage| stage.role == Role::Keys)?
            .values;
        let mut places = vec![0; out.len()];
        let mut place_of = vec![0; self.keys.len()];
        for (place, &position) in out.iter().enumerate() {
            place_of[position] = place;
        }
        for (place, &position) in places.iter_mut().zip(&from) {
            *place = place_of[position];
        }

        let block = self.options.block;
        let radix = match (&pass.bits, self.options.base) {
            (Some(bits), _) => 1 << bits.len(),
            (None, base) => base.unwrap_or(2) as usize,
        };
        let blocks = from.len().div_ceil(block);
        let (rule, sum): (&str, Box<dyn Fn(usize) -> Sum + '_>) = match self.algorithm {
            Algorithm::CountingLsd => {
                let offsets = stage("offsets");
                let places = &places;
                (
                    "offsets[digit] + rank",
                    Box::new(move |i| {
                        let offset = offsets[digits[i]];
                        Sum::of(offset).plus(places[i] - offset)
                    }),
                )
            }
            Algorithm::Split => {
                let (f, total) = (stage("f"), stage("totalFalses"));
                (
                    "bit 0: f; bit 1: i − f + totalFalses",
                    Box::new(move |i| match digits[i] {
                        0 => Sum::of(f[i]),
                        _ => Sum::of(i).minus(f[i]).plus(total[0]),
                    }),
                )
            }
            Algorithm::FourWay => {
                let scans: Vec<&[usize]> =
                    (0..radix).map(|k| stage(&format!("scan_{k}"))).collect();
                let n = from.len();
                (
                    "scan_digit[i] + totals of the smaller digits",
                    Box::new(move |i| {
                        let own = Sum::of(scans[digits[i]][i]);
                        (0..digits[i]).fold(own, |sum, k| sum.plus(scans[k][n]))
                    }),
                )
            }
            Algorithm::BlockHistogram => {
                let (l, g) = (stage("L"), stage("G"));
                (
                    "i − L[block][digit] + G[block][digit], i within the sorted block",
                    Box::new(move |i| {
                        let at = i / block * radix + digits[i];
                        Sum::of(i % block).minus(l[at]).plus(g[at])
                    }),
                )
            }
            Algorithm::Coalesced => {
                let (before, offsets) = (stage("before"), stage("offsets"));
                (
                    match radix {
                        2 => {
                            "offsets[digit][block] + before; bit 0: offsets + i − before, i within the block"
                        }
                        _ => "offsets[digit][block] + before",
                    },
                    Box::new(move |i| {
                        let sum = Sum::of(offsets[digits[i] * blocks + i / block]);
                        match (radix, digits[i]) {
                            (2, 0) => sum.plus(i % block).minus(before[i]),
                            _ => sum.plus(before[i]),
                        }
                    }),
                )
            }
            Algorithm::Onesweep => {
                let bases = stage("bases");
                let places = &places;
                (
                    "bases[tile][digit] + rank within the tile",
                    Box::new(move |i| {
                        let base = bases[i / block * radix + digits[i]];
                        Sum::of(base).plus(places[i].wrapping_sub(base))
                    }),
                )
            }
            Algorithm::Hybrid => {
                let offsets = stage("offsets");
                let buckets = self.buckets(pass);
                let places = &places;
                (
                    "the bucket's begin + offsets[digit] + rank; keys of small buckets stay",
                    Box::new(move |i| {
                        let own = buckets.iter().position(|bucket| bucket.contains(&i));
                        let Some(row) = own else { return Sum::of(i) };
                        let (start, offset) =
                            (buckets[row].start, offsets[row * radix + digits[i]]);
                        Sum::of(start).plus(offset).plus(places[i] - start - offset)
                    }),
                )
            }
            Algorithm::TileMerge => return None,
        };
        let sums = (!self.options.break_stability).then(|| {
            let all = places.iter().enumerate();
            all.map(|(i, &place)| sum(i).text(place)).collect()
        });
        drop(sum);
        Some(Scatter {
            from,
            stage: sorted_blocks.then_some("sorted"),
            places,
            rule,
            sums,
        })
    }

    /// The buckets that a pass of `hybrid` partitions: stretches of keys that agree in all bits
    /// above the pass's digit, and are larger than a block.
    fn buckets(&self, pass: &Pass) -> Vec<std::ops::Range<usize>> {
        let above = pass.bits.as_ref().map_or(0, |bits| bits.end);
        let prefix = |i: usize| {
            let code = self.keys[pass.before[i]].code;
            let below_end = code & u128::mask(&self.options.bits);
            below_end.checked_shr(above).unwrap_or(0)
        };
        let mut buckets = Vec::new();
        let mut start = 0;
        for end in 1..=pass.before.len() {
            if end == pass.before.len() || prefix(end) != prefix(start) {
                if end - start > self.options.block {
                    buckets.push(start..end);
                }
                start = end;
            }
        }
        buckets
    }
}
