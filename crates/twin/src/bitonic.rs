//! The bitonic merge: two sorted runs become one by compare-exchanges at halving distances.
//!
//! The second run is turned round, which makes the two together rise and then fall. Comparing
//! neighbours at half the length leaves every element of the lower half below every element of
//! the upper, and each half again rising and falling.

/// Merges `first` and `second`, each in order, into one run in order. The network needs a power of
/// two; missing elements stand at the peak of the two runs as guards (`None`) that are greater than
/// all. `step` sees the array after the reversal, and after each distance of the network.
///
/// Where no two elements are equal, as when each carries its position, the merge is stable.
pub fn merge<T: Copy + Ord>(
    first: &[T],
    second: &[T],
    mut step: impl FnMut(&[Option<T>]),
) -> Vec<T> {
    let len = (first.len() + second.len()).next_power_of_two();
    let mut run: Vec<Option<T>> = first.iter().copied().map(Some).collect();
    run.resize(len - second.len(), None);
    run.extend(second.iter().rev().copied().map(Some));
    step(&run);
    let mut distance = len / 2;
    while distance >= 1 {
        compare_exchange(&mut run, distance);
        step(&run);
        distance /= 2;
    }
    run.into_iter().flatten().collect()
}

/// One step of the network: of each two elements compared, the smaller to the left.
pub fn compare_exchange<T: Copy + Ord>(run: &mut [Option<T>], distance: usize) {
    // On a GPU, one thread for each pair.
    for (i, j) in pairs(run.len(), distance) {
        if greater(run[i], run[j]) {
            run.swap(i, j);
        }
    }
}

/// The indices that a step compares: within each stretch of `2 * distance`, element `i` of the lower
/// half and element `i` of the upper half.
pub fn pairs(len: usize, distance: usize) -> impl Iterator<Item = (usize, usize)> {
    let stretches = (0..len).step_by(2 * distance);
    stretches.flat_map(move |start| (start..start + distance).map(move |i| (i, i + distance)))
}

/// A guard is greater than all.
pub(crate) fn greater<T: Ord>(a: Option<T>, b: Option<T>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a > b,
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs of lengths, interleaved in different ways.
    #[test]
    fn merges_runs_of_any_length() {
        for n in 0..20usize {
            for m in 0..20usize {
                for stride in 1..4 {
                    let first: Vec<usize> = (0..n).map(|i| i * stride * 2).collect();
                    let second: Vec<usize> = (0..m).map(|i| i * 3 + 1).collect();
                    let mut expected = [first.clone(), second.clone()].concat();
                    expected.sort();
                    assert_eq!(merge(&first, &second, |_| ()), expected);
                }
            }
        }
    }
}
