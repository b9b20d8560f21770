//! Products by cuBLAS on copies of the operands with padded rows, in the operands' element type or in float64.

use gpubench_backend::Prepared;
use gpubench_model::case::{Case, DType};
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::dense::Dense;
use super::{WORKSPACE, bytes, side};
use crate::context::{Cuda, Element};
use crate::ffi::cublas::{Arithmetic, Cublas};
use crate::ffi::padded::PaddedCopies;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("convert");

/// Multiple to which rows and columns are padded with zeros. cuBLAS reads 16 bytes at a time only where rows begin at
/// multiples of 16 bytes, so an odd N would take a slower kernel; at many odd multiples of 8 its kernels take longer than at
/// the next multiple of 16.
const MULTIPLE: usize = 16;

/// Prepares the product of matrices of `T`, computed in IEEE arithmetic of `W` and rounded to `T` once.
pub(super) fn product<T: Element, W: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let arithmetic = match W::DTYPE {
        DType::F32 => Arithmetic::F32,
        DType::F64 => Arithmetic::F64,
    };
    let padded = case.side().next_multiple_of(MULTIPLE);
    let side = side(&Case { n: padded as u64, ..case.clone() })?;
    let len = padded * padded;
    cuda.reserve(3 * (bytes(case, size_of::<T>()) + (len * size_of::<W>()) as u128) + WORKSPACE)?;
    let cublas = Cublas::new(cuda)?;
    let copies = PaddedCopies::<T, W>::load(cuda, &SOURCE, case.side(), padded)?;
    let (mut wide_a, mut wide_b, mut wide_c) = (cuda.alloc::<W>(len)?, cuda.alloc(len)?, cuda.alloc(len)?);
    let job = Dense::<T, 2, _>::new(cuda, case, inputs, move |Cuda { stream, .. }, [a, b], c| {
        copies.pad(stream, a, &mut wide_a)?;
        copies.pad(stream, b, &mut wide_b)?;
        cublas.multiply(arithmetic, side, &wide_a, &wide_b, &mut wide_c)?;
        copies.unpad(stream, &wide_c, c)
    })?;
    Ok(Prepared::new(job))
}
