//! A device's arrays beside the twin's, stage by stage.

use sweepsort_core::{Digit, Result, Word};
use sweepsort_twin::{self as twin, Values};

use super::device::{Job, Look, Runner};
use super::{Bisection, Difference, Entry, Input};

/// Finds the stages that differ.
pub(super) fn bisect<W: Word>(
    runner: &impl Runner,
    job: &Job<'_>,
    input: &Input<'_, W>,
) -> Result<Bisection> {
    let n = input.codes.len();
    let (passes, _) = match n {
        // The twin goes through the motions, and a device does not start.
        0 => Default::default(),
        _ => input.by_twin(job.algorithm)?,
    };
    let mut compared = Compared {
        seen: passes
            .iter()
            .map(|pass| vec![false; pass.stages.len()])
            .collect(),
        codes: input.codes.iter().map(|code| code.widen()).collect(),
        passes: &passes,
        began: 0,
        differences: Vec::new(),
    };
    job.look(runner, &input.codes, &mut compared)?;
    compared.missing();
    Ok(Bisection {
        algorithm: job.algorithm,
        compared: compared.seen.iter().flatten().filter(|&&seen| seen).count(),
        kept: job.kept(n),
        differences: compared.in_order(),
    })
}

/// Sorts with each stage that can be the twin's. Whether the keys came out right.
pub(super) fn take_each<W: Word>(
    runner: &impl Runner,
    job: &Job<'_>,
    input: &Input<'_, W>,
) -> Result<Vec<(String, bool)>> {
    let (_, right) = input.by_twin(job.algorithm)?;
    let try_one = |name: String| {
        let from_twin = [name];
        let (_, order) = job.explained(runner, &input.codes, &from_twin)?;
        let [name] = from_twin;
        Ok((name, order == right))
    };
    job.kept(input.codes.len())
        .into_iter()
        .map(try_one)
        .collect()
}

/// What was compared so far.
struct Compared<'a> {
    passes: &'a [twin::Pass],
    codes: Vec<u128>,
    /// How many passes of the device began.
    began: usize,
    /// Which of the twin's arrays the device has shown, pass by pass.
    seen: Vec<Vec<bool>>,
    differences: Vec<Difference>,
}

impl Compared<'_> {
    /// Where in the twin's passes the array of that name in the pass under way is.
    fn find(&self, name: &str) -> Option<(usize, usize)> {
        let pass = self.began.checked_sub(1)?;
        let stages = &self.passes.get(pass)?.stages;
        let stage = stages.iter().position(|stage| stage.name == name)?;
        Some((pass, stage))
    }

    /// Notes an array, and returns the twin's.
    fn compare(&mut self, name: &str, device: &Values) -> Option<Values> {
        let nothing = Values::Numbers(Vec::new());
        let found = self.find(name);
        let twin = match found {
            Some((pass, stage)) => {
                self.seen[pass][stage] = true;
                &self.passes[pass].stages[stage].values
            }
            None => &nothing,
        };
        let pass = self.began.saturating_sub(1);
        let difference = self.difference(pass, name, device, twin);
        self.differences.extend(difference);
        found.map(|_| twin.clone())
    }

    /// Where two arrays differ first.
    fn difference(
        &self,
        pass: usize,
        name: &str,
        device: &Values,
        twin: &Values,
    ) -> Option<Difference> {
        let longer = len(device).max(len(twin));
        let index = (0..longer).find(|&i| self.entry(device, i) != self.entry(twin, i))?;
        Some(Difference {
            pass,
            stage: name.to_owned(),
            index,
            device: self.entry(device, index),
            twin: self.entry(twin, index),
        })
    }

    fn entry(&self, values: &Values, index: usize) -> Option<Entry> {
        match values {
            Values::Numbers(numbers) => numbers.get(index).copied().map(Entry::Number),
            Values::Keys(keys) => keys.get(index).map(|&(code, position)| {
                match self.codes.get(position) == Some(&code) {
                    true => Entry::Key(position),
                    false => Entry::Stray { code, position },
                }
            }),
        }
    }

    /// Notes the twin's arrays that the device has not shown.
    fn missing(&mut self) {
        let nothing = Values::Numbers(Vec::new());
        for (pass, (twin, seen)) in self.passes.iter().zip(&self.seen).enumerate() {
            for (stage, _) in twin.stages.iter().zip(seen).filter(|&(_, &seen)| !seen) {
                let difference = self.difference(pass, &stage.name, &nothing, &stage.values);
                self.differences.extend(difference);
            }
        }
    }

    /// The differences, pass by pass, in the twin's order.
    fn in_order(self) -> Vec<Difference> {
        let mut differences = self.differences;
        differences.sort_by_key(|difference| {
            let stages = self
                .passes
                .get(difference.pass)
                .map(|pass| &pass.stages[..]);
            let mut stages = stages.unwrap_or_default().iter();
            let stage = stages.position(|stage| stage.name == difference.stage);
            (difference.pass, stage.unwrap_or(usize::MAX))
        });
        differences
    }
}

