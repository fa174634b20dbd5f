//! Sizes beyond the testkit's table. Keys are made on the device, sorted there and checked there; only
//! what the checks say comes back. Every buffer has its guards.

use anyhow::{Result, bail, ensure};
use sweepsort_cuda::classic::{Algorithm, Key};
use sweepsort_cuda::{Buffer, Checks, Codec, CudaEngine, Device, Slice, SliceMut, Spec};

/// Bits of which keys that are to repeat are made: 22 of a `u64`, 11 of a `u32`.
pub(crate) const FEW: u128 = 0x9249_2492_4924_9249;

/// Keys alone, pairs, and an argsort, of `n` records and of one less and one more. Returns how many
/// there were in all.
pub fn run<K: Key>(algorithm: Algorithm, n: usize) -> Result<usize> {
    let mut large = Large::open(algorithm)?;
    let mut sorted = 0;
    for n in n - 1..=n + 1 {
        large.keys::<K>(n)?;
        large.pairs::<K>(n)?;
        large.argsort::<K>(n)?;
        sorted += 3 * n;
    }
    large.close()?;
    Ok(sorted)
}

/// The same for keys alone, `n` of them.
pub fn keys<K: Key>(algorithm: Algorithm, n: usize) -> Result<usize> {
    let mut large = Large::open(algorithm)?;
    large.keys::<K>(n)?;
    large.close()?;
    Ok(n)
}

/// An algorithm on a device, and the checks there.
struct Large {
    algorithm: Algorithm,
    engine: CudaEngine,
    checks: Checks,
}

impl Large {
    fn open(algorithm: Algorithm) -> Result<Large> {
        let engine = CudaEngine::on(Device::open_guarded(0)?)?;
        Ok(Large {
            algorithm,
            checks: Checks::new(engine.stream()),
            engine,
        })
    }

    /// Nothing was written outside of a buffer.
    fn close(self) -> Result<()> {
        self.engine.device().check_canaries()?;
        Ok(())
    }

    fn spec<K: Key>(&self) -> Spec {
        Spec {
            codec: Codec::UNSIGNED,
            bits: 0..K::BITS,
            stable: true,
            algorithm: self.algorithm.name().into(),
        }
    }

    /// `n` random keys, made of the bits of `mask`.
    fn random<K: Key>(&self, n: usize, mask: K) -> Result<Buffer<K>> {
        let mut keys = self.engine.stream().alloc(n)?;
        self.checks.random(&mut keys, n as u64, mask)?;
        Ok(keys)
    }

    /// Keys alone: in order, and the same multiset.
    fn keys<K: Key>(&mut self, n: usize) -> Result<()> {
        let keys = self.random(n, K::MAX)?;
        let before = self.checks.fingerprint::<K>(&keys)?;
        let (sorted, _) = self.engine.sort_resident(keys, &self.spec::<K>(), None)?;
        self.in_order(&sorted, "keys")?;
        let after = self.checks.fingerprint::<K>(&sorted)?;
        ensure!(after == before, "{n} keys: the sorted keys are other keys");
        Ok(())
    }

    /// Keys that repeat, with random values of four bytes: in order, and the same multiset of records.
    fn pairs<K: Key>(&mut self, n: usize) -> Result<()> {
        let keys = self.random(n, K::truncate(FEW))?;
        let mut values = self.engine.stream().alloc::<u8>(4 * n)?;
        let numbers = SliceMut::from(&mut values).cast::<u32>()?;
        self.checks.random(numbers, !n as u64, u32::MAX)?;
        let fingerprint = |keys: &Buffer<K>, values: &Buffer<u8>| {
            let values = Slice::from(values).cast::<u32>()?;
            self.checks.fingerprint_pairs::<K, u32>(keys, values)
        };
        let spec = self.spec::<K>();
        let sorted = self
            .engine
            .sort_pairs_resident(&keys, &values, 4, &spec, None)?;
        self.in_order(&sorted.0, "pairs")?;
        ensure!(
            fingerprint(&sorted.0, &sorted.1)? == fingerprint(&keys, &values)?,
            "{n} pairs: the sorted pairs are other pairs"
        );
        Ok(())
    }

    /// Keys that repeat, for the index that sorts them: each position once, the keys that they lead to
    /// in order, equals in the order of the input. No other index is so.
    fn argsort<K: Key>(&mut self, n: usize) -> Result<()> {
        let keys = self.random(n, K::truncate(FEW))?;
        let (index, _) = self
            .engine
            .argsort_resident(&keys, &self.spec::<K>(), None)?;
        ensure!(
            self.checks.is_permutation(&index)?,
            "argsort of {n}: the index does not name every key once"
        );
        // SAFETY: the index is a permutation of the keys' positions.
        let sorted = unsafe { self.engine.gather(&keys, &index, size_of::<K>())? };
        self.in_order(&sorted, "argsort")?;
        if let Some(i) = self.checks.unstable::<K, u32>(&sorted, &index, K::MAX)? {
            bail!(
                "argsort of {n}: equal keys {i} and {} have changed their order",
                i + 1
            );
        }
        Ok(())
    }

    fn in_order<K: Key>(&self, keys: &Buffer<K>, what: &str) -> Result<()> {
        if let Some(i) = self.checks.disorder(keys, K::MAX)? {
            let n = keys.len();
            bail!("{what}, {n}: keys {i} and {} are out of order", i + 1);
        }
        Ok(())
    }
}
