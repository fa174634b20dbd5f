//! The exclusive scan: by one block as a tree, by many blocks through the scan of their sums.
//!
//! `a = [3, 1, 7, 0]` becomes `[0, 3, 4, 11]`, total 11.

/// The up-sweep: partial sums climb a binary tree laid over the block, whose length is a power of
/// two. The last element ends as the sum of all. Step `s` adds, `2^s` apart, pairs that are
/// `2^(s+1)` apart; `step` sees the array after each.
pub fn up_sweep(block: &mut [usize], mut step: impl FnMut(&[usize])) {
    let mut half = 1;
    while half < block.len() {
        // On a GPU, one thread for each right child.
        for right in (2 * half - 1..block.len()).step_by(2 * half) {
            block[right] += block[right - half];
        }
        half *= 2;
        step(block);
    }
}

/// The down-sweep: a zero at the root, then each node hands its own value to its left child, and
/// that plus the left child's former value to its right child. `step` sees the array after the
/// zero and after each level.
pub fn down_sweep(block: &mut [usize], mut step: impl FnMut(&[usize])) {
    let Some(root) = block.last_mut() else { return };
    *root = 0;
    step(block);
    let mut half = block.len() / 2;
    while half >= 1 {
        for right in (2 * half - 1..block.len()).step_by(2 * half) {
            let left = right - half;
            let (own, left_child) = (block[right], block[left]);
            block[left] = own;
            block[right] = own + left_child;
        }
        half /= 2;
        step(block);
    }
}

/// The exclusive scan of one block, in place; returns the block's sum. The tree is as large as
/// the next power of two, its missing leaves zero.
pub fn block_scan(block: &mut [usize]) -> usize {
    let mut tree = block.to_vec();
    tree.resize(block.len().next_power_of_two(), 0);
    up_sweep(&mut tree, |_| ());
    let sum = *tree.last().expect("a power of two is not zero");
    down_sweep(&mut tree, |_| ());
    block.copy_from_slice(&tree[..block.len()]);
    sum
}

/// The exclusive scan of a whole array, in place, by blocks; returns the array's sum.
///
/// Each block scans its part and lays its sum into `Z`. The scan of `Z`, by the same method, says
/// what to add to each block.
pub fn array_scan(array: &mut [usize], block: usize) -> usize {
    let block = block.max(2);
    let mut z: Vec<usize> = array.chunks_mut(block).map(block_scan).collect();
    match z.len() {
        0 => 0,
        1 => z[0],
        _ => {
            let sum = array_scan(&mut z, block);
            for (part, before) in array.chunks_mut(block).zip(z) {
                part.iter_mut().for_each(|value| *value += before);
            }
            sum
        }
    }
}

/// The steps of [`array_scan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanSteps {
    /// Each block's sweeps.
    pub blocks: Vec<Sweeps>,
    /// The scan of the blocks' sums, where there is more than one block; its results are added to
    /// the blocks, one to each.
    pub sums: Option<Box<ScanSteps>>,
}

/// The sweeps over one block's tree. All rows are as long as the tree has leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweeps {
    /// The block's first index in the array.
    pub start: usize,
    /// The leaves, and the array after each level of the up-sweep.
    pub up: Vec<Vec<usize>>,
    /// The array with the zero at the root, and after each level of the down-sweep.
    pub down: Vec<Vec<usize>>,
}

/// What [`array_scan`] does, step by step.
pub fn steps(array: &[usize], block: usize) -> ScanSteps {
    let block = block.max(2);
    let blocks: Vec<Sweeps> = array
        .chunks(block)
        .enumerate()
        .map(|(b, part)| {
            let mut tree = part.to_vec();
            tree.resize(part.len().next_power_of_two(), 0);
            let (mut up, mut down) = (vec![tree.clone()], Vec::new());
            up_sweep(&mut tree, |row| up.push(row.to_vec()));
            down_sweep(&mut tree, |row| down.push(row.to_vec()));
            let start = b * block;
            Sweeps { start, up, down }
        })
        .collect();
    let z: Vec<usize> = array.chunks(block).map(|part| part.iter().sum()).collect();
    let sums = (z.len() > 1).then(|| Box::new(steps(&z, block)));
    ScanSteps { blocks, sums }
}

/// The exclusive scan of an array, with the sum as one entry more.
pub fn with_total(array: &[usize], block: usize) -> Vec<usize> {
    let mut scan = array.to_vec();
    let total = array_scan(&mut scan, block);
    scan.push(total);
    scan
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any length in blocks of any size gives running sums.
    #[test]
    fn scans_are_running_sums() {
        for n in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000] {
            let array: Vec<usize> = (0..n).map(|i| i * 7 % 11).collect();
            let sums: Vec<usize> = (0..=n).map(|i| array[..i].iter().sum()).collect();
            for block in [1, 2, 4, 5, 16, 2048] {
                assert_eq!(
                    with_total(&array, block),
                    sums,
                    "{n} values in blocks of {block}"
                );
            }
        }
    }

    /// The last rows of the trees, and the scanned sums added to them, are the scan.
    #[test]
    fn steps_end_as_the_scan() {
        fn end(steps: &ScanSteps) -> Vec<usize> {
            let before = steps.sums.as_deref().map(end);
            let rows = steps.blocks.iter().enumerate();
            rows.flat_map(|(b, sweeps)| {
                let before = before.as_ref().map_or(0, |before| before[b]);
                let last = sweeps.down.last().expect("a zero at the root");
                last.iter().map(move |value| value + before)
            })
            .collect()
        }
        for n in [1, 2, 3, 4, 16, 17, 65] {
            let array: Vec<usize> = (0..n).map(|i| i * 5 % 7).collect();
            for block in [2, 4, 8] {
                let mut scan = array.clone();
                array_scan(&mut scan, block);
                assert_eq!(end(&steps(&array, block))[..n], scan, "{n}, {block}");
            }
        }
    }

    #[test]
    fn sweeps_step_by_step() {
        let mut block = [3, 1, 7, 0, 4, 1, 6, 3];
        let mut steps = Vec::new();
        up_sweep(&mut block, |block| steps.push(block.to_vec()));
        assert_eq!(
            steps,
            [
                [3, 4, 7, 7, 4, 5, 6, 9],
                [3, 4, 7, 11, 4, 5, 6, 14],
                [3, 4, 7, 11, 4, 5, 6, 25]
            ]
        );
        steps.clear();
        down_sweep(&mut block, |block| steps.push(block.to_vec()));
        assert_eq!(
            steps,
            [
                [3, 4, 7, 11, 4, 5, 6, 0],
                [3, 4, 7, 0, 4, 5, 6, 11],
                [3, 0, 7, 4, 4, 11, 6, 16],
                [0, 3, 4, 11, 11, 15, 16, 22]
            ]
        );
    }
}