impl Look for Compared<'_> {
    fn pass(&mut self, _: Option<Digit>) {
        self.began += 1;
    }

    fn kept(&mut self, name: &str, values: Values) -> Option<Values> {
        let twin = self.compare(name, &values)?;
        // What has another length has no room.
        (len(&twin) == len(&values)).then_some(twin)
    }

    fn inner(&mut self, name: &str, values: Values) {
        self.compare(name, &values);
    }
}

fn len(values: &Values) -> usize {
    match values {
        Values::Numbers(numbers) => numbers.len(),
        Values::Keys(keys) => keys.len(),
    }
}

#[cfg(test)]
mod tests {
    use sweepsort_core::{Error, Kind, Order};
    use sweepsort_cuda::classic::{self, Key, Watch};
    use sweepsort_twin::{Record, Trace};

    use super::super::staged::Staged;
    use super::super::{Algorithm, Choice, Options, bisect as bisect_here, explain};
    use super::*;

    /// What makes a right array wrong.
    type Spoil = fn(&mut Values);

    /// A device made of the twin's stages, one at a time, of which one may be at fault.
    #[derive(Default)]
    struct StandIn {
        /// Pass and stage.
        fault: Option<(usize, String, Spoil)>,
        /// Passes that it leaves out at the end.
        left_out: usize,
    }

    impl Runner for StandIn {
        fn run<K: Key>(
            &self,
            on_device: classic::Algorithm,
            codes: &[K],
            options: &classic::Options,
            watch: &mut dyn Watch<K>,
        ) -> Result<Vec<u32>> {
            let algorithm = Algorithm::named(on_device.name()).unwrap();
            let chosen = twin::Options {
                bits: options.bits.clone(),
                radix_bits: options.radix_bits,
                block: options.block,
                ..twin::Options::of::<K>(algorithm)
            };
            if codes.is_empty() {
                return Ok(Vec::new());
            }
            // Which passes and arrays there are; what is in them comes from the stages.
            let passes = traced(algorithm, codes, &chosen);
            let run = passes.len() - self.left_out;
            let mut staged = Staged::new(algorithm, codes, &chosen);
            let mut order: Vec<u32> = (0..codes.len() as u32).collect();
            for pass in &passes[..run] {
                watch.pass(pass.digit);
                staged.pass(pass.digit);
                let narrow = classic::Options {
                    radix_bits: pass.digit.map_or(1, |digit| digit.bits),
                    ..options.clone()
                };
                let arrays = classic::arrays(on_device, &narrow, codes.len());
                let is_kept =
                    |name: &str| arrays.iter().any(|array| array.kept && array.name == name);
                let mut stages: Vec<&twin::Stage> = pass.stages.iter().collect();
                // A kernel writes out at its end what it had inside.
                stages.sort_by_key(|stage| match (is_kept(&stage.name), &stage.values) {
                    (true, Values::Numbers(_)) => 0,
                    (false, _) => 1,
                    (true, Values::Keys(_)) => 2,
                });
                for twin::Stage { name, .. } in stages {
                    let made = staged.make(name);
                    let mut values = made.map_err(|what| Error::Device {
                        engine: "cuda",
                        what,
                        data: sweepsort_core::DataState::Untouched,
                    })?;
                    match &self.fault {
                        Some((number, stage, spoil)) if (pass.number, name) == (*number, stage) => {
                            spoil(&mut values);
                        }
                        _ => {}
                    }
                    match &mut values {
                        Values::Numbers(numbers) => {
                            let shown: Vec<u32> = numbers.iter().map(|&n| n as u32).collect();
                            match is_kept(name) {
                                false => watch.inner_numbers(name, &shown),
                                true => {
                                    if let Some(other) = watch.numbers(name, &shown) {
                                        assert_eq!(other.len(), numbers.len(), "{name}");
                                        *numbers = other.iter().map(|&n| n as usize).collect();
                                    }
                                }
                            }
                        }
                        Values::Keys(keys) => {
                            let (shown, mut positions): (Vec<K>, Vec<u32>) = keys
                                .iter()
                                .map(|&(code, position)| (K::truncate(code), position as u32))
                                .unzip();
                            match is_kept(name) {
                                false => watch.inner_keys(name, &shown, &positions),
                                true => {
                                    if let Some(other) = watch.keys(name, &shown, &positions) {
                                        assert_eq!(other.0.len(), keys.len(), "{name}");
                                        positions = other.1;
                                        let codes = other.0.iter().map(|code| code.widen());
                                        let positions = positions.iter().map(|&p| p as usize);
                                        *keys = codes.zip(positions).collect();
                                    }
                                    order = positions;
                                }
                            }
                        }
                    }
                    if is_kept(name) {
                        staged.put(name, &values);
                    }
                }
            }
            Ok(order)
        }
    }

