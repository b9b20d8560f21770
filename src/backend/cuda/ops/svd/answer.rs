//! From what a decomposition leaves on the device to the answer: its verdict and its layout.

use crate::error::CellError;

/// What a routine's `info` says: 0 is success.
pub(super) fn converged(info: i32) -> Result<(), CellError> {
    match info {
        0 => Ok(()),
        1.. => {
            Err(CellError::Failed(format!("the decomposition did not converge (info {info}); try float64")))
        }
        _ => Err(CellError::Failed(format!(
            "cuSOLVER refused argument {}; please report this",
            info.unsigned_abs()
        ))),
    }
}

/// The transpose of an `n x n` matrix.
pub(super) fn transposed<T: Copy>(n: usize, matrix: &[T]) -> Vec<T> {
    (0..n * n).map(|i| matrix[i % n * n + i / n]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_swaps_rows_and_columns() {
        assert_eq!(transposed(2, &[1, 2, 3, 4]), [1, 3, 2, 4]);
        assert_eq!(transposed(3, &transposed(3, &[1, 2, 3, 4, 5, 6, 7, 8, 9])), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert!(transposed::<f32>(0, &[]).is_empty());
    }

    #[test]
    fn a_decomposition_that_did_not_converge_has_no_answer() {
        converged(0).unwrap();
        assert!(converged(101).unwrap_err().to_string().contains("did not converge"));
        assert!(converged(-1).unwrap_err().to_string().contains("argument 1"));
    }
}
