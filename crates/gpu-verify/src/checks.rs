//! The checks on the device, themselves checked: what the host sees in the same arrays they must see
//! too, and each fault that is planted where it stands.

use anyhow::{Result, ensure};
use sweepsort_core::Word;
use sweepsort_cuda::{Checks, Device, Stream};

/// How many keys.
const SIZES: [usize; 5] = [1, 2, 3, 1000, (1 << 20) + 1];

/// A sort's output, and the input that it claims to be of.
#[derive(Clone)]
struct Output<K> {
    input: Vec<K>,
    sorted: Vec<K>,
    index: Vec<u32>,
    /// Which bits decide.
    mask: K,
}

impl<K: Word> Output<K> {
    /// Keys that all differ, in bits high and low, sorted out of the reverse order.
    fn distinct(n: usize) -> Self {
        let step = (K::MAX.widen() / n as u128) & !1;
        let sorted: Vec<K> = (0..n as u128).map(|i| K::truncate(i * step)).collect();
        Output {
            input: sorted.iter().rev().copied().collect(),
            index: (0..n as u32).rev().collect(),
            sorted,
            mask: K::MAX,
        }
    }

    /// Keys that tie in the bits that decide; in those below, they descend.
    fn tied(n: usize) -> Self {
        let below = K::truncate(0xFF_FFFF);
        let tie = K::truncate(u128::MAX / 3) & !below;
        let sorted: Vec<K> = (0..n as u128)
            .map(|i| tie | K::truncate(n as u128 - i))
            .collect();
        Output {
            input: sorted.clone(),
            index: (0..n as u32).collect(),
            sorted,
            mask: !below,
        }
    }

    /// Values of 64 bits, in whose high halves alone they differ.
    fn wide(&self) -> Vec<u64> {
        self.index.iter().map(|&i| u64::from(i) << 32).collect()
    }
}

/// What the checks say.
#[derive(Debug, PartialEq)]
struct Verdict {
    disorder: Option<u64>,
    unstable: Option<u64>,
    misled: Option<u64>,
    permutation: bool,
    keys: u64,
    pairs: u64,
    wide_pairs: u64,
}

impl Verdict {
    /// By the checks.
    fn of<K: Word>(output: &Output<K>, stream: &Stream, checks: &Checks) -> Result<Self> {
        let input = stream.upload(&output.input)?;
        let sorted = stream.upload(&output.sorted)?;
        let index = stream.upload(&output.index)?;
        let wide = stream.upload(&output.wide())?;
        Ok(Verdict {
            disorder: checks.disorder(&sorted, output.mask)?,
            unstable: checks.unstable(&sorted, &index, output.mask)?,
            misled: checks.misled::<K>(&input, &index, &sorted)?,
            permutation: checks.is_permutation(&index)?,
            keys: checks.fingerprint::<K>(&sorted)?,
            pairs: checks.fingerprint_pairs::<K, u32>(&sorted, &index)?,
            wide_pairs: checks.fingerprint_pairs::<K, u64>(&sorted, &wide)?,
        })
    }

    /// By the host.
    fn expected<K: Word>(output: &Output<K>) -> Self {
        let Output {
            input,
            sorted,
            index,
            mask,
        } = output;
        let lowest = |end: usize, wrong: &dyn Fn(usize) -> bool| {
            (0..end).find(|&i| wrong(i)).map(|i| i as u64)
        };
        let n = sorted.len();
        let bits = |i: usize| sorted[i] & *mask;
        let mut places = index.clone();
        places.sort_unstable();
        let sum = |words: &dyn Fn(usize) -> Vec<u32>| {
            (0..n).fold(0u64, |sum, i| sum.wrapping_add(hash(sorted[i], &words(i))))
        };
        Verdict {
            disorder: lowest(n - 1, &|i| bits(i) > bits(i + 1)),
            unstable: lowest(n - 1, &|i| {
                bits(i) == bits(i + 1) && index[i] >= index[i + 1]
            }),
            misled: lowest(n, &|i| input.get(index[i] as usize) != Some(&sorted[i])),
            permutation: places
                .iter()
                .enumerate()
                .all(|(i, &place)| i == place as usize),
            keys: sum(&|_| Vec::new()),
            pairs: sum(&|i| vec![index[i]]),
            wide_pairs: {
                let wide = output.wide();
                sum(&|i| vec![wide[i] as u32, (wide[i] >> 32) as u32])
            },
        }
    }
}

