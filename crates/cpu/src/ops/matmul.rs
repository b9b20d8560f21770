//! The variants of the matrix product: BLAS gemm, faer, and the kernel of ndarray.

use faer::{Accum, MatMut, MatRef};
use gpubench_report::data::Real;
use ndarray::{LinalgScalar, linalg};

use super::dense::{Matrices, on_one_thread, on_pool, square, view, view_mut};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::libs::blas::{Blas, BlasThreads};
use crate::threads::Faer;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Blas, "{} gemm", by_dtype!(blas)),
    variant("faer", Scope::Default, "faer, all threads", by_dtype!(faer)),
    variant(
        "ndarray",
        Scope::Further,
        "ndarray's own kernel (matrixmultiply), one thread",
        by_dtype!(ndarray),
    ),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

fn blas<T: Blas>(mut request: JobRequest<'_>) -> PreparedJob {
    let n = request.side();
    let pool = BlasThreads::new(request.threads, request.blas()?, n, MAX_CHOICE_SIDE)?;
    let matrices = square::<T, 2>(&mut request, T::default())?;
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs: [a, b], results, .. }| {
        pool.provider().gemm([n, n, n], a, b, &mut results[0])
    })
}

fn faer<T: Real + faer::traits::ComplexField>(mut request: JobRequest<'_>) -> PreparedJob {
    let n = request.side();
    let pool = Faer::new(request.threads, n, MAX_CHOICE_SIDE)?;
    let matrices = square::<T, 2>(&mut request, T::default())?;
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs, results, .. }| {
        let [a, b] = inputs.each_ref().map(|matrix| MatRef::from_row_major_slice(matrix, n, n));
        let c = MatMut::from_row_major_slice_mut(&mut results[0], n, n);
        faer::linalg::matmul::matmul(c, Accum::Replace, a, b, <T as Real>::from_f64(1.0), pool.par);
        Ok(())
    })
}

fn ndarray<T: Real + LinalgScalar>(request: JobRequest<'_>) -> PreparedJob {
    on_one_thread::<T, 2>(request, |[a, b], c| {
        linalg::general_mat_mul(T::one(), &view(a)?, &view(b)?, T::zero(), &mut view_mut(c)?);
        Ok(())
    })
}
