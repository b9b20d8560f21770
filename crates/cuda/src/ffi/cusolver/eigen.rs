//! The symmetric eigenvalue decomposition (syevd): tridiagonalisation and divide and conquer.

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;
use gpubench_report::error::CellError;

use super::svd::VECTORS;
use super::{LOWER, Solver, SolverReal, SolverWorkspace, WorkspaceSize, check, checked_side};

impl Solver {
    /// Returns the workspace of [`Solver::syevd`].
    pub(crate) fn syevd_workspace<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        values: &CudaSlice<T>,
    ) -> Result<WorkspaceSize, CellError> {
        let call = "cusolverDnXsyevd_bufferSize";
        let side = checked_side(call, n, &[(a.len(), n * n), (values.len(), n)])?;
        let mut size = WorkspaceSize::none("cusolverDnXsyevd", n, T::TYPE);
        let (handle, params, of) = (self.handle, self.params, T::TYPE);
        let (a, w, device, host) =
            (self.read(a), self.read(values), &raw mut size.device, &raw mut size.host);
        // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXsyevd_bufferSize(
                handle, params, VECTORS, LOWER, side, of, a, side, of, w, of, device, host,
            )
        })?;
        Ok(size)
    }

    /// Replaces the symmetric `n x n` matrix `a`, of which it reads the lower triangle, by its eigenvectors in
    /// columns, in ascending order of their eigenvalues. Sets `info[0]` to 0, or to a positive value if it did not
    /// converge.
    pub(crate) fn syevd<T: SolverReal>(
        &self,
        n: usize,
        a: &mut CudaSlice<T>,
        values: &mut CudaSlice<T>,
        work: &mut SolverWorkspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXsyevd";
        let side = checked_side(call, n, &[(a.len(), n * n), (values.len(), n), (info.len(), 1)])?;
        let (device, len, host, host_len, _) = work.pointers(&self.stream, call, n, T::TYPE)?;
        let (handle, params, of) = (self.handle, self.params, T::TYPE);
        let (a, w, info) = (self.write(a), self.write(values), self.write(info).cast());
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and outlives the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXsyevd(
                handle, params, VECTORS, LOWER, side, of, a, side, of, w, of, device, len, host, host_len,
                info,
            )
        })
    }
}
