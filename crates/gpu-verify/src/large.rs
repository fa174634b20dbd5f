//! Sizes beyond the testkit's table, checked by order, fingerprint and positions.

use std::borrow::Cow;

use sweepsort_core::{Codec, Engine, IndexMut, Spec, Task, Word};
use sweepsort_cuda::CudaEngine;
use sweepsort_cuda::classic::{Algorithm, Key};

/// Sorts `n` random keys, and argsorts them: both must be in order, the keys the same multiset, and
/// equal keys in input order. Keys repeat: they have 20 bits of their own in each half.
pub fn run<K: Key>(algorithm: Algorithm, n: usize) -> Result<usize, String>
where
    for<'a> sweepsort_core::WordsMut<'a>: From<&'a mut [K]>,
    for<'a> sweepsort_core::Words<'a>: From<&'a [K]>,
{
    let engine = CudaEngine::open(0).map_err(|error| error.to_string())?;
    let spec = Spec {
        codec: Codec::UNSIGNED,
        bits: 0..K::BITS,
        stable: true,
        algorithm: Cow::Borrowed(algorithm.name()),
    };
    let keys: Vec<K> = random(n);
    let mut sorted = keys.clone();
    let ran = engine.run(Task::Keys(sorted.as_mut_slice().into()), &spec);
    ran.map_err(|error| error.to_string())?;
    if let Some(i) = sorted.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(format!("keys {i} and {} are out of order", i + 1));
    }
    if fingerprint(&keys) != fingerprint(&sorted) {
        return Err("the sorted keys are other keys".into());
    }
    let mut index = vec![0u32; n];
    let task = Task::Argsort(keys.as_slice().into(), IndexMut::U32(&mut index));
    engine.run(task, &spec).map_err(|error| error.to_string())?;
    for (i, &position) in index.iter().enumerate() {
        if keys[position as usize] != sorted[i] {
            return Err(format!("index {i} leads to another key than the sort's"));
        }
        if i > 0 && sorted[i - 1] == sorted[i] && index[i - 1] >= position {
            return Err(format!(
                "equal keys {} and {i} have changed their order",
                i - 1
            ));
        }
    }
    Ok(2 * n)
}

/// Keys of a linear congruential generator, some bits of each cleared so that keys repeat.
fn random<K: Word>(n: usize) -> Vec<K> {
    let mut state = n as u128 | 1;
    let mask = K::truncate(0xf0ff_0fff_f0ff_0fff_f0ff_0fff_f0ff_0fff);
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
                .wrapping_add(11);
            K::truncate(state >> 64) & mask
        })
        .collect()
}

/// A sum that is the same for any order, and hardly so for other keys.
fn fingerprint<K: Word>(keys: &[K]) -> u64 {
    keys.iter().fold(0u64, |sum, key| {
        let mut x = key.widen() as u64 ^ 0x9e37_79b9_7f4a_7c15;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        sum.wrapping_add(x ^ (x >> 31))
    })
}
