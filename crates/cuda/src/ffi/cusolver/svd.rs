//! Singular value and symmetric eigenvalue decompositions.

use std::ffi::{c_int, c_longlong, c_schar, c_void};
use std::rc::Rc;

use cudarc::cusolver::sys;
use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gpubench_backend::contents::Memory;
use gpubench_report::case::DType;

use super::{LOWER, Solver, SolverWorkspace, check, checked_side, type_of};
use crate::ffi::device;
use crate::{CellError, Cuda, DeviceElement, Result};

const VECTORS: sys::cusolverEigMode_t = sys::cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR;
const ECONOMY: c_int = 1;
/// Only the leading singular vectors, which for a square matrix are all of them.
const THIN: c_schar = b'S' as c_schar;

/// Outputs of a decomposition of an `n x n` matrix.
pub struct Vectors<T> {
    /// The `n` singular values, which the routines give in descending order.
    pub s: CudaSlice<T>,
    /// Left singular vectors, the columns of a column-major `n x n` matrix.
    pub u: CudaSlice<T>,
    /// Right singular vectors: columns (V) or rows (Vᵀ) of a column-major `n x n` matrix, depending on the routine.
    pub v: CudaSlice<T>,
}

impl<T: DeviceRepr + ValidAsZeroBits> Vectors<T> {
    /// Allocates the outputs of an `n x n` decomposition.
    ///
    /// # Errors
    /// They do not fit into device memory.
    pub fn alloc(cuda: &Cuda, n: usize) -> Result<Self> {
        Ok(Vectors { s: cuda.alloc(n)?, u: cuda.alloc(n * n)?, v: cuda.alloc(n * n)? })
    }
}

impl<T> Vectors<T> {
    /// Returns the memory of all three, for checks.
    pub fn memory(&mut self) -> [Memory<'_>; 3] {
        [&mut self.s, &mut self.u, &mut self.v].map(device)
    }
}

/// Decomposes the column-major matrix A of a size, which most routines destroy: A = U S Vᵀ. Sets the first element of `info` to 0, or
/// to a positive value if the routine did not converge.
pub type Decomposition<T> =
    Box<dyn FnMut(&mut CudaSlice<T>, &mut Vectors<T>, &mut CudaSlice<i32>) -> Result<()>>;

/// Prepares a [`Decomposition`] by a routine, for matrices of a size.
pub(crate) type SvdRoutine<T> =
    fn(&Cuda, &Rc<Solver>, usize, &CudaSlice<T>, &Vectors<T>) -> Result<Decomposition<T>>;

/// Replaces the symmetric matrix of a size, of which it reads the lower triangle, by its eigenvectors in columns, in ascending order of
/// their eigenvalues, which it writes to the second array. Sets the first element of `info` to 0, or to a positive value if it did not
/// converge.
pub type EigenDecomposition<T> =
    Box<dyn FnMut(&mut CudaSlice<T>, &mut CudaSlice<T>, &mut CudaSlice<i32>) -> Result<()>>;

/// Checks the lengths of the operands, and returns the size and the addresses of A, S, U and V for a query.
fn operands<T>(
    call: &str,
    solver: &Solver,
    n: usize,
    a: &CudaSlice<T>,
    out: &Vectors<T>,
) -> Result<(i64, [*const c_void; 4])> {
    let Vectors { s, u, v } = out;
    let side = checked_side(call, n, &[a, u, v].map(|matrix| (matrix.len(), n * n)))?;
    checked_side(call, n, &[(s.len(), n)])?;
    Ok((side, [a, s, u, v].map(|slice| solver.read(slice))))
}

/// Checks the lengths of the operands, and returns the addresses of A, S, U and V, and of `info`, for a routine.
fn outputs<T>(
    call: &str,
    solver: &Solver,
    n: usize,
    (a, out, info): (&mut CudaSlice<T>, &mut Vectors<T>, &mut CudaSlice<i32>),
) -> Result<([*mut c_void; 4], *mut c_int)> {
    operands(call, solver, n, a, out)?;
    checked_side(call, n, &[(info.len(), 1)])?;
    let Vectors { s, u, v } = out;
    Ok(([a, s, u, v].map(|slice| solver.write(slice)), solver.write(info).cast()))
}

