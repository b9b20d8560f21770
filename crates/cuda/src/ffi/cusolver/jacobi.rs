//! The Jacobi decomposition (gesvdj), which has its own parameters and counts workspace in elements.

use std::ffi::c_int;

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;
use gpubench_report::error::CellError;

use super::svd::{ECONOMY, VECTORS, Vectors, side};
use super::{Solver, SolverReal, by_element, check, checked_side};

/// Parameters of the Jacobi decomposition: tolerance epsilon, and cuSOLVER's default of at most 100 sweeps.
pub(crate) struct Jacobi {
    raw: sys::gesvdjInfo_t,
    /// The size and the elements of workspace of the last query.
    asked: (usize, usize),
}

impl Jacobi {
    /// Creates the parameters for elements of type `T`.
    pub(crate) fn new<T: SolverReal>() -> Result<Self, CellError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one pointer.
        check("cusolverDnCreateGesvdjInfo", unsafe { sys::cusolverDnCreateGesvdjInfo(&mut raw) })?;
        let jacobi = Jacobi { raw, asked: (0, 0) };
        // SAFETY: the parameters are live.
        check("cusolverDnXgesvdjSetTolerance", unsafe {
            sys::cusolverDnXgesvdjSetTolerance(raw, T::EPSILON)
        })?;
        Ok(jacobi)
    }

    /// Returns the elements of workspace, at least one, of [`Solver::gesvdj`] for an `n x n` matrix.
    pub(crate) fn workspace_len<T: SolverReal>(
        &mut self,
        solver: &Solver,
        n: usize,
        a: &CudaSlice<T>,
        out: &Vectors<T>,
    ) -> Result<usize, CellError> {
        let call = "gesvdj size query";
        let side = narrow(call, side(call, n, a, out)?)?;
        let mut len: c_int = 0;
        let (handle, a, s) = (solver.handle, solver.read(a), solver.read(&out.s));
        let (u, v) = (solver.read(&out.u), solver.read(&out.v));
        // SAFETY: handle and parameters are live, the operands have the checked lengths, `len` is writable.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdj_bufferSize, sys::cusolverDnDgesvdj_bufferSize]
                handle, VECTORS, ECONOMY, side, side, a.cast(), side, s.cast(), u.cast(), side, v.cast(),
                side, &mut len, self.raw
            )
        })?;
        let len = usize::try_from(len)
            .map_err(|_| CellError::call(call, format!("invalid workspace size {len}")))?;
        self.asked = (n, len);
        Ok(len.max(1))
    }
}

impl Drop for Jacobi {
    fn drop(&mut self) {
        // SAFETY: this value owns the parameters, and nothing uses them afterwards.
        let _ = unsafe { sys::cusolverDnDestroyGesvdjInfo(self.raw) };
    }
}

impl Solver {
    /// Decomposes the column-major `n x n` matrix `a`, destroying it: A = U S Vᵀ with V (not Vᵀ) in `out.v`.
    /// Sets `info[0]` to 0, or to `n + 1` if the sweeps did not converge.
    pub(crate) fn gesvdj<T: SolverReal>(
        &self,
        n: usize,
        a: &mut CudaSlice<T>,
        out: &mut Vectors<T>,
        (jacobi, work): (&Jacobi, &mut CudaSlice<T>),
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "gesvdj";
        let side = narrow(call, side(call, n, a, out)?)?;
        let (asked_n, len) = jacobi.asked;
        if asked_n != n {
            return Err(CellError::call(call, format!("the workspace was made for N = {asked_n}, not {n}")));
        }
        checked_side(call, n, &[(work.len(), len), (info.len(), 1)])?;
        let work_len = c_int::try_from(len).map_err(|e| CellError::call(call, e))?;
        let (handle, a, s) = (self.handle, self.write(a), self.write(&mut out.s));
        let (u, v) = (self.write(&mut out.u), self.write(&mut out.v));
        let (work, info, raw) = (self.write(work), self.write(info).cast(), jacobi.raw);
        // SAFETY: handle and parameters are live; operands, workspace and `info` have the checked lengths.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdj, sys::cusolverDnDgesvdj]
                handle, VECTORS, ECONOMY, side, side, a.cast(), side, s.cast(), u.cast(), side, v.cast(),
                side, work.cast(), work_len, info, raw
            )
        })
    }
}

/// Converts a size for cuSOLVER's 32-bit routines.
pub(super) fn narrow(call: &str, side: i64) -> Result<c_int, CellError> {
    c_int::try_from(side).map_err(|_| CellError::call(call, format!("N = {side} exceeds 32 bits")))
}
