//! solve: A x = b for a symmetric positive definite A, by cuSOLVER's Cholesky or LU factorisation.

use cudarc::driver::CudaSlice;

use super::context::{Cuda, Element, Library};
use super::ffi::cusolver::{Solver, SolverReal, Workspace};
use super::{Kernel, extra, input};
use crate::backend::Job;
use crate::case::{Case, DType};
use crate::data::Operand;
use crate::error::CellError;

pub(crate) static KERNELS: &[Kernel] = &[
    Kernel {
        variant: extra("solve", "potrf", "cuSOLVER Cholesky factorisation and solve"),
        prepare: |cuda, case, inputs| match case.dtype {
            DType::F32 => Solve::<f32>::prepare(cuda, case, inputs, cholesky),
            DType::F64 => Solve::<f64>::prepare(cuda, case, inputs, cholesky),
        },
    },
    Kernel {
        variant: extra("solve", "getrf", "cuSOLVER LU factorisation and solve, as general solvers do it"),
        prepare: |cuda, case, inputs| match case.dtype {
            DType::F32 => Solve::<f32>::prepare(cuda, case, inputs, lu),
            DType::F64 => Solve::<f64>::prepare(cuda, case, inputs, lu),
        },
    },
];

/// A factorisation with its workspace.
enum Method {
    Cholesky { work: Workspace },
    Lu { work: Workspace, pivots: CudaSlice<i64> },
}

/// Sizes the workspace of a method for an `n x n` matrix and allocates it.
type MakeMethod<T> = fn(&Cuda, &Solver, usize, &CudaSlice<T>) -> Result<Method, CellError>;

fn cholesky<T: Element + SolverReal>(
    cuda: &Cuda,
    solver: &Solver,
    n: usize,
    a: &CudaSlice<T>,
) -> Result<Method, CellError> {
    let size = solver.potrf_workspace(n, a)?;
    cuda.reserve(size.device_bytes() as u128)?;
    Ok(Method::Cholesky { work: Workspace::new(size, cuda.alloc(size.device_bytes())?)? })
}

fn lu<T: Element + SolverReal>(
    cuda: &Cuda,
    solver: &Solver,
    n: usize,
    a: &CudaSlice<T>,
) -> Result<Method, CellError> {
    let size = solver.getrf_workspace(n, a)?;
    cuda.reserve(size.device_bytes() as u128 + 8 * n as u128)?;
    let work = Workspace::new(size, cuda.alloc(size.device_bytes())?)?;
    Ok(Method::Lu { work, pivots: cuda.alloc(n)? })
}

struct Solve<T> {
    cuda: Cuda,
    solver: Solver,
    method: Method,
    n: usize,
    /// The operands, kept to restore what a solve destroys.
    operands: (CudaSlice<T>, CudaSlice<T>),
    /// A, then its factors.
    a: CudaSlice<T>,
    /// b, then x.
    x: CudaSlice<T>,
    factor_info: CudaSlice<i32>,
    solve_info: CudaSlice<i32>,
}

impl<T: Element + SolverReal> Solve<T> {
    fn prepare(
        cuda: &Cuda,
        case: &Case,
        inputs: &[Operand],
        method: MakeMethod<T>,
    ) -> Result<Box<dyn Job>, CellError> {
        cuda.require(Library::Cusolver)?;
        let n = case.side();
        cuda.reserve(2 * (n as u128 * n as u128 + n as u128) * size_of::<T>() as u128)?;
        let operands = (cuda.upload(input::<T>(inputs, 0)?)?, cuda.upload(input::<T>(inputs, 1)?)?);
        let (a, x) = (cuda.alloc(n * n)?, cuda.alloc(n)?);
        cuda.count_plan();
        let solver = Solver::new(&cuda.stream)?;
        let method = method(cuda, &solver, n, &a)?;
        let (factor_info, solve_info) = (cuda.alloc(1)?, cuda.alloc(1)?);
        let cuda = cuda.clone();
        Ok(Box::new(Solve { cuda, solver, method, n, operands, a, x, factor_info, solve_info }))
    }
}

impl<T: Element + SolverReal> Job for Solve<T> {
    fn reset(&mut self) -> Result<(), CellError> {
        self.cuda.copy(&self.operands.0, &mut self.a)?;
        self.cuda.copy(&self.operands.1, &mut self.x)
    }

    fn resets(&self) -> bool {
        true
    }

    /// A is symmetric, so its rows are its columns and no transposition is needed.
    fn execute(&mut self) -> Result<(), CellError> {
        let Solve { solver, n, a, x, factor_info, solve_info, .. } = self;
        match &mut self.method {
            Method::Cholesky { work } => {
                solver.potrf(*n, a, work, factor_info)?;
                solver.potrs(*n, a, x, solve_info)
            }
            Method::Lu { work, pivots } => {
                solver.getrf(*n, a, pivots, work, factor_info)?;
                solver.getrs(*n, a, pivots, x, solve_info)
            }
        }
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        let factor = self.cuda.download(&self.factor_info)?;
        let solve = self.cuda.download(&self.solve_info)?;
        let what = match self.method {
            Method::Cholesky { .. } => "not positive definite in this arithmetic: leading minor",
            Method::Lu { .. } => "singular in this arithmetic: pivot",
        };
        verdict(factor[0], what)?;
        verdict(solve[0], "refused by the solve: step")?;
        Ok(vec![Operand::dense(self.n, 1, self.cuda.download(&self.x)?)])
    }
}

/// What a routine's `info` says: 0 is success.
fn verdict(info: i32, positive: &str) -> Result<(), CellError> {
    match info {
        0 => Ok(()),
        1.. => Err(CellError::Failed(format!("the matrix is {positive} {info}; try float64"))),
        _ => Err(CellError::Failed(format!(
            "cuSOLVER refused argument {}; please report this",
            info.unsigned_abs()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_is_told_in_words() {
        verdict(0, "singular").unwrap();
        let text = verdict(3, "not positive definite: leading minor").unwrap_err().to_string();
        assert_eq!(text, "the matrix is not positive definite: leading minor 3; try float64");
        assert!(verdict(-2, "").unwrap_err().to_string().contains("argument 2"));
    }
}
