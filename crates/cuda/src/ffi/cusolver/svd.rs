//! Singular value and symmetric eigenvalue decompositions.

use std::ffi::{c_int, c_longlong, c_schar, c_void};
use std::rc::Rc;

use cudarc::cusolver::sys;
use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gpubench_backend::contents::Memory;
use gpubench_report::case::DType;

use super::{LOWER, Solver, SolverWorkspace, by_element, check, checked_side, narrow, type_of};
use crate::ffi::device;
use crate::{CellError, Cuda, DeviceElement, DeviceValue, Result};

const VECTORS: sys::cusolverEigMode_t = sys::cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR;
const ECONOMY: c_int = 1;
/// Only the leading singular vectors, which for a square matrix are all of them.
const THIN: c_schar = b'S' as c_schar;

/// Column-major matrices of one shape that follow each other, with at least as many rows as columns.
#[derive(Clone, Copy, Debug)]
pub struct MatrixBatch {
    /// Rows of each.
    pub rows: usize,
    /// Columns of each, and its singular values.
    pub cols: usize,
    /// Number of matrices.
    pub count: usize,
    /// Numbers per element in memory: two of a complex one.
    pub parts: usize,
}

impl MatrixBatch {
    /// One real matrix of n x n.
    pub fn square(n: usize) -> MatrixBatch {
        MatrixBatch { rows: n, cols: n, count: 1, parts: 1 }
    }

    /// Returns the numbers in memory of all matrices.
    pub fn elements(self) -> usize {
        self.rows * self.cols * self.count * self.parts
    }

    /// Returns whether one call of cuSOLVER's Jacobi method decomposes them all.
    fn is_for_jacobi(self) -> bool {
        /// The most rows that `gesvdjBatched` takes.
        const LARGEST: usize = 32;
        self.count > 1 && self.rows <= LARGEST
    }
}

/// Outputs of the decompositions of a batch.
pub struct Vectors<T> {
    /// Singular values, which the routines give in descending order: as many as columns for each matrix.
    pub s: CudaSlice<T>,
    /// Left singular vectors, the columns of column-major matrices.
    pub u: CudaSlice<T>,
    /// Right singular vectors: columns (V) or rows (Vᵀ) of column-major matrices of cols x cols, depending on the routine.
    pub v: CudaSlice<T>,
    /// Columns of each matrix of left singular vectors: those of the matrix, or its rows for `Vectors::full`.
    pub u_cols: usize,
}

impl<T: DeviceRepr + ValidAsZeroBits> Vectors<T> {
    /// Allocates outputs with as many left singular vectors as a matrix has columns.
    ///
    /// # Errors
    /// They do not fit into device memory.
    pub fn thin(cuda: &Cuda, batch: MatrixBatch) -> Result<Self> {
        Vectors::alloc(cuda, batch, batch.cols)
    }

    /// Allocates outputs for [`gesvdj`], which gives as many left singular vectors as rows in one call for a whole batch.
    pub(crate) fn full(cuda: &Cuda, batch: MatrixBatch) -> Result<Self> {
        Vectors::alloc(cuda, batch, if batch.is_for_jacobi() { batch.rows } else { batch.cols })
    }

    fn alloc(cuda: &Cuda, batch: MatrixBatch, u_cols: usize) -> Result<Self> {
        let MatrixBatch { rows, cols, count, parts } = batch;
        let [of_s, of_u, of_v] =
            [cols, rows * u_cols * parts, cols * cols * parts].map(|of_one| of_one * count);
        cuda.reserve(((of_s + of_u + of_v) * size_of::<T>()) as u128)?;
        Ok(Vectors { s: cuda.alloc(of_s)?, u: cuda.alloc(of_u)?, v: cuda.alloc(of_v)?, u_cols })
    }
}

impl<T> Vectors<T> {
    /// Returns the memory of all three, for checks.
    pub fn memory(&mut self) -> [Memory<'_>; 3] {
        [&mut self.s, &mut self.u, &mut self.v].map(device)
    }
}

/// Decomposes the matrices A of a batch, which most routines destroy: A = U S Vᵀ. Sets the element of `info` of each matrix to 0, or to a
/// positive value if the routine did not converge.
pub type Decomposition<T> =
    Box<dyn FnMut(&mut CudaSlice<T>, &mut Vectors<T>, &mut CudaSlice<i32>) -> Result<()>>;

