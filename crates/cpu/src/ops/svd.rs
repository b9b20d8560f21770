//! The variants of the thin singular value decomposition: LAPACK, called directly and through ndarray-linalg, and
//! faer.

use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef};
use gpubench_report::data::Real;
use ndarray_linalg::MatrixLayout;

use super::dense::{KernelWorkspace, Matrices, on_pool};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::libs::blas::{Blas, BlasThreads, ThinSvd};
use crate::operands::{HostMatrix, ShowMemory, memory};
use crate::threads::Faer;
use crate::{CellError, CellResult, Unavailable};

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Lapack, "divide and conquer, {} (gesdd)", by_dtype!(gesdd)),
    variant("faer", Scope::Default, "divide and conquer, faer, all threads", by_dtype!(faer)),
    variant(
        "-gesvd",
        Scope::NdarrayLinalg,
        "QR iteration, ndarray-linalg on {} (gesvd, what its svd() calls)",
        by_dtype!(gesvd),
    ),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// Takes the operand, and makes U, the singular values and the transpose of V.
fn matrices<T: Real>(request: &mut JobRequest<'_>) -> CellResult<Matrices<T, T, 1>> {
    let (n, inputs) = (request.side(), request.operands()?);
    let results = vec![HostMatrix::zeros(n, n), HostMatrix::zeros(n, 1), HostMatrix::zeros(n, n)];
    Ok(Matrices { inputs, copy: vec![], results })
}

impl<T: Blas> KernelWorkspace for ThinSvd<T> {
    fn show(&self, show: ShowMemory<'_>) {
        show(memory(&self.work));
        show(memory(&self.integers));
    }
}

fn matrices_and_copy<T: Real>(mut request: JobRequest<'_>) -> CellResult<Matrices<T, T, 1>> {
    let matrices = matrices::<T>(&mut request)?;
    Ok(Matrices { copy: matrices.inputs[0].to_vec(), ..matrices })
}

fn restore<T: Real>(Matrices { inputs: [a], copy, .. }: &mut Matrices<T, T, 1>) {
    copy.copy_from_slice(a);
}

fn gesdd<T: Blas>(request: JobRequest<'_>) -> PreparedJob {
    let n = request.side();
    let pool = BlasThreads::new(request.threads, request.blas()?, n, MAX_CHOICE_SIDE)?;
    let workspace = ThinSvd::<T>::new(pool.provider(), n)?;
    let matrices = matrices_and_copy::<T>(request)?;
    on_pool(matrices, pool, workspace, Some(restore), |pool, workspace, Matrices { copy, results, .. }| {
        let [u, s, vt] = &mut results[..] else { return Err(CellError::call("svd", "no results")) };
        workspace.decompose(pool.provider(), copy, u, s, vt)
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

/// Decomposes the transpose, whose columns are the rows of A: its U is V of A, and its V is U of A.
fn faer<T: Real + faer::traits::RealField>(mut request: JobRequest<'_>) -> PreparedJob {
    let (n, thin) = (request.side(), ComputeSvdVectors::Thin);
    let pool = Faer::new(request.threads, n, MAX_CHOICE_SIDE)?;
    let workspace = pool.workspace(|par| svd_scratch::<T>(n, n, thin, thin, par, Default::default()));
    let mut matrices = matrices::<T>(&mut request)?;
    matrices.results[0].by_columns = true;
    on_pool(matrices, pool, workspace, None, move |pool, workspace, Matrices { inputs: [a], results, .. }| {
        let [u, s, vt] = &mut results[..] else { return Err(CellError::call("svd", "no results")) };
        svd(
            MatRef::from_column_major_slice(a, n, n),
            DiagMut::from_slice_mut(s),
            Some(MatMut::from_column_major_slice_mut(vt, n, n)),
            Some(MatMut::from_column_major_slice_mut(u, n, n)),
            pool.par,
            MemStack::new(workspace),
            Default::default(),
        )
        .map_err(|e| CellError::call("faer svd", format!("{e:?}")))
    })
}
