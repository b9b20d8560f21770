//! Products by cuBLAS on copies of the operands with padded rows, in the operands' element type or in float64.

use gpubench_backend::Prepared;
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::dense::DenseJob;
use super::{WORKSPACE, bytes, side};
use crate::context::{Cuda, DeviceElement};
use crate::ffi::cublas::{Arithmetic, Cublas};
use crate::ffi::padded::{PaddedCopies, padded_side};

/// Prepares the product of matrices of `T`, computed in IEEE arithmetic of `W` and rounded to `T` once.
pub(super) fn product<T: DeviceElement, W: DeviceElement>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let arithmetic = match W::DTYPE {
        DType::F32 => Arithmetic::F32,
        DType::F64 => Arithmetic::F64,
    };
    let n = case.side();
    let padded = padded_side(n);
    let (blas_n, blas_padded) = (side(case)?, side(&Case { n: padded as u64, ..case.clone() })?);
    let len = padded * padded;
    // In float64 cuBLAS was measured to be as fast if only the operands are padded, where the rows of the answer begin at
    // multiples of 16 bytes, too.
    let answer_in_place = T::DTYPE == DType::F64 && (n * size_of::<T>()).is_multiple_of(16);
    let padded_copies = if answer_in_place { 2 } else { 3 };
    cuda.reserve(
        3 * bytes(case, size_of::<T>()) + padded_copies * (len * size_of::<W>()) as u128 + WORKSPACE,
    )?;
    let cublas = Cublas::new(cuda)?;
    let copies = PaddedCopies::<T, W>::load(cuda, n, padded)?;
    let (mut wide_a, mut wide_b) = (cuda.alloc::<W>(len)?, cuda.alloc::<W>(len)?);
    let mut wide_c = if answer_in_place { None } else { Some(cuda.alloc::<W>(len)?) };
    let job = DenseJob::<T, 2, _>::new(cuda, case, inputs, move |Cuda { stream, .. }, [a, b], c| {
        copies.pad(stream, a, &mut wide_a)?;
        copies.pad(stream, b, &mut wide_b)?;
        let Some(wide_c) = &mut wide_c else {
            return cublas.multiply_padded(arithmetic, blas_n, blas_padded, &wide_a, &wide_b, c);
        };
        cublas.multiply(arithmetic, blas_padded, &wide_a, &wide_b, wide_c)?;
        copies.unpad(stream, wide_c, c)
    })?;
    Ok(Prepared::new(job))
}