/// Returns the polar decomposition for `n x n` matrices. It writes V (not Vᵀ) to `out.v`.
///
/// # Errors
/// An operand is too short, or the workspace does not fit into device memory.
pub fn gesvdp<T: DeviceElement>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    n: usize,
    a: &CudaSlice<T>,
    out: &Vectors<T>,
) -> Result<Decomposition<T>> {
    let (call, query, of) = ("cusolverDnXgesvdp", "cusolverDnXgesvdp_bufferSize", type_of(T::DTYPE));
    let (side, [a, s, u, v]) = operands(query, solver, n, a, out)?;
    let (solver, handle, params) = (Rc::clone(solver), solver.handle, solver.params);
    // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, query, |device, host| unsafe {
        sys::cusolverDnXgesvdp_bufferSize(
            handle, params, VECTORS, ECONOMY, side, side, of, a, side, of, s, of, u, side, of, v, side, of,
            device, host,
        )
    })?;
    Ok(Box::new(move |a, out, info| {
        let ([a, s, u, v], info) = outputs(call, &solver, n, (a, out, info))?;
        let (device, len, host, host_len, off) = work.parts(&solver.stream);
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and it and the perturbation's place outlive the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXgesvdp(
                handle, params, VECTORS, ECONOMY, side, side, of, a, side, of, s, of, u, side, of, v, side,
                of, device, len, host, host_len, info, off,
            )
        })
    }))
}

/// Returns the decomposition by QR iteration for `n x n` matrices. It writes Vᵀ to `out.v`.
///
/// # Errors
/// An operand is too short, or the workspace does not fit into device memory.
pub fn gesvd<T: DeviceElement>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    n: usize,
    a: &CudaSlice<T>,
    out: &Vectors<T>,
) -> Result<Decomposition<T>> {
    let (call, query, of) = ("cusolverDnXgesvd", "cusolverDnXgesvd_bufferSize", type_of(T::DTYPE));
    let (side, [a, s, u, v]) = operands(query, solver, n, a, out)?;
    let (solver, handle, params) = (Rc::clone(solver), solver.handle, solver.params);
    // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, query, |device, host| unsafe {
        sys::cusolverDnXgesvd_bufferSize(
            handle, params, THIN, THIN, side, side, of, a, side, of, s, of, u, side, of, v, side, of, device,
            host,
        )
    })?;
    Ok(Box::new(move |a, out, info| {
        let ([a, s, u, v], info) = outputs(call, &solver, n, (a, out, info))?;
        let (device, len, host, host_len, _) = work.parts(&solver.stream);
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and outlives the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXgesvd(
                handle, params, THIN, THIN, side, side, of, a, side, of, s, of, u, side, of, v, side, of,
                device, len, host, host_len, info,
            )
        })
    }))
}

/// Returns the decomposition of symmetric `n x n` matrices by tridiagonalisation and divide and conquer.
///
/// # Errors
/// An operand is too short, or the workspace does not fit into device memory.
pub fn syevd<T: DeviceElement>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    n: usize,
    (a, values): (&CudaSlice<T>, &CudaSlice<T>),
) -> Result<EigenDecomposition<T>> {
    let (call, query, of) = ("cusolverDnXsyevd", "cusolverDnXsyevd_bufferSize", type_of(T::DTYPE));
    let side = checked_side(query, n, &[(a.len(), n * n), (values.len(), n)])?;
    let (a, w) = (solver.read(a), solver.read(values));
    let (solver, handle, params) = (Rc::clone(solver), solver.handle, solver.params);
    // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, query, |device, host| unsafe {
        sys::cusolverDnXsyevd_bufferSize(
            handle, params, VECTORS, LOWER, side, of, a, side, of, w, of, device, host,
        )
    })?;
    Ok(Box::new(move |a, values, info| {
        checked_side(call, n, &[(a.len(), n * n), (values.len(), n), (info.len(), 1)])?;
        let (device, len, host, host_len, _) = work.parts(&solver.stream);
        let (a, w, info) = (solver.write(a), solver.write(values), solver.write(info).cast());
        // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
        // this routine and size, and outlives the work (see `SolverWorkspace`).
        check(call, unsafe {
            sys::cusolverDnXsyevd(
                handle, params, VECTORS, LOWER, side, of, a, side, of, w, of, device, len, host, host_len,
                info,
            )
        })
    }))
}

/// Calls the routine for float32 or the one for float64, by the element type, with arguments whose pointers are cast to its types.
macro_rules! by_element {
    ($element:ty => [$single:path, $double:path] $($argument:expr),*) => {
        match <$element>::DTYPE {
            DType::F32 => $single($($argument),*),
            DType::F64 => $double($($argument),*),
        }
    };
}

/// Converts a size for cuSOLVER's 32-bit routines.
fn narrow(call: &str, side: i64) -> Result<c_int> {
    c_int::try_from(side).map_err(|_| CellError::call(call, format!("N = {side} exceeds 32 bits")))
}

/// Allocates the elements of workspace that a 32-bit query has returned.
fn workspace<T: DeviceElement>(cuda: &Cuda, call: &str, len: c_int) -> Result<CudaSlice<T>> {
    let elements = usize::try_from(len);
    let elements =
        elements.map_err(|_| CellError::call(call, format!("invalid workspace size {len}")))?.max(1);
    cuda.reserve(elements as u128 * size_of::<T>() as u128)?;
    cuda.alloc(elements)
}

