//! The checks on the device, themselves checked: what the host sees in the same arrays they must see
//! too, and each fault that is planted where it stands.

use anyhow::{Result, ensure};
use sweepsort_core::Word;
use sweepsort_cuda::{Checks, Device, Stream};

/// How many keys, as far as keys of a width can all differ.
fn sizes<K: Word>() -> impl Iterator<Item = usize> {
    [1, 2, 3, 50, 1000, (1 << 20) + 1]
        .into_iter()
        .filter(|n| n >> free_bits::<K>() == 0)
}

/// How many low bits of keys that tie are free.
fn free_bits<K: Word>() -> u32 {
    (K::BITS / 4 * 3).min(24)
}

/// A sort's output, and the input that it claims to be of.
#[derive(Clone)]
struct Output<K> {
    input: Vec<K>,
    sorted: Vec<K>,
    index: Vec<u64>,
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
            index: (0..n as u64).rev().collect(),
            sorted,
            mask: K::MAX,
        }
    }

    /// Keys that tie in the bits that decide; in those below, they descend.
    fn tied(n: usize) -> Self {
        let below = K::mask(&(0..free_bits::<K>()));
        let tie = K::truncate(u128::MAX / 3) & !below;
        let sorted: Vec<K> = (0..n as u128)
            .map(|i| tie | K::truncate(n as u128 - i))
            .collect();
        Output {
            input: sorted.clone(),
            index: (0..n as u64).collect(),
            sorted,
            mask: !below,
        }
    }

    /// The index in entries of 32 bits.
    fn short(&self) -> Vec<u32> {
        self.index.iter().map(|&i| i as u32).collect()
    }

    /// Values of 64 bits, in whose high halves alone they differ.
    fn wide(&self) -> Vec<u64> {
        self.index.iter().map(|&i| i << 32).collect()
    }
}

/// What the checks say.
#[derive(Debug, PartialEq)]
struct Verdict {
    disorder: Option<u64>,
    /// Of entries of 32 bits.
    short: Index,
    /// Of entries of 64 bits.
    long: Index,
    keys: u64,
    pairs: u64,
    wide_pairs: u64,
}

/// What the checks say of an index.
#[derive(Debug, PartialEq)]
struct Index {
    unstable: Option<u64>,
    misled: Option<u64>,
    permutation: bool,
}

impl Index {
    /// Nothing is wrong with it.
    const RIGHT: Index = Index {
        unstable: None,
        misled: None,
        permutation: true,
    };

    /// By the checks.
    fn of<K: Word, I: Word>(
        index: &[I],
        output: &Output<K>,
        stream: &Stream,
        checks: &Checks,
    ) -> Result<Self> {
        let index = stream.upload(index)?;
        let input = stream.upload(&output.input)?;
        let sorted = stream.upload(&output.sorted)?;
        Ok(Index {
            unstable: checks.unstable::<K, I>(&sorted, &index, output.mask)?,
            misled: checks.misled::<K, I>(&input, &index, &sorted)?,
            permutation: checks.is_permutation::<I>(&index)?,
        })
    }

    /// By the host.
    fn expected<K: Word>(index: &[u64], output: &Output<K>) -> Self {
        let Output { input, sorted, .. } = output;
        let bits = |i: usize| sorted[i] & output.mask;
        let mut places = index.to_vec();
        places.sort_unstable();
        Index {
            unstable: lowest(sorted.len() - 1, |i| {
                bits(i) == bits(i + 1) && index[i] >= index[i + 1]
            }),
            misled: lowest(sorted.len(), |i| {
                input.get(index[i] as usize) != Some(&sorted[i])
            }),
            permutation: (0..).zip(&places).all(|(i, &place)| i == place),
        }
    }
}

/// The lowest position before `end` at which something is wrong.
fn lowest(end: usize, wrong: impl Fn(usize) -> bool) -> Option<u64> {
    (0..end).find(|&i| wrong(i)).map(|i| i as u64)
}

impl Verdict {
    /// By the checks.
    fn of<K: Word>(output: &Output<K>, stream: &Stream, checks: &Checks) -> Result<Self> {
        let sorted = stream.upload(&output.sorted)?;
        let short = stream.upload(&output.short())?;
        let wide = stream.upload(&output.wide())?;
        Ok(Verdict {
            disorder: checks.disorder(&sorted, output.mask)?,
            short: Index::of(&output.short(), output, stream, checks)?,
            long: Index::of(&output.index, output, stream, checks)?,
            keys: checks.fingerprint::<K>(&sorted)?,
            pairs: checks.fingerprint_pairs::<K, u32>(&sorted, &short)?,
            wide_pairs: checks.fingerprint_pairs::<K, u64>(&sorted, &wide)?,
        })
    }

