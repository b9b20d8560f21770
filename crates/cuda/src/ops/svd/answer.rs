//! Converts the output of a decomposition on the device to the answer: checks `info` and the layout.

use cudarc::driver::CudaSlice;
use gpubench_report::data::Operand;

use crate::ffi::cusolver::Vectors;
use crate::{CellError, Cuda, DeviceElement, Result};

/// The layout in which a routine leaves the right singular vectors.
#[derive(Clone, Copy)]
pub enum Right {
    /// As the columns of a column-major matrix: V.
    Columns,
    /// As the rows of a column-major matrix: Vᵀ.
    Rows,
}

/// Returns the answer of an `n x n` decomposition, after checking its `info`.
///
/// A row-major A is Aᵀ to the routine. Its Aᵀ = U' S V'ᵀ means A = V' S U'ᵀ. A column-major U' read by rows is U'ᵀ,
/// which is already Vᵀ; a column-major V'ᵀ read by rows is V', which is already U.
///
/// # Errors
/// The routine did not converge, or the device fails.
pub fn answer<T: DeviceElement>(
    cuda: &Cuda,
    n: usize,
    info: &CudaSlice<i32>,
    (found, right): (&Vectors<T>, Right),
) -> Result<Vec<Operand>> {
    check_info(cuda.download(info)?[0])?;
    let left = cuda.download(&found.v)?;
    let left = match right {
        Right::Columns => transposed(n, &left),
        Right::Rows => left,
    };
    let (singular, right) = (cuda.download(&found.s)?, cuda.download(&found.u)?);
    Ok(vec![Operand::dense(n, n, left), Operand::dense(n, 1, singular), Operand::dense(n, n, right)])
}

/// Converts a routine's `info`: 0 is success.
///
/// # Errors
/// `info` is not 0.
pub fn check_info(info: i32) -> Result<()> {
    match info {
        0 => Ok(()),
        1.. => {
            Err(CellError::Failed(format!("the decomposition did not converge (info {info}); try float64")))
        }
        _ => Err(CellError::Failed(format!(
            "cuSOLVER rejected argument {}; please report this bug",
            info.unsigned_abs()
        ))),
    }
}

fn transposed<T: Copy>(n: usize, matrix: &[T]) -> Vec<T> {
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
        check_info(0).unwrap();
        assert!(check_info(101).unwrap_err().to_string().contains("did not converge"));
        assert!(check_info(-1).unwrap_err().to_string().contains("argument 1"));
    }
}
