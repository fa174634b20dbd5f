//! The same arrays from a device: a sort by the CUDA engine's kernels, watched stage by stage, some
//! of them perhaps the twin's.

use sweepsort_core::{DataState, Digit, Error, Result, Word};
use sweepsort_cuda::CudaEngine;
use sweepsort_cuda::classic::{self, Array, Key, Watch};
use sweepsort_twin::{self as twin, Algorithm, Pass, Stage, Values};

use super::staged::Staged;

/// Who runs the stages: a device, or in tests what stands in for one.
pub(super) trait Runner {
    /// Sorts codes under a watch, and returns their positions.
    fn run<K: Key>(
        &self,
        algorithm: classic::Algorithm,
        codes: &[K],
        options: &classic::Options,
        watch: &mut dyn Watch<K>,
    ) -> Result<Vec<u32>>;
}

impl Runner for CudaEngine {
    fn run<K: Key>(
        &self,
        algorithm: classic::Algorithm,
        codes: &[K],
        options: &classic::Options,
        watch: &mut dyn Watch<K>,
    ) -> Result<Vec<u32>> {
        self.watch(algorithm, codes, options, watch)
    }
}

/// A [`Watch`] for codes of any width.
pub(super) trait Look {
    /// A pass begins.
    fn pass(&mut self, digit: Option<Digit>);
    /// An array was made; the answer is what is read in its place.
    fn kept(&mut self, name: &str, values: Values) -> Option<Values>;
    /// An array was made within a kernel.
    fn inner(&mut self, name: &str, values: Values);
}

/// Codes and numbers in the widths of the twin.
struct Widened<'a>(&'a mut dyn Look);

fn numbers(values: &[u32]) -> Values {
    Values::Numbers(values.iter().map(|&value| value as usize).collect())
}

fn keys<K: Word>(keys: &[K], positions: &[u32]) -> Values {
    let keys = keys.iter().zip(positions);
    Values::Keys(
        keys.map(|(key, &position)| (key.widen(), position as usize))
            .collect(),
    )
}

impl<K: Word> Watch<K> for Widened<'_> {
    fn pass(&mut self, digit: Option<Digit>) {
        self.0.pass(digit);
    }

    fn numbers(&mut self, name: &str, values: &[u32]) -> Option<Vec<u32>> {
        match self.0.kept(name, numbers(values))? {
            Values::Numbers(numbers) => Some(numbers.iter().map(|&n| n as u32).collect()),
            Values::Keys(_) => None,
        }
    }

    fn keys(&mut self, name: &str, codes: &[K], positions: &[u32]) -> Option<(Vec<K>, Vec<u32>)> {
        match self.0.kept(name, keys(codes, positions))? {
            Values::Keys(keys) => Some(
                keys.iter()
                    .map(|&(code, p)| (K::truncate(code), p as u32))
                    .unzip(),
            ),
            Values::Numbers(_) => None,
        }
    }

    fn inner_numbers(&mut self, name: &str, values: &[u32]) {
        self.0.inner(name, numbers(values));
    }

    fn inner_keys(&mut self, name: &str, codes: &[K], positions: &[u32]) {
        self.0.inner(name, keys(codes, positions));
    }
}

/// A sort of a device.
pub(super) struct Job<'a> {
    pub algorithm: Algorithm,
    on_device: classic::Algorithm,
    options: &'a twin::Options,
}

