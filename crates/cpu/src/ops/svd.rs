//! The variants of the thin singular value decomposition: LAPACK, called directly and through ndarray-linalg, and
//! faer.

use std::sync::{Mutex, PoisonError};

use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef};
use gpubench_report::data::Element;
use gpubench_report::shape::BATCH;
use ndarray_linalg::MatrixLayout;
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::dense::{KernelWorkspace, Matrices, on_pool};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, by_type, variant};
use crate::libs::blas::{Blas, BlasThreads, SvdElement, ThinSvd};
use crate::operands::{HostMatrix, ShowMemory, memory, with_readable_end};
use crate::threads::Faer;
use crate::threads::partition::Partition;
use crate::{CellError, CellResult, Unavailable};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Lapack, "divide and conquer, {} (gesdd)", by_type!(gesdd)).general(),
    variant(
        "-spread",
        Scope::Lapack,
        "divide and conquer, {} (gesdd) on one thread for each matrix, the matrices of a batch spread over the cores",
        by_type!(spread),
    ).of_batches(),
    variant("faer", Scope::Default, "divide and conquer, faer, all threads", by_type!(faer)).general(),
    variant(
        "-gesvd",
        Scope::NdarrayLinalg,
        "QR iteration, ndarray-linalg on {} (gesvd, what its svd() calls)",
        by_dtype!(gesvd),
    ),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// Returns the rows and columns of a matrix, and the number of matrices.
fn sides(request: &JobRequest<'_>) -> [usize; 3] {
    request.case.extents(["m", "n", BATCH])
}

/// Returns the side of a square matrix whose decomposition is as much work as one of m x n.
fn side(m: usize, n: usize) -> usize {
    (m.max(n) as f64 * (m.min(n) as f64).powi(2)).cbrt().round() as usize
}

/// Takes the operand, and makes U, the singular values and the transpose of V.
fn matrices<T: Element>(request: &mut JobRequest<'_>) -> CellResult<Matrices<T, T, 1>> {
    let ([m, n, batch], inputs) = (sides(request), request.operands()?);
    let k = m.min(n);
    let results = [(m, k), (k, 1), (k, n)].map(|(rows, cols)| HostMatrix::zeros(batch * rows, cols)).into();
    Ok(Matrices { inputs, copy: vec![], results })
}

impl<T: SvdElement> KernelWorkspace for ThinSvd<T> {
    fn show(&self, show: ShowMemory<'_>) {
        show(memory(&self.work));
        show(memory(&self.values));
        show(memory(&self.real_work));
        show(memory(&self.integers));
    }
}

fn matrices_and_copy<T: Element>(mut request: JobRequest<'_>) -> CellResult<Matrices<T, T, 1>> {
    let matrices = matrices::<T>(&mut request)?;
    let a = &matrices.inputs[0];
    let mut copy = with_readable_end(a.len(), a.shape()[0].max(a.shape()[1]));
    copy.extend_from_slice(a);
    Ok(Matrices { copy, ..matrices })
}

fn restore<T: Element>(Matrices { inputs: [a], copy, .. }: &mut Matrices<T, T, 1>) {
    copy.copy_from_slice(a);
}

/// The matrices of a batch: a copy of A, U, the singular values and Vᵀ.
type Parts<'a, T> = (((&'a mut [T], &'a mut [T]), &'a mut [T]), &'a mut [T]);

