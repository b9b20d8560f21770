//! Singular value decompositions: QR iteration (gesvd) and polar decomposition (gesvdp).

use std::ffi::{c_int, c_schar};

use cudarc::cusolver::sys;
use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gpubench_backend::contents::Memory;
use gpubench_model::error::CellError;

use super::{Solver, SolverReal, Workspace, WorkspaceSize, check, checked_side};
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
        // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXgesvdp_bufferSize(
                self.handle,
                self.params,
                VECTORS,
                ECONOMY,
                side,
                side,
                T::TYPE,
                self.read(a),
                side,
                T::TYPE,
                self.read(&out.s),
                T::TYPE,
                self.read(&out.u),
                side,
                T::TYPE,
                self.read(&out.v),
                side,
                T::TYPE,
                &mut size.device,
                &mut size.host,
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
        work: &mut Workspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXgesvdp";
        let side = side(call, n, a, out)?;
        checked_side(call, n, &[(info.len(), 1)])?;
        let work = work.pointers(&self.stream, call, n, T::TYPE)?;
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and it and the perturbation's place outlive the work (see `Workspace`).
        check(call, unsafe {
            sys::cusolverDnXgesvdp(
                self.handle,
                self.params,
                VECTORS,
                ECONOMY,
                side,
                side,
                T::TYPE,
                self.write(a),
                side,
                T::TYPE,
                self.write(&mut out.s),
                T::TYPE,
                self.write(&mut out.u),
                side,
                T::TYPE,
                self.write(&mut out.v),
                side,
                T::TYPE,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                self.write(info).cast(),
                work.perturbation,
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
        // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
        check(call, unsafe {
            sys::cusolverDnXgesvd_bufferSize(
                self.handle,
                self.params,
                THIN,
                THIN,
                side,
                side,
                T::TYPE,
                self.read(a),
                side,
                T::TYPE,
                self.read(&out.s),
                T::TYPE,
                self.read(&out.u),
                side,
                T::TYPE,
                self.read(&out.v),
                side,
                T::TYPE,
                &mut size.device,
                &mut size.host,
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
        work: &mut Workspace,
        info: &mut CudaSlice<i32>,
    ) -> Result<(), CellError> {
        let call = "cusolverDnXgesvd";
        let side = side(call, n, a, out)?;
        checked_side(call, n, &[(info.len(), 1)])?;
        let work = work.pointers(&self.stream, call, n, T::TYPE)?;
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and outlives the work (see `Workspace`).
        check(call, unsafe {
            sys::cusolverDnXgesvd(
                self.handle,
                self.params,
                THIN,
                THIN,
                side,
                side,
                T::TYPE,
                self.write(a),
                side,
                T::TYPE,
                self.write(&mut out.s),
                T::TYPE,
                self.write(&mut out.u),
                side,
                T::TYPE,
                self.write(&mut out.v),
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
}