impl<'a> Job<'a> {
    /// The algorithm with these parameters.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if devices do not have it.
    pub fn new(algorithm: Algorithm, options: &'a twin::Options) -> Result<Job<'a>> {
        let name = algorithm.name();
        let Some(on_device) = classic::Algorithm::named(name) else {
            return Err(unsupported(
                format!("explanations of {name}"),
                "engine cpu, or one of the texts' algorithms",
            ));
        };
        if options.base.is_some() || options.break_stability {
            return Err(unsupported(
                "digits of a base, and broken stability".into(),
                "engine cpu",
            ));
        }
        Ok(Job {
            algorithm,
            on_device,
            options,
        })
    }

    fn chosen<K: Key>(&self) -> classic::Options {
        classic::Options {
            bits: self.options.bits.clone(),
            radix_bits: self.options.radix_bits,
            block: self.options.block,
            ..classic::Options::of::<K>(self.on_device)
        }
    }

    /// The arrays of the passes over `n` keys, in the order of the text.
    pub fn arrays(&self, n: usize) -> Vec<Array> {
        classic::arrays(self.on_device, &self.chosen::<u64>(), n)
    }

    /// The names of those that the twin can make for the device.
    pub fn kept(&self, n: usize) -> Vec<String> {
        let kept = self.arrays(n).into_iter().filter(|array| array.kept);
        kept.map(|array| array.name).collect()
    }

    /// Sorts codes under a look, and returns their positions.
    pub fn look<W: Word>(
        &self,
        runner: &impl Runner,
        codes: &[W],
        look: &mut dyn Look,
    ) -> Result<Vec<usize>> {
        let order = match W::BITS {
            32 => self.look_at::<u32>(runner, bytemuck::cast_slice(codes), look)?,
            64 => self.look_at::<u64>(runner, bytemuck::cast_slice(codes), look)?,
            bits => {
                return Err(unsupported(
                    format!("keys of {bits} bits"),
                    "keys of 32 or 64 bits",
                ));
            }
        };
        let order: Vec<usize> = order
            .into_iter()
            .map(|position| position as usize)
            .collect();
        match each_once(order.iter().copied(), codes.len()) {
            true => Ok(order),
            false => Err(failed("the output does not have each key once".into())),
        }
    }

    fn look_at<K: Key>(
        &self,
        runner: &impl Runner,
        codes: &[K],
        look: &mut dyn Look,
    ) -> Result<Vec<u32>> {
        runner.run(
            self.on_device,
            codes,
            &self.chosen::<K>(),
            &mut Widened(look),
        )
    }

    /// Sorts codes, and returns the passes and the positions. The stages of these names, which
    /// [can be taken](Self::can_take), are made by the twin.
    pub fn explained<W: Word>(
        &self,
        runner: &impl Runner,
        codes: &[W],
        from_twin: &[String],
    ) -> Result<(Vec<Pass>, Vec<usize>)> {
        let mut seen = Seen {
            staged: Staged::new(self.algorithm, codes, self.options),
            from_twin,
            codes: codes.iter().map(|code| code.widen()).collect(),
            passes: Vec::new(),
            wrong: None,
        };
        let order = self.look(runner, codes, &mut seen);
        if let Some(wrong) = seen.wrong {
            return Err(failed(wrong));
        }
        let arrays = self.arrays(codes.len());
        for pass in &mut seen.passes {
            pass.stages
                .sort_by_key(|stage| arrays.iter().position(|array| array.name == stage.name));
        }
        Ok((seen.passes, order?))
    }

    /// Refuses names of stages that the twin cannot make for a device that sorts `n` keys.
    pub fn can_take(&self, n: usize, names: &[String]) -> Result<()> {
        let arrays = self.arrays(n);
        let is_kept = |name: &String| arrays.iter().any(|array| array.kept && array.name == *name);
        let Some(name) = names.iter().find(|&name| !is_kept(name)) else {
            return Ok(());
        };
        let algorithm = self.algorithm.name();
        let what = match arrays.iter().any(|array| array.name == *name) {
            true => format!(
                "taking {name} of {algorithm} from the twin, for it is made and used within one \
                 kernel"
            ),
            false => {
                format!("taking '{name}' from the twin, which {algorithm} does not have here")
            }
        };
        Err(unsupported(what, &self.kept(n).join(", ")))
    }
}

/// The passes seen so far.
struct Seen<'a> {
    staged: Staged<'a>,
    from_twin: &'a [String],
    codes: Vec<u128>,
    passes: Vec<Pass>,
    /// The first thing that no explanation can be made of.
    wrong: Option<String>,
}

impl Seen<'_> {
    fn note(&mut self, name: &str, values: Values) {
        let Some(pass) = self.passes.last_mut() else {
            return;
        };
        if let Values::Keys(keys) = &values {
            let positions = keys.iter().map(|&(_, position)| position);
            let own = |&(code, position): &(u128, usize)| self.codes.get(position) == Some(&code);
            if !each_once(positions, self.codes.len()) || !keys.iter().all(own) {
                self.wrong.get_or_insert(format!(
                    "{name} of pass {} does not have each key once; see where it begins by \
                     bisection",
                    pass.number
                ));
            }
        }
        pass.stages.push(Stage {
            name: name.to_owned(),
            values,
            detail: None,
        });
    }
}

impl Look for Seen<'_> {
    fn pass(&mut self, digit: Option<Digit>) {
        self.staged.pass(digit);
        self.passes.push(Pass {
            number: self.passes.len(),
            digit,
            stages: Vec::new(),
        });
    }

    fn kept(&mut self, name: &str, values: Values) -> Option<Values> {
        let mut taken = None;
        if self.from_twin.iter().any(|other| other == name) {
            match self.staged.make(name) {
                Ok(made) => taken = Some(made),
                Err(why) => {
                    let pass = self.passes.len().saturating_sub(1);
                    self.wrong.get_or_insert(format!(
                        "the twin cannot make {name} of pass {pass} of the device's arrays: {why}"
                    ));
                }
            }
        }
        let values = taken.clone().unwrap_or(values);
        self.staged.put(name, &values);
        self.note(name, values);
        taken
    }

    fn inner(&mut self, name: &str, values: Values) {
        self.note(name, values);
    }
}

/// Whether these are the positions of `n` keys, each once.
fn each_once(positions: impl Iterator<Item = usize>, n: usize) -> bool {
    let mut seen = vec![false; n];
    let mut count = 0;
    for position in positions {
        match seen.get_mut(position) {
            Some(seen) if !*seen => *seen = true,
            _ => return false,
        }
        count += 1;
    }
    count == n
}

fn failed(what: String) -> Error {
    Error::Device {
        engine: "cuda",
        what,
        data: DataState::Untouched,
    }
}

fn unsupported(what: String, instead: &str) -> Error {
    Error::Unsupported {
        engine: "cuda",
        what,
        instead: instead.into(),
    }
}
