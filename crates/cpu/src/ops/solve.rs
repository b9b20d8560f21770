//! The variants of solving symmetric positive definite systems: LAPACK, called directly, and faer.
//!
//! The matrix equals its transpose, so column-major libraries get its rows unchanged: `factorizec` of ndarray-linalg
//! would transpose the whole matrix twice, and its LU allocates the pivots.

use std::mem::MaybeUninit;

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt;
use faer::{MatMut, MatRef};
use gpubench_backend::contents::{Contents, host};
use gpubench_backend::{Lent, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::{Operand, Real};
use gpubench_report::error::CellError;

use super::variants::{CpuVariant, LibraryVariant, Scope, by_dtype, variant};
use crate::libs::blas::{Blas, BlasLibrary, BlasThreads};
use crate::operands::{RestoredInput, lend, memory, operands};
use crate::threads::{Faer, PooledJob, PooledKernel};

pub(super) const LIBRARY_VARIANTS: &[LibraryVariant] = &[
    LibraryVariant {
        op: "solve",
        suffix: "",
        summary: "Cholesky, {} (posv)",
        scope: Scope::Lapack,
        prepare: by_dtype!(lapack with library, |_| LapackSolver::Cholesky),
    },
    LibraryVariant {
        op: "solve",
        suffix: "-blocked",
        summary: "Cholesky in blocks of 512, {} (potrf, trsm, syrk, trsv)",
        scope: Scope::OpenBlas,
        prepare: by_dtype!(lapack with library, |_| LapackSolver::BlockedCholesky),
    },
    LibraryVariant {
        op: "solve",
        suffix: "-lu",
        summary: "LU, {} (gesv)",
        scope: Scope::Comparison,
        prepare: by_dtype!(lapack with library, |n| LapackSolver::Lu(vec![0; n])),
    },
];

pub(super) const VARIANTS: &[CpuVariant] =
    &[variant("solve", "faer", "Cholesky, faer, all threads", true, by_dtype!(faer))];

/// The largest side at which fewer than all threads may be faster.
const MAX_CHOICE_SIDE: usize = 2048;

/// The system `a x = b`; libraries overwrite `a` with factors and `b` with the solution.
struct System<T> {
    n: usize,
    a: RestoredInput<T>,
    b: RestoredInput<T>,
}

impl<T: Real> System<T> {
    fn new(case: &Case, inputs: &mut [Operand]) -> Result<Self, CellError> {
        let [a, b] = operands::<T, 2>(case, inputs)?.map(RestoredInput::of);
        Ok(System { n: case.side(), a, b })
    }
}

type ShowState<S> = fn(&S, &mut dyn FnMut(&[MaybeUninit<u8>]));

/// A system, the workspace of its library, and the function that solves it.
struct Solved<T, C, S> {
    system: System<T>,
    state: S,
    show_state: ShowState<S>,
    solve: fn(&C, &mut System<T>, &mut S) -> Result<(), CellError>,
}

impl<T: Real, C, S> PooledKernel<C> for Solved<T, C, S> {
    const DESTROYS_INPUTS: bool = true;

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

    fn execute(&mut self, pool: &C) -> Result<(), CellError> {
        (self.solve)(pool, &mut self.system, &mut self.state)
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(self.system.n, 1, self.system.b.left.clone())])
    }

    fn lend(&mut self, to: &mut dyn FnMut(Lent<'_>)) -> Result<(), CellError> {
        let answer = self.answer()?;
        lend([&mut self.system.a.given, &mut self.system.b.given], &answer, to)
    }
}

enum LapackSolver {
    /// posv.
    Cholesky,
    /// The steps of posv, the factorisation in blocks.
    BlockedCholesky,
    /// gesv, which writes pivots.
    Lu(Vec<i64>),
}

fn lapack<T: Blas>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
    library: &BlasLibrary,
    method: fn(usize) -> LapackSolver,
) -> Result<Box<Prepared>, CellError> {
    let pool = BlasThreads::new(threads, library, case.side(), MAX_CHOICE_SIDE)?;
    let kernel = Solved {
        system: System::<T>::new(case, inputs)?,
        state: method(case.side()),
        show_state: |method, show| {
            if let LapackSolver::Lu(pivots) = method {
                show(memory(pivots));
            }
        },
        solve: |pool: &BlasThreads, System { a, b, .. }, method| {
            let (a, b) = (&mut a.left, &mut b.left);
            match method {
                LapackSolver::Cholesky => pool.provider().posv(a, b),
                LapackSolver::BlockedCholesky => pool.provider().posv_in_blocks(a, b),
                LapackSolver::Lu(pivots) => pool.provider().gesv(a, pivots, b),
            }
        },
    };
    Ok(PooledJob::prepared(kernel, pool))
}

fn faer<T: Real + faer::traits::RealField>(
    threads: usize,
    case: &Case,
    inputs: &mut [Operand],
) -> Result<Box<Prepared>, CellError> {
    let n = case.side();
    let pool = Faer::new(threads, n, MAX_CHOICE_SIDE)?;
    let workspace = pool.workspace(|par| {
        let factor = llt::factor::cholesky_in_place_scratch::<T>(n, par, Default::default());
        factor.or(llt::solve::solve_in_place_scratch::<T>(n, 1, par))
    });
    let kernel = Solved {
        system: System::<T>::new(case, inputs)?,
        state: workspace,
        show_state: |workspace, show| show(workspace),
        solve: |pool: &Faer, System { n, a, b }, workspace| {
            let (n, a, b) = (*n, &mut a.left, &mut b.left);
            let (par, stack) = (pool.par, MemStack::new(workspace));
            let matrix = MatMut::from_column_major_slice_mut(a, n, n);
            llt::factor::cholesky_in_place(matrix, Default::default(), par, stack, Default::default())
                .map_err(|e| CellError::call("faer Cholesky", e))?;
            let factor = MatRef::from_column_major_slice(a, n, n);
            llt::solve::solve_in_place(factor, MatMut::from_column_major_slice_mut(b, n, 1), par, stack);
            Ok(())
        },
    };
    Ok(PooledJob::prepared(kernel, pool))
}
