//! Codes down a tree of bounds, by the vectors of x86-64.
//!
//! ```text
//! k = 1                                                   the root, in every lane
//! level by level: k = 2k + (code > bound of node k)
//! ```
//!
//! Where the bounds of a level fit registers, a permutation fetches them. It takes the low bits of `k`
//! for the place in a register, or in a pair, and knows nothing of the higher ones: so nodes 0 to 15
//! serve the first four levels, 16 to 31 the next. Where a level takes several pairs, the comparisons of
//! the first levels, which are those higher bits, choose among what each pair gives. Below that, bounds
//! are gathered from memory.

use std::arch::x86_64::*;
use std::array::from_fn;
use std::hint::black_box;

use crate::splitters::Tree;

/// Calls a search by its levels.
macro_rules! by_levels {
    ($tree:ident, $search:ident($($argument:expr),*)) => {
        match $tree.levels {
            5 => $search::<5>($($argument),*),
            6 => $search::<6>($($argument),*),
            7 => $search::<7>($($argument),*),
            _ => $search::<8>($($argument),*),
        }
    };
}

/// Searches for `n` codes, a multiple of 16, and returns `n`.
///
/// # Safety
/// See [`Lanes::search`](crate::lanes::Lanes::search).
pub(super) unsafe fn wide32(
    tree: &Tree<u32>,
    codes: *const u32,
    n: usize,
    below: *mut u8,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { by_levels!(tree, wide32_levels(tree, codes, n, below)) };
    n
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn wide32_levels<const LEVELS: u32>(
    tree: &Tree<u32>,
    codes: *const u32,
    n: usize,
    below: *mut u8,
) {
    // SAFETY: the tree's nodes fill 16 registers; codes and results are whole vectors.
    unsafe {
        let nodes = tree.nodes.as_ptr();
        let t: [__m512i; 16] = from_fn(|i| _mm512_load_si512(nodes.add(16 * i).cast()));
        let root = _mm512_set1_epi32(tree.nodes[1] as i32);
        // Were this one known to the compiler, each mask would be made into ones, by three instructions.
        let one = _mm512_set1_epi32(black_box(1));
        let above = |code, bound| _mm512_cmpgt_epu32_mask(code, bound);
        let step = |k, above| {
            let k = _mm512_add_epi32(k, k);
            _mm512_mask_add_epi32(k, above, k, one)
        };
        let choose = |above, low, high| _mm512_mask_blend_epi32(above, low, high);
        for start in (0..n).step_by(16) {
            let code = _mm512_loadu_si512(codes.add(start).cast());
            let single = |k, i: usize| _mm512_permutexvar_epi32(k, t[i]);
            let pair = |k, i: usize| _mm512_permutex2var_epi32(t[i], k, t[i + 1]);
            let first = above(code, root);
            let k = choose(first, _mm512_set1_epi32(2), _mm512_set1_epi32(3));
            let second = above(code, single(k, 0));
            let k = step(k, second);
            let k = step(k, above(code, single(k, 0)));
            let k = step(k, above(code, single(k, 0)));
            let mut k = step(k, above(code, single(k, 1)));
            if LEVELS > 5 {
                k = step(k, above(code, pair(k, 2)));
            }
            if LEVELS > 6 {
                k = step(k, above(code, choose(first, pair(k, 4), pair(k, 6))));
            }
            if LEVELS > 7 {
                let low = choose(second, pair(k, 8), pair(k, 10));
                let high = choose(second, pair(k, 12), pair(k, 14));
                k = step(k, above(code, choose(first, low, high)));
            }
            // The bit of the root, which the last of eight levels moves out of the byte.
            let k = _mm512_and_si512(k, _mm512_set1_epi32((1 << LEVELS) - 1));
            _mm_storeu_si128(below.add(start).cast(), _mm512_cvtepi32_epi8(k));
        }
    }
}

/// Searches for `n` codes, a multiple of 8, and returns `n`.
///
/// # Safety
/// See [`Lanes::search`](crate::lanes::Lanes::search).
pub(super) unsafe fn wide64(
    tree: &Tree<u64>,
    codes: *const u64,
    n: usize,
    below: *mut u8,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { by_levels!(tree, wide64_levels(tree, codes, n, below)) };
    n
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn wide64_levels<const LEVELS: u32>(
    tree: &Tree<u64>,
    codes: *const u64,
    n: usize,
    below: *mut u8,
) {
    // SAFETY: the tree's nodes fill 32 registers, and `k` is below their number where it gathers them;
    // codes and results are whole vectors.
    unsafe {
        let nodes = tree.nodes.as_ptr();
        let t: [__m512i; 16] = from_fn(|i| _mm512_load_si512(nodes.add(8 * i).cast()));
        let root = _mm512_set1_epi64(tree.nodes[1] as i64);
        // As above.
        let one = _mm512_set1_epi64(black_box(1));
        let above = |code, bound| _mm512_cmpgt_epu64_mask(code, bound);
        let step = |k, above| {
            let k = _mm512_add_epi64(k, k);
            _mm512_mask_add_epi64(k, above, k, one)
        };
        let choose = |above, low, high| _mm512_mask_blend_epi64(above, low, high);
        for start in (0..n).step_by(8) {
            let code = _mm512_loadu_si512(codes.add(start).cast());
            let single = |k, i: usize| _mm512_permutexvar_epi64(k, t[i]);
            let pair = |k, i: usize| _mm512_permutex2var_epi64(t[i], k, t[i + 1]);
            let first = above(code, root);
            let k = choose(first, _mm512_set1_epi64(2), _mm512_set1_epi64(3));
            let second = above(code, single(k, 0));
            let k = step(k, second);
            let k = step(k, above(code, single(k, 0)));
            let k = step(k, above(code, single(k, 1)));
            let mut k = step(k, above(code, pair(k, 2)));
            if LEVELS > 5 {
                k = step(k, above(code, choose(first, pair(k, 4), pair(k, 6))));
            }
            if LEVELS > 6 {
                let low = choose(second, pair(k, 8), pair(k, 10));
                let high = choose(second, pair(k, 12), pair(k, 14));
                k = step(k, above(code, choose(first, low, high)));
            }
            if LEVELS > 7 {
                // 128 bounds: eight permutations and their choices took a third longer in all.
                let bound = _mm512_i64gather_epi64::<8>(k, nodes.cast());
                k = step(k, above(code, bound));
            }
            let k = _mm512_and_si512(k, _mm512_set1_epi64((1 << LEVELS) - 1));
            _mm_storel_epi64(below.add(start).cast(), _mm512_cvtepi64_epi8(k));
        }
    }
}

/// Searches for `n` codes, a multiple of 8, and returns `n`.
///
/// # Safety
/// See [`Lanes::search`](crate::lanes::Lanes::search).
pub(super) unsafe fn half32(
    tree: &Tree<u32>,
    codes: *const u32,
    n: usize,
    below: *mut u8,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { by_levels!(tree, half32_levels(tree, codes, n, below)) };
    n
}

#[target_feature(enable = "avx2")]
unsafe fn half32_levels<const LEVELS: u32>(
    tree: &Tree<u32>,
    codes: *const u32,
    n: usize,
    below: *mut u8,
) {
    // SAFETY: `k` is below the number of nodes where it gathers them; codes and results are whole
    // vectors.
    unsafe {
        let nodes = tree.nodes.as_ptr();
        // Comparisons are of signed numbers.
        let signed = |a| _mm256_xor_si256(a, _mm256_set1_epi32(i32::MIN));
        let t: [__m256i; 4] = from_fn(|i| signed(_mm256_load_si256(nodes.add(8 * i).cast())));
        let root = signed(_mm256_set1_epi32(tree.nodes[1] as i32));
        let step = |k, above| _mm256_sub_epi32(_mm256_add_epi32(k, k), above);
        for start in (0..n).step_by(8) {
            let code = signed(_mm256_loadu_si256(codes.add(start).cast()));
            let above = |bound| _mm256_cmpgt_epi32(code, bound);
            let single = |k, i: usize| _mm256_permutevar8x32_epi32(t[i], k);
            let first = above(root);
            let k = _mm256_sub_epi32(_mm256_set1_epi32(2), first);
            let k = step(k, above(single(k, 0)));
            let k = step(k, above(single(k, 0)));
            let k = step(k, above(single(k, 1)));
            let bound = _mm256_blendv_epi8(single(k, 2), single(k, 3), first);
            let mut k = step(k, above(bound));
            for _ in 5..LEVELS {
                let bound = _mm256_i32gather_epi32::<4>(nodes.cast(), k);
                k = step(k, above(signed(bound)));
            }
            let k = _mm256_and_si256(k, _mm256_set1_epi32((1 << LEVELS) - 1));
            let k = _mm_packus_epi32(_mm256_castsi256_si128(k), _mm256_extracti128_si256::<1>(k));
            _mm_storel_epi64(below.add(start).cast(), _mm_packus_epi16(k, k));
        }
    }
}
