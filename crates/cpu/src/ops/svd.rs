//! The variants of the thin singular value decomposition: LAPACK, called directly, and faer.

use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef};
use gpubench_report::data::Real;
use gpubench_report::error::CellError;

use super::dense::{KernelWorkspace, Matrices, on_pool};
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::libs::blas::{Blas, BlasThreads, SvdMethod, ThinSvd};
use crate::operands::{HostMatrix, ShowMemory, memory};
use crate::threads::Faer;

pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("", Scope::Lapack, "divide and conquer, {} (gesdd)", by_dtype!(lapack, SvdMethod::Gesdd)),
    variant("faer", Scope::Default, "divide and conquer, faer, all threads", by_dtype!(faer)),
    variant("-gesvd", Scope::FurtherLapack, "QR iteration, {} (gesvd)", by_dtype!(lapack, SvdMethod::Gesvd)),
];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 1024;

/// Takes the operand, and makes U, the singular values and the transpose of V.
fn matrices<T: Real>(request: &mut JobRequest<'_>) -> Result<Matrices<T, T, 1>, CellError> {
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

fn lapack<T: Blas>(mut request: JobRequest<'_>, method: SvdMethod) -> PreparedJob {
    let n = request.side();
    let pool = BlasThreads::new(request.threads, request.blas()?, n, MAX_CHOICE_SIDE)?;
    let workspace = ThinSvd::<T>::new(pool.provider(), method, n)?;
    let matrices = matrices::<T>(&mut request)?;
    let matrices = Matrices { copy: matrices.inputs[0].to_vec(), ..matrices };
    let restore = |Matrices { inputs: [a], copy, .. }: &mut Matrices<T, T, 1>| copy.copy_from_slice(a);
    on_pool(matrices, pool, workspace, Some(restore), |pool, workspace, Matrices { copy, results, .. }| {
        let [u, s, vt] = &mut results[..] else { return Err(CellError::call("svd", "no results")) };
        workspace.decompose(pool.provider(), copy, u, s, vt)
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
