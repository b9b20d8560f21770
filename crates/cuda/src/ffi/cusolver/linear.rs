//! Solutions of linear systems by Cholesky and LU factorisations.

use std::rc::Rc;

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;

use super::{LOWER, Solver, SolverWorkspace, check, checked_side, type_of};
use crate::{Cuda, DeviceElement, Result};

/// Factors the column-major matrix A of a size in place, and solves A x = b in place of b. Writes to the first element of each
/// `info` whether the factorisation and the solution succeeded: 0, or the order of the minor or the pivot that failed.
pub(crate) type Solution<T> =
    Box<dyn FnMut(&mut CudaSlice<T>, &mut CudaSlice<T>, [&mut CudaSlice<i32>; 2]) -> Result<()>>;

/// Prepares a [`Solution`] by a routine, for matrices of a size.
pub(crate) type SolutionRoutine<T> = fn(&Cuda, Rc<Solver>, usize, &CudaSlice<T>) -> Result<Solution<T>>;

/// Asks for the workspace of `potrf` and `potrs` for an `n x n` matrix, and allocates it. Their factor is L Lᵀ, in the lower
/// triangle of A.
pub(crate) fn cholesky<T: DeviceElement>(
    cuda: &Cuda,
    solver: Rc<Solver>,
    n: usize,
    a: &CudaSlice<T>,
) -> Result<Solution<T>> {
    let call = "cusolverDnXpotrf_bufferSize";
    let side = checked_side(call, n, &[(a.len(), n * n)])?;
    let (handle, params, of, a) = (solver.handle, solver.params, type_of(T::DTYPE), solver.read(a));
    // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, call, |device, host| unsafe {
        sys::cusolverDnXpotrf_bufferSize(handle, params, LOWER, side, of, a, side, of, device, host)
    })?;
    Ok(Box::new(move |a, b, [factored, solved]| {
        let infos = [(factored.len(), 1), (solved.len(), 1)];
        checked_side("cusolverDnXpotrf", n, &infos)?;
        checked_side("cusolverDnXpotrs", n, &[(a.len(), n * n), (b.len(), n)])?;
        let (device, len, host, host_len, _) = work.parts(&solver.stream);
        let (a, b) = (solver.write(a), solver.write(b));
        let [factored, solved] = [factored, solved].map(|info| solver.write(info).cast());
        // SAFETY: handle and parameters are live; `a` has n x n elements, each `info` one; the workspace was made for this
        // routine and size, and outlives the work (see `SolverWorkspace`).
        check("cusolverDnXpotrf", unsafe {
            sys::cusolverDnXpotrf(
                handle, params, LOWER, side, of, a, side, of, device, len, host, host_len, factored,
            )
        })?;
        // SAFETY: as above; `b` has n elements.
        check("cusolverDnXpotrs", unsafe {
            sys::cusolverDnXpotrs(handle, params, LOWER, side, 1, of, a, side, of, b, side, solved)
        })
    }))
}

/// Asks for the workspace of `getrf` and `getrs` for an `n x n` matrix, and allocates it with the pivots. Their factors are
/// P L U, in place of A.
pub(crate) fn lu<T: DeviceElement>(
    cuda: &Cuda,
    solver: Rc<Solver>,
    n: usize,
    a: &CudaSlice<T>,
) -> Result<Solution<T>> {
    let call = "cusolverDnXgetrf_bufferSize";
    let side = checked_side(call, n, &[(a.len(), n * n)])?;
    let (handle, params, of, a) = (solver.handle, solver.params, type_of(T::DTYPE), solver.read(a));
    // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, call, |device, host| unsafe {
        sys::cusolverDnXgetrf_bufferSize(handle, params, side, side, of, a, side, of, device, host)
    })?;
    cuda.reserve(8 * n as u128)?;
    let mut pivots = cuda.alloc::<i64>(n)?;
    let plain = sys::cublasOperation_t::CUBLAS_OP_N;
    Ok(Box::new(move |a, b, [factored, solved]| {
        let infos = [(factored.len(), 1), (solved.len(), 1)];
        checked_side("cusolverDnXgetrf", n, &infos)?;
        checked_side("cusolverDnXgetrs", n, &[(a.len(), n * n), (b.len(), n)])?;
        let (device, len, host, host_len, _) = work.parts(&solver.stream);
        let (a, b, pivots) = (solver.write(a), solver.write(b), solver.write(&mut pivots).cast::<i64>());
        let [factored, solved] = [factored, solved].map(|info| solver.write(info).cast());
        // SAFETY: handle and parameters are live; `a` has n x n elements, `pivots` n, each `info` one; the workspace was made
        // for this routine and size, and outlives the work (see `SolverWorkspace`).
        check("cusolverDnXgetrf", unsafe {
            sys::cusolverDnXgetrf(
                handle, params, side, side, of, a, side, pivots, of, device, len, host, host_len, factored,
            )
        })?;
        // SAFETY: as above; `b` has n elements.
        check("cusolverDnXgetrs", unsafe {
            sys::cusolverDnXgetrs(handle, params, plain, side, 1, of, a, side, pivots, of, b, side, solved)
        })
    }))
}
