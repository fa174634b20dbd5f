//! The transpose of a matrix that lies row by row.

/// The transpose of a matrix of rows of `columns` values: `t[c * rows + r] = a[r * columns + c]`.
pub fn transpose(matrix: &[usize], columns: usize) -> Vec<usize> {
    // An empty matrix has no rows, or no columns.
    let rows = matrix.len().checked_div(columns).unwrap_or(0);
    let mut transposed = vec![0; matrix.len()];
    for r in 0..rows {
        for c in 0..columns {
            transposed[c * rows + r] = matrix[r * columns + c];
        }
    }
    transposed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_is_once_more() {
        let matrix = [1, 2, 3, 4, 5, 6];
        assert_eq!(transpose(&matrix, 3), [1, 4, 2, 5, 3, 6]);
        assert_eq!(transpose(&transpose(&matrix, 3), 2), matrix);
    }
}