/// Prepares a [`Decomposition`] by a routine, for batches of that shape.
pub(crate) type SvdRoutine<S> =
    fn(&Cuda, &Rc<Solver>, MatrixBatch, &CudaSlice<S>, &Vectors<S>) -> Result<Decomposition<S>>;

/// Replaces the symmetric matrix of a size, of which it reads the lower triangle, by its eigenvectors in columns, in ascending order of
/// their eigenvalues, which it writes to the second array. Sets the first element of `info` to 0, or to a positive value if it did not
/// converge.
pub type EigenDecomposition<T> =
    Box<dyn FnMut(&mut CudaSlice<T>, &mut CudaSlice<T>, &mut CudaSlice<i32>) -> Result<()>>;

/// Checks the lengths of the operands, and returns rows and columns and the addresses of A, S, U and V for a query.
fn operands<T>(
    call: &str,
    solver: &Solver,
    batch: MatrixBatch,
    a: &CudaSlice<T>,
    out: &Vectors<T>,
) -> Result<([i64; 2], [*const c_void; 4])> {
    let (Vectors { s, u, v, u_cols }, MatrixBatch { rows, cols, count, parts }) = (out, batch);
    let needed = [rows * cols * parts, cols, rows * u_cols * parts, cols * cols * parts];
    let needed = needed.map(|of_one| of_one * count);
    let [of_a, of_s, of_u, of_v] = needed;
    let height = checked_side(
        call,
        rows,
        &[(a.len(), of_a), (s.len(), of_s), (u.len(), of_u), (v.len(), of_v), (rows, cols)],
    )?;
    let width = checked_side(call, cols, &[(*u_cols, cols)])?;
    Ok(([height, width], [a, s, u, v].map(|slice| solver.read(slice))))
}

/// Checks the lengths of the operands, and returns for each matrix the addresses of A, S, U and V, and of `info`, for a routine.
fn outputs<T: 'static>(
    call: &str,
    solver: &Solver,
    batch: MatrixBatch,
    (a, out, info): (&mut CudaSlice<T>, &mut Vectors<T>, &mut CudaSlice<i32>),
) -> Result<impl Iterator<Item = ([*mut c_void; 4], *mut c_int)> + use<T>> {
    operands(call, solver, batch, a, out)?;
    let MatrixBatch { rows, cols, count, parts } = batch;
    checked_side(call, rows, &[(info.len(), count)])?;
    let Vectors { s, u, v, u_cols } = out;
    let steps = [rows * cols * parts, cols, rows * *u_cols * parts, cols * cols * parts];
    let first = [a, s, u, v].map(|slice| solver.write(slice).cast::<T>());
    let info = solver.write(info).cast::<c_int>();
    Ok((0..count).map(move |index| {
        let of_one = |part: usize| first[part].wrapping_add(index * steps[part]).cast();
        ([0, 1, 2, 3].map(of_one), info.wrapping_add(index))
    }))
}

/// Returns the polar decomposition, matrix after matrix. It writes V (not Vᵀ) to `out.v`.
///
/// # Errors
/// An operand is too short, or the workspace does not fit into device memory.
pub fn gesvdp<T: DeviceValue>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    batch: MatrixBatch,
    a: &CudaSlice<T::Stored>,
    out: &Vectors<T::Stored>,
) -> Result<Decomposition<T::Stored>> {
    let (call, query, of) = ("cusolverDnXgesvdp", "cusolverDnXgesvdp_bufferSize", type_of(T::DTYPE));
    let real = type_of(T::DTYPE.working());
    let ([rows, cols], [a, s, u, v]) = operands(query, solver, batch, a, out)?;
    let (solver, handle, params) = (Rc::clone(solver), solver.handle, solver.params);
    // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, query, |device, host| unsafe {
        sys::cusolverDnXgesvdp_bufferSize(
            handle, params, VECTORS, ECONOMY, rows, cols, of, a, rows, real, s, of, u, rows, of, v, cols, of,
            device, host,
        )
    })?;
    Ok(Box::new(move |a, out, info| {
        let (device, len, host, host_len, off) = work.parts(&solver.stream);
        outputs(call, &solver, batch, (a, out, info))?.try_for_each(|([a, s, u, v], info)| {
            // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
            // this routine and size, and it and the perturbation's place outlive the work (see `SolverWorkspace`).
            check(call, unsafe {
                sys::cusolverDnXgesvdp(
                    handle, params, VECTORS, ECONOMY, rows, cols, of, a, rows, real, s, of, u, rows, of, v,
                    cols, of, device, len, host, host_len, info, off,
                )
            })
        })
    }))
}

