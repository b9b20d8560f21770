//! The op solve by an own Cholesky kernel, with or without one step of iterative refinement.

use gpubench_backend::contents::Contents;
use gpubench_backend::{Job, Prepared};
use gpubench_model::case::Case;
use gpubench_model::data::Operand;
use gpubench_model::error::CellError;

use super::super::input;
use super::{NOT_POSITIVE_DEFINITE, check_info};
use crate::context::{Cuda, Element};
use crate::ffi::cholesky::Cholesky;
use crate::kernels::{ByType, kernel_source_by_type};

pub(super) static SOURCE: ByType = kernel_source_by_type!("cholesky", "SOLVE_");
pub(super) static REFINEMENT: ByType = kernel_source_by_type!("cholesky", "REFINE_");

/// Makes a job for one case.
///
/// The refined solution takes the residual b - A x in higher precision: float64 for float32, twice the working
/// precision for float64 (Wilkinson 1963; Higham, "Accuracy and Stability of Numerical Algorithms", chapter 12).
pub(super) fn prepare<T: Element>(
    cuda: &Cuda,
    case: &Case,
    inputs: &[Operand],
    refine: bool,
) -> Result<Box<Prepared>, CellError> {
    cuda.count_plan();
    let refinement = refine.then(|| REFINEMENT.of(T::DTYPE));
    let operands = (input::<T>(inputs, 0)?, input::<T>(inputs, 1)?);
    Ok(Prepared::new(Cholesky::load(cuda, SOURCE.of(T::DTYPE), case.side(), operands, refinement)?))
}

impl<T: Element> Job for Cholesky<T> {
    fn contents(&mut self) -> Contents<'_> {
        Cholesky::contents(self)
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.run()
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        check_info(self.info()?, NOT_POSITIVE_DEFINITE, T::DTYPE)?;
        let x = self.solution()?;
        Ok(vec![Operand::dense(x.len(), 1, x)])
    }
}
