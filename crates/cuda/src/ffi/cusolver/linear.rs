//! Solutions of linear systems by Cholesky and LU factorisations.

use std::rc::Rc;

use cudarc::cusolver::sys;
use cudarc::driver::CudaSlice;
use gpubench_report::case::DType;

use super::{LOWER, Solver, SolverWorkspace, by_element, check, checked_side, narrow, type_of};
use crate::ffi::cublas::{Addresses, Cublas};
use crate::{Cuda, DeviceValue, Result};

/// Linear systems of one size, whose column-major matrices and right-hand sides follow each other.
#[derive(Clone, Copy)]
pub(crate) struct Systems {
    /// Rows and columns of each matrix.
    pub(crate) side: usize,
    /// Right-hand sides of each system.
    pub(crate) columns: usize,
    /// Number of systems.
    pub(crate) count: usize,
    /// Numbers per element in memory: two of a complex one.
    pub(crate) parts: usize,
}

impl Systems {
    /// Returns the numbers in memory of the matrix of one system, and of its right-hand sides.
    pub(crate) fn lens(self) -> [usize; 2] {
        [self.side * self.side, self.side * self.columns].map(|elements| elements * self.parts)
    }

    /// Checks the lengths of the matrices and of the right-hand sides, and returns a side and the columns for a call.
    fn checked<T>(self, call: &str, a: &CudaSlice<T>, b: &CudaSlice<T>) -> Result<(i64, i64)> {
        let [of_a, of_b] = self.lens().map(|len| len * self.count);
        let side = checked_side(call, self.side, &[(a.len(), of_a), (b.len(), of_b)])?;
        Ok((side, checked_side(call, self.columns, &[])?))
    }
}

/// Factors the matrices A in place, and solves A x = b in place of b. Writes to element `i` of each `info` whether the factorisation
/// and the solution of system `i` succeeded: 0, or the order of the minor or the pivot that failed.
pub(crate) type Solution<T> = Box<
    dyn FnMut(
        &mut CudaSlice<<T as DeviceValue>::Stored>,
        &mut CudaSlice<<T as DeviceValue>::Stored>,
        [&mut CudaSlice<i32>; 2],
    ) -> Result<()>,
>;

/// Prepares a [`Solution`] by a routine for such systems, whose matrices and right-hand sides will be in these slices.
pub(crate) type SolutionRoutine<T> =
    fn(&Cuda, Rc<Solver>, Systems, [&CudaSlice<<T as DeviceValue>::Stored>; 2]) -> Result<Solution<T>>;

/// Asks for the workspace of `potrf` and `potrs`, and allocates it. Their factor is L Lᵀ, in the lower triangle of A. Of several systems
/// each has its calls.
pub(crate) fn cholesky<T: DeviceValue>(
    cuda: &Cuda,
    solver: Rc<Solver>,
    systems: Systems,
    [a, b]: [&CudaSlice<T::Stored>; 2],
) -> Result<Solution<T>> {
    let call = "cusolverDnXpotrf_bufferSize";
    let (side, columns) = systems.checked(call, a, b)?;
    let (handle, params, of, a) = (solver.handle, solver.params, type_of(T::DTYPE), solver.read(a));
    // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, call, |device, host| unsafe {
        sys::cusolverDnXpotrf_bufferSize(handle, params, LOWER, side, of, a, side, of, device, host)
    })?;
    let [of_a, of_b] = systems.lens();
    Ok(Box::new(move |a, b, [factored, solved]| {
        systems.checked("cusolverDnXpotrf", a, b)?;
        checked_side(
            "cusolverDnXpotrf",
            systems.side,
            &[factored.len(), solved.len()].map(|len| (len, systems.count)),
        )?;
        let (device, len, host, host_len, _) = work.parts(&solver.stream);
        let (a, b) = (solver.write(a).cast::<T::Stored>(), solver.write(b).cast::<T::Stored>());
        let [factored, solved] = [factored, solved].map(|info| solver.write(info).cast::<i32>());
        for index in 0..systems.count {
            // SAFETY: the slices have the elements of all systems and an `info` for each (checked above).
            let (a, b) = unsafe { (a.add(index * of_a).cast(), b.add(index * of_b).cast()) };
            // SAFETY: as above.
            let (factored, solved) = unsafe { (factored.add(index), solved.add(index)) };
            // SAFETY: handle and parameters are live; `a` has n x n elements, each `info` one; the workspace was made for this
            // routine and size, and outlives the work (see `SolverWorkspace`).
            check("cusolverDnXpotrf", unsafe {
                sys::cusolverDnXpotrf(
                    handle, params, LOWER, side, of, a, side, of, device, len, host, host_len, factored,
                )
            })?;
            // SAFETY: as above; `b` has n elements for each right-hand side.
            check("cusolverDnXpotrs", unsafe {
                sys::cusolverDnXpotrs(handle, params, LOWER, side, columns, of, a, side, of, b, side, solved)
            })?;
        }
        Ok(())
    }))
}

