//! What must come out of a sort, by the standard library's stable sort.

use crate::order::{Ordered, Wanted};

/// The positions of the keys in the wanted order, ties in input order: what an argsort must give.
///
/// ```
/// use sweepsort_testkit::{Wanted, oracle};
/// assert_eq!(oracle::order(&[5, 3, 5], &Wanted::default()), [1, 0, 2]);
/// ```
pub fn order<K: Ordered>(keys: &[K], wanted: &Wanted) -> Vec<usize> {
    if K::BITS > 128 {
        order_by(keys, |a, b| wanted.compare(a, b))
    } else if K::BITS > 64 || wanted.order == sweepsort_core::Order::Descending {
        by_rank(keys.iter().map(|key| wanted.rank_of(key)))
    } else {
        by_rank(keys.iter().map(|key| wanted.rank_of(key) as u64))
    }
}

/// As [`order`], for any keys and any order.
pub fn order_by<K>(
    keys: &[K],
    mut compare: impl FnMut(&K, &K) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| compare(&keys[a], &keys[b]));
    order
}

fn by_rank<R: Ord + Copy>(ranks: impl Iterator<Item = R>) -> Vec<usize> {
    let mut ranked: Vec<(R, usize)> = ranks.zip(0..).collect();
    ranked.sort_by_key(|&(rank, _)| rank);
    ranked.into_iter().map(|(_, i)| i).collect()
}

/// The keys in the wanted order.
pub fn sorted<K: Ordered>(keys: &[K], wanted: &Wanted) -> Vec<K> {
    follow(keys, &order(keys, wanted))
}

/// Keys and values in the wanted order, ties in input order.
pub fn sorted_pairs<K: Ordered, V: Copy>(
    keys: &[K],
    values: &[V],
    wanted: &Wanted,
) -> (Vec<K>, Vec<V>) {
    let order = order(keys, wanted);
    (follow(keys, &order), follow(values, &order))
}

/// `data[order[0]]`, `data[order[1]]`, …
pub fn follow<T: Copy>(data: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&i| data[i]).collect()
}

/// Where two slices of keys first differ in their bits in memory ([`Ordered::raw`]), in words;
/// `None` where they are the same.
pub fn first_difference<K: Ordered>(got: &[K], expected: &[K]) -> Option<String> {
    if got.len() != expected.len() {
        return Some(format!("{} keys, expected {}", got.len(), expected.len()));
    }
    let i = (0..got.len()).find(|&i| got[i].raw() != expected[i].raw())?;
    Some(format!(
        "key {i} is {:?} ({:#x}), expected {:?} ({:#x})",
        got[i],
        got[i].raw(),
        expected[i],
        expected[i].raw()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, generate};
    use sweepsort_core::{Nan, Order};

    /// The three ways of making an order agree, ties and policies included.
    #[test]
    fn ranks_and_comparisons_give_one_order() {
        let keys: Vec<half::f16> = crate::Pattern::Special.keys(3000, 3, &Wanted::default());
        for &direction in Order::ALL {
            for &nan in Nan::ALL {
                for bits in [None, Some(0..16), Some(3..12), Some(5..5)] {
                    for ties in [false, true] {
                        let wanted = Wanted {
                            order: direction,
                            nan,
                            bits: bits.clone(),
                            ties,
                        };
                        let expected = order_by(&keys, |a, b| wanted.compare(a, b));
                        assert_eq!(order(&keys, &wanted), expected, "{wanted:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn integers_come_as_the_standard_library_sorts_them() {
        let keys: Vec<i64> = generate(Distribution::Uniform, 1000, 5).unwrap();
        let mut expected = keys.clone();
        expected.sort();
        assert_eq!(sorted(&keys, &Wanted::default()), expected);
        expected.sort_by(|a, b| b.cmp(a));
        let descending = Wanted::of_keys(Order::Descending, Nan::Total, None);
        assert_eq!(sorted(&keys, &descending), expected);
    }
}
