//! The decomposition that cuSOLVER calls approximate (gesvda), by the eigenvectors of AᵀA.

use std::ffi::{c_int, c_longlong};

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;
use gpubench_report::error::CellError;

use super::jacobi::narrow;
use super::svd::{VECTORS, Vectors, side};
use super::{Solver, SolverReal, by_element, check, checked_side};

impl Solver {
    /// Returns the elements of workspace of [`Solver::gesvda`] for an `n x n` matrix.
    pub(crate) fn gesvda_workspace<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        out: &Vectors<T>,
    ) -> Result<usize, CellError> {
        let call = "gesvda size query";
        let side = narrow(call, side(call, n, a, out)?)?;
        let (area, length) = (c_longlong::from(side) * c_longlong::from(side), c_longlong::from(side));
        let mut len: c_int = 0;
        let (handle, a, s) = (self.handle, self.read(a), self.read(&out.s));
        let (u, v) = (self.read(&out.u), self.read(&out.v));
        // SAFETY: the handle is live, the operands have the checked lengths, `len` is writable.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdaStridedBatched_bufferSize, sys::cusolverDnDgesvdaStridedBatched_bufferSize]
                handle, VECTORS, side, side, side, a.cast(), side, area, s.cast(), length, u.cast(), side,
                area, v.cast(), side, area, &mut len, 1
            )
        })?;
        usize::try_from(len).map_err(|_| CellError::call(call, format!("invalid workspace size {len}")))
    }

    /// Decomposes the column-major `n x n` matrix `a`, which stays: A = U S Vᵀ with V (not Vᵀ) in `out.v`. `work` has the elements
    /// that [`Solver::gesvda_workspace`] returned for this size. The norm of the residual is not computed.
    pub(crate) fn gesvda<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        out: &mut Vectors<T>,
        (work, len): (&mut CudaSlice<T>, usize),
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "gesvda";
        let side = narrow(call, side(call, n, a, out)?)?;
        checked_side(call, n, &[(work.len(), len), (info.len(), 1)])?;
        let work_len = c_int::try_from(len).map_err(|e| CellError::call(call, e))?;
        let (area, length) = (c_longlong::from(side) * c_longlong::from(side), c_longlong::from(side));
        let (handle, a, s) = (self.handle, self.read(a), self.write(&mut out.s));
        let (u, v) = (self.write(&mut out.u), self.write(&mut out.v));
        let (work, info, none) = (self.write(work), self.write(info).cast(), std::ptr::null_mut());
        // SAFETY: the handle is live; operands, workspace and `info` have the checked lengths; no residual is asked for.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdaStridedBatched, sys::cusolverDnDgesvdaStridedBatched]
                handle, VECTORS, side, side, side, a.cast(), side, area, s.cast(), length, u.cast(), side,
                area, v.cast(), side, area, work.cast(), work_len, info, none, 1
            )
        })
    }
}
