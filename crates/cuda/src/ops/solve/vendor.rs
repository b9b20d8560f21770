//! The op solve by cuSOLVER: Cholesky or LU factorisation, then the triangular solves.

use cudarc::driver::CudaSlice;
use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, JobTraits, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::super::input;
use super::{NOT_POSITIVE_DEFINITE, check_info};
use crate::context::{Cuda, DeviceElement, Library};
use crate::ffi::contents::device;
use crate::ffi::cusolver::{Solver, SolverReal, SolverWorkspace};

/// A factorisation of cuSOLVER.
#[derive(Clone, Copy)]
pub(super) enum Routine {
    /// `potrf` and `potrs`.
    Cholesky,
    /// `getrf` and `getrs`.
    Lu,
}

/// A factorisation with its workspace.
enum Factorisation {
    Cholesky { work: SolverWorkspace },
    Lu { work: SolverWorkspace, pivots: CudaSlice<i64> },
}

struct LibrarySolve<T> {
    cuda: Cuda,
    solver: Solver,
    method: Factorisation,
    n: usize,
    /// The original operands, because a solve overwrites its own.
    operands: (CudaSlice<T>, CudaSlice<T>),
    /// A, then its factors.
    a: CudaSlice<T>,
    /// b, then x.
    x: CudaSlice<T>,
    factor_info: CudaSlice<i32>,
    solve_info: CudaSlice<i32>,
}

/// Makes a job for one case.
pub(super) fn prepare<T: DeviceElement + SolverReal>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    routine: Routine,
) -> Result<Box<Prepared>, CellError> {
    cuda.require(Library::Cusolver)?;
    let n = case.side();
    cuda.reserve(2 * (n as u128 * n as u128 + n as u128) * size_of::<T>() as u128)?;
    let operands = (cuda.upload(input::<T>(inputs, 0)?)?, cuda.upload(input::<T>(inputs, 1)?)?);
    let (a, x) = (cuda.alloc(n * n)?, cuda.alloc(n)?);
    cuda.count_plan();
    let solver = Solver::new(&cuda.stream)?;
    let method = match routine {
        Routine::Cholesky => {
            Factorisation::Cholesky { work: SolverWorkspace::alloc(cuda, solver.potrf_workspace(n, &a)?)? }
        }
        Routine::Lu => {
            let work = SolverWorkspace::alloc(cuda, solver.getrf_workspace(n, &a)?)?;
            cuda.reserve(8 * n as u128)?;
            Factorisation::Lu { work, pivots: cuda.alloc(n)? }
        }
    };
    let (factor_info, solve_info) = (cuda.alloc(1)?, cuda.alloc(1)?);
    let cuda = cuda.clone();
    let traits = JobTraits { resets: true, ..JobTraits::default() };
    Ok(Prepared::with(
        traits,
        LibrarySolve { cuda, solver, method, n, operands, a, x, factor_info, solve_info },
    ))
}

impl<T: DeviceElement + SolverReal> Job for LibrarySolve<T> {
    fn reset(&mut self) -> Result<(), CellError> {
        self.cuda.copy(&self.operands.0, &mut self.a)?;
        self.cuda.copy(&self.operands.1, &mut self.x)
    }

    fn contents(&mut self) -> Contents<'_> {
        let (a, b) = (device(&mut self.operands.0), device(&mut self.operands.1));
        Contents { in_place: true, ..Contents::new([a, b], [device(&mut self.x)]) }
    }

    /// A is symmetric, so its rows are its columns and no transposition is needed.
    fn execute(&mut self) -> Result<(), CellError> {
        let LibrarySolve { solver, n, a, x, factor_info, solve_info, .. } = self;
        match &mut self.method {
            Factorisation::Cholesky { work } => {
                solver.potrf(*n, a, work, factor_info)?;
                solver.potrs(*n, a, x, solve_info)
            }
            Factorisation::Lu { work, pivots } => {
                solver.getrf(*n, a, pivots, work, factor_info)?;
                solver.getrs(*n, a, pivots, x, solve_info)
            }
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let factor = self.cuda.download(&self.factor_info)?;
        let solve = self.cuda.download(&self.solve_info)?;
        let what = match self.method {
            Factorisation::Cholesky { .. } => NOT_POSITIVE_DEFINITE,
            Factorisation::Lu { .. } => "singular in this arithmetic: pivot",
        };
        check_info(factor[0], what, T::DTYPE)?;
        check_info(solve[0], "rejected by the solve: step", T::DTYPE)?;
        Ok(vec![Operand::dense(self.n, 1, self.cuda.download(&self.x)?)])
    }
}