fn gesdd<T: SvdElement>(request: JobRequest<'_>) -> PreparedJob {
    let [m, n, _] = sides(&request);
    let k = m.min(n);
    let pool = BlasThreads::new(request.threads, request.blas()?, side(m, n), MAX_CHOICE_SIDE)?;
    let workspace = ThinSvd::<T>::new(pool.provider(), [m, n])?;
    let matrices = matrices_and_copy::<T>(request)?;
    on_pool(matrices, pool, workspace, Some(restore), move |pool, space, Matrices { copy, results, .. }| {
        let [u, s, vt] = &mut results[..] else { return Err(CellError::call("svd", "no results")) };
        let factors = copy.chunks_mut(m * n).zip(u.chunks_mut(m * k)).zip(s.chunks_mut(k));
        let mut of_batch = factors.zip(vt.chunks_mut(k * n));
        let provider = pool.provider();
        of_batch.try_for_each(|(((a, u), s), vt): Parts<'_, T>| space.decompose(provider, a, u, s, vt))
    })
}

/// One workspace for each thread of the pool.
struct Workspaces<T: SvdElement>(Vec<Mutex<ThinSvd<T>>>);

impl<T: SvdElement> KernelWorkspace for Workspaces<T> {
    fn show(&self, show: ShowMemory<'_>) {
        self.0.iter().for_each(|one| one.lock().unwrap_or_else(PoisonError::into_inner).show(show));
    }
}

fn spread<T: SvdElement>(request: JobRequest<'_>) -> PreparedJob {
    let [m, n, batch] = sides(&request);
    let k = m.min(n);
    let single = BlasThreads::new(1, request.blas()?, side(m, n), 0)?;
    let workspace = |_| ThinSvd::<T>::new(single.provider(), [m, n]).map(Mutex::new);
    let workspaces = (0..rayon::current_num_threads()).map(workspace).collect::<CellResult<Vec<_>>>()?;
    let pool = Partition::of_tasks(batch, request.threads);
    let matrices = matrices_and_copy::<T>(request)?;
    let spaces = Workspaces(workspaces);
    on_pool(matrices, pool, spaces, Some(restore), move |pool, spaces, Matrices { copy, results, .. }| {
        let [u, s, vt] = &mut results[..] else { return Err(CellError::call("svd", "no results")) };
        let factors = copy.par_chunks_mut(m * n).zip(u.par_chunks_mut(m * k)).zip(s.par_chunks_mut(k));
        let of_batch = factors.zip(vt.par_chunks_mut(k * n)).with_min_len(pool.part(batch));
        let (provider, spaces) = (single.provider(), &spaces.0);
        of_batch.try_for_each(|(((a, u), s), vt): Parts<'_, T>| {
            let own = &spaces[rayon::current_thread_index().unwrap_or(0)];
            own.lock().unwrap_or_else(PoisonError::into_inner).decompose(provider, a, u, s, vt)
        })
    })
}

/// Does what `svd` of ndarray-linalg does, which allocates its results and its workspace.
fn gesvd<T: Blas>(request: JobRequest<'_>) -> PreparedJob {
    let n = request.side();
    if i32::try_from(n.saturating_mul(n)).is_err() {
        let reason = "LAPACK's 32-bit interface takes matrices of less than 2^31 elements";
        return Err(Unavailable::new(reason, "use faer").into());
    }
    let pool = BlasThreads::new(request.threads, request.blas()?, n, MAX_CHOICE_SIDE)?;
    // Here too, so that a library that does not fit is missing rather than failing.
    pool.provider().activate()?;
    let matrices = matrices_and_copy::<T>(request)?;
    on_pool(matrices, pool, (), Some(restore), |pool, (), Matrices { copy, results, .. }| {
        pool.provider().activate()?;
        let side = results[1].len() as i32;
        let layout = MatrixLayout::C { row: side, lda: side };
        let found = T::svd(layout, true, true, copy).map_err(|e| CellError::call("LAPACK svd", e))?;
        let (Some(u), Some(vt)) = (found.u, found.vt) else {
            return Err(CellError::call("LAPACK svd", "it returned no singular vectors"));
        };
        for (result, elements) in results.iter_mut().zip([u, found.s, vt]) {
            result.elements = elements;
        }
        Ok(())
    })
}

/// Decomposes the transpose, whose columns are the rows of A: its U is V of A, and its V is U of A, conjugated if they are complex.
fn faer<T: Element + faer::traits::ComplexField>(mut request: JobRequest<'_>) -> PreparedJob {
    let ([m, n, batch], thin) = (sides(&request), ComputeSvdVectors::Thin);
    let k = m.min(n);
    let pool = Faer::new(request.threads, side(m, n), MAX_CHOICE_SIDE);
    let workspace = pool.workspace(|par| svd_scratch::<T>(n, m, thin, thin, par, Default::default()));
    let mut matrices = matrices::<T>(&mut request)?;
    matrices.results[0].by_columns = batch;
    on_pool(matrices, pool, workspace, None, move |pool, workspace, Matrices { inputs: [a], results, .. }| {
        let [u, s, vt] = &mut results[..] else { return Err(CellError::call("svd", "no results")) };
        let factors = a.chunks(m * n).zip(u.chunks_mut(m * k)).zip(s.chunks_mut(k));
        for (((a, u), s), vt) in factors.zip(vt.chunks_mut(k * n)) {
            svd(
                MatRef::from_column_major_slice(a, n, m),
                DiagMut::from_slice_mut(s),
                Some(MatMut::from_column_major_slice_mut(vt, n, k)),
                Some(MatMut::from_column_major_slice_mut(u, m, k)),
                pool.par,
                MemStack::new(workspace),
                Default::default(),
            )
            .map_err(|e| CellError::call("faer svd", format!("{e:?}")))?;
            // The columns of the conjugate of V are the rows of Vᴴ already.
            if T::DTYPE.is_complex() {
                u.iter_mut().for_each(|entry| *entry = entry.conjugate());
            }
        }
        Ok(())
    })
}