    fn traced<W: Word>(
        algorithm: Algorithm,
        codes: &[W],
        options: &twin::Options,
    ) -> Vec<twin::Pass> {
        let record = |(&code, payload)| Record { code, payload };
        let mut records: Vec<Record<W, u64>> = codes.iter().zip(0..).map(record).collect();
        let mut trace = Trace::on();
        twin::run(algorithm, &mut records, options, &mut trace).unwrap();
        trace.into_passes()
    }

    /// One entry one too high, or two neighbours in each other's place.
    fn off_by_one(values: &mut Values) {
        match values {
            Values::Numbers(numbers) => {
                let middle = numbers.len() / 2;
                numbers[middle] += 1;
            }
            Values::Keys(keys) => {
                let middle = keys.len() / 2;
                keys.swap(middle - 1, middle);
            }
        }
    }

    fn stray(values: &mut Values) {
        if let Values::Keys(keys) = values {
            keys[0].1 = 9999;
        }
    }

    /// Algorithms with digits, blocks and bits: narrower last digits, runs without partner.
    fn cases() -> Vec<Options> {
        use Algorithm::{BlockHistogram, Coalesced, FourWay, Split, TileMerge};
        let case = |(algorithm, radix_bits, block, end)| Options {
            radix_bits: Some(radix_bits),
            block: Some(block),
            bits: Some(0..end),
            engine: Choice::Cuda,
            ..Options::of(algorithm)
        };
        [
            (Split, 1, 4, 6),
            (FourWay, 1, 8, 6),
            (FourWay, 2, 4, 5),
            (FourWay, 2, 4, 1),
            (BlockHistogram, 1, 4, 3),
            (BlockHistogram, 2, 4, 6),
            (BlockHistogram, 4, 16, 6),
            (TileMerge, 1, 1, 6),
            (TileMerge, 1, 4, 6),
            (TileMerge, 1, 64, 6),
            (Coalesced, 1, 4, 3),
            (Coalesced, 2, 4, 6),
            (Coalesced, 4, 16, 6),
        ]
        .map(case)
        .into()
    }

    fn words(n: u32) -> Vec<u32> {
        (0..n).map(|i| i * 29 % 61 % 40).collect()
    }

    /// Bisects a stand-in.
    fn found<W: Word>(device: &StandIn, options: &Options, words: &[W]) -> Bisection {
        let input = input(words, options);
        let job = Job::new(options.algorithm, &input.options).unwrap();
        bisect(device, &job, &input).unwrap()
    }