/// Returns the decomposition by QR iteration, matrix after matrix. It writes Vᵀ to `out.v`.
///
/// # Errors
/// An operand is too short, or the workspace does not fit into device memory.
pub fn gesvd<T: DeviceValue>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    batch: MatrixBatch,
    a: &CudaSlice<T::Stored>,
    out: &Vectors<T::Stored>,
) -> Result<Decomposition<T::Stored>> {
    let (call, query, of) = ("cusolverDnXgesvd", "cusolverDnXgesvd_bufferSize", type_of(T::DTYPE));
    let real = type_of(T::DTYPE.working());
    let ([rows, cols], [a, s, u, v]) = operands(query, solver, batch, a, out)?;
    let (solver, handle, params) = (Rc::clone(solver), solver.handle, solver.params);
    // SAFETY: handle and parameters are live, the operands have the checked lengths, the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, query, |device, host| unsafe {
        sys::cusolverDnXgesvd_bufferSize(
            handle, params, THIN, THIN, rows, cols, of, a, rows, real, s, of, u, rows, of, v, cols, of,
            device, host,
        )
    })?;
    Ok(Box::new(move |a, out, info| {
        let (device, len, host, host_len, _) = work.parts(&solver.stream);
        outputs(call, &solver, batch, (a, out, info))?.try_for_each(|([a, s, u, v], info)| {
            // SAFETY: handle and parameters are live, the operands have the checked lengths; the workspace was made for
            // this routine and size, and outlives the work (see `SolverWorkspace`).
            check(call, unsafe {
                sys::cusolverDnXgesvd(
                    handle, params, THIN, THIN, rows, cols, of, a, rows, real, s, of, u, rows, of, v, cols,
                    of, device, len, host, host_len, info,
                )
            })
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

/// Allocates the elements of workspace that a 32-bit query has returned.
fn workspace<T: DeviceValue>(cuda: &Cuda, call: &str, len: c_int) -> Result<CudaSlice<T::Stored>> {
    let elements = usize::try_from(len);
    let elements =
        elements.map_err(|_| CellError::call(call, format!("invalid workspace size {len}")))?.max(1);
    cuda.reserve(elements as u128 * size_of::<T>() as u128)?;
    cuda.alloc(elements * T::PARTS)
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

/// Returns the Jacobi decomposition, with tolerance epsilon and cuSOLVER's default of at most 100 sweeps: of matrices of up to 32 rows by
/// one call for the whole batch, with the outputs of [`Vectors::full`], and of others matrix after matrix. It writes V (not Vᵀ) to
/// `out.v`.
pub(crate) fn gesvdj<T: DeviceValue>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    batch: MatrixBatch,
    a: &CudaSlice<T::Stored>,
    out: &Vectors<T::Stored>,
) -> Result<Decomposition<T::Stored>> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is a place for one pointer.
    check("cusolverDnCreateGesvdjInfo", unsafe { sys::cusolverDnCreateGesvdjInfo(&mut raw) })?;
    let parameters = JacobiParameters(raw);
    // The tolerance at which sweeps stop.
    let epsilon = match T::DTYPE.working() {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    };
    // SAFETY: the parameters are live.
    check("cusolverDnXgesvdjSetTolerance", unsafe { sys::cusolverDnXgesvdjSetTolerance(raw, epsilon) })?;
    let (call, query, mut len) = ("gesvdj", "gesvdj size query", 0);
    let (sides, [a, s, u, v]) = operands(query, solver, batch, a, out)?;
    let [rows, cols] = [narrow(query, sides[0])?, narrow(query, sides[1])?];
    let (solver, handle) = (Rc::clone(solver), solver.handle);
    if batch.is_for_jacobi() && out.u_cols == batch.rows {
        let count = narrow(query, checked_side(query, batch.count, &[])?)?;
        // SAFETY: handle and parameters are live, the operands have the checked lengths, `len` is writable.
        check(query, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdjBatched_bufferSize, sys::cusolverDnDgesvdjBatched_bufferSize, sys::cusolverDnCgesvdjBatched_bufferSize, sys::cusolverDnZgesvdjBatched_bufferSize]
                handle, VECTORS, rows, cols, a.cast(), rows, s.cast(), u.cast(), rows, v.cast(), cols,
                &mut len, raw, count
            )
        })?;
        let mut work = workspace::<T>(cuda, query, len)?;
        return Ok(Box::new(move |a, out, info| {
            let raw = parameters.raw();
            let Some(([a, s, u, v], info)) = outputs(call, &solver, batch, (a, out, info))?.next() else {
                return Ok(());
            };
            let work = solver.write(&mut work);
            // SAFETY: handle and parameters are live; operands, workspace and `info` have the checked lengths.
            check(call, unsafe {
                by_element!(T =>
                    [sys::cusolverDnSgesvdjBatched, sys::cusolverDnDgesvdjBatched, sys::cusolverDnCgesvdjBatched, sys::cusolverDnZgesvdjBatched]
                    handle, VECTORS, rows, cols, a.cast(), rows, s.cast(), u.cast(), rows, v.cast(), cols,
                    work.cast(), len, info, raw, count
                )
            })
        }));
    }
    // SAFETY: handle and parameters are live, the operands have the checked lengths, `len` is writable.
    check(query, unsafe {
        by_element!(T =>
            [sys::cusolverDnSgesvdj_bufferSize, sys::cusolverDnDgesvdj_bufferSize, sys::cusolverDnCgesvdj_bufferSize, sys::cusolverDnZgesvdj_bufferSize]
            handle, VECTORS, ECONOMY, rows, cols, a.cast(), rows, s.cast(), u.cast(), rows, v.cast(),
            cols, &mut len, raw
        )
    })?;
    let mut work = workspace::<T>(cuda, query, len)?;
    Ok(Box::new(move |a, out, info| {
        let (work, raw) = (solver.write(&mut work), parameters.raw());
        outputs(call, &solver, batch, (a, out, info))?.try_for_each(|([a, s, u, v], info)| {
            // SAFETY: handle and parameters are live; operands, workspace and `info` have the checked lengths.
            check(call, unsafe {
                by_element!(T =>
                    [sys::cusolverDnSgesvdj, sys::cusolverDnDgesvdj, sys::cusolverDnCgesvdj, sys::cusolverDnZgesvdj]
                    handle, VECTORS, ECONOMY, rows, cols, a.cast(), rows, s.cast(), u.cast(), rows, v.cast(),
                    cols, work.cast(), len, info, raw
                )
            })
        })
    }))
}

/// Returns the decomposition that cuSOLVER calls approximate, by the eigenvectors of AᵀA, by one call for the batch. It leaves A as it is,
/// and writes V (not Vᵀ) to `out.v`. The norm of the residual is not computed.
pub(crate) fn gesvda<T: DeviceValue>(
    cuda: &Cuda,
    solver: &Rc<Solver>,
    batch: MatrixBatch,
    a: &CudaSlice<T::Stored>,
    out: &Vectors<T::Stored>,
) -> Result<Decomposition<T::Stored>> {
    let (call, query, mut len) = ("gesvda", "gesvda size query", 0);
    let ([rows, cols], [a, s, u, v]) = operands(query, solver, batch, a, out)?;
    let (of_a, of_v) = (c_longlong::from(rows * cols), c_longlong::from(cols * cols));
    let of_s = c_longlong::from(cols);
    let count = narrow(query, checked_side(query, batch.count, &[])?)?;
    let (solver, handle) = (Rc::clone(solver), solver.handle);
    let (rows, cols) = (narrow(query, rows)?, narrow(query, cols)?);
    // SAFETY: the handle is live, the operands have the checked lengths, `len` is writable.
    check(query, unsafe {
        by_element!(T =>
            [sys::cusolverDnSgesvdaStridedBatched_bufferSize, sys::cusolverDnDgesvdaStridedBatched_bufferSize]
            handle, VECTORS, cols, rows, cols, a.cast(), rows, of_a, s.cast(), of_s, u.cast(), rows,
            of_a, v.cast(), cols, of_v, &mut len, count
        )
    })?;
    let mut work = workspace::<T>(cuda, query, len)?;
    Ok(Box::new(move |a, out, info| {
        let Some(([a, s, u, v], info)) = outputs(call, &solver, batch, (a, out, info))?.next() else {
            return Ok(());
        };
        let (work, none) = (solver.write(&mut work), std::ptr::null_mut());
        // SAFETY: the handle is live; operands, workspace and `info` have the checked lengths; no residual is asked for.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSgesvdaStridedBatched, sys::cusolverDnDgesvdaStridedBatched]
                handle, VECTORS, cols, rows, cols, a.cast_const().cast(), rows, of_a, s.cast(), of_s, u.cast(),
                rows, of_a, v.cast(), cols, of_v, work.cast(), len, info, none, count
            )
        })
    }))
}
