//! Converts operands and outputs of decompositions on the device: their layouts, and `info`.

use cudarc::driver::CudaSlice;
use gpubench_report::case::Case;
use gpubench_report::data::{Dense, Operand};
use gpubench_report::shape::BATCH;

use super::super::dense::by_columns;
use crate::ffi::cusolver::{MatrixBatch, Vectors};
use crate::{CellError, Cuda, DeviceValue, Result, Setup};

/// The layout in which a routine leaves the right singular vectors.
#[derive(Clone, Copy)]
pub enum Right {
    /// As the columns of a column-major matrix: V.
    Columns,
    /// As the rows of a column-major matrix: Vᵀ.
    Rows,
}

/// Matrices of m x n as a routine takes them, which wants column-major ones with at least as many rows as columns.
#[derive(Clone, Copy)]
pub struct Oriented {
    /// The matrices of the routine.
    pub batch: MatrixBatch,
    /// Whether they are A column after column. Else the rows of A are their columns: they are Aᵀ.
    by_columns: bool,
}

impl Oriented {
    /// Returns the matrices of a case. Those with more rows than columns are to be uploaded by [`Oriented::upload`].
    pub fn of(case: &Case) -> Oriented {
        let [m, n, count] = case.extents(["m", "n", BATCH]);
        let parts = if case.dtype.is_complex() { 2 } else { 1 };
        Oriented { batch: MatrixBatch { rows: m.max(n), cols: m.min(n), count, parts }, by_columns: m > n }
    }

    /// One matrix of n x n.
    pub fn square(n: usize) -> Oriented {
        Oriented { batch: MatrixBatch::square(n), by_columns: false }
    }

    /// Uploads the operand. A check that changes its first element finds it first in both orders.
    pub fn upload<T: DeviceValue>(self, setup: Setup<'_>) -> Result<CudaSlice<T::Stored>> {
        let MatrixBatch { rows, cols, .. } = self.batch;
        match self.by_columns {
            true => setup.cuda.upload(T::stored(&by_columns(setup.input::<T>(0)?, rows, cols))),
            false => setup.upload::<T>(0),
        }
    }
}

/// Returns the answer, after checking `info` of each matrix.
///
/// Of Aᵀ = U' S V'ᵀ, the decomposition is A = V' S U'ᵀ. A column-major U' read by rows is U'ᵀ, which is already Vᵀ; a column-major V'ᵀ
/// read by rows is V', which is already U. Of complex matrices this holds of U' and of V'ᴴ; V' itself is conjugated.
///
/// # Errors
/// The routine did not converge, or the device fails.
pub fn answer<T: DeviceValue>(
    cuda: &Cuda,
    of: Oriented,
    info: &CudaSlice<i32>,
    (found, right): (&Vectors<T::Stored>, Right),
) -> Result<Vec<Operand>> {
    cuda.download(info)?.into_iter().try_for_each(check_info)?;
    let MatrixBatch { rows, cols, count, .. } = of.batch;
    let mut left = T::restored(cuda.download(&found.u)?);
    if found.u_cols > cols {
        left = left.chunks_exact(rows * found.u_cols).flat_map(|u| &u[..rows * cols]).copied().collect();
    }
    // The columns of V follow each other where its transpose has them as rows.
    let (of_v, mut v) = (matches!(right, Right::Columns), T::restored(cuda.download(&found.v)?));
    if of_v && T::DTYPE.is_complex() {
        v.iter_mut().for_each(|entry| *entry = entry.conjugate());
    }
    let values = T::numbers(cuda.download(&found.s)?);
    let singular = Operand::Dense(Dense { rows: count * cols, cols: 1, values });
    if of.by_columns {
        let u = Operand::dense(count * rows, cols, by_columns(&left, cols, rows));
        let vt = if of_v { v } else { by_columns(&v, cols, cols) };
        return Ok(vec![u, singular, Operand::dense(count * cols, cols, vt)]);
    }
    let u = if of_v { by_columns(&v, cols, cols) } else { v };
    Ok(vec![Operand::dense(count * cols, cols, u), singular, Operand::dense(count * cols, rows, left)])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decomposition_that_did_not_converge_has_no_answer() {
        check_info(0).unwrap();
        assert!(check_info(101).unwrap_err().to_string().contains("did not converge"));
        assert!(check_info(-1).unwrap_err().to_string().contains("argument 1"));
    }
}