/// A fault, and how the checks must see it.
struct Fault<K> {
    what: &'static str,
    of: fn(usize) -> Output<K>,
    /// Whether it takes the record at a position and the next.
    neighbours: bool,
    plant: fn(&mut Output<K>, usize),
    /// The verdict without the fault and the one with it, and where it was planted.
    seen: fn(&Verdict, &Verdict, u64) -> bool,
}

fn faults<K: Word>() -> Vec<Fault<K>> {
    vec![
        Fault {
            what: "neighbours swapped",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.sorted.swap(at, at + 1),
            seen: |clean, now, at| now.disorder == Some(at) && now.keys == clean.keys,
        },
        Fault {
            what: "all from here on reversed",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.sorted[at..].reverse(),
            seen: |clean, now, at| now.disorder == Some(at) && now.keys == clean.keys,
        },
        Fault {
            what: "a key too high among keys that tie",
            of: Output::tied,
            neighbours: true,
            plant: |output, at| output.sorted[at] = output.sorted[at] | K::TOP,
            seen: |clean, now, at| now.disorder == Some(at) && now.keys != clean.keys,
        },
        Fault {
            what: "a key's lowest bit turned over",
            of: Output::distinct,
            neighbours: false,
            plant: |output, at| output.sorted[at] = output.sorted[at] ^ K::truncate(1),
            seen: |clean, now, at| now.misled == Some(at) && now.keys != clean.keys,
        },
        Fault {
            what: "a key's highest bit turned over",
            of: Output::distinct,
            neighbours: false,
            plant: |output, at| output.sorted[at] = output.sorted[at] ^ K::TOP,
            seen: |clean, now, at| now.misled == Some(at) && now.keys != clean.keys,
        },
        Fault {
            what: "a key twice, another lost",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.sorted[at + 1] = output.sorted[at],
            seen: |clean, now, at| {
                now.disorder.is_none() && now.misled == Some(at + 1) && now.keys != clean.keys
            },
        },
        Fault {
            what: "an index twice, another lost",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.index[at + 1] = output.index[at],
            seen: |_, now, at| now.misled == Some(at + 1) && !now.permutation,
        },
        Fault {
            what: "an index one beyond the end",
            of: Output::distinct,
            neighbours: false,
            plant: |output, at| output.index[at] = output.index.len() as u32,
            seen: |_, now, at| now.misled == Some(at) && !now.permutation,
        },
        Fault {
            what: "an index far beyond the end",
            of: Output::distinct,
            neighbours: false,
            plant: |output, at| output.index[at] = u32::MAX,
            seen: |_, now, at| now.misled == Some(at) && !now.permutation,
        },
        Fault {
            what: "values at each other's keys",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.index.swap(at, at + 1),
            seen: |clean, now, at| {
                now.misled == Some(at)
                    && (now.permutation, now.keys) == (true, clean.keys)
                    && now.pairs != clean.pairs
                    && now.wide_pairs != clean.wide_pairs
            },
        },
        Fault {
            what: "ties in the other order",
            of: Output::tied,
            neighbours: true,
            plant: |output, at| output.index.swap(at, at + 1),
            seen: |_, now, at| now.unstable == Some(at) && now.permutation,
        },
        Fault {
            what: "an index twice among keys that tie",
            of: Output::tied,
            neighbours: true,
            plant: |output, at| output.index[at + 1] = output.index[at],
            seen: |_, now, at| now.unstable == Some(at) && !now.permutation,
        },
    ]
}

/// Outputs without a fault and with each, at the first position, in the middle and at the last; the
/// numbers that are made; and positions beyond 2^32. Returns how many verdicts were compared.
pub fn run<K: Word>() -> Result<usize> {
    let device = Device::open_guarded(0)?;
    let stream = device.stream()?;
    let checks = Checks::new(&stream);
    let mut compared = 0;
    for n in SIZES {
        for of in [Output::<K>::distinct, Output::tied] {
            let clean = Verdict::of(&of(n), &stream, &checks)?;
            ensure!(
                clean == Verdict::expected(&of(n))
                    && (clean.disorder, clean.unstable, clean.misled) == (None, None, None)
                    && clean.permutation
                    && clean.keys == checks.fingerprint::<K>(&stream.upload(&of(n).input)?)?,
                "{n} keys without a fault: {clean:?}"
            );
            compared += 1;
        }
        for fault in faults::<K>() {
            let clean = Verdict::expected(&(fault.of)(n));
            let Some(last) = (n - 1).checked_sub(usize::from(fault.neighbours)) else {
                continue;
            };
            for at in [0, last / 2, last] {
                let mut output = (fault.of)(n);
                (fault.plant)(&mut output, at);
                let now = Verdict::of(&output, &stream, &checks)?;
                let expected = Verdict::expected(&output);
                ensure!(
                    now == expected && (fault.seen)(&clean, &now, at as u64),
                    "{n} keys, at {at}, {}: {now:?}, and by the host {expected:?}",
                    fault.what
                );
                compared += 1;
            }
        }
        made::<K>(n, &stream, &checks)?;
        compared += 1;
    }
    far::<K>(&stream, &checks)?;
    device.check_canaries()?;
    Ok(compared + 1)
}