    /// By the host.
    fn expected<K: Word>(output: &Output<K>) -> Self {
        let sorted = &output.sorted;
        let n = sorted.len();
        let bits = |i: usize| sorted[i] & output.mask;
        let (short, wide) = (output.short(), output.wide());
        let sum = |words: &dyn Fn(usize) -> Vec<u32>| {
            (0..n).fold(0u64, |sum, i| sum.wrapping_add(hash(sorted[i], &words(i))))
        };
        let lengthened: Vec<u64> = short.iter().map(|&i| i.into()).collect();
        Verdict {
            disorder: lowest(n - 1, |i| bits(i) > bits(i + 1)),
            short: Index::expected(&lengthened, output),
            long: Index::expected(&output.index, output),
            keys: sum(&|_| Vec::new()),
            pairs: sum(&|i| vec![short[i]]),
            wide_pairs: sum(&|i| vec![wide[i] as u32, (wide[i] >> 32) as u32]),
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
            seen: |clean, now, at| now.short.misled == Some(at) && now.keys != clean.keys,
        },
        Fault {
            what: "a key's highest bit turned over",
            of: Output::distinct,
            neighbours: false,
            plant: |output, at| output.sorted[at] = output.sorted[at] ^ K::TOP,
            seen: |clean, now, at| now.short.misled == Some(at) && now.keys != clean.keys,
        },
        Fault {
            what: "a key twice, another lost",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.sorted[at + 1] = output.sorted[at],
            seen: |clean, now, at| {
                now.disorder.is_none() && now.short.misled == Some(at + 1) && now.keys != clean.keys
            },
        },
        Fault {
            what: "an index twice, another lost",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.index[at + 1] = output.index[at],
            seen: |_, now, at| now.short.misled == Some(at + 1) && !now.short.permutation,
        },
        Fault {
            what: "an index one beyond the end",
            of: Output::distinct,
            neighbours: false,
            plant: |output, at| output.index[at] = output.index.len() as u64,
            seen: |_, now, at| now.short.misled == Some(at) && !now.short.permutation,
        },
        Fault {
            what: "an index far beyond the end",
            of: Output::distinct,
            neighbours: false,
            plant: |output, at| output.index[at] = u32::MAX.into(),
            seen: |_, now, at| now.short.misled == Some(at) && !now.short.permutation,
        },
        Fault {
            what: "values at each other's keys",
            of: Output::distinct,
            neighbours: true,
            plant: |output, at| output.index.swap(at, at + 1),
            seen: |clean, now, at| {
                now.short.misled == Some(at)
                    && (now.short.permutation, now.keys) == (true, clean.keys)
                    && now.pairs != clean.pairs
                    && now.wide_pairs != clean.wide_pairs
            },
        },
        Fault {
            what: "ties in the other order",
            of: Output::tied,
            neighbours: true,
            plant: |output, at| output.index.swap(at, at + 1),
            seen: |_, now, at| now.short.unstable == Some(at) && now.short.permutation,
        },
        Fault {
            what: "an index twice among keys that tie",
            of: Output::tied,
            neighbours: true,
            plant: |output, at| output.index[at + 1] = output.index[at],
            seen: |_, now, at| now.short.unstable == Some(at) && !now.short.permutation,
        },
        Fault {
            what: "an index beyond the end in its high half alone",
            of: Output::tied,
            neighbours: true,
            plant: |output, at| output.index[at] += 1 << 32,
            seen: |_, now, at| {
                (now.long.misled, now.long.unstable) == (Some(at), Some(at))
                    && !now.long.permutation
                    && now.short == Index::RIGHT
            },
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
    for n in sizes::<K>() {
        for of in [Output::<K>::distinct, Output::tied] {
            let clean = Verdict::of(&of(n), &stream, &checks)?;
            ensure!(
                clean == Verdict::expected(&of(n))
                    && clean.disorder.is_none()
                    && (&clean.short, &clean.long) == (&Index::RIGHT, &Index::RIGHT)
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
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A key's part of a fingerprint, or that of a record with a value of these words.
fn hash<K: Word>(key: K, words: &[u32]) -> u64 {
    let mixed = |hash: u64, word: u64| mix(hash.wrapping_add(word));
    let mut of_key = mixed(key.widen() as u64, STEP);
    if K::BITS > 64 {
        of_key = mixed(of_key, (key.widen() >> 64) as u64);
    }
    words
        .iter()
        .fold(of_key, |hash, &word| mixed(hash, word.into()))
}

/// The `i`-th random key.
pub(crate) fn random<K: Word>(i: u64, seed: u64, mask: K) -> K {
    let x = seed.wrapping_add((i + 1).wrapping_mul(STEP));
    K::truncate(u128::from(mix(!x)) << 64 | u128::from(mix(x))) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_are_seen<K: Word>() {
        for fault in faults::<K>() {
            for n in sizes::<K>().filter(|n| (2..=1000).contains(n)) {
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
        faults_are_seen::<u8>();
        faults_are_seen::<u16>();
        faults_are_seen::<u32>();
        faults_are_seen::<u64>();
        faults_are_seen::<u128>();
    }
}
