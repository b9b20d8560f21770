//! Singular value decompositions: QR iteration (gesvd) and polar decomposition (gesvdp).

use std::ffi::{c_int, c_schar};

use cudarc::cusolver::sys;
use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gpubench_backend::contents::Memory;
use gpubench_report::error::CellError;

use super::{Solver, SolverReal, SolverWorkspace, WorkspaceSize, check, checked_side};
use crate::context::Cuda;
use crate::ffi::contents::device;

pub(super) const VECTORS: sys::cusolverEigMode_t = sys::cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR;
pub(super) const ECONOMY: c_int = 1;
/// Only the leading singular vectors, which for a square matrix are all of them.
const THIN: c_schar = b'S' as c_schar;

/// Outputs of a decomposition of an `n x n` matrix.
pub(crate) struct Vectors<T> {
    /// The `n` singular values, which the routines give in descending order.
    pub s: CudaSlice<T>,
    /// Left singular vectors, the columns of a column-major `n x n` matrix.
    pub u: CudaSlice<T>,
    /// Right singular vectors: columns (V) or rows (Vᵀ) of a column-major `n x n` matrix, depending on the routine.
    pub v: CudaSlice<T>,
}

impl<T: DeviceRepr + ValidAsZeroBits> Vectors<T> {
    /// Allocates the outputs of an `n x n` decomposition.
    pub(crate) fn alloc(cuda: &Cuda, n: usize) -> Result<Self, CellError> {
        Ok(Vectors { s: cuda.alloc(n)?, u: cuda.alloc(n * n)?, v: cuda.alloc(n * n)? })
    }
}

impl<T> Vectors<T> {
    /// Returns the memory of all three, for checks.
    pub(crate) fn memory(&mut self) -> [Memory<'_>; 3] {
        [&mut self.s, &mut self.u, &mut self.v].map(device)
    }

    fn lengths(&self, n: usize) -> [(usize, usize); 3] {
        [(self.s.len(), n), (self.u.len(), n * n), (self.v.len(), n * n)]
    }
}

/// Returns the size of a decomposition for cuSOLVER, after checking the lengths of all operands.
pub(super) fn side<T>(call: &str, n: usize, a: &CudaSlice<T>, out: &Vectors<T>) -> Result<i64, CellError> {
    checked_side(call, n, &[(a.len(), n * n)])?;
    checked_side(call, n, &out.lengths(n))
}

impl Solver {
    /// Returns the workspace of [`Solver::gesvdp`].
    pub(crate) fn gesvdp_workspace<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        out: &Vectors<T>,
    ) -> Result<WorkspaceSize, CellError> {
        let call = "cusolverDnXgesvdp_bufferSize";
        let side = side(call, n, a, out)?;
        let mut size = WorkspaceSize::none("cusolverDnXgesvdp", n, T::TYPE);
        let (handle, params, of, a) = (self.handle, self.params, T::TYPE, self.read(a));
        let (s, u, v) = (self.read(&out.s), self.read(&out.u), self.read(&out.v));
        let (device, host) = (&raw mut size.device, &raw mut size.host);
        // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXgesvdp_bufferSize(
                handle, params, VECTORS, ECONOMY, side, side, of, a, side, of, s, of, u, side, of, v, side,
                of, device, host,
            )
        })?;
        Ok(size)
    }

    /// Decomposes the column-major `n x n` matrix `a`, destroying it: A = U S Vᵀ with V (not Vᵀ) in `out.v`.
    /// Sets `info[0]` to 0, or to a positive value if it did not converge.
    pub(crate) fn gesvdp<T: SolverReal>(
        &self,
        n: usize,
        a: &mut CudaSlice<T>,
        out: &mut Vectors<T>,
        work: &mut SolverWorkspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXgesvdp";
        let side = side(call, n, a, out)?;
        checked_side(call, n, &[(info.len(), 1)])?;
        let (device, len, host, host_len, off) = work.pointers(&self.stream, call, n, T::TYPE)?;
        let (handle, params, of, a) = (self.handle, self.params, T::TYPE, self.write(a));
        let (s, u, v) = (self.write(&mut out.s), self.write(&mut out.u), self.write(&mut out.v));
        let info = self.write(info).cast();
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and it and the perturbation's place outlive the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXgesvdp(
                handle, params, VECTORS, ECONOMY, side, side, of, a, side, of, s, of, u, side, of, v, side,
                of, device, len, host, host_len, info, off,
            )
        })
    }

    /// Returns the workspace of [`Solver::gesvd`].
    pub(crate) fn gesvd_workspace<T: SolverReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        out: &Vectors<T>,
    ) -> Result<WorkspaceSize, CellError> {
        let call = "cusolverDnXgesvd_bufferSize";
        let side = side(call, n, a, out)?;
        let mut size = WorkspaceSize::none("cusolverDnXgesvd", n, T::TYPE);
        let (handle, params, of, a) = (self.handle, self.params, T::TYPE, self.read(a));
        let (s, u, v) = (self.read(&out.s), self.read(&out.u), self.read(&out.v));
        let (device, host) = (&raw mut size.device, &raw mut size.host);
        // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXgesvd_bufferSize(
                handle, params, THIN, THIN, side, side, of, a, side, of, s, of, u, side, of, v, side, of,
                device, host,
            )
        })?;
        Ok(size)
    }

    /// Decomposes the column-major `n x n` matrix `a`, destroying it: A = U S Vᵀ with Vᵀ in `out.v`.
    /// Sets `info[0]` to 0, or to the number of superdiagonals that did not converge.
    pub(crate) fn gesvd<T: SolverReal>(
        &self,
        n: usize,
        a: &mut CudaSlice<T>,
        out: &mut Vectors<T>,
        work: &mut SolverWorkspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXgesvd";
        let side = side(call, n, a, out)?;
        checked_side(call, n, &[(info.len(), 1)])?;
        let (device, len, host, host_len, _) = work.pointers(&self.stream, call, n, T::TYPE)?;
        let (handle, params, of, a) = (self.handle, self.params, T::TYPE, self.write(a));
        let (s, u, v) = (self.write(&mut out.s), self.write(&mut out.u), self.write(&mut out.v));
        let info = self.write(info).cast();
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and outlives the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXgesvd(
                handle, params, THIN, THIN, side, side, of, a, side, of, s, of, u, side, of, v, side, of,
                device, len, host, host_len, info,
            )
        })
    }
}