/// Prepares the calls of `potrfBatched` for all systems and, for their solution, of `potrsBatched`, which takes one right-hand side, or
/// of cuBLAS's `trsmBatched`.
pub(crate) fn cholesky_batched<T: DeviceValue>(
    cuda: &Cuda,
    solver: Rc<Solver>,
    systems: Systems,
    [a, b]: [&CudaSlice<T::Stored>; 2],
) -> Result<Solution<T>> {
    let (call, solve) = ("cusolverDnXpotrfBatched", "cusolverDnXpotrsBatched");
    let (side, _) = systems.checked(call, a, b)?;
    let (side, count) = (narrow(call, side)?, narrow(call, checked_side(call, systems.count, &[])?)?);
    let several = match systems.columns {
        1 => None,
        _ => Some(Cublas::for_size(cuda, systems.side)?),
    };
    let [of_a, of_b] = systems.lens();
    let mut a_addresses = Addresses::new(cuda, a, of_a, systems.count)?;
    let mut b_addresses = Addresses::new(cuda, b, of_b, systems.count)?;
    let handle = solver.handle;
    Ok(Box::new(move |a, b, [factored, solved]| {
        systems.checked(call, a, b)?;
        checked_side(call, systems.side, &[factored.len(), solved.len()].map(|len| (len, systems.count)))?;
        let stream = &solver.stream;
        let (matrices, vectors) = (a_addresses.of(stream, a)?, b_addresses.of(stream, b)?);
        let [factored, solved] = [factored, solved].map(|info| solver.write(info).cast::<i32>());
        // SAFETY: the handle is live; there are `count` addresses of matrices of n x n elements, and as many `info`.
        check(call, unsafe {
            by_element!(T =>
                [sys::cusolverDnSpotrfBatched, sys::cusolverDnDpotrfBatched,
                 sys::cusolverDnCpotrfBatched, sys::cusolverDnZpotrfBatched]
                handle, LOWER, side, matrices.cast(), side, factored, count
            )
        })?;
        if let Some(cublas) = &several {
            let Systems { side, columns, count, .. } = systems;
            // SAFETY: as above; there are as many addresses of n elements for each right-hand side.
            return unsafe { cublas.solve_factored::<T>(side, columns, count, [matrices, vectors]) };
        }
        // SAFETY: as above; there are as many addresses of n elements. One `info` is written.
        check(solve, unsafe {
            by_element!(T =>
                [sys::cusolverDnSpotrsBatched, sys::cusolverDnDpotrsBatched,
                 sys::cusolverDnCpotrsBatched, sys::cusolverDnZpotrsBatched]
                handle, LOWER, side, 1, matrices.cast(), side, vectors.cast(), side, solved, count
            )
        })
    }))
}

/// Asks for the workspace of `getrf` and `getrs` for one system, and allocates it with the pivots. Their factors are P L U, in place of
/// A.
pub(crate) fn lu<T: DeviceValue>(
    cuda: &Cuda,
    solver: Rc<Solver>,
    systems: Systems,
    [a, b]: [&CudaSlice<T::Stored>; 2],
) -> Result<Solution<T>> {
    let (call, n) = ("cusolverDnXgetrf_bufferSize", systems.side);
    let (side, columns) = systems.checked(call, a, b)?;
    let (handle, params, of, a) = (solver.handle, solver.params, type_of(T::DTYPE), solver.read(a));
    // SAFETY: handle and parameters are live, `a` has n x n elements, and the sizes are writable.
    let mut work = SolverWorkspace::ask(cuda, call, |device, host| unsafe {
        sys::cusolverDnXgetrf_bufferSize(handle, params, side, side, of, a, side, of, device, host)
    })?;
    cuda.reserve(8 * n as u128)?;
    let mut pivots = cuda.alloc::<i64>(n)?;
    let plain = sys::cublasOperation_t::CUBLAS_OP_N;
    Ok(Box::new(move |a, b, [factored, solved]| {
        checked_side("cusolverDnXgetrf", n, &[(factored.len(), 1), (solved.len(), 1)])?;
        systems.checked("cusolverDnXgetrs", a, b)?;
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
            sys::cusolverDnXgetrs(
                handle, params, plain, side, columns, of, a, side, pivots, of, b, side, solved,
            )
        })
    }))
}
