//! The decomposition that cuSOLVER calls approximate (gesvda), by the eigenvectors of AᵀA.

use std::ffi::{c_int, c_longlong};

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;
use gpubench_model::error::CellError;

use super::jacobi::narrow;
use super::svd::{VECTORS, Vectors, side};
use super::{Solver, SolverReal, check, checked_side};

type Query<T> = unsafe fn(
    sys::cusolverDnHandle_t,
    sys::cusolverEigMode_t,
    c_int,
    c_int,
    c_int,
    *const T,
    c_int,
    c_longlong,
    *const T,
    c_longlong,
    *const T,
    c_int,
    c_longlong,
    *const T,
    c_int,
    c_longlong,
    *mut c_int,
    c_int,
) -> sys::cusolverStatus_t;

type Decompose<T> = unsafe fn(
    sys::cusolverDnHandle_t,
    sys::cusolverEigMode_t,
    c_int,
    c_int,
    c_int,
    *const T,
    c_int,
    c_longlong,
    *mut T,
    c_longlong,
    *mut T,
    c_int,
    c_longlong,
    *mut T,
    c_int,
    c_longlong,
    *mut T,
    c_int,
    *mut c_int,
    *mut f64,
    c_int,
) -> sys::cusolverStatus_t;

/// An element type with an approximate routine.
pub(crate) trait ApproximateReal: SolverReal {
    const QUERY: Query<Self>;
    const DECOMPOSE: Decompose<Self>;
}

impl ApproximateReal for f32 {
    const QUERY: Query<f32> = sys::cusolverDnSgesvdaStridedBatched_bufferSize;
    const DECOMPOSE: Decompose<f32> = sys::cusolverDnSgesvdaStridedBatched;
}

impl ApproximateReal for f64 {
    const QUERY: Query<f64> = sys::cusolverDnDgesvdaStridedBatched_bufferSize;
    const DECOMPOSE: Decompose<f64> = sys::cusolverDnDgesvdaStridedBatched;
}

impl Solver {
    /// Returns the elements of workspace of [`Solver::gesvda`] for an `n x n` matrix.
    pub(crate) fn gesvda_workspace<T: ApproximateReal>(
        &self,
        n: usize,
        a: &CudaSlice<T>,
        out: &Vectors<T>,
    ) -> Result<usize, CellError> {
        let call = "gesvda size query";
        let side = narrow(call, side(call, n, a, out)?)?;
        let (area, length) = (c_longlong::from(side) * c_longlong::from(side), c_longlong::from(side));
        let mut len: c_int = 0;
        let (handle, a, s) = (self.handle, self.read(a).cast(), self.read(&out.s).cast());
        let (u, v) = (self.read(&out.u).cast(), self.read(&out.v).cast());
        // SAFETY: the handle is live, the operands have the checked lengths, `len` is writable.
        check(call, unsafe {
            T::QUERY(
                handle, VECTORS, side, side, side, a, side, area, s, length, u, side, area, v, side, area,
                &mut len, 1,
            )
        })?;
        usize::try_from(len).map_err(|_| CellError::call(call, format!("invalid workspace size {len}")))
    }

    /// Decomposes the column-major `n x n` matrix `a`, which stays: A = U S Vᵀ with V (not Vᵀ) in `out.v`. `work` has the elements
    /// that [`Solver::gesvda_workspace`] returned for this size. The norm of the residual is not computed.
    pub(crate) fn gesvda<T: ApproximateReal>(
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
        let (handle, a, s) = (self.handle, self.read(a).cast(), self.write(&mut out.s).cast());
        let (u, v) = (self.write(&mut out.u).cast(), self.write(&mut out.v).cast());
        let (work, info, none) = (self.write(work).cast(), self.write(info).cast(), std::ptr::null_mut());
        // SAFETY: the handle is live; operands, workspace and `info` have the checked lengths; no residual is asked for.
        check(call, unsafe {
            T::DECOMPOSE(
                handle, VECTORS, side, side, side, a, side, area, s, length, u, side, area, v, side, area,
                work, work_len, info, none, 1,
            )
        })
    }
}
