//! Work on chunks of keys by all threads. Not generic over what is done, so that it is compiled once and not
//! for each type of keys.

use rayon::prelude::*;

/// Does `work` on each chunk, told which it is.
pub fn for_each<K: Send>(keys: &mut [K], chunk: usize, work: &(dyn Fn(usize, &mut [K]) + Sync)) {
    keys.par_chunks_mut(chunk)
        .enumerate()
        .for_each(|(i, keys)| work(i, keys));
}

/// What `look` finds in the first of so many chunks in which it finds something.
pub fn find(chunks: usize, look: &(dyn Fn(usize) -> Option<usize> + Sync)) -> Option<usize> {
    (0..chunks).into_par_iter().find_map_first(look)
}

/// The sum of `part` of so many chunks, modulo 2^128.
pub fn sum(chunks: usize, part: &(dyn Fn(usize) -> u128 + Sync)) -> u128 {
    (0..chunks)
        .into_par_iter()
        .map(part)
        .reduce(|| 0, u128::wrapping_add)
}
