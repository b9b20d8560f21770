//! The variants of the matrix product: BLAS gemm, faer, and the kernel of ndarray.

use faer::{Accum, MatMut, MatRef};
use gpubench_backend::Prepared;
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;
use ndarray::{LinalgScalar, linalg};

use super::matrices::{Matrices, MatrixKernel, on_one_thread};
use super::variants::{CpuVariant, LibraryVariant, Scope, by_dtype, variant};
use crate::libs::blas::{Blas, BlasLibrary, BlasThreads};
use crate::threads::{Faer, PooledJob};

pub(super) const LIBRARY_VARIANTS: &[LibraryVariant] = &[LibraryVariant {
    op: "matmul",
    suffix: "",
    summary: "{} gemm on ndarray's arrays",
    scope: Scope::Blas,
    prepare: by_dtype!(blas with library),
}];

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("matmul", "faer", "faer, all threads", true, by_dtype!(faer)),
    variant(
        "matmul",
        "ndarray",
        "ndarray's own kernel (matrixmultiply), one thread",
        false,
        by_dtype!(ndarray),
    ),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

fn blas<T: Blas>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    library: &BlasLibrary,
) -> Result<Box<Prepared>, CellError> {
    let pool = BlasThreads::new(threads, library, case.side(), MAX_CHOICE_SIDE)?;
    let compute = |pool: &BlasThreads, Matrices { inputs: [a, b], result }: &mut Matrices<T, 2>| {
        pool.provider().gemm(a, b, result)
    };
    let matrices = Matrices::new(case, inputs, T::default())?;
    Ok(PooledJob::prepared(MatrixKernel { matrices, compute }, pool))
}

fn faer<T: Real + faer::traits::ComplexField>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let matrices = Matrices::<T, 2>::new(case, inputs, T::default())?;
    let compute = move |pool: &Faer, matrices: &mut Matrices<T, 2>| {
        let ([a, b], c) = matrices.slices();
        let [a, b] = [a, b].map(|slice| MatRef::from_row_major_slice(slice, n, n));
        let c = MatMut::from_row_major_slice_mut(c, n, n);
        faer::linalg::matmul::matmul(c, Accum::Replace, a, b, <T as Real>::from_f64(1.0), pool.par);
        Ok(())
    };
    let pool = Faer::new(threads, n, MAX_CHOICE_SIDE)?;
    Ok(PooledJob::prepared(MatrixKernel { matrices, compute }, pool))
}

fn ndarray<T: Real + LinalgScalar>(
    _: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    on_one_thread::<T, 2>(case, inputs, |[a, b], c| linalg::general_mat_mul(T::one(), a, b, T::zero(), c))
}