/// Parameters of the Jacobi decomposition.
struct JacobiParameters(sys::gesvdjInfo_t);

impl JacobiParameters {
    /// Returns the pointer. A closure that calls this owns the parameters, while one that reads the field would own a copy of the pointer.
    fn raw(&self) -> sys::gesvdjInfo_t {
        self.0
    }
}

impl Drop for JacobiParameters {
    fn drop(&mut self) {
        // SAFETY: this value owns the parameters, and nothing uses them afterwards.
        let _ = unsafe { sys::cusolverDnDestroyGesvdjInfo(self.0) };
    }
}

/// Returns the Jacobi decomposition for `n x n` matrices, with tolerance epsilon and cuSOLVER's default of at most 100 sweeps. It
/// writes V (not Vᵀ) to `out.v`.
pub(crate) fn gesvdj<T: DeviceElement>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    n: usize,
    a: &CudaSlice<T>,
    out: &Vectors<T>,
) -> Result<Decomposition<T>> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is a place for one pointer.
    check("cusolverDnCreateGesvdjInfo", unsafe { sys::cusolverDnCreateGesvdjInfo(&mut raw) })?;
    let parameters = JacobiParameters(raw);
    // The tolerance at which sweeps stop.
    let epsilon = match T::DTYPE {
        DType::F32 => f64::from(f32::EPSILON),
        DType::F64 => f64::EPSILON,
    };
    // SAFETY: the parameters are live.
    check("cusolverDnXgesvdjSetTolerance", unsafe { sys::cusolverDnXgesvdjSetTolerance(raw, epsilon) })?;
    let (call, query, mut len) = ("gesvdj", "gesvdj size query", 0);
    let (side, [a, s, u, v]) = operands(query, solver, n, a, out)?;
    let (solver, handle, side) = (Rc::clone(solver), solver.handle, narrow(query, side)?);
    // SAFETY: handle and parameters are live, the operands have the checked lengths, `len` is writable.
    check(query, unsafe {
        by_element!(T =>
            [sys::cusolverDnSgesvdj_bufferSize, sys::cusolverDnDgesvdj_bufferSize]
            handle, VECTORS, ECONOMY, side, side, a.cast(), side, s.cast(), u.cast(), side, v.cast(),
            side, &mut len, raw
        )
    })?;
    let mut work = workspace::<T>(cuda, query, len)?;
    Ok(Box::new(move |a, out, info| {
        let ([a, s, u, v], info) = outputs(call, &solver, n, (a, out, info))?;
        let (work, raw) = (solver.write(&mut work), parameters.raw());
        // SAFETY: handle and parameters are live; operands, workspace and `info` have the checked lengths.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdj, sys::cusolverDnDgesvdj]
                handle, VECTORS, ECONOMY, side, side, a.cast(), side, s.cast(), u.cast(), side, v.cast(),
                side, work.cast(), len, info, raw
            )
        })
    }))
}

/// Returns the decomposition for `n x n` matrices that cuSOLVER calls approximate, by the eigenvectors of AᵀA. It leaves A as it is, and
/// writes V (not Vᵀ) to `out.v`. The norm of the residual is not computed.
pub(crate) fn gesvda<T: DeviceElement>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    n: usize,
    a: &CudaSlice<T>,
    out: &Vectors<T>,
) -> Result<Decomposition<T>> {
    let (call, query, mut len) = ("gesvda", "gesvda size query", 0);
    let (side, [a, s, u, v]) = operands(query, solver, n, a, out)?;
    let (solver, handle, side) = (Rc::clone(solver), solver.handle, narrow(query, side)?);
    let (area, length) = (c_longlong::from(side) * c_longlong::from(side), c_longlong::from(side));
    // SAFETY: the handle is live, the operands have the checked lengths, `len` is writable.
    check(query, unsafe {
        by_element!(T =>
            [sys::cusolverDnSgesvdaStridedBatched_bufferSize, sys::cusolverDnDgesvdaStridedBatched_bufferSize]
            handle, VECTORS, side, side, side, a.cast(), side, area, s.cast(), length, u.cast(), side,
            area, v.cast(), side, area, &mut len, 1
        )
    })?;
    let mut work = workspace::<T>(cuda, query, len)?;
    Ok(Box::new(move |a, out, info| {
        let ([a, s, u, v], info) = outputs(call, &solver, n, (a, out, info))?;
        let (work, none) = (solver.write(&mut work), std::ptr::null_mut());
        // SAFETY: the handle is live; operands, workspace and `info` have the checked lengths; no residual is asked for.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdaStridedBatched, sys::cusolverDnDgesvdaStridedBatched]
                handle, VECTORS, side, side, side, a.cast_const().cast(), side, area, s.cast(), length, u.cast(), side,
                area, v.cast(), side, area, work.cast(), len, info, none, 1
            )
        })
    }))
}
