//! The variants of solving symmetric positive definite systems: LAPACK, called directly, and faer.
//!
//! The matrix equals its transpose, so column-major libraries get its rows unchanged.

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt;
use faer::{MatMut, MatRef};
use gpubench_report::data::Real;

use super::dense::{Matrices, on_pool};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::libs::blas::{Blas, BlasThreads};
use crate::operands::HostMatrix;
use crate::threads::Faer;
use crate::{CellError, CellResult};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Lapack, "Cholesky, {} (posv)", by_dtype!(posv)),
    variant("faer", Scope::Default, "Cholesky, faer, all threads", by_dtype!(faer)),
    variant("-lu", Scope::FurtherLapack, "LU, {} (gesv)", by_dtype!(gesv)),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 2048;

/// The system `a x = b`; libraries overwrite a copy of `a` with factors, and one of `b` with the solution.
type System<T> = Matrices<T, T, 2>;

fn system<T: Real>(request: &mut JobRequest<'_>) -> CellResult<System<T>> {
    let inputs: [HostMatrix<T>; 2] = request.operands()?;
    let x = HostMatrix::real(request.side(), 1, inputs[1].to_vec());
    Ok(Matrices { copy: inputs[0].to_vec(), inputs, results: vec![x] })
}

fn restore<T: Real>(Matrices { inputs: [a, b], copy, results }: &mut System<T>) {
    copy.copy_from_slice(a);
    results[0].copy_from_slice(b);
}

fn posv<T: Blas>(mut request: JobRequest<'_>) -> PreparedJob {
    let pool = BlasThreads::new(request.threads, request.blas()?, request.side(), MAX_CHOICE_SIDE)?;
    on_pool(
        system::<T>(&mut request)?,
        pool,
        (),
        Some(restore),
        |pool, (), Matrices { copy, results, .. }| pool.provider().posv(copy, &mut results[0]),
    )
}

fn gesv<T: Blas>(mut request: JobRequest<'_>) -> PreparedJob {
    let pool = BlasThreads::new(request.threads, request.blas()?, request.side(), MAX_CHOICE_SIDE)?;
    let (system, pivots) = (system::<T>(&mut request)?, vec![0; request.side()]);
    on_pool(system, pool, pivots, Some(restore), |pool, pivots, Matrices { copy, results, .. }| {
        pool.provider().gesv(copy, pivots, &mut results[0])
    })
}

fn faer<T: Real + faer::traits::RealField>(mut request: JobRequest<'_>) -> PreparedJob {
    let n = request.side();
    let pool = Faer::new(request.threads, n, MAX_CHOICE_SIDE)?;
    let workspace = pool.workspace(|par| {
        let factor = llt::factor::cholesky_in_place_scratch::<T>(n, par, Default::default());
        factor.or(llt::solve::solve_in_place_scratch::<T>(n, 1, par))
    });
    let system = system::<T>(&mut request)?;
    on_pool(system, pool, workspace, Some(restore), move |pool, workspace, Matrices { copy, results, .. }| {
        let (par, stack) = (pool.par, MemStack::new(workspace));
        let matrix = MatMut::from_column_major_slice_mut(copy, n, n);
        llt::factor::cholesky_in_place(matrix, Default::default(), par, stack, Default::default())
            .map_err(|e| CellError::call("faer Cholesky", e))?;
        let factor = MatRef::from_column_major_slice(copy, n, n);
        let x = MatMut::from_column_major_slice_mut(&mut results[0], n, 1);
        llt::solve::solve_in_place(factor, x, par, stack);
        Ok(())
    })
}
