//! Solutions of symmetric positive definite systems: LAPACK, called straight, and faer.
//!
//! The matrix equals its transpose, so its rows are handed to the column-major libraries as they lie:
//! ndarray-linalg's `factorizec` would transpose the whole matrix twice, and its LU allocates the pivots.

use std::mem::MaybeUninit;

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt;
use faer::{MatMut, MatRef};
use gpubench_backend::Prepared;
use gpubench_backend::contents::{Contents, host};
use gpubench_model::case::Case;
use gpubench_model::data::{Operand, Real};
use gpubench_model::error::CellError;

use super::destroyed::Destroyed;
use super::entry::{by_dtype, kernel};
use super::kernel::Kernel;
use super::library_kernel::{LibraryKernel, Scope};
use super::matrices::operands;
use crate::context::Cpu;
use crate::libs::blas::{Blas, Library, ProviderCrew};
use crate::memory::memory;
use crate::threads::crew::{Crew, Crewed, Work};
use crate::threads::faer::Faer;

pub(crate) const LIBRARY_KERNELS: &[LibraryKernel] = &[
    LibraryKernel {
        op: "solve",
        suffix: "",
        summary: "Cholesky, {} (posv)",
        scope: Scope::Lapack,
        prepare: by_dtype!(lapack with library, |_| Method::Cholesky),
    },
    LibraryKernel {
        op: "solve",
        suffix: "-blocked",
        summary: "Cholesky in blocks of 512, {} (potrf, trsm, syrk, trsv)",
        scope: Scope::OpenBlas,
        prepare: by_dtype!(lapack with library, |_| Method::BlockedCholesky),
    },
    LibraryKernel {
        op: "solve",
        suffix: "-lu",
        summary: "LU, {} (gesv)",
        scope: Scope::Comparison,
        prepare: by_dtype!(lapack with library, |n| Method::Lu(vec![0; n])),
    },
];

pub(crate) const KERNELS: &[Kernel] =
    &[kernel("solve", "faer", "Cholesky, faer, all threads", true, by_dtype!(faer))];

/// The largest side at which fewer threads than all may be faster.
const MOST_CHOICE: usize = 2048;

/// `a x = b`; the libraries write factors over `a` and the solution over `b`.
struct System<T> {
    n: usize,
    a: Destroyed<T>,
    b: Destroyed<T>,
}

impl<T: Real> System<T> {
    fn new(case: &Case, inputs: &[Operand]) -> Result<Self, CellError> {
        let [a, b] = operands::<T, 2>(case, inputs)?.map(Destroyed::of);
        Ok(System { n: case.side(), a, b })
    }
}

type ShowState<S> = fn(&S, &mut dyn FnMut(&[MaybeUninit<u8>]));

/// A system, what else its library works with, and how that solves it.
struct Solved<T, C, S> {
    system: System<T>,
    state: S,
    show_state: ShowState<S>,
    solve: fn(&C, &mut System<T>, &mut S) -> Result<(), CellError>,
}

impl<T: Real, C: Crew, S> Work for Solved<T, C, S> {
    type Crew = C;
    const DESTROYS: bool = true;

    fn restore(&mut self) {
        self.system.a.restore();
        self.system.b.restore();
    }

    fn show(&self, show: &mut dyn FnMut(&[MaybeUninit<u8>])) {
        self.system.a.show(show);
        self.system.b.show(show);
        (self.show_state)(&self.state, show);
    }

    fn contents(&mut self) -> Contents<'_> {
        let System { a, b, .. } = &mut self.system;
        let operands = [host(&mut a.given), host(&mut b.given)];
        Contents { in_place: true, ..Contents::new(operands, [host(&mut b.left)]) }
    }

    fn execute(&mut self, crew: &C) -> Result<(), CellError> {
        (self.solve)(crew, &mut self.system, &mut self.state)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.system.n, 1, self.system.b.left.clone())])
    }
}

enum Method {
    /// posv.
    Cholesky,
    /// The steps of posv, the factorisation in blocks.
    BlockedCholesky,
    /// gesv, which writes pivots.
    Lu(Vec<i64>),
}

fn lapack<T: Blas>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
    library: &Library,
    method: fn(usize) -> Method,
) -> Result<Box<Prepared>, CellError> {
    let crew = ProviderCrew::new(cpu, library, case.side(), MOST_CHOICE)?;
    let work = Solved {
        system: System::<T>::new(case, inputs)?,
        state: method(case.side()),
        show_state: |method, show| {
            if let Method::Lu(pivots) = method {
                show(memory(pivots));
            }
        },
        solve: |crew: &ProviderCrew, System { a, b, .. }, method| {
            let (a, b) = (&mut a.left, &mut b.left);
            match method {
                Method::Cholesky => crew.provider().posv(a, b),
                Method::BlockedCholesky => crew.provider().posv_in_blocks(a, b),
                Method::Lu(pivots) => crew.provider().gesv(a, pivots, b),
            }
        },
    };
    Ok(Crewed::prepared(work, crew))
}

fn faer<T: Real + faer::traits::RealField>(
    cpu: &Cpu,
    case: &Case,
    inputs: &[Operand],
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let crew = Faer::new(cpu, n, MOST_CHOICE);
    let workspace = crew.workspace(|par| {
        let factor = llt::factor::cholesky_in_place_scratch::<T>(n, par, Default::default());
        factor.or(llt::solve::solve_in_place_scratch::<T>(n, 1, par))
    });
    let work = Solved {
        system: System::<T>::new(case, inputs)?,
        state: workspace,
        show_state: |workspace, show| show(workspace),
        solve: |crew: &Faer, System { n, a, b }, workspace| {
            let (n, a, b) = (*n, &mut a.left, &mut b.left);
            let (par, stack) = (crew.par, MemStack::new(workspace));
            let matrix = MatMut::from_column_major_slice_mut(a, n, n);
            llt::factor::cholesky_in_place(matrix, Default::default(), par, stack, Default::default())
                .map_err(|e| CellError::call("faer Cholesky", e))?;
            let factor = MatRef::from_column_major_slice(a, n, n);
            llt::solve::solve_in_place(factor, MatMut::from_column_major_slice_mut(b, n, 1), par, stack);
            Ok(())
        },
    };
    Ok(Crewed::prepared(work, crew))
}
