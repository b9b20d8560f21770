//! Cholesky and LU factorisations and the solves that use them.

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use super::{LOWER, Solver, SolverReal, Workspace, WorkspaceSize, check, checked_side};

const NO_TRANSPOSE: sys::cublasOperation_t = sys::cublasOperation_t::CUBLAS_OP_N;

impl Solver {
    /// Returns the workspace of [`Solver::potrf`] for an `n x n` matrix.
    pub(crate) fn potrf_workspace<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
    ) -> Result<WorkspaceSize, CellError> {
        let call = "cusolverDnXpotrf_bufferSize";
        let side = checked_side(call, n, &[(a.len(), n * n)])?;
        let mut size = WorkspaceSize::none("cusolverDnXpotrf", n, T::TYPE);
        // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXpotrf_bufferSize(
                self.handle,
                self.params,
                LOWER,
                side,
                T::TYPE,
                self.read(a),
                side,
                T::TYPE,
                &mut size.device,
                &mut size.host,
            )
        })?;
        Ok(size)
    }

    /// Factors the column-major `n x n` matrix `a` as L Lᵀ in its lower triangle, and writes to `info[0]`
    /// the order of the first minor that is not positive definite, or 0.
    pub(crate) fn potrf<T: SolverReal>(
        &self,
        n: usize,
        a: &mut CudaSlice<T>,
        work: &mut Workspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXpotrf";
        let side = checked_side(call, n, &[(a.len(), n * n), (info.len(), 1)])?;
        let work = work.pointers(&self.stream, call, n, T::TYPE)?;
        // SAFETY: handle and parameters are live; `a` has n x n elements, `info` one; the workspace was
        // made for this routine and size, and outlives the work (see `Workspace`).
        check(call, unsafe {
            sys::cusolverDnXpotrf(
                self.handle,
                self.params,
                LOWER,
                side,
                T::TYPE,
                self.write(a),
                side,
                T::TYPE,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                self.write(info).cast(),
            )
        })
    }

    /// Solves A x = b in place of `b` (`n` elements) from what [`Solver::potrf`] left in `a`; `info[0]` is 0.
    pub(crate) fn potrs<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        b: &mut CudaSlice<T>,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXpotrs";
        let side = checked_side(call, n, &[(a.len(), n * n), (b.len(), n), (info.len(), 1)])?;
        // SAFETY: handle and parameters are live; `a` has n x n elements, `b` n, `info` one.
        check(call, unsafe {
            sys::cusolverDnXpotrs(
                self.handle,
                self.params,
                LOWER,
                side,
                1,
                T::TYPE,
                self.read(a),
                side,
                T::TYPE,
                self.write(b),
                side,
                self.write(info).cast(),
            )
        })
    }

    /// Returns the workspace of [`Solver::getrf`] for an `n x n` matrix.
    pub(crate) fn getrf_workspace<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
    ) -> Result<WorkspaceSize, CellError> {
        let call = "cusolverDnXgetrf_bufferSize";
        let side = checked_side(call, n, &[(a.len(), n * n)])?;
        let mut size = WorkspaceSize::none("cusolverDnXgetrf", n, T::TYPE);
        // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXgetrf_bufferSize(
                self.handle,
                self.params,
                side,
                side,
                T::TYPE,
                self.read(a),
                side,
                T::TYPE,
                &mut size.device,
                &mut size.host,
            )
        })?;
        Ok(size)
    }

    /// Factors the column-major `n x n` matrix `a` as P L U in place with `n` pivots, and writes to `info[0]`
    /// the index (from 1) of the first zero on U's diagonal, or 0.
    pub(crate) fn getrf<T: SolverReal>(
        &self,
        n: usize,
        a: &mut CudaSlice<T>,
        pivots: &mut CudaSlice<i64>,
        work: &mut Workspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXgetrf";
        let side = checked_side(call, n, &[(a.len(), n * n), (pivots.len(), n), (info.len(), 1)])?;
        let work = work.pointers(&self.stream, call, n, T::TYPE)?;
        // SAFETY: handle and parameters are live; `a` has n x n elements, `pivots` n, `info` one; the
        // workspace was made for this routine and size, and outlives the work (see `Workspace`).
        check(call, unsafe {
            sys::cusolverDnXgetrf(
                self.handle,
                self.params,
                side,
                side,
                T::TYPE,
                self.write(a),
                side,
                self.write(pivots).cast(),
                T::TYPE,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                self.write(info).cast(),
            )
        })
    }

    /// Solves A x = b in place of `b` (`n` elements) from what [`Solver::getrf`] left in `a` and `pivots`;
    /// `info[0]` is 0.
    pub(crate) fn getrs<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        pivots: &CudaSlice<i64>,
        b: &mut CudaSlice<T>,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXgetrs";
        let lengths = [(a.len(), n * n), (pivots.len(), n), (b.len(), n), (info.len(), 1)];
        let side = checked_side(call, n, &lengths)?;
        // SAFETY: handle and parameters are live; `a` has n x n elements, `pivots` and `b` n, `info` one.
        check(call, unsafe {
            sys::cusolverDnXgetrs(
                self.handle,
                self.params,
                NO_TRANSPOSE,
                side,
                1,
                T::TYPE,
                self.read(a),
                side,
                self.read(pivots).cast(),
                T::TYPE,
                self.write(b),
                side,
                self.write(info).cast(),
            )
        })
    }
}
