//! Cholesky and LU factorisations and the solves that use them.

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;
use gpubench_report::error::CellError;

use super::{LOWER, Solver, SolverReal, SolverWorkspace, WorkspaceSize, check, checked_side};

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
        let (handle, params, of, a) = (self.handle, self.params, T::TYPE, self.read(a));
        let (device, host) = (&raw mut size.device, &raw mut size.host);
        // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXpotrf_bufferSize(handle, params, LOWER, side, of, a, side, of, device, host)
        })?;
        Ok(size)
    }

    /// Factors the column-major `n x n` matrix `a` as L Lᵀ in its lower triangle, and writes to `info[0]`
    /// the order of the first minor that is not positive definite, or 0.
    pub(crate) fn potrf<T: SolverReal>(
        &self,
        n: usize,
        a: &mut CudaSlice<T>,
        work: &mut SolverWorkspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXpotrf";
        let side = checked_side(call, n, &[(a.len(), n * n), (info.len(), 1)])?;
        let (device, len, host, host_len, _) = work.pointers(&self.stream, call, n, T::TYPE)?;
        let (handle, params, of) = (self.handle, self.params, T::TYPE);
        let (a, info) = (self.write(a), self.write(info).cast());
        // SAFETY: handle and parameters are live; `a` has n x n elements, `info` one; the workspace was
        // made for this routine and size, and outlives the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXpotrf(
                handle, params, LOWER, side, of, a, side, of, device, len, host, host_len, info,
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
        let (handle, params, of) = (self.handle, self.params, T::TYPE);
        let (a, b, info) = (self.read(a), self.write(b), self.write(info).cast());
        // SAFETY: handle and parameters are live; `a` has n x n elements, `b` n, `info` one.
        check(call, unsafe {
            sys::cusolverDnXpotrs(handle, params, LOWER, side, 1, of, a, side, of, b, side, info)
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
        let (handle, params, of, a) = (self.handle, self.params, T::TYPE, self.read(a));
        let (device, host) = (&raw mut size.device, &raw mut size.host);
        // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXgetrf_bufferSize(handle, params, side, side, of, a, side, of, device, host)
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
        work: &mut SolverWorkspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXgetrf";
        let side = checked_side(call, n, &[(a.len(), n * n), (pivots.len(), n), (info.len(), 1)])?;
        let (device, len, host, host_len, _) = work.pointers(&self.stream, call, n, T::TYPE)?;
        let (handle, params, of) = (self.handle, self.params, T::TYPE);
        let (a, pivots, info) = (self.write(a), self.write(pivots).cast(), self.write(info).cast());
        // SAFETY: handle and parameters are live; `a` has n x n elements, `pivots` n, `info` one; the
        // workspace was made for this routine and size, and outlives the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXgetrf(
                handle, params, side, side, of, a, side, pivots, of, device, len, host, host_len, info,
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
        let (handle, params, of) = (self.handle, self.params, T::TYPE);
        let (a, pivots, b) = (self.read(a), self.read(pivots).cast(), self.write(b));
        let (plain, info) = (sys::cublasOperation_t::CUBLAS_OP_N, self.write(info).cast());
        // SAFETY: handle and parameters are live; `a` has n x n elements, `pivots` and `b` n, `info` one.
        check(call, unsafe {
            sys::cusolverDnXgetrs(handle, params, plain, side, 1, of, a, side, pivots, of, b, side, info)
        })
    }
}