    fn input<'a, W: Word>(words: &'a [W], options: &Options) -> Input<'a, W> {
        Input::new(words, Kind::Unsigned, W::BITS, options).unwrap()
    }

    /// Stage by stage, the twin is what it is as a whole; and so is the order of arrays.
    #[test]
    fn without_a_fault_all_arrays_agree() {
        for options in cases() {
            for n in [1, 2, 3, 8, 37, 64] {
                let case = format!("{options:?} of {n}");
                let words = words(n);
                let input = input(&words, &options);
                let algorithm = options.algorithm;
                let found = found(&StandIn::default(), &options, &words);
                let (passes, order) = input.by_twin(algorithm).unwrap();
                let all: usize = passes.iter().map(|pass| pass.stages.len()).sum();
                assert_eq!(found.differences, [], "{case}");
                assert_eq!(found.compared, all, "{case}");

                let job = Job::new(algorithm, &input.options).unwrap();
                let known: Vec<String> =
                    job.arrays(n as usize).into_iter().map(|a| a.name).collect();
                let of = |passes: &[twin::Pass]| -> Vec<Vec<(String, Values)>> {
                    let pairs = |pass: &twin::Pass| {
                        let stages = pass.stages.iter().cloned();
                        stages.map(|stage| (stage.name, stage.values)).collect()
                    };
                    passes.iter().map(pairs).collect()
                };
                let (shown, sorted) = job
                    .explained(&StandIn::default(), &input.codes, &[])
                    .unwrap();
                assert_eq!(sorted, order, "{case}");
                assert_eq!(of(&shown), of(&passes), "{case}");
                for (name, _) in of(&passes).iter().flatten() {
                    assert!(known.contains(name), "{case}: {name} of {known:?}");
                }
                for (name, right) in take_each(&StandIn::default(), &job, &input).unwrap() {
                    assert!(right, "{case}: {name}");
                }
            }
        }
    }

    /// Whichever stage is at fault, it is named, and it alone; and with the twin's in its place the
    /// keys come out right.
    #[test]
    fn a_fault_is_found_in_its_stage() {
        let words = words(37);
        for options in cases() {
            let input = input(&words, &options);
            let algorithm = options.algorithm;
            let job = Job::new(algorithm, &input.options).unwrap();
            let kept = job.kept(words.len());
            let (passes, right) = input.by_twin(algorithm).unwrap();
            let mut effective = 0;
            for pass in &passes {
                for stage in &pass.stages {
                    let case = format!("{options:?}: {} of pass {}", stage.name, pass.number);
                    let faulty = StandIn {
                        fault: Some((pass.number, stage.name.clone(), off_by_one)),
                        ..StandIn::default()
                    };
                    let found = found(&faulty, &options, &words);
                    let [difference] = &found.differences[..] else {
                        panic!("{case}: {:?}", found.differences);
                    };
                    let middle = len(&stage.values) / 2;
                    let (index, device, twin) = match &stage.values {
                        Values::Numbers(numbers) => (
                            middle,
                            Entry::Number(numbers[middle] + 1),
                            Entry::Number(numbers[middle]),
                        ),
                        Values::Keys(keys) => (
                            middle - 1,
                            Entry::Key(keys[middle].1),
                            Entry::Key(keys[middle - 1].1),
                        ),
                    };
                    let expected = Difference {
                        pass: pass.number,
                        stage: stage.name.clone(),
                        index,
                        device: Some(device),
                        twin: Some(twin),
                    };
                    assert_eq!(*difference, expected, "{case}");

                    let plain = job.explained(&faulty, &input.codes, &[]);
                    effective += usize::from(plain.is_err() || plain.unwrap().1 != right);
                    if kept.contains(&stage.name) {
                        let taken =
                            job.explained(&faulty, &input.codes, std::slice::from_ref(&stage.name));
                        // Of a narrower last digit, fewer arrays are kept.
                        let narrow = pass
                            .digit
                            .is_some_and(|d| d.bits < input.options.radix_bits);
                        assert!(narrow || taken.unwrap().1 == right, "{case}");
                    }
                }
            }
            assert!(effective > 0, "{options:?}: no fault had an effect");
        }
    }

    #[test]
    fn wider_codes_and_other_orders() {
        let words: Vec<u64> = (0..50u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (1 << 44))
            .collect();
        for options in cases() {
            let options = Options {
                order: Order::Descending,
                bits: Some(1..40),
                ..options
            };
            let found = found(&StandIn::default(), &options, &words);
            assert!(found.agrees(), "{options:?}: {:?}", found.differences);
        }
    }

    #[test]
    fn no_keys_agree() {
        for options in cases() {
            let found = found::<u32>(&StandIn::default(), &options, &[]);
            assert_eq!((found.agrees(), found.compared), (true, 0));
        }
    }

    #[test]
    fn passes_that_are_missing_differ() {
        let (words, options) = (words(37), &cases()[0]);
        let short = StandIn {
            left_out: 1,
            ..StandIn::default()
        };
        let found = found(&short, options, &words);
        let missing: Vec<_> = found
            .differences
            .iter()
            .map(|d| (d.pass, &d.stage[..]))
            .collect();
        let names = ["b", "e", "f", "totalFalses", "t", "d", "out"];
        assert_eq!(missing, names.map(|name| (5, name)));
        assert!(
            found
                .differences
                .iter()
                .all(|d| d.device.is_none() && d.index == 0)
        );
    }

    /// What no explanation can be made of is an error, and bisection names it.
    #[test]
    fn strays_are_told() {
        let (words, options) = (words(9), &cases()[0]);
        let input = input(&words, options);
        let faulty = StandIn {
            fault: Some((1, "out".into(), stray)),
            ..StandIn::default()
        };
        let job = Job::new(options.algorithm, &input.options).unwrap();
        let error = job
            .explained(&faulty, &input.codes, &[])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("out of pass 1 does not have each key once"),
            "{error}"
        );
        let found = found(&faulty, options, &words);
        let [
            Difference {
                index: 0,
                device: Some(device),
                ..
            },
        ] = found.differences[..]
        else {
            panic!("{:?}", found.differences);
        };
        assert!(
            matches!(device, Entry::Stray { position: 9999, .. }),
            "{device}"
        );
    }

    /// A device's arrays that the twin cannot go on with are an error, and no panic.
    #[test]
    fn the_twin_refuses_what_leads_nowhere() {
        fn too_high(values: &mut Values) {
            if let Values::Numbers(numbers) = values {
                numbers
                    .iter_mut()
                    .for_each(|number| *number = u32::MAX as usize);
            }
        }
        let words = words(37);
        for options in cases() {
            let input = input(&words, &options);
            let job = Job::new(options.algorithm, &input.options).unwrap();
            let kept = job.kept(words.len());
            let last = kept.last().expect("the keys are kept").clone();
            for stage in kept.iter().filter(|&stage| *stage != last) {
                let faulty = StandIn {
                    fault: Some((0, stage.clone(), too_high)),
                    ..StandIn::default()
                };
                // Keys are not spoilt, and so come out right.
                let _ = job.explained(&faulty, &input.codes, std::slice::from_ref(&last));
                let _ = job.explained(&faulty, &input.codes, &kept[1..]);
            }
        }
    }

    #[test]
    fn what_cannot_be_taken_is_told() {
        let keys = words(20);
        for (algorithm, name, part) in [
            (Algorithm::Split, "d", "within one kernel; use e, f, out"),
            (
                Algorithm::Split,
                "H",
                "'H' from the twin, which split does not have here; use e, f, out",
            ),
            (
                Algorithm::FourWay,
                "compact_4",
                "use compact_0, compact_1, compact_2, compact_3, scan_0",
            ),
            (
                Algorithm::TileMerge,
                "step_5",
                "use tiles, reversed, step_0, step_1, step_2, step_3, step_4",
            ),
            (
                Algorithm::BlockHistogram,
                "sorted",
                "use H, CT, scan, G, L, B",
            ),
            (Algorithm::Coalesced, "before", "use sizes, offsets, out"),
        ] {
            let options = Options {
                engine: Choice::Cuda,
                ..Options::of(algorithm)
            };
            let input = input(&keys, &options);
            let job = Job::new(algorithm, &input.options).unwrap();
            let error = job.can_take(keys.len(), &[name.into()]);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(part), "{name}: {error}");
        }
        let on_cpu = Options {
            from_twin: vec!["f".into()],
            ..Options::of(Algorithm::Split)
        };
        for error in [
            explain(&keys, &on_cpu).err(),
            bisect_here(&keys, &on_cpu).err(),
        ] {
            let error = error.expect("refused").to_string();
            assert!(error.ends_with("use engine cuda"), "{error}");
        }
        let on_wgpu = Options {
            engine: Choice::Wgpu,
            ..on_cpu
        };
        for error in [
            explain(&keys, &on_wgpu).err(),
            bisect_here(&keys, &on_wgpu).err(),
        ] {
            let error = error.expect("refused").to_string();
            assert!(
                error.contains("wgpu") && error.contains("use engine cuda"),
                "{error}"
            );
        }
    }
}