/// Random keys and positions are those that the host makes.
fn made<K: Word>(n: usize, stream: &Stream, checks: &Checks) -> Result<()> {
    let (seed, mask) = (n as u64, K::truncate(u128::MAX / 5));
    let mut keys = stream.alloc::<K>(n)?;
    checks.random(&mut keys, seed, mask)?;
    let expected: Vec<K> = (0..n).map(|i| random(i as u64, seed, mask)).collect();
    ensure!(stream.download(&keys)? == expected, "{n} random keys");
    let mut positions = stream.alloc(n)?;
    checks.positions(&mut positions)?;
    let expected: Vec<u32> = (0..n as u32).collect();
    ensure!(stream.download(&positions)? == expected, "{n} positions");
    Ok(())
}

/// More than 2^32 keys: a fault behind that, its place and its part of the fingerprint.
fn far<K: Word>(stream: &Stream, checks: &Checks) -> Result<()> {
    let n = (1 << 32) + 3;
    let mut keys = stream.zeros::<K>(n)?;
    let zeros = hash(K::ZERO, &[]).wrapping_mul(n as u64);
    ensure!(checks.disorder(&keys, K::MAX)?.is_none(), "{n} zeros");
    ensure!(checks.fingerprint::<K>(&keys)? == zeros, "{n} zeros");

    let at = n - 2;
    stream.write(&[K::MAX], keys.slice_mut(at..=at)?)?;
    let one = zeros
        .wrapping_sub(hash(K::ZERO, &[]))
        .wrapping_add(hash(K::MAX, &[]));
    let found = checks.disorder(&keys, K::MAX)?;
    ensure!(found == Some(at as u64), "{found:?}, not {at}");
    ensure!(checks.fingerprint::<K>(&keys)? == one, "{n} keys");

    checks.random(&mut keys, 0, K::MAX)?;
    let last = stream.download(keys.slice(n - 3..)?)?;
    let expected: Vec<K> = (n - 3..n).map(|i| random(i as u64, 0, K::MAX)).collect();
    ensure!(last == expected, "random keys at the end of {n}");
    Ok(())
}

/// The step of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Its output function.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A key's part of a fingerprint, or that of a record with a value of these words.
fn hash<K: Word>(key: K, words: &[u32]) -> u64 {
    let of_key = mix((key.widen() as u64).wrapping_add(STEP));
    let mixed = |hash: u64, &word: &u32| mix(hash.wrapping_add(u64::from(word)));
    words.iter().fold(of_key, mixed)
}

/// The `i`-th random key.
fn random<K: Word>(i: u64, seed: u64, mask: K) -> K {
    K::truncate(u128::from(mix(
        seed.wrapping_add((i + 1).wrapping_mul(STEP))
    ))) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_are_seen<K: Word>() {
        for fault in faults::<K>() {
            for n in [2, 3, 1000] {
                let last = n - 1 - usize::from(fault.neighbours);
                for at in [0, last / 2, last] {
                    let clean = (fault.of)(n);
                    let mut output = clean.clone();
                    (fault.plant)(&mut output, at);
                    let [clean, now] = [&clean, &output].map(Verdict::expected);
                    let seen = (fault.seen)(&clean, &now, at as u64);
                    assert!(seen, "{n} keys, at {at}, {}: {now:?}", fault.what);
                    let twice = (fault.seen)(&clean, &clean, at as u64);
                    assert!(!twice, "{n} keys, {}: seen where it is not", fault.what);
                }
            }
        }
    }

    #[test]
    fn the_host_sees_every_fault_that_the_device_is_to_see() {
        faults_are_seen::<u32>();
        faults_are_seen::<u64>();
    }
}
