//! A float32 product by cuBLAS in float64: exact products, sums rounded to float64, and one rounding to float32 at
//! the end. It is fast where float64 tensor cores are no slower than float32 arithmetic.

use gpubench_backend::Prepared;
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::dense::Dense;
use super::{WORKSPACE, bytes, elements, side};
use crate::context::Cuda;
use crate::ffi::cublas::{Arithmetic, Cublas};
use crate::ffi::launch::Map;
use crate::kernels::{KernelSource, kernel_source};

pub(crate) static SOURCE: KernelSource = kernel_source!("convert");

pub(super) fn prepare(cuda: &Cuda, case: &Case, inputs: &[Operand]) -> Result<Box<Prepared>, CellError> {
    let (n, len) = (side(case)?, elements(case));
    cuda.reserve(3 * bytes(case, 4 + 8) + WORKSPACE)?;
    let cublas = Cublas::new(cuda)?;
    let widen = Map::<f32, f64, 1>::load(cuda, &SOURCE, "f32_to_f64", len)?;
    let narrow = Map::<f64, f32, 1>::load(cuda, &SOURCE, "f64_to_f32", len)?;
    let (mut wide_a, mut wide_b, mut wide_c) = (cuda.alloc(len)?, cuda.alloc(len)?, cuda.alloc(len)?);
    let job = Dense::new(cuda, case, inputs, move |Cuda { stream, .. }, [a, b], c| {
        widen.run(stream, [a], &mut wide_a)?;
        widen.run(stream, [b], &mut wide_b)?;
        cublas.multiply(Arithmetic::F64, n, &wide_a, &wide_b, &mut wide_c)?;
        narrow.run(stream, [&wide_c], c)
    })?;
    Ok(Prepared::new(job))
}
