//! The variants of solving symmetric positive definite systems: LAPACK, called directly, and faer.
//!
//! A symmetric matrix equals its transpose, so column-major libraries get its rows unchanged; those of a Hermitian one are conjugated when
//! they are copied.

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt;
use faer::{MatMut, MatRef};
use gpubench_report::data::Element;
use gpubench_report::shape::{BATCH, RHS};
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::dense::{Matrices, on_pool};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, by_type, variant};
use crate::libs::blas::{Blas, BlasThreads, PosvElement};
use crate::operands::HostMatrix;
use crate::threads::Faer;
use crate::threads::partition::Partition;
use crate::{CellError, CellResult};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Lapack, "Cholesky, {} (posv)", by_type!(posv)).general(),
    variant(
        "-spread",
        Scope::Lapack,
        "Cholesky, {} (posv) on one thread for each system, the systems of a batch spread over the cores",
        by_type!(spread),
    )
    .of_batches(),
    variant("faer", Scope::Default, "Cholesky, faer, all threads", by_type!(faer)).general(),
    variant("-lu", Scope::FurtherLapack, "LU, {} (gesv)", by_dtype!(gesv)),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 2048;

/// The systems `a x = b`; libraries overwrite a copy of `a` with factors, and one of `b` with the solutions.
type System<T> = Matrices<T, T, 2>;

/// Returns side, right-hand sides and number of the systems of a case.
fn sides(request: &JobRequest<'_>) -> [usize; 3] {
    request.case.extents(["n", RHS, BATCH])
}

/// Takes the operands. Several right-hand sides are copied column after column, as LAPACK takes them, if `by_columns`.
fn system<T: Element>(request: &mut JobRequest<'_>, by_columns: bool) -> CellResult<System<T>> {
    let [n, columns, systems] = sides(request);
    let inputs: [HostMatrix<T>; 2] = request.operands()?;
    let mut x = HostMatrix::new(systems * n, columns, inputs[1].to_vec());
    x.by_columns = if by_columns && columns > 1 { systems } else { 0 };
    Ok(Matrices { copy: columns_of(&inputs[0]), inputs, results: vec![x] })
}

/// Returns the columns of a symmetric or Hermitian matrix, one after another.
fn columns_of<T: Element>(a: &[T]) -> Vec<T> {
    a.iter().map(|entry| entry.conjugate()).collect()
}

fn restore<T: Element>(Matrices { inputs: [a, b], copy, results }: &mut System<T>) {
    match T::DTYPE.is_complex() {
        true => copy.iter_mut().zip(&a[..]).for_each(|(copy, entry)| *copy = entry.conjugate()),
        false => copy.copy_from_slice(a),
    }
    results[0].copy_rows(b);
}

fn posv<T: PosvElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let [n, columns, _] = sides(&request);
    let pool = BlasThreads::new(request.threads, request.blas()?, n, MAX_CHOICE_SIDE)?;
    let system = system::<T>(&mut request, true)?;
    on_pool(system, pool, (), Some(restore), move |pool, (), Matrices { copy, results, .. }| {
        let provider = pool.provider();
        let mut systems = copy.chunks_mut(n * n).zip(results[0].chunks_mut(n * columns));
        systems.try_for_each(|(a, x)| provider.posv(a, x, columns))
    })
}

fn spread<T: PosvElement>(mut request: JobRequest<'_>) -> PreparedJob {
    let [n, columns, systems] = sides(&request);
    let single = BlasThreads::new(1, request.blas()?, n, 0)?;
    let system = system::<T>(&mut request, true)?;
    let pool = Partition::of_tasks(systems, request.threads);
    on_pool(system, pool, (), Some(restore), move |pool, (), Matrices { copy, results, .. }| {
        let provider = single.provider();
        let of_batch = copy.par_chunks_mut(n * n).zip(results[0].par_chunks_mut(n * columns));
        of_batch.with_min_len(pool.part(systems)).try_for_each(|(a, x)| provider.posv(a, x, columns))
    })
}

fn gesv<T: Blas>(mut request: JobRequest<'_>) -> PreparedJob {
    let pool = BlasThreads::new(request.threads, request.blas()?, request.side(), MAX_CHOICE_SIDE)?;
    let (system, pivots) = (system::<T>(&mut request, true)?, vec![0; request.side()]);
    on_pool(system, pool, pivots, Some(restore), |pool, pivots, Matrices { copy, results, .. }| {
        pool.provider().gesv(copy, pivots, &mut results[0])
    })
}

fn faer<T: Element + faer::traits::ComplexField>(mut request: JobRequest<'_>) -> PreparedJob {
    let [n, columns, _] = sides(&request);
    let pool = Faer::new(request.threads, n, MAX_CHOICE_SIDE);
    let workspace = pool.workspace(|par| {
        let factor = llt::factor::cholesky_in_place_scratch::<T>(n, par, Default::default());
        factor.or(llt::solve::solve_in_place_scratch::<T>(n, columns, par))
    });
    let system = system::<T>(&mut request, false)?;
    on_pool(system, pool, workspace, Some(restore), move |pool, workspace, Matrices { copy, results, .. }| {
        for (a, x) in copy.chunks_mut(n * n).zip(results[0].chunks_mut(n * columns)) {
            let (par, stack) = (pool.par, MemStack::new(workspace));
            let matrix = MatMut::from_column_major_slice_mut(a, n, n);
            llt::factor::cholesky_in_place(matrix, Default::default(), par, stack, Default::default())
                .map_err(|e| CellError::call("faer Cholesky", e))?;
            let factor = MatRef::from_column_major_slice(a, n, n);
            llt::solve::solve_in_place(factor, MatMut::from_row_major_slice_mut(x, n, columns), par, stack);
        }
        Ok(())
    })
}
